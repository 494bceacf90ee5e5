"""The proof by exhaustion for sums with weights: null, negative and too large ones, groups and persons.

Every table of at most two records goes through the engine; of records (weight, group, value) the weight is in the
column that is called u, and where u says whose record it is, values are their own weights.
"""

from dataclasses import replace

import pytest

from irisdp import NeighbouringRelation, plan
from irisdp._measurements.means import NoisyMeans
from irisdp._queries import clipped_values, sum_and_mean
from irisdp._queries.clipped_values import clamped
from irisdp._release.pipeline import read_statistics
from support import exhaustion
from support.exhaustion import engine_once

__all__ = ["engine_once"]

RELATIONS = ("add-remove", "exchange")
WEIGHTED = [
    *((weight, "a", 1) for weight in (None, -3, 0, 1, 2, 9)),
    *((weight, "a", -7) for weight in (-3, 1, 9)),
    *((weight, "a", None) for weight in (None, 1, 9)),
    (1, "b", 5),
    (9, "b", 1),
    (9, None, 1),
]
PERSONAL = [(None, "a", 2), (1, "a", 2), (1, "b", 1), (2, "a", 5), (2, "a", -3)]
BOUNDS = {"lower": -1, "upper": 1, "weight": "u", "weight_upper": 2}
GROUPED = {"by": "g", "groups": ["a", "b"]}


@pytest.fixture(autouse=True)
def fresh(engine_once, monkeypatch):
    monkeypatch.setitem(exhaustion.ASKED, "sum", ("sum", "v"))
    monkeypatch.setattr(exhaustion, "RECORDS", WEIGHTED)
    monkeypatch.setattr(exhaustion, "MOST", 2)
    yield
    exhaustion.forget_counts()


def asked(monkeypatch, **more):
    monkeypatch.setitem(exhaustion.CHOSEN, "sum", {**BOUNDS, **more})


CHOICES = {
    "plain": {},
    "positive": {"lower": 1, "upper": 2},
    "coarse": {"lower": "-0.5", "weight_upper": "1.5", "step": 1},
    "missing": {"missing": -1},
}


@pytest.mark.parametrize("choices", CHOICES)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_weighted_sums_can_be_told_apart(relation, choices, monkeypatch):
    asked(monkeypatch, **CHOICES[choices])
    exhaustion.assert_private(
        "sum", {"relation": relation, "ratio": "7/3"}, exhaustion.neighbours(relation, "any"), more_than=100
    )


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_weighted_sums_of_groups_can_be_told_apart(relation, monkeypatch):
    asked(monkeypatch)
    exhaustion.assert_private(
        "sum", {**GROUPED, "relation": relation, "ratio": 4}, exhaustion.neighbours(relation, "any"), more_than=100
    )


@pytest.mark.parametrize(("relation", "more"), [
    ("add-remove", {}),
    ("exchange", {"at_most": 2}),
    ("add-remove", GROUPED),
    ("add-remove", {**GROUPED, "at_most": 2, "groups_per_unit": 1}),
])  # fmt: skip
def test_no_person_can_be_told_apart(relation, more, monkeypatch):
    asked(monkeypatch, weight="v", lower=0)
    monkeypatch.setattr(exhaustion, "PERSONAL", PERSONAL)
    options = {"at_most": 1, **more, "relation": relation, "ratio": 4, "unit": "u"}
    exhaustion.assert_private(
        "sum", options, exhaustion.personal_neighbours(relation), exhaustion.LOTS[0], more_than=25
    )


@pytest.mark.parametrize("missing", [None, 1])
def test_tables_are_read_as_python_reads_them(missing):
    planned = plan(exhaustion.frame(()), "sum", "v", **BOUNDS, missing=missing, epsilon=1)
    for table in exhaustion.tables(WEIGHTED, 2):
        one = replace(planned, table=exhaustion.opened(table))
        true = 0
        for weight, _, value in table:
            held = missing if value is None else min(max(value, -1), 1)
            if held is not None and weight is not None:
                true += held * min(max(weight, 0), 2)
        assert read_statistics(one, exhaustion.LOTS[0]).nodes.values.tolist() == [true]


