"""Images of exports: found by name and folders, and compared by size."""

import pytest

from multirater.errors import InputError
from multirater.io.drawings.export_images import closest, require_size


def test_an_image_goes_by_its_file_name_whatever_the_folder():
    assert closest([("task", ["x/p1.png", "other.txt"])], "/data/y/p1.png") == ["task"]
    assert closest([("task", ["x/p11.png"]), ("none", [])], "p1.png") == []


def test_more_folders_in_common_win():
    tasks = [(1, ["a/left/p1.png"]), (2, ["b/left/p1.png"]), (3, ["p1.png"])]
    assert closest(tasks, "/data/b/left/p1.png") == [2]
    assert closest(tasks, "/data/left/p1.png") == [1, 2]


@pytest.mark.parametrize("stated", [(667, 1000), (334, 500), (333, 500), (1334, 2000)])
def test_rounded_sides_are_the_same_proportion(stated):
    require_size(stated, (1000, 667), may_scale=True)


@pytest.mark.parametrize("stated", [(11, 10), (10, 12), (20, 24)])
def test_other_proportions_are_refused_even_if_near(stated):
    with pytest.raises(InputError, match="drawn on an image"):
        require_size(stated, (11, 10), may_scale=True)


def test_without_scaling_the_size_has_to_be_the_same():
    require_size((10, 8), (8, 10))
    require_size((10, 8), (3, 8, 10))
    with pytest.raises(InputError, match="20 x 16"):
        require_size((20, 16), (8, 10))
