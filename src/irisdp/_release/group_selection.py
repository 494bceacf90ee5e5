"""Which groups are answered about: those declared, or those selected, and what their selection may reveal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _measurements as measurements
from .._measurements import ANSWER_COLUMNS
from .._queries import ONE_RECORD, ContributionBounds, Count, Groups, Query, find_keys, read_groups
from .._tables import Table
from ..errors import BadInput
from ..privacy import Gaussian, Guarantee, Privacy, as_pairs
from .audiences import without_delta
from .options import QuestionOptions

Level = tuple[str | None, Guarantee]
"""An audience, by its name if it has one, and what its answers may reveal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSelection:
    """What names the groups of a question, where they are not declared.

    Attributes
    ----------
    query : Query
        The question: a count that names its own groups, where there is one.
    levels : list of (str or None, Guarantee)
        What is left to each audience's answers.
    selector : measurements.PartitionSelection or None
        Selects groups apart from the answers about them, which then cost more.
    apart : str or None
        Why it does; for people.
    """

    query: Query[Any]
    levels: list[Level]
    selector: measurements.PartitionSelection | None = None
    apart: str | None = None


def declared_groups(table: Table, by: tuple[str, ...], groups: Any, select_groups: bool) -> Groups | None:
    """Return the groups that were declared; None where there are none, or they are to be selected."""
    if not by:
        if groups is not None or select_groups:
            raise BadInput("by", "is missing: groups of what?", "name the group columns with by=")
        return None
    if select_groups and groups is not None:
        rule = "cannot be given with select_groups=True, which chooses the groups itself"
        raise BadInput("groups", rule, "leave one of the two out: groups= or select_groups=True")
    if not select_groups and groups is None:
        raise BadInput(
            "groups",
            "the groups must be declared or privately selected: reading them off the data would reveal who is in it",
            "give groups='v1,v2,…' or a CSV file, or select_groups=True with a delta= (one of the two)",
        )

    return None if select_groups else read_groups(table, by, groups).by_key()


def read_selection(
    guarantee: Guarantee, epsilon: Any, delta: Any, *, fixed: bool = False, records: int = 1
) -> measurements.PartitionSelection:
    """Read a selection's privacy: that of the cells, where nothing of its own is said.

    Parameters
    ----------
    guarantee : Guarantee
        Of the cells.
    epsilon, delta : number or text, optional
        Of the selection alone. Beside one pair either may be left out; beside several, or Gaussian privacy, both or
        none.
    fixed : bool
        Whether the cells keep their δ, whatever the selection does: then it needs one of its own.
    records : int
        How many records one person has that count.

    Raises
    ------
    BadInput
        Where no group may ever be named: with a δ of 0, and so under Gaussian privacy.
    """
    try:
        return _read_selection(guarantee, epsilon, delta, fixed=fixed, records=records)
    except BadInput as error:
        given = {"epsilon": epsilon, "delta": delta}.get(error.field)
        if given is None:
            raise
        raise BadInput(f"selection_{error.field}", error.rule, error.remedy) from None


def _read_selection(
    guarantee: Guarantee, epsilon: Any, delta: Any, *, fixed: bool, records: int
) -> measurements.PartitionSelection:
    if fixed and delta is None:
        raise BadInput("selection_delta", "is missing: the mechanism keeps its own δ", "add selection_delta=1e-6")
    if isinstance(guarantee, Privacy) and guarantee.single:
        own = guarantee if epsilon is None else Privacy(epsilon=epsilon, delta=guarantee.delta)
        own = own if delta is None else own.with_delta(delta)
        if own.delta == 0:
            remedy = "give a small probability such as 1e-6, or groups="
            raise BadInput("delta", "must be above 0 to select groups privately", remedy)
        return measurements.PartitionSelection(own, records)
    if epsilon is None and delta is None:
        return measurements.PartitionSelection(as_pairs(guarantee), records)
    for name, value in (("selection_epsilon", epsilon), ("selection_delta", delta)):
        if value is None:
            rule = "is missing: the cells keep no single pair that it could be taken from"
            raise BadInput(name, rule, "give both selection_epsilon= and selection_delta=")
    return measurements.PartitionSelection(Privacy(epsilon=epsilon, delta=delta), records)


