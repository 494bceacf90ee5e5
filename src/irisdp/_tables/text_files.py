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
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._options import SPELLED, WRITTEN
from ..errors import BadInput
from .arrow_values import FEW, texts, whole_numbers
from .columns import list_names
from .compressed import first_bytes, opened
from .csv_records import LONGEST_RECORD, QUOTE, Block, Bytes, Places, read_blocks, split
from .engine import guarded
from .spellings import split_codes

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
    skip_rows : int
        Lines above the header.
    header_rows : int
        Rows of the header, of which the first names the columns; 0 if the file has none.
    columns : tuple of str
        The names of the columns of a file without a header.
    row_names : bool
        Whether each record begins with a field that is no column.
    comment : str
        What a record begins with that is a comment, and is dropped; empty if none is.
    footer_rows : int
        Rows at the end that are no records; blank ones do not count.
    codes : bool
        Whether the codes of a statistics program are kept, and not replaced by their labels.
    sheet : str
        The sheet of a workbook that has several.
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    skip_rows: int = 0
    header_rows: int = 1
    columns: tuple[str, ...] = ()
    row_names: bool = False
    comment: str = ""
    footer_rows: int = 0
    codes: bool = False
    sheet: str = ""

    def facts(self, ending: str) -> dict[str, Any]:
        """Return the differences from the default for a file of this ending; a link may have another ending."""
        usual = TextForm(delimiter=DELIMITERS.get(ending, DELIMITERS[".csv"]))
        differ = {each.name: getattr(self, each.name) for each in fields(self)}
        facts = {name: value for name, value in differ.items() if value != getattr(usual, name)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}

    def describe(self) -> str:
        """Say in words how the file is read, and what becomes of values in another encoding."""
        encoding = self.encoding.upper()
        mark = _MARKS.get(self.delimiter, repr(self.delimiter))
        said = f"as {encoding} text, separated by {mark}; a value that is not {encoding} is null"
        return "; ".join([said, *self.describe_rows()])

    def describe_rows(self) -> list[str]:
        """Say in words which rows are records."""
        parts = []
        if self.skip_rows:
            parts.append(f"the first {_rows(self.skip_rows)} skipped")
        if self.columns:
            parts.append(f"without a header, with the columns {list_names(self.columns)}")
        if self.header_rows > 1:
            parts.append(f"{_rows(self.header_rows)} of header")
        if self.row_names:
            parts.append("the first value of a record is its name, and no column")
        if self.comment:
            parts.append(f"records that begin with {self.comment} skipped")
        if self.footer_rows:
            parts.append(f"the last {_rows(self.footer_rows)} skipped")
        return parts


def _rows(number: int) -> str:
    return "row" if number == 1 else f"{number} rows"


_MOST_ROWS = 100
"""Rows of a header or a footer; a footer is held in memory."""
_MOST_SKIPPED = 10_000


