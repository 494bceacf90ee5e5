"""What the samplers of whole databases refuse, what they accept at the edge, and that no message shows a count."""

import copy
import dataclasses
import pickle
from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import BadInput, Privacy, mechanisms, noise
from irisdp.noise import _universal

CANARY = 123456789
ONE = Privacy(epsilon=1)
SORTED = mechanisms.PartitionMechanism(total=20, privacy=ONE)
COUNTED = mechanisms.HistogramMechanism(total=20, types=3, privacy=ONE)

DRAWS = {
    "column": lambda values: mechanisms.release_column(values, 10, ONE),
    "partition": SORTED.draw,
    "partition law": SORTED.law,
    "histogram": COUNTED.draw,
    "histogram law": COUNTED.law,
    "largest": lambda values: mechanisms.release_largest(values, 1, ONE),
}
REFUSED_ARRAYS = {
    "floats": [1.0, 2.0, 17.0],
    "not a number": [float("nan")] * 3,
    "booleans": [True, False, True],
    "text": ["17"],
    "nothing": None,
    "missing entry": [3, None],
    "masked": np.ma.array([1, 2, 17], mask=[True, False, False]),
    "negative": [-1, 1, 20],
    "too long": [10**30],
    "ragged": [[1], [2, 3]],
}


@pytest.mark.parametrize("values", REFUSED_ARRAYS.values(), ids=REFUSED_ARRAYS)
@pytest.mark.parametrize("call", DRAWS.values(), ids=DRAWS)
def test_arrays_of_anything_but_counts_are_refused(call, values):
    with pytest.raises(BadInput):
        call(values)


@pytest.mark.parametrize(("call", "values"), [
    (DRAWS["column"], [CANARY]),
    (DRAWS["partition"], [CANARY]),
    (DRAWS["partition"], [11, 10]),
    (DRAWS["histogram"], [CANARY, 0, 0]),
    (DRAWS["histogram"], [10, 9, 0]),
    (DRAWS["histogram"], [11, 10, 0]),
    (DRAWS["histogram"], [20]),
    (DRAWS["histogram"], [5, 5, 5, 5]),
    (DRAWS["largest"], []),
])  # fmt: skip
def test_counts_that_do_not_fit_the_public_sizes_are_refused_without_being_shown(call, values):
    with pytest.raises(BadInput) as refusal:
        call(values)
    assert str(CANARY) not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("number", [-1, 0.5, True, "many", None, float("nan")])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: mechanisms.PartitionMechanism(total=n, privacy=ONE),
        lambda n: mechanisms.PartitionMechanism(total=5, privacy=ONE, parts=0 if n is None else n),
        lambda n: mechanisms.HistogramMechanism(total=n, types=3, privacy=ONE),
        lambda n: mechanisms.HistogramMechanism(total=3, types=n, privacy=ONE),
        lambda n: mechanisms.release_column([0], n, ONE),
        lambda n: mechanisms.release_largest([1, 2, 3, 4, 5, 6], n, ONE),
        lambda n: mechanisms.noise_risk(n, ONE),
        lambda n: mechanisms.minimax_risk(n, 1, ONE),
        lambda n: mechanisms.minimax_risk(1, n, ONE),
        lambda n: mechanisms.expected_changes(n, 2, ONE),
        lambda n: mechanisms.expected_changes(2, n, ONE),
    ],
    ids=["N", "parts", "total", "types", "categories", "largest", "risk", "risk N", "risk r", "records", "q"],
)
def test_sizes_that_are_not_whole_numbers_are_refused(call, number):
    with pytest.raises(BadInput):
        call(number)


