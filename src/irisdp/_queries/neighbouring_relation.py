"""What one neighbour's move does to the cells of a question, what that costs, and what it enters exact totals as.

A cell's mechanism is (ε,δ)-private for one step of the cell's graph. A move that touches several cells, or takes
several steps in one, costs more. Steps add up in two ways:

- in different cells the answers are drawn independently: (ε,δ) each, added (basic composition);
- k steps in one cell are group privacy: P(S) ≤ r·P₁(S) + δ ≤ … ≤ r^k·P_k(S) + δ(1 + r + … + r^(k−1)).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from ..accounting import EPSILON_DELTA, Charge, Cost, Currency
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee, Privacy

NOT_OPTIMAL_TOGETHER = "no optimality is claimed at this charge, for each group is answered as if it were alone"
"""The note shown if one record may move between groups and both are charged (docs/theory.md, Scope)."""


@dataclass(frozen=True, slots=True)
class NeighbourMove:
    """One way from a table to a neighbour.

    Attributes
    ----------
    steps : tuple of int
        Steps taken in the graph of each cell that changes.
    resized : int
        Cells whose number of records changes, by one: what partition selection sees.
    """

    steps: tuple[int, ...]
    resized: int


def cell_relation(
    relation: NeighbouringRelation, *, grouped: bool, public_membership: bool = False, several: bool = False
) -> NeighbouringRelation:
    """Return the relation whose graph a cell's mechanism is made for.

    Under exchange a table without groups keeps its size, and so does every group when membership is public. A cell then
    has the exchange graph of its own n records, and n is public. If a record may change its group, a cell sees it come
    or go: the add-remove graph. So it does if persons have several records that count, as one may have fewer than
    another.
    """
    if public_membership and not (grouped and relation == NeighbouringRelation.EXCHANGE):
        raise BadInput(
            "public_membership",
            "is about records that keep their group when they are exchanged",
            "use it with groups and the relation exchange, or leave it out",
        )
    return NeighbouringRelation.ADD_REMOVE if several or (grouped and not public_membership) else relation


def moves(
    relation: NeighbouringRelation,
    *,
    grouped: bool,
    public_membership: bool = False,
    exchange_steps: int = 1,
    record_steps: int = 1,
) -> tuple[NeighbourMove, ...]:
    """List the dearest ways from a table to a neighbour; every other way takes no more steps in the same cells.

    If a person has several records that count, `steps` is the group size of the guarantee. A person who joins or leaves
    takes one step, whatever cells the records are in; so does an exchange in a table of one cell.

    Parameters
    ----------
    relation : NeighbouringRelation
        Of the table.
    grouped, public_membership : bool
        Whether there are groups, and whether it is public which group each record is in.
    exchange_steps : int
        Steps that exchanging a record within a cell takes on the cell's add-remove graph: 2 if a yes can become a no
        and both matter (majority), else 1. Adding or removing a record always takes at most 1.
    record_steps : int
        How many steps of one record a person who joins or leaves may take, where a guarantee is for one record.
    """
    cell_relation(relation, grouped=grouped, public_membership=public_membership)
    if record_steps > 1:
        # In one cell or in several: steps in one cell cost at least as much as so many single steps in several.
        twice = grouped and relation == NeighbouringRelation.EXCHANGE
        return (NeighbourMove((record_steps * (2 if twice else 1),), 0),)
    if relation == NeighbouringRelation.ADD_REMOVE:
        return (NeighbourMove((1,), 1),)
    if not grouped or public_membership:
        return (NeighbourMove((1,), 0),)
    return NeighbourMove((1, 1), 2), NeighbourMove((exchange_steps,), 0)


def total_cost(
    privacy: Guarantee,
    relation: NeighbouringRelation,
    *,
    grouped: bool,
    public_membership: bool = False,
    exchange_steps: int = 1,
    record_steps: int = 1,
    selection: Guarantee | None = None,
    currency: Currency = EPSILON_DELTA,
    delta: Fraction = Fraction(0),
) -> Charge:
    """Return what a release costs whose cells each keep a guarantee for one step of their graph.

    Parameters
    ----------
    privacy : Privacy or Gaussian
        Of each cell's mechanism, for one step of `cell_relation`'s graph.
    record_steps : int
        As for `moves`; beside a selection it is 1.
    selection : Privacy, optional
        Of the partition selection that chose the groups, for one record more or less in one group.
    currency : Currency
        Currency of the cost. [default: ε and δ]
    delta : Fraction
        Where ε and δ are counted: at which δ cells are charged that have more than one pair; 0 stands for none.

    Returns
    -------
    Charge
        The maximum over `moves`, each of them: the steps of every cell by group privacy, plus the selection once per
        resized cell. So add-remove costs (ε,δ) + (ε_s,δ_s); exchange in one cell, or with public membership, (ε,δ);
        exchange between groups (2ε,2δ) + (2ε_s,2δ_s), or for majority (2ε, max{2δ + 2δ_s, (1+r)δ} ) + (2ε_s, 0).
        In μ what adds up is (kμ)² for k steps, and in ρ k²ρ (proofs/filters.md).

    Examples
    --------
    >>> cost = total_cost(Privacy(epsilon=1, delta="1/100"), NeighbouringRelation.EXCHANGE, grouped=True)
    >>> cost.epsilon, cost.delta
    (Fraction(2, 1), Fraction(1, 50))
    """
    if selection is not None and (not grouped or public_membership):
        raise BadInput(
            "select_groups",
            "chooses among private groups, and here there are none or membership is public",
            "use it with group columns whose membership is private, or declare the groups",
        )
    possible = moves(
        relation,
        grouped=grouped,
        public_membership=public_membership,
        exchange_steps=exchange_steps,
        record_steps=record_steps,
    )
    costs = [currency.price(privacy, move.steps, delta) for move in possible]
    if selection is not None:
        chosen = currency.price(selection, (1,), delta)
        costs = [cost + chosen * move.resized for cost, move in zip(costs, possible, strict=True)]
    return reduce(lambda one, other: one.at_least(other), costs)


def independent_parts(
    privacy: Guarantee,
    relation: NeighbouringRelation,
    *,
    grouped: bool,
    public_membership: bool = False,
    exchange_steps: int = 1,
    record_steps: int = 1,
    selection: Privacy | None = None,
) -> tuple[tuple[Guarantee, int], ...]:
    """Return guarantees that stand for a whole release in an exact total, each with how often it occurs.

    Parameters
    ----------
    privacy, relation, selection, and the other keywords
        As for `total_cost`.

    Returns
    -------
    tuple of (Privacy or Gaussian, int)
        Whichever way a neighbour moves, the release is nowhere easier to tell from the neighbour's than independent
        releases that keep these guarantees and no more can be. Where no cell moves by more than a step: every cell that
        moves, and the selection once for each that is resized. Else the whole release, as one, at its `total_cost`;
        or, under Gaussian privacy, k steps of a cell at kμ.

    References
    ----------
    proofs/batches.md, claim 1.

    Examples
    --------
    >>> ((part, times),) = independent_parts(Privacy(epsilon=1), NeighbouringRelation.EXCHANGE, grouped=True)
    >>> part.epsilon, times
    (Fraction(1, 1), 2)
    """
    possible = moves(
        relation,
        grouped=grouped,
        public_membership=public_membership,
        exchange_steps=exchange_steps,
        record_steps=record_steps,
    )
    # A move of fewer cells leaves out releases of a move of more.
    resized = max(move.resized for move in possible)
    chosen = [(selection, resized)] if selection is not None and resized else []
    if isinstance(privacy, Gaussian):
        farthest = max((move.steps for move in possible), key=lambda steps: sum(step**2 for step in steps))
        return (*((Gaussian(privacy.mu * step), 1) for step in farthest), *chosen)
    if any(step > 1 for move in possible for step in move.steps):
        cost = total_cost(
            privacy,
            relation,
            grouped=grouped,
            public_membership=public_membership,
            exchange_steps=exchange_steps,
            record_steps=record_steps,
            selection=selection,
        )
        assert isinstance(cost, Cost)
        return ((Privacy(epsilon=cost.epsilon, delta=cost.delta), 1),)
    return ((privacy, max(len(move.steps) for move in possible)), *chosen)
