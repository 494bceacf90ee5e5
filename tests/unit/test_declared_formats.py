"""Declared formats of text files: which lines are records, and how numbers, dates and missing values are written."""

import itertools
import json
import re
from collections import Counter
from datetime import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput, batch, plan, publish
from irisdp._cli import run
from irisdp._tables.column_types import read_declared_value
from irisdp._tables.columns import ColumnType
from irisdp._tables.spellings import Spelling, date_fault, plain_number, spelt_date
from irisdp._tables.table import open_table
from irisdp._tables.text_files import batches, read_form

pytestmark = pytest.mark.usefixtures("one_engine")

REPORT = """Report of 2024;;
made by "us;;
id;amount;born;q1
;in EUR;;"how
often?"
1;1.234,5;31.12.1999;77
2;12,5;01.02.2000;1
# checked by hand;;;
3;1234;31.02.2000;2.0
4;x;1.3.2001;99
Total;1.246;;

Source: us
"""
STRUCTURE = {"delimiter": ";", "skip_rows": 2, "header_rows": 2, "footer_rows": 2, "comment": "#"}
WRITTEN = {**STRUCTURE, "decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"}
TYPES = {"amount": "number", "born": "date", "q1": {"type": "integer", "missing": [77, 88, 99]}}


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.csv"
    path.write_text(REPORT, "utf-8")
    return path


def rows(path, **form):
    table = open_table(path, **form)
    listed = ", ".join(f"{each.reference.sql('duckdb')} AS c{place}" for place, each in enumerate(table.columns))
    found = table.run(f"SELECT {listed} FROM data", table.columns)
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def counted(published):
    return [each["answer"] for each in published.to_document()["answers"]]


def test_a_report_is_read_as_it_is_declared_to_be_written(report):
    assert [each[0] for each in rows(report, **STRUCTURE)] == ["1", "2", "3", "4"]
    assert rows(report, **WRITTEN, types=TYPES) == [
        ("1", 1234.5, datetime(1999, 12, 31), None),
        ("2", 12.5, datetime(2000, 2, 1), 1),
        ("3", 1234.0, None, None),  # 2.0 is no whole number where a full stop parts thousands
        ("4", None, datetime(2001, 3, 1), None),
    ]


def test_questions_read_columns_without_a_type_as_they_are_written(report):
    sure = {**WRITTEN, "epsilon": 100}
    assert counted(publish(report, "count", "amount > 100 AND born < DATE '2000-01-01'", **sure)) == [1]
    assert counted(publish(report, "count", "CAST(amount AS DOUBLE) > 1000", **sure)) == [2]
    assert counted(publish(report, "sum", "amount", lower=0, upper=2000, step="1/2", **sure)) == [2481]
    by_year = publish(report, "count", by="year = YEAR(born)", groups=[1999, 2000, 2001], **sure)
    assert counted(by_year) == [1, 1, 1]
    bins = publish(report, "histogram", "born", bins="2000-01-01,2001-01-01", **sure)
    assert counted(bins) == [1, 1, 1]


def test_declared_groups_are_spelt_as_the_file_spells_them(report):
    typed = {**WRITTEN, "types": TYPES, "epsilon": 100}
    assert counted(publish(report, "count", by="born", groups=["31.12.1999"], **typed)) == [1]
    assert counted(publish(report, "count", by="amount", groups=["1.234,50"], **typed)) == [1]
    for groups, by, said in (
        (["1999-12-31"], "born", "write it as the file does: born is declared as written as %d.%m.%Y"),
        (["1234.5"], "amount", "write it as the file does"),
        (["99"], "q1", "that is declared to be a missing value"),
    ):
        with pytest.raises(BadInput, match=re.escape(said)):
            plan(report, "count", by=by, groups=groups, **typed)


