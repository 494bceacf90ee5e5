"""What the samplers refuse, what they accept, and that no message shows a value."""

from fractions import Fraction as F

import numpy as np
import pytest

from irisdp import BadInput, Privacy, noise
from irisdp._sampling import clamped_geometric, draw, draw_ranks
from irisdp._sampling.bits import ScriptedBits
from irisdp._sampling.geometric_noise import add_drawn, one_sided_geometric
from irisdp._sampling.tables import draw_events

CANARY = 4611686018427387999  # above 2^62, and easy to find in a message
HALF = [F(1, 2), F(1, 2)]
ONE = Privacy(epsilon=1)

REFUSED_ARRAYS = {
    "floats": np.array([0.5, 1.0]),
    "whole floats": [1.0, 2.0],
    "not a number": [float("nan")],
    "booleans": np.array([True, False]),
    "text": ["17"],
    "nothing": None,
    "missing entry": [3, None],
    "masked": np.ma.array([1, 2], mask=[True, False]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "ragged": [[1], [2, 3]],
    "too large": np.array([CANARY, 0]),
    "too small": np.array([-CANARY]),
    "unsigned": np.array([2**64 - 1], dtype=np.uint64),
    "long": [10**30],
}


@pytest.mark.parametrize("values", REFUSED_ARRAYS.values(), ids=REFUSED_ARRAYS)
@pytest.mark.parametrize("call", [
    lambda values: noise.geometric(values, ONE),
    lambda values: clamped_geometric(values, 10, ONE),
    lambda values: draw([HALF], values),
    lambda values: draw_events([F(1, 2)], values),
    lambda values: draw_ranks([[F(1, 2)]], values, np.zeros(2, dtype=np.int64), ONE),
], ids=["noise", "clamped", "draw", "events", "ranks"])  # fmt: skip
def test_arrays_of_anything_but_small_integers_are_refused(call, values):
    with pytest.raises(BadInput) as refusal:
        call(values)
    assert str(CANARY) not in str(refusal.value)
    assert "2020" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("rows", [
    [],
    [[]],
    [[F(1, 2), F(1, 3)]],
    [[F(3, 2), F(-1, 2)]],
    [[F(1)], HALF],
    [[float("nan"), 1]],
    [[0.1, 0.2, 0.7000001]],
    [[True, False]],
])  # fmt: skip
def test_rows_that_are_no_distributions_are_refused(rows):
    with pytest.raises(BadInput):
        draw(rows, [0])


@pytest.mark.parametrize("boundary", [[], [[F(1, 2), F(1, 3)]], [[F(-1, 2)]], [[F(3, 2)]], [[F(1, 2)], [F(1, 3), 1]]])
def test_boundaries_that_are_no_prefix_sums_are_refused(boundary):
    with pytest.raises(BadInput):
        draw_ranks(boundary, [0], [0], ONE)


def test_depths_below_minus_one_and_other_shapes_are_refused_without_showing_them():
    for depths in ([-7919], [[0]], [0, 0], [0.5]):
        with pytest.raises(BadInput) as refusal:
            draw_ranks([[F(1, 2)]], [0], depths, ONE)
        assert "7919" not in str(refusal.value)


@pytest.mark.parametrize("privacy", [Privacy(epsilon=0), Privacy(ratio=1), Privacy(ratio=1 + F(1, 10**16))])
def test_noise_without_privacy_loss_does_not_exist(privacy):
    for call in (lambda: noise.geometric([1], privacy), lambda: one_sided_geometric(1, privacy)):
        with pytest.raises(BadInput, match="epsilon"):
            call()


@pytest.mark.parametrize(("values", "largest"), [([-1], 3), ([4], 3), ([0], -1), ([0], 2**63), ([0], 1.5)])
def test_clamped_values_lie_in_the_range(values, largest):
    with pytest.raises(BadInput):
        clamped_geometric(values, largest, ONE)


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (0, 4), (2, 1, 2)])
def test_shapes_are_kept(shape):
    zeros = np.zeros(shape, dtype=np.int8)
    for drawn in (
        noise.geometric(zeros, ONE),
        clamped_geometric(zeros, 3, ONE),
        draw([HALF], zeros),
        draw_ranks([[F(1, 2)]], zeros, zeros, ONE),
    ):
        assert drawn.shape == shape
        assert drawn.dtype == np.int64
    events = draw_events([F(1, 2)], zeros)
    assert events.shape == shape
    assert events.dtype == np.bool_


def test_empty_lists_and_single_outputs_are_fine():
    assert noise.geometric([], ONE).shape == (0,)
    assert draw([[F(1)]], [0, 0]).tolist() == [0, 0]
    assert draw_ranks([[]], [0, 0], [3, -1], ONE).tolist() == [0, 0]


def test_the_caller_s_array_is_left_alone():
    values = np.arange(1000)
    noise.geometric(values, Privacy(epsilon="0.01"))
    assert (values == np.arange(1000)).all()


def test_sums_beyond_64_bits_saturate_after_the_exact_addition():
    """A tie far out: U so close to 0 or 1 that the noise itself is beyond int64."""
    privacy = Privacy(epsilon="1e-15")
    digits = 6  # words a draw takes at this epsilon
    for end, word in ((-(2**63), 0), (2**63 - 1, 2**64 - 1)):
        script = [word, *[word] * 400, word ^ 1 << 63, *[1 << 40] * (digits - 1)]
        for value in (-(2**62), 0, 2**62):
            assert noise.geometric([value], privacy, source=ScriptedBits(script, word_bits=64)).tolist() == [end]


def test_noise_is_not_saturated_before_it_is_added():
    """Negative control for the order: the same noise, 2^62 apart, stays 2^62 apart wherever both sums fit."""
    privacy = Privacy(epsilon="1e-15")
    script = [0, 1 << 40, *[1 << 40] * 5]  # a tie: noise near −8·10^16, decided by the second word
    low, high = (
        int(noise.geometric([value], privacy, source=ScriptedBits(script, word_bits=64))[0]) for value in (0, 2**62)
    )
    assert high - low == 2**62
    assert low < -(2**55)


def test_steps_stop_at_2_to_the_62():
    """A tie that leads beyond any 64-bit number ends at the documented bound; bad counts are refused by name."""
    script = [2**64 - 1] * 500 + [1 << 40] * 6
    privacy = Privacy(epsilon="1e-15")
    assert one_sided_geometric(1, privacy, source=ScriptedBits(script, word_bits=64)).tolist() == [2**62]
    for count in (-1, 1.5, True, float("nan")):
        with pytest.raises(BadInput, match="count"):
            one_sided_geometric(count, privacy)


def test_a_count_that_can_only_be_0_stays_0():
    assert clamped_geometric([0, 0], 0, ONE).tolist() == [0, 0]
    with pytest.raises(BadInput, match=r"^largest: "):
        clamped_geometric([0], -1, ONE)


def test_values_that_ties_decide_are_put_where_they_were_drawn():
    def drawn(count, bits):
        assert count == 5
        yield slice(0, 3), np.array([1, 2, 3]), {1: 70}
        yield slice(3, 5), np.array([4, 5]), {1: -80}

    assert add_drawn([10, 20, 30, 40, 50], drawn, factor=2).tolist() == [21, 110, 63, 84, 20]
