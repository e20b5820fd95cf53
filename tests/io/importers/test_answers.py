"""Class labels of MTurk, Toloka, Prodigy and doccano."""

import json

import pytest

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.importers.study import import_study


@pytest.fixture
def run(tmp_path):
    def imported(tool, *files, **options):
        paths = []
        for name, text in files:
            paths.append(tmp_path / name)
            lines = text if isinstance(text, str) else "\n".join(map(json.dumps, text))
            paths[-1].write_text(lines)
        import_study(tool, paths, tmp_path / "study", **options)
        data = read_dataset(tmp_path / "study")
        return {
            (case.name, rater): data.classes.names[int(case.read_label(rater).array)]
            for case in data
            for rater in case.labels
        }

    return imported


EXPECTED = {("ear", "anna"): "well", ("ear", "bert"): "sick", ("eye", "anna"): "sick"}


def test_mturk(run, tmp_path, photos):
    table = (
        '"HITId","WorkerId","AssignmentStatus","Input.image_url","Answer.label"\n'
        '"H1","anna","Approved","https://x.org/a/ear.png","well"\n'
        '"H1","bert","Submitted","https://x.org/a/ear.png","sick"\n'
        '"H2","anna","Approved","https://x.org/a/eye.png","sick"\n'
        '"H2","bert","Rejected","https://x.org/a/eye.png","well"\n'
    )
    assert run("mturk", ("batch.csv", table), images=photos(tmp_path / "photos")) == EXPECTED
    assert read_dataset(tmp_path / "study")["ear"].image is not None


def test_toloka_with_golden_answers(run, tmp_path):
    table = (
        "INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\n"
        "/ear.png\twell\twell\tA1\tanna\n/ear.png\tsick\twell\tA2\tbert\n/eye.png\tsick\t\tA3\tanna\n"
    )
    assert run("toloka", ("pool.tsv", table)) == EXPECTED
    data = read_dataset(tmp_path / "study")
    assert data.classes.names[int(data["ear"].read_truth().array)] == "well"
    assert data["eye"].truth is None


def test_prodigy(run):
    def line(item, who, accept, answer="accept"):
        return {
            "_input_hash": 1,
            "_annotator_id": who,
            "accept": accept,
            "answer": answer,
            "meta": {"id": item},
        }

    lines = [
        line("ear", "anna", ["well"]),
        line("ear", "bert", ["sick"]),
        line("eye", "anna", ["sick"]),
        line("eye", "bert", ["sick"], "ignore"),
    ]
    assert run("prodigy", ("db.jsonl", lines)) == EXPECTED


def test_doccano(run):
    anna = [{"id": "ear", "text": "", "label": ["well"]}, {"id": "eye", "label": ["sick"]}]
    bert = [{"id": "ear", "text": "", "label": ["sick"]}, {"id": "eye", "label": []}]
    assert run("doccano", ("anna.jsonl", anna), ("bert.jsonl", bert)) == EXPECTED


def test_faults_by_line_and_rater(run, tmp_path):
    two = [{"id": "ear", "label": ["well", "sick"]}]
    with pytest.raises(InputError, match=r"ear \(line 1\), rater anna, file .*: has 2"):
        run("doccano", ("anna.jsonl", two))
    both = [{"meta": {"id": "ear"}, "accept": ["well", "sick"], "answer": "accept"}]
    with pytest.raises(InputError, match=r"rater anna, file .*: has 2 labels: well, sick"):
        run("prodigy", ("anna.jsonl", both))
    known = [{"id": "ear", "label": ["wel"]}]
    with pytest.raises(InputError, match="class 'wel', which is not known; did you mean well"):
        run("doccano", ("anna.jsonl", known), classes=["well", "sick"])
    with pytest.raises(InputError, match="line 1: "):
        run("doccano", ("anna.jsonl", '{"id": 3, "label": '))
    table = "HITId,WorkerId,Input.a,Input.b,Answer.label\nH,w,1,2,x\n"
    with pytest.raises(InputError, match=r"2 columns begin with 'input\.'"):
        run("mturk", ("batch.csv", table))
    twice = [{"id": "ear", "label": ["well"]}, {"id": "ear", "label": ["sick"]}]
    with pytest.raises(InputError, match="labelled the image twice"):
        run("doccano", ("anna.jsonl", twice))
    assert not (tmp_path / "study").exists()


def test_items_of_one_file_name_in_two_folders_stay_two(run):
    table = (
        "INPUT:image\tOUTPUT:label\tASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\n"
        "https://x.org/a/img1.jpg?key=1\tcat\tanna\t1\n"
        "https://x.org/a/img1.jpg?key=2\tcat\tbert\t2\n"
        "https://x.org/b/img1.jpg\tdog\tanna\t3\n"
    )
    assert run("toloka", ("t.tsv", table)) == {
        ("https://x.org/a/img1.jpg", "anna"): "cat",
        ("https://x.org/a/img1.jpg", "bert"): "cat",
        ("https://x.org/b/img1.jpg", "anna"): "dog",
    }


def test_what_a_page_shows_is_in_its_query(run):
    table = (
        "INPUT:page\tOUTPUT:label\tASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\n"
        "https://x.org/show?id=1&Signature=a\tcat\tanna\t1\n"
        "https://x.org/show?id=1&Signature=b\tcat\tbert\t2\n"
        "https://x.org/show?id=2\tdog\tbert\t3\n"
        "https://x.org/view.php?image=4\tdog\tanna\t4\n"
        "https://x.org/view.php?image=5\tcat\tbert\t5\n"
    )
    assert run("toloka", ("t.tsv", table)) == {
        ("https://x.org/show?id=1", "anna"): "cat",
        ("https://x.org/show?id=1", "bert"): "cat",
        ("https://x.org/show?id=2", "bert"): "dog",
        ("https://x.org/view.php?image=4", "anna"): "dog",
        ("https://x.org/view.php?image=5", "bert"): "cat",
    }


@pytest.mark.parametrize("tool", ["doccano", "prodigy"])
def test_lines_without_a_name_go_by_their_text(run, tool):
    def line(text, label):
        return {"text": text, "label": [label], "accept": [label], "answer": "accept"}

    anna, bert = [line("t1", "cat"), line("t2", "dog")], [line("t2", "dog"), line("t1", "cat")]
    assert run(tool, ("anna.jsonl", anna), ("bert.jsonl", bert)) == {
        (text, who): said
        for text, said in (("t1", "cat"), ("t2", "dog"))
        for who in ("anna", "bert")
    }


def test_lines_that_name_nothing_are_not_those_of_other_files(run):
    anna, bert = [{"label": ["cat"]}], [{"label": ["dog"]}]
    assert set(run("doccano", ("anna.jsonl", anna), ("bert.jsonl", bert))) == {
        ("anna, line 1", "anna"),
        ("bert, line 1", "bert"),
    }


def test_texts_with_dots_stay_apart(run):
    table = (
        "INPUT:text\tOUTPUT:label\tASSIGNMENT:worker_id\tASSIGNMENT:assignment_id\n"
        "Good. Buy it\tyes\tanna\t1\n"
        "Good. If you like trash\tno\tanna\t2\n"
        "model v1.5\tbackground\tanna\t3\n"
    )
    assert run("toloka", ("t.tsv", table)) == {
        ("Good. Buy it", "anna"): "yes",
        ("Good. If you like trash", "anna"): "no",
        ("model v1.5", "anna"): "background",
    }
