"""The plan is a pure function of the fingerprint: made-up studies, and what one expects of each."""

import subprocess
import sys
from dataclasses import replace
from math import prod

import pytest

from multirater.errors import InputError
from multirater.training.budget import GB
from multirater.training.fingerprint import Fingerprint
from multirater.training.plan import plan_of
from multirater.training.plan_files import plan_json, read_plan, write_plan


def study(size, spacing=None, *, kind="masks", n_cases=30, channels=1, largest=None, **more):
    spacing = tuple(spacing or (1.0,) * len(size))
    given = {
        "finest": spacing,
        "coarsest": spacing,
        "class_share": (0.9, 0.1),
        "class_cases": (1.0, 1.0),
        "disputed": 0.03,
        "labels": {"anna": n_cases, "bert": n_cases},
        "mean": (100.0,) * channels,
        "deviation": (40.0,) * channels,
        "low": (-100.0,) * channels,
        "high": (300.0,) * channels,
        **more,
    }
    return Fingerprint(
        kind, n_cases, 2, channels, size, largest or size, largest or size, spacing, **given
    )


STUDIES = {
    "X-ray": study((2000, 1800), object_size=((), (600, 500))),
    "fundus": study((960, 999), channels=3, image="colour", object_size=((), (912, 885))),
    "CT": study((200, 512, 512), (1.5, 0.8, 0.8), image="ct", object_size=((), (60, 90, 90))),
    "thick slices": study((24, 320, 320), (5.0, 0.6, 0.6), object_size=((), (8, 60, 60))),
    "histology": study((20_000, 20_000), channels=3, image="colour", n_cases=10),
    "digits": study((28, 28), n_cases=70),
    "vectors": study((), kind="classes", n_cases=400, channels=12, image="vector"),
}


@pytest.mark.parametrize(
    ("name", "view", "intensities"),
    [
        ("X-ray", "2d", "case"),
        ("fundus", "2d", "study"),
        ("CT", "3d", "study"),
        ("thick slices", "slices", "case"),
        ("histology", "2d", "study"),
        ("digits", "2d", "case"),
        ("vectors", "whole", "case"),
    ],
)
def test_view_and_intensities(name, view, intensities):
    plan = plan_of(STUDIES[name])
    assert (plan.view, plan.normalisation.kind) == (view, intensities)


