"""Which files runs of a plan wrote: those the same plan may replace unasked, and nothing else.

Each folder with answers holds a record with one line a file. A line holds the place of the plan relative to the folder,
so that both may move together; the file's name; and a digest of the content, noted before the file is created. Lines of
earlier versions hold the plan's name alone, and say whose a file is until a line says it better. So whenever a run was
killed, what it left behind is known for its own. Digests are keyed with the secret of the data, so that nobody can find
an answer of a few bits by trying. If the record is lost or the secret differs, existing files are refused without
--force.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

from .._files import Output, open_regular, plan_outputs
from .._ledger import (
    SECRET_BYTES,
    check_ledger,
    data_location,
    fingerprint_of_table,
    is_same,
    names_of_data,
    same_audience,
    secret_file,
    secret_key_file,
    secret_key_path,
    secrets_in,
    whole_place,
)
from .._tables import lookup_files
from ..errors import BadInput, NotShown, ScopeRefused
from .options import PlanOptions, options_of
from .output_files import named_for, read_and_kept
from .pipeline import CheckedQuestion, check_question, planned_files
from .plan_file import PlanDataset, PlanFile, PlanQuestion
from .planning import plan
from .project import find_project

RECORD = ".runs.irisdp-written"
"""Its name, in the folder of the answers."""

_BLOCK = 1 << 20


@dataclass(slots=True)
class _Seen:
    """What was read of one record so far."""

    place: tuple[int, int] = (0, 0)
    end: int = 0
    owners: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """By file and digest, where the plans lie that wrote it."""
    named: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    """Likewise the names of plans, of lines that do not say where they lie."""

    def read_on(self, file: BinaryIO) -> None:
        """Read the lines that were added; all of them, where the record is another."""
        status = os.fstat(file.fileno())
        place = status.st_dev, status.st_ino
        if place != self.place or status.st_size < self.end:
            self.place, self.end, self.owners, self.named = place, 0, {}, {}
        file.seek(self.end)
        whole, newline, _ = file.read().rpartition(b"\n")  # what follows is being written, or was cut off
        self.end += len(whole) + len(newline)
        for line in whole.splitlines():
            entry = _line(line)
            whose = self.owners if "path" in entry else self.named
            of_file = whose.setdefault(str(entry.get("file")), {})
            of_file.setdefault(str(entry.get("digest")), set()).add(str(entry.get("path", entry.get("plan"))))


@dataclass(frozen=True, slots=True)
class Record:
    """What runs of one plan wrote of one dataset's answers.

    Parameters
    ----------
    plan : Path
        The plan's file, whose name says whose files these are.
    keeper : path, optional
        The file beside which the secret of the data is kept; None where none was named, and the plan is refused.
    """

    plan: Path
    keeper: str | os.PathLike[str] | None = field(repr=False)
    _seen: dict[Path, _Seen] = field(default_factory=dict, init=False, repr=False, compare=False)
    """By folder, what was read of its record: lines are only ever added, and read once."""

    def wrote(self, path: Path) -> bool:
        """Tell whether a file holds exactly what a run of this plan wrote there; creates nothing."""
        digests = [_digest(key) for key in self._keys()]
        if not digests or path.is_symlink():
            return False
        seen = self._noted(path)
        owners, named = seen.owners.get(path.name, {}), seen.named.get(path.name, {})
        if not owners and not named:
            return False
        try:
            with open_regular(path) as file:
                while block := file.read(_BLOCK):
                    for digest in digests:
                        digest.update(block)
        except OSError:
            return False
        for digest in digests:
            told = digest.hexdigest()
            if told in owners:
                return self._seen_from(path) in owners[told]
        return any(self.plan.name in named.get(digest.hexdigest(), ()) for digest in digests)

    def note(self, path: Path, content: bytes) -> None:
        """Note what will be written, before it is there.

        Raises
        ------
        NotShown
            Where the folder lets no record be kept.
        """
        assert self.keeper is not None
        digest = _digest(_key(secret_key_path(self.keeper)))
        digest.update(content)
        place = self._seen_from(path)
        if place in self._noted(path).owners.get(path.name, {}).get(digest.hexdigest(), ()):
            return
        line = json.dumps({"path": place, "file": path.name, "digest": digest.hexdigest()})
        record = path.with_name(RECORD)
        try:
            descriptor = os.open(record, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o644)
            try:
                # One write of a whole line: runs beside this one add theirs before or after it. A line that a power
                # loss cut off must not swallow it.
                os.write(descriptor, (b"" if _ends_whole(descriptor) else b"\n") + line.encode() + b"\n")
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise NotShown(
                f"out: no record can be kept in {record} ({error.strerror or 'the disk refused'}), but the answer is in"
                " the ledger; let the folder be written, and run the plan again: it costs nothing"
            ) from None

    def _seen_from(self, path: Path) -> str:
        """Say where the plan lies, seen from the folder of a file; both may be moved together."""
        plan, folder = self.plan.resolve(), path.parent.resolve()
        try:
            return Path(os.path.relpath(plan, folder)).as_posix()
        except ValueError:  # on another drive
            return plan.as_posix()

    def _noted(self, path: Path) -> _Seen:
        """Return what is noted in the folder of a file."""
        seen = self._seen.setdefault(path.parent, _Seen())
        try:
            with open_regular(path.with_name(RECORD)) as file:
                seen.read_on(file)
        except OSError:
            return _Seen()
        return seen

    def _keys(self) -> list[bytes]:
        """Return the keys that runs may have noted files with: of today's secret, and of those before it."""
        if self.keeper is None:
            return []
        file = secret_file(self.keeper)
        return [_key(secret) for secret in secrets_in(file.parent)] if file.is_file() else []


