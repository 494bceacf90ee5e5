"""The `irisdp` command: one line of error, one exit status, no traceback, no private value."""

from __future__ import annotations

import atexit
import contextlib
import copy
import gc
import importlib
import os
import sys
import threading
from functools import cache
from typing import Annotated, Any, NoReturn

import typer

import irisdp

from ..errors import BadInput, IrisError, Refusal, place_of, without_passwords
from .batch import batch_command
from .check import check_command
from .command_facts import is_printed, logged
from .commands import Command, CommandOnDocuments, Commands, explain
from .init import init_command
from .interpret import interpret_command
from .ledger import ledger_command
from .mechanism_files import audit_command, design_command, sample_command
from .output import (
    discard,
    finish_output,
    give_up_output,
    open_missing_streams,
    print_json,
    reason_of,
    say_what_is_lost,
    write_error,
    write_plain_letters,
)
from .publish import publish_command
from .run_plan import run_command
from .views import compare_command, explore_command, plot_command, report_command, reproduce_command

_COMPLETE = "_IRISDP_COMPLETE"
_YOUNG_OBJECTS = 1_000_000
"""How many are made before Python looks for waste among them.

Loading libraries and a release of 100,000 groups make that many and no waste: looking after every 700, as usual, is a
tenth of a small release.
"""

_STOPPED = 130
"""How a command ends that was stopped by Ctrl-C, as a shell's own do."""

_KEPT = {
    "run": "what was charged by then is kept, and free when the plan is run again",
    **dict.fromkeys(("publish", "batch"), "if it was charged by then, the answer is kept, and asking again is free"),
}
"""What is true of a command that was stopped while it spent; nobody can tell any more how far it came."""

_SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")

app = typer.Typer(
    name="irisdp",
    cls=Commands,
    add_completion=False,  # --show-completion below needs no guess at the shell, and writes to nobody's profile
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# What each command does in at most 60 letters, which fit a terminal of 80 columns, and lines that can be typed.
for name, function, summary, examples in (
    (
        "publish",
        publish_command,
        "Publish private answers to one question.",
        (
            'irisdp publish survey.csv count "age > 64" --epsilon 1',
            'irisdp publish survey.csv majority "vote = 1" --by town --groups A,B --ratio 2',
            "irisdp publish survey.csv count --by town --select-groups --epsilon 1 --delta 1e-6",
            "irisdp publish survey.csv count --audience board=2 --audience press=0.5 --out o.csv",
        ),
    ),
    (
        "batch",
        batch_command,
        "Publish several questions as one charge.",
        ("irisdp batch plan.json --dry-run", "irisdp batch plan.json --report findings.html"),
    ),
    (
        "run",
        run_command,
        "Publish the questions of a plan file, or resume it.",
        ("irisdp run plan.toml --dry-run", "irisdp run plan.toml"),
    ),
    (
        "check",
        check_command,
        "Find faults in a table, for its owner's eyes only.",
        (
            "irisdp check survey.csv",
            'irisdp check survey.csv --delimiter ";" --decimal , --unit person --json',
        ),
    ),
    (
        "init",
        init_command,
        "Write a project file template for a table.",
        ("irisdp init survey.csv", "irisdp init survey.csv --check"),
    ),
    (
        "interpret",
        interpret_command,
        "Explain published answers: intervals, totals, best guesses.",
        (
            "irisdp interpret out.csv.release.json",
            "irisdp interpret out.csv.release.json --value 7 --at-most 10 --loss squared",
        ),
    ),
    (
        "report",
        report_command,
        "Write an HTML page about a release.",
        (
            "irisdp report out.csv.release.json -o out.html",
            "irisdp report out.1.csv.release.json out.2.csv.release.json -o both.html",
        ),
    ),
    (
        "plot",
        plot_command,
        "Draw a mechanism, published answers or a ledger.",
        ("irisdp plot mechanism.json -o mechanism.html", "irisdp plot out.csv -o out.html"),
    ),
    (
        "design",
        design_command,
        "Design an optimal mechanism with a certificate.",
        ("irisdp design spec.json -o mechanism.json",),
    ),
    (
        "audit",
        audit_command,
        "Check a mechanism exactly: privacy and certificate.",
        (
            "irisdp audit mechanism.json",
            "irisdp audit matrix.csv --graph graph.json --epsilon 1",
            "irisdp audit matrix.csv --graph graph.json --epsilon 1 --repair repaired.json",
        ),
    ),
    (
        "sample",
        sample_command,
        "Draw from a mechanism file.",
        ("irisdp sample mechanism.json --input 0 -n 5",),
    ),
    (
        "compare",
        compare_command,
        "Compare exact errors with other mechanisms.",
        (
            "irisdp compare plurality --categories 4 --n 12 --epsilon 1",
            "irisdp compare at-least 10 --n 20 --epsilon 1/2 --lead 3 -o compared.svg",
        ),
    ),
    (
        "reproduce",
        reproduce_command,
        "Recompute the numbers printed in the works behind Iris.",
        (
            "irisdp reproduce --out build/reproduce",
            'irisdp reproduce --paper DOliveira2021 --only "Example 3"',
        ),
    ),
    (
        "explore",
        explore_command,
        "Open the explorer in the browser, on this machine only.",
        ("irisdp explore", "irisdp explore survey.csv", "irisdp explore --port 8080 --no-browser"),
    ),
    (
        "ledger",
        ledger_command,
        "Show what was spent, or set the limit.",
        ("irisdp ledger survey.ledger", "irisdp ledger survey.ledger --limit 3,1e-6"),
    ),
):
    epilog = "\b\nExamples:\n" + "\n".join(f"  {line}" for line in examples)
    kind = CommandOnDocuments if name in ("batch", "run", "design", "audit", "sample") else Command
    app.command(name, cls=kind, short_help=summary, epilog=epilog)(function)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"irisdp {irisdp.__version__}")
        raise typer.Exit


