"""What a wrong answer costs a consumer.

A loss that depends on the error alone is two tails, one for answers too low and one for answers too high: nothing up to
an error of `beyond`, then a first jump and increments that grow evenly. All losses with a name are of that kind, and
recurrences sum them in linear time. Anything else is a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from .._exact import Table, checked, integer, rational, table
from .._frames import InOneLine
from ..errors import BadInput

LARGEST_LOSS = 10**30
"""Of a table, or of one error: bounds on rounding count on it (proofs/reading-certificate.md)."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """Loss of an error of one sign: with m = error − beyond ≥ 1, jump + slope·m + curvature·m(m−1)/2; before that 0."""

    beyond: int = 0
    jump: Fraction = Fraction(0)
    slope: Fraction = Fraction(0)
    curvature: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Refuse losses that fall with the error, or are too large for any sum in floats."""
        object.__setattr__(self, "beyond", integer(self.beyond, "beyond", at_least=0))
        for name in ("jump", "slope", "curvature"):
            number = rational(getattr(self, name), name)
            if not 0 <= number <= LARGEST_LOSS:
                raise BadInput(name, "must lie between 0 and 10^30", "give losses in a larger unit")
            object.__setattr__(self, name, number)

    @property
    def convex(self) -> bool:
        """Whether it grows by ever more: the first step, jump + slope, is at most the second, slope + curvature."""
        return self.jump <= self.curvature

    def at(self, error: int) -> Fraction:
        """Return the loss of an error, error ≥ 0."""
        m = error - self.beyond
        return self.jump + self.slope * m + self.curvature * m * (m - 1) / 2 if m > 0 else Fraction(0)


@checked
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Loss(InOneLine):
    """A loss l(i, v) of answering v where i is true.

    Parameters
    ----------
    name : str
        What people and documents call it.
    low, high : Tail, optional
        Losses of answers below and above the truth; both or neither.
    entries : table, optional
        Row i, column v; instead of tails; any numbers.
    standard : bool
        Whether certificates know the loss by `name` alone.
    """

    name: str
    low: Tail | None = None
    high: Tail | None = None
    entries: Table | None = None
    standard: bool = False

    def _summary(self) -> str:
        return self.name if self.entries is None else f"a table for counts 0 to {len(self.entries) - 1}"

    def at(self, truth: int, answer: int) -> Fraction:
        """Return l(truth, answer)."""
        if self.entries is not None:
            return self.entries[truth][answer]
        assert self.low is not None and self.high is not None
        return self.low.at(truth - answer) if answer < truth else self.high.at(answer - truth)

    @property
    def recurrent(self) -> bool:
        """Whether recurrences sum it: convex in the error, and at most as fast as its square, or one jump for all."""
        if self.low is None or self.high is None:
            return False
        tails = (self.low, self.high)
        convex = all(tail.jump == 0 and tail.curvature <= 2 * tail.slope for tail in tails)
        return convex or (self.low == self.high and self.low.slope == self.low.curvature == 0)

    @checked
    def table(self, n: int) -> Table:
        """Write the loss out for 0..n."""
        n = integer(n, "n", at_least=0)
        if self.entries is not None:
            return self.entries
        assert self.low is not None and self.high is not None
        high, low = ([tail.at(error) for error in range(n + 1)] for tail in (self.high, self.low))
        return tuple(tuple(high[v - i] if v >= i else low[i - v] for v in range(n + 1)) for i in range(n + 1))

    @checked
    def never_falls(self, possible: Iterable[int]) -> bool:
        """Tell whether, for every possible truth, the loss grows or stays as the answer moves away on either side.

        That is what universality needs; both sides need not be alike (proofs/universality.md).
        """
        if self.entries is None:
            return True
        lines = ((i, self.entries[i]) for i in possible)
        return all(
            all(x >= y for x, y in pairwise(line[: i + 1])) and all(x <= y for x, y in pairwise(line[i:]))
            for i, line in lines
        )


@checked
def absolute() -> Loss:
    """Return |i − v|: the mean error."""
    tail = Tail(slope=Fraction(1))
    return Loss(name="absolute", low=tail, high=tail, standard=True)


@checked
def squared() -> Loss:
    """Return (i − v)²."""
    tail = Tail(slope=Fraction(1), curvature=Fraction(2))
    return Loss(name="squared", low=tail, high=tail, standard=True)


@checked
def zero_one() -> Loss:
    """Return 1 for every wrong answer: the probability of error."""
    tail = Tail(jump=Fraction(1))
    return Loss(name="zero-one", low=tail, high=tail, standard=True)


@checked
def pinball(*, too_low: Any, too_high: Any) -> Loss:
    """Return the pinball loss: too_low·(i − v) where v < i, too_high·(v − i) where v > i; both more than 0.

    Raises
    ------
    BadInput
        For a cost that is not more than 0.
    """
    slopes = [rational(too_low, "too_low"), rational(too_high, "too_high")]
    for slope, field in zip(slopes, ("too_low", "too_high"), strict=True):
        if slope <= 0:
            raise BadInput(field, "must be more than 0", "give the cost of an error of one")
    return Loss(name="pinball", low=Tail(slope=slopes[0]), high=Tail(slope=slopes[1]))


