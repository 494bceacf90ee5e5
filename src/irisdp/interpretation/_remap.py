"""How one consumer reads every value of a release: with a largest count, and without one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._exact import checked, integer, rational, short_above
from .._frames import InOneLine
from .._hooks import Drawable
from .._lazy import renamed_method
from ..consumers import (
    LARGEST_N,
    Consumer,
    Loss,
    OptimalReading,
    Shift,
    best_shift,
    loss_of_reading,
    loss_of_shift,
    optimal_reading,
    posterior,
    weighed,
)
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism, Reading
from ..privacy import Gaussian, Privacy
from ._published_counts import LARGEST_COUNT, Ends, NoisyCount, log_likelihoods

# What the truth may be, given a published count.

_MOST_LISTED = 10_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Posterior(InOneLine, Drawable):
    """Probabilities of the true counts first, first + 1, …; `prior` says in words what was assumed before."""

    first: int
    probabilities: NDArray[np.float64]
    prior: str

    def _summary(self) -> str:
        low, high = self.interval()
        likely = self.first + int(self.probabilities.argmax())
        return f"{low} to {high} with probability 95 %, most likely {likely}; before: {self.prior}"

    @checked
    def interval(self, level: float = 0.95) -> tuple[int, int]:
        """Return counts between which the truth lies with at least this probability, as much left out on each side.

        Raises
        ------
        BadInput
            For what is no probability below 1.
        """
        outside = (1 - _probability(level)) / 2
        below = np.cumsum(self.probabilities)
        low = int(np.searchsorted(below, outside, side="right"))
        high = int(np.searchsorted(below, 1 - outside))
        last = len(self.probabilities) - 1
        return self.first + min(low, last), self.first + min(high, last)

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return the posterior JSON-ready; where it is long, its most likely counts."""
        chosen = np.flatnonzero(self.probabilities > 0)
        if len(chosen) > _MOST_LISTED:
            chosen = np.sort(np.argsort(self.probabilities)[-_MOST_LISTED:])
        listed = self.probabilities[chosen].tolist()
        places = np.arange(len(self.probabilities))
        return {
            "prior": self.prior,
            "mean": self.first + float(places @ self.probabilities),
            "most_likely": self.first + int(self.probabilities.argmax()),
            "interval_95": list(self.interval()),
            "probabilities": [[self.first + place, p] for place, p in zip(chosen.tolist(), listed, strict=True)],
        }


def _probability(level: Any) -> float:
    number = rational(level, "level")
    if not 0 <= number < 1:
        raise BadInput("level", "must be at least 0 and below 1", "write for example 0.95")
    return float(number)


# A reader's problem on the counts that matter, numbered from 0, and the noise clamped to them.


def clamping(n: int, low: int, high: int) -> Reading:
    """Return the reading of 0..n that puts what lies beyond two ends there."""
    return {z: ((min(max(z, low), high), Fraction(1)),) for z in range(n + 1)}


def renumbered(consumer: Consumer, first: int, last: int) -> Consumer:
    """Number the counts first..last from 0 on."""
    prior: Any = None
    if consumer.prior is not None:
        missing = [0] * (last + 1 - len(consumer.prior))
        kept = consumer.prior[first : last + 1]
        prior = np.append(kept, missing) if isinstance(kept, np.ndarray) else [*kept, *missing]
    counts = consumer.considered  # a count without weight in the prior may lie outside
    known: Any = {"at_least": counts[0] - first, "at_most": counts[-1] - first}
    if len(counts) <= counts[-1] - counts[0]:
        known = [count - first for count in counts]
    return Consumer(last - first, consumer.loss, side_information=known, prior=prior)


_NEGLIGIBLE = 40
"""Counts of less than e^-40 of the largest weight are left out of a posterior without a largest count."""
_LONGEST = 10**7
_WIDE = 50_000
"""Counts beyond which ends hardly matter, where the noise is of no such size: where `_WIDE` times ε is `_MANY`."""
_MANY = 100


