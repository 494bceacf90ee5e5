"""Lines about a question before anything is spent: the accuracy, ε against error, and the risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import fact

if TYPE_CHECKING:
    from ..release import Plan

__all__ = ["expectations", "show_expectations", "show_within"]


def expectations(planned: Plan) -> dict[str, Any]:
    """Return ε against error, and the risk, JSON-ready."""
    return {
        "error_by_level": [row.to_document() for row in planned.errors_around()],
        "risk": planned.risk.to_document(),
    }


def show_within(planned: Plan) -> None:
    """Show what the error that was asked for takes."""
    from ..accounting import Cost
    from ..release.risk import MUCH, delta_means

    if planned.within is not None:
        _show("within", planned.within.says)
        if planned.within.confidence == 1 and isinstance(planned.cost, Cost):
            needs_less = "; a larger K or ε needs less, and --delta D refuses more than D"
            _show("δ means", delta_means(planned.cost.delta) + needs_less * (planned.cost.delta > MUCH))


def show_expectations(planned: Plan) -> None:
    """Show the same for people."""
    from ..release.errors_around import in_columns

    show_within(planned)
    for place, line in enumerate(in_columns(planned.errors_around())):
        _show("" if place else "other ε", line)
    _show("risk", planned.risk.describe())


def _show(heading: str, said: str) -> None:
    fact(heading, said)
