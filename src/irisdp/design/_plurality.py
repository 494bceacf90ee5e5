"""Which category is the largest, from gaps alone: which mechanism, and what is proved of it.

The choice looks at public facts only: how many categories, the ratio, the relation, how ties count, and a cap if there
is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import comb
from typing import Any, Literal

import numpy as np

from .._exact import Enclosure, Table, checked, integer
from ..errors import BadInput, Refusal
from ..graphs import DatasetGraph, Gaps, Histograms, NeighbouringRelation, Relation
from ..mechanisms import (
    LARGEST_CATEGORIES,
    LARGEST_PULL,
    Mechanism,
    NoisyLargest,
    PermuteAndFlip,
    Pull,
    Row,
    StatedObjective,
    Winner,
    read_gaps,
)
from ..privacy import Privacy, are_close
from ._optimal_mechanism import optimal_mechanism, sealed
from ._privacy_program import Goal
from ._pull import MOST_STATES, capped_pull, capped_states, number_of_states
from ._repair import shortened

Ties = Literal["any", "first"]

LARGEST_CAP = 1 << 20


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class PluralityMechanism:
    """A mechanism that names the largest category, what it is, and what is claimed of it.

    Parameters
    ----------
    categories : int
        q.
    privacy : Privacy
        The guarantee, on counts of any size.
    relation : {"exchange", "add-remove"}
        Whether neighbours exchange one record for another, or have one more.
    ties : {"any", "first"}
        Whether any of the largest categories is right, or the first of them in the public order of the categories.
    largest : int or None
        Gaps above it are taken for it; None where no gap is.
    form : Winner
        The formula of the rows.
    rule : str
        Which mechanism this is, and why.
    scope : str
        What is claimed of its errors, and among which mechanisms.
    worst_error : Fraction
        The largest probability of a wrong answer, over all counts.
    """

    categories: int
    privacy: Privacy
    relation: Relation
    ties: Ties
    largest: int | None
    form: Winner
    rule: str
    scope: str
    worst_error: Fraction

    @checked
    def row(self, gaps: Sequence[int]) -> Row:
        """Return the chance of each category, exactly.

        Parameters
        ----------
        gaps : sequence of q integers
            How many records each category has fewer than the largest; at least one is 0.

        Raises
        ------
        BadInput
            For what are no gaps, and for gaps so large that fractions would be unwieldy: `enclose` takes those.
        """
        return self.form.row(self._seen(gaps))

    @checked
    def enclose(self, gaps: Sequence[int], *, width: Any = Fraction(1, 1 << 64)) -> tuple[Enclosure, ...]:
        """Enclose the chance of each category; gaps of 10^18 are as easy as those of 10.

        Parameters
        ----------
        gaps : sequence of q integers
        width : number or text
            Largest width of each interval, more than 0.
        """
        return self.form.enclose(self._seen(gaps), width=width)

    def _seen(self, gaps: Any) -> tuple[int, ...]:
        node = read_gaps(gaps, self.categories)
        return node if self.largest is None else tuple(min(gap, self.largest) for gap in node)


@checked
def plurality(
    categories: int,
    privacy: Privacy,
    relation: Relation = "exchange",
    ties: Ties = "any",
    *,
    largest: int | None = None,
) -> PluralityMechanism:
    """Name the largest of several categories, from how far each is behind it.

    Parameters
    ----------
    categories : int
        q, from 2 to 100.
    privacy : Privacy
        One pair. Its δ is not used, and δ = 0 is promised.
    relation : {"exchange", "add-remove"}
        Whether neighbours exchange one record for another, or have one more. Under "exchange" a record may also be in
        none of the categories, so that an exchange changes one count by one record. But with `largest`, pull from the
        top is checked on exchanges between categories only.
    ties : {"any", "first"}
        Whether any of the largest categories is right, or the first of them in the public order of the categories.
    largest : int, optional
        Take gaps above it for it, as mechanism files do. If left out, all gaps are distinguished.

    Returns
    -------
    PluralityMechanism
        With rows for any gaps, private for counts of any size. Where records are exchanged: pull from the top where it
        is proved to be private, else permute and flip. Where they are added or removed: permute and flip at the full ε,
        or, with `ties="first"`, the first of the largest noisy counts. With `largest`, pull from the top at the largest
        ratio at which every edge of the capped graph passes an exact check, if that is the better one on average.

    Raises
    ------
    Refusal
        For `ties="first"` where records are exchanged: two counts move at once, and the noise is not private.

    Examples
    --------
    >>> print(*plurality(4, Privacy(ratio=2)).row((0, 1, 2, 4)))
    19/36 19/72 19/120 1/20

    References
    ----------
    [McKenna2020]; docs/theory.md#plurality; proofs/plurality.md.
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
    cap = None if largest is None else integer(largest, "largest", at_least=1, at_most=LARGEST_CAP)
    if not privacy.single:
        raise BadInput("privacy", f"holds {len(privacy.pairs)} pairs, and this needs one", "give epsilon")
    privacy = privacy.pure
    if ties == "first" and relation == "exchange":
        raise Refusal(
            "ties: a public order of ties needs the relation add-remove. Under exchange two counts change at once, so"
            ' the noise would cost twice the ε. Accept any of the largest (ties "any")',
            status="no mechanism",
        )
    form, rule, scope = _chosen(q, privacy, relation, ties)
    worst = form.worst_error
    if cap is not None:
        rule += f"; a cap of {cap} on gaps leaves the proof as it is"
        if relation == "exchange":
            form, rule, scope, worst = _capped(q, privacy, cap)
    return PluralityMechanism(
        categories=q,
        privacy=privacy,
        relation=relation,
        ties=ties,
        largest=cap,
        form=form,
        rule=rule,
        scope=scope,
        worst_error=worst,
    )


