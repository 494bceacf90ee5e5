"""What a ledger in μ or ρ comes to as an (ε, δ), for people who know these."""

from __future__ import annotations

from typing import Any

from ..accounting import Charge, Currency, as_pair

__all__ = ["statement"]

SHOWN_DELTA = "1e-6"
"""δ at which a ledger in μ or ρ says what it comes to in ε."""


def statement(currency: Currency, limit: Charge | None, spent: Charge) -> dict[str, Any]:
    """Return what μ or ρ come to as an (ε, δ); a ledger that counts in these says so itself."""
    if currency.refines:
        return {}
    costs = {"spent": spent, "limit": limit}
    pairs = {name: cost and as_pair(cost, SHOWN_DELTA).to_document() for name, cost in costs.items()}
    return {"currency": currency.name, "as_pair": pairs}
