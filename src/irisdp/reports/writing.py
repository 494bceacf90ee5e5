"""Write a release as a page, from Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..exact import checked, file_path
from ..outputs import Output, plan_outputs, write_outputs
from ..reading.released import answers_beside
from ..release.answers import Answers
from ..release.publication import Publication
from .given import given_of, given_when_written, sidecar_of
from .page import page

__all__ = ["check_ending", "planned_report", "report", "written_report"]

_ENDINGS = (".html", ".htm")


@checked
def report(
    release: Any,
    *,
    audience: str | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> str:
    """Write what was published as one page of HTML to hand over: answers, cost in plain odds, errors, how to check.

    The page is a function of the sidecar and of the answers, loads nothing, runs nothing and prints well.

    Parameters
    ----------
    release : Publication, or path
        What was published; or its `.release.json`, the file of answers beside it, or their `.datapackage.json`.
    audience : str, optional
        Of a publication for several audiences, the one whose answers go into the page.
    out : path, optional
        Where to write it (.html).
    force : bool
        Whether a file that is there already may be replaced; what the page is made of never is.

    Returns
    -------
    str
        The page.

    Raises
    ------
    BadInput
        For what is no release, and for a file that may not be written.
    """
    planned = planned_report(release, out, force=force)
    made = page(given_of(release, audience))
    write_outputs((one, made.encode()) for one in planned)
    return made


def planned_report(release: Any, out: Any, *, force: bool) -> tuple[Output, ...]:
    """Check where a page will go, before anything is read of what it is made of."""
    if out is None:
        return ()
    read: list[tuple[str, Path]] = []
    if isinstance(release, Publication):
        read = [("what was published", path) for path in release.out] + [("the ledger", release.ledger)]
    else:
        sidecar = sidecar_of(release)
        named = file_path(release, "release")
        read = [("the release", sidecar), ("the release", named), ("the published answers", answers_beside(sidecar))]
    return plan_outputs([check_ending(out, "out")], read, field="out", force=force)


def check_ending(path: Any, field: str) -> Path:
    """Refuse a file whose ending does not say that it is a page."""
    found = file_path(path, field)
    if found.suffix.lower() not in _ENDINGS:
        raise BadInput(field, "must end in .html", "name another file")
    return found


def written_report(sidecar: Any, answers: Answers, path: Path | None) -> bytes:
    """Return the page of a release that is being written, to a file of answers or to none."""
    return page(given_when_written(sidecar, answers, path)).encode()
