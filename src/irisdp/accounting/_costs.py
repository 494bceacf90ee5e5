"""What every charge has in common, whatever its currency: exact numbers that add up one by one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any, Self

from .._exact import checked, rational, rational_text, short_above, short_below, short_text, told_above, told_below
from .._frames import html_table
from .._lazy import renamed_method
from ..errors import BadInput

LONGEST_COST = 4096
"""Bits of a numerator or denominator, so that every total can be written in decimal."""


class Charge:
    """A privacy cost in one currency; the numbers are the fields of the subclass, exact and at least 0.

    Charges of one currency add up and compare number by number. Of two currencies they do neither: there is no sum.
    """

    __slots__: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is no exact, non-negative number; a negative charge would give budget back."""
        for name, given in self._items():
            number = rational(given, name)
            if number < 0:
                raise BadInput(name, "must not be negative", "write a cost that is at least 0")
            if max(number.numerator, number.denominator).bit_length() > LONGEST_COST:
                raise BadInput(name, f"adds up to more than {LONGEST_COST} bits", "write costs as short decimals")
            object.__setattr__(self, name, number)

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """The numbers, in the order of the fields."""
        return tuple(number for _, number in self._items())

    def _repr_html_(self) -> str:
        """Show the cost in a notebook, number by number."""
        return html_table(str(self), ["number", "cost"], [(name, short_text(number)) for name, number in self._items()])

    def __add__(self, other: Self) -> Self:
        """Add number by number: what both releases cost together."""
        return type(self)(*(mine + theirs for mine, theirs in self._beside(other)))

    def __mul__(self, times: int) -> Self:
        """Charge the same several times."""
        return type(self)(*(number * times for number in self.numbers))

    def beyond(self, other: Self) -> Self:
        """Return what is left to charge where another cost was charged already, and never less than nothing."""
        return type(self)(*(max(mine - theirs, Fraction(0)) for mine, theirs in self._beside(other)))

    def left_after(self, spent: Self) -> Self:
        """Return what is left of this limit: nothing of any number where one of them is overspent.

        Nothing can be charged then, not even what fits in the others.
        """
        return self.beyond(spent) if spent.fits_in(self) else self * 0

    def at_least(self, other: Self) -> Self:
        """Return the larger of both, number by number."""
        return type(self)(*(max(mine, theirs) for mine, theirs in self._beside(other)))

    def fits_in(self, limit: Self) -> bool:
        """Tell whether no number exceeds the limit's."""
        return all(mine <= most for mine, most in self._beside(limit))

    def __str__(self) -> str:
        """Write the numbers for people: exactly where they are short, else rounded up."""
        return self.told(told_above)

    @abstractmethod
    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write the numbers for people with `tell`: `told_below` for remaining, `told_exactly` for stored amounts."""

    @property
    def is_nothing(self) -> bool:
        """Whether all numbers are 0."""
        return not any(self.numbers)

    def as_charged(self) -> str:
        """Write it for people as the cost of an answer; a charge of 0 is shown as no cost.

        Examples
        --------
        >>> from irisdp.accounting import Cost
        >>> Cost(0, 0).as_charged(), Cost("1/2").as_charged()
        ('nothing', 'ε = 0.5, δ = 0')
        """
        return "nothing" if self.is_nothing else str(self)

    def as_new(self) -> str:
        """Say that no more than this is new of what something costs.

        Examples
        --------
        >>> from irisdp.accounting import Cost
        >>> Cost(0, 0).as_new(), Cost("1/2").as_new()
        ('nothing is new', 'only ε = 0.5, δ = 0 is new')
        """
        return "nothing is new" if self.is_nothing else f"only {self} is new"

    def to_document(self) -> dict[str, str]:
        """Return the numbers as exact text."""
        return {name: rational_text(number) for name, number in self._items()}

    def _items(self) -> list[tuple[str, Any]]:
        return [(name, getattr(self, name)) for name in self.__slots__]

    def _beside(self, other: Self) -> list[tuple[Fraction, Fraction]]:
        if type(other) is not type(self):
            raise BadInput("cost", "is in another currency, and costs of two currencies do not add up", "convert one")
        return list(zip(self.numbers, other.numbers, strict=True))


@checked
@dataclass(frozen=True, slots=True)
class Cost(Charge):
    """A privacy cost (ε, δ), both exact and at least 0; costs add up and compare component by component."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write both components for people."""
        return f"{tell('ε', self.epsilon)}, {tell('δ', self.delta)}"

    document = renamed_method("document", "to_document")


# Costs of one number: μ² of Gaussian differential privacy, and ρ of zero-concentrated differential privacy.

_BITS = 64
"""To which a root is found that is no rational."""


@checked
@dataclass(frozen=True, slots=True)
class GaussianCost(Charge):
    """What μ-Gaussian privacy costs: μ², which adds up; releases of μ_1, …, μ_k are √(μ_1² + … + μ_k²)-GDP together.

    References
    ----------
    [Dong2022], Corollary 2; proofs/filters.md, claim 1.
    """

    mu_squared: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write μ² for people, and the μ that it is the square of."""
        below, above = _roots(self.mu_squared)
        if below == above:
            mean = tell("μ", below)
        elif tell in (told_above, told_below):  # which way it is rounded
            mean = f"μ ≤ {short_above(above)}" if tell is told_above else f"μ ≥ {short_below(below)}"
        else:
            mean = f"μ ≈ {short_text(below)}"
        return f"{tell('μ²', self.mu_squared)} ({mean})"


@checked
@dataclass(frozen=True, slots=True)
class ConcentratedCost(Charge):
    """What ρ-zero-concentrated differential privacy costs: ρ, which adds up.

    References
    ----------
    [Bun2016], Definition 1.1 and Lemma 1.7; proofs/filters.md, claim 2.
    """

    rho: Fraction = Fraction(0)

    def told(self, tell: Callable[[str, Fraction], str]) -> str:
        """Write ρ for people."""
        return tell("ρ", self.rho)


def _roots(square: Fraction) -> tuple[Fraction, Fraction]:
    """Return the square root twice where it is rational, else a number just below it and one just above."""
    exact = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if exact**2 == square:
        return exact, exact
    whole, parts = isqrt(square.numerator * square.denominator << 2 * _BITS), square.denominator << _BITS
    return Fraction(whole, parts), Fraction(whole + 1, parts)
