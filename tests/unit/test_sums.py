"""Sums and means: how values are read, what is said, and what is refused."""

import json
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._queries import ColumnChoices
from irisdp._queries.clipped_values import read_stepped, total_steps
from irisdp._release import pipeline
from irisdp._tables.table import open_table
from support.seeds import fresh_generator

SURE = {"epsilon": 500}
"""So little noise that answers are as good as true: it exceeds 0 with probability below 1e-50."""


def steps_of(data, **bounds):
    table = open_table(data)
    return total_steps(table, read_stepped(table, "x", ColumnChoices(**bounds), "sum"))


def totals(found):
    return found.total.tolist(), found.known.tolist(), found.above.tolist()


@pytest.mark.parametrize(("values", "above"), [
    ([-5, 0, 1, 4, 7], [0, 0, 1, 4, 4]),
    ([0.4, 0.5, 1.5, 2.499999, 3.5], [0, 1, 2, 2, 4]),
    ([float("inf"), float("-inf"), float("nan"), None], []),
    ([-0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308], [0, 0, 0, 4, 0]),
    ([3.9999999999999996, 4.000000000000001, 0.49999999999999994], [4, 4, 1]),
])  # fmt: skip
def test_values_are_clamped_and_rounded_half_way_up(values, above):
    kind = pa.float64() if any(isinstance(value, float) for value in values) else pa.int64()
    found = steps_of(pa.table({"x": pa.array(values, kind)}), lower=0, upper=4, step=1)
    assert totals(found) == ([len(values)], [len(above)], [sum(above)])


def test_every_type_of_numbers_is_read_alike(tmp_path):
    plain = [1.25, -3.0, 0.5, 2.0, 9.75]
    found = {}
    for kind in (pa.float64(), pa.float32(), pa.decimal128(5, 2), pa.decimal256(50, 2)):
        found[str(kind)] = totals(steps_of(pa.table({"x": pa.array(plain).cast(kind)}), lower=-1, upper=3, step="0.25"))
    file = tmp_path / "t.csv"
    file.write_text("x\n" + "\n".join(map(str, plain)) + "\n", encoding="utf-8")
    found["csv"] = totals(steps_of(file, lower=-1, upper=3, step="0.25"))
    found["polars"] = totals(steps_of(pl.DataFrame({"x": plain}), lower=-1, upper=3, step="0.25"))
    found["objects"] = totals(steps_of(pl.DataFrame({"x": plain}).to_pandas(), lower=-1, upper=3, step=0.25))
    assert set(map(str, found.values())) == {str(([5], [5], [9 + 0 + 6 + 12 + 16]))}