def _key(secret: bytes) -> bytes:
    return hashlib.blake2b(key=secret, digest_size=SECRET_BYTES, person=b"irisdp run").digest()


def _digest(key: bytes) -> hashlib.blake2b:
    return hashlib.blake2b(key=key, digest_size=SECRET_BYTES)


def _ends_whole(descriptor: int) -> bool:
    if os.fstat(descriptor).st_size == 0:
        return True
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) == b"\n"


def _line(line: bytes) -> dict[str, object]:
    """Read a line; one that is none says nothing."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


# All that a plan asks, checked before anything is read or spent: each question by itself, and all of them together.

Records = Mapping[str, Record]
"""By the names of datasets."""

_FILES = ("ledger", "project", "secret", "types")
"""Options of a dataset that may name a file."""


def records_of(asked: PlanFile) -> Records:
    """Return for each dataset the record of what runs of the plan wrote of its answers."""
    return {dataset.name: Record(asked.path, _keeper(dataset)) for dataset in asked.datasets}


def _keeper(dataset: PlanDataset) -> str | os.PathLike[str] | None:
    """Return beside what the secret lies: as `places.keeper` has it, for a table that need not be there."""
    secret, ledger = dataset.options.get("secret"), dataset.options.get("ledger")
    if secret is not None:
        return Path(secret)
    if isinstance(dataset.data, Path):
        return dataset.data
    location = data_location(dataset.data)
    if location is not None:
        return location.path
    if ledger is None and dataset.options.get("project") is not None:
        with contextlib.suppress(BadInput):  # which is said later, of the question
            project = find_project(dataset.data, dataset.options["project"])
            ledger = None if project is None else project.ledger
    return ledger if isinstance(ledger, Path) else None


def prepare_all(asked: PlanFile, records: Records, *, force: bool, another: bool = False) -> list[CheckedQuestion]:
    """Check every question as `irisdp.publish` does before it reads a record, and that none is in another's way.

    Parameters
    ----------
    asked, records
        The plan, and what runs of it wrote.
    force : bool
        Whether files that are there already may be replaced.
    another : bool
        Whether all datasets may be charged to other ledgers than those that they are bound to.

    Raises
    ------
    BadInput, ScopeRefused
        Naming the question, or the dataset.
    """
    projects = {}
    for question in asked.questions:
        dataset = question.dataset
        if dataset.name not in projects:
            with question.blamed():  # read once, for all questions
                projects[dataset.name] = find_project(dataset.data, dataset.options.get("project"))
    ready, known = [], set[Hashable]()
    for question in asked.questions:
        dataset = question.dataset
        options = {**question.options, "project": projects[dataset.name]}
        options |= {"another_ledger": True} if another else {}
        with question.blamed():
            before = fingerprint_of_table(data_location(dataset.data))
            planned = plan(dataset.data, *question.words, **options_of(PlanOptions, options))
            one = check_question(planned, before, options, force or records[dataset.name].wrote, known)
            check_ledger(one.book, one.planned.table.location, {"the plan": asked.file}, default=False)
            ready.append(one)
    _check_apart(asked, ready)
    _check_ledgers(asked, ready)
    planned_pages(asked, ready, records, force=force)
    return ready


def _check_ledgers(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> None:
    """Refuse two ledgers of one table: the first question binds it."""
    first: dict[str, tuple[str, CheckedQuestion]] = {}
    for question, one in zip(asked.questions, ready, strict=True):
        place = whole_place(one.planned.table)
        if place is None or one.choice.another:
            continue
        label, other = first.setdefault(place, (question.dataset.name, one))
        if not is_same(one.book, other.book):
            with question.blamed():
                raise ScopeRefused(
                    f"{one.choice.table} has the ledger {one.book.place} here, and {other.book.place} in dataset"
                    f" {label}. Name one ledger for both, or add another_ledger=True to publish from a second budget"
                    " over the same people",
                    differs=["ledger"],
                    pinned={"ledger": str(other.book.place)},
                    asked={"ledger": str(one.book.place)},
                )


def readers_of(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> list[str | None]:
    """List for whom the plan has a page, if it has any: everybody (None), and each audience that a question names.

    Everybody has one unless every question names its audiences.
    """
    if asked.report is None:
        return []
    found: dict[str | None, str | None] = {}
    for one in ready:
        for audience in one.planned.audiences:
            found.setdefault(same_audience(audience.name), audience.name)
    return sorted(found.values(), key=lambda name: (name is not None, name))


def planned_pages(
    asked: PlanFile, ready: Sequence[CheckedQuestion], records: Records, *, force: bool
) -> tuple[Output, ...]:
    """Check where the pages of the whole plan go, if it has any; that they are apart from all else was checked."""
    may_replace = force or records[asked.questions[0].dataset.name].wrote
    return plan_outputs(_page_targets(asked, ready), [], field="report", force=may_replace)


def _page_targets(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> list[Path]:
    return [named_for(asked.report, name) for name in readers_of(asked, ready) if asked.report is not None]


def agreement_of(ready: Sequence[CheckedQuestion]) -> str:
    """Return a digest of all that a plan asks, of whom, and of which ledgers: equal for a dry run and its run.

    It tells whether a project file, the header of the data or a ledger has changed the questions since they were shown.
    """
    told = [
        (
            str(one.book.place),
            one.request.query,
            one.request.text,
            one.request.promise.table,
            sorted(one.request.promise.columns.items()),
            one.request.promise.relation,
            one.request.promise.unit,
            list(one.request.promise.public_columns),
            one.request.promise.part,
        )
        for one in ready
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def planned_again(question: PlanQuestion, ready: CheckedQuestion, record: Record, *, force: bool) -> CheckedQuestion:
    """Check once more where answers go: since all was checked, other questions were answered, which may take long."""
    files, reports = planned_files(
        ready.planned,
        ledger=ready.book,
        secret=ready.secret,
        out=question.options.get("out"),
        report=question.options.get("report"),
        force=force or record.wrote,
    )
    return replace(ready, files=files, reports=reports)


def _check_apart(asked: PlanFile, ready: Sequence[CheckedQuestion]) -> None:
    """Refuse an output that another question reads, keeps or writes, or that is the plan."""
    read: dict[tuple[str, str], tuple[str, str | Path]] = {}
    for one in ready:
        table, declared = one.planned.table, one.planned.declared_in.items()
        kept = secret_key_file(one.secret, table.path, one.book)
        for role, path in read_and_kept(table.location, [("the plan", asked.file), *declared], one.book.path, kept):
            read[role, str(path)] = role, Path(path)
    inputs = [*read.values(), *_named_only(asked)]
    page = _page_targets(asked, ready)
    try:
        plan_outputs([*page, *(one.path for own in ready for one in own.outputs)], inputs, field="out", force=True)
    except BadInput:  # now it takes longer, and says of which
        for question, own in zip(asked.questions, ready, strict=True):
            for output in own.outputs:
                with question.blamed():
                    plan_outputs([output.path], inputs, field=output.field, force=True)
            inputs += [(f"what {question.label} writes", output.path) for output in own.outputs]
        plan_outputs(page, inputs, field="report", force=True)
        raise


def _named_only(asked: PlanFile) -> list[tuple[str, str | Path]]:
    """Return the files of datasets that no question is about: they are somebody's tables and ledgers all the same."""
    asked_about = {question.dataset.name for question in asked.questions}
    return [
        (f"{key} of dataset {dataset.name}", path)
        for dataset in asked.datasets
        if dataset.name not in asked_about
        for key, path in (
            *names_of_data(data_location(dataset.data)),
            ("the data", dataset.data),
            *((key, dataset.options.get(key)) for key in _FILES),
            *lookup_files(dataset.options.get("lookup")).items(),
        )
        if isinstance(path, str | Path) and "://" not in str(path)
    ]
