"""The input of a report: a release file, its answers, and the names of their files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..._exact import file_path, json_bytes, parse_json
from ..._release import Answers, BatchPublication, Labels, Publication, ReleaseFile, answers_bytes, rows_in, rows_of
from ...errors import BadInput
from ...interpretation import answers_beside, sidecar_beside

_LARGEST = 1 << 26
"""Bytes of a file that is read: 64 MiB."""

_NO_RELEASE = "give the .release.json that lies beside the answers"


@dataclass(frozen=True, slots=True)
class File:
    """A file that was handed over: its name without its folder, and the SHA-256 of its bytes."""

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Given:
    """A release: its release file, and its answers as text.

    Parameters
    ----------
    facts : ReleaseFile
        As it was read: nothing in it is believed yet.
    columns : tuple of str
        The group columns, `answer`, and what says how sure it is.
    rows : tuple of tuples of str
        Everything as the files have it; empty where there is nothing.
    files : tuple of File
        The paths of the answers and their release file; empty if they were not written.
    labels : Labels
        What readers see instead of names.
    """

    facts: ReleaseFile
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    files: tuple[File, ...]
    labels: Labels = field(default_factory=Labels)

    def with_labels(self, labels: Labels) -> Given:
        """Return the same release with other labels."""
        return replace(self, labels=labels)


def releases_of(release: Any) -> list[Any]:
    """Return the releases that a page is asked of: the questions of a batch, or one."""
    result = list(release) if isinstance(release, BatchPublication | list | tuple) else [release]
    if not result:
        raise BadInput("release", "is an empty list", _NO_RELEASE)
    return result


def given_of(release: Any, audience: str | None = None) -> Given:
    """Read a release.

    Parameters
    ----------
    release : Publication, or path
        Name of the release file, of the answers, or of their data package.
    audience : str or None
        Of a publication for several audiences, the one whose answers are meant.
    """
    if isinstance(release, Publication):
        return _of_publication(release, audience)
    if audience is not None:
        raise BadInput("audience", "is for a publication; a file is one audience's", "leave it out")
    path = sidecar_of(release)
    facts = ReleaseFile.read(path, rule=f"{path.name} is no release", remedy=_NO_RELEASE)
    answers = answers_beside(path)
    if answers == path:
        rule = "has a name that does not end in .release.json, so no answers can be found beside it"
        raise BadInput("release", rule, "name it as publish did")
    _check_size(answers)
    columns, rows = rows_of(answers)
    files = tuple(File(file.name, _digest(file.read_bytes())) for file in (answers, path))
    return _given(facts, columns, rows, files)


def given_in(name: str, content: bytes, release: bytes) -> Given:
    """Read a release from the content of its file of answers, which has a name, and of its release file."""
    try:
        document = parse_json(release.decode(), "release")
    except UnicodeDecodeError:
        raise BadInput("release", "cannot be read as UTF-8 text", _NO_RELEASE) from None
    facts = ReleaseFile.read(document, remedy=_NO_RELEASE)
    columns, rows = rows_in(name, content, document)
    files = File(name, _digest(content)), File(f"{name}.release.json", _digest(release))
    return _given(facts, columns, rows, files)


def _given(facts: ReleaseFile, columns: Sequence[str], rows: Any, files: tuple[File, ...]) -> Given:
    if "answer" not in columns or len(set(columns)) < len(columns):
        rule = f"{files[0].name} has no column `answer`, or one twice"
        raise BadInput("release", rule, "give what publish wrote")
    return Given(facts, tuple(columns), _as_text(rows), files)


def given_when_written(sidecar: Mapping[str, Any], answers: Answers, path: Path | None) -> Given:
    """Return a release that is being written, to a file of answers or to none."""
    files = []
    if path is not None:
        files.append(File(path.name, _digest(answers_bytes(answers, path))))
        files.append(File(f"{path.name}.release.json", _digest(json_bytes(sidecar))))
    return Given(ReleaseFile(sidecar), answers.columns, _as_text(answers.rows()), tuple(files))


def sidecar_of(release: Any) -> Path:
    """Return the path of the release file, given itself, its answers, or their data package."""
    path = file_path(release, "release")
    if path.suffix.lower() == ".json":
        _check_size(path)
    result = sidecar_beside(path)
    _check_size(result)
    return result


def _of_publication(release: Publication, audience: str | None) -> Given:
    names = list(release.answers_of)
    if audience is None and len(names) > 1:
        rule = "is needed: whoever is handed a report must learn no other audience's answers"
        raise BadInput("audience", rule, f"choose from {', '.join(map(str, names))}")
    if audience is not None and audience not in names:
        there = ", ".join(name for name in names if name is not None)
        raise BadInput("audience", "has no answers here", f"choose from {there}" if there else "leave it out")
    place = 0 if audience is None else names.index(audience)
    written = release.out[3 * place : 3 * place + 1]
    path = written[0] if written and written[0].suffix.lower() != ".html" else None
    name = names[place]
    return given_when_written(release.sidecars[name], release.answers_of[name], path)


def _check_size(path: Path) -> None:
    """Refuse what is no regular file of a size that a page can be made of; what is not there is said elsewhere."""
    if os.path.lexists(path) and not path.is_file():
        raise BadInput("release", f"{path.name} is no regular file", _NO_RELEASE)
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise BadInput("release", f"{path.name} is larger than {_LARGEST >> 20} MiB", "read it with other tools")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _as_text(rows: Any) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(map(_text, row)) for row in rows)


def _text(value: Any) -> str:
    if isinstance(value, Mapping | Sequence) and not isinstance(value, str | bytes):
        raise BadInput("release", "has answers that are lists or objects", "give a file that publish wrote")
    return "" if value is None else value.hex() if isinstance(value, bytes) else str(value)
