"""The loss that `interpret` states is the reading's own, summed up here, within a release's ends and beyond."""

from collections import Counter
from fractions import Fraction

import pytest

from irisdp import BadInput, interpret
from support.seeds import fresh_random

NAMED = {
    "absolute": lambda i, v: Fraction(abs(i - v)),
    "squared": lambda i, v: Fraction((i - v) ** 2),
    "zero-one": lambda i, v: Fraction(i != v),
}


def released(low, high, ratio):
    mechanism = {"kind": "geometric-noise", "lower": low, "upper": high}
    return {"format": "irisdp/release/1", "privacy": {"ratio": str(ratio)}, "mechanism": mechanism}


def law(count, low, high, ratio):
    """Return what a release clamped to low..high says of a count between them."""
    alpha, found = 1 / ratio, {}
    for z in range(low, high + 1):
        end = z in (low, high)
        found[z] = alpha ** abs(z - count) * (1 / (1 + alpha) if end else (1 - alpha) / (1 + alpha))
    return {low: Fraction(1)} if low == high else found


def test_a_table_does_not_widen_what_is_possible():
    loss = [[abs(i - v) for v in range(5)] for i in range(5)]
    for options in ({"side_information": [0, 4]}, {"prior": ["1/2", 0, 0, 0, "1/2"]}, {"side_information": [2]}):
        with pytest.raises(BadInput, match=r"side_information|prior|at-most"):
            interpret(released(0, 1, 4), 1, loss=loss, **options)
        with pytest.raises(BadInput, match=r"side_information|prior|at-most"):
            interpret(released(0, 1, 4), 1, loss="absolute", **options)


@pytest.mark.parametrize("seed", range(3))
def test_stated_losses_are_the_losses_summed_up(seed):
    pick, seen = fresh_random(seed), Counter()
    for _ in range(120):
        ratio = pick.choice([Fraction(3, 2), Fraction(2), Fraction(4)])
        low = pick.choice([0, 0, 1, 2])
        high = low + pick.randrange(6)
        loss = pick.choice(["absolute", "squared", "zero-one", "table", "table"])
        cost, most = NAMED.get(loss), high
        if loss == "table":
            most = pick.randrange(max(low, 1), 9)
            table = [
                [Fraction(pick.randrange(-3, 7), pick.choice([1, 2])) for _ in range(most + 1)] for _ in range(most + 1)
            ]
            loss, cost = [[str(x) for x in line] for line in table], lambda i, v, table=table: table[i][v]
        possible, options = list(range(low, min(high, most) + 1)), {}
        how = pick.randrange(4)
        if how == 1:
            possible = sorted(pick.sample(range(9), pick.randrange(1, 4)))
            options["side_information"] = possible
        elif how == 2:
            length = pick.randrange(1, 9)
            weights = [pick.randrange(3) for _ in range(length)]
            if not sum(weights):
                continue
            prior = [Fraction(w, sum(weights)) for w in weights]
            options["prior"], possible = [str(p) for p in prior], [i for i, p in enumerate(prior) if p]
        elif how == 3:
            options["at_least"], options["at_most"] = pick.randrange(4), pick.randrange(9)
            possible = list(range(max(low, options["at_least"]), min(high, most, options["at_most"]) + 1))
        inside = bool(possible) and low <= possible[0] and possible[-1] <= min(high, most)
        if how == 3 and most < min(high, options["at_most"]):  # the table contradicts what the reader says
            inside = False
        try:
            rule = (
                interpret(released(low, high, ratio), pick.randrange(low, high + 1), loss=loss, **options)
                .answers[0]
                .rule
            )
        except BadInput:
            assert not inside, (low, high, loss, options)
            seen["refused"] += 1
            continue
        assert inside, (low, high, loss, options)
        expected = {
            i: sum(p * q * cost(i, v) for z, p in law(i, low, high, ratio).items() for v, q in rule.at(z))
            for i in possible
        }
        true = sum(prior[i] * expected[i] for i in possible) if "prior" in options else max(expected.values())
        assert true <= rule.value <= true + Fraction(1, 10**6), (low, high, loss, options)
        assert rule.lower_bound <= rule.value
        seen["read"] += 1
    assert min(seen.values()) > 15, seen
