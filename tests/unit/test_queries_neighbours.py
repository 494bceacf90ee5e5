"""The cost of a neighbour's move: against every neighbour of every tiny table, and in figures."""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from irisdp import BadInput, Cost, NeighbouringRelation, Privacy
from irisdp._queries import Count, cell_relation, total_cost
from irisdp._queries.majority import Majority
from irisdp._queries.neighbouring_relation import moves
from irisdp._queries.threshold import AtLeast
from irisdp.privacy import are_close, steps

GROUPS = ("a", "b")
RECORDS = list(product([*GROUPS, None], [True, False, None]))
"""A record is its group (None: undeclared) and its answer (None: abstains)."""
TABLES = [table for size in range(4) for table in combinations_with_replacement(RECORDS, size)]


def neighbours(table, relation, *, public_membership):
    for place, lost in enumerate(table):
        rest = table[:place] + table[place + 1 :]
        if relation is NeighbouringRelation.ADD_REMOVE:
            yield rest
            continue
        for won in RECORDS:
            if won != lost and (won[0] == lost[0] or not public_membership):
                yield (*rest, won)


def cells(table, grouped):
    groups = [{group} for group in GROUPS] if grouped else [{*GROUPS, None}]
    answers = [[answer for key, answer in table if key in group] for group in groups]
    return [tuple(cell.count(answer) for answer in (True, False, None)) for cell in answers]


def position(query, cell):
    """Return where a cell stands on the line that the query's add-remove graph is."""
    return cell[0] - cell[1] if isinstance(query, Majority) else cell[0]


def moves_made(query, relation, grouped, public_membership):
    """Collect what neighbours really do: steps in each cell that the query sees change, and cells that change size."""
    own_exchange = (
        cell_relation(relation, grouped=grouped, public_membership=public_membership) is NeighbouringRelation.EXCHANGE
    )
    made = set()
    for table in TABLES:
        for other in neighbours(table, relation, public_membership=public_membership):
            pairs = zip(cells(table, grouped), cells(other, grouped), strict=True)
            changed = [(old, new) for old, new in pairs if old != new]
            steps = [1 if own_exchange else abs(position(query, old) - position(query, new)) for old, new in changed]
            made.add((tuple(sorted(filter(None, steps))), sum(sum(old) != sum(new) for old, new in changed)))
    return made


def covers(listed, made):
    steps, resized = made
    return resized <= listed[1] and len(steps) <= len(listed[0]) and all(map(int.__le__, steps, listed[0]))


SETTINGS = [
    (NeighbouringRelation.ADD_REMOVE, False, False),
    (NeighbouringRelation.ADD_REMOVE, True, False),
    (NeighbouringRelation.EXCHANGE, False, False),
    (NeighbouringRelation.EXCHANGE, True, False),
    (NeighbouringRelation.EXCHANGE, True, True),
]


@pytest.mark.parametrize("query", [Count("x"), AtLeast(2, "x"), Majority("x")], ids=lambda query: query.name)
@pytest.mark.parametrize(("relation", "grouped", "public"), SETTINGS)
def test_moves_are_the_dearest_of_all_neighbours_of_all_tables(query, relation, grouped, public):
    """220 tables of at most 3 records in 3 groups with 3 answers, and every neighbour of each."""
    found = moves(relation, grouped=grouped, public_membership=public, exchange_steps=query.exchange_steps)
    listed = {(move.steps, move.resized) for move in found}
    made = moves_made(query, relation, grouped, public)
    assert all(any(covers(move, other) for move in listed) for other in made)
    assert listed <= made


def test_a_majority_that_forgets_that_a_yes_can_become_a_no_is_caught():
    """Negative control: one step instead of two."""
    listed = {
        (move.steps, move.resized) for move in moves(NeighbouringRelation.EXCHANGE, grouped=True, exchange_steps=1)
    }
    made = moves_made(Majority("x"), NeighbouringRelation.EXCHANGE, grouped=True, public_membership=False)
    assert not all(any(covers(move, other) for move in listed) for other in made)


PRIVACY = Privacy(ratio=3, delta="1/100")
SELECTION = Privacy(ratio=2, delta="1/50")


@pytest.mark.parametrize(("arguments", "times", "delta"), [
    ({"relation": NeighbouringRelation.ADD_REMOVE, "grouped": False}, 1, "1/100"),
    ({"relation": NeighbouringRelation.ADD_REMOVE, "grouped": True}, 1, "1/100"),
    ({"relation": NeighbouringRelation.EXCHANGE, "grouped": False}, 1, "1/100"),
    ({"relation": NeighbouringRelation.EXCHANGE, "grouped": True, "public_membership": True}, 1, "1/100"),
    ({"relation": NeighbouringRelation.EXCHANGE, "grouped": True}, 2, "1/50"),
    ({"relation": NeighbouringRelation.EXCHANGE, "grouped": True, "exchange_steps": 2}, 2, "1/25"),
])  # fmt: skip
def test_costs_without_selection(arguments, times, delta):
    assert total_cost(PRIVACY, **arguments) == Cost(times * PRIVACY.epsilon, Fraction(delta))


@pytest.mark.parametrize(("relation", "steps", "times", "delta"), [
    (NeighbouringRelation.ADD_REMOVE, 1, 1, Fraction(1, 100) + Fraction(1, 50)),
    (NeighbouringRelation.EXCHANGE, 1, 2, 2 * Fraction(1, 100) + 2 * Fraction(1, 50)),
    # max{2/100 + 2/50, (1 + 3)/100}: the move that is dearest for majority leaves the selection alone.
    (NeighbouringRelation.EXCHANGE, 2, 2, Fraction(6, 100)),
])  # fmt: skip
def test_costs_with_selection(relation, steps, times, delta):
    cost = total_cost(PRIVACY, relation, grouped=True, exchange_steps=steps, selection=SELECTION)
    assert cost == Cost(times * (PRIVACY.epsilon + SELECTION.epsilon), delta)


def test_two_steps_in_one_cell_do_cost_more_than_twice_delta():
    """From probability 0, two steps of u reach (1 + r)δ, and no ratio covers any of it."""
    ratio = PRIVACY.ratio**2
    start = Fraction(0)
    reached = steps(start, 2, PRIVACY)
    cost = total_cost(PRIVACY, NeighbouringRelation.EXCHANGE, grouped=True, exchange_steps=2)
    assert reached == cost.delta == (1 + PRIVACY.ratio) * PRIVACY.delta
    pair = (reached, 1 - reached), (start, 1 - start)
    assert are_close(*pair, Privacy(ratio=ratio, delta=cost.delta))
    assert not are_close(*pair, Privacy(ratio=ratio, delta=2 * PRIVACY.delta))


@pytest.mark.parametrize("arguments", [
    {"relation": NeighbouringRelation.ADD_REMOVE, "grouped": True, "public_membership": True},
    {"relation": NeighbouringRelation.EXCHANGE, "grouped": False, "public_membership": True},
    {"relation": NeighbouringRelation.EXCHANGE, "grouped": True, "public_membership": True, "selection": SELECTION},
    {"relation": NeighbouringRelation.ADD_REMOVE, "grouped": False, "selection": SELECTION},
])  # fmt: skip
def test_pointless_combinations_are_refused(arguments):
    with pytest.raises(BadInput):
        total_cost(PRIVACY, **arguments)
