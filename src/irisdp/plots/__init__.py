"""Pictures: of mechanisms, graphs, privacy and what was published; each in words and numbers as well."""

from .drawing import plot
from .errors import error_against_epsilon
from .graphs import LARGEST_GRAPH, graph_picture
from .ledgers import ledger_picture
from .mechanisms import bars, heat_map
from .picture import Picture, picture_path
from .posteriors import estimates_picture, names_read, posterior_picture, readings
from .privacy import PEERS, privacy_profiles, trade_off_curves
from .published import published
from .rainbows import rainbow_curves

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
    "trade_off_curves",
]
