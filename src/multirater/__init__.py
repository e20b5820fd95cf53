"""Learn from labels that disagree."""

__version__ = "0.1.0"
