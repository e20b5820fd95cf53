"""Cases that take no part in training, for how their split is called."""

from __future__ import annotations

from collections import Counter

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted, listed

_MEANT = {"train": ("train",), "val": ("val", "valid", "validation"), "test": ("test",)}
"""What splits may be called, by what a name that begins so most likely means."""


def odd_splits(facts: StudyFacts) -> list[Finding]:
    """Find splits called nearly as those of training, and cases without a split beside it."""
    cases = [case for case in facts.dataset if case.labels or case.truth is not None]
    sizes = Counter(case.split for case in cases)
    odd = {name: word for name in sizes if (word := _meant(name))}
    found = []
    if odd:
        said = [f"{name} ({counted(sizes[name], 'case')})" for name in odd]
        found.append(
            Finding(
                "problem",
                f"splits called {listed(said)}, which no verb looks for",
                "split-name",
                {"cases": sum(sizes[name] for name in odd)},
                tuple(case.name for case in cases if case.split in odd),
                fix=f"call them {listed(sorted(set(odd.values())))} in the manifest",
            )
        )
    if sizes["train"] and sizes[""]:
        found.append(
            Finding(
                "caution",
                f"{counted(sizes[''], 'case')} without a split, beside {sizes['train']} in train: "
                "they take no part in training",
                "without-split",
                {"cases": sizes[""]},
                tuple(case.name for case in cases if not case.split),
                fix="give them a split in the manifest, or none of the cases",
            )
        )
    return found


def _meant(name: str) -> str:
    """Return what a split is most likely meant to be; nothing for names that stand for themselves.

    Example:
        >>> _meant("Training"), _meant("validation"), _meant("fold 1")
        ('train', '', '')
    """
    for word, names in _MEANT.items():
        if name.casefold().startswith(word) and name not in names:
            rest = name.casefold().removeprefix(word)
            return word if rest in ("", "ing", "id", "idate", "idation", "s") else ""
    return ""
