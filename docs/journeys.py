"""Follow six values through Iris while it runs: which ways between files are gone with them.

    python docs/journeys.py [--ways | --json]

An entry is a way from a function in one file to a function in another, counted once however often it is gone, on which
the call is given the value (or, counted apart, what was made of it). `docs/structure.py` writes both down beside those
of version 0.1, for which the same lines run.
"""

from __future__ import annotations

import enum
import json
import numbers
import os
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any


class Walk:
    """Watches calls between files while a value is handed on, with all that is made from it.

    Parameters
    ----------
    source : Path
        Calls between files of this folder count, but for those of `GROUND`.
    value
        What is followed.
    """

    GROUND = ("_exact/", "exact/", "errors.py")
    """The ground floor, which checks arguments and writes numbers for everybody, is passed through unseen."""

    DEEPEST = 3
    """How far inside an argument the value is looked for: publish → plan → query → condition."""

    def __init__(self, source: Path, value: Any) -> None:
        self.source = f"{source}{os.sep}"
        # Objects are kept, so that no other can have their place in memory.
        self.value = {id(part): part for part in (value, *leaves(value))}
        self.made = dict(self.value)
        self.given: dict[int, set[int]] = {}
        self.entries: dict[tuple[str, str], bool] = {}

    def watch(self, frame: types.FrameType, event: str, result: Any) -> None:
        """Note a call with the value, and what it returns; for `sys.setprofile`."""
        here = self.file(frame)
        if here is None:
            return
        if event == "call":
            given = list(arguments(frame))
            if not any(self.holds(argument, self.made) for argument in given):
                return
            self.given[id(frame)] = {id(part) for argument in given for part in within(argument, self.DEEPEST)}
            caller = self.caller(frame)
            if not here.startswith(self.GROUND) and (caller is None or self.file(caller) != here):
                way = (self.place(caller), self.place(frame))
                itself = any(self.holds(argument, self.value) for argument in given)
                self.entries[way] = self.entries.get(way, False) or itself
        elif event == "return" and (before := self.given.pop(id(frame), None)) is not None:
            self.keep(result, before, self.DEEPEST)

    def file(self, frame: types.FrameType) -> str | None:
        """Return the file of a frame, inside the source; None elsewhere."""
        name = frame.f_code.co_filename
        return name.removeprefix(self.source).replace(os.sep, "/") if name.startswith(self.source) else None

    def caller(self, frame: types.FrameType) -> types.FrameType | None:
        """Return who called, past the ground floor and what is not of the source."""
        above = frame.f_back
        while above is not None and ((name := self.file(above)) is None or name.startswith(self.GROUND)):
            above = above.f_back
        return above

    def place(self, frame: types.FrameType | None) -> str:
        """Return the file and function of a frame."""
        return "" if frame is None else f"{self.file(frame)}:{frame.f_code.co_qualname}"

    def holds(self, thing: Any, carriers: dict[int, Any], depth: int = DEEPEST) -> bool:
        """Tell whether something is a carrier, or has a part that is."""
        return any(id(part) in carriers for part in within(thing, depth))

    def keep(self, thing: Any, before: set[int], depth: int) -> None:
        """Follow what a call made of the value, and its parts, but not what the call was given besides."""
        if id(thing) in self.made or id(thing) in before or not followed(thing):
            return
        self.made[id(thing)] = thing
        if depth > 0:
            for part in parts(thing):
                self.keep(part, before, depth - 1)

    def document(self) -> dict[str, Any]:
        """Return the ways in and the files entered: with the value itself, and with it or what was made from it."""
        itself = [way for way, itself in self.entries.items() if itself]
        return {
            "itself": [len(itself), len(files_entered(itself))],
            "made": [len(self.entries), len(files_entered(self.entries))],
            "ways": sorted(self.entries.items()),
        }


def files_entered(ways: Iterable[tuple[str, str]]) -> set[str]:
    """Return the files that ways lead into."""
    return {there.partition(":")[0] for _, there in ways}


def within(thing: Any, depth: int) -> Iterator[Any]:
    """Yield something and its parts."""
    yield thing
    if depth > 0:
        for part in parts(thing):
            yield from within(part, depth - 1)


def leaves(value: Any) -> Iterator[Any]:
    """Yield all that a document is made of, but for numbers and names that are shared."""
    for part in parts(value) if isinstance(value, dict | list | tuple) else ():
        if followed(part) or (isinstance(part, str) and len(part) > 1):
            yield part
        yield from leaves(part)


def arguments(frame: types.FrameType) -> Iterator[Any]:
    """Yield what a function was called with."""
    code, values = frame.f_code, frame.f_locals
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return (values[name] for name in code.co_varnames[:count] if name in values)


MOST_PARTS = 100


