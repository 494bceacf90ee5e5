"""Interpret a release: release files, the best post-processing of each answer, and the likely truth."""

from .interpretation import Interpretation, interpret
from .joint import JointInterpretation
from .lists import Estimates
from .posterior import Posterior
from .published_counts import NoisyCount
from .released import read_release

__all__ = [
    "Estimates",
    "Interpretation",
    "JointInterpretation",
    "NoisyCount",
    "Posterior",
    "interpret",
    "read_release",
]
