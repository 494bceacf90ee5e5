"""`irisdp ledger FILE`: show what was spent, or set the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import BadInput
from ..exact import rational_text
from .options import AsJson, console, print_json

__all__ = ["ledger_command"]


def ledger_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The ledger's file; --limit creates it.")],
    limit: Annotated[
        str | None, typer.Option(metavar="E[,D]", help="Set the budget: E or E,D (epsilon and delta).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a ledger: its limit, what was spent and every release; or set the limit."""
    from ..release import Ledger

    if limit is None and not file.exists():
        raise BadInput("FILE", f"there is no ledger {file}", "publish something, or create one with --limit")
    ledger = Ledger(file)
    if limit is not None:
        parts = limit.split(",")
        if len(parts) > 2:
            raise BadInput("--limit", "must be E or E,D", "write for example --limit 1 or --limit 1,1e-6")
        ledger.set_limit(*parts)
    if as_json:
        print_json(ledger.document())
        return
    from rich.table import Table

    table = Table("id", "query", "audience", "ε", "δ", title=str(file))
    for release in ledger.releases():
        table.add_row(
            str(release.id),
            release.query,
            release.audience or "",
            rational_text(release.cost.epsilon),
            rational_text(release.cost.delta),
        )
    spent, allowed = ledger.spent, ledger.limit
    view = console()
    view.print(table)
    view.print(f"spent  ε = {rational_text(spent.epsilon)}, δ = {rational_text(spent.delta)}")
    if allowed is None:
        view.print("limit  none; set one with --limit E[,D]")
    else:
        view.print(f"limit  ε = {rational_text(allowed.epsilon)}, δ = {rational_text(allowed.delta)}")
