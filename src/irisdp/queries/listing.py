"""Which files of a folder are a table's: all of them, or those that a pattern names, however large the folder is.

Every folder is listed once, no link is followed, and names are only counted up to a bound. So listing ends soon in a
folder that is deep, holds a whole disk, or leads into itself. How many names there are is as public as the names.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import BadInput

__all__ = ["MOST_NAMES", "MOST_PARTS", "WILDCARDS", "listed_files"]

WILDCARDS = "*?["
"""What makes a pattern of a path."""
MOST_NAMES = 100_000
"""Files and folders that are looked at for one table; a disk has more."""
MOST_PARTS = 50
"""Folders that a pattern names one by one, from its first wildcard on."""


def listed_files(root: Path, pattern: str = "") -> Iterator[Path]:
    """Yield the files beneath a folder, or what a pattern names there, in one order that no disk has a say in.

    What is hidden is passed over: names that begin with a full stop, or with `_` unless they hold `=`.

    Parameters
    ----------
    root : Path
        The folder.
    pattern : str
        Parts between slashes, as shells have them; `**` stands for any folders, or none. Empty for every file.

    Yields
    ------
    Path
        Files; links, which are not followed, where a file or a folder would be looked for; and folders that a pattern
        names as it would name files.

    Raises
    ------
    BadInput
        For more than `MOST_NAMES` names, and a pattern of more than `MOST_PARTS` parts.
    OSError
        For a folder that cannot be listed.
    """
    parts = pattern.split("/") if pattern else ["**", "*"]
    if len(parts) > MOST_PARTS:
        raise BadInput("data", f"has a pattern of more than {MOST_PARTS} parts", "write ** for several folders")
    fits = [re.compile(fnmatch.translate(part)).match for part in parts]  # ** fits any name, as * does
    waiting, looked = [(root, _with_none(parts, {0}) - {len(parts)})], 0
    while waiting:
        folder, places = waiting.pop()
        deeper = []
        for name, link, directory in sorted(_names(folder, [parts[place] for place in places], MOST_NAMES - looked)):
            looked += 1
            if _is_hidden(name):
                continue
            matched = {place + (parts[place] != "**") for place in places if fits[place](name)}
            behind = _with_none(parts, matched)
            named = len(parts) in behind and (not directory or bool(pattern))
            if named or (link and behind and os.path.isdir(folder / name)):
                yield folder / name
            if directory and behind - {len(parts)}:
                deeper.append((folder / name, behind - {len(parts)}))
        waiting += reversed(deeper)


def _names(folder: Path, parts: list[str], most: int) -> Iterator[tuple[str, bool, bool]]:
    """Yield what a folder holds that parts of a pattern may name: the name, whether it is a link, or else a folder."""
    if not any(part == "**" or set(part) & set(WILDCARDS) for part in parts):
        for name in {part for part in parts if os.path.lexists(folder / part)}:
            path = folder / name
            yield name, path.is_symlink(), path.is_dir() and not path.is_symlink()
        return
    with os.scandir(folder) as found:
        for number, entry in enumerate(found):
            if number >= most:
                rule = f"has more than {MOST_NAMES:,} files and folders to look through"
                raise BadInput("data", rule, "name a folder that holds little else, or keep its records in fewer files")
            yield entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)


def _with_none(parts: list[str], places: set[int]) -> set[int]:
    """Add the places that are reached where `**` stands for no folder."""
    found = set(places)
    for place in range(len(parts)):
        if place in found and parts[place] == "**":
            found.add(place + 1)
    return found


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)
