"""The errors that a batch states are those of its answers: 50 counts at ε = 1, δ = 10⁻⁶, each of 400 groups."""

import math

import numpy as np
import pyarrow as pa
import pytest

from irisdp import batch
from support.sweeps import tried

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
