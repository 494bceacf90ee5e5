"""Refuse arguments of the wrong type by name, when a public function is called.

The rule is the function's own annotation: classes, unions, literals, sequences and mappings are held to it. Numbers are
let through as numbers or text, since `rational` and `integer` say better what is wrong with them; so is anything whose
annotation says nothing.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import re
import types
import typing
from collections.abc import Callable, Collection, Hashable, ItemsView, Iterable, KeysView, Mapping, Sequence, Set, Sized
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from itertools import islice
from numbers import Number
from pathlib import Path
from typing import Any, TypeVar

from .._aliases import OPTIONS, RELATIONS, did_you_mean, own_names
from ..errors import BadInput
from .rationals import integer, rational

Checked = TypeVar("Checked", bound=Callable[..., Any])

_MOST_LOOKED_AT = 50
"""Items of a sequence or a mapping that are held to their annotation."""

_LIBRARY = __name__.partition(".")[0]
_CALLABLE: Any = Callable
_NUMBERS = (Number, Decimal, Fraction, str)
_TAKEN_FOR_NUMBERS = (int, float, Fraction)
_LISTS = (list, tuple, range, Sequence, Collection, Iterable)


def checked(function: Checked) -> Checked:
    """Refuse arguments that do not fit a function's annotations, as `BadInput` with the argument's name.

    Parameters
    ----------
    function : function or class
        Of a class, the arguments that make it.

    Returns
    -------
    function or class
        The same to callers and type checkers. A keyword it does not have is refused with the name that was probably
        meant, and so are arguments that are missing or too many. Synonyms of options and relations are accepted.
    """
    if isinstance(function, type):
        made: Any = function
        made.__init__ = checked(made.__init__)
        return function
    signature = inspect.signature(function)

    @functools.cache
    def rules() -> dict[str, Any]:
        return {name: _annotation(function, part.annotation) for name, part in signature.parameters.items()}

    @functools.wraps(function)
    def guarded(*arguments: Any, **options: Any) -> Any:
        if not OPTIONS.keys().isdisjoint(options):
            options = own_names(options, {name: own for name, own in OPTIONS.items() if own in signature.parameters})
        try:
            bound = signature.bind(*arguments, **options)
            given = bound.arguments
        except TypeError:
            _check_call(signature, arguments, options, called=function.__qualname__)
            return function(*arguments, **options)
        if "relation" in given and isinstance(given["relation"], str) and given["relation"] in RELATIONS:
            own = RELATIONS[given["relation"]]
            if _fits(own, rules()["relation"]) and not _fits(given["relation"], rules()["relation"]):
                given["relation"] = own
                arguments, options = bound.args, bound.kwargs
        for name, value in given.items():
            part = signature.parameters[name]
            if part.default is value or part.kind is part.VAR_KEYWORD:
                continue
            for each in value if part.kind is part.VAR_POSITIONAL else (value,):
                _check_fit(name, each, rules()[name])
        return function(*arguments, **options)

    return typing.cast(Checked, guarded)


def _check_call(signature: inspect.Signature, arguments: Sequence[Any], options: Iterable[str], *, called: str) -> None:
    """Refuse keywords that a function does not have, with the one that was probably meant, and what is missing."""
    parts = list(signature.parameters.values())
    if "." in called and parts and parts[0].name in ("self", "cls"):  # of no concern to the caller
        parts, arguments = parts[1:], arguments[1:]
    kinds = {part.kind for part in parts}
    known = [part.name for part in parts if part.kind in (part.KEYWORD_ONLY, part.POSITIONAL_OR_KEYWORD)]
    placed = [part.name for part in parts if part.kind in (part.POSITIONAL_ONLY, part.POSITIONAL_OR_KEYWORD)]
    for name in options:
        if name not in known and inspect.Parameter.VAR_KEYWORD not in kinds:
            choice = f"choose from {', '.join(known)}" if known else "leave it out"
            elsewhere = _ELSEWHERE.get(f"{called} {name}") or _ELSEWHERE.get(name)
            raise BadInput(name, "is no option", elsewhere or did_you_mean(name, known) or choice)
    if len(arguments) > len(placed) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        others = ", ".join(f"{name}=…" for name in known[len(placed) :])
        rule = f"are too many: {len(placed) or 'none'} may stand without a name"
        raise BadInput("arguments", rule, f"name the others: {others}" if others else "leave the others out")
    given = placed[: len(arguments)]
    for name in options:
        if name in given:
            raise BadInput(name, "is given twice, by place and by name", "give it once")
    for part in parts:
        if part.default is part.empty and part.name in {*known, *placed}.difference(given, options):
            raise BadInput(part.name, "is missing", _REMEDIES.get(part.name, f"give {part.name}=…"))


def _check_fit(name: str, value: Any, rule: Any) -> None:
    """Refuse a value that does not fit its annotation."""
    if _fits(value, rule):
        return
    words = _words(rule)
    chosen = [part for part in typing.get_args(rule) if typing.get_origin(part) is typing.Literal] or [rule]
    is_literal = typing.get_origin(chosen[0]) is typing.Literal
    if isinstance(value, str) and is_literal:
        among = "the two" if len(typing.get_args(chosen[0])) == 2 else "them"
        raise BadInput(name, f"must be {_words(chosen[0])}", f"choose one of {among}")
    remedy = _REMEDIES.get(name, _REMEDIES.get(words, _HELP))
    if isinstance(value, list | tuple) and (is_literal or not {"text", "a number"}.isdisjoint(words.split(" or "))):
        remedy = _NO_LIST_OF_CONDITIONS if remedy == _CONDITION else _NO_LIST
    raise BadInput(name, f"must be {words}, not {_kind(value)}", remedy)


_ELSEWHERE = {
    "dry_run": "plan(query, …) shows the cost and the error; it reads no record and spends nothing",
    "total epsilon": "for δ at an ε use accounting.delta(items, epsilon=…)",
    "json": "to_document() returns the answers as a JSON document",
    "seed": "a release draws from the operating system; simulate(…, seed=…) is for experiments, not for release",
    "verbose": "print(result) shows the answer, and print(result.plan) the plan",
}
"""What Python has instead of an option; of one function only where its name stands before."""

_HELP = "see the function's help for what it takes"
_NO_LIST = "write the value itself, without a list around it"
_NO_LIST_OF_CONDITIONS = f"{_NO_LIST}, and join conditions with AND: \"age > 64 AND town = 'Ely'\""
_CONDITION = 'a condition is a text in SQL, such as "age > 64"'
_REMEDIES = {
    "arguments": _CONDITION,
    "condition": _CONDITION,
    "where": _CONDITION,
    "query": 'write for example "count"',
    "seed": "give seed=1; draws without a seed are made by draw()",
    "a Privacy": "write Privacy(epsilon=1)",
    "a DatasetGraph": "give a graph, such as irisdp.graphs.Path(3) or graph_from_networkx(…)",
}
"""What to write instead, by the argument's name or by what it must be."""


