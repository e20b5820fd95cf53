"""Every finding: a study that has it, and one that nearly has it."""

from dataclasses import replace

import numpy as np
import pytest

from multirater import agreement, dataset_from_arrays, info
from multirater.io import survey
from multirater.progress import show_progress
from multirater.samples import digits_dataset
from multirater.sanity import say_findings, study_findings
from multirater.simulate import simulate_dataset

NAMES = ["anna", "bert", "carl", "dora"]

SIZE = 48


def blobs(n_cases=8, n_raters=4, *, seed=0, ndim=2):
    """Ellipses of random place and size, each drawn a little differently by every rater."""
    rng = np.random.default_rng(seed)
    grid = np.indices((SIZE,) * ndim).reshape(ndim, -1).T
    truth = np.zeros((n_cases, SIZE**ndim), dtype=int)
    drawn = np.zeros((n_cases, n_raters, SIZE**ndim), dtype=int)
    for case in range(n_cases):
        centre, radius = rng.uniform(18, SIZE - 18, ndim), rng.uniform(6, 11, ndim)
        truth[case] = ((grid - centre) ** 2 / radius**2).sum(1) < 1
        for rater in range(n_raters):
            off, grown = rng.normal(0, 0.4, ndim), radius + rng.normal(0, 0.7, ndim)
            drawn[case, rater] = ((grid - centre - off) ** 2 / grown**2).sum(1) < 1
    space = (SIZE,) * ndim
    return truth.reshape(n_cases, *space), drawn.reshape(n_cases, n_raters, *space)


@pytest.fixture
def drawn():
    return blobs()[1]


@pytest.fixture
def truth():
    return blobs()[0]


def findings(labels, **more):
    info_ = more.pop("rater_info", {})
    data = dataset_from_arrays(labels, raters=NAMES[: len(labels[0])], **more)
    return info(replace(data, rater_info=info_)).findings


def codes(labels, **more):
    return [finding.code for finding in findings(labels, **more)]


def only(found, code):
    (finding,) = found
    assert finding.code == code
    assert finding.fix
    assert finding.level in ("problem", "caution")
    return finding


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_raters", [1, 2, 3, 4])
def test_nothing_is_odd_about_a_study_in_order(seed, n_raters):
    truth, labels = blobs(n_raters=n_raters, seed=seed)
    assert codes(labels, truths=truth) == []


def test_nothing_is_odd_about_volumes_in_order():
    truth, labels = blobs(4, 3, ndim=3)
    assert codes(labels, truths=truth) == []


class TestReversed:
    def test_whole_study(self, drawn):
        found = only(findings(1 - drawn), "reversed")
        assert len(found.cases) == len(drawn)
        assert found.numbers["share"] == pytest.approx((1 - drawn).mean())

    def test_one_rater_in_some_cases(self, drawn):
        drawn[2:5, 1] = 1 - drawn[2:5, 1]
        found = only(findings(drawn), "reversed")
        assert found.raters == ("bert",)
        assert found.cases == ("2", "3", "4")

    @pytest.mark.parametrize("who", [0, 1])
    def test_one_of_two_raters(self, who):
        _, labels = blobs(n_raters=2)
        labels[:, who] = 1 - labels[:, who]
        assert only(findings(labels), "reversed").raters == (NAMES[who],)

    def test_the_truth(self, drawn, truth):
        assert "truth" in only(findings(drawn, truths=1 - truth), "reversed").text

    def test_not_large_objects_that_leave_the_border_free(self, drawn):
        large = np.zeros_like(drawn)
        large[:, :, 3:-3, 3:-4] = 1
        large[np.arange(8), :, 1] = np.arange(8)[:, None, None] % 2
        large[:, 0, 4, 4] = large[:, 1, 5, 5] = large[:, 2, 6, 6] = 0
        assert "reversed" not in codes(large)

    def test_not_objects_cut_by_two_sides_of_the_image(self, drawn):
        half = np.zeros_like(drawn)
        half[:, :, :, :30] = 1
        for rater in range(4):
            half[:, rater, 10 + rater, 29] = 0
        assert "reversed" not in codes(half)


