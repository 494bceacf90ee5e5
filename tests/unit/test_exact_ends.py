"""Exact numbers and documents where they end: ties, both signs, nothing, as many digits as are read and one more."""

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import flint
import numpy as np
import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, interpret
from irisdp._exact import (
    GRID_BITS,
    ONE,
    Enclosure,
    ball,
    checked,
    completed,
    counts,
    decimal_above,
    dyadic_above,
    dyadic_below,
    enclosure_of,
    ends,
    entries,
    entry_reader,
    exp_below,
    file_path,
    float_above,
    integer,
    is_short,
    json_bytes,
    json_line,
    json_list,
    log_above,
    log_below,
    log_near,
    nearest_float,
    numbers,
    parse_json,
    percent_below,
    plain_text,
    rational,
    rational_text,
    read_json,
    short_text,
    simplest_between,
    stepping_stones,
    table,
    to_grid,
    validation,
    workable_ratio,
    working_precision,
)
from irisdp._exact.arithmetics import conversion
from irisdp._exact.documents import DEEPEST, TomlFile, kind_of
from irisdp._exact.rationals import LARGEST_EXPONENT, MOST_CHARACTERS, MOST_DIGITS, meant_decimal
from support.refusals import refused

LONG = "a" * 60
HELP = "; see the function's help for what it takes"

if TYPE_CHECKING:
    from irisdp import Unheard


# Numbers


