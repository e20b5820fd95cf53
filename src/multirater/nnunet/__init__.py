"""What nnU-Net is given: a trainer that learns from several raters, see docs/tools/nnunet.md."""

from pathlib import Path

TRAINERS = Path(__file__).parent / "trainers"
"""The folder for nnU-Net's own variable `nnUNet_extTrainer`: it looks for trainers there."""
