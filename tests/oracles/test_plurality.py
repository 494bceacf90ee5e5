"""The winner from gaps: values, privacy on every edge of large boxes, each step of the proof, and linear programs."""

import itertools
import math
import os
from fractions import Fraction

import pytest

from irisdp import Privacy, audit, design
from irisdp._exact import Enclosure
from irisdp.design._plurality import least_proved_ratio
from irisdp.design._pull import MOST_STATES, capped_pull, capped_states, number_of_states
from irisdp.graphs import Gaps, NeighbouringRelation
from irisdp.mechanisms import NoisyLargest, PermuteAndFlip, Pull
from support.plurality import Pulled, ascending, by_all_orders, exchanges, normal, number
from support.programs import Program
from support.seeds import fresh_random

F = Fraction

BOXES = {3: 60, 4: 22, 5: 12, 6: 9}

FARTHER = int(os.environ.get("IRISDP_GAPS", "0"))
"""How much larger the boxes are: `make reliability` asks for more than every run."""


@pytest.mark.parametrize(("ratio", "gaps", "row"), [
    (2, (0, 1, 1), (F(1, 2), F(1, 4), F(1, 4))),
    (2, (0, 0, 2), (F(7, 16), F(7, 16), F(1, 8))),
    (2, (0, 3, 5), (F(25, 32), F(5, 32), F(1, 16))),
    (2, (0, 1, 2, 4), (F(19, 36), F(19, 72), F(19, 120), F(1, 20))),
    (4, (0, 1, 2, 4), (F(407, 560), F(407, 2240), F(37, 448), F(1, 112))),
])  # fmt: skip
def test_values_of_the_theory(ratio, gaps, row):
    made = design.plurality(len(gaps), Privacy(ratio=ratio))
    assert made.row(gaps) == row
    assert made.row(gaps[::-1]) == row[::-1]


@pytest.mark.parametrize("categories", [2, 3, 4, 5, 7, 9])
def test_pull_is_its_rule_followed_one_record_at_a_time(categories):
    pick = fresh_random(f"pull {categories}")
    for ratio in (F(6, 5), F(2), F(9, 2)):
        stepwise, made = Pulled(ratio), Pull(categories, Privacy(ratio=ratio))
        for _ in range(40):
            gaps = normal([pick.randrange(pick.choice([3, 9, 40])) for _ in range(categories)])
            assert [number(p) for p in made.row(gaps)] == stepwise.row(gaps)


@pytest.mark.parametrize(("categories", "ratio"), [
    *((q, F(ratio)) for q in (3, 4) for ratio in ("6/5", "2", "4")),
    *((5, F(ratio)) for ratio in ("3/2", "3")),
    (6, F(2)),
    (5, F(6, 5)),  # from here on measured only
    (6, F(13, 10)),
])  # fmt: skip
def test_pull_is_private_on_every_edge_without_a_cap(categories, ratio):
    assert Pulled(ratio).broken(ascending(categories, BOXES[categories] + FARTHER)) is None


