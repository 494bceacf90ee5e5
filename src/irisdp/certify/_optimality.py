"""The verdict on a certificate: the bound recomputed, the value recomputed, the seal compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from .._exact import (
    Number,
    as_fraction,
    checked,
    flint_rational,
    integer,
    json_list,
    rational,
    rational_text,
    short_above,
    short_below,
)
from .._frames import InOneLine
from ..errors import BadInput
from ..mechanisms import (
    ALL_PRIVATE,
    CONSTRAINED,
    SAME_ROWS,
    FactoredMechanism,
    Mechanism,
    MechanismDocument,
    read_document,
)
from ._audited_mechanism import AuditedMechanism, audited_mechanism, same_promise
from ._boundaries import ONE_ROW_PER_RANKING
from ._constraints import read_constraints
from ._matrix_files import as_document
from ._objectives import PULLBACK, GoalInWords, StatedGoal, dual_bound, in_words, read_goal, without_a_goal
from ._theorems import THEOREMS_OF_RAINBOWS, GeometricPowers, prove

# Optimality by pullback: the mechanism evaluates a query first and is optimal on the query's small graph.
#
# Suppose every input over one small node has the same number of neighbours over every other small node. Then averaging
# a private mechanism over the inputs that share a small node leaves a private mechanism of the small graph with no
# larger goal (proofs/pullback.md). So what is optimal on the small graph is optimal above it too.


def inner_subject(subject: AuditedMechanism, certificate: Mapping[str, Any]) -> tuple[AuditedMechanism, list[int]]:
    """Check that a mechanism is the pullback of the one in its certificate, along an equitable query.

    Returns
    -------
    tuple
        The inner mechanism, and for every input the number of its input below.

    Raises
    ------
    BadInput
        When rows, privacy or outputs differ, or the query is not equitable and onto.
    """
    inner = audited_mechanism(read_document(certificate.get("mechanism")))
    if inner.document.factored is not None or subject.document.factored is not None:
        raise BadInput("factors", "cannot be pulled back", "write the matrix")
    if not same_promise(inner.privacy, subject.privacy):
        raise BadInput("privacy", "differs from the inner mechanism's", "state the same")
    numbers = json_list(certificate.get("query"), "query", len(subject.inputs))
    query = [integer(k, "query", at_least=0, at_most=len(inner.inputs) - 1) for k in numbers]
    if inner.outputs != subject.outputs or any(subject.row(i) != inner.row(k) for i, k in enumerate(query)):
        raise BadInput("matrix", "is not the inner mechanism read through the query", "correct the rows")
    over = np.empty(len(query), dtype=np.int64)
    over[subject.places] = inner.places[np.array(query, dtype=np.int64)]
    _check_equity(subject, inner, over)
    return inner, query


def _check_equity(subject: AuditedMechanism, inner: AuditedMechanism, over: NDArray[np.int64]) -> None:
    size = inner.graph.number_of_nodes
    fibres = np.bincount(over, minlength=size)
    codes = np.concatenate([np.zeros(0, np.int64), *_crossings(subject, over, size)])
    crossings, counts = np.unique(codes, return_counts=True)
    nodes, targets = np.divmod(crossings, size)
    # Every node's counts must be those of its fibre: group by (node below, target) and compare within groups.
    groups, group_of = np.unique(over[nodes] * size + targets, return_inverse=True)
    smallest = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(smallest, group_of, counts)
    largest = np.zeros(len(groups), np.int64)
    np.maximum.at(largest, group_of, counts)
    below, targets = np.divmod(groups, size)
    complete = np.bincount(group_of, minlength=len(groups)) == fibres[below]
    if not (complete.all() and (smallest == largest).all()):
        raise BadInput("query", "is not equitable", "inputs over one node need equally many neighbours over each other")
    # Complete groups come both ways round, so as many of them as directed edges, all on edges, is every edge.
    if not inner.graph.adjacent(below, targets).all() or len(groups) != 2 * inner.graph.number_of_edges:
        raise BadInput("query", "must meet exactly the edges of the inner graph", "use a smaller inner graph")
    if not fibres.all():
        raise BadInput("query", "must reach every inner input", "leave out the others")


def _crossings(subject: AuditedMechanism, over: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """Return a code for every directed edge between fibres: the node it leaves, and the small node it leads to."""
    result = []
    for chunk_tails, chunk_heads in subject.graph.edges():
        apart = over[chunk_tails] != over[chunk_heads]
        tails, heads = chunk_tails[apart], chunk_heads[apart]
        result += [tails * size + over[heads], heads * size + over[tails]]
    return result


# The digest of a mechanism file: a hash of its whole content, which shows every edit.


@checked
def digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical document, in hexadecimal.

    Parameters
    ----------
    document : mapping
        A mechanism document. `certificate.digest` itself is left out of the hash; decimals are hashed as their text.

    Raises
    ------
    BadInput
        For what JSON cannot hold.
    """
    certificate = document.get("certificate")
    if isinstance(certificate, Mapping):
        document = {**document, "certificate": {key: value for key, value in certificate.items() if key != "digest"}}
    try:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()
    except (TypeError, ValueError, RecursionError):
        raise BadInput("mechanism", "is not a document that JSON can hold", "write text, integers and lists") from None


