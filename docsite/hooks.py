"""Steps of mkdocs: pages from outside of docs/, and links that hold here and in the repository.

Pages link to each other as files of the repository, so that they can be read there. Tables of
benchmarks, the changelog and the like are pages of the site too; every other file is named, not
linked.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from docsite.command_line import command_line_page
from docsite.mathml import inline

ROOT = Path(__file__).resolve().parents[1]

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_PROJECT = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security-policy.md",
    "README.md": "index.md",
}


_SECTIONS = {
    "": "How to",
    "tutorials": "Tutorials",
    "tools": "Labelling tools",
    "decisions": "Decisions",
}
"""Where a page goes that the navigation does not name, by its folder."""


def on_config(config: Any) -> Any:
    """Put pages that the navigation does not name at the end of the section of their folder."""
    named = str(config.nav)
    sections = {name: pages for each in config.nav for name, pages in each.items()}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT / "docs").as_posix()
        section = _SECTIONS.get(posixpath.dirname(page))
        if section and f"'{page}'" not in named:
            sections[section].append(page)
    sections["Benchmarks"] += [f"results/{path.name}" for path in _tables()]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    for name, address in _PROJECT.items():
        if name != "README.md":
            files.append(File.generated(config, address, abs_src_path=str(ROOT / name)))
    for path in [*_tables(), *sorted((ROOT / "benchmarks/results").glob("*.png"))]:
        files.append(File.generated(config, f"results/{path.name}", abs_src_path=str(path)))
    files.append(File.generated(config, "results/index.md", content=_list_of(_tables())))
    files.append(File.generated(config, "api/cli.md", content=command_line_page()))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Turn links between files of the repository into links between pages, and equations."""
    here = page.file.src_uri

    def linked(found: re.Match[str]) -> str:
        mark, text, target = found.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return found[0]
        path, _, anchor = target.partition("#")
        address = _address(posixpath.normpath(posixpath.join(_folder_of(here), path)))
        if address is None:
            return text
        way = posixpath.relpath(address, posixpath.dirname(here) or ".")
        return f"{mark}[{text}]({way}{'#' + anchor if anchor else ''})"

    return inline(_outside_code(markdown, lambda part: _LINK.sub(linked, part)))


def on_page_content(html: str, **_: Any) -> str:
    """Take empty cells at the head of a table for what they are: no headers."""
    return re.sub(r"<th( [^>]*)?></th>", "<td></td>", html)


def on_post_page(output: str, **_: Any) -> str:
    """Name the search for who hears the page instead of seeing it; the theme does not."""
    return _with_named_search(output)


def on_post_template(output_content: str, **_: Any) -> str:
    """Do the same on the page for addresses that lead nowhere."""
    return _with_named_search(output_content)


def _with_named_search(output: str) -> str:
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _folder_of(address: str) -> str:
    """Return the folder in the repository of the file that a page is made of."""
    if address in _PROJECT.values() and address != "index.md":
        return ""
    if address.startswith("results/"):
        return "benchmarks/results"
    return posixpath.join("docs", posixpath.dirname(address))


def _address(path: str) -> str | None:
    """Return the address in the site of a file of the repository; None if it has none."""
    if path in _PROJECT:
        return _PROJECT[path]
    if path.startswith("benchmarks/results/"):
        return path.removeprefix("benchmarks/")
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return None


def _outside_code(markdown: str, change: Any) -> str:
    parts = re.split(r"(^```.*?^```[^\n]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def _tables() -> list[Path]:
    return sorted((ROOT / "benchmarks/results").glob("*.md"))


def _list_of(tables: list[Path]) -> str:
    lines = ["# Tables of the benchmarks", "", "As the scripts in `benchmarks/` wrote them.", ""]
    for path in tables:
        text = path.read_text(encoding="utf-8")
        found = re.search(r"^# (.*)$", text, flags=re.MULTILINE)
        lines.append(f"- [{found[1] if found else path.stem}]({path.name})")
    return "\n".join(lines) + "\n"
