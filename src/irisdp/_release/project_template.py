"""`irisdp init DATA`: a project file to fill in, written from the names and types of the columns alone.

No value of any record may be in it: values read off the data would reveal who is in it. So every line that could change
an answer is a comment, for the data owner to decide about.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack, cast

from .._exact import checked, file_path, toml_value
from .._files import plan_outputs, write_outputs
from .._ledger import find_ledger, names_of_data, secret_file
from .._tables import (
    NO_HEADER,
    Column,
    ColumnType,
    Table,
    fitting_types,
    is_json_lines,
    load_types,
    names_are_public,
    names_people,
    open_table,
    types_file,
)
from ..errors import BadInput
from .options import FileOptions, with_options
from .project import ENDING

_EXAMPLES = {
    ColumnType.INTEGER: "[0, 1, 2]",
    ColumnType.NUMBER: "[0.5, 1.5]",
    ColumnType.BOOLEAN: "[true, false]",
    ColumnType.DATE: "[2000-01-01, 2000-01-02]",
}
_WORDS = {
    ColumnType.DATE: "a date or a timestamp",
    ColumnType.UNTYPED: "untyped, and read as what a question takes it for",
}
"""Of kinds that hold more than their own name says."""

_LETTERS = '["A", "B", "C"]'


@checked
@with_options(FileOptions)
def init_project(
    data: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    check: bool = False,
    **written: Unpack[FileOptions],
) -> Path:
    """Write a project file for a table, all of it comments, from its header, schema or types alone.

    No record is read, unless `check` asks for it.

    Parameters
    ----------
    data : path
        A .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file, or the address of a table on a server. The
        project repeats the options given here. JSON lines need `types`.
    out : path, optional
        Path of the project file. [default: `NAME.iris.toml` next to the data, where `irisdp.publish` finds it] Required
        for a table on a server.
    force : bool
        Overwrite an existing project file. The data is never overwritten.
    check : bool
        Whether to read all records, and to write the types that fit every value of a column. The project then depends
        on records, and it is public: look at it before others do.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    BadInput
        For data that cannot be read, and a place that cannot be written to.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> data = pathlib.Path(tempfile.mkdtemp(), "survey.csv")
    >>> _ = data.write_text("age,town\\n70,Ely\\n")
    >>> init_project(data).name
    'survey.iris.toml'
    """
    types = written.get("types")
    table = open_table(data, **cast(dict[str, Any], written))
    if not names_are_public(table.columns):
        remedy = f"if lines stand above the header, add skip_rows= (irisdp check says how many); else {NO_HEADER}"
        raise BadInput("data", "has no header that can be written into a project file", remedy)
    if table.called is None:
        raise BadInput(
            "data",
            "must be a file: a frame has no folder to keep it in",
            "give a .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file",
        )
    if table.location is None and out is None:
        rule = "is missing, and a table on a server has no folder to keep it in"
        raise BadInput("out", rule, "name a file with out=, such as out='visits.iris.toml'")
    declared = types_file(types)
    kept: list[tuple[str, Any]] = [] if declared is None else [("the types", declared)]
    if table.location is not None:
        ledger = find_ledger(table, None).place
        kept += [*names_of_data(table.location), ("the ledger", ledger)]
        kept.append(("the secret", secret_file(table.location.path)))
    target = table.location.beside(ENDING) if table.location and out is None else file_path(out, "out")
    if out is None and os.path.lexists(target) and not force:
        rule = f"has a project file already, {target}"
        raise BadInput("data", rule, "fill that in, add force=True to replace it, or name another file with out=…")
    (output,) = plan_outputs([target], kept, field="data" if out is None else "out", force=force)
    data_name = table.location.path.name if table.location else table.called
    fitting = fitting_types(table) if check else {}
    text = "".join(f"{line}\n" for line in _lines(table, data_name, target.name, written, fitting))
    write_outputs([(output, text.encode())])
    return target


def _lines(table: Table, data: str, name: str, written: Mapping[str, Any], fitting: Mapping[str, str]) -> Iterable[str]:
    columns = table.columns
    people = next((column.name for column in columns if names_people(column.name)), None)
    shown = data if data.isprintable() else "the data"
    yield f"# What irisdp takes for granted about {shown}: relation, unit and limit are promises."
    if fitting:
        yield "# The types were chosen by a look at all records, so check that they are no secret; this file is public."
        yield "# All else was written from the names of the columns. Lines that begin with # say nothing yet."
    else:
        said = "Written from the names of the columns alone; no record was read"
        yield f"# {said}. Lines that begin with # say nothing yet."
    if table.location is None:
        yield "# It is named with each question: there is no place beside the data. It is public, as is"
    else:
        yield f"# Beside the data it is found as {name}, elsewhere it is named with each question. It is public, as is"
    yield "# every value in it: write what you know without the data, such as the codes of a questionnaire."
    yield ""
    yield "# Which tables must be hard to tell apart: those with one record more or less, or with one record exchanged."
    yield '#relation = "add-remove"  # or "exchange"'
    yield ""
    yield "# The column that says whose record it is, where a person can have several: then persons are protected."
    unsure = "" if people else "  # only the first column: none is called so that it seems to say that"
    yield f"#unit = {toml_value(people or columns[0].name)}{unsure}"
    yield ""
    yield "# How many records of each person count, where a question does not say; further records are left out."
    yield "#at_most = 1"
    yield ""
    yield from _limit_and_lookup(columns)
    if table.reading and not (table.location and table.location.inner):
        yield from _text(table, written, fitting)
    else:
        yield f"# The columns, with the types that the {'table' if table.location is None else 'file'} has:"
        yield from (f"#   {column.name}: {_WORDS.get(column.kind, column.kind)}" for column in columns)
    yield ""
    yield "# The values that a question about a column is answered with, where it names none itself."
    yield "[categories]"
    yield from _examples(columns)
    yield ""
    yield "# The groups by a column, where a question names none itself; of several columns, all combinations."
    yield "[groups]"
    yield from _examples(columns)
    yield ""
    yield "# What readers of reports and charts see instead of names: a title, and labels of columns and of queries."
    yield "[labels]"
    yield '#title = "A heading"'
    yield "[labels.columns]"
    yield from (f'#{toml_value(column.name)} = "What readers see"' for column in columns)


def _limit_and_lookup(columns: Sequence[Column]) -> Iterable[str]:
    yield "# The most that may ever be spent: ε, or ε and δ; or a ledger in other currency, mu=1 or rho=1/2."
    yield '#limit = "1,1e-6"'
    yield ""
    yield "# The ledger, where it does not lie beside the data: a file, or an address without a password."
    yield '#ledger = "postgresql://db.example/iris?schema=survey"'
    yield ""
    yield "# A public table whose columns are joined to the records, and the column of both that is its key."
    yield '#lookup = "lookup.csv"'
    yield f"#on = {toml_value(columns[0].name)}"
    yield ""


_FORMS = {
    "encoding": '"latin-1"',
    "delimiter": '";"',
    "decimal": '","',
    "thousands": '"."',
    "date_format": '"%d.%m.%Y"',
    "missing_codes": '["-9", "99"]',
    "skip_rows": "1",
    "header_rows": "2",
    "footer_rows": "1",
    "no_header": "true",
    "columns": '["age", "town"]',
    "row_names": "true",
    "comment": '"#"',
    "codes": "true",
    "sheet": '"Sheet1"',
}


def _text(table: Table, written: Mapping[str, Any], fitting: Mapping[str, str]) -> Iterable[str]:
    if not table.location or not is_json_lines(table.location.path):
        yield "# How the text is written, where it is not UTF-8 with commas (tabs in .tsv)."
        for name, example in _FORMS.items():
            said = written.get(name)
            if said not in (None, False):
                yield f"{name} = {toml_value(said)}"
            elif name in ("encoding", "delimiter", "decimal", "date_format", "missing_codes", "skip_rows"):
                yield f"#{name} = {example}"
        yield ""
        without = "The query decides how a column without a type is read."
    else:
        without = "JSON lines have these columns, and no others."
    yield "# Types of columns, for every query: integer, number, text, boolean, date or timestamp."
    yield f"# Values that do not fit are null. {without}"
    yield "[types]"
    said = {name.casefold(): declared for name, declared in load_types(written.get("types")).items()}
    for column in table.columns:
        declared = said.get(column.name.casefold())
        if declared is None and column.name in table.types:
            declared = table.types[column.name].type
        declared = declared or fitting.get(column.name) or None
        yield (
            f'#{toml_value(column.name)} = "text"'
            if declared is None
            else f"{toml_value(column.name)} = {toml_value(declared)}"
        )


def _examples(columns: Sequence[Column]) -> Iterable[str]:
    """List every column with invented values to replace; of some types nobody can list values."""
    for column in columns:
        if column.kind.is_opaque:
            yield f"# {toml_value(column.name)} is {column.described_kind}: no values of it can be listed."
            continue
        warning = "  # seems to identify people: list no values from the data" if names_people(column.name) else ""
        yield f"#{toml_value(column.name)} = {_EXAMPLES.get(column.kind, _LETTERS)}{warning}"
