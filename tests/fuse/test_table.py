import numpy as np
import pandas as pd
import pytest

from multirater import fuse
from multirater.errors import InputError
from multirater.fuse.table import _numbered, encode_table, long_columns

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

LONG = pd.DataFrame(
    {
        "question": ["q2", "q1", "q2", "q1"],
        "worker": ["w1", "w1", "w2", "w3"],
        "answer": ["no", "yes", "yes", "yes"],
    }
)


def _dense(table):
    """Answers as {(task, rater): label}, by name."""
    n_classes = len(table.classes)
    rows, columns = table.answers.matrix.nonzero()
    return {
        (table.tasks[row], table.raters[column // n_classes]): table.classes[column % n_classes]
        for row, column in zip(rows, columns, strict=True)
    }


def test_a_long_table_keeps_every_answer():
    table = encode_table(LONG)
    assert list(table.tasks) == ["q2", "q1"]
    assert table.tasks.name == "question"
    assert table.raters == ("w1", "w2", "w3")
    assert table.classes == ("no", "yes")
    assert _dense(table) == {
        ("q2", "w1"): "no",
        ("q1", "w1"): "yes",
        ("q2", "w2"): "yes",
        ("q1", "w3"): "yes",
    }


def test_a_wide_table_holds_the_same():
    wide = LONG.pivot(index="question", columns="worker", values="answer")
    assert _dense(encode_table(wide)) == _dense(encode_table(LONG))


def test_a_wide_table_may_name_its_tasks_in_a_column():
    wide = pd.DataFrame({"task": ["t1", "t2"], "anna": [0, 1], "ben": [0, np.nan]})
    table = encode_table(wide)
    assert table.raters == ("anna", "ben")
    assert list(table.tasks) == ["t1", "t2"]
    assert table.classes == (0, 1)
    assert _dense(table) == {("t1", "anna"): 0, ("t2", "anna"): 1, ("t1", "ben"): 0}


def test_a_task_without_answers_stays():
    wide = pd.DataFrame({"a": [0, np.nan, 1], "b": [0, np.nan, 1]}, index=["x", "y", "z"])
    result = fuse.dawid_skene(wide)
    assert list(result.label.index) == ["x", "y", "z"]
    assert np.isnan(result.label["y"])
    assert result.probability.loc["y"].to_numpy() == pytest.approx(result.prior)


def test_minus_one_nan_and_none_are_missing():
    for value in (-1, np.nan, None):
        table = LONG.assign(answer=[0, 1, 1, value])
        encoded = encode_table(table)
        assert encoded.classes == (0, 1)
        assert encoded.answers.matrix.nnz == 3


def test_chosen_raters_and_classes_set_the_order():
    table = encode_table(LONG, raters=["w3", "w1"], classes=["yes", "no", "unsure"])
    assert table.raters == ("w3", "w1")
    assert table.classes == ("yes", "no", "unsure")
    assert ("q2", "w2") not in _dense(table)
    assert _dense(table)["q1", "w3"] == "yes"


def test_number_of_classes_counts_labels_nobody_gave():
    table = LONG.assign(answer=[0, 1, 1, 3])
    assert fuse.dawid_skene(table, 5).cm.shape == (3, 5, 5)


def test_the_table_is_not_changed():
    table = LONG.assign(answer=[0, 1, -1, 1])
    before = table.copy()
    fuse.dawid_skene(table, gold={"q1": 1})
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (LONG.drop(columns="worker"), {}, "no rater"),
        (LONG.drop(columns="answer"), {}, "no label"),
        (LONG.iloc[:0], {}, "no rows"),
        (LONG, {"classes": ["yes"]}, "label 'no' in row 0"),
        (
            LONG,
            {"classes": ["yes", "no"], "gold": {"q1": "maybe"}},
            "gold label 'maybe' of task q1",
        ),
    ],
)
def test_tables_that_cannot_be_read(table, options, message):
    with pytest.raises(InputError, match=message):
        encode_table(table, **options)


def test_columns_have_several_names():
    assert long_columns(LONG) == ("question", "worker", "answer")
    assert long_columns(pd.DataFrame({"anna": [1], "ben": [0]})) is None


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "Int64"])
@pytest.mark.parametrize("spread", [1, 1000])
def test_whole_numbers_are_numbered_as_pandas_does(dtype, spread):
    low = -3 if dtype not in ("uint16",) else 0
    high = 120 if dtype == "int8" else 30 * spread
    values = pd.Series(np.random.default_rng(0).integers(low, high, 400)).astype(dtype)
    for sort in (False, True):
        codes, found = _numbered(values, sort=sort)
        wanted, names = pd.factorize(values, sort=sort)
        assert codes.tolist() == wanted.tolist()
        assert list(found) == list(names)


