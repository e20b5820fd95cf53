"""A manifest for files that follow a naming pattern, such as `{case}_{rater}.png`."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.suffixes import suffix_of
from multirater.io.tables.manifest import FILE_NAME, IMAGE_SEPARATOR, Row, write_rows
from multirater.progress import say
from multirater.words import counted

_SUCH_AS = {"image": "{case}.png", "truth": "truth/{case}.png", "label": "{case}_{rater}.png"}


def import_files(
    folder: str | Path,
    output: str | Path,
    *,
    label: str,
    image: str = "",
    truth: str = "",
    overwrite: bool = False,
) -> Path:
    """Write a manifest that points to files where they are.

    A file that fits several patterns belongs to the most precise one, which has the most fixed
    text; where a name can be cut into case and rater in several ways, the images decide. Hidden
    files are passed by, and suffixes fit in upper and lower case.

    Args:
        folder: holds the files, at any depth.
        output: manifest to write, or the folder to write it into.
        label: pattern of label files with `{case}` and `{rater}`, relative to `folder`.
        image: pattern of images with `{case}`; several files of a case become channels.
        truth: pattern of true labels with `{case}`.
        overwrite: replace a manifest.

    Returns:
        The path of the manifest.

    Raises:
        InputError: a pattern fits nothing, or two files for one case and rater.
    """
    root = Path(folder)
    if not root.exists():
        raise InputError(Fault("does not exist", fix="check the path", file=str(root)))
    if not root.is_dir():
        raise InputError(
            Fault("is not a folder", expected="the folder that holds the files", file=str(root))
        )
    patterns = {
        "image": _Pattern(image, ("case",)),
        "truth": _Pattern(truth, ("case",)),
        "label": _Pattern(label, ("case", "rater")),
    }
    names = _visible_files(root)
    found = _sorted_out(names, {kind: each for kind, each in patterns.items() if each.text})
    _require_found(found, patterns, names, root)
    target = Path(output)
    target = target if target.suffix.lower() == ".csv" else target / FILE_NAME
    to_root = Path(os.path.relpath(root.resolve(), target.resolve().parent))
    rows = _rows(found, to_root)
    write_rows(rows, target, overwrite=overwrite)
    raters = sorted({row.rater for row in rows if row.rater})
    n_cases = len({row.case for row in rows})
    found_raters = counted(len(raters), "rater")
    say(f"{counted(n_cases, 'case')}, {found_raters}: {', '.join(raters[:8])}")
    if found.without_image:
        n_left, first = len(found.without_image), found.without_image[0]
        fit = "fits, but belongs" if n_left == 1 else "fit, but belong"
        say(f"{counted(n_left, 'file')} {fit} to no image, such as {first}")
    return target


@dataclass(frozen=True)
class _Pattern:
    """A pattern of names with `{case}` and perhaps `{rater}`."""

    text: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        asked = set(re.findall(r"\{(.*?)\}", self.text))
        if self.text and asked != set(self.fields):
            wrong = sorted(asked ^ set(self.fields))[0]
            both = " and ".join(f"{{{field}}}" for field in self.fields)
            raise InputError(
                Fault(
                    f"pattern {self.text!r} {'has' if wrong in asked else 'lacks'} {{{wrong}}}",
                    expected=f"a pattern with {both}",
                    fix="correct the pattern",
                )
            )

    @property
    def n_fixed(self) -> int:
        """Number of characters that a name must have."""
        return len(re.sub(r"\{.*?\}|\*", "", self.text))

    def fits(self, name: str, cases: Container[str] | None = None) -> re.Match[str] | None:
        """Cut a name into its parts: with the longest case that fits, of those that are known."""
        match = _expression(self.text, self.fields, "+").fullmatch(name)
        if match is None or cases is None or match["case"] in cases:
            return match
        for length in range(len(match["case"]) - 1, 0, -1):
            shorter = _expression(self.text, self.fields, f"{{{length}}}").fullmatch(name)
            if shorter is not None and shorter["case"] in cases:
                return shorter
        return None


@lru_cache(maxsize=1024)
def _expression(text: str, fields: tuple[str, ...], case_length: str) -> re.Pattern[str]:
    n_suffix = len(suffix_of(text)) if "}" not in suffix_of(text) else 0
    stem, suffix = text[: len(text) - n_suffix], text[len(text) - n_suffix :]
    expression = re.escape(stem).replace(r"\*", "[^/]*")
    for field in fields:
        length = case_length if field == "case" else "+"
        place = rf"\{{{field}\}}"
        expression = expression.replace(place, f"(?P<{field}>[^/]{length})", 1)
        expression = expression.replace(place, f"(?P={field})")
    return re.compile(f"{expression}(?i:{re.escape(suffix)})")


def _visible_files(root: Path) -> list[str]:
    found = []
    for folder, folders, files in os.walk(root, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "__MACOSX")))
        inside = Path(folder).relative_to(root)
        found += [(inside / name).as_posix() for name in files if not name.startswith(".")]
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise InputError(
        Fault(
            f"cannot be read: {error.strerror}", fix="ask for read access", file=str(error.filename)
        )
    )


@dataclass(frozen=True)
class _Found:
    """Names of files: images and truths by case, labels by case and rater."""

    image: dict[str, list[str]]
    truth: dict[str, list[str]]
    label: dict[tuple[str, str], list[str]]
    without_image: list[str]


def _sorted_out(names: Sequence[str], patterns: Mapping[str, _Pattern]) -> _Found:
    found = _Found({}, {}, {}, [])
    by_precision = sorted(patterns, key=lambda kind: -patterns[kind].n_fixed)
    cases = _cases(names, patterns.get("image"))
    for name in names:
        fits = ((kind, patterns[kind].fits(name, cases)) for kind in by_precision)
        kind, match = next(((kind, match) for kind, match in fits if match), ("", None))
        if match is None:
            if any(pattern.fits(name) for pattern in patterns.values()):
                found.without_image.append(name)
        elif kind == "label":
            found.label.setdefault((match["case"], match["rater"]), []).append(name)
        else:
            files = found.image if kind == "image" else found.truth
            files.setdefault(match["case"], []).append(name)
    return found


def _cases(names: Iterable[str], image: _Pattern | None) -> set[str] | None:
    """Return the cases that have an image; None where no image tells which cases there are."""
    if image is None:
        return None
    return {match["case"] for name in names if (match := image.fits(name))} or None


def _require_found(
    found: _Found, patterns: Mapping[str, _Pattern], names: Sequence[str], root: Path
) -> None:
    faults = [
        _not_found(kind, pattern, found, names).at(file=root)
        for kind, pattern in patterns.items()
        if (pattern.text or kind == "label") and not getattr(found, kind)
    ]
    one_each = [((case, "(truth)"), files) for case, files in found.truth.items()]
    faults += [
        Fault(
            f"two label files for one case and rater: {files[0]} and {files[1]}",
            expected="one file for each",
            fix="make the pattern more precise",
            case=case,
            rater=rater,
        )
        for (case, rater), files in [*found.label.items(), *one_each]
        if len(files) > 1
    ]
    if faults:
        raise InputError(faults)


def _not_found(kind: str, pattern: _Pattern, found: _Found, names: Sequence[str]) -> Fault:
    """Say that a pattern fits no file, or only files of cases that have no image."""
    fitting = [name for name in found.without_image if pattern.fits(name)]
    if fitting:
        return Fault(
            f"the {kind} files that match {pattern.text!r} belong to no image, such as "
            f"{fitting[0]}",
            expected=f"{kind} files whose {{case}} is that of an image",
            fix="make the patterns of images and labels give the same names of cases",
        )
    return Fault(
        f"no {kind} file matches {pattern.text!r} among {counted(len(names), 'file')}",
        expected=f"a pattern such as {_SUCH_AS[kind]!r}"
        + (f"; there is, for instance, {names[0]}" if names else ""),
        fix="correct the pattern or the folder",
    )


def _rows(found: _Found, to_root: Path) -> list[Row]:
    def cell(files: Iterable[str]) -> str:
        return IMAGE_SEPARATOR.join((to_root / file).as_posix() for file in files)

    def row(case: str, rater: str = "", files: Sequence[str] = ()) -> Row:
        image, truth = found.image.get(case, []), found.truth.get(case, [])
        return Row(case, cell(image), rater, cell(files), cell(truth))

    labelled = {case for case, _ in found.label}
    rows = [row(case, rater, files) for (case, rater), files in found.label.items()]
    rows += [row(case) for case in {*found.image, *found.truth} - labelled]
    return sorted(rows, key=lambda each: (each.case, each.rater))