def least_proved_ratio(categories: int) -> Fraction:
    """Return the ratio from which pull from the top is proved to be private: max{1, (q − 2)/2, 2(q − 3)/3}."""
    return max(Fraction(1), Fraction(categories - 2, 2), Fraction(2 * (categories - 3), 3))


def _chosen(q: int, privacy: Privacy, relation: Relation, ties: Ties) -> tuple[Winner, str, str]:
    """Choose for gaps without a cap."""
    if ties == "first":
        return (
            NoisyLargest(q, privacy),
            "the first of the largest counts, each with one-sided geometric noise: proved private for any counts",
            "no optimality is claimed",
        )
    if relation == "add-remove":
        return (
            PermuteAndFlip(q, privacy, NeighbouringRelation.ADD_REMOVE),
            "permute and flip at the full ε: proved private for any counts",
            "no optimality is claimed",
        )
    least = least_proved_ratio(q)
    if q <= LARGEST_PULL and privacy.ratio >= least:
        best = "on tables of every size, no private mechanism has a smaller worst probability of a wrong answer"
        if privacy.ratio >= 2 * (q - 1):
            best += (
                ", nor a smaller mean one, for any prior that treats categories alike and gives a table no less weight"
                " after the largest category has given a record to one at least two behind it"
            )
        return (
            Pull(q, privacy),
            f"pull from the top: proved private for any counts, since the ratio is at least {least}",
            best,
        )
    why = f"the ratio is below {least}" if q <= LARGEST_PULL else f"there are more than {LARGEST_PULL} categories"
    return (
        PermuteAndFlip(q, privacy, NeighbouringRelation.EXCHANGE),
        f"permute and flip at half steps: proved private for any counts; pull from the top is not proved, since {why}",
        "no optimality is claimed",
    )


