"""Quantiles over bins: the graph against all histograms, each claim of the proof, exact privacy, values, controls."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from irisdp import Privacy
from irisdp.design import UNIT, CappedRankTable, ScoredBins, exponential_base, ladder, quantile
from irisdp.design._pull import most_allowed, private_on_every_edge, pulled
from irisdp.design._quantiles import exchanged
from irisdp.design._score_weights import HEIGHT, ScoreWeights, is_private, whole_ladder
from irisdp.graphs import capped_offsets, graph_from_edges, number_of_offsets, offsets_of
from support.programs import Program
from support.quantiles import additions, exchanges, histograms, score, truth
from support.seeds import fresh_random

F = Fraction
HALF = F(1, 2)
SHARES = (HALF, F(3, 4), F(1, 3), F(1))


def nodes_of(graph, listed, share):
    return graph.index(*offsets_of(np.array(listed, np.int64), share))


def edges_of(graph):
    return {pair for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True)}


def images(graph, pairs, share):
    ends = [nodes_of(graph, [pair[end] for pair in pairs], share).tolist() for end in (0, 1)]
    return {tuple(sorted(pair)) for pair in zip(*ends, strict=True) if pair[0] != pair[1]}


# The graph: its edges are the images of neighbours, and no others.


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("bins", [2, 3, 4])
def test_exchanges_and_records_that_leave_are_the_edges_of_capped_offsets(bins, share):
    seen = {}
    for reach in (2, 3):
        graph = capped_offsets(bins, reach)
        for records in range(13):
            listed = list(histograms(records, bins))
            nodes = nodes_of(graph, listed, share)
            assert graph.truth[nodes].tolist() == [truth(counts, share) for counts in listed]
            moved = [(counts, other) for counts in listed for other in (*exchanges(counts), *additions(counts))]
            seen.setdefault(reach, set()).update(images(graph, moved, share))
            rank = math.ceil(share * records)
            if reach <= min(rank, records - rank + 1):
                swapped = [(counts, other) for counts in listed for other in exchanges(counts)]
                assert images(graph, swapped, share) == edges_of(graph.graph)
        assert seen[reach] == edges_of(graph.graph) or share == 1
        assert seen[reach] <= edges_of(graph.graph)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("bins", [2, 3, 4])
def test_records_that_come_and_go_are_the_edges_of_offsets_with_a_remainder(bins, share):
    for reach in (2, 3):
        graph = capped_offsets(bins, reach, share)
        seen = set()
        for records in range(13):
            listed = list(histograms(records, bins))
            assert graph.truth[nodes_of(graph, listed, share)].tolist() == [truth(one, share) for one in listed]
            seen |= images(graph, [(one, other) for one in listed for other in additions(one)], share)
        assert seen <= edges_of(graph.graph)
        # At 3/4 and 1/3, and at 1, twelve records do not fill offsets on either side up to 3 with every remainder.
        assert seen == edges_of(graph.graph) or reach == 3 or share == 1


@pytest.mark.parametrize(("bins", "reach", "share"), [(2, 4, None), (4, 3, None), (3, 3, HALF), (3, 2, F(3, 4))])
def test_nodes_are_found_by_name(bins, reach, share):
    made = capped_offsets(bins, reach, share)
    nodes = made.graph.nodes
    assert len(nodes) == number_of_offsets(bins, reach, share) == len(set(nodes))
    assert [nodes.position(node) for node in nodes] == list(range(len(nodes)))
    assert all(
        nodes.position(wrong) is None
        for wrong in ((), "0", (reach,) * bins, (0,) * (bins + 2), (-reach - 1,) * (bins - 1 + (share is not None)))
    )


def test_how_many_records_each_bin_is_off():
    made = capped_offsets(4, 3)
    for counts in histograms(9, 4):
        (node,) = nodes_of(made, [counts], HALF)
        exact = [score(counts, HALF, 1, place) for place in range(4)]
        assert made.records_off[node].tolist() == [min(off, 3) for off in exact]


def test_offsets_of_counts_as_large_as_counts_may_be():
    counts = np.array([[1 << 60, 3, 1 << 59]], np.int64)
    share = F(999_999, 1_000_000)
    offsets, rest = offsets_of(counts, share)
    total = sum(counts[0].tolist())
    assert offsets[0].tolist() == [upto - math.ceil(share * total) for upto in (1 << 60, (1 << 60) + 3)]
    assert rest.tolist() == [total % 1_000_000]


# The pull on it.


@pytest.mark.parametrize(("bins", "epsilon", "share", "relation"), [
    (3, "1/2", HALF, "exchange"),
    (4, 1, F(3, 4), "exchange"),
    (5, 2, HALF, "exchange"),
    (6, 3, HALF, "exchange"),
    (3, 1, HALF, "add-remove"),
    (4, 1, HALF, "add-remove"),
    (3, 2, F(3, 4), "add-remove"),
    (5, 2, F(3, 4), "add-remove"),
    (4, 3, F(19, 20), "add-remove"),
])  # fmt: skip
def test_every_edge_of_a_shipped_table_is_private_as_fractions(bins, epsilon, share, relation):
    privacy = Privacy(epsilon=epsilon)
    made = quantile(bins, privacy, share, relation)
    assert isinstance(made.form, CappedRankTable)
    graph, rows = made.form.offsets.graph, made.form.rows
    fractions = [rows.row(node) for node in range(graph.number_of_nodes)]
    assert all(sum(row) == 1 for row in fractions)
    for one, two in edges_of(graph):
        for chance, other in zip(fractions[one], fractions[two], strict=True):
            assert chance <= privacy.ratio * other
            assert other <= privacy.ratio * chance
    assert made.error.wrong_at_worst == pytest.approx(
        max(float(1 - row[right]) for row, right in zip(fractions, made.form.offsets.truth, strict=True))
    )


def test_a_weight_out_of_place_is_seen():
    made = quantile(3, Privacy(epsilon=1))
    graph, weights = made.form.offsets.graph, made.form.rows.weights.copy()
    ratio = made.privacy.ratio
    assert private_on_every_edge(graph, weights, ratio)
    # Where a chance is as large as a neighbour's allows, a millionth more is too much.
    rows = np.repeat(np.arange(graph.number_of_nodes), np.diff(graph.indptr))
    room = (most_allowed(weights, ratio)[graph.indices] - weights[rows]) / weights[rows]
    place, answer = np.unravel_index(room.argmin(), room.shape)
    part = int(weights[rows[place], answer]) // 1_000_000
    weights[rows[place], answer] += part
    weights[rows[place], (answer + 1) % 3] -= part
    assert not private_on_every_edge(graph, weights, ratio)
    weights[0] = 0
    assert not private_on_every_edge(graph, weights, ratio)


def on_histograms(records, bins, share=HALF):
    """The graph of all tables of so many records, and what is right at each."""
    listed = list(histograms(records, bins))
    place = {counts: number for number, counts in enumerate(listed)}
    edges = [(place[one], place[two]) for one in listed for two in exchanges(one) if place[one] < place[two]]
    graph = graph_from_edges(edges, nodes=range(len(listed)))
    right = np.array([[truth(counts, share) == bin for bin in range(bins)] for counts in listed])
    return graph, right, edges


def mean_wrong(rows, right):
    return 1 - (rows.weights * right).sum(axis=1).mean() / UNIT


@pytest.mark.parametrize(("records", "bins", "ratio", "value"), [
    (12, 3, F(2), 0.18829),
    (12, 3, F(4), 0.07934),
    (15, 3, Privacy(epsilon="1/2").ratio, 0.21677),
    (15, 3, Privacy(epsilon=1).ratio, 0.10205),
    (15, 3, Privacy(epsilon=2).ratio, 0.03395),
    (9, 4, Privacy(epsilon="1/2").ratio, 0.41301),
    (9, 4, Privacy(epsilon=1).ratio, 0.22358),
    (9, 4, Privacy(epsilon=2).ratio, 0.07895),
])  # fmt: skip
def test_mean_errors_over_all_tables(records, bins, ratio, value):
    graph, right, _ = on_histograms(records, bins)
    assert mean_wrong(pulled(graph, right, ratio), right) == pytest.approx(value, abs=5.1e-6)


def least_mean_wrong(right, edges, ratio):
    nodes, bins = right.shape
    program = Program()
    first = program.table(nodes, bins)
    program.private(first, bins, edges, float(ratio))
    program.charge(first, np.where(right, 0, 1 / nodes).ravel())
    return program.solve().value


def least_worst_wrong(right, edges, ratio):
    nodes, bins = right.shape
    program = Program()
    first = program.table(nodes, bins)
    program.private(first, bins, edges, float(ratio))
    program.worst(
        [{first + node * bins + bin: 1.0 for bin in range(bins) if not right[node, bin]} for node in range(nodes)]
    )
    return program.solve().value


@pytest.mark.parametrize(
    ("records", "bins", "epsilon", "best"),
    [(12, 3, None, 0.18805), (15, 3, 1, 0.10205), (15, 3, 2, 0.03395), (7, 4, 1, None)],
)
def test_mean_errors_are_near_those_of_programs(records, bins, epsilon, best):
    """At r = 2 where there is no ε. At most 6 % above the best, and half and more of it is below permute and flip."""
    ratio = F(2) if epsilon is None else Privacy(epsilon=epsilon).ratio
    graph, right, edges = on_histograms(records, bins)
    least = least_mean_wrong(right, edges, ratio)
    assert best is None or least == pytest.approx(best, abs=5.1e-6)
    assert least * (1 - 1e-6) <= mean_wrong(pulled(graph, right, ratio), right) <= 1.06 * least


@pytest.mark.parametrize(("epsilon", "value"), [("1/2", 0.54814), (1, 0.42388), (2, 0.21301)])
def test_the_least_worst_error_is_that_of_bins_that_one_record_can_reach(epsilon, value):
    ratio = float(Privacy(epsilon=epsilon).ratio)
    _, right, edges = on_histograms(13, 3)
    assert least_worst_wrong(right, edges, ratio) == pytest.approx(2 / (ratio + 2), abs=1e-7)
    assert 2 / (ratio + 2) == pytest.approx(value, abs=5.1e-6)


def test_without_a_cap_few_records_that_come_and_go_break_the_pull():
    """All tables of up to eight records: 1.31 ε. So tables are always those of capped offsets."""
    listed = [counts for records in range(9) for counts in histograms(records, 3)]
    place = {counts: number for number, counts in enumerate(listed)}
    edges = [(place[one], place[two]) for one in listed for two in additions(one) if two in place]
    right = np.array([[truth(counts, HALF) == bin for bin in range(3)] for counts in listed])
    graph = graph_from_edges(edges, nodes=range(len(listed)))
    assert pulled(graph, right, F(3, 2)) is None
    # The fixed point by its definition, in plain floats.
    chances = np.where(right, 0.5, 0.25)
    for _ in range(2_000):
        taken = np.array(
            [[chances[graph.neighbours(node), bin].max() / 1.5 for bin in range(3)] for node in place.values()]
        )
        taken[right] = 0
        after = np.where(right, (1 - taken.sum(axis=1))[:, None], taken)
        moved = np.abs(after - chances).max()
        chances = (chances + after) / 2
        if moved < 1e-9:
            break
    worst = max(np.abs(np.log(chances[one]) - np.log(chances[two])).max() for one, two in edges)
    assert worst / math.log(1.5) == pytest.approx(1.3108, abs=1e-3)


def test_uneven_gains_are_seen_by_permute_and_flip():
    """Wrong answers over all tables at ε = 1: permute and flip at half steps, by its integral, against the pull."""
    for records, bins in ((15, 3), (9, 4)):
        graph, right, _ = on_histograms(records, bins)
        flips = []
        for counts in histograms(records, bins):
            accepted = [math.exp(-float(score(counts, HALF, 1, place)) / 2) for place in range(bins)]
            for place, share in enumerate(accepted):
                if share == 1:
                    others = np.poly1d([1.0])
                    for other in accepted[:place] + accepted[place + 1 :]:
                        others = others * np.poly1d([-other, 1.0])
                    flips.append(1 - others.integ()(1.0))
        found = mean_wrong(pulled(graph, right, Privacy(epsilon=1).ratio), right)
        assert found <= 0.67 * np.mean(flips)


@pytest.mark.parametrize(("bins", "reach", "ratio"), [(2, 9, 1.5), (3, 8, 1.2), (4, 5, 2.0), (5, 4, 2.7), (7, 2, 5.0)])
def test_moving_all_records_of_one_side_is_the_pull_where_they_are_exchanged(bins, reach, ratio):
    """The guess that saves sweeps: each wrong chance is the largest of a neighbour's over r, to the last digits."""
    offsets = capped_offsets(bins, reach)
    chances = exchanged(offsets, ratio)
    right = offsets.truth[:, None] == np.arange(bins)
    assert chances.sum(axis=1) == pytest.approx(1, abs=1e-12)
    for node in range(offsets.graph.number_of_nodes):
        pulls = chances[offsets.graph.neighbours(node)].max(axis=0) / ratio
        assert chances[node][~right[node]] == pytest.approx(pulls[~right[node]], rel=1e-9)


