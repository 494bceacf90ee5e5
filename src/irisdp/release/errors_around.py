"""A small table of ε against error, from public facts alone: what a little more, or a little less, would buy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..accounting import Charge
from ..catalogue import FORMS
from ..cells import CellMechanism, least_distance
from ..cells.wording import short
from ..errors import BadInput
from ..exact import Enclosure, float_above, rational_text, short_above, shown_above, shown_below
from ..privacy import Gaussian, Guarantee, Privacy
from ..queries import Query, Relation

__all__ = ["ErrorAt", "errors_around", "in_columns"]

_FACTORS = (Fraction(1, 4), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
_LIKELY = Fraction(19, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAt:
    """How far off answers would be at another ε, or μ.

    Attributes
    ----------
    privacy : Guarantee
        Of each answer.
    cost : Charge
        Of the whole release.
    mean : float or None
        The mean absolute error, where answers are numbers.
    at_worst : float or None
        The probability of a right answer at worst, where answers are names.
    likely : int or float or None
        What 95 % of answers stay within; of names, from which distance or lead on 95 % are right. None if no number is.
    chance : float or None
        Probability with which answers stay within the requested distance, if one was requested.
    """

    privacy: Guarantee
    cost: Charge
    mean: float | None
    at_worst: float | None
    likely: float | None
    chance: float | None

    @property
    def level(self) -> tuple[str, Fraction]:
        """What is varied, by its name."""
        if isinstance(self.privacy, Gaussian):
            return "mu", self.privacy.mu
        return "epsilon", self.privacy.epsilon

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        name, value = self.level
        shown = {"mean_absolute": self.mean, "right_at_worst": self.at_worst, "for_95_percent": self.likely}
        shown |= {} if self.chance is None else {"chance_within": self.chance}
        told = {key: found for key, found in shown.items() if found is not None or key == "for_95_percent"}
        return {name: rational_text(value), "cost": self.cost.to_document(), **told}


def errors_around(
    query: Query[Any],
    mechanism: CellMechanism[Any],
    *,
    relation: Relation,
    price: Callable[[Guarantee], Charge],
    distance: int | None,
) -> list[ErrorAt]:
    """Return what errors would be at a quarter, half, twice and four times an ε, and at itself.

    None for questions whose mechanisms are searched for at each ε, and for several pairs at once; and of each ε only
    where there is such noise.

    Parameters
    ----------
    query : Query
        The subject of the question.
    mechanism : CellMechanism
        What answers it, at the ε in the middle.
    relation : Relation
        The relation whose graph a cell lives on.
    price : callable
        From what each answer keeps to what the release costs.
    distance : int or None
        How far off answers were to be at most, if that was asked for.
    """
    given = mechanism.privacy
    known = {form.name for form in FORMS if form.within is not None}
    if query.name not in known or (isinstance(given, Privacy) and not given.single):
        return []
    rows = []
    for factor in _FACTORS:
        try:
            privacy = given if factor == 1 else _scaled(given, factor)
            other = mechanism if factor == 1 else query.mechanism(privacy, relation)
            rows.append(_row(other, privacy, price(privacy), distance))
        except BadInput:  # no such noise
            continue
    return rows


def in_columns(rows: Sequence[ErrorAt]) -> list[str]:
    """Write rows as lines of a small table, an ε in each column: rounded up, as errors fall with it."""
    if not rows:
        return []
    names = {"epsilon": "ε", "mu": "μ"}
    table = [(names[rows[0].level[0]], [short_above(row.level[1], 4) for row in rows])]
    if any(row.mean is not None for row in rows):
        table.append(("off by, on average", ["-" if row.mean is None else shown_above(row.mean) for row in rows]))
        table.append(("in 95 % at most", ["-" if row.likely is None else short(row.likely) for row in rows]))
    else:
        worst = [_chance(row.at_worst) for row in rows]
        table.append(("right, at worst", worst))
        table.append(("right in 95 % from", ["-" if row.likely is None else short(row.likely) for row in rows]))
    if any(row.chance is not None for row in rows):
        table.append(("within, as asked", [_chance(row.chance) for row in rows]))
    first = max(len(name) for name, _ in table)
    wide = max(len(cell) for _, cells in table for cell in cells)
    return [f"{name:<{first}}  " + "  ".join(cell.rjust(wide) for cell in cells) for name, cells in table]


def _row(mechanism: CellMechanism[Any], privacy: Guarantee, cost: Charge, distance: int | None) -> ErrorAt:
    error = mechanism.expected_error()
    mean = error.get("mean_absolute")
    worst = None if mean is not None else mechanism.chance_within(0)
    likely = next((error[name] for name in ("within_95_percent", "all_within_95_percent") if name in error), None)
    if mean is None:
        likely = least_distance(mechanism, _LIKELY)
    asked = None if distance is None else mechanism.chance_within(distance)
    return ErrorAt(
        privacy=privacy,
        cost=cost,
        mean=mean,
        at_worst=None if worst is None else _at_least(worst),
        likely=likely,
        chance=None if asked is None else _at_least(asked),
    )


def _at_least(chance: Enclosure) -> float:
    """Return the largest float that a chance surely reaches: never 1 for less."""
    return 0.0 - float_above(-chance.lower)


def _chance(chance: float | None) -> str:
    if chance is None:
        return "-"
    return ">0.999" if 0.999 < chance < 1 else shown_below(chance)


def _scaled(given: Guarantee, factor: Fraction) -> Guarantee:
    if isinstance(given, Gaussian):
        return Gaussian(given.mu * factor)
    return Privacy(epsilon=given.epsilon * factor, delta=given.delta)
