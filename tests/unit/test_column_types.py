"""Declared types of text files: how every value is read, by itself; what a ledger makes of them; what is refused."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import irisdp
from irisdp import BadInput, ScopeRefused, plan, publish
from irisdp._cli import run
from irisdp._cli.main import app
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.column_types import TYPES
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.spark_frames import spark_statement
from irisdp._tables.table import open_table
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

CANARY = "canary-7c1e"
DAY, HOUR = datetime(2024, 1, 5), datetime(2024, 1, 5, 10)
READ = {  # integer, number, boolean, date, timestamp
    "3": (3, 3.0, None, None, None),
    "3.0": (3, 3.0, None, None, None),
    " +3. ": (3, 3.0, None, None, None),
    "-0": (0, 0.0, None, None, None),
    "0": (0, 0.0, False, None, None),
    "1": (1, 1.0, True, None, None),
    "1.5": (None, 1.5, None, None, None),
    "2.9999999999999999999999": (None, 3.0, None, None, None),
    "9223372036854775807.00": (2**63 - 1, 2.0**63, None, None, None),
    "9223372036854775808": (None, 2.0**63, None, None, None),
    "-9223372036854775808": (-(2**63), -(2.0**63), None, None, None),
    "0" * 400 + "1": (1, 1.0, None, None, None),
    "0x10": (None, None, None, None, None),
    "1e3": (None, 1000.0, None, None, None),
    "1e400": (None, float("inf"), None, None, None),
    "NaN": (None, None, None, None, None),
    "1,5": (None, None, None, None, None),
    "٣": (None, None, None, None, None),
    "true": (None, None, True, None, None),
    " Yes ": (None, None, True, None, None),
    "T": (None, None, True, None, None),
    "NO": (None, None, False, None, None),
    "f": (None, None, False, None, None),
    "maybe": (None, None, None, None, None),
    "2024-01-05": (None, None, None, DAY, DAY),
    " 2024-01-05 00:00:00 ": (None, None, None, DAY, DAY),
    "2024-01-05T10:00": (None, None, None, None, HOUR),
    "2024-01-05 11:00+01:00": (None, None, None, None, HOUR),
    "2024-01-05 00:00+01:00": (None, None, None, None, datetime(2024, 1, 4, 23)),
    "2024-02-30": (None, None, None, None, None),
    "infinity": (None, float("inf"), None, None, None),
    "10000-01-01": (None, None, None, None, None),
    "0000-12-31": (None, None, None, None, None),
    "0001-01-01": (None, None, None, datetime(1, 1, 1), datetime(1, 1, 1)),
    "": (None, None, None, None, None),
    CANARY: (None, None, None, None, None),
}
OTHER_THAN_TEXT = [kind for kind in TYPES if kind != "text"]


def write(path, values):
    path.write_text("v,w\n" + "".join(f'"{value}",1\n' for value in values), encoding="utf-8")
    return path


def read(path, kind):
    table = open_table(path, types={"v": kind})
    column = table.column("v", "query")
    return table.run(f"SELECT {column.reference.sql('duckdb')} AS v FROM data", [column]).column("v").to_pylist()


@pytest.mark.parametrize("kind", OTHER_THAN_TEXT)
def test_every_value_is_read_as_its_type_or_is_null(tmp_path, kind):
    place = OTHER_THAN_TEXT.index(kind)
    assert read(write(tmp_path / "t.csv", READ), kind) == [found[place] for found in READ.values()]


def test_text_is_read_as_it_stands(tmp_path):
    assert read(write(tmp_path / "t.csv", READ), "text") == [value or None for value in READ]


@pytest.mark.parametrize("kind", OTHER_THAN_TEXT)
def test_no_record_changes_how_another_is_read(tmp_path, kind):
    file = tmp_path / "t.csv"
    alone = [read(write(file, [value]), kind) for value in READ]
    assert read(write(file, READ), kind) == [value for (value,) in alone]
    assert read(write(file, reversed(READ)), kind) == [value for (value,) in reversed(alone)]


@pytest.mark.parametrize(("kind", "condition"), [
    ("number", "v > 0.5"),
    ("number", "v = 3"),
    ("timestamp", "v >= DATE '2024-01-05'"),
    ("timestamp", "v < TIMESTAMP '2024-01-05 10:00:00'"),
    ("text", "v = '3.0'"),
    ("text", "v LIKE '%e%'"),
])  # fmt: skip
def test_a_type_that_the_question_would_take_it_for_changes_no_answer(tmp_path, kind, condition):
    values = [value for value in READ if value not in ("infinity", "10000-01-01", "0000-12-31")]  # on no calendar
    file = write(tmp_path / "t.csv", values)
    counted = [
        count_records(table, condition=read_condition(condition, table.columns))
        for table in (open_table(file), open_table(file, types={"v": kind}))
    ]
    assert counted[0].yes.tolist() == counted[1].yes.tolist()
    assert counted[0].no.tolist() == counted[1].no.tolist()


def test_groups_bins_and_expressions_know_the_type(tmp_path):
    file = write(tmp_path / "t.csv", ["07", "7.0", "8", "x"])
    table = open_table(file, types={"v": "integer"})
    assert count_records(table, groups=read_groups(table, "v", [7, 8, 9])).total.tolist() == [2, 1, 0]
    as_text = open_table(file, types={"v": "text"})
    assert count_records(as_text, groups=read_groups(as_text, "v", ["07", "7"])).total.tolist() == [1, 0]
    with pytest.raises(BadInput, match="which is a whole number"):
        read_groups(table, "v", ["x"])
    asked = {"epsilon": 1, "types": {"v": "integer"}}
    assert plan(file, "count", by="h = v + 1", groups=[8], **asked).query.name == "count"  # no FLOOR needed
    with pytest.raises(BadInput, match="edges of numbers or dates"):
        plan(file, "median", "v", bins="1,2", epsilon=1, types={"v": "text"})
    with pytest.raises(BadInput, match="uses the column v both as"):
        plan(file, "count", "v = 'x'", **asked)


def test_types_are_part_of_the_question_of_the_columns_it_reads(tmp_path):
    file = write(tmp_path / "t.csv", ["1"])

    def question(condition="w = 1", **types):
        return plan(file, "count", condition, epsilon=1, types=types).question()

    assert question() == plan(file, "count", "w = 1", epsilon=1).question() == question(v="date")
    assert "types" not in json.loads(question())
    dated = "v < DATE '2024-01-05'"
    assert len({question(dated), question(dated, v="date"), question(dated, v="timestamp")}) == 3
    assert question("v = '1'", V="text") == question("v = '1'", v="text") != question("v = '1'")
    facts = json.loads(question("v > 1", v="integer"))
    assert (facts["types"], facts["columns"]) == ({"v": "integer"}, {"v": "a whole number"})
    reading = plan(file, "count", dated, epsilon=1, types={"v": "date", "w": "text"}).describe_reading()
    assert reading[0] == "v as date; values that do not fit are null"


def test_a_ledger_adds_up_releases_with_and_without_types(tmp_path):
    file = write(tmp_path / "t.csv", ["1", "2", "x"])
    ledger = irisdp.Ledger(tmp_path / "t.ledger")
    publish(file, "count", "v > 1", epsilon=1)
    publish(file, "count", "v > 1", epsilon=1, types={"v": "integer"})
    assert publish(file, "count", "v > 1", epsilon=1, types={"v": "integer"}).repeated
    publish(file, "count", "v > 1", epsilon=2, types={"v": "integer"})  # refines its own, not the other reading's
    assert ledger.spent.epsilon == 3


@pytest.mark.parametrize(("first", "then", "kept"), [
    (None, {"v": "date"}, True),
    (None, {"w": "text"}, True),
    ({"w": "text"}, None, True),
    (None, {"w": "integer"}, False),
    ({"w": "integer"}, None, False),
    ({"w": "date"}, {"w": "timestamp"}, False),
    ({"W": "integer"}, {"w": "integer", "v": "date"}, True),
])  # fmt: skip
def test_the_type_of_the_unit_says_who_is_one_person(tmp_path, first, then, kept):
    file = write(tmp_path / "t.csv", ["1", "2"])
    publish(file, "count", epsilon=1, unit="w", at_most=1, types=first)
    if kept:
        publish(file, "count", epsilon=2, unit="w", at_most=1, types=then)
        return
    with pytest.raises(ScopeRefused, match=r"holds otherwise the column w .* w says what the ledger protects"):
        publish(file, "count", epsilon=2, unit="w", at_most=1, types=then)
    assert irisdp.Ledger(tmp_path / "t.ledger").spent.epsilon == 1


def test_a_person_written_in_two_ways_is_one_person(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("u,v\n7,1\n7.0,1\n07,1\nnobody,1\n")
    counts = [
        count_records(open_table(file, types=types), unit=PrivacyUnit("u", bytes(32))).total.tolist()
        for types in (None, {"u": "integer"})
    ]
    assert counts == [[4], [1]]


def test_which_record_a_person_keeps_knows_no_types(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("u,v,w\n" + "".join(f"{person},{value},{value}.0\n" for person in range(40) for value in range(3)))
    plain = open_table(file)
    other = open_table(file, types={"w": "integer", "v": "text"})
    for key in (bytes([number]) * 32 for number in range(3)):
        kept = [
            count_records(
                table, groups=read_groups(table, "v", ["0", "1", "2"]), unit=PrivacyUnit("u", key)
            ).total.tolist()
            for table in (plain, other)
        ]
        assert kept[0] == kept[1]


REFUSED = {
    "no such type": ({"v": "tekst"}, "gives v the unknown type 'tekst'; did you mean text?"),
    "another word": ({"v": "int"}, "did you mean integer? choose from integer, number, text, boolean, date, timestamp"),
    "in capitals": ({"v": "DATE"}, "did you mean date?"),
    "no text": ({"v": 3}, "gives v the type as a value of int, not as text"),
    "no column": ({"x": "text"}, "names the column 'x', which the data does not have; choose from v, w"),
    "twice": ({"v": "text", "V": "text"}, "declares v twice"),
    "no file": ("none.json", "there is no file none.json"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_types_are_refused_in_one_line(tmp_path, case):
    types, said = REFUSED[case]
    file = write(tmp_path / "t.csv", [CANARY])
    with pytest.raises(BadInput) as refused:
        plan(file, "count", epsilon=1, types=types)
    assert str(refused.value).startswith("types: ")
    assert said in str(refused.value)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize("text", ["[]", '"age"', "{", '{"v": ["text"]}', "[" * 5000, '{"v": "text", "v": "text"}'])
def test_a_file_of_types_that_is_none_is_one_line(tmp_path, capsys, text):
    file, types = write(tmp_path / "t.csv", [CANARY]), tmp_path / "types.json"
    types.write_text(text)
    assert run(["publish", str(file), "count", "--epsilon", "1", "--types", str(types), "--dry-run"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("irisdp: --types: ")
    assert said.count("\n") == 1


def test_types_belong_to_text_files(tmp_path):
    pq.write_table(pa.table({"v": [1]}), tmp_path / "t.parquet")
    for data in (tmp_path / "t.parquet", pa.table({"v": ["1"]})):
        with pytest.raises(BadInput, match=r"types: belongs to \.csv, \.tsv and \.jsonl files"):
            plan(data, "count", epsilon=1, types={"v": "integer"})


def test_commands_sessions_and_batches_take_types(tmp_path, capsys):
    file, types = write(tmp_path / "t.csv", ["1", "2.0", CANARY]), tmp_path / "types.json"
    types.write_text('{"v": "integer"}')
    asked = ["publish", str(file), "count", "v > 1", "--epsilon", "40", "--types", str(types)]
    assert run([*asked, "--json"]) == 0
    shown = capsys.readouterr().out
    assert [row["answer"] for row in json.loads(shown)["answers"]] == [1]
    assert "v as integer" in shown
    assert CANARY not in shown
    for out in (types, tmp_path / "u.json"):
        assert run([*asked, "--out", str(out), "--force"]) == (2 if out == types else 0)
    assert "is the types, which is never written over" in capsys.readouterr().err
    assert run([*asked, "--ledger", str(types)]) == 2
    session = irisdp.Session(file, types=types)
    assert session.count("v > 1", epsilon=40).repeated
    with pytest.raises(BadInput, match="types: is named by the session"):
        session.count(epsilon=1, types={})
    questions = [{"query": "count", "expression": "v > 1"}]
    found = session.batch(questions, budget={"epsilon": 40})
    assert "v as integer" in found[0].plan.describe_reading()[0]
    document = {"data": str(file), "types": {"v": "integer"}, "budget": {"epsilon": 40}, "questions": questions}
    assert irisdp.batch(document).repeated
    with pytest.raises(BadInput, match="types: belongs to the plan"):
        irisdp.batch({**document, "questions": [{"query": "count", "types": {}}]})


# A plan and a release file say what every used column is read as, and how declared values were split.

TEXT = "zip,age,town\n01234,70,a\n1234,30,b\n"
FRAME = {"zip": ["01234", "1234"], "age": [70, 30], "town": ["a", "b"]}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    return path


def said(data, *words, **options):
    """Return the line that says what columns are read as."""
    return irisdp.plan(data, *words, epsilon=1, **options).describe_reading()[0]


ZIP = "zip as text (exact spelling)"
UNKNOWN = "; values that do not fit are null"


@pytest.mark.parametrize(
    ("words", "options", "line"),
    [
        (["count", "age > 64"], {"by": "zip", "groups": "01234"}, f"{ZIP}, age as a number{UNKNOWN}"),
        (["count", "zip = 01234"], {}, "zip as text"),
        (["count", "zip = 1234"], {}, f"zip as a number{UNKNOWN}"),
        (["count", "zip > 5"], {"by": "zip", "groups": "1"}, f"{ZIP} and as a number{UNKNOWN}"),
        (["sum", "age"], {"lower": 0, "upper": 9, "step": 1, "unit": "zip", "at_most": 1},
         f"age as a number, zip as text{UNKNOWN}"),
        (["count"], {"by": "d = FLOOR(age / 10)", "groups": [1]}, f"age as a number{UNKNOWN}"),
        (["median", "age"], {"bins": "0,40"}, f"age as a number{UNKNOWN}"),
        (["histogram", "age"], {"bins": "2020-01-01"}, f"age as a date{UNKNOWN}"),
        (["plurality", "town"], {"categories": "a,b"}, "town as text (exact spelling)"),
        (["count-distinct", "zip"], {}, "zip as text"),
        (["count"], {"by": "town", "select_groups": True, "delta": "1e-3"}, "town as text"),
        (["count", "age > 64"], {"types": {"age": "integer"}}, f"age as integer{UNKNOWN}"),
        (["count", "CAST(zip AS INT) = 1 AND town IS NULL"], {}, "town as text, zip as text"),
    ],
)  # fmt: skip
def test_every_used_column_is_named_with_what_it_is_read_as(table, words, options, line):
    assert said(table, *words, **options) == line


def test_the_line_stands_for_every_kind_of_source(tmp_path):
    pq.write_table(pa.table(FRAME), tmp_path / "t.parquet")
    (tmp_path / "t.jsonl").write_text('{"zip": "01234", "age": 70}\n')
    with closing(sqlite3.connect(tmp_path / "t.db")) as database:
        database.execute("CREATE TABLE t (zip TEXT, age INTEGER)")
    types = {"types": {"zip": "text", "age": "integer"}}
    sources = [(tmp_path / "t.parquet", {}), (pd.DataFrame(FRAME), {}), (pl.DataFrame(FRAME), {})]
    sources += [(tmp_path / "t.jsonl", types), (f"sqlite:///{tmp_path}/t.db#t", {})]
    for data, options in sources:
        line = said(data, "count", "age > 64", by="zip", groups="01234", **options)
        assert line.startswith("zip as text (exact spelling), age as "), line


def test_the_release_file_says_it_and_names_the_split_values(table):
    irisdp.publish(table, "plurality", "town", categories="Yes, often, No", epsilon=1, out=table.with_name("o.csv"))
    reading = json.loads(table.with_name("o.csv.release.json").read_text())["reading"]
    assert reading.startswith("town as text (exact spelling); as UTF-8 text, separated by commas")
    assert '3 categories as declared: "Yes" · "often" · "No"' in reading


@pytest.mark.parametrize(
    ("groups", "listed"),
    [
        ('"Yes, often",No', '2 groups as declared: "Yes, often" · "No"'),
        ('" north",south', '2 groups as declared: " north" · "south"'),
        ("'a','b'", """2 groups as declared: "'a'" · "'b'\""""),
        ([" a", "b"], '2 groups as declared: " a" · "b"'),
        (["a,b"], '1 group as declared: "a,b"'),
        ("a,b", None),
        (["a", "b"], None),
    ],
)
def test_values_are_listed_where_another_split_may_have_been_meant(table, groups, listed):
    notes = [note.fact for note in irisdp.plan(table, "count", by="town", groups=groups, epsilon=1).asked.notes]
    assert notes == ([] if listed is None else [listed])


