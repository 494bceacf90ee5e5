"""Laws of peers' mechanisms against their definitions, added up or integrated anew; and their privacy, edge by edge."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate

from irisdp import Privacy, compare, design
from irisdp._measurements import (
    Grid,
    MeanFromEnds,
    MeanNodes,
    MeanOfAll,
    StaircaseNoise,
    VarianceFromEnds,
    VarianceNodes,
    VarianceOfAll,
)
from irisdp.baselines import (
    ComparedCounts,
    DiscreteGaussian,
    ExponentialScore,
    ExponentialSide,
    GeometricCount,
    GeometricMaximum,
    GeometricSide,
    JointExponential,
    LaplaceMaximum,
    LaplaceSide,
    PeeledExponential,
    PermutedFlips,
    Rate,
    RoundedLaplace,
    RoundedStaircase,
    SortedNoise,
    discrete_gaussian,
    rank_scores,
    records_off,
)
from irisdp.baselines._bins import ScoresByRank, _laplace_inside
from irisdp.baselines._comparison import ComparisonParameters
from irisdp.baselines._moments import _means, _variances
from support.plurality import ascending, by_all_orders, exchanges, normal, number

FLOATS = 1e-12
"""Sums and integrals in doubles of numbers of size 1."""

QUADRATURE = 1e-8

WINNERS = (ExponentialScore, PermutedFlips, GeometricMaximum, LaplaceMaximum)
RATIO = Fraction(4)
GAPS = [(0, 1), (3, 0), (0, 0, 2), (0, 1, 4), (2, 0, 5)]


def floats(row):
    return [float(chance) for chance in row]


@pytest.mark.parametrize("root", [1, 2])
@pytest.mark.parametrize("gaps", GAPS)
def test_scores_and_flips_are_their_definitions(gaps, root):
    alpha = number(Fraction(1, 4 if root == 1 else 2))
    weights = [alpha**gap for gap in gaps]
    for made, expected in (
        (ExponentialScore, [one / sum(weights) for one in weights]),
        (PermutedFlips, by_all_orders(weights)),
    ):
        row = made(Rate(RATIO, root)).row(gaps)
        assert all(one.width == 0 for one in row)
        assert [number(one.lower) for one in row] == expected


@pytest.mark.parametrize("root", [1, 2])
@pytest.mark.parametrize("gaps", GAPS)
def test_geometric_noise_added_to_each_count_and_ties_broken_at_random(gaps, root):
    """Every combination of noise up to 40 on each side; what is beyond has less mass than FLOATS."""
    alpha, reach = (0.25, 24) if root == 1 else (0.5, 46)
    noise = np.arange(-reach, reach + 1)
    law = (1 - alpha) / (1 + alpha) * alpha ** np.abs(noise)
    grids = np.meshgrid(*[noise - gap for gap in gaps], indexing="ij", sparse=True)
    mass = np.ones(1)
    for place in range(len(gaps)):
        mass = mass * law.reshape([-1 if axis == place else 1 for axis in range(len(gaps))])
    most = np.maximum.reduce(np.broadcast_arrays(*grids))
    tops = [grid == most for grid in grids]
    ties = sum(top.astype(int) for top in tops)
    expected = [float((mass * top / ties).sum()) for top in tops]
    assert floats(GeometricMaximum(Rate(RATIO, root)).row(gaps)) == pytest.approx(expected, abs=FLOATS)


@pytest.mark.parametrize("root", [1, 2])
@pytest.mark.parametrize("gaps", GAPS)
def test_laplace_noise_integrated(gaps, root):
    rate = math.log(4) / root

    def below(x):
        return 0.5 * math.exp(rate * x) if x < 0 else 1 - 0.5 * math.exp(-rate * x)

    found = LaplaceMaximum(Rate(RATIO, root)).row(gaps)
    for place, one in enumerate(found):
        others = [gap - gaps[place] for rank, gap in enumerate(gaps) if rank != place]
        cuts = sorted({0, *(-lead for lead in others)})
        ends = [cuts[0] - 60, *cuts, cuts[-1] + 60]
        expected = sum(
            integrate.quad(
                lambda x, others=others: (
                    rate / 2 * math.exp(-rate * abs(x)) * math.prod(below(x + lead) for lead in others)
                ),
                low,
                high,
                epsabs=1e-12,
            )[0]
            for low, high in itertools.pairwise(ends)
        )
        assert one.width < Fraction(1, 10**15)
        assert float(one) == pytest.approx(expected, abs=QUADRATURE)


def private(first, second, ratio):
    """Compare what is enclosed, in favour of whoever promises."""
    return all(
        one.lower <= ratio * other.upper and other.lower <= ratio * one.upper
        for one, other in zip(first, second, strict=True)
    )


def additions(gaps):
    for gains in range(len(gaps)):
        yield normal([-gap + (place == gains) for place, gap in enumerate(gaps)])


@pytest.mark.parametrize("made", WINNERS)
def test_winners_keep_epsilon_at_their_rates_and_lose_it_at_the_other(made):
    states = ascending(3, 6)
    for root, neighbours in ((1, additions), (2, exchanges)):
        mechanism = made(Rate(RATIO, root))
        assert all(private(mechanism.row(gaps), mechanism.row(to), RATIO) for gaps in states for to in neighbours(gaps))
    mechanism = made(Rate(RATIO, 1))
    assert not all(private(mechanism.row(gaps), mechanism.row(to), RATIO) for gaps in states for to in exchanges(gaps))


@pytest.mark.parametrize("made", WINNERS)
@pytest.mark.parametrize(("root", "step"), [(1, 1), (2, 2)])
def test_no_larger_rate_would_keep_epsilon(made, root, step):
    """At 2 % more of ε two counts that are far apart move by more than the ratio."""
    more = made(Rate(Fraction(round(float(RATIO) ** 1.02 * 1000), 1000), root))
    far = 120  # Laplace noise comes near its rate slowly
    assert not private(more.row((0, far)), more.row((0, far - step)), RATIO)


@pytest.mark.parametrize("made", WINNERS)
def test_the_worst_gaps_are_one_record_behind(made):
    for root in (1, 2):
        mechanism = made(Rate(RATIO, root))
        worst = mechanism.wrong((0, 1, 1, 1))
        assert all(mechanism.wrong(gaps).lower <= worst.upper for gaps in ascending(4, 3))


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_means_are_means_over_every_table(relation):
    n, q = 5, 3
    found = compare("plurality", categories=q, n=n, ratio=4, relation=relation, lead=2)
    columns = list(itertools.product(range(q), repeat=n))
    histograms = [tuple(counts) for counts in itertools.product(range(n + 1), repeat=q) if sum(counts) == n]
    for rank, made in enumerate((PermutedFlips, GeometricMaximum, LaplaceMaximum, ExponentialScore)):
        mechanism = made(Rate(RATIO, 2 if relation == "exchange" else 1))
        wrong = {normal(counts): float(mechanism.wrong(normal(counts))) for counts in histograms}
        errors = found.mechanisms[rank + 1].errors
        assert found.mechanisms[rank + 1].name == mechanism.name
        assert float(errors["mean"]) == pytest.approx(
            sum(wrong[normal(counts)] for counts in histograms) / len(histograms), abs=FLOATS
        )
        tables = [[column.count(one) for one in range(q)] for column in columns]
        mean = sum(wrong[normal(counts)] for counts in tables) / len(columns)
        assert float(errors["mean-records"]) == pytest.approx(mean, abs=FLOATS)
        assert errors["lead-2"] == mechanism.wrong((0, 2, 2))


def two_sided(alpha, reach=200):
    noise = np.arange(-reach, reach + 1)
    return noise, (1 - alpha) / (1 + alpha) * alpha ** np.abs(noise)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("away", [0, 1, 4])
def test_decisions_are_their_definitions(stride, away):
    """A yes at position 1 + away is wrong where noise takes it to 0 or below; a no at −away where to 1 or above."""
    alpha = 4 ** (-1 / stride)
    noise, law = two_sided(alpha)
    assert float(GeometricSide(RATIO, stride).wrong(away)) == pytest.approx(law[noise >= away + 1].sum(), abs=FLOATS)
    difference = np.convolve(law, law)
    reach = np.arange(len(difference)) - len(difference) // 2
    assert float(ComparedCounts(RATIO, stride).wrong(away)) == pytest.approx(
        difference[reach >= away + 1].sum(), abs=FLOATS
    )
    rate = -math.log(alpha)
    assert float(LaplaceSide(RATIO, stride).wrong(away)) == pytest.approx(math.exp(-rate * (away + 0.5)) / 2)
    assert float(ExponentialSide(RATIO, stride).wrong(away)) == pytest.approx(1 / (1 + math.exp(rate * (away + 0.5))))


@pytest.mark.parametrize("made", [GeometricSide, LaplaceSide, ExponentialSide, ComparedCounts])
@pytest.mark.parametrize("stride", [1, 2])
def test_decisions_keep_epsilon_on_the_line(made, stride):
    mechanism = made(RATIO, stride)

    def yes(position):
        wrong = mechanism.wrong(position - 1 if position >= 1 else -position)
        low, high = (wrong.lower, wrong.upper) if position < 1 else (1 - wrong.upper, 1 - wrong.lower)
        return low, high

    def kept(move):
        for position in range(-9, 10):
            high, low_there = yes(position)[1], yes(position + move)[0]
            if low_there > RATIO * high or 1 - high > RATIO * (1 - low_there):
                return False
        return True

    assert all(kept(move) for move in range(1, stride + 1))
    assert not kept(stride + 1)


def staircase(gamma, alpha):
    """Return the density of staircase noise on the reals."""
    level = (1 - alpha) / (2 * (gamma + alpha * (1 - gamma)))

    def density(x):
        whole, part = divmod(abs(x), 1)
        return level * alpha**whole * (1 if part < gamma else alpha)

    return density


def test_rounded_noise_is_what_lies_around_each_number():
    alpha = 0.25
    gamma = 1 / (1 + 4**0.5)
    densities = {
        RoundedLaplace: (lambda x: math.log(4) / 2 * alpha ** abs(x), []),
        RoundedStaircase: (staircase(gamma, alpha), [gamma]),
    }
    for made, (density, cuts) in densities.items():
        tails = {}
        for z in range(1, 25):
            jumps = {float(z), *(z + cut for cut in cuts), *(z - 1 + cut for cut in cuts)}
            inside = sorted({z - 0.5, z + 0.5, *(x for x in jumps if z - 0.5 <= x <= z + 0.5)})
            tails[z] = sum(integrate.quad(density, low, high)[0] for low, high in itertools.pairwise(inside))
        law = made(RATIO)
        assert float(law.miss()) == pytest.approx(2 * sum(tails.values()), abs=QUADRATURE)
        for power in (1, 2):
            mean = 2 * sum(z**power * mass for z, mass in tails.items())
            assert float(law.mean(power)) == pytest.approx(mean, abs=QUADRATURE)
        assert float(law.tail(2)) == pytest.approx(sum(mass for z, mass in tails.items() if z >= 2), abs=QUADRATURE)


def test_geometric_counts_and_clamping():
    noise, law = two_sided(0.25)
    made = GeometricCount(RATIO)
    for power in (1, 2):
        assert float(made.mean(power)) == pytest.approx((law * np.abs(noise) ** power).sum(), abs=FLOATS)
    for n in (1, 4):
        mean = np.mean([(law * np.abs(np.clip(count + noise, 0, n) - count)).sum() for count in range(n + 1)])
        assert float(made.clamped(n)) == pytest.approx(mean, abs=FLOATS)


@pytest.mark.parametrize(("ratio", "delta"), [(Fraction(2), Fraction(1, 100)), (Fraction(3), Fraction(1, 10**6))])
def test_the_discrete_gaussian_has_the_least_variance(ratio, delta):
    made = discrete_gaussian(ratio, delta)

    def needed(variance):
        noise = np.arange(-400, 401)
        weights = np.exp(-(noise**2) / (2 * variance))
        law = weights / weights.sum()
        return (
            np.maximum(0, law[1:] - float(ratio) * law[:-1]).sum(),
            (law * np.abs(noise)).sum(),
            law[noise >= 3].sum(),
        )

    exact, absolute, tail = needed(float(made.variance))
    assert float(made.delta(ratio)) == pytest.approx(exact, rel=1e-9)
    assert float(made.mean(1)) == pytest.approx(absolute, abs=FLOATS)
    assert float(made.tail(3)) == pytest.approx(tail, abs=FLOATS)
    assert made.delta(ratio).upper <= delta < DiscreteGaussian(made.variance * Fraction(998, 1000)).delta(ratio).lower


SHARES = [Fraction(1, 2), Fraction(3, 4), Fraction(1, 3), Fraction(1)]


def neighbours(counts, relation):
    for gains in range(len(counts)):
        more = tuple(count + (place == gains) for place, count in enumerate(counts))
        if relation == "add-remove":
            yield more
            continue
        for loses in range(len(counts)):
            if loses != gains and counts[loses]:
                yield tuple(count - (place == loses) for place, count in enumerate(more))


def histograms(records, bins):
    return [counts for counts in itertools.product(range(records + 1), repeat=bins) if sum(counts) == records]


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("share", SHARES)
def test_scores_by_rank_are_right_move_by_one_and_keep_epsilon(share, relation):
    span = Fraction(1) if relation == "exchange" else max(share, 1 - share)
    mechanisms = [ExponentialScore(Rate(RATIO, 2)), PermutedFlips(Rate(RATIO, 2))]
    for records in range(6):
        for counts in histograms(records, 3):
            scores = rank_scores(counts, share, span)
            right = next(place for place in range(3) if sum(counts[: place + 1]) >= share * records)
            assert [score == 0 for score in scores] == [place == right for place in range(3)]
            values = [place for place, count in enumerate(counts) for _ in range(count)]
            if values:
                rank = math.ceil(share * records)
                # The distance from the rank to the nearest rank at which this bin, or one beyond it, begins or ends.
                off = [
                    0 if place == right else rank - sum(v <= place for v in values) if place < right
                    else sum(v < place for v in values) - rank + 1
                    for place in range(3)
                ]  # fmt: skip
                assert list(records_off(counts, share)) == off
                if relation == "exchange" and share.denominator == 1:
                    assert list(scores) == off
            for other in neighbours(counts, relation):
                there = rank_scores(other, share, span)
                assert all(abs(one - two) <= 1 for one, two in zip(scores, there, strict=True))
                assert all(private(made.row(scores), made.row(there), RATIO) for made in mechanisms)


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_means_over_bins_are_means_over_every_table(relation):
    n, k = 4, 3
    share = Fraction(3, 4)
    found = compare("quantile", "3/4", categories=k, n=n, ratio=4, relation=relation, lead=2)
    made = design.quantile(k, Privacy(ratio=4), share, relation)
    span = Fraction(1) if relation == "exchange" else max(share, 1 - share)

    def scored(peer):
        return lambda counts: floats(peer(Rate(RATIO, 2)).row(rank_scores(counts, share, span)))

    rows = [lambda counts: floats(made.row(counts)), scored(PermutedFlips), scored(ExponentialScore)]
    columns = [tuple(column.count(one) for one in range(k)) for column in itertools.product(range(k), repeat=n)]
    for one, row in zip(found.mechanisms, rows, strict=True):
        tables = histograms(n, k)
        off = {counts: records_off(counts, share) for counts in tables}
        wrong = {counts: sum(p for p, away in zip(row(counts), off[counts], strict=True) if away) for counts in tables}
        away = [sum(p * far for p, far in zip(row(counts), off[counts], strict=True)) for counts in tables]
        assert float(one.errors["mean"]) == pytest.approx(np.mean(list(wrong.values())), abs=FLOATS)
        assert float(one.errors["mean-records"]) == pytest.approx(np.mean([wrong[c] for c in columns]), abs=FLOATS)
        assert float(one.errors["records-off"]) == pytest.approx(np.mean(away), abs=FLOATS)
        assert all(value <= float(one.errors["worst"]) + FLOATS for value in wrong.values())


@pytest.mark.parametrize("share", SHARES[:3])
@pytest.mark.parametrize("bins", [2, 3, 4, 7])
def test_leads_are_distances_to_the_nearest_other_bins(share, bins):
    for lead in (1, 2, 9):
        found = compare("quantile", share, categories=bins, epsilon=1, lead=lead)
        counts = [int(count) for count in found.objectives[-1].words.rpartition(" ")[2].split(",")]
        off = records_off(counts, share)
        right = off.index(0)
        assert min(away for away in off if away) == off[right + 1] == lead
        assert bins == 2 or off[right - 1] == lead


def is_right(order, counts, named):
    if named is None:
        return all(counts[one] >= counts[other] for one, other in itertools.pairwise(order))
    return min(counts[one] for one in order[:named]) >= max(counts[one] for one in order[named:])


ORDERED = [((4, 2, 0), 1), ((0, 3, 3), 2), ((1, 2, 1), None), ((2, 1, 1, 0), 2), ((0, 1, 3, 3), None)]


@pytest.mark.parametrize(("counts", "named"), ORDERED)
def test_noisy_counts_sorted_are_all_combinations_of_noise(counts, named):
    """Every combination of noise, but for the last one in 10^12, or with four counts in 10^5."""
    alpha, reach, beyond = (1 / 16, 12, 1e-12) if len(counts) == 3 else (1 / 16, 5, 1e-5)
    noise, law = two_sided(alpha, reach)
    right = Fraction(0)
    for drawn in itertools.product(range(len(noise)), repeat=len(counts)):
        mass = math.prod(law[place] for place in drawn)
        sums = [count + int(noise[place]) for count, place in zip(counts, drawn, strict=True)]
        orders = [
            order for order in itertools.permutations(range(len(sums)))
            if all(sums[one] >= sums[other] for one, other in itertools.pairwise(order))
        ]  # fmt: skip
        right += mass * sum(is_right(order, counts, named) for order in orders) / len(orders)
    found = SortedNoise(Rate(Fraction(16), 1), named).wrong(counts)
    assert float(found) == pytest.approx(1 - float(right), abs=beyond)


def sequence_laws(made, counts):
    """Return the law of sequences, from the chances of right answers at counts that make one alone right."""
    length = made.named or len(counts)
    weights = [float(made.rate.ratio) ** (count / made.rate.root) for count in counts]
    found = {}
    for one in itertools.permutations(range(len(counts)), length):
        if isinstance(made, PeeledExponential):
            left, chance = sum(weights), 1.0
            for place in one:
                chance, left = chance * weights[place] / left, left - weights[place]
        else:
            due = sorted(counts, reverse=True)
            short = max(best - counts[place] for best, place in zip(due, one, strict=False))
            chance = float(made.rate.ratio) ** (-short / made.rate.root)
        found[one] = chance
    total = sum(found.values())
    return {one: chance / total for one, chance in found.items()}


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("named", [1, 2, None])
def test_sequences_are_their_definitions_and_keep_epsilon(named, relation):
    rounds = 2 if named is None else named
    exchange = relation == "exchange"
    for made in (
        PeeledExponential(Rate(RATIO, rounds + exchange), named),
        JointExponential(Rate(RATIO, 4 if exchange else 2), named),
    ):
        for counts in itertools.product(range(5), repeat=3):
            law = sequence_laws(made, counts)
            right = sum(chance for one, chance in law.items() if one in set(made.sequences(counts)))
            assert float(made.wrong(counts)) == pytest.approx(1 - right, abs=FLOATS)
            for other in neighbours(counts, relation):
                there = sequence_laws(made, other)
                assert all(law[one] <= 4.000001 * there[one] and there[one] <= 4.000001 * law[one] for one in law)
        assert set(made.answers((3, 1, 1))) == {
            1: {(0,)}, 2: {(0, 1), (0, 2)}, None: {(0, 1, 2), (0, 2, 1)},
        }[named]  # fmt: skip


# Means, variances, several quantiles and bounds.


def moments(values):
    """Return number, sum and sum of squares of values from -1 to 1."""
    return np.array([len(values), sum(values), sum(value * value for value in values)], dtype=float)


def ends(values):
    """Return sums of a, b; and of a², 2ab, b², where a and b are the distances from the bounds as shares of both."""
    above = [(1 + value) / 2 for value in values]
    return [
        np.array([sum(above), sum(1 - a for a in above)]),
        np.array([sum(a * a for a in above), sum(2 * a * (1 - a) for a in above), sum((1 - a) ** 2 for a in above)]),
    ]


def mean_of(number, total, _=0.0):
    return total / number


def variance_of(number, total, squares):
    return squares / number - (total / number) ** 2


READ = {
    "sums of the distances from both bounds": (0, lambda up, down: mean_of(up + down, up - down)),
    "three sums of products of the distances": (1, lambda a, ab, b: variance_of(a + ab + b, a - b, a - ab + b)),
    "Laplace noise on number, sum and squares": (None, variance_of),
    "the same, squares less their middle": (None, lambda n, s, less: variance_of(n, s, less + n / 2)),
}


@pytest.mark.parametrize("name", READ)
def test_weights_of_noise_are_slopes_of_what_is_published(name):
    """N times the slopes of the answer in its noisy numbers, for values of which mean and variance are known."""
    about, read = READ[name]
    make = _means if name.startswith("sums") else _variances
    ((_, error),) = (one for one in make(parameters("add-remove")) if one[0]["name"] == name)
    for values in ([0.25] * 40, [-1, 1, 0.5, 0.25] * 10, [1] * 40, [-1, -0.5] * 20):
        n, total, squares = moments(values)
        mean, variance = total / n, squares / n - (total / n) ** 2
        numbers = moments(values) if about is None else ends(values)[about]
        if name.startswith("the same"):
            numbers[2] -= n / 2
        slopes = []
        for place in range(len(numbers)):
            moved = [numbers + side * 1e-4 * (np.arange(len(numbers)) == place) for side in (1, -1)]
            slopes.append(n * (read(*moved[0]) - read(*moved[1])) / 2e-4)
        weights = [float(weight) for weight in error.weights(Fraction(mean), Fraction(variance))]
        assert weights == pytest.approx(slopes, abs=1e-5)


def parameters(relation):
    return ComparisonParameters.read(
        words=(), categories=None, n=None, privacy=Privacy(epsilon=1), relation=relation, lead=None, gaps=None
    )


def test_what_is_compared_of_means_and_variances_is_what_is_drawn():
    """Root mean squares of draws by this library's mechanisms, from many values, times their number."""
    times, count = 3000, 10**6
    for relation in ("exchange", "add-remove"):
        for make, root in ((_means, 1), (_variances, 2)):
            (words, error), *_ = make(parameters(relation))
            for place, above in (("at-bound", 100), ("middle", 50)):
                known = np.full(times, count)
                held = (known, known * above, known * above**2, known)
                made = published(words["name"])
                nodes = VarianceNodes(*held) if root == 2 else MeanNodes(*held[:2], known)
                drawn = made.draw(nodes)
                truth = 0.0 if root == 2 else (above - 50) / 50
                off = np.sqrt(np.mean((read_of(words["name"], drawn, count) - truth) ** 2)) * count
                t, v = (Fraction(1), Fraction(0)) if place == "at-bound" else (Fraction(0), Fraction(0))
                assert off == pytest.approx(float(error.root_mean_square(t, v)), rel=0.1)


