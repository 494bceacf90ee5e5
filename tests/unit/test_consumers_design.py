"""Designs for consumers of large counts, and databases as graphs: results, their certificates, and refusals.

Theorems and corollaries are those of [Alda2017].
"""

import contextlib
import copy
import io
import json
import sys
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from irisdp import BadInput, Mechanism, Privacy, audit, design, load
from irisdp._cli import run
from irisdp._exact.linprog import exact_simplex
from irisdp.certify import add_digest, verify_mechanism
from irisdp.design import _path_bounds, continuous, one_answer, relaxations
from irisdp.graphs import Cycle, Hamming, Path, graph_from_edges
from irisdp.mechanisms import Exponential, FactoredMechanism, read_document, sensitivity
from irisdp.privacy import steps
from support.sweeps import tried

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


def test_where_floats_end_far_from_the_optimum_refinements_take_the_place_of_exact_pivots(monkeypatch, tmp_path):
    """At n = 28 a hundred exact pivots took three minutes and did not lead there; each refinement gains four digits."""
    walked = []
    real = exact_simplex.pivot_to_optimum
    monkeypatch.setattr(
        exact_simplex, "pivot_to_optimum", lambda *found, most: (walked.append(most), real(*found, most=most))[1]
    )
    made = design.consumer(28, "absolute", Privacy(epsilon="2.5"))
    assert not walked and made.certificate["kind"] == "dual"
    assert 0 <= made.objective.value - made.objective.lower_bound <= GAP * made.objective.value
    assert audit(made).holds and verified(made.to_document(), tmp_path)


def test_where_the_solver_of_floats_fails_universality_answers(monkeypatch):
    monkeypatch.setattr(exact_simplex.FloatSolver, "solve", lambda *arguments, **options: None)
    made = design.consumer(20, "absolute", Privacy(ratio=3), prior=[Fraction(1, 21)] * 21)
    assert audit(made).holds and made.certificate["theorem"] == "geometric-reading"


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
    # Every n above 1000 is factored, and 211 possible counts are many: more of either only take longer to prove.
    n, least, privacy = 1010, tried(800, 600), Privacy(epsilon="0.5")
    made = design.consumer(n, "absolute", privacy, side_information={"at_least": least})
    assert isinstance(made, FactoredMechanism)
    objective = made.objective
    assert 0 <= objective.value - objective.lower_bound <= GAP * objective.value
    for count in (least, least + 1, 900, n):
        losses = [(z, p * abs(count - v)) for z, line in made.reading.items() for v, p in line]
        row = law(count, n, privacy)
        expected = sum(row[z] * float(loss) for z, loss in losses)
        assert expected <= float(objective.value) * (1 + GAP)
    assert all(v >= least for line in made.reading.values() for v, _ in line)
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
    draws = again.draw_positions(900, 200)
    assert abs(float(np.mean(draws)) - 900) < 5  # standard deviation 0.2


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
    falls = [[(i - v) ** 2 % 5 for v in range(275)] for i in range(275)]
    for loss, privacy, field in (
        ("absolute", Privacy(epsilon=1, delta="1e-6"), "delta"),
        (falls, Privacy(ratio=2), "loss"),
    ):
        with pytest.raises(BadInput, match="ends at n = 273") as refused:
            design.consumer(274, loss, privacy)
        assert str(refused.value).startswith(field) and "\n" not in str(refused.value)


def test_what_is_too_large_to_be_written_down_is_refused():
    with pytest.raises(BadInput, match="n: must be at most 100000"):
        design.consumer(100_001, "absolute", Privacy(ratio=2))


@pytest.mark.parametrize("n", [40, 1200])
def test_at_ratio_1_the_answer_is_a_constant_guess(n):
    made = design.consumer(n, "absolute", Privacy(ratio=1))
    assert made.objective.lower_bound <= Fraction(n, 2) <= made.objective.value <= Fraction(n, 2) + Fraction(1, 10**6)
    assert made.row(0) == made.row(n)


