"""What [Gu2023] and [Gu2024] print, as they print it: their operator, τ and closed form; and what those need.

Nothing here is private as claimed where δ > 0. It is code of its own, so that what is printed can be measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

from ..exact import ball, enclosure_of
from ..privacy import Privacy, steps
from .colourings import needed
from .items import Fault

__all__ = [
    "CAPTION_ROW",
    "EXAMPLE_1",
    "FIGURE_RATIO",
    "WEIGHTS",
    "ceiling_tau",
    "chain",
    "closed_form",
    "floor_tau",
    "moved",
    "prefix_sums",
    "printed_step",
    "printed_tau",
    "row_of",
    "true_row",
    "two_rows",
    "worse_than_claimed",
]

FIGURE_RATIO = Fraction("1.2")
CAPTION_ROW = tuple(map(Fraction, ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")))
WEIGHTS = tuple(map(Fraction, ("0.001", "0.015", "0.25", "0.5")))
"""What the boundary row of the figures is said to be e^ε/(1 + e^ε) times of, but for its last entry."""

EXAMPLE_1 = {"d_1": ("0.2", "0.1", "0.7"), "d_4": ("0.4", "0.1", "0.5"), "d_5": ("0.4", "0.05", "0.55")}
"""The given rows of Example 1, and one that fits at d_5, of which nothing is printed."""

Row = tuple[Fraction, ...]


def prefix_sums(row: Sequence[Fraction]) -> list[Fraction]:
    """Return s_1, …, s_q."""
    return list(accumulate(row))


def row_of(sums: Sequence[Fraction]) -> Row:
    """Return the law with these prefix sums."""
    return tuple(after - before for before, after in zip([Fraction(0), *sums[:-1]], sums, strict=True))


def moved(row: Sequence[Fraction], privacy: Privacy, t: int = 1) -> Row:
    """Return T^t of a row, by this library's operator."""
    return row_of([steps(s, t, privacy) for s in prefix_sums(row)])


def printed_step(s: Fraction, privacy: Privacy) -> Fraction:
    """Return s' of eq. (9) as printed, in both versions."""
    r, d = privacy.ratio, privacy.delta
    return min(Fraction(1), min(r * s, 1 - (1 - s) / r) + d)


def printed_tau(s: Fraction, privacy: Privacy, whole: Callable[[Fraction], int]) -> int | None:
    """Return τ of eq. (21) of [Gu2024], with `math.floor`, or eq. (20) of [Gu2023], with `math.ceil`."""
    r, d = privacy.ratio, privacy.delta
    rho = d / (r - 1)
    if s + rho == 0:
        return None
    quotient = (1 / (r + 1) + rho) / (s + rho)
    found = enclosure_of(lambda: ball(quotient).log() / ball(r).log() + 1, width=Fraction(1, 10**30))
    low, high = whole(max(found.lower, Fraction(0))), whole(max(found.upper, Fraction(0)))
    # A whole logarithm is surrounded: then r^(low or high, less one) is the quotient itself.
    return low if low == high or r ** (low - 1) == quotient else high


def closed_form(s: Fraction, t: int, tau: int | None, privacy: Privacy) -> Fraction:
    """Return s^t of eq. (22) of [Gu2024], which is eq. (21) of [Gu2023], with a given τ."""
    r, d = privacy.ratio, privacy.delta
    rho = d / (r - 1)
    if tau is None:
        return s
    growing = min(Fraction(1), r ** min(t, tau) * (s + rho) - rho)
    return growing if t <= tau else min(Fraction(1), 1 + r * rho - (1 - growing + r * rho) / r ** (t - tau))


def chain(row: Sequence[Fraction], taus: Sequence[int | None], privacy: Privacy, last: int) -> list[Row]:
    """Return the rows of the printed closed form with given τ at depths 0, …, last, made laws by cutting at 0."""
    rows = []
    for t in range(last + 1):
        sums = [closed_form(s, t, tau, privacy) for s, tau in zip(prefix_sums(row), taus, strict=True)]
        rows.append(row_of(list(accumulate(sums, max))))
    return rows


def two_rows() -> tuple[list[Row], Privacy]:
    """Return (1/2, 1/2) and its neighbour by the printed operator at r = 2, δ = 0.1."""
    privacy, half = Privacy(ratio=2, delta="0.1"), Fraction(1, 2)
    first = printed_step(half, privacy)
    return [(half, half), (first, 1 - first)], privacy


def worse_than_claimed(rows: Sequence[Row], privacy: Privacy, what: str = "") -> Fault:
    """Return the δ that a chain of rows needs, beside the one that is claimed."""
    return Fault(what or "δ that the printed rows need", needed(rows, privacy), privacy.delta)


def true_row() -> Row:
    """Return the boundary row of the figures before it was rounded."""
    factor = FIGURE_RATIO / (1 + FIGURE_RATIO)
    first = [weight * factor for weight in WEIGHTS]
    return (*first, 1 - sum(first, Fraction(0)))


def floor_tau(s: Fraction, privacy: Privacy) -> int | None:
    """Return τ as [Gu2024] prints it."""
    return printed_tau(s, privacy, math.floor)


def ceiling_tau(s: Fraction, privacy: Privacy) -> int | None:
    """Return τ as [Gu2023] prints it."""
    return printed_tau(s, privacy, math.ceil)
