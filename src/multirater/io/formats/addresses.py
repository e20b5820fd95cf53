"""Addresses of files on the web, and what follows their path."""

from __future__ import annotations

import re

from multirater.io.formats.suffixes import READABLE

_PAGES = frozenset(["php", "asp", "aspx", "jsp", "cgi", "html", "htm", "do", "py", "pl"])
"""Suffixes of pages, which show what their question names."""

_FILE = re.compile(r"[^\s/]+\.([A-Za-z][A-Za-z0-9]{1,4})")
_SIGNATURE = re.compile(
    r"(?i)(x-(amz|goog)-.*|signature|expires|policy|key-pair-id|awsaccesskeyid|googleaccessid|"
    r"sig|se|sp|sv|sr|st|spr|token|access_token)"
)
"""Names of what opens a file to one visitor, and differs from one visit to the next."""


def without_query(item: str) -> str:
    """Return an address without what differs from one visit to the next; other texts as they are.

    Behind a file that is all of the query, behind a page it is what opens it to a visitor: which
    item a page shows is in its query.

    Example:
        >>> without_query("https://x.org/eye.png?key=1"), without_query("Is it? The first is")
        ('https://x.org/eye.png', 'Is it? The first is')
        >>> without_query("https://x.org/show.php?id=1&Signature=a")
        'https://x.org/show.php?id=1'
    """
    path, mark, query = item.partition("?")
    name = path.rsplit("/", 1)[-1]
    if name.lower().endswith(tuple(READABLE)):
        return path
    if not mark or "://" not in path:
        return item
    file = _FILE.fullmatch(name)
    if file is not None and file[1].lower() not in _PAGES:
        return path
    kept = [each for each in query.split("&") if not _SIGNATURE.fullmatch(each.split("=")[0])]
    return f"{path}?{'&'.join(kept)}" if kept else path
