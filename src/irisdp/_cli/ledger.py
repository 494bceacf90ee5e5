"""`irisdp ledger FILE`: show spending and scope, set the budget, or pin the scope in advance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._exact import told_below
from ..errors import BadInput, Refusal
from .commands import in_options
from .output import AsJson, console, fact, print_json, short_path, show_table, write_error

if TYPE_CHECKING:
    from .._ledger import Ledger
    from ..accounting import Charge


def ledger_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A file, or postgresql://USER@HOST/DB?schema=NAME.",
        ),
    ],
    limit: Annotated[
        str | None,
        typer.Option(
            metavar="E[,D]",
            help="Set the limit: E or E,D (ε and δ), mu=M or rho=R. The first one fixes the unit.",
        ),
    ] = None,
    audience: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --limit: set the limit of this audience.",
        ),
    ] = None,
    limit_per: Annotated[
        str | None,
        typer.Option(
            metavar="PERIOD=E[,D]",
            help="Set the limit of each day, week, month or year, within the limit: a pace. PERIOD=none removes it.",
        ),
    ] = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="Set the table of a new ledger.")] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            metavar="add-remove|exchange", help="Set the neighbouring relation of a new ledger. [default: add-remove]"
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="COL", help="Set the privacy unit of a new ledger: the person column.")
    ] = None,
    public_columns: Annotated[
        str | None, typer.Option(metavar="COL,…", help="Set the columns that --public-membership may use.")
    ] = None,
    grant: Annotated[
        str | None,
        typer.Option(
            metavar="publish=ROLE|read=ROLE",
            help="On a server: let a role publish, or only read.",
        ),
    ] = None,
    revoke: Annotated[
        str | None,
        typer.Option(metavar="ROLE", help="On a server: take all rights on the ledger away from a role."),
    ] = None,
    rotate_secret: Annotated[
        bool,
        typer.Option(
            "--rotate-secret",
            help="Replace the secret by which the ledger knows the data. Answers stay free: the old one is kept.",
        ),
    ] = False,
    copy_to: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Move the ledger to a new file or server, and close this one. Grants do not move.",
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check the history, and print its head."),
    ] = False,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="With --verify: check that the history contains this head.")
    ] = None,
    accept_restore: Annotated[
        bool,
        typer.Option("--accept-restore", help="Charge a ledger restored from a backup with what it had lost."),
    ] = False,
    doctor: Annotated[
        bool,
        typer.Option(
            "--doctor",
            help="Look over version, history, known lines, roles, guards and secret. Status 1 if something is wrong.",
        ),
    ] = False,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --accept-restore, --rotate-secret and --doctor: the data, or the file of --secret."
            " [default: the ledger]",
        ),
    ] = None,
    fail_below: Annotated[
        str | None, typer.Option(metavar="E[,D]", help="End with status 1 if less than this is left, for alerts.")
    ] = None,
    as_metrics: Annotated[
        bool, typer.Option("--metrics", help="Print the numbers in the text format of Prometheus.")
    ] = False,
    columns: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Record that the table now has the columns of DATA, in the same ledger."),
    ] = None,
    was: Annotated[
        str | None,
        typer.Option(
            metavar="OLD", help="With --columns: if OLD has the same records, answers about its columns stay valid."
        ),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --columns: the project file. [default: NAME.iris.toml beside DATA]"),
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --columns: as for irisdp publish. [default: DATA]")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --columns: show what would change, and record nothing.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the releases as CSV with exact numbers.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a ledger: its limit, its scope, what was spent, and every release. Set its limit, or check it."""
    from .._ledger import Ledger, named_limit
    from .._ledger import scope_in_advance as promise_in_advance

    needs_no_home = not (accept_restore or rotate_secret or doctor)
    _check_together(limit, audience, head, beside if needs_no_home else None, verify=verify)
    forms = {"verify": verify, "csv": as_csv, "metrics": as_metrics, "json": as_json}
    _check_forms(forms, fail_below, doctor=doctor)
    pinned = (table, relation, unit, public_columns)
    switches = (verify, accept_restore, as_csv, as_metrics, doctor, rotate_secret)
    others = any(one is not None for one in (*pinned, limit, limit_per, grant, revoke, copy_to, fail_below)) or any(
        switches
    )
    _check_columns(columns, was=was, project=project, secret=secret, dry_run=dry_run, alone=not others)
    if columns is not None:
        _change_columns(Ledger(file), columns, was, project, secret, dry_run=dry_run, as_json=as_json)
        return
    most = None if limit is None else named_limit(limit)  # before anything is written
    pace = _pace(limit_per)
    ledger = Ledger(file)
    if accept_restore:
        ledger.accept_restore(beside)
    if limit is None and pinned == (None,) * 4 and not ledger.store.exists():
        raise BadInput("FILE", f"there is no ledger {file}", "publish something, or create one with --limit")
    if pinned != (None,) * 4:
        names = [] if public_columns is None else [name.strip() for name in public_columns.split(",")]
        ledger.pin(promise_in_advance(table=table, relation=relation, unit=unit, public_columns=names))
    _limit(ledger, most, audience, pace)
    changed = _changed(ledger, grant, revoke, beside, rotate=rotate_secret)
    if copy_to is not None:
        ledger = _copied(ledger, copy_to)
    if doctor or verify:
        _examine(ledger, beside, as_json=as_json) if doctor else _verify(ledger, head, as_json=as_json)
        return
    document = ledger.to_document()
    too_little = _too_little(document, ledger.store.name, fail_below)
    if as_csv:
        _print_csv(document)
    elif as_metrics:
        from .._ledger import metrics

        typer.echo(metrics(document, ledger.store.name), nl=False)
    elif as_json:
        print_json(document, status=Refusal.exit_status if too_little else 0)
    else:
        _show(ledger, document, [*changed, *([] if copy_to is None else _roles(ledger, file))])
    if too_little:
        write_error(f"irisdp: {too_little}")
        raise typer.Exit(Refusal.exit_status)


