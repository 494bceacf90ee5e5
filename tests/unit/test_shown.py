"""What people read is never better than what is so: errors are rounded up, chances of being right down."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp.exact import shown_above, shown_below

NUMBERS = st.fractions(min_value=0, max_value=10**20) | st.floats(
    min_value=0, max_value=1e300, allow_subnormal=False
).filter(lambda x: x == 0 or x > 1e-300)


def exactly(number: Fraction | float) -> Fraction:
    return Fraction(repr(number)) if isinstance(number, float) else number


def read(shown: str) -> Fraction:
    return Fraction(Decimal(shown.replace(",", "")))


@given(NUMBERS, st.integers(1, 9))
def test_what_is_shown_is_on_the_side_that_the_name_says_and_nowhere_nearer_in_so_many_digits(number, digits):
    exact = exactly(number)
    below, above = read(shown_below(number, digits)), read(shown_above(number, digits))
    assert below <= exact <= above
    # Relative to what is shown a last place is at most 10^(1 − digits).
    assert exact - below <= below * Fraction(10, 10**digits) and above - exact <= above * Fraction(10, 10**digits)
    assert (below == above) == (exact in (below, above))


@pytest.mark.parametrize(
    ("number", "above", "below"),
    [
        (0.1, "0.1", "0.1"),
        (0, "0", "0"),
        (40.0, "40", "40"),
        (999.9, "1,000", "999"),
        (12345678, "12,400,000", "12,300,000"),
        (Fraction(2, 3), "0.667", "0.666"),
        (1e-7, "1e-7", "1e-7"),
        (Decimal("0.99995"), "1", "0.999"),
    ],
)
def test_numbers_are_written_shortly(number, above, below):
    assert (shown_above(number), shown_below(number)) == (above, below)


def test_without_a_direction_it_would_not_hold():
    assert read(f"{0.6273341:.3g}") < exactly(0.6273341)
