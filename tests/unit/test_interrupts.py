"""Ctrl-C while an engine reads is an interrupt: never damaged data, never an engine's words, and nothing is charged."""

import gzip
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, Ledger
from irisdp._cli import run
from irisdp._tables import engine
from irisdp._tables.engine import interruptible
from irisdp._tables.table import open_table

SECRET = "Ada Lovelace"
COLUMNS = {"name": [SECRET, "b", "c"], "v": [1, 0, 1]}
LONG = "SELECT sum(a.range % 7) AS found FROM range(20000000000) a"
"""Some ten seconds. DuckDB looks for interrupts between parts of what it reads; of a product of two tables, a part has
no end."""
KEPT = {
    "publish": "if it was charged by then, the answer is kept, and asking again is free",
    "run": "what was charged by then is kept, and free when the plan is run again",
}
SOURCES = ("csv", "csv.gz", "jsonl", "parquet", "folder", "sqlite", "pandas", "polars", "lazy")
STREAMS = ("csv", "csv.gz", "jsonl", "sqlite")


def source(kind, folder):
    table, lines = pa.table(COLUMNS), f"name,v\n{SECRET},1\nb,0\nc,1\n"
    path = folder / f"t.{kind}"
    if kind == "csv":
        path.write_text(lines)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(lines.encode()))
    elif kind == "jsonl":
        path.write_text("".join(f'{{"name": "{name}", "v": {v}}}\n' for name, v in zip(*COLUMNS.values(), strict=True)))
    elif kind == "parquet":
        pq.write_table(table, path)
    elif kind == "folder":
        path.mkdir()
        for place in range(2):
            pq.write_table(table, path / f"{place}.parquet")
    elif kind == "sqlite":
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE t (name TEXT, v INTEGER)")
            database.executemany("INSERT INTO t VALUES (?, ?)", zip(*COLUMNS.values(), strict=True))
        database.close()
        return f"sqlite:///{path}#t"
    else:
        frames = {"pandas": table.to_pandas, "polars": lambda: pl.from_arrow(table)}
        return frames[kind]() if kind in frames else pl.from_arrow(table).lazy()
    return path


def opened(kind, folder):
    types = {"name": "text", "v": "integer"} if kind == "jsonl" else None
    return open_table(source(kind, folder), types=types)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def stopping_streams(monkeypatch, moment):
    """Interrupt this process before a stream's first batch (0), after it (1), or at its end (2)."""
    whole = engine.total_stream

    def streamed(schema, batches):
        def made():
            if moment == 0:
                interrupt()
            for batch in batches:
                yield batch
                if moment == 1:
                    interrupt()
            if moment == 2:
                interrupt()

        return whole(schema, made())

    monkeypatch.setattr(engine, "total_stream", streamed)


def check_silence(error):
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not error.args


@pytest.mark.parametrize("kind", SOURCES)
def test_an_interrupt_while_the_engine_counts_is_one(kind, tmp_path):
    table, before = opened(kind, tmp_path), signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        table.run(f"{LONG}, data", table.columns)
    check_silence(caught.value)
    assert signal.getsignal(signal.SIGINT) is before
    timer.join()


@pytest.mark.parametrize("moment", range(3))
@pytest.mark.parametrize("kind", STREAMS)
def test_an_interrupt_while_records_are_read_is_one(kind, moment, tmp_path, monkeypatch):
    table = opened(kind, tmp_path)
    stopping_streams(monkeypatch, moment)
    with pytest.raises(KeyboardInterrupt) as caught:
        table.run("SELECT count(*) AS found, count(v) FROM data", table.columns)
    check_silence(caught.value)


@pytest.mark.parametrize("moment", range(3))
def test_a_stopped_question_costs_nothing_and_the_command_says_stopped(moment, tmp_path, monkeypatch, capsys):
    path = source("csv", tmp_path)
    ask = ["publish", str(path), "count", "v = 1", "--epsilon", "1", "--out", str(tmp_path / "o.csv")]
    plan = tmp_path / "plan.toml"
    plan.write_text('[datasets.t]\ndata = "t.csv"\n[[questions]]\nquery = "count"\nexpression = "v = 1"\nepsilon = 1\n')
    with monkeypatch.context() as patch:
        stopping_streams(patch, moment)
        for command in (ask, ["run", str(plan)]):
            assert run(command) == 130
            told = capsys.readouterr()
            assert (told.out, told.err) == ("", f"irisdp: stopped; {KEPT[command[0]]}\n")
        with pytest.raises(KeyboardInterrupt):
            irisdp.publish(path, "count", "v = 1", epsilon=1)
    assert not (tmp_path / "o.csv").exists()
    assert run(ask) == 0
    assert run(["run", str(plan)]) == 0
    assert len(Ledger(tmp_path / "t.ledger").releases()) == 1


