"""What the owner of a table does before publishing: check it for faults, and record that its columns changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack, cast

from .._exact import checked
from .._ledger import ColumnChange, Ledger
from .._ledger import change_columns as record_change
from .._tables import HOW_TO_OPEN, TableCheck, check_table, explaining_index, open_table
from ..errors import BadInput
from .options import FileOptions, with_options
from .project import Project, apply_project, find_project


@checked
@with_options(FileOptions)
def check_data(
    data: Any,
    *,
    unit: str | None = None,
    lookup: Any = None,
    on: str | Sequence[str] | None = None,
    project: str | os.PathLike[str] | Project | None = None,
    **written: Unpack[FileOptions],
) -> TableCheck:
    """Look for faults in a table, and for the options that mend them; the result is private.

    It reads every record, opens no ledger, and writes nothing. What it says depends on single records: it is for the
    data owner's eyes, and never a release.

    Parameters
    ----------
    data : path or frame
        As for `irisdp.publish`.
    unit : str, optional
        The column that identifies a person: then persons with several records are counted.
    lookup, on : optional
        As for `irisdp.publish`: then records whose key no lookup has are counted.
    project : path, optional
        As for `irisdp.publish`; the project beside the data is found.

    Returns
    -------
    TableCheck
        Its `columns` and `warnings`, and `to_document()` for JSON.

    Raises
    ------
    BadInput
        For data that cannot be opened, with the option that mends it.
    """
    said = {"unit": unit, "relation": None, "lookup": lookup, "on": on, **written}
    told = apply_project(find_project(data, project), None, said)
    with told.blamed(), explaining_index(data):
        options = cast(dict[str, Any], told.options)
        table = open_table(data, any_names=True, **{name: options.get(name) for name in HOW_TO_OPEN})
        return check_table(table, unit=options.get("unit"))


def change_columns(
    book: Ledger,
    data: Any,
    *,
    was: Any = None,
    project: Any = None,
    secret: Any = None,
    dry_run: bool = False,
    **reading: Any,
) -> ColumnChange:
    """Record the columns of some data, read as its project file says; see `Ledger.change_columns`."""
    if unknown := reading.keys() - set(HOW_TO_OPEN):
        raise BadInput(min(unknown), "is no option of change_columns", f"choose from {', '.join(HOW_TO_OPEN)}")
    told = apply_project(find_project(data, project), None, {"unit": None, "relation": None, **reading})
    with told.blamed(), explaining_index(data):
        options = cast(dict[str, Any], told.options)
        how = {name: options[name] for name in HOW_TO_OPEN if options.get(name) is not None}
        return record_change(book, data, was=was, secret=secret, dry_run=dry_run, **how)
