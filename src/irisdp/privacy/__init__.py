"""Privacy as exact pairs or as Gaussian privacy, closeness of distributions, and the operator u."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._gaussian import gaussian_delta, gaussian_errors, gaussian_mean, gaussian_mean_for
    from ._guarantees import Gaussian, Guarantee, as_pairs, halved
    from ._operator import are_close, enclose_steps, hockey_stick, step, step_down, steps
    from ._parameters import Privacy, informative, right_guess, tightened, too_private, workable
    from ._shape import MOST_PAIRS, Pair, Shape, turning_point

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

exports(__name__)
