"""Names that records gave themselves: on terminals, in files for spreadsheets, and in JSON."""

import csv
import io
import json
import math

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import Answers
from irisdp._cli import run
from irisdp._frames import printable
from irisdp._queries import enumerate_keys
from irisdp._queries.statistics import LONGEST_KEY
from irisdp._release import answers_bytes, csv_cell
from irisdp._release.answers import as_written, defused
from irisdp._tables.table import open_table
from irisdp.interpretation._released import released_table

HOSTILE = [
    "=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "'=1", "''@x", "a;=1+1", "a\t=1", "a|=1",
    "\x1b[31mred", "\x1b]0;title\x07", "\x9b31m", "\x08\x08", "abc\u202edcba", "\u2066x\u2069", "a\u2028b", "\ufeffx",
    "[red]markup[/red]", 'quote"d', "two\nlines", "a,b", " space ", "'tis", "-5", "+5.0", "1e5", "-", "=", "ä", "日本",
]  # fmt: skip
FORMULAS = tuple("=+-@\t\r\n＝＋－＠")


def columns_of(text):
    return list(csv.reader(io.StringIO(text, newline="")))


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


@given(st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)))
def test_no_cell_is_a_formula_and_every_name_is_read_back(name):
    cell = csv_cell(name)
    ((read, _),) = columns_of(f"{cell},1\n")
    assert read == defused(name)
    assert is_number(read) or not read.startswith(FORMULAS)
    assert as_written(read) == name


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=5, unique=True))
def test_different_names_stay_different(names):
    assert len({defused(name) for name in names}) == len(names)


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=12)))
def test_what_is_printed_steers_no_terminal(name):
    shown = printable(name)
    assert shown.isascii() or shown.encode()
    assert not set(shown) & {chr(code) for code in (*range(32), *range(127, 160), 0x202E, 0x2066, 0x2028, 0xFEFF)}
    assert printable("plain ä 日本 text") == "plain ä 日本 text"


def test_numbers_stay_numbers():
    keys = [(-5, -0.5), (7, 1e300)]
    written = answers_bytes(Answers(("a", "b"), keys, [-1, 2]), _path("x.csv")).decode()
    assert written == "a,b,answer\n-5,-0.5,-1\n7,1e+300,2\n"
    assert answers_bytes(Answers((), [()], [-3]), _path("x.csv")) == b"answer\n-3\n"
    assert answers_bytes(Answers(("g",), [], []), _path("x.csv")) == b"g,answer\n"


def _path(name):
    from pathlib import Path

    return Path(name)


@pytest.fixture(params=["selected", "declared"])
def options(request):
    return {"select_groups": True, "delta": "1e-3"} if request.param == "selected" else {"groups": HOSTILE}


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_names_come_back_from_files_as_they_were(tmp_path, ending, options):
    table = pa.table({"=g": HOSTILE * 60})
    out = tmp_path / f"out.{ending}"
    published = irisdp.publish(table, "count", by=["=g"], **options, epsilon=5, ledger=tmp_path / "l.ledger", out=out)
    assert sorted(key for (key,) in published.answers.keys) == sorted(HOSTILE)
    found = released_table(f"{out}.release.json")
    assert found.by == ("=g",)
    assert sorted(key for (key,) in found.keys) == sorted(HOSTILE)
    if ending == "csv":
        with out.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        assert all(not cell.startswith(FORMULAS) or is_number(cell) for row in (header, *rows) for cell in row)
    if ending == "json":
        assert {row["=g"] for row in json.loads(out.read_text(encoding="utf-8"))} == set(HOSTILE)


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_selected_names_steer_no_terminal(tmp_path, capsys, as_json):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"g": HOSTILE * 60}), path)
    out = tmp_path / "out.csv"
    command = ["publish", str(path), "count", "--by", "g", "--select-groups", "--epsilon", "5", "--delta", "1e-3"]
    assert run([*command, "--out", str(out), *as_json]) == 0
    assert run(["interpret", f"{out}.release.json", *as_json]) == 0
    assert run(["ledger", str(tmp_path / "t.ledger"), *as_json]) == 0
    printed = capsys.readouterr().out
    assert "red" in printed
    assert not set(printed) & {
        chr(code) for code in (*range(10), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x2028)
    }
    assert "\\u001b" in printed if as_json else "\\x1b" in printed


def test_keys_nobody_could_read_are_no_keys():
    long = ["x" * LONGEST_KEY, "x" * (LONGEST_KEY + 1), "y" * 10**5]
    keys = enumerate_keys(open_table(pa.table({"g": long * 3})), "g")
    assert keys.counts.tolist() == [3]
    numbers = pa.array([1.5, float("inf"), float("-inf"), float("nan"), None], pa.float64())
    assert enumerate_keys(open_table(pa.table({"g": numbers})), "g").counts.tolist() == [1]


@pytest.mark.parametrize("zeros", [[0.0, -0.0], [-0.0, 0.0], [-0.0], [0.0]])
def test_of_two_zeros_the_data_chooses_none(zeros):
    keys = enumerate_keys(open_table(pa.table({"g": zeros})), "g")
    ((label,),) = keys.select(keys.counts > 0).labels
    assert math.copysign(1, label) == 1


def test_a_dry_run_shows_the_groups_as_they_were_read(tmp_path, capsys, monkeypatch):
    """A comma in an unquoted name makes two groups, and an answer about neither is charged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text('ward,n\n"Mönchengrün, Nord",1\nÖhringen,2\n', encoding="utf-8")
    asked = ["publish", "d.csv", "count", "--by", "ward", "--epsilon", "1", "--dry-run"]
    assert run([*asked, "--groups", "Mönchengrün, Nord,Öhringen"]) == 0
    assert 'groups    3 declared: "Mönchengrün" · "Nord" · "Öhringen"' in capsys.readouterr().out
    assert run([*asked, "--groups", '"Mönchengrün, Nord",Öhringen']) == 0
    assert 'groups    2 declared: "Mönchengrün, Nord" · "Öhringen"' in capsys.readouterr().out
    assert run([*asked, "--groups", ",".join(map(str, range(9)))]) == 0
    assert "groups    9 declared: " in capsys.readouterr().out
    question = {"query": "count", "by": "ward", "groups": ["Mönchengrün, Nord", "Öhringen"]}
    plan = {"data": "d.csv", "budget": {"epsilon": 1}, "questions": [question]}
    (tmp_path / "p.json").write_text(json.dumps(plan), encoding="utf-8")
    assert run(["batch", "p.json", "--dry-run"]) == 0
    assert 'groups    2 declared: "Mönchengrün, Nord" · "Öhringen"' in capsys.readouterr().out