def test_text_that_is_no_number_counts_as_nothing(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text('x\n3\nmany\n""\n1e400\ninf\nNaN\n 2 \n-1\n', encoding="utf-8")
    assert totals(steps_of(file, lower=0, upper=10, step=1)) == ([8], [3], [5])


def test_a_large_sum_is_exact():
    """Sums beyond 2^53 are whole numbers, and stay exact."""
    bound = 1 << 29
    data = pa.table({"x": pa.array(np.full(1 << 20, bound + 7))})
    assert totals(steps_of(data, lower=0, upper=bound)) == ([1 << 20], [1 << 20], [1 << 49])


@pytest.mark.parametrize(("options", "message"), [
    ({}, "lower: is missing; taken from the data, it would reveal who is in it"),
    ({"lower": 0}, "upper: is missing"),
    ({"lower": 5, "upper": 5}, "lower: must be below upper"),
    ({"lower": 7, "upper": -1}, "lower: must be below upper"),
    ({"lower": 0, "upper": 100, "step": 30}, "upper: must be a multiple of the step, which is 30; give 90 or 120"),
    ({"lower": "0.5", "upper": 100}, "lower: must be a multiple of the step, which is 1; give 0 or 1"),
    ({"lower": 0, "upper": 1, "step": 0}, "step: must be above 0"),
    ({"lower": 0, "upper": 1, "step": -1}, "step: must be above 0"),
    ({"lower": 0, "upper": 1, "step": "1/3"}, "step: must be a decimal number of at most 12 places"),
    ({"lower": 0, "upper": 1, "step": "1e-13"}, "step: must be a decimal number"),
    ({"lower": 0, "upper": 2 * 10**9}, "step: is so small that"),
    ({"lower": 10**15 - 1, "upper": 10**15}, "step: is so small that"),
    ({"lower": 10**16, "upper": 10**16 + 1}, "lower: must lie between"),
    ({"lower": 2 * 10**9, "upper": 2 * 10**9 + 1}, "step: is so small that one person may move the sum by more"),
    ({"lower": 0, "upper": 2**20, "unit": "u", "at_most": 2**11}, "step: is so small that one person may move the sum"),
    ({"lower": 0, "upper": 9, "missing": 10}, "missing: must be a multiple of the step, 1, between the bounds"),
    ({"lower": 0, "upper": 9, "missing": "0.5"}, "missing: must be a multiple of the step, 1, between the bounds"),
    ({"lower": 0, "upper": 9, "missing": "none"}, "missing: "),
    ({"lower": "many", "upper": 1}, "lower: "),
    ({"lower": float("nan"), "upper": 1}, "lower: "),
    ({"lower": 0, "upper": float("inf")}, "upper: "),
    ({"lower": 0, "upper": 9, "bins": "1,2"}, "bins: is not for sum"),
    ({"lower": 0, "upper": 9, "categories": "1,2"}, "categories: is not for sum"),
    ({"lower": 0, "upper": 9, "unit": "u", "per_unit": "any"}, "per_unit: "),
])  # fmt: skip
def test_what_does_not_fit_is_refused(options, message, tmp_path):
    data = pa.table({"x": [1, 2], "u": [1, 2]})
    with pytest.raises(BadInput, match=re.escape(message)):
        irisdp.publish(data, "sum", "x", **{"epsilon": 1, **options}, ledger=tmp_path / "l.ledger")
    assert not (tmp_path / "l.ledger").exists()


@pytest.mark.parametrize(("column", "message"), [
    ("t", "sum is of numbers, and t is text"),
    ("b", "sum is of numbers, and b is true or false"),
    ("d", "sum is of numbers, and d is a date"),
    ("z", "names the column 'z'"),
])  # fmt: skip
def test_columns_of_other_kinds_are_refused(column, message):
    data = pa.table({"t": ["1"], "b": [True], "d": pa.array([0], pa.date32())})
    with pytest.raises(BadInput, match=re.escape(message)):
        irisdp.plan(data, "sum", column, lower=0, upper=1, epsilon=1)


@pytest.mark.parametrize("option", ["lower", "upper", "step", "missing"])
def test_bounds_are_for_sums_and_means_alone(option):
    with pytest.raises(BadInput, match=f"{option}: is not for count, but for sum, mean, variance and deviation"):
        irisdp.plan(pa.table({"x": [1]}), "count", epsilon=1, **{option: 1})


@pytest.mark.parametrize(("epsilon", "query"), [("1e-10", "mean"), ("1e-14", "sum")])
def test_too_little_epsilon_for_the_steps_is_refused(epsilon, query):
    with pytest.raises(BadInput, match="epsilon"):
        irisdp.plan(pa.table({"x": [1]}), query, "x", lower=0, upper=1 << 29, epsilon=epsilon)


def test_a_mean_keeps_an_epsilon():
    with pytest.raises(BadInput, match="privacy: is not for mean"):
        irisdp.plan(pa.table({"x": [1]}), "mean", "x", lower=0, upper=9, mu=1, delta="1e-6")


class TestPlans:
    def test_a_plan_says_the_rules(self):
        planned = irisdp.plan(pa.table({"x": [1.0]}), "mean", "X", lower=-1, upper=3, step="0.5", epsilon=1)
        assert planned.line == "mean x from -1 to 3 in steps of 0.5"
        *_, rule, missing = planned.describe_reading()
        assert "beyond a bound counts as the bound" in rule
        assert missing == "a record without a number in x is left out"
        facts = planned.to_document()
        assert (facts["lower"], facts["upper"], facts["step"]) == ("-1", "3", "0.5")
        assert json.dumps(facts)

    def test_other_bounds_are_another_question(self):
        data = pa.table({"x": [1]})
        asked = [{"upper": 4}, {"upper": 5}, {"upper": 4, "step": 2}, {"upper": 4, "step": "1.0"}]
        questions = [irisdp.plan(data, "sum", "x", lower=0, epsilon=1, **one).question() for one in asked]
        assert questions[0] == questions[3]
        assert len(set(questions)) == 3

    @pytest.mark.parametrize(("bounds", "relation", "grouped", "moved"), [
        ((0, 10), "add-remove", False, 10),
        ((0, 10), "exchange", False, 10),
        ((-4, 10), "add-remove", False, 10),
        ((-4, 10), "exchange", False, 14),
        ((-4, 10), "exchange", True, 10),
        ((-12, -4), "add-remove", False, 12),
        ((-12, -4), "exchange", False, 12),
        ((5, 10), "exchange", False, 10),
    ])  # fmt: skip
    def test_noise_is_for_what_a_step_moves(self, bounds, relation, grouped, moved):
        data = pa.table({"x": [1], "g": ["a"]})
        options = {"by": "g", "groups": ["a"]} if grouped else {}
        planned = irisdp.plan(
            data, "sum", "x", lower=bounds[0], upper=bounds[1], epsilon=1, relation=relation, **options
        )
        assert planned.audiences[0].mechanism.noise.sensitivity == moved
        assert planned.cost.epsilon == (2 if grouped else 1)

    def test_the_error_is_said_in_the_columns_unit(self):
        data = pa.table({"x": [1]})
        fine, coarse = (
            irisdp.plan(data, "sum", "x", lower=0, upper=200_000, step=step, epsilon=1).audiences[0].mechanism
            for step in (1000, 100_000)
        )
        assert abs(fine.expected_error()["mean_absolute"] / 200_000 - 0.96) < 0.01
        assert fine.expected_error()["within_95_percent"] % 1000 == 0
        assert coarse.expected_error()["within_95_percent"] % 100_000 == 0


class TestPublications:
    def test_sums_and_means_of_groups(self, tmp_path):
        data = pa.table({"g": ["a", "b", "a", None, "b"], "x": [1, 30, 2, 5, None]})
        session = irisdp.Session(data, ledger=tmp_path / "l.ledger")
        found = session.sum("x", lower=-5, upper=20, by="g", groups=["b", "a"], **SURE)
        assert found.answers.values == [20, 3]
        assert all(type(value) is int for value in found.answers.values)
        found = session.mean("x", lower=-5, upper=20, by="g", groups=["b", "a"], **SURE)
        assert found.answers.values == [20.0, 1.5]
        repeated = session.mean("x", lower=-5, upper=20, by="g", groups=["a", "b"], **SURE)
        assert (repeated.repeated, repeated.answers.values) == (True, [1.5, 20.0])

    def test_files_hold_what_readers_need(self, tmp_path):
        data = pa.table({"x": [0.25, 0.5, 7.0]})
        out = tmp_path / "out.json"
        irisdp.publish(
            data, "sum", "x", lower=0, upper=1, step="0.25", relation="exchange", ledger=tmp_path / "l.ledger",
            out=out, **SURE,
        )  # fmt: skip
        assert json.loads(out.read_text(encoding="utf-8")) == [
            {"answer": 1.75, "answer_low": 1.25, "answer_high": 2.25}
        ]
        beside = json.loads((tmp_path / "out.json.release.json").read_text(encoding="utf-8"))
        assert beside["mechanism"]["kind"] == "noisy-sum"
        assert beside["mechanism"]["noise"]["sensitivity"] == 4
        assert (beside["mechanism"]["lower"], beside["mechanism"]["upper"]) == (0.0, 3.0)
        assert (beside["lower"], beside["upper"], beside["step"]) == ("0", "1", "0.25")
        assert beside["expected_error"]["within_95_percent"] == 0

    def test_an_answer_stays_between_the_bounds(self, tmp_path):
        data = pa.table({"x": [3]})
        for number in range(6):
            found = irisdp.publish(
                data, "mean", "x", lower=2, upper=4, epsilon="0.01", ledger=tmp_path / f"{number}.ledger"
            )
            assert 2 <= found.answers.values[0] <= 4

    def test_the_sum_of_a_table_whose_size_is_public_stays_between_its_ends(self, tmp_path):
        for number in range(6):
            found = irisdp.publish(
                pa.table({"x": [3, 3]}), "sum", "x", lower=2, upper=4, epsilon="0.01", relation="exchange",
                ledger=tmp_path / f"{number}.ledger",
            )  # fmt: skip
            assert 0 <= found.answers.values[0] <= 8

    def test_a_batch_of_sums_and_counts(self, tmp_path):
        data = pa.table({"x": [1, 2, None]})
        bounds = {"lower": 0, "upper": 9}
        plan = {
            "budget": {"epsilon": 1000},
            "questions": [{"query": "sum x", **bounds}, {"query": "mean x", **bounds}, {"query": "count"}],
        }
        found = irisdp.batch(plan, data=data, ledger=tmp_path / "l.ledger")
        assert [one.answers.values for one in found.publications] == [[3], [1.5], [3]]

    def test_missing_values_may_count(self, tmp_path):
        data = pa.table({"x": [1.0, None, float("nan"), 7.0]})
        bounds = {"lower": 0, "upper": 4, "step": 1, "missing": 3, **SURE}
        session = irisdp.Session(data, relation="exchange", ledger=tmp_path / "l.ledger")
        assert session.sum("x", **bounds).answers.values == [11]
        found = session.mean("x", **bounds)
        assert found.answers.values == [2.75]
        assert found.sidecars[None]["mechanism"]["records"] == 4
        assert found.sidecars[None]["missing"] == "3"
        assert session.plan("mean", "x", **bounds).describe_reading()[-1].endswith("counts as 3")
        coming = irisdp.publish(data, "mean", "x", **bounds, ledger=tmp_path / "m.ledger")
        assert coming.answers.values == [2.75]

    @pytest.mark.parametrize("more", [{}, {"relation": "exchange"}, {"missing": 0, "relation": "exchange"}])
    def test_ends_of_means_are_short_and_hold_the_answer(self, more, tmp_path):
        data = pa.table({"x": list(range(100)) * 10})
        found = irisdp.publish(
            data, "mean", "x", lower=0, upper=99, epsilon="1/3", ledger=tmp_path / "l.ledger", **more
        )
        ((answer, low, high),) = found.answers.to_arrow().to_pandas().to_numpy().tolist()
        assert low <= answer <= high
        assert high - low < 30
        assert max(len(str(low)), len(str(high))) < 8

    @pytest.mark.parametrize("query", ["sum", "mean"])
    @pytest.mark.parametrize("more", [{}, {"missing": 0, "relation": "exchange"}])
    def test_interpret_points_to_the_ends(self, query, more, tmp_path):
        found = irisdp.publish(
            pa.table({"x": [1]}), query, "x", lower=0, upper=9, epsilon=1, ledger=tmp_path / "l.ledger", **more
        )
        with pytest.raises(BadInput, match=r"release: publishes sums or means, .*answer_low and answer_high"):
            irisdp.interpret(found)

    def test_nobody_is_there(self, tmp_path):
        data = pa.table({"x": pa.array([], pa.int64())})
        found = irisdp.publish(
            data, "mean", "x", lower=0, upper=9, missing=0, relation="exchange", ledger=tmp_path / "l.ledger", **SURE
        )
        assert found.answers.values == [4.5]

    def test_nobody_with_a_value(self, tmp_path):
        found = irisdp.publish(
            pa.table({"x": pa.array([None], pa.int64())}), "mean", "x", lower=0, upper=9, ledger=tmp_path / "l.ledger",
            **SURE,
        )  # fmt: skip
        assert found.answers.values == [4.5]


@pytest.mark.parametrize("query", ["sum", "mean"])
@pytest.mark.parametrize("value", ["1e308", "-1.7e308", "9.9e307", "1e15", "-1e15", "inf", "nan", "1e400", "2"])
def test_no_value_decides_whether_there_is_an_answer(query, value, tmp_path, monkeypatch):
    """Bounds so wide that a difference overflows told by an error, for nothing, that a large value is there."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"v\n2\n{value}\n")
    with pytest.raises(BadInput, match=r"^upper: must lie between -1,000,000,000,000,000 and"):
        irisdp.plan("t.csv", query, "v", lower=0, upper="1.7e308", step="1e7", epsilon=1)
    found = irisdp.publish("t.csv", query, "v", lower="-1e15", upper="1e15", step="1e7", epsilon=1, out="o.parquet")
    assert found.to_arrow().num_rows == 1
    assert Path("o.parquet").exists()


def test_sums_beyond_64_bits_are_written_as_the_nearest_doubles(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("v\n" + "1e15\n" * 20_000)
    found = irisdp.publish("t.csv", "sum", "v", lower=0, upper="1e15", step="1e9", **SURE, out="o.parquet")
    assert found.answers.values == [2 * 10**19]
    assert found.to_arrow()["answer"].to_pylist() == [2e19]


def printed(capsys, *arguments):
    assert run([*map(str, arguments)]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("query", ["sum", "mean"])
def test_the_terminal_shows_the_ends_beside_the_answer(query, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("x,g\n" + "5,a\n7,b\n" * 200)
    Path("b.json").write_text(
        json.dumps(
            {
                "data": "t.csv",
                "budget": {"epsilon": "500"},
                "questions": [{"query": query, "expression": "x", "lower": 0, "upper": 10, "step": 1}],
            }
        )
    )
    asked = ["publish", "t.csv", query, "x", "--lower", "0", "--upper", "10", "--step", "1", "--epsilon", "500"]
    for command in (asked, [*asked, "--by", "g", "--groups", "a,b"], ["batch", "b.json"]):
        told = printed(capsys, *command)
        assert re.search("answer +┃ answer_low +┃ answer_high ", told)
        assert "  interval  95 % confidence interval (noise" in told
        assert "doubt" not in told


def test_a_mean_of_what_is_no_number_says_that_it_says_nothing(tmp_path, monkeypatch, capsys):
    """As of decimal commas. Noise decides for each group: 95 in 100 of those without a number say so."""
    monkeypatch.chdir(tmp_path)
    groups = [f"g{number}" for number in range(60)]
    Path("t.csv").write_text("cost;g\n" + "".join(f'"5.154,28";{group}\n' for group in groups) + "994;b\n" * 300)
    asked = ["publish", "t.csv", "mean", "cost", "--lower", "0", "--upper", "50000", "--step", "1", "--delimiter"]
    asked += [";", "--epsilon"]
    said = "any mean between 0 and 50000 could be true; perhaps no value could be read as a number, or there are"
    told = printed(capsys, *asked, "2", "--by", "g", "--groups", ",".join([*groups, "b"]))
    assert re.search(rf"  doubt     ([345]\d|60) of 61 say nothing: {said} too few", told)
    assert "doubt" not in printed(capsys, *asked, "2", "--by", "g", "--groups", "b")


def test_only_what_is_released_says_that_a_mean_says_nothing(tmp_path):
    data = pl.DataFrame({"x": [5.0] * 300})
    published = irisdp.publish(data, "mean", "x", lower=0, upper=10, step=1, ledger=tmp_path / "m.ledger", **SURE)
    for low, high, said in ((0.0, 10.0, 1), (0.5, 10.0, 0), (0.0, 9.5, 0)):
        assured = replace(published.answers.assured, columns={"answer_low": [low], "answer_high": [high]})
        answers = replace(published.answers, assured=assured)
        doubts = replace(published, answers_of={None: answers}).describe_doubt()
        assert [doubt.partition(":")[0] for doubt in doubts] == ["this says nothing"] * said


def test_how_far_one_record_moves_a_sum_is_said_of_what_moves_it_and_in_which_steps():
    table = pa.table({"who": [1, 1, 2], "cost": [5, 7, 4], "ward": ["a", "b", "a"]})
    bounds = {"lower": 0, "upper": 2_000_000, "epsilon": 1}
    (one,) = irisdp.plan(table, "sum", "cost", **bounds).describe_error()
    assert "as one record moves one answer by at most 2,000,000" in one and "steps" not in one
    (steps,) = irisdp.plan(table, "sum", "cost", **bounds, step=100, unit="who", at_most=1).describe_error()
    assert "as one who moves one answer by at most 20,000 (steps of 100)" in steps
    (spread,) = irisdp.plan(
        table, "sum", "cost", **bounds, unit="who", at_most=3, by="ward", groups="a,b"
    ).describe_error()
    assert "geometric noise at ε/6,000,000, as one who can change the answers by at most 6,000,000 in all" in spread


BOUNDS = {"lower": 0, "upper": 1, "epsilon": 1}
FRAME = pl.DataFrame({"share": [1]})
WHOLE_OR_NOT = {
    "csv": ("share\n1\n", {}, False),
    "csv, declared": ("share\n1\n", {"types": {"share": "integer"}}, True),
    "csv, declared as numbers": ("share\n1\n", {"types": {"share": "number"}}, False),
    "floats": (pa.table({"share": [1.0]}), {}, False),
    "decimals": (pa.table({"share": pa.array([1]).cast(pa.decimal128(19, 0))}), {}, False),
    "integers": (pa.table({"share": [1]}), {}, True),
    "small integers of pandas": (FRAME.to_pandas().astype("int8"), {}, True),
    "objects of pandas": (FRAME.to_pandas().astype(object), {}, False),
    "Polars": (FRAME, {}, True),
}
"""Tables and options, and whether the column's type is that of whole numbers."""


@pytest.mark.parametrize("name", WHOLE_OR_NOT)
@pytest.mark.parametrize("query", ["sum", "mean"])
def test_a_step_is_needed_unless_the_type_is_that_of_whole_numbers(name, query, tmp_path):
    data, options, whole = WHOLE_OR_NOT[name]
    if isinstance(data, str):
        (tmp_path / "t.csv").write_text(data, encoding="utf-8")
        data = tmp_path / "t.csv"
    if whole:
        assert irisdp.plan(data, query, "share", **BOUNDS, **options).query.stepped.steps.size == 1
        return
    with pytest.raises(BadInput, match=r"^step: is missing: .* and share may hold fractions") as refused:
        irisdp.plan(data, query, "share", **BOUNDS, **options)
    assert "give step=0.001, for example" in refused.value.remedy and "or step=1" in refused.value.remedy
    assert irisdp.plan(data, query, "share", **BOUNDS, **options, step="0.001").query.stepped.steps.rounding


def test_a_weight_of_fractions_needs_a_step():
    data, bounds = pa.table({"x": [1], "w": [0.5], "n": [2]}), {**BOUNDS, "weight_upper": 3}
    with pytest.raises(BadInput, match=r"^step: is missing: sum rounds"):
        irisdp.plan(data, "sum", "x", **bounds, weight="w")
    assert not irisdp.plan(data, "sum", "x", **bounds, weight="n").query.stepped.steps.rounding


@pytest.mark.parametrize("step", ["1", "0.5", "0.01", "2"])
def test_whole_numbers_are_rounded_by_larger_steps_alone(step):
    planned = irisdp.plan(pa.table({"x": [1]}), "sum", "x", lower=0, upper=4, epsilon=1, step=step)
    assert (planned.query.stepped.steps.rounding > 0) == (step == "2")


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [(0, 1, "0.001"), (0, 120, "0.01"), ("0.0005", 1, "0.0001"), (0, "1e-9", "0.000000000001"), (0, "1e9", "10")],
)
def test_the_step_that_is_suggested_is_accepted(lower, upper, said):
    data, bounds = pa.table({"x": [0.5]}), {"lower": lower, "upper": upper, "epsilon": 1}
    with pytest.raises(BadInput, match=rf"; give step={re.escape(said)}, for example"):
        irisdp.plan(data, "mean", "x", **bounds)
    irisdp.plan(data, "mean", "x", **bounds, step=said)