@checked
def threshold(beyond: int) -> Loss:
    """Return 1 where |i − v| > beyond: only errors beyond it hurt, and all equally."""
    tail = Tail(beyond=integer(beyond, "beyond", at_least=0), jump=Fraction(1))
    return Loss(name="threshold", low=tail, high=tail)


@checked
def excess(beyond: int) -> Loss:
    """Return max(0, |i − v| − beyond): only errors beyond it hurt, by how far they are beyond."""
    tail = Tail(beyond=integer(beyond, "beyond", at_least=0), slope=Fraction(1))
    return Loss(name="excess", low=tail, high=tail)


@checked
def table_loss(entries: Any, n: int) -> Loss:
    """Read a loss written out: row i, column v, both 0..n; any numbers.

    Parameters
    ----------
    entries : table of numbers, shape (n + 1, n + 1)
        Up to 10^30.
    n : int
        The largest count.

    Raises
    ------
    BadInput
        For another shape, or numbers that are larger.
    """
    counts = integer(n, "n", at_least=0) + 1
    numbers = table(entries, "loss", rows=counts, columns=counts)
    if max(max(abs(x) for x in line) for line in numbers) > LARGEST_LOSS:
        raise BadInput("loss", "must hold numbers up to 10^30", "give losses in a larger unit")
    return Loss(name="given", entries=numbers)


@checked
def read_loss(given: Any, n: int) -> Loss:
    """Read a loss as the command line, Python or a spec has it: all have the same spellings.

    Parameters
    ----------
    given : Loss, str, mapping or table
        "absolute", "squared", "zero-one", "pinball:LOW:HIGH", "threshold:K", "excess:K"; the same as
        {"name": "pinball", "too_low": LOW, "too_high": HIGH} and {"name": "threshold" | "excess", "beyond": K}; or a
        table of (n+1) × (n+1) numbers.
    n : int
        Largest count.

    Raises
    ------
    BadInput
        For anything else; the remedy lists the forms.
    """
    n = integer(n, "n", at_least=0)
    if isinstance(given, Loss):
        if given.entries is not None and len(given.entries) != n + 1:
            raise BadInput("loss", f"must be a table of {n + 1} rows", "give one row for every count")
        return given
    if callable(given) and not hasattr(given, "__len__"):
        raise BadInput("loss", "is a function that makes a loss", f"call it: {_call(given)}")
    fields = _written_fields(given) if isinstance(given, str) else given
    if not isinstance(fields, Mapping):
        return table_loss(given, n)
    parameters = {key: value for key, value in fields.items() if key != "name"}
    name = _current(str(fields.get("name")))
    make, names = _NAMED.get(name, (None, ()))
    if make is None:
        raise BadInput("loss", "is not a loss with a name", f"write {', '.join(SPELLINGS)}, or give a table")
    if set(parameters) != set(names):
        needed = " and ".join(names) or "no parameters"
        raise BadInput("loss", f"{name} takes {needed}", f"write {_form(name)}")
    made: Loss = make(**parameters) if names != ("beyond",) else make(parameters["beyond"])
    return made


def _written_fields(text: str) -> dict[str, Any]:
    """Return a loss written in one word as a mapping."""
    name, *numbers = text.split(":")
    _, names = _NAMED.get(_current(name), (None, ()))
    # A parameter too many has no name, and is refused with the others' names.
    named = dict(zip([*names, *map(str, range(len(numbers)))], numbers, strict=False))
    return {"name": name, **named}


def _current(name: str) -> str:
    """Return what a loss is called now, for its name in version 0.1, which specs and scripts still use."""
    return _OLD_NAMES.get(name, name)


def _form(name: str) -> str:
    return ":".join((name, *(_WORDS[parameter] for parameter in _NAMED[name][1])))


def _call(function: Any) -> str:
    """Write how a function that makes a loss is called."""
    name, parameters = next(
        ((make.__name__, names) for make, names in _NAMED.values() if make is function), ("absolute", ())
    )
    return f"{name}({', '.join(f'{parameter}=1' for parameter in parameters)})"


_WORDS = {"too_low": "LOW", "too_high": "HIGH", "beyond": "K"}
_NAMED: dict[str, tuple[Any, tuple[str, ...]]] = {
    "absolute": (absolute, ()),
    "squared": (squared, ()),
    "zero-one": (zero_one, ()),
    "pinball": (pinball, ("too_low", "too_high")),
    "threshold": (threshold, ("beyond",)),
    "excess": (excess, ("beyond",)),
}
_OLD_NAMES = {"asymmetric": "pinball"}
SPELLINGS = tuple(map(_form, _NAMED))
"""How each loss with a name is written in one word, in the order in which messages list them."""
