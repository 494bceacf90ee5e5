"""Edges, profiles and losses beside formulas written out, and bounds beside what they bound."""

import math
import sys
from fractions import Fraction as F

import flint
import numpy as np
import pytest

from irisdp import Mechanism, Privacy, certify
from irisdp._exact import ball, flint_rational, working_precision
from irisdp.certify._audited_mechanism import RowPairs
from irisdp.certify._hockey_stick import tight_places
from irisdp.certify._loss_distributions import TooMuchWork, Work, losses_above, product
from irisdp.certify._loss_grids import drawn_down, spread_up
from irisdp.graphs import Complete, Hamming, Path
from irisdp.mechanisms import randomized_response
from support.refusals import refused
from support.seeds import fresh_random

TWO = Privacy(ratio=2)
FLOATS = 1e-12
"""Logarithms of floats, of numbers of size 1."""


# Edges


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (Hamming(1, 50_000),
         "graph: has 1,249,975,000 edges, and every one is looked at up to 1,073,741,824;"
         " audit a smaller member of the family"),
        (Complete(50_000),
         "graph: has more than 1,073,741,824 pairs of different rows; audit a smaller mechanism"),
    ],
)  # fmt: skip
def test_more_edges_than_are_looked_at_are_refused(graph, said):
    assert refused(certify.distinct_row_pairs, graph, np.arange(50_000)) == said
    if isinstance(graph, Complete):  # of few rows all edges are known without a look
        found = certify.distinct_row_pairs(graph, np.arange(50_000) % 2)
        assert (found.first.tolist(), found.second.tolist(), found.counts.tolist()) == ([0], [1], [25_000**2])


def ties(chance, count):
    """Rows without a 0 of which many have likelihood ratios of exactly 2, or of a hair less."""
    rows = []
    for _ in range(count):
        weights = [chance.choice([1, 2, 4]) for _ in range(3)]
        row = [F(weight, sum(weights)) for weight in weights]
        if chance.random() < 0.5:
            row[0], row[1] = row[0] - F(1, 1 << 70), row[1] + F(1, 1 << 70)
        rows.append(tuple(row))
    return rows


def test_outputs_at_a_ratio_are_found_where_floats_cannot_tell():
    """At δ = 0 an edge is tight where an output has the ratio exactly: looked at one by one, as fractions."""
    chance, seen = fresh_random("ties"), 0
    for _ in range(20):
        rows = ties(chance, 20)
        first, second = np.triu_indices(len(rows), 1)
        pairs = RowPairs(first, second, first, second, np.ones(len(first), np.int64))
        numbers = [tuple(map(flint_rational, row)) for row in rows]
        assert certify._hockey_stick.screen_of(numbers, len(pairs)) is not None
        for ratio in (F(2), F(4), F(8, 7)):
            tight = [
                (place, forward)
                for place, (i, j) in enumerate(zip(first, second, strict=True))
                for forward, p, q in ((True, rows[i], rows[j]), (False, rows[j], rows[i]))
                if any(x == ratio * y for x, y in zip(p, q, strict=True))
            ]
            assert list(tight_places(numbers, pairs, flint_rational(ratio), flint_rational(F(0)))) == tight
            seen += len(tight)
    assert seen > 100


# Profiles and losses


