"""DICOM-SEG, held against highdicom and pydicom."""

import shutil
import tempfile
from pathlib import Path

import highdicom
import numpy as np
import pydicom
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pydicom.sr.codedict import codes
from pydicom.uid import generate_uid
from scipy.spatial.transform import Rotation

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.formats.dicom_seg import is_dicom_seg, read_dicom_seg, write_dicom_seg
from multirater.io.formats.images import image_shape, read_image, read_label_array
from multirater.io.formats.labels import read_label
from multirater.io.survey import survey
from multirater.types import Classes, Geometry, LabelClass, LabelMap

RNG = np.random.default_rng(7)
NUMBERS = RNG.integers(0, 3, (4, 6, 7)).astype(np.int16)
CLASSES = Classes((LabelClass("background"), LabelClass("tumour", "#ff8800"), LabelClass("œdème")))
SOLID = Geometry(
    (3.0, 0.5, 0.75), (-20.0, 30.0, 40.0), ((0.0, -0.6, 0.8), (0.0, 0.8, 0.6), (1.0, 0.0, 0.0))
)


@pytest.fixture
def series(tmp_path, dicom_series):
    return dicom_series(tmp_path / "series", np.zeros((4, 6, 7), np.uint16))


@st.composite
def upright_geometries(draw):
    """Draw grids whose slices go up along their normal, as DICOM sorts them."""
    turn = Rotation.from_euler("xyz", draw(st.tuples(*[st.floats(-180, 180)] * 3)), degrees=True)
    return Geometry(
        draw(st.tuples(*[st.floats(0.1, 10.0)] * 3)),
        draw(st.tuples(*[st.floats(-300.0, 300.0)] * 3)),
        tuple(map(tuple, turn.as_matrix()[:, ::-1].tolist())),
    )


