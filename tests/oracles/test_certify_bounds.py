"""What certificates prove, against linear programs over all private mechanisms (SciPy, nothing of the library)."""

import contextlib
import io
import itertools
import json
import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irisdp import Mechanism, Privacy, audit, certify, design
from irisdp.graphs import Hamming, Path, graph_from_document
from irisdp.mechanisms import (
    FactoredMechanism,
    balanced_line,
    geometric,
    geometric_row,
    randomized_response,
    read_document,
)
from support.closeness import hockey_stick
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

WRONG = 1e-3
"""What a bound of planted mistakes must exceed the optimum by to count: a million times what solvers leave."""


SOLVER = 1e-7
"""HiGHS's feasibility and optimality tolerances; a bound that is wrong by a missing term is off by far more."""


def best_value(loss, weights, edges, ratio, delta, aggregate="average", considered=None):
    """Return the smallest Σ w·L or max L of all row-stochastic x that are close on every edge."""
    return solve(loss, weights, edges, ratio, delta, aggregate, considered)[0]


def solve(loss, weights, edges, ratio, delta, aggregate, considered):
    """Return the optimum, and its multipliers: by (i, j, v), and for a worst case the prior."""
    n, q = len(loss), len(loss[0])
    program = Program()
    first = program.table(n, q)
    program.private(first, q, edges, ratio, delta)
    if aggregate == "average":
        program.charge(first, [w * x for w, row in zip(weights, loss, strict=True) for x in row])
    else:
        program.worst(
            {first + i * q + v: x for v, x in enumerate(loss[i])}
            for i in (considered if considered is not None else range(n))
        )
    solved = program.solve()
    marginals, multipliers = iter(solved.multipliers.tolist()), {}
    for i, j in [pair for a, b in edges for pair in ((a, b), (b, a))]:
        multipliers |= {(i, j, v): next(marginals) for v in range(q)}
        if delta:
            next(marginals)  # the row that limits the excess
    return solved.value, multipliers, list(marginals)


def judged(document):
    """Seal, check with both, insist that they agree, return the library's verdict."""
    sealed = json.loads(json.dumps(certify.add_digest(document)))
    verdict = certify.check_optimality(read_document(sealed))
    mechanism = certify.verify_mechanism.read_mechanism(sealed)
    try:
        proven = certify.verify_mechanism.conclude(mechanism)
    except Exception:
        assert not verdict.holds
    else:
        assert verdict.holds and (verdict.value, verdict.lower_bound) == (proven.value, proven.proof.bound)
    return verdict


def constant_rows(graph, loss, certificate, ratio, delta="0"):
    """A document whose mechanism ignores its input, which is private; the certificate's bound is what matters."""
    n, q = len(loss), len(loss[0])
    expected = [sum(line, Fraction(0)) / q for line in loss]
    weights = [Fraction(w) for w in certificate["weights"]]
    if certificate["aggregate"] == "average":
        value = sum(w * e for w, e in zip(weights, expected, strict=True))
    else:
        value = max(expected[i] for i in certificate.get("side_information", range(n)))
    return {
        "format": "irisdp/mechanism/1",
        "privacy": {"ratio": str(ratio), "delta": str(delta)},
        "graph": graph,
        "inputs": list(range(n)),
        "outputs": list(range(q)),
        "matrix": [[str(Fraction(1, q))] * q] * n,
        "objective": {"name": "loss", "value": str(value)},
        "certificate": {**certificate, "loss": [[str(x) for x in line] for line in loss]},
    }


def random_prior(pick, n, support):
    weights = [pick.randrange(1, 6) if i in support else 0 for i in range(n)]
    return [Fraction(w, sum(weights)) for w in weights]


