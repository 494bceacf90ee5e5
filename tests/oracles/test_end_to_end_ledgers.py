"""The proof by exhaustion for ledgers in μ and ρ: what all releases show together, against what the ledger says.

Several questions are published into one ledger, under Gaussian privacy, several pairs and a single ε. Every tiny table
then goes the whole way to the laws that they were drawn from; the joint law of all answers is compared with every
neighbour's at several points of the curve that the ledger states at its end.
"""

from dataclasses import replace
from fractions import Fraction

import pytest

from irisdp import Ledger, plan, publish
from irisdp._exact import exp_below
from irisdp._release.pipeline import read_statistics
from irisdp.accounting import as_pair, gaussian_dp_mu
from support.closeness import over_one_denominator
from support.exhaustion import LOTS, NEAR, engine_once, frame, joint_law, neighbours, opened, worst_delta
from support.sweeps import tried

__all__ = ["engine_once"]

pytestmark = pytest.mark.usefixtures("engine_once")

TWO_PAIRS = {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/50"}]}
RELEASES = {
    "counts": [
        (("count", "v = 1"), {"mu": 3}),
        (("count",), {"mu": "5/2"}),
        (("at-least", 1, "v = 1"), {"epsilon": "1/2"}),
    ],
    "two pairs": [(("count", "v = 1"), {"privacy": TWO_PAIRS}), (("majority", "v = 1"), {"mu": 1})],
    "by group": [(("count", "v = 1"), {"mu": 3, "by": "g", "groups": ["a", "b"]})],
    "asked twice": [(("count", "v = 1"), {"epsilon": 1}), (("count", "v = 1"), {"epsilon": 2})],
}
POINTS = ("1e-3", "1/20", "1/3")


def spent(releases, relation, currency, folder):
    """What a ledger says after it was charged for all of them, about a table that nobody is compared with."""
    ledger = Ledger(folder / f"{currency}.ledger")
    ledger.set_limit(**{currency: 100})
    for query, options in releases:
        publish(frame((("a", 1),)), *query, **options, relation=relation, ledger=ledger)
    return ledger.spent


def together(plans, table):
    """The joint law of all answers about a table: in such ledgers each release is drawn afresh."""
    law, whole = {(): 1}, 1
    for planned in plans:  # over one denominator, as products of integers are fast
        cells = read_statistics(replace(planned, table=opened(table)), LOTS[0])
        found, denominator = over_one_denominator(joint_law(planned, cells))
        law = {(*seen, shown): p * q for seen, p in law.items() for shown, q in found.items()}
        whole *= denominator
    return law, whole


def excesses(releases, relation, *statements):
    """Yield how far beyond a statement, a cost in ε and δ at each point, the laws of neighbours are apart."""
    points = [
        (exp_below(as_pair(statement, delta).epsilon), Fraction(delta)) for statement in statements for delta in POINTS
    ]
    # Plans are the same for every table, as a test of `test_end_to_end_privacy.py` compares.
    plans = [plan(frame(()), *query, **options, relation=relation) for query, options in releases]
    laws, numbers, seen = {}, {}, set()  # tables of one law have one number
    for pair in sorted(neighbours(relation, "any"), key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair))):
        for table in pair:
            if table not in laws:
                law, whole = together(plans, table)
                laws[table] = numbers.setdefault((frozenset(law.items()), whole), len(numbers)), (law, whole)
        (one, first), (other, second) = (laws[table] for table in pair)
        if (one, other) not in seen:
            seen.add((one, other))
            yield max(worst_delta(first, second, ratio) - delta for ratio, delta in points)


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        (name, relation)
        for place, name in enumerate(RELEASES)
        for relation in tried([("add-remove", "exchange")[place % 2]], ["add-remove", "exchange"])
    ],
)
def test_no_neighbours_can_be_told_apart_beyond_what_a_ledger_states(name, relation, tmp_path):
    statements = [spent(RELEASES[name], relation, currency, tmp_path) for currency in ("mu", "rho")]
    found = list(excesses(RELEASES[name], relation, *statements))
    assert len(found) >= tried(6, 8)
    assert max(found) <= NEAR


# Planted bugs, which the same comparison has to catch.


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("name", RELEASES)
def test_a_statement_of_half_of_what_was_spent_is_caught(name, relation, tmp_path):
    statement = spent(RELEASES[name], relation, "mu", tmp_path)
    halved = type(statement)(statement.mu_squared / 4)
    assert any(excess > 0 for excess in excesses(RELEASES[name], relation, halved))


def test_a_second_cell_that_is_left_out_is_caught(tmp_path, monkeypatch):
    real = gaussian_dp_mu
    monkeypatch.setattr("irisdp.accounting._currencies.gaussian_dp_mu", lambda kept: real(kept) * Fraction(5, 8))
    statement = spent(RELEASES["by group"], "exchange", "mu", tmp_path)
    assert any(excess > 0 for excess in excesses(RELEASES["by group"], "exchange", statement))