@pytest.mark.parametrize("categories", range(7, 13))
def test_pull_needs_a_ratio_of_a_quarter_of_the_other_categories(categories):
    """Proved by these two states; that it is enough on gaps up to 2 is a measurement."""
    least = F(categories - 2, 4)
    box = ascending(categories, 2 + FARTHER // 2)
    assert Pulled(least).broken(box) is None
    assert Pulled(least - F(1, 1000)).broken(box) is not None
    level, after = (0, 0, *[2] * (categories - 2)), (0, 1, 1, *[2] * (categories - 3))
    for r in (least, least + 1, least - F(1, 1000)):
        pulled = Pulled(r)
        rise = (r - 1) ** 2 * (4 * r - categories + 2) / (2 * r * (r + 2) * (4 * r + categories - 4))
        assert pulled.top(after) - pulled.top(level) == number(rise)


# Each step of the proof (proofs/plurality.md), on random gifts from a winner to one at least two behind.


def gifts(count=400):
    pick = fresh_random("gifts")
    for _ in range(count):
        q = pick.randrange(3, 10)
        least = least_proved_ratio(q)
        ratio = least + pick.choice([F(0), F(1, 7), F(2)])
        gaps = normal([pick.randrange(pick.choice([3, 5, 9])) for _ in range(q)])
        behind = [place for place, gap in enumerate(gaps) if gap >= 2]
        if behind and ratio > 1:
            yield q, ratio, gaps, gaps.index(0), pick.choice(behind)


def given(gaps, giver, taker):
    return normal([-gap + (place == taker) - (place == giver) for place, gap in enumerate(gaps)])


def raised(pulled, gaps, giver, taker, place):
    """Raise a category in both states of a gift until it is level, or one behind: the last pair, and how many steps."""
    steps = 0
    while gaps[place] > 1:
        tops = [top for top, gap in enumerate(gaps) if gap == 0]
        if tops == [giver] and gaps[taker] == 2:
            return None
        gaps, steps = given(gaps, next((top for top in tops if top != giver), giver), place), steps + 1
    return gaps, steps


def spent(pulled, gaps, giver, taker):
    """Return S, κ, θ and what each category gains, of a gift."""
    r, here, there = pulled.ratio, pulled.row(gaps), pulled.row(given(gaps, giver, taker))
    behind = [place for place, gap in enumerate(gaps) if gap >= 2 and place != taker]
    gained = {place: there[place] / here[place] - 1 for place in behind}
    top, s, c = here[giver], gaps.count(0), gaps.count(1)
    paid = (r - 1) * here[taker] + sum(gained[place] * here[place] for place in behind)
    return paid, 1 - 1 / r - paid / top, 1 / (r * (s - 1) + c + 1), gained


@pytest.fixture(scope="module")
def pulled_at():
    known = {}
    return lambda ratio: known.setdefault(ratio, Pulled(ratio))


def test_claim_d_what_a_gift_changes(pulled_at):
    for _, ratio, gaps, giver, taker in gifts():
        pulled = pulled_at(ratio)
        r, here, there = pulled.ratio, pulled.row(gaps), pulled.row(given(gaps, giver, taker))
        assert there[taker] == r * here[taker]
        assert there[giver] <= here[giver] <= r * there[giver]
        assert all(
            p <= p_after <= r * p
            for place, (p, p_after) in enumerate(zip(here, there, strict=True))
            if place not in (giver, taker)
        )


def test_steps_a_and_e_the_others_gain_as_tops_of_later_gifts_do(pulled_at):
    for _, ratio, gaps, giver, taker in gifts():
        pulled = pulled_at(ratio)
        r, s = pulled.ratio, gaps.count(0)
        paid, kappa, theta, gained = spent(pulled, gaps, giver, taker)
        after = pulled.top(tuple(sorted(given(gaps, giver, taker))))
        assert after / pulled.top(tuple(sorted(gaps))) * (1 if s > 1 else r) == 1 + r * kappa * theta
        assert paid >= 0
        assert kappa >= 0
        for place, gain in gained.items():
            found = raised(pulled, gaps, giver, taker, place)
            if found is None:
                assert gain == 0
                continue
            later, steps = found
            _, later_kappa, later_theta, _ = spent(pulled, later, giver, taker)
            assert gain == r * later_kappa * later_theta
            assert pulled.row(gaps)[place] == pulled.top(tuple(sorted(later))) / r ** (steps + later[place])


def test_steps_m_y_and_k_bound_what_they_gain(pulled_at):
    for q, ratio, gaps, giver, taker in gifts():
        pulled = pulled_at(ratio)
        r, row, s, c = pulled.ratio, pulled.row(gaps), gaps.count(0), gaps.count(1)
        top = row[giver]
        assert all(r * p <= top for p, gap in zip(row, gaps, strict=True) if gap)
        omega = (r * s + c) / (r + s + c - 1)
        _, _, _, gained = spent(pulled, gaps, giver, taker)
        total = number(F(0))
        for place, gain in gained.items():
            found = raised(pulled, gaps, giver, taker, place)
            if found is None:
                continue
            later, steps = found
            theta = spent(pulled, later, giver, taker)[2]
            later_row = pulled.row(later)
            later_top, left = later_row[giver], later_row[giver] - r * later_row[taker]
            assert later_top <= omega * top
            assert later_row[taker] >= row[taker]
            assert later.count(0) + later.count(1) >= s + c + 1
            assert gain <= (r - 1) * theta * left / later_top
            if s > 1:
                assert left * (r + s - 1) <= s * (r + 1) * (top - r * row[taker])
            total += theta * r ** (1 - steps - later[place]) * left
        assert total <= top - r * row[taker]
        assert 1 - s * top <= number(F(q - 1)) / (r + q - 1)


def test_below_its_bound_a_gift_makes_the_other_winner_less_likely():
    """A control: at 9 categories and r = 8/5, below 7/4."""
    pulled = Pulled(F(8, 5))
    assert spent(pulled, (0, 0, *[2] * 7), 0, 2)[1] < 0


@pytest.mark.parametrize("categories", [2, 3, 4])
@pytest.mark.parametrize("total", [5, 8])
def test_theorem_4_the_dual_proves_the_mean_error(categories, total):
    """From the most uneven counts down, the multipliers of the proof are non-negative, and add up to pull's success."""
    q, r = categories, F(2 * (categories - 1))
    pulled, prior = Pulled(r), 1
    r = number(r)
    states = [counts for counts in itertools.product(range(total + 1), repeat=q) if sum(counts) == total]
    states.sort(key=lambda counts: -sum(count * count for count in counts))
    weights, success = {}, 0

    def moved(counts, loser, gainer):
        return tuple(n - (k == loser) + (k == gainer) for k, n in enumerate(counts))

    paid = 0
    for counts in states:
        gaps = normal(counts)
        s = gaps.count(0)
        success += s * pulled.top(tuple(sorted(gaps)))

        def coming(place, counts=counts, gaps=gaps, s=s):
            tops = sum(weights.get((moved(counts, place, v), place), 0) for v, g in enumerate(gaps) if g == 0)
            beside = [v for v, g in enumerate(gaps) if g == 1 and v != place]
            return tops + sum(weights.get((moved(counts, place, v), place), 0) for v in beside) / number(F(s + 1))

        top = gaps.index(0)
        from_tops = sum(weights.get((moved(counts, top, v), top), 0) for v, g in enumerate(gaps) if g == 0 and v != top)
        near = [v for v, g in enumerate(gaps) if g == 1]
        # y = π − from_tops − (1/s) Σ (y + In_v)/r over those one behind, solved for y.
        shared = sum(coming(v) for v in near) / (s * r)
        y = (prior - from_tops - shared) / (1 + len(near) / (s * r))
        paid += y
        assert y >= 0
        for place, gap in enumerate(gaps):
            if gap and counts[top]:
                weights[counts, place] = (y + coming(place)) / r
                assert 0 <= weights[counts, place] <= prior / (r - q + 1)
    assert paid == success


# Other mechanisms for the winner, by their definitions.


@pytest.mark.parametrize("relation", NeighbouringRelation)
def test_permute_and_flip_is_what_all_orders_give(relation):
    pick = fresh_random(f"permute {relation}")
    for q in (2, 3, 5, 6):
        made = PermuteAndFlip(q, Privacy(ratio=F(5, 2)), relation)
        for _ in range(5):
            gaps = normal([pick.randrange(6) for _ in range(q)])
            accepted = [number(made.acceptance(gap)) for gap in gaps]
            assert [number(p) for p in made.row(gaps)] == by_all_orders(accepted)


def test_the_first_of_the_largest_noisy_counts_is_what_its_sums_give():
    """Sums over the noise up to 150 of each, in floats: what is left is below 1e-9."""
    pick = fresh_random("noisy")
    for q, ratio in ((2, 1.5), (3, 2.0), (5, 1.4)):
        made = NoisyLargest(q, Privacy(ratio=F(ratio)))
        for _ in range(4):
            gaps = normal([pick.randrange(5) for _ in range(q)])
            sums = []
            for place, gap in enumerate(gaps):
                total = 0.0
                for noise in range(150):
                    chance = (1 - 1 / ratio) * ratio**-noise
                    for other, behind in enumerate(gaps):
                        if other != place:  # the least noise with which the other one is named instead
                            needed = noise - gap + behind + (other > place)
                            chance *= 1 - ratio ** -max(0, needed)
                    total += chance
                sums.append(total)
            assert [float(p) for p in made.row(gaps)] == pytest.approx(sums, abs=1e-9)


def moves_of(relation, gaps):
    if relation == "exchange":
        return exchanges(gaps)
    return (normal([-gap + (place == gains) for place, gap in enumerate(gaps)]) for gains in range(len(gaps)))


@pytest.mark.parametrize(("relation", "ties"), [("exchange", "any"), ("add-remove", "any"), ("add-remove", "first")])
@pytest.mark.parametrize("ratio", [F(11, 10), F(2), F(7)])
def test_the_others_are_private_on_every_edge_and_no_more(relation, ties, ratio):
    for q, most in ((2, 9), (3, 6), (4, 2), (5, 1)):
        form = PermuteAndFlip(q, Privacy(ratio=ratio), NeighbouringRelation(relation))
        if ties == "first":
            form = NoisyLargest(q, Privacy(ratio=ratio))
        rows, closest = {}, F(1)
        every = itertools.product(range(most + 1), repeat=q) if ties == "first" else ascending(q, most)
        for gaps in (gaps for gaps in every if min(gaps) == 0):
            for moved in moves_of(relation, gaps):
                here, there = (rows.setdefault(state, form.row(state)) for state in (gaps, moved))
                closest = max(closest, *(max(p / p_, p_ / p) for p, p_ in zip(here, there, strict=True)))
        assert closest <= ratio
        assert closest == ratio or relation == "exchange"


def test_at_full_ratio_permute_and_flip_is_not_private_where_records_are_exchanged():
    """A control, and so is noise with a public order of ties."""
    privacy = Privacy(ratio=2)
    for form in (PermuteAndFlip(3, privacy, NeighbouringRelation.ADD_REMOVE), NoisyLargest(3, privacy)):
        rows = {moved: (form.row((0, 2, 2)), form.row(moved)) for moved in exchanges((0, 2, 2))}
        assert any(p > 2 * q or q > 2 * p for pair in rows.values() for p, q in zip(*pair, strict=True))


# Against every private mechanism.


def least_errors(states, edges, right, ratio, worst):
    """Solve the program over all private mechanisms: the mean error over these states, or the worst."""
    program = Program()
    q = len(right[0])
    first = program.table(len(states), q)
    program.private(first, q, edges, float(ratio))
    if worst:
        program.worst([{first + i * q + v: 1 for v in range(q) if not right[i][v]} for i in range(len(states))])
    else:
        program.charge(first, [(not one) / len(states) for row in right for one in row])
    return program.minimum()


@pytest.mark.parametrize("ratio", [F(13, 10), F(272, 100), F(5)])
@pytest.mark.parametrize(("categories", "total"), [(2, 9), (3, 6), (3, 10), (4, 5), (5, 4)])
def test_pull_against_all_private_mechanisms_on_tables(categories, total, ratio):
    q = categories
    states = [counts for counts in itertools.product(range(total + 1), repeat=q) if sum(counts) == total]
    place = {counts: number for number, counts in enumerate(states)}
    edges = []
    for counts, (gains, loses) in itertools.product(states, itertools.permutations(range(q), 2)):
        moved = tuple(n + (k == gains) - (k == loses) for k, n in enumerate(counts))
        if moved in place and counts < moved:
            edges.append((place[counts], place[moved]))
    right = [[count == max(counts) for count in counts] for counts in states]
    made = Pull(q, Privacy(ratio=ratio))
    errors = [1 - sum(p for p, good in zip(made.row(normal(c)), g, strict=True) if good)
              for c, g in zip(states, right, strict=True)]  # fmt: skip
    mean = float(sum(errors) / len(errors))
    least = least_errors(states, edges, right, ratio, worst=False)
    assert least - 1e-9 <= mean <= (1.0001 if ratio > F(271, 100) else 1.012) * least
    if total % q == 1:  # then somebody can be ahead of all others by one
        assert max(errors) == F(q - 1) / (ratio + q - 1) == made.worst_error
        assert float(max(errors)) == pytest.approx(least_errors(states, edges, right, ratio, worst=True), abs=1e-9)


@pytest.mark.parametrize(("epsilon", "printed"), [(F(1, 2), 0.9265), (F(1), 0.8721), (F(2), 0.7024)])
def test_wrong_winners_beside_permute_and_flip_at_half_the_exponent(epsilon, printed):
    """Over all tables of 20 records, each alike in three categories, against acceptances e^(−εg/2)."""
    made = design.plurality(3, Privacy(epsilon=epsilon))
    stepped = PermuteAndFlip(3, made.privacy, NeighbouringRelation.EXCHANGE)
    pulled = flipped = at_half_steps = 0.0
    for first, second in itertools.combinations_with_replacement(range(21), 2):
        counts = [first, second - first, 20 - second]
        tables = math.factorial(20) / math.prod(map(math.factorial, counts)) / 3**20
        gaps = normal(counts)
        flips = by_all_orders([number(F(math.exp(-epsilon * gap / 2))) for gap in gaps])
        for place, gap in enumerate(gaps):
            if gap:
                pulled += tables * float(made.row(gaps)[place])
                at_half_steps += tables * float(stepped.row(gaps)[place])
                flipped += tables * float(flips[place].p) / float(flips[place].q)
    assert pulled / flipped == pytest.approx(printed, abs=1e-4)
    assert pulled < at_half_steps < flipped


@pytest.mark.parametrize(("relation", "ties"), [("exchange", "any"), ("add-remove", "any"), ("add-remove", "first")])
def test_worst_errors_are_reached_and_never_passed(relation, ties):
    for q, ratio in ((2, F(2)), (3, F(3, 2)), (4, F(5))):
        for largest in (None, 4):
            made = design.plurality(q, Privacy(ratio=ratio), relation, ties, largest=largest)
            errors = []
            for gaps in itertools.product(range(6), repeat=q):
                if min(gaps) == 0:
                    row = made.row(gaps)
                    tops = (
                        [row[gaps.index(0)]]
                        if ties == "first"
                        else [p for p, g in zip(row, gaps, strict=True) if not g]
                    )
                    errors.append(1 - sum(tops))
            assert max(errors) == made.worst_error


# Capped gaps.


def capped_edges(q, largest, relation):
    graph = Gaps(q, largest, relation)
    names = graph.nodes[:]
    for tails, heads in graph.edges():
        yield from ((names[tail], names[head]) for tail, head in zip(tails.tolist(), heads.tolist(), strict=True))


@pytest.mark.parametrize(("relation", "ties"), [("exchange", "any"), ("add-remove", "any"), ("add-remove", "first")])
@pytest.mark.parametrize("ratio", [F(11, 10), F(2), F(9)])
def test_capped_rows_are_private_on_every_edge_of_the_graph(relation, ties, ratio):
    for q, largest in ((2, 1), (2, 7), (3, 1), (3, 5), (4, 2), (5, 1), (6, 1)):
        made = design.plurality(q, Privacy(ratio=ratio), relation, ties, largest=largest)
        rows = {node: made.row(node) for node in Gaps(q, largest, relation).nodes}
        for one, other in capped_edges(q, largest, relation):
            assert all(p <= ratio * p_ and p_ <= ratio * p for p, p_ in zip(rows[one], rows[other], strict=True))


def test_pull_at_its_own_ratio_is_not_private_on_capped_gaps():
    """The two nodes that show it, and the exchange of true gaps behind them."""
    made = Pull(3, Privacy(ratio=2))
    assert (0, 4, 6) in exchanges((0, 6, 7))
    assert ((0, 4, 6), (0, 6, 6)) in set(capped_edges(3, 6, "exchange"))
    apart = [p / q for p, q in zip(made.row((0, 4, 6)), made.row((0, 6, 6)), strict=True)]
    assert max(apart) > 2 * F(10363, 10000)
    true = [p / q for p, q in zip(made.row((0, 4, 6)), made.row((0, 6, 7)), strict=True)]
    assert F(1, 2) <= min(true) <= max(true) <= 2
    assert capped_pull(3, 6, F(2)).ratio < 2


@pytest.mark.parametrize(("categories", "largest"), [(3, 6), (4, 4), (5, 3)])
def test_what_is_checked_by_symmetry_is_every_edge(categories, largest):
    """The classes that meet over an edge of ascending gaps are those that meet over any edge of the graph."""
    states = capped_states(categories, largest)
    place = {state: number for number, state in enumerate(states.states)}
    number_of = {one: number for number, one in enumerate(states.classes)}
    met = set()
    for pair in capped_edges(categories, largest, "exchange"):
        one, other = (place[tuple(sorted(node))] for node in pair)
        for here, there in zip(*pair, strict=True):
            met.add(frozenset((number_of[one, here], number_of[other, there])))
    assert met == {frozenset(pair) for pair in states.pairs.tolist()}
    assert len(states.states) == number_of_states(categories, largest) <= MOST_STATES
    assert sum(states.orbits) == Gaps(categories, largest).number_of_nodes


# Gaps beyond fractions.


def test_enclosures_hold_the_fractions_and_take_any_gaps():
    for form in (
        Pull(4, Privacy(epsilon=1)),
        PermuteAndFlip(4, Privacy(epsilon=1), NeighbouringRelation.EXCHANGE),
        NoisyLargest(4, Privacy(epsilon="1e-3")),
    ):
        for gaps in ((0, 0, 0, 0), (3, 0, 8, 1), (0, 30, 40, 45)):
            found = form.enclose(gaps, width="1e-30")
            assert all(p in one for p, one in zip(form.row(gaps), found, strict=True))
            assert max(one.width for one in found) <= F(1, 10**30)
        far = form.enclose((10**18, 0, 10**12, 10**9))
        assert far[1].upper == 1
        assert all(isinstance(one, Enclosure) and one.width <= F(1, 1 << 64) for one in far)


# Mechanism files.


@pytest.mark.parametrize("objective", ["average", "worst"])
@pytest.mark.parametrize("spec", [
    {"categories": 3, "largest": 4, "relation": "exchange"},
    {"categories": 4, "largest": 1, "relation": "exchange"},
    {"categories": 3, "largest": 4, "relation": "add-remove"},
    {"categories": 4, "largest": 1, "relation": "add-remove"},
    {"categories": 3, "largest": 3, "relation": "add-remove", "ties": "first"},
    {"categories": 3, "total": 7},
    {"categories": 6, "total": 2},
], ids=str)  # fmt: skip
def test_files_are_optimal_among_all_private_mechanisms(spec, objective):
    for privacy in (Privacy(ratio="3/2"), Privacy(epsilon=1)):
        made = design.winner(spec["categories"], privacy, objective=objective,
                                     **{key: value for key, value in spec.items() if key != "categories"})  # fmt: skip
        verdict = audit(made)
        assert verdict.private
        assert verdict.holds
        states = list(made.inputs)
        edges = [
            pair for tails, heads in made.graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True)
        ]
        best = [min(node) if "largest" in spec else max(node) for node in states]
        right = [[entry == winner for entry in node] for node, winner in zip(states, best, strict=True)]
        if spec.get("ties") == "first":
            right = [[v == row.index(True) for v in range(len(row))] for row in right]
        least = least_errors(states, edges, right, privacy.ratio, objective == "worst")
        assert float(made.objective.value) == pytest.approx(least, abs=1e-8)
        assert made.objective.value - made.objective.lower_bound <= F(1, 10**15)
        if spec.get("ties") != "first":  # alike for any order of the categories, but for rounding
            for node in states:
                turned = made.row((*node[1:], node[0]))
                assert all(
                    abs(p - q) <= F(1, 1 << 100)
                    for p, q in zip(made.row(node), (turned[-1], *turned[:-1]), strict=True)
                )


