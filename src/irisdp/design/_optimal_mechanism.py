"""The best mechanism for a goal on a graph, by linear programming, with an exact bound beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any, NamedTuple, NoReturn, TypeVar

from .._exact import Table, checked, entries, is_short, report, stepping_stones
from .._exact.linprog import Basis, LinearProgram, Optimum, exact_optimum, optimum_near
from ..errors import BadInput, Refusal
from ..graphs import DatasetGraph
from ..mechanisms import ALL_PRIVATE, CONSTRAINED, FactoredMechanism, Mechanism, StatedObjective
from ..privacy import Privacy, workable
from ._constrained_rows import short_within
from ._constraints import read_constraints
from ._infeasible_constraints import refuse_if_infeasible, refuse_if_proven
from ._privacy_program import Dual, Goal, MechanismProgram, mechanism_program
from ._repair import shortened

# The seal of what design hands out: a hash of the whole mechanism document, so that no later edit goes unnoticed.
#
# The checkers recompute it with their own code (`irisdp.certify`, and the stand-alone verifier) and share only the
# definition. It is the SHA-256 of the document without `certificate.digest`, as JSON with sorted keys, no spaces, in
# UTF-8.

_M = TypeVar("_M", Mechanism, FactoredMechanism)


@checked
def add_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mechanism document with `certificate.digest` set to the hash of all the rest."""
    certificate = {key: value for key, value in document.get("certificate", {}).items() if key != "digest"}
    unsealed = {**document, "certificate": certificate}
    text = json.dumps(unsealed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "certificate": {**certificate, "digest": hashlib.sha256(text.encode()).hexdigest()}}


def sealed(mechanism: _M, *, among: str = ALL_PRIVATE) -> _M:
    """Return a mechanism whose certificate says what it is best among, and holds the hash of the file to be written.

    Parameters
    ----------
    among : str
        `ALL_PRIVATE`; `SAME_ROWS` where rows were given, `CONSTRAINED` where constraints were. Checkers derive it again
        and refuse a wider claim.
    """
    document = mechanism.to_document()
    document["certificate"] = {**(mechanism.certificate or {}), "among": among}
    return replace(mechanism, certificate=add_digest(document)["certificate"])


LARGEST_PROGRAM = 150_000
"""Most privacy constraints of a program that is solved: about a minute, and several where δ > 0."""

LARGEST_EXACT = 25_000
"""Most privacy constraints of a program that must be solved exactly."""

_MOST_PAIRS, _FEWEST_PAIRS = 64, 4
"""Pairs of a curve that a program takes at most, and at least."""

_SECONDS = 6_000
"""Privacy constraints of several pairs that are solved in some seconds."""

_LARGEST_CONSTRAINED = 5_500
"""Most rows of a program with constraints that is solved by way of other ratios; more take minutes."""

_QUICK_PROGRAM, _FINE = 2000, 1 << 60

_FAR_FROM_BEST = 10**6
"""Under several pairs, a gap beyond this part of what losses differ by is no optimum."""

_FEW_REFINEMENTS = 6
"""More take longer than to read geometric noise, which is as good for a consumer."""

_SPARE_DIGITS = 20
"""Digits to which a rounded bound agrees with the value at least, before the ratio's own 2^-64."""


