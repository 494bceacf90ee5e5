"""The most that may be spent, as callers name it: ε, or ε and δ, or μ, or ρ; it says what a ledger counts in."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .._exact import meant_decimal, rational, told_above, told_below
from ..accounting import CURRENCIES, Charge, ConcentratedCost, Cost, Currency, GaussianCost, as_pair
from ..errors import BadInput, BudgetRefused
from .partitions import Spending


def check_budget(limit: Charge | None, spending: Spending, cost: Charge, partition: str | None = None) -> None:
    """Refuse a cost, of a question about a partition or about the whole table, that does not fit in what is left."""
    # Without a limit, too: a total that is too long to be written must not come about.
    total = spending.after(partition, cost).total
    if limit is None or total.fits_in(limit):
        return
    # Where a limit was lowered below what another partition has spent, nothing is left for any.
    left = limit.left_after(spending.about(partition) if spending.total.fits_in(limit) else spending.total)
    parts = {"limit": limit.to_document(), "left": left.to_document(), "cost": cost.to_document()}
    said = {"limit": spelt(limit, told_below), "left": spelt(left, told_below), "cost": spelt(cost, told_above)}
    less, call = _REMEDIES[limit.__slots__[0]]
    raise BudgetRefused(
        f"not enough budget: the answer costs {said['cost']}; {said['left']} is left; the limit is {said['limit']};"
        f" ask with less ({less}), raise the limit ({call}) if what you promised the"
        " people in the data allows it, or repeat an answered question, which is free",
        **parts,
    )


def check_most(most: Charge | None, cost: Charge) -> None:
    """Refuse a charge above the most that the caller allows; only nothing is comparable in every currency.

    Raises
    ------
    BudgetRefused
        Where it is more.
    BadInput
        Where it is in another currency than the ledger counts in.
    """
    if most is None or cost.is_nothing:
        return
    if not most.is_nothing and type(most) is not type(cost):
        here, there = (next(each.name for each in CURRENCIES if each.cost is type(one)) for one in (cost, most))
        rule = f"is in {there}, and the ledger counts in {here}"
        raise BadInput("max_charge", rule, "write it as a limit of that ledger, such as 1 or rho=1/2")
    if most.is_nothing or not cost.fits_in(most):
        allowed = "nothing" if most.is_nothing else spelt(most, told_below)
        raise BudgetRefused(
            f"the charge would be {spelt(cost, told_above)}, and max_charge= allows {allowed}; nothing was spent;"
            " raise it, or leave it out",
            max_charge=most.to_document(),
            cost=cost.to_document(),
        )


def spelt(charge: Charge, tell: Callable[[str, Fraction], str]) -> str:
    """Write each number behind its name, as those who ask spell it."""
    named = zip(charge.to_document(), charge.numbers, strict=True)
    return ", ".join(tell(name.replace("_", " "), number).replace(" = ", " ") for name, number in named)


_REMEDIES = {
    "epsilon": ("epsilon=, delta=", "Ledger(path).set_limit(E, D)"),
    "mu_squared": ("epsilon= or mu=", "Ledger(path).set_limit(mu=M)"),
    "rho": ("epsilon= or mu=", "Ledger(path).set_limit(rho=R)"),
}
"""By the first number of a currency, what to ask with less of, and how a limit is raised."""


_LARGEST_MU = 1000
_LARGEST_RHO = Fraction(_LARGEST_MU**2, 2)
_SEVERAL = re.compile(r"[0-9.][\s;:|&+]+[0-9.]")
"""Two numbers with something else than a comma between."""
_WRITE = "write for example limit=1, limit=[1, '1e-6'], limit='mu=1' or limit='rho=1/2'"


def limit_of(*, epsilon: Any = None, delta: Any = 0, mu: Any = None, rho: Any = None) -> Charge:
    """Read a limit in one currency.

    Raises
    ------
    BadInput
        For none or several of ε, μ and ρ, a δ beside μ or ρ, a μ that is not above 0 or above 1000, and a ρ likewise.
    """
    given = [name for name, value in (("epsilon", epsilon), ("mu", mu), ("rho", rho)) if value is not None]
    if len(given) != 1:
        rule = f"names {len(given)} currencies, and a ledger counts in one" if given else "is missing"
        raise BadInput("limit", rule, "give epsilon and delta, or mu, or rho")
    if epsilon is not None:
        return _in_both([rational(epsilon, "epsilon"), rational(delta, "delta")], "delta")
    if delta != 0:
        raise BadInput("delta", f"belongs to epsilon, and the limit is in {given[0]}", "leave it out")
    if mu is not None:
        return GaussianCost(_in_range(mu, "mu", Fraction(_LARGEST_MU)) ** 2)
    return ConcentratedCost(_in_range(rho, "rho", _LARGEST_RHO))


def named_limit(limit: Any) -> Charge:
    """Read the most that may be spent as callers name it: ε, ε and δ, text such as "mu=1" or "rho=1/2", or a cost.

    Raises
    ------
    BadInput
        About `limit`, whichever of its parts is wrong.
    """
    if isinstance(limit, Charge):
        return limit
    meant = meant_decimal(limit) if isinstance(limit, str) else None
    if isinstance(limit, str):
        limit = limit.split(",")
    parts = limit if isinstance(limit, list | tuple) else (limit,)
    named = [part.partition("=") for part in parts if isinstance(part, str) and "=" in part]
    names = [name.strip() for name, _, _ in named]
    if not set(names) <= {"mu", "rho"}:
        raise BadInput("limit", "has a name that is neither mu nor rho", _WRITE)
    if len(set(names)) > 1:
        raise BadInput("limit", "names two currencies, and a ledger counts in one", _WRITE)
    if len(parts) not in ((1,) if named else (1, 2)):
        raise BadInput("limit", f"must be {names[0]} alone" if named else "must be ε, or ε and δ", _WRITE)
    try:
        if named:
            return limit_of(**{names[0]: named[0][2]})
        return _in_both([rational(part, "limit") for part in parts], "limit")
    except BadInput as error:
        about = f"{error.field} " if named else ""
        several = not named and any(isinstance(part, str) and _SEVERAL.search(part.strip()) for part in parts)
        remedy = "write ε and δ with a comma between, such as 1,1e-6" if several else error.remedy
        if meant is not None:
            remedy = f"write the limit {meant}, or ε and δ with a comma between, such as 1,1e-6"
        raise BadInput("limit", about + error.rule, remedy) from None


def _in_both(parts: list[Fraction], name: str) -> Cost:
    """Return a limit on ε, or on ε and δ."""
    result = Cost(*parts)
    if result.delta >= 1:
        raise BadInput(name, "has a δ of 1 or more, which guarantees nothing", "give a probability such as 1e-6")
    return result


def _in_range(value: Any, name: str, largest: Fraction) -> Fraction:
    number = rational(value, name)
    if not 0 < number <= largest:
        raise BadInput(name, f"must be above 0 and at most {largest}", "give for example 1")
    return number


# Convert the total of a ledger in μ or ρ to an (ε, δ), for people who know these.

SHOWN_DELTA = "1e-6"
"""δ at which a ledger in μ or ρ says what it comes to in ε."""


def statement(currency: Currency, limit: Charge | None, spent: Charge) -> dict[str, Any]:
    """Return the (ε, δ) of totals in μ or ρ; empty for a ledger that counts in (ε, δ)."""
    if currency.refines:
        return {}
    costs = {"spent": spent, "limit": limit}
    pairs = {name: cost and as_pair(cost, SHOWN_DELTA).to_document() for name, cost in costs.items()}
    return {"currency": currency.name, "as_pair": pairs}
