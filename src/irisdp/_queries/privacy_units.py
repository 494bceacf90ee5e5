"""One record per person, or M, or one answer: a person with many records moves a count by one, or M.

A keyed hash, with a secret key, draws the record that represents a person. Every record of the person gets a number
from the hash of all that the record holds, and the least number stays, or the M least. So the choice

- is a function of the person's own records and of the key: whatever others add or remove, it stays;
- knows neither question nor answer: "age > 50" and "age <= 50" are asked of the same records;
- is even-handed: over the keys, each record stays equally often, and what a person says three times counts thrice.

If the kept records may lie in only a few groups, the groups come in the order of their first records, and records in
further groups are left out. This uses the requested groups, and nothing else.

Privacy holds for every key, so it does not rest on the key's secrecy; what does is that nobody can arrange their
records so that a certain one stays.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from .._exact import integer
from .._options import COLUMN_CHOICES
from .._tables import (
    Column,
    ColumnType,
    KeptRecords,
    Table,
    column_beside,
    held_names,
    integers_of,
    quote_name,
    written_as,
)
from ..errors import BadInput

if TYPE_CHECKING:
    from .._tables import Condition, HeldRecords

# Contribution bounds: how many records of a person count, and in how many groups.

MOST_RECORDS = 1_000_000


@dataclass(frozen=True, slots=True)
class ContributionBounds:
    """What one person may contribute; every record is a person's only one where there is no unit.

    Attributes
    ----------
    records : int
        M: how many records are kept of each.
    groups : int
        In how many cells they may lie: 1 where there are no groups, else at most M.
    grouped : bool
        Whether there are groups.
    exchanged : bool
        Whether one step takes a person's several records for another's, in the one cell that there is.
    declared : int or None
        How many groups there are, where that is public.
    """

    records: int = 1
    groups: int = 1
    grouped: bool = False
    exchanged: bool = False
    declared: int | None = None

    @property
    def several(self) -> bool:
        """Whether a person may have more than one record that counts."""
        return self.records > 1

    @property
    def cells(self) -> int:
        """How many answers a person can move."""
        return self.groups if self.declared is None else max(1, min(self.groups, self.declared))

    @property
    def limits_groups(self) -> bool:
        """Whether fewer groups are allowed than the records that are kept may lie in."""
        return self.grouped and self.groups < self.records

    def to_document(self) -> dict[str, int]:
        """Return the facts that belong to a question; none where one record is kept."""
        if not self.several:
            return {}
        return {"at_most": self.records} | ({"groups_per_unit": self.groups} if self.grouped else {})


ONE_RECORD = ContributionBounds()
"""What a person contributes unless more is asked for."""


def read_contribution(
    at_most: Any, groups_per_unit: Any, *, unit: Any, per_unit: Any, grouped: bool, exchange: bool
) -> ContributionBounds:
    """Read how many records a person keeps, and in how many groups.

    Parameters
    ----------
    at_most, groups_per_unit : int, optional
        As for `irisdp.publish`.
    unit, per_unit
        Whether there are persons, and whether a condition is asked of persons.
    grouped : bool
        Whether there are groups, bins among them.
    exchange : bool
        Whether neighbours have as many persons, and one is another.
    """
    records = 1 if at_most is None else integer(at_most, "at_most", at_least=1, at_most=MOST_RECORDS)
    if at_most is not None and unit is None:
        raise BadInput("at_most", "is about people who have several records", "say whose they are with unit=")
    groups = records
    if groups_per_unit is not None:
        groups = integer(groups_per_unit, "groups_per_unit", at_least=1, at_most=MOST_RECORDS)
        if records == 1:
            rule = "is about people who keep several records, and one is kept of each"
            raise BadInput("groups_per_unit", rule, "add at_most=, or leave it out")
        if not grouped:
            raise BadInput("groups_per_unit", "is about groups, and there are none", "add by=, or leave it out")
    if records > 1 and per_unit is not None:
        rule = "keeps several records, and per_unit= has one answer of each person"
        raise BadInput("at_most", rule, "leave one of the two out")
    one_cell = exchange and not grouped and records > 1
    return ContributionBounds(records, min(groups, records) if grouped else 1, grouped, one_cell)


# Public choices of a question about a column: categories, bins, bounds.


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChoices:
    """The choices as given; None if left out.

    Attributes
    ----------
    categories, bins, lower, upper, step, missing, weight, weight_upper, per_person_upper
        As for `irisdp.publish`.
    unit : str or None
        The column that says whose record it is, as it was given.
    contribution : ContributionBounds
        How many records one person has that count, for questions which keep it (`registry.keep_contribution`).
    """

    categories: Any = None
    bins: Any = None
    lower: Any = None
    upper: Any = None
    step: Any = None
    missing: Any = None
    weight: Any = None
    weight_upper: Any = None
    per_person_upper: Any = None
    contribution: ContributionBounds = ONE_RECORD
    unit: Any = None

    def refuse_all_but(self, query: str, *taken: str) -> None:
        """Refuse choices that a query, or what it is called in a message, has no use for."""
        for option in fields(self):
            if option.name in COLUMN_CHOICES and option.name not in taken and getattr(self, option.name) is not None:
                rule = f"is not for {query}, but for {COLUMN_CHOICES[option.name]}"
                raise BadInput(option.name, rule, "leave it out, or ask one of those")


KEY_BYTES = 32
"""Length of the key: in hexadecimal it fills the first block of SHA-256."""

_LONGEST = 99
"""Text beyond this many characters is hashed for itself, so that a record of any length takes little memory."""


class PerUnitRule(StrEnum):
    """What a condition asks of a person, where it is not asked of one record."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """The column that identifies a person, and which records or answers of each count.

    Attributes
    ----------
    column : str
        The column that says whose record it is; a record without a value belongs to nobody.
    key : bytes
        Secret; 32 bytes.
    per_unit : PerUnitRule or None
        None: the answer of the one record kept. ANY, ALL: whether any, or all, of the answers of the person's records
        are yes. Records without an answer are skipped, and a person without any answer has none.
    contribution : ContributionBounds
        How many records are kept of each, and in how many groups.
    """

    column: str
    key: bytes = field(repr=False)
    per_unit: PerUnitRule | None = None
    contribution: ContributionBounds = ONE_RECORD

    def __post_init__(self) -> None:
        """Check the key."""
        if len(self.key) != KEY_BYTES:
            raise BadInput("key", f"must have {KEY_BYTES} bytes, not {len(self.key)}", "derive it from the secret")


def read_per_unit(
    per_unit: Any, unit: str | None, condition: Condition | None, *, counts_persons: bool = False
) -> PerUnitRule | None:
    """Read any or all, which needs a unit and a condition.

    With either of the two, a question without a condition that `counts_persons` counts each person once; then the
    result is None.
    """
    if per_unit is None:
        return None
    if per_unit not in list(PerUnitRule):
        raise BadInput("per_unit", "must be any or all", "choose one of the two")
    if unit is not None and condition is None and counts_persons:
        return None
    if unit is None or condition is None:
        rule = "asks a condition of a person's records, and there is no condition"
        remedy = 'add one such as "age > 64"; to derive a row for each person, use person='
        if unit is None:
            rule, remedy = "asks a condition of a person's records", 'add unit= and a condition such as "age > 64"'
        raise BadInput("per_unit", rule, remedy)
    return PerUnitRule(per_unit)


def describe_unit(unit: str, per_unit: PerUnitRule | None, contribution: ContributionBounds) -> str:
    """Describe the privacy unit in one line."""
    order = "chosen at random, the same for all questions"
    if contribution.several:
        said = f"at most {contribution.records} records kept per {unit}, {order}"
        if not contribution.limits_groups:
            return said
        first = "group" if contribution.groups == 1 else f"{contribution.groups} groups"
        return f"{said}; of these, those in the first {first}"
    if per_unit is None:
        return f"one record kept per {unit}, {order}"
    said = f"each {unit} counts once, and says yes if {per_unit} of its records with an answer do"
    return f"{said}; in the group of one record, {order}" if contribution.grouped else said


def columns_read(
    table: Table, condition: Condition | None, keys: Sequence[Column], unit: PrivacyUnit | None
) -> tuple[Column, ...]:
    """Return the columns that `records_statement` reads."""
    used = [*(condition.columns if condition else ()), *(table.column(key.name, "by") for key in keys)]
    if unit is not None:
        used.append(table.column(unit.column, "unit"))
        if _draws_lots(condition, keys, unit):
            kept = _kept_for(table, used, unit)
            used += _hashed(table, unit.column) if kept is None else [kept.chosen_by(unit.contribution.records)]
    return tuple(used)


def _kept_for(table: Table, used: Sequence[Column], unit: PrivacyUnit) -> KeptRecords | None:
    """Return the records that were chosen once, if a statement that draws lots may read them instead of the table.

    Not where all records of a person have a say, and not where records hold less than is asked for.
    """
    kept = table.kept
    if kept is None or unit.per_unit is not None or table.lookups:
        return None
    chosen = (kept.unit, kept.key) == (unit.column, unit.key) and unit.contribution.records in kept.at_most
    return kept if chosen and set(held_names(used)) <= kept.names else None


def records_statement(
    table: Table,
    condition: Condition | None,
    keys: Sequence[Column],
    unit: PrivacyUnit | None,
    *,
    carried: int = 0,
    placed: bool = False,
) -> str:
    """Return the WITH clause of `records`: keys k0, k1, ... and the `answer`, one row per record that counts.

    With a unit there is one row per person: the keys of the record kept, and its answer or, with `per_unit`, that of
    the person. Without keys a person's answer needs no record to be kept. Where several records are kept of a person,
    there is a row for each. The last `carried` keys are values of the record, and no part of which group it is in.
    Without a unit records may be `placed`: `place` numbers them as they are read.
    """
    names = [f"k{index}" for index in range(len(keys))]
    parts = [
        f"{written_as(table.column(key.name, 'by'), key.kind)} AS {name}" for key, name in zip(keys, names, strict=True)
    ]
    parts.append(f"{condition.sql('duckdb') if condition else 'TRUE'} AS answer")
    if unit is None:
        parts += [f"{table.place} AS place"] * placed
        return f"WITH records AS (SELECT {', '.join(parts)} FROM data)"
    person = table.column(unit.column, "unit").reference.sql("duckdb")
    gathered = "BOOL_OR(answer)" if unit.per_unit == PerUnitRule.ANY else "BOOL_AND(answer)"
    if not _draws_lots(condition, keys, unit):
        return (
            f"WITH all_records AS (SELECT {person} AS person, {', '.join(parts)} FROM data), "
            f"records AS (SELECT {gathered} AS answer FROM all_records WHERE NOT person IS NULL GROUP BY person)"
        )
    listed = "".join(f", {name}" for name in names)
    least = "".join(f", MIN({name}) AS {name}" for name in names)
    kept = _kept_for(table, columns_read(table, condition, keys, None), unit)
    if kept is not None:
        place, single = (column.reference.sql("duckdb") for column in (kept.place, kept.single))
        if not unit.contribution.several:
            return f"WITH records AS (SELECT {', '.join(parts)} FROM data WHERE {single})"
        places = f"{place} <= {unit.contribution.records}"
        found = f"SELECT {person} AS person, {place} AS place, {', '.join(parts)} FROM data WHERE {places}"
        return f"WITH kept AS ({found}), {_few_groups(names, len(names) - carried, unit)}"
    columns = _hashed(table, unit.column)
    different = (
        f"WITH all_records AS (SELECT {person} AS person, {', '.join([*_texts(columns), *parts])} FROM data), "
        f"hashed_records AS (SELECT person, {_hash(len(columns), unit.key)} AS hashed{listed}, answer FROM all_records "
        "WHERE NOT person IS NULL), "
        f"different AS (SELECT person, hashed, COUNT(*) AS copies{least}, {gathered} AS answer FROM hashed_records "
        "GROUP BY person, hashed)"
    )
    if unit.contribution.several:
        return f"{different}, {_several_kept(names, unit)}, {_few_groups(names, len(names) - carried, unit)}"
    # Equal records have one number and so much more weight: of m numbers of their own, exponentially distributed, the
    # least would be distributed as one of them divided by m. A struct is compared field by field; what follows the
    # number matters only where two numbers are equal.
    fields = [
        f"'lot': {_LOT}",
        "'hashed': hashed",
        *(f"'{name}': {name}" for name in names),
        "'answer': answer",
    ]
    chosen = "".join(f"kept.kept.{name} AS {name}, " for name in names)
    return (
        f"{different}, "
        f"kept AS (SELECT MIN({{{', '.join(fields)}}}) AS kept, {gathered} AS answer FROM different GROUP BY person), "
        f"records AS (SELECT {chosen}{'kept.answer' if unit.per_unit else 'kept.kept.answer'} AS answer FROM kept)"
    )


_LOT = "-LN((CAST(hashed AS DOUBLE) + CAST('0.5' AS DOUBLE)) / CAST('1152921504606846976' AS DOUBLE)) / copies"
"""The lot of equal records where one record of a person is kept."""


def keep_records(
    table: Table, unit: str, key: bytes, at_most: Collection[int]
) -> tuple[KeptRecords, HeldRecords] | None:
    """Choose the records of persons for several questions, and hold them.

    The table is read twice, once for the numbers that are kept and once for their records, so that no other record
    takes memory. Records of one number are equal, unless 60 bits of a hash meet by chance; then nothing is held.

    Parameters
    ----------
    table : Table
        One without lookups, whose rows are records.
    unit, key
        As for `PrivacyUnit`.
    at_most : collection of int
        How many records of a person are kept, by the several questions.

    Returns
    -------
    tuple or None
        None where records cannot be held.

    Raises
    ------
    BadInput
        Where the engine fails: the questions may still be read one by one.

    References
    ----------
    docs/decisions/privacy-unit.md.
    """
    columns = _hashed(table, unit)
    place = column_beside(table.of_records, "place", ColumnType.INTEGER)
    single = column_beside(table.of_records, "single", ColumnType.BOOLEAN)
    held = tuple(dict.fromkeys(column.name for column in columns))
    person = table.column(unit, "unit").reference.sql("duckdb")
    hashed, digest = f"{person} AS person, {', '.join(_texts(columns))}", _digest(len(columns), key)
    wanted = table.run(
        f"WITH all_records AS (SELECT {hashed} FROM data), "
        f"digests AS (SELECT person, {digest} AS digest FROM all_records WHERE NOT person IS NULL), "
        f"hashed_records AS (SELECT person, {_bits('digest')} AS hashed, {_bits('digest', 16)} AS more FROM digests), "
        "different AS (SELECT person, hashed, COUNT(*) AS copies, MIN(more) AS least, MAX(more) AS most "
        f"FROM hashed_records GROUP BY person, hashed), {_places(at_most, key)}",
        columns,
    )
    if integers_of(wanted.column("mixed")).any():
        return None
    listed = ", ".join(f"data.{quote_name(name)} AS c{index}" for index, name in enumerate(held))
    shown = ", ".join(f"numbered.c{index} AS {quote_name(name)}" for index, name in enumerate(held))
    found = table.hold(
        f"WITH all_records AS (SELECT {hashed}, {listed} FROM data), "
        f"hashed_records AS (SELECT all_records.*, {_bits(digest)} AS hashed FROM all_records "
        "WHERE NOT person IS NULL), "
        "chosen AS (SELECT hashed_records.* FROM hashed_records WHERE hashed IN (SELECT hashed FROM wanted)), "
        "numbered AS (SELECT chosen.*, ROW_NUMBER() OVER (PARTITION BY person, hashed ORDER BY hashed) AS copy "
        "FROM chosen) "
        f"SELECT {shown}, wanted.place AS {quote_name(place.name)}, wanted.single AS {quote_name(single.name)} "
        "FROM numbered JOIN wanted ON numbered.hashed = wanted.hashed AND numbered.copy = wanted.copy",
        held,
        {"wanted": wanted},
    )
    if found is None:
        return None
    (count,) = integers_of(found.run("SELECT COUNT(*) AS total FROM data", held, {}).column("total"))
    if count != len(wanted):  # two persons have a number in common
        found.close()
        return None
    return KeptRecords(unit, key, frozenset(at_most), frozenset(held), place, single), found


def _places(at_most: Collection[int], key: bytes) -> str:
    """Write the rest of a statement that lists the records which are kept: a number, which copy, and its places.

    `mixed` is 1 for a number that different records of a person have.
    """
    kept, mixed = "OVER (PARTITION BY person ORDER BY", "CASE WHEN least = most THEN 0 ELSE 1 END AS mixed"
    if set(at_most) == {1}:
        return (
            f"placed AS (SELECT hashed, {mixed}, ROW_NUMBER() {kept} {_LOT}, hashed) AS place FROM different) "
            "SELECT hashed, 1 AS copy, place, TRUE AS single, mixed FROM placed WHERE place = 1"
        )
    single, or_single = "FALSE", ""
    if 1 in at_most:
        single, or_single = f"ROW_NUMBER() {kept} one, hashed, copy) = 1", " OR single"
    return (
        f"copied AS (SELECT person, hashed, {mixed}, {_LOT} AS one, UNNEST(GENERATE_SERIES(1, copies)) AS copy "
        "FROM different), "
        f"numbered AS (SELECT person, hashed, mixed, one, {_lot_of_copy(key)} AS lot, copy FROM copied), "
        f"placed AS (SELECT hashed, mixed, copy, ROW_NUMBER() {kept} lot, hashed, copy) AS place, {single} AS single "
        "FROM numbered) "
        f"SELECT hashed, copy, place, single, mixed FROM placed WHERE place <= {max(at_most)}{or_single}"
    )


def _lot_of_copy(key: bytes) -> str:
    """Write the lot of a copy of a record, where several records of a person are kept."""
    number = f"SHA256(CONCAT('{key.hex()}', 'copy', CAST(hashed AS VARCHAR), ':', CAST(copy AS VARCHAR)))"
    return f"CASE WHEN copy = 1 THEN hashed ELSE {_bits(number)} END"


def _several_kept(names: Sequence[str], unit: PrivacyUnit) -> str:
    """Write the clause of `kept` where several records are: the rows of `different`, copy by copy, in order.

    Equal records are different copies, and each has a number of its own: the first that of the record, the others a
    keyed hash of it and of the copy. A record's hash and copy are no other row's of its person, so the order has no
    ties.
    """
    row, alone = "".join(f", {name}" for name in [*names, "answer"]), "OVER (PARTITION BY person"
    parts = [
        f"copied AS (SELECT person, hashed, UNNEST(GENERATE_SERIES(1, copies)) AS copy{row} FROM different)",
        f"numbered AS (SELECT person, {_lot_of_copy(unit.key)} AS lot, hashed, copy{row} FROM copied)",
        f"placed AS (SELECT person, ROW_NUMBER() {alone} ORDER BY lot, hashed, copy) AS place{row} FROM numbered)",
        f"kept AS (SELECT person, place{row} FROM placed WHERE place <= {unit.contribution.records})",
    ]
    return ", ".join(parts)


def _few_groups(names: Sequence[str], keys: int, unit: PrivacyUnit) -> str:
    """Write the clause of `records`, of those `kept` in the first groups, if only some groups count.

    Groups have different first places, and equal keys (the first so many names) are one group, so that ranks of groups
    have no ties.
    """
    limits, listed = unit.contribution, "".join(f", {name}" for name in names)
    row, group, alone = f"{listed}, answer", "".join(f", {name}" for name in names[:keys]), "OVER (PARTITION BY person"
    if not (limits.limits_groups and keys):
        return f"records AS (SELECT answer{listed} FROM kept)"
    parts = [
        f"grouped AS (SELECT person, MIN(place) {alone}{group}) AS earliest{row} FROM kept)",
        f"ranked AS (SELECT DENSE_RANK() {alone} ORDER BY earliest) AS place{row} FROM grouped)",
        f"records AS (SELECT answer{listed} FROM ranked WHERE place <= {limits.groups})",
    ]
    return ", ".join(parts)


def _draws_lots(condition: Condition | None, keys: Sequence[Column], unit: PrivacyUnit) -> bool:
    """Tell whether it matters which records are kept: not where only the persons, or all their answers, count."""
    return unit.contribution.several or bool(keys) or (condition is not None and unit.per_unit is None)


def _hashed(table: Table, unit: str) -> list[Column]:
    """List what a record is hashed by: its person, and all columns that have a text form, whatever the question.

    As the table holds them: which record is kept is the same whatever types are declared.
    """
    (person,) = table.column(unit, "unit").sources
    return [person, *(column for column in table.held if not column.kind.is_opaque and column != person)]


def _texts(columns: Sequence[Column]) -> list[str]:
    """Write the texts t0, t1, ... that a record is hashed by."""
    return [f"TRY_CAST({column.reference.sql('duckdb')} AS VARCHAR) AS t{n}" for n, column in enumerate(columns)]


def _hash(texts: int, key: bytes) -> str:
    """Write 60 bits of a keyed hash of the texts t0, t1, ..."""
    return _bits(_digest(texts, key))


def _digest(texts: int, key: bytes) -> str:
    """Write the keyed hash of the texts t0, t1, ... in hexadecimal.

    Each has its length before it, so that no two records read alike; a null is neither text nor empty.
    """
    parts = ", ".join(
        f"CASE WHEN t{n} IS NULL THEN '-' WHEN LENGTH(t{n}) > {_LONGEST} "
        f"THEN CONCAT(CAST(LENGTH(t{n}) AS VARCHAR), ':', SHA256(t{n})) "
        f"ELSE CONCAT(CAST(LENGTH(t{n}) AS VARCHAR), ':', t{n}) END"
        for n in range(texts)
    )
    return f"SHA256(CONCAT('{key.hex()}', {parts}))"


def _bits(digest: str, start: int = 1) -> str:
    """Write 60 bits of a digest in hexadecimal, from a digit on, as a number."""
    return f"CAST(CONCAT('0x', SUBSTRING({digest}, {start}, 15)) AS BIGINT)"
