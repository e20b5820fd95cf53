"""Problems with a planted truth, and a dense EM written without the package to hold it against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from scipy.ndimage import gaussian_filter


def _plant(seed, *, n_raters=5, n_items=200, n_classes=3, skill=(0.6, 0.95), missing=0.0):
    """Truth (n_items,) and labels (n_raters, n_items) of raters who err at random."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n_items)
    right = rng.random((n_raters, n_items)) < rng.uniform(*skill, (n_raters, 1))
    labels = np.where(right, truth, rng.integers(0, n_classes, (n_raters, n_items)))
    labels[rng.random(labels.shape) < missing] = -1
    return truth, labels


def _blobs(seed, shape, *, n_raters=4, n_classes=2, noise=(0.02, 0.25)):
    """Smooth regions as truth (*space), and raters (n_raters, *space) with noise of their own."""
    rng = np.random.default_rng(seed)
    smooth = gaussian_filter(rng.normal(size=shape), 3)
    cuts = np.quantile(smooth, np.sort(rng.uniform(0.3, 0.9, n_classes - 1)))
    truth = np.digitize(smooth, cuts)
    labels = []
    for rate in rng.uniform(*noise, n_raters):
        wrong = (truth + rng.integers(1, n_classes, shape)) % n_classes
        labels.append(np.where(rng.random(shape) < rate, wrong, truth))
    return truth, np.stack(labels).astype(np.uint8)


def _long(labels, rater_column="worker"):
    """The same labels as a long table, tasks and raters numbered."""
    rater, task = np.nonzero(labels != -1)
    order = np.lexsort((rater, task))
    rater, task = rater[order], task[order]
    return pd.DataFrame({"task": task, rater_column: rater, "label": labels[rater, task]})


@dataclass
class _Dense:
    cm: np.ndarray
    prior: np.ndarray
    posterior: np.ndarray
    log_likelihood: list


def _free(counts, cm, dirichlet, first):
    """Normalise every row; see `dawid_skene` for what happens to vanishing counts."""
    n_raters, n_classes, _ = counts.shape
    result = np.empty_like(counts)
    for r in range(n_raters):
        for t in range(n_classes):
            if counts[r, t].sum() == 0 and not first:
                result[r, t] = 1 / n_classes
                continue
            for o in range(n_classes):
                least = 1e-10 if counts[r, :, o].sum() > 0 else 1e-20
                result[r, t, o] = max(counts[r, t, o] + dirichlet, least)
            result[r, t] /= result[r, t].sum()
    return result


def _coin(counts, cm, dirichlet, first):
    n_raters, n_classes, _ = counts.shape
    result = np.empty_like(counts)
    for r in range(n_raters):
        total = counts[r].sum() + 2 * dirichlet
        skill = (np.trace(counts[r]) + dirichlet) / total if total else 1 / n_classes
        result[r] = (1 - skill) / (n_classes - 1)
        np.fill_diagonal(result[r], skill)
    return result


_STEPS = {"free": _free, "coin": _coin}


def _dense_em(
    labels, n_classes, *, n_iter, step="free", prior="frequency", dirichlet=0.0, gold=None
):
    """EM over every item (n_raters, n_items), nothing compressed, probabilities in the open."""
    n_raters, n_items = labels.shape
    said = np.stack([labels == o for o in range(n_classes)]).astype(float)  # class, rater, item
    votes = said.sum(1).T
    share = votes.sum(0) / votes.sum() if votes.sum() else np.full(n_classes, 1 / n_classes)
    pi = share if isinstance(prior, str) else np.asarray(prior)
    n_votes = votes.sum(1, keepdims=True)
    q = np.where(n_votes > 0, votes / np.maximum(n_votes, 1), pi)
    known = np.full(n_items, -1) if gold is None else gold
    counts = (n_votes[:, 0] > 0) | (known >= 0)
    q[known >= 0] = np.eye(n_classes)[known[known >= 0]]
    if isinstance(prior, str) and prior == "estimated":
        pi = q[counts].mean(0)
    cm = _STEPS[step](np.einsum("jt,orj->rto", q, said), None, dirichlet, True)
    trace = []
    for _ in range(n_iter):
        joint = np.tile(pi, (n_items, 1))
        for r in range(n_raters):
            for j in range(n_items):
                if labels[r, j] >= 0:
                    joint[j] *= cm[r, :, labels[r, j]]
        for j in np.flatnonzero(known >= 0):
            joint[j, np.arange(n_classes) != known[j]] = 0
        trace.append(np.log(joint.sum(1)).sum())
        q = joint / joint.sum(1, keepdims=True)
        cm = _STEPS[step](np.einsum("jt,orj->rto", q, said), cm, dirichlet, False)
        if isinstance(prior, str) and prior == "estimated":
            pi = q[counts].mean(0)
    return _Dense(cm, pi, q, trace)


def _table_log_likelihood(table, cm, prior, raters, classes):
    """Log-likelihood of a long table, straight from the definition, answer by answer."""
    rater_at = {name: i for i, name in enumerate(raters)}
    class_at = {name: i for i, name in enumerate(classes)}
    joint = {}
    log_cm = np.log(np.maximum(cm, 1e-300))
    log_prior = np.log(np.maximum(prior, 1e-300))
    for task, rater, label in zip(table.task, table.worker, table.label, strict=True):
        joint.setdefault(task, log_prior.copy())
        joint[task] += log_cm[rater_at[rater], :, class_at[label]]
    return float(sum(np.logaddexp.reduce(values) for values in joint.values()))


@pytest.fixture(scope="session")
def plant():
    return _plant


@pytest.fixture(scope="session")
def blobs():
    return _blobs


@pytest.fixture(scope="session")
def long_table():
    return _long


@pytest.fixture(scope="session")
def dense_em():
    return _dense_em


@pytest.fixture(scope="session")
def table_log_likelihood():
    return _table_log_likelihood
