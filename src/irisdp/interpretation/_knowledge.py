"""What a reader says before anything is read: what an error costs, what is known, and perhaps a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .._exact import counts, entries, integer, rational
from ..consumers import LARGEST_N, Consumer, Loss, read_loss
from ..errors import BadInput
from ..mechanisms import FactoredMechanism, Mechanism
from ._published_counts import LARGEST_COUNT, Ends, NoisyCount, OtherNoisyCount
from ._remap_other_noise import Rule, rule_with_ends, rule_without_end


@dataclass(frozen=True, slots=True)
class ReaderKnowledge:
    """What the consumer says, before it is known how large counts can be; see `interpret`."""

    loss: Any = "absolute"
    at_least: Any = None
    at_most: Any = None
    side_information: Sequence[int] | None = None
    prior: Any = None
    lead: Any = None

    @property
    def name(self) -> Loss:
        """The loss, for its name."""
        return read_loss(self.loss, len(self.loss) - 1 if self._is_table else 0)

    @property
    def _is_table(self) -> bool:
        return not isinstance(self.loss, str | Loss | Mapping) and hasattr(self.loss, "__len__")

    def rule(self, deployed: NoisyCount | OtherNoisyCount | Mechanism | FactoredMechanism, ends: Ends) -> Rule:
        """Solve the consumer's problem about a count."""
        if self.lead is not None:
            raise BadInput("lead", "is about majorities and the largest of several categories", "leave it out")
        if not isinstance(deployed, NoisyCount | OtherNoisyCount):
            if isinstance(deployed, Mechanism) and list(deployed.inputs) != list(range(len(deployed.inputs))):
                raise BadInput("release", "has inputs that are not the counts 0..n", "give a mechanism for counts")
            ends = (0, len(deployed.inputs) - 1)
        least, most = self.bounds(ends)
        if most is None:
            assert isinstance(deployed, NoisyCount | OtherNoisyCount)
            return rule_without_end(deployed, read_loss(self.loss, 0), least)
        if most > LARGEST_N:
            raise BadInput("at_most", f"must be at most {LARGEST_N:,} to read with an upper bound", "give at_most=")
        known: Any = {"at_least": least, "at_most": most} if self.side_information is None else self.side_information
        # A mechanism that was given as a matrix, and a table of losses, fix how counts are numbered.
        largest = len(deployed.inputs) - 1 if not isinstance(deployed, NoisyCount | OtherNoisyCount) else most
        if self._is_table:
            largest = max(largest, len(self.loss) - 1)
        return rule_with_ends(
            deployed, ends, Consumer(largest, self.loss, side_information=known, prior=self._prior(largest))
        )

    def weights(self) -> tuple[int, int | None, dict[int, Fraction] | None]:
        """Return the least and the largest count that is possible, and what each weighs, or None where all are alike.

        Raises
        ------
        BadInput
            Where a list or a prior goes beyond ten million.
        """
        least, most = self.bounds(None)
        if self.prior is None and self.side_information is None:
            return least, most, None
        assert most is not None
        if most > LARGEST_N:
            raise BadInput("at_most", f"must be at most {LARGEST_N:,} with a prior or a list", "give at_most=")
        known: Any = {"at_least": least, "at_most": most} if self.side_information is None else self.side_information
        reader = Consumer(most, "zero-one", side_information=known, prior=self._prior(most))
        possible = reader.considered
        prior = [1] * (most + 1) if reader.prior is None else reader.prior
        return possible[0], possible[-1], {count: Fraction(prior[count]) for count in possible}

    def bounds(self, ends: Ends) -> tuple[int, int | None]:
        """Return the least and the largest count that is possible; None for no largest."""
        least, most = (0, None) if ends is None else ends
        if self.at_least is not None:
            least = max(least, integer(self.at_least, "at_least", at_least=0, at_most=LARGEST_COUNT))
        limits = [most] if self.at_most is None else [most, integer(self.at_most, "at_most", at_least=0)]
        if self.side_information is not None:
            if self.at_least is not None or self.at_most is not None:
                raise BadInput("side_information", "cannot be given with bounds", "give one of the two")
            named = counts(self.side_information, "side_information")
            beyond = most is not None and max(named, default=least) > most
            if beyond or min(named, default=least) < least:
                rule = f"names counts {f'above {most}' if beyond else f'below {least}'}, which this release rules out"
                raise BadInput("side_information", rule, "leave them out")
            limits.append(max(named, default=0))
        if self._is_table:
            limits.append(self._last("loss", len(self.loss) - 1, limits))
        if self.prior is not None and hasattr(self.prior, "__len__"):
            if not entries(self.prior):
                raise BadInput("prior", "must be a list of numbers", "write the probabilities of 0, 1, … in order")
            limits.append(self._last("prior", len(self.prior) - 1, limits))
        known = [limit for limit in limits if limit is not None]
        if known and min(known) < least:
            raise BadInput("at_most", "leaves no count possible", "check it against at_least= and the release")
        if not known and self.prior is not None:
            raise BadInput("prior", "is for counts up to where?", "give at_most=")
        return least, min(known, default=None)

    def only_records(self, query: str) -> None:
        """Refuse what is about a count where several are compared."""
        for field, given in (("prior", self.prior), ("side_information", self.side_information)):
            if given is not None:
                rule = f"is about one count, and {query} compares several"
                raise BadInput(field, rule, "give at_most=, and all tables of so many records are equally likely")

    def only_names(self) -> None:
        """Refuse losses that are about numbers."""
        if self._is_table or read_loss(self.loss, 0).name not in ("absolute", "zero-one"):
            raise BadInput("loss", "is about counts; a name is right or wrong", "leave it out")

    def _last(self, field: str, last: int, limits: Sequence[int | None]) -> int:
        """Return the last count that a list is for, which no bound may contradict: neither rules silently."""
        most = min(limit for limit in limits if limit is not None) if self.at_most is not None else last
        if last < most:
            raise BadInput(
                field,
                f"ends at the count {last}, and at_most={most} allows more",
                f"go on to {most}, or give at_most={last}",
            )
        if self.at_least is not None and last < (least := integer(self.at_least, "at_least", at_least=0)):
            raise BadInput(field, f"ends at the count {last}, and at_least={least} is beyond", f"go on beyond {least}")
        return last

    def _prior(self, largest: int) -> Any:
        if self.prior is None or not hasattr(self.prior, "__len__") or len(self.prior) == largest + 1:
            return self.prior
        if len(self.prior) > largest + 1:
            if any(rational(weight, "prior") != 0 for weight in self.prior[largest + 1 :]):
                raise BadInput("prior", f"gives probability to counts above {largest}", "set it to 0 there")
            return self.prior[: largest + 1]
        return [*self.prior, *[0] * (largest + 1 - len(self.prior))]
