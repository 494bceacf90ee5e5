"""Commands that check a release: whoever was handed the files can type them, as they stand."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from ..mechanisms import privacy_to_document
from ..privacy import Privacy
from .facts import Facts
from .given import Given

__all__ = ["commands"]

_READ = {
    *("geometric-noise", "universal-noise", "shape-noise", "named-counts", "stepped", "banded-noise"),
    *("permute-and-flip", "pull-from-the-top", "randomised-response", "sorted-sizes", "gaussian-noise"),
}
"""Kinds that `irisdp interpret` reads."""

_TRIED = 20
"""Counts on which a mechanism is laid out to be audited."""


def commands(facts: Facts, given: Given) -> Iterator[tuple[str, str]]:
    """Give commands that anybody can type in the folder of the files, each after what it does."""
    if given.files:
        answers, sidecar = (shlex.quote(_operand(file.name)) for file in given.files)
        yield "are these the files? (the digests above)", f"sha256sum {answers} {sidecar}"
        known = _known(given) if facts.kind == "gaussian-noise" else "" if facts.kind in _READ else None
        if known is not None:
            yield "what do the answers say to you? (say what you know: -h)", f"irisdp interpret {sidecar}{known}"
        yield "make this page again", f"irisdp report {sidecar} -o again.html"
    spec = _spec(facts)
    if spec is not None:
        written = shlex.quote(json.dumps(spec))
        yield (
            f"lay the mechanism out for counts from 0 to {_TRIED}, with a certificate",
            f"echo {written} > spec.json && irisdp design spec.json -o mechanism.json",
        )
        yield "audit it, exactly", "irisdp audit mechanism.json"
        yield (
            "check it again with one file of standard Python that shares no code (src/irisdp/certify)",
            "python verify_mechanism.py mechanism.json",
        )
    elif facts.kind == "designed":
        yield "audit the mechanism file that was used; the digest of its rows is below", "irisdp audit MECHANISM.json"


def _operand(name: str) -> str:
    """Write a name so that no command takes it for an option."""
    return f"./{name}" if name.startswith("-") else name


def _spec(facts: Facts) -> dict[str, object] | None:
    if facts.kind != "geometric-noise" or not isinstance(facts.privacy, Privacy) or not facts.privacy.single:
        return None
    return {"kind": "geometric", "n": _TRIED, "privacy": privacy_to_document(facts.privacy)}


def _known(given: Given) -> str | None:
    """Give an example of what a reader may know of counts that are read among few: a little more than their ends say.

    None where these are far apart.
    """
    found = [cell for name, *column in zip(given.columns, *given.rows, strict=True) for cell in column if name in _ENDS]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < _DIGITS for cell in found):
        return None
    low, high = min(map(int, found), default=0), max(map(int, found), default=0)
    if high - low > _FEW:
        return None
    return f" --at-least {max(0, low - _FEW // 10)} --at-most {high + _FEW // 10}"


_ENDS, _FEW, _DIGITS = ("answer_low", "answer_high"), 500, 15
