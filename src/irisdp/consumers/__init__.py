"""Consumers of counts: what they know and lose, and the best readings of what was released to them."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._consumer import LARGEST_N, Consumer
    from ._loss_functions import (
        Loss,
        Tail,
        absolute,
        excess,
        pinball,
        read_loss,
        squared,
        table_loss,
        threshold,
        zero_one,
    )
    from ._post_processing import (
        OptimalReading,
        Shift,
        best_shift,
        loss_of_reading,
        loss_of_shift,
        optimal_reading,
        posterior,
        weighed,
    )

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

exports(__name__)
