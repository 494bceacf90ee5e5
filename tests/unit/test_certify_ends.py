"""What certify says at its ends: every refusal in its words, and every value beside one worked out another way."""

import contextlib
import io
import json
import os
import random
import runpy
import sys
from collections import Counter
from fractions import Fraction as F
from itertools import pairwise, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irisdp import Privacy, audit, certify, design
from irisdp._exact import ball, conversion, flint_rational, working_precision
from irisdp._exact.arithmetics import ARITHMETICS
from irisdp.certify import verify_choice, verify_mechanism
from irisdp.certify._boundaries import Step
from irisdp.graphs import Path, graph_from_edges
from irisdp.mechanisms import FactoredMechanism, balanced_line, read_document
from irisdp.privacy import Pair
from support.closeness import hockey_stick
from support.refusals import refused

TWO = Privacy(ratio=2)
LINE = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 1]}
SHUFFLED = [random.Random(seed).sample(range(12), 12) for seed in range(400)]
RIGHT = {"aggregate": "average", "weights": ["1/2", "1/2"], "loss": [[0, 1], [1, 0]]}
ROWS = [["2/3", "1/3"], ["1/3", "2/3"]]


def claiming(theorem, rows=ROWS, graph=None, outputs=None, privacy="2", **facts):
    """A sealed file whose certificate names a theorem."""
    document = {
        "privacy": {"ratio": privacy},
        "graph": graph or {"family": "path", "n": len(rows)},
        "outputs": outputs or list(range(len(rows[0]))),
        "matrix": rows,
    }
    if value := facts.pop("value", None):
        document["objective"] = {"value": value}
    return certify.add_digest({**document, "certificate": {"kind": "theorem", "theorem": theorem, **facts}})


def of_factors(theorem, *reading, **facts):
    document = {"privacy": {"ratio": "2"}, "factors": [{"kind": "geometric", "n": 1}, *reading]}
    return certify.add_digest({**document, "certificate": {"kind": "theorem", "theorem": theorem, **facts}})


def said_by_both(document, path, checker=verify_mechanism.main):
    """Return why the library does not accept a certificate, and the verifier's line; both must refuse."""
    path.write_text(json.dumps(document))
    verdict = certify.check_optimality(read_document(document))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert checker(str(path)) == 1
    assert not verdict.holds
    return verdict.reason, printed.getvalue().splitlines()[-1]


# What theorems need, in both checkers' words


