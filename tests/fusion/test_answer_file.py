import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.fusion.answer_file import read_answer_file
from multirater.fusion.answer_table import fuse_table, is_answer_table
from multirater.io import read_dataset

HEADER = "task,worker,label\n"


def table(tmp_path, text, encoding="utf-8"):
    file = tmp_path / "answers.csv"
    file.write_bytes((HEADER + text).encode(encoding))
    return file


def refused(tmp_path, text, encoding="utf-8"):
    with pytest.raises(InputError) as error:
        read_answer_file(table(tmp_path, text, encoding))
    (fault,) = error.value.faults
    assert fault.file.endswith("answers.csv")
    return fault.found


@pytest.mark.parametrize("word", ["None", "NA", "null", "NaN", "nan", "N/A", "n/a", "-1", "true"])
def test_only_an_empty_cell_is_a_missing_answer(tmp_path, word):
    found = read_answer_file(table(tmp_path, f"1,a,{word}\n1,b,yes\n2,a,\n2,b,  \n2,c,no\n"))
    assert found["label"].isna().tolist() == [False, False, True, True, False]
    assert found["label"][0] == word


def test_names_are_texts(tmp_path):
    found = read_answer_file(table(tmp_path, "01,7,1\n1,07,1.0\n1.0,7,01\n"))
    assert found["task"].tolist() == ["01", "1", "1.0"]
    assert found["worker"].tolist() == ["7", "07", "7"]
    assert found["label"].tolist() == ["1", "1.0", "01"]
    done = fuse_table(tmp_path / "answers.csv", tmp_path / "out", method="majority-vote")
    assert done.cases.index.tolist() == ["01", "1", "1.0"]


def test_classes_that_are_numbers_are_in_their_order(tmp_path):
    found = read_answer_file(table(tmp_path, "1,a,10\n1,b,9\n2,a,-1\n2,b,maybe\n"))
    assert found["label"].cat.categories.tolist() == ["-1", "9", "10", "maybe"]


def test_a_repeated_answer_is_a_fault(tmp_path):
    said = refused(tmp_path, "1,a,x\n1,b,x\n2,a,x\n1, a,y\n2,a,x\n")
    assert said == "2 answers given twice, first by worker a to task 1, line 5"


def test_latin_1_is_told_and_utf_16_is_read(tmp_path):
    assert "is not UTF-8" in refused(tmp_path, "1,Jürgen,groß\n", "latin-1")
    file = table(tmp_path, "1,Jürgen,groß\n", "utf-16")
    assert is_answer_table(file)
    assert read_answer_file(file)["label"].tolist() == ["groß"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,a,x\n1,b\n", "line 3 has 2 cells"),
        ("1,a,x\n1,b,x,y\n", "line 3 has 4 cells"),
        ("1,a,x,y\n1,b,x,y\n", "line 2 has 4 cells"),
        ('1,a,x\n1,b,"x\n2,a,y\n', "cannot be read as a table"),
        ('1,a,x\n1,b,"x\n2,a,y"\n', "a cell holds the end of a line"),
        ("1,a,x\n1,b,x\0\n", "a cell holds a character that no text has"),
        ('1,a,x\n1,b,"x"y\n', "line 3: ',' expected after '\"'"),
        ("\n\n1,a,x\n\n1,a,y\n", "line 6"),
        ("1,a,x\n,b,x\n", "first line 3"),
        ("1,a,x\n1,,x\n", "first line 3"),
    ],
)
def test_tables_that_are_torn_end_in_a_sentence(tmp_path, text, said):
    assert said in refused(tmp_path, text)


def test_an_empty_file_is_told(tmp_path):
    (tmp_path / "answers.csv").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        read_answer_file(tmp_path / "answers.csv")


def test_every_bit_of_a_table_may_be_turned(tmp_path):
    """Damage gives another table or a sentence, never a traceback."""
    content = (HEADER + '1,a,"x"\n1,b,y\n2,a,y\n2,b,\n').encode()
    random = np.random.default_rng(0)
    for place in random.choice(len(content) * 8, 60, replace=False).tolist():
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        (tmp_path / "answers.csv").write_bytes(changed)
        try:
            found = read_answer_file(tmp_path / "answers.csv")
        except InputError:
            continue
        assert isinstance(found, pd.DataFrame)


def test_rows_that_are_read_in_parts_are_one_table(tmp_path, monkeypatch):
    monkeypatch.setattr("multirater.fusion.answer_file._ROWS_AT_ONCE", 2)
    found = read_answer_file(table(tmp_path, "1,a,x\n2,a,y\n1,b,z\n2,b,x\n3,a,\n"))
    assert found["label"].tolist()[:4] == ["x", "y", "z", "x"]
    assert found["task"].cat.categories.tolist() == ["1", "2", "3"]
    assert "given twice" in refused(tmp_path, "1,a,x\n2,a,y\n1,b,z\n1,a,x\n")


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "answers.csv").write_text("task, Task,worker,label\na,b,w,x\n")
    with pytest.raises(InputError, match="has two columns task"):
        read_answer_file(tmp_path / "answers.csv")


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "SEP=;\n\n"])
def test_the_separator_may_be_stated_as_excel_does(tmp_path, first):
    file = tmp_path / "answers.csv"
    file.write_text(first + "task;worker;label\n1;a;x, or y\n1;b;\n2;b;z\n")
    assert is_answer_table(file)
    assert read_answer_file(file)["label"].tolist()[:1] == ["x, or y"]
    assert read_dataset(file)["1"].labels.keys() == {"a"}
    file.write_text(first + "task;worker;label\n1;a;x\n1;b\n")
    with pytest.raises(InputError, match=r"line \d has 2 cells"):
        read_answer_file(file)


@pytest.mark.parametrize(
    "text",
    [
        "1,a,-1\n1,b,0\n2,a,1\n2,b,-1\n",
        "1,a,'=1\n1,b,'-x\n2,a,'tis\n2,b,=1\n",
        "'=1,'@a,x\n=1,b,y\n",
        " 1 , a ,  \n1,b,x\n2,a,y\n",
        "1,a,10\n1,b,9\n2,a,maybe\n",
    ],
)
def test_both_readers_of_answers_understand_the_same(tmp_path, text):
    file = table(tmp_path, text)
    answers = read_answer_file(file)
    study = read_dataset(file)
    found = {
        (case.name, rater): study.classes.names[int(label.read().array)]
        for case in study
        for rater, label in case.labels.items()
    }
    told = answers.dropna().astype(str)
    keys = zip(told["task"], told["worker"], strict=True)
    assert found == dict(zip(keys, told["label"], strict=True))
    assert study.classes.names == tuple(answers["label"].cat.categories)


@pytest.mark.parametrize("text", ["1,a,x\n1,b\n", '1,a,"x\n1,b,"\n', '1,a,"x"y\n', "1,a,x\0\n"])
def test_both_readers_of_answers_refuse_the_same(tmp_path, text):
    file = table(tmp_path, text)
    for read in (read_answer_file, read_dataset):
        with pytest.raises(InputError):
            read(file)


def test_a_fused_class_called_minus_one_is_read_again(tmp_path):
    file = table(tmp_path, "1,a,-1\n1,b,-1\n2,a,1\n2,b,1\n")
    done = fuse_table(file, tmp_path / "out", method="majority-vote")
    assert [each.code for each in done.findings][:1] == ["missing-as-class"]
    again = read_dataset(tmp_path / "out")
    assert again.classes.names == ("-1", "1")
    assert all(len(case.labels) == 1 for case in again)
