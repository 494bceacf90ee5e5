"""Text files: no record changes how another is read, whatever it holds; encodings and delimiters are declared."""

import codecs
import csv
import io
import itertools
import json
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, plan, publish
from irisdp._cli import run
from irisdp._queries import PrivacyUnit, enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables.arrow_values import texts
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from irisdp._tables.text_files import TextForm, batches, read_form
from support.sweeps import by_turns, tried

pytestmark = pytest.mark.usefixtures("one_engine")

VALUES = st.text(st.sampled_from('ab,"\r\n;\téß\u2028\0 1'), max_size=6)
HOSTILE = {
    "a record of 70 MB": b"x" * 70_000_000 + b",1",
    "a quoted record of 900 kB that holds records": b'"' + b"7,8\n" * 225_000 + b'",1',
    "a carriage return": b"\r",
    "carriage returns": b"5\r6,7\r8\r",
    "bytes that are no UTF-8": b"\xff\xfe\x80,\xe9",
    "a surrogate and an overlong form": b"\xed\xa0\x80,\xc0\xaf",
    "NUL bytes": b"\0\0,\0",
    "every control character": bytes(set(range(32)) - {10}) + b"\x7f,1",
    "100,000 columns": b"1," * 100_000,
    "digits": b"9" * 900_000 + b",1",
    "a huge exponent": b"1e999999999999,-1e-999999999999",
    "a quote inside": b"5'11\",6",
    "quotes": b'"""""",""',
    "quoted line ends": b'"1,2\n3,4\r\n5,6\r7,8\n",9',
    "a byte order mark": b"\xef\xbb\xbf1,2",
    "a comment": b"# 1,2",
    "a formula": b'=cmd|"/c calc"!A1,1',
    "nothing": b"",
}
UNCLOSED = {
    "an unclosed quote": b'"x,1',
    "an unclosed second value": b'1,"x',
    "a lone quote": b'"',
    "three quotes": b'""",1',
    "garbage after a closing quote": b'"x"y,1',
    "a closing quote and a carriage return": b'"x"\r',
}


def written(records):
    file = io.StringIO(newline="")
    csv.writer(file).writerows(records)
    return file.getvalue().encode()


def rows(path, **form):
    table = open_table(path, **form)
    found = table.run(f"SELECT {', '.join(column.name for column in table.columns)} FROM data", table.columns)
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def rows_of(path, width):
    """Return the records of a table whose names need quotes."""
    table = open_table(path)
    found = table.run(f"SELECT {', '.join(c.reference.sql('duckdb') for c in table.columns)} FROM data", table.columns)
    return list(zip(*(found.column(place).to_pylist() for place in range(width)), strict=True))


def assert_apart(path, header, before, after, hostile):
    """A hostile record is one record or none, and the others are what they are without it."""
    width = header.count(b",") + 1
    path.write_bytes(header + before + after)
    alone = rows(path)
    path.write_bytes(header + before)
    first = rows(path)
    path.write_bytes(header + before + hostile + b"\n" + after)
    found = rows(path)
    assert len(found) - len(alone) in (0, 1)
    last = len(alone) - len(first)
    assert found[: len(first)] == first == alone[: len(first)]
    assert found[len(found) - last :] == alone[len(first) :]
    assert all(len(row) == width for row in found)


@pytest.mark.parametrize(
    ("name", "header"), by_turns([*HOSTILE, *UNCLOSED], [b"a\n", b"a,b\r\n", b"a,b,c\n"]), ids=repr
)
def test_a_hostile_record_changes_no_other(tmp_path, header, name):
    width = header.count(b",") + 1
    before = written([(f"{place} é", 'x "y", z', "line\nends\r\n")[:width] for place in range(40)])
    if name in HOSTILE:
        assert_apart(tmp_path / "t.csv", header, before, before, HOSTILE[name])
    else:
        assert_apart(tmp_path / "t.csv", header, before, b"", UNCLOSED[name])
        # In the middle as well, where what follows holds no quote, or the quote there opens a value.
        assert_apart(tmp_path / "t.csv", header, before, b"1,2,3\n4,5,6\n" * 9, UNCLOSED[name])
        assert_apart(tmp_path / "t.csv", header, before, before, UNCLOSED[name])


