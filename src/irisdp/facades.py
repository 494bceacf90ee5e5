"""Load the names of a package when they are first used: code that counts records loads no auditor.

A facade still lists its names with plain imports, which people, editors and type checkers read. Inside `when_used`
these imports are recorded, not executed (`docs/decisions/0050-rooms-open-when-asked.md`).
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from types import ModuleType, SimpleNamespace
from typing import Any

__all__ = ["when_used"]

_TURN = RLock()
"""Held while one facade is read: threads that import meanwhile are served as ever, and leave no watch behind."""


@contextmanager
def when_used(room: str, *, otherwise: Callable[[str], Any] | None = None) -> Iterator[None]:
    """Note what a facade imports, and import each name when it is first used.

    Parameters
    ----------
    room : str
        The facade's `__name__`. What is noted is ``from .file import name, …``.
    otherwise : callable, optional
        Looks for names that are not noted, such as `irisdp.renamed.renamed_names` gives.
    """
    facade = sys.modules[room]
    names, homes = vars(facade), dict[str, str]()

    def noted(name: str, source: Any = None, places: Any = None, wanted: Any = (), level: int = 0) -> Any:
        if source is not names or level != 1:  # another thread's, or not of this room
            return imports(name, source, places, wanted, level)
        homes.update(dict.fromkeys(wanted, f"{room}.{name}"))
        return SimpleNamespace(**dict.fromkeys(wanted))

    with _TURN:
        imports = builtins.__import__
        builtins.__import__ = noted  # type: ignore[assignment]  # what it returns is no module, and asked for names only
        try:
            yield
        finally:
            builtins.__import__ = imports
    for name in homes:
        del names[name]
    names |= {"_homes": homes, "_otherwise": otherwise}
    facade.__class__ = _Facade


class _Facade(ModuleType):
    """A room that loads a name when it is asked for, and whose names stand before files that are called alike."""

    _homes: dict[str, str]
    _otherwise: Callable[[str], Any] | None

    def __getattr__(self, name: str) -> Any:
        if name in self._homes:
            vars(self)[name] = getattr(importlib.import_module(self._homes[name]), name)
            return vars(self)[name]
        if self._otherwise is not None:
            return self._otherwise(name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        # Python binds a file to its room once it is loaded: `irisdp.certify.audit` would no longer be the function.
        if not (name in self._homes and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._homes})
