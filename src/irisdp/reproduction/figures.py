"""Our own pictures of what the works draw: made of what is computed here, never copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..errors import BadInput
from ..markup import Html, element
from ..plots import Picture, bars, graph_picture, rainbow_curves
from .coloured_graphs import figure_2, voluntary, votes
from .colourings import on_the_line
from .counts import figure_1
from .printed_rainbows import CAPTION_ROW
from .rainbow_examples import example_1, figure_privacy

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
    *(
        Figure(
            work,
            f"Figure {number}",
            f"Five answers at ε = log 1.2 and δ = {delta}, by the corrected operator.",
            partial(rainbow_curves, CAPTION_ROW, figure_privacy(delta), farthest=farthest),
        )
        for work, number, delta, farthest in (
            ("Gu2023", 3, "0", 50),
            ("Gu2023", 4, "0.001", 50),
            ("Gu2023", 5, "0.1", 20),
        )
    ),
    Figure(
        "Gu2024",
        "Figure 2",
        "The cycle of Example 1: 0 to 4 are d_1 to d_5, colours are rankings.",
        lambda: graph_picture(example_1()),
    ),
    *(
        Figure(
            "Gu2024",
            f"Figure {number}",
            f"Five answers at ε = log 1.2 and δ = {delta}, by the corrected operator.",
            partial(rainbow_curves, CAPTION_ROW, figure_privacy(delta), farthest=50),
        )
        for number, delta in ((3, "0"), (4, "0.001"), (5, "0.01"))
    ),
    Figure(
        "Gupte2010",
        "Figure 1",
        "Geometric noise around 5 at α = 0.2, clamped to 0 to 10.",
        lambda: bars(figure_1()),
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
