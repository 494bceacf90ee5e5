"""The picture of published answers in a page: SVG, with its title and its description inside."""

from __future__ import annotations

from dataclasses import replace

from ..errors import BadInput
from ..markup import Html, element
from ..plots.answers import published_answers
from ..plots.published import published
from .given import Given

__all__ = ["drawn"]


def drawn(given: Given) -> Html | None:
    """Draw the answers; None where nothing can draw them: no group was named, or the extra `plots` is not installed."""
    words = replace(given.labels, title=None, own_title=None)  # these head the page
    try:
        picture = published(published_answers(given.sidecar, given.columns, given.rows), words)
        image = picture.to_svg()
    except BadInput:
        return None  # the table says the same
    return element(
        "figure",
        Html(image.strip()),
        element("figcaption", "The published answers. The table below holds the same, and is what counts."),
        tabindex=0,
        role="group",
        aria_label="Picture of the published answers",
    )
