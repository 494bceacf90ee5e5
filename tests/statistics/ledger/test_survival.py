"""No answer without its charge: kills, failing disks, power losses, and many spenders of one budget.

Each test runs one of the scripts beside this file in a process of its own and reads the books it prints.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from support.sweeps import tried

sys.path.insert(0, str(Path(__file__).parent))
from machines import lacking as lacking_machines
from server_disk import lacking as lacking_disk
from server_power import compiler

KILLS, KILLS_OF_THE_CONTROL = tried(20, 200), 60
KILLS_ON_A_SERVER = tried(5, 100)
KILLS_OF_CLIENTS, KILLS_OF_THE_SERVER = tried((8, 2), (120, 12))
KILLS_OF_BATCHES, KILLS_OF_BATCHES_OF_THE_CONTROL = tried(2, 12), 6
KILLS_OF_PLANS, KILLS_OF_PLANS_ON_A_SERVER = tried((2, 1), (120, 40))
CUTS, POWER_CUTS = tried((1, 3), (24, 60))
QUESTIONS_OF_A_PLAN = tried(16, 40)
BEFORE_A_POWER_CUT = tried(0.6, 1.5)
"""Seconds at most."""
ROOM = tried(1 << 17, 1 << 14)
"""Bytes between one amount of room on a server's disk and the next."""
LONGEST = tried(300, 1800)
"""Seconds that a script may take."""
UNITS = 200
"""Settlements that the crowd's budget allows."""
PROCESSES, THREADS, FORKS = 16, 64, 4


def run(script: str, *arguments: object) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder() -> Iterator[str]:
    """A RAM disk where there is one: what a sync achieves is modelled, and waiting for a real one would only cost time.

    Every user may look inside, which pytest's own folders do not allow.
    """
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as place:
        Path(place).chmod(0o755)
        yield place


@pytest.fixture(params=["in a file", "on a server"])
def place(request) -> str:
    """Where the ledgers of a script are: in a folder, or in schemas of a server."""
    if request.param == "on a server":
        return request.getfixturevalue("server").address()
    return request.getfixturevalue("folder")


def assert_sound(books: dict[str, int]) -> None:
    assert books["trials"] > 0
    assert books["unexplained"] == 0
    assert books["uncharged"] == 0
    assert books["most_unshown"] <= 1
    assert books["lost"] == 0


def test_kills_at_random_moments(place):
    kills = KILLS_ON_A_SERVER if place.startswith("postgresql:") else KILLS
    books = run("kills.py", place, kills, "after")
    assert_sound(books)
    assert books["killed"] == kills
    assert books["shown"] > kills // 4, "the children were killed before they did anything"
    # That an answer between its commit and a kill is brought back, `test_every_single_operation…` sees every time.


def test_kills_of_clients_and_of_the_server(server):
    """The script starts a server of its own; `server` is asked for so that the test is skipped where there is none."""
    books = run("server.py", KILLS_OF_CLIENTS, KILLS_OF_THE_SERVER, "after")
    assert books["client kills"] >= KILLS_OF_CLIENTS
    assert books["server kills"] >= KILLS_OF_THE_SERVER
    assert books["shown"] > 0
    assert (books["uncharged"], books["shown twice"], books["unexplained"]) == (0, 0, 0)
    assert books["charged in vain, beyond one a kill"] <= 0
    assert books["spent / limit, at most"] <= 1


def test_kills_of_clients_and_of_the_server_catch_answers_shown_before_the_commit(server):
    assert run("server.py", 80, 20, "before")["uncharged"] > 0  # it ends as soon as it has seen one


def test_kills_of_batches_leave_all_answers_or_none(place):
    books = run("batches.py", place, KILLS_OF_BATCHES, "after")
    assert books["kills"] == KILLS_OF_BATCHES
    assert books["shown"] > 0, "the children were killed before they did anything"
    assert books["most unshown"] <= 1
    assert (books["uncharged"], books["lost"], books["inexact"]) == (0, 0, 0)


def test_kills_catch_batches_shown_before_the_commit(folder):
    assert run("batches.py", folder, KILLS_OF_BATCHES_OF_THE_CONTROL, "before")["uncharged"] > 0


def test_kills_catch_answers_shown_before_the_commit(folder):
    assert run("kills.py", folder, KILLS_OF_THE_CONTROL, "before")["uncharged"] > 0


def assert_as_one_run(books: dict[str, Any]) -> None:
    """The books of plans that were killed and run again are those of one run that was never stopped."""
    assert books["questions"] == QUESTIONS_OF_A_PLAN
    assert books["files"] > 2 * books["questions"]
    assert books["fine"]
    counted = books["as it is"]
    assert (counted["uncharged"], counted["refused"], counted["broken history"], counted["not free"]) == (0, 0, 0, 0)
    assert (counted["other answers"], counted["other charges"], counted["other files"]) == (0, 0, 0)


def test_a_plan_that_is_killed_and_run_again_comes_to_the_same(folder):
    books = run("plans.py", folder, KILLS_OF_PLANS, QUESTIONS_OF_A_PLAN)
    assert_as_one_run(books)
    assert books["as it is"]["kills"] == KILLS_OF_PLANS
    assert books["as it is"]["starts"] > KILLS_OF_PLANS
    # Negative control: answers that are drawn anew are others, at the same charges.
    assert (books["unseeded"]["other answers"], books["unseeded"]["other charges"]) == (1, 0)


def test_a_plan_on_a_server_that_is_killed_and_run_again_comes_to_the_same(server):
    books = run("plans.py", server.address(), KILLS_OF_PLANS_ON_A_SERVER, QUESTIONS_OF_A_PLAN)
    assert_as_one_run(books)
    assert books["as it is"]["kills"] == KILLS_OF_PLANS_ON_A_SERVER


