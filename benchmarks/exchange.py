"""Importing a large COCO study against `pycocotools` making its masks.

    python benchmarks/exchange.py [--images 1000]

CPU seconds of this process (`time.process_time`). Three files of 20 polygons per image, photographs
of 512 x 512 pixels. `pycocotools` reads the three files and makes the mask of every polygon, and
writes nothing; `import_study` reads them, checks all, paints and writes 3 labels per image. Both
find the files in the system's cache.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from pycocotools.coco import COCO

from multirater.io.importers.study import import_study

SIDE = 512
N_RATERS = 3
N_POLYGONS = 20
N_CORNERS = 24


def polygon(rng: np.random.Generator) -> list[float]:
    """Return the outline of a wobbly disc as x, y, x, y, ..."""
    angle = np.linspace(0, 2 * np.pi, N_CORNERS, endpoint=False)
    radius = rng.uniform(15, 50) * rng.uniform(0.8, 1.2, N_CORNERS)
    x, y = rng.uniform(50, SIDE - 50, 2)
    points = np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)
    return points.round(2).ravel().tolist()


def write_study(folder: Path, n_images: int, seed: int = 0) -> list[Path]:
    """Write photographs and one COCO file per rater; return the files."""
    rng = np.random.default_rng(seed)
    (folder / "photos").mkdir()
    names = [f"{number:04d}.jpg" for number in range(n_images)]
    for name in names:
        coarse = rng.integers(0, 255, (32, 32, 3), dtype=np.uint8)
        Image.fromarray(coarse).resize((SIDE, SIDE)).save(folder / "photos" / name)
    images = [
        {"id": number, "file_name": name, "width": SIDE, "height": SIDE}
        for number, name in enumerate(names)
    ]
    categories = [{"id": number, "name": f"class {number}"} for number in (1, 2, 3)]
    files = []
    for rater in range(N_RATERS):
        annotations = [
            {
                "id": number,
                "image_id": number // N_POLYGONS,
                "category_id": number % 3 + 1,
                "segmentation": [polygon(rng)],
            }
            for number in range(n_images * N_POLYGONS)
        ]
        content = {"images": images, "annotations": annotations, "categories": categories}
        files.append(folder / f"rater {rater + 1}.json")
        files[-1].write_text(json.dumps(content))
    return files


def masks_by_pycocotools(files: list[Path]) -> int:
    """Make the mask of every annotation; return the number of pixels in them."""
    total = 0
    for file in files:
        with contextlib.redirect_stdout(io.StringIO()):
            coco = COCO(file)
        for annotation in coco.anns.values():
            total += int(coco.annToMask(annotation).sum())
    return total


def main() -> None:
    """Measure both and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1000)
    n_images = parser.parse_args().images
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write_study(folder, n_images)
        start = time.process_time()
        masks_by_pycocotools(files)
        middle = time.process_time()
        import_study("coco", files, folder / "study", images=folder / "photos")
        end = time.process_time()
    peer, ours = middle - start, end - middle
    print(
        f"{n_images} images x {N_RATERS} raters x {N_POLYGONS} polygons, {SIDE} x {SIDE} pixels.\n"
    )
    print("| | CPU s | ratio |\n| --- | --- | --- |")
    print(f"| pycocotools, masks alone | {peer:.1f} | 1 |")
    print(f"| `multirater import coco` | {ours:.1f} | {ours / peer:.2f} |")


if __name__ == "__main__":
    main()
