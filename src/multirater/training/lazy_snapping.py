"""Lazy Snapping (Li 2004): a graph cut over superpixels, from strokes to a mask.

The image is cut into superpixels first. Colours of either kind of stroke are summed up by a few
means; a superpixel costs the more as foreground the nearer its colour is to those of the background
(eq. 2 of the paper), neighbours of like colours cost something when they are told apart (eq. 3),
and the cheapest cut is found at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.nn.superpixels import Colours, borders, channels_last, mean_colours, superpixels
from multirater.types import MISSING

_MEANS = 64
"""Colours that a kind of stroke is summed up by, at most."""

_SMOOTHNESS = 0.05
"""Of telling neighbours apart, beside colours that are told by shares from 0 to 1."""

_CERTAIN = 1e6


def lazy_snapping(image: NDArray[Any], is_in: NDArray[np.bool_], is_out: NDArray[np.bool_]) -> Any:
    """Cut an object out of an image.

    Args:
        image: (channels, height, width), any range.
        is_in: strokes on the object, (height, width).
        is_out: strokes beside it; where there are none, everything may belong to it.

    Returns:
        Where the object is, (height, width).

    Example:
        >>> image = np.zeros((1, 24, 24)); image[:, 8:16, 8:16] = 1.0
        >>> strokes = np.zeros((2, 24, 24), dtype=bool)
        >>> strokes[0, 12, 10:14], strokes[1, 2, :] = True, True
        >>> bool((lazy_snapping(image, *strokes) == (image[0] > 0)).all())
        True
    """
    if image.ndim != 3:
        raise InputError(
            Fault("Lazy Snapping of a volume", expected="images of two axes", fix="random-walker")
        )
    with extra():
        import maxflow
    scaled = channels_last(image)
    segments = superpixels(scaled)
    n_found = int(segments.max()) + 1
    colours = mean_colours(scaled, segments)
    away_in, away_out = (_distance(colours, scaled[each]) for each in (is_in, is_out))
    is_near = away_out / np.maximum(away_in + away_out, 1e-9)  # 1 is a colour of the object
    cut = maxflow.GraphFloat()
    nodes = cut.add_nodes(n_found)
    held_in, held_out = (_holds(segments, each, n_found) for each in (is_in, is_out))
    source = np.where(held_in, _CERTAIN, np.where(held_out, 0.0, is_near))
    sink = np.where(held_out & ~held_in, _CERTAIN, np.where(held_in, 0.0, 1 - is_near))
    cut.add_grid_tedges(nodes, source, sink)
    met, length, apart = borders(segments, colours)
    weight = _SMOOTHNESS * length / (1 + 100 * apart**2)
    cut.add_edges(met[:, 0], met[:, 1], weight, weight)
    cut.maxflow()
    found = ~cut.get_grid_segments(nodes)[segments]
    return (found | is_in) & ~(is_out & ~is_in)


def lazy_snapping_mask(image: NDArray[Any], seeds: NDArray[np.int16]) -> NDArray[np.int16]:
    """Cut out each class against all others that are drawn, 2-D.

    Seeds are certain. Where nothing but background is drawn, the rest stays unlabelled; where no
    background is drawn, what is undrawn is background to compare with.

    Args:
        image: (channels, height, width).
        seeds: class indices, -1 where nothing is drawn.
    """
    if not (seeds > 0).any():
        return seeds
    drawn_out = (seeds == 0).any()
    result = np.where(seeds == MISSING, np.int16(0), seeds)
    for k in np.unique(seeds[seeds > 0]).tolist():
        is_out = (seeds != k) & (seeds != MISSING) if drawn_out else seeds != k
        cut = lazy_snapping(image, seeds == k, is_out)
        result[cut & (seeds == MISSING) & (result == 0)] = k
    return result


def _distance(colours: Colours, strokes: Colours) -> NDArray[np.float64]:
    """Return how far each colour is from the nearest mean of the strokes' colours."""
    if not len(strokes):
        return np.full(len(colours), 0.5)
    with extra():
        from sklearn.cluster import KMeans
    distinct = np.unique(strokes.round(3), axis=0)
    if len(distinct) > _MEANS:
        distinct = KMeans(_MEANS, n_init=1, random_state=0).fit(strokes).cluster_centers_
    away = np.linalg.norm(colours[:, None] - distinct[None], axis=2)
    return np.asarray(away.min(1))


def _holds(segments: NDArray[Any], strokes: NDArray[np.bool_], n_found: int) -> NDArray[np.bool_]:
    """Return which superpixels a stroke touches."""
    return np.asarray(np.bincount(segments[strokes], minlength=n_found) > 0)
