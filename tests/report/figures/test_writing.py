from __future__ import annotations

from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from PIL import Image

from multirater import dataset_from_arrays
from multirater.errors import InputError
from multirater.report.contents import gather_subject
from multirater.report.figures import write_figures
from multirater.report.subject import Subject

SVG = {"svg", "g", "path", "defs", "use", "style", "clipPath", "rect", "image"}
SVG_METADATA = {"metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title"}


def _one_figure():
    labels = np.zeros((1, 1, 24, 24), dtype=np.int16)
    labels[..., 4:9, 4:9] = 1
    return gather_subject(Subject("one", ("data set",), dataset_from_arrays(labels)))


def test_names_are_safe_in_file_names_and_inert_in_files(predict, tmp_path):
    labels = np.zeros((1, 2, 24, 24), dtype=np.int16)
    labels[:, 0, 4:9, 4:9] = 1
    data = dataset_from_arrays(
        labels,
        raters=["<script>alert(1)</script>", '../$x_1$ -- "é" & more'],
        cases=["--><img src=x onerror=y>"],
    )
    files = write_figures(gather_subject(predict(data)), tmp_path / "out")
    assert any(path.name.startswith("confusion-maps-") for path in files)
    for path in files:
        assert path.parent == tmp_path / "out"
        assert not set(path.name) & set('<>:"/\\|?*$')
        if path.suffix == ".svg":
            tags = {element.tag.split("}")[1] for element in ElementTree.parse(path).iter()}
            assert tags <= SVG | SVG_METADATA
            assert "<script" not in path.read_text(encoding="utf-8")


def test_png_and_svg_have_the_same_size_at_300_dots_per_inch(tmp_path):
    png, svg = write_figures(_one_figure(), tmp_path)
    with Image.open(png) as image:
        image.load()
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)
        inches = image.width / 300, image.height / 300
    root = ElementTree.parse(svg).getroot()
    size = [float(root.attrib[side].removesuffix("pt")) / 72 for side in ("width", "height")]
    assert size == pytest.approx(inches, abs=0.01)


def test_files_are_replaced_only_on_request_and_by_the_same_bytes(tmp_path):
    files = write_figures(_one_figure(), tmp_path)
    before = [path.read_bytes() for path in files]
    with pytest.raises(InputError, match="already exists"):
        write_figures(_one_figure(), tmp_path)
    write_figures(_one_figure(), tmp_path, overwrite=True)
    assert [path.read_bytes() for path in files] == before


def test_settings_of_the_user_neither_change_figures_nor_are_changed(tmp_path):
    (usual, _) = write_figures(_one_figure(), tmp_path / "a")
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        (other, _) = write_figures(_one_figure(), tmp_path / "b")
        assert matplotlib.rcParams["font.size"] == 30
    assert usual.read_bytes() == other.read_bytes()


def test_images_alone_are_nothing_to_draw(tmp_path):
    nobody = np.empty((3, 0, 24, 24), dtype=np.int16)
    data = dataset_from_arrays(nobody, images=np.zeros((3, 24, 24)))
    with pytest.raises(InputError, match="nothing to draw"):
        write_figures(gather_subject(Subject("images", ("data set",), data)), tmp_path)
