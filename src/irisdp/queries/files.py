"""Tables in files: CSV and TSV, read as `text` says, and Parquet, as `parquet` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .columns import Column, Kind, check_names
from .engine import Embedded, guarded, locked_connection
from .parquet import ParquetSource, open_parquet
from .text import DELIMITERS, TextForm, batches, read_form, read_header, refuse_form
from .total import total_stream

if TYPE_CHECKING:
    import duckdb

__all__ = ["TextSource", "open_file"]


@dataclass(frozen=True, slots=True)
class TextSource(Embedded):
    """A text file, whose records are split here and not by an engine.

    Attributes
    ----------
    form : TextForm
        How it is written; public.
    names : tuple of str
        The header.
    start : int
        Where the records start.
    """

    path: Path
    form: TextForm
    names: tuple[str, ...] = field(repr=False)
    start: int = field(repr=False)

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the file's bytes and of how they are read."""
        with self.path.open("rb") as file:
            content = file_digest(file, blake2b).digest()
        return blake2b(self.path.suffix.lower().encode() + content, digest_size=32).digest()

    @property
    def form_facts(self) -> dict[str, str]:
        """What was declared of how it is written, where that is not as usual."""
        return self.form.facts(self.path.suffix.lower())

    @property
    def reading(self) -> str:
        """How it is read, in words."""
        return self.form.describe()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        import pyarrow as pa

        schema = pa.schema([(name, pa.string()) for name in names])
        places = [self.names.index(name) for name in names]
        stream = batches(self.path, self.start, self.form, len(self.names), places, schema)
        connection = locked_connection()
        connection.register("data", total_stream(schema, stream))
        return connection


def open_file(
    text: str, encoding: Any = None, delimiter: Any = None, types: Any = None
) -> tuple[list[Column], ParquetSource | TextSource]:
    """Open a .csv, .tsv or .parquet file by its ending.

    Parameters
    ----------
    encoding, delimiter : str, optional
        How a text file is written; see `text.read_form`.
    types : mapping or path, optional
        Refused of other files, whose format says what their columns are.

    Raises
    ------
    BadInput
        For a path that is no readable file of such an ending, and a header that cannot be read.
    """
    ending = Path(text).suffix.lower()
    if ending not in (*DELIMITERS, ".parquet"):
        raise BadInput("data", f"cannot read a file that ends in {ending!r}", "give a .csv, .tsv or .parquet file")
    # A path cannot be longer than the system allows, hold a NUL byte, or lie in a folder that may not be entered.
    path = guarded(lambda: Path(text).expanduser().resolve(), "is not a usable path", "give the path of a file")
    if not guarded(path.is_file, "is not a usable path", "give the path of a file"):
        raise BadInput("data", f"finds no file at {text!r}", "give the path of an existing file")
    if set(str(path)) & set("*?["):
        raise BadInput("data", "has a path with one of * ? [, which would match several files", "rename the file")
    if ending == ".parquet":
        refuse_form(encoding, delimiter, types)
        return open_parquet(path)
    return _open_text(path, read_form(ending, encoding, delimiter))


def _open_text(path: Path, form: TextForm) -> tuple[list[Column], TextSource]:
    names, start = read_header(path, form, "data")
    check_names(names)
    return [Column(name, Kind.UNTYPED) for name in names], TextSource(path, form, tuple(names), start)