@checked
def add_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the digest of everything else in its certificate.

    Numbers should be text or integers: a float is hashed as Python writes it, which no other reader need agree with.

    Parameters
    ----------
    document : mapping
        A mechanism document with a certificate.

    Raises
    ------
    BadInput
        For a document without one.
    """
    certificate = document.get("certificate")
    if not isinstance(certificate, Mapping):
        raise BadInput("certificate", "must be there to be sealed", 'write {"kind": …}')
    return {**document, "certificate": {**certificate, "digest": digest(document)}}


@checked
def is_sealed(document: Mapping[str, Any]) -> bool:
    """Tell whether the digest in the certificate is that of the document."""
    certificate = document.get("certificate")
    return isinstance(certificate, Mapping) and certificate.get("digest") == digest(document)


_GOAL_KEYS = ("aggregate", "loss", "weights")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Optimality(InOneLine):
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
        What the certificate proves: no mechanism in `among` has a smaller goal.
    distance : Fraction or None
        How far an entry is at most from the one that the theorem says is best; None where none is named.
    among : str or None
        `ALL_PRIVATE`, `SAME_ROWS` or `CONSTRAINED`, as derived from the proof, whatever the file says; None where
        nothing is proven.
    given, off_boundary : frozenset of int
        The inputs whose rows the proof takes as given, and those of them without a neighbour of another ranking. Only
        mechanisms that share these rows are compared.
    inputs : int
        How many inputs there are.
    goal : GoalInWords or None
        What is compared.
    choice : Fraction or None
        Of a design that chose its boundary: a bound on the goal of all private mechanisms whose boundary rows depend on
        the ranking alone, whatever these rows are.
    theorem : str
        What the proof rests on: `kind`, but of a pullback that of the mechanism below.
    constraints : tuple of str
        What the mechanisms compared have to meet besides privacy, in words.
    """

    holds: bool
    kind: str
    reason: str
    value: Fraction | None = None
    lower_bound: Fraction | None = None
    distance: Fraction | None = None
    among: str | None = None
    given: frozenset[int] = frozenset()
    off_boundary: frozenset[int] = frozenset()
    inputs: int = 0
    goal: GoalInWords | None = None
    choice: Fraction | None = None
    theorem: str = ""
    constraints: tuple[str, ...] = ()

    def _summary(self) -> str:
        said = f"{'holds' if self.holds else 'DOES NOT HOLD'}: {self.reason}"
        if self.value is None or self.lower_bound is None:
            return said
        return f"{said}; value {short_above(self.value)}, bound {short_below(self.lower_bound)}, among {self.among}"

    @property
    def gap(self) -> Fraction | None:
        """Value minus bound: 0 where the optimum is exact."""
        return None if self.value is None or self.lower_bound is None else self.value - self.lower_bound

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data."""
        numbers = {"value": self.value, "lower_bound": self.lower_bound, "gap": self.gap, "distance": self.distance}
        texts = {name: None if number is None else rational_text(number) for name, number in numbers.items()}
        return {
            "holds": self.holds,
            "kind": self.kind,
            "reason": self.reason,
            "says": self.says() if self.value is None else None,
            **texts,
            "among": self.among,
            **({"constraints": list(self.constraints)} if self.constraints else {}),
            "given_rows": {"inputs": len(self.given), "of": self.inputs, "off_boundary": len(self.off_boundary)},
            "goal": None if self.goal is None else self.goal.to_document(),
            "choice": None
            if self.choice is None or self.value is None
            else {
                "lower_bound": rational_text(self.choice),
                "gap": rational_text(self.value - self.choice),
                "among": ONE_ROW_PER_RANKING,
            },
        }

    def says(self) -> str:
        """Say in words what is proven where no goal is stated: what the theorem's proof says, and nothing more."""
        if self.among is None:
            return "nothing is proven"
        return f"{without_a_goal(self.theorem, pulled_back=self.kind == PULLBACK)} {self.scope()}"

    def scope(self) -> str | None:
        """Say in words which mechanisms are compared; None where nothing is proven."""
        if self.among == CONSTRAINED:
            return f"{self.among}: {'; '.join(self.constraints)}"
        if self.among != SAME_ROWS:
            return self.among
        where = f"; rows are taken as given at {len(self.given)} of {self.inputs} inputs"
        if self.off_boundary:
            where += f", {len(self.off_boundary)} of them not on the boundary"
        return self.among + where + (": nothing is left to compare" if len(self.given) == self.inputs else "")


