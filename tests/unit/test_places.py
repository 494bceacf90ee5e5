"""One table, one budget: whatever leads to the data or to the ledger, and whatever the data is called today."""

import contextlib
import errno
import functools
import itertools
import json
import os
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, ScopeRefused
from irisdp._cli import run
from irisdp._files import create_once
from irisdp._ledger import discovery
from irisdp._ledger.fingerprints import SECRET_BYTES
from irisdp._release import pipeline
from irisdp._tables.dataframes import RelationSource
from support import commands


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data" / "t.csv").write_text("g,v\na,1\nb,2\n")
    (tmp_path / "groups.csv").write_text("g\na\nb\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def symbolic(work, file):
    link = work / f"link{file.suffix}"
    link.symlink_to(file)
    return link


def chain(work, file):
    last = symbolic(work, file)
    for number in range(3):
        link = work / f"{number}{file.suffix}"
        link.symlink_to(last.name)
        last = link
    return last


def through_folder(work, file):
    (work / "shortcut").symlink_to(file.parent)
    return work / "shortcut" / file.name


def link_in_linked_folder(work, file):
    (file.parent / f"inner{file.suffix}").symlink_to(file.name)
    return through_folder(work, file).with_name(f"inner{file.suffix}")


def relative(work, file):
    return os.path.relpath(file)


def dotted(work, file):
    return os.path.join("elsewhere", "..", os.path.relpath(file.parent), ".", file.name)


def as_it_is(work, file):
    return str(file)


WAYS = [as_it_is, symbolic, chain, through_folder, link_in_linked_folder, relative, dotted]


def once(data, **options):
    return irisdp.publish(data, "count", epsilon=1, **options)


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(WAYS, 2)))
def test_every_way_to_the_data_leads_to_one_budget(folder, first, second):
    file = folder / "data" / "t.csv"
    found = []
    for way in (first, second):
        (folder / way.__name__).mkdir()
        found.append(once(way(folder / way.__name__, file)))
    assert [published.ledger for published in found] == [folder / "data" / "t.ledger"] * 2
    assert [published.repeated for published in found] == [False, True]
    assert sorted(path.name for path in folder.rglob("*.ledger")) == ["t.ledger"]
    assert len(list(folder.rglob(".*irisdp-secret"))) == 1


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_way_to_the_ledger_is_one_ledger(folder, way):
    ledger = folder / "data" / "own.ledger"
    once("data/t.csv", ledger=ledger)
    led = way(folder / "elsewhere", ledger)
    published = once("data/t.csv", ledger=led)
    assert (published.ledger, published.repeated) == (ledger, True)
    irisdp.publish("data/t.csv", "count", "v > 1", epsilon=1, ledger=led)
    assert Ledger(led).spent == Ledger(ledger).spent == Cost(2)


@pytest.mark.parametrize("use", [Ledger.to_document, lambda book: book.set_limit(1), lambda book: book.spent])
@pytest.mark.parametrize("place", ["data/second.ledger", "elsewhere/own.ledger", "data/.own.ledger.0123456789abcdef"])
def test_a_ledger_with_two_names_is_refused_under_each(folder, use, place):
    once("data/t.csv", ledger="data/own.ledger")
    os.link("data/own.ledger", place)
    names = [place] if place.startswith("data/.") else [place, "data/own.ledger"]
    for name in names:
        with pytest.raises(BadInput, match=r"another name \(a hard link\)"):
            use(Ledger(name))
        with pytest.raises(BadInput, match=r"another name \(a hard link\)"):
            irisdp.publish("data/t.csv", "count", "v > 1", epsilon=1, ledger=name)
    os.unlink(place)
    assert Ledger("data/own.ledger").spent == Cost(1)


