"""What a run says of its data, when somebody else has written it."""

import json
from dataclasses import asdict, replace

import pytest

from multirater.errors import InputError
from multirater.training.config import TrainConfig
from multirater.training.run_folder import RunData, build_network, read_data

DATA = RunData(("anna",), ("cat", "dog"), ("#000000", "#ffffff"), 3, 0, kind="classes")


def stored(folder, **changes):
    (folder / "data.json").write_text(json.dumps({**asdict(DATA), **changes}))
    return folder


def test_what_was_written_is_read(tmp_path):
    assert read_data(stored(tmp_path)) == DATA


@pytest.mark.parametrize(
    "changes",
    [
        {"raters": True},
        {"raters": [{}]},
        {"classes": ["cat"]},
        {"classes": [], "colours": []},
        {"colours": ["#000000", 5]},
        {"colours": ["#000000", "javascript:alert(1)"]},
        {"n_channels": "3"},
        {"n_channels": 0},
        {"ndim": None},
        {"space": [2.5]},
        {"kind": "boxes"},
        {"surprise": 1},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(tmp_path, changes):
    with pytest.raises(InputError, match=r"data\.json: cannot be read as description"):
        read_data(stored(tmp_path, **changes))


@pytest.mark.parametrize(
    "changes", [{"patch": (8, 8, 8)}, {"spacing": (1.0, 1.0, 1.0)}, {"space": (8, 8)}], ids=str
)
def test_settings_for_other_axes_than_the_images_have_are_refused(changes):
    data = replace(DATA, kind="masks", ndim=2)
    (name,) = changes
    with pytest.raises(InputError, match=f"{name} "):
        build_network(TrainConfig(method="cm", **changes), data)
