import pytest

from averaging_choice import WAYS, with_averaging
from multirater.training.averaging import AverageWeights


@pytest.mark.parametrize(("way", "expected"), zip(WAYS, (False, True, False, True), strict=True))
def test_a_way_averages_or_does_not(way, expected):
    method = with_averaging(way.partition(",")[0], way)
    assert (AverageWeights in method.callbacks) == expected
