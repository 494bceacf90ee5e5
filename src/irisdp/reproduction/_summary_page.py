"""What was recomputed as one page: counts, misprints with their reasons, and every item beside what is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from .._html import Html, element
from .._version import VERSION
from .._views.reports import bullets, document, section, table
from ..errors import BadInput
from ..plots import Picture, bars, graph_picture, rainbow_curves
from ._doliveira2021 import figure_2, on_the_line, voluntary, votes
from ._gu2024 import CAPTION_ROW, example_1, figure_privacy
from ._gupte2010 import figure_1
from ._items import ALONE, WORKS
from ._verdicts import VERDICTS, Reproduced

# Our own pictures of the figures, made from the values computed here.


@dataclass(frozen=True, slots=True)
class Figure:
    """Our picture of a figure of a work.

    Attributes
    ----------
    work, name : str
        The key of the work, and which of its figures it shows.
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


_AS_PRINTED = ("agrees", "rounded")

_LEAD = (
    "Worked numbers, examples, tables, figures and theorems of the works that Iris stands on, each recomputed by this "
    "library and set beside what is printed."
)


_STYLE = """
main, header, footer { max-width: 72rem; }
td p { margin: 0 0 .35rem; }
th[scope=row] { overflow-wrap: break-word; min-width: 8rem; }
figure { display: inline-block; vertical-align: top; max-width: 100%; }
"""
"""Tables of four columns of text need more width than a report; pictures are side by side."""

_COLUMNS = ("item", "printed", "computed here", "verdict", "note, proof")


def page(results: Sequence[Reproduced]) -> str:
    """Write the results as one page of HTML that fetches nothing and runs nothing."""
    works = [work for work in WORKS if any(result.item.work == work for result in results)]
    sections = [section("In short", _summary(results, works))]
    if any(result.verdict not in _AS_PRINTED for result in results):
        sections.append(section("What does not hold as printed", _misprints(results)))
    sections += [section(WORKS[work], _of_work(work, results), name=work) for work in works]
    return document(
        "Printed and recomputed",
        _LEAD,
        sections,
        f"Computed by Iris {VERSION}; numbers of this library are made anew each time, and none is copied.",
        kind="Reproduction",
        title="Printed and recomputed",
        style=_STYLE,
    )


def _summary(results: Sequence[Reproduced], works: Sequence[str]) -> Iterator[Html]:
    counted = Counter((result.item.work, result.verdict) for result in results)
    verdicts = [verdict for verdict in VERDICTS if any(result.verdict == verdict for result in results)]
    head = [element("th", "work", scope="col")]
    head += [element("th", verdict, scope="col", class_="number") for verdict in (*verdicts, "all")]
    rows = [
        element(
            "tr",
            element("th", element("a", work, href=f"#{work}"), scope="row"),
            *(element("td", counted[work, verdict], class_="number") for verdict in verdicts),
            element("td", sum(counted[work, verdict] for verdict in verdicts), class_="number"),
        )
        for work in works
    ]
    yield table(f"How many of {len(results)} items have which verdict", head, rows)
    yield bullets(
        [
            "agrees: what is computed is what is printed, exactly.",
            "rounded: what is computed rounds to the printed digits.",
            "misprint: they differ; the reason stands beside it, and a number that shows how what is printed fails.",
            ALONE,
        ]
    )


def _misprints(results: Sequence[Reproduced]) -> Iterator[Html]:
    head = [element("th", name, scope="col") for name in ("where", "printed", "why it does not hold", "what shows it")]
    rows = [
        element(
            "tr",
            element("th", f"{result.item.work}, {result.item.name}", scope="row"),
            element("td", result.item.printed),
            element("td", result.note),
            element("td", result.control),
        )
        for result in results
        if result.verdict not in _AS_PRINTED
    ]
    yield table("Each reason, and two numbers of which the first may not be above the second", head, rows)


def _of_work(work: str, results: Sequence[Reproduced]) -> Iterator[Html]:
    for figure in FIGURES:
        if figure.work == work:
            image = drawn(figure)
            if image is not None:
                yield image
    head = [element("th", name, scope="col") for name in _COLUMNS]
    yield table(f"Items of {work}", head, [_row(result) for result in results if result.item.work == work])


def _row(result: Reproduced) -> Html:
    said = [element("p", result.item.note)] if result.item.note else []
    return element(
        "tr",
        element("th", result.item.name, scope="row"),
        element("td", result.item.printed),
        element("td", result.ours),
        element("td", result.verdict, class_="answer" if result.verdict != "agrees" else None),
        element("td", *said, element("code", result.item.proof)),
    )
