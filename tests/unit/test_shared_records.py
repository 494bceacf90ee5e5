"""Records of persons that are chosen once for several questions: every question reads what it would read alone.

The oracle is the statement of a question that is asked alone, which the proofs by exhaustion are about.
"""

import datetime
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries import privacy_units
from irisdp._release.pipeline import read_statistics
from irisdp._release.planning import plan
from irisdp._release.shared_records import SharedRecords
from irisdp._tables import engine

KEYS = [bytes([number]) * 32 for number in range(3)]
BOUNDS = {"lower": -3, "upper": 3, "step": "1/2"}
GROUPED = {"by": "g", "groups": ["a", "b"]}
ASKED = {
    "count": (("count",), {}),
    "count-where": (("count", "v > 0"), GROUPED),
    "count-selected": (("count",), {"by": "g", "select_groups": True, "delta": "1/10"}),
    "count-derived": (("count",), {"by": "h = CASE WHEN v < 1 THEN 'low' ELSE g END", "groups": ["low", "a"]}),
    "count-distinct": (("count-distinct", "v"), {}),
    "histogram": (("histogram", "v"), {"bins": "0,1"}),
    "sum": (("sum", "v"), BOUNDS),
    "sum-where": (("sum", "v", "d IS NOT NULL"), BOUNDS | GROUPED),
    "mean": (("mean", "v"), BOUNDS | GROUPED),
    "variance": (("variance", "v"), BOUNDS),
    "median": (("median", "v"), {"bins": "0,1"}),
    "plurality": (("plurality", "g"), {"categories": "a,b"}),
    "majority": (("majority", "v > 0"), GROUPED),
    "sizes": (("sizes", 2, "g"), {}),
    "at-least": (("at-least", 3, "d > DATE '2024-02-01'"), {}),
    "any": (("count", "v > 0"), {"per_unit": "any", **GROUPED}),
    "few groups": (("count",), {"groups_per_unit": 1, **GROUPED}),
}


def records(seed, rows=60):
    """Return random records, many of them equal, with values that are hard to write and some that are missing."""
    draw = random.Random(seed)
    days = [datetime.datetime(2024, 1, 1), datetime.datetime(2024, 3, 1, 0, 0, 0, 1), None]
    return pa.table(
        {
            "u": pa.array([draw.choice(["p", "q", "r", "s", "", None]) for _ in range(rows)]),
            "g": pa.array([draw.choice(["a", "b", "c", None]) for _ in range(rows)]),
            "v": pa.array([draw.choice([0.0, -0.0, 1.0, -2.5, 0.1 + 0.2, None]) for _ in range(rows)]),
            "d": pa.array([draw.choice(days) for _ in range(rows)], pa.timestamp("us")),
            "l": pa.array([draw.choice([[1], None]) for _ in range(rows)]),
        }
    )


def written(folder, form, table):
    """Write a table as a file, or return it as it is."""
    if form == "csv":
        table.drop_columns("l").to_pandas().to_csv(folder / "t.csv", index=False)
        return folder / "t.csv"
    if form == "parquet":
        pq.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    return table


def found(cells):
    """Return all that was read, comparable."""
    nodes = {name: getattr(cells.nodes, name, None) for name in dir(type(cells.nodes)) if not name.startswith("_")}
    arrays = {name: value.tolist() for name, value in nodes.items() if isinstance(value, np.ndarray)}
    assert arrays or cells.keys
    return arrays, None if cells.keys is None else (cells.keys.counts.tolist(), cells.keys._keys.to_pylist())


def plans(data, at_most):
    result = []
    for name, (words, options) in ASKED.items():
        for most in at_most:
            kept = {} if name == "any" else {"at_most": most}
            if name != "few groups" or kept["at_most"] > 1:
                given = {"epsilon": 1, "unit": "u", **options, **kept}
                try:
                    result.append(plan(data, *words, **given))
                except BadInput as error:
                    assert "several" in str(error) or "at_most" in str(error) or "at-most" in str(error), (name, error)
    return result


@pytest.mark.parametrize(
    ("form", "at_most"), [("frame", (1,)), ("frame", (2,)), ("csv", (1, 2)), ("parquet", (3, 1, 5))]
)
def test_questions_read_together_what_they_read_alone(form, at_most, tmp_path):
    runs = []
    for seed, key in enumerate(KEYS[:2]):
        data = written(tmp_path, form, records(seed))
        asked = plans(data, at_most)
        with SharedRecords(asked) as shared:
            for planned in asked:
                together = shared.over(planned, key)
                runs.append(together is not planned)
                assert found(read_statistics(together, key)) == found(read_statistics(planned, key)), planned.line
    assert sum(runs) > len(runs) // 2


