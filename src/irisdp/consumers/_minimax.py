"""The minimax reading, by playing the game between the reader and nature on few answers and adding what is missing.

1. Cheap candidates first: far from both ends a value is best used unchanged, and that is the best answer to a prior
  that falls off from the middle slowly enough. Where n·ε² is large this alone closes the gap.
2. Otherwise the linear program on a few answers per released value gives a reading and a prior. Any post-processing
  bounds the value of the game from above and any prior from below; both are evaluated with certified errors, whatever
  their source.
3. Best answers to that prior that were not allowed are added, and the program goes on from its last basis. Half-way
   between the best prior so far and the new one is the better place to ask while it improves the bound: a prior that is
   optimal for few answers is extreme.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._games import MatrixGame, MatrixProgram
from ._geometric_game import BestAnswers, Floats, Integers, RecurrentGame
from ._linear_programs import CumulativeProgram, PairProgram, RawSolution, on_grid

TARGET = 2e-10
"""Relative gap at which the search ends."""

# Parameters of a search whose result is certified anyway. They decide how long it takes and how narrow the gap is,
# never what is true. The values were chosen by trial; `benchmarks/reading_gaps.py` shows their effect.

_ACCEPTABLE = 9e-10
"""Relative gap at which no further program is tried: what is promised is 1e-9."""

_MOST_ROUNDS = 40
_STALLED, _PATIENCE = 0.99, 8
"""A program is given up after so many rounds in a row that leave at least this share of the gap."""

_FEW, _SPARSE, _STRONG = 32, 0.25, 0.3
"""The cumulative program is skipped for so few possible counts, and for less than this share of all at an ε above."""

_SHARES = 10
_NEARLY, _FACTORS = 1e-3, (1.19, 1.41, 1.68, 1.95)
"""Candidate priors fall off by ε/2^k; once the gap is below, one side by steps between two powers of 2."""

_SHARES_ANYWHERE = (1e-14, 1e-13, 1e-12, 1e-11, 1e-10)
"""Weights that are spread over all possible counts in the end, in case the solver took small ones for none."""

_NEIGHBOURS = 2
_FIRST_REACH, _LONGEST_REACH = 4, 32
"""How many answers around the wanted ones are allowed: in pairs; cumulatively, at first and at most in one round."""

_SMALL, _SMALLER_TARGET = 250, 1e-8
"""Smaller games that show where to begin have at least so many counts, and are solved to this gap."""

_BOUNDARY_LAYER = 20
"""From this n·ε² on, the two ends do not affect each other."""

_WHOLE = 1e-9
"""Means of answers so near to a whole number are whole."""

_COARSENING, _COARSEST = 4, 0.5
"""Coarser games have at most so many counts in one, and an ε of at most this."""


class Game(Protocol):
    """What the reader and nature play on."""

    possible: NDArray[np.bool_]
    released: Integers

    def losses(self, z: Integers, answers: Integers, chances: Floats) -> tuple[Floats, Floats]:
        """Return the expected loss of every input, and bounds on the errors."""

    def best(self, weights: Floats) -> BestAnswers:
        """Return best answers to a prior, with certified bounds on their cost."""


@dataclass(slots=True)
class MinimaxReading:
    """The best reading and the best prior seen, with certified bounds: `lower` ≤ value of the game ≤ `upper`."""

    reading: RawSolution
    upper: float
    weights: Floats
    lower: float

    @property
    def gap(self) -> float:
        """Relative to the upper bound."""
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def take(self, game: Game, found: RawSolution) -> Integers:
        """Keep a reading, and a prior, where it is better; return the best answers to the prior."""
        self.take_reading(game, found)
        return self.take_prior(game, found.weights)[1]

    def take_reading(self, game: Game, found: RawSolution) -> None:
        """Keep a reading if it is better."""
        upper = worst_loss(game, found)
        if upper < self.upper:
            self.upper, self.reading = upper, found

    def take_prior(self, game: Game, weights: Floats) -> tuple[bool, Integers]:
        """Keep a prior if it is better; tell whether, and return the best answers to it."""
        best = game.best(weights)
        better = best.lower > self.lower
        if better:
            self.lower, self.weights = best.lower, weights
        return better, best.answers


def worst_loss(game: Game, reading: RawSolution) -> float:
    """Bound the worst expected loss of a reading over the side information from above."""
    losses, errors = game.losses(reading.released, reading.answers, reading.chances)
    return math.nextafter(float((losses + errors).max(initial=0.0, where=game.possible)), math.inf)


def minimax_by_recurrences(game: RecurrentGame, *, target: float = TARGET) -> MinimaxReading:
    """Read geometric noise so that the worst expected loss over the side information is least.

    Returns
    -------
    MinimaxReading
        With whatever gap was reached; its bounds hold in any case.
    """
    best = _candidates(game, target)
    few = int(game.possible.sum()) <= _FEW
    scattered = game.possible.mean() < _SPARSE and (game.epsilon > _STRONG or not game.convex)
    if best.gap > target and not (few or scattered):
        _climb(game, best, target)
    if best.gap > max(target, _ACCEPTABLE):
        _pair(game, best, target)
    anywhere = game.possible / game.possible.sum()
    for share in _SHARES_ANYWHERE if best.gap > max(target, _ACCEPTABLE) else ():
        # A solver takes weights below its tolerance for none, and then whole released values seem to be free.
        best.take_prior(game, on_grid(best.weights + share * anywhere))
    return best


def _climb(game: RecurrentGame, best: MinimaxReading, target: float) -> None:
    """Close the gap by the cumulative program over a few answers in a row."""
    low, high, begins = _first_answers(game, best)
    program = CumulativeProgram(game, (low + high) // 2, best.upper)
    program.allow(low, high)
    if begins is not None:
        program.begin(*begins)
    reach = _FIRST_REACH

    def widen(weights: Floats, answers: Integers) -> bool:
        # A prior may all but rule a released value out; what is best there is then no reason to go far.
        nonlocal reach
        z = program.released
        wanted = answers[z]
        here = game.costs(z, np.clip(wanted, program.low, program.high), weights)[0]
        matters = here - game.costs(z, wanted, weights)[0] > 1e-2 * (best.upper - best.lower) / len(z)
        low = np.where(matters, np.maximum(wanted - 1, program.low - reach), program.low)
        high = np.where(matters, np.minimum(wanted + 1, program.high + reach), program.high)
        reach = min(2 * reach, _LONGEST_REACH)
        return program.allow(np.maximum(low, 0), np.minimum(high, game.n))

    _play(game, best, program, widen, target)


def _pair(game: RecurrentGame, best: MinimaxReading, target: float) -> None:
    """Close the gap by the program over pairs: answers near those seen to be good, and the possible counts nearby."""
    program = PairProgram(game, best.upper)
    z, counts = game.released, np.flatnonzero(game.possible)
    after = np.searchsorted(counts, z)
    program.allow(best.reading.released, best.reading.answers)
    for step in range(-_NEIGHBOURS, _NEIGHBOURS):
        program.allow(z, counts[np.clip(after + step, 0, len(counts) - 1)])

    def widen(_: Floats, answers: Integers) -> bool:
        new = [program.allow(z, np.clip(answers + step, 0, game.n)) for step in (-1, 0, 1)]
        return any(new)

    widen(best.weights, game.best(best.weights).answers)
    _play(game, best, program, widen, target)


def minimax_by_matrix(game: MatrixGame, *, start: RawSolution | None = None) -> MinimaxReading:
    """Read any mechanism so that the worst expected loss over the side information is least; `start` may be a guess."""
    weights = on_grid(game.possible.astype(float)) if start is None else start.weights
    answers = game.best(weights).answers
    first = RawSolution(game.released, answers, np.ones(len(answers)), weights)
    best = MinimaxReading(first, math.inf, weights, 0.0)
    for guess in (first, start):
        if guess is not None:
            best.take(game, guess)
    if best.gap <= TARGET:
        return best
    program = MatrixProgram(game, best.upper)
    last = game.table.shape[1] - 1

    def widen(_: Floats, answers: Integers) -> bool:
        pairs = np.zeros_like(program.allowed)
        for near in (answers - 1, answers, answers + 1):
            pairs[game.released, np.clip(near, 0, last)] = True
        return program.allow(pairs)

    widen(weights, answers)
    _play(game, best, program, widen, TARGET)
    return best


def _play(
    game: Game, best: MinimaxReading, program: Any, widen: Callable[[Floats, Integers], bool], target: float
) -> None:
    stalled = 0
    for _ in range(_MOST_ROUNDS):
        solution, before = program.solve(), best.gap
        if solution is None:
            return
        weights, answers = solution.weights, best.take(game, solution)
        if best.gap <= target:
            return
        between = on_grid(best.weights + solution.weights)
        better, answers_between = best.take_prior(game, between)
        if better:
            weights, answers = between, answers_between
        stalled = stalled + 1 if best.gap > _STALLED * before else 0
        if stalled > _PATIENCE:
            return
        if not widen(weights, answers) and not (
            better and widen(solution.weights, game.best(solution.weights).answers)
        ):
            return


def _candidates(game: RecurrentGame, target: float) -> MinimaxReading:
    """Try taking values as they are, against priors that fall off exponentially from the middle."""
    n, epsilon = game.n, game.epsilon
    face = RawSolution(game.released, game.released, np.ones(n + 1), on_grid(game.possible.astype(float)))
    best = MinimaxReading(face, worst_loss(game, face), face.weights, 0.0)
    # A value is best kept unchanged while neighbouring weights differ by at most cosh ε under |i − v|, e^ε under 0-1.
    log_cosh = epsilon + math.log1p(math.exp(-2 * epsilon)) - math.log(2)
    # Under a pinball loss it is best moved by a constant while they differ by less than some other share of ε.
    shares = (1 - 1e-12, *(0.5**k for k in range(1, _SHARES)))
    bracket = (0.0, 0.0)

    def try_(left: float, right: float) -> None:
        nonlocal bracket
        offset = game.released - n / 2
        weights = np.where(game.possible, np.exp(-np.where(offset < 0, left, right) * abs(offset)), 0.0)
        if best.gap > target and weights.sum() > 0:
            weights = on_grid(weights)
            likely = game.roughly(weights)
            if likely is not None and likely < best.lower:
                return
            better, answers = best.take_prior(game, weights)
            best.take_reading(game, RawSolution(game.released, answers, face.chances, weights))
            bracket = (left, right) if better else bracket

    for rate in (log_cosh * (1 - 1e-9), 0.0, epsilon**2 / 4, *(epsilon * share for share in shares)):
        try_(rate, rate)
    if best.gap < _NEARLY and not game.symmetric:
        # The weights may fall off faster on one side than on the other.
        for side in (0, 1):
            (left, right), factors = bracket, _FACTORS
            for factor in factors:
                try_(left * factor, right) if side == 0 else try_(left, right * factor)
    return best


def _first_answers(game: RecurrentGame, best: MinimaxReading) -> tuple[Integers, Integers, _Begins | None]:
    """Guess which answers matter: one below and one above those of the best reading of a smaller game.

    How far a value is moved depends on its distance from the nearer end and, where n·ε² is large, on nothing else:
    there half as many counts tell all, and where to begin. Elsewhere it is a smooth function of the place, and a
    coarser grid, n/k counts at kε, shows it.
    """
    n, epsilon = game.n, game.epsilon
    factor = min(_COARSENING, n / _SMALL, _COARSEST / epsilon if epsilon else _COARSENING)
    layered = n * epsilon**2 > _BOUNDARY_LAYER and n > 2 * _SMALL
    if not (game.symmetric and game.possible.all() and (layered or factor > 1.5)):
        answers = game.best(best.weights).answers
        return np.maximum(answers - 1, 0), np.minimum(answers + 1, n), None
    smaller_n = n // 2 if layered else int(n / factor)
    stretch = 1.0 if layered else n / smaller_n
    ratio = game.ratio if layered else Fraction(math.exp(stretch * epsilon))
    smaller = RecurrentGame(smaller_n, ratio, game.loss, np.ones(smaller_n + 1, bool))
    smaller_solution = minimax_by_recurrences(smaller, target=_SMALLER_TARGET)
    reading = smaller_solution.reading
    mean = np.bincount(reading.released, reading.answers * reading.chances, smaller_n + 1)
    distance = np.minimum(np.minimum(game.released, n - game.released) / stretch, smaller_n / 2)
    moved = np.interp(distance, smaller.released, mean - smaller.released) * stretch
    guess = game.released + moved * np.sign(n - 2 * game.released)
    low, high = np.floor(guess).astype(np.int64) - 1, np.ceil(guess).astype(np.int64) + 1
    begins = (
        _layer(n, (mean - smaller.released).astype(float), smaller_solution.weights)
        if layered and game.convex
        else None
    )
    return np.maximum(low, 0), np.minimum(high, n), begins


_Begins = tuple[Integers, NDArray[np.bool_], NDArray[np.bool_]]
"""Of every count of the lower half: the answer, whether the next is mixed in, and whether its loss is the worst."""


def _layer(n: int, moved: Floats, weights: Floats) -> _Begins:
    """Take how a smaller game reads values near its lower end, and which counts its prior rules out there.

    Further in, up to the middle, values are moved by less than 1, all losses are equal, and weights grow exponentially.
    """
    z = np.arange(n // 2 + 1)
    answers, mixed, worst = z.copy(), z < n / 2, np.ones(len(z), bool)
    (far,) = np.nonzero(moved[: len(moved) // 2] >= 1)
    near = far[-1] + 1 if len(far) else 0
    answers[:near] += np.floor(moved[:near] + _WHOLE).astype(np.int64)
    mixed[:near] = (moved[:near] + _WHOLE) % 1 > 2 * _WHOLE
    worst[:near] = weights[:near] > 0
    return answers, mixed, worst
