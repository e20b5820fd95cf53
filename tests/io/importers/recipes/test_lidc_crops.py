import numpy as np
import pytest

from multirater.errors import InputError, MultiraterWarning
from multirater.io import read_dataset, survey, write_dataset
from multirater.io.importers.lidc import import_lidc
from multirater.io.importers.lidc.importing import CLASSES
from multirater.io.importers.recipes import import_lidc_crops
from multirater.types import Case, Dataset, Geometry, Image, LabelMap, Source

WIDE = Geometry((2.0, 2.0, 2.0), (0.0, 0.0, 0.0), Geometry.default(3).direction)
NARROW = Geometry((2.0, 0.5, 0.5), (0.0, 0.0, 0.0), Geometry.default(3).direction)


def given(value):
    return Source(lambda: value)


def nodule(name, drawn, *, geometry=WIDE, space=(5, 100, 100), with_image=True):
    """A case whose readers drew a square of 9 x 9 pixels on some slices; image: z + 100 x."""
    masks = {}
    for reader, slices in drawn.items():
        mask = np.zeros(space, dtype=np.int16)
        mask[slices, 46:55, 46:55] = 1
        masks[reader] = given(LabelMap(mask, geometry))
    z, _, x = np.indices(space)
    image = given(Image((z + 100 * x).astype(np.int16)[None], geometry))
    return Case(name, image if with_image else None, masks)


def write(folder, *cases):
    raters = tuple(dict.fromkeys(rater for case in cases for rater in case.labels))
    write_dataset(Dataset(cases, raters, "masks", CLASSES), folder)
    return folder


@pytest.fixture
def lidc(tmp_path):
    return write(
        tmp_path / "lidc",
        nodule("LIDC-IDRI-0001-nodule-1", {"reader 1": [1, 2], "reader 2": [2, 4]}),
        nodule("LIDC-IDRI-0001-scan-2-nodule-1", {"reader 3": [0]}),
        nodule("LIDC-IDRI-0002-nodule-1", {"reader 1": [3], "reader 4": [3]}, with_image=False),
        nodule("LIDC-IDRI-0003-nodule-1", {"reader 4": [3]}),
    )


def test_one_case_per_slice_that_a_reader_drew_on(lidc, tmp_path):
    data = read_dataset(import_lidc_crops(lidc, tmp_path / "data"))
    assert [(case.name, tuple(case.labels)) for case in data] == [
        ("LIDC-IDRI-0001-nodule-1-slice-001", ("reader 1", "reader 2")),
        ("LIDC-IDRI-0001-nodule-1-slice-002", ("reader 1", "reader 2")),
        ("LIDC-IDRI-0001-nodule-1-slice-004", ("reader 1", "reader 2")),
        ("LIDC-IDRI-0001-scan-2-nodule-1-slice-001", ("reader 3",)),
        ("LIDC-IDRI-0003-nodule-1-slice-001", ("reader 4",)),
    ]
    assert data.classes.names == ("background", "nodule")
    survey(data)


def test_slices_of_180_mm_with_the_nodule_in_the_middle(lidc, tmp_path):
    case = read_dataset(import_lidc_crops(lidc, tmp_path / "data"))[1]
    image, labels = case.read_image(), case.read_labels()
    assert image.array.shape == (1, 180, 180)
    assert image.array.dtype == np.int16
    assert np.allclose(image.geometry.spacing, (1.0, 1.0))
    # The square of 9 x 9 pixels of 2 mm has 18 x 18 pixels of 1 mm.
    expected = np.zeros((180, 180), dtype=int)
    expected[81:99, 81:99] = 1
    assert (labels.array == expected).all()
    # Slice 2; the first column lies 89.5 mm before the middle, pixel 50 at 100 mm.
    world_x = 10.5 + np.arange(180)
    assert (image.array[0, 7] == np.rint(2 + 100 * world_x / 2)).all()


def test_a_reader_who_drew_elsewhere_has_an_empty_mask(lidc, tmp_path):
    case = read_dataset(import_lidc_crops(lidc, tmp_path / "data"))[0]
    assert [case.read_label(f"reader {i}").array.max() for i in (1, 2)] == [1, 0]


def test_one_millimetre_between_slices_too(lidc, tmp_path):
    data = read_dataset(import_lidc_crops(lidc, tmp_path / "data", isotropic=True))
    names = [case.name[-3:] for case in data if "0001-nodule" in case.name]
    # Slices 1 to 4 of 2 mm; the third, undrawn, is nearest at 4 and perhaps at 3 and 5 mm.
    assert names[:3] == ["001", "002", "003"]
    assert names[-1] == "007"
    assert "005" not in names


def test_beyond_the_image_is_air_and_nothing_is_labelled(tmp_path):
    small = nodule("LIDC-IDRI-0001-nodule-1", {"reader 1": [1]}, geometry=NARROW)
    write(tmp_path / "lidc", small)
    with pytest.warns(MultiraterWarning, match=r"1 of 1 nodules do not cover 180 x 180 mm"):
        (case,) = read_dataset(import_lidc_crops(tmp_path / "lidc", tmp_path / "data"))
    image, label = case.read_image().array[0], case.read_label("reader 1").array
    assert ((label == -1) == (image == -1000)).all()
    assert (label >= 0).sum() == 50 * 50  # the image is 100 x 100 pixels of 0.5 mm
    assert label[90, 90] == 1
    assert label[70, 70] == 0


