"""Readings of counts with shape or Gaussian noise, against the law that the cell mechanism states, and a program."""

import math
from fractions import Fraction as F

import numpy as np
import pyarrow as pa
import pytest

from irisdp import BadInput, Privacy, interpret, publish
from irisdp._exact import Enclosure
from irisdp._measurements import CountNodes, GaussianNoise, ShapeNoise
from irisdp.consumers import read_loss
from irisdp.mechanisms import privacy_to_document
from irisdp.privacy import Gaussian
from support.programs import Program

TWO = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
ENDED = Privacy.all([Privacy(ratio=3, delta="1/100"), Privacy(ratio=2, delta="1/20")])
NOISE = {"two pairs": ShapeNoise(TWO), "with an end": ShapeNoise(ENDED), "gaussian": GaussianNoise(Gaussian(1))}
SURVEY = pa.table({"age": [70, 30, 81, 20, 90, 66], "town": ["Ely", "Ely", "York", "York", "York", "Ely"]})


def sidecar(mechanism, ends):
    """What publish writes about counts with this noise."""
    limits = {} if ends is None else {"lower": ends[0], "upper": ends[1]}
    return {
        "format": "irisdp/release/1",
        "privacy": privacy_to_document(mechanism.privacy),
        "mechanism": {**mechanism.to_document(), **limits},
    }


def rows_of(mechanism, counts, ends):
    """The stated law of what is shown about each count, as floats."""
    upper = None if ends is None else np.array([ends[1]])
    found = []
    for count in counts:
        law = mechanism.law(CountNodes(np.array([count]), np.array([ends[0] if ends else 0]), upper), 0, counts[-1])
        found.append({z: float(p.upper if isinstance(p, Enclosure) else p) for z, p in law.items()})
    return found


def best(rows, counts, loss, prior):
    """The least worst, or mean, loss of any reading; by a program in floats."""
    values, program = sorted(set().union(*rows)), Program()
    width = len(counts)
    first = program.table(len(values), width)
    lines = [
        {
            first + place * width + at: row.get(z, 0.0) * float(loss.at(count, answer))
            for place, z in enumerate(values)
            for at, answer in enumerate(counts)
        }
        for row, count in zip(rows, counts, strict=True)
    ]
    if prior is None:
        program.worst(lines)
    else:
        for weight, line in zip(prior, lines, strict=True):
            for column, cost in line.items():
                program.cost[column] = program.cost.get(column, 0.0) + weight * cost
    return program.minimum()


