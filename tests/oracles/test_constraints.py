"""Designs under linear constraints against independent programs in SciPy, and certificates against both checkers."""

import copy
from fractions import Fraction

import pytest

from irisdp import Privacy, audit, design
from irisdp.certify import add_digest, check_optimality, verify_mechanism
from irisdp.errors import BadInput, Infeasible
from irisdp.graphs import graph_from_edges
from irisdp.mechanisms import ALL_PRIVATE, CONSTRAINED, read_document
from support.programs import Program
from support.seeds import fresh_random
from support.sweeps import tried

AGREEMENT = 1e-7
"""SciPy keeps constraints to 1e-10; multipliers of up to a thousand may carry that into the value."""


def verdict_of(document):
    """Return what the stand-alone verifier says: "yes", or why not."""
    try:
        mechanism = verify_mechanism.read_mechanism(document)
        verify_mechanism.check_privacy(mechanism)
        verify_mechanism.conclude(mechanism)
    except ValueError as reason:
        return str(reason)
    return "yes"


def distances(nodes, edges):
    """Steps between all nodes, by Floyd and Warshall."""
    far = [[0 if i == j else nodes for j in range(nodes)] for i in range(nodes)]
    for i, j in edges:
        far[i][j] = far[j][i] = 1
    for k in range(nodes):
        for i in range(nodes):
            for j in range(nodes):
                far[i][j] = min(far[i][j], far[i][k] + far[k][j])
    return far


def constrain(program, constraints, outputs, far, truth=None):  # noqa: PLR0912 - a case for each form
    """Add constraints to a program whose first columns are the table; inputs are 0, 1, …"""
    m, q = len(far), len(outputs)
    at = {v: k for k, v in enumerate(outputs)}
    for one in constraints:
        if one == "unbiased":
            for i in range(m):
                program.equal({i * q + k: v for k, v in enumerate(outputs)}, i)
        elif one == "monotone":
            for i in range(m):
                for v in outputs:
                    nearer = [w for w in outputs if (v < w <= i) or (i <= w < v)]
                    for w in nearer:  # the next one is enough, and all of them say no more
                        program.at_most({i * q + at[v]: 1, i * q + at[w]: -1})
        elif "error_at_most" in one:
            for i in range(m):
                for v in outputs:
                    if (far[i][v] if one.get("of") == "graph-distance" else abs(i - v)) > one["error_at_most"]:
                        program.equal({i * q + at[v]: 1}, 0)
        elif "zero" in one:
            for i, v in one["zero"]:
                program.equal({i * q + at[v]: 1}, 0)
        elif "fixed" in one:
            for i, v, p in one["fixed"]:
                program.equal({i * q + at[v]: 1}, Fraction(p))
        elif "keep" in one:
            for i in one["keep"]:
                program.equal({i * q + (at[i] if truth is None else truth[i]): 1}, 1)
        else:
            row = {}
            for i, v, a in one["terms"]:
                row[i * q + at[v]] = row.get(i * q + at[v], 0) + a
            if "equals" in one:
                program.equal(row, one["equals"])
            elif "at_most" in one:
                program.at_most(row, one["at_most"])
            else:
                program.at_most({column: -a for column, a in row.items()}, -one["at_least"])


def some_constraints(chance, inputs, outputs, *, counts, of=None):
    kinds = ["unbiased", "monotone", "error", "zero", "fixed", "keep", "terms"]
    result = []
    for kind in chance.sample(kinds if counts else kinds[2:], chance.randint(1, 3)):
        i, v = chance.randrange(inputs), chance.choice(outputs)
        if kind in ("unbiased", "monotone"):
            result.append(kind)
        elif kind == "error":
            if counts:
                result.append({"error_at_most": chance.randint(1, 5), **({} if of is None else {"of": of})})
        elif kind == "zero":
            result.append({"zero": [[i, v]]})
        elif kind == "fixed":
            result.append({"fixed": [[i, v, chance.choice(["1/2", "0.1", "1/7"])]]})
        elif kind == "keep":
            result.append({"keep": [i]})
        else:
            places = {(chance.randrange(inputs), chance.choice(outputs)) for _ in range(3)}
            terms = [[i, v, chance.choice([-2, -1, 1, 2])] for i, v in sorted(places, key=str)]
            compared = chance.choice(["at_most", "at_least", "equals"])
            result.append({"terms": terms, compared: chance.choice([0, 0, 0.25, 1])})
    return result


