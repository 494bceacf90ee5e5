"""The scope of a ledger: costs add up only over releases that protect the same thing.

A sum of charges says "whatever one neighbour changes, all answers together tell at most this much of it". That is true
only if every charge speaks of the same table, the same neighbours and the same kind of person. So the first release
pins these facts, and later releases must keep them.

Under the relation exchange some columns may be public: neighbours then exchange a record but keep its public columns. A
release with fewer public columns protects more pairs of tables, so it fits in the scope of more public columns. One
with other public columns does not (docs/decisions/ledger-scope.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._aliases import RELATIONS
from ..errors import BadInput, ScopeRefused, without_passwords
from .partitions import Partition, is_parallel

KINDS = {
    "table": "string null",
    "columns": "object",
    "relation": "string",
    "unit": "string null",
    "public_columns": "array",
    "partition": "object",
}
"""By fact, as what it stands in JSON."""
FACTS = tuple(KINDS)
IF_THERE = ("partition",)
"""Facts that only some releases have, and that a ledger without them does not mention."""
_MOST_NAMED = 5
CHANGE_COLUMNS = "Ledger(path).change_columns(data)"
"""How the owner lets the table have other columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerScope:
    """What a release takes for granted and what a ledger's sum speaks of; all of it public.

    Attributes
    ----------
    table : str or None
        The table's name; None for a frame that was given none.
    columns : mapping
        The kind of every column as the table holds it, but of the unit as it is read; their order does not matter.
    relation : {"add-remove", "exchange"}
        Which tables are neighbours.
    unit : str or None
        The column that says whose record it is; None where every record is someone's only one.
    public_columns : sequence of str
        What neighbours keep of the record they exchange.
    partition : Partition or None
        Which partition of a growing table the release is about; None for the whole table.
    """

    table: str | None
    columns: Mapping[str, str]
    relation: str
    unit: str | None
    public_columns: Sequence[str] = ()
    partition: Partition | None = None

    @property
    def part(self) -> str | None:
        """The value of its partition; None for the whole table."""
        return None if self.partition is None else self.partition.value

    @property
    def is_parallel(self) -> bool:
        """Whether the largest charge of a partition counts, and not the sum of all partitions."""
        by = None if self.partition is None else self.partition.by()
        return by is not None and is_parallel(by, self.relation, self.unit, self.public_columns)

    def named(self, table: str | None) -> LedgerScope:
        """Return the scope with the table under another name; without a name, return it unchanged."""
        return self if table is None else replace(self, table=_table_name(table))

    def facts(self) -> dict[str, Any]:
        """Return the facts as JSON-ready data, equal for equal scopes."""
        return {
            "table": self.table,
            "columns": dict(sorted(self.columns.items())),
            "relation": self.relation,
            "unit": self.unit,
            "public_columns": sorted(self.public_columns),
            **({} if self.partition is None else {"partition": self.partition.by()}),
        }


def _table_name(table: Any) -> str:
    """Read the name of a table: the ledger stores it and shows it to all its readers."""
    if not (isinstance(table, str) and table.strip() and table.isprintable()):
        raise BadInput("table", "must be a name on one line", "write for example table='patients.csv'")
    _check_public(table, "table")
    return table


def _check_public(name: str, field: str) -> None:
    if without_passwords(name) != name:
        raise BadInput(field, "holds a password, which the ledger would keep", "leave it out")


def scope_in_advance(
    *, table: str | None, relation: str | None, unit: str | None, public_columns: Sequence[str]
) -> dict[str, Any]:
    """Check the facts that a ledger is pinned to before its first release, which adds those that are left open.

    Raises
    ------
    BadInput
        For facts that no release could keep.
    """
    neighbours = RELATIONS.get(relation, relation) if relation else "add-remove"
    if neighbours not in ("add-remove", "exchange"):
        raise BadInput("relation", "must be add-remove or exchange", "choose one of the two")
    if public_columns and neighbours != "exchange":
        raise BadInput("public_columns", "need the relation exchange", "add relation='exchange'")
    if public_columns and unit is not None:
        raise BadInput("public_columns", "cannot be combined with unit=", "leave one of the two out")
    if not all(isinstance(name, str) and name for name in public_columns):
        raise BadInput("public_columns", "must name columns", "write for example public_columns=ward,year")
    for field, names in (("unit", [unit] if isinstance(unit, str) else []), ("public_columns", public_columns)):
        for name in names:
            _check_public(name, field)
    facts: dict[str, Any] = {
        "relation": neighbours,
        "unit": unit,
        "public_columns": sorted(dict.fromkeys(public_columns)),
    }
    return facts if table is None else {"table": _table_name(table), **facts}