def test_blanks_in_quotes_belong_to_the_value(tmp_path):
    (tmp_path / "t.csv").write_text("town,x\n a,1\na,2\na,3\n")
    found = irisdp.publish(tmp_path / "t.csv", "count", by="town", groups='" a", a ', epsilon=500)
    assert found.answers.values == [1, 2]


@pytest.mark.parametrize("text", ["['a', 'b']", '["a", "b"]', "('a','b')", "[a,b]", "{'a'}", "[]", "(0,5)"])
def test_a_list_written_as_text_is_refused(table, text):
    with pytest.raises(BadInput, match="groups: is a list written as text"):
        irisdp.plan(table, "count", by="town", groups=text, epsilon=1)


@pytest.mark.parametrize("text", ["[0,5),[5,10)", '"[0,5]","(5,9]"', "(a) yes,(b) no"])
def test_values_in_brackets_of_their_own_are_no_list(table, text):
    assert irisdp.plan(table, "count", by="town", groups=text, epsilon=1).groups


def test_one_category_with_commas_in_a_list_is_told_how_to_be_several(table):
    with pytest.raises(BadInput, match=r"must be from 2 to 100, not 1; .*categories='a,b'"):
        irisdp.plan(table, "plurality", "town", categories=["a,b"], epsilon=1)