def read_naming(
    query: Query[Any], levels: list[Level], options: QuestionOptions, *, fixed: bool, chained: bool
) -> GroupSelection:
    """Read what names the groups of a question, and what that leaves to the answers.

    Public facts decide. A count names its own groups wherever it can, unless the selection has a privacy guarantee of
    its own. Without a condition no other way to name and count at the same cost is better.

    Parameters
    ----------
    query : Query
    levels : list of (str or None, Guarantee)
        What each audience's answers may reveal, the most accurate first.
    options : Question
        Of which `select_groups`, `selection_epsilon`, `selection_delta` and `public_membership` are read.
    fixed : bool
        As for `read_selection`.
    chained : bool
        Whether the answers of several audiences form a chain, which has no use for a δ.

    References
    ----------
    proofs/named-counts.md.
    """
    epsilon, delta = options.get("selection_epsilon"), options.get("selection_delta")
    without = [(name, without_delta(level)) for name, level in levels]
    if not options.get("select_groups"):
        if epsilon is not None or delta is not None:
            given = "selection_delta" if epsilon is None else "selection_epsilon"
            raise BadInput(given, "belongs to select_groups=True", "add select_groups=True or leave it out")
        return GroupSelection(query=query, levels=without if chained else levels)
    if options.get("public_membership"):
        rule = "chooses among private groups, and here membership is public"
        raise BadInput("select_groups", rule, "declare the groups, or leave out public_membership=")
    apart = _why_apart(query, levels, options)
    if apart is None and isinstance(query, Count):
        return GroupSelection(query=query.naming(), levels=levels)
    selector = read_selection(levels[0][1], epsilon, delta, fixed=fixed, records=_records(query))
    # The selection takes all of δ, unless it has one of its own.
    left = without if delta is None or chained else levels
    return GroupSelection(query=query, levels=left, selector=selector, apart=apart)


def _why_apart(query: Query[Any], levels: list[Level], options: QuestionOptions) -> str | None:
    """Say why the answers cannot name their groups; None where they can."""
    if not isinstance(query, Count):
        return "only noisy counts name groups"
    if options.get("selection_epsilon") is not None or options.get("selection_delta") is not None:
        return "the selection was given a privacy of its own"
    if options.get("audience") is not None:
        return "counts for audiences are made for several of them"
    ((_, level),) = levels
    if isinstance(level, Gaussian) or level.pairs[0].delta == 0:
        return "such noise has no end"  # nor may anything be selected, as `read_selection` says
    try:
        measurements.NoisyCountSelection(level, records=_records(query))
    except BadInput:
        return "noise with an end would reach too far at this ε and δ"
    return None


def _records(query: Query[Any]) -> int:
    """Return how many records of a person count, in a question that keeps it; 1 in others."""
    contribution: ContributionBounds = getattr(query, "contribution", ONE_RECORD)
    return contribution.records


# Which cells a question is asked of: the groups, declared or to be selected, and what a histogram parts them in.


def read_grouping(
    table: Table, by: Any, groups: Any, parts: Groups | None, *, select_groups: bool, public_membership: bool
) -> tuple[Table, tuple[str, ...], Groups | None]:
    """Read the group columns and the declared groups of a question, from public facts alone.

    Parameters
    ----------
    table : Table
        The table of the question, in which the columns derived by `by` are then available.
    by : sequence of text, or None
        Names of the group columns.
    groups, select_groups, public_membership
        As for `irisdp.publish`.
    parts : Groups or None
        The bins or categories that a histogram parts every group in.

    Returns
    -------
    tuple of (Table, tuple of str, Groups or None)
        The table with all group columns, their names and the groups sorted by key. The names are spelled as in the
        table, so that another spelling is the same question. The groups are None if they are selected or not used.

    Raises
    ------
    BadInput
        For groups without columns, columns without groups, and a group column with the answers' own name.
    """
    columns = tuple(column.name for column in find_keys(table, by)) if by else ()
    declared = declared_groups(table, columns, groups, select_groups)
    if parts is not None:
        from .._queries import part_groups  # which loads what a histogram is

        table, columns, declared = part_groups(
            table, declared, parts, select_groups=select_groups, public_membership=public_membership
        )
    taken = next((name for name in columns if name in ANSWER_COLUMNS), None)
    if taken is not None:
        raise BadInput(
            "by", f"names the column {taken!r}, as the answers' own column is called", "rename it in the data"
        )
    return table, columns, declared
