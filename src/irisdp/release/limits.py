"""The most that may be spent, as callers name it: ε, or ε and δ, or μ, or ρ; it says what a ledger counts in."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..errors import BadInput
from ..exact import meant_decimal, rational

__all__ = ["limit_of", "named_limit"]

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
    found = Cost(*parts)
    if found.delta >= 1:
        raise BadInput(name, "has a δ of 1 or more, which guarantees nothing", "give a probability such as 1e-6")
    return found


def _in_range(value: Any, name: str, largest: Fraction) -> Fraction:
    number = rational(value, name)
    if not 0 < number <= largest:
        raise BadInput(name, f"must be above 0 and at most {largest}", "give for example 1")
    return number
