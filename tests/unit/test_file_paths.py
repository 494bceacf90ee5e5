"""Text that is no text and paths that are no paths: one clear line wherever they come in, and nothing spent."""

import pytest

import irisdp
from irisdp import BadInput, Ledger
from support import commands


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("age,town\n70,Ely\n12,York\n", encoding="utf-8")
    return "d.csv"


@pytest.mark.parametrize("path", ["a\0b.csv", "\ud800.csv", ""])
@pytest.mark.parametrize("field", ["ledger", "secret", "out"])
def test_a_path_that_is_none_is_refused_before_anything_is_spent(data, tmp_path, field, path):
    before = sorted(tmp_path.iterdir())
    with pytest.raises(BadInput, match=f"^{field}: is not a usable path; give the path of a file$"):
        irisdp.publish(data, "count", epsilon=1, **{field: path})
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("out", [".", "/", "./", ".."])
@pytest.mark.parametrize("asked", [{"epsilon": 1}, {"audience": {"board": 1, "press": "1/2"}}], ids=str)
def test_a_folder_is_no_file_of_answers(data, tmp_path, out, asked):
    with pytest.raises(BadInput, match=r"^out: must end in \.csv, \.parquet or \.json"):
        irisdp.publish(data, "count", out=out, **asked)
    assert not (tmp_path / "d.ledger").exists()


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_ledger_has_a_usable_path(path):
    with pytest.raises(BadInput, match=r"^ledger: is not a usable path"):
        Ledger(path)


def test_half_a_character_is_no_condition(data, tmp_path):
    with pytest.raises(BadInput, match=r"^expression: holds half a character"):
        irisdp.publish(data, "count", "town = '\ud800'", epsilon=1)
    assert not (tmp_path / "d.ledger").exists()


COMMANDS = (
    *(
        "interpret {}",
        "report {} -o x.html",
        "plot {} -o x.svg",
        "audit {}",
        "sample {} --input 0",
        "batch {}",
        "run {}",
    ),
    *("init {}", "design {} -o m.json", "design t.csv -o {}", "ledger {}", "audit t.csv --graph {} --epsilon 1"),
    *("audit t.csv --repair {} --epsilon 1", "interpret t.csv --loss {}", "publish {} count --epsilon 1"),
    *("publish t.csv apply {} --epsilon 1", "publish t.csv count --epsilon 1 --by a --groups {}"),
    *(f"publish t.csv count --epsilon 1 --{option} {{}}" for option in ("out", "ledger", "types", "report", "secret")),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_paths_that_name_no_file_are_one_line_in_every_command(command, tmp_path, monkeypatch):
    """Changed command lines found `interpret ""`, a secret beside the root, and a NUL that `plot` met unprepared."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "d").mkdir()
    for path in ("", ".", "/", "//", "..", "d/", "~", "~nobody_here", "\0", "x\0y", "a" * 300, " "):
        ended = commands.irisdp([path if word == "{}" else word for word in command.split()])
        assert "internal error" not in ended.err, (path, ended.err)
        assert ended.status != 2 or ended.err.count("\n") == 1
