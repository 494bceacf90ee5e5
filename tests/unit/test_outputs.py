"""No output is an input, whatever it is called; nothing is replaced unasked; files appear together or not at all."""

import errno
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading

import polars as pl
import pytest

import irisdp
from irisdp import BadInput, Ledger, _files
from irisdp._cli import run
from irisdp._files import plan_outputs, same_file, write_outputs
from support.bindings import unbind
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

MATRIX = {
    "format": "irisdp/mechanism/1",
    "privacy": {"ratio": 2},
    "matrix": [["2/3", "1/3"], ["1/3", "2/3"]],
    "graph": {"family": "complete", "n": 2},
}

PUBLISH = "publish data.csv count v=1 --by g --groups groups.csv --epsilon 1 --ledger budget.json --secret key"
KEPT = ["budget.json", "budget.json-wal", "key", ".tables.irisdp-secret"]
COMMANDS = {
    "publish": (f"{PUBLISH} --out", ["data.csv", "groups.csv", *KEPT]),
    "publish, dry": (f"{PUBLISH} --dry-run --out", ["data.csv", "groups.csv", *KEPT]),
    "publish, defaults": (
        "publish data.csv count --epsilon 1 --out",
        ["data.csv", "data.ledger", ".tables.irisdp-secret"],
    ),
    "interpret": (
        "interpret old.csv.release.json --prior prior.json --loss loss.json --at-most 2 --out",
        ["old.csv", "old.csv.release.json", "prior.json", "loss.json"],
    ),
    "interpret one": (
        "interpret old.csv.release.json --value 1 --at-most 2 --out",
        ["old.csv", "old.csv.release.json"],
    ),
    "interpret a mechanism": ("interpret mechanism.json --value 1 --out", ["mechanism.json"]),
    "design": ("design spec.json -o", ["spec.json"]),
    "audit": ("audit mechanism.json --graph graph.json --repair", ["mechanism.json", "graph.json"]),
    "audit a matrix": ("audit matrix.csv --ratio 2 --graph graph.json --repair", ["matrix.csv", "graph.json"]),
}
SPELLINGS = {
    "same": lambda here, name: here / name,
    "relative": lambda here, name: f"folder/.././{name}",
    "symlink": lambda here, name: linked(os.symlink, here / name, here / "linked.json"),
    "chain of links": lambda here, name: linked(
        os.symlink, linked(os.symlink, here / name, here / "middle"), here / "linked.json"
    ),
    "hard link": lambda here, name: linked(os.link, here / name, here / "linked.json"),
    "linked folder": lambda here, name: linked(os.symlink, here, here / "same_place") / name,
}


