import numpy as np
import pytest
from PIL import Image

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_refuge


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)


def mask(size):
    grey = np.zeros((20, 24), dtype=np.uint8)
    grey[:size, :size] = 255
    return grey


def write_case(folder, *, raters=7, end="", suffix=".png"):
    name = folder.name
    colour = np.random.default_rng(0).integers(0, 255, (20, 24, 3), dtype=np.uint8)
    save(folder / f"{name}{end}.jpg", colour)
    for rater in range(1, raters + 1):
        save(folder / f"{name}_seg_cup_{rater}{end}{suffix}", mask(rater))
        save(folder / f"{name}_seg_disc_{rater}{end}{suffix}", mask(rater + 4))


def arbitrated():
    return np.where(mask(3) > 0, 0, np.where(mask(8) > 0, 128, 255)).astype(np.uint8)


def test_seven_raters_truth_and_splits(tmp_path):
    source = tmp_path / "REFUGE"
    write_case(source / "Training-400/g0001")
    write_case(source / "Validation-400/V0001")
    write_case(source / "Test-400/T0001")
    save(source / "REFUGE-Validation400-GT/Disc_Cup_Masks/V0001.bmp", arbitrated())
    data = read_dataset(import_refuge(source, tmp_path / "data"))
    splits = {case.name: case.split for case in data}
    assert splits == {"g0001": "train", "V0001": "val", "T0001": "test"}
    assert len(data.raters) == 7
    assert data.classes.names == ("background", "disc", "cup")
    label = data["g0001"].read_label("rater 2").array
    assert np.bincount(label.ravel()).tolist() == [20 * 24 - 36, 36 - 4, 4]
    truth = data["V0001"].read_truth().array
    assert np.bincount(truth.ravel()).tolist() == [20 * 24 - 64, 64 - 9, 9]
    assert data["g0001"].truth is None
    assert data["g0001"].read_image().array.shape == (3, 20, 24)
    survey(data)


def test_cropped_images_with_lossy_masks(tmp_path):
    write_case(tmp_path / "R/Training-400/g0001", raters=2, end="_cropped", suffix=".jpg")
    save(tmp_path / "R/Disc_Cup_Masks/g0001.bmp", arbitrated())
    data = read_dataset(import_refuge(tmp_path / "R", tmp_path / "data"))
    assert [case.name for case in data] == ["g0001"]
    assert data["g0001"].truth is None
    assert set(np.unique(data["g0001"].read_label("rater 1").array)) <= {0, 1, 2}


def test_the_challenge_itself_has_truth_and_no_raters(tmp_path):
    save(tmp_path / "R/Training400/Glaucoma/g0001.jpg", np.zeros((20, 24, 3), np.uint8))
    save(tmp_path / "R/Annotation/Disc_Cup_Masks/Glaucoma/g0001.bmp", arbitrated())
    data = read_dataset(import_refuge(tmp_path / "R", tmp_path / "data"))
    assert data.raters == ()
    assert data["g0001"].split == "train"
    assert data["g0001"].truth is not None
    assert data["g0001"].diagnosis == "Glaucoma"


def test_a_cup_without_a_disc_is_told(tmp_path):
    write_case(tmp_path / "R/Test-400/T0001", raters=2)
    (tmp_path / "R/Test-400/T0001/T0001_seg_disc_2.png").unlink()
    with pytest.raises(InputError, match="T0001, rater rater 2: has no mask of the disc"):
        import_refuge(tmp_path / "R", tmp_path / "data")


def test_a_folder_without_masks_is_refused(tmp_path):
    save(tmp_path / "R/a.jpg", np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(InputError, match="no image with masks"):
        import_refuge(tmp_path / "R", tmp_path / "data")