@pytest.mark.parametrize("aggregate", ["average", "worst"])
def test_whatever_the_multipliers_the_bound_is_one(aggregate):
    """The solver's multipliers prove its optimum; spoilt ones prove less; never do any prove more."""
    pick, useful = fresh_random(aggregate), 0
    for _ in range(40):
        n, q = pick.randrange(2, 5), pick.randrange(2, 4)
        edges = [(pick.randrange(i), i) for i in range(1, n)]
        ratio, delta = pick.choice([Fraction(2), Fraction(3, 2)]), pick.choice([Fraction(0), Fraction(1, 10)])
        loss = [[Fraction(pick.randrange(4)) for _ in range(q)] for _ in range(n)]
        considered = sorted(pick.sample(range(n), pick.randrange(1, n + 1)))
        weights = random_prior(pick, n, range(n))
        best, found, prior = solve(loss, weights, edges, ratio, delta, aggregate, considered)
        certificate = {"kind": "dual", "aggregate": aggregate}
        if aggregate == "worst":
            shares = [max(Fraction(0), Fraction(p).limit_denominator(10**9)) for p in prior]
            weights = [Fraction(0)] * n
            for i, share in zip(considered, shares, strict=True):
                weights[i] = share / sum(shares)
            certificate["side_information"] = considered
        exact = {key: Fraction(size).limit_denominator(10**12) for key, size in found.items() if size > 0}
        for spoil in (0, 0.5, 1):
            sizes = {
                key: size * (1 if pick.random() >= spoil else Fraction(pick.randrange(30), 10))
                for key, size in exact.items()
            }
            listed = [[*key, str(size)] for key, size in sizes.items()]
            claim = certificate | {"weights": [str(w) for w in weights], "multipliers": listed}
            verdict = judged(constant_rows({"edges": edges}, loss, claim, ratio, delta))
            assert verdict.holds and verdict.lower_bound <= best + SOLVER
            if spoil == 0:
                assert verdict.lower_bound >= best - SOLVER
                # Negative control: without its last term, δ·Σ max λ, the formula is no bound.
                edgewise = {(i, j): max(sizes.get((i, j, v), 0) for v in range(q)) for i, j, _ in sizes}
                useful += verdict.lower_bound + delta * sum(edgewise.values()) > best + WRONG
    assert useful > 0


@pytest.mark.parametrize("shape", ["both sides alike", "shifted", "neither"])
@pytest.mark.parametrize("aggregate", ["average", "worst"])
def test_reading_the_geometric_mechanism_is_as_good_as_anything(shape, aggregate):
    """Universality: the Bayes risk under G is the optimum over all mechanisms, for losses that never fall."""
    pick = fresh_random(f"{shape} {aggregate}")
    for _ in range(25):
        n, ratio = pick.randrange(2, 5), pick.choice([Fraction(2), Fraction(3), Fraction(6, 5)])
        climbs = [list(itertools.accumulate(pick.randrange(3) for _ in range(n + 1))) for _ in range(n + 3)]
        if shape == "shifted":
            left, right = climbs[0], [climbs[0][0], *(climbs[0][0] + x for x in climbs[1][:n])]
            loss = [[Fraction(right[v - i] if v >= i else left[i - v]) for v in range(n + 1)] for i in range(n + 1)]
        elif shape == "neither":
            sides = [(climbs[pick.randrange(n + 3)], climbs[i]) for i in range(n + 1)]
            least = [min(left[0], right[0]) for left, right in sides]
            loss = [
                [
                    Fraction(least[i] if v == i else sides[i][v > i][abs(v - i)] + abs(least[i] - sides[i][v > i][0]))
                    for v in range(n + 1)
                ]
                for i in range(n + 1)
            ]
        else:
            loss = [[Fraction(climbs[i][abs(i - v)]) for v in range(n + 1)] for i in range(n + 1)]
        considered = sorted(pick.sample(range(n + 1), pick.randrange(1, n + 2)))
        weights = random_prior(pick, n + 1, considered)
        certificate = {
            "kind": "theorem",
            "theorem": "geometric-reading",
            "aggregate": aggregate,
            "weights": [str(w) for w in weights],
        }
        if aggregate == "worst":
            certificate["side_information"] = considered
        verdict = judged(constant_rows({"family": "path", "n": n + 1}, loss, certificate, ratio))
        edges = [(i, i + 1) for i in range(n)]
        assert verdict.holds
        assert abs(float(verdict.lower_bound) - best_value(loss, weights, edges, ratio, 0)) < SOLVER
        worst = best_value(loss, weights, edges, ratio, 0, "worst", considered)
        assert aggregate == "average" or float(verdict.lower_bound) <= worst + SOLVER


def test_a_loss_that_falls_is_refused_and_rightly():
    """Negative control: for a loss that does not grow with distance, readings of G are beaten by other mechanisms."""
    loss = [[Fraction(x) for x in line] for line in ([1, 0, 1, 1], [0, 3, 0, 3], [1, 0, 2, 2], [3, 0, 0, 3])]
    weights = [Fraction(1, 4)] * 4
    certificate = {"kind": "theorem", "theorem": "geometric-reading", "aggregate": "average", "weights": ["1/4"] * 4}
    verdict = judged(constant_rows({"family": "path", "n": 4}, loss, certificate, Fraction(2)))
    assert not verdict.holds and "grow" in verdict.reason
    released = np.array([[float(p) for p in row] for row in design.geometric(3, Privacy(ratio=2)).matrix()])
    costs = np.einsum("i,iz,iv->zv", [0.25] * 4, released, np.array(loss, float))
    edges = [(i, i + 1) for i in range(3)]
    assert costs.min(axis=1).sum() == pytest.approx(5 / 8)
    assert best_value(loss, weights, edges, 2, 0) == pytest.approx(1 / 2)


