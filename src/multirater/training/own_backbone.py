"""A network of the user's own as backbone: a module is no JSON, so a run keeps it in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from torch import nn

from multirater.training.config import TrainConfig

OWN = "own"
"""What `config.json` says of such a backbone."""

_FILE = "backbone.pt"


def keep_backbone(config: TrainConfig, folder: Path) -> TrainConfig:
    """Write a module among the settings into the run folder; its name takes its place."""
    if not isinstance(config.backbone, nn.Module):
        return config
    torch.save(config.backbone, folder / _FILE)
    return replace(config, backbone=OWN)


def with_backbone(config: TrainConfig, folder: Path) -> TrainConfig:
    """Put the module that a run keeps back among its settings."""
    if config.backbone != OWN:
        return config
    module = torch.load(folder / _FILE, map_location="cpu", weights_only=False)
    return replace(config, backbone=module)
