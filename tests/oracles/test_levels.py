"""Levels of one count as matrices: every step is stochastic, and the product is the next level, exactly."""

from fractions import Fraction
from itertools import pairwise

import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design
from irisdp.mechanisms import geometric


def product(left, right):
    return [
        [sum(p * q for p, q in zip(row, column, strict=True)) for column in zip(*right, strict=True)] for row in left
    ]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 9])
@pytest.mark.parametrize("ratios", [("2", "4"), ("6/5", "3", "10"), ("1", "2"), ("3/2", "5/3", "5/2", "7")])
def test_each_level_is_a_remap_of_the_finer_one(n, ratios):
    found = design.chain(n, [Privacy(ratio=ratio) for ratio in ratios])
    assert [level.ratio for level in found.levels] == sorted(map(Fraction, ratios), reverse=True)
    for level, mechanism in zip(found.levels, found.mechanisms, strict=True):
        assert mechanism == geometric(n, level)
    for step, (fine, coarse) in zip(found.steps, pairwise(found.mechanisms), strict=True):
        assert all(min(row) >= 0 and sum(row) == 1 for row in step)
        assert product(fine.matrix(), step) == list(map(list, coarse.matrix()))
        if n:  # the only such step: the matrix of noise has an inverse
            assert step == design.derivation(coarse, fine.privacy).reading


def test_all_levels_together_are_as_private_as_the_most_accurate_alone():
    found = design.chain(3, [Privacy(ratio=2), Privacy(ratio=4), Privacy(ratio=3)])
    joint = []
    for row in found.mechanisms[0].matrix():
        told = {(z,): p for z, p in enumerate(row)}
        for step in found.steps:
            told = {(*path, v): p * q for path, p in told.items() for v, q in enumerate(step[path[-1]])}
        joint.append(list(told.values()))
    whole = Mechanism.from_matrix(joint, privacy=Privacy(ratio=4), graph=found.mechanisms[0].graph)
    assert audit(whole).ratio_at_delta == 4


def test_levels_by_epsilon_are_exact_as_well():
    found = design.chain(12, [Privacy(epsilon="1/2"), Privacy(epsilon=1)])
    read = found.mechanisms[0].post_process(found.steps[0])
    assert read.matrix() == found.mechanisms[1].matrix()


@pytest.mark.parametrize(
    ("n", "levels"),
    [
        (3, []),
        (3, [Privacy(ratio=2)]),
        (3, [Privacy(ratio=2), Privacy(ratio=2)]),
        (3, [Privacy(ratio=2), Privacy(ratio=3, delta="1/10")]),
        (3, [Privacy(ratio=2), Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])]),
        (3, [0.5, 1]),
        (3, Privacy(ratio=2)),
        (-1, [Privacy(ratio=2), Privacy(ratio=3)]),
        (10**6, [Privacy(ratio=2), Privacy(ratio=3)]),
    ],
)
def test_what_is_no_chain_is_refused(n, levels):
    with pytest.raises(BadInput, match=r"^(n|levels): "):
        design.chain(n, levels)
