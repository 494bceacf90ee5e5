"""Pictures: of mechanisms, graphs, privacy and what was published; each in words and numbers as well."""

from .ledgers import ledger_picture
from .mechanisms import heat_map
from .picture import Picture
from .posteriors import estimates_picture, names_read, posterior_picture, readings
from .published import published

__all__ = [
    "Picture",
    "estimates_picture",
    "heat_map",
    "ledger_picture",
    "names_read",
    "posterior_picture",
    "published",
    "readings",
]
