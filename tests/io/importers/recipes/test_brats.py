from collections import Counter

import nibabel
import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_brats
from multirater.simulate import SimulatedRater, simulate_dataset

MODALITIES = ("flair", "t1", "t1ce", "t2")
CASES = {"HGG": ["BraTS19_A_1", "BraTS19_B_1"], "LGG": ["BraTS19_C_1"]}
AFFINE = np.array([[-1, 0, 0, 0], [0, -1, 0, 239], [0, 0, 1, 0], [0, 0, 0, 1.0]])
SPACE = (200, 195, 2)  # x, y, z
LEFT, TOP = 4, 1


@pytest.fixture
def write_case(nifti, rng):
    def write(folder, *, space=SPACE):
        for modality in MODALITIES:
            image = rng.integers(0, 500, space).astype(np.int16)
            nifti(folder / f"{folder.name}_{modality}.nii.gz", image, AFFINE)
        # Zeros are quick to write and to read.
        truth = np.zeros(space, dtype=np.uint8)
        truth[90:100, 90:93, 0], truth[90:95, 90:92, 0], truth[:5, :4, 1] = 2, 4, 1
        nifti(folder / f"{folder.name}_seg.nii.gz", truth, AFFINE)

    return write


@pytest.fixture
def brats(tmp_path, write_case):
    root = tmp_path / "brats"
    for grade, names in CASES.items():
        for name in names:
            write_case(root / grade / name)
    (root / "HGG" / ".hidden").mkdir()
    (root / "name_mapping.csv").touch()
    return root


def stored(folder, kind):
    return np.asarray(nibabel.load(folder / f"{folder.name}_{kind}.nii.gz").dataobj).T


def faults_of(*args, **options):
    with pytest.raises(InputError) as caught:
        import_brats(*args, **options)
    return caught.value.faults


def test_centre_crops_of_four_channels_with_truth(brats, tmp_path):
    data = read_dataset(import_brats(brats, tmp_path / "data"))
    assert [case.name for case in data] == [name for names in CASES.values() for name in names]
    assert data.raters == ()
    assert len(data.classes) == 4
    source = brats / "LGG" / "BraTS19_C_1"
    image, truth = data["BraTS19_C_1"].read_image(), data["BraTS19_C_1"].read_truth()
    inside = (..., slice(TOP, TOP + 192), slice(LEFT, LEFT + 192))
    assert image.array.shape == (4, 2, 192, 192)
    for channel, modality in enumerate(MODALITIES):
        assert (image.array[channel] == stored(source, modality)[inside]).all()
    expected = stored(source, "seg")[inside].astype(int)
    assert set(np.unique(expected)) == {0, 1, 2, 4}
    expected[expected == 4] = 3
    assert (truth.array == expected).all()
    survey(data)


def test_voxels_stay_where_they_were_in_the_world(brats, tmp_path):
    import_brats(brats, tmp_path / "data")
    for folder in ("images", "truth"):
        file = nibabel.load(tmp_path / "data" / folder / "BraTS19_A_1.nii.gz")
        first_voxel = AFFINE @ [LEFT, TOP, 0, 1]
        assert np.allclose(file.affine[:, 3], first_voxel)
        assert np.allclose(file.affine[:3, :3], AFFINE[:3, :3])


def test_one_grade_only(brats, tmp_path):
    data = read_dataset(import_brats(brats, tmp_path / "data", grades=["HGG"]))
    assert [case.name for case in data] == CASES["HGG"]


def test_raters_can_be_simulated(brats, tmp_path):
    data = read_dataset(import_brats(brats, tmp_path / "data", grades=["LGG"]))
    simulated = simulate_dataset(data, [SimulatedRater("over"), SimulatedRater("good")], seed=0)
    assert simulated[0].read_labels().array.shape == (2, 2, 192, 192)


def test_the_seed_draws_the_splits(brats, tmp_path):
    data = read_dataset(import_brats(brats, tmp_path / "data", seed=1))
    assert Counter(case.split for case in data) == {"train": 2, "test": 1}
    again = read_dataset(import_brats(brats, tmp_path / "again", seed=1))
    assert [case.split for case in again] == [case.split for case in data]


def test_all_missing_files_are_told_together(brats, tmp_path):
    (brats / "HGG/BraTS19_A_1/BraTS19_A_1_t1ce.nii.gz").unlink()
    (brats / "LGG/BraTS19_C_1/BraTS19_C_1_seg.nii.gz").unlink()
    said = [
        (fault.case, fault.rater, fault.file.rsplit("/", 1)[-1], fault.found)
        for fault in faults_of(brats, tmp_path / "data")
    ]
    assert said == [
        ("BraTS19_A_1", "", "BraTS19_A_1_t1ce.nii.gz", "does not exist"),
        ("BraTS19_C_1", "(truth)", "BraTS19_C_1_seg.nii.gz", "does not exist"),
    ]


def test_what_files_hold_is_told_together_too(brats, tmp_path, nifti, write_case):
    write_case(brats / "HGG" / "BraTS19_A_1", space=(191, 200, 2))
    wrong = np.full(SPACE, 3, dtype=np.uint8)
    nifti(brats / "HGG/BraTS19_B_1/BraTS19_B_1_seg.nii.gz", wrong, AFFINE)
    nifti(brats / "LGG/BraTS19_C_1/BraTS19_C_1_t2.nii.gz", np.zeros((200, 195, 3)), AFFINE)
    faults = faults_of(brats, tmp_path / "data")
    assert [fault.case for fault in faults] == [
        "BraTS19_A_1",
        "BraTS19_A_1",
        "BraTS19_B_1",
        "BraTS19_C_1",
    ]
    assert faults[0].expected == "a volume of at least 192 x 192 pixels in plane"
    assert "label value 3 is not declared" in faults[2].found
    assert faults[3].file.endswith("BraTS19_C_1_t2.nii.gz")
    assert not (tmp_path / "data").exists()


def test_wrong_layouts(brats, tmp_path):
    (fault,) = faults_of(tmp_path / "nowhere", tmp_path / "data")
    assert fault.found == "does not exist"
    assert [fault.found for fault in faults_of(brats / "HGG", tmp_path / "data")] == [
        "does not exist",
        "does not exist",
    ]
    (tmp_path / "empty" / "HGG").mkdir(parents=True)
    (fault,) = faults_of(tmp_path / "empty", tmp_path / "data", grades=["HGG"])
    assert fault.found == "holds no case"


def test_an_earlier_import_is_replaced_only_when_asked(brats, tmp_path):
    import_brats(brats, tmp_path / "data", grades=["LGG"])
    assert faults_of(brats, tmp_path / "data")[0].found == "already exists"
    import_brats(brats, tmp_path / "data", grades=["HGG"], overwrite=True)
    assert len(read_dataset(tmp_path / "data")) == 2
