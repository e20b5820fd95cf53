"""Runs by a plan: volumes of several spacings, folds, groups, memory, what is written."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import multirater
from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.training import Predictor, TrainConfig, resume, train
from multirater.training.data import split_cases
from multirater.training.methods import prepared
from multirater.training.plan_files import read_plan
from multirater.training.rehearsal import threads_for
from multirater.training.run_folder import read_config
from multirater.types import Drawing, Geometry, Image, LabelMap, Source

TINY = {"channels": (4, 8), "n_features": 4, "accelerator": "cpu"}


def balls(sizes, spacings, n_raters=2):
    """Volumes or images with a bright ball, which the second rater draws larger."""
    cases = []
    for number, (size, spacing) in enumerate(zip(sizes, spacings, strict=True)):
        default = Geometry.default(len(size))
        geometry = Geometry(tuple(spacing), default.origin, default.direction)
        axes = np.ogrid[tuple(slice(0, side) for side in size)]
        away = sum(
            ((at - side / 2) * step) ** 2
            for at, side, step in zip(axes, size, spacing, strict=True)
        )
        reach = min(side * step for side, step in zip(size, spacing, strict=True)) / 4
        image = (away < reach**2) * 5.0 + np.random.default_rng(number).normal(size=size)
        drawn = [(away < (reach * (1 + r / 3)) ** 2).astype(np.int16) for r in range(n_raters)]
        made = Image(image[None].astype(np.float32), geometry)
        cases.append((made, [LabelMap(each, geometry) for each in drawn]))
    data = dataset_from_arrays(
        [np.stack([each.array for each in labels]) for _, labels in cases],
        images=[image.array for image, _ in cases],
    )
    own = tuple(
        replace(
            case,
            image=Source(lambda image=image: image),
            labels={
                rater: Source(lambda each=each: each)
                for rater, each in zip(data.raters, labels, strict=True)
            },
        )
        for case, (image, labels) in zip(data, cases, strict=True)
    )
    return replace(data, cases=own)


@pytest.fixture(scope="module")
def volumes():
    sizes = [(16, 24, 24), (16, 24, 24), (8, 24, 24), (16, 12, 12)]
    spacings = [(2.0, 1.0, 1.0), (2.0, 1.0, 1.0), (4.0, 1.0, 1.0), (2.0, 2.0, 2.0)]
    return balls(sizes, spacings)


def few_steps(dataset, **more):
    """A plan with hardly any steps."""
    made = multirater.plan(dataset, memory="3GB", **more)
    return replace(made, epochs=2, steps_per_epoch=2, batch_size=2)


def test_predictions_come_back_on_each_image_own_grid(volumes, tmp_path):
    made = few_steps(volumes)
    assert made.spacing == (2.0, 1.0, 1.0)
    train(volumes, tmp_path / "run", TrainConfig(method="auto", **TINY), plan=made)
    found = list(Predictor(tmp_path / "run").of_cases(volumes, lambda _: [0, 1]))
    for each, case in zip(found, volumes, strict=True):
        space = case.read_image().space
        assert each.prediction.probability.shape == (2, *space)
        assert each.prediction.drawn.shape == (2, 2, *space)
        assert each.prediction.confusion.shape == (2, 2, 2, *space)
        assert np.allclose(each.prediction.probability.sum(0), 1, atol=1e-4)


@pytest.mark.parametrize("view", ["3d", "slices"])
def test_patches_of_volumes(volumes, tmp_path, view):
    patch = (8, 16, 16) if view == "3d" else (12, 12)
    config = TrainConfig(method="mode", view=view, patch=patch, **TINY)
    made = replace(
        few_steps(volumes), patch=patch, view=view, rare_share=0.5, strides=(), kernels=()
    )
    run = train(volumes, tmp_path / "run", config, plan=replace(made, channels=()))
    kept = read_config(run.folder)
    assert (kept.patch, kept.view, kept.steps_per_epoch) == (patch, view, 2)


def test_a_run_keeps_its_plan_and_what_settings_say_wins(tmp_path):
    data = balls([(40, 40)] * 6, [(1.0, 1.0)] * 6)
    train(data, tmp_path / "run", TrainConfig(batch_size=3, **TINY), plan=few_steps(data))
    plan, config = (
        read_plan(tmp_path / "run" / "plan.json"),
        read_config(tmp_path / "run"),
    )
    assert plan.batch_size == config.batch_size == 3
    assert plan.channels == config.channels == (4, 8)
    assert config.augment


def test_a_plan_may_stand_in_for_the_settings(tmp_path):
    data = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4)
    made = replace(few_steps(data), channels=(4, 8), strides=((1, 1), (2, 2)))
    made = replace(made, kernels=((3, 3), (3, 3)), n_features=4)
    train(data, tmp_path / "run", made)
    assert read_config(tmp_path / "run").channels == (4, 8)


def test_a_plan_of_another_data_set_is_refused(tmp_path):
    data, other = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4), balls([(30, 24)] * 4, [(1.0, 1.0)] * 4)
    with pytest.raises(InputError, match="the plan is of another data set, of 4 cases"):
        train(data, tmp_path / "run", plan=multirater.plan(other))
    assert not (tmp_path / "run").exists()


def test_settings_with_epochs_are_a_recipe_of_their_own(tmp_path):
    data = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4)
    train(data, tmp_path / "run", TrainConfig(method="mode", epochs=1, **TINY))
    config = read_config(tmp_path / "run")
    assert (config.augment, config.steps_per_epoch, config.batch_size) == (False, 0, 16)
    assert not (tmp_path / "run" / "plan.json").exists()


def test_folds_predict_every_case_unseen_and_answer_together(tmp_path):
    data = balls([(24, 24)] * 6, [(1.0, 1.0)] * 6)
    config = TrainConfig(method="auto", folds=3, **TINY)
    train(data, tmp_path / "run", config, plan=few_steps(data))
    predicted = read_dataset(tmp_path / "run" / "predictions")
    assert sorted(case.name for case in predicted) == [case.name for case in data]
    together = Predictor(tmp_path / "run")
    image = data[0].read_image().array
    each = [Predictor(tmp_path / "run" / f"fold-{n}")(image).probability for n in (1, 2, 3)]
    assert np.allclose(together(image).probability, np.mean(each, axis=0), atol=1e-5)
    assert len(pd.read_csv(tmp_path / "run" / "raters.csv")) == 2
    # To go on with a finished run changes nothing, and takes away nothing that is not its own.
    before = (tmp_path / "run/predictions/manifest.csv").read_bytes()
    resume(data, tmp_path / "run")
    assert (tmp_path / "run/predictions/manifest.csv").read_bytes() == before
    assert len(list((tmp_path / "run/fold-1/predictions/truth").iterdir())) == 2
    for notes in (tmp_path / "run/predictions/notes.txt", tmp_path / "run/fold-1/predictions/a.md"):
        notes.write_text("mine")
        with pytest.raises(InputError, match="more than this program wrote"):
            resume(data, tmp_path / "run")
        assert notes.read_text() == "mine"
        notes.unlink()


def test_folds_of_images_with_a_semicolon_in_their_names(tmp_path):
    write_dataset(balls([(24, 24)] * 4, [(1.0, 1.0)] * 4), tmp_path / "study")
    for file in (tmp_path / "study").rglob("*.*"):
        if file.is_file() and file.suffix != ".csv":
            file.rename(file.with_name(f"c;{file.name}"))
    (tmp_path / "study/manifest.csv").unlink()
    data = read_dataset(tmp_path / "study")
    train(data, tmp_path / "run", TrainConfig(method="mode", folds=2, **TINY), plan=few_steps(data))
    predicted = read_dataset(tmp_path / "run" / "predictions")
    assert {case.name for case in predicted} == {case.name for case in data}
    assert predicted[0].read_image().array.shape == (1, 24, 24)


@pytest.mark.parametrize("folds", [1, 3])
def test_cases_of_a_patient_stay_on_one_side(folds):
    data = balls([(24, 24)] * 12, [(1.0, 1.0)] * 12)
    cases = tuple(replace(case, patient=f"p{n // 2}") for n, case in enumerate(data))
    data = replace(data, cases=cases)
    seen = set()
    for fold in range(folds):
        training, held_out = split_cases(data, TrainConfig(folds=folds, fold=fold))
        sides = [{case.patient for case in part} for part in (training, held_out)]
        assert sides[1]
        assert not sides[0] & sides[1]
        seen |= sides[1]
    assert folds == 1 or len(seen) == 6


def test_more_folds_than_patients_are_refused():
    data = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4)
    with pytest.raises(InputError, match="5 folds of 4 cases or patients"):
        split_cases(data, TrainConfig(folds=5))


def test_mirrored_copies_and_parts_change_little(tmp_path, monkeypatch):
    data = balls([(40, 40)] * 4, [(1.0, 1.0)] * 4)
    config = TrainConfig(method="mode", patch=(16, 16), **TINY)
    train(data, tmp_path / "run", config, plan=few_steps(data))
    whole = next(iter(Predictor(tmp_path / "run").of_cases(data, lambda _: ())))
    monkeypatch.setattr("multirater.training.predictor._SHARE_OF_MAPS", 1e-6)
    parts = next(iter(Predictor(tmp_path / "run").of_cases(data, lambda _: ())))
    assert parts.prediction.probability.shape == whole.prediction.probability.shape
    assert np.abs(parts.prediction.probability - whole.prediction.probability).max() < 0.2
    mirrored = Predictor(tmp_path / "run", tta=True)
    image = data[0].read_image().array
    turned = mirrored(image[:, ::-1].copy()).probability[:, ::-1]
    assert np.allclose(turned, mirrored(image).probability, atol=1e-4)


def test_mirrored_copies_need_a_network_that_knows_them(tmp_path):
    data = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4)
    config = TrainConfig(method="mode", mirror=False, **TINY)
    train(data, tmp_path / "run", config, plan=few_steps(data))
    with pytest.raises(InputError, match="trained without mirroring"):
        Predictor(tmp_path / "run", tta=True)


def test_class_images_of_several_sizes(tmp_path):
    rng = np.random.default_rng(0)
    sizes = [(20, 20), (24, 20), (20, 26), (20, 20), (20, 20), (20, 20)]
    images = [rng.normal(size=(1, *size)).astype(np.float32) for size in sizes]
    data = dataset_from_arrays(rng.integers(0, 2, (6, 2)), images=images)
    options = {"backbone_options": {"channels": (4, 4)}, "accelerator": "cpu"}
    train(data, tmp_path / "run", TrainConfig(epochs=1, **options))
    found = list(Predictor(tmp_path / "run").of_cases(data, lambda _: ()))
    assert [each.prediction.probability.shape for each in found] == [(2,)] * 6


def test_what_does_not_fit_is_made_smaller_and_what_was_asked_for_is_refused(tmp_path, monkeypatch):
    data = balls([(300, 300)] * 3, [(1.0, 1.0)] * 3)
    made = replace(few_steps(data), batch_size=8, patch=(128, 128), rare_share=0.3)
    peaks = iter([10**12, 0, 0])
    monkeypatch.setattr("multirater.training.rehearsal.peak_resident", lambda: next(peaks, 0))
    run = train(data, tmp_path / "run", TrainConfig(method="mode", **TINY), plan=made)
    assert read_config(run.folder).batch_size == 4
    monkeypatch.setattr("multirater.training.rehearsal.peak_resident", lambda: 10**12)
    asked = TrainConfig(method="mode", patch=(128, 128), batch_size=8, **TINY)
    with pytest.raises(InputError, match="is too small for 8 patches of 128 x 128"):
        train(data, tmp_path / "other", asked, plan=made)
    assert not (tmp_path / "other").exists()


def test_a_time_decides_the_number_of_steps(tmp_path):
    data = balls([(64, 64)] * 4, [(1.0, 1.0)] * 4)
    config = TrainConfig(method="mode", time=60.0, **TINY)
    train(data, tmp_path / "run", config, plan=few_steps(data))
    kept = read_config(tmp_path / "run")
    assert kept.epochs * kept.steps_per_epoch > 4
    assert kept.threads


def test_without_a_time_threads_follow_from_the_size_of_a_step(tmp_path, monkeypatch):
    data = balls([(160, 160)] * 4, [(1.0, 1.0)] * 4)
    monkeypatch.delattr("multirater.training.rehearsal._threads")
    monkeypatch.setattr("multirater.training.rehearsal._HINDERED", float("inf"))
    config = TrainConfig(method="mode", epochs=1, batch_size=4, **TINY)
    train(data, tmp_path / "run", config)
    assert read_config(tmp_path / "run").threads == threads_for(160 * 160 * 4)


def drawn_in_part(data):
    """Turn every second case of a study into one that has nothing but a positive drawing."""
    return replace(
        data,
        cases=tuple(
            case
            if number % 2
            else replace(
                case,
                labels={},
                drawings=(Drawing(data.raters[0], "positive", case.labels[data.raters[0]]),),
            )
            for number, case in enumerate(data)
        ),
    )


def test_folds_split_what_the_method_learns_from(tmp_path):
    data = drawn_in_part(balls([(16, 16)] * 8, [(1.0, 1.0)] * 8))
    config = TrainConfig(method="coarse", folds=2, epochs=1, **TINY)
    train(data, tmp_path / "run", config)
    assert {case.name for case in read_dataset(tmp_path / "run/predictions")} == {
        case.name for case in data
    }
    for fold in range(2):
        own = replace(config, fold=fold)
        learned = {case.name for case in split_cases(prepared(data, config), own)[0]}
        predicted = read_dataset(tmp_path / f"run/fold-{fold + 1}/predictions")
        assert not learned & {case.name for case in predicted}


def test_folds_stopped_before_the_first_go_on_as_folds(tmp_path):
    data = balls([(16, 16)] * 4, [(1.0, 1.0)] * 4)
    run = tmp_path / "run"
    train(data, run, TrainConfig(method="mode", folds=2, epochs=1, **TINY))
    for folder in ("fold-1", "fold-2", "predictions"):
        shutil.rmtree(run / folder)
    resume(data, run)
    assert {path.name for path in run.glob("fold-*")} == {"fold-1", "fold-2"}
    resume(data, run / "fold-2")
    assert not list(run.glob("fold-2/fold-*"))


@pytest.mark.parametrize(("step", "seen"), [(0.5, 12), (1.0, 24), (1.02, 24), (2.0, 48)])
def test_a_network_sees_the_spacing_that_it_learned_from(tmp_path, step, seen):
    data = balls([(24, 24)] * 4, [(1.0, 1.0)] * 4)
    data = replace(data, cases=tuple(map(moved, data)))
    train(data, tmp_path / "run", TrainConfig(method="mode", epochs=1, **TINY))
    (new,) = map(moved, balls([(24, 24)], [(step, step)]))
    predictor = Predictor(tmp_path / "run")
    assert predictor.data.spacing == (1.0, 1.0)
    assert predictor.prepared(new)[0].shape == (1, seen, seen)
    (found,) = predictor.of_cases([new], lambda _: ())
    assert found.prediction.label.shape == (24, 24)


def moved(case):
    """Put an image somewhere, as files do that know where they are."""
    origin = (5.0, 7.0)

    def elsewhere(source):
        value = source.read()
        return Source(lambda: replace(value, geometry=replace(value.geometry, origin=origin)))

    labels = {rater: elsewhere(source) for rater, source in case.labels.items()}
    return replace(case, image=elsewhere(case.image), labels=labels)
