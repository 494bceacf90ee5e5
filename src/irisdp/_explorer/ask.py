"""The page Ask: the cost of a question and the error of its answer, before there is a table."""

from __future__ import annotations

import shlex
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._child_processes import Phase
from .._exact import json_line
from .ask_form import FIELDS, AskFormInput, read_asked
from .ask_results import answers_say, claimed, headline, in_odds, odds_tables, pictures_of, sentence
from .dispatch import at_once
from .forms import Tool
from .jobs import Stopped
from .results import Answer, Fact, Result, ResultFile, Values

if TYPE_CHECKING:
    from .._release import Plan


def _answer(values: Values) -> Answer:
    read_asked(values)  # what makes no sense is said without asking anybody
    try:
        result: Result = at_once("ask", ask, values)
        return result
    except Stopped as stopped:
        if stopped.reason != "time":
            raise

        return too_hard(values, stopped.seconds)


ASK = Tool(
    name="ask",
    title="Ask",
    summary="What a question costs: which mechanism answers it, how far off it will be, and what it tells about one "
    "person. Say the error, and find the least ε; or say ε, and see the error.",
    introduction="Say what is asked, and how accurate or how private the answer must be. The rest follows from that, "
    "whatever the data.",
    fields=FIELDS,
    answer=_answer,
    live=True,
    bounded=True,
)


# Compute the page Ask in another process: the cost of a question and the error of its answer.
#
# A question is planned about a table without records, as `irisdp publish --dry-run` plans it, because a plan follows
# from public facts alone. The table is one line of names, in a file that is made when it is first needed.

_NAMES = "value,category"
TABLE = ResultFile("question.csv", f"{_NAMES}\n".encode(), "text/csv")
"""Names of columns, and no record."""


def ask(values: Values, say: Phase) -> Result:
    """Plan the question, and return what it requires.

    Raises
    ------
    BadInput
        As `irisdp.plan`, and for numbers that would keep a page waiting.
    """
    say("planning")
    asked = read_asked(values)
    planned = _planned(asked)
    name, scope = claimed(planned, asked)
    facts = [Fact("Mechanism", name, scope), Fact("Cost", planned.describe_cost())]
    if planned.within is not None:
        facts.append(Fact("Error asked for", sentence(planned.within.says)))
    facts += [Fact("Error expected", sentence(line)) for line in planned.describe_error()]
    facts += answers_say(planned, asked)
    facts.append(Fact("Risk", sentence(planned.risk.describe()), in_odds(planned)))
    return Result(
        headline=headline(planned, asked),
        facts=tuple(facts),
        pictures=pictures_of(planned, asked),
        tables=odds_tables(planned),
        files=(ResultFile("plan.json", partial(_taken, dict(values)), told=_command(asked)), TABLE),
        python=_python(asked),
        command=_command(asked),
        notes=(
            "Worked out for a table without records: nothing here depends on anybody's data. To ask your own, put "
            f"your file in place of {TABLE.name}, its columns in place of value and category, and leave --dry-run out.",
        ),
    )


def too_hard(values: Values, seconds: float) -> Result:
    """Say that a question takes longer than a page waits, and what answers it all the same."""
    asked = read_asked(values)
    return Result(
        headline=f"This takes longer than {seconds:g} seconds, which is as long as this page works on one question.",
        notes=("Ask with fewer categories or bins, a larger ε or a smaller lead; or run the command line below.",),
        python=_python(asked),
        command=_command(asked),
    )


def _planned(asked: AskFormInput) -> Plan:
    from .._release import plan

    options: dict[str, Any] = dict(asked.options)
    return plan(_table(), *asked.words, **options)


def _taken(values: Values) -> bytes:
    """Return the file of a plan; called where requests are answered, and worked out elsewhere."""
    content: bytes = at_once("ask", _dry_run, values)
    return content


def _dry_run(values: Values, say: Phase) -> bytes:
    """Return what the command line prints, to the byte."""
    planned = _planned(read_asked(values))
    document = {
        **planned.to_document(),
        "error_by_level": [row.to_document() for row in planned.errors_around()],
        "risk": planned.risk.to_document(),
        "dry_run": True,
        "ledger": None,
    }
    return f"{json_line(document)}\n".encode()


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    """Make a folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="irisdp-explorer-")


def _table() -> Path:
    path = Path(_folder().name) / TABLE.name
    if not path.exists():
        path.write_bytes(TABLE.read())
    return path


def _command(asked: AskFormInput) -> str:
    options = [f"--{name.replace('_', '-')}={value}" for name, value in asked.options.items()]
    words = ["irisdp", "publish", TABLE.name, *asked.words, *options, "--dry-run"]
    return f"echo {_NAMES} > {TABLE.name}\n{shlex.join(words)}\n{shlex.join([*words, '--json'])} > plan.json"


def _python(asked: AskFormInput) -> str:
    words = ", ".join(map(repr, (TABLE.name, *asked.words)))
    options = "".join(f", {name}={value!r}" for name, value in asked.options.items())
    return "\n".join(
        (
            "from pathlib import Path",
            "",
            "from irisdp import plan",
            "",
            f'Path("{TABLE.name}").write_text("{_NAMES}\\n")',
            f"planned = plan({words}{options})",
            "print(planned.describe_cost())",
            'print("\\n".join(planned.describe_error()))',
            "print(planned.risk.describe())",
        )
    )
