"""`irisdp publish DATA QUERY [EXPR]`: the main job."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from .._exact import told_above
from .._options import OPTIONS, WRITTEN, Option
from ..errors import BadInput, Refusal
from .command_facts import LogFile, log_to
from .commands import error_in_options, in_options
from .output import (
    KNOWN_ELSEWHERE,
    PAID_BEFORE,
    AsJson,
    Verbose,
    console,
    fact,
    print_json,
    say,
    short_path,
    show_answers,
    show_what_is_charged,
)
from .progress_display import progress

if TYPE_CHECKING:
    from .._release import Outlook, Plan, Publication


Command = TypeVar("Command", bound=Callable[..., None])

# Print the plan of `publish` before it runs, and the answers afterwards.

_NAMED = {"encoding": "NAME", "delta": "D", "at_most": "M"}
"""Options that notes on reading name."""
_NAMES = ("groups", "among")
"""Labels of lines that hold names as they were typed."""


def show_plan(planned: Plan, ledger: Path | str, outlook: Outlook | None, options: Mapping[str, str]) -> None:
    """Say what a question would cost and be answered like, from public facts; `options` are those of the command."""
    view = console()
    say(view, planned.line, style="bold")
    for heading, said in planned.describe():
        fact(heading, said if heading in _NAMES else in_options(said, _NAMED))
    for heading, said in (
        outlook.describe(short_path(ledger))
        if outlook
        else [("ledger", f"{short_path(ledger)}: will be created, {KNOWN_ELSEWHERE}")]
    ):
        fact(heading, in_options(said, options))
    print("  dry run: no record was read, nothing was spent")


def _show_rules(planned: Plan, *, notes_only: bool = False) -> None:
    """Describe how records are read, the privacy unit, and what is public; or only warnings."""
    for heading, words in planned.describe_rules():
        if heading == "note" or not notes_only:
            fact(heading, in_options(words, _NAMED))


def show_takes(planned: Plan) -> None:
    """Say what the question is, and what the requested accuracy requires."""
    say(console(), planned.line, style="bold")
    for heading, said in planned.describe_within():
        fact(heading, in_options(said, _NAMED))


def show_published(published: Publication, *, titled: bool = False, verbose: bool = False) -> None:
    """Show answers, their intervals, their cost, what is left and which files were written.

    Parameters
    ----------
    published : Publication
    titled : bool
        Whether the question was shown before.
    verbose : bool
        Whether to show expected errors and the rules by which records are read as well.
    """
    view = console()
    planned = published.plan
    if not titled:
        say(view, planned.line, style="bold")
    show_answers(published)
    fact("cost", _charged(published))
    for said in planned.describe_charges() if published.cost == planned.cost else ():
        fact("charge", said)
    if published.anew is not None:
        from .._release import say_anew

        fact("again", say_anew(published.anew, published.cost))
    if verbose:
        for error in planned.describe_error():
            fact("error", error)
        fact("optimal", planned.describe_optimality())
    for said in planned.describe_naming():
        fact("named", said)
    _show_rules(planned, notes_only=not verbose)
    fact("ledger", f"{short_path(published.ledger)}: {published.describe_budget()}")
    for line in published.describe_unlimited():
        fact("warning", in_options(line, {}))
    for path in published.out:
        fact("written", path)


def _charged(published: Publication) -> str:
    """Say what was charged, beside what the question costs by itself."""
    from ..accounting import Cost

    told = published.plan.describe_cost()
    if published.repeated:
        return "nothing: this question was answered before, and this is the same answer"
    if published.cost == published.plan.cost:
        return told
    if not isinstance(published.cost, Cost):
        return f"{told}; charged {published.cost}"
    new = f"only {told_above('ε', published.cost.epsilon)} is new"
    if published.cost.is_nothing:
        new = f"nothing is new: these are answers {PAID_BEFORE}"
    return f"{told}, of which {new}"


_QUERY_HELP = 'A query of the list below. EXPR is a SQL condition in quotes: "age > 64".'


_TYPES: dict[str, Any] = {"text": str | None, "list": list[str] | None, "file": Path | None, "switch": bool}
"""What the command line reads for each kind of option."""


FILE_OPTIONS = (*WRITTEN, "types")
"""The options that say how a text file is written and read."""


def with_options_of(names: Iterable[str]) -> Callable[[Command], Command]:
    """Let a command show and take some options of a question, which it is given as ``**options``."""
    options = [option for option in OPTIONS if option.name in names]

    def decorate(command: Command) -> Command:
        whole = inspect.signature(command, eval_str=True)
        own = [part for part in whole.parameters.values() if part.kind is not part.VAR_KEYWORD]
        first = [part for part in own if part.kind is not part.KEYWORD_ONLY]
        shown: Any = command
        shown.__signature__ = whole.replace(parameters=[*first, *map(_parameter, options), *own[len(first) :]])
        shown.__annotations__ = {part.name: part.annotation for part in shown.__signature__.parameters.values()}
        return command

    return decorate


def listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with each list that may be repeated as one text, and none as None."""
    joined = {name: ",".join(options[name]) if options.get(name) else None for name in _LISTS if name in options}
    paired = {name: options[name] or None for name in ("lookup", "on") if name in options}
    return {**options, **joined, **paired}