# Continuous answers: u on the distribution function, atoms and densities, and the exact mechanism on a grid.

PRIVACY = Privacy(ratio="1.5", delta="0.05")
GRID = 1e-3
"""A step of the grid, 1e-4, times the jumps of the density."""

DIFFERENCES = 1e-6
"""Densities taken from differences of the distribution function, against those that were given."""

BELOW, RISEN = 1e-9, 1e-8
"""A little below an answer; and how much more probability than asked for may lie there: slopes are below 10."""

FLOATS = 1e-12
"""A dozen steps of a few float operations each."""


def test_the_distribution_function_is_stepped_pointwise():
    design = continuous(stats.beta(2, 1), PRIVACY)
    x = np.array([-0.5, 0, 0.1, 0.5, 0.9, 1, 2])
    for depth in (0, 1, 3, 7):
        inside = [float(steps(Fraction(float(s)), depth, PRIVACY)) for s in stats.beta(2, 1).cdf(x[1:5])]
        assert design.cdf(x, depth) == pytest.approx([0, *inside, 1, 1], abs=FLOATS)


def test_density_and_atoms_make_up_the_whole():
    design = continuous(stats.uniform(2, 3), PRIVACY)
    assert (design.lower, design.upper) == (2, 5)
    grid = np.linspace(2, 5, 30_001)
    middle = (grid[1:] + grid[:-1]) / 2
    for depth in (0, 1, 2, 5):
        atoms = design.atoms(depth=depth)
        if depth:
            # The new atom lies at the answer preferred most, and is what u makes of nothing.
            assert atoms[2.0] == pytest.approx(float(steps(Fraction(0), depth, PRIVACY)), abs=FLOATS)
        mass = design.density(middle, depth, density0=stats.uniform(2, 3).pdf).mean() * 3
        assert mass + sum(atoms.values()) == pytest.approx(1, abs=GRID)
        assert design.density(middle, depth) == pytest.approx(
            design.density(middle, depth, density0=stats.uniform(2, 3).pdf), abs=DIFFERENCES
        )


def test_an_atom_stays_where_it_is():
    def half_at_one(x):
        return np.where(np.asarray(x) < 1, np.clip(x, 0, 1) / 2, np.clip(0.5 + np.asarray(x) / 4, 0, 1))

    design = continuous(half_at_one, Privacy(ratio=2), lower=0, upper=2)
    assert design.atoms([1.0])[1.0] == pytest.approx(0.25, abs=FLOATS)
    assert design.atoms([1.0], 1)[1.0] == pytest.approx(0.125, abs=FLOATS)


def test_quantiles_invert_the_distribution_function():
    design = continuous(stats.beta(2, 1), PRIVACY)
    p = np.linspace(0.001, 0.999, 500)
    for depth in (0, 2, 6):
        x = design.quantile(p, depth)
        assert (design.cdf(x, depth) >= p - FLOATS).all()
        inside = x > design.lower
        assert (design.cdf(x[inside] - BELOW, depth) <= p[inside] + RISEN).all()


@pytest.mark.parametrize("privacy", [PRIVACY, Privacy(epsilon="0.3"), Privacy(epsilon=1, delta="1e-6")])
def test_on_a_grid_it_is_an_exact_private_mechanism(privacy):
    design = continuous(stats.beta(2, 2), privacy)
    mechanism = design.on_grid(20, 12)
    assert audit(mechanism).private
    places = np.arange(21) / 20
    for depth in (0, 1, 5, 12):
        ahead = np.cumsum([float(p) for p in mechanism.row(depth)])
        assert ahead == pytest.approx(design.cdf(places, depth), abs=FLOATS)