class BestReading(Protocol):
    """The best reading of some kind, with bounds on what it costs."""

    @property
    def value(self) -> Fraction:
        """What it costs at most."""

    @property
    def lower_bound(self) -> Fraction:
        """What no reading costs less than."""


class Remap(InOneLine):
    """What all kinds of rule say of themselves."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def best(self) -> BestReading:
            """What was found."""

        @property
        def possible(self) -> tuple[int, int | None]:
            """The least and the largest count deemed possible, if there is a largest."""

    @property
    def value(self) -> Fraction:
        """What the reading costs at most."""
        return self.best.value

    @property
    def lower_bound(self) -> Fraction:
        """What no reading costs less than."""
        return self.best.lower_bound

    def _summary(self) -> str:
        low, high = self.possible
        counts = f"from {low} on" if high is None else f"{low} to {high}"
        return f"loss {short_above(self.value)} for counts {counts}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class BoundedRemap(Remap):
    """A best reading of finitely many counts.

    Parameters
    ----------
    deployed : Mechanism or FactoredMechanism
        On the counts from `first` on.
    first : int
        What stands as 0 in `deployed` and `best`.
    ends : pair of int or None
        Between which published values lie; None where they may be anything.
    best : OptimalReading
    face_value : Fraction or None
        Largest expected loss if the published value is used unchanged, for counts.
    window : pair of int or None
        Of noise, the values that `best` tells apart, numbered from `first`; what lies beyond says no more than they,
        or is all but never released.
    gaussian : Gaussian or None
        What Gaussian noise without ends was made for: of it a value far out still says more.
    serves_all : bool
        Whether it is known of a matrix that it is as good as any private mechanism, for losses that never fall.
    """

    deployed: Mechanism | FactoredMechanism
    first: int
    ends: Ends
    best: OptimalReading
    face_value: Fraction | None
    window: tuple[int, int] | None = None
    gaussian: Gaussian | None = None
    serves_all: bool = False

    @property
    def universal(self) -> bool:
        """Whether no mechanism for this count under its own guarantee (geometric noise: δ = 0) would serve better."""
        if not isinstance(self.deployed, FactoredMechanism):
            return self.serves_all and self.best.consumer.universal
        return (self.deployed.reading is None or self.window is not None) and self.best.consumer.universal

    @property
    def possible(self) -> tuple[int, int]:
        """The least and the largest count deemed possible."""
        considered = self.best.consumer.considered
        return self.first + considered[0], self.first + considered[-1]

    def released(self, value: Any) -> Hashable:
        """Return a value as the release names it; refuse what it cannot have published."""
        if isinstance(self.deployed, Mechanism) and self.window is None:
            from ..graphs import named_nodes, node_among

            return node_among(named_nodes(self.deployed.outputs), str(value), "value")
        if not isinstance(value, int):
            return self.released(whole_value(value))
        return between(value, self.ends)

    def at(self, value: Hashable) -> tuple[tuple[int, Fraction], ...]:
        """Return the answers to a published value, with their exact chances."""
        return tuple((self.first + answer, p) for answer, p in self.best.at(self._position(value)))

    def posterior(self, value: Hashable) -> Posterior:
        """Return the probabilities of the counts given a published value."""
        consumer = self.best.consumer
        low, high = consumer.considered[0], consumer.considered[-1]
        if self.gaussian is not None:
            assert isinstance(value, int)
            result = weighed(log_likelihoods(self.gaussian, value - self.first, range(consumer.n + 1)), consumer)
        else:
            result = posterior(self.deployed, self.deployed.outputs[self._position(value)], consumer)
        assumed = "given" if consumer.prior is not None else "all possible counts equally likely"
        return Posterior(self.first + low, result[low : high + 1], assumed)

    def _position(self, value: Hashable) -> int:
        if isinstance(self.deployed, Mechanism) and self.window is None:
            return list(self.deployed.outputs).index(value)
        assert isinstance(value, int)
        low, high = self.window or (0, len(self.deployed.inputs) - 1)
        # The outputs of other noise are the values of the window, those of geometric noise its counts.
        start = low if isinstance(self.deployed, Mechanism) else 0
        return min(max(value - self.first, low), high) - start


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnboundedRemap(Remap):
    """The best reading of a count that has a least value and no largest: a shift, raised to the least.

    If there are very many possible counts, the ends hardly matter, and it serves as well. Clamping brings an answer
    nearer to the truth, so no loss is above the unbounded one. A release that is clamped itself is first made like one
    that is not: beyond an end the noise goes on geometrically, whatever the truth.
    """

    privacy: Privacy
    least: int
    best: Shift
    face_value: Fraction
    most: int | None = None
    ends: Ends = None

    @property
    def universal(self) -> bool:
        """Whether no private mechanism for this count at its own ε, without δ, would serve the consumer better: yes.

        Its losses are functions of the error that never fall on either side (proofs/unbounded-counts.md).
        """
        return True

    @property
    def possible(self) -> tuple[int, int | None]:
        """The least and the largest count deemed possible, if there is a largest."""
        return self.least, self.most

    def released(self, value: Any) -> Hashable:
        """Return a published value; refuse what the release cannot have published."""
        return between(whole_value(value), self.ends)

    def at(self, value: Hashable) -> tuple[tuple[int, Fraction], ...]:
        """Return the answers to a published value, with their exact chances."""
        assert isinstance(value, int)
        shift, alpha = self.best.shift, 1 / self.privacy.ratio
        back = 0  # how far the shift leads back from an end that stands for all beyond
        if self.ends is not None and value == self.ends[shift < 0]:
            back = abs(shift)
        sign = 1 if shift < 0 else -1
        probabilities: dict[int, Fraction] = {}
        for step in range(back + 1):
            answer = max(value + shift + sign * step, self.least)
            answer = answer if self.most is None else min(answer, self.most)
            chance = alpha**step * (1 - alpha if step < back else 1)
            probabilities[answer] = probabilities.get(answer, Fraction(0)) + chance
        return tuple(sorted(probabilities.items()))

    def posterior(self, value: Hashable) -> Posterior:
        """Return the probabilities of the counts given a published value, if all are alike before."""
        assert isinstance(value, int)
        epsilon = float(self.privacy.epsilon)
        reach = int(_NEGLIGIBLE / epsilon) + 1
        if reach > _LONGEST:
            raise BadInput("release", "has an epsilon so small that the truth may be anything", "give at_most=")
        centre = max(value, self.least) if self.most is None else min(max(value, self.least), self.most)
        last = centre + reach if self.most is None else min(self.most, centre + reach)
        counts = np.arange(max(self.least, centre - reach), last + 1)
        weights = np.exp(-epsilon * abs(counts - centre))
        return Posterior(int(counts[0]), weights / weights.sum(), "all possible counts equally likely")


def bounded_rule(
    deployed: NoisyCount | Mechanism | FactoredMechanism, ends: Ends, consumer: Consumer
) -> BoundedRemap | UnboundedRemap:
    """Find a consumer's best reading of a release whose counts have a largest one.

    Noise without ends, or with wider ones, tells about the counts a..b just what noise clamped to a..b tells: beyond,
    all likelihood ratios are constant. So only those are looked at, numbered from the least on.

    Raises
    ------
    BadInput
        When a count deemed possible does not lie between the ends: nothing is known of how it would be released.
    """
    if not isinstance(deployed, NoisyCount):
        remap = optimal_reading(deployed, consumer)
        counts = all(value in deployed.inputs for value in deployed.outputs)
        face = loss_of_reading(deployed, consumer) if counts else None
        return BoundedRemap(deployed=deployed, first=0, ends=None, best=remap, face_value=face)
    considered = consumer.considered
    if ends is not None and not ends[0] <= considered[0] <= considered[-1] <= ends[1]:
        raise BadInput("side_information", f"must lie from {ends[0]} to {ends[1]}", "leave out other counts")
    if consumer.loss.entries is not None:
        return _table_rule(deployed.privacy.pure, ends, consumer)
    wide = _wide_rule(deployed.privacy.pure, ends, consumer)
    if wide is not None:
        return wide
    first, last = considered[0], considered[-1]
    noise, moved = FactoredMechanism(privacy=deployed.privacy.pure, n=last - first), renumbered(consumer, first, last)
    if ends is None:
        # At ε = 0 unbounded noise has no finite mean loss.
        face = loss_of_shift(consumer.loss, deployed.privacy) if deployed.privacy.ratio > 1 else None
    elif ends[1] - ends[0] > LARGEST_N:
        face = None
    else:
        whole = FactoredMechanism(privacy=deployed.privacy.pure, n=ends[1] - ends[0])
        face = loss_of_reading(whole, renumbered(consumer, *ends))
    return BoundedRemap(deployed=noise, first=first, ends=ends, best=optimal_reading(noise, moved), face_value=face)


def _table_rule(privacy: Privacy, ends: Ends, consumer: Consumer) -> BoundedRemap:
    """Read noise for a table, which may price more answers than there are possible counts.

    All values beyond the possible counts are one value to the reader: they must be read alike, for a release that is
    clamped there cannot tell them apart. So the noise is clamped before the game is played.
    """
    counts = consumer.considered
    noise = FactoredMechanism(privacy=privacy, n=consumer.n)
    clamped = replace(noise, reading=clamping(consumer.n, counts[0], counts[-1]))
    face = None
    if ends is not None and ends[1] <= consumer.n:  # else a table says nothing about some values
        face = loss_of_reading(noise, consumer, clamping(consumer.n, *ends))
    remap = optimal_reading(clamped, consumer)
    return BoundedRemap(
        deployed=clamped, first=0, ends=ends, best=remap, face_value=face, window=(counts[0], counts[-1])
    )


def unbounded_rule(privacy: Privacy, loss: Loss, least: int) -> UnboundedRemap:
    """Find a minimax consumer's best reading of a count that may be arbitrarily large."""
    return UnboundedRemap(
        privacy=privacy, least=least, best=best_shift(loss, privacy), face_value=loss_of_shift(loss, privacy)
    )


