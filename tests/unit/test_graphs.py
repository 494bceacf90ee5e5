"""Graphs: what the objects answer, and which input is refused, by name and without repeating what may be private."""

import json
from collections import deque

import duckdb
import narwhals as nw
import networkx as nx
import numpy as np
import polars
import pytest

from irisdp import BadInput, graphs
from irisdp.graphs import depth
from support.seeds import fresh_generator, fresh_random


def refuses(message):
    return pytest.raises(BadInput, match=f"^{message}")


FAMILY_DOCUMENTS = [
    ({"family": "path", "n": 4}, graphs.Path(4)),
    ({"family": "cycle", "n": 5}, graphs.Cycle(5)),
    ({"family": "complete", "n": 3}, graphs.Complete(3)),
    ({"family": "hamming", "length": 3, "symbols": 2}, graphs.Hamming(3, 2)),
    ({"family": "histograms", "total": 4, "types": 3}, graphs.Histograms(4, 3)),
    ({"family": "sorted_histograms", "total": 4, "types": 3}, graphs.SortedHistograms(4, 3)),
    ({"family": "gaps", "categories": 3, "largest": 4, "relation": "exchange"}, graphs.Gaps(3, 4)),
    ({"family": "gaps", "categories": 2, "largest": 1, "relation": "add-remove"}, graphs.Gaps(2, 1, "add-remove")),
]


@pytest.mark.parametrize(("document", "graph"), FAMILY_DOCUMENTS)
def test_documents_of_families(document, graph):
    assert graphs.graph_from_document(document) == graph
    assert graph.to_document() == document


def test_documents_of_explicit_graphs():
    document = {"nodes": ["c", "a", 3, [1, [2, "x"]]], "edges": [["a", "c"], [[1, [2, "x"]], 3], ["c", "a"], [3, 3]]}
    graph = graphs.graph_from_document(document)
    assert graph.nodes[:] == ("c", "a", 3, (1, (2, "x")))
    assert graph.to_document() == {"nodes": document["nodes"], "edges": [["c", "a"], [3, [1, [2, "x"]]]]}
    assert graphs.graph_from_document({"edges": [[5, 3], [3, 1]]}).nodes[:] == (1, 3, 5)
    assert graphs.graph_from_document({"edges": [["b", 3], [3, "a"]]}).nodes[:] == ("b", 3, "a")
    assert graphs.graph_from_document({"nodes": ["alone"], "edges": []}).number_of_edges == 0


def nested(depth):
    return [nested(depth - 1)] if depth else []


