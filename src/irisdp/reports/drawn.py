"""The picture of published answers in a page: SVG, with its title and description inside."""

from __future__ import annotations

from ..markup import Html
from .facts import Facts
from .given import Given

__all__ = ["drawn"]


def drawn(facts: Facts, given: Given) -> Html | None:
    """Draw the answers; None where there is nothing to draw them with."""
    return None
