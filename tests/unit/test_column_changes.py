"""The owner records that a table's columns changed: one line of the history, and all charges and answers stay."""

import csv
import json
from collections import Counter
from fractions import Fraction
from random import Random
from typing import ClassVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, Refusal, ScopeRefused, publish
from irisdp._cli import run
from irisdp._ledger.history import record, with_columns
from irisdp._ledger.same_records import names_column
from irisdp._tables import common_columns, hold_the_same, open_table
from support.commands import irisdp as command

ROWS = [
    {"who": "1", "ward": "a", "age": "30", "pay": "3"},
    {"who": "1", "ward": "b", "age": "31", "pay": "4"},
    {"who": "2", "ward": "a", "age": "70", "pay": ""},
]


def write(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def with_bonus(rows=ROWS):
    return [{**row, "bonus": str(number)} for number, row in enumerate(rows)]


def without(column, rows=ROWS):
    return [{name: value for name, value in row.items() if name != column} for row in rows]


@pytest.fixture
def old(tmp_path):
    return write(tmp_path / "old.csv", ROWS)


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new.csv", with_bonus())


def ask(data, ledger, *words, epsilon=1, **options):
    return publish(data, *(words or ("count",)), epsilon=epsilon, ledger=ledger, table="old.csv", **options)


class TestColumnsAreRecorded:
    def test_an_added_column_is_one_line_and_every_charge_stays(self, old, new, ledger):
        ask(old, ledger, "count", "age > 40")
        with pytest.raises(ScopeRefused, match="has the new column bonus"):
            ask(new, ledger)
        before = ledger.verify().lines
        change = ledger.change_columns(new)
        assert (dict(change.added), dict(change.dropped), dict(change.changed)) == ({"bonus": "untyped"}, {}, {})
        assert (ledger.verify().lines, ledger.verify().problems) == (before + 1, ())
        assert ledger.spent == Cost(1)
        ask(new, ledger, "count", "bonus > 1")
        assert (ledger.spent, ledger.verify().problems) == (Cost(2), ())

    def test_data_with_the_columns_from_before_may_still_be_asked_about(self, old, new, ledger):
        ask(old, ledger)
        ledger.change_columns(new)
        assert ask(old, ledger).repeated
        ask(old, ledger, "count", "age > 40")
        assert ledger.spent == Cost(2)

    def test_the_same_columns_are_no_change(self, old, ledger):
        ask(old, ledger)
        before = ledger.verify()
        assert ledger.change_columns(old).is_none
        assert ledger.verify() == before

    def test_a_column_that_came_and_went_is_dropped_where_nobody_asked(self, old, new, ledger):
        ask(old, ledger, "count", "age > 40")
        ledger.change_columns(new)
        assert dict(ledger.change_columns(old).dropped) == {"bonus": "untyped"}
        assert ledger.verify().problems == ()
        assert ask(old, ledger, "count", "age > 40").repeated

    def test_a_kind_changes_and_its_questions_are_new(self, tmp_path, ledger):
        whole, broken = tmp_path / "old.parquet", tmp_path / "new.parquet"
        pq.write_table(pa.table({"n": [1, 2], "m": [1, 1]}), whole)
        pq.write_table(pa.table({"n": [1.0, 2.0], "m": [1, 1]}), broken)
        for condition in ("n > 1", "m = 1"):
            publish(whole, "count", condition, epsilon=1, ledger=ledger, table="t")
        change = ledger.change_columns(broken, was=whole)
        assert dict(change.changed) == {"n": ("integer", "number")}
        assert publish(broken, "count", "m = 1", epsilon=1, ledger=ledger, table="t").repeated
        assert not publish(broken, "count", "n > 1", epsilon=1, ledger=ledger, table="t").repeated
        assert ledger.spent == Cost(3)

    def test_the_new_data_is_charged_to_the_same_ledger_whoever_leaves_it_out(self, old, new, tmp_path):
        ask(old, None)
        Ledger(tmp_path / "old.ledger").change_columns(new)
        ask(new, None, "count", "bonus > 1")
        assert Ledger(tmp_path / "old.ledger").spent == Cost(2) and not (tmp_path / "new.ledger").exists()

    def test_a_dry_run_records_nothing(self, old, new, ledger):
        ask(old, ledger)
        before = ledger.to_document(), ledger.verify()
        assert dict(ledger.change_columns(new, was=old, dry_run=True).added) == {"bonus": "untyped"}
        assert (ledger.to_document(), ledger.verify()) == before

    def test_a_ledger_without_releases_knows_no_columns(self, old, ledger):
        with pytest.raises(BadInput, match="there is no ledger"):
            ledger.change_columns(old)
        ledger.set_limit(1)
        with pytest.raises(BadInput, match="the first release pins them"):
            ledger.change_columns(old)

    def test_what_was_interrupted_is_recorded_whole_or_not_at_all(self, old, new, ledger, monkeypatch):
        ask(old, ledger)
        before = ledger.to_document(), ledger.verify()

        def killed(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("irisdp._ledger.column_changes.record", killed)
        with pytest.raises(KeyboardInterrupt):
            ledger.change_columns(new)
        monkeypatch.undo()
        assert (ledger.to_document(), ledger.verify()) == before
        ledger.change_columns(new)
        assert ledger.verify().problems == ()


ROLES = {
    "a condition": (("count", "pay > 3"), {}),
    "a condition, quoted and in capitals": (("count", '"PAY" > 3'), {}),
    "a column that is added up": (("sum", "pay"), {"lower": 0, "upper": 5, "step": 1}),
    "groups": (("count",), {"by": "pay", "groups": "3,4"}),
    "groups of an expression": (("count",), {"by": "high = pay > 3", "groups": "true,false"}),
    "a calculated column": (("mean", "twice = pay * 2"), {"lower": 0, "upper": 10, "step": 1}),
    "weights": (("count",), {"weight": "pay", "weight_upper": 5}),
    "categories": (("plurality", "pay"), {"categories": "3,4"}),
    "bins": (("median", "pay"), {"bins": "0,2,4"}),
    "persons": (("count", "total > 3"), {"unit": "who", "person": "total = SUM(pay)"}),
    "different values": (("count-distinct", "pay"), {"unit": "who", "at_most": 1}),
}


class TestWhatIsNotDropped:
    @pytest.mark.parametrize("role", ROLES)
    def test_a_column_that_a_release_asked_about(self, role, old, tmp_path):
        words, options = ROLES[role]
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book, *words, **options)
        before = book.verify()
        with pytest.raises(Refusal, match=r"no column pay, and release #1 of .* asked about it"):
            book.change_columns(write(tmp_path / "less.csv", without("pay")))
        assert book.verify() == before
        # Control: another column may go.
        if "unit" not in options:
            book.change_columns(write(tmp_path / "less.csv", without("who")))

    def test_the_column_of_persons_and_public_columns(self, old, tmp_path):
        people, public = Ledger(tmp_path / "people.ledger"), Ledger(tmp_path / "public.ledger")
        ask(old, people, "count", unit="who")
        with pytest.raises(Refusal, match="who is the column of persons"):
            people.change_columns(write(tmp_path / "less.csv", without("who")))
        ask(old, public, by="ward", groups="a,b", relation="exchange", public_membership=True, another_ledger=True)
        with pytest.raises(Refusal, match="ward is a public column"):
            public.change_columns(write(tmp_path / "less.csv", without("ward")))

    def test_any_column_after_lost_releases(self, old, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book)
        kept = book.path.read_bytes()
        ask(old, book, "count", "pay > 3")
        for log in ("-wal", "-shm"):
            book.path.with_name(book.path.name + log).unlink(missing_ok=True)
        book.path.write_bytes(kept)
        book.accept_restore(old)
        with pytest.raises(Refusal, match="restored from a backup"):
            book.change_columns(write(tmp_path / "less.csv", without("pay")))
        book.change_columns(write(tmp_path / "more.csv", with_bonus()))

    def test_a_column_whose_name_looks_like_a_text_of_a_question(self, old, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book, "count", "ward = 'pay'")
        with pytest.raises(Refusal, match="or about a text that looks like its name"):
            book.change_columns(write(tmp_path / "less.csv", without("pay")))


@pytest.mark.parametrize(("question", "column", "named"), [
    ({"query": {"query": "count", "expression": "pay > 3"}}, "pay", True),
    ({"query": {"query": "count", "expression": "payroll > 3"}}, "pay", False),
    ({"query": {"query": "count"}, "reader": "7 duckdb"}, "count", False),
    ({"query": {"query": "count"}, "reader": "7 duckdb"}, "duckdb", False),
    ({"query": {"query": "mean", "column": "count"}}, "count", True),
    ({"columns": {"Straße": "untyped"}}, "STRASSE", True),
    ({"query": {"expression": '"a ""b""" > 1'}}, 'a "b"', True),
    ({"query": {"expression": '"100%" > 1'}}, "100%", True),
    ({"query": {"expression": "a%b"}}, "%", True),
    ({"batch": [{"query": {"expression": "x = 1"}}, {"by": ["pay"]}]}, "pay", True),
    ({"batch": [{"query": {"expression": "x = 1"}}]}, "pay", False),
    ({"derived": {"twice": "pay * 2"}}, "pay", True),
    ({"weight": {"column": "pay"}}, "pay", True),
    ("pay", "pay", True),
])  # fmt: skip
def test_a_name_in_a_question_is_found(question, column, named):
    assert names_column(json.dumps(question, ensure_ascii=False), column) is named


class TestAnswersAboutTheSameRecords:
    QUESTION = ("count", "age > 40")

    def test_are_found_for_the_new_data_at_no_cost(self, old, new, ledger):
        first = ask(old, ledger, *self.QUESTION, by="ward", groups="a,b")
        change = ledger.change_columns(new, was=old)
        assert change.same == "old.csv"
        again = publish(new, *self.QUESTION, by="ward", groups="a,b", epsilon=1, ledger=ledger)  # by any name
        assert again.repeated and again.answers == first.answers
        assert (ledger.spent, ledger.verify().problems) == (Cost(1), ())

    def test_are_charged_anew_where_the_owner_does_not_say_so(self, old, new, ledger):
        ask(old, ledger, *self.QUESTION)
        ledger.change_columns(new)
        assert not ask(new, ledger, *self.QUESTION).repeated
        # Later the owner does: then both have an answer, each its own.
        ledger.change_columns(new, was=old)
        assert ask(new, ledger, *self.QUESTION).repeated and ask(old, ledger, *self.QUESTION).repeated
        assert (ledger.spent, ledger.verify().problems) == (Cost(2), ())

    def test_are_built_on_from_both_sides(self, old, new, ledger):
        ask(old, ledger, *self.QUESTION)
        ledger.change_columns(new, was=old)
        assert ask(new, ledger, *self.QUESTION, epsilon=3).cost == Cost(2)
        assert ledger.spent == Cost(3)
        assert ask(old, ledger, *self.QUESTION, epsilon=3).repeated
        assert ledger.spent == Cost(3)

    def test_are_not_built_on_where_persons_keep_some_records(self, old, new, ledger):
        """Which records are kept depends on all that they hold: the true answer may be another one."""
        options = {"unit": "who", "at_most": 1}
        ask(old, ledger, "count", "age > 40", **options)
        ledger.change_columns(new, was=old)
        assert ask(new, ledger, "count", "age > 40", **options).repeated
        ask(new, ledger, "count", "age > 40", epsilon=3, **options)
        assert ledger.spent == Cost(4)

    def test_are_not_those_of_the_new_column(self, old, new, tmp_path, ledger):
        ask(old, ledger, *self.QUESTION)
        ledger.change_columns(new, was=old)
        ask(new, ledger, "count", "bonus > 1")
        newest = write(tmp_path / "newest.csv", [{**row, "more": "x"} for row in with_bonus()])
        changed = write(tmp_path / "changed.csv", [{**row, "more": "x", "bonus": "9"} for row in with_bonus()])
        ledger.change_columns(newest, was=new)
        assert ask(newest, ledger, *self.QUESTION).repeated  # through both
        assert ask(newest, ledger, "count", "bonus > 1").repeated
        with pytest.raises(Refusal, match="holds other records"):
            ledger.change_columns(changed, was=new)
        ledger.change_columns(changed, was=old)
        assert ask(changed, ledger, *self.QUESTION).repeated
        assert not ask(changed, ledger, "count", "bonus > 1").repeated
        assert (ledger.spent, ledger.verify().problems) == (Cost(3), ())

    def test_a_batch_is_found_where_none_of_its_questions_uses_the_new_column(self, old, new, ledger):
        def asked(data, *conditions):
            plan = {"budget": {"epsilon": 1}, "data": str(data), "ledger": str(ledger.place), "table": "old.csv"}
            questions = [{"query": "count", "expression": condition} for condition in conditions]
            return irisdp.batch({**plan, "questions": questions})

        asked(old, "age > 40", "pay > 3")
        ledger.change_columns(new, was=old)
        assert asked(new, "age > 40", "pay > 3").repeated
        assert not asked(new, "age > 40", "bonus > 3").repeated
        assert ledger.spent == Cost(2)

    def test_other_ways_of_reading_find_nothing(self, tmp_path, ledger):
        """Bytes that are no UTF-8 are null in both files, and differ where they are read in another encoding."""
        old, new = tmp_path / "old.csv", tmp_path / "new.csv"
        old.write_bytes("name,age\nJosé,4\n".encode("latin-1"))
        new.write_bytes("name,age,more\nJosó,4,x\n".encode("latin-1"))
        for encoding in (None, "latin-1"):
            ask(old, ledger, "count", "name = 'José'", encoding=encoding)
        ledger.change_columns(new, was=old)
        assert ask(new, ledger, "count", "name = 'José'").repeated
        assert not ask(new, ledger, "count", "name = 'José'", encoding="latin-1").repeated
        with pytest.raises(Refusal, match="holds other records"):
            ledger.change_columns(new, was=old, encoding="latin-1")

    @pytest.mark.parametrize("change", ["a value", "order", "a record more", "a record less", "null for nothing"])
    def test_other_records_are_refused_and_nothing_is_recorded(self, change, old, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book, *self.QUESTION)
        rows = with_bonus()
        if change == "a value":
            rows[1]["pay"] = "5"
        elif change == "order":
            rows.reverse()
        elif change == "a record more":
            rows.append(rows[0])
        elif change == "a record less":
            rows.pop()
        else:
            rows[2]["pay"] = " "
        before = book.verify()
        with pytest.raises(Refusal, match="holds other records"):
            book.change_columns(write(tmp_path / "new.csv", rows), was=old)
        assert book.verify() == before

    def test_the_columns_may_stand_in_another_order(self, old, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book, *self.QUESTION)
        turned = [dict(reversed(row.items())) for row in with_bonus()]
        book.change_columns(write(tmp_path / "new.csv", turned), was=old)
        assert ask(tmp_path / "new.csv", book, *self.QUESTION).repeated

    @pytest.mark.parametrize("form", ["frames", "parquet", "a folder", "json lines", "sqlite"])
    def test_of_every_form(self, form, tmp_path):
        tables = [pa.table({name: [row[name] for row in rows] for name in rows[0]}) for rows in (ROWS, with_bonus())]
        places, options = tables, [{}, {}]
        if form == "parquet":
            places = [tmp_path / "old.parquet", tmp_path / "new.parquet"]
            for place, table in zip(places, tables, strict=True):
                pq.write_table(table, place)
        elif form == "a folder":
            places = [tmp_path / "old", tmp_path / "new"]
            for place, table in zip(places, tables, strict=True):
                for number in range(2):
                    (place / f"part={number}").mkdir(parents=True)
                    pq.write_table(table.slice(number, 1 + number), place / f"part={number}" / f"{number}.parquet")
        elif form == "json lines":
            places = [tmp_path / "old.jsonl", tmp_path / "new.jsonl"]
            options = [{"types": dict.fromkeys(table.column_names, "text")} for table in tables]
            for place, table in zip(places, tables, strict=True):
                place.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
        elif form == "sqlite":
            import sqlite3

            places = [f"sqlite:///{tmp_path / name}.db#t" for name in ("old", "new")]
            for name, rows in (("old", ROWS), ("new", with_bonus())):
                with sqlite3.connect(tmp_path / f"{name}.db") as connection:
                    connection.execute(f"CREATE TABLE t ({', '.join(f'{column} TEXT' for column in rows[0])})")
                    marks = ", ".join("?" * len(rows[0]))
                    connection.executemany(f"INSERT INTO t VALUES ({marks})", [tuple(row.values()) for row in rows])
                connection.close()
        book = Ledger(tmp_path / "b" / "a.ledger")
        book.path.parent.mkdir()
        secret = {"secret": tmp_path / "secret"}

        def asked(place, options):
            return publish(place, "count", "ward = 'a'", epsilon=1, ledger=book, table="t", **secret, **options)

        asked(places[0], options[0])
        book.change_columns(places[1], was=places[0], **secret, **options[1])
        assert asked(places[1], options[1]).repeated
        assert book.spent == Cost(1) and book.verify().problems == ()


DAYS = [
    {"day": "2026-01-05", "ward": "a"},
    {"day": "2026-01-06", "ward": "b"},
    {"day": "2026-02-01", "ward": "a"},
]


class TestPartitions:
    def asked(self, data, ledger, month, *words, **options):
        return ask(data, ledger, *words, partition=f"day by month={month}", **options)

    def test_keep_their_answers_each_by_itself(self, tmp_path, ledger):
        old = write(tmp_path / "old.csv", DAYS)
        for month in ("2026-01", "2026-02"):
            self.asked(old, ledger, month, "count", "ward = 'a'")
        ask(old, ledger, "count", "ward = 'b'")
        rows = [{**row, "bonus": "1"} for row in (*DAYS, {"day": "2026-03-01", "ward": "a"})]
        rows[2]["ward"] = "b"  # February was corrected, and March is new
        new = write(tmp_path / "new.csv", rows[::-1])
        change = ledger.change_columns(new, was=old)
        assert (change.same, change.others) == ("month 2026-01 of old.csv", ("month 2026-02",))
        free = [self.asked(new, ledger, f"2026-0{month}", "count", "ward = 'a'").repeated for month in (1, 2, 3)]
        assert free == [True, False, False]
        assert not ask(new, ledger, "count", "ward = 'b'").repeated
        assert not self.asked(new, ledger, "2026-01", "count", "bonus = 1").repeated
        assert self.asked(new, ledger, "2026-01", "count", "ward = 'a'", epsilon=3).cost == Cost(2)
        # January: 1 of the old data, 1 for bonus, 2 more for a finer answer; the whole table: twice 1.
        assert ledger.spent == Cost(4 + 2)
        assert ledger.verify().problems == ()

    def test_are_found_together_where_all_records_are_the_same(self, tmp_path, ledger):
        old, new = write(tmp_path / "old.csv", DAYS), write(tmp_path / "new.csv", with_bonus(DAYS))
        self.asked(old, ledger, "2026-01")
        ask(old, ledger)
        assert ledger.change_columns(new, was=old).same == "old.csv"
        assert self.asked(new, ledger, "2026-01").repeated and ask(new, ledger).repeated
        assert (ledger.spent, ledger.verify().lines) == (Cost(2), 4)

    def test_of_a_folder(self, tmp_path):
        book, secret = Ledger(tmp_path / "a.ledger"), {"secret": tmp_path / "secret"}
        for name, more in (("old", {}), ("new", {"bonus": ["1"]})):
            for month in ("1", "2") if name == "old" else ("1", "2", "3"):
                (tmp_path / name / f"month={month}").mkdir(parents=True)
                ward = "b" if (name, month) == ("new", "2") else "a"
                pq.write_table(pa.table({"ward": [ward], **more}), tmp_path / name / f"month={month}" / "0.parquet")

        def asked(name, month):
            return ask(tmp_path / name, book, partition=f"month={month}", **secret).repeated

        assert [asked("old", month) for month in (1, 2)] == [False, False]
        change = book.change_columns(tmp_path / "new", was=tmp_path / "old", **secret)
        assert (change.same, change.others) == ("month 1 of old", ("month 2",))
        assert [asked("new", month) for month in (1, 2, 3)] == [True, False, False]
        assert (book.spent, book.verify().problems) == (Cost(2), ())

    def test_the_column_that_divides_the_table_stays(self, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        self.asked(write(tmp_path / "old.csv", DAYS), book, "2026-01")
        less = write(tmp_path / "less.csv", without("day", DAYS))
        with pytest.raises(Refusal, match="day divides the table into partitions"):
            book.change_columns(less)
        with pytest.raises(ScopeRefused, match="day says what the ledger protects"):
            ask(less, book)


class TestWasIsRefused:
    def test_where_the_ledger_never_answered_about_it(self, old, new, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book)
        other = write(tmp_path / "other.csv", ROWS[:2])
        with pytest.raises(BadInput, match="has answered nothing about"):
            book.change_columns(new, was=other)
        with pytest.raises(BadInput, match="is the same data"):
            book.change_columns(old, was=old)

    def test_where_it_is_another_kind_of_file_or_has_no_column_in_common(self, old, new, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book)
        other = tmp_path / "other.parquet"
        pq.write_table(pa.table({"x": ["1"]}), other)
        with pytest.raises(BadInput, match="has no column in common"):
            book.change_columns(other, was=old, dry_run=True)

    def test_where_the_version_is_known_for_another_one(self, old, new, tmp_path):
        book = Ledger(tmp_path / "a.ledger")
        ask(old, book)
        book.change_columns(new, was=old)
        book.change_columns(new, was=old)  # once more is no change
        lines = book.verify().lines
        with pytest.raises(BadInput, match="is not what the ledger knows this data for"):
            book.change_columns(old, was=new)
        assert book.verify().lines == lines

    def test_where_the_data_changes_meanwhile(self, old, new, tmp_path, monkeypatch):
        from irisdp._ledger import changed_tables

        book = Ledger(tmp_path / "a.ledger")
        ask(old, book)
        compare = changed_tables.hold_the_same

        def changing(*words):
            write(new, with_bonus(ROWS[:2]))
            return compare(*words)

        monkeypatch.setattr(changed_tables, "hold_the_same", changing)
        with pytest.raises(BadInput, match="changed while it was read"):
            book.change_columns(new, was=old)


class TestTheHistory:
    def test_moves_with_the_ledger(self, old, new, ledger, tmp_path):
        ask(old, ledger, "count", "age > 40")
        ledger.change_columns(new, was=old)
        there = ledger.copy_to(tmp_path / "moved.ledger")
        assert there.verify().problems == ()
        assert publish(new, "count", "age > 40", epsilon=1, ledger=there, secret=old).repeated
        assert ask(old, there, "count", "age > 40").repeated

    @pytest.mark.parametrize("whole", [True, False])
    def test_is_known_to_dry_runs(self, whole, old, new, ledger, monkeypatch):
        if not whole:
            monkeypatch.setattr("irisdp._ledger.simulation._LARGEST_WHOLE", 0)
        ask(old, ledger, "count", "age > 40")
        ledger.change_columns(new, was=old)
        planned = command(
            ["publish", str(new), "count", "age > 40", "--epsilon", "1", "--ledger", str(ledger.place), "--dry-run",
             "--table", "old.csv", "--secret", str(new), "--json"]
        )  # fmt: skip
        assert json.loads(planned.out)["ledger"]["expected"]["repeated"] is True

    TAMPERED: ClassVar = {
        "columns": lambda facts: facts["columns"].update(more="untyped"),
        "earlier columns": lambda facts: facts["earlier_columns"].append({"x": "untyped"}),
        "no earlier columns": lambda facts: facts.pop("earlier_columns"),
        "another version": lambda facts: facts["same_records"].update(data=next(iter(facts["same_records"].values()))),
        "a column less that differs": lambda facts: next(iter(facts["same_records"].values()))["except"].clear(),
    }

    @pytest.mark.parametrize("change", TAMPERED)
    def test_shows_what_was_changed_behind_it(self, change, old, new, ledger):
        ask(old, ledger)
        ledger.change_columns(new, was=old)

        def tamper(rows):
            facts = json.loads(rows.find("SELECT facts FROM promise")[0][0])
            self.TAMPERED[change](facts)
            rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),))

        ledger.store.write(tamper)
        assert "what is pinned is not what the history says" in ledger.verify().problems

    FORGED: ClassVar = {
        "the column of persons": ({"age": "untyped"}, "changes the column who"),
        "its kind": ({"who": "integer"}, "changes the column who"),
    }

    @pytest.mark.parametrize("forgery", FORGED)
    def test_shows_a_forged_line(self, forgery, old, ledger):
        columns, said = self.FORGED[forgery]
        ask(old, ledger, unit="who")

        def forge(rows):
            facts = with_columns(json.loads(rows.find("SELECT facts FROM promise")[0][0]), columns, [])
            rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),))
            record(rows, "columns", {"columns": columns, "same": []})

        ledger.store.write(forge)
        assert said in " / ".join(ledger.verify().problems)

    def test_shows_other_lines_that_set_what_is_the_owners(self, old, ledger):
        ask(old, ledger)

        def forge(rows):
            facts = json.loads(rows.find("SELECT facts FROM promise")[0][0])
            facts["earlier_columns"] = [{"x": "untyped"}]
            rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),))
            record(rows, "promise", {"facts": facts})

        ledger.store.write(forge)
        assert "pins earlier columns with other facts" in " / ".join(ledger.verify().problems)

    def test_says_nothing_known_where_a_line_is_malformed(self, old, ledger):
        ask(old, ledger)
        for told in ({"columns": {}}, {"columns": {}, "same": []}, {"columns": {"a": 1}, "same": []},
                     {"columns": {"a": "x"}, "same": [["v", {}]]}):  # fmt: skip
            ledger.store.write(lambda rows, told=told: record(rows, "columns", told))
        problems = [problem for problem in ledger.verify().problems if "says nothing that is known" in problem]
        assert len(problems) == 4


