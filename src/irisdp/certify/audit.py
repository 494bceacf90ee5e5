"""The exact audit: what a finite mechanism is, against what it says it is."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import checked, log_above, nearest_float, rational_text, short_text
from ..graphs import DatasetGraph
from ..graphs.names import json_node
from ..mechanisms import DepthMechanism, FactoredMechanism
from ..privacy import Privacy
from ..tabular import InOneLine, html_table
from .arithmetic import Number, Numbers, as_fraction, conversion, convert
from .depth_mechanism import certify_depth_mechanism
from .hockey_stick import Worst, losing_outputs, smallest_ratio, tight_places, worst_delta
from .optimality import Optimality, judge
from .pairs import RowPairs
from .subject import Auditable, Subject, subject_of

__all__ = ["Audit", "TightEdge", "audit"]

INFINITY = "infinity"
"""How an ε that does not exist is written."""

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
    delta_at_epsilon : Fraction
        The smallest δ at the ratio promised.
    ratio_at_delta : Fraction or None
        The smallest ratio at the δ promised; None when there is none.
    tightest : TightEdge or None
        None when no two different rows meet.
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
        The two numbers are the guarantee of a theorem, not a maximum over listed rows.
    """

    privacy: Privacy
    rows_sum_to_one: bool
    non_negative: bool
    delta_at_epsilon: Fraction
    ratio_at_delta: Fraction | None
    tightest: TightEdge | None = None
    optimality: Optimality | None = None
    by_theorem: bool = False
    not_judged: bool = False
    inputs: int | None = None
    edges: int | None = None
    alone: int | None = None

    @property
    def private(self) -> bool:
        """Whether no probability is negative and every edge is close, exactly."""
        return self.non_negative and self.delta_at_epsilon <= self.privacy.delta

    @property
    def holds(self) -> bool:
        """Whether it is a mechanism, private as promised, and its certificate (if any) holds."""
        return self.private and self.rows_sum_to_one and (self.optimality is None or self.optimality.holds)

    @property
    def epsilon_at_delta(self) -> Fraction | None:
        """The smallest ε at the δ promised, rounded up to 30 decimals; None when none suffices."""
        return None if self.ratio_at_delta is None else log_above(self.ratio_at_delta)

    def _summary(self) -> str:
        return "; ".join(f"{name} {said}".strip() for name, said in self._told() if name not in ("rows", "tightest"))

    def _told(self) -> list[tuple[str, str]]:
        """Say what was found, each with its name."""
        claim = "nothing is claimed" if self.optimality is None else "holds"
        if self.optimality is not None and not self.optimality.holds:
            claim = "DOES NOT HOLD"
        needed = self.epsilon_at_delta
        return [
            ("", "holds" if self.holds else "DOES NOT HOLD"),
            *([] if self.inputs is None else [("graph", f"{self.inputs} inputs, {self.edges} edges")]),
            ("rows", "sum to exactly 1" if self.rows_sum_to_one else "do NOT sum to exactly 1"),
            ("promised", f"ε = {short_text(self.privacy.epsilon)}, δ = {short_text(self.privacy.delta)}"),
            ("δ needed", short_text(self.delta_at_epsilon)),
            ("ε needed", "none suffices" if needed is None else short_text(needed)),
            *([] if self.tightest is None else [("tightest", " and ".join(map(str, self.tightest.edge)))]),
            ("optimality", "not judged" if self.not_judged else claim),
        ]

    def _repr_html_(self) -> str:
        """Show what was found in a notebook, a line each."""
        (_, verdict), *others = self._told()
        return html_table(f"Audit: {verdict}", ["", ""], list(others))

    def to_document(self) -> dict[str, Any]:
        """Write as the document that `irisdp audit --json` prints: exact numbers as text, floats beside logarithms."""
        ratio, epsilon = self.ratio_at_delta, self.epsilon_at_delta
        document: dict[str, Any] = {
            "private": self.private,
            "rows_sum_to_one": self.rows_sum_to_one,
            "non_negative": self.non_negative,
            "epsilon": rational_text(self.privacy.epsilon),
            "delta": rational_text(self.privacy.delta),
            "ratio": rational_text(self.privacy.ratio),
            "delta_at_epsilon": rational_text(self.delta_at_epsilon),
            "epsilon_at_delta": INFINITY if epsilon is None else rational_text(epsilon),
            "ratio_at_delta": INFINITY if ratio is None else rational_text(ratio),
            "floats": {
                "delta_at_epsilon": nearest_float(self.delta_at_epsilon),
                "epsilon_at_delta": None if epsilon is None else nearest_float(epsilon),
            },
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
        Judge on this graph instead of the mechanism's own. Its nodes must be the inputs.
    privacy : Privacy, optional
        Judge against this instead of what the mechanism states. Where a graph is given, or another privacy, the
        certificate is not judged: it speaks of the mechanism's own promise.
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
    examined = subject_of(subject, graph=graph, privacy=privacy)
    document = examined.document
    own = graph is None and (privacy is None or _same(privacy, document.privacy))
    optimality = judge(examined) if own else None
    not_judged = document.certificate is not None and not own
    if document.factored is not None:
        return _audit_factored(document.factored, examined, optimality, not_judged)
    number = conversion(arithmetic)
    rows = examined.rows if arithmetic == "flint" else convert(document.rows, number)
    pairs = examined.row_pairs()
    worst = worst_delta(rows, pairs, number(examined.privacy.ratio))
    used = np.unique(document.row_of).tolist()
    non_negative = min(min(rows[i]) for i in used) >= 0
    delta = number(examined.privacy.delta)
    # With a negative entry no ratio means anything; the promise is broken whatever the ratio.
    tight = smallest_ratio(rows, pairs, delta) if non_negative else None
    verdict = Audit(
        privacy=examined.privacy,
        rows_sum_to_one=all(sum(rows[i]) == 1 for i in used),
        non_negative=non_negative,
        delta_at_epsilon=Fraction(0) if worst is None else as_fraction(worst.value),
        ratio_at_delta=_ratio(tight, non_negative),
        tightest=_tight_edge(tight.value, examined, pairs, rows, delta) if tight else None,
        optimality=optimality,
        not_judged=not_judged,
        inputs=len(examined.inputs),
        edges=examined.graph.number_of_edges,
        alone=_alone(examined.graph),
    )
    if optimality is None or (verdict.private and verdict.rows_sum_to_one):
        return verdict
    # A bound on private mechanisms says nothing good about what is none.
    broken = replace(optimality, holds=False, reason="the file is no private mechanism")
    return replace(verdict, optimality=broken if optimality.holds else optimality)


def _same(given: Privacy, stated: Privacy | None) -> bool:
    return stated is not None and (given.ratio, given.delta) == (stated.ratio, stated.delta)


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


def _ratio(tight: Worst | None, non_negative: bool) -> Fraction | None:
    if tight is None:
        return Fraction(1) if non_negative else None
    return None if tight.value is None else as_fraction(tight.value)


def _tight_edge(ratio: Any, examined: Subject, pairs: RowPairs, rows: Sequence[Numbers], delta: Number) -> TightEdge:
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
    factored: FactoredMechanism, examined: Subject, optimality: Optimality | None, not_judged: bool
) -> Audit:
    """The rows at neighbouring counts differ by at most the ratio of the geometric mechanism; reading keeps that."""
    built, promised = factored.privacy.ratio, examined.privacy
    if built > promised.ratio:
        raise BadInput("privacy", "is stricter than a factored mechanism was built for", "expand it to audit its rows")
    edge = TightEdge(edge=(0, 1), outputs=()) if factored.n else None
    return Audit(
        privacy=promised,
        rows_sum_to_one=True,
        non_negative=True,
        delta_at_epsilon=Fraction(0),
        ratio_at_delta=built if factored.n else Fraction(1),
        tightest=edge,
        optimality=optimality,
        not_judged=not_judged,
        by_theorem=True,
        inputs=factored.n + 1,
        edges=factored.n,
        alone=int(factored.n == 0),
    )


def _audit_depth_mechanism(mechanism: DepthMechanism, privacy: Privacy | None) -> Audit:
    if privacy is not None and (privacy.ratio, privacy.delta) != (mechanism.privacy.ratio, mechanism.privacy.delta):
        raise BadInput("privacy", "of a depth mechanism is built into its rows", "leave it out, or build it anew")
    verdict = certify_depth_mechanism(mechanism)
    return Audit(
        privacy=mechanism.privacy,
        rows_sum_to_one=True,
        non_negative=True,
        delta_at_epsilon=mechanism.privacy.delta if verdict.holds else verdict.boundary_delta,
        ratio_at_delta=mechanism.privacy.ratio if verdict.holds else None,
        by_theorem=True,
    )
