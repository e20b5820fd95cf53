from collections import Counter

import numpy as np
import pytest
from PIL import Image

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_les_av
from multirater.simulate import SimulatedRater, simulate_dataset


@pytest.fixture
def photographs(tmp_path):
    root = tmp_path / "LES-AV"
    for number in range(11):
        for folder in ("images", "vessel-segmentations", "masks"):
            (root / folder).mkdir(parents=True, exist_ok=True)
        vessels = np.zeros((20, 24), np.uint8)
        vessels[number : number + 3] = 255
        Image.fromarray(np.full((20, 24, 3), number, np.uint8)).save(
            root / "images" / f"{number}.png"
        )
        Image.fromarray(vessels).save(root / "vessel-segmentations" / f"{number}.png")
        Image.fromarray(np.full((20, 24), 255, np.uint8)).save(root / "masks" / f"{number}.png")
    return root


def test_photographs_have_vessels_as_truth(photographs, tmp_path):
    data = survey(read_dataset(import_les_av(photographs, tmp_path / "data", seed=2))).dataset
    assert Counter(case.split for case in data) == {"train": 9, "test": 2}
    case = data["7"]
    assert case.read_image().array.shape == (3, 20, 24)
    assert (case.read_truth().array == 1).sum() == 3 * 24
    drawn = simulate_dataset(data, [SimulatedRater("coarse", 0.3)], seed=0)
    assert len(drawn[0].drawings) == 2


def test_missing_and_misfitting_vessels_are_told_together(photographs, tmp_path):
    (photographs / "vessel-segmentations" / "3.png").unlink()
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(photographs / "vessel-segmentations" / "5.png")
    with pytest.raises(InputError) as caught:
        import_les_av(photographs, tmp_path / "data")
    assert [fault.case for fault in caught.value.faults] == ["3", "5"]
    with pytest.raises(InputError, match="no photographs"):
        import_les_av(tmp_path, tmp_path / "data")
