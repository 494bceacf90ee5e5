"""Write a release, or a batch, as a page, from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._exact import checked, file_path
from ..._files import Output, plan_outputs, write_outputs
from ..._release import Labels, Publication, Released, page_path, read_labels
from ...interpretation import answers_beside
from .batch_pages import batch_page, plan_page
from .inputs import Given, given_of, given_when_written, releases_of, sidecar_of
from .page import release_page


@checked
def report(
    release: Any,
    *,
    audience: str | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> str:
    """Write what was published as one page of HTML to hand over: answers, cost in plain odds, errors, how to check.

    The page is a function of the release files and of the answers, loads nothing, runs nothing and prints well.

    Parameters
    ----------
    release : Publication, BatchPublication, path, or list of these
        What was published; or its `.release.json`, the file of answers beside it, or their `.datapackage.json`. All
        questions of a batch, in any order, make one page.
    audience : str, optional
        Of a publication for several audiences, the one whose answers go into the page.
    title : str, optional
        The heading of the page.
    labels : path or mapping, optional
        As for `irisdp.publish`: words that readers see instead of names. A project file and a plan may be named, too.
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
    words = read_labels(labels, title)
    planned = planned_report(release, out, force=force)
    made = _made([given_of(one, audience).with_labels(words) for one in releases_of(release)])
    write_outputs((one, made.encode()) for one in planned)
    return made


def planned_report(release: Any, out: Any, *, force: bool) -> tuple[Output, ...]:
    """Check where a page will go, before anything is read of what it is made of."""
    if out is None:
        return ()
    read: list[tuple[str, Path]] = []
    for one in releases_of(release):
        if isinstance(one, Publication):
            read += [("what was published", path) for path in one.out]
            read += [("the ledger", one.ledger)] if isinstance(one.ledger, Path) else []
        else:
            sidecar, named = sidecar_of(one), file_path(one, "release")
            read += [
                ("the release", sidecar),
                ("the release", named),
                ("the published answers", answers_beside(sidecar)),
            ]
    return plan_outputs([page_path(out, "out")], read, field="out", force=force)


def written_report(
    parts: Sequence[Released],
    labels: Sequence[Labels],
    plan: str | None = None,
    names: Sequence[str | None] = (),
    *,
    title: str | None = None,
) -> bytes:
    """Return the page of a release, of the questions of a batch, or of those of a plan, while it is being written."""
    given = [given_when_written(*part).with_labels(words) for part, words in zip(parts, labels, strict=True)]
    return (_made(given) if plan is None else plan_page(given, names, plan, title=title)).encode()


def _made(given: Sequence[Given]) -> str:
    return release_page(given[0]) if len(given) == 1 else batch_page(given)
