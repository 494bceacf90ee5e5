"""Intervals for a population: coverage by exact enumeration, the interval by fractions, and simulations."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy, interpret
from irisdp.interpretation import NoisyCount
from irisdp.interpretation._population import count_in_population, mean_in_population
from irisdp.interpretation._published_counts import noise_masses
from support.seeds import fresh_generator
from support.sweeps import tried

RATIO = Fraction(2)
FAR = 60


def noise(z):
    alpha = 1 / RATIO
    return (1 - alpha) / (1 + alpha) * alpha ** abs(z)


def at_least(z):
    """P(Z ≥ z), exactly."""
    alpha = 1 / RATIO
    return alpha**z / (1 + alpha) if z > 0 else 1 - alpha ** (1 - z) / (1 + alpha)


def sampled(inside, members, size):
    """The distribution of members with the property in the sample, exactly."""
    return {
        s: Fraction(comb(inside, s) * comb(members - inside, size - s), comb(members, size))
        for s in range(max(0, size - members + inside), min(size, inside) + 1)
    }


def by_fractions(published, members, size, wrong):
    """The ends, by fractions and by trying every K."""

    def up(k):
        return sum(p * at_least(published - s) for s, p in sampled(k, members, size).items())

    def down(k):
        return sum(p * at_least(s - published) for s, p in sampled(k, members, size).items())

    low = next((k for k in range(members + 1) if published <= 0 or up(k) > wrong), members)
    high = next((k for k in range(members, -1, -1) if published >= size or down(k) > wrong), 0)
    return low, max(low, high)


MASSES = noise_masses(NoisyCount(privacy=Privacy(ratio=RATIO), ends=(None,)))
WRONG = Fraction(1, 40)
SIZES = [(n, m) for n in range(1, tried(6, 13)) for m in range(1, n + 1)]


def test_the_interval_is_the_one_of_fractions():
    for members, size in SIZES:
        for published in range(-2, size + 3):
            found = count_in_population(published, members, size, MASSES, float(WRONG))
            assert found == by_fractions(published, members, size, WRONG), (members, size, published)


@pytest.mark.parametrize("clamped", [False, True])
def test_every_population_is_covered(clamped):
    for members, size in SIZES:
        ends = {
            shown: count_in_population(shown, members, size, MASSES, float(WRONG)) for shown in range(-FAR, size + FAR)
        }
        for inside in range(members + 1):
            covered = Fraction(0)
            for (s, p), z in product(sampled(inside, members, size).items(), range(-FAR, FAR)):
                shown = s + z
                shown = min(max(shown, 0), size) if clamped else shown
                low, high = ends[shown]
                covered += p * noise(z) if low <= inside <= high else 0
            assert covered >= 1 - 2 * WRONG - Fraction(1, 10**6), (members, size, inside)


def test_a_forgotten_noise_is_caught():
    members, size, inside = 12, 6, 6
    covered = Fraction(0)
    for (s, p), z in product(sampled(inside, members, size).items(), range(-FAR, FAR)):
        low, high = count_in_population(s + z, members, size, [1.0], float(WRONG))
        covered += p * noise(z) if low <= inside <= high else 0
    assert covered < 1 - 2 * WRONG


SETTINGS = [(10**4, 300, 0.02), (10**5, 1000, 0.5), (2000, 1500, 0.9), (10**9, 400, 0.3)]


@pytest.mark.parametrize(("members", "size", "share"), SETTINGS)
@pytest.mark.parametrize("ratio", ["11/10", 3])
def test_simulated_samples_are_covered(members, size, share, ratio):
    random = fresh_generator([members, size, len(str(ratio))])
    trials = tried(1_000, 10_000)
    inside = int(members * share)
    drawn = random.hypergeometric(inside, members - inside, size, trials)
    privacy = Privacy(ratio=ratio)
    alpha = float(1 / privacy.ratio)
    noisy = drawn + random.geometric(1 - alpha, trials) - random.geometric(1 - alpha, trials)
    masses = noise_masses(NoisyCount(privacy=privacy, ends=(None,)))
    found = {int(x): count_in_population(int(x), members, size, masses, 0.025) for x in set(noisy.tolist())}
    covered = np.mean([found[x][0] <= inside <= found[x][1] for x in noisy.tolist()])
    error = 4 * (0.05 * 0.95 / trials) ** 0.5
    assert 0.95 - error <= covered <= 0.985 + error, covered


def test_simulated_means_are_covered():
    random = fresh_generator([1963, 400])
    people = random.beta(0.5, 2, 20_000) * 100
    trials, missed = tried(500, 10_000), 0
    for _ in range(trials):
        mean = random.choice(people, 400, replace=False).mean()
        low, high = mean_in_population(mean, mean, 0, 100, 400, 0.025)
        missed += not low <= people.mean() <= high
    assert missed <= trials * 0.05


def test_published_files_are_read(tmp_path):
    frame = pa.table({"x": [1] * 300 + [0] * 700, "v": list(range(100)) * 10, "g": ["a", "b"] * 500})
    options = {"ledger": tmp_path / "l.ledger", "epsilon": 2}
    found = irisdp.publish(frame, "count", "x = 1", out=tmp_path / "x.csv", **options)
    ends = interpret(found, population=50_000, sample=1000)
    assert ends.rows[0][1] < 15_000 < ends.rows[0][2]
    assert interpret(tmp_path / "x.csv", population=50_000, sample=1000).rows == ends.rows
    grouped = irisdp.publish(frame, "count", "x = 1", by="g", groups=["a", "b"], **options)
    assert interpret(grouped, population=50_000, sample=1000).columns[0] == "g"
    public = irisdp.publish(frame, "count", "x = 1", relation="exchange", epsilon=2, ledger=tmp_path / "e.ledger")
    assert interpret(public, population=50_000).sample == 1000
    shaped = irisdp.publish(frame, "count", "x = 1", mu=1, delta="1e-6", **{"ledger": options["ledger"]})
    assert interpret(shaped, population=50_000, sample=1000).rows[0][1] < 15_000
    mean = irisdp.publish(frame, "mean", "v", lower=0, upper=100, step=1, out=tmp_path / "v.csv", **options)
    assert interpret(mean, population=50_000, sample=1000).confidence == Fraction(9, 10)
    low, high = interpret(tmp_path / "v.csv", population=50_000, sample=1000, confidence="0.9").rows[0][1:]
    assert low < 49.5 < high
    for wrong in (
        {"population": 50_000},
        {"population": 10, "sample": 1000},
        {"sample": 1000},
        {"population": 0, "sample": 1},
        {"population": 50_000, "sample": 1000, "at_least": 3},
    ):
        with pytest.raises(BadInput):
            interpret(found, **wrong)
    split = irisdp.publish(frame, "mean", "v", lower=0, upper=100, step=1, by="g", groups=["a", "b"], **options)
    some = irisdp.publish(frame, "mean", "v", "x = 1", lower=0, upper=100, step=1, **options)
    for release in (split, some):
        with pytest.raises(BadInput, match="is for the mean of a whole sample"):
            interpret(release, population=50_000, sample=1000)
    with pytest.raises(BadInput, match=r"must be below.*confidence=0.975"):
        interpret(mean, population=50_000, sample=1000, confidence="0.95")
    winner = irisdp.publish(frame, "plurality", "g", categories=["a", "b"], **options)
    with pytest.raises(BadInput, match="is for counts and means"):
        interpret(winner, population=50_000, sample=1000)


def test_numbers_of_different_values_and_other_samples_are_refused(tmp_path):
    frame = pa.table({"v": list(range(10)) * 40, "u": list(range(200)) * 2})
    distinct = irisdp.publish(frame, "count-distinct", "v", ledger=tmp_path / "a.ledger", epsilon=2)
    with pytest.raises(BadInput, match="is not for numbers of different values"):
        interpret(distinct, population=10**5, sample=400)
    persons = irisdp.publish(frame, "count-distinct", "u", "v = 1", unit="u", ledger=tmp_path / "b.ledger", epsilon=2)
    assert interpret(persons, population=10**5, sample=200).sample == 200
    public = irisdp.publish(frame, "count", "v = 1", relation="exchange", ledger=tmp_path / "c.ledger", epsilon=2)
    with pytest.raises(BadInput, match="is 10, and the release is of 400"):
        interpret(public, population=10**5, sample=10)
