import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PIL import Image as Pillow

from multirater import fuse
from multirater.errors import InputError
from multirater.fuse.methods import ALWAYS_POOLED, METHODS
from multirater.fusion import mask_dataset
from multirater.fusion.case import fuse_case
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.fusion.mask_dataset import PROGRESS
from multirater.fusion.study_quality import quality_of_study
from multirater.io import (
    dataset_from_arrays,
    read_dataset,
    read_image,
    write_dataset,
    write_image,
    write_label,
)
from multirater.io.new_folder import part_of
from multirater.io.own_files import FILE_NAME
from multirater.io.survey import survey
from multirater.samples import digits_dataset
from multirater.types import Geometry, Image, LabelMap

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


@pytest.fixture
def digits(digits_folder):
    return read_dataset(digits_folder)


@pytest.mark.parametrize("method", METHODS)
def test_files_hold_what_the_function_returns(digits, tmp_path, method):
    fuse_dataset(digits, tmp_path / "out", method=method, probability=True)
    fused = read_dataset(tmp_path / "out")
    together = method in ALWAYS_POOLED
    labels = [case.read_labels(digits.raters) for case in (digits if together else digits[3:4])]
    expected = METHODS[method](
        labels if together else labels[0], 2, **{"pooled": True} if together else {}
    )
    if together:
        expected = replace(expected, label=expected.label[3], probability=expected.probability[3])
    assert fused.raters == (method,)
    assert np.array_equal(fused[3].read_label(method).array, expected.label)
    probability = read_image(tmp_path / "out" / "probability" / "train-0003.tif")
    assert np.allclose(probability.array, expected.probability, atol=1e-6)


def test_the_folder_is_a_data_set_with_image_truth_and_split(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "deep" / "out", method="majority-vote")
    fused = read_dataset(tmp_path / "deep" / "out")
    assert [case.split for case in fused] == [case.split for case in digits]
    assert np.array_equal(fused[0].read_image().array, digits[0].read_image().array)
    assert np.array_equal(fused[0].read_truth().array, digits[0].read_truth().array)


def test_pooled_equals_fusing_all_cases_at_once(digits, tmp_path):
    done = fuse_dataset(digits, tmp_path / "out", method="staple", pooled=True)
    expected = fuse.staple(
        [case.read_labels(digits.raters).array for case in digits], 2, pooled=True
    )
    fused = read_dataset(tmp_path / "out")
    for case, label in zip(fused, expected.label, strict=True):
        assert np.array_equal(case.read_label("staple").array, label)
    assert np.allclose(done.raters["sensitivity"], expected.cm[:, 1, 1], atol=1e-6)
    assert np.allclose(done.raters["specificity"], expected.cm[:, 0, 0], atol=1e-6)
    assert np.allclose(done.raters["skill"], expected.skill, atol=1e-6)


def test_raters_csv_has_matrix_and_intervals(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="majority-vote")
    table = pd.read_csv(tmp_path / "out" / "raters.csv", index_col="rater")
    assert list(table.index) == list(digits.raters)
    assert (table["labels"] == len(digits)).all()
    for name in ("quality", "skill", "sensitivity", "cm[digit,background]"):
        low, value, high = table[f"{name}_low"], table[name], table[f"{name}_high"]
        assert ((low <= value + 1e-12) & (value <= high + 1e-12)).all()
    rows = table["cm[digit,background]"] + table["cm[digit,digit]"]
    assert np.allclose(rows, 1)
    assert table.loc["blank", "sensitivity"] == 0
    assert table.loc["good", "sensitivity"] > 0.9


