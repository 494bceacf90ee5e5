"""How a text file is read: which encoding, which delimiter, and from bytes to columns of text.

A CSV has no types, and guessing anything from the data would let one record change what every other means. So its
columns are untyped text, and nothing about the file is sniffed: the ending says the delimiter, and UTF-8 is read,
unless the data owner says otherwise. The first record is the header, which is public. `_tables/csv_records.py`
defines a record. A blank one, or one longer than `records.LONGEST_RECORD`, is skipped. Fields that a record lacks are
null, and fields that have no name are ignored. An empty value is null, and so is one that is not valid in the
encoding, because values that cannot be read are unknown. With a mark in place of its bytes, two names could become
one person.
"""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from .arrow_values import FEW, texts, whole_numbers
from .compressed import first_bytes, opened
from .csv_records import LONGEST_RECORD, Block, Bytes, Places, read_blocks, split
from .engine import guarded

if TYPE_CHECKING:
    import pyarrow as pa


DELIMITERS = {".csv": ",", ".tsv": "\t"}
_MARKS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
BOM = codecs.BOM_UTF8
_UTF_16 = ("written in UTF-16", "save it as UTF-8")
_JSON = ("JSON", "name it so that it ends in .jsonl if it holds one record a line, or save it as CSV")
_PAGE = ("a page or document of XML", "save the table as CSV")
_OTHER_FILES = (
    (codecs.BOM_UTF32_LE, "written in UTF-32", "save it as UTF-8"),
    (codecs.BOM_UTF16_LE, *_UTF_16),
    (codecs.BOM_UTF16_BE, *_UTF_16),
    (b"SQLite format 3\0", "a SQLite database", "write sqlite:///FILE#TABLE"),
    (b"PAR1\x15", "a Parquet file", "name it so that it ends in .parquet"),
    *((first, *_JSON) for first in (b'{"', b'{ "', b"[{", b"[ {", b'["', b"[[")),
    *((first, *_PAGE) for first in (b"<?xml", b"<!DOCTYPE", b"<!doctype", b"<html", b"<table")),
    (b"%PDF-", "a PDF", "save the table as CSV"),
    (b"version https://", "a pointer of Git LFS", "bring the file itself with git lfs pull"),
    (b"\xd0\xcf\x11\xe0", "a workbook of an old Excel", "save the sheet as CSV"),
    (b"PK\3\4", "a workbook or another zip archive", "save the sheet as CSV"),
    (b"\x1f\x8b", "a gzip file", "name it so that it ends in .csv.gz"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file", "name it so that it ends in .csv.zst"),
)
"""What no text file that is read begins with, in any encoding."""
_LONGEST_MARK = 16
_SEPARATOR_LINE = re.compile(rb'"?sep=.?"?\s*', re.IGNORECASE)
_LINE_BREAK = re.compile(r"\s*[\r\n]\s*")
_PROBES = (
    bytes(range(128)),
    bytes(range(127, -1, -1)),
    rb"\u0041\x41\N{DIGIT ONE}",
    b"xn--mnchen-3ya",
    b"+AGE- ~{!!~}",
    b"\x1b$B!!\x1b(B\x1b$)C\x0e!!\x0f",
)


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text file is written; public.

    Attributes
    ----------
    encoding : str
        Python's name of it; ASCII bytes mean in it what they mean in ASCII.
    delimiter : str
        One ASCII character.
    """

    encoding: str = "utf-8"
    delimiter: str = ","

    def facts(self, ending: str) -> dict[str, str]:
        """Return the differences from the default for a file of this ending; a link may have another ending."""
        usual = TextForm(delimiter=DELIMITERS.get(ending, DELIMITERS[".csv"]))
        names = ("encoding", "delimiter")
        return {name: getattr(self, name) for name in names if getattr(self, name) != getattr(usual, name)}

    def describe(self) -> str:
        """Say in words how the file is read, and what becomes of values in another encoding."""
        encoding = self.encoding.upper()
        mark = _MARKS.get(self.delimiter, repr(self.delimiter))
        return f"as {encoding} text, separated by {mark}; a value that is not {encoding} is unknown"


def read_form(ending: str, encoding: Any = None, delimiter: Any = None) -> TextForm:
    """Check the form that a text file of an ending is declared to have.

    Raises
    ------
    BadInput
        For an unknown encoding, and one in which bytes of ASCII have other meanings (UTF-16, UTF-7, ISO-2022). Also for
        a delimiter that is not one ASCII character or could be part of a value.
    """
    mark = DELIMITERS[ending] if delimiter is None else {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n\0':
        raise BadInput(
            "delimiter", "must be one ASCII character, and no letter, digit, quote or line end", "give , ; | or \\t"
        )
    rule, remedy = "is no text encoding that Iris can split into lines", "give utf-8, latin-1, windows-1252, ..."
    name = "utf-8" if encoding is None else encoding
    if not isinstance(name, str) or not guarded(lambda: _keeps_ascii(name, mark), rule, remedy, "encoding"):
        raise BadInput("encoding", rule, f"{remedy}, or save the file as UTF-8")
    name = codecs.lookup(name).name
    return TextForm("utf-8" if name in ("utf-8-sig", "ascii") else name, mark)


def refuse_form(encoding: Any, delimiter: Any, types: Any) -> None:
    """Refuse options of text files for other data."""
    for name, value in (("encoding", encoding), ("delimiter", delimiter), ("types", types)):
        if value is not None:
            where = ".csv, .tsv and .jsonl" if name == "types" else ".csv and .tsv"
            raise BadInput(name, f"belongs to {where} files", "leave it out")


def read_header(
    path: Path, form: TextForm, field: str, packing: str = "", *, sure: bool = False
) -> tuple[list[str], int, bool]:
    """Return the names in the first line, where the records start, and whether the names stand on one line.

    A nameless column is called by its place, column1, column2, ... Only the first line decides, so that no record can.

    Parameters
    ----------
    sure : bool
        Whether the delimiter was said, and not taken from the ending.

    Raises
    ------
    BadInput
        For a line that is not written properly, in the encoding, or ends by CR alone, and for a file of another kind.
        Also for data that another delimiter would split as often, except if a delimiter was given for several columns.
    """

    rule = f"has no header that can be read as {form.encoding.upper()} text"
    # Only how the data is written can be declared.
    other = ", or name its encoding, as in encoding='latin-1'" if field == "data" else ""
    remedy = f"save it as CSV, in UTF-8, with a header line{other}"
    begun = guarded(lambda: first_bytes(path, _LONGEST_MARK, packing), rule, remedy, field)
    for first, kind, better in _OTHER_FILES:
        if begun.startswith(first):
            raise BadInput(field, f"is {kind}, as its first bytes say", better)
    if b"\0" in begun.replace(b"\r", b"\n").partition(b"\n")[0]:  # of the header alone, whatever ends it
        raise BadInput(field, "has zero bytes in its header, as text in UTF-16 has", "save it as UTF-8")
    line, start = guarded(lambda: _first_line(path, form, packing), rule, remedy, field)
    if not line.strip() and start > len(line):
        rule = "begins with an empty line, and the first line is the header"
        raise BadInput(field, rule, "delete the lines above the names of columns")
    if _SEPARATOR_LINE.fullmatch(line):
        rule = "begins with a line sep=, as Excel writes it, in place of a header"
        raise BadInput(field, rule, 'delete that line, and name the delimiter, as in delimiter=";"')
    mark = _unsplit(line, form, sure) if field == "data" else None
    if mark is not None:
        said, own = ({"\t": "\\t"}.get(each, each) for each in (mark, form.delimiter))
        rule = f"has one column whose name holds {_MARKS[mark]}"
        remedy = f'write the name in double quotes if it is one column; else say delimiter="{said}"'
        if _parts(line, form) > 1:
            rule = f"has a header that {_MARKS[mark]} part, and {_MARKS.get(form.delimiter, repr(own))}, too"
            remedy = f'say which of them it is: delimiter="{said}" or delimiter="{own}"'
        raise BadInput(field, rule, remedy)
    for fault, better in _header_faults(line, form):
        raise BadInput(field, fault, better)
    names = guarded(lambda: _names(line, form), rule, remedy, field)
    plain = (_LINE_BREAK.sub(" ", name).strip() for name in names)
    return [name or f"column{index}" for index, name in enumerate(plain, 1)], start, b"\n" not in line


def _first_line(path: Path, form: TextForm, packing: str) -> tuple[bytes, int]:
    """Return the header without its line end, and where the records start.

    The header is one line, or several where a quoted name holds line breaks.
    """
    begun = first_bytes(path, len(BOM) + LONGEST_RECORD + 2, packing)
    start = len(BOM) if form.encoding == "utf-8" and begun.startswith(BOM) else 0
    begun = begun[start:]
    line = begun.partition(b"\n")[0]
    if line.count(b'"') % 2:  # a name may go on in the next line
        mark, nothing = ord(form.delimiter), lambda: None
        records = split(
            begun, len(begun), mark, field_start=True, last=True, longest=LONGEST_RECORD, close_beyond=nothing
        )
        whole = begun[: int(records.lengths[0])]
        names = (
            begun[start:end] for start, end in zip(records.starts[: records.counts[0]], records.ends, strict=False)
        )
        # A quote that was forgotten is not closed by a later record: such a name would hold delimiters.
        broken = [name for name in names if b"\n" in name]
        if broken and not any(form.delimiter.encode() in name for name in broken) and not _stray(whole, form):
            line = whole
    end = begun[len(line) : len(line) + 2]
    end = b"\r\n" if end == b"\r\n" else end[:1]
    return line.removesuffix(b"\r"), start + len(line) + len(end)


def _stray(line: bytes, form: TextForm) -> bool:
    """Tell whether a header holds a quote at the start of a name that does not close it."""
    try:
        _names(line, form)
    except ValueError as error:
        return not isinstance(error, UnicodeError)
    return False


def _header_faults(line: bytes, form: TextForm) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a header, and the remedy; none of its words, which may be those of a record."""
    if len(line) > LONGEST_RECORD:
        yield "has a header longer than 1 MiB", "save it as CSV, with a header line and one record a line"
    elif b"\r" in line.replace(b"\r\n", b""):
        rule = "has a header that ends in a carriage return alone, as in files of old Macintosh programs"
        yield rule, "save it again with line ends of Windows or Unix"
    elif _stray(line, form):
        rule = "has a double quote in its header that opens a name and does not close it"
        yield rule, 'close the quote before the delimiter, or write it twice within quotes: "a ""b"" c"'


def _names(line: bytes, form: TextForm) -> list[str]:
    found = [(values, len(firsts)) for values, firsts, _ in _strict_blocks(io.BytesIO(line), 0, form) if len(firsts)]
    if sum(records for _, records in found) > 1:
        raise ValueError("several lines")
    return found[0][0] if found else []


def _parts(line: bytes, form: TextForm) -> int:
    """Count the names of a header; none where it cannot be read."""
    try:
        return len(_names(line, form))
    except ValueError:
        return 0


def _unsplit(line: bytes, form: TextForm, sure: bool) -> str | None:
    """Return the mark that splits a header as often as its delimiter does, which nobody said, or which splits none."""
    own, declared = _parts(line, form), line.count(form.delimiter.encode())
    least = own if own > 1 else max(1, declared) + 1
    marks = (mark for mark in _MARKS if mark != form.delimiter and _parts(line, replace(form, delimiter=mark)) >= least)
    return None if sure and own > 1 else next(marks, None)


def read_columns(path: Path, form: TextForm, field: str) -> tuple[list[str], list[list[str]]]:
    """Return the header and the columns of a public file, in which anything malformed is an error.

    Raises
    ------
    BadInput
        For a row of another length than the header, a quote that is not closed, and what is not valid in the encoding.
    """
    names, start, _ = read_header(path, form, field)

    def blocks() -> list[tuple[list[str], Places, Places]]:
        with path.open("rb") as file:
            return list(_strict_blocks(file, start, form))

    guarded_blocks = guarded(blocks, f"is not written as CSV in {form.encoding.upper()}", "save it again as CSV", field)
    if any((counts != len(names)).any() for _, _, counts in guarded_blocks):
        raise BadInput(field, "has a line with the wrong number of values", "give one value per column")
    return names, [
        [values[first + index] for values, firsts, _ in guarded_blocks for first in firsts.tolist()]
        for index in range(len(names))
    ]


def batches(
    path: Path,
    start: int,
    form: TextForm,
    places: Sequence[int],
    schema: pa.Schema,
    *,
    packing: str = "",
    **sizes: int,
) -> Iterator[pa.RecordBatch]:
    """Yield the records as batches of text, null where a value is empty or not valid in the encoding.

    Parameters
    ----------
    start : int
        Where the records start.
    places : sequence of int
        The columns wanted.
    packing : str
        How the file is compressed; see `packed.opened`.
    """
    import pyarrow as pa

    with opened(path, packing) as file:
        for block in read_blocks(file, start, ord(form.delimiter), **sizes):
            kept = block.kept
            if len(kept):
                if len(kept) <= FEW:
                    columns = [_few(block, kept, place, form.encoding) for place in places]
                else:
                    pieces = _pieces(block)
                    columns = [_column(block, pieces, kept, place, form.encoding) for place in places]
                yield pa.record_batch(columns, schema=schema)


def _fields(block: Block, kept: Places, place: int) -> tuple[Places, NDArray[np.bool_]]:
    """Return the field of each record in a column, and whether the record has it; the first field where it has not."""
    firsts, there = block.fields.firsts[kept], block.fields.counts[kept] > place
    return firsts + np.where(there, place, 0), there


def _few(block: Block, kept: Places, place: int, encoding: str) -> pa.Array:
    """Return a column of few records as `_column` does, one by one."""
    fields, there = _fields(block, kept, place)
    few: list[str | None] = []
    spans = (of[fields].tolist() for of in (block.fields.starts, block.fields.ends, block.fields.escaped))
    for start, end, doubled, is_there in zip(*spans, there.tolist(), strict=True):
        value = bytes(block.data[start:end]) if is_there else b""
        few.append(_decoded(value.replace(b'""', b'"') if doubled else value, encoding) if value else None)
    return texts(few)


def _pieces(block: Block) -> pa.Array:
    """View the block as fields, in even places, and what stands between them, in odd ones."""
    import pyarrow as pa

    offsets = np.stack([block.fields.starts, block.fields.ends], axis=1).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(block.data)]
    return pa.Array.from_buffers(pa.binary(), offsets.size - 1, buffers)


