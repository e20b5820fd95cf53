import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from multirater.nn.standardise import Standardise

TABLES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 20), st.integers(1, 4)),
    elements=st.floats(-1e4, 1e4, width=32),
)


@given(TABLES, st.integers(1, 7))
def test_batches_of_any_size_give_the_mean_and_variance_of_all_cases(table, size):
    layer = Standardise(table.shape[1])
    for batch in torch.from_numpy(table).split(size):
        layer(batch)
    exact = table.astype(np.float64)
    scale = np.abs(exact).max(initial=1)
    np.testing.assert_allclose(layer.mean, exact.mean(0), atol=1e-5 * scale)
    np.testing.assert_allclose(layer.variance, exact.var(0), atol=1e-5 * scale**2)


def test_a_feature_that_never_varies_becomes_zero():
    layer = Standardise(2)
    out = layer(torch.tensor([[1e6, 0.0], [1e6, 2.0]]))
    assert out.tolist() == [[0.0, -1.0], [0.0, 1.0]]


def test_prediction_changes_nothing_and_does_not_depend_on_the_batch():
    layer = Standardise(1)
    layer(torch.tensor([[1.0], [3.0]]))
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    alone, together = layer.eval()(torch.tensor([[5.0]])), layer(torch.tensor([[5.0], [99.0]]))
    assert alone[0] == together[0]
    assert all(torch.equal(before[name], value) for name, value in layer.state_dict().items())
