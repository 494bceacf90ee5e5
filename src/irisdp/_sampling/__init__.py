"""Exact draws whose cost says nothing."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .bits import BitSource, system_bits
    from .chains import coarsen, kept_probability, refine
    from .depth_rows import draw_ranks
    from .geometric_noise import (
        LARGEST_VALUE,
        Digit,
        Drawn,
        add_drawn,
        add_geometric,
        clamped_geometric,
        draw_digits,
        geometric_digits,
    )
    from .simulated import SimulatedBits, shape_of_draws
    from .tables import draw, draw_brackets, integers
    from .thresholds import (
        LAST_WORD,
        Bracket,
        ThresholdTable,
        bracket_enclosed,
        bracket_rational,
        chunks,
        draw_uniform,
        open_cell,
        resolve,
    )

exports(__name__)