@pytest.mark.parametrize(("written", "said"), [
    ("9" * (MOST_CHARACTERS + 1), f"x: has more than {MOST_CHARACTERS} characters; write a shorter number"),
    ("9" * (MOST_DIGITS + 1), f"x: has an integer of more than {MOST_DIGITS} digits; write a shorter number"),
    ("1e4001", f"x: has an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
    ("1e-4001", f"x: has an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
    ("3/0", "x: divides by zero; write a quotient with a non-zero denominator"),
    ("1.2.3", 'x: must be a finite number; write it as "0.25", "1e-9" or "3/10"'),
    (True, "x: must be a number, not true or false; write it as a decimal or a quotient"),
    (math.inf, "x: must be a finite number, not inf; write it as a decimal or a quotient"),
    (Decimal("-Infinity"), "x: must be a finite number, not -Infinity; write it as a decimal or a quotient"),
    (None, "x: must be a number, not NoneType; write it as a decimal or a quotient"),
])  # fmt: skip
def test_what_is_no_number_is_refused_in_these_words(written, said):
    assert refused(rational, written, "x") == said


@pytest.mark.parametrize(("written", "near"), [("1,5", "1 or 2"), ("1,000", "1000"), ("-0,5", "-1 or 0")])
def test_a_whole_number_has_no_comma(written, near):
    said = f"x: must be a whole number, and '{written}' has a comma in it; write {near}"
    assert refused(integer, f" {written}", "x", at_least=-9) == said


def test_arithmetics_by_name(monkeypatch):
    third = F(1, 3)
    assert conversion("flint")(third) == flint.fmpq(1, 3) and conversion("fractions")(third) is third
    assert conversion("gmpy2")(third) == third and type(conversion("gmpy2")(third)) is not F
    said = "arithmetic: is not known; choose one of flint, fractions, gmpy2"
    assert refused(conversion, "decimal") == said
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    said = 'arithmetic: gmpy2 is not installed; choose "flint" or "fractions"'
    assert refused(conversion, "gmpy2") == said


@pytest.mark.parametrize("written", ["ten", "abc", "1.2.3", "", "nan", "0x10"])
def test_a_whole_number_is_not_asked_for_as_a_fraction(written):
    assert refused(integer, written, "x", at_least=1) == "x: must be a whole number; write a number from 1 on"
    said = "x: must be a whole number; write one from 0 to 9"
    assert refused(integer, written, "x", at_least=0, at_most=9) == said
    said = "x: must be a whole number; write it in digits, such as 12"
    assert refused(integer, written, "x", at_least=-(2**62), at_most=2**62) == said
    assert refused(integer, "3/2", "x", at_least=0) == "x: must be a whole number; write 1 or 2"


def test_numbers_that_just_fit_are_read():
    assert rational("9" * MOST_DIGITS, "x") == 10**MOST_DIGITS - 1
    assert rational("1e4000", "x") == 10**4000 == 1 / rational("1E-04000", "x")
    assert rational(mpq(3, 7), "x") == F(3, 7)  # another library's rational
    assert type(rational(mpq(3, 7), "x").numerator) is int
    assert rational(np.longdouble("0.1"), "x") == F(1, 10)


@pytest.mark.parametrize(("value", "ends", "said"), [
    ("3/2", (0, None), "K: must be a whole number; write 1 or 2"),
    ("-3/2", (0, None), "K: must be a whole number; write an integer that is at least 0"),
    ("-3/2", (-2, None), "K: must be a whole number; write -2 or -1"),
    ("-3/2", (-1, None), "K: must be a whole number; write an integer that is at least -1"),
    ("7/2", (0, 4), "K: must be a whole number; write 3 or 4"),
    ("9/2", (0, 4), "K: must be a whole number; write an integer that is at least 0"),
    ("2000000000000001/2", (0, None), "K: must be a whole number; write an integer that is at least 0"),
    (-1, (0, None), "K: must be at least 0; choose a number in that range"),
    (5, (0, 4), "K: must be at least 0 and at most 4; choose a number in that range"),
])  # fmt: skip
def test_whole_numbers_in_a_range(value, ends, said):
    assert refused(integer, value, "K", at_least=ends[0], at_most=ends[1]) == said


def test_ends_of_a_range_are_in_it():
    assert [integer(k, "K", at_least=-1, at_most=4) for k in (-1, 4)] == [-1, 4]


@pytest.mark.parametrize(("value", "text"), [
    (F(-1, 4), "-0.25"),
    (F(1, 3), "1/3"),
    (F(-7, 6), "-7/6"),
    (F(1, 10**40), "0." + "0" * 39 + "1"),
    (F(1, 10**41), f"1/{10**41}"),
    (F(1, 2**40), format(Decimal(1) / 2**40, "f")),
    (F(1, 5**41), f"1/{5**41}"),
    (F(12345, 100), "123.45"),
])  # fmt: skip
def test_decimals_are_written_where_they_are_short(value, text):
    assert rational_text(value) == text
    assert F(text) == value


def test_integers_of_any_length_are_written():
    """CPython writes no more than 4,300 digits unless it is told to."""
    many = 10**5000 + 7
    assert rational_text(F(many)) == "1" + "0" * 4999 + "7"
    assert rational_text(F(-many, 3)) == "-1" + "0" * 4999 + "7/3"
    assert rational_text(F(10**3882)) == "1" + "0" * 3882


def test_floats_for_readers_end_at_10_to_the_308():
    assert nearest_float(F(1, 3)) == 1 / 3
    assert nearest_float(F(10**400)) is None
    assert [short_text(F(sign * 10**400)) for sign in (1, -1)] == ["beyond 1e308", "beyond -1e308"]
    assert short_text(F(2, 3)) == "0.666667"
    assert short_text(F(2, 3), 2) == "0.67"


@pytest.mark.parametrize(("chance", "shown"), [
    (F(1), "100"),
    (F(0), "0"),
    (F(1, 2), "50"),
    (F(123456789012345, 10**17), "0.123456789012345"[:17] if len("0.123456789012345") <= 16 else "0.123456"),
    (F(999_999_999, 10**9), "99.9999999"),
    (1 - F(1, 10**15), "99.9999999999999"),
    (1 - F(1, 10**30), "99.9999"),
    (F(1, 3), "33.3333"),
])  # fmt: skip
def test_percentages_are_exact_where_they_are_short_and_else_below(chance, shown):
    assert percent_below(chance) == shown
    assert F(shown) <= 100 * chance


# Rounding


def near_logarithm(ratio, digits, *, up):
    """A rational within 10^-digits of log(ratio), on the side named."""
    found = enclosure_of(lambda: ball(F(ratio)).log(), width=F(1, 10 ** (digits + 2)))
    step = F(1, 10**digits)
    return (found.upper // step + 1) * step if up else (found.lower // step) * step


@pytest.mark.parametrize("digits", [20, 60, 300, 1000])
def test_an_exponent_beside_a_short_ratio_is_decided(digits):
    """e^ε is 3 and a hair: only many digits tell on which side."""
    assert exp_below(near_logarithm(3, digits, up=True)) >= 3
    assert exp_below(near_logarithm(3, digits, up=False)) < 3
    if digits >= 60:
        assert exp_below(near_logarithm(3, digits, up=True)) == 3
        assert exp_below(near_logarithm(3, digits, up=False)) == 3 - F(1, 1 << 127)


def test_what_no_width_decides_is_still_below():
    epsilon = near_logarithm(3, 9000, up=True)
    assert exp_below(epsilon) in (3 - F(1, 1 << 127), 3)
    assert exp_below(near_logarithm(3, 9000, up=False)) == 3 - F(1, 1 << 127)


def test_exponents_have_ends():
    assert exp_below(F(0)) == 1
    assert exp_below(F(1, 10**60)) == 1  # 128 bits tell no more
    assert exp_below(F(1000)) > 10**434
    for wrong in (F(-1, 10**9), 1000 + F(1, 10**9)):
        assert refused(exp_below, wrong) == "epsilon: must lie between 0 and 1000; choose a smaller epsilon"


@given(st.fractions(min_value=F(1, 10**9), max_value=10**9), st.integers(1, 90))
def test_binary_rounding_is_to_the_nearest_neighbour_on_its_side(value, bits):
    for found, side in ((dyadic_below(value, bits), -1), (dyadic_above(value, bits), 1)):
        unit = F(1)
        while unit <= value:
            unit *= 2
        while unit > value:
            unit /= 2  # the largest power of two that is no more than the value
        step = unit / (1 << bits - 1)
        assert side * (found - value) >= 0
        assert abs(found - value) < step * 2
        assert found.denominator & (found.denominator - 1) == 0
        assert (found / (step / 2)).denominator == 1  # as many digits as asked, or one more


def test_binary_rounding_leaves_short_numbers_and_nothing_alone():
    for value in (F(0), F(1), F(5, 8), F(3 << 200), F(3, 1 << 200)):
        assert dyadic_below(value, 8) == dyadic_above(value, 8) == value
    assert (dyadic_below(F(1 << 200) + 1, 8), dyadic_above(F(1 << 200) + 1, 8)) == (1 << 200, (1 << 200) + (1 << 192))


@given(st.fractions(), st.integers(0, 9))
def test_decimal_rounding_is_the_next_place_above(value, places):
    found = decimal_above(value, places)
    assert 0 <= found - value < F(1, 10**places)
    assert (found * 10**places).denominator == 1


@given(st.fractions(min_value=1, max_value=10**6))
def test_logarithms_are_bracketed_to_thirty_places(ratio):
    low, high = log_below(ratio), log_above(ratio)
    assert low <= high < low + F(2, 10**30)
    assert (high * 10**30).denominator == 1
    assert (low == high == 0) == (ratio == 1)
    with working_precision(300):
        assert not ball(low).exp() > ball(ratio)
        assert not ball(high).exp() < ball(ratio)


# Enclosures


def test_intervals():
    one, other = Enclosure(F(1, 3), F(1, 2)), Enclosure(F(2, 5), F(3))
    assert one.hull(other) == other.hull(one) == Enclosure(F(1, 3), F(3))
    assert (one.width, float(one)) == (F(1, 6), pytest.approx(5 / 12))
    assert [x in one for x in (F(1, 3), F(1, 2), F(33, 100), F(51, 100))] == [True, True, False, False]
    assert other.clamp(F(1), F(2)) == Enclosure(F(1), F(2))
    assert other.clamp(F(-1), F(9)) == other
    assert other.clamp(F(4), F(5)) == Enclosure.exactly(F(4))
    assert other.clamp(F(0), F(1, 5)) == Enclosure.exactly(F(1, 5))
    assert repr(Enclosure.exactly(F(1, 3))) == "<Enclosure: exactly 0.333333>"
    assert repr(one) == "<Enclosure: 0.333333 to 0.5, apart 0.2>"


def test_precision_is_raised_until_the_ball_is_narrow_and_finite_and_is_then_as_before():
    seen = []

    def compute():
        with working_precision(64 if len(seen) < 2 else 64 << len(seen)):
            seen.append(len(seen))
            if len(seen) == 1:
                return 1 / ball(F(0))  # not finite
            return ball(F(1, 3))

    found = enclosure_of(compute, width=F(1, 10**30))
    assert F(1, 3) in found and found.width <= F(1, 10**30)
    assert len(seen) > 2
    with pytest.raises(ZeroDivisionError), working_precision(1000):
        raise ZeroDivisionError
    with working_precision(77):
        pass
    assert flint.ctx.prec == 53


@pytest.mark.parametrize("value", [F(0), F(7), F(-7), F(3 << 100), F(1, 3), F(-1, 3)])
def test_ends_of_a_ball_are_outside(value):
    found = ends(ball(value))
    assert value in found
    assert found.width <= abs(value) / (1 << 40)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("factor", [1, 3])
def test_what_is_too_small_to_write_down_lies_between_nothing_and_little(factor, sign):
    """Exactly a power of two, and three of them: nearer to 0 than a bound is written, and not on its wrong side."""
    found = ends(sign * factor * flint.arb(2) ** -(1 << 22))
    near, far = (found.lower, found.upper) if sign > 0 else (-found.upper, -found.lower)
    assert near == 0 < far < F(1, 1 << (1 << 20) - 3)
    just = F(factor, 1 << (1 << 20) + 1)  # as near to 0 as may be, and a bound at no less than three times its power
    found = ends(sign * ball(just))
    assert found.lower <= sign * just <= found.upper


# Rows on a grid


@given(st.lists(st.fractions(min_value=F(-1, 9), max_value=1), min_size=1, max_size=6))
def test_rows_on_the_grid_sum_to_one_and_stay_where_they_were(row):
    found = to_grid(row)
    assert sum(found) == ONE == 1 << GRID_BITS
    assert all(entry >= 0 for entry in found)
    total = sum(max(F(0), x) for x in row)
    if total == 0:
        assert max(found) - min(found) <= len(row)
        return
    for entry, x in zip(found, row, strict=True):
        wanted = max(F(0), x) / total
        assert abs(F(entry, ONE) - wanted) <= F(len(row) + 1, ONE) + (F(1, 1 << 15) if total != 1 else 0)


def test_a_row_that_is_nearly_one_is_not_scaled_and_the_largest_takes_the_rest():
    near = [F(1, 2), F(1, 4), F(1, 4) - F(1, 1 << 20)]
    assert to_grid(near) == [ONE // 2 + (ONE >> 20), ONE // 4, ONE // 4 - (ONE >> 20)]
    far = [F(1, 2), F(1, 4), F(1, 4) - F(1, 1 << 10)]
    assert abs(F(to_grid(far)[1], ONE) - F(1, 4) / sum(far)) < F(2, ONE)
    assert to_grid([F(0), F(-1), F(0)]) == [ONE // 3 + 1, ONE // 3, ONE // 3]
    assert completed([1, 5, 5]) == [1, ONE - 6, 5]


# Short numbers


def test_short_is_a_hundred_digits():
    assert is_short([[F(10**100 - 1, 10**100 - 2)], []])
    assert not is_short([[F(1)], [F(10**100, 3)]])
    assert not is_short([[F(3, 10**100)]])


@given(st.fractions(min_value=F(1, 50), max_value=50), st.fractions(min_value=0, max_value=1))
def test_the_simplest_fraction_of_an_interval(low, length):
    found = simplest_between(low, low + length)
    assert low <= found <= low + length
    for denominator in range(1, min(found.denominator, 60)):
        assert -(-low * denominator // 1) > (low + length) * denominator // 1  # no whole number between


@given(st.fractions(min_value=1, max_value=1000))
def test_a_workable_ratio_gives_away_next_to_nothing(ratio):
    long = ratio + F(1, 10**40)
    for one in (ratio, long):
        found = workable_ratio(one)
        assert one - (one - 1) / one / (1 << 64) <= found <= one
    assert workable_ratio(F((1 << 40) - 1, 3)) == F((1 << 40) - 1, 3)
    assert workable_ratio(2 + F(1, 10**40)) == 2


def test_stones_lead_from_comfortable_ratios_to_the_one_asked_for():
    assert stepping_stones(F(1)) == [1]
    assert stepping_stones(F(2)) == [2]
    assert stepping_stones(F(1000)) == [16, 128, 1000]
    assert stepping_stones(1 + F(1, 10**6))[0] == F(65, 64)
    assert stepping_stones(F(65, 64))[0] <= F(65, 64)
    long = 40 + F(1, 10**50)
    found = stepping_stones(long)
    assert (found[0], found[-1]) == (16, long)
    assert long - (long - 1) / (1 << 12) <= found[1] < long
    assert stepping_stones(F(1 << 60))[:-2] == [16 * 8**k for k in range(12)]


# Documents


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1e4001]", f"f: holds an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
        ("[1e-00004001]", f"f: holds an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
        ("[1e" + "9" * 5000 + "]", f"f: holds an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
        ("[0." + "1" * 4301 + "]", f"f: holds a number of more than {MOST_DIGITS} digits; write a shorter number"),
        ("[" + "1" * 4000 + "." + "1" * 4000 + "]",
         f"f: holds a number of more than {MOST_DIGITS} digits; write a shorter number"),
        ("[-" + "1" * 4301 + "]", f"f: holds an integer of more than {MOST_DIGITS} digits; write a shorter number"),
        ('{"a": 1, "b": 2, "a": 3}', 'f: holds the key "a" twice in one object; write every key once'),
        (f'{{"{LONG}a": 1, "{LONG}a": 2}}', "f: holds a key twice in one object; write every key once"),
        ("[NaN]", "f: holds NaN; write finite numbers only"),
        ('{"a"\n 1}', "f: is not valid JSON at line 2, column 2; check quotes, commas and brackets there"),
        ("[" * 101 + "]" * 101, f"f: is nested more than {DEEPEST} deep; use fewer lists within lists"),
        ('{"a":' * 101 + "1" + "}" * 101, f"f: is nested more than {DEEPEST} deep; use fewer lists within lists"),
        ("[" * 200_000, "f: is not valid JSON; check quotes, commas and brackets"),
    ],
)  # fmt: skip
def test_documents_beyond_use_are_refused_in_these_words(text, said):
    assert refused(parse_json, text, "f") == said


def test_documents_that_just_fit_are_read():
    assert parse_json("[" * 100 + "]" * 100, "f")
    assert parse_json('{"a":' * 100 + "1" + "}" * 100, "f")
    assert parse_json("[1e4000, 1E-4000, 1e+0004]", "f") == [Decimal("1e4000"), Decimal("1e-4000"), Decimal(10000)]
    assert parse_json("-" + "1" * 4300, "f") == -int("1" * 4300)
    assert parse_json("0." + "1" * 4299, "f").as_tuple().exponent == -4299
    assert parse_json(f'{{"{LONG}a": 1}}', "f") == {"a" * 61: 1}
    assert refused(parse_json, f'{{"{LONG}": 1, "{LONG}": 2}}', "f").startswith('f: holds the key "aaa')


def test_files(tmp_path):
    (tmp_path / "good.json").write_text('{"a": 0.10}')
    assert (
        read_json(str(tmp_path / "good.json"), "f") == {"a": Decimal("0.10")} == read_json(tmp_path / "good.json", "f")
    )
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    gone = tmp_path / "gone.json"
    assert refused(read_json, gone, "f") == f"f: there is no file {gone}; check the path"
    assert refused(read_json, tmp_path, "f") == f"f: {tmp_path} is no regular file; give a JSON file"
    for path in (tmp_path / "latin.json", "a\0b"):
        assert refused(read_json, path, "f").endswith("as UTF-8 text; give a JSON file that can be read")
    assert refused(read_json, 7, "f") == "f: must be the path of a file, not int; give a path"


@pytest.mark.parametrize(("content", "said"), [
    (b"a = '\xe9'", "is no UTF-8 text; save it as UTF-8"),
    (b"a = ", "is no valid TOML at end of document; check quotes, brackets and commas, and that no key stands twice"),
    (b"a = " + b"[" * 3000, "is no valid TOML; check quotes, brackets and numbers"),
    (b"\n" + b"a." * 200 + b"a = 1", "has more than 50 dots between words in line 2; write a shorter key"),
    (b"a = 1e9_999", f"holds a number that has an exponent beyond {LARGEST_EXPONENT}; write a number of ordinary size"),
])  # fmt: skip
def test_toml_that_is_none_is_refused_in_these_words(tmp_path, content, said):
    (tmp_path / "p.toml").write_bytes(content)
    assert refused(TomlFile.at(tmp_path / "p.toml", "plan").read) == f"plan: p.toml {said}"


def test_a_toml_file_that_cannot_be_read_is_refused_in_these_words(tmp_path):
    gone, leads_nowhere = tmp_path / "gone.toml", tmp_path / "link.toml"
    leads_nowhere.symlink_to(gone)
    read = lambda path: refused(TomlFile.at(path, "plan").read)  # noqa: E731
    assert read(tmp_path) == f"plan: {tmp_path} is no regular file; give a TOML file"
    assert read(gone) == f"plan: there is no file {gone}; check the path"
    assert read(leads_nowhere).startswith(f"plan: {leads_nowhere} is a link to a file that is not there; bring back ")
    long = tmp_path / ("a" * 300)
    assert read(long) == f"plan: cannot read {long}; give a TOML file that can be read"


def test_values_of_toml_are_called_what_they_are():
    values = ({}, [], "", "a", True, 1, Decimal("0.5"), date(2026, 1, 1))
    assert [kind_of(value) for value in values] == [
        "a table", "a list", "empty text", "text", "true or false", "a number", "a number", "a date or a time",
    ]  # fmt: skip


def test_keys_and_numbers_of_a_toml_file(tmp_path):
    (tmp_path / "p.toml").write_text("rate = 0.10\nratee = 1_0.5\n")
    file = TomlFile.at(tmp_path / "p.toml", "plan")
    document = file.read()
    assert document == {"rate": Decimal("0.10"), "ratee": Decimal("10.5")}
    assert file.check_keys({"rate": 1}, ["rate"]) is None
    said = "plan: p.toml has the key 'ratee', which no plan has; did you mean rate?"
    assert refused(file.check_keys, document, ["rate"]) == said
    assert refused(file.check_keys, {"zzz": 1}, ["rate", "mean"]).endswith("; choose from rate, mean")


def test_a_toml_file_has_at_most_a_mebibyte(tmp_path):
    (tmp_path / "full.toml").write_bytes(b"a = 1" + b" " * ((1 << 20) - 5))
    (tmp_path / "long.toml").write_bytes(b"a = 1" + b" " * ((1 << 20) - 4))
    assert TomlFile.at(tmp_path / "full.toml", "plan").read() == {"a": 1}
    said = "plan: long.toml is longer than 1,048,576 bytes; write less into one file"
    assert refused(TomlFile.at(tmp_path / "long.toml", "plan").read) == said


@pytest.mark.parametrize(("written", "meant"), [
    ("1,5", "1.5"), ("-1,5", "-1.5"), ("+,5", "+0.5"), (",5", "0.5"), ("-,5", "-0.5"), ("5,,", None),
    ("1,000", "1000, or 1.000 if the comma is a decimal comma"), ("1,000.5", "1000.5"), ("1,000,000", "1000000"),
])  # fmt: skip
def test_a_decimal_comma_is_understood_and_a_point_suggested(written, meant):
    assert meant_decimal(written) == meant


def test_what_steers_a_terminal_is_written_as_its_number():
    odd = "a\u202eb\x7fc\ud800é"
    assert json_line({"k": odd}) == '{"k": "a\\u202eb\\u007fc\\ud800é"}'
    assert json_bytes([1]) == b"[\n 1\n]\n"
    assert json.loads(json_bytes({"k": odd})) == {"k": odd}
    assert json_line("plain") == '"plain"'


# Lists, texts and paths


def test_tables_and_lists_that_are_none():
    assert refused(table, [[1]], "x", rows=2) == "x: must be a table of 2 rows; give one row for every input"
    assert refused(table, [[], []], "x", rows=2) == "x: must have rows of one length; give as many numbers in every row"
    assert refused(table, [[1, 2]], "x", rows=1, columns=3).startswith("x: must be a list of 3 numbers")
    assert entries(np.array(1)) is None
    assert refused(json_list, (1,), "x") == "x: must be a list; write it in square brackets"
    assert refused(json_list, [1], "x", 2) == "x: must be a list of 2 entries; write it in square brackets"
    assert entries(x for x in (1, 2)) == [1, 2]
    assert refused(counts, [1, 5], "x", at_most=4).startswith("x: must be at least 0 and at most 4")


def test_half_a_character_is_refused():
    assert plain_text("Ely é", "x") == "Ely é"
    assert refused(plain_text, "a\udc00", "x") == "x: holds half a character (a lone surrogate); write whole characters"


def test_paths():
    assert file_path(b"a".decode(), "x") == Path("a") == file_path(Path("a"), "x")
    assert refused(file_path, 7, "x") == "x: must be the path of a file; write it as text"
    for wrong in ("", "a\0b", "\ud800"):
        assert refused(file_path, wrong, "x") == "x: is not a usable path; give the path of a file"


# Arguments


class Named(Protocol):
    name: str

    def call(self) -> None: ...


class Thing:
    name = "thing"

    def call(self) -> None: ...


@checked
def ask(
    one: int | None,
    /,
    kind: Literal["red", "blue"] = "red",
    *rest: str,
    many: Sequence[int] = (),
    table: Mapping[str, int] | None = None,
    path: str | Path = "",
    named: Named | None = None,
    call: Callable[[], None] | None = None,
    flag: bool = False,
    choice: Literal["a", "b", "c"] | None = None,
    nothing: None = None,
    unknown: "Unheard | None" = None,
    whatever: Any = None,
) -> str:
    return kind


@checked
def options_only(*, width: int) -> int:
    return width


@checked
def any_options(one, /, **others: int) -> dict[str, int]:
    return others


@checked
def told(*, unit: str = "none", relation: Literal["exchange", "add-remove"] = "exchange") -> str:
    return f"{unit} {relation}"


@checked
def one_way(relation: Literal["add-remove"]) -> str:
    return relation


def test_names_of_other_tools_mean_the_same():
    assert told(privacy_unit="u", relation="unbounded") == "u add-remove"
    assert refused(one_way, relation="bounded").startswith("relation: must be add-remove")


class Box:
    @checked
    def put(self, what: int) -> int:
        return what

    @checked
    def empty(self) -> None: ...


@pytest.mark.parametrize(
    ("call", "arguments", "options", "said"),
    [
        (ask, (), {}, "one: is missing; give one=…"),
        (ask, (1, "green"), {}, "kind: must be red or blue; choose one of the two"),
        (ask, (1,), {"choice": "d"}, "choice: must be a or b or c; choose one of them"),
        (ask, (1, 3), {}, "kind: must be red or blue, not int" + HELP),
        (ask, (1, "red", 2), {}, "rest: must be text, not int" + HELP),
        (ask, (1,), {"flag": 1}, "flag: must be True or False, not int" + HELP),
        (ask, (1,), {"many": 3}, "many: must be a sequence of number, not int" + HELP),
        (ask, (1,), {"table": 3}, "table: must be a mapping, not int" + HELP),
        (ask, (1,), {"path": 3}, "path: must be a path, not int" + HELP),
        (ask, (1,), {"nothing": 3}, "nothing: must be None, not int" + HELP),
        (ask, (1,), {"named": Thing}, "named: must be a Named, not the class Thing" + HELP),
        (ask, (1,), {"named": 3}, "named: must be a Named, not int" + HELP),
        (ask, (1,), {"many": None}, "many: must be a sequence of number, not None" + HELP),
        (ask, ([],), {}, "one: must be a number, not list; write the value itself, without a list around it"),
        (ask, (1,), {"knd": "red"}, "knd: is no option; did you mean kind?"),
        (ask, (1, "red"), {"kind": "red"}, "kind: is given twice, by place and by name; give it once"),
        (options_only, (3,), {}, "arguments: are too many: none may stand without a name; name the others: width=…"),
        (options_only, (), {}, "width: is missing; give width=…"),
        (options_only, (), {"qqq": 1}, "qqq: is no option; choose from width"),
        (Box().put, (1, 2), {}, "arguments: are too many: 1 may stand without a name; leave the others out"),
        (Box().put, (), {}, "what: is missing; give what=…"),
        (Box().empty, (), {"x": 1}, "x: is no option; leave it out"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused_in_these_words(call, arguments, options, said):
    assert refused(call, *arguments, **options) == said


@checked
def deep(anything: Sequence[Any] = (), rows: Sequence[Sequence[int]] = ()) -> None: ...


def test_what_a_sequence_holds_is_named_where_that_is_short():
    assert refused(deep, 3) == "anything: must be a sequence, not int" + HELP
    assert refused(deep, rows=3) == "rows: must be a sequence, not int" + HELP


@checked
def lists(numbers: Sequence[float] = (), pair: tuple[int, int] = (0, 1), own: Sequence[Enclosure] = ()) -> None: ...


@pytest.mark.parametrize("numbers", [[1], (1, 2), range(3), "text", np.zeros(2), np.zeros((2, 2))], ids=repr)
def test_what_may_stand_for_a_sequence(numbers):
    lists(numbers)
    lists(pair=[3, 4])
    lists(own=[Enclosure.exactly(F(1))])


@pytest.mark.parametrize(
    "wrong",
    [{"numbers": np.array(1)}, {"numbers": b"x"}, {"numbers": int}, {"numbers": {1}}, {"pair": "ab"},
     {"own": "ab"}, {"own": np.zeros(2)}, {"own": [F(1)]}, {"own": [Enclosure.exactly(F(1)), None]}],
    ids=repr,
)  # fmt: skip
def test_what_may_not(wrong):
    assert refused(lists, **wrong).startswith(f"{next(iter(wrong))}: must be a sequence")


def test_arguments_that_fit_are_let_through():
    assert ask(None) == "red"
    fitting = {"many": range(3), "table": {"a": 1}, "path": Path("a"), "named": Thing(), "call": print, "flag": True}
    assert ask(1.5, "blue", "x", "y", **fitting, nothing=None, unknown=3, whatever=object()) == "blue"
    assert any_options(1, a=2) == {"a": 2}
    assert Box().put(3) == 3
    with pytest.raises(TypeError):  # Python's own word for what has no name to callers
        any_options(one=1)


# Where floats and memory end


@pytest.mark.parametrize("value", [F(3, 10), F(1, 2), F(-3, 10), F(10**400), F(-(10**400)), F(0), F(1, 10**400)])
def test_a_float_above_is_the_least_one(value):
    found = float_above(value)
    assert found == math.inf or F(found) >= value
    before = math.nextafter(found, -math.inf)
    assert before == -math.inf or F(before) < value


def test_a_decimal_beyond_all_floats_is_a_number():
    assert rational(Decimal("1e400"), "a") == 10**400


def test_a_table_of_one_row_is_a_table():
    assert table([[1, 2]], "a", rows=1) == ((F(1), F(2)),)


def test_entries_are_read_until_they_are_too_long_for_memory(monkeypatch):
    monkeypatch.setattr(validation, "_MOST_BITS", 8)
    read, twice = entry_reader("a"), entry_reader("b", lambda value: F(2 * value))
    assert [read(1), read(7), twice(63)] == [1, 7, 126]  # 2 and 4 bits; 8
    assert refused(read, 3) == "a: holds more than a gigabyte of numbers; round them to fewer digits"


def test_an_address_is_no_path_and_is_not_quoted():
    said = refused(file_path, "https://ann:secret@host/t.csv", "data")
    assert said == "data: is an address, and no path of a file; name a file on this machine"


# Exact numbers: what is accepted, how it is read, and which way it is rounded.


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
