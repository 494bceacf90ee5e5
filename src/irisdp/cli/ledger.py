"""`irisdp ledger FILE`: show what was spent and promised, set the budget, or pin the promise in advance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import BadInput
from .options import AsJson, console, print_json

if TYPE_CHECKING:
    from ..release import Ledger

__all__ = ["ledger_command"]


def ledger_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger's file; all options but --json create it.")],
    limit: Annotated[
        str | None, typer.Option(metavar="E[,D]", help="Set the budget: E or E,D (epsilon and delta).")
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="Pin the table's name: its file's, or publish --table's.")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(metavar="add-remove|exchange", help="Pin what neighbours are; add-remove unless given."),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(metavar="COL", help="Pin the column that says whose record it is.")
    ] = None,
    public_columns: Annotated[
        str | None, typer.Option(metavar="COL,…", help="Pin the columns that --public-membership may call public.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a ledger: its limit, its promise, what was spent and every release. Or set limit and promise."""
    from ..release import Ledger
    from ..release.ledger import named_limit
    from ..release.promise import promise_in_advance

    pinned = (table, relation, unit, public_columns)
    if limit is None and pinned == (None,) * 4 and not file.exists():
        raise BadInput("FILE", f"there is no ledger {file}", "publish something, or create one with --limit")
    most = None if limit is None else named_limit(limit.split(","))  # before anything is written
    ledger = Ledger(file)
    if pinned != (None,) * 4:
        names = [] if public_columns is None else [name.strip() for name in public_columns.split(",")]
        ledger.pin(promise_in_advance(table=table, relation=relation, unit=unit, public_columns=names))
    if most is not None:
        ledger.set_limit(most.epsilon, most.delta)
    if as_json:
        print_json(ledger.to_document())
    else:
        _show(ledger)


def _show(ledger: Ledger) -> None:
    from rich.markup import escape
    from rich.table import Table

    from ..release.group_names import printable

    document = ledger.to_document()
    columns = ("id", "date", "table", "query", "groups", "audience", "ε", "δ", "outputs", "")
    table = Table(*columns, title=printable(str(ledger.path)))
    for release in document["releases"]:
        table.add_row(*(escape(printable(cell)) for cell in _cells(release)))
    view = console()
    view.print(table)
    for name, text in _summary(document):
        view.print(f"{name:<9}{escape(printable(text))}", soft_wrap=True)


def _cells(release: dict[str, Any]) -> list[str]:
    built = [f"{word} #{release[word]}" for word in ("refines", "coarsens") if release[word] is not None]
    return [
        str(release["id"]),
        release["date"][:10],
        release["table"] or "",
        release["query"],
        _groups(release["groups"]),
        release["audience"] or "",
        release["epsilon"],
        release["delta"],
        ", ".join(Path(path).name for path in release["outputs"]),
        "".join(built),
    ]


def _groups(groups: dict[str, Any] | None) -> str:
    """Name the first few groups, and say how many there are."""
    if groups is None:
        return ""
    named = ["/".join(map(str, key)) for key in groups["first"]]
    more = groups["count"] > len(named)
    return f"{', '.join(named)}{', …' if more else ''} ({groups['count']})"


def _summary(document: dict[str, Any]) -> list[tuple[str, str]]:
    spent, limit, left = document["spent"], document["limit"], document["left"]
    lines = [("spent", _cost(spent))]
    if limit is None:
        lines.append(("limit", "none; set one with --limit E[,D]"))
    else:
        from ..accounting import Cost

        exceeded = not Cost(spent["epsilon"], spent["delta"]).fits_in(Cost(limit["epsilon"], limit["delta"]))
        said = "; that is less than what is spent, so nothing more can be spent" if exceeded else ""
        lines += [("limit", _cost(limit) + said), ("left", _cost(left))]
    if "note" in document:
        return [*lines, ("promise", document["note"])]
    if document["relation"] is None:
        return [*lines, ("promise", "none yet; the first release pins table, relation, unit and public columns")]
    moved = {"add-remove": "adding or removing", "exchange": "exchanging"}[document["relation"]]
    public = document["public_columns"]
    kept = f", which keeps the public columns {', '.join(public)}" if public else ""
    name = f" of {document['table']}" if document["table"] is not None else ""
    return [*lines, ("promise", f"for {moved} one {document['unit'] or 'record'}{name}{kept}")]


def _cost(cost: dict[str, str]) -> str:
    return f"ε = {cost['epsilon']}, δ = {cost['delta']}"
