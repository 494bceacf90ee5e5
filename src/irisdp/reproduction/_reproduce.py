"""Recompute what the works behind this library print, and say of each item whether it holds."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .._aliases import did_you_mean
from .._exact import checked, json_bytes
from .._files import Output, plan_outputs, write_outputs
from ..errors import BadInput
from ._alda2017 import DATABASES
from ._alda2017_paths import LONG_PATHS
from ._doliveira2021 import COLOURINGS
from ._doliveira2021_theorems import COLOURING_THEOREMS
from ._gu2023 import FIRST_RAINBOWS
from ._gu2024 import RAINBOWS
from ._gupte2010 import COUNTS
from ._gupte2010_audiences import COUNT_AUDIENCES
from ._gupte2010_theorems import COUNT_THEOREMS
from ._items import WORKS, Item
from ._summary_page import page
from ._verdicts import VERDICTS, Reproduced, result_of

# The registry: every reproduced item, in the order of print, work by work.

ITEMS: tuple[Item, ...] = (
    *COLOURINGS,
    *COLOURING_THEOREMS,
    *FIRST_RAINBOWS,
    *RAINBOWS,
    *COUNTS,
    *COUNT_AUDIENCES,
    *COUNT_THEOREMS,
    *DATABASES,
    *LONG_PATHS,
)
"""To add one, write an `Item` in the file of its work; the tests run all of them."""


def find_items(work: str | None = None, name: str | None = None) -> tuple[Item, ...]:
    """Return the items of a work, and of these the one of a name, or else those whose names hold it.

    Raises
    ------
    BadInput
        For a work, or a name, that no item has.
    """
    result = ITEMS
    if work is not None:
        keys = {key.lower(): key for key in WORKS}
        if work.lower() not in keys:
            raise BadInput("work", f"is not a work that Iris reproduces, {work}", f"choose from {', '.join(WORKS)}")
        result = tuple(item for item in ITEMS if item.work == keys[work.lower()])
    if name is None:
        return result
    if not name.strip():
        raise BadInput("only", "is empty", "name an item, or leave it out")
    wanted = name.casefold()
    exactly = tuple(item for item in result if item.name.casefold() == wanted)
    chosen = exactly or tuple(item for item in result if wanted in item.name.casefold())
    if not chosen:
        remedy = did_you_mean(name, [item.name for item in result], most=3) or "irisdp reproduce lists all"
        raise BadInput("only", f"is in the name of no item, {name}", remedy)
    return chosen


FILES = ("reproduce.json", "index.html")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Items with their verdicts, as made by `reproduce`.

    Attributes
    ----------
    results : tuple of Reproduced
    written : tuple of Path
        Files that were written.
    """

    results: tuple[Reproduced, ...]
    written: tuple[Path, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many items have each verdict that occurs."""
        by_verdict = Counter(result.verdict for result in self.results)
        return {verdict: by_verdict[verdict] for verdict in VERDICTS if by_verdict[verdict]}

    @property
    def holds(self) -> bool:
        """Whether every difference is explained."""
        return all(result.verdict != "unexplained" for result in self.results)

    def to_document(self) -> list[dict[str, str]]:
        """Return a list of items, JSON-ready."""
        return [result.to_document() for result in self.results]

    def to_html(self) -> str:
        """Return one page that needs no network, with pictures of the figures."""
        return page(self.results)


@checked
def reproduce(
    *,
    out: str | os.PathLike[str] | None = None,
    only: str | None = None,
    work: str | None = None,
    force: bool = False,
) -> Reproduction:
    """Recompute worked numbers, examples, tables, figures and theorems of the works this library stands on.

    Parameters
    ----------
    out : path, optional
        A folder, made where it is missing: gets `reproduce.json` and `index.html`.
    only : str, optional
        The name of an item, or a part of names.
    work : str, optional
        The key of a work: DOliveira2021, Gu2023, Gu2024, Gupte2010 or Alda2017 (docs/references.md).
    force : bool
        Whether files that are there already may be replaced.

    Returns
    -------
    Reproduction
        Of each item what is printed, what is computed, and a verdict: "agrees" where both are equal, "rounded" where
        ours rounds to the printed digits, "misprint" where they differ, with the reason and a number that shows it.

    Raises
    ------
    BadInput
        For a name or a work that nothing has, and for files that may not be written.

    Examples
    --------
    >>> found = reproduce(work="DOliveira2021", only="Example 3, R_1")
    >>> found.results[0].ours, found.results[0].verdict
    ('83/325', 'misprint')
    """
    items = find_items(work, only)
    planned = _planned(out, force=force)
    reproduction = Reproduction(tuple(result_of(item) for item in items))
    if not planned:
        return reproduction
    contents = (json_bytes(reproduction.to_document()), reproduction.to_html().encode())
    return Reproduction(reproduction.results, write_outputs(zip(planned, contents, strict=True)))


def _planned(out: str | os.PathLike[str] | None, *, force: bool) -> tuple[Output, ...]:
    """Check the folder, and that its files may be written, before anything is computed."""
    if out is None:
        return ()
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("out", f"{folder} cannot be made ({error.strerror})", "name another folder") from None
    return plan_outputs([folder / name for name in FILES], [], field="out", force=force)
