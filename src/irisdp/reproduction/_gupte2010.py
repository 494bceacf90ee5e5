"""Definitions, tables and examples of [Gupte2010]: geometric noise on a count, and what its readers make of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any

import flint

from .._exact.linprog import as_fmpq, as_fraction
from ..certify import audit
from ..consumers import Consumer, optimal_reading
from ..design import consumer as designed_for
from ..design import derivation, side_by_side
from ..graphs import Path as Line
from ..mechanisms import FactoredMechanism, Mechanism, geometric
from ..noise import law
from ..privacy import Privacy
from ._items import Fault, Holds, Item, all_equal, holds_at

QUARTER, HALF, FIFTH = Privacy(ratio=4), Privacy(ratio=2), Privacy(ratio=5)
UNIVERSALITY = "proofs/universality.md"
PRIVATE = "proofs/geometric-privacy.md"
CERTIFICATE = "proofs/reading-certificate.md"

TABLE_1A = ("2/3, 5/17, 1/25, 1/98", "1/6, 7/11, 7/44, 2/49", "2/49, 7/44, 7/11, 1/6", "1/98, 1/25, 5/17, 2/3")
TABLE_1B = ("4/3, 1/4, 1/16, 1/48", "1/3, 1, 1/4, 1/12", "1/12, 1/4, 1, 1/3", "1/48, 1/16, 1/4, 4/3")
TABLE_1C = ("9/11, 2/11, 0, 0", "0, 1, 0, 0", "0, 0, 1, 0", "0, 0, 2/11, 9/11")
APPENDIX_B = ("1/9, 2/9, 4/9, 2/9", "2/9, 1/9, 2/9, 4/9", "4/9, 2/9, 1/9, 2/9", "13/18, 1/9, 1/18, 1/9")

Table = tuple[tuple[Fraction, ...], ...]


def read(lines: Sequence[str]) -> Table:
    """Return the numbers of a printed table."""
    return tuple(tuple(Fraction(part.strip()) for part in line.split(",")) for line in lines)


@cache
def figure_1() -> Mechanism:
    """Return geometric noise around 5 at α = 0.2, on 0 to 10 for a picture: the ends hold what lies beyond."""
    return Mechanism.from_matrix([geometric(10, FIFTH).row(5)], privacy=FIFTH, inputs=[5], outputs=range(11))


def printed_noise(z: int, alpha: Fraction) -> Fraction:
    """Return Pr[Z = z] of Definition 1."""
    return (1 - alpha) / (1 + alpha) * alpha ** abs(z)


def printed_range_restricted(n: int, alpha: Fraction) -> Table:
    """Return the matrix of Definition 4."""
    share = [1 / (1 + alpha) if z in (0, n) else (1 - alpha) / (1 + alpha) for z in range(n + 1)]
    return tuple(tuple(share[z] * alpha ** abs(z - k) for z in range(n + 1)) for k in range(n + 1))


def _definition_1() -> Holds:
    pairs = [
        (printed_noise(z, 1 / privacy.ratio), Fraction(law("geometric", privacy).probability(z)))
        for privacy in (QUARTER, HALF, FIFTH)
        for z in range(-20, 21)
    ]
    return all_equal(pairs, "probabilities")


def _figure_1() -> Holds:
    noise = law("geometric", FIFTH)
    ratios = {noise.probability(z + 1) / noise.probability(z) for z in range(10)}
    ratios |= {noise.probability(-z - 1) / noise.probability(-z) for z in range(10)}
    top = noise.probability(0)
    return Holds(ratios == {Fraction(1, 5)}, f"{top} at 5, and a fifth of what is beside it with every step away")


def _as_private_as_stated() -> Holds:
    """The least ratio that noise clamped to 0..n keeps is 1/α, exactly."""
    wrong = cases = 0
    for privacy in (QUARTER, HALF, FIFTH):
        for n in range(1, 7):
            audited = audit(geometric(n, privacy))
            rows = geometric(n, privacy).matrix()
            cases += 1
            wrong += not audited.private or max(a / b for a, b in zip(rows[0], rows[1], strict=True)) != privacy.ratio
    return holds_at(cases, wrong, "sizes and ratios, each with the ratio attained")


def _definition_4() -> Holds:
    pairs = []
    for privacy in (QUARTER, HALF, FIFTH):
        for n in range(1, 7):
            printed, ours = printed_range_restricted(n, 1 / privacy.ratio), geometric(n, privacy).matrix()
            pairs += [pair for one, other in zip(printed, ours, strict=True) for pair in zip(one, other, strict=True)]
            pairs += [(sum(row, Fraction(0)), Fraction(1)) for row in printed]
    return all_equal(pairs, "entries and sums of rows")


def _table_2() -> Fault:
    """The first row of G for the counts 0 to 3 with the printed last exponent, n − 1 = 2."""
    alpha, n = Fraction(1, 4), 3
    row = list(printed_range_restricted(n, alpha)[0])
    row[-1] = alpha ** (n - 1) / (1 + alpha)
    return Fault(
        "sum of the first row for n = 3, α = 1/4 with the printed exponent", sum(row, Fraction(0)), Fraction(1)
    )


@cache
def _tailored() -> Any:
    designed: Any = designed_for(3, "absolute", QUARTER)
    return designed


def _reading() -> Table:
    return tuple(tuple(row) for row in derivation(_tailored()).reading or ())


def _row_sum(line: str) -> Fault:
    return Fault("sum of the printed row", sum(read([line])[0], Fraction(0)), Fraction(1))


def value_of(mechanism: Any) -> Fraction:
    """Return what a designed mechanism loses."""
    result: Fraction = mechanism.objective.value
    return result


def errors(rows: Any, reading: Any) -> list[Fraction]:
    """Return the expected error Σ|i − v| of a reading at every count."""
    return [
        sum(
            (p * q * abs(i - v) for p, line in zip(row, reading, strict=True) for v, q in enumerate(line)),
            start=Fraction(0),
        )
        for i, row in enumerate(rows)
    ]


def _worst_loss(reading: Table) -> Fraction:
    return max(errors(geometric(3, QUARTER).matrix(), reading))


def _printed_reading() -> Fault:
    """The worst loss of the consumer of Table 1 with the printed interaction, and the least there is."""
    return Fault("worst loss with the printed interaction", _worst_loss(read(TABLE_1C)), value_of(_tailored()))


def _both_optima() -> Holds:
    outcome = side_by_side(Consumer(3, "absolute"), QUARTER)
    best = value_of(outcome.tailored)
    return Holds(best == outcome.read.value == _worst_loss(_reading()), f"both lose {best} at worst")


def _example_1() -> Holds:
    """A reader who knows that at least 2 of 5 are counted, and does nothing, maps into the set, or reads well."""
    reader = Consumer(5, "absolute", side_information={"at_least": 2})
    rows = geometric(5, QUARTER).matrix()
    plain = [[Fraction(int(z == v)) for v in range(6)] for z in range(6)]
    mapped = [[Fraction(int(max(z, 2) == v)) for v in range(6)] for z in range(6)]
    raw, clamped = (max(errors(rows, way)[2:]) for way in (plain, mapped))
    best = optimal_reading(FactoredMechanism(privacy=QUARTER, n=5), reader).value
    text = (
        f"worst error {float(raw):.4f} as released, {float(clamped):.4f} mapped into the set, {float(best):.4f} at best"
    )
    return Holds(best <= clamped < raw, f"{text} (n = 5, l = 2, α = 1/4)")


def _parity() -> tuple[Fraction, Fraction]:
    """Return what a reader of parity loses with geometric noise, and with the best mechanism: n = 2, r = 2."""
    outcome = side_by_side(Consumer(2, [[(i + v) % 2 for v in range(3)] for i in range(3)]), HALF)
    return outcome.read.lower_bound, value_of(outcome.tailored)


def _parity_gap() -> Holds:
    noise, best = _parity()
    return Holds(noise <= best, f"for losses that never fall; parity at n = 2, α = 1/2 loses {noise} against {best}")


def _appendix_b() -> Mechanism:
    return Mechanism.from_matrix(read(APPENDIX_B), privacy=HALF, graph=Line(4))


def _appendix_b_private() -> Holds:
    audited = audit(_appendix_b())
    return Holds(audited.private, "private at ratio 2, and every row adds up to 1")


def _appendix_b_condition() -> Fraction | None:
    obstacle = derivation(_appendix_b()).obstacle
    return None if obstacle is None else -obstacle.shortfall


def _appendix_b_place() -> Holds:
    obstacle = derivation(_appendix_b()).obstacle
    position = None if obstacle is None else (obstacle.output, obstacle.inputs)
    return Holds(position == (1, (0, 1, 2)), f"answer and inputs where it fails first: {position}")


_item = partial(Item, work="Gupte2010", proof=UNIVERSALITY)
_ROUNDED = "The fractions are rounded so far that the row adds up to more than 1."

COUNTS = (
    _item(
        name="Introduction",
        printed="universally optimal for all information consumers, no matter what their loss-function",
        compute=_parity_gap,
        proof="proofs/other-losses.md",
        misprint="It holds for losses that never fall as the answer moves away (Section 2.3), and not for others.",
        fault=lambda: Fault("worst loss of geometric noise for parity, read as well as can be", *_parity()),
    ),
    _item(name="Definition 1", printed="Pr[Z = z] = (1 − α)/(1 + α)·α^|z|", compute=_definition_1, proof=PRIVATE),
    _item(name="Figure 1", printed="the distribution for α = 0.2 and query result 5", compute=_figure_1, proof=PRIVATE),
    _item(
        name="Definition 2",
        printed="geometric noise is α-differentially private",
        compute=_as_private_as_stated,
        proof=PRIVATE,
    ),
    _item(
        name="Section 2.4, Example 1",
        printed="a reader who knows more does not take the output at face value",
        compute=_example_1,
        proof=CERTIFICATE,
    ),
    *(
        _item(
            name=f"Table 1(a), row {number}",
            printed=line,
            compute=partial(lambda number: _tailored().row(number), number),
            misprint=_ROUNDED,
            fault=partial(_row_sum, line),
        )
        for number, line in enumerate(TABLE_1A)
    ),
    *(
        _item(
            name=f"Table 1(b), row {number}",
            printed=line,
            compute=partial(lambda number: geometric(3, QUARTER).row(number), number),
            proof=PRIVATE,
            misprint="The factor (1 − α)/(1 + α) = 3/5 of all entries is left out.",
            fault=partial(_row_sum, line),
        )
        for number, line in enumerate(TABLE_1B)
    ),
    *(
        _item(
            name=f"Table 1(c), row {number}",
            printed=line,
            compute=partial(lambda number: _reading()[number], number),
            proof=CERTIFICATE,
            misprint="9/11 is 68/83 to two digits; read so, the consumer loses more than 168/415."
            if number in (0, 3)
            else None,
            fault=_printed_reading if number in (0, 3) else None,
        )
        for number, line in enumerate(TABLE_1C)
    ),
    _item(name="Table 1, (b) with (c)", printed="the interaction induces the optimal mechanism", compute=_both_optima),
    _item(name="Definition 4", printed="the range-restricted matrix", compute=_definition_4, proof=PRIVATE),
    _item(
        name="Table 2",
        printed="α^(n−1) at the end of the first row",
        compute=lambda: Holds(False, "α^n, for the counts 0 to n"),
        proof=PRIVATE,
        misprint="The exponents of the last column stop one short for the counts 0 to n: they end in α^n.",
        fault=_table_2,
    ),
    _item(name="Appendix B, M", printed="M is 1/2-differentially private", compute=_appendix_b_private),
    _item(name="Appendix B, condition", printed="-0.75/9", compute=_appendix_b_condition),
    _item(name="Appendix B, elements", printed="M(0,1), M(1,1), M(2,1) break the condition", compute=_appendix_b_place),
)


# Elimination for small matrices of fractions: determinants, products, and one matrix as a multiple of another.

Matrix = Sequence[Sequence[Fraction]]


def _matrix(rows: Matrix) -> flint.fmpq_mat:
    return flint.fmpq_mat([[as_fmpq(x) for x in row] for row in rows])


def _rows(matrix: flint.fmpq_mat) -> list[list[Fraction]]:
    return [[as_fraction(x) for x in row] for row in matrix.tolist()]


def determinant(rows: Matrix) -> Fraction:
    """Return the determinant."""
    return as_fraction(_matrix(rows).det())


def times(one: Matrix, other: Matrix) -> list[list[Fraction]]:
    """Return the product."""
    return _rows(_matrix(one) * _matrix(other))


def derived(deployed: Matrix, target: Matrix) -> list[list[Fraction]]:
    """Return T with target = deployed·T."""
    return _rows(_matrix(deployed).inv() * _matrix(target))
