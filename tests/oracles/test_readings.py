"""Best readings against linear programs over all readings, exact sums and exhaustive search that share no code."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from irisdp import Mechanism, Privacy
from irisdp.consumers import Consumer, _geometric_game, _post_processing, loss_of_reading, optimal_reading
from irisdp.consumers._geometric_game import GeometricKernel, RecurrentGame
from irisdp.mechanisms import FactoredMechanism, geometric
from support.programs import Program, restricted
from support.seeds import fresh_generator
from support.sweeps import tried

FLOATS = 1e-12
"""Relative: one product of a kernel in doubles."""


SOLVER = 2e-8
"""What HiGHS may miss by, relative to the largest loss that matters, at its default tolerances."""

UNDERFLOW = Fraction(1, 2**700)
GRID = Fraction(1, 2**50)
GAP = Fraction(1, 10**8)
"""Bounds that are searched for meet to 1e-9 nearly always (benchmarks/reading_gaps.py), to 1e-8 in all cases tried."""

PROGRAM = Fraction(1, 10**10)
"""Relative to the largest loss: what the float program inside the search is asked to hold its constraints to."""

NAMED = {
    "absolute": ("absolute", lambda i, v: abs(i - v)),
    "squared": ("squared", lambda i, v: (i - v) ** 2),
    "zero-one": ("zero-one", lambda i, v: int(i != v)),
    "pinball": (
        {"name": "pinball", "too_low": 1, "too_high": "5/2"},
        lambda i, v: i - v if v < i else Fraction(5, 2) * (v - i),
    ),
    "threshold": ({"name": "threshold", "beyond": 2}, lambda i, v: int(abs(i - v) > 2)),
    "excess": ({"name": "excess", "beyond": 1}, lambda i, v: max(0, abs(i - v) - 1)),
}
KINDS = [*NAMED, "table"]
RATIOS = (Fraction(4), Fraction(3, 2), Fraction(21, 20), Fraction(1000))


def consumer_of(kind, n, rng, *, bayes=False, whole=False):
    """Draw a consumer, and return its losses written out by the formulas above."""
    if kind == "table":
        losses = [[Fraction(int(rng.integers(-4, 9)), 4) for _ in range(n + 1)] for _ in range(n + 1)]
        given_loss = losses
    else:
        given_loss, formula = NAMED[kind]
        losses = [[Fraction(formula(i, v)) for v in range(n + 1)] for i in range(n + 1)]
    possible = list(range(n + 1)) if whole else sorted({int(i) for i in rng.integers(0, n + 1, size=n + 2)})
    prior = None
    if bayes:
        weights = [int(rng.integers(0, 20)) * (i in possible) for i in range(n + 1)]
        weights[possible[0]] += 1
        prior = [Fraction(w, sum(weights)) for w in weights]
    return Consumer(n, given_loss, side_information=possible, prior=prior), losses, possible, prior


def private_matrix(n, rng):
    """Draw a stochastic matrix with more or fewer outputs than inputs."""
    outputs = int(rng.integers(1, n + 4))
    rows = rng.integers(1, 30, size=(n + 1, outputs)).tolist()
    matrix = [[Fraction(x, sum(row)) for x in row] for row in rows]
    return Mechanism.from_matrix(matrix, privacy=Privacy.from_ratio(60)), matrix


def deployed_of(kind, n, rng):
    """Return a deployed mechanism of one of four kinds, and its rows in fractions."""
    ratio = RATIOS[int(rng.integers(len(RATIOS)))]
    if kind == "matrix":
        return private_matrix(n, rng)
    if kind == "formula":
        return FactoredMechanism(privacy=Privacy.from_ratio(ratio), n=n), restricted(n, ratio)
    if kind == "geometric":
        return geometric(n, Privacy.from_ratio(ratio)), restricted(n, ratio)
    reading = {z: ((min(z + 1, n), Fraction(1, 3)), (z, Fraction(2, 3))) for z in range(n + 1)}
    read = [[Fraction(0)] * (n + 1) for _ in range(n + 1)]
    for row, line in zip(restricted(n, ratio), read, strict=True):
        for z, p in enumerate(row):
            for v, share in reading[z]:
                line[v] += p * share
    return FactoredMechanism(privacy=Privacy.from_ratio(ratio), n=n, reading=reading), read


DEPLOYED = ("formula", "geometric", "read", "matrix")


def whole_program(rows, losses, possible):
    """Minimise the worst loss over all readings, a linear program in T and t."""
    released, answers = len(rows[0]), len(losses[0])
    program = Program()
    first = program.table(released, answers)
    program.worst(
        {first + z * answers + v: rows[i][z] * losses[i][v] for z in range(released) for v in range(answers)}
        for i in possible
    )
    return program.minimum()


def bayes_optimum(rows, losses, prior):
    """Σ_z min_v Σ_i w_i P_iz l_iv in fractions: a best reading is deterministic."""
    counts, answers = range(len(rows)), range(len(losses[0]))
    return sum(
        min(sum(Fraction(prior[i]) * rows[i][z] * losses[i][v] for i in counts) for v in answers)
        for z in range(len(rows[0]))
    )


def cost_of(found, rows, losses, possible, prior):
    """What a reading costs, in fractions; its chances must sum to exactly 1 for every released value."""
    totals, expected = [Fraction(0)] * len(rows[0]), [Fraction(0)] * len(rows)
    for z, v, p in zip(found.released.tolist(), found.answers.tolist(), found.chances, strict=True):
        assert p >= 0
        totals[z] += Fraction(p)
        for i in range(len(rows)):
            expected[i] += rows[i][z] * Fraction(p) * losses[i][v]
    assert totals == [1] * len(totals)
    if prior is None:
        return max(expected[i] for i in possible)
    return sum(Fraction(w) * x for w, x in zip(prior, expected, strict=True))


def insist(found, rows, losses, possible, prior):
    """All that is claimed of a reading, in fractions."""
    weights = [Fraction(w) for w in found.weights]
    assert sum(weights) == 1
    assert all(w >= 0 for w in weights)
    if prior is None:
        assert not any(weights[i] for i in set(range(len(rows))) - set(possible))
    assert cost_of(found, rows, losses, possible, prior) <= found.value
    assert found.lower_bound <= bayes_optimum(rows, losses, weights)


@pytest.mark.parametrize("deployed_kind", DEPLOYED)
@pytest.mark.parametrize("kind", KINDS)
def test_small_readings_are_exact_and_reach_the_whole_program(kind, deployed_kind):
    rng = fresh_generator([KINDS.index(kind), DEPLOYED.index(deployed_kind)])
    for n in (*range(1, 8), 12):
        deployed, rows = deployed_of(deployed_kind, n, rng)
        consumer, losses, possible, prior = consumer_of(kind, n, rng, bayes=n % 3 == 0)
        found = optimal_reading(deployed, consumer)
        insist(found, rows, losses, possible, prior)
        assert found.gap == 0
        optimum = whole_program(rows, losses, possible) if prior is None else bayes_optimum(rows, losses, prior)
        assert abs(float(found.value) - float(optimum)) <= SOLVER * max(1, float(found.value))


@pytest.fixture
def in_floats(monkeypatch):
    """Send small games down the road of large ones."""
    monkeypatch.setattr(_post_processing, "LARGEST_EXACT", -1)


@pytest.mark.usefixtures("in_floats")
@pytest.mark.parametrize("deployed_kind", DEPLOYED)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_computed_in_floats_hold_in_fractions(kind, deployed_kind):
    rng = fresh_generator([7, KINDS.index(kind), DEPLOYED.index(deployed_kind)])
    for n in (1, 2, 3, 5, 8, 11, 19, 26)[: tried(5, 8)]:
        deployed, rows = deployed_of(deployed_kind, n, rng)
        consumer, losses, possible, prior = consumer_of(kind, n, rng, bayes=n % 3 == 2, whole=n % 2 == 0)
        found = optimal_reading(deployed, consumer)
        insist(found, rows, losses, possible, prior)
        # Tables may reach below 0; a worst loss far below the largest one is found to what a float program can tell.
        scale = found.value - min(*map(min, losses), 0)
        largest = max(abs(x) for line in losses for x in line)  # a table may have nothing above 0
        assert found.value - found.lower_bound <= scale * GAP + largest * PROGRAM
        if n <= 8:
            optimum = whole_program(rows, losses, possible) if prior is None else bayes_optimum(rows, losses, prior)
            assert abs(float(found.value) - float(optimum)) <= SOLVER * max(1, float(found.value))


@pytest.mark.usefixtures("in_floats")
@pytest.mark.parametrize("kind", NAMED)
def test_a_reading_at_face_value_costs_what_the_sum_says(kind):
    rng = fresh_generator(3)
    for deployed_kind in ("formula", "geometric", "read"):
        deployed, rows = deployed_of(deployed_kind, 9, rng)
        for bayes in (False, True):
            consumer, losses, possible, prior = consumer_of(kind, 9, rng, bayes=bayes)
            each = [sum(p * x for p, x in zip(*lines, strict=True)) for lines in zip(rows, losses, strict=True)]
            exact = sum(map(math.prod, zip(prior, each, strict=True))) if bayes else max(each[i] for i in possible)
            assert exact <= loss_of_reading(deployed, consumer) <= exact * (1 + Fraction(1, 10**11))
            best = optimal_reading(deployed, consumer)
            again = loss_of_reading(deployed, consumer, best.reading())
            assert best.lower_bound <= again <= best.value * (1 + Fraction(1, 10**11)) + GRID * max(map(max, losses))


@pytest.mark.usefixtures("in_floats")
def test_a_worse_reading_and_a_worse_prior_are_noticed():
    """Negative control of `insist`: one answer moved, or one weight, and a claim fails."""
    n, ratio = 8, Fraction(3, 2)
    deployed, rows = FactoredMechanism(privacy=Privacy.from_ratio(ratio), n=n), restricted(n, ratio)
    consumer, losses, possible, prior = consumer_of("absolute", n, fresh_generator(1), whole=True)
    found = optimal_reading(deployed, consumer)
    answers = found.answers.copy()
    answers[0] += 3
    with pytest.raises(AssertionError):
        insist(replace(found, answers=answers), rows, losses, possible, prior)
    with pytest.raises(AssertionError):
        insist(replace(found, weights=np.roll(found.weights, 1)), rows, losses, possible, prior)


# The recurrences, against exact sums.


def exact_game(n, ratio, loss):
    """Tables of Pr[z | i] and l(i, v) in fractions."""
    formula = NAMED[loss][1]
    return restricted(n, ratio), [[Fraction(formula(i, v)) for v in range(n + 1)] for i in range(n + 1)]


def game(n, ratio, loss):
    consumer = Consumer(n, NAMED[loss][0])
    return RecurrentGame(n, ratio, consumer.loss, np.ones(n + 1, bool))


ADVERSARIAL = st.sampled_from([0.0, 1.0, 1 - 2.0**-53, 2.0**-30, 1e-300, 5e-324, 0.1, 1 / 3])
"""Weights that lose digits when added in any order."""


@st.composite
def games(draw):
    n = draw(st.integers(1, 10))
    ratio = draw(st.sampled_from([*RATIOS, Fraction(10**30), Fraction(1), Fraction("1.1051709180756477")]))
    loss = draw(st.sampled_from(list(NAMED)))
    weights = np.array(draw(st.lists(ADVERSARIAL, min_size=n + 1, max_size=n + 1)))
    return n, ratio, loss, weights


@given(games(), st.data())
def test_costs_and_losses_are_within_their_error_bounds(case, data):
    n, ratio, loss, weights = case
    rows, losses = exact_game(n, ratio, loss)
    z = np.array(data.draw(st.lists(st.integers(0, n), min_size=1, max_size=8)))
    v = np.array(data.draw(st.lists(st.integers(0, n), min_size=len(z), max_size=len(z))))
    played = game(n, ratio, loss)
    costs, doubts = played.costs(z, v, weights)
    for a, b, cost, doubt in zip(z, v, costs, doubts, strict=True):
        exact = sum(Fraction(w) * rows[i][a] * losses[i][b] for i, w in enumerate(weights))
        assert abs(exact - Fraction(cost)) <= Fraction(doubt)
    chances = weights[np.arange(len(z)) % (n + 1)]
    expected, doubts = played.losses(z, v, chances)
    for i in range(n + 1):
        exact = sum(Fraction(p) * rows[i][a] * losses[i][b] for a, b, p in zip(z, v, chances, strict=True))
        assert abs(exact - Fraction(expected[i])) <= Fraction(doubts[i])


@settings(max_examples=tried(20, 50))
# What is caught hides in floats what is missed: comparing that, a window that misses nothing was passed over.
@example((5, Fraction(10**30), "threshold", np.array([0.0, 0.0, 1.0, 0.0, 0.0, 1.0])))
@given(games())
def test_best_answers_are_enclosed_and_as_good_as_exhaustive_search(case):
    n, ratio, loss, weights = case
    rows, losses = exact_game(n, ratio, loss)
    best = game(n, ratio, loss).best(weights)
    exact = [
        [sum(Fraction(w) * rows[i][z] * losses[i][v] for i, w in enumerate(weights)) for v in range(n + 1)]
        for z in range(n + 1)
    ]
    optimum = sum(map(min, exact))
    reached = sum(line[v] for line, v in zip(exact, best.answers, strict=True))
    assert Fraction(best.lower) <= optimum <= reached <= Fraction(best.upper)
    # Within some thousand roundings of what is weighed.
    scale = sum(Fraction(w) * max(map(max, losses)) for w in weights)
    assert reached - optimum <= Fraction(1, 10**12) * scale + UNDERFLOW


@given(games(), st.data())
def test_steps_are_differences_of_columns(case, data):
    n, ratio, loss, _ = case
    rows, losses = exact_game(n, ratio, loss)
    z, v = data.draw(st.integers(0, n)), data.draw(st.integers(0, n - 1))
    played = game(n, ratio, loss)
    steps = played.steps(np.array([z]), np.array([v]))
    found = played.kernel.spread(steps.runs, np.ones(1))
    for row, jump in zip(steps.rows[:, 0], steps.jumps[:, 0], strict=True):
        if 0 <= row <= n:
            found[row] += jump
    for i in range(n + 1):
        exact = rows[i][z] * (losses[i][v + 1] - losses[i][v])
        assert abs(float(exact) - found[i]) <= FLOATS * max(map(max, losses))


LONG = 2000


@pytest.mark.parametrize(
    "ratio", [Fraction("1.1051709180756477"), Fraction(101, 100), Fraction(3)][: tried(1, 3)], ids=str
)
@pytest.mark.parametrize("loss", ["absolute", "squared", "pinball", "threshold"])
def test_errors_of_long_recurrences_stay_within_their_bounds(loss, ratio):
    """n = 2,000, weights over 60 orders of magnitude; exact sums in integers over one denominator."""
    rng = fresh_generator(5)
    played, formula = game(LONG, ratio, loss), NAMED[loss][1]
    weights = rng.random(LONG + 1) * 10.0 ** rng.integers(-60, 1, LONG + 1)
    z = np.array([0, 1, 700, 1000, 1999, 2000])
    v = np.array([3, 0, 900, 1000, 1500, 1998])
    costs, doubts = played.costs(z, v, weights)
    powers = [Fraction(1)]
    for _ in range(LONG):
        # Rounded down to 600 bits: what is missing at the end, times losses, is far below any float here.
        powers.append(Fraction(math.floor(powers[-1] / ratio * 2**600), 2**600))
    slip = Fraction(LONG**3, 2**600)
    for a, b, cost, doubt in zip(z.tolist(), v.tolist(), costs, doubts, strict=True):
        scale = 1 / (1 + 1 / ratio) if a in (0, LONG) else (ratio - 1) / (ratio + 1)
        exact = scale * sum(Fraction(w) * powers[abs(i - a)] * formula(i, b) for i, w in enumerate(weights.tolist()))
        assert abs(exact - Fraction(cost)) <= Fraction(doubt) + slip
        # A loss is split at the released value, so the error is relative to what |i − z| + |z − v| costs.
        apart = sum(
            Fraction(w) * powers[abs(i - a)] * (abs(i - a) + abs(a - b) + 1) ** 2 for i, w in enumerate(weights)
        )
        assert Fraction(doubt) <= scale * apart / 10**11


def test_an_error_bound_of_nothing_is_refuted(monkeypatch):
    """Negative control: without the error terms the enclosure misses the exact cost somewhere."""
    monkeypatch.setattr(GeometricKernel, "relative_error", lambda self, terms: 0.0)
    rng, missed = fresh_generator(2), 0
    for _ in range(tried(100, 200)):  # about one in ten misses
        n, ratio = 12, Fraction(3, 2)
        weights = rng.random(n + 1)
        rows, losses = exact_game(n, ratio, "absolute")
        best = game(n, ratio, "absolute").best(weights)
        exact = sum(
            min(sum(Fraction(w) * rows[i][z] * losses[i][v] for i, w in enumerate(weights)) for v in range(n + 1))
            for z in range(n + 1)
        )
        missed += not Fraction(best.lower) <= exact <= Fraction(best.upper)
    assert missed


def test_powers_are_within_the_roundings_counted():
    ratio = Fraction("1.1051709180756477")
    powers = _geometric_game.alpha_powers(ratio, 3000)
    for k in (0, 1, 2, 64, 1023, 1024, 1025, 2047, 2048, 3000):
        exact = 1 / ratio**k
        assert abs(Fraction(powers[k]) - exact) <= 4 * Fraction(1, 2**53) * exact
    assert all(a >= b for a, b in pairwise(powers))
