"""The proof by exhaustion for variances and deviations: values between and beyond bounds, missing, groups, persons.

Every table of at most two records (three in `make reliability`) goes through the engine, and the exact law of what
would be shown is compared with every neighbour's; so are the three numbers that the ledger keeps, which tell more.
"""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from irisdp import NeighbouringRelation, Privacy, plan
from irisdp._measurements import Grid, StaircaseNoise, VarianceFromEnds, VarianceNodes, VarianceOfAll
from irisdp._queries import sum_and_mean
from irisdp._queries.clipped_values import total_steps
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
ONE_CELL = [("a", value) for value in (None, -7, -1, 0, 1, 5)]
FEW = [("a", value) for value in (None, -7, 0, 5)]
CELLS = [(None, 1), *(("a", value) for value in (None, 0, 1)), *(("b", value) for value in (0, 1))]
PERSONAL = [(None, "a", 0), (1, "a", -3), (1, "b", 0), (2, "a", 0), (2, "a", None)]
BOUNDS = [(-1, 1), (0, 1), (1, 3)][: tried(2, 3)]
MODES = {
    "declared": {"by": "g", "groups": ["a", "b"]},
    "expression": {"by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": ["low", "a"]},
    "selected": {"by": "g", "select_groups": True, "selection_delta": DELTA, "delta": DELTA},
    "public": {"by": "g", "groups": ["a", "b"], "public_membership": True},
}
QUERIES = ("variance", "deviation")


def asked(monkeypatch, query, records, *, lower, upper, most=MOST, **more):
    """Let the question be asked of tables of few such records."""
    monkeypatch.setitem(ASKED, query, (query, "v"))
    monkeypatch.setitem(CHOSEN, query, {"lower": lower, "upper": upper, **more})
    monkeypatch.setattr(exhaustion, "RECORDS", records)
    monkeypatch.setattr(exhaustion, "MOST", most)


def exact(lower, upper):
    """Return a ratio whose root for every square of a step is 2 or 4, so that all laws are short fractions."""
    return {"ratio": 2 ** (2 * (upper - lower) ** 2)}


@pytest.fixture(autouse=True)
def fresh(engine_once):
    yield
    forget_counts()


@pytest.fixture(params=["shown", "kept"])
def kept(request, monkeypatch):
    """Compare what is shown, and what the ledger keeps."""
    if request.param == "kept":
        for kind in (VarianceFromEnds, VarianceOfAll):
            monkeypatch.setattr(kind, "show", lambda self, drawn, nodes: list(drawn))
    return request.param


