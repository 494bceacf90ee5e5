"""The best reading of a published count: what to make of a number that was made private.

A deployed mechanism gives z; the consumer says v, with a chance that may depend on nothing but z. A minimax consumer
wants the worst expected loss over the possible counts least, and may have to toss a coin; a Bayesian one wants the
expected loss under a prior least, and never has to. A post-processing from any source is certified. Its loss bounds the
optimum from above, a prior bounds it from below, and both are computed with all rounding accounted for.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import (
    ONE,
    Table,
    ball,
    checked,
    dyadic_above,
    dyadic_below,
    enclosure_of,
    integer,
    is_short,
    short_above,
    short_below,
    to_grid,
    workable_ratio,
)
from .._frames import Tabular
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Reading
from ..privacy import Privacy
from ._consumer import Consumer
from ._games import (
    Deployed,
    MatrixGame,
    bayes_bound,
    check_counts,
    exact_bayes,
    exact_minimax,
    exact_rows,
    expected_losses,
    float_rows,
    game_of,
    harmless_answer,
    is_plain_noise,
    mean_between,
    possible_counts,
    prior_in_floats,
)
from ._geometric_game import Floats, GeometricKernel, Integers, RecurrentGame
from ._linear_programs import RawSolution
from ._loss_functions import Loss, Tail
from ._minimax import minimax_by_matrix, minimax_by_recurrences

if TYPE_CHECKING:
    import pyarrow


LARGEST_EXACT = 24
"""Counts up to which a reading is found in rationals."""

_LIKE_GEOMETRIC = 1e-6
"""Rows this near to geometric noise are first read as such."""

_BITS = 128

_MOST_ENTRIES = 1 << 24
_AS_MAPPING = "take reading(), which leaves out zeros"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OptimalReading(Tabular):
    """How a consumer best reads a deployed mechanism, and the proof that no reading is better.

    Parameters
    ----------
    consumer : Consumer
    value : Fraction
        What the reading costs the consumer, at most: the worst expected loss over the possible counts, or the expected
        loss under the prior.
    lower_bound : Fraction
        No reading costs less. Equal to `value` where all numbers are short.
    released, answers, chances : arrays
        Output number z of the mechanism is read as `answers` with `chances`, which are exact (floats that are whole
        multiples of 2^-53, or fractions) and sum to 1 for each z. Ascending.
    weights : sequence
        The prior that proves the bound: the consumer's own, or for a minimax consumer the worst one. Exact likewise.

    References
    ----------
    [Gupte2010], §2.4; docs/theory.md#counts; proofs/reading-certificate.md.
    """

    consumer: Consumer
    value: Fraction
    lower_bound: Fraction
    released: Integers = field(repr=False)
    answers: Integers = field(repr=False)
    chances: Floats | tuple[Fraction, ...] = field(repr=False)
    weights: Floats | tuple[Fraction, ...] = field(repr=False)

    def _summary(self) -> str:
        counts = self.consumer.considered
        loss = (
            f"{self.consumer.goal} {short_above(self.value)}, no reading has less than {short_below(self.lower_bound)}"
        )
        return f"{loss}; counts {counts[0]} to {counts[-1]}"

    def to_arrow(self) -> pyarrow.Table:
        """Return as an Arrow table what every released value is read as, with its chance as the nearest float."""
        import pyarrow

        columns = {"released": self.released, "answer": self.answers, "chance": list(map(float, self.chances))}
        return pyarrow.table(columns)

    @property
    def gap(self) -> Fraction:
        """By how much the value may miss the optimum, relative to the value; a table may have values below 0."""
        missed = self.value - self.lower_bound
        return missed / abs(self.value) if self.value else missed

    def reading(self) -> Reading:
        """Return for every released value its answers with their exact chances."""
        remap: dict[int, list[tuple[int, Fraction]]] = {z: [] for z in np.unique(self.released).tolist()}
        for z, v, p in zip(self.released.tolist(), self.answers.tolist(), self.chances, strict=True):
            remap[z].append((v, Fraction(p)))
        return {z: tuple(line) for z, line in remap.items()}

    def matrix(self) -> Table:
        """Return the reading as a stochastic matrix, exactly: one row per output of the mechanism, a column per count.

        `numpy.asarray` gives its nearest floats.

        Raises
        ------
        BadInput
            Where it would have more than 16 million entries; `reading` has those that are not 0.
        """
        rows, columns = int(self.released[-1]) + 1, self.consumer.n + 1
        if rows * columns > _MOST_ENTRIES:
            raise BadInput("reading", f"is a matrix of {rows} by {columns}, too large to be written out", _AS_MAPPING)
        table = [[Fraction(0)] * columns for _ in range(rows)]
        for z, v, p in zip(self.released.tolist(), self.answers.tolist(), self.chances, strict=True):
            table[z][v] += Fraction(p)
        return tuple(map(tuple, table))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the matrix: the nearest floats, or exact fractions as `object`."""
        if copy is False:
            raise ValueError("a reading holds no array: numpy.asarray(reading) makes one")
        exact = dtype is not None and np.dtype(dtype) == object
        return np.array(self.matrix(), dtype=object if exact else np.float64).astype(dtype or np.float64, copy=False)

    @checked
    def at(self, z: int) -> tuple[tuple[int, Fraction], ...]:
        """Return how one released value, by its position among the outputs, is read."""
        z = integer(z, "value", at_least=0)
        here = range(*np.searchsorted(self.released, [z, z + 1]))
        if not here:
            raise BadInput("value", "is not an output of the mechanism", "give the position of an output")
        return tuple((int(self.answers[k]), Fraction(self.chances[k])) for k in here)


