"""Messages that lead on: each says what was meant, judged by what is public alone, and nothing is spent."""

import ast
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp.cli.main import run
from irisdp.errors import BadInput
from irisdp.queries import Column, Kind, open_table, read_condition
from irisdp.release import Ledger, interpret, plan


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_text("age group,first-name,region,day\n1,b,n,2023-01-01\n")
    Path("spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 2}}')
    Path("mat.csv").write_text("1/2,1/2\n1/2,1/2\n")
    return tmp_path


def said(capsys, *arguments, status=2):
    assert run([*arguments]) == status
    return capsys.readouterr().err.removeprefix("irisdp: ").strip()


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_a_header_that_was_not_split_leads_to_the_delimiter(mark, here, capsys):
    Path("s.csv").write_text(f"age{mark}region\n70{mark}n\n")
    shown = "\\t" if mark == "\t" else mark
    asks = [["count", "age > 64"], ["count", "--by", "region", "--groups", "n"], ["count", "--unit", "age"]]
    for ask in asks:
        assert f'--delimiter "{shown}"' in said(capsys, "publish", "s.csv", *ask, "--epsilon", "1")
        assert run(["publish", "s.csv", *ask, "--epsilon", "1", "--delimiter", shown, "--dry-run"]) == 0
        capsys.readouterr()
    assert not Path("s.ledger").exists()


def test_records_say_nothing_about_the_delimiter(here, capsys):
    Path("s.csv").write_text("age\n70;n\n71|n\n")
    assert "--delimiter" not in said(capsys, "publish", "s.csv", "count", "region = 'n'", "--epsilon", "1")


def test_text_stands_in_single_quotes(here, capsys):
    line = said(capsys, "publish", "c.csv", "count", 'region = "n"', "--epsilon", "1")
    assert line.startswith("expression: names the column 'n', which the data does not have; ")
    assert "text is written in single quotes, 'n'; " in line
    assert "single quotes" not in said(capsys, "publish", "c.csv", "count", "region = n", "--epsilon", "1")


@pytest.mark.parametrize(
    ("text", "name"),
    [("age group > 3", "age group"), ("AGE GROUP = 3", "age group"), ("first-name = 'b'", "first-name")],
)
def test_a_name_with_a_space_or_sign_needs_double_quotes(text, name, here, capsys):
    line = said(capsys, "publish", "c.csv", "count", text, "--epsilon", "1")
    assert line.startswith(f"expression: holds the name '{name}' without quotes; ")
    assert line.endswith(f"write the column in double quotes, as in '\"{name}\" > 64'")
    assert run(["publish", "c.csv", "count", f"\"{name}\" = '3'", "--epsilon", "1", "--dry-run"]) == 0


def test_other_mistakes_beside_such_names_keep_their_message():
    columns = [Column("age group", Kind.NUMBER), Column("b", Kind.NUMBER)]
    for text in ('"age group" >', '"age group" > c', "b = c"):
        with pytest.raises(BadInput, match=r"is not a SQL condition|names the column 'c'"):
            read_condition(text, columns)


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_interpret_leads_from_the_answers_to_the_sidecar(ending, here, capsys):
    out = f"out.{ending}"
    assert run(["publish", "c.csv", "count", "--epsilon", "1", "--out", out]) == 0
    capsys.readouterr()
    assert f"name {out}.release.json" in said(capsys, "interpret", out)
    with pytest.raises(BadInput, match="name out"):
        interpret(Path(out))
    assert run(["interpret", f"{out}.release.json"]) == 0


@pytest.mark.parametrize("command", [["audit"], ["sample", "--input", "0"], ["interpret", "--value", "1"]])
def test_a_spec_is_designed_first(command, here, capsys):
    assert "run irisdp design first" in said(capsys, *command, "spec.json")


def test_audit_of_a_matrix_asks_for_graph_and_privacy(here, capsys):
    Path("g.json").write_text(json.dumps({"family": "path", "n": 2}))
    assert said(capsys, "audit", "mat.csv") == (
        "graph: is missing, and so is the privacy; give both: --graph G.json and --epsilon E or --ratio R"
    )
    assert "--graph G.json" in said(capsys, "audit", "mat.csv", "--epsilon", "1")
    assert "--epsilon E" in said(capsys, "audit", "mat.csv", "--graph", "g.json")
    assert run(["audit", "mat.csv", "--graph", "g.json", "--epsilon", "1"]) == 0


@pytest.mark.parametrize("query", ["at-least", "at-most"])
def test_a_broken_number_is_named_with_its_neighbours(query, here, capsys):
    assert said(capsys, "publish", "c.csv", query, "5.5", "--epsilon", "1") == "K: must be a whole number; write 5 or 6"


def test_a_refusal_says_what_can_be_done(here, capsys):
    Ledger("l.ledger").set_limit(1)
    line = said(capsys, "publish", "c.csv", "count", "--epsilon", "2", "--ledger", "l.ledger", status=1)
    assert all(way in line for way in ("ask with less", "irisdp ledger FILE --limit", "ask again what was answered"))


def test_the_heading_is_grammatical(here):
    table = pa.table({"p": [1], "b": [True]})
    asked = {each: plan(table, "majority", "b", epsilon=1, unit="p", per_unit=each).line for each in ("any", "all")}
    assert asked == {"any": "majority b for any record per p", "all": "majority b for all records per p"}


@pytest.mark.parametrize(
    "text",
    [
        "day < DATE '2023-02-30'",
        "day < '2023-02-30'",
        "day = CAST('2023-13-01' AS DATE)",
        "day > TIMESTAMP '2023-01-01 25:00:00'",
        "day = TRY_CAST(('yesterday') AS TIMESTAMP)",
        "DATE '2023-02-30' IS NULL",
    ],
)
def test_an_impossible_date_is_refused(text, here):
    pq.write_table(pa.table({"day": pa.array([0], pa.date32())}), "d.parquet")
    with pytest.raises(BadInput, match=r"^expression: takes '.*' for a date, which it is not; write dates as"):
        read_condition(text, open_table("d.parquet").columns)


def texts_with_options(source):
    """Return the texts of a file, docstrings apart, that name an option as the command line does."""
    nodes = list(ast.walk(ast.parse(source)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    texts = [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [text.value for text in texts if id(text) not in docstrings and re.search(r"(?<![\w-])--[a-z]", text.value)]


def test_the_library_speaks_the_names_of_python():
    """The command line alone knows its options, and translates; a command to be typed may be named whole."""
    source = Path(irisdp.__file__).parent
    found = {
        path.name: text
        for path in source.rglob("*.py")
        if "cli" not in path.parts and not path.name.startswith("verify_")
        for text in texts_with_options(path.read_text(encoding="utf-8"))
        if "irisdp ledger FILE --limit" not in text
    }
    assert found == {}
    assert texts_with_options('raise BadInput("delta", "is missing", "add --delta 1e-6")') == ["add --delta 1e-6"]


def test_python_and_the_command_line_name_an_option_each_in_its_way(tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("age\n70\n")
    for options, arguments, python, typed in (
        ({}, [], "epsilon: is missing; add epsilon=1", "--epsilon: is missing; add --epsilon 1"),
        (
            {"epsilon": 1, "selection_delta": "1e-9"},
            ["--epsilon", "1", "--selection-delta", "1e-9"],
            "selection_epsilon: belongs to select_groups=True; add select_groups=True or leave it out",
            "--selection-epsilon: belongs to --select-groups; add --select-groups or leave it out",
        ),
        (
            {"audience": ["a b=1"]},
            ["--audience", "a"],
            "audience: must have names of letters, digits, - and _; write for example press=0.5",
            "--audience: must be NAME=E, each name once; write for example --audience press=0.5",
        ),
    ):
        with pytest.raises(BadInput) as refusal:
            irisdp.publish(path, "count", **options)
        assert str(refusal.value) == python
        assert run(["publish", str(path), "count", *arguments]) == 2
        assert capsys.readouterr().err == f"irisdp: {typed}\n"
