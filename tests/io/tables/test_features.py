"""Feature vectors instead of images."""

import sys

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.extras import MissingExtraError
from multirater.io import (
    dataset_from_arrays,
    read_dataset,
    read_label,
    survey,
    write_dataset,
    write_image,
)
from multirater.io.formats.images import image_shape
from multirater.io.tables.features import read_features
from multirater.report import write_report
from multirater.training import TrainConfig, predict, resume, train
from multirater.training.posterior import fuse_by_network
from multirater.types import Geometry, Image
from multirater.verbs.info import info

MANIFEST = """case,rater,label,truth,split
007,anna,cat,cat,train
007,bert,dog,cat,train
NA,anna,dog,,train
c3,bert,cat,,train
c4,,,,test
"""
VECTORS = np.array([[1.5, -2.0], [3.0, 4.0], [5.0, 6.25], [7.0, 8.0]])
CASES = ["007", "NA", "c3", "c4"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "manifest.csv").write_text(MANIFEST)
    return tmp_path


def frame():
    table = pd.DataFrame(VECTORS, columns=["age", "size"])
    table.insert(1, "case", CASES)
    # Another order, and a case that the manifest does not have.
    return pd.concat([table, table[:1].assign(case="unknown")])[::-1]


def write_npy(folder):
    np.save(folder / "features.npy", VECTORS)


def write_csv(folder):
    frame().to_csv(folder / "features.csv", index=False)


def write_excel_like_csv(folder):
    text = frame().to_csv(index=False, sep=";").replace("case", '"Case"')
    (folder / "features.csv").write_text(text, encoding="utf-8-sig")


def write_parquet(folder):
    frame().to_parquet(folder / "features.parquet", index=False)


def write_indexed_parquet(folder):
    frame().set_index("case").to_parquet(folder / "features.parquet")


def write_embeddings(folder):
    table = frame()
    vectors = list(table[["age", "size"]].to_numpy())
    pd.DataFrame({"case": table["case"], "embedding": vectors}).to_parquet(
        folder / "features.parquet"
    )


def write_one_file_per_case(folder):
    for name, vector in zip(CASES, VECTORS, strict=True):
        np.save(folder / f"{name}.npy", vector)
    rows = [line.split(",", 1) for line in MANIFEST.splitlines()[1:]]
    lines = [f"{case},{case}.npy,{rest}" for case, rest in rows]
    (folder / "manifest.csv").write_text(
        "\n".join(["case,image,rater,label,truth,split", *lines]) + "\n"
    )


WAYS = [
    write_npy,
    write_csv,
    write_excel_like_csv,
    write_parquet,
    write_indexed_parquet,
    write_embeddings,
    write_one_file_per_case,
]


@pytest.mark.parametrize("write", WAYS)
def test_every_way_gives_each_case_its_vector(folder, write):
    write(folder)
    data = read_dataset(folder)
    assert data.kind == "classes"
    assert [case.name for case in data] == CASES
    for case, vector in zip(data, VECTORS, strict=True):
        image = case.read_image()
        np.testing.assert_array_equal(image.array, vector)
        assert image.space == ()
    found = survey(data)
    assert {case.n_channels for case in found.cases} == {2}
    assert info(found).summary["channels"] == "2 (4)"


def test_the_report_does_without_pictures(folder, tmp_path):
    write_csv(folder)
    page = write_report(folder, tmp_path / "report.html")
    assert "007" in page.read_text()


@pytest.mark.parametrize("write", [write_csv, write_one_file_per_case])
def test_training_and_its_predictions_are_data_sets_again(folder, tmp_path, write):
    write(folder)
    data = read_dataset(folder)
    train(data, tmp_path / "run", TrainConfig(epochs=1, accelerator="cpu"))
    predict(tmp_path / "run", data, tmp_path / "predicted")
    predicted = survey(read_dataset(tmp_path / "predicted"))
    assert [len(case.rows) for case in predicted.cases] == [1] * 4
    assert {case.n_channels for case in predicted.cases} == {0 if write is write_csv else 2}


def test_features_go_by_their_place_and_another_order_is_refused(folder, tmp_path):
    write_csv(folder)
    data = read_dataset(folder)
    assert data.features == ("age", "size")
    train(data, tmp_path / "run", TrainConfig(epochs=1, accelerator="cpu"))
    frame()[["case", "size", "age"]].to_csv(folder / "features.csv", index=False)
    turned = read_dataset(folder)
    for use in (
        lambda: predict(tmp_path / "run", turned, tmp_path / "predicted"),
        lambda: fuse_by_network(tmp_path / "run", turned, tmp_path / "fused"),
        lambda: resume(turned, tmp_path / "run"),
    ):
        with pytest.raises(InputError, match=r"size.*age"):
            use()


def test_arrays_in_memory():
    labels = np.array([[0, 1], [1, -1], [2, 2], [0, 0]])
    data = dataset_from_arrays(labels, images=VECTORS)
    assert data.kind == "classes"
    assert [case.read_image().array.tolist() for case in data] == VECTORS.tolist()
    survey(data)


def test_a_vector_is_no_label(tmp_path):
    np.save(tmp_path / "a.npy", np.array([0, 1]))
    with pytest.raises(InputError, match="1 axes"):
        read_label(tmp_path / "a.npy")


