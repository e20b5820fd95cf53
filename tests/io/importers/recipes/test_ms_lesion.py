from collections import Counter
from shutil import move

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_ms_lesion
from multirater.simulate import simulate_dataset

SPACE = (5, 4, 3)  # x, y, z
SCANS = {"training01": 2, "training02": 1, "training03": 3}
MODALITIES = ("flair", "mprage", "pd", "t2")


@pytest.fixture
def training(tmp_path, nifti, rng):
    """Three patients with six scans; the value of an image tells its modality."""
    root = tmp_path / "isbi" / "training"
    for patient, n_scans in SCANS.items():
        for time in range(1, n_scans + 1):
            scan = f"{patient}_{time:02d}"
            for channel, modality in enumerate(MODALITIES):
                image = np.full(SPACE, 100 * channel + time, dtype=np.float32)
                nifti(root / patient / "preprocessed" / f"{scan}_{modality}_pp.nii", image)
            for number in (1, 2):
                mask = rng.integers(0, 2, SPACE).astype(np.uint8)
                nifti(root / patient / "masks" / f"{scan}_mask{number}.nii", mask)
    (root / "training01" / "preprocessed" / "._training01_01_flair_pp.nii").touch()
    (root / "training01" / "orig").mkdir()
    (root / "training01" / "orig" / "training01_01_flair.nii.gz").touch()
    return root


def faults_of(*args, **options):
    with pytest.raises(InputError) as caught:
        import_ms_lesion(*args, **options)
    return caught.value.faults


def test_one_case_per_scan_with_four_channels_and_two_raters(training, tmp_path):
    data = read_dataset(import_ms_lesion(training, tmp_path / "data"))
    assert [case.name for case in data] == [
        "training01_01",
        "training01_02",
        "training02_01",
        "training03_01",
        "training03_02",
        "training03_03",
    ]
    assert data.raters == ("rater 1", "rater 2")
    assert data.classes.names == ("background", "lesion")
    image = data["training03_02"].read_image()
    assert image.array.shape == (4, 3, 4, 5)
    assert image.array[:, 0, 0, 0].tolist() == [2, 102, 202, 302]
    assert all(case.truth is None for case in data)
    survey(data)


def test_nothing_is_copied_and_masks_are_those_of_the_files(training, tmp_path):
    import nibabel

    data = read_dataset(import_ms_lesion(training, tmp_path / "data"))
    written = {path.name for path in (tmp_path / "data").rglob("*")}
    assert written == {"manifest.csv", "classes.csv", ".multirater-files"}
    stored = nibabel.load(training / "training02" / "masks" / "training02_01_mask2.nii")
    drawn = data["training02_01"].read_label("rater 2").array
    assert (drawn == np.asarray(stored.dataobj).T).all()


def test_source_and_data_set_can_move_together(training, tmp_path):
    import_ms_lesion(training, tmp_path / "isbi" / "data")
    move(tmp_path / "isbi", tmp_path / "elsewhere")
    survey(read_dataset(tmp_path / "elsewhere" / "data"))


def test_the_folder_above_and_compressed_files_do_as_well(training, tmp_path, nifti):
    for number in (1, 2):
        (training / "training02" / "masks" / f"training02_01_mask{number}.nii").unlink()
        packed = training / "training02" / "masks" / f"training02_01_mask{number}.nii.gz"
        nifti(packed, np.ones(SPACE, dtype=np.uint8))
    data = read_dataset(import_ms_lesion(training.parent, tmp_path / "data"))
    assert len(data) == 6
    assert data["training02_01"].read_labels().array.min() == 1


@pytest.mark.parametrize("seed", range(4))
def test_the_scans_of_a_patient_are_in_one_split(training, tmp_path, seed):
    data = read_dataset(import_ms_lesion(training, tmp_path / "data", seed=seed))
    by_patient = {(case.name[:10], case.split) for case in data}
    assert len(by_patient) == 3
    assert Counter(split for _, split in by_patient) == {"train": 1, "test": 2}
    assert all(case.patient == case.name[:10] for case in data)


def test_the_drawings_of_a_rater_as_truth_to_simulate_from(training, tmp_path):
    data = read_dataset(import_ms_lesion(training, tmp_path / "data", truth=2))
    for case in data:
        assert (case.read_truth().array == case.read_label("rater 2").array).all()
    assert len(simulate_dataset(data, seed=0).raters) == 5
    with pytest.raises(InputError, match="rater 3 for the truth"):
        import_ms_lesion(training, tmp_path / "other", truth=3)


def test_all_missing_files_are_told_together(training, tmp_path):
    (training / "training01" / "preprocessed" / "training01_02_pd_pp.nii").unlink()
    (training / "training03" / "masks" / "training03_01_mask1.nii").unlink()
    (training / "training03" / "masks" / "training03_01_mask2.nii").unlink()
    said = [
        (fault.case, fault.rater, fault.file.rsplit("/", 1)[-1])
        for fault in faults_of(training, tmp_path / "data")
    ]
    assert said == [
        ("training01_02", "", "training01_02_pd_pp.nii.gz"),
        ("training03_01", "rater 1", "training03_01_mask1.nii.gz"),
        ("training03_01", "rater 2", "training03_01_mask2.nii.gz"),
    ]
    assert not (tmp_path / "data").exists()


def test_a_scan_of_which_only_masks_are_there_is_told(training, tmp_path):
    for file in (training / "training02" / "preprocessed").iterdir():
        file.unlink()
    assert len(faults_of(training, tmp_path / "data")) == 4


def test_files_of_other_sizes_and_damaged_ones_are_told_together(training, tmp_path, nifti):
    nifti(training / "training01/masks/training01_01_mask2.nii", np.zeros((5, 4, 2), np.uint8))
    nifti(training / "training02/preprocessed/training02_01_t2_pp.nii", np.zeros((5, 5, 3)))
    (training / "training03/preprocessed/training03_01_flair_pp.nii").write_bytes(b"nothing")
    faults = faults_of(training, tmp_path / "data")
    assert [(fault.case, fault.rater) for fault in faults] == [
        ("training01_01", "rater 2"),
        ("training02_01", ""),
        ("training03_01", ""),
    ]
    assert "2 x 4 x 5" in faults[0].found
    assert "3 x 5 x 5" in faults[1].found
    assert "cannot be read" in faults[2].found


def test_a_folder_without_scans(tmp_path):
    (tmp_path / "empty" / "training01" / "preprocessed").mkdir(parents=True)
    (fault,) = faults_of(tmp_path / "empty", tmp_path / "data")
    assert fault.found == "holds no scan of the challenge"
    (fault,) = faults_of(tmp_path / "nowhere", tmp_path / "data")
    assert fault.found == "does not exist"


def test_an_earlier_import_is_replaced_only_when_asked(training, tmp_path):
    import_ms_lesion(training, tmp_path / "data")
    assert faults_of(training, tmp_path / "data")[0].found == "already exists"
    import_ms_lesion(training, tmp_path / "data", truth=1, overwrite=True)
    assert read_dataset(tmp_path / "data")[0].truth is not None