@pytest.mark.parametrize("step", ["0.01", "0.25", "0.5", "1"])
@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_ends_cover_what_rounding_can_do(step, relation, tmp_path):
    """At this ε noise is 0, so whatever the ends miss, rounding did."""
    values = fresh_generator(60).uniform(-0.2, 1.2, 60)
    values[:20] = np.floor(values[:20] * 4) / 4 + float(Fraction(step)) / 2 - 1e-9  # all rounded the same way
    session = irisdp.Session(pa.table({"x": values}), relation=relation, ledger=tmp_path / "l.ledger")
    clipped, options = np.clip(values, 0, 1), {"lower": 0, "upper": 1, "step": step, "epsilon": 1000}
    for query, truth in (("mean", clipped.mean()), ("sum", clipped.sum())):
        found = session.publish(query, "x", **options)
        ((low, high),) = zip(*found.answers.assured.columns.values(), strict=True)
        promise = found.answers.assured.promise
        if query == "sum" and relation == "add-remove":
            half = float(Fraction(step) / 2)
            assert f"rounding to multiples of {step} changes each value by up to {half:g}" in promise
            low, high = low - 60 * half, high + 60 * half
        else:
            assert f"(noise, and rounding to multiples of {step})" in promise
        assert low - 1e-9 <= truth <= high + 1e-9, (query, low, truth, high)
        assert "values beyond 0 and 1 count as the bound; " in promise