def test_the_owner_alone_changes_columns_on_a_server(server, tmp_path):
    import psycopg

    old, new = write(tmp_path / "old.csv", ROWS), write(tmp_path / "new.csv", with_bonus())
    own = Ledger(server.address())
    ask(old, own)
    server.execute("CREATE ROLE columns_publisher LOGIN")
    assert run(["ledger", own.place, "--grant", "publish=columns_publisher"]) == 0
    theirs = Ledger(own.place.replace("iris@", "columns_publisher@"))
    before = own.to_document(), own.verify()
    with pytest.raises(BadInput, match=r"does not allow this role to do that \(42501\)"):
        theirs.change_columns(new)
    facts = {"earlier_columns": [{"x": "untyped"}]}
    statements = (
        f"UPDATE promise SET facts = (facts::jsonb || '{json.dumps(facts)}'::jsonb)::text",
        """UPDATE promise SET facts = jsonb_set(facts::jsonb, '{columns,bonus}', '"untyped"')::text""",
        """UPDATE promise SET facts = jsonb_set(facts::jsonb, '{same_records}', '{}')::text""",
    )
    for statement in statements:
        with psycopg.connect(theirs.store.address.told, autocommit=True) as connection:
            connection.execute(f'SET search_path = "{own.store.address.schema}"')
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
    assert (own.to_document(), own.verify()) == before
    own.change_columns(new, was=old)
    assert ask(new, theirs, secret=new).repeated
    ask(new, theirs, "count", "bonus > 1", secret=new)
    assert (own.spent, own.verify().problems) == (Cost(2), ())


