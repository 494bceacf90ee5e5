"""Published values of [Gupte2010], as fractions; Table 1 as it is and as printed (docs/theory.md#corrections, 6)."""

from fractions import Fraction

import pytest

from irisdp import BadInput, Mechanism, Privacy, design
from irisdp.consumers import Consumer, optimal_reading
from irisdp.design import derivation, nearest_reading
from irisdp.mechanisms import FactoredMechanism, geometric

QUARTER, HALF = Privacy(ratio=4), Privacy(ratio=2)

TABLE_1A = ["2/3 5/17 1/25 1/98", "1/6 7/11 7/44 2/49", "2/49 7/44 7/11 1/6", "1/98 1/25 5/17 2/3"]
TABLE_1B = ["4/3 1/4 1/16 1/48", "1/3 1 1/4 1/12", "1/12 1/4 1 1/3", "1/48 1/16 1/4 4/3"]
TABLE_1C = ["9/11 2/11 0 0", "0 1 0 0", "0 0 1 0", "0 0 2/11 9/11"]

TWO_DIGITS = Fraction(1, 80)
"""How far the printed fractions of Table 1(a) are from the true ones at most."""

APPENDIX_B = ["1/9 2/9 4/9 2/9", "2/9 1/9 2/9 4/9", "4/9 2/9 1/9 2/9", "13/18 1/9 1/18 1/9"]


def table(lines):
    return [tuple(Fraction(x) for x in line.split()) for line in lines]


def test_table_1_c_is_the_optimal_reading():
    found = optimal_reading(FactoredMechanism(privacy=QUARTER, n=3), Consumer(3, "absolute"))
    stay, move = Fraction(68, 83), Fraction(15, 83)
    assert found.reading() == {0: ((0, stay), (1, move)), 1: ((1, 1),), 2: ((2, 1),), 3: ((2, move), (3, stay))}
    assert (found.value, found.lower_bound) == (Fraction(168, 415), Fraction(168, 415))
    assert round(float(stay), 2) == round(9 / 11, 2)


def test_table_1_a_is_the_optimal_mechanism_to_about_two_digits():
    made = design.consumer(3, "absolute", QUARTER)
    numerators = [[1088, 489, 66, 17], [272, 1056, 264, 68], [68, 264, 1056, 272], [17, 66, 489, 1088]]
    assert made.matrix() == [tuple(Fraction(x, 1660) for x in row) for row in numerators]
    for row, printed in zip(made.matrix(), table(TABLE_1A), strict=True):
        assert sum(printed) != 1
        assert max(abs(x - y) for x, y in zip(row, printed, strict=True)) < TWO_DIGITS


def test_table_1_b_lacks_a_factor_and_then_all_three_fit():
    noise = geometric(3, QUARTER)
    assert noise.matrix() == [tuple(Fraction(3, 5) * x for x in row) for row in table(TABLE_1B)]
    made = design.consumer(3, "absolute", QUARTER)
    found = derivation(made)
    assert found.holds and found.reading[0] == (Fraction(68, 83), Fraction(15, 83), 0, 0)
    assert noise.post_process(found.reading).matrix() == made.matrix()
    # The reading as it is printed gives another mechanism, and derivation finds it again.
    printed = noise.post_process(table(TABLE_1C))
    assert derivation(printed).reading == tuple(table(TABLE_1C))


def test_appendix_b_is_private_and_not_derivable():
    mechanism = Mechanism.from_matrix(table(APPENDIX_B), privacy=HALF)
    found = derivation(mechanism)
    assert not found.holds and found.reading is None
    obstacle = found.obstacle
    assert (obstacle.output, obstacle.inputs) == (1, (0, 1, 2))
    assert obstacle.entries == (Fraction(2, 9), Fraction(1, 9), Fraction(2, 9))
    assert obstacle.shortfall == Fraction(3, 4) / 9  # printed with the other sign as −0.75/9
    near = nearest_reading(geometric(3, HALF), mechanism)
    assert near.exact and near.distance > 0


@pytest.mark.parametrize("outputs", [2, 4, 5])
def test_whatever_is_made_from_noise_is_found_to_be(outputs):
    """T = G⁻¹·M exactly, for readings with any number of answers."""
    noise = geometric(3, Privacy(ratio="7/3"))
    reading = [[Fraction(1 + (z * v) % 3) for v in range(outputs)] for z in range(4)]
    reading = tuple(tuple(x / sum(line) for x in line) for line in reading)
    made = noise.post_process(reading)
    assert derivation(made).reading == reading
    near = nearest_reading(noise, made)
    assert near.exact and near.distance == 0
    assert noise.post_process(near.reading).matrix() == made.matrix()


def test_coarser_noise_is_derived_by_the_closed_form_and_finer_noise_is_not():
    """α = 1/4 read as β = 1/2: kept with probability (α/β)(1−β)²/(1−α)² = 2/9, else moved by fresh noise."""
    fine, coarse = geometric(3, QUARTER), geometric(3, HALF)
    found = derivation(coarse, QUARTER).reading
    assert found[1] == (Fraction(7, 27), Fraction(13, 27), Fraction(7, 54), Fraction(7, 54))
    assert fine.post_process(found).matrix() == coarse.matrix()
    obstacle = derivation(fine, HALF).obstacle
    assert (obstacle.output, obstacle.inputs) == (0, (0, 1, 2))
    assert obstacle.entries == (Fraction(4, 5), Fraction(1, 5), Fraction(1, 20))
    assert obstacle.shortfall == Fraction(17, 40) - Fraction(5, 4) / 5


def test_at_ratio_1_only_constants_are_derivable():
    none = Privacy(ratio=1)
    constant = Mechanism.from_matrix([["1/3", "2/3"]] * 4, privacy=none)
    reading = derivation(constant).reading
    assert geometric(3, none).post_process(reading).matrix() == constant.matrix()
    varying = Mechanism.from_matrix([["1/3", "2/3"]] * 3 + [["2/3", "1/3"]], privacy=HALF)
    obstacle = derivation(varying, none).obstacle
    assert (obstacle.output, obstacle.inputs, obstacle.shortfall) == (0, (2, 3), Fraction(1, 3))


def test_small_mechanisms():
    single = Mechanism.from_matrix([["1/3", "2/3"]], privacy=HALF)
    assert derivation(single).reading == ((Fraction(1, 3), Fraction(2, 3)),)
    pair = Mechanism.from_matrix([["2/3", "1/3"], ["1/3", "2/3"]], privacy=HALF)
    assert derivation(pair).reading == ((1, 0), (0, 1))
    assert derivation(Mechanism.from_matrix([["3/4", "1/4"], ["1/4", "3/4"]], privacy=HALF)).obstacle.inputs == (1, 0)
    with pytest.raises(BadInput, match="target"):
        nearest_reading(pair, single)
