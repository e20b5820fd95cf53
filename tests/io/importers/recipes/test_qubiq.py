import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_qubiq


@pytest.fixture
def write_case(nifti, rng):
    def write(folder, *, raters=2, structures=1, space=(10, 8, 1), channels=1):
        image = rng.integers(0, 99, (*space[:2], space[2] * channels)).astype(np.int16)
        nifti(folder / "image.nii.gz", image, np.diag([2, 3, 1, 1]))
        for structure in range(1, structures + 1):
            for rater in range(1, raters + 1):
                mask = np.zeros(space, dtype=np.uint8)
                mask[:rater, :structure] = 1
                nifti(folder / f"task{structure:02d}_seg{rater:02d}.nii.gz", mask)
        return image

    return write


def test_slices_become_images_with_their_raters_and_splits(tmp_path, write_case):
    task = tmp_path / "training_data_v2/brain-growth"
    image = write_case(task / "Training/case01", raters=7)
    write_case(task / "Training/case02", raters=6)
    write_case(tmp_path / "validation_data_v2/brain-growth/Validation/case01", raters=7)
    data = read_dataset(import_qubiq(tmp_path, tmp_path / "data"))
    assert {case.name: case.split for case in data} == {
        "train-case01": "train",
        "train-case02": "train",
        "test-case01": "test",
    }
    assert data.raters == tuple(f"rater {number}" for number in range(1, 8))
    assert "rater 7" not in data["train-case02"].labels
    first = data["train-case01"]
    assert np.array_equal(first.read_image().array, image.T)
    assert first.read_image().geometry.spacing == (3.0, 2.0)
    assert first.read_label("rater 3").array.sum() == 3
    survey(data)


def test_modalities_are_channels_and_structures_are_chosen(tmp_path, write_case):
    source = tmp_path / "brain-tumor"
    image = write_case(source / "Training/case01", structures=3, channels=4)
    path = import_qubiq(source, tmp_path / "data", task="brain-tumor", structure=3)
    case = read_dataset(path)["train-case01"]
    assert case.read_image().array.shape == (4, 8, 10)
    assert np.array_equal(case.read_image().array, image.T)
    assert case.read_label("rater 2").array.sum() == 2 * 3


def test_volumes_stay_volumes(tmp_path, write_case):
    write_case(tmp_path / "pancreas/Training/case01", space=(10, 8, 3))
    path = import_qubiq(tmp_path, tmp_path / "data", task="pancreas")
    assert read_dataset(path)["train-case01"].read_image().array.shape == (1, 3, 8, 10)


def test_what_is_not_there_is_told(tmp_path, write_case):
    write_case(tmp_path / "kidney/Training/case01")
    with pytest.raises(InputError, match="structure 2 of kidney"):
        import_qubiq(tmp_path, tmp_path / "data", task="kidney", structure=2)
    with pytest.raises(InputError, match="brain-growth, brain-tumor"):
        import_qubiq(tmp_path, tmp_path / "data", task="liver")
    (tmp_path / "kidney/Training/case01/image.nii.gz").unlink()
    with pytest.raises(InputError, match=r"image\.nii\.gz"):
        import_qubiq(tmp_path, tmp_path / "data", task="kidney")
    assert not (tmp_path / "data").exists()