def linked(make, target, link):
    make(target, link)
    return link


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with every kind of input."""
    folder = tmp_path_factory.mktemp("template")
    (folder / "folder").mkdir()
    for name, text in {
        "data.csv": "g,v\na,1\nb,0\na,1\n",
        "groups.csv": "g\na\nb\n",
        "key": "",
        "prior.json": '["1/3","1/3","1/3"]',
        "loss.json": "[[0,1,2],[1,0,1],[2,1,0]]",
        "spec.json": '{"kind": "geometric", "n": 2, "privacy": {"ratio": 2}}',
        "mechanism.json": json.dumps(MATRIX),
        "graph.json": json.dumps(MATRIX["graph"]),
        "matrix.csv": "2/3,1/3\n1/3,2/3\n",
    }.items():
        (folder / name).write_text(text)
    data = folder / "data.csv"
    irisdp.publish(data, "count", epsilon="1/2", out=folder / "old.csv")
    irisdp.publish(
        data, "count", epsilon="1/4", ledger=folder / "budget.json", secret=folder / "key", another_ledger=True
    )
    unbind(folder)
    (folder / "budget.json-wal").touch()
    return folder


@pytest.fixture
def here(template, tmp_path, monkeypatch):
    """A copy of it, as the working directory."""
    place = tmp_path / "here"
    shutil.copytree(template, place)
    monkeypatch.chdir(place)
    return place


def contents(here):
    return {path: path.read_bytes() for path in here.iterdir() if path.is_file()}


# With --force, which could do harm, every spelling; without it two of six, one of a path and one of a link.
@pytest.mark.parametrize(
    ("spelling", "force"),
    [*((way, True) for way in SPELLINGS), *((way, False) for way in [*SPELLINGS][:: tried(4, 1)])],
    ids=lambda given: given if isinstance(given, str) else "force" * given,
)
@pytest.mark.parametrize(
    ("command", "name"), [(key, name) for key, (_, names) in COMMANDS.items() for name in names], ids=str
)
def test_an_output_that_is_an_input_is_refused(command, name, spelling, force, here, capsys):
    out = SPELLINGS[spelling](here, name)
    before = contents(here)
    assert run([*COMMANDS[command][0].split(), str(out), *["--force"] * force]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    if spelling not in ("same", "relative", "linked folder"):  # there the ending may be refused first
        assert "never written over" in printed.err
    assert contents(here) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_commands_write_elsewhere_but_replace_nothing_unasked(command, here, capsys):
    arguments = [*COMMANDS[command][0].split(), "fresh.json"]
    assert run(arguments) in (0, 1)
    if "dry" in command:
        assert not (here / "fresh.json").exists()
        (here / "fresh.json").write_text("kept")
    before = contents(here)
    capsys.readouterr()
    assert run(arguments) == 2
    assert "--force" in capsys.readouterr().err
    assert contents(here) == before
    assert run([*arguments, "--force"]) in (0, 1)
    assert not [path for path in here.iterdir() if path.name.startswith(".irisdp-")]


@pytest.mark.parametrize(
    ("made", "out"), [("out.board.csv", "out.csv"), ("out.press.json", "out.json"), ("OUT.board.csv", "OUT.csv")]
)
def test_files_of_audiences_are_outputs_too(made, out, here, capsys):
    (here / made).write_bytes((here / "data.csv").read_bytes())
    before = contents(here)
    asked = ["count", "--audience", "board=2", "--audience", "press=1", "--out", out, "--force"]
    if made.endswith(".csv"):
        assert run(["publish", made, *asked]) == 2
    assert run(["publish", "data.csv", *asked, "--ledger", made]) == 2
    assert contents(here) == before


def test_sidecars_are_outputs_too(here, capsys):
    asked = ["publish", "data.csv", "count", "--epsilon", "1"]
    # A ledger that is not there yet, and one that is.
    assert run([*asked, "--ledger", "out.csv.release.json", "--out", "out.csv"]) == 2
    assert not (here / "out.csv.release.json").exists()
    (here / "out.csv.release.json").write_text("kept")
    assert run([*asked, "--out", "out.csv"]) == 2
    assert (here / "out.csv.release.json").read_text() == "kept"
    assert not (here / "out.csv").exists()
    assert run([*asked, "--out", "out.csv", "--force"]) == 0
    # Audiences whose names differ in nothing but case would share a file on some disks.
    capsys.readouterr()
    assert run(["publish", "data.csv", "count", "--audience", "a=1", "--audience", "A=2", "--out", "two.csv"]) == 2
    assert "names A twice (as a and A" in capsys.readouterr().err


@pytest.mark.parametrize("ledger", ["fresh.json", "link.json", "folder/../fresh.json", "FRESH.json"])
def test_a_ledger_that_is_to_be_made_is_an_input(ledger, here, capsys):
    os.symlink("fresh.json", "link.json")
    asked = ["publish", "data.csv", "count", "--epsilon", "1", "--ledger", ledger]
    assert run([*asked, "--out", "fresh.json", "--force"]) == 2
    assert not (here / "fresh.json").exists()
    # SQLite keeps its log beside what a link leads to.
    assert run(["publish", "data.csv", "count", "--epsilon", "1", "--ledger", ledger, "--out", "fresh.json"]) == 2


def test_no_folder_no_device_no_name(here, capsys):
    os.mkfifo("pipe.json")
    os.symlink("round.json", "round.json")
    before = contents(here)
    wrong = ["pipe.json", "folder", "round.json", "no/where.json", "spec.json/x", "x" * 300]
    for out, force in itertools.product([*wrong, "a\0b"], ([], ["--force"])):
        assert run(["design", "spec.json", "-o", out, *force]) == 2, out
        assert capsys.readouterr().err.count("\n") == 1
        assert run([*PUBLISH.split(), "--out", f"{out}.csv" if "x" in out else out, *force]) == 2, out
        assert capsys.readouterr().err.count("\n") == 1
    assert run(["design", "spec.json", "-o", "/dev/null"]) == 2  # never forced here: the tests may run as root
    assert contents(here) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(here, capsys):
    (here / "folder").chmod(0o500)
    assert run([*PUBLISH.split(), "--out", "folder/o.csv"]) == 2
    assert len(Ledger("budget.json").releases()) == 1


def test_a_link_is_no_output_at_all(here, capsys):
    (here / "other.json").write_text("kept")
    os.symlink("other.json", "link.json")
    os.symlink("nothing.json", "dangling.json")
    for out, force in itertools.product(["link.json", "dangling.json", "/dev/fd/1"], ([], ["--force"])):
        assert run(["design", "spec.json", "-o", out, *force]) == 2
    assert (here / "other.json").read_text() == "kept"
    assert (here / "link.json").is_symlink()
    assert not (here / "nothing.json").exists()


@pytest.mark.parametrize("made", ["copy.csv", "hard.csv", "soft.csv", "folder/../data.csv", "data.csv"])
def test_the_data_does_not_declare_its_own_groups(made, here, capsys):
    (here / "data.csv").write_text("g\na\nsecret\n")
    if made == "hard.csv":
        os.link("data.csv", made)
    elif made == "soft.csv":
        os.symlink("data.csv", made)
    elif made == "copy.csv":
        os.link("data.csv", "other.csv")
        os.symlink("other.csv", made)
    for dry in ([], ["--dry-run"]):
        asked = [
            "publish", "data.csv", "count", "--by", "g", "--groups", made, "--epsilon", "1", "--ledger", "l.ledger",
        ]  # fmt: skip
        assert run([*asked, *dry]) == 2
        printed = capsys.readouterr()
        assert "the data itself" in printed.err
        assert "secret" not in printed.out + printed.err
    assert not (here / "l.ledger").exists()


def test_a_frame_does_not_declare_its_own_groups(here):
    frame = pl.DataFrame({"g": ["a", "b"]})
    with pytest.raises(BadInput, match="the data itself"):
        irisdp.publish(frame, "count", by="g", groups=frame, epsilon=1, ledger="l.ledger")
    with pytest.raises(BadInput, match="the data itself"):
        irisdp.publish(here / "data.csv", "count", by="g", groups=here / "data.csv", epsilon=1)


def test_python_needs_force_as_well(here):
    irisdp.publish("data.csv", "count", epsilon=1, out="o.json")
    with pytest.raises(BadInput, match=r"force=True"):
        irisdp.publish("data.csv", "count", epsilon=1, out="o.json")
    again = irisdp.publish("data.csv", "count", epsilon=1, out="o.json", force=True)
    assert again.repeated
    with pytest.raises(BadInput, match="the data"):
        irisdp.publish("data.csv", "count", epsilon=1, out="data.csv", force=True)


def test_a_file_that_appears_while_the_answer_is_drawn_is_kept(here, monkeypatch, capsys):
    from irisdp._release import pipeline as publishing

    real = publishing.read_statistics

    def slow(planned, key):
        (here / "o.csv.release.json").write_text("somebody's")
        return real(planned, key)

    monkeypatch.setattr(publishing, "read_statistics", slow)
    asked = ["publish", "data.csv", "count", "--epsilon", "1", "--ledger", "l.ledger"]
    assert run([*asked, "--out", "o.csv"]) == 3
    said = capsys.readouterr().err
    assert "the answer is in the ledger" in said and "costs nothing" in said
    assert (here / "o.csv.release.json").read_text() == "somebody's"
    assert not (here / "o.csv").exists()  # all files, or none
    assert not [path for path in here.iterdir() if path.name.startswith(".irisdp-")]
    assert run([*asked, "--out", "p.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is True


@pytest.mark.parametrize("call", ["link", "replace", "open", "chmod"])
def test_a_disk_that_refuses_leaves_nothing(call, here, monkeypatch):
    (here / "old").write_text("old")
    files = plan_outputs([here / "new", here / "old"], [], field="--out", force=call == "replace")[:2] if (
        call == "replace"
    ) else plan_outputs([here / "new", here / "newer"], [], field="--out")  # fmt: skip
    module = _files if call == "open" else os
    real, calls = getattr(os, call) if module is os else open, itertools.count()

    def refuse(*arguments, **options):
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **options)

    monkeypatch.setattr(module, call, refuse, raising=module is os)
    with pytest.raises(BadInput, match=r"No space left on device\), and so on; do this"):
        write_outputs(
            ((file, b"x") for file in files),
            refusal=lambda field, failed: BadInput(field, f"{failed}, and so on", "do this"),
        )
    monkeypatch.undo()
    assert (here / "old").read_text() == "old"
    assert not (here / "newer").exists()
    assert call == "replace" or not (here / "new").exists()
    assert not [path for path in here.iterdir() if path.name.startswith(".irisdp-")]


MISSES_STEPS = pytest.mark.skipif(
    sys.version_info[:2] == (3, 12), reason="Python 3.12 does not trace every instruction (python/cpython#103615)"
)


class InterruptedAt:
    """Trace the functions of outputs.py, and raise before the step with a number: a step is one instruction."""

    def __init__(self, number, interrupt):
        self.left, self.interrupt = number, interrupt

    def __call__(self, frame, event, argument):
        if frame.f_code.co_filename != _files.__file__:
            return None
        frame.f_trace_opcodes = True
        return self.step

    def step(self, frame, event, argument):
        if event == "opcode":
            self.left -= 1
            if self.left < 0:
                raise type(self.interrupt)(*self.interrupt.args)  # a new one, which keeps no frame alive
        return self.step

    def hold(self, work):
        """Work, and tell whether it was interrupted."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        except type(self.interrupt):
            return True
        finally:
            sys.settrace(before)
        return False


