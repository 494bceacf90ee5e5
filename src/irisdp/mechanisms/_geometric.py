"""The geometric mechanism: the one mechanism that every minimax reader of a count wants (docs/theory.md#counts)."""

from __future__ import annotations

from fractions import Fraction

from .._exact import checked, integer, rational
from ..errors import BadInput
from ..graphs import Path
from ..privacy import Privacy
from ._mechanism import Mechanism, Row


@checked
def geometric(n: int, privacy: Privacy) -> Mechanism:
    """Build the range-restricted geometric mechanism G_{n,α} for a count in 0..n, α = 1/ratio.

    Parameters
    ----------
    n : int
        Largest count, at least 0; inputs and outputs are 0..n and neighbours differ by one.
    privacy : Privacy
        The ratio; the mechanism needs no δ and satisfies δ = 0.

    Returns
    -------
    Mechanism
        Exactly α-private: every edge is tight somewhere. Entries are powers of the ratio, so with a long ratio they
        are long; `irisdp.design.geometric` gives the same mechanism in short numbers.

    References
    ----------
    [Gupte2010], Definition 4 and Figure 1; docs/theory.md#counts.
    """
    n = integer(n, "n", at_least=0)
    rows = [geometric_row(count, n, privacy.ratio) for count in range(n + 1)]
    return Mechanism.from_matrix(rows, privacy=privacy.pure, graph=Path(n + 1))


@checked
def geometric_row(count: int, n: int, ratio: Fraction) -> Row:
    """Return the distribution over 0..n of clamp(count + noise), noise two-sided geometric with α = 1/ratio.

    Parameters
    ----------
    count : int
        The true count, from 0 to `n`.
    n : int
        The largest count, at least 0.
    ratio : number or text
        r ≥ 1.

    Raises
    ------
    BadInput
        For numbers out of these ranges.
    """
    n = integer(n, "n", at_least=0)
    count, ratio = integer(count, "count", at_least=0, at_most=n), rational(ratio, "ratio")
    if ratio < 1:
        raise BadInput("ratio", "must be at least 1 (it is e^epsilon)", "give a number from 1 up")
    if n == 0:
        return (Fraction(1),)
    alpha = 1 / ratio
    inner = (1 - alpha) / (1 + alpha)
    middle = tuple(inner * alpha ** abs(z - count) for z in range(1, n))
    return (alpha**count / (1 + alpha), *middle, alpha ** (n - count) / (1 + alpha))
