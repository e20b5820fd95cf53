"""Short names of what a crowd was asked about: a file without its folder, or a text as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from multirater.io.formats.addresses import without_query
from multirater.io.formats.suffixes import READABLE
from multirater.io.importers.image_folder import stem_of

_OTHER_FILE = re.compile(r"\S+\.[A-Za-z][A-Za-z0-9]{1,4}")


def item_names(items: Iterable[str]) -> dict[str, str]:
    """Name each item of an export; only those that are the same item share a name.

    Args:
        items: paths, addresses or texts.

    Example:
        >>> item_names(["https://x.org/eye.png?key=1", "https://x.org/eye.png?key=2", "v1.5"])
        {'https://x.org/eye.png?key=1': 'eye', 'https://x.org/eye.png?key=2': 'eye', 'v1.5': 'v1.5'}
        >>> list(item_names(["a/eye.png", "b/eye.png", "Good. Buy it"]).values())
        ['a/eye.png', 'b/eye.png', 'Good. Buy it']
    """
    whole = {item: without_query(item) for item in items}
    names = {item: stem_of(item) if is_file(item) else item for item in whole.values()}
    while shared := {name for name, n in Counter(names.values()).items() if n > 1}:
        names |= {item: item for item, name in names.items() if name in shared}
    return {item: names[own] for item, own in whole.items()}


def is_file(item: str) -> bool:
    """Whether an item is a file, by its suffix; a sentence or a version has a dot, too.

    Example:
        >>> [is_file(item) for item in ("a/eye 1.png", "song.mp3", "Good. Buy it", "v1.5", "12.75")]
        [True, True, False, False, False]
    """
    name = without_query(item).rsplit("/", 1)[-1]
    return name.lower().endswith(tuple(READABLE)) or bool(_OTHER_FILE.fullmatch(name))
