"""Send labels through a real Label Studio server and back; not a daily test.

    python -m venv ls && ls/bin/pip install label-studio
    python tests/tools/try_label_studio.py WORK --server ls/bin/label-studio

Starts the server on loopback with its data in the folder WORK, makes a project, uploads images and
the work of two annotators through its API (brush strokes that Label Studio's own converter wrote,
polygons, turned rectangles and ellipses, an empty annotation, a skipped one), exports, imports
here, fuses, sends the result back as predictions and as tasks of a second project, reads both
again, and holds every pixel against what was sent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import uuid
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from loopback import HOST, Server, run, started
from PIL import Image as Pillow

from multirater.io import read_dataset

TOKEN = "0123456789abcdef0123456789abcdef01234567"
ADMIN, OTHER = "anna@example.com", "bert@example.com"
SIDE = (48, 64)
LABELS = '<Label value="lesion"/><Label value="vessel"/>'
TAGS = {"label": "Brush", "outline": "Polygon", "box": "Rectangle", "round": "Ellipse"}
CONFIG = "\n".join(
    [
        '<View><Image name="image" value="$image"/>',
        *(
            f'<{tag}Labels name="{name}" toName="image">{LABELS}</{tag}Labels>'
            for name, tag in TAGS.items()
        ),
        "</View>",
    ]
)

BY_THEIR_CONVERTER = """
import json, sys
import numpy as np
from label_studio_sdk.converter import brush
for mask in np.load(sys.argv[1]).values():
    print(json.dumps([int(v) for v in brush.mask2rle(mask.astype(np.uint8) * 255)]))
"""
"""Strokes as Label Studio's SDK writes them, by the server's own Python."""


def serve(executable: Path, work: Path, port: int) -> AbstractContextManager[Server]:
    """Start Label Studio with its data in a folder, a first user and their token."""
    # Options that stand before `start` are lost, and with them the loopback address.
    words = [str(executable), "start", "-b", "--data-dir", str(work / "data"), "--internal-host"]
    words += [HOST, "-p", str(port), "--username", ADMIN, "--password", "not-a-secret"]
    words += ["--user-token", TOKEN, "--enable-legacy-api-token"]
    told = {
        "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "true",
        "LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT": str(work),
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
    }
    headers = {"Authorization": f"Token {TOKEN}"}
    log = work / "server.log"
    return started(words, log, port, health="/health", headers=headers, environment=told)


def masks(seed: int = 0) -> dict[str, np.ndarray]:
    """Return the label of annotator 1 of three images: two classes, holes, single pixels."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in ("ear", "eye", "hand"):
        label = np.zeros(SIDE, dtype=np.uint8)
        label[8:30, 10:40] = 1
        label[12:20, 15:25] = 0
        label[25:40, 30:60] = 2
        label[rng.random(SIDE) < 0.02] = 1
        found[name] = label
    return found


def their_strokes(python: Path, work: Path, drawn: dict[str, np.ndarray]) -> dict[str, list]:
    """Return brush results of every image, encoded by the server's own library."""
    np.savez(
        work / "masks.npz",
        **{f"{name}-{k}": label == k for name, label in drawn.items() for k in (1, 2)},
    )
    words = [str(python), "-c", BY_THEIR_CONVERTER, str(work / "masks.npz")]
    made = subprocess.run(words, check=True, capture_output=True, text=True)
    rles = [json.loads(line) for line in made.stdout.splitlines() if line.startswith("[")]
    results: dict[str, list] = {}
    with np.load(work / "masks.npz") as keys:
        for key, rle in zip(keys, rles, strict=True):
            name, k = key.rsplit("-", 1)
            label = ["", "lesion", "vessel"][int(k)]
            value = {"format": "rle", "rle": rle, "brushlabels": [label]}
            results.setdefault(name, []).append(result("brushlabels", "label", value))
    return results


def result(kind: str, tag: str, value: dict) -> dict:
    """Return one result of an annotation."""
    size = {"original_width": SIDE[1], "original_height": SIDE[0], "image_rotation": 0}
    names = {"id": uuid.uuid4().hex[:10], "from_name": tag, "to_name": "image", "type": kind}
    return names | size | {"value": value}


def vector_work() -> list[dict]:
    """Return what annotator 2 drew: a polygon, a turned rectangle, a turned ellipse."""
    corners = [[15, 15], [60, 15], [60, 60], [15, 60]]
    square = {"x": 50, "y": 55, "width": 30, "height": 25, "rotation": 20}
    disc = {"x": 30, "y": 70, "radiusX": 12, "radiusY": 8, "rotation": 45}
    return [
        result("polygonlabels", "outline", {"points": corners, "polygonlabels": ["lesion"]}),
        result("rectanglelabels", "box", square | {"rectanglelabels": ["vessel"]}),
        result("ellipselabels", "round", disc | {"ellipselabels": ["lesion"]}),
    ]


def second_user(server: Server) -> int:
    """Return the number of a second annotator."""
    told = {"email": OTHER, "username": "bert", "first_name": "Bert", "password": "not-a-secret"}
    made = server.call("POST", "/api/users/", told)
    return int(made["id"])