def test_a_profile_of_randomised_response_by_its_formula():
    """δ(r) = max{0, (3 − r)/4} from 1 on, at a ratio of 3."""
    found = certify.privacy_profile(randomized_response(2, Privacy(ratio=3)))
    assert repr(found) == "<PrivacyProfile: δ = 0.5 at ratio 1, 0 in the end; exact>"
    for ratio in (F(1), F(2), F(3), F(5)):
        assert found.delta_at(ratio=ratio) == found.delta_at(Privacy(ratio=ratio)) == max(F(0), (3 - ratio) / 4)
    assert found.delta_at(epsilon=F(1, 2)) == found.delta_at(Privacy(epsilon="1/2")) >= found.delta_at(ratio=2)
    assert found.delta_at(ratio=0) == 1 and found.delta_at(ratio=F(1, 2)) == F(1, 2) + F(1, 2) * found.delta_at(ratio=2)
    assert found.ratio_at(F(1, 2)) == found.ratio_at(1) == 1 and found.ratio_at(F(1, 4)) == 2
    assert abs(found.epsilon_at(F(1, 4)) - F(math.log(2))) < F(1, 10**15)
    assert found.points([0.0, math.log(2), 700]) == [0.5, pytest.approx(0.25, rel=FLOATS), 0.0]
    assert refused(lambda r: found.delta_at(ratio=r), -1) == "ratio: must not be negative; give e^epsilon"
    assert refused(found.delta_at, 2).startswith("delta_at: cannot tell whether a number without a name is an epsilon")
    assert refused(lambda r: found.delta_at(ratio=r, epsilon=1), 2).startswith("delta_at: needs exactly one")
    assert found.plot().title == "Privacy profile: of a mechanism" == found.plot(form="profile").title
    assert found.plot(form="trade-off").title != found.plot().title
    assert refused(found.points, [701]) == ("epsilons: must be at most 700, as e^ε is a float; leave larger out")
    told = certify.privacy_profile(Mechanism.from_matrix([["1", "0"], ["1/2", "1/2"]], privacy=TWO, graph=Path(2)))
    assert told.ratio_at(F(1, 3)) is told.epsilon_at(F(1, 3)) is None and told.unbounded == F(1, 2)
    assert told.dominates(found) and not found.dominates(told) and told.dominates(told)


@pytest.mark.parametrize("order", ["1/2", "9/10", 1, "1000001/1000000", 2, 7, 10_000, math.inf])
def test_divergences_are_those_of_their_definition(order):
    """Of (3/4, 1/4) and (1/4, 3/4), written out in logarithms with 60 digits."""
    found = certify.renyi_divergence(randomized_response(2, Privacy(ratio=3)), order)
    with working_precision(400):
        p, q = flint.arb(3) / 4, flint.arb(1) / 4
        if order == math.inf:
            true = (p / q).log()
        elif order == 1:
            true = p * (p / q).log() + q * (q / p).log()
        else:
            a = flint.arb(flint.fmpq(F(order).numerator, F(order).denominator))
            true = (p**a * q ** (1 - a) + q**a * p ** (1 - a)).log() / (a - 1)
        assert flint.arb(found) >= true.lower()
        assert flint.arb(found) - true <= flint.arb(2.0**-40)


def test_divergences_where_a_probability_faces_zero():
    """Below order 1 it costs its mass alone; from 1 on everything."""
    half = Mechanism.from_matrix([["1", "0"], ["1/2", "1/2"]], privacy=TWO, graph=Path(2))
    assert certify.renyi_divergence(half, "1/2") == pytest.approx(math.log(2), abs=2.0**-40)
    for order in (1, 2, math.inf):
        assert certify.renyi_divergence(half, order) == math.inf
    apart = Mechanism.from_matrix([["1", "0"], ["0", "1"]], privacy=TWO, graph=Path(2))
    assert certify.renyi_divergence(apart, "1/2") == math.inf
    alike = Mechanism.from_matrix([["1/3", "2/3"]] * 2, privacy=TWO, graph=Path(2))
    assert certify.renyi_divergence(alike, 3) == 0
    for order in (0, -1, 10_001):
        assert refused(certify.renyi_divergence, half, order) == (
            "order: must be more than 0, and at most 10000 unless infinite; choose another"
        )


def test_losses_are_rounded_up_though_floats_multiply_down():
    """Of 2, 3, … some logarithm lies just above the float product that is nearest below it."""
    step, seen = 0.1, 0
    with working_precision(300):
        for ratio in range(2, 4000):
            pair = certify.loss_distribution(
                [(flint.fmpq(1), flint.fmpq(1, ratio)), (flint.fmpq(0), flint.fmpq(ratio - 1, ratio))]
            )
            ((place, mass),) = losses_above(pair, step)[0].items()
            loss = flint.arb(ratio).log()
            assert flint.arb(place * step) >= loss > flint.arb((place - 1) * step) and mass >= 1
            seen += 1
    assert seen == 3998


