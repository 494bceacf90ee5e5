"""The names of groups in files and on terminals: what a record says must not become a formula or a command.

Names of selected groups come from the people in the table. Names of declared groups come from the data owner or a file.
All are treated alike. Numbers stay numbers, and JSON and Parquet hold every name unchanged.
"""

from __future__ import annotations

import re
from typing import Any

from ..tabular import printable

__all__ = ["as_written", "csv_cell", "defused", "printable"]

_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""What spreadsheets may take for a formula, after any number of apostrophes; full-width signs too."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_QUOTED = re.compile(r'[,;|"\t\r\n]')


def defused(value: Any) -> Any:
    """Return a cell of a CSV that no spreadsheet takes for a formula: text that looks like one gets an apostrophe.

    Text that is a number, such as -5, stays unchanged. `as_written` undoes it, for every text.
    """
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def csv_cell(value: Any) -> str:
    """Write a cell of a CSV; quoted also where a program that expects other separators would split it."""
    text = str(defused(value))
    return f'"{text.replace(chr(34), chr(34) * 2)}"' if _QUOTED.search(text) else text


def as_written(text: str) -> str:
    """Return the text that `defused` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
