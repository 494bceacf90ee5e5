"""Questions that depend on earlier answers, in a ledger of μ or ρ: the joint law of all answers keeps the limit.

Trees of randomised responses, the worst that ε allows: each answer decides the next ratio, within what is left.
"""

import math
import random
from fractions import Fraction
from itertools import accumulate

import pytest

from irisdp import Privacy
from irisdp.accounting import gaussian_dp_mu, zcdp_rho
from support.gaussian import gaussian_step
from support.sweeps import tried

WIDTH = Fraction(1, 1 << 90)
RATIOS = [Fraction(ratio, 20) for ratio in range(21, 120, 7)]
MEANS = {ratio: gaussian_dp_mu(Privacy(ratio=ratio)) ** 2 for ratio in RATIOS}
RHOS = {ratio: zcdp_rho(Privacy(ratio=ratio)) for ratio in RATIOS}
FLOATS = 1e-12


def answers(left, owed, rounds, choose, share=1):
    """Return the probabilities of every list of answers for two neighbours; `share` of what is owed is charged."""
    possible = [ratio for ratio in RATIOS if owed[ratio] * share <= left]
    if not possible or rounds == 0:
        return [(Fraction(1), Fraction(1))]
    ratio = choose(possible)
    truth, lie = ratio / (1 + ratio), 1 / (1 + ratio)
    found = []
    for p, q in ((truth, lie), (lie, truth)):
        after = answers(left - owed[ratio] * share, owed, rounds - 1, choose, share)
        found += [(p * one, q * other) for one, other in after]
    return found


def beyond(law, mu):
    """Tell whether some event shows more than μ-GDP allows; the likeliest ratios decide."""
    ordered = sorted(law, key=lambda pair: pair[0] / pair[1], reverse=True)
    events = accumulate(ordered, lambda one, other: (one[0] + other[0], one[1] + other[1]))
    return any(u > gaussian_step(s, mu, width=WIDTH).upper for u, s in events if s < 1)


@pytest.mark.parametrize("seed", range(tried(6, 12)))
def test_a_limit_in_mu_holds_for_all_answers_together(seed):
    choose = random.Random(seed).choice
    law = answers(Fraction(1), MEANS, 6, choose)
    assert sum(p for p, _ in law) == sum(q for _, q in law) == 1
    assert not beyond(law, Fraction(1)) and not beyond([(q, p) for p, q in law], Fraction(1))


def test_a_ledger_that_charges_less_than_the_least_mean_breaks_its_limit():
    """Negative control: the first question takes all there is."""
    assert not beyond(answers(Fraction(1), MEANS, 1, max), Fraction(1))
    assert beyond(answers(Fraction(1), MEANS, 4, max, share=Fraction(1, 2)), Fraction(1))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("share", [1, Fraction(1, 3)])
def test_a_limit_in_rho_holds_for_all_answers_together(seed, share):
    law = answers(Fraction(1, 2), RHOS, 7, random.Random(seed).choice, share)
    divergences = [
        math.log(math.fsum(float(p) ** order * float(q) ** (1 - order) for p, q in law)) / (order - 1) / order
        for order in (1.01, 1.5, 2, 4, 9)
    ]
    assert (max(divergences) <= 0.5 + FLOATS) == (share == 1)