@pytest.mark.parametrize("prior", [None, [0.1, 0.2, 0.4, 0.2, 0.1]])
@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "pinball:1:3"])
@pytest.mark.parametrize("ends", [None, (0, 4), (0, 9)])
@pytest.mark.parametrize("name", NOISE)
def test_readings_are_the_best_there_are(name, ends, loss, prior):
    mechanism, counts = NOISE[name], range(5)
    found = interpret(sidecar(mechanism, ends), 2, loss=loss, at_most=4, prior=prior)
    rule = found.answers[0].rule
    rows = rows_of(mechanism, counts, ends)
    assert float(rule.value) == pytest.approx(best(rows, counts, read_loss(loss, 4), prior), rel=1e-6, abs=1e-9)
    assert rule.lower_bound <= rule.value <= rule.lower_bound * (1 + F(1, 10**6)) + F(1, 10**9)
    assert rule.universal is False
    # What is claimed of the reading is what it costs under the stated law.
    costs = [
        sum(
            p * float(chance) * float(read_loss(loss, 4).at(count, answer))
            for z, p in row.items()
            for answer, chance in rule.at(z)
        )
        for count, row in zip(counts, rows, strict=True)
    ]
    cost = max(costs) if prior is None else sum(w * c for w, c in zip(prior, costs, strict=True))
    assert cost == pytest.approx(float(rule.value), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", NOISE)
def test_counts_are_read_where_they_lie(name):
    """Bounds from below, values beyond all that tells counts apart, and tables of losses."""
    release = sidecar(NOISE[name], None)
    near = interpret(release, 103, at_least=100, at_most=106).answers[0]
    assert near.reading == 103
    far = interpret(release, 10**9, at_least=100, at_most=106).answers[0]
    assert far.reading >= interpret(release, 104, at_least=100, at_most=106).answers[0].reading
    assert far.rule.posterior(far.published).probabilities.argmax() >= 5
    table = [[abs(i - v) for v in range(4)] for i in range(4)]
    given = interpret(release, 1, loss=table).answers[0].rule
    assert given.value == pytest.approx(interpret(release, 1, at_most=3).answers[0].rule.value)


@pytest.mark.parametrize("asked", [{"mu": 1, "delta": "1e-6"}])
def test_publications_and_lines_of_ledgers_are_read(asked, tmp_path):
    ledger, grouped = tmp_path / "l.ledger", {"by": "town", "groups": ["York", "Ely"]}
    found = publish(SURVEY, "count", "age > 64", **grouped, **asked, ledger=ledger, out=tmp_path / "a.csv")
    for release in (found, tmp_path / "a.csv", tmp_path / "a.csv.release.json"):
        assert len(interpret(release, at_most=6).answers) == 2
    with pytest.raises(BadInput, match=r"^at_most: is needed: counts with this noise are read among finitely many"):
        interpret(found)
    other = tmp_path / "m.ledger"
    whole = publish(SURVEY, "count", "age > 64", relation="exchange", **asked, ledger=other)
    assert interpret(whole).answers[0].rule.possible == (0, 6)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"privacy": {"epsilon": 1}}, "release: "),
        ({"privacy": None}, "privacy: must be an object"),
        ({"mechanism": {"kind": "shape-noise"}}, "release: has noise of another guarantee than it states"),
    ],
)
def test_files_that_contradict_themselves_are_refused(changed, said):
    with pytest.raises(BadInput) as refused:
        interpret({**sidecar(NOISE["gaussian"], None), **changed}, 1, at_most=3)
    assert str(refused.value).startswith(said)


def test_too_many_counts_are_refused_in_one_line():
    with pytest.raises(BadInput) as refused:
        interpret(sidecar(NOISE["gaussian"], (0, 5000)), 1)
    assert str(refused.value).startswith("at_most: leaves 5,001 counts possible, too many to read with this noise; say")


def gaussian_sidecar(mu, stated=None):
    return {
        "format": "irisdp/release/1",
        "privacy": {"gaussian": mu},
        "mechanism": {"kind": "gaussian-noise", "mu": mu if stated is None else stated},
    }


@pytest.mark.parametrize("stated", ["3", None, [], "x"])
def test_a_sidecar_that_states_two_noises_is_refused(stated):
    document = gaussian_sidecar("1", stated) if stated is not None else gaussian_sidecar("1")
    if stated is None:
        del document["mechanism"]["mu"]
    with pytest.raises(BadInput):
        interpret(document, value=3, at_most=5)


def log_tail(x):
    """The logarithm of P(N(0, 1) > x) for x ≥ 2, by 400 levels of Laplace's continued fraction."""
    bottom = x
    for level in range(400, 0, -1):
        bottom = x + level / bottom
    return -x * x / 2 - math.log(2 * math.pi) / 2 - math.log(bottom)


@pytest.mark.parametrize(("mu", "value"), [("1/1000", 10**7), ("1", 40), ("1", -30), ("2", 8), ("1/10", 3)])
def test_a_value_far_out_says_what_the_gaussian_says_of_it(mu, value):
    """However far out: beyond twelve deviations values are lumped for the game only."""
    most = 1 if mu == "1/1000" else 9
    found = interpret(gaussian_sidecar(mu), value=value, at_most=most).posterior()
    assert len(found.probabilities) == most + 1
    sigma = 1 / float(F(mu))

    def log_mass(count):
        """By Laplace's continued fraction or, near, by the standard library."""
        near, far = ((abs(value - count) + step) / sigma for step in (-0.5, 0.5))
        if far < 5:
            return math.log((math.erfc(near / math.sqrt(2)) - math.erfc(far / math.sqrt(2))) / 2)
        return log_tail(near) + math.log1p(-math.exp(log_tail(far) - log_tail(near)))

    logs = np.array([log_mass(count) for count in range(most + 1)])
    weights = np.exp(logs - logs.max())
    assert found.probabilities == pytest.approx(weights / weights.sum(), rel=1e-6, abs=1e-300)
