"""The graphs of Figures 1 and 2 of [DOliveira2021].

The graph of its Figure 2 is known by its picture alone. What the text says of it (which node has which colour, depth
and probability) fixes how far each node is from those whose probabilities are given, and nothing else enters the
numbers: `FIGURE_2` is such a graph.
"""

from __future__ import annotations

import itertools
from functools import cache

from ..graphs import ColouredGraph, colour, graph_from_edges

__all__ = ["BLUE", "figure_2", "voluntary", "votes"]

BLUE = "abcghkl"
FIGURE_2 = (
    "hc",
    "cg",
    "gl",
    "lk",
    "ga",
    "kb",
    "ab",
    "hi",
    "hn",
    "lq",
    "id",
    "no",
    "qm",
    "in",
    "dj",
    "or",
    "mp",
    "je",
    "pf",
)


@cache
def votes() -> ColouredGraph:
    """Return the graph of Figure 1a: what three voters said, and the majority."""
    words = ["".join(word) for word in itertools.product("12", repeat=3)]
    edges = [(v, w) for v, w in itertools.combinations(words, 2) if sum(a != b for a, b in zip(v, w, strict=True)) == 1]
    graph = graph_from_edges(edges, nodes=words)
    return colour(graph, lambda word: "blue" if word.count("1") > 1 else "red")


@cache
def voluntary() -> ColouredGraph:
    """Return the graph of Figure 1b: which of three took part; 1 and 2 say blue, 3 says red, and a tie is red."""
    groups = [frozenset(group) for size in range(4) for group in itertools.combinations("123", size)]
    named = {group: "".join(sorted(group)) or "nobody" for group in groups}
    edges = [(named[a], named[b]) for a, b in itertools.combinations(groups, 2) if len(a ^ b) == 1]
    graph = graph_from_edges(edges, nodes=named.values())
    return colour(graph, {named[g]: "blue" if len(g & {"1", "2"}) > len(g & {"3"}) else "red" for g in groups})


@cache
def figure_2() -> ColouredGraph:
    """Return a graph with the colours and distances that the text states of Figure 2."""
    graph = graph_from_edges([tuple(edge) for edge in FIGURE_2], nodes="abcdefghijklmnopqr")
    return colour(graph, lambda node: "blue" if node in BLUE else "red")
