"""Every public function says what it takes, by name, and what it raises; every class and constant says what it is.

That designs name their proofs is held by tests/unit/test_proofs.py, that arguments are checked by
tests/unit/test_public_callables.py, that examples run by `make check`.
"""

import inspect
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    import api
finally:
    sys.path.pop(0)

PUBLIC = [(f"{module}.{name}", name, value) for module, name, value, first in api.names() if first]


def unsaid(function, told):
    """Yield what a docstring leaves out: parameters, and that something is raised."""
    for name in inspect.signature(function).parameters:
        if name not in {"self", "cls"} and not re.search(rf"\b{name}\b", told):
            yield name
    if (
        re.search(r"^ +raise ", inspect.getsource(inspect.unwrap(function)), re.MULTILINE)
        and "\nRaises\n---" not in told
    ):
        yield "what it raises"


def faults(name, value):
    """Yield what is wrong with the docstring of one public name."""
    text = api.said(name, value)
    if not text.strip():
        yield "no docstring"
    elif not text.strip().splitlines()[0].rstrip().endswith((".", ":")) and "\n" not in text:
        yield "no sentence"
    if inspect.isfunction(value):
        yield from unsaid(value, text)


def test_every_public_name_has_a_whole_docstring():
    found = {path: list(faults(name, value)) for path, name, value in PUBLIC}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_every_heading_of_a_docstring_is_a_line_of_its_own():
    """A formatter that joins lines turns a heading into a sentence: `Notes ----- A sentence`."""
    joined = re.compile(r"^ +\w+ -{4,}(?: |$)", re.MULTILINE)
    assert joined.search("    Notes ----- A sentence.")
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]
    assert [str(path) for path in files if joined.search(path.read_text(encoding="utf-8"))] == []


def test_what_is_left_out_is_seen():
    """Negative control."""

    def public(first, second):
        if first:
            raise ValueError
        return second

    assert list(unsaid(public, "Return the second.")) == ["first", "what it raises"]
    assert list(unsaid(public, "Say first and second.\n\nRaises\n------\nValueError\n")) == []
