"""Releases found by their error stay within it as often as promised: exact binomial tests of 10^5 each."""

import math
from fractions import Fraction as F

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from irisdp import batch, plan, publish
from irisdp._measurements import CountNodes, DecisionDistances, GapNodes
from support.sweeps import tried

RELEASES = 100_000
UNLIKELY = 1e-6
"""Chance of a false alarm of each test."""


def as_often(good, confidence):
    """Whether so many good answers are no evidence of a chance below `confidence`."""
    return stats.binom.cdf(good, RELEASES, float(confidence)) > UNLIKELY


def test_published_counts_stay_within(tmp_path):
    """One count a group, the whole way: through the engine, the ledger, and what is shown."""
    groups = np.arange(RELEASES)
    table = pa.table({"g": np.repeat(groups, 3), "v": np.tile([1, 0, 1], RELEASES)})
    found = publish(table, "count", "v = 1", by="g", groups=groups.tolist(), within=3, ledger=tmp_path / "l.ledger")
    off = np.abs(np.array(found.answers.values) - 2)
    assert as_often(int((off <= 3).sum()), F(19, 20))
    # What is promised is hardly exceeded, and nearer answers are rarer: the test would notice.
    assert not as_often(int((off <= 3).sum()), F(24, 25))
    assert not as_often(int((off <= 2).sum()), F(19, 20))


def test_published_counts_never_stray_beyond_where_noise_ends(tmp_path):
    groups = np.arange(RELEASES)
    table = pa.table({"g": np.repeat(groups, 2)})
    found = publish(table, "count", by="g", groups=groups.tolist(), within=2, epsilon=1, ledger=tmp_path / "l.ledger")
    off = np.abs(np.array(found.answers.values) - 2)
    assert off.max() == 2
    assert found.cost.epsilon == 1 and 0.067 < found.cost.delta < 0.068


TABLE = pa.table({"v": [0, 1, 2], "w": [1, 0, 1]})
NODES = {
    "count": (("count",), {"within": 7, "confidence": "0.9"}, CountNodes(np.full(RELEASES, 40), np.zeros(1), None)),
    "histogram": (
        ("histogram", "v"),
        {"within": 2, "confidence": "0.99", "bins": [1, 2]},
        CountNodes(np.full(RELEASES, 0), np.zeros(1), None),
    ),
    "sum": (
        ("sum", "v"),
        {"within": 9, "lower": -3, "upper": 2},
        CountNodes(np.full(RELEASES, -40), np.zeros(1), None),
    ),
    "at-least": (
        ("at-least", 2, "v = 1"),
        {"within": 10},
        DecisionDistances(("yes", "no"), np.arange(RELEASES) % 2, np.full(RELEASES, 10)),
    ),
    "plurality": (
        ("plurality", "v"),
        {"within": 12, "categories": [0, 1, 2]},
        GapNodes((0, 1, 2), np.tile([12, 0, 12], (RELEASES, 1))),
    ),
    "plurality, exchange": (
        ("plurality", "v"),
        {"within": 12, "categories": [0, 1, 2], "relation": "exchange"},
        GapNodes((0, 1, 2), np.tile([12, 0, 12], (RELEASES, 1))),
    ),
}


def good(nodes, shown, within):
    """How many answers are as was asked."""
    if isinstance(nodes, CountNodes):
        return int((np.abs(np.array(shown) - nodes.values) <= within).sum())
    if isinstance(nodes, DecisionDistances):
        return sum(answer == nodes.classes[true] for answer, true in zip(shown, nodes.true_class.tolist(), strict=True))
    return sum(answer == 1 for answer in shown)


@pytest.mark.parametrize("name", NODES)
def test_drawn_answers_are_good_as_often_as_promised(name):
    words, options, nodes = NODES[name]
    confidence = F(options.get("confidence", F(19, 20)))
    planned = plan(TABLE, *words, **options)
    mechanism = planned.audiences[0].mechanism
    shown = mechanism.show(mechanism.draw(nodes).tolist(), nodes)
    assert as_often(good(nodes, shown, options["within"]), confidence)
    # The control: at an ε that is a tenth less they are not.
    rest = {key: value for key, value in options.items() if key not in ("within", "confidence")}
    less = plan(TABLE, *words, epsilon=planned.within.privacy.epsilon * F(9, 10), **rest).audiences[0].mechanism
    shown = less.show(less.draw(nodes).tolist(), nodes)
    assert not as_often(good(nodes, shown, options["within"]), confidence)


# The errors that a batch states are those of its answers: 50 counts at ε = 1, δ = 10⁻⁶, each of 400 groups.

COUNTS, GROUPS = 50, 400
SEVEN_SIGMA = 7


@pytest.mark.parametrize(("weights", "stated"), [([1, 2], [37.7, 18.8]), ([1], [23.8])][: tried(1, 2)])
def test_errors_of_fifty_counts_are_as_stated(tmp_path, weights, stated):
    table = pa.table({"g": [*range(GROUPS)] * 3, "v": [0] * GROUPS + [1] * 2 * GROUPS})
    questions = [
        {"query": "count", "expression": f"v >= 0 AND v < {2 + place}", "by": "g", "groups": [*range(GROUPS)],
         "weight": weights[place % len(weights)]}
        for place in range(COUNTS)
    ]  # fmt: skip
    plan = {"budget": {"epsilon": 1, "delta": "1e-6"}, "questions": questions}
    found = batch(plan, data=table, ledger=tmp_path / "b.ledger")
    errors = np.array([one.answers.values for one in found]) - 3
    for place, expected in enumerate(stated):
        of_weight = np.abs(errors[place :: len(weights)])
        told = found[place].plan.audiences[0].mechanism.expected_error()
        assert told["mean_absolute"] == pytest.approx(expected, abs=0.1)
        sigma = of_weight.std() / math.sqrt(of_weight.size)
        assert abs(of_weight.mean() - told["mean_absolute"]) < SEVEN_SIGMA * sigma
        # By sums the counts would have 50 each; that far off they would be seen to be.
        assert sum(weights) / len(weights) * COUNTS / weights[place] - of_weight.mean() > SEVEN_SIGMA * sigma
        assert (of_weight <= told["within_95_percent"]).mean() > 0.94
