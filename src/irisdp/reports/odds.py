"""What a release may tell about one person, as odds that anybody can follow: before, and after at most and at least.

Under (ε, 0) odds are multiplied by at most r = e^ε, or divided by it, whatever was thought before and known besides.
Under (ε, δ) this holds for no single answer. All answers together reveal at most as much as answers that reveal all
with probability δ, and otherwise satisfy it (proofs/dominating-pair.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import flint

from ..accounting import Charge, Cost
from ..exact import ball, enclosure_of, rational_text, short_above
from ..queries import Relation
from ..release.risk import delta_means, risk_of

__all__ = ["Odds", "odds_of"]

_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
_CERTAIN = Fraction(1000)
"""From this ε on everything may be told, to many more digits than are shown."""
_WIDTH = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class Odds:
    """What a cost means.

    Parameters
    ----------
    sentences : tuple of str
        In words.
    asks : str
        What somebody may want to know of a person.
    moved : tuple
        How likely that seemed before, and what it may at least and at most seem after; empty where there is no bound
        for each answer.
    times : Fraction or None
        By what odds are multiplied, or divided, at most: e^ε rounded up; None where there is no bound for each answer.
    """

    sentences: tuple[str, ...]
    asks: str
    moved: tuple[tuple[str, str, str], ...]
    times: Fraction | None = None


def odds_of(cost: Charge, relation: Relation, unit: str | None) -> Odds:
    """Say what a cost means for one person, whose records are those of one value of `unit`, or one record."""
    risk = risk_of(cost, relation, unit)
    words = risk.describe()
    averaged = f"{words[0].upper()}{words[1:]}, averaged over what may be published."
    if not isinstance(cost, Cost):
        return Odds((averaged,), risk.asks, ())
    moves = f"odds by at most {_factor(cost.epsilon)}, or divide them by it"
    who = f"Whatever anybody knows or thinks of one {'record' if unit is None else 'person'}, these answers"
    if cost.delta:
        rare = f"tell all with a probability of {short_above(cost.delta)}"
        pair = f"{who} tell no more, on the whole, than answers that {rare}, and otherwise multiply {moves}."
        means = delta_means(cost.delta)
        return Odds((pair, f"{means[0].upper()}{means[1:]}.", averaged), risk.asks, ())
    epsilon = min(cost.epsilon, _CERTAIN)
    moved = tuple(
        (f"{rational_text(100 * prior)} %", _after(prior, -epsilon, floor), _after(prior, epsilon, ceil))
        for prior in _PRIORS
    )
    times = _times(epsilon) if epsilon == cost.epsilon else None
    return Odds((f"{who} multiply {moves}.", f"So {words}."), risk.asks, moved, times)


def _factor(epsilon: Fraction) -> str:
    """Write e^ε, rounded up."""
    if epsilon > 20:
        return f"e^{rational_text(epsilon) if len(rational_text(epsilon)) < 12 else short_above(epsilon)}"
    return f"{rational_text(Fraction(ceil(_times(epsilon) * 100), 100))} (e^ε)"


def _times(epsilon: Fraction) -> Fraction:
    return enclosure_of(lambda: ball(epsilon).exp(), width=_WIDTH).upper


def _after(prior: Fraction, epsilon: Fraction, rounding: Callable[[Fraction], int]) -> str:
    """Write p·r / (1 − p + p·r) for r = e^ε, rounded outward."""

    def chance() -> flint.arb:
        return ball(prior) / (ball(prior) + ball(1 - prior) * ball(-epsilon).exp())

    found = enclosure_of(chance, width=_WIDTH)
    # Near certainty the enclosure reaches beyond it, and no probability does.
    return _percent(min(found.upper, Fraction(1)) if rounding is ceil else max(found.lower, Fraction(0)), rounding)


def _percent(chance: Fraction, rounding: Callable[[Fraction], int]) -> str:
    """Write a probability in per cent.

    Examples
    --------
    >>> _percent(Fraction(1, 3), floor), _percent(Fraction(1, 3), ceil)
    ('33.33 %', '33.34 %')
    """
    whole, hundredths = divmod(rounding(chance * 10_000), 100)
    return f"{whole}.{hundredths:02} %"
