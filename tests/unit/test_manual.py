"""The manual comes together: each page stands in one list, and every link leads somewhere. Sphinx is not needed."""

import importlib.util
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[2]


def part(name):
    """Return a program of docs/site, which is no package."""
    found = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    sys.modules[f"site_{name}"] = module
    found.loader.exec_module(module)
    return module


tree, links = part("tree"), part("links")


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manual")
    tree.assemble(folder)
    return folder


def led(folder):
    """Yield what the navigation of each page about others leads to."""
    for index in sorted(folder.rglob("index.md")):
        _, _, listed = index.read_text(encoding="utf-8").partition("```{toctree}\n:hidden:\n\n")
        for entry in listed.removesuffix("```\n").split():
            yield (index.parent / f"{entry}.md").resolve()


def lost(folder):
    """Yield (page, target) for links of pages to files that are not there."""
    for page in sorted(folder.rglob("*.md")):
        for target in tree.targets(page.read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path and ":" not in path and not (page.parent / path).is_file():
                yield page.relative_to(folder).as_posix(), target


def test_every_page_is_there_once(manual):
    places = Counter(tree.place(page) for page in tree.pages())
    assert set(places.values()) == {1}
    assert {page.relative_to(manual).as_posix() for page in manual.rglob("*.md")} >= {str(place) for place in places}


def test_every_page_stands_in_one_list(manual):
    counted = Counter(led(manual))
    pages = {page.resolve() for page in manual.rglob("*.md")} - {(manual / "index.md").resolve()}
    assert {page for page in pages if page not in counted} == set()
    assert {page for page in counted if page not in pages} == set()
    assert {page for page, times in counted.items() if times > 1} == set()


def test_every_link_leads_to_a_file(manual):
    assert list(lost(manual)) == []


def test_a_link_that_leads_nowhere_is_seen(tmp_path):
    """Negative control."""
    (tmp_path / "page.md").write_text(
        "[here](page.md) [there](nowhere.md)\n\n```\n[code](no.md)\n```\n", encoding="utf-8"
    )
    assert list(lost(tmp_path)) == [("page.md", "nowhere.md")]


def test_links_are_rewritten_where_pages_move():
    assert tree.place(PurePosixPath("docs/theory.md")) == PurePosixPath("theory.md")
    assert tree.place(PurePosixPath("proofs/README.md")) == PurePosixPath("proofs/index.md")
    assert tree.place(PurePosixPath("SECURITY.md")) == PurePosixPath("project/security.md")


def test_notebooks_show_what_they_showed(manual):
    shown = (manual / "notebooks" / "steward.md").read_text(encoding="utf-8")
    assert shown.startswith("# The steward")
    assert '<div class="shown">' in shown
    assert "```{code-cell}" not in shown
    assert len(list((manual / "notebooks").glob("*.svg"))) == shown.count(".svg)") + sum(
        (manual / "notebooks" / f"{other}.md").read_text(encoding="utf-8").count(".svg)")
        for other in ("reader", "designer")
    )


def test_the_checker_of_the_site_finds_what_is_lost(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="#here">1</a><a href="#gone">2</a><a href="b.html">3</a><img src="c.png">'
        '<a href="https://nobody.example/">4</a><a href="a.html#here">5</a>', encoding="utf-8"
    )  # fmt: skip
    assert sorted(links.broken(tmp_path)) == [("a.html", "#gone"), ("a.html", "b.html"), ("a.html", "c.png")]
