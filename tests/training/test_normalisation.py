import numpy as np
import pytest

from multirater.training import normalisation
from multirater.training.normalisation import Normalisation, normalise
from multirater.training.paged import in_file


@pytest.mark.parametrize("how", [Normalisation(), Normalisation("study", (9.0, 5.0), (2.0, 3.0))])
def test_part_by_part_and_in_a_file_it_is_the_same(how, monkeypatch):
    image = np.random.default_rng(0).integers(0, 255, (2, 50, 30)).astype(np.uint8)
    whole = normalise(image, how)
    monkeypatch.setattr(normalisation, "_PART_PIXELS", 100)
    assert np.allclose(normalise(image, how, in_file), whole, atol=1e-5)


def test_a_case_by_its_own_numbers_has_mean_zero_and_deviation_one():
    image = np.random.default_rng(1).normal(300, 20, (1, 64, 64))
    found = normalise(image)
    assert found.dtype == np.float32
    assert abs(float(found.mean())) < 1e-5
    assert float(found.std()) == pytest.approx(1, abs=1e-5)
