"""Files in and out: images, labels, and data sets as one long table."""

from multirater.io.arrays import dataset_from_arrays
from multirater.io.formats.images import read_image, write_image
from multirater.io.formats.labels import read_label, write_label
from multirater.io.read import read_dataset
from multirater.io.survey import Survey, survey
from multirater.io.write import write_dataset

__all__ = [
    "Survey",
    "dataset_from_arrays",
    "read_dataset",
    "read_image",
    "read_label",
    "survey",
    "write_dataset",
    "write_image",
    "write_label",
]
