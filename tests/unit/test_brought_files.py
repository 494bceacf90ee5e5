"""Files and questions as people bring them: each with its answer, or its status and words of its message.

At ε = 400 the noise is 0 but for a chance below 1e-16. Further cases of a class are tested in
detail elsewhere: codes in `oracles/test_codes.py`, streams in `test_streams.py`, hints in `test_hints.py`.
"""

import csv
import re

import pandas as pd
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run

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
    ("office", "t.csv", "\n\na,b\n1,2\n", ["count", "a = 1"], "delete the lines above the names of columns"),
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
    ("files", "t.xlsx", AB, "count", "pandas.read_excel"),
    ("files", "t.dta", AB, "count", "pandas.read_stata"),
    ("files", "t.sav", AB, "count", "pandas.read_spss"),
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
    ("files", "t.csv", AB, "count --ledger nowhere/x.ledger", "lies in a folder that is not there"),
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


@pytest.mark.parametrize(
    ("words", "note"),
    [
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
    ],
)
@pytest.mark.parametrize("more", [["--dry-run"], []])
def test_what_may_have_been_meant_otherwise_is_shown_as_it_was_read(words, note, more, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(PARTIES, encoding="utf-8")
    assert run(["publish", "t.csv", *words, "--epsilon", "400", *more]) == 0
    assert note in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "left_out"),
    [
        ("count --unit pid", "leaves out records without pid"),
        ("count --unit pid --by ward --groups a,b --at-most 1", "counts at most 1 record of each pid"),
        ("sum v --lower 0 --upper 1 --step 1 --unit pid --at-most 1", "values beyond 0 and 1 count as the bound"),
        ("mean v --lower 0 --upper 1 --step 0.5", "records without a number are left out"),
        ("median v --bins 1,2", "leaves out records without v"),
        (
            "median v --bins 1,2 --unit pid --at-most 1",
            "record of each pid; leaves out records without pid; leaves out",
        ),
        ("plurality ward --categories a,b", "leaves out records whose ward is not declared"),
        ("top 1 ward --categories a,b,c", "leaves out records whose ward is not declared"),
        ("ranking ward --categories a,b", "leaves out records whose ward is not declared"),
        ("count-distinct ward", "leaves out records without ward, but the text NA counts"),
    ],
)
def test_what_is_left_out_is_said_in_the_line_of_the_interval(words, left_out, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(VISITS)
    assert run(["publish", "t.csv", *words.split(), "--epsilon", "400"]) == 0
    assert left_out in next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith(("  interval", "  accuracy"))
    )


FRAME = pd.DataFrame({"ok": [True, False, None], 7: [1, 2, 3]})


@pytest.mark.parametrize(
    ("data", "options", "answered"),
    [
        (FRAME[["ok"]], {"by": "ok", "groups": [True, False]}, [1, 1]),
        (FRAME[["ok"]].astype("boolean"), {"by": "ok", "groups": [True, False]}, [1, 1]),
        (FRAME, {}, "frame.columns = frame.columns.map(str)"),
        ("t.csv", {"by": "ok", "groups": [True]}, "write it as the file does, as in 'True', or declare the type of ok"),
    ],
)
def test_a_frame_is_answered_as_it_is_meant_or_refused_with_a_remedy(data, options, answered, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("ok\nTrue\n")
    asked = {"epsilon": 400, "ledger": "l.ledger", **options}
    if isinstance(answered, str):
        with pytest.raises(BadInput, match=re.escape(answered)):
            irisdp.publish(data, "count", **asked)
    else:
        assert irisdp.publish(data, "count", **asked, table="t").answers.values == answered
