"""Tables in files, by their endings: `text` reads CSV and TSV, `json_lines` JSON lines, and `parquet` Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .arrow import text_schema
from .columns import Column, Kind, check_names
from .engine import Embedded, check_readable, guarded, streaming_connection
from .json_lines import JSON_LINES, JsonLinesSource, open_json_lines
from .locations import PACKINGS, Location, is_address, location_of, names_several, packing_of, unpacked_name
from .packed import digest_of
from .parquet import ParquetSource, open_parquet
from .servers import is_on_server
from .text import DELIMITERS, TextForm, batches, read_form, read_header, refuse_form

if TYPE_CHECKING:
    import duckdb

    from .folders import FolderSource
    from .postgresql import ServerSource
    from .sqlite import SqliteSource

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
    packing: str = ""

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the bytes, unpacked, and of how they are read; packed or not, it is the same."""
        return digest_of(self.path, self.packing, _ending(self.path))

    @property
    def location(self) -> Location:
        """Where the file lies."""
        return location_of(self.path)

    @property
    def form_facts(self) -> dict[str, str]:
        """What was declared of how it is written, where that is not as usual."""
        return self.form.facts(_ending(self.path))

    @property
    def reading(self) -> str:
        """How it is read, in words."""
        return self.form.describe()

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        schema = text_schema(names)
        places = [self.names.index(name) for name in names]
        width = len(self.names)
        stream = batches(self.path, self.start, self.form, width, places, schema, packing=self.packing)
        return streaming_connection(schema, stream)


_DATABASES = (".db", ".sqlite", ".sqlite3", ".db3")


def open_file(
    text: str, encoding: Any = None, delimiter: Any = None, types: Any = None
) -> tuple[list[Column], FolderSource | JsonLinesSource | ParquetSource | ServerSource | SqliteSource | TextSource]:
    """Open a file by its ending (.csv, .tsv, .jsonl, compressed too, or .parquet), a folder of Parquet, or a database.

    Parameters
    ----------
    encoding, delimiter : str, optional
        How a text file is written; see `text.read_form`.
    types : mapping or path, optional
        The columns of JSON lines; refused of a Parquet file, whose format says what its columns are.

    Raises
    ------
    BadInput
        For a path that is no readable file of such an ending, and a header that cannot be read.
    """
    if is_on_server(text):
        refuse_form(encoding, delimiter, types)
        if not is_address(text):
            raise BadInput("data", "is the address of a server, given as a path", "give it as text")
        from .postgresql import open_server_table

        return open_server_table(text)
    if is_address(text):
        from .sqlite import open_sqlite

        refuse_form(encoding, delimiter, None)
        return open_sqlite(text)
    if guarded(lambda: names_several(text), "is not a usable path", "give the path of a file"):
        from .folders import open_folder

        refuse_form(encoding, delimiter, None)
        return open_folder(text)
    packing = packing_of(text)
    ending = PurePath(unpacked_name(text)).suffix.lower()
    if ending not in (*DELIMITERS, *JSON_LINES) and (packing or ending != ".parquet"):
        rule = f"cannot read a file that ends in {(ending + packing)!r}"
        if ending.partition("#")[0] in _DATABASES:
            raise BadInput("data", rule, "write sqlite:///FILE#TABLE for a table in SQLite")
        raise BadInput("data", rule, "give a .csv, .tsv, .jsonl or .parquet file")
    # A path cannot be longer than the system allows, hold a NUL byte, or lie in a folder that may not be entered.
    path = guarded(lambda: Path(text).expanduser().resolve(), "is not a usable path", "give the path of a file")
    if not guarded(path.is_file, "is not a usable path", "give the path of a file"):
        raise BadInput("data", f"finds no file at {text!r}", _other_ending(path) or "give the path of an existing file")
    check_readable(path)
    if set(str(path)) & set("*?["):
        raise BadInput("data", "has a path with one of * ? [, which would match several files", "rename the file")
    if ending == ".parquet":
        refuse_form(encoding, delimiter, types)
        return open_parquet(path)
    if ending in JSON_LINES:
        refuse_form(encoding, delimiter, None)
        return open_json_lines(path, packing, types)
    return _open_text(path, read_form(ending, encoding, delimiter), packing, sure=delimiter is not None)


def _open_text(path: Path, form: TextForm, packing: str, *, sure: bool) -> tuple[list[Column], TextSource]:
    names, start = read_header(path, form, "data", packing, sure=sure)
    check_names(names)
    return [Column(name, Kind.UNTYPED) for name in names], TextSource(path, form, tuple(names), start, packing)


def _other_ending(path: Path) -> str:
    """Ask whether what lies there compressed, or unpacked, is meant; it would be the same table."""
    near = [path.with_name(path.name + packing) for packing in PACKINGS] + [path.with_name(unpacked_name(path.name))]
    found = [other.name for other in near if other != path and other.is_file()]
    return f"did you mean {' or '.join(map(repr, found))}?" if found else ""


def _ending(path: Path) -> str:
    """Return the ending of what a file holds, links followed."""
    return PurePath(unpacked_name(path.name)).suffix.lower()
