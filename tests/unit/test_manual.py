"""The manual comes together: each page stands in one list, and every link leads somewhere. Sphinx is not needed."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from irisdp._queries import FORMS

ROOT = Path(__file__).parents[2]


sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import api
    import commands
    import links
    import tree
finally:
    sys.path.pop(0)


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manual")
    tree.assemble(folder)
    return folder


def led(folder):
    """Yield what the navigation of each page about others leads to."""
    for page in sorted(folder.rglob("*.md")):
        _, _, listed = page.read_text(encoding="utf-8").partition("```{toctree}\n:hidden:\n\n")
        for entry in listed.removesuffix("```\n").split():
            yield (page.parent / f"{entry.removesuffix('.md')}.md").resolve()


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
    assert shown.startswith("# Publish a table")
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


def test_every_public_name_stands_in_the_pages_about_python(manual):
    for room, name, value, first in api.names():
        listed = (manual / "reference" / "api" / f"{room}.md").read_text(encoding="utf-8")
        assert f"- [{name}](" in listed if first else f"- {{py:obj}}`{name} <" in listed
        if first:
            (page,) = re.findall(rf"^- \[{name}\]\(([^)]+)\)", listed, re.MULTILINE)
            assert f":: {room}.{name}\n" in (manual / "reference" / "api" / page).read_text(encoding="utf-8")
        assert api.said(name, value), f"{room}.{name} says nothing"


def test_no_two_pages_about_python_differ_in_case_alone():
    made = [page.casefold() for page in api.pages()]
    assert len(made) == len(set(made))


def test_docstrings_are_read_as_they_are_meant():
    assert api.readable("P(|z| = 1) is α_*, of `a|b*`") == r"P(\|z\| = 1) is α\_\*, of `a|b*`"
    assert api.readable(">>> a * b | c") == ">>> a * b | c"


def test_every_command_query_and_option_stands_in_the_reference(manual):
    folder = manual / "reference" / "commands"
    _, found = commands._commands()
    assert {page.stem for page in folder.glob("*.md")} == {"index", *found}
    for name, command in found.items():
        told = (folder / f"{name}.md").read_text(encoding="utf-8")
        assert command.help in told
        assert all(option in told for part in command.params for option in part.opts if option.startswith("-"))
    told = (folder / "publish.md").read_text(encoding="utf-8")
    assert all(f"| `{form.usage}` | {form.answer} |" in told for form in FORMS)


@pytest.mark.parametrize("name", commands.manual_pages())
def test_pages_of_man_can_be_set(name):
    text = commands.manual_pages()[name]
    assert text.startswith(".TH ")
    assert [part for part in (".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXIT STATUS") if part not in text] == []
    if groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-Tutf8", "-ww", "-Kutf8"], input=text, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""


def test_pages_about_the_making_of_iris_are_left_out_of_the_search(manual):
    left_out = {page for page in manual.rglob("*.md") if page.read_text(encoding="utf-8").startswith("---\nnosearch:")}
    assert left_out == {manual / "benchmarks.md", manual / "mutants.md", *(manual / "decisions").glob("*.md")}
