"""Which cells a question is asked of: the groups, declared or to be selected, and what a histogram parts them in."""

from __future__ import annotations

from typing import Any

from ..cells import ANSWER_COLUMNS
from ..errors import BadInput
from ..queries import Groups, Table, find_keys
from .selection import declared_groups

__all__ = ["read_grouping"]


def read_grouping(
    table: Table, by: Any, groups: Any, parts: Groups | None, *, select_groups: bool, public_membership: bool
) -> tuple[Table, tuple[str, ...], Groups | None]:
    """Read the group columns and the declared groups of a question, from public facts alone.

    Parameters
    ----------
    table : Table
        The table of the question, in which the columns derived by `by` are then available.
    by : sequence of text, or None
        Names of the group columns.
    groups, select_groups, public_membership
        As for `irisdp.publish`.
    parts : Groups or None
        The bins or categories that a histogram parts every group in.

    Returns
    -------
    tuple of (Table, tuple of str, Groups or None)
        The table with all group columns, their names and the groups sorted by key. The names are spelled as in the
        table, so that another spelling is the same question. The groups are None if they are selected or not used.

    Raises
    ------
    BadInput
        For groups without columns, columns without groups, and a group column with the answers' own name.
    """
    columns = tuple(column.name for column in find_keys(table, by)) if by else ()
    declared = declared_groups(table, columns, groups, select_groups)
    if parts is not None:
        from ..queries import part_groups  # which loads what a histogram is

        table, columns, declared = part_groups(
            table, declared, parts, select_groups=select_groups, public_membership=public_membership
        )
    taken = next((name for name in columns if name in ANSWER_COLUMNS), None)
    if taken is not None:
        raise BadInput(
            "by", f"names the column {taken!r}, as the answers' own column is called", "rename it in the data"
        )
    return table, columns, declared
