"""The kinds of measurements: their names in release files, their sentences and their proofs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, StrEnum, auto
from typing import Self


class ReadAs(Enum):
    """How readers interpret published answers."""

    GEOMETRIC_COUNTS = auto()
    NOISY_COUNTS = auto()
    """Counts with other noise."""
    NOISY_CELLS = auto()
    """Counts with other noise, whose release holds the cells that were drawn: they are finer than what is shown."""
    COUNTS_OF_SEVERAL = auto()
    """Counts of several records of each person, between the ends beside them."""
    VALUES = auto()
    """Sums or means, between the ends beside them."""
    YES_OR_NO = auto()
    WINNER = auto()
    BAND = auto()
    LISTS = auto()
    MECHANISM_FILE = auto()
    """As the file says from which they were drawn."""
    UNCHANGED = auto()


class MeasurementKind(StrEnum):
    """A kind of measurement, which is also its name in release files.

    Attributes
    ----------
    proof : str
        The page of `proofs/` that says why its answers are private, and how far off they are.
    sentence : str
        How it makes answers, in short.
    read_as : ReadAs
        How its answers are interpreted.
    """

    proof: str
    sentence: str
    read_as: ReadAs

    def __new__(cls, name: str, proof: str, sentence: str, read_as: ReadAs = ReadAs.UNCHANGED) -> Self:
        """Make a member that equals its name."""
        kind = str.__new__(cls, name)
        kind._value_, kind.proof, kind.sentence, kind.read_as = name, proof, sentence, read_as
        return kind

    GEOMETRIC_NOISE = (
        "geometric-noise",
        "geometric-privacy",
        "a whole number, probably small, is added to each count",
        ReadAs.GEOMETRIC_COUNTS,
    )
    GAUSSIAN_NOISE = (
        "gaussian-noise",
        "shape-noise",
        "a whole number from a bell curve is added to each count",
        ReadAs.NOISY_COUNTS,
    )
    SHAPE_NOISE = (
        "shape-noise",
        "shape-noise",
        "a whole number, as probable as the guarantee allows, is added to each count",
        ReadAs.NOISY_COUNTS,
    )
    UNIVERSAL_NOISE = (
        "universal-noise",
        "shape-noise",
        "a whole number is added to each count, and cells of counts are told",
        ReadAs.NOISY_CELLS,
    )
    NAMED_COUNTS = (
        "named-counts",
        "named-counts",
        "one noisy count decides whether a group is named, and is its answer",
        ReadAs.NOISY_CELLS,
    )
    STAIRCASE_NOISE = (
        "staircase-noise",
        "many-records",
        "a whole number whose chances fall in steps is added to each count",
        ReadAs.COUNTS_OF_SEVERAL,
    )
    SPREAD_NOISE = (
        "spread-noise",
        "many-records",
        "a whole number, probably small, is added to each count",
        ReadAs.COUNTS_OF_SEVERAL,
    )
    STEPPED = (
        "stepped",
        "rainbow-optimality",
        "the answer is drawn by how far the truth is from changing",
        ReadAs.YES_OR_NO,
    )
    BANDED_NOISE = ("banded-noise", "bands", "a noisy count names its band", ReadAs.BAND)
    NOISY_SUM = ("noisy-sum", "sums-and-means", "a random number is added to the sum", ReadAs.VALUES)
    MEAN_FROM_ENDS = (
        "mean-from-ends",
        "sums-and-means",
        "the sums of the distances from both bounds, each with noise, make the mean",
        ReadAs.VALUES,
    )
    MEAN_FROM_CENTRE = (
        "mean-from-centre",
        "sums-and-means",
        "a noisy count, and a noisy sum around the middle of the bounds, make the mean",
        ReadAs.VALUES,
    )
    MEAN_OF_ALL = (
        "mean-of-all",
        "sums-and-means",
        "a noisy sum is divided by the number of records, which is public",
        ReadAs.VALUES,
    )
    VARIANCE_FROM_ENDS = (
        "variance-from-ends",
        "variances",
        "three sums of products of the distances from both bounds, each with noise, make the variance",
        ReadAs.VALUES,
    )
    VARIANCE_OF_ALL = (
        "variance-of-all",
        "variances",
        "a noisy sum of squares around the mean is divided by the number of records, which is public",
        ReadAs.VALUES,
    )
    PERMUTE_AND_FLIP = (
        "permute-and-flip",
        "plurality",
        "categories are tried in random order, and kept the more probably the larger they are",
        ReadAs.WINNER,
    )
    PULL_FROM_THE_TOP = (
        "pull-from-the-top",
        "plurality",
        "the largest category is named, unless chance pulls to one close behind",
        ReadAs.WINNER,
    )
    ORDER_TABLE = "order-table", "orders", "the order is drawn from a table, by how far counts are apart"
    NOISY_COUNTS_SORTED = "noisy-counts-sorted", "orders", "counts with noise are put in order"
    QUANTILE_BIN = "quantile-bin", "quantiles", "a bin is drawn by how far it is from the quantile"
    NOISY_QUANTILES = (
        "noisy-quantiles",
        "several-quantiles",
        "every bin is counted with noise, and quantiles are read off these counts",
    )
    NOISY_BOUNDS = (
        "noisy-bounds",
        "value-bounds",
        "values are counted with noise between powers of two, and the counts that stand out make the bounds",
    )
    SORTED_SIZES = ("sorted-sizes", "sizes", "noisy sizes are fitted to a list that never rises", ReadAs.LISTS)
    RANDOMISED_RESPONSE = (
        "randomised-response",
        "columns",
        "each record's answer is kept, or changed at random",
        ReadAs.LISTS,
    )
    DESIGNED = (
        "designed",
        "designed-answers",
        "the answer is drawn from a mechanism that was designed",
        ReadAs.MECHANISM_FILE,
    )


KINDS: Mapping[str, MeasurementKind] = {kind.value: kind for kind in MeasurementKind}
"""Every kind, by its name."""
