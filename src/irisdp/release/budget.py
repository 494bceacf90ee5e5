"""Check whether a cost fits in the remaining budget, and word the refusal if it does not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..accounting import Charge
from ..errors import BudgetRefused
from ..exact import told_above, told_below

__all__ = ["check_budget", "spelt"]


def check_budget(limit: Charge | None, spent: Charge, cost: Charge) -> None:
    """Refuse a cost that does not fit in what is left."""
    total = spent + cost  # without a limit, too: a total that is too long to be written must not come about
    if limit is None or total.fits_in(limit):
        return
    left = limit.left_after(spent)
    parts = {"limit": limit.to_document(), "left": left.to_document(), "cost": cost.to_document()}
    said = {"limit": spelt(limit, told_below), "left": spelt(left, told_below), "cost": spelt(cost, told_above)}
    less, call = _REMEDIES[limit.__slots__[0]]
    raise BudgetRefused(
        f"not enough budget: the answer costs {said['cost']}; left is {said['left']}; the limit is {said['limit']};"
        f" ask with less ({less}), raise the limit ({call}) if what you promised the"
        " people in the data allows it, or ask again what was answered: that is free",
        **parts,
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
