"""LES-AV: 22 fundus photographs with the retinal vessels."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.io.formats.images import image_shape, is_image_file
from multirater.io.importers.recipes.layout import require_folder
from multirater.io.importers.recipes.splits import split_patients
from multirater.io.new_folder import new_folder
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row, cell_of
from multirater.types import Classes, LabelClass

CLASSES = Classes((LabelClass("background", "#000000"), LabelClass("vessel", "#e66100")))
SHARES = {"train": 18, "test": 4}
"""Photographs for training and testing in the Coarse paper."""

IMAGES, VESSELS = "images", "vessel-segmentations"


def import_les_av(
    source: str | Path, folder: str | Path, *, seed: int = 0, overwrite: bool = False
) -> Path:
    """Make a data set of LES-AV, with the vessels as truth; files stay where they are.

    The coarse drawings of the paper are not published: `multirater simulate` makes some.

    Args:
        source: the folder with `images` and `vessel-segmentations`, files of the same names.
        folder: target.
        seed: draws the photographs to test on.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing, damaged or of another size.

    Example:
        >>> import_les_av("LES-AV", "les-av")  # doctest: +SKIP
    """
    root, target = Path(source), Path(folder)
    require_folder(root, f"the folder with {IMAGES} and {VESSELS}")
    images = sorted(path for path in root.glob(f"{IMAGES}/*") if is_image_file(path))
    faults: list[Fault] = []
    pairs = [(image, _vessels_of(root, image, faults)) for image in images]
    if not images:
        faults.append(Fault(f"no photographs in {IMAGES}/", fix="name LES-AV", file=str(root)))
    if faults:
        raise InputError(faults)
    splits = split_patients((image.stem for image in images), SHARES, seed=seed)
    with new_folder(target, overwrite=overwrite, inputs=[root]) as temporary:
        rows = [
            Row(
                image.stem,
                cell_of([image], target),
                truth=cell_of([vessels], target),
                split=splits[image.stem],
            )
            for image, vessels in pairs
            if vessels is not None
        ]
        write_dataset_tables(temporary, rows, CLASSES)
    return target / manifest.FILE_NAME


def _vessels_of(root: Path, image: Path, faults: list[Fault]) -> Path | None:
    found = sorted(root.glob(f"{VESSELS}/{image.stem}.*"))
    if len(found) != 1:
        faults.append(
            Fault(
                f"{len(found)} files for the vessels",
                expected=f"{VESSELS}/{image.stem}.*",
                fix="unpack the data again",
                case=image.stem,
            )
        )
        return None
    try:
        size, expected = image_shape(found[0])[0], image_shape(image)[0]
    except InputError as error:
        faults += error.at(case=image.stem).faults
        return None
    if size != expected:
        faults.append(
            Fault(
                f"label has size {size_text(size)}",
                expected=f"{size_text(expected)}, the size of the photograph",
                file=str(found[0]),
                case=image.stem,
            )
        )
    return found[0]
