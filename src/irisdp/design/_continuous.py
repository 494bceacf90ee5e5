"""Answers in an interval, smaller ones preferred: the optimum is u^depth applied to the distribution function.

First-order stochastic dominance takes the place of prefix sums: the events "at most x" are the prefixes. Steps apply u
to F(x) at every x, so an atom keeps its place. With δ > 0 a new atom appears at the lower end (the answer most
preferred), and the upper end is cut off. Everything here is in floats for pictures, save `on_grid`, which is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, integer, rational
from ..errors import BadInput
from ..graphs import Path
from ..mechanisms import Mechanism
from ..privacy import Privacy
from ._given_rows import Rows
from ._homogeneous import chain

Floats = NDArray[np.float64]

_STEPS = 100_000
_ATOM_WIDTH = 2.0**-40
"""An atom is a jump that stays when the interval around it shrinks to this share of the whole."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Continuous:
    """The optimal mechanism on a chain of depths for answers in an interval; made by `continuous`.

    Parameters
    ----------
    cdf0 : callable
        F at depth 0, for arrays.
    lower, upper : float
        The interval of the answers.
    privacy : Privacy
    """

    cdf0: Callable[[Any], Any]
    lower: float
    upper: float
    privacy: Privacy

    @checked
    def cdf(self, answers: Any, depth: int = 0) -> Floats:
        """Return P(answer ≤ x) at a depth: u^depth(F(x)), 0 below the interval and 1 at its end."""
        x = _floats(answers, "answers")
        inside = self._steps(np.clip(np.asarray(self.cdf0(x), dtype=np.float64), 0.0, 1.0), depth)
        result: Floats = np.where(x < self.lower, 0.0, np.where(x >= self.upper, 1.0, inside))
        return result

    @checked
    def density(self, answers: Any, depth: int = 0, *, density0: Callable[[Any], Any] | None = None) -> Floats:
        """Return the density of the part without atoms: (u^depth)'(F(x))·f(x).

        Parameters
        ----------
        answers : array
        depth : int
        density0 : callable, optional
            f; left out, differences of F over a short interval stand in for it.
        """
        x = _floats(answers, "answers")
        if density0 is None:
            width = (self.upper - self.lower) * 2.0**-20
            low, high = np.maximum(x - width, self.lower), np.minimum(x + width, self.upper)
            f = (np.asarray(self.cdf0(high)) - np.asarray(self.cdf0(low))) / np.maximum(high - low, width)
        else:
            f = np.asarray(density0(x), dtype=np.float64)
        s = np.clip(np.asarray(self.cdf0(x), dtype=np.float64), 0.0, 1.0)
        slope = np.ones_like(s)
        starts = np.array([float(start) for start in self.privacy.shape.starts])
        slopes = np.array([float(line.slope) for line in self.privacy.shape.lines])
        for _ in range(self._depth(depth)):
            # A kink counts to its left.
            slope = slope * slopes[np.maximum(np.searchsorted(starts, s) - 1, 0)]
            s = self._steps(s, 1)
            slope = np.where(s >= 1, 0.0, slope)
        result: Floats = np.where((x < self.lower) | (x > self.upper), 0.0, slope * f)
        return result

    @checked
    def atoms(self, candidates: Sequence[float] = (), depth: int = 0) -> dict[float, float]:
        """Return the atoms among the lower end, the upper end and the candidates given, with their masses."""
        masses = {}
        for x in sorted({self.lower, self.upper, *_floats(candidates, "candidates").ravel().tolist()}):
            left = x - (self.upper - self.lower) * _ATOM_WIDTH
            before = float(self.cdf(left, depth)) if x > self.lower else 0.0
            mass = float(self.cdf(x, depth)) - before
            if mass > _ATOM_WIDTH * 2**16:
                masses[x] = mass
        return masses

    @checked
    def quantile(self, probabilities: Any, depth: int = 0) -> Floats:
        """Return the smallest answers whose distribution function reaches the probabilities.

        Within 2^-50 of the interval's length, where F is evaluated right; with uniform probabilities these are draws
        for simulations. For a release use `on_grid`: floats are no privacy guarantee.
        """
        p = _floats(probabilities, "probabilities")
        low, high = np.full_like(p, self.lower), np.full_like(p, self.upper)
        for _ in range(50):
            middle = (low + high) / 2
            reached = self.cdf(middle, depth) >= p
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        result: Floats = np.where(self.cdf(self.lower, depth) >= p, self.lower, high)
        return result

    @checked
    def on_grid(self, points: int, deepest: int) -> Mechanism:
        """Return the exact mechanism that rounds the continuous answer up to a grid, to be drawn from exactly.

        Parameters
        ----------
        points : int
            How many equal cells the interval is cut into, at least 1.
        deepest : int
            The depths are 0..deepest; neighbours are one apart.

        Returns
        -------
        Mechanism
            Inputs 0..deepest, outputs 0..points: k stands for lower + k·(upper − lower)/points. Exactly private. An
            answer is at most one cell above the continuous one. At every grid point the distribution function is
            u^depth(F), up to 2^-53 in F and 2^-64 in u. So the error is one cell in an answer, and at most about
            r^depth·2^-53 in a probability.

        Notes
        -----
        Rounding is post-processing, and F on the grid is all that u^depth needs there: the discrete optimum is the
        rounded continuous one.
        """
        points, deepest = integer(points, "points", at_least=1), self._depth(deepest)
        places = self.lower + (self.upper - self.lower) * np.arange(points + 1) / points
        sums = [rational(float(s), "cdf") for s in np.maximum.accumulate(self.cdf(places))]
        sums[-1] = Fraction(1)
        row = tuple(after - before for before, after in zip([Fraction(0), *sums[:-1]], sums, strict=True))
        rows, _ = chain(row, deepest + 1, self.privacy)
        row_of = np.minimum(np.arange(deepest + 1), len(rows) - 1)
        return Mechanism.from_matrix(
            Rows(tuple(rows), row_of).listed(),
            privacy=self.privacy,
            graph=Path(deepest + 1),
            outputs=range(points + 1),
        )

    def _depth(self, depth: int) -> int:
        return integer(depth, "depth", at_least=0, at_most=_STEPS)

    def _steps(self, s: Floats, depth: int) -> Floats:
        lines = [(float(line.slope), float(line.constant)) for line in self.privacy.shape.lines[:-1]]
        for _ in range(self._depth(depth)):
            s = np.minimum(1.0, np.min([slope * s + constant for slope, constant in lines], axis=0))
        return s