# Sums with weights: how weights are read, what is said, and what is refused.

BOUNDS_WEIGHTS = {"lower": -1, "upper": 4, "step": 1, "weight": "w", "weight_upper": "2.5"}
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
    planned = irisdp.plan(data, "sum", "x", **{**BOUNDS_WEIGHTS, "step": "0.25"}, missing=missing, by="n",
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
    found = total_steps(table, read_stepped(table, "x", ColumnChoices(**BOUNDS_WEIGHTS), "sum"))
    assert (found.total.tolist(), found.known.tolist()) == ([9], [4])
    assert (found.above - 3 * found.known).tolist() == [0 + 6 - 1 + 1]


@pytest.mark.parametrize(("options", "message"), [
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
])  # fmt: skip
def test_what_does_not_fit_is_refused_weights(options, message, tmp_path):
    data = pa.table({"x": [1, 2], "w": [1.0, 2.0], "t": ["1", "2"]})
    with pytest.raises(BadInput, match=re.escape(message)):
        irisdp.publish(data, "sum", "x", **{"epsilon": 1, **BOUNDS_WEIGHTS, **options}, ledger=tmp_path / "l.ledger")
    assert not (tmp_path / "l.ledger").exists()


def test_a_plan_names_both_columns_whose_numbers_are_bounded():
    planned = irisdp.plan(
        pa.table({"x": [1], "pay": [1]}), "sum", "x", **{**BOUNDS_WEIGHTS, "weight": "pay"}, epsilon=1
    )
    (said,) = (line for line in planned.describe_reading() if "beyond a bound" in line)
    assert said.startswith("a value of x or a weight of pay beyond a bound counts as the bound")


@pytest.mark.parametrize("option", ["weight", "weight_upper"])
def test_weights_are_for_sums_means_and_counts_alone(option):
    data = pa.table({"x": [1], "w": [1]})
    with pytest.raises(BadInput, match=rf"{option}: is not for at-least, but for sum, mean and count"):
        irisdp.plan(data, "at-least", 3, epsilon=1, **{option: BOUNDS_WEIGHTS[option]})
    with pytest.raises(BadInput, match=rf"{option}: is not for variance, but for sum, mean and count"):
        irisdp.plan(data, "variance", "x", lower=0, upper=1, epsilon=1, **{option: BOUNDS_WEIGHTS[option]})


def test_a_batch_says_that_its_weights_are_others():
    plan = {"budget": {"epsilon": 1}, "questions": [{"query": "sum x", **BOUNDS_WEIGHTS}]}
    with pytest.raises(BadInput, match="weight_upper: is not for batches"):
        irisdp.batch(plan, data=pa.table({"x": [1], "w": [1]}))


@pytest.mark.parametrize(("bounds", "relation", "moved"), [
    ((0, 10), "add-remove", 25),
    ((-4, 10), "add-remove", 25),
    ((-4, 10), "exchange", 35),
    ((5, 10), "exchange", 25),
    ((-12, -5), "add-remove", 30),
    ((0, "0.5"), "add-remove", 2),
])  # fmt: skip
def test_noise_is_for_what_a_step_moves(bounds, relation, moved):
    lower, upper = bounds
    options = {**BOUNDS_WEIGHTS, "lower": lower, "upper": upper, "missing": lower, "relation": relation, "epsilon": 1}
    planned = irisdp.plan(pa.table({"x": [1], "w": [1]}), "sum", "x", **options)
    assert planned.audiences[0].mechanism.noise.sensitivity == moved


def test_a_plan_says_the_rules_and_other_weights_are_another_question():
    data = pa.table({"x": [1], "w": [1], "other": [1]})
    asked = [{}, {"weight_upper": "2.50"}, {"weight": "W"}, {"weight": "other"}, {"weight_upper": 3}, {"missing": 0}]
    plans = [irisdp.plan(data, "sum", "x", **{**BOUNDS_WEIGHTS, **one}, epsilon=1) for one in asked]
    questions = [planned.question() for planned in plans]
    assert questions[0] == questions[1] == questions[2]
    assert len(set(questions)) == 4
    assert plans[0].line == "sum x from -1 to 4 times w from 0 to 2.5"
    assert (
        plans[0].describe_reading()[-1]
        == "a value times its weight adds from -3 to 10; without a weight it adds nothing"
    )
    facts = plans[0].to_document()
    assert (facts["lower"], facts["upper"], facts["missing"]) == ("-1", "4", None)
    assert facts["weight"] == {"column": "w", "lower": "0", "upper": "2.5"}
    assert set(plans[0].asked.facts["columns"]) == {"x", "w"}
    assert json.dumps(facts)


def test_a_weighted_sum_is_published(tmp_path):
    data = pa.table({"g": ["a", "b", "a", "b"], "x": [1, 30, None, -7], "w": [2.0, 9.0, 1.0, None]})
    session = irisdp.Session(data, ledger=tmp_path / "l.ledger")
    found = session.sum("x", **BOUNDS_WEIGHTS, by="g", groups=["b", "a"], **SURE)
    assert found.answers.values == [10, 2]
    assert session.sum("x", **BOUNDS_WEIGHTS, missing=3, by="g", groups=["b", "a"], **SURE).answers.values == [10, 5]
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


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
def test_a_weighted_count_is_the_sum_of_weights(relation, tmp_path):
    weights = [0.5, 2.25, None, 99.0, -3.0, 1.0]
    data = pa.table({"age": [70, 80, 90, 71, 72, 5], "w": pa.array(weights, pa.float64()), "g": list("aabbab")})
    session = irisdp.Session(data, ledger=tmp_path / "x.ledger", relation=relation)
    found = session.count("age > 64", weight="w", weight_upper=10, epsilon=900)
    assert found.answers.values == [pytest.approx(0.5 + 2.25 + 10)]
    assert found.plan.line.startswith("sum w from 0 to 10 in steps of 0.01")
    same = session.sum("w", "age > 64", lower=0, upper=10, step="0.01", epsilon=900)
    assert same.repeated
    assert session.count(weight="w", weight_upper=10, step="0.5", epsilon=900).answers.values == [0.5 + 2.5 + 10 + 1]
    grouped = session.count(weight="w", weight_upper=10, by="g", groups="a,b", epsilon=900)
    assert grouped.answers.values == [pytest.approx(2.75), pytest.approx(11)]


@pytest.mark.parametrize(("options", "message"), [
    ({"weight": "w"}, "weight_upper: is missing; taken from the data"),
    ({"weight_upper": 3}, "weight_upper: bounds weights, and there are none"),
    ({"weight": "w", "weight_upper": 0}, "weight_upper: must be above 0"),
    ({"weight": 3, "weight_upper": 1}, "weight: must be text, not int"),
    ({"weight": "w", "weight_upper": 1, "lower": 0}, "lower: is not for weights"),
    ({"weight": "w", "weight_upper": 3, "upper": 1}, "upper: is not for weights"),
    ({"weight": "w", "weight_upper": 2, "step": "0.3"}, "step: must divide the largest weight, 2; give step=0.001, or"),
    ({"weight": "z", "weight_upper": 1}, "query: names the column 'z', which the data does not have"),
])  # fmt: skip
def test_what_makes_no_weighted_count_is_refused(options, message):
    with pytest.raises(BadInput) as refused:
        irisdp.plan(pa.table({"x": [1], "w": [1]}), "count", epsilon=1, **options)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(("most", "lots"), [("2.5", 1024), (3, 1024)])
def test_weighted_means_count_as_python_does(most, lots, tmp_path):
    """By exact numbers: each value as often as its weight has parts, to the nearest."""
    pairs = [(value, weight) for value in VALUES for weight in WEIGHTS]
    data = pa.table({
        "x": pa.array([value for value, _ in pairs], pa.float64()),
        "w": pa.array([weight for _, weight in pairs], pa.float64()),
    })  # fmt: skip
    options = {"lower": -1, "upper": 4, "step": "0.25", "weight": "w", "weight_upper": most, "epsilon": 1}
    planned = irisdp.plan(data, "mean", "x", **options)
    known = above = 0
    for value, weight in pairs:
        if not (usable(value) and usable(weight)):
            continue
        steps = math.floor((min(max(value, -1.0), 4.0) + 1) / 0.25 + 0.5)
        parts = math.floor(min(max(weight, 0.0), float(most)) / (float(most) / lots) + 0.5)
        known, above = known + parts, above + parts * steps
    nodes = pipeline.read_statistics(planned, bytes(32)).nodes
    assert (nodes.known.tolist(), nodes.above.tolist(), nodes.records) == ([known], [above], None)


def test_a_weighted_mean_is_published(tmp_path):
    rng = np.random.default_rng(2)
    x, w = rng.integers(0, 101, 3000), rng.random(3000) * 3
    data = pa.table({"x": x, "w": w})
    bounds = {"lower": 0, "upper": 100, "weight": "w", "weight_upper": 3}
    for relation in ("add-remove", "exchange"):
        session = irisdp.Session(data, ledger=tmp_path / f"{relation}.ledger", relation=relation)
        (row,) = session.mean("x", **bounds, epsilon=3, confidence="0.999999").answers.to_documents()
        truth = np.average(x, weights=w)
        assert row["answer_low"] - 0.05 <= truth <= row["answer_high"] + 0.05
        assert row["answer_high"] - row["answer_low"] < 2
        assert abs(session.mean("x", **bounds, epsilon=900).answers.values[0] - truth) < 0.05
    planned = session.plan("mean", "x", **bounds, epsilon=1)
    assert "the weights of records with a value add up to W" in str(planned)
    assert "weights are rounded to multiples of 0.0029296875" in "; ".join(planned.leaves_out())
