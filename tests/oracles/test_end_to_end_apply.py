"""The proof by exhaustion for mechanism files: every table of at most four records, every neighbour, exactly.

As in `test_end_to_end_privacy.py`, each table goes the whole way through the engine to the rows that are drawn from.
The files are designed here, or written by hand; bugs are planted in what checks them and in what maps tables to nodes.
"""

import json
from dataclasses import replace
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from irisdp import BadInput, Privacy, audit, design, plan
from irisdp._exact import exp_below
from irisdp._measurements import PlacedNodes
from irisdp._queries import apply
from irisdp._queries.apply import Apply
from irisdp._release.pipeline import read_statistics
from irisdp.mechanisms import read_document
from support.closeness import over_one_denominator
from support.exhaustion import (
    LOTS,
    MODES,
    RECORDS,
    cells_read,
    engine_once,
    frame,
    joint_law,
    neighbours,
    opened,
    personal_neighbours,
    tables,
    worst_delta,
)

__all__ = ["engine_once"]

PAIR = {"ratio": 2, "delta": "1/10"}
PURE = {"ratio": 2}
HISTOGRAMS = {"family": "histograms", "total": 3, "types": 3}
SORTED = {"family": "sorted_histograms", "total": 3, "types": 3}
THREE = ["0", "1", "2"]
TWO = ["1", "0"]


def gaps(categories, largest, relation):
    return {"family": "gaps", "categories": categories, "largest": largest, "relation": relation}


def plurality(relation, privacy=PURE):
    return {"kind": "plurality", "categories": 3, "largest": 3, "relation": relation, "privacy": privacy}


SPECS = {
    "consumer": {"kind": "consumer", "n": 2, "loss": "absolute", "privacy": PURE},
    "geometric": {"kind": "geometric", "n": 3, "privacy": PURE},
    "binary": {
        "kind": "binary", "privacy": PAIR, "boundary": "balanced",
        "graph": {"family": "path", "n": 5}, "colors": {"0": "few", "1": "few", "2": "many", "3": "many", "4": "many"},
    },
    "two pairs": {
        "kind": "binary", "privacy": {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/50"}]}, "boundary": "balanced",
        "graph": {"edges": [[1, 0], [2, 1]], "nodes": [2, 0, 1]}, "colors": {"0": "none", "1": "some", "2": "some"},
    },
    "winner": plurality("add-remove"),
    "exchanged winner": plurality("exchange"),
    "histogram": {"kind": "distance", "graph": HISTOGRAMS, "privacy": PURE},
    "sizes": {"kind": "exponential", "graph": SORTED, "privacy": PURE},
}  # fmt: skip
ABOUT = {
    **dict.fromkeys(("consumer", "geometric", "binary", "two pairs"), ("v = 1", {})),
    **dict.fromkeys(("winner", "exchanged winner"), ("v", {"categories": THREE})),
    **dict.fromkeys(("histogram", "sizes"), ("v", {"categories": TWO})),
}
ASKED = [
    *(("consumer", mode, relation) for mode in MODES for relation in ("add-remove", "exchange") if mode != "public"),
    ("consumer", "public", "exchange"),
    *((name, mode, "add-remove") for name in ("binary", "geometric", "two pairs") for mode in ("whole", "selected")),
    *((name, mode, "exchange") for name in ("binary", "two pairs") for mode in ("declared", "public")),
    *(("winner", mode, "add-remove") for mode in ("whole", "declared", "selected")),
    ("winner", "declared", "exchange"),
    ("exchanged winner", "whole", "exchange"),
    ("exchanged winner", "public", "exchange"),
    ("histogram", "whole", "exchange"),
    ("sizes", "whole", "exchange"),
]


@cache
def designed(name):
    return design.from_spec(SPECS[name]).to_document()


@pytest.fixture
def files(tmp_path):
    """Write a mechanism file by the name of its spec, or from a document."""

    def written(name, document=None):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(designed(name) if document is None else document))
        return str(path)

    return written


def sized(pairs, name):
    """Pairs of tables that the file can answer about: histograms are of three records."""
    graph = designed(name).get("graph", {})
    return [pair for pair in pairs if "total" not in graph or len(pair[0]) == graph["total"]]