@checked
def continuous(
    boundary: Any, privacy: Privacy, *, lower: float | None = None, upper: float | None = None
) -> Continuous:
    """Design the optimal mechanism for answers in an interval of which smaller ones are preferred.

    Parameters
    ----------
    boundary : frozen SciPy distribution, or callable
        The distribution of the answer at depth 0, or its distribution function for arrays of numbers.
    privacy : Privacy
        Neighbours are one apart in depth.
    lower, upper : float
        The interval. Where left out, the support of a SciPy distribution, which must then be bounded.

    Returns
    -------
    Continuous
        Its answer at every depth is stochastically smallest among all private mechanisms with this boundary.

    Raises
    ------
    BadInput
        When the interval is unbounded or empty, or the function is no distribution function on it.

    Examples
    --------
    >>> float(continuous(lambda x: x, Privacy.from_ratio(2), lower=0, upper=1).cdf(0.25, 2))
    0.75

    References
    ----------
    [Gu2024], §6.5; docs/theory.md#rainbows; proofs/continuous-answers.md.
    """
    function: Any = boundary if callable(boundary) and not hasattr(boundary, "cdf") else getattr(boundary, "cdf", None)
    if not callable(function):
        raise BadInput("boundary", "must be a distribution or its distribution function", "give one from scipy.stats")
    if hasattr(boundary, "support") and (lower is None or upper is None):
        first, last = boundary.support()
        lower, upper = first if lower is None else lower, last if upper is None else upper
    if lower is None or upper is None or not -np.inf < lower < upper < np.inf:
        raise BadInput("lower", "and upper must bound an interval", "give two finite numbers, the smaller first")
    values = _floats(function(np.linspace(lower, upper, 257)), "boundary")
    if values.shape != (257,) or not (np.diff(values) >= 0).all() or not -1e-12 <= values[0] <= values[-1] <= 1 + 1e-12:
        raise BadInput("boundary", "is no distribution function on the interval", "let it rise from 0 to 1")
    return Continuous(cdf0=function, lower=float(lower), upper=float(upper), privacy=privacy)


def _floats(values: Any, field: str) -> Floats:
    """Read numbers, or arrays of them, as floats."""
    try:
        result: Floats = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(field, "must be numbers", "give floats, or an array of them") from None
    if np.isnan(result).any():
        raise BadInput(field, "holds NaN, which is no number", "leave it out")
    return result
