"""Errors of Iris.

    IrisError
    ├── BadInput              what was asked does not make sense: field, rule, remedy    (exit status 2)
    │   └── Unavailable       a ledger, a server or a folder cannot be reached or written now    (exit status 4)
    ├── NotShown              what was asked is charged and kept, and only handing it over failed    (exit status 3)
    └── Refusal               the question was understood and the answer is no           (exit status 1)
        ├── Infeasible        no mechanism, or no optimum, exists for the request
        ├── BudgetRefused     the ledger's limit does not allow the charge
        ├── PromiseRefused    the ledger is pinned to another table, relation, unit, set of public columns or currency
        └── CertificateRejected   a mechanism or its certificate does not hold

A message never holds a private value: no record, no true answer, no depth, no row index.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Self

_SCHEME = r"(?:\b[a-z][a-z0-9+.-]*:/|postgres\w*:)/*"
_LOGIN = re.compile(rf"((?:{_SCHEME}|postgres\w*/+)[^:@/\s]*(?::|%3a)).*@", re.IGNORECASE | re.DOTALL)
"""Also where the colon of the scheme was forgotten, and it is taken for a folder."""
_CUT_OFF = re.compile(
    rf"((?!(?:[a-z]|file|ftp|https?|s3|spark|sqlite):){_SCHEME}(?!\[)[^:@/?#\s]*(?::|%3a))"
    r"(?!…|\d{0,5}(?:[/?#,;.\s'\")\]]|$)).+",
    re.IGNORECASE | re.DOTALL,
)
"""A name and what is no port, where the rest of the address is missing: where a password ends, nobody knows then."""
_WORD = "".join(f"(?:{letter}|%{ord(letter):02x}|%{ord(letter.upper()):02x})" for letter in "password")
_BLANKS = r"(?:\s|\+|%20)*"
_PASSWORD = re.compile(
    rf"({_WORD}{_BLANKS}(?:=|%3d){_BLANKS})"
    r"""('(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s&;'\"]+)""",
    re.IGNORECASE,
)


def without_passwords(text: str) -> str:
    """Remove passwords from text that may be the address of a server, in any spelling.

    Examples
    --------
    >>> without_passwords("there is no file postgresql:/ann:hunter2@h/db")
    'there is no file postgresql:/ann:…@h/db'
    >>> without_passwords("postgresql://ann@h:5432/db?password=hunter2&sslmode=require")
    'postgresql://ann@h:5432/db?password=…&sslmode=require'
    >>> without_passwords("there is no ledger postgresql//ann:hunter2@h/db")
    'there is no ledger postgresql//ann:…@h/db'
    >>> without_passwords("there is no file postgresql:/ann:hunter2")
    'there is no file postgresql:/ann:…'
    """
    return _PASSWORD.sub(r"\1…", _CUT_OFF.sub(r"\1…", _LOGIN.sub(r"\1…@", text)))


def _cleared(document: Any) -> Any:
    """Leave out passwords in all texts of JSON-ready data."""
    if isinstance(document, str):
        return without_passwords(document)
    if isinstance(document, Mapping):
        return {name: _cleared(value) for name, value in document.items()}
    return [_cleared(value) for value in document] if isinstance(document, list | tuple) else document


class IrisError(Exception):
    """Base of every error that Iris raises on purpose."""

    exit_status = 1


class BadInput(IrisError, ValueError):
    """A field breaks a rule; the text is one line: field, rule, remedy.

    Parameters
    ----------
    field : str
        Name of the option, argument or JSON key, as the caller wrote it.
    rule : str
        What the field must be, and what about the given one is wrong.
    remedy : str
        What to write instead.
    """

    exit_status = 2

    def __init__(self, field: str, rule: str, remedy: str) -> None:
        self.field, self.rule, self.remedy = field, without_passwords(rule), without_passwords(remedy)
        # Each by itself: what is left out for want of an end goes to the end.
        super().__init__(" ".join(f"{without_passwords(field)}: {self.rule}; {self.remedy}".split()))

    def said(self, field: str, rule: str, remedy: str) -> Self:
        """Return the same error in other words."""
        return type(self)(field, rule, remedy)


class Unavailable(BadInput):
    """A ledger, a server or a folder cannot be reached, locked or written at present; nothing was spent.

    The request may be right: a program can repeat it later.
    """

    exit_status = 4


class NotShown(IrisError):
    """What was asked is done and charged, and only telling of it failed; asked again, it is free."""

    exit_status = 3


class Refusal(IrisError):
    """The request was understood and the answer is no; `document` says why as JSON-ready data."""

    exit_status = 1

    def __init__(self, message: str, **document: Any) -> None:
        super().__init__(without_passwords(" ".join(message.split())))
        self.document: dict[str, Any] = {"error": str(self), **_cleared(document)}

    def said(self, message: str) -> Self:
        """Return the same refusal in other words."""
        return type(self)(message, **{key: value for key, value in self.document.items() if key != "error"})


class Infeasible(Refusal):
    """No mechanism (or no optimal one) exists for the request.

    Attributes
    ----------
    witnesses : tuple of Mechanism
        Where no optimum exists, two private mechanisms of which neither is as good as the other; else empty.
        `document["witnesses"]` holds their files.
    """

    def __init__(self, message: str, *, examples: tuple[Any, ...] = (), **document: Any) -> None:
        super().__init__(message, **document)
        self.witnesses = examples

    def said(self, message: str) -> Self:
        """Return the same refusal in other words."""
        other = super().said(message)
        other.witnesses = self.witnesses
        return other


class BudgetRefused(Refusal):
    """The ledger's limit does not allow the charge; nothing was drawn or spent."""


class ScopeRefused(Refusal):
    """The release is outside the ledger's scope; nothing was read, drawn or spent."""


class CertificateRejected(Refusal):
    """A mechanism or its certificate does not hold."""


def place_of(error: Exception) -> str:
    """Say of which kind an error is and where it was raised: its message and its values can hold private data."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {PurePath(place.filename).name}:{place.lineno}"
