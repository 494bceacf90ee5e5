"""The explorer as an application for any ASGI server; what it needs beyond Iris is asked for here."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import BadInput

__all__ = ["create_app"]

_NEEDED = ("starlette", "uvicorn", "python_multipart")
"""Packages of the extra; Starlette would miss the last only when a form is sent."""


def create_app() -> Any:
    """Return the explorer as an ASGI application, guarded; serve it on the loopback only.

    Raises
    ------
    BadInput
        Where the extra `explorer` is not installed.

    Examples
    --------
    >>> create_app()  # doctest: +SKIP
    <irisdp.explorer.guard.Guard object at ...>
    """
    for package in _NEEDED:
        try:
            importlib.import_module(package)
        except ImportError:
            raise BadInput(package, "is not installed", 'pip install "irisdp[explorer]"') from None
    from .shell import guarded

    return guarded()