@pytest.mark.parametrize(("words", "options", "name"), [
    (["count"], {"by": "town", "groups": "Zürich,Bern"}, "Zürich"),
    (["plurality", "town"], {"categories": ["Bern", "Genève"]}, "Genève"),
    (["count", "town = 'Łódź'"], {}, "Łódź"),
    (["count", "town LIKE 'Mün%'"], {}, "Mün%"),
    (["count"], {"by": "c = CASE town WHEN 'Köln' THEN 'k' END", "groups": "k"}, "Köln"),
])  # fmt: skip
def test_a_name_beyond_ascii_asked_of_a_utf_8_file_gets_a_note_on_the_encoding(table, words, options, name):
    noted = f'with "{name}" as UTF-8; if the file is written in another encoding, name it, as in encoding=windows-1252'
    for content in (TEXT.encode(), "zip,age,town\n1,2,Zürich\n".encode("latin-1")):  # what is in it changes nothing
        table.write_bytes(content)
        assert noted in irisdp.plan(table, *words, epsilon=1, **options).describe_reading()
    other = irisdp.plan(table, *words, epsilon=1, encoding="latin-1", **options).describe_reading()
    frame = irisdp.plan(pl.DataFrame(FRAME), *words, epsilon=1, **options).describe_reading()
    assert not any("another encoding" in line for line in [*other, *frame])


