"""Graphs as JSON documents: {"nodes": […], "edges": [[a, b], …]} or {"family": …} with its sizes."""

from __future__ import annotations

from typing import Any

from ..errors import BadInput
from ..exact import checked
from .families import Complete, Cycle, Path
from .gaps import Gaps
from .histograms import Histograms, SortedHistograms
from .loading import graph_from_edges
from .products import Hamming
from .protocol import DatasetGraph

__all__ = ["graph_from_document"]

_FAMILIES: dict[str, tuple[type[DatasetGraph], tuple[str, ...]]] = {
    "path": (Path, ("n",)),
    "cycle": (Cycle, ("n",)),
    "complete": (Complete, ("n",)),
    "hamming": (Hamming, ("length", "symbols")),
    "histograms": (Histograms, ("total", "types")),
    "sorted_histograms": (SortedHistograms, ("total", "types")),
    "gaps": (Gaps, ("categories", "largest", "relation")),
}


@checked
def graph_from_document(document: Any) -> DatasetGraph:
    """Read a graph; `graph.to_document()` is the way back.

    Parameters
    ----------
    document : dict
        Parsed JSON: {"edges": …} with "nodes" where some have no edge or order matters, or {"family": …, sizes}.

    Raises
    ------
    BadInput
        For an unknown family or key, a missing or negative size, a size that cannot be built, an edge that names an
        unknown node, and a node that comes twice.

    Examples
    --------
    >>> graph_from_document({"family": "hamming", "length": 3, "symbols": 2}).number_of_edges
    12
    """
    if not isinstance(document, dict):
        raise BadInput("graph", "must be a JSON object", 'write {"edges": [[a, b], …]} or {"family": …}')
    if "family" not in document:
        _check_keys(document, needed=("edges",), allowed=("nodes",))
        nodes = document.get("nodes")
        for key, value in (("edges", document["edges"]), ("nodes", () if nodes is None else nodes)):
            if not isinstance(value, list | tuple):
                raise BadInput(f"graph.{key}", "must be a list", f'write "{key}": […]')
        return graph_from_edges(document["edges"], nodes=nodes)
    family = document["family"]
    if not isinstance(family, str) or family not in _FAMILIES:
        raise BadInput("graph.family", "is unknown", f"choose one of {', '.join(_FAMILIES)}")
    build, sizes = _FAMILIES[family]
    _check_keys(document, needed=sizes, allowed=("family",))
    return build(**{size: document[size] for size in sizes})


def _check_keys(document: dict[str, Any], *, needed: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    missing = [key for key in needed if key not in document]
    if missing:
        raise BadInput("graph", f"needs {' and '.join(missing)}", "add it to the graph")
    strange = [key for key in document if key not in needed + allowed]
    if strange:
        raise BadInput("graph", f"has an unknown key {strange[0]}", f"use {', '.join(needed + allowed)}")
