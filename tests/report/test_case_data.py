import numpy as np
import pytest

from multirater import dataset_from_arrays, read_dataset
from multirater.io.survey import survey
from multirater.report.case_data import MOST_SLICES, choose_slices, make_encoder
from multirater.report.contents import gather
from multirater.report.reference import choose_reference
from multirater.report.report import make_page
from multirater.report.run_lengths import decode_runs
from multirater.report.subject import Subject


def encoder_of(dataset, room=100_000):
    found = survey(dataset)
    subject = Subject("s", ("data set",), found.dataset)
    reference = choose_reference(subject, len(found.classes))
    return make_encoder(subject, found.classes, reference, {}, room)


def restored(content, column):
    """Labels of a layer as the page sees them, (n_slices, height, width)."""
    shape = (len(content["slices"]), content["height"], content["width"])
    index = np.concatenate([decode_runs(part) for part in content["runs"]]).reshape(shape)
    return np.array(content["rows"])[index][..., column]


def test_every_layer_comes_back_as_it_was(kinds):
    data = read_dataset(kinds["truth"])
    encoder = encoder_of(data)
    case = data[0]
    content = encoder.encode(case)
    for column, rater in enumerate(data.raters):
        assert np.array_equal(restored(content, column)[0], case.read_label(rater).array)
    truth = [layer.kind for layer in encoder.layers].index("truth")
    assert np.array_equal(restored(content, truth)[0], case.read_truth().array)


def test_the_majority_is_a_layer_when_there_is_no_truth(kinds):
    data = read_dataset(kinds["no truth"])
    encoder = encoder_of(data)
    content = encoder.encode(data[0])
    votes = data[0].read_labels(data.raters).array.mean(0)
    column = [layer.kind for layer in encoder.layers].index("reference")
    assert np.array_equal(restored(content, column)[0], (votes > 0.5).astype(int))


def test_volumes_are_slices_where_somebody_drew(kinds):
    data = read_dataset(kinds["volumes"])
    content = encoder_of(data).encode(data[0])
    labels = data[0].read_labels(data.raters).array
    assert content["depth"] == 10
    assert set(np.flatnonzero((labels > 0).any((0, 2, 3)))) <= set(content["slices"])
    assert len(content["pictures"][0]) == len(content["slices"]) == len(content["runs"])
    assert np.array_equal(restored(content, 1), labels[1][content["slices"]])
    # Who did not label the case is missing, not background.
    assert (restored(content, 2) == -1).all()


def test_deep_volumes_are_thinned_out():
    slices = choose_slices([np.ones((200, 4, 4), int)], (200, 4, 4))
    assert len(slices) == MOST_SLICES
    assert (slices[0], slices[-1]) == (0, 199)


def test_class_labels_have_answers_instead_of_outlines(kinds):
    data = read_dataset(kinds["classes"])
    content = encoder_of(data).encode(data[0])
    assert content["answers"][0] == int(data[0].read_label("anna").array)
    assert "runs" not in content
    assert len(content["pictures"]) == 1


def test_noise_keeps_to_its_room(rng):
    noise = rng.integers(0, 2, (1, 5, 512, 512))
    data = dataset_from_arrays(noise, images=rng.integers(0, 255, (1, 512, 512)).astype(np.uint8))
    content = encoder_of(data, room=68_000).encode(data[0])
    assert content["coarse"] > 1
    assert sum(map(len, content["runs"])) + len(content["pictures"][0][0]) < 72_000


@pytest.mark.parametrize("kind", ["no images", "single rater", "forty raters"])
def test_odd_data_sets_can_be_encoded(kinds, kind):
    page = make_page(gather([kinds[kind]]), cases=3)
    assert len(page.chosen) == 3
    assert page.sampled
    content = page.case(0)
    assert ("pictures" in content) == (kind != "no images")
