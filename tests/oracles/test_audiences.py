"""Audiences and refinement: exact joint laws, by sums that share nothing with the sampler."""

import json
from fractions import Fraction
from itertools import chain as joined
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from irisdp import BadInput, Ledger, Privacy
from irisdp._cli import run
from irisdp._sampling import coarsen, kept_probability, refine
from irisdp._sampling.bits import law_of
from irisdp._sampling.chains import PARTS, Bridge
from support.programs import restricted

RATIOS = (Fraction(4), Fraction(2), Fraction(3, 2), Fraction(6, 5))
NARROW = Fraction(1, 1 << 80)


def noise(ratio, z):
    alpha = 1 / ratio
    return (1 - alpha) / (1 + alpha) * alpha ** abs(z)


def step(accurate, coarse, k):
    """The law of one coarsening step, from its closed form (proofs/audiences.md)."""
    a, b = 1 / accurate, 1 / coarse
    keep = a / b * (1 - b) ** 2 / (1 - a) ** 2
    return keep * (k == 0) + (1 - keep) * noise(coarse, k)


def generating(ratio, t):
    a = 1 / ratio
    return (1 - a) ** 2 / ((1 - a * t) * (1 - a / t))


@pytest.mark.parametrize(("accurate", "coarse"), list(combinations(RATIOS, 2)))
def test_coarsening_turns_one_noise_into_the_other(accurate, coarse):
    """Equality of generating functions at more points than their degree: a proof for this pair."""
    keep = kept_probability(Privacy(ratio=accurate), Privacy(ratio=coarse))
    for t in (Fraction(k, 1009) for k in range(1, 13)):
        step_at_t = keep + (1 - keep) * generating(coarse, t)
        assert generating(accurate, t) * step_at_t == generating(coarse, t)


def mixture(bridge, k):
    """Bounds on P(k) from the enclosed weights of the parts and the exact law within each."""
    d, both, tilt = bridge.gap, bridge.gamma * bridge.beta, bridge.gamma / bridge.beta
    within = [
        (1 - both) * both ** (-1 - k) if k < 0 else 0,
        int(k == 0),
        (1 - tilt) * tilt**k / (1 - tilt ** (d + 1)) if 0 <= k <= d else 0,
        int(k == d),
        (1 - both) * both ** (k - d - 1) if k > d else 0,
    ]
    ends = [bridge.enclose(part, NARROW) for part in range(PARTS + 1)]
    lower = sum(law * (after.lower - before.upper) for law, (before, after) in zip(within, pairwise(ends), strict=True))
    upper = sum(law * (after.upper - before.lower) for law, (before, after) in zip(within, pairwise(ends), strict=True))
    return lower, upper


@pytest.mark.parametrize("gap", range(6))
@pytest.mark.parametrize("ratios", [(None, 4, 2), (None, 2, "3/2"), (4, 2, "3/2"), (5, 3, "6/5")], ids=str)
def test_a_bridge_is_the_conditional_law_of_the_chain(ratios, gap):
    """P(coarse first)·P(link | both ends) = P(link first)·P(coarse | link), as fractions inside enclosures."""
    finer, target, coarser = (None if ratio is None else Fraction(ratio) for ratio in ratios)
    bridge = Bridge.between(gap, Privacy(ratio=target), finer and Privacy(ratio=finer), Privacy(ratio=coarser))
    whole = noise(coarser, gap) if finer is None else step(finer, coarser, gap)
    for k in range(-6, 12):
        first = noise(target, k) if finer is None else step(finer, target, k)
        lower, upper = mixture(bridge, k)
        assert lower <= first * step(target, coarser, gap - k) / whole <= upper
        assert upper - lower < 20 * NARROW


def test_a_bridge_with_the_wrong_weight_is_refuted():
    """Negative control: leaving out the atom where the coarser link equals the finer one."""
    true = Bridge.between(2, Privacy(ratio=4), None, Privacy(ratio=2))
    wrong = Bridge(2, true.gamma, true.beta, true.stay, true.leave, Fraction(0), true.spread)
    exact = noise(Fraction(4), 2) * step(Fraction(4), Fraction(2), 0) / noise(Fraction(2), 2)
    assert mixture(wrong, 2)[1] < exact


def solve(left, right):
    """left⁻¹·right by elimination on fractions."""
    rows = [list(a) + list(b) for a, b in zip(left, right, strict=True)]
    size = len(rows)
    for pivot in range(size):
        swap = next(k for k in range(pivot, size) if rows[k][pivot])
        rows[pivot], rows[swap] = rows[swap], rows[pivot]
        rows[pivot] = [value / rows[pivot][pivot] for value in rows[pivot]]
        for other in range(size):
            if other != pivot and rows[other][pivot]:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[size:] for row in rows]


@pytest.mark.parametrize("n", [1, 3])
def test_every_coalition_loses_what_its_best_member_loses(n):
    """On 0..n, with T = G_α⁻¹·G_β by elimination: the exact joint law of three audiences, and all their coalitions."""
    ratios = RATIOS[:3]
    first = restricted(n, ratios[0])
    steps = [solve(restricted(n, a), restricted(n, b)) for a, b in pairwise(ratios)]
    assert all(entry >= 0 for entry in joined(*(row for matrix in steps for row in matrix)))
    outcomes = list(product(range(n + 1), repeat=3))
    joint = [{(a, b, c): first[x][a] * steps[0][a][b] * steps[1][b][c] for a, b, c in outcomes} for x in range(n + 1)]
    for size in (1, 2, 3):
        for coalition in combinations(range(3), size):
            seen = []
            for law in joint:
                marginal = {}
                for outcome, probability in law.items():
                    key = tuple(outcome[member] for member in coalition)
                    marginal[key] = marginal.get(key, 0) + probability
                seen.append(marginal)
            loss = max(max(p[key] / q[key], q[key] / p[key]) for p, q in pairwise(seen) for key in p)
            assert loss == ratios[coalition[0]]


