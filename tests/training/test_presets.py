"""The numbers of Table 7 of Zhang 2020, and of appendix A of Tanno 2019."""

from dataclasses import replace

import pytest
from torch import nn

from multirater.errors import InputError
from multirater.training.config import TrainConfig
from multirater.training.presets import preset
from multirater.training.run_folder import RunData, build_network

TABLE_7 = {  # learning rate, epochs, batch size, weight of the trace
    "mnist": (1e-4, 60, 2, 0.7),
    "ms-lesion": (1e-4, 55, 2, 0.7),
    "brats": (1e-4, 60, 8, 1.5),
    "lidc": (1e-4, 75, 4, 0.9),
}


@pytest.mark.parametrize("name", TABLE_7)
def test_what_is_printed(name):
    config = TrainConfig(**preset(f"{name}-printed"))
    said = (config.warmup, config.rate, config.augmentation)
    assert said == ("trace", "constant", "flips")
    printed = (config.learning_rate, config.epochs, config.batch_size, config.trace_weight)
    assert printed == TABLE_7[name]
    assert config.confusion_learning_rate == config.learning_rate
    assert (config.method, config.confusion, config.augment) == ("cm", "pixel", True)
    assert tuple(config.channels) == (32, 64, 128, 256)


@pytest.mark.parametrize("name", TABLE_7)
def test_a_preset_does_not_have_the_weight_that_loses_the_truth(name):
    config = TrainConfig(**preset(name))
    assert config.trace_weight == 0.01
    assert (config.warmup, config.rate, config.augmentation) == ("fixed", "one-cycle", "all")


def test_volumes_are_seen_as_slices():
    views = {name: preset(name)["view"] for name in TABLE_7}
    assert views == {"mnist": "2d", "ms-lesion": "slices", "brats": "slices", "lidc": "2d"}


@pytest.mark.parametrize(
    ("name", "space", "n_channels", "n_classes"),
    [("tanno-mnist", (28, 28), 1, 10), ("tanno-cardiac", (96, 96), 1, 6)],
)
def test_class_labels_of_tanno_2019(name, space, n_channels, n_classes):
    config = TrainConfig(**preset(name))
    printed = (config.learning_rate, config.epochs, config.batch_size, config.trace_weight)
    assert printed == (1e-3, 200, 50, 0.01)
    assert (config.validation, config.augment) == (0.1, False)
    data = RunData(("a", "b"), ("x",) * n_classes, ("",) * n_classes, n_channels, 0, space)
    network = build_network(config, replace(data, kind="classes"))
    # Global pooling leads straight to the last layer.
    linear = [each for each in network.modules() if isinstance(each, nn.Linear)]
    assert [each.out_features for each in linear] == [n_classes]


def test_photographs_of_tanno_2019_go_through_fifty_layers():
    settings = preset("tanno-cifar10")
    assert (settings["backbone"], settings["epochs"]) == ("resnet50", 200)


def test_a_preset_can_be_changed_without_changing_the_next():
    preset("mnist")["epochs"] = 1
    assert preset("mnist")["epochs"] == 60


def test_an_unknown_name_is_told_with_the_known_ones():
    with pytest.raises(InputError, match=r"no preset 'cifar'(.|\n)*mnist, ms-lesion, brats, lidc"):
        preset("cifar")
