import numpy as np
import pytest
from PIL import Image

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_cityscapes

ROAD, SKY, CAR, VOID = 7, 23, 26, 3


def scene(root, split, city, number, *, fine=True, coarse=True):
    name = f"{city}_{number:06d}_000019"
    files = {
        "leftImg8bit": np.full((8, 16, 3), 10 * number, dtype=np.uint8),
        "gtFine": np.repeat(np.array([[SKY] * 16, [ROAD] * 12 + [CAR] * 4], np.uint8), 4, axis=0),
        "gtCoarse": np.full((8, 16), 0, dtype=np.uint8),
    }
    files["gtCoarse"][:3], files["gtCoarse"][6, :4], files["gtCoarse"][7] = SKY, ROAD, VOID
    for kind, array in files.items():
        if (kind == "gtFine" and not fine) or (kind == "gtCoarse" and not coarse):
            continue
        suffix = "" if kind == "leftImg8bit" else "_labelIds"
        file = root / kind / split / city / f"{name}_{kind}{suffix}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(array).save(file)
    return name


@pytest.fixture
def streets(tmp_path):
    root = tmp_path / "cityscapes"
    for number in (1, 2):
        scene(root, "train", "aachen", number)
    scene(root, "train_extra", "bayreuth", 3, fine=False)
    scene(root, "val", "munster", 4)
    scene(root, "test", "berlin", 5, coarse=False)
    return root


def test_fine_is_a_mask_and_coarse_a_positive_drawing(streets, tmp_path):
    data = survey(read_dataset(import_cityscapes(streets, tmp_path / "data"))).dataset
    assert [case.split for case in data] == ["train", "train", "train", "test"]
    assert data.raters == ("fine",)
    assert len(data.classes) == 19
    names = data.classes.names
    first = data[0]
    assert first.image.paths[0].resolve().is_relative_to(streets)
    mask = first.read_label("fine").array
    assert {names[k] for k in np.unique(mask)} == {"sky", "road", "car"}
    np.testing.assert_array_equal(mask, first.read_truth().array)
    drawn = first.read_drawing(first.drawings[0]).array
    assert first.drawings[0].kind == "positive"
    assert (drawn[:3] == names.index("sky")).all()
    assert (drawn[6, :4] == names.index("road")).all()
    assert (drawn[7] == -1).all()  # outside the benchmark's classes
    assert data[2].truth is None
    assert not data[2].labels


def test_some_training_images_may_have_masks_and_the_others_drawings(streets, tmp_path):
    data = read_dataset(import_cityscapes(streets, tmp_path / "data", masks=1))
    assert [bool(case.labels) for case in data] == [True, False, False, True]
    assert all(case.drawings for case in data)
    assert data[1].truth is not None


def test_scenes_can_be_shrunk(streets, tmp_path):
    data = survey(read_dataset(import_cityscapes(streets, tmp_path / "data", shrink=4))).dataset
    assert data[0].read_image().array.shape == (3, 2, 4)
    assert (data[0].read_image().array == 10).all()
    names = data.classes.names
    mask = [[names[k] for k in row] for row in data[0].read_label("fine").array]
    assert mask == [["sky"] * 4, ["road"] * 3 + ["car"]]


def test_what_is_wrong_is_told_and_nothing_written(streets, tmp_path):
    for file in streets.glob("gtFine/train/aachen/*.png"):
        Image.fromarray(np.zeros((4, 4), np.uint8)).save(file)
    with pytest.raises(InputError, match="label has size 4 x 4") as caught:
        import_cityscapes(streets, tmp_path / "data")
    assert len(caught.value.faults) == 2
    assert not (tmp_path / "data").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="none with a label"):
        import_cityscapes(tmp_path / "empty", tmp_path / "data")
    with pytest.raises(InputError, match="does not exist"):
        import_cityscapes(tmp_path / "nowhere", tmp_path / "data")
    with pytest.raises(InputError, match="shrink 0"):
        import_cityscapes(streets, tmp_path / "data", shrink=0)
