"""Check a mechanism file without trusting its author, or the library it came from.

    python verify_mechanism.py MECHANISM.json

This one file is all you need: copy it anywhere and read it first. It imports nothing but Python's standard library
(3.11 or later), and every number in it is an exact fraction: nothing is rounded but what is printed.

What a mechanism file says
    A mechanism gives a random answer. The file lists its probabilities, one row for every input and one column for
    every output. It names a graph whose nodes are the inputs: an edge joins two inputs that must be hard to tell apart,
    such as two tables that differ in one person. It states how hard, by ε (or the ratio r = e^ε) and δ. It may carry a
    certificate: a proof that no private mechanism, or none of a certain kind, serves some goal better.

What is checked; no claim in the file is believed
 1. Rows. Every row that is used has no negative entry and sums to exactly 1.
 2. Privacy. For every edge, in both directions, and for every event: P(event) ≤ r·Q(event) + δ. The worst event holds
    the outputs v with P_v > r·Q_v, so it is enough that Σ_v max(0, P_v − r·Q_v) ≤ δ. A file that states ε means r = e^ε
    rounded down, to 128 binary digits after the leading one. "yes" implies privacy at the true e^ε, and "no" that some
    r within a part in 2^128 of it is broken. A file may state several pairs (r, δ): all of them must hold.
 3. Seal. A certificate carries the SHA-256 of all the rest of the file, so that an edit made later does not go
    unnoticed. It does not prove who wrote the file: anybody can seal a file again.
 4. Optimality. The goal's value is computed from the rows. A lower bound on the goal of other mechanisms is computed
    from the certificate, by weak duality or by a theorem whose conditions are checked on this very table. The
    objective that the file states must be that value, and no better bound than that. The proofs are in the project's
    folder proofs/.
 5. Scope. A bound is about "all private mechanisms", or only about "mechanisms with these boundary rows", if the proof
    took some of the rows as given. As a rule these are the rows of inputs with a neighbour that ranks the outputs
    differently. Then a mechanism with other rows there may well be better. Which of the two it is follows from the
    proof. A file that claims more is refused. A bound by weak duality may also be about "private mechanisms that meet
    the constraints": linear constraints in the file, such as being unbiased. They are printed, and the rows are checked
    to meet them.

What is not checked
  * The graph and the privacy are the file's own. They are printed, and whether they are right for your data is for you
    to say. Inputs that no edge joins are not compared at all.
  * Where the file came from, and whether a program that says it uses this mechanism draws from these rows.
  * Whether the goal is one that you care about. It is described from its numbers, never by a name that the file gives
    it, with what it would be without privacy and what always giving the same answer would reach.
  * Whether boundary rows that were taken as given were well chosen.

What is printed, and the exit status
    0  "yes: …": rows and privacy hold, and so does all that the certificate claims.
    1  "no: …", with the first thing that does not hold.
    2  "not a mechanism file: …": the file cannot be read as one. "not checked: …": it asks for more than is done here.
       Only a regular file of at most 64 MiB is read.
"""

import hashlib
import json
import math
import os
import re
import stat
import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import accumulate, chain, islice, pairwise, permutations, product
from operator import or_
from typing import Any

ALL_PRIVATE = "all private mechanisms"
SAME_ROWS = "mechanisms with these boundary rows"
CONSTRAINED = "private mechanisms that meet the constraints"

Row = Sequence[Fraction]
Pairs = list[tuple[Fraction, Fraction]]  # (r, δ), as a rule one of them


def insist(holds: Any, reason: str) -> None:
    """Stop with a reason if something that must hold does not."""
    if not holds:
        raise ValueError(reason)


# ---- How much is done: a few letters can name more, or longer, than there is memory or time for ---------------------

LARGEST_FAMILY, LONGEST_WORD, MOST_TYPES = 1 << 62, 62, 1000
MOST_RECORDS_AND_TYPES, MOST_COUNTS, MOST_EDGES = 10**7, 10**8, 1 << 22
MOST_CATEGORIES, MOST_NODES_OF_GAPS, MOST_MOVES_OF_GAPS = 20, 1 << 20, 1 << 22
MOST_LOSSES = 1 << 23  # a table of more would take gigabytes
MOST_TERMS = 1 << 20  # of all constraints together
LONGEST_PRIVACY, MOST_PAIRS = 4096, 10000  # bits of a numerator or a denominator
LARGEST_FACTORED, LARGEST_CERTIFIED_FACTORED = 10**18, 10**6  # the largest n: judged at all, or with a certificate
LARGEST_FILE = 64 << 20  # bytes
NO_FILE = "it is a folder, a pipe or a device; save the mechanism as a file"
DEEPEST_FILE, DEEPEST_NAME = 100, 16  # lists and objects within each other; lists within lists
ROUNDING = Fraction(1, 1 << 45)  # where no goal is stated no gap can be shown: rows must be the theorem's up to this
# Bits, about, of the exact numbers that one event is propagated with: they grow with every step.
LONGEST_PROPAGATION = 10**8
# Sets of first choices that are propagated one by one, if they are not few, times the inputs that they reach.
FEW_EVENTS, MOST_PROPAGATED = 256, 4 * 10**6
MOST_WORK, work = 1 << 40, [0]  # in products of two digits of 30 bits, about: half an hour at most, as a rule minutes
USAGE = "usage: python verify_mechanism.py MECHANISM.json (status 0: it holds, 1: it does not, 2: not read)"


class TooLarge(ValueError):
    """The file may be right: it asks for more than this program does."""


