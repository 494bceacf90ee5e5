"""Every designer with arguments of every kind that a researcher may have: an answer, or one sentence that says why not.

The arguments are products of lists, the same at every run: numbers, arrays of every type, frames, wrong shapes, NaN.
"""

import datetime
import itertools
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from irisdp import IrisError, Mechanism, Privacy, certify, consumers, design, graphs

LONGEST = 240
"""Letters of one sentence."""

P, WITH_DELTA = Privacy(ratio=2), Privacy(ratio=2, delta="1/10")
PATH = graphs.Path(3)
SQUARE = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
SURE = [[1, 0], [0, 1], [0, 1]]
ROWS = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]

SCALARS = [
    None, True, np.True_, 0, -1, 3, 10**30, -(10**400), 1.5, 0.1, -0.0, float("nan"), float("inf"), -float("inf"),
    1e308, 5e-324, 1j, np.float32(0.1), np.int8(3), np.uint64(2**64 - 1), np.float16("nan"), np.complex128(1),
    np.longdouble(0.1), np.datetime64("2020-01-01"), np.timedelta64(1, "D"), np.str_("3"), np.bytes_(b"3"), np.array(3),
    np.array(0.5), "", "x", "1/2", "1/0", "½", "nan", "1e999999999", "0x10", "\ud800", b"1", bytearray(b"1"),
    memoryview(b"1"), Decimal("0.1"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Fraction(1, 3),
    Fraction(10**400, 3), object(), int, Ellipsis, NotImplemented, datetime.date(2020, 1, 1), range(3), range(10**12),
    range(10**30), pd.NA, pd.NaT, pd.Timestamp("2020-01-01"), P, PATH, design.geometric(2, P),
]  # fmt: skip
"""What is no list, and what is one without looking it."""


def lists():
    """Lists of three numbers or none, in every container, fit or not."""
    yield from ([], (), {}, set(), frozenset({1, 2, 3}), {1: 2}, {"at_least": 1}, {"at_least": "x"}, {"at_most": -1})
    yield from ([1], [1, 1], [1, 1, 1], [1] * 4, [0, 0, 0], [-1, 1, 1], [0.1, 0.2, 0.7], ["1/3"] * 3, [Decimal(1)] * 3)
    yield from (
        [None] * 3,
        [True] * 3,
        [float("nan"), 0, 1],
        [float("inf"), 0, 1],
        [1j] * 3,
        ["x"] * 3,
        [[1]] * 3,
        [[], [], []],
    )
    yield from (iter([1, 1, 1]), itertools.repeat(1), (x for x in ("a", "b", "c")), "123", "abc")
    yield from (
        np.array(values, dtype=kind)
        for values in ([1, 0, 0], [0, 1, 2])
        for kind in ("i1", "u8", "f2", "f4", "f8", "g")
    )
    yield from (np.zeros(3, dtype=kind) for kind in ("?", "c8", "S2", "U2", "O", "M8[D]", "m8[D]", "V4"))
    yield from (
        np.zeros((1, 3)),
        np.zeros((3, 1)),
        np.zeros((0,)),
        np.zeros((3, 3, 3)),
        np.zeros((3, 0)),
        np.eye(3)[::2],
    )
    yield from (np.array([np.nan, 0, 1]), np.ma.array([1, 0, 0], mask=[0, 1, 0]), matrix([1, 0, 0]), np.full(3, 1e300))
    yield from (
        pd.Series([1, 0, 0]),
        pd.Series([0.1, 0.2, 0.7], index=[5, 6, 7]),
        pd.Series([1, None, 0]),
        pd.Series(["a"] * 3),
    )
    yield from (
        pd.Series([1, None, 0], dtype="Int64"),
        pd.Categorical([1, 2, 1]),
        pd.Index([0, 1, 2]),
        pl.Series([1, 0, 0]),
    )
    yield from (pd.date_range("2020", periods=3), pl.Series([None, 1, 2]), scipy.sparse.csr_array([[1, 0, 0]]))


def matrix(values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that NumPy would rather have arrays
        return np.matrix(values)


def tables():
    """Tables of three by three, or hardly so."""
    yield from (
        SQUARE,
        [tuple(row) for row in SQUARE],
        np.array(SQUARE),
        np.array(SQUARE, dtype=object),
        matrix(SQUARE),
    )
    yield from (np.array(ROWS), np.array(SQUARE, dtype=np.float16), np.full((3, 3), np.nan), np.full((3, 3), np.inf))
    yield from (pd.DataFrame(SQUARE), pd.DataFrame(SQUARE, columns=["a", "b", "c"]), pd.DataFrame([[1, None, "x"]] * 3))
    yield from (pl.DataFrame(SQUARE), scipy.sparse.csr_matrix(SQUARE), scipy.sparse.coo_array(np.array(SQUARE)))
    yield from ([[0, 1], [1, 0, 1], [2, 1, 0]], [[0, 1, 2]], [[]] * 3, [[], [], [1]], [[0, 1, 2]] * 4, np.zeros((3, 0)))
    yield from ([[0, 1, 2]] * 2 + [None], [[0, 1, 2]] * 2 + ["abc"], [[0, 1, "x"]] * 3, [[0, 1, 1j]] * 3, [{}, {}, {}])
    yield from ({0: [0, 1, 2]}, [[[1]] * 3] * 3, np.zeros((3, 3), dtype="c16"), np.zeros((3, 3), dtype="M8[s]"), "abc")
    yield from (
        np.zeros((3, 3), dtype=[("a", "f8")]),
        np.ma.masked_equal(SQUARE, 1),
        iter(SQUARE),
        itertools.repeat([0, 1, 2]),
    )
    yield from (
        np.eye(3),
        np.full((3, 3), 1 / 3),
        np.full((3, 3), 0.333),
        np.eye(3, dtype=bool),
        [[1e308, -1e308, 0]] * 3,
    )
    yield from (
        np.full((3, 3), 1e-320),
        np.eye(3)[:, :2],
        np.eye(2),
        np.zeros((3, 2000)),
        pd.DataFrame(),
        pl.DataFrame(),
    )


def networks():
    """What people take for a graph."""
    yield from (
        nx.path_graph(3),
        nx.DiGraph([(0, 1), (1, 2)]),
        nx.MultiGraph([(0, 1), (0, 1), (1, 2)]),
        nx.Graph(),
        nx.empty_graph(3),
    )
    yield from (nx.Graph([(0, 1, {"weight": 2}), (1, 2, {"weight": 0.5})]), nx.Graph([(0, 0), (0, 1), (1, 2)]))
    yield from (
        graphs.Path(1),
        graphs.Path(3),
        graphs.Cycle(3),
        graphs.Complete(3),
        graphs.Hamming(1, 3),
        graphs.Path(10**9),
    )
    yield from (graphs.Hamming(40, 2), graphs.Path, [[0, 1], [1, 2]], {"family": "path", "n": 3}, SQUARE, np.eye(3))
    yield graphs.graph_from_edges([], nodes=range(3))


def with_tables():
    """Calls that take a table, each with a name by which it is found again."""
    for loss in [*SCALARS, *lists(), *tables()]:
        yield "Goal loss", partial(solved, loss=loss, weights=[1, 1, 1])
        yield "Consumer loss", partial(consumers.Consumer, 2, loss)
        yield "consumer loss", partial(design.consumer, 2, loss, P)
        yield "distance loss", partial(design.distance, PATH, P, loss=loss)
        yield "exponential scores", partial(design.exponential, PATH, P, scores=loss)
        yield "repair matrix", partial(design.repair, loss, PATH, P)
        yield "from_array", partial(Mechanism.from_array, loss, privacy=P, graph=PATH)
        yield "from_array rows", partial(Mechanism.from_array, loss, privacy=P, normalise="rows")
        yield "from_array round", partial(Mechanism.from_array, loss, privacy=P, normalise="round")
        yield "post_process", partial(design.geometric(2, P).post_process, loss)
        yield "from_tradeoff", partial(Privacy.from_tradeoff, loss)
        yield "from_matrix", partial(Mechanism.from_matrix, loss, privacy=P, graph=PATH)
        yield "graph from sparse", partial(graphs.graph_from_sparse, loss)
        yield "graph from frame", partial(graphs.graph_from_frame, loss)


def with_lists():
    """Calls that take a list."""
    for given in [*SCALARS, *lists()]:
        yield "Goal weights", partial(solved, loss=SQUARE, weights=given)
        yield "Goal side_information", partial(solved, loss=SQUARE, side_information=given)
        yield "Goal name", partial(solved, loss=SQUARE, weights=[1, 1, 1], name=given)
        yield "Goal loss_name", partial(solved, loss=SQUARE, weights=[1, 1, 1], loss_name=given)
        yield "Goal outputs", partial(solved, loss=SQUARE, weights=[1, 1, 1], outputs=given)
        yield "consumer side_information", partial(design.consumer, 2, "absolute", P, side_information=given)
        yield "consumer prior", partial(design.consumer, 2, "absolute", P, prior=given)
        yield "distance weights", partial(design.distance, PATH, P, weights=given)
        yield "exponential prior", partial(design.exponential, PATH, P, scores=SQUARE, prior=given)
        yield "exponential outputs", partial(design.exponential, PATH, P, scores=SQUARE, outputs=given)
        yield "repair inputs", partial(design.repair, ROWS, PATH, P, inputs=given)
        yield "from_matrix inputs", partial(Mechanism.from_matrix, ROWS, privacy=P, inputs=given)
        yield "from_matrix outputs", partial(Mechanism.from_matrix, ROWS, privacy=P, outputs=given)
        yield "binary colors", partial(design.binary, PATH, given, P)
        yield "binary boundary", partial(design.binary, PATH, ["a", "b", "b"], P, boundary=given)
        yield "rainbow rankings", partial(design.rainbow, PATH, given, P)
        yield "rainbow boundary", partial(design.rainbow, PATH, [["a", "b"], ["b", "a"], ["b", "a"]], P, boundary=given)
        yield (
            "rainbow weights",
            partial(design.rainbow, PATH, [["a", "b"], ["b", "a"], ["b", "a"]], P, boundary="best", weights=given),
        )
        yield "randomized_response choices", partial(design.randomized_response, given, P)
        yield "curves row", partial(design.curves, given, [0, 1], P)
        yield "curves depths", partial(design.curves, [0.5, 0.5], given, P)
        yield "graph from edges", partial(graphs.graph_from_edges, given)
        yield "graph nodes", partial(graphs.graph_from_edges, [[0, 1]], nodes=given)
        yield "graph from arrays", partial(graphs.graph_from_arrays, given, given)
        yield "post_process outputs", partial(design.geometric(2, P).post_process, SURE, outputs=given)
        yield "chain levels", partial(design.chain, 2, given)
        yield (
            "optimal_mechanism constraints",
            partial(
                design.optimal_mechanism,
                design.Goal(name="", loss=SQUARE, weights=[1, 1, 1]),
                PATH,
                P,
                constraints=given,
            ),
        )
        yield "sweep over", partial(design.sweep, design.geometric, {"n": given}, privacy=P)
        yield "simulate nodes", partial(design.geometric(2, P).simulate_many, given, 2, seed=1)
        yield "simulate size", partial(design.geometric(2, P).simulate, 1, given, seed=1)
        yield "profile points", partial(certify.privacy_profile(design.geometric(2, P)).points, given)
        yield "boundary nodes", partial(graphs.boundary_nodes, graphs.colour(PATH, "abb"), given)
        yield "Privacy.all", partial(Privacy.all, given)
        yield "from_spec", partial(design.from_spec, given)


def with_numbers():
    """Calls that take a number or a word."""
    for number in [*SCALARS, [1], np.array([1])]:
        yield "consumer n", partial(design.consumer, number, "absolute", P)
        yield "geometric n", partial(design.geometric, number, P)
        yield "plurality categories", partial(design.plurality, number, P)
        yield "winner categories", partial(design.winner, number, P, total=2)
        yield "winner total", partial(design.winner, 2, P, total=number)
        yield "winner largest", partial(design.winner, 2, P, largest=number)
        yield "ranking categories", partial(design.ranking, number, P, largest=1)
        yield "ranking largest", partial(design.ranking, 2, P, largest=number)
        yield "top k", partial(design.top, number, 2, P, largest=1)
        yield "quantile bins", partial(design.quantile, number, P)
        yield "quantile share", partial(design.quantile, 3, P, number)
        yield "balanced_line", partial(design.balanced_line, number, 2, P)
        yield "best_path_bound", partial(design.best_path_bound, number, P)
        yield "Privacy epsilon", partial(Privacy, epsilon=number)
        yield "Privacy ratio", partial(Privacy, ratio=number)
        yield "Privacy delta", partial(Privacy, epsilon=1, delta=number)
        yield "Privacy.from_ratio", partial(Privacy.from_ratio, number)
        yield "Privacy.gaussian", partial(Privacy.gaussian, number, gap="1e-2")
        yield "Privacy.gaussian gap", partial(Privacy.gaussian, 1, gap=number)
        yield "Privacy.zcdp", partial(Privacy.zcdp, number, gap="1e-2")
        yield "from_array normalise", partial(Mechanism.from_array, ROWS, privacy=P, normalise=number)
        yield "coarsened", partial(WITH_DELTA.coarsened, number)
        yield "chain n", partial(design.chain, number, [P, Privacy(ratio=3)])
        yield "simulate node", partial(design.geometric(2, P).simulate, number, seed=1)
        yield "simulate seed", partial(design.geometric(2, P).simulate, 1, seed=number)
        yield "delta_at", partial(certify.privacy_profile(design.geometric(2, P)).delta_at, number)
        yield "delta_at epsilon", partial(certify.privacy_profile(design.geometric(2, P)).delta_at, epsilon=number)
        yield "delta_at ratio", partial(certify.privacy_profile(design.geometric(2, P)).delta_at, ratio=number)
        yield "epsilon_at", partial(certify.privacy_profile(design.geometric(2, P)).epsilon_at, number)
        yield "relation", partial(design.plurality, 3, P, number)
        yield "ties", partial(design.plurality, 3, P, "exchange", number)
        yield "objective", partial(design.winner, 2, P, total=2, objective=number)
        for family in (graphs.Path, graphs.Cycle, graphs.Complete):
            yield family.__name__, partial(family, number)
        for family in (graphs.Hamming, graphs.Histograms, graphs.SortedHistograms, graphs.Gaps):
            yield f"{family.__name__} first", partial(family, number, 2)
            yield f"{family.__name__} second", partial(family, 2, number)
        for designer in (
            partial(design.consumer, 2, "absolute"),
            partial(design.distance, PATH),
            partial(design.geometric, 2),
        ):
            yield "privacy", partial(designer, number)
        yield "Product", partial(graphs.Product, number)


def with_graphs():
    """Calls that take a graph."""
    for graph in [*SCALARS, *lists(), *tables(), *networks()]:
        yield "graph from networkx", partial(graphs.graph_from_networkx, graph)
        yield "distance graph", partial(design.distance, graph, P)
        yield "exponential graph", partial(design.exponential, graph, P)
        yield "relaxations graph", partial(design.relaxations, graph, P)
        yield "repair graph", partial(design.repair, ROWS, graph, P)
        yield "Goal graph", partial(solved, loss=SQUARE, weights=[1, 1, 1], graph=graph)
        yield "from_matrix graph", partial(Mechanism.from_matrix, ROWS, privacy=P, graph=graph)
        yield "binary graph", partial(design.binary, graph, ["a", "b", "b"], WITH_DELTA)
        yield "graph from document", partial(graphs.graph_from_document, graph)


def solved(*, loss, graph=PATH, outputs=None, name="loss", **keywords):
    """Make a goal and design for it."""
    goal = design.Goal(name=name, loss=loss, **keywords)
    return design.optimal_mechanism(goal, graph, WITH_DELTA, outputs=outputs)


CALLS = {}
for name, call in itertools.chain(with_tables(), with_lists(), with_numbers(), with_graphs()):
    CALLS.setdefault(name, []).append(call)


def test_there_are_many():
    assert len(CALLS) > 70
    assert sum(map(len, CALLS.values())) > 9_000


@pytest.mark.parametrize("name", CALLS)
def test_every_argument_is_answered_or_refused_in_one_sentence(name):
    raw = {}
    for call in CALLS[name]:
        try:
            call()
        except IrisError as error:
            if len(str(error)) > LONGEST or "\n" in str(error):
                raw[repr(call.keywords or call.args)[:200]] = str(error)
        except Exception as error:
            raw[repr(call.keywords or call.args)[:200]] = repr(error)
    assert not raw
