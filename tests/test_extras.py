"""Extras: what the package promises about them is what it declares and says."""

import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from multirater.extras import EXTRAS, MissingExtraError, extra
from multirater.io.formats import images

DECLARED = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]["optional-dependencies"]


def names(requirements):
    return {re.split(r"[<>=\[]", each)[0].lower() for each in requirements}


@pytest.mark.parametrize("name", EXTRAS)
def test_each_extra_brings_the_modules_it_is_said_to(name):
    assert {each.lower() for each in EXTRAS[name].modules.values()} <= names(DECLARED[name])


def test_all_is_all_but_nnunet():
    (whole,) = DECLARED["all"]
    assert set(re.search(r"\[(.*)\]", whole)[1].split(",")) == set(EXTRAS) - {"nnunet"}


def test_a_module_that_no_extra_brings_is_an_error_as_it_was():
    with pytest.raises(ModuleNotFoundError) as caught, extra():
        import no_such_module  # noqa: F401
    assert not isinstance(caught.value, MissingExtraError)


@pytest.fixture
def without(monkeypatch):
    """Make modules, and what was imported of the package with them, as if they were not there."""

    def hide(module, *ours):
        images._module.cache_clear()
        for name in list(sys.modules):
            if name.startswith(f"{module}."):
                monkeypatch.setitem(sys.modules, name, None)
            elif name.startswith(ours):
                # The package above keeps it as an attribute, which imports take first.
                parent, _, child = name.rpartition(".")
                monkeypatch.delattr(sys.modules.get(parent), child, raising=False)
                monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, module, None)

    before = {name: set(vars(each)) for name, each in _own_modules()}
    yield hide
    # What was first imported meanwhile holds on to modules that are put back to what they were.
    for name, each in _own_modules():
        if name not in before:
            del sys.modules[name]
        for attribute in set(vars(each)) - before.get(name, set(vars(each))):
            delattr(each, attribute)


def _own_modules():
    return [(n, each) for n, each in sys.modules.items() if n.startswith("multirater") and each]


STUDY, OUT = "study", "out.html"
CALLS = {
    "train": ("torch", ["train", STUDY], "multirater.nn", "multirater.training"),
    "demo": ("lightning", ["demo"], "multirater.nn", "multirater.training"),
    "nrrd": ("SimpleITK", ["convert", STUDY, "--format", "nrrd"], "multirater.io.formats.itk"),
    "slicer": ("SimpleITK", ["export", STUDY, "--to", "slicer"], "multirater.io"),
    "figures": (
        "matplotlib",
        ["report", STUDY, "--figures", "figures"],
        "multirater.report.figures",
    ),
    "coco": ("pycocotools", ["export", STUDY, "--to", "coco"]),
    "dask": ("distributed", ["fuse", STUDY, "--scheduler", "tcp://127.0.0.1:1"]),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_verb_without_its_extra_says_how_to_get_it_and_writes_nothing(
    call, digits_folder, without, run, tmp_path, monkeypatch
):
    module, words, *ours = CALLS[call]
    monkeypatch.chdir(tmp_path)
    without(module, *ours)
    status, output, errors = run(*[digits_folder if w == STUDY else w for w in words], "-o", OUT)
    assert status == 2
    (line,) = [each for each in errors.splitlines() if each.startswith("error:")]
    wanted = next(name for name, each in EXTRAS.items() if module in each.modules)
    assert f"pip install 'multirater[{wanted}]'" in line
    assert not output
    assert list(tmp_path.iterdir()) == []


def test_polygons_say_it_and_simulated_masks_need_nothing(without, digits_folder, run, tmp_path):
    without("skimage")
    drawn = {"label": "lesion", "points": [[4, 4], [12, 4], [12, 12]], "shape_type": "polygon"}
    size = {"imagePath": "train-0000.png", "imageWidth": 28, "imageHeight": 28}
    (tmp_path / "anna").mkdir()
    (tmp_path / "anna/train-0000.json").write_text(json.dumps({"shapes": [drawn], **size}))
    words = ("labelme", tmp_path / "anna", "--images", digits_folder / "images")
    status, _, errors = run("import", *words, "-o", tmp_path / "study")
    assert (status, "multirater[shapes]" in errors) == (2, True)
    words = (digits_folder, "--raters", "good,under,wrong,coarse:0.3")
    assert run("simulate", *words, "-o", tmp_path / "simulated")[0] == 0


def test_python_says_it_too(without):
    import multirater

    without("torch", "multirater.nn")
    with pytest.raises(ImportError, match=r"networks need torch.*multirater\[train\]"):
        _ = multirater.nn


def test_a_file_of_a_format_that_is_not_installed_is_no_fault_of_the_file(without, tmp_path):
    from multirater.io import read_image

    without("pydicom", "multirater.io.formats.dicom")
    file = tmp_path / "slice.dcm"
    file.write_bytes(bytes(128) + b"DICM")
    with pytest.raises(MissingExtraError, match="DICOM files need pydicom"):
        read_image(file)
