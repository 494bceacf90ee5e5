"""Mechanisms and their files where they end: every refusal in its words, one answer, one input, ties, both signs."""

import itertools
import json
import time
from fractions import Fraction
from fractions import Fraction as F

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, Mechanism, Privacy, Refusal, design, load, mechanisms
from irisdp._exact import log_above, working_precision
from irisdp._sampling.bits import ScriptedBits, law_of
from irisdp.design import PluralityMechanism, consumer
from irisdp.design._plurality import least_proved_ratio
from irisdp.graphs import Path
from irisdp.mechanisms import geometric
from irisdp.mechanisms._exponential import _log2_above, _log2_below
from irisdp.mechanisms._file_format import exact_text, pairs_from_document
from irisdp.mechanisms._noisy_max import product_of_refusals
from irisdp.privacy import Gaussian, Pair, are_close
from support.refusals import refused

TWO = Privacy(ratio=2)
BOTH = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
SHAPE = "must be a table with rows of one length; give one row of probabilities per input"
HOLD = 'objective: must hold name and value; write {"name": …, "value": …}'
OF_FACTORS = "of factors are 0..n; leave them out, or write a matrix"
EXAMPLE = '; write {"epsilon": 1, "delta": "1/10"}'


# Files

FACTORS = [{"kind": "geometric", "n": 1}]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], 'mechanism: must be a JSON object; write {"format": "irisdp/mechanism/1", …}'),
        ({"format": "x"}, 'format: is not one this version reads; write "irisdp/mechanism/1"'),
        ({"kind": "geometric"},
         "mechanism: is a spec, which says what to design; design it first, with irisdp.design.from_spec"),
        ({}, 'matrix: must be given in one form; write "matrix", or "rows" and "row_of", or "factors"'),
        ({"matrix": [[1]], "rows": [[1]]},
         'matrix: must be given in one form; write "matrix", or "rows" and "row_of", or "factors"'),
        ({"rows": [[1, 0], [0, 1]], "row_of": [0, 2]},
         "row_of: names a row that is not there; use numbers from 0 to 1"),
        ({"rows": [], "row_of": []}, f"rows: {SHAPE}"),
        ({"matrix": [[]]}, f"matrix: {SHAPE}"),
        ({"matrix": [[1, 0], [1]]},
         f"matrix: {SHAPE}"),
        ({"matrix": [[1, 0]], "inputs": [1, 2]}, "inputs: must be 1 names, as the table has; name each once"),
        ({"matrix": [[1, 0]], "outputs": [1]}, "outputs: must be 2 names, as the table has; name each once"),
        ({"matrix": [[1]], "objective": 3}, HOLD),
        ({"matrix": [[1]], "objective": {"name": 3}}, HOLD),
        ({"factors": FACTORS, "privacy": None}, 'privacy: is missing; write {"epsilon": …} or {"ratio": …}'),
        ({"factors": FACTORS, "privacy": {"all": [{"ratio": 3}, {"ratio": 2, "delta": "1/50"}]}},
         "privacy: of factors must be one pair: the geometric mechanism has one ratio; state it, or write the matrix"),
        ({"factors": []}, "factors: must be a standard mechanism and at most one reading; see the mechanism format"),
        ({"factors": [*FACTORS, {}, {}]},
         "factors: must be a standard mechanism and at most one reading; see the mechanism format"),
        ({"factors": [3]}, "factors: must be a standard mechanism and at most one reading; see the mechanism format"),
        ({"factors": [{"kind": "geometric"}]},
         'factors: must begin with a geometric mechanism; write {"kind": "geometric", "n": …}'),
        ({"factors": [{"kind": "laplace", "n": 1}]},
         'factors: must begin with a geometric mechanism; write {"kind": "geometric", "n": …}'),
        ({"factors": FACTORS, "inputs": [0]}, f"inputs: {OF_FACTORS}"),
        ({"factors": FACTORS, "outputs": [1, 0]}, f"outputs: {OF_FACTORS}"),
        ({"factors": FACTORS, "outputs": [False, 1]}, f"outputs: {OF_FACTORS}"),
        ({"factors": [*FACTORS, {"reading": [[0, 0]]}]},
         "reading: must hold triples; write [z, r, p]: z is read as r with probability p"),
    ],
)  # fmt: skip
def test_files_that_are_none_are_refused_in_these_words(document, said):
    whole = document if isinstance(document, list) else {"privacy": {"ratio": 2}, **document}
    assert refused(mechanisms.read_document, whole) == said


def test_files_with_little_in_them_are_read():
    alone = mechanisms.read_document({"matrix": [["1"]], "objective": {"value": "1/3"}})
    assert (alone.privacy, alone.graph) == (None, None)
    assert (alone.objective.name, alone.objective.value, alone.objective.lower_bound) == ("objective", F(1, 3), None)
    assert refused(alone.mechanism) == 'privacy: is missing; write {"epsilon": …} or {"ratio": …}'
    rows = mechanisms.read_document(
        {"privacy": {"ratio": 2}, "rows": [["1/2", "1/2"], [1, 0], ["1/2", "1/2"]], "row_of": [2, 1, 0]}
    )
    assert rows.row_of.tolist() == [0, 1, 0]
    assert rows.mechanism().matrix() == [(F(1, 2), F(1, 2)), (1, 0), (F(1, 2), F(1, 2))]
    on_path = mechanisms.read_document({"privacy": {"ratio": 2}, "matrix": [[1], [1]], "graph": Path(2).to_document()})
    assert tuple(on_path.inputs) == tuple(Path(2).nodes)
    factors = mechanisms.read_document(
        {"privacy": {"ratio": 2}, "factors": FACTORS, "inputs": [0, 1], "outputs": [0, 1], "certificate": "none"}
    )
    assert factors.mechanism().certificate is None
    assert factors.certificate == "none"