def test_where_a_search_for_the_pull_begins_decides_nothing():
    offsets = capped_offsets(4, 5)
    right = offsets.truth[:, None] == np.arange(4)
    ratio = Privacy(epsilon=1).ratio
    cold, warm, wrong = (
        pulled(offsets.graph, right, ratio, start).weights / UNIT
        for start in (None, exchanged(offsets, float(ratio)), np.full(right.shape, 1 / 4))
    )
    assert cold == pytest.approx(warm, rel=1e-9)
    assert wrong == pytest.approx(warm, rel=1e-9)


def test_more_bins_have_tables_with_less_error_than_any_weights_by_score():
    for bins, epsilon in ((5, 1), (6, 1), (7, 2), (8, 2)):
        made = quantile(bins, Privacy(epsilon=epsilon))
        steps = ScoredBins(ladder(bins, made.privacy.ratio), HALF, F(1))
        assert isinstance(made.form, CappedRankTable)
        assert made.error.records_off < 0.97 * steps.error().records_off
        assert made.error.within_95_percent <= steps.error().within_95_percent


# Weights by score.


def score_moves(bins, most):
    """All pairs of scores with one zero each, no two of which differ by more than one anywhere."""
    listed = [one for one in itertools.product(range(most + 1), repeat=bins) if one.count(0) == 1]
    for one in listed:
        for two in listed:
            if all(abs(a - b) <= 1 for a, b in zip(one, two, strict=True)):
                yield one, two