def test_every_single_operation_on_the_disk_fails_or_is_the_last(folder):
    found = run("failures.py", folder, "after")
    assert len(found) == 8
    for way, books in found.items():
        assert_sound(books)
        assert (books["killed"] if way.startswith("killed") else books["refused"]) > 10, way
    # A kill between the commit and the answer is the one case of a charge in vain; it was among the kills.
    assert found["killed, there already"]["unshown"] > 0


def test_failures_catch_answers_shown_before_the_commit(folder):
    for way, books in run("failures.py", folder, "before").items():
        assert books["uncharged"] > 0, way


def test_every_cut_of_a_connection_leaves_all_or_nothing(server):
    books = run("cuts.py", "after", tried(8, 1))
    assert min(books["shown"], books["refused"]) > 2
    assert (books["uncharged"], books["charged twice"]) == (0, 0)
    assert run("cuts.py", "before", 8)["uncharged"] > 0


def test_full_disks_of_a_server_lose_no_charge(server):
    missing = lacking_disk()
    if missing:
        pytest.skip(missing)
    books = run("server_disk.py", ROOM, "after")
    assert min(books["returned"], books["refused"]) > 0
    assert (books["uncharged"], books["unexplained"]) == (0, 0)
    assert run("server_disk.py", 1 << 17, "before")["uncharged"] > 0


def test_power_losses_of_a_server_lose_no_charge(server):
    if compiler() is None:
        pytest.skip("needs a C compiler")
    books = run("server_power.py", POWER_CUTS, "on", BEFORE_A_POWER_CUT)
    assert books["shown"] > 0 and books["files that lost something"] > 0
    assert (books["uncharged"], books["inexact"]) == (0, 0)
    # Negative control: commits that nobody waited for are lost.
    assert run("server_power.py", 8, "off", BEFORE_A_POWER_CUT)["uncharged"] > 0


def test_bad_input_is_charged_nowhere_and_no_record_rests_anywhere(tmp_path, server):
    for told in (tmp_path, "server"):
        found = run("at_rest.py", told)
        assert (found["found"], found["not as they should end"], found["spent on what was wrong"]) == (0, 0, "0")
        assert found["found of what is public"] > 3, "the control: what is public is found"


def test_power_loss_with_unsynced_writes_dropped(folder):
    found = run("power.py", folder, tried(1, 3))
    assert found["moments"] > 80
    assert (found["lost"], found["unreadable"], found["inexact"]) == (0, 0, 0)


@pytest.mark.parametrize("weaker", ["OFF", "NORMAL"])
def test_power_loss_catches_weaker_syncing(folder, weaker):
    found = run("power.py", folder, 3, weaker)
    assert found["lost"] + found["unreadable"] > 0  # what is torn may be refused before it is missed


def test_crowd_spends_exactly_the_budget(place):
    found = run("crowd.py", place, UNITS, "inside")
    assert found["failed"] == 0
    assert found["answers"] == found["different answers"] == UNITS
    assert found["spent / limit"] == "1"
    assert found["answers to one question"] == PROCESSES - 1 + THREADS + FORKS
    assert found["different answers to one question"] == 1
    assert found["charges for one question"] == "1"
    assert found["different secrets beside one file"] == 1


def test_sixteen_crowds_spend_exactly_the_budget(folder):
    found = run("crowd.py", folder, UNITS, "inside", PROCESSES)
    assert (found["failed"], found["spent / limit"], found["different answers"]) == (0, "1", UNITS)
    assert found["answers to one question"] == PROCESSES * (THREADS + FORKS)
    assert (found["different answers to one question"], found["charges for one question"]) == (1, "1")


def test_crowd_catches_a_budget_checked_before_the_transaction(folder):
    assert Fraction(run("crowd.py", folder, UNITS, "outside")["spent / limit"]) > 1


@pytest.fixture
def machines(server):
    """Whether two machines can be made here; the script makes them, with a server of its own."""
    missing = lacking_machines()
    if missing:
        pytest.skip(missing)


def test_two_machines_spend_one_budget_and_one_that_is_cut_off_holds_up_nobody(machines):
    found = run("machines.py", CUTS, "with")
    budget, wires = found["one budget"], found["wires"]
    assert budget["answers"] == budget["different answers"] == 200
    assert (budget["failed"], budget["uncharged"], budget["spent / limit"]) == (0, 0, "1")
    assert budget["least of a machine"] > 20, "one machine spent it all"
    assert wires["cuts"] == CUTS and wires["machines lost"] > 0 and wires["shown"] > 0
    assert (wires["uncharged"], wires["twice"], wires["stalls"]) == (0, 0, 0)
    assert wires["in vain"] <= 0


def test_machines_catch_waiting_for_one_that_is_cut_off(machines):
    assert run("machines.py", 3, "without")["wires"]["stalls"] > 0


def test_fork_in_the_middle_of_a_settlement(place):
    assert run("fork.py", place, "with") == {"returned": True, "shown": 1, "settled": 2}


def test_fork_needs_its_turn(folder):
    assert not run("fork.py", folder, "without")["returned"]


def test_limits_of_the_operating_system(folder):
    found = run("limits.py", folder, tried(4096, 2048))
    for books in found.values():
        assert_sound(books)
    for state in ("created", "there already"):
        limited = found.pop(f"files of limited size, {state}")
        assert limited["returned"] > 10
        assert limited["refused"] > 10
    may = {"all open, created", "all open, there already", "file read-only, created", "file hidden, created"}
    assert {way for way, books in found.items() if books["returned"]} == may