def violations(path, name, options, pairs, key=LOTS[0], end=None):
    """Count neighbours whose exact laws are not close at the cost charged; also return how many were compared."""
    about, chosen = ABOUT[name]
    laws, numbers, wrong, pairs = {}, {}, 0, sized(pairs, name)  # tables of one law have one number
    # The file is read, and audited, once: the plan is the same for every table, as a test below compares.
    planned = plan(frame(()), "apply", path, about, **chosen, **options)
    ratio, compared, of_cells = exp_below(planned.cost.epsilon), {}, {}
    for pair in pairs:
        for table in pair:
            if table not in laws:
                one = opened(table).deriving(planned.table.derived)
                cells = read_statistics(replace(planned, table=one), key)
                # What is drawn knows of the table what was read of it, and no more: the same cells have one law.
                read = cells_read(cells)
                if read not in of_cells:
                    law = joint_law(planned, cells)
                    assert sum(law.values()) == 1
                    number = numbers.setdefault(frozenset(law.items()), len(numbers))
                    of_cells[read] = number, over_one_denominator(law)
                laws[table] = of_cells[read]
        (first, here), (second, there) = (laws[table] for table in pair)
        if (first, second) not in compared:
            compared[first, second] = worst_delta(here, there, ratio) > planned.cost.delta
        wrong += compared[first, second]
        if wrong and end == "first":
            return wrong, len(pairs)
    return wrong, len(pairs)


def caught(path, name, options, pairs):
    small_first = sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair)))
    return violations(path, name, options, small_first, end="first")[0] > 0


def options_of(mode, relation, name):
    charged = {"delta": "1/50"} if name == "two pairs" else {}
    selection = {"selection_epsilon": "1/2"} if mode == "selected" and name == "two pairs" else {}
    return {**MODES[mode], **charged, **selection, "relation": relation}


@pytest.mark.parametrize(("name", "mode", "relation"), ASKED)
@pytest.mark.usefixtures("engine_once")
def test_a_plan_is_the_same_for_every_table(name, mode, relation, files):
    """So the tests below plan once, and let every table be read for that plan."""
    about, chosen = ABOUT[name]
    asked = files(name), about
    options = {**chosen, **options_of(mode, relation, name)}
    plans = [plan(frame(table), "apply", *asked, **options) for table in [*tables(RECORDS, 1), RECORDS[2:]]]
    assert len({(plan.question(), plan.cost, str(plan.price), str(plan.audiences)) for plan in plans}) == 1


@pytest.mark.parametrize(("name", "mode", "relation"), ASKED)
@pytest.mark.usefixtures("engine_once")
def test_no_neighbours_can_be_told_apart(name, mode, relation, files):
    pairs = some(neighbours(relation, "public" if mode == "public" else "any"))
    wrong, compared = violations(files(name), name, options_of(mode, relation, name), pairs)
    assert compared >= 40
    assert wrong == 0


def some(pairs):
    """All pairs of tables of up to three records, and every fifth of the larger ones."""
    listed = sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), str(pair)))
    small = [pair for pair in listed if max(map(len, pair)) <= 3]
    return small + [pair for pair in listed if max(map(len, pair)) > 3][::5]


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.usefixtures("engine_once")
def test_no_person_can_be_told_apart(relation, files):
    options = {**MODES["declared"], "relation": relation, "unit": "u", "at_most": 1}
    pairs = sorted(personal_neighbours(relation), key=str)[::3]
    wrong, compared = violations(files("consumer"), "consumer", options, pairs, LOTS[1])
    assert compared > 100
    assert wrong == 0


# Planted bugs.


def planted_places(monkeypatch, change):
    real = Apply.nodes
    monkeypatch.setattr(
        Apply, "nodes", lambda self, statistics, relation: PlacedNodes(change(real(self, statistics, relation).places))
    )


BUGS = {
    "the row of the count twice": lambda places: np.minimum(2 * places, 2),
    "one row too far": lambda places: np.where(places > 0, np.minimum(places + 1, 2), places),
    "another cell's row as well": lambda places: np.minimum(places + places[::-1], 2),
}


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.usefixtures("engine_once")
def test_wrong_rows_are_caught(bug, files, monkeypatch):
    planted_places(monkeypatch, BUGS[bug])
    mode = "declared" if "cell" in bug else "whole"
    assert caught(
        files("consumer"), "consumer", options_of(mode, "add-remove", "consumer"), neighbours("add-remove", "any")
    )


