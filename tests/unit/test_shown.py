"""What people read is never better than what is so: errors are rounded up, chances of being right down."""

import json
import operator
import random
import re
from decimal import Decimal
from fractions import Fraction

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp._cli import run
from irisdp._exact import (
    in_short,
    rational_text,
    short_above,
    short_below,
    shown_above,
    shown_below,
    told_above,
    told_below,
    told_exactly,
)

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


@pytest.mark.parametrize(("number", "above", "below"), [
    (0.1, "0.1", "0.1"),
    (0, "0", "0"),
    (40.0, "40", "40"),
    (999.9, "1,000", "999"),
    (12345678, "12,400,000", "12,300,000"),
    (Fraction(2, 3), "0.667", "0.666"),
    (1e-7, "1e-7", "1e-7"),
    (Decimal("0.99995"), "1", "0.999"),
])  # fmt: skip
def test_numbers_are_written_shortly(number, above, below):
    assert (shown_above(number), shown_below(number)) == (above, below)


def test_without_a_direction_it_would_not_hold():
    assert read(f"{0.6273341:.3g}") < exactly(0.6273341)


@given(st.fractions(), st.integers(1, 12))
def test_short_forms_are_bounds_without_commas(number, digits):
    below, above = short_below(number, digits), short_above(number, digits)
    assert "," not in below + above
    assert Fraction(Decimal(below)) <= number <= Fraction(Decimal(above))


def test_what_an_audit_says_is_needed_is_enough(tmp_path, monkeypatch, capsys):
    """Of the rows 370/1000, 630/1000 and 611/1000, 389/1000 the digits of ε to the nearest are not."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(5)
    rows = [(370, 611), *((rng.randrange(1, 1000), rng.randrange(1, 1000)) for _ in range(12))]
    for one, two in rows:
        matrix = [[f"{one}/1000", f"{1000 - one}/1000"], [f"{two}/1000", f"{1000 - two}/1000"]]
        (tmp_path / "m.json").write_text(json.dumps({"format": "irisdp/mechanism/1", "privacy": {"epsilon": "1/100"},
            "graph": {"family": "path", "n": 2}, "inputs": [0, 1], "outputs": [0, 1], "matrix": matrix}))  # fmt: skip
        run(["audit", "m.json"])
        told = capsys.readouterr().out
        epsilon, delta = (re.search(rf"{name} needed +(\S+) at", told).group(1) for name in "εδ")
        assert run(["audit", "m.json", "--epsilon", epsilon]) == 0
        assert run(["audit", "m.json", "--epsilon", "1/100", "--delta", delta]) == 0
        capsys.readouterr()


@pytest.mark.parametrize("goal", [{"prior": ["1/13"] * 13, "loss": "zero-one"}, {"loss": "absolute"}])
def test_values_that_a_file_proves_are_told_as_bounds(goal, tmp_path, monkeypatch):
    """Of readers with a prior the value is a mean, so a page says "at most", and its digits are no less than it."""
    monkeypatch.chdir(tmp_path)
    spec = {"kind": "consumer", "n": 12, "privacy": {"epsilon": 1}, **goal}
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    assert run(["design", "spec.json", "-o", "m.json"]) == 0
    objective = json.loads((tmp_path / "m.json").read_text())["objective"]
    found = irisdp.Session(pyarrow.table({"x": [1, 2, 3]}), ledger="l").apply("m.json")
    told = found.sidecars[None]["expected_error"]
    assert Fraction(told["value"]) >= Fraction(objective["value"])
    assert Fraction(told["lower_bound"]) <= Fraction(objective["lower_bound"])
    said = irisdp.report(found).split("that is ")[1].split("<")[0]
    assert said == f"{told['value']} at most"


def test_a_file_that_proves_nothing_is_said_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = {"matrix": [["2/3", "1/3"], ["1/3", "2/3"]], "inputs": [0, 1], "outputs": ["no", "yes"]}
    privacy = {"format": "irisdp/mechanism/1", "privacy": {"ratio": 2}, "graph": {"family": "path", "n": 2}}
    (tmp_path / "m.json").write_text(json.dumps(privacy | rows))
    found = irisdp.Session(pyarrow.table({"x": [1, 2, 3]}), ledger="l").apply("m.json")
    assert "off by nobody knows how much" in irisdp.report(found)


def test_the_page_of_a_column_speaks_of_records_and_of_no_contest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = irisdp.Session(pyarrow.table({"x": [1, 2, 7] * 9}), ledger="l", relation="exchange")
    page = irisdp.report(session.column("x", categories=[1, 2], epsilon=1))
    assert "a record in none of them is answered as <code>other</code>" in page
    assert not re.search("near a tie|big the lead was|right more often|count for none", page)
    other = irisdp.report(session.plurality("x", categories=[1, 2], epsilon=1))
    assert all(words in other for words in ("near a tie", "big the lead was", "right more often", "count for none"))


def test_the_page_of_counts_that_name_their_groups_says_whose_error_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = irisdp.Session(pyarrow.table({"g": ["a"] * 60}), ledger="l")
    named = session.count(by="g", select_groups=True, epsilon=1, delta="1e-6")
    assert "further off in a small group that was named" in irisdp.report(named)
    assert "of a group chosen beforehand" in named.plan.describe_error()[0]
    declared = session.count(by="g", groups="a", epsilon=1)
    assert "chosen beforehand" not in irisdp.report(declared) + declared.plan.describe_error()[0]


@given(st.fractions(0, 10**6, max_denominator=10**30))
def test_what_is_told_is_exact_or_on_the_named_side(value):
    above, below = told_above("ε", value), told_below("ε", value)
    for told, holds in ((above, {"=": operator.eq, "≤": operator.le}), (below, {"=": operator.eq, "≥": operator.ge})):
        name, sign, number = told.split()
        assert name == "ε" and len(number) <= (12 if "/" in number else 16)
        assert holds[sign](value, Fraction(number))
    assert told_exactly("ε", value) == f"ε = {rational_text(value)}"
    assert in_short(f"(ε = {rational_text(value)}, δ = 1/3)") == f"({above}, δ = 1/3)" or "/" not in rational_text(
        value
    )


LONG = "100000001/300000007"
SHARED = """
{"data": "s.csv", "ledger": "s.ledger", "budget": {"epsilon": "200000003/300000007", "delta": "1e-6"}, "questions": [
  {"query": "count", "by": "town", "select_groups": true, "delta": "1/30000007", "weight": "3/7"},
  {"query": "count", "expression": "age > 30", "weight": "123/1001"},
  {"query": "mean", "expression": "age", "lower": 0, "upper": 100, "step": 1, "weight": "1/17"}]}