def test_the_command_names_the_option(table):
    asked = ["publish", str(table), "count", "--by", "town", "--groups", "Zürich", "--epsilon", "1"]
    for more in (["--dry-run"], []):
        assert "name it, as in --encoding windows-1252" in CliRunner().invoke(app, [*asked, *more]).output


@pytest.mark.parametrize("code", ["01234", "1E2", "5.", "+5", "-05", "1e2", "00"])
def test_a_number_written_as_a_code_is_compared_as_text(table, code):
    for condition in (f"zip = {code}", f"zip IN ({code}, 7)", f"CASE zip WHEN {code} THEN TRUE END"):
        planned = irisdp.plan(table, "count", condition, epsilon=1)
        assert f"'{code}'" in planned.condition.text
        assert planned.condition.readings == (("zip", "text"),)
        assert planned.question() == irisdp.plan(table, "count", planned.condition.text, epsilon=1).question()


@pytest.mark.parametrize("condition", ["age = 64", "age > 064", "age <> 2.50 AND age > 1", "age + 1 = 01", "age = 0.5"])
def test_what_is_computed_with_or_compared_by_size_stays_a_number(table, condition):
    assert irisdp.plan(table, "count", condition, epsilon=1).condition.readings == (("age", "a number"),)


def test_numbers_declared_in_python(table):
    assert irisdp.plan(table, "count", by="zip", groups=[1234], epsilon=1).groups.labels == ((1234,),)
    with pytest.raises(BadInput, match=r"has the number 1\.5 for age, which is read as text"):
        irisdp.plan(table, "count", by="age", groups=[1.5], epsilon=1)
    mixed = pd.DataFrame({"age": pd.Series([1, 1.5, "x", 1.0], dtype=object)})
    planned = irisdp.plan(mixed, "count", by="age", groups=[1.5, 1.0], epsilon=1)
    assert planned.query.statistics(planned.table, condition=None, groups=planned.groups, unit=None).total.tolist() == [
        2,
        1,
    ]