def test_a_table_without_any_answer_is_refused():
    empty = pd.DataFrame({"task": ["a", "b"], "rater": ["x", "y"], "label": [None, None]})
    with pytest.raises(InputError, match="the table holds no answer"):
        fuse.majority_vote(empty)


def test_a_column_of_as_many_labels_as_rows_is_refused_before_memory_is_taken(monkeypatch):
    frame = pd.DataFrame({"task": range(2000), "rater": "a", "label": range(2000)})
    assert encode_table(frame).answers.n_classes == 2000
    monkeypatch.setattr("multirater.fuse.table.free_memory", lambda: 2**26)
    with pytest.raises(InputError, match="2000 different labels"):
        encode_table(frame)


@pytest.mark.parametrize("missing", [-1, None, np.nan, ""])
def test_no_answer_is_no_class_whatever_the_column_holds(missing):
    answers = pd.Series([0, missing, 1, missing], dtype=object)
    frame = pd.DataFrame({"task": [1, 1, 2, 2], "rater": [*"abab"], "label": answers})
    for classes in (None, (0, 1)):
        table = encode_table(frame, classes=classes)
        assert table.classes == (0, 1)
        assert fuse.majority_vote(frame, classes=classes).label.tolist() == [0, 1]


@pytest.mark.parametrize("column", ["task", "rater"])
def test_rows_without_a_name_are_refused(column):
    frame = pd.DataFrame({"task": [*"xxyy"], "rater": [*"abab"], "label": [0, 0, 1, 1]})
    frame.loc[2, column] = None
    with pytest.raises(InputError, match=f"column {column} is empty in 1 rows, first in row 3"):
        encode_table(frame)


def test_two_rows_of_one_task_in_a_wide_table_are_refused():
    frame = pd.DataFrame({"anna": [0, 1], "bert": [0, 1]}, index=["x", "x"])
    with pytest.raises(InputError, match="task x has two rows"):
        encode_table(frame)


ANSWERS = pd.DataFrame({"task": [1, 1, 2, 2], "rater": list("abab"), "label": list("xyyy")})


@pytest.mark.parametrize(
    ("frame", "given", "said"),
    [
        (ANSWERS, {"gold": {"1": "y"}}, "none of the tasks, but of '1'"),
        (ANSWERS, {"gold": {99: "z"}}, "none of the tasks, but of 99"),
        (ANSWERS, {"gold": pd.Series(["x", "y"], index=[1, 1])}, "task 1 has two gold labels"),
        (ANSWERS, {"raters": ["a", "Anna"]}, "no rater is called 'Anna'"),
        (ANSWERS.assign(label=[0, np.inf, 1, 1]), {}, "a label is inf"),
        (ANSWERS, {"gold": {1: 1}}, "gold label 1 beside labels such as 'x'"),
    ],
)
def test_what_fits_nothing_in_a_table_is_named(frame, given, said):
    with pytest.raises(InputError, match=said):
        fuse.majority_vote(frame, **given)


def test_gold_labels_of_other_tasks_make_no_class():
    found = fuse.majority_vote(ANSWERS, gold={1: "y", 99: "z"})
    assert (found.classes, found.label.tolist()) == (("x", "y"), ["y", "y"])


@pytest.mark.parametrize("nothing", ["", None, np.nan, -1])
def test_a_gold_label_that_is_missing_is_no_class(nothing):
    frame = ANSWERS.assign(label=[0, 0, 1, 1]) if nothing == -1 else ANSWERS
    found = fuse.majority_vote(frame, gold={1: nothing})
    assert found.classes == fuse.majority_vote(frame).classes
    assert found.label.tolist() == fuse.majority_vote(frame).label.tolist()


@pytest.mark.parametrize("names", [{"raters": ["a", "a"]}, {"classes": ["x", "y", "y"]}])
def test_a_name_given_twice_is_told(names):
    with pytest.raises(InputError, match=r"two (raters|classes) are called"):
        fuse.majority_vote(ANSWERS, **names)