def test_an_objective_is_written_with_its_bound_where_it_has_one(tmp_path):
    rows = [["2/3", "1/3"], ["1/3", "2/3"]]
    for bound in (None, F(1, 4)):
        made = Mechanism.from_matrix(
            rows,
            privacy=TWO,
            objective=mechanisms.StatedObjective("error", F(1, 3), bound),
            certificate={"loss": [["0", "1"]], "k": 1},
        )
        made.save(tmp_path / f"{bound is None}.json")
        again = load(tmp_path / f"{bound is None}.json")
        assert again.objective == made.objective
        assert again.certificate == made.certificate
        assert '"error" 0.333333' in repr(again)
    assert "error" not in repr(Mechanism.from_matrix(rows, privacy=TWO))


def test_what_could_not_be_read_again_is_not_written():
    long = F(1, 3**9000)
    assert (
        refused(exact_text, F(10**4200 + 1, 3**9000), "x") == "x: has more than 8000 characters; write a shorter number"
    )
    assert exact_text(long, "x") == str(long.numerator) + "/" + exact_text(F(3**9000), "x")
    certificate = {"weights": {"a": ["9" * 4301]}}
    made = Mechanism.from_matrix([[1]], privacy=TWO, certificate=certificate)
    assert refused(made.to_document) == "weights: has an integer of more than 4300 digits; write a shorter number"


# Privacy in documents


@pytest.mark.parametrize(("document", "said"), [
    (3, "privacy: must be an object" + EXAMPLE),
    ({"gaussian": 1, "x": 2}, "privacy: must hold gaussian, and gap or nothing" + EXAMPLE),
    ({"zcdp": [1]}, "privacy: must hold numbers" + EXAMPLE),
    ({"all": [], "delta": 0}, "privacy: must hold nothing beside all; put everything into the list"),
    ({"all": [{"ratio": 2, "x": 1}]}, "privacy: must hold epsilon or ratio, and delta" + EXAMPLE),
    ({"all": [3]}, "privacy: must hold epsilon or ratio, and delta" + EXAMPLE),
    ({"ratio": None}, "privacy: must hold numbers" + EXAMPLE),
    ({"all": [{"ratio": 2}] * 10_001}, "all: must hold at most 10000 pairs; leave out those that matter least"),
])  # fmt: skip
def test_what_is_no_privacy_is_refused_in_these_words(document, said):
    assert refused(mechanisms.privacy_from_document, document) == said


def test_files_of_mechanisms_hold_pairs_and_no_curve():
    for curve in ("gaussian", "zcdp"):
        said = refused(pairs_from_document, {curve: 1})
        assert said.startswith(
            f"privacy: of a mechanism file must be pairs, and {curve} is a curve; write its pairs as"
        )
    assert refused(pairs_from_document, []) == "privacy: must be an object" + EXAMPLE
    assert pairs_from_document({"all": [{"ratio": 2}]}) == TWO


def test_guarantees_are_read_as_they_were_written():
    assert mechanisms.guarantee_from_document({"gaussian": "1/2"}) == Gaussian("1/2")
    assert mechanisms.guarantee_from_document({"zcdp": "1/2"}) == Gaussian(1)
    assert mechanisms.guarantee_from_document({"gaussian": 1, "gap": "1e-3"}) == Privacy.gaussian(1, gap="1e-3")
    assert mechanisms.guarantee_from_document({"ratio": 2}) == TWO
    assert refused(mechanisms.guarantee_from_document, {"gaussian": None}) == "privacy: must hold numbers" + EXAMPLE
    assert refused(mechanisms.guarantee_from_document, 3) == "privacy: must be an object" + EXAMPLE


@pytest.mark.parametrize("privacy", [
    Privacy(epsilon=1),
    Privacy(epsilon=0),
    Privacy(epsilon="1e-40"),  # whose ratio is 1 in so many digits, and whose charge is not 0
    Privacy(ratio="3/2", delta="1/7"),
    Privacy(ratio=F(10**500 * 3**50 + 1, 3**50)),  # beyond every ε that may be asked for
    Privacy(ratio=F((1 << 70) + 1, (1 << 70) - 1)),
    BOTH,
], ids=range(7))  # fmt: skip
def test_privacy_is_read_back_with_its_ratio_its_delta_and_its_charge(privacy):
    document = json.loads(json.dumps(mechanisms.privacy_to_document(privacy)))
    assert mechanisms.privacy_from_document(document) == privacy


def test_short_ratios_stand_as_themselves():
    assert mechanisms.privacy_to_document(Privacy(ratio=2, delta="1/8")) == {"ratio": "2", "delta": "0.125"}
    assert mechanisms.privacy_to_document(Privacy(epsilon="1/3")) == {"epsilon": "1/3"}
    assert mechanisms.privacy_to_document(Gaussian("1/4")) == {"gaussian": "0.25"}
    dearer = Privacy.of((Pair(F(2), F(0), log_above(F(2)) + 1),))  # a charge that no ε gives: the ratio is what holds
    assert mechanisms.privacy_to_document(dearer) == {"ratio": "2"}


