"""Volumes stored along different directions: seen alike, and predicted as they are stored."""

import pickle
from dataclasses import replace

import nibabel
import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset
from multirater.io.formats.images import read_image
from multirater.progress import show_progress
from multirater.training import Predictor, TrainConfig, predict, resume, train
from multirater.training.description import _by_fold
from multirater.training.orientation import (
    orientation_of,
    turn_to,
    turned,
    turned_value,
    usual_orientation,
)
from multirater.training.planning import plan
from multirater.training.setting_check import ORIENTATIONS
from multirater.types import Case, Geometry, Image, LabelMap, Source


def geometry_of(codes, spacing=(3.0, 1.0, 2.0), origin=(5.0, -7.0, 9.0)):
    direction = np.zeros((3, 3))
    for axis, letter in enumerate(codes):
        world = next(w for w, pair in enumerate(("LR", "PA", "SI")) if letter in pair)
        direction[world, axis] = 1 if letter in "LPS" else -1
    return Geometry(spacing, origin, tuple(map(tuple, direction.tolist())))


def places(geometry, space):
    """Return where each voxel lies in the world, (*space, 3)."""
    index = np.stack(np.indices(space), -1) * np.array(geometry.spacing)
    return index @ np.array(geometry.direction).T + np.array(geometry.origin)


@pytest.mark.parametrize("codes", ORIENTATIONS)
def test_a_turned_volume_has_every_value_where_it_was(codes):
    image = Image(np.random.default_rng(0).random((2, 3, 4, 5)), geometry_of(codes))
    assert orientation_of(image.geometry) == codes
    found = turned_value(image, turn_to("SPL", image.geometry))
    assert orientation_of(found.geometry) == "SPL"
    flat = [
        {
            tuple(np.round(at, 6)): value
            for at, value in zip(
                places(each.geometry, each.space).reshape(-1, 3), each.array[1].ravel(), strict=True
            )
        }
        for each in (image, found)
    ]
    assert flat[0] == flat[1]
    turn = turn_to("SPL", image.geometry)
    np.testing.assert_array_equal(turn.back.of(turn.of(image.array)), image.array)
    assert turn.back.of_geometry(found.geometry, found.space).is_close(image.geometry)


