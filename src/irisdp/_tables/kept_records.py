"""Records of persons that were chosen once, for several questions about one table.

Which records of a person count depends on the records and on a secret, and on no question. So a plan chooses them once
and holds them, in the memory of the engine or on the cluster. A question that asks about chosen records reads those;
every other question reads the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from .columns import Column, ColumnType

if TYPE_CHECKING:
    import pyarrow as pa


class HeldRecords(Protocol):
    """Rows that a statement found, held until they are let go of."""

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        """Run a statement over the relation `data`, which has these rows."""
        ...

    def close(self) -> None:
        """Let go of them."""
        ...


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """Which records of persons are held.

    Attributes
    ----------
    unit : str
        The column that identifies a person.
    key : bytes
        Secret; they were chosen by it.
    at_most : frozenset of int
        They are the records that are kept if at most so many of each person are, for each of these numbers.
    names : frozenset of str
        The columns that they have.
    place, single : Column
        Two more columns: the place of a record among those of its person, from 1 on, where several are kept of each;
        and whether it is kept where one is kept of each.
    """

    unit: str
    key: bytes = field(repr=False)
    at_most: frozenset[int]
    names: frozenset[str] = field(repr=False)
    place: Column
    single: Column

    def chosen_by(self, at_most: int) -> Column:
        """Return the column that says which records are kept if at most so many are."""
        return self.single if at_most == 1 else self.place


@dataclass(frozen=True, slots=True)
class PartlyHeld:
    """A source, and records of it that are held: a statement that reads one of their own columns is about them."""

    whole: Any
    held: HeldRecords
    kept: KeptRecords

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.whole, name)

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> pa.Table:
        source: Any = self.held if {self.kept.place.name, self.kept.single.name} & set(names) else self.whole
        found: pa.Table = source.run(statement, names, declared)
        return found


def column_beside(columns: Sequence[Column], name: str, kind: ColumnType) -> Column:
    """Return one more column, of a name that none of them has."""
    taken = {column.name.casefold() for column in columns}
    while name in taken:
        name += "_"
    return Column(name, kind)
