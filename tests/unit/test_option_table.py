"""Options are named in one table; its types, the command line and queries name the same."""

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest

import irisdp
from irisdp._options import COLUMN_CHOICES, OPTIONS
from irisdp._queries import FORMS
from irisdp._queries.privacy_units import ColumnChoices
from irisdp._release.options import PublishOptions

ROOT = Path(__file__).parents[2]
NAMES = [option.name for option in OPTIONS]
HOMES = {
    "_options.py",
    "_release/options.py",
    *(f"_explorer/{name}.py" for name in ("question_fields", "plan_page")),
    *(f"_queries/{name}.py" for name in ("clipped_values", "sum_and_mean", "privacy_units")),
}
"""Where an option of one query may stand: the table, its type and explanation, its field and page, and the query."""


def test_types_and_table_have_the_same_options():
    assert len(set(NAMES)) == len(NAMES)
    assert set(NAMES) == PublishOptions.__annotations__.keys()


def test_choices_of_columns_are_fields_that_queries_read():
    assert COLUMN_CHOICES.keys() <= {field.name for field in fields(ColumnChoices)}


@pytest.mark.parametrize("option", ["weight_upper"])
def test_an_option_of_one_query_stands_in_its_homes_alone(option):
    source = ROOT / "src" / "irisdp"
    found = {str(path.relative_to(source)) for path in source.rglob("*.py") if option in path.read_text()}
    assert found == HOMES


@pytest.mark.parametrize("query", [form.name for form in FORMS])
def test_a_method_of_a_session_shows_the_options_of_its_query(query):
    shown = inspect.signature(getattr(irisdp.Session, query.replace("-", "_"))).parameters.keys()
    words = {option: re.split(r", | and ", queries) for option, queries in COLUMN_CHOICES.items()}
    own = {option for option, queries in words.items() if query in queries}
    own |= {"categories"} if query == "apply" else set()  # of a file that is about a column
    assert shown & COLUMN_CHOICES.keys() == own
    assert "audience" in shown


def test_an_option_of_another_query_is_refused_as_publish_does(tmp_path):
    data, ledger = pa.table({"x": [1, 2]}), tmp_path / "t.ledger"
    for ask in (
        irisdp.Session(data, ledger=ledger).count,
        lambda **more: irisdp.publish(data, "count", ledger=ledger, **more),
    ):
        with pytest.raises(
            irisdp.BadInput, match=r"^lower: is not for count, but for sum, mean, variance and deviation; leave it out"
        ):
            ask(epsilon=1, lower=0)
