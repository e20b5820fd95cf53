"""A manifest for files that follow a naming pattern, such as `{case}_{rater}.png`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.manifest import FILE_NAME, IMAGE_SEPARATOR, Row, write_rows
from multirater.progress import say


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

    Args:
        folder: holds the files, at any depth.
        output: manifest to write, or the folder to write it into.
        label: pattern of label files with `{case}` and `{rater}`, relative to `folder`.
        image: pattern of images with `{case}`; several files of a case become channels.
        truth: pattern of true labels with `{case}`.
        overwrite: replace a manifest.

    Returns:
        The path of the manifest.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InputError(Fault("is not a folder", file=str(root)))
    names = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    images = _by_case(image, names)
    truths = _by_case(truth, names)
    labels = _by_case_and_rater(label, names, set(images) or None)
    if not labels:
        raise InputError(
            Fault(
                f"no label file matches {label!r} among {len(names)} files",
                expected="a pattern such as '{case}_{rater}.png'"
                + (f"; there is, for instance, {names[0]}" if names else ""),
                file=str(root),
            )
        )
    target = Path(output)
    target = target if target.suffix == ".csv" else target / FILE_NAME
    to_root = Path(os.path.relpath(root.resolve(), target.resolve().parent))
    rows = _rows(images, labels, truths, to_root)
    write_rows(rows, target, overwrite=overwrite)
    cases = {row.case for row in rows}
    raters = sorted({row.rater for row in rows if row.rater})
    say(f"{len(cases)} cases, {len(raters)} raters: {', '.join(raters[:8])}")
    return target


def _rows(
    images: dict[str, list[str]],
    labels: dict[tuple[str, str], str],
    truths: dict[str, list[str]],
    to_root: Path,
) -> list[Row]:
    def cell(files: Iterable[str]) -> str:
        return IMAGE_SEPARATOR.join((to_root / file).as_posix() for file in files)

    rows = [
        Row(case, cell(images.get(case, [])), rater, cell([file]), cell(truths.get(case, [])))
        for (case, rater), file in labels.items()
    ]
    unlabelled = sorted(set(images) - {case for case, _ in labels})
    rows += [Row(c, cell(images[c]), truth=cell(truths.get(c, []))) for c in unlabelled]
    return sorted(rows, key=lambda row: (row.case, row.rater))


def _by_case(pattern: str, names: list[str]) -> dict[str, list[str]]:
    if not pattern:
        return {}
    expression = _expression(pattern, ("case",))
    found: dict[str, list[str]] = {}
    for name in names:
        match = expression.fullmatch(name)
        if match:
            found.setdefault(match["case"], []).append(name)
    return found


def _by_case_and_rater(
    pattern: str, names: list[str], cases: set[str] | None
) -> dict[tuple[str, str], str]:
    """Match labels; where a name can be cut in two ways, the known cases decide."""
    cuts = [_expression(pattern, ("case", "rater"), greedy=greedy) for greedy in (True, False)]
    found: dict[tuple[str, str], str] = {}
    for name in names:
        matches = [match for cut in cuts if (match := cut.fullmatch(name))]
        known = [match for match in matches if cases is None or match["case"] in cases]
        if known:
            key = (known[0]["case"], known[0]["rater"])
            if key in found:
                raise InputError(
                    Fault(
                        f"two label files for one case and rater: {found[key]} and {name}",
                        fix="make the pattern more precise",
                        case=key[0],
                        rater=key[1],
                    )
                )
            found[key] = name
    return found


def _expression(pattern: str, fields: tuple[str, ...], *, greedy: bool = True) -> re.Pattern[str]:
    missing = [field for field in fields if f"{{{field}}}" not in pattern]
    if missing:
        raise InputError(
            Fault(f"pattern {pattern!r} lacks {{{missing[0]}}}", expected="{case}_{rater}.png, say")
        )
    text = re.escape(pattern).replace(r"\*", "[^/]*")
    for field in fields:
        plus = "+" if greedy or field == "rater" else "+?"
        first = f"(?P<{field}>[^/]{plus})"
        text = text.replace(rf"\{{{field}\}}", first, 1)
        text = text.replace(rf"\{{{field}\}}", f"(?P={field})")
    return re.compile(text)
