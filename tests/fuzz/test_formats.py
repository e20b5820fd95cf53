"""Images in every format, damaged: refused, unchanged, or without a checksum to tell."""

import zlib

import numpy as np
import pytest
from damage import TRIES, damaged, tried
from PIL import Image as Pillow

from multirater.io.formats.dicom_seg import write_dicom_seg
from multirater.io.formats.images import image_shape, read_image, read_label_array, write_image
from multirater.types import Classes, Geometry, Image, LabelMap

HAS_CHECKSUM = {".png", ".npz", ".nii.gz"}
"""Formats in which every byte of the pixels, and their size, is covered."""

SUFFIXES = [".png", ".jpg", ".tif", ".npy", ".npz", ".nii", ".nii.gz", ".nrrd", ".mha", ".dcm"]


def make(file, suffix):
    random = np.random.default_rng(0)
    pixels = random.integers(0, 3, (1, 3, 12, 10), dtype=np.uint8)
    if suffix == ".jpg":
        Pillow.fromarray(pixels[0, 0] * 80).save(file)
    elif suffix == ".dcm":
        label = LabelMap((pixels[0] > 1).astype(np.int16), Geometry.default(3))
        write_dicom_seg(label, file, classes=Classes.numbered(2))
    elif suffix == ".png":
        write_image(Image(pixels[:, 0], Geometry.default(2)), file)
    else:
        write_image(Image(pixels, Geometry.default(3)), file)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_images(tmp_path, suffix):
    file = tmp_path / f"a{suffix}"
    make(file, suffix)
    content, whole = file.read_bytes(), read_label_array(file).array
    random = np.random.default_rng([1, zlib.crc32(suffix.encode())])
    for _ in range(TRIES):
        file.write_bytes(damaged(content, random))
        outcome = tried(
            f"image {suffix}",
            lambda: read_label_array(file).array,
            lambda found: np.array_equal(found, whole),
        )
        assert outcome != "otherwise" or suffix not in HAS_CHECKSUM
        tried(f"header {suffix}", lambda: image_shape(file)[0], lambda found: True)
        tried(f"picture {suffix}", lambda: read_image(file).array.shape, lambda found: True)
