"""The same answers from DuckDB, Polars, PyArrow and pandas, to the last digit, for the same bits, and the true ones.

`support/every_form.py` makes the table, asks, and says by plain Python what is read of it. `make test` tries 2,000
records, and 10^6 with IRISDP_WHOLE. Spark's forms are in `tests/spark/test_every_form.py`.
"""

import csv
import unicodedata
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute
import pytest

from irisdp._tables import arrow_values, dataframes
from support.every_form import (
    QUESTIONS,
    Question,
    above,
    arrow,
    asked,
    both,
    cells,
    counts,
    deny,
    different,
    differing,
    embedded,
    equal,
    in_bins,
    in_categories,
    on_ladder,
    records,
    said,
)
from support.seeds import fresh_random
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

BY_NAME = {question.name: question for question in QUESTIONS}


@pytest.fixture(scope="module")
def rows():
    return records(fresh_random("every form"), tried(2_000, 10**6))


@pytest.fixture(scope="module")
def forms(rows, tmp_path_factory):
    return embedded(arrow(rows), tmp_path_factory.mktemp("forms"), "part")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_form_has_the_true_answer(rows, forms, question, tmp_path):
    assert differing(forms, question, rows, tmp_path) == {}


# The demo data

DEMO = Path(__file__).parents[2] / "examples" / "anes96.csv"


class Voter(NamedTuple):
    popul: int
    TVnews: int
    selfLR: int
    ClinLR: int
    DoleLR: int
    PID: int
    age: int
    educ: int
    income: int
    vote: int


def old(row):
    return above(row.age, 64)


DEMO_QUESTIONS = [
    Question("all", ("count",), lambda rows: {"yes": [len(rows)]}),
    counts("old", "age > 64 AND NOT vote = 1", lambda row: both(old(row), deny(equal(row.vote, 1)))),
    Question(
        "by party", ("count", "age > 64"), lambda rows: said(old, cells(rows, lambda row: row.PID, range(7))),
        {"by": "PID", "groups": list(range(7))},
    ),
    Question(
        "by school", ("count", "vote = 1"),
        lambda rows: said(lambda row: row.vote == 1, cells(rows, lambda row: row.educ > 4, [True, False])[::-1]),
        {"by": "college = CASE WHEN educ > 4 THEN 'yes' ELSE 'no' END", "groups": ["no", "yes"]},
    ),
    Question("majority", ("majority", "vote = 1"), lambda rows: said(lambda row: row.vote == 1, [rows])),
    Question("mean", ("mean", "age"), lambda rows: on_ladder(lambda row: row.age, "18", "95", "1", rows),
             {"lower": 18, "upper": 95}),
    Question("plurality", ("plurality", "PID"),
             lambda rows: {"counts": [in_categories(lambda row: row.PID, range(7), rows)]},
             {"categories": list(range(7))}),
    Question("median", ("median", "age"), lambda rows: {"counts": [in_bins(lambda row: row.age, [30, 45, 60], rows)]},
             {"bins": "30,45,60"}),
    Question("different", ("count-distinct", "popul"), lambda rows: different(row.popul for row in rows)),
]  # fmt: skip