@pytest.mark.usefixtures("engine_once")
def test_a_file_that_was_not_audited_is_caught(files, monkeypatch):
    """Planted: a file that promises a ratio of 2 and keeps 3 is refused, and without the audit the proof finds it."""
    lying = {**design.from_spec({**SPECS["consumer"], "privacy": {"ratio": 3}}).to_document(), "privacy": PURE}
    lying = {key: value for key, value in lying.items() if key not in ("certificate", "objective")}
    path = files("lying", lying)
    with pytest.raises(BadInput, match="not as private"):
        plan(frame(()), "apply", path, "v = 1")
    monkeypatch.setattr(apply, "check_private", lambda mechanism, graph: None)
    assert caught(path, "consumer", {"relation": "add-remove"}, neighbours("add-remove", "any"))


def exchanged_only():
    """A mechanism over gaps that is private where records are exchanged, and not where one is in no category."""
    graph = gaps(3, 3, "exchange")
    found = design.from_spec({"kind": "exponential", "graph": graph, "privacy": PURE})
    document = {key: value for key, value in found.to_document().items() if key not in ("certificate", "objective")}
    return {**document, "outputs": list(range(len(document["outputs"])))}


@pytest.mark.usefixtures("engine_once")
def test_gaps_of_exchanged_records_must_be_private_for_records_in_no_category_too(files, monkeypatch):
    document = exchanged_only()
    assert audit(read_document(document)).private
    path = files("exchanged", document)
    with pytest.raises(BadInput, match="not as private"):
        plan(frame(()), "apply", path, "v", categories=THREE, relation="exchange")
    monkeypatch.setattr(apply, "check_private", lambda mechanism, graph: None)
    assert caught(path, "exchanged winner", {"relation": "exchange"}, neighbours("exchange", "any"))


@pytest.mark.usefixtures("engine_once")
def test_the_wrong_relation_is_caught(files, monkeypatch):
    path = files("exchanged", exchanged_only())
    with pytest.raises(BadInput, match="is for neighbours by exchange"):
        plan(frame(()), "apply", path, "v", categories=THREE)
    monkeypatch.setattr(apply, "_check_relation", lambda checked, relation: None)
    assert caught(path, "winner", {"relation": "add-remove"}, neighbours("add-remove", "any"))


@pytest.mark.usefixtures("engine_once")
def test_an_exchange_within_a_cell_taken_for_one_step_is_caught(files, monkeypatch):
    """Of gaps it takes two where a cell sees records come and go: with a δ, that costs more than two cells do."""
    document = response_to_gaps()
    path = files("response", document)
    options = {**MODES["declared"], "relation": "exchange"}
    pairs = some(neighbours("exchange", "any"))
    assert violations(path, "winner", options, pairs)[0] == 0
    monkeypatch.setattr(Apply, "exchange_steps", 1)
    assert caught(path, "winner", options, pairs)


def response_to_gaps():
    """Rows that are as far apart, two steps away, as group privacy lets them be."""
    start = F(0)
    steps = [start]
    for _ in range(8):
        steps.append(min(2 * steps[-1] + F(1, 10), 1 - (1 - steps[-1] - F(1, 10)) / 2, F(1)))
    document = {"privacy": PAIR, "graph": gaps(3, 3, "add-remove"), "outputs": ["one", "other"]}
    graph = apply.Gaps(3, 3, "add-remove")
    far = graph.distances_from(graph.index_of((0, 3, 3)))
    rows = [[str(steps[int(d)]), str(1 - steps[int(d)])] for d in far]
    return {**document, "inputs": [list(node) for node in graph.nodes], "matrix": rows}


def test_privacy_is_what_the_file_keeps(files):
    planned = plan(frame(()), "apply", files("binary"), "v = 1")
    assert planned.audiences[0].mechanism.privacy == Privacy(ratio=2, delta="1/10")
    assert planned.cost.delta == F(1, 10)
