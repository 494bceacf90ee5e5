"""Sorting with exact noise: its law, its mean error, and the regimes of [Alda2017], Theorem 3, at their borders."""

from collections import defaultdict
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from irisdp import BadInput, Privacy
from irisdp._sampling.bits import law_of
from irisdp.mechanisms import _sorted_counts, minimax_risk, noise_risk, release_largest
from irisdp.privacy import hockey_stick
from support.programs import Program
from support.sweeps import by_turns, tried

SOLVED = 1e-9
"""What HiGHS leaves of 0 in programs of some hundred columns, asked for 1e-10."""


REACH = 40
"""Noise beyond is left out of the laws stated; it is rarer than 2^-40 where α ≤ 1/2."""


def noise(alpha):
    return {z: (1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-REACH, REACH + 1)}


def stated_law(top, alpha, *, tidy):
    law = defaultdict(F)
    for shifts in product(noise(alpha).items(), repeat=len(top)):
        noisy, mass = [value + z for value, (z, _) in zip(top, shifts, strict=True)], F(1)
        for _, share in shifts:
            mass *= share
        law[tuple(max(v, 0) for v in sorted(noisy, reverse=True)) if tidy else tuple(noisy)] += mass
    return law


def holds(law, stated, rest=F(1, 1 << 38)):
    return set(law.outcomes) <= set(stated) and all(
        law.outcomes.get(y, F(0)) <= p + rest and p <= law.outcomes.get(y, F(0)) + law.undecided
        for y, p in stated.items()
    )


@pytest.mark.parametrize(
    ("under", "tidy"), by_turns([("add-remove", 2, F(1, 2)), ("exchange", 9, F(1, 3))], [True, False])
)
@pytest.mark.parametrize(
    ("counts", "largest"), [([2], 1), ([1, 2, 2, 0], 2), ([0, 3, 1], 1), ([1, 4], 2)][: tried(2, 4)]
)
def test_release_is_the_largest_counts_with_geometric_noise(counts, largest, under, tidy):
    relation, ratio, alpha = under

    def one(bits):
        released = release_largest(counts, largest, Privacy(ratio=ratio), relation=relation, tidy=tidy, source=bits)
        return tuple(released.tolist())

    law = law_of(one, word_bits=5 if largest == 1 else 4, words=largest + 1)
    top = sorted(counts, reverse=True)[:largest]
    assert law.undecided < F(1, 3)
    assert holds(law, stated_law(top, alpha, tidy=tidy))
    assert not holds(law, stated_law(top, alpha**2, tidy=tidy))  # negative control: the other relation's noise


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_noise_of_one_unit_spends_no_more_than_its_share(relation):
    for epsilon in ("0.001", "0.1", "1", "30"):
        privacy = Privacy(epsilon=epsilon)
        spent = _sorted_counts._per_unit(privacy, relation).ratio ** (2 if relation == "exchange" else 1)
        assert privacy.ratio * (1 - F(1, 1 << 100)) <= spent <= privacy.ratio


@pytest.mark.parametrize(("relation", "sensitivity"), [("exchange", 2), ("add-remove", 1)])
def test_sorting_moves_no_further_than_a_record(relation, sensitivity):
    """Every pair of neighbours of a small table; some pair attains it."""
    largest = 0
    for counts in product(range(4), repeat=3):
        for change in product((-1, 0, 1), repeat=3):
            other = [a + b for a, b in zip(counts, change, strict=True)]
            record = sorted(change) == [-1, 0, 1] if relation == "exchange" else sum(map(abs, change)) == 1
            if record and min(other) >= 0:
                for r in (1, 2, 3):
                    tops = [np.sort(v)[::-1][:r] for v in (counts, other)]
                    largest = max(largest, int(np.abs(tops[0] - tops[1]).sum()))
    assert largest == sensitivity == _sorted_counts._SENSITIVITY[relation]


def test_released_laws_of_neighbours_are_close_and_a_unit_more_is_not():
    """The untidied law on a wide grid, for the worst exchange (1, 0) → (0, 1)+: two entries move by one."""
    alpha, grid = F(1, 2), range(-12, 13)
    law = noise(alpha)

    def row(top):
        return [law[a - top[0]] * law[b - top[1]] for a, b in product(grid, grid)]

    assert hockey_stick(row((3, 1)), row((2, 2)), F(4)) == 0
    assert hockey_stick(row((3, 1)), row((2, 3)), F(4)) > 0


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize(("epsilon", "largest"), [("1", 1), ("0.5", 7), ("4", 3)])
def test_noise_risk_is_the_mean_error(epsilon, largest, relation):
    privacy = Privacy(epsilon=epsilon)
    alpha = 1 / _sorted_counts._per_unit(privacy, relation).ratio
    terms, power = F(0), F(1)
    for z in range(1, 400):
        power = round(power * alpha * 2**200) / F(2**200)
        terms += 2 * z * power
    mean = largest * (1 - alpha) / (1 + alpha) * terms
    assert abs(noise_risk(largest, privacy, relation=relation) - mean) < F(1, 10**30)