def test_a_loss_that_a_float_product_falls_short_of_goes_one_place_up():
    """Where k·h is rounded down, a loss between the float and the true product is more than k·h."""
    short = [k for k in range(1, 400) if F(k * 0.1) < k * F(0.1)]
    assert len(short) > 50
    for k in short:
        loss = (F(k * 0.1) + k * F(0.1)) / 2
        with working_precision(300):
            near = ball(loss).exp().mid()
        mantissa, exponent = near.man_exp()
        ratio = flint.fmpq(mantissa, 1) * flint.fmpq(2) ** int(exponent)
        ((place, _),) = losses_above({ratio: (flint.fmpq(1), 1 / ratio)}, 0.1)[0].items()
        assert place == k + 1


def test_a_product_of_too_many_ratios_is_given_up():
    """460 powers of 2 and of 3 each make 211,600 different ratios, in less work than is allowed."""
    many = [{flint.fmpq(base) ** k: (flint.fmpq(1, 460), flint.fmpq(1)) for k in range(460)} for base in (2, 3)]
    work = Work()
    with pytest.raises(TooMuchWork):
        product(many, work)
    assert work.done < 400_000
    few = product([{flint.fmpq(2): (flint.fmpq(1), flint.fmpq(1, 2))}] * 3, Work())
    assert few == {flint.fmpq(8): (flint.fmpq(1), flint.fmpq(1, 8))}


def delta(masses, epsilon):
    """Σ max(0, p − e^(ε)·q) over losses and masses, q = p·e^(−loss)."""
    total = flint.arb(0)
    for loss, mass in masses:
        gain = mass * (1 - (epsilon - loss).exp())
        total += gain if gain > 0 else flint.arb(0)
    return total


def atoms_of(chance, anchor, width):
    """A few losses: on places, between, and balls that touch a place."""
    shares = [chance.randrange(1, 9) for _ in range(chance.randrange(2, 9))]
    found = []
    for share in shares:
        kind, place = chance.randrange(3), chance.randrange(-12, 12)
        mass = ball(F(share, sum(shares)))
        if kind == 0:
            exact = anchor + place * width
            found.append(certify.LossAtom(exact, ball(exact), mass))
        elif kind == 1:
            exact = anchor + (place + F(chance.randrange(1, 8), 8)) * width
            found.append(certify.LossAtom(exact, ball(exact), mass))
        else:
            found.append(certify.LossAtom(None, ball(anchor + place * width).exp().log(), mass))
    return found


def test_masses_on_a_grid_bound_every_delta_from_either_side():
    """δ at 60 ε from the masses themselves; and what a spread keeps: both sums."""
    chance, lower, equal = fresh_random("grid"), 0, 0
    with working_precision(200):
        for _ in range(150):
            width, anchor = F(1, chance.choice([1, 3, 10])), F(chance.randrange(4), 8)
            atoms = atoms_of(chance, anchor, width)
            true = [(atom.loss, atom.mass) for atom in atoms]
            up, down = (
                [(ball(anchor + place * width), mass) for place, mass in found(atoms, anchor, width).items()]
                for found in (spread_up, drawn_down)
            )
            for k in range(-20, 40):
                epsilon = ball(F(k, 13))
                here = delta(true, epsilon)
                assert delta(up, epsilon) > here - flint.arb(2.0**-150)
                assert delta(down, epsilon) < here + flint.arb(2.0**-150)
                lower += bool(delta(down, epsilon) < here)
                equal += bool(abs(delta(down, epsilon) - here) < flint.arb(2.0**-150))
            assert abs(sum(mass for _, mass in up) - 1) < flint.arb(2.0**-150)
            if all(atom.exact is not None for atom in atoms):  # none too near to a place to tell
                other, whole = (sum(mass * (-loss).exp() for loss, mass in law) for law in (up, true))
                assert abs(other - whole) < flint.arb(2.0**-100)
    assert lower > 500 and equal > 500