PRIVACIES = [
    Privacy(ratio=2), Privacy(ratio="6/5"), Privacy(epsilon="0.7"), Privacy(ratio=3, delta="0.1"),
    Privacy(epsilon=1, delta="0.05"), Privacy(ratio=20),
]  # fmt: skip


def case(seed):
    """Return a design to call, and an independent program that it should solve."""
    chance = fresh_random(seed)
    kind, privacy = chance.choice(["consumer", "consumer", "distance", "binary", "rainbow"]), chance.choice(PRIVACIES)
    program = Program()
    if kind == "consumer":
        n = chance.randint(1, 5)
        outputs = list(range(-chance.randint(0, 6), n + chance.randint(0, 6) + 1))
        power = chance.choice([1, 2])
        loss = [[abs(i - v) ** power for v in outputs] for i in range(n + 1)]
        edges, truth, of = [(i, i + 1) for i in range(n)], None, None
        far = [[abs(i - v) for v in range(n + 1)] for i in range(n + 1)]
    else:
        nodes = chance.randint(2, 6)
        edges = [(i, chance.randrange(i)) for i in range(1, nodes)]
        edges += [(i, j) for i in range(nodes) for j in range(i) if (i, j) not in edges and chance.random() < 0.3]
        far, truth, of = distances(nodes, edges), None, "graph-distance"
        if kind == "distance":
            outputs, loss = list(range(nodes)), far
        else:
            answers = ["a", "b"] if kind == "binary" else ["a", "b", "c"]
            ranks = [chance.sample(answers, len(answers)) for _ in range(nodes)]
            ranks[0], ranks[-1] = answers, answers[::-1]
            outputs = ranks[0]
            truth = [outputs.index(rank[0]) for rank in ranks]
            loss = [[int(v != rank[0]) for v in outputs] for rank in ranks]
    m, q = len(loss), len(outputs)
    counts = kind in ("consumer", "distance")
    constraints = some_constraints(chance, m, outputs, counts=counts, of=of)
    first = program.table(m, q)
    program.private(first, q, edges, float(privacy.ratio), float(privacy.delta))
    constrain(program, constraints, outputs, far, truth)
    if kind == "consumer":
        name = "absolute" if power == 1 else "squared"
        if chance.random() < 0.5:
            program.worst({i * q + k: x for k, x in enumerate(row)} for i, row in enumerate(loss))
            return lambda: design.consumer(m - 1, name, privacy, outputs=outputs, constraints=constraints), program
        program.charge(0, [x / m for row in loss for x in row])
        prior = [Fraction(1, m)] * m
        made = dict(prior=prior, outputs=outputs, constraints=constraints)
        return lambda: design.consumer(m - 1, name, privacy, **made), program
    graph = graph_from_edges(edges, nodes=range(m))
    if kind == "distance":
        program.charge(0, [x / m for row in loss for x in row])
        return lambda: design.distance(graph, privacy, constraints=constraints), program
    weights = {i: chance.randint(0, 3) for i in range(m)}
    program.charge(0, [weights[i] * x for i, row in enumerate(loss) for x in row])
    if kind == "binary":
        colors = [rank[0] for rank in ranks]
        return lambda: design.binary(graph, colors, privacy, weights=weights, constraints=constraints), program
    return lambda: design.rainbow(graph, ranks, privacy, weights=weights, constraints=constraints), program