def _show_completion(shell: str | None) -> None:
    if shell is None:
        return
    if shell not in _SHELLS:
        raise BadInput("--show-completion", f"knows no shell {shell}", f"choose from {', '.join(_SHELLS)}")
    typer.echo(_completion().get_completion_script(prog_name="irisdp", complete_var=_COMPLETE, shell=shell))
    raise typer.Exit


def _completion() -> Any:
    """Return Typer's completion, which it does not hand out by name."""
    return importlib.import_module("typer.completion")


@app.callback(
    invoke_without_command=True,
    epilog="\b\nExamples:\n"
    '  irisdp publish survey.csv count "age > 64" --epsilon 1\n'
    "  irisdp publish -h\n\n"
    "Quote conditions: the shell treats > and < as redirections.",
)
def overview(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    show_completion: Annotated[
        str | None,
        typer.Option(
            metavar="SHELL",
            callback=_show_completion,
            is_eager=True,
            help="Print the completion script for bash, zsh, fish, powershell or pwsh.",
        ),
    ] = None,
) -> None:
    """Publish statistics about people with differential privacy, a proof and a budget on disk."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and exit with a status.

    - 0: done, or holds; everything was written, to files and to standard output.
    - 1: checked, and does not hold.
    - 2: bad input, or output that could not be written; nothing was spent.
    - 3: done and charged, but files or standard output could not be written, for example because it is closed or full.
      Asking again is free.
    - 4: a ledger, a server or a folder could not be reached or written at present; nothing was spent.
    - 130: stopped by Ctrl-C; charges so far are kept.
    """
    gc.set_threshold(_YOUNG_OBJECTS)
    typed = sys.argv[1:] if arguments is None else arguments
    try:
        open_missing_streams()
        write_plain_letters()
        with logged(_command_of(typed)) as log:
            status = _status(typed)
        if log.lost:
            write_error(f"irisdp: --log-file: could not be written ({log.lost}); the command went on without it")
        if status == 0:  # what is wrong is said in one line
            say_what_is_lost()
    except KeyboardInterrupt:  # before the command began, or while it ended
        status = _stopped(typed)
    if arguments is None:
        _leave(status)
    return status