_LISTS = ("by", "bins", "columns", "missing_codes")


def _parameter(option: Option) -> inspect.Parameter:
    spelt = f"--{option.name.replace('_', '-')}"
    is_switch = option.kind == "switch"
    info = typer.Option(spelt, help=option.help, metavar=option.metavar or None)
    kind = str if option.default is not None else _TYPES[option.kind]
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if is_switch else option.default,
        annotation=Annotated[kind, info],
    )


@with_options_of([option.name for option in OPTIONS])
def publish_command(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="A .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file, a folder, or an address."
        ),
    ],
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY [EXPR]",
            help=_QUERY_HELP,
        ),
    ],
    *,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Show cost and expected error. Reads no record and spends nothing.",
        ),
    ] = False,
    log_file: LogFile = None,
    verbose: Verbose = False,
    as_json: AsJson = False,
    **options: Any,
) -> None:
    """Publish private answers to one question and charge them to a ledger."""
    from .._release import plan, publish

    log_to(log_file)
    options = listed(options)
    for name in ("groups", "categories"):
        of_columns = name == "groups" and _is_for_each_column(options["groups"], options["by"])
        options[name] = options[name] if of_columns else _declared(options[name], f"--{name}")
    options["audience"] = options["audience"] or None
    if dry_run:
        from .._release import dry_run_question

        found = dry_run_question(data, *query, **options)
        planned, outlook = found.plan, found.outlook
        refused = outlook is not None and outlook.refused
        if as_json:
            foreseen = outlook and error_in_options(outlook.to_document(), _OPTIONS)
            document = {**planned.to_document(), **planned.expectations(), "dry_run": True, "ledger": foreseen}
            print_json(document, status=Refusal.exit_status if refused else 0)
        else:
            show_plan(planned, found.ledger.place, outlook, _OPTIONS)
        if refused:
            raise typer.Exit(Refusal.exit_status)
        return
    foretold = options["within"] is not None and not as_json
    if foretold:  # said before it is spent
        from .._release import PlanOptions, options_of

        show_takes(plan(data, *query, **options_of(PlanOptions, options)))
    with progress(quiet=as_json):
        published = publish(data, *query, **options)
    with show_what_is_charged(published.out):
        if as_json:
            print_json(published.to_document())
        else:
            show_published(published, titled=foretold, verbose=verbose)


_OPTIONS = dict.fromkeys(inspect.signature(publish_command).parameters, "VALUE")


def _is_for_each_column(values: list[str] | None, by: str | None) -> bool:
    """Tell whether each value lists the groups of one of several columns, as in ``ward=north,east``."""
    from .._queries import split_list

    def names(column: str) -> bool:
        return re.search(rf'(^|,)\s*"?{re.escape(column)}"?\s*(,|=|$)', by or "", re.IGNORECASE) is not None

    lists = [split_list(value) for value in values or ()]
    return len(lists) > 1 and "," in (by or "") and all(one is not None and names(one[0]) for one in lists)


def _declared(values: list[str] | None, option: str) -> str | None:
    """Return groups or categories as one list of values, or the one file that declares them."""
    from .._queries import groups_file

    if values and len(values) > 1 and any(groups_file(part) for part in values):
        raise BadInput(option, "is repeated, and one is a file", "give one file, or values")
    return ",".join(values) if values else None
