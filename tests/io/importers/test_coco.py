"""COCO files, held against pycocotools."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image as Pillow
from pycocotools import mask as masks

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.coco_masks import mask_of, rle_of
from multirater.io.importers.study import import_study

SIZE = {"width": 32, "height": 24}
IMAGES = [{"id": 7, "file_name": "ear.png", **SIZE}, {"id": 8, "file_name": "eye.png", **SIZE}]
CATEGORIES = [{"id": 30, "name": "vessel"}, {"id": 5, "name": "lesion"}]
SQUARE = [[4, 4, 12, 4, 12, 12, 4, 12]]


def annotation(number, image, category, outline, **more):
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "segmentation": outline,
        **more,
    }


def coco(path, *annotations, images=IMAGES, categories=CATEGORIES):
    content = {"images": images, "annotations": list(annotations), "categories": categories}
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def run(tmp_path, photos):
    photos(tmp_path / "photos")

    def imported(*files, **options):
        study = tmp_path / "study"
        import_study("coco", files, study, images=tmp_path / "photos", **options)
        return study

    return imported


def test_one_file_per_rater_later_above_earlier(tmp_path, run, read_labels):
    over = annotation(3, 7, 30, [[8, 8, 20, 8, 20, 20, 8, 20]])
    anna = coco(
        tmp_path / "anna.json",
        annotation(2, 7, 5, SQUARE),
        over,
        annotation(4, 8, 5, SQUARE),
    )
    bert = coco(tmp_path / "bert.json", annotation(1, 7, 30, SQUARE), images=IMAGES[:1])
    study = run(anna, bert)
    labels = read_labels(study)
    assert set(labels) == {("ear", "anna"), ("eye", "anna"), ("ear", "bert")}
    expected = np.zeros((24, 32), dtype=int)
    for index, outline in ((1, SQUARE), (2, over["segmentation"])):
        whole = masks.merge(masks.frPyObjects(outline, 24, 32))
        expected[masks.decode(whole) == 1] = index
    np.testing.assert_array_equal(labels["ear", "anna"], expected)
    assert (labels["ear", "bert"][4:12, 4:12] == 2).all()
    data = read_dataset(study)
    assert data.classes.names == ("background", "lesion", "vessel")
    assert data["ear"].image.paths[0].resolve() == (tmp_path / "photos" / "ear.png").resolve()


def test_a_category_called_background_is_class_0(tmp_path, run, read_labels):
    categories = [{"id": 1, "name": "background"}, {"id": 2, "name": "vessel"}]
    hole = [[6, 6, 10, 6, 10, 10, 6, 10]]
    drawn = annotation(1, 7, 2, SQUARE), annotation(2, 7, 1, hole)
    study = run(coco(tmp_path / "anna.json", *drawn, images=IMAGES[:1], categories=categories))
    assert read_dataset(study).classes.names == ("background", "vessel")
    label = read_labels(study)["ear", "anna"]
    assert label[5, 5] == 1
    assert (label[6:10, 6:10] == 0).all()


def test_annotator_field(tmp_path, run, read_labels):
    both = coco(
        tmp_path / "all.json",
        annotation(1, 7, 5, SQUARE, annotator="anna"),
        annotation(2, 7, 30, SQUARE, annotator=12),
        images=[IMAGES[0] | {"annotators": ["anna", 12, "cleo"]}],
    )
    labels = read_labels(run(both))
    assert sorted(labels) == [("ear", "12"), ("ear", "anna"), ("ear", "cleo")]
    assert not labels["ear", "cleo"].any()


@pytest.mark.parametrize(("unseen", "n_labels"), [("missing", 1), ("empty", 2)])
def test_image_without_annotation_must_be_explained(tmp_path, run, read_labels, unseen, n_labels):
    anna = coco(tmp_path / "anna.json", annotation(1, 7, 5, SQUARE))
    with pytest.raises(InputError, match=r"eye \(image 8\), rater anna.*\n.*\n.*--unseen missing"):
        run(anna)
    assert not (tmp_path / "study").exists()
    assert len(read_labels(run(anna, unseen=unseen))) == n_labels


def test_panoptic(tmp_path, run, read_labels):
    colours = np.zeros((24, 32, 3), dtype=np.uint8)
    colours[2:5, 2:9], colours[10:12, :] = (1, 2, 0), (44, 0, 0)
    (tmp_path / "anna").mkdir()
    Pillow.fromarray(colours).save(tmp_path / "anna" / "ear.png")
    segments = [{"id": 1 + 2 * 256, "category_id": 30}, {"id": 44, "category_id": 5}]
    entry = {"image_id": 7, "file_name": "ear.png", "segments_info": segments}
    labels = read_labels(run(coco(tmp_path / "anna.json", entry, images=IMAGES[:1])))
    assert np.unique(labels["ear", "anna"][2:5, 2:9]).tolist() == [2]
    assert np.count_nonzero(labels["ear", "anna"] == 1) == 2 * 32


def test_panoptic_pixels_of_no_segment_are_told_with_their_place(tmp_path, run):
    colours = np.zeros((24, 32, 3), dtype=np.uint8)
    colours[2:5, 2:9], colours[7, 8] = (44, 0, 0), (9, 0, 0)
    (tmp_path / "anna").mkdir()
    Pillow.fromarray(colours).save(tmp_path / "anna" / "ear.png")
    segments = [{"id": 44, "category_id": 5}]
    entry = {"image_id": 7, "file_name": "ear.png", "segments_info": segments}
    with pytest.raises(InputError, match="segment 9: 1 pixel of 768, at row 7, column 8"):
        run(coco(tmp_path / "anna.json", entry, images=IMAGES[:1]))


def test_every_fault_at_once_and_nothing_written(tmp_path, run):
    anna = coco(
        tmp_path / "anna.json",
        annotation(1, 7, 99, SQUARE),
        annotation(2, 8, 5, {"size": [3, 3], "counts": [9]}),
        annotation(3, 44, 5, SQUARE),
        images=[*IMAGES, {"id": 9, "file_name": "nose.png", **SIZE}],
    )
    with pytest.raises(InputError) as caught:
        run(anna)
    told = str(caught.value)
    assert "ear.png (image 7), rater anna" in told
    assert "annotation 1 is of category 99" in told
    assert "annotation 2 is an RLE of size [3, 3]" in told
    assert "annotation 3 is of image 44" in told
    assert "image nose.png is not in" in told
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("outline", "told"),
    [
        ({"size": [24, 32], "counts": [700]}, "ends before the image does"),
        ({"size": [24, 32], "counts": [7000]}, "cannot be decoded"),
        ({"size": [24, 32], "counts": "\u00ff"}, "RLE|decoded"),
        ([[1, 2, 3]], "polygons or RLE"),
        (None, "polygons or RLE"),
        ([[1, 2, "x", 3, 4, 5]], "polygons or RLE"),
    ],
)
def test_broken_annotation_is_named(tmp_path, run, outline, told):
    anna = coco(tmp_path / "anna.json", annotation(31, 7, 5, outline), images=IMAGES[:1])
    with pytest.raises(InputError, match=told) as caught:
        run(anna)
    assert "case ear (image 7), rater anna: annotation 31" in str(caught.value)
    assert not (tmp_path / "study").exists()


def test_two_images_of_one_id_are_refused(tmp_path, run):
    images = [IMAGES[0], IMAGES[1] | {"id": IMAGES[0]["id"]}]
    anna = coco(tmp_path / "anna.json", annotation(1, 7, 5, SQUARE), images=images)
    with pytest.raises(InputError, match="2 images have the id 7"):
        run(anna)


def test_cut_off_file(tmp_path, run):
    anna = coco(tmp_path / "anna.json", annotation(1, 7, 5, SQUARE))
    anna.write_text(anna.read_text()[:-9])
    with pytest.raises(InputError, match=r"anna\.json: cannot be read as JSON"):
        run(anna)


def test_categories_that_differ_between_raters(tmp_path, run):
    other = [{"id": 5, "name": "drusen"}]
    anna = coco(tmp_path / "anna.json", annotation(1, 7, 5, SQUARE), images=IMAGES[:1])
    bert = coco(tmp_path / "bert.json", images=IMAGES[:1], categories=other)
    with pytest.raises(InputError, match="category 5 is 'drusen'"):
        run(anna, bert)


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_rle_keeps_every_mask(mask):
    np.testing.assert_array_equal(mask_of(rle_of(mask), mask.shape), mask)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 9), st.integers(1, 9))
def test_counts_fill_the_image_or_are_refused(counts, height, width):
    outline = {"size": [height, width], "counts": counts}
    if sum(counts) != height * width:
        with pytest.raises(InputError):
            mask_of(outline, (height, width))
        return
    values = np.repeat(np.arange(len(counts)) % 2, counts)
    expected = values.reshape(width, height).T
    np.testing.assert_array_equal(mask_of(outline, (height, width)), expected)


@given(st.lists(st.floats(-40, 60), min_size=6, max_size=16).filter(lambda p: len(p) % 2 == 0))
def test_polygons_are_those_of_pycocotools(points):
    expected = masks.decode(masks.frPyObjects([points], 24, 32))[..., 0]
    np.testing.assert_array_equal(mask_of([points], (24, 32)), expected == 1)
