"""Interpret a release: release files, the best post-processing of each answer, and the likely truth."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._estimates import Estimates
    from ._interpret import Interpretation, interpret
    from ._intervals import RESTS_ON
    from ._joint import JointInterpretation
    from ._name_rules import BASES
    from ._names import RULES, ChoiceInterpretation, float_below
    from ._population import PopulationEstimates
    from ._published_counts import NoisyCount
    from ._released import answers_beside, left_out_of, read_release, sidecar_beside
    from ._remap import Posterior

__all__ = [
    "Estimates",
    "Interpretation",
    "JointInterpretation",
    "NoisyCount",
    "PopulationEstimates",
    "Posterior",
    "interpret",
    "read_release",
]

exports(__name__)
