"""Reads TOML that anybody may have written: numbers stay exact, what is hostile is refused before it is worked on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from ..errors import BadInput
from ..exact import NoRegularFile, file_path, is_there, open_regular, rational

__all__ = ["INTEGER_BITS", "TomlFile", "kind_of"]

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
        return self._parse(content)

    def refuse(self, rule: str, remedy: str) -> NoReturn:
        """Say in one line what is wrong with what the file says."""
        raise BadInput(self.field, f"{self.path.name} {rule}", remedy)

    def check_keys(self, document: Mapping[str, Any], known: Collection[str]) -> None:
        """Refuse keys that are not known, with the one that was probably meant."""
        for key in document:
            if key not in known:
                near = get_close_matches(key.casefold(), known, n=1)
                remedy = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
                self.refuse(f"has the key {key[:60]!r}, which no {self.field} has", remedy)

    def _parse(self, content: bytes) -> dict[str, Any]:
        if len(content) > _MOST_BYTES:
            self.refuse(f"is longer than {_MOST_BYTES:,} bytes", self.shorter)
        if content.startswith(_MARK):
            self.refuse("begins with a byte order mark", "save it as UTF-8 without one")
        try:
            text = content.decode()
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
            place = _PLACE.search(str(error))  # its other words may quote what stands there
            where = f" at {place[1]}" if place else ""
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