def test_what_is_declared_is_part_of_the_question_where_it_matters(report):
    plain = plan(report, "count", epsilon=1, delimiter=";", skip_rows=2).subject()
    assert plain["text"] == {"delimiter": ";", "skip_rows": 2}
    assert "types" not in plain
    read = plan(report, "count", "amount > 1 AND q1 = '1'", epsilon=1, **WRITTEN, missing_codes="99,-9").subject()
    assert read["types"] == {
        "amount": {"decimal": ",", "thousands": ".", "missing": ["-9", "99"]},
        "q1": {"missing": ["-9", "99"]},
    }
    typed = plan(report, "count", "q1 = 1", epsilon=1, **WRITTEN, types=TYPES).subject()
    assert typed["types"] == {
        "q1": {"type": "integer", "decimal": ",", "thousands": ".", "missing": ["77", "88", "99"]}
    }


def test_what_is_as_usual_is_no_other_question(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    usual = {"decimal": ".", "header_rows": 1, "skip_rows": 0, "missing_codes": [], "row_names": False}
    said, left_out = (plan(tmp_path / "t.csv", "count", "a > 1", epsilon=1, **form).subject() for form in (usual, {}))
    assert said == left_out


def test_plans_say_how_each_column_is_written(report):
    reading = plan(report, "count", "amount > 1", by="q1", groups=["1"], epsilon=1, **WRITTEN, missing_codes=[99])
    said = reading.to_document()["reading"]
    assert "amount as a number written as in 1.234,5 without the codes 99" in said
    assert "q1 as text (exact spelling) without the codes 99" in said
    assert "the first 2 rows skipped; 2 rows of header; records that begin with # skipped; the last 2 rows" in said


# Which lines are records.


def test_row_names_missing_headers_and_codes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"","a","b"\n"r1",1,2\n"r2",3,-9\n')
    assert rows(path, row_names=True) == [("1", "2"), ("3", "-9")]
    assert rows(path, row_names=True, missing_codes="-9") == [("1", "2"), ("3", None)]
    path.write_text("a b\nr1 1 2\nr2 3 4\n")
    assert rows(path, row_names=True, delimiter=" ") == [("1", "2"), ("3", "4")]
    path.write_bytes(b"\xef\xbb\xbf1,2\n3,4\n")
    assert rows(path, no_header=True, columns="a,b") == [("1", "2"), ("3", "4")]
    assert rows(path, no_header=True, columns=["a", "b"], skip_rows=5) == []


def kept(lines, tmp_path, **form):
    path = tmp_path / "kept.csv"
    path.write_text("".join(f"{line}\n" for line in ("v", *lines)))
    return Counter(value for (value,) in rows(path, **form))


@pytest.mark.parametrize("form", [{"footer_rows": 1}, {"footer_rows": 2}, {"footer_rows": 2, "comment": "#"}], ids=str)
def test_a_record_more_is_a_record_more_whatever_stands_at_the_end(form, tmp_path):
    """Also where the footer was declared in error, and holds records."""
    for length in range(4):
        for lines in itertools.product(["a", "b", "", "#"], repeat=length):
            fewer = kept(lines, tmp_path, **form)
            for place in range(length + 1):
                more = kept([*lines[:place], "c", *lines[place:]], tmp_path, **form)
                assert not fewer - more
                assert sum((more - fewer).values()) <= 1


def test_blank_rows_are_none_of_the_footer(tmp_path):
    assert kept(["a", "b", "", "Total", "", "Source", "", ""], tmp_path, footer_rows=2) == Counter("ab")
    assert kept(["a"], tmp_path, footer_rows=5) == Counter()


@given(lines=st.lists(st.sampled_from(["a", "bb", "", "#c", '"#d"', "x" * 30]), max_size=12), size=st.integers(40, 60))
def test_blocks_of_any_size_leave_out_the_same(lines, size, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    path.write_text("".join(f"{line}\n" for line in ("v", *lines)))
    schema = pa.schema([("v", pa.string())])

    def read(**form):
        found = batches(path, 2, read_form(".csv", **form), [0], schema, longest=35, size=size)
        return [value for each in found for value in each.column(0).to_pylist()]

    said = [line.strip('"') for line in lines if line and not line.startswith("#")]
    assert read(comment="#", footer_rows=2) == said[:-2]
    assert read(comment="#") == said


# How values are written.

NUMBERS = st.text(st.sampled_from("0123456789.,' _+-eE\u00a0\u202f\n"), max_size=9)
SPELLINGS = [Spelling(d, t) for d in ".," for t in ("", ".", ",", "'", " ", "_") if d != t and d + t != "."]


def by_hand(text, spelling):
    """Read a number letter by letter: an oracle that knows no patterns."""
    body = text.strip(" \t\r\n")
    sign = -1 if body.startswith("-") else 1
    body = body[1:] if body[:1] in ("+", "-") else body
    mantissa, *power = re.split("[eE]", body, maxsplit=1)
    digits = set("0123456789")
    if power:
        unsigned = power[0][1:] if power[0][:1] in ("+", "-") else power[0]
        if not unsigned or not set(unsigned) <= digits:
            return None
    whole, *fraction = mantissa.split(spelling.decimal)
    if len(fraction) > 1 or not set("".join(fraction)) <= digits or not mantissa.strip(spelling.decimal):
        return None
    blanks = {"\u00a0", "\u202f", " "}
    marks = blanks if spelling.thousands == " " else {spelling.thousands} - {""}
    if len(marks & set(whole)) > 0:
        parts = re.split("[" + "".join(map(re.escape, marks)) + "]", whole)
        if not 1 <= len(parts[0]) <= 3 or any(len(part) != 3 for part in parts[1:]):
            return None
        whole = "".join(parts)
    if not set(whole) <= digits:
        return None
    number = float(f"{whole or '0'}.{''.join(fraction) or '0'}e{power[0] if power else '0'}")
    return sign * number


@pytest.mark.parametrize("spelling", SPELLINGS, ids=str)
@given(texts=st.lists(NUMBERS, min_size=30, max_size=60))
def test_numbers_are_read_by_engine_and_python_as_by_hand(spelling, texts, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    path.write_text("v\n" + "".join(f'"{text}"\n' for text in texts), "utf-8")
    kinds = {"type": "number", "decimal": spelling.decimal, "thousands": spelling.thousands}
    read = [value for (value,) in rows(path, types={"v": kinds})]
    expected = [None if text.strip(" \t\r\n") == "" else by_hand(text, spelling) for text in texts]
    assert [None if value in (float("inf"), float("-inf")) else value for value in read] == [
        None if value in (float("inf"), float("-inf")) else value for value in expected
    ]
    python = [plain_number(text, spelling) for text in texts]
    assert [plain is None for plain in python] == [value is None for value in expected]


def test_whole_numbers_may_end_in_a_mark_and_zeros(tmp_path):
    (tmp_path / "t.csv").write_text('v\n"1.234,00"\n"1,5"\n"12.34"\n"1.234"\n"-7,"\n"9223372036854775808"\n')
    kind = {"type": "integer", "decimal": ",", "thousands": "."}
    assert rows(tmp_path / "t.csv", types={"v": kind}) == [(1234,), (None,), (None,), (1234,), (-7,), (None,)]


FORMATS = {
    "%d.%m.%Y": "%d.%m.%Y",
    "%m/%d/%y": "%m/%d/%y",
    "%Y%m%d": None,
    "%d %b %Y": "%d %b %Y",
    "%B %d, %Y": "%B %d, %Y",
    "%Y-%m-%d %I:%M %p": "%Y-%m-%d %I:%M %p",
    "%d/%m/%Y %H:%M:%S": "%d/%m/%Y %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f%z": "%Y-%m-%dT%H:%M:%S.%f%z",
    "%m/%Y": "%m/%Y",
    "%Y": "%Y",
}
TIMES = st.datetimes(datetime(1969, 1, 1), datetime(2068, 12, 31))
NOISE = st.text(st.sampled_from("0123456789./-: JanPMapril"), max_size=12)


@pytest.mark.parametrize("form", FORMATS)
@given(times=st.lists(TIMES, min_size=20, max_size=30), noise=st.lists(NOISE, max_size=20))
def test_dates_are_read_by_engine_and_python_alike_and_as_they_were_written(form, times, noise, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "dates.csv"
    texts = [each.strftime(form.replace("%z", "+01:30")) for each in times] + noise
    path.write_text("v\n" + "".join(f'"{text}"\n' for text in texts), "utf-8")
    read = [value for (value,) in rows(path, types={"v": {"type": "timestamp", "format": form}})]
    texts = [text for text in texts if text]
    assert read == [spelt_date(text, form) for text in texts if text != '""'] or len(read) != len(texts)
    assert len(read) >= len(times)
    if FORMATS[form]:
        for text, value in zip(texts[: len(times)], read, strict=False):
            own = datetime.strptime(text, form)
            assert value == (own if own.tzinfo is None else (own - own.utcoffset()).replace(tzinfo=None))


DAYS = ["29 feb 2023", "29 FEB 2024", "1 mars 2024", " 1 may 24", "1 sept 2024", "1 september 2024"]


def test_days_that_are_none_and_months_of_other_languages_are_unknown(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["v", *DAYS]))
    kind = {"v": {"type": "date", "format": "%d %b %Y"}}
    read = [value for (value,) in rows(tmp_path / "t.csv", types=kind)]
    assert read == [None, datetime(2024, 2, 29), None, None, None, datetime(2024, 9, 1)]
    assert [spelt_date(text, "%d/%m/%y") for text in ("1/1/68", "1/1/69")] == [
        datetime(2068, 1, 1),
        datetime(1969, 1, 1),
    ]


def test_codes_of_columns_with_a_type_are_values(tmp_path):
    (tmp_path / "t.csv").write_text("n,t\n99,99\n99.0,99.0\n 99,x\n-9,-9\n1,1\n")
    read = rows(tmp_path / "t.csv", types={"n": "number"}, missing_codes="-9,99")
    assert read == [(None, None), (None, "99.0"), (None, "x"), (None, None), (1.0, "1")]
    read = rows(tmp_path / "t.csv", types={"n": {"missing": []}, "t": {"missing": ["x"]}}, missing_codes=[-9, 99])
    assert read[0] == ("99", "99")
    assert read[2] == (" 99", None)


def test_declared_values_are_read_as_records_are():
    from irisdp._tables.columns import Column

    column = Column("v", ColumnType.NUMBER, spelling=Spelling(",", ".", "", ("7,5",)))
    assert read_declared_value("1.000,5", column, ColumnType.NUMBER) == 1000.5
    assert read_declared_value(1000.5, column, ColumnType.NUMBER) == 1000.5
    with pytest.raises(ValueError, match="missing"):
        read_declared_value(7.5, column, ColumnType.NUMBER)


# Every place that takes options takes these.


def test_every_place_takes_what_is_declared(report, tmp_path, capsys):
    words = ["--delimiter", ";", "--skip-rows", "2", "--header-rows", "2", "--footer-rows", "2", "--comment", "#"]
    words += ["--decimal", ",", "--thousands", ".", "--date-format", "%d.%m.%Y", "--missing-codes", "-9,99"]
    assert run(["publish", str(report), "count", "amount > 100", "--epsilon", "100", "--json", *words]) == 0
    assert json.loads(capsys.readouterr().out)["answers"] == [{"answer": 2, "answer_high": 2, "answer_low": 2}]
    file = {**WRITTEN, "missing_codes": ["-9", 99]}
    project = tmp_path / "own.iris.toml"
    project.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in file.items()))
    told = plan(report, "count", "amount > 100", epsilon=100, project=project)
    direct = plan(report, "count", "amount > 100", epsilon=100, **file)
    assert told.subject() == direct.subject()
    session = irisdp.Session(report, **file)
    assert session.count("amount > 100", epsilon=100).repeated
    asked = {"data": str(report), "budget": {"epsilon": 50}, "questions": [{"query": "count", "expression": "q1 = 1"}]}
    assert counted(next(iter(batch({**asked, **file})))) == [1]


def test_a_project_declares_columns_and_init_writes_what_was_said(report, tmp_path):
    written = irisdp.init_project(report, **WRITTEN, types=TYPES, out=tmp_path / "t.toml")
    text = written.read_text("utf-8")
    assert 'decimal = ","' in text
    assert '"q1" = {type = "integer", missing = [77, 88, 99]}' in text
    told = plan(report, "count", "q1 = 1", epsilon=1, project=written)
    assert told.subject() == plan(report, "count", "q1 = 1", epsilon=1, **WRITTEN, types=TYPES).subject()


REFUSED = {
    "decimal": ({"decimal": ";"}, "decimal: must be a full stop or a comma"),
    "one mark": ({"decimal": ",", "thousands": ","}, "thousands: must differ from the decimal mark"),
    "a letter": ({"thousands": "x"}, "thousands: must be a full stop, a comma"),
    "no year": ({"date_format": "%d.%m."}, "date_format: says no year"),
    "a locale's date": ({"date_format": "%x %Y"}, "date_format: has %x, which Iris does not read"),
    "twice": ({"date_format": "%y %Y"}, "date_format: says one part twice"),
    "noon": ({"date_format": "%Y %I"}, "date_format: needs both %I and %p"),
    "rows": ({"skip_rows": -1}, "skip_rows: must be a whole number from 0"),
    "half a row": ({"footer_rows": 1.5}, "footer_rows: must be"),
    "no header rows": ({"header_rows": 0}, "header_rows: must be a whole number from 1 to 100"),
    "names without need": ({"columns": "a,b"}, "columns: names the columns of a file without a header"),
    "no names": ({"no_header": True}, "columns: is missing"),
    "both": ({"no_header": True, "columns": "a", "header_rows": 2}, "header_rows: is for a file with a header"),
    "a comment of letters": ({"comment": "REM"}, "comment: must be 1 to 8 ASCII characters"),
    "a delimiter that comments": ({"comment": ","}, "comment: must be 1 to 8 ASCII characters"),
    "codes": ({"missing_codes": [None]}, "missing_codes: must"),
    "an unknown key": (
        {"types": {"a": {"type": "number", "decimals": ","}}},
        "types: gives a the unknown key 'decimals'; did",
    ),
    "a date's decimal": (
        {"types": {"a": {"type": "date", "decimal": ","}}},
        "types: gives a a decimal, and the type date",
    ),
    "a number's format": (
        {"types": {"a": {"type": "number", "format": "%Y"}}},
        "types: gives a a format, and the type n",
    ),
    "a column's mark": ({"types": {"a": {"decimal": "x"}}}, "types: gives a a decimal that must be a full stop"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_declared_is_refused(name, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    form, said = REFUSED[name]
    with pytest.raises(BadInput, match=f"^{re.escape(said)}"):
        plan(tmp_path / "t.csv", "count", epsilon=1, **form)


def test_other_data_takes_no_format_but_by_column(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": "1,5"}\n')
    with pytest.raises(BadInput, match=r"^decimal: belongs to \.csv and \.tsv files; leave it out"):
        plan(tmp_path / "t.jsonl", "count", epsilon=1, decimal=",", types={"a": "number"})
    assert rows(tmp_path / "t.jsonl", types={"a": {"type": "number", "decimal": ","}}) == [(1.5,)]


def test_spark_reads_no_declared_format(tmp_path):
    for year in (2023, 2024):
        (tmp_path / f"sales/year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"cost": [1, 2]}), tmp_path / f"sales/year={year}/part.parquet")
    types = {"year": {"type": "integer", "missing": [2023]}}
    assert (
        publish(tmp_path / "sales", "count", "year > 0", types=types, epsilon=50).to_document()["answers"][0]["answer"]
        == 2
    )
    with pytest.raises(
        BadInput, match=r"^types: declares how text is written, which Spark does not read; leave the engin"
    ):
        plan(tmp_path / "sales", "count", "year > 0", types=types, epsilon=1, engine="spark")


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%F", "%D", "%-d/%-m/%y", "%Y%%"])
def test_formats_without_fault(form):
    assert not date_fault(form)


def test_json_and_toml_may_begin_with_a_byte_order_mark(report, tmp_path):
    mark = "\ufeff"
    (tmp_path / "types.json").write_text(mark + json.dumps({"amount": "number"}), "utf-8")
    project = tmp_path / "own.iris.toml"
    project.write_text(mark + 'delimiter = ";"\nskip_rows = 2\n', "utf-8")
    found = plan(report, "count", "amount > 1", epsilon=1, types=tmp_path / "types.json", project=project)
    assert found.table.types["amount"].type == "number"


@pytest.mark.parametrize(
    ("first", "second"),
    [({"date_format": "%d/%m/%Y"}, {"date_format": "%m/%d/%Y"}), ({}, {"date_format": "%m/%d/%Y"})],
)
@pytest.mark.parametrize(
    "words", [("count", "CAST(a AS DATE) < DATE '2023-04-15'"), ("count-distinct", "n = CAST(a AS DATE)")]
)
def test_the_format_of_a_column_that_is_cast_is_part_of_the_question(tmp_path, first, second, words):
    path = tmp_path / "t.csv"
    path.write_text("a\n05/04/2023\n31/04/2023\n")
    one, other = (plan(path, *words, epsilon=1, **form).question() for form in (first, second))
    assert one != other


def test_the_decimal_mark_of_a_column_that_is_cast_is_part_of_the_question(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;u\n1,5;1\n1.5;2\n")
    for asked, more in (
        (("count", "CAST(a AS DOUBLE) > 1"), {}),
        (("count", "m > 1"), {"unit": "u", "person": "m = MAX(CAST(a AS DOUBLE))"}),
        (("count", "m > 1"), {"unit": "u", "person": "m = COUNT(*) FILTER (WHERE CAST(a AS DOUBLE) > 1)"}),
        (("count",), {"by": "w = CAST(a AS INTEGER)", "groups": [1]}),
    ):
        one, other = (plan(path, *asked, epsilon=1, delimiter=";", decimal=mark, **more).question() for mark in ".,")
        assert one != other, (asked, more)


@pytest.mark.parametrize("record", ['{"a,b', "[[1,2", "<table,3", "%PDF-,1", "PK\x03\x04,1", "a\0,3", "\xff\xfea,1"])
def test_without_a_header_no_first_record_decides_whether_there_is_an_answer(tmp_path, record):
    path = tmp_path / "t.csv"
    path.write_bytes(record.encode("latin-1") + b"\n1,b\n2,c\n")
    assert plan(path, "count", "age >= 0", epsilon=1, no_header=True, columns="age,t").cost.epsilon == 1


@pytest.mark.parametrize("written", ["-99", "-99.0", "-99.00", " -99"])
@pytest.mark.parametrize("types", [None, {"a": "number"}, {"a": "integer"}])
def test_a_code_is_missing_however_a_number_is_written(tmp_path, written, types):
    path = tmp_path / "t.csv"
    path.write_text(f"a,u\n{written},1\n5,2\n7,3\n")
    options = {"missing_codes": "-99", "types": types}
    for asked, more, answer in (
        (("count", "a < 0"), {}, 0),
        (("sum", "a"), {"lower": -100, "upper": 10, "step": 1}, 12),
        (("count", "CAST(a AS DOUBLE) < 0"), {}, 0),
        (("count", "m < 0"), {"unit": "u", "person": "m = SUM(a)"}, 0),
    ):
        found = irisdp.publish(path, *asked, epsilon=900, ledger=tmp_path / "l.ledger", **options, **more)
        assert found.to_arrow().to_pylist()[0]["answer"] == answer, asked
        (tmp_path / "l.ledger").unlink()
        (tmp_path / ".tables.irisdp-state").unlink()
