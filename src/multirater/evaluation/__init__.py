"""Predictions and references in, one table of results out; arrays only."""

from multirater.evaluation.differences import paired_differences
from multirater.evaluation.result import Evaluation
from multirater.evaluation.scoring import evaluate, evaluate_many

__all__ = ["Evaluation", "evaluate", "evaluate_many", "paired_differences"]
