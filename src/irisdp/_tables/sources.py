"""Tables in files, by their endings: `text` reads CSV and TSV, `json_lines` JSON lines, and `parquet` Parquet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .arrow_values import text_schema
from .books import BOOKS, CODES, STATISTICS, WORKBOOKS, check_library, choose_sheet, is_book, read_with, sheets_of
from .columns import Column, ColumnType, check_names, distinct_names
from .compressed import digest_of, without_faults
from .engine import Embedded, check_readable, guarded, streaming_connection
from .json_lines import JSON_LINES, JsonLinesSource, open_json_lines
from .locations import PACKINGS, Location, is_address, location_of, names_several, packing_of, unpacked_name
from .parquet import ParquetSource, open_parquet
from .servers import is_on_server
from .text_files import DELIMITERS, TextForm, batches, read_form, read_header, refuse_form

if TYPE_CHECKING:
    import duckdb

    from .parquet import FolderSource
    from .postgresql import ServerSource
    from .sqlite import SqliteSource


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
        if is_book(self.packing):  # of the file itself: a library may write what it holds otherwise one day
            return digest_of(self.path, "", _ending(self.path))
        return digest_of(self.path, self.packing, _ending(self.path))

    @property
    def location(self) -> Location:
        """Where the file lies."""
        return location_of(self.path)

    @property
    def form_facts(self) -> dict[str, Any]:
        """What was declared of how it is written, where that is not as usual."""
        facts = self.form.facts(_ending(self.path))
        return facts | ({"library": read_with(self.packing.split()[0])} if is_book(self.packing) else {})

    @property
    def reading(self) -> str:
        """How it is read, in words."""
        if not is_book(self.packing):
            return self.form.describe()
        ending = self.packing.split()[0]
        sheet = f"the sheet {self.form.sheet!r}" if self.form.sheet else "the sheet"
        said = f"from {sheet} of a workbook; a formula that failed is null"
        if ending in STATISTICS:
            said = f"from a {ending} file, by its {'codes' if self.form.codes else 'labels where codes have any'}"
        return "; ".join([said, *self.form.describe_rows()])

    def connect(self, names: Sequence[str]) -> duckdb.DuckDBPyConnection:
        """Return a locked connection in which `data` is a stream (to be read once) of the named columns."""
        schema = text_schema(names)
        places = [self.names.index(name) for name in names]
        stream = batches(self.path, self.start, self.form, places, schema, packing=self.packing)
        return streaming_connection(schema, stream)


_EXCEL = "save the sheet as CSV in UTF-8, or pass the frame that pandas.read_excel returns to irisdp.publish"
_STATISTICS = "export it as CSV, or pass the frame that pandas.{} returns to irisdp.publish"
_R = "in R, type write.csv(table, 'data.csv', row.names = FALSE)"
_TEXT = (
    "copy it to a file that ends in .csv, and name what separates its values, as in delimiter=';' or delimiter='tab'"
)
_UNPACK = "unpack it, or compress the .csv file as .csv.gz or .csv.zst"
_ARROW = "write it as Parquet with pyarrow.parquet.write_table, or pass the table to irisdp.publish"

_REMEDIES = {
    **dict.fromkeys((".xls", ".xlsb", ".ods"), _EXCEL),
    ".por": _STATISTICS.format("read_spss"),
    **dict.fromkeys((".sas7bdat", ".xpt"), _STATISTICS.format("read_sas")),
    **dict.fromkeys((".rds", ".rda", ".rdata"), _R),
    **dict.fromkeys((".txt", ".dat", ".asc", ".psv", ".text"), _TEXT),
    ".tab": "copy it to a file that ends in .tsv, if tabs separate its values",
    **dict.fromkeys((".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".rar"), _UNPACK),
    **dict.fromkeys((".feather", ".arrow", ".ipc", ".orc"), _ARROW),
    **dict.fromkeys((".pkl", ".pickle", ".h5", ".hdf5"), "pass the frame that it holds to irisdp.publish"),
    ".json": "write one object a line, to a file that ends in .jsonl",
    ".pq": "rename it to end in .parquet",
    **dict.fromkeys((".db", ".sqlite", ".sqlite3", ".db3"), "write sqlite:///FILE#TABLE for a table in SQLite"),
    **dict.fromkeys((".duckdb", ".ddb"), "pass the relation that duckdb.connect(FILE).table(NAME) returns"),
}
"""What to do with a file of another format, by its ending."""

_NOTHING: Mapping[str, Any] = {}
_OWN = "give a .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file"


def open_file(
    text: str, written: Mapping[str, Any] = _NOTHING, types: Any = None, *, any_names: bool = False
) -> tuple[list[Column], FolderSource | JsonLinesSource | ParquetSource | ServerSource | SqliteSource | TextSource]:
    """Open a file by its ending (.csv, .tsv or .jsonl, compressed too, .parquet, .xlsx, …), a folder, or a database.

    Parameters
    ----------
    written : mapping
        How a text file is written: the options `WRITTEN` of `text_files`.
    types : mapping or path, optional
        The columns of JSON lines; refused of a Parquet file, whose format says what its columns are.
    any_names : bool
        Whether names in a header that cannot be those of columns are replaced, and not refused.

    Raises
    ------
    BadInput
        For a path that is no readable file of such an ending, and a header that cannot be read.
    """
    if is_on_server(text):
        refuse_form(written, types)
        if not is_address(text):
            raise BadInput("data", "is the address of a server, given as a path", "give it as text")
        from .postgresql import open_server_table

        return open_server_table(text)
    if is_address(text):
        from .sqlite import open_sqlite

        refuse_form(written)
        return open_sqlite(text)
    if guarded(lambda: names_several(text), "is not a usable path", "give the path of a file"):
        from .parquet import open_folder

        refuse_form(written)
        return open_folder(text)
    packing = packing_of(text)
    ending = PurePath(unpacked_name(text)).suffix.lower()
    if ending not in (*DELIMITERS, *JSON_LINES, *(() if packing else BOOKS)) and (packing or ending != ".parquet"):
        if not ending and text.strip() not in ("", "-") and _is_missing(text):
            # Not quoted: it may hold a password.
            raise BadInput("data", "finds no file and no folder of this name", "check the path")
        raise _not_read(text, ending, packing)
    # A path cannot be longer than the system allows, hold a NUL byte, or lie in a folder that may not be entered.
    path = guarded(lambda: Path(text).expanduser().resolve(), "is not a usable path", "give the path of a file")
    if not guarded(path.is_file, "is not a usable path", "give the path of a file"):
        raise BadInput("data", f"finds no file at {text!r}", _other_ending(path) or "give the path of an existing file")
    check_readable(path)
    if set(str(path)) & set("*?["):
        raise BadInput("data", "has a path with one of * ? [, which would match several files", "rename the file")
    if ending == ".parquet":
        refuse_form(written, types)
        return open_parquet(path)
    if ending in JSON_LINES:
        refuse_form(written)
        return open_json_lines(path, packing, types)
    if ending in BOOKS:
        return _open_book(path, ending, written, any_names=any_names)
    _refuse_option_of_books(ending, written)
    form = read_form(ending, **written)
    return _open_text(path, form, packing, sure=written.get("delimiter") is not None, any_names=any_names)


def _open_book(
    path: Path, ending: str, written: Mapping[str, Any], *, any_names: bool
) -> tuple[list[Column], TextSource]:
    """Open a workbook or a file of a statistics program, whose library says how its values are written."""
    for name in ("encoding", "delimiter", "decimal", "thousands"):
        if written.get(name) is not None:
            raise BadInput(
                name,
                f"belongs to .csv and .tsv files, and {ending} files need no {name}",
                "leave it out; in a project file, give this table a project file of its own with project=",
            )
    _refuse_option_of_books(ending, written)
    check_library(ending)
    form = read_form(".csv", **written)
    packing = f"{ending} {CODES}" if form.codes else ending
    if ending in WORKBOOKS:
        names = without_faults(lambda: sheets_of(path), ending)
        sheet = choose_sheet(names, written.get("sheet"))
        # Of one sheet the name makes no other question.
        form, packing = replace(form, sheet=sheet if len(names) > 1 else ""), f"{ending} {sheet}"
    return _open_text(path, form, packing, sure=True, any_names=any_names)


def _refuse_option_of_books(ending: str, written: Mapping[str, Any]) -> None:
    if written.get("codes") and ending not in STATISTICS:
        raise BadInput("codes", "keeps the codes of .dta and .sav files", "leave it out")
    if written.get("sheet") is not None and ending not in WORKBOOKS:
        raise BadInput("sheet", "names a sheet of an .xlsx workbook", "leave it out")


def _is_missing(text: str) -> bool:
    """Tell whether nothing lies at a path, nor may do so unseen."""
    try:
        return not os.path.lexists(os.path.expanduser(text))
    except (OSError, ValueError):
        return False


def _not_read(text: str, ending: str, packing: str) -> BadInput:
    """Return the error for a file of another format, with what to do for it to be read."""
    if text.strip() in ("-", "/dev/stdin"):
        rule = "cannot be standard input, as Iris keeps a ledger of each file"
        return BadInput("data", rule, "save the records to a .csv file, and name that")
    kind = ending.partition("#")[0]
    if packing and ending == ".parquet":
        return BadInput("data", f"cannot read a file that ends in {(ending + packing)!r}", "unpack it")
    remedy = _REMEDIES.get(kind)
    rule = f"cannot read a file that ends in {(ending + packing)!r}"
    if not ending:
        rule = "has a name without an ending, which would tell its format"  # not quoted: it may hold a password
    return BadInput("data", rule, f"{_OWN}: {remedy}" if remedy else _OWN)


def _open_text(
    path: Path, form: TextForm, packing: str, *, sure: bool, any_names: bool
) -> tuple[list[Column], TextSource]:
    names, start, is_one_line = read_header(path, form, "data", packing, sure=sure)
    if any_names and not form.columns:
        names = distinct_names(names)
    check_names(names, first_line=not form.columns)
    # A quote in a record may have closed a name that goes over lines.
    return [Column(name, ColumnType.UNTYPED, is_shown=is_one_line) for name in names], TextSource(
        path, form, tuple(names), start, packing
    )


def _other_ending(path: Path) -> str:
    """Ask whether what lies there compressed, or unpacked, is meant; it would be the same table."""
    near = [path.with_name(path.name + packing) for packing in PACKINGS] + [path.with_name(unpacked_name(path.name))]
    others = [other.name for other in near if other != path and other.is_file()]
    return f"did you mean {' or '.join(map(repr, others))}?" if others else ""


def _ending(path: Path) -> str:
    """Return the ending of what a file holds, links followed."""
    return PurePath(unpacked_name(path.name)).suffix.lower()