class TestCoverage:
    def test_one_rater_fills_everything(self, drawn):
        drawn[:, 2] = 1
        found = only(findings(drawn), "covers-everything")
        assert found.raters == ("carl",)
        assert found.numbers["share"] == 1

    @pytest.mark.parametrize(("free", "expected"), [(1, ["covers-everything"]), (4, [])])
    def test_a_class_of_all_raters(self, rng, free, expected):
        labels = np.ones((8, 4, 48, 48), dtype=int)
        labels[:, :, :, :free] = 0
        for rater in range(4):
            labels[:, rater, 10 : 12 + rater, 20:24] = 2
        assert codes(labels) == expected

    def test_not_a_rater_who_draws_twice_as_large(self, drawn):
        drawn[:, 2, 4:-4, 4:-4] = 1
        assert codes(drawn) == []

    def test_class_labels_nearly_all_of_one_class(self, rng):
        labels = (rng.random((60, 4)) < 0.02).astype(int)
        assert "covers-everything" in codes(labels)
        labels = (rng.random((60, 4)) < 0.2).astype(int)
        assert codes(labels) == []

    def test_a_rater_who_always_says_the_same(self, rng):
        truth = (rng.random(60) < 0.5).astype(int)
        labels = np.where(rng.random((60, 4)) < 0.2, 1 - truth[:, None], truth[:, None])
        assert codes(labels) == []
        labels[:, 3] = 1
        assert only(findings(labels), "covers-everything").raters == ("dora",)


class TestAlike:
    def test_two_raters(self, drawn):
        drawn[:, 3] = drawn[:, 1]
        found = only(findings(drawn), "alike")
        assert found.raters == ("bert", "dora")
        assert found.numbers == {"cases": 8}

    def test_not_when_one_pixel_differs(self, drawn):
        drawn[:, 3] = drawn[:, 1]
        drawn[5, 3, 0, 0] = 1
        assert codes(drawn) == []

    def test_not_when_only_empty_masks_are_equal(self, drawn):
        drawn[:4] = 0
        assert codes(drawn) == []

    def test_class_labels(self, rng):
        truth = rng.integers(3, size=120)
        labels = np.where(
            rng.random((120, 4)) < 0.2, rng.integers(3, size=(120, 4)), truth[:, None]
        )
        assert codes(labels) == []
        labels[:, 1] = labels[:, 0]
        assert only(findings(labels), "alike").raters == ("anna", "bert")
        labels[7, 1] = (labels[7, 0] + 1) % 3
        assert codes(labels) == []

    def test_not_few_class_labels_that_agree_by_chance(self, rng):
        truth = rng.integers(2, size=30)
        labels = np.where(rng.random((30, 4)) < 0.1, 1 - truth[:, None], truth[:, None])
        labels[6:, 0] = -1
        labels[:6, 0] = labels[:6, 1]
        assert codes(labels) == []


class TestAlikeToTruth:
    def test_masks(self, drawn, truth):
        drawn[:, 2] = truth
        assert only(findings(drawn, truths=truth), "alike-to-truth").raters == ("carl",)
        drawn[3, 2, 0, 0] = 1
        assert codes(drawn, truths=truth) == []

    def test_class_labels(self, rng):
        truth = rng.integers(3, size=120)
        labels = np.where(
            rng.random((120, 4)) < 0.3, rng.integers(3, size=(120, 4)), truth[:, None]
        )
        labels[:, 2] = truth
        assert only(findings(labels, truths=truth), "alike-to-truth").raters == ("carl",)
        labels[3, 2] = (truth[3] + 1) % 3
        assert codes(labels, truths=truth) == []

    def test_not_a_rater_who_was_right_a_few_times(self, rng):
        truth = rng.integers(2, size=50)
        labels = np.where(rng.random((50, 4)) < 0.1, 1 - truth[:, None], truth[:, None])
        labels[8:, 0] = -1
        labels[:8, 0] = truth[:8]
        assert codes(labels, truths=truth) == []


def _large_objects(n_cases=12, n_raters=4, side=128):
    """Objects of which a pixel is a small part, drawn by raters with uneven outlines."""
    rng = np.random.default_rng(3)
    rows, columns = np.mgrid[:side, :side]
    drawn = np.zeros((n_cases, n_raters, side, side), dtype=int)
    for case in drawn:
        row, column, radius = *rng.uniform(56, 72, 2), rng.uniform(22, 28)
        angle = np.arctan2(rows - row, columns - column)
        for own in case:
            waves = sum(
                rng.normal(0, 0.35) * np.cos(k * angle + rng.uniform(0, 7)) for k in (2, 3, 5)
            )
            own[:] = np.hypot(rows - row, columns - column) < radius + waves
    return drawn


