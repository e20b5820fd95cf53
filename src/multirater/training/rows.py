"""Images that are too large to hold all that is said of them: rows at a time, kept in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.progress import track
from multirater.training.case_prediction import Prediction
from multirater.training.paged import in_file, let_go


@dataclass(frozen=True)
class Rows:
    """Rows of an image to predict, from `start` to `end`, and which are looked at for them."""

    start: int
    end: int
    first: int
    last: int

    @property
    def within(self) -> slice:
        """The rows to predict, counted from the first that is looked at."""
        return slice(self.start - self.first, self.end - self.first)


def rows_of(n_rows: int, most: int, edge: int) -> list[Rows]:
    """Cut an image into rows, at most so many at a time, and look at some beyond them.

    Example:
        >>> rows_of(5, most=3, edge=1)
        [Rows(start=0, end=3, first=0, last=4), Rows(start=3, end=5, first=2, last=7)]
    """
    return [
        Rows(start, min(start + most, n_rows), max(start - edge, 0), start + most + edge)
        for start in range(0, n_rows, most)
    ]


def predict_rows(
    image: NDArray[np.float32], parts: Sequence[Rows], predict: Callable[[Rows], Prediction]
) -> Prediction:
    """Predict an image (channels, *space) part by part; keep what is said in files."""
    kept: list[NDArray[np.float32] | None] = []
    for part in track(parts, "parts of a large image", len(parts)):
        found = predict(part)
        maps = (found.probability, found.drawn, found.confusion)
        first = [0 if m is None else m.ndim - image.ndim + 1 for m in maps]
        kept = kept or [
            None if m is None else in_file((*m.shape[:axis], image.shape[1], *m.shape[axis + 1 :]))
            for m, axis in zip(maps, first, strict=True)
        ]
        for whole, own, axis in zip(kept, maps, first, strict=True):
            if whole is not None and own is not None:
                whole[(slice(None),) * axis + (slice(part.start, part.end),)] = own
                let_go(whole)
        let_go(image)
    return Prediction(*kept)  # type: ignore[arg-type]
