"""How what a page says can be checked: digests of its files, commands, proofs, and where the answers are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..markup import Html, element
from .blocks import table
from .commands import Asked, commands
from .given import File
from .reading import proofs
from .words import numbered

__all__ = ["checks"]


def checks(asked: Asked, *, again: str, kept: str, whole: bool = True) -> Iterator[Html]:
    """Say it of a release, or of the questions of a batch or plan.

    Parameters
    ----------
    asked : sequence of (Facts, Given)
        In the order of their numbers.
    again : str
        How the data owner gets files of answers that were not written.
    kept : str
        Where the ledger has the answers.
    whole : bool
        Whether `irisdp report` makes the page of these, and no other.
    """
    files = [file for _, given in asked for file in given.files]
    if files:
        yield _digests(files)
    bare = [number for number, (_, given) in enumerate(asked, start=1) if not given.files]
    if bare:
        whose = "These answers" if len(bare) == len(asked) else f"{numbered(bare)}: the answers"
        yield element(
            "p",
            f"{whose} were written to no file but this page. The steward can {again}: the same answers come back, and "
            "nothing is charged.",
        )
    for what, line in commands(asked, whole=whole):
        yield element("p", f"{what[0].upper()}{what[1:]}", class_="before")
        yield element("pre", element("code", line))
    for number, (facts, _) in enumerate(asked, start=1):
        rows = facts.mechanism.get("sha256")
        if isinstance(rows, str):
            where = "" if len(asked) == 1 else f" of question {number}"
            yield element("p", f"Digest of the mechanism's rows{where}: ", element("code", rows, class_="digest"))
    pages = dict.fromkeys(page for facts, _ in asked for page in proofs(facts))
    if pages:
        said = ", ".join(pages)
        yield element("p", f"Why it is private, and how far off it is, is proven in the source of Iris: {said}.")
    yield element("p", kept)


def _digests(files: Sequence[File]) -> Html:
    """Name the files of a page, each with its digest."""
    head = [element("th", name, scope="col") for name in ("file", "SHA-256 of its bytes")]
    rows = [
        element(
            "tr", element("th", file.name, scope="row"), element("td", element("code", file.digest, class_="digest"))
        )
        for file in files
    ]
    return table("Files that belong to this page: the answers, and how they were made", head, rows)
