"""Options that turn the records of each person into one row: person= and per_person_upper=."""

from __future__ import annotations

from typing import Any, cast

from .._queries import Query, find_subject
from .._tables import Table
from ..errors import BadInput
from .options import PlanOptions

_BY_RECORDS = ("at_most", "per_unit", "groups_per_unit")


def read_rows(table: Table, asked: Query[Any], options: PlanOptions) -> tuple[Table, Query[Any], PlanOptions]:
    """Return the table by persons, the question of it and its options, where they ask for one row per person.

    Raises
    ------
    BadInput
        Where no unit says whose a record is, and beside options that choose among a person's records.
    """
    person, upper = options.get("person"), options.get("per_person_upper")
    if person is None and upper is None:
        return table, asked, options
    named = "person" if upper is None else "per_person_upper"
    unit = options.get("unit")
    if unit is None:
        rule = "is about all records of a person, and nothing says whose a record is"
        raise BadInput(named, rule, "name the column that identifies a person with unit=")
    for name in _BY_RECORDS:
        if options.get(name) is not None:
            rule = f"chooses among the records of a person, and {named}= derives one row from all of them"
            raise BadInput(name, rule, "leave one of the two out")
    if upper is not None:
        if person is not None:
            raise BadInput(named, "is not for rows that person= derives", "cut them off with upper= instead")
        if options.get("by") is not None:
            rule = "cuts off the total of a person over all records, and groups part these"
            raise BadInput(named, rule, "leave by= out, or keep at_most=M records of each person")
        asked, table = find_subject(asked, table, None)
        from .._queries import total_per_person  # here: it loads the parser of SQL

        persons, totals, changed = total_per_person(table, asked, unit, cast(dict[str, Any], options))
        return persons, totals, cast(PlanOptions, {**options, **changed})
    return table.per_person(person, unit), asked, options