def _wide_rule(privacy: Privacy, ends: Ends, consumer: Consumer) -> UnboundedRemap | None:
    """Read very many possible counts like a count without ends; None where they are few for so small an ε.

    The bound is that of a reader who knows that the truth is one of 50,001 of them and has a prior that falls to the
    ends like a sine: knowing more never costs.
    """
    counts, loss = consumer.considered, consumer.loss
    span = counts[-1] - counts[0]
    if consumer.prior is not None or len(counts) <= span or span <= _WIDE or _WIDE * privacy.epsilon < _MANY:
        return None
    if loss.low is None or loss.high is None or not (loss.low == loss.high or (loss.low.convex and loss.high.convex)):
        return None
    best = best_shift(loss, privacy)
    prior = np.sin(np.pi * (np.arange(_WIDE + 1) + 0.5) / (_WIDE + 1))
    inner = Consumer(_WIDE, loss, prior=prior / prior.sum())
    bound = optimal_reading(FactoredMechanism(privacy=privacy, n=_WIDE), inner).lower_bound
    return UnboundedRemap(
        privacy=privacy,
        least=counts[0],
        best=replace(best, lower_bound=min(max(bound, Fraction(0)), best.value)),
        face_value=loss_of_shift(loss, privacy),
        most=counts[-1],
        ends=ends,
    )


def between(value: int, ends: Ends) -> int:
    """Refuse a value that lies beyond all that a release can say."""
    if ends is not None and not ends[0] <= value <= ends[1]:
        rule = f"must be from {ends[0]} to {ends[1]}, which is all that this release can say"
        raise BadInput("value", rule, "give a value that was published")
    return value


def whole_value(value: Any) -> int:
    """Read a published count that someone typed."""
    return integer(value, "value", at_least=-LARGEST_COUNT, at_most=LARGEST_COUNT)