def _capped(q: int, privacy: Privacy, cap: int) -> tuple[Winner, str, str, Fraction]:
    """Choose for capped gaps where records are exchanged: the formula with the smaller mean error over all of them."""
    flip = PermuteAndFlip(q, privacy, NeighbouringRelation.EXCHANGE)
    flipped = "permute and flip at half steps: private by its proof, which a cap leaves as it is"
    none = "no optimality is claimed"
    if q > LARGEST_PULL or privacy.ratio < Fraction(q - 2, 4) or number_of_states(q, cap) > MOST_STATES:
        return flip, flipped, none, flip.worst_error
    pulled = capped_pull(q, cap, privacy.ratio)
    states = capped_states(q, cap)
    # Floats are near enough for a choice: what is chosen is private either way.
    ratio = float(privacy.ratio)
    flips = [flip.work_out(state, 1 / ratio, partial(pow, 1 / ratio)) for state in states.states]
    wrong = [sum(row[state.count(0) :]) for state, row in zip(states.states, flips, strict=True)]
    if np.dot(states.orbits, wrong) < sum(states.orbits) * float(pulled.mean_error):
        return flip, f"{flipped}; its mean error is below that of pull from the top", none, flip.worst_error
    rule = (
        f"pull from the top at the ratio {pulled.ratio}, the largest of few digits for which every edge of the graph of"
        f" gaps capped at {cap} was checked, exactly"
    )
    return Pull(q, Privacy(ratio=pulled.ratio)), rule, none, pulled.worst_error


# The winner as a mechanism file: rows for all capped gaps, or for all counts of so many records, and their bound.
#
# If the linear program over all private mechanisms is small, it proves a bound, and the rows are its optimum, alike
# for any order of the categories. The closed form that `plurality` chooses is kept if it is as good. Beyond, they are
# the closed form.

MOST_INPUTS = 5_000

MOST_CONSTRAINTS = 6_000
"""Privacy constraints up to which the program over all private mechanisms is solved: seconds."""

_BY_DEFAULT = 100
"""Inputs up to which gaps are told apart where neither a cap nor a total is given."""

Node = tuple[int, ...]


@checked
def winner(
    categories: int,
    privacy: Privacy,
    *,
    largest: int | None = None,
    total: int | None = None,
    relation: Relation = "exchange",
    ties: Ties = "any",
    objective: Literal["average", "worst"] = "average",
) -> Mechanism:
    """Write down a mechanism that names the largest category.

    Parameters
    ----------
    categories : int
        q, from 2 up; answers are 0..q−1.
    privacy : Privacy
        One pair. Its δ is not used, and δ = 0 is promised.
    largest : int, optional
        Inputs are gaps to the largest, and this and more is one gap. Left out, up to 8, as far as inputs stay few.
    total : int, optional
        Inputs are the counts of so many records instead; for "exchange" only, which keeps their number.
    relation, ties
        As for `plurality`.
    objective : "average" or "worst"
        Minimise the probability of a wrong answer on average over all inputs, each alike, or at its largest.

    Returns
    -------
    Mechanism
        Private on every edge, exactly, with its value: the mean probability of a wrong answer, or the largest. Optimal,
        with a lower bound and its certificate, where the program over all private mechanisms has at most 6,000
        constraints; beyond, the closed form that `plurality` chooses, without a bound.

    References
    ----------
    docs/theory.md#plurality; proofs/plurality.md, proofs/weak-duality.md.
    """
    q = integer(categories, "categories", at_least=2, at_most=LARGEST_CATEGORIES)
    graph = _graph(q, largest, total, relation)
    cap = graph.largest if isinstance(graph, Gaps) else None
    made = plurality(q, privacy, relation, ties, largest=cap)
    privacy, form = made.privacy, made.form
    if cap is None:
        form = _on_counts(graph, form, privacy)
    gaps = _gaps(graph)
    rows = shortened(tuple(form.row(node) for node in gaps), graph, privacy)
    goal = _goal(graph, ties, objective)
    written = Mechanism.from_matrix(
        rows,
        privacy=privacy,
        graph=graph,
        outputs=range(q),
        objective=StatedObjective(goal.name, goal.value(rows)),
    )
    if 2 * graph.number_of_edges * q > MOST_CONSTRAINTS:
        return written
    best = optimal_mechanism(goal, graph, privacy)
    assert best.objective is not None
    assert written.objective is not None
    bound = best.objective.lower_bound
    if written.objective.value > best.objective.value:
        if ties == "first":
            return best
        rows = shortened(_alike(gaps, best.matrix()), graph, privacy)
        written = Mechanism.from_matrix(rows, privacy=privacy, graph=graph, outputs=range(q))
    proved = StatedObjective(goal.name, goal.value(rows), bound)
    return sealed(replace(written, objective=proved, certificate=best.certificate))


