"""Bounds for values: the proof by exhaustion with few bins, what is claimed of them, and every power of two."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import irisdp
from irisdp import BadInput, NeighbouringRelation, Privacy, plan
from irisdp._measurements import BinNodes, NoisyBounds
from irisdp._queries import value_bounds
from irisdp._queries.quantile import AboutBins
from irisdp._queries.value_bounds import Bounds, power_edges
from irisdp._release.pipeline import read_statistics
from support import exhaustion
from support.exhaustion import (
    ASKED,
    ELSEWHERE,
    LOTS,
    MODES,
    MOST,
    assert_private,
    caught,
    engine_once,
    forget_counts,
    neighbours,
    personal_neighbours,
)
from support.sweeps import tried

__all__ = ["engine_once"]

RELATIONS = ("add-remove", "exchange")
FEW = (Fraction(1),)


@pytest.fixture(params=["shown", "kept"])
def asked(engine_once, request, monkeypatch):
    """Ask with one edge, of what is shown where a noisy count of 1 stands out, and of what the ledger keeps."""
    monkeypatch.setitem(ASKED, "bounds", ("bounds", "v"))
    monkeypatch.setattr(value_bounds, "power_edges", lambda: FEW)
    monkeypatch.setattr(NoisyBounds, "threshold", property(lambda self: 1))
    if request.param == "kept":
        monkeypatch.setattr(NoisyBounds, "show", lambda self, drawn, nodes: list(drawn))
    yield
    forget_counts()


def test_they_are_in_no_other_proof():
    assert "bounds" in ELSEWHERE


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("mode", ["whole", "declared", "selected", "public"])
def test_no_neighbours_can_be_told_apart(mode):
    public = mode == "public"
    for relation in RELATIONS[public:]:
        options = {**MODES[mode], "relation": relation, "delta": exhaustion.DELTA if mode == "selected" else 0}
        assert_private("bounds", options, neighbours(relation, "public" if public else "any"), more_than=100)


MORE = {
    3: ((Fraction(0), Fraction(1)), [("a", value) for value in (None, -1, 0, 1)]),
    4: ((Fraction(-1), Fraction(0), Fraction(1)), [("a", value) for value in (None, -2, -1, 0, 1)]),
}
"""Edges of so many bins, and a record in each, and one in none."""


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("bins", MORE)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_neighbours_in_more_bins_can_be_told_apart(bins, relation, monkeypatch):
    edges, records = MORE[bins]
    monkeypatch.setattr(value_bounds, "power_edges", lambda: edges)
    monkeypatch.setattr(exhaustion, "RECORDS", records)
    monkeypatch.setattr(exhaustion, "MOST", tried(2, 3))
    planned = plan(exhaustion.frame(tuple(records)), "bounds", "v", epsilon=1)
    assert read_statistics(planned, LOTS[0]).nodes.counts.tolist() == [[1] * bins]
    assert_private("bounds", {"relation": relation}, neighbours(relation, "any"), more_than=18)


@pytest.mark.usefixtures("asked")
def test_no_person_can_be_told_apart():
    for relation in RELATIONS:
        options = {"relation": relation, "unit": "u", "at_most": 1}
        assert_private("bounds", options, personal_neighbours(relation), LOTS[0], more_than=100)


@pytest.mark.parametrize("relation", RELATIONS)
def test_noise_for_less_than_moves_is_caught(engine_once, relation, monkeypatch):
    monkeypatch.setitem(ASKED, "bounds", ("bounds", "v"))
    monkeypatch.setattr(value_bounds, "power_edges", lambda: FEW)
    monkeypatch.setattr(NoisyBounds, "show", lambda self, drawn, nodes: list(drawn))
    assert not caught("bounds", {"relation": relation}, neighbours(relation, "any"))
    if relation == "exchange":
        real = Bounds.mechanism
        monkeypatch.setattr(
            Bounds, "mechanism", lambda self, privacy, _: real(self, privacy, NeighbouringRelation.ADD_REMOVE)
        )
    else:
        real = AboutBins.nodes

        def twice(self, statistics, relation):
            nodes = real(self, statistics, relation)
            return replace(nodes, counts=np.minimum(2 * nodes.counts, MOST))

        monkeypatch.setattr(Bounds, "nodes", twice)
    assert caught("bounds", {"relation": relation}, neighbours(relation, "any"))
    forget_counts()


def reaches(ratio, number):
    """P(Z ≥ number) of geometric noise, exactly."""
    alpha = 1 / Fraction(ratio)
    return alpha**number / (1 + alpha) if number > 0 else 1 - alpha ** (1 - number) / (1 + alpha)


@pytest.mark.parametrize("ratio", [Fraction(3, 2), 3, 20])
def test_thresholds_are_the_least_that_keep_what_is_claimed(ratio):
    mechanism = NoisyBounds(Privacy(ratio=ratio), Privacy(ratio=ratio), power_edges())
    bins, likely = len(power_edges()) + 1, Fraction(1, 20)
    assert bins * reaches(ratio, mechanism.threshold) <= likely < bins * reaches(ratio, mechanism.threshold - 1)
    count = mechanism.inside_from
    assert reaches(ratio, mechanism.threshold - count) >= 1 - likely
    assert count == mechanism.threshold or reaches(ratio, mechanism.threshold - count + 1) < 1 - likely


def test_claims_hold_as_often_as_said():
    """Drawn for few and many records: empty bins seldom stand out, and bins of enough records often do."""
    mechanism = NoisyBounds(Privacy(epsilon=1), Privacy(epsilon=1), power_edges())
    counts = np.zeros((3000, len(power_edges()) + 1), dtype=np.int64)
    counts[:, 80] = mechanism.inside_from
    drawn = mechanism.draw(BinNodes((), counts))
    wide = (np.delete(drawn, 80, axis=1) >= mechanism.threshold).any(axis=1).mean()
    assert wide < 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / 3000)
    missed = (drawn[:, 80] < mechanism.threshold).mean()
    assert missed < 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / 3000)


def true_bounds(value):
    """Between which powers of two, or their negatives, a value lies, by Python's own arithmetic."""
    if value == 0 or 0 < value < 2.0**-12:
        return 0, 2.0**-12
    mantissa, exponent = math.frexp(abs(value))  # abs(value) = mantissa · 2^exponent, from 1/2 to under 1
    low, high = 2.0 ** (exponent - 1), 2.0**exponent
    if value < 0:
        low, high = (high / 2, high) if mantissa > 0.5 else (low / 2, low)  # left edges belong to a bin
        return -max(high, 2.0**-12), -low if high > 2.0**-12 else 0
    return low, high