STOPPED = {
    "the engine's own": duckdb.InterruptException(SECRET),
    "raised on the way out of an interrupt": RuntimeError(SECRET),
    "an interrupt with the engine's words": KeyboardInterrupt(SECRET),
}
STOPPED["raised on the way out of an interrupt"].__context__ = KeyboardInterrupt()


@pytest.mark.parametrize("error", STOPPED.values(), ids=STOPPED)
def test_what_an_engine_makes_of_an_interrupt_is_one(error):
    def action():
        raise error

    with pytest.raises(KeyboardInterrupt) as caught:
        engine.guarded(action, "could not be read", "check it")
    check_silence(caught.value)


def test_other_errors_stay_the_data_s():
    def action():
        raise duckdb.InvalidInputException(SECRET)

    with pytest.raises(BadInput, match="could not be read") as caught:
        engine.guarded(action, "could not be read", "check it")
    assert caught.value.__context__ is None


def test_an_interrupt_that_a_bad_input_hides_is_one():
    def action():
        try:
            interrupt()
            time.sleep(5)
        except KeyboardInterrupt:
            raise BadInput("data", "was not read to its end", "open it again") from None

    with pytest.raises(KeyboardInterrupt) as caught:
        interruptible(action)
    check_silence(caught.value)


def test_a_program_that_only_counts_interrupts_goes_on():
    counted, before = [], signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda number, frame: counted.append(number))
    try:
        assert interruptible(lambda: interrupt() or 7) == 7
    finally:
        signal.signal(signal.SIGINT, before)
    assert counted == [signal.SIGINT]


def test_other_threads_read_as_ever(tmp_path):
    table, found = opened("csv", tmp_path), []
    thread = threading.Thread(target=lambda: found.append(table.digest()))
    thread.start()
    thread.join()
    assert found == [table.digest()]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("wait", [0.1, 0.3, 0.8])
def test_a_command_that_is_stopped_ends_as_stopped_or_is_done(ending, wait, tmp_path):
    """A real process and a real signal, at moments that differ from run to run: none of them is the data's fault."""
    path = tmp_path / f"t.{ending}"
    frame = pd.DataFrame({"v": range(400_000), "w": "text that takes some room"})
    frame.to_parquet(path) if ending == "parquet" else frame.to_csv(path, index=False)
    # What is loaded before the command begins is Python's, and so is an interrupt then.
    program = "from irisdp._cli.main import run; print('ready', flush=True); run()"
    line = [sys.executable, "-c", program, "publish", str(path), "count", "v > 3", "--epsilon", "1"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) in [(130, f"irisdp: stopped; {KEPT['publish']}\n"), (0, "")], told
    if process.returncode == 130:
        assert not (tmp_path / "t.ledger").exists() or not Ledger(tmp_path / "t.ledger").releases()


STARTS = {
    "python -m irisdp": "start = lambda: runpy.run_module('irisdp', run_name='__main__')",
    "the console script": "(entry,) = importlib.metadata.entry_points(group='console_scripts', name='irisdp')\n"
    "start = entry.load()",
}


@pytest.mark.parametrize("way", STARTS)
@pytest.mark.parametrize("module", ["typer", "errors", "output"])
def test_an_interrupt_while_the_command_is_loaded_ends_it_as_stopped(way, module):
    """A library that is being loaded may swallow an interrupt; none of it reaches the terminal."""
    program = f"""
import builtins, importlib.metadata, os, runpy, signal
whole = builtins.__import__
def interrupted(name, *rest, **more):
    if name == {module!r}:
        builtins.__import__ = whole
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("no such thing") from None
    return whole(name, *rest, **more)
{STARTS[way]}
builtins.__import__ = interrupted
start()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "irisdp: stopped\n")