def take(steps: int, one: Fraction | int = 0, other: Fraction | int = 0) -> None:
    """Count steps before they are done; in each, numbers as long as these are multiplied, divided or compared."""
    digits = (max(x.numerator.bit_length(), x.denominator.bit_length()) // 30 for x in (one, other))
    work[0] += steps * (150 + math.prod(digits))
    if work[0] > MOST_WORK:
        raise TooLarge("its numbers are too many, or too long, to be worked through in half an hour")


# ---- Reading: everything in the file is text, integers and lists until it has passed through one of these -----------

# An integer or a fraction; or a decimal, whose exponent is at most 4000 in size so that the number fits in memory.
NUMBER = re.compile(r"[+-]?(\d+(/0*[1-9]\d*)?|(\d+\.\d*|\.\d+|\d+)([eE][+-]?0*([0-3]?\d{1,3}|4000))?)", re.ASCII)


def number(value: Any, field: str) -> Fraction:
    """Read 3, "3", "0.25", "1e-9" or "3/10" exactly; a number in JSON is the decimal it is written as."""
    whether = isinstance(value, (int, str, Decimal)) and not isinstance(value, bool)
    insist(whether, f"{field} must hold a number where it holds something else")
    return number_from_text(str(value).strip(), field)


@cache
def number_from_text(text: str, field: str) -> Fraction:
    """Read a number; remembered, since tables repeat their entries."""
    return Fraction(insist_on_number(text, field))


def insist_on_number(text: str, field: str = "the file") -> str:
    """Return a text that is a number, and one that fits in memory."""
    fits = len(text) <= 8000 and NUMBER.fullmatch(text)
    insist(fits, f"{field} holds {text[:40]!r}, which is no number, or too long a one")
    insist(max(map(len, re.findall(r"\d+", text))) <= 4300, f"{field} holds an integer of more than 4300 digits")
    return text


def whole_number(value: Any, field: str, least: int, most: int = 10**7) -> int:
    """Read a whole number in a range."""
    read = number(value, field)
    insist(read.denominator == 1 and least <= read <= most, f"{field} must hold whole numbers from {least} to {most}")
    return int(read)


def list_of(value: Any, field: str, length: int | None = None) -> list[Any]:
    """Insist on a list, of a certain length if one is given."""
    insist(isinstance(value, list), f"{field} must be a list where it is something else")
    insist(length in (None, len(value)), f"{field} must have {length} entries where it has {len(value)}")
    return list(value)


def object_of(value: Any, field: str) -> Any:
    """Insist on a JSON object."""
    insist(isinstance(value, dict), f"{field} must be an object in braces")
    return value


def part(value: Any, key: str, field: str) -> Any:
    """Return a part of a JSON object."""
    insist(key in object_of(value, field), f"{field} must hold {key}")
    return value[key]


def is_whole(text: str) -> bool:
    """Tell whether a text has no half of a character (a lone surrogate), which JSON can spell and no file can hold."""
    return not any("\ud800" <= x <= "\udfff" for x in text)


def name(value: Any, field: str, nested: int = 0) -> Any:
    """Read the name of an input or output; a list, such as a histogram, becomes a tuple."""
    kind = isinstance(value, (str, int, list)) and not isinstance(value, bool)
    insist(kind, f"{field} must name by strings, integers or lists of them")
    insist(not isinstance(value, str) or is_whole(value), f"{field} has a name with half of a character")
    if isinstance(value, list):
        insist(nested < DEEPEST_NAME, f"{field} has a name of lists more than {DEEPEST_NAME} deep")
        return tuple(name(inner, field, nested + 1) for inner in value)
    return value


def names(value: Any, field: str) -> list[Any]:
    """Read a list of names."""
    return [name(one, field) for one in list_of(value, field)]


def ratio_of_epsilon(epsilon: Fraction) -> Fraction:
    """Return e^ε rounded down to 128 binary digits after the leading one."""
    insist(0 <= epsilon <= 1000, "epsilon must lie between 0 and 1000")
    if epsilon == 0:
        return Fraction(1)
    for places in (200, 2000, 28000):  # the last is for an ε that was made to come close to a number of 128 bits
        take(2 * places + 16 * int(epsilon), 1 << places, 1 << places)
        below, above = (power_of_e(epsilon, places, up) for up in (False, True))
        drop = below.bit_length() - 129
        if below >> drop == above >> drop:
            return Fraction(below >> drop << drop, 1 << places)
    raise ValueError("e^epsilon is too close to a number of 128 bits")


def power_of_e(epsilon: Fraction, places: int, round_up: bool) -> int:
    """Return a bound on e^ε in units of 2^-places."""
    # Taylor's series by Horner's rule, 1 + ε/1·(1 + ε/2·(1 + ε/3·(…))), with ε and every step rounded one way. It ends
    # where terms shrink by more than a half each, so that what is left out is between 0 and 1 times what was added.
    sign = -1 if round_up else 1  # -(-a // b) is a/b rounded up
    x = sign * (sign * (epsilon.numerator << places) // epsilon.denominator)
    power = (1 + round_up) << places
    for k in range(places + 8 * int(epsilon) + 8, 0, -1):
        power = (1 << places) + sign * ((sign * power * x >> places) // k)
    return power


# ---- Graphs: edges written out, or a family by its name -------------------------------------------------------------


def histograms(total: int, types: int, *, falling: bool = False) -> Iterator[tuple[int, ...]]:
    """Yield the ways to sort records into types, as counts, largest first; with `falling`, those that never rise."""
    counts = [total] + [0] * (types - 1)
    while True:
        yield tuple(counts)
        beyond = 0  # records of the types after this place, which may be sorted anew once one joins them from here
        for place in range(types - 1, -1, -1):
            most = counts[place] - 1 if falling else total
            if place < types - 1 and counts[place] > 0 and beyond + 1 <= most * (types - 1 - place):
                counts[place] -= 1
                beyond += 1
                for after in range(place + 1, types):
                    counts[after] = min(beyond, most)
                    beyond -= counts[after]
                break
            beyond += counts[place]
        else:
            return


def words(length: int, symbols: int) -> Iterator[str]:
    """Yield the words over the symbols 0, 1, …; beyond ten symbols they are written with commas."""
    return map(("," if symbols > 10 else "").join, product(map(str, range(symbols)), repeat=length))


def one_symbol_differs(words: list[str], length: int, symbols: int) -> Iterator[list[str]]:
    """Yield the words that are alike but for one place: all pairs that differ in exactly one are among them, once."""
    for step in (symbols**place for place in range(length)):  # how far apart words are of which one place differs
        firsts = (word for word in range(len(words)) if word // step % symbols == 0)
        yield from (words[first : first + step * symbols : step] for first in firsts)


def one_record_differs(nodes: list[Any], total: int, types: int) -> Iterator[list[Any]]:
    """Yield the histograms that are alike but for the type of one record: all pairs of neighbours are among them."""
    for rest in histograms(total - 1, types) if total > 0 else ():  # what they hold besides that record
        yield [joined(rest, place) for place in range(types)]


def joined(histogram: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Return a histogram with one record more in a place."""
    return (*histogram[:place], histogram[place] + 1, *histogram[place + 1 :])


def one_sorted_record_differs(nodes: list[Any], total: int, types: int) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of histograms that never rise of which one becomes the other when one record changes its type."""
    for counts in nodes:
        # A record leaves the last of equal counts, and joins the first of equal ones: else a count would rise. Of the
        # two ways between a pair, the one towards larger counts.
        leaves = [place for place, (here, after) in enumerate(pairwise((*counts, 0))) if here > after]
        joins = [place for place in range(types) if place == 0 or counts[place - 1] > counts[place]]
        for left, right in product(leaves, joins):
            if left > right:
                less = (*counts[:left], counts[left] - 1, *counts[left + 1 :])
                yield counts, joined(less, right)


def gaps(categories: int, largest: int, relation: str) -> list[tuple[int, ...]]:
    """List how far categories can be behind the one with most records; `largest` stands for so far or more."""
    behind, any_gap = range(1, largest + 1), range(largest + 1)
    by_first_winner = (product(*[behind] * k, [0], *[any_gap] * (categories - 1 - k)) for k in range(categories))
    return sorted(chain(*by_first_winner))


def one_record_moved(nodes: list[Any], categories: int, largest: int, relation: str) -> Iterator[tuple[Any, Any]]:
    """Yield gaps before and after a record came, or one was exchanged, if the most that a category has did not fall.

    Of two neighbours one becomes the other in this way. A gap of `largest` may in truth be larger, so that the record
    that its category gains is not seen. Then another one loses it, if anything changes, and gains it on the way back.
    """
    moves: Any = permutations(range(categories), 2 if relation == "exchange" else 1)
    for gaps, (gains, *loses) in product(nodes, list(moves)):
        records = [(place == gains) - (place in loses) - gap for place, gap in enumerate(gaps)]
        if max(records) >= 0:
            yield gaps, tuple(min(max(records) - held, largest) for held in records)


def nodes_and_edges(specification: Any, size: int) -> tuple[list[Any], Iterable[Collection[Any]]]:
    """List the nodes of a graph that should have `size`, and its edges: nodes that are all neighbours, mostly two."""
    if "family" not in object_of(specification, "graph"):
        insist(set(specification) <= {"nodes", "edges"}, "graph has a key besides nodes and edges")
        listed = list_of(part(specification, "edges", "graph"), "edges")
        edges = [tuple(names(list_of(edge, "an edge", 2), "an edge")) for edge in listed]
        if specification.get("nodes") is not None:
            return names(specification["nodes"], "nodes"), edges
        ends = list(dict.fromkeys(chain(*edges)))
        return sorted(ends) if all(isinstance(end, int) for end in ends) else ends, edges
    falling = partial(histograms, falling=True)
    families: dict[str, tuple[list[str], Callable[..., Iterable[Any]], Callable[..., Iterable[Any]]]] = {
        "path": (["n"], range, lambda nodes, n: pairwise(nodes)),
        "cycle": (["n"], range, lambda nodes, n: zip(nodes, nodes[1:] + nodes[:1], strict=True)),
        "complete": (["n"], range, lambda nodes, n: [nodes]),
        "hamming": (["length", "symbols"], words, one_symbol_differs),
        "histograms": (["total", "types"], histograms, one_record_differs),
        "sorted_histograms": (["total", "types"], falling, one_sorted_record_differs),
        "gaps": (["categories", "largest", "relation"], gaps, one_record_moved),
    }
    family = specification["family"]
    insist(isinstance(family, str) and family in families, f"the graph's family must be one of {', '.join(families)}")
    keys, nodes_of, edges_of = families[family]
    insist(set(specification) == {"family", *keys}, f"a graph of this family must hold {' and '.join(keys)}, no more")
    sizes: list[Any] = [
        specification[key]
        if key == "relation"
        else whole_number(specification[key], key, key != "total", LARGEST_FAMILY)
        for key in keys
    ]
    if family == "gaps":
        q, most, relation = sizes
        insist(relation in ("exchange", "add-remove"), "relation must be exchange or add-remove")
        fits = q <= MOST_CATEGORIES and most <= MOST_NODES_OF_GAPS and size * q * (q - 1) <= MOST_MOVES_OF_GAPS
        insist(fits and size <= MOST_NODES_OF_GAPS, "gaps of so many categories, or so large, are too many to list")
        insist((most + 1) ** q - most**q == size, "the graph's nodes must be the inputs, each once")
    if family == "hamming":  # to list words takes all their symbols at once
        insist(sizes[0] <= LONGEST_WORD, f"length must be at most {LONGEST_WORD}")
        insist(sizes[1] ** sizes[0] == size, "the graph's nodes must be the inputs, each once")
    if family.endswith("histograms"):
        fits = sizes[1] <= MOST_TYPES and (sizes[0] + 1) * sizes[1] <= MOST_RECORDS_AND_TYPES
        most = f"types must be at most {MOST_TYPES}, and total plus one times types at most {MOST_RECORDS_AND_TYPES:,}"
        insist(fits, most)
        if size * sizes[1] > MOST_COUNTS:
            raise TooLarge(f"the inputs have more than {MOST_COUNTS:,} counts, and each is written out here")
    nodes = list(islice(nodes_of(*sizes), size + 1))  # one too many is enough to see that the graph is another one
    if family == "sorted_histograms":
        nodes.sort(key=lambda histogram: histogram[::-1])
    return nodes, edges_of(nodes, *sizes) if len(nodes) == size else []


def neighbours_of_nodes(specification: Any, size: int) -> dict[Any, set[int]]:
    """Return the places of every node's neighbours in the list of nodes; an edge from a node to itself is dropped."""
    nodes, alike = nodes_and_edges(specification, size)
    place = {node: i for i, node in enumerate(nodes)}
    insist(len(place) == len(nodes) == size, "the graph's nodes must be the inputs, each once")
    neighbours: list[set[int]] = [set() for _ in nodes]
    edges = 0
    for several in alike:
        insist(all(node in place for node in several), "edges name something that is not among the nodes")
        edges += len(several) * (len(several) - 1) // 2
        if edges > MOST_EDGES:
            raise TooLarge(f"the graph has more than {MOST_EDGES:,} edges, and they are listed one by one here")
        numbers = {place[node] for node in several}
        for i in numbers:
            neighbours[i] |= numbers
    for i, near in enumerate(neighbours):
        near.discard(i)
    return dict(zip(nodes, neighbours, strict=True))


# ---- The mechanism --------------------------------------------------------------------------------------------------


@dataclass
class Mechanism:
    """What the file says, read and measured but not yet checked. From here on inputs and outputs are numbered from 0.

    A file may write its table in full ("matrix"), or once for every different row ("rows", with "row_of"). It may also
    write factors, because a count up to ten thousand has a hundred million entries. "factors" name the geometric
    mechanism on the path 0..n and perhaps a reading, which turns a released z into an answer with given probabilities.
    Then `rows` is empty, and `reading` holds for every z the probability of each answer.
    """

    document: dict[str, Any]
    pairs: Pairs
    rows: list[tuple[Fraction, ...]]
    reading: list[Counter[int]]
    inputs: Sequence[Any]
    outputs: Sequence[Any]
    neighbours: list[list[int]]  # of factors without a certificate nothing is listed
    is_count: bool  # the inputs and the outputs are 0, 1, …, n, and the graph is the path that joins them in order


def read_mechanism(document: Any) -> Mechanism:
    """Read a mechanism and check shapes."""
    format_stated = object_of(document, "the file").get("format", "irisdp/mechanism/1")
    insist(format_stated == "irisdp/mechanism/1", "format must be irisdp/mechanism/1")
    pairs = read_privacy(part(document, "privacy", "the file"))
    read_objective(document)
    forms = [key for key in ("matrix", "rows", "factors") if key in document]
    insist(len(forms) == 1, "the file must hold matrix, or rows, or factors: one of them")
    lines = list_of(document[forms[0]], forms[0])
    if forms == ["factors"]:
        return read_factored(document, pairs, lines)
    rows = [tuple(number(entry, forms[0]) for entry in list_of(line, "a row")) for line in lines]
    width = len(rows[0]) if rows else 0
    insist(width and {width} == set(map(len, rows)), f"{forms[0]} must be a table with rows of one length")
    if forms == ["rows"]:
        row_of = list_of(part(document, "row_of", "the file"), "row_of")
        rows = [rows[whole_number(k, "row_of", 0, len(rows) - 1)] for k in row_of]
        insist(rows, "row_of gives no input a row")  # without rows there would be nothing to find fault with
    size = len(rows)
    near = neighbours_of_nodes(part(document, "graph", "the file"), size)
    inputs, outputs = (
        list(otherwise) if document.get(key) is None else names(document[key], key)
        for key, otherwise in (("inputs", near), ("outputs", range(width)))
    )
    insist(len(inputs) == size and set(inputs) == set(near), "the inputs are not the graph's nodes")
    insist(len(set(outputs)) == len(outputs) == width, "the outputs must have different names, one for every column")
    neighbours = numbered(near, inputs)
    is_count = inputs == outputs == list(range(size)) and neighbours == one_apart(size)
    return Mechanism(document, pairs, rows, [], inputs, outputs, neighbours, is_count)


def numbered(near: dict[Any, set[int]], inputs: list[Any]) -> list[list[int]]:
    """Return the neighbours of every input, all by their numbers among the inputs."""
    number = {node: i for i, node in enumerate(inputs)}
    number_at = [number[node] for node in near]
    return [sorted(number_at[place] for place in near[node]) for node in inputs]


def one_apart(size: int) -> list[list[int]]:
    """Return the neighbours on the path 0, 1, …, size − 1."""
    return [[k for k in (i - 1, i + 1) if 0 <= k < size] for i in range(size)]


def read_privacy(privacy: Any) -> Pairs:
    """Return r and δ; or of several pairs all, by falling r and rising δ, none of which follows from the others."""
    if "all" not in object_of(privacy, "privacy"):
        return [read_pair(privacy)]
    listed = list_of(privacy["all"], "all")
    alone = len(privacy) == 1 and 0 < len(listed) <= MOST_PAIRS
    insist(alone, f"all must hold 1 to {MOST_PAIRS} pairs, and nothing may stand beside it")
    pairs = list(map(read_pair, listed))
    sorted_ = all(r > s and d < e for (r, d), (s, e) in pairwise(pairs))
    insist(sorted_, "all must list pairs by falling ratio and rising delta")
    # The line r·s + δ is the lowest from where it meets the one before to where it meets the next; and to matter at all
    # the last must be so before the one before it is at 1 − s, since from there on u is the mirror image.
    turns = [(e - d) / (r - s) for (r, d), (s, e) in pairwise(pairs)] + [(1 - d) / (r + 1) for r, d in pairs[-2:-1]]
    insist(all(a < b for a, b in pairwise(turns)), "all must list no pair that follows from the others")
    return pairs


def read_pair(privacy: Any) -> tuple[Fraction, Fraction]:
    """Return r and δ."""
    stated = set(object_of(privacy, "privacy")) - {"delta"}
    insist(stated in ({"epsilon"}, {"ratio"}), "privacy must state epsilon or ratio, and delta")
    read = {key: number(value, key) for key, value in privacy.items()}
    for key, value in read.items():
        short = max(value.numerator.bit_length(), value.denominator.bit_length()) <= LONGEST_PRIVACY
        insist(short, f"{key} has more than {LONGEST_PRIVACY} bits above or below the line")
    ratio = read["ratio"] if "ratio" in read else ratio_of_epsilon(read["epsilon"])
    delta = read.get("delta", Fraction(0))
    insist(ratio >= 1 and 0 <= delta < 1, "ratio must be at least 1, delta at least 0 and below 1")
    return ratio, delta


def read_objective(document: dict[str, Any]) -> tuple[Fraction, Fraction | None] | None:
    """Return the value and the lower bound that the file states, where it does."""
    if document.get("objective") is None:
        return None
    value = number(part(document["objective"], "value", "objective"), "the objective's value")
    bound = document["objective"].get("lower_bound")
    return value, None if bound is None else number(bound, "the objective's lower_bound")


def read_factored(document: dict[str, Any], pairs: Pairs, factors: list[Any]) -> Mechanism:
    """Read the geometric mechanism on 0..n and its post-processing. Nothing is listed where nothing is certified."""
    insist(len(pairs) == 1, "factors need one pair in privacy: the geometric mechanism has one ratio")
    insist(len(factors) in (1, 2), "factors must be a geometric mechanism and at most one reading")
    insist(part(factors[0], "kind", "a factor") == "geometric", "factors must begin with a geometric mechanism")
    size = whole_number(part(factors[0], "n", "a factor"), "n", 0, LARGEST_FACTORED) + 1
    reading = read_reading(factors[1], size) if len(factors) == 2 else []
    for key in ("inputs", "outputs"):
        if document.get(key) is not None:
            stated = names(document[key], key)
            insist(len(stated) == size and stated == list(range(size)), f"{key} of factors are 0..n")
    certified = document.get("certificate") is not None
    too_many = f"a certificate is checked for counts up to {LARGEST_CERTIFIED_FACTORED}, no further"
    insist(not certified or size <= LARGEST_CERTIFIED_FACTORED + 1, too_many)
    insist_on_path(document.get("graph"), size)
    if certified:
        reading = reading or [Counter({z: 1}) for z in range(size)]
    return Mechanism(document, pairs, [], reading, range(size), range(size), one_apart(size if certified else 0), True)


def insist_on_path(graph: Any, size: int) -> None:
    """Insist that a graph is the path that joins 0, 1, …, in order, by whatever name; the path itself is not listed."""
    if graph is None:
        return
    family = object_of(graph, "graph").get("family")
    if family == "path":
        near_enough = set(graph) == {"family", "n"} and whole_number(graph["n"], "n", 1, LARGEST_FAMILY) == size
    else:  # beyond two nodes no other family is a path
        near_enough = ("family" not in graph or size <= 2) and size <= 10**7
        near = neighbours_of_nodes(graph, size) if near_enough else {}
        near_enough = set(near) == set(range(size)) and numbered(near, list(range(size))) == one_apart(size)
    insist(near_enough, "the graph of factors must be the path 0..n")


def read_reading(factor: Any, size: int) -> list[Counter[int]]:
    """Return the probability of each answer for each number that the geometric mechanism releases."""
    listed = list_of(part(factor, "reading", "a factor"), "reading")
    entries = [list_of(entry, "an entry of reading", 3) for entry in listed]
    insist(len(entries) >= size, "reading must say of every number how it is read")
    reading: list[Any] = [Counter() for _ in range(size)]
    for released, answer, probability in entries:
        share = number(probability, "reading")
        insist(share >= 0, "reading has a negative probability")
        here = reading[whole_number(released, "reading", 0, size - 1)]
        take(2, share, here[v := whole_number(answer, "reading", 0, size - 1)])
        here[v] += share
    insist(all(total(answers.values()) == 1 for answers in reading), "reading must spread probability 1")
    return reading


# ---- Rows and privacy -----------------------------------------------------------------------------------------------


def over_common_denominator(numbers: Iterable[Fraction | int]) -> tuple[list[int], int]:
    """Write fractions as integers over their least common denominator: sums of integers are fast."""
    listed, denominator = list(numbers), 1
    for own, times in Counter(x.denominator for x in listed).items():
        take(2 + 3 * times, denominator, own)
        denominator = math.lcm(denominator, own)
    take(len(listed), denominator, 1 << 100_000)  # for the memory, of which a gigabyte is all the work there is
    return [x.numerator * (denominator // x.denominator) for x in listed], denominator


def total(numbers: Iterable[Fraction]) -> Fraction:
    """Add numbers."""
    integers, denominator = over_common_denominator(numbers)
    take(1, denominator, denominator)
    return Fraction(sum(integers), denominator)


def crosswise(these: Row, those: Row) -> Iterator[tuple[int, int]]:
    """Yield two integers that are to each other as two entries: short ones, where a common denominator is long."""
    return ((x.numerator * y.denominator, y.numerator * x.denominator) for x, y in zip(these, those, strict=True))


def check_privacy(mechanism: Mechanism) -> None:
    """Check every row, and every two different rows that meet on an edge, in both directions.

    Inputs may share a row, and two rows may meet on many edges; each pair is compared once. Factors have no rows here:
    the geometric mechanism is private at its ratio by its formula, and reading an answer differently costs no privacy.
    """
    scaled = {}
    for key, row in {id(row): row for row in mechanism.rows}.items():
        integers, denominator = over_common_denominator(row)
        fair = min(integers) >= 0 and sum(integers) == denominator
        insist(fair, "a row is negative somewhere or does not sum to exactly 1")
        scaled[key] = integers, denominator, max(x.denominator for x in row)
    edges = ((i, j) for i in range(len(mechanism.rows)) for j in mechanism.neighbours[i])
    meeting = {(id(mechanism.rows[i]), id(mechanism.rows[j])): (i, j) for i, j in edges}
    ratios = [r.as_integer_ratio() for r, _ in mechanism.pairs]
    (a, b), last = ratios[-1], len(ratios) - 1
    for (first, second), (i, j) in meeting.items():
        (ps, own, longest), (qs, other, also) = scaled[first], scaled[second]
        take(2 * len(ps), *((own, a) if own == other else (longest, also)))
        same = zip(ps, qs, strict=True) if own == other else crosswise(mechanism.rows[i], mechanism.rows[j])
        beyond = [v for v, (p, q) in enumerate(same) if p * b > q * a]
        if not beyond:
            continue
        # Σ_v max(0, P_v − r·Q_v) with P_v = p_v/d, Q_v = q_v/d and r = s/t is the sum of (p_v·t − q_v·s)/(t·d) over the
        # outputs where that is positive. As r falls from pair to pair, outputs only join the sum.
        take(2 + 4 * len(ratios) + len(beyond) * (2 + last.bit_length()), own, max(other, a))
        d = math.lcm(own, other)
        up, down = d // own, d // other
        joining = [[0, 0] for _ in ratios]  # the p and q of the outputs that a pair is the first to count
        for p, q in [(ps[v] * up, qs[v] * down) for v in beyond]:
            here = joining[bisect_left(ratios, True, hi=last, key=lambda ratio: p * ratio[1] > q * ratio[0])]
            here[0], here[1] = here[0] + p, here[1] + q
        p = q = 0
        for (s, t), (_, delta), (more, facing) in zip(ratios, mechanism.pairs, joining, strict=True):
            p, q = p + more, q + facing
            if (p * t - q * s) * delta.denominator > delta.numerator * t * d:
                under = f" under the pair of ratio {shown(Fraction(s, t))}, delta {shown(delta)}" if last else ""
                insist(False, f"the neighbours {mechanism.inputs[i]} and {mechanism.inputs[j]} are not close{under}")


def lines_of_u(pairs: Pairs) -> Pairs:
    """Return slope and constant of 1, and of r·s + δ and 1 − (1 − s − δ)/r for every pair; u is the least of all."""
    return [(Fraction(0), Fraction(1)), *chain(*([(r, d), (1 / r, 1 - (1 - d) / r)] for r, d in pairs))]


def u(lines: Pairs, s: Fraction) -> tuple[Fraction, Fraction]:
    """Return the most that a neighbour can give to an event of probability s, and the slope of u to the right of s."""
    take(4 * len(lines), s, s)
    return min((slope * s + constant, slope) for slope, constant in lines)


# ---- The goal that a certificate speaks of --------------------------------------------------------------------------


@dataclass
class Goal:
    """What should be small. With L_i = Σ_v loss(i, v)·x_iv, the expected loss at input i:

    the average Σ_i weight_i·L_i, or the worst case, the largest L_i over the inputs that are considered possible (the
    side information). The weights of a worst case are a prior: they belong to the proof, not to the goal.
    """

    worst_case: bool
    loss_name: str | None  # None where the losses are written out
    losses: list[list[Any]]  # exact numbers
    weights: list[Fraction]
    considered: Iterable[int]

    def over_inputs(self, expected: Callable[[int], Fraction]) -> Fraction:
        """Put the expected losses of the inputs together."""
        if self.worst_case:
            return max(expected(i) for i in self.considered)
        return total(self.weights[i] * expected(i) for i in self.considered)


LOSSES: dict[Any, Callable[[Any, Any], int]] = {
    "absolute": lambda truth, answer: abs(truth - answer),
    "squared": lambda truth, answer: (truth - answer) ** 2,
    "zero-one": lambda truth, answer: int(truth != answer),
}


def read_goal(mechanism: Mechanism, certificate: Any) -> Goal:
    """Read the goal of a certificate."""
    size, loss = len(mechanism.inputs), part(certificate, "loss", "the certificate")
    aggregate = part(certificate, "aggregate", "the certificate")
    insist(aggregate in ("average", "worst"), "aggregate must be average or worst")
    worst_case = aggregate == "worst"
    named = isinstance(loss, dict)
    loss_name = part(loss, "name", "loss") if named else None
    if size * len(mechanism.outputs) > MOST_LOSSES:
        raise TooLarge(f"the goal has more than {MOST_LOSSES:,} losses, and each is written out here")
    if loss_name == "graph-distance":
        insist(list(mechanism.inputs) == list(mechanism.outputs), "distances need outputs that are the inputs")
        loss = [  # factors are about a path, and do not list its edges
            smallest_reaching(mechanism, {i: 0}, lambda steps: steps + 1, size)
            if mechanism.rows
            else [abs(i - j) for j in range(size)]
            for i in range(size)
        ]
        insist(size not in chain(*loss), "distances need a connected graph")
    elif named:
        insist(isinstance(loss_name, str) and loss_name in LOSSES, "loss has a name that is not known")
        counts = all(isinstance(one, int) for one in chain(mechanism.inputs, mechanism.outputs))
        insist(counts or loss_name == "zero-one", f"{loss_name} loss needs inputs and outputs that are integers")
        loss_between = LOSSES[loss_name]
        loss = [[loss_between(truth, answer) for answer in mechanism.outputs] for truth in mechanism.inputs]
    lines = [list_of(line, "a row of loss", len(mechanism.outputs)) for line in list_of(loss, "loss", size)]
    losses = lines if named else [[number(entry, "loss") for entry in line] for line in lines]  # named: integers
    listed = list_of(part(certificate, "weights", "the certificate"), "weights", size)
    weights = [number(weight, "weights") for weight in listed]
    considered: Iterable[int] = range(size)
    known = True
    if worst_case:
        listed = list_of(certificate.get("side_information", list(range(size))), "side_information")
        considered = {whole_number(i, "side_information", 0, size - 1) for i in listed}
        known = total(weights) == total(weights[i] for i in considered) == 1
    insist(known and min(weights) >= 0, "weights are at least 0; a worst case needs a prior")
    return Goal(worst_case, loss_name, losses, weights, considered)


def describe_goal(mechanism: Mechanism, goal: Goal) -> str:
    """Say what is small, and two values to compare with: without privacy, and by always giving one answer."""
    counted = [i for i in goal.considered if goal.worst_case or goal.weights[i]]
    loss = f"{goal.loss_name or 'tabled'} loss over {len(counted)} of {len(mechanism.inputs)} inputs"
    if goal.worst_case:
        what = f"the largest expected {loss}"
    else:
        what = f"the expected {loss}, added up with weights of {shown(total(goal.weights))} in all"
    least = goal.over_inputs(lambda i: min(goal.losses[i]))
    most = goal.over_inputs(lambda i: max(goal.losses[i]))
    if least == most:
        return what + "; it is the same for every mechanism and compares nothing"
    always = [goal.over_inputs(column.__getitem__) for column in zip(*goal.losses, strict=True)]
    constant = mechanism.outputs[always.index(min(always))]
    return f"{what}; {shown(least)} without privacy, {shown(min(always))} by always answering {constant!r}"


def goal_value(mechanism: Mechanism, goal: Goal, row_of: Callable[[int], Row]) -> Fraction:
    """Return the goal of the mechanism that has these rows."""

    def expected_loss(i: int) -> Fraction:
        losses, loss_denominator = over_common_denominator(goal.losses[i])
        row, row_denominator = over_common_denominator(row_of(i))
        take(len(row), loss_denominator, row_denominator)
        return Fraction(sum(map(math.prod, zip(losses, row, strict=True))), loss_denominator * row_denominator)

    return goal.over_inputs(expected_loss)


def smallest_reaching(mechanism: Mechanism, start: dict[int, Any], step: Callable[[Any], Any], most: Any) -> list[Any]:
    """Return the smallest value that reaches every input, when `start` is given and an edge changes s into step(s).

    An input that nothing reaches has the value `most`. The step must not make values smaller, nor change their order.
    """
    found = [start.get(i, most) for i in range(len(mechanism.neighbours))]
    queue = list(start)
    for i in queue:  # the queue grows while it is worked through: an input whose value fell passes it on again
        take(len(mechanism.neighbours[i]))
        for j in mechanism.neighbours[i]:
            if j not in start and step(found[i]) < found[j]:
                found[j] = step(found[i])
                queue.append(j)
    return found


# ---- Proofs. Each returns a lower bound on the goal of the mechanisms it speaks of ----------------------------------


@dataclass
class Proof:
    """What a certificate proves."""

    bound: Fraction | None  # None where it states no goal
    best_rows: Sequence[Row] | None = None  # the rows that a theorem says are best, where it names any
    rows_given: Collection[int] = ()  # the inputs whose rows the proof took from the file: the bound is on mechanisms
    off_boundary: Collection[int] = ()  # that share these rows; and those of them that are not on the boundary
    inner: "Conclusion | None" = None  # of a pullback: what holds for the mechanism on the smaller graph
    constraints: Sequence[str] = ()  # what the mechanisms it speaks of have to meet besides privacy, in words


def weak_duality(mechanism: Mechanism, certificate: Any, goal: Goal) -> Proof:
    """Bound the goal of every private mechanism by multipliers: see `lower_bound`.

    Where the file states constraints, only mechanisms that meet them are compared. Adding μ·(Σ a·x − b) to the goal
    raises it by at most 0 where Σ a·x ≤ b and μ ≥ 0, and by 0 where they are equal, whatever μ is. And where entries of
    a row are given, only distributions that have them are compared.
    """
    scores = [[weight * loss for loss in losses] for weight, losses in zip(goal.weights, goal.losses, strict=True)]
    constraints = read_constraints(mechanism, certificate)
    spent, seen = [], set()
    for entry in list_of(certificate.get("constraint_multipliers", []), "constraint_multipliers"):
        *places, size = list_of(entry, "an entry of constraint_multipliers", 3)
        k, line = (whole_number(place, "constraint_multipliers", 0, MOST_LOSSES) for place in places)
        known = (k, line) in constraints.lines and (k, line) not in seen
        insist(known, "a multiplier of a constraint is of no line of one, or comes twice")
        seen.add((k, line))
        terms, bound, equal = constraints.lines[k, line]
        price = number(size, "constraint_multipliers")
        insist(equal or price >= 0, "a multiplier of a constraint is negative")
        spent.append(price * bound)
        for i, v, a in terms:
            take(4, max(scores[i][v].denominator, a), price)
            scores[i][v] += price * a
    multipliers = part(certificate, "multipliers", "the certificate")
    bound = lower_bound(
        mechanism, scores, multipliers, lambda i, j: j in mechanism.neighbours[i], constraints.smallest
    ) - total(spent)
    return Proof(bound, constraints=constraints.words)


def lower_bound(
    mechanism: Mechanism,
    scores: list[list[Fraction]],
    multipliers: Any,
    joined: Callable[[int, int], bool],
    smallest: Callable[[int, Row], Fraction] = lambda _, row: min(row),
) -> Fraction:
    """Bound Σ_i Σ_v score_iv·x_iv from below for every private x, by weak duality.

    A multiplier λ_ijv ≥ 0 on an edge from i to j gives output v a price. Since x is private, for any prices
    Σ_v λ_ijv·(x_iv − r·x_jv) ≤ δ·max_v λ_ijv, so adding the left sides to the sum raises it by at most the right
    ones. What is then added up is (score_iv + Σ_j (λ_ijv − r·λ_jiv))·x_iv, and as row i is a probability distribution,
    its part is at least the smallest of these factors. Any prices prove a bound: bad ones only prove a weak one. Where
    privacy is several pairs each may have prices: a fifth number says of which pair a price is, none of the first.
    """
    dearest: dict[tuple[int, int, int], Fraction] = {}
    seen = set()
    for entry in list_of(multipliers, "multipliers"):
        most = (len(scores), len(scores), len(mechanism.outputs), len(mechanism.pairs))
        parts = len(list_of(entry, "an entry of multipliers"))
        insist(parts in (4, 5), "an entry of multipliers must have 4 parts, or 5 with the number of a pair")
        first, second, output, size, pair = [*entry, 0][:5]
        listed = zip((first, second, output, pair), most, strict=True)
        i, j, v, k = (whole_number(place, "multipliers", 0, count - 1) for place, count in listed)
        insist(joined(i, j) and (i, j, v, k) not in seen, "a multiplier is on no edge, or comes twice")
        price = number(size, "multipliers")
        insist(price >= 0, "a multiplier is negative")
        seen.add((i, j, v, k))
        take(4, max(scores[i][v].denominator, scores[j][v].denominator), price)
        scores[i][v] += price
        scores[j][v] -= mechanism.pairs[k][0] * price
        dearest[i, j, k] = max(price, dearest.get((i, j, k), price))
    spent = (-mechanism.pairs[k][1] * price for (_, _, k), price in dearest.items())
    return total([*(smallest(i, row) for i, row in enumerate(scores)), *spent])


@dataclass
class LinearConstraints:
    """Linear constraints: entries that are given, and lines Σ a·x_iv ≤ bound, or equal to it."""

    given: dict[int, dict[int, Fraction]]
    lines: dict[tuple[int, int], tuple[list[tuple[int, int, Any]], Fraction, bool]]
    words: list[str]

    def smallest(self, i: int, scores: Row) -> Fraction:
        """Return the smallest Σ_v score_v·x_iv over the distributions of input i that have the given entries."""
        known = self.given.get(i, {})
        rest = 1 - total(known.values())
        others = [score for v, score in enumerate(scores) if v not in known]
        insist(rest >= 0 and (others or rest == 0), "the constraints give a row that is no distribution")
        return total(scores[v] * p for v, p in known.items()) + (rest * min(others) if others else 0)


def read_constraints(mechanism: Mechanism, certificate: Any) -> LinearConstraints:
    """Read the constraints of a certificate, and check that the rows meet them."""
    constraints = LinearConstraints({}, {}, [])
    listed = list_of(certificate.get("constraints", []), "constraints")
    if len(listed) * len(mechanism.inputs) * len(mechanism.outputs) > MOST_TERMS:
        raise TooLarge("its constraints are too many for a matrix of this size")
    for k, one in enumerate(listed):
        take(len(mechanism.inputs) * len(mechanism.outputs))
        insist(mechanism.rows, "constraints need the rows of the mechanism, not factors")
        constraints.words.append(read_constraint(mechanism, constraints, k, one))
    for i, known in constraints.given.items():
        insist(all(mechanism.rows[i][v] == p for v, p in known.items()), "the rows do not have the entries given")
    for terms, bound, equal in constraints.lines.values():
        take(len(terms), bound)
        reached = total(a * mechanism.rows[i][v] for i, v, a in terms)
        insist(reached == bound or (reached < bound and not equal), "the rows do not meet the constraints")
    return constraints


def read_constraint(mechanism: Mechanism, constraints: LinearConstraints, k: int, one: Any) -> str:
    """Read constraint number k, and return it in words."""
    inputs, outputs = mechanism.inputs, mechanism.outputs
    kind = one if isinstance(one, str) else " ".join(sorted(object_of(one, "a constraint")))
    counts = all(isinstance(name, int) for name in chain(inputs, outputs))
    insist(counts or kind not in ("unbiased", "monotone"), f"{kind} needs inputs and outputs that are integers")
    if kind == "unbiased":
        for i, truth in enumerate(inputs):
            constraints.lines[k, i] = ([(i, v, answer) for v, answer in enumerate(outputs)], Fraction(truth), True)
        return "unbiased"
    if kind == "monotone":  # from every answer to the next one that is nearer to the truth and on the same side of it
        ascending = sorted(range(len(outputs)), key=outputs.__getitem__)
        for (i, truth), (low, high) in product(enumerate(inputs), pairwise(ascending)):
            pairs = [(low, high)] * (outputs[high] <= truth) + [(high, low)] * (outputs[low] >= truth)
            for far, near in pairs:
                constraints.lines[k, i * len(outputs) + far] = ([(i, far, 1), (i, near, -1)], Fraction(0), False)
        return "no answer likelier than the next one towards the truth"
    if kind in ("at_most terms", "equals terms"):
        comparison = kind.split()[0]
        terms = [(i, v, number(a, "terms")) for i, v, a in places_of(mechanism, one["terms"], 3)]
        constraints.lines[k, 0] = (terms, number(one[comparison], "terms"), comparison == "equals")
        return "a linear constraint that the file writes out"
    given, words = given_entries(mechanism, kind, one)
    for i, v, p in given:
        agreed = 0 <= p <= 1 and constraints.given.setdefault(i, {}).setdefault(v, p) == p
        insist(agreed, "the constraints must give every entry one probability")
    return words


def given_entries(mechanism: Mechanism, kind: str, one: Any) -> tuple[list[tuple[int, int, Fraction]], str]:
    """Return the entries that a constraint gives, and what it says in words."""
    inputs, outputs, size = mechanism.inputs, mechanism.outputs, len(mechanism.inputs)
    if kind == "error_at_most of":
        most, by_graph = number(one["error_at_most"], "error_at_most"), one["of"] == "graph-distance"
        counts = one["of"] == "absolute" and all(isinstance(name, int) for name in chain(inputs, outputs))
        insist(by_graph or counts, "of must be absolute, of integers, or graph-distance")
        insist(not by_graph or list(inputs) == list(outputs), "distances need outputs that are the inputs")
        errors: Iterable[tuple[int, list[Any]]] = (
            (i, smallest_reaching(mechanism, {i: 0}, lambda steps: steps + 1, math.inf))
            if by_graph
            else (i, [abs(truth - answer) for answer in outputs])
            for i, truth in enumerate(inputs)
        )
        far = [(i, v, Fraction(0)) for i, row in errors for v, error in enumerate(row) if error > most]
        written = str(one["error_at_most"]).strip()  # a rounded number would state another constraint
        limit = written if len(written) <= 40 else "a number that the file writes out"
        return far, f"errors of at most {limit}" + " steps in the graph" * by_graph
    if kind == "keep":
        kept = [whole_number(i, "keep", 0, size - 1) for i in list_of(one["keep"], "keep")]
        insist(len(set(kept)) == len(kept), "keep names an input twice")
        insist(all(inputs[i] in outputs for i in kept), "keep names an input that is no output")
        given = [(i, v, Fraction(answer == inputs[i])) for i in kept for v, answer in enumerate(outputs)]
        return given, f"the true answer is certain at some inputs ({len(kept)})"
    if kind == "zero":
        given = [(i, v, Fraction(0)) for i, v in places_of(mechanism, one["zero"], 2)]
        return given, f"some entries are 0 ({len(given)})"
    insist(kind == "fixed", "a constraint is not known")
    given = [(i, v, number(p, "fixed")) for i, v, p in places_of(mechanism, one["fixed"], 3)]
    return given, f"some entries are given ({len(given)})"


def places_of(mechanism: Mechanism, entries: Any, parts: int) -> Iterator[list[Any]]:
    """Yield entries of a matrix, whose first two parts are an input and an output; none may come twice."""
    seen = set()
    for entry in list_of(entries, "a constraint"):
        listed = list_of(entry, "an entry of a constraint", parts)
        sizes = (("an input", len(mechanism.inputs)), ("an output", len(mechanism.outputs)))
        place = tuple(whole_number(x, field, 0, size - 1) for x, (field, size) in zip(listed, sizes, strict=False))
        insist(place not in seen, "a constraint lists an entry twice")
        seen.add(place)
        yield [*place, *listed[2:]]


def geometric_powers(mechanism: Mechanism, round_up: bool) -> tuple[list[int], int]:
    """Return 1, α, …, α^n for α = 1/r = b/a, as integers over one denominator.

    Exact powers of a long ratio would fill the memory. They are kept to 512 binary digits, rounded down for a bound and
    up for a value, so that both are safe.
    """
    n, a, b = len(mechanism.inputs) - 1, *mechanism.pairs[0][0].as_integer_ratio()
    if n * a.bit_length() <= 20000:
        return [b**d * a ** (n - d) for d in range(n + 1)], a**n
    return list(accumulate(range(n), lambda power, _: power * b // a + round_up, initial=1 << 512)), 1 << 512


def geometric_factor(mechanism: Mechanism, released: int) -> Fraction:
    """Return (a − b)/(a + b), or a/(a + b) at the two ends, where all that lies beyond is gathered."""
    n, a, b = len(mechanism.inputs) - 1, *mechanism.pairs[0][0].as_integer_ratio()
    if n == 0:
        return Fraction(1)
    return Fraction(a if released in (0, n) else a - b, a + b)


def geometric_rows(mechanism: Mechanism, round_up: bool) -> Iterator[list[Fraction]]:
    """Yield the rows of the geometric mechanism: the count i is released as z with probability factor_z·α^|z − i|."""
    powers, denominator = geometric_powers(mechanism, round_up)
    n = len(mechanism.inputs) - 1
    end, inner = (
        [geometric_factor(mechanism, z) * Fraction(power, denominator) for power in powers] for z in (0, min(1, n))
    )
    for i in range(n + 1):
        yield [end[abs(z - i)] if z in (0, n) else inner[abs(z - i)] for z in range(n + 1)]


def insist_on_counts(mechanism: Mechanism) -> None:
    """Insist on what both theorems on the geometric mechanism are about."""
    single = mechanism.is_count and [delta for _, delta in mechanism.pairs] == [0]
    insist(single, "needs the path 0..n and privacy that is one pair with delta 0")


def geometric_itself(mechanism: Mechanism, certificate: Any, goal: Goal | None) -> Proof:
    """The geometric mechanism, without post-processing; with the best one it serves every reader optimally."""
    insist_on_counts(mechanism)
    unread = mechanism.rows or all(answers[z] == 1 for z, answers in enumerate(mechanism.reading))
    insist(unread and goal is None, "say geometric-reading")
    return Proof(None, best_rows=list(geometric_rows(mechanism, round_up=False)) if mechanism.rows else [])


def geometric_reading(mechanism: Mechanism, certificate: Any, goal: Goal | None) -> Proof:
    """Some reading of the geometric mechanism is best, when losses never fall as the answer moves from the truth.

    The best reading answers each z that was released with the v of the smallest Σ_i weight_i·loss(i, v)·P_i(z). These
    minima add up to the smallest goal of all private mechanisms. In a worst case the weights are a prior on the
    possible inputs. No average over it exceeds the largest expected loss, so the sum is a bound there too.
    """
    insist_on_counts(mechanism)
    if goal is None:
        raise ValueError("the certificate states no loss")
    sides = ((losses[i::-1], losses[i:]) for i, losses in enumerate(goal.losses))  # each begins with the truth
    grows = all(side == sorted(side) for side in chain(*sides))
    grows = grows and goal.loss_name != "graph-distance"  # a path has a name for that: absolute
    insist(grows, "losses must grow with distance on both sides of the truth")
    powers, denominator = geometric_powers(mechanism, round_up=False)
    weights, weight_denominator = over_common_denominator(goal.weights)
    # Powers are rounded down, which lowers a sum of losses only where none is negative; so what a row has below 0 is
    # taken out of it first. As the probabilities of a row sum to 1, that adds the same to everything compared.
    lowest = [min(0, *losses) for losses in goal.losses]
    losses = [[loss - low for loss in row] for row, low in zip(goal.losses, lowest, strict=True)]
    bound = total(w * low for w, low in zip(goal.weights, lowest, strict=True))
    for z in range(len(mechanism.inputs)):
        take(8 * len(weights), denominator, weight_denominator)
        masses = [weight * powers[abs(z - i)] for i, weight in enumerate(weights)]
        smallest: Any = min(risks(goal.loss_name, masses, losses))
        bound += geometric_factor(mechanism, z) * Fraction(smallest, denominator * weight_denominator)
    return Proof(bound)


def risks(loss_name: str | None, masses: list[int], losses: list[list[Fraction]]) -> Iterable[Any]:
    """Return Σ_i mass_i·loss(i, v) for every answer v; of losses with a name from sums that take far fewer steps."""
    mass, first, second = (sum(i**k * m for i, m in enumerate(masses)) for k in range(3))
    if loss_name == "zero-one":
        return [mass - m for m in masses]
    if loss_name == "absolute":  # a step from v to v + 1 adds the mass up to v and takes off the rest
        return accumulate((2 * below - mass for below in accumulate(masses[:-1])), initial=first)
    if loss_name == "squared":  # Σ mass_i·(i − v)²
        return [second - 2 * v * first + v * v * mass for v in range(len(masses))]
    return [total(m * x for m, x in zip(masses, column, strict=True)) for column in zip(*losses, strict=True)]


def dominance(mechanism: Mechanism, certificate: Any, goal: Goal | None) -> Proof:
    """The best rows given some: no mechanism that shares these makes the first k choices likelier, at any input, any k.

    Every input ranks the outputs, best first. If an event has probability s at an input, its neighbours can give it at
    most u(s) = min(1, r·s + δ, 1 − (1 − s − δ)/r), for all pairs. So from a given row an event keeps to at most
    u applied once for every step away. The rows that reach these limits for all first k choices at once are best for
    every goal whose losses never fall along the rankings. That they are private is checked with the file's rows.
    """
    theorem, width, size = certificate["theorem"], len(mechanism.outputs), len(mechanism.inputs)
    insist(mechanism.rows, "this theorem speaks of a table, not of factors")
    if theorem == "randomized-response":
        # On a complete graph add up x_ii ≤ r·x_ji + δ over all j ≠ i, then over i: this bounds the sum of the x_ii by
        # what randomised response reaches. Its rows are thus no assumption, and the bound is on all mechanisms.
        first_itself = [[i, *range(i), *range(i + 1, width)] for i in range(width)]
        certificate = {**certificate, "rankings": first_itself, "ranking_of": list(range(width))}
        zero_one = [[Fraction(i != v) for v in range(width)] for i in range(width)]
        plain = goal is None or ({*goal.weights}, goal.losses) == ({Fraction(1, width)}, zero_one)
        complete = 1 < width == size == 1 + min(map(len, mechanism.neighbours))
        insist(complete and plain, "needs a complete graph and zero-one loss")
        # What is proven without a goal is said of "the true answer": the names must say which one that is.
        named = goal is not None or list(mechanism.inputs) == list(mechanism.outputs)
        insist(named, "outputs must be the inputs, in their order, where no goal is stated")
    rankings = read_rankings(certificate, width)
    ranking_of = [rankings[k] for k in read_ranking_of(certificate, rankings, size)]
    events = {event for line in set(map(tuple, ranking_of)) for event in accumulate((1 << v for v in line), or_)}
    few = len(events) <= max(FEW_EVENTS, MOST_PROPAGATED // size) or theorem == "randomized-response"
    insist(few, "rankings have too many different first choices")
    boundary = [i for i in range(size) if any(ranking_of[j] != ranking_of[i] for j in mechanism.neighbours[i])]
    fixed = boundary
    if theorem == "rainbow":
        listed = list_of(part(certificate, "fixed", "the certificate"), "fixed")
        fixed = [whole_number(k, "fixed", 0, size - 1) for k in listed]
    depth = smallest_reaching(mechanism, dict.fromkeys(fixed, 0), lambda steps: steps + 1, size)
    deepest = max((t for t in depth if t < size), default=0)
    step = max(sum(k.bit_length() for x in pair for k in x.as_integer_ratio()) for pair in mechanism.pairs)
    insist(deepest**2 * step <= LONGEST_PROPAGATION, "rankings reach too far from the given rows for exact numbers")
    given: dict[int, Row] = {i: mechanism.rows[i] for i in fixed}
    # The balanced row favours the first choice as randomised response does, and treats the others alike.
    lie = max((1 - delta) / (ratio + width - 1) for ratio, delta in mechanism.pairs)
    truth = 1 - (width - 1) * lie
    balanced = {i: [truth if v == ranking_of[i][0] else lie for v in range(width)] for i in boundary}
    if theorem == "balanced-line":
        distance = largest_difference((given[i] for i in boundary), (balanced[i] for i in boundary))
        insist(distance <= within(certificate, goal), "the boundary rows are not the balanced ones")
    assumed = set(given)
    if theorem == "randomized-response":
        given, assumed = dict(balanced), set()
    lines = lines_of_u(mechanism.pairs)

    one_step = cache(lambda s: u(lines, s)[0])

    @cache
    def most(event: int) -> list[Fraction]:
        """Return for every input the most that the event can have there."""
        take(4 * width * len(given))
        masses = {i: total(row[v] for v in range(width) if event >> v & 1) for i, row in given.items()}
        return smallest_reaching(mechanism, masses, one_step, Fraction(1))

    best = []
    for i, ranking in enumerate(ranking_of):
        sums = [Fraction(0), *(most(event)[i] for event in accumulate((1 << v for v in ranking), or_))]
        take(8 * width, *[max(sums, key=lambda x: x.denominator)] * 2)
        probability = {v: after - before for v, (before, after) in zip(ranking, pairwise(sums), strict=True)}
        best.append([probability[v] for v in range(width)])
        follows = goal is None or sorted(goal.losses[i]) == [goal.losses[i][v] for v in ranking]
        insist(follows, "loss must not fall along the rankings")
    bound = None if goal is None else goal_value(mechanism, goal, best.__getitem__)
    return Proof(bound, best, assumed, assumed - set(boundary))


def read_rankings(certificate: Any, width: int) -> list[list[int]]:
    """Read the orders in which inputs may like the outputs."""
    listed = list_of(part(certificate, "rankings", "the certificate"), "rankings")
    lines = [list_of(line, "an entry of rankings", width) for line in listed]
    rankings = [[whole_number(v, "rankings", 0, width - 1) for v in line] for line in lines]
    take(len(rankings) * width * width)
    insist(all(len(set(ranking)) == width for ranking in rankings), "rankings must list every output once")
    return rankings


def read_ranking_of(certificate: Any, rankings: list[list[int]], size: int) -> list[int]:
    """Read which of them is the ranking of every input."""
    listed = list_of(part(certificate, "ranking_of", "the certificate"), "ranking_of", size)
    return [whole_number(k, "ranking_of", 0, len(rankings) - 1) for k in listed]


def pullback(mechanism: Mechanism, certificate: Any, goal: Goal | None) -> Proof:
    """A mechanism that asks a query first, then answers as another one does on the query's own small graph.

    If all inputs with one query value have equally many neighbours with each other value, a mechanism on the large
    graph can be averaged over the inputs with one value. That keeps privacy and raises no goal, so what bounds the goal
    on the small graph bounds it here.
    """
    inner = read_mechanism(part(certificate, "mechanism", "the certificate"))
    insist(inner.rows and mechanism.rows, "factors cannot be pulled back")
    listed = list_of(part(certificate, "query", "the certificate"), "query", len(mechanism.inputs))
    query = [whole_number(k, "query", 0, len(inner.inputs) - 1) for k in listed]
    here, there = ((one.pairs, one.outputs) for one in (mechanism, inner))
    same = here == there and mechanism.rows == [inner.rows[k] for k in query]
    insist(same, "the inner mechanism is another one")
    around = [
        Counter(query[j] for j in near if query[j] != value)
        for value, near in zip(query, mechanism.neighbours, strict=True)
    ]
    around_value = dict(zip(query, around, strict=True))
    insist(around == [around_value[k] for k in query], "the query is not equitable")
    insist(len(around_value) == len(inner.inputs), "the query does not reach every inner input")
    edges_met = [sorted(around_value[k]) for k in range(len(inner.inputs))]
    insist(edges_met == inner.neighbours, "the query does not meet every edge")
    conclusion = conclude(inner)
    insist(not conclusion.proof.constraints, "constraints on the inner mechanism say nothing of this one")
    given, off_boundary = (
        {i for i, k in enumerate(query) if k in rows}
        for rows in (conclusion.proof.rows_given, conclusion.proof.off_boundary)
    )
    return Proof(conclusion.proof.bound, rows_given=given, off_boundary=off_boundary, inner=conclusion)


def within(certificate: Any, goal: Goal | None) -> Fraction:
    """Return how far an entry may be from the theorem's."""
    stated = number(certificate.get("within", 0), "within")
    return stated if goal else min(stated, ROUNDING)


def largest_difference(these: Iterable[Row], those: Iterable[Row]) -> Fraction:
    """Return the largest absolute difference between entries of two tables; 0 where there are none."""
    entries = chain.from_iterable(zip(a, b, strict=True) for a, b in zip(these, those, strict=True))
    return max((abs(p - q) for p, q in entries if p != q), default=Fraction(0))


# ---- The verdict on a certificate -----------------------------------------------------------------------------------


@dataclass
class Conclusion:
    """What holds of the mechanism and its goal, after everything was checked."""

    proof: Proof
    value: Fraction | None  # the goal of the rows; of factors with rounded powers an upper bound on it
    distance: Fraction | None  # how far an entry is at most from the one that a theorem says is best
    description: str
    sentence: str  # what is proven where no goal is stated
    among: str  # the scope: ALL_PRIVATE, SAME_ROWS or CONSTRAINED


def conclude(mechanism: Mechanism) -> Conclusion:
    """Check the certificate: its seal, its proof, and that the file states no more than is proven."""
    stated_certificate, objective = mechanism.document.get("certificate"), read_objective(mechanism.document)
    insist(stated_certificate is not None, "the inner mechanism has no certificate")
    certificate = object_of(stated_certificate, "certificate")
    check_seal(mechanism.document, certificate)
    kind = part(certificate, "kind", "the certificate")
    insist(kind in ("dual", "theorem"), "the certificate's kind must be dual or theorem")
    if kind == "theorem":
        kind = part(certificate, "theorem", "the certificate")
        insist(isinstance(kind, str) and kind in THEOREMS, "the certificate's theorem is not known")
    unproven = kind != "dual" and {"constraints", "constraint_multipliers"} & set(certificate)
    insist(not unproven, "constraints say something only of dual certificates")
    stated_goal = kind == "dual" or (kind != "pullback" and {"aggregate", "loss", "weights"} & set(certificate))
    take(30 * bool(mechanism.rows or stated_goal) * len(mechanism.inputs) * len(mechanism.outputs))
    goal = read_goal(mechanism, certificate) if stated_goal else None
    proof = PROOFS[kind](mechanism, certificate, goal)
    distance = None if proof.best_rows is None else largest_difference(mechanism.rows, proof.best_rows)
    insist((distance or 0) <= within(certificate, goal), "the rows are not the theorem's")
    value, description = value_and_description(mechanism, goal, proof)
    insist((objective is None) == (value is None), "an objective and the certificate's goal must come together")
    if objective is not None and value is not None and proof.bound is not None:
        stated, bound = objective
        insist(stated == value or (stated > value and not mechanism.rows), "the objective's value is another")
        insist(bound is None or bound <= proof.bound, "the lower bound is more than the certificate proves")
    among = CONSTRAINED if proof.constraints else SAME_ROWS if proof.rows_given else ALL_PRIVATE
    modest = certificate.get("among") in (None, among, *([SAME_ROWS] if among == ALL_PRIVATE else []))
    insist(modest, "the scope is wider than what the certificate proves")
    below = proof.inner.sentence if proof.inner else ""
    insist(value is not None or below not in PULLED_BACK.values(), "a pullback of a pullback needs a goal")
    sentence = PULLED_BACK.get(below, "") if proof.inner else WITHOUT_A_GOAL.get(kind, "")
    return Conclusion(proof, value, distance, description, sentence, among)


PROOFS: dict[str, Callable[[Mechanism, Any, Any], Proof]] = {
    "dual": weak_duality,
    "geometric": geometric_itself,
    "geometric-reading": geometric_reading,
    "pullback": pullback,
    **dict.fromkeys(("randomized-response", "balanced-line", "homogeneous-rainbow", "rainbow"), dominance),
}
THEOREMS = tuple(PROOFS)[1:]

FIRST_CHOICES = "at every input, and for every k, the first k choices together are as probable as in any of"

# What each theorem proves then, up to the words that name the mechanisms compared.
WITHOUT_A_GOAL = {
    "geometric": "whoever reads it well, for a loss that never falls as the answer moves away from the count, has an"
    " expected and a worst expected loss no larger than with any of",
    "randomized-response": "the mean probability of the true answer, over all inputs alike, is as large as in any of",
    **dict.fromkeys(("balanced-line", "homogeneous-rainbow", "rainbow"), FIRST_CHOICES),
}

# What is left of it above, where the proof averages over the inputs of one value. Not twice: averages of averages would
# weigh these inputs unequally.
PULLED_BACK = {
    WITHOUT_A_GOAL["geometric"]: "whoever reads it well, for a loss that never falls as the answer moves away from the"
    " value of the query, has a worst expected loss no larger, and for a prior alike on inputs of one value an expected"
    " loss no larger, than with any of",
    WITHOUT_A_GOAL["randomized-response"]: "the mean probability of the true value of the query, over its values alike,"
    " is as large as in any of",
    FIRST_CHOICES: "averaged over the inputs of any one value of the query, and for every k, the first k choices"
    " together are as probable as in any of",
}


def check_seal(document: dict[str, Any], certificate: Any) -> None:
    """Compare the digest with the SHA-256 of everything else in the file, in one fixed way of writing it."""
    unsealed = {**document, "certificate": {key: certificate[key] for key in certificate if key != "digest"}}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
    insist(is_whole(text), "the file holds half of a character, which no seal covers")
    digest = hashlib.sha256(text.encode()).hexdigest()
    insist(certificate.get("digest") == digest, "the file was changed after it was sealed")


def value_and_description(mechanism: Mechanism, goal: Goal | None, proof: Proof) -> tuple[Fraction | None, str]:
    """Return the goal of the mechanism's own rows, and the goal in words."""
    if proof.inner is not None:
        return proof.inner.value, proof.inner.description and proof.inner.description + " of the inner mechanism"
    if goal is None or proof.bound is None:
        return None, ""
    if mechanism.rows:
        return goal_value(mechanism, goal, mechanism.rows.__getitem__), describe_goal(mechanism, goal)
    return value_of_factors(mechanism, goal), describe_goal(mechanism, goal)


def value_of_factors(mechanism: Mechanism, goal: Goal) -> Fraction:
    """Return the goal of factors, rounded up: a released z costs what the answer that is read from it costs on average.

    All is counted in whole numbers, of units that are put together at the end. Powers are rounded up, which raises the
    value only where no loss is negative: hence `lowest`.
    """
    lowest: Any = min(0, *chain(*goal.losses))
    shares, share_unit = over_common_denominator(p for answers in mechanism.reading for p in answers.values())
    rest = iter(shares)
    reading = [[(answer, next(rest)) for answer in answers] for answers in mechanism.reading]
    factors, factor_unit = over_common_denominator(geometric_factor(mechanism, z) for z in range(len(reading)))
    powers, power_unit = geometric_powers(mechanism, round_up=True)

    def expected_loss(i: int) -> Fraction:
        losses, loss_unit = over_common_denominator(loss - lowest for loss in goal.losses[i])
        at_release = (sum(p * losses[answer] for answer, p in answers) for answers in reading)
        likely = powers[i:0:-1] + powers[: len(powers) - i]
        take(len(shares) + 2 * len(likely), power_unit, share_unit * loss_unit)
        numerator = sum(map(math.prod, zip(factors, likely, at_release, strict=True)))
        return Fraction(numerator, share_unit * factor_unit * power_unit * loss_unit)

    counted = 1 if goal.worst_case else total(goal.weights)
    return goal.over_inputs(expected_loss) + Fraction(lowest * counted)


# ---- What is printed ------------------------------------------------------------------------------------------------


def shown(value: Any) -> str:
    """Write a number for people: the only rounding in this file that bears on no verdict."""
    try:
        return f"{float(value):.9g}"
    except OverflowError:
        return "a number beyond 1e308"


def scope(mechanism: Mechanism, conclusion: Conclusion) -> str:
    """Say which mechanisms the bound speaks of."""
    given, size, off_boundary = map(len, (conclusion.proof.rows_given, mechanism.inputs, conclusion.proof.off_boundary))
    if not given:
        return ": ".join((conclusion.among, *filter(None, ["; ".join(conclusion.proof.constraints)])))
    rows = f"rows taken as given at {given} of {size} inputs"
    if off_boundary:
        rows += f", {off_boundary} of them not on the boundary"
    if given == size:
        rows += ": nothing is left to compare"
    return f"{conclusion.among} ({rows})"


def say(line: str) -> None:
    """Print one line. Names in the file are a stranger's: none may break the line or steer the terminal."""
    print("".join(x if x.isprintable() else x.encode("unicode_escape").decode() for x in line))


def report(mechanism: Mechanism, conclusion: Conclusion | None) -> None:
    """Print what holds."""
    edges = sum(map(len, mechanism.neighbours)) // 2 if mechanism.rows else len(mechanism.inputs) - 1
    compared = "" if edges else ", so nothing is compared"
    several = f"{len(mechanism.pairs)} pairs, from " if len(mechanism.pairs) > 1 else ""
    privacy = several + f"ratio {shown(mechanism.pairs[0][0])}, delta {shown(mechanism.pairs[0][1])}"
    privacy += f", to ratio {shown(mechanism.pairs[-1][0])}, delta {shown(mechanism.pairs[-1][1])}" if several else ""
    say(f"yes: private on every edge (inputs: {len(mechanism.inputs)}, edges: {edges}{compared}; {privacy})")
    if conclusion is None:
        unproven = "an objective is stated, and no certificate that would prove it: it was not checked"
        say(f"  optimality: {'nothing is claimed' if mechanism.document.get('objective') is None else unproven}")
        return
    if conclusion.distance is not None:
        say(f"  rows: the theorem's, of which the rest speaks, up to {shown(conclusion.distance)}")
    among = scope(mechanism, conclusion)
    value, bound = conclusion.value, conclusion.proof.bound
    if value is None or bound is None:
        say(f"  no goal is stated: {conclusion.sentence} {among}")
        return
    say(f"  goal: {conclusion.description}")
    say(f"  value {shown(value)}, at most {shown(value - bound)} above the best (bound {shown(bound)})")
    say(f"  best among: {among}")


def without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read a JSON object; one that gives a key twice could be read in two ways."""
    insist(len(dict(pairs)) == len(pairs), "a key comes twice")
    return dict(pairs)


def read_file(path: str) -> Any:
    """Read a JSON file without rounding a number."""
    try:  # a named pipe would keep whoever opens it waiting, and a device never ends
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            insist(stat.S_ISREG(os.fstat(descriptor).st_mode), NO_FILE)
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise TooLarge(f"the file has more than {LARGEST_FILE >> 20} MiB")
        text = content.decode()
    except FileNotFoundError:
        raise ValueError("there is no such file") from None
    except IsADirectoryError:
        raise ValueError(NO_FILE) from None
    except (OSError, UnicodeDecodeError):
        raise ValueError("the file cannot be read as UTF-8 text") from None
    try:
        # Decimals keep what is written; NaN and Infinity, which JSON does not have, are no numbers.
        document = json.loads(
            text,
            parse_float=lambda text: Decimal(insist_on_number(text)),
            parse_int=lambda text: int(insist_on_number(text)),
            parse_constant=insist_on_number,
            object_pairs_hook=without_repeated_keys,
        )
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("the file is not valid JSON, or nested too deep") from None
    inside = [document] if isinstance(document, (dict, list)) else []
    for _ in range(DEEPEST_FILE):
        parts = chain.from_iterable(x.values() if isinstance(x, dict) else x for x in inside)
        inside = [x for x in parts if isinstance(x, (dict, list))]
    insist(not inside, f"the file is nested more than {DEEPEST_FILE} deep")
    return document


def reason_of(problem: Exception) -> str:
    """Return the reason in a sentence; an unexpected failure is reported as one."""
    if type(problem) in (ValueError, TooLarge) and len(problem.args) == 1:
        return str(problem)
    return f"the file has a part of another form than it should ({type(problem).__name__})"


def main(path: str = "", *more: str) -> int:
    """Check one file, print the verdict and return the exit status."""
    asked = path in ("-h", "--help")
    if asked or more or not path:
        say(USAGE)
        return 0 if asked else 2
    status, work[0] = 2, 0
    try:
        document = read_file(path)
        mechanism = read_mechanism(document)
        status = 1
        check_privacy(mechanism)
        conclusion = conclude(mechanism) if document.get("certificate") is not None else None
    except (TooLarge, MemoryError) as problem:
        say(f"not checked: {reason_of(problem) if problem.args else 'there is too little memory for it'}")
        return 2
    except Exception as problem:  # whatever goes wrong, the file was not shown to hold
        say(f"{'no' if status == 1 else 'not a mechanism file'}: {reason_of(problem)}")
        return status
    report(mechanism, conclusion)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