# An instant is in UTC however it is written: in text, in typed columns, in conditions and in declared groups.
#
# Every test here failed on what it mends: offsets in text were dropped, and one instant fell on two days.

TEXTS = (
    "2023-07-01T00:30:00+01:00", "2023-06-30T23:30:00Z", "2023-06-30 18:30:00-05:00", "2023-07-01T00:30:00+0100",
    "2023-07-01 00:30:00+01", "2023-06-30 23:30:00", "2023-06-30T23:30", " 2023-06-30 23:30:00 ",
)  # fmt: skip
"""One instant."""

DAY_INSTANTS = "DATE '2023-06-30'"
FORMS = (
    f"CAST(t AS TIMESTAMP) < {DAY_INSTANTS}",  # none
    *(f"CAST(t AS TIMESTAMP) = '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) = TIMESTAMP '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) >= '{text}'" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) IN ('2020-01-01', '{text}')" for text in TEXTS),
    *(f"CAST(t AS TIMESTAMP) BETWEEN '{text}' AND '2023-07-01'" for text in TEXTS),
    *(f"CAST(t AS DATE) = CAST('{text}' AS DATE)" for text in TEXTS),
    f"CAST(t AS DATE) = {DAY_INSTANTS}",
    "day(CAST(t AS DATE)) = 30 AND month(CAST(t AS TIMESTAMP)) = 6",
    f"CAST(CAST(t AS TIMESTAMP) AS DATE) = {DAY_INSTANTS}",
    "CAST(CAST(t AS TIMESTAMP) AS VARCHAR) = '2023-06-30 23:30:00'",
)
UNTYPED = (
    *(f"t = TIMESTAMP '{text}'" for text in TEXTS),
    f"t >= {DAY_INSTANTS} AND t < DATE '2023-07-01'",
    "day(t) = 30",
)