def test_a_killed_creation_does_not_lock_a_ledger_out(folder, monkeypatch):
    """Between link and unlink the ledger has two names; whoever comes then, or after a kill, is let in."""
    unlinked = []
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.unlink", lambda self, **options: unlinked.append(self))
        create_once(folder / "own.ledger", lambda draft: None)
    assert len(unlinked) == 1 and unlinked[0].exists()
    (folder / "own.ledger").unlink()
    unlinked[0].unlink()
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.unlink", lambda self, **options: unlinked.append(self))
        Ledger("own.ledger").set_limit(1)
    assert os.stat("own.ledger").st_nlink == 2
    assert Ledger("own.ledger").limit == Cost(1)


def test_data_with_several_hard_links_has_no_default_ledger(folder):
    os.link("data/t.csv", "elsewhere/other.csv")
    for name in ("data/t.csv", "elsewhere/other.csv"):
        with pytest.raises(BadInput, match="2 names"):
            once(name)
    assert list(folder.rglob("*.ledger")) == list(folder.rglob(".*irisdp-secret")) == []
    assert not once("data/t.csv", ledger="l.ledger", secret="l").repeated
    assert once("elsewhere/other.csv", ledger="l.ledger", secret="l").repeated
    # A question that is new, of known content under another name, is a question about the same table.
    irisdp.publish("elsewhere/other.csv", "count", "v > 1", epsilon=1, ledger="l.ledger", secret="l")
    with open("elsewhere/other.csv", "a") as file:
        file.write("c,3\n")
    with pytest.raises(
        ScopeRefused, match=r"uses table t.csv; you asked for table other.csv. If it is the same table, add"
    ):
        once("elsewhere/other.csv", ledger="l.ledger", secret="l")
    once("elsewhere/other.csv", ledger="l.ledger", secret="l", table="t.csv")


class TestRenaming:
    def test_a_renamed_file_is_not_charged_again(self, folder):
        first = once("data/t.csv")
        os.rename("data/t.csv", "data/renamed.csv")
        again = once("data/renamed.csv")
        assert (again.repeated, again.ledger, again.answers) == (True, first.ledger, first.answers)
        irisdp.publish("data/renamed.csv", "count", "v > 1", epsilon=1)
        assert Ledger(first.ledger).spent == Cost(2)
        assert [path.name for path in folder.rglob("*.ledger")] == ["t.ledger"]

    def test_nor_is_a_copy(self, folder):
        once("data/t.csv")
        (folder / "data" / "copy.csv").write_bytes((folder / "data" / "t.csv").read_bytes())
        assert once("data/copy.csv").repeated

    def test_nor_one_that_went_to_another_folder_with_its_ledger_named(self, folder):
        once("data/t.csv")
        os.rename("data/t.csv", "elsewhere/t.csv")
        assert once("elsewhere/t.csv", ledger="data/t.ledger").repeated

    def test_nor_one_that_version_0_1_knew_under_another_name(self, folder):
        key = bytes(range(SECRET_BYTES))
        (folder / "data" / ".t.csv.irisdp-secret").write_bytes(key)
        once("data/t.csv")
        os.rename("data/t.csv", "data/renamed.csv")
        assert once("data/renamed.csv").repeated

    def test_another_table_of_the_folder_is_another_table(self, folder):
        once("data/t.csv")
        (folder / "data" / "s.csv").write_text("g,v\na,1\nb,3\n")
        (folder / "data" / "notes.ledger").write_text("this is no ledger")
        (folder / "data" / "folder.ledger").mkdir()
        assert once("data/s.csv").ledger.name == "s.ledger"
        assert Ledger("data/t.ledger").spent == Ledger("data/s.ledger").spent == Cost(1)

    def test_several_ledgers_that_know_the_data_are_told_apart_by_hand(self, folder):
        once("data/t.csv")
        once("data/t.csv", ledger="data/other.ledger", another_ledger=True)
        os.rename("data/t.csv", "data/renamed.csv")
        with pytest.raises(BadInput, match=r"several know this data: other.ledger, t.ledger"):
            once("data/renamed.csv")

    def test_nor_one_that_a_limit_was_set_for_under_its_new_name(self, folder):
        """A ledger that holds a limit alone is no reason to forget the one that knows the table."""
        once("data/t.csv")
        os.rename("data/t.csv", "data/renamed.csv")
        session = irisdp.Session("data/renamed.csv", limit=2)
        for ask in (
            lambda: session.count("v = 1", epsilon=1),
            lambda: once("data/renamed.csv"),
            lambda: session.batch([{"query": "count"}], budget={"epsilon": 1}),
        ):
            with pytest.raises(BadInput, match=r"ledger: is missing, and renamed.ledger is unused, and t.ledger knows"):
                ask()
        assert (Ledger("data/t.ledger").spent, Ledger("data/renamed.ledger").spent) == (Cost(1), Cost(0))
        assert once("data/renamed.csv", ledger="data/t.ledger").repeated
        with pytest.raises(ScopeRefused, match=r"renamed.csv is bound to .*t\.ledger"):
            once("data/renamed.csv", ledger="data/renamed.ledger")
        named = {"ledger": "data/renamed.ledger", "another_ledger": True}
        assert not once("data/renamed.csv", **named).repeated, "control: named by hand it is taken"


