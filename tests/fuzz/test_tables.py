"""Tables of a study, damaged: another table or a sentence."""

import shutil

import numpy as np
import pandas as pd
import pytest
from damage import TRIES, damaged, tried

from multirater.errors import InputError
from multirater.fusion.answer_file import read_answer_file
from multirater.fusion.large_table import fuse_large_table
from multirater.io import read_dataset
from multirater.verbs.info import info


@pytest.mark.parametrize("name", ["manifest.csv", "classes.csv", "raters.csv", "features.csv"])
def test_damaged_tables_of_a_study(tmp_path, name):
    lines = ["case,rater,label,split", "a,anna,cat,train", 'b,"bert",dog,', "c,anna,cat,test"]
    (tmp_path / "manifest.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "classes.csv").write_text("index,name,colour\n0,cat,#ff0000\n1,dog,#00ff00\n")
    (tmp_path / "raters.csv").write_text("rater,group,years\nanna,expert,12\nbert,,\n")
    (tmp_path / "features.csv").write_text("case,age,size\nb,31,1.5\na,64,2.0\nc,1e3,-2\n")
    content = (tmp_path / name).read_bytes()
    whole = info(read_dataset(tmp_path)).cases
    random = np.random.default_rng(len(name))
    for _ in range(TRIES):
        (tmp_path / name).write_bytes(damaged(content, random))
        tried(name, lambda: info(read_dataset(tmp_path)).cases, lambda found: found.equals(whole))


def test_damaged_answers(tmp_path):
    file = tmp_path / "answers.csv"
    file.write_text('task,worker,label\n01,a,"yes, no"\n1,b,NA\n2,a,-1\n2,b,\n3,ü,yes\n')
    content, whole = file.read_bytes(), read_answer_file(file)
    random = np.random.default_rng(5)
    for _ in range(4 * TRIES):
        file.write_bytes(damaged(content, random))
        tried("answers", lambda: read_answer_file(file), lambda found: found.equals(whole))


@pytest.mark.parametrize("checked", [True, False])
def test_damaged_answers_in_parquet(tmp_path, checked):
    pytest.importorskip("pyarrow")
    file = tmp_path / "answers.parquet"
    answers = {"task": ["01", "1", "2", "2"] * 3, "worker": list("abcdefghijkl"), "label": "no"}
    pd.DataFrame(answers).to_parquet(file, write_page_checksum=checked)
    content, whole = file.read_bytes(), read_answer_file(file)
    random = np.random.default_rng(7)
    subject = f"answers.parquet{' with checksums' if checked else ''}"
    for _ in range(2 * TRIES):
        file.write_bytes(damaged(content, random))
        tried(subject, lambda: read_answer_file(file), lambda found: found.equals(whole))
        tried(subject, lambda: fuse_large_table(file, tmp_path / "out", overwrite=True), _is_fused)


def _is_fused(done):
    return len(pd.read_parquet(done.folder / "cases.parquet")) == 3


@pytest.mark.parametrize("name", ["fusion.json", "manifest.csv", "raters.csv", "origin.json"])
def test_damaged_fusions(tmp_path, digits_folder, name):
    from multirater.fusion.fused_dataset import fuse_dataset
    from multirater.report.subject import read_subject

    data = read_dataset(digits_folder)
    fuse_dataset(data, tmp_path / "whole", method="majority-vote")
    content = (tmp_path / "whole" / name).read_bytes()
    random = np.random.default_rng(len(name))
    for _ in range(max(TRIES // 3, 2)):
        shutil.copytree(tmp_path / "whole", tmp_path / "fused")
        (tmp_path / "fused" / name).write_bytes(damaged(content, random))
        tried(f"fusion {name}", lambda: read_subject([tmp_path / "fused"]), lambda found: True)
        shutil.rmtree(tmp_path / "fused")


def test_a_sentence_is_what_is_counted_as_refused(tmp_path):
    with pytest.raises(InputError):
        read_answer_file(tmp_path / "absent.csv")