BAD_DOCUMENTS = [
    ([], "graph: must be a JSON object"),
    ({}, "graph: needs edges"),
    ({"nodes": ["a"]}, "graph: needs edges"),
    ({"edges": []}, "nodes: must name at least one node"),
    ({"nodes": [], "edges": []}, "nodes: must name at least one node"),
    ({"edges": None}, "graph.edges: must be a list"),
    ({"edges": "ab"}, "graph.edges: must be a list"),
    ({"nodes": 3, "edges": []}, "graph.nodes: must be a list"),
    ({"edges": [["a"]]}, "edges: must be pairs"),
    ({"edges": [["a", "b", "c"]]}, "edges: must be pairs"),
    ({"edges": ["ab"]}, "edges: must be pairs"),
    ({"edges": [["a", 1.5]]}, "edges: must be named by a string, an integer or a list"),
    ({"edges": [["a", True]]}, "edges: must be named by a string, an integer or a list"),
    ({"edges": [["a", None]]}, "edges: must be named by a string, an integer or a list"),
    ({"edges": [["a", {}]]}, "edges: must be named by a string, an integer or a list"),
    ({"edges": [["a", nested(40)]]}, "edges: must be named by a string, an integer or a list"),
    ({"nodes": ["a", "b"], "edges": [["a", "z"]]}, "edges: name z, which is not among the nodes"),
    ({"nodes": ["1"], "edges": [["1", 1]]}, "edges: name 1, which is not among the nodes"),
    ({"nodes": ["a", "b", "a"], "edges": []}, 'nodes: names "a" twice'),
    ({"nodes": [[1, 2], [1, 2]], "edges": []}, r"nodes: names \[1, 2\] twice"),
    ({"nodes": [True], "edges": []}, "nodes: must be named by a string"),
    ({"edges": [["a", "b"]], "directed": True}, "graph: has an unknown key directed"),
    ({"family": "torus", "n": 3}, "graph.family: is unknown; choose one of path, cycle"),
    ({"family": ["path"], "n": 3}, "graph.family: is unknown"),
    ({"family": "path"}, "graph: needs n"),
    ({"family": "hamming", "length": 3}, "graph: needs symbols"),
    ({"family": "path", "n": 3, "edges": []}, "graph: has an unknown key edges"),
    ({"family": "path", "n": -1}, "n: must be at least 1"),
    ({"family": "path", "n": 0}, "n: must be at least 1"),
    ({"family": "path", "n": 2.5}, "n: must be a whole number"),
    ({"family": "path", "n": True}, "n: must be a number, not true or false"),
    ({"family": "path", "n": "many"}, "n: must be a whole number"),
    ({"family": "path", "n": [3]}, "n: must be a number, not list"),
    ({"family": "cycle", "n": 10**30}, "n: must be at least 1 and at most"),
    ({"family": "hamming", "length": 0, "symbols": 2}, "length: must be at least 1"),
    ({"family": "hamming", "length": 2, "symbols": -2}, "symbols: must be at least 1"),
    ({"family": "hamming", "length": 63, "symbols": 2}, "length: must be at most 62"),
    ({"family": "hamming", "length": 10**15, "symbols": 10**15}, "length: must be at most 62"),
    ({"family": "histograms", "total": -1, "types": 2}, "total: must be at least 0"),
    ({"family": "histograms", "total": 3, "types": 0}, "types: must be at least 1"),
    ({"family": "histograms", "total": 100, "types": 100}, "total: is too large with that many types"),
    ({"family": "histograms", "total": 10**12, "types": 2}, "total: is too large with that many types"),
    ({"family": "sorted_histograms", "total": 1000, "types": 1000}, "total: is too large with that many types"),
    ({"family": "sorted_histograms", "total": 10**15, "types": 3}, "total: is too large with that many types"),
    ({"family": "sorted_histograms", "total": 3, "types": 10**9}, "types: must be at least 1 and at most 1000"),
    ({"family": "gaps", "categories": 3, "largest": 4}, "graph: needs relation"),
    ({"family": "gaps", "categories": 3, "largest": 4, "relation": "swap"}, "relation: must be exchange or add-remove"),
    ({"family": "gaps", "categories": 3, "largest": 4, "relation": [1]}, "relation: must be exchange or add-remove"),
    ({"family": "gaps", "categories": 0, "largest": 4, "relation": "exchange"}, "categories: must be at least 1"),
    ({"family": "gaps", "categories": 3, "largest": 0, "relation": "exchange"}, "largest: must be at least 1"),
    ({"family": "gaps", "categories": 10**9, "largest": 1, "relation": "exchange"}, "categories: must be at least 1"),
    ({"family": "gaps", "categories": 20, "largest": 1, "relation": "exchange"}, "largest: makes too many nodes"),
    ({"family": "gaps", "categories": 3, "largest": 600, "relation": "exchange"}, "largest: makes too many nodes"),
    ({"family": "gaps", "categories": 2, "largest": 10**12, "relation": "exchange"}, "largest: must be at least 1"),
]


@pytest.mark.parametrize(("document", "message"), BAD_DOCUMENTS, ids=str)
def test_bad_documents_are_refused_in_one_line(document, message):
    with refuses(message) as refused:
        graphs.graph_from_document(document)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "graph", [graphs.Path(2**40), graphs.Complete(10**6), graphs.Hamming(40, 2), graphs.Histograms(100, 9)]
)
def test_what_cannot_be_listed_says_so_before_it_tries(graph):
    with refuses("graph: has more than 268435456 nodes or edges"):
        graphs.listed(graph)


def test_edges_of_a_graph_that_cannot_be_listed_still_stream():
    for graph in (
        graphs.Path(2**40),
        graphs.Hamming(40, 2),
        graphs.Histograms(100, 9),
        graphs.Product((graphs.Path(10**6), graphs.Cycle(10**6))),
    ):
        tails, heads = next(chunk for chunk in graph.edges() if len(chunk[0]))
        assert len(tails) <= 1 << 16
        assert graph.adjacent(tails, heads).all()


def test_names_of_words():
    assert graphs.Hamming(2, 3).nodes[:4] == ("00", "01", "02", "10")
    large = graphs.Hamming(2, 12)
    assert large.nodes[23] == "1,11"
    assert large.index_of("1,11") == 23
    for wrong in ("111", "1,12", "01,1", "1,+1", "1,1,1", "1", "٣,1", (1, 11), 23):
        with refuses("node: is not a node of the graph"):
            large.index_of(wrong)


