"""Pull from the top, and permute and flip, where a record may count for no category: each step of the proof (T5)."""

from fractions import Fraction

import pytest

from irisdp import Privacy
from irisdp.design._plurality import least_proved_ratio
from irisdp.mechanisms import PermuteAndFlip
from support.plurality import Pulled, ascending, normal, number
from support.seeds import fresh_random

F = Fraction

BOXES = {2: 12, 3: 14, 4: 7, 5: 4, 6: 3, 7: 2, 8: 2}

BEYOND = (F(0), F(1, 20), F(1, 2), F(7))


def gained(gaps, gains):
    """Return the gaps when one category has a record more."""
    return normal([-gap + (place == gains) for place, gap in enumerate(gaps)])


def ratios(q):
    """Yield ratios where T1 holds, its bound among them."""
    return [r for r in (least_proved_ratio(q) + more for more in BEYOND) if r > 1]


def farthest(pulled, states):
    """Return the largest factor between a chance and the same chance when a record comes, where all are positive."""
    most = number(F(1))
    for gaps in states:
        here = pulled.row(gaps)
        for gains in range(len(gaps)):
            for p, p_ in zip(here, pulled.row(gained(gaps, gains)), strict=True):
                most = max(most, p / p_, p_ / p)
    return most


@pytest.mark.parametrize("q", BOXES)
def test_pull_is_private_when_a_record_comes_and_no_closer_than_measured(q):
    for ratio in ratios(q):
        most = farthest(Pulled(ratio), ascending(q, BOXES[q]))
        assert most == number(1 + (ratio - 1) * F(q - 1, q)) <= number(ratio)


def test_far_below_its_bound_pull_is_not_private_when_a_record_comes():
    """A control: nine categories at r = 6/5, proved from 4 on."""
    assert farthest(Pulled(F(6, 5)), [(0, *[2] * 8)]) > number(F(6, 5))


class Pair:
    """Counts and the same with a record more in category a, as the proof writes them."""

    def __init__(self, pulled, gaps, gains):
        self.r, self.gaps, self.gains = pulled.ratio, gaps, gains
        self.here, there = pulled.row(gaps), pulled.row(gained(gaps, gains))
        self.x = [(p_ / p - 1) / (self.r - 1) for p, p_ in zip(self.here, there, strict=True)]
        self.q = 1 - self.x[gains]
        top = max(self.here)
        self.u = [p / top for p in self.here]
        others = [gap for place, gap in enumerate(gaps) if place != gains]
        self.t, s = sum(gap <= 1 for gap in others), others.count(0)
        self.d = s + (self.t - s) / self.r
        self.behind = [place for place, gap in enumerate(gaps) if gap >= 2 and place != gains]
        self.losers = [place for place, gap in enumerate(gaps) if gap]


def pairs():
    """Yield pairs of every kind, where T1 holds: random ones, and all where gaps are at most 2."""
    pick = fresh_random("pairs")
    states = [(q, gaps) for q in (2, 3, 4, 5, 6) for gaps in ascending(q, 2)]
    for _ in range(250):
        q = pick.randrange(2, 10)
        states.append((q, normal([pick.randrange(pick.choice([3, 4, 9, 25])) for _ in range(q)])))
    tables = {}
    for q, gaps in states:
        for ratio in {pick.choice(ratios(q)), F(1001, 1000) if q < 5 else ratios(q)[0]}:
            pulled = tables.setdefault(ratio, Pulled(ratio))
            for gains in range(q):
                yield pulled, Pair(pulled, gaps, gains)


@pytest.fixture(scope="module")
def every_pair():
    return list(pairs())


def own(pulled, pair, place):
    """Return Q of a category's own pair."""
    return Pair(pulled, pair.gaps, place).q


def test_what_a_category_gains_and_the_others_lose(every_pair):
    """What the proof shows by induction, and T5 itself."""
    for _, pair in every_pair:
        assert 0 <= pair.q <= 1
        for place, x in enumerate(pair.x):
            assert -1 / pair.r <= x <= 1
            if pair.gaps[pair.gains] <= 1 and place != pair.gains:
                assert x <= 0