def tables(folder):
    """Yield every reader's table of one instant written in all ways, and whether it is untyped."""
    (folder / "t.csv").write_text("t,x\n" + "".join(f"{text},\n" for text in TEXTS))
    yield str(folder / "t.csv"), True
    frame = pa.table({"t": TEXTS})
    pq.write_table(frame, folder / "t.parquet")
    yield from ((data, False) for data in (frame, pl.from_arrow(frame), str(folder / "t.parquet")))
    yield frame.to_pandas().astype(object), True
    yield frame.to_pandas().astype("category"), True
    instants = [datetime(2023, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=1)))] * len(TEXTS)
    yield pd.DataFrame({"t": pd.Series(instants, dtype=object)}), True
    yield pa.table({"t": pa.array(instants, pa.timestamp("s", "Europe/London"))}), False


READERS = 8
"""Tables below."""


@pytest.mark.parametrize("number", range(READERS))
def test_every_reader_and_every_form_finds_one_instant(number, tmp_path):
    readers = list(tables(tmp_path))
    assert len(readers) == READERS
    data, untyped = readers[number]
    table = open_table(data)
    for form in (*FORMS, *UNTYPED) if untyped else FORMS:
        expected = 0 if form is FORMS[0] else len(TEXTS)
        found = count_records(table, condition=read_condition(form, table.columns))
        assert (form, found.yes.tolist(), found.no.tolist()) == (form, [expected], [len(TEXTS) - expected])


