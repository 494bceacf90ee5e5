"""JSON lines from the outside: columns are declared, what is wrong is one line, and the ledger knows them again."""

import csv
import gc
import gzip
import json
import re
import time
import timeit
import tomllib

import pandas as pd
import pytest

import irisdp
from irisdp import BadInput, init_project
from irisdp._cli import run
from irisdp._tables.columns import ColumnType
from irisdp._tables.json_lines import DEEPEST, read_record
from irisdp._tables.table import open_table

BODY = b'\xef\xbb\xbf{"g": "a", "v": 1}\n\n{"v": "2", "g": "b"}\nnonsense\n{"g": "", "v": 2.5}\n'
TYPES = {"v": "integer", "g": "text"}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_bytes(BODY)
    (tmp_path / "types.json").write_text('{"g": "text", "v": "integer"}')
    return tmp_path / "t.jsonl"


def test_values_are_read_as_declared(data):
    table = open_table(data, types=TYPES)
    assert [(column.name, column.kind) for column in table.columns] == [
        ("g", ColumnType.TEXT),
        ("v", ColumnType.INTEGER),
    ]
    found = table.run("SELECT g, v FROM data", table.columns).to_pylist()
    assert found == [{"g": "a", "v": "1"}, {"g": "b", "v": "2"}, {"g": None, "v": None}, {"g": "", "v": "2.5"}]


def test_a_byte_order_mark_is_read_alike_on_every_line(tmp_path):
    """Taken off the first line alone, a record that is removed would decide what the next one is."""
    lines = [b'{"v": 0}\n', b'\xef\xbb\xbf{"v": 1}\n', b"\xef\xbb\xbf\n", b'\xef\xbb\xbf\xef\xbb\xbf{"v": 2}\n']
    path = tmp_path / "m.jsonl"

    def held(content):
        path.write_bytes(content)
        table = open_table(path, types={"v": "text"})
        return [record["v"] for record in table.run("SELECT v FROM data", table.columns).to_pylist()]

    for removed in range(len(lines) + 1):
        kept = [line for place, line in enumerate(lines) if place != removed]
        assert held(b"".join(kept)) == [value for line in kept for value in held(line)]
    assert held(b"".join(lines)) == ["0", "1", None]


def test_the_order_in_which_columns_are_declared_says_nothing(data):
    one, other = open_table(data, types=TYPES), open_table(data, types=dict(reversed(TYPES.items())))
    assert one.columns == other.columns
    assert one.digest() == other.digest()
    assert one.digest() != open_table(data, types={"v": "integer"}).digest()


def test_the_command_line_asks_and_is_told_again(data, capsys):
    asked = ["publish", "t.jsonl", "count", "v = 2", "--types", "types.json", "--epsilon", "1", "--verbose"]
    assert run(asked) == 0
    assert "as JSON lines in UTF-8" in capsys.readouterr().out
    assert run(asked) == 0
    assert irisdp.Ledger("t.ledger").spent.epsilon == 1


def test_a_project_declares_the_columns(data):
    (data.parent / "t.iris.toml").write_text('[types]\nv = "integer"\ng = "text"\n')
    planned = irisdp.plan(data, "count", "v = 2", by="g", groups=["a", "b"], epsilon=1)
    assert {name: each.type for name, each in planned.table.types.items()} == TYPES


@pytest.mark.parametrize("packed", [False, True])
def test_init_writes_a_project_of_the_declared_types(data, capsys, packed):
    name = "t.jsonl.gz" if packed else "t.jsonl"
    if packed:
        (data.parent / name).write_bytes(gzip.compress(BODY))
    assert run(["init", name]) == 2
    assert capsys.readouterr().err == (
        "irisdp: --types: is missing, and only declared types say which columns JSON lines have; declare all columns "
        'with --types FILE, such as {"age": "integer", "town": "text"}\n'
    )
    assert run(["init", name, "--types", "types.json"]) == 0
    written = (data.parent / "t.iris.toml").read_text()
    assert tomllib.loads(written) == {"types": TYPES, "categories": {}, "groups": {}, "labels": {"columns": {}}}
    assert "encoding" not in written and "nonsense" not in written
    assert (
        run(["publish", name, "count", "v = 2", "--epsilon", "1", "--verbose"]) == 0
    )  # which needs no --types any more
    assert "t.iris.toml says types" in capsys.readouterr().out
    assert init_project(data, types=TYPES, force=True).read_text() == written.replace(name, "t.jsonl")