@checked
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

    Raises
    ------
    BadInput
        For what is no mechanism.

    References
    ----------
    proofs/weak-duality.md, proofs/universality.md, proofs/rainbow-optimality.md, proofs/randomized-response.md.
    """
    document = as_document(subject)
    return _judged(document, lambda: audited_mechanism(document))


def judge(subject: AuditedMechanism) -> Optimality | None:
    """Judge the certificate of a mechanism that was converted, as `check_optimality` does."""
    return _judged(subject.document, lambda: subject)


def _judged(document: MechanismDocument, converted: Callable[[], AuditedMechanism]) -> Optimality | None:
    if document.certificate is None:
        return None
    if not isinstance(document.certificate, Mapping):
        return Optimality(holds=False, kind="unknown", reason="the certificate is no JSON object")
    kind = str(document.certificate.get("theorem" if document.certificate.get("kind") == "theorem" else "kind"))
    verdict = Optimality(holds=False, kind=kind, reason="")
    try:
        if not is_sealed(document.source):
            raise BadInput("digest", "is not that of the document", "the file was changed after it was sealed")
        proven = _proven(converted(), document.certificate)
        verdict = replace(proven, kind=kind, theorem=proven.theorem or kind)
        _compare(document, verdict)
        return replace(verdict, holds=True, reason=_agreement(document, verdict))
    except (BadInput, RecursionError) as problem:
        # A graph that does not fit is a reason too: nothing is raised for a malformed certificate.
        return replace(verdict, reason=str(problem))


def _proven(subject: AuditedMechanism, certificate: Mapping[str, Any]) -> Optimality:
    """Return what the certificate proves, before it is compared with what the file states."""
    if certificate.get("kind") not in ("dual", "theorem"):
        raise BadInput("kind", "must be dual or theorem", "write one of them")
    if rational(certificate.get("within", 0), "within") < 0:  # whether or not the proof has rows to compare
        raise BadInput("within", "must not be negative", "state the largest distance of an entry")
    stated = any(key in certificate for key in _GOAL_KEYS)
    of_rainbows = certificate["kind"] == "theorem" and certificate.get("theorem") in THEOREMS_OF_RAINBOWS
    if "choice" in certificate and not (stated and of_rainbows):
        raise BadInput("choice", "says something only of rainbows with a goal", "leave it out")
    if certificate["kind"] == "theorem" and {"constraints", "constraint_multipliers"} & set(certificate):
        raise BadInput("constraints", "say something only of dual certificates", "leave them out")
    if certificate["kind"] == "theorem" and certificate.get("theorem") == PULLBACK:
        return _pulled_back(subject, certificate)
    goal = read_goal(subject, certificate) if stated else None
    result = Optimality(holds=False, kind="", reason="", among=ALL_PRIVATE, inputs=len(subject.inputs))
    if certificate["kind"] == "theorem":
        proven = prove(subject, certificate, goal)
        bound = proven.bound
        result = replace(
            result,
            distance=None if proven.distance is None else as_fraction(proven.distance),
            among=SAME_ROWS if proven.given else ALL_PRIVATE,
            given=proven.given,
            off_boundary=proven.off_boundary,
            choice=None if proven.choice is None else as_fraction(proven.choice),
        )
    elif goal is None:
        raise BadInput("loss", "is missing", "state the goal of the dual certificate")
    else:
        constraints = read_constraints(subject, certificate)
        if constraints.words:
            if subject.document.factored is not None:
                raise BadInput("constraints", "are not checked of factors", "write the matrix")
            constraints.insist(subject.row, len(subject.inputs))
            result = replace(result, among=CONSTRAINED, constraints=tuple(constraints.words))
        bound = dual_bound(subject, certificate, goal, constraints)
    if goal is None or bound is None:
        return result
    words = in_words(goal, len(subject.inputs), subject.outputs)
    return replace(result, value=as_fraction(_value(subject, goal)), lower_bound=as_fraction(bound), goal=words)


def _pulled_back(subject: AuditedMechanism, certificate: Mapping[str, Any]) -> Optimality:
    """Return what the certificate of the mechanism below proves of one that asks a query first."""
    below, query = inner_subject(subject, certificate)
    inner = judge(below)
    if inner is None or not inner.holds:
        raise BadInput("mechanism", "has no certificate that holds", "certify the inner mechanism")
    if inner.among == CONSTRAINED:  # what a constraint says of the inputs above is not defined
        raise BadInput("mechanism", "is best among those that meet constraints", "certify it without them")
    if inner.kind == PULLBACK and inner.value is None:  # averages of averages weigh inputs of one value unequally
        raise BadInput("mechanism", "is itself a pullback, without a goal", "compose the two queries")
    # Averages over inputs that share an inner one keep rows that are equal there: the scope comes down as well.
    above = [frozenset(i for i, k in enumerate(query) if k in those) for those in (inner.given, inner.off_boundary)]
    averaged = inner.goal and replace(inner.goal, words=inner.goal.words + " of the inner mechanism")
    return replace(
        inner,
        holds=False,
        distance=None,
        given=above[0],
        off_boundary=above[1],
        inputs=len(subject.inputs),
        goal=averaged,
    )


def _value(subject: AuditedMechanism, goal: StatedGoal) -> Number:
    factored = subject.document.factored
    if factored is None:
        return goal.value(subject.row)
    powers = GeometricPowers(factored.n, subject.privacy.ratio, up=True)
    reading = factored.reading or {z: ((z, Fraction(1)),) for z in range(factored.n + 1)}
    choices = [[(r, flint_rational(p)) for r, p in reading[z]] for z in range(factored.n + 1)]

    def expected(i: int) -> Number:
        losses: Sequence[Number] = goal.loss_row(i)
        # Powers are rounded up, which bounds a sum of losses from above where none is negative; rows sum to 1.
        least = min(flint.fmpq(0), *losses)
        above = [sum((p * (losses[r] - least) for r, p in line), start=flint.fmpq(0)) for line in choices]
        return powers.expected(i, above) + least

    return goal.aggregated(expected)


def _agreement(document: MechanismDocument, optimality: Optimality) -> str:
    """Say how what is stated compares with what was recomputed, which it does not contradict."""
    if optimality.value is None or document.objective is None or document.objective.value == optimality.value:
        return "recomputed and as stated"
    return "recomputed; the value stated is larger, so it holds as an upper bound"


def _compare(document: MechanismDocument, optimality: Optimality) -> None:
    """Insist that the file states what was proven: the value exactly, no better bound and no wider scope."""
    objective, value, bound = document.objective, optimality.value, optimality.lower_bound
    stated = (document.certificate or {}).get("among")  # files of version 0.1 state none
    modest = (SAME_ROWS,) if optimality.among == ALL_PRIVATE else ()
    if stated not in (None, *modest, optimality.among):
        raise BadInput("among", "claims more than the certificate proves", f'write "{optimality.among}"')
    if objective is None and value is None:
        return
    if objective is None or value is None or bound is None:
        raise BadInput("objective", "and the goal of the certificate must come together", "state both or neither")
    too_low = objective.value < value if document.factored is not None else objective.value != value
    if too_low:
        raise BadInput("objective.value", "is not the goal of the rows", "recompute it")
    if objective.lower_bound is not None and objective.lower_bound > bound:
        raise BadInput("objective.lower_bound", "is more than the certificate proves", "lower it")
