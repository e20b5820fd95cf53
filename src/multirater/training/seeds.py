"""How far a result depends on the seed: the same training several times, compared.

RUN/            the run of the first seed, with what the comparison says in its trust.json
RUN/seeds/<n>/  a run each of the other seeds
RUN/seeds.csv   of each seed: agreement with raters, whom it follows most
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.io.results.layout import SEEDS
from multirater.io.results.statements import read_trust, write_table, write_trust
from multirater.metrics import dice_score
from multirater.progress import say
from multirater.training.config import TrainConfig
from multirater.training.methods import split_as_trained
from multirater.training.network_quality import with_quality_of_network
from multirater.training.own_backbone import trusting_code, with_backbone
from multirater.training.plan import Plan
from multirater.training.predictor import Predictor
from multirater.training.processes import is_first_process
from multirater.training.run import train
from multirater.training.run_folder import Run, read_config
from multirater.trust import Finding, Trust
from multirater.types import Case, Dataset
from multirater.words import listed, percent

_ALIKE = 0.9
"""Agreement of two seeds from which on the result is said not to depend on it."""

_MOVED = 0.3
"""Share of the weight that may move between raters without a word."""


def train_seeds(
    dataset: Dataset,
    folder: str | Path,
    config: TrainConfig | None = None,
    *,
    n_seeds: int,
    plan: Plan | Literal["made"] | None = None,
) -> Run:
    """Train with several seeds and compare what comes out.

    Args:
        dataset: as for `train`.
        folder: run folder to make; it holds the run of the first seed.
        config: settings; their seed is the first.
        n_seeds: how many.
        plan: as for `train`.

    Returns:
        The run of the first seed.
    """
    target = Path(folder)
    first = train(dataset, target, config, plan=plan)
    with trusting_code():
        settings = with_backbone(read_config(target), target)
    folders = [target]
    for number in range(1, n_seeds):
        seed = settings.seed + number
        say(f"seed {number + 1} of {n_seeds}: {seed}")
        folders.append(target / "seeds" / str(seed))
        train(dataset, folders[-1], replace(settings, seed=seed))
    if is_first_process():
        with trusting_code():
            _compare(dataset, folders, settings)
    return first


def _compare(dataset: Dataset, folders: Sequence[Path], settings: TrainConfig) -> None:
    """Write what the seeds say together into the first run."""
    statements = [read_trust(folder) or Trust("") for folder in folders]
    table = pd.DataFrame(
        [_row(settings.seed + n, each) for n, each in enumerate(statements)]
    ).set_index("seed")
    write_table(folders[0] / SEEDS, table)
    training, held_out = split_as_trained(dataset, replace(settings, fold=0))
    unseen = held_out if settings.folds == 1 else []
    names = {case.name for case in unseen or [*training, *held_out]}
    cases = [case for case in dataset if case.name in names]
    findings = [_stability(folders, cases, table), *_followed(statements)]
    said = with_quality_of_network(statements[0], findings)
    write_trust(folders[0], said)
    say("\n".join(f"  {each.level}: {each.text}" for each in findings))


def _stability(folders: Sequence[Path], cases: Sequence[Case], table: pd.DataFrame) -> Finding:
    """Say how far the answers of two seeds agree, beside two raters."""
    answers = [_answers(folder, cases) for folder in folders]
    alike = [
        float(np.mean([_agreement(a, b) for a, b in zip(*pair, strict=True)]))
        for pair in itertools.combinations(answers, 2)
    ]
    mean, least = float(np.mean(alike)), float(np.min(alike))
    raters = float(table["raters"].mean())
    numbers = {"mean": mean, "least": least, "raters": raters, "seeds": float(len(folders))}
    spread = f"{table['network'].min():.2f} to {table['network'].max():.2f}"
    text = (
        f"Of {len(folders)} seeds two agree with one another at {mean:.2f} on average, {least:.2f} "
        f"at least; their agreement with raters is {spread}"
    )
    if mean >= _ALIKE or mean >= raters:
        return Finding("good", f"{text}: the result hardly depends on the seed.", "seeds", numbers)
    advice = "Train longer, or average several networks (--folds)"
    text = f"{text}: the result depends on the seed. {advice}."
    return Finding("caution", text, "seeds", numbers)


def _followed(statements: Sequence[Trust]) -> list[Finding]:
    """Say whether whom the network follows depends on the seed."""
    weights = [
        each.numbers for trust in statements for each in trust.findings if each.code == "followed"
    ]
    if len(weights) < 2:
        return []
    names = list(weights[0])
    shares = np.array([[each.get(name, 0.0) for name in names] for each in weights])
    moved = max(float(np.abs(a - b).sum() / 2) for a, b in itertools.combinations(shares, 2))
    most = [f"{names[int(each.argmax())]} ({percent(float(each.max()))})" for each in shares]
    numbers = {"moved": moved}
    if moved <= _MOVED:
        text = f"Whom it follows hardly depends on the seed: most {listed(most, most=5)}."
        return [Finding("good", text, "seeds-followed", numbers)]
    text = (
        f"Whom it follows depends on the seed: most {listed(most, most=5)}; up to "
        f"{percent(moved)} of the weight moves. Do not read it as a verdict on raters."
    )
    return [Finding("caution", text, "seeds-followed", numbers)]


def _answers(folder: Path, cases: Sequence[Case]) -> list[NDArray[np.int16]]:
    predictor = Predictor(folder)
    found = predictor.of_cases(list(cases), lambda _: ())
    by_name = {each.case.name: each.prediction.label for each in found}
    return [by_name[case.name] for case in cases if case.name in by_name]


def _agreement(one: NDArray[np.int16], other: NDArray[np.int16]) -> float:
    return float(one == other) if one.ndim == 0 else dice_score(one, other)


def _row(seed: int, trust: Trust) -> dict[str, Any]:
    by_code = {each.code: each for each in trust.findings}
    numbers = dict(by_code["network"].numbers) if "network" in by_code else {}
    followed = by_code["followed"].raters if "followed" in by_code else ()
    known = {name: numbers.get(name, np.nan) for name in ("network", "raters", "gap")}
    return {"seed": seed, **known, "followed": followed[0] if followed else ""}