def test_they_are_in_no_other_proof():
    assert set(QUERIES) <= ELSEWHERE


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_variances_can_be_told_apart(lower, upper, relation, kept, monkeypatch):
    asked(monkeypatch, "variance", FEW if kept == "shown" else ONE_CELL, lower=lower, upper=upper)
    options = {"relation": relation, **exact(lower, upper)}
    assert_private("variance", options, neighbours(relation, "any"), more_than=12)


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_deviations_can_be_told_apart(relation, monkeypatch):
    asked(monkeypatch, "deviation", FEW, lower=-1, upper=1)
    assert_private("deviation", {"relation": relation, **exact(-1, 1)}, neighbours(relation, "any"), more_than=12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("missing", [-1, 0])
def test_nothing_can_be_told_apart_where_missing_values_count(missing, relation, kept, monkeypatch):
    asked(monkeypatch, "variance", FEW, lower=-1, upper=1, missing=missing)
    assert_private("variance", {"relation": relation, **exact(-1, 1)}, neighbours(relation, "any"), more_than=12)


@pytest.mark.parametrize("query", QUERIES)
def test_nothing_can_be_told_apart_where_every_record_of_a_public_number_counts(query, kept, monkeypatch):
    asked(monkeypatch, query, [("a", None), ("a", -7), ("a", 5)], lower=-1, upper=1, most=tried(3, 4), missing=0)
    options = {"relation": "exchange", "ratio": 3}
    assert type(plan(frame(()), query, "v", **CHOSEN[query], **options).audiences[0].mechanism) is VarianceOfAll
    assert_private(query, options, neighbours("exchange", "any"), more_than=15)


@pytest.mark.parametrize("query", QUERIES)
def test_no_neighbours_in_public_groups_can_be_told_apart_where_every_record_counts(query, monkeypatch):
    asked(monkeypatch, query, CELLS, lower=0, upper=1, missing=1)
    options = {**MODES["public"], "relation": "exchange", "ratio": 4}
    assert_private(query, options, neighbours("exchange", "public"), more_than=25)


def test_none_can_be_told_apart_where_roots_are_rounded(monkeypatch):
    monkeypatch.setattr(VarianceFromEnds, "show", lambda self, drawn, nodes: list(drawn))
    asked(monkeypatch, "variance", FEW, lower=-1, upper=1, most=2)
    for relation in RELATIONS:
        assert_private("variance", {"relation": relation, "ratio": 3}, neighbours(relation, "any"), more_than=10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", QUERIES)
def test_no_neighbours_in_groups_can_be_told_apart(query, mode, monkeypatch):
    asked(monkeypatch, query, CELLS, lower=0, upper=1)
    public = mode == "public"
    for relation in RELATIONS[public:]:
        options = {**MODES[mode], "relation": relation, "ratio": 4}
        assert_private(query, options, neighbours(relation, "public" if public else "any"), more_than=25)


@pytest.mark.parametrize("mode", ["whole", "declared"])
def test_no_person_can_be_told_apart(mode, monkeypatch):
    asked(monkeypatch, "variance", CELLS, lower=-1, upper=0)
    monkeypatch.setattr(exhaustion, "PERSONAL", PERSONAL)
    for relation, at_most in itertools.product(RELATIONS, (1, 2)):
        if (relation, at_most, mode) == ("exchange", 2, "declared"):
            continue
        options = {**MODES.get(mode, {}), "relation": relation, "ratio": 16, "unit": "u", "at_most": at_most}
        assert_private("variance", options, personal_neighbours(relation), LOTS[0], more_than=25)


@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_tables_are_read_as_python_reads_them(lower, upper):
    for missing in (None, lower):
        more = {} if missing is None else {"missing": missing}
        for table in exhaustion.tables(ONE_CELL, 2):
            planned = plan(frame(table), "variance", "v", lower=lower, upper=upper, epsilon=1, **more)
            values = [missing if value is None else value for _, value in table]
            above = [min(max(value, lower), upper) - lower for value in values if value is not None]
            below = [upper - lower - a for a in above]
            nodes = read_statistics(planned, LOTS[0]).nodes
            products = 2 * sum(a * b for a, b in zip(above, below, strict=True))
            sums = [[sum(a * a for a in above), products, sum(b * b for b in below)]]
            assert planned.audiences[0].mechanism.numbers(nodes).tolist() == sums
            assert (nodes.known.tolist(), nodes.records) == ([len(above)], None)


def read_with(change):
    """Read tables with other bounds than noise was made for."""

    def read(table, stepped, **options):
        return total_steps(table, replace(stepped, steps=change(stepped.steps)), **options)

    return read


class TestPlantedBugs:
    """The same comparison finds what would be a breach."""

    def found(self, monkeypatch, relation, *, lower=-1, upper=1, query="variance", **more):
        asked(monkeypatch, query, FEW, lower=lower, upper=upper, most=2, **more)
        return caught(query, {"relation": relation, **exact(lower, upper)}, neighbours(relation, "any"))

    @pytest.fixture(autouse=True)
    def as_kept(self, monkeypatch):
        for kind in (VarianceFromEnds, VarianceOfAll):
            monkeypatch.setattr(kind, "show", lambda self, drawn, nodes: list(drawn))

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_without_a_bug_nothing_is_caught(self, relation, monkeypatch):
        assert not self.found(monkeypatch, relation)

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_a_sensitivity_that_is_one_less(self, relation, monkeypatch):
        real = VarianceFromEnds.sensitivity.fget
        monkeypatch.setattr(VarianceFromEnds, "sensitivity", property(lambda self: real(self) - 1))
        assert self.found(monkeypatch, relation)

    def test_noise_on_the_variance_itself_for_less_than_it_moves_by(self, monkeypatch):
        """Of two records as far apart as they may be, the sum of squares is 2 squares of the step; of like ones 0."""
        assert not self.found(monkeypatch, "exchange", missing=1)
        monkeypatch.setattr(sum_and_mean, "StaircaseNoise", lambda privacy, moved: StaircaseNoise(privacy, moved // 4))
        assert self.found(monkeypatch, "exchange", missing=1)

    def test_the_mean_beside_the_variance_itself(self, monkeypatch):
        monkeypatch.setattr(
            VarianceOfAll, "show", lambda self, drawn, nodes: list(zip(drawn, nodes.above.tolist(), strict=True))
        )
        assert self.found(monkeypatch, "exchange", missing=1)

    def test_an_exchange_taken_for_one_that_comes_or_goes(self, monkeypatch):
        real = sum_and_mean.Variance.mechanism
        monkeypatch.setattr(
            sum_and_mean.Variance,
            "mechanism",
            lambda self, privacy, relation: real(self, privacy, NeighbouringRelation.ADD_REMOVE),
        )
        assert self.found(monkeypatch, "exchange")

    def test_one_of_several_records_that_noise_is_made_for(self, monkeypatch):
        real = VarianceFromEnds.__init__
        monkeypatch.setattr(exhaustion, "PERSONAL", [(1, "a", 1), (1, "a", 0), (2, "a", 1)])
        asked(monkeypatch, "variance", CELLS, lower=0, upper=1)
        options = {"ratio": 16, "unit": "u", "at_most": 2}
        assert not caught("variance", options, personal_neighbours("add-remove"))

        def alone(self, privacy, steps, kept=1, **more):
            real(self, privacy, steps, 1, **more)

        monkeypatch.setattr(VarianceFromEnds, "__init__", alone)
        assert caught("variance", options, personal_neighbours("add-remove"))

    @pytest.mark.parametrize("change", [
        lambda steps: Grid(steps.least, steps.most + 1, steps.size),
        lambda steps: Grid(steps.least - 2, steps.most, steps.size),
    ], ids=["upper off by one", "lower beyond"])  # fmt: skip
    @pytest.mark.parametrize("relation", RELATIONS)
    def test_values_beyond_the_bounds(self, change, relation, monkeypatch):
        monkeypatch.setattr(sum_and_mean, "total_steps", read_with(change))
        assert self.found(monkeypatch, relation)

    def test_a_missing_value_whose_square_is_that_of_another(self, monkeypatch):
        real = sum_and_mean.total_steps

        def read(table, stepped, **options):
            found = real(table, stepped, **options)
            plain = real(table, replace(stepped, missing=None), **options)
            return replace(found, squares=found.squares + 4 * (plain.total - plain.known))

        monkeypatch.setattr(sum_and_mean, "total_steps", read)
        assert self.found(monkeypatch, "add-remove", missing=0)

    def test_squares_of_values_about_another_bound(self, monkeypatch):
        real = sum_and_mean.total_steps

        def read(table, stepped, **options):
            found = real(table, stepped, **options)
            return replace(found, squares=found.squares + 2 * found.above)

        monkeypatch.setattr(sum_and_mean, "total_steps", read)
        assert self.found(monkeypatch, "add-remove")

    def test_the_true_number_of_values_beside_what_is_shown(self, monkeypatch):
        monkeypatch.setattr(
            VarianceFromEnds, "show", lambda self, drawn, nodes: list(zip(drawn, nodes.known.tolist(), strict=True))
        )
        assert self.found(monkeypatch, "add-remove")

    def test_records_taken_for_public_where_they_come_and_go(self, monkeypatch):
        real = sum_and_mean.Variance.nodes
        monkeypatch.setattr(
            sum_and_mean.Variance,
            "nodes",
            lambda self, found, relation: real(self, found, NeighbouringRelation.EXCHANGE),
        )
        assert self.found(monkeypatch, "add-remove")


def test_what_is_multiplied_out_is_drawn():
    """The same numbers get noise, and the population variance is shown."""
    table = frame((("a", None), ("a", -7), ("a", 1), ("a", 1)))
    for query, answer in (("variance", 2), ("deviation", math.sqrt(2))):
        planned = plan(table, query, "v", lower=-2, upper=2, epsilon=900)
        cells = read_statistics(planned, LOTS[0])
        mechanism = planned.audiences[0].mechanism
        assert mechanism.draw(cells.nodes).tolist() == [[18, 12, 18]]
        assert mechanism.show([[18, 12, 18]], cells.nodes) == [pytest.approx(answer, abs=1e-4)]


# The interval, for every table of few values: how often the exact law of the three numbers leaves the truth in it.

STEPS = Grid(0, 2, Fraction(1))


def law_of(mechanism, values, far):
    """Return the three numbers that may come out for some values, each with its probability, but for the far ones."""
    above = np.array([sum(values)])
    nodes = VarianceNodes(np.array([len(values)]), above, np.array([sum(a * a for a in values)]), None)
    noise = mechanism.noise
    masses = [(z, float(noise.probability(z))) for z in range(-far, far + 1)]
    true = mechanism.numbers(nodes)[0].tolist()
    for moved in itertools.product(masses, repeat=3):
        yield tuple(a + z for a, (z, _) in zip(true, moved, strict=True)), math.prod(p for _, p in moved)


@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("root", [False, True])
def test_intervals_hold_the_truth_as_often_as_they_say_for_every_small_table(confidence, root):
    """Of up to three records, and of up to ten in `make reliability`."""
    mechanism = VarianceFromEnds(Privacy(ratio=256), STEPS, root=root)
    found = {}
    nothing = VarianceNodes(*(np.zeros(1, dtype=np.int64) for _ in range(3)), None)
    for count in range(1, tried(3, 10) + 1):
        for values in itertools.combinations_with_replacement(range(3), count):
            variance = sum(a * a for a in values) / count - (sum(values) / count) ** 2
            truth = math.sqrt(variance) if root else variance
            held = 0.0
            for numbers, probability in law_of(mechanism, values, tried(3, 5)):
                if numbers not in found:
                    found[numbers] = mechanism.intervals([numbers], nothing, confidence)[0]
                low, high = found[numbers]
                held += probability * (low - 1e-9 <= truth <= high + 1e-9)
            assert held >= confidence, values
