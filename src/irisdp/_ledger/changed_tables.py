"""Let the table of a ledger have the columns of some data, and keep the answers about the same records.

The earlier data and the new data are compared record by record in all columns that both have. If they are equal, the
history says of the new version which one it is the same as, and in which columns it is not (`same_records`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from .._tables import Table, TablePart, common_columns, hold_the_same, load_types, open_table
from ..errors import BadInput, Refusal
from .bindings import bind, find_binding
from .column_changes import ColumnChange, compare_columns, record_columns
from .discovery import (
    TableFingerprint,
    TableVersion,
    data_location,
    fingerprint_of_table,
    match_fingerprint,
    remember,
    remember_head,
    stamp_of_part,
)
from .entries import known_fingerprints, pinned_facts, read_spending
from .history import same_column
from .ledger import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class _SameVersion:
    """A version of the data, or of a partition, that the ledger knows by an earlier one.

    Attributes
    ----------
    table : Table
        Closed.
    stamp
        Of its files.
    version, key
        Its fingerprint, and the secret that it is keyed with.
    of : dict
        What the history says of it: see `same_records`.
    """

    table: Table
    stamp: TableFingerprint
    version: str
    key: bytes
    of: dict[str, Any]


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
    with closing(open_table(data, **reading)) as table:
        with book.store.reading() as rows:
            change = compare_columns(rows, book.store.name, table)
        same: list[_SameVersion] = []
        if was is not None:
            same, others = _same_versions(book, data, was, secret, (reading, _reading_before(book, table, reading)))
            parts = [str(each.table.part) for each in same if each.table.part is not None]
            name = _name(was) if len(parts) < len(same) else f"{', '.join(parts)} of {_name(was)}"
            change = replace(change, same=name, others=tuple(others))
        if not dry_run:
            told = [[each.version, each.of] for each in same]
            book.store.write(lambda rows: record_columns(rows, book.store.name, table, told))
            for each in same:
                remember(each.table, book, secret, each.stamp, each.version, each.key)
            remember_head(table, book, secret, book)
            if find_binding(table, secret, book) is None:
                bind(table, secret, book, book)  # else leaving out the ledger would make a new one
        return change


def _same_versions(
    book: Ledger, data: Any, was: Any, secret: str | os.PathLike[str] | None, reading: tuple[dict[str, Any], ...]
) -> tuple[list[_SameVersion], list[str]]:
    """Find the versions that hold the records of earlier ones: of the whole data, and of each partition that is known.

    Returns
    -------
    tuple
        These versions, and the partitions that hold other records than before.

    Raises
    ------
    BadInput
        Where the ledger answered nothing about the earlier data, or it is the same data.
    Refusal
        Where no version holds the records of an earlier one.
    """
    with book.store.reading() as rows:
        by = pinned_facts(rows, book.store.name).get("partition", {})
        values = sorted(read_spending(rows, book.store.name).parts) if by else []
    declared = by.get("reading") == "files"  # whole files: whichever it is, it is known by its content and these names
    values = values[:1] if declared else values
    parts = [TablePart(by["column"], value, by.get("period"), is_declared=declared) for value in values]
    found: dict[str, _SameVersion] = {}
    others: list[str] = []
    is_known = is_other = False
    for part in (None, *parts):
        try:
            version, knows = _compared_version(book, (data, was), part, secret, reading)
        except BadInput as error:
            if part is None or error.field != "partition":
                raise
            continue  # a folder that the one or the other does not have
        is_known |= knows
        is_other |= knows and (version is None or version.version != version.of["version"])
        if version is not None:
            found.setdefault(version.version, version)
        elif knows:
            others += [str(part)] if part is not None else []
    if not is_known:
        rule = f"is data that {book.store.name} has answered nothing about"
        raise BadInput("was", rule, "name the data as it was at its last release, or leave was= out")
    if not is_other:
        raise BadInput("was", "is the same data", "leave it out")
    same = [each for each in found.values() if each.version != each.of["version"]]
    if not same:
        raise Refusal(
            "the data holds other records than the earlier data, or the same ones in another order, in the columns"
            " that both have. Nothing was recorded. Without was= the columns are recorded, and questions about the"
            " new data are charged",
            differs=["records"],
        )
    return same, others


def _compared_version(
    book: Ledger,
    data: tuple[Any, Any],
    part: TablePart | None,
    secret: str | os.PathLike[str] | None,
    reading: tuple[dict[str, Any], ...],
) -> tuple[_SameVersion | None, bool]:
    """Compare some data, or a partition of it, with the earlier data; tell too whether the ledger knows the earlier."""
    stamps = [fingerprint_of_table(data_location(each)) for each in data]
    with (
        closing(open_table(data[0], part=part, **reading[0])) as table,
        closing(open_table(data[1], part=part, **reading[1])) as earlier,
    ):
        names = common_columns(table, earlier)
        now, before = (
            TableVersion.begin(each, stamp_of_part(stamp, each.location))
            for each, stamp in zip((table, earlier), stamps, strict=True)
        )
        with book.store.reading() as rows:
            named = pinned_facts(rows, book.store.name).get("table")
        _, version, key = match_fingerprint(table, now.digest, book, secret, named=named, default=False)
        _, of, _ = match_fingerprint(earlier, before.digest, book, secret, named=named, default=False)
        with book.store.reading() as rows:
            if not known_fingerprints(rows, [of]):
                return None, False
        same = version == of or hold_the_same(table, earlier, names)
        now.check(table)
        before.check(earlier)
        if not same:
            return None, True
        apart = [column.name for column in table.held if column.name not in names]
        told = {"version": of, "except": apart, "text": table.text, "reader": table.reader}
        return _SameVersion(table=table, stamp=now.stamp, version=version, key=key, of=told), True


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