def interrupted_everywhere(folder, work, interrupt, stride=1):
    """Yield, for each step in the middle of which `work` is interrupted, what is in the folder then."""
    for number in itertools.count(0, stride):
        for path in folder.iterdir():
            path.unlink()
        (folder / "old").write_bytes(b"old")
        (folder / "same").write_bytes(b"same")
        interrupted = InterruptedAt(number, interrupt).hold(work)
        yield {path.name: path.read_bytes() for path in folder.iterdir()}
        if not interrupted:
            return


@MISSES_STEPS
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # interrupted between `open` and its `with`
@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
@pytest.mark.parametrize("force", [False, True], ids=["", "force"])
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt(), SystemExit(143)], ids=["Ctrl-C", "SIGTERM"])
def test_an_interrupt_at_any_step_leaves_all_files_or_none(links, force, interrupt, tmp_path, monkeypatch):
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no")))
    # None of them is an input; a planned file that appeared and holds the same is somebody else's, and stays.
    planned = [_files.Output(tmp_path / name, "out", force) for name in ("first", "same", "last")]
    nothing = {"old": b"old", "same": b"same"}
    whole = {**nothing, "first": b"1", "last": b"3"}
    found = [
        *interrupted_everywhere(
            tmp_path, lambda: write_outputs(zip(planned, [b"1", b"same", b"3"], strict=True)), interrupt, tried(3, 1)
        )
    ]
    assert len(found) > 50 and found[-1] == whole
    assert [one for one in found if one not in (nothing, whole)] == []
    at = found.index(whole)
    assert found[:at] == [nothing] * at and len(found) - at < 20, "whole only at the very end"