@checked
def optimal_reading(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    """Find the best reading of a deployed mechanism.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
        One row per count 0..n, in this order. Geometric noise as a formula (`design.geometric` above 1,000 counts) may
        have millions of counts, a matrix some hundreds.
    consumer : Consumer
        With the same n.

    Returns
    -------
    OptimalReading
        Exact for short ratios and n ≤ 24. Otherwise value and bound are within 1e-9 of each other wherever the search
        succeeds, and true in any case.

    Raises
    ------
    BadInput
        When mechanism and consumer do not speak of the same counts.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> optimal_reading(design.geometric(3, Privacy.from_ratio(4)), Consumer(3, "absolute")).value
    Fraction(168, 415)

    References
    ----------
    [Gupte2010], §2.4; docs/theory.md#counts; proofs/reading-certificate.md.
    """
    check_counts(deployed, consumer)
    outputs = len(deployed.outputs)
    if (answer := harmless_answer(consumer)) is not None:
        weights = np.zeros(consumer.n + 1)
        weights[consumer.considered[0]] = 1
        sure = RawSolution(np.arange(outputs), np.full(outputs, answer), np.ones(outputs), weights)
        return _made(consumer, sure, Fraction(0), Fraction(0))
    if consumer.n <= LARGEST_EXACT and outputs <= 2 * LARGEST_EXACT:
        return _exactly(deployed, consumer)
    if isinstance(deployed, FactoredMechanism) and is_plain_noise(deployed) and consumer.loss.recurrent:
        return _of_noise(deployed, consumer)
    return _of_matrix(deployed, consumer)


def _made(consumer: Consumer, found: RawSolution, lower: Fraction, upper: Fraction) -> OptimalReading:
    """Put a reading in order, once per answer; the proof of a Bayesian bound is the consumer's prior as given."""
    keys, place = np.unique(found.released * (consumer.n + 1) + found.answers, return_inverse=True)
    return OptimalReading(
        consumer=consumer,
        value=upper,
        lower_bound=lower,
        released=keys // (consumer.n + 1),
        answers=keys % (consumer.n + 1),
        chances=np.bincount(place, found.chances).astype(np.float64),
        weights=found.weights if consumer.prior is None else consumer.prior,
    )


def _exactly(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    """Solve a small game in rationals; noise with a long ratio at a short one just below, evaluated at its own."""
    rows, losses = exact_rows(deployed), consumer.loss.table(consumer.n)
    if consumer.prior is not None:
        optimum = exact_bayes(rows, losses, consumer.exact_prior())
    elif isinstance(deployed, FactoredMechanism):
        ratio = workable_ratio(deployed.privacy.ratio)
        near = replace(deployed, privacy=Privacy.from_ratio(ratio))
        nearly = ratio != deployed.privacy.ratio
        optimum = exact_minimax(exact_rows(near), losses, consumer.possible, nearly=nearly)
    else:
        optimum = exact_minimax(rows, losses, consumer.possible)
    table, weights = optimum.table, optimum.weights
    if not is_short((*table, weights)):
        table = tuple(_short(line) for line in table)
        weights = weights if consumer.prior is not None else _short(weights)
    expected = expected_losses(rows, losses, table)
    if consumer.prior is None:
        value = max(expected[i] for i in consumer.possible)
    else:
        value = sum((w * x for w, x in zip(weights, expected, strict=True)), Fraction(0))
    bound = bayes_bound(rows, losses, weights)
    if not is_short(((value, bound),)):
        value = dyadic_above(value, _BITS) if value > 0 else value
        bound = dyadic_below(bound, _BITS) if bound > 0 else bound
    used = [(z, v, p) for z, line in enumerate(table) for v, p in enumerate(line) if p]
    return OptimalReading(
        consumer=consumer,
        value=value,
        lower_bound=bound,
        released=np.array([z for z, _, _ in used]),
        answers=np.array([v for _, v, _ in used]),
        chances=tuple(p for _, _, p in used),
        weights=weights,
    )


def _of_noise(deployed: FactoredMechanism, consumer: Consumer) -> OptimalReading:
    """Read geometric noise for a loss of the error alone.

    A value beyond the possible counts tells no more than the nearest of them, so the game is played on these.
    """
    n, first, last = consumer.n, consumer.considered[0], consumer.considered[-1]
    game = RecurrentGame(
        last - first, deployed.privacy.ratio, consumer.loss, possible_counts(consumer)[first : last + 1]
    )
    if consumer.prior is None:
        solution = minimax_by_recurrences(game)
        reading, lower, upper = solution.reading, Fraction(solution.lower), Fraction(solution.upper)
        weights = np.zeros(n + 1)
        weights[first : last + 1] = solution.weights
    else:
        weights, total = prior_in_floats(consumer)
        best = game.best(weights[first : last + 1])
        reading = RawSolution(game.released, best.answers, np.ones(game.n + 1), weights)
        lower, upper = mean_between(best.lower, best.upper, total)
    before, after = np.arange(first), np.arange(last + 1, n + 1)
    parts = [(reading.released + first, reading.answers, reading.chances)]
    for beyond, edge in ((before, 0), (after, game.n)):
        (there,) = np.nonzero(reading.released == edge)
        parts.append(
            (
                np.repeat(beyond, len(there)),
                np.tile(reading.answers[there], len(beyond)),
                np.tile(reading.chances[there], len(beyond)),
            )
        )
    released, answers, chances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _made(consumer, RawSolution(released, answers + first, chances, weights), lower, upper)


def _of_matrix(deployed: Deployed, consumer: Consumer) -> OptimalReading:
    game, floor = game_of(deployed, consumer)
    assert isinstance(game, MatrixGame)
    if consumer.prior is not None:
        weights, total = prior_in_floats(consumer)
        best = game.best(weights)
        lower, upper = mean_between(best.lower, best.upper, total)
        reading = RawSolution(game.released, best.answers, np.ones(len(best.answers)), weights)
    else:
        solution = minimax_by_matrix(game, start=_as_noise(deployed, consumer, game.rows))
        lower, upper = Fraction(solution.lower), Fraction(solution.upper)
        reading = RawSolution(
            solution.reading.released, solution.reading.answers, solution.reading.chances, solution.weights
        )
    return _made(consumer, reading, lower + floor, upper + floor)


def _as_noise(deployed: Deployed, consumer: Consumer, rows: Floats) -> RawSolution | None:
    """Recognise a matrix that is geometric noise in short numbers; bounds are computed for the matrix itself."""
    if not consumer.loss.recurrent or rows.shape[0] != rows.shape[1]:
        return None
    kernel = GeometricKernel(consumer.n, deployed.privacy.ratio)
    if abs(kernel.rows() - rows).max() > _LIKE_GEOMETRIC:
        return None
    solution = _of_noise(FactoredMechanism(privacy=deployed.privacy, n=consumer.n), consumer)
    chances, weights = (np.array([float(x) for x in part]) for part in (solution.chances, solution.weights))
    return RawSolution(solution.released, solution.answers, chances, weights)


def _short(distribution: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(Fraction(x, ONE) for x in to_grid(distribution))


# Post-process a count without an upper bound: the optimum moves every value by the same amount.
#
# Far from the least count all values are alike. So no post-processing does better there than the best constant shift c
# of the published value, and a shift costs the same everywhere: E l(i, i + Z + c). Near the least count the answer is
# raised to it, which costs no more (proofs/unbounded-counts.md).

_FARTHEST = 1 << 60


@dataclass(frozen=True, slots=True)
class Shift:
    """The best constant shift, and bounds on what it costs: no reading costs less than `lower_bound` at worst."""

    shift: int
    value: Fraction
    lower_bound: Fraction


def best_shift(loss: Loss, privacy: Privacy) -> Shift:
    """Return how a minimax consumer without an upper bound reads a count with two-sided geometric noise.

    Parameters
    ----------
    loss : Loss
        Of the error alone.
    privacy : Privacy
        Ratio above 1; δ is not used.

    Raises
    ------
    BadInput
        For a table, for tails that differ and are not convex, or at ε = 0, where the worst loss has no bound.

    Examples
    --------
    >>> from irisdp.consumers._loss_functions import absolute, pinball
    >>> float(best_shift(absolute(), Privacy.from_ratio(2)).value), best_shift(absolute(), Privacy.from_ratio(2)).shift
    (1.3333333333333333, 0)
    >>> best_shift(pinball(too_low=9, too_high=1), Privacy.from_ratio(2)).shift
    2

    References
    ----------
    proofs/unbounded-counts.md.
    """
    low, high = _tails(loss, privacy)
    if low == high:
        return _priced(loss, privacy, 0)
    if not all(tail.convex for tail in (low, high)):
        raise BadInput("loss", "has tails that differ and are not convex, which needs a largest count", "give at_most")
    # What a shift costs is convex, as the loss is: search for where it stops falling.
    cost = lru_cache(lambda shift: _middle(loss, privacy, shift))
    step = 1 if cost(1) < cost(0) else -1

    def falls(steps: int) -> bool:
        return bool(cost(step * (steps + 1)) < cost(step * steps))

    reach = 1
    while falls(reach):
        reach *= 2
        if reach > _FARTHEST:
            raise BadInput("loss", "is too one-sided for this epsilon", "choose slopes that differ less")
    return _priced(loss, privacy, step * bisect_left(range(reach), True, key=lambda steps: not falls(steps)))


def loss_of_shift(loss: Loss, privacy: Privacy, shift: int = 0) -> Fraction:
    """Return, rounded up, the mean loss of answering the published value moved by `shift`; 0 uses it unchanged."""
    return _priced(loss, privacy, shift).value


def _priced(loss: Loss, privacy: Privacy, shift: int) -> Shift:
    enclosure = enclosure_of(_cost(loss, privacy, shift), width=Fraction(1, 1 << _BITS))
    lower = max(enclosure.lower, Fraction(0))
    value = enclosure.upper
    return Shift(
        shift,
        dyadic_above(value, _BITS) if value > 0 else Fraction(0),
        dyadic_below(lower, _BITS) if lower > 0 else Fraction(0),
    )


def _middle(loss: Loss, privacy: Privacy, shift: int) -> Fraction:
    enclosure = enclosure_of(_cost(loss, privacy, shift), width=Fraction(1, 1 << _BITS))
    return (enclosure.lower + enclosure.upper) / 2


def _tails(loss: Loss, privacy: Privacy) -> tuple[Tail, Tail]:
    if loss.low is None or loss.high is None:
        raise BadInput("loss", "is a table, which needs a largest count", "give at_most")
    if privacy.ratio == 1:
        raise BadInput("epsilon", "is 0, so that the answer says nothing about an unbounded count", "give at_most")
    return loss.low, loss.high


def _cost(loss: Loss, privacy: Privacy, shift: int) -> Callable[[], flint.arb]:
    low, high = _tails(loss, privacy)

    def compute() -> flint.arb:
        alpha = 1 / ball(privacy.ratio)
        # An answer is too high by Z + shift and too low by −Z − shift, and Z and −Z have one law.
        cost = (1 - alpha) / (1 + alpha) * (_beyond(high, shift, alpha) + _beyond(low, -shift, alpha))
        # Less than 2^-1024 is as good as nothing, and would be a long number.
        least = flint.arb(2) ** -1025
        nothing = flint.arb(least, least)
        if cost < 2 * least:
            return nothing
        return cost if cost > 2 * least else cost.union(nothing)

    return compute


def _beyond(tail: Tail, shift: int, alpha: flint.arb) -> flint.arb:
    """Return Σ α^|z| · tail(z + shift) over the z with z + shift > 0."""
    first = tail.beyond + 1 - shift
    start = max(first, 1)
    total = alpha**start * _series(tail, start - first + 1, 1, alpha)
    if first <= 0:  # and the values 0, −1, …, first: a series without end, less what it holds beyond `first`
        total += _series(tail, 1 - first, -1, alpha) - alpha ** (1 - first) * _series(tail, 0, -1, alpha)
    return total


def _series(tail: Tail, m: int, step: int, alpha: flint.arb) -> flint.arb:
    """Return Σ_{j ≥ 0} α^j f(m + step·j) with f(m) = jump + slope·m + curvature·m(m−1)/2, also where m ≤ 0."""
    here, there = (tail.jump + tail.slope * k + tail.curvature * k * (k - 1) / 2 for k in (m, m + step))
    one = 1 - alpha
    return (ball(here) + ball(there - here) * alpha / one + ball(tail.curvature) * alpha**2 / one**2) / one


# The loss of any post-processing of a released count, and the posterior of the count given a value.


@checked
def loss_of_reading(deployed: Deployed, consumer: Consumer, reading: Reading | None = None) -> Fraction:
    """Bound the loss of a post-processing for a consumer from above; without one, of the released value.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
        What was released; its inputs are the counts 0..n.
    consumer : Consumer
        Whose loss, and what is possible.
    reading : mapping, optional
        As `OptimalReading.reading`: released value → answers with their probabilities.

    Returns
    -------
    Fraction
        At least the worst, or expected, loss, and above it by about 1e-13 of it.

    Raises
    ------
    BadInput
        For a mechanism over other counts, or a reading that leaves out a released value.
    """
    check_counts(deployed, consumer)
    if reading is None:
        if any(v not in range(consumer.n + 1) for v in deployed.outputs):
            raise BadInput("deployed", "releases values that are no counts", "give a reading")
        triples = [(z, v, Fraction(1)) for z, v in enumerate(deployed.outputs)]
    else:
        if set(reading) != set(range(len(deployed.outputs))):
            raise BadInput("reading", "must say how to read every released value", "give each a distribution")
        triples = [(z, v, p) for z, line in reading.items() for v, p in line]
    if isinstance(deployed, FactoredMechanism) and deployed.reading is not None:
        # Noise that is read twice is noise with one reading, and keeps the recurrences.
        then = {y: ((y, Fraction(1)),) for y in range(deployed.n + 1)} if reading is None else reading
        triples = [(z, v, p * q) for z, line in deployed.reading.items() for y, p in line for v, q in then[y]]
        deployed = FactoredMechanism(privacy=deployed.privacy, n=deployed.n)
    released, answers = (np.array([triple[k] for triple in triples], np.int64) for k in range(2))
    game, floor = game_of(deployed, consumer)
    losses, errors = game.losses(released, answers, np.array([float(p) for *_, p in triples]))
    upper = losses + errors
    if consumer.prior is None:
        return mean_between(0.0, float(upper.max(initial=0.0, where=game.possible)), 1.0)[1] + floor
    weights, total = prior_in_floats(consumer)
    return mean_between(0.0, math.fsum(upper * weights), total)[1] + floor


@checked
def posterior(deployed: Deployed, released: Hashable, consumer: Consumer) -> Floats:
    """Return the probabilities of the counts 0..n once a value was released, for people to look at.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
    released : hashable
        One of its outputs.
    consumer : Consumer
        Its prior, or without one equal weights on what is possible.

    Raises
    ------
    BadInput
        For a value that the mechanism does not release, or cannot for any possible count.
    """
    check_counts(deployed, consumer)
    if not isinstance(released, Hashable) or released not in deployed.outputs:
        raise BadInput("value", "is not an output of the mechanism", "give one of its outputs")
    z = list(deployed.outputs).index(released)
    if is_plain_noise(deployed):
        likelihood = GeometricKernel(consumer.n, deployed.privacy.ratio).column(z)
    else:
        likelihood = float_rows(deployed)[:, z]
    weights = _prior(consumer) * likelihood
    if not weights.sum() > 0:
        raise _nobody()
    probabilities: Floats = weights / weights.sum()
    return probabilities


def weighed(log_likelihood: Floats, consumer: Consumer) -> Floats:
    """Return the probabilities of the counts 0..n, from the logarithm of how likely each makes what was released.

    Raises
    ------
    BadInput
        Where no count deemed possible can have released it.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(_prior(consumer)) + log_likelihood
    largest = logs.max()
    if not largest > -np.inf:
        raise _nobody()
    weights = np.exp(logs - largest)
    probabilities: Floats = weights / weights.sum()
    return probabilities


def _prior(consumer: Consumer) -> Floats:
    """Return the prior, or equal weights on what is possible."""
    return possible_counts(consumer).astype(float) if consumer.prior is None else prior_in_floats(consumer)[0]


def _nobody() -> BadInput:
    return BadInput("value", "cannot be released by any count deemed possible", "widen the side information")
