"""A graph and what stands at its nodes, as people paste them: lines, or JSON.

A line is an edge ``a b`` (``a,b``, ``a -- b``), a row of edges ``a -- b -- c``, a node with its neighbours ``a: b c``,
or a node alone. Colours are lines ``a: blue`` or ``0..3: blue``, rankings ``a: best > second > worst``. In double
quotes, as JSON writes it, a name may be anything; where all are whole numbers without quotes they are numbers. A line
that begins with ``#``, and what follows a ``#`` with a blank, is a remark.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from .._exact import parse_json, so_many
from ..errors import BadInput
from ..graphs import DatasetGraph, graph_from_document, key_of_node

MOST_NODES = 2_000
MOST_EDGES = 20_000
"""Of a graph in the explorer; the command line takes all that fits in memory."""

_MOST_LETTERS = 1 << 20
_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(--|->|[:,;>])|(#(?=\s|$).*)|((?:(?!--|->)[^\s:,;>"])+))')
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,15})")
_PAIR = re.compile(r"(\d+)-(\d+)")
_RANGE = re.compile(r"(-?\d{1,15})\.\.(-?\d{1,15})")
_REMEDY = "write a line for each edge, such as a b, or JSON"

Pasted = tuple[dict[str, Any], tuple[str, ...]]
"""A graph as a document of `graph_from_document`, and what was noticed on the way, in words."""

Token = tuple[str, str]
"""("word", a name as it stands), ("quoted", a name that stood in quotes) or ("mark", a punctuation mark)."""


def graph_of_text(text: str) -> Pasted:
    """Read a pasted graph.

    Raises
    ------
    BadInput
        For a line in none of the forms, for JSON that is no graph, and for more than a page can show.
    """
    _check_length(text, "graph")
    if not text.strip():
        raise BadInput("graph", "is empty", f"{_REMEDY}, or choose a family")
    if text.lstrip()[0] in "{[":
        return _from_json(parse_json(text, "graph"))
    edges: list[tuple[Token, Token]] = []
    named: dict[Token, None] = {}
    loops = 0
    for number, tokens in _lines(text, "graph"):
        for one, other in _edges_of_line(tokens, number):
            named.setdefault(one)
            if other is None:
                continue
            named.setdefault(other)
            if one[1] == other[1]:
                loops += 1
            else:
                edges.append((one, other))
        if len(edges) > MOST_EDGES or len(named) > MOST_NODES:
            raise _too_large()
    if not named:
        raise BadInput("graph", "holds no edge", f"{_REMEDY}, or choose a family")
    names = _settled(named)
    # With and without quotes, a name is one name.
    nodes = list(dict.fromkeys(names.values()))
    if all(isinstance(name, int) for name in nodes):
        nodes.sort()
    return {"nodes": nodes, "edges": [[names[one], names[other]] for one, other in edges]}, _noticed(loops)


def at_nodes(text: str, graph: DatasetGraph, field: str, *, ranked: bool = False) -> dict[str, Any]:
    """Read what stands at each node, as a JSON object whose keys name nodes.

    Parameters
    ----------
    text : str
        A JSON object; lines ``node: value``, ``first..last: value`` or ``*: value`` for all that are not named; or,
        without a colon in any of them, one value for each node in the order of the nodes.
    graph : DatasetGraph
    field : str
        How errors name it.
    ranked : bool
        Whether a value is a ranking ``a > b > c``.
    """
    _check_length(text, field)
    like = "a: x > y" if ranked else "a: blue"
    if not text.strip():
        raise BadInput(field, "are missing", f"write a line for each node, such as {like}")
    if text.lstrip()[0] == "{":
        document: dict[str, Any] = parse_json(text, field)
        return document
    lines = list(_lines(text, field))
    names = _settled(token for _, tokens in lines for token in _after_colon(tokens) if token[0] != "mark")
    read = _ranking if ranked else _value
    if not any(("mark", ":") in tokens for _, tokens in lines):
        rows = (_values_of_line(tokens, names, field, number, ranked) for number, tokens in lines)
        values = list(itertools.chain.from_iterable(rows))
        if len(values) != graph.number_of_nodes:
            rule = f"are {len(values)}, and the graph has {so_many(graph.number_of_nodes, 'node')}"
            raise BadInput(field, rule, f"write a line for each node, such as {like}")
        return dict(zip(map(key_of_node, graph.nodes), values, strict=True))
    result: dict[str, Any] = {}
    otherwise: list[Any] = []
    for number, tokens in lines:
        if len(tokens) < 3 or tokens[1] != ("mark", ":") or tokens[0][0] == "mark":
            raise BadInput(field, f"line {number} is not of the form node: value", "write for example a: blue")
        value = read(tokens[2:], names, field, number)
        if tokens[0] == ("word", "*"):
            otherwise.append(value)
            continue
        for key in _keys(tokens[0], graph):
            if key in result:
                raise BadInput(field, f"line {number} names a node a second time", "name every node once")
            result[key] = value
    if len(otherwise) > 1:
        raise BadInput(field, "say twice what all other nodes have", "write one line that begins with *:")
    for value in otherwise:
        for node in graph.nodes:
            result.setdefault(key_of_node(node), value)
    return result


def counted(document: Any) -> DatasetGraph:
    """Build a graph that a page can show; larger ones are refused before they are listed."""
    graph = graph_from_document(document)
    if graph.number_of_nodes > MOST_NODES or graph.number_of_edges > MOST_EDGES:
        raise _too_large()
    return graph


def json_ready(value: Any) -> Any:
    """Return parsed JSON with decimals as text, which says the same and can be written again."""
    if isinstance(value, dict):
        return {key: json_ready(part) for key, part in value.items()}
    if isinstance(value, list):
        return [json_ready(part) for part in value]
    return value if value is None or isinstance(value, str | int) else str(value)


def _from_json(document: Any) -> Pasted:
    """Read an object of `graph_from_document`, a list of pairs, or an object of lists of neighbours."""
    if isinstance(document, dict) and ("kind" in document or "format" in document):
        raise BadInput("graph", "is a spec or a mechanism file", "choose JSON above, and paste a spec there")
    if isinstance(document, list):
        document = {"edges": document}
    elif not {"edges", "family"} & set(document):
        if not all(isinstance(others, list) for others in document.values()):
            raise BadInput("graph", "is no graph in JSON", 'write {"edges": [["a", "b"]]} or {"a": ["b"]}')
        # Keys of JSON are text: a neighbour that is a number is meant by its digits.
        pairs = [[key, str(x) if type(x) is int else x] for key, others in document.items() for x in others]
        listed = dict.fromkeys([*document, *(other for _, other in pairs if isinstance(other, str))])
        document = {"nodes": list(listed), "edges": pairs}
    edges, nodes = document.get("edges"), document.get("nodes")
    loops = 0
    if isinstance(edges, list):
        if len(edges) > MOST_EDGES or (isinstance(nodes, list) and len(nodes) > MOST_NODES):
            raise _too_large()
        loops = sum(isinstance(pair, list) and len(pair) == 2 and pair[0] == pair[1] for pair in edges)
    return document, _noticed(loops)


def _edges_of_line(tokens: list[Token], number: int) -> Iterator[tuple[Token, Token | None]]:
    names = [token for token in tokens if token[0] != "mark"]
    marks = [value for kind, value in tokens if kind == "mark"]
    if len(tokens) == 1 and names:
        pair = _PAIR.fullmatch(names[0][1]) if names[0][0] == "word" else None
        yield (names[0], None) if pair is None else (("word", pair[1]), ("word", pair[2]))
    elif len(tokens) >= 2 and tokens[0][0] != "mark" and tokens[1] == ("mark", ":"):
        if any(mark not in ",;" for mark in marks[1:]):
            raise BadInput("graph", f"line {number} is not a node and its neighbours", "write for example a: b c")
        yield names[0], None
        for other in names[1:]:
            yield names[0], other
    elif marks and set(marks) <= {"--", "->"} and _alternate(tokens):
        yield from itertools.pairwise(names)
    elif len(names) == 2 and "mark" not in (tokens[0][0], tokens[-1][0]) and marks in ([], [","], [";"]):
        yield names[0], names[1]
    else:
        raise BadInput("graph", f"line {number} is not an edge, which has two names", _REMEDY)


def _settled(names: Iterable[Token]) -> dict[Token, Any]:
    """Say what each word names: a number where all are whole numbers without quotes, else text."""
    listed = list(names)
    whole = all(kind == "word" and _WHOLE.fullmatch(text) for kind, text in listed)
    return {token: int(token[1]) if whole else token[1] for token in listed}


def _after_colon(tokens: list[Token]) -> list[Token]:
    return tokens[2:] if len(tokens) > 1 and tokens[1] == ("mark", ":") else tokens


def _alternate(tokens: list[Token]) -> bool:
    """Tell whether names and marks take turns, names first and last."""
    return len(tokens) % 2 == 1 and all((kind == "mark") == index % 2 for index, (kind, _) in enumerate(tokens))


def _values_of_line(tokens: list[Token], names: dict[Token, Any], field: str, number: int, ranked: bool) -> list[Any]:
    """Return the values of a line that names no node: one ranking, or colours side by side."""
    if ranked:
        return [_ranking(tokens, names, field, number)]
    if any(kind == "mark" and value not in ",;" for kind, value in tokens):
        raise BadInput(field, f"line {number} is not a list of values", "write a line for each node, such as a: blue")
    return [names[token] for token in tokens if token[0] != "mark"]


def _value(tokens: list[Token], names: dict[Token, Any], field: str, number: int) -> Any:
    if len(tokens) != 1 or tokens[0][0] == "mark":
        raise BadInput(field, f"line {number} has no value, or more than one", 'write a word, or text in quotes: "a b"')
    return names[tokens[0]]


def _ranking(tokens: list[Token], names: dict[Token, Any], field: str, number: int) -> Any:
    if not _alternate(tokens) or any(kind == "mark" and value != ">" for kind, value in tokens):
        raise BadInput(field, f"line {number} is not a ranking", "write the answers best first: a: x > y > z")
    return [names[token] for token in tokens[::2]]


def _keys(token: Token, graph: DatasetGraph) -> Iterator[str]:
    """Yield the keys of the nodes that the start of a line means: a name, or a range of whole numbers."""
    kind, name = token
    match = _RANGE.fullmatch(name) if kind == "word" else None
    if match is None or name in graph.nodes:
        yield name
        return
    first, last = int(match[1]), int(match[2])
    for node in graph.nodes:
        if isinstance(node, int) and first <= node <= last:
            yield key_of_node(node)


def _lines(text: str, field: str) -> Iterator[tuple[int, list[Token]]]:
    """Yield the lines that say something, with their numbers, cut into names and marks."""
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.rstrip()
        if line.lstrip().startswith("#"):
            continue
        tokens: list[Token] = []
        place = 0
        while place < len(line):
            match = _TOKEN.match(line, place)
            if match is None:
                raise BadInput(field, f"line {number} has a quote that is not closed", 'write names as "a b"')
            place = match.end()
            quoted, mark, _, word = match.groups()
            if quoted is not None:
                tokens.append(("quoted", _unquoted(quoted, field, number)))
            elif mark is not None:
                tokens.append(("mark", mark))
            elif word is not None:
                tokens.append(("word", word))
        if tokens:
            yield number, tokens


def _unquoted(text: str, field: str, number: int) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise BadInput(field, f"line {number} has a name that JSON cannot read", 'write names as "a b"') from None


def _check_length(text: str, field: str) -> None:
    if len(text) > _MOST_LETTERS:
        raise BadInput(field, "is longer than a million letters", "use the command line")


def _too_large() -> BadInput:
    rule = f"has more than {MOST_NODES:,} nodes or {MOST_EDGES:,} edges, which is what the explorer shows"
    return BadInput("graph", rule, "use the command line, irisdp design, for larger ones")


def _noticed(loops: int) -> tuple[str, ...]:
    if not loops:
        return ()
    which = "One edge joins a node to itself" if loops == 1 else f"{loops} edges join a node to itself"
    return (f"{which}, which says nothing of neighbours: left out.",)
