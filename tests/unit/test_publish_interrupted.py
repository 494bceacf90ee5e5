"""Publish of the explorer, ended at every step: nothing stays uncharged, one press charges once, answers come back."""

import contextlib
import hashlib
import http.client
import os
import shutil
import signal
import socket
import threading
import time
import urllib.parse
from collections import Counter
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: `make test` installs it")

from irisdp import Cost, Ledger, run
from irisdp._explorer.publishing import publish_plan
from irisdp._release import PlanText, dry_run_plan
from support.explorers import children, exploring
from support.killed import KILLED, in_child
from support.sweeps import tried

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

TABLE = "ward,age\nnorth,30\nsouth,41\nnorth,52\n"
PLAN = """
[datasets.visits]
data = "visits.csv"
[[questions]]
query = "count"
epsilon = 0.5
out = "visits-answers/count.csv"
[[questions]]
query = "histogram ward"
categories = "north,south"
epsilon = 0.25
out = "visits-answers/wards.csv"
[[questions]]
query = "at-least 2"
epsilon = 0.25
out = "visits-answers/some.json"
"""
ALL = Cost(Fraction(1))
MOST = '{"epsilon": "1", "delta": "0"}'
"""What all questions charge, and the charge that a form allows."""


def table(folder):
    """Return a table beside a plan about it."""
    folder.mkdir()
    (folder / "visits.plan.toml").write_text(PLAN)
    (folder / "visits-answers").mkdir()
    data = folder / "visits.csv"
    data.write_text(TABLE)
    return data


def releases(data):
    ledger = data.with_suffix(".ledger")
    return list(Ledger(ledger).releases()) if ledger.exists() else []


def check_nothing_is_uncharged(data):
    """Every answer that lies in a file is in the ledger, and no question was charged twice."""
    lines = releases(data)
    known = {Path(output).name for line in lines for output in line.outputs}
    shown = {file.name for file in (data.parent / "visits-answers").iterdir()}
    answers = {name for name in shown if name.endswith((".csv", ".json")) and name.count(".") == 1}
    assert answers <= known
    charged = Counter(line.query for line in lines if line.cost != Cost(0))
    assert set(charged.values()) <= {1}, "one press, one charge"
    if lines:
        book = Ledger(data.with_suffix(".ledger"))
        assert book.spent.epsilon <= ALL.epsilon and not book.verify().problems


def check_all_was_answered(data):
    """Everything is there once: three charges, and files that say what the ledger keeps."""
    check_nothing_is_uncharged(data)
    before = {file: file.read_bytes() for file in (data.parent / "visits-answers").iterdir()}
    assert {"count.csv", "wards.csv", "some.json"} <= {file.name for file in before}
    assert Ledger(data.with_suffix(".ledger")).spent == ALL
    again = run(data.with_name("visits.plan.toml"))
    assert again.repeated and Ledger(data.with_suffix(".ledger")).spent == ALL
    after = {file: file.read_bytes() for file in (data.parent / "visits-answers").iterdir()}
    assert after == before, "the answers that were found again are the ones of the ledger"


# The child that publishes is killed at every change on the disk.


def pressed(data):
    """Return what the child is given by a press, of a plan that is not saved yet: the file says something else."""
    plan = data.with_name("visits.plan.toml")
    known = ",".join(hashlib.sha256(text.encode()).hexdigest() for text in (PLAN, PLAN + "# mine\n"))
    agreement = dry_run_plan(PlanText(plan, PLAN)).agreement
    return {"path": str(plan), "text": PLAN, "known": known, "most": MOST, "agreement": agreement, "offer": "x"}


