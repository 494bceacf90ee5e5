"""The proof by exhaustion for sums and means: values from −2 to 2 and beyond them, missing ones, groups and persons.

Every table of at most two records (three in `make reliability`) goes through the engine, and the exact law of what
would be shown is compared with every neighbour's. Of means the two numbers that the ledger keeps are compared as well,
which tell more than the mean.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from irisdp import NeighbouringRelation, Privacy, plan
from irisdp._measurements import Grid, MeanFromCentre, MeanFromEnds, MeanOfAll, StaircaseNoise
from irisdp._measurements.means import NoisyMeans
from irisdp._queries import sum_and_mean
from irisdp._queries.clipped_values import StepTotals, total_steps
from irisdp._release.pipeline import read_statistics
from support import exhaustion
from support.exhaustion import (
    ASKED,
    CHOSEN,
    DELTA,
    ELSEWHERE,
    LOTS,
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
MOST = tried(2, 3)
ONE_CELL = [("a", value) for value in (None, -7, -2, -1, 0, 1, 2, 5)]
FEW = [("a", value) for value in (None, -7, 0, 2, 5)]
CELLS = [(None, 2), *(("a", value) for value in (None, -1, 2)), *(("b", value) for value in (0, 1))]
PERSONAL = [(None, "a", 0), (1, "a", -3), (1, "b", 0), (2, "a", 0), (2, "a", None)]
BOUNDS = [(-2, 2), (1, 2), (0, 2), (-2, -1)][: tried(2, 4)]
MODES = {
    "declared": {"by": "g", "groups": ["a", "b"]},
    "one-declared": {"by": "g", "groups": ["b"]},
    "expression": {"by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": ["low", "a"]},
    "selected": {"by": "g", "select_groups": True, "selection_delta": DELTA, "delta": DELTA},
    "public": {"by": "g", "groups": ["a", "b"], "public_membership": True},
}


def asked(monkeypatch, query, records, *, lower, upper, most=MOST, **more):
    """Let the question be asked of tables of few such records."""
    monkeypatch.setitem(ASKED, query, (query, "v"))
    monkeypatch.setitem(CHOSEN, query, {"lower": lower, "upper": upper, **more})
    monkeypatch.setattr(exhaustion, "RECORDS", records)
    monkeypatch.setattr(exhaustion, "MOST", most)


def exact(lower, upper):
    """Return a ratio whose root for every step is 2, so that all laws are short fractions."""
    return {"ratio": 2 ** (2 * (upper - lower))}


@pytest.fixture(autouse=True)
def fresh(engine_once):
    yield
    forget_counts()


@pytest.fixture(params=["shown", "kept"])
def kept(request, monkeypatch):
    """Compare what is shown of means, and what the ledger keeps of them."""
    if request.param == "kept":
        for kind in (NoisyMeans, MeanOfAll):
            monkeypatch.setattr(kind, "show", lambda self, drawn, nodes: list(drawn))
    return request.param


def test_they_are_in_no_other_proof():
    assert {"sum", "mean"} <= ELSEWHERE


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_no_sums_can_be_told_apart(lower, upper, monkeypatch):
    asked(monkeypatch, "sum", ONE_CELL, lower=lower, upper=upper)
    for relation in RELATIONS:
        assert_private("sum", {"relation": relation, "ratio": "7/3"}, neighbours(relation, "any"), more_than=25)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_no_means_can_be_told_apart(lower, upper, kept, monkeypatch):
    asked(monkeypatch, "mean", ONE_CELL, lower=lower, upper=upper)
    for relation in RELATIONS:
        options = {"relation": relation, **exact(lower, upper)}
        assert_private("mean", options, neighbours(relation, "any"), more_than=25)


@pytest.mark.parametrize("missing", [-2, 1])
@pytest.mark.parametrize("query", ["sum", "mean"])
def test_nothing_can_be_told_apart_where_missing_values_count(query, missing, kept, monkeypatch):
    asked(monkeypatch, query, FEW, lower=-2, upper=1, missing=missing)
    for relation in RELATIONS:
        assert_private(query, {"relation": relation, **exact(-2, 1)}, neighbours(relation, "any"), more_than=25)


def test_no_means_can_be_told_apart_where_roots_are_rounded(kept, monkeypatch):
    asked(monkeypatch, "mean", [("a", None), ("a", -3), ("a", 0), ("a", 1)], lower=-1, upper=1, most=2)
    for relation in RELATIONS:
        assert_private("mean", {"relation": relation, "ratio": 3}, neighbours(relation, "any"), more_than=10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["sum", "mean"])
def test_no_neighbours_in_groups_can_be_told_apart(query, mode, monkeypatch):
    lower, upper = (-2, 2) if query == "sum" else (0, 1)
    asked(monkeypatch, query, CELLS, lower=lower, upper=upper)
    public = mode == "public"
    for relation in RELATIONS[public:]:
        options = {**MODES[mode], "relation": relation, "ratio": 4}
        assert_private(query, options, neighbours(relation, "public" if public else "any"), more_than=25)


@pytest.mark.parametrize("mode", ["whole", "declared", "selected"])
@pytest.mark.parametrize("query", ["sum", "mean"])
def test_no_person_can_be_told_apart(query, mode, monkeypatch):
    asked(monkeypatch, query, CELLS, lower=-1, upper=0)
    monkeypatch.setattr(exhaustion, "PERSONAL", PERSONAL)
    for relation in RELATIONS:
        options = {**MODES.get(mode, {}), "relation": relation, "ratio": 4, "unit": "u", "at_most": 1}
        assert_private(query, options, personal_neighbours(relation), LOTS[0], more_than=25)


def totals_of(table, lower, upper):
    """Return values and steps of a table by Python's own arithmetic."""
    held = [min(max(value, lower), upper) - lower for _, value in table if value is not None]
    return len(held), sum(held)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_tables_are_read_as_python_reads_them(lower, upper):
    for table in exhaustion.tables(ONE_CELL, 2):
        planned = plan(frame(table), "sum", "v", lower=lower, upper=upper, epsilon=1)
        known, above = totals_of(table, lower, upper)
        nodes = read_statistics(planned, LOTS[0]).nodes
        assert nodes.values.tolist() == [above + lower * known]
        means = read_statistics(replace(planned, query=plan(frame(table), "mean", "v", **BY).query), LOTS[0]).nodes
        assert (means.known.tolist(), means.records) == ([known], None)