def test_files_beyond_the_program_are_the_closed_form():
    made = design.winner(3, Privacy(ratio=2), total=30)
    assert made.certificate is None
    assert made.row((15, 10, 5)) == design.plurality(3, Privacy(ratio=2)).row((0, 5, 10))
    below = design.winner(5, Privacy(ratio="6/5"), total=8)  # pull, because every edge of these counts passes
    assert below.row((4, 2, 1, 1, 0)) == Pull(5, Privacy(ratio="6/5")).row((0, 2, 3, 3, 4))
    capped = design.winner(4, Privacy(ratio=2), largest=7)
    assert audit(capped).private


# Pull from the top, and permute and flip, where a record may count for no category: each step of the proof (T5).

BOXES_UNNAMED = {2: 12, 3: 14, 4: 7, 5: 4, 6: 3, 7: 2, 8: 2}

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


@pytest.mark.parametrize("q", BOXES_UNNAMED)
def test_pull_is_private_when_a_record_comes_and_no_closer_than_measured(q):
    for ratio in ratios(q):
        most = farthest(Pulled(ratio), ascending(q, BOXES_UNNAMED[q]))
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
        form = PermuteAndFlip(q, Privacy(ratio=ratio), NeighbouringRelation.EXCHANGE)
        seen = (lambda gaps: gaps) if cap is None else (lambda gaps: tuple(min(gap, cap) for gap in gaps))
        for gaps in ascending(q, largest):
            for gains in range(q):
                rows = (form.row(seen(gaps)), form.row(seen(gained(gaps, gains))))
                most = max(most, *(max(p / p_, p_ / p) for p, p_ in zip(*rows, strict=True)))
    assert most == (1 + ratio) / 2
