"""What `publish` and `batch` show alike: the answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from .options import fact, show_table

if TYPE_CHECKING:
    from ..release import Publication

__all__ = ["KNOWN_ELSEWHERE", "PAID_BEFORE", "show_answers"]

KNOWN_ELSEWHERE = "unless another ledger in its folder knows this data"
"""What a dry run cannot tell, as it reads no record."""

PAID_BEFORE = "made from more accurate ones, which were charged before"
"""Why answers may be new and cost nothing: such as a count that was asked before with less noise."""

_MOST_SHOWN = 40


def show_answers(published: Publication) -> None:
    """Print the answers of all audiences as one table, which ends where it gets long.

    Numbers have their ends beside them, as in the files; of several audiences each has its own, and they are there.
    """
    from ..cells import LOW, Assurance

    columns: dict[str, Sequence[Any]] = {name or "answer": found.values for name, found in published.answers_of.items()}
    ends = published.answers.assured
    if len(columns) > 1 or LOW not in ends.columns:
        ends = Assurance()
    columns |= ends.columns
    names = [*published.answers.by, *columns]
    found = islice(zip(published.answers.keys, *columns.values(), strict=True), _MOST_SHOWN + 1)
    show_table(names, ([*key, *values] for key, *values in found), most=_MOST_SHOWN)
    promised = ends.promise or "; ".join(published.plan.leaves_out())
    sure = ("interval" if LOW in ends.columns else "accuracy", promised)
    for heading, said in [sure, *(("doubt", line) for line in published.describe_doubt())]:
        if said:
            fact(heading, said)
