"""Draws from a seed: the same everywhere, rightly distributed, and out of reach of everything that publishes."""

import hashlib
import inspect
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

import irisdp
from irisdp import BadInput, Privacy, accounting, certify, consumers, design, graphs, interop, mechanisms, noise
from irisdp._cli import run
from irisdp._sampling import SimulatedBits
from irisdp._sampling.bits import ScriptedBits

P = Privacy(epsilon=1)
SOURCE = Path(irisdp.__file__).parent
COUNT = design.geometric(5, P)


def words(seed, count):
    """The definition of the stream, once more."""
    blocks = range(-(-count // 8192))
    data = b"".join(
        hashlib.shake_256(f"irisdp simulation 1, seed {seed}, block {block}".encode()).digest(65536) for block in blocks
    )
    return [int.from_bytes(data[8 * k : 8 * k + 8], "little") for k in range(count)]


def test_the_stream_is_a_hash_of_the_seed_however_it_is_read():
    bits, parts = SimulatedBits(12), [1, 0, 3, 8190, 20_000, 5]
    read = np.concatenate([bits.words(part) for part in parts])
    assert read.dtype == np.uint64
    assert read.tolist() == words(12, sum(parts))
    assert SimulatedBits(2**128 - 1).words(2).tolist() == words(2**128 - 1, 2)


FIXED = {
    "mechanism": (lambda: COUNT.simulate(2, 12, seed=1), [2, 3, 2, 2, 2, 2, 2, 2, 2, 4, 2, 4]),
    "noise": (lambda: noise.law("geometric", P).simulate(12, seed=1), [0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2]),
    "staircase": (
        lambda: noise.law("staircase", P, sensitivity=3).simulate(12, seed=1),
        [0, 4, -1, 1, 0, 0, 1, -1, 1, 7, 0, 7],
    ),
    "Gaussian": (lambda: noise.gaussian_law(1).simulate(12, seed=1), [0, 1, 0, 0, 0, 0, 0, -1, 0, 2, 0, 2]),
    "factors": (
        lambda: mechanisms.FactoredMechanism(privacy=P, n=9).simulate(4, 12, seed=1),
        [4, 5, 4, 4, 4, 4, 4, 4, 4, 6, 4, 6],
    ),
    "names": (
        lambda: design.randomized_response(["no", "yes"], P).simulate("no", 8, seed=5),
        ["no", "no", "yes", "no", "no", "yes", "no", "no"],
    ),
}
"""Draws that must never change: a change of them is a change of every experiment that states its seed."""


@pytest.mark.parametrize("kind", FIXED)
def test_a_seed_gives_the_same_draws_for_ever(kind):
    simulate, values = FIXED[kind]
    assert simulate().tolist() == values


def test_a_simulated_draw_is_a_draw_from_other_bits():
    script = ScriptedBits(words(3, 64), word_bits=64)
    assert COUNT.simulate(1, 20, seed=3).tolist() == COUNT.draw(1, 20, source=script)
    script = ScriptedBits(words(3, 600), word_bits=64)
    drawn = noise.law("geometric", P).draw(np.zeros(20, dtype=np.int64), script)
    assert noise.law("geometric", P).simulate(20, seed=3).tolist() == drawn.tolist()


def test_many_inputs_are_drawn_at_once():
    drawn = COUNT.simulate_many(size=20_000, seed=8)
    assert drawn.shape == (6, 20_000)
    for row, chances in zip(drawn, np.asarray(COUNT), strict=True):
        assert chisquare(np.bincount(row, minlength=6), chances * 20_000).pvalue > 1e-4
    assert COUNT.simulate_many([3, 3], (2, 5), seed=8).shape == (2, 2, 5)
    assert COUNT.simulate(3, (), seed=8).shape == ()
    assert not np.array_equal(COUNT.simulate(3, 99, seed=8), COUNT.simulate(3, 99, seed=9))
    pairs = design.exponential(graphs.Histograms(2, 2), P).simulate_many([(2, 0), (1, 1)], 3, seed=1)
    assert {type(name) for name in pairs.ravel()} == {tuple}


@pytest.mark.parametrize(
    "law", [noise.law("geometric", P), noise.law("staircase", P, sensitivity=4), noise.gaussian_law(1)]
)
def test_simulated_noise_has_the_distribution(law):
    drawn = law.simulate((100, 300), seed=4)
    assert drawn.shape == (100, 300)
    inside = range(-3, 4)
    seen = [int((drawn == z).sum()) for z in inside]
    chances = [float(law.enclose(z).lower) for z in inside]
    rest, others = drawn.size - sum(seen), 1 - sum(chances)
    assert chisquare([*seen, rest], np.array([*chances, others]) * drawn.size).pvalue > 1e-4


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "x", None, True, float("nan"), [1], np.random.default_rng(1)])
def test_other_seeds_are_refused(seed):
    with pytest.raises(BadInput, match=r"^seed: "):
        COUNT.simulate(1, 2, seed=seed)
    with pytest.raises(BadInput, match=r"^seed: "):
        noise.law("geometric", P).simulate(2, seed=seed)


