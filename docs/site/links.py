"""Follow every link of pages that were made, on this machine: to a file that is there, and a place that is in it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]


class _Links(HTMLParser):
    """What a page leads to, loads, and can be led to in."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element links to, and its name."""
        for name, value in attrs:
            if name in {"href", "src"} and value and (tag, name) != ("link", "search"):
                self.targets.append(value)
            elif name in {"id", "name"} and value:
                self.places.add(value)


@cache
def _read(page: Path) -> _Links:
    found = _Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def broken(site: Path) -> Iterator[tuple[str, str]]:
    """Yield (page, target) for every link within a site that leads to nothing.

    Links to other hosts are passed over: nobody is asked.
    """
    for page in sorted(set(site.rglob("*.html")) - set((site / "_static").rglob("*"))):  # the theme's own templates
        for target in set(_read(page).targets):
            link = urlsplit(target)
            if link.scheme or link.netloc:
                continue
            file = (page.parent / unquote(link.path)) if link.path else page
            file = file / "index.html" if file.is_dir() else file
            if not file.is_file() or not _holds(file, unquote(link.fragment)):
                yield str(page.relative_to(site)), target


def _holds(file: Path, place: str) -> bool:
    return not place or file.suffix != ".html" or place in _read(file).places
