"""Real data small enough to travel with the package."""

from multirater.samples.digit_cases import digits_dataset
from multirater.samples.digits import Digits, load_digits

__all__ = ["Digits", "digits_dataset", "load_digits"]
