"""Training: from images and disagreeing labels to a network, on Lightning and MONAI."""

from multirater.training.config import TrainConfig
from multirater.training.prediction import predict
from multirater.training.predictor import Predictor
from multirater.training.run import Run, read_run, resume, train

__all__ = ["Predictor", "Run", "TrainConfig", "predict", "read_run", "resume", "train"]