@pytest.mark.parametrize("truth", [1, 2])
def test_a_loss_that_is_less_beside_the_truth_than_at_it_is_refused_by_both_checkers(truth):
    loss = [[Fraction(abs(i - v)) for v in range(4)] for i in range(4)]
    loss[truth][truth - 1] = Fraction(-1)
    certificate = {"kind": "theorem", "theorem": "geometric-reading", "aggregate": "average", "weights": ["1/4"] * 4}
    document = constant_rows({"family": "path", "n": 4}, loss, certificate, 2)
    verdict = judged(document)
    assert not verdict.holds and "grow" in verdict.reason


@pytest.mark.parametrize("change", ["delta", "graph", "order"])
def test_the_geometric_theorems_check_their_hypotheses(change):
    loss = [[Fraction(abs(i - v)) for v in range(3)] for i in range(3)]
    certificate = {"kind": "theorem", "theorem": "geometric-reading", "aggregate": "worst", "weights": ["1/3"] * 3}
    document = constant_rows({"family": "path", "n": 3}, loss, certificate, 2, "1/10" if change == "delta" else "0")
    if change == "graph":
        document["graph"] = {"family": "complete", "n": 3}
    if change == "order":
        document["graph"] = {"edges": [[0, 2], [2, 1]]}
    assert not judged(document).holds


@pytest.mark.parametrize(("loss", "n"), [("absolute", 6), ("squared", 6), ("zero-one", 6), ("absolute", 160)])
def test_factors_are_judged_without_being_expanded(loss, n, tmp_path):
    """Named and written-out losses give one bound; powers beyond 20,000 bits are bracketed, the value from above."""
    privacy = Privacy(epsilon=1)
    cost = {"absolute": abs, "squared": lambda d: d * d, "zero-one": bool}[loss]
    document = FactoredMechanism(privacy=privacy, n=n).to_document()
    goal = {"kind": "theorem", "theorem": "geometric-reading", "aggregate": "average"}
    goal |= {"weights": [str(Fraction(1, n + 1))] * (n + 1), "loss": {"name": loss}}
    document |= {"certificate": goal, "objective": {"value": str(n * n)}}
    verdict = judged(document)
    assert verdict.holds and 0 < verdict.lower_bound <= verdict.value
    law = np.array([[float(p) for p in geometric_row(k, n, privacy.ratio)] for k in range(n + 1)])
    costs = np.array([[float(cost(i - v)) for v in range(n + 1)] for i in range(n + 1)])
    assert float(verdict.value) == pytest.approx((law * costs).sum() / (n + 1))
    assert float(verdict.lower_bound) == pytest.approx((law.T @ costs).min(axis=1).sum() / (n + 1))
    if n == 6:
        written = {**goal, "loss": [[str(int(x)) for x in line] for line in costs]}
        assert judged({**document, "certificate": written}).lower_bound == verdict.lower_bound
        assert not judged({**document, "objective": {"value": str(verdict.value - Fraction(1, 10**40))}}).holds
        file = tmp_path / "m.json"
        file.write_text(json.dumps(certify.add_digest(document)))
        with contextlib.redirect_stdout(io.StringIO()):
            assert certify.verify_mechanism.main(str(file)) == 0
        assert audit(file).holds


# Pullback.


def pulled(inner, graph, query):
    document = json.loads(json.dumps(inner.to_document()))
    outer = {key: document[key] for key in ("format", "privacy", "outputs", "objective")}
    matrix = document.get("matrix") or [document["rows"][k] for k in document["row_of"]]
    outer |= {"graph": graph.to_document(), "inputs": list(graph.nodes), "matrix": [matrix[k] for k in query]}
    return outer | {"certificate": {"kind": "theorem", "theorem": "pullback", "query": query, "mechanism": document}}


