"""Let the table of a ledger have the columns of some data, and keep the answers about the same records.

The earlier data and the new data are compared record by record in all columns that both have. If they are equal, the
history says of the new version which one it is the same as, and in which columns it is not (`same_records`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._tables import Table, common_columns, hold_the_same, load_types, open_table
from ..errors import BadInput, Refusal
from .column_changes import ColumnChange, compare_columns, record_columns
from .discovery import (
    TableVersion,
    data_location,
    fingerprint_of_table,
    match_fingerprint,
    remember,
    remember_head,
)
from .entries import known_fingerprints, pinned_facts
from .history import same_column
from .ledger import Ledger


def change_columns(
    book: Ledger,
    data: Any,
    *,
    was: Any = None,
    secret: str | os.PathLike[str] | None = None,
    dry_run: bool = False,
    **reading: Any,
) -> ColumnChange:
    """Record that the table has the columns of some data from now on; see `Ledger.change_columns`."""
    if not book.store.exists():
        raise BadInput("ledger", f"there is no ledger {book.store.name}", "publish something first")
    stamp = fingerprint_of_table(data_location(data))
    table = open_table(data, **reading)
    try:
        version, same, name = None, None, None
        with book.store.reading() as rows:
            change = compare_columns(rows, book.store.name, table)
        if was is not None:
            name = _name(was)
            version, same = _same_version(book, table, stamp, was, secret, reading)
        if not dry_run:
            book.store.write(lambda rows: record_columns(rows, book.store.name, table, same))
            if version is not None:
                remember(table, book, secret, stamp, *version)
            remember_head(table, book, secret, book)
        return replace(change, same=name)
    finally:
        table.close()


def _same_version(
    book: Ledger,
    table: Table,
    stamp: Any,
    was: Any,
    secret: str | os.PathLike[str] | None,
    reading: Mapping[str, Any],
) -> tuple[tuple[str, bytes], list[Any]]:
    """Find out that some data holds the records of earlier data, and return how the history says it.

    Returns
    -------
    tuple
        The fingerprint of the data with its secret, and what the line says.
    """
    stamp_before = fingerprint_of_table(data_location(was))
    earlier = open_table(was, **_reading_before(book, table, reading))
    try:
        names = common_columns(table, earlier)
        now, before = TableVersion.begin(table, stamp), TableVersion.begin(earlier, stamp_before)
        _, version, key = match_fingerprint(table, now.digest, book, secret, default=False)
        _, of, _ = match_fingerprint(earlier, before.digest, book, secret, default=False)
        with book.store.reading() as rows:
            known = known_fingerprints(rows, [of])
        if not known:
            rule = f"is data that {book.store.name} has answered nothing about"
            raise BadInput("was", rule, "name the data as it was at its last release, or leave was= out")
        if version == of:
            raise BadInput("was", "is the same data", "leave it out")
        same = hold_the_same(table, earlier, names)
        now.check(table)
        before.check(earlier)
        if not same:
            raise Refusal(
                "the data holds other records than the earlier data, or the same ones in another order, in the columns"
                " that both have. Nothing was recorded. Without was= the columns are recorded, and questions about the"
                " new data are charged",
                differs=["records"],
            )
        apart = [column.name for column in table.held if column.name not in names]
        return (version, key), [version, {"version": of, "except": apart, "text": table.text, "reader": table.reader}]
    finally:
        earlier.close()


def _reading_before(book: Ledger, table: Table, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return how earlier data is read: as the new data, without types of columns that it does not have."""
    if reading.get("types") is None:
        return dict(reading)
    with book.store.reading() as rows:
        pinned = pinned_facts(rows, book.store.name)
    now = {column.name.casefold() for column in table.held}
    known = [pinned["columns"], *reversed(pinned.get("earlier_columns", ()))]
    before = next((columns for columns in known if {name.casefold() for name in columns} != now), known[0])
    types = {name: kind for name, kind in load_types(reading["types"]).items() if same_column(str(name), before)}
    return {**reading, "types": types}


def _name(data: Any) -> str:
    """Name some data in a line for people."""
    location = data_location(data)
    if location is not None:
        return location.name
    return "the earlier data"
