"""Changed inputs: a valid one with a few places changed, in bytes, in text or in a document.

Each is made of what was fed before and of words of its kind. Of blind changes, what an input made the library say is
remembered without its names and numbers, and one that made it say something new is fed again and again (`Pool`): nearly
every branch that refuses says so in words of its own. Of branches that accept, coverage tells (`feeding.py`).
"""

import json
import random
import re

from support.malformed import mutant, written

ODD_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\n", b'"', b"\\", b"\x1a")
ODD_TEXT = (
    *("", "\t", "\n", "\r", "\x00", "\x1b[31m", "\ufeff", "\ud800", "\u202e", "\u0130", "\u0663", "\U0001d7d9", "\xe9"),
    *("'", '"', "\\", "`", "--", "/*", ";", "%s", "{0}", "${HOME}", "../", "NaN", "inf", "-inf", "-0", "1e999"),
    *("1e-999", "9" * 400, "1/0", "0/1", "1/3", "0x10", "1_0", "true", "null", "[]", "{}", "((((", "))))", "[" * 60),
    *("{" * 60, "(" * 300, "NULL", "NOT ", " OR ", "=", "==", "<>", ",", ",,", ":", "::", "@", "#", "?", "&", "%2E"),
    *("%00", "%", "~", "$", "|", " "),
)
LONGEST = 20_000
MOST_KEPT = 400


class Pool:
    """Inputs to change: the seeds, and what was new since."""

    def __init__(self, seeds: list) -> None:
        self.seeds, self.new, self.heard = list(seeds), [], set()

    def pick(self, chance: random.Random):
        """Return an input to change: one that was new, as often as a seed."""
        return chance.choice(self.new if self.new and chance.random() < 0.5 else self.seeds)

    def hear(self, given, words: str) -> None:
        """Keep an input where it made the library say what was not said before."""
        if words not in self.heard:
            self.heard.add(words)
            if len(self.new) < MOST_KEPT:
                self.new.append(given)


def said(message: str) -> str:
    """Return a message without names, numbers and quotations."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+|[A-Z]\w+|\b\w\b", "", message)[:160]


def changed_bytes(one: bytes, other: bytes, chance: random.Random) -> bytes:
    """Change one to four places."""
    made = bytearray(one)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, way = chance.randrange(len(made) + 1), chance.randrange(8)
        end = min(len(made), at + chance.choice((1, 1, 2, 4, 8, 40)))
        if way == 0 and at < len(made):
            made[at] ^= 1 << chance.randrange(8)
        elif way == 1 and at < len(made):
            made[at] = chance.randrange(256)
        elif way == 2:
            del made[at:end]
        elif way == 3:
            made[at:at] = made[at:end] * chance.choice((1, 2, 30))
        elif way == 4:
            made[at:at] = chance.choice(ODD_BYTES)
        elif way == 5 and other:
            start = chance.randrange(len(other))
            made[at:end] = other[start : start + chance.choice((1, 4, 16, 64))]
        elif way == 6:
            made[at:end] = chance.choice((0, 1, 127, 255)).to_bytes(1, "big") * (end - at)
        else:
            del made[chance.randrange(len(made) + 1) :]
    return bytes(made[: LONGEST * 10])


def changed_text(one: str, other: str, words: tuple[str, ...], chance: random.Random) -> str:
    """Change one to four places; words of the language are likelier than what is odd."""
    made = one
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, way = chance.randrange(len(made) + 1), chance.randrange(8)
        end = min(len(made), at + chance.choice((1, 1, 3, 8, 20)))
        if way < 2:
            made = made[:at] + chance.choice(words) + made[end if chance.random() < 0.5 else at :]
        elif way == 2:
            made = made[:at] + chance.choice(ODD_TEXT) + made[at:]
        elif way == 3:
            made = made[:at] + made[end:]
        elif way == 4:
            made = made[:at] + made[at:end] * chance.choice((2, 3, 50)) + made[end:]
        elif way == 5 and other:
            start = chance.randrange(len(other))
            made = made[:at] + other[start : start + chance.choice((3, 10, 40))] + made[end:]
        elif way == 6 and (found := list(re.finditer(r"\w+", made))):
            word = chance.choice(found)
            made = made[: word.start()] + chance.choice(words + ODD_TEXT) + made[word.end() :]
        else:
            made = made[:at] + chr(chance.choice((chance.randrange(32, 127), chance.randrange(0x3000)))) + made[end:]
    return made[:LONGEST]


def changed_document(document: object, chance: random.Random) -> str:
    """Change one to three places of a document and write it as JSON, or as what only looks like it."""
    try:
        return written(mutant(document, chance))
    except (OverflowError, RecursionError, ValueError):  # of infinities, and of what is nested too deep to be changed
        return json.dumps(None)


def parsed(text: str) -> object:
    """Read JSON text as documents of the library are read; None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
