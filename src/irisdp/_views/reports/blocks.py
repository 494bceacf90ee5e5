"""What pages are built of: a document with its policy, sections, tables with captions, lists."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from itertools import chain

from ..._html import Html, element
from ...errors import BadInput
from ...plots import published, published_answers
from .inputs import Given

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def document(
    heading: str,
    lead: str | None,
    sections: Iterable[Html],
    made: str,
    *,
    kind: str = "Differentially private release",
    title: str | None = None,
    style: str = "",
) -> str:
    """Write a page of HTML that fetches nothing and runs nothing.

    Parameters
    ----------
    heading, lead : str
        What it is about, and that in a sentence; no lead is written where it is None.
    sections : iterable of Html
    made : str
        What stands at its foot.
    kind : str
        What sort of page it is, above its heading.
    title : str, optional
        Title of the window. [default: that the heading was published]
    style : str
        What it needs beyond the style of all pages.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title or f"Published: {heading}"),
        Html(f"<style>{_style()}{style}</style>"),
    )
    body = element(
        "body",
        element(
            "header",
            element("p", kind, class_="kind"),
            element("h1", heading),
            None if lead is None else element("p", lead, class_="lead"),
        ),
        element("main", *sections),
        element("footer", element("p", made)),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _style() -> str:
    """Return how a report looks, a file of this room."""
    return files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def section(heading: str, content: Iterable[Html], *, name: str | None = None, level: int = 2) -> Html:
    """Build a section; `name` is what links lead to, and `level` that of its heading."""
    return element("section", element(f"h{level}", heading), *content, id=name)


def folded(heading: str, content: Iterable[Html], *, name: str | None = None, level: int = 2) -> Html:
    """Build a section that is closed until a reader opens it; printed, it is open."""
    return element("details", element("summary", element(f"h{level}", heading)), *content, id=name)


def sentences(lines: Iterable[str]) -> Html:
    """Build the paragraph below the answers."""
    return element("p", " ".join(lines), class_="short")


def table(caption: str, head: list[Html], rows: list[Html]) -> Html:
    """Build a table that says what it holds, and that a keyboard can move where it is wider than the screen."""
    inner = element(
        "table", element("caption", caption), element("thead", element("tr", *head)), element("tbody", *rows)
    )
    return element("div", inner, class_="scroll", tabindex=0, role="region", aria_label=caption)


def bullets(lines: Iterable[str]) -> Html:
    """Build a list; a line is text, unless it was built as markup."""
    return element("ul", *(element("li", line) for line in lines))


def pairs(told: Iterable[tuple[str, str]]) -> Html:
    """Build a list of facts, each after its name; values are text, unless they were built as markup."""
    return element("dl", *chain.from_iterable((element("dt", name), element("dd", said)) for name, said in told))


def drawn(given: Given) -> Html | None:
    """Draw the answers; None where nothing can draw them: no group was named, or the extra `plots` is not installed."""
    words = replace(given.labels, title=None, own_title=None)  # these head the page
    try:
        picture = published(published_answers(given.facts, given.columns, given.rows), words)
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
