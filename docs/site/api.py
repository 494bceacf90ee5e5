"""The pages about Python: one for each public name, from its docstring, and a list of them for each public module.

Sphinx reads the docstrings when the manual is made; this program says which names there are. A name that several
modules export is described in the first of `ROOMS`, and the others lead there.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import irisdp

__all__ = ["ROOMS", "names", "pages", "readable", "said"]

ROOMS = (
    "irisdp",
    *(f"irisdp.{room}" for room in ("design", "consumers", "noise", "accounting", "certify")),
    *(
        f"irisdp.{room}"
        for room in ("mechanisms", "graphs", "privacy", "interpretation", "baselines", "plots", "interop")
    ),
)
"""What callers use; the other rooms serve these."""


def names() -> Iterator[tuple[str, str, Any, bool]]:
    """Yield (room, name, value, whether it is described there) for every public name that is no room."""
    told: set[int] = set()
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in module.__all__:
            value = getattr(module, name)
            if not inspect.ismodule(value):
                first = id(value) not in told
                told.add(id(value))
                yield room, name, value, first


def pages() -> dict[str, str]:
    """Return the pages by file name: an index, a list for each module, and a page for each public name."""
    found = list(names())
    told = "What can be imported, module by module. `help(irisdp.publish)` says the same as its page."
    listed = [f"- [{room}]({room}.md): {_opening(room)}" for room in ROOMS]
    made = {"index.md": "\n".join(["# Python", "", told, "", *listed, ""])}
    for room in ROOMS:
        own = [(name, value, first) for where, name, value, first in found if where == room]
        files = _files(room, {name: value for name, value, first in own if first})
        lines = [f"# {room}", "", *_markup([readable(_opening(room))])]
        for name, value, first in own:
            target = f"[{name}]({files[name]})" if first else f"{{py:obj}}`{name} <{_home(found, value)}>`"
            lines.append(f"- {target}: {_plain(said(name, value))}")
        made[f"{room}.md"] = "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *files.values(), "```", ""])
        for name, value, first in own:
            if first:
                body = _markup([f".. currentmodule:: {room}", "", *_described(room, name, value)])
                made[files[name]] = "\n".join([f"# {name}", "", *body])
    return made


def _files(room: str, own: dict[str, Any]) -> dict[str, str]:
    """Return the page of each name; on some disks `Quantile` and `quantile` are one file, so the class gets another."""
    often = Counter(name.casefold() for name in own)
    clash = {name for name, value in own.items() if often[name.casefold()] > 1 and inspect.isclass(value)}
    return {name: f"{room}/{name}{'-class' if name in clash else ''}.md" for name in own}


def _markup(lines: list[str]) -> list[str]:
    return ["```{eval-rst}", *lines, "```", ""]


def _plain(text: str) -> str:
    """Return the first sentence of a docstring as Markdown."""
    first = " ".join(text.partition("\n\n")[0].split())
    first = re.split(r"(?<=[.?!]) (?=[A-Z])", first)[0].replace("``", "`")
    pieces = re.split(r"(`[^`]*`)", first)
    pieces[::2] = [re.sub(r"([*_<\[\]|])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def _opening(room: str) -> str:
    """Return the first sentence that a room says of itself."""
    return (importlib.import_module(room).__doc__ or "").strip().partition("\n")[0]


def _home(found: list[tuple[str, str, Any, bool]], value: Any) -> str:
    return next(f"{room}.{name}" for room, name, other, first in found if other is value and first)


def said(name: str, value: Any) -> str:
    """Return what the library says of a public name: its docstring, or the text below a constant or an alias."""
    return inspect.getdoc(value) or "" if _is_defined(name, value) else _said_below(name)


def _is_defined(name: str, value: Any) -> bool:
    return inspect.isfunction(value) or (inspect.isclass(value) and value.__name__ == name)


def _described(room: str, name: str, value: Any) -> list[str]:
    if inspect.isfunction(value):
        return [f".. autofunction:: {room}.{name}", ""]
    if _is_defined(name, value):
        return [
            f".. autoclass:: {room}.{name}",
            "   :members:",
            "   :inherited-members: tuple, Exception, BaseException",
            "",
        ]
    told = [f"   {line}" if line else "" for line in readable(said(name, value)).splitlines()]
    kind = f"   :value: {value!r}" if isinstance(value, str | int) else "   :no-index-entry:"
    return [f".. py:data:: {room}.{name}", kind, "", *told, ""]


@cache
def _said_below(name: str) -> str:
    """Return the text that stands below the assignment of a constant, wherever in the library it is made."""
    for path in sorted(Path(irisdp.__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if f"\n{name} = " not in text and f"\n{name}: " not in text:
            continue
        body = ast.parse(text).body
        for made, below in pairwise(body):
            targets = made.targets if isinstance(made, ast.Assign) else [getattr(made, "target", None)]
            named = any(isinstance(target, ast.Name) and target.id == name for target in targets)
            if named and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return str(below.value.value)
    return ""


def readable(text: str) -> str:
    """Return a docstring, or a line of one, of which nothing is read as markup that is meant as arithmetic."""
    if text.lstrip().startswith((">>>", "...")):
        return text
    pieces = re.split(r"(``[^`]*``|`[^`]*`)", text)
    for place in range(0, len(pieces), 2):
        pieces[place] = re.sub(r"([|*\\])", r"\\\1", pieces[place])
        pieces[place] = re.sub(r"(\w)_(?!\w)", r"\1\\_", pieces[place])
        pieces[place] = re.sub(r"\bproofs/([a-z-]+)\.md", r":doc:`\1 </proofs/\1>`", pieces[place])
        pieces[place] = re.sub(r"\bdocs/(\w+)\.md(?:#\w+)?", r":doc:`\1 </\1>`", pieces[place])
    return "".join(pieces)