def worst_ratio(weights, pairs):
    worst = F(0)
    for one, two in pairs:
        before, after = ([weights[min(s, len(weights) - 1)] for s in scores] for scores in (one, two))
        worst = max([worst, *(F(a * sum(after), b * sum(before)) for a, b in zip(before, after, strict=True))])
    return worst


@pytest.mark.parametrize(("bins", "most"), [(2, 9), (3, 7), (4, 5), (5, 3)])
def test_weights_whose_inequality_holds_are_private_between_all_scores(bins, most):
    """For any weights: random falling ones, at the least r for which A·G ≤ r."""
    pick = fresh_random(f"ladders {bins}")
    pairs = list(score_moves(bins, most))
    for _ in range(6):
        weights = [1000]
        while len(weights) <= most - 1:
            weights.append(max(1, round(weights[-1] * pick.uniform(0.2, 1))))
        others = bins - 2
        falls = max(F(a, b) for a, b in itertools.pairwise(weights))
        grows = max(
            [F(1), *(F(weights[0] + others * a, weights[0] + others * b) for a, b in itertools.pairwise(weights[1:]))]
        )
        assert is_private(bins, falls * grows, tuple(weights), grows)
        assert not is_private(bins, falls * grows * F(999, 1000), tuple(weights), grows)
        assert worst_ratio(weights, pairs) <= falls * grows


