"""Which groups are named, by what and at what cost: public facts decide, and the plan says so."""

import json
import sqlite3
from contextlib import closing
from fractions import Fraction

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, BatchPlan, Privacy, plan, plan_batch
from irisdp._cli import run
from irisdp._measurements import GroupCountNodes, NoisyCountSelection, PartitionSelection
from irisdp._release import dry_run_batch
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from irisdp.interpretation import read_release
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

SURVEY = pa.table({"town": ["Ely"] * 60 + ["York"] * 30 + ["Bath"], "age": [70, 30, 40] * 30 + [1]})
ASKED = {"by": "town", "select_groups": True}
TWO = {"all": [{"epsilon": 2, "delta": "1e-6"}, {"epsilon": 1, "delta": "1e-3"}]}


@pytest.mark.parametrize("words", [("count",), ("count", "age > 64")])
@pytest.mark.parametrize(("given", "cost"), [
    ({"epsilon": 1, "delta": "1e-6"}, "ε = 1, δ = 0.000001"),
    ({"epsilon": 1, "delta": "1e-6", "relation": "exchange"}, "ε = 2, δ = 0.000002"),
    ({"epsilon": 0, "delta": "1e-3"}, "ε = 0, δ = 0.001"),
    ({"privacy": TWO}, "ε = 2, δ = 0.000001"),
])  # fmt: skip
def test_a_count_names_its_groups_at_its_own_cost(words, given, cost):
    planned = plan(SURVEY, *words, **ASKED, **given)
    assert isinstance(planned.naming, NoisyCountSelection)
    assert planned.selector is None
    assert planned.apart is None
    assert str(planned.cost) == cost
    assert planned.facts(planned.audiences[0])["groups"]["by"] == "count"
    assert "one noise pays for name and count" in planned.describe_naming()[1]


@pytest.mark.parametrize(
    ("words", "given", "reason", "cost"),
    [
        (("count",), {"epsilon": 1, "delta": "1e-6", "selection_epsilon": 1}, "of its own", "ε = 2, δ = 0.000001"),
        (("count",), {"epsilon": 1, "selection_delta": "1e-6"}, "of its own", "ε = 2, δ = 0.000001"),
        (("count",), {"audience": {"a": 1, "b": 2}, "delta": "1e-6"}, "for several of them", "ε = 4, δ = 0.000001"),
        (("at-least", 2), {"epsilon": 1, "delta": "1e-6"}, "only noisy counts", "ε = 2, δ = 0.000001"),
        (("count",), {"epsilon": "1e-4", "delta": "1e-9"}, "reach too far", "ε = 0.0002, δ = 0.000000001"),
    ],
)  # fmt: skip
def test_elsewhere_they_are_selected_apart_and_the_plan_says_why(words, given, reason, cost):
    planned = plan(SURVEY, *words, **ASKED, **given)
    assert isinstance(planned.naming, PartitionSelection)
    assert str(planned.cost) == cost
    assert reason in planned.describe_naming()[1]


def test_declared_groups_and_no_groups_are_named_by_nothing():
    for options in ({}, {"by": "town", "groups": ["Ely"]}):
        planned = plan(SURVEY, "count", **options, epsilon=1)
        assert planned.naming is None
        assert planned.describe_naming() == []
        assert "named_from" not in planned.to_document()


@pytest.mark.parametrize(("given", "message"), [
    ({"epsilon": 1}, "delta: must be above 0 to select groups privately"),
    ({"mu": 1, "delta": "1e-6"}, "delta: must be above 0 to select groups privately"),
    (
        {"epsilon": 1, "delta": "1e-6", "relation": "exchange", "public_membership": True},
        "select_groups: chooses among private groups",
    ),
])  # fmt: skip
def test_what_names_nobody_is_refused(given, message):
    with pytest.raises(BadInput, match=message):
        plan(SURVEY, "count", **ASKED, **given)


def test_how_large_a_group_must_be_is_said():
    planned = plan(SURVEY, "count", **ASKED, epsilon=1, delta="1e-6")
    assert planned.to_document()["named_from"] == {"50": 14, "95": 16, "99": 18}
    assert planned.describe_naming()[0] == (
        "a group is named with probability 50 % from 14 records on, 95 % from 16, 99 % from 18"
    )
    split = plan(SURVEY, "count", "age > 64", **ASKED, epsilon=1, delta="1e-6")
    assert split.describe_naming()[0] == (
        "a group is named with probability 50 % from 27 records on, 95 % from 29, 99 % from 31, "
        "for however many of them the condition holds"
    )


@pytest.mark.parametrize("given", [{}, {"selection_epsilon": 1}])
def test_several_records_of_a_person_share_what_the_person_may_reveal(given):
    people = SURVEY.append_column("pid", pa.array(range(len(SURVEY))))
    options = {**ASKED, "unit": "pid", "epsilon": 1, "delta": "1e-6", **given}
    one, three = (plan(people, "count", **options, at_most=most) for most in (1, 3))
    assert one.cost == three.cost
    assert three.naming.share.epsilon == Fraction(1, 3)
    assert three.naming.share.ratio**3 <= one.naming.privacy.ratio
    assert Fraction(10**-6) / 5 < three.naming.share.delta < Fraction(10**-6) / 3
    assert three.naming.named_from()["95"] > 2 * one.naming.named_from()["95"]
    assert "ε/3, as one pid can change the" in three.describe_error()[0]