def _limit(ledger: Ledger, most: Charge | None, audience: str | None, pace: tuple[str, Charge | None] | None) -> None:
    """Set the limits that were named."""
    if most is not None:
        ledger.restrict(most, audience=audience)
    if pace is not None:
        ledger.limit_period(*pace)


def _pace(limit_per: str | None) -> tuple[str, Charge | None] | None:
    """Read the limit of a calendar period, as PERIOD=E,D."""
    if limit_per is None:
        return None
    from .._ledger import PERIODS, named_limit

    period, equals, most = limit_per.partition("=")
    period, most = period.strip(), most.strip()
    if period not in PERIODS or not equals:
        rule = f"must be PERIOD=E or PERIOD=E,D, not {limit_per!r}"
        raise BadInput("limit_per", rule, f"write for example month=1; a PERIOD is {', '.join(PERIODS)}")
    try:
        return period, None if most == "none" else named_limit(most)
    except BadInput as error:
        remedy = error.remedy.replace("limit=", f"--limit-per {period}=").replace("'", "")
        raise error.said("limit_per", error.rule, remedy) from None


def _check_forms(forms: Mapping[str, bool], fail_below: str | None, *, doctor: bool) -> None:
    """Refuse two forms of output at once; an alert needs one that shows the ledger."""
    several = [name for name, is_asked in forms.items() if is_asked]
    if "csv" in several and len(several) > 1:
        raise BadInput("csv", "lists releases, and nothing else", "leave out --json, --verify and --metrics")
    if "metrics" in several and len(several) > 1:
        raise BadInput("metrics", "are a text of their own", "leave out --json and --verify")
    if doctor and set(several) - {"json"}:
        raise BadInput("doctor", "checks the history itself, and prints no releases", "leave out --verify and --csv")
    if fail_below is not None and "verify" in several:
        raise BadInput(
            "fail_below", "looks at what is left, and --verify at the history", "ask for one after the other"
        )


