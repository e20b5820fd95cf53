"""What a study says of its raters."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.io.tables.rater_info import read_rater_info


@pytest.fixture
def folder(tmp_path):
    data = dataset_from_arrays(np.eye(4, dtype=int)[None, None].repeat(2, 1), raters=["a", "b"])
    write_dataset(data, tmp_path / "study")
    return tmp_path / "study"


def test_the_table_is_read_with_the_study_and_written_again(folder):
    (folder / "raters.csv").write_text("Worker;Group;Years\na;expert;12\nb;crowd;\n")
    data = read_dataset(folder)
    assert data.rater_info == {"a": {"group": "expert", "years": "12"}, "b": {"group": "crowd"}}
    write_dataset(data, folder.parent / "copy")
    assert read_dataset(folder.parent / "copy").rater_info == data.rater_info


def test_a_study_without_the_table_says_nothing(folder):
    assert read_dataset(folder).rater_info == {}
    write_dataset(read_dataset(folder), folder.parent / "copy")
    assert not (folder.parent / "copy" / "raters.csv").exists()


def test_the_table_of_a_fusion_is_a_result_and_no_table_of_the_study(folder):
    fused = folder.parent / "fused"
    fuse_dataset(read_dataset(folder), fused, method="majority-vote")
    assert (fused / "raters.csv").exists()
    assert read_dataset(fused).rater_info == {}


def test_the_table_of_a_result_may_tell_classes_apart_by_case_alone(folder):
    (folder / "raters.csv").write_text("rater,cm[a->A],cm[A->a],cm[A->A]\na,0.1,0.2,0.8\n")
    assert read_rater_info(folder) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("who,group\na,x\n", "has columns who, group: no rater"),
        ("rater,group\na,x\na,y\n", "rater a"),
        ("rater,group\n,x\n", "a row without rater"),
        ("rater,group,Group\na,x,y\n", "group"),
    ],
)
def test_faults_of_the_table_are_told_with_its_file(folder, text, said):
    (folder / "raters.csv").write_text(text)
    with pytest.raises(InputError, match=said):
        read_rater_info(folder)
    with pytest.raises(InputError, match=r"raters\.csv"):
        read_dataset(folder)