def test_deeper_is_stochastically_smaller_and_neighbours_are_close():
    design = continuous(lambda x: np.clip(x, 0, 1) ** 3, PRIVACY, lower=0, upper=1)
    x = np.linspace(0, 1, 101)
    for depth in range(8):
        here, there = design.cdf(x, depth), design.cdf(x, depth + 1)
        assert (there >= here).all()
        assert (there <= 1.5 * here + 0.05 + FLOATS).all()
        assert (1 - here <= 1.5 * (1 - there) + 0.05 + FLOATS).all()


@pytest.mark.parametrize(("boundary", "interval", "field"), [
    (stats.norm(), {}, "lower"),
    (lambda x: x, {}, "lower"),
    (lambda x: x, {"lower": 1, "upper": 0}, "lower"),
    (lambda x: x, {"lower": 0, "upper": float("inf")}, "lower"),
    (lambda x: -x, {"lower": 0, "upper": 1}, "boundary"),
    (lambda x: x, {"lower": 0, "upper": 2}, "boundary"),
    (lambda x: x * np.nan, {"lower": 0, "upper": 1}, "boundary"),
    ("uniform", {"lower": 0, "upper": 1}, "boundary"),
])  # fmt: skip
def test_bad_input_names_the_field(boundary, interval, field):
    with pytest.raises(BadInput) as error:
        continuous(boundary, PRIVACY, **interval)
    assert error.value.field == field
    with pytest.raises(BadInput):
        continuous(stats.uniform(), PRIVACY).cdf(0.5, -1)


# Databases as graphs: what is asked for wrongly is refused by field, and commands agree with functions.
#
# Theorems and corollaries are those of [Alda2017].

TWO = Privacy(ratio=2)
APART = graph_from_edges([(0, 1)], nodes=[0, 1, 2])

