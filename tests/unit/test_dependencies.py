"""What is brought along is listed with its terms: nothing under the GPL comes but by an extra that says so."""

import importlib.util
from email.message import Message
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("dependencies", ROOT / "docs" / "dependencies.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_today(program):
    assert program.PAGE.read_text(encoding="utf-8") == program.page()


def test_every_pinned_package_of_iris_itself_is_on_the_page(program):
    pinned = {
        line.split("==")[0]
        for line in (ROOT / "requirements" / "runtime.txt").read_text(encoding="utf-8").splitlines()
        if "sys_platform" not in line
    }
    own = {name for name, parts in program.parts_of().items() if parts == [""]}
    building = {"editables", "hatchling", "packaging", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
    assert pinned - building == own


def test_nothing_of_iris_itself_is_under_the_gpl(program):
    copyleft = {name: parts for name, parts in program.parts_of().items() if program.terms(name).startswith("GPL")}
    assert copyleft == {"igraph": ["graphs"]}


def test_a_package_without_terms_would_be_noticed(program, monkeypatch):
    monkeypatch.setattr(program.metadata, "metadata", lambda _: Message())
    with pytest.raises(SystemExit, match="x does not say on which terms"):
        program.terms("x")
