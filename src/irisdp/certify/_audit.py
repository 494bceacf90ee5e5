"""The exact audit: what a finite mechanism is, against what it says it is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from .._exact import (
    Enclosure,
    Number,
    Numbers,
    as_fraction,
    checked,
    conversion,
    convert,
    log_above,
    nearest_float,
    rational_text,
    short_above,
    so_many,
)
from .._frames import InOneLine, html_table
from ..errors import BadInput
from ..graphs import DatasetGraph, json_node
from ..mechanisms import INFINITE_DEPTH, DepthMechanism, FactoredMechanism
from ..privacy import Pair, Privacy, enclose_steps, hockey_stick
from ._audited_mechanism import AuditedMechanism, RowPairs, audited_mechanism, same_promise
from ._hockey_stick import losing_outputs, needs, tight_places
from ._matrix_files import Auditable, as_document
from ._objectives import said_of_sums, wrong_row_of
from ._optimality import Optimality, judge

# Judge a `DepthMechanism`, whose rows are never listed, by its theorem and again by enclosures of its rows.

SAMPLED_DEPTHS = (*range(8), 10**2, 10**4, 10**8, 10**12)
"""Depths whose rows are enclosed unless others are asked for."""

WIDTH = Fraction(1, 1 << 160)
"""Width of an enclosed prefix sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthMechanismVerdict:
    """What was found about a depth mechanism.

    Parameters
    ----------
    boundary_deltas : tuple of Fraction
        For every pair promised, the smallest δ at its ratio between the classes at depth 0, exactly.
    excess : Fraction
        Enclosed rows one depth apart need at most this much more than the δ of any pair, rigorously. It comes from the
        width of the enclosures alone: exactly, they need no more than δ.
    refuted : int or None
        A depth whose enclosed rows are certainly not close to the next, which would contradict the theorem.
    holds : bool
        Boundary close and nothing refuted.
    """

    boundary_deltas: tuple[Fraction, ...]
    excess: Fraction
    refuted: int | None
    holds: bool

    @property
    def boundary_delta(self) -> Fraction:
        """The smallest δ at the stated ratio between the classes at depth 0, where a single pair is promised."""
        if len(self.boundary_deltas) != 1:
            raise BadInput("boundary_delta", "is one for every pair promised", "read boundary_deltas")
        return self.boundary_deltas[0]


@checked
def certify_depth_mechanism(mechanism: DepthMechanism, depths: Iterable[int] = SAMPLED_DEPTHS) -> DepthMechanismVerdict:
    """Judge a depth mechanism at all depths by theorem, and at some depths by enclosures.

    By the theorem, neighbours are either a step apart in one class or at depth 0 of two classes. In the first case the
    row is T applied once more and so close; the second is compared exactly here (proofs/rainbow-optimality.md).

    Parameters
    ----------
    mechanism : DepthMechanism
        What to judge.
    depths : iterable of int
        Where to enclose rows as a check that does not use the theorem; each is compared with the depth below it.

    Raises
    ------
    BadInput
        For a negative depth.
    """
    promised = mechanism.privacy.pairs
    at_boundary = [
        dict(zip(ranking, row, strict=True))
        for ranking, row in zip(mechanism.rankings, mechanism.boundary, strict=True)
    ]
    listed = [tuple(row[output] for output in mechanism.outputs) for row in at_boundary]
    boundary_deltas = tuple(
        max((hockey_stick(a, b, pair.ratio) for a in listed for b in listed), default=Fraction(0)) for pair in promised
    )
    excess, refuted = Fraction(0), None
    for depth in depths:
        if depth < 0:
            raise BadInput("depths", "must not be negative", f"leave out {INFINITE_DEPTH}, whose rows are exact")
        for group in range(len(mechanism.rankings)):
            here, deeper = (_enclosed_row(mechanism, group, depth + k) for k in (0, 1))
            for first, second in ((here, deeper), (deeper, here)):
                for pair in promised:
                    needed = _enclosed_hockey_stick(first, second, pair.ratio)
                    excess = max(excess, needed.upper - pair.delta)
                    if needed.lower > pair.delta:
                        refuted = depth
    close = all(needed <= pair.delta for needed, pair in zip(boundary_deltas, promised, strict=True))
    holds = close and refuted is None
    return DepthMechanismVerdict(boundary_deltas=boundary_deltas, excess=excess, refuted=refuted, holds=holds)