REFUSED = {
    "distance on an unconnected graph": ("graph", lambda: design.distance(APART, TWO)),
    "too few weights": ("weights", lambda: design.distance(Cycle(4), TWO, weights=[1, 2])),
    "a negative weight": ("weights", lambda: design.distance(Cycle(3), TWO, weights=[1, -1, 1])),
    "weights that are all 0": ("weights", lambda: design.distance(Path(3), TWO, weights=[0, 0, 0])),
    "a weight that is no number": ("weights", lambda: design.distance(Path(2), TWO, weights=[float("nan"), 1])),
    "a loss of another shape": ("loss", lambda: design.distance(Cycle(3), TWO, loss=[[0, 1], [1, 0]])),
    "a graph too large to pair": ("graph", lambda: design.distance(Cycle(10_000), TWO)),
    "a graph too large for symmetry": ("graph", lambda: design.distance(Cycle(10**9), TWO)),
    "a path too large": ("graph", lambda: design.distance(Path(10**9), TWO)),
    "an exponential mechanism too large": ("graph", lambda: design.exponential(Hamming(30, 2), TWO)),
    "relaxations too large": ("graph", lambda: relaxations(Cycle(10**9), TWO)),
    "weights without symmetry on too large a graph": (
        "graph",
        lambda: design.distance(Hamming(8, 2), TWO, weights=range(1, 257)),
    ),
    "exponential on an unconnected graph": ("graph", lambda: design.exponential(APART, TWO)),
    "scores for too few nodes": ("scores", lambda: design.exponential(Path(3), TWO, scores=[[1, 2], [2, 1]])),
    "ragged scores": ("scores", lambda: design.exponential(Path(2), TWO, scores=[[1, 2], [2]])),
    "no scores": ("scores", lambda: design.safe_exponential([], Path(1), TWO)),
    "an infinite score": ("scores", lambda: design.exponential(Path(2), TWO, scores=[[1, float("inf")], [0, 1]])),
    "a prior of 0": ("prior", lambda: design.exponential(Path(2), TWO, scores=[[1, 2], [2, 1]], prior=[0, 1])),
    "a prior that is too short": ("prior", lambda: design.exponential(Path(2), TWO, prior=[1])),
    "outputs that are too few": ("outputs", lambda: design.exponential(Path(2), TWO, scores=[[1, 2]] * 2, outputs="a")),
    "outputs that come twice": ("outputs", lambda: design.exponential(Path(2), TWO, scores=[[1, 2]] * 2, outputs="aa")),
    "outputs without scores": ("outputs", lambda: design.exponential(Path(2), TWO, outputs="ab")),
    "a rate above 1": ("rate", lambda: Exponential.of([[1, 2]], 2)),
    "a rate of 0": ("rate", lambda: Exponential.of([[1, 2]], 0)),
    "sensitivity of too few rows": ("scores", lambda: sensitivity([[1]], Path(2))),
    "relaxations of an unconnected graph": ("graph", lambda: relaxations(APART, TWO)),
    "one answer of an unconnected graph": ("graph", lambda: one_answer(APART, 0, TWO)),
    "a negative length": ("length", lambda: _path_bounds.middle_distance(-1, TWO)),
    "neither length nor slack": ("length", lambda: _path_bounds.middle_distance_bound(TWO)),
    "both length and slack": ("length", lambda: _path_bounds.middle_distance_bound(TWO, length=1, slack=1)),
    "a negative slack": ("slack", lambda: _path_bounds.middle_distance_bound(TWO, slack=-1)),
    "Theorem 2 with too little slack": ("slack", lambda: _path_bounds.path_bound(100, TWO, "1/2")),
    "Theorem 2 on too short a path": ("nodes", lambda: _path_bounds.path_bound(7, TWO, 1)),
    "Theorem 2 with too short a middle": ("length", lambda: _path_bounds.path_bound(100, TWO, 2, 3)),
    "bounds without an epsilon": ("epsilon", lambda: _path_bounds.best_path_bound(100, Privacy(ratio=1))),
    "Corollary 3 with too little slack": ("slack", lambda: _path_bounds.path_bound_limit(10**6, TWO, 1)),
    "Corollary 3 on too short a path": ("nodes", lambda: _path_bounds.path_bound_limit(63, TWO, 2)),
    "Corollary 4 on too short a path": ("nodes", lambda: _path_bounds.exponential_ratio(63, TWO, 2)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_by_field(name):
    field, ask = REFUSED[name]
    with pytest.raises(BadInput) as refused:
        ask()
    assert refused.value.field == field


def test_scores_and_weights_of_any_size_make_an_exact_mechanism():
    privacy = Privacy(epsilon=1)
    for scores, prior in (
        ([[0, 10**30], [1, 0], [2, 2]], None),
        ([[10**6, 0], [0, 1], [1, 5]], ["1e-300", "1e300"]),
        ([[0, 10**12, 2], [1, 0, 5], [2, 2, 2]], None),
    ):
        made = design.exponential(Path(3), privacy, scores=scores, prior=prior)
        assert audit(made, graph=Path(3), privacy=privacy).private
        assert all(sum(row) == 1 for row in made.rows)


def test_answers_may_be_named_by_lists():
    made = design.exponential(Path(2), Privacy(epsilon=1), scores=[[0, 1], [1, 0]], outputs=[[1], [0, 2]])
    assert made.outputs == ((1,), (0, 2))


def test_hypotheses_at_their_edge_are_granted():
    assert _path_bounds.path_bound(8, TWO, 1).length == 2
    assert _path_bounds.path_bound_limit(64, TWO, 2) > 0
    assert _path_bounds.best_path_bound(3, TWO).value == 0


def test_the_smallest_graphs():
    for privacy in (TWO, Privacy(ratio=1), Privacy(ratio=2, delta="1/10")):
        for graph in (Path(1), Cycle(1), graph_from_edges([], nodes=["a"])):
            assert design.distance(graph, privacy).matrix() == [(1,)]
            assert design.exponential(graph, privacy).matrix() == [(1,)]
    assert design.distance(graph_from_edges([(0, 1)]), TWO).objective.value == Fraction(1, 3)


def test_no_epsilon_leaves_one_answer_for_all():
    """At r = 1 all rows are equal: the centre of the star is as good as any answer gets."""
    star = graph_from_edges([("c", leaf) for leaf in "abde"])
    made = design.distance(star, Privacy(ratio=1))
    assert made.objective.value == made.objective.lower_bound == Fraction(4, 5)
    assert audit(design.exponential(star, Privacy(ratio=1))).holds


def test_names_of_nodes_and_answers_are_kept():
    square = graph_from_edges([("north", "east"), ("east", "south"), ("south", "west"), ("west", "north")])
    made = design.exponential(square, TWO)
    assert set(made.outputs) == set(made.inputs) == {"north", "east", "south", "west"}
    assert made.row("north")[made.outputs.index("north")] == Fraction(4, 9)
    named = design.exponential(Path(2), TWO, scores=[[1, 0], [0, 1]], outputs=["low", "high"])
    assert named.outputs == ("low", "high")


def test_a_prior_moves_the_answer():
    plain = design.exponential(Path(3), TWO)
    tilted = design.exponential(Path(3), TWO, prior=[1, 1, 100])
    assert tilted.row(0)[2] > plain.row(0)[2]
    assert audit(tilted).holds


def test_delta_is_not_promised_where_it_is_not_used():
    made = design.exponential(Cycle(5), Privacy(ratio=2, delta="1/10"))
    assert made.privacy.delta == 0
    assert design.distance(Cycle(5), Privacy(ratio=2, delta="1/10")).objective.value < made.objective.value


def test_without_igraph_the_same_optimum_is_found(monkeypatch):
    graph = graph_from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
    with_symmetry = design.distance(graph, TWO).objective
    monkeypatch.setitem(sys.modules, "igraph", None)
    assert design.distance(graph, TWO).objective == with_symmetry


SPECS = {
    "distance": {"kind": "distance", "graph": {"family": "hamming", "length": 3, "symbols": 2}},
    "weighted": {"kind": "distance", "graph": {"family": "path", "n": 4}, "weights": [1, 2, 3, 4]},
    "loss": {"kind": "distance", "graph": {"edges": [["a", "b"]]}, "loss": [[0, 1], [2, 0]]},
    "exponential": {"kind": "exponential", "graph": {"family": "histograms", "total": 3, "types": 3}},
    "scores": {
        "kind": "exponential", "graph": {"family": "path", "n": 3}, "scores": [["1/2", 0], [0, 0], [0, "0.5"]],
        "outputs": ["yes", "no"], "prior": [1, "2/3"],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
def test_designs_from_the_command_line_pass_the_audit(name, tmp_path, capsys):
    spec, out = tmp_path / "spec.json", tmp_path / "made.json"
    spec.write_text(json.dumps({**SPECS[name], "privacy": {"epsilon": 1}}))
    assert run(["design", str(spec), "-o", str(out)]) == 0
    assert run(["audit", str(out)]) == 0
    assert audit(load(out)).holds
    capsys.readouterr()


@pytest.mark.parametrize("wrong", [
    {"graph": 3},
    {"scores": "high"},
    {"scores": 5},
    {"scores": [1, 2, 3]},
    {"prior": 7},
    {"speed": 1},
    {"outputs": 5, "scores": [[1], [1], [1]]},
    {"outputs": [None], "scores": [[1], [1], [1]]},
    {"outputs": [{"a": 1}], "scores": [[1], [1], [1]]},
])  # fmt: skip
def test_malformed_specs_are_refused_with_status_2(wrong, tmp_path, capsys):
    spec = tmp_path / "spec.json"
    fields = {"kind": "exponential", "graph": {"family": "path", "n": 3}, "privacy": {"epsilon": 1}}
    spec.write_text(json.dumps({**fields, **wrong}))
    assert run(["design", str(spec), "-o", str(tmp_path / "made.json")]) == 2
    complaint = capsys.readouterr().err
    assert "Traceback" not in complaint and "internal error" not in complaint
