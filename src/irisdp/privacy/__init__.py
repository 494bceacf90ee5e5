"""Privacy as an exact pair, closeness of distributions, and the operator u."""

from .closeness import are_close, hockey_stick
from .parameters import Privacy
from .step import enclose_steps, step, step_down, steps

__all__ = ["Privacy", "are_close", "enclose_steps", "hockey_stick", "step", "step_down", "steps"]