RECORDS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), max_size=12))
LINES = st.lists(st.sampled_from([b"a", b",", b"\r", b"\xff", b"\0", b'x"', b"\x1a", b"\xc3"]), max_size=20).map(
    b"".join
)


@given(records=RECORDS, more=RECORDS, line=LINES, width=st.integers(1, 4))
def test_what_is_written_properly_is_read_whatever_stands_between(tmp_path_factory, records, more, line, width):
    path = tmp_path_factory.getbasetemp() / "between.csv"
    header = ",".join("abcd"[:width]).encode() + b"\n"
    path.write_bytes(header + written(records) + line + b"\n" + written(more))
    found = rows(path)
    first, last = ([tuple(v or None for v in (*r, "", "", "")[:width]) for r in part] for part in (records, more))
    assert found[: len(first)] == first
    assert found[len(found) - len(last) :] == last
    assert len(found) - len(first) - len(last) in (0, 1)


@given(data=st.binary(max_size=200).map(lambda data: b"a,b\n" + data), more=st.integers(2, 50))
def test_small_blocks_and_large_ones_give_the_same_columns(tmp_path_factory, data, more):
    import pyarrow as pa

    path = tmp_path_factory.getbasetemp() / "blocks.csv"
    path.write_bytes(data)
    schema = pa.schema([("b", pa.string()), ("a", pa.string())])

    def read(**sizes):
        return [row for batch in batches(path, 4, TextForm(), [1, 0], schema, **sizes) for row in batch.to_pylist()]

    assert read(longest=200, size=202) == read() == read(longest=210, size=210 + more)


@given(data=st.binary(max_size=200), name=st.sampled_from(["utf-8", "latin-1", "windows-1252", "euc-jp"]))
def test_few_records_are_read_as_many_are(tmp_path_factory, data, name):
    path = tmp_path_factory.getbasetemp() / "few.csv"
    path.write_bytes(b"a,b\n" + data + b'\n"a ""b""",\xc3\xa9\n,\xff\n')
    schema = pa.schema([("b", pa.string()), ("a", pa.string())])

    def read():
        return list(batches(path, 4, TextForm(name), [1, 0], schema))

    few = read()
    with mock.patch("irisdp._tables.text_files.FEW", 0):
        assert few == read()
    assert few


def test_text_of_more_bytes_than_an_array_holds_is_refused():
    with mock.patch("irisdp._tables.arrow_values._MOST_ARRAY_BYTES", 3), pytest.raises(pa.ArrowInvalid):
        texts(["ab", None, "cd"])


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-15", "cp437", "gb18030", "shift_jis", "euc_kr"])
def test_a_file_in_another_encoding_is_read_fully_with_it_and_loses_no_record_without(tmp_path, encoding):
    words = {"gb18030": "名前", "shift_jis": "ソ表", "euc_kr": "이름"}.get(encoding, "Müßig, é")
    records = [(f"{words} {place % 7}", place) for place in range(5_315)]
    path = tmp_path / "t.csv"
    path.write_bytes(written([("name", "x"), *records]).decode().encode(encoding))
    assert rows(path, encoding=encoding) == [(name, str(place)) for name, place in records]
    plain = rows(path)
    assert [x for _, x in plain] == [str(place) for _, place in records]
    table = open_table(path, encoding=encoding)
    groups = read_groups(table, "name", [f"{words} 1", f"{words} 2"])
    assert count_records(table, groups=groups).total.tolist() == [760, 759]


def test_a_value_that_is_not_valid_is_null_and_nobody_elses(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"name,x\nM\xfcller,1\nM\xf6ller,2\nM\xc3\xbcller,3\n\xc3,4\n")
    assert rows(path) == [(None, "1"), (None, "2"), ("Müller", "3"), (None, "4")]
    table = open_table(path)
    found = count_records(table, condition=read_condition("name <> 'a'", table.columns))
    assert (found.total[0], found.yes[0], found.no[0]) == (4, 1, 0)
    assert enumerate_keys(table, "name").counts.tolist() == [1]
    assert count_records(table, unit=PrivacyUnit("name", b"k" * 32)).total.tolist() == [1]