def parts(thing: Any) -> list[Any]:
    """Return what something is made of: items, values, attributes, and the variables that a function closes over."""
    if isinstance(thing, dict):
        return list(thing.values())[:MOST_PARTS]
    if isinstance(thing, list | tuple):
        return list(thing[:MOST_PARTS])
    if isinstance(thing, types.MethodType):
        return [thing.__self__]
    if isinstance(thing, types.FunctionType):
        return [cell.cell_contents for cell in thing.__closure__ or () if cell != types.CellType()]
    if not type(thing).__module__.startswith("irisdp"):
        return []
    found = []
    for slot in slots_of(type(thing)):
        with suppress(AttributeError):  # a slot that is empty yet
            found.append(slot.__get__(thing))
    with suppress(AttributeError):
        found.extend(object.__getattribute__(thing, "__dict__").values())
    return found


@cache
def slots_of(kind: type) -> list[types.MemberDescriptorType]:
    """Return all slots of a class."""
    members = [member for base in kind.__mro__ for member in vars(base).values()]
    return [member for member in members if isinstance(member, types.MemberDescriptorType)]


def followed(thing: Any) -> bool:
    """Tell whether something stands for itself: no number, text, name of code or empty container, which are shared."""
    shared = (numbers.Number, str, enum.Enum, type, types.FunctionType, types.ModuleType, types.NoneType)
    return not isinstance(thing, shared) and not (isinstance(thing, list | tuple | dict | bytes) and not thing)


def fresh(text: str) -> str:
    """Return a text of its own, which no code shares."""
    return "".join(list(text))


def condition_in_publish(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow the condition of a count by group."""
    import irisdp

    data = survey(folder)
    ask = dict(by="town", groups="Ely,York", epsilon=1, out=folder / "out.csv")
    return fresh("age > 64"), lambda condition: irisdp.publish(data, "count", condition, **ask)


def frame_in_publish(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow a frame whose groups have a majority."""
    import pyarrow

    import irisdp

    frame = pyarrow.table({"age": [70, 30, 81], "town": ["Ely", "Ely", "York"]})
    ask = dict(by="town", groups=["Ely", "York"], epsilon=1, ledger=folder / "frame.ledger")
    return frame, lambda table: irisdp.publish(table, "majority", "age > 64", **ask)


def spec_in_design(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow the spec of a consumer."""
    from irisdp import design

    text = """{"kind": "consumer", "n": "12", "loss": "squared", "side_information": [1, 2, 3],
               "privacy": {"ratio": "2.0"}}"""
    return json.loads(text), design.from_spec


def file_in_audit(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow a mechanism file with a certificate."""
    import irisdp

    spec, made = folder / "spec.json", folder / "made.json"
    spec.write_text(json.dumps({"kind": "consumer", "n": 3, "loss": "absolute", "privacy": {"ratio": 2}}))
    command = [sys.executable, "-m", "irisdp", "design", str(spec), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made, irisdp.audit


def value_in_interpret(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow a published number that one reader interprets."""
    import irisdp

    irisdp.publish(survey(folder), "count", epsilon=1, out=folder / "out.csv")
    sidecar = folder / "out.csv.release.json"
    return int("1000"), lambda value: irisdp.interpret(sidecar, value, loss="squared", at_most=1200)


def ranking_in_rainbow(folder: Path) -> tuple[Any, Callable[[Any], Any]]:
    """Follow the rankings of three parties along a line."""
    from irisdp import Privacy, design
    from irisdp.graphs import Path as Line

    orders = [("a", "b", "c"), ("b", "a", "c"), ("b", "c", "a"), ("c", "b", "a")]
    rankings = {node: orders[node // 2] for node in range(8)}
    return rankings, lambda given: design.rainbow(Line(8), given, Privacy(ratio=2))


def survey(folder: Path) -> Path:
    """Write a small table."""
    data = folder / "survey.csv"
    data.write_text("age,town\n70,Ely\n30,Ely\n81,York\n")
    return data


JOURNEYS = {
    "condition in publish": condition_in_publish,
    "frame in publish": frame_in_publish,
    "spec in design": spec_in_design,
    "file in audit": file_in_audit,
    "value in interpret": value_in_interpret,
    "ranking in rainbow": ranking_in_rainbow,
}


def journeys(names: Iterable[str] = tuple(JOURNEYS)) -> dict[str, Any]:
    """Walk journeys in the `irisdp` that is installed."""
    import irisdp

    found = {}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            value, go = JOURNEYS[name](Path(folder))
            walk = Walk(Path(irisdp.__file__).parent, value)
            sys.setprofile(walk.watch)
            try:
                go(value)
            finally:
                sys.setprofile(None)
        found[name] = walk.document()
    return found


def main() -> None:
    """Show what was found, in the form asked for."""
    found = journeys()
    if "--json" in sys.argv:
        print(json.dumps(found))
        return
    for name, walked in found.items():
        (entries, files), (entries_made, files_made) = walked["itself"], walked["made"]
        print(f"{name}: {entries} entries, {files} files; with what was made {entries_made}, {files_made}")
        if "--ways" in sys.argv:
            print(*(f"  {'=' if itself else ' '} {a} -> {b}" for (a, b), itself in walked["ways"]), sep="\n")


if __name__ == "__main__":
    main()
