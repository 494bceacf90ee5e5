"""Tables in files: CSV, TSV and Parquet.

A CSV has no types, and guessing them from the data would let one record change what every other means. So its columns
are untyped text, and nothing about the file is sniffed. A record is what the CSV grammar (RFC 4180) says: the header is
the first line and is public; a line that has too few fields, is blank, or is not UTF-8 in a column that is read, is no
record; a quote that is never closed swallows what follows, so let a CSV library write the file.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput
from .columns import Column, Kind, check_names, kind_of
from .engine import Embedded, guarded, locked_connection, quote_text

if TYPE_CHECKING:
    import duckdb

__all__ = ["FileSource", "open_file", "read_header"]

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True, slots=True)
class FileSource(Embedded):
    """A file, and the DuckDB table function that reads it."""

    path: Path
    reader: str

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the file's bytes and of how they are read."""
        with self.path.open("rb") as file:
            content = file_digest(file, blake2b).digest()
        return blake2b(self.path.suffix.lower().encode() + content, digest_size=32).digest()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a view of the file."""
        connection = locked_connection(str(self.path))
        connection.execute(f"CREATE TEMP VIEW data AS SELECT * FROM {self.reader}")
        return connection


def open_file(text: str) -> tuple[list[Column], FileSource]:
    """Open a .csv, .tsv or .parquet file by its ending.

    Raises
    ------
    BadInput
        For a path that is no readable file of such an ending, and a header that cannot be read.
    """
    ending = Path(text).suffix.lower()
    if ending not in (*_SEPARATORS, ".parquet"):
        raise BadInput("data", f"cannot read a file that ends in {ending!r}", "give a .csv, .tsv or .parquet file")
    # A path cannot be longer than the system allows, hold a NUL byte, or lie in a folder that may not be entered.
    path = guarded(lambda: Path(text).expanduser().resolve(), "is not a usable path", "give the path of a file")
    if not guarded(path.is_file, "is not a usable path", "give the path of a file"):
        raise BadInput("data", f"finds no file at {text!r}", "give the path of an existing file")
    if set(str(path)) & set("*?["):
        raise BadInput("data", "has a path with one of * ? [, which would match several files", "rename the file")
    if ending == ".parquet":
        return _open_parquet(path)
    return _open_text(path, _SEPARATORS[ending])


def read_header(path: Path, separator: str, field: str) -> list[str]:
    """Return the names in the first line of a CSV; a nameless column is called by its place, column1, column2, ..."""

    def first_line() -> list[str]:
        with path.open("rb") as file:
            start = file.read(_LONGEST_HEADER).decode("utf-8-sig", "replace")
        return next(csv.reader(io.StringIO(start, newline=""), delimiter=separator), [])

    rule, remedy = "has no header that can be read as UTF-8 text", "save it as CSV, in UTF-8, with a header"
    names = guarded(first_line, rule, remedy, field)
    # Only the header may decide: what cannot be decoded further down is a record, and merely ignored.
    if any("\ufffd" in name for name in names):
        raise BadInput(field, rule, remedy)
    return [name.strip() or f"column{place}" for place, name in enumerate(names, 1)]


def _open_text(path: Path, separator: str) -> tuple[list[Column], FileSource]:
    names = read_header(path, separator, "data")
    check_names(names)
    types = ", ".join(f"{quote_text(name)}: 'VARCHAR'" for name in names)
    # strict_mode would fail on some malformed lines and lose the good ones after others; without it the parallel
    # reader mistakes quoted line ends for real ones, so the file is read in one pass.
    reader = (
        f"read_csv({quote_text(str(path))}, auto_detect = false, header = true, columns = {{{types}}}, "
        f"delim = {quote_text(separator)}, quote = '\"', escape = '\"', nullstr = '', compression = 'none', "
        "ignore_errors = true, strict_mode = false, parallel = false)"
    )
    return [Column(name, Kind.UNTYPED) for name in names], FileSource(path, reader)


def _open_parquet(path: Path) -> tuple[list[Column], FileSource]:
    import narwhals as nw
    import pyarrow.parquet as pq

    rule, remedy = "is not a Parquet file that can be read", "write it again as Parquet"
    schema = guarded(lambda: nw.from_native(pq.read_schema(path).empty_table()).schema, rule, remedy)
    check_names(list(schema))
    columns = [Column(name, kind_of(dtype)) for name, dtype in schema.items()]
    return columns, FileSource(path, f"read_parquet({quote_text(str(path))}, hive_partitioning = false)")
