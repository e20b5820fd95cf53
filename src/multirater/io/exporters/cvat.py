"""CVAT XML (`CVAT for images 1.1`) out: a mask per connected piece of a class, or a tag."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from multirater.io.cvat_masks import encode_mask
from multirater.io.exporters.outcome import Outcome, require_flat
from multirater.io.exporters.pieces import pieces

_SHAPE = {"source": "file", "occluded": "0", "z_order": "0"}


def write_export(outcome: Outcome, target: Path) -> None:
    """Write the labels of one rater, or of a fusion."""
    outcome.require_one_rater("CVAT")
    root = ElementTree.Element("annotations")
    ElementTree.SubElement(root, "version").text = "1.1"
    labels = ElementTree.SubElement(
        ElementTree.SubElement(ElementTree.SubElement(root, "meta"), "task"), "labels"
    )
    is_mask = outcome.dataset.kind == "masks"
    for name in outcome.classes.names[int(is_mask) :]:
        label = ElementTree.SubElement(labels, "label")
        ElementTree.SubElement(label, "name").text = name
    add = _add_masks if is_mask else _add_tags
    add(outcome, root)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(target, encoding="utf-8", xml_declaration=True)


def _add_masks(outcome: Outcome, root: ElementTree.Element) -> None:
    for number, (case, _, label) in enumerate(outcome.labels()):
        require_flat(label, case, "CVAT")
        height, width = label.array.shape
        size = {"width": str(width), "height": str(height)}
        told = {"id": str(number), "name": outcome.image_names[case.name], **size}
        image = ElementTree.SubElement(root, "image", told)
        for index, mask in pieces(outcome.without_gaps(label)):
            name = {"label": outcome.classes.names[index]}
            ElementTree.SubElement(image, "mask", name | _SHAPE | encode_mask(mask))


def _add_tags(outcome: Outcome, root: ElementTree.Element) -> None:
    for number, (case, _, choice, _) in enumerate(outcome.choices()):
        told = {"id": str(number), "name": outcome.image_names[case.name]}
        image = ElementTree.SubElement(root, "image", told)
        ElementTree.SubElement(image, "tag", {"label": choice, "source": "file"})
