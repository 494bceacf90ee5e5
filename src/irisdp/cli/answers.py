"""What `publish` and `batch` show alike: that work is going on, and the answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .options import console

if TYPE_CHECKING:
    from ..release import Publication

__all__ = ["KNOWN_ELSEWHERE", "progress", "show_answers"]

KNOWN_ELSEWHERE = "unless another ledger of its folder knows this data"
"""What a dry run cannot tell, as it reads no record."""

_MOST_SHOWN = 40
_WITH_ENDS = ("sum", "mean")


@contextlib.contextmanager
def progress(*, quiet: bool) -> Iterator[None]:
    """Show which step is going on, and for how long; it says nothing about the data, and only to a terminal."""
    view = console(stderr=True)
    if quiet or not view.is_terminal:
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from ..release.steps import told_of_steps

    words = TextColumn("{task.description} …", markup=False)
    with Progress(SpinnerColumn(), words, TimeElapsedColumn(), console=view, transient=True) as shown:
        task = shown.add_task("checking what is asked", total=None)
        with told_of_steps(lambda step: shown.update(task, description=step)):
            yield


def show_answers(published: Publication) -> None:
    """Print the answers of all audiences as one table, which ends where it gets long.

    Sums and means have their ends beside them: how far off one may be depends on how many records have a value.
    """
    from rich.markup import escape
    from rich.table import Table

    from ..cells import Assurance
    from ..release.group_names import printable

    columns: dict[str, Sequence[Any]] = {name or "answer": found.values for name, found in published.answers_of.items()}
    ends = published.answers.assured if published.plan.query.name in _WITH_ENDS else Assurance()
    columns |= ends.columns
    table = Table(*map(escape, published.answers.by), *map(escape, columns))
    for number, (key, *values) in enumerate(zip(published.answers.keys, *columns.values(), strict=True)):
        if number == _MOST_SHOWN:
            table.add_row(*(["…"] * (len(key) + len(values))))
            break
        table.add_row(*(escape(printable(part)) for part in (*key, *values)))
    view = console()
    view.print(table)
    for heading, said in [("sure", ends.promise), *(("doubt", line) for line in published.describe_doubt())]:
        if said:
            view.print(f"  {heading:<9} {escape(said)}", soft_wrap=True)