def _column(block: Block, pieces: pa.Array, kept: Places, place: int, encoding: str) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    fields, there = _fields(block, kept, place)
    empty = (block.fields.starts[fields] == block.fields.ends[fields]) | ~there
    values = pieces.take(whole_numbers(2 * fields, empty if empty.any() else None))
    doubled = block.fields.escaped[fields] & there
    if doubled.any():
        single = pc.replace_substring(values.filter(doubled), b'""', b'"')
        values = pc.replace_with_mask(values, doubled, single)
    text = values.view(pa.string())
    if block.data.isascii() or (encoding == "utf-8" and _is_valid(text)):
        return text
    other = pc.fill_null(pc.invert(pc.string_is_ascii(text)), False)
    decoded = [_decoded(value, encoding) for value in values.filter(other).to_pylist()]
    return pc.replace_with_mask(text, other, pa.array(decoded, pa.string()))


def _is_valid(text: pa.Array) -> bool:
    try:
        text.validate(full=True)
    except ValueError:
        return False
    return True


def _decoded(value: bytes, encoding: str) -> str | None:
    try:
        return value.decode(encoding)
    except ValueError:
        return None


def _strict_blocks(file: Bytes, start: int, form: TextForm) -> Iterator[tuple[list[str], Places, Places]]:
    """Yield the fields of each block, and the first field and the number of fields of each of its records."""
    for block in read_blocks(file, start, ord(form.delimiter)):
        if not block.flawless:
            raise ValueError("malformed")
        fields = block.fields
        ends = zip(fields.starts.tolist(), fields.ends.tolist(), strict=True)
        if block.data.isascii():  # which every encoding that is read keeps
            whole = block.data.decode("ascii")
            texts = [whole[start:end] for start, end in ends]
        else:
            texts = [block.data[start:end].decode(form.encoding) for start, end in ends]
        for place in np.flatnonzero(fields.escaped).tolist():
            texts[place] = texts[place].replace('""', '"')
        yield texts, fields.firsts[block.kept], fields.counts[block.kept]


def _keeps_ascii(name: str, delimiter: str) -> bool:
    """Tell whether a codec of text reads ASCII bytes as ASCII wherever they stand, so that lines can be split first."""
    if not codecs.lookup(name)._is_text_encoding:
        return False
    marks = [*'"\r\n', delimiter]
    after = [
        (bytes([lead]) + mark.encode()).decode(name, "replace")[-1:] == mark
        for lead in range(128, 256)
        for mark in marks
    ]
    return all(probe.decode(name) == probe.decode("ascii") for probe in _PROBES) and all(after)
