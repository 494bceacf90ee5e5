"""Frames that were sorted, shuffled or renumbered give each input the row it had, or are refused."""

from fractions import Fraction
from operator import itemgetter

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, Mechanism, Privacy, graphs, interop

NAMES = {
    "counts": lambda n: list(range(n)),
    "integers": lambda n: [3 * k - 2 for k in range(n)],
    "words": lambda n: [f"{k:02}" for k in range(n)],
    "digits": lambda n: [str(k) for k in range(n)],
    "pairs": lambda n: [(k // 2, "ab"[k % 2]) for k in range(n)],
    "mixed": lambda n: [(k, str(k), (k,))[k % 3] for k in range(n)],
}
MOVES = {
    "as it was": lambda frame, order: frame,
    "shuffled": lambda frame, order: frame.iloc[order],
    "sorted": lambda frame, order: frame.iloc[sorted(range(len(frame)), key=lambda k: repr(frame.index[k]))],
    "sorted by pandas": lambda frame, order: frame.iloc[order].sort_index(),
    "sorted by an answer": lambda frame, order: frame.sort_values(frame.columns[0]),
    "backwards": lambda frame, order: frame[::-1],
    "without the name of the index": lambda frame, order: frame.iloc[order].rename_axis(None),
    "through a column": lambda frame, order: frame.iloc[order].reset_index().set_index("input"),
    "its index counted": lambda frame, order: frame.reindex(range(len(frame))),
    "columns shuffled": lambda frame, order: frame[frame.columns[::-1]],
}


@given(data=st.data(), names=st.sampled_from(sorted(NAMES)), move=st.sampled_from(sorted(MOVES)))
def test_a_frame_that_was_moved_gives_each_input_its_row_or_is_refused(data, names, move):
    nodes = data.draw(st.permutations(NAMES[names](data.draw(st.integers(1, 6)))))
    pairs = [[one, other] for one in nodes for other in nodes]
    graph = graphs.graph_from_edges(data.draw(st.lists(st.sampled_from(pairs), max_size=8)), nodes=nodes)
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(nodes), max_size=len(nodes)))
    before = Mechanism.from_matrix(
        [[Fraction(1 + w, 7), Fraction(6 - w, 7)] for w in weights],
        privacy=Privacy(ratio=9),
        graph=graph,
        outputs=("yes", "no"),
    )
    order = data.draw(st.permutations(range(len(nodes))))
    try:
        frame = MOVES[move](interop.to_frame(before, exact=True), order)
    except TypeError:  # pandas puts names of several kinds in no order
        assert names == "mixed"
        return
    try:
        after = interop.matrix_from_frame(frame, graph=graph, privacy=before.privacy)
    except BadInput:
        assert move == "its index counted"  # where other names than counts have lost their rows
        assert names != "counts"
        return
    assert {name: named_row(after, name) for name in nodes} == {name: named_row(before, name) for name in nodes}


@given(st.permutations(range(4)))
def test_counts_in_another_order_are_no_default(nodes):
    """The control: rows that pandas numbers itself are read where that has one meaning, and else not at all."""
    graph = graphs.graph_from_edges([], nodes=nodes)
    frame = pd.DataFrame({"yes": [Fraction(k, 4) for k in range(4)], "no": [Fraction(4 - k, 4) for k in range(4)]})
    try:
        found = interop.matrix_from_frame(frame, graph=graph)
    except BadInput:
        assert nodes != [0, 1, 2, 3]
        return
    assert nodes == [0, 1, 2, 3]
    assert [named_row(found, k) for k in range(4)] == [
        {"yes": Fraction(k, 4), "no": Fraction(4 - k, 4)} for k in range(4)
    ]


def named_row(mechanism, name):
    """Return the chances of an input's answers by their names."""
    row = mechanism.rows[mechanism.row_of[list(mechanism.inputs).index(name)]]
    return dict(sorted(zip(mechanism.outputs, row, strict=True), key=itemgetter(0)))
