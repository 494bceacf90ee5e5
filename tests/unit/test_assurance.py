"""What stands beside an answer holds as often as it says: multiplied out from the laws that answers are drawn from."""

import json
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Privacy
from irisdp._measurements import CountNodes, GaussianNoise, GeometricNoise, ShapeNoise, StaircaseNoise, least_distance
from irisdp._release.pipeline import read_statistics
from irisdp.privacy import Gaussian

pytestmark = pytest.mark.usefixtures("one_engine")

RECORDS = pa.table({"g": ["a"] * 3 + ["b"] * 2, "v": [1, 1, 0, 0, 1], "c": ["x", "y", "x", "z", "x"]})
NOISE = {
    "geometric": GeometricNoise(Privacy(epsilon="0.5")),
    "staircase": StaircaseNoise(Privacy(epsilon=1), 3),
    "pairs": ShapeNoise(Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])),
    "Gaussian": GaussianNoise(Gaussian(1)),
}
HALF, NINE, USUAL = Fraction(1, 2), Fraction(9, 10), Fraction(19, 20)


def lower(chance):
    return chance if isinstance(chance, Fraction) else chance.lower


def upper(chance):
    return chance if isinstance(chance, Fraction) else chance.upper


def covered(mechanism, nodes, truth, confidence, *, widened=0):
    """Return how surely the ends hold of one cell, and how probable it is that they would if they were narrower."""
    law = mechanism.law(nodes, 0, 60)
    total, less = Fraction(0), Fraction(0)
    for shown, chance in law.items():
        columns = mechanism.assurance([shown], [shown], nodes, confidence).columns
        (low,), (high,) = columns["answer_low"], columns["answer_high"]
        total += lower(chance) * (low - widened <= truth <= high + widened)
        less += upper(chance) * (abs(shown - truth) < (high - low) // 2)
    return total, less


@pytest.mark.parametrize("confidence", [HALF, NINE, USUAL], ids=str)
@pytest.mark.parametrize("name", NOISE)
def test_ends_hold_as_often_as_they_say_and_no_narrower_ones_would(name, confidence):
    mechanism, truth = NOISE[name], 30
    nodes = CountNodes(np.array([truth]), np.array([0]), None)
    held, narrower = covered(mechanism, nodes, truth, confidence)
    assert held >= confidence - Fraction(1, 10**20)  # what laws leave out of their enclosures
    assert narrower < confidence


@pytest.mark.parametrize("truth", [0, 1, 3, 4])
def test_clamped_ends_hold_too(truth):
    mechanism = NOISE["geometric"]
    nodes = CountNodes(np.array([truth]), np.array([0]), np.array([4]))
    assert covered(mechanism, nodes, truth, USUAL)[0] >= USUAL
    shown = list(range(5))
    fivefold = CountNodes(np.zeros(5, int), np.zeros(5, int), np.full(5, 4))
    columns = mechanism.assurance(shown, shown, fivefold, HALF).columns
    assert least_distance(mechanism, HALF) == 1
    assert columns == {"answer_low": [0, 0, 1, 2, 3], "answer_high": [1, 2, 3, 4, 4]}


def test_counts_are_not_below_nothing_and_huge_answers_do_not_overflow():
    mechanism = NOISE["geometric"]
    shown = [-9, 2, (1 << 63) - 1]
    nodes = CountNodes(np.zeros(3, int), np.zeros(3, int), None)
    columns = mechanism.assurance(shown, shown, nodes, USUAL).columns
    far = least_distance(mechanism, USUAL)
    assert columns["answer_low"] == [0, 0, (1 << 62) - far]
    assert columns["answer_high"] == [0, 2 + far, (1 << 62) + far]


TRUTHS = {
    "at-least": (("at-least", 2), {}, lambda counts: {"yes" if sum(counts) >= 2 else "no"}),
    "band": (
        ("band", "1,3"), {},
        lambda counts: {"0" if sum(counts) < 1 else "1 to 2" if sum(counts) < 3 else "3 or more"},
    ),
    "plurality": (
        ("plurality", "c"), {"categories": ["x", "y", "z"]},
        lambda counts: {name for name, count in zip("xyz", counts, strict=True) if count == max(counts)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("name", TRUTHS)
def test_the_stated_probability_is_the_least_there_is(name, relation):
    words, options, right = TRUTHS[name]
    chances, stated = [], set()
    for counts in product(range(4), repeat=3):
        if relation == "exchange" and sum(counts) != 4:
            continue  # tables of one size
        table = pa.table(
            {"c": pa.array([c for c, count in zip("xyz", counts, strict=True) for _ in range(count)], pa.string())}
        )
        planned = irisdp.plan(table, *words, **options, epsilon=1, relation=relation)
        nodes, mechanism = read_statistics(planned, bytes(32)).nodes, planned.audiences[0].mechanism
        law = mechanism.law(nodes, 0, 12)
        chances.append(sum(lower(law[answer]) for answer in right(counts)))
        name = getattr(mechanism, "names", ("any",))[0]
        (one,) = mechanism.assurance([name], [name], nodes, USUAL).columns["answer_probability"]
        stated.add(one)
    (one,) = stated
    assert Fraction(str(one)) <= min(chances)
    if relation == "add-remove":
        assert min(chances) - Fraction(str(one)) < Fraction(2, 10**6)  # and some table has no more


@pytest.mark.parametrize("words", [("ranking", "c"), ("top", 2, "c"), ("plurality", "c"), ("quantile", "1/3", "v")])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_a_probability_is_stated_beside_every_name_at_any_epsilon(words, relation):
    options = {"bins": "1,2,3,4,5,6"} if words[0] == "quantile" else {"categories": "x,y,z,w,p,q,r"}
    for epsilon in ("0.0001", "0.01", "2"):
        mechanism = irisdp.plan(RECORDS, *words, **options, epsilon=epsilon, relation=relation).audiences[0].mechanism
        name = getattr(mechanism, "names", ("any",))[0]
        (stated,) = mechanism.assurance([name], [name], None, USUAL).columns["answer_probability"]
        held = mechanism.chance_within(0)
        assert held.width < held.lower / 10**12  # a value, not a bound
        assert 0 <= held.lower - Fraction(str(stated)) < held.lower / 10**5


def test_the_confidence_is_no_part_of_the_question(tmp_path):
    options = {"by": "g", "groups": "a,b", "epsilon": "0.1", "ledger": tmp_path / "l"}
    first = irisdp.publish(RECORDS, "count", **options)
    again = irisdp.publish(RECORDS, "count", **options, confidence="0.5", out=tmp_path / "o.csv")
    assert again.repeated
    assert again.answers.values == first.answers.values
    wide, narrow = (
        [
            high - value
            for high, value in zip(found.answers.assured.columns["answer_high"], found.answers.values, strict=True)
        ]
        for found in (first, again)
    )
    noise = first.plan.audiences[0].mechanism
    for found, confidence in ((wide, USUAL), (narrow, HALF)):
        assert all(
            far <= least_distance(noise, confidence) or value < 0
            for far, value in zip(found, first.answers.values, strict=True)
        )
    told = json.loads((tmp_path / "o.csv.release.json").read_text(encoding="utf-8"))
    assert told["assurance"]["confidence"] == "0.5"
    assert told["assurance"]["columns"] == ["answer_low", "answer_high"]


@pytest.mark.parametrize("confidence", [0, 1, "1.5", "-1", 95, "0.9999999999999"])
def test_a_confidence_is_a_probability(confidence, tmp_path):
    with pytest.raises(BadInput, match=r"^confidence: must "):
        irisdp.publish(RECORDS, "count", epsilon=1, confidence=confidence, ledger=tmp_path / "l")
    assert not (tmp_path / "l").exists()


@pytest.mark.parametrize("name", ["answer_low", "answer_high", "answer_probability"])
def test_no_group_column_is_called_so(name, tmp_path):
    table = pa.table({name: ["a"], "v": [1]})
    with pytest.raises(BadInput, match=rf"^by: names the column '{name}'"):
        irisdp.publish(table, "count", by=name, groups="a", epsilon=1, ledger=tmp_path / "l")
    with pytest.raises(BadInput, match=rf"^by: names an expression '{name}'"):
        irisdp.plan(RECORDS, "count", by=f"{name} = v", groups=[1], epsilon=1)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
@pytest.mark.parametrize("words", [("count",), ("at-least", 2)], ids=str)
def test_files_with_ends_are_read_as_before(words, ending, tmp_path):
    out = tmp_path / f"o.{ending}"
    options = {"by": "g", "groups": "a,b", "epsilon": 1, "ledger": tmp_path / "l"}
    found = irisdp.publish(RECORDS, *words, **options, out=out)
    known = {"at_most": 9}
    read = [irisdp.interpret(release, **known) for release in (out, found)]
    read.append(irisdp.interpret(found.out[1], found.to_pandas(), **known))
    assert [one.by for one in read] == [("g",)] * 3
    published = [[answer.published for answer in one.answers] for one in read]
    assert published == [found.answers.values] * 3


def test_sizes_have_ends_that_hold_together(tmp_path):
    found = irisdp.publish(RECORDS, "sizes", 3, "c", epsilon=30, ledger=tmp_path / "l")
    assert found.answers.columns == ("rank", "answer", "answer_low", "answer_high")
    assert found.answers.values == [3, 1, 1]
    assert found.answers.assured.columns == {"answer_low": [3, 1, 1], "answer_high": [3, 1, 1]}
    assert "together" in found.answers.assured.promise


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_sums_and_means_have_ends_in_the_column_s_unit(relation, tmp_path):
    table = pa.table({"v": [1.5, 2.0, 3.5] * 40})
    options = {"lower": 1, "upper": 4, "step": "0.5", "epsilon": 5, "relation": relation, "ledger": tmp_path / "l"}
    for query, truth in (("sum", 280.0), ("mean", 7 / 3)):
        found = irisdp.publish(table, query, "v", **options, confidence="0.999999", out=tmp_path / f"{query}.csv")
        ((low, high),) = zip(*found.answers.assured.columns.values(), strict=True)
        assert low <= truth <= high
        assert high - low < truth / 3  # of a sum under exchange, half a step a record is for rounding
        told = json.loads((tmp_path / f"{query}.csv.datapackage.json").read_text(encoding="utf-8"))
        assert told["irisdp"]["unit_of_error"] == "as v"
    noise = irisdp.plan(table, "sum", "v", **{k: v for k, v in options.items() if k != "ledger"}).audiences[0].mechanism
    nodes = CountNodes(np.zeros(1, int), np.zeros(1, int), None)
    columns = noise.assurance([-40], [-20.0], nodes, USUAL).columns
    assert columns["answer_low"] == columns["answer_high"] == [0]  # no value is below 0


def test_groups_named_by_their_counts_have_ends_that_allow_for_it(tmp_path):
    """Being named says that a small group's noisy count is far too large: exactly, in `test_named_counts.py`."""
    options = {"by": "g", "select_groups": True, "epsilon": 20, "delta": "0.1", "ledger": tmp_path / "l"}
    found = irisdp.publish(RECORDS, "count", **options)
    assert found.answers.columns == ("g", "answer", "answer_low", "answer_high")
    assert found.plan.audiences[0].mechanism.to_document()["kind"] == "named-counts"


def test_of_mechanism_files_nothing_is_stated(tmp_path):
    irisdp.design.geometric(5, Privacy(ratio=2)).save(tmp_path / "m.json")
    found = irisdp.publish(RECORDS, "apply", str(tmp_path / "m.json"), ledger=tmp_path / "l")
    assert found.answers.columns == ("answer",)
    assert "assurance" not in found.sidecars[None]
