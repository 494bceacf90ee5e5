"""Consumers of counts: what they know and lose, and the best readings of what was released to them."""

from ..renamed import renamed_names
from .consumer import Consumer
from .losses import Loss, Tail, absolute, excess, pinball, read_loss, squared, table_loss, threshold, zero_one
from .optimal import OptimalReading, optimal_reading
from .value import loss_of_reading, posterior

__all__ = [
    "Consumer",
    "Loss",
    "OptimalReading",
    "Tail",
    "absolute",
    "excess",
    "loss_of_reading",
    "optimal_reading",
    "pinball",
    "posterior",
    "read_loss",
    "squared",
    "table_loss",
    "threshold",
    "zero_one",
]

__getattr__ = renamed_names(__name__, {"asymmetric": "irisdp.consumers.pinball"})
