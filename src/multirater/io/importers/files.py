"""A manifest for files that follow a naming pattern, such as `{case}_{rater}.png`."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from multirater.errors import Fault, InputError
from multirater.io.formats.stray import Stray
from multirater.io.formats.suffixes import READABLE, is_dicom_file, suffix_of
from multirater.io.importers.name_patterns import BY_CHOICE, Pattern
from multirater.io.naming import require_texts
from multirater.io.tables.manifest import FILE_NAME, IMAGE_SEPARATOR, Row, write_rows
from multirater.progress import say
from multirater.words import counted

Patterns: TypeAlias = Mapping[str, Sequence[Pattern]]
"""Patterns of images, truths and labels, those that were given."""

_MOST_LISTED = 10
"""Files that fit no pattern and are named."""

_SUCH_AS = {"image": "{case}.png", "truth": "truth/{case}.png", "label": "{case}_{rater}.png"}


def import_files(
    folder: str | Path,
    output: str | Path,
    *,
    label: str | Sequence[str],
    image: str = "",
    truth: str = "",
    stray: Stray | None = None,
    overwrite: bool = False,
) -> Path:
    """Write a manifest that points to files where they are.

    A file that fits several patterns belongs to the most precise one, which has the most fixed
    text; where a name can be cut into case and rater in several ways, the images decide. Hidden
    files are passed by, and suffixes fit in upper and lower case. Files that fit no pattern are
    listed.

    Args:
        folder: holds the files, at any depth.
        output: manifest to write, or the folder to write it into.
        label: pattern of label files with `{case}` and `{rater}`, relative to `folder`; or several.
        image: pattern of images with `{case}`; several files of a case become channels. One without
            `{case}` names a single image, and then no pattern has it.
        truth: pattern of true labels with `{case}`.
        stray: how values of label files that stand for no class are read, whenever the data set is:
            as the `nearest` value that does, or as `missing`; they are refused when not given.
        overwrite: replace a manifest.

    All patterns may have `{split}` and `{patient}`, which go into the manifest; `**` spans folders.

    Returns:
        The path of the manifest.

    Raises:
        InputError: a pattern fits nothing, two files for one case and rater, or a file of a format
            that cannot be read.
    """
    root = Path(folder)
    if not root.exists():
        raise InputError(Fault("does not exist", fix="check the path", file=str(root)))
    if not root.is_dir():
        raise InputError(
            Fault("is not a folder", expected="the folder that holds the files", file=str(root))
        )
    labels = [label] if isinstance(label, str) else list(label)
    is_single = bool(image) and "{case}" not in "".join([image, truth, *labels])
    case = () if is_single else ("case",)
    patterns: dict[str, list[Pattern]] = {
        "image": [Pattern(image, case)],
        "truth": [Pattern(truth, case)],
        "label": [Pattern(each, (*case, "rater")) for each in labels],
    }
    names = _visible_files(root)
    require_texts(names, root)
    given = {kind: [p for p in each if p.text] for kind, each in patterns.items()}
    found = _sorted_out(names, given, root.resolve().name)
    _require_found(found, patterns, names, root)
    target = Path(output)
    target = target if target.suffix.lower() == ".csv" else target / FILE_NAME
    to_root = Path(os.path.relpath(root.resolve(), target.resolve().parent))
    rows = [replace(row, stray=stray or "") for row in _rows(found, to_root)]
    write_rows(rows, target, overwrite=overwrite)
    _tell(rows, found)
    return target


def _tell(rows: Sequence[Row], found: _Found) -> None:
    """Say what came in, and which files did not."""
    raters = sorted({row.rater for row in rows if row.rater})
    n_cases = len({row.case for row in rows})
    found_raters = counted(len(raters), "rater")
    say(f"{counted(n_cases, 'case')}, {found_raters}: {', '.join(raters[:8])}")
    if found.without_image:
        n_left, first = len(found.without_image), found.without_image[0]
        fit = "fits, but belongs" if n_left == 1 else "fit, but belong"
        say(f"{counted(n_left, 'file')} {fit} to no image, such as {first}")
    if found.unmatched:
        n_left = len(found.unmatched)
        say(f"{counted(n_left, 'file')} {'fits' if n_left == 1 else 'fit'} no pattern:")
        for name in found.unmatched[:_MOST_LISTED]:
            say(f"  {name}")
        if n_left > _MOST_LISTED:
            say(f"  and {n_left - _MOST_LISTED:,} more")


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
    """Names of files: images and truths by case, labels by case and rater.

    `told` holds split and patient by case; where files of a case tell several, it holds them all.
    """

    image: dict[str, list[str]] = field(default_factory=dict)
    truth: dict[str, list[str]] = field(default_factory=dict)
    label: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    told: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    without_image: list[str] = field(default_factory=list)
    unmatched: list[str] = field(default_factory=list)


def _sorted_out(names: Sequence[str], patterns: Patterns, folder: str) -> _Found:
    found = _Found()
    by_precision = sorted(
        ((kind, pattern) for kind, several in patterns.items() for pattern in several),
        key=lambda each: -each[1].n_fixed,
    )
    cases = _cases(names, patterns.get("image", []))
    fitting = dict(_fitting(names, by_precision, cases))
    case_name = _naming(fitting, patterns, folder)
    for name in names:
        if name not in fitting:
            fits = any(pattern.fits(name) for _, pattern in by_precision)
            (found.without_image if fits else found.unmatched).append(name)
            continue
        kind, match = fitting[name]
        case = case_name(name)
        for told in BY_CHOICE:
            if said := match.groupdict().get(told):
                found.told.setdefault(case, defaultdict(set))[told].add(said)
        if kind == "label":
            found.label.setdefault((case, match["rater"]), []).append(name)
        else:
            files = found.image if kind == "image" else found.truth
            files.setdefault(case, []).append(name)
    return found


_Fitting: TypeAlias = dict[str, tuple[str, re.Match[str]]]


def _fitting(
    names: Sequence[str],
    by_precision: Sequence[tuple[str, Pattern]],
    cases: set[str] | None,
) -> Iterator[tuple[str, tuple[str, re.Match[str]]]]:
    """Yield each name that fits with the kind of file it is, and its parts."""
    for name in names:
        for kind, pattern in by_precision:
            if match := pattern.fits(name, cases):
                yield name, (kind, match)
                break


def _naming(fitting: _Fitting, patterns: Patterns, folder: str) -> Callable[[str], str]:
    """Return what names the case of a file: `{case}`, with split and patient where it must be."""
    where: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    leading = "image" if patterns.get("image") else "label"
    for kind, match in fitting.values():
        said = match.groupdict()
        if kind == leading and "case" in said:
            where[said["case"]].add(tuple(said.get(each) or "" for each in BY_CHOICE))
    is_qualified = any(len(places) > 1 for places in where.values())
    images = [name for name, (kind, _) in fitting.items() if kind == "image"]
    alone = Path(images[0]).name if len(images) == 1 else folder
    single = alone[: len(alone) - len(suffix_of(alone))] or alone

    def case_name(name: str) -> str:
        said = fitting[name][1].groupdict()
        if "case" not in said:
            return single
        if not is_qualified:
            return str(said["case"])
        return "-".join(each for key in (*BY_CHOICE, "case") if (each := said.get(key)))

    return case_name


def _cases(names: Iterable[str], image: Sequence[Pattern]) -> set[str] | None:
    """Return the cases that have an image; None where no image tells which cases there are."""
    fitting = (pattern.fits(name) for pattern in image for name in names)
    return {match["case"] for match in fitting if match and "case" in match.groupdict()} or None


def _require_found(found: _Found, patterns: Patterns, names: Sequence[str], root: Path) -> None:
    faults = [
        _not_found(kind, pattern, found, names).at(file=root)
        for kind, several in patterns.items()
        for pattern in several
        if (pattern.text or kind == "label") and not _fits_any(pattern, kind, found)
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
    faults += [*_unreadable(found, root), *_contradictions(found), *_other_cases(found)]
    if faults:
        raise InputError(faults)


def _other_cases(found: _Found) -> Iterator[Fault]:
    """Find images of one name in several folders with labels of their own: no channels of one."""
    drawn: dict[str, set[str]] = defaultdict(set)
    for (case, _), files in found.label.items():
        drawn[case] |= set(map(_folder, files))
    for case, images in found.image.items():
        both = {_folder(file): file for file in images if _folder(file) in drawn[case]}
        if len(both) > 1:
            first, *_, last = both.values()
            yield Fault(
                f"images in several folders, each with labels beside it: {first} and {last}",
                expected="a name of its own for each case",
                fix="rename the files, or import each folder on its own",
                case=case,
            )


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _fits_any(pattern: Pattern, kind: str, found: _Found) -> bool:
    files: Mapping[object, list[str]] = getattr(found, kind)
    return any(pattern.fits(name) for names in files.values() for name in names)


def _unreadable(found: _Found, root: Path) -> list[Fault]:
    """List files of formats that cannot be read."""
    used = [*found.image.values(), *found.truth.values(), *found.label.values()]
    return [
        Fault(
            f"cannot read files of suffix {suffix_of(name) or '(none)'}",
            expected=", ".join(sorted(READABLE)),
            fix="convert the file, or make the pattern more precise",
            file=str(root / name),
        )
        for names in used
        for name in names
        if suffix_of(name) not in READABLE and not is_dicom_file(root / name)
    ]


def _contradictions(found: _Found) -> list[Fault]:
    """List cases whose files tell several splits, or patients."""
    return [
        Fault(
            f"files tell several {told}s: {', '.join(sorted(said))}",
            expected="one for each case",
            fix=f"put {{{told}}} into the pattern of images, too, or take it out of the others",
            case=case,
        )
        for case, tells in found.told.items()
        for told, said in tells.items()
        if len(said) > 1
    ]


def _not_found(kind: str, pattern: Pattern, found: _Found, names: Sequence[str]) -> Fault:
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
        told = found.told.get(case, {})
        split, patient = ("".join(told.get(each, ())) for each in BY_CHOICE)
        return Row(case, cell(image), rater, cell(files), cell(truth), split, patient=patient)

    labelled = {case for case, _ in found.label}
    rows = [row(case, rater, files) for (case, rater), files in found.label.items()]
    rows += [row(case) for case in {*found.image, *found.truth} - labelled]
    return sorted(rows, key=lambda each: (each.case, each.rater))
