"""Where a table lies, and what it is called there: its ledger and its project are found by that.

A compressed file is a container: `survey.csv.gz` holds the table survey.csv, as survey.csv would, and both have one
ledger, survey.ledger. A folder is one table, sales, whose ledger is sales.ledger beside it; a pattern names a part of
it, a table with another name and the same ledger.
"""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import quote, unquote

from ..errors import BadInput
from .columns import Note

# Find the files of a folder that belong to a table: all of them, or those that match a pattern.
#
# Every folder is listed once, links are not followed, and names are only counted up to a bound. So listing ends soon in
# a folder that is deep, holds a whole disk, or leads into itself. The number of names is as public as the names.

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
        Parts between slashes, as shells have them; `**` matches any folders, or none. Empty for every file.

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
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                rule = f"has more than {MOST_NAMES:,} files and folders to look through"
                raise BadInput("data", rule, "name a folder that holds little else, or keep its records in fewer files")
            yield entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)


def _with_none(parts: list[str], places: set[int]) -> set[int]:
    """Add the places that are reached if `**` matches no folder."""
    result = set(places)
    for index in range(len(parts)):
        if index in result and parts[index] == "**":
            result.add(index + 1)
    return result


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


_WEB = ("http", "https", "ftp", "ftps", "sftp", "s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "hdfs", "hf")

PACKINGS = (".gz", ".zst")
"""Endings of compressed files, which stand behind the ending of what is compressed."""


@dataclass(frozen=True, slots=True)
class Location:
    """A table's place; public.

    Attributes
    ----------
    path : Path
        The file, or the folder, all links followed.
    name : str
        What the table is called: by its file, without what says that it is compressed; or by its folder, with the
        pattern by which a part of that is named.
    stem : str
        What the names of the files beside it begin with.
    pattern : str
        Which files of the folder it is; empty for all of them, and for a file.
    inner : str
        Which table of a database it is, in small letters; empty where the file is no database.
    part : tuple of str
        Which partition of the table: of a folder, a hive column and its value; of records, the column, the value and
        the period. Empty for the whole table.
    """

    path: Path
    name: str
    stem: str
    pattern: str = ""
    inner: str = ""
    part: tuple[str, ...] = ()

    def beside(self, ending: str) -> Path:
        """Return the file of that ending beside the table."""
        return self.path.with_name(self.stem + ending)

    @classmethod
    def of_folder(cls, root: Path, pattern: str = "") -> Location:
        """Return the location of a table in a folder, or of that part of it which a pattern names."""
        stem = root.stem if root.suffix.lower() == ".parquet" else root.name
        return cls(root, f"{root.name}/{pattern}" if pattern else root.name, stem, pattern)

    def names(self) -> Iterator[Path]:
        """Yield every path that would lead to a table of this name: the file itself first, and its other containers.

        `survey.csv` beside survey.csv.gz is one of them, whether or not it is there.
        """
        yield self.path
        if not (self.inner or self.pattern or self.path.is_dir()):
            yield from (self.path.with_name(self.name + ending) for ending in ("", *PACKINGS))

    def files(self) -> Iterator[Path]:
        """Yield the files that hold the table, and links that may lead to some, in one order; see `listed_files`."""
        if self.path.is_dir():
            for file in listed_files(self.path, self.pattern):
                if len(self.part) != 2 or _said(file.relative_to(self.path), self.part[0]) == self.part[1]:
                    yield file
        else:
            yield self.path


def _said(path: PurePath, key: str) -> str | None:
    """Return what the folders that a file lies in say of a hive column."""
    pairs = (part.split("=", 1) for part in path.parts[:-1] if "=" in part)
    return next((unquote(value) for name, value in pairs if unquote(name) == key), None)


def location_of(path: Path) -> Location:
    """Return the location of a table in a file or a folder, whose path has no link left to follow."""
    if path.is_dir():
        return Location.of_folder(path)
    name = unpacked_name(path.name)
    return Location(path, name, PurePath(name).stem)


def names_several(text: str) -> bool:
    """Tell whether a path names a folder or a part of one: by a pattern that is no file's own name, or as one file."""
    path = Path(text).expanduser()
    if path.is_dir() or (set(text) & set(WILDCARDS) and not os.path.lexists(path)):
        return True
    return _is_part(path.resolve())


def _is_part(path: Path) -> bool:
    """Tell whether a Parquet file lies in a folder `key=VALUE`, and so belongs to the table around that.

    What was asked of it when it was taken for a table of its own is in a ledger beside it, which goes on.
    """
    inside = path.suffix.lower() == ".parquet" and "=" in path.parent.name and path.is_file()
    return inside and not os.path.lexists(path.with_name(path.stem + ".ledger"))


def note_of_partition(location: Location | None) -> tuple[Note, ...]:
    """Say of a table that lies in a folder `key=VALUE` and is no part of a table that what the folder says is lost.

    Text is read file by file, and a folder between a file and its partition may belong to anyone. So such a file is a
    table of its own, with a budget of its own.
    """
    if location is None or location.inner or location.pattern:
        return ()
    folder = next((part.name for part in location.path.parents if "=" in part.name), None)
    if folder is None:
        return ()
    fact = f"as a table of its own, with a budget of its own: what the folder {folder!r} says is no column of it"
    return (Note(fact, "name the folder around it if all in it are Parquet files of one table"),)


def root_of(text: str) -> tuple[Path, str]:
    """Return the folder of a table, all links followed, and the pattern beneath it; none where it is the whole folder.

    The folder is where hive partitions begin: `sales/year=2024` is a part of `sales`, and so is a file in it.
    """
    named = Path(text).expanduser()
    file = named.resolve()
    parts = named.parts
    whole = next((index for index, part in enumerate(parts) if set(part) & set(WILDCARDS)), len(parts))
    root, rest = Path(*parts[:whole]).resolve(), list(parts[whole:])
    if _is_part(file):
        root, rest = file.parent, [glob.escape(file.name)]
    elif not rest and "=" in root.name:
        rest = ["**", "*.parquet"]
    while "=" in root.name:
        root, rest = root.parent, [glob.escape(root.name), *rest]
    return root, "/".join(rest)


def is_address(text: str) -> bool:
    """Tell whether DATA is an address of a table in a database, and no path."""
    return re.match(r"\s*[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def plain_lower(name: str) -> str:
    """Return a name with ASCII's capitals made small, and no other letter changed."""
    return name.translate({letter: letter + 32 for letter in range(65, 91)})


def _in_database(text: str) -> Location:
    path, _, name = text.removeprefix("sqlite:///").partition("#")
    if not text.startswith("sqlite:///") or not path or not name or "?" in path:
        write = (
            "write sqlite:///FILE#TABLE (sqlite:////FILE#TABLE from the root on) or postgresql://HOST/DATABASE#TABLE"
        )
        scheme = text.strip().partition("://")[0].lower()
        if scheme in _WEB:
            write = "download the file, and name it by its path"
            raise BadInput("data", f"is an address on a network ({scheme}://), from which Iris reads no file", write)
        if scheme == "file":
            raise BadInput("data", "is a path written as an address (file://)", "give the path alone, without file://")
        raise BadInput("data", "is no address of a table in a database", write)
    # As SQLite has it, whose names differ in more than the case of ASCII letters; the file beside is named safely.
    table = plain_lower(unquote(name))
    file = Path(unquote(path)).expanduser().resolve()
    return Location(file, f"{file.name}/{table}", f"{file.stem}.{quote(table, safe=' ')}", inner=table)


def counted_from(text: str, folder: Path) -> str:
    """Return an address whose file counts from a folder, unless it counts from the root; others as they are."""
    path, hash_sign, name = text.removeprefix("sqlite:///").partition("#")
    if not text.startswith("sqlite:///") or not path or path[0] in "/~":
        return text
    return f"sqlite:///{quote(os.fspath(folder.absolute()))}/{path}{hash_sign}{name}"


def locate(text: str) -> Location:
    """Return the location that a path or an address leads to, all links followed, whether or not anything is there.

    Raises
    ------
    BadInput
        For an address that names no table; what it holds is not quoted, as it may be secret.
    """
    if is_address(text):
        return _in_database(text)
    if names_several(text):
        return Location.of_folder(*root_of(text))
    return location_of(Path(text).expanduser().resolve())


def packing_of(name: str) -> str:
    """Return the ending that says how a file is compressed; empty if it is not."""
    ending = PurePath(name).suffix.lower()
    return ending if ending in PACKINGS else ""


def unpacked_name(name: str) -> str:
    """Return a file's name without the ending that says how it is compressed."""
    return name[: len(name) - len(packing_of(name))]