class TestShift:
    @pytest.mark.parametrize(("down", "right"), [(3, 0), (0, -2), (2, 4)])
    @pytest.mark.parametrize("n_raters", [3, 4])
    def test_a_rater_moved_by_pixels(self, down, right, n_raters):
        _, labels = blobs(n_raters=n_raters)
        labels[:, 1] = np.roll(labels[:, 1], (down, right), axis=(1, 2))
        found = only(findings(labels), "shifted")
        assert found.raters == ("bert",)
        assert (found.numbers["rows"], found.numbers["columns"]) == (down, right)
        assert found.numbers["dice_moved_back"] > found.numbers["dice"] + 0.02

    def test_one_pixel_among_raters_who_are_alike(self):
        """It costs less Dice than raters differ by, but it does so in every case."""
        labels = _large_objects()
        assert codes(labels) == []
        labels[:, 1] = np.roll(labels[:, 1], 1, axis=2)
        found = only(findings(labels), "shifted")
        assert found.raters == ("bert",)
        assert (found.numbers["rows"], found.numbers["columns"]) == (0, 1)
        assert found.numbers["dice_moved_back"] < found.numbers["dice"] + 0.02

    def test_not_one_pixel_in_half_of_the_cases(self):
        labels = _large_objects()
        labels[::2, 1] = np.roll(labels[::2, 1], 1, axis=2)
        assert codes(labels) == []

    def test_not_two_pixels_too_much_on_one_side(self):
        labels = _large_objects()
        for _ in range(2):
            labels[:, 1] |= np.roll(labels[:, 1], 1, axis=2)
        assert codes(labels) == []

    def test_two_raters_against_each_other(self):
        _, labels = blobs(n_raters=2)
        labels[:, 1] = np.roll(labels[:, 1], 4, axis=1)
        found = only(findings(labels), "shifted")
        assert set(found.raters) == {"anna", "bert"}
        assert abs(found.numbers["rows"]) == 4

    def test_a_volume(self):
        _, labels = blobs(4, 3, ndim=3)
        labels[:, 2] = np.roll(labels[:, 2], -3, axis=1)
        found = only(findings(labels), "shifted")
        assert found.raters == ("carl",)
        assert found.numbers["axis 0"] == -3
        assert "along axis 0" in found.text

    def test_thin_lines_of_which_each_rater_draws_some(self, rng):
        rows = np.zeros((6, 2, 96, 96), dtype=int)
        for case in range(6):
            for place in rng.integers(8, 84, 8):
                for rater in range(2):
                    if rng.random() < 0.8:  # the centre says nothing then
                        rows[case, rater, place : place + 4] = 1
        assert codes(rows) == []
        rows[:, 1] = np.roll(rows[:, 1], 3, axis=1)
        found = only(findings(rows), "shifted")
        assert abs(found.numbers["rows"]) == 3

    def test_not_a_rater_who_over_draws_on_one_side(self, drawn):
        rolled = np.roll(drawn[:, 1], 1, axis=2) | np.roll(drawn[:, 1], 2, axis=2)
        drawn[:, 1] |= rolled
        assert codes(drawn) == []

    def test_not_moves_in_all_directions(self, drawn, rng):
        for case in range(len(drawn)):
            step = (3, -3)[case % 2]
            drawn[case, 1] = np.roll(drawn[case, 1], step, axis=1)
        assert codes(drawn) == []


class TestResolution:
    def coarse(self, labels, step):
        return np.kron(labels[..., ::step, ::step], np.ones((step, step), dtype=int))

    @pytest.mark.parametrize("step", [2, 4])
    def test_a_rater_of_blocks(self, drawn, step):
        drawn[:, 2] = self.coarse(drawn[:, 2], step)
        found = only([each for each in findings(drawn) if each.code != "shifted"], "coarse-grid")
        assert found.raters == ("carl",)
        assert found.numbers["step"] == step

    def test_not_when_half_of_the_cases_are_coarse(self, drawn):
        drawn[:4, 2] = self.coarse(drawn[:4, 2], 2)
        assert codes(drawn) == []

    def test_not_when_everybody_drew_on_the_same_grid(self, drawn):
        assert codes(self.coarse(drawn, 2)) == []


