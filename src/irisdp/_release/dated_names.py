"""Output names with the day of the release: `visits-{date}.csv`, so that each night writes files of its own."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .._files import Output, is_there
from ..errors import BadInput
from .output_files import Replaced

_DAYS = {"date": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
"""What may stand in braces, of the day of the release in UTC."""
_BRACES = re.compile(r"\{([A-Za-z_]+)\}")


def dated(name: Any, field: str, *, now: datetime | None = None) -> Any:
    """Return the name of an output with the day in place of `{date}`, `{month}` and `{year}`; others unchanged.

    Parameters
    ----------
    name : path
    field : str
        The option that names it.
    now : datetime, optional
        An instant of the release. [default: now]

    Raises
    ------
    BadInput
        For another word in braces.

    Examples
    --------
    >>> dated("visits-{date}.csv", "out", now=datetime(2026, 3, 1, tzinfo=UTC))
    'visits-2026-03-01.csv'
    """
    if not is_dated(name):
        return name
    day = (datetime.now(UTC) if now is None else now).astimezone(UTC)

    def written(match: re.Match[str]) -> str:
        if match[1] not in _DAYS:
            choices = ", ".join(f"{{{word}}}" for word in _DAYS)
            raise BadInput(field, f"knows no {match[0]}", f"write one of {choices}: the day of the release in UTC")
        return day.strftime(_DAYS[match[1]])

    text = _BRACES.sub(written, os.fspath(name))
    return Path(text) if isinstance(name, Path) else text


def is_dated(name: Any) -> bool:
    """Tell whether the name of an output has a word in braces."""
    return isinstance(name, str | os.PathLike) and _BRACES.search(os.fsdecode(name)) is not None


def kept_if_dated(name: Any, force: Replaced) -> Replaced:
    """Return which existing files an output with the day in its name may meet: those of an answer that is free.

    A second run on the same day finds its own files. They are neither refused before the ledger is asked nor
    replaced: `check_new` refuses them if the answer would be charged.
    """
    return (lambda _: None) if is_dated(name) and force is False else force


def check_new(outputs: tuple[Output, ...]) -> None:
    """Refuse, before a charge, new answers for files that are there.

    Raises
    ------
    BadInput
        It names the first such file.
    """
    for output in outputs:
        if not output.force and is_there(output.path):
            rule = f"{output.path} is there already, with other answers than this release will have"
            raise BadInput(output.field, rule, "add force=True to replace it, or name another file")
