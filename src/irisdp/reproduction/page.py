"""What was recomputed as one page: counts, misprints with their reasons, and every item beside what is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..markup import Html, element
from ..reports.blocks import bullets, document, section, table
from ..version import VERSION
from .commands import ALONE
from .figures import FIGURES, drawn
from .items import WORKS
from .results import Reproduced
from .verdicts import VERDICTS

__all__ = ["page"]

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
"""Tables of four columns of text need more room than a report; pictures stand beside each other."""

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