def _annotation(function: Callable[..., Any], text: Any) -> Any:
    """Evaluate one annotation; where a name is there for type checkers only, it says nothing."""
    if not isinstance(text, str):
        return Any if text is inspect.Parameter.empty else text
    try:
        return eval(text, getattr(function, "__globals__", {}))  # the library's own source, nobody's input
    except (NameError, TypeError):
        return Any


def _fits(value: Any, rule: Any) -> bool:
    origin, parts = typing.get_origin(rule), typing.get_args(rule)
    if rule is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in parts)
    if rule is None or rule is type(None):
        return value is None
    if origin is typing.Literal:
        return any(value is part or (type(value) is type(part) and value == part) for part in parts)
    if rule in _TAKEN_FOR_NUMBERS:
        import numpy as np  # here and below, so that the command line's help need not wait for it

        return isinstance(value, (*_NUMBERS, np.generic))
    if origin is not None and isinstance(origin, type):
        return _holds(value, origin, parts)
    if not isinstance(rule, type) or rule in (object, Hashable):  # what is no name, its function says better
        return True
    if getattr(rule, "_is_protocol", False):
        return not isinstance(value, type) and all(hasattr(value, name) for name in vars(rule) if name[0] != "_")
    own_list = issubclass(rule, Sequence) and not issubclass(rule, str) and rule.__module__.startswith(_LIBRARY)
    if own_list:  # which the function makes of any
        return isinstance(value, Sequence) and not isinstance(value, str | bytes)
    return isinstance(value, rule)