@pytest.mark.parametrize("mark", [*";|:\t\x01\x1f~ ", "\\t"])
def test_delimiters_are_declared(tmp_path, mark):
    path = tmp_path / "t.csv"
    file = io.StringIO(newline="")
    csv.writer(file, delimiter="\t" if mark == "\\t" else mark).writerows([("a", "b"), ("x,y", "1"), ('"', "2")])
    path.write_text(file.getvalue(), newline="")
    assert rows(path, delimiter=mark) == [("x,y", "1"), ('"', "2")]


@pytest.mark.parametrize("mark", ["", ",,", '"', "\n", "\r", "a", "7", "\0", "é", b",", 3])
def test_odd_delimiters_are_refused(mark):
    with pytest.raises(BadInput, match=r"^delimiter: "):
        read_form(".csv", None, mark)


REFUSED = ["utf-16", "utf-32", "utf-7", "iso2022_jp", "hz", "rot13", "hex", "idna", "punycode", "unicode_escape"]


@pytest.mark.parametrize("name", [*REFUSED, "raw_unicode_escape", "cp037", "none such", "", "a\0", "é", 7, b"utf-8"])
def test_odd_encodings_are_refused(name):
    with pytest.raises(BadInput, match=r"^encoding: "):
        read_form(".csv", name)


def test_encodings_have_one_name():
    assert {read_form(".csv", name) for name in (None, "UTF8", "utf-8-sig", "ascii", "U8")} == {TextForm()}
    assert read_form(".csv", "latin-1") == read_form(".csv", "L1") == TextForm("iso8859-1", ",")


def test_what_is_declared_is_part_of_the_question(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;c,c;b\n1;3,4;2\n")
    with pytest.raises(BadInput, match="which of them"):  # nobody said which, and each parts the header
        plan(path, "count", epsilon=1)
    usual = plan(path, "count", epsilon=1, delimiter=",").subject()
    assert "text" not in usual
    assert plan(path, "count", epsilon=1, encoding="utf8", delimiter=",").subject() == usual
    assert plan(path, "count", epsilon=1, delimiter=";").subject()["text"] == {"delimiter": ";"}
    declared = plan(path, "count", "b > 1", epsilon=1, delimiter=";", encoding="cp1252").subject()
    assert declared["text"] == {"encoding": "cp1252", "delimiter": ";"}


def test_only_text_files_have_a_form(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"a": [1]})
    pq.write_table(table, tmp_path / "t.parquet")
    for data in (tmp_path / "t.parquet", table, table.to_pandas()):
        for options in ({"encoding": "utf-8"}, {"delimiter": ","}):
            with pytest.raises(BadInput, match="belongs to"):
                plan(data, "count", epsilon=1, **options)


@pytest.mark.parametrize("header", [b"\xff,b\n", b"a\rb\r1\r", b'"a,b\n', b'a,"b"c\n', b"a" * 2_000_000])
def test_a_header_is_public_and_no_record_decides_about_it(tmp_path, header):
    said = []
    for records in (b"", b"1,2\n", b'x,"\n', b'",y\n', b"\xff\n"):
        (tmp_path / "t.csv").write_bytes(header + records)
        with pytest.raises(BadInput, match="header") as refusal:
            open_table(tmp_path / "t.csv")
        said.append(str(refusal.value))
    assert len(set(said)) == 1


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(("header", "names"), [
    ('id,"weight{0}(kg)"', ["id", "weight (kg)"]),
    ('"a {0} b","c{0}{0}d"', ["a b", "c d"]),
    ('"say ""hi""{0}twice",b', ['say "hi" twice', "b"]),
])  # fmt: skip
def test_a_quoted_name_may_hold_line_breaks(tmp_path, header, names, line_end):
    path = tmp_path / "t.csv"
    path.write_bytes((header.format(line_end) + line_end + "1,2" + line_end).encode())
    assert [column.name for column in open_table(path).columns] == names
    assert rows_of(path, 2) == [("1", "2")]


