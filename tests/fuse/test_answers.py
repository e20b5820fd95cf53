import numpy as np
import pytest

from multirater.fuse.answers import answers_from_codes, answers_from_rows


def test_rows_become_a_sparse_matrix_of_rater_and_label():
    answers = answers_from_rows(np.array([[0, 2], [-1, 1]]), np.array([5, 7]), 3)
    assert answers.matrix.toarray().tolist() == [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert answers.weight.tolist() == [5.0, 7.0]
    assert len(answers) == 2


def test_codes_become_the_same_matrix():
    codes = [np.array(each, dtype=np.int32) for each in ([0, 1, 0], [0, 1, 1], [0, 1, 2])]
    answers = answers_from_codes(*codes, (2, 2, 3))
    assert answers.matrix.toarray().tolist() == [[1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert answers.weight.tolist() == [1.0, 1.0]


def test_an_answer_given_twice_counts_twice():
    codes = [np.array(each, dtype=np.int32) for each in ([0, 0], [1, 1], [2, 2])]
    assert answers_from_codes(*codes, (1, 2, 3)).matrix.max() == 2


def test_class_frequency_counts_items_and_ignores_missing():
    answers = answers_from_rows(np.array([[0, 1], [1, -1]]), np.array([3, 2]), 2)
    assert answers.class_frequency() == pytest.approx([3 / 8, 5 / 8])


def test_class_frequency_without_any_answer_is_uniform():
    answers = answers_from_rows(np.array([[-1, -1]]), np.array([3]), 4)
    assert answers.class_frequency().tolist() == [0.25] * 4


def test_blocks_cover_every_row_once():
    rows = np.random.default_rng(0).integers(-1, 3, (70_000, 2))
    answers = answers_from_rows(rows, np.ones(len(rows)), 3)
    assert len(answers.blocks) > 1
    ends = [(block.rows.start, block.rows.stop) for block in answers.blocks]
    assert [start for start, _ in ends] == [0, *(stop for _, stop in ends[:-1])]
    assert ends[-1][1] == 70_000
    for block in answers.blocks:
        assert (block.matrix != answers.matrix[block.rows]).nnz == 0
        assert (block.transposed != block.matrix.T).nnz == 0


def test_few_rows_are_one_dense_block():
    answers = answers_from_rows(np.array([[0, 2], [-1, 1]]), np.array([5, 7]), 3)
    (block,) = answers.blocks
    assert np.array_equal(block.matrix, answers.matrix.toarray())
    assert np.array_equal(block.transposed, block.matrix.T)
