"""The data package of published answers: what catalogues and table tools must know of a file, as Frictionless says it.

It is a function of the release file and of the written answers, so it reveals nothing beyond them. The data owner sets
the terms on which the answers may be used.

References
----------
Frictionless Data, *Data Package*, *Data Resource* and *Table Schema*, version 1 (https://specs.frictionlessdata.io).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._measurements import BELOW, FIRST, FROM, HIGH, LAST, LOW, PROBABILITY
from ..errors import BadInput
from .answers import Answers
from .release_file import ReleaseFile

PACKAGE_FORMAT = "irisdp/datapackage/1"
"""What its own part of a data package says that it is."""

_LICENCE = re.compile(r"[-a-zA-Z0-9._]{1,100}")
_ADDRESS = re.compile(r"https?://[^\s<>\"]{1,400}")
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_SHAPES = {
    ".csv": ("tabular-data-resource", "csv", "text/csv"),
    ".json": ("tabular-data-resource", "json", "application/json"),
    ".parquet": ("data-resource", "parquet", "application/vnd.apache.parquet"),
}
"""By ending: the resource's profile, format and media type. What version 1 calls tabular is CSV or JSON."""


def read_licence(licence: Any, out: Any) -> str | None:
    """Read the terms on which answers may be used: the short name of a licence, or the address of its text."""
    if licence is None:
        return None
    if out is None:
        raise BadInput("licence", "is written beside the answers, and they go to no file", "add out=, or leave it out")
    if not isinstance(licence, str) or not (_LICENCE.fullmatch(licence) or _ADDRESS.fullmatch(licence)):
        rule = "must be a licence's short name or the address of its text"
        raise BadInput("licence", rule, "write for example 'CC-BY-4.0', or 'https://example.org/terms'")
    return licence


def datapackage(file: ReleaseFile, answers: Answers, path: Path, content: bytes, licence: str | None) -> dict[str, Any]:
    """Describe a written file of answers, JSON-ready.

    Parameters
    ----------
    file : ReleaseFile
        How the answers were made, as it is written beside them.
    answers : Answers
        What was written.
    path, content : Path, bytes
        Where, and the file itself.
    licence : str or None
        As `read_licence` returns it.
    """
    stored = file.stored  # read without checks: nothing may be refused after a charge
    profile, form, media = _SHAPES[path.suffix.lower()]
    name = _slug(path.stem)
    return {
        "profile": "tabular-data-package" if profile == "tabular-data-resource" else "data-package",
        "name": name,
        "title": stored["question"],
        "created": stored["date"],
        **({} if licence is None else {"licenses": [_licence(licence)]}),
        **({} if stored["table"] is None else {"sources": [{"title": stored["table"]}]}),
        "resources": [
            {
                "profile": profile,
                "name": name,
                "path": path.name,
                "title": stored["question"],
                "format": form,
                "mediatype": media,
                **({} if form == "parquet" else {"encoding": "utf-8"}),
                **(
                    {} if form == "json" else {"bytes": len(content)}
                ),  # frictionless-py counts none in JSON, and objects
                "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
                **(_DIALECT if form == "csv" else {}),
                "schema": _schema(file, answers),
            }
        ],
        "privacy": _privacy(file),
        "irisdp": {
            "format": PACKAGE_FORMAT,
            "version": stored["version"],
            "release": f"{path.name}.release.json",
            "mechanism": stored["mechanism"]["kind"],
            "expected_error": stored["expected_error"],
            "unit_of_error": file.counted,
        },
    }


_DIALECT = {
    "description": "Text that spreadsheets would take for a formula begins with an apostrophe, which is no part of it.",
    "dialect": {"delimiter": ",", "lineTerminator": "\n", "quoteChar": '"', "doubleQuote": True, "header": True},
}


def _schema(file: ReleaseFile, answers: Answers) -> dict[str, Any]:
    """Describe the columns: the groups, which no two rows share, the answer, and how sure it is."""
    columns = answers.keys_by_column()
    fields = [
        {"name": name, "type": _type(column), **_about_group(name, file)}
        for name, column in zip(answers.by, columns, strict=True)
    ]
    fields.append(
        {
            "name": "answer",
            "type": _type(answers.values),
            **_about_answer(file, answers),
            "title": "published answer",
        }
    )
    beside = answers.assured
    for name, column in beside.columns.items():
        unit = {"unit": file.counted} if name in (LOW, HIGH) else {}
        fields.append(
            {"name": name, "type": _type(column), "title": _TITLES[name], **_promised(name, beside.promise), **unit}
        )
    missing = [""] if any(None in column for column in beside.columns.values()) else []
    key = {"primaryKey": list(answers.by)} if answers.by else {}
    return {"fields": fields, **key, "missingValues": missing}


def _promised(name: str, promise: str) -> dict[str, str]:
    """Describe a column by what is promised of it: the edges of bins are public, and nothing is."""
    return {} if name in (FROM, BELOW) else {"description": promise}


_TITLES = {
    FROM: "the bin begins at this value, which is in it",
    BELOW: "the bin ends before this value",
    FIRST: "first bin that may be right",
    LAST: "last bin that may be right",
    LOW: "least that the truth may be",
    HIGH: "most that the truth may be",
    PROBABILITY: "least probability of the right answer",
}


def _about_group(name: str, file: ReleaseFile) -> dict[str, Any]:
    derived = file.part("derived").get(name)
    return {"title": "group", **({} if derived is None else {"description": f"computed as {derived}"})}


def _about_answer(file: ReleaseFile, answers: Answers) -> dict[str, Any]:
    numbers = _type(answers.values) in ("integer", "number")
    return {
        "description": f"private answer to: {file.stored['question']}",
        **({"unit": file.counted} if numbers else {}),
    }


def _privacy(file: ReleaseFile) -> dict[str, Any]:
    """Say what is promised to whom."""
    stored = file.stored
    said = {name: stored[name] for name in ("relation", "unit", "unit_rule", "audience") if stored.get(name)}
    return {
        "definition": "differential privacy",
        **said,
        "protects": "one record" if stored["unit"] is None else f"all records of one {stored['unit']}",
        "of_each_answer": stored["privacy"],
        "of_the_release": stored["cost"],
    }


def _type(column: Iterable[Any]) -> str:
    kinds = {_TYPES.get(kind, "any") for kind in set(map(type, column)) - {type(None)}}
    return kinds.pop() if len(kinds) == 1 else "number" if kinds == {"integer", "number"} else "any"


def _licence(licence: str) -> dict[str, str]:
    return {"path" if _ADDRESS.fullmatch(licence) else "name": licence}


def _slug(stem: str) -> str:
    """Return a name as packages and resources have them: small letters, digits, full stops, lines."""
    return re.sub(r"[^-a-z0-9._]+", "-", stem.lower()).strip("-.") or "answers"
