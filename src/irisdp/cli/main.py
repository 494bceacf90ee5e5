"""The `irisdp` command: one line of error, one exit status, no traceback, no private value."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

import typer

from ..errors import BadInput, IrisError, Refusal
from . import audit, design, interpret, ledger, publish, sample

__all__ = ["app", "run"]

app = typer.Typer(
    name="irisdp",
    help="The provably best private answer to a question with finitely many answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("publish")(publish.publish_command)
app.command("interpret")(interpret.interpret_command)
app.command("design")(design.design_command)
app.command("audit")(audit.audit_command)
app.command("sample")(sample.sample_command)
app.command("ledger")(ledger.ledger_command)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and exit with 0 (done, holds), 1 (checked, does not hold) or 2 (bad input)."""
    status = _status(sys.argv[1:] if arguments is None else arguments)
    if arguments is None:
        sys.exit(status)
    return status


def _status(arguments: list[str]) -> int:
    try:
        outcome = app(arguments, standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except Refusal as refusal:
        print(json.dumps(refusal.document, ensure_ascii=False))
        return _complain(str(refusal), refusal.exit_status)
    except IrisError as error:
        return _complain(str(error), error.exit_status)
    except typer.TyperException as error:
        return _complain(" ".join(error.format_message().split()), BadInput.exit_status)
    except (typer.Abort, KeyboardInterrupt):
        return _complain("stopped", 130)
    except MemoryError:
        return _complain("memory: there is not enough for a problem of this size; ask for less", BadInput.exit_status)
    except BrokenPipeError:
        return 0
    except typer.Exit as leave:
        return leave.exit_code
    except Exception as error:
        # Neither the message nor the values may be shown: they can hold private data. The place is public.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return _complain(f"internal error ({type(error).__name__} at {where}); please report it", BadInput.exit_status)


def _complain(message: str, status: int) -> int:
    print(f"irisdp: {message}", file=sys.stderr)
    return status