# Rows and a map


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"outputs": (0, 0)}, "outputs: must be different from each other and at least one; rename the outputs"),
        ({"outputs": ()}, "outputs: must be different from each other and at least one; rename the outputs"),
        ({"row_of": np.array([0])}, "row_of: must name one row for every input; give as many entries as inputs"),
        ({"row_of": np.array([[0, 0]])}, "row_of: must name one row for every input; give as many entries as inputs"),
        ({"row_of": np.array([0, 1])}, "row_of: names a row that is not there; use numbers from 0 to 0"),
        ({"row_of": np.array([-1, 0])}, "row_of: names a row that is not there; use numbers from 0 to 0"),
        ({"rows": ((F(1),),)}, "matrix: has a row of 1 entries; give 2 in every row"),
        ({"rows": ((F(3, 2), F(-1, 2)),)}, "matrix: has a negative entry; probabilities are at least 0"),
        ({"rows": ((F(1, 2), F(1, 3)),)},
         'matrix: has a row that does not sum to exactly 1; write exact probabilities, such as "1/3"'),
    ],
)  # fmt: skip
def test_mechanisms_that_are_none(options, said):
    good = {
        "privacy": TWO, "inputs": ("a", "b"), "outputs": (0, 1), "rows": ((F(1), F(0)),), "row_of": np.array([0, 0]),
    }  # fmt: skip
    assert Mechanism(**good).row("b") == (1, 0)
    assert refused(Mechanism, **{**good, **options}) == said


def test_a_matrix_needs_rows_and_takes_names_where_it_has_none():
    assert (
        refused(Mechanism.from_matrix, [], privacy=TWO)
        == "matrix: has no rows; give one row of probabilities for every input"
    )
    plain = Mechanism.from_matrix([[1, 0], [1, 0]], privacy=TWO)
    assert (tuple(plain.inputs), plain.outputs, len(plain.rows)) == ((0, 1), (0, 1), 1)
    named = Mechanism.from_matrix([[1, 0], [0, 1]], privacy=TWO, inputs="ab", outputs="yn", graph=None)
    assert (tuple(named.inputs), named.outputs) == (("a", "b"), ("y", "n"))
    on_path = Mechanism.from_matrix([[1], [1]], privacy=TWO, graph=Path(2))
    assert tuple(on_path.inputs) == tuple(Path(2).nodes)
    mechanisms.check_distribution([F(0), F(1)], 2, "row")


def test_who_dominates_is_asked_of_mechanisms_of_one_question():
    one = Mechanism.from_matrix([["1/2", "1/2"]], privacy=TWO)
    other = Mechanism.from_matrix([["1/2", "1/4", "1/4"]], privacy=TWO)
    assert refused(one.dominates, other, lambda _: (0, 1)).startswith("other: must have the same inputs and outputs")
    assert one.dominates(one, lambda _: (0, 1))
    assert refused(one.position, "x").startswith("input: is not an input of this mechanism; choose one of ")


def test_draws_of_positions():
    made = Mechanism.from_matrix([[1, 0], ["1/2", "1/2"]], privacy=TWO)
    words = ScriptedBits([0, 0, 1 << 63], word_bits=64)
    assert made.draw_each([0, 1, 1], source=words).tolist() == [0, 0, 1]
    for mechanism in (made, geometric(1, TWO), mechanisms.FactoredMechanism(privacy=TWO, n=1)):
        assert mechanism.draw_positions(0, 0).tolist() == []
        assert refused(mechanism.draw_positions, 0, -1) == "count: must be at least 0; choose a number in that range"
        assert refused(mechanism.draw_each, [2]).startswith("places: must lie between 0 and 1")


@pytest.mark.parametrize(("inputs", "outputs"), [(2, 2), (20, 20), (21, 21)])
def test_a_notebook_shows_twenty_rows_and_columns(inputs, outputs):
    row = [F(1, outputs)] * outputs
    page = Mechanism.from_matrix([row] * inputs, privacy=TWO)._repr_html_()
    assert page.count("<tr>") == 1 + min(inputs, 20) + (inputs > 20)
    assert page.count("…") == (20 + 1 + 22 if inputs > 20 else 0)
    assert f"{float(F(1, outputs)):.4g}" in page
    assert "each row is the law of the answer for one input" in page


# The geometric mechanism and what is read into it


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("ratio", [F(1), F(3, 2), F(9)])
def test_clamped_noise_is_summed_term_by_term(n, ratio):
    """Each end takes a geometric tail: the noise itself is summed far out, and what is left bounded."""
    alpha, far = 1 / ratio, 60
    for count in range(n + 1):
        row = mechanisms.geometric_row(count, n, ratio)
        assert sum(row) == 1
        noise = [(1 - alpha) / (1 + alpha) * alpha ** abs(z) for z in range(-far, far + 1)]
        summed = [F(0)] * (n + 1)
        for z, probability in zip(range(-far, far + 1), noise, strict=True):
            summed[min(max(count + z, 0), n)] += probability
        assert all(0 <= here - there <= 1 - sum(noise) for here, there in zip(row, summed, strict=True))