def test_every_power_is_read_as_python_reads_it():
    values = [0.0, -0.0, 5e-324, -5e-324, 1e-5, -1e-5]
    for exponent in range(-12, 49):
        near = 2.0**exponent
        values += [sign * one for one in (near, math.nextafter(near, 0), 1.3 * near) for sign in (1, -1)]
    table = pyarrow.table({"v": [value for value in values for _ in range(2)], "g": np.repeat(range(len(values)), 2)})
    asked = {"by": "g", "groups": list(range(len(values))), "epsilon": 900}
    planned = plan(table, "bounds", "v", **asked)
    cells = read_statistics(planned, LOTS[0])
    counts = cells.nodes.counts
    assert (counts.sum(axis=1) == 2).all()
    mechanism = planned.audiences[0].mechanism
    shown = mechanism.show(counts.tolist(), cells.nodes)
    for value, bounds in zip(values, shown, strict=True):
        assert tuple(map(float, bounds)) == true_bounds(value), value
        assert bounds[0] <= value <= bounds[1]


def test_values_beyond_all_powers_and_none_have_bounds_all_the_same(tmp_path):
    session = irisdp.Session(
        pyarrow.table(
            {"big": [1e300] * 90, "low": [-1e300] * 90, "none": pyarrow.array([None] * 90, pyarrow.float64())}
        ),
        ledger=tmp_path / "x.ledger",
    )
    most = 2**49
    assert session.bounds("big", epsilon=3).answers.values == [most, 2 * most]
    assert session.bounds("low", epsilon=3).answers.values == [-2 * most, -most]
    found = session.bounds("none", epsilon=3)
    assert found.answers.values == [-most, most]
    assert found.describe_doubt()[0].startswith("1 of 1 answers are the widest bounds there are")
    assert "give them as the lower and upper bound" in str(found)


@pytest.mark.parametrize(("query", "options", "message"), [
    (("bounds",), {}, "query: bounds needs one column"),
    (("bounds", "g"), {}, "query: bounds is of numbers, and g is text; "),
    (("bounds", "v"), {"bins": "1"}, "bins: is not for bounds, but for "),
    (("bounds", "v"), {"by": "g", "select_groups": True, "delta": "1e-6"}, "select_groups: is not for bounds"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line(query, options, message):
    with pytest.raises(BadInput) as refused:
        plan(pyarrow.table({"v": [1.5], "g": ["a"]}), *query, **{"epsilon": 1} | options)
    assert str(refused.value).startswith(message)


def test_bounds_fit_what_sums_take(tmp_path):
    data = pyarrow.table({"v": [0.3, 2.5, 90.0] * 40})
    session = irisdp.Session(data, ledger=tmp_path / "x.ledger")
    lower, upper = session.bounds("v", epsilon=5).answers.values
    assert (lower, upper) == (0.25, 128)
    assert session.sum("v", lower=lower, upper=upper, step="0.25", epsilon=1).answers.values


def test_every_edge_can_be_given_as_a_bound():
    for edge, other in itertools.pairwise(power_edges()):
        assert edge < other
        assert edge * 10**12 % 1 == 0
        assert abs(edge) <= 10**15
