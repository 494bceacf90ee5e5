"""Messages that lead on: each says what was meant, judged by what is public alone, and nothing is spent."""

import ast
import json
import re
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Ledger, consumers, interpret, plan
from irisdp._cli import run
from irisdp._cli.commands import in_options
from irisdp._queries import as_asked
from irisdp._queries.groups import read_declared
from irisdp._tables.columns import Column, ColumnType
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table
from support.releases import forget_digests


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
@pytest.mark.parametrize("header", ["age{}region", '"age"{}"region"', '"age, in years"{}region'])
def test_a_header_that_was_not_split_leads_to_the_delimiter(header, mark, here, capsys):
    Path("s.csv").write_text(f"{header.format(mark)}\n70{mark}n\n")
    batch = {"data": "s.csv", "budget": {"epsilon": "1"}, "questions": [{"query": "count"}]}
    Path("b.json").write_text(json.dumps(batch))
    Path("p.toml").write_text('[datasets.s]\ndata = "s.csv"\n[[questions]]\nquery = "count"\nepsilon = 1\n')
    shown = "\\t" if mark == "\t" else mark
    asks = [
        [],
        ["--by", "region", "--groups", "n"],
        ["--unit", "region", "--at-most", "1"],
        ["region = 'n'"],
        ["--delimiter", ","],
    ]
    commands = [["publish", "s.csv", "count", *ask, "--epsilon", "1"] for ask in asks]
    commands += [["batch", "b.json"], ["run", "p.toml"], ["init", "s.csv"]]
    for command in commands:
        line = said(capsys, *command)
        assert "has one column whose name holds " in line
        assert re.search(f'else say .*delimiter.* "{re.escape(shown)}"$', line)
    for ask in asks[:-1]:
        assert run(["publish", "s.csv", "count", *ask, "--epsilon", "1", "--delimiter", shown, "--dry-run"]) == 0
        capsys.readouterr()
    assert {path.name for path in here.iterdir()}.isdisjoint({"s.ledger", "s.toml", ".tables.irisdp-secret"})


def test_a_header_with_commas_alone_leads_to_the_comma(here, capsys):
    Path("s.csv").write_text("age,region\n70,n\n")
    Path("s.tsv").write_text("age,region\n70,n\n")
    for file, *form in (["s.csv", "--delimiter", ";"], ["s.tsv"]):
        line = said(capsys, "publish", file, "count", "--epsilon", "1", *form)
        assert line.endswith(
            "holds commas; write the name in double quotes if it is one column; else say --delimiter ,"
        )


@pytest.mark.parametrize("header", ['"a;b"', "a", '"a|b"', '"a,b"', '""";"""'])
def test_one_column_whose_name_is_in_quotes_is_one(header, here, capsys):
    Path("s.csv").write_text(f"{header}\n70;n\n")
    assert run(["publish", "s.csv", "count", "--epsilon", "1", "--dry-run"]) == 0


def test_records_say_nothing_about_the_delimiter(here, capsys):
    Path("s.csv").write_text("age\n70;n\n71|n\n")
    assert "--delimiter" not in said(capsys, "publish", "s.csv", "count", "region = 'n'", "--epsilon", "1")


def test_text_stands_in_single_quotes(here, capsys):
    line = said(capsys, "publish", "c.csv", "count", 'region = "n"', "--epsilon", "1")
    assert line.startswith("EXPR: names the column 'n', which the data does not have; ")
    assert "text is written in single quotes, 'n'; " in line
    assert "single quotes" not in said(capsys, "publish", "c.csv", "count", "region = n", "--epsilon", "1")


@pytest.mark.parametrize(
    ("text", "name"),
    [("age group > 3", "age group"), ("AGE GROUP = 3", "age group"), ("first-name = 'b'", "first-name")],
)
def test_a_name_with_a_space_or_sign_needs_double_quotes(text, name, here, capsys):
    line = said(capsys, "publish", "c.csv", "count", text, "--epsilon", "1")
    assert line.startswith(f"EXPR: holds the name '{name}' without quotes; ")
    assert line.endswith(f"write the column in double quotes, as in '\"{name}\" > 64'")
    assert run(["publish", "c.csv", "count", f"\"{name}\" = '3'", "--epsilon", "1", "--dry-run"]) == 0


