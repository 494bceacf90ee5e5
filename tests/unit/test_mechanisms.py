"""Mechanisms: rows and a map, pullback, post-processing, dominance, and the file."""

import itertools
import json
import time
from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Mechanism, Privacy, Refusal, design, load
from irisdp._sampling.bits import ScriptedBits
from irisdp.design import PluralityMechanism, consumer
from irisdp.design._plurality import least_proved_ratio
from irisdp.graphs import Path
from irisdp.mechanisms import (
    DepthMechanism,
    FactoredMechanism,
    NoisyLargest,
    PermuteAndFlip,
    Pull,
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


# What `design.plurality` chooses, says of it, and refuses.


def chosen(categories, ratio, *words, **options):
    return design.plurality(categories, Privacy(ratio=ratio), *words, **options)


@pytest.mark.parametrize(("categories", "ratio", "words", "form", "says"), [
    (2, "1", (), Pull, "proved private"),
    (4, "1.01", (), Pull, "proved private"),
    (5, "1.5", (), Pull, "proved private"),
    (5, "1.499", (), PermuteAndFlip, "below 3/2"),
    (6, "2", (), Pull, "at least 2"),
    (10, "14/3", (), Pull, "proved private"),
    (10, "4.66", (), PermuteAndFlip, "below 14/3"),
    (13, "1000", (), PermuteAndFlip, "more than 12"),
    (3, "2", ("add-remove",), PermuteAndFlip, "full ε"),
    (3, "2", ("add-remove", "first"), NoisyLargest, "geometric"),
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
