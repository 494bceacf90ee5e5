"""Everything on the pages of the manual can be typed as it stands, and shows what is shown."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from irisdp.design import KINDS

ROOT = Path(__file__).parents[2]
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