@pytest.mark.parametrize("seed", range(tried(100, 1000)))
def test_random_programs_have_the_optimum_of_scipy(seed):
    designed, program = case(seed)
    expected = program.solve()
    try:
        made = designed()
    except (Infeasible, BadInput) as refused:
        assert expected is None
        assert isinstance(refused, Infeasible) or "two different probabilities" in str(refused)
        return
    assert expected is not None
    objective = made.objective
    assert objective.value == pytest.approx(expected.value, abs=AGREEMENT)
    assert 0 <= objective.value - objective.lower_bound <= Fraction(1, 10**12) * max(1, abs(objective.value))
    found = audit(made)
    assert found.private
    assert found.optimality.holds
    assert found.optimality.among == (CONSTRAINED if "constraints" in made.certificate else ALL_PRIVATE)
    assert verdict_of(made.to_document()) == "yes"


@pytest.mark.parametrize("seed", range(40))
def test_the_smallest_delta_is_that_of_scipy(seed):
    chance = fresh_random(500 + seed)
    n, ratio = chance.randint(1, 4), chance.choice([2, 3])
    outputs = list(range(-2, n + 3))
    constraints = ["unbiased", {"error_at_most": chance.randint(1, 3)}, {"keep": [0]}]
    program = Program()
    first = program.table(n + 1, len(outputs))
    delta = program.variables(1)
    program.cost[delta] = 1
    for i, j in [pair for k in range(n) for pair in ((k, k + 1), (k + 1, k))]:
        excess = program.variables(len(outputs))
        for v in range(len(outputs)):
            here, there = first + i * len(outputs) + v, first + j * len(outputs) + v
            program.at_most({here: 1, there: -ratio, excess + v: -1})
        program.at_most({**dict.fromkeys(range(excess, excess + len(outputs)), 1), delta: -1})
    far = [[abs(i - v) for v in range(n + 1)] for i in range(n + 1)]
    constrain(program, constraints, outputs, far)
    with pytest.raises(Infeasible, match="possible from delta") as refused:
        design.consumer(n, "squared", Privacy(ratio=ratio), outputs=outputs, constraints=constraints)
    least = Fraction(refused.value.document["smallest_delta"])
    assert least == pytest.approx(program.minimum(), abs=AGREEMENT)
    if least < 1:
        design.consumer(n, "squared", Privacy(ratio=ratio, delta=least), outputs=outputs, constraints=constraints)


def test_constraints_that_contradict_each_other_are_said_to_whatever_the_privacy():
    with pytest.raises(Infeasible, match="whatever its privacy; leave out") as no:
        design.consumer(2, "squared", Privacy(ratio=2), constraints=["unbiased", {"zero": [[0, 0]]}, {"keep": [2]}])
    assert no.value.document["smallest_delta"] is None
    assert no.value.document["possible_without"] == ["unbiased"]


# A checker must see every lie about constraints.


def made_document():
    rules = ["unbiased", {"error_at_most": 5}, {"keep": [0]}, "monotone", {"zero": [[3, -2]]}, {"fixed": [[3, 8, "0"]]}]
    rules.append({"terms": [[1, 1, 1], [2, 2, -1]], "at_most": 0})
    made = design.consumer(3, "squared", Privacy(ratio=3, delta="0.6"), outputs=range(-5, 9), constraints=rules)
    return made.to_document()