def test_two_processes_write_the_same_as_one(digits, tmp_path):
    one = fuse_dataset(digits, tmp_path / "one", method="staple")
    two = fuse_dataset(digits, tmp_path / "two", method="staple", workers=2)
    pd.testing.assert_frame_equal(one.raters, two.raters)
    for name in ("labels/train-0001.png", "raters.csv", "cases.csv", "manifest.csv"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_an_interrupted_run_goes_on_without_doing_anything_twice(digits, tmp_path, monkeypatch):
    fused: list[str] = []

    def interrupted(case, job):
        if len(fused) == 5:
            raise KeyboardInterrupt
        fused.append(case.name)
        return fuse_case(case, job)

    monkeypatch.setattr(mask_dataset, "fuse_case", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fuse_dataset(digits, tmp_path / "out", method="staple")
    assert not (tmp_path / "out").exists()
    part = part_of(tmp_path / "out")
    (part / "labels/.0123456789ab.part.png").touch()  # as a killed process leaves it
    with (part / PROGRESS).open("a") as stream:
        stream.write('{"case": "half a li')
    again: list[str] = []
    monkeypatch.setattr(
        mask_dataset,
        "fuse_case",
        lambda case, job: again.append(case.name) or fuse_case(case, job),
    )
    resumed = fuse_dataset(digits, tmp_path / "out", method="staple", resume=True)
    assert sorted(fused + again) == sorted(case.name for case in digits)
    monkeypatch.undo()
    whole = fuse_dataset(digits, tmp_path / "whole", method="staple")
    pd.testing.assert_frame_equal(resumed.raters, whole.raters)
    assert resumed.folder == tmp_path / "out"
    assert not (tmp_path / "out" / PROGRESS).exists()
    assert [path.name for path in tmp_path.rglob(".*")] == [FILE_NAME] * 2


def test_a_label_that_was_cut_off_is_fused_again(digits, tmp_path, monkeypatch):
    def interrupted(case, job):
        if case.name == digits[4].name:
            raise KeyboardInterrupt
        return fuse_case(case, job)

    with monkeypatch.context() as patch:
        patch.setattr(mask_dataset, "fuse_case", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fuse_dataset(digits, tmp_path / "out", method="staple")
    labels = sorted((part_of(tmp_path / "out") / "labels").iterdir())
    labels[0].write_bytes(b"")  # as after a power failure
    labels[1].unlink()
    fuse_dataset(digits, tmp_path / "out", method="staple", resume=True)
    fuse_dataset(digits, tmp_path / "whole", method="staple")
    for path in (tmp_path / "whole" / "labels").iterdir():
        assert (tmp_path / "out" / "labels" / path.name).read_bytes() == path.read_bytes()


def test_resuming_with_other_settings_is_refused(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="mean")
    with pytest.raises(InputError, match="begun with method"):
        fuse_dataset(digits, tmp_path / "out", method="staple", resume=True)


def test_a_finished_fusion_of_labels_that_have_changed_stays(digits, tmp_path):
    write_dataset(digits, tmp_path / "study")
    fuse_dataset(read_dataset(tmp_path / "study"), tmp_path / "out", method="staple")
    before = (tmp_path / "out" / "raters.csv").read_bytes()
    label = read_dataset(tmp_path / "study")[0].labels["good"]
    changed = replace(label.read(), array=1 - label.read().array)
    write_label(changed, label.paths[0], overwrite=True)
    study = read_dataset(tmp_path / "study")
    with pytest.raises(InputError, match="have changed since they were fused"):
        fuse_dataset(study, tmp_path / "out", method="staple", resume=True)
    assert (tmp_path / "out" / "raters.csv").read_bytes() == before
    fuse_dataset(study, tmp_path / "out", method="staple", overwrite=True)
    assert (tmp_path / "out" / "raters.csv").read_bytes() != before


def test_going_on_and_replacing_exclude_each_other(digits, tmp_path):
    with pytest.raises(InputError, match="to go on with a fusion and to replace it"):
        fuse_dataset(digits, tmp_path / "out", resume=True, overwrite=True)
    assert not (tmp_path / "out").exists()


def test_nothing_is_overwritten_unless_told(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="mean")
    before = (tmp_path / "out" / "raters.csv").read_bytes()
    with pytest.raises(InputError, match="already exists"):
        fuse_dataset(digits, tmp_path / "out", method="staple")
    assert (tmp_path / "out" / "raters.csv").read_bytes() == before
    fuse_dataset(digits, tmp_path / "out", method="staple", overwrite=True)
    assert json.loads((tmp_path / "out" / "fusion.json").read_text())["method"] == "staple"


def test_notes_beside_a_fusion_are_not_lost(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="mean")
    (tmp_path / "out/notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        fuse_dataset(digits, tmp_path / "out", method="staple", overwrite=True)
    assert (tmp_path / "out/notes.txt").read_text() == "mine"
    assert read_dataset(tmp_path / "out").raters == ("mean",)


def test_a_fusion_does_not_replace_what_it_reads(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="mean")
    with pytest.raises(InputError, match="holds what is read"):
        fuse_dataset(
            read_dataset(tmp_path / "out"), tmp_path / "out", method="mean", overwrite=True
        )
    assert len(read_dataset(tmp_path / "out")) == len(digits)


def test_an_old_fusion_stays_when_the_new_one_is_refused(digits, tmp_path):
    fuse_dataset(digits, tmp_path / "out", method="mean")
    write_dataset(digits, tmp_path / "study")
    (tmp_path / "study/raters/good/train-0002.png").write_bytes(b"not a picture")
    with pytest.raises(InputError, match="cannot be read"):
        fuse_dataset(
            read_dataset(tmp_path / "study"), tmp_path / "out", method="staple", overwrite=True
        )
    assert read_dataset(tmp_path / "out").raters == ("mean",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "study"]


def test_a_second_fusion_into_the_same_folder_is_told(digits, tmp_path, monkeypatch):
    def with_another(case, job):
        with pytest.raises(InputError, match="another process writes here"):
            fuse_dataset(digits, tmp_path / "out", method="mean")
        return fuse_case(case, job)

    monkeypatch.setattr(mask_dataset, "fuse_case", with_another)
    fuse_dataset(digits, tmp_path / "out", method="staple")
    assert read_dataset(tmp_path / "out").raters == ("staple",)


def test_a_folder_of_something_else_is_never_touched(digits, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="not a fusion"):
        fuse_dataset(digits, tmp_path, method="mean", overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_faults_are_found_before_anything_is_written(digits_folder, tmp_path):
    dataset = read_dataset(digits_folder)
    broken = tmp_path / "broken"
    write_dataset(dataset, broken)
    for rater in ("good", "over"):
        (broken / "raters" / rater / "train-0002.png").write_bytes(b"not a picture")
    with pytest.raises(InputError) as caught:
        fuse_dataset(read_dataset(broken), tmp_path / "out")
    assert [fault.rater for fault in caught.value.faults] == ["good", "over"]
    assert not (tmp_path / "out").exists()


def test_missing_raters_and_unlabelled_cases(tmp_path):
    labels = np.zeros((3, 4, 6, 6), dtype=int)
    labels[:, :, 2:4, 2:4] = 1
    labels[1, 2:] = -1
    labels[2] = -1
    data = dataset_from_arrays(labels, images=np.zeros((3, 6, 6), dtype=np.uint8))
    write_dataset(data, tmp_path / "data")
    done = fuse_dataset(read_dataset(tmp_path / "data"), tmp_path / "out", method="staple")
    assert done.raters["labels"].tolist() == [2, 2, 1, 1]
    fused = read_dataset(tmp_path / "out")
    assert np.array_equal(fused[1].read_label("staple").array, labels[0, 0])
    assert not fused[2].labels


def test_volumes_keep_format_and_geometry(tmp_path):
    geometry = Geometry((2.0, 0.5, 0.5), (3.0, -4.0, 5.0), Geometry.default(3).direction)
    mask = np.zeros((4, 6, 6), dtype=np.int16)
    mask[1:3, 2:5, 2:5] = 1
    for rater in ("a", "b", "c"):
        write_label(LabelMap(mask, geometry), tmp_path / "data/raters" / rater / "p1.nii.gz")
    image = Image(np.zeros((1, 4, 6, 6), dtype=np.float32), geometry)
    write_image(image, tmp_path / "data/images/p1.nii.gz")
    fuse_dataset(read_dataset(tmp_path / "data"), tmp_path / "out", probability=True)
    fused = read_dataset(tmp_path / "out")[0].read_label("weighted-vote")
    assert np.array_equal(fused.array, mask)
    assert fused.geometry.is_close(geometry)
    probability = read_image(tmp_path / "out/probability/p1.nii.gz")
    assert probability.array.shape == (2, 4, 6, 6)
    assert probability.geometry.is_close(geometry)


def test_class_labels_are_fused_over_all_cases(tmp_path):
    table = pd.DataFrame(
        [
            {"case": f"c{i}", "rater": rater, "label": label, "truth": truth}
            for i, truth in enumerate(["cat", "dog"] * 20)
            for rater, label in (
                ("a", truth),
                ("b", truth),
                ("c", "cat" if i % 3 else truth),
            )
        ]
    )
    data = read_dataset(table)
    done = fuse_dataset(data, tmp_path / "out", method="dawid-skene")
    fused = read_dataset(tmp_path / "out")
    assert fused.kind == "classes"
    assert all(case.read_label("dawid-skene").array == case.read_truth().array for case in fused)
    assert done.raters.loc["a", "skill"] > done.raters.loc["c", "skill"]
    assert done.raters.loc["c", "skill_low"] < done.raters.loc["c", "skill"]


def test_spatial_staple_cannot_be_pooled(digits, tmp_path):
    with pytest.raises(InputError, match="cannot be pooled"):
        fuse_dataset(digits, tmp_path / "out", method="spatial-staple", pooled=True)


def test_unknown_method_names_the_known_ones(digits, tmp_path):
    with pytest.raises(InputError, match="majority-vote"):
        fuse_dataset(digits, tmp_path / "out", method="magic")


def test_the_same_cases_run_on_a_dask_cluster(digits, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        there = fuse_dataset(
            digits, tmp_path / "dask", method="staple", scheduler=cluster.scheduler_address
        )
    here = fuse_dataset(digits, tmp_path / "here", method="staple")
    pd.testing.assert_frame_equal(there.raters, here.raters)


def test_a_missing_scheduler_is_a_clear_fault(digits, tmp_path):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="no Dask scheduler"):
        fuse_dataset(digits, tmp_path / "out", scheduler="tcp://127.0.0.1:9")


def test_pixels_nobody_labelled_stay_unlabelled_in_png(tmp_path):
    labels = np.zeros((1, 2, 6, 6), dtype=int)
    labels[:, :, 2:4] = 1
    labels[:, :, 5] = -1
    data = dataset_from_arrays(labels)
    fuse_dataset(data, tmp_path / "out", method="majority-vote")
    fused = read_dataset(tmp_path / "out")[0].read_label("majority-vote")
    assert (tmp_path / "out/labels/0.png").exists()
    assert np.array_equal(fused.array, labels[0, 0])


def test_a_case_with_one_rater_says_nothing_about_them(tmp_path, rng):
    truth = rng.random((4, 10, 10)) < 0.4
    labels = (truth[:, None] ^ (rng.random((4, 3, 10, 10)) < 0.2)).astype(int)
    labels[2:, :2] = -1
    with_company = fuse_dataset(dataset_from_arrays(labels[:2]), tmp_path / "a", method="staple")
    with_loners = fuse_dataset(dataset_from_arrays(labels), tmp_path / "b", method="staple")
    assert with_loners.raters["labels"].tolist() == [2, 2, 4]
    assert with_loners.raters["skill"].to_numpy() == pytest.approx(
        with_company.raters["skill"].to_numpy()
    )
    assert with_loners.messages[0].startswith("2 cases labelled by one rater")
    one_loner = fuse_dataset(dataset_from_arrays(labels[:3]), tmp_path / "c", method="staple")
    assert one_loner.messages[0].startswith("1 case labelled by one rater")
    assert not any("(1 cases)" in message for message in one_loner.messages)
    assert not any("follows" in message for message in with_loners.messages[1:])


def test_no_labels_and_wrong_options_are_refused_and_leave_nothing(digits, tmp_path):
    unlabelled = digits_dataset(n_train=2, n_test=0)
    with pytest.raises(InputError, match="no case has a label"):
        fuse_dataset(unlabelled, tmp_path / "out")
    with pytest.raises(InputError, match="mean has no option prior"):
        fuse_dataset(digits, tmp_path / "out", method="mean", options={"prior": 0.5})
    with pytest.raises(InputError, match="prior"):
        fuse_dataset(digits, tmp_path / "out", options={"prior": 2.0})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("method", ["majority-vote", "staple", "spatial-staple", None])
def test_every_fusion_says_the_same_quality(digits, tmp_path, method):
    done = fuse_dataset(digits, tmp_path / "out", method=method)
    expected = quality_of_study(survey(digits))
    np.testing.assert_allclose(
        done.raters[["quality", "quality_low", "quality_high"]],
        expected[["quality", "quality_low", "quality_high"]],
    )
    assert done.raters["quality"].idxmax() == "good"
    assert done.raters["quality"].idxmin() == "blank"


def test_without_a_method_one_is_chosen_and_said(digits, tmp_path):
    done = fuse_dataset(digits, tmp_path / "out")
    assert done.method == "weighted-vote"
    assert "5 raters" in done.why
    assert json.loads((tmp_path / "out" / "fusion.json").read_text())["method"] == "weighted-vote"
    asked = fuse_dataset(digits, tmp_path / "asked", method="staple")
    assert (asked.method, asked.why) == ("staple", "")


def test_a_fusion_of_two_raters_is_called_what_it_is(digits, tmp_path):
    two = replace(
        digits,
        raters=("good", "over"),
        cases=tuple(
            replace(case, labels={r: case.labels[r] for r in ("good", "over")}) for case in digits
        ),
    )
    for method in (None, "staple"):
        done = fuse_dataset(two, tmp_path / str(method), method=method)
        (said, *others) = [each for each in done.messages if "the fused label is" in each]
        assert "the intersection of all drawings by two raters" in said
        assert not others
        assert not any("follows rater" in each for each in done.messages)


def test_disputed_only_pooled_keeps_what_all_agree_on(digits, tmp_path):
    fuse_dataset(
        digits, tmp_path / "out", method="staple", pooled=True, options={"disputed_only": True}
    )
    for case, fused in zip(digits, read_dataset(tmp_path / "out"), strict=True):
        drawn = case.read_labels(digits.raters).array
        agreed = (drawn == drawn[0]).all(0)
        assert np.array_equal(fused.read_label("staple").array[agreed], drawn[0][agreed])


@pytest.mark.parametrize("method", ["majority-vote", "weighted-vote"])
def test_raters_are_compared_with_the_label_that_a_vote_decides(digits, tmp_path, method):
    done = fuse_dataset(digits, tmp_path / "out", method=method, pooled=True)
    fused = read_dataset(tmp_path / "out")
    hits = total = 0
    for case, label in zip(digits, fused, strict=True):
        true = label.read_label(method).array == 1
        hits += (case.read_label("over").array[true] == 1).sum()
        total += true.sum()
    assert done.raters.loc["over", "sensitivity"] == pytest.approx(hits / total)


@pytest.mark.parametrize("pooled", [False, True])
def test_labels_that_change_while_a_fusion_is_stopped_are_noticed(
    digits, tmp_path, monkeypatch, pooled
):
    write_dataset(digits, tmp_path / "study")
    fused: list[str] = []

    def interrupted(case, job):
        if len(fused) == 5:
            raise KeyboardInterrupt
        fused.append(case.name)
        return fuse_case(case, job)

    monkeypatch.setattr(mask_dataset, "fuse_case", interrupted)
    options = {"method": "staple", "pooled": pooled}
    with pytest.raises(KeyboardInterrupt):
        fuse_dataset(read_dataset(tmp_path / "study"), tmp_path / "out", **options)
    monkeypatch.undo()
    name = fused[0] if not pooled else [case.name for case in digits][-1]
    label = read_dataset(tmp_path / "study")[name].read_label("good")
    moved = replace(label, array=np.roll(label.array, 1, axis=0))  # as many pixels of each class
    path = read_dataset(tmp_path / "study")[name].labels["good"].paths[0]
    write_label(moved, path, overwrite=True)
    with pytest.raises(InputError, match="have changed since"):
        fuse_dataset(read_dataset(tmp_path / "study"), tmp_path / "out", resume=True, **options)
    done = fuse_dataset(read_dataset(tmp_path / "study"), tmp_path / "out", **options)
    assert len(done.cases) == len(digits)


def test_nothing_is_made_of_labels_that_say_nothing(tmp_path):
    labels = np.full((3, 2, 8, 8), -1)
    labels[0] = 0
    one = dataset_from_arrays(labels, images=np.zeros((3, 8, 8), np.uint8))
    data = replace(one, cases=one.cases[1:])
    with pytest.raises(InputError, match=r"no pixel of any case is labelled|no case has a label"):
        fuse_dataset(data, tmp_path / "out", method="mean")
    assert not list(tmp_path.iterdir())


def test_a_truth_of_sixteen_bits_beside_masks_of_eight(tmp_path):
    for folder in ("images", "raters/a", "raters/b", "truth"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        dtype, full = (np.uint16, 65535) if folder == "truth" else (np.uint8, 255)
        picture = Pillow.fromarray(np.eye(4, dtype=dtype) * dtype(full))
        picture.save(tmp_path / "in" / folder / "x.png")
    fuse_dataset(read_dataset(tmp_path / "in"), tmp_path / "out")
    fused = read_dataset(tmp_path / "out")
    for label in (fused["x"].read_truth(), fused["x"].read_label(fused.raters[0])):
        np.testing.assert_array_equal(label.array, np.eye(4))


def test_masks_without_a_place_on_images_that_have_one(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    for folder in ("images", "raters/a", "raters/b"):
        (tmp_path / "in" / folder).mkdir(parents=True)
    volume = np.zeros((3, 4, 5), np.uint8)
    image = nibabel.Nifti1Image(volume.transpose(2, 1, 0), np.diag([2.0, 2.0, 3.0, 1.0]))
    nibabel.save(image, tmp_path / "in/images/x.nii.gz")
    for rater in "ab":
        np.save(tmp_path / f"in/raters/{rater}/x.npy", volume)
    fuse_dataset(read_dataset(tmp_path / "in"), tmp_path / "out")
    (case,) = read_dataset(tmp_path / "out")
    assert case.read_label(next(iter(case.labels))).geometry.spacing == (3.0, 2.0, 2.0)
