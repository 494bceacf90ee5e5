"""All that `publish` checks before it reads a record: the question, the ledger, and where answers go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..exact import file_path
from ..outputs import Output
from .datapackage import read_licence
from .labels import Labels, read_labels
from .ledger import Ledger
from .places import Stamp, check_ledger, find_ledger, keeper
from .plans import Plan
from .promise import Promise
from .written import Files, Replaced, audience_targets, plan_files, plan_reports, report_targets

__all__ = ["Prepared", "labels_for", "planned_files", "prepare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A question that was checked in every way that reads no record, draws nothing and spends nothing.

    Attributes
    ----------
    planned : Plan
    book : Ledger
        The ledger that was named, or the one beside the data.
    default : bool
        Whether it was not named: then another of the folder that knows the data is charged instead.
    promise : Promise
        What the release takes for granted.
    files, reports
        Where its answers and pages go.
    labels : Labels
        What readers of the pages see instead of names.
    licence, secret
        As for `publish`.
    stamp
        Of the file of the data, before anything of it was looked at.
    """

    planned: Plan
    book: Ledger
    default: bool
    promise: Promise
    files: Files
    reports: tuple[Output, ...]
    labels: Labels
    licence: str | None
    secret: Any
    stamp: Stamp

    @property
    def outputs(self) -> tuple[Output, ...]:
        """All files that will be written."""
        return (*(one for three in self.files for one in three), *self.reports)


def prepare(planned: Plan, before: Stamp, options: Mapping[str, Any], may_replace: Replaced | None = None) -> Prepared:
    """Check all that `publish` checks of a planned question before it reads a record.

    Parameters
    ----------
    planned : Plan
    before : stamp
        Of the file of the data, from before the question was planned.
    options : mapping
        As for `irisdp.publish`.
    may_replace : bool or callable, optional
        Which files that are there may be replaced, instead of what `force` says.
    """
    out, report = options.get("out"), options.get("report")
    licence = read_licence(options.get("licence"), out)
    labels = labels_for(planned, options)
    ledger, secret, table = options.get("ledger"), options.get("secret"), options.get("table")
    promise = planned.asked.promise.named(table)
    book = find_ledger(planned.table, ledger)
    force = options.get("force", False) if may_replace is None else may_replace
    files, reports = planned_files(planned, ledger=book, secret=secret, out=out, report=report, force=force)
    check_ledger(book, planned.table.location, planned.declared_in, default=ledger is None)
    return Prepared(
        planned=planned,
        book=book,
        default=ledger is None,
        promise=promise,
        files=files,
        reports=reports,
        labels=labels,
        licence=licence,
        secret=secret,
        stamp=before,
    )


def labels_for(planned: Plan, options: Mapping[str, Any]) -> Labels:
    """Return the labels of a question: those among its options, and where these say nothing those of the project."""
    own = read_labels(options.get("labels"), options.get("title"))
    return own.over(None if planned.project is None else planned.project.labels)


def planned_files(
    planned: Plan, *, ledger: Ledger, secret: Any, out: Any, report: Any, force: Replaced
) -> tuple[Files, tuple[Output, ...]]:
    """Plan the files of a release, and its pages, apart from all that is read and kept for it; see `plan_files`."""
    data = planned.table.location
    read = list(planned.declared_in.items())
    targets = audience_targets(planned.audiences, out)
    beside = keeper(None if secret is None else file_path(secret, "secret"), planned.table.path, ledger)
    files = plan_files(targets, data=data, read=read, ledger=ledger.path, keeper=beside, force=force)
    pages = report_targets(planned.audiences, report)
    return files, plan_reports(pages, files, data=data, read=read, ledger=ledger.path, keeper=beside, force=force)
