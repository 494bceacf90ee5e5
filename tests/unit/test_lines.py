"""Lines and tables for no terminal are those that rich would print, which is asked where it would change anything."""

import io
import sys
from unittest import mock

from hypothesis import example, given
from hypothesis import strategies as st
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from irisdp._cli import output
from irisdp._cli.output import Lines, terminal_width

ODD = [
    "ε",
    "…",
    "\u0301",
    "字",
    "가",
    "\u1160",
    "\U0001f600",
    ":cat:",
    "[b]",
    "\\",
    "\n",
    "\t",
    "\x1b",
    "\u200d",
    " " * 40,
    "a" * 50,
]
TEXTS = st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=3)), max_size=6).map("".join)


def printed(action):
    """Return what an action prints on a standard output that takes UTF-8."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="\n")
    with mock.patch.object(sys, "stdout", stream):
        action()
        stream.flush()
    return raw.getvalue()


@given(text=TEXTS, markup=st.booleans(), soft_wrap=st.booleans())
@example(text="word " * 30, markup=False, soft_wrap=False)
@example(text="  cost      ε = 1, δ = 0 for adding or removing one record", markup=True, soft_wrap=False)
def test_lines_are_those_of_rich(text, markup, soft_wrap):
    text = escape(text) if markup else text
    wanted = printed(
        lambda: Console(width=terminal_width(), highlight=False).print(text, markup=markup, soft_wrap=soft_wrap)
    )
    assert printed(lambda: Lines().print(text, markup=markup, soft_wrap=soft_wrap)) == wanted


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[TEXTS] * width), min_size=1, max_size=4)))
@example([("educ", "answer"), ("1", "3"), ("…", "…")])
@example([("", "\\"), ("", "")])
@example([("a" * 60, "b" * 60), ("1", "3")])
def test_tables_are_those_of_rich(rows):
    right = [len(column) % 2 == 1 for column in rows[0]]
    table = Table()
    for head, is_right in zip(rows[0], right, strict=True):
        table.add_column(Text(head), justify="right" if is_right else "left")
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    console = Console(width=terminal_width(), highlight=False)
    wanted, found = (
        printed(lambda: console.print(table)),
        printed(lambda: Lines().print_table(rows[0], rows[1:], right)),
    )
    assert found in (wanted, b"")


def test_what_is_usual_asks_nobody():
    view = Lines()
    with mock.patch.object(Lines, "_rich", None):
        printed(lambda: view.print("  error     off by 0.851 on average, by at most 3 in 95 % of cases – ε ≤ 1 …"))
        assert printed(lambda: view.print_table(["educ", "answer"], [["north", "3"], ["…", "…"]], [False, True]))


def test_a_name_is_shown_as_it_is_on_a_terminal(monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(output, "console", lambda: Console(file=shown, width=40, force_terminal=True))
    output.show_table(["town\\"], [["[b]\\"]])
    assert shown.getvalue().count("\\") == 2 and "[b]" in shown.getvalue()