@pytest.mark.parametrize(
    ("bins", "ratio", "base"),
    [(3, 2, 0.590), (4, 2, 0.630), (5, 2, 0.651), (3, 4, 0.299), (4, 4, 0.342), (5, 4, 0.374), (2, 4, 0.25)],
)
def test_the_base_of_the_exponential_mechanism(bins, ratio, base):
    """Rounded up: to three digits those of the theory, and no smaller number of nine digits will do."""
    found = exponential_base(bins, F(ratio))
    others = bins - 2

    def holds(b):
        return ratio * b * (1 + others * b * b) >= 1 + others * b

    assert holds(found)
    assert not holds(found - F(1, 10**9))
    assert base - 0.001 < float(found) <= base + 1e-12


def test_the_base_leaves_more_than_half_of_epsilon():
    exponents = [-math.log(exponential_base(bins, Privacy(epsilon=1).ratio)) for bins in (3, 4, 5, 100)]
    assert [round(part, 2) for part in exponents] == [0.81, 0.71, 0.65, 0.51]


@pytest.mark.parametrize("bins", [3, 4])
def test_the_exponential_mechanism_on_every_edge_and_a_base_a_little_smaller(bins):
    """As fractions, on capped offsets: private at β, and not at β less two per cent, which the far end shows."""
    ratio = F(2)
    base = exponential_base(bins, ratio)
    graph = capped_offsets(bins, 9)
    off = graph.records_off.tolist()

    def worst(b):
        powers = [b**step for step in range(10)]
        rows = [[powers[step] for step in row] for row in off]
        totals = [sum(row) for row in rows]
        return max(
            F(max(a * totals[two] / (b * totals[one]), b * totals[one] / (a * totals[two])))
            for one, two in edges_of(graph.graph)
            for a, b in zip(rows[one], rows[two], strict=True)
        )

    assert worst(base) <= ratio < worst(base * F(98, 100))


