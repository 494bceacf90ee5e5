"""Graphs and mechanisms handed to NetworkX, SciPy, pandas and NumPy, read back from them, and drawn from one by one."""

import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, design, graphs, interop, mechanisms, noise

PRIVACY = Privacy(ratio=2)
GEOMETRIC = design.geometric(3, PRIVACY)
NAMED = Mechanism.from_matrix(
    [["2/3", "1/3"], ["1/3", "2/3"], ["1/2", "1/2"]],
    privacy=PRIVACY,
    graph=graphs.graph_from_edges([["a", (1, 2)], [(1, 2), "c"]]),
    outputs=("yes", "no"),
)
GRAPHS = [
    graphs.Path(1),
    graphs.Cycle(6),
    graphs.Histograms(3, 2),
    NAMED.graph,
    graphs.graph_from_edges([[3, 1]], nodes=[3, 2, 1]),
]


class Unkind(Fraction):
    """A number that does not say what it is."""

    @property
    def numerator(self):
        raise OSError


def torn(_):
    raise OSError("no")


def same(one, other):
    return list(one.nodes) == list(other.nodes) and np.array_equal(
        np.stack(next(iter(graphs.listed(one).edges()))), np.stack(next(iter(graphs.listed(other).edges())))
    )


@pytest.mark.parametrize("graph", GRAPHS, ids=repr)
def test_a_graph_goes_to_networkx_and_back(graph):
    made = interop.to_networkx(graph)
    assert type(made) is nx.Graph
    assert same(graphs.graph_from_networkx(made), graph)


@pytest.mark.parametrize("graph", GRAPHS, ids=repr)
def test_a_graph_goes_to_scipy_and_back_without_its_names(graph):
    matrix = interop.to_sparse(graph)
    assert (matrix.shape, matrix.nnz) == ((graph.number_of_nodes,) * 2, 2 * graph.number_of_edges)
    assert (matrix != matrix.T).nnz == 0
    back, listed = graphs.graph_from_sparse(matrix), graphs.listed(graph)
    assert np.array_equal(back.indptr, listed.indptr) and np.array_equal(back.indices, listed.indices)


def test_what_scipy_does_with_its_array_leaves_the_graph_alone():
    graph = graphs.listed(graphs.Cycle(5))
    before = graph.indices.copy()
    matrix = interop.to_sparse(graph)
    matrix.indices[:] = 0
    assert np.array_equal(graph.indices, before)


def test_a_mechanism_is_an_array():
    floats, exact = np.asarray(GEOMETRIC), np.asarray(GEOMETRIC, dtype=object)
    assert (floats.dtype, floats.shape, exact.dtype) == (np.float64, (4, 4), object)
    assert exact.tolist() == [list(row) for row in GEOMETRIC.matrix()]
    assert floats.tolist() == [[float(p) for p in row] for row in GEOMETRIC.matrix()]
    assert np.asarray(GEOMETRIC, dtype=np.float32).dtype == np.float32
    floats[0, 0] = 7  # a copy
    assert GEOMETRIC.matrix()[0][0] == Fraction(2, 3)
    with pytest.raises(ValueError, match="holds no array"):
        np.asarray(GEOMETRIC, copy=False)


@pytest.mark.parametrize("mechanism", [GEOMETRIC, NAMED], ids=["geometric", "named"])
def test_what_is_exact_comes_back_from_a_frame_as_it_was(mechanism):
    frame = interop.to_frame(mechanism, exact=True)
    assert list(frame.index) == list(mechanism.inputs) and list(frame.columns) == list(mechanism.outputs)
    assert frame.sum(axis=1).tolist() == [1] * len(frame)
    back = interop.matrix_from_frame(frame, graph=mechanism.graph, privacy=mechanism.privacy)
    assert [back.rows[k] for k in back.row_of] == mechanism.matrix()
    assert (list(back.inputs), back.outputs) == (list(mechanism.inputs), tuple(mechanism.outputs))
    assert audit(back).pairs == audit(mechanism).pairs


def test_floats_of_a_frame_are_the_numbers_they_are():
    """0.6 + 0.4 is not 1 in the dyadic rationals; 0.1 + 0.2 + 0.7 neither. What was asked to be normalised, is."""
    frame = interop.to_frame(NAMED)
    assert frame.dtypes.tolist() == [np.float64] * 2
    back = interop.matrix_from_frame(frame, graph=NAMED.graph, privacy=PRIVACY)
    assert back.rows[0] == (Fraction(2 / 3), Fraction(1 / 3))
    tenths = pd.DataFrame([[0.1, 0.2, 0.7], [0.2, 0.1, 0.7]])
    asked = {"graph": graphs.Path(2), "privacy": PRIVACY}
    assert not audit(interop.matrix_from_frame(tenths, **asked)).rows_sum_to_one
    mended = audit(interop.matrix_from_frame(tenths, **asked, normalise=True))
    assert mended.rows_sum_to_one and mended.private
    assert audit(interop.matrix_from_frame(tenths.astype(str), **asked)).holds  # text is read as written


