"""Public names that have changed: the old one still works, and says what it is called now."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["renamed_method", "renamed_names"]


def renamed_method(old: str, new: str) -> Callable[..., Any]:
    """Return a method that warns and calls the one it is now.

    Examples
    --------
    >>> class Plan:
    ...     def to_document(self): ...
    ...     document = renamed_method("document", "to_document")
    """

    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}()", f"{new}()")
        return getattr(self, new)(*arguments, **options)

    called.__name__, called.__doc__ = old, f"Call `{new}`: this is its name in version 0.1."
    return called


def renamed_names(
    module: str, homes: Mapping[str, str], *, gone: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module some of whose names have moved.

    Parameters
    ----------
    module : str
        Its `__name__`.
    homes : mapping
        From old names to where each is now, such as ``{"Cost": "irisdp.accounting.Cost"}``.
    gone : mapping, optional
        From names that are no more to what says the same now.
    """

    def found(name: str) -> Any:
        if name in (gone or {}):
            raise AttributeError(f"{module}.{name} is {(gone or {})[name]} since version 0.2")
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", homes[name])
        home, _, new = homes[name].rpartition(".")
        return getattr(importlib.import_module(home), new)

    return found


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is {new} since version 0.2", DeprecationWarning, stacklevel=3)