class TestEmpty:
    def test_empty_where_the_others_draw(self, drawn):
        drawn[[1, 3, 6], 1] = 0
        found = only(findings(drawn), "empty-for-missing")
        assert found.raters == ("bert",)
        assert found.cases == ("1", "3", "6")

    def test_not_once_or_twice(self, drawn):
        drawn[[1, 3], 1] = 0
        assert codes(drawn) == []

    def test_not_small_things_that_may_be_overlooked(self, drawn):
        for case in (1, 3, 6):
            drawn[case] = 0
            drawn[case, [0, 2, 3], 20:23, 20:24] = 1
            drawn[case, 2, 23, 20] = drawn[case, 3, 19, 21] = 1
        assert codes(drawn) == []

    def test_not_where_half_of_the_others_draw_nothing_either(self, drawn):
        drawn[[1, 3, 6], 1:3] = 0
        assert codes(drawn) == []

    def test_missing_where_the_others_find_nothing(self, drawn):
        drawn[[0, 2, 4]] = 0
        drawn[[0, 2, 4], 3] = -1
        found = only(findings(drawn), "missing-for-empty")
        assert found.raters == ("dora",)
        assert found.cases == ("0", "2", "4")

    def test_not_when_labels_are_missing_elsewhere_too(self, drawn):
        drawn[[0, 2, 4]] = 0
        drawn[[0, 2, 4, 5, 6], 3] = -1
        assert codes(drawn) == []


class TestPatients:
    SPLITS = ("train", "train", "train", "train", "train", "test", "test", "test")

    def test_a_patient_in_two_splits(self, drawn):
        patients = ["a", "a", "b", "b", "c", "c", "d", "d"]
        found = only(findings(drawn, splits=self.SPLITS, patients=patients), "mixed-patients")
        assert found.level == "problem"
        assert found.cases == ("4", "5")

    def test_not_patients_within_a_split_or_without_name(self, drawn):
        patients = ["a", "a", "b", "b", "", "", "d", "d"]
        assert codes(drawn, splits=self.SPLITS, patients=patients) == []


def test_a_table_of_raters_with_other_names(drawn):
    table = {name: {"group": "x"} for name in ["anna", "Bert", "carl", "dora", "emil"]}
    found = only(findings(drawn, rater_info=table), "rater-table")
    assert found.raters == ("bert",)
    assert "Bert" in found.text
    table["bert"] = {}
    assert codes(drawn, rater_info=table) == []


def test_unlabelled_cases_and_simulated_raters_pass():
    assert info(digits_dataset(n_train=3, n_test=0)).findings == ()
    data = simulate_dataset(digits_dataset(n_train=12, n_test=0), seed=0)
    found = {finding.code for finding in study_findings(survey(data))}
    # The simulated `blank` draws nothing, on purpose.
    assert found <= {"empty-for-missing", "alike-to-truth"}


def test_findings_are_said_in_few_lines(drawn, capsys):
    drawn[:, 3] = drawn[:, 1]
    show_progress(True)
    try:
        say_findings(survey(dataset_from_arrays(drawn)))
    finally:
        show_progress(False)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("caution: rater 2 and rater 4 drew the same")


def test_pictures_and_volumes_in_one_study(drawn):
    pictures, volumes = dataset_from_arrays(drawn[:3]), dataset_from_arrays(blobs(2, ndim=3)[1])
    renamed = tuple(replace(case, name=f"volume {case.name}") for case in volumes)
    mixed = replace(pictures, cases=(*pictures.cases, *renamed))
    found = only([each for each in info(mixed).findings if each.code == "mixed-axes"], "mixed-axes")
    assert (found.level, len(found.cases)) == ("problem", 2)
    assert found.numbers == {"pictures": 3, "volumes": 2}
    assert "mixes 3 pictures (2-D) and 2 volumes (3-D)" in agreement(mixed).notes[0]
    for each in (pictures, volumes):
        assert "mixed-axes" not in [found.code for found in info(each).findings]