def _holds(value: Any, origin: type, parts: tuple[Any, ...]) -> bool:
    """Tell whether a container is one; what it holds is looked at where it must be of the library's own classes."""
    import numpy as np

    own = [part for part in parts if isinstance(part, type) and part.__module__.startswith(_LIBRARY)]
    if issubclass(origin, Mapping):
        return isinstance(value, origin)
    if origin is _CALLABLE:
        return callable(value)
    if origin in (np.ndarray, type):  # what can be made an array is for the function to say
        return True
    if origin not in _LISTS:
        return isinstance(value, origin)
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and not own
    if isinstance(value, str):
        return not own and origin is not tuple
    if origin in (list, tuple):
        origin = Sequence
    return (
        isinstance(value, origin)
        and not isinstance(value, bytes | type)
        and all(
            isinstance(item, own[0])
            for item in islice(value if own and isinstance(value, Sequence) else (), _MOST_LOOKED_AT)
        )
    )


def _is_enumeration(rule: Any) -> bool:
    """Tell whether an annotation is an enumeration of names; the literal names beside it say the same."""
    return isinstance(rule, type) and issubclass(rule, StrEnum)


def _words(rule: Any) -> str:
    """Say in words what an annotation allows."""
    origin, parts = typing.get_origin(rule), typing.get_args(rule)
    if origin in (typing.Union, types.UnionType):
        words = dict.fromkeys(_words(part) for part in parts if part is not type(None) and not _is_enumeration(part))
        # Whatever takes a number takes it in every exact form, and a path can be text; None is what leaving out means.
        written = ("text",) if Decimal in parts else ()
        covered = {"a number": ("a Decimal", *written), "a path": ("text",)}
        told = {other for word in words for other in covered.get(word, ())}
        return " or ".join(word for word in words if word not in told)
    if rule is None or rule is type(None):
        return "None"
    if origin is typing.Literal:
        return " or ".join(map(str, parts))
    if origin is not None and issubclass(origin, Mapping):
        return "a mapping"
    if rule is Path or (isinstance(origin, type) and issubclass(origin, os.PathLike)):
        return "a path"
    if origin is not None and parts and origin in _LISTS:
        inner = _words(parts[0]).removeprefix("a ").removeprefix("an ")
        return f"a sequence of {inner}" if typing.get_args(parts[0]) == () and parts[0] is not Any else "a sequence"
    if rule in _TAKEN_FOR_NUMBERS:
        return "a number"
    name = {str: "text", bool: "True or False"}.get(rule, getattr(rule, "__name__", "value"))
    if name in ("text", "True or False"):
        return name
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _kind(value: Any) -> str:
    """Name the type of what was given, and nothing of the value."""
    return (
        "None" if value is None else f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    )


# Read lists and tables of numbers from lists, arrays and JSON, with one function for every shape.

_MOST_BITS = 1 << 33
"""Of all the numbers of one table: a gigabyte. A number in text may need up to 250 times the memory of its letters."""

Table = tuple[tuple[Fraction, ...], ...]
"""Exact numbers, one row per input and one column per answer."""


_MOST_ENTRIES = 1 << 24
"""Read from what is no list in memory yet: more take gigabytes."""


def entries(value: Any, count: int | None = None) -> list[Any] | None:
    """List what an iterable, array or frame holds: of a table its rows.

    Parameters
    ----------
    value : object
        Of any type.
    count : int, optional
        How many entries the caller wants; a list of another length is not read to its end.

    Returns
    -------
    list or None
        None for text, bytes, mappings, sets (they have no order), more than 16 million entries that are not in memory
        yet, and anything else. Where `count` is given, up to `count` + 1 entries.
    """
    ordered = isinstance(value, KeysView | ItemsView)  # of a mapping, where they are called sets
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping | Set | type) and not ordered:
        return None
    if hasattr(value, "shape") and any(hasattr(value, name) for name in ("columns", "toarray", "getA")):
        value = _as_array(value)
    if not isinstance(value, Iterable):
        return None
    most = count
    try:
        if most is None and not isinstance(value, list | tuple):
            most = len(value) if isinstance(value, Sized) else _MOST_ENTRIES
            if isinstance(value, range) and most > _MOST_ENTRIES:
                return None
        listed = list(value if most is None else islice(value, most + 1))
    except (TypeError, ValueError, OverflowError):  # an array without a dimension, or a range of too many numbers
        return None
    return listed if count is not None or most is None or len(listed) <= most else None


