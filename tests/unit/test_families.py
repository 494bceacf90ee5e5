"""What the samplers of whole databases refuse, what they accept at the edge, and that no message shows a count."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from irisdp import BadInput, Privacy
from irisdp.mechanisms import (
    HistogramMechanism,
    PartitionMechanism,
    expected_changes,
    minimax_risk,
    noise_risk,
    release_column,
    release_largest,
)

CANARY = 123456789
ONE = Privacy(epsilon=1)
SORTED = PartitionMechanism(total=20, privacy=ONE)
COUNTED = HistogramMechanism(total=20, types=3, privacy=ONE)

DRAWS = {
    "column": lambda values: release_column(values, 10, ONE),
    "partition": SORTED.draw,
    "partition law": SORTED.law,
    "histogram": COUNTED.draw,
    "histogram law": COUNTED.law,
    "largest": lambda values: release_largest(values, 1, ONE),
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


@pytest.mark.parametrize(
    ("call", "values"),
    [
        (DRAWS["column"], [CANARY]),
        (DRAWS["partition"], [CANARY]),
        (DRAWS["partition"], [11, 10]),
        (DRAWS["histogram"], [CANARY, 0, 0]),
        (DRAWS["histogram"], [10, 9, 0]),
        (DRAWS["histogram"], [11, 10, 0]),
        (DRAWS["histogram"], [20]),
        (DRAWS["histogram"], [5, 5, 5, 5]),
        (DRAWS["largest"], []),
    ],
)
def test_counts_that_do_not_fit_the_public_sizes_are_refused_without_being_shown(call, values):
    with pytest.raises(BadInput) as refusal:
        call(values)
    assert str(CANARY) not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("number", [-1, 0.5, True, "many", None, float("nan")])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: PartitionMechanism(total=n, privacy=ONE),
        lambda n: PartitionMechanism(total=5, privacy=ONE, parts=0 if n is None else n),
        lambda n: HistogramMechanism(total=n, types=3, privacy=ONE),
        lambda n: HistogramMechanism(total=3, types=n, privacy=ONE),
        lambda n: release_column([0], n, ONE),
        lambda n: release_largest([1, 2, 3, 4, 5, 6], n, ONE),
        lambda n: noise_risk(n, ONE),
        lambda n: minimax_risk(n, 1, ONE),
        lambda n: minimax_risk(1, n, ONE),
        lambda n: expected_changes(n, 2, ONE),
        lambda n: expected_changes(2, n, ONE),
    ],
    ids=["N", "parts", "total", "types", "categories", "largest", "risk", "risk N", "risk r", "records", "q"],
)
def test_sizes_that_are_not_whole_numbers_are_refused(call, number):
    with pytest.raises(BadInput):
        call(number)


@pytest.mark.parametrize(
    "call",
    [
        lambda: PartitionMechanism(total=10**7 + 1, privacy=ONE),
        lambda: PartitionMechanism(total=10**9 + 1, privacy=Privacy(epsilon=1, delta="1e-9")),
        lambda: PartitionMechanism(total=10**9, privacy=Privacy(epsilon="1e-5", delta="1e-9")),
        lambda: PartitionMechanism(total=10**8, privacy=Privacy(epsilon=0, delta="1e-9")),
        lambda: PartitionMechanism(total=5, privacy=ONE, relation="swap"),
        lambda: HistogramMechanism(total=10**7, types=3, privacy=ONE),
        lambda: release_column([0], 1, ONE),
        lambda: release_column([0], 2**16 + 1, ONE),
        lambda: release_largest([1, 2], 3, ONE),
        lambda: release_largest([1, 2], 0, ONE),
        lambda: release_largest([1, 2], 1, ONE, relation="swap"),
        lambda: release_largest([1, 2], 1, Privacy(epsilon=0)),
        lambda: noise_risk(1, ONE, relation="swap"),
    ],
)
def test_sizes_and_relations_that_do_not_exist_are_refused(call):
    with pytest.raises(BadInput):
        call()


@pytest.mark.parametrize("total", [0, 1, 2, 3])
@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_the_smallest_sorted_lists(total, relation):
    made = PartitionMechanism(total=total, privacy=ONE, relation=relation)
    for counts in ([], [0, 0], [1] * total, [total]):
        drawn = made.draw(counts)
        assert drawn.dtype == np.int64
        assert all(place * value <= total for place, value in enumerate(drawn.tolist(), 1))
        assert sum(made.law(counts).values()) == 1
    assert (total > 0) == (len(made.law([])) > 1)


def test_at_epsilon_zero_every_list_is_as_likely_as_any_other():
    made = PartitionMechanism(total=4, privacy=Privacy(epsilon=0))
    assert set(made.law([4]).values()) == set(made.law([1]).values()) == {next(iter(made.law([]).values()))}
    assert made.draw([4]).ndim == 1
    flat = HistogramMechanism(total=2, types=2, privacy=Privacy(epsilon=0))
    assert len(set(flat.law([2, 0]).values())) == 1
    assert flat.draw([2, 0]).sum() == 2


def test_at_a_large_epsilon_the_truth_is_drawn():
    counts = np.array([9, 9, 4, 1, 1, 1])
    assert PartitionMechanism(total=30, privacy=Privacy(epsilon=900)).draw(counts).tolist() == counts.tolist()
    assert HistogramMechanism(total=25, types=6, privacy=Privacy(epsilon=900)).draw(counts).tolist() == counts.tolist()
    assert release_largest(counts, 6, Privacy(epsilon=900)).tolist() == counts.tolist()


def test_one_type_has_nothing_to_draw():
    assert HistogramMechanism(total=7, types=1, privacy=ONE).draw([7]).tolist() == [7]
    assert HistogramMechanism(total=0, types=3, privacy=ONE).draw([0, 0, 0]).tolist() == [0, 0, 0]


def test_window_and_delta_are_told():
    assert SORTED.window is None
    assert SORTED.window_delta == 0
    made = PartitionMechanism(total=10**6, privacy=Privacy(epsilon=1, delta="1e-9"))
    assert made.window < 200
    assert 0 < made.window_delta <= made.privacy.delta


def test_mechanisms_are_values():
    for made in (SORTED, COUNTED):
        assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.total = 3


def test_parts_beyond_the_list_change_nothing():
    few, many = (PartitionMechanism(total=6, privacy=ONE, parts=parts) for parts in (None, 10**6))
    assert few.law([3, 2, 1]) == many.law([3, 2, 1])
    assert max(map(len, PartitionMechanism(total=6, privacy=ONE, parts=2).law([3, 2, 1]))) == 2
