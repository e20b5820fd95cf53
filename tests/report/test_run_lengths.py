import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from multirater.report.run_lengths import decode_runs, encode_runs


@given(
    arrays.arrays(
        np.int64,
        arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9),
        elements=st.sampled_from([0, 1, 127, 128, 300, 70_000]),
    )
)
def test_what_is_encoded_comes_back(values):
    assert decode_runs(encode_runs(values)).tolist() == values.ravel().tolist()


def test_a_long_run_takes_few_bytes():
    assert len(encode_runs(np.zeros((512, 512), int))) < 40
