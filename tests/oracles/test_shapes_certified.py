"""Several pairs (ε, δ) at once: what design makes both checkers accept, and near misses of every kind both refuse.

Shapes, graphs and goals are random. Whether a table is private is decided here once more, by the definition.
"""

import contextlib
import io
import json
from fractions import Fraction
from functools import cache

import pytest

from irisdp import BadInput, IrisError, Mechanism, Privacy, Refusal, audit, design
from irisdp._cli import run
from irisdp._exact import as_fraction, flint_rational
from irisdp.certify import add_digest, privacy_profile, verify_choice, verify_mechanism
from irisdp.certify._boundaries import Step
from irisdp.design import Goal
from irisdp.graphs import Complete, Cycle, Path, graph_from_edges
from irisdp.mechanisms import DepthMechanism, balanced_line, randomized_response, read_document
from irisdp.privacy import step
from support.closeness import hockey_stick
from support.seeds import fresh_random

THREE = Privacy.all([Privacy(ratio=4), Privacy(ratio=2, delta="1/20"), Privacy(ratio="11/10", delta="1/4")])
"""What negative controls are made from."""

NAMES = {"privacy": {"all": [{"ratio": "4"}, {"ratio": "2", "delta": "0.05"}, {"ratio": "1.1", "delta": "0.25"}]}}


def shape(pick, count):
    """A random shape of so many pairs: tangents to a concave curve, none of which follows from the others."""
    while True:
        ratios = sorted((Fraction(pick.randrange(100, 900), 100) for _ in range(count)), reverse=True)
        deltas = sorted(Fraction(pick.randrange(0, 250), 1000) for _ in range(count))
        if pick.random() < 0.5:
            deltas[0] = Fraction(0)
        with contextlib.suppress(BadInput):
            return Privacy.all([Privacy(ratio=r, delta=d) for r, d in zip(ratios, deltas, strict=True)])


def is_private(rows, edges, privacy):
    """By the definition: rows are distributions, and every edge keeps every pair both ways."""
    return all(min(row) >= 0 and sum(row) == 1 for row in rows) and all(
        hockey_stick(rows[i], rows[j], pair.ratio) <= pair.delta
        for a, b in edges
        for i, j in ((a, b), (b, a))
        for pair in privacy.pairs
    )


def tree(pick, size):
    return [(pick.randrange(max(0, i - 3), i), i) for i in range(1, size)]


def optimal(pick, privacy):
    size, width = pick.randrange(2, 6), pick.randrange(2, 4)
    edges = [(i, j) for i in range(size) for j in range(i) if pick.random() < 0.5]
    loss = tuple(tuple(Fraction(pick.choice((0, 1, 2, 3, -1))) for _ in range(width)) for _ in range(size))
    if pick.random() < 0.5:
        goal = Goal(name="average", loss=loss, weights=tuple(Fraction(pick.randrange(5)) for _ in range(size)))
    else:
        goal = Goal(
            name="worst", loss=loss, side_information=tuple(sorted(pick.sample(range(size), pick.randint(1, size))))
        )
    return design.optimal_mechanism(goal, graph_from_edges(edges, nodes=range(size)), privacy), edges


def ranked(pick, boundary, privacy):
    size, width = pick.randrange(2, 9), pick.choice((2, 3, 4))
    edges = tree(pick, size)
    rankings = [tuple(pick.sample("abcd"[:width], width)) for _ in range(3)]
    ranking_of = [pick.choice(rankings) for _ in range(size)]
    weights = {i: [pick.randrange(4) for _ in range(width - 1)] for i in range(size)} if pick.random() < 0.5 else None
    graph = graph_from_edges(edges, nodes=range(size))
    more = {} if boundary == "balanced" else {"weights": weights}
    return design.rainbow(graph, ranking_of, privacy, boundary=boundary, **more), edges


def coloured(pick, boundary, privacy):
    size = pick.randrange(3, 9)
    edges = tree(pick, size)
    colours = [pick.choice("ab") for _ in range(size)]
    given = {"fixed": {str(pick.randrange(size)): "0.5"}, "probability": "1/2", "balanced": "balanced"}[boundary]
    return design.binary(graph_from_edges(edges, nodes=range(size)), colours, privacy, boundary=given), edges


def response(pick, privacy):
    size = pick.randrange(2, 6)
    return design.randomized_response(size, privacy), [(i, j) for i in range(size) for j in range(i)]


