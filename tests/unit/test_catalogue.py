"""The registry of queries agrees with the queries, the help and the README."""

from pathlib import Path

import pytest

from irisdp import publish
from irisdp._cli import run
from irisdp._queries import FORMS, read_query
from irisdp._queries.reading import QUERIES

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def written(form):
    """Return the query of a form, with a number and a condition for what it leaves open."""
    filled = {"K": "3", "P ": "0.9 ", "T1,T2,…": "3,5", "[EXPR or COLUMN]": "x = 1", "[EXPR]": "x = 1", "EXPR": "x = 1"}
    found = form.usage
    for left_open, word in filled.items():
        found = found.replace(left_open, word)
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_each_row_is_a_query_that_can_be_read(form, tmp_path):
    file = tmp_path / "m.json"
    file.write_text('{"privacy": {"ratio": 2}, "graph": {"family": "path", "n": 2}, "matrix": [[1, 0], [1, 0]]}')
    query = read_query(written(form).replace("MECH.json", str(file)), ())
    assert type(query) is QUERIES[form.name]
    assert query.name == form.name
    assert query.expression == ("x = 1" if "EXPR" in form.usage else None)
    assert query.describe()["query"] == form.name
    assert "expression" not in query.describe()  # the condition is told in its one form, for all queries alike


def test_names_are_different():
    assert len(QUERIES) == len(FORMS)


def test_the_readme_lists_each_query():
    assert [form.name for form in FORMS if f"`{form.name} " not in README] == []


def test_the_docstring_names_each_query():
    listed = ", ".join(f'"{form.name}"' for form in FORMS)
    assert f"query : {{{listed}}}" in " ".join(publish.__doc__.split())


def test_help_lists_each_query(capsys):
    assert run(["publish", "-h"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert [form.name for form in FORMS if f"{form.usage} {form.answer}: {form.example}" not in shown] == []
    assert all(form.example.split()[0] == form.name for form in FORMS)