@pytest.mark.parametrize("bins", [2, 3, 6, 20, 100])
@pytest.mark.parametrize("epsilon", ["1/50", "1/2", 1, 3])
def test_ladders_are_private_and_no_worse_than_the_exponential_mechanism(bins, epsilon):
    ratio = Privacy(epsilon=epsilon).ratio
    made, base = ladder(bins, ratio), exponential_base(bins, ratio)
    assert is_private(bins, ratio, made.weights, made.growth)
    assert made.weights[0] == HEIGHT
    assert is_private(bins, ratio, whole_ladder(bins, ratio, ratio * base).weights, ratio * base)

    def worst_mean(weight):
        return max(s * (bins - 1) * weight(s) / (1 + (bins - 1) * weight(s)) for s in range(1, 4_000))

    of_ladder = worst_mean(lambda s: made.weights[min(s, len(made.weights) - 1)] / HEIGHT)
    assert of_ladder <= worst_mean(lambda s: float(base) ** s) * 1.001


def test_a_bound_on_growth_below_one_is_none():
    """Two weights with a ratio of 4 are no ladder at r = 3, whatever growth they are said to have."""
    assert not is_private(3, F(2), (4, 1), F(1, 2))
    assert is_private(3, F(4), (4, 1), F(1))


def test_a_ladder_lowered_by_one_is_refused():
    made = ladder(6, F(2))
    for step in (1, 2, 3):
        lowered = list(made.weights)
        lowered[step] -= 1 + lowered[step] // 10_000
        assert not is_private(6, F(2), tuple(lowered), made.growth)
    assert not is_private(6, F(2), (*made.weights, 0), made.growth)
    assert not is_private(6, F(2), (HEIGHT, HEIGHT + 1), F(1))