"""
ONE_BY_ONE = f"""
[datasets.s]
data = "s.csv"
ledger = "s.ledger"
[[questions]]
query = "count"
expression = "age > 20"
epsilon = "{LONG}"
[[questions]]
query = "count"
by = "town"
select_groups = true
epsilon = "{LONG}"
delta = "1/30000007"
"""


def test_no_line_says_a_long_fraction(tmp_path, monkeypatch, capsys):
    """Costs, totals, what is left, refusals; while JSON has the same numbers exactly."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("age,town\n" + "70,Ely\n30,Ely\n81,York\n" * 40)
    (tmp_path / "p.json").write_text(SHARED)
    (tmp_path / "p.toml").write_text(ONE_BY_ONE)
    ask = ["publish", "s.csv", "count", "age > 64", "--epsilon"]
    commands = [
        (["ledger", "s.ledger", "--limit", "10000001/3000007,1/100003"], 0),
        (["batch", "p.json", "--dry-run"], 0),
        (["batch", "p.json"], 0),
        ([*ask, LONG, "--dry-run"], 0),
        ([*ask, LONG], 0),
        ([*ask, "110000001/300000007"], 0),
        (["run", "p.toml", "--dry-run"], 0),
        (["run", "p.toml"], 0),
        ([*ask, "120000001/7000007"], 1),
        (["ledger", "s.ledger"], 0),
    ]
    for command, status in commands:
        assert run(command) == status, command
        written = capsys.readouterr()
        said = written.err if status else written.out  # a refusal is written out as JSON, too
        assert "ε" in said or "epsilon" in said
        assert not [number for number in re.findall(r"\d+/\d+", said) if len(number) > 12], command
    assert run(["ledger", "s.ledger", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["limit"] == {"epsilon": "10000001/3000007", "delta": "1/100003"}
    assert document["releases"][0]["epsilon"] == LONG or LONG in json.dumps(document)