@pytest.mark.parametrize("name", [name for name in STUDIES if name != "vectors"])
def test_patches_fit_image_network_and_memory(name):
    seen = STUDIES[name]
    plan = plan_of(seen, memory=4 * GB)
    patch = plan.patch or seen.size[-len(plan.strides[0]) :]
    assert len(plan.channels) == len(plan.strides) == len(plan.kernels)
    assert prod(patch) * plan.batch_size <= 2**19
    coarsest = list(patch)
    for stride in plan.strides:
        coarsest = [-(-have // by) for have, by in zip(coarsest, stride, strict=True)]
    # Pooling stops when an axis is used up.
    assert min(coarsest) >= 4
    assert plan.augment
    assert all(plan.reasons.values())


@pytest.mark.parametrize("name", ["fundus", "CT", "histology", "X-ray"])
def test_large_images_are_cut_and_patches_seek_what_is_rare(name):
    plan = plan_of(STUDIES[name])
    assert plan.patch
    assert plan.rare_share > 0.2


def test_small_images_are_served_whole():
    plan = plan_of(STUDIES["digits"])
    assert (plan.patch, plan.rare_share, plan.batch_size) == ((), 0.0, 8)


@pytest.mark.parametrize(("n_cases", "low", "high"), [(30, 900, 1100), (30_000, 5000, 20_000)])
def test_enough_steps_for_few_and_no_more_than_needed_for_many(n_cases, low, high):
    plan = plan_of(study((256, 256), n_cases=n_cases))
    assert low <= plan.epochs * plan.steps_per_epoch <= high


def test_a_single_case_is_said_in_the_singular():
    assert plan_of(study((256, 256), n_cases=1)).reasons["length"].endswith("1 case is few")
    assert plan_of(study((256, 256), n_cases=2)).reasons["length"].endswith("2 cases are few")


def test_images_of_several_spacings_are_brought_to_the_usual_one():
    seen = study((100, 200, 200), (1.0, 0.8, 0.8), finest=(1.0, 0.5, 0.5), coarsest=(3.0, 0.9, 0.9))
    assert plan_of(seen).spacing == (1.0, 0.8, 0.8)
    assert plan_of(study((100, 200, 200))).spacing == ()


def test_flat_axes_get_flat_kernels_and_are_pooled_last():
    plan = plan_of(study((60, 256, 256), (3.0, 1.0, 1.0)))
    assert plan.view == "3d"
    assert plan.kernels[0] == (1, 3, 3)
    assert plan.strides[1] == (1, 2, 2)
    assert plan.kernels[-1] == (3, 3, 3)


def test_a_volume_of_few_slices_is_taken_slice_by_slice():
    assert plan_of(study((8, 256, 256))).view == "slices"


def test_less_memory_makes_steps_smaller():
    seen = STUDIES["fundus"]
    large, small = (plan_of(seen, memory=int(size * GB)) for size in (7, 1.4))
    cost = [prod(plan.patch) * plan.batch_size for plan in (large, small)]
    assert cost[1] <= cost[0]


@pytest.mark.parametrize("name", ["fundus", "CT"])
def test_a_budget_too_small_for_one_patch_is_refused(name):
    with pytest.raises(InputError, match="too small for a patch of"):
        plan_of(STUDIES[name], memory=GB // 2)


def test_a_volume_of_one_slice_is_refused():
    with pytest.raises(InputError, match="a volume of one slice: 1 x 64 x 64"):
        plan_of(study((1, 64, 64)))


def test_a_patch_larger_than_an_image_is_refused():
    with pytest.raises(InputError, match="a patch of 96 x 96"):
        plan_of(STUDIES["digits"], patch=(96, 96))


def test_what_is_given_wins_and_the_rest_follows():
    plan = plan_of(STUDIES["fundus"], patch=(64, 64), batch_size=3, epochs=7, augment=False)
    assert (plan.patch, plan.batch_size, plan.epochs) == ((64, 64), 3, 7)
    assert (plan.steps_per_epoch, plan.augment) == (0, False)


def test_class_images_of_several_sizes_are_brought_to_one():
    seen = study((100, 80), kind="classes", largest=(120, 90))
    assert plan_of(replace(seen, smallest=(60, 60))).space == (100, 80)


@pytest.mark.parametrize("n_cases", [20, 60, 200, 600, 3000])
def test_few_class_images_get_enough_steps(n_cases):
    plan = plan_of(study((28, 28), kind="classes", n_cases=n_cases))
    trained_on = 0.85 * n_cases
    assert 1000 <= plan.epochs * -(-trained_on // plan.batch_size) < 1100
    assert "steps, which are few" in plan.reasons["length"]


def test_many_class_images_are_gone_through_as_often_as_ever():
    plan = plan_of(study((28, 28), kind="classes", n_cases=30_000))
    assert (plan.epochs, plan.batch_size) == (15, 64)
    assert plan.reasons["length"] == "15 epochs in batches of 64, for 30000 cases"


def test_few_vectors_are_gone_through_as_often_as_many():
    assert plan_of(STUDIES["vectors"]).epochs == 15


def test_epochs_that_are_asked_for_win_over_few_steps():
    plan = plan_of(study((28, 28), kind="classes", n_cases=60), epochs=3)
    assert plan.epochs == 3
    assert "as asked for" in plan.reasons["length"]


@pytest.mark.parametrize("name", STUDIES)
def test_a_plan_is_the_same_after_its_file_and_every_time(name, tmp_path):
    plan = plan_of(STUDIES[name])
    write_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan == plan_of(STUDIES[name])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"batch_size": 2', '"batch_size": -2', "batch_size is -2"),
        ('"batch_size": 2', '"batch_size": "two"', "batch_size is 'two'"),
        ('"view": "2d"', '"view": "4d"', "view is '4d'"),
        ('"view"', '"veiw"', "unknown field 'veiw'"),
        ('"mirror": true', '"mirror": 3', "mirror is 3"),
        ('"overlap_weight": 1.0', '"overlap_weight": NaN', "overlap_weight is nan"),
        ('"rare_share": 0.3333', '"rare_share": 7', "rare_share is 7"),
        ('"epochs": 20', '"epochs": 1000000000000', "epochs is 1000000000000"),
        ('"n_features": 16', '"n_features": 1000000000', "n_features is 1000000000"),
        ('"memory": 7516192768', '"memory": 10', "memory is 10"),
        ('"mean": [\n      100.0,', '"mean": [', "normalisation is"),
        ('"deviation": [\n      ', '"deviation": [\n      -', "normalisation is"),
        ('"reasons": {', '"reasons": {"depth": 3,', "reasons is"),
        ('"space": []', '"space": [3]', "space is"),
        ('"spacing": []', '"spacing": [1, 1, 1]', "spacing is"),
        ('"n_cases": 30', '"n_cases": -30', "fingerprint is"),
        ('"disputed": 0.03', '"disputed": -3', "fingerprint is"),
        ('"bert": 30', '"bert": "many"', "fingerprint is"),
        ("{", "[", "is no JSON"),
    ],
)
def test_nonsense_in_a_plan_is_named(tmp_path, old, new, said):
    path = tmp_path / "plan.json"
    path.write_text(plan_json(plan_of(STUDIES["fundus"])).replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_plan(path)


def test_a_plan_of_no_study_is_refused(tmp_path):
    write_plan(replace(plan_of(STUDIES["fundus"]), fingerprint=None), tmp_path / "plan.json")
    with pytest.raises(InputError, match="fingerprint is null"):
        read_plan(tmp_path / "plan.json")


def test_planning_needs_no_torch():
    code = (
        "import sys, multirater.training.plan, multirater.training.planning\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_more_stages_than_a_patch_can_be_halved_are_refused():
    with pytest.raises(InputError, match="channels of 9 stages for patches of 28 x 28"):
        plan_of(STUDIES["digits"], memory=4 * GB, channels=(4,) * 9)


def test_a_view_that_images_do_not_have_is_refused():
    with pytest.raises(InputError, match="view slices of 2-dimensional images"):
        plan_of(STUDIES["digits"], memory=4 * GB, view="slices")
