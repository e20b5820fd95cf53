"""Charts as SVG that takes its colours from the page, so that it is right in light, dark, print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from multirater.report.raters import Figure

_WIDTH, _HEIGHT = 480, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 12, 40

Points = Sequence[tuple[float, float]]


def line_chart(
    series: Mapping[str, Points],
    *,
    title: str,
    x: str,
    y: str,
    ticks_x: dict[float, str] | None = None,
) -> Markup:
    """Draw lines over a common axis.

    Args:
        series: points (x, y) by name.
        title: for whoever does not see it.
        x: name of the horizontal axis.
        y: name of the vertical axis.
        ticks_x: what stands where on the horizontal axis; round numbers when not given.
    """
    every = [point for points in series.values() for point in points]
    frame = _Frame.around(every, zero_x=False)
    parts = [frame.axes(x, y, ticks_x)]
    for number, points in enumerate(series.values()):
        path = "M" + "L".join(f"{frame.x(a):.1f},{frame.y(b):.1f}" for a, b in points)
        parts.append(Markup('<path class="line s{}" d="{}"/>').format(number, path))
        if len(points) == 1:
            parts.append(_dot(frame.x(points[0][0]), frame.y(points[0][1]), number))
    return _svg(title, parts, list(series))


def scatter_chart(series: Mapping[str, Points], *, title: str, x: str, y: str) -> Markup:
    """Draw points between 0 and 1 on both axes, with the diagonal."""
    frame = _Frame(0, 1, 0, 1)
    parts = [frame.axes(x, y)]
    ends = (frame.x(0), frame.y(0), frame.x(1), frame.y(1))
    parts.append(
        Markup('<line class="guide" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
            *ends
        )
    )
    for number, points in enumerate(series.values()):
        parts += [_dot(frame.x(a), frame.y(b), number, 2.6) for a, b in points]
    return _svg(title, parts, list(series))


def group_chart(
    series: Mapping[str, Mapping[str, Figure]], groups: Sequence[str], *, title: str, y: str
) -> Markup:
    """Draw a value with its interval for each group and series, side by side.

    Args:
        series: by name, a figure per group.
        groups: in order, from left to right.
        title: for whoever does not see it.
        y: name of the vertical axis, which runs from 0 to 1.
    """
    frame = _Frame(-0.5, len(groups) - 0.5, 0, 1)
    parts = [frame.axes("", y, ticks_x={float(i): name for i, name in enumerate(groups)})]
    step = 0.7 / max(len(series), 1)
    for number, figures in enumerate(series.values()):
        shift = (number - (len(series) - 1) / 2) * step
        for position, group in enumerate(groups):
            if group in figures:
                parts.append(_whisker(frame, position + shift, figures[group], number))
    return _svg(title, parts, list(series))


def interval_bar(figure: Figure, *, low: float = 0.0, high: float = 1.0) -> Markup:
    """Draw a small dot with its interval on a line from `low` to `high`, for a table cell."""
    if math.isnan(figure.value):
        return Markup("")

    def place(value: float) -> float:
        share = (value - low) / (high - low)
        return 3 + 74 * min(max(share, 0), 1)

    whisker = Markup("")
    if not math.isnan(figure.low):
        whisker = Markup('<line class="whisker" x1="{:.1f}" x2="{:.1f}" y1="6" y2="6"/>').format(
            place(figure.low), place(figure.high)
        )
    return Markup(
        '<svg class="interval" viewBox="0 0 80 12" aria-hidden="true"><line class="track" x1="3" '
        'x2="77" y1="6" y2="6"/>{}<circle cx="{:.1f}" cy="6" r="3"/></svg>'
    ).format(whisker, place(figure.value))


class _Frame:
    """Maps values to places in the picture."""

    def __init__(self, x0: float, x1: float, y0: float, y1: float) -> None:
        self.x0, self.x1, self.y0, self.y1 = x0, max(x1, x0 + 1e-9), y0, max(y1, y0 + 1e-9)

    @staticmethod
    def around(points: Points, *, zero_x: bool) -> _Frame:
        xs, ys = [p[0] for p in points] or [0.0], [p[1] for p in points] or [0.0]
        margin = 0.06 * (max(ys) - min(ys) or abs(max(ys)) or 1.0)
        left = 0.0 if zero_x else min(xs)
        return _Frame(left, max(max(xs), left + 1), min(ys) - margin, max(ys) + margin)

    def x(self, value: float) -> float:
        return _LEFT + (value - self.x0) / (self.x1 - self.x0) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.y0) / (self.y1 - self.y0)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def axes(self, x: str, y: str, ticks_x: dict[float, str] | None = None) -> Markup:
        parts = []
        for value in _ticks(self.y0, self.y1):
            place = self.y(value)
            parts.append(
                Markup(
                    '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
                    '<text class="tick end" x="{}" y="{:.1f}">{:g}</text>'
                ).format(_LEFT, _WIDTH - _RIGHT, place, place, _LEFT - 7, place + 4, value)
            )
        marks = ticks_x or {v: f"{v:g}" for v in _ticks(self.x0, self.x1)}
        for value, name in marks.items():
            parts.append(
                Markup('<text class="tick middle" x="{:.1f}" y="{}">{}</text>').format(
                    self.x(value), _HEIGHT - _BOTTOM + 17, name
                )
            )
        parts.append(
            Markup('<text class="axis middle" x="{}" y="{}">{}</text>').format(
                (_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 5, x
            )
        )
        parts.append(
            Markup(
                '<text class="axis middle" transform="translate(13 {}) rotate(-90)">{}</text>'
            ).format((_TOP + _HEIGHT - _BOTTOM) / 2, y)
        )
        return Markup("").join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers between two ends."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _dot(x: float, y: float, number: int, radius: float = 3.5) -> Markup:
    return Markup('<circle class="dot s{}" cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(
        number, x, y, radius
    )


def _whisker(frame: _Frame, x: float, figure: Figure, number: int) -> Markup:
    if math.isnan(figure.value):
        return Markup("")
    dot = _dot(frame.x(x), frame.y(figure.value), number)
    if math.isnan(figure.low):
        return dot
    return dot + Markup(
        '<line class="whisker s{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
    ).format(number, frame.x(x), frame.x(x), frame.y(figure.low), frame.y(figure.high))


def _svg(title: str, parts: Sequence[Markup], names: Sequence[str]) -> Markup:
    """Put the drawing together, with its legend below as text that wraps."""
    keys = Markup("").join(
        Markup('<li><span class="key s{}"></span>{}</li>').format(number, name)
        for number, name in enumerate(names)
    )
    legend = Markup('<ul class="legend">{}</ul>').format(keys) if len(names) > 1 else Markup("")
    return Markup(
        '<div class="chart"><svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>{}</div>'
    ).format(_WIDTH, _HEIGHT, escape(title), Markup("").join(parts), legend)