def test_oblique_axes_go_where_they_go_most_and_each_somewhere_else():
    turn = np.array([[0.8, 0.6, 0.0], [-0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])
    direction = turn @ np.array(geometry_of("LPS").direction)
    geometry = Geometry((1.0,) * 3, (0.0,) * 3, tuple(map(tuple, direction.tolist())))
    assert orientation_of(geometry) == "LPS"
    assert len(set(orientation_of(replace(geometry, spacing=(2.0,) * 3)))) == 3


def test_pictures_and_volumes_without_a_header_stay_as_they_are():
    assert orientation_of(Geometry.default(2)) == ""
    assert orientation_of(Geometry.default(3)) == ""
    assert turn_to("RAI", Geometry.default(3)).is_nothing
    labels = np.zeros((2, 2, 4, 4, 4), dtype=int)
    data = dataset_from_arrays(labels, images=np.zeros((2, 4, 4, 4), dtype=np.float32))
    assert usual_orientation(data) == ""
    assert turned(data, "") is data


CODES = ["LPS", "LPS", "RPS", "LPS", "SPR", "LPS", "LPS", "RAS"]


def write_study(folder, codes):
    """Write heads whose left half holds one organ and whose right half another one, just alike.

    Voxels of 2 mm; `codes` are orientations in which nibabel's axes (x first) are stored.
    """
    for number, code in enumerate(codes):
        random = np.random.default_rng(number)
        image = random.normal(0, 0.3, (16, 12, 10))  # L, P, S
        label = np.zeros(image.shape, dtype=np.uint8)
        for organ, at in ((1, 10), (2, 2)):
            along, up = random.integers(2, 6), random.integers(2, 4)
            label[at : at + 4, along : along + 5, up : up + 4] = organ
        image[label > 0] += 3
        image[:, :2] += 2  # the front differs from the back
        affine = np.diag([-2.0, -2.0, 2.0, 1.0])  # LPS in a world of RAS
        own, wanted = (nibabel.orientations.axcodes2ornt(tuple(each)) for each in ("LPS", code))
        ornt = nibabel.orientations.ornt_transform(own, wanted)
        stored = nibabel.Nifti1Image(image.astype(np.float32), affine).as_reoriented(ornt)
        drawn = nibabel.Nifti1Image(label, affine).as_reoriented(ornt)
        for place, content in (("images", stored), ("raters/a", drawn), ("raters/b", drawn)):
            (folder / place).mkdir(parents=True, exist_ok=True)
            nibabel.save(content, folder / place / f"c{number}.nii.gz")
    return read_dataset(folder)


def test_a_study_is_seen_in_its_usual_orientation(tmp_path, capsys):
    data = write_study(tmp_path / "study", CODES)
    show_progress(True)
    try:
        wanted = usual_orientation(data)
    finally:
        show_progress(False)
    assert "3 volumes of 8 stored along other directions" in capsys.readouterr().err
    seen = pickle.loads(pickle.dumps(turned(data, wanted)))
    assert {orientation_of(case.read_image().geometry) for case in seen} == {wanted}
    assert {case.read_image().space for case in seen} == {seen[0].read_image().space}
    for case in seen:
        assert case.read_label("a").geometry.is_close(case.read_image().geometry)
        inside = case.read_image().array[0][case.read_label("a").array > 0]
        assert inside.mean() > 2.5
    assert plan(data).fingerprint.largest == seen[0].read_image().space


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides")
    data = write_study(folder / "study", CODES)
    settings = {"epochs": 25, "batch_size": 2, "channels": (8, 16), "n_features": 8}
    config = TrainConfig(method="mode", learning_rate=1e-2, validation=0.0, **settings)
    train(data, folder / "run", config)
    return folder


def test_sides_are_learned_from_volumes_stored_along_any_direction(trained, tmp_path):
    unseen = write_study(tmp_path / "new", ["LPS", "RAS", "SPR", "ALI"])
    predict(trained / "run", unseen, tmp_path / "out")
    for case in unseen:
        found = read_image(tmp_path / "out/truth" / f"{case.name}.nii.gz")
        own = case.read_image()
        assert found.geometry.is_close(own.geometry)
        truth = case.read_label("a").array
        for organ in (1, 2):
            both = ((found.array[0] == organ) & (truth == organ)).sum()
            drawn = (found.array[0] == organ).sum() + (truth == organ).sum()
            assert 2 * both / drawn > 0.8, (case.name, organ)


def test_what_is_said_of_a_volume_is_on_its_own_grid(trained):
    predictor = Predictor(trained / "run")
    assert predictor.config.orientation
    case = read_dataset(trained / "study")[4]
    (found,) = predictor.of_cases([case], lambda _: ())
    assert found.prediction.probability.shape[1:] == case.read_image().space
    steps = predictor.recurrences(case.read_image())
    np.testing.assert_allclose(steps[-1], found.prediction.probability, atol=1e-5)


def test_folds_predict_cases_on_their_own_grids(tmp_path):
    data = write_study(tmp_path / "study", CODES[:5])
    config = TrainConfig(method="mode", epochs=1, batch_size=2, channels=(4, 8), folds=2)
    train(data, tmp_path / "run", config)
    for case in data:
        (file,) = (tmp_path / "run").glob(f"fold-*/predictions/truth/{case.name}.nii.gz")
        assert read_image(file).geometry.is_close(case.read_image().geometry)


def test_a_run_is_resumed_in_its_orientation(tmp_path):
    data = write_study(tmp_path / "study", CODES[:5])
    config = TrainConfig(method="mode", epochs=1, batch_size=2, channels=(4, 8))
    train(data, tmp_path / "run", config)
    assert resume(data, tmp_path / "run").best_epoch == 0


@pytest.mark.parametrize("odd", ["LPX", "LLS", "lps", "L", None, 3])
def test_an_orientation_that_is_none_is_refused(odd):
    with pytest.raises(InputError, match="orientation"):
        TrainConfig(orientation=odd)


def test_what_folds_predict_is_turned_like_the_labels_it_is_compared_with():
    geometry = geometry_of("RPS")
    drawn = LabelMap(np.arange(24, dtype=np.int16).reshape(2, 3, 4), geometry)
    predicted = Case("a", None, {"network": Source(lambda: drawn)})
    found = _by_fold(Case("a"), by_folds={"a": predicted}, orientation="LPS")
    np.testing.assert_array_equal(found, drawn.array[::-1])
    assert _by_fold(Case("b"), by_folds={"a": predicted}, orientation="LPS") is None
