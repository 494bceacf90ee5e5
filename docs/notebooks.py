"""Run the pages for the steward, the reader and the designer, and write them down as notebooks with what they show.

    python docs/notebooks.py

The pages are docs/notebooks/*.md, which Jupytext opens as they are (MyST); beside each lies the notebook, executed.
Needs the extras `plots` and `notebooks`. Releases are drawn at random: cells whose output differs each time say so by
their tag, `varies`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "notebooks"
_CELL = re.compile(r"^```\{code-cell\}\n((?::[^\n]*\n)*)(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True)
class Cell:
    """A cell of a page: prose, or code and whether what it shows differs each time."""

    source: str
    is_code: bool
    varies: bool = False


def cells(page: Path) -> list[Cell]:
    """Take a page apart."""
    text = _FRONT.sub("", page.read_text(encoding="utf-8"))
    found, end = [], 0
    for match in _CELL.finditer(text):
        found.append(Cell(text[end : match.start()].strip(), is_code=False))
        found.append(Cell(match[2].strip(), is_code=True, varies="varies" in match[1]))
        end = match.end()
    return [cell for cell in [*found, Cell(text[end:].strip(), is_code=False)] if cell.source]


def notebook(page: Path) -> Any:
    """Return a page as a notebook that has not been run; its links lead to notebooks, too."""
    import nbformat

    made = nbformat.v4.new_notebook()
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(cells(page), 1):
        if cell.is_code:
            one = nbformat.v4.new_code_cell(cell.source)
            if cell.varies:
                one.metadata["tags"] = ["varies"]
        else:
            one = nbformat.v4.new_markdown_cell(re.sub(r"\((\w+)\.md\)", r"(\1.ipynb)", cell.source))
        one["id"] = f"cell-{number}"  # drawn at random otherwise
        made.cells.append(one)
    return made


def executed(page: Path) -> Any:
    """Run a page from top to bottom in a kernel of its own."""
    from nbclient import NotebookClient

    made = notebook(page)
    options = {"timeout": 300, "record_timing": False, "coalesce_streams": True}
    client = NotebookClient(made, resources={"metadata": {"path": str(HERE)}}, **options)
    client.execute()
    made.metadata.pop("language_info", None)  # the version of Python that ran it
    return made


def main() -> None:
    """Write the notebooks."""
    import nbformat

    for page in sorted(HERE.glob("*.md")):
        done = page.with_suffix(".ipynb")
        done.write_text(nbformat.writes(executed(page)) + "\n", encoding="utf-8")
        print(f"{done} written", file=sys.stderr)


if __name__ == "__main__":
    main()