@settings(max_examples=20, deadline=None)
@given(
    hnp.arrays(
        np.int16,
        st.tuples(st.integers(1, 4), st.integers(2, 5), st.integers(4, 7)),
        elements=st.integers(0, 2),
    ),
    upright_geometries(),
)
def test_round_trip(array, geometry):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.dcm"
        write_dicom_seg(LabelMap(array, geometry), path, classes=CLASSES)
        read = read_label_array(path)
        np.testing.assert_array_equal(read.array[0], array)
        np.testing.assert_allclose(read.geometry.spacing, geometry.spacing, rtol=1e-4)
        np.testing.assert_allclose(read.geometry.origin, geometry.origin, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(read.geometry.direction, geometry.direction, atol=1e-4)
        assert image_shape(path) == (array.shape, read.geometry)
        placed = read_dicom_seg(path, like=(array.shape, geometry))
        np.testing.assert_array_equal(placed.array[0], array)


def test_highdicom_sees_the_segments_where_they_were_meant(tmp_path):
    write_dicom_seg(LabelMap(NUMBERS, SOLID), tmp_path / "a.dcm", classes=CLASSES)
    content = highdicom.seg.segread(tmp_path / "a.dcm")
    assert content.segmentation_type.value == "BINARY"
    labels = [content.get_segment_description(number).segment_label for number in (1, 2)]
    assert labels == ["tumour", "œdème"]
    affine = np.eye(4)
    affine[:3, :3] = np.asarray(SOLID.direction) * SOLID.spacing
    affine[:3, 3] = SOLID.origin
    meant = highdicom.VolumeGeometry(affine, NUMBERS.shape, "PATIENT")
    seen = content.get_volume(combine_segments=True).match_geometry(meant)
    np.testing.assert_array_equal(seen.array, NUMBERS)


def test_pydicom_sees_a_complete_object(tmp_path):
    write_dicom_seg(LabelMap(NUMBERS, SOLID), tmp_path / "a.dcm", classes=CLASSES)
    header = pydicom.dcmread(tmp_path / "a.dcm")
    assert header.SOPClassUID == "1.2.840.10008.5.1.4.1.1.66.4"
    assert header.Modality == "SEG"
    assert header.NumberOfFrames == 8  # two segments, empty slices too
    assert header.pixel_array.shape == (8, 6, 7)
    assert header.SpecificCharacterSet == "ISO_IR 192"
    colour = header.SegmentSequence[0].RecommendedDisplayCIELabValue
    assert highdicom.color.CIELabColor.from_dicom_value(colour).to_rgb() == (255, 136, 0)
    assert "RecommendedDisplayCIELabValue" not in header.SegmentSequence[1]


def test_labels_on_one_grid_share_their_frame_of_reference(tmp_path):
    for name in "ab":
        write_dicom_seg(LabelMap(NUMBERS, SOLID), tmp_path / f"{name}.dcm", classes=CLASSES)
    first, second = (pydicom.dcmread(tmp_path / f"{name}.dcm") for name in "ab")
    assert first.FrameOfReferenceUID == second.FrameOfReferenceUID
    assert first.SOPInstanceUID != second.SOPInstanceUID


def test_a_segmentation_refers_to_its_source(tmp_path, series):
    geometry = image_shape(series)[1]
    label = LabelMap(NUMBERS, geometry)
    write_dicom_seg(label, tmp_path / "a.dcm", classes=CLASSES, source=series)
    content = highdicom.seg.segread(tmp_path / "a.dcm")
    slices = {pydicom.dcmread(file).SOPInstanceUID: file for file in series.iterdir()}
    assert {uid for _, _, uid in content.get_source_image_uids()} == set(slices)
    assert content.PatientName == "Doe^Jo"
    assert content.FrameOfReferenceUID == "1.2.3.5"
    lowest = pydicom.dcmread(series / "im004.dcm").SOPInstanceUID
    seen = content.get_pixels_by_source_instance([lowest], combine_segments=True)
    np.testing.assert_array_equal(seen[0], NUMBERS[0])
    read = read_label_array(tmp_path / "a.dcm")
    np.testing.assert_array_equal(read.array[0], NUMBERS)
    assert read.geometry.is_close(geometry)


def test_a_segmentation_may_lie_beside_its_source(tmp_path, series):
    label = LabelMap(NUMBERS, image_shape(series)[1])
    write_dicom_seg(label, series / "seg.dcm", classes=CLASSES, source=series)
    assert read_image(series).array.max() == 0
    np.testing.assert_array_equal(read_label_array(series).array[0], NUMBERS)
    shutil.copy(series / "seg.dcm", series / "seg2.dcm")
    with pytest.raises(InputError, match=r"2 segmentations: seg\.dcm, seg2\.dcm"):
        read_label_array(series)


def test_the_source_must_be_the_image_the_labels_were_drawn_on(tmp_path, series):
    for label in (LabelMap(NUMBERS, SOLID), LabelMap(NUMBERS[:3], image_shape(series)[1])):
        with pytest.raises(InputError, match="labels lie on") as error:
            write_dicom_seg(label, tmp_path / "a.dcm", classes=CLASSES, source=series)
        assert error.value.faults[0].file == str(series)
    assert not (tmp_path / "a.dcm").exists()


def test_a_picture_and_its_dicom_file(tmp_path, dicom_slice):
    source = dicom_slice(tmp_path / "a.dcm", np.zeros((6, 7), np.uint16), (7.0, 8.0, 9.0))
    shape = image_shape(source)
    label = LabelMap(NUMBERS[0], shape[1])
    write_dicom_seg(label, tmp_path / "seg.dcm", classes=CLASSES, source=source)
    read = read_label_array(tmp_path / "seg.dcm", ndim=2)
    np.testing.assert_array_equal(read.array[0], NUMBERS[0])
    assert read.geometry.is_close(shape[1])
    placed = read_dicom_seg(tmp_path / "seg.dcm", like=shape)
    np.testing.assert_array_equal(placed.array[0], NUMBERS[0])
    assert read_label_array(tmp_path / "seg.dcm").geometry.origin == (7.0, 8.0, 9.0)


def test_a_source_without_a_place_cannot_be_referred_to(tmp_path, dicom_slice):
    source = dicom_slice(tmp_path / "a.dcm", np.zeros((6, 7), np.uint16), ImagePositionPatient=None)
    label = LabelMap(NUMBERS[0], image_shape(source)[1])
    with pytest.raises(InputError, match="where it lies"):
        write_dicom_seg(label, tmp_path / "seg.dcm", classes=CLASSES, source=source)
    write_dicom_seg(label, tmp_path / "seg.dcm", classes=CLASSES)
    np.testing.assert_array_equal(read_label_array(tmp_path / "seg.dcm").array[0, 0], NUMBERS[0])


def test_labels_of_background_only(tmp_path):
    write_dicom_seg(LabelMap(NUMBERS * 0, SOLID), tmp_path / "a.dcm", classes=CLASSES)
    read = read_label_array(tmp_path / "a.dcm")
    assert read.array.shape == (1, 4, 6, 7)
    assert not read.array.any()


@pytest.mark.parametrize(
    ("values", "classes", "words"),
    [
        ([0, -1, 1, -1], CLASSES, "2 pixels are not labelled"),
        ([0, 3], CLASSES, "class indices 0 to 3"),
        ([0, -2], CLASSES, "class indices -2 to 0"),
        ([0, 0], Classes.numbered(1), "no class but the background"),
        ([0, 1], Classes((LabelClass("b"), LabelClass("x" * 65))), "65 characters"),
    ],
)
def test_labels_that_cannot_be_held(tmp_path, values, classes, words):
    array = np.zeros((1, 3, 4), np.int16)
    array[0, 0, : len(values)] = values
    label = LabelMap(array, Geometry.default(3))
    with pytest.raises(InputError, match=words) as error:
        write_dicom_seg(label, tmp_path / "a.dcm", classes=classes)
    assert error.value.faults[0].file == str(tmp_path / "a.dcm")
    assert error.value.faults[0].fix
    assert not (tmp_path / "a.dcm").exists()


def test_slices_too_small_for_highdicom_are_refused(tmp_path):
    label = LabelMap(np.ones((2, 1, 3), np.int16), Geometry.default(3))
    with pytest.raises(InputError, match="1 x 3 pixels"):
        write_dicom_seg(label, tmp_path / "a.dcm", classes=CLASSES)


def test_a_sheared_grid_cannot_be_held(tmp_path):
    direction = ((0.0, 0.6, 1.0), (0.0, 0.8, 0.0), (1.0, 0.0, 0.0))
    label = LabelMap(NUMBERS, Geometry((1.0, 1.0, 1.0), (0.0, 0.0, 0.0), direction))
    with pytest.raises(InputError, match="not perpendicular"):
        write_dicom_seg(label, tmp_path / "a.dcm", classes=CLASSES)


def test_nothing_is_overwritten_unasked(tmp_path):
    path = tmp_path / "a.dcm"
    write_dicom_seg(LabelMap(NUMBERS, SOLID), path, classes=CLASSES)
    with pytest.raises(InputError, match="already exists"):
        write_dicom_seg(LabelMap(NUMBERS * 0, SOLID), path, classes=CLASSES)
    np.testing.assert_array_equal(read_label_array(path).array[0], NUMBERS)
    write_dicom_seg(LabelMap(NUMBERS * 0, SOLID), path, classes=CLASSES, overwrite=True)
    assert not read_label_array(path).array.any()


def by_highdicom(series: Path, path: Path, pixels, kind: str, n_segments: int, **options) -> Path:
    """Write a segmentation as another program would, on the slices from the lowest upwards."""
    headers = [pydicom.dcmread(file) for file in sorted(series.iterdir(), reverse=True)]
    for header in headers:
        for name in ("PatientBirthDate", "PatientSex", "AccessionNumber", "StudyID"):
            setattr(header, name, "")
        header.StudyDate = header.StudyTime = None
    segments = [
        highdicom.seg.SegmentDescription(
            segment_number=number,
            segment_label=f"part {number}",
            segmented_property_category=codes.SCT.Tissue,
            segmented_property_type=codes.SCT.Tissue,
            algorithm_type="MANUAL",
        )
        for number in range(1, n_segments + 1)
    ]
    highdicom.seg.Segmentation(
        source_images=headers,
        pixel_array=pixels,
        segmentation_type=kind,
        segment_descriptions=segments,
        series_instance_uid=generate_uid(),
        series_number=1,
        sop_instance_uid=generate_uid(),
        instance_number=1,
        manufacturer="someone",
        manufacturer_model_name="something",
        software_versions="1",
        device_serial_number="1",
        **options,
    ).save_as(path)
    return path


@pytest.mark.parametrize("kind", ["BINARY", "LABELMAP"])
def test_omitted_slices_come_back_on_the_image_s_grid(tmp_path, series, kind):
    numbers = NUMBERS.astype(np.uint8)
    numbers[[0, 2]] = 0
    path = by_highdicom(series, tmp_path / "a.dcm", numbers, kind, 2, omit_empty_frames=True)
    alone = read_label_array(path)
    np.testing.assert_array_equal(alone.array[0], numbers[1:])
    shape = image_shape(series)
    placed = read_dicom_seg(path, like=shape)
    np.testing.assert_array_equal(placed.array[0], numbers)
    assert placed.geometry == shape[1]


def test_one_slice_of_many(tmp_path, series):
    numbers = NUMBERS.astype(np.uint8)
    numbers[[0, 1, 3]] = 0
    path = by_highdicom(series, tmp_path / "a.dcm", numbers, "BINARY", 2)
    shape = image_shape(series)
    np.testing.assert_array_equal(read_dicom_seg(path, like=shape).array[0], numbers)


def test_a_grid_turned_over_is_the_same_grid(tmp_path, series):
    path = by_highdicom(series, tmp_path / "a.dcm", NUMBERS.astype(np.uint8), "BINARY", 2)
    space, geometry = image_shape(series)
    down = np.asarray(geometry.direction) * [1, -1, 1]
    last_row = np.asarray(geometry.origin) + np.asarray(geometry.direction)[:, 1] * 0.5 * 5
    turned = Geometry(geometry.spacing, tuple(last_row.tolist()), tuple(map(tuple, down.tolist())))
    placed = read_dicom_seg(path, like=(space, turned))
    np.testing.assert_array_equal(placed.array[0], NUMBERS[:, ::-1])


def test_grids_that_do_not_fit_are_told(tmp_path, series):
    path = by_highdicom(series, tmp_path / "a.dcm", np.ones((4, 6, 7), np.uint8), "BINARY", 1)
    space, geometry = image_shape(series)
    half_off = Geometry(geometry.spacing, (-4.6, 3.0, 10.0), geometry.direction)
    finer = Geometry((1.0, 0.25, 0.375), geometry.origin, geometry.direction)
    for other in (half_off, finer, SOLID):
        with pytest.raises(InputError, match="another grid") as error:
            read_dicom_seg(path, like=(space, other))
        assert error.value.faults[0].file == str(path)
    with pytest.raises(InputError, match="outside the image"):
        read_dicom_seg(path, like=((4, 6, 6), geometry))
    with pytest.raises(InputError, match="3-D, 4 x 6 x 7"):
        read_dicom_seg(path, like=((6, 7), Geometry.default(2)))


def test_fractions_are_cut_at_one_half(tmp_path, series):
    fractions = np.zeros((4, 6, 7, 2), np.float32)
    fractions[0, 0, :4, 0] = (0.2, 0.45, 0.55, 1.0)
    fractions[0, 0, 1, 1] = 0.9
    path = by_highdicom(series, tmp_path / "a.dcm", fractions, "FRACTIONAL", 2)
    labels = read_dicom_seg(path, like=image_shape(series)).array
    assert labels[0, 0, 0].tolist() == [0, 2, 1, 1, 0, 0, 0]
    assert labels.dtype.kind == "u"


@pytest.mark.parametrize("kind", ["BINARY", "FRACTIONAL"])
def test_segments_that_overlap_are_refused(tmp_path, series, kind):
    parts = np.zeros((4, 6, 7, 2), np.uint8)
    parts[1, 2, 3] = 1
    path = by_highdicom(series, tmp_path / "a.dcm", parts, kind, 2)
    with pytest.raises(InputError, match="overlap") as error:
        read_label_array(path)
    assert error.value.faults[0].file == str(path)


def test_what_is_no_segmentation_is_told(tmp_path, series):
    slice_ = next(series.iterdir())
    assert not is_dicom_seg(slice_)
    with pytest.raises(InputError, match="not a DICOM segmentation"):
        read_dicom_seg(slice_)
    with pytest.raises(InputError, match="does not exist"):
        read_dicom_seg(tmp_path / "missing.dcm")


def test_a_truncated_segmentation_is_an_error(tmp_path):
    write_dicom_seg(LabelMap(NUMBERS, SOLID), tmp_path / "a.dcm", classes=CLASSES)
    data = (tmp_path / "a.dcm").read_bytes()
    cut = tmp_path / "cut.dcm"
    for length in [*range(1, len(data), len(data) // 40), len(data) - 2]:
        cut.write_bytes(data[:length])
        with pytest.raises(InputError) as error:
            read_label_array(cut)
        assert error.value.faults[0].file == str(cut)


def test_frames_far_apart_claim_no_memory(tmp_path):
    label = LabelMap(np.ones((3, 8, 8), dtype=np.int16), Geometry.default(3))
    write_dicom_seg(label, tmp_path / "a.dcm", classes=Classes.numbered(2))
    content = pydicom.dcmread(tmp_path / "a.dcm")
    place = content.PerFrameFunctionalGroupsSequence[0].PlanePositionSequence[0]
    place.ImagePositionPatient = [0, 0, 5 * 10**9]
    content.save_as(tmp_path / "a.dcm")
    with pytest.raises(InputError, match=r"claims to hold \d+\.\d GB"):
        read_dicom_seg(tmp_path / "a.dcm")


def test_frames_that_are_not_there_are_refused(tmp_path):
    label = LabelMap(np.ones((3, 8, 8), dtype=np.int16), Geometry.default(3))
    write_dicom_seg(label, tmp_path / "a.dcm", classes=Classes.numbered(2))
    content = pydicom.dcmread(tmp_path / "a.dcm")
    content.NumberOfFrames = 10**6
    content.save_as(tmp_path / "a.dcm")
    with pytest.raises(InputError, match="truncated"):
        read_dicom_seg(tmp_path / "a.dcm")


def of_another_segment(content):
    for frame in content.PerFrameFunctionalGroupsSequence:
        (named,) = frame.SegmentIdentificationSequence
        named.ReferencedSegmentNumber = max(named.ReferencedSegmentNumber, 2) + 5


def without_a_description(content):
    del content.SegmentSequence[-1]


def of_fewer_frames(content):
    content.NumberOfFrames = 3
    content.PerFrameFunctionalGroupsSequence = content.PerFrameFunctionalGroupsSequence[:3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (of_another_segment, "is of segment 7, it describes 1, 2"),
        (without_a_description, "is of segment 2, it describes 1"),
        (of_fewer_frames, "have room for more"),
    ],
)
def test_frames_that_no_segment_owns_do_not_vanish(tmp_path, change, words):
    values = np.zeros((3, 8, 8), np.int16)
    values[:, :2], values[:, 2:4] = 1, 2
    label = LabelMap(values, Geometry.default(3))
    write_dicom_seg(label, tmp_path / "a.dcm", classes=Classes.numbered(3))
    content = pydicom.dcmread(tmp_path / "a.dcm")
    change(content)
    content.save_as(tmp_path / "a.dcm")
    with pytest.raises(InputError, match=words):
        read_dicom_seg(tmp_path / "a.dcm")


def renumbered(path, names, numbers=NUMBERS):
    classes = Classes((LabelClass("background"), *map(LabelClass, names)))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_dicom_seg(LabelMap(numbers, SOLID), path, classes=classes)
    return path


def test_segments_go_by_their_names_where_these_are_declared(tmp_path):
    swapped = renumbered(tmp_path / "a.dcm", ["Œdème", "tumour"])
    label = read_label(swapped, classes=CLASSES)
    np.testing.assert_array_equal(label.array, np.array([0, 2, 1])[NUMBERS])
    others = Classes((LabelClass("background"), LabelClass("liver"), LabelClass("spleen")))
    np.testing.assert_array_equal(read_label(swapped, classes=others).array, NUMBERS)


def test_a_declared_name_under_the_number_of_another_is_refused(tmp_path):
    """Beside a name that nobody declared, numbers would make the liver of what is called tumour."""
    path = renumbered(tmp_path / "a.dcm", ["tumour", "hepatic cyst"])
    classes = Classes((LabelClass("background"), LabelClass("liver"), LabelClass("tumour")))
    with pytest.raises(InputError, match="segment 1 is called tumour, which is class 2"):
        read_label(path, classes=classes)


def test_files_that_number_one_name_otherwise_are_refused_unless_names_are_declared(tmp_path):
    study = tmp_path / "study"
    renumbered(study / "raters/anna/x.dcm", ["liver", "tumour"])
    turned = np.array([0, 2, 1], np.int16)[NUMBERS]
    renumbered(study / "raters/bert/x.dcm", ["tumour", "liver"], turned)
    with pytest.raises(InputError, match=r"(tumour|liver) is segment [12]") as caught:
        survey(read_dataset(study))
    (fault,) = caught.value.faults
    assert {"anna", "bert"} & {fault.rater}
    (study / "classes.csv").write_text("index,name\n0,background\n1,liver\n2,tumour\n")
    labels = read_dataset(study)["x"].read_labels().array
    np.testing.assert_array_equal(labels[0], labels[1])


def test_names_that_only_one_file_has_and_lesions_of_one_name_are_nothing_odd(tmp_path):
    study = tmp_path / "study"
    renumbered(study / "raters/anna/x.dcm", ["lesion", "lesion"])
    renumbered(study / "raters/bert/x.dcm", ["lesion", "cyst"])
    assert len(survey(read_dataset(study)).classes) == 3