@pytest.mark.parametrize(("graph", "wrong"), [
    (graphs.Path(3), [3, -1, "1", True, 1.0, (1,), None, [1]]),
    (graphs.Hamming(2, 2), ["0", "000", "02", 0, ("0", "0")]),
    (graphs.Histograms(2, 2), [(1, 2), (2,), (3, -1), (True, True), (1.0, 1.0), "[1, 1]", [1, 1]]),
    (graphs.SortedHistograms(3, 2), [(1, 2), (3,), (2, 1, 0)]),
    (graphs.Product((graphs.Path(2), graphs.Path(2))), [(0, 2), (0,), 0, (0, 0, 0)]),
    (graphs.graph_from_edges([["a", 1]]), ["b", 2, True, 1.0, ["a"]]),
])  # fmt: skip
def test_what_is_not_a_node_is_refused_without_repeating_it(graph, wrong):
    for node in wrong:
        assert node not in graph.nodes
        with refuses("node: is not a node of the graph; name one of the graph's nodes$"):
            graph.index_of(node)


def test_nodes_are_a_sequence():
    for graph in (
        graphs.Path(5),
        graphs.Hamming(2, 2),
        graphs.Histograms(2, 2),
        graphs.graph_from_edges([["a", "b"], ["b", "c"]]),
    ):
        nodes = graph.nodes
        assert len(nodes) == graph.number_of_nodes == len(list(nodes))
        assert nodes[-1] == list(nodes)[-1]
        assert nodes[1:] == tuple(nodes)[1:]
        assert list(reversed(nodes)) == list(nodes)[::-1]
        with pytest.raises(IndexError):
            nodes[len(nodes)]
        for index in (-1 - len(nodes), len(nodes)):
            with pytest.raises(IndexError):
                graph.neighbours(index)
            with pytest.raises(IndexError):
                graph.distances_from(index)
    assert repr(graphs.Path(9).nodes) == "<9 nodes: 0, 1, 2, 3, …>"
    assert repr(graphs.graph_from_edges([["a", "b"]])) == "<Graph of 2 nodes and 1 edge>"


def test_graphs_do_not_change():
    graph = graphs.graph_from_edges([["a", "b"]])
    with pytest.raises(ValueError, match="read-only"):
        graph.indices[0] = 0
    with pytest.raises(AttributeError):
        graphs.Path(3).n = 4


@pytest.mark.parametrize(("build", "message"), [
    (lambda: graphs.graph_from_arrays([0, 1], [1]), "tails: must be as many as heads"),
    (lambda: graphs.graph_from_arrays([0.5], [1]), "tails: must be one column of integers"),
    (lambda: graphs.graph_from_arrays([True], [1]), "tails: must be one column of integers"),
    (lambda: graphs.graph_from_arrays([[1]], [1]), "tails: must be one column of integers"),
    (lambda: graphs.graph_from_arrays(np.array([2**63], np.uint64), [1]), "tails: must be one column of integers"),
    (lambda: graphs.graph_from_arrays([0], [2], nodes=range(2)), "edges: must be positions among the nodes"),
    (lambda: graphs.graph_from_arrays([-1], [1], nodes="ab"), "edges: must be positions among the nodes"),
    (lambda: graphs.graph_from_arrays([], []), "nodes: must be given when there are no edges"),
    (lambda: graphs.graph_from_arrays([], [], nodes=range(0)), "nodes: must name at least one node"),
    (lambda: graphs.graph_from_arrays([0], [1], nodes=range(2**40)), "nodes: must be at most 268435456"),
    (lambda: graphs.graph_from_arrays([0], [1], nodes=2), "nodes: must be a sequence, not int"),
    (lambda: graphs.graph_from_networkx(nx.Graph([(1.5, "a")])), "edges: must be named by a string"),
    (lambda: graphs.Product(()), "factors: must be one graph or more"),
    (lambda: graphs.Product((graphs.Path(2**40), graphs.Path(2**40))), "factors: must be one graph or more"),
    (lambda: graphs.line(0, 3), "n_blue: must be at least 1"),
    (lambda: graphs.line(2, 2.5), "n_red: must be a whole number"),
])  # fmt: skip
def test_bad_input_of_other_constructors(build, message):
    with refuses(message):
        build()