@checked
def optimal_mechanism(
    goal: Goal,
    graph: DatasetGraph,
    privacy: Privacy,
    *,
    outputs: Sequence[Hashable] | None = None,
    constraints: Any = None,
) -> Mechanism:
    """Return the best mechanism for a goal among all that are private on a graph.

    Parameters
    ----------
    goal : Goal
        Its loss has one row per node of the graph and one column per output.
    graph : DatasetGraph
    privacy : Privacy
        Of more than 64 pairs, or too many for a program that is solved in seconds, as many are taken as it can use:
        4 to 64 that imply the guarantee (`Privacy.coarsened`). The mechanism's `privacy` holds these, and the name of
        its objective says so.
    outputs : sequence, optional
        Names of the answers; 0..q−1 when left out.
    constraints : list, optional
        Linear constraints that every mechanism compared has to meet as well: see docs/howto/constraints.md.

    Returns
    -------
    Mechanism
        Exactly stochastic and private, with its exact value, an exact lower bound for every private mechanism and the
        dual certificate of that bound. `objective` states both. Where the ratio is short (not from an ε), the program
        has at most 30,000 rows and the optimum is found in affordable steps, they are equal. Elsewhere the program is
        solved to about 40 digits, and rows and certificate are rounded to short numbers. The gap is then about 1e-18 of
        the value, and up to about 1e-9 where the last digits of an optimum would take too long to find.

    Raises
    ------
    BadInput
        When the goal has another number of inputs than the graph has nodes, a constraint is malformed, or the program
        has more than 150,000 privacy constraints: inputs that neighbour, in both directions, times answers.
    Infeasible
        When no private mechanism meets the constraints. `document` says without which of them one does, and the
        smallest δ at which one meets all.

    References
    ----------
    docs/theory.md#counts, docs/theory.md#databases; proofs/weak-duality.md.
    """
    if len(goal.loss) != graph.number_of_nodes or not goal.loss[0]:
        rule = f"has {len(goal.loss)} inputs, and the graph {graph.number_of_nodes} nodes"
        raise BadInput("goal", rule, "give a table of losses with one row for every node")
    names = None if outputs is None else entries(outputs, len(goal.loss[0]))
    if outputs is not None and (names is None or len(names) != len(goal.loss[0])):
        raise BadInput("outputs", f"must be {len(goal.loss[0])} names", "name every column of the loss")
    goal.check_name(graph.nodes, range(len(goal.loss[0])) if names is None else names)
    fitting = fitted(privacy, graph.number_of_edges, len(goal.loss[0]))
    if fitting != privacy:
        under = f"{goal.name} (under {len(fitting.pairs)} pairs that imply the {len(privacy.pairs)} asked for)"
        goal, privacy = replace(goal, name=under), fitting
    check_size("graph", graph.number_of_edges, len(goal.loss[0]), privacy)
    if constraints is not None:
        of = "graph-distance" if goal.loss_name == "graph-distance" else "absolute"
        asked = read_constraints(constraints, graph, range(len(goal.loss[0])) if names is None else names, of=of)
        goal = replace(goal, constraints=asked)
    if goal.constraints.each:
        refuse_if_infeasible(goal.constraints, graph, privacy, len(goal.loss[0]))
    worked = workable(privacy)
    solve = _solve if privacy.single else _solve_shape
    try:
        solved = solve(goal, graph, worked, nearly=worked != privacy)
        return _written_down(goal, graph, privacy, solved, names)
    except Refusal:
        if goal.constraints.each:
            refuse_if_proven(goal.constraints, graph, privacy, len(goal.loss[0]))
        raise


def optimum_by_floats(goal: Goal, graph: DatasetGraph, privacy: Privacy) -> Mechanism | None:
    """Return the optimal mechanism where floats lead to it in a few refinements; None elsewhere.

    Parameters
    ----------
    privacy : Privacy
        One pair.
    """
    check_size("graph", graph.number_of_edges, len(goal.loss[0]), privacy)
    worked = workable(privacy)
    program, nearly = mechanism_program(goal, graph, worked), worked != privacy
    optimum = _begun_nearby(program.linear, nearly=nearly)
    if optimum is None:
        try:
            optimum = exact_optimum(
                program.linear, most_refinements=_FEW_REFINEMENTS, most_pivots=0, nearly=nearly, again=False
            )
        except Refusal:  # HiGHS ended without a basis, however it was started
            return None
    _keep_for_neighbours(program.linear, optimum)
    return None if optimum.miss else _written_down(goal, graph, privacy, _read(program, optimum), None)


