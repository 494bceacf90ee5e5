"""Every measurement has an entry among the kinds, and code above measurements names kinds by it."""

import ast
from pathlib import Path

from irisdp._measurements import KINDS, MeasurementKind

SOURCE = Path(__file__).parents[2] / "src" / "irisdp"
OTHER_MEANING = {
    ("_queries/query.py", "stepped"): "an attribute of sums and means",
    ("_queries/reading.py", "stepped"): "the same attribute",
}
ABOVE = (
    "_queries", "_release", "interpretation", "_views", "_explorer", "interop", "reproduction", "_cli", "baselines",
)  # fmt: skip


def literals(path):
    return [
        node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)
    ]


def test_kinds_are_those_that_measurements_state():
    stated = {
        node.attr
        for path in (SOURCE / "_measurements").glob("*.py")
        if path.name != "registry.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "MeasurementKind"
    }
    assert stated == {kind.name for kind in MeasurementKind}


def test_kinds_are_written_as_text_nowhere_above_measurements():
    found = {
        (str(path.relative_to(SOURCE)), text)
        for package in ABOVE
        for path in (SOURCE / package).rglob("*.py")
        for text in literals(path)
        if isinstance(text, str) and text in KINDS
    }
    assert found == OTHER_MEANING.keys()
