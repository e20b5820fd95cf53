from __future__ import annotations

import numpy as np

from multirater.report.figures.cutout import choose_plane, disagreement_map


def _two_raters(shape, box, number=None):
    labels = np.zeros((2, *shape), dtype=np.int16)
    where = (0, *([] if number is None else [number]), *box)
    labels[where] = 1
    return labels


def test_disagreement_is_the_share_against_the_majority():
    labels = np.array([[0, 0, 1, -1], [0, 1, 2, -1], [0, 1, -1, 1], [0, 1, 3, -1]])
    expected = [0, 1 / 4, 2 / 3, np.nan]
    np.testing.assert_allclose(disagreement_map(labels), expected)


def test_the_slice_with_most_disagreement_is_shown():
    labels = np.zeros((2, 9, 20, 20), dtype=np.int16)
    labels[:, 2] = 1  # much foreground, no dispute
    labels[0, 6, 4:8, 4:8] = 1
    plane = choose_plane(labels)
    assert plane.slice == 6
    assert "slice 7 of 9" in plane.note
    np.testing.assert_array_equal(plane.of(labels), labels[:, 6])


def test_without_dispute_the_slice_with_most_foreground_is_shown():
    labels = np.zeros((2, 9, 20, 20), dtype=np.int16)
    labels[:, 3, 2:4, 2:4] = 1
    assert choose_plane(labels).slice == 3


def test_an_empty_volume_shows_its_middle():
    assert choose_plane(np.zeros((2, 9, 20, 20), dtype=np.int16)).slice == 4


def test_a_small_drawing_in_a_large_image_is_cut_out_whole():
    labels = _two_raters((512, 300), (slice(500, 512), slice(100, 130)))
    plane = choose_plane(labels)
    shown = plane.of(labels)
    assert shown.sum() == labels.sum()
    assert shown.shape[1:] == (48, 48)
    assert plane.note == "cut to the drawings"


def test_what_others_drew_is_not_cut_off():
    labels = _two_raters((200, 200), (slice(10, 20), slice(10, 20)))
    others = np.zeros((1, 200, 200), dtype=np.int16)
    others[0, 90:95, 90:95] = 1
    plane = choose_plane(labels, others)
    assert plane.of(others).sum() == 25


def test_a_small_image_is_shown_whole():
    labels = _two_raters((28, 28), (slice(3, 5), slice(3, 5)))
    plane = choose_plane(labels)
    assert plane.of(labels).shape == labels.shape
    assert plane.note == ""
