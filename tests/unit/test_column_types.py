"""Declared types of text files: how every value is read, by itself; what a ledger makes of them; what is refused."""

import json
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, ScopeRefused, plan, publish
from irisdp._cli import run
from irisdp._queries import PrivacyUnit, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.column_types import TYPES
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

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


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ("number", "v > 0.5"),
        ("number", "v = 3"),
        ("timestamp", "v >= DATE '2024-01-05'"),
        ("timestamp", "v < TIMESTAMP '2024-01-05 10:00:00'"),
        ("text", "v = '3.0'"),
        ("text", "v LIKE '%e%'"),
    ],
)
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
    assert reading[0] == "v as date; what cannot be read so is unknown"


def test_a_ledger_adds_up_releases_with_and_without_types(tmp_path):
    file = write(tmp_path / "t.csv", ["1", "2", "x"])
    ledger = irisdp.Ledger(tmp_path / "t.ledger")
    publish(file, "count", "v > 1", epsilon=1)
    publish(file, "count", "v > 1", epsilon=1, types={"v": "integer"})
    assert publish(file, "count", "v > 1", epsilon=1, types={"v": "integer"}).repeated
    publish(file, "count", "v > 1", epsilon=2, types={"v": "integer"})  # refines its own, not the other reading's
    assert ledger.spent.epsilon == 3


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [
        (None, {"v": "date"}, True),
        (None, {"w": "text"}, True),
        ({"w": "text"}, None, True),
        (None, {"w": "integer"}, False),
        ({"w": "integer"}, None, False),
        ({"w": "date"}, {"w": "timestamp"}, False),
        ({"W": "integer"}, {"w": "integer", "v": "date"}, True),
    ],
)
def test_the_type_of_the_unit_says_who_is_one_person(tmp_path, first, then, kept):
    file = write(tmp_path / "t.csv", ["1", "2"])
    publish(file, "count", epsilon=1, unit="w", at_most=1, types=first)
    if kept:
        publish(file, "count", epsilon=2, unit="w", at_most=1, types=then)
        return
    with pytest.raises(ScopeRefused, match=r"uses columns w \(\w+\); you asked for columns w \(\w+\)"):
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