def planted_lies():
    """Yield what was changed, and the document with it, sealed again."""

    def lie(name, change):
        document = copy.deepcopy(made_document())
        change(document, document["certificate"])
        return pytest.param(add_digest(document), id=name)

    def widen(document, certificate):
        certificate["among"] = "all private mechanisms"

    def narrow_rows(document, certificate):
        certificate["among"] = "mechanisms with these boundary rows"

    def drop(index):
        return lambda document, certificate: certificate["constraints"].pop(index)

    def other_row(document, certificate):
        document["matrix"][1] = document["matrix"][2]

    def shift(document, certificate):  # moves mass so that a row is biased, and keeps its sum
        row = document["matrix"][2]
        large = max(range(len(row)), key=lambda v: Fraction(row[v]))
        row[large] = str(Fraction(row[large]) - Fraction(1, 10**9))
        row[large - 1] = str(Fraction(row[large - 1]) + Fraction(1, 10**9))

    def tighter(document, certificate):
        certificate["constraints"][1]["error_at_most"] = "2"

    def negative(document, certificate):
        one = next(entry for entry in certificate["constraint_multipliers"] if entry[0] in (3, 6))
        one[2] = str(-Fraction(one[2]) - 1)

    def twice(document, certificate):
        certificate["constraint_multipliers"].append(certificate["constraint_multipliers"][0])

    def nowhere(document, certificate):
        certificate["constraint_multipliers"].append([1, 0, "1"])

    def better(document, certificate):
        document["objective"]["lower_bound"] = str(Fraction(document["objective"]["lower_bound"]) + Fraction(1, 100))

    def two_values(document, certificate):
        certificate["constraints"].append({"fixed": [[0, 5, "1/2"]]})

    def kept_twice(document, certificate):
        certificate["constraints"][2] = {"keep": [0, 0]}

    def unknown(document, certificate):
        certificate["constraints"].append("fair")

    def as_theorem(document, certificate):
        certificate.update(kind="theorem", theorem="geometric-reading")

    return [
        lie("among all private", widen), lie("among the same rows", narrow_rows),
        *(lie(f"without {k}", drop(k)) for k in range(3)),
        lie("another row", other_row), lie("a biased row", shift), lie("a smaller error", tighter),
        lie("a negative multiplier", negative), lie("a multiplier twice", twice),
        lie("a multiplier of no row", nowhere), lie("a better bound", better),
        lie("two probabilities of an entry", two_values), lie("an unknown form", unknown),
        lie("a theorem", as_theorem), lie("an input kept twice", kept_twice),
    ]  # fmt: skip


def test_both_checkers_take_what_was_made():
    document = made_document()
    assert check_optimality(read_document(document)).holds
    assert verdict_of(document) == "yes"


@pytest.mark.parametrize("most", ["1.9999999999", "19999999999/10000000000", 1])
def test_both_checkers_say_the_largest_error_exactly(most, tmp_path, capsys):
    rules = [{"error_at_most": most}]
    made = design.consumer(4, "absolute", Privacy(ratio="3/2", delta="29/100"), constraints=rules)
    document = made.to_document()
    said = f"errors of at most {document['certificate']['constraints'][0]['error_at_most']}"
    assert Fraction(said.rpartition(" ")[2]) == Fraction(most)
    assert check_optimality(made).scope().endswith(f": {said}")
    made.save(tmp_path / "made.json")
    assert verify_mechanism.main(str(tmp_path / "made.json")) == 0
    assert f"{said}\n" in capsys.readouterr().out


@pytest.mark.parametrize("document", planted_lies())
def test_both_checkers_catch_planted_lies(document):
    assert not check_optimality(read_document(document)).holds
    assert verdict_of(document) != "yes"


@pytest.mark.parametrize("seed", range(tried(60, 300)))
def test_no_multipliers_of_constraints_prove_too_much(seed):
    """Whatever the numbers in a certificate, both checkers agree on its bound, and it is no more than the optimum."""
    designed, _ = case(seed)
    try:
        document = designed().to_document()
    except (Infeasible, BadInput):
        return
    chance, certificate = fresh_random(9000 + seed), document["certificate"]
    value = Fraction(document["objective"]["value"])
    listed = certificate.get("constraint_multipliers", []) + certificate["multipliers"]
    for entry in chance.sample(listed, min(len(listed), 3)):
        place = 2 if entry in certificate.get("constraint_multipliers", []) else 3
        entry[place] = str(Fraction(entry[place]) * chance.choice([0, 2, Fraction(1, 2)]))
    certificate.pop("digest")
    document["objective"]["lower_bound"] = str(value + Fraction(1, 10**9))
    found = check_optimality(read_document(add_digest(document)))
    assert found.lower_bound is not None
    assert found.lower_bound <= value
    assert verdict_of(add_digest(document)) != "yes"
    document["objective"]["lower_bound"] = str(found.lower_bound)
    assert verdict_of(add_digest(document)) == "yes"
    document["objective"]["lower_bound"] = str(found.lower_bound + Fraction(1, 10**30))
    assert verdict_of(add_digest(document)) != "yes"


