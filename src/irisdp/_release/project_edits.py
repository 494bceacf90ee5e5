"""Change a project file in place: comments, order and spelling of everything else stay as they are.

Iris reads both texts before it uses the new one. The new text must say what the old one said, and the changes. If it
does not, the file stays, and the message says which line the owner can write by hand.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._aliases import OPTIONS
from .._exact import file_path, toml_key, toml_value
from .._files import is_there, open_regular, plan_outputs, write_outputs
from ..errors import BadInput
from .project import Project, read_project

_HEADER = (
    "# Settings for all questions on the table that lies beside this file. It is public, as is every value in it.\n"
)
_MOST_BYTES = 1 << 20
_BY_COLUMN = (("types",), ("categories",), ("groups",), ("labels", "columns"), ("labels", "groups"))
"""Tables whose keys are names of columns: their case does not count."""


@dataclass(frozen=True, slots=True)
class Change:
    """One setting of a project file, and what it shall be.

    Parameters
    ----------
    path : tuple of str
        Where it stands, such as ``("unit",)``, ``("types", "age")`` or ``("labels", "columns", "age")``.
    value : text, int, bool, list or mapping, optional
        None removes it.
    """

    path: tuple[str, ...]
    value: Any = None


@dataclass(frozen=True, slots=True)
class ProjectText:
    """A project file as it was read, or one that is not there yet.

    Attributes
    ----------
    path : Path
    content : bytes or None
        None where there is no file.
    """

    path: Path
    content: bytes | None

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> ProjectText:
        """Read a file, which must be a project file if it is there.

        Raises
        ------
        BadInput
            As `read_project` does.
        """
        file = file_path(path, "project")
        if not is_there(file):
            return cls(file, None)
        try:
            with open_regular(file) as opened:
                content = opened.read(_MOST_BYTES + 1)
        except OSError:
            read_project(file)  # which says in words why it cannot be read
            raise
        read_project(file, content=content)
        return cls(file, content)

    @property
    def version(self) -> str:
        """Name what the file holds; a form that was filled in from another version is not saved over this one."""
        return "none" if self.content is None else hashlib.sha256(self.content).hexdigest()[:32]

    def changed(self, changes: Sequence[Change]) -> ProjectText:
        """Return the text with the changes; comments and all other settings stay.

        Raises
        ------
        BadInput
            Where the file is written in a way in which Iris cannot change it, and where tomlkit is not installed.
        """
        try:
            import tomlkit  # noqa: F401
        except ImportError:
            raise BadInput("tomlkit", "is not installed", 'pip install "irisdp[explorer]"') from None
        mark = b"\xef\xbb\xbf" if (self.content or b"").startswith(b"\xef\xbb\xbf") else b""
        text = _HEADER if self.content is None else self.content.removeprefix(mark).decode()
        for change in changes:
            text = _with_change(text, change, self.path.name)
        if self.content is None and text == _HEADER:
            return self
        return replace(self, content=mark + text.encode())

    def project(self) -> Project | None:
        """Return what the text says, checked as a project file; None for a file that is not there yet.

        Raises
        ------
        BadInput
            As `read_project` does.
        """
        return None if self.content is None else read_project(self.path, content=self.content)


def save_project(before: ProjectText, after: ProjectText) -> Project | None:
    """Put a new text in place of the file, in one step and with the same rights; return what it says.

    Raises
    ------
    BadInput
        If the text is no project file, if the file was changed meanwhile, or if it cannot be written. The file is then
        as it was.
    """
    project = after.project()
    if after.content == before.content or after.content is None:
        return project
    if ProjectText.at(before.path).version != before.version:
        rule = f"{before.path.name} was changed meanwhile by somebody else, or in another window"
        raise BadInput("project", rule, "open this page again, and make the change there")
    # A link stays a link: what it leads to is replaced.
    place = Path(os.path.realpath(before.path))
    (output,) = plan_outputs([place], [], field="project", force=before.content is not None)
    if before.content is not None:
        output = replace(output, mode=stat.S_IMODE(os.stat(place).st_mode))
    write_outputs([(output, after.content)])
    return project


_NOT_SO = (ValueError, TypeError, LookupError, AttributeError)
"""What the parser that keeps comments raises of a text that it cannot change."""


# One change of a text. New lines are placed by a look at the text, where a person would write them; what is there
# already is changed by a parser that keeps the rest. Both are checked against what a parser without that aim reads.


def _with_change(text: str, change: Change, name: str) -> str:
    before = _parsed(text)
    path = _path_there(before, change.path)
    wanted = _applied(before, path, change.value)
    if _filled(wanted) == _filled(before):
        return text
    for way in (_placed, _in_place, _anew):
        try:
            changed = way(text, path, change.value)
            if _filled(_parsed(changed)) == _filled(wanted):
                return changed
        except _NOT_SO:
            continue
    said = "remove" if change.value is None else "write"
    shown = ".".join(toml_key(part) for part in path)
    line = shown if change.value is None else f"{shown} = {toml_value(change.value)}"
    raise BadInput("project", f"{name} is written in a way that Iris cannot change", f"{said} yourself: {line[:300]}")


def _parsed(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text, parse_float=lambda number: ("number", number))


def _path_there(document: Mapping[str, Any], path: tuple[str, ...]) -> tuple[str, ...]:
    """Return a path by the names that the file has: synonyms, hyphens, and another case of a column's name."""
    there: list[str] = []
    within: Any = document
    for place, wanted in enumerate(path):
        keys = list(within) if isinstance(within, Mapping) else []
        if place == 0:
            same = [key for key in keys if _own(key) == wanted]
        elif path[:place] in _BY_COLUMN:
            same = [key for key in keys if key.casefold() == wanted.casefold()]
        else:
            same = [key for key in keys if key == wanted]
        there.append(same[0] if same else wanted)
        within = within[same[0]] if same else None
    return tuple(there)


