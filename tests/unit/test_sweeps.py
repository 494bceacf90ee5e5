"""Sweeps: what single designs are, beside programs of SciPy, in any order, kept, and refused by name."""

from fractions import Fraction

import numpy as np
import pytest

from irisdp import BadInput, Privacy, certify, design, graphs
from irisdp.consumers import Consumer, pinball
from irisdp.design import _optimal_mechanism, _sweeps
from irisdp.design._sweeps import _Memory
from support.programs import Program

RATIOS = [Fraction(x) for x in ("11/10", "3/2", "2", "7/3", "3", "5")]
EPSILONS = [Privacy(epsilon=Fraction(k, 10)) for k in (1, 2, 3, 7, 12, 20)]
TINY = Fraction(1, 1 << 50)
HIGHS = 1e-8


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing is known from other tests."""
    monkeypatch.setattr(_sweeps, "_MEMORY", _Memory())


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", [[0, 5, 1, 1]] * 4])
def test_a_sweep_of_short_ratios_has_exactly_the_values_and_bounds_of_single_designs(loss):
    privacies = [Privacy(ratio=ratio) for ratio in RATIOS]
    n = 3 if isinstance(loss, list) else 7
    found = design.sweep(design.consumer, {"privacy": privacies}, n=n, loss=loss)
    for mechanism, privacy in zip(found.mechanisms, privacies, strict=True):
        assert mechanism.objective == design.consumer(n, loss, privacy).objective
        assert mechanism.privacy == privacy
        audited = certify.audit(mechanism)
        assert audited.holds and audited.optimality.holds


@pytest.mark.parametrize(
    ("n", "loss"), [(8, "absolute"), (12, "zero-one"), (40, "squared"), (6, pinball(too_low=1, too_high=3))]
)
def test_a_sweep_of_epsilons_has_the_values_and_bounds_of_single_designs_to_the_gap(n, loss):
    found = design.sweep(design.consumer, {"privacy": EPSILONS}, n=n, loss=loss)
    for mechanism, privacy in zip(found.mechanisms, EPSILONS, strict=True):
        single = design.consumer(n, loss, privacy)
        here, there = mechanism.objective, single.objective
        assert mechanism.certificate["kind"] == single.certificate["kind"]
        assert abs(here.value - there.value) <= TINY * there.value
        assert abs(here.lower_bound - there.lower_bound) <= TINY * there.value
        assert here.lower_bound <= there.value and there.lower_bound <= here.value
        audited = certify.audit(mechanism)
        assert audited.holds and audited.optimality.holds


def best_on(edges, losses, ratio, weights=None):
    """The value of the program, by HiGHS as SciPy calls it."""
    program = Program()
    first = program.table(len(losses), len(losses[0]))
    program.private(first, len(losses[0]), edges, ratio)
    if weights is not None:
        program.charge(first, [w * x for w, line in zip(weights, losses, strict=True) for x in line])
    else:
        program.worst({first + i * len(line) + v: x for v, x in enumerate(line)} for i, line in enumerate(losses))
    return program.minimum()


def test_goals_and_graphs_are_swept_as_programs_of_highs_have_them():
    edges = {"line": [(0, 1), (1, 2), (2, 3)], "cycle": [(0, 1), (1, 2), (2, 3), (3, 0)]}
    losses = [[abs(i - v) for v in range(4)] for i in range(4)]
    table = tuple(tuple(map(Fraction, line)) for line in losses)
    share = (Fraction(1, 4),) * 4
    goals = {
        "worst": design.Goal(name="worst loss", loss=table, side_information=(0, 1, 2, 3)),
        "mean": design.Goal(name="mean loss", loss=table, weights=share),
    }
    found = design.sweep(
        design.optimal_mechanism,
        {
            "graph": {"line": graphs.Path(4), "cycle": graphs.Cycle(4)},
            "goal": goals,
            "privacy": [Privacy(ratio=ratio) for ratio in RATIOS],
        },
    )
    assert len(found) == len(found.points) == 2 * 2 * len(RATIOS)
    for point, value in zip(found.points, found.values, strict=True):
        ratio = RATIOS[[float(Privacy(ratio=r).epsilon) for r in RATIOS].index(point["epsilon"])]
        wanted = best_on(edges[point["graph"]], losses, ratio, share if point["goal"] == "mean" else None)
        assert abs(float(value) - wanted) <= HIGHS * max(1, wanted)


def test_designs_of_a_sweep_begin_at_the_basis_of_the_one_before(monkeypatch):
    begun = []
    near = _optimal_mechanism.optimum_near
    monkeypatch.setattr(
        _optimal_mechanism, "optimum_near", lambda *parts, **options: begun.append(parts[1]) or near(*parts, **options)
    )
    design.sweep(design.consumer, {"privacy": EPSILONS}, n=5, loss="absolute")
    assert len(begun) == len(EPSILONS) - 1
    design.consumer(5, "absolute", EPSILONS[0])
    assert len(begun) == len(EPSILONS) - 1


def test_a_start_that_leads_nowhere_is_no_reason_to_fail(monkeypatch):
    monkeypatch.setattr(_optimal_mechanism, "optimum_near", lambda *_, **options: None)
    found = design.sweep(design.consumer, {"privacy": EPSILONS}, n=5, loss="absolute")
    singles = [design.consumer(5, "absolute", privacy) for privacy in EPSILONS]
    assert [m.to_document() for m in found.mechanisms] == [m.to_document() for m in singles]


def test_a_design_that_was_made_is_not_made_again_and_another_is():
    made = []

    def designer(n, loss, privacy):
        made.append((n, loss))
        return design.consumer(n, loss, privacy)

    over = {"n": [2, 3], "loss": {"a": [[0, 1, 2, 3]] * 4, "b": "absolute"}}
    tables = {
        "loss": {
            "a": [[0, 1, 2]] * 3,
            "b": np.ones((3, 3), dtype=int),
            "c": "absolute",
            "d": pinball(too_low=1, too_high=2),
        }
    }
    with pytest.raises(BadInput, match=r"^loss: "):
        design.sweep(designer, over, privacy=EPSILONS[0])
    made.clear()
    for _ in range(2):
        design.sweep(designer, tables, n=2, privacy=EPSILONS[0])
    assert len(made) == 4
    design.sweep(designer, {"loss": ["absolute"]}, n=2, privacy=EPSILONS[1])
    design.sweep(designer, {"loss": [[[0, 1, 3]] * 3]}, n=2, privacy=EPSILONS[0])
    design.sweep(designer, {"loss": [np.zeros((3, 3), dtype=int)]}, n=2, privacy=EPSILONS[0])
    assert len(made) == 7


def test_what_is_not_told_apart_by_value_is_made_each_time():
    calls = []

    def designer(privacy, choose):
        calls.append(choose())
        return design.geometric(2, privacy)

    for _ in range(2):
        found = design.sweep(designer, {"privacy": EPSILONS[:1]}, choose=lambda: 1)
    assert len(calls) == 2
    assert found.values == found.lower_bounds or found.mechanisms[0].objective is not None


def test_the_longest_unused_designs_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(_sweeps, "_MOST_ENTRIES", 2 * 9)
    memory, (a, b, c) = _Memory(), (design.geometric(2, privacy) for privacy in EPSILONS[:3])
    memory.keep("a", a)
    memory.keep("b", b)
    assert memory.get("a") == a
    memory.keep("c", c)
    assert [memory.get(key) for key in "abc"] == [a, None, c]


def test_frames_show_parameters_values_bounds_and_seconds():
    over = {
        "n": np.array([2, 3]),
        "loss": ["absolute", pinball(too_low=1, too_high=3)],
        "privacy": [Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")],
    }
    found = design.sweep(design.consumer, over)
    frame = found.to_pandas()
    assert list(frame.columns) == ["n", "loss", "epsilon", "delta", "value", "lower_bound", "seconds"]
    assert frame["n"].tolist() == [2] * 4 + [3] * 4
    assert frame["epsilon"].tolist() == [1.0, 0.5] * 4 and frame["delta"].tolist() == [0.0, 0.001] * 4
    assert frame["value"].tolist() == [float(value) for value in found.values]
    assert (frame["seconds"] >= 0).all()
    assert found.to_polars().shape == (8, 7)
    assert "8 designs by consumer" in repr(found) and "8 designs" in found._repr_html_()


def test_values_without_names_are_told_apart_in_frames():
    several = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    readers = [Consumer(2, "absolute"), Consumer(2, "absolute", side_information=[0, 1])]
    found = design.sweep(lambda consumer, privacy: design.geometric(consumer.n, privacy), {
        "consumer": readers, "privacy": [EPSILONS[0]],
    })  # fmt: skip
    assert [point["consumer"] for point in found.points] == [
        "worst expected absolute loss (1)",
        "worst expected absolute loss (2)",
    ]
    shown = design.sweep(design.consumer, {"privacy": [several]}, n=2, loss="absolute").points[0]["privacy"]
    assert shown == str(several)
    lines = design.sweep(design.distance, {"graph": [graphs.Path(3)], "privacy": EPSILONS[:1]}).points
    assert lines[0]["graph"] == "Path of 3 nodes"


@pytest.mark.parametrize(
    ("over", "fixed", "message"),
    [
        ({"epsilon": [1]}, {}, "over: names 'epsilon', which consumer does not have"),
        ({"n": [2]}, {"n": 2}, "n: is given twice"),
        ({"n": []}, {}, "n: must be the values to design for"),
        ({"n": 5}, {}, "n: must be the values to design for"),
        ({}, {}, "over: makes 0 designs"),
        ({"n": range(200), "loss": ["absolute"] * 51}, {}, "over: makes 10200 designs"),
        ({"n": [2]}, {"loss": "absolute"}, "privacy: is missing"),
        ({"n": [-1]}, {"loss": "absolute", "privacy": EPSILONS[0]}, "n: "),
    ],
)
def test_what_is_no_sweep_is_refused(over, fixed, message):
    with pytest.raises(BadInput) as refusal:
        design.sweep(design.consumer, over, **fixed)
    assert str(refusal.value).startswith(message)


def test_what_designs_no_mechanism_is_refused():
    with pytest.raises(BadInput, match=r"^design: returns Fraction, no mechanism"):
        design.sweep(Fraction, {"numerator": [1]})
    with pytest.raises(BadInput, match=r"^design: "):
        design.sweep("consumer", {"n": [1]})
