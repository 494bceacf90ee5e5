"""The pages in docs/notebooks run from top to bottom, and show what they are committed with, but where it is random."""

import ast
import contextlib
import importlib.util
import io
import json
import re
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "notebooks").glob("*.md"))


@pytest.fixture(scope="module")
def pages():
    """The program that makes the notebooks."""
    found = importlib.util.spec_from_file_location("pages", DOCS / "notebooks.py")
    module = importlib.util.module_from_spec(found)
    sys.modules["pages"] = module  # dataclasses look their module up
    found.loader.exec_module(module)
    return module


def committed(page):
    return json.loads(page.with_suffix(".ipynb").read_text(encoding="utf-8"))["cells"]


def run(source, names):
    """Run a cell as a kernel does; return what it prints and what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        shown = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return printed.getvalue(), shown


def words(text):
    return re.sub(r"\s", "", "".join(text))


def shown_as(value):
    """Return what a notebook would hold of a value; of pictures their words, as letters may be measured otherwise."""
    if hasattr(value, "_repr_mimebundle_"):
        return "text/plain", value._repr_mimebundle_()["text/plain"]
    if hasattr(value, "_repr_html_"):
        return "text/html", value._repr_html_()
    return "text/plain", repr(value)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_run_and_show_what_is_committed(pages, page, tmp_path, monkeypatch):
    monkeypatch.chdir(page.parent)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = {"__name__": "page"}
    agreed = 0
    for cell, kept in zip(pages.cells(page), committed(page), strict=True):
        if not cell.is_code:
            continue
        printed, value = run(cell.source, names)
        if cell.varies:
            assert kept["outputs"]
            continue
        streams = [one["text"] for one in kept["outputs"] if one["output_type"] == "stream"]
        assert words(printed) == words("".join("".join(text) for text in streams)), cell.source
        data = [one["data"] for one in kept["outputs"] if one["output_type"] == "execute_result"]
        assert len(data) == (value is not None), cell.source
        if value is not None:
            kind, text = shown_as(value)
            assert words(data[0][kind]) == words(text), cell.source
            agreed += 1
    assert agreed >= 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_notebooks_hold_the_pages(pages, page):
    """Word for word, run in order, without an error, and naming no folder of the machine."""
    kept = committed(page)
    ran = [cell["execution_count"] for cell in kept if cell["cell_type"] == "code"]
    assert ran == list(range(1, len(ran) + 1))
    for cell, one in zip(pages.cells(page), kept, strict=True):
        source = "".join(one["source"])
        assert source == (cell.source if cell.is_code else re.sub(r"\((\w+)\.md\)", r"(\1.ipynb)", cell.source))
        assert (one["cell_type"] == "code") == cell.is_code
        assert all(output["output_type"] != "error" for output in one.get("outputs", ()))
    text = page.with_suffix(".ipynb").read_text(encoding="utf-8")
    assert not re.search(r"/(tmp|home|root|work|var|Users)/", text)


def test_there_is_a_page_for_each_of_the_three():
    assert [page.stem for page in PAGES] == ["designer", "reader", "steward"]


def test_cells_are_told_apart(pages, tmp_path):
    page = tmp_path / "p.md"
    page.write_text(
        "---\na: b\n---\n# T\n```{code-cell}\n:tags: [varies]\n1\n```\n\n```{code-cell}\nx = 1\n\nx\n```\nend\n"
    )
    assert [(cell.source, cell.is_code, cell.varies) for cell in pages.cells(page)] == [
        ("# T", False, False), ("1", True, True), ("x = 1\n\nx", True, False), ("end", False, False),
    ]  # fmt: skip
