import inspect
from dataclasses import fields

import pytest

from multirater.cli.settings import settings_of
from multirater.cli.training import train
from multirater.errors import InputError
from multirater.training.config import TrainConfig


def options():
    return {
        name: each.annotation.__metadata__[0]
        for name, each in inspect.signature(train).parameters.items()
        if hasattr(each.annotation, "__metadata__")
    }


def test_every_setting_with_a_group_is_an_option_with_its_words():
    shown = [each for each in fields(TrainConfig) if each.metadata["group"]]
    made = options()
    assert {each.name for each in shown} <= set(made)
    for each in shown:
        assert made[each.name].help == each.metadata["words"]
        least = None if each.metadata["text"] else each.metadata["least"]
        assert made[each.name].min == least


def test_what_a_setting_is_without_being_given_is_said_from_the_defaults():
    made = options()
    assert made["confusion"].show_default == "pixel; global for class labels"
    assert made["epochs"].show_default == "planned for the study"
    assert made["rank"].show_default is True


def test_nothing_given_is_nothing_set():
    nothing = {each.name: None for each in fields(TrainConfig)}
    assert settings_of(nothing | {"channels": "", "options": []}) == {}


def test_text_is_read_as_what_it_stands_for():
    given = {"channels": "4, 8", "backbone_options": '{"a": 1}', "options": ["x=2"], "rank": 3}
    assert settings_of({**given, "backbone": "unet", "memory": "6GB", "time": "2m"}) == {
        "channels": (4, 8),
        "backbone_options": {"a": 1},
        "options": {"x": "2"},
        "rank": 3,
        "backbone": "unet",
        "memory": 6 * 2**30,
        "time": 120.0,
    }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("patch", "96x96", "--patch 96x96"),
        ("backbone_options", "{", "JSON"),
        ("backbone_options", "[1]", "such as"),
        ("options", ["x"], "--set x"),
    ],
)
def test_what_cannot_be_read_is_said(name, text, message):
    with pytest.raises(InputError, match=message):
        settings_of({name: text})
