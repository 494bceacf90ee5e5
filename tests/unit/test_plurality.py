"""What `design.plurality` chooses, says of it, and refuses."""

import time
from fractions import Fraction

import pytest

from irisdp import BadInput, Privacy, Refusal, design
from irisdp.design import PluralityMechanism
from irisdp.design._plurality import least_proved_ratio
from irisdp.mechanisms import NoisyLargest, PermuteAndFlip, Pull


def chosen(categories, ratio, *words, **options):
    return design.plurality(categories, Privacy(ratio=ratio), *words, **options)


@pytest.mark.parametrize(
    ("categories", "ratio", "words", "form", "says"),
    [
        (2, "1", (), Pull, "proved private"),
        (4, "1.01", (), Pull, "proved private"),
        (5, "1.5", (), Pull, "proved private"),
        (5, "1.499", (), PermuteAndFlip, "below 3/2"),
        (6, "2", (), Pull, "at least 2"),
        (10, "14/3", (), Pull, "proved private"),
        (10, "4.66", (), PermuteAndFlip, "below 14/3"),
        (13, "1000", (), PermuteAndFlip, "more than 12"),
        (3, "2", ("add-remove",), PermuteAndFlip, "full ε"),
        (3, "2", ("add-remove", "first"), NoisyLargest, "geometric"),
    ],
)
def test_the_rule_goes_by_public_facts_and_says_which(categories, ratio, words, form, says):
    made = chosen(categories, ratio, *words)
    assert isinstance(made.form, form)
    assert says in made.rule
    assert made.largest is None
    assert isinstance(made, PluralityMechanism)


def test_what_is_proved_is_where_the_bound_says():
    assert [least_proved_ratio(q) for q in range(2, 9)] == [1, 1, 1, Fraction(3, 2), 2, Fraction(8, 3), Fraction(10, 3)]


def test_claims_are_no_wider_than_the_theorems():
    assert "worst" in chosen(3, 2).scope
    assert "mean" not in chosen(3, "3.99").scope
    assert "mean" in chosen(3, 4).scope
    for other in (
        chosen(6, "1.9"),
        chosen(3, 2, "add-remove"),
        chosen(3, 2, "add-remove", "first"),
        chosen(3, 2, largest=4),
    ):
        assert other.scope == "no optimality is claimed"


def test_worst_errors_exactly():
    assert chosen(4, 2).worst_error == Fraction(3, 5)
    assert chosen(3, 2, "add-remove").worst_error == Fraction(5, 12)
    assert chosen(13, 1).worst_error == Fraction(12, 13)
    assert chosen(3, 1, "add-remove", "first").worst_error == Fraction(2, 3)


def test_delta_is_not_used():
    made = design.plurality(3, Privacy(ratio=2, delta="1/10"))
    assert made.privacy == Privacy(ratio=2)
    assert made.row((0, 1, 1)) == chosen(3, 2).row((0, 1, 1))


def test_a_cap_takes_what_is_beyond_for_itself():
    made = chosen(3, 2, largest=6)
    assert made.row((0, 7, 10**15)) == made.row((0, 6, 6))
    assert "capped at 6" in made.rule
    flipped = chosen(3, 2, "add-remove", largest=6)
    assert flipped.row((0, 7, 9)) == chosen(3, 2, "add-remove").row((0, 6, 6))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((1, Privacy(ratio=2)), {}, "categories: must be at least 2"),
        ((101, Privacy(ratio=2)), {}, "categories: must be at least 2 and at most 100"),
        ((3, Privacy(ratio=2), "swap"), {}, "relation: must be exchange or add-remove"),
        ((3, Privacy(ratio=2), "exchange", "last"), {}, "ties: must be any or first"),
        ((3, Privacy(ratio=2)), {"largest": 0}, "largest: must be at least 1"),
        ((3, Privacy.gaussian(1, gap="1e-2")), {}, "privacy: holds"),
        ((3, 2), {}, "privacy: must be a Privacy"),
    ],
)
def test_bad_input_is_refused_in_one_line(arguments, options, message):
    with pytest.raises(BadInput, match=f"^{message}") as refused:
        design.plurality(*arguments, **options)
    assert "\n" not in str(refused.value)


def test_a_public_order_of_ties_is_refused_where_records_are_exchanged():
    with pytest.raises(Refusal, match=r"^ties: a public order of ties needs"):
        chosen(3, 2, "exchange", "first")


@pytest.mark.parametrize(
    ("gaps", "message"),
    [
        ((0, 1), "gaps: must be a list of 3 gaps"),
        ("000", "gaps: must be"),
        (5, "gaps: must be"),
        ((1, 1, 2), "gaps: must hold a 0"),
        ((0, -1, 2), "gaps: must be at least 0"),
        ((0, 1.5, 2), "gaps: must be a whole number"),
        ((0, True, 2), "gaps: must be a number, not true or false"),
        ((0, float("nan"), 2), "gaps: must be a finite number"),
    ],
)
def test_what_are_no_gaps_are_refused(gaps, message):
    made = chosen(3, 2)
    for ask in (made.row, made.enclose, made.form.row):
        with pytest.raises(BadInput, match=f"^{message}"):
            ask(gaps)


def test_far_gaps_are_enclosed_at_once_and_not_written_out():
    for made in (
        chosen(4, "1.000001"),
        chosen(12, "1e9"),
        chosen(3, 2, "add-remove"),
        chosen(40, 2, "add-remove", "first"),
    ):
        gaps = (0, *(10**17 + place for place in range(made.categories - 1)))
        started = time.process_time()
        with pytest.raises(BadInput, match=r"^gaps: are too large for exact fractions; ask `enclose`"):
            made.row(gaps)
        assert made.enclose(gaps)[0].upper == 1
        assert time.process_time() - started < 1
    with pytest.raises(BadInput, match=r"^width: must be more than 0"):
        chosen(3, 2).enclose((0, 0, 1), width=0)
