"""A dry run of every query prints its plan: as text, as JSON, and as one question of a batch."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import plan
from irisdp._cli import run
from irisdp._queries import FORMS

BIN_OPTIONS = ["--bins", "10,20"]
BOUNDS = ["--lower", "-5", "--upper", "20", "--step", "1"]
CHOICES = ["--categories", "a,b,c"]
OPTIONS = {
    "plurality": CHOICES,
    "top": CHOICES,
    "ranking": CHOICES,
    "column": [*CHOICES, "--relation", "exchange"],
    "median": BIN_OPTIONS,
    "quantile": BIN_OPTIONS,
    "quantiles": BIN_OPTIONS,
    "histogram": BIN_OPTIONS,
    "sum": BOUNDS,
    "mean": BOUNDS,
    "variance": BOUNDS,
    "deviation": BOUNDS,
}


def asked(form):
    """Return a query of a form, with something for all that it leaves open."""
    column = "x" if OPTIONS.get(form.name) in (BIN_OPTIONS, BOUNDS) or form.name == "bounds" else "c"
    words = (
        form.usage.replace("T1,T2,…", "5, 10")
        .replace("P1,P2,…", "0.1,0.9")
        .replace("[K]", "")
        .replace("[EXPR]", "")
        .replace("COLUMN", column)
    )
    words = words.replace("EXPR", "x > 1").replace(" K", " 1").replace(" P", " 0.9").split()
    return [form.name, *([" ".join(words[1:])] if len(words) > 1 else [])]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x,c\n1,a\n15,b\n25,z\n")


WRITTEN = [form for form in FORMS if form.name != "apply"]
"""A mechanism file has tests of its own."""


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("form", [form for form in WRITTEN if form.name != "column"], ids=lambda form: form.name)
def test_each_is_planned_in_a_batch(form, capsys, tmp_path):
    name, *words = asked(form)
    options = dict(zip(OPTIONS.get(name, [])[::2], OPTIONS.get(name, [])[1::2], strict=True))
    question = {"query": " ".join([name, *words]), **{key.removeprefix("--"): value for key, value in options.items()}}
    if form.name == "majority":
        question = {"query": name, "expression": words[0]}
    plan = {"data": "t.csv", "budget": {"epsilon": 2}, "questions": [question]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert run(["batch", "plan.json", "--dry-run"]) == 0
    assert "dry run: no record was read, nothing was spent" in capsys.readouterr().out


def test_a_plan_says_that_dates_are_compared_as_text_whatever_the_records_hold(tmp_path):
    """The line follows from question and schema: a table of other records has it too, and a declared type ends it."""
    said = set()
    for name, record in (("a", "2024-01-01T00:30:00+01:00"), ("b", "31.12.2023"), ("c", "7")):
        (tmp_path / f"{name}.csv").write_text(f"day\n{record}\n")
        found = plan(tmp_path / f"{name}.csv", "count", "day >= '2024-01-01'", epsilon=1)
        said.add((tuple(found.describe_reading()), found.to_document()["reading"]))
    ((lines, reading),) = said
    assert lines[2].startswith("with day as text, compared with '2024-01-01' letter by letter")
    assert reading.endswith("; " + lines[2].partition(";")[0])
    typed = plan(tmp_path / "a.csv", "count", "day >= '2024-01-01'", epsilon=1, types={"day": "date"})
    assert not any("letter" in line for line in typed.describe_reading())
    days = plan(tmp_path / "a.csv", "count", by="day", groups="2024-01-01,2024-01-02", epsilon=1)
    assert "with day as text: a date is found where it is spelt as '2024-01-01' is" in days.describe_reading()[2]
    party = plan(tmp_path / "a.csv", "plurality", "day", categories="2024-01-01,2024-01-02", epsilon=1)
    assert "with day as text" in party.describe_reading()[2]
    frame = plan(pa.table({"day": ["x"]}), "count", "day >= '2024-01-01'", epsilon=1)
    assert frame.to_document()["reading"].startswith("day as text; with day as text")
    plain = plan(pa.table({"day": ["x"]}), "count", "day = 'x'", epsilon=1)
    assert plain.to_document()["reading"] == "day as text"


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """A folder of two parts, and what asks about one of them in every way that may run dry."""
    monkeypatch.chdir(tmp_path)
    for year in (1, 2):
        (tmp_path / "sales" / f"year={year}").mkdir(parents=True)
        pq.write_table(pa.table({"v": [year, 2]}), tmp_path / "sales" / f"year={year}" / "0.parquet")
    part = "sales/year=1/*.parquet"
    batch = {"data": part, "budget": {"epsilon": 0.1}, "questions": [{"query": "count"}]}
    (tmp_path / "batch.json").write_text(json.dumps(batch))
    plan = f'[datasets.t]\ndata = "{part}"\n[[questions]]\nquery = "count"\nepsilon = 0.1\n'
    (tmp_path / "plan.toml").write_text(plan)
    return [["publish", part, "count", "--epsilon", "0.1"], ["batch", "batch.json"], ["run", "plan.toml"]]


def test_a_part_of_a_folder_is_known_by_its_content_alone(parts, capsys):
    assert run(["publish", "sales", "count", "--epsilon", "1"]) == 0
    capsys.readouterr()
    for command in parts:
        assert run([*command, "--dry-run"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "would be refused unless the data is what was answered about under another name: " in said
        assert "Ask about sales, and choose a part of the folder with a condition" in said
        assert "--table" not in said and "has changed since" not in said
        assert run(command) == 1, "as foretold"
        assert "--table" not in capsys.readouterr().err


def test_where_nothing_was_answered_no_content_is_known(parts, capsys):
    assert run(["ledger", "sales.ledger", "--table", "sales"]) == 0
    capsys.readouterr()
    for command in parts:
        assert run([*command, "--dry-run"]) == 1
        assert "would be refused: " in " ".join(capsys.readouterr().out.split())
        assert run(command) == 1, "as foretold"
        capsys.readouterr()
    assert run(["publish", "sales", "count", "--epsilon", "1", "--dry-run"]) == 0, "control"


def test_the_whole_under_a_pattern_is_the_same_table(parts, capsys):
    assert run(["publish", "sales", "count", "--epsilon", "1"]) == 0
    ask = ["publish", "sales/*/*.parquet", "count", "--epsilon", "1"]
    assert run([*ask, "--dry-run"]) == run(ask) == 0
    assert "this question was answered before" in capsys.readouterr().out
