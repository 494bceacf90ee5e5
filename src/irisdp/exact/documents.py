"""JSON in and out without losing a digit: numbers are read as the decimals they were written as."""

from __future__ import annotations

import itertools
import json
import os
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..errors import BadInput
from .rationals import LARGEST_EXPONENT, MOST_CHARACTERS, MOST_DIGITS
from .regular_files import NoRegularFile, open_regular

__all__ = ["json_bytes", "json_line", "parse_json", "read_json"]


_BYTE_ORDER_MARK = "\ufeff"
_LONGEST_SHOWN = 60

DEEPEST = 100
"""Lists and objects within each other."""


def parse_json(text: str, field: str) -> Any:
    """Parse JSON with decimals kept exact; NaN, infinities, repeated keys and numbers beyond all use are refused.

    A number may have `MOST_CHARACTERS`, of which an integer `MOST_DIGITS`, and an exponent to `LARGEST_EXPONENT`; else
    a few letters would ask for more memory than there is. Lists and objects stand at most `DEEPEST` deep in each other.
    """

    def refuse(constant: str) -> Any:
        raise BadInput(field, f"holds {constant}", "write finite numbers only")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            shown = f"the key {json.dumps(twice)}" if len(twice) <= _LONGEST_SHOWN else "a key"
            raise BadInput(field, f"holds {shown} twice in one object", "write every key once")
        return document

    def decimal(number: str) -> Decimal:
        exponent = number.lower().partition("e")[2].lstrip("+-").lstrip("0")
        if len(exponent) > 4 or int(exponent or 0) > LARGEST_EXPONENT:
            raise BadInput(field, f"holds an exponent beyond {LARGEST_EXPONENT}", "write a number of ordinary size")
        if len(number) > MOST_CHARACTERS or max(map(len, re.findall(r"\d+", number))) > MOST_DIGITS:
            raise BadInput(field, f"holds a number of more than {MOST_DIGITS} digits", "write a shorter number")
        return Decimal(number)

    def integer(number: str) -> int:
        if len(number.lstrip("-")) > MOST_DIGITS:
            raise BadInput(field, f"holds an integer of more than {MOST_DIGITS} digits", "write a shorter number")
        return int(number)

    if text.startswith(_BYTE_ORDER_MARK):
        raise BadInput(field, "begins with a byte order mark", "save it as UTF-8 without one")
    try:
        document = json.loads(
            text, parse_float=decimal, parse_int=integer, parse_constant=refuse, object_pairs_hook=distinct
        )
    except BadInput:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadInput(field, f"is not valid JSON at {where}", "check quotes, commas and brackets there") from None
    except (ValueError, RecursionError):
        raise BadInput(field, "is not valid JSON", "check quotes, commas and brackets") from None
    if _deeper_than(DEEPEST, document):
        raise BadInput(field, f"is nested more than {DEEPEST} deep", "use fewer lists within lists")
    return document


def _deeper_than(limit: int, document: Any) -> bool:
    """Tell whether lists and objects stand deeper in each other; Python's own limit depends on its caller."""
    inside = [document] if isinstance(document, dict | list) else []
    for _ in range(limit):
        parts = itertools.chain.from_iterable(x.values() if isinstance(x, dict) else x for x in inside)
        inside = [x for x in parts if isinstance(x, dict | list)]
    return bool(inside)


def read_json(path: str | Path, field: str) -> Any:
    """Read a JSON file; see `parse_json`."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput(field, f"must be the path of a file, not {type(path).__name__}", "give a path")
    try:
        with open_regular(path) as file:
            text = file.read().decode()
    except NoRegularFile:
        raise BadInput(field, f"{path} is no regular file", "give a JSON file") from None
    except FileNotFoundError:
        raise BadInput(field, f"there is no file {path}", "check the path") from None
    except (OSError, ValueError):
        raise BadInput(field, f"cannot read {path} as UTF-8 text", "give a JSON file that can be read") from None
    return parse_json(text, field)


def json_bytes(document: Any) -> bytes:
    """Write a JSON document as a file holds it: UTF-8, indented, with a final newline."""
    return (_visible(json.dumps(document, ensure_ascii=False, indent=1)) + "\n").encode()


def json_line(document: Any) -> str:
    """Write a JSON document in one line, for a terminal or a pipe."""
    return _visible(json.dumps(document, ensure_ascii=False))


def _visible(text: str) -> str:
    """Escape what would steer a terminal or turn text around; in JSON it stands within text and means the same.

    Control characters below 32 are escaped already; those left are the later ones, formats, separators of lines and
    lone surrogates, which have no UTF-8 form.
    """
    return text if text.isascii() and "\x7f" not in text else _STEERING.sub(_escaped, text)


_STEERING = re.compile(
    r"[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"