def test_level_and_one_behind(every_pair):
    """L and O: who loses what, and Q from sums over the same counts."""
    for pulled, pair in every_pair:
        r, gaps, a = pair.r, pair.gaps, pair.gains
        if gaps[a] == 0:
            alone = {place: own(pulled, pair, place) for place in pair.losers}
            for place in range(len(gaps)):
                assert place == a or pair.x[place] == -alone.get(place, pair.q) / r
            lost = sum((alone[place] * pair.u[place] for place in pair.losers), start=number(F(0)))
            assert pair.q * (r + gaps.count(0) - 1) == r - lost
            assert lost <= r
            assert pair.q <= r / (r + gaps.count(0) - 1)
        if gaps[a] == 1:
            for place, gap in enumerate(gaps):
                assert place == a or gap > 1 or pair.x[place] == -pair.q / r
            lost = sum((r * pair.x[place] * pair.u[place] for place in pair.behind), start=number(F(0)))
            assert (pair.d + 1) * pair.q == 1 + lost


def test_raising_leads_to_the_same_with_fewer_behind(every_pair):
    for pulled, pair in every_pair:
        gaps, a = pair.gaps, pair.gains
        if gaps[a] == 0:
            continue
        top = gaps.index(0)
        for place in pair.losers:
            if gaps[place] >= 2:
                raised = normal([-gap + (k == place) - (k == top) for k, gap in enumerate(gaps)])
                later = Pair(pulled, raised, a)
                assert later.x[place] == pair.x[place]
                assert raised[a] <= gaps[a]
                assert all(raised[k] <= 1 for k, gap in enumerate(gaps) if gap <= 1)


def test_bounds_of_the_proof(every_pair):
    """(1), (2), Z, and that Q is never negative."""
    for _, pair in every_pair:
        r, gaps, a, q = pair.r, pair.gaps, pair.gains, len(pair.gaps)
        for place in pair.losers:
            assert pair.u[place] * r <= 1
            if gaps[place] >= 2 and gaps.count(0) > 1:
                assert pair.u[place] * r * (r + 1) <= 2
            elif gaps[place] >= 2:
                assert pair.u[place] * (2 * r - 1) <= 1
        if gaps[a]:
            assert pair.q <= r / (r + pair.t)
        if gaps[a] == 1:
            assert all(-1 / (r + pair.t + 1) <= pair.x[place] <= 0 for place in pair.behind)
            assert sum(r * pair.u[place] for place in pair.behind) <= r + pair.t + 1
        if gaps[a] >= 2 and q != 4:
            assert sum(r * pair.u[place] for place in pair.behind) <= r * r * pair.d
        if gaps[a] >= 2 and q == 4 and pair.t == 1:
            assert all(pair.x[place] >= -1 / (r + 1) for place in pair.behind)


def test_four_categories(every_pair):
    """(3), (4), and the bound on Q of each loser where one category is ahead by two or more."""
    quarter = number(F(1, 4))
    for pulled, pair in every_pair:
        r, gaps, a = pair.r, pair.gaps, pair.gains
        if len(gaps) != 4:
            continue
        if (gaps[a] and pair.t >= 2) or (gaps[a] == 0 and gaps.count(0) >= 3):
            assert pair.q >= quarter
        if gaps[a] == 1 or (gaps[a] == 0 and gaps.count(0) >= 2):
            assert all(-r * x == pair.q or -r * x >= quarter for place, x in enumerate(pair.x) if place != a)
        if gaps[a] == 0 and 1 not in gaps and gaps.count(0) == 1:
            for place in pair.losers:
                others = sum(pair.u[k] for k in pair.losers if k != place)
                assert (r + 1) * own(pulled, pair, place) <= r - others / 4


def test_of_pairs_that_are_not_near_others_may_gain():
    """A control: what is shown of near pairs is not true of all."""
    assert Pair(Pulled(F(4)), (0, 2, 2, 2, 2, 2), 1).x[0] > 0


@pytest.mark.parametrize("ratio", [F(11, 10), F(2), F(7)])
@pytest.mark.parametrize("cap", [None, 3])
def test_permute_and_flip_at_half_steps_changes_by_half_of_it_when_a_record_comes(ratio, cap):
    most = F(1)
    for q, largest in ((2, 9), (3, 6), (4, 4), (5, 3), (6, 2)):
        form = PermuteAndFlip(q, Privacy(ratio=ratio), True)
        seen = (lambda gaps: gaps) if cap is None else (lambda gaps: tuple(min(gap, cap) for gap in gaps))
        for gaps in ascending(q, largest):
            for gains in range(q):
                rows = (form.row(seen(gaps)), form.row(seen(gained(gaps, gains))))
                most = max(most, *(max(p / p_, p_ / p) for p, p_ in zip(*rows, strict=True)))
    assert most == (1 + ratio) / 2