@MISSES_STEPS
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # interrupted between `open` and its `with`
def test_what_was_replaced_before_an_interrupt_is_whole(tmp_path):
    planned = [_files.Output(tmp_path / name, "out", True) for name in ("old", "new")]
    seen = {
        (one.get("old"), one.get("new"), len(one))
        for one in interrupted_everywhere(
            tmp_path, lambda: write_outputs(zip(planned, [b"1", b"2"], strict=True)), KeyboardInterrupt()
        )
    }
    assert seen == {(b"old", None, 2), (b"1", None, 2), (b"1", b"2", 3)}


def test_disks_without_hard_links_still_replace_nothing(here, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    first, second = (plan_outputs([here / "a"], [], field="-o") for _ in range(2))
    assert write_outputs([(first[0], b"1")]) == (here / "a",)
    with pytest.raises(BadInput, match="appeared meanwhile"):
        write_outputs([(second[0], b"2")])
    assert (here / "a").read_bytes() == b"1"


def test_of_many_who_write_one_file_at_once_one_does(here):
    outcomes = []
    barrier = threading.Barrier(16)

    def write(number):
        (output,) = plan_outputs([here / "a"], [], field="-o")
        barrier.wait()
        try:
            write_outputs([(output, b"%d" % number)])
            outcomes.append(number)
        except BadInput:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(here / "a").read_bytes()] == [b"%d" % number for number in outcomes]


