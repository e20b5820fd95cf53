"""What holds for every tool."""

import inspect
from pathlib import Path

import pytest

from multirater.errors import InputError
from multirater.io.importers.study import import_study
from multirater.tools import EXPORTS, IMPORTS, exporter, importer

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", IMPORTS)
def test_every_importer_reads_an_export(name):
    assert list(inspect.signature(importer(name).read_export).parameters) == ["sources", "classes"]


@pytest.mark.parametrize("name", EXPORTS)
def test_every_exporter_writes_one(name):
    assert list(inspect.signature(exporter(name).write_export).parameters) == ["outcome", "target"]


@pytest.mark.parametrize("name", sorted({*IMPORTS, *EXPORTS}))
def test_every_tool_has_a_page_with_its_commands(name):
    pages = [page.read_text(encoding="utf-8") for page in (ROOT / "docs/tools").glob("*.md")]
    said = "\n".join(pages)
    assert name not in IMPORTS or f"multirater import {name} " in said
    assert name not in EXPORTS or f"--to {name} " in said


@pytest.mark.parametrize("name", IMPORTS)
@pytest.mark.parametrize("content", [b"", b"{", b"[1, 2", b"\x00\xff\x89PNG", b"<a><b></a>"])
def test_garbage_is_refused_in_words_and_nothing_written(name, content, tmp_path, photos):
    broken = tmp_path / "broken.json"
    broken.write_bytes(content)
    with pytest.raises(InputError) as caught:
        import_study(name, [broken], tmp_path / "study", images=photos(tmp_path / "photos"))
    assert "broken" in str(caught.value)
    assert not (tmp_path / "study").exists()


def test_unknown_tool_is_told_the_known_ones():
    with pytest.raises(InputError, match="did you mean coco"):
        importer("cocoo")
