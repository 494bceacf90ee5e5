"""The nearest falling list, and the nearest list of sizes, against all lists there are."""

from itertools import pairwise, product

import pytest

from irisdp.mechanisms import fall_together, sizes_of
from irisdp.mechanisms._sorted_counts import nearest_falling


def falling(longest, largest):
    """All falling lists of a length with entries from 0 to `largest`."""
    return [y for y in product(range(largest + 1), repeat=longest) if all(a >= b for a, b in pairwise(y))]


def off(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_nearest_falling_list_is_the_largest_of_the_nearest(length):
    lists = falling(length, 3)
    for values in product(range(4), repeat=length):
        least = min(off(y, values) for y in lists)
        nearest = [y for y in lists if off(y, values) == least]
        assert tuple(nearest_falling(values)) == tuple(max(column) for column in zip(*nearest, strict=True))


def test_nearest_falling_list_is_no_further_off_than_the_furthest_entry():
    for truth in falling(4, 2):
        for noise in product((-1, 0, 1), repeat=4):
            fitted = nearest_falling([x + z for x, z in zip(truth, noise, strict=True)])
            most = max(map(abs, noise))
            assert all(abs(y - x) <= most for x, y in zip(truth, fitted, strict=True))


def test_nearest_falling_list_can_be_cut_before_or_after():
    for values in product(range(-1, 4), repeat=4):
        cut = [min(max(value, 0), 2) for value in values]
        assert nearest_falling(cut) == [min(max(y, 0), 2) for y in nearest_falling(values)]


@pytest.mark.parametrize(("head", "below"), [(1, 0), (1, 1), (2, 1), (1, 2), (2, 2), (1, 3)])
def test_head_and_counts_are_nearest_of_all_that_are_one_list(head, below):
    most = 3
    pairs = [
        (sizes, counts)
        for sizes in falling(head, most)
        for counts in falling(below, most)
        if sum(count > 0 for count in counts) <= sizes[-1]
    ]
    for values in product(range(-1, most + 1), repeat=head + below):
        kept = [max(value, 0) for value in values]
        sizes, counts = fall_together(values[:head], values[head:])
        padded = [*counts, *[0] * (below - len(counts))]
        assert (tuple(sizes), tuple(padded)) in pairs
        least = min(off(y, kept[:head]) + off(c, kept[head:]) for y, c in pairs)
        assert off(sizes, kept[:head]) + off(padded, kept[head:]) == least


def test_sizes_are_what_head_and_counts_tell():
    for sizes in falling(5, 4):
        head, rest = sizes[:2], sizes[2:]
        counts = [sum(size >= j for size in rest) for j in range(1, 5)]
        assert sizes_of(head, counts) == [size for size in sizes if size]


def test_a_fit_that_forgets_to_raise_the_head_would_be_seen():
    """A head alone is nearest here at 1, but forty sizes of 2 below it do not fit under that."""
    sizes, counts = fall_together([9, 7, 1], [40, 39])
    assert (sizes, counts) == ([9, 7, 2], [40, 39])
    assert nearest_falling([9, 7, 1]) == [9, 7, 1]