def published(name):
    privacy, steps = Privacy(epsilon=1), Grid(0, 100, Fraction(1))
    return {
        "sums of the distances from both bounds": MeanFromEnds(privacy, steps),
        "three sums of products of the distances": VarianceFromEnds(privacy, steps),
        "staircase noise on the sum": MeanOfAll(StaircaseNoise(privacy, 100), steps),
        "staircase noise on the squares around the mean": VarianceOfAll(StaircaseNoise(privacy, 10**4), steps),
    }[name]


def read_of(name, drawn, count):
    drawn = np.asarray(drawn, dtype=float)
    if name == "staircase noise on the sum":
        return drawn / count / 50 - 1
    if name == "staircase noise on the squares around the mean":
        return drawn / count / 2500
    scaled = drawn.T / (100 if len(drawn[0]) == 2 else 10**4)
    return READ[name][1](*scaled)


@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 3), Fraction(1)])
def test_no_table_takes_a_bin_by_rank_further_than_said(share, relation):
    span = Fraction(1) if relation == "exchange" else max(share, 1 - share)
    for peer in (PermutedFlips(Rate(Fraction(4), 2)), ExponentialScore(Rate(Fraction(4), 2))):
        made, nearest = ScoresByRank(peer, 3, span), 1.0
        for counts in itertools.chain(histograms(6, 3), histograms(7, 3)):
            off = records_off(counts, share)
            chances = floats(one.lower for one in peer.row(rank_scores(counts, share, span)))
            for distance in range(3):
                within = sum(chance for chance, away in zip(chances, off, strict=True) if away <= distance)
                assert within >= float(made.chance_within(distance).lower) - FLOATS
                if distance == 1:
                    nearest = min(nearest, within - float(made.chance_within(1).lower))
        assert nearest < 0.1


@pytest.mark.parametrize("wrong", [Fraction(1, 20), Fraction(1, 10**9)])
@pytest.mark.parametrize("root", [1, 2])
def test_thresholds_of_laplace_noise_are_those_of_its_tail(wrong, root):
    scale, bins = root / math.log(3), 126
    count = _laplace_inside(Rate(Fraction(3), root), bins, wrong)
    threshold = -scale * math.log(2 * (-math.expm1(math.log1p(-float(wrong)) / bins)))
    assert (1 - math.exp(-threshold / scale) / 2) ** bins == pytest.approx(1 - float(wrong), rel=1e-9)
    assert math.exp(-(count - threshold) / scale) / 2 <= 0.05 < math.exp(-(count - 1 - threshold) / scale) / 2
