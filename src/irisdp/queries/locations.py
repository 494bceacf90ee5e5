"""Where a table lies, and what it is called there: its ledger and its project are found by that.

A compressed file is a container: `survey.csv.gz` holds the table survey.csv, as survey.csv would, and both have one
ledger, survey.ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePath

__all__ = ["PACKINGS", "Location", "location_of", "packing_of", "unpacked_name"]

PACKINGS = (".gz", ".zst")
"""Endings of compressed files, which stand behind the ending of what is compressed."""


@dataclass(frozen=True, slots=True)
class Location:
    """A table's place; public.

    Attributes
    ----------
    path : Path
        The file, all links followed.
    name : str
        What the table is called: by its file, without what says that it is compressed.
    stem : str
        What the names of the files beside it begin with.
    """

    path: Path
    name: str
    stem: str

    def beside(self, ending: str) -> Path:
        """Return the file of that ending beside the table."""
        return self.path.with_name(self.stem + ending)


def location_of(path: Path) -> Location:
    """Return the location of a table in a file, whose path has no link left to follow."""
    name = unpacked_name(path.name)
    return Location(path, name, PurePath(name).stem)


def packing_of(name: str) -> str:
    """Return the ending that says how a file is compressed; empty if it is not."""
    ending = PurePath(name).suffix.lower()
    return ending if ending in PACKINGS else ""


def unpacked_name(name: str) -> str:
    """Return a file's name without the ending that says how it is compressed."""
    return name[: len(name) - len(packing_of(name))]