def hard_link(file):
    os.link(file, file.with_name("backup.ledger"))


def to_no_disk(file):
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to("/no disk is mounted here/t.ledger")


def newer(file):
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")


def log_alone(file):
    file.rename(f"{file}-wal")


def cut_off(file):
    file.write_bytes(file.read_bytes()[:40])


def emptied(file):
    file.write_bytes(b"")


def zeros(file):
    file.write_bytes(bytes(4096))


def a_pipe(file):
    file.unlink()
    os.mkfifo(file)


SPENT = {
    hard_link: "backup.ledger in its folder cannot be read: it has another name \\(a hard link\\)",
    to_no_disk: "t.ledger in its folder cannot be read: it is a link to a file that is not there",
    newer: "t.ledger in its folder cannot be read: it has format 99",
    log_alone: "t.ledger in its folder cannot be read: it is gone but its log is not",
    cut_off: "t.ledger in its folder cannot be read: it is damaged or not a ledger",
    emptied: "t.ledger in its folder cannot be read: it is ",
    zeros: "t.ledger in its folder cannot be read: it is damaged or not a ledger",
    a_pipe: "t.ledger in its folder cannot be read: it is no regular file",
}


class TestLedgersThatCannotBeRead:
    """One of them may know the data, and have spent all of its budget."""

    @pytest.mark.parametrize("happens", SPENT, ids=lambda happens: happens.__name__)
    def test_data_that_one_of_them_may_know_gets_no_second_budget(self, folder, happens):
        Ledger("data/t.ledger").set_limit(1)
        once("data/t.csv")
        happens(folder / "data" / "t.ledger")
        os.rename("data/t.csv", "data/renamed.csv")
        batch = {"data": "data/renamed.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
        plan = folder / "plan.toml"
        plan.write_text('[datasets.t]\ndata = "data/renamed.csv"\n[[questions]]\nquery = "count"\nepsilon = 1\n')
        for ask in (
            lambda: once("data/renamed.csv"),
            lambda: irisdp.Session("data/renamed.csv").count(epsilon=1),
            lambda: irisdp.batch(batch),
            lambda: irisdp.run(plan),
        ):
            with pytest.raises(BadInput, match=f"ledger: is missing, and {SPENT[happens]}"):
                ask()
        (folder / "batch.json").write_text(json.dumps(batch))
        dry = ["publish data/renamed.csv count --epsilon 1", "batch batch.json", "run plan.toml"]
        assert [run([*command.split(), "--dry-run"]) for command in dry] == [2, 2, 2]
        assert not (folder / "data" / "renamed.ledger").exists()
        # Whoever knows which is meant says so.
        assert not once("data/renamed.csv", ledger="data/renamed.ledger").repeated
        assert once("data/renamed.csv").repeated, "and need not say it again"

    def test_nor_does_what_a_secret_that_cannot_be_read_may_tell(self, folder):
        secret = folder / "data" / ".t.csv.irisdp-secret"
        secret.write_bytes(bytes(range(SECRET_BYTES)))
        once("data/t.csv")
        os.rename("data/t.csv", "data/renamed.csv")
        os.rename(secret, "elsewhere/kept")
        secret.symlink_to("/no disk is mounted here/secret")
        with pytest.raises(
            BadInput, match=r"ledger: is missing, and \.t\.csv\.irisdp-secret in its folder cannot be read"
        ):
            once("data/renamed.csv")
        secret.unlink()
        os.rename("elsewhere/kept", secret)
        assert once("data/renamed.csv").repeated, "control"

    def test_a_ledger_that_leads_nowhere_is_not_called_new(self, folder, capsys):
        (folder / "data" / "t.ledger").symlink_to("/no disk is mounted here/t.ledger")
        for command in ("publish data/t.csv count --epsilon 1 --dry-run", "ledger data/t.ledger"):
            assert run(command.split()) == 4
            assert "cannot be opened" in capsys.readouterr().err

    def test_what_is_certainly_none_is_in_nobody_s_way(self, folder):
        here = folder / "data"
        (here / "notes.ledger").write_text("2026-01-01 Opening balance\n")
        (here / "windows.ledger").write_bytes("2026-01-01 £ 5\n".encode("utf-16"))
        (here / "old.ledger").write_bytes("2026-01-01 £ 5\n".encode("latin-1"))
        (here / "folder.ledger").mkdir()
        with contextlib.closing(sqlite3.connect(here / "program.ledger")) as database:
            database.execute("CREATE TABLE t (v)")
        with contextlib.closing(sqlite3.connect(here / "program.ledger", isolation_level=None)) as locked:
            locked.execute("BEGIN EXCLUSIVE")
            assert once("data/t.csv").ledger == here / "t.ledger"

    def test_nor_is_a_folder_that_lists_nothing(self, folder, monkeypatch):
        with monkeypatch.context() as patched:
            patched.setattr(discovery.os, "listdir", denied)
            with pytest.raises(BadInput, match=r"the folder, .*, cannot be listed \(Permission denied\)"):
                once("data/t.csv")
        assert not once("data/t.csv").repeated, "control"


def denied(*_):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("ledger", ["data/t.csv", "elsewhere/link.csv", "groups.csv", "data/.tables.irisdp-secret"])
def test_a_ledger_is_no_other_file_of_the_release(folder, ledger, capsys):
    once("data/t.csv", ledger="l.ledger")
    (folder / "elsewhere" / "link.csv").symlink_to(folder / "data" / "t.csv")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    asked = ["publish", "data/t.csv", "count", "--epsilon", "1", "--by", "g", "--groups", "groups.csv"]
    assert run([*asked, "--ledger", ledger]) == 2
    said = capsys.readouterr().err
    assert said.startswith("irisdp: --ledger: ")
    assert said.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_data_replaced_while_it_is_read_is_not_answered_about(folder, monkeypatch):
    real = pipeline.read_statistics

    def replaced(planned, key):
        cells = real(planned, key)
        status = os.stat("data/t.csv")
        with open("data/t.csv", "r+") as file:
            file.write("g,v\na,2\nb,1\n")
        os.utime("data/t.csv", ns=(status.st_atime_ns, status.st_mtime_ns))  # as careful as an editor may be
        return cells

    monkeypatch.setattr(pipeline, "read_statistics", replaced)
    with pytest.raises(BadInput, match="changed while it was read"):
        once("data/t.csv")
    assert list(folder.rglob("*.ledger")) == []


def test_a_link_that_is_turned_while_it_is_read_is_not_answered_about(folder, monkeypatch):
    (folder / "data" / "s.csv").write_text("g,v\na,5\n")
    (folder / "link.csv").symlink_to("data/t.csv")
    real = pipeline.plan

    @functools.wraps(real)
    def turned(*arguments, **options):
        os.unlink("link.csv")
        os.symlink("data/s.csv", "link.csv")
        return real(*arguments, **options)

    monkeypatch.setattr(pipeline, "plan", turned)
    with pytest.raises(BadInput, match="changed while it was read"):
        once("link.csv")


@pytest.mark.parametrize("target", ["t.csv", "t.tsv", "blob"])
def test_one_content_read_in_two_ways_is_two_questions(folder, target):
    """A link's ending says how the file is read; the same bytes read otherwise have other true counts."""
    (folder / "data" / target).write_text("v\n1\n2,3\n4\t5\n")
    for ending in ("csv", "tsv"):
        (folder / f"link.{ending}").symlink_to(folder / "data" / target)
    first, second = (
        irisdp.publish(f"link.{ending}", "count", "v > 0", epsilon=epsilon, ledger="l.ledger")
        for ending, epsilon in (("csv", 1), ("tsv", 2))
    )
    assert second.cost == Cost(2), "refined nothing"
    assert first.ledger == second.ledger


def test_a_relation_that_changes_while_it_is_read_is_not_answered_about(tmp_path, monkeypatch):
    """Else the count of one table would be stored for another, and refined for less than it reveals."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 70 AS age FROM range(3)")
    real, ledger = RelationSource.connect, tmp_path / "l.ledger"

    def late(source, names):
        connection.cursor().execute("INSERT INTO t SELECT 70 FROM range(1000)")
        return real(source, names)

    monkeypatch.setattr(RelationSource, "connect", late)
    with pytest.raises(BadInput, match="changed while it was read"):
        irisdp.publish(connection.table("t"), "count", "age > 64", epsilon=20, ledger=ledger)
    assert not ledger.exists()


def test_a_frame_that_changes_while_it_is_read_is_not_answered_about(tmp_path, monkeypatch):
    ages = np.full(1000, 70)
    real, ledger = pipeline.read_statistics, tmp_path / "l.ledger"

    def read_and_write(planned, key):
        cells = real(planned, key)
        ages[:] = 1
        return cells

    monkeypatch.setattr(pipeline, "read_statistics", read_and_write)
    shared = pa.table({"age": pa.Array.from_buffers(pa.int64(), len(ages), [None, pa.py_buffer(ages)])})
    with pytest.raises(BadInput, match="changed while it was read"):
        irisdp.publish(shared, "count", "age > 64", epsilon=20, ledger=ledger)
    assert not ledger.exists()


def test_a_relation_that_is_another_each_time_is_not_answered_about(tmp_path):
    drawn = duckdb.connect().sql("SELECT i AS age FROM range(200) t(i) WHERE random() < 0.5")
    with pytest.raises(BadInput, match="changed while it was read"):
        irisdp.publish(drawn, "count", "age > 64", epsilon=20, ledger=tmp_path / "l.ledger")


# Text that is no text and paths that are no paths: one clear line wherever they come in, and nothing spent.


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
        "interpret {}", "report {} -o x.html", "plot {} -o x.svg", "audit {}", "sample {} --input 0", "batch {}",
        "run {}",
    ),
    *("init {}", "design {} -o m.json", "design t.csv -o {}", "ledger {}", "audit t.csv --graph {} --epsilon 1"),
    *("audit t.csv --repair {} --epsilon 1", "interpret t.csv --loss {}", "publish {} count --epsilon 1"),
    *("publish t.csv apply {} --epsilon 1", "publish t.csv count --epsilon 1 --by a --groups {}"),
    *(f"publish t.csv count --epsilon 1 --{option} {{}}" for option in ("out", "ledger", "types", "report", "secret")),
)  # fmt: skip


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
