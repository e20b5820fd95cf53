"""Training: from images and disagreeing labels to a network, on Lightning and MONAI."""

from multirater.train.config import TrainConfig
from multirater.train.run import Run, read_run, resume, train

__all__ = ["Run", "TrainConfig", "read_run", "resume", "train"]
