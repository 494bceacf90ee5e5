"""Mechanisms as objects to compute with: equality, remaps in every form, matrices that were printed."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from irisdp import BadInput, Mechanism, Privacy, audit, consumers, design, graphs
from irisdp.mechanisms import FactoredMechanism

TWO = Privacy(ratio=2)
NOISE = design.geometric(2, TWO)
ROUNDED = [[0.667, 0.222, 0.112], [0.333, 0.333, 0.333], [0.112, 0.222, 0.667]]


def test_mechanisms_that_say_the_same_are_equal():
    again = Mechanism.from_matrix(np.array(NOISE, dtype=object), privacy=TWO, graph=graphs.Path(3))
    listed = Mechanism.from_matrix(
        NOISE.matrix(), privacy=TWO, graph=graphs.graph_from_edges([[1, 2], [0, 1]], nodes=range(3))
    )
    shuffled = replace(NOISE, rows=NOISE.rows[::-1], row_of=NOISE.row_of[::-1].copy(), graph=graphs.Path(3))
    assert NOISE.rows != shuffled.rows
    assert NOISE == again == listed == shuffled
    assert len({NOISE, again, listed, shuffled}) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(NOISE, privacy=Privacy(ratio=3)),
        replace(NOISE, graph=None),
        replace(NOISE, graph=graphs.Complete(3)),
        replace(NOISE, graph=graphs.graph_from_edges([[0, 1]], nodes=range(3))),
        replace(NOISE, graph=graphs.graph_from_edges([[0, 1], [0, 2]], nodes=range(3))),
        replace(NOISE, outputs=(2, 1, 0)),
        replace(NOISE, inputs=("a", "b", "c")),
        replace(NOISE, row_of=np.array([0, 1, 1])),
        design.geometric(3, TWO),
        "a mechanism",
        None,
    ],
)
def test_mechanisms_that_differ_in_anything_are_not(other):
    assert other != NOISE


CHANNEL = [["3/4", "1/4"], ["1/2", "1/2"], [0, 1]]


@pytest.mark.parametrize(
    "reading",
    [
        CHANNEL,
        np.array([[0.75, 0.25], [0.5, 0.5], [0, 1]]),
        np.array([[0.75, 0.25], [0.5, 0.5], [0, 1]], dtype=np.float16),
        pd.DataFrame([[0.75, 0.25], [0.5, 0.5], [0, 1]], columns=["few", "many"]),
        {0: {0: "3/4", 1: 0.25}, 1: {0: "1/2", 1: "1/2"}, 2: 1},
        {2: 1, 0: [(0, 0.5), (1, 0.25), (0, 0.25)], 1: ((1, 0.5), (0, 0.5))},
        Mechanism.from_matrix(CHANNEL, privacy=TWO),
    ],
)
def test_a_remap_is_read_in_every_form(reading):
    wanted = [
        [sum(p * Fraction(line[v]) for p, line in zip(row, CHANNEL, strict=True)) for v in (0, 1)]
        for row in NOISE.matrix()
    ]
    made = NOISE.post_process(reading)
    assert list(map(list, made.matrix())) == wanted
    assert made.outputs == (0, 1)
    assert made.objective is None
    assert audit(made).private


def test_answers_that_become_names_keep_them():
    made = NOISE.post_process({0: "few", 1: "few", 2: "many"})
    assert made.outputs == ("few", "many")
    turned = NOISE.post_process({0: "few", 1: "few", 2: "many"}, outputs=["many", "few"])
    assert [row[::-1] for row in turned.matrix()] == made.matrix()
    assert NOISE.post_process({0: 2, 1: 0, 2: 1}).outputs == (0, 1, 2)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
@pytest.mark.parametrize("n", [2, 7, 30])
def test_the_optimal_reading_is_a_matrix_that_reaches_its_value(loss, n):
    noise, reader = design.geometric(n, TWO), consumers.Consumer(n, loss, side_information={"at_least": 1})
    found = consumers.optimal_reading(noise, reader)
    matrix = found.matrix()
    assert {sum(line) for line in matrix} == {1}
    assert np.allclose(np.asarray(found), [[float(p) for p in line] for line in matrix])
    assert np.asarray(found, dtype=object).tolist() == list(map(list, matrix))
    read = noise.post_process(found)
    assert read == noise.post_process(matrix) == noise.post_process(found.reading(), outputs=range(n + 1))
    of = reader.loss.table(n)
    worst = max(sum(p * x for p, x in zip(read.row(i), of[i], strict=True)) for i in range(1, n + 1))
    assert found.lower_bound <= worst <= found.value or math.isclose(worst, found.value)


def test_noise_in_factors_is_remapped_alike():
    factored, reader = FactoredMechanism(privacy=TWO, n=4), consumers.Consumer(4, "absolute", side_information=[1, 2])
    found = consumers.optimal_reading(factored, reader)
    whole = factored.expand().post_process(found)
    assert factored.post_process(found).expand() == whole
    twice = {z: min(z, 3) for z in range(5)}
    assert factored.post_process(found).post_process(twice).expand() == whole.post_process(twice, outputs=range(5))
    assert factored.post_process({z: z for z in range(5)}) == FactoredMechanism(
        privacy=TWO, n=4, reading={z: ((z, Fraction(1)),) for z in range(5)}
    )
    with pytest.raises(BadInput, match=r"^reading: must read answers as counts 0\.\.4; "):
        factored.post_process({z: "many" for z in range(5)})


@pytest.mark.parametrize(
    ("reading", "outputs"),
    [
        (None, None),
        ("abc", None),
        ([], None),
        ([[1, 0]], None),
        ([[1, 0], [0, 1], [0.5, 0.4]], None),
        ([[1, 0], [0, 1], [2, -1]], None),
        ([[1, 0], [0, 1], [1]], None),
        (np.full((3, 2), np.nan), None),
        (CHANNEL, ["a"]),
        (CHANNEL, ["a", "a"]),
        ({0: 1, 1: 1}, None),
        ({0: 1, 1: 1, 2: 1, 3: 1}, None),
        ({0: {1: 0.5}, 1: 1, 2: 1}, None),
        ({0: 0, 1: 1, 2: 1}, ["a", "b"]),
        ({0: [], 1: 1, 2: 1}, None),
        ({0: {1}, 1: 1, 2: 1}, None),
    ],
)
def test_what_is_no_remap_is_refused(reading, outputs):
    with pytest.raises(BadInput, match=r"^(reading|outputs): "):
        NOISE.post_process(reading, outputs=outputs)


# Matrices that were printed or computed


def test_nothing_is_normalised_unless_asked():
    with pytest.raises(
        BadInput, match=r'^matrix: has a row that misses 1 by 0\.001; give normalise="rows" .* "round" '
    ):
        Mechanism.from_array(ROUNDED, privacy=TWO)
    with pytest.raises(BadInput, match=r"^matrix: has a row that misses 1 by 1e-17; "):
        Mechanism.from_array([[1, "1e-17"]], privacy=TWO)
    exact = Mechanism.from_array(np.array([[0.3, 0.7], [0.6, 0.4]]), privacy=TWO, graph=graphs.Path(2))
    assert exact.row(0) == (Fraction(3, 10), Fraction(7, 10))


def test_rows_are_divided_by_their_sums():
    made = Mechanism.from_array(ROUNDED, privacy=TWO, graph=graphs.Path(3), normalise="rows")
    assert made.row(1) == (Fraction(1, 3),) * 3
    assert made.row(0)[0] == Fraction(667, 1001)
    counts = Mechanism.from_array(np.array([[2, 1], [1, 1]]), privacy=TWO, normalise="rows")
    assert counts.row(0) == (Fraction(2, 3), Fraction(1, 3))


def test_rounding_is_undone_at_the_largest_entry_alone():
    made = Mechanism.from_array(np.array(ROUNDED), privacy=TWO, graph=graphs.Path(3), normalise="round")
    assert made.row(0) == (Fraction(666, 1000), Fraction(222, 1000), Fraction(112, 1000))
    assert made.row(1) == (Fraction(334, 1000), Fraction(333, 1000), Fraction(333, 1000))
    floats = np.random.default_rng(1).dirichlet(np.ones(40), size=20)
    read = Mechanism.from_array(floats, privacy=TWO, normalise="round")
    assert abs(np.asarray(read) - floats).max() < 1e-14


def test_what_was_printed_draws_is_audited_and_plotted():
    made = Mechanism.from_array(ROUNDED, privacy=Privacy(ratio=2), graph=graphs.Path(3), normalise="round")
    assert len(made.draw(1, 5)) == 5
    verdict = audit(made)
    assert verdict.rows_sum_to_one
    assert not verdict.private  # 0.334/0.112 is above 2
    assert verdict.ratio_at_delta == Fraction(334, 112)
    assert made.plot().rows
    assert audit(design.repair(made.matrix(), graphs.Path(3), TWO)).private


@pytest.mark.parametrize(
    ("matrix", "how"),
    [
        ([[0.5, 0.3]], "round"),
        ([[0.5, 0.497]], "round"),
        ([["1/3", "1/2"]], "round"),
        ([[0, 0]], "rows"),
        ([[0, 0]], "round"),
        ([[0, 0, 0], [1, 0, 0]], "round"),
        ([[1, 1], [1, 0]], "round"),
        ([[2, 0, 0]], "round"),
        ([[0] * 30, ["0.1"] * 10 + [0] * 20], "round"),
        ([["0.6", "0.6", *[0] * 30]], "round"),
        ([[1.5, -0.5]], "rows"),
        ([[1, float("nan")]], "rows"),
        ([[1, 0], [1]], "rows"),
        ([], "rows"),
        ("abc", "rows"),
        ([[1, 0]], "columns"),
        ([[1, 0]], True),
    ],
)
def test_other_matrices_are_refused(matrix, how):
    with pytest.raises(BadInput, match=r"^(matrix|normalise): "):
        Mechanism.from_array(matrix, privacy=TWO, normalise=how)


def test_an_exponential_mechanism_knows_its_exponent():
    apart = [[-2 * abs(i - v) for v in range(5)] for i in range(5)]
    made = design.exponential(graphs.Path(5), Privacy(epsilon=1), scores=apart)
    steps = [math.log(p / q) for p, q in pairwise(made.row(0))]
    assert all(math.isclose(2 * made.exponent, step, rel_tol=1e-12) for step in steps)
    assert math.isclose(-math.log(made.rate) / made.unit, made.exponent, rel_tol=1e-12)
    transitive = design.exponential(graphs.Hamming(2, 3), TWO)
    assert (transitive.rate, transitive.unit) == (Fraction(1, 2), 1)
    assert transitive.row("00")[1] == transitive.row("00")[0] / 2
    assert type(made.post_process({v: v for v in range(5)})) is Mechanism
    assert made.post_process({v: v for v in range(5)}) == made


def test_a_mechanism_remaps_answers_by_their_names():
    rows = [[0, 1], [1, 0], ["1/2", "1/2"]]
    by_name = Mechanism.from_matrix(rows, privacy=TWO, inputs=[2, 0, 1], outputs=["few", "many"])
    wanted = NOISE.post_process({0: "few", 1: {"few": "1/2", "many": "1/2"}, 2: "many"})
    assert NOISE.post_process(by_name) == wanted
    for inputs, lines in (([3, 0, 1], rows), ([0, 1, 2, 3], [*rows, [1, 0]])):
        with pytest.raises(BadInput, match=r"^reading: must have the answers as its inputs; "):
            NOISE.post_process(Mechanism.from_matrix(lines, privacy=TWO, inputs=inputs))
    with pytest.raises(BadInput, match=r"^reading: must have the answers as its inputs; "):
        NOISE.post_process(consumers.optimal_reading(design.geometric(5, TWO), consumers.Consumer(5, "absolute")))