def _written_down(
    goal: Goal, graph: DatasetGraph, privacy: Privacy, solved: _Solved, outputs: Sequence[Hashable] | None
) -> Mechanism:
    """Return a solution at a workable privacy as a mechanism that is private at the one asked for, with its bound."""
    report("rounding the mechanism and its certificate")
    rows, dual = solved.rows, solved.dual
    constrained = bool(goal.constraints.each)
    if solved.exact and workable(privacy) == privacy and is_short(rows):
        value, bound = goal.value(rows), dual.bound(goal, privacy)
    else:
        rows = short_within(rows, goal, graph, privacy) if constrained else shortened(rows, graph, privacy)
        value = goal.value(rows)
        bound, dual = _short_bound(goal, value, dual, privacy)
        if not privacy.single and value - bound > _spread(goal) / _FAR_FROM_BEST:
            _refuse_shape()
    return sealed(
        Mechanism.from_matrix(
            rows,
            privacy=privacy,
            graph=graph,
            outputs=outputs,
            objective=StatedObjective(goal.name, value, bound),
            certificate=dual.to_document(goal),
        ),
        among=CONSTRAINED if constrained else ALL_PRIVATE,
    )


def _short_bound(goal: Goal, value: Fraction, dual: Dual, privacy: Privacy) -> tuple[Fraction, Dual]:
    """Return a bound, and its proof in short numbers."""
    # Without multipliers the bound is weak but never absurd, should the solver have ended far from an optimum.
    candidates = (dual.rounded(goal, _places(value, dual, privacy)), replace(dual, multipliers={}, of_constraints={}))
    bounds = [candidate.bound(goal, privacy) for candidate in candidates]
    return max(bounds), candidates[bounds.index(max(bounds))]


def best_bound(goal: Goal, graph: DatasetGraph, privacy: Privacy, value: Fraction) -> tuple[Fraction, Dual]:
    """Return the greatest lower bound that is found on a goal of all private mechanisms, and its proof.

    Parameters
    ----------
    value : Fraction
        What is known to be reached; it says to how many decimals multipliers are worth writing.
    """
    worked = workable(privacy)
    solve = _solve if privacy.single else _solve_shape
    _, dual, exact = solve(goal, graph, worked, nearly=worked != privacy)
    if exact and all(is_short(((x,),)) for x in (*dual.multipliers.values(), *dual.weights)):
        return dual.bound(goal, privacy), dual
    return _short_bound(goal, value, dual, privacy)


def best_of_all(mechanism: Mechanism, goal: Goal) -> Mechanism:
    """Certify a mechanism among all private ones if weak duality can; otherwise return it unchanged.

    Parameters
    ----------
    mechanism : Mechanism
        With a graph; its inputs are the nodes in order.
    goal : Goal
        What it was made for. The program over all mechanisms is solved where it has at most 2,000 constraints.

    Returns
    -------
    Mechanism
        With the dual certificate if its bound leaves a gap of at most 2^-60 of the value.
    """
    graph, privacy, objective = mechanism.graph, mechanism.privacy, mechanism.objective
    if (
        graph is None
        or objective is None
        or 2 * graph.number_of_edges * len(goal.loss[0]) * len(privacy.pairs) > _QUICK_PROGRAM
    ):
        return mechanism
    try:
        bound, dual = best_bound(goal, graph, privacy, objective.value)
    except Refusal:  # nothing is lost but the wider claim
        return mechanism
    if objective.value - bound > objective.value / _FINE:
        return mechanism
    return sealed(
        replace(
            mechanism, objective=StatedObjective(goal.name, objective.value, bound), certificate=dual.to_document(goal)
        )
    )