def test_a_credit_that_lifts_a_mass_exactly_is_bounded_too():
    """Balls cannot tell whether the credit is spent or some is left: it is kept, and δ is still nowhere too large."""
    with working_precision(200):
        p, loss = ball(F(1, 2)), F(3, 2)
        credit = p - p * (-ball(loss)).exp() * ball(F(1)).exp()
        below = credit / (ball(F(1)).exp() - 1)
        atoms = [
            certify.LossAtom(loss, ball(loss), p),
            certify.LossAtom(F(0), ball(F(0)), below),
            certify.LossAtom(F(-1), ball(F(-1)), p / 4),
        ]
        law = [(atom.loss, atom.mass) for atom in atoms]
        down = [(ball(F(place)), mass) for place, mass in drawn_down(atoms, F(0), F(1)).items()]
        for k in range(-20, 40):
            assert delta(down, ball(F(k, 13))) < delta(law, ball(F(k, 13))) + flint.arb(2.0**-150)


@pytest.mark.parametrize("interval", ["1e-10", 11])
def test_intervals_out_of_range_are_refused(interval):
    law = {flint.fmpq(2): (flint.fmpq(1), flint.fmpq(1, 2))}
    assert refused(losses_above, law, interval) == "interval: must lie between 1e-9 and 10; give for example 1e-4"


def test_losses_handed_on_keep_what_is_infinite_and_are_never_nothing():
    apart = {None: (flint.fmpq(1, 3), flint.fmpq(0)), flint.fmpq(1): (flint.fmpq(2, 3), flint.fmpq(2, 3))}
    finite, infinite = losses_above(apart, 1)
    assert finite.keys() == {0} and F(finite[0]) >= F(2, 3) > F(math.nextafter(finite[0], 0))
    assert F(infinite) >= F(1, 3) > F(math.nextafter(infinite, 0))
    finite, infinite = losses_above({None: (flint.fmpq(1), flint.fmpq(0))}, 1)
    assert finite.keys() == {0} and finite[0] >= 1 and infinite >= 1
    far = {flint.fmpq(1, 10**4400): (flint.fmpq(1, 2), flint.fmpq(1)), flint.fmpq(2): (flint.fmpq(1, 2), flint.fmpq(1))}
    assert refused(losses_above, far, "1e-3") == (
        "interval: is so fine that losses span more than 10,000,000 of it; give a larger one"
    )
    assert max(losses_above(far, 1)[0]) == 1


def test_a_missing_accountant_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    assert refused(certify.accountant_of, {}, interval=1) == (
        "accountant: dp-accounting is not installed; pip install irisdp[accounting]"
    )


def test_a_pair_of_too_many_ratios_is_bounded_from_above_when_it_is_drawn_twice():
    """700 ratios make 490,000 products, which are added up here in floats."""
    size = 700
    shares = np.arange(1, size + 1) / (size * (size + 1) / 2)
    found = certify.DominatingPair(
        tuple(F(k, size * (size + 1) // 2) for k in range(1, size + 1)), (F(1, size),) * size
    ).composed(2)
    assert not found.exact
    twice = np.outer(shares, shares).ravel()
    for ratio in (1, 2, 3.5):
        true = np.maximum(twice - ratio / size**2, 0).sum()
        assert true - FLOATS < float(found.delta_at(ratio=F(ratio))) < true + 1e-3


class Close:
    """Losses that floats do not tell apart, at both ends."""

    endless = F(0)

    def __init__(self, sign):
        self.losses = [sign * F(k, 10**12) + far for far in (0, 5) for k in (0, 3, 1)]

    def atoms(self):
        return [certify.LossAtom(None, ball(loss).exp().log(), ball(F(1, 6))) for loss in self.losses]


@pytest.mark.parametrize("sign", [1, -1])
def test_the_ends_of_a_law_are_enclosed_where_floats_cannot_tell_which_loss_it_is(sign):
    law = Close(sign)
    for found, true in ((certify.largest_loss(law), max(law.losses)), (certify.smallest_loss(law), min(law.losses))):
        assert found.lower <= true <= found.upper and found.upper - found.lower < F(1, 1 << 150)
