"""Recipes: the data sets of the papers, from the layout they are published in.

Each `import_<name>(source, folder, ...)` writes a data set and returns the path of its manifest.
Intensities stay as they are: every case and channel is normalised in training.
"""

from multirater.io.importers.recipes.brats import import_brats
from multirater.io.importers.recipes.cityscapes import import_cityscapes
from multirater.io.importers.recipes.les_av import import_les_av
from multirater.io.importers.recipes.lidc_crops import import_lidc_crops
from multirater.io.importers.recipes.mnist import import_mnist
from multirater.io.importers.recipes.ms_lesion import import_ms_lesion
from multirater.io.importers.recipes.qubiq import import_qubiq
from multirater.io.importers.recipes.refuge import import_refuge
from multirater.io.importers.recipes.riga import import_riga

__all__ = [
    "import_brats",
    "import_cityscapes",
    "import_les_av",
    "import_lidc_crops",
    "import_mnist",
    "import_ms_lesion",
    "import_qubiq",
    "import_refuge",
    "import_riga",
]