def test_geometric_rows_have_ends():
    assert mechanisms.geometric_row(0, 0, F(3)) == (1,)
    assert (
        refused(mechanisms.geometric_row, 0, 1, F(1, 2))
        == "ratio: must be at least 1 (it is e^epsilon); give a number from 1 up"
    )
    assert refused(mechanisms.geometric_row, 2, 1, F(2)).startswith("count: must be at least 0 and at most 1")


READING = {0: ((0, F(1)),), 1: ((0, F(1, 4)), (2, F(1, 2)), (0, F(1, 4))), 2: ((2, F(1)),)}


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        ({0: READING[0]}, "reading: must say how to read every value 0..2; give each z a distribution"),
        ({**READING, 3: READING[0]}, "reading: must say how to read every value 0..2; give each z a distribution"),
        ({**READING, 2: ((2, F(1, 2)),)},
         "reading: must spread probability 1 over answers 0..n for every z; correct [z, r, p]"),
        ({**READING, 2: ((3, F(1)),)},
         "reading: must spread probability 1 over answers 0..n for every z; correct [z, r, p]"),
        ({**READING, 2: ((1, F(-1)), (0, F(2)))},
         "reading: must spread probability 1 over answers 0..n for every z; correct [z, r, p]"),
    ],
)  # fmt: skip
def test_readings_that_are_none(reading, said):
    assert refused(mechanisms.FactoredMechanism, privacy=TWO, n=2, reading=reading) == said


@pytest.mark.parametrize("reading", [None, READING], ids=["as it is", "read"])
@pytest.mark.parametrize("n", [0, 2])
def test_factors_are_drawn_and_looked_at_as_their_product(n, reading):
    reading = reading if n == 2 or reading is None else {0: ((0, F(1)),)}
    made = mechanisms.FactoredMechanism(privacy=TWO, n=n, reading=reading)
    channel = reading or {z: ((z, F(1)),) for z in range(n + 1)}
    for count in range(n + 1):
        exact = [F(0)] * (n + 1)
        for z, probability in enumerate(mechanisms.geometric_row(count, n, F(2))):
            for answer, share in channel[z]:
                exact[answer] += probability * share
        assert list(made.row(count)) == exact
        assert made.approximate_row(count) == pytest.approx([float(p) for p in exact])
        law = law_of(lambda source, c=count: int(made.draw_positions(c, 1, source=source)[0]), word_bits=3, words=3)
        for answer, probability in enumerate(exact):
            mass = law.outcomes.get(answer, F(0))
            assert mass <= probability <= mass + law.undecided
    assert list(made.inputs) == list(made.outputs) == list(range(n + 1))
    for wrong in (-1, n + 1, True, "0"):
        assert (
            refused(made.position, wrong) == f"input: is not an input of this mechanism; choose a count from 0 to {n}"
        )
    again = mechanisms.read_document(json.loads(json.dumps(made.to_document()))).mechanism()
    assert again.expand().matrix() == made.expand().matrix()


# Depths, randomised response


def test_rows_by_depth_and_where_there_is_no_boundary():
    line = mechanisms.balanced_line(TWO)
    assert line.row(0, -1) == (1, 0)
    assert line.truth(1, -1).lower == 1
    assert line.row(0, 1) == (F(5, 6), F(1, 6))
    assert line.truth(0, 1, width=F(1, 10**9)).width <= F(1, 10**9)
    assert line.prefix_sums(0) == (F(2, 3),)
    assert refused(line.row, 2, 0).startswith("group: must be at least 0 and at most 1")
    assert refused(line.row, 0, -2).startswith("depth: must be at least -1")
    mixed = (("a", "b"), ("a", "c"))
    said = "rankings: must each list all outputs once; rank the same outputs in every class"
    half = ((F(1, 2), F(1, 2)),) * 2
    assert refused(mechanisms.DepthMechanism, privacy=TWO, rankings=mixed, boundary=half) == said
    assert (
        refused(mechanisms.DepthMechanism, privacy=TWO, rankings=(("a", "b"), ("a", "b", "a")), boundary=half) == said
    )
    apart = ((F(1), F(0)),) * 2
    told = refused(mechanisms.DepthMechanism, privacy=TWO, rankings=(("a", "b"), ("b", "a")), boundary=apart)
    assert told == "boundary: is not private between ('a', 'b') and ('b', 'a'); choose closer boundary values"


def test_numbers_that_grow_with_every_step_are_not_followed_too_far():
    """A ratio of 2/1 has 3 bits and δ = 0 (0/1) one, which is 4 for each step of each step."""
    assert not mechanisms.too_deep(5_000, TWO)
    assert mechanisms.too_deep(5_001, TWO)
    wide = Privacy(ratio=F(1 << 400))
    both = Privacy.of((*wide.pairs, Pair(F(2), F(1, 2), F(1))))
    assert mechanisms.too_deep(500, wide) == mechanisms.too_deep(500, both) == (500 * 500 * 403 > 10**8)
    assert mechanisms.too_deep(600, wide) and mechanisms.too_deep(600, both)


def test_lines_have_two_classes_and_two_outputs():
    three = mechanisms.DepthMechanism(
        privacy=TWO, rankings=tuple(itertools.permutations("abc"))[:2], boundary=((F(1, 3), F(1, 3), F(1, 3)),) * 2
    )
    said = "mechanism: must have two classes and two outputs; use `balanced_line` or a binary boundary"
    assert refused(mechanisms.line_mechanism, 1, 1, three) == said
    single = mechanisms.DepthMechanism(privacy=TWO, rankings=(("a", "b"),), boundary=((F(1, 2), F(1, 2)),))
    assert refused(mechanisms.line_mechanism, 1, 1, single) == said
    laid = mechanisms.line_mechanism(2, 1, mechanisms.balanced_line(TWO))
    assert laid.matrix() == [(F(5, 6), F(1, 6)), (F(2, 3), F(1, 3)), (F(1, 3), F(2, 3))]


