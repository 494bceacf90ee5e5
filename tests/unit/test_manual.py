"""The manual comes together: each page stands in one list, and every link leads somewhere. Sphinx is not needed."""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path, PurePosixPath

import pytest

from irisdp._queries import FORMS
from irisdp.design import KINDS

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


# Formulas of the manual: typeset as MathML, and pages that would show them wrongly are refused.

sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import formulas
    import tree
finally:
    sys.path.pop(0)


def messages(text, **options):
    return [fault.message for fault in formulas.faults(text, **options)]


def test_every_page_shows_its_formulas():
    wrong = {}
    for page in tree.pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        if faults := list(formulas.faults(text, mathematical=tree.mathematical(page))):
            wrong[str(page)] = faults
    assert wrong == {}


@pytest.mark.parametrize(("text", "message"), [
    ("The operator is $\\frac{a$ here.", "braces do not match"),
    ("The operator is $a}{b$ here.", "braces do not match"),
    ("The operator is $\\undefinedcommand x$ here.", "unknown command \\undefinedcommand"),
    ("The operator is $\\frac$ here.", "latex2mathml cannot read it"),
    ("The size is $\\lvert x\\lvert$ here.", "do not match"),
    ("It doubles at $r^10$ here.", "needs braces"),
    ("The set is $\\{1, 2\\}$ here.", "GitHub drops the backslash"),
    ("The sum $a\n+ b$ is even.", "runs over the end of a line"),
    ("| a | b |\n|---|---|\n| $|V|$ | 1 |\n", "in a table"),
    ("The sum 2*a*b is even.", "emphasis inside a formula"),
    ("The bound is x *y ≤ z*w here.", "emphasis inside a formula"),
    ("Add x_v, P′_v ≤ 1 and Σ e_v + D_{v} to it.", "emphasis inside a formula"),
    ("The truth is (r\n+ 1)/2, at most.", "a list within a sentence"),
    ("The error is a\n- b in all cases.", "a list within a sentence"),
    ("Every row has at least\n1. one entry.", "a list within a sentence"),
    ("- An item whose end is\n- 1 in all cases.", "a list within a sentence"),
    ("The count is c\n> 0 here.", "a quotation within a sentence"),
    ("Put $u$ for it; then 1 − s ≤ t.", "left in plain text"),
    ("Put $u$ for it; then r_i is a ratio.", "left in plain text"),
    ("Put $u$ for it.\n\n    s_t = u^t(s)\n", "set as code"),
    ("Put $u for it.", "a dollar sign that belongs to no formula"),
    ("Put \\frac{a}{b} for it.", "left in plain text"),
])  # fmt: skip
def test_a_planted_fault_is_refused(text, message):
    assert any(message in found for found in messages(text, mathematical=True))


@pytest.mark.parametrize("text", [
    "Let $u(s) = \\min(1, r·s + δ)$ and $a_i*b_i*c_i$; *best* means largest.",
    "A list:\n- one\n- two\n\n1. first\n2. second\n",
    "| a | b |\n|---|---|\n| $\\lvert V\\rvert$ | *x* |\n",
    "It costs `$HOME` and `a*b*c`.\n\n```sh\necho $x\n```\n",
    "Prices from $5 to $6.",
])  # fmt: skip
def test_what_is_right_passes(text):
    assert messages(text) == []


def test_a_build_with_a_fault_stops_before_pages_are_made(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "site"))
    pytest.importorskip("sphinx", reason="needs the tools of the manual: make site")
    build = pytest.importorskip("build", reason="docs/site/build.py")
    (tmp_path / "page.md").write_text("A sum 2*a*b.\n", encoding="utf-8")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "pages", lambda: [tree.PurePosixPath("page.md")])
    monkeypatch.setattr(build, "assemble", lambda _: pytest.fail("pages were made"))
    assert build.main() == 1
    assert "page.md:1: emphasis inside a formula" in capsys.readouterr().err


def test_formulas_become_mathml_without_scripts():
    shown = formulas.inline("H_r(P, Q) = \\sum_v \\max(0, P_v − r·Q_v)")
    assert shown.count("<math>") == 2  # a line may be broken after the relation
    assert "<msub><mi>H</mi><mi>r</mi></msub>" in shown
    assert "script" not in shown
    assert formulas.block("s_t = 1").startswith('<div class="formula" tabindex="0"><math display="block">')


