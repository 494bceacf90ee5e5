"""How what a page says can be checked: digests of its files, commands, proofs, and where the answers are kept."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence

from ..._html import Html, element
from ..._measurements import MeasurementKind, ReadAs
from ..._release import ReleaseFile
from ...interpretation import RULES
from ...mechanisms import privacy_to_document
from ...privacy import Privacy
from .blocks import table
from .inputs import File, Given
from .sentences import numbered, proofs

# Commands that check releases, which readers with the files can type unchanged.

_READ = (ReadAs.GEOMETRIC_COUNTS, ReadAs.NOISY_COUNTS, ReadAs.NOISY_CELLS, *RULES, ReadAs.LISTS)
"""What `irisdp interpret` reads."""

_TRIED = 20
"""Counts on which a mechanism is laid out to be audited."""

CommandExample = Sequence[tuple[ReleaseFile, Given]]
"""A release, or the questions of a batch in their order."""


def commands(asked: CommandExample, *, whole: bool = True) -> Iterator[tuple[str, str]]:
    """Give commands that anybody can type in the folder of the files, each after what it does.

    Of several questions the first that a command is for is its example. `whole` is whether they are a release or a
    batch, of which `irisdp report` makes one page.
    """
    yield from _of_files(asked, whole=whole)
    yield from _of_mechanism(asked)


def _of_files(asked: CommandExample, *, whole: bool) -> Iterator[tuple[str, str]]:
    written = [(number, facts, given) for number, (facts, given) in enumerate(asked, start=1) if given.files]
    if not written:
        return
    names = " ".join(_operand(file.name) for _, _, given in written for file in given.files)
    yield "are these the files? (the digests above)", f"sha256sum {names}"
    for number, facts, given in written:
        known = (
            _known(given) if facts.kind == MeasurementKind.GAUSSIAN_NOISE else "" if facts.read_as in _READ else None
        )
        if known is not None:
            what = f"what do the answers{_example(asked, number)} say to you? (say what you know: -h)"
            yield what, f"irisdp interpret {_sidecar(given)}{known}"
            break
    if whole and len(written) == len(asked):
        yield (
            "make this page again",
            f"irisdp report {' '.join(_sidecar(given) for _, _, given in written)} -o again.html",
        )


def _of_mechanism(asked: CommandExample) -> Iterator[tuple[str, str]]:
    for number, (facts, _) in enumerate(asked, start=1):
        spec = _spec(facts)
        if spec is not None:
            written = shlex.quote(json.dumps(spec))
            yield (
                f"lay the mechanism{_example(asked, number)} out for counts from 0 to {_TRIED}, with a certificate",
                f"echo {written} > spec.json && irisdp design spec.json -o mechanism.json",
            )
            yield "audit it, exactly", "irisdp audit mechanism.json"
            yield (
                "check it again with one file of standard Python that shares no code (src/irisdp/certify)",
                "python verify_mechanism.py mechanism.json",
            )
            return
        if facts.kind == MeasurementKind.DESIGNED:
            what = f"audit the mechanism file{_example(asked, number)} that was used; the digest of its rows is below"
            yield what, "irisdp audit MECHANISM.json"
            return


def _example(asked: CommandExample, number: int) -> str:
    """Say of which question a command is, where there are several."""
    return f" of question {number}" if len(asked) > 1 else ""


def _sidecar(given: Given) -> str:
    return _operand(given.files[-1].name)


def _operand(name: str) -> str:
    """Write a name so that no shell and no command takes it for anything else."""
    return shlex.quote(f"./{name}" if name.startswith("-") else name)


def _spec(facts: ReleaseFile) -> dict[str, object] | None:
    if (
        facts.kind != MeasurementKind.GEOMETRIC_NOISE
        or not isinstance(facts.privacy, Privacy)
        or not facts.privacy.single
    ):
        return None
    return {"kind": "geometric", "n": _TRIED, "privacy": privacy_to_document(facts.privacy)}


def _known(given: Given) -> str | None:
    """Give an example of what a reader may know of counts that are read among few: a little more than their ends say.

    None where these are far apart.
    """
    known = [cell for name, *column in zip(given.columns, *given.rows, strict=True) for cell in column if name in _ENDS]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < _DIGITS for cell in known):
        return None
    low, high = min(map(int, known), default=0), max(map(int, known), default=0)
    if high - low > _FEW:
        return None
    return f" --at-least {max(0, low - _FEW // 10)} --at-most {high + _FEW // 10}"


_ENDS, _FEW, _DIGITS = ("answer_low", "answer_high"), 500, 15


def checks(asked: CommandExample, *, again: str, kept: str, whole: bool = True) -> Iterator[Html]:
    """Say it of a release, or of the questions of a batch or plan.

    Parameters
    ----------
    asked : sequence of (ReleaseFile, Given)
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
