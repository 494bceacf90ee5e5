"""Writing a consumer's optimum down: the goal, the evidence, and a reading multiplied out to exact short numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...consumers.consumer import Consumer
from ...consumers.optimal import OptimalReading
from ...errors import CertificateRejected
from ...exact import rational_text
from ...exact.grid import ONE, GridRow
from ...graphs import Path
from ...mechanisms import Mechanism, Objective
from ...privacy import Privacy
from ..programs.contraction import contract, is_private
from ..programs.goals import Goal
from ..programs.program import directions
from ..programs.sealing import sealed

__all__ = ["consumer_goal", "reading_certificate", "written_out"]

_GUARD = 1 << 256
"""Powers of the ratio are multiples of 2^-256."""

_NOT_UNIVERSAL = " (it falls with distance somewhere: universality is not guaranteed, so the whole program was solved)"


def consumer_goal(reader: Consumer) -> Goal:
    """Return what a consumer minimises, as the general programs take it."""
    name = reader.goal if reader.universal else reader.goal + _NOT_UNIVERSAL
    losses = reader.loss.table(reader.n)
    loss_name = reader.loss.name if reader.loss.standard else None
    if reader.prior is None:
        return Goal(name=name, loss=losses, loss_name=loss_name, side_information=tuple(reader.possible))
    return Goal(name=name, loss=losses, loss_name=loss_name, weights=reader.exact_prior())


def reading_certificate(found: OptimalReading) -> dict[str, Any] | None:
    """Return the evidence that a reading of geometric noise is optimal among all private mechanisms.

    The checker computes the bound of universality from it: what reading the noise costs at least under `weights`. None
    where the checker does not know universality for the loss.
    """
    reader = found.consumer
    if not _is_checkable(reader):
        return None
    loss: Any = {"name": reader.loss.name}
    if not reader.loss.standard:
        loss = [[rational_text(x) for x in row] for row in reader.loss.table(reader.n)]
    weights = found.weights if reader.prior is None else reader.exact_prior()
    certificate: dict[str, Any] = {
        "kind": "theorem",
        "theorem": "geometric-reading",
        "aggregate": "worst" if reader.prior is None else "average",
        "loss": loss,
        "weights": [rational_text(Fraction(w)) for w in weights],
    }
    if reader.prior is None and len(reader.possible) <= reader.n:
        certificate["side_information"] = list(reader.possible)
    return certificate


def written_out(found: OptimalReading, privacy: Privacy) -> Mechanism:
    """Multiply geometric noise by a reading, make the product short and exactly private, and seal it with its evidence.

    Returns
    -------
    Mechanism
        Entries are multiples of 2^-128, within about 2^-128·n/(r − 1) of the product; the value is that of the entries.
    """
    reader, graph = found.consumer, Path(found.consumer.n + 1)
    rows = _short(_product(found, privacy.ratio), directions(graph), privacy.pure)
    whole, losses = _on_common_denominator(reader.loss.table(reader.n))
    expected = [Fraction(total, whole * ONE) for total in (np.array(rows, dtype=object) * losses).sum(axis=1)]
    if reader.prior is None:
        value = max(expected[i] for i in reader.possible)
    else:
        value = sum((w * x for w, x in zip(reader.exact_prior(), expected, strict=True)), Fraction(0))
    made = Mechanism.from_matrix(
        [[Fraction(x, ONE) for x in row] for row in rows],
        privacy=privacy.pure,
        graph=graph,
        objective=Objective(reader.goal, value, found.lower_bound),
        certificate=reading_certificate(found),
    )
    return sealed(made) if made.certificate is not None else made


def _product(found: OptimalReading, ratio: Fraction) -> list[GridRow]:
    """Return noise times reading in multiples of 2^-128, each rounded down; the largest of a row takes what is missing.

    Powers of the ratio are kept to multiples of 2^-256, in steps that lose at most one unit each.
    """
    n, a, b = found.consumer.n, ratio.numerator, ratio.denominator
    powers = [_GUARD]
    for _ in range(n):
        powers.append(powers[-1] * b // a)
    inner, end = (np.array([p * x // (a + b) for p in powers], dtype=object) for x in (a - b, a))
    counts = np.arange(n + 1)
    whole, chances = _on_common_denominator([[Fraction(p) for p in found.chances]])
    product = np.zeros((n + 1, n + 1), dtype=object)
    for z, v, share in zip(found.released.tolist(), found.answers.tolist(), chances[0], strict=True):
        product[:, v] += (end if z in (0, n) else inner)[abs(counts - z)] * share
    rows: list[GridRow] = (product * ONE // (whole * _GUARD)).tolist()
    for row in rows:
        row[max(range(n + 1), key=row.__getitem__)] += ONE - sum(row)
    return rows


def _short(rows: list[GridRow], edges: list[tuple[int, int]], privacy: Privacy) -> list[GridRow]:
    """Undo what rounding took from privacy, and check that it is there, exactly."""
    if not is_private(rows, edges, privacy):
        rows = contract(rows, edges, privacy)
    if min(map(min, rows)) < 0 or any(sum(row) != ONE for row in rows) or not is_private(rows, edges, privacy):
        raise CertificateRejected("the noise as it is read is not private", status="rounding failed")
    return rows


def _is_checkable(reader: Consumer) -> bool:
    """Tell whether the checker knows universality for the loss: never falling at any count, whatever its sign."""
    return reader.loss.never_falls(range(reader.n + 1))


def _on_common_denominator(table: Sequence[Sequence[Fraction]]) -> tuple[int, Any]:
    """Return a common denominator and the numerators, as an array of Python integers."""
    whole = math.lcm(*{x.denominator for row in table for x in row})
    return whole, np.array([[x.numerator * (whole // x.denominator) for x in row] for row in table], dtype=object)