def test_a_vector_goes_to_npy_only(tmp_path):
    image = Image(VECTORS[0], Geometry.default(0))
    with pytest.raises(InputError, match="vector of features"):
        write_image(image, tmp_path / "a.png")
    write_image(image, tmp_path / "a.npy")
    assert image_shape(tmp_path / "a.npy") == ((), Geometry.default(0))


def test_what_is_written_is_read_again(folder, tmp_path):
    write_csv(folder)
    written = read_dataset(write_dataset(read_dataset(folder), tmp_path / "copy", suffix=".png"))
    for case, vector in zip(written, VECTORS, strict=True):
        np.testing.assert_array_equal(case.read_image().array, vector)


def test_cases_without_any_label_are_read(folder):
    write_csv(folder)
    (folder / "manifest.csv").write_text("case,rater,label\nc3,,\nc4,,\n")
    data = read_dataset(folder)
    assert [case.read_image().array.tolist() for case in data] == VECTORS[2:].tolist()


def test_images_that_the_manifest_names_are_taken(folder):
    write_one_file_per_case(folder)
    np.save(folder / "features.npy", VECTORS * 2)
    np.testing.assert_array_equal(read_dataset(folder)["c3"].read_image().array, VECTORS[2])


def test_a_table_in_memory_finds_its_features_by_the_root(folder):
    write_csv(folder)
    table = pd.read_csv(folder / "manifest.csv", dtype=str, keep_default_na=False)
    assert read_dataset(table, root=folder)["NA"].read_image().array.tolist() == [3.0, 4.0]
    assert read_dataset(table)["NA"].read_image() is None


def faults_of(folder):
    with pytest.raises(InputError) as caught:
        read_dataset(folder)
    assert all(str(folder) in fault.file for fault in caught.value.faults)
    return "\n".join(map(str, caught.value.faults))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table[table["case"] != "c3"], "no row for case c3"),
        (lambda table: pd.concat([table, table]), "two rows for cases"),
        (lambda table: table.assign(age=table["age"].where(table["case"] != "NA")), "column age"),
        (lambda table: table.assign(size=np.inf), "007, NA, c3, c4"),
        (lambda table: table.assign(sex="f"), "column sex holds 'f'"),
        (lambda table: table.rename(columns={"case": "id"}), "has columns age, id, size"),
        (lambda table: table[["case"]], "has columns case"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_wrong_with_a_table_is_said(folder, change, said, kind):
    table = change(frame())
    if kind == "csv":
        table.to_csv(folder / "features.csv", index=False)
    else:
        table.to_parquet(folder / "features.parquet", index=False)
    assert said in faults_of(folder)


def test_all_that_is_wrong_with_a_table_is_said_at_once(folder):
    text = "case,age,size\n007,,1\nNA,3,large\nc3,,small\nc3,1,1\n"
    (folder / "features.csv").write_text(text)
    said = faults_of(folder)
    for words in (
        "column age is empty, NaN or infinite for cases 007, c3",
        "column size holds 'large' and 'small' for cases NA, c3",
        "two rows for case c3",
        "no row for case c4",
    ):
        assert words in said


def test_an_empty_and_a_text_cell_of_one_column_are_both_named(folder):
    (folder / "features.csv").write_text("case,age\n007,\nNA,old\nc3,1\nc4,2\n")
    said = faults_of(folder)
    assert "column age holds 'old' for case NA" in said
    assert "column age is empty, NaN or infinite for case 007" in said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["007,1,2", "NA,3,4,5", "c3,1", "c4,1,1"],
            "line 3 has 4 columns and line 4 has 2",
        ),
        (["007,1,2,3", "NA,1,2,3", "c3,1,2,3", "c4,1,2,3"], "line 2 has 4 columns, line 3 has"),
    ],
)
def test_lines_with_too_many_columns_are_named(folder, lines, said):
    (folder / "features.csv").write_text("\n".join(["case,age,size", *lines]) + "\n")
    found = faults_of(folder)
    assert said in found
    assert "3 columns, as in the first line: case, age, size" in found


def test_faults_of_the_manifest_and_of_the_features_come_together(folder):
    (folder / "manifest.csv").write_text(MANIFEST + "c4,,cat,,test\n")
    (folder / "features.csv").write_text("case,age\n007,old\nNA,1\nc3,1\nc4,2\n")
    said = faults_of(folder)
    assert "a label without a rater" in said
    assert "column age holds 'old'" in said


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (VECTORS[:3], "holds 3 rows\n  expected: 4"),
        (VECTORS[0], "holds an array (2,)"),
        (VECTORS.astype(str), "holds an array (4, 2) of <U"),
        (np.where(VECTORS == 3, np.nan, VECTORS), "column 0 is empty, NaN or infinite for case NA"),
    ],
)
def test_what_is_wrong_with_an_array_is_said(folder, array, said):
    np.save(folder / "features.npy", array)
    assert said in faults_of(folder)


def test_embeddings_of_different_length_are_refused(folder):
    vectors = [[1.0, 2.0], [1.0], [1.0, 2.0], [3.0, 4.0]]
    pd.DataFrame({"case": CASES, "e": vectors}).to_parquet(folder / "features.parquet")
    assert "column e holds vectors of length 1, 2" in faults_of(folder)


def test_two_tables_are_one_too_many(folder):
    write_npy(folder)
    write_csv(folder)
    assert "features.csv and features.npy" in faults_of(folder)


def test_without_pyarrow_the_user_is_told(folder, monkeypatch):
    write_parquet(folder)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'multirater\[parquet\]'"):
        read_features(folder / "features.parquet", CASES)