def test_bad_frames_and_matrices():
    import polars
    import scipy.sparse

    with refuses("edges: must have two columns"):
        graphs.graph_from_frame(polars.DataFrame({"a": [1]}))
    with refuses("edges: must have two columns, and the frame has 3"):
        graphs.graph_from_frame(polars.DataFrame({"a": ["x"], "b": ["z"], "weight": [2.0]}))
    with refuses("edges: must not have missing values"):
        graphs.graph_from_frame(polars.DataFrame({"a": [1, None], "b": [2, 3]}))
    with refuses("matrix: must be square"):
        graphs.graph_from_sparse(scipy.sparse.csr_array((2, 3)))
    with_zero = scipy.sparse.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert graphs.graph_from_sparse(with_zero).number_of_edges == 1


def test_boundary_nodes_are_the_marked_ones_by_name():
    ranked = graphs.rank(graphs.Hamming(2, 3), lambda word: ("0", "1", "2") if word < "11" else ("2", "1", "0"))
    named = graphs.boundary_nodes(ranked)
    assert [ranked.graph.index_of(node) for node in named] == np.flatnonzero(graphs.boundary(ranked)).tolist()
    halves = [graphs.boundary_nodes(ranked, ranking) for ranking in ranked.rankings]
    assert sorted(halves[0] + halves[1]) == sorted(named)
    assert graphs.boundary_nodes(ranked, ["0", "1", "2"]) == halves[0]
    assert graphs.boundary_nodes(graphs.colour(graphs.Path(3), "aaa")) == ()
    with refuses("colour: is the colour of no node"):
        graphs.boundary_nodes(ranked, "0")


def test_edges_may_be_a_set_and_names_the_keys_of_a_mapping():
    named = dict.fromkeys("abc", 1)
    graph = graphs.graph_from_edges({("a", "b"), ("b", "c")}, nodes=named.keys())
    assert (tuple(graph.nodes), graph.number_of_edges) == (("a", "b", "c"), 2)


def test_networks_lose_neither_weights_nor_directions_silently():
    import scipy.sparse

    mutual = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)])
    alike = nx.MultiGraph([(0, 1, {"weight": 1.0}), (1, 0), (1, 2), (2, 2)])
    alike.add_node(3)
    assert graphs.graph_from_networkx(mutual).number_of_edges == 2
    merged = graphs.graph_from_networkx(alike)
    assert (merged.number_of_nodes, merged.number_of_edges) == (4, 2)
    with refuses("graph: has an edge from 1 to 2 and none back"):
        graphs.graph_from_networkx(nx.MultiDiGraph([(0, 1), (1, 0), (1, 2)]))
    for kind in (nx.Graph, nx.MultiGraph, nx.DiGraph):
        weighted = kind([(0, 1, {"weight": 0.25}), (1, 0, {"weight": 0.25})])
        with refuses("graph: has weights"):
            graphs.graph_from_networkx(weighted)
        with refuses("matrix: has weights"):
            graphs.graph_from_sparse(nx.to_scipy_sparse_array(weighted))
    with refuses("matrix: is not symmetric"):
        graphs.graph_from_sparse(scipy.sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 0, 0]]))
    assert graphs.graph_from_sparse(scipy.sparse.csr_array([[0, 0, 0], [1, 1, 0], [0, 1, 0]])).number_of_edges == 2


def test_keys_of_json_objects():
    mixed = graphs.graph_from_edges([["3", "[1]"], [4, "a"], [(1, 2), "x"]])
    assert [graphs.node_from_key(mixed, key) for key in ("3", "4", "[1]", "[1,2]", "[1, 2]", 4, [1, 2])] == [
        *("3", 4, "[1]", (1, 2), (1, 2), 4, (1, 2))
    ]
    assert all(graphs.node_from_key(mixed, graphs.key_of_node(node)) == node for node in mixed.nodes)
    both = graphs.graph_from_edges([["3", 3], [(1,), "[1]"]])
    for key in ("3", "[1]"):
        with refuses("node: could mean two nodes"):
            graphs.node_from_key(both, key)
    for key in ("5", "04", "+4", " 4", "4.0", "[1, 2", "[1.0, 2]", "", "[" * 100_000, "9" * 5000):
        with refuses("node: is not a node of the graph"):
            graphs.node_from_key(mixed, key)
    with refuses("node: must be named by"):
        graphs.node_from_key(mixed, 4.0)


