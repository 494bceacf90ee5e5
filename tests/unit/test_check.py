"""`irisdp check`: planted faults are named, with the option that mends each; nothing is written."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._release import check_data

pytestmark = pytest.mark.usefixtures("one_engine")


def table(**columns):
    """Write a CSV file of 40 records, in which columns are as given, the last of their values again and again."""
    columns = {"id": [f"p{n}" for n in range(40)], "age": [str(20 + n % 50) for n in range(40)], **columns}
    rows = [list(columns)]
    for n in range(40):
        rows.append([values[min(n, len(values) - 1)] for values in columns.values()])
    return [",".join(f'"{value}"' if "," in value else value for value in row) for row in rows]


def text(lines):
    return "".join(f"{line}\n" for line in lines)


def many(*odd, usual):
    return [usual(n) for n in range(40 - len(odd))] + list(odd)


WHOLE = table()
PLANTED = {
    "decimal commas": (table(pay=many(usual=lambda n: f"{n},5")), {}, "decimal=','"),
    "German numbers": (table(pay=many(usual=lambda n: f"1.{n + 100},5")), {}, "decimal=',' and thousands=\".\""),
    "commas between thousands": (table(pay=many(usual=lambda n: f"{n + 1},250.5")), {}, 'thousands=","'),
    "blanks between thousands": (table(pay=many(usual=lambda n: f"{n + 1} 250")), {}, 'thousands=" "'),
    "full stops between thousands": (
        table(pay=many(usual=lambda n: f"{n + 1}.250")),
        {},
        "decimal=',' and thousands='.'",
    ),
    "German dates": (table(born=many(usual=lambda n: f"{n % 28 + 1}.12.1999")), {}, "date_format='%d.%m.%Y'"),
    "American dates": (table(born=many(usual=lambda n: f"12/{n % 28 + 1}/1999")), {}, "date_format='%m/%d/%Y'"),
    "ambiguous dates": (table(born=["01/02/1999", "02/03/1999"]), {}, "both fit all values"),
    "one date in another format": (
        table(born=many("3.4.1999", usual=lambda n: f"1999-12-{n % 28 + 1:02}")),
        {},
        "several formats",
    ),
    "lines above the header": (["A report", "by us", *WHOLE], {}, "skip_rows=2"),
    "no header": (WHOLE[1:], {}, "no_header=True, columns="),
    "a second row of the header": (
        [WHOLE[0], "the person,in years", *[f"{n},{n}" for n in range(40)]],
        {},
        "header_rows=2",
    ),
    "a total at the end": ([*WHOLE, "Total,1790"], {}, "footer_rows=1"),
    "a source at the end": ([*WHOLE, "", "Source: our office"], {}, "footer_rows=1"),
    "comments": ([*WHOLE[:3], "# checked,1", *WHOLE[3:]], {}, "comment='#'"),
    "row names without a name": (["a,b", *[f"r{n},{n},{n}" for n in range(40)]], {}, "row_names=True"),
    "row names with an empty name": ([",a,b", *[f"r{n},{n},{n}" for n in range(40)]], {}, "row_names=True"),
    "a short record": ([*WHOLE[:20], "p99", *WHOLE[20:]], {}, "1 record has fewer fields"),
    "a long record": ([*WHOLE[:20], "p99,7,8", *WHOLE[20:]], {}, "1 record has more fields"),
    "an unclosed quote": ([*WHOLE[:20], '"p99,7', *WHOLE[20:]], {}, "does not close it"),
    "a code of -9": (table(age=many("-9", "-9", usual=lambda n: str(20 + n))), {}, "missing_codes='-9'"),
    "a code of 999": (table(age=many("999", usual=lambda n: str(20 + n))), {}, "missing_codes='999'"),
    "NA": (table(age=many("NA", usual=lambda n: str(20 + n))), {}, "missing_codes='NA'"),
    "an error of a spreadsheet": (table(age=many("#DIV/0!", usual=lambda n: str(20 + n))), {}, "#DIV/0!"),
    "case": (table(town=["Ely", "ELY", "York"]), {}, "'ELY' = 'Ely'"),
    "blanks": (table(town=["Ely", " Ely", "York"]), {}, "' Ely' = 'Ely'"),
    "leading zeros": (table(ward=["01", "1", "2"]), {}, "'01' = '1'"),
    "codes with leading zeros": (table(zip=many(usual=lambda n: f"0{n + 1000}")), {}, "declare the type text"),
    "a currency": (table(pay=many(usual=lambda n: f"{n} €")), {}, "a sign or a unit"),
    "a word among numbers": (table(age=many("old", usual=lambda n: str(20 + n))), {}, "age: 1 value cannot be read"),
    "a column without values": (table(empty=[""]), {}, "empty has no value in any record"),
    "a column without a name": (["id,,age", *[f"p{n},x,{n}" for n in range(40)]], {}, "no name for column 2"),
    "persons twice": (
        [*WHOLE, WHOLE[7], WHOLE[7]],
        {"unit": "id"},
        "1 of 40 persons (id) have several records, up to 3",
    ),
    "a person without a name": ([*WHOLE, ",7"], {"unit": "id"}, "1 record has no id"),
    "a person in two spellings": ([*WHOLE, "P7,7"], {"unit": "id"}, "differ from others in blanks or case alone"),
    "a fraction among whole numbers": (
        table(age=["1", "2.5"]),
        {"types": {"age": "integer"}},
        "declare the type number",
    ),
    "long numbers": (table(card=many(usual=lambda n: f"4000123412341{n + 100}")), {}, "more than 15 digits"),
    "control characters": (table(town=["Ely", "Yo\x01rk"]), {}, "control characters"),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_named(fault, tmp_path):
    lines, options, said = PLANTED[fault]
    (tmp_path / "t.csv").write_text(text(lines), "utf-8")
    found = check_data(tmp_path / "t.csv", **options)
    assert any(said in warning for warning in found.warnings), found.warnings
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_table_without_faults_has_no_warnings(tmp_path):
    lines = table(town=["Ely", "York"], born=many(usual=lambda n: f"1999-12-{n % 28 + 1:02}"), pay=["1.5", "2", "-3e2"])
    (tmp_path / "t.csv").write_text(text(lines))
    found = check_data(tmp_path / "t.csv", unit="id")
    assert found.warnings == ()
    kinds = ["text", "a number", "text", "a date", "a number"]
    assert [each.read_as for each in found.columns] == [f"untyped; looks like {kind}" for kind in kinds]


IN_BYTES = {
    "another encoding": ("id,town\n1,Köln\n2,Ely\n".encode("cp1252"), {}, "encoding=windows-1252"),
    "the wrong encoding": ("id,town\n1,Köln\n2,Ely\n".encode(), {"encoding": "cp1252"}, "encoding=utf-8"),
}
REFUSED = {
    "another delimiter": (b"id;age\n1;2\n", r'delimiter=";"'),
    "UTF-16": ("id,age\n1,2\n".encode("utf-16"), "written in UTF-16"),
    "a workbook": (b"PK\3\4", "a workbook"),
    "two columns of one name": (b"id,id\n1,2\n", "two columns of one name"),
    "an empty line above": (b"\nid,age\n1,2\n", "skip_rows=1"),
    "sep=": (b"sep=;\nid;age\n1;2\n", "skip_rows=1"),
    "old line ends": (b"id,age\r1,2\r", "carriage return"),
}


@pytest.mark.parametrize("fault", IN_BYTES)
def test_bytes_of_another_encoding_are_named(fault, tmp_path):
    content, options, said = IN_BYTES[fault]
    (tmp_path / "t.csv").write_bytes(content)
    assert any(said in warning for warning in check_data(tmp_path / "t.csv", **options).warnings)


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_opened_is_refused_with_the_remedy(fault, tmp_path):
    content, said = REFUSED[fault]
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(BadInput, match=said):
        check_data(tmp_path / "t.csv")


def test_counts_are_those_of_another_program(tmp_path):
    lines = ["a,b", "1,x", "2", "3,y,z", "x,", ",q", "99,w", "1e3,v"]
    (tmp_path / "t.csv").write_bytes(text(lines).encode() + b"4,\xff\n")
    found = check_data(tmp_path / "t.csv", types={"a": "integer"}, missing_codes="99").to_document()
    assert (found["private"], found["records"], found["short"], found["long"]) == (True, 8, 1, 1)
    assert found["undecodable"] == 1
    a, b = found["columns"]
    assert (a["read_as"], a["empty"], a["unreadable"]) == ("integer without the codes 99", 2, 2)
    assert sorted(a["examples"]) == ["1e3", "x"]
    assert (b["read_as"], b["empty"], b["unreadable"]) == ("untyped; looks like text", 2, 0)


def test_declared_formats_mend_what_was_named(tmp_path):
    (tmp_path / "t.csv").write_text(text(table(pay=many(usual=lambda n: f"1.{n + 100},5"))))
    found = check_data(tmp_path / "t.csv", decimal=",", thousands=".")
    assert found.warnings == ()
    assert found.columns[2].unreadable == 0


def test_many_blocks_and_compressed_files_are_counted_once(tmp_path):
    lines = text(f"{n % 90},{'x' * 40}" for n in range(120_000))
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("age,word\n" + lines + "old,y,z\n")
    found = check_data(tmp_path / "t.csv.gz")
    assert (found.records, found.long, found.columns[0].unreadable) == (120_001, 1, 1)
    assert found.columns[0].examples == ("old",)


def test_other_tables_are_checked_by_their_types(tmp_path):
    frame = pa.table({"id": ["a", "a", None], "n": [1, None, 3], "none": pa.nulls(3, pa.string())})
    found = check_data(frame, unit="id")
    assert [each.empty for each in found.columns] == [1, 1, 3]
    assert any("none has no value" in warning for warning in found.warnings)
    (tmp_path / "t.jsonl").write_text('{"n": 1}\n{"n": "x"}\n')
    assert check_data(tmp_path / "t.jsonl", types={"n": "integer"}).columns[0].unreadable == 1


def test_the_command_the_session_and_their_silence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(text([*WHOLE, "Total,1790"]))
    assert run(["check", "t.csv", "--unit", "id"]) == 0
    shown = capsys.readouterr().out
    assert "For you, not for publication" in shown
    assert "--footer-rows 1" in shown
    assert run(["check", "t.csv", "--footer-rows", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["private", "records", "short", "long", "undecodable", "columns", "warnings"]
    assert document["records"] == 40
    assert os.listdir() == ["t.csv"]
    session = irisdp.Session("t.csv", footer_rows=1)
    before = sorted(os.listdir())
    assert session.check().to_document() == document
    assert repr(session.check()) == "<TableCheck: for the data owner, not for publication>"
    assert sorted(os.listdir()) == before


def test_init_writes_the_types_that_fit_where_it_is_asked_to(tmp_path):
    lines = table(pay=many(usual=lambda n: f"{n},5"), born=["1999-12-31"], mixed=["1", "x"])
    (tmp_path / "t.csv").write_text(text(lines))
    plain = irisdp.init_project(tmp_path / "t.csv", decimal=",").read_text("utf-8")
    assert "no record was read" in plain
    assert '#"age" = "text"' in plain
    found = irisdp.init_project(tmp_path / "t.csv", decimal=",", check=True, force=True)
    said = found.read_text("utf-8")
    assert 'decimal = ","' in said
    assert '"age" = "number"' in said
    assert '"pay" = "number"' in said
    assert '"born" = "date"' in said
    assert '#"mixed" = "text"' in said
    assert "by a look at all records" in said
    assert irisdp.plan(tmp_path / "t.csv", "count", "pay > 1", epsilon=1).table.types["pay"].type == "number"