class TestTheCommandLine:
    def test_shows_the_change_and_records_it(self, old, new, tmp_path):
        place = str(tmp_path / "old.ledger")
        ask(old, place, "count", "age > 40")
        refused = command(["publish", str(new), "count", "--epsilon", "1", "--ledger", place, "--table", "old.csv"])
        assert refused.status == 1
        assert refused.line.endswith("its owner records the change: irisdp ledger FILE --columns DATA")
        for dry in (["--dry-run"], []):
            ended = command(["ledger", place, "--columns", str(new), "--was", str(old), *dry])
            assert (ended.status, ended.out.splitlines()[0]) == (0, "added    bonus (untyped)")
            assert ("nothing was recorded" in ended.out) is bool(dry)
        ended = command(["ledger", place, "--columns", str(new), "--json"])
        no_change = {"added": {}, "dropped": {}, "changed": {}, "same_records": None, "dry_run": False}
        assert no_change.items() <= json.loads(ended.out).items()
        assert command(["ledger", place, "--verify"]).status == 0
        less = write(tmp_path / "less.csv", without("age"))
        ended = command(["ledger", place, "--columns", str(less), "--json"])
        assert (ended.status, json.loads(ended.out)["columns"]) == (1, ["age"])

    def test_reads_the_project_file(self, tmp_path):
        (tmp_path / "old.csv").write_text("who,age\n1,30\n")
        (tmp_path / "new.csv").write_text("who,age,more\n1,30,x\n")
        (tmp_path / "p.toml").write_text('unit = "who"\n[types]\nwho = "integer"\n')
        place = str(tmp_path / "old.ledger")
        words = ["count", "--epsilon", "1", "--ledger", place, "--project", str(tmp_path / "p.toml")]
        assert command(["publish", str(tmp_path / "old.csv"), *words]).status == 0
        plain = command(["ledger", place, "--columns", str(tmp_path / "new.csv")])
        assert plain.status == 1 and "who is the column of persons" in plain.line
        change = ["ledger", place, "--columns", str(tmp_path / "new.csv"), "--project", str(tmp_path / "p.toml")]
        assert command([*change, "--was", str(tmp_path / "old.csv")]).status == 0
        ended = command(["publish", str(tmp_path / "new.csv"), *words, "--table", "old.csv", "--json"])
        assert json.loads(ended.out)["repeated"] is True

    @pytest.mark.parametrize("words", [
        ["--was", "x.csv"], ["--dry-run"], ["--secret", "x"], ["--project", "x"],
        ["--columns", "x.csv", "--limit", "1"], ["--columns", "x.csv", "--verify"], ["--columns", "x.csv", "--csv"],
    ])  # fmt: skip
    def test_options_that_do_not_belong_together(self, words, old, tmp_path):
        place = str(tmp_path / "old.ledger")
        ask(old, place)
        ended = command(["ledger", place, *words])
        assert ended.status == 2 and ended.line.startswith(("--was: ", "--dry-run: ", "--secret: ", "--project: ",
                                                            "--columns: "))  # fmt: skip


