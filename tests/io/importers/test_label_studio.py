"""Exports of Label Studio as masks and class labels."""

import json

import numpy as np
import pytest
from skimage.draw import polygon2mask

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.brush_rle import encode_brush
from multirater.io.importers.study import import_study
from multirater.progress import show_progress

SIZE = {"original_width": 32, "original_height": 24, "image_rotation": 0}


def result(kind, value, label="lesion", **more):
    return {"id": "r1", "type": kind, "value": value | {kind: [label]}, **SIZE, **more}


def annotation(number, who, *results, **more):
    return {"id": number, "completed_by": who, "result": list(results), **more}


def task(number, name, *annotations):
    data = {"image": f"/data/upload/1/0a1b2c3d-{name}"}
    return {"id": number, "data": data, "annotations": list(annotations)}


def choice(*chosen, question="sick"):
    value = {"choices": list(chosen)}
    return {"id": "c", "type": "choices", "from_name": question, "to_name": "image", "value": value}


@pytest.fixture
def run(tmp_path, photos):
    photos(tmp_path / "photos")

    def imported(*tasks, **options):
        (tmp_path / "export.json").write_text(json.dumps(tasks))
        study = tmp_path / "study"
        options = {"images": tmp_path / "photos"} | options
        import_study("label-studio", [tmp_path / "export.json"], study, **options)
        return study

    return imported


def test_annotators_are_raters_and_missing_is_not_empty(run, read_labels, drawn_label):
    drawn = drawn_label(3)
    brush = result("brushlabels", {"format": "rle", "rle": encode_brush(drawn == 1)})
    over = result("brushlabels", {"format": "rle", "rle": encode_brush(drawn == 2)}, "vessel")
    study = run(
        task(
            12,
            "ear.png",
            annotation(1, {"id": 4, "email": "a@b.org"}, brush, over),
            annotation(2, 7),
        ),
        task(13, "eye.png", annotation(3, 7, brush), annotation(4, 9, brush, was_cancelled=True)),
    )
    labels = read_labels(study)
    assert set(labels) == {("ear", "a@b.org"), ("ear", "7"), ("eye", "7")}
    np.testing.assert_array_equal(labels["ear", "a@b.org"], drawn)
    assert not labels["ear", "7"].any()
    assert read_dataset(study).classes.names == ("background", "lesion", "vessel")


def test_turned_shapes_lie_where_label_studio_shows_them(run, read_labels):
    """A rectangle turns about its upper left corner, an ellipse about its centre, in pixels."""
    rectangle = {"x": 50, "y": 25, "width": 25, "height": 25, "rotation": 90}
    labels = read_labels(
        run(task(1, "ear.png", annotation(1, 7, result("rectanglelabels", rectangle))))
    )
    expected = np.zeros((24, 32), dtype=int)
    expected[6:14, 10:16] = 1  # 8 x 6 pixels at (16, 6), now 6 x 8 to its left
    np.testing.assert_array_equal(labels["ear", "7"], expected)


def test_ellipse_turned_by_a_quarter(run, read_labels):
    value = {"x": 50, "y": 50, "radiusX": 25, "radiusY": 12.5, "rotation": 90}
    labels = read_labels(run(task(1, "ear.png", annotation(1, 7, result("ellipselabels", value)))))
    y, x = np.mgrid[:24, :32] + 0.5
    expected = ((x - 16) / 3) ** 2 + ((y - 12) / 8) ** 2 <= 1
    assert (labels["ear", "7"] != expected).sum() <= 4


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", ["rectangle", "ellipse"])
def test_positions_too_large_to_turn_are_refused(run, form):
    value = {"x": 1e308, "y": 1, "width": 1e308, "height": 1, "radiusX": 1e308, "radiusY": 1}
    drawn = result(f"{form}labels", {**value, "rotation": 30})
    with pytest.raises(InputError, match="result"):
        run(task(1, "ear.png", annotation(1, 7, drawn)))


def test_polygon_in_percent_on_another_resolution(run, read_labels):
    points = [[10, 10], [60, 15], [40, 80]]
    double = {"original_width": 64, "original_height": 48}
    drawn = result("polygonlabels", {"points": points}) | double
    labels = read_labels(run(task(1, "ear.png", annotation(1, 7, drawn))))
    rows = np.array([[y * 0.24, x * 0.32] for x, y in points]) - 0.5
    np.testing.assert_array_equal(labels["ear", "7"], polygon2mask((24, 32), rows))


def test_a_label_in_a_result_of_its_own(run, read_labels):
    shape = {"id": "q", "type": "rectangle", "value": {"x": 0, "y": 0, "width": 50, "height": 50}}
    named = {"id": "q", "type": "labels", "value": {"labels": ["vessel"], "x": 0}}
    labels = read_labels(run(task(1, "ear.png", annotation(1, 7, shape | SIZE, named | SIZE))))
    assert (labels["ear", "7"][:12, :16] == 1).all()


def test_relations_are_passed_by_with_a_word(run, capsys):
    square = result("rectanglelabels", {"x": 0, "y": 0, "width": 50, "height": 50})
    show_progress(True)
    try:
        run(task(1, "ear.png", annotation(1, 7, square, {"type": "relation", "from_id": "a"})))
    finally:
        show_progress(False)
    assert "1 result of type relation is passed by" in capsys.readouterr().err


def test_choices_are_class_labels(run):
    data = read_dataset(
        run(
            task(1, "ear.png", annotation(1, 7, choice("sick")), annotation(2, 8, choice("well"))),
            task(2, "eye.png", annotation(3, 7, choice("well"))),
        )
    )
    assert (data.kind, data.classes.names) == ("classes", ("sick", "well"))
    assert data["ear"].read_labels(["7", "8"]).array.tolist() == [0, 1]
    assert list(data["eye"].labels) == ["7"]