def test_a_child_killed_at_every_step_leaves_nothing_uncharged(tmp_path):
    data = table(tmp_path / "whole")
    status, changes = in_child(partial(publish_plan, pressed(data), lambda _: None), 0)
    assert status == 0 and changes > 40
    check_all_was_answered(data)
    for number in range(1, changes + 1, tried(changes // 3, 1)):
        data = table(tmp_path / f"killed {number}")
        data.with_name("visits.plan.toml").write_text(PLAN + "# mine\n")
        ended, _ = in_child(partial(publish_plan, pressed(data), lambda _: None), number)
        assert ended == KILLED or (ended == 0 and number > changes - 20)  # another run may need a few changes less
        check_nothing_is_uncharged(data)
        done = publish_plan(pressed(data), lambda _: None)
        assert not done.stopped and len(done.rows) == 3
        check_all_was_answered(data)
        shutil.rmtree(data.parent)


# The server is killed at every step of a press.

STEPS = (
    "publish_page.PublishPage._show",
    "publish_page.PublishPage._press",
    "plan_page.PlanPage.outlook",
    "workspace.Workspace.offer",
    "workspace.Workspace.taken",
    "workspace.Workspace.started",
    "workspace.Workspace.settle",
    "jobs.Jobs.submit",
    "publish_page.PublishPage.finished",
)
KILL = """
import asyncio, functools, importlib, os
module, kind, name = {step!r}.split(".")
kind = getattr(importlib.import_module("irisdp._explorer." + module), kind)
real, passed = getattr(kind, name), 0
def end(when, given):
    global passed
    passed += when == {when!r} and (name != "submit" or given[2].__name__ == "publish_plan")
    if passed:
        os._exit(9)
if asyncio.iscoroutinefunction(real):
    async def planted(*given, **options):
        end("before", given)
        made = await real(*given, **options)
        end("after", given)
        return made
else:
    def planted(*given, **options):
        end("before", given)
        made = real(*given, **options)
        end("after", given)
        return made
setattr(kind, name, functools.wraps(real)(planted))
"""
"""Ends the server before or after a step."""
PHASE = """
import os
from irisdp import _child_processes
real, said = _child_processes.Kept._heard, 0
def planted(self, child, work, values, seconds, phase, cancelled):
    def say(words):
        global said
        said += work.__name__ == "publish_plan"
        if said == {at}:
            os._exit(9)
        phase(words)
    heard = real(self, child, work, values, seconds, say, cancelled)
    if work.__name__ == "publish_plan" and {at} == 0:
        os._exit(9)
    return heard
_child_processes.Kept._heard = planted
"""
"""Ends the server when the child says for the nth time what it does; with 0 when it has said its last word."""


def publish(explorer):
    """Press the button as a person does, and read the page of the result; return how often it was pressed."""
    offer = explorer.offer()
    page = explorer.wait(explorer.press(offer))
    assert "wrong-note" not in page, page


@contextlib.contextmanager
def dying(explorer):
    """Let the server end while it is asked; it must have been ended by what was planted."""
    with contextlib.suppress(OSError, AssertionError, EOFError, http.client.HTTPException):
        yield
    assert explorer.process.wait(60) == KILLED


def end_of_children(pids):
    """Wait until the children of a server that was killed have ended with it."""
    for _ in range(400):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return
        time.sleep(0.05)
    pytest.fail("a child outlives its server")


def killed_and_pressed_again(data, planted):
    """Publish with a server that is planted with its end, then with another one; the second press finds all."""
    with exploring(data, planted=planted) as explorer, dying(explorer):
        publish(explorer)
    time.sleep(0.2)
    check_nothing_is_uncharged(data)
    with exploring(data) as explorer:
        publish(explorer)
        check_all_was_answered(data)


@pytest.mark.parametrize("step", tried(("publish_page.PublishPage._press", "jobs.Jobs.submit"), STEPS))
def test_a_server_killed_at_every_step_of_a_press(tmp_path, step):
    for when in tried(["after"], ["before", "after"]):
        killed_and_pressed_again(table(tmp_path / when), KILL.format(step=step, when=when))


@pytest.mark.parametrize("at", tried([2], range(8)))
def test_a_server_killed_while_its_child_publishes(tmp_path, at):
    killed_and_pressed_again(table(tmp_path / "work"), PHASE.format(at=at))


# The child is killed, and the server lives.


@pytest.mark.skipif(not Path("/proc").exists(), reason="finds processes in /proc")
@pytest.mark.parametrize("wait", tried([0.3], [0.0, 0.1, 0.2, 0.4, 0.8, 1.2, 1.6]))
def test_a_child_that_is_killed_is_said_and_the_next_press_finds_all(tmp_path, wait):
    data = table(tmp_path / "work")
    with exploring(data) as explorer:
        offer = explorer.offer()
        before = children(explorer.process)
        job = explorer.press(offer)
        time.sleep(wait)
        for pid in children(explorer.process) - before:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        page = explorer.wait(job)
        check_nothing_is_uncharged(data)
        assert "ledger" in page
        assert explorer.press(offer) == job, "the same form leads to what became of it"
        publish(explorer)
        check_all_was_answered(data)


# The browser or the network ends at any byte of the request or of the answer.


def raw_press(explorer, offer):
    body = urllib.parse.urlencode({"offer": offer})
    head = f"POST {explorer.root}/publish HTTP/1.1\r\nHost: 127.0.0.1:{explorer.port}\r\nCookie: {explorer.cookie}\r\n"
    head += f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def send(explorer, content):
    """Send some bytes and cut the connection without reading anything."""
    with socket.create_connection(("127.0.0.1", explorer.port), timeout=30) as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # as a cable that is pulled
        one.sendall(content)


def test_a_request_that_is_cut_anywhere_charges_nothing_or_once(tmp_path):
    data = table(tmp_path / "work")
    with exploring(data) as explorer:
        offer = explorer.offer()
        whole = raw_press(explorer, offer)
        for end in range(1, len(whole), tried(97, 1)):
            send(explorer, whole[:end])
        time.sleep(0.5)
        assert releases(data) == [], "a press that did not arrive charges nothing"
        send(explorer, whole)  # arrives, and nobody reads the answer
        for _ in range(tried(3, 40)):
            send(explorer, whole)
        explorer.wait(explorer.press(offer))
        check_all_was_answered(data)
        assert len(releases(data)) == 3


def test_a_button_that_is_pressed_many_times_at_once_charges_once(tmp_path):
    """A double click, a reload, the back button: the same form, and the same job."""
    data = table(tmp_path / "work")
    with exploring(data) as explorer:
        offer, places = explorer.offer(), []
        threads = [threading.Thread(target=lambda: places.append(explorer.press(offer))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(set(places)) == 1 and len(places) == 20
        explorer.wait(places[0])
        assert explorer.press(offer) == places[0]
        check_all_was_answered(data)
        lines = len(releases(data))
        publish(explorer)  # another form, of the same plan
        assert len(releases(data)) == lines == 3


def test_two_explorers_of_one_table_charge_it_once(tmp_path):
    data = table(tmp_path / "work")
    with exploring(data) as one, exploring(data) as other:
        jobs = [(each, each.press(each.offer())) for each in (one, other)]
        for each, job in jobs:
            each.wait(job)
        check_nothing_is_uncharged(data)
        assert Ledger(data.with_suffix(".ledger")).spent == ALL


def test_a_press_charges_no_more_than_its_form_shows(tmp_path):
    """The form showed that all was answered before; then the table changed, and all would be charged again."""
    data = table(tmp_path / "work")
    with exploring(data) as explorer:
        publish(explorer)
        offer = explorer.offer()
        data.write_text(TABLE + "south,33\n")
        page = explorer.wait(explorer.press(offer))
        assert "wrong-note" in page
        assert len(releases(data)) == 3 and Ledger(data.with_suffix(".ledger")).spent == ALL


def test_a_job_that_is_cancelled_leaves_nothing_uncharged(tmp_path):
    data = table(tmp_path / "work")
    with exploring(data) as explorer:
        job = explorer.press(explorer.offer())
        status, _, _ = explorer.post(f"{job}/cancel")
        assert status == 303
        check_nothing_is_uncharged(data)
        publish(explorer)
        check_all_was_answered(data)