def test_a_repair_is_no_licence():
    """Negative controls: what was normalised and leaks still leaks; what is no distribution is not made one."""
    leaking = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert not audit(interop.matrix_from_array(leaking, graph=graphs.Path(2), privacy=PRIVACY, normalise=True)).private
    with pytest.raises(BadInput) as refusal:
        interop.matrix_from_array(np.array([[0.5, 0.4]]), normalise=True)
    assert str(refusal.value) == (
        "matrix: has a row that sums to 0.9, which no rounding explains; correct it, or leave normalise out"
    )


@pytest.mark.parametrize("library", ["polars", "arrow", "pandas"])
def test_frames_of_any_library_are_read(library):
    columns = {"yes": ["2/3", "1/3"], "no": ["1/3", "2/3"]}
    frame = pd.DataFrame(columns) if library == "pandas" else pl.DataFrame(columns)
    found = interop.matrix_from_frame(
        frame.to_arrow() if library == "arrow" else frame, graph=graphs.Path(2), privacy=PRIVACY
    )
    assert audit(found).holds and found.outputs == ("yes", "no")
    named = graphs.graph_from_edges([["a", "b"]])
    assert list(interop.matrix_from_frame(frame, graph=named).inputs) == ["a", "b"]


STAR = graphs.graph_from_edges([[1, 0], [0, 2]], nodes=[1, 0, 2])
TRIPLED = {"graph": STAR, "privacy": Privacy(ratio=3)}
UNEQUAL = [[Fraction(8, 9), Fraction(1, 9)], [Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]


def test_an_index_that_was_set_names_the_inputs_in_whatever_order():
    """Rows for 0, 1 and 2, of which 0 and 2 are neighbours, and 1/9 against 2/3 is no ratio of 3."""
    frame = pd.DataFrame(UNEQUAL, index=[0, 1, 2])
    verdicts = [audit(interop.matrix_from_frame(frame.loc[order], **TRIPLED)) for order in ([0, 1, 2], [1, 0, 2])]
    assert [verdict.private for verdict in verdicts] == [False, False]
    assert verdicts[0].pairs == verdicts[1].pairs
    array = interop.matrix_from_array(np.array(UNEQUAL, dtype=object), **TRIPLED)  # rows for 1, 0 and 2
    assert audit(array).private


def test_an_index_that_nobody_set_names_nothing_and_where_it_could_mean_either_nothing_is_read():
    frame = pd.DataFrame(UNEQUAL)
    with pytest.raises(BadInput) as refusal:
        interop.matrix_from_frame(frame, **TRIPLED)
    assert str(refusal.value) == (
        "frame: has an index 0, 1, … that nobody set, and the graph's nodes are these numbers in another order; "
        "frame.index = list(graph.nodes) says that rows stand in the order of its nodes, "
        'frame.rename_axis("input") that the index names them'
    )
    assert not audit(interop.matrix_from_frame(frame.rename_axis("input"), **TRIPLED)).private
    in_order = frame.set_axis(list(STAR.nodes))
    assert audit(interop.matrix_from_frame(in_order, **TRIPLED)).private
    assert audit(interop.matrix_from_frame(pl.from_pandas(in_order.map(str)), **TRIPLED)).private
    named = graphs.graph_from_edges([["a", "b"], ["b", "c"]])
    assert list(interop.matrix_from_frame(frame, graph=named).inputs) == ["a", "b", "c"]
    assert list(interop.matrix_from_frame(frame).inputs) == [0, 1, 2]
    backwards = interop.matrix_from_frame(frame[::-1], graph=graphs.Path(3))
    assert list(backwards.inputs) == [2, 1, 0] and backwards.rows[0] == tuple(UNEQUAL[2])


@pytest.mark.parametrize("index", [["a", "z"], ["0", "1"], [1, 2], pd.RangeIndex(1, 3), pd.RangeIndex(1, -1, -1)])
def test_an_index_that_names_other_inputs_than_the_graph_is_refused(index):
    frame = pd.DataFrame({"yes": ["2/3", "1/3"], "no": ["1/3", "2/3"]}, index=index)
    with pytest.raises(BadInput, match=r"^frame: has an index that names other inputs than the graph's nodes; "):
        interop.matrix_from_frame(frame, graph=graphs.graph_from_edges([["a", "b"]]), privacy=PRIVACY)


@pytest.mark.parametrize("index", [pd.Index([1, 0, 2]), pd.Index([1, 0, 2], name="input"), pd.RangeIndex(2, -1, -1)])
def test_an_index_that_arrow_has_put_aside_is_not_passed_over(index):
    arrow = pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"yes": [0.5, 0.25, 0.5], "no": [0.5, 0.75, 0.5]})
    plain = arrow.Table.from_pandas(frame)
    assert interop.matrix_from_frame(plain, graph=graphs.Path(3)).row_of.tolist() == [0, 1, 0]
    table = arrow.Table.from_pandas(frame.set_axis(index))
    with pytest.raises(BadInput, match=r"^frame: is an Arrow table of a pandas frame whose index was set, "):
        interop.matrix_from_frame(table, graph=graphs.Path(3))
    assert list(interop.matrix_from_frame(table.to_pandas(), graph=graphs.Path(3)).inputs) == list(index)