def _graph(q: int, largest: int | None, total: int | None, relation: Relation) -> Gaps | Histograms:
    """Choose the inputs, and refuse too many before anything is listed."""
    if total is not None and largest is not None:
        raise BadInput("total", "cannot be given with largest", "give one of the two")
    if total is None:
        few = [cap for cap in range(1, 9) if _number_of_gaps(q, cap) <= _BY_DEFAULT]
        cap = max(few, default=1) if largest is None else integer(largest, "largest", at_least=1)
        name, inputs = "largest", _number_of_gaps(q, min(cap, MOST_INPUTS))
    else:
        if relation == "add-remove":
            raise BadInput("total", "is not kept where records are added or removed", "give largest instead")
        records = integer(total, "total", at_least=1)
        name, inputs = "total", comb(min(records, MOST_INPUTS) + q - 1, q - 1)
    if inputs > MOST_INPUTS:
        raise BadInput(
            name, f"makes more than {MOST_INPUTS:,} inputs with that many categories", "lower one of the two"
        )
    return Gaps(q, cap, relation) if total is None else Histograms(records, q)


def _number_of_gaps(q: int, largest: int) -> int:
    count: int = (largest + 1) ** q - largest**q
    return count


def _gaps(graph: DatasetGraph) -> list[Node]:
    """Return how far each category is behind the largest, at every input."""
    nodes: Sequence[Any] = graph.nodes
    if isinstance(graph, Histograms):
        return [tuple(max(counts) - count for count in counts) for counts in nodes]
    return list(nodes)


def _on_counts(graph: DatasetGraph, form: Winner, privacy: Privacy) -> Winner:
    """Pull from the top on finitely many counts too where it is not proved, if every edge of theirs passes."""
    q = form.categories
    if isinstance(form, Pull) or q > LARGEST_PULL or privacy.ratio < Fraction(q - 2, 4):
        return form
    pulled = Pull(q, privacy)
    rows = [pulled.row(gaps) for gaps in _gaps(graph)]
    edges = (pair for tails, heads in graph.edges() for pair in zip(tails.tolist(), heads.tolist(), strict=True))
    return pulled if all(are_close(rows[one], rows[other], privacy) for one, other in edges) else form


def _goal(graph: DatasetGraph, ties: Ties, objective: str) -> Goal:
    """Count a wrong answer as 1: any but the largest, or but the first of the largest."""
    gaps = _gaps(graph)
    loss = tuple(
        tuple(Fraction(index != node.index(0) if ties == "first" else gap > 0) for index, gap in enumerate(node))
        for node in gaps
    )
    if objective == "worst":
        everywhere = tuple(range(len(gaps)))
        return Goal(name="largest probability of a wrong answer", loss=loss, side_information=everywhere)
    weights = (Fraction(1, len(gaps)),) * len(gaps)
    return Goal(name="mean probability of a wrong answer", loss=loss, weights=weights)


def _alike(gaps: Sequence[Node], rows: Sequence[Sequence[Fraction]]) -> Table:
    """Average a mechanism over all orders of the categories: as private, as good on any goal that is alike in them."""
    classes: dict[tuple[Node, int], list[Fraction]] = {}
    for node, row in zip(gaps, rows, strict=True):
        for gap, chance in zip(node, row, strict=True):
            classes.setdefault((tuple(sorted(node)), gap), []).append(chance)
    means = {one: sum(chances, start=Fraction(0)) / len(chances) for one, chances in classes.items()}
    return tuple(tuple(means[tuple(sorted(node)), gap] for gap in node) for node in gaps)