def test_several_choices_become_several_questions(run):
    data = read_dataset(
        run(
            task(1, "ear.png", annotation(1, 7, choice("red", "wet")), annotation(2, 8, choice())),
            task(2, "eye.png", annotation(3, 7, choice("wet"))),
        )
    )
    assert data.classes.names == ("no", "yes")
    said = {case.name: case.read_labels().array.tolist() for case in data}
    assert said == {"ear [red]": [1, 0], "ear [wet]": [1, 0], "eye [red]": [0], "eye [wet]": [1]}


def test_choosing_twice_is_told(run):
    twice = task(1, "ear.png", annotation(1, 7, choice("sick")), annotation(2, 7, choice("well")))
    with pytest.raises(InputError, match="twice, the second time in annotation 2"):
        run(twice)


def test_every_fault_by_task_and_annotator(run, tmp_path):
    short = result("brushlabels", {"rle": encode_brush(np.ones((24, 32)))[:-3]}, id="b9")
    alien = result("polygonlabels", {"points": [[1, 1], [9, 1], [9, 9]]}, "drusen", id="p3")
    square = result("rectanglelabels", {"x": 0, "y": 0, "width": 50, "height": 50})
    with pytest.raises(InputError, match=r"ear.png \(task 1, annotation 2\), rater 8: result p3"):
        run(
            task(1, "ear.png", annotation(1, 7, square), annotation(2, 8, alien)),
            classes=["lesion"],
        )
    with pytest.raises(
        InputError, match=r"case ear \(task 1\), rater 7: result b9: is an RLE that"
    ):
        run(task(1, "ear.png", annotation(1, 7, short)))
    with pytest.raises(InputError, match=r"nose.png.*\(task 5\): image .* is not in"):
        run(task(5, "nose.png", annotation(1, 7, square)))
    with pytest.raises(InputError, match="twice, the second time in annotation 2"):
        run(task(1, "ear.png", annotation(1, 7, square), annotation(2, 7, square)))
    turned = square | {"original_width": 24, "original_height": 32}
    with pytest.raises(InputError, match="sides are swapped"):
        run(task(1, "ear.png", annotation(1, 7, turned)))
    assert not (tmp_path / "study").exists()


def test_the_small_export_is_told_from_the_whole(run):
    with pytest.raises(InputError, match="task 3 has no list 'annotations'"):
        run({"id": 3, "image": "ear.png", "choice": "well", "annotator": 1})


def test_questions_about_images_of_one_name_in_two_folders_stay_apart(tmp_path):
    def task(number, folder, choice):
        results = [
            {
                "id": f"{number}-{question}",
                "type": "choices",
                "from_name": question,
                "to_name": "image",
                "value": {"choices": [choice]},
            }
            for question in ("kind", "size")
        ]
        done = {"id": number, "completed_by": "anna", "result": results}
        return {"id": number, "data": {"image": f"/d/{folder}/1.jpg"}, "annotations": [done]}

    (tmp_path / "ls.json").write_text(json.dumps([task(1, "a", "cat"), task(2, "b", "dog")]))
    import_study("label-studio", [tmp_path / "ls.json"], tmp_path / "study")
    found = {case.name for case in read_dataset(tmp_path / "study")}
    assert found == {
        f"/d/{folder}/1.jpg [{asked}]" for folder in "ab" for asked in ("kind", "size")
    }


def imported_names(tmp_path, *tasks):
    (tmp_path / "ls.json").write_text(json.dumps(tasks))
    import_study("label-studio", [tmp_path / "ls.json"], tmp_path / "study")
    return {case.name: list(case.labels) for case in read_dataset(tmp_path / "study")}


def about(number, data, *results):
    return {"id": number, "data": data, "annotations": [annotation(number, number, *results)]}


def test_texts_of_one_ward_stay_apart(tmp_path):
    found = imported_names(
        tmp_path,
        about(1, {"site": "ward A", "text": "Is it good? The first says yes"}, choice("cat")),
        about(2, {"site": "ward A", "text": "Is it good? The second says no"}, choice("dog")),
        about(3, {"site": "ward B", "text": "other"}, choice("dog")),
        about(4, {"site": "ward B", "text": "other"}, choice("cat")),
    )
    assert found == {
        "Is it good? The first says yes": ["1"],
        "Is it good? The second says no": ["2"],
        "other": ["3", "4"],
    }


def test_texts_that_no_field_alone_tells_apart(tmp_path):
    pairs = [("a", "x"), ("a", "y"), ("b", "x")]
    tasks = [
        about(n, {"left": left, "right": right}, choice("same"))
        for n, (left, right) in enumerate(pairs, 1)
    ]
    assert set(imported_names(tmp_path, *tasks)) == {"a, x", "a, y", "b, x"}


def test_questions_are_about_the_image_not_its_ward(tmp_path):
    tasks = [
        about(
            n,
            {"site": "ward A", "image": f"/data/upload/p{n}.png"},
            choice("cat", question="kind"),
            choice("big", question="size"),
        )
        for n in (1, 2)
    ]
    assert set(imported_names(tmp_path, *tasks)) == {
        f"p{n} [{asked}]" for n in (1, 2) for asked in ("kind", "size")
    }


def test_answers_about_parts_of_a_text_are_refused(tmp_path):
    parts = about(1, {"text": "first"}, choice("cat"), choice("dog"))
    with pytest.raises(InputError, match="annotation 1 answers 'sick' by cat and by dog"):
        imported_names(tmp_path, parts)
