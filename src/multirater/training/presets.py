"""The settings of Zhang 2020 and Tanno 2019 for their data sets, as printed in the papers.

**Zhang 2020**, drawings: Table 7 says learning rate, epochs, batch size, augmentation (random
flips) and the weight λ of the trace. From the text come the backbone, a U-Net of 32-64-128-256
channels, and the 20 % of the training images of MNIST and MS that are held out.

**The printed λ are no recommendation.** They were tuned with the paper's code listing, which
departs from its equation (4): it applies softmax twice, and it penalises the trace of one rater
instead of all. Here the equation is what is trained, for which these weights are large; choose
`trace_weight` again by the held-out likelihood of the raters' labels, which needs no truth.

Other differences: the paper trains by Adam at a constant rate, here the rate is the peak of a
one-cycle schedule; `augment` does more than flips; `warmup_epochs` is not printed, so that the
default holds.

**Tanno 2019**, class labels (`tanno-...`): appendix A. No augmentation, 10 % of the training images
held out, matrices and network at the same rate. The paper trains by Adam at 1e-3, on CIFAR-10
divided by ten every 50 epochs; here the rate is the peak of a one-cycle schedule.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from multirater.errors import Fault, InputError
from multirater.words import did_you_mean

_ALL: dict[str, Any] = {
    "method": "cm",
    "confusion": "pixel",
    "likelihood": "marginal",
    "backbone": "unet",
    "channels": (32, 64, 128, 256),
    "learning_rate": 1e-4,
    "confusion_learning_rate": 1e-4,
    "augment": True,
}

_OF_CLASSES: dict[str, Any] = {
    "method": "cm",
    "confusion": "global",
    "likelihood": "marginal",
    "trace_weight": 0.01,
    "warmup_epochs": 0,
    "learning_rate": 1e-3,
    "confusion_learning_rate": 1e-3,
    "batch_size": 50,
    "epochs": 200,
    "validation": 0.1,
    "augment": False,
}

PRESETS: dict[str, dict[str, Any]] = {
    "mnist": {
        **_ALL,
        "view": "2d",
        "epochs": 60,
        "batch_size": 2,
        "trace_weight": 0.7,
        "validation": 0.2,
    },
    "ms-lesion": {
        **_ALL,
        "view": "slices",
        "epochs": 55,
        "batch_size": 2,
        "trace_weight": 0.7,
        "validation": 0.2,
    },
    "brats": {**_ALL, "view": "slices", "epochs": 60, "batch_size": 8, "trace_weight": 1.5},
    "lidc": {**_ALL, "view": "2d", "epochs": 75, "batch_size": 4, "trace_weight": 0.9},
    "tanno-mnist": {**_OF_CLASSES, "backbone": "cnn", "n_features": 64},
    "tanno-cifar10": {**_OF_CLASSES, "backbone": "resnet50", "n_features": 2048},
    "tanno-cardiac": {**_OF_CLASSES, "backbone": "cnn-128", "n_features": 128},
}
"""Fields of `TrainConfig` by data set. BraTS and LIDC have a split `val` of their own."""


def preset(name: str) -> dict[str, Any]:
    """Return the settings for a data set, to be changed at will.

    Args:
        name: `mnist`, `ms-lesion`, `brats` or `lidc` (drawings); `tanno-mnist`, `tanno-cifar10`
            or `tanno-cardiac` (class labels).

    Example:
        >>> settings = preset("brats") | {"trace_weight": 0.01}
        >>> settings["epochs"], settings["batch_size"]
        (60, 8)
    """
    if name not in PRESETS:
        raise InputError(
            Fault(
                f"no preset {name!r}{did_you_mean(name, PRESETS)}",
                expected=f"one of {', '.join(PRESETS)}",
                fix="choose one of them, or give the settings one by one",
            )
        )
    return deepcopy(PRESETS[name])
