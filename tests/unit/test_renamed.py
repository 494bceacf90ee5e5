"""Names of earlier versions that have changed: each still works or is refused, and says what it is called now."""

import importlib
import json
import re
import sys
import warnings
from pathlib import Path

import pytest

import irisdp
from irisdp import accounting
from irisdp._moved import MOVED, PACKAGES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))  # programs, no package
try:
    import renamed
finally:
    sys.path.pop(0)

NAMES_OF_0_1 = json.loads((ROOT / "tests" / "golden" / "version_0_1" / "names.json").read_text("utf-8"))


def test_the_page_lists_what_the_code_renames():
    assert (ROOT / "docs" / "reference" / "renamed.md").read_text("utf-8") == renamed.page(), "python docs/renamed.py"


def test_old_names_lead_to_the_new_and_warn_once():
    for old, new in MOVED.items():
        module, _, name = f"irisdp.{old}".rpartition(".")
        room = importlib.import_module(module)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = getattr(room, name)
        assert [str(one.message) for one in caught] == [f"irisdp.{old} is irisdp.{new} since version 0.2"]
        home, _, last = f"irisdp.{new}".rpartition(".")
        assert value is getattr(importlib.import_module(home), last)


def test_old_packages_are_there():
    for package in PACKAGES:
        importlib.import_module(f"irisdp.{package}")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("irisdp.nothing")


@pytest.mark.parametrize("module", NAMES_OF_0_1)
@pytest.mark.filterwarnings("ignore:irisdp.* since version 0.2$:DeprecationWarning")
def test_every_public_name_of_0_1_is_there_or_says_what_to_use(module):
    """Public are the names of the packages, as their `__all__` listed them; a name may move, and none may vanish."""
    room = importlib.import_module(module)
    for name in NAMES_OF_0_1[module]:
        try:
            getattr(room, name)
        except AttributeError as refused:
            assert re.search(r" is \S+ since version 0\.2$", str(refused)), refused


def test_documents_have_one_verb():
    with pytest.warns(DeprecationWarning, match=r"Cost\.document\(\) is to_document\(\) since version 0\.2") as warned:
        assert accounting.Cost(1).document() == accounting.Cost(1).to_document()
    assert warned[0].filename == __file__


def test_what_never_was_is_an_attribute_error():
    for module in (irisdp, irisdp.accounting, importlib.import_module("irisdp.queries")):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018 (the access is what is tested)