def test_sizes_and_inputs_are_checked():
    for size in (-1, 10**9, (10**5, 10**5), "x", None, (2, -1), 1.5):
        with pytest.raises(BadInput, match=r"^size: "):
            COUNT.simulate(1, size, seed=1)
    for nodes in (7, "abc", [9], [None]):
        with pytest.raises(BadInput, match=r"^(nodes|input): "):
            COUNT.simulate_many(nodes, 1, seed=1)
    with pytest.raises(BadInput, match=r"^seed: is missing; "):
        COUNT.simulate(1)


# Out of reach of what publishes


PACKAGES = ("_ledger", "_queries", "_measurements", "_release", "_tables", "_cli", "_explorer", "_views", "interop")


def test_no_package_that_publishes_names_a_seed():
    lines = [
        f"{file.relative_to(SOURCE)}: {line.strip()}"
        for package in PACKAGES
        for file in (SOURCE / package).rglob("*.py")
        for line in file.read_text().splitlines()
        if re.search(r"SimulatedBits|\bsimulate(_many)?\(|\bseed\b\s*[=:]", line)
    ]
    assert not lines


def test_nothing_public_takes_a_seed_but_simulations():
    taking = set()
    for room in (irisdp, accounting, certify, consumers, design, graphs, interop, mechanisms, noise):
        for name in room.__all__:
            thing = getattr(room, name)
            members = [thing] if not inspect.isclass(thing) else [thing, *map(thing.__dict__.get, vars(thing))]
            for member in members:
                if callable(member) and not isinstance(member, type(Ellipsis)):
                    try:
                        parameters = inspect.signature(member).parameters
                    except (TypeError, ValueError):
                        continue
                    if parameters.keys() & {"seed", "rng", "random_state", "generator"}:
                        taking.add(getattr(member, "__name__", name))
    assert taking <= {"simulate", "simulate_many"}


@pytest.fixture
def votes(tmp_path):
    file = tmp_path / "votes.csv"
    file.write_text("vote\n" + "yes\nno\nyes\n" * 20)
    return file


def test_what_charges_refuses_a_seed_and_says_what_is_for_experiments(votes, capsys):
    ledger = irisdp.Ledger(votes.with_suffix(".ledger"))
    said = r"^seed: is no option; a release draws from the operating system; simulate\(…, seed=…\) is for experiments"
    calls = [
        lambda **seed: irisdp.publish(votes, "count", epsilon=1, ledger=ledger, **seed),
        lambda **seed: irisdp.plan("count", epsilon=1, **seed),
        lambda **seed: irisdp.Session(votes, ledger=ledger).count(epsilon=1, **seed),
        lambda **seed: COUNT.draw(1, 2, **seed),
        lambda **seed: noise.geometric([1], P, **seed),
    ]
    for call in calls:
        with pytest.raises(BadInput, match=said):
            call(seed=1)
    assert run(["publish", str(votes), "count", "--epsilon", "1", "--seed", "1"]) == 2
    assert "--seed" in capsys.readouterr().err


def test_a_release_reads_the_operating_system_alone(votes, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a release asked for seeded bits")

    read = []

    def counted(count, urandom=os.urandom):
        read.append(count)
        return urandom(count)

    monkeypatch.setattr(SimulatedBits, "__init__", refuse)
    monkeypatch.setattr(SimulatedBits, "words", refuse)
    monkeypatch.setattr(os, "urandom", counted)
    COUNT.draw(1, 5)
    assert read
    read.clear()
    for query, expression in (("count", None), ("majority", "vote = 'yes'")):
        arguments = (query,) if expression is None else (query, expression)
        irisdp.publish(votes, *arguments, epsilon=1, ledger=votes.with_suffix(".ledger"))
        assert read
        read.clear()
    with pytest.raises(AssertionError, match="a release asked for seeded bits"):
        COUNT.simulate(1, 5, seed=1)
