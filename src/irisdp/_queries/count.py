"""count [EXPR]: how many records there are, or for how many a condition is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .. import _measurements as measurements
from .._measurements import Measurement
from .._tables import Table
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..privacy import Gaussian, Guarantee, Privacy
from .privacy_units import ONE_RECORD, ColumnChoices, ContributionBounds
from .query import CountsRecords, check_expression, check_one_condition
from .statistics import Statistics


@dataclass(frozen=True, slots=True)
class Count(CountsRecords):
    """The number of records for which a condition is true; of all records without one.

    One record more or less moves the count by at most one, and so does exchanging one: the count is a morphism to a
    path. Its ends are public: 0, and under exchange the public number n of records; without a condition it is n itself
    (proofs/depth-formulas.md).

    If a person has several records that count, adding or removing one person moves each count by at most their number
    M, and all of them by at most M together. Then the answer has no public ends (proofs/many-records.md).

    Parameters
    ----------
    expression : str, optional
        The condition.
    names_groups : bool
        Whether the noisy counts decide which groups are named, too (`cells.NoisyCountSelection`).
    contribution : ContributionBounds
        How many records one person has that count, and in how many groups.
    """

    expression: str | None = None
    names_groups: bool = False
    contribution: ContributionBounds = ONE_RECORD

    name: ClassVar[str] = "count"
    exchange_steps: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check what was given."""
        check_expression(self.expression, self.name, needed=False)

    @classmethod
    def read(cls, words: Sequence[Any]) -> Count:
        """Read ``[EXPR]``."""
        check_one_condition(words, cls.name)
        return cls(*words)

    def over(self, table: Table, choices: ColumnChoices) -> Count:
        """Keep how many records a person may have that count."""
        choices.refuse_all_but(self.name)
        return replace(self, contribution=choices.contribution)

    def describe(self) -> dict[str, str]:
        """Return the public description."""
        return {"query": self.name}

    def naming(self) -> Count:
        """Return the same question, to be asked of groups that nobody declared: its noisy counts name them."""
        return replace(self, names_groups=True)

    def nodes(self, statistics: Statistics, relation: NeighbouringRelation) -> measurements.CountNodes:
        """Return the counts and the ends of their paths."""
        if self.names_groups:
            none = np.zeros_like(statistics.total)
            return measurements.GroupCountNodes(statistics.yes, none, None, statistics.total - statistics.yes)
        exchange = relation == NeighbouringRelation.EXCHANGE
        fixed = exchange and self.expression is None
        return measurements.CountNodes(
            values=statistics.yes,
            lower=statistics.total if fixed else np.zeros_like(statistics.total),
            upper=statistics.total if exchange else None,
        )

    def mechanism(self, privacy: Guarantee, relation: NeighbouringRelation) -> Measurement[measurements.CountNodes]:
        """Return the noise that is best for every reader under a guarantee, on paths of either relation."""
        if self.names_groups and isinstance(privacy, Privacy):
            return measurements.NoisyCountSelection(
                privacy, split=self.expression is not None, records=self.contribution.records
            )
        if self.contribution.several:
            most = self.contribution.records
            return measurements.noise_for(privacy, each=most, total=most, cells=self.contribution.cells)
        return measurements.GaussianNoise(privacy) if isinstance(privacy, Gaussian) else _noise(privacy)


def _noise(privacy: Privacy) -> Measurement[measurements.CountNodes]:
    """Return noise for pairs: geometric where none has a δ, and where noise would have to end too far out for a table.

    Then a pair's δ is left unspent.
    """
    if privacy.single and privacy.delta == 0:
        return measurements.GeometricNoise(privacy)
    try:
        return measurements.UniversalNoiseMeasurement(privacy)
    except BadInput:
        if not privacy.single:
            raise
        return measurements.GeometricNoise(privacy.pure)
