"""A table of raters that does not fit the raters of the study."""

from __future__ import annotations

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import listed


def unmatched_raters(facts: StudyFacts) -> list[Finding]:
    """Find raters without a row in `raters.csv`; rows of strangers count only beside them."""
    info = facts.dataset.rater_info
    without = [rater for rater in facts.raters if rater not in info]
    if not info or not without:
        return []
    strangers = [rater for rater in info if rater not in facts.raters]
    named = f", which names {listed(strangers)} instead" if strangers else ""
    return [
        Finding(
            "caution",
            f"raters.csv says nothing of {listed(without)}{named}",
            "rater-table",
            {"raters": len(without)},
            raters=tuple(without),
            fix="use the names of the manifest in raters.csv, or add the rows",
        )
    ]
