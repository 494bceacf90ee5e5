"""Exact numbers: what is accepted, how it is read, and which way it is rounded."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, interpret
from irisdp._exact import (
    ball,
    counts,
    decimal_above,
    dyadic_above,
    dyadic_below,
    enclosure_of,
    exp_below,
    integer,
    json_list,
    log_above,
    log_below,
    log_near,
    numbers,
    parse_json,
    rational,
    rational_text,
    table,
)


@pytest.mark.parametrize(("written", "meant"), [
    (0.1, "1/10"),
    (1e-9, "1/1000000000"),
    (np.float64(0.3), "3/10"),
    (np.float32(0.1), "1/10"),
    (np.int64(7), "7"),
    ("3/10", "3/10"),
    ("0.25", "1/4"),
    (" 1e-3 ", "1/1000"),
    (Decimal("0.125"), "1/8"),
    (Fraction(2, 3), "2/3"),
    (5, "5"),
    ("-2", "-2"),
])  # fmt: skip
def test_numbers_are_read_as_written(written, meant):
    assert rational(written, "x") == Fraction(meant)


@pytest.mark.parametrize(
    "written",
    [True, False, np.bool_(True), math.nan, math.inf, -math.inf, "nan", "inf", "1/0", "", "one", "1,5", "1e99999", None,
     [1], {}, b"1", 1j, "0x10", "1_000", "9" * 9000, "1/" + "9" * 7000, np.float64("nan"), Decimal("NaN"), "½", "١"],
)  # fmt: skip
def test_anything_else_is_refused_in_one_line(written):
    with pytest.raises(BadInput, match=r"^x: ") as caught:
        rational(written, "x")
    assert "\n" not in str(caught.value)


def test_whole_numbers_have_a_range():
    assert integer("100", "K", at_least=0) == 100
    for wrong in ("1.5", -1, 11):
        with pytest.raises(BadInput):
            integer(wrong, "K", at_least=0, at_most=10)


@given(st.fractions())
def test_text_is_exact(value):
    assert Fraction(rational_text(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=12, min_value=-1000, max_value=1000))
def test_short_decimals_stay_decimals(value):
    assert "/" not in rational_text(Fraction(value))


@given(st.fractions(min_value=0, max_value=60, max_denominator=10**12))
def test_the_ratio_is_below_and_close(epsilon):
    ratio = exp_below(epsilon)
    assert ratio >= 1
    # log_above(ratio) may exceed ε by its own last place only if ratio <= e^ε and the two are that close.
    assert log_below(ratio) <= epsilon
    assert epsilon - log_below(ratio) < Fraction(1, 1 << 120) + Fraction(1, 10**30)


def test_published_digits_of_e():
    # e = 2.71828182845904523536028747135266249775724709369995…
    below = Fraction(271828182845904523536028747135266249775, 10**38)
    assert below - Fraction(1, 1 << 125) <= exp_below(Fraction(1)) <= below + Fraction(1, 10**38)


@given(st.fractions(min_value=0, max_value=10**6), st.integers(2, 80))
def test_dyadics_bracket(value, bits):
    low, high = dyadic_below(value, bits), dyadic_above(value, bits)
    assert low <= value <= high
    assert high - low <= value / 2 ** (bits - 2)
    assert decimal_above(value, 5) - value < Fraction(1, 10**5)


@given(st.fractions(min_value=1, max_value=1000))
def test_the_charge_for_a_ratio_is_never_below_its_logarithm(ratio):
    assert exp_below(log_above(ratio)) >= ratio * (1 - Fraction(1, 1 << 126)) or ratio == 1
    assert float(log_above(ratio)) == pytest.approx(math.log1p(float(ratio - 1)), rel=1e-12, abs=1e-28)


def test_json_keeps_digits_and_refuses_what_is_no_number():
    assert parse_json('{"a": 0.1000000000000000055}', "f")["a"] == Decimal("0.1000000000000000055")
    for wrong in ('{"a": NaN}', '{"a": -Infinity}', '{"a": 1, "a": 2}', "{", "[" * 100_000):
        with pytest.raises(BadInput, match=r"^f: "):
            parse_json(wrong, "f")


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_far_too_small_to_write_down_are_enclosed_all_the_same(sign):
    found = enclosure_of(lambda: sign * ball(Fraction(2, 3)) ** (1 << 60), width=Fraction(1, 10**30))
    assert (
        min(found.lower, found.upper, key=abs)
        == 0
        < sign * max(found.lower, found.upper, key=abs)
        < Fraction(1, 2**999)
    )
    near = enclosure_of(lambda: sign * ball(Fraction(2, 3)) ** 1000, width=Fraction(1, 10**300))
    assert sign * Fraction(2, 3) ** 1000 in near and 0 not in near


@given(
    st.fractions(1, 10**6, max_denominator=10**40)
    | st.integers(1, 4000).map(lambda k: 1 + Fraction(1, 1 << k))
    | st.integers(0, 4000).map(lambda k: Fraction((3 << k) + 1, 1 << k))
    | st.integers(1, 1 << 4000).map(Fraction)
)
def test_a_logarithm_in_floats_is_near(ratio):
    exact = enclosure_of(lambda: ball(ratio).log(), width=(ratio - 1) / ratio / 10**15) if ratio > 1 else None
    error = 0 if exact is None else max(abs(Fraction(log_near(ratio)) - end) for end in (exact.lower, exact.upper))
    # Below all floats the least of them is as near as can be.
    assert error <= (0 if exact is None else exact.upper) / 10**12 + Fraction(1, 1 << 1074)


# Lists and tables of numbers: one parser for each shape, wherever they are given.


def test_lists_and_arrays_are_read_exactly():
    assert numbers(["1/3", 0.1, 2], "x") == (Fraction(1, 3), Fraction(1, 10), Fraction(2))
    assert numbers(np.array([1, 2]), "x", 2) == (1, 2)
    assert table([[1, 2], (3, "1/2")], "x", rows=2) == ((1, 2), (3, Fraction(1, 2)))
    assert counts(np.array([3, 1]), "x", at_most=3) == (3, 1)
    assert json_list([1], "x", 1) == [1]


NO_LISTS = ["12", b"12", {1: 2}, {1, 2}, frozenset({1}), 5, None, np.array(1)]


@pytest.mark.parametrize("read", [numbers, counts, json_list, lambda value, field: table(value, field, rows=1)])
@pytest.mark.parametrize("value", NO_LISTS, ids=repr)
def test_what_is_no_list_is_refused_by_name(read, value):
    with pytest.raises(BadInput, match=r"^x: must be a (list|table)"):
        read(value, "x")


def test_shapes_are_refused_by_name():
    with pytest.raises(BadInput, match="x: must be a list of 2 numbers"):
        numbers([1], "x", 2)
    with pytest.raises(BadInput, match="x: must have rows of one length"):
        table([[1], [1, 2]], "x", rows=2)
    with pytest.raises(BadInput, match="x: must be a list of counts"):
        counts(np.array([[0, 1]]), "x")
    with pytest.raises(BadInput, match="x: must be a list of 1 entries"):
        json_list([], "x", 1)


@pytest.mark.parametrize("prior", [{Fraction(1, 4), Fraction(3, 4)}, np.array(0.5)], ids=["set", "number"])
def test_a_prior_without_an_order_is_refused(tmp_path, prior):
    (tmp_path / "data.csv").write_text("x\n1\n")
    irisdp.publish(tmp_path / "data.csv", "count", epsilon=1, ledger=tmp_path / "ledger.db", out=tmp_path / "out.csv")
    with pytest.raises(BadInput, match="prior: must be a list of numbers"):
        interpret(tmp_path / "out.csv.release.json", 1, prior=prior)
    with pytest.raises(BadInput, match="prior: must be a list of 2 numbers"):
        irisdp.design.consumer(1, "absolute", irisdp.Privacy(epsilon=1), prior=prior)
