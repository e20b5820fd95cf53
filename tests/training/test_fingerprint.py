from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.io.survey import survey
from multirater.training.fingerprint import fingerprint
from multirater.types import Geometry, Image, Source


def seen(images, labels=None, **more):
    images = [np.asarray(image) for image in images]
    if labels is None:
        labels = [np.zeros((2, *image.shape[1:]), dtype=int) for image in images]
        for label in labels:
            label[0, ..., 2:5, 3:6] = 1
            label[1, ..., 2:5, 3:5] = 1
    return fingerprint(survey(dataset_from_arrays(labels, images=images, **more)))


def test_sizes_labels_and_disputes():
    found = seen([np.ones((1, 10, 20)), np.ones((1, 12, 20))])
    assert (found.size, found.smallest, found.largest) == ((11, 20), (10, 20), (12, 20))
    assert found.labels == {"rater 1": 2, "rater 2": 2}
    assert found.object_size[1] == (3, 3)
    assert found.disputed == pytest.approx(6 / (200 + 240), abs=1e-5)
    assert found.class_share[1] == pytest.approx(30 / 880, abs=1e-5)


@pytest.mark.parametrize(
    ("low", "high", "channels", "space", "kind"),
    [
        (0, 255, 3, (20, 20), "colour"),
        (-1000, 1500, 1, (16, 20, 20), "ct"),
        (-3, 4, 1, (20, 20), "other"),
        (0, 4000, 1, (16, 20, 20), "other"),
        (0, 255, 1, (20, 20), "other"),
    ],
)
def test_kinds_of_images(low, high, channels, space, kind):
    image = np.random.default_rng(0).integers(low, high, (channels, *space), endpoint=True)
    assert seen([image]).image == kind


@pytest.mark.parametrize("spacing", [(0.0, 1.0), (float("nan"), 1.0)])
def test_spacings_that_cannot_be(spacing):
    data = dataset_from_arrays([np.ones((2, 10, 20), dtype=int)], images=[np.ones((1, 10, 20))])
    (case,) = data.cases
    image = Image(np.ones((1, 10, 20)), replace(Geometry.default(2), spacing=spacing))
    own = replace(data, cases=(replace(case, image=Source(lambda: image)),))
    with pytest.raises(InputError, match="image has a spacing of"):
        fingerprint(survey(own))


def test_a_pixel_that_is_no_number_is_refused():
    image = np.ones((1, 10, 20))
    image[0, 3, 4] = np.nan
    with pytest.raises(InputError, match="NaN or infinite at 1 place"):
        seen([image])


def test_the_truth_is_never_looked_at():
    images = [np.ones((1, 10, 20))]
    truths = [np.ones((10, 20), dtype=int)]
    assert seen(images) == seen(images, truths=truths)


def test_images_of_several_channels_are_refused_with_a_case_of_each():
    with pytest.raises(InputError) as caught:
        seen([np.ones((1, 10, 20)), np.ones((1, 10, 20)), np.ones((3, 10, 20))])
    (fault,) = caught.value.faults
    assert fault.found == "images with 1 channel (case 0) and 3 channels (case 2)"
    assert "make a study of each" in fault.fix