def _too_little(document: dict[str, Any], name: str, fail_below: str | None) -> str:
    """Say that less is left than asked for; nothing if there is enough, or nothing was asked."""
    if fail_below is None:
        return ""
    from .._ledger import charge_of, is_below, named_limit

    try:
        least = named_limit(fail_below)
    except BadInput as error:
        raise error.said("fail_below", error.rule, error.remedy.replace("limit=", "fail_below=")) from None
    if not is_below(document, least, name):
        return ""
    return f"{name} has {charge_of(document['left']).told(told_below)} left, and --fail-below asks for {least}"


def _check_together(
    limit: str | None,
    audience: str | None,
    head: str | None,
    beside: str | None,
    *,
    verify: bool,
) -> None:
    """Refuse options that mean nothing beside or without each other."""
    if beside is not None:
        raise BadInput("beside", "says where this machine keeps what it knows of a ledger", "add --doctor, say")
    if head is not None and not verify:
        raise BadInput("head", "is what a history is checked against", "add --verify")
    if audience is not None and limit is None:
        raise BadInput(
            "audience", "has no limit without one", "add --limit E,D: the most that this audience alone may learn"
        )


def _check_columns(columns: str | None, *, dry_run: bool, alone: bool, **files: str | None) -> None:
    """Refuse what means nothing without --columns, and other changes beside it."""
    if columns is None:
        for name, given in (*files.items(), ("dry_run", dry_run or None)):
            if given is not None:
                raise BadInput(name, "belongs to --columns", "add --columns DATA")
    elif not alone:
        raise BadInput("columns", "is a change of its own", "run the command again for the other options")


def _change_columns(
    ledger: Ledger, data: str, was: str | None, project: str | None, secret: str | None, *, dry_run: bool, as_json: bool
) -> None:
    """Record the columns of some data, and show what changes."""
    try:
        change = ledger.change_columns(data, was=was, project=project, secret=secret, dry_run=dry_run)
    except BadInput as error:
        raise error.said("columns" if error.field == "data" else error.field, error.rule, error.remedy) from None
    if as_json:
        print_json({**change.to_document(), "dry_run": dry_run})
        return
    for what, words in change.describe():
        fact(what, words, width=8, indent=0)
    if not change.is_none or change.same is not None:
        fact("history", "nothing was recorded" if dry_run else "recorded as one line", width=8, indent=0)


def _roles(ledger: Ledger, left: str) -> list[str]:
    """Say what becomes of grants when a ledger is moved; nothing where there are none to speak of."""
    if ledger.path is None:
        does = "grants do not move: allow publishers and readers again with --grant"
        return [f"roles    {does}; what this place granted before holds"]
    stay = "roles    grants stay on the server: here the rights on the file decide who may publish"
    return [stay] if "://" in left else []


def _copied(ledger: Ledger, place: str) -> Ledger:
    """Move a ledger; what is wrong with where it goes is no fault of where it is."""
    from .._ledger import Ledger

    try:
        return ledger.copy_to(place)
    except BadInput as error:
        if error.field != "ledger" or Ledger(place).store.name not in error.rule:
            raise
        raise error.said("copy_to", error.rule, error.remedy) from None


def _grant(ledger: Ledger, allow: str) -> str:
    """Let a role use a ledger, and return a line that says which may now do what."""
    from .._frames import printable
    from .._ledger import roles as ledger_roles

    may, equals, role = allow.partition("=")
    if not equals or may not in ("publish", "read"):
        raise BadInput("grant", "must be publish=ROLE or read=ROLE", "write for example --grant publish=alice")
    ledger_roles.grant(ledger, role, "publish" if may == "publish" else "read")
    does = "publish with this ledger, and read it" if may == "publish" else "read this ledger"
    return f"granted  {printable(role)} may {does}"