@pytest.mark.parametrize(
    ("document", "reason", "line"),
    [
        (claiming("geometric-reading"), "loss: is missing; state the goal of the reading",
         "no: the certificate states no loss"),
        (claiming("geometric", outputs=["a", "b"]), "outputs: must be 0..n; answer with counts",
         "no: needs the path 0..n and privacy that is one pair with delta 0"),
        (claiming("geometric-reading", outputs=[1, 0], value="1/3", **RIGHT),
         "outputs: must be 0..n; answer with counts",
         "no: needs the path 0..n and privacy that is one pair with delta 0"),
        (claiming("geometric", value="1/3", **RIGHT),
         "loss: says nothing about the geometric mechanism itself; use geometric-reading", "no: say geometric-reading"),
        (of_factors("geometric", {"reading": [[0, 0, "1/2"], [0, 1, "1/2"], [1, 1, 1]]}),
         "factors: read the geometric mechanism as another one; use geometric-reading", "no: say geometric-reading"),
        (of_factors("randomized-response"), "factors: have no rows that this theorem speaks of; write the matrix",
         "no: this theorem speaks of a table, not of factors"),
        (claiming("homogeneous-rainbow", rankings=[[0, 0], [1, 0]], ranking_of=[0, 1]),
         "rankings: must list every output once; rank all outputs, best first",
         "no: rankings must list every output once"),
        (claiming("homogeneous-rainbow", graph={"nodes": [0, 1], "edges": []}, value="1/3",
                  **LINE, **{**RIGHT, "loss": {"name": "graph-distance"}}),
         "loss: graph-distance needs a connected graph; write the loss as a table",
         "no: distances need a connected graph"),
        (claiming("homogeneous-rainbow", **LINE, **RIGHT),
         "objective: and the goal of the certificate must come together; state both or neither",
         "no: an objective and the certificate's goal must come together"),
        (claiming("homogeneous-rainbow", **LINE, value="1/3"),
         "objective: and the goal of the certificate must come together; state both or neither",
         "no: an objective and the certificate's goal must come together"),
        (claiming("pullback", query=[0, 1], mechanism=of_factors("geometric")),
         "factors: cannot be pulled back; write the matrix", "no: factors cannot be pulled back"),
        (claiming("pullback", query=[0, 1],
                  mechanism=claiming("homogeneous-rainbow", rows=[*ROWS, ROWS[0]],
                                     graph={"nodes": [0, 1, 2], "edges": [[0, 1]]},
                                     rankings=LINE["rankings"], ranking_of=[0, 1, 0])),
         "query: must reach every inner input; leave out the others",
         "no: the query does not reach every inner input"),
        (claiming("homogeneous-rainbow", rankings=[[0, 1], [1, 0]], ranking_of=[0, 2]),
         "ranking_of: must be at least 0 and at most 1; choose a number in that range",
         "no: ranking_of must hold whole numbers from 0 to 1"),
        (claiming("homogeneous-rainbow", [[str(1 - F(1, 1 << 44)), str(F(1, 1 << 44))]] * 3,
                  rankings=[[0, 1]], ranking_of=[0] * 3, within="1"),
         "matrix: is not the mechanism of the theorem, even up to rounding; state a goal: it has a gap",
         "no: the rows are not the theorem's"),
        (claiming("randomized-response", graph={"nodes": [0, 1], "edges": []}),
         "graph: must be complete, with one output per input; use another certificate",
         "no: needs a complete graph and zero-one loss"),
        (claiming("randomized-response", value="1/3", **{**RIGHT, "loss": [[0, 2], [1, 0]]}),
         "loss: must be zero-one; write 0 on the diagonal and 1 off it",
         "no: needs a complete graph and zero-one loss"),
        (claiming("randomized-response", value="1/3", **{**RIGHT, "weights": ["1/3", "2/3"]}),
         "weights: must be equal; give every input 1/2", "no: needs a complete graph and zero-one loss"),
        (claiming("homogeneous-rainbow", value="2/3", **LINE, **{**RIGHT, "loss": [[1, 0], [0, 1]]}),
         "loss: does not follow the rankings; make it grow along each input's ranking",
         "no: loss must not fall along the rankings"),
        (claiming("homogeneous-rainbow", **LINE, among="all private mechanisms"),
         'among: claims more than the certificate proves; write "mechanisms with these boundary rows"',
         "no: the scope is wider than what the certificate proves"),
        (claiming("homogeneous-rainbow", **LINE, **{**RIGHT, "aggregate": "median"}),
         "aggregate: must be average or worst; write one of them", "no: aggregate must be average or worst"),
        (claiming("homogeneous-rainbow", **LINE, **{**RIGHT, "weights": ["-1/2", "3/2"]}),
         "weights: must not be negative; give numbers from 0 up",
         "no: weights are at least 0; a worst case needs a prior"),
        (claiming("homogeneous-rainbow", **LINE, **{**RIGHT, "aggregate": "worst", "weights": ["1/2", "1/3"]}),
         "weights: must be a prior on the side information; spread probability 1 over it",
         "no: weights are at least 0; a worst case needs a prior"),
        (claiming("homogeneous-rainbow", outputs=["a", "b"], **LINE, **{**RIGHT, "loss": {"name": "graph-distance"}}),
         "loss: graph-distance needs outputs that are the inputs; list the nodes in one order",
         "no: distances need outputs that are the inputs"),
        (claiming("homogeneous-rainbow", outputs=["a", "b"], **LINE, **{**RIGHT, "loss": {"name": "absolute"}}),
         "loss: by name needs inputs and outputs that are integers; write the loss as a table",
         "no: absolute loss needs inputs and outputs that are integers"),
        (claiming("homogeneous-rainbow", **LINE, **{**RIGHT, "loss": {"name": "cubed"}}),
         'loss: must be a table or a known name; write [[…]] or {"name": "absolute"}',
         "no: loss has a name that is not known"),
        (claiming("homogeneous-rainbow", [["1/2", "1/2"]] * 502, rankings=LINE["rankings"],
                  ranking_of=[0] * 501 + [1], privacy=f"{2**200 + 1}/{2**199}"),
         "rankings: reach too far from the given rows for exact numbers; use a shorter ratio",
         "no: rankings reach too far from the given rows for exact numbers"),
        (claiming("homogeneous-rainbow", [["1/12"] * 12] * 4000, rankings=SHUFFLED,
                  ranking_of=[place // 10 for place in range(4000)]),
         "rankings: have too many different first choices; give fewer outputs or fewer rankings",
         "no: rankings have too many different first choices"),
    ],
)  # fmt: skip
def test_both_say_what_a_theorem_needs(document, reason, line, tmp_path):
    assert said_by_both(document, tmp_path / "m.json") == (reason, line)


# A choice of boundary


def with_choice(tangents, multipliers=(), theorem="homogeneous-rainbow", **more):
    facts = {**LINE, **RIGHT, "choice": {"tangents": list(tangents), "multipliers": list(multipliers)}, **more}
    return claiming(theorem, value="1/3", **facts)


TANGENTS = [[0, 0, "2/3", 1], [1, 0, "2/3", 1]]
PRICES = [[0, 1, 0, "1/6"], [1, 0, 1, "1/6"]]


def test_a_choice_on_two_inputs_is_what_randomised_response_allows(tmp_path):
    """One row for either ranking, and one edge: the best error is 1/(1 + r), and these multipliers prove it."""
    document = with_choice(TANGENTS, PRICES)
    found = certify.check_optimality(read_document(document))
    (tmp_path / "m.json").write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert verify_choice.check(str(tmp_path / "m.json")) == 0
    assert found.holds and found.choice == found.value == F(1, 3)
    assert "choice: at most 0 above the best" in printed.getvalue() and "(bound 0.333333333)" in printed.getvalue()


@pytest.mark.parametrize(
    ("document", "reason", "line"),
    [
        (with_choice([[0, 0, "2/3", "1/2"], TANGENTS[1]]),
         "tangents: must have weights that sum to 1 for every class and prefix; correct them",
         "no: the weights of the tangents do not sum to 1"),
        (with_choice(TANGENTS, [[0, 0, 0, 1]]),
         "multipliers: must be 0 or more, each once, where classes touch; correct them",
         "no: a multiplier is on no edge, or comes twice"),
        (with_choice(TANGENTS, weights=["1/2", "1/2"], aggregate="worst"),
         "choice: must hold tangents and multipliers, for an average; leave it out",
         "no: a choice of boundary needs an average"),
    ],
)  # fmt: skip
def test_a_choice_is_refused_in_these_words(document, reason, line, tmp_path):
    assert said_by_both(document, tmp_path / "m.json", verify_choice.check) == (reason, line)


def test_an_input_that_no_boundary_reaches_has_its_first_choice_for_certain(tmp_path):
    """It adds what its first choice costs to the goal and to the bound alike."""
    facts = {"rankings": LINE["rankings"], "ranking_of": [0, 1, 0], "choice": {"tangents": TANGENTS}}
    goal = {"aggregate": "average", "weights": ["1/3"] * 3, "loss": [[0, 1], [1, 0], [5, 6]]}
    facts["choice"]["multipliers"] = [[0, 1, 0, "1/9"], [1, 0, 1, "1/9"]]
    document = claiming(
        "homogeneous-rainbow", [*ROWS, [1, 0]], {"nodes": [0, 1, 2], "edges": [[0, 1]]}, value="17/9", **facts, **goal
    )
    found = certify.check_optimality(read_document(document))
    assert found.holds and found.choice == found.value == F(2, 3) * F(1, 3) + F(5, 3)
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert verify_choice.check(str(path)) == 0
    assert "at most 0 above" in printed.getvalue()


@pytest.mark.parametrize(
    ("entry", "reason", "line"),
    [
        ([0, 0, 0, 1], "multipliers: must lie on edges of the graph; leave out pairs that are no neighbours",
         "no: a multiplier is on no edge, or comes twice"),
        ([0, 1, 0, "-1"], "multipliers: must not be negative or listed twice; give each once, from 0 up",
         "no: a multiplier is negative"),
    ],
)  # fmt: skip
def test_a_multiplier_lies_on_an_edge(entry, reason, line, tmp_path):
    document = claiming("", value="1/3", **RIGHT)
    document["certificate"] |= {"kind": "dual", "multipliers": [entry]}
    assert said_by_both(certify.add_digest(document), tmp_path / "m.json") == (reason, line)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_the_verifier_s_own_geometric_rows_are_the_law_s(n):
    """One count alone, two ends without a middle, and more."""
    document = {"privacy": {"ratio": "3"}, "factors": [{"kind": "geometric", "n": n}], "certificate": {}}
    rows = list(verify_mechanism.geometric_rows(verify_mechanism.read_mechanism(document), round_up=False))
    for i, row in enumerate(rows):
        tails = [(F(3, 4) if z in (0, n) else F(1, 2)) * F(1, 3) ** abs(z - i) for z in range(n + 1)]
        assert row == (tails if n else [1])


@pytest.mark.parametrize(("total", "types"), [(0, 1), (0, 3), (1, 1), (1, 4), (3, 3), (4, 2), (5, 4), (9, 3), (6, 6)])
def test_the_verifier_s_own_histograms_are_all_that_have_the_total(total, types):
    """Counts of records by type that add up to the total, the largest first; and which are one record apart."""
    every = [counts for counts in product(range(total, -1, -1), repeat=types) if sum(counts) == total]
    assert list(verify_mechanism.histograms(total, types)) == every
    falling = [counts for counts in every if all(one >= other for one, other in pairwise(counts))]
    assert list(verify_mechanism.histograms(total, types, falling=True)) == falling
    moved = {
        (counts, tuple(count + (k == to) - (k == of) for k, count in enumerate(counts)))
        for counts in every
        for of, to in permutations(range(types), 2)
        if counts[of]
    }
    several = list(verify_mechanism.one_record_differs(every, total, types))
    assert Counter(pair for alike in several for pair in permutations(alike, 2)) == Counter(moved)
    pairs = list(verify_mechanism.one_sorted_record_differs(falling, total, types))
    assert Counter(pair for one in pairs for pair in permutations(one)) == {
        (a, b): 1 for a, b in moved if {a, b} <= set(falling)
    }


def test_a_number_beyond_floats_is_said_to_be_one():
    assert verify_mechanism.shown(F(10) ** 400) == "a number beyond 1e308"
    assert verify_mechanism.shown(F(1, 3)) == "0.333333333"


@pytest.mark.parametrize(("nodes", "holds"), [(1002, True), (1003, False)])
def test_a_choice_is_followed_to_a_depth_of_a_thousand(nodes, holds, tmp_path):
    """The boundary is at one end; every other input is one deeper, and the last ranking stands at the end alone."""
    facts = {"rankings": LINE["rankings"], "ranking_of": [0] * (nodes - 1) + [1], "fixed": list(range(nodes))}
    goal = {"aggregate": "average", "weights": [f"1/{nodes}"] * nodes, "loss": [*[[0, 1]] * (nodes - 1), [1, 0]]}
    document = claiming("rainbow", [["1/2", "1/2"]] * nodes, value="1/2", **facts, **goal)
    document["certificate"]["choice"] = {"tangents": [], "multipliers": []}
    document = certify.add_digest(document)
    if not holds:
        assert said_by_both(document, tmp_path / "m.json", verify_choice.check) == (
            "choice: is not checked deeper than 1000; leave it out", "no: a choice is not checked deeper than 1000"
        )  # fmt: skip
        return
    found = certify.check_optimality(read_document(document))
    assert found.holds and found.choice == 0


def elsewhere(**changes):
    """A pullback along the identity, or a dual certificate, which say something of a choice on the side."""
    inner = claiming("homogeneous-rainbow", value="3001/3", **LINE, **{**RIGHT, "loss": [[1000, 1001], [1001, 1000]]})
    facts = {"query": [0, 1], "mechanism": inner, "multipliers": [], **LINE, **RIGHT, **changes}
    choice = {"tangents": [], "multipliers": []}
    return claiming("pullback", value="3001/3", **{**facts, "choice": choice})


def test_only_the_goal_of_its_own_rankings_has_a_choice(tmp_path):
    """A pullback's value is of the goal below: beside another goal's bound it was shown as less than the best."""
    reason, line = said_by_both(elsewhere(), tmp_path / "m.json", verify_choice.check)
    assert reason == "choice: says something only of rainbows with a goal; leave it out"
    assert line == "no: a choice says something only of rainbows with a goal"
    dual = claiming("rainbow", value="1/3", kind="dual", multipliers=[], **LINE, **RIGHT)
    dual["certificate"]["choice"] = {"tangents": [], "multipliers": []}
    assert said_by_both(certify.add_digest(dual), tmp_path / "m.json", verify_choice.check) == (reason, line)
    silent = claiming("homogeneous-rainbow", **LINE, choice={"tangents": [], "multipliers": []})
    assert said_by_both(silent, tmp_path / "m.json", verify_choice.check) == (
        reason, "no: the certificate states no loss"
    )  # fmt: skip


def test_both_files_run_by_themselves(tmp_path, capsys, monkeypatch):
    """As a stranger runs them: by path, in a folder of their own, with nothing but the other beside."""
    folder = str(verify_choice.__file__).rpartition("/")[0]
    (tmp_path / "m.json").write_text(json.dumps(with_choice(TANGENTS, PRICES)))
    monkeypatch.setattr(sys, "path", [folder, *sys.path])
    for name, last in (("verify_mechanism", "  best among"), ("verify_choice", "  choice: at most 0 above")):
        monkeypatch.setattr(sys, "argv", [name, str(tmp_path / "m.json")])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(f"{folder}/{name}.py", run_name="__main__")
        assert ended.value.code == 0 and capsys.readouterr().out.splitlines()[-1].startswith(last)
    monkeypatch.delitem(sys.modules, "verify_mechanism")


def test_the_verifier_says_what_it_cannot_read_or_did_not_foresee(tmp_path, capsys):
    assert verify_mechanism.main(str(tmp_path / "none.json")) == 2
    (tmp_path / "m.json").write_bytes(b"\xff\xfe")
    assert verify_mechanism.main(str(tmp_path / "m.json")) == 2
    (tmp_path / "m.json").write_text("[1,")
    assert verify_mechanism.main(str(tmp_path / "m.json")) == 2
    assert capsys.readouterr().out.splitlines() == [
        "not a mechanism file: there is no such file",
        "not a mechanism file: the file cannot be read as UTF-8 text",
        "not a mechanism file: the file is not valid JSON, or nested too deep",
    ]
    assert verify_mechanism.reason_of(ValueError("rows")) == "rows"
    for problem, name in ((KeyError("x"), "KeyError"), (ValueError(), "ValueError"), (ValueError(1, 2), "ValueError")):
        said = verify_mechanism.reason_of(problem)
        assert said == f"the file has a part of another form than it should ({name})"


@pytest.mark.parametrize("name", ["pipe", "link", "folder", "/dev/zero", "large"])
def test_the_verifier_reads_regular_files_of_at_most_64_mib_without_waiting(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("pipe", "link")
    os.mkdir("folder")
    open("large", "wb").close()
    os.truncate("large", (64 << 20) + 1)
    assert verify_mechanism.main(name) == 2
    line = "not checked: the file has more than 64 MiB"
    assert capsys.readouterr().out.strip() == (
        line if name == "large" else f"not a mechanism file: {verify_mechanism.NO_FILE}"
    )


@pytest.mark.parametrize(("words", "status"), [((), 2), (("-h",), 0), (("--help",), 0), (("a.json", "b.json"), 2)])
def test_the_verifier_says_how_it_is_called(words, status, capsys):
    assert verify_mechanism.main(*words) == status
    assert capsys.readouterr().out == verify_mechanism.USAGE + "\n"


def test_a_number_too_close_to_decide_is_refused_and_not_guessed(monkeypatch):
    """Bounds on e^ε that always lie on both sides of 2, as of an ε within 2^-28000 of a logarithm."""
    monkeypatch.setattr(
        verify_mechanism, "power_of_e", lambda epsilon, places, up: (2 << places) + (1 if up else -1)
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"e\^epsilon is too close to a number of 128 bits"):
        verify_mechanism.ratio_of_epsilon(F(1, 2))


@pytest.mark.parametrize("epsilon", [F(1, 3), F(999, 7), F(10**9, 10**9 + 1)])
@pytest.mark.parametrize("places", [1, 64, 300])
def test_both_bounds_on_a_power_of_e_are_bounds(epsilon, places):
    with working_precision(2000):
        true = ball(epsilon).exp() * ball(2**places)
        low, high = (verify_mechanism.power_of_e(epsilon, places, up) for up in (False, True))
        assert ball(low) < true < ball(high)
        assert places < 300 or high - low < true * ball(F(1, 1 << 150))


# Mechanisms of one kind and another


def test_two_pairs_have_a_delta_each():
    both = Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")])
    verdict = certify.certify_depth_mechanism(balanced_line(both), depths=(0,))
    rows = [dict(zip(order, row, strict=True)) for order, row in
            zip(balanced_line(both).rankings, balanced_line(both).boundary, strict=True)]  # fmt: skip
    one, other = ([row[output] for output in balanced_line(both).outputs] for row in rows)
    assert verdict.boundary_deltas == tuple(hockey_stick(one, other, pair.ratio) for pair in both.pairs)
    assert refused(lambda: verdict.boundary_delta) == (
        "boundary_delta: is one for every pair promised; read boundary_deltas"
    )


def test_boundaries_that_keep_one_of_two_pairs_do_not_hold():
    """Negative control: made after the mechanism has checked its own boundary."""
    mechanism = balanced_line(Privacy.all([Privacy(ratio=3), Privacy(ratio=2, delta="1/50")]))
    object.__setattr__(mechanism, "boundary", ((F(3, 4), F(1, 4)),) * 2)
    verdict = certify.certify_depth_mechanism(mechanism, depths=(1,))
    assert verdict.boundary_deltas == (0, F(1, 4)) and verdict.refuted is None and not verdict.holds


def test_rows_that_step_too_far_are_refuted(monkeypatch):
    """Negative control: enclosures of what twice the ratio allows are no rows of this promise."""
    mechanism, steps = balanced_line(TWO), certify._audit.enclose_steps
    far = Privacy(ratio=4)
    monkeypatch.setattr(
        certify._audit, "enclose_steps", lambda s, depth, privacy, width: steps(s, depth, far, width=width)
    )
    verdict = certify.certify_depth_mechanism(mechanism, depths=(0,))
    assert verdict.refuted == 0 and not verdict.holds and verdict.boundary_delta == 0
    row = mechanism.boundary[0]
    needed = max(hockey_stick(*two, F(2)) for two in ((row, after(row, F(4))), (after(row, F(4)), row)))
    assert abs(verdict.excess - needed) < F(1, 1 << 150) and needed > 0
    found = audit(mechanism)
    assert not found.private and found.delta_at_epsilon >= needed and found.ratio_at_delta is None


def after(row, ratio):
    """The row of two answers one step further in, at δ = 0."""
    first = min(ratio * row[0], 1 - (1 - row[0]) / ratio)
    return first, 1 - first


@given(
    st.lists(
        st.tuples(
            st.fractions(min_value=1, max_value=9, max_denominator=8),
            st.fractions(min_value=0, max_value=F(9, 10), max_denominator=12),
        ),
        min_size=1,
        max_size=5,
    ),
    st.fractions(min_value=0, max_value=1, max_denominator=60),
)
def test_the_step_is_the_least_line_of_any_pairs_whether_they_matter_or_not(pairs, s):
    step = Step([Pair(ratio, delta, F(0)) for ratio, delta in pairs])
    lines = [(F(0), F(1)), *((r, d) for r, d in pairs), *((1 / r, 1 - (1 - d) / r) for r, d in pairs)]
    least = min(slope * s + constant for slope, constant in lines)
    number = flint_rational(s)
    assert step(number) == flint_rational(least)
    assert step.slope(number) == flint_rational(min(r for r, c in lines if r * s + c == least))


def test_nothing_is_repaired_in_what_is_asked_for_together():
    document = read_document({"matrix": [["1"], ["1"]]})
    assert refused(audit, document) == ("graph: is missing, and so is the privacy; give both: graph=… and privacy=…")
    assert not certify.is_the_path(Path(3), 2) and certify.is_the_path(Path(3), 3)
    assert not certify.is_the_path(graph_from_edges([(0, 2), (2, 1)]), 3)
    assert certify.is_the_path(graph_from_edges([(0, 1), (1, 2)]), 3)
    assert not certify.is_the_path(graph_from_edges([(0, 1), (1, 7)]), 3)
    assert refused(certify.compose, []) == "mechanisms: must be at least one; give a mechanism"


def test_a_claim_is_told_in_one_line():
    whole = certify.check_optimality(read_document(claiming("homogeneous-rainbow", value="1/3", **LINE, **RIGHT)))
    assert repr(whole) == (
        "<Optimality: holds: recomputed and as stated; value 0.333334, bound 0.333333, among mechanisms with"
        " these boundary rows>"
    )
    bare = claiming("homogeneous-rainbow", **LINE)
    assert repr(certify.check_optimality(read_document(bare))) == "<Optimality: holds: recomputed and as stated>"
    broken = {**bare, "outputs": ["x", "y"]}
    assert repr(certify.check_optimality(read_document(broken))).startswith(
        "<Optimality: DOES NOT HOLD: digest: is not that"
    )
    assert "optimality DOES NOT HOLD" in repr(audit(read_document(broken)))


def test_rows_given_away_from_the_boundary_are_counted(tmp_path):
    rows = [["1/2", "1/2"]] * 3
    facts = {"rankings": [[0, 1], [1, 0]], "ranking_of": [0, 0, 1], "fixed": [0, 1, 2]}
    found = certify.check_optimality(read_document(claiming("rainbow", rows, **facts)))
    assert found.off_boundary == {0}
    assert found.scope() == (
        "mechanisms with these boundary rows; rows are taken as given at 3 of 3 inputs, 1 of them not on the boundary:"
        " nothing is left to compare"
    )


@pytest.mark.parametrize("stated", [{"value": "1/4"}, {"value": "1/3", "among": "all private mechanisms"}])
def test_a_pullback_that_states_more_than_is_proven_does_not_hold(stated, tmp_path):
    """Along the identity, whose inner mechanism holds: what was proven below says nothing of what is claimed above."""
    inner = claiming("homogeneous-rainbow", value="1/3", **LINE, **RIGHT)
    assert certify.check_optimality(read_document(inner)).holds
    assert certify.check_optimality(
        read_document(claiming("pullback", value="1/3", query=[0, 1], mechanism=inner))
    ).holds
    reason, line = said_by_both(claiming("pullback", query=[0, 1], mechanism=inner, **stated), tmp_path / "m.json")
    assert reason.startswith("among: " if "among" in stated else "objective.value: ") and line.startswith("no: ")


@pytest.mark.parametrize(
    ("weights", "words", "values"),
    [
        (["1/2", "1/2"], "mean expected loss by the table in the file over all 2 inputs", (0, F(1, 2), 1)),
        (["1/4", "3/4"],
         "expected loss by the table in the file, weighted and added up over 2 inputs (weights sum to 1)",
         (0, F(1, 4), 1)),
        (["0", "2"],
         "expected loss by the table in the file, weighted and added up over 1 inputs (weights sum to 2; 1 of 2 inputs"
         " weigh nothing)", (0, 0, 2)),
    ],
)  # fmt: skip
def test_a_goal_is_told_with_what_bounds_it(weights, words, values):
    goal = {**RIGHT, "weights": weights}
    value = str(sum(map(F, weights)) / 3)
    found = certify.check_optimality(read_document(claiming("homogeneous-rainbow", value=value, **LINE, **goal)))
    assert found.holds and found.goal.words == words
    assert (found.goal.without_privacy, found.goal.constant, found.goal.at_most) == values


def test_rounding_is_what_2_to_the_minus_45_allows():
    rows = [[str(1 - F(1, 1 << 45)), str(F(1, 1 << 45))]] * 3
    document = claiming("homogeneous-rainbow", rows, rankings=[[0, 1]], ranking_of=[0] * 3, within="1")
    assert certify.check_optimality(read_document(document)).holds
    assert verify_mechanism.conclude(verify_mechanism.read_mechanism(document)).distance == F(1, 1 << 45)


def factored():
    """Counts from factors, sealed in memory alone."""
    bare = {"privacy": TWO, "n": 3}
    claim = {"kind": "theorem", "theorem": "geometric"}
    document = FactoredMechanism(**bare, certificate=claim).to_document()
    return FactoredMechanism(**bare, certificate=certify.add_digest(document)["certificate"])


@pytest.mark.parametrize("made", [design.randomized_response(3, TWO), design.consumer(3, "absolute", TWO), factored()])
def test_a_mechanism_that_is_no_file_has_its_certificate_judged_as_the_file_it_would_be(made):
    assert certify.check_optimality(made).holds and audit(made).holds
    assert certify.check_optimality(read_document(made.to_document())) == certify.check_optimality(made)


def test_a_seal_is_over_all_but_itself():
    bare = {"b": 1, "a": [F(1, 2)]}
    assert certify.digest(bare) == certify.digest({"a": [F(1, 2)], "b": 1}) != certify.digest({"a": [F(1, 2)], "b": 2})
    assert not certify.is_sealed(bare) and certify.is_sealed(
        certify.add_digest({**bare, "certificate": {"kind": "dual"}})
    )
    assert refused(certify.digest, {1: 1, "a": 2}) == (
        "mechanism: is not a document that JSON can hold; write text, integers and lists"
    )


def test_a_missing_arithmetic_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    assert refused(conversion, "gmpy2") == 'arithmetic: gmpy2 is not installed; choose "flint" or "fractions"'
    assert refused(conversion, "abacus") == f"arithmetic: is not known; choose one of {', '.join(ARITHMETICS)}"


@pytest.mark.parametrize("edges", [[], [["a", "b"]], [["a", "b"], ["b", "c"]], [["a", "b"], ["c", "d"]]])
def test_inputs_without_a_neighbour_are_counted(edges):
    graph = {"nodes": ["a", "b", "c", "d"], "edges": edges}
    document = {"privacy": {"ratio": 2}, "graph": graph, "outputs": [0, 1], "matrix": [["1/2", "1/2"]] * 4}
    assert audit(read_document(document)).alone == 4 - len({end for edge in edges for end in edge})
