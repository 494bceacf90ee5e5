"""The privacy a mechanism is asked for, as exact numbers: one pair (ε, δ), or several at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .._exact import checked, entries, exp_below, integer, log_above, rational, short_text, workable_ratio
from .._frames import InOneLine, html_table
from .._hooks import Drawable
from ..errors import BadInput
from ._gaussian import DEFAULT_GAP, gaussian_pairs, zcdp_mean
from ._shape import MOST_PAIRS, Pair, Shape, follows, shape_of
from ._tradeoff import fewer_pairs, pairs_of_tradeoff

# Convert a guarantee to an adversary's probability of a right guess, for people.

_PLACES = 100


def even_odds(apart: Fraction) -> str:
    """Say how often somebody guesses right which of two neighbours the table is, who thought it 50:50 before.

    Parameters
    ----------
    apart : Fraction
        The most that the probability of an event may differ between them: δ at ε = 0.

    Examples
    --------
    >>> even_odds(Fraction(1, 3))
    'a guess between two neighbours, 50:50 before, is right with probability 66.67 % at most'
    """
    return f"a guess between two neighbours, 50:50 before, is right with probability {right_guess(apart)} at most"


def right_guess(apart: Fraction) -> str:
    """Write how often such a guess is right at most, in per cent."""
    percent = math.ceil((1 + min(apart, Fraction(1))) / 2 * 100 * _PLACES) / _PLACES
    return f"{percent:g} %"


LONGEST = 4096
"""Bits of a numerator or a denominator that ε, a ratio or δ may be given with: more than 1,200 digits.

