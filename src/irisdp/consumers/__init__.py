"""Consumers of counts: what they know and lose, and the best readings of what was released to them."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._consumer import LARGEST_N as LARGEST_N
    from ._consumer import Consumer
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
    from ._post_processing import OptimalReading, loss_of_reading, optimal_reading, posterior
    from ._post_processing import (
        Shift as Shift,
    )
    from ._post_processing import (
        best_shift as best_shift,
    )
    from ._post_processing import (
        loss_of_shift as loss_of_shift,
    )
    from ._post_processing import (
        weighed as weighed,
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