@pytest.mark.parametrize(("options", "words"), [
    ({"relation": "exchange"}, "Use relation='add-remove'"),
    ({"unit": "who"}, "Drop unit="),
])  # fmt: skip
def test_no_refusal_suggests_a_second_budget_over_the_same_people(options, words, old, tmp_path):
    book = Ledger(tmp_path / "a.ledger")
    ask(old, book)
    with pytest.raises(ScopeRefused) as refused:
        ask(old, book, **options)
    assert words in str(refused.value)
    assert str(refused.value).endswith("Only a table about other people has a ledger of its own")
    assert "another ledger" not in str(refused.value)


def test_a_refusal_names_the_columns_that_differ(tmp_path):
    book = Ledger(tmp_path / "a.ledger")
    publish(pa.table({"a": [1], "b": [1]}), "count", epsilon=1, ledger=book, table="t")
    for data, said in (
        ({"a": [1]}, "the data lacks the column b (integer)"),
        ({"a": [1], "b": [1], "c": [1], "d": ["x"]}, "the data has the new columns c (integer), d (text)"),
        ({"a": [1], "b": [1.5]}, "the data holds otherwise the column b (integer before, number now)"),
    ):
        with pytest.raises(ScopeRefused) as refused:
            publish(pa.table(data), "count", epsilon=1, ledger=book, table="t")
        assert said in str(refused.value) and "change_columns(data)" in str(refused.value)
    assert book.spent == Cost(Fraction(1))


