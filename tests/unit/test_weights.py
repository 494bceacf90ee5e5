"""Sums with weights: how weights are read, what is said, and what is refused."""

import json
import math
import re

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries import ColumnChoices
from irisdp._queries.clipped_values import read_stepped, total_steps
from irisdp._tables.table import open_table

BOUNDS = {"lower": -1, "upper": 4, "step": 1, "weight": "w", "weight_upper": "2.5"}
SURE = {"epsilon": 500}
"""So little noise that answers are as good as true: it exceeds 0 with probability below 1e-50."""
VALUES = [None, math.nan, math.inf, -math.inf, -1e308, -1.0, -0.0, 0.3, 1.0, 2.75, 4.0, 1e308]
WEIGHTS = [None, math.nan, math.inf, -math.inf, -1e308, -5e-324, 0.0, 0.1, 1.0, 2.3, 2.5, 2.6, 1e308]


def usable(number):
    return number is not None and math.isfinite(number)


def added(value, weight, missing, step=0.25):
    """Return what a record adds, in steps above the lower end, by Python's own arithmetic; None for nothing."""
    value = value if usable(value) else missing
    if value is None or not usable(weight):
        return None
    product = min(max(value, -1.0), 4.0) * min(max(weight, 0.0), 2.5)
    return min(max(math.floor((product + 2.5) / step + 0.5), 0), 50)


@pytest.mark.parametrize("missing", [None, 3])
def test_products_are_read_as_python_reads_them(missing):
    pairs = [(value, weight) for value in VALUES for weight in WEIGHTS]
    data = pa.table({
        "n": list(range(len(pairs))),
        "x": pa.array([value for value, _ in pairs], pa.float64()),
        "w": pa.array([weight for _, weight in pairs], pa.float64()),
    })  # fmt: skip
    planned = irisdp.plan(data, "sum", "x", **{**BOUNDS, "step": "0.25"}, missing=missing, by="n",
                          groups=list(range(len(pairs))), epsilon=1)  # fmt: skip
    stepped = planned.query.stepped
    assert (stepped.steps.least, stepped.steps.most) == (-10, 40)
    found = total_steps(planned.table, stepped, groups=planned.groups)
    keys = [label[0] for label in planned.groups.labels]
    expected = [added(*pairs[int(key)], missing) for key in keys]
    assert found.known.tolist() == [one is not None for one in expected]
    assert found.above.tolist() == [one or 0 for one in expected]


def test_text_that_is_no_number_is_no_weight(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('x,w\n3,many\n3,""\n3,1e400\n3,NaN\n3,-2\n3, 2 \nmany,1\n-9,1\n2,0.5\n', encoding="utf-8")
    table = open_table(file)
    found = total_steps(table, read_stepped(table, "x", ColumnChoices(**BOUNDS), "sum"))
    assert (found.total.tolist(), found.known.tolist()) == ([9], [4])
    assert (found.above - 3 * found.known).tolist() == [0 + 6 - 1 + 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_upper": None}, "weight_upper: is missing; taken from the data"),
        ({"weight": None}, "weight_upper: bounds weights, and there are none"),
        ({"weight_upper": 0}, "weight_upper: must be above 0"),
        ({"weight_upper": -1}, "weight_upper: must be above 0"),
        ({"weight_upper": "1/3"}, "weight_upper: must be a decimal number"),
        ({"weight_upper": "many"}, "weight_upper: must be a finite number; give for example 1000, 0.5 or 0.01"),
        ({"weight_upper": "nan"}, "weight_upper: must be a finite number; give for example 1000, 0.5 or 0.01"),
        ({"step": "1/0"}, "step: divides by zero; give for example 1000, 0.5 or 0.01"),
        ({"weight_upper": "1e400"}, "weight_upper: must lie between"),
        ({"weight_upper": 10**15, "upper": 10**15}, "step: is so small that"),
        ({"weight_upper": 10**9}, "step: is so small that"),
        ({"weight": "z"}, "weight: names the column 'z', which the data does not have"),
        ({"weight": "t"}, "weight: is a column of numbers, and t is text"),
        ({"weight": 3}, "weight: must be text, not int"),
        ({"lower": None}, "lower: is missing"),
        ({"lower": 4}, "lower: must be below upper"),
        ({"missing": 5}, "missing: must lie between the bounds"),
        ({"step": 0}, "step: must be above 0"),
    ],
)
def test_what_does_not_fit_is_refused(options, message, tmp_path):
    data = pa.table({"x": [1, 2], "w": [1.0, 2.0], "t": ["1", "2"]})
    with pytest.raises(BadInput, match=re.escape(message)):
        irisdp.publish(data, "sum", "x", **{"epsilon": 1, **BOUNDS, **options}, ledger=tmp_path / "l.ledger")
    assert not (tmp_path / "l.ledger").exists()


