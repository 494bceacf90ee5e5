"""Privacy as exact pairs or as Gaussian privacy, closeness of distributions, and the operator u."""

from ..facades import when_used

with when_used(__name__):
    from .closeness import are_close, hockey_stick
    from .guarantee import Gaussian, Guarantee, as_pairs
    from .halves import halved
    from .informative import informative, too_private
    from .nearby import tightened, workable
    from .pair import Pair, turning_point
    from .parameters import MOST_PAIRS, Privacy
    from .shape import Shape
    from .step import enclose_steps, step, step_down, steps

__all__ = [
    "MOST_PAIRS",
    "Gaussian",
    "Guarantee",
    "Pair",
    "Privacy",
    "Shape",
    "are_close",
    "as_pairs",
    "enclose_steps",
    "halved",
    "hockey_stick",
    "informative",
    "step",
    "step_down",
    "steps",
    "tightened",
    "too_private",
    "turning_point",
    "workable",
]
