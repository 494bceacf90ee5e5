"""JSON in and out without losing a digit: numbers are read as the decimals they were written as."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from .._aliases import did_you_mean
from .._files import NoRegularFile, is_there, open_regular
from ..errors import BadInput
from .rationals import LARGEST_EXPONENT, MOST_CHARACTERS, MOST_DIGITS, rational
from .validation import file_path

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
            twice = next(name for index, name in enumerate(names) if name in names[:index])
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

    text = text.removeprefix(_BYTE_ORDER_MARK)
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


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"


# Read TOML from users: numbers stay exact, and limits are checked before the document is parsed.

INTEGER_BITS = 63
"""Whole numbers within 64 bits, as columns hold them."""

_MOST_BYTES = 1 << 20
_MOST_DOTS = 50
_LONG_KEY = re.compile(
    r"""(?<![\w\\-])(?:(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){%d}"""  # noqa: UP031
    % (_MOST_DOTS + 1)
)
"""A dotted key of n parts takes the parser n² steps. It is looked for in quoted text, too: where that ends, only a
parser knows."""
_PLACE = re.compile(r"\(at (line \d+, column \d+|end of document)\)")
_MARK = b"\xef\xbb\xbf"


def toml_key(name: str) -> str:
    """Write a key as TOML has it, in quotes where it needs them.

    Examples
    --------
    >>> print(toml_key("age"), toml_key("seen (UTC)"))
    age "seen (UTC)"
    """
    return name if _BARE_KEY.fullmatch(name) else toml_value(name)


def toml_value(value: Any) -> str:
    """Write a value as TOML has it, in one line; numbers stay as exact as they are.

    Examples
    --------
    >>> print(toml_value({"a": True, "b c": ["x", 1, Decimal("0.10")]}))
    {a = true, "b c" = ["x", 1, 0.10]}
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_key(str(key))} = {toml_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal):
        return str(value)
    if isinstance(value, date | time):
        return value.isoformat()
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # which JSON allows as it stands


_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A TOML file that is read strictly; every mistake is one line that names the file and the place.

    Parameters
    ----------
    path : Path
    field : str
        What the file is, as messages begin: "project" or "plan".
    found : str
        What to do where it is not there.
    shorter : str
        What to do where it is too long.
    """

    path: Path
    field: str
    found: str = "check the path"
    shorter: str = "write less into one file"

    @classmethod
    def at(cls, path: Any, field: str, **remedies: str) -> TomlFile:
        """Return the file at a path, which need not be there."""
        return cls(file_path(path, field), field, **remedies)

    def read(self) -> dict[str, Any]:
        """Return what the file says; numbers with a point are `Decimal`, exactly as they are written.

        Raises
        ------
        BadInput
            For a file that cannot be read, is longer than 1 MiB, is no UTF-8 or no TOML, or holds numbers beyond use.
        """
        try:
            with open_regular(self.path) as opened:
                content = opened.read(_MOST_BYTES + 1)
        except NoRegularFile:
            raise BadInput(self.field, f"{self.path} is no regular file", "give a TOML file") from None
        except FileNotFoundError:
            if is_there(self.path):  # what it says may be a promise, and nobody can read it today
                rule = f"{self.path} is a link to a file that is not there"
                raise BadInput(self.field, rule, "bring back what it leads to, or remove the link") from None
            raise BadInput(self.field, f"there is no file {self.path}", self.found) from None
        except (OSError, ValueError):
            raise BadInput(self.field, f"cannot read {self.path}", "give a TOML file that can be read") from None
        return self.parse(content)

    def refuse(self, rule: str, remedy: str) -> NoReturn:
        """Say in one line what is wrong with what the file says."""
        raise BadInput(self.field, f"{self.path.name} {rule}", remedy)

    def check_keys(self, document: Mapping[str, Any], known: Collection[str]) -> None:
        """Refuse keys that are not known, with the one that was probably meant."""
        for key in document:
            if key not in known:
                remedy = did_you_mean(key, known) or f"choose from {', '.join(known)}"
                self.refuse(f"has the key {key[:60]!r}, which no {self.field} has", remedy)

    def parse(self, content: bytes) -> dict[str, Any]:
        """Return what such a file would say with this content, as `read` does."""
        if len(content) > _MOST_BYTES:
            self.refuse(f"is longer than {_MOST_BYTES:,} bytes", self.shorter)
        try:
            text = content.removeprefix(_MARK).decode()
        except UnicodeDecodeError:
            self.refuse("is no UTF-8 text", "save it as UTF-8")
        if long := _LONG_KEY.search(text):
            line = text.count("\n", 0, long.start()) + 1
            self.refuse(f"has more than {_MOST_DOTS} dots between words in line {line}", "write a shorter key")
        import tomllib  # most tables have no project file

        try:
            return tomllib.loads(text, parse_float=self._decimal)
        except BadInput:
            raise
        except tomllib.TOMLDecodeError as error:
            match = _PLACE.search(str(error))  # its other words may quote what stands there
            where = f" at {match[1]}" if match else ""
            self.refuse(f"is no valid TOML{where}", "check quotes, brackets and commas, and that no key stands twice")
        except (ValueError, RecursionError):
            self.refuse("is no valid TOML", "check quotes, brackets and numbers")

    def _decimal(self, number: str) -> Decimal:
        plain = number.replace("_", "")
        try:
            rational(plain, self.field)
        except BadInput as error:
            self.refuse(f"holds a number that {error.rule}", error.remedy)
        return Decimal(plain)


def kind_of(value: Any) -> str:
    """Say in words what TOML calls a value."""
    kinds = {dict: "a table", list: "a list", str: "empty text" if value == "" else "text", bool: "true or false"}
    return kinds.get(type(value), "a number" if isinstance(value, int | Decimal) else "a date or a time")
