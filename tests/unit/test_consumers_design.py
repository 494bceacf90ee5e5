"""Designs for consumers of large counts: what is handed out, that it is what it says, and what is refused."""

import contextlib
import copy
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from irisdp import BadInput, Mechanism, Privacy, audit, design, load
from irisdp.certify import add_digest, verify_mechanism
from irisdp.mechanisms import FactoredMechanism, read_document

GAP = 1e-9
"""What is promised, relative to the value."""

LONGEST = 1 << 128

TABLE = [[2 * (v - i) if v > i else 3 * (i - v) for v in range(41)] for i in range(41)]


def verified(document, tmp_path):
    """What the stand-alone verifier says of a document."""
    file = tmp_path / "m.json"
    file.write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()):
        return verify_mechanism.main(str(file)) == 0


CASES = [
    (33, "absolute", {}),
    (64, "squared", {"side_information": {"at_least": 10, "at_most": 55}}),
    (40, "zero-one", {}),
    (40, {"name": "threshold", "beyond": 4}, {"side_information": [0, 3, 20, 21, 40]}),
    (40, {"name": "pinball", "too_low": "5/2", "too_high": 1}, {"prior": [f"1/{41}"] * 41}),
    (40, {"name": "excess", "beyond": 2}, {"prior": [0] * 10 + ["1/2"] + [0] * 29 + ["1/2"]}),
    (40, TABLE, {}),
]


@pytest.mark.parametrize("privacy", [Privacy(epsilon="0.3"), Privacy(ratio=3)], ids=str)
@pytest.mark.parametrize(("n", "loss", "knows"), CASES, ids=lambda case: str(case)[:24])
def test_from_33_counts_on_universality_is_the_evidence(n, loss, knows, privacy, tmp_path):
    made = design.consumer(n, loss, privacy, **knows)
    assert isinstance(made, Mechanism) and made.certificate["theorem"] == "geometric-reading"
    objective = made.objective
    assert 0 <= objective.value - objective.lower_bound <= GAP * objective.value
    assert all(x.denominator <= LONGEST for row in made.rows for x in row)
    verdict = audit(made)
    assert verdict.holds and verdict.private and verdict.delta_at_epsilon == 0
    assert verified(made.to_document(), tmp_path)


@pytest.mark.parametrize("spoil", ["counts that are not possible", "sides", "nothing"])
def test_no_evidence_is_written_that_the_checker_would_refuse(spoil):
    """Universality holds for more tables than the checker knows; what is handed out always passes."""
    table = [[abs(i - v) * (1 + i % 3) for v in range(37)] for i in range(37)]
    if spoil == "sides":
        table[20] = [x * (1 + (v > 20)) for v, x in enumerate(table[20])]
    elif spoil != "nothing":
        table[0] = table[0][::-1]
    made = design.consumer(36, table, Privacy(ratio=2), side_information={"at_least": 1})
    assert audit(made).holds and (made.certificate is not None or spoil != "nothing")
    assert "universality" not in made.objective.name


@pytest.fixture(scope="module")
def document():
    return json.loads(json.dumps(design.consumer(40, "absolute", Privacy(epsilon="0.5")).to_document()))


def shift_in_a_row(document):
    """Probability moved from one answer to another, with the objective left as it was."""
    row = [Fraction(x) for x in document["matrix"][20]]
    by = min(row[20], Fraction(1, 10**6))
    row[20], row[22] = row[20] - by, row[22] + by
    document["matrix"][20] = [str(x) for x in row]


def better_value(document):
    document["objective"]["value"] = str(Fraction(document["objective"]["value"]) * Fraction(999, 1000))


def higher_bound(document):
    document["objective"]["lower_bound"] = str(Fraction(document["objective"]["lower_bound"]) * Fraction(1001, 1000))


def another_prior(document):
    weights = document["certificate"]["weights"]
    weights[0], weights[20] = "0", str(Fraction(weights[0]) + Fraction(weights[20]))


def smaller_loss(document):
    document["certificate"]["loss"] = {"name": "zero-one"}


@pytest.mark.parametrize("tamper", [shift_in_a_row, better_value, higher_bound, another_prior, smaller_loss])
def test_tampered_designs_are_rejected_even_when_sealed_again(tamper, document, tmp_path):
    """Negative control: the audit and the stand-alone verifier recompute value, bound and privacy."""
    assert audit(read_document(document)).holds and verified(document, tmp_path)
    spoilt = copy.deepcopy(document)
    tamper(spoilt)
    for wrong in (spoilt, add_digest(spoilt)):
        assert not audit(read_document(wrong)).holds
        assert not verified(wrong, tmp_path)


def law(count, n, privacy):
    """The row of geometric noise at a count, in floats."""
    a, z = 1 / float(privacy.ratio), np.arange(n + 1)
    return np.where((z == 0) | (z == n), 1 / (1 + a), (1 - a) / (1 + a)) * a ** abs(z - count)