def check_scope(
    pinned: Mapping[str, Any], asked: Mapping[str, Any], ledger: str, *, except_for: Sequence[str] = ()
) -> None:
    """Refuse a release that does not keep what a ledger is pinned to; facts that are not pinned yet are free.

    Parameters
    ----------
    pinned, asked : mapping
        Facts as `LedgerScope.facts` returns them; of `pinned`, some may be missing.
    ledger : str
        The ledger's name, for the message.
    except_for : sequence of str
        Facts that need not be kept here: the name, where the content is known to be the same.

    Raises
    ------
    ScopeRefused
        Its document holds the facts that differ, as pinned and as asked.
    """
    broken = [
        fact
        for fact in FACTS
        if fact in pinned and fact in asked and fact not in except_for and not _keeps(fact, pinned[fact], asked[fact])
    ]
    if "columns" in broken and asked["columns"] in pinned.get("earlier_columns", ()):
        broken.remove("columns")
    if not broken:
        return
    there, here = ({fact: facts[fact] for fact in broken} for facts in (pinned, asked))
    if "columns" in broken:
        there["columns"], here["columns"] = _differing(there["columns"], here["columns"])
    plain = [fact for fact in broken if fact != "columns" or len(broken) > 1]
    uses, wants = (" and ".join(_phrase(fact, facts[fact]) for fact in plain) for facts in (there, here))
    differs = f"{ledger} uses {uses}; you asked for {wants}" if plain else _told_columns(ledger, there, here)
    remedy = f"{_same(there)}. Only a table about other people has a ledger of its own"
    if broken == ["columns"]:
        divided = pinned.get("partition", {}).get("column")
        fixed = {name.casefold() for name in (pinned.get("unit"), divided, *pinned.get("public_columns", ())) if name}
        kept = [name for name in there["columns"] if name.casefold() in fixed]
        remedy = f"If it is the same table, its owner records the change: {CHANGE_COLUMNS}"
        if kept:
            remedy = f"{_listed(kept)} says what the ledger protects: keep the column, and its type (types=), as it was"
    if broken == ["table"] and pinned["table"] is not None:
        remedy = (
            f"Ask about {pinned['table']}, and choose a part of the folder with a condition"
            if _of_one_folder(pinned["table"], asked["table"])
            else f"If it is the same table, add table={pinned['table']!r}"
        )
    raise ScopeRefused(
        f"{differs}. {remedy}",
        differs=broken,
        pinned=there,
        asked=here,
    )


def _told_columns(ledger: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Say how the columns of some data differ from those that a ledger is pinned to."""
    before, now = there["columns"], here["columns"]
    parts = [
        ("has the new", [f"{name} ({kind})" for name, kind in now.items() if name not in before]),
        ("lacks the", [f"{name} ({kind})" for name, kind in before.items() if name not in now]),
        ("holds otherwise the", [f"{name} ({before[name]} before, {now[name]} now)" for name in before if name in now]),
    ]
    said = [f"{what} column{'s' * (len(names) > 1)} {_listed(names)}" for what, names in parts if names]
    return f"{ledger} knows the table with other columns: the data {' and '.join(said)}"


def _of_one_folder(pinned: str, asked: str | None) -> bool:
    """Tell whether one name is a part of the other's folder: under another name it would be a budget of its own."""
    return asked is not None and (asked.startswith(f"{pinned}/") or pinned.startswith(f"{asked}/"))


_NAMES = {
    "table": "table",
    "columns": "columns",
    "relation": "relation",
    "unit": "unit",
    "public_columns": "public columns",
    "partition": "partitions by",
}


def _keeps(fact: str, pinned: Any, asked: Any) -> bool:
    if fact == "public_columns":
        return {name.casefold() for name in asked} <= {name.casefold() for name in pinned}
    if fact == "unit" and pinned is not None and asked is not None:  # as in SQL, no table tells names apart by case
        return bool(pinned.casefold() == asked.casefold())
    return bool(pinned == asked)


def _differing(pinned: Mapping[str, str], asked: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keep the columns that are not the same on both sides; a table may have thousands."""
    names = [name for name in sorted({*pinned, *asked}) if pinned.get(name) != asked.get(name)]
    there, here = ({name: side[name] for name in names if name in side} for side in (pinned, asked))
    return there, here


def _same(pinned: Mapping[str, Any]) -> str:
    """Say how to ask for what the ledger uses, with the arguments where they are enough."""
    if not {"relation", "unit"}.issuperset(pinned):
        return "Ask for the same"
    steps = [f"use {fact}={value!r}" if value is not None else f"drop {fact}=" for fact, value in pinned.items()]
    remedy = " and ".join(steps)
    return remedy[0].upper() + remedy[1:]


def _phrase(fact: str, value: Any) -> str:
    """Write a fact in a sentence, such as "relation exchange" or "no unit"."""
    if value is None or value in ({}, []):
        return f"no {_NAMES[fact]}"
    if fact == "partition":
        by = f"{value['period']} of {value['column']}" if "period" in value else value["column"]
        return f"{_NAMES[fact]} {by}, read as {value.get('reading', 'files')}"
    parts = [f"{name} ({kind})" for name, kind in value.items()] if isinstance(value, Mapping) else value
    if isinstance(parts, str):
        return f"{_NAMES[fact]} {parts}"
    return f"{_NAMES[fact]} {_listed(parts)}"


def _listed(parts: Sequence[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