KINDS = {
    "optimal": optimal,
    "balanced": lambda pick, privacy: ranked(pick, "balanced", privacy),
    "best": lambda pick, privacy: ranked(pick, "best", privacy),
    "binary": lambda pick, privacy: coloured(pick, "balanced", privacy),
    "binary at a half": lambda pick, privacy: coloured(pick, "probability", privacy),
    "binary with rows given": lambda pick, privacy: coloured(pick, "fixed", privacy),
    "response": response,
}


def verified(document, path):
    path.write_text(json.dumps(document))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = verify_choice.check(str(path))
    return status, said.getvalue()


def both(document, path):
    """Return the status that both checkers give, and what the verifier says; insist that it is one."""
    status, said = verified(document, path)
    try:
        found = 0 if audit(read_document(json.loads(path.read_text()))).holds else 1
    except IrisError as refusal:
        found = refusal.exit_status
    assert found == status, said
    return status, said


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_designs_under_random_shapes_are_certified(kind, seed, tmp_path):
    pick = fresh_random(f"{kind} {seed}")
    privacy = shape(pick, 1 + seed % 4)
    try:
        made, edges = KINDS[kind](pick, privacy)
    except Refusal:
        assert kind == "binary with rows given"
        return
    document = json.loads(json.dumps(made.to_document()))
    assert ("all" in document["privacy"]) == (seed % 4 > 0)
    rows = [[Fraction(p) for p in made.row(i)] for i in made.inputs]
    assert is_private(rows, edges, privacy)
    verdict = audit(read_document(document))
    assert verdict.holds and verdict.private, verdict.optimality
    for found, pair in zip(verdict.pairs, privacy.pairs, strict=True):
        assert found.pair == pair
        both_ways = ((rows[i], rows[j]) for a, b in edges for i, j in ((a, b), (b, a)))
        assert found.delta_at_epsilon == max((hockey_stick(p, q, pair.ratio) for p, q in both_ways), default=0)
    status, said = both(document, tmp_path / "m.json")
    assert status == 0, said
    mechanism = verify_mechanism.read_mechanism(json.loads((tmp_path / "m.json").read_text()))
    found, other = verdict.optimality, verify_mechanism.conclude(mechanism)
    assert (found.value, found.lower_bound, found.among) == (other.value, other.proof.bound, other.among)
    assert found.given == frozenset(other.proof.rows_given) and found.gap == 0
    if "choice" in document["certificate"]:
        assert verify_choice.choice(mechanism, document["certificate"]) == found.choice <= found.value


@pytest.mark.parametrize("seed", range(40))
def test_profile_and_pairs_are_one_audit(seed):
    """The needs of all pairs from one sorted list are those of the profile, and of each pair by itself."""
    pick = fresh_random(f"needs {seed}")
    size, width, privacy = pick.randrange(1, 6), pick.randrange(1, 6), shape(pick, pick.randrange(2, 5))
    rows = []
    for _ in range(size):
        row = [pick.choice((0, 1, 2, 3, 5, 40)) for _ in range(width)]
        row[pick.randrange(width)] += 1
        rows.append([Fraction(x, sum(row)) for x in row])
    made = Mechanism.from_matrix(rows, privacy=privacy, graph=Complete(size))
    verdict, profile = audit(made), privacy_profile(made)
    assert verdict.pairs == audit(made, arithmetic="fractions").pairs
    for found in verdict.pairs:
        alone = audit(made, privacy=Privacy(ratio=found.pair.ratio, delta=found.pair.delta)).pairs[0]
        assert (alone.delta_at_epsilon, alone.ratio_at_delta) == (found.delta_at_epsilon, found.ratio_at_delta)
        assert found.delta_at_epsilon == profile.delta_at(ratio=found.pair.ratio)
        assert found.ratio_at_delta == profile.ratio_at(found.pair.delta)
        assert found.holds == (found.delta_at_epsilon <= found.pair.delta)
    assert verdict.private == is_private(rows, [(i, j) for i in range(size) for j in range(i)], privacy)
    worst = verdict.pairs[verdict.worst]
    if verdict.tightest is not None and worst.ratio_at_delta != 1:
        first, second = (rows[node] for node in verdict.tightest.edge)
        least = 10**9 if worst.ratio_at_delta is None else worst.ratio_at_delta * (1 - Fraction(1, 10**9))
        assert hockey_stick(first, second, least) > worst.pair.delta


