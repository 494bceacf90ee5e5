"""Parse a question against a schema: its subject, its privacy unit and its accuracy. No record is read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, cast

from .._exact import checked, rational
from .._options import COLUMN_CHOICES
from .._queries import (
    CATEGORIES,
    ColumnChoices,
    PerUnitRule,
    Query,
    applies_a_file,
    cell_relation,
    check_apart,
    check_list,
    check_records_chosen,
    check_several,
    columns_about,
    counts_every_person,
    find_subject,
    groups_file,
    is_in_parts,
    keep_contribution,
    read_by,
    read_contribution,
    read_per_unit,
    read_query,
)
from .._tables import HOW_TO_OPEN, Table, explaining_index, lookup_files, open_table, types_file
from ..errors import BadInput
from ..graphs import NeighbouringRelation, parse_relation
from .accuracy import read_within
from .audiences import answered_by, chain_for, read_audiences, read_confidence, read_levels
from .canonical_question import canonical_question
from .group_selection import read_grouping, read_naming
from .options import PlanOptions, WeightOptions, with_options
from .partition_options import partition_of, read_partition
from .person_options import read_rows
from .plans import Plan
from .project import ProjectDefaults, apply_project, check_columns, find_project

if TYPE_CHECKING:
    from .._measurements import Measurement
    from .._tables import Condition
    from ..privacy import Guarantee


@checked
@with_options(PlanOptions)
def plan(data: Any, query: str, *arguments: str | int, **options: Unpack[PlanOptions]) -> Plan:
    """Check a question against a table's schema and work out its mechanism and cost; reads no record, spends nothing.

    Parameters
    ----------
    data, query, *arguments
        As for `irisdp.publish`.

    Returns
    -------
    Plan
        Public facts alone: its cost, the expected error of the answers, and all that decides their distribution.

    Raises
    ------
    BadInput
        For anything that does not make sense, before a record is read.

    Examples
    --------
    >>> import pyarrow
    >>> planned = plan(pyarrow.table({"age": [70, 30, 81]}), "count", "age > 64", epsilon=1)
    >>> planned.describe_cost()
    'ε = 1, δ = 0 for adding or removing one record'
    >>> planned.describe_error()
    ['off by 0.851 on average, by at most 3 in 95 % of cases']
    """
    asked = read_query(query, arguments, options.get("where"))
    if asked.name == "count" and any(options.get(name) is not None for name in WeightOptions.__annotations__):
        from .._queries import weighted_count  # loads what only sums need

        asked, weighted = weighted_count(asked, options)
        options = cast(Any, weighted)
    told = apply_project(find_project(data, options.get("project")), asked, options)
    with told.blamed(), explaining_index(data):
        return _plan(data, asked, told)


def _plan(data: Any, asked: Query[Any], told: ProjectDefaults) -> Plan:
    """Plan a question, once all that a project says is among its options."""
    options = cast(PlanOptions, told.options)
    confidence = read_confidence(options.get("confidence"), alone=options.get("within") is None)
    own = asked.checked.privacy if applies_a_file(asked) else None
    wanted = read_within(options)
    if wanted is None:
        levels = read_levels(options, own=own)
    else:
        wanted.check(asked.name)
    neighbours = parse_relation(options.get("relation") or "add-remove")
    opened: dict[str, Any] = {name: options.get(name) for name in HOW_TO_OPEN}
    table = open_table(data, **opened, part=read_partition(options.get("partition"), told.project))
    check_columns(told, table)
    table, asked, options = read_rows(table, asked, options)
    categories, by = options.get("categories"), options.get("by")
    select_groups, public_membership = options.get("select_groups", False), options.get("public_membership", False)
    check_apart(categories, data, CATEGORIES)
    table, names = read_by(table, by) if by else (table, None)
    asked, table = find_subject(asked, table, options.get("weight"))
    contribution = read_contribution(
        options.get("at_most"),
        options.get("groups_per_unit"),
        unit=options.get("unit"),
        per_unit=options.get("per_unit"),
        grouped=names is not None or is_in_parts(asked),
        exchange=neighbours == NeighbouringRelation.EXCHANGE,
    )
    chosen: dict[str, Any] = {name: options.get(name) for name in COLUMN_CHOICES}
    question = asked.over(table, ColumnChoices(**chosen, contribution=contribution, unit=options.get("unit")))
    parts = question.parts if is_in_parts(question) else None
    question, condition = _read_condition(question, table)
    told = told.with_groups(names)
    groups = told.options.get("groups")
    check_apart(groups, data)
    with told.blamed():
        table, columns, declared = read_grouping(
            table, names, groups, parts, select_groups=select_groups, public_membership=public_membership
        )
    question = check_several(
        keep_contribution(question, contribution, declared), select_groups=select_groups or None, within=wanted
    )
    unit, each = _read_persons(table, question, condition, options, grouped=bool(columns))
    every_person = unit is not None and counts_every_person(question, grouped=bool(columns))
    check_list(question, by=columns, selected=select_groups, unit=unit)
    graph = cell_relation(
        neighbours, grouped=bool(columns), public_membership=public_membership, several=contribution.several
    )
    met = None
    fixed = own is not None or (wanted is not None and wanted.pair is not None)
    if wanted is not None:

        def answering(level: Guarantee) -> Measurement[Any]:
            naming = read_naming(question, [(None, level)], options, fixed=fixed, chained=False)
            return naming.query.mechanism(naming.levels[0][1], graph)

        met = wanted.meet(question.name, answering)
        levels = [(name, met.privacy) for name, _ in read_audiences(options)] or [(None, met.privacy)]
    links = chain_for(question, levels, graph) if wanted is None else None
    naming = read_naming(question, levels, options, fixed=fixed, chained=links is not None)
    question = naming.query
    audiences = answered_by(question, naming.levels, graph, links, options, own=own is not None)
    return Plan(
        table=table,
        query=question,
        condition=condition,
        by=columns,
        groups=declared,
        unit=unit,
        per_unit=each,
        contribution=contribution,
        relation=neighbours,
        public_membership=public_membership,
        asked=canonical_question(
            table=table,
            described=question.describe(),
            choices=question.choices() if question.column else {},
            about=columns_about(question),
            categories=question.categories,
            condition=condition,
            by=columns,
            groups=declared,
            unit=unit,
            per_unit=each,
            contribution=contribution,
            every_person=table.persons is not None
            or (every_person and (each is None) and not contribution.several and condition is None),
            relation=neighbours,
            public_membership=public_membership,
            partition=partition_of(table, neighbours, options),
        ),
        audiences=audiences,
        selector=naming.selector,
        apart=naming.apart,
        declared_in={
            "the groups": groups_file(groups),
            "the categories": groups_file(categories),
            "the types": types_file(options.get("types")),
            **lookup_files(options.get("lookup")),
            "the project": told.project.path if told.project else None,
            "the mechanism": asked.file if applies_a_file(asked) else None,
        },
        within=met,
        # Beside within= and epsilon= a δ says how much may be found; it is no part of what is asked.
        charged_at=rational(0 if wanted and wanted.pair else options.get("delta", 0), "delta"),
        confidence=confidence,
        project=told.project,
        project_says=told.names,
    )


def _read_condition(question: Query[Any], table: Table) -> tuple[Query[Any], Condition | None]:
    """Return the condition of a question, and the question with it in its one form: all its spellings ask the same."""
    if question.expression is None:
        return question, None
    from .._tables import read_condition  # here: it loads the parser of SQL

    condition = read_condition(question.expression, table.named)
    return replace(cast(Any, question), expression=condition.text), condition


def _read_persons(
    table: Table, question: Query[Any], condition: Condition | None, options: PlanOptions, *, grouped: bool
) -> tuple[str | None, PerUnitRule | None]:
    """Return the column that identifies a person, and whether a person's records are asked together."""
    named = options.get("unit")
    if named is None:
        return None, read_per_unit(options.get("per_unit"), None, condition)
    unit = table.column(named, "unit").name
    if options.get("public_membership"):
        # Which of a person's records is kept depends on what they say, and so does the group it counts in.
        raise BadInput("public_membership", "cannot be combined with unit=", "leave one of the two out")
    if table.persons is not None:
        return unit, None
    persons = counts_every_person(question, grouped=grouped)
    each = read_per_unit(options.get("per_unit"), unit, condition, counts_persons=persons)
    if each is not None or options.get("at_most") is not None:
        return unit, each
    check_records_chosen(question, unit=unit, grouped=grouped)
    return unit, PerUnitRule.ANY if condition is not None else None