def test_a_pullback_of_constrained_mechanisms_proves_nothing():
    inner = design.consumer(1, "absolute", Privacy(ratio=2), constraints=[{"terms": [[0, 0, 1]], "at_least": "1/2"}])
    document = {
        "format": "irisdp/mechanism/1",
        "privacy": {"ratio": 2},
        "graph": {"family": "path", "n": 2},
        "inputs": [0, 1],
        "outputs": [0, 1],
        "matrix": inner.to_document()["matrix"],
        "objective": inner.to_document()["objective"],
        "certificate": {"kind": "theorem", "theorem": "pullback", "mechanism": inner.to_document(), "query": [0, 1]},
    }
    found = check_optimality(read_document(add_digest(document)))
    assert not found.holds
    assert "constraints" in found.reason
    assert verdict_of(add_digest(document)) != "yes"


def test_answers_that_no_path_leads_to_are_farther_than_any_number():
    document = {
        "format": "irisdp/mechanism/1",
        "privacy": {"ratio": 2},
        "graph": {"nodes": [0, 1, 2, 3], "edges": [[0, 1], [2, 3]]},
        "matrix": [["1/4"] * 4] * 4,
        "outputs": [0, 1, 2, 3],
        "objective": {"name": "", "value": "0"},
        "certificate": {
            "kind": "dual", "aggregate": "average", "loss": [["0"] * 4] * 4, "weights": ["1"] * 4, "multipliers": [],
            "constraints": [{"error_at_most": "4", "of": "graph-distance"}],
        },
    }  # fmt: skip
    assert not check_optimality(read_document(add_digest(document))).holds
    assert verdict_of(add_digest(document)) != "yes"
    document["matrix"] = [["1/2", "1/2", 0, 0]] * 2 + [[0, 0, "1/2", "1/2"]] * 2
    for most in ("4", "1" * 4300, "1" * 4300 + "e4000"):
        document["certificate"]["constraints"] = [{"error_at_most": most, "of": "graph-distance"}]
        found = check_optimality(read_document(add_digest(document)))
        assert found.holds and len(found.scope()) < 200
        assert verdict_of(add_digest(document)) == "yes"
    graph = graph_from_edges([(0, 1), (2, 3)])
    goal = design.Goal(name="", loss=[[0, 1, 1, 0]] * 4, weights=[1] * 4)
    rule = {"error_at_most": 4, "of": "graph-distance"}
    made = design.optimal_mechanism(goal, graph, Privacy(ratio=2), constraints=[rule])
    assert made.row(1)[3] == made.row(2)[0] == 0


def test_without_a_rule_that_is_named_a_private_mechanism_is_there():
    """Not only one that meets the others at any privacy; rules of one form are told apart."""
    goal = design.Goal(name="", loss=[[0, 1], [1, 0]], side_information=[0])
    rules = [{"zero": [[0, 0], [1, 1], [1, 0]]}, {"zero": [[1, 1]]}, {"terms": [[0, 1, 2]], "at_least": "1/2"}]
    with pytest.raises(Infeasible, match="whatever its privacy; leave out more than one of them"):
        design.optimal_mechanism(goal, graph_from_edges([(0, 1)]), Privacy(ratio=2, delta="0.01"), constraints=rules)
    with pytest.raises(Infeasible, match=r'leave out "zero" \(number 1\)$'):
        design.optimal_mechanism(goal, graph_from_edges([(0, 1)]), Privacy(ratio=2, delta="0.3"), constraints=rules)


@pytest.mark.parametrize(("outputs", "said"), [(range(4), True), (range(-1, 4), True), (range(-1, 5), False)])
def test_who_asks_for_no_bias_is_told_that_it_needs_answers_beyond_the_counts(outputs, said):
    with pytest.raises(Infeasible) as refused:
        rules = ["unbiased", {"error_at_most": 1}]
        design.consumer(3, "squared", Privacy(ratio=2), outputs=outputs, constraints=rules)
    assert ("list outputs below and above all inputs" in str(refused.value)) is said