def _enclosed_row(mechanism: DepthMechanism, group: int, depth: int) -> list[Enclosure]:
    sums = [
        Enclosure.exactly(Fraction(0)),
        *(enclose_steps(s, depth, mechanism.privacy, width=WIDTH) for s in mechanism.prefix_sums(group)),
        Enclosure.exactly(Fraction(1)),
    ]
    return [
        Enclosure(after.lower - before.upper, after.upper - before.lower).clamp(Fraction(0), Fraction(1))
        for before, after in pairwise(sums)
    ]


def _enclosed_hockey_stick(first: list[Enclosure], second: list[Enclosure], ratio: Fraction) -> Enclosure:
    pairs = list(zip(first, second, strict=True))
    return Enclosure(
        sum((max(Fraction(0), p.lower - ratio * q.upper) for p, q in pairs), start=Fraction(0)),
        sum((max(Fraction(0), p.upper - ratio * q.lower) for p, q in pairs), start=Fraction(0)),
    )


# Audit one claimed pair (ε, δ).

INFINITY = "infinity"
"""How an ε that does not exist is written."""


@dataclass(frozen=True, slots=True)
class PairAudit:
    """One promised pair against what the mechanism needs; every number is exact.

    Parameters
    ----------
    pair : Pair
        What was promised.
    delta_at_epsilon : Fraction
        The smallest δ at the ratio promised.
    ratio_at_delta : Fraction or None
        The smallest ratio at the δ of the guarantee; None if no ratio is enough.
    """

    pair: Pair
    delta_at_epsilon: Fraction
    ratio_at_delta: Fraction | None

    @property
    def holds(self) -> bool:
        """Whether every edge is close under this pair."""
        return self.delta_at_epsilon <= self.pair.delta

    @property
    def strain(self) -> tuple[int, Fraction]:
        """What orders pairs from most to spare to broken worst.

        It is the needed ratio divided by the guarantee's ratio, at most 1 if the pair holds. Pairs for which no ratio
        suffices come after, ordered by the δ they need beyond the guarantee's.
        """
        if self.ratio_at_delta is None:
            return 1, self.delta_at_epsilon - self.pair.delta
        return 0, self.ratio_at_delta / self.pair.ratio

    @property
    def epsilon_at_delta(self) -> Fraction | None:
        """The smallest ε at the δ promised, rounded up to 30 decimals; None when none suffices."""
        return None if self.ratio_at_delta is None else log_above(self.ratio_at_delta)

    def to_document(self) -> dict[str, Any]:
        """Write as JSON-ready data: exact numbers as text, floats beside logarithms."""
        ratio, epsilon = self.ratio_at_delta, self.epsilon_at_delta
        return {
            "epsilon": rational_text(self.pair.epsilon),
            "delta": rational_text(self.pair.delta),
            "ratio": rational_text(self.pair.ratio),
            "delta_at_epsilon": rational_text(self.delta_at_epsilon),
            "epsilon_at_delta": INFINITY if epsilon is None else rational_text(epsilon),
            "ratio_at_delta": INFINITY if ratio is None else rational_text(ratio),
            "floats": {
                "delta_at_epsilon": nearest_float(self.delta_at_epsilon),
                "epsilon_at_delta": None if epsilon is None else nearest_float(epsilon),
            },
        }


