"""Records of persons that are chosen once for several questions: every question reads what it would read alone.

The oracle is the statement of a question that is asked alone, which the proofs by exhaustion are about.
"""

import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp._queries import privacy_units
from irisdp._release.pipeline import read_statistics
from irisdp._release.planning import plan
from irisdp._release.shared_records import SharedRecords
from irisdp._tables import engine
from support.questions_of_persons import GROUPED, KEYS, found, plans, records, written


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
            tmp_path / "t.parquet",
            *words,
            unit="u",
            epsilon=1,
            ledger=tmp_path / "other.ledger",
            another_ledger=True,
            **given,
        )
        assert one.answers.values == alone.answers.values
    assert held == [1]


def test_records_of_a_dataset_are_held_until_its_last_question(tmp_path, monkeypatch):
    open_now, seen = set(), []
    hold, close = engine.Embedded.hold, engine.HeldRows.close

    def held(*given):
        rows = hold(*given)
        open_now.add(id(rows.connection))
        seen.append(len(open_now))
        return rows

    def closed(rows):
        open_now.discard(id(rows.connection))
        close(rows)

    monkeypatch.setattr(engine.Embedded, "hold", held)
    monkeypatch.setattr(engine.HeldRows, "close", closed)
    lines = []
    for name in ("a", "b"):
        pq.write_table(records(len(lines)), tmp_path / f"{name}.parquet")
        lines += [f"[datasets.{name}]", f"data = '{name}.parquet'", "unit = 'u'"]
    for name in ("a", "a", "b", "b"):
        where = f"expression = 'v > {len(lines)}'"
        lines += ["[[questions]]", f"dataset = '{name}'", "query = 'count'", where, "at-most = 2", "epsilon = 1"]
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    irisdp.run(tmp_path / "plan.toml")
    assert seen == [1, 1]
    assert not open_now