def test_a_count_s_optimum_is_the_optimum_on_tables():
    """Looking at more than the count gains nothing: the program over all mechanisms on the cube has the same value."""
    cube = Hamming(3, 2)
    query = [word.count("1") for word in cube.nodes]
    inner = design.consumer(3, "absolute", Privacy(ratio=2), prior=["1/8", "3/8", "3/8", "1/8"])
    document = pulled(inner, cube, query)
    verdict = judged(document)
    assert verdict.holds and verdict.value == inner.objective.value and verdict.gap == 0
    edges = [pair for a, b in cube.edges() for pair in zip(a.tolist(), b.tolist(), strict=True)]
    loss = [[abs(k - v) for v in range(4)] for k in query]
    assert abs(best_value(loss, [Fraction(1, 8)] * 8, edges, 2, 0) - float(verdict.value)) < SOLVER
    for spoil in ("rows", "query", "privacy", "seal"):
        wrong = json.loads(json.dumps(document))
        if spoil == "rows":
            wrong["matrix"][0], wrong["matrix"][7] = wrong["matrix"][7], wrong["matrix"][0]
        elif spoil == "query":
            wrong["certificate"]["query"][0] = 1
        elif spoil == "privacy":
            wrong["privacy"] = {"ratio": "3"}
        else:
            wrong["certificate"]["mechanism"]["objective"]["name"] = "another"
        assert not judged(wrong).holds, spoil


def test_a_query_that_is_not_equitable_is_refused_and_rightly():
    """Negative control: along 0, 1, 1, 2 on a path of four, the optimum above is truly better than the one below."""
    inner = design.consumer(2, "absolute", Privacy(ratio=2), prior=["1/4", "1/2", "1/4"])
    query = [0, 1, 1, 2]
    verdict = judged(pulled(inner, Path(4), query))
    assert not verdict.holds and "equitable" in verdict.reason
    loss = [[abs(k - v) for v in range(3)] for k in query]
    above = best_value(loss, [Fraction(1, 4)] * 4, [(0, 1), (1, 2), (2, 3)], 2, 0)
    assert above < float(inner.objective.value) - 0.01


def test_a_query_that_misses_an_inner_edge_is_refused():
    inner = design.consumer(1, "absolute", Privacy(ratio=2), prior=["1/2", "1/2"])
    graph = graph_from_document({"nodes": ["a", "b"], "edges": []})
    assert not judged(pulled(inner, graph, [0, 1])).holds


# Privacy profiles, composition and dominating pairs against sums written out anew; foreign mechanisms as they are.

FLOATS = 1e-9
"""Closed forms and accountants in doubles, of numbers of size 1."""

GRID = 2e-3
"""How much an accountant with a grid of 1e-4 may add in five rounds: twice 5 grid steps, and its cut tails."""


ONE = Privacy(ratio=1)
ratios = st.fractions(min_value=1, max_value=9, max_denominator=12)


@st.composite
def mechanisms(draw):
    """A random mechanism on a path of 2 or 3 inputs with 2 or 3 outputs, zeros included."""
    outputs, inputs = draw(st.integers(2, 3)), draw(st.integers(2, 3))
    weights = st.lists(st.integers(0, 6), min_size=outputs, max_size=outputs).filter(any)
    rows = [draw(weights) for _ in range(inputs)]
    matrix = [[Fraction(w, sum(row)) for w in row] for row in rows]
    return Mechanism.from_matrix(matrix, privacy=ONE, graph=Path(inputs))


def worst(rows, ratio):
    """Hockey-stick sums of all neighbours, both ways."""
    both = [pair for a, b in pairwise(rows) for pair in ((a, b), (b, a))]
    return max(hockey_stick(a, b, ratio) for a, b in both)


def repeated(row, times):
    """The law of several draws, one probability for every combination of answers."""
    return [math.prod(combination) for combination in product(row, repeat=times)]


@given(mechanisms(), ratios)
@settings(max_examples=tried(48, 300), deadline=None)
def test_the_profile_is_the_maximum_over_neighbours(mechanism, ratio):
    profile = certify.privacy_profile(mechanism)
    assert profile.delta_at(ratio=ratio) == worst(mechanism.matrix(), ratio)


@given(mechanisms(), st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=20))
@settings(max_examples=tried(48, 300), deadline=None)
def test_the_inverse_is_the_smallest_ratio(mechanism, delta):
    ratio = certify.privacy_profile(mechanism).ratio_at(delta)
    rows = mechanism.matrix()
    if ratio is None:
        assert worst(rows, Fraction(10**9)) > delta
        return
    assert worst(rows, ratio) <= delta
    if ratio > 1:
        assert worst(rows, ratio - (ratio - 1) / 10**9) > delta


