"""The interface of every cell mechanism, so that publishing code does not depend on which one answers.

A query hands out nodes, one per cell, and the mechanism that answers about nodes of that kind. `law` is not used to
publish. It is what the proof by exhaustion multiplies out: the object that draws also says from what, exactly where
probabilities are fractions, and by enclosures where they are not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._exact import Enclosure, rational_text
from .._sampling import BitSource
from ..privacy import Guarantee, Privacy

# Accuracy of published answers: the auxiliary columns, from public facts and the answers alone.
#
# Numbers get ends: the true number lies between `answer_low` and `answer_high` with the confidence asked for,
# whatever the data. They come from the noise distribution, each rounded outward, and the answer as shown. Clamping an
# answer to public ends takes it no further from the truth, and the interval is clamped to them too. Means alone have
# theirs from the two noisy numbers that were drawn, which are as private as what is shown.
#
# Names get `answer_probability`: the probability of the right answer on the data on which it is least. It is the
# mechanism's, and no statement about one answer; of that, and of what a reader knows already, `irisdp.interpret`
# speaks. It is rounded down to six significant digits, and published with every name.

# Bins get their edges, as numbers or dates, `answer_from` and `answer_below`, null at an open end. Quantiles that are
# read off noisy counts get the first and the last bin that may be right with the confidence asked for.

LOW, HIGH, PROBABILITY = "answer_low", "answer_high", "answer_probability"
FROM, BELOW, FIRST, LAST = "answer_from", "answer_below", "answer_first", "answer_last"

ASSURED = (FROM, BELOW, FIRST, LAST, LOW, HIGH, PROBABILITY)
"""Names of the columns that may stand after `answer`."""

ANSWER_COLUMNS = ("answer", *ASSURED)
"""What no group column may be called."""

USUAL_CONFIDENCE = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class ConfidenceStatement:
    """Columns that say how sure answers are.

    Parameters
    ----------
    columns : mapping
        By name, in the order in which they stand, an entry for each answer; lists, where answers are lists.
    promise : str
        Their guarantee, in one line; empty if nothing is guaranteed.
    confidence : Fraction or None
        The least probability of what the ends say; None where there are none.
    """

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    promise: str = ""
    confidence: Fraction | None = None

    def to_document(self) -> dict[str, Any]:
        """Return what is promised, and how surely, JSON-ready; empty where nothing is."""
        sure = {} if self.confidence is None else {"confidence": rational_text(self.confidence)}
        return {"assurance": {"columns": list(self.columns), "promise": self.promise, **sure}} if self.columns else {}


def first_where(holds: Callable[[int], bool]) -> int:
    """Return the smallest n ≥ 0 from which on something holds that holds somewhere, and ever after."""
    low, high = -1, 0
    while not holds(high):
        low, high = high, 2 * high + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# A selection reads as many random bytes as a public number of keys needs, whatever the number of keys.
#
# If each key read its own bytes, a key that nobody else has would show in their number. So Iris also draws for empty
# cells: for 2^20 keys in all or, beyond, for the next power of two. An observer who can count the bytes then learns
# whether there are more keys than 2^20, than 2^21, …, and nothing else (SECURITY.md).

FEWEST_DRAWS = 1 << 20
"""Keys that are drawn for at least: 8 MiB of random bytes to select, and as much for each digit of an answer."""


def padded_size(count: int) -> int:
    """Return for how many keys to draw where there are `count`."""
    return max(FEWEST_DRAWS, 1 << max(count - 1, 0).bit_length())


def longer(values: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return values with as many zeros after them as make `size`."""
    return np.concatenate([values, np.zeros(size - len(values), dtype=np.int64)])


# Numbers of records, and what is proven of noise, for people.

EVERY_LOSS = "least loss after post-processing, for any loss that never falls as the error grows"
"""What is proven of universally optimal noise (docs/theory.md#counts)."""


def records(number: int) -> str:
    """Write so many records, one of them in the singular.

    Examples
    --------
    >>> records(1), records(2000)
    ('1 record', '2,000 records')
    """
    return f"{number:,} record{'' if number == 1 else 's'}"


def short(number: float) -> str:
    """Write a number with thousands apart, and without a point where it is whole.

    Examples
    --------
    >>> short(0.0), short(1234.5), short(7)
    ('0', '1,234.5', '7')
    """
    return f"{number:,}".removesuffix(".0")


Law = Mapping[Any, Fraction] | Mapping[Any, Enclosure]
"""Probabilities of what may be shown; all are enclosed, to `ENCLOSED` or less, where they are no fractions."""

ENCLOSED = Fraction(1, 10**30)


