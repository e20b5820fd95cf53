"""OME-TIFF that claims planes that are not there, and pixels of other files."""

import numpy as np
import pytest
import tifffile
from tiff_bytes import described, page, tiff

from multirater.errors import InputError
from multirater.io.formats.images import image_shape, read_image

SIZES = {"SizeX": 10, "SizeY": 10, "SizeZ": 1, "SizeC": 1, "SizeT": 1}
MODULO = (
    '<StructuredAnnotations><XMLAnnotation ID="a" Namespace="modulo"><Value><Modulo>'
    '<ModuloAlongZ Type="other" Start="0" End="900000"/>'
    "</Modulo></Value></XMLAnnotation></StructuredAnnotations>"
)


def ome(data="<TiffData/>", order="XYZCT", after="", **sizes):
    stated = " ".join(f'{name}="{size}"' for name, size in (SIZES | sizes).items())
    pixels = f'<Pixels ID="P:0" DimensionOrder="{order}" Type="uint8" {stated}>{data}</Pixels>'
    return f'<?xml version="1.0"?><OME><Image ID="I:0">{pixels}</Image>{after}</OME>'


def other_file(name):
    return f'<TiffData IFD="0" PlaneCount="1"><UUID FileName="{name}">urn:uuid:1</UUID></TiffData>'


def refused(file):
    for ask in (image_shape, read_image):
        with pytest.raises(InputError) as error:
            ask(file)
    return error.value.faults[0].found


def test_an_honest_file_is_read(tmp_path):
    (tmp_path / "a.tif").write_bytes(described(ome()))
    assert read_image(tmp_path / "a.tif").array.ravel().tolist() == list(range(100))


@pytest.mark.parametrize(
    "xml",
    [
        ome(SizeZ=900_000),
        ome('<TiffData PlaneCount="900000"/>'),
        ome('<TiffData IFD="0" NumPlanes="900000"/>'),
        ome(SizeX=10_000, SizeY=9_000),
        ome(after=MODULO),
        ome('<TiffData PlaneCount="99"/>' * 200),
    ],
    ids=["sizes", "count", "numbers", "sides", "modulo", "many"],
)
def test_more_planes_than_bytes_are_refused(tmp_path, xml):
    (tmp_path / "a.tif").write_bytes(described(xml))
    assert "planes, in" in refused(tmp_path / "a.tif")


@pytest.mark.parametrize("order", ["ZCTXY", "XYZZZ", "XYZCTZ"])
def test_axes_in_an_order_that_ome_does_not_know(tmp_path, order):
    (tmp_path / "a.tif").write_bytes(described(ome(order=order)))
    assert f"in the order {order}" in refused(tmp_path / "a.tif")


def test_sizes_below_one_are_refused(tmp_path):
    (tmp_path / "a.tif").write_bytes(described(ome(SizeZ=-1)))
    assert "has sizes" in refused(tmp_path / "a.tif")


def test_pixels_stay_in_their_folder(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    (tmp_path / "secret.tif").write_bytes(tiff(page(), bytes(range(100, 200))))
    (folder / "link.tif").symlink_to(tmp_path / "secret.tif")
    for name in ("../secret.tif", str(tmp_path / "secret.tif"), "link.tif"):
        (folder / "a.tif").write_bytes(described(ome(other_file(name))))
        assert "outside its folder" in refused(folder / "a.tif")


def test_a_set_of_files_in_one_folder_is_read(tmp_path):
    (tmp_path / "b.tif").write_bytes(tiff(page(), bytes(range(100, 200))))
    own = '<TiffData IFD="0" PlaneCount="1"/>'
    there = other_file("b.tif").replace("IFD", 'FirstZ="1" IFD')
    (tmp_path / "a.tif").write_bytes(described(ome(own + there, SizeZ=2)))
    assert read_image(tmp_path / "a.tif").array.ravel().tolist() == list(range(200))


def test_pixels_that_all_lie_in_another_file_are_refused(tmp_path):
    (tmp_path / "b.tif").write_bytes(tiff(page(), bytes(range(100, 200))))
    (tmp_path / "a.tif").write_bytes(described(ome(other_file("b.tif"))))
    with pytest.raises(InputError, match=r"all lie in another file, b\.tif"):
        read_image(tmp_path / "a.tif")


def test_a_file_of_a_set_is_walked_as_well(tmp_path):
    ring = tiff(page(), following=108)
    (tmp_path / "b.tif").write_bytes(ring)
    (tmp_path / "a.tif").write_bytes(described(ome(other_file("b.tif"))))
    assert "form a ring" in refused(tmp_path / "a.tif")


def test_a_file_that_was_renamed_is_read(tmp_path):
    pixels = np.arange(600, dtype=np.uint16).reshape(3, 10, 20)
    tifffile.imwrite(tmp_path / "a.ome.tif", pixels, metadata={"axes": "ZYX"})
    (tmp_path / "a.ome.tif").rename(tmp_path / "b.tif")
    np.testing.assert_array_equal(read_image(tmp_path / "b.tif").array[0], pixels)
