"""Workbooks and files of statistics programs are read as the text that they hold, cell by cell."""

import json
import os
import re
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest

import irisdp
from irisdp import BadInput, batch, plan, publish
from irisdp._cli import run
from irisdp._release import check_data
from irisdp._tables import books
from irisdp._tables.table import open_table
from support.workbooks import write_workbook

pytest.importorskip("python_calamine")
pyreadstat = pytest.importorskip("pyreadstat")
pytestmark = pytest.mark.usefixtures("one_engine")


def rows(path, **form):
    table = open_table(path, **form)
    listed = ", ".join(f"{each.reference.sql('duckdb')} AS c{place}" for place, each in enumerate(table.columns))
    found = table.run(f"SELECT {listed} FROM data", table.columns)
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


CELLS = {
    "text": ("Ely, York", "Ely, York"),
    "a quote and lines": ("5'11\"\n6", "5'11\"\n6"),
    "a whole number": (3, "3"),
    "a whole number as a fraction": (("number", "3.0"), "3"),
    "a fraction": (2.5, "2.5"),
    "a truth": (("truth", 1), "true"),
    "a date": (("date", 45000), "2023-03-15"),
    "a moment": (("time", 45000.75), "2023-03-15 18:00:00"),
    "an error": (("error", "#DIV/0!"), None),
    "the value of a formula": (("formula", 2), "2"),
    "no value": (None, None),
    "no number": (("number", "NaN"), None),
    "a date beyond all": (("date", "1e9"), "1000000000"),
    "a number beyond all": (("number", "1e300"), "1e+300"),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_is_read_alike_whatever_others_hold(kind, tmp_path):
    stored, expected = CELLS[kind]
    write_workbook(tmp_path / "t.xlsx", [["id", "v"], [1, stored]])
    assert rows(tmp_path / "t.xlsx") == [("1", expected)]
    others = [[number, value] for number, (value, _) in enumerate(CELLS.values(), 2)]
    write_workbook(tmp_path / "t.xlsx", [["id", "v"], [1, stored], *others])
    found = rows(tmp_path / "t.xlsx")
    assert found[0] == ("1", expected)
    assert found[1:] == [(str(number), text) for number, (_, text) in enumerate(CELLS.values(), 2)]


def test_options_of_rows_and_codes_hold_in_workbooks(tmp_path):
    sheet = [["Report"], [], ["id", "age"], ["a", 30], [None, None], ["b", 99], ["Total", 129]]
    write_workbook(tmp_path / "t.xlsx", sheet)
    form = {"skip_rows": 2, "footer_rows": 1, "missing_codes": "99"}
    assert rows(tmp_path / "t.xlsx", **form) == [("a", "30"), ("b", None)]
    published = publish(tmp_path / "t.xlsx", "count", "age > 20", epsilon=50, **form)
    assert published.to_document()["answers"][0]["answer"] == 1
    assert "t.ledger" in os.listdir(tmp_path)
    assert (
        plan(tmp_path / "t.xlsx", "count", epsilon=1, **form).subject()["text"]["library"].startswith("python-calamine")
    )
    found = check_data(tmp_path / "t.xlsx", skip_rows=2)
    assert found.records == 3
    assert any("footer_rows=1" in warning for warning in found.warnings)


SHEETS = {"rows": [["id", "v"], ["a", 1]], "More": [["id", "v"], ["b", 2], ["c", 2]], "2024": [["v"], [7]]}


@pytest.fixture
def several(tmp_path):
    write_workbook(tmp_path / "s.xlsx", **SHEETS)
    return tmp_path / "s.xlsx"


def test_a_workbook_with_several_sheets_needs_a_choice(several):
    said = (
        "sheet: is missing, and the workbook has 3 sheets ('Data', 'More', '2024'); name the one that holds the table"
    )
    for opened in (open_table, check_data, irisdp.Session, lambda path: plan(path, "count", epsilon=1)):
        with pytest.raises(BadInput, match=re.escape(said)):
            opened(several)
    with pytest.raises(BadInput, match=re.escape("sheet: names 'data2', which the workbook does not have; choose")):
        open_table(several, sheet="data2")
    with pytest.raises(BadInput, match="sheet: must be the name of a sheet"):
        open_table(several, sheet=1)
    assert os.listdir(several.parent) == ["s.xlsx"]
    assert rows(several, sheet="Data") == [("a", "1")]
    assert rows(several, sheet="more") == [("b", "2"), ("c", "2")]
    assert rows(several, sheet="2024") == [("7",)]


def test_the_sheet_belongs_to_the_question_where_there_are_several(several, tmp_path):
    asked = [plan(several, "count", epsilon=1, sheet=each) for each in ("Data", "More", "mORE")]
    subjects = [each.subject() for each in asked]
    assert subjects[0] != subjects[1] == subjects[2]
    assert subjects[1]["text"]["sheet"] == "More"
    assert "from the sheet 'More' of a workbook" in asked[1].table.reading
    write_workbook(tmp_path / "one.xlsx", SHEETS["rows"])
    alone = [plan(tmp_path / "one.xlsx", "count", epsilon=1, **each).subject() for each in ({}, {"sheet": "Data"})]
    assert alone[0] == alone[1]


def test_every_place_that_takes_options_takes_a_sheet(several, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["publish", "s.xlsx", "count", "v = 2", "--epsilon", "50", "--json"]
    assert run(asked) == 2
    assert "as in --sheet Data" in capsys.readouterr().err
    assert run([*asked, "--sheet", "More"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"][0]["answer"] == 2
    question = {"query": "count", "expression": "v = 2"}
    document = {"data": "s.xlsx", "sheet": "More", "budget": {"epsilon": 50}, "questions": [question]}
    (published,) = batch(document)
    assert published.to_document()["answers"][0]["answer"] == 2
    lines = ["[datasets.s]", 'data = "s.xlsx"', 'sheet = "More"', "[[questions]]", 'query = "count"', "epsilon = 50"]
    Path("plan.toml").write_text("\n".join(lines))
    assert run(["run", "plan.toml", "--dry-run"]) == 0
    assert irisdp.init_project("s.xlsx", sheet="More").read_text("utf-8").count('\nsheet = "More"\n') == 1
    assert plan("s.xlsx", "count", epsilon=1).subject()["text"]["sheet"] == "More"
    Path("t.csv").write_text("v\n1\n")
    with pytest.raises(BadInput, match=r"sheet: names a sheet of an \.xlsx workbook; leave it out"):
        open_table("t.csv", sheet="Data")
    with pytest.raises(BadInput, match="sheet: belongs to"):
        plan(pd.DataFrame({"v": [1]}), "count", epsilon=1, sheet="Data")


@pytest.fixture
def survey():
    return pd.DataFrame({
        "sex": [1.0, 2.0, 3.0],
        "n": [1.0, 2.5, float("nan")],
        "name": ["Ann", 'Bö "x", y', ""],
        "born": [date(1999, 12, 31), date(2000, 1, 1), None],
        "seen": [datetime(2020, 1, 1, 12, 30), None, datetime(2021, 1, 1)],
    })  # fmt: skip


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_labels_become_text_unless_codes_are_asked_for(ending, survey, tmp_path):
    path = tmp_path / f"t{ending}"
    write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
    write(survey, str(path), variable_value_labels={"sex": {1: "male", 2: "female"}})
    rest = [
        ("1", "Ann", "1999-12-31", "2020-01-01 12:30:00"),
        ("2.5", 'Bö "x", y', "2000-01-01", None),
        (None, None, None, "2021-01-01 00:00:00"),
    ]
    labels, codes = ("male", "female", "3"), ("1", "2", "3")
    assert rows(path) == [(first, *row) for first, row in zip(labels, rest, strict=True)]
    assert rows(path, codes=True) == [(first, *row) for first, row in zip(codes, rest, strict=True)]
    asked = [plan(path, "count", "sex = 'x'", epsilon=1, codes=each).subject() for each in (False, True)]
    assert asked[0] != asked[1]
    assert asked[1]["text"]["codes"] is True


def test_a_date_that_is_none_is_no_error():
    origin, step, days = books._dates("%td", stata=True)
    for value in (float("nan"), float("inf"), 1e300, -1e9):
        assert books._date(value, origin, step, days) == ""
    assert books._date(0, origin, step, days) == "1960-01-01"
    assert books._dates("DATETIME20", stata=False) == (datetime(1582, 10, 14), step / 86_400, False)
    assert books._dates("F8.2", stata=False) is None


@pytest.mark.parametrize(
    ("name", "content"), [("t.xlsx", b"PK\3\4xx"), ("t.sav", b"$FL2xx"), ("t.dta", b"<stata_dta>")]
)
def test_a_damaged_file_is_refused_as_a_whole(name, content, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=r"^data: is no \.[a-z]+ file that can be read to its end; save it again"):
        open_table(tmp_path / name)


@pytest.mark.parametrize(
    "option", [{"decimal": ","}, {"encoding": "latin-1"}, {"delimiter": ";"}, {"codes": True}], ids=str
)
def test_options_that_a_workbook_does_not_need_are_refused(option, tmp_path):
    write_workbook(tmp_path / "t.xlsx", [["v"], [1]])
    with pytest.raises(BadInput, match=f"^{next(iter(option))}: "):
        open_table(tmp_path / "t.xlsx", **option)


def test_without_its_library_a_file_is_refused_with_what_to_install(tmp_path, monkeypatch):
    write_workbook(tmp_path / "t.xlsx", [["v"], [1]])

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(books, "version", absent)
    with pytest.raises(BadInput, match=r"python-calamine is not installed; pip install 'irisdp\[files\]'"):
        open_table(tmp_path / "t.xlsx")
