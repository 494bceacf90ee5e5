"""The exact total of releases fixed in advance, as an enclosure: adding up ε wastes a third of the budget and more."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..exact import checked, rational

if TYPE_CHECKING:
    from .gaussian_sides import GaussianSide
    from .sides import Side

__all__ = ["delta", "delta_above", "total"]


@checked
def total(items: Any, *, delta: Any, grid: Any = None) -> tuple[Fraction, Fraction]:
    """Enclose the least ε such that releases fixed in advance are (ε, δ)-private together.

    Parameters
    ----------
    items : list
        The releases, each with independent draws, under one neighbouring relation and none chosen in the light of
        another's answer. An item is a `Privacy`, `Gaussian(mu)`, a mechanism with its graph, a noise distribution
        (which counts as its guarantee `privacy`), a privacy-loss distribution (`irisdp.certify.LossLaw`), or a pair
        (item, times). The order does not matter.
    delta : number or text
        δ of the whole, in [0, 1).
    grid : number or text, optional
        Losses are rounded to multiples of it. Unless given, it holds every ε exactly if one grid of at most a few
        ten thousand places does, and otherwise has about that many.

    Returns
    -------
    tuple of Fraction
        (lower, upper). Charge `upper`: all releases together are (upper, δ)-private. For guarantees that one grid
        holds the two differ by less than 10^-30 of their size.

    Raises
    ------
    BadInput
        For an empty list, an invalid item, a number of times below 1, or a grid of more than two million places. Also
        for a δ outside [0, 1), or smaller than the δ that every ε leaves.

    Notes ----- A `Privacy` represents every release with this guarantee, at its charged ε. Its worst case is a
    randomised response after a coin that reveals all with probability δ, which no other release with the guarantee
    exceeds in any total [Kairouz2017]. Geometric noise at ε is exactly that with δ = 0. So `lower` is a bound for all
    releases known only by their guarantees: some have no smaller total.

    A mechanism enters `upper` by its dominating pair [Zhu2022]. `lower` takes one pair of neighbours for all mechanisms
    with the same inputs, and a separate one for the others. It holds for mechanisms with the same inputs even if all
    are asked about one input, and where inputs differ, for the worst questions. The two may be apart for a mechanism
    that no single pair of neighbours dominates; for draws on one input `irisdp.certify.compose` is sharper.

    If a later ε may depend on earlier answers, this is no bound.

    References
    ----------
    [Kairouz2017], Theorem 3.3; rounding, scope and both directions: proofs/totals.md.
    `tests/oracles/test_totals.py` compares with all products of losses.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> lower, upper = total([(Privacy(epsilon="0.1"), 60)], delta="1e-6")
    >>> f"{float(lower):.6f} {float(upper):.6f}"
    '3.545389 3.545389'
    """
    wanted = _read_delta(delta)
    lower, upper = _both(items, grid)
    return lower.least_epsilon(wanted), upper.least_epsilon(wanted)


@checked
def delta(items: Any, *, epsilon: Any, grid: Any = None) -> tuple[Fraction, Fraction]:
    """Enclose the least δ such that releases fixed in advance are (ε, δ)-private together.

    Parameters
    ----------
    items : list
        As for `irisdp.accounting.total`.
    epsilon : number or text
        ε of the whole, at least 0.
    grid : number or text, optional
        As for `irisdp.accounting.total`.

    Returns
    -------
    tuple of Fraction
        (lower, upper), each in [0, 1]: all releases together are (ε, upper)-private.

    Raises
    ------
    BadInput
        As `irisdp.accounting.total`, and for a negative ε.

    References
    ----------
    As for `irisdp.accounting.total`, where it is also said what the two bounds are about.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> lower, upper = delta([(Privacy(epsilon="0.1"), 60)], epsilon="3.5")
    >>> f"{float(lower):.6e} {float(upper):.6e}"
    '1.364929e-06 1.364929e-06'
    """
    wanted = _read_epsilon(epsilon)
    lower, upper = _both(items, grid)
    return lower.delta_at(wanted), upper.delta_at(wanted)


@checked
def delta_above(items: Any, *, epsilon: Any) -> Fraction:
    """Return a δ for which releases fixed in advance are (ε, δ)-private together.

    The upper end of `delta`, in less time: the bound from below is not worked out. Where no one grid holds all losses
    the two may round them to different grids; either holds.

    Parameters
    ----------
    items : list
        As for `irisdp.accounting.total`.
    epsilon : number or text
        Of the whole.

    Examples
    --------
    >>> from irisdp import Privacy
    >>> float(delta_above([(Privacy(epsilon="0.1"), 60)], epsilon="3.546")) < 1e-6
    True
    """
    from .sides import upper_side

    return upper_side(items).delta_at(_read_epsilon(epsilon))


def _read_epsilon(epsilon: Any) -> Fraction:
    wanted = rational(epsilon, "epsilon")
    if wanted < 0:
        raise BadInput("epsilon", "must not be negative", "give a number that is at least 0")
    return wanted


def _read_delta(delta: Any) -> Fraction:
    wanted = rational(delta, "delta")
    if not 0 <= wanted < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return wanted


def _both(items: Any, grid: Any) -> tuple[Side, Side] | tuple[GaussianSide, GaussianSide]:
    """Read what is released; the checks of mechanisms are loaded here, so that costs alone are loaded fast."""
    from .sides import both_sides

    return both_sides(items, grid)