def _own(key: str) -> str:
    plain = key.replace("-", "_")
    return OPTIONS.get(plain, plain)


def _filled(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file says without its empty tables, which say nothing."""
    kept = {key: _filled(value) if isinstance(value, Mapping) else value for key, value in document.items()}
    return {key: value for key, value in kept.items() if value != {}}


def _applied(document: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return what a file with a change says."""
    first, *rest = path
    if not rest:
        others = {key: each for key, each in document.items() if key != first}
        return others if value is None else {**document, first: _as_parsed(value)}
    within = document.get(first)
    if value is None and (not isinstance(within, Mapping) or not _has(within, rest)):
        return dict(document)
    return {**document, first: _applied(within if isinstance(within, Mapping) else {}, tuple(rest), value)}


def _has(document: Mapping[str, Any], path: Sequence[str]) -> bool:
    within: Any = document
    for part in path:
        if not isinstance(within, Mapping) or part not in within:
            return False
        within = within[part]
    return True


def _as_parsed(value: Any) -> Any:
    """Return a value as a parser of TOML reads it."""
    return _parsed(f"x = {toml_value(value)}")["x"]


def _placed(text: str, path: tuple[str, ...], value: Any) -> str:
    """Write a new setting on a line of its own: in place of a line that has it as a comment, or below the others."""
    if value is None or _has(_parsed(text), path):
        raise ValueError
    ending = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += ending
    line = f"{toml_key(path[-1])} = {toml_value(value)}"
    section = path[:-1]
    start, end = _section(lines, section)
    if start is None:
        if _has(_parsed(text), section) and section:
            raise ValueError  # written as an inline table, or with dots
        header = ".".join(toml_key(part) for part in section)
        return "".join([*lines, *([ending] if lines else []), f"[{header}]{ending}", f"{line}{ending}"])
    for place in range(start, end):
        remark = _commented(lines[place], path[-1], section)
        if remark is not None:
            lines[place] = f"{line}{remark}{ending}"
            return "".join(lines)
    place = _below_the_others(lines, start, end)
    gap = [ending] if not section and place < len(lines) and lines[place].lstrip()[:1] in ("[", "#") else []
    return "".join([*lines[:place], f"{line}{ending}", *gap, *lines[place:]])


def _section(lines: Sequence[str], section: tuple[str, ...]) -> tuple[int | None, int]:
    """Return the first line of a table below its header, and the line after its last; None if it has no header."""
    headers = [(place, path) for place, line in enumerate(lines) if (path := _header(line)) is not None]
    if not section:
        return 0, headers[0][0] if headers else len(lines)
    for number, (place, path) in enumerate(headers):
        if path == section:
            return place + 1, headers[number + 1][0] if number + 1 < len(headers) else len(lines)
    return None, 0


def _header(line: str) -> tuple[str, ...] | None:
    """Return the path that a header names, with the case of columns as the file has it; None for other lines."""
    if not line.lstrip().startswith("["):
        return None
    try:
        within = _parsed(line)
    except ValueError:
        return None
    path: list[str] = []
    while isinstance(within, dict) and len(within) == 1:
        (name,) = within
        path.append(_own(name) if not path else name)
        within = within[name]
    return tuple(path)


_COMMENT = re.compile(r"\s*#\s?(?=[\w\"'])")


def _commented(line: str, key: str, section: tuple[str, ...]) -> str | None:
    """Return the remark behind a setting that stands in a comment, as the template writes it; None for other lines."""
    match = _COMMENT.match(line)
    if match is None or key.casefold() not in line.casefold().replace("-", "_"):
        return None
    said = _setting(line[match.end() :])
    if said is None:
        return None
    own = said[0].casefold() == key.casefold() if section in _BY_COLUMN else _own(said[0]) == _own(key)
    return said[1] if own else None


def _setting(text: str) -> tuple[str, str] | None:
    """Return the key of a line with one setting, and the comment behind it; None if the line is no setting."""
    import tomlkit

    try:
        ((key, value),) = tomlkit.parse(text).items()
    except (ValueError, tomlkit.exceptions.TOMLKitError):
        return None
    trivia = value.trivia
    return str(key), f"{trivia.comment_ws}{trivia.comment}".rstrip() if trivia.comment else ""


def _below_the_others(lines: Sequence[str], start: int, end: int) -> int:
    """Return before which line of a table a new setting goes: below its last one, above the next one's comment."""
    for place in range(end - 1, start - 1, -1):
        line = lines[place]
        match = _COMMENT.match(line)
        if (line.strip() and not line.lstrip().startswith("#")) or (
            match is not None and _setting(line[match.end() :]) is not None
        ):
            return place + 1
    if start:  # below a header that has nothing yet
        return start
    place = end
    while place > start and lines[place - 1].lstrip().startswith("#"):
        place -= 1
    return place


def _in_place(text: str, path: tuple[str, ...], value: Any) -> str:
    """Change or remove a setting that is there, or add one to an inline table."""
    import tomlkit

    document = tomlkit.parse(text)
    within: Any = document
    for part in path[:-1]:
        if part not in within:
            is_inline = isinstance(within, tomlkit.items.InlineTable)
            within[part] = tomlkit.inline_table() if is_inline else tomlkit.table()
        within = within[part]
    key = path[-1]
    if value is None:
        del within[key]
    elif isinstance(value, list) and isinstance(within.get(key), list) and "\n" in within[key].as_string():
        _change_list(within[key], value)
    elif isinstance(value, Mapping) and isinstance(within.get(key), tomlkit.items.Table):
        _change_table(within[key], value)
    else:
        within[key] = tomlkit.parse(f"x = {toml_value(value)}")["x"]
    return tomlkit.dumps(document)


def _change_list(there: Any, wanted: Sequence[Any]) -> None:
    """Change the values of a list that differ; comments between the others stay."""
    before, after = [toml_value(value) for value in there], [toml_value(value) for value in wanted]
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for what, low, high, first, last in reversed(steps):
        if what != "equal":
            for _ in range(low, high):
                del there[low]
            for place, value in enumerate(wanted[first:last]):
                there.insert(low + place, value)


def _change_table(there: Any, wanted: Mapping[str, Any]) -> None:
    import tomlkit

    for key in [key for key in there if key not in wanted]:
        del there[key]
    for key, value in wanted.items():
        if key not in there or toml_value(there[key]) != toml_value(value):
            there[key] = tomlkit.parse(f"x = {toml_value(value)}")["x"]


def _anew(text: str, path: tuple[str, ...], value: Any) -> str:
    """Remove a setting, and write it on a line of its own."""
    return _placed(_in_place(text, path, None), path, value)