def test_colours_by_key():
    document = json.loads('{"[2, 0]": "blue", "[1, 1]": "red", "[0, 2]": "red"}')
    coloured = graphs.colour(graphs.Histograms(2, 2), graphs.colours_by_key(graphs.Histograms(2, 2), document))
    assert coloured.classes == ("blue", "red")
    assert coloured.codes.tolist() == [0, 1, 1]
    assert coloured.colour_of((1, 1)) == "red"
    assert coloured.in_class("red").tolist() == [False, True, True]
    with refuses("colour: is the colour of no node"):
        coloured.in_class("green")
    with refuses("colors: must be a JSON object"):
        graphs.colours_by_key(graphs.Path(2), ["blue", "red"])
    with refuses(r"colors\['7'\]: is not a node"):
        graphs.colours_by_key(graphs.Path(2), {"7": "blue"})
    with refuses(r"rankings\['\[1,1\]'\]: names a node a second time"):
        graphs.colours_by_key(graphs.Histograms(2, 2), {"[1, 1]": "blue", "[1,1]": "red"}, "rankings")


def test_the_ways_to_give_colours_agree():
    graph = graphs.Path(4)
    given = [["b", "a", "b", "a"], {0: "b", 3: "a", 2: "b", 1: "a"}, lambda n: "ab"[n % 2 == 0], np.array(list("baba"))]
    for colours in given:
        coloured = graphs.colour(graph, colours)
        assert coloured.classes == ("b", "a")
        assert coloured.codes.tolist() == [0, 1, 0, 1]
    numbers = graphs.colour(graph, np.array([7, 7, -1, 3]))
    assert (numbers.classes, numbers.codes.tolist()) == ((7, -1, 3), [0, 0, 1, 2])


@pytest.mark.parametrize(("colours", "message"), [
    (["a"], "colors: must be 3, one per node"),
    ({0: "a", 1: "b"}, "colors: leave out the node 2"),
    ({0: "a", 1: "b", 2: "a", "x": "b"}, "colors: name x, which is not a node"),
    ([["a"], ["b"], ["a"]], "colors: must be hashable"),
])  # fmt: skip
def test_bad_colours(colours, message):
    with refuses(message):
        graphs.colour(graphs.Path(3), colours)


@pytest.mark.parametrize(("rankings", "message"), [
    ([["a", "b"], ["b", "a"], ["a", "c"]], "rankings: must each name every output once"),
    ([["a", "b"], ["b", "a"], ["a"]], "rankings: must each name every output once"),
    ([["a", "a"], ["a", "a"], ["a", "a"]], "rankings: must each name every output once"),
    (["ab", "ba", "ab"], "rankings: must be lists of outputs"),
    ([3, 4, 5], "rankings: must be lists of outputs"),
    ([[[]], [[]], [[]]], "rankings: must be hashable"),
    ({0: ["a", "b"]}, "rankings: leave out the node 1"),
])  # fmt: skip
def test_bad_rankings(rankings, message):
    with refuses(message):
        graphs.rank(graphs.Path(3), rankings)


def test_morphisms_name_the_edge_they_break():
    check = graphs.check_morphism(graphs.Cycle(4), graphs.Path(4), {0: 0, 1: 1, 2: 2, 3: 3})
    assert not check.holds
    assert check.broken_edge == (0, 3)
    assert graphs.check_morphism(graphs.Cycle(4), graphs.Path(4), lambda node: min(node, 4 - node)).holds
    with refuses("mapping: sends the neighbours 0 and 3 apart"):
        graphs.morphism(graphs.Cycle(4), graphs.Path(4), {0: 0, 1: 1, 2: 2, 3: 3})
    with refuses("node: is not a node of the graph"):
        graphs.morphism(graphs.Cycle(4), graphs.Path(2), {0: 0, 1: 1, 2: 2, 3: 1})
    with refuses("mapping: must hold indices of the target"):
        graphs.morphism(graphs.Cycle(4), graphs.Path(2), np.array([0, 1, 2, 1]))
    with refuses("mapping: leave out the node 3"):
        graphs.morphism(graphs.Cycle(4), graphs.Path(4), {0: 0, 1: 1, 2: 2})


