"""JSON lines: one record a line, with declared columns, because nothing in the file is a schema.

Each record may have other keys, and values of other types. So the columns are those whose types are declared
(docs/decisions/text-files.md), every value is read as text first, and then as its column's type: `"7"` and `7` are one
text. A null, a list and an object are null, and so is the value of a missing key. If a key occurs twice, the last value
counts. A line that is not a JSON object in UTF-8 is a record with unknown values. A blank line, or one longer than
`csv_records.LONGEST_RECORD`, is skipped. A byte order mark is skipped at the beginning of any line, so that no earlier
line decides its meaning. No line changes how another is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import BadInput
from .arrow_values import text_schema, texts
from .column_types import load_types
from .columns import Column, ColumnType, check_names
from .compressed import digest_of, first_bytes, opened
from .csv_records import BLOCK, LONGEST_RECORD
from .engine import Embedded, streaming_connection
from .locations import Location, location_of, unpacked_name
from .text_files import BOM

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa


JSON_LINES = (".jsonl", ".ndjson")

DEEPEST = 100
"""Lists and objects within each other in a record; public. In one of more, nothing is read: Python's own limit depends
on what calls it."""

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
"""One that is not closed goes on to the end: were it none, every quote in it would be tried as the start of one."""
_STEPS = np.zeros(256, np.int8)
_STEPS[[*b"[{"]], _STEPS[[*b"]}"]] = 1, -1


@dataclass(frozen=True, slots=True)
class JsonLinesSource(Embedded):
    """A file of JSON lines.

    Attributes
    ----------
    names : tuple of str
        The columns, in alphabetical order: they are declared, and the order in which that was done says nothing.
    """

    path: Path
    names: tuple[str, ...] = field(repr=False)
    packing: str = ""

    def digest(self) -> bytes:
        """Return the BLAKE2b digest of the bytes, unpacked, and of the columns."""
        return digest_of(self.path, self.packing, f"JSON lines {json.dumps(self.names)}")

    @property
    def location(self) -> Location:
        """Where the file lies."""
        return location_of(self.path)

    @property
    def reading(self) -> str:
        """How it is read, in words."""
        return "as JSON lines in UTF-8; of a line that is no JSON object nothing is known"

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        schema = text_schema(names)
        return streaming_connection(schema, self._batches(names, schema))

    def _batches(self, names: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for lines in _lines(self):
            records = [read_record(line) for line in lines]
            columns = [texts([_text(record.get(name)) for record in records]) for name in names]
            yield pa.record_batch(columns, schema=schema)


def open_json_lines(path: Path, packing: str, types: Any) -> tuple[list[Column], JsonLinesSource]:
    """Open a file of JSON lines.

    Raises
    ------
    BadInput
        If no types are declared, or a compressed file is invalid.
    """
    declared = load_types(types)
    if not declared:
        rule = "is missing, and only declared types say which columns JSON lines have"
        remedy = 'declare all columns with types=…, such as {"age": "integer", "town": "text"}'
        raise BadInput("types", rule, remedy)
    check_names(list(declared))
    names = tuple(sorted(declared))
    first_bytes(path, 1, packing)
    return [Column(name, ColumnType.UNTYPED) for name in names], JsonLinesSource(path, names, packing)


def is_json_lines(path: Path) -> bool:
    """Tell by its ending whether a file, compressed or not, is read as JSON lines."""
    return Path(unpacked_name(path.name)).suffix.lower() in JSON_LINES


def read_record(line: bytes) -> dict[str, Any]:
    """Return what a line holds, numbers as they are written; nothing where it is no JSON object.

    Examples
    --------
    >>> read_record(b'{"age": 1e2, "name": "x"}')
    {'age': '1e2', 'name': 'x'}
    >>> read_record(b'{"age": 1e2')
    {}
    """
    try:
        text = line.decode()
        record = {} if _is_deep(text) else _DECODER.decode(text)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _refuse(_: str) -> NoReturn:
    raise ValueError("no JSON")


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse)


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else None


def _is_deep(text: str) -> bool:
    """Tell whether JSON is nested too deep; of what is no JSON, whatever is said, nothing is read.

    Of all brackets at once: one after the other, a record of a mebibyte of them would take longer than any other.
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    bare = np.frombuffer(_STRING.sub("", text).encode(), np.uint8)
    return int(np.cumsum(_STEPS[bare], dtype=np.int32).max(initial=0)) > DEEPEST


def _lines(source: JsonLinesSource, *, longest: int = LONGEST_RECORD, size: int = BLOCK) -> Iterator[list[bytes]]:
    """Yield the lines that are records, some at once; one that is too long is passed over without being held."""
    rest, dropping, place, last = b"", False, 0, False
    with opened(source.path, source.packing) as file:
        while not last:
            file.seek(place)
            data = file.read(size)
            place, last = place + len(data), len(data) < size
            lines = (rest + data).split(b"\n")
            rest = b"" if last else lines.pop()
            if dropping:
                dropping, rest = (False, rest) if lines else (True, b"")
                lines = lines[1:]
            if len(rest) > len(BOM) + longest + 1:  # a byte order mark and a CR are no part of a line
                dropping, rest = True, b""
            # At any line's beginning: a mark that only the first may have would be read by what stands before it.
            own = [line.removeprefix(BOM) for line in lines]
            yield [line for line in own if len(line.removesuffix(b"\r")) <= longest and line.strip(b" \t\r")]
