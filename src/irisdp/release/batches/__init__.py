"""Several questions published as one charge: the plan, its common scale, and publishing it."""

from .noise_kinds import NoiseKind, OwnNoise
from .planning import BatchPlan, plan_batch
from .publication import BatchPublication
from .publishing import batch
from .scale import Composition, compose_questions

__all__ = [
    "BatchPlan",
    "BatchPublication",
    "Composition",
    "NoiseKind",
    "OwnNoise",
    "batch",
    "compose_questions",
    "plan_batch",
]