def test_a_class_has_a_ranking_and_a_boundary():
    with pytest.raises(ValueError, match="shorter"):
        mechanisms.DepthMechanism(privacy=TWO, rankings=(("a", "b"),) * 2, boundary=((F(1, 2), F(1, 2)),))


@pytest.mark.parametrize("counts", [[4, 2], [4, 2, 0, 0], [4, 1, 0], [4, 2, 1]])
def test_a_histogram_has_the_types_and_the_total_that_were_said(counts):
    said = "counts: must be one count per type and sum to the total; count every record once"
    assert refused(mechanisms.HistogramMechanism(total=6, types=3, privacy=TWO).draw, counts) == said


def test_families_of_databases_have_ends():
    said = "relation: must be exchange or add-remove; choose one of the two"
    assert refused(mechanisms.PartitionMechanism, total=3, privacy=TWO, relation="swap") == said
    assert refused(mechanisms.noise_risk, 3, TWO, relation="swap") == said
    assert refused(mechanisms.HistogramMechanism, total=10**9, types=9, privacy=TWO).endswith(
        "choose fewer records or fewer types"
    )
    assert mechanisms.expected_changes(3, 2, Privacy(ratio=3)) == F(3, 4)
    nothing = mechanisms.PartitionMechanism(total=3, privacy=Privacy(ratio=1)).law([2, 1])
    assert len(set(nothing.values())) == 1 and sum(nothing.values()) == 1
    said = "counts: must sum to at most the total; give a larger public bound as total"
    assert refused(mechanisms.PartitionMechanism(total=3, privacy=TWO).draw, [3, 1]) == said


def test_a_column_is_answered_by_its_law():
    for value in range(3):
        law = law_of(
            lambda source, given=value: int(mechanisms.release_column([given], 3, TWO, source=source)[0]),
            word_bits=2,
            words=1,
        )
        assert law.outcomes == {answer: F(1, 2) if answer == value else F(1, 4) for answer in range(3)}


@pytest.mark.parametrize("privacy", [TWO, Privacy(ratio=2, delta="1/10"), BOTH], ids=str)
@pytest.mark.parametrize("choices", [2, 3, 5])
def test_the_truth_is_told_as_often_as_pairs_allow(choices, privacy):
    truth = mechanisms.balanced_truth(choices, privacy)
    lie = (1 - truth) / (choices - 1)
    exceeds = [truth - pair.ratio * lie - pair.delta for pair in privacy.pairs]  # of the one event that grows
    assert max(exceeds) == 0
    made = mechanisms.randomized_response(choices, privacy)
    assert made.row(0) == (truth, *[lie] * (choices - 1))
    assert mechanisms.balanced_truth(1, privacy) == 1


def test_randomised_response_names_two_or_more():
    assert (
        refused(mechanisms.randomized_response, ["a"], TWO) == "choices: must be at least 2; name two or more answers"
    )
    named = mechanisms.randomized_response("ab", TWO)
    assert (tuple(named.inputs), named.outputs) == (("a", "b"), ("a", "b"))


# The exponential mechanism

SCORES = [[0, 2, 6], [4, 4, 0]]


@pytest.mark.parametrize(("options", "said"), [
    ({"prior": [1, 2]}, "prior: must be positive, one for every answer; give 3 numbers above 0"),
    ({"prior": [1, 2, 0]}, "prior: must be positive, one for every answer; give 3 numbers above 0"),
    ({"rate": 0}, "rate: must be above 0 and at most 1; give the factor that one unit of score costs"),
    ({"rate": "1.01"}, "rate: must be above 0 and at most 1; give the factor that one unit of score costs"),
    ({"outputs": ["a", "b"]}, "outputs: must be different from each other, one for every answer; name 3"),
    ({"outputs": ["a", "b", "a"]}, "outputs: must be different from each other, one for every answer; name 3"),
    ({"scores": [[1], []]}, "scores: must be a table with rows of one length; give one row for every input"),
    ({"scores": [[]]}, "scores: must be a table with rows of one length; give one row for every input"),
    ({"scores": []}, "scores: must be a table with rows of one length; give one row for every input"),
])  # fmt: skip
def test_exponential_mechanisms_that_are_none(options, said):
    assert refused(mechanisms.Exponential.of, **{"scores": SCORES, "rate": "1/2", **options}) == said


