"""All that is odd about a study, from one survey of it."""

from __future__ import annotations

from multirater.io.survey import Survey
from multirater.progress import say
from multirater.sanity.alike import alike_raters, alike_to_truth
from multirater.sanity.class_names import odd_class_names
from multirater.sanity.coverage import covering_classes
from multirater.sanity.empty import empty_for_missing, missing_for_empty
from multirater.sanity.facts import study_facts
from multirater.sanity.mixed_axes import mixed_axes
from multirater.sanity.other_coding import other_coding
from multirater.sanity.patients import mixed_patients
from multirater.sanity.pictures import pictures_for_labels
from multirater.sanity.resolution import coarse_raters
from multirater.sanity.reversed import reversed_masks
from multirater.sanity.shift import shifted_raters
from multirater.sanity.splits import odd_splits
from multirater.sanity.unlabelled import unlabelled_files
from multirater.sanity.unmatched_raters import unmatched_raters
from multirater.trust import Finding, gravest_first
from multirater.words import counted

_MOST_SAID = 3
"""Findings that are said before something else is done; `info` has all of them."""

_CHECKS = (
    mixed_axes,
    pictures_for_labels,
    reversed_masks,
    other_coding,
    covering_classes,
    alike_raters,
    alike_to_truth,
    shifted_raters,
    coarse_raters,
    empty_for_missing,
    missing_for_empty,
    mixed_patients,
    odd_splits,
    unmatched_raters,
    odd_class_names,
)


def study_findings(found: Survey) -> tuple[Finding, ...]:
    """Look for what is likely wrong with a study though every file can be read.

    Everything comes from the survey, except that shifts are checked on a sample of cases, which are
    read again where there is a suspicion.

    Args:
        found: the study, surveyed.

    Returns:
        Gravest first; nothing where nothing is odd.

    Example:
        >>> import numpy as np
        >>> from multirater.io import dataset_from_arrays, survey
        >>> drawn = np.zeros((3, 2, 8, 8), dtype=int)
        >>> drawn[:, :, 2:5, 2:6] = 1
        >>> [finding.code for finding in study_findings(survey(dataset_from_arrays(drawn)))]
        ['alike']
    """
    facts = study_facts(found)
    checks = _CHECKS if facts.n_labels.any() else ()
    return gravest_first(
        finding for check in (unlabelled_files, *checks) for finding in check(facts)
    )


def say_findings(found: Survey) -> None:
    """Say briefly what is odd about a study, before it is fused or trained on."""
    findings = study_findings(found)
    for finding in findings[:_MOST_SAID]:
        say(f"{finding.level}: {finding.text}; to do: {finding.fix}")
    if findings:
        rest = len(findings) - _MOST_SAID
        more = f"{counted(rest, 'more finding')}; " if rest > 0 else ""
        say(f"{more}`multirater info` names the cases")