@pytest.mark.parametrize("record", ["1", "1,2,3", "1,2,3,4,5"])
def test_a_record_short_of_fields_counts_and_lacks_them(tmp_path, record):
    path = tmp_path / "t.csv"
    path.write_text(f"a,b,c\n7,8,9\n{record}\n")
    assert rows(path) == [("7", "8", "9"), tuple([*record.split(","), None, None][:3])]


FIRST_RECORDS = [
    "000123,Anna Example", "2026-11-26,Anna Example", "26.11.2026,Anna Example", "Anna Example,Anna Example",
    "Anna Example,", "anna@example.org,Anna Example", '"1.234,56",Anna Example', "-9,Anna Example",
]  # fmt: skip


@pytest.mark.parametrize("record", FIRST_RECORDS)
@pytest.mark.parametrize("question", [
    ["count", "age > 64"],
    ["count", "--by", "town", "--groups", "a"],
    ["plurality", "Anna Exampl", "--categories", "a,b"],
    ["count", "--unit", "person"],
    ["mean", "age", "--lower", "0", "--upper", "9", "--step", "1"],
])  # fmt: skip
def test_a_file_without_a_header_shows_no_value_of_its_first_record(tmp_path, record, question, capsys):
    path = tmp_path / "t.csv"
    path.write_text(f"{record}\n{record}\n")
    assert run(["publish", str(path), *question, "--epsilon", "1"]) == 2
    message = capsys.readouterr().err
    assert "header" in message
    shown = [value for value in record.replace('"', "").split(",") if len(value) > 2 and value in message]
    assert [value for value in shown if value not in " ".join(question)] == []
    assert run(["init", str(path)]) == 2
    message = capsys.readouterr().err
    assert "header" in message
    assert "Anna" not in message


def test_groups_files_are_read_by_the_same_grammar(tmp_path):
    (tmp_path / "t.csv").write_bytes("g,h\ni,é\n".encode())
    table = open_table(tmp_path / "t.csv")
    path = tmp_path / "g.csv"
    path.write_bytes(codecs.BOM_UTF8 + 'g,h\r\n"i",é\r\n\r\n"a ""b"", c\nd",e'.encode())
    assert read_groups(table, ["g", "h"], path).labels == (("i", "é"), ('a "b", c\nd', "e"))
    for content in (b'g,h\n"i,e\n', b"g,h\ni,\xe9\n", b"g,h\ni\n", b"g,h\ni,e,f\n", b"g,h\ni," + b"x" * 1_100_000):
        path.write_bytes(content)
        with pytest.raises(BadInput, match="groups"):
            read_groups(table, ["g", "h"], path)


@pytest.mark.parametrize("name", [*HOSTILE, *UNCLOSED])
def test_the_command_line_ends_the_same_with_and_without_a_hostile_record(tmp_path, capsys, name):
    hostile = (HOSTILE | UNCLOSED)[name]
    records = written([("a", "b"), *((place, 'x "y"') for place in range(300))])
    said = []
    for number, content in enumerate((records, records + hostile + b"\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "x.csv").write_bytes(content)
        out = folder / "o.csv"
        status = run(["publish", str(folder / "x.csv"), "count", "b = 'x \"y\"'", "--epsilon", "50", "--out", str(out)])
        printed = capsys.readouterr()
        said.append((status, printed.out.replace(str(folder), ""), printed.err, out.read_text()))
    assert said[0] == said[1]
    assert said[0][0] == 0 and "300" in said[0][3]


def test_encoding_and_delimiter_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_bytes("Straße;n\nMüllerweg;3\nAllee;4\n".encode("latin-1"))
    arguments = ["publish", str(path), "count", "Straße = 'Müllerweg'", "--epsilon", "50", "--json"]
    assert run(arguments) == 2
    assert "header" in capsys.readouterr().err
    assert run([*arguments, "--encoding", "latin-1", "--delimiter", ";"]) == 0
    assert '"answer": 1' in capsys.readouterr().out
    again = publish(path, "count", "Straße = 'Müllerweg'", epsilon=50, encoding="iso8859-1", delimiter=";")
    assert again.repeated and again.answers.values == [1]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        (b'"a,\n' * 2_000_000 + b'""\n' * 500_000, 2_500_000),
        (b'"' * 20_000_000, 0),
        (b',"' * 8_000_000, 0),
        (b'1,"\n\n' * 2_000_000 + b"x", 1_000_001),
        (b"\r" * 20_000_000 + b"\n1,2", 1),
        (b'"' + b"x\n" * 10_000_000 + b'",3\n4,5\n', 10_000_002),
        (b'"' + b"x\n" * 500_000 + b'",3\n4,5\n', 2),
        (b'"' + b"x\n" * 500_000 + b'"y,3\n4,5\n', 500_002),
    ],
    ids=[
        "closing too late",
        "quotes",
        "opening only",
        "pairs",
        "carriage returns",
        "closing beyond the longest record",
        "one long record",
        "no long record",
    ],
)
def test_a_file_of_hostile_quotes_is_read_in_linear_time(tmp_path, content, records):
    """Some would take hours if every quote looked for its end anew."""
    (tmp_path / "t.csv").write_bytes(b"a,b\n" + content)
    assert count_records(open_table(tmp_path / "t.csv")).total.tolist() == [records]


