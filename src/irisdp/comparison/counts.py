"""`count`: noise for a number of records, this library's and others'."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import Enclosure
from ..noise import ShapeLaw, law
from ..peers import GeometricCount, PeerNoise, RoundedLaplace, RoundedStaircase, discrete_gaussian
from .asked import Asked
from .comparisons import Comparison
from .results import Objective

__all__ = ["compare_counts"]

_MOST_COUNTS = 2_000

_UNIVERSAL = (
    "read well, no private mechanism{without} on counts 0..n loses less, for any n and any loss that never falls on"
    " either side of the true count"
)

_ABSOLUTE = Objective("absolute", "mean size of the error", "records")
_SQUARED = Objective("squared", "mean square of the error", "records²")
_MISS = Objective("wrong", "probability that the count is not the true one", "probability")

_WHY = "a record moves the count by 1, whatever the relation: the scale is 1/ε"


@dataclass(frozen=True, slots=True)
class _Universal(PeerNoise):
    """This library's noise for ε and δ, rounded to whole numbers."""

    made: ShapeLaw

    name = "universal noise for ε and δ"

    def tail(self, least: int) -> Enclosure:
        """Return P(Z ≥ least)."""
        below = self.made.below(least * self.made.atoms_per_unit)
        return Enclosure(1 - below.upper, 1 - below.lower)

    def miss(self) -> Enclosure:
        """Return the probability that the noise is not 0."""
        within = [self.made.enclose(cell) for cell in range(self.made.atoms_per_unit)]
        low, high = (sum((getattr(one, end) for one in within), start=Fraction(0)) for end in ("lower", "upper"))
        return Enclosure(1 - high, 1 - low)

    def mean(self, power: int) -> Enclosure:
        """Return the mean of |Z|^power."""
        return self.made.expected("absolute" if power == 1 else "squared")


def compare_counts(asked: Asked) -> Comparison:
    """Compare by how much noisy counts are off."""
    if asked.words:
        raise BadInput("count", "takes no condition here", "leave it out: no data is read")
    privacy, n = asked.privacy, asked.records
    if n is not None and n > _MOST_COUNTS:
        raise BadInput("n", f"must be at most {_MOST_COUNTS:,} for a mean over counts", "give a smaller n, or none")
    ratio, delta, notes = privacy.ratio, privacy.delta, []
    climbs = "it climbs from one count to the next as fast as {} allow"
    ours: dict[str, Any] = {"ours": True, "runs_at": "ε a record", "why": climbs.format("ε") + "s"}
    contenders: list[tuple[dict[str, Any], PeerNoise]] = [
        (
            ours | {"name": "geometric noise", "scope": _UNIVERSAL.format(without=" without δ" if delta else "")},
            GeometricCount(ratio),
        )
    ]
    if delta > 0:
        made = law("universal", privacy)
        assert isinstance(made, ShapeLaw)
        universal = _Universal(made)
        contenders.append(
            (
                {
                    "name": universal.name,
                    "ours": True,
                    "runs_at": "ε and δ a record",
                    "why": climbs.format("ε and δ"),
                    "scope": _UNIVERSAL.format(without=""),
                },
                universal,
            )
        )
    for peer in (RoundedStaircase(ratio), RoundedLaplace(ratio)):
        contenders.append(({"name": peer.name, "runs_at": "ε a record", "why": _WHY}, peer))
    if delta > 0:
        gaussian = discrete_gaussian(ratio, delta)
        words = {
            "name": gaussian.name,
            "runs_at": f"σ² = {float(gaussian.variance):.4g}",
            "why": "the least variance whose exact δ at this ε is at most the δ asked for, rounded up to four digits",
        }
        contenders.append((words, gaussian))
        notes.append("δ is used by universal and by Gaussian noise; the others keep ε alone")
    else:
        notes.append("discrete Gaussian noise needs a δ above 0")
    columns = {
        _ABSOLUTE: [one.mean(1) for _, one in contenders],
        _SQUARED: [one.mean(2) for _, one in contenders],
        _MISS: [one.miss() for _, one in contenders],
    }
    if n is not None:
        clamped = f"mean size of the error, clamped to 0..{n:,}, over counts 0 to {n:,}, each alike"
        columns[Objective("clamped", clamped, "records")] = [one.clamped(n) for _, one in contenders]
    return Comparison.of("count", {"n": n}, asked, [words for words, _ in contenders], columns, notes)
