"""Interpret a release: release files, the best post-processing of each answer, and the likely truth."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._estimates import LISTS as LISTS
    from ._estimates import Estimates
    from ._interpret import Interpretation, interpret
    from ._intervals import RESTS_ON as RESTS_ON
    from ._joint import JointInterpretation
    from ._name_rules import BASES as BASES
    from ._names import RULES as RULES
    from ._names import ChoiceInterpretation as ChoiceInterpretation
    from ._names import float_below as float_below
    from ._published_counts import NoisyCount
    from ._released import (
        OTHER_NOISE as OTHER_NOISE,
    )
    from ._released import (
        answers_beside as answers_beside,
    )
    from ._released import (
        left_out_of as left_out_of,
    )
    from ._released import read_release
    from ._released import (
        sidecar_beside as sidecar_beside,
    )
    from ._remap import Posterior

__all__ = ["Estimates", "Interpretation", "JointInterpretation", "NoisyCount", "Posterior", "interpret", "read_release"]

exports(__name__)
