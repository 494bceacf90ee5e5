"""Batches whose questions name their groups themselves: each is about its own, and all are about the same records."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, BatchPlan, plan_batch
from irisdp._release import foresee_batch
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

PEOPLE = pa.table({"age": [17, 18, 29, 30, 39, 40, 50, 64, 71], "educ": [1, 2, 3, 4, 3, 2, 1, 3, 3]})
YOUNG, OLD = {"query": "histogram age", "bins": [18, 40]}, {"query": "histogram age", "bins": [30, 50, 60]}
TENS = {"query": "count", "by": "l = FLOOR(age / 10)", "groups": "1,2,7"}
TWENTIES = {"query": "count", "by": "L = FLOOR(age / 20)", "groups": "0,2,3"}
PLAIN = {"query": "count", "by": "educ", "groups": "1,3"}
BUDGET = {"epsilon": 900}
"""So large that noise is nothing, but for less often than once in 10^80 times."""


def in_file(folder):
    file = folder / "people.csv"
    file.write_text(
        "age,educ\n" + "".join(f"{age},{educ}\n" for age, educ in zip(*PEOPLE.to_pydict().values(), strict=True))
    )
    return file


def in_folder(folder):
    (folder / "people").mkdir()
    pq.write_table(PEOPLE.slice(0, 4), folder / "people" / "1.parquet")
    pq.write_table(PEOPLE.slice(4), folder / "people" / "2.parquet")
    return folder / "people"


def in_database(folder):
    with closing(sqlite3.connect(folder / "people.db")) as database, database:
        database.execute("CREATE TABLE people (age INTEGER, educ INTEGER)")
        database.executemany("INSERT INTO people VALUES (?, ?)", list(zip(*PEOPLE.to_pydict().values(), strict=True)))
    return f"sqlite:///{folder / 'people.db'}#people"


TABLES = {
    "frame": lambda folder: PEOPLE,
    "pandas": lambda folder: PEOPLE.to_pandas(),
    "lazy": lambda folder: pl.from_arrow(PEOPLE).lazy(),
    "relation": lambda folder: duckdb.connect().from_arrow(PEOPLE),
    "file": in_file,
    "folder": in_folder,
    "database": in_database,
}


def asked(*questions, budget=BUDGET, **more):
    return {"budget": budget, "questions": list(questions), **more}


TRUE = {"young": [1, 4, 4], "old": [3, 3, 1, 2], "tens": [2, 1, 1], "twenties": [2, 2, 2], "plain": [2, 4]}
ASKED = {"young": YOUNG, "old": OLD, "tens": TENS, "twenties": TWENTIES, "plain": PLAIN}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("names", [["young", "old"], ["plain", "old"], ["tens", "twenties"], ["twenties", "plain"]])
def test_every_question_is_about_its_own_groups(table, names, tmp_path):
    data = TABLES[table](tmp_path)
    questions = asked(*(ASKED[name] for name in names))
    found = irisdp.batch(questions, data=data, ledger=tmp_path / "elsewhere.ledger")
    assert [one.answers.values for one in found] == [TRUE[name] for name in names]


def test_a_dry_run_allows_what_is_answered(tmp_path):
    questions, told = asked(PLAIN, YOUNG, TENS), {"data": PEOPLE, "ledger": tmp_path / "ledger"}
    assert foresee_batch(questions, **told).plan.cost == irisdp.batch(questions, **told).charged


def test_membership_is_public_of_the_columns_that_are_promised_and_of_no_others(tmp_path):
    """The number of records in groups of public columns is shown exactly; ages are not public here."""
    by_age = {"query": "count", "by": "g = FLOOR(age / 20)", "groups": "1,3"}
    by_educ = {**by_age, "by": "g = FLOOR(educ)", "public_membership": True}
    questions = asked(by_age, by_educ, relation="exchange")
    _, second = irisdp.batch(questions, data=PEOPLE, ledger=tmp_path / "ledger")
    assert irisdp.Ledger(tmp_path / "ledger").to_document()["public_columns"] == ["educ"]
    assert second.answers.values == [2, 4]


def test_answers_that_may_be_about_the_first_questions_groups_are_not_given_again(tmp_path, monkeypatch):
    """Ledgers hold what was answered when every question read the groups of the first; all else stays free."""
    told = {"data": PEOPLE, "ledger": tmp_path / "ledger"}
    wrong = [asked(YOUNG, OLD), asked(TENS, TWENTIES), asked(PLAIN, TENS, TWENTIES)]
    right = [asked(YOUNG), asked(YOUNG, PLAIN), asked(TENS, {**TENS, "expression": "educ > 1"}), asked(YOUNG, TENS)]
    with monkeypatch.context() as patch:
        patch.setattr(BatchPlan, "_gives_two_meanings", lambda self: False)  # as they were asked then
        for questions in (*wrong, *right):
            irisdp.batch(questions, **told)
    assert [irisdp.batch(questions, **told).repeated for questions in right] == [True] * len(right)
    assert [irisdp.batch(questions, **told).repeated for questions in wrong] == [False] * len(wrong)
    assert [irisdp.batch(questions, **told).repeated for questions in wrong] == [True] * len(wrong)


def test_what_means_add_up_to_is_said_in_a_few_digits_that_are_rounded_up():
    """Costs of means have hundreds of digits, and add up to a little less than the budget."""
    mean = {"query": "mean age", "lower": 0, "upper": 100, "step": 1}
    planned = plan_batch(asked(mean, PLAIN, YOUNG, budget={"epsilon": 1}), data=PEOPLE)
    assert dict(planned.describe_cost())["by sums"] == "ε ≤ 1, δ = 0"
    assert 1 - Fraction(1, 10**15) < planned.composition.sums.epsilon <= planned.cost.epsilon == 1


def test_a_plan_for_run_is_sent_there(tmp_path):
    with pytest.raises(BadInput, match=r"; say irisdp run plan\.toml$"):
        irisdp.batch(tmp_path / "plan.toml")


def test_all_questions_have_one_source_and_each_its_own_groups():
    first, second, third = (planned.table for planned in plan_batch(asked(YOUNG, PLAIN, OLD), data=PEOPLE).plans)
    assert first._source is second._source is third._source
    assert first.derived != third.derived
    assert not second.derived


@pytest.mark.parametrize("more", [{"types": {"age": "number"}}, {"encoding": "latin-1"}])
def test_tables_that_are_read_otherwise_share_no_records(more, tmp_path):
    one, other = open_table(in_file(tmp_path)), open_table(in_file(tmp_path), **more)
    with pytest.raises(BadInput, match=r"^data: was altered while it was looked at; ask again; nothing was spent$"):
        one.read_with(other)


def test_a_plan_of_questions_one_after_the_other_reads_each_ones_groups(tmp_path):
    data, questions = in_file(tmp_path), [ASKED[name] for name in ("young", "old", "tens", "twenties", "plain")]
    said = [f"[datasets.people]\ndata = '{data}'\n"]
    for question in questions:
        lines = {"epsilon": 150, **question}
        said.append("[[questions]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()))
    (tmp_path / "plan.toml").write_text("".join(said))
    found = irisdp.run(tmp_path / "plan.toml")
    assert [one.answers.values for one in found] == list(TRUE.values())


EDGES = st.lists(st.integers(10, 80), min_size=1, max_size=3, unique=True).map(sorted)
QUESTIONS = st.one_of(
    EDGES.map(lambda edges: {"query": "histogram age", "bins": edges}),
    st.tuples(st.sampled_from(["g", "G", "h"]), st.sampled_from(["FLOOR(age / 20)", "FLOOR(educ / 2)", "educ"])).map(
        lambda named: {"query": "count", "by": " = ".join(named), "groups": "0,1,2,3"}
    ),
    st.sampled_from(["age > 30", "educ < 3"]).map(lambda condition: {"query": "count", "expression": condition}),
    EDGES.map(lambda edges: {"query": "median age", "bins": edges}),
    EDGES.map(lambda edges: {"query": "at-least 2", "by": f"g = BINS(age, {edges[0]})", "groups": f"below {edges[0]}"}),
)


def counted(planned):
    nodes = read_statistics(planned, bytes(32)).nodes
    return repr(nodes), [
        getattr(nodes, name).tolist() for name in ("values", "counts", "depth") if hasattr(nodes, name)
    ]


@settings(max_examples=tried(10, 200), deadline=None)
@given(st.lists(QUESTIONS, min_size=2, max_size=5, unique_by=str))
def test_a_question_is_drawn_from_the_same_in_a_batch_as_alone(questions):
    together = plan_batch(asked(*questions, budget={"epsilon": 1}), data=PEOPLE).plans
    alone = [plan_batch(asked(question, budget={"epsilon": 1}), data=PEOPLE).plans[0] for question in questions]
    assert [counted(one) for one in together] == [counted(one) for one in alone]