def test_init_keeps_the_types_of_a_text_file_and_never_the_file_that_declares_them(data, capsys):
    (data.parent / "s.csv").write_text("g,v,w\na,1,x\n")
    assert run(["init", "s.csv", "--types", "types.json"]) == 0
    written = (data.parent / "s.iris.toml").read_text()
    assert tomllib.loads(written)["types"] == TYPES
    assert '#"w" = "text"' in written and "#encoding" in written
    assert run(["init", "s.csv", "--types", "types.json", "--out", "types.json", "--force"]) == 2
    assert "types.json" in capsys.readouterr().err
    assert (data.parent / "types.json").read_text().startswith("{")


def test_the_question_is_that_about_a_text_file_of_the_same_types(data):
    (data.parent / "t.csv").write_text("g,v\na,1\n")
    asked = {"epsilon": 1, "types": TYPES}
    lines, text = (irisdp.plan(path, "count", "v = 2 AND g = 'b'", **asked) for path in (data, data.parent / "t.csv"))
    assert lines.question() == text.question()
    assert lines.asked.promise.columns == text.asked.promise.columns


@pytest.mark.parametrize(("options", "said"), [
    (
        [],
        "--types: is missing, and only declared types say which columns JSON lines have; declare all columns with "
        "--types FILE, such as",
    ),
    (["--types", "types.json", "--encoding", "latin-1"], "--encoding: belongs to .csv and .tsv files"),
    (["--types", "types.json", "--delimiter", ";"], "--delimiter: belongs to .csv and .tsv files"),
    (["--types", "none.json"], "--types: "),
])  # fmt: skip
def test_what_is_wrong_is_one_line_and_costs_nothing(data, capsys, options, said):
    assert run(["publish", "t.jsonl", "count", "--epsilon", "1", *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"irisdp: {said}")
    assert len(printed.err.splitlines()) == 1
    assert not (data.parent / "t.ledger").exists()


def test_names_that_engines_would_take_for_one_are_refused(data):
    with pytest.raises(BadInput, match="two columns of one name"):
        open_table(data, types={"v": "integer", "V": "text"})
    with pytest.raises(BadInput, match="not plain text"):
        open_table(data, types={"v\n": "integer"})


LONG = 1 << 20


@pytest.mark.parametrize("line", [
    b'{"x": [' + b"[]," * (LONG // 3 - 9) + b"1]}",
    b'{"x": [' + b"{}," * (LONG // 3 - 9) + b"1]}",
    b'{"x": ' + b"[" * 200 + b'"' + b'\\"' * (LONG // 2 - 200),
    b"[" * 200 + b'\\"' * (LONG // 2 - 200),
    b"[" * 200 + b'"' * (LONG - 300),
    b"[" * (LONG - 9),
    b"[]" * (LONG // 2 - 9),
], ids=["lists", "objects", "escaped quotes", "quotes outside", "quotes", "depth", "no JSON"])  # fmt: skip
def test_brackets_take_no_longer_than_other_letters(line):
    """One record of a mebibyte of brackets took ten times as long as one of digits."""
    plain = b'{"x": "' + b"a" * LONG + b'"}'
    times = {}
    gc.disable()  # else what other tests left behind is looked through for every few hundred lists
    try:
        for name, each in (("line", line), ("plain", plain)):
            times[name] = min(
                timeit.repeat(lambda each=each: read_record(each), number=1, repeat=5, timer=time.process_time)
            )
    finally:
        gc.enable()
    assert times["line"] < times["plain"] + 0.3


@pytest.mark.parametrize("depth", [DEEPEST - 1, DEEPEST, DEEPEST + 1])
@pytest.mark.parametrize("inside", ['"]"', '"\\\\"', '"[[["', '"\\"]"', "1"])
def test_brackets_in_text_are_no_depth(depth, inside):
    nested = "[" * (depth - 1) + inside + "]" * (depth - 1)
    line = '{"s": ' + json.dumps("[{" * 200 + '"') + f', "x": {nested}, "y": 7}}'
    assert read_record(line.encode()).get("y") == (None if depth > DEEPEST else "7")


# Files and questions as people bring them: each with its answer, or its status and words of its message.
#
# At ε = 400 the noise is 0 but for a chance below 1e-16. Further cases of a class are tested in detail elsewhere:
# codes in `oracles/test_one_table.py`, streams in `test_streams.py`, hints in `test_hints.py`.

ZIPS = "zip,age\n01234,70\n1234,30\n1234,41\n1E2,5\n100,6\n"
SIGNS = "c,x\n1.,1\n1,2\n+1,3\n１,4\n-05,5\n-5,6\n"
SHARES = "share,n\n0.2,1\n0.9,2\n0.7,3\n"
VISITS = "pid,ward,v\n" + "".join(f"{person},{'ab'[k]},{k}\n" for person in range(5) for k in range(2))
PARTIES = 'party\n"Smith, Ann"\nsmith\n Green\nGreen\nGrün\n'
DAYS = "d,n\n2024-12-31,2022\n2023-12-31,5\n"
AB = "a,b\n1,2\n3,4\n"
STEP = "--step: is missing: mean rounds each value to a multiple of the step"
CHOOSE = "--unit: says that one pid may have several records"
HEADERLESS = "the first line of the file may be a record"
SUM = "sum a --lower 0 --upper 9 --step 1"

CASES = [
    # Codes: a declared value counts the records that spell it so, whatever else is declared.
    ("codes", "t.csv", ZIPS, "count --by zip --groups 01234,1234", [1, 2]),
    ("codes", "t.csv", ZIPS, "count --by zip --groups 01234,1234,XYZ", [1, 2, 0]),
    ("codes", "t.csv", ZIPS, "count --by zip --groups 1E2,100", [1, 1]),
    ("codes", "t.csv", ZIPS, "count --by zip --groups 01234", [1]),
    ("codes", "t.csv", ZIPS, ["count", "zip = '01234'"], [1]),
    ("codes", "t.csv", ZIPS, ["count", "zip = 01234"], [1]),
    ("codes", "t.csv", SIGNS, "count --by c --groups=1.,1,+1,１", [1, 1, 1, 1]),
    ("codes", "t.csv", SIGNS, "count --by c --groups=-05,-5", [1, 1]),
    ("codes", "t.tsv", ZIPS.replace(",", "\t"), "count --by zip --groups 01234,1234", [1, 2]),
    # Steps: nothing is rounded unless somebody says so.
    ("step", "t.csv", SHARES, "mean share --lower 0 --upper 1", STEP),
    ("step", "t.csv", SHARES, "mean n --lower 0 --upper 9", STEP),
    ("step", "t.csv", SHARES, "sum share --lower 0 --upper 1", STEP.replace("mean", "sum")),
    ("step", "t.csv", SHARES, "sum share --lower 0 --upper 1 --step 0.1", [1.8]),
    ("step", "t.csv", SHARES.replace(".", ","), "sum share --lower 0 --upper 1 --step 0,1", "--step: "),
    # People with several records: a choice of records is somebody's, and nobody is left out silently.
    ("records", "t.csv", VISITS, "count --unit pid", [5]),
    ("records", "t.csv", VISITS, "count-distinct pid --unit pid", [5]),
    ("records", "t.csv", VISITS, ["count", "v = 1", "--unit", "pid"], CHOOSE),
    ("records", "t.csv", VISITS, ["count", "v = 1", "--unit", "pid", "--per-unit", "any"], [5]),
    ("records", "t.csv", VISITS, "count --unit pid --by ward --groups a,b", CHOOSE),
    ("records", "t.csv", VISITS, "count --unit pid --by ward --groups a,b --at-most 2", [5, 5]),
    ("records", "t.csv", VISITS, "sum v --lower 0 --upper 1 --step 1 --unit pid", CHOOSE),
    ("records", "t.csv", VISITS, "sum v --lower 0 --upper 1 --step 1 --unit pid --at-most 2", [5]),
    # Files without a header: no message shows the first record.
    ("headerless", "t.csv", "000123,Zoe Secret\n000124,Bo\n", ["count", "age > 3"], HEADERLESS),
    ("headerless", "t.csv", "2024-01-01,Zoe Secret\n2024-01-02,Bo\n", ["count", "age > 3"], HEADERLESS),
    ("headerless", "t.csv", "secret@x.org,3\nbo@x.org,4\n", ["count", "age > 3"], HEADERLESS),
    *(
        ("headerless", "t.csv", f"Secret,{value}\nBo,4\n", ["count", "age > 3"], HEADERLESS)
        for value in ("3.5e2", "NA", "n/a", "?", "-", "NULL", "True", "12-Nov-2024", "Nov 12, 2024", "12%", "£5")
    ),
    ("headerless", "t.csv", "Secret,550e8400-e29b-41d4-a716-446655440000\n", ["count", "age > 3"], HEADERLESS),
    ("headerless", "t.csv", "age,Q1,A123,12 months,May,e2\n1,2\n", ["count", "agge > 3"], "did you mean age?"),
    ("headerless", "t.csv", ",Zoe Secret\n,Bo\n", ["count", "age > 3"], HEADERLESS),
    ("headerless", "t.csv", "Secret,Secret\nBo,Bo\n", "count", "two columns of one name"),
    ("headerless", "t.csv", 'id,"name\n1\nSecret"\n3\n', ["count", "age > 3"], HEADERLESS),
    ("headerless", "t.csv", "Report Secret,\n,\na,b\n1,2\n", ["count", "a = 1"], HEADERLESS),
    # Records that do not fit the header.
    ("records of another length", "t.csv", "a,b\n1,2,3\n1\n", "count", [2]),
    ("records of another length", "t.csv", "a,b,c\n1,2\n4,5,6\n", ["count", "c IS NULL"], [1]),
    ("records of another length", "t.csv", "a,b,c\n1,2\n4,5,6\n", ["count", "b > 1"], [2]),
    ("records of another length", "t.csv", '"town\nname",x\nEly,1\n', ["count", "x = 1"], [1]),
    ("records of another length", "t.csv", 'a,b\n1,"x\ny"\n2,z\n', ["count", "a = 2"], [1]),
    ("records of another length", "t.csv", 'a,b\n1,"x\n2,z\n3,y\n', ["count", "a = 2"], [1]),
    # Exports of office programs.
    ("office", "t.csv", "a;b\n1;2\n", ["count", "a = 1"], 'else say --delimiter ";"'),
    ("office", "t.csv", "a;b\n1,5;2\n2;3\n", f"{SUM} --delimiter ;", [2]),
    ("office", "t.csv", "sep=;\na;b\n1;2\n", ["count", "a = 1"], "begins with a line sep="),
    ("office", "t.csv", "\ufeffa,b\n1,2\n", ["count", "a = 1"], [1]),
    ("office", "t.csv", "a,b\n1,2\n".encode("utf-16"), ["count", "a = 1"], "is written in UTF-16"),
    ("office", "t.csv", "a,b\r1,2\r3,4\r", ["count", "b = 2"], "ends in a carriage return alone"),
    ("office", "t.csv", "a\tb\n1\t2\n", ["count", "a = 1"], 'else say --delimiter "\\t"'),
    ("office", "t.csv", 'a\n"1,000"\n1\nNA\n', SUM, [1]),
    ("office", "t.csv", "d\n26.11.2026\n2026-11-26\n", ["count", "d >= DATE '2026-01-01'"], [1]),
    ("office", "t.csv", "", "count", "has no columns"),
    ("office", "t.csv", "\n\na,b\n1,2\n", ["count", "a = 1"], "skip the lines above the names of columns"),
    ("office", "t.csv", " \r\na,b\r\n1,2\r\n", "count", "begins with an empty line"),
    ("office", "t.CSV", AB, "count", [2]),
    # Dates: a calculation is not taken for one.
    ("dates", "t.csv", DAYS, ["count", "d >= 2024-01-01"], "write a date as DATE '2024-01-01'"),
    (
        "dates",
        "t.csv",
        DAYS,
        ["count", "d BETWEEN DATE '2024-01-01' AND 2024-12-31"],
        "write a date as DATE '2024-12-31'",
    ),
    ("dates", "t.csv", DAYS, ["count", "d >= DATE 31.12.2024"], "holds 31.12.2024 without quotes"),
    ("dates", "t.csv", DAYS, ["count", "d = 12/31/2024"], "holds 12/31/2024 without quotes"),
    ("dates", "t.csv", DAYS, "count --by k=n-1+2024-01-01 --groups 2022", "holds 2024-01-01 without quotes"),
    ("dates", "t.csv", DAYS, ["count", "d >= DATE '31.12.2024'"], "takes '31.12.2024' for a date, which it is not"),
    ("dates", "t.csv", DAYS, ["count", "d >= DATE '2024-01-01'"], [1]),
    ("dates", "t.csv", DAYS, ["count", "n > 2024 - 1 - 1 AND n < 2024-1"], [0]),
    ("dates", "t.csv", DAYS, ["count", "n IS 5"], "write = or <> and the value"),
    # Categories and groups.
    ("categories", "t.csv", PARTIES, ["count", "--by", "party", "--groups", '"Smith, Ann",Green'], [1, 1]),
    ("categories", "t.csv", PARTIES, ["count", "--by", "party", "--groups", "Green,smith,GREEN"], [1, 1, 0]),
    ("categories", "t.csv", PARTIES, ["count", "--by", "party", "--groups", " Green,Green"], "'Green' twice"),
    ("categories", "t.csv", PARTIES, "count --by party --groups Grün", [1]),
    ("categories", "t.csv", PARTIES.encode("latin-1"), "count --by party --groups Grün --encoding latin-1", [1]),
    ("categories", "t.csv", PARTIES, "plurality party", "--categories: "),
    ("categories", "t.csv", PARTIES, "plurality party --categories Green;Red", "separate them with commas"),
    ("categories", "t.csv", PARTIES, ["plurality", "party", "--categories", "Green Red"], "separate them with commas"),
    # Files that Iris does not read.
    ("files", "t.xlsx", AB, "count", "that can be read to its end"),
    ("files", "t.dta", AB, "count", "that can be read to its end"),
    ("files", "t.sav", AB, "count", "that can be read to its end"),
    ("files", "t.rds", AB, "count", "write.csv(table"),
    ("files", "t.csv", '{"a": 1, "b": "Secret"}\n', ["count", "a = 1"], "ends in .jsonl"),
    ("files", "t.csv", '[{"a": 1}, {"b": "Secret"}]', ["count", "a = 1"], "is JSON, as its first bytes say"),
    ("files", "t.csv", "<html><p>Secret</p>", "count", "save the table as CSV"),
    ("files", "t.csv", '<?xml version="1.0"?>\n<r>Secret</r>', "count", "save the table as CSV"),
    ("files", "t.csv", "%PDF-1.7\nSecret", "count", "is a PDF"),
    ("files", "t.csv", "version https://git-lfs.github.com/spec/v1\noid", "count", "git lfs pull"),
    ("files", "t.csv", AB.encode("utf-32"), "count", "is written in UTF-32"),
    ("files", "t.txt", AB, "count", "copy it to a file that ends in .csv"),
    ("files", "t.json", AB, "count", "ends in .jsonl"),
    ("files", "t.zip", AB, "count", "unpack it"),
    ("files", "-", None, "count", "cannot be standard input"),
    ("files", "https://example.org/t.csv", None, "count", "download the file"),
    ("files", "*.csv", None, "count", "other files are named one by one"),
    ("files", "none.csv", None, "count", "finds no file at 'none.csv'"),
    ("files", "t.csv", AB, "count --ledger nowhere/x.ledger", "lies in a folder that does not exist"),
    ("files", "t.jsonl", '{"a": "007"}\n', "count", "--types: is missing"),
]


@pytest.mark.parametrize(("kind", "name", "content", "words", "answered"), CASES)
def test_what_people_bring_is_answered_as_they_mean_it_or_refused_with_a_remedy(
    kind, name, content, words, answered, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    asked = words.split() if isinstance(words, str) else words
    status = run(["publish", name, *asked, "--epsilon", "400", "--out", "o.csv"])
    said = capsys.readouterr()
    if isinstance(answered, str):
        assert status == 2 and answered in said.err, said.err
        assert said.out == "" and "secret" not in said.err.casefold()
        assert not [*tmp_path.glob("*.ledger")], "nothing is spent"
    else:
        assert status == 0, said.err
        with open("o.csv", encoding="utf-8") as file:
            assert [float(row["answer"]) for row in csv.DictReader(file)] == answered


@pytest.mark.parametrize(("words", "note"), [
    (["plurality", "party", "--categories", "Smith, Ann,Green"], '3 categories as declared: "Smith" · "Ann"'),
    (["count", "--by", "party", "--groups", "'Green'"], "1 group as declared: \"'Green'\""),
    (["count", "--by", "party", "--groups", "Grün"], "name it, as in --encoding windows-1252"),
    (["count", "--by", "party", "--groups", '"Smith, Ann"'], '1 group as declared: "Smith, Ann"'),
    (["count", "--by", "party", "--groups", "Green;Red"], '1 group as declared: "Green;Red"'),
    (["plurality", "party", "--categories", "Green|Red,Blue"], '2 categories as declared: "Green|Red" · "Blue"'),
    (["count", "party >= '31.12.2024'"], "letter by letter"),
    (["count", "party BETWEEN '1/1/2024' AND '31/12/2024'"], "letter by letter"),
    (["count", "party > '9'"], "'10' comes before '9'"),
    (["count", "party = NULL"], "write IS NULL or IS NOT NULL"),
    (["count", "party NOT IN ('Green', NULL)"], "write IS NULL or IS NOT NULL"),
    (["count", "party IS NULL"], "the texts NA and null are values"),
    (["count", "COALESCE(party, 'none') = 'none'"], "the texts NA and null are values"),
    (["count", "party > 4611686018427387905"], "neighbouring whole numbers are one and the same"),
])  # fmt: skip
@pytest.mark.parametrize("more", [["--dry-run"], []])
def test_what_may_have_been_meant_otherwise_is_shown_as_it_was_read(words, note, more, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(PARTIES, encoding="utf-8")
    assert run(["publish", "t.csv", *words, "--epsilon", "400", *more]) == 0
    assert note in capsys.readouterr().out


@pytest.mark.parametrize(("words", "left_out"), [
    ("count --unit pid", "leaves out records without pid"),
    ("count --unit pid --by ward --groups a,b --at-most 1", "counts at most 1 record of each pid"),
    ("sum v --lower 0 --upper 1 --step 1 --unit pid --at-most 1", "values beyond 0 and 1 count as the bound"),
    ("mean v --lower 0 --upper 1 --step 0.5", "records without a number are left out"),
    ("median v --bins 1,2", "leaves out records without v"),
    ("median v --bins 1,2 --unit pid --at-most 1", "record of each pid; leaves out records without pid; leaves out"),
    ("plurality ward --categories a,b", "leaves out records whose ward is not declared"),
    ("top 1 ward --categories a,b,c", "leaves out records whose ward is not declared"),
    ("ranking ward --categories a,b", "leaves out records whose ward is not declared"),
    ("count-distinct ward", "leaves out records without ward, but the text NA counts"),
])  # fmt: skip
def test_what_is_left_out_is_said_in_the_line_of_the_interval(words, left_out, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(VISITS)
    assert run(["publish", "t.csv", *words.split(), "--epsilon", "400"]) == 0
    assert left_out in next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith(("  interval", "  accuracy"))
    )


FRAME = pd.DataFrame({"ok": [True, False, None], 7: [1, 2, 3]})


@pytest.mark.parametrize(("data", "options", "answered"), [
    (FRAME[["ok"]], {"by": "ok", "groups": [True, False]}, [1, 1]),
    (FRAME[["ok"]].astype("boolean"), {"by": "ok", "groups": [True, False]}, [1, 1]),
    (FRAME, {}, "frame.columns = frame.columns.map(str)"),
    ("t.csv", {"by": "ok", "groups": [True]}, "write it as the file does, as in 'True', or declare the type of ok"),
])  # fmt: skip
def test_a_frame_is_answered_as_it_is_meant_or_refused_with_a_remedy(data, options, answered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("ok\nTrue\n")
    asked = {"epsilon": 400, "ledger": "l.ledger", **options}
    if isinstance(answered, str):
        with pytest.raises(BadInput, match=re.escape(answered)):
            irisdp.publish(data, "count", **asked)
    else:
        assert irisdp.publish(data, "count", **asked, table="t").answers.values == answered
