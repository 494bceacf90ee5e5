"""Kinds of noise that a batch chooses from: what answers at a share of the privacy, and what it adds to the total.

To let a batch choose another kind, write a class that keeps `NoiseKind` in a file of its own, and let `choices` try it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from ...accounting import EPSILON_DELTA
from ...cells import PartitionSelection
from ...exact import told_above
from ...privacy import Privacy
from ...queries import independent_parts
from ..audiences import Audience
from ..plans import Plan

__all__ = ["NoiseKind", "OwnNoise", "parts_of", "selector_at", "weighted"]


class NoiseKind(Protocol):
    """One way of answering a question of a batch at its share of the common scale.

    Attributes
    ----------
    name : str
        For people, and for the release file of the answers.
    adds_up : bool
        Whether each question has a cost (ε, δ) of its own, so that costs may simply be added.
    """

    @property
    def name(self) -> str:
        """For people."""

    @property
    def adds_up(self) -> bool:
        """Whether the `cost` of each plan bounds what its answers tell."""

    def allows(self, share: Fraction) -> bool:
        """Tell whether there is such noise at a share; if not at one, then at no larger, or at no smaller one."""
        ...

    def describe(self, scale: Fraction) -> str:
        """Say what a question's weight comes to at a scale, for people."""
        ...

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with the noise that it has at this share: twice the share is about half the noise."""
        ...

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return what a plan of `at` enters `irisdp.accounting.total` as, whichever way a neighbour moves.

        Each entry is a guarantee, a mechanism or a privacy-loss distribution (`irisdp.certify.LossLaw`), and how often
        it occurs. Raising the share never makes the total smaller.
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

    def allows(self, share: Fraction) -> bool:
        """Tell that there always is."""
        return True

    def describe(self, scale: Fraction) -> str:
        """Say what weights come to."""
        return weighted("ε", scale)

    def at(self, planned: Plan, share: Fraction) -> Plan:
        """Return the plan with each cell's mechanism, and the selection, at ε = share."""
        before = _pair_of(planned)
        mechanism = planned.query.mechanism(Privacy(epsilon=share, delta=before.delta), planned.asked.cell_relation)
        changed = replace(planned, audiences=(Audience(None, mechanism),), selector=selector_at(planned, share))
        return replace(changed, cost=changed.cost_in(EPSILON_DELTA))

    def items(self, planned: Plan) -> list[tuple[Any, int]]:
        """Return the guarantees of the cells that one neighbour moves, and of the selection."""
        return parts_of(planned)


def weighted(name: str, scale: Fraction) -> str:
    """Say what a question's weight comes to: exactly where that is short, else what it is at most.

    Examples
    --------
    >>> weighted("ε", Fraction(1, 4)), weighted("μ", Fraction(123456789, 370370369))
    ('ε = weight × 0.25', 'μ ≤ weight × 0.333334')
    """
    _, sign, most = told_above(name, scale).split(" ", 2)
    return f"{name} {sign} weight × {most}"


def selector_at(planned: Plan, share: Fraction) -> PartitionSelection | None:
    """Return the selection of groups, if there is one, at ε = share and its own δ."""
    if planned.selector is None:
        return None
    return replace(planned.selector, privacy=Privacy(epsilon=share, delta=planned.selector.privacy.delta))


def parts_of(planned: Plan) -> list[tuple[Any, int]]:
    """Return the guarantees of the cells that one neighbour moves, and of the selection, and how often each occurs."""
    return list(
        independent_parts(
            planned.audiences[0].mechanism.privacy,
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
