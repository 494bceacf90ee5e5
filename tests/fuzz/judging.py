"""What was said of an input, what is wrong with that, and the books and files that are kept of it."""

from __future__ import annotations

import hashlib
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.target import MARK, Target, slug
from irisdp import IrisError

OUT = Path("build/fuzz")


@dataclass(frozen=True)
class Finding:
    """What was wrong, and the input as bytes."""

    kind: str
    given: bytes


@dataclass
class Books:
    """What became of the inputs of one target."""

    inputs: int = 0
    taken: int = 0
    refused: int = 0
    messages: int = 0
    slowest: float = 0
    """Seconds of the processor."""
    seconds: float = 0
    """Seconds of the processor for all."""
    grown: int = 0
    """Bytes that the process grew by, at most."""
    new: int = 0
    """Inputs that reached what none had reached, under guidance."""
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: Books) -> None:
        """Add what became of more inputs."""
        for name in ("inputs", "taken", "refused", "seconds", "findings"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("messages", "slowest", "grown", "new"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))


def judged(target: Target, given: Any, folder: Path) -> tuple[str, str]:
    """Take an input; return what was said, and what is wrong with that."""
    try:
        found = target.take(given, folder)
    except IrisError as error:
        found = str(error) or "nothing"
    except MemoryError:
        return "memory", "MemoryError"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return str(error)[:400], f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}"
    sentences = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    for words in sentences:
        if "\n" in words.rstrip("\n"):
            return words, "more than one line"
        if MARK in words and not target.public(given):
            return words, "the mark of a record"
    return " ".join(sentences), ""


def kept(name: str, findings: list[Finding], out: Path) -> list[tuple[str, Path]]:
    """Write each input that something was wrong with to a file of its own, which `run.py --replay` takes."""
    folder = out / slug(name)
    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for finding in findings:
        path = folder / hashlib.sha256(finding.given).hexdigest()[:12]
        path.write_bytes(finding.given)
        told.append((finding.kind, path))
    lines = [f"{kind}\n    {path}" for kind, path in told]
    (folder / "findings.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")
    return told
