"""What `publish` and `batch` show alike: the answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from .lines import Lines
from .options import console, say

if TYPE_CHECKING:
    from ..release import Publication

__all__ = ["KNOWN_ELSEWHERE", "PAID_BEFORE", "show_answers"]

KNOWN_ELSEWHERE = "unless another ledger of its folder knows this data"
"""What a dry run cannot tell, as it reads no record."""

PAID_BEFORE = "that tell nothing beyond more accurate ones, which were charged before"
"""Why answers may be new and cost nothing: such as a count that was asked before with less noise."""

_MOST_SHOWN = 40


def show_answers(published: Publication) -> None:
    """Print the answers of all audiences as one table, which ends where it gets long.

    Numbers have their ends beside them, as in the files; of several audiences each has its own, and they are there.
    """
    from ..cells import LOW, Assurance
    from ..release.group_names import printable

    columns: dict[str, Sequence[Any]] = {name or "answer": found.values for name, found in published.answers_of.items()}
    ends = published.answers.assured
    if len(columns) > 1 or LOW not in ends.columns:
        ends = Assurance()
    columns |= ends.columns
    names = [*published.answers.by, *columns]
    found = islice(zip(published.answers.keys, *columns.values(), strict=True), _MOST_SHOWN)
    rows = [[printable(part) for part in (*key, *values)] for key, *values in found]
    if len(published.answers.keys) > _MOST_SHOWN:
        rows.append(["…"] * len(names))
    view = console()
    _show_table(view, names, rows)
    for heading, said in [("sure", ends.promise), *(("doubt", line) for line in published.describe_doubt())]:
        if said:
            say(view, f"  {heading:<9} {said}")


def _show_table(view: Any, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if isinstance(view, Lines) and view.print_table(names, rows):
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(*map(escape, names))
    for row in rows:
        table.add_row(*map(escape, row))
    view.print(table)
