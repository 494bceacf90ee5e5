"""A picture: a specification that draws it, a text alternative, and the numbers it shows."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import Any

from .._exact import short_text, shown_below
from .._files import plan_outputs, write_outputs
from ..errors import BadInput
from ..privacy import Guarantee, Privacy
from ._layout import DARK, rendered, visible

ENDINGS = (".svg", ".png", ".pdf", ".html")
_LEAST_LETTER = 10
"""Pixels of the height of a letter."""
_WIDTH = re.compile(r'<svg [^>]*?\bwidth="([0-9.]+)"')
_SIZES = re.compile(r'font-size="([0-9.]+)px"')
_PARTS = re.compile(r"(?<=[#\"])(gradient_|clip|clip_)\d+(?=[)\"])")


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, said and tabulated; nothing in it is fetched from anywhere.

    Attributes
    ----------
    title : str
        One line.
    description : str
        All that the picture shows, in words.
    columns : tuple of str
        Of the table of its numbers, with units.
    rows : tuple of tuples
        The numbers, as far as they are drawn: floats made of exact ones, for looking only.
    spec : mapping
        Vega-Lite, with its data inside; equal things give equal bytes.
    """

    title: str
    description: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...] = field(repr=False)
    spec: Mapping[str, Any] = field(repr=False)

    def titled(self, title: str) -> Picture:
        """Return the same picture under another title."""
        from ._layout import heading

        spec = dict(self.spec)
        under = spec["title"] if isinstance(spec.get("title"), Mapping) else {}
        spec["title"] = {**under, "text": heading(title, "", 480)["text"]}
        return replace(self, title=title, spec=spec)

    def to_svg(self) -> str:
        """Return the picture as SVG, with its title and description inside."""
        drawn: str = _scaled(_numbered_anew(rendered("vegalite_to_svg", dict(self.spec))))
        said = f"<title>{_text(self.title)}</title><desc>{_text(self.description)}</desc>"
        opening, _, rest = drawn.partition(">")
        return f'{opening} role="img"><style>{DARK}</style>{said}{rest}\n'

    def to_png(self, *, scale: float = 2) -> bytes:
        """Return the picture as PNG, `scale` dots wide for each point."""
        result: bytes = rendered("vegalite_to_png", dict(self.spec), scale=scale)
        return result

    def to_pdf(self) -> bytes:
        """Return the picture as PDF of one page, as large as the picture, with letters as text."""
        result: bytes = rendered("vegalite_to_pdf", dict(self.spec))
        return result

    def to_html(self) -> str:
        """Return one page that needs no network: the picture, its description and its table."""
        drawn = self.to_svg()
        return _PAGE.format(
            title=_text(self.title),
            description=_text(self.description),
            drawn=drawn,
            table=_table(self.columns, self.rows),
            library=_library(),
            spec=_inside_script(self.spec),
            dark=DARK,
        )

    def to_document(self) -> dict[str, Any]:
        """Return the picture JSON-ready."""
        return {
            "title": self.title,
            "description": self.description,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "spec": dict(self.spec),
        }

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write the picture as its ending says: .svg, .png, .pdf or .html.

        Raises
        ------
        BadInput
            For another ending, and a file that is there unless `force`.
        """
        planned = plan_outputs([picture_path(path, "path")], [], field="path", force=force)
        return write_outputs((one, self.to_bytes(one.path.suffix)) for one in planned)[0]

    def to_bytes(self, ending: str) -> bytes:
        """Return the file with an ending of `ENDINGS`."""
        if ending.lower() == ".png":
            return self.to_png()
        if ending.lower() == ".pdf":
            return self.to_pdf()
        return (self.to_svg() if ending.lower() == ".svg" else self.to_html()).encode()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """Show the picture in a notebook, where nothing is fetched either."""
        return {"image/svg+xml": self.to_svg(), "text/plain": f"{self.title}. {self.description}"}


def picture_path(path: str | os.PathLike[str], field: str) -> Path:
    """Check the ending of a file that a picture is to be written to.

    Parameters
    ----------
    path : path
        The file.
    field : str
        What messages call it.

    Raises
    ------
    BadInput
        For another ending than .svg, .png, .pdf or .html.
    """
    result = Path(path)
    if result.suffix.lower() not in ENDINGS:
        raise BadInput(field, f"must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}", "name another file")
    return result


def _scaled(drawn: str) -> str:
    """Let a picture be as wide as its place: never so narrow that letters are below 10 pixels, nor far above its size.

    Where its place is narrower than that, the picture is to be scrolled.
    """
    width = float(_WIDTH.search(drawn)[1])  # type: ignore[index]
    smallest = min((float(size) for size in _SIZES.findall(drawn)), default=_LEAST_LETTER)
    style = (
        f"width:100%;height:auto;min-width:{ceil(width * _LEAST_LETTER / smallest)}px;max-width:{ceil(width * 1.3)}px"
    )
    return drawn.replace('class="marks"', f'class="marks" style="{style}"', 1)


def _numbered_anew(drawn: str) -> str:
    """Give gradients and clips, which the renderer numbers through a whole process, their numbers in this picture."""
    names: dict[str, str] = {}
    return _PARTS.sub(lambda match: names.setdefault(match[0], f"{match[1]}{len(names)}"), drawn)


@lru_cache(maxsize=1)
def _library() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script."""
    script: str = rendered("javascript_bundle")
    return script.replace("</script", "<\\/script")


