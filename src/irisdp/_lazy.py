"""Load names and libraries when they are first used, and old names with a warning.

Counting records should not load the auditor, and `import irisdp` should load no engine.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def exports(package: str) -> None:
    """Hand out the names that a package imports under `if TYPE_CHECKING`, each loaded on first use (PEP 562).

    So the names are listed once, with plain imports that people, editors and type checkers read.

    Parameters
    ----------
    package : str
        The package's `__name__`. Its public names are in `__all__`; all other names are for Iris's own packages.
    """
    module = sys.modules[package]
    source = module.__loader__.get_source(package)  # type: ignore[union-attr]  # every loader of files has it
    homes: dict[str, str] = {}
    for block in ast.parse(source).body:
        if isinstance(block, ast.If):
            imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
            homes |= {name.name: "." * node.level + (node.module or "") for node in imports for name in node.names}

    def load(name: str) -> Any:
        if name in homes:
            home = homes[name]
            vars(module)[name] = (
                getattr(importlib.import_module(home, package), name)
                if home.strip(".")
                else importlib.import_module(home + name, package)
            )
            return vars(module)[name]
        return moved_name(package, name)

    vars(module).update(__getattr__=load, __dir__=lambda: sorted({*vars(module), *homes}))


def moved_name(module: str, name: str) -> Any:
    """Return what a name of an earlier version is today, with a warning.

    Raises
    ------
    AttributeError
        For names that never were, and for those without a successor: they say what to use.
    """
    from ._moved import GONE, MOVED, PACKAGES

    old = f"{module}.{name}".removeprefix("irisdp.")
    if old in GONE:
        raise AttributeError(f"{module}.{name} is {GONE[old]} since version 0.2")
    if old in PACKAGES:
        return importlib.import_module(f"{module}.{name}")
    if old not in MOVED:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    _warn(f"{module}.{name}", f"irisdp.{MOVED[old]}", stacklevel=4)
    home, _, new = f"irisdp.{MOVED[old]}".rpartition(".")
    return getattr(importlib.import_module(home), new)


class _MovedPackages(MetaPathFinder, Loader):
    """Find the packages of earlier versions: Python asks only for modules that are not there."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith("irisdp."):
            return None
        from ._moved import PACKAGES

        is_old = name.removeprefix("irisdp.") in PACKAGES
        return importlib.util.spec_from_loader(name, self, is_package=True) if is_old else None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        module.__doc__ = "A package of an earlier version: its names say where they are now."
        vars(module)["__getattr__"] = lambda wanted: moved_name(name, wanted)


sys.meta_path.append(_MovedPackages())


def renamed_method(old: str, new: str) -> Callable[..., Any]:
    """Return a method that warns and calls the one it is now.

    Examples
    --------
    >>> class Plan:
    ...     def to_document(self): ...
    ...     document = renamed_method("document", "to_document")
    """

    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}()", f"{new}()", stacklevel=3)
        return getattr(self, new)(*arguments, **options)

    called.__name__, called.__doc__ = old, f"Call `{new}`: this is its name in version 0.1."
    return called


def _warn(old: str, new: str, *, stacklevel: int) -> None:
    warnings.warn(f"{old} is {new} since version 0.2", DeprecationWarning, stacklevel=stacklevel)


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
    from .errors import BadInput

    try:
        return importlib.import_module(module)
    except ImportError:
        name = module.partition(".")[0].replace("_", "-")
        raise BadInput(name, "is not installed", f"pip install {package or f'irisdp[{extra}]'}") from None
