"""What `publish` and `batch` show alike: that work is going on, and the answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .options import console

if TYPE_CHECKING:
    from ..release import Publication

__all__ = ["KNOWN_ELSEWHERE", "progress", "show_answers"]

KNOWN_ELSEWHERE = "unless another ledger of its folder knows this data"
"""What a dry run cannot tell, as it reads no record."""

_MOST_SHOWN = 40


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
    """Print the answers of all audiences as one table, which ends where it gets long."""
    from rich.markup import escape
    from rich.table import Table

    from ..release.group_names import printable

    named = {name or "answer": found for name, found in published.answers_of.items()}
    table = Table(*map(escape, published.answers.by), *map(escape, named))
    for number, (key, *values) in enumerate(
        zip(published.answers.keys, *(found.values for found in named.values()), strict=True)
    ):
        if number == _MOST_SHOWN:
            table.add_row(*(["…"] * (len(key) + len(values))))
            break
        table.add_row(*(escape(printable(part)) for part in (*key, *values)))
    console().print(table)
