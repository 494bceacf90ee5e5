"""The kinds of measurements: their names in release files, their sentences and their proofs."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Self


class MeasurementKind(StrEnum):
    """A kind of measurement, which is also its name in release files.

    Attributes
    ----------
    proof : str
        The page of `proofs/` that says why its answers are private, and how far off they are.
    sentence : str
        How it makes answers, in short.
    """

    proof: str
    sentence: str

    def __new__(cls, name: str, proof: str, sentence: str) -> Self:
        """Make a member that equals its name."""
        kind = str.__new__(cls, name)
        kind._value_, kind.proof, kind.sentence = name, proof, sentence
        return kind

    GEOMETRIC_NOISE = "geometric-noise", "geometric-privacy", "a whole number, probably small, is added to each count"
    GAUSSIAN_NOISE = "gaussian-noise", "shape-noise", "a whole number from a bell curve is added to each count"
    SHAPE_NOISE = (
        "shape-noise",
        "shape-noise",
        "a whole number, as probable as the guarantee allows, is added to each count",
    )
    UNIVERSAL_NOISE = (
        "universal-noise",
        "shape-noise",
        "a whole number is added to each count, and cells of counts are told",
    )
    NAMED_COUNTS = "named-counts", "named-counts", "one noisy count decides whether a group is named, and is its answer"
    STAIRCASE_NOISE = (
        "staircase-noise",
        "many-records",
        "a whole number whose chances fall in steps is added to each count",
    )
    SPREAD_NOISE = "spread-noise", "many-records", "a whole number, probably small, is added to each count"
    STEPPED = "stepped", "rainbow-optimality", "the answer is drawn by how far the truth is from changing"
    BANDED_NOISE = "banded-noise", "bands", "a noisy count names its band"
    NOISY_SUM = "noisy-sum", "sums-and-means", "a random number is added to the sum"
    MEAN_FROM_ENDS = (
        "mean-from-ends",
        "sums-and-means",
        "the sums of the distances from both bounds, each with noise, make the mean",
    )
    MEAN_FROM_CENTRE = (
        "mean-from-centre",
        "sums-and-means",
        "a noisy count, and a noisy sum around the middle of the bounds, make the mean",
    )
    MEAN_OF_ALL = "mean-of-all", "sums-and-means", "a noisy sum is divided by the number of records, which is public"
    PERMUTE_AND_FLIP = (
        "permute-and-flip",
        "plurality",
        "categories are tried in random order, and kept the more probably the larger they are",
    )
    PULL_FROM_THE_TOP = (
        "pull-from-the-top",
        "plurality",
        "the largest category is named, unless chance pulls to one close behind",
    )
    ORDER_TABLE = "order-table", "orders", "the order is drawn from a table, by how far counts are apart"
    NOISY_COUNTS_SORTED = "noisy-counts-sorted", "orders", "counts with noise are put in order"
    QUANTILE_BIN = "quantile-bin", "quantiles", "a bin is drawn by how far it is from the quantile"
    SORTED_SIZES = "sorted-sizes", "sizes", "noisy sizes are fitted to a list that never rises"
    RANDOMISED_RESPONSE = "randomised-response", "columns", "each record's answer is kept, or changed at random"
    DESIGNED = "designed", "designed-answers", "the answer is drawn from a mechanism that was designed"


KINDS: Mapping[str, MeasurementKind] = {kind.value: kind for kind in MeasurementKind}
"""Every kind, by its name."""
