"""Numbers on a page err on the side of whoever relies on them: what may go wrong is rounded up, what is left down."""

from fractions import Fraction

import pytest

from irisdp import Cost, NeighbouringRelation
from irisdp._views.reports import odds_of


@pytest.mark.parametrize("epsilon", ["1e-40", "1e-6", 1, 50, 69, 70, 100, 999, 1000, 5000])
def test_no_belief_is_moved_beyond_certainty(epsilon):
    for before, least, most in odds_of(Cost(Fraction(epsilon)), NeighbouringRelation.ADD_REMOVE, None).moved:
        assert 0 <= percent(least) < percent(before) < percent(most) <= 100


def percent(said):
    number, sign = said.split(" ")
    assert sign == "%"
    return Fraction(number)