@pytest.mark.parametrize("prior", [None, [1, "1/2", 3]])
@pytest.mark.parametrize("rate", ["1", "1/2", "9/10"])
def test_answers_are_proportional_to_prior_and_powers_of_the_rate(rate, prior):
    made = mechanisms.Exponential.of(SCORES, rate, prior=prior, outputs=list("xyz"))
    assert (made.unit, made.levels, made.outputs) == (2, ((3, 2, 0), (0, 0, 2)), ("x", "y", "z"))
    for position, scores in enumerate(SCORES):
        weights = [F(w) * F(rate) ** F(s, -2) for w, s in zip(prior or [1, 1, 1], scores, strict=True)]
        exact = [weight / sum(weights) for weight in weights]
        assert list(made.row(position)) == exact
        for answer, probability in enumerate(exact):
            for precision in (1, 64, 300):
                found = made.probability(position, answer, precision=precision)
                assert probability in found
                assert found.width <= probability * F(16, 1 << precision)
        for bits in (1, 64):
            brackets = made.brackets(position, bits)
            for (low, high), below in zip(brackets, itertools.accumulate([F(0), *exact]), strict=False):
                assert low <= below * (1 << bits) <= high <= low + 2
    assert mechanisms.Exponential.of([[3, 3]], "1/2").levels == ((0, 0),)
    assert mechanisms.Exponential.of([["1/2", "1/3", 0]], "1/2").unit == F(1, 6)


def test_probabilities_too_small_to_write_down_are_refused():
    made = mechanisms.Exponential.of([[0, 1, 10**9]], "1/2")
    said = "answer: has a probability below 2^-10000000; draw from the mechanism instead"
    assert refused(made.probability, 0, 0) == said
    assert refused(made.probability, 1, 0).startswith("position: must be at least 0 and at most 0")


@given(st.integers(2, 5), st.data())
def test_sensitivity_is_the_largest_difference_along_edges(nodes, data):
    scores = data.draw(st.lists(st.lists(st.integers(-9, 9), min_size=2, max_size=2), min_size=nodes, max_size=nodes))
    expected = max(abs(a - b) for one, other in itertools.pairwise(scores) for a, b in zip(one, other, strict=True))
    assert mechanisms.sensitivity(scores, Path(nodes)) == expected
    told = refused(mechanisms.sensitivity, scores[:-1], Path(nodes))
    assert told == f"scores: must have one row for every node; give {nodes} rows"


@given(st.fractions(min_value=1, max_value=10**6, max_denominator=10**6), st.integers(1, 6))
def test_rates_are_roots_rounded_to_more_privacy(ratio, root):
    rate = mechanisms.rate_above(Privacy(ratio=ratio), F(root))
    assert (rate == 1) == (ratio == 1)
    assert rate <= 1
    assert rate**root >= 1 / ratio
    assert ratio == 1 or (rate * (1 - F(1, 1 << 98))) ** root < 1 / ratio


# Winners


def test_gaps_are_checked():
    assert mechanisms.read_gaps([2, 0, 1], 3) == (2, 0, 1)
    for wrong in ([0, 1], "001", 7):
        assert refused(mechanisms.read_gaps, wrong, 3) == "gaps: must be a list of 3 gaps; give one for each category"
    said = "gaps: must hold a 0: the largest category has none; subtract the least from all"
    assert refused(mechanisms.read_gaps, [1, 2], 2) == said


def test_products_are_multiplied_out():
    assert product_of_refusals([]) == [1]
    found = product_of_refusals([F(1, 2), F(1, 3)])
    assert [sum(c * x**k for k, c in enumerate(found)) for x in (0, 1, 2)] == [1, F(1, 3), 0]


def test_pulling_from_the_top_shares_what_is_left():
    half = mechanisms.PulledChances(F(1, 2), lambda k: F(1, 2**k))
    assert (half.top((0, 0)), half.top((0, 1)), half.chance((0, 1), 1)) == (F(1, 2), F(2, 3), F(1, 3))
    far = [half.chance((0, 3), 0), half.chance((0, 3), 3)]
    assert sum(far) == 1
    assert 2 * far[1] == half.chance((0, 1), 1) or far[1] < half.chance((0, 1), 1)


@pytest.mark.parametrize("ratio", [F(101, 100), F(2), F(7, 2)])
@pytest.mark.parametrize("power", [0, 1, 63, 65, 66, 129, 5000])
def test_powers_of_a_pull_are_enclosed_and_narrowly(ratio, power):
    """Whether written out or too small to be: beside the power as a fraction."""
    with working_precision(64):
        found = mechanisms.Pull(3, Privacy(ratio=ratio))._power(power)
    true = ratio**-power
    with working_precision(20_000):
        assert found.contains(flint.arb(flint.fmpq(true.numerator, true.denominator)))
        assert found.rad() < flint.arb(2) ** -50


@pytest.mark.parametrize("value", [F(1), F(1, 2), F(1, 3), F(1, 1 << 500), F(3, 1 << 90)])
def test_logarithms_that_choose_sizes_are_bounds(value):
    with working_precision(200):
        true = flint.arb(flint.fmpq(value.numerator, value.denominator)).log() / flint.arb(2).log()
        low = _log2_below(value)
        assert -(2.0**-39) < flint.arb(flint.fmpq(low.numerator, low.denominator)) - true < 2.0**-150
        assert _log2_above(1 / value) >= -low - F(1, 1 << 39)


def test_a_tiny_share_of_the_prior_is_enclosed_to_as_many_digits():
    mechanism = mechanisms.Exponential.of([[0, -3], [-3, 0]], F(1, 2), prior=[1, F(1, 10**40)])
    found = mechanism.probability(0, 1, precision=64)
    exact = mechanism.row(0)[1]
    assert found.lower <= exact <= found.upper and (found.upper - found.lower) / exact < F(1, 1 << 60)


def test_a_release_is_no_mechanism():
    with pytest.raises(BadInput, match="is a release, which says how answers were made, and no mechanism; give it to"):
        mechanisms.read_document({"format": "irisdp/release/1"})


