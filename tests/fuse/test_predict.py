"""New items for raters known from a fusion."""

import numpy as np
import pandas as pd
import pytest

from multirater import fuse
from multirater.errors import InputError, MultiraterWarning

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

FUSERS = [fuse.mean, fuse.majority_vote, fuse.staple, fuse.dawid_skene, fuse.one_coin, fuse.mace]


def _posterior(labels, cm, prior):
    """Bayes' rule, one item at a time."""
    result = []
    for item in labels.T:
        joint = np.array(prior, dtype=float)
        for rater, label in enumerate(item):
            if label != -1:
                joint = joint * cm[rater, :, label]
        result.append(joint / joint.sum())
    return np.array(result)


@pytest.fixture(params=FUSERS, ids=lambda fuser: fuser.__name__)
def known(request, plant):
    """A fusion of 150 items, and 50 new items by the same raters."""
    _, labels = plant(0, n_items=200, missing=0.3)
    return request.param, labels[:, :150], labels[:, 150:]


def test_array(known):
    fuser, old, new = known
    result = fuser(old)
    probability = result.predict_proba(new)
    assert probability.shape == (3, 50)
    assert np.allclose(probability.T, _posterior(new, result.cm, result.prior), atol=1e-6)


def test_image_keeps_its_shape(known):
    fuser, old, new = known
    result = fuser(old)
    image = result.predict_proba(new.reshape(5, 5, 10))
    assert np.array_equal(image.reshape(3, 50), result.predict_proba(new))


def test_wide_array(known):
    fuser, old, new = known
    result = fuser(old.T, rater_axis=1)
    expected = fuser(old).predict_proba(new)
    assert np.array_equal(result.predict_proba(new.T, rater_axis=1), expected)


def test_several_cases(known):
    fuser, old, new = known
    result = fuser(old)
    first, second = result.predict_proba([new[:, :20], new[:, 20:]], pooled=True)
    assert np.allclose(np.hstack([first, second]), result.predict_proba(new))


def test_tables(known, long_table):
    fuser, old, new = known
    result = fuser(long_table(old), raters=range(5))
    expected = _posterior(new, result.cm, result.prior)
    wide = pd.DataFrame(np.where(new == -1, np.nan, new).T)
    for table in (long_table(new), wide):
        probability = result.predict_proba(table)
        assert list(probability.columns) == [0, 1, 2]
        tasks = probability.index.to_numpy()
        assert np.allclose(probability.to_numpy(), expected[tasks], atol=1e-12)


def test_items_of_the_fusion_itself(plant):
    """At convergence the known raters say of old items what the fusion said."""
    _, labels = plant(1)
    result = fuse.staple(labels, tol=1e-15)
    assert np.allclose(result.predict_proba(labels), result.probability, atol=1e-6)


def test_unknown_raters_are_left_out_with_a_warning(plant, long_table):
    _, labels = plant(2, n_items=60)
    result = fuse.dawid_skene(long_table(labels))
    new = pd.DataFrame({"task": ["t", "t", "u"], "worker": [0, "zoe", "zoe"], "label": [1, 2, 0]})
    with pytest.warns(MultiraterWarning, match="1 rater unknown .*first: zoe") as caught:
        probability = result.predict_proba(new)
    assert caught[0].filename == __file__
    said_one = result.prior * result.cm[0, :, 1]
    assert probability.loc["t"].to_numpy() == pytest.approx(said_one / said_one.sum())
    assert probability.loc["u"].to_numpy() == pytest.approx(result.prior)
    with pytest.warns(MultiraterWarning, match="first: zoe"):
        result.predict_proba(pd.DataFrame({0: [1], "zoe": [2]}))


def test_an_unknown_label_is_an_error(plant, long_table):
    _, labels = plant(3, n_items=60)
    result = fuse.dawid_skene(long_table(labels))
    with pytest.raises(InputError, match="label 7"):
        result.predict_proba(pd.DataFrame({"task": [1], "worker": [0], "label": [7]}))
    with pytest.raises(InputError, match="names for 2 raters"):
        result.predict_proba(np.zeros((2, 4), dtype=int))
