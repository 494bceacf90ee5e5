"""The result of a page: words, numbers, pictures and files, apart from how they are shown."""

from __future__ import annotations

import hashlib
import pprint
import shlex
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol
from urllib.parse import quote

from .._exact import json_bytes, json_line, short_above, short_below, short_text
from .._release import delta_means
from ..certify import Optimality
from ..graphs import key_of_node
from ..privacy import Privacy


class ResultFigure(Protocol):
    """What a page needs of a picture; `irisdp.plots` makes them."""

    @property
    def title(self) -> str:
        """One line."""
        ...

    @property
    def description(self) -> str:
        """In words all that it shows."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the data behind it."""
        ...

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The data behind it."""
        ...

    def to_svg(self) -> str:
        """Draw it."""
        ...

    def to_png(self) -> bytes:
        """Draw it."""
        ...

    def to_html(self) -> str:
        """Write it as a page."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Write it as data."""
        ...


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was found: its name, what it is, and a remark in small letters."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A small table: a caption, names of its columns, its rows.

    With `choose`, every row has a button that sends the page's form, ``id="form"``, with the row's number in the field
    of that name: 1 for the first. `chosen` is the number of the row that was chosen before, if one was.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    choose: str = ""
    chosen: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSection:
    """More about a result below a heading, folded until somebody opens it."""

    heading: str
    lines: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    pictures: tuple[ResultFigure, ...] = ()
    tables: tuple[ResultTable, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A file to take away.

    Parameters
    ----------
    name : str
    content : bytes or callable
        What is in it, or what works that out when somebody takes it.
    media_type : str
    told : str
        What the content follows from, where it is yet to be worked out.
    """

    name: str
    content: bytes | Callable[[], bytes]
    media_type: str = "application/json"
    told: str = ""

    def read(self) -> bytes:
        """Return the content."""
        return self.content if isinstance(self.content, bytes) else self.content()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The answer of a page to a form.

    Parameters
    ----------
    headline : str
        The answer in one sentence; read aloud when it changes.
    verdict : "good", "bad" or None
        Where the answer is a verdict.
    facts : tuple of Fact
    pictures : tuple of Picture
        Drawn by the server when the page asks for them.
    tables : tuple of ResultTable
    sections : tuple of ResultSection
        What not everybody reads.
    files : tuple of ResultFile
        The result, and the remaining facts for the command line.
    python, command : str
        What makes the same thing without the explorer; nothing is offered where empty.
    notes : tuple of str
        What is claimed among what, and what was assumed.
    """

    headline: str
    verdict: str | None = None
    facts: tuple[Fact, ...] = ()
    pictures: tuple[ResultFigure, ...] = ()
    tables: tuple[ResultTable, ...] = ()
    sections: tuple[ResultSection, ...] = ()
    files: tuple[ResultFile, ...] = ()
    python: str = ""
    command: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """The answer is at another address of the explorer, such as a job's page: ``design/jobs/17``."""

    to: str


@dataclass(frozen=True, slots=True)
class Hint:
    """What to fill in before there is anything to answer, in a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Later:
    """An answer that takes longer than a page waits.

    Parameters
    ----------
    start : callable
        Makes a job of it and returns the address where it can be watched; called only if the user pressed the button.
    """

    start: Callable[[], Moved]


Answer = Result | Moved | Later | Hint

Values = Mapping[str, str]
"""The fields of a form by name, with their values or defaults."""


# Show exact numbers as facts: a sufficient value is rounded up and says so, and a value below 1 is not shown as 1.


def at_most(value: Fraction, digits: int, remark: str = "") -> tuple[str, str]:
    """Write what is enough, rounded up, and beside a remark to how many digits; of a short number the remark alone.

    Examples
    --------
    >>> at_most(Fraction(1, 3), 4, "at this δ"), at_most(Fraction(1, 2), 4, "at this δ")
    (('0.3334', 'at this δ, rounded up to 4 digits'), ('0.5', 'at this δ'))
    """
    text = short_above(value, digits)
    if Fraction(text) == value:
        return text, remark
    return text, f"{remark}{', ' if remark else ''}rounded up to {digits} digits"


def entry(probability: Fraction, digits: int) -> str:
    """Write a probability among others: the nearest, but never 1 for less.

    Examples
    --------
    >>> entry(Fraction(2, 3), 4), entry(1 - Fraction(1, 10**9), 4), entry(Fraction(1), 4)
    ('0.6667', '0.9999', '1')
    """
    text = short_text(probability, digits)
    return text if text != "1" or probability == 1 else short_below(probability, digits)


# Show the guarantee of a mechanism with the same names on every page.


def promised(privacy: Privacy, *, kept: bool = True) -> list[Fact]:
    """Say what is promised; and what its δ means, where it is kept, and is one pair with any."""
    facts = [Fact("Promised", str(privacy))]
    if kept and privacy.single and privacy.delta:
        means = delta_means(privacy.delta, "tells neighbours apart")
        facts.append(Fact("δ means", f"{means[0].upper()}{means[1:]}"))
    return facts


# Show the proven properties of a mechanism with the names of `irisdp audit`.


def proved(optimality: Optimality, *, goal: str = "") -> list[Fact]:
    """Say what a certificate proves, recomputed; what a file calls its own goal is said only where that is given.

    Parameters
    ----------
    optimality : Optimality
    goal : str
        The name of the minimised quantity, if it comes from the design and not from a file.
    """
    facts = [Fact("Optimality", "Holds" if optimality.holds else "Does not hold", optimality.reason)]
    if optimality.value is None or optimality.lower_bound is None or optimality.gap is None or optimality.goal is None:
        return [*facts, Fact("Proved", optimality.says())]
    always = f"always answering {_key(optimality.goal.constant_answer)} reaches {short_text(optimality.goal.constant)}"
    free = f"without privacy it could be {short_text(optimality.goal.without_privacy)}; {always}"
    told = "the same for all" if optimality.goal.compares_nothing else free
    value = short_above(optimality.value, 10)  # and the bound, where they are one number
    words = f"{goal}, as small as possible" if goal else f"{optimality.goal.words}, as small as possible"
    return [
        *facts,
        Fact("Goal", words, f"in the certificate {optimality.goal.words}; {told}" if goal else told),
        Fact("Value", value),
        Fact(
            "Bound",
            short_below(optimality.lower_bound, 10) if optimality.gap else value,
            f"no mechanism has less, among {optimality.scope()}",
        ),
        Fact("Gap", short_above(optimality.gap, 3)),
    ]


def _key(node: object) -> str:
    return key_of_node(node) if isinstance(node, str | int | tuple) and not isinstance(node, bool) else str(node)


# A picture that is drawn on request; its words and numbers are there at once.


@dataclass(frozen=True, slots=True)
class Sketch:
    """A picture to be.

    Parameters
    ----------
    title, description, columns, rows
        As of the picture that `draw` makes.
    draw : callable
        Makes the picture, of nothing but these.
    """

    title: str
    description: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    draw: Callable[[], ResultFigure] = field(repr=False, compare=False)

    def to_svg(self) -> str:
        """Draw it."""
        return self.draw().to_svg()

    def to_png(self) -> bytes:
        """Draw it."""
        return self.draw().to_png()

    def to_html(self) -> str:
        """Draw it on a page."""
        return self.draw().to_html()

    def to_document(self) -> dict[str, Any]:
        """Write its words and numbers as data, from which the rest follows."""
        rows = [list(row) for row in self.rows]
        return {"title": self.title, "description": self.description, "columns": list(self.columns), "rows": rows}


# Cache what pages show and offer under its digest; the oldest is dropped first.

_MOST_BYTES = 48 << 20
_MOST_THINGS = 512


class ResultCache:
    """Files, pictures, and pictures drawn, by digest; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._size = 0

    def keep_file(self, file: ResultFile) -> str:
        """Keep a file and return its address."""
        known = file.content if isinstance(file.content, bytes) else file.told.encode()
        key = hashlib.sha256(file.name.encode() + b"\0" + known).hexdigest()[:32]
        self._keep(key, file, len(known))
        return f"files/{key}/{quote(file.name, safe='')}"

    def keep_picture(self, picture: ResultFigure) -> str:
        """Keep a picture and return its address, which lacks only an ending: .svg, .png or .html."""
        content = json_line(picture.to_document()).encode()
        key = hashlib.sha256(content).hexdigest()[:32]
        self._keep(key, picture, len(content))
        return f"pictures/{key}"

    def file(self, key: str, name: str) -> ResultFile | None:
        """Return a file that is still kept."""
        stored = self._find(key)
        return stored if isinstance(stored, ResultFile) and stored.name == name else None

    def drawn(self, key: str, ending: str) -> bytes | None:
        """Return a picture that is still kept, drawn as .svg, .png or .html."""
        done = self._find(f"{key}.{ending}")
        if done is not None:
            return bytes(done)
        picture = self._find(key)
        if picture is None or isinstance(picture, ResultFile):
            return None
        if ending == "png":
            content: bytes = picture.to_png()
        else:
            content = (picture.to_svg() if ending == "svg" else picture.to_html()).encode()
        self._keep(f"{key}.{ending}", content, len(content))
        return content

    def _find(self, key: str) -> Any:
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def _keep(self, key: str, thing: Any, size: int) -> None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return
            self._kept[key] = thing, size
            self._size += size
            while len(self._kept) > 1 and (self._size > _MOST_BYTES or len(self._kept) > _MOST_THINGS):
                _, (_, gone) = self._kept.popitem(last=False)
                self._size -= gone


# Write Python and command lines that reproduce the result of a page.

_LONGEST = 6000
"""Letters of a document that Python code holds; longer ones it reads from the file."""


def as_json_file(name: str, document: Any) -> ResultFile:
    """Return a document as a file, byte by byte as the command line writes it."""
    return ResultFile(name, json_bytes(document))


def as_python(name: str, document: Any, file: str) -> tuple[str, str]:
    """Return an import and a statement that give a document a name: written out, or read from a file if it is long.

    Examples
    --------
    >>> as_python("spec", {"n": 3}, "spec.json")
    ('', "spec = {'n': 3}")
    """
    written = f"{name} = {pprint.pformat(document, width=100, compact=True, sort_dicts=False)}"
    if len(written) <= _LONGEST:
        return "", written
    return "import json\nfrom pathlib import Path\n\n", f'{name} = json.loads(Path("{file}").read_text("utf-8"))'


def command_line(words: Sequence[str]) -> str:
    """Return a line that a shell reads as these words.

    Examples
    --------
    >>> print(command_line(["irisdp", "interpret", "--value", "a b"]))
    irisdp interpret --value 'a b'
    """
    return shlex.join(words)