def test_an_array_of_a_mechanism_has_a_row_for_every_input():
    rows = ((F(1, 3), F(2, 3)), (F(1), F(0)))
    places, nodes = np.array([1, 0, 1]), Path(3).nodes
    mechanism = Mechanism(privacy=Privacy(ratio=2), inputs=nodes, outputs=(0, 1), rows=rows, row_of=places)
    assert np.asarray(mechanism).tolist() == [[1.0, 0.0], [1 / 3, 2 / 3], [1.0, 0.0]]
    assert np.asarray(mechanism, dtype=object).tolist() == [[1, 0], [F(1, 3), F(2, 3)], [1, 0]]
    assert np.asarray(mechanism, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="holds no array"):
        np.asarray(mechanism, copy=False)


@pytest.mark.parametrize(
    ("sets", "inputs", "many"),
    [(256, 10**9, False), (257, 10**9, True), (257, 15_564, False), (257, 15_565, True), (3000, 1333, False)],
)
def test_sets_of_first_choices_are_followed_up_to_a_number(sets, inputs, many):
    assert (
        mechanisms.too_many_events([range(sets), list(range(sets))], inputs) is many
    )  # a set for every number of first choices


# Mechanisms: rows and a map, pullback, post-processing, dominance, and the file.

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
    mechanism = mechanisms.randomized_response(["a", "b", "c"], Privacy(ratio=4, delta="1/10"))
    rows = mechanism.matrix()
    assert all(are_close(p, q, mechanism.privacy) for p in rows for q in rows)
    more = rows[0][0] + Fraction(1, 10**30)
    nudged = (more, (1 - more) / 2, (1 - more) / 2)
    assert not are_close(nudged, rows[1], mechanism.privacy)
    assert mechanisms.binary_randomized_response(TWO).row(0) == (Fraction(2, 3), Fraction(1, 3))


def test_equal_rows_are_kept_once_and_pullback_only_remaps():
    base = mechanisms.line_mechanism(2, 2, mechanisms.balanced_line(TWO))
    votes = {f"{a}{b}{c}": 1 + a + b + c for a in (0, 1) for b in (0, 1) for c in (0, 1)}
    pulled = base.pullback(votes)
    assert len(pulled.rows) == 4
    assert pulled.row("011") == base.row(3)
    with pytest.raises(BadInput, match="query"):
        base.pullback({"x": 99})