Each is computed with many times, and written into files that must be read again. The stand-alone verifier has the same
limit. What the library itself computes from them may be longer.
"""


@checked
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Privacy(InOneLine, Drawable):
    """A guarantee held as rationals: a ratio r ≤ e^ε and δ, or several such pairs that all hold at once.

    Theorems hold exactly in `ratio` and `delta`; `epsilon` is what a ledger charges and is never below log(ratio).
    Several pairs make a shape: the symmetric trade-off function below which no pair lets a mechanism go. Whatever needs
    one pair says so when it is given several.

    Parameters
    ----------
    epsilon : number or text, optional
        ε ≥ 0; the ratio is e^ε rounded down (toward more privacy) to 128 bits.
    ratio : number or text, optional
        r ≥ 1, exact; give it instead of `epsilon`. The ε charged is log r rounded up.
    delta : number or text
        In [0, 1).

    Attributes
    ----------
    pairs : tuple of Pair
        By falling ratio and rising δ. None of them follows from the others.

    Examples
    --------
    >>> Privacy(epsilon=0.1).epsilon
    Fraction(1, 10)
    >>> Privacy.from_ratio("6/5", delta="1/10").ratio
    Fraction(6, 5)
    >>> len(Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")]).pairs)
    2

    References
    ----------
    docs/theory.md#shapes; proofs/shapes.md; [Dong2022].
    """

    pairs: tuple[Pair, ...]
    _shape: Shape | None = field(compare=False, repr=False)

    def __init__(self, *, epsilon: Any = None, ratio: Any = None, delta: Any = 0) -> None:
        if (epsilon is None) == (ratio is None):
            raise BadInput("privacy", "needs exactly one of epsilon and ratio", "give one of them")
        if epsilon is not None:
            charge = _given(epsilon, "epsilon")
            if charge < 0:
                raise BadInput("epsilon", "must not be negative", "give a number that is at least 0")
            factor = exp_below(charge)
        else:
            factor = _given(ratio, "ratio")
            if factor < 1:
                raise BadInput("ratio", "must be at least 1 (it is e^epsilon)", "give a number from 1 up")
            charge = log_above(factor)
        self._set((Pair(factor, _delta(delta), charge),))

    @classmethod
    @checked
    def from_ratio(cls, ratio: Any, delta: Any = 0) -> Privacy:
        """Take r = e^ε exactly."""
        return cls(ratio=ratio, delta=delta)

    @classmethod
    @checked
    def all(cls, guarantees: Iterable[Privacy]) -> Privacy:
        """Ask for several guarantees at once.

        Parameters
        ----------
        guarantees : iterable of Privacy
            By falling ε and rising δ, each of which forbids something that the others allow; from one up.

        Raises
        ------
        BadInput
            When they are in another order, or one follows from the others.
        """
        given = entries(guarantees) or []
        if not given or not all(isinstance(one, Privacy) for one in given):
            raise BadInput("all", "must be a list of guarantees, at least one", "list pairs (epsilon, delta)")
        pairs = tuple(pair for one in given for pair in one.pairs)
        if len(pairs) > MOST_PAIRS:
            raise BadInput("all", f"must hold at most {MOST_PAIRS} pairs", "leave out those that matter least")
        for place, (before, after) in enumerate(pairwise(pairs), start=1):
            if before.ratio <= after.ratio:
                raise BadInput("all", f"pair {place + 1} has no smaller epsilon than pair {place}", _SORTED)
            if before.delta >= after.delta:
                rule = f"pair {place} says nothing that pair {place + 1} does not: its delta is no smaller"
                raise BadInput("all", rule, f"leave out pair {place}")
        for place in range(len(pairs)):
            if follows(pairs, place):
                raise BadInput("all", f"pair {place + 1} follows from the others", f"leave out pair {place + 1}")
        return cls.of(pairs)

    @classmethod
    @checked
    def gaussian(cls, mu: Any, *, gap: Any = DEFAULT_GAP) -> Privacy:
        """Ask for μ-Gaussian differential privacy, by pairs that imply it and ask for hardly more.

        Parameters
        ----------
        mu : number or text
            μ, from 0.0001 to 5: neighbours are no easier to tell apart than N(0, 1) and N(μ, 1).
        gap : number or text
            Most that u may lie below the Gaussian's, from 1e-9 to 0.1. The number of pairs grows as 1/√gap: about 500
            at μ = 1 and 1e-6, 16 at 1e-3. Linear programs take as many of them as they can use (`coarsened`).

        Returns
        -------
        Privacy
            Several pairs. Every mechanism that keeps them is μ-GDP. u is nowhere above Φ(Φ⁻¹(s) + μ), exactly, by
            enclosures, and nowhere below it by more than `gap` (`tests/laws/test_shapes.py` encloses that, side by
            side).

        Raises
        ------
        BadInput
            For numbers out of range.

        References
        ----------
        [Dong2022], Definition 4; docs/theory.md#shapes.
        """
        return cls.of(gaussian_pairs(mu, gap))

    @classmethod
    @checked
    def zcdp(cls, rho: Any, *, gap: Any = DEFAULT_GAP) -> Privacy:
        """Ask for enough to be ρ-zero-concentrated differentially private: μ-GDP with μ = √(2ρ), rounded down.

        Sufficient, not equivalent: a mechanism may be ρ-zCDP without keeping these pairs. Under μ-GDP the Rényi
        divergence of order α is at most that of N(0, 1) and N(μ, 1), which is αμ²/2 = αρ.

        Parameters
        ----------
        rho : number or text
            ρ, from 5e-9 to 12.5.
        gap : number or text
            As for `gaussian`.

        References
        ----------
        [Bun2016], Definition 1.1 and Proposition 1.6; docs/theory.md#shapes.
        """
        return cls.gaussian(zcdp_mean(rho), gap=gap)

    @classmethod
    @checked
    def from_tradeoff(cls, points: Any) -> Privacy:
        """Ask for a trade-off function: the least type II error β of a test between neighbours at a type I error α.

        Parameters
        ----------
        points : sequence of pairs, or array of shape (k, 2)
            (α, β) with 0 ≤ β ≤ 1 − α, in any order; the function is straight between them, so points
            of a smooth function ask for slightly more privacy than the function. From α = 0 either to where β = 0 (all
            of it), or to where β = α (one half; the other half is its mirror image). Numbers are exact; a float is
            read as its shortest decimal.

        Returns
        -------
        Privacy
            One pair (ε, δ) for each straight piece up to the diagonal: e^ε is minus its slope, 1 − δ where it meets
            α = 0.

        Raises
        ------
        BadInput
            For a function that is not convex, not symmetric, above 1 − α, or 0 at α = 0.

        Examples
        --------
        >>> Privacy.from_tradeoff([(0, "9/10"), ("3/10", "3/10")]) == Privacy(ratio=2, delta="1/10")
        True
        >>> len(Privacy.from_tradeoff([(0, 1), (0.1, 0.6), (0.25, 0.25)]).pairs)
        2

        References
        ----------
        [Dong2022]; docs/theory.md#shapes; proofs/shapes.md.
        """
        return cls.of(pairs_of_tradeoff(points))

    @classmethod
    @checked
    def of(cls, pairs: tuple[Pair, ...]) -> Privacy:
        """Take pairs as they are: by falling ratio, none of which follows from the others."""
        made = object.__new__(cls)
        made._set(pairs)
        return made

    @checked
    def coarsened(self, pairs: int) -> Privacy:
        """Return at most so many pairs that imply these and ask for hardly more.

        A linear program has constraints for every pair. `irisdp.design` takes fewer pairs by itself where there are
        too many for it, and the mechanism's `privacy` says which.

        Parameters
        ----------
        pairs : int
            From 1 up. The most that u becomes lower by falls with its square.

        Examples
        --------
        >>> curve = Privacy.gaussian(1)
        >>> few = curve.coarsened(8)
        >>> len(curve.pairs), len(few.pairs), few.implies(curve)
        (506, 8, True)
        """
        most = integer(pairs, "pairs", at_least=1)
        return self if len(self.pairs) <= most else Privacy.of(fewer_pairs(self.pairs, most))

    @property
    def single(self) -> bool:
        """Whether this is one pair (ε, δ)."""
        return len(self.pairs) == 1

    @property
    def ratio(self) -> Fraction:
        """The r of a single pair."""
        return self._only().ratio

    @property
    def delta(self) -> Fraction:
        """The δ of a single pair."""
        return self._only().delta

    @property
    def epsilon(self) -> Fraction:
        """The ε to charge for a single pair."""
        return self._only().epsilon

    @property
    def pure(self) -> Privacy:
        """The same ratio with δ = 0."""
        return self.with_delta(Fraction(0))

    @checked
    def with_delta(self, delta: Any) -> Privacy:
        """Keep the ratio and the charge, and change δ."""
        only = self._only()
        return Privacy.of((Pair(only.ratio, _delta(delta), only.epsilon),))

    def __str__(self) -> str:
        """Write (ε, δ) for people; of many pairs the first and the last."""
        if len(self.pairs) > _MOST_SHOWN:
            first, last = (
                f"(ε = {short_text(end.epsilon)}, δ = {short_text(end.delta)})"
                for end in self.pairs[:: len(self.pairs) - 1]
            )
            return f"{len(self.pairs)} pairs, from {first} to {last}"
        if self.single:
            return str(self.pairs[0])
        return " and ".join(f"({pair})" for pair in self.pairs)

    @property
    def shape(self) -> Shape:
        """The operator u in pieces, and the profile of the guarantee."""
        if self._shape is None:
            object.__setattr__(self, "_shape", shape_of(self.pairs))
        assert self._shape is not None
        return self._shape

    @checked
    def implies(self, other: Privacy) -> bool:
        """Tell whether every mechanism with this guarantee has the other one, exactly."""
        return all(self.shape.delta_at(pair.ratio) <= pair.delta for pair in other.pairs)

    @checked
    def delta_at(self, *, epsilon: Any = None, ratio: Any = None) -> Fraction:
        """Return the smallest δ promised at an ε (at e^ε rounded down) or a ratio, at least 1."""
        return self.shape.delta_at(Privacy(epsilon=epsilon, ratio=ratio).ratio)

    @checked
    def ratio_at(self, delta: Any) -> Fraction | None:
        """Return the smallest ratio promised with a δ; None where no ratio is."""
        return self.shape.ratio_at(_delta(delta))

    @checked
    def epsilon_at(self, delta: Any) -> Fraction | None:
        """Return log(`ratio_at`), rounded up to 30 decimals; None where no ε is promised."""
        ratio = self.ratio_at(delta)
        return None if ratio is None else log_above(ratio)

    def _summary(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Show the pairs in a notebook, and what they let an adversary guess."""
        shown = self.pairs[: _MOST_PAIRS_SHOWN - 1]
        last = self.pairs[len(shown) :][-1:]
        rows = [(short_text(one.epsilon), short_text(one.delta), short_text(one.ratio)) for one in (*shown, *last)]
        if len(self.pairs) > _MOST_PAIRS_SHOWN:
            rows.insert(-1, ("…",) * 3)
        return html_table(f"{self}; {even_odds(self.shape.delta_at(Fraction(1)))}", ["ε", "δ", "e^ε"], rows)

    def _set(self, pairs: tuple[Pair, ...]) -> None:
        object.__setattr__(self, "pairs", pairs)
        object.__setattr__(self, "_shape", None)

    def _only(self) -> Pair:
        if len(self.pairs) != 1:
            raise BadInput("privacy", f"holds {len(self.pairs)} pairs, and this needs one", _ONE_PAIR)
        return self.pairs[0]


_ONE_PAIR = "give epsilon and delta; epsilon_at and delta_at say which pairs follow"
_SORTED = "list pairs by falling epsilon and rising delta"

_MOST_SHOWN = 3
_MOST_PAIRS_SHOWN = 6


def _given(value: Any, field: str) -> Fraction:
    """Read a number that people wrote; fractions are what the library computed, or a caller did."""
    number = rational(value, field)
    bits = max(number.numerator.bit_length(), number.denominator.bit_length())
    if bits > LONGEST and not isinstance(value, Fraction):
        raise BadInput(field, f"has more than {LONGEST} bits above or below the line", "write a shorter number")
    return number


def _delta(value: Any) -> Fraction:
    delta = _given(value, "delta")
    if not 0 <= delta < 1:
        raise BadInput("delta", "must be at least 0 and below 1", "give a small probability such as 1e-6")
    return delta


# Refuse guarantees under which no answer can depend on the data: ε must be above 0, or δ must be.


def informative(*, epsilon: Any = None, ratio: Any = None, delta: Any = 0, field: str | None = None) -> Privacy:
    """Read one guarantee for answers that are to say something.

    `Privacy` itself may have ε = 0, as a sum of charges may. A request for less is refused at once with the least value
    at which answers carry information, instead of one at 0 that would be refused again.

    Parameters
    ----------
    epsilon, ratio, delta : number or text
        As for `Privacy`.
    field : str, optional
        What the caller calls the number that is wrong, where it is no option of that name.

    Returns
    -------
    Privacy
        With ε above 0 wherever δ is 0.

    Raises
    ------
    BadInput
        For other numbers.

    Examples
    --------
    >>> informative(epsilon="1/2").epsilon
    Fraction(1, 2)
    >>> informative(ratio=1, delta="1/10").delta
    Fraction(1, 10)
    """
    called, value, least = ("ratio", ratio, 1) if epsilon is None else ("epsilon", epsilon, 0)
    name = field or called
    if value is not None:
        number = rational(value, name)
        if number < least or (number == least and rational(delta, "delta") == 0):
            raise too_private(name, least)
    try:
        return Privacy(epsilon=epsilon, ratio=ratio, delta=delta)
    except BadInput as error:
        if error.field != called:
            raise
        raise BadInput(name, error.rule, error.remedy) from None


def too_private(field: str, least: int = 0, why: str = "") -> BadInput:
    """Return the refusal of an ε at which answers say nothing.

    Parameters
    ----------
    field : str
        What the caller calls it.
    least : int
        0; or 1, of an e^ε.
    why : str
        Further text, to be read after the number.
    """
    rule = f"must be above {least}: at {least}{why} an answer says nothing"
    return BadInput(field, rule, f"give for example {least + 1}")


# Find stricter guarantees close to a given one, to compute with shorter numbers or to pay for rounding.


def workable(privacy: Privacy) -> Privacy:
    """Return the guarantee with short ratios, each at most as large; see `exact.short.workable_ratio`.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    """
    return changed(privacy, lambda pair: replace(pair, ratio=workable_ratio(pair.ratio)))


def tightened(privacy: Privacy, margin: Fraction) -> Privacy:
    """Keep back so much of (r − 1)/r and of δ, in every pair.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    margin : Fraction
        At least 0 and below 1.
    """
    return changed(
        privacy,
        lambda pair: replace(
            pair,
            ratio=max(Fraction(1), pair.ratio - (pair.ratio - 1) * margin / pair.ratio),
            delta=pair.delta * (1 - margin),
        ),
    )


def changed(privacy: Privacy, change: Callable[[Pair], Pair]) -> Privacy:
    """Change every pair, and leave out what then follows from the others.

    Parameters
    ----------
    privacy : Privacy
        One pair or several.
    change : callable
        From a pair to another. A smaller ratio does not become the larger one, and a larger δ stays larger.
    """
    pairs = [change(pair) for pair in privacy.pairs]
    place = 0
    while place < len(pairs):
        if place and (pairs[place - 1].ratio <= pairs[place].ratio or follows(pairs, place)):
            del pairs[place]
            place -= 1  # the one before has a new neighbour
        else:
            place += 1
    return privacy if tuple(pairs) == privacy.pairs else Privacy.of(tuple(pairs))
