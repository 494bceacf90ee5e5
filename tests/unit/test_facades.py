"""Packages load a name when it is first used, and old names lead to the new ones."""

import importlib
import sys
import textwrap

import pytest

PACKAGE = """
from typing import TYPE_CHECKING
from irisdp._lazy import exports

if TYPE_CHECKING:
    from .first import alone, one as one
    from .second import two

__all__ = ["alone", "two"]

exports(__name__)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two files."""
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(textwrap.dedent(PACKAGE))
    (folder / "first.py").write_text("def one():\n    return 1\nalone = 3\n")
    (folder / "second.py").write_text("from . import one\ntwo = one() + 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lazy_example")
    for name in [name for name in sys.modules if name.startswith("lazy_example")]:
        del sys.modules[name]


def test_files_are_loaded_when_a_name_is_used(package):
    assert not {"lazy_example.first", "lazy_example.second"} & set(sys.modules)
    assert package.alone == 3
    assert "lazy_example.second" not in sys.modules
    assert package.two == 2
    assert {"alone", "one", "two"} <= set(dir(package))


def test_what_never_was_is_an_attribute_error(package):
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'nothing'"):
        package.nothing  # noqa: B018 (the access is what is tested)


def test_a_name_may_be_replaced(package, monkeypatch):
    monkeypatch.setattr(package, "one", len)
    assert package.one is len