def test_noise_risk_is_seen_in_draws():
    privacy, counts = Privacy(epsilon="0.1"), np.zeros(100_000, dtype=np.int64)
    released = release_largest(counts, len(counts), privacy, tidy=False)
    assert abs(np.abs(released).sum() / float(noise_risk(len(counts), privacy)) - 1) < 0.03  # nine standard errors


EIGHTH, TENTH = Privacy(epsilon="0.125"), Privacy(epsilon="0.1")


@pytest.mark.parametrize(("total", "largest", "privacy", "regimes"), [
    (3, 2, EIGHTH, [1]),  # N ≤ 1 + 1/(4ε) = 3
    (4, 2, EIGHTH, [2]),  # N ≥ 1/(2ε) = 4
    (3, 2, TENTH, [1]),  # 3.5
    (4, 2, TENTH, []),
    (5, 2, TENTH, [2]),
    (16, 2, TENTH, [2]),  # N ≥ r(r+1)/(4ε) + r = 17
    (17, 2, TENTH, [3]),
    (5, 1, TENTH, [2]),
    (6, 1, TENTH, [3]),  # 6
    (10**6, 630, TENTH, [3]),  # 994,455
    (10**6, 632, TENTH, [2]),  # 1,000,772
])  # fmt: skip
def test_regimes_of_theorem_3_begin_where_it_says(total, largest, privacy, regimes):
    found = minimax_risk(total, largest, privacy)
    assert [number for number, _ in found.regimes] == regimes
    assert found.applies


def test_orders_are_those_of_theorem_3():
    assert dict(minimax_risk(10_000, 20, TENTH).regimes) == {3: pytest.approx(200)}
    assert dict(minimax_risk(10_000, 200, TENTH).regimes) == {2: pytest.approx((10_000 / 0.1) ** 0.5)}
    assert minimax_risk(3, 1, TENTH).regimes == ((1, 3.0),)
    assert minimax_risk(4, 2, TENTH).order == 0
    assert minimax_risk(10_000, 200, TENTH).order == pytest.approx(316.2, abs=0.1)


def lists_up_to(total, at_most=None):
    """Sorted lists of counts with at most this sum, without zeros."""
    yield ()
    for first in range(1, min(total, at_most or total) + 1):
        for rest in lists_up_to(total - first, first):
            yield (first, *rest)


def least_risk(total, largest, ratio, relation):
    """The smallest worst mean error of any private mechanism on sorted lists with sorted integer answers."""
    tables = [x for x in lists_up_to(total) if relation == "add-remove" or sum(x) == total]
    answers = sorted({padded(x, largest) for x in lists_up_to(total)})
    near = [
        (i, j)
        for i, x in enumerate(tables)
        for j, y in enumerate(tables[:i])
        if sum(abs(a - b) for a, b in zip(padded(x, total), padded(y, total), strict=True))
        == _sorted_counts._SENSITIVITY[relation]
    ]
    program, q = Program(), len(answers)
    first = program.table(len(tables), q)
    program.private(first, q, near, ratio)
    program.worst(
        {
            first + i * q + v: sum(abs(a - b) for a, b in zip(padded(x, largest), y, strict=True))
            for v, y in enumerate(answers)
        }
        for i, x in enumerate(tables)
    )
    return program.minimum()


def padded(x, length):
    return (*x, *[0] * length)[:length]


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("total", range(1, 6))
def test_no_mechanism_beats_the_bounds_with_their_constants(total, relation):
    """Claim 4 of proofs/sorting.md against programs: N/10, and min(k, sqrt(Nε))/(37ε)."""
    ratio = float(EIGHTH.ratio)
    for largest in (1, 2, total):
        least = least_risk(total, largest, ratio, relation)
        if relation == "exchange" and total == 1:
            assert least < SOLVED  # the exception
        elif total <= 3:
            assert least >= total / 10
        else:
            assert least >= min(largest, (total / 8) ** 0.5) * 8 / 37


def test_the_printed_second_case_is_refuted_by_the_noise():
    """Negative control: for one count of very many records noise errs by 16, a thousandth of what is printed."""
    total = 10**8
    assert float(noise_risk(1, EIGHTH)) < 16.01
    assert (total * 8) ** 0.5 > 1000 * float(noise_risk(1, EIGHTH))
    assert minimax_risk(total, 1, EIGHTH).order == 8


def test_theorem_3_says_when_it_does_not_apply():
    found = minimax_risk(100, 2, Privacy(epsilon="0.126"))
    assert not found.applies
    assert "1/8" in found.text
    assert "1/8" not in minimax_risk(100, 2, EIGHTH).text
    assert "no regime" in minimax_risk(4, 2, TENTH).text


def test_no_noise_is_finite_at_epsilon_zero():
    for call in (lambda p: noise_risk(1, p), lambda p: minimax_risk(1, 1, p)):
        with pytest.raises(BadInput):
            call(Privacy(epsilon=0))
