"""Put the pages of the manual together: every page from where it lies, once, with links that lead to pages.

Nothing is written here. A page keeps its place in the repository, so that it reads well there too; in the manual it
gets the place that `place` says. Links between pages are rewritten for their new places, links to folders lead to the
page about them, and what is linked and no page (a schema, a file of Coq, a picture) is copied along. A page named
``index.md`` leads to what its lists begin with: these lists are the navigation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import api
import commands

__all__ = ["MADE", "ROOT", "assemble", "mathematical", "pages", "place", "targets"]

MADE = {
    "docs/reference/index.md": (
        "- [Commands](commands/index.md): every command, query and option, as the command line itself says it.",
        "- [Python](api/index.md): every public name, from its docstring, with types.",
    )
}
"""Page → lines at its end that lead to pages made of the code, which are nowhere in the repository."""

ROOT = Path(__file__).resolve().parents[2]

NOT_SEARCHED = ("docs/decisions/", "docs/mutants.md", "docs/benchmarks.md")
"""Pages about how Iris is made: a search for a task leads past them."""

_TABS = re.compile(
    r"^\*\*Command line\*\*\n(.*?)^\*\*Python\*\*\n(.*?)^<!-- end of tabs -->\n", re.MULTILINE | re.DOTALL
)
"""One task in two languages: one below the other in the repository, in tabs in the manual."""

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
_DEFINED = re.compile(r"(?<=^\[)([^\]]+\]: )(\S+)$", re.MULTILINE)
_LISTED = re.compile(r"^(?:[-*] |\| )\[[^]]*\]\(([^)\s#]+\.md)\)", re.MULTILINE)


def pages() -> list[PurePosixPath]:
    """Return every page of the repository that belongs to the manual, by its path from the root.

    A page with a bibliography beside it is written for a journal, which has its own citations and title.
    """
    found = [*ROOT.glob("*.md"), *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "paper")]
    found += [*(ROOT / "proofs").glob("*.md"), *(ROOT / "formal").rglob("*.md"), ROOT / "examples" / "README.md"]
    return sorted(PurePosixPath(path.relative_to(ROOT).as_posix()) for path in found)


def mathematical(page: PurePosixPath) -> bool:
    """Return whether a page states theorems or proofs, so that its formulas are typeset."""
    return (
        page.parts[0] == "proofs"
        or page.parts[:2] == ("docs", "mathematics")
        or page == PurePosixPath("docs/theory.md")
    )


def place(page: PurePosixPath) -> PurePosixPath:
    """Return where a file of the repository is in the manual, with pages of `docs` at the top."""
    if len(page.parts) == 1:
        return PurePosixPath("project") / page.name.lower()
    name = "index.md" if page.name == "README.md" else page.name
    folder = page.parent.relative_to("docs") if page.parts[0] == "docs" else page.parent
    return folder / name


def targets(text: str) -> Iterator[str]:
    """Yield what the links of a page lead to, code blocks left out."""
    prose = _FENCE.sub("", text)
    yield from (match[1] for match in _INLINE.finditer(prose))
    yield from (match[2] for match in _DEFINED.finditer(prose))


def assemble(folder: Path) -> None:
    """Write the pages of the repository, and what they link to, into a folder that is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    kept = set(pages())
    for page in sorted(kept):
        target = folder / place(page)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_moved(page, kept, folder), encoding="utf-8")
    _write(folder / "reference" / "commands", commands.pages())
    _write(folder / "reference" / "api", api.pages())


def _write(folder: Path, made: dict[str, str]) -> None:
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(_leading(text) if name == "index.md" else text, encoding="utf-8")


def _moved(page: PurePosixPath, kept: set[PurePosixPath], folder: Path) -> str:
    """Return the text of a page with its links as they are in the manual, and with what is made of the code."""
    text = _notebook(page, folder) if page.parent.name == "notebooks" else (ROOT / page).read_text(encoding="utf-8")
    made, end = [], 0
    for fence in _FENCE.finditer(text):
        made += [_relinked(text[end : fence.start()], page, kept, folder), fence[0]]
        end = fence.end()
    whole = _tabbed("".join([*made, _relinked(text[end:], page, kept, folder)]))
    whole += "".join(f"{line}\n" for line in MADE.get(str(page), ()))
    if str(page).startswith(NOT_SEARCHED):
        whole = f"---\nnosearch: true\n---\n{whole}"
    return _leading(whole) if place(page).name == "index.md" else whole


def _tabbed(text: str) -> str:
    """Return a page whose tasks in two languages are tabs; a choice of one language holds for the whole page."""
    return _TABS.sub(
        lambda task: (
            "::::{tab-set}\n:sync-group: language\n\n"
            f":::{{tab-item}} Command line\n:sync: shell\n{task[1]}:::\n"
            f":::{{tab-item}} Python\n:sync: python\n{task[2]}:::\n::::\n"
        ),
        text,
    )


def _leading(index: str) -> str:
    """Return a page about others with what Sphinx makes the navigation of: what its lists begin with."""
    led = [str(PurePosixPath(target).with_suffix("")) for target in _LISTED.findall(index)]
    return f"{index}\n```{{toctree}}\n:hidden:\n\n" + "\n".join(led) + "\n```\n" if led else index


def _relinked(prose: str, page: PurePosixPath, kept: set[PurePosixPath], folder: Path) -> str:
    def lead(target: str) -> str:
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return target
        meant = PurePosixPath(os.path.normpath(page.parent / path))
        if (ROOT / meant).is_dir():
            meant /= "index.md" if (ROOT / meant / "index.md").exists() else "README.md"
        if meant.suffix == ".ipynb" and meant.with_suffix(".md") in kept:
            meant = meant.with_suffix(".md")
        if meant not in kept and (ROOT / meant).is_file():
            copy = folder / place(meant)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / meant, copy)
        return os.path.relpath(place(meant), place(page).parent) + mark + anchor

    prose = _INLINE.sub(lambda match: lead(match[1]), prose)
    return _DEFINED.sub(lambda match: match[1] + lead(match[2]), prose)


def _notebook(page: PurePosixPath, folder: Path) -> str:
    """Return an executed notebook as a page: its prose, its code, and what that showed when it ran."""
    told = json.loads((ROOT / page).with_suffix(".ipynb").read_text(encoding="utf-8"))
    parts = []
    for number, cell in enumerate(told["cells"], 1):
        source = "".join(cell["source"])
        parts.append(
            source.replace(".ipynb)", ".md)") if cell["cell_type"] == "markdown" else f"```python\n{source}\n```"
        )
        for output in cell.get("outputs", ()):
            parts.append(_shown(output, f"{page.stem}-{number}.svg", folder / place(page).parent))
    return "\n\n".join(parts) + "\n"


def _shown(output: dict, name: str, folder: Path) -> str:
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/svg+xml" in data:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(data["image/svg+xml"], encoding="utf-8")
        words = " ".join(data["text/plain"].split()).replace("[", "(").replace("]", ")")
        return f"![{words}]({name})"
    if "text/html" in data:
        return f'<div class="shown">\n{data["text/html"].strip()}\n</div>'
    return f"```text\n{data['text/plain'].rstrip()}\n```"