class TestPlantedBugs:
    """The same comparison finds what would be a breach."""

    def found(self, monkeypatch, relation, **more):
        asked(monkeypatch, **more)
        return exhaustion.caught("sum", {"relation": relation, "ratio": 4}, exhaustion.neighbours(relation, "any"))

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_an_unclamped_weight(self, relation, monkeypatch):
        """Neither the weight nor the product is clamped: of either clamp alone, the other keeps the promise."""

        def unclamped(value, lower, upper, *, otherwise=None):
            return value if value == "k1" else clamped(value, lower, upper, otherwise=otherwise)

        def read(table, stepped, **options):
            wide = replace(stepped.steps, least=-100, most=100)
            found = real(table, replace(stepped, steps=wide), **options)
            return replace(found, above=found.above + (-100 - stepped.steps.least) * found.known)

        assert not self.found(monkeypatch, relation)
        exhaustion.forget_counts()
        real = sum_and_mean.total_steps
        monkeypatch.setattr(clipped_values, "clamped", unclamped)
        assert not self.found(monkeypatch, relation)
        exhaustion.forget_counts()
        monkeypatch.setattr(sum_and_mean, "total_steps", read)
        assert self.found(monkeypatch, relation)

    @pytest.mark.parametrize("relation", RELATIONS)
    def test_noise_for_values_without_their_weights(self, relation, monkeypatch):
        real = sum_and_mean.noise_for
        monkeypatch.setattr(sum_and_mean, "noise_for", lambda privacy, *, each, total, cells: real(
            privacy, each=each // 2, total=total // 2, cells=cells
        ))  # fmt: skip
        assert self.found(monkeypatch, relation)

    def test_an_exchange_taken_for_one_that_comes_or_goes(self, monkeypatch):
        real = sum_and_mean.Sum.mechanism
        monkeypatch.setattr(
            sum_and_mean.Sum, "mechanism", lambda self, privacy, _: real(self, privacy, NeighbouringRelation.ADD_REMOVE)
        )
        assert self.found(monkeypatch, "exchange")

    def test_a_ladder_that_leaves_nothing_out(self, monkeypatch):
        """Of values above 0 alone, a weight of 0 may still take all of it away."""
        real = sum_and_mean.Sum.mechanism

        def mechanism(self, privacy, relation):
            shorter = replace(self.stepped.steps, least=self.stepped.steps.most - 1)
            return real(replace(self, stepped=replace(self.stepped, steps=shorter, missing=0)), privacy, relation)

        monkeypatch.setattr(sum_and_mean.Sum, "mechanism", mechanism)
        assert self.found(monkeypatch, "exchange", lower=1, upper=2)


# Weighted means: a record counts as so many records of its value as its weight has parts of the largest one.

MEANS = {
    "whole weights": {"lower": 0, "upper": 1, "weight_upper": 2},
    "parts": {"lower": 0, "upper": 1, "weight_upper": "1.5"},
    "missing": {"lower": 0, "upper": 1, "weight_upper": 2, "missing": 1},
}


@pytest.fixture(params=["shown", "kept"])
def mean_asked(request, monkeypatch):
    monkeypatch.setitem(exhaustion.ASKED, "mean", ("mean", "v"))
    monkeypatch.setattr(clipped_values, "_LOTS", 2)
    if request.param == "kept":
        monkeypatch.setattr(NoisyMeans, "show", lambda self, drawn, nodes: list(drawn))


@pytest.mark.usefixtures("mean_asked")
@pytest.mark.parametrize("choices", MEANS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_weighted_means_can_be_told_apart(relation, choices, monkeypatch):
    monkeypatch.setitem(exhaustion.CHOSEN, "mean", {"step": 1, "weight": "u", **MEANS[choices]})
    options = {"relation": relation, "ratio": 16}
    exhaustion.assert_private("mean", options, exhaustion.neighbours(relation, "any"), more_than=100)


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_weighted_means_of_groups_can_be_told_apart(relation, monkeypatch):
    monkeypatch.setitem(exhaustion.ASKED, "mean", ("mean", "v"))
    monkeypatch.setitem(exhaustion.CHOSEN, "mean", {"weight": "u", **MEANS["whole weights"]})
    monkeypatch.setattr(NoisyMeans, "show", lambda self, drawn, nodes: list(drawn))
    monkeypatch.setattr(exhaustion, "RECORDS", [*WEIGHTED[2:6:2], WEIGHTED[8], WEIGHTED[11], (9, "b", 1)])
    options = {"relation": relation, "ratio": 16, **GROUPED}
    exhaustion.assert_private("mean", options, exhaustion.neighbours(relation, "any"), more_than=25)


@pytest.mark.usefixtures("mean_asked")
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_weighted_means_of_persons_can_be_told_apart(relation, monkeypatch):
    monkeypatch.setitem(exhaustion.CHOSEN, "mean", {"weight": "v", **MEANS["whole weights"]})
    monkeypatch.setattr(exhaustion, "PERSONAL", PERSONAL)
    options = {"relation": relation, "ratio": 16, "unit": "u", "at_most": 2}
    exhaustion.assert_private("mean", options, exhaustion.personal_neighbours(relation), more_than=25)


@pytest.mark.parametrize("bug", ["a weight that counts as one value less", "weights that are not bounded"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_bugs_of_weighted_means_are_caught(relation, bug, monkeypatch):
    monkeypatch.setitem(exhaustion.ASKED, "mean", ("mean", "v"))
    monkeypatch.setitem(exhaustion.CHOSEN, "mean", {"weight": "u", **MEANS["whole weights"]})
    monkeypatch.setattr(NoisyMeans, "show", lambda self, drawn, nodes: list(drawn))
    asked = "mean", {"relation": relation, "ratio": 16}, exhaustion.neighbours(relation, "any")
    assert not exhaustion.caught(*asked)
    if bug.startswith("a weight"):
        real = sum_and_mean.Mean.most_values.fget
        monkeypatch.setattr(sum_and_mean.Mean, "most_values", property(lambda self: real(self) - 1))
    else:
        monkeypatch.setattr(clipped_values, "_lots", lambda stepped, weight: f"CAST(ABS({weight}) AS BIGINT)")
        exhaustion.forget_counts()
    assert exhaustion.caught(*asked)