def _as_array(value: Any) -> Any:
    """Return a data frame, a SciPy sparse matrix or a `numpy.matrix` as an array; None where it is too large."""
    try:
        if math.prod(value.shape) > _MOST_ENTRIES:
            return None
        made = next(getattr(value, name) for name in ("to_numpy", "toarray", "getA") if hasattr(value, name))
        return made()
    except Exception:  # of another library
        return None


def entry_reader(field: str, read: Callable[[Any], Fraction] | None = None) -> Callable[[Any], Fraction]:
    """Return what reads the entries of one table, and refuses to go on where they get too long for memory.

    Parameters
    ----------
    field : str
        How the caller names the table.
    read : callable, optional
        How to read an entry. [default: `rational`]
    """
    bits = 0

    def entry(value: Any) -> Fraction:
        nonlocal bits
        result = rational(value, field) if read is None else read(value)
        bits += result.numerator.bit_length() + result.denominator.bit_length()
        if bits > _MOST_BITS:
            raise BadInput(field, "holds more than a gigabyte of numbers", "round them to fewer digits")
        return result

    return entry


def numbers(value: Any, field: str, count: int | None = None) -> tuple[Fraction, ...]:
    """Read a list or one-dimensional array of exact numbers, `count` of them if given.

    Raises
    ------
    BadInput
        For anything else.
    """
    listed = entries(value, count)
    if listed is None or (count is not None and len(listed) != count):
        size = "numbers" if count is None else f"{count} numbers"
        raise BadInput(field, f"must be a list of {size}", f"give {size} in every list")
    return tuple(rational(entry, field) for entry in listed)


def table(value: Any, field: str, *, rows: int | None = None, columns: int | None = None) -> Table:
    """Read a table of exact numbers, with so many rows if a number is given, all of one length.

    Raises
    ------
    BadInput
        For another shape.
    """
    lines = entries(value, rows)
    if not lines or (rows is not None and len(lines) != rows):
        size = "numbers" if rows is None else f"{rows} rows"
        raise BadInput(field, f"must be a table of {size}", "give one row for every input")
    result = tuple(numbers(line, field, columns) for line in lines)
    if len({len(row) for row in result}) != 1 or not result[0]:
        raise BadInput(field, "must have rows of one length", "give as many numbers in every row")
    return result


def counts(value: Any, field: str, *, at_most: int | None = None) -> tuple[int, ...]:
    """Read a list or one-dimensional array of whole numbers from 0 up, in the order given.

    Raises
    ------
    BadInput
        For anything else, and for a number above `at_most`.
    """
    listed = entries(value)
    if listed is None or getattr(value, "ndim", 1) != 1:
        raise BadInput(field, "must be a list of counts", "write [0, 1]")
    return tuple(integer(entry, field, at_least=0, at_most=at_most) for entry in listed)


def json_list(value: Any, field: str, length: int | None = None) -> list[Any]:
    """Insist on a list as JSON has them, of a length if one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        size = "" if length is None else f" of {length} entries"
        raise BadInput(field, f"must be a list{size}", "write it in square brackets")
    return value


# Check text and paths, because JSON and Python can spell text that cannot be encoded and paths that name no file.


def plain_text(value: str, field: str) -> str:
    """Return text, or refuse text with half a character (a lone surrogate), which has no UTF-8 form.

    Examples
    --------
    >>> plain_text("town = 'Ely'", "expression")
    "town = 'Ely'"
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadInput(field, "holds half a character (a lone surrogate)", "write whole characters") from None
    return value


def file_path(value: Any, field: str) -> Path:
    """Return a path that names something: not empty, without NUL, and written in characters that the system has.

    Examples
    --------
    >>> file_path("votes.csv", "out").name
    'votes.csv'
    """
    if not isinstance(value, str | os.PathLike):
        raise BadInput(field, "must be the path of a file", "write it as text")
    try:
        path = Path(os.fsdecode(value))
        usable = bool(os.fsencode(path)) and b"\0" not in os.fsencode(path) and bool(os.fspath(value))
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise BadInput(field, "is not a usable path", "give the path of a file")
    if re.match(r"\s*[A-Za-z][\w+.-]+:/", os.fsdecode(value)):  # it may hold a secret, and is not quoted
        raise BadInput(field, "is an address, and no path of a file", "name a file on this machine")
    return path
