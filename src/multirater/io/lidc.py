"""LIDC-IDRI under the name it had first; it lives in `io.importers.lidc`."""

from multirater.io.importers.lidc import *  # noqa: F403