def fitted(privacy: Privacy, edges: int, answers: int) -> Privacy:
    """Return as many pairs as a program can use: the given ones, or fewer that imply them."""
    each = 2 * edges * answers
    if len(privacy.pairs) <= _MOST_PAIRS and each * len(privacy.pairs) <= LARGEST_EXACT:
        return privacy
    return privacy.coarsened(max(_FEWEST_PAIRS, min(_MOST_PAIRS, _SECONDS // max(each, 1))))


def check_size(field: str, edges: int, answers: int, privacy: Privacy) -> None:
    """Refuse programs too large to be solved whole, before anything of their size is built."""
    constraints = 2 * edges * answers * len(privacy.pairs)
    if constraints > LARGEST_PROGRAM:
        rule = f"makes a program of {constraints} privacy constraints, more than {LARGEST_PROGRAM}"
        remedy = "choose a smaller problem" if privacy.single else "choose a smaller problem, or fewer pairs"
        raise BadInput(field, rule, remedy)


_BASES: ContextVar[dict[tuple[int, int], Basis]] = ContextVar("_BASES")
"""Within `neighbouring_designs` the last optimal basis of every shape of program; never more than a start."""


@contextmanager
def neighbouring_designs() -> Iterator[None]:
    """Let each design begin where the one before it ended, for designs whose programs differ little."""
    token = _BASES.set({})
    try:
        yield
    finally:
        _BASES.reset(token)


class _Solved(NamedTuple):
    """Rows and dual of an optimum, and whether they are exactly that."""

    rows: Table
    dual: Dual
    exact: bool


def _solve(goal: Goal, graph: DatasetGraph, privacy: Privacy, *, nearly: bool) -> _Solved:
    """Solve the program at this privacy."""

    program = mechanism_program(goal, graph, privacy)

    def at(ratio: Fraction) -> LinearProgram:
        if ratio == privacy.ratio:
            return program.linear
        return mechanism_program(goal, graph, Privacy(ratio=ratio, delta=privacy.delta)).linear

    optimum = _begun_nearby(program.linear, nearly=nearly)
    few = not goal.constraints.each or len(program.linear.right) <= _LARGEST_CONSTRAINED
    if optimum is None and privacy.single and few:
        optimum = optimum_at(at, privacy.ratio, nearly=nearly)
    elif optimum is None:
        optimum = exact_optimum(program.linear, nearly=nearly)
    _keep_for_neighbours(program.linear, optimum)
    return _read(program, optimum)


def _begun_nearby(program: LinearProgram, *, nearly: bool) -> Optimum | None:
    """Return the optimum if it is found from where a neighbouring design ended."""
    basis = _BASES.get({}).get(_shape(program))
    return None if basis is None else optimum_near(program, basis, nearly=nearly)


def _keep_for_neighbours(program: LinearProgram, optimum: Optimum) -> None:
    if not optimum.miss:
        _BASES.get({})[_shape(program)] = optimum.basis


def _shape(program: LinearProgram) -> tuple[int, int]:
    return len(program.columns), len(program.right)


def optimum_at(linear: Callable[[Fraction], LinearProgram], ratio: Fraction, *, nearly: bool) -> Optimum:
    """Solve a program at a ratio; where floats cannot start from it, by way of ratios from which they can.

    Parameters
    ----------
    linear : callable
        From a ratio to the program.
    ratio : Fraction
        Workable.
    nearly : bool
        Whether close is good enough.
    """
    program, stones = linear(ratio), stepping_stones(ratio)[:-1]
    if nearly or not stones:
        optimum = exact_optimum(program, nearly=nearly)
        if optimum.close or not stones:
            return optimum
    basis = None
    for stone in stones:
        basis = exact_optimum(linear(stone), start=basis, most_pivots=0, nearly=True).basis
    if not nearly:
        return exact_optimum(program, start=basis)
    return min(optimum, exact_optimum(program, start=basis, nearly=True), key=lambda found: found.miss)


def _read(program: MechanismProgram, optimum: Optimum) -> _Solved:
    return _Solved(program.rows(optimum.values), program.dual(optimum.duals).normalised(program.goal), optimum.exact)


def _solve_shape(goal: Goal, graph: DatasetGraph, privacy: Privacy, *, nearly: bool) -> _Solved:
    """Solve the program under several pairs, whose ratios may lie too far apart for floats to find a start."""
    try:
        return _solve(goal, graph, privacy, nearly=nearly)
    except Refusal:
        _refuse_shape()


def _refuse_shape() -> NoReturn:
    raise Refusal(
        "no optimum was found: the linear program under these pairs is too ill-conditioned; choose fewer pairs (for"
        " Gaussian privacy a wider gap), with ratios that are closer",
        status="no optimum found",
    )


def _spread(goal: Goal) -> Fraction:
    return max(map(max, goal.loss)) - min(map(min, goal.loss))


def _places(value: Fraction, dual: Dual, privacy: Privacy) -> int:
    """Return how many decimals keep the bound, which rounding changes by (1 + r + δ) per multiplier at most."""
    changes = (len(dual.multipliers) + 1) * (2 + privacy.pairs[0].ratio)
    return _SPARE_DIGITS + len(str(ceil(changes / abs(value) if value else changes)))
