"""A table without records: what any question finds in it is public, and needs no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .engine import SelfDescribing

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class NoRecords(SelfDescribing):
    """A source of which every statement of this layer finds no row: each counts records, or lists what they hold.

    A count that an engine would return as a row of zeros is missing; who reads counts begins with zeros.
    """

    engine: ClassVar[str] = "none"
    ordered: ClassVar[bool] = False

    def digest(self) -> bytes:
        """Refuse: this is no version of any data."""
        raise NotImplementedError

    def run(self, statement: str, names: Sequence[str], declared: Mapping[str, pa.Table]) -> Any:
        """Return no row."""
        return _NoRows()


class _NoRows:
    """A table of Arrow's without rows, which has every column that is asked for."""

    def column(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa

        return pa.chunked_array([], pa.int64())

    def select(self, names: Sequence[str]) -> pa.Table:
        import pyarrow as pa

        return pa.table({name: self.column(name) for name in names})