@given(mechanisms(), st.integers(1, 3), ratios)
@settings(max_examples=tried(24, 150), deadline=None)
def test_composition_is_exact(mechanism, times, ratio):
    rows = [repeated(row, times) for row in mechanism.matrix()]
    assert certify.compose(mechanism, times=times).delta_at(ratio=ratio) == worst(rows, ratio)


@given(mechanisms(), mechanisms(), ratios)
@settings(max_examples=tried(24, 150), deadline=None)
def test_different_mechanisms_compose(first, second, ratio):
    if len(first.inputs) != len(second.inputs):
        return
    rows = [[p * q for p, q in product(a, b)] for a, b in zip(first.matrix(), second.matrix(), strict=True)]
    assert certify.compose([first, second]).delta_at(ratio=ratio) == worst(rows, ratio)


@given(mechanisms(), st.integers(1, 3), ratios)
@settings(max_examples=tried(24, 150), deadline=None)
def test_a_dominating_pair_dominates(mechanism, times, ratio):
    profile = certify.privacy_profile(mechanism)
    pair = certify.dominating_pair(profile)
    assert pair.composed(1).delta_at(ratio=ratio) == profile.delta_at(ratio=ratio)
    assert pair.composed(times).delta_at(ratio=ratio) >= certify.compose(mechanism, times=times).delta_at(ratio=ratio)


def test_the_accountant_agrees_from_above():
    """dp-accounting's PLD of the pair is at least the exact composed δ, and close: its grid is 1e-4 wide."""
    mechanism = randomized_response(2, Privacy(ratio=2))
    pair = certify.dominating_pair(certify.privacy_profile(mechanism))
    exact = certify.compose(mechanism, times=5)
    pld = pair.accountant(5)
    for epsilon in (0.5, 1.0, 2.0):
        upper = pld.get_delta_for_epsilon(epsilon)
        true = float(exact.delta_at(ratio=Fraction(math.exp(epsilon))))
        assert true - FLOATS <= upper <= true + GRID


def test_renyi_and_total_variation_of_randomised_response():
    mechanism = randomized_response(2, Privacy(ratio=3))
    p = 0.75
    order_two = math.log(p**2 / (1 - p) + (1 - p) ** 2 / p)
    assert certify.renyi_divergence(mechanism, 2) == pytest.approx(order_two, rel=FLOATS)
    assert certify.privacy_profile(mechanism).total_variation == Fraction(1, 2)


@pytest.mark.parametrize(("ratio", "delta"), [("2", "0"), ("11/10", "1/1000"), ("9", "1/3")])
def test_lazy_rows_are_certified_by_enclosures_and_theorem(ratio, delta):
    verdict = certify.certify_depth_mechanism(
        balanced_line(Privacy(ratio=ratio, delta=delta)), depths=(0, 1, 5, 100, 10**12)
    )
    assert verdict.holds
    assert verdict.boundary_delta <= Fraction(delta)
    assert verdict.refuted is None


# Foreign mechanisms: what is claimed, and what is.


def test_a_truncated_tail_is_an_infinite_loss():
    """diffprivlib's geometric noise at ε = 1 ends at ±36: a double's inverse CDF reaches no further.

    So neighbouring counts have outputs that the other never gives: no ε suffices at δ = 0, though a tiny δ does.
    """
    alpha, n, reach = math.exp(-1), 10, 36
    matrix = np.zeros((n + 1, n + 1 + 2 * reach))
    weights = np.array([alpha ** abs(z) for z in range(-reach, reach + 1)])
    for count in range(n + 1):
        matrix[count, count : count + 2 * reach + 1] = weights / weights.sum()
    verdict = audit(certify.matrix_document(matrix, graph=Path(n + 1), privacy=Privacy(epsilon=1)))
    assert not verdict.private
    assert verdict.ratio_at_delta is None
    assert 0 < verdict.delta_at_epsilon < Fraction(1, 10**14)


def test_the_same_law_in_doubles_is_private_only_up_to_rounding():
    """OpenDP's discrete Laplace has the exact law; written as doubles it misses 1 and the ratio by 1e-16."""
    doubles = np.array([[float(p) for p in row] for row in geometric(12, Privacy(epsilon=1)).matrix()])
    verdict = audit(certify.matrix_document(doubles, graph=Path(13), privacy=Privacy(epsilon=1)))
    assert not verdict.holds
    assert verdict.delta_at_epsilon < Fraction(1, 10**15)
    assert audit(geometric(12, Privacy(ratio=2))).holds
