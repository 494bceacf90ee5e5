"""What a target is: something that takes inputs, with seeds, a way to change them, and what one means as bytes."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz.changes import changed_document, changed_text, parsed

MARK = "Zweig-4711"
"""Stands in records; no message may hold it."""
ROOT = Path(__file__).parents[2]


def has_mark(one: Any) -> bool:
    """Tell whether whoever asked wrote the mark."""
    return MARK.encode() in as_bytes(one)


@dataclass(frozen=True)
class Target:
    """Something that takes inputs.

    A taker may raise an `IrisError` of one line, or return: None, a sentence that was said, or a list of them, each of
    which is judged as if it had been raised. All else is a finding.

    Attributes
    ----------
    whole : int
        How many inputs a whole run feeds.
    seeds : callable
        Makes valid inputs, in a folder of the target's own.
    change : callable
        Changes one of them, given another and a generator.
    take : callable
        Takes one; given the folder, too.
    form : {"text", "bytes", "words"}
        What is made of bytes, in which inputs come from Atheris and from the corpus.
    public : callable
        Tells whether the mark stands where a message may quote it: a header, a question.
    """

    whole: int
    seeds: Callable[[Path], list]
    change: Callable[[Any, Any, random.Random], Any]
    take: Callable[[Any, Path], object]
    form: str = "text"
    public: Callable[[Any], bool] = has_mark

    def of(self, data: bytes) -> Any:
        """Return what bytes mean here; every bytes mean something."""
        if self.form == "bytes":
            return data
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            text = data.decode("utf-8", "replace")
        if self.form == "text":
            return text
        words = parsed(text)
        return list(map(str, words)) if isinstance(words, list) else text.split()


def as_bytes(one: str | bytes | list[str]) -> bytes:
    """Write an input as the bytes that mean it."""
    if isinstance(one, bytes):
        return one
    text = one if isinstance(one, str) else json.dumps(one)
    return text.encode("utf-8", "surrogatepass")


def slug(name: str) -> str:
    """Return the name of a target as that of a folder."""
    return "-".join(re.findall("[a-z0-9]+", name.lower()))


def given(*seeds: Any) -> Callable[[Path], list]:
    return lambda _: list(seeds)


def text_by(words: tuple[str, ...]) -> Callable[[str, str, random.Random], str]:
    return lambda one, other, chance: changed_text(one, other, words, chance)


def document_or_text(one: str, other: str, chance: random.Random) -> str:
    """Change what JSON text says, or now and then the text."""
    document = parsed(one)
    if document is None or chance.random() < 0.1:
        return changed_text(one, other, (",", ":", "[", "]", "{", "}", '"', "null", "1e5"), chance)
    return changed_document(document, chance)


def written(name: str, read: Callable[[Path], object]) -> Callable[[Any, Path], object]:
    """Write an input to a file and read that."""

    def take(one: str | bytes, folder: Path) -> object:
        path = folder / name
        path.write_bytes(as_bytes(one))
        return read(path)

    return take
