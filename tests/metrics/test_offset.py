import numpy as np
import pytest

from multirater.metrics import outline_offsets


def disc(radius, *, size=81, centre=(40, 40)):
    rows, columns = np.indices((size, size))
    return ((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2 <= radius**2).astype(int)


@pytest.mark.parametrize("radius", [12, 17, 20, 24, 30])
def test_a_larger_disc_is_outside_by_the_difference_of_radii(radius):
    (offset,) = outline_offsets(disc(20), disc(radius)[None])
    assert offset == pytest.approx(radius - 20, abs=0.5)


def test_millimetres_and_volumes():
    true = np.zeros((12, 20, 20), int)
    true[4:8, 6:14, 6:14] = 1
    larger = np.zeros_like(true)
    larger[3:9, 5:15, 5:15] = 1
    assert outline_offsets(true, larger[None], spacing=(2.0, 2.0, 2.0)) == pytest.approx([2.0])


def test_a_shift_and_a_stray_blob_are_no_offset():
    shifted = disc(20, centre=(43, 40))
    blob = disc(20)
    blob[70:74, 70:74] = 1
    offsets = outline_offsets(disc(20), np.stack([shifted, blob]))
    assert np.abs(offsets).max() < 0.6


def test_other_classes_and_missing_labels_are_outside():
    true, drawn = disc(20), disc(22)
    true[true == 0] = 2
    drawn[0] = -1
    (offset,) = outline_offsets(true, drawn[None])
    assert offset == pytest.approx(2, abs=0.35)


@pytest.mark.parametrize(
    ("true", "drawn"), [(disc(5) * 0, disc(5)), (disc(5), disc(5) * 0), (disc(5) * 0, disc(5) * 0)]
)
def test_an_empty_mask_has_no_outline(true, drawn):
    assert np.isnan(outline_offsets(true, drawn[None])).all()


def test_the_order_of_drawings_is_kept():
    drawings = np.stack([disc(r) for r in (25, 15, 20)])
    offsets = outline_offsets(disc(20), drawings)
    assert offsets[0] > offsets[2] > offsets[1]
