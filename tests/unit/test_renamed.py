"""Names of version 0.1 that have changed: each still works or is refused, and says what it is called now."""

import importlib
import inspect
import json
import pkgutil
import re
from pathlib import Path

import pytest

import irisdp
from irisdp import accounting
from irisdp.renamed import renamed_names

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "renamed.md").read_text(encoding="utf-8")


def listed(heading):
    """Return a table of the page, old names to new, without `irisdp.`"""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return dict(re.findall(r"^\| `(\S+)` \| `(\S+)` \|$", table, flags=re.MULTILINE))


NAMES = {f"irisdp.{old}": f"irisdp.{new}" for old, new in listed("was | is").items()}


def modules():
    for found in pkgutil.walk_packages(irisdp.__path__, "irisdp."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def variables(function, made_by):
    """Return what `renamed_names` or `renamed_method` was given, if that made a function."""
    made = inspect.isfunction(function) and function.__qualname__.startswith(f"{made_by}.<locals>")
    return inspect.getclosurevars(function).nonlocals if made else None


def in_code():
    """Return all names, methods and names without a successor that the code says have changed."""
    names, methods, gone = {}, {}, {}
    for module in modules():
        home = module.__name__.removeprefix("irisdp.")
        found = vars(module).get("_otherwise") or getattr(module, "__getattr__", None)  # of a facade, or of a file
        if told := variables(found, "renamed_names"):
            names |= {f"{home}.{old}": new.removeprefix("irisdp.") for old, new in told["homes"].items()}
            gone |= {f"{home}.{old}": new.removeprefix("irisdp.") for old, new in (told["gone"] or {}).items()}
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                for method in vars(kind).values():
                    if told := variables(method, "renamed_method"):
                        methods[f"{kind.__name__}.{told['old']}()"] = f"{kind.__name__}.{told['new']}()"
    return {"was | is": names, "method was | is": methods, "is no more | use": gone}


@pytest.mark.parametrize(("heading", "names"), in_code().items())
def test_the_page_lists_what_the_code_renames(heading, names):
    assert listed(heading) == names, f"docs/reference/renamed.md, table {heading!r}"


def found(name):
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


@pytest.mark.parametrize(("old", "new"), NAMES.items())
def test_old_names_lead_to_the_new(old, new):
    with pytest.warns(DeprecationWarning, match=f"^{old} is {new} since version 0.2$"):
        assert found(old) is found(new)


NAMES_OF_0_1 = json.loads((Path(__file__).parents[1] / "golden" / "version_0_1" / "names.json").read_text("utf-8"))


@pytest.mark.parametrize("module", NAMES_OF_0_1)
@pytest.mark.filterwarnings("ignore:irisdp.* since version 0.2$:DeprecationWarning")
def test_every_public_name_of_0_1_is_there_or_says_what_to_use(module):
    """Public are the names of the rooms, as their `__all__` listed them; a name may move, and none may vanish."""
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
    for module in (irisdp.queries, irisdp.release):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018 (the access is what is tested)
    with pytest.raises(AttributeError, match="module 'm' has no attribute 'x'"):
        renamed_names("m", {})("x")