def test_readers_know_that_noise_is_made_for_a_share(tmp_path):
    people = SURVEY.append_column("pid", pa.array(range(len(SURVEY))))
    given = {"unit": "pid", "at_most": 3, "epsilon": 9, "delta": "1e-6", "ledger": tmp_path / "l"}
    found = irisdp.publish(people, "count", **ASKED, **given)
    told = read_release(found.sidecars[None])
    assert told.guarantee == found.plan.naming.share
    assert told.guarantee.epsilon == 3
    assert not any(one["universal"] for one in irisdp.interpret(found).to_documents())


def test_a_batch_selects_apart():
    questions = [{"query": "count", **ASKED, "delta": "5e-7"}]
    planned = plan_batch({"budget": {"epsilon": 2, "delta": "1e-6"}, "questions": questions}, data=SURVEY)
    assert isinstance(planned.plans[0].naming, PartitionSelection)
    assert "weights share out a privacy for each" in planned.plans[0].describe_naming()[1]


@pytest.mark.parametrize("words", [("count",), ("count", "age > 64")])
def test_what_is_published_is_what_was_named(tmp_path, words):
    out = tmp_path / "out.csv"
    found = irisdp.publish(SURVEY, *words, **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l", out=out)
    assert found.answers.keys == [("Ely",), ("York",)]
    truth = {1: [60, 30], 2: [20, 10]}[len(words)]
    assert all(abs(answer - true) < 15 for answer, true in zip(found.answers.values, truth, strict=True))
    sidecar = json.loads((tmp_path / "out.csv.release.json").read_text())
    assert sidecar["mechanism"]["kind"] == "named-counts"
    again = irisdp.publish(SURVEY, *words, **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert again.repeated
    assert again.answers.values == found.answers.values
    assert sidecar["mechanism"] == found.sidecars[None]["mechanism"]
    assert all(
        cell // 3 == answer for cell, answer in zip(sidecar["mechanism"]["cells"], found.answers.values, strict=True)
    )
    read = irisdp.interpret(f"{out}.release.json")
    assert len(read.answers) == 2
    assert read.named
    assert all(one["universal"] for one in read.to_documents())


def test_a_group_whose_records_satisfy_nothing_is_named_by_them(tmp_path):
    found = irisdp.publish(SURVEY, "count", "age > 99", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert found.answers.keys == [("Ely",), ("York",)]
    assert all(abs(answer) < 15 for answer in found.answers.values)


def test_nothing_is_named_where_nobody_is(tmp_path):
    empty = SURVEY.slice(0, 0)
    found = irisdp.publish(empty, "count", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l")
    assert found.answers.keys == []


def test_readers_are_told_what_naming_means_for_them(tmp_path, capsys):
    out = tmp_path / "out.csv"
    irisdp.publish(SURVEY, "count", **ASKED, epsilon=3, delta="1e-6", ledger=tmp_path / "l", out=out)
    assert run(["interpret", str(out)]) == 0
    assert "groups were named by these counts" in capsys.readouterr().out


def test_what_naming_says_of_a_count_is_what_its_noisy_count_says():
    """Claim 7: the probabilities of being named with an answer are those of the noisy count, up to one factor."""
    for split, others in ((False, 0), (True, 4)):
        mechanism = NoisyCountSelection(Privacy(ratio=2, delta="1/7"), split=split)
        none = np.zeros(1, dtype=np.int64)
        noise, size = mechanism.noise, mechanism.noise.atoms_per_unit
        laws = [
            mechanism.law(GroupCountNodes(none + count, none, None, none + others), 0, count) for count in range(1, 9)
        ]
        for cell in set().union(*laws) - {None}:
            ratios = {
                law.get(cell, 0) / noise.probability(cell - size * count)
                for count, law in enumerate(laws, 1)
                if noise.probability(cell - size * count)
            }
            assert len(ratios) == 1


def test_a_dry_run_shows_it(tmp_path, capsys):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(SURVEY, path)
    command = ["publish", str(path), "count", "--by", "town", "--select-groups", "--epsilon", "1", "--delta", "1e-6"]
    assert run([*command, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "named     a group is named with probability 50 % from 14 records on, 95 % from 16, 99 % from 18" in shown
    assert "one noise pays for name and count" in shown
    assert run([*command, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["named_from"] == {"50": 14, "95": 16, "99": 18}


# Batches whose questions name their groups themselves: each is about its own, and all are about the same records.

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
ASKED_OF_BATCHES = {"young": YOUNG, "old": OLD, "tens": TENS, "twenties": TWENTIES, "plain": PLAIN}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("names", [["young", "old"], ["plain", "old"], ["tens", "twenties"], ["twenties", "plain"]])
def test_every_question_is_about_its_own_groups(table, names, tmp_path):
    data = TABLES[table](tmp_path)
    questions = asked(*(ASKED_OF_BATCHES[name] for name in names))
    found = irisdp.batch(questions, data=data, ledger=tmp_path / "elsewhere.ledger")
    assert [one.answers.values for one in found] == [TRUE[name] for name in names]


def test_a_dry_run_allows_what_is_answered(tmp_path):
    questions, told = asked(PLAIN, YOUNG, TENS), {"data": PEOPLE, "ledger": tmp_path / "ledger"}
    assert dry_run_batch(questions, **told).plan.cost == irisdp.batch(questions, **told).charged


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
    data, questions = (
        in_file(tmp_path),
        [ASKED_OF_BATCHES[name] for name in ("young", "old", "tens", "twenties", "plain")],
    )
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