def test_same_file(here):
    os.link("key", "hard")
    os.symlink("key", "soft")
    assert same_file("key", "hard") and same_file("soft", "hard") and same_file("key", here / "folder" / ".." / "key")
    assert not same_file("key", "prior.json")
    assert not same_file("key", "no such")
    assert same_file("No such", "no sUch")
    assert not same_file("a\0b", "key")


def test_which_files_may_be_replaced_can_be_asked(tmp_path):
    ours, theirs, new = (tmp_path / name for name in ("ours.csv", "theirs.csv", "new.csv"))
    ours.write_text("old")
    theirs.write_text("kept")
    asked = []

    def may_replace(path):
        asked.append(path)
        return path == ours

    planned = plan_outputs([ours, new], [], field="out", force=may_replace)
    assert [one.force for one in planned] == [True, False]
    assert asked == [ours]
    with pytest.raises(BadInput, match=r"theirs\.csv is there already"):
        plan_outputs([theirs], [], field="out", force=may_replace)


def test_a_file_that_holds_the_same_stays_as_it_is(tmp_path):
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    same.write_bytes(b"answer\n1\n")
    other.write_bytes(b"answer\n2\n")
    before = {path: path.stat().st_ino for path in (same, other)}
    planned = plan_outputs([same, other], [], field="out", force=True)
    assert write_outputs((one, b"answer\n1\n") for one in planned) == (same, other)
    assert same.stat().st_ino == before[same]
    assert other.read_bytes() == b"answer\n1\n"
    assert other.stat().st_ino != before[other] or other.stat().st_nlink == 1


def test_a_file_that_appeared_and_holds_the_same_is_as_good(tmp_path):
    first, second, third = (plan_outputs([tmp_path / "a.csv"], [], field="out") for _ in range(3))
    assert write_outputs([(first[0], b"1")]) == write_outputs([(second[0], b"1")]) == (tmp_path / "a.csv",)
    with pytest.raises(BadInput, match="appeared meanwhile"):
        write_outputs([(third[0], b"2")])


KILLED = """
import os, signal, sys
from pathlib import Path
from irisdp import _files as outputs
draw, stopped = outputs._Draft.put, []
def stop(draft):
    if not stopped:
        stopped.append(draft)
        print("ready", flush=True)
        os.kill(os.getpid(), signal.SIGKILL) if sys.argv[1] == "killed" else sys.stdin.read()
    draw(draft)
outputs._Draft.put = stop
planned = outputs.plan_outputs([Path(sys.argv[2]) / "a.csv", Path(sys.argv[2]) / "b.csv"], [], field="out")
outputs.write_outputs(zip(planned, [b"1", b"2"], strict=True))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="what a killed process left stays there")
@pytest.mark.parametrize("other", ["killed", "alive"])
def test_drafts_of_a_killed_process_are_removed_and_those_of_a_living_one_kept(tmp_path, other):
    here = tmp_path / "here"
    here.mkdir()
    kept = [here / ".irisdp-notes", here / ".irisdp-0123456789abcdef.txt", here / ".irisdp-0123456789abcde"]
    for path in kept:
        path.write_text("somebody else's")
    (here / ".irisdp-00112233445566778").write_text("somebody else's")
    (here / ".irisdp-0011223344556677").write_text("a draft of an earlier version")
    (here / ".irisdp-8899aabbccddeeff").symlink_to(tmp_path)
    program = [sys.executable, "-c", KILLED, other, str(here)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        if other == "killed":
            process.wait(60)
        drafts = {path.name for path in here.glob(".irisdp-*.[01]")}
        assert len(drafts) == 2
        (planned,) = plan_outputs([here / "c.csv"], [], field="out")
        write_outputs([(planned, b"3")])
        left = {path.name for path in here.glob(".irisdp-*.[01]")}
        assert left == (set() if other == "killed" else drafts)
        process.stdin.close()
    assert {path.name for path in here.glob("*.csv")} == (
        {"c.csv"} if other == "killed" else {"a.csv", "b.csv", "c.csv"}
    )
    hidden = {*(path.name for path in kept), ".irisdp-00112233445566778", ".irisdp-8899aabbccddeeff"}
    assert {path.name for path in here.iterdir() if path.name.startswith(".")} == hidden