def test_conditions_and_declared_groups_name_one_instant():
    table = open_table(pa.table({"t": pa.array([datetime(2023, 6, 30, 23, 30)])}))
    for text in TEXTS:
        assert count_records(table, groups=read_groups(table, "t", [text])).total.tolist() == [1]
        assert count_records(table, condition=read_condition(f"t = '{text}'", table.columns)).yes.tolist() == [1]


def test_text_that_is_compared_as_text_stays_text():
    table = open_table(pa.table({"t": TEXTS}))
    for text in TEXTS:
        assert count_records(table, condition=read_condition(f"t = '{text}'", table.columns)).yes.tolist() == [1]


@settings(max_examples=tried(40, 100), deadline=None)
@given(
    st.datetimes(datetime(1900, 1, 2), datetime(2100, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
    st.sampled_from("T "),
    st.sampled_from(["=", "<", ">="]),
)
def test_one_instant_is_one_question(moment, minutes, between, sign):
    columns = [Column("t", ColumnType.DATE), Column("u", ColumnType.UNTYPED)]
    plain = str(moment)
    shifted = moment.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes))).isoformat(between)
    forms = [f"t {sign} {word}'{text}'" for text in (plain, shifted) for word in ("", "TIMESTAMP ")]
    assert len({read_condition(form, columns).text for form in forms}) == 1
    forms = [f"u {sign} TIMESTAMP '{text}'" for text in (plain, shifted)]
    assert len({read_condition(form, columns).sql() for form in forms}) == 1
    (stated,) = {read_condition(form, columns).text for form in forms}
    assert read_condition(stated, columns).text == stated
    midnight = moment.date()
    forms = [f"t {sign} {day}" for day in (f"'{midnight}'", f"'{midnight} 00:00:00'", f"DATE '{shifted[:10]}'")]
    texts = {read_condition(form, columns).text for form in forms[: 3 if shifted[:10] == str(midnight) else 2]}
    assert len(texts) == 1


@pytest.mark.parametrize("text", ["abc", "2023-02-30", "2023-07-01T00:30:00.1234567", "infinity", ""])
def test_a_date_that_is_none_is_refused(text):
    columns = [Column("t", ColumnType.DATE)]
    for form in (f"t = '{text}'", f"t > DATE '2023-01-01' AND t IN ('{text}')", f"day('{text}') = 1"):
        with pytest.raises(BadInput, match=r"takes .* for a date, .*; write dates as"):
            read_condition(form, columns)


def test_spark_casts_no_text_in_its_session_s_zone():
    columns = [Column("t", ColumnType.UNTYPED)]
    for form in (f"t > {DAY_INSTANTS}", "CAST(CAST(CAST(t AS DATE) AS VARCHAR) AS DATE) IS NULL"):
        statement = spark_statement(
            f"SELECT {read_condition(form, columns).sql()} FROM data", {"data": "v"}, {"t": "column_0"}
        )
        depth = form.count("AS DATE") or 1
        assert statement.count("UNIX_MICROS(TRY_CAST(REGEXP_EXTRACT(") == statement.count(" AS TIMESTAMP_LTZ)") == depth
