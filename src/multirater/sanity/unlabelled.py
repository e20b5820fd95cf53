"""Label files in which not one pixel is labelled."""

from __future__ import annotations

import numpy as np

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted, listed


def unlabelled_files(facts: StudyFacts) -> list[Finding]:
    """Find raters all of whose files say of every pixel that it is missing.

    A file or two may well be so; where all are, a value that means something passes for *missing*.
    """
    given = np.array([[r in case.labels for r in facts.raters] for case in facts.dataset])
    n_files = given.sum(0)
    who = [i for i in range(len(facts.raters)) if n_files[i] and not facts.labelled[:, i].any()]
    if not who:
        return []
    names = tuple(facts.raters[i] for i in who)
    n_given = int(n_files[who].sum())
    return [
        Finding(
            "problem",
            f"no pixel is labelled in any of the {counted(n_given, 'label')} of {listed(names)}",
            "not-labelled",
            {"labels": n_given, "raters": len(names)},
            facts.names(np.asarray(given[:, who].any(1))),
            names,
            "look at what the label files hold, and what classes.csv calls unlabelled",
        )
    ]
