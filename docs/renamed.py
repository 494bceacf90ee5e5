"""Write docs/reference/renamed.md: which public names of earlier versions are called what today."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import irisdp
from irisdp._moved import GONE, MOVED

__all__ = ["page"]

PAGE = Path(__file__).parent / "reference" / "renamed.md"


def renamed_methods() -> Iterator[tuple[str, str]]:
    """Yield (old, new) for each method that `renamed_method` made."""
    for found in pkgutil.walk_packages(irisdp.__path__, "irisdp."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for kind in vars(module).values():
            if inspect.isclass(kind) and kind.__module__ == module.__name__:
                for method in vars(kind).values():
                    if getattr(method, "__qualname__", "").startswith("renamed_method.<locals>"):
                        names = inspect.getclosurevars(method).nonlocals
                        yield f"{kind.__name__}.{names['old']}()", f"{kind.__name__}.{names['new']}()"


def page() -> str:
    """Return the page."""
    public = {old: new for old, new in MOVED.items() if "._" not in f".{new}"}
    internal = {old: new for old, new in MOVED.items() if old not in public}
    lines = [
        "# Renamed in 0.2",
        "",
        "Old names still work and warn with the new name. The names in the last table are gone.",
    ]
    for heading, names in (
        ("was | is", public),
        ("was | is internal now, and may change", internal),
        ("method was | is", dict(renamed_methods())),
        ("is no more | use", GONE),
    ):
        rows = [f"| `{old}` | `{new}` |" for old, new in sorted(names.items())]
        lines += ["", f"| {heading} |", "|---|---|", *rows]
    lines += [
        "",
        "Losses written `asymmetric:LOW:HIGH` in specs and options are read as `pinball:LOW:HIGH`, without a warning.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
