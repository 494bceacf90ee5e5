"""Pictures: of mechanisms, graphs, privacy and what was published; each in words and numbers as well."""

from .errors import error_against_epsilon
from .ledgers import ledger_picture
from .mechanisms import heat_map
from .picture import Picture
from .posteriors import estimates_picture, names_read, posterior_picture, readings
from .published import published
from .rainbows import rainbow_curves

__all__ = [
    "Picture",
    "error_against_epsilon",
    "estimates_picture",
    "heat_map",
    "ledger_picture",
    "names_read",
    "posterior_picture",
    "published",
    "rainbow_curves",
    "readings",
]
