"""Any agreement coefficient, one class against the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_class_indices, require_classes_below
from multirater.types import MISSING


def per_class(
    coefficient: Callable[..., Any],
    *labels: ArrayLike,
    n_classes: int,
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Compute a coefficient for every class against the rest.

    Args:
        coefficient: `fleiss_kappa`, `krippendorff_alpha`, `cohen_kappa`, ... or a `partial` of one.
        labels: what the coefficient takes: one array (n_raters, *items), or two (*items).
        n_classes: how many classes to go through.
        weights: (*items), how many items each column stands for.

    Returns:
        (n_classes, ...), one value of the coefficient per class.

    Example:
        >>> from multirater.metrics import percent_agreement
        >>> per_class(percent_agreement, [[0, 1, 2, 2], [0, 1, 1, 2]], n_classes=3).tolist()
        [1.0, 0.75, 0.75]
    """
    ratings = [as_class_indices(each) for each in labels]
    require_classes_below(n_classes, *ratings)
    return np.array(
        [
            coefficient(*(one_against_rest(each, k) for each in ratings), weights=weights)
            for k in range(n_classes)
        ]
    )


def one_against_rest(labels: ArrayLike, class_index: int) -> NDArray[np.int8]:
    """Labels of the same shape: 1 for the class, 0 for any other, -1 where missing.

    Example:
        >>> one_against_rest([0, 2, 1, -1], 2).tolist()
        [0, 1, 0, -1]
    """
    ratings = as_class_indices(labels)
    binary: NDArray[np.int8] = (ratings == class_index).astype(np.int8)
    binary[ratings < 0] = MISSING
    return binary
