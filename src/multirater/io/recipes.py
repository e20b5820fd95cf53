"""Recipes under the name they had first; they live in `io.importers.recipes`."""

from multirater.io.importers.recipes import *  # noqa: F403
