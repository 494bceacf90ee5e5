"""Malformed siblings of JSON documents: a few places of a valid one changed in all the ways a file goes wrong.

What comes out is text, since some of it no JSON library would write: a key that comes twice, NaN, a number of thousands
of digits.
"""

import copy
import hashlib
import json
from decimal import Decimal
from fractions import Fraction


class Literal(str):
    """Text that stands in the file as it is, without quotes."""

    __slots__ = ()


class Pairs:
    """An object whose keys may come twice."""

    def __init__(self, pairs):
        self.pairs = pairs


def nested(depth, inside):
    """Return a list within a list, and so on, this deep."""
    for _ in range(depth):
        inside = [inside]
    return inside


ODD = [
    *(None, True, False, 0, 1, -1, 2, 3, 10**30, 2**63, -(2**63) - 1, [], {}, [None], [[]], [0], [1, 2], {"a": 1}),
    *(
        "", " ", "x", "0", "1", " 1 ", "+1", "1.", ".5", "-0", "-0.0", "1/0", "0/1", "1/2", "2/4", "-1/2", "1 /2",
        "1/-2",
    ),
    *(
        "1_000", "٣", "0x10", "1e3", "1e-400", "1e4001", "nan", "NaN", "inf", "Infinity", "true", "null", "\ud800",
        "\x00",
    ),
    *("9" * 5000, "1/" + "3" * 4000, "999." + "7" * 4000, "1e-4000", "0." + "0" * 3000 + "1", "9" * 9000),
    *map(Literal, ("NaN", "Infinity", "-Infinity", "-0", "-0.0", "1.0", "1e0", "1E+2", "0.5", "1e4001", "1e-4000")),
    *map(Literal, ("9" * 5000, "1." + "3" * 4000, "01", "1.", "tru", "'x'", "", '"\\ud800"', "[1,]", "{}")),
    *("dual", "theorem", "geometric", "geometric-reading", "rainbow", "homogeneous-rainbow", "balanced-line"),
    *("randomized-response", "pullback", "average", "worst", "absolute", "squared", "zero-one", "graph-distance"),
    *("path", "cycle", "complete", "hamming", "histograms", "all private mechanisms"),
    *("mechanisms with these boundary rows", {"name": "zero-one"}, {"name": "absolute"}, {"name": []}, {"name": None}),
    *(nested(15, "x"), nested(16, "x"), nested(17, 0), nested(60, 0), Literal("[" * 3000 + "]" * 3000)),
]  # fmt: skip
"""What may stand where something else should."""

NEW_KEYS = (
    *(
        "format", "privacy", "graph", "inputs", "outputs", "matrix", "rows", "row_of", "factors", "reading",
        "certificate",
    ),
    *(
        "objective", "value", "lower_bound", "name", "kind", "theorem", "loss", "weights", "aggregate", "among",
        "within",
    ),
    *(
        "side_information", "fixed", "choice", "multipliers", "epsilon", "ratio", "delta", "n", "family", "nodes",
        "edges",
    ),
    *(
        "total", "types", "digest", "query", "mechanism", "rankings", "ranking_of", "note", "", "Privacy", " n", "all",
        "gaussian",
    ),
)  # fmt: skip


def places(document, inside=()):
    """Yield the path of every value of a document, from the outside in."""
    yield inside
    if isinstance(document, dict):
        for key in document:
            yield from places(document[key], (*inside, key))
    elif isinstance(document, list):
        for key, part in enumerate(document):
            yield from places(part, (*inside, key))


def at(document, path):
    """Return the value at a path."""
    for key in path:
        document = document[key]
    return document


def put(document, path, value):
    """Replace the value at a path."""
    if not path:
        return value
    at(document, path[:-1])[path[-1]] = value
    return document


def changed(value, others, pick):
    """Return something else than a value: one of its own kind that is wrong, or another kind altogether."""
    choice = pick.random()
    if choice < 0.35:
        return copy.deepcopy(pick.choice(ODD))
    if choice < 0.45:
        return copy.deepcopy(others)
    if isinstance(value, dict):
        return changed_object(value, pick)
    if isinstance(value, list):
        return changed_list(value, pick)
    return changed_number(value, pick)