def test_a_plan_names_both_columns_whose_numbers_are_bounded():
    planned = irisdp.plan(pa.table({"x": [1], "pay": [1]}), "sum", "x", **{**BOUNDS, "weight": "pay"}, epsilon=1)
    (said,) = (line for line in planned.describe_reading() if "beyond a bound" in line)
    assert said.startswith("a value of x or a weight of pay beyond a bound counts as the bound")


@pytest.mark.parametrize("option", ["weight", "weight_upper"])
def test_weights_are_for_sums_alone(option):
    data = pa.table({"x": [1], "w": [1]})
    with pytest.raises(BadInput, match=rf"{option}: is not for count, but for sum"):
        irisdp.plan(data, "count", epsilon=1, **{option: BOUNDS[option]})
    with pytest.raises(BadInput, match=rf"{option}: is not for mean, but for sum: a weighted mean is a ratio"):
        irisdp.plan(data, "mean", "x", lower=0, upper=1, epsilon=1, **{option: BOUNDS[option]})


def test_a_batch_says_that_its_weights_are_others():
    plan = {"budget": {"epsilon": 1}, "questions": [{"query": "sum x", **BOUNDS}]}
    with pytest.raises(BadInput, match="weight_upper: is not for batches"):
        irisdp.batch(plan, data=pa.table({"x": [1], "w": [1]}))


@pytest.mark.parametrize(
    ("bounds", "relation", "moved"),
    [
        ((0, 10), "add-remove", 25),
        ((-4, 10), "add-remove", 25),
        ((-4, 10), "exchange", 35),
        ((5, 10), "exchange", 25),
        ((-12, -5), "add-remove", 30),
        ((0, "0.5"), "add-remove", 2),
    ],
)
def test_noise_is_for_what_a_step_moves(bounds, relation, moved):
    lower, upper = bounds
    planned = irisdp.plan(pa.table({"x": [1], "w": [1]}), "sum", "x", **{**BOUNDS, "lower": lower, "upper": upper},
                          missing=lower, relation=relation, epsilon=1)  # fmt: skip
    assert planned.audiences[0].mechanism.noise.sensitivity == moved


def test_a_plan_says_the_rules_and_other_weights_are_another_question():
    data = pa.table({"x": [1], "w": [1], "other": [1]})
    asked = [{}, {"weight_upper": "2.50"}, {"weight": "W"}, {"weight": "other"}, {"weight_upper": 3}, {"missing": 0}]
    plans = [irisdp.plan(data, "sum", "x", **{**BOUNDS, **one}, epsilon=1) for one in asked]
    questions = [planned.question() for planned in plans]
    assert questions[0] == questions[1] == questions[2]
    assert len(set(questions)) == 4
    assert plans[0].line == "sum x from -1 to 4 times w from 0 to 2.5"
    assert plans[0].describe_reading()[-1] == "times w, it adds from -3 to 10; without a number there, nothing"
    facts = plans[0].to_document()
    assert (facts["lower"], facts["upper"], facts["missing"]) == ("-1", "4", None)
    assert facts["weight"] == {"column": "w", "lower": "0", "upper": "2.5"}
    assert set(plans[0].asked.facts["columns"]) == {"x", "w"}
    assert json.dumps(facts)


def test_a_weighted_sum_is_published(tmp_path):
    data = pa.table({"g": ["a", "b", "a", "b"], "x": [1, 30, None, -7], "w": [2.0, 9.0, 1.0, None]})
    session = irisdp.Session(data, ledger=tmp_path / "l.ledger")
    found = session.sum("x", **BOUNDS, by="g", groups=["b", "a"], **SURE)
    assert found.answers.values == [10, 2]
    assert session.sum("x", **BOUNDS, missing=3, by="g", groups=["b", "a"], **SURE).answers.values == [10, 5]
    assert found.sidecars[None]["weight"]["column"] == "w"


@pytest.mark.parametrize("value", [1e308, -1.7e308, 1e15, math.inf, math.nan])
def test_no_record_decides_whether_there_is_an_answer(value, tmp_path):
    data = pa.table({"x": [2.0, value, 3.0, value], "w": [1.0, 1.0, value, value]})
    bounds = {"lower": "-1e15", "upper": "1e15", "weight": "w", "weight_upper": "1e15", "step": "1e15"}
    with pytest.raises(BadInput, match="step: is so small that"):
        irisdp.plan(data, "sum", "x", **bounds, epsilon=1)
    bounds |= {"weight_upper": "1e8", "step": "1e15"}
    found = irisdp.publish(data, "sum", "x", **bounds, epsilon=1, ledger=tmp_path / "l.ledger")
    assert len(found.answers.values) == 1
