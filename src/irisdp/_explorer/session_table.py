"""The explorer of a session's table: what a session was given, as `irisdp explore DATA` is given it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from .._exact import integer
from .._ledger import Ledger
from .._options import WRITTEN
from ..errors import BadInput
from .workspace import ServedTable

_READING = (*WRITTEN, "unit", "types")
"""Options of a session that say how its table is read, and whose a record is."""
_FILES = ("lookup", "secret")
_LISTS = ("missing_codes", "columns")


def explore_session(
    data: Any, asked: Mapping[str, Any], kept: Mapping[str, Any], *, project: str | None, port: Any, browser: Any
) -> None:
    """Serve the explorer of a session's table until it is stopped.

    Parameters
    ----------
    data : object
        The session's data.
    asked, kept : mapping
        Its options, as for `irisdp.publish`.
    project : str, optional
        The project file, where it is not the one next to the data.
    port, browser
        As for `serve`.

    Raises
    ------
    BadInput
        For a frame, and for options that a plan file cannot hold. Nothing is spent.
    """
    port = integer(port, "port", at_least=0, at_most=65535)
    if not isinstance(browser, bool):
        raise BadInput("browser", "must be true or false", "leave it out, or give False")
    served = served_table(data, {**asked, **kept}, project=project)
    from .server import serve  # which needs the extra

    serve(port=port, browser=browser, table=served)


def served_table(data: Any, options: Mapping[str, Any], *, project: str | None) -> ServedTable:
    """Return a session's table as the command line would name it.

    Raises
    ------
    BadInput
        As `explore_session`.
    """
    if not isinstance(data, str | os.PathLike):
        raise BadInput("data", "is a frame, and the explorer works on a file or on an address", "save it as a file")
    given = {name: value for name, value in options.items() if value is not None and value is not False}
    ledger = given.pop("ledger", None)
    place = ledger.place if isinstance(ledger, Ledger) else ledger
    return ServedTable(
        data=os.fspath(data),
        project=project,
        ledger=None if place is None else os.fspath(place),
        options={name: _as_typed(name, value) for name, value in given.items() if name in _READING},
        told={name: _in_plan(name, value) for name, value in given.items() if name not in (*_READING, "project")},
    )


def _as_typed(name: str, value: Any) -> Any:
    """Return an option as the command line has it: as text, or true for a switch."""
    if value is True:
        return True
    if name == "types" and not isinstance(value, str | os.PathLike):
        rule = "is a mapping, and the explorer reads types from a file"
        raise BadInput("types", rule, "write them into [types] of the project file, or give a JSON file")
    if name in _LISTS and not isinstance(value, str):
        parts = [str(part) for part in value] if isinstance(value, Sequence) else [str(value)]
        if any("," in part or '"' in part for part in parts):
            raise BadInput(name, "holds a comma or a quote", "write it into the project file")
        return ",".join(parts)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _in_plan(name: str, value: Any) -> Any:
    """Return another option as a plan file has it."""
    if name not in _FILES:
        return dict(value) if isinstance(value, Mapping) else value
    files = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(file, str | os.PathLike) for file in files):
        raise BadInput(name, "is no file, and the explorer writes plans, which name files", "save it as a file")
    paths = [os.path.abspath(os.fspath(file)) for file in files]
    return paths if isinstance(value, list | tuple) else paths[0]
