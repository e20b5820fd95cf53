"""Send labels through a real MONAI Label server and back; not a daily test.

    python -m venv ml
    ml/bin/pip install monailabel 'pydicom<3' 'dicomweb-client<0.60'
    python tests/tools/try_monailabel.py WORK --server ml/bin/monailabel

Starts the server on loopback with an app that does nothing but keep images and labels, uploads
volumes and the labels of two raters through its API, imports the datastore that it wrote, fuses,
exports a datastore with final labels, starts a server on that one, and holds every voxel of what it
gives out against what was sent.
"""

from __future__ import annotations

import argparse
import json
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import SimpleITK as sitk
from loopback import HOST, Server, run, started

from multirater.io import read_dataset

SPACE = (10, 24, 20)
RATERS = ("anna", "bert", "cleo")
APP = '''
from monailabel.interfaces.app import MONAILabelApp


class MyApp(MONAILabelApp):
    """Keeps images and labels, and offers no model."""

    def __init__(self, app_dir, studies, conf):
        super().__init__(app_dir=app_dir, studies=studies, conf=conf, name="raters",
                         description="labels of several raters", version="1")
'''
LABEL_INFO = [{"name": "liver", "idx": 1}, {"name": "spleen", "idx": 2}]


def serve(executable: Path, work: Path, studies: Path, port: int) -> AbstractContextManager[Server]:
    """Start the server on a datastore."""
    words = [str(executable), "start_server", "--app", str(work / "app"), "--studies"]
    words += [str(studies), "--host", HOST, "--port", str(port)]
    return started(words, work / f"server-{port}.log", port, health="/info/")


def write_volumes(folder: Path) -> dict[tuple[str, str], Path]:
    """Write images, and boxes that raters drew, a voxel or two apart; by case and rater."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    files = {}
    for number, case in enumerate(("p1", "p2")):
        _write(rng.normal(size=SPACE).astype(np.float32), folder / f"{case}.nii.gz")
        for shift, rater in enumerate(RATERS):
            if (case, rater) == ("p2", "cleo"):
                continue  # who has not labelled it
            label = np.zeros(SPACE, dtype=np.uint8)
            label[2:7, 3 + shift : 12, 4 + number : 15] = 1
            label[5:9, 10 : 18 + shift, 8:16] = 2
            files[case, rater] = folder / f"{case}-{rater}.nii.gz"
            _write(label, files[case, rater])
    return files


def _write(array: np.ndarray, path: Path) -> None:
    image = sitk.GetImageFromArray(array)
    image.SetSpacing((0.7, 0.5, 2.0))
    image.SetOrigin((10.0, -5.0, 3.0))
    sitk.WriteImage(image, str(path))


def fill(server: Server, files: dict[tuple[str, str], Path], images: Path) -> None:
    """Send images, and labels under the raters' names."""
    for case in ("p1", "p2"):
        sent = [("file", images / f"{case}.nii.gz")]
        server.upload("PUT", f"/datastore/image?image={case}", sent, {"params": "{}"})
    for (case, rater), file in files.items():
        told = {"params": json.dumps({"label_info": LABEL_INFO})}
        place = f"/datastore/label?image={case}&tag={rater}"
        server.upload("PUT", place, [("label", file)], told)


def main() -> None:
    """Do all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--server", type=Path, required=True, help="the program monailabel")
    parser.add_argument("--port", type=int, default=18100)
    given = parser.parse_args()
    work = given.work.resolve()
    for name in ("app", "studies"):
        (work / name).mkdir(parents=True)
    (work / "app" / "main.py").write_text(APP)
    files = write_volumes(work / "volumes")
    with serve(given.server, work, work / "studies", given.port) as server:
        fill(server, files, work / "volumes")
    run("import", "monailabel", work / "studies", "-o", work / "study")
    data = read_dataset(work / "study")
    assert data.classes is not None
    assert data.classes.names == ("background", "liver", "spleen")
    found = {(case.name, rater): case.read_label(rater) for case in data for rater in case.labels}
    assert found.keys() == files.keys()
    for key, label in found.items():
        sent = sitk.ReadImage(str(files[key]))
        np.testing.assert_array_equal(label.array, sitk.GetArrayFromImage(sent))
        np.testing.assert_allclose(label.geometry.spacing, sent.GetSpacing()[::-1], rtol=1e-5)
    print(f"in: {len(found)} labels the same voxel for voxel, none of cleo on p2")
    run("fuse", work / "study", "-o", work / "fused", "-q")
    run("export", work / "fused", "--to", "monailabel", "-o", work / "consensus")
    fused = read_dataset(work / "fused")
    with serve(given.server, work, work / "consensus", given.port + 1) as server:
        listed = server.call("GET", "/datastore/?output=all")["objects"]
        assert {name: list(entry["labels"]) for name, entry in listed.items()} == {
            "p1": ["final"],
            "p2": ["final"],
        }
        for case in fused:
            given_out = work / f"{case.name}-final.nii.gz"
            place = f"/datastore/label?label={case.name}&tag=final"
            given_out.write_bytes(server.call("GET", place))
            again = sitk.GetArrayFromImage(sitk.ReadImage(str(given_out)))
            np.testing.assert_array_equal(again, case.read_label(fused.raters[0]).array)
    print(f"back: {len(fused)} final labels the same voxel for voxel")


if __name__ == "__main__":
    main()
