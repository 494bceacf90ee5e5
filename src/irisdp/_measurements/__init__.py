"""Measurements: what draws the answer about one group, given where the group lies on a small graph."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .confidence import assured_distance, least_distance, surely_within
    from .counts import CountNodes, GaussianNoise, GeometricNoise, ShapeNoise, UniversalNoiseMeasurement
    from .decisions import NO_BOUNDARY, DecisionDistances, DecisionMeasurement, NoisyBands, band_names
    from .designed import DesignedAnswers, PlacedNodes
    from .means import MeanFromCentre, MeanFromEnds, MeanNodes, MeanOfAll
    from .noisy_bounds import EDGES_OF_POWERS, LARGEST_POWER, LEAST_POWER, NoisyBounds
    from .noisy_quantiles import NoisyQuantiles
    from .partition_selection import GroupCountNodes, NoisyCountSelection, PartitionSelection, named_ends, share_of
    from .plurality import GapNodes, LargestCategory
    from .protocol import (
        ANSWER_COLUMNS,
        ASSURED,
        BELOW,
        FIRST,
        FROM,
        HIGH,
        LAST,
        LOW,
        PROBABILITY,
        USUAL_CONFIDENCE,
        ChainLink,
        ConfidenceStatement,
        ExplainsPrivacyUnit,
        HasAuxiliaryOutput,
        Measurement,
        MeasurementInput,
        SelectsPartitions,
        first_where,
        longer,
        padded_size,
        records,
        short,
    )
    from .quantiles import BinNodes, QuantileBin, edges_beside
    from .randomized_response import EachRecord, RecordNodes
    from .rankings import CategoryNodes, LargestCategories
    from .registry import KINDS, MeasurementKind, ReadAs
    from .sizes import LARGEST_SIZE, SizeNodes, SizesShape, SortedSizes, sizes_between
    from .sums import Grid, NoisySums, SpreadNoise, StaircaseNoise, as_link, noise_for
    from .variances import VarianceFromEnds, VarianceNodes, VarianceOfAll

exports(__name__)
