"""`irisdp check`: planted faults are named, with the option that mends each; nothing is written."""

import gzip
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        "in several formats: ISO 8601 ('1999-12-01'), %d.%m.%Y ('3.4.1999')",
    ),
    "lines above the header": (["A report", "by us", *WHOLE], {}, "skip_rows=2"),
    "no header": (WHOLE[1:], {}, "no_header=True, columns=…"),
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
    "a word among numbers": (
        table(age=many("old", usual=lambda n: str(20 + n))),
        {},
        "age: Iris cannot read 1 value as a number ('old'): if it means a missing value, say missing_codes='old'",
    ),
    "a column without values": (table(empty=[""]), {}, "empty has no value in any record"),
    "a column without a name": (["id,,age", *[f"p{n},x,{n}" for n in range(40)]], {}, "no name for column 2"),
    "persons twice": (
        [*WHOLE, WHOLE[7], WHOLE[7]],
        {"unit": "id"},
        "1 of 40 persons (id) has several records, up to 3: choose at_most=…, per_unit=… or person=… for them.",
    ),
    "a person without a name": ([*WHOLE, ",7"], {"unit": "id"}, "1 record has no id"),
    "a person in two spellings": (
        [*WHOLE, "P7,7"],
        {"unit": "id"},
        "1 person (id) differs from others in blanks or case alone",
    ),
    "a fraction among whole numbers": (
        table(age=["1", "2.5"]),
        {"types": {"age": "integer"}},
        "declare the type number",
    ),
    "long numbers": (table(card=many(usual=lambda n: f"4000123412341{n + 100}")), {}, "more than 15 digits"),
    "control characters": (table(town=["Ely", "Yo\x01rk"]), {}, "control characters"),
    "a code far below": (table(age=many("-99", usual=lambda n: str(20 + n))), {}, "missing_codes='-99'"),
    "codes just above": (table(age=many("88", "99", usual=lambda n: str(20 + n))), {}, "missing_codes='88,99'"),
    "codes on both sides": (
        table(t=many("-99", "999", usual=lambda n: f"{n - 20}.5")),
        {},
        "missing_codes='-99,999'",
    ),
    "a code with a decimal comma": (
        table(t=many("-99,0", usual=lambda n: f"{n},5")),
        {},
        "if it is a code for missing values, say missing_codes='-99'",
    ),
    "a code with decimals": (table(t=many("-99.00", usual=lambda n: f"{n}.25")), {}, "missing_codes='-99.00'"),
    "a code of nines": (table(t=many("999.9", usual=lambda n: f"{n}.2")), {}, "missing_codes='999.9'"),
    "a frequent code": (
        table(pay=many(*["999"] * 10, usual=lambda n: str(901 + 7 * n))),
        {},
        "far more often: if it is a code for missing values, say missing_codes='999'",
    ),
    "codes beyond a scale": (table(q=many("8", "9", "9", usual=lambda n: str(n % 5 + 1))), {}, "missing_codes='8,9'"),
    "codes of a declared column": (
        table(age=many("-9", usual=lambda n: str(20 + n))),
        {"types": {"age": "integer"}},
        "missing_codes='-9'",
    ),
    **{
        f"{word} for a number": (table(age=many(word, usual=lambda n: str(20 + n))), {}, f"missing_codes='{word}'")
        for word in ("k. A.", "n/a", "keine Angabe", ".", "?", "--", "NULL", "unknown", "Refused", "\u2014", "nan")
    },
    **{
        f"{word} for a date": (
            table(born=many(word, usual=lambda n: f"1999-12-{n % 28 + 1:02}")),
            {},
            f"missing_codes='{word}'",
        )
        for word in ("k. A.", "n/a", ".", "unbekannt")
    },
    "a word that means a missing value": (
        table(age=many(*["verweigert"] * 15, usual=lambda n: str(20 + n))),
        {},
        "if it means a missing value, say missing_codes='verweigert'",
    ),
    "a code with an apostrophe": (
        table(age=many("don't know", usual=lambda n: str(20 + n))),
        {},
        'missing_codes="don\'t know"',
    ),
    "comments above the header": (
        ["# exported, by us", "# in 2024", *WHOLE],
        {},
        "first line begins with #: if that marks comments, say comment='#'",
    ),
    "comments of one word above the header": (["# exported", "# in 2024", *WHOLE], {}, "comment='#'"),
    "a comment of one field": ([*WHOLE[:3], "# checked", *WHOLE[3:]], {}, "1 record begins with # ('# checked')"),
    "comments with slashes": (
        [*WHOLE[:3], "// checked,1", *WHOLE[3:], "// done"],
        {},
        "2 records begin with // ('// checked,1'): if they are comments, say comment='//'",
    ),
    "a comment at the end": ([*WHOLE, "# end of file"], {}, "comment='#'"),
    "dates with a half of the day": (
        table(seen=many(usual=lambda n: f"1/{n % 28 + 1}/24 9:15 AM")),
        {},
        "date_format='%m/%d/%y %I:%M %p'",
    ),
    "dates with short months": (table(seen=many(usual=lambda n: f"{n % 28 + 1}-Jan-24")), {}, "date_format='%d-%b-%y'"),
    "dates with German months": (
        table(seen=many(usual=lambda n: f"{n % 28 + 1}. Mai {2024}")),
        {},
        "no format reads: formats know the English names of months alone. Write them in the file as 2024-12-31",
    ),
    "days first and months first": (
        table(seen=many("31/12/2024", "30/12/2024", usual=lambda n: f"12/{n % 28 + 1}/2024")),
        {},
        "Some put the day first, some the month",
    ),
    "years of two and of four digits": (
        table(seen=many("1.12.99", usual=lambda n: f"{n % 28 + 1}.12.1999")),
        {},
        "%d.%m.%Y ('1.12.1999'), %d.%m.%y ('1.12.99'). No option reads several",
    ),
    "numbers that are dates": (
        table(seen=many(usual=lambda n: f"202412{n % 28 + 1:02}")),
        {},
        "date_format='%Y%m%d'",
    ),
    "a word among dates": (
        table(born=many("later", usual=lambda n: f"1999-12-{n % 28 + 1:02}")),
        {},
        "cannot read 1 value as a date ('later')",
    ),
    "records that occur twice": ([*WHOLE, WHOLE[7], WHOLE[9]], {}, "2 records equal an earlier one in every column"),
    "one record that occurs twice": ([*WHOLE, WHOLE[7]], {}, "1 record equals an earlier one in every column: if it"),
    "an id that repeats": ([*WHOLE, "p7,60"], {}, "Column 'id' repeats values: give unit='id'"),
    "codes that repeat": (
        table(case=many("AB-07", usual=lambda n: f"AB-{n:02}")),
        {},
        "Column 'case' repeats values: give unit='case'",
    ),
    "numbers of records that repeat": (
        table(nr=many("7", usual=lambda n: str(n + 1))),
        {},
        "Column 'nr' repeats values: give unit='nr'",
    ),
    "two names for one thing": (["id,age,AGE", *[f"p{n},{n},{n + 1}" for n in range(40)]], {}, "columns 2 and 3"),
    "dollars": (table(pay=many(usual=lambda n: f"${n}.50")), {}, 'use "number = CAST(SUBSTR(pay, 2) AS DOUBLE)"'),
    "per cent": (table(share=many(usual=lambda n: f"{n}.3%")), {}, "no option reads them. Write the numbers alone"),
    "euros with blanks": (table(pay=many(usual=lambda n: f"{n + 1} 200 €")), {}, "no option reads them"),
    "kilograms": (table(mass=many(usual=lambda n: f"{n} kg")), {}, "no option reads them"),
    "one unit": (table(mass=many("12 kg", usual=str)), {}, "mass holds numbers with a sign or a unit"),
    "two decimal marks": (
        table(pay=many("1,5", "2,5", "3,5", usual=lambda n: f"{n}.5")),
        {},
        "no option reads two decimal marks in one column",
    ),
    "a title with all delimiters": (
        ["A report,,", "id,age,town", *[f"p{n},{n},Ely" for n in range(40)]],
        {},
        "skip_rows=1",
    ),
    "three rows of header": (
        [WHOLE[0], "Who?,How old?", '"{""ImportId"":""Q1""}","{""ImportId"":""Q2""}"', *WHOLE[1:]],
        {},
        "header_rows=3",
    ),
    "a source in a wide table": (
        ["id,age,town,born", *[f"p{n},{n},Ely,1999" for n in range(40)], "Source: our office,,,"],
        {},
        "footer_rows=1",
    ),
    "a total of semicolons": (
        ["id;age;town", *[f"p{n};{n};Ely" for n in range(40)], "Total;1234", "Stand: 2024"],
        {"delimiter": ";"},
        "The last 2 rows look like a total or a note ('Total'): say footer_rows=2",
    ),
    "comments beside others": (
        [*WHOLE[:3], "# one", "// two", *WHOLE[3:]],
        {"comment": "#"},
        "and one mark of comments can be declared",
    ),
    "encoded twice": (table(town=many("K\u00c3\u00b6ln", usual=lambda n: f"Ely {n}")), {}, "export the file again"),
    "a lost character": (table(town=many("K\ufffdln", usual=lambda n: f"Ely {n}")), {}, "mark for a lost character"),
    "dates and text": (
        table(when=many(*[f"in May, or {n}" for n in range(15)], usual=lambda n: f"1999-12-{n + 1:02}")),
        {},
        "when holds dates and text",
    ),
    "many decimal marks": (
        table(pay=many(*[f"{n},5" for n in range(15)], usual=lambda n: f"{n}.5")),
        {},
        "no option reads two decimal marks in one column",
    ),
    "a footer above one that is declared": ([*WHOLE, "Total,1790", "Source: us"], {"footer_rows": 1}, "footer_rows=2"),
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


