"""MrPrism: segmentation and rater confidences that calibrate each other, recurrence by recurrence.

Two networks face each other. ConP, the converging prism, segments an image given how far each
rater is to be trusted. DivP, the diverging prism, tells from that segmentation what each rater
would draw, hence how far to trust them. Each learns from what the other said last.
"""

from multirater.nn.prism.network import PrismNetwork

__all__ = ["PrismNetwork"]