def test_other_mistakes_beside_such_names_keep_their_message():
    columns = [Column("age group", ColumnType.NUMBER), Column("b", ColumnType.NUMBER)]
    for text in ('"age group" >', '"age group" > c', "b = c"):
        with pytest.raises(BadInput, match=r"is not a SQL condition|names the column 'c'"):
            read_condition(text, columns)


@pytest.mark.parametrize("text", ["when > '2024-01-01'", "region = 'n' AND NOT when = 3", "3 < When"])
def test_a_column_called_like_a_word_of_sql_needs_double_quotes(text):
    columns = [Column("when", ColumnType.UNTYPED), Column("region", ColumnType.UNTYPED)]
    with pytest.raises(BadInput) as refusal:
        read_condition(text, columns)
    assert str(refusal.value) == (
        "expression: holds when, which names a column and is a word of SQL; "
        "write the column in double quotes, as in '\"when\" > 64'"
    )
    assert read_condition("\"when\" > '2024-01-01'", columns)
    with pytest.raises(BadInput, match="is not a SQL condition"):
        read_condition('"when" > =', columns)


def test_a_typing_error_in_a_column_says_which_was_meant():
    columns = [Column(name, ColumnType.UNTYPED) for name in ("Age", "educ", "region")]
    for text, near in (("eudc = 1", "did you mean educ? "), ("agee = 1", "did you mean Age? "), ("zzz = 1", "")):
        with pytest.raises(BadInput, match=rf"does not have; {re.escape(near)}choose from Age, educ, region$"):
            read_condition(text, columns)