HONEST = {
    "ages to the end of a century": {"age": [str(18 + n * 2) for n in range(40)]},
    "changes around zero": {"change": [str(n - 5) for n in range(40)]},
    "children": {"children": [str(n % 4) for n in range(40)]},
    "prices": {"price": [f"{n}.99" for n in range(60, 100)]},
    "titles": {"film": many("Total Recall", usual=lambda n: f"Film {chr(65 + n)}")},
    "places": {"place": [f"#{n}" for n in range(40)]},
    "house numbers": {"house": many("12a", "7b", usual=lambda n: str(n % 9))},
    "years": {"year": [str(1980 + n) for n in range(40)]},
}


@pytest.mark.parametrize("values", HONEST)
def test_honest_values_are_not_called_codes_comments_or_footers(values, tmp_path):
    (tmp_path / "t.csv").write_text(text(table(**HONEST[values])))
    said = " ".join(check_data(tmp_path / "t.csv").warnings)
    assert not any(word in said for word in ("missing_codes", "comment=", "footer_rows", "unit=", "date_format")), said


def test_few_kinds_of_records_are_no_records_that_were_entered_twice(tmp_path):
    (tmp_path / "t.csv").write_text(text(["sex,ward", *[f"{'fm'[n % 2]},{'ABC'[n % 3]}" for n in range(60)]]))
    assert check_data(tmp_path / "t.csv").warnings == ()