def test_the_slices_of_a_patient_are_in_one_split(tmp_path):
    cases = [
        nodule(f"{patient}{scan}-nodule-{n}", {"reader 1": [1, 2]})
        for patient in ("LIDC-IDRI-0001", "LIDC-IDRI-0002", "LIDC-IDRI-0003", "157")
        for scan in ("", "-scan-1")
        for n in (1, 2)
    ]
    data = read_dataset(import_lidc_crops(write(tmp_path / "lidc", *cases), tmp_path / "data"))
    splits = {(case.name.split("-scan")[0].split("-nodule")[0], case.split) for case in data}
    assert len(splits) == 4
    assert {split for _, split in splits} >= {"train", "test"}
    patients = {"LIDC-IDRI-0001", "LIDC-IDRI-0002", "LIDC-IDRI-0003", "157"}
    assert {case.patient for case in data} == patients


def test_several_processes_write_the_same(lidc, tmp_path):
    cases = [nodule(f"P{n}-nodule-1", {"reader 1": [n]}) for n in range(5)]
    write(tmp_path / "five", *cases)
    one = import_lidc_crops(tmp_path / "five", tmp_path / "one")
    two = import_lidc_crops(tmp_path / "five", tmp_path / "two", workers=2)
    assert one.read_bytes() == two.read_bytes()
    for a, b in zip(read_dataset(one), read_dataset(two), strict=True):
        assert (a.read_image().array == b.read_image().array).all()


def test_nodules_of_import_lidc(tmp_path, dicom_series, rng):
    """The whole way: an XML file with two readers, a CT series, and the crops of both."""
    points = [(20, 20), (30, 20), (30, 30), (20, 30)]
    edges = "".join(
        f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in points
    )
    roi = f"<imageZposition>12.0</imageZposition><inclusion>TRUE</inclusion>{edges}"
    session = (
        "<readingSession><unblindedReadNodule><noduleID>1</noduleID>"
        f"<roi>{roi}</roi></unblindedReadNodule></readingSession>"
    )
    series = "<SeriesInstanceUid>1.2.3.4</SeriesInstanceUid>"
    text = f"<LidcReadMessage><ResponseHeader>{series}</ResponseHeader>{session * 2}"
    (tmp_path / "7.xml").write_text(f"{text}</LidcReadMessage>")
    volume = rng.integers(0, 2000, (4, 64, 64)).astype(np.uint16)
    dicom_series(tmp_path / "ct", volume, RescaleSlope=1, RescaleIntercept=-1024)
    import_lidc(tmp_path / "7.xml", tmp_path / "lidc", ct=tmp_path / "ct", margin_mm=90)
    with pytest.warns(MultiraterWarning, match="do not cover"):
        manifest = import_lidc_crops(tmp_path / "lidc", tmp_path / "data")
    (case,) = read_dataset(manifest)
    labels = case.read_labels().array
    # Nine by nine pixels lie within the outline: 4.5 mm of y by 6.75 mm of x.
    assert ((labels == 1).sum(axis=1).max(axis=1) == 4).all()
    assert ((labels == 1).sum(axis=2).max(axis=1) == 6).all()
    assert (labels[:, 90, 90] == 1).all()
    assert case.read_image().array.max() > -1000


def test_a_data_set_without_images(tmp_path):
    write(tmp_path / "lidc", nodule("P-nodule-1", {"reader 1": [1]}, with_image=False))
    with pytest.raises(InputError, match=r"none of 1 cases has an image(.|\n)*--ct"):
        import_lidc_crops(tmp_path / "lidc", tmp_path / "data")


def test_a_data_set_in_which_nobody_drew(tmp_path):
    write(tmp_path / "lidc", nodule("P-nodule-1", {"reader 1": []}))
    with pytest.raises(InputError, match="no reader drew anything"):
        import_lidc_crops(tmp_path / "lidc", tmp_path / "data")


def test_all_files_that_cannot_be_used_are_told_together(lidc, tmp_path):
    (lidc / "images" / "LIDC-IDRI-0001-nodule-1.nii.gz").write_bytes(b"nothing")
    (lidc / "raters" / "reader 4" / "LIDC-IDRI-0003-nodule-1.nii.gz").write_bytes(b"nothing")
    with pytest.raises(InputError) as caught:
        import_lidc_crops(lidc, tmp_path / "data")
    assert [(fault.case, fault.rater) for fault in caught.value.faults] == [
        ("LIDC-IDRI-0001-nodule-1", ""),
        ("LIDC-IDRI-0003-nodule-1", "reader 4"),
    ]
    assert not (tmp_path / "data").exists()


def test_flat_images_are_no_volumes(digits_folder, tmp_path):
    with pytest.raises(InputError, match="has 1 channels and 2 axes") as caught:
        import_lidc_crops(digits_folder, tmp_path / "data")
    assert len(caught.value.faults) == 12


def test_a_source_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        import_lidc_crops(tmp_path / "nowhere", tmp_path / "data")
