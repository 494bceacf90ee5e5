"""Theorems and lemmas of [Gupte2010], as they are printed, in exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from typing import Any

from ..certify import audit
from ..consumers import Consumer, optimal_reading
from ..design import broken_adjacency, derivation, dominating_reading, oblivious, side_by_side
from ..design import consumer as designed_for
from ..graphs import Hamming
from ..graphs import Path as Line
from ..mechanisms import FactoredMechanism, Mechanism, geometric
from ..privacy import Privacy
from ._gupte2010 import APPENDIX_B, derived, determinant, errors, printed_range_restricted, read, value_of
from ._items import Holds, Item, all_equal, holds_at

UNIVERSALITY = "proofs/universality.md"
AUDIENCES = "proofs/audiences.md"
ALPHAS = [Fraction(1, 4), Fraction(1, 2), Fraction(4, 5)]
SIZES = range(2, 7)
COLUMNS = [[Fraction((7 * i + 3 * k) % 11 + 1) for i in range(6)] for k in range(11)]
"""Vectors of many shapes, of which the first n entries are taken."""

CONSUMERS = [
    Consumer(n, loss, side_information=known)
    for n, known in ((3, None), (4, None), (4, {"at_least": 1, "at_most": 3}), (5, [0, 2, 5]))
    for loss in ("absolute", "squared", "zero-one")
]

Table = Sequence[Sequence[Fraction]]


def _scaled(n: int, alpha: Fraction) -> list[list[Fraction]]:
    """Return G' of Table 2 with n rows."""
    return [[alpha ** abs(i - j) for j in range(n)] for i in range(n)]


def _lemma_1() -> Holds:
    pairs = []
    for n, alpha in product(SIZES, ALPHAS):
        whole, scaled = determinant(printed_range_restricted(n - 1, alpha)), determinant(_scaled(n, alpha))
        pairs.append((scaled, (1 - alpha**2) ** (n - 1)))
        pairs.append((scaled, (1 + alpha) ** 2 * ((1 + alpha) / (1 - alpha)) ** (n - 2) * whole))
    return all_equal(pairs, "determinants (n rows)")


def _replaced(n: int, alpha: Fraction, place: int, column: Sequence[Fraction]) -> Fraction:
    """Return det G'(place, x)."""
    rows = _scaled(n, alpha)
    return determinant([[*row[:place], x, *row[place + 1 :]] for row, x in zip(rows, column[:n], strict=True)])


def _lemma_2(which: int) -> Holds:
    pairs = []
    for n, alpha, x in product(range(3, 7), ALPHAS, COLUMNS):
        factor = (1 - alpha**2) ** (n - 2)
        if which == 1:
            pairs.append((_replaced(n, alpha, 0, x), factor * (x[0] - alpha * x[1])))
        elif which == 2:
            pairs.append((_replaced(n, alpha, n - 1, x), factor * (x[n - 1] - alpha * x[n - 2])))
        else:
            pairs += [
                (_replaced(n, alpha, i, x), factor * ((1 + alpha**2) * x[i] - alpha * (x[i - 1] + x[i + 1])))
                for i in range(1, n - 1)
            ]
    return all_equal(pairs, "determinants")


def _private_columns() -> Iterator[tuple[Fraction, ...]]:
    """Yield the probabilities of one of two answers at three counts, in twelfths, private at ratio 2."""
    for column in product([Fraction(k, 12) for k in range(13)], repeat=3):
        steps = [(a, b) for p, q in pairwise(column) for a, b in ((p, q), (q, p), (1 - p, 1 - q), (1 - q, 1 - p))]
        if all(a <= 2 * b for a, b in steps):
            yield column


def _theorem_2() -> Holds:
    """Compare the condition with the signs of G⁻¹M, and with this library's derivation."""
    alpha, cases, wrong = Fraction(1, 2), 0, 0
    noise = printed_range_restricted(2, alpha)
    for column in _private_columns():
        rows = [(p, 1 - p) for p in column]
        derivable = all(x >= 0 for row in derived(noise, rows) for x in row)
        met = all((b - alpha * a) >= alpha * (c - alpha * b) for a, b, c in zip(*rows, strict=True))
        ours = derivation(Mechanism.from_matrix(rows, privacy=Privacy(ratio=2), graph=Line(3))).holds
        cases, wrong = cases + 1, wrong + (not derivable == met == ours)
    return holds_at(cases, wrong, "private mechanisms with two answers on three counts")