def test_all_faults_of_a_header_are_named_at_once(tmp_path):
    header = "id,age,Age,,12.5,,a\tb"
    (tmp_path / "t.csv").write_text(text([header, *[f"p{n},{n},{n + 1},x,y,z,-99" for n in range(40)]]))
    found = check_data(tmp_path / "t.csv")
    for said in (
        "The first line may be a record: the name of column 5 looks like a value",
        "Columns have one name (case does not count): columns 2 and 3.",
        "The name of column 7 holds control characters",
        "no name for columns 4 and 6; Iris calls them column4, column6",
    ):
        assert any(said in warning for warning in found.warnings), found.warnings
    assert [each.name for each in found.columns] == ["id", "age", "Age (column 3)", "column4", "12.5", "column6", "a?b"]
    with pytest.raises(BadInput):
        irisdp.plan(tmp_path / "t.csv", "count", epsilon=1)


CELLS = (
    *("a", "1", "-99", "1,5", "", "#", "# x", "//", "Total", "Source: x", '"', "k. A.", "NA", "31.12.2024", "$5", "5%"),
    *(
        "1/3/24 9:15 AM",
        "#REF!",
        "\x01",
        "\ufffd",
        "x" * 99,
        " " * 50,
        "1e3",
        "inf",
        "-0",
        "007",
        "9" * 20,
        "2024-01-01",
    ),
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "comment": st.just("#"),
        "footer_rows": st.sampled_from([1, 90]),
        "missing_codes": st.just("99,-99,k. A."),
        "decimal": st.just(","),
        "row_names": st.just(True),
        "header_rows": st.just(2),
        "skip_rows": st.just(1),
        "date_format": st.just("%d.%m.%Y"),
        "unit": st.just("id"),
    },
)


