"""Gaussian noise on the integers: N(0, σ²) rounded to a fraction of a unit, exactly, from enclosures.

Rounding is post-processing, so that it is μ-GDP with σ = sensitivity/μ, no less and with no error term: no polygon
stands between. Rounded to whole numbers F(z) = Φ((z + ½)/σ).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, ball, checked, enclosure_of, ends, integer, rational, rational_text, working_precision
from .._sampling import BitSource, Digit, add_drawn, bracket_enclosed, draw_digits
from ..errors import BadInput
from ..privacy import Gaussian
from ._distribution import DEFAULT_WIDTH, Loss, Simulated, check_atom, check_distance, check_width

_WIDEST = 8000
"""σ in atoms, up to which a table is made: nine σ on each side are 72,000 atoms."""

_LARGEST_MU = 20
_LARGEST_RESOLUTION = 64
_BITS = 192


@dataclass(frozen=True, slots=True, repr=False)
class GaussianLaw(Simulated):
    """The Gaussian N(0, (sensitivity/μ)²), rounded to the nearest multiple of 1/q.

    Attributes
    ----------
    mu : Fraction
        The guarantee of a value that one person changes by at most `sensitivity`: μ-Gaussian differential privacy. In
        totals it is `accounting.Gaussian(mu)`.
    sensitivity : int
    atoms_per_unit : int
        q: atom k is the multiple k/q of a unit.

    References
    ----------
    [Dong2022], Theorem 1; proofs/shape-noise.md.
    """

    mu: Fraction
    sensitivity: int
    atoms_per_unit: int

    @property
    def privacy(self) -> Gaussian:
        """The guarantee of a value that one person changes by at most `sensitivity`."""
        return Gaussian(self.mu)

    @property
    def first(self) -> None:
        """Return None: there is no smallest outcome."""
        return

    @property
    def last(self) -> None:
        """Return None: there is no largest outcome."""
        return

    @property
    def base(self) -> None:
        """Return None: this law stands alone (`irisdp._sampling.geometric_noise.IntegerLaw`)."""
        return

    def bracket(self, outcome: int, bits: int) -> tuple[int, int]:
        """Return integers around P(below atom) · 2^bits."""
        return bracket_enclosed(partial(enclosure_of, partial(self._below, outcome)), bits)

    @checked
    def probability(self, z: int) -> Fraction:
        """Refuse: these probabilities are no fractions."""
        check_atom(z)
        raise BadInput("z", "has a probability that is no fraction, in a Gaussian law", "use enclose(z)")

    @checked
    def enclose(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of atom z, to a width."""
        place, most = -abs(check_atom(z)), check_width(width)  # below 0 nothing cancels
        enclosure = enclosure_of(lambda: self._below(place + 1) - self._below(place), width=most)
        return enclosure.clamp(Fraction(0), Fraction(1))

    @checked
    def below(self, z: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability of all atoms below z, to a width."""
        place, most = check_atom(z), check_width(width)
        return enclosure_of(lambda: self._below(place), width=most).clamp(Fraction(0), Fraction(1))

    @checked
    def within(self, distance: int, *, width: Any = DEFAULT_WIDTH) -> Enclosure:
        """Enclose the probability that the noise, rounded as in the release, is at most so many whole units from 0."""
        reach, most = check_distance(distance, self.atoms_per_unit), check_width(width)
        enclosure = enclosure_of(lambda: 1 - 2 * self._below(-reach), width=most)
        return enclosure.clamp(Fraction(0), Fraction(1))

    @checked
    def expected(self, loss: Loss = "absolute") -> Enclosure:
        """Enclose the mean of |z| or z² in the values' units, where z is the rounded noise.

        For whole numbers this is what the noise that climbs by the Gaussian's u costs.
        """
        with working_precision(_BITS):
            mean = ends(self._mean(loss == "squared"))
        return Enclosure(max(Fraction(0), mean.lower), mean.upper)

    @checked
    def draw(self, values: Any, source: BitSource | None = None) -> NDArray[np.int64]:
        """Add noise to integers: q · value + atom, exactly, each draw by itself.

        Parameters
        ----------
        values : array of int
            Any shape, magnitudes up to 2^62/q.
        source : BitSource, optional
            Source of random bits. [default: the operating system]

        Returns
        -------
        array of int64, the shape of `values`
            In units of 1/q. It is μ-Gaussian differentially private where one person changes the values by at most
            `sensitivity` in all, as a vector in the Euclidean norm. Sums beyond 64 bits saturate.
        """
        digits = (_digit(self),)
        return add_drawn(
            values, lambda number, bits: draw_digits(number, digits, bits), factor=self.atoms_per_unit, source=source
        )

    def __repr__(self) -> str:
        """Say in one line what noise it is."""
        unit = "whole numbers" if self.atoms_per_unit == 1 else f"multiples of 1/{self.atoms_per_unit}"
        return f"GaussianLaw(mu {rational_text(self.mu)}, sensitivity {self.sensitivity}, {unit})"

    def _scale(self) -> Fraction:
        """Return the standard deviation in atoms."""
        return self.sensitivity * self.atoms_per_unit / self.mu

    def _below(self, atom: int) -> flint.arb:
        return _normal(ball((atom - Fraction(1, 2)) / self._scale()))

    def _mean(self, squared: bool) -> flint.arb:
        """Return 2ΣP(K ≥ j), or 2Σ(2j − 1)P(K ≥ j), in units: to fifteen deviations, and a bound on the rest.

        P(K ≥ j) = Φ(−x) at x = (j − ½)/σ, and Φ(−x − h) ≤ Φ(−x)·e^(−xh) bounds the rest by a geometric series.
        """
        scale, total = self._scale(), flint.arb(0)
        last = int(15 * scale) + 2
        for j in range(1, last):
            total += (2 * j - 1 if squared else 1) * self._below(1 - j)
        shrink = (-ball((last - Fraction(1, 2)) / scale**2)).exp()
        rest = self._below(1 - last) / (1 - shrink)
        if squared:
            rest *= 2 * last - 1 + 2 * shrink / (1 - shrink)
        total += rest.union(flint.arb(0))
        unit = ball(Fraction(1, self.atoms_per_unit))
        return 2 * total * (unit**2 if squared else unit)


@checked
def gaussian_law(mu: Any, *, sensitivity: int = 1, resolution: Any = 1) -> GaussianLaw:
    """Return Gaussian noise for integers, exactly μ-GDP, rounded to whole numbers or to a fraction of a unit.

    Parameters
    ----------
    mu : number or text
        μ, above 0 and at most 20.
    sensitivity : int
        By how much one person changes what is released, at most: of several values the Euclidean norm of the changes.
    resolution : number or text
        1, or 1/q for a whole q up to 64: what is drawn is in these units.

    Returns
    -------
    GaussianLaw
        Draws and stated errors are exact: probabilities are enclosed, and further where a draw needs it.

    Notes
    -----
    The Gaussian without rounding is universal under μ-GDP. From it every reader gets the best that any μ-GDP mechanism
    on the counts 0..n could give, under every loss that never falls on either side of the true count. Rounded it is
    exactly as private and no longer universal. At n = 1 the worst reader of whole numbers loses more than the best: by
    0.08 % at μ = 1/4, 0.7 % at 1/2, 6 % at 1 and 47 % at 2. Quarters take 10 to 16 times less (measured).

    Raises
    ------
    BadInput
        For numbers out of range, and where σ is more than 8,000 atoms.

    References
    ----------
    [Dong2022]; proofs/shape-noise.md.

    Examples
    --------
    >>> noisy = gaussian_law(1).draw([3, 5])
    >>> noisy.shape, noisy.dtype.name
    ((2,), 'int64')
    """
    mean, unit = rational(mu, "mu"), rational(resolution, "resolution")
    change = integer(sensitivity, "sensitivity", at_least=1)
    if not 0 < mean <= _LARGEST_MU:
        raise BadInput("mu", f"must be above 0 and at most {_LARGEST_MU}", "give for example 1")
    if unit.numerator != 1 or not 1 <= unit.denominator <= _LARGEST_RESOLUTION:
        raise BadInput("resolution", f"must be 1 or 1/q with q from 2 to {_LARGEST_RESOLUTION}", "give 1 or 1/4")
    if change * unit.denominator > _WIDEST * mean:
        rule = f"needs noise with a standard deviation of more than {_WIDEST:,} atoms"
        raise BadInput("mu", rule, "choose a larger mu, or count in larger units")
    return GaussianLaw(mean, change, unit.denominator)


@lru_cache(maxsize=16)
def _digit(law: GaussianLaw) -> Digit:
    return Digit.of(law)


def _normal(x: flint.arb) -> flint.arb:
    return (-x / flint.arb(2).sqrt()).erfc() / 2