def test_composition_needs_a_graph_in_common():
    folded = graphs.morphism(graphs.Cycle(4), graphs.Path(3), lambda node: min(node, 4 - node))
    assert folded.then(graphs.morphism(graphs.Path(3), graphs.Path(1), lambda node: 0))(2) == 0
    with refuses("following: must start at the graph where this morphism ends"):
        folded.then(folded)
    with refuses("values: must be 3, one per node of the target"):
        folded.pull_back([1, 2])


# Depth as dataframe joins: the same depths as in memory, on every engine at hand, and nothing left behind.

NODES = 120


def case(seed):
    generator = fresh_generator(seed)
    tails, heads = generator.integers(0, NODES, (2, int(generator.integers(60, 200))))
    red = np.arange(NODES) < 40
    return (
        polars.DataFrame({"from": tails, "to": heads, "weight": 1.5}),
        polars.DataFrame({"person": np.arange(NODES), "side": np.where(red, "red", "blue")}),
        depth(graphs.colour(graphs.graph_from_arrays(tails, heads, nodes=range(NODES)), red)).tolist(),
    )


def depths_found(frame):
    table = nw.from_native(frame).lazy().collect()
    assert table.columns == ["node", "class", "depth"]
    rows = sorted(zip(*(table[name].to_list() for name in ("node", "class", "depth")), strict=True))
    assert [(node, side) for node, side, _ in rows] == [(n, "red" if n < 40 else "blue") for n in range(NODES)]
    return [found for _, _, found in rows]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("engine", ["duckdb", "polars", "polars lazy", "pandas", "pyarrow"])
def test_every_engine_finds_the_depths_found_in_memory(engine, seed):
    edges, classes, expected = case(seed)
    connection = duckdb.connect()
    convert = {
        "duckdb": lambda frame: connection.from_arrow(frame.to_arrow()),
        "polars": lambda frame: frame,
        "polars lazy": lambda frame: frame.lazy(),
        "pandas": lambda frame: frame.to_pandas(),
        "pyarrow": lambda frame: frame.to_arrow(),
    }[engine]
    found = graphs.depth_as_joins(convert(edges), convert(classes))
    assert type(found) is type(convert(edges))
    assert depths_found(found) == expected
    assert {-1, 0, 1} <= set(expected)


def test_a_search_from_the_wrong_side_is_seen():
    """Negative control: other colours give other depths."""
    edges, classes, expected = case(0)
    moved = classes.with_columns(side=polars.Series(np.where(np.arange(NODES) < 60, "red", "blue")))
    assert graphs.depth_as_joins(edges, moved).sort("node")["depth"].to_list() != expected


def test_a_long_path_in_duckdb_leaves_one_temporary_table_and_reads_only_stored_rows():
    connection = duckdb.connect()
    edges = connection.sql("SELECT range AS a, range + 1 AS b FROM range(60)")
    classes = connection.sql("SELECT range AS n, range = 0 AS c FROM range(61)")
    found = graphs.depth_as_joins(edges, classes)
    assert sorted(found.fetchall()) == [(n, n == 0, max(0, n - 1)) for n in range(61)]
    assert len(connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()) == 1
    assert not connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    # The plan of the result is as short after sixty levels as it could be: one scan.
    assert found.explain().count("irisdp_") == 1


def test_names_may_be_text_and_nodes_may_stand_alone():
    edges = polars.DataFrame({"a": ["x", "y"], "b": ["y", "y"]})
    classes = polars.DataFrame({"n": ["x", "y", "z"], "c": [1, 2, 2]})
    assert sorted(graphs.depth_as_joins(edges, classes).rows()) == [("x", 1, 0), ("y", 2, 0), ("z", 2, -1)]


EDGES, CLASSES, _ = case(1)