@settings(max_examples=60)
@given(
    names=st.lists(st.sampled_from(["a", "id", "date", "", "12"]), min_size=1, max_size=4),
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=5), max_size=40),
    options=OPTIONS,
)
def test_every_file_is_checked_or_refused(names, rows, options, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(text(",".join(row) for row in [names, *rows]))
    try:
        found = check_data(path, **options)
    except BadInput:
        return
    assert found.to_document()["private"]
    assert all(each.empty + each.unreadable <= found.records for each in found.columns)


@pytest.mark.parametrize("value", [" " * 900_000 + "x", "1" * 900_000, "1. " * 300_000, "-" * 900_000], ids=len)
def test_a_long_value_takes_no_long_time(value, tmp_path):
    (tmp_path / "t.csv").write_text(text([*WHOLE[:20], f"{value},7", f"p,{value}", *WHOLE[20:]]))
    begun = time.process_time()
    assert check_data(tmp_path / "t.csv").records == 42
    assert time.process_time() - begun < 10


IN_BYTES = {
    "another encoding": ("id,town\n1,Köln\n2,Ely\n".encode("cp1252"), {}, "encoding=windows-1252"),
    "the wrong encoding": ("id,town\n1,Köln\n2,Ely\n".encode(), {"encoding": "cp1252"}, "encoding=utf-8"),
}
REFUSED = {
    "another delimiter": (b"id;age\n1;2\n", r'delimiter=";"'),
    "UTF-16": ("id,age\n1,2\n".encode("utf-16"), "written in UTF-16"),
    "a workbook": (b"PK\3\4", "a workbook"),
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
    assert document.pop("command")["name"] == "check"
    assert list(document) == ["private", "records", "short", "long", "undecodable", "columns", "warnings"]
    assert document["records"] == 40
    assert os.listdir() == ["t.csv"]
    session = irisdp.Session("t.csv", footer_rows=1)
    before = sorted(os.listdir())
    assert session.check().to_document() == document
    assert repr(session.check()) == "<TableCheck: for the data owner, not for publication>"
    assert sorted(os.listdir()) == before


def test_messages_of_the_command_line_name_its_options_and_fit_its_width(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [*table(pay=many("-99", usual=lambda n: f"{n}")), "p7,7,7", "p7,8,7", "p8,9,9", "Total,1790"]
    Path("t.csv").write_text(text(lines))
    for width in ("80", "50"):
        monkeypatch.setenv("COLUMNS", width)
        assert run(["check", "t.csv", "--unit", "id", "--types", "no.json"]) == 2
        assert run(["check", "t.csv", "--unit", "id"]) == 0
        shown = capsys.readouterr().out
        assert max(map(len, shown.splitlines())) <= int(width)
        words = " ".join(shown.split())
        assert "choose --at-most M, --per-unit any|all or --person NAME = AGGREGATE,… for them." in words
        assert "--missing-codes -99" in words
        assert not re.search(r"[a-z_]+=(?!\\d)", words.replace("ε =", "")), words


WATCHED = """
import logging, os, sys
written = []
def watch(event, arguments):
    if event == "open" and arguments[0] not in (os.devnull,) and (
        arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND)
    ):
        written.append(str(arguments[0]))
    elif event in ("os.mkdir", "os.rename", "os.remove", "os.link", "sqlite3.connect", "socket.connect"):
        written.append(f"{event} {arguments[0]}")
from irisdp._release import check_data
import irisdp
logged = []
logging.getLogger().addHandler(type("Kept", (logging.Handler,), {"emit": lambda self, record: logged.append(record)})())
logging.getLogger().setLevel(0)
check_data("warm.csv", unit="id")
sys.addaudithook(watch)
found = check_data("t.csv", unit="id")
assert found.warnings
print([name for name in written if not name.endswith(".pyc")], logged)
"""


def test_nothing_is_written_connected_or_logged(tmp_path):
    for name in ("t.csv", "warm.csv"):
        (tmp_path / name).write_text(text([*WHOLE, "Total,1790", WHOLE[3]]))
    command = [sys.executable, "-B", "-c", WATCHED]  # no bytecode of modules that are loaded late
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[] []\n", "")
    assert sorted(os.listdir(tmp_path)) == ["t.csv", "warm.csv"]


def test_init_declares_integers_where_all_values_are_whole_without_their_codes(tmp_path):
    columns = {
        "whole": many("99", usual=lambda n: f"{n}.0"),
        "coded": many("9.5", usual=str),
        "parts": many("1.5", usual=str),
        "power": many("1e3", usual=str),
        "zip": many(usual=lambda n: f"0{n + 1000}"),
        "card": many(usual=lambda n: f"4000123412341{n + 100}"),
        "person_nr": many(usual=str),
    }
    (tmp_path / "t.csv").write_text(text(table(**columns)))
    told = irisdp.init_project(tmp_path / "t.csv", check=True, missing_codes="99,9.5", out=tmp_path / "t.toml")
    lines = told.read_text("utf-8").splitlines()
    types = dict(line.split(" = ") for line in lines[lines.index("[types]") + 1 : lines.index("[types]") + 10])
    assert types == {
        '#"id"': '"text"',
        '"age"': '"integer"',
        '"whole"': '"integer"',
        '"coded"': '"integer"',
        '"parts"': '"number"',
        '"power"': '"number"',
        '#"zip"': '"text"',
        '#"card"': '"text"',
        '#"person_nr"': '"text"',
    }


def test_init_writes_the_types_that_fit_where_it_is_asked_to(tmp_path):
    lines = table(pay=many(usual=lambda n: f"{n},5"), born=["1999-12-31"], mixed=["1", "x"])
    (tmp_path / "t.csv").write_text(text(lines))
    plain = irisdp.init_project(tmp_path / "t.csv", decimal=",").read_text("utf-8")
    assert "no record was read" in plain
    assert '#"age" = "text"' in plain
    found = irisdp.init_project(tmp_path / "t.csv", decimal=",", check=True, force=True)
    said = found.read_text("utf-8")
    assert 'decimal = ","' in said
    assert '"age" = "integer"' in said
    assert '#"id" = "text"' in said
    assert '"pay" = "number"' in said
    assert '"born" = "date"' in said
    assert '#"mixed" = "text"' in said
    assert "by a look at all records" in said
    assert irisdp.plan(tmp_path / "t.csv", "count", "pay > 1", epsilon=1).table.types["pay"].type == "number"


def test_advice_about_the_wrong_fields_or_lines_waits(tmp_path):
    """Advice that follows from a wrong delimiter or a preamble would spoil the header once these are mended."""
    path = tmp_path / "survey.csv"
    preamble = "Health office; export\n2024\n"
    path.write_text(preamble + "ward;sex;age\n" + "".join(f"010{n % 4};m;3{n % 10},5\n" for n in range(40)))
    first = check_data(path).warnings if _opens(path) else ()
    assert not any("skip_rows=" in said for said in first if "delimiter=" in " ".join(first))
    found = check_data(path, delimiter=";").warnings
    assert any("say skip_rows=2" in said for said in found), found
    assert not any("header_rows=" in said or "missing_codes=" in said for said in found)
    assert "check again" in found[-1]
    assert not any("skip_rows=" in said for said in check_data(path, delimiter=";", skip_rows=2).warnings)


def _opens(path):
    try:
        check_data(path)
    except BadInput:
        return False
    return True