@pytest.mark.parametrize("file", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet"])
def test_a_file_that_may_not_be_read_says_so(file, here, monkeypatch):
    Path(file).write_bytes(b"a\n1\n")
    opens = Path.open

    def denied(path, *arguments, **more):
        if path.name == file:
            raise PermissionError
        return opens(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(BadInput, match=r"^data: may not be read by this user: permission denied; ask its owner"):
        open_table(file, types={"a": "integer"} if file.endswith("jsonl") else None)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_file_in_utf_16_leads_to_utf_8(encoding, here, capsys):
    Path("t.csv").write_bytes(
        ("" if encoding == "utf-16" else "\ufeff").encode(encoding) + "a,b\n1,2\n".encode(encoding)
    )
    line = said(capsys, "publish", "t.csv", "count", "--epsilon", "1")
    assert line == "DATA: is written in UTF-16, as its first bytes say; save it as UTF-8"


@pytest.mark.parametrize("declared", [[], ["--encoding", "latin-1"], ["--encoding", "windows-1252"]])
@pytest.mark.parametrize(("content", "rule"), [
    ("a,b\n1,2\n".encode("utf-16"), "is written in UTF-16, as its first bytes say; save it as UTF-8"),
    ("a,b\n1,2\n".encode("utf-16-le"), "has zero bytes in its header, as text in UTF-16 has; save it as UTF-8"),
    ("a,b\n1,2\n".encode("utf-16-be"), "has zero bytes in its header, as text in UTF-16 has; save it as UTF-8"),
    (b"SQLite format 3\0...", "is a SQLite database, as its first bytes say; write sqlite:///FILE#TABLE"),
    (b"PAR1\x15\4...", "is a Parquet file, as its first bytes say; name it so that it ends in .parquet"),
    (b"PK\3\4...", "is a workbook or another zip archive, as its first bytes say; save the sheet as CSV"),
    (b"\x1f\x8b\x08", "is a gzip file, as its first bytes say; name it so that it ends in .csv.gz"),
])  # fmt: skip
def test_what_is_no_text_is_called_what_it_is_whatever_encoding_is_declared(content, rule, declared, here, capsys):
    Path("t.csv").write_bytes(content)
    assert said(capsys, "publish", "t.csv", "count", "--epsilon", "1", *declared) == f"DATA: {rule}"


def test_what_a_record_begins_with_does_not_say_what_the_file_is(here):
    Path("t.csv").write_bytes(b"a\n\0PAR1\x15SQLite format 3\0\n")
    assert run(["publish", "t.csv", "count", "--epsilon", "1", "--dry-run"]) == 0


@pytest.mark.parametrize("header", ["ward;admitted;cost, EUR", "ward;cost, EUR", "a|b|c,d"])
def test_a_header_that_two_delimiters_part_asks_which_it_is(header, here, capsys):
    mark = "|" if "|" in header else ";"
    Path("t.csv").write_text(f"{header}\n1{mark}2{mark}3,4\n")
    line = said(capsys, "publish", "t.csv", "count", "--epsilon", "1")
    assert f'and commas, too; say which of them it is: --delimiter "{mark}" or --delimiter ,' in line
    for each in (mark, ","):
        assert run(["publish", "t.csv", "count", "--epsilon", "1", "--dry-run", "--delimiter", each]) == 0


@pytest.mark.parametrize(
    ("file", "remedy"), [("t.db", "sqlite:///FILE#TABLE"), ("t.sqlite#v", "sqlite:///FILE#TABLE"), ("t.xls", "a .csv")]
)
def test_an_ending_that_is_not_read_leads_to_what_is(file, remedy, here, capsys):
    Path(file).touch()
    line = said(capsys, "publish", file, "count", "--epsilon", "1")
    assert "cannot read a file that ends in" in line and remedy in line


def test_a_file_below_a_partition_that_is_no_part_of_a_table_says_so(here):
    for file in ("s/year=2024/t.csv", "s/year=2024/deep/t.csv"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text("a\n1\n")
        (_, line) = irisdp.plan(file, "count", epsilon=1).describe_reading()
        assert line.startswith("as a table of its own, with a budget of its own: what the folder 'year=2024' says")


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_interpret_finds_the_sidecar_beside_the_answers(ending, here, capsys):
    out = f"out.{ending}"
    assert run(["publish", "c.csv", "count", "--epsilon", "1", "--out", out]) == 0
    assert interpret(Path(out)).answers == interpret(f"{out}.release.json").answers
    assert run(["interpret", out]) == run(["interpret", f"{out}.release.json"]) == 0


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
    assert all(way in line for way in ("ask with less", "irisdp ledger FILE --limit", "repeat an answered question"))


def test_the_heading_is_grammatical(here):
    table = pa.table({"p": [1], "b": [True]})
    asked = {each: plan(table, "majority", "b", epsilon=1, unit="p", per_unit=each).line for each in ("any", "all")}
    assert asked == {"any": "majority b for any record per p", "all": "majority b for all records per p"}


@pytest.mark.parametrize("text", [
    "day < DATE '2023-02-30'",
    "day < '2023-02-30'",
    "day = CAST('2023-13-01' AS DATE)",
    "day > TIMESTAMP '2023-01-01 25:00:00'",
    "day = TRY_CAST(('yesterday') AS TIMESTAMP)",
    "DATE '2023-02-30' IS NULL",
])  # fmt: skip
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
        if not {"_cli", "_explorer"} & set(path.parts) and not path.name.startswith("verify_")
        # The commands of a report and the explorer, and help with its examples, are typed as they stand. What stands
        # in a ledger is said as `irisdp ledger` says it; pages leave its options out.
        if path.name not in ("checks.py", "registry.py", "_items.py", "_options.py", "summary.py")
        for text in texts_with_options(path.read_text(encoding="utf-8"))
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
            "selection_delta: belongs to select_groups=True; add select_groups=True or leave it out",
            "--selection-delta: belongs to --select-groups; add --select-groups or leave it out",
        ),
        (
            {"audience": ["a b=1"]},
            ["--audience", "a"],
            "audience: must have names of letters, digits, - and _; write for example audience=['press=0.5']",
            "--audience: must be NAME=E, each name once; write for example --audience press=0.5, or names alone"
            " and one --epsilon for all",
        ),
    ):
        with pytest.raises(BadInput) as refusal:
            irisdp.publish(path, "count", **options)
        assert str(refusal.value) == python
        assert run(["publish", str(path), "count", *arguments]) == 2
        assert capsys.readouterr().err == f"irisdp: {typed}\n"


@pytest.mark.parametrize(("words", "python", "typed"), [
    (
        ["at-least"],
        'query: at-least needs a number K; write for example publish(data, "at-least", 100, "age > 64")',
        'QUERY: at-least needs a number K; write for example irisdp publish DATA at-least 100 "age > 64"',
    ),
    (
        ["majority"],
        'expression: must be a SQL condition for majority; write for example publish(data, "majority", "age > 64")',
        'EXPR: must be a SQL condition for majority; write for example irisdp publish DATA majority "age > 64"',
    ),
    (
        ["at-most", "3", " "],
        "expression: must be a SQL condition for at-most; "
        'write for example publish(data, "at-most", 3, "age > 64")',
        'EXPR: must be a SQL condition for at-most; write for example irisdp publish DATA at-most 3 "age > 64"',
    ),
    (
        ["count", "age", "=", "1"],
        'query: count takes one condition, and it is in several words; write a whole condition, such as "age = 1"',
        'QUERY: count takes one condition, and it is in several words; quote the condition: "age = 1"',
    ),
    (
        ["at_least", "3"],
        "query: 'at_least' is no query of Iris; did you mean at-least?",
        "QUERY: 'at_least' is no query of Iris; did you mean at-least?",
    ),
])  # fmt: skip
def test_python_and_the_command_line_ask_each_in_its_way(words, python, typed, tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("age\n70\n")
    with pytest.raises(BadInput) as refusal:
        irisdp.publish(path, *words, epsilon=1)
    assert str(refusal.value) == python
    assert run(["publish", str(path), *words, "--epsilon", "1"]) == 2
    assert capsys.readouterr().err == f"irisdp: {typed}\n"


def test_questions_with_quotes_become_commands():
    asked = as_asked("count", "\"first name\" = 'a\\b'")
    assert in_options(asked, {}) == "irisdp publish DATA count '\"first name\" = 'a\\b''"
    assert in_options(as_asked("at-most", 7), {}) == "irisdp publish DATA at-most 7"


def test_messages_of_the_library_name_no_command():
    """Beside options, which another test looks for: no remedy of the library is a line for a shell."""
    source = Path(irisdp.__file__).parent
    commands = re.compile(r"\birisdp (audit|design|interpret|ledger|publish|sample)\b")
    found = []
    for path in source.rglob("*.py"):
        if "_cli" in path.parts or path.name.startswith("verify_"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise):
                found += [text.value for text in ast.walk(node) if isinstance(text, ast.Constant)
                          if isinstance(text.value, str) and commands.search(text.value)]  # fmt: skip
    assert found == []


def test_a_refused_charge_is_raised_from_python_by_a_ledger(tmp_path):
    Ledger(tmp_path / "l").set_limit(1)
    with pytest.raises(
        BudgetRefused, match=r"raise the limit \(Ledger\(path\)\.set_limit\(E, D\)\) if what you promised"
    ):
        irisdp.publish(pa.table({"a": [1]}), "count", epsilon=2, ledger=tmp_path / "l")


@pytest.mark.parametrize("condition", [pd.Series([True]), pa.array([True]), pl.col("age") > 64, lambda row: True])
def test_a_condition_is_text(condition, tmp_path):
    table = pa.table({"age": [70]})
    with pytest.raises(BadInput) as refusal:
        irisdp.publish(table, "count", condition, epsilon=1, ledger=tmp_path / "l")
    assert str(refusal.value).startswith("arguments: must be text or a number, not ")
    assert str(refusal.value).endswith('; a condition is a text in SQL, such as "age > 64"')
    assert not (tmp_path / "l").exists()


@pytest.mark.parametrize("text", ['Smith, "Bob" ward', 'a"b', '"a"b', '"a', 'a,"b', 'a" , b', '"a""'])
def test_a_quote_inside_a_listed_value_is_never_guessed(text):
    with pytest.raises(BadInput, match=r"^groups: has a double quote inside a value.*; give a list of values, or "):
        read_declared(text, ["g"])


@pytest.mark.parametrize(("text", "values"), [
    ("a,b", ["a", "b"]),
    ('"Smith, ""Bob"" ward",b', ['Smith, "Bob" ward', "b"]),
    (' "a, b" , c ', ["a, b", "c"]),
    ('a, "b"', ["a", "b"]),
    ("", []),
    ("a,", ["a", ""]),
    (" " * 10**6 + "a", ["a"]),
])  # fmt: skip
def test_listed_values(text, values):
    assert read_declared(text, ["g"]).columns == [values]


def test_groups_are_declared_or_selected(tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("age\n70\n")
    with pytest.raises(BadInput) as refusal:
        irisdp.publish(path, "count", by="age", groups=[1], select_groups=True, epsilon=1, delta="1e-6")
    assert str(refusal.value) == (
        "groups: cannot be given with select_groups=True, which chooses the groups itself; "
        "leave one of the two out: groups= or select_groups=True"
    )
    asked = ["--by", "age", "--groups", "1", "--select-groups", "--epsilon", "1"]
    assert run(["publish", str(path), "count", *asked]) == 2
    assert capsys.readouterr().err == (
        "irisdp: --groups: cannot be given with --select-groups, which chooses the groups itself; "
        "leave one of the two out: --groups or --select-groups\n"
    )


@pytest.mark.parametrize("limit", ["x", "-1", "1,x", "1,-1", "1,2,3", "nan", ""])
def test_a_limit_is_blamed_by_name(limit, tmp_path, capsys):
    assert run(["ledger", str(tmp_path / "l"), "--relation", "exchange", "--limit", limit]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --limit: must ")
    with pytest.raises(BadInput, match=r"^limit: must "):
        irisdp.Session(pa.table({"a": [1]}), ledger=tmp_path / "l", limit=tuple(limit.split(",")))
    assert not (tmp_path / "l").exists()


@pytest.mark.parametrize("command", [["audit"], ["sample", "--input", "0"]])
def test_a_missing_file_is_named_as_typed(command, here, capsys):
    assert said(capsys, *command, "none.json") == "none.json: there is no such file; check the path"


@pytest.mark.parametrize(("loss", "call"), [
    (consumers.absolute, r"absolute\(\)"),
    (consumers.pinball, r"pinball\(too_low=1, too_high=1\)"),
    (consumers.excess, r"excess\(beyond=1\)"),
    (abs, r"absolute\(\)"),
    (consumers.Loss, r"absolute\(\)"),
])  # fmt: skip
def test_a_loss_is_called(loss, call):
    noise = irisdp.design.geometric(3, irisdp.Privacy(ratio=2))
    for asked in (lambda: consumers.Consumer(3, loss), lambda: interpret(noise, 1, loss=loss)):
        with pytest.raises(BadInput, match=rf"^loss: is a function that makes a loss; call it: {call}$"):
            asked()


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
@pytest.mark.parametrize("command", [["interpret"], ["report", "-o", "r.html"], ["plot", "-o", "p.svg"]])
def test_answers_that_were_changed_by_hand_are_not_read_as_what_was_published(command, ending, here, capsys):
    out = Path(f"out.{ending}")
    assert run(["publish", "c.csv", "count", "--epsilon", "1", "--out", str(out)]) == 0
    if ending == "parquet":
        pq.write_table(pq.read_table(out), out, compression="none")
    else:
        out.write_text(out.read_text().replace("answer_high", "answer_top"))
    for named in (str(out), f"{out}.release.json"):
        line = said(capsys, command[0], named, *command[1:])
        assert str(out) in line and f"is not as it was published: {out}.datapackage.json holds another sha256" in line
        assert line.endswith("publishing the same again with --force costs nothing")
    Path(f"{out}.datapackage.json").unlink()
    line = said(capsys, command[0], str(out), *command[1:])
    assert f"is not as it was published: {out}.release.json holds another sha256" in line
    forget_digests(out)  # nothing says what it was
    assert "sha256" not in (run([*command[:1], str(out), *command[1:]]), capsys.readouterr().err)[1]
