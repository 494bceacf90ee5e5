"""What the selection of groups may reveal, beside what the answers may."""

from __future__ import annotations

from typing import Any

from ..cells import PartitionSelection
from ..errors import BadInput
from ..privacy import Guarantee, Privacy, as_pairs

__all__ = ["read_selection", "without_delta"]


def read_selection(guarantee: Guarantee, epsilon: Any, delta: Any) -> PartitionSelection:
    """Read a selection's privacy: that of the cells, where nothing of its own is said.

    Parameters
    ----------
    guarantee : Guarantee
        Of the cells.
    epsilon, delta : number or text, optional
        Of the selection alone. Beside one pair either may be left out; beside several, or Gaussian privacy, both or
        none.

    Raises
    ------
    BadInput
        Where no group may ever be named: with a δ of 0, and so under Gaussian privacy.
    """
    if isinstance(guarantee, Privacy) and guarantee.single:
        own = guarantee if epsilon is None else Privacy(epsilon=epsilon, delta=guarantee.delta)
        own = own if delta is None else own.with_delta(delta)
        if own.delta == 0:
            remedy = "give a small probability such as 1e-6, or groups="
            raise BadInput("delta", "must be above 0 to select groups privately", remedy)
        return PartitionSelection(own)
    if epsilon is None and delta is None:
        return PartitionSelection(as_pairs(guarantee))
    for name, value in (("selection_epsilon", epsilon), ("selection_delta", delta)):
        if value is None:
            rule = "is missing: the cells keep no single pair that it could be taken from"
            raise BadInput(name, rule, "give both selection_epsilon= and selection_delta=")
    return PartitionSelection(Privacy(epsilon=epsilon, delta=delta))


def without_delta(guarantee: Guarantee) -> Guarantee:
    """Return what is left to the cells where the selection takes all of a pair's δ."""
    return guarantee.pure if isinstance(guarantee, Privacy) and guarantee.single else guarantee