@pytest.mark.parametrize(("form", "words"), [
    ({}, "as UTF-8 text, separated by commas; a value that is not UTF-8 is null"),
    ({"encoding": "latin-1", "delimiter": ";"}, "as ISO8859-1 text, separated by semicolons; "),
    ({"delimiter": "~"}, "as UTF-8 text, separated by '~'; "),
])  # fmt: skip
def test_plan_output_and_sidecar_say_how_text_is_read(tmp_path, capsys, form, words):
    path = tmp_path / "t.csv"
    mark = form.get("delimiter", ",")
    path.write_bytes(f"name{mark}n\nMüller{mark}3\n".encode("latin-1"))
    options = [part for name, value in form.items() for part in (f"--{name}", value)]
    asked = ["publish", str(path), "count", "name = 'x'", "--epsilon", "1", *options]
    shown = ["--verbose"]
    for more in (["--dry-run"], ["--dry-run", "--json"], shown, ["--json"], ["--out", str(tmp_path / "o.csv"), *shown]):
        assert run([*asked, *more]) == 0
        printed = capsys.readouterr().out
        assert words in printed
        assert "--json" not in more or json.loads(printed)["reading"].startswith(f"name as text; {words}")
    assert json.loads((tmp_path / "o.csv.release.json").read_text())["reading"].startswith(f"name as text; {words}")


def test_parquet_says_itself_how_it_is_read(tmp_path, capsys):
    pq.write_table(pa.table({"n": [1]}), tmp_path / "t.parquet")
    assert run(["publish", str(tmp_path / "t.parquet"), "count", "--epsilon", "1", "--dry-run", "--json"]) == 0
    assert "reading" not in json.loads(capsys.readouterr().out)


