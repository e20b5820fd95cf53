"""Images that an export speaks of: found by name, and upright."""

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io.importers.image_folder import ImageFolder, require_upright

ORIENTATION = 0x0112
WIDE = (30, 20)
"""Width and height as stored."""


@pytest.fixture
def photo(tmp_path):
    def write(orientation, name="eye.jpg", size=WIDE):
        exif = Pillow.Exif()
        exif[ORIENTATION] = orientation
        grey = np.zeros(size[::-1], dtype=np.uint8)
        Pillow.fromarray(grey).save(tmp_path / name, exif=exif)
        return tmp_path / name

    return write


@pytest.mark.parametrize("stated", [None, WIDE, WIDE[::-1]])
def test_an_upright_photograph_passes(photo, stated):
    require_upright(photo(1), stated)


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_turned_photograph_is_refused_where_nobody_can_tell(photo, orientation):
    with pytest.raises(InputError, match=f"eye.jpg has EXIF orientation {orientation}"):
        require_upright(photo(orientation), None)


@pytest.mark.parametrize("orientation", range(5, 9))
@pytest.mark.parametrize("stated", [WIDE, WIDE[::-1]])
def test_where_turning_swaps_the_sides_the_stated_size_tells(photo, orientation, stated):
    require_upright(photo(orientation), stated)  # whether it fits is told when sizes are checked


@pytest.mark.parametrize("orientation", range(2, 9))
def test_the_size_tells_nothing_of_a_square_or_of_half_a_turn(photo, orientation):
    square = (20, 20)
    with pytest.raises(InputError):
        require_upright(photo(orientation, size=square), square)
    if orientation < 5:
        with pytest.raises(InputError):
            require_upright(photo(orientation), WIDE)


def test_folders_tell_images_of_one_name_apart(photo, tmp_path):
    for folder in ("left", "right"):
        (tmp_path / folder).mkdir()
        photo(1, f"{folder}/eye.jpg")
    images = ImageFolder.of(tmp_path)
    assert images.find(["project/left/eye.jpg"]) == tmp_path / "left" / "eye.jpg"
    with pytest.raises(InputError, match=r"may be any of left/eye.jpg, right/eye.jpg"):
        images.find(["eye.jpg"])
    assert set(images.case_names(images.files).values()) == {"left/eye", "right/eye"}
    with pytest.raises(InputError, match="did you mean eye"):
        images.find(["eyes.jpg"])