def broken_under(number):
    """A table private under each of the three pairs but one."""
    rows = [
        [["0.9", "0.1", "0"], ["0.9", "0.08", "0.02"]],  # 0.02 against nothing
        [["0.3", "0.7"], ["0.1", "0.9"]],  # 0.3 − 2·0.1 = 0.1, but 3 times at most, and 0.3 − 1.1·0.1 = 0.19
        [["0.65", "0.35"], ["0.35", "0.65"]],  # 0.65 − 1.1·0.35 = 0.265, but 1.86 times at most
    ][number]
    return {**NAMES, "graph": {"family": "path", "n": 2}, "matrix": rows}


@pytest.mark.parametrize("number", range(3))
def test_a_table_private_under_each_pair_but_one_is_refused_and_the_pair_named(number, tmp_path, capsys):
    document = broken_under(number)
    verdict = audit(read_document(document))
    assert [pair.holds for pair in verdict.pairs] == [k != number for k in range(3)]
    assert not verdict.private and verdict.worst == number
    status, said = both(document, tmp_path / "m.json")
    pair = THREE.pairs[number]
    assert status == 1 and f"under the pair of ratio {float(pair.ratio):g}, delta {float(pair.delta):g}" in said
    assert run(["audit", str(tmp_path / "m.json")]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "pairs 2 of 3 hold" in told and f"worst number {number + 1}: {pair}" in told
    assert run(["audit", str(tmp_path / "m.json"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["holds"] for one in found["pairs"]] == [k != number for k in range(3)]
    assert found["worst_pair"] == number and found["private"] is False
    for key in ("epsilon", "delta", "ratio", "delta_at_epsilon", "epsilon_at_delta", "ratio_at_delta", "floats"):
        assert found[key] is None and all(one[key] is not None for one in found["pairs"])
    for k, one in enumerate(THREE.pairs):
        judged = ["--ratio", str(one.ratio), "--delta", str(one.delta)]
        assert run(["audit", str(tmp_path / "m.json"), *judged]) == (1 if k == number else 0)
    assert run(["audit", str(tmp_path / "m.json"), "--epsilon", "1"]) == 2  # and what δ? there are three
    assert run(["audit", str(tmp_path / "m.json"), "--delta", "1/4"]) == 2
    for shown in (repr(verdict), verdict._repr_html_()):
        assert "DOES NOT HOLD" in shown and "2 of 3 pairs hold; the worst: " in shown
    with pytest.raises(BadInput, match="holds 3 pairs"):
        verdict.delta_at_epsilon  # noqa: B018 - reading it is what is refused


def test_negative_entries_are_no_mechanism_under_any_pair(tmp_path):
    document = broken_under(0) | {"matrix": [["1.1", "-0.1"], ["1", "0"]]}
    verdict = audit(read_document(document))
    assert not verdict.private and {pair.ratio_at_delta for pair in verdict.pairs} == {None}
    assert both(document, tmp_path / "m.json")[0] == 1


@cache
def with_a_dual():
    """A design whose dual uses every pair."""
    for seed in range(200):
        pick = fresh_random(f"dual {seed}")
        made, _ = optimal(pick, shape(pick, 3))
        entries = made.certificate["multipliers"]
        if {entry[4] if len(entry) == 5 else 0 for entry in entries} == {0, 1, 2}:
            return json.dumps(made.to_document())
    raise AssertionError


@cache
def with_a_choice():
    """A design that chose its boundary, with multipliers of more than one pair."""
    for seed in range(200):
        pick = fresh_random(f"choice {seed}")
        made, _ = ranked(pick, "best", shape(pick, 3))
        entries = made.certificate.get("choice", {}).get("multipliers", [])
        if {len(entry) for entry in entries} == {4, 5}:
            return json.dumps(made.to_document())
    raise AssertionError


@pytest.mark.parametrize("given", [with_a_dual, with_a_choice])
def test_multipliers_of_a_wrong_pair_are_refused_or_prove_less(given, tmp_path):
    path = tmp_path / "m.json"
    original = json.loads(given())
    assert both(original, path)[0] == 0
    whole = audit(read_document(original)).optimality
    facts = original["certificate"]
    count = len((facts.get("choice") or facts)["multipliers"])

    def changed(place, change):
        document = json.loads(given())
        inside = document["certificate"].get("choice") or document["certificate"]
        inside["multipliers"][place] = change(inside["multipliers"][place])
        return add_digest(document), inside["multipliers"]

    for place in range(count):
        for wrong in (3, -1, "1/2", 10**30, None, [0], True):
            document, _ = changed(place, lambda entry, k=wrong: [*entry[:4], k])
            assert both(document, path)[0] == 1, wrong
        for length in (0, 3):
            assert both(changed(place, lambda entry, n=length: entry[:n])[0], path)[0] == 1
        assert both(changed(place, lambda entry: [*entry, 0, 0][:6])[0], path)[0] == 1
        document, entries = changed(place, lambda entry: entry)
        entries.append(entries[place])
        assert both(add_digest(document), path)[0] == 1
        # Number 0 may be written out, and a place among outputs in text; it is the same multiplier then.
        document, entries = changed(place, lambda entry: [*map(str, entry), "0"][:5])
        assert both(document, path)[0] == 0
        entries.append([*entries[place][:4], entries[place][4]])
        assert both(add_digest(document), path)[0] == 1
        for pair in range(3):
            document, entries = changed(place, lambda entry, k=pair: [*entry[:4], k])
            if len({(*entry[:3], *[*entry[4:], 0][:1]) for entry in entries}) < len(entries):
                continue
            status, _ = both(document, path)
            found = audit(read_document(document)).optimality
            if given is with_a_dual:
                assert found.lower_bound is None or found.lower_bound <= whole.value
                assert (status == 0) == (found.lower_bound >= whole.lower_bound)
            elif status == 0:
                assert found.choice <= whole.choice


@pytest.mark.parametrize("number", range(3))
def test_a_bound_for_other_pairs_is_no_bound_here(number, tmp_path):
    """With a pair's δ replaced by a larger one, the rows stay private and the bound falls below the one stated."""
    document = json.loads(with_a_dual())
    pair = document["privacy"]["all"][number]
    later = [Fraction(other.get("delta", 0)) for other in document["privacy"]["all"][number + 1 :]]
    now = Fraction(pair.get("delta", 0))
    pair["delta"] = str(now + (min([*later, now + Fraction(1, 50)]) - now) / 10**6)
    assert both(document, tmp_path / "m.json")[0] == 1  # the seal
    document = add_digest(document)
    status, said = both(document, tmp_path / "m.json")
    verdict = audit(read_document(document))
    assert status == 1 and verdict.private and "more than the certificate proves" in said
    assert verdict.optimality.lower_bound < verdict.optimality.value


@pytest.mark.parametrize("kind", ["optimal", "best", "binary"])
def test_small_changes_get_one_status_and_the_right_one(kind, tmp_path):
    """Entries, ratios and δ moved by a little or a lot, with seals renewed: privacy is as the definition says."""
    broken = 0
    for seed in range(4):
        pick = fresh_random(f"moved {kind} {seed}")
        made, edges = KINDS[kind](pick, shape(pick, 2 + seed % 3))
        for _ in range(25):
            changed = moved(made, pick)
            status, said = both(add_digest(changed), tmp_path / "m.json")
            try:
                privacy = read_document(changed).privacy
            except BadInput:
                assert status == 2, said
                continue
            if not is_private([[Fraction(p) for p in row] for row in changed["matrix"]], edges, privacy):
                broken += 1
                assert status == 1, said
    assert broken > 10


def moved(made, pick):
    """A design's file with one number changed: of a row, or of the privacy promised."""
    document = json.loads(json.dumps(made.to_document()))
    document = {key: value for key, value in document.items() if key not in ("rows", "row_of")}
    document["matrix"] = [[str(p) for p in made.row(i)] for i in made.inputs]
    size = pick.choice((Fraction(1, 10**30), Fraction(1, 1000), Fraction(1, 20)))
    if pick.random() < 0.6:
        row = document["matrix"][pick.randrange(len(document["matrix"]))]
        here, there = pick.sample(range(len(row)), 2)
        row[here], row[there] = str(Fraction(row[here]) + size), str(Fraction(row[there]) - size)
    else:
        pair = pick.choice(document["privacy"]["all"])
        key = pick.choice(("ratio", "delta"))
        pair[key] = str(Fraction(pair.get(key, 0)) - size)
    return document


@pytest.mark.parametrize(("pairs", "status"), [
    ([{"ratio": 4}], 0),
    ([{"ratio": 4}, {"ratio": 2, "delta": "1/20"}], 0),
    ([{"epsilon": 1}, {"epsilon": "1/2", "delta": "1/20"}], 0),
    ([], 2),
    ({}, 2),
    (None, 2),
    ("all", 2),
    ([[4, 0]], 2),
    ([{"all": [{"ratio": 4}]}], 2),
    ([{"ratio": 4, "epsilon": 1}], 2),
    ([{"delta": "1/20"}], 2),
    ([{"ratio": 4}, {"ratio": 4, "delta": "1/20"}], 2),
    ([{"ratio": 2, "delta": "1/20"}, {"ratio": 4}], 2),
    ([{"ratio": 4}, {"ratio": 2}], 2),
    ([{"ratio": 4, "delta": "1/20"}, {"ratio": 2, "delta": "1/30"}], 2),
    (
        [{"ratio": 4}, {"ratio": 2, "delta": "2/5"}],
        2,
    ),  # meet at 1/5 = (1 − 0)/(4 + 1): the last is too late by none
    ([{"ratio": 4}, {"ratio": 2, "delta": "39/100"}], 0),
    (
        [{"ratio": 4}, {"ratio": 3, "delta": "1/10"}, {"ratio": 2, "delta": "1/5"}],
        2,
    ),  # three lines through (.1, .4)
    ([{"ratio": 4}, {"ratio": 3, "delta": "99/1000"}, {"ratio": 2, "delta": "1/5"}], 0),
    ([{"ratio": 4}, {"ratio": 3, "delta": "101/1000"}, {"ratio": 2, "delta": "1/5"}], 2),
    ([{"epsilon": 1, "delta": 1}], 2),
    ([{"ratio": "1/2"}], 2),
], ids=str)  # fmt: skip
def test_both_read_the_same_lists_of_pairs(pairs, status, tmp_path):
    document = {"privacy": {"all": pairs}, "graph": {"family": "path", "n": 2}, "matrix": [["1/2", "1/2"]] * 2}
    assert both(document, tmp_path / "m.json")[0] == status
    document["privacy"]["delta"] = "1/20"
    assert both(document, tmp_path / "m.json")[0] == 2


@pytest.mark.parametrize("privacy", [{"gaussian": 1}, {"zcdp": "1/2"}, {"gaussian": 1, "all": [{"ratio": 2}]}])
def test_files_hold_pairs_and_never_a_curve(privacy, tmp_path):
    """A stranger's checker need not know the Gaussian curve: designs write the pairs they were made with."""
    document = {"privacy": privacy, "graph": {"family": "path", "n": 2}, "matrix": [["1/2", "1/2"]] * 2}
    assert both(document, tmp_path / "m.json")[0] == 2


@pytest.mark.parametrize(("count", "status"), [(10_000, 0), (10_001, 2)])
def test_both_read_equally_many_pairs(count, status, tmp_path):
    """Tangents to a parabola, at so many points."""
    points = [Fraction(k + 1, 5 * count) for k in range(count)]
    pairs = [{"ratio": str(5 - 10 * s), "delta": str(5 * s * s)} for s in points]
    document = {"privacy": {"all": pairs}, "graph": {"family": "path", "n": 2}, "matrix": [["1/2", "1/2"]] * 2}
    assert both(document, tmp_path / "m.json")[0] == status


@pytest.mark.parametrize("theorem", ["geometric", "geometric-reading"])
def test_theorems_on_the_geometric_mechanism_speak_of_one_pair(theorem, tmp_path):
    """Its rows are private under more pairs too; but that none serves better is known under its own only."""
    made = design.geometric(3, Privacy(ratio="3/2"))
    goal = {"aggregate": "average", "loss": {"name": "absolute"}, "weights": ["1/4"] * 4}
    facts = {"kind": "theorem", "theorem": theorem, **(goal if theorem == "geometric-reading" else {})}
    document = {**json.loads(json.dumps(made.to_document())), "certificate": facts}
    document.pop("objective", None)
    if theorem == "geometric-reading":
        document["objective"] = {
            "value": str(sum(abs(i - z) * p for i in range(4) for z, p in enumerate(made.row(i))) / 4)
        }
    document["privacy"] = {"ratio": "3/2" if theorem == "geometric" else 2}
    assert both(add_digest(document), tmp_path / "m.json")[0] == 0
    document["privacy"] = {"all": [{"ratio": 2}, {"ratio": "3/2", "delta": "1/10"}]}
    document = add_digest(document)
    status, said = both(document, tmp_path / "m.json")
    assert status == 1 and "one pair" in said
    verdict = audit(read_document(document))
    assert verdict.private and "the geometric theorems speak of one" in verdict.optimality.reason
    factored = {"privacy": document["privacy"], "factors": [{"kind": "geometric", "n": 3}]}
    status, said = both(factored, tmp_path / "m.json")
    assert status == 2 and "one pair" in said


def test_a_pullback_has_the_pairs_of_the_mechanism_below(tmp_path):
    inner = json.loads(json.dumps(randomized_response(2, THREE).to_document()))
    certificate = {"kind": "theorem", "theorem": "randomized-response"}
    inner = add_digest({**inner, "certificate": certificate})
    above = {
        "privacy": inner["privacy"],
        "graph": {"family": "cycle", "n": 4},
        "outputs": inner["outputs"],
        "rows": inner["matrix"],
        "row_of": [0, 0, 1, 1],
        "certificate": {"kind": "theorem", "theorem": "pullback", "mechanism": inner, "query": [0, 0, 1, 1]},
    }
    status, said = both(add_digest(above), tmp_path / "m.json")
    assert status == 0, said
    above["privacy"] = {"all": [*inner["privacy"]["all"][:2]]}
    status, said = both(add_digest(above), tmp_path / "m.json")
    assert status == 1 and "the inner mechanism is another one" in said


def test_randomised_response_is_best_under_the_pair_that_allows_least():
    """The least truth over pairs, and no more: a little more truth is not private."""
    for size in (2, 3, 7):
        truths = [(pair.ratio + pair.delta * (size - 1)) / (pair.ratio + size - 1) for pair in THREE.pairs]
        verdict = audit(design.randomized_response(size, THREE))
        assert verdict.holds and verdict.worst == truths.index(min(truths))
        tight = [pair.delta_at_epsilon == pair.pair.delta > 0 for pair in verdict.pairs]
        assert tight == [k == verdict.worst for k in range(3)]


@pytest.mark.parametrize("seed", range(20))
def test_u_is_recomputed_as_the_least_of_all(seed):
    pick = fresh_random(f"u {seed}")
    privacy = shape(pick, 1 + seed % 4)
    recomputed, lines = Step(privacy.pairs), verify_mechanism.lines_of_u([(p.ratio, p.delta) for p in privacy.pairs])
    kinks = [s for s in privacy.shape.starts if s <= 1]
    for s in [*kinks, Fraction(1), *(Fraction(pick.randrange(1001), 1000) for _ in range(30))]:
        expected = step(s, privacy)
        by_definition = min(
            min(Fraction(1), p.ratio * s + p.delta, 1 - (1 - s - p.delta) / p.ratio) for p in privacy.pairs
        )
        value, slope = verify_mechanism.u(lines, s)
        here = flint_rational(s)
        assert expected == by_definition == value == as_fraction(recomputed(here))
        assert slope == as_fraction(recomputed.slope(here)) == privacy.shape.lines[privacy.shape.place(s)].slope


def test_depth_mechanisms_keep_every_pair():
    made = balanced_line(THREE)
    verdict = audit(made)
    assert verdict.holds and verdict.by_theorem and len(verdict.pairs) == 3
    assert all(pair.delta_at_epsilon == pair.pair.delta for pair in verdict.pairs)
    with pytest.raises(BadInput, match="close"):
        DepthMechanism(privacy=THREE, rankings=((0, 1), (1, 0)), boundary=((Fraction(3, 4), Fraction(1, 4)),) * 2)


def test_hundreds_of_pairs_take_seconds(tmp_path):
    """A Gaussian's polygon: both checkers on a design made with all of it."""
    privacy = Privacy.gaussian("1/2", gap="1e-4")
    assert len(privacy.pairs) > 20
    made = design.rainbow(Cycle(12), [("a", "b")] * 6 + [("b", "a")] * 6, privacy)
    status, said = both(json.loads(json.dumps(made.to_document())), tmp_path / "m.json")
    assert status == 0 and f"{len(privacy.pairs)} pairs, from ratio" in said
    fine = audit(made, privacy=Privacy.gaussian("1/2"))
    assert len(fine.pairs) > 200 and fine.not_judged
    assert audit(design.geometric(20, Privacy(epsilon="1/10")), privacy=Privacy.gaussian("1/2")).private
    assert audit(made, graph=Path(12)).holds