def test_post_processing_multiplies_rows():
    base = mechanisms.binary_randomized_response(TWO)
    read = base.post_process([["1", "0", "0"], ["0", "1/2", "1/2"]], outputs=["n", "y", "z"])
    assert read.row(1) == (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
    for wrong in ([[1, 0]], [[1, 0], [1, 1]], [[1, 0], [2, -1]]):
        with pytest.raises(BadInput, match="reading"):
            base.post_process(wrong)


def test_dominance_compares_prefix_sums():
    better, worse = mechanisms.binary_randomized_response(Privacy(ratio=3)), mechanisms.binary_randomized_response(TWO)
    ranking = {0: (0, 1), 1: (1, 0)}.__getitem__
    assert better.dominates(worse, ranking)
    assert not worse.dominates(better, ranking)


def test_a_stepped_boundary_must_be_private():
    with pytest.raises(BadInput, match="boundary"):
        mechanisms.DepthMechanism(
            privacy=TWO, rankings=(("a", "b"), ("b", "a")), boundary=((Fraction(9, 10), Fraction(1, 10)),) * 2
        )


def test_far_rows_are_enclosed_without_being_built():
    far = mechanisms.balanced_line(Privacy(epsilon="1e-9")).truth(0, 10**12, width=Fraction(1, 1 << 100))
    assert far.width <= Fraction(1, 1 << 99)
    assert float(far.lower) == 1


@pytest.mark.parametrize("wrong", [
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
])  # fmt: skip
def test_files_that_hold_no_mechanism_are_refused(wrong):
    with pytest.raises(BadInput):
        mechanisms.read_document({"privacy": {"ratio": 2}, **wrong}).mechanism()


def test_the_file_keeps_every_digit(tmp_path):
    for mechanism in (
        geometric(5, Privacy(epsilon=1)),
        mechanisms.randomized_response(["a", "b", "c"], Privacy(epsilon="0.3", delta="1/7")),
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
    factored = mechanisms.FactoredMechanism(privacy=TWO, n=2, reading=reading)
    expanded = factored.expand()
    channel = [[dict(reading[z]).get(r, Fraction(0)) for r in range(3)] for z in range(3)]
    assert expanded.matrix() == geometric(2, TWO).post_process(channel).matrix()
    again = mechanisms.read_document(factored.to_document()).mechanism()
    assert isinstance(again, mechanisms.FactoredMechanism)
    assert again == factored


def test_rows_cannot_be_changed():
    mechanism = mechanisms.binary_randomized_response(TWO)
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
    [geometric(3, TWO), mechanisms.FactoredMechanism(privacy=TWO, n=3), mechanisms.randomized_response("ab", TWO)],
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


# What `design.plurality` chooses, says of it, and refuses.


def chosen(categories, ratio, *words, **options):
    return design.plurality(categories, Privacy(ratio=ratio), *words, **options)


@pytest.mark.parametrize(("categories", "ratio", "words", "form", "says"), [
    (2, "1", (), mechanisms.Pull, "proved private"),
    (4, "1.01", (), mechanisms.Pull, "proved private"),
    (5, "1.5", (), mechanisms.Pull, "proved private"),
    (5, "1.499", (), mechanisms.PermuteAndFlip, "below 3/2"),
    (6, "2", (), mechanisms.Pull, "at least 2"),
    (10, "14/3", (), mechanisms.Pull, "proved private"),
    (10, "4.66", (), mechanisms.PermuteAndFlip, "below 14/3"),
    (13, "1000", (), mechanisms.PermuteAndFlip, "more than 12"),
    (3, "2", ("add-remove",), mechanisms.PermuteAndFlip, "full ε"),
    (3, "2", ("add-remove", "first"), mechanisms.NoisyLargest, "geometric"),
])  # fmt: skip
def test_the_rule_goes_by_public_facts_and_says_which(categories, ratio, words, form, says):
    made = chosen(categories, ratio, *words)
    assert isinstance(made.form, form)
    assert says in made.rule
    assert made.largest is None
    assert isinstance(made, PluralityMechanism)


def test_what_is_proved_is_where_the_bound_says():
    assert [least_proved_ratio(q) for q in range(2, 9)] == [1, 1, 1, Fraction(3, 2), 2, Fraction(8, 3), Fraction(10, 3)]


def test_claims_are_no_wider_than_the_theorems():
    assert "worst" in chosen(3, 2).scope
    assert "mean" not in chosen(3, "3.99").scope
    assert "mean" in chosen(3, 4).scope
    for other in (
        chosen(6, "1.9"),
        chosen(3, 2, "add-remove"),
        chosen(3, 2, "add-remove", "first"),
        chosen(3, 2, largest=4),
    ):
        assert other.scope == "no optimality is claimed"


def test_worst_errors_exactly():
    assert chosen(4, 2).worst_error == Fraction(3, 5)
    assert chosen(3, 2, "add-remove").worst_error == Fraction(5, 12)
    assert chosen(13, 1).worst_error == Fraction(12, 13)
    assert chosen(3, 1, "add-remove", "first").worst_error == Fraction(2, 3)


def test_delta_is_not_used():
    made = design.plurality(3, Privacy(ratio=2, delta="1/10"))
    assert made.privacy == Privacy(ratio=2)
    assert made.row((0, 1, 1)) == chosen(3, 2).row((0, 1, 1))


def test_a_cap_takes_what_is_beyond_for_itself():
    made = chosen(3, 2, largest=6)
    assert made.row((0, 7, 10**15)) == made.row((0, 6, 6))
    assert "capped at 6" in made.rule
    flipped = chosen(3, 2, "add-remove", largest=6)
    assert flipped.row((0, 7, 9)) == chosen(3, 2, "add-remove").row((0, 6, 6))


@pytest.mark.parametrize(("arguments", "options", "message"), [
    ((1, Privacy(ratio=2)), {}, "categories: must be at least 2"),
    ((101, Privacy(ratio=2)), {}, "categories: must be at least 2 and at most 100"),
    ((3, Privacy(ratio=2), "swap"), {}, "relation: must be exchange or add-remove"),
    ((3, Privacy(ratio=2), "exchange", "last"), {}, "ties: must be any or first"),
    ((3, Privacy(ratio=2)), {"largest": 0}, "largest: must be at least 1"),
    ((3, Privacy.gaussian(1, gap="1e-2")), {}, "privacy: holds"),
    ((3, 2), {}, "privacy: must be a Privacy"),
])  # fmt: skip
def test_bad_input_is_refused_in_one_line(arguments, options, message):
    with pytest.raises(BadInput, match=f"^{message}") as refused:
        design.plurality(*arguments, **options)
    assert "\n" not in str(refused.value)


def test_a_public_order_of_ties_is_refused_where_records_are_exchanged():
    with pytest.raises(Refusal, match=r"^ties: a public order of ties needs"):
        chosen(3, 2, "exchange", "first")


@pytest.mark.parametrize(("gaps", "message"), [
    ((0, 1), "gaps: must be a list of 3 gaps"),
    ("000", "gaps: must be"),
    (5, "gaps: must be"),
    ((1, 1, 2), "gaps: must hold a 0"),
    ((0, -1, 2), "gaps: must be at least 0"),
    ((0, 1.5, 2), "gaps: must be a whole number"),
    ((0, True, 2), "gaps: must be a number, not true or false"),
    ((0, float("nan"), 2), "gaps: must be a finite number"),
])  # fmt: skip
def test_what_are_no_gaps_are_refused(gaps, message):
    made = chosen(3, 2)
    for ask in (made.row, made.enclose, made.form.row):
        with pytest.raises(BadInput, match=f"^{message}"):
            ask(gaps)


def test_far_gaps_are_enclosed_at_once_and_not_written_out():
    for made in (
        chosen(4, "1.000001"),
        chosen(12, "1e9"),
        chosen(3, 2, "add-remove"),
        chosen(40, 2, "add-remove", "first"),
    ):
        gaps = (0, *(10**17 + place for place in range(made.categories - 1)))
        started = time.process_time()
        with pytest.raises(BadInput, match=r"^gaps: are too large for exact fractions; ask `enclose`"):
            made.row(gaps)
        assert made.enclose(gaps)[0].upper == 1
        assert time.process_time() - started < 1
    with pytest.raises(BadInput, match=r"^width: must be more than 0"):
        chosen(3, 2).enclose((0, 0, 1), width=0)
