"""Mechanisms: rows and a map, pullback, post-processing, dominance, and the file."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, load
from irisdp._sampling.bits import ScriptedBits
from irisdp.design import consumer
from irisdp.graphs import Path
from irisdp.mechanisms import (
    DepthMechanism,
    FactoredMechanism,
    balanced_line,
    binary_randomized_response,
    geometric,
    line_mechanism,
    randomized_response,
    read_document,
)
from irisdp.privacy import are_close

TWO = Privacy(ratio=2)
HALF = Fraction(1, 2)


def private_on_path(mechanism):
    rows = mechanism.matrix()
    return all(are_close(a, b, mechanism.privacy) for a, b in itertools.pairwise(rows))


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("ratio", ["4", "2", "11/10", "1"])
def test_geometric_is_private_and_as_published(n, ratio):
    mechanism = geometric(n, Privacy(ratio=ratio))
    assert private_on_path(mechanism)
    if n == 3 and ratio == "4":
        assert mechanism.row(0) == (Fraction(4, 5), Fraction(3, 20), Fraction(3, 80), Fraction(1, 80))


def test_randomized_response_is_private_and_tight():
    mechanism = randomized_response(["a", "b", "c"], Privacy(ratio=4, delta="1/10"))
    rows = mechanism.matrix()
    assert all(are_close(p, q, mechanism.privacy) for p in rows for q in rows)
    more = rows[0][0] + Fraction(1, 10**30)
    nudged = (more, (1 - more) / 2, (1 - more) / 2)
    assert not are_close(nudged, rows[1], mechanism.privacy)
    assert binary_randomized_response(TWO).row(0) == (Fraction(2, 3), Fraction(1, 3))


def test_equal_rows_are_kept_once_and_pullback_only_remaps():
    base = line_mechanism(2, 2, balanced_line(TWO))
    votes = {f"{a}{b}{c}": 1 + a + b + c for a in (0, 1) for b in (0, 1) for c in (0, 1)}
    pulled = base.pullback(votes)
    assert len(pulled.rows) == 4
    assert pulled.row("011") == base.row(3)
    with pytest.raises(BadInput, match="query"):
        base.pullback({"x": 99})


def test_post_processing_multiplies_rows():
    base = binary_randomized_response(TWO)
    read = base.post_process([["1", "0", "0"], ["0", "1/2", "1/2"]], outputs=["n", "y", "z"])
    assert read.row(1) == (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    for wrong in ([[1, 0]], [[1, 0], [1, 1]], [[1, 0], [2, -1]]):
        with pytest.raises(BadInput, match="reading"):
            base.post_process(wrong)


def test_dominance_compares_prefix_sums():
    better, worse = binary_randomized_response(Privacy(ratio=3)), binary_randomized_response(TWO)
    ranking = {0: (0, 1), 1: (1, 0)}.__getitem__
    assert better.dominates(worse, ranking)
    assert not worse.dominates(better, ranking)


def test_a_stepped_boundary_must_be_private():
    with pytest.raises(BadInput, match="boundary"):
        DepthMechanism(
            privacy=TWO, rankings=(("a", "b"), ("b", "a")), boundary=((Fraction(9, 10), Fraction(1, 10)),) * 2
        )


def test_far_rows_are_enclosed_without_being_built():
    far = balanced_line(Privacy(epsilon="1e-9")).truth(0, 10**12, width=Fraction(1, 1 << 100))
    assert far.width <= Fraction(1, 1 << 99)
    assert float(far.lower) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"matrix": [["1/2", "1/2"], ["1/2", "1/3"]]},
        {"matrix": [["1/2", "1/2"], ["3/2", "-1/2"]]},
        {"matrix": []},
        {"matrix": [[1, 0], [1]]},
        {"matrix": [[1, 0], "x"]},
        {"matrix": [[1, 0]], "inputs": ["a", "b"]},
        {"matrix": [[1, 0]], "outputs": ["a", "a"]},
        {"matrix": [[1, 0]], "rows": [[1, 0]]},
        {"rows": [[1, 0]], "row_of": [1]},
        {"rows": [[1, 0]]},
        {"matrix": [[1, 0]], "format": "other/1"},
        {"matrix": [[True, 0]]},
        {"matrix": [[1, 0]], "inputs": [1.5]},
        {"factors": []},
        {"factors": [{"kind": "laplace", "n": 3}]},
        {"factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1]]}]},
        {"factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1, 5, 1]]}]},
        {"factors": [{"kind": "geometric", "n": 1}, {"reading": [[0, 0, 1], [1]]}]},
        {},
    ],
)
def test_files_that_hold_no_mechanism_are_refused(wrong):
    with pytest.raises(BadInput):
        read_document({"privacy": {"ratio": 2}, **wrong}).mechanism()


def test_the_file_keeps_every_digit(tmp_path):
    for mechanism in (
        geometric(5, Privacy(epsilon=1)),
        randomized_response(["a", "b", "c"], Privacy(epsilon="0.3", delta="1/7")),
        Mechanism.from_matrix([[HALF, HALF]] * 4, privacy=TWO, graph=Path(4)),
    ):
        file = tmp_path / "mechanism.json"
        file.write_text(json.dumps(mechanism.to_document()))
        again = load(file)
        assert isinstance(again, Mechanism)
        assert again.matrix() == mechanism.matrix()
        assert again.privacy == mechanism.privacy
        assert tuple(again.inputs) == tuple(mechanism.inputs)


def test_factors_stand_for_their_product(tmp_path):
    reading = {0: ((0, Fraction(1)),), 1: ((0, Fraction(1, 4)), (1, Fraction(3, 4))), 2: ((2, Fraction(1)),)}
    factored = FactoredMechanism(privacy=TWO, n=2, reading=reading)
    expanded = factored.expand()
    channel = [[dict(reading[z]).get(r, Fraction(0)) for r in range(3)] for z in range(3)]
    assert expanded.matrix() == geometric(2, TWO).post_process(channel).matrix()
    again = read_document(factored.to_document()).mechanism()
    assert isinstance(again, FactoredMechanism)
    assert again == factored


def test_rows_cannot_be_changed():
    mechanism = binary_randomized_response(TWO)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.row_of[0] = 1
    with pytest.raises(BadInput, match="row_of"):
        Mechanism(privacy=TWO, inputs=(0,), outputs=(0,), rows=((Fraction(1),),), row_of=np.array([3]))


@pytest.mark.parametrize("loss", [[[0, "0." + "3" * 4000], ["0." + "6" * 3999 + "7", 0]], None])
def test_no_design_writes_numbers_that_nobody_could_read_again(loss):
    """Each number may be written, but not what comes of them: twice as many digits."""
    prior = None if loss else ["0." + "3" * 4000, "0." + "6" * 3999 + "7"]
    with pytest.raises(BadInput, match="has more than 8000 characters; write a shorter number"):
        consumer(1, loss or "absolute", Privacy(ratio=2), prior=prior).to_document()


@pytest.mark.parametrize(
    "mechanism",
    [geometric(3, TWO), FactoredMechanism(privacy=TWO, n=3), randomized_response("ab", TWO)],
    ids=["matrix", "factors", "names"],
)
def test_a_mechanism_is_saved_loaded_and_drawn_from(mechanism, tmp_path):
    path = tmp_path / "m.json"
    mechanism.save(path)
    again = load(path)
    assert again.to_document() == mechanism.to_document()
    node = list(mechanism.inputs)[1]
    script = [0, 2**63, 2**64 - 2] * 20
    words = ScriptedBits(script, word_bits=64), ScriptedBits(script, word_bits=64)
    drawn = again.draw(node, 3, source=words[0])
    assert drawn == [mechanism.outputs[place] for place in mechanism.draw_positions(node, 3, source=words[1])]
    assert set(drawn) <= set(mechanism.outputs)
    with pytest.raises(BadInput, match="is there already; add force=True"):
        mechanism.save(path)
    mechanism.save(path, force=True)
    with pytest.raises(BadInput, match=r"^count: "):
        mechanism.draw(node, -1)
    with pytest.raises(BadInput, match=r"^input: "):
        mechanism.draw("nobody")
