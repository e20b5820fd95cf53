import numpy as np
import pytest
from PIL import Image
from skimage.draw import circle_perimeter, disk

from multirater.errors import InputError, MultiraterWarning
from multirater.io import read_dataset, survey
from multirater.io.importers.recipes import import_riga
from multirater.io.importers.recipes.outlines import enclosed

CENTRE = (60, 70)


def filled(radius, centre=CENTRE, space=(120, 140)):
    mask = np.zeros(space, dtype=bool)
    mask[disk(centre, radius + 0.5)] = True
    return mask


def outline(*radii, space=(120, 140), centres=(CENTRE, CENTRE)):
    lines = np.zeros(space, dtype=bool)
    for radius, centre in zip(radii, centres, strict=False):
        lines[circle_perimeter(*centre, radius)] = True
    return lines


def dice(one, other):
    return 2 * (one & other).sum() / (one.sum() + other.sum())


@pytest.mark.parametrize(("disc", "cup"), [(40, 15), (40, 33), (25, 8)])
def test_nested_outlines_are_filled(disc, cup):
    outer, inner = enclosed(outline(disc, cup))
    assert dice(outer, filled(disc)) > 0.98
    assert dice(inner, filled(cup)) > 0.95


def test_outlines_that_touch():
    disc, cup = 30, 18
    beside = (CENTRE[0], CENTRE[1] + disc - cup)
    outer, inner = enclosed(outline(disc, cup, centres=(CENTRE, beside)))
    assert dice(outer, filled(disc)) > 0.97
    assert dice(inner, filled(cup, beside)) > 0.9


def test_open_outlines_enclose_nothing():
    lines = outline(40, 15)
    lines[:, :55] = False
    _, inner = enclosed(lines)
    assert not inner.any()


@pytest.fixture
def riga(tmp_path):
    rng = np.random.default_rng(0)
    root = tmp_path / "RIGA"
    for place in ("MESSIDOR", "BinRushed/BinRushed1", "Magrabia/MagrabiaMale"):
        suffix = ".tif" if place == "MESSIDOR" else ".jpg"
        folder = root / place
        folder.mkdir(parents=True)
        for number in (1, 2):
            plain = rng.integers(120, 130, (120, 140, 3), dtype=np.uint8)
            Image.fromarray(plain).save(folder / f"image{number}prime{suffix}", quality=95)
            for rater in range(1, 7):
                marked = plain.copy()
                marked[outline(40 - rater, 20 - rater)] = 0
                Image.fromarray(marked).save(folder / f"image{number}-{rater}{suffix}", quality=95)
    return root


def test_outlines_become_labels_of_six_raters(riga, tmp_path):
    data = read_dataset(import_riga(riga, tmp_path / "data"))
    assert len(data) == 6
    assert len(data.raters) == 6
    assert data["MESSIDOR-image1"].split == "train"
    assert data["BinRushed-BinRushed1-image2"].split == "train"
    assert data["Magrabia-MagrabiaMale-image1"].split == "test"
    for case in ("MESSIDOR-image1", "BinRushed-BinRushed1-image2"):
        label = data[case].read_label("rater 3").array
        assert dice(label > 0, filled(37)) > 0.95
        assert dice(label == 2, filled(17)) > 0.9
    survey(data)


def test_one_of_the_folders_alone(riga, tmp_path):
    data = read_dataset(import_riga(riga / "MESSIDOR", tmp_path / "data"))
    assert [case.name for case in data] == ["MESSIDOR-image1", "MESSIDOR-image2"]
    assert {case.split for case in data} == {"train"}


def test_a_drawing_without_closed_outlines_is_left_out_with_a_warning(riga, tmp_path):
    plain = riga / "MESSIDOR/image1prime.tif"
    (riga / "MESSIDOR/image1-2.tif").write_bytes(plain.read_bytes())
    with pytest.warns(MultiraterWarning, match="1 of 36 drawings"):
        data = read_dataset(import_riga(riga, tmp_path / "data"))
    assert "rater 2" not in data["MESSIDOR-image1"].labels


def test_wrong_folders_and_sizes_are_refused(riga, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no image of RIGA"):
        import_riga(tmp_path / "empty", tmp_path / "data")
    Image.fromarray(np.zeros((5, 5, 3), np.uint8)).save(riga / "MESSIDOR/image1-2.tif")
    with pytest.raises(InputError, match="MESSIDOR-image1, rater rater 2"):
        import_riga(riga, tmp_path / "data")
