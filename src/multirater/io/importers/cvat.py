"""CVAT's exports `CVAT for images 1.1` and `for video 1.1`: masks, polygons, boxes, ellipses, tags.

One file per rater: jobs, copies of a task, or the replicas of a consensus task, exported each on
their own, as XML or in the ZIP that CVAT makes. The rater is named after the file, or after its
folder where the file is called `annotations.xml`. CVAT cannot tell an image on which there is
nothing from one that nobody has looked at.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING
from xml.etree import ElementTree

from multirater.errors import Fault, InputError
from multirater.io.cvat_masks import decode_mask
from multirater.io.drawings.cvat import element_shapes, number_of
from multirater.io.formats.claims import plain_member, require_room
from multirater.io.formats.suffixes import PICTURES_IN
from multirater.io.importers.collecting import collecting
from multirater.io.importers.painting import Thing, index_of, named_classes, paint, shape_mask
from multirater.io.importers.work import Export, Task, Work
from multirater.words import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_AREAS = ("mask", "polygon", "box", "ellipse")
_FILE = "annotations.xml"
_BYTES_OF_ELEMENT, _BYTES_OF_ATTRIBUTE = 60, 200
"""Of memory, for each `<` (an element has one or two) and `=` of XML, beside the text itself."""

_MOST_FRAMES = 500_000
"""Of a video: four and a half hours."""

_WHAT = "an export in the format `CVAT for images 1.1` or `CVAT for video 1.1`"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read one export per rater."""
    faults: list[Fault] = []
    roots: dict[str, tuple[Path, Element]] = {}
    for path in sources:
        with collecting(faults, file=path):
            rater = path.parent.name if path.name == _FILE else path.stem
            if rater in roots:
                raise InputError(
                    Fault(
                        f"two files of rater {rater}",
                        expected="a file per rater, named after them",
                        fix="rename the files, or their folders",
                    )
                )
            roots[rater] = (path, _parse(path))
    if faults:
        raise InputError(faults)
    elements = [each for _, root in roots.values() for each in root.iter()]
    named = [
        each.text or "" for _, root in roots.values() for each in root.iterfind(".//label/name")
    ]
    # What is on a video has the label of its track.
    marks = (each.get("label") for each in elements if each.tag in (*_AREAS, "tag", "track"))
    used = [name for name in marks if name]
    if any(each.tag in _AREAS for each in elements):
        found = named_classes(used, classes or list(dict.fromkeys(named)))
        known = {name: index for index, name in enumerate(found.names)}
        tasks = [t for r, (p, root) in roots.items() for t in _masks(r, p, root, known, faults)]
        passed_by = Counter(e.tag for e in elements if e.tag in ("polyline", "points", "tag"))
        notes = [f"{counted(n, tag)} passed by: no area" for tag, n in passed_by.items()]
        return Export(found, tuple(tasks), notes=tuple(notes), faults=tuple(faults))
    tags = [task for rater, (_, root) in roots.items() for task in _tags(rater, root, faults)]
    if not used:
        raise InputError(Fault("holds neither areas nor tags", expected=_WHAT))
    chosen = named_classes(used, classes, background=False)
    return Export(chosen, tuple(tags), "classes", faults=tuple(faults))


def _parse(path: Path) -> Element:
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                member = plain_member(archive, _FILE)
                with archive.open(member) as stream:
                    require_room(_as_tree(stream), path)
                with archive.open(member) as stream:
                    root = ElementTree.parse(stream).getroot()
        else:
            with path.open("rb") as stream:
                require_room(_as_tree(stream), path)
            root = ElementTree.parse(path).getroot()
    except InputError:
        raise
    except Exception as error:  # unzipping and parsing fail in many ways
        raise InputError(
            Fault(f"is damaged: {error}", expected=_WHAT, fix="export again")
        ) from None
    version = root.findtext("version")
    if root.tag != "annotations" or version not in (None, "1.1"):
        raise InputError(
            Fault(f"is <{root.tag}> of version {version}", expected=_WHAT, fix="export again")
        )
    return root


def _as_tree(stream: IO[bytes]) -> int:
    """Return how many bytes of memory XML takes when it is parsed, about."""
    n_bytes = 0
    while part := stream.read(2**20):
        n_bytes += 2 * len(part)
        n_bytes += _BYTES_OF_ELEMENT * part.count(b"<") + _BYTES_OF_ATTRIBUTE * part.count(b"=")
    return n_bytes


