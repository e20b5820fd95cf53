"""What every simulator of drawings promises, whatever it draws."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater.errors import InputError
from multirater.simulate import (
    MASK_KINDS,
    CoarseDrawing,
    MaskError,
    apply_coarse,
    apply_mask_error,
    simulate_coarse,
    simulate_mask,
)


@dataclass(frozen=True)
class Simulator:
    name: str
    options: dict[str, Any]

    def simulate(self, truth, **more):
        run = simulate_mask if "kind" in self.options else simulate_coarse
        return run(truth, **self.options, **more)

    def apply(self, truth, drawn, spacing=None):
        run = apply_mask_error if "kind" in self.options else apply_coarse
        return run(truth, drawn, spacing)

    def read(self, values):
        return (MaskError if "kind" in self.options else CoarseDrawing).from_dict(values)


SIMULATORS = [Simulator(kind, {"kind": kind, "strength": 1.5}) for kind in MASK_KINDS] + [
    Simulator(f"{polarity} {ratio}", {"polarity": polarity, "ratio": ratio, "noise": 1.0})
    for polarity in ("positive", "negative")
    for ratio in (1.0, 0.5, 0.01)
]
every_simulator = pytest.mark.parametrize("simulator", SIMULATORS, ids=lambda each: each.name)


def label_maps():
    """Noise of four classes and -1: the least regular shapes there are."""
    shapes = hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=7)
    dtypes = st.sampled_from([np.int16, np.int8, np.int64])
    return dtypes.flatmap(
        lambda dtype: hnp.arrays(dtype, shapes, elements=st.integers(-1, 3), fill=st.just(0))
    )


def blob(shape=(9, 24, 24), spacing=(3.0, 1.0, 1.0)):
    """Two nested balls, classes 1 and 2."""
    axes = np.ogrid[tuple(slice(size) for size in shape)]
    steps = zip(axes, shape, spacing, strict=True)
    away = np.sqrt(sum(((axis - size // 2) * step) ** 2 for axis, size, step in steps))
    return (away <= 9).astype(np.int16) + (away <= 5)


@every_simulator
@settings(max_examples=25, deadline=None)
@given(truth=label_maps(), seed=st.integers(0, 1000))
def test_any_label_map_gives_a_reproducible_label_of_known_classes(simulator, truth, seed):
    before = truth.copy()
    label, drawn = simulator.simulate(truth, seed=seed)
    again, _ = simulator.simulate(truth, seed=seed)
    np.testing.assert_array_equal(truth, before)
    np.testing.assert_array_equal(label, again)
    np.testing.assert_array_equal(label, simulator.apply(truth, drawn))
    assert label.shape == truth.shape
    assert label.dtype == np.int16
    assert set(np.unique(label)) <= {-1, 0, 1, *np.unique(truth).tolist()}
    assert (label[truth == -1] == -1).all()


@every_simulator
def test_recorded_parameters_survive_json_and_reproduce_the_label(simulator):
    truth = blob()
    label, drawn = simulator.simulate(truth, spacing=(3.0, 1.0, 1.0), seed=3)
    restored = simulator.read(json.loads(json.dumps(drawn.to_dict())))
    assert restored == drawn
    np.testing.assert_array_equal(label, simulator.apply(truth, restored, (3.0, 1.0, 1.0)))


@every_simulator
def test_seeds_differ(simulator):
    truth = blob()
    drawings = [simulator.simulate(truth, seed=seed) for seed in range(6)]
    assert len({json.dumps(drawn.to_dict()) for _, drawn in drawings}) == 6
    labels = {label.tobytes() for label, _ in drawings}
    assert len(labels) == (1 if simulator.name == "blank" else 6)


@every_simulator
@pytest.mark.parametrize("encoding", [bool, np.uint8, np.int32, np.int64])
def test_the_encoding_of_a_mask_does_not_matter(simulator, encoding):
    truth = blob() > 0
    expected, _ = simulator.simulate(truth.astype(np.int16), seed=1)
    np.testing.assert_array_equal(simulator.simulate(truth.astype(encoding), seed=1)[0], expected)


@every_simulator
def test_the_memory_layout_does_not_matter(simulator):
    truth = blob()
    expected, _ = simulator.simulate(truth, seed=1)
    np.testing.assert_array_equal(simulator.simulate(np.asfortranarray(truth), seed=1)[0], expected)


@every_simulator
@pytest.mark.parametrize("spacing", [(1.0,), (1.0, 1.0, 0.0), (1.0, 1.0, np.nan)])
def test_bad_spacing_is_refused(simulator, spacing):
    with pytest.raises(InputError, match="spacing"):
        simulator.simulate(blob(), spacing=spacing, seed=0)


@every_simulator
def test_fractions_are_refused(simulator):
    with pytest.raises(InputError, match=r"fractions such as 0\.5"):
        simulator.simulate(blob() / 2, seed=0)