def clamp(value, n):
    return min(max(value, 0), n)


def test_clamped_links_have_the_joint_law_of_the_restricted_chain():
    n, (accurate, coarse), reach = 3, RATIOS[:2], 90
    matrix, to = restricted(n, accurate), None
    to = solve(matrix, restricted(n, coarse))
    for x in range(n + 1):
        law = {}
        for z, k in product(range(-reach, reach), range(-reach, reach)):
            if abs(z - x) < 40 and abs(k) < 60:
                key = clamp(z, n), clamp(z + k, n)
                law[key] = law.get(key, 0) + noise(accurate, z - x) * step(accurate, coarse, k)
        for (a, b), probability in law.items():
            # What was cut off weighs less than 2·4^-40 + 2·2^-60.
            assert abs(probability - matrix[x][a] * to[a][b]) < Fraction(1, 1 << 58)


def test_the_sampler_coarsens_with_the_stated_law():
    """Every script of at most four 2-bit words: decided mass plus undecided mass bracket the law."""
    law = law_of(
        lambda source: int(coarsen([0], Privacy(ratio=4), Privacy(ratio=2), source=source)[0]), word_bits=2, words=4
    )
    for value in range(-3, 4):
        mass = law.outcomes.get(value, Fraction(0))
        assert mass <= step(Fraction(4), Fraction(2), value) <= mass + law.undecided
    assert law.undecided < Fraction(1, 3)


def test_the_sampler_refines_with_the_stated_law():
    """Every script of at most five 2-bit words: part, outward step and inward step of one cell."""
    draw = {"finer_privacy": None, "coarser_privacy": Privacy(ratio=2)}
    for gap in (-2, 0, 1):
        law = law_of(
            lambda source, gap=gap: int(refine([5], [5 + gap], Privacy(ratio=4), source=source, **draw)[0]),
            word_bits=2,
            words=5,
        )
        for value in range(2, 9):
            k = value - 5
            exact = noise(Fraction(4), k) * step(Fraction(4), Fraction(2), gap - k) / noise(Fraction(2), gap)
            mass = law.outcomes.get(value, Fraction(0))
            assert mass <= exact <= mass + law.undecided
        assert law.undecided < Fraction(1, 2)


def test_order_is_enforced():
    with pytest.raises(BadInput, match="audiences"):
        coarsen([1], Privacy(ratio=2), Privacy(ratio=3))


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("g,v\n" + "a,1\nb,0\n" * 50)
    return tmp_path


def publish(capsys, *options):
    status = run(["publish", "t.csv", "count", "--by", "g", "--groups", "a,b", *options, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_audiences_are_charged_once_and_get_a_file_each(table, capsys):
    names = ("--audience", "press=0.5", "--audience", "board=2", "--audience", "world=0.5")
    status, document = publish(capsys, *names, "--out", "out.csv")
    assert status == 0
    assert document["cost"] == {"epsilon": "2", "delta": "0"}
    assert set(document["answers"]) == {"press", "board", "world"}
    assert document["answers"]["press"] == document["answers"]["world"]  # the same ε is the same link
    for name in ("press", "board", "world"):
        sidecar = json.loads((table / f"out.{name}.csv.release.json").read_text())
        assert sidecar["audience"] == name
        assert sidecar["privacy"] == {"epsilon": {"press": "0.5", "board": "2", "world": "0.5"}[name]}
    assert Ledger("t.ledger").spent.epsilon == 2
    assert publish(capsys, *names)[1]["repeated"] is True


def test_refining_leaves_the_ledger_at_the_larger_epsilon(table, capsys):
    for epsilon, charged in (("0.2", "0.2"), ("1.0", "0.8"), ("0.5", "0"), ("1/3", "0"), ("1.5", "0.5")):
        _, document = publish(capsys, "--epsilon", epsilon)
        assert document["cost"]["epsilon"] == charged
    assert Ledger("t.ledger").spent.epsilon == Fraction(3, 2)
    with pytest.raises(AssertionError):  # another question is another chain
        _, document = publish(
            capsys, "--epsilon", "2", "--unit", "v", "--at-most", "1", "--ledger", "other.ledger", "--another-ledger"
        )
        assert document["cost"]["epsilon"] == "0.5"


@pytest.mark.parametrize("options", [
    ("--audience", "press"),
    ("--audience", "press=0.5", "--audience", "press=1"),
    ("--audience", "../x=1"),
    ("--audience", "press=nan"),
    ("--audience", "press=1", "--epsilon", "1"),
])  # fmt: skip
def test_bad_audiences(options, table, capsys):
    assert run(["publish", "t.csv", "count", *options]) == 2
    assert not (table / "t.ledger").exists()


def test_a_million_cells_for_four_audiences_are_drawn_in_one_sweep():
    values = np.arange(10**5)
    links = [Privacy(epsilon=e) for e in (2, 1, "0.5", "0.1")]
    released = coarsen(values, links[0], links[1])
    for accurate, coarse in pairwise(links):
        released = coarsen(released, accurate, coarse)
    assert abs(float((released - values).mean())) < 1  # mean 0, standard deviation 14/sqrt(10^5)