def _independent_conditions() -> Holds:
    """A private mechanism that breaks the condition, and a column that meets it and is not private."""
    private_only = derivation(Mechanism.from_matrix(read(APPENDIX_B), privacy=Privacy(ratio=2), graph=Line(4)))
    alpha, column = Fraction(1, 2), (Fraction(1), Fraction(1, 2), Fraction(0))
    met = (1 + alpha**2) * column[1] >= alpha * (column[0] + column[2])
    return Holds(
        not private_only.holds and met,
        "M of Appendix B is private and breaks it; (1, 1/2, 0) meets it and is not private",
    )


def _appendix_b_inverse() -> Holds:
    least = min(min(row) for row in derived(printed_range_restricted(3, Fraction(1, 2)), read(APPENDIX_B)))
    return Holds(least < 0, f"the least entry of G⁻¹M is {least}")


def _universality() -> Holds:
    wrong = 0
    for reader in CONSUMERS:
        for privacy in (Privacy(ratio=4), Privacy(ratio=2)):
            outcome = side_by_side(reader, privacy)
            wrong += outcome.excess != 0 or value_of(outcome.tailored) != outcome.read.value
    return holds_at(2 * len(CONSUMERS), wrong, "consumers, each with both optima as fractions")


def _structure() -> Holds:
    """Read geometric noise as dominates an optimal mechanism: that is optimal as well, and has the structure."""
    wrong = 0
    for reader in CONSUMERS[:6]:
        made: Any = designed_for(reader.n, reader.loss, Privacy(ratio=4))
        noise = geometric(reader.n, Privacy(ratio=4))
        read_so = dominating_reading(made)
        channel = [[dict(read_so[z]).get(v, Fraction(0)) for v in range(reader.n + 1)] for z in range(reader.n + 1)]
        other = noise.post_process(channel)
        losses = [
            sum((p * Fraction(reader.loss.at(i, v)) for v, p in enumerate(row)), start=Fraction(0))
            for i, row in enumerate(other.matrix())
        ]
        wrong += max(losses) != value_of(made) or broken_adjacency(other) is not None
    return holds_at(6, wrong, "consumers: an optimal mechanism has this structure")


def _bayesian() -> Holds:
    """A Bayesian reader never tosses a coin, and the minimax reader of Table 1 does."""
    noise = FactoredMechanism(privacy=Privacy(ratio=4), n=3)
    thirds = [Fraction(1, 3), Fraction(1, 6), Fraction(1, 6), Fraction(1, 3)]
    sure = optimal_reading(noise, Consumer(3, "absolute", prior=thirds)).reading()
    mixed = optimal_reading(noise, Consumer(3, "absolute")).reading()
    holds = all(len(line) == 1 for line in sure.values()) and any(len(line) > 1 for line in mixed.values())
    return Holds(
        holds, f"minimax: 0 is read as {' or '.join(f'{v} ({p})' for v, p in mixed[0])}; Bayesian: as one answer"
    )


def _variables() -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
    tenths = [Fraction(k, 10) for k in (1, 3, 4, 7)]
    yield from product(ALPHAS, tenths, tenths, tenths)


def _equation_4() -> Holds:
    pairs = []
    for alpha, b, after, _ in _variables():
        a = (1 - b - alpha + after * alpha) / (1 - alpha**2)
        c = (alpha - alpha**2 + b * alpha**2 - after * alpha) / (1 - alpha**2)
        pairs += [(a + b + c, Fraction(1)), (alpha * a + after + c / alpha, Fraction(1))]
    return all_equal(pairs, "sums of rows")


def _last_display() -> Holds:
    pairs = []
    for x, b, after, last in _variables():
        a = (1 - b - x + after * x) / (1 - x**2)
        c = (x - x**2 + b * x**2 - after * x) / (1 - x**2)
        first = x**2 * a + last + c / x**2
        above = x**3 - b * x**3 - x**4 + after * x**4 + last * x - last * x**3 + 1 - x - after + b * x
        second = above / (x * (1 - x**2))
        third = (1 - x + x**2) / x + ((b + last) * x - after * (1 + x**2)) / x
        pairs += [(first, second), (second, third)]
    return all_equal(pairs, "lines of the display")


