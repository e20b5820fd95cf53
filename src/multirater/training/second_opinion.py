"""Does a finished network do at least what fixed filters do? A second opinion, without truth.

Fixed filters of the image, with boosted trees on them, foresee what each rater draws in cases they
have not learned, some better than others. The raters whom the image bears out best are those whom a
network that has learned its images should agree with, whatever it was trained on. One that agrees
with them less than filters do has followed others, or has not learned enough.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from multirater.training.filters import responses
from multirater.training.standing import shares
from multirater.training.weighing import drawn_evidence, foreseen
from multirater.training.witness import by_filters, entropy_of
from multirater.trust import Finding
from multirater.types import MISSING
from multirater.words import listed

Label = NDArray[np.int16]
Target = NDArray[np.int64]

_SIDES = {2: 96, 3: 24}
_PIXELS = 1500
_CASES = 100
_MARGIN = 0.045
"""Dice by which filters may foresee the raters better than the network agrees with them. Chosen on
seed 5 of the arena: 16 of 20 failed runs lie below, and 4 of 76 others."""

_SHARE = 0.1
"""Weight from which on a rater is named."""


class SecondOpinion:
    """Collects some pixels of some cases, then asks fixed filters about them.

    Args:
        raters: names.
        n_classes: background included.
    """

    def __init__(self, raters: tuple[str, ...], n_classes: int) -> None:
        self.raters = raters
        self.n_classes = n_classes
        self.random = np.random.default_rng(0)
        self.filters: list[NDArray[np.float32]] = []
        self.labels: list[Target] = []
        self.answers: list[Target] = []
        self.groups: list[str] = []

    @property
    def is_full(self) -> bool:
        """Whether cases enough have been seen."""
        return len(self.filters) >= _CASES

    def look(
        self,
        image: NDArray[np.generic],
        labels: Mapping[str, Label],
        answer: Label,
        group: str,
    ) -> None:
        """Take some pixels of a case.

        Args:
            image: (channels, *space).
            labels: by rater, (*space), -1 where missing.
            answer: of the network, (*space).
            group: what it must not be parted from, such as its patient.
        """
        window = self._window(labels, answer)
        part = image[(slice(None), *window)].astype(np.float32)
        part = (part - part.mean()) / max(float(part.std()), 1e-6)
        taken = self.random.permutation(part[0].size)[:_PIXELS]
        drawn = np.full((len(self.raters), len(taken)), MISSING, dtype=np.int64)
        for rater, label in labels.items():
            drawn[self.raters.index(rater)] = label[window].ravel()[taken]
        self.filters.append(responses(part).reshape(-1, part[0].size)[:, taken].T)
        self.labels.append(drawn)
        self.groups.append(group)
        self.answers.append(answer[window].ravel()[taken].astype(np.int64))

    def _window(self, labels: Mapping[str, Label], answer: Label) -> tuple[slice, ...]:
        """Choose a part of the image, around something that a rater drew."""
        side = _SIDES[answer.ndim]
        drawn = np.flatnonzero(np.max([label > 0 for label in labels.values()], axis=0))
        middle = self.random.choice(drawn) if drawn.size else self.random.integers(answer.size)
        place = np.unravel_index(int(middle), answer.shape)
        first = [
            int(np.clip(at - side // 2, 0, max(size - side, 0)))
            for at, size in zip(place, answer.shape, strict=True)
        ]
        return tuple(slice(start, start + side) for start in first)

    def finding(self) -> list[Finding]:
        """Say whether filters do better than the network; nothing where too little was seen."""
        if not self.filters:
            return []
        filters, labels = np.concatenate(self.filters), np.concatenate(self.labels, axis=1)
        answers = np.concatenate(self.answers)
        number = {group: place for place, group in enumerate(dict.fromkeys(self.groups))}
        groups = [number[group] for group in self.groups]
        case = np.repeat(groups, [len(each) for each in self.answers])
        said = [by_filters(filters, case, own, self.n_classes) for own in labels]
        found = foreseen(said)
        if found is None:
            return []
        entropy = np.array([entropy_of(own[own != MISSING], self.n_classes) for own in labels])
        weight = shares(drawn_evidence(found, entropy))
        weight *= [each is not None for each in said]
        weight /= weight.sum()
        by_network = np.array([self._agreement(own, answers) for own in labels])
        without = np.array(
            [0.0 if each is None else self._agreement(each.target, each.guess) for each in said]
        )
        return [self._said(float(weight @ without), float(weight @ by_network), weight)]

    def _agreement(self, drawn: Target, other: Target) -> float:
        """Mean Dice of the objects, over labels that are given; 0 without any."""
        given = drawn != MISSING
        scores = [
            2.0
            * ((drawn == k) & (other == k))[given].sum()
            / max((drawn == k)[given].sum() + (other == k)[given].sum(), 1)
            for k in range(1, self.n_classes)
        ]
        return float(np.mean(scores))

    def _said(self, filters: float, network: float, weight: NDArray[np.float64]) -> Finding:
        order = np.argsort(-weight)
        best = [self.raters[r] for r in order if weight[r] >= _SHARE]
        numbers = {"filters": filters, "network": network, "gap": network - filters}
        text = (
            f"Fixed filters of the image foresee the drawings of {listed(best, most=3)}, which "
            f"follow from it best, with Dice {filters:.2f}; the network agrees with them by "
            f"{network:.2f}"
        )
        if network >= filters - _MARGIN:
            return Finding("good", f"{text}.", "second-opinion", numbers, raters=tuple(best))
        text += (
            ": it follows others, or has not learned its images yet. Train for longer or with more "
            "cases, by `auto` if it was not; look at some cases."
        )
        return Finding("problem", text, "second-opinion", numbers, raters=tuple(best))