def _leave(status: int) -> NoReturn:
    """End the process, and leave to the system what it holds: for Python to take that apart is a tenth of a release.

    What is to be done at the end is done. Where something still runs, or cannot be written, Python ends it as ever; but
    not after Ctrl-C, where a solver that is still at work would end the process with another status.
    """
    with contextlib.suppress(AttributeError):
        if threading.active_count() == 1 or status == _STOPPED:
            atexit._run_exitfuncs()
            _flush()
            os._exit(status)
    _flush()  # a stream that Python cannot flush at its end would change the status
    sys.exit(status)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            discard(stream)


@cache
def _program(named: str) -> Any:
    """Read the signature of a command, or of all where none is named, once: all take longer than most commands."""
    program = copy.copy(app)
    program.registered_commands = [command for command in app.registered_commands if not named or command.name == named]
    return typer.main.get_command(program)


def _command_of(arguments: list[str]) -> str:
    """Return the command that a line begins with; nothing where it begins otherwise."""
    return next(
        (command.name for command in app.registered_commands if command.name and [command.name] == arguments[:1]), ""
    )


def _status(arguments: list[str]) -> int:
    if os.environ.get(_COMPLETE):
        _completion().completion_init()
    try:
        outcome = _program(_command_of(arguments))(arguments, prog_name="irisdp", standalone_mode=False)
        if outcome == _STOPPED:  # Typer makes a silent exit of an interrupt
            return _stopped(arguments)
        return _shown(outcome if isinstance(outcome, int) else 0)
    except IrisError as error:
        return _refuse(error, arguments, error.exit_status)
    except typer.TyperException as error:
        return _refuse(IrisError(without_passwords(" ".join(explain(error).split()))), arguments)
    except (typer.Abort, KeyboardInterrupt):
        return _stopped(arguments)
    except MemoryError:
        return _refuse(IrisError("memory: there is not enough for a problem of this size; ask for less"), arguments)
    except (BrokenPipeError, SystemExit):  # the reader of the pipe has left; Typer makes an exit of it
        give_up_output()
        return 0
    except OSError as error:
        give_up_output()
        return _complain(f"output: cannot be written ({reason_of(error)}); make room, or name another", 2)
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        # Neither the message nor the values may be shown: they can hold private data. The place is public.
        return _refuse(IrisError(f"internal error ({place_of(error)}); please report it"), arguments)


def _refuse(error: IrisError, arguments: list[str], status: int = BadInput.exit_status) -> int:
    """Say what is wrong in a line on standard error, and with ``--json`` as one document on standard output."""
    if isinstance(error, Refusal):
        document = error.document
    elif isinstance(error, BadInput):
        document = {"error": str(error), "field": error.field, "rule": error.rule, "remedy": error.remedy}
    else:
        document = {"error": str(error)}
    if "--json" in arguments and not is_printed():
        with contextlib.suppress(OSError, ValueError):  # the line on standard error says it, too
            print_json(document, status=status)
    return _complain(str(error), status)


def _shown(status: int) -> int:
    """Write what a command that ended left to write; status 0 says that all of it was."""
    try:
        finish_output()
    except BrokenPipeError:
        give_up_output()
    except OSError as error:
        give_up_output()
        line = f"output: cannot be written ({reason_of(error)}), but all else is done; send standard output elsewhere"
        return _complain(line, status or BadInput.exit_status)
    return status


def _stopped(arguments: list[str]) -> int:
    kept = None if "--dry-run" in arguments else _KEPT.get(_command_of(arguments))
    message = f"stopped; {kept}" if kept else "stopped"
    if "--json" in arguments and not is_printed():
        with contextlib.suppress(OSError, ValueError):
            print_json({"error": message}, status=_STOPPED)
    return _complain(message, _STOPPED)


def _complain(message: str, status: int) -> int:
    # What was typed may come back in a message: no escape sequence of it reaches the terminal.
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in message)
    write_error(f"irisdp: {shown}")
    return status
