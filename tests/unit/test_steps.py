"""What somebody who waits is told: the steps of a release, which are the same whatever its records are."""

import io
import os
import time

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

import irisdp
from irisdp._cli import progress_display
from irisdp._cli.progress_display import rest_of, waiting
from irisdp._measurements import CountNodes, DecisionDistances, padded_size, protocol
from irisdp._release import listen_to_progress
from irisdp._release.progress import STEPS
from support.commands import irisdp as typed

pytestmark = pytest.mark.usefixtures("one_engine")

ALL = [f"step {number} of 4, {step}" for number, step in enumerate(STEPS, start=1)]
FREE = [ALL[0], *ALL[2:]]
"""Of what was answered before nothing is counted."""
COUNT = '[[questions]]\nquery = "count"\nexpression = "v = {}"\nepsilon = 1\n'


@pytest.fixture(params=["g,v\na,1\nb,0\n", "g,v\n" + "b,1\n" * 500], ids=["few", "many"])
def here(request, tmp_path, monkeypatch):
    """A folder with a table of few records, or of many."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(request.param)


def heard(work):
    steps = []
    with listen_to_progress(steps.append):
        work()
    return steps


def test_a_release_has_the_same_steps_whatever_its_records(here):
    assert heard(lambda: irisdp.publish("t.csv", "count", "v = 1", by="g", groups="a,b", epsilon=1)) == ALL
    assert heard(lambda: irisdp.publish("t.csv", "count", "v = 1", by="g", groups="a,b", epsilon=1)) == FREE


def test_a_plan_says_which_question(here, tmp_path):
    (tmp_path / "plan.toml").write_text('[datasets.t]\ndata = "t.csv"\n' + COUNT.format(1) + COUNT.format(0))
    of_each = [[f"question {number} of 2: {step}" for step in ALL] for number in (1, 2)]
    assert heard(lambda: irisdp.run("plan.toml")) == [ALL[0], *of_each[0], *of_each[1]]


def test_a_batch_counts_question_by_question(here):
    asked = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}, {"query": "count", "expression": "v = 1"}]}
    counting = [f"question {number} of 2: {ALL[1]}" for number in (1, 2)]
    assert heard(lambda: irisdp.batch(asked, data="t.csv")) == [ALL[0], *counting, *ALL[2:]]


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_shows_them(here, terminal, monkeypatch):
    shown = io.StringIO()
    view = Console(file=shown, force_terminal=terminal, width=120, force_interactive=terminal)
    monkeypatch.setattr(progress_display, "console", lambda **_: view)
    command = "publish t.csv count --epsilon 1"
    assert typed(command).status == 0
    assert ("step 4 of 4, writing down …" in shown.getvalue()) == terminal
    shown.truncate(0)
    assert typed(f"{command} --json").status == 0
    assert shown.getvalue().strip("\0") == ""


def test_nobody_hears_of_what_ended():
    with listen_to_progress(pytest.fail), listen_to_progress(lambda _: None):
        pass


class Terminal(io.StringIO):
    """Standard error of somebody who looks on."""

    def isatty(self):
        return True


@pytest.mark.parametrize("told", [False, True])
def test_long_work_of_other_commands_is_told_and_wiped_away(monkeypatch, told):
    monkeypatch.setattr(progress_display, "_PATIENCE", 0.05 if told else 600)
    monkeypatch.setattr("sys.stderr", seen := Terminal())
    end = time.monotonic() + 60
    with waiting("designing"):
        while told and not seen.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    assert ("designing … " in seen.getvalue()) == told
    assert seen.getvalue().endswith("\r\x1b[K" if told else "")
    assert told or not seen.getvalue()


def test_an_interrupt_or_an_error_is_not_held_up_by_what_is_told(monkeypatch):
    monkeypatch.setattr(progress_display, "_PATIENCE", 600)
    monkeypatch.setattr("sys.stderr", Terminal())
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt), waiting("designing"):
        raise KeyboardInterrupt
    assert time.monotonic() - begun < 60


def test_nothing_is_told_of_long_work_but_to_a_terminal(monkeypatch):
    monkeypatch.setattr(progress_display, "_PATIENCE", 0)
    monkeypatch.setattr("sys.stderr", seen := io.StringIO())
    with waiting("designing"):
        time.sleep(0.05)
    assert seen.getvalue() == ""


def test_the_rest_of_a_plan_is_guessed_by_its_questions_and_the_clock_alone():
    """What is guessed is the same however much data there is, if the clock is."""
    assert rest_of("question 2 of 2: step 1 of 4, x", 30.0) == ", about 30 s left"
    assert rest_of("question 11 of 40: step 1 of 4, x", 1.0) == ""


# A selection reads as many random bytes as its options say, whoever is in the table.

QUERIES = {
    "count": ("count", "x = 1"), "all": ("count",), "at-least": ("at-least", 2), "majority": ("majority", "x = 1"),
    "audiences": ("count", "x = 1"),
}  # fmt: skip
TABLES = [[], ["a"], ["a", "a"], ["a", "b"], list("abcde"), list("abcdefgh") * 3, list("abcdefghi") * 3]


@pytest.fixture
def bytes_read(monkeypatch):
    real, read = os.urandom, []

    def counted(size):
        read.append(size)
        return real(size)

    monkeypatch.setattr(os, "urandom", counted)
    return read


def ask(keys, name, folder, read, **options):
    folder.mkdir(exist_ok=True)
    (folder / ".tables.irisdp-secret").write_bytes(b"s" * 32)
    table = pa.table(
        {
            "g": pa.array(keys, pa.string()),
            "x": pa.array([1] * len(keys), pa.int64()),
            "u": pa.array(range(len(keys)), pa.int64()),
        }
    )
    levels = {"audience": {"one": 2, "two": 1}} if name == "audiences" else {"epsilon": 2}
    del read[:]
    published = irisdp.publish(
        table, *QUERIES[name], by="g", select_groups=True, delta="1e-3", **levels, **options,
        ledger=folder / f"{len(list(folder.iterdir()))}.ledger",
    )  # fmt: skip
    return published, sum(read)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("options", [{}, {"unit": "u", "at_most": 1}, {"relation": "exchange"}], ids=str)
def test_a_new_key_does_not_show_in_the_bytes_read(tmp_path, bytes_read, monkeypatch, query, options):
    """Ties, which read more, have probability 2^-63 a draw."""
    monkeypatch.setattr(protocol, "FEWEST_DRAWS", 64)
    read = {ask(keys, query, tmp_path / "f", bytes_read, **options)[1] for keys in TABLES}
    assert len(read) == 1
    assert read.pop() >= (8 if query == "all" else 2 * 8) * 64  # one noise names and counts, two where some are counted


def test_beyond_the_padding_only_powers_of_two_show(tmp_path, bytes_read, monkeypatch):
    monkeypatch.setattr(protocol, "FEWEST_DRAWS", 4)
    read = [ask([str(k) for k in range(n)], "all", tmp_path / "f", bytes_read)[1] for n in range(1, 18)]
    assert len(set(read[:4])) == len(set(read[4:8])) == len(set(read[8:16])) == 1
    assert read[3] < read[4] < read[8] < read[16]


def test_a_million_cells_are_drawn_for_as_it_stands(tmp_path, bytes_read):
    published, one = ask(["a"] * 60 + ["b"], "all", tmp_path / "f", bytes_read)
    _, two = ask(["a"] * 60, "all", tmp_path / "f", bytes_read)
    assert one == two >= 8 * 2**20
    assert published.answers.keys[0] == ("a",)


def test_sizes_and_cells_that_nobody_is_in():
    assert [padded_size(n) for n in (0, 1, 2**20, 2**20 + 1, 2**21, 2**21 + 1)] == [2**20] * 3 + [2**21] * 2 + [2**22]
    counts = CountNodes(np.array([7]), np.array([0]), None).padded(4)
    assert counts.values.tolist() == [7, 0, 0, 0]
    assert len(counts.lower) == 4
    classes = DecisionDistances(("yes", "no"), np.array([1]), np.array([9])).padded(4)
    assert (classes.true_class.tolist(), classes.depth.tolist()) == ([1, 0, 0, 0], [9, 0, 0, 0])