def read_form(ending: str, encoding: Any = None, delimiter: Any = None, **written: Any) -> TextForm:
    """Check the form that a text file of an ending is declared to have.

    Parameters
    ----------
    ending, encoding, delimiter : str
    **written
        The other options `WRITTEN`, of which those that say how values are written are not looked at.

    Raises
    ------
    BadInput
        For an unknown encoding, and one in which bytes of ASCII have other meanings (UTF-16, UTF-7, ISO-2022). Also for
        a delimiter that is not one ASCII character or could be part of a value, and rows that cannot be or contradict
        each other.
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
    form = TextForm("utf-8" if name in ("utf-8-sig", "ascii") else name, mark)
    return replace(form, **_structure(written, mark))


def _structure(written: Mapping[str, Any], delimiter: str) -> dict[str, Any]:
    """Check which lines of a text file are declared to be records."""
    comment = written.get("comment")
    if comment is not None and not (
        isinstance(comment, str)
        and 0 < len(comment) <= _LONGEST_COMMENT
        and all("!" <= letter <= "~" for letter in comment)
        and not comment[0].isalnum()
        and not set(comment) & {'"', delimiter}
    ):
        rule = f"must be 1 to {_LONGEST_COMMENT} ASCII characters, of which the first is no letter or digit"
        raise BadInput("comment", rule, "write for example # or //, and not the delimiter or a double quote")
    found = {
        "skip_rows": _whole(written.get("skip_rows"), "skip_rows", 0, _MOST_SKIPPED, 0),
        "header_rows": _whole(written.get("header_rows"), "header_rows", 1, _MOST_ROWS, 1),
        "footer_rows": _whole(written.get("footer_rows"), "footer_rows", 0, _MOST_ROWS, 0),
        "row_names": _switch(written.get("row_names"), "row_names"),
        "comment": comment or "",
        "codes": _switch(written.get("codes"), "codes"),
    }
    columns = _columns(written.get("columns"))
    if not _switch(written.get("no_header"), "no_header"):
        if columns:
            raise BadInput("columns", "names the columns of a file without a header", "add no_header=True")
        return found
    if written.get("header_rows") is not None:
        raise BadInput(
            "header_rows", "is for a file with a header, and no_header= says that it has none", "leave it out"
        )
    if not columns:
        raise BadInput(
            "columns", "is missing, and a file without a header does not name its columns", "give columns='a,b,c'"
        )
    return {**found, "header_rows": 0, "columns": columns}


_LONGEST_COMMENT = 8


def _whole(value: Any, name: str, least: int, most: int, usual: int) -> int:
    if value is None:
        return usual
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit() and len(value) < _MOST_ROWS:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadInput(
            name, f"must be a whole number from {least} to {most:,}", f"write for example {name}={least + 1}"
        )
    return value


def _switch(value: Any, name: str) -> bool:
    if value not in (None, True, False):
        raise BadInput(name, "must be true or false", "write true, or leave it out")
    return bool(value)


def _columns(value: Any) -> tuple[str, ...]:
    names = split_codes(value) if isinstance(value, str) else value or ()
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise BadInput("columns", "must be a list of names", "write for example columns='age,town'")
    return tuple(names)


def refuse_form(written: Mapping[str, Any], types: Any = None) -> None:
    """Refuse options of text files for other data."""
    for name, value in (*((name, written.get(name)) for name in WRITTEN), ("types", types)):
        if value is not None and value is not False:
            where = ".csv, .tsv and .jsonl" if name == "types" else ".csv and .tsv"
            remedy = "leave it out"
            if name in SPELLED and types is None:
                remedy += ", or declare it column by column with types= where columns are text"
            raise BadInput(name, f"belongs to {where} files", remedy)


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
    if form.columns and not form.skip_rows:  # a record stands first, and no record decides whether there is an answer
        begun = b""
    for first, kind, better in _OTHER_FILES:
        if begun.startswith(first):
            raise BadInput(field, f"is {kind}, as its first bytes say", better)
    if b"\0" in begun.replace(b"\r", b"\n").partition(b"\n")[0]:  # of the header alone, whatever ends it
        raise BadInput(field, "has zero bytes in its header, as text in UTF-16 has", "save it as UTF-8")
    line, start, is_empty = guarded(lambda: _first_line(path, form, packing), rule, remedy, field)
    if form.columns:
        return list(form.columns), start, True
    if is_empty:
        rule = "begins with an empty line, and the first line is the header"
        if form.skip_rows or form.comment:
            rule = "has an empty line, or none, where its header is declared to be"
        raise BadInput(field, rule, "skip the lines above the names of columns, as in skip_rows=1")
    if _SEPARATOR_LINE.fullmatch(line):
        rule = "begins with a line sep=, as Excel writes it, in place of a header"
        raise BadInput(field, rule, 'skip that line, and name the delimiter, as in skip_rows=1, delimiter=";"')
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
    plain = [_LINE_BREAK.sub(" ", name).strip() for name in names]
    if form.row_names and plain[:1] == [""]:  # R names the row names so, or not at all
        plain = plain[1:]
    return [name or f"column{index}" for index, name in enumerate(plain, 1)], start, b"\n" not in line


def _first_line(path: Path, form: TextForm, packing: str) -> tuple[bytes, int, bool]:
    """Return the header without its line end, where the records start, and whether an empty line stands for a header.

    The header is one line, or several where a quoted name holds line breaks. What stands above it is lines, whatever
    quotes they hold, and further rows of it are records.
    """
    begun = first_bytes(path, len(BOM) + LONGEST_RECORD + 2, packing)
    start = len(BOM) if form.encoding == "utf-8" and begun.startswith(BOM) else 0
    begun = begun[start:]
    above = 0
    for _ in range(form.skip_rows):
        above += len(begun[above:].partition(b"\n")[0]) + 1
    mark = form.comment.encode()
    while mark and not form.columns and begun.startswith(mark, above):
        above += len(begun[above:].partition(b"\n")[0]) + 1
    above = min(above, len(begun))
    begun, start = begun[above:], start + above
    if form.columns:
        return b"", start, False
    line = _header_line(begun, form)
    after = len(line) + len(_line_end(begun[len(line) :]))
    for _ in range(form.header_rows - 1):
        row = _first_row(begun[after:], form)
        after += row + len(_line_end(begun[after + row :]))
    line = line.removesuffix(b"\r")
    return line, start + after, not line.strip() and (start + after > len(line) or above > 0)


def _line_end(rest: bytes) -> bytes:
    return b"\r\n" if rest[:2] == b"\r\n" else rest[:1]


def _first_row(begun: bytes, form: TextForm) -> int:
    """Return the bytes of the first record, without its line end."""
    records = split(
        begun,
        len(begun),
        ord(form.delimiter),
        field_start=True,
        last=True,
        longest=LONGEST_RECORD,
        close_beyond=lambda: None,
    )
    return int(records.lengths[0]) if len(records.lengths) else 0


def _header_line(begun: bytes, form: TextForm) -> bytes:
    """Return the first line with the names, which a quoted name may continue."""
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
    return line


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

    encoding = form.encoding.upper()
    guarded_blocks = guarded(
        blocks, f"is not written as CSV in {encoding}", f"save it again as CSV in {encoding}", field
    )
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

    first = int(form.row_names)
    places = [place + first for place in places]
    with opened(path, packing) as file:
        for block in records_of(read_blocks(file, start, ord(form.delimiter), **sizes), form):
            if len(block.kept):
                yield to_batch(block, places, form.encoding, schema)


def to_batch(block: Block, places: Sequence[int], encoding: str, schema: pa.Schema) -> pa.RecordBatch:
    """Return some fields of the records of a block as columns of text."""
    import pyarrow as pa

    kept = block.kept
    if len(kept) <= FEW:
        columns = [_few(block, kept, place, encoding) for place in places]
    else:
        pieces = _pieces(block)
        columns = [_column(block, pieces, kept, place, encoding) for place in places]
    return pa.record_batch(columns, schema=schema)


def records_of(blocks: Iterator[Block], form: TextForm) -> Iterator[Block]:
    """Leave out the records that are comments, and as many at the end as are declared to be none.

    One record more or less, wherever it stands, is one more or less of those that are left: of a list without its last
    N entries one entry differs, whatever these are (docs/decisions/text-files.md).
    """
    mark = np.frombuffer(form.comment.encode(), np.uint8)
    waiting: deque[Block] = deque()
    held = 0
    for block in blocks:
        kept = block.kept[~_begin_with(block, mark)[block.kept]] if len(mark) else block.kept
        if not len(kept):
            continue
        waiting.append(replace(block, kept=kept))
        held += len(kept)
        while held - len(waiting[0].kept) >= form.footer_rows:
            held -= len(waiting[0].kept)
            yield waiting.popleft()
            if not waiting:
                break
    for block in waiting:
        yield replace(block, kept=block.kept[: max(0, held - form.footer_rows)])
        held -= len(block.kept)


def _begin_with(block: Block, mark: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Tell which rows of a block begin with a mark; not within quotes."""
    data = np.frombuffer(block.data, np.uint8)
    starts = block.fields.starts[block.fields.firsts]
    found: NDArray[np.bool_] = (block.fields.lengths >= len(mark)) & (
        (starts == 0) | (data[np.maximum(starts, 1) - 1] != QUOTE)
    )
    for place, byte in enumerate(mark.tolist()):
        found &= data[np.minimum(starts + place, len(data) - 1)] == byte
    return found


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
