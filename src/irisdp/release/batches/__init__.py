"""Several questions published as one charge: the plan, its common scale, and publishing it."""

from ...facades import when_used

with when_used(__name__):
    from .choices import choices
    from .gaussian_counts import GaussianCounts
    from .noise_kinds import NoiseKind, OwnNoise
    from .planning import BatchPlan, plan_batch
    from .publication import BatchPublication
    from .publishing import batch
    from .scale import Composition, compose_questions

__all__ = [
    "BatchPlan",
    "BatchPublication",
    "Composition",
    "GaussianCounts",
    "NoiseKind",
    "OwnNoise",
    "batch",
    "choices",
    "compose_questions",
    "plan_batch",
]