def _text(words: Any) -> str:
    """Write text as markup that shows it."""
    return html.escape(visible(str(words)))


def _inside_script(document: Any) -> str:
    """Write JSON that no sequence in it can end the script it stands in."""
    written = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _table(columns: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> str:
    head = "".join(f'<th scope="col">{_text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(f'<td>{_text(_shown(part))}</td>' for part in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _shown(part: Any) -> Any:
    return format(part, ".6g") if isinstance(part, float) else part


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 Helvetica, Arial, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto;
  padding: 0 1rem; max-width: 60rem; }}
figure {{ margin: 0; overflow-x: auto; }}
#picture svg {{ max-width: 100%; height: auto; }}
figcaption {{ max-width: 45rem; margin-top: 1rem; }}
details {{ margin-top: 1rem; overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid #d9d9d9; }}
@media screen and (prefers-color-scheme: dark) {{
  body {{ color: #e8e8e8; background: #16191c; }}
  th, td {{ border-color: #41474d; }}
}}
{dark}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
<figure tabindex="0" aria-label="{title}">
<div id="picture">{drawn}</div>
<figcaption>{description}</figcaption>
</figure>
<details><summary>The numbers</summary>{table}</details>
</main>
<script>{library}</script>
<script type="application/json" id="specification">{spec}</script>
<script>
vegaEmbed("#picture", JSON.parse(document.getElementById("specification").textContent),
  {{actions: false, renderer: "svg", ast: true}});
</script>
</body>
</html>
"""


# Write numbers in pictures: short, for people.

_MOST_PLACES = 9


def brief(guarantee: Guarantee) -> str:
    """Write a guarantee to six digits.

    Examples
    --------
    >>> brief(Privacy(ratio=2, delta="1/3"))
    'ε = 0.693147, δ = 0.333333'
    """
    if not isinstance(guarantee, Privacy) or not guarantee.single:
        return str(guarantee)
    epsilon = f"ε = {short_text(guarantee.epsilon)}"
    return epsilon if guarantee.delta == 0 else f"{epsilon}, δ = {short_text(guarantee.delta)}"


def chance_text(chance: Fraction) -> str:
    """Write a probability rounded down, with so many digits that it does not look certain.

    Examples
    --------
    >>> chance_text(Fraction("0.76543")), chance_text(Fraction("0.999964")), chance_text(Fraction(1))
    ('0.765', '0.999964', '1')
    """
    left, places = 1 - chance, 3
    if not left:
        return "1"
    if left < Fraction(1, 10**_MOST_PLACES):
        return "more than 0." + "9" * _MOST_PLACES
    while left < Fraction(1, 10 ** (places - 1)):
        places += 1
    return shown_below(chance, places)
