"""Reads a project file as strictly as options are read: TOML of few keys, whoever wrote it.

Every mistake is one line that names the file and the place. What is hostile (huge, deep, numbers of a million digits,
keys of a million parts) is refused before it is worked on.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from ...errors import BadInput
from ...exact import file_path, rational

__all__ = ["KEYS", "read_document"]

KEYS = ("relation", "unit", "limit", "encoding", "delimiter", "types", "categories", "groups")
"""What a project may say; the last three are tables by column."""

_TEXTS = ("relation", "unit", "encoding", "delimiter")
_LISTS = ("categories", "groups")
_MOST_BYTES = 1 << 20
_MOST_DOTS = 50
"""In a line outside of quotes: a dotted key of n parts takes the parser n² steps."""
_QUOTED = re.compile(r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#.*""")
_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)")
_INTEGER_BITS = 63
_MARK = b"\xef\xbb\xbf"


def read_document(path: Any) -> tuple[Path, dict[str, Any]]:
    """Read a project file.

    Returns
    -------
    tuple of (Path, dict)
        The file, and what it says: text, a limit as it was written, types by column, lists of values by column. Whether
        the table has such columns is found out when it is opened.

    Raises
    ------
    BadInput
        For a file that cannot be read, is no TOML, or has unknown keys or values of another kind.
    """
    file = file_path(path, "project")
    if file.exists() and not file.is_file():  # a pipe would make everybody wait
        raise BadInput("project", f"{path} is no regular file", "give a TOML file")
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise BadInput("project", f"there is no file {path}", "check the path, or write one with irisdp init") from None
    except (OSError, ValueError):
        raise BadInput("project", f"cannot read {path}", "give a TOML file that can be read") from None
    document = _parse(content, file.name)
    _check_keys(document, KEYS, file.name)
    for name in _TEXTS:
        if name in document and not (isinstance(document[name], str) and document[name]):
            _refuse(file.name, f"gives {name} {_kind(document[name])}", f'write for example {name} = "{_SAID[name]}"')
    if document.get("relation", "exchange") not in ("add-remove", "exchange"):
        _refuse(file.name, "gives a relation that there is not", "write add-remove or exchange")
    for name in ("types", *_LISTS):
        _check_table(document.get(name, {}), name, file.name)
    return file, document


_SAID = {"relation": "exchange", "unit": "person", "encoding": "latin-1", "delimiter": ";"}


def _parse(content: bytes, name: str) -> dict[str, Any]:
    if len(content) > _MOST_BYTES:
        _refuse(name, f"is longer than {_MOST_BYTES:,} bytes", "declare long lists with categories= or groups= instead")
    if content.startswith(_MARK):
        _refuse(name, "begins with a byte order mark", "save it as UTF-8 without one")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        _refuse(name, "is no UTF-8 text", "save it as UTF-8")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > _MOST_DOTS and _QUOTED.sub("", line).count(".") > _MOST_DOTS:
            _refuse(name, f"has more than {_MOST_DOTS} dots in line {number}", "write a shorter key")
    try:
        return tomllib.loads(text, parse_float=lambda number: _decimal(number, name))
    except BadInput:
        raise
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))  # its other words may quote what stands there
        where = f" at {place[1]}" if place else ""
        _refuse(name, f"is no valid TOML{where}", "check quotes, brackets and commas, and that no key stands twice")
    except (ValueError, RecursionError):
        _refuse(name, "is no valid TOML", "check quotes, brackets and numbers")


def _decimal(number: str, name: str) -> Decimal:
    plain = number.replace("_", "")
    try:
        rational(plain, "project")
    except BadInput as error:
        _refuse(name, f"holds a number that {error.rule}", error.remedy)
    return Decimal(plain)


def _check_keys(document: Mapping[str, Any], known: Collection[str], name: str) -> None:
    for key in document:
        if key not in known:
            near = get_close_matches(key.casefold(), known, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            _refuse(name, f"has the key {key[:60]!r}, which no project has", remedy)


def _check_table(found: Any, section: str, name: str) -> None:
    """Check a table from columns to types, or to lists of values."""
    example = f'write [{section}], and below it "party" = ' + ('"text"' if section == "types" else '["A", "B"]')
    if not isinstance(found, Mapping):
        _refuse(name, f"gives {section} {_kind(found)}", example)
    columns: set[str] = set()
    for column, value in found.items():
        if column.casefold() in columns:
            _refuse(name, f"names {column[:60]!r} twice in {section} (case does not count)", "name each column once")
        columns.add(column.casefold())
        if section == "types":
            if not isinstance(value, str):
                _refuse(name, f"gives {column[:60]!r} in types {_kind(value)}", example)
            continue
        if not isinstance(value, list) or not value:
            said = "an empty list" if value == [] else _kind(value)
            _refuse(name, f"gives {column[:60]!r} in {section} {said}", example)
        for each in value:
            if not isinstance(each, str | int | Decimal | date):
                _refuse(name, f"has {_kind(each)} among the {section} of {column[:60]!r}", example)
            if isinstance(each, int) and each.bit_length() > _INTEGER_BITS:
                _refuse(name, f"has a number beyond 64 bits among the {section} of {column[:60]!r}", example)


def _kind(value: Any) -> str:
    kinds = {dict: "a table", list: "a list", str: "empty text" if value == "" else "text", bool: "true or false"}
    return kinds.get(type(value), "a number" if isinstance(value, int | Decimal) else "a date or a time")


def _refuse(name: str, rule: str, remedy: str) -> NoReturn:
    raise BadInput("project", f"{name} {rule}", remedy)
