"""A data set with some of its raters: the others are left out everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TypeAlias

from multirater.errors import Fault, InputError
from multirater.types import Case, Dataset
from multirater.words import listed

RaterInfo: TypeAlias = Mapping[str, Mapping[str, str]]
"""By rater, what the columns of the study's `raters.csv` say."""

_MOST_NAMED = 12
"""Raters that an error message lists."""


def choose_raters(
    dataset: Dataset, raters: Iterable[str] | None = None, *, exclude: Iterable[str] | None = None
) -> Dataset:
    """Return the data set with some of its raters only, in the order of the data set.

    Cases stay, also those that lose all their labels.

    Args:
        dataset: as opened by `read_dataset`.
        raters: whom to keep; everybody when not given. Each is a name, names separated by commas,
            or `column=value` for everybody of whom the study's `raters.csv` says so
            (`group=expert`).
        exclude: whom to leave out, in the same words.

    Raises:
        InputError: a rater that the data set does not have, or nobody is left.

    Example:
        >>> import numpy as np
        >>> from multirater import dataset_from_arrays
        >>> data = dataset_from_arrays(np.zeros((1, 3, 4, 4), int), raters=["anna", "bert", "carl"])
        >>> choose_raters(data, exclude=["bert"]).raters
        ('anna', 'carl')
        >>> choose_raters(data, ["carl,anna"]).raters
        ('anna', 'carl')
    """
    if not raters and not exclude:
        return dataset
    drawers = [drawing.rater for case in dataset for drawing in case.drawings]
    known = list(dict.fromkeys([*dataset.raters, *drawers]))
    kept = chosen_names(known, dataset.rater_info, raters, exclude)
    return replace(
        dataset,
        cases=tuple(_of_raters(case, kept) for case in dataset),
        raters=tuple(rater for rater in dataset.raters if rater in kept),
        rater_info={rater: said for rater, said in dataset.rater_info.items() if rater in kept},
    )


def chosen_names(
    known: Sequence[str],
    info: RaterInfo,
    raters: Iterable[str] | None,
    exclude: Iterable[str] | None,
    *,
    option: str = "--raters",
) -> set[str]:
    """Return who is left of the raters that are known; see `choose_raters`.

    `option` is what the wanted ones were named by, for messages.
    """
    find = _Finder(known, info)
    wanted = _texts(raters)
    kept = find.named(wanted, option) if wanted else set(known)
    kept -= find.named(_texts(exclude), "--exclude")
    if not kept:
        raise InputError(
            Fault(
                "no rater is left",
                expected=f"at least one of {listed(known, _MOST_NAMED)}",
                fix="leave fewer out",
            )
        )
    return kept


def _texts(texts: Iterable[str] | None) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts or ())


@dataclass(frozen=True)
class _Finder:
    """Finds raters by what people write: a name, several by commas, or `column=value`."""

    known: Sequence[str]
    info: RaterInfo

    def named(self, texts: Sequence[str], option: str) -> set[str]:
        found: set[str] = set()
        faults = []
        for part in [part for text in texts for part in self._parts(text)]:
            meant = {part} & set(self.known) or self._of_group(part)
            found |= meant
            if not meant:
                faults.append(self._unknown(part, option))
        if faults:
            raise InputError(faults)
        return found

    def _parts(self, text: str) -> list[str]:
        """Split at commas, unless they belong to a name."""
        if text in self.known:
            return [text]
        return [part.strip() for part in text.split(",") if part.strip()]

    def _of_group(self, part: str) -> set[str]:
        column, _, value = (each.strip() for each in part.partition("="))
        if not value:
            return set()
        return {r for r in self.known if self.info.get(r, {}).get(column.lower()) == value}

    def _unknown(self, part: str, option: str) -> Fault:
        groups = [f"{name}={text}" for said in self.info.values() for name, text in said.items()]
        names = {name.lower(): name for name in (*groups, *self.known)}
        close = get_close_matches(part.lower(), names, n=1)
        hint = f"; did you mean {names[close[0]]}?" if close else ""
        return Fault(
            f"{option} {part}: no rater of this name{hint}",
            expected=f"one of {listed(self.known, _MOST_NAMED)}",
            fix="check the spelling; names are separated by commas",
        )


def _of_raters(case: Case, kept: set[str]) -> Case:
    return replace(
        case,
        labels={rater: source for rater, source in case.labels.items() if rater in kept},
        simulated={rater: text for rater, text in case.simulated.items() if rater in kept},
        when={rater: text for rater, text in case.when.items() if rater in kept},
        drawings=tuple(drawing for drawing in case.drawings if drawing.rater in kept),
    )
