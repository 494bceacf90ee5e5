"""Graphs and colours as people paste them: what each line means, and one clear line for what means nothing."""

import json
import time

import pytest

from irisdp import BadInput
from irisdp._explorer.graph_input import MOST_EDGES, MOST_NODES, at_nodes, counted, graph_of_text
from irisdp.graphs import Hamming, Histograms, Path, graph_from_document


def edges(text):
    document, _ = graph_of_text(text)
    return {frozenset(map(str, pair)) for pair in document["edges"]}


SQUARE = {frozenset(pair) for pair in ("ab", "bc", "cd", "ad")}


@pytest.mark.parametrize("text", [
    "a b\nb c\nc d\nd a",
    "a,b\r\nb, c\r\nc ;d\r\nd\ta\r\n",
    "a -- b -- c -- d -- a",
    "a->b\nb->c\nc--d\nd--a",
    "a: b d\nc: b, d",
    "# a square\n  a b   # first\n\nb c\nc d\n#end\nd a",
    '"a" b\nb "c"\nc d\nd a',
    '{"edges": [["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]}',
    '[["a", "b"], ["b", "c"], ["c", "d"], ["d", "a"]]',
    '{"a": ["b", "d"], "c": ["b", "d"]}',
])  # fmt: skip
def test_each_form_is_the_same_square(text):
    assert edges(text) == SQUARE
    assert graph_from_document(graph_of_text(text)[0]).number_of_edges == 4


def test_whole_numbers_are_numbers_where_all_are():
    assert graph_of_text("2 1\n1 0")[0] == {"nodes": [0, 1, 2], "edges": [[2, 1], [1, 0]]}
    assert graph_of_text("1-2\n2-3")[0]["edges"] == [[1, 2], [2, 3]]
    assert graph_of_text("000 001\n001 101\n100 101")[0]["nodes"] == ["000", "001", "101", "100"]
    assert graph_of_text('"1" 2')[0]["nodes"] == ["1", "2"]
    assert graph_of_text('{"0": [1], "1": [2]}')[0]["nodes"] == ["0", "1", "2"]


def test_nodes_alone_and_names_with_anything():
    document, _ = graph_of_text('a b\nc\n"</script> \\u202e\\n" a\n"a b": "#1"')
    assert document["nodes"] == ["a", "b", "c", "</script> \u202e\n", "a b", "#1"]
    assert graph_from_document(document).number_of_nodes == 6


def test_loops_are_left_out_and_said_so():
    document, noticed = graph_of_text("a a\na b\nb b")
    assert document["edges"] == [["a", "b"]]
    assert noticed == ("2 edges join a node to itself, which says nothing of neighbours: left out.",)
    assert "left out" in graph_of_text('[["a", "a"], ["a", "b"]]')[1][0]
    assert graph_of_text("a b")[1] == ()


@pytest.mark.parametrize(("text", "said"), [
    ("", "graph: is empty"),
    (" \n# nothing\n", "graph: holds no edge"),
    ("a b c", "line 1 is not an edge"),
    ("a b\n, c", "line 2 is not an edge"),
    ("a -- ", "line 1 is not an edge"),
    ("a: b -- c", "line 1 is not a node and its neighbours"),
    (": b", "line 1 is not an edge"),
    ('a "b', "line 1 has a quote that is not closed"),
    ('a "\\q"', "line 1 has a name that JSON cannot read"),
    ("{", "is not valid JSON at line 1"),
    ('{"edges": [[NaN, 1]]}', "holds NaN"),
    ('{"edges": 3, "a": 1}', "graph: has an unknown key a"),
    ('{"edges": [[1.5, 2]]}', "named by a string"),
    ('{"edges": [[1]]}', "must be pairs"),
    ('{"a": 1}', "is no graph in JSON"),
    ("[1, 2]", "must be pairs"),
    ('{"kind": "geometric"}', "is a spec or a mechanism file"),
    ('{"family": "path", "n": 1000001}', "more than 2,000 nodes"),
    ('{"family": "path", "n": 1e30}', "graph"),
    ('{"family": "nothing", "n": 3}', "graph.family: is unknown"),
    ("[" * 100_000, "graph: is not valid JSON"),
    ('"\\ud800" a', "whole characters"),
])  # fmt: skip
def test_what_is_no_graph_gets_one_line(text, said):
    with pytest.raises(BadInput) as caught:
        counted(graph_of_text(text)[0])
    assert said in str(caught.value) or said in f"graph: {caught.value}"
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [
    "\n".join(f"{k} {k + 1}" for k in range(100_000)),
    "0: " + " ".join(map(str, range(1, 150_000))),
    json.dumps({"edges": [[k, k + 1] for k in range(60_000)]}),
    json.dumps({"nodes": list(range(100_000)), "edges": []}),
    json.dumps({str(k): [] for k in range(50_000)}),
    "a " * 400_000,
    "\n" * 1_000_000,
])  # fmt: skip
def test_large_pastes_take_bounded_work(text):
    start = time.process_time()
    with pytest.raises(BadInput):
        counted(graph_of_text(text)[0])
    assert time.process_time() - start < 20


def test_the_largest_that_is_shown():
    whole, _ = graph_of_text("\n".join(f"{k} {k + 1}" for k in range(MOST_NODES - 1)))
    assert counted(whole).number_of_nodes == MOST_NODES
    assert MOST_EDGES >= MOST_NODES


def test_colours_by_node_range_and_rest():
    assert at_nodes("0..2: no\n3: yes\n*: unsure", Path(6), "colors") == {
        **dict.fromkeys("012", "no"),
        "3": "yes",
        **dict.fromkeys("45", "unsure"),
    }
    assert at_nodes('{"0": "a"}', Path(1), "colors") == {"0": "a"}
    assert at_nodes("a b\nb, a", Path(4), "colors") == {"0": "a", "1": "b", "2": "b", "3": "a"}
    assert at_nodes("*: 1\n111: 0", Hamming(3, 2), "colors")["111"] == 0
    assert at_nodes('"[0, 2]": "two words"\n*: b', Histograms(2, 2), "colors") == {
        "[0, 2]": "two words",
        "[1, 1]": "b",
        "[2, 0]": "b",
    }


def test_rankings():
    assert at_nodes("0: x > y > z\n*: z>y>x", Path(2), "rankings", ranked=True) == {
        "0": ["x", "y", "z"],
        "1": ["z", "y", "x"],
    }
    assert at_nodes("1 > 2\n2 > 1", Path(2), "rankings", ranked=True) == {"0": [1, 2], "1": [2, 1]}


@pytest.mark.parametrize(("text", "said"), [
    ("", "colors: are missing"),
    ("a b", "are 2, and the graph has 3 nodes"),
    ("0: a b", "line 1 has no value, or more than one"),
    ("0: a\n0: b", "line 2 names a node a second time"),
    ("0: a\n0..2: b", "line 2 names a node a second time"),
    ("0: a\nb", "line 2 is not of the form"),
    ("*: a\n*: b", "say twice"),
    ("0:", "line 1 is not of the form"),
    ("{", "is not valid JSON"),
    ("a > b", "line 1 is not a list of values"),
])  # fmt: skip
def test_what_is_no_colouring_gets_one_line(text, said):
    with pytest.raises(BadInput, match=said):
        at_nodes(text, Path(3), "colors")
