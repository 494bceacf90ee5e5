"""Pictures: of mechanisms, graphs, privacy and what was published; each in words and numbers as well."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from ._comparisons import error_against_epsilon
    from ._drawing import plot
    from ._layout import COLOURS, INK, altair, finished
    from ._ledgers import ledger_picture
    from ._mechanisms import LARGEST_GRAPH, bars, graph_picture, heat_map
    from ._picture import Picture, chance_text, picture_path
    from ._posteriors import estimates_picture, names_read, posterior_picture, readings
    from ._privacy_curves import PEERS, privacy_profiles, trade_off_curves
    from ._publications import published, published_answers
    from ._rainbows import rainbow_curves
    from ._sweeps import sweep_curves

__all__ = [
    "LARGEST_GRAPH",
    "PEERS",
    "Picture",
    "bars",
    "error_against_epsilon",
    "estimates_picture",
    "graph_picture",
    "heat_map",
    "ledger_picture",
    "names_read",
    "picture_path",
    "plot",
    "posterior_picture",
    "privacy_profiles",
    "published",
    "rainbow_curves",
    "readings",
    "sweep_curves",
    "trade_off_curves",
]

exports(__name__)