@pytest.mark.parametrize(("frame", "message"), [
    (3, "frame: is no dataframe that narwhals reads; "),
    (pd.DataFrame({"a": [0.5, None], "b": [0.5, 0.5]}), "frame: holds NaN or infinity; give finite numbers"),
    (pd.DataFrame({"a": [0.5, np.inf], "b": [0.5, 0.5]}), "frame: holds NaN or infinity; "),
    (pl.DataFrame({"a": [0.5, None]}), "frame: must hold numbers; give a probability in every place"),
    (pd.DataFrame({"a": [True, False]}), "frame: must hold numbers; "),
    (pd.DataFrame({"a": ["x"]}), "matrix: must be"),
    (pd.DataFrame({"a": []}), "frame: must have a row for every input; "),
    (pd.DataFrame(), "frame: must have a row for every input; "),
    (pd.DataFrame({1.5: [1]}), "frame: must be named by a string"),
    (pd.DataFrame({"a": [1, 1]}, index=["x", "x"]), 'inputs: names "x" twice; '),
    (pd.DataFrame({"a": [1, 1]}, index=[0.5, 1.5]), "inputs: must be named by a string"),
    (pd.DataFrame([[1, 0]], columns=["a", "a"]), "frame: has two columns of one name, 'a'; give each column a name"),
    (pd.DataFrame([[1, 0]], columns=["a", None]), "frame: must be named by a string"),
    (pd.DataFrame([[1, 0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 1)])), "frame: has two columns"),
    (pd.DataFrame({"a": [pd.NA]}), "frame: must hold numbers; "),
    (pd.DataFrame({"a": [{}]}), "frame: must hold numbers; "),
    (pd.DataFrame({"a": [Unkind()]}), "frame: holds what cannot be read; "),
    (pd.DataFrame({"a": ["1e9999"]}), "matrix: has an exponent beyond 4000; "),
    (pl.DataFrame({"a": [1]}).to_arrow().append_column("a", [[1]]), "frame: has two columns of one name, 'a'; "),
    (pl.LazyFrame({"a": [1]}).select("b"), "frame: is a dataframe that cannot be read; "),
    (pl.LazyFrame({"a": [1]}).select(pl.col("a").map_elements(torn, pl.Float64)), "frame: holds what cannot be"),
    (pl.DataFrame({"a": [[1.0]]}), "frame: must hold numbers; "),
])  # fmt: skip
def test_other_frames_are_refused_in_a_line(frame, message):
    with pytest.raises(BadInput) as refusal:
        interop.matrix_from_frame(frame)
    assert str(refusal.value).startswith(message)
    assert "\n" not in str(refusal.value)


def test_an_array_is_read_as_the_numbers_it_holds():
    thirds = np.array([[2 / 3, 1 / 3], [1 / 3, 2 / 3]], dtype=np.float32)
    found = interop.matrix_from_array(thirds, graph=graphs.Path(2), outputs=["yes", "no"])
    assert found.rows[0][0] == Fraction(*thirds[0, 0].as_integer_ratio())
    assert found.outputs == ("yes", "no")
    longer = np.array([[1, 0]], dtype=np.longdouble) / 3
    assert interop.matrix_from_array(longer).rows[0][0] == Fraction(*longer[0, 0].as_integer_ratio())
    exact = np.array([[Fraction(1, 3), Fraction(2, 3)]], dtype=object)
    assert interop.matrix_from_array(exact).rows == ((Fraction(1, 3), Fraction(2, 3)),)


@pytest.mark.parametrize(
    "array",
    [
        [[1, 0]], np.ones(3), np.ones((1, 1, 1)), np.array([[1j]]), np.array([[True]]), np.array([["1/2"]]),
        np.ones((0, 2)), np.array([[np.nan]]), np.array([["1/2"]], dtype=object), np.array([[None]]),
    ],
)  # fmt: skip
def test_other_arrays_are_refused_in_a_line(array):
    with pytest.raises(BadInput, match=r"^array: (must|holds)"):
        interop.matrix_from_array(array)