def changed_object(value, pick):
    """Drop, add, rename, exchange or repeat a key."""
    keys = list(value)
    if not keys:
        return {pick.choice(NEW_KEYS): copy.deepcopy(pick.choice(ODD))}
    key, other = pick.choice(keys), pick.choice(keys)
    way = pick.randrange(6)
    if way == 0:
        return {k: v for k, v in value.items() if k != key}
    if way == 1:
        return {**value, pick.choice(NEW_KEYS): copy.deepcopy(pick.choice(ODD))}
    if way == 2:
        return {(pick.choice(NEW_KEYS) if k == key else k): v for k, v in value.items()}
    if way == 3:
        return {**value, key: value[other], other: value[key]}
    if way == 4:
        return Pairs([*value.items(), (key, pick.choice([value[key], copy.deepcopy(pick.choice(ODD))]))])
    return [value] if pick.random() < 0.5 else list(value.values())


def changed_list(value, pick):
    """Drop, add, repeat or exchange items; wrap the list, or open it."""
    items, way = list(value), pick.randrange(8)
    if way == 0 and items:
        items.pop(pick.randrange(len(items)))
    elif way == 1:
        items.insert(pick.randrange(len(items) + 1), copy.deepcopy(pick.choice(ODD)))
    elif way == 2 and items:
        items.append(copy.deepcopy(pick.choice(items)))
    elif way == 3 and items:
        i, j = pick.randrange(len(items)), pick.randrange(len(items))
        items[i], items[j] = items[j], items[i]
    elif way == 4:
        items = [items]
    elif way == 5 and items:
        return items[0]
    elif way == 6:
        items = items + copy.deepcopy(items)
    else:
        items = items[:-1] if pick.random() < 0.5 else {str(k): part for k, part in enumerate(items)}
    return items


def changed_number(value, pick):
    """Change a number by a little or a lot, or only how it is written."""
    try:
        number = Fraction(value)
    except (TypeError, ValueError, ZeroDivisionError):
        return f"{value}!"
    if len(str(value)) > 100:
        return str(value)[:100]
    ways = [-number, number + 1, number - 1, 2 * number, number + Fraction(1, 10**30), number - Fraction(1, 10**30)]
    written_anew = [str(number), f" {value}", f"+{value}", bool(number), [value], Literal(str(float(number % 10**9)))]
    found = pick.choice([*map(str, ways), *written_anew])
    if isinstance(value, int) and isinstance(found, str) and found.lstrip("-").isdigit() and pick.random() < 0.8:
        return int(found)
    return found


def mutant(document, pick):
    """Return a document with one to three places changed."""
    document = copy.deepcopy(document)
    for _ in range(pick.choice((1, 1, 1, 2, 3))):
        found = [path for path in places(document) if path[-1:] != ("digest",)]
        # Half of the changes near the root, where a document has few places and most of its meaning.
        if pick.random() < 0.5:
            found = [path for path in found if len(path) < 4] or found
        path = pick.choice(found)
        document = put(document, path, changed(at(document, path), at(document, pick.choice(found)), pick))
    return document


def written(value):
    """Write as JSON, or as what only looks like it."""
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict):
        value = Pairs(list(value.items()))
    if isinstance(value, Pairs):
        return "{" + ", ".join(f"{json.dumps(key)}: {written(part)}" for key, part in value.pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10**4000:
        return str(Decimal(value))
    return json.dumps(value)


def sealed_text(value):
    """Write with the digest that the certificate should have, so that the seal is not what fails."""
    text = written(value)
    try:
        document = json.loads(text, parse_float=Decimal)
        certificate = {key: part for key, part in document["certificate"].items() if key != "digest"}
        document["certificate"] = certificate
        canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        return written({**value, "certificate": {**value["certificate"], "digest": digest}})
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return text
