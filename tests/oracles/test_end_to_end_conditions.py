"""The proof by exhaustion for questions about a column that have a condition, and what a condition leaves out.

A record exchanged for another may enter the condition, leave it, or change its value and stay. Each table goes the
whole way, through the engine, and the exact law of all answers is compared with every neighbour's.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from irisdp import design, plan
from irisdp._measurements import MeanFromCentre, MeanOfAll, NoisyBounds
from irisdp._queries import ContributionBounds, PerUnitRule, PrivacyUnit, sum_and_mean, value_bounds
from irisdp._queries.reading import QUERIES
from irisdp._queries.registry import FORMS
from irisdp._queries.statistics import count_records
from irisdp._release.pipeline import read_statistics
from irisdp._tables.table import open_table
from support import exhaustion
from support.exhaustion import (
    ASKED,
    CHOSEN,
    DELTA,
    LOTS,
    MODES,
    assert_private,
    caught,
    engine_once,
    forget_counts,
    frame,
    neighbours,
    personal_neighbours,
)
from support.sweeps import tried

__all__ = ["engine_once"]

RELATIONS = ("add-remove", "exchange")
WHERE = "g = 'a'"
"""Unknown for a record without a group, and false for one in another."""

BINS, NAMES = {"bins": "1"}, {"categories": ["0", "1", "2"]}
BOUNDS = {"lower": 0, "upper": 1}
QUESTIONS = {
    "plurality": (("plurality", "v", WHERE), NAMES),
    "median": (("median", "v", WHERE), BINS),
    "quantile": (("quantile", "2/3", "v", WHERE), {"bins": "1,2"}),
    "quantiles": (("quantiles", "1/3,2/3", "v", WHERE), BINS),
    "bounds": (("bounds", "v", WHERE), {}),
    "top": (("top", 2, "v", WHERE), NAMES),
    "ranking": (("ranking", "v", WHERE), NAMES),
    "sizes": (("sizes", 1, "v", WHERE), {}),
    "sizes-declared": (("sizes", 2, "v", WHERE), {"categories": ["0", "2"]}),
    "histogram": (("histogram", "v", WHERE), BINS),
    "count-distinct": (("count-distinct", "v", WHERE), {}),
    "expression": (("median", "w = 1 - v", WHERE), BINS),
    "histogram-of-expression": (("histogram", "w = 1 - v", WHERE), BINS),
    "sum": (("sum", "v", WHERE), BOUNDS),
    "mean": (("mean", "v", WHERE), BOUNDS),
    "variance": (("variance", "v", WHERE), BOUNDS),
    "deviation": (("deviation", "v", WHERE), {**BOUNDS, "missing": 1}),
    "sum-missing": (("sum", "v", WHERE), {"lower": 2, "upper": 3, "missing": 2}),
    "mean-missing": (("mean", "v", WHERE), {**BOUNDS, "missing": 1}),
    "sum-of-expression": (("sum", "w = 1 - v", WHERE), {"lower": -1, "upper": 1, "step": 1}),
}
OWN_PROOF = {"apply", "column"}
"""Below, for they need a mechanism file, or tables in order."""


@pytest.fixture(autouse=True)
def fresh(engine_once, monkeypatch):
    for name, (words, chosen) in QUESTIONS.items():
        monkeypatch.setitem(ASKED, f"{name}-where", words)
        monkeypatch.setitem(CHOSEN, f"{name}-where", chosen)
    monkeypatch.setattr(exhaustion, "ENCLOSED", {"ranking-where"})
    # Of bounds, two bins, and what is shown where a noisy count of 1 stands out.
    monkeypatch.setattr(value_bounds, "power_edges", lambda: (Fraction(1),))
    monkeypatch.setattr(NoisyBounds, "threshold", property(lambda self: 1))
    yield
    forget_counts()


def options_of(name, mode, relation):
    bounded = name.startswith(("sum", "mean", "variance", "deviation"))
    options = {**MODES[mode], "relation": relation, "ratio": 4 if bounded else 2}
    if bounded and mode == "selected":
        options["delta"] = DELTA
    return options if name in ("histogram", "histogram-of-expression") or bounded else {**options, "delta": DELTA}


def modes_of(name):
    """Where groups are selected or public, nothing of a condition is new but that a record enters it and leaves it."""
    modes = ["whole", "declared", "selected", "public"]
    return [mode for mode in modes if not (name.startswith("histogram") and mode in ("selected", "public"))]


def test_every_query_about_a_column_is_here():
    about_columns = {form.name for form in FORMS if "COLUMN" in form.usage}
    assert {words[0] for words, _ in QUESTIONS.values()} | OWN_PROOF == about_columns
    assert all("EXPR" in form.usage for form in FORMS)


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name in QUESTIONS for mode in modes_of(name)])
def test_no_neighbours_can_be_told_apart(name, mode, monkeypatch):
    monkeypatch.setattr(exhaustion, "MOST", tried(2, 3))
    public = mode == "public"
    for relation in RELATIONS[public:]:
        options = options_of(name, mode, relation)
        assert_private(f"{name}-where", options, neighbours(relation, "public" if public else "any"), more_than=15)


PERSONS = ("plurality", "median", "bounds", "histogram", "sum", "sizes", "mean-missing")


@pytest.mark.parametrize("rule", ["kept", "any", "all"])
@pytest.mark.parametrize("name", PERSONS)
def test_no_person_can_be_told_apart(name, rule):
    pairs = {relation: personal_neighbours(relation) for relation in RELATIONS}
    for relation in RELATIONS:
        few = {pair for pair in pairs[relation] if max(map(len, pair)) <= tried(2, 3)}
        options = {**options_of(name, "whole", relation), "unit": "u"}
        options |= {"at_most": 1} if rule == "kept" else {"per_unit": rule}
        assert_private(f"{name}-where", options, few, LOTS[1], more_than=30)


@pytest.mark.parametrize("name", ["sum", "mean", "sum-missing", "mean-missing", "histogram", "count-distinct"])
def test_no_person_with_several_records_can_be_told_apart(name):
    for relation in RELATIONS:
        few = {pair for pair in personal_neighbours(relation) if max(map(len, pair)) <= tried(2, 3)}
        options = {**options_of(name, "whole", relation), "unit": "u", "at_most": 2}
        assert_private(f"{name}-where", options, few, LOTS[1], more_than=30)


SPECS = {
    "histograms": {"kind": "distance", "graph": {"family": "histograms", "total": 2, "types": 3}},
    "gaps": {"kind": "plurality", "categories": 2, "largest": 2, "relation": "exchange"},
}


@pytest.mark.parametrize("name", SPECS)
def test_no_neighbours_can_be_told_apart_by_a_mechanism_file(name, tmp_path, monkeypatch):
    monkeypatch.setattr(exhaustion, "MOST", 2)
    path = tmp_path / "mechanism.json"
    design.from_spec({**SPECS[name], "privacy": {"ratio": 2}}).save(path)
    monkeypatch.setitem(ASKED, "apply-where", ("apply", str(path), "v", WHERE))
    monkeypatch.setitem(CHOSEN, "apply-where", {"categories": ["0", "1"]})
    monkeypatch.setattr(
        exhaustion,
        "planned_for",
        lambda table, query, options: plan(frame(table), *ASKED[query], **CHOSEN[query], **options),
    )
    pairs = {pair for pair in neighbours("exchange", "any") if name == "gaps" or len(pair[0]) == 2}
    assert_private("apply-where", {"relation": "exchange"}, pairs, more_than=20)


def test_no_exchange_of_one_record_in_order_can_be_told_apart():
    tables = list(product(exhaustion.RECORDS, repeat=2))
    asked = {"categories": ["0", "1"], "relation": "exchange", "ratio": 2}
    laws = {}
    for table in tables:
        planned = plan(frame(table), "column", "v", WHERE, **asked)
        laws[table] = exhaustion.joint_law(planned, read_statistics(planned, LOTS[0]))
    for one, other in product(tables, tables):
        if (one[0] == other[0]) + (one[1] == other[1]) == 1:
            assert exhaustion.worst_delta(laws[one], laws[other], Fraction(2)) <= 0


# What a condition leaves out, by Python's own arithmetic.

RECORDS = [(None, 1), ("a", None), ("a", 0), ("a", 1), ("b", 0), ("b", 1), ("a", 2)]


def statistics_of(records, words, chosen, **options):
    """Return the nodes of a question as text, which `read_statistics` reads for a plan."""
    planned = plan(frame(tuple(records)), *words, **chosen, **{"epsilon": 1, **options})
    return str(sorted(vars_of(read_statistics(planned, LOTS[0]).nodes).items()))


def vars_of(nodes):
    return {name: np.array(getattr(nodes, name)).tolist() for name in type(nodes).__dataclass_fields__}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_condition_is_as_a_table_without_the_other_records(name):
    words, chosen = QUESTIONS[name]
    for options in ({}, {"by": "k = g", "groups": ["a", "b"]}):
        # Under add-remove nodes depend on the records that count, and on no other number of records.
        whole = statistics_of(RECORDS, words, chosen, **options)
        rest = statistics_of([record for record in RECORDS if record[0] == "a"], words[:-1], chosen, **options)
        assert whole == rest


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_condition_by_another_name_is_the_same_question(name):
    words, chosen = QUESTIONS[name]
    relation = {"relation": "exchange"} if name == "column" else {}
    one = plan(frame(()), *words, epsilon=1, **chosen, **relation)
    assert one.query.expression == WHERE
    another = plan(frame(()), *words[:-1], where="'a' = g", epsilon=1, **chosen, **relation)
    assert one.question() == another.question()
    together = plan(frame(()), " ".join(map(str, words[:-1])), WHERE, epsilon=1, **chosen, **relation)
    assert one.question() == together.question()
    assert one.question() != plan(frame(()), *words[:-1], epsilon=1, **chosen, **relation).question()


def test_expressions_of_one_name_are_different_questions():
    for query, chosen in (("median", BINS), ("histogram", BINS), ("sum", {**BOUNDS, "step": 1}), ("sizes", {})):
        asked = [plan(frame(()), query, f"w = {of}", epsilon=1, **chosen).question() for of in ("1 - v", "v - 1")]
        assert asked[0] != asked[1]


@pytest.mark.parametrize("records", [1, 2])
def test_of_a_person_the_kept_records_are_asked(records):
    """The condition is asked of the records that are kept, and chooses none of them."""
    rows = [(person, group, value) for person in range(6) for group, value in (("a", 1), ("b", 2), ("a", 4))]
    people, groups, values = zip(*rows, strict=True)
    table = pa.table({"u": people, "g": groups, "v": values, "id": range(len(rows))})
    bounds = ContributionBounds(records) if records > 1 else ContributionBounds()
    opened = open_table(table)
    one_each = plan(table, "histogram", "id", categories=range(len(rows)), epsilon=1).groups
    kept = count_records(opened, groups=one_each, unit=PrivacyUnit("u", LOTS[0], contribution=bounds)).yes
    expected = [value for (_, group, value), number in zip(rows, kept, strict=True) if group == "a" and number]
    planned = plan(table, "sum", "v", WHERE, lower=0, upper=9, epsilon=1, unit="u", at_most=records)
    (total,) = read_statistics(planned, LOTS[0]).nodes.values.tolist()
    assert total == sum(expected)
    assert sum(kept) == 6 * records


@pytest.mark.parametrize("rule", PerUnitRule)
def test_any_or_all_of_a_persons_records_may_decide(rule):
    rows = [(1, "a", 1), (1, "b", 1), (2, "a", 1), (2, "a", 1), (3, "b", 1)]
    people, groups, values = zip(*rows, strict=True)
    table = pa.table({"u": people, "g": groups, "v": values})
    planned = plan(table, "sum", "v", WHERE, lower=0, upper=9, epsilon=1, unit="u", per_unit=str(rule))
    assert read_statistics(planned, LOTS[0]).nodes.values.tolist() == [2 if rule == PerUnitRule.ANY else 1]


# Bugs that the comparison must catch.


def test_a_number_of_records_that_a_condition_makes_private_is_caught(monkeypatch):
    """As if every record counted, although records enter the condition and leave it."""
    monkeypatch.setattr(sum_and_mean._OfNumbers, "every_record_counts", True)
    assert caught("sum-missing-where", options_of("sum-missing", "whole", "exchange"), neighbours("exchange", "any"))


def test_a_condition_that_depends_on_other_records_is_caught(monkeypatch):
    monkeypatch.setitem(ASKED, "median-where", ("median", "v", "v = 1"))
    exhaustion.rewritten(monkeypatch, "CAST('1.0' AS DOUBLE)", "CAST((SELECT COUNT(*) FROM data) - 1 AS DOUBLE)")
    pairs = {pair for pair in neighbours("add-remove", "any") if max(map(len, pair)) <= 3}
    # `count_categories` writes its own statement.
    monkeypatch.setattr("irisdp._queries.categories.records_statement", exhaustion.statistics.records_statement)
    assert caught("median-where", options_of("median", "whole", "add-remove"), pairs)


def test_a_public_number_needs_every_record():
    for where, kind in (((), MeanOfAll), ((WHERE,), MeanFromCentre)):
        planned = plan(frame(()), "mean", "v", *where, **BOUNDS, missing=1, relation="exchange", epsilon=1)
        assert type(planned.audiences[0].mechanism) is kind


def test_conditions_are_part_of_what_is_kept():
    assert {name for name, kind in QUERIES.items() if "expression" not in kind.__dataclass_fields__} == set()
    planned = plan(frame(()), "sum", "v", WHERE, **BOUNDS, epsilon=1)
    assert planned.subject()["query"]["expression"] == WHERE
    assert replace(planned.query, expression=None) != planned.query