BY = {"lower": -2, "upper": 2, "epsilon": 1}


def read_with(change):
    """Read tables with other bounds than noise was made for."""

    def read(table, stepped, **options):
        other = change(stepped.steps)
        column = sum_and_mean.read_stepped(
            table, stepped.of.name, sum_and_mean.ColumnChoices(lower=other.lower, upper=other.upper), "sum"
        )
        found = total_steps(table, column, **options)
        return StepTotals(found.total, found.known, found.above + (other.least - stepped.steps.least) * found.known)

    return read


def with_nulls_as(steps):
    """Read a missing value as so many steps above the lower bound."""

    def read(table, stepped, **options):
        found = total_steps(table, stepped, **options)
        return StepTotals(found.total, found.total, found.above + steps * (found.total - found.known))

    return read


class TestPlantedBugs:
    """The same comparison finds what would be a breach."""

    def found(self, monkeypatch, query, relation, **more):
        asked(monkeypatch, query, FEW, lower=-1, upper=2, most=2, **more)
        return caught(query, {"relation": relation, **exact(-1, 2)}, neighbours(relation, "any"))

    @pytest.mark.parametrize("relation", RELATIONS)
    @pytest.mark.parametrize("query", ["sum", "mean"])
    def test_without_a_bug_nothing_is_caught(self, query, relation, monkeypatch):
        assert not self.found(monkeypatch, query, relation)

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_a_sensitivity_that_is_one_less(self, relation, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "StaircaseNoise", lambda privacy, moved: StaircaseNoise(privacy, moved - 1))
        monkeypatch.setattr(sum_and_mean, "noise_for", lambda privacy, *, each, **_: StaircaseNoise(privacy, each - 1))
        assert self.found(monkeypatch, "sum", relation)
        assert self.found(monkeypatch, "sum", relation, missing=0)
        if relation == "exchange":
            assert self.found(monkeypatch, "mean", relation, missing=0)

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_a_step_less_between_the_bounds_of_a_mean(self, relation, monkeypatch):
        kind = MeanFromCentre if relation == "exchange" else MeanFromEnds
        fewer = kind(Privacy(ratio=64), Grid(-1, 1, Fraction(1))).noises
        monkeypatch.setattr(kind, "noises", property(lambda self: fewer))
        assert self.found(monkeypatch, "mean", relation)

    @pytest.mark.parametrize("query", ["sum", "mean"])
    @pytest.mark.parametrize("change", [
        lambda steps: Grid(steps.least, steps.most + 1, steps.size),
        lambda steps: Grid(steps.least - 2, steps.most, steps.size),
        lambda steps: Grid(-100, 100, steps.size),
    ], ids=["upper off by one", "lower beyond", "unclamped"])  # fmt: skip
    @pytest.mark.parametrize("relation", RELATIONS)
    def test_values_beyond_the_bounds(self, query, change, relation, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "total_steps", read_with(change))
        assert self.found(monkeypatch, query, relation)

    @pytest.mark.parametrize("query", ["sum", "mean"])
    @pytest.mark.parametrize("relation", RELATIONS)
    def test_a_missing_value_that_counts_as_one_beyond_the_bounds(self, query, relation, monkeypatch):
        real = sum_and_mean.read_stepped
        beyond = lambda *given, **more: replace(real(*given, **more), missing=5)  # noqa: E731
        monkeypatch.setattr(sum_and_mean, "read_stepped", beyond)
        assert self.found(monkeypatch, query, relation, missing=0)

    @pytest.mark.parametrize("query", ["sum", "mean"])
    def test_a_missing_value_that_counts_as_nothing_after_all(self, query, monkeypatch):
        """Under exchange noise is then for less than a value that turns into nothing moves a sum by."""
        real = sum_and_mean.total_steps

        def read(table, stepped, **options):
            return real(table, replace(stepped, missing=None), **options)

        monkeypatch.setattr(sum_and_mean, "total_steps", read)
        asked(monkeypatch, query, FEW, lower=1, upper=2, most=2, missing=1)
        assert caught(query, {"relation": "exchange", **exact(1, 2)}, neighbours("exchange", "any")) == (query == "sum")

    @pytest.mark.parametrize("query", ["sum", "mean"])
    def test_a_missing_value_that_is_read_as_one_beyond_the_bounds(self, query, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "total_steps", with_nulls_as(4))
        assert self.found(monkeypatch, query, "add-remove")

    def test_an_exchange_taken_for_one_that_comes_or_goes(self, monkeypatch):
        for query, kind in (("sum", sum_and_mean.Sum), ("mean", sum_and_mean.Mean)):
            real = kind.mechanism
            monkeypatch.setattr(
                kind,
                "mechanism",
                lambda self, privacy, relation, real=real: real(self, privacy, NeighbouringRelation.ADD_REMOVE),
            )
            assert self.found(monkeypatch, query, "exchange")

    def test_a_number_of_values_with_noise_for_an_exchange_that_moves_nothing_else(self, monkeypatch):
        real = MeanFromCentre.noises.fget
        monkeypatch.setattr(
            MeanFromCentre,
            "noises",
            property(lambda self: (real(self)[0], MeanFromEnds(self.privacy, Grid(0, 1, Fraction(1))).noises[0])),
        )
        assert self.found(monkeypatch, "mean", "exchange")

    def test_a_mean_of_the_true_number(self, monkeypatch):
        monkeypatch.setattr(
            NoisyMeans,
            "show",
            lambda self, drawn, nodes: [
                (self.total_and_number(pair)[0], known) for pair, known in zip(drawn, nodes.known.tolist(), strict=True)
            ],
        )
        assert self.found(monkeypatch, "mean", "add-remove")

    def test_ends_of_a_sum_from_the_records_that_have_a_value(self, monkeypatch):
        real = sum_and_mean.Sum.nodes

        def nodes(self, statistics, relation):
            return real(self, replace(statistics, total=statistics.known), relation)

        monkeypatch.setattr(sum_and_mean.Sum, "nodes", nodes)
        assert self.found(monkeypatch, "sum", "exchange")

    def test_records_taken_for_public_where_they_come_and_go(self, monkeypatch):
        for kind in (sum_and_mean.Sum, sum_and_mean.Mean):
            real = kind.nodes
            monkeypatch.setattr(
                kind, "nodes", lambda self, found, relation, real=real: real(self, found, NeighbouringRelation.EXCHANGE)
            )
            assert self.found(monkeypatch, kind.name, "add-remove")


def test_what_is_multiplied_out_is_drawn():
    """The same numbers get noise, and the same mean is shown."""
    table = frame((("a", None), ("a", -7), ("a", 1)))
    for relation, numbers in (("add-remove", [3, 5]), ("exchange", [-2, 2])):
        planned = plan(table, "mean", "v", lower=-2, upper=2, epsilon=400, relation=relation)
        cells = read_statistics(planned, LOTS[0])
        mechanism = planned.audiences[0].mechanism
        assert mechanism.draw(cells.nodes).tolist() == [numbers]
        assert mechanism.show([numbers], cells.nodes) == [-0.5]
    law = Counter(plan(table, "sum", "v", lower=-2, upper=2, ratio=2).audiences[0].mechanism.law(
        read_statistics(plan(table, "sum", "v", lower=-2, upper=2, ratio=2), LOTS[0]).nodes, 0, 3
    ))  # fmt: skip
    assert sum(law.values()) == 1
    assert max(law, key=law.get) in (-2, -1, 0)
    assert np.isfinite(list(law)).all()