def _changed(ledger: Ledger, grant: str | None, revoke: str | None, beside: str | None, *, rotate: bool) -> list[str]:
    """Change who may use a ledger, and return a line on each change."""
    asked = (
        None if grant is None else _grant(ledger, grant),
        None if revoke is None else _revoke(ledger, revoke),
        _rotate(ledger, beside) if rotate else None,
    )
    return [line for line in asked if line is not None]


def _revoke(ledger: Ledger, role: str) -> str:
    from .._frames import printable
    from .._ledger import roles as ledger_roles

    ledger_roles.revoke(ledger, role)
    return f"revoked  {printable(role)} may not use this ledger. If it knows the secret of the data: --rotate-secret"


def _rotate(ledger: Ledger, beside: str | None) -> str:
    kept = ledger.rotate_secret(beside)
    return f"secret   replaced. Copy .tables.irisdp-secret and {kept.name} to all machines that publish"


def _examine(ledger: Ledger, beside: str | None, *, as_json: bool) -> None:
    from .._ledger import examine

    found = examine(ledger, beside)
    is_well = all(one.ok for one in found)
    if as_json:
        checks = [{**one.to_document(), "remedy": in_options(one.remedy, _PLACES) or None} for one in found]
        print_json({"ok": is_well, "checks": checks})
    else:
        for one in found:
            says = in_options(one.says, _PLACES)
            line = f"OK: {says}" if one.ok else f"WRONG: {says}. To mend it, {in_options(one.remedy, _PLACES)}"
            fact(one.name, line, width=8, indent=0)
    if not is_well:
        raise typer.Exit(Refusal.exit_status)


_PLACES = {"beside": "FILE"}


def _verify(ledger: Ledger, head: str | None, *, as_json: bool) -> None:
    if head is not None and not re.fullmatch("[0-9a-f]{64}", head):
        raise BadInput("head", "must be the 64 letters and digits that --verify printed", "copy all of them")
    verification = ledger.verify(head)
    if verification.problems:
        more = f", and {len(verification.problems) - 1} more" if len(verification.problems) > 1 else ""
        raise Refusal(
            f"{ledger.store.name} was tampered with: {verification.problems[0]}{more}", **verification.to_document()
        )
    if as_json:
        print_json(verification.to_document())
        return
    each = "one line, which holds" if verification.lines == 1 else f"{verification.lines} lines, each of which holds"
    lines = each if verification.lines else "none yet; the next change begins one"
    view = console()
    view.print(f"history  {lines}")
    if verification.lines:
        view.print(f"head     {verification.head}", soft_wrap=True)


def _print_csv(document: dict[str, Any]) -> None:
    from .._ledger import groups_in_words
    from .._release import csv_cell

    columns = ["id", "date", "table", "query", "groups", "audience", *document["spent"]]
    columns += ["refines", "coarsens", "outputs"]
    print(",".join(columns))
    for release in document["releases"]:
        told = {**release, "groups": groups_in_words(release["groups"]), "outputs": " ".join(release["outputs"])}
        print(",".join(csv_cell("" if told[name] is None else told[name]) for name in columns))


def _show(ledger: Ledger, document: dict[str, Any], changed: Sequence[str]) -> None:
    """Show a ledger, and a line on each change."""
    from .._ledger import HEADINGS, ledger_facts, release_cells

    numbers = list(document["spent"])
    shown = (HEADINGS[number] for number in numbers)
    columns = ("id", "date", "table", "query", "groups", "audience", *shown, "outputs", "")
    rows = [release_cells(release, numbers) for release in document["releases"]]
    if len({row[columns.index("table")] for row in rows}) == 1:  # the last line names it
        rows = [["" if name == "table" else cell for name, cell in zip(columns, row, strict=True)] for row in rows]
    show_table(columns, rows, title=short_path(ledger.place), sparse=True)
    for name, text in ledger_facts(document):
        fact(name, text, width=8, indent=0)
    for line in changed:
        console().print(line, markup=False, soft_wrap=True)
