"""Decide how to train from what a study looks like: a pure function of its fingerprint.

View, grid and intensities; patch, depth of the network and batch, within a budget of memory; the
length of the training in steps; which patches, and how they are changed. Every decision comes with
its reason. No torch: a plan can be made, read and changed anywhere.
"""

from multirater.training.plan.decide import plan_of
from multirater.training.plan.record import Plan

__all__ = ["Plan", "plan_of"]
