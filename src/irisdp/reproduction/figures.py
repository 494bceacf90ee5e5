"""Our own pictures of what the works draw: made of what is computed here, never copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import BadInput
from ..markup import Html, element
from ..plots import Picture, bars, graph_picture
from .coloured_graphs import figure_2, voluntary, votes
from .colourings import on_the_line

__all__ = ["FIGURES", "Figure", "drawn"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture that stands for one of a work.

    Attributes
    ----------
    work, name : str
        The key of the work, and which of its figures it stands for.
    caption : str
    draw : callable
    """

    work: str
    name: str
    caption: str
    draw: Callable[[], Picture]


FIGURES = (
    Figure("DOliveira2021", "Figure 1a", "Three voters, and the majority.", lambda: graph_picture(votes())),
    Figure(
        "DOliveira2021",
        "Figure 1b",
        "Which of three took part: 1 and 2 say blue, 3 says red, a tie is red.",
        lambda: graph_picture(voluntary()),
    ),
    Figure(
        "DOliveira2021",
        "Figure 2",
        "A graph with the colours, depths and distances that the text states of it.",
        lambda: graph_picture(figure_2()),
    ),
    Figure(
        "DOliveira2021",
        "Figure 3 and Example 3",
        "The optimum on the (4,3)-line with R_4 = 0.8, at ε = log 1.3 and δ = 0.1.",
        lambda: bars(on_the_line()),
    ),
)
"""In the order of the works."""


def drawn(figure: Figure) -> Html | None:
    """Draw a figure for a page; None where the extra `plots` is not installed."""
    try:
        picture = figure.draw()
        image = picture.to_svg()
    except BadInput:
        return None
    return element(
        "figure",
        Html(image.strip()),
        element("figcaption", f"{figure.name}. {figure.caption}"),
        tabindex=0,
        role="group",
        aria_label=figure.name,
    )
