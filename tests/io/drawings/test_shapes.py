import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.drawings.shapes import Shape, as_ring, rasterise
from multirater.types import Classes, LabelClass


def line(*points, width=1.0):
    return Shape("1", "line", (np.array(points, dtype=float),), width)


def test_a_circle_has_its_area():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.stack([40 + 30 * np.cos(angle), 35 + 30 * np.sin(angle)], axis=1)
    drawn = rasterise([Shape("1", "polygon", (ring,))], (70, 80), None)
    assert (drawn == 1).sum() == pytest.approx(np.pi * 30**2, rel=0.01)
    rows, columns = np.nonzero(drawn == 1)
    assert rows.mean() + 0.5 == pytest.approx(35, abs=0.1)
    assert columns.mean() + 0.5 == pytest.approx(40, abs=0.1)


def test_holes_stay_undrawn():
    outline = np.array([[0, 0], [6, 0], [6, 6], [0, 6]], dtype=float)
    hole = np.array([[2, 2], [4, 2], [4, 4], [2, 4]], dtype=float)
    drawn = rasterise([Shape("1", "polygon", (outline, hole))], (6, 6), None)
    assert (drawn[2:4, 2:4] == -1).all()
    assert (drawn == 1).sum() == 32


def test_a_line_is_connected_and_as_wide_as_said():
    from skimage.measure import label

    thin = rasterise([line((2, 3), (38, 17), (4, 29))], (32, 40), None)
    assert label(thin == 1, connectivity=2).max() == 1
    assert (rasterise([line((0, 5), (20, 5), width=4)], (10, 20), None) == 1).sum(0).tolist() == (
        [4] * 20
    )


def test_a_dot_marks_the_pixel_it_lies_in():
    drawn = rasterise([line((3.5, 1.5))], (4, 6), None)
    assert np.argwhere(drawn == 1).tolist() == [[1, 3]]
    corner = rasterise([line((3, 1))], (4, 6), None)
    assert (corner == 1).sum() == 4


def test_what_lies_outside_is_cut_off():
    drawn = rasterise([line((-5, -5), (2.5, 2.5)), line((90, 90), (95, 99))], (6, 6), None)
    assert np.argwhere(drawn == 1).tolist() == [[0, 0], [1, 1], [2, 2]]


def test_shapes_that_all_miss_the_image_are_refused():
    ring = np.array([[113, 113], [119, 113], [119, 118], [113, 118]], dtype=float)
    with pytest.raises(InputError) as caught:
        rasterise([Shape("1", "polygon", (ring,))], (32, 40), None)
    (fault,) = caught.value.faults
    assert "x from 113 to 119, y from 113 to 118" in fault.found
    assert "x from 0 to 40 and y from 0 to 32" in fault.expected
    assert "another resolution" in fault.fix
    assert (rasterise([], (4, 4), None) == -1).all()


def test_classes_go_by_name_or_index():
    classes = Classes((LabelClass("background"), LabelClass("vessel")))
    ring = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    for label in ("vessel", "1"):
        assert (rasterise([Shape(label, "polygon", (ring,))], (2, 2), classes) == 1).all()
    with pytest.raises(InputError, match="unknown class 'vein'"):
        rasterise([Shape("vein", "polygon", (ring,))], (2, 2), classes)


def test_volumes_and_broken_points_are_refused():
    with pytest.raises(InputError, match="3 axes"):
        rasterise([], (2, 2, 2), None)
    for points in (None, [], [[1]], [["a", "b"]], [[1, float("nan")]], [[1, 1e300]]):
        with pytest.raises(InputError, match="feature 1 has no points"):
            as_ring(points, "feature 1")


def test_a_line_that_runs_far_off_takes_no_more_room_than_the_image():
    import tracemalloc

    tracemalloc.start()
    drawn = rasterise([line((2.5, 2.5), (1e6, 1e6)), line((-1e6, 4.5), (1e7, 4.5))], (6, 8), None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1e6
    expected = np.zeros((6, 8), dtype=bool)
    expected[4] = expected[[2, 3, 5], [2, 3, 5]] = True
    np.testing.assert_array_equal(drawn == 1, expected)


@pytest.mark.parametrize("point", [(-0.2, 2.5), (8.2, 2.5), (3.5, -0.2), (3.5, 6.2)])
def test_a_dot_outside_marks_no_pixel_inside(point):
    drawn = rasterise([line(point), line((3.5, 2.5))], (6, 8), None)
    assert np.argwhere(drawn == 1).tolist() == [[2, 3]]


@pytest.mark.parametrize("label", ["128", "1000", "70000", pytest.param("9" * 5000, id="long")])
def test_without_classes_indices_end_where_those_of_label_files_do(label):
    ring = np.array([[0, 0], [2, 0], [2, 2], [0, 2]], dtype=float)
    with pytest.raises(InputError, match=f"unknown class '{label}'") as caught:
        rasterise([Shape(label, "polygon", (ring,))], (2, 2), None)
    assert "0 to 127" in caught.value.faults[0].expected
    assert (rasterise([Shape("127", "polygon", (ring,))], (2, 2), None) == 127).all()