def test_beyond_1000_inputs_noise_is_followed_by_a_reading(tmp_path):
    # Every n above 1000 is factored, and 411 possible counts are many: more of either only take longer to prove.
    n, privacy = 1010, Privacy(epsilon="0.5")
    made = design.consumer(n, "absolute", privacy, side_information={"at_least": 600})
    assert isinstance(made, FactoredMechanism)
    objective = made.objective
    assert 0 <= objective.value - objective.lower_bound <= GAP * objective.value
    for count in (600, 601, 800, n):
        losses = [(z, p * abs(count - v)) for z, line in made.reading.items() for v, p in line]
        row = law(count, n, privacy)
        expected = sum(row[z] * float(loss) for z, loss in losses)
        assert expected <= float(objective.value) * (1 + GAP)
    assert all(v >= 600 for line in made.reading.values() for v, _ in line)
    file = tmp_path / "m.json"
    file.write_text(json.dumps(made.to_document()))
    verdict = audit(file)
    assert verdict.holds and verdict.private and verdict.optimality.holds
    again = load(file)
    assert again.reading == made.reading and again.objective == made.objective and again.certificate == made.certificate
    document = json.loads(file.read_text())
    # The stand-alone verifier needs a minute for the certificate, so it is given the rest.
    assert verified({key: value for key, value in document.items() if key != "certificate"}, tmp_path)
    document["objective"]["value"] = document["objective"]["lower_bound"] = str(objective.lower_bound / 2)
    assert not audit(read_document(add_digest(document))).optimality.holds
    draws = again.draw_positions(800, 200)
    assert abs(float(np.mean(draws)) - 800) < 5  # standard deviation 0.2


def test_a_tampered_reading_is_rejected(tmp_path):
    """Negative control: readings that do not sum to 1, or name answers that are none."""
    made = design.consumer(1100, "absolute", Privacy(epsilon="0.5")).to_document()
    for change in ([0, 0, "2"], [0, 1101, "1"], [0, 0, "-1"], [1101, 0, "1"]):
        spoilt = json.loads(json.dumps(made))
        triples = spoilt["factors"][1]["reading"]
        triples[:] = [change, *(triple for triple in triples if triple[0] != 0)]
        assert not verified(spoilt, tmp_path)
        with pytest.raises(BadInput, match="reading"):
            audit(read_document(spoilt))


def test_bayesian_consumers_of_large_counts_take_arrays_and_distributions():
    n, privacy = 2000, Privacy(epsilon="0.2")
    prior = stats.binom(n, 0.3)
    made = design.consumer(n, "squared", privacy, prior=prior)
    array = prior.pmf(np.arange(n + 1))
    same = design.consumer(n, "squared", privacy, prior=array / array.sum())
    assert made.reading == same.reading and all(len(line) == 1 for line in made.reading.values())
    answer = np.array([made.reading[z][0][0] for z in range(n + 1)])
    # Who expects 600 ± 20 hardly moves: a released number far off says little.
    assert abs(law(600, n, privacy) @ answer - 600) < 1 and 500 < answer[0] < 600 < answer[n] < 700
    assert 0 <= made.objective.value - made.objective.lower_bound <= GAP * made.objective.value


def test_the_objective_says_where_universality_is_not_guaranteed():
    loss = [[(i - v) ** 2 % 5 for v in range(35)] for i in range(35)]
    made = design.consumer(34, loss, Privacy(ratio=2))
    assert "universality is not guaranteed" in made.objective.name
    assert made.certificate["kind"] == "dual" and audit(made).holds
    assert "universality" not in design.consumer(34, "absolute", Privacy(ratio=2)).objective.name


def test_what_is_too_large_to_be_solved_whole_is_refused_in_one_line():
    falls = [[(i - v) ** 2 % 5 for v in range(113)] for i in range(113)]
    for loss, privacy, field in (
        ("absolute", Privacy(epsilon=1, delta="1e-6"), "delta"),
        (falls, Privacy(ratio=2), "loss"),
    ):
        with pytest.raises(BadInput, match="ends at n = 111") as refused:
            design.consumer(112, loss, privacy)
        assert str(refused.value).startswith(field) and "\n" not in str(refused.value)


def test_what_is_too_large_to_be_written_down_is_refused():
    with pytest.raises(BadInput, match="n: must be at most 100000"):
        design.consumer(100_001, "absolute", Privacy(ratio=2))


@pytest.mark.parametrize("n", [40, 1200])
def test_at_ratio_1_the_answer_is_a_constant_guess(n):
    made = design.consumer(n, "absolute", Privacy(ratio=1))
    assert made.objective.lower_bound <= Fraction(n, 2) <= made.objective.value <= Fraction(n, 2) + Fraction(1, 10**6)
    assert made.row(0) == made.row(n)
