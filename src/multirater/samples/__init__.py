"""Real data small enough to travel with the package."""

from multirater.samples.dataset import digits_dataset
from multirater.samples.digits import Digits, load_digits

__all__ = ["Digits", "digits_dataset", "load_digits"]
