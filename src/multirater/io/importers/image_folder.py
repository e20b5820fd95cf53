"""The images that an export speaks of, in a folder: found by name, and by folders where needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from multirater.errors import Fault, InputError
from multirater.io.drawings.export_images import closest
from multirater.io.formats.suffixes import is_image_file, suffix_of
from multirater.words import did_you_mean

_SWAPS_SIDES = range(5, 9)
_UPRIGHT = 1
_ORIENTATION = 0x0112
"""The EXIF tag; its values above 4 swap height and width."""


@dataclass(frozen=True, eq=False)
class ImageFolder:
    """The images below a folder, by file name."""

    root: Path
    by_name: dict[str, list[Path]]

    @staticmethod
    def of(root: Path) -> ImageFolder:
        """List the images of a folder, at any depth; hidden ones are passed by."""
        if not root.is_dir():
            raise InputError(
                Fault(
                    "is not a folder" if root.exists() else "does not exist",
                    expected="the folder with the images that were labelled",
                    fix="correct --images",
                    file=str(root),
                )
            )
        by_name: dict[str, list[Path]] = {}
        for path in sorted(root.rglob("*")):
            hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
            if not hidden and is_image_file(path):
                by_name.setdefault(path.name, []).append(path)
        return ImageFolder(root, by_name)

    @property
    def files(self) -> list[Path]:
        """All images."""
        return [path for paths in self.by_name.values() for path in paths]

    def find(self, names: Iterable[str]) -> Path:
        """Return the one image that goes by one of these names, the first that fits anything.

        Raises:
            InputError: there is none, or several fit equally well.
        """
        asked = [name.replace("\\", "/") for name in names]
        for name in asked:
            at_hand = self.by_name.get(PurePosixPath(name).name, [])
            found = closest(((path, [path.as_posix()]) for path in at_hand), name)
            if len(found) == 1:
                return found[0]
            if found:
                listed = ", ".join(str(path.relative_to(self.root)) for path in found[:3])
                raise InputError(
                    Fault(
                        f"image {name} may be any of {listed}",
                        expected="one image of that name",
                        fix="give images that share a name to the tool with their folders, or "
                        "rename them",
                    )
                )
        first = asked[0] if asked else "(no name)"
        raise InputError(
            Fault(
                f"image {first} is not in {self.root}"
                f"{did_you_mean(PurePosixPath(first).name, self.by_name)}",
                expected="every image that the export speaks of",
                fix="copy the image there, or correct --images",
            )
        )

    def case_names(self, images: Sequence[Path]) -> dict[Path, str]:
        """Name cases after their images: the stem, with folders where stems are not distinct."""
        stems = [stem_of(path) for path in images]
        named = {}
        for path, stem in zip(images, stems, strict=True):
            inside = path.relative_to(self.root).with_name(stem).as_posix()
            named[path] = stem if stems.count(stem) == 1 else inside
        if len(set(named.values())) < len(named):  # a.png beside a.jpg
            return {path: path.relative_to(self.root).as_posix() for path in images}
        return named


def stem_of(path: str | Path) -> str:
    """Return a file name without the suffix that tells its format.

    Example:
        >>> stem_of("scans/p1.T1.nii.gz"), stem_of("eye.png")
        ('p1.T1', 'eye')
    """
    name = PurePosixPath(Path(path).as_posix()).name
    return name[: len(name) - len(suffix_of(name))] or name


def require_upright(path: Path, stated: tuple[float, float] | None) -> None:
    """Refuse a photograph that viewers turn, unless the tool is known to have left it unturned.

    Args:
        path: the image.
        stated: (width, height) by the tool; where turning swaps the sides of the image, this
            tells whether the tool turned it.
    """
    if suffix_of(path) not in (".jpg", ".jpeg"):
        return
    from PIL import Image as Pillow

    with Pillow.open(path) as picture:
        orientation = picture.getexif().get(_ORIENTATION, _UPRIGHT)
        width, height = picture.size
    told = stated is not None and orientation in _SWAPS_SIDES and width != height
    if orientation == _UPRIGHT or told:
        return
    raise InputError(
        Fault(
            f"{path.name} has EXIF orientation {orientation}, so that viewers turn or mirror it",
            expected="an image stored upright: nobody knows which way round it was labelled",
            fix="store the image upright without the tag, and label that one",
        )
    )
