"""Training: from images and disagreeing labels to a network, on Lightning and MONAI."""

from multirater.training.config import TrainConfig
from multirater.training.prediction import Predictor, predict
from multirater.training.run import Run, read_run, resume, train

__all__ = ["Predictor", "Run", "TrainConfig", "predict", "read_run", "resume", "train"]
