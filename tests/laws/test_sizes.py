"""The numbers that tell a list of sizes, what one record changes of them, and what the list shown is certain of."""

from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from irisdp import BadInput, Privacy, plan
from irisdp._measurements import SizesShape
from irisdp.mechanisms._sorted_counts import nearest_falling
from irisdp.privacy import Gaussian, halved

SHAPES = [SizesShape(head=head, below=below) for head, below in [(1, 0), (2, 0), (1, 2), (2, 1), (2, 3), (3, 4)]]


def tables(categories, most):
    return list(product(range(most + 1), repeat=categories))


def moved(shape, one, other):
    """How far apart the numbers of two tables are, entry by entry, without zeros, in order."""
    told = shape.tell(np.array(one)) - shape.tell(np.array(other))
    return sorted(np.abs(told[told != 0]).tolist())


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_record_moves_one_number_by_one(shape):
    for counts in tables(4, 3):
        for place in range(4):
            more = list(counts)
            more[place] += 1
            assert moved(shape, counts, more) in ([], [1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_exchanging_a_record_moves_two_numbers_by_one(shape):
    seen = set()
    for counts in tables(4, 3):
        for source, target in product(range(4), repeat=2):
            if source != target and counts[source]:
                other = list(counts)
                other[source] -= 1
                other[target] += 1
                seen.add(tuple(moved(shape, counts, other)))
    assert seen <= {(), (1,), (1, 1)}
    assert shape.numbers == 1 or (1, 1) in seen  # and so the price of two is met


def test_running_totals_would_move_all_together():
    """The control: numbers that are not each one size, or one count."""

    class Totals(SizesShape):
        def tell(self, sizes):
            return np.sort(sizes)[::-1].cumsum()

    assert moved(Totals(head=4), (1, 1, 1, 1), (2, 1, 1, 1)) == [1, 1, 1, 1]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_without_noise_the_list_itself_is_shown(shape):
    for counts in tables(5, 3):
        falling = sorted(counts, reverse=True)
        capped = falling[: shape.head]
        capped += [min(size, shape.below) for size in falling[shape.head :]]
        shown = shape.fit(shape.tell(np.array(counts)).tolist(), sum(counts))
        assert shown == tuple(size for size in capped if size)


def test_as_many_sizes_are_shown_as_were_asked_for():
    shape = SizesShape(head=4, first=4)
    assert shape.fit([3, 1, 0, -2]) == (3, 1, 0, 0)
    assert SizesShape(head=2, below=3, first=3).fit([3, 1, 5, 0, 0]) == (3, 1, 1)


def test_public_records_bound_what_is_shown():
    assert SizesShape(head=3, first=3).fit([90, 80, 70], 10) == (10, 5, 3)


def test_heads_alone_are_off_by_no_more_than_the_furthest_number():
    shape = SizesShape(head=3, first=3)
    for counts in tables(3, 3):
        falling = sorted(counts, reverse=True)
        for noise in product((-2, 0, 1), repeat=3):
            shown = shape.fit([x + z for x, z in zip(falling, noise, strict=True)])
            assert max(abs(y - x) for x, y in zip(falling, shown, strict=True)) <= max(map(abs, noise))
            assert list(shown) == [
                max(y, 0) for y in nearest_falling([x + z for x, z in zip(falling, noise, strict=True)])
            ]


def test_half_of_a_guarantee_twice_is_no_more_than_all_of_it():
    pair = halved(Privacy(epsilon=1, delta="1/100"))
    assert pair.ratio**2 <= Privacy(epsilon=1).ratio < (pair.ratio * (1 + pair.ratio / 2**120)) ** 2
    assert 2 * pair.delta == Privacy(epsilon=1, delta="1/100").delta
    assert halved(Privacy.from_ratio(4)) == Privacy.from_ratio(2)
    several = Privacy.all([Privacy.from_ratio(4), Privacy.from_ratio("9/4", "1/10")])
    assert halved(several) == Privacy.all([Privacy.from_ratio(2), Privacy.from_ratio("3/2", "1/20")])
    mean = halved(Gaussian(1)).mu
    assert 2 * mean**2 <= 1 < 2 * (mean + mean / 2**120) ** 2


def test_more_sizes_than_there_are_categories_are_refused():
    table = pa.table({"town": ["Ely", "York"]})
    assert plan(table, "sizes", 2, "town", categories=["Ely", "York"], epsilon=1).query.shape.head == 2
    with pytest.raises(BadInput, match=r"^K: must be at most the 2 categories, not 3"):
        plan(table, "sizes", 3, "town", categories=["Ely", "York"], epsilon=1)
