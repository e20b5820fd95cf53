"""Files of several raters in folders: one folder per rater, named after them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.suffixes import READABLE


def rater_files(
    sources: Sequence[Path], endings: Sequence[str], *, is_deep: bool = False
) -> dict[str, dict[str, Path]]:
    """Return each rater's files, by name without ending.

    Of several folders, each is a rater's. A single one is a rater's if it holds such files, and
    that of all raters if its folders do. A file that was given by itself belongs to the rater its
    folder is named after.

    Args:
        sources: folders or files.
        endings: of the files wanted, such as `.seg.nrrd`.
        is_deep: whether files of one rater may lie in folders, so that each source is a rater's.

    Raises:
        InputError: a folder holds none, or two files of a rater have one name.
    """
    found: dict[str, dict[str, Path]] = {}
    faults: list[Fault] = []
    is_own = is_deep or sum(source.is_dir() for source in sources) > 1
    for source in sources:
        files = _files_in(source, endings, is_own=is_own)
        if not files:
            faults.append(
                Fault(
                    f"holds no file that ends in {' or '.join(endings)}",
                    expected="a folder per rater, named after them, with a file per image",
                    fix="name the folders of the raters",
                    file=str(source),
                )
            )
        for rater, file, name in files:
            before = found.setdefault(rater, {}).setdefault(name, file)
            if before != file:
                faults.append(
                    Fault(
                        f"two files called {name}: {before} and {file}",
                        expected="one file per image",
                        rater=rater,
                    )
                )
    if faults:
        raise InputError(faults)
    return found


def names_with(stem: str) -> tuple[str, ...]:
    """Return the file names that an image of this name may have."""
    return tuple(f"{stem}{suffix}" for suffix in sorted(READABLE))


def _files_in(source: Path, endings: Sequence[str], *, is_own: bool) -> list[tuple[str, Path, str]]:
    """Return rater, file and name of each file in a source."""
    if source.is_file():
        inside = [source]
    else:
        inside = sorted(path for path in source.rglob("*") if path.is_file())
    found = []
    for path in inside:
        ending = next((end for end in endings if path.name.lower().endswith(end)), None)
        if ending is None or path.name.startswith("."):
            continue
        folders = path.parent.relative_to(source).parts if source.is_dir() else ()
        own = source if source.is_dir() else path.parent
        rater = folders[0] if folders and not is_own else own.resolve().name
        found.append((rater, path, path.name[: -len(ending)]))
    return found