_VALUES = [None, "", " ", "-", "1", "1:a", "2:ab", ":", "a-", "-1:a", "é", "ab"]


@pytest.mark.parametrize("seed", range(20))
def test_records_are_compared_as_python_compares_them(seed):
    """Small tables of values that could run into each other, with one change or none, in order and without one."""
    random = Random(seed)
    for _ in range(15):
        width, length = random.randint(1, 3), random.randint(0, 4)
        names = [f"c{number}" for number in range(width)]
        rows = [tuple(random.choice(_VALUES) for _ in names) for _ in range(length)]
        others = list(rows)
        match random.randrange(4):
            case 0 if rows:
                place = random.randrange(length)
                others[place] = tuple(random.choice(_VALUES) for _ in names)
            case 1:
                random.shuffle(others)
            case 2 if rows:
                others.append(random.choice(rows))
        one, other = (
            pa.table({name: pa.array([row[place] for row in part], pa.string()) for place, name in enumerate(names)})
            for part in (rows, others)
        )
        more = other.append_column("more", pa.array(["x"] * len(others), pa.string()))
        tables = open_table(more), open_table(one)
        assert common_columns(*tables) == names
        assert hold_the_same(*tables, names) is (rows == others)
        unordered = [open_table(duckdb.from_arrow(each)) for each in (more, one)]
        assert hold_the_same(*unordered, names) is (Counter(rows) == Counter(others))
