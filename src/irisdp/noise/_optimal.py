"""Choose the best noise for a guarantee."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import ball, checked, dyadic_below, enclosure_of, integer, short_text
from .._sampling import BitSource, add_geometric
from ..errors import BadInput
from ..privacy import Privacy
from ._distribution import Loss
from ._staircase import LARGEST_SENSITIVITY, StaircaseLaw, best_step
from ._universal import UniversalDistribution, cells_of

LARGEST_BOUND = 1 << 13
_ROOT_BITS = 128


@checked
def law(
    kind: Literal["geometric", "staircase", "bounded", "universal"],
    privacy: Privacy,
    sensitivity: int = 1,
    loss: Loss = "absolute",
) -> UniversalDistribution | StaircaseLaw:
    """Return noise for integers, with exact probabilities and exact draws.

    Parameters
    ----------
    kind : "geometric", "staircase", "bounded" or "universal"
        "geometric": P(z) = (1−α)/(1+α)·α^|z| with α = r^(−1/sensitivity), rounded towards privacy; one pair, δ = 0.
        "staircase": level near 0, one step of 1/r per `sensitivity` beyond; one pair, δ = 0.
        "bounded": geometric noise cut off at K, for one pair with δ = `bounded_delta(privacy, K)`.
        "universal": noise that climbs by the u of any pairs, in cells that lose nothing.
    privacy : Privacy
        The guarantee of one value, if one record changes it by at most `sensitivity`, and no other value.
    sensitivity : int
        More than 1 for geometric and staircase noise only. Geometric noise also satisfies it for many values that one
        record changes by at most `sensitivity` in all, as a sum of magnitudes.
    loss : "absolute" or "squared"
        What the staircase's step is chosen for; the others do not depend on it.

    Returns
    -------
    UniversalDistribution or StaircaseLaw
        With `probability`, `enclose`, `expected`, `draw`, `atoms_per_unit` and `privacy`. Draws are in atoms, of which
        a unit has `atoms_per_unit`; `whole` turns those of "universal" noise into whole numbers. For Gaussian privacy
        see `gaussian_law`.

    Notes
    -----
    *Universal* ranges over every private mechanism on the counts 0..n, every n, and every loss that never falls on
    either side of the true count. For each such mechanism one post-processing of the noisy count loses no more, at
    every count at once. So it also loses no more in the worst case, with any side information and any prior. That holds
    for "universal", for "geometric" with sensitivity 1, and for "bounded"; not for the staircase with a sensitivity
    above 1. Do not clamp a draw to 0..n before it is read: with δ > 0 that loses something.

    Raises
    ------
    BadInput
        Where a kind needs another guarantee, or needs too many cells.

    References
    ----------
    proofs/shape-noise.md; [Geng2016] for the staircase.

    Examples
    --------
    >>> law("universal", Privacy(ratio=2, delta="1/7")).atoms_per_unit
    3
    >>> law("staircase", Privacy(epsilon=1), sensitivity=5).step
    2
    """
    change = integer(sensitivity, "sensitivity", at_least=1, at_most=LARGEST_SENSITIVITY)
    if kind in ("geometric", "staircase"):
        _check_pure(privacy, kind)
    elif change > 1:
        raise BadInput("sensitivity", f"must be 1 for {kind} noise", "choose staircase or geometric noise")
    if kind == "staircase":
        return StaircaseLaw(privacy, change, best_step(privacy, change, loss))
    if kind == "geometric":
        return UniversalDistribution(kind, privacy, change, cells_of(root_of(privacy, change)))
    if kind == "bounded":
        _check_bounded(privacy)
    return UniversalDistribution(kind, privacy, change, cells_of(privacy))


@checked
def bounded_delta(privacy: Privacy, bound: int) -> Fraction:
    """Return the δ at which noise for the ratio r may end at −K and K: δ_K = (r − 1)/((r + 1)·r^K − 2).

    It is the least δ at which any noise of that ratio keeps within K (docs/theory.md#shapes).

    Parameters
    ----------
    privacy : Privacy
        One pair, of which only the ratio counts.
    bound : int
        K, from 1 to 8,192.

    Examples
    --------
    >>> bounded_delta(Privacy(ratio=2), 2)
    Fraction(1, 10)
    """
    most, ratio = integer(bound, "bound", at_least=1, at_most=LARGEST_BOUND), privacy.ratio
    if ratio == 1:
        return Fraction(1, 2 * most + 1)
    return (ratio - 1) / ((ratio + 1) * ratio**most - 2)


def _check_pure(privacy: Privacy, kind: str) -> None:
    if not privacy.single or privacy.delta > 0:
        raise BadInput("privacy", f"must be one pair with delta 0 for {kind} noise", 'choose "universal" noise')
    if privacy.ratio == 1:
        raise BadInput("epsilon", "must be above 0 for noise with delta 0", "choose a larger epsilon")


def _check_bounded(privacy: Privacy) -> None:
    """Hold δ to a δ_K."""
    if not privacy.single or privacy.delta == 0:
        raise BadInput("privacy", "must be one pair with delta above 0 for bounded noise", "see noise.bounded_delta")
    low, high = 1, LARGEST_BOUND  # δ_K falls with K: find the least K with δ_K ≤ δ
    while low < high:
        middle = (low + high) // 2
        if bounded_delta(privacy, middle) <= privacy.delta:
            high = middle
        else:
            low = middle + 1
    near = bounded_delta(privacy, low)
    if near != privacy.delta:
        rule = f"must be one at which noise can end at a whole number; {short_text(near)} (K = {low}) is the next below"
        raise BadInput("delta", rule, f"take privacy.with_delta(bounded_delta(privacy, {low})), or universal noise")


def root_of(privacy: Privacy, degree: int) -> Privacy:
    """Return a pair whose ratio is the root of that degree: exactly where that is a fraction, else rounded down."""
    if degree == 1:
        return privacy
    pair = privacy.pairs[0]
    parts = [_whole_root(part, degree) for part in (pair.ratio.numerator, pair.ratio.denominator)]
    if all(part**degree == whole for part, whole in zip(parts, pair.ratio.as_integer_ratio(), strict=True)):
        return Privacy.of((replace(pair, ratio=Fraction(*parts), epsilon=pair.epsilon / degree),))
    enclosure = enclosure_of(
        lambda: ball(pair.ratio) ** ball(Fraction(1, degree)), width=Fraction(1, 1 << 2 * _ROOT_BITS)
    )
    root = max(Fraction(1), dyadic_below(enclosure.lower, _ROOT_BITS))
    return Privacy.of((replace(pair, ratio=root, epsilon=pair.epsilon / degree),))


def _whole_root(whole: int, degree: int) -> int:
    """Return the root of a whole number, rounded down; 1 for numbers too short to have another."""
    return int(flint.fmpz(whole).root(degree)) if whole.bit_length() > degree else 1


@checked
def geometric(values: Any, privacy: Privacy, *, source: BitSource | None = None) -> NDArray[np.int64]:
    """Add independent two-sided geometric noise to every integer of an array.

    Parameters
    ----------
    values : array of int
        Any shape, magnitudes up to 2^62.
    privacy : Privacy
        The noise is P(Z = z) = (1−α)/(1+α)·α^|z| with α = 1/r exactly, for the rational r = `privacy.ratio`.
        ε must be at least 1e-15; δ is not used.
    source : BitSource, optional
        Source of random bits. [default: the operating system]

    Returns
    -------
    array of int64, the shape of `values`
        Where one record changes one value by at most 1 and no other, the result is (ε, 0)-differentially private.
        For sensitivity s, pass a privacy whose ratio is the s-th root. Sums beyond 64 bits saturate, which is
        post-processing.

    Raises
    ------
    BadInput
        For floats, booleans, masked entries or magnitudes above 2^62 (the message shows no value), and for an ε of 0.

    Notes
    -----
    No float is involved and no tail is cut. Each draw takes one 64-bit word for ε ≥ 0.044, two down to 2.2e-5, three
    down to 1.1e-8 and four down to 5.2e-12. In arrays of 2^14 values or more it takes half as many, if that is more
    than one. Each of them and each run of 2^15 values also takes sixteen words, to read on with. It is the same for
    every value and outcome, but for ties of probability below 2^-50.

    References
    ----------
    docs/theory.md#counts; `tests/laws/test_sampling_exhaustion.py` proves the law and
    `tests/statistics/test_sampling_laws.py` tests it on the operating system's bits.

    Examples
    --------
    >>> noisy = geometric([[3, 5], [0, 944]], Privacy(epsilon=1))
    >>> noisy.shape, noisy.dtype.name
    ((2, 2), 'int64')
    """
    return add_geometric(values, privacy, source=source)