def test_names_of_columns_are_as_many_as_columns():
    for outputs in (["a"], ["a", "a"], ["a", "b", "c"]):
        with pytest.raises(BadInput, match=r"^outputs: "):
            interop.matrix_from_array(np.array([[1, 0]]), outputs=outputs)


def test_channels_of_qif_are_audited():
    """In floats they rarely sum to 1; in its own rationals they may. What qif calls d-privacy is the audit's ε."""
    qif = pytest.importorskip("qif", reason="qif is not installed")
    asked = {"graph": graphs.Path(4), "privacy": Privacy(epsilon=1)}
    claim = interop.matrix_from_array(qif.mechanism.d_privacy.geometric(4, 1.0), **asked)
    assert not audit(claim).rows_sum_to_one
    verdict = audit(interop.matrix_from_array(qif.mechanism.d_privacy.geometric(4, 1.0), **asked, normalise=True))
    assert verdict.rows_sum_to_one and abs(verdict.epsilon_at_delta - 1) < Fraction(1, 10**12)
    exact = qif.channel.identity(2, type=qif.rat)
    assert interop.matrix_from_array(exact).rows == ((1, 0), (0, 1))
    open_channel = audit(interop.matrix_from_array(exact, graph=graphs.Path(2), privacy=Privacy(epsilon=5)))
    assert open_channel.rows_sum_to_one and not open_channel.private


@pytest.mark.parametrize("value", [2, np.int8(2), np.int64(2), np.uint64(2)])
def test_one_value_in_and_one_answer_out(value):
    for mechanism in (GEOMETRIC, mechanisms.FactoredMechanism(privacy=PRIVACY, n=3)):
        answer = interop.randomiser(mechanism).randomise(value)
        assert type(answer) is int and 0 <= answer <= 3
    for law in (noise.law("geometric", PRIVACY), noise.law("staircase", PRIVACY, 5), noise.gaussian_law(1)):
        assert type(interop.randomiser(law).randomise(value)) is int
    assert interop.randomiser(NAMED).randomise((1, 2)) in ("yes", "no")
    assert interop.randomiser(NAMED).randomise(np.str_("a")) in ("yes", "no")


def test_what_is_promised_is_said_in_floats_that_are_not_too_small():
    tenth = interop.randomiser(design.geometric(3, Privacy(epsilon="3/10")))
    assert tenth.epsilon == 0.30000000000000004 and Fraction(tenth.epsilon) >= Fraction(3, 10)
    assert tenth.delta == 0 and tenth.privacy.epsilon == Fraction(3, 10)
    assert repr(tenth) == "<Randomiser: Mechanism, ε = 0.3>"
    gaussian = interop.randomiser(noise.gaussian_law(1))
    with pytest.raises(BadInput, match=r"^epsilon: is no part of a Gaussian guarantee; read privacy$"):
        _ = gaussian.epsilon
    several = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    with pytest.raises(BadInput, match=r"^privacy: holds 2 pairs, and this needs one; "):
        _ = interop.randomiser(noise.law("universal", several)).delta


@pytest.mark.parametrize(
    "value", [4, -1, 2.0, True, "2", None, [2], np.float64(2), np.bool_(True), np.array([2]), b"2"]
)
def test_what_is_no_input_is_refused_in_a_line_that_does_not_repeat_it(value):
    for mechanism in (GEOMETRIC, mechanisms.FactoredMechanism(privacy=PRIVACY, n=3), NAMED):
        with pytest.raises(BadInput, match=r"^value: is not an input of this mechanism; choose one of ") as refusal:
            interop.randomiser(mechanism).randomise(value)
        assert "\n" not in str(refusal.value)
    if value not in (4, -1):
        with pytest.raises(BadInput, match=r"^value: must be a whole number from -4611686018427387904 to "):
            interop.randomiser(noise.law("geometric", PRIVACY)).randomise(value)


def test_noise_in_atoms_takes_values_that_fit():
    law = noise.law("universal", Privacy(ratio=2, delta="1/7"))
    assert law.atoms_per_unit == 3
    for value in (2**62 // 3, -(2**62 // 3)):
        interop.randomiser(law).randomise(value)
    with pytest.raises(
        BadInput, match=r"^value: must be a whole number from -1537228672809129301 to 1537228672809129301"
    ):
        interop.randomiser(law).randomise(2**62 // 3 + 1)


@pytest.mark.parametrize(("module", "call", "message"), [
    ("networkx", lambda: interop.to_networkx(GRAPHS[0]), "networkx: is not installed; pip install irisdp[graphs]"),
    ("scipy.sparse", lambda: interop.to_sparse(graphs.Path(2)), "scipy: is not installed; pip install scipy"),
    ("pandas", lambda: interop.to_frame(GEOMETRIC), "pandas: is not installed; pip install irisdp[all]"),
])  # fmt: skip
def test_what_is_missing_is_said(module, call, message, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput) as refusal:
        call()
    assert str(refusal.value) == message
