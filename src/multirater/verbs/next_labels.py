"""Who should label what next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.acquisition.known_study import Seen, known_of_answers, known_of_study
from multirater.acquisition.result import Known, NextLabels, ranked_labels
from multirater.errors import Fault, InputError
from multirater.fusion.answer_file import read_answer_file
from multirater.fusion.answer_table import is_answer_table
from multirater.io import read_dataset
from multirater.io.survey import Survey, survey
from multirater.rater_choice import chosen_names
from multirater.types import Case, Dataset
from multirater.words import did_you_mean, listed


def next_labels(
    data: Dataset | str | Path,
    *,
    budget: float = 50,
    cost: Mapping[str, float] | None = None,
    ask: Iterable[str] | None = None,
    run: str | Path | None = None,
    seed: int = 0,
    workers: int = 1,
    trust_code: bool = False,
) -> NextLabels:
    """Rank the labels to ask for next: which case, by whom, why, and what it is expected to bring.

    Cases that nobody labelled, second opinions by those who are good at what is disputed, and
    try-outs of raters of whom little is known; none of cases that are settled.

    Args:
        data: masks or class labels, or the path of a data set or of a table of answers. Raters whom
            the study's `raters.csv` names are asked, too, when they have labelled nothing yet.
        budget: what the labels may cost together; their number where each costs one.
        cost: of a label by rater; one for those not named.
        ask: whom to ask, as in `choose_raters`; everybody when not given. What the others said
            counts all the same.
        run: run folder of a network trained on the study, which knows what images show.
        seed: of the answers that are drawn to foresee what all raters together would say.
        workers: number of processes that read.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.

    Raises:
        InputError: with the faults of the study, or of what was asked for.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"case": list("aabbc"), "rater": ["anna", "bert"] * 2 + ["anna"],
        ...                       "label": ["cat", "dog", "cat", "cat", "dog"]})
        >>> found = next_labels(read_dataset(table), budget=1)
        >>> found.labels[["case", "rater", "reason"]].iloc[0].tolist()
        ['c', 'bert', 'try-out']
    """
    if not budget > 0:
        raise InputError(Fault(f"a budget of {budget:g}", expected="a number above 0"))
    known = _known(data, run, workers=workers, trust_code=trust_code)
    return ranked_labels(
        known,
        budget,
        cost=_prices(known, cost or {}),
        may_ask=_may_ask(known, data, ask),
        seed=seed,
    )


def _known(
    data: Dataset | str | Path, run: str | Path | None, *, workers: int, trust_code: bool
) -> Known:
    if isinstance(data, str | Path) and is_answer_table(Path(data)):
        if run is not None:
            raise InputError(Fault("a table of answers has no images for a network"))
        return known_of_answers(read_answer_file(Path(data)))
    dataset = data if isinstance(data, Dataset) else read_dataset(data)
    if not any(case.labels for case in dataset):
        raise InputError(
            Fault(
                "no case has a label",
                expected="some labels to learn from",
                fix="let each rater label a few of the same cases first",
            )
        )
    others = [rater for rater in dataset.rater_info if rater not in dataset.raters]
    found = survey(dataset, workers=workers)
    if run is None:
        return known_of_study(found, others=others)
    if found.dataset.kind == "classes":
        from multirater.training.network_beliefs import class_beliefs

        seen = class_beliefs(run, found, trust_code=trust_code)
        return known_of_study(found, others=others, seen=seen)
    return known_of_study(found, others=others, seen=_seen(run, found, trust_code))


def _seen(run: str | Path, found: Survey, trust_code: bool) -> Seen:
    from multirater.training.network_beliefs import drawing_beliefs

    ask = drawing_beliefs(run, found, trust_code=trust_code)

    def of_case(case: Case) -> NDArray[np.float32]:
        return ask(case)

    return of_case


def _prices(known: Known, cost: Mapping[str, float]) -> NDArray[np.float64]:
    for rater, price in cost.items():
        if rater not in known.raters:
            hint = did_you_mean(rater, known.raters)
            raise InputError(
                Fault(
                    f"a cost for {rater}: no rater of this name{hint}",
                    expected=f"one of {listed(list(known.raters), 12)}",
                )
            )
        told: object = price
        if isinstance(told, str) or not 0 < price < float("inf"):
            raise InputError(Fault(f"a cost of {price!r} for {rater}", expected="above 0"))
    return np.array([float(cost.get(rater, 1.0)) for rater in known.raters])


def _may_ask(
    known: Known, data: Dataset | str | Path, ask: Iterable[str] | None
) -> NDArray[np.bool_] | None:
    if not ask:
        return None
    info = data.rater_info if isinstance(data, Dataset) else {}
    wanted = chosen_names(list(known.raters), info, ask, None, option="--ask")
    asked = np.array([rater in wanted for rater in known.raters])
    return np.broadcast_to(asked, known.belief.given.shape)
