"""Loads a library that Iris can do without, or says in one line how to get it."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import BadInput

__all__ = ["needed"]


def needed(module: str, extra: str, *, package: str = "") -> Any:
    """Import a module of another library.

    Parameters
    ----------
    module : str
        Its dotted name.
    extra : str
        The extra of Iris that installs it; "" if no extra does.
    package : str, optional
        What to install where there is no extra.

    Raises
    ------
    BadInput
        Where it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0].replace("_", "-")
        raise BadInput(name, "is not installed", f"pip install {package or f'irisdp[{extra}]'}") from None