@pytest.mark.parametrize("call", [
    lambda: mechanisms.PartitionMechanism(total=10**7 + 1, privacy=ONE),
    lambda: mechanisms.PartitionMechanism(total=10**9 + 1, privacy=Privacy(epsilon=1, delta="1e-9")),
    lambda: mechanisms.PartitionMechanism(total=10**9, privacy=Privacy(epsilon="1e-5", delta="1e-9")),
    lambda: mechanisms.PartitionMechanism(total=10**8, privacy=Privacy(epsilon=0, delta="1e-9")),
    lambda: mechanisms.PartitionMechanism(total=5, privacy=ONE, relation="swap"),
    lambda: mechanisms.HistogramMechanism(total=10**7, types=3, privacy=ONE),
    lambda: mechanisms.release_column([0], 1, ONE),
    lambda: mechanisms.release_column([0], 2**16 + 1, ONE),
    lambda: mechanisms.release_largest([1, 2], 3, ONE),
    lambda: mechanisms.release_largest([1, 2], 0, ONE),
    lambda: mechanisms.release_largest([1, 2], 1, ONE, relation="swap"),
    lambda: mechanisms.release_largest([1, 2], 1, Privacy(epsilon=0)),
    lambda: mechanisms.noise_risk(1, ONE, relation="swap"),
])  # fmt: skip
def test_sizes_and_relations_that_do_not_exist_are_refused(call):
    with pytest.raises(BadInput):
        call()


@pytest.mark.parametrize("total", [0, 1, 2, 3])
@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_the_smallest_sorted_lists(total, relation):
    made = mechanisms.PartitionMechanism(total=total, privacy=ONE, relation=relation)
    for counts in ([], [0, 0], [1] * total, [total]):
        drawn = made.draw(counts)
        assert drawn.dtype == np.int64
        assert all(place * value <= total for place, value in enumerate(drawn.tolist(), 1))
        assert sum(made.law(counts).values()) == 1
    assert (total > 0) == (len(made.law([])) > 1)


def test_at_epsilon_zero_every_list_is_as_likely_as_any_other():
    made = mechanisms.PartitionMechanism(total=4, privacy=Privacy(epsilon=0))
    assert set(made.law([4]).values()) == set(made.law([1]).values()) == {next(iter(made.law([]).values()))}
    assert made.draw([4]).ndim == 1
    flat = mechanisms.HistogramMechanism(total=2, types=2, privacy=Privacy(epsilon=0))
    assert len(set(flat.law([2, 0]).values())) == 1
    assert flat.draw([2, 0]).sum() == 2


def test_at_a_large_epsilon_the_truth_is_drawn():
    counts = np.array([9, 9, 4, 1, 1, 1])
    assert (
        mechanisms.PartitionMechanism(total=30, privacy=Privacy(epsilon=900)).draw(counts).tolist() == counts.tolist()
    )
    assert (
        mechanisms.HistogramMechanism(total=25, types=6, privacy=Privacy(epsilon=900)).draw(counts).tolist()
        == counts.tolist()
    )
    assert mechanisms.release_largest(counts, 6, Privacy(epsilon=900)).tolist() == counts.tolist()


def test_one_type_has_nothing_to_draw():
    assert mechanisms.HistogramMechanism(total=7, types=1, privacy=ONE).draw([7]).tolist() == [7]
    assert mechanisms.HistogramMechanism(total=0, types=3, privacy=ONE).draw([0, 0, 0]).tolist() == [0, 0, 0]


def test_window_and_delta_are_told():
    assert SORTED.window is None
    assert SORTED.window_delta == 0
    made = mechanisms.PartitionMechanism(total=10**6, privacy=Privacy(epsilon=1, delta="1e-9"))
    assert made.window < 200
    assert 0 < made.window_delta <= made.privacy.delta


def test_mechanisms_are_values():
    for made in (SORTED, COUNTED):
        assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.total = 3


def test_parts_beyond_the_list_change_nothing():
    few, many = (mechanisms.PartitionMechanism(total=6, privacy=ONE, parts=parts) for parts in (None, 10**6))
    assert few.law([3, 2, 1]) == many.law([3, 2, 1])
    assert max(map(len, mechanisms.PartitionMechanism(total=6, privacy=ONE, parts=2).law([3, 2, 1]))) == 2


# Laws of noise: what they refuse, what they say, and that they add up at the edges of their ranges.

ONE_NOISE, APPROXIMATE = Privacy(epsilon=1), Privacy(epsilon=1, delta="1e-6")
TWO = Privacy.all([ONE_NOISE, Privacy(epsilon="1/2", delta="1e-3")])

