"""The trade-off curve of Gaussian privacy, enclosed apart from the library."""

from fractions import Fraction

import flint

from irisdp.exact import Enclosure, ball, enclosure_of

__all__ = ["gaussian_step"]

WIDTH = Fraction(1, 1 << 200)


def normal(x):
    """Enclose Φ(x)."""
    return enclosure_of(lambda: (-ball(x) / flint.arb(2).sqrt()).erfc() / 2, width=WIDTH)


def gaussian_step(probability, mu, *, width):
    """Enclose Φ(Φ⁻¹(s) + μ), what a Gaussian neighbour may give to an event of probability s in (0, 1)."""
    low, high = Fraction(-64), Fraction(64)
    while normal(high + mu).upper - normal(low + mu).lower > width / 2:
        middle = (low + high) / 2
        if normal(middle).upper < probability:
            low = middle
        elif normal(middle).lower > probability:
            high = middle
        else:
            break
    return Enclosure(normal(low + mu).lower, normal(high + mu).upper)