MOST_OTHERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class TightEdge:
    """The edge that needs the largest ratio, and the outputs that make up its worst event.

    Parameters
    ----------
    edge : pair of names
        In the direction in which the first end's probabilities are the larger.
    outputs : tuple
        Names of the outputs.
    others : tuple of pairs
        A few more edges that are as tight, between other rows.
    """

    edge: tuple[Hashable, Hashable]
    outputs: tuple[Hashable, ...]
    others: tuple[tuple[Hashable, Hashable], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(InOneLine):
    """The verdict on a mechanism; every number is exact.

    Parameters
    ----------
    privacy : Privacy
        What was promised.
    rows_sum_to_one, non_negative : bool
        Whether it is a mechanism at all.
    pairs : tuple of PairAudit
        What was found about every pair promised, in their order.
    tightest : TightEdge or None
        Under the worst pair. None when no two different rows meet.
    optimality : Optimality or None
        The verdict on the certificate, when there is one: its value, its bound, and among which mechanisms the bound
        holds. It cannot hold for what is no private mechanism.
    not_judged : bool
        There is a certificate, and nothing is said of it: the mechanism was judged on another graph or against another
        privacy than its own.
    inputs, edges, alone : int or None
        The graph that was judged: inputs, edges, and inputs without a neighbour. Nothing is said of neighbours that
        the graph does not join; without edges nothing is compared at all. None for a `DepthMechanism`: it lists none.
    by_theorem : bool
        What `pairs` hold is the guarantee of a theorem, not a maximum over listed rows.
    wrong_row : tuple or None
        The first input whose row does not sum to exactly 1, and its sum less 1.
    """

    privacy: Privacy
    rows_sum_to_one: bool
    non_negative: bool
    pairs: tuple[PairAudit, ...]
    tightest: TightEdge | None = None
    optimality: Optimality | None = None
    by_theorem: bool = False
    not_judged: bool = False
    inputs: int | None = None
    edges: int | None = None
    alone: int | None = None
    wrong_row: tuple[Any, Fraction] | None = None

    @property
    def private(self) -> bool:
        """Whether no probability is negative and every edge is close under every pair, exactly."""
        return self.non_negative and all(pair.holds for pair in self.pairs)

    @property
    def worst(self) -> int:
        """The number of the pair that is broken worst, or has least to spare; the first is 0."""
        return max(range(len(self.pairs)), key=lambda k: self.pairs[k].strain)

    @property
    def holds(self) -> bool:
        """Whether it is a mechanism, private as promised, and its certificate (if any) holds."""
        return self.private and self.rows_sum_to_one and (self.optimality is None or self.optimality.holds)

    @property
    def delta_at_epsilon(self) -> Fraction:
        """The smallest δ at the ratio of a single pair."""
        return self._only().delta_at_epsilon

    @property
    def ratio_at_delta(self) -> Fraction | None:
        """The smallest ratio at the δ of a single pair; None if no ratio is enough."""
        return self._only().ratio_at_delta

    @property
    def epsilon_at_delta(self) -> Fraction | None:
        """The smallest ε at the δ of a single pair, rounded up to 30 decimals; None when none suffices."""
        return self._only().epsilon_at_delta

    def _only(self) -> PairAudit:
        if len(self.pairs) != 1:
            raise BadInput("privacy", f"holds {len(self.pairs)} pairs, each with its own numbers", "read pairs")
        return self.pairs[0]

    def _summary(self) -> str:
        told = dict(self._told()) | ({"rows": ""} if self.rows_sum_to_one else {}) | {"tightest": ""}
        return "; ".join(f"{name} {said}".strip() for name, said in told.items() if said)

    def _told(self) -> list[tuple[str, str]]:
        """Say what was found, each with its name; of several pairs, of the worst one."""
        claim = "nothing is claimed" if self.optimality is None else "holds"
        if self.optimality is not None and not self.optimality.holds:
            claim = "DOES NOT HOLD"
        worst, kept = self.pairs[self.worst], sum(pair.holds for pair in self.pairs)
        several = f"{kept} of {len(self.pairs)} pairs hold; the worst: " if len(self.pairs) > 1 else ""
        needed, pair = worst.epsilon_at_delta, worst.pair
        delta, least_delta = _told_apart(pair.delta, worst.delta_at_epsilon)
        epsilon, least_epsilon = _told_apart(pair.epsilon, pair.epsilon if needed is None else needed)
        return [
            ("", "holds" if self.holds else "DOES NOT HOLD"),
            *([] if self.inputs is None else [("graph", self._graph(self.inputs))]),
            ("rows", said_of_sums(self.wrong_row)),
            ("promised", several + f"ε = {epsilon}, δ = {delta}"),
            ("δ needed", least_delta),
            ("ε needed", "none suffices" if needed is None else least_epsilon),
            *([] if self.tightest is None else [("tightest", " and ".join(map(str, self.tightest.edge)))]),
            ("optimality", "not judged" if self.not_judged else claim),
        ]

    def _graph(self, inputs: int) -> str:
        return f"{so_many(inputs, 'input')}, {so_many(self.edges or 0, 'edge')}"

    def _repr_html_(self) -> str:
        """Show what was found in a notebook, a line each."""
        (_, verdict), *others = self._told()
        return html_table(f"Audit: {verdict}", ["", ""], list(others))

    def to_document(self) -> dict[str, Any]:
        """Write as the document that `irisdp audit --json` prints: exact numbers as text, floats beside logarithms.

        Of several pairs each has its own numbers, in a list, and those at the top are None.
        """
        pairs = [pair.to_document() for pair in self.pairs]
        single = len(pairs) == 1
        document: dict[str, Any] = {
            "private": self.private,
            "rows_sum_to_one": self.rows_sum_to_one,
            "non_negative": self.non_negative,
            **(pairs[0] if single else dict.fromkeys(pairs[0])),
            "tightest": None,
            "by_theorem": self.by_theorem,
            "inputs": self.inputs,
            "edges": self.edges,
            "inputs_without_neighbours": self.alone,
            "optimality": None if self.optimality is None else self.optimality.to_document(),
            "certificate_not_judged": self.not_judged,
        }
        if self.tightest is not None:
            document["tightest"] = {
                "edge": [json_node(node) for node in self.tightest.edge],
                "outputs": [json_node(output) for output in self.tightest.outputs],
                "others": [[json_node(node) for node in edge] for edge in self.tightest.others],
            }
        if not single:
            document["pairs"] = [{**pair, "holds": one.holds} for pair, one in zip(pairs, self.pairs, strict=True)]
            document["worst_pair"] = self.worst
        return document


@checked
def audit(
    subject: Auditable | DepthMechanism,
    *,
    graph: DatasetGraph | None = None,
    privacy: Privacy | None = None,
    arithmetic: str = "flint",
) -> Audit:
    """Audit any finite mechanism on any graph, exactly.

    Parameters
    ----------
    subject : Mechanism, FactoredMechanism, DepthMechanism, MechanismDocument or path
        A path names a mechanism file, or a foreign matrix (.csv, .npy, .json), which is read exactly as given.
    graph : DatasetGraph, optional
        Judge on this graph instead of the mechanism's own. Its nodes must be the inputs; those of a bare matrix in a
        file are its nodes in order.
    privacy : Privacy, optional
        Judge against this instead of what the mechanism states. If a graph or another privacy is given, the certificate
        is not judged, because it is about the mechanism's own guarantee.
    arithmetic : str
        "flint", or "fractions" or "gmpy2" for a second opinion on privacy in another arithmetic.

    Returns
    -------
    Audit
        Exact. A factored mechanism and a `DepthMechanism` are judged by the theorem they instantiate
        (proofs/geometric-privacy.md, proofs/rainbow-optimality.md), and nothing is expanded.

    Raises
    ------
    BadInput
        When privacy or graph is missing, or the graph's nodes are not the inputs.

    Examples
    --------
    >>> from irisdp.mechanisms import randomized_response
    >>> audit(randomized_response(3, Privacy(ratio=2, delta="1/10"))).delta_at_epsilon
    Fraction(1, 10)
    """
    if isinstance(subject, DepthMechanism):
        return _audit_depth_mechanism(subject, privacy)
    document = as_document(subject, graph)
    examined = audited_mechanism(document, graph=graph, privacy=privacy)
    own = graph is None and (
        privacy is None or (document.privacy is not None and same_promise(privacy, document.privacy))
    )
    optimality = judge(examined) if own else None
    not_judged = document.certificate is not None and not own
    if document.factored is not None:
        return _audit_factored(document.factored, examined, optimality, not_judged)
    number = conversion(arithmetic)
    rows = examined.rows if arithmetic == "flint" else convert(document.rows, number)
    pairs = examined.row_pairs()
    used = np.unique(document.row_of).tolist()
    non_negative = min(min(rows[i]) for i in used) >= 0
    # With a negative entry no ratio has a meaning; the claim is false at every ratio.
    promised = [(number(pair.ratio), number(pair.delta)) for pair in examined.privacy.pairs]
    deltas, ratios = needs(rows, pairs, promised, non_negative=non_negative)
    verdict = Audit(
        privacy=examined.privacy,
        rows_sum_to_one=(whole := all(sum(rows[i]) == 1 for i in used)),
        non_negative=non_negative,
        pairs=tuple(
            PairAudit(pair, as_fraction(delta), None if ratio is None else as_fraction(ratio))
            for pair, delta, ratio in zip(examined.privacy.pairs, deltas, ratios, strict=True)
        ),
        optimality=optimality,
        not_judged=not_judged,
        inputs=len(examined.inputs),
        edges=examined.graph.number_of_edges,
        alone=_alone(examined.graph),
        wrong_row=None if whole else wrong_row_of(document),
    )
    if non_negative and len(pairs):
        worst = verdict.worst
        edge = _tight_edge(ratios[worst], examined, pairs, rows, promised[worst][1])
        verdict = replace(verdict, tightest=edge)
    if optimality is None or (verdict.private and verdict.rows_sum_to_one):
        return verdict
    # A bound on private mechanisms proves nothing about a mechanism that is not private.
    broken = replace(optimality, holds=False, reason="the file is no private mechanism")
    return replace(verdict, optimality=broken if optimality.holds else optimality)


def _told_apart(promised: Fraction, needed: Fraction) -> tuple[str, str]:
    """Write two numbers rounded up, to so many digits that a number needed beyond the promise looks larger."""
    texts = next(
        (
            told
            for told in ((short_above(promised, digits), short_above(needed, digits)) for digits in _DIGITS)
            if needed <= promised or told[0] != told[1]
        ),
        None,
    )
    return texts or (rational_text(promised), rational_text(needed))


_DIGITS = (6, 10, 20, 31)
"""Digits to which two numbers are shown, until they differ."""


def _alone(graph: DatasetGraph) -> int:
    """Count the inputs that have no neighbour; edges are walked only until every input has one."""
    joined = np.zeros(graph.number_of_nodes, np.bool_)
    left = len(joined)
    for tails, heads in graph.edges():
        ends = np.concatenate((tails, heads))
        new = np.unique(ends[~joined[ends]])
        joined[new] = True
        left -= len(new)
        if not left:
            break
    return left


def _tight_edge(
    ratio: Any, examined: AuditedMechanism, pairs: RowPairs, rows: Sequence[Numbers], delta: Number
) -> TightEdge:
    """Name the first few of the pairs that need the ratio found, in the order of the graph's row pairs."""
    places: dict[int, bool] = {}
    for place, forward in tight_places(rows, pairs, ratio, delta):
        places.setdefault(place, forward)
        if len(places) > MOST_OTHERS:
            break
    nodes, edges = examined.graph.nodes, []
    for place, forward in places.items():
        edge = (nodes[int(pairs.tails[place])], nodes[int(pairs.heads[place])])
        edges.append(edge if forward else edge[::-1])
    place, forward = next(iter(places.items()))
    first, second = rows[pairs.first[place]], rows[pairs.second[place]]
    event = losing_outputs(first, second, ratio) if forward else losing_outputs(second, first, ratio)
    return TightEdge(edge=edges[0], outputs=tuple(examined.outputs[v] for v in event), others=tuple(edges[1:]))


def _audit_factored(
    factored: FactoredMechanism, examined: AuditedMechanism, optimality: Optimality | None, not_judged: bool
) -> Audit:
    """The rows at neighbouring counts differ by at most the ratio of the geometric mechanism; reading keeps that."""
    built, promised = factored.privacy.ratio, examined.privacy
    if any(built > pair.ratio for pair in promised.pairs):
        raise BadInput("privacy", "is stricter than a factored mechanism was built for", "expand it to audit its rows")
    edge = TightEdge(edge=(0, 1), outputs=()) if factored.n else None
    return Audit(
        privacy=promised,
        rows_sum_to_one=True,
        non_negative=True,
        pairs=tuple(PairAudit(pair, Fraction(0), built if factored.n else Fraction(1)) for pair in promised.pairs),
        tightest=edge,
        optimality=optimality,
        not_judged=not_judged,
        by_theorem=True,
        inputs=factored.n + 1,
        edges=factored.n,
        alone=int(factored.n == 0),
    )


def _audit_depth_mechanism(mechanism: DepthMechanism, privacy: Privacy | None) -> Audit:
    if privacy is not None and not same_promise(privacy, mechanism.privacy):
        raise BadInput(
            "privacy", "of a depth mechanism is built into its rows", "leave it out, or build the mechanism again"
        )
    verdict = certify_depth_mechanism(mechanism)
    # Rows that an enclosure refutes are not private, whatever the boundary is.
    beyond = verdict.excess if verdict.refuted is not None else Fraction(0)
    return Audit(
        privacy=mechanism.privacy,
        rows_sum_to_one=True,
        non_negative=True,
        pairs=tuple(
            PairAudit(pair, pair.delta, pair.ratio)
            if verdict.holds
            else PairAudit(pair, max(needed, pair.delta + beyond) if beyond else needed, None)
            for pair, needed in zip(mechanism.privacy.pairs, verdict.boundary_deltas, strict=True)
        ),
        by_theorem=True,
    )