@pytest.fixture(scope="module")
def demo():
    with DEMO.open(newline="") as file:
        return [Voter(*map(int, row.values())) for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def demo_forms(demo, tmp_path_factory):
    table = arrow(demo, pa.schema({name: pa.int64() for name in Voter._fields}))
    found = embedded(table, tmp_path_factory.mktemp("demo"), "vote")
    # A partition is called by text; the file is text altogether. Of both it is declared what they hold.
    types = {"types": dict.fromkeys(Voter._fields, "integer")}
    return {**found, "a folder": (found["a folder"], {"types": {"vote": "integer"}}), "CSV": (DEMO, types)}


@pytest.mark.parametrize("question", DEMO_QUESTIONS, ids=lambda question: question.name)
def test_every_form_of_the_demo_data_has_the_true_answer(demo, demo_forms, question, tmp_path):
    assert differing(demo_forms, question, demo, tmp_path) == {}


# Where forms are others, by name

ONE_RECORD = Question("one record", ("count", "ok"), lambda rows: {}, {"unit": "person", "at_most": 1})


@pytest.fixture(scope="module")
def few(rows):
    return rows[:500]


@pytest.fixture(scope="module")
def few_forms(few, tmp_path_factory):
    return embedded(arrow(few), tmp_path_factory.mktemp("few"), "part")


HELD = [("Parquet", "PyArrow", "Polars", "Polars, lazy", "Polars, a scan", "pandas of Arrow")]
"""Forms that hold a record alike. The others' lots fall otherwise: pandas' own types hold decimals as objects, a folder
holds its partition last, and a relation's types are DuckDB's own."""


def test_which_record_stands_for_a_person_is_drawn_of_it_as_it_is_held(few, few_forms, tmp_path):
    people = cells(few, lambda row: row.person, {row.person for row in few} - {None})
    answers = [[row.ok for row in records] for records in people]
    found = {name: asked(form, ONE_RECORD, tmp_path, {})[1] for name, form in few_forms.items()}
    for name, statistics in found.items():
        assert statistics.total.tolist() == [len(people)], name
        assert sum(set(said) == {True} for said in answers) <= statistics.yes[0], name
        assert statistics.yes[0] <= sum(True in said for said in answers), name
    for alike in HELD:
        assert len({found[name].yes[0] for name in alike}) == 1, alike


def test_what_pandas_changed_before_is_another_table(few, tmp_path):
    """Beside a null pandas' own conversion holds whole numbers as doubles: neighbours of 2^53 are one there."""
    table = arrow(few)
    changed = table.select(["age"]).to_pandas()
    question = BY_NAME["different whole numbers"]
    assert "changed" in differing({"Arrow": table, "changed": changed}, question, few, tmp_path)
    rounded = [row._replace(age=None if row.age is None else float(row.age)) for row in few]
    assert question.true(rounded) != question.true(few)
    (_, statistics) = asked(changed, question, tmp_path, {})
    known = {None if row.age is None or row.age >= 2**63 - 512 else row.age for row in rounded}
    assert statistics.yes[0] in (len(known - {None}), len(known - {None}) + 1)


# Bugs of one form, which the comparison must catch


def instants_as_the_callers_session_shows_them(patch):
    real = dataframes._plain
    zoned = "timestamp with time zone"
    patch.setattr(
        dataframes, "_plain", lambda value, kind: f"CAST({value} AS TIMESTAMP)" if kind == zoned else real(value, kind)
    )


def frames_whose(patch, is_changed, change):
    real = dataframes.arrow_table

    def table_of(frame, *given):
        table = real(frame, *given)
        for place, column in enumerate(table.schema):
            if frame.implementation.is_polars() and is_changed(column.type):
                table = table.set_column(place, column.name, change(table[column.name]))
        return table

    patch.setattr(dataframes, "arrow_table", table_of)


def whole_numbers_as_doubles(patch):
    frames_whose(
        patch, pa.types.is_int64, lambda column: column.cast(pa.float64(), safe=False).cast(pa.int64(), safe=False)
    )


def letters_in_one_normal_form(patch):
    frames_whose(patch, pa.types.is_large_string, lambda column: pyarrow.compute.utf8_normalize(column, "NFC"))


def decimals_to_one_place(patch):
    real = arrow_values.text_of
    patch.setattr(arrow_values, "text_of", lambda one: real(round(float(one), 1) if isinstance(one, Decimal) else one))


PLANTED = {
    instants_as_the_callers_session_shows_them: ("instants", {"DuckDB"}),
    whole_numbers_as_doubles: ("different whole numbers", {"Polars", "Polars, lazy", "Polars, a scan"}),
    letters_in_one_normal_form: ("by Unicode", {"Polars", "Polars, lazy", "Polars, a scan"}),
    decimals_to_one_place: ("decimals", {"pandas"}),
}


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_a_bug_of_one_form_is_caught(few, bug, tmp_path, monkeypatch):
    question, who = PLANTED[bug]
    bug(monkeypatch)
    forms = embedded(arrow(few), tmp_path, "part")
    assert differing(forms, BY_NAME[question], few, tmp_path).keys() == who


def test_the_bits_do_not_decide_alone(few, tmp_path):
    answers = [asked(arrow(few[start:]), BY_NAME["all"], tmp_path, {})[0][1][0] for start in (0, 1)]
    assert answers[0] == answers[1] + 1


def test_the_table_holds_what_is_hard_to_read(rows):
    assert {unicodedata.normalize("NFC", row.ward) != row.ward for row in rows if row.ward} == {True, False}
    assert Counter(row.age for row in rows)[2**53 + 1] > 0
    assert {str(row.cost) for row in rows} >= {"0.0", "-0.0", "nan", "inf", "None"}
