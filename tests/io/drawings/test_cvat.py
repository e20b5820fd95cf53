"""Exports of CVAT: what their shapes look like on the image."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.drawings.cvat import cvat_shapes
from multirater.io.drawings.shapes import rasterise

HEAD = '<?xml version="1.0" encoding="utf-8"?>'
IMAGE = '<image name="a/p1.png" width="20" height="20">{}</image>'


def shapes(folder, *images, image="p1.png", space=(20, 20), head=HEAD):
    file = folder / "annotations.xml"
    file.write_text(f"{head}<annotations><version>1.1</version>{''.join(images)}</annotations>")
    return cvat_shapes(file, image, space)


def drawn(folder, elements):
    return rasterise(shapes(folder, IMAGE.format(elements)), (20, 20), None) == 1


def box(**more):
    said = {"label": 1, "xtl": 2, "ytl": 8, "xbr": 18, "ybr": 12, **more}
    attributes = " ".join(f'{key}="{value}"' for key, value in said.items())
    return f"<box {attributes}/>"


def test_a_turned_box_turns_clockwise_about_its_centre(tmp_path):
    upright = np.zeros((20, 20), dtype=bool)
    upright[2:18, 8:12] = True
    np.testing.assert_array_equal(drawn(tmp_path, box(rotation="90.00")), upright)
    falling = drawn(tmp_path, box(rotation="45.00"))
    assert falling[5, 5]
    assert falling[14, 14]
    assert not falling[5, 14]
    assert falling.sum() == pytest.approx(64, abs=6)


def test_points_are_dots_and_no_line(tmp_path):
    dots = drawn(tmp_path, '<points label="1" points="2.5,3.5;12.5,3.5;12.5,15.5"/>')
    assert np.argwhere(dots).tolist() == [[3, 2], [3, 12], [15, 12]]


def test_an_ellipse_has_its_area_and_turns(tmp_path):
    flat = '<ellipse label="1" cx="10" cy="10" rx="8" ry="3"{}/>'
    lying, standing = (
        drawn(tmp_path, flat.format("")),
        drawn(tmp_path, flat.format(' rotation="90"')),
    )
    assert lying.sum() == pytest.approx(np.pi * 8 * 3, rel=0.05)
    assert lying[10, 3]
    assert not lying[3, 10]
    np.testing.assert_array_equal(standing, lying.T)


def test_what_lies_on_top_is_drawn_last(tmp_path):
    over, under = box(z_order="1.0"), box(label=0, z_order="0")
    assert [each.label for each in shapes(tmp_path, IMAGE.format(over + under))] == ["0", "1"]


def test_folders_tell_images_of_one_name_apart(tmp_path):
    both = [IMAGE.format(box()), IMAGE.replace("a/", "b/").format("")]
    assert len(shapes(tmp_path, *both, image="/data/a/p1.png")) == 1
    assert len(shapes(tmp_path, *both, image="/data/b/p1.png")) == 0
    with pytest.raises(InputError, match=r"2 images called p1\.png"):
        shapes(tmp_path, *both, image="/data/c/p1.png")


@pytest.mark.parametrize(
    ("space", "words"),
    [((10, 10), "give the image that was drawn on"), ((30, 20), "EXIF")],
)
def test_a_drawing_made_at_another_size_is_refused(tmp_path, space, words):
    image = IMAGE.replace('width="20"', 'width="30"').format(box())
    with pytest.raises(InputError, match="drawn on an image of 30 x 20") as caught:
        shapes(tmp_path, image, space=space)
    (fault,) = caught.value.faults
    assert f"{space[1]} x {space[0]}" in fault.expected
    assert words in fault.fix


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (box(z_order="top"), "z_order 'top'"),
        (box(xtl="1e300"), "box of 1 has xtl '1e300'"),
        (box(rotation="much"), "rotation 'much'"),
        ('<ellipse label="1" cx="10" cy="10" rx="8"/>', "ellipse of 1 has no ry"),
        ('<cuboid label="1" xtl1="3"/>', "a cuboid of 1"),
        ("</image><image name='p1.png' width='wide' height='2'>", "2 images called"),
    ],
)
def test_what_cannot_be_understood_is_named(tmp_path, element, words):
    with pytest.raises(InputError, match=words):
        drawn(tmp_path, element)


def test_an_unreadable_size_is_refused(tmp_path):
    with pytest.raises(InputError, match="width 'wide'"):
        shapes(tmp_path, IMAGE.replace('width="20"', 'width="wide"').format(""))


def test_an_unknown_encoding_is_damage(tmp_path):
    with pytest.raises(InputError, match="is damaged"):
        shapes(tmp_path, head='<?xml version="1.0" encoding="klingon"?>')
