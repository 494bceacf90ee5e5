"""Names of nodes: strings, integers, or tuples of names; and how JSON writes them."""

from __future__ import annotations

import contextlib
import functools
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from ..errors import BadInput
from ..exact import checked

__all__ = [
    "ComputedNodes",
    "ListedNodes",
    "Node",
    "Nodes",
    "NumberedNodes",
    "as_node",
    "json_node",
    "key_of_node",
    "named_nodes",
    "node_among",
]

Node = Hashable
"""A string, an integer, or a tuple of nodes (which JSON writes as a list)."""

_INTEGER = re.compile(r"0|-?[1-9]\d{0,4000}")
_HALF = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can spell and no file can hold."""
_DEEPEST = 16
_AT_ONCE = 1 << 10
"""Names computed together."""


def as_node(value: Any, field: str = "node", *, nested: int = 0) -> Node:
    """Read one name: a list becomes a tuple, a NumPy integer an integer.

    Raises
    ------
    BadInput
        For booleans, floats and whatever else is not a string, an integer or a list of them.
    """
    if isinstance(value, str):
        if not value.isascii() and _HALF.search(value):
            raise BadInput(field, "must be named by whole characters, not half of one", "rename the node")
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, list | tuple) and nested < _DEEPEST:
        return tuple(as_node(part, field, nested=nested + 1) for part in value)
    raise BadInput(field, "must be named by a string, an integer or a list of them", "rename the node")


def json_node(node: Node) -> Any:
    """Write one name as JSON-ready data: a tuple becomes a list."""
    return [json_node(part) for part in node] if isinstance(node, tuple) else node


class Nodes(Sequence[Node]):
    """A sequence of distinct names that finds the position of a name without a search."""

    @abstractmethod
    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""

    @abstractmethod
    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""

    @overload
    def __getitem__(self, position: int) -> Node: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Node, ...]: ...
    def __getitem__(self, position: int | slice) -> Node | tuple[Node, ...]:
        """Return one name, or a tuple of names for a slice."""
        if isinstance(position, slice):
            return tuple(map(self.at, range(len(self))[position]))
        return self.at(range(len(self))[position])

    def __contains__(self, node: object) -> bool:
        """Tell whether a name is there."""
        return self.position(node) is not None

    def __repr__(self) -> str:
        """Show the first few names."""
        nodes = "node" if len(self) == 1 else "nodes"
        return f"<{len(self)} {nodes}: {', '.join(map(repr, self[:4]))}{', …' if len(self) > 4 else ''}>"


class NumberedNodes(Nodes):
    """Consecutive integers."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.numbers)

    def __iter__(self) -> Iterator[Node]:
        """Yield the integers."""
        return iter(self.numbers)

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.numbers[position]

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        if not isinstance(node, int | np.integer) or isinstance(node, bool) or int(node) not in self.numbers:
            return None
        return self.numbers.index(int(node))


class ListedNodes(Nodes):
    """Names held one by one."""

    def __init__(self, names: Iterable[Node]) -> None:
        self.names = tuple(names)

    @functools.cached_property
    def positions(self) -> dict[Node, int]:
        """The position of every name; built when first asked for, since large graphs may never need it."""
        return {name: position for position, name in enumerate(self.names)}

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.names)

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.names[position]

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        # True == 1 and 1.0 == 1 in Python, but neither is the name 1.
        return None if isinstance(node, bool | float | list) else self.positions.get(node)


class ComputedNodes(Nodes):
    """Names that a family computes from their positions and back; many at once where it has a faster way for that."""

    def __init__(
        self,
        count: int,
        name_at: Callable[[int], Node],
        position_of: Callable[[Any], int | None],
        names_at: Callable[[range], Iterable[Node]] | None = None,
    ) -> None:
        self.size, self.name_at, self.position_of, self.names_at = count, name_at, position_of, names_at

    def __iter__(self) -> Iterator[Node]:
        """Yield the names in order."""
        if self.names_at is None:
            yield from map(self.name_at, range(self.size))
            return
        for start in range(0, self.size, _AT_ONCE):
            yield from self.names_at(range(start, min(start + _AT_ONCE, self.size)))

    def __len__(self) -> int:
        """Return how many names there are."""
        return self.size

    def at(self, position: int) -> Node:
        """Return the name at a position from 0 up."""
        return self.name_at(position)

    def position(self, node: Any) -> int | None:
        """Return the position of a name, or None when it is not there."""
        return self.position_of(node)


def named_nodes(names: Iterable[Any], field: str = "nodes") -> Nodes:
    """Read names given one by one.

    Raises
    ------
    BadInput
        When it is no list, when there are none, when one is no name, or when one comes twice.
    """
    if isinstance(names, Nodes):
        return names
    if isinstance(names, range) and names.step == 1:
        nodes: Nodes = NumberedNodes(names)
    else:
        if not isinstance(names, Iterable):
            raise BadInput(field, "must be a list of names", "write range(n) for n nodes named 0..n-1")
        listed = ListedNodes(as_node(name, field) for name in names)
        if len(listed.positions) < len(listed):
            twice = next(name for place, name in enumerate(listed.names) if listed.positions[name] != place)
            raise BadInput(field, f"names {json.dumps(json_node(twice))} twice", "name every node once")
        nodes = listed
    if not len(nodes):
        raise BadInput(field, "must name at least one node", "add a node")
    return nodes


@checked
def key_of_node(node: Node) -> str:
    """Write one name as a key of a JSON object: itself, its digits, or the JSON text of a list.

    Parameters
    ----------
    node : str, int or tuple of these
        The name of a node.

    Raises
    ------
    BadInput
        For any other name.
    """
    try:
        return node if isinstance(node, str) else json.dumps(json_node(node))
    except TypeError:
        raise BadInput("node", "must be text, an integer or a list of these", "give the name of a node") from None


def node_among(nodes: Nodes, key: Any, field: str = "node") -> Node:
    """Find the name that a key of a JSON object (or a word on a command line) means, among given ones.

    Parameters
    ----------
    nodes : Nodes
        Where to look.
    key : str, int or list
        Text may be the name itself, the digits of an integer, or the JSON text of a list; anything but text is the
        name itself.
    field : str
        How the caller names the key, for the error message; the key itself is not repeated, it may be private.

    Raises
    ------
    BadInput
        When no name is meant, or when two are (3 and "3").
    """
    found = [node for node in _readings(key, field) if node in nodes]
    if not found:
        raise BadInput(field, "is not a node of the graph", f"name one of {nodes!r}")
    if len(found) > 1:
        raise BadInput(field, "could mean two nodes, one of them a string", "rename one of the two")
    return found[0]


def _readings(key: Any, field: str) -> list[Node]:
    if not isinstance(key, str):
        return [as_node(key, field)]
    readings: list[Node] = [key]
    if _INTEGER.fullmatch(key):
        readings.append(int(key))
    elif key.startswith("["):
        with contextlib.suppress(ValueError, RecursionError):  # no list after all; BadInput is a ValueError too
            readings.append(as_node(json.loads(key)))
    return readings