def test_punctuation_stays_with_the_formula():
    assert formulas.inline("x", ".").endswith('<span class="whole"><math><mrow><mi>x</mi></mrow></math>.</span></span>')


def test_signs_are_operators_and_numbers_are_numbers():
    shown = formulas.inline("x ≥ .81·y")
    assert "<mo>≥</mo>" in shown
    assert "<mn>.81</mn>" in shown


def test_formulas_of_a_page_are_found_with_their_lines():
    text = "A $a$.\n\n$$\nb = c\n$$\n\n`$d$`\n"
    assert list(formulas.formulas(text)) == [(1, "a"), (3, "b = c")]


# Everything on the pages of the manual can be typed as it stands, and shows what is shown.

sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import typed
finally:
    sys.path.pop(0)

ELSEWHERE = {"spark.md", "server-tables.md"}
"""Typed where Spark's virtual machine runs already (tests/spark/test_page.py), and by the test below, on a server."""

NEEDS = {"other-libraries": ("opendp", "qif", "dp_accounting", "networkx", "scipy", "pandas")}
"""What a page is about; where it is not installed, the page is not typed."""


@pytest.fixture
def folder():
    """A folder with a short name: titles of tables hold it, and are broken where they are too long."""
    with tempfile.TemporaryDirectory(prefix="p") as made:
        yield Path(made).resolve()


@pytest.mark.parametrize(
    "page",
    [page for page in typed.PAGES if page.name not in ELSEWHERE],
    ids=lambda page: f"{page.parent.name}/{page.stem}",
)
def test_the_page_can_be_typed(page, folder):
    for library in NEEDS.get(page.stem, ()):
        pytest.importorskip(library, reason=f"{library} is not installed")
    text = page.read_text(encoding="utf-8")
    assert typed.settled(typed.retyped(text, folder)) == typed.settled(text)


def test_the_page_about_servers_can_be_typed(server, folder, monkeypatch):
    for name, value in {"PGHOST": server.folder, "PGPORT": server.port, "PGUSER": "iris"}.items():
        monkeypatch.setenv(name, str(value))
    text = (ROOT / "docs" / "howto" / "server-tables.md").read_text(encoding="utf-8")
    try:
        assert typed.settled(typed.retyped(text, folder)) == typed.settled(text)
    finally:
        server.execute("DROP SCHEMA IF EXISTS clinic CASCADE")


def test_each_kind_of_spec_has_a_file_and_stands_on_the_page():
    files = sorted((ROOT / "examples" / "specs").glob("*.json"))
    assert [file.stem for file in files] == sorted(KINDS)
    page = (ROOT / "docs" / "reference" / "specs.md").read_text(encoding="utf-8")
    assert all(f"$ irisdp design {kind}.json -o {kind}.mechanism.json\n" in page for kind in KINDS)


def test_commands_stand_in_blocks_that_are_typed():
    """No command hides: each line that starts with a prompt is in a block, and no block of a shell is fenced."""
    for page in typed.PAGES:
        text = page.read_text(encoding="utf-8")
        prompts = Counter(line.strip() for line in text.splitlines() if line.lstrip().startswith("$ "))
        found = Counter(
            line.strip()
            for block in typed.blocks(text)
            for line in block.text.splitlines()
            if line.startswith("    $ ")
        )
        assert prompts == found, page
        assert "```bash" not in text
        assert "```console" not in text


def test_what_comes_otherwise_is_seen(folder):
    """Negative controls: another number, another word where numbers are drawn, an error, an answer of Python."""
    text = "# A page\n\n    $ echo 3\n    4\n"
    assert typed.retyped(text, folder).splitlines()[3] == "    3"
    assert typed.settled(typed.retyped(text, folder)) != typed.settled(text)
    drawn = "<!-- drawn -->\n\n    $ echo off by 3\n    off by 4\n"
    assert typed.settled(typed.retyped(drawn, folder)) == typed.settled(drawn)
    assert typed.settled(drawn.replace("off by 4", "near 4")) != typed.settled(drawn)
    with pytest.raises(AssertionError, match="ends with status 3"):
        typed.retyped("    $ exit 3\n", folder)
    with pytest.raises(AssertionError, match="Expected"):
        typed.retyped("```python\n>>> 1 + 1\n3\n```\n", folder)
    with pytest.raises(ZeroDivisionError):
        typed.retyped("```python\n1 / 0\n```\n", folder)