def _masks(
    rater: str, path: Path, root: Element, known: Mapping[str, int], faults: list[Fault]
) -> Iterator[Task]:
    for where, names, size, drawn in _images(root):
        layers = []
        for each in drawn:
            with collecting(faults, case=f"{names[0]} ({where})", rater=rater, file=path):
                layers += _layers(each, known)
        work = {rater: Work(where, partial(paint, layers))} if layers else {}
        blank = frozenset() if layers else frozenset({rater})
        yield Task(where, names[0], names[1:], size, work=work, blank=blank)


def _images(
    root: Element,
) -> Iterator[tuple[str, tuple[str, ...], tuple[float, float] | None, list[Element]]]:
    """Yield the images, or frames, with the areas on them from the bottom to the top."""
    for image in root.iterfind("image"):
        where = f"image {image.get('id')}"
        size = None
        if "width" in image.attrib and "height" in image.attrib:
            size = (number_of(image, "width", where), number_of(image, "height", where))
        drawn = [each for each in image if each.tag in _AREAS]
        yield where, (image.get("name", ""),), size, _from_below(drawn)
    tracks = list(root.iterfind("track"))
    if not tracks:
        return
    by_frame: dict[int, list[Element]] = {frame: [] for frame in _frames(root)}
    for track in tracks:
        for each in track:
            if each.tag in _AREAS:
                frame = int(number_of(each, "frame", f"track {track.get('id')}"))
                shown = by_frame.setdefault(frame, [])
                if each.get("outside") != "1":
                    each.set("label", track.get("label", ""))
                    shown.append(each)
    width, height = (root.findtext(f".//original_size/{side}") for side in ("width", "height"))
    told = (float(width), float(height)) if width and height else None
    for frame, drawn in sorted(by_frame.items()):
        stem = f"frame_{frame:06d}"
        names = tuple(f"{stem}{suffix}" for suffix in (".PNG", ".png", *sorted(PICTURES_IN)))
        yield f"frame {frame}", names, told, _from_below(drawn)


def _frames(root: Element) -> range:
    """Return the frames of a video, or of the part of it that a job is of."""
    start, stop = (root.findtext(f".//segment/{end}") for end in ("start", "stop"))
    frames = range(int(root.findtext(".//size") or 0))
    if start and stop and len(root.findall(".//segment")) == 1:
        frames = range(int(start), int(stop) + 1)
    if not 0 <= frames.start <= frames.stop <= frames.start + _MOST_FRAMES:
        raise InputError(
            Fault(
                f"has the frames {frames.start} to {frames.stop - 1}",
                expected=f"at most {_MOST_FRAMES}, counted from 0",
                fix="export the jobs of the video one by one",
            )
        )
    return frames


def _from_below(drawn: Sequence[Element]) -> list[Element]:
    return sorted(drawn, key=lambda each: number_of(each, "z_order", each.tag, "0"))


def _layers(element: Element, known: Mapping[str, int]) -> list[Thing]:
    where = f"{element.tag} of {element.get('label')}"
    index = index_of(element.get("label", ""), known, f"a {element.tag}")
    if element.tag != "mask":
        return [Thing(where, index, shape_mask(shape)) for shape in element_shapes(element, where)]
    left, top, width, height = (
        int(number_of(element, key, where)) for key in ("left", "top", "width", "height")
    )
    mask = partial(decode_mask, element.get("rle", ""), (left, top, width, height))
    return [Thing(where, index, mask)]


def _tags(rater: str, root: Element, faults: list[Fault]) -> Iterator[Task]:
    for image in root.iterfind("image"):
        where = f"image {image.get('id')}"
        tags = list(dict.fromkeys(each.get("label", "") for each in image.iterfind("tag")))
        if len(tags) > 1:
            faults.append(
                Fault(
                    f"has {len(tags)} tags: {', '.join(tags)}",
                    expected="one class per image",
                    fix="keep one of them, or export each label on its own",
                    case=f"{image.get('name')} ({where})",
                    rater=rater,
                )
            )
        work = {rater: Work(where, choice=tags[0])} if tags else {}
        yield Task(where, image.get("name", ""), work=work)
