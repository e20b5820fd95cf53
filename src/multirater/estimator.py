"""A scikit-learn classifier that learns from labels of raters who disagree."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from multirater.io.arrays import dataset_from_arrays
from multirater.io.results.layout import TRUST
from multirater.io.results.statements import read_curves, read_json, read_rater_table
from multirater.metrics.class_indices import unmasked
from multirater.metrics.rater_columns import matrix_columns
from multirater.types import MISSING, Case, Classes, Dataset, Geometry, Image, LabelClass, Source

if TYPE_CHECKING:
    from torch import nn


class RaterClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learn to classify from labels that several raters gave, without knowing the truth.

    Trains by the same machinery as `multirater.train`, in a folder that is removed afterwards.

    Args:
        method: any training method for class labels: `auto` (judges the raters first), `cm` (a
            confusion matrix per rater, as unreliable as the labels allow), `majority`, ...
        backbone: the network that sees an item, see `nn.build_classifier_backbone`: `auto`,
            another name, or a torch module of your own, which is copied.
        backbone_options: of that network.
        epochs: passes over the items; the default of `TrainConfig` when None.
        batch_size: items per step; when None 64, fewer for less than a thousand items.
        learning_rate: peak for the network; the default of `TrainConfig` when None.
        confusion_learning_rate: the same for the confusion matrices, where they are learned.
        trace_weight: weight of the trace penalty of `cm`; 0 to do without.
        validation: share of the items held out to choose the best epoch, by the likelihood of
            their labels.
        settings: further fields of `TrainConfig`, by name.
        seed: same seed, same result.

    Attributes:
        classes_: (n_classes,), sorted.
        confusion_: (n_raters, n_classes, n_classes), `[rater, true, observed]`, rows sum to one.
            Methods without matrices of their own: counted from the network's truth. NaN for a
            rater without labels.
        skill_: (n_raters,), mean diagonal of each matrix.
        raters_: table of the raters who gave labels, with intervals; as `raters.csv` of a run.
        trust_: what speaks for and against trusting the result; as `trust.json` of a run.
        curves_: losses of every epoch; as `curves.csv` of a run.
        n_features_in_: features, or channels, of an item.

    Example:
        >>> import numpy as np
        >>> random = np.random.default_rng(0)
        >>> truth = random.integers(0, 2, 200)
        >>> X = truth[:, None] + random.normal(0, 0.3, (200, 3))
        >>> good, poor = random.random((2, 200)) < [[0.95], [0.6]]
        >>> Y = np.stack([np.where(good, truth, 1 - truth), np.where(poor, truth, 1 - truth)], 1)
        >>> fitted = RaterClassifier(seed=0).fit(X, Y)
        >>> bool((fitted.predict(X) == truth).mean() > 0.9)
        True
        >>> fitted.confusion_.shape, bool(fitted.skill_[0] > fitted.skill_[1])
        ((2, 2, 2), True)
    """

    def __init__(
        self,
        method: str = "auto",
        *,
        backbone: str | nn.Module = "auto",
        backbone_options: Mapping[str, Any] | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        confusion_learning_rate: float | None = None,
        trace_weight: float = 0.01,
        validation: float = 0.15,
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.method = method
        self.backbone = backbone
        self.backbone_options = backbone_options
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.confusion_learning_rate = confusion_learning_rate
        self.trace_weight = trace_weight
        self.validation = validation
        self.settings = settings
        self.seed = seed

    def fit(self, X: ArrayLike, y: ArrayLike, *, truth: ArrayLike | None = None) -> RaterClassifier:  # noqa: N803
        """Train on items and what raters called them.

        Args:
            X: (n, n_features), (n, channels, height, width) or (n, channels, depth, height,
                width).
            y: labels (n, n_raters), or (n,) of one rater: whole numbers, or names. Not labelled:
                -1, NaN, None, or an empty name.
            truth: (n,), only for the methods that are given it (`truth`); missing as in `y`.
        """
        from lightning.pytorch.utilities.seed import isolate_rng

        items = self._items(X, reset=True)
        labels = _two_axes(y, "y")
        known = None if truth is None else _two_axes(truth, "truth")
        check_consistent_length(items, labels, known)
        self.classes_ = _classes_of(labels if known is None else _beside(labels, known))
        codes = _codes(labels, self.classes_)
        if (codes == MISSING).all():
            raise ValueError("y holds no label: every entry is NaN, -1 or empty")
        dataset = self._dataset(items, codes, known)
        with tempfile.TemporaryDirectory() as folder, isolate_rng():
            self._train(dataset, Path(folder) / "run")
        self._describe(codes)
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of each true class, (n, n_classes)."""
        check_is_fitted(self)
        items = self._items(X, reset=False)
        cases = (Case(str(number), image) for number, image in enumerate(map(_image, items)))
        found = self._predictor.of_cases(cases, lambda _: ())
        probability = np.stack([each.prediction.probability for each in found]).astype(np.float64)
        return np.asarray(probability / probability.sum(1, keepdims=True))

    def predict(self, X: ArrayLike) -> NDArray[Any]:  # noqa: N803
        """Return the most probable true class of each item, (n,)."""
        best = self.predict_proba(X).argmax(1)
        return np.asarray(self.classes_[best])

    def _items(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:  # noqa: N803
        if np.ma.is_masked(X):
            raise ValueError("X is masked in places; fill them, or leave those items out")
        items = validate_data(self, X, reset=reset, allow_nd=True)
        if items.ndim not in (2, 4, 5):
            raise ValueError(
                f"X has {items.ndim} axes, {items.shape}; expected (n, features), or (n, channels, "
                "*space) with two or three axes of space. Reshape your data"
            )
        if reset:
            self._item_shape = items.shape[1:]
        elif items.shape[1:] != self._item_shape:
            raise ValueError(f"X has items {items.shape[1:]}; expected {self._item_shape}")
        return np.asarray(items)

    def _dataset(
        self, items: NDArray[Any], codes: NDArray[np.int16], truth: NDArray[Any] | None
    ) -> Dataset:
        """Pack everything as a data set, without raters who gave no label."""
        names = tuple(map(str, self.classes_.tolist()))
        present = (codes != MISSING).any(0)
        dataset = dataset_from_arrays(
            codes[:, present],
            raters=[f"rater {number + 1}" for number in np.flatnonzero(present)],
            truths=None if truth is None else _codes(truth, self.classes_)[:, 0],
            classes=Classes(tuple(LabelClass(name) for name in names)),
        )
        cases = zip(dataset.cases, items, strict=True)
        return replace(
            dataset, cases=tuple(replace(case, image=_image(item)) for case, item in cases)
        )

    def _train(self, dataset: Dataset, folder: Path) -> None:
        from multirater.training import Predictor, TrainConfig, train

        given = {
            "method": self.method,
            "backbone": self.backbone,
            "trace_weight": self.trace_weight,
            "validation": self.validation,
            "seed": self.seed,
            "backbone_options": dict(self.backbone_options or {}),
            "epochs": self.epochs,
            "learning_rate": self.learning_rate,
            "confusion_learning_rate": self.confusion_learning_rate,
            "batch_size": self.batch_size,
        }
        config = TrainConfig(**{**given, **(self.settings or {})})
        if config.folds > 1:
            raise ValueError(
                "settings ask for folds; a classifier is one network. Use cross_val_predict of "
                "scikit-learn, or multirater.train"
            )
        train(dataset, folder, config)
        self._predictor = Predictor(folder, trust_code=True)  # the backbone that was given
        # In double precision an item's probability does not depend on its batch.
        self._predictor.network.double()
        known = read_rater_table(folder)
        assert known is not None  # a run of class labels describes its raters
        self.raters_ = known
        self.trust_ = read_json(folder / TRUST)
        self.curves_ = read_curves(folder).set_index("epoch")

    def _describe(self, codes: NDArray[np.int16]) -> None:
        """Settle what is said of all raters, those without labels included."""
        names = self._predictor.data.classes
        known = self.raters_[matrix_columns(names)].to_numpy().reshape(-1, len(names), len(names))
        self.confusion_ = np.full((codes.shape[1], *known.shape[1:]), np.nan)
        self.confusion_[(codes != MISSING).any(0)] = known
        self.skill_ = np.full(codes.shape[1], np.nan)
        self.skill_[(codes != MISSING).any(0)] = self.raters_["skill"]


def _two_axes(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Return labels as (n, n_raters); a list of one rater's labels gets the axis."""
    if labels is None:
        raise ValueError(f"requires {name} to be passed, but the target {name} is None")
    array = unmasked(labels)
    if array.dtype.kind == "U" and isinstance(labels, list | tuple):
        array = np.array(labels, dtype=object)  # numpy would write NaN and -1 out as names
    if array.dtype.kind == "U" and (array == "nan").any():
        raise ValueError(
            f"{name} holds the text 'nan', as numpy makes of NaN among texts; "
            "pass a list or an array of objects, or an empty text for not labelled"
        )
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {array.shape}; expected (n, n_raters) or (n,)")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise ValueError(f"Input {name} contains infinity; NaN stands for not labelled")
    return array[:, None] if array.ndim == 1 else array


def _beside(labels: NDArray[Any], truth: NDArray[Any]) -> NDArray[Any]:
    """Return labels and truth as objects: numpy would write numbers beside texts out as texts."""
    return np.hstack([labels.astype(object), truth.astype(object)])


def _is_missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    absent = np.asarray(pd.isna(labels))
    given = labels.copy()
    if labels.dtype.kind == "O":
        given[absent] = None  # nothing can be compared with the NA of pandas
    if labels.dtype.kind in "OUT":
        absent = absent | (given == "")
    if labels.dtype.kind in "Oif":
        absent = absent | (given == MISSING)
    return absent


def _known(labels: NDArray[Any]) -> NDArray[Any]:
    """Return all labels that are there, (n_labels,), as numbers or names rather than objects."""
    known = labels[~_is_missing(labels)]
    if known.dtype.kind == "O" and len({isinstance(each, str) for each in known.tolist()}) > 1:
        raise ValueError("y holds numbers and texts; expected one of the two: 1 is not '1'")
    return np.array(known.tolist()) if known.dtype.kind == "O" else known


def _classes_of(labels: NDArray[Any]) -> NDArray[Any]:
    known = _known(labels)
    if not known.size:
        raise ValueError("y holds no label: every entry is NaN, -1 or empty")
    check_classification_targets(known)
    classes = np.unique(known)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes[0]!r}; expected two classes or more")
    return classes


def _codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int16]:
    """Return positions in the classes, -1 where missing."""
    codes = np.full(labels.shape, MISSING, dtype=np.int16)
    codes[~_is_missing(labels)] = np.searchsorted(classes, _known(labels))
    return codes


def _image(item: NDArray[Any]) -> Source[Image]:
    return Source(partial(Image, item, Geometry.default(item.ndim - 1)))