def test_a_header_in_another_encoding_leads_to_the_option(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("Straße\nx\n".encode("latin-1"))
    with pytest.raises(BadInput, match=r"^data: .* as UTF-8 text; .*, or name its encoding, as in encoding='latin-1'$"):
        open_table(path)
    assert open_table(path, encoding="latin-1").columns[0].name == "Straße"
    with pytest.raises(BadInput, match=r"^groups: .*, with a header line$"):
        read_groups(open_table(path, encoding="latin-1"), "Straße", str(path))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_zero_bytes_of_a_record_change_nothing_that_is_said_of_the_header(tmp_path, end):
    """A file with lines of an old Macintosh is refused, and by the same words whatever a record holds."""
    said = []
    for record in ("1", "\0"):
        path = tmp_path / "t.csv"
        path.write_bytes(f"a{end}{record}{end}2{end}".encode())
        try:
            said.append([column.name for column in open_table(path).columns])
        except BadInput as refused:
            said.append(str(refused))
    assert said[0] == said[1]


# What a table counts is the sum of what each of its records counts alone, in Parquet with statistics and in memory.

NAN, INFINITE = float("nan"), float("inf")
CONDITIONS = ("x > 64", "x <= 64", "x = 20", "x <> 20", "x BETWEEN 10 AND 30", "x IS NULL", "NOT x > 64", "x * 2 > 3")
FLOATS = (NAN, None, 20.0, 100.0, INFINITE, -INFINITE, -0.0)


def answers(table, condition, folder=None, **options):
    """Yes and no, of the table in memory or of a file with the statistics that most writers write."""
    if folder is not None:
        pq.write_table(table, folder / "t.parquet", **options)
        table = folder / "t.parquet"
    opened = open_table(table)
    found = count_records(opened, condition=read_condition(condition, opened.columns))
    return int(found.yes[0]), int(found.no[0])


@pytest.mark.parametrize(("condition", "kind"), by_turns(CONDITIONS, [pa.float64(), pa.float32()]), ids=str)
def test_no_record_decides_what_nan_is(kind, condition, tmp_path):
    alone = {value: answers(pa.table({"x": pa.array([value], kind)}), condition) for value in FLOATS}
    others_of = (itertools.combinations(FLOATS[1:], size) for size in range(tried(2, 3)))
    for others in itertools.chain.from_iterable(others_of):
        values = [NAN] * 50 + list(others)
        table = pa.table({"x": pa.array(values, kind)})
        expected = tuple(sum(alone[value][side] for value in values) for side in (0, 1))
        assert answers(table, condition) == expected
        assert answers(table, condition, tmp_path) == expected
        assert answers(table, condition, tmp_path, row_group_size=20) == expected


def test_nan_is_no_key_whoever_else_is_there(tmp_path):
    for others in ([], [20.0], [INFINITE], [None]):
        pq.write_table(pa.table({"x": pa.array([NAN] * 50 + others, pa.float64())}), tmp_path / "t.parquet")
        assert enumerate_keys(open_table(tmp_path / "t.parquet"), ["x"]).counts.tolist() == [1] * (others == [20.0])


def decimals(values, precision, scale=0):
    """Decimals as no library would write them: with more digits than their type has."""
    whole = [value % (1 << 128) for value in values]
    words = np.array([part for value in whole for part in (value % (1 << 64), value >> 64)], dtype=np.uint64)
    kind = pa.decimal128(precision, scale)
    return pa.table({"x": pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(words)])})


@pytest.mark.parametrize("precision", [1, 4, 9, 18, 19, 37, 38])
def test_a_decimal_of_too_many_digits_is_null_and_touches_no_other(precision):
    largest = 10**precision - 1
    bad = [v for v in (10**precision, -(10**precision), 2**70, -(2**127), 2**127 - 1) if abs(v) > largest]
    good = [1, 0, -1, largest, -largest]
    for value in bad:
        values = [1, *[0] * 2047, *([value, *[0] * 2047] * 3)]
        assert answers(decimals(values, precision), "x = 1") == (1, len(values) - 4)
        assert answers(decimals([*good, value], precision), "x IS NULL") == (1, len(good))
    table = decimals([*bad, *good, *bad], precision)
    assert answers(table.slice(len(bad), len(good)), "x IS NULL") == (0, len(good))


def test_digests_never_fail_for_one_category_or_record_more():
    def named(first, count):
        indices = pa.array(range(count), pa.int8())
        return pa.DictionaryArray.from_arrays(indices, pa.array([f"{first}{n}" for n in range(count)]))

    def runs(length):
        return pa.RunEndEncodedArray.from_arrays(pa.array([length], pa.int16()), pa.array(["a"]))

    def lists(*values):
        return pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), pa.array(values))

    tables = [pa.chunked_array([named("a", 100), named("b", count)]) for count in (27, 28, 29, 100)]
    tables += [pa.chunked_array([runs(20_000), runs(length)]) for length in (12_767, 12_768, 30_000)]
    tables += [pa.chunked_array([lists([1], [2]), lists([1], last)]) for last in ([2], [3])]
    for column in tables:
        opened = open_table(pa.table({"x": column}))
        assert opened.digest()
        assert count_records(opened).total.tolist() == [len(column)]
    digests = [open_table(pa.table({"x": column})).digest() for column in tables[:-2]]
    assert len(set(digests)) == len(digests)
