"""Plan and write the files of a release: for each audience the answers, the release file and the data package.

Paths are checked before anything is drawn. Only the answers in the files depend on the data.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .._child_processes import ChildFailed
from .._events import report_event
from .._exact import file_path, json_bytes
from .._files import Output, plan_outputs, write_outputs
from .._hooks import call_hook
from .._ledger import names_of_data, same_audience, secret_file
from .._tables import Location
from ..errors import BadInput, NotShown, place_of
from .answers import Answers, answers_bytes, check_ending
from .audiences import Audience
from .data_package import datapackage
from .labels import Labels
from .release_file import ReleaseFile

Files = tuple[tuple[Output, Output, Output], ...]
"""For each audience, or question of a batch, the answers, their sidecar and their data package."""

BESIDE = (".release.json", ".datapackage.json")
"""What the names of the two end in, after that of the answers."""

Released = tuple[Mapping[str, Any], Answers, Path | None]
"""A sidecar, the answers, and the file that these are written to, if there is one."""

Replaced = bool | Callable[[Path], bool | None]
"""Whether files that are there already may be replaced, or which of them; see `plan_outputs`."""

Note = Callable[[Path, bytes], object]
"""Is told of a file, and of what it will hold, before it is there."""

Whose = TypeVar("Whose", bound=Hashable)


def audience_targets(audiences: Sequence[Audience], out: str | os.PathLike[str] | None) -> list[Path]:
    """Name the answers' file of each audience: with several audiences each has its name in the file's."""
    if out is None:
        return []
    target = file_path(out, "out")
    check_ending(target)
    return _named_by_audience(target, audiences)


def report_targets(audiences: Sequence[Audience], report: str | os.PathLike[str] | None) -> list[Path]:
    """Name the page of each audience in the same way; each page holds the answers of one audience only."""
    if report is None:
        return []
    return _named_by_audience(page_path(report, "report"), audiences)


def page_path(path: Any, field: str) -> Path:
    """Refuse a file whose ending does not say that it is a page."""
    result = file_path(path, field)
    if result.suffix.lower() not in (".html", ".htm"):
        raise BadInput(field, "must end in .html", "name another file")
    return result


def _named_by_audience(target: Path, audiences: Sequence[Audience]) -> list[Path]:
    return [named_for(target, audience.name) for audience in audiences]


def named_for(target: Path, audience: str | None) -> Path:
    """Name an audience's file: the one that it has already under another spelling of its name, if there is one.

    Otherwise out.Press.csv and out.press.csv would be two files on one machine, and one on the next.
    """
    if audience is None:
        return target
    before, after = f"{target.stem}.", target.suffix
    named = target.with_name(f"{before}{audience}{after}")
    try:
        there = sorted(os.listdir(target.parent))
    except OSError:
        return named
    size = len(named.name)
    spelt = [
        name
        for name in there
        if len(name) == size
        and name.startswith(before)
        and name.endswith(after)
        and same_audience(name[len(before) : size - len(after)]) == same_audience(audience)
    ]
    return named if named.name in spelt or not spelt else target.with_name(spelt[0])


def plan_files(
    targets: Sequence[Path],
    *,
    data: Location | None,
    read: Iterable[tuple[str, str | os.PathLike[str] | None]],
    ledger: Path | None,
    keeper: str | os.PathLike[str],
    force: Replaced,
) -> Files:
    """Check the output paths of the answers, each with its release file and its data package.

    Parameters
    ----------
    targets : sequence of Path
        The files of answers.
    data : Location, optional
        Where the table lies, if it is no frame.
    read : iterable of (str, path)
        What else is read, with what it is; none of it may be written over, nor the ledger, nor the secret.
    ledger, keeper : path
        The budget's file, if it has one, and the file beside which the secret is kept.
    force : bool, or callable
        Whether files that are there already may be replaced, or which.

    Raises
    ------
    BadInput
        See `plan_outputs`; and for an ending that names no format.
    """
    for target in targets:
        check_ending(target)
    inputs = read_and_kept(data, read, ledger, keeper)
    places = [path.with_name(f"{path.name}{ending}") for path in targets for ending in ("", *BESIDE)]
    files = plan_outputs(places, inputs, field="out", force=force)
    return tuple(zip(files[::3], files[1::3], files[2::3], strict=True))


def plan_reports(
    targets: Sequence[Path],
    files: Files,
    *,
    data: Location | None,
    read: Iterable[tuple[str, str | os.PathLike[str] | None]],
    ledger: Path | None,
    keeper: str | os.PathLike[str],
    force: Replaced,
) -> tuple[Output, ...]:
    """Check where pages will go: as answers, see `plan_files`, and over none of the files that these are written to."""
    inputs = read_and_kept(data, read, ledger, keeper) + [
        ("a file of the answers", one.path) for three in files for one in three
    ]
    return plan_outputs(targets, inputs, field="report", force=force)


def read_and_kept(
    data: Location | None,
    read: Iterable[tuple[str, str | os.PathLike[str] | None]],
    ledger: Path | None,
    keeper: str | os.PathLike[str],
) -> list[tuple[str, str | os.PathLike[str]]]:
    """Return all that is read or kept, with what it is."""
    inputs: list[tuple[str, str | os.PathLike[str]]] = list(names_of_data(data))
    inputs += [(role, path) for role, path in read if path is not None]
    for place in () if ledger is None else (ledger, os.path.realpath(ledger)):
        inputs.append(("the ledger", place))
        inputs += [("part of the ledger", f"{place}-{part}") for part in ("wal", "shm", "journal")]
    inputs += [("what the secret is kept beside", keeper), ("the secret", secret_file(keeper))]
    return inputs


def write_files(
    files: Files,
    answers_of: Mapping[Whose, Answers],
    sidecars: Mapping[Whose, dict[str, Any]],
    licence: str | None,
    reports: Iterable[tuple[Output, bytes]] = (),
    note: Note | None = None,
    delivered: Sequence[Path] = (),
) -> tuple[Path, ...]:
    """Write the planned answers, all of them or, where the disk refuses, none that is new; then make the `pages`.

    Each file is noted, where somebody keeps a record, before it is there. Each release file holds the digest of its
    answers. It is computed only here, because answers take long to write. A page that cannot be made takes back no
    answers: the error names them, and those `delivered` before.
    """

    def contents() -> Iterator[tuple[Output, bytes]]:
        for (file, beside, package), (name, answers) in zip(files, answers_of.items(), strict=bool(files)):
            content = answers_bytes(answers, file.path)
            sidecars[name]["answers"] = {"sha256": hashlib.sha256(content).hexdigest()}
            yield file, content
            yield beside, json_bytes(sidecars[name])
            described = datapackage(ReleaseFile(sidecars[name]), answers, file.path, content, licence)
            yield package, json_bytes(described)

    def noted(files: Iterable[tuple[Output, bytes]]) -> Iterator[tuple[Output, bytes]]:
        for output, content in files:
            if note is not None:
                note(output.path, content)
            yield output, content

    written = write_outputs(noted(contents()), refusal=_not_written)
    try:
        everything = (*written, *write_outputs(noted(reports), refusal=_not_written))
    except Exception as error:
        raise _no_page(error, (*delivered, *written)) from None
    if everything:
        report_event("release", "written", files=list(map(str, everything)))
    return everything


def _no_page(error: Exception, delivered: Sequence[Path]) -> NotShown:
    """Say that a page could not be made, and which files of answers are in place."""
    public = isinstance(error, NotShown | ChildFailed)  # what others say can hold private values
    reason = str(error).partition(", but the answer")[0] if public else f"internal error ({place_of(error)})"
    if delivered:
        kept = f"but the answers are charged and written ({', '.join(map(str, delivered))})"
        remedy = "make the page from them with `irisdp report RELEASE.json -o FILE.html`"
    else:
        kept = "but the answers are charged and in the ledger"
        remedy = "ask again: asking the same question again costs nothing"
    return NotShown(f"report: the page could not be made: {reason}, {kept}; {remedy}")


def pages(
    reports: Sequence[Output], released: Sequence[Sequence[Released]], labels: Labels
) -> Iterator[tuple[Output, bytes]]:
    """Make the planned pages, one after the other, each of a release or of all questions of a batch."""
    for report, parts in zip(reports, released, strict=bool(reports)):
        yield report, call_hook("page", parts, [labels] * len(parts))


def _not_written(field: str, failed: str) -> NotShown:
    remedy = "make room or name another file, and ask the same question again: it costs nothing"
    return NotShown(f"{field}: {failed}, but the answer is in the ledger; {remedy}")
