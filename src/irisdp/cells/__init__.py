"""Cell mechanisms: what answers about one cell, given the node of a small graph that it is on."""

from ..facades import when_used

with when_used(__name__):
    from .added_noise import GaussianNoise, ShapeNoise
    from .assurance import ANSWER_COLUMNS, ASSURED, HIGH, LOW, PROBABILITY, USUAL_CONFIDENCE, Assurance
    from .chances import least_distance, surely_within
    from .counts_on_paths import CountNodes
    from .depth_classes import NO_BOUNDARY, ClassNodes, DepthClasses
    from .designed_answers import DesignedAnswers, PlacedNodes
    from .each_record import EachRecord, RecordNodes
    from .geometric_noise import GeometricNoise
    from .many_records import SpreadNoise, StaircaseNoise, noise_for
    from .means import MeanFromCentre, MeanFromEnds, MeanNodes, NoisyMeans
    from .means_of_all import MeanOfAll
    from .named_counts import GroupCounts, NamedCounts
    from .noisy_bands import NoisyBands, band_names
    from .orders import CategoryNodes, LargestCategories, named_together
    from .padding import longer, padded_size
    from .partition_selection import PartitionSelection
    from .protocol import CellMechanism, Link, NamesGroups, Nodes, SpeaksOfUnits, TellsMore
    from .quantile_bins import BinNodes, QuantileBin
    from .shares import share_of
    from .sizes import SizeNodes, SizesShape, SortedSizes
    from .steps import Steps
    from .sums import NoisySums
    from .universal_noise import UniversalNoise
    from .winners import GapNodes, LargestCategory

__all__ = [
    "ANSWER_COLUMNS",
    "ASSURED",
    "HIGH",
    "LOW",
    "NO_BOUNDARY",
    "PROBABILITY",
    "USUAL_CONFIDENCE",
    "Assurance",
    "BinNodes",
    "CategoryNodes",
    "CellMechanism",
    "ClassNodes",
    "CountNodes",
    "DepthClasses",
    "DesignedAnswers",
    "EachRecord",
    "GapNodes",
    "GaussianNoise",
    "GeometricNoise",
    "GroupCounts",
    "LargestCategories",
    "LargestCategory",
    "Link",
    "MeanFromCentre",
    "MeanFromEnds",
    "MeanNodes",
    "MeanOfAll",
    "NamedCounts",
    "NamesGroups",
    "Nodes",
    "NoisyBands",
    "NoisyMeans",
    "NoisySums",
    "PartitionSelection",
    "PlacedNodes",
    "QuantileBin",
    "RecordNodes",
    "ShapeNoise",
    "SizeNodes",
    "SizesShape",
    "SortedSizes",
    "SpeaksOfUnits",
    "SpreadNoise",
    "StaircaseNoise",
    "Steps",
    "TellsMore",
    "UniversalNoise",
    "band_names",
    "least_distance",
    "longer",
    "named_together",
    "noise_for",
    "padded_size",
    "share_of",
    "surely_within",
]
