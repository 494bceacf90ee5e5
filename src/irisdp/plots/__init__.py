"""Pictures: of mechanisms, graphs, privacy and what was published; each in words and numbers as well."""

from .mechanisms import heat_map
from .picture import Picture

__all__ = ["Picture", "heat_map"]
