"""Directories of TIFF files in rings, shared, and more than there is room for."""

import struct

import pytest
from tiff_bytes import PIXELS, START, directory, page, tiff

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image
from multirater.io.formats.tiff_directories import _Walk, walked


def chain(n_pages, tags, last=0):
    """Return a file of pages, the last of which goes on at `last`."""
    size = len(directory(tags))
    places = [START + size * i for i in range(1, n_pages)]
    rest = b"".join(directory(tags, place) for place in [*places[1:], last])
    return tiff(tags, following=places[0], rest=rest)


def big(tags_and_offsets):
    """Return a BigTIFF file of directories of (tags, next)."""
    content = b"II" + struct.pack("<HHHQ", 43, 8, 0, 16)
    for tags, following in tags_and_offsets:
        listed = b"".join(struct.pack("<HHQQ", *tag) for tag in tags)
        content += struct.pack("<Q", len(tags)) + listed + struct.pack("<Q", following)
    return content


def refused(tmp_path, content):
    (tmp_path / "a.tif").write_bytes(content)
    faults = []
    for ask in (image_shape, read_image):
        with pytest.raises(InputError) as error:
            ask(tmp_path / "a.tif")
        faults.append(error.value.faults[0].found)
    assert faults[0] == faults[1]
    return faults[0]


def test_pages_and_what_is_below_them_are_counted(tmp_path):
    size = len(directory(page((330, 4, 1, 0))))
    below = directory(page(width=2, height=3))
    (tmp_path / "a.tif").write_bytes(tiff(page((330, 4, 1, START + size)), rest=below))
    found = walked(tmp_path / "a.tif")
    assert (found.n_pages, found.least_pixels) == (1, 6)
    (tmp_path / "a.tif").write_bytes(chain(5, page()))
    assert walked(tmp_path / "a.tif").n_pages == 5
    assert read_image(tmp_path / "a.tif").array.shape == (1, 5, 10, 10)


@pytest.mark.parametrize("n_pages", [2, 99, 150])
def test_pages_in_a_ring_are_refused(tmp_path, n_pages):
    assert "form a ring" in refused(tmp_path, chain(n_pages, page(), last=START))


@pytest.mark.parametrize("n_pages", [100, 100_000])
def test_more_directories_than_pages_need_are_refused(tmp_path, n_pages):
    places = [*(8 + 6 * i for i in range(1, n_pages)), 8]
    listed = b"".join(struct.pack("<HI", 0, place) for place in places)
    content = b"II" + struct.pack("<HI", 42, 8) + listed
    assert "do not fit into it" in refused(tmp_path, content)


def of_sizes(sizes):
    """Return a file of pages of these widths."""
    size = len(directory(page()))
    places = [START + size * i for i in range(1, len(sizes))]
    rest = b"".join(
        directory(page(width=width), place)
        for width, place in zip(sizes[1:], [*places[1:], 0], strict=True)
    )
    return tiff(page(width=sizes[0]), following=places[0], rest=rest)


def test_images_of_many_kinds_are_refused_before_each_is_compared_with_each(tmp_path):
    assert "more than 64 kinds" in refused(tmp_path, of_sizes(list(range(1, 66))))
    assert "images of different kinds" in refused(tmp_path, of_sizes(list(range(1, 65))))


def test_kinds_are_told_apart_by_values_that_lie_elsewhere(tmp_path):
    bits = [struct.pack("<4H", 8, 8, 8, 1 + i % 8) for i in range(2)]
    tags = [page((258, 3, 4, START + 1000 + 8 * i)) for i in range(2)]
    size = len(directory(tags[0]))
    content = tiff(tags[0], following=START + size, rest=directory(tags[1]))
    content = content.ljust(START + 1000, b"\0") + b"".join(bits)
    (tmp_path / "a.tif").write_bytes(content)
    with (tmp_path / "a.tif").open("rb") as stream:
        walk = _Walk(stream)
        walk.whole()
    assert len(walk.kinds) == 2


def test_thousands_of_pages_may_be_of_one_kind_but_not_of_several(tmp_path):
    (tmp_path / "a.tif").write_bytes(chain(5000, page()))
    assert walked(tmp_path / "a.tif").n_pages == 5000
    assert "of one more than 2000" in refused(tmp_path, of_sizes([9, *[10] * 2001]))


def test_a_ring_in_bigtiff_is_refused(tmp_path):
    assert "form a ring" in refused(tmp_path, big([([(256, 4, 1, 1)] * 9, 16)]))


def test_a_count_of_tags_beyond_the_file_is_refused(tmp_path):
    content = b"II" + struct.pack("<HHHQ", 43, 8, 0, 16) + struct.pack("<Q", 2**60)
    assert "do not fit into it" in refused(tmp_path, content)


def test_a_directory_below_itself_is_refused(tmp_path):
    assert "form a ring" in refused(tmp_path, tiff(page((330, 4, 1, START))))


def test_directories_below_that_double_at_each_step_are_refused(tmp_path):
    words = b'{"shape": [10, 10]}\0'
    start = START + len(words)
    size = len(directory(page((270, 2, 0, 0), (330, 4, 2, 0)))) + 8
    content = b"II" + struct.pack("<HI", 42, start) + PIXELS + words
    for step in range(1, 30):
        place = start + step * size
        content += directory(page((270, 2, len(words), START), (330, 4, 2, place - 8)))
        content += struct.pack("<II", place, place)
    assert "form a ring" in refused(tmp_path, content + directory(page()))


def test_one_long_value_for_many_pages_is_refused(tmp_path):
    n_strips = 20_000
    values = struct.pack(f"<{n_strips}I", *[8] * n_strips)
    tags = page((273, 4, n_strips, 8), (279, 4, n_strips, 8), width=1, height=n_strips)
    size, start = len(directory(tags)), 8 + len(values)
    places = [*(start + size * i for i in range(2, 100)), 0]
    rest = b"".join(directory(tags, place) for place in places)
    assert "values of tag" in refused(tmp_path, tiff(tags, values, start + size, rest))


def test_a_value_that_is_larger_than_the_file_is_refused(tmp_path):
    assert "values of tag 273" in refused(tmp_path, tiff(page((273, 4, 2**32 - 1, 8))))


@pytest.mark.parametrize("start", [b"", b"II*\0", b"XX*\0" + bytes(20), b"II\x52\0" + bytes(20)])
def test_what_is_no_tiff_is_refused(tmp_path, start):
    (tmp_path / "a.tif").write_bytes(start)
    with pytest.raises(ValueError, match="does not begin like"):
        walked(tmp_path / "a.tif")