@pytest.mark.parametrize("bits", [1, 2])
def test_records_whose_numbers_meet_by_chance_are_read_alone_or_alike(bits, monkeypatch):
    real = privacy_units._bits
    # Numbers of four or eight bits: different records of a person, and of two persons, have one number.
    monkeypatch.setattr(
        privacy_units, "_bits", lambda digest, start=1: real(digest, start).replace(", 15)", f", {bits})")
    )
    outcomes = set()
    for seed in range(12):
        asked = plans(records(seed, rows=8 + 4 * seed), (1, 2))
        with SharedRecords(asked) as shared:
            for planned in asked[:6]:
                together = shared.over(planned, KEYS[0])
                outcomes.add(together is planned)
                assert found(read_statistics(together, KEYS[0])) == found(read_statistics(planned, KEYS[0]))
    assert outcomes == {True, False}


def test_questions_about_all_records_of_a_person_do_not_read_chosen_ones(monkeypatch):
    table = records(1)
    asked = plans(table, (1,))
    with SharedRecords(asked) as shared:
        (planned,) = [each for each in asked if each.per_unit is not None]
        assert shared.over(planned, KEYS[0]) is planned
        people = plan(table, "count", unit="u", epsilon=1)  # each person once: no record is chosen
        together = shared.over(people, KEYS[0])
        assert together is not people
        assert found(read_statistics(together, KEYS[0])) == found(read_statistics(people, KEYS[0]))
        lists = plan(table, "count", "l IS NULL", unit="u", at_most=1, epsilon=1)  # lists are not held
        together = shared.over(lists, KEYS[0])
        assert found(read_statistics(together, KEYS[0])) == found(read_statistics(lists, KEYS[0]))


def test_an_engine_without_room_for_records_reads_each_question_alone(monkeypatch):
    def hold(*_):
        raise MemoryError

    monkeypatch.setattr(engine.Embedded, "hold", hold)
    table = records(1)
    asked = plans(table, (2,))
    with SharedRecords(asked) as shared:
        assert all(shared.over(planned, KEYS[0]) is planned for planned in asked)


def test_parts_of_a_table_hold_their_own_records(tmp_path):
    data = written(tmp_path, "parquet", records(2))
    asked = plans(data, (2,))
    with SharedRecords([*asked]) as shared:
        first = shared.over(asked[0], KEYS[0])
        other = shared.over(plan(records(3), "count", unit="u", at_most=2, epsilon=1), KEYS[0])
        assert first.table.kept is not None
        assert other.table.kept is None  # of another table, about which there is one question alone


def test_a_period_of_a_table_holds_its_own_records_alone(tmp_path):
    data = written(tmp_path, "parquet", records(4))
    month = {"column": "d", "period": "month"}
    asked = [
        plan(data, "count", unit="u", at_most=most, epsilon=1, partition=month | {"value": value}, **GROUPED)
        for value in ("2024-01", "2024-03")
        for most in (1, 2)
    ]
    with SharedRecords([*asked]) as shared:
        for planned in asked:
            together = shared.over(planned, KEYS[0])
            assert together is not planned
            assert found(read_statistics(together, KEYS[0])) == found(read_statistics(planned, KEYS[0]))


def test_a_plan_gives_the_answers_of_single_questions(tmp_path, monkeypatch):
    """Noise is drawn from the same bits, so equal answers mean that equal counts were read."""
    import hashlib
    import os

    monkeypatch.setattr(os, "urandom", lambda size: hashlib.shake_256(b"bits").digest(size))
    written(tmp_path, "parquet", records(5))
    lines = ["[datasets.t]", "data = 't.parquet'", "unit = 'u'"]
    questions = [
        ("count", {"at-most": 2, "by": "g", "groups": ["a", "b"]}),
        ("count", {"at-most": 1, "expression": "v > 0"}),
        ("sum v", {"at-most": 2, "lower": -3, "upper": 3, "step": "1/2"}),
    ]
    for query, options in questions:
        lines += ["[[questions]]", f"query = {query!r}", "epsilon = 1"]
        lines += [f"{name} = {value!r}" for name, value in options.items()]
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    held = []
    real = engine.Embedded.hold
    monkeypatch.setattr(engine.Embedded, "hold", lambda *given: held.append(1) or real(*given))
    together = irisdp.run(tmp_path / "plan.toml")
    assert held == [1]
    for one, (query, options) in zip(together, questions, strict=True):
        words = query.split()
        given = {name.replace("-", "_"): value for name, value in options.items() if name != "expression"}
        words += [options["expression"]] if "expression" in options else []
        alone = irisdp.publish(
            tmp_path / "t.parquet", *words, unit="u", epsilon=1, ledger=tmp_path / "other.ledger", **given
        )
        assert one.answers.values == alone.answers.values
    assert held == [1]
