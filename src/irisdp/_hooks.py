"""Functions that lower layers need from higher ones.

A result draws itself, a release has its page written, a ledger reads a table by its project file, and a session opens
its table in the explorer. Nothing else is asked.

Imports only go down, so that a package can be read and tested without those above it. Only this module names a higher
package, as text instead of an import, and loads it on demand.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from ._exact import checked

HOOKS = {
    "picture": "irisdp.plot",
    "page": "irisdp._views.reports.writing.written_report",
    "columns": "irisdp._release.table_check.change_columns",
    "explorer": "irisdp._explorer.session_table.explore_session",
}
"""What may be asked for → the function that answers."""


def call_hook(door: str, *arguments: Any, **options: Any) -> Any:
    """Call one of the registered functions."""
    room, _, name = HOOKS[door].rpartition(".")
    return getattr(importlib.import_module(room), name)(*arguments, **options)


class Drawable:
    """A result of which there is a picture."""

    __slots__ = ()

    @checked
    def plot(
        self,
        *,
        form: str | None = None,
        title: str | None = None,
        labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        positions: Mapping[Any, Any] | None = None,
    ) -> Any:
        """Draw this, as `irisdp.plot` does: floats made of exact numbers, for looking.

        Parameters
        ----------
        form : {"heat-map", "bars", "trade-off", "profile"}, optional
            The kind of picture of a mechanism (a heat map by default) or of privacy (a trade-off curve by default). A
            privacy profile is always drawn as one.
        title : str, optional
            The heading of the picture.
        labels : path or mapping, optional
            Of published answers: words that readers see instead of names, as for `irisdp.publish`.
        positions : mapping, optional
            Of a graph: where every node is drawn, as {node: (x, y)}; a layout of NetworkX is one.

        Returns
        -------
        irisdp.Picture
            With `title`, `description` and `rows`; a notebook shows it, and `save` writes .svg, .png, .pdf or .html.

        Raises
        ------
        BadInput
            Where the extra `plots` is not installed, and for what is too large to draw.
        """
        return call_hook("picture", self, form=form, title=title, labels=labels, positions=positions)
