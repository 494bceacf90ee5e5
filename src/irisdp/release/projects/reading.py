"""Parse a project file as strictly as options: TOML with few keys, from any author.

Every mistake is one line that names the file and the place. What is hostile (huge, deep, numbers of a million digits,
keys of a million parts) is refused before it is worked on.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from ...aliases import RELATIONS, own_names
from ...errors import BadInput
from ..labels import labels_in
from ..toml_files import INTEGER_BITS, TomlFile, kind_of

__all__ = ["KEYS", "read_document"]

KEYS = ("relation", "unit", "at_most", "limit", "encoding", "delimiter", "types", "categories", "groups", "labels")
"""What a project may say; `types`, `categories` and `groups` are tables by column."""

_TEXTS = ("relation", "unit", "encoding", "delimiter")
_LISTS = ("categories", "groups")


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
    file = TomlFile.at(
        path,
        "project",
        found="check the path, or write one with irisdp init",
        shorter="declare long lists with categories= or groups= instead",
    )
    read = file.read()
    try:
        document = own_names(read)
    except BadInput as error:
        file.refuse(f"has {error.field}, which {error.rule}", error.remedy)
    file.check_keys(document, KEYS)
    for name in _TEXTS:
        if name in document and not (isinstance(document[name], str) and document[name]):
            file.refuse(f"gives {name} {kind_of(document[name])}", f'write for example {name} = "{_SAID[name]}"')
    at_most = document.get("at_most", 1)
    if not isinstance(at_most, int) or isinstance(at_most, bool) or at_most < 1:
        file.refuse(f"gives at_most {kind_of(at_most)}", "write for example at_most = 1")
    if "relation" in document:
        document["relation"] = RELATIONS.get(document["relation"], document["relation"])
    if document.get("relation", "exchange") not in ("add-remove", "exchange"):
        file.refuse("gives a relation that there is not", "write add-remove or exchange")
    for name in ("types", *_LISTS):
        _check_table(document.get(name, {}), name, file)
    if "labels" in document:
        document["labels"] = labels_in(file, document["labels"])
    return file.path, document


_SAID = {"relation": "exchange", "unit": "person", "encoding": "latin-1", "delimiter": ";"}


def _check_table(found: Any, section: str, file: TomlFile) -> None:
    """Check a table from columns to types, or to lists of values."""
    example = f'write [{section}], and below it "party" = ' + ('"text"' if section == "types" else '["A", "B"]')
    if not isinstance(found, Mapping):
        file.refuse(f"gives {section} {kind_of(found)}", example)
    columns: set[str] = set()
    for column, value in found.items():
        if column.casefold() in columns:
            file.refuse(f"names {column[:60]!r} twice in {section} (case does not count)", "name each column once")
        columns.add(column.casefold())
        if section == "types":
            if not isinstance(value, str):
                file.refuse(f"gives {column[:60]!r} in types {kind_of(value)}", example)
            continue
        if not isinstance(value, list) or not value:
            said = "an empty list" if value == [] else kind_of(value)
            file.refuse(f"gives {column[:60]!r} in {section} {said}", example)
        for each in value:
            if not isinstance(each, str | int | Decimal | date):
                file.refuse(f"has {kind_of(each)} among the {section} of {column[:60]!r}", example)
            if isinstance(each, int) and each.bit_length() > INTEGER_BITS:
                file.refuse(f"has a number beyond 64 bits among the {section} of {column[:60]!r}", example)