def _post_processed() -> Holds:
    cases = wrong = 0
    for n in (2, 3):
        for shift in range(4):
            weights = [[Fraction(1 + (z * v + shift) % 3) for v in range(3)] for z in range(n + 1)]
            reading = [[x / sum(line) for x in line] for line in weights]
            made = geometric(n, Privacy(ratio=2)).post_process(reading)
            cases, wrong = cases + 1, wrong + (not audit(Mechanism.from_matrix(
                made.matrix(), privacy=Privacy(ratio=2), graph=Line(n + 1))).private)  # fmt: skip
    return holds_at(cases, wrong, "interactions")


def _oblivious() -> Holds:
    """Average a mechanism that looks at more than the count, over databases of two and three bits."""
    cases = wrong = 0
    for n in (2, 3):
        cube = Hamming(n, 2)
        weights = [[Fraction(3 + (5 * i + 2 * v) % 4, 4) for v in range(n + 1)] for i in range(cube.number_of_nodes)]
        rows = [[x / sum(line) for x in line] for line in weights]
        given = Mechanism.from_matrix(rows, privacy=Privacy(ratio=8), graph=cube)
        counts = {node: str(node).count("1") for node in cube.nodes}
        made = oblivious(given, counts)
        means = errors(made.matrix(), [[Fraction(int(z == v)) for v in range(n + 1)] for z in range(n + 1)])
        at_nodes = [
            sum((p * abs(counts[node] - v) for v, p in enumerate(given.row(node))), start=Fraction(0))
            for node in cube.nodes
        ]
        cases += 1
        wrong += max(means) > max(at_nodes) or _ratio_of(made) > _ratio_of(given)
    return holds_at(cases, wrong, "mechanisms on databases of bits: as private as before, and no worse")


def _ratio_of(mechanism: Mechanism) -> Fraction:
    """Return the least ratio that a mechanism keeps on the edges of its graph."""
    assert mechanism.graph is not None
    matrix, worst = mechanism.matrix(), Fraction(1)
    for tails, heads in mechanism.graph.edges():
        for tail, head in zip(tails.tolist(), heads.tolist(), strict=True):
            worst = max(worst, *(max(p / q, q / p) for p, q in zip(matrix[tail], matrix[head], strict=True)))
    return worst


_item = partial(Item, work="Gupte2010", proof=UNIVERSALITY)

COUNT_THEOREMS = (
    _item(
        name="Section 2.5, interaction",
        printed="what a consumer induces is as private",
        compute=_post_processed,
        proof="proofs/pullback.md",
    ),
    _item(
        name="Theorem 1, utility",
        printed="each reader does as well as with a mechanism tailored for them",
        compute=_universality,
    ),
    _item(
        name="Section 2.7",
        printed="Bayesian readings are deterministic, minimax ones randomized",
        compute=_bayesian,
        proof="proofs/reading-certificate.md",
    ),
    _item(
        name="Section 3",
        printed="neither of privacy and the condition implies the other",
        compute=_independent_conditions,
    ),
    _item(name="Theorem 2", printed="derivable if and only if (x_2 − αx_1) ≥ α(x_3 − αx_2)", compute=_theorem_2),
    _item(name="Lemma 1", printed="det G' = (1 − α²)^(n−1)", compute=_lemma_1, note="N is the number of rows here."),
    _item(name="Lemma 2, case 1", printed="(1 − α²)^(n−2)(x_1 − αx_2)", compute=partial(_lemma_2, 1)),
    _item(name="Lemma 2, case 2", printed="(1 − α²)^(n−2)(x_n − αx_{n−1})", compute=partial(_lemma_2, 2)),
    _item(
        name="Lemma 2, case 3",
        printed="(1 − α²)^(n−2)((1 + α²)x_i − α(x_{i−1} + x_{i+1}))",
        compute=partial(_lemma_2, 3),
    ),
    _item(
        name="Lemma 5",
        printed="there is an optimal mechanism whose adjacent rows fall by α, but for one entry, and then rise",
        compute=_structure,
    ),
    _item(name="Theorem 1, proof, (4)", printed="a and c from the sums of two rows", compute=_equation_4),
    _item(name="Theorem 1, proof, last display", printed="three lines", compute=_last_display),
    _item(name="Lemma 6", printed="averaging over databases of one count loses nothing", compute=_oblivious),
    _item(name="Appendix B, G⁻¹M", printed="M cannot be derived from G_{3,1/2}", compute=_appendix_b_inverse),
)