REFUSED = [
    (lambda: noise.law("laplace", ONE_NOISE), r"^kind: must be geometric or staircase or bounded or universal; "),
    (lambda: noise.law("geometric", APPROXIMATE), r"^privacy: must be one pair with delta 0 for geometric noise; "),
    (lambda: noise.law("staircase", TWO), r"^privacy: must be one pair with delta 0 for staircase noise; "),
    (lambda: noise.law("bounded", TWO), r"^privacy: must be one pair with delta above 0 for bounded noise; "),
    (lambda: noise.law("bounded", ONE_NOISE), r"^privacy: must be one pair with delta above 0 for bounded noise; "),
    (lambda: noise.law("bounded", Privacy(ratio=2, delta="1/8")), r"^delta: .*whole number; 0.1 \(K = 2\) is the next"),
    (
        lambda: noise.law("universal", Privacy(ratio=1)),
        r"^privacy: with epsilon 0 and delta 0 allows no information at all; ",
    ),
    (lambda: noise.law("geometric", Privacy(ratio=1)), r"^epsilon: must be above 0 "),
    (lambda: noise.law("universal", Privacy(epsilon="1e-9", delta="1e-12")), r"^privacy: .*8,192 counts"),
    (lambda: noise.law("universal", ONE_NOISE, 2), r"^sensitivity: must be 1 for universal noise; "),
    (lambda: noise.law("staircase", ONE_NOISE, 0), r"^sensitivity: must be at least 1"),
    (lambda: noise.law("staircase", ONE_NOISE, 2, "zero-one"), r"^loss: must be absolute or squared; "),
    (lambda: noise.law("staircase", Privacy(epsilon="1e-15"), 10), r"^epsilon: must be at least 1e-15 per unit"),
    (lambda: noise.law("geometric", Privacy(epsilon="1e-15"), 10).draw([0]), r"^epsilon: must be at least 1e-15 "),
    (lambda: noise.law("geometric", ONE_NOISE).draw([0.5]), r"^values: must be an array of integers"),
    (lambda: noise.law("universal", APPROXIMATE).draw([1 << 62]), r"^values: must lie between"),
    (lambda: noise.law("geometric", ONE_NOISE).probability(10**9), r"^z: lies so far out"),
    (lambda: noise.law("geometric", ONE_NOISE).probability(0.5), r"^z: must be"),
    (lambda: noise.law("geometric", ONE_NOISE).enclose(0, width=0), r"^width: must lie between"),
    (lambda: noise.law("geometric", ONE_NOISE).expected("cubed"), r"^loss: must be absolute or squared; "),
    (lambda: noise.gaussian_law(0), r"^mu: must be above 0 and at most 20; "),
    (lambda: noise.gaussian_law(-1), r"^mu: must be above 0 and at most 20; "),
    (lambda: noise.gaussian_law("1e-9"), r"^mu: needs noise with a standard deviation"),
    (lambda: noise.gaussian_law(1, resolution="2/3"), r"^resolution: must be 1 or 1/q"),
    (lambda: noise.gaussian_law(1, resolution=0), r"^resolution: must be 1 or 1/q"),
    (lambda: noise.gaussian_law(1, sensitivity=0), r"^sensitivity: must be at least 1"),
    (lambda: noise.gaussian_law(1).probability(0), r"^z: has a probability that is no fraction"),
    (lambda: noise.law("universal", APPROXIMATE).mechanism(10_000), r"^n: makes more than 1,000,000 entries"),
    (lambda: noise.law("universal", APPROXIMATE).mechanism(-1), r"^n: must be at least 0|^n: must lie"),
    (lambda: noise.bounded_delta(ONE_NOISE, 0), r"^bound: must"),
    (lambda: noise.bounded_delta(TWO, 3), r"^privacy: holds 2 pairs"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_bad_input_gets_one_line(number):
    ask, pattern = REFUSED[number]
    with pytest.raises(BadInput, match=pattern) as refused:
        ask()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("law", "line"), [
    (noise.law("geometric", ONE_NOISE), "ShapeLaw(geometric, ε = 1, sensitivity 1)"),
    (noise.law("universal", APPROXIMATE), "ShapeLaw(universal, ε = 1, δ = 0.000001, sensitivity 1, 3 atoms per unit)"),
    (noise.law("staircase", ONE_NOISE, 5), "StaircaseLaw(ε = 1, sensitivity 5, step 2)"),
    (noise.gaussian_law("1/2", resolution="1/4"), "GaussianLaw(mu 0.5, sensitivity 1, multiples of 1/4)"),
])  # fmt: skip
def test_a_law_says_what_it_is_in_one_line(law, line):
    assert repr(law) == line
    assert pickle.loads(pickle.dumps(law)) == law
    with pytest.raises(AttributeError):
        law.sensitivity = 2


def test_without_delta_universal_noise_is_geometric():
    universal, geometric = noise.law("universal", ONE_NOISE), noise.law("geometric", ONE_NOISE)
    alpha = 1 / ONE_NOISE.ratio
    for z in (-3, 0, 2, 40):
        assert universal.probability(z) == geometric.probability(z) == (1 - alpha) / (1 + alpha) * alpha ** abs(z)
    assert noise.law("staircase", ONE_NOISE).probability(7) == geometric.probability(7)


def test_geometric_noise_of_tiny_epsilon_is_drawn_and_enclosed():
    law = noise.law("universal", Privacy(epsilon="1e-9"))
    assert law.draw(np.zeros(10, dtype=np.int64)).shape == (10,)
    assert law.enclose(10**9).lower > 0
    assert float(law.expected().lower) == pytest.approx(1e9, rel=1e-8)


@pytest.mark.parametrize("sensitivity", [2, 3, 10, 1000])
def test_geometric_noise_for_more_is_no_less_private(sensitivity):
    law = noise.law("geometric", ONE_NOISE, sensitivity)
    ratio = law.cells.privacy.ratio
    assert 1 - F(1, 10**30) < ratio**sensitivity / ONE_NOISE.ratio <= 1
    assert law.expected().lower > noise.law("staircase", ONE_NOISE, sensitivity).expected().upper


def test_a_polygon_of_gaussian_dp_costs_hardly_more_than_the_gaussian():
    law, whole = noise.law("universal", Privacy.gaussian(1, gap="1e-3")), noise.gaussian_law(1)
    for loss in ("absolute", "squared"):
        assert 1 <= law.expected(loss).lower / whole.expected(loss).upper < F(102, 100)


def test_gaussian_noise_for_more_is_wider():
    assert noise.gaussian_law(3, sensitivity=3).enclose(2).lower in noise.gaussian_law(1).enclose(2)


def test_steps_of_staircases_depend_on_the_loss():
    steps = [noise.law("staircase", Privacy(epsilon=3), 10, loss).step for loss in ("absolute", "squared")]
    assert steps == [2, 3]
    law = noise.law("staircase", Privacy(epsilon=3), 10)
    for step in range(1, 11):
        other = type(law)(law.privacy, 10, step)
        assert law.expected().upper <= other.expected().upper
    assert noise.law("staircase", Privacy(epsilon=1), 1 << 30).step > 1 << 28


def test_noise_that_ends_thousands_of_counts_out_needs_no_long_fractions(monkeypatch):
    """Exact places of its kinks would have a million digits, and took a quarter of a minute."""
    monkeypatch.setattr(_universal._RationalOperator, "far", None)
    _universal.cells_of.cache_clear()
    found = _universal.cells_of(Privacy(epsilon="1e-3", delta="1e-6"))
    assert (found.first, found.last) == (-18650, 18652)
    assert len(found.phases) == 3


@pytest.mark.parametrize("bound", [1, 2, 9])
def test_kinks_that_come_to_one_place_are_one_phase(bound):
    """Where the noise ends at a whole number, all kinks do; a δ next to it has three phases."""
    ratio = Privacy(ratio="5/3")
    exact = noise.bounded_delta(ratio, bound)
    assert len(_universal.cells_of(ratio.with_delta(exact)).phases) == 1
    assert len(_universal.cells_of(ratio.with_delta(exact + F(1, 10**70))).phases) == 3
