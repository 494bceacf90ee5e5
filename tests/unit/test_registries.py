"""Names of queries and of kinds of measurements stand in their registries, and in no second table."""

import ast
from pathlib import Path

import pytest

from irisdp._measurements import KINDS, MeasurementKind
from irisdp._queries import FORMS

SOURCE = Path(__file__).parents[2] / "src" / "irisdp"
QUERIES = {form.name for form in FORMS}
REGISTRIES = {"_queries/registry.py", "_measurements/registry.py"}
EXCEPT = {
    "_explorer/ask_form.py": "the page offers some queries, each with a form of its own",
    "_explorer/question_fields.py": "numbers that stand in a question are fields",
    "_explorer/question_form.py": "numbers that stand in a question are fields",
    "design/__init__.py": "designs, of which some are called as queries are",
    "design/_specs.py": "kinds of designs",
    "_explorer/design_form.py": "kinds of designs",
}


def names(nodes):
    """Return the names of queries, and those of kinds, among some expressions."""
    queries, kinds = set(), set()
    for node in nodes:
        part = node.value if isinstance(node, ast.MatchValue) else node
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            queries |= {part.value} & QUERIES
            kinds |= {part.value} & KINDS.keys()
        if isinstance(part, ast.Attribute) and getattr(part.value, "id", "") == MeasurementKind.__name__:
            kinds.add(part.attr)
    return queries, kinds


def tables(text):
    """Yield the line and the names of each tuple, list, set, mapping or alternative with two of them."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = node.elts
        elif isinstance(node, ast.Dict):
            parts = [*node.keys, *node.values]
        elif isinstance(node, ast.MatchOr):
            parts = node.patterns
        else:
            continue
        for found in names(parts):
            if len(found) > 1:
                yield node.lineno, sorted(found)


def test_names_stand_in_the_registries_alone():
    found = {
        name: listed
        for path in sorted(SOURCE.rglob("*.py"))
        if (name := str(path.relative_to(SOURCE))) not in REGISTRIES | EXCEPT.keys()
        and (listed := list(tables(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


@pytest.mark.parametrize(
    "planted",
    [
        "NUMBERS = ('count', 'sum')",
        "WORDS = {'count': 'How many', 'sum': 'How much'}",
        "Name = Literal['majority', 'at-least']",
        "OTHER = dict.fromkeys(['gaussian-noise', 'shape-noise'], 1)",
        "LISTS = {MeasurementKind.SORTED_SIZES, MeasurementKind.RANDOMISED_RESPONSE}",
        "match name:\n    case 'top' | 'ranking': pass",
    ],
)
def test_a_second_table_is_seen(planted):
    assert len(list(tables(planted))) == 1


def test_one_name_is_no_table():
    assert list(tables("if name == 'count' or kind == 'stepped': pass\nX = ('count', 'stepped', 'other')")) == []


def test_words_of_other_tools_mean_one_query_and_are_none():
    meant = [word for form in FORMS for word in form.elsewhere]
    assert len(set(meant)) == len(meant) and not set(meant) & QUERIES
