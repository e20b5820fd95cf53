"""JSON in which one value is not what it should be."""

import json

ODD = [None, True, -1, 0, 2.5, 1e308, 10**40, "", "nan", "\x1b[2J", "../..", "a\0b", [], [None]]
ODD += [{}, {"": []}, [[1], "x"], {"level": "problem"}, ["=1+1"], "/etc/passwd", "x" * 5000]
ODD += [10**400, float("nan"), float("-inf"), 9e8, -9e8, 2**63 - 1, -3, [1], [[1e8, 0], [0, 1e8]]]
DEEP = "[" * 100_000


def places(content, at=()):
    """Yield the paths to all values inside of some JSON."""
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
        for key, value in items:
            yield (*at, key)
            yield from places(value, (*at, key))


def hostile(text, random):
    """Return JSON with one value replaced, taken away or added; at times nested without end."""
    content = json.loads(text)
    ways = list(places(content))
    *way, last = ways[int(random.integers(len(ways)))]
    inside = content
    for key in way:
        inside = inside[key]
    odd, kind = ODD[int(random.integers(len(ODD)))], random.integers(10)
    if kind == 0:
        del inside[last]
    elif kind == 1 and isinstance(inside, dict):
        inside["surprise"] = odd
    elif kind == 2:
        return f'{{"deep": {DEEP}'
    else:
        inside[last] = odd
    return json.dumps(content)
