"""Small files of the layouts that recipes read."""

from pathlib import Path

import nibabel
import numpy as np
import pytest


def save_nifti(path: Path, values, affine=None) -> Path:
    """Write an array (x, y, z) by nibabel alone, as the publishers of a data set would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4) if affine is None else affine), path)
    return path


@pytest.fixture
def nifti():
    return save_nifti
