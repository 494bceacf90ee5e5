"""Among which mechanisms a certificate says that one is best: part of the file format, and of every claim."""

from __future__ import annotations

__all__ = ["ALL_PRIVATE", "SAME_ROWS"]

ALL_PRIVATE = "all private mechanisms"
"""No private mechanism on the graph has a smaller goal."""

SAME_ROWS = "mechanisms with these boundary rows"
"""No private mechanism that gives some inputs (usually those on the boundary) the same rows has a smaller goal."""
