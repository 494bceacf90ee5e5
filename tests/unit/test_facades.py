"""Rooms open when asked: what a facade hands out is loaded when it is used, and is what plain imports would give."""

import importlib
import sys
import textwrap
import threading

import pytest

import irisdp.certify
from irisdp.facades import when_used

FACADE = """
from irisdp.facades import when_used

with when_used(__name__, otherwise={otherwise}):
    from .first import alone, first
    from .second import second
"""


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A room of two files, in a package of its own."""

    def build(name, otherwise="None"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text(textwrap.dedent(FACADE.format(otherwise=otherwise)))
        (folder / "first.py").write_text("def first():\n    return 1\nalone = 3\n")
        (folder / "second.py").write_text("from . import first\nsecond = first() + 1\n")
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(name)

    yield build
    for name in [name for name in sys.modules if name.startswith("room_of_")]:
        del sys.modules[name]


def test_files_are_loaded_when_a_name_is_used(room):
    found = room("room_of_two")
    assert not {"room_of_two.first", "room_of_two.second"} & set(sys.modules)
    assert found.alone == 3
    assert "room_of_two.second" not in sys.modules
    assert {"alone", "first", "second"} <= set(dir(found))


def test_a_name_stands_before_its_file(room):
    found = room("room_of_names")
    assert importlib.import_module("room_of_names.second").second == 2  # it asks the room for `first`, the function
    importlib.import_module("room_of_names.first")
    assert found.first() == 1
    from irisdp.certify.audit import TightEdge  # loads the file that is called as the function

    assert irisdp.certify.audit is not sys.modules[TightEdge.__module__]


def test_other_names_are_looked_for_elsewhere(room):
    assert room("room_of_others", "lambda name: name.upper()").anything == "ANYTHING"
    with pytest.raises(AttributeError, match="no attribute 'anything'"):
        _ = room("room_of_none").anything


def test_a_name_may_be_put_in_place_of_another(room, monkeypatch):
    found = room("room_of_patches")
    monkeypatch.setattr(found, "first", len)
    assert found.first is len


def test_a_facade_that_fails_leaves_no_watch_behind(room):
    before = __import__
    sys.modules["room_of_failures"] = type(sys)("room_of_failures")
    with pytest.raises(ZeroDivisionError), when_used("room_of_failures"):
        raise ZeroDivisionError
    assert __import__ is before


def test_other_imports_are_carried_out_meanwhile(room):
    """Those of other files, and of other threads, while a facade is being read."""
    found = []
    sys.modules["room_of_threads"] = type(sys)("room_of_threads")
    with when_used("room_of_threads"):
        exec("import fractions as kept", vars(sys.modules["room_of_threads"]))
        thread = threading.Thread(target=lambda: found.append(__import__("fractions", {}).Fraction(1, 2)))
        thread.start()
        thread.join()
    assert found == [0.5]
    assert sys.modules["room_of_threads"].kept.Fraction(1, 2) == 0.5