def fill(server: Server, project: int, strokes: dict[str, list]) -> tuple[str, str]:
    """Give every task the annotations of both annotators; return who they are in exports."""
    tasks = server.call("GET", f"/api/tasks/?project={project}&page_size=100")["tasks"]
    bert = second_user(server)
    for task in tasks:
        name = next(n for n in strokes if task["data"]["image"].endswith(f"{n}.png"))
        place = f"/api/tasks/{task['id']}/annotations/"
        server.call("POST", place, {"result": strokes[name]})
        work = {"ear": vector_work(), "eye": [], "hand": None}[name]
        if work is not None:
            server.call("POST", place, {"result": work, "completed_by": bert})
        else:
            server.call("POST", place, {"result": [], "completed_by": bert, "was_cancelled": True})
    return str(server.call("GET", "/api/current-user/whoami")["id"]), str(bert)


def labels_in(folder: Path) -> dict[tuple[str, str], np.ndarray]:
    """Return every label of a study."""
    data = read_dataset(folder)
    return {(c.name, r): c.read_label(r).array for c in data for r in c.labels}


def send_back(server: Server, work: Path, project: int) -> None:
    """Send the fused labels to the tasks they came from, read them again, and compare."""
    told = json.loads((work / "tasks.json").read_text())
    tasks = server.call("GET", f"/api/tasks/?project={project}&page_size=100")["tasks"]
    by_case = {task["data"]["image"].rsplit("-", 1)[-1]: task["id"] for task in tasks}
    for each in told:
        for prediction in each["predictions"]:
            sent = prediction | {"task": by_case[f"{each['data']['case']}.png"]}
            server.call("POST", "/api/predictions/", sent)
    again = [server.call("GET", f"/api/tasks/{number}/") for number in by_case.values()]
    compare(again, work, "predictions")


def second_project(server: Server, work: Path) -> None:
    """Import the file that `export` wrote into a new project, read it again, and compare."""
    told = {"title": "back", "label_config": CONFIG}
    project = server.call("POST", "/api/projects/", told)["id"]
    tasks = json.loads((work / "tasks.json").read_text())
    server.call("POST", f"/api/projects/{project}/import", tasks)
    listed = server.call("GET", f"/api/tasks/?project={project}&page_size=100")["tasks"]
    again = [server.call("GET", f"/api/tasks/{task['id']}/") for task in listed]
    compare(again, work, "tasks of a second project")


def compare(tasks: list[dict], work: Path, what: str) -> None:
    """Import predictions that the server gave back, and hold them against what was fused."""
    file = work / f"{what.replace(' ', '_')}.json"
    only = [task | {"annotations": []} for task in tasks]
    file.write_text(json.dumps(only))
    study = file.with_suffix("")
    run("import", "label-studio", file, "--images", work / "photos", "-o", study,
        "--classes", "lesion,vessel")  # fmt: skip
    before, after = labels_in(work / "fused"), labels_in(study)
    assert {case for case, _ in before} == {case for case, _ in after}
    scores = {task["id"]: [p["score"] for p in task["predictions"]] for task in tasks}
    for (case, _), label in before.items():
        found = next(array for (name, _), array in after.items() if name == case)
        np.testing.assert_array_equal(found, label)
    print(f"{what}: {len(before)} labels the same pixel for pixel, scores {scores}")


def main() -> None:
    """Do all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--server", type=Path, required=True, help="the program label-studio")
    parser.add_argument("--port", type=int, default=18080)
    given = parser.parse_args()
    work = given.work.resolve()
    (work / "photos").mkdir(parents=True, exist_ok=True)
    drawn = masks()
    for name in drawn:
        noise = np.random.default_rng(1).integers(0, 255, SIDE).astype(np.uint8)
        Pillow.fromarray(noise).save(work / "photos" / f"{name}.png")
    strokes = their_strokes(given.server.parent / "python", work, drawn)
    with serve(given.server, work, given.port) as server:
        told = {"title": "study", "label_config": CONFIG}
        project = server.call("POST", "/api/projects/", told)["id"]
        photos = [(path.stem, path) for path in sorted((work / "photos").glob("*.png"))]
        server.upload("POST", f"/api/projects/{project}/import", photos)
        anna, bert = fill(server, project, strokes)
        export = server.call(
            "GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true"
        )
        (work / "export.json").write_text(json.dumps(export))
        run("import", "label-studio", work / "export.json", "--images", work / "photos",
            "-o", work / "study", "--classes", "lesion,vessel")  # fmt: skip
        found = labels_in(work / "study")
        for name, label in drawn.items():
            np.testing.assert_array_equal(found[name, anna], label)
        assert set(found) == {(n, anna) for n in drawn} | {("ear", bert), ("eye", bert)}
        assert not found["eye", bert].any()
        print("annotations: the same pixel for pixel; empty is empty, skipped is missing")
        run("fuse", work / "study", "-o", work / "fused", "--probability", "-q")
        run("export", work / "fused", "--to", "label-studio", "-o", work / "tasks.json")
        send_back(server, work, project)
        second_project(server, work)


if __name__ == "__main__":
    main()
