"""The colours of raters and classes on white paper; outlines on dark images may be brighter."""

from __future__ import annotations

import colorsys

_DISTINCT = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d55e00",
    "#56b4e9",
    "#871e5a",
    "#a50000",
    "#a5c387",
    "#4b694b",
    "#4b00e1",
    "#8778ff",
)
"""Six of Okabe and Ito's colours, then the farthest from all before them.

The distance is CIEDE2000, the smallest of those seen with normal sight and with the three kinds of
colour blindness; it is above 10 between any two. All stand out from white and from near black.
"""

_GOLDEN = 0.6180339887
_LIGHTNESS = (0.35, 0.48, 0.6)


def rater_colours(n: int) -> list[str]:
    """Return the colour `#rrggbb` of each of n raters.

    A rater keeps its colour when others are added: the list for n is the start of every longer one.
    The first 12 can be told apart whatever one's colour vision; the next ones differ from each
    other, but not enough to rely on without a name beside them.

    Args:
        n: number of raters.

    Example:
        >>> rater_colours(3)
        ['#0072b2', '#e69f00', '#009e73']
    """
    return [*_DISTINCT[:n], *(_further(i) for i in range(n - len(_DISTINCT)))]


def class_colours(n_classes: int) -> list[str]:
    """Return the colour of each class; the first is the background, light grey.

    Args:
        n_classes: number of classes.

    Example:
        >>> class_colours(2)
        ['#d9d9d9', '#0072b2']
    """
    return ["#d9d9d9", *rater_colours(max(n_classes - 1, 0))][:n_classes]


def _further(i: int) -> str:
    """Step round the hues by the golden ratio, so that neighbours lie far apart."""
    hue = (i * _GOLDEN + 0.08) % 1
    parts = colorsys.hls_to_rgb(hue, _LIGHTNESS[i % len(_LIGHTNESS)], 0.6)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)
