"""Names that mean one thing each."""

import ast
from collections import defaultdict
from pathlib import Path

import multirater

PACKAGE = Path(multirater.__file__).parent


def test_no_two_public_types_have_one_name():
    places = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file.relative_to(PACKAGE).as_posix())
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
