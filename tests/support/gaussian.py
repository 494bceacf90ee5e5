"""The trade-off curve of Gaussian privacy, enclosed apart from the library."""

from fractions import Fraction
from statistics import NormalDist

import flint

from irisdp._exact import Enclosure, ball, enclosure_of

WIDTH = Fraction(1, 1 << 200)
NEAR = Fraction(1, 1 << 30)


def normal(x):
    """Enclose Φ(x)."""
    return enclosure_of(lambda: (-ball(x) / flint.arb(2).sqrt()).erfc() / 2, width=WIDTH)


def gaussian_step(probability, mu, *, width):
    """Enclose Φ(Φ⁻¹(s) + μ), what a Gaussian neighbour may give to an event of probability s in (0, 1)."""
    guess = Fraction(NormalDist().inv_cdf(min(max(float(probability), 1e-300), 1 - 1e-16)))
    low, high = guess - NEAR, guess + NEAR
    if not normal(low).upper < probability < normal(high).lower:  # the guess is in floats, and only saves time
        low, high = Fraction(-64), Fraction(64)
    while high - low > width:  # Φ grows by less than 2/5 of it
        middle = (low + high) / 2
        if normal(middle).upper < probability:
            low = middle
        elif normal(middle).lower > probability:
            high = middle
        else:
            break
    return Enclosure(normal(low + mu).lower, normal(high + mu).upper)