@pytest.mark.parametrize("share", [HALF, F(3, 4), F(1, 3), F(9, 10), F(1)])
@pytest.mark.parametrize("exchange", [True, False])
def test_scores_are_zero_where_right_and_move_by_one(share, exchange):
    span = F(1) if exchange else max(share, 1 - share)
    form = ScoredBins(ScoreWeights(4, F(2), (2, 1), F(1)), share, span)
    for records in range(8):
        listed = list(histograms(records, 4))
        found = dict(zip(listed, form.scores(np.array(listed, np.int64)).tolist(), strict=True))
        for counts, scores in found.items():
            assert scores == [score(counts, share, span, place) for place in range(4)]
            assert [place for place, s in enumerate(scores) if s == 0] == [truth(counts, share)]
            moved = [*additions(counts), *(exchanges(counts) if exchange else ())]
            after = form.scores(np.array(moved, np.int64))
            assert (np.abs(after - np.array(scores)) <= 1).all()


@pytest.mark.parametrize(("bins", "relation"), [(7, "exchange"), (4, "add-remove"), (12, "add-remove")])
def test_rank_errors_of_weights_are_bounds(bins, relation):
    """Random counts, and the worst: all other bins empty, on one side."""
    made = quantile(bins, Privacy(epsilon="1/5"), HALF, relation)
    assert isinstance(made.form, ScoredBins)
    pick = fresh_random(f"rank errors {bins}")
    cases = [[pick.randrange(pick.choice([2, 9, 60])) for _ in range(bins)] for _ in range(200)]
    cases += [[30 - behind, *[0] * (bins - 2), 30 + behind] for behind in range(30)]
    for counts in cases:
        row = made.row(counts)
        off = [score(counts, HALF, 1, place) for place in range(bins)]
        within = made.error.within_95_percent
        assert sum(chance for chance, far in zip(row, off, strict=True) if far > within) <= F(1, 20)
        mean = float(sum(chance * far for chance, far in zip(row, off, strict=True)))
        assert mean <= made.error.records_off * (1 + 1e-12)
        assert 1 - row[off.index(0)] <= made.error.wrong_at_worst + 1e-12
        if min(far for far in off if far) >= made.error.margin_for_99_percent:
            assert row[off.index(0)] >= F(99, 100)


# What is chosen.


@pytest.mark.parametrize(("bins", "epsilon", "share", "relation", "kind"), [
    (5, 1, HALF, "exchange", CappedRankTable),
    (5, 1, HALF, "add-remove", CappedRankTable),
    (5, "1/10", HALF, "exchange", ScoredBins),
    (3, "1/10", HALF, "exchange", CappedRankTable),
    (6, 1, HALF, "exchange", CappedRankTable),
    (12, 1, HALF, "exchange", ScoredBins),
    (3, 0, HALF, "exchange", ScoredBins),
    (2, 1, HALF, "add-remove", CappedRankTable),
    (
        3,
        1,
        F(997, 1000),
        "add-remove",
        CappedRankTable,
    ),  # that of exchanges: its own has a thousand times the nodes
])  # fmt: skip
def test_which_mechanism_is_chosen(bins, epsilon, share, relation, kind):
    made = quantile(bins, Privacy(epsilon=epsilon), share, relation)
    assert isinstance(made.form, kind)
    row = made.row([2] * bins)
    assert sum(row) == 1
    assert min(row) > 0


def test_with_no_privacy_loss_all_bins_are_alike():
    assert quantile(4, Privacy(epsilon=0)).row([9, 0, 0, 1]) == (F(1, 4),) * 4