@pytest.mark.parametrize(("edges", "classes", "message"), [
    (EDGES, CLASSES.to_pandas(), "classes: must be the same kind of dataframe as edges"),
    (EDGES.select("from"), CLASSES, "edges: must have two columns"),
    (EDGES, CLASSES.select("person"), "classes: must have two columns"),
    (EDGES, CLASSES.head(50), "classes: leave out a node that edges name"),
    (EDGES, polars.concat([CLASSES, CLASSES]), "classes: must name every node once"),
    (EDGES, CLASSES.with_columns(side=polars.lit(None)), "classes: must not have missing values"),
    (EDGES.with_columns(to=polars.lit(None, polars.Int64)), CLASSES, "edges: must not have missing values"),
    (EDGES, CLASSES.with_columns(polars.col("person").cast(polars.Int32)), "classes: must name nodes in the type"),
])  # fmt: skip
def test_bad_frames(edges, classes, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        graphs.depth_as_joins(edges, classes)
    if type(edges) is type(classes):
        connection = duckdb.connect()
        with pytest.raises(BadInput, match=f"^{message}"):
            graphs.depth_as_joins(*(connection.from_arrow(frame.to_arrow()) for frame in (edges, classes)))


# Searches that pass long runs of nodes in one step find the distances that going node by node finds.


def plain(graph, sources):
    """Go node by node."""
    first, row = graph.indptr.tolist(), graph.indices.tolist()
    found, waiting = dict.fromkeys(sources, 0), deque(sources)
    while waiting:
        node = waiting.popleft()
        for other in row[first[node] : first[node + 1]]:
            if other not in found:
                found[other] = found[node] + 1
                waiting.append(other)
    return [found.get(node, -1) for node in range(graph.number_of_nodes)]


def found(graph, sources):
    return graphs._explicit.breadth_first(graph.indptr, graph.indices, np.array(sources, np.int64)).tolist()


def broken_paths(chance):
    """A path in a row with some edges missing, some more anywhere, and nodes that none leads to."""
    nodes = chance.randrange(2, 90)
    edges = [(i, i + 1) for i in range(nodes - 1) if chance.random() < 0.97]
    edges += [tuple(chance.sample(range(nodes), 2)) for _ in range(chance.choice([0, 0, 1, 2, 6]))]
    tails, heads = np.array(sorted({(min(e), max(e)) for e in edges}) or [(0, 1)]).T
    sources = chance.sample(range(nodes), chance.choice([0, 1, 1, 2, min(5, nodes)]))
    return graphs.graph_from_arrays(tails, heads, nodes=range(nodes)), sources


def disagreements(chance, times=400):
    return sum(
        found(graph, sources) != plain(graph, sources)
        for graph, sources in (broken_paths(chance) for _ in range(times))
    )


@pytest.mark.parametrize("thin", [0, 2, 48])
@pytest.mark.parametrize("long", [1, 2, 5])
def test_distances_are_those_of_going_node_by_node(monkeypatch, thin, long):
    monkeypatch.setattr(graphs._explicit, "THIN", thin)
    monkeypatch.setattr(graphs._explicit, "LONG", long)
    passed = []
    fill = graphs._explicit.Shortcuts.fill
    monkeypatch.setattr(
        graphs._explicit.Shortcuts, "fill", lambda runs, far: passed.append(len(runs.first)) or fill(runs, far)
    )
    assert disagreements(fresh_random("shortcuts")) == 0
    assert sum(passed) > 200


@pytest.mark.parametrize("wrong", ["longer", "shorter", "left", "seen"])
def test_a_slip_is_seen(monkeypatch, wrong):
    """Negative control."""
    monkeypatch.setattr(graphs._explicit, "LONG", 2)
    made = graphs._explicit.shortcuts

    def slipped(indptr, indices, unseen):
        runs = made(indptr, indices, np.ones_like(unseen) if wrong == "seen" else unseen)
        more = {"longer": 1, "shorter": -1}.get(wrong, 0)
        runs.gates = {node: [(end, steps + more) for end, steps in ends] for node, ends in runs.gates.items()}
        if wrong == "left":
            runs.gates = {
                node: [(end, steps) for end, steps in ends if end < node] for node, ends in runs.gates.items()
            }
        return runs

    monkeypatch.setattr(graphs._explicit, "shortcuts", slipped)
    assert disagreements(fresh_random("shortcuts"), times=200) > 0


@pytest.mark.parametrize("graph", [graphs.Path(1000), graphs.Cycle(1000)], ids=str)
@pytest.mark.parametrize("sources", [[0], [500], [0, 999], [3, 700], []])
def test_paths_and_cycles(graph, sources):
    assert found(graphs.listed(graph), sources) == plain(graphs.listed(graph), sources)


def test_a_graph_without_runs_has_no_shortcuts():
    grid = np.arange(900).reshape(30, 30)
    tails = np.concatenate((grid[:, :-1].ravel(), grid[:-1].ravel()))
    heads = np.concatenate((grid[:, 1:].ravel(), grid[1:].ravel()))
    graph = graphs.graph_from_arrays(tails, heads)
    runs = graphs._explicit.shortcuts(graph.indptr, graph.indices, np.ones(900, np.bool_))
    assert (len(runs.first), runs.gates, len(runs.is_gate)) == (0, {}, 0)
