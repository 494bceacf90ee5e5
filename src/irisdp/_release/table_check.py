"""Check a table for faults before anything is spent: for its owner alone, with no ledger, no file and no secret."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Unpack, cast

from .._exact import checked
from .._tables import HOW_TO_OPEN, TableCheck, check_table, explaining_index, open_table
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
