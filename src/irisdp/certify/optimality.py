"""The verdict on a certificate: the bound recomputed, the value recomputed, the seal compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from ..errors import BadInput
from ..exact import rational_text
from ..mechanisms import FactoredMechanism, Mechanism, MechanismDocument
from .arithmetic import Number, as_fraction, flint_rational
from .case import Case, as_document, case_of
from .dual import dual_bound
from .geometric_powers import GeometricPowers
from .goals import Goal, read_goal
from .pullbacks import inner_document
from .sealing import is_sealed
from .theorems import prove

__all__ = ["Optimality", "check_optimality"]

_GOAL_KEYS = ("aggregate", "loss", "weights")


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimality:
    """What is left of a claim of optimality after checking it.

    Parameters
    ----------
    holds : bool
        The seal is whole, the value is right and the bound stated is proven. `reason` says in words why, or why not.
    kind : str
        "dual", or the theorem's id.
    value : Fraction or None
        The goal of the rows, recomputed (of a factored mechanism an upper bound), whatever the file states; None where
        no goal is stated or the certificate proves nothing.
    lower_bound : Fraction or None
        What the certificate proves: no private mechanism has a smaller goal.
    distance : Fraction or None
        How far an entry is at most from the one that the theorem says is best; None where none is named.
    """

    holds: bool
    kind: str
    reason: str
    value: Fraction | None = None
    lower_bound: Fraction | None = None
    distance: Fraction | None = None

    @property
    def gap(self) -> Fraction | None:
        """Value minus bound: 0 where the optimum is exact."""
        return None if self.value is None or self.lower_bound is None else self.value - self.lower_bound

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data."""
        numbers = {"value": self.value, "lower_bound": self.lower_bound, "gap": self.gap, "distance": self.distance}
        texts = {name: rational_text(number) for name, number in numbers.items() if number is not None}
        return {"holds": self.holds, "kind": self.kind, "reason": self.reason, **texts}


def check_optimality(subject: Mechanism | FactoredMechanism | MechanismDocument) -> Optimality | None:
    """Judge the certificate of a mechanism; None when it has none.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism or MechanismDocument
        Privacy itself is not checked here (`audit` does that): a bound is a bound on private mechanisms.

    Returns
    -------
    Optimality
        A malformed certificate is one that does not hold; nothing is raised for it.

    References
    ----------
    proofs/weak-duality.md, proofs/universality.md, proofs/rainbow-optimality.md, proofs/randomized-response.md.
    """
    document = as_document(subject)
    if document.certificate is None:
        return None
    if not isinstance(document.certificate, Mapping):
        return Optimality(holds=False, kind="unknown", reason="the certificate is no JSON object")
    kind = str(document.certificate.get("theorem" if document.certificate.get("kind") == "theorem" else "kind"))
    found: tuple[Fraction | None, ...] = (None, None, None)
    try:
        if not is_sealed(document.source):
            raise BadInput("digest", "is not that of the document", "the file was changed after it was sealed")
        found = _proven(case_of(document), document.certificate)
        _compare(document, *found[:2])
        holds, reason = True, "recomputed and as stated"
    except (BadInput, RecursionError) as problem:
        holds, reason = False, str(problem)
    value, bound, distance = found
    return Optimality(holds=holds, kind=kind, reason=reason, value=value, lower_bound=bound, distance=distance)


def _proven(case: Case, certificate: Mapping[str, Any]) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Return the value of the goal and the bound on it, if a goal is stated, and the distance from a theorem's rows."""
    if certificate.get("kind") not in ("dual", "theorem"):
        raise BadInput("kind", "must be dual or theorem", "write one of them")
    if certificate["kind"] == "theorem" and certificate.get("theorem") == "pullback":
        inner = check_optimality(inner_document(case, certificate))
        if inner is None or not inner.holds:
            raise BadInput("mechanism", "has no certificate that holds", "certify the inner mechanism")
        return inner.value, inner.lower_bound, None
    stated = any(key in certificate for key in _GOAL_KEYS)
    goal = read_goal(certificate, case.inputs, case.outputs, case.graph) if stated else None
    distance = None
    if certificate["kind"] == "theorem":
        proven = prove(case, certificate, goal)
        bound, distance = proven.bound, None if proven.distance is None else as_fraction(proven.distance)
    elif goal is None:
        raise BadInput("loss", "is missing", "state the goal of the dual certificate")
    else:
        bound = dual_bound(
            certificate,
            goal,
            inputs=case.inputs,
            outputs=case.outputs,
            graph=case.graph,
            places=case.places,
            ratio=flint_rational(case.privacy.ratio),
            delta=flint_rational(case.privacy.delta),
        )
    if goal is None or bound is None:
        return None, None, distance
    return as_fraction(_value(case, goal)), as_fraction(bound), distance


def _value(case: Case, goal: Goal) -> Number:
    factored = case.document.factored
    if factored is None:
        return goal.value(case.row)
    powers = GeometricPowers(factored.n, case.privacy.ratio, up=True)
    reading = factored.reading or {z: ((z, Fraction(1)),) for z in range(factored.n + 1)}
    choices = [[(r, flint_rational(p)) for r, p in reading[z]] for z in range(factored.n + 1)]

    def expected(i: int) -> Number:
        losses: Sequence[Number] = goal.loss_row(i)
        if min(losses) < 0:
            raise BadInput("loss", "must not be negative for a factored mechanism", "write the matrix")
        return powers.expected(i, [sum((p * losses[r] for r, p in line), start=flint.fmpq(0)) for line in choices])

    return goal.aggregated(expected)


def _compare(document: MechanismDocument, value: Fraction | None, bound: Fraction | None) -> None:
    """Insist that the file states what was proven: the value exactly, and no better bound."""
    objective = document.objective
    if objective is None and value is None:
        return
    if objective is None or value is None or bound is None:
        raise BadInput("objective", "and the goal of the certificate must come together", "state both or neither")
    too_low = objective.value < value if document.factored is not None else objective.value != value
    if too_low:
        raise BadInput("objective.value", "is not the goal of the rows", "recompute it")
    if objective.lower_bound is not None and objective.lower_bound > bound:
        raise BadInput("objective.lower_bound", "is more than the certificate proves", "lower it")