class MeasurementInput(Protocol):
    """A node of a small graph per cell; private, and not shown by `repr`."""

    def __len__(self) -> int:
        """Count the cells."""
        ...

    def padded(self, size: int) -> Self:
        """Return `size` nodes: these, and after them cells that nobody is in (see `padding`)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ChainLink:
    """One release of a chain: its privacy, and the answers as drawn, before any clamping to public ends."""

    privacy: Privacy
    values: NDArray[Any] = field(repr=False)


NodesT_contra = TypeVar("NodesT_contra", bound=MeasurementInput, contravariant=True)


class Measurement(Protocol[NodesT_contra]):
    """What answers about each cell of a question, with a guarantee for one step on the cell's graph."""

    @property
    def privacy(self) -> Guarantee:
        """What one step on a cell's graph may reveal."""
        ...

    @property
    def chained(self) -> Privacy | None:
        """Privacy of the link that answers are, where they form a chain with other releases; None where they do not."""
        ...

    def draw(
        self, nodes: NodesT_contra, links: Sequence[ChainLink] = (), *, source: BitSource | None = None
    ) -> NDArray[Any]:
        """Draw one answer per cell, as the ledger keeps it.

        Parameters
        ----------
        nodes
            A node per cell.
        links : sequence of ChainLink
            What was drawn before about the same nodes, the most accurate first; a mechanism whose answers form a chain
            draws from the joint law with them.
        source : BitSource, optional
            Source of random bits. [default: the operating system]
        """
        ...

    def show(self, drawn: list[Any], nodes: NodesT_contra) -> list[Any]:
        """Turn answers as drawn into answers as shown; uses public facts of the nodes only."""
        ...

    def ends(self, nodes: NodesT_contra) -> dict[str, Any]:
        """Say what is public of the answers that `show` makes, and no part of the question; {} if nothing is.

        Of numbers the ends they are put between, a number for all cells or a list with one for each; of names, which
        there are, as a tuple.
        """
        ...

    def law(self, nodes: NodesT_contra, cell: int, largest: int) -> Law:
        """Return the law of what is shown about a cell whose count, if it is one, is at most `largest`.

        Numbers are lumped on either side where that hides nothing of counts from 0 to `largest`: beyond, their
        likelihood ratios stay as they are. If ratios never become constant, values are lumped where the remaining mass
        is negligible, which is post-processing.
        """
        ...

    def expected_error(self) -> dict[str, Any]:
        """Return the expected error from public facts, JSON-ready."""
        ...

    def chance_within(self, distance: int) -> Enclosure | None:
        """Return the chance that an answer is good, exactly or to `ENCLOSED`; never less for a larger distance.

        Of numbers: that the answer as drawn, before it is put between public ends, is at most `distance` from the
        truth. For names: the probability of a right answer, at worst over all cells whose truth holds by `distance`
        records or more. That is the distance from a table with a neighbour of another truth or, where categories are
        compared, the lead over the next. Of quantiles: that the named bin is at most `distance` records from the rank.
        None where the mechanism cannot say.
        """
        ...

    def assurance(
        self, drawn: list[Any], shown: list[Any], nodes: NodesT_contra, confidence: Fraction
    ) -> ConfidenceStatement:
        """Say how sure answers are, in columns beside them; uses the answers, and public facts of the nodes only.

        Parameters
        ----------
        drawn, shown : list
            The answers as drawn and as shown; of selected groups those that are named.
        nodes
            A node per cell.
        confidence : Fraction
            Confidence that the true number lies in its interval.
        """
        ...

    def describe_error(self) -> str:
        """Say the expected error in one line."""
        ...

    def to_document(self) -> dict[str, Any]:
        """Describe the mechanism for readers of the answers: its part of the release file."""
        ...


@runtime_checkable
class SelectsPartitions(Protocol):
    """What is drawn decides which groups are named, too."""

    @property
    def privacy(self) -> Guarantee:
        """The guarantee for one step, naming included."""
        ...

    def named(self, drawn: NDArray[Any]) -> NDArray[Any]:
        """Tell which groups are named."""
        ...

    def named_from(self) -> dict[str, int]:
        """Return from how many records on a group is named, whatever part of them is counted."""
        ...

    def describe_naming(self) -> str:
        """Say the same in words."""
        ...


@runtime_checkable
class ExplainsPrivacyUnit(Protocol):
    """Statements about its errors use a word for the protected person."""

    def describe_error_for(self, unit: str) -> str:
        """Say the expected error in one line, with one word for a protected person, such as "person"."""
        ...


@runtime_checkable
class HasAuxiliaryOutput(Protocol):
    """What is drawn says more than what people are shown of it, and readers should have it."""

    def beside(self, drawn: list[Any]) -> dict[str, list[Any]]:
        """Return the auxiliary output for the release file: lists with an entry for each answer.

        It is published as much as the answers are: `law` is the law of both.
        """
        ...
