"""One figure as files: PNG for the eye, SVG for print."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from multirater import __version__
from multirater.io.atomic import replacing
from multirater.report.figures.style import DPI, in_style

SUFFIXES = (".png", ".svg")


@in_style
def write_figure(figure: Figure, folder: Path, stem: str, *, overwrite: bool = False) -> list[Path]:
    """Write a figure as PNG with 300 dots per inch, and as SVG.

    The same figure gives the same files, byte by byte.

    Args:
        figure: to write.
        folder: made when it does not exist.
        stem: file name without suffix.
        overwrite: whether existing files may be replaced.

    Returns:
        The paths of both files.
    """
    paths = [folder / f"{stem}{suffix}" for suffix in SUFFIXES]
    maker = f"multirater {__version__}"
    facts = {".png": {"Software": maker}, ".svg": {"Creator": maker, "Date": None}}
    for path in paths:
        with replacing(path, overwrite=overwrite) as temporary:
            figure.savefig(temporary, dpi=DPI, metadata=facts[path.suffix])
        # What was laid out for the first file fits the second one too.
        figure.set_layout_engine("none")
    return paths
