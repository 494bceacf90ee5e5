"""Draws from laws of noise = stated probabilities, by trying every script of words; and tables against the laws."""

from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import Privacy, noise
from irisdp._exact import Enclosure
from irisdp._sampling import draw_uniform
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.noise import _staircase
from irisdp.noise._universal import digits_of_cells
from support.seeds import fresh_random
from support.sweeps import tried

TWO = Privacy.all([Privacy(ratio=2, delta="1/50"), Privacy(ratio="3/2", delta="1/10")])
LAWS = {
    "geometric": noise.law("geometric", Privacy(ratio=3)),
    "bounded": noise.law("bounded", Privacy(ratio=2, delta="1/10")),
    "three atoms": noise.law("universal", Privacy(ratio=2, delta="1/7")),
    "two pairs": noise.law("universal", TWO),
    "without an end": noise.law("universal", Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])),
    "gaussian": noise.gaussian_law(1),
    "quarters": noise.gaussian_law(2, resolution="1/4"),
}


def drawn(law, value=0):
    return lambda bits: int(law.draw([value], source=bits)[0])


def holds(found, law, value=0, reach=120):
    """Tell whether each outcome's mass decided is at most its probability, and short of it by what is undecided."""
    least = {}
    for z in range(-reach, reach + 1):
        mass = law.enclose(z, width="1e-20")
        outcome = z + value * law.atoms_per_unit
        decided = found.outcomes.get(outcome, F(0))
        if decided > mass.upper or decided + found.undecided < mass.lower:
            return False
        least[outcome] = decided
    return set(found.outcomes) <= set(least)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("word_bits", "words"), tried([(1, 9), (9, 1)], [(1, 9), (3, 3), (9, 1)]))
def test_draws_have_the_stated_law(name, word_bits, words):
    law = LAWS[name]
    found = law_of(drawn(law, 5), word_bits=word_bits, words=words)
    assert holds(found, law, 5)
    assert found.undecided < F(1, 4)


@pytest.mark.parametrize("step_for", ["absolute", "squared"])
@pytest.mark.parametrize("sensitivity", [1, 3, 2, 4][: tried(2, 4)])
@pytest.mark.parametrize(
    ("most", "word_bits", "words", "undecided"),
    [(1 << 11, 9, 1, F(1, 4)), (1 << 11, 3, 3, F(1, 4)), (70, 5, 2, F(1, 2)), (1, 2, 6, F(9, 10))],
)
def test_staircases_have_the_stated_law(sensitivity, step_for, most, word_bits, words, undecided, monkeypatch):
    """From one table; from two words, for the stretch and the place; or from four numbers, whatever their size."""
    monkeypatch.setattr(_staircase, "_MOST_THRESHOLDS", most)
    law = noise.law("staircase", Privacy(ratio=4), sensitivity, step_for)
    found = law_of(drawn(law, 2), word_bits=word_bits, words=words)
    assert holds(found, law, 2)
    assert found.undecided < undecided


@pytest.mark.parametrize("most", [1 << 11, 70, 1])
def test_many_draws_of_staircases_are_alike_in_each_way(most, monkeypatch):
    """Bulk draws take the paths that single draws by enumeration take: shares within 6 standard errors."""
    monkeypatch.setattr(_staircase, "_MOST_THRESHOLDS", most)
    law, number = noise.law("staircase", Privacy(ratio=4), 3), 60_000
    found = law.draw(np.full(number, 7)) - 7
    for z in range(-9, 10):
        chance = float(law.probability(z))
        assert abs(np.mean(found == z) - chance) < 6 * np.sqrt(chance / number), z


def test_a_law_that_is_not_drawn_is_noticed():
    """Negative control."""
    found = law_of(drawn(LAWS["three atoms"]), word_bits=9, words=1)
    assert not holds(found, noise.law("universal", Privacy(ratio=2, delta="1/8")))
    assert not holds(law_of(drawn(LAWS["gaussian"]), word_bits=9, words=1), noise.gaussian_law("1.1"))


@pytest.mark.parametrize("name", ["bounded", "three atoms", "two pairs", "without an end"])
def test_the_table_holds_every_cumulative_probability(name):
    """The path without ties: every threshold lies in its open cell, and the cells are a word or two."""
    cells = LAWS[name].cells
    (digit,) = digits_of_cells(cells)
    table, size = digit.table, int(np.count_nonzero(digit.table.last < (1 << 64) - 1))
    for number in range(size):
        held = cells.cumulative(digit.lowest + 1 + number, width=F(1, 1 << 80))
        first, last = int(table.first[number]), int(table.last[number])
        assert Enclosure(F(first, 1 << 64), F(last + 1, 1 << 64)).hull(held).width <= F(3, 1 << 64)
        assert last - first <= 1


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000, (1 << 31) + 1, (1 << 32) - 1, 1 << 32])
def test_uniform_integers_are_the_product_rounded_down(size):
    source = fresh_random(f"uniform {size}")
    words = [0, 1, (1 << 64) - 1, *(source.getrandbits(64) for _ in range(200))]
    words += [min(-(-(k << 64) // size), (1 << 64) - 1) for k in (source.randrange(size) for _ in range(50))]
    ties = sum((word * size >> 64) != ((word + 1) * size - 1 >> 64) for word in words)
    found = draw_uniform(len(words), size, ScriptedBits([*words, *[0] * ties], word_bits=64))
    assert found.tolist() == [word * size >> 64 for word in words]


@pytest.mark.parametrize("size", [1, 3, 5, 8])
def test_uniform_integers_are_uniform(size):
    found = law_of(lambda bits: int(draw_uniform(1, size, bits)[0]), word_bits=3, words=3)
    assert all(mass <= F(1, size) <= mass + found.undecided for mass in found.outcomes.values())
    assert set(found.outcomes) == set(range(size))


def test_draws_spread_as_stated():
    """Chi-square on the operating system's bits; each limit is passed by chance once in 10^9."""
    for law in (*LAWS.values(), noise.law("staircase", Privacy(epsilon=2), 7)):
        count = 60_000
        values = law.draw(np.zeros(count, dtype=np.int64))
        numbers, found = np.unique(values, return_counts=True)
        seen = dict(zip(numbers.tolist(), found.tolist(), strict=True))
        wanted = {z: float(law.enclose(z).upper) * count for z in range(-60, 61)}
        common = {z: mean for z, mean in wanted.items() if mean > 20}
        square = sum((seen.get(z, 0) - mean) ** 2 / mean for z, mean in common.items())
        assert square < len(common) + 7 * (2 * len(common)) ** 0.5 + 30


def test_shapes_and_sums_are_kept():
    law = noise.law("universal", Privacy(ratio=2, delta="1/7"))
    assert law.draw(np.zeros((2, 3), dtype=np.int64)).shape == (2, 3)
    assert law.draw([]).shape == (0,)
    assert noise.law("staircase", Privacy(ratio=2), 4).draw([]).tolist() == []
    largest = (1 << 62) // 3
    assert abs(int(law.draw([largest])[0]) - 3 * largest) <= 7
    assert law.whole([-4, -1, 0, 2, 3]).tolist() == [-2, -1, 0, 0, 1]
