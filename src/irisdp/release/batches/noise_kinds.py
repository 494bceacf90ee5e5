"""Kinds of noise that a batch chooses from: what answers at a share of the privacy, and what it adds to the total.

To let a batch choose another kind, write a class that keeps `NoiseKind` in a file of its own, and name it in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from ...cells import PartitionSelection
from ...privacy import Privacy
from ...queries import independent_parts
from ..audiences import Audience
from ..planning import Plan

__all__ = ["KINDS", "NoiseKind", "OwnNoise"]


class NoiseKind(Protocol):
    """One way of answering all questions of a batch at a common scale.

    Attributes
    ----------
    name : str
        For people, and for the answers' sidecar.
    adds_up : bool
        Whether each question has a cost (ε, δ) of its own, so that costs may simply be added.
    """

    @property
    def name(self) -> str:
        """For people."""

    @property
    def adds_up(self) -> bool:
        """Whether the `cost` of each plan bounds what its answers tell."""

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with the noise that it has at this share: twice the share is about half the noise."""
        ...

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return what a plan of `at` enters `irisdp.accounting.total` as, whichever way a neighbour moves.

        Each entry is a guarantee, a mechanism or a law of losses (`irisdp.certify.LossLaw`), and how often it occurs.
        Raising the share never makes the total smaller.
        """
        ...


@dataclass(frozen=True, slots=True)
class OwnNoise:
    """Each question's own mechanism at ε = share: geometric noise for counts, depth mechanisms for yes or no.

    A selection of groups has the same ε as the answers. What a question was given as δ it keeps at every share.

    References
    ----------
    proofs/batches.md.
    """

    name: str = "geometric"
    adds_up: bool = True

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with each cell's mechanism, and the selection, at ε = share."""
        before = _pair_of(planned)
        mechanism = planned.query.mechanism(Privacy(epsilon=share, delta=before.delta))
        selector = planned.selector
        if selector is not None:
            selector = PartitionSelection(Privacy(epsilon=share, delta=selector.privacy.delta))
        changed = replace(planned, audiences=(Audience(None, mechanism),), selector=selector)
        return replace(changed, cost=changed.cost_at(mechanism.privacy))

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return the guarantees of the cells that one neighbour moves, and of the selection."""
        return list(
            independent_parts(
                _pair_of(planned),
                planned.relation,
                grouped=bool(planned.by),
                public_membership=planned.public_membership,
                exchange_steps=planned.query.exchange_steps,
                selection=planned.selector.privacy if planned.selector else None,
            )
        )


def _pair_of(planned: Plan) -> Privacy:
    """Return the pair that each cell keeps: batches plan every question at one."""
    privacy = planned.audiences[0].mechanism.privacy
    assert isinstance(privacy, Privacy)
    return privacy


KINDS: tuple[NoiseKind, ...] = (OwnNoise(),)
"""All kinds; of those with the least stated error, the first is taken."""
