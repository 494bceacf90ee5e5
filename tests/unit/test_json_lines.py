"""JSON lines from the outside: columns are declared, what is wrong is one line, and the ledger knows them again."""

import gzip
import json
import time
import tomllib

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
    assert dict(planned.table.types) == TYPES


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            [],
            "--types: is missing, and only declared types say which columns JSON lines have; declare all columns with "
            "--types FILE, such as",
        ),
        (["--types", "types.json", "--encoding", "latin-1"], "--encoding: belongs to .csv and .tsv files"),
        (["--types", "types.json", "--delimiter", ";"], "--delimiter: belongs to .csv and .tsv files"),
        (["--types", "none.json"], "--types: "),
    ],
)
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


@pytest.mark.parametrize(
    "line",
    [
        b'{"x": [' + b"[]," * (LONG // 3 - 9) + b"1]}",
        b'{"x": [' + b"{}," * (LONG // 3 - 9) + b"1]}",
        b'{"x": ' + b"[" * 200 + b'"' + b'\\"' * (LONG // 2 - 200),
        b"[" * 200 + b'\\"' * (LONG // 2 - 200),
        b"[" * 200 + b'"' * (LONG - 300),
        b"[" * (LONG - 9),
        b"[]" * (LONG // 2 - 9),
    ],
    ids=["lists", "objects", "escaped quotes", "quotes outside", "quotes", "depth", "no JSON"],
)
def test_brackets_take_no_longer_than_other_letters(line):
    """One record of a mebibyte of brackets took ten times as long as one of digits."""
    plain = b'{"x": "' + b"a" * LONG + b'"}'
    times = {}
    for name, each in (("line", line), ("plain", plain)):
        start = time.process_time()
        for _ in range(3):
            read_record(each)
        times[name] = time.process_time() - start
    assert times["line"] < times["plain"] + 0.6


@pytest.mark.parametrize("depth", [DEEPEST - 1, DEEPEST, DEEPEST + 1])
@pytest.mark.parametrize("inside", ['"]"', '"\\\\"', '"[[["', '"\\"]"', "1"])
def test_brackets_in_text_are_no_depth(depth, inside):
    nested = "[" * (depth - 1) + inside + "]" * (depth - 1)
    line = '{"s": ' + json.dumps("[{" * 200 + '"') + f', "x": {nested}, "y": 7}}'
    assert read_record(line.encode()).get("y") == (None if depth > DEEPEST else "7")
