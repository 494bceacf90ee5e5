"""From a table to a node of a small graph: the engine counts, and only per-group statistics come back.

Nothing here draws at random or publishes.
"""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(
    __name__,
    otherwise=renamed_names(
        __name__,
        {
            "ClassNodes": "irisdp.cells.ClassNodes",
            "Cost": "irisdp.accounting.Cost",
            "CountNodes": "irisdp.cells.CountNodes",
            "NO_BOUNDARY": "irisdp.cells.NO_BOUNDARY",
        },
    ),
):
    from .apply import Apply, apply_words
    from .at_least import AtLeast
    from .at_most import AtMost
    from .band import Band
    from .bins import Bins, read_bins
    from .choices import Choices
    from .column import EachCategory
    from .column_types import load_types, types_file
    from .columns import NO_HEADER, Column, Derivation, Kind, Note, names_are_public
    from .contribution import Contribution, read_contribution
    from .count import Count
    from .count_distinct import CountDistinct
    from .declared import CATEGORIES, check_apart, groups_file
    from .derived import read_by
    from .expression import Condition, read_condition
    from .groups import Groups, find_keys, read_groups
    from .histogram import Histogram, part_groups
    from .json_lines import is_json_lines
    from .keys import UnreleasedKeys, enumerate_keys
    from .lists import check_list, entry_of
    from .locations import Location, counted_from, is_address, locate, note_of_partition
    from .majority import Majority
    from .neighbours import (
        NOT_OPTIMAL_TOGETHER,
        Move,
        Relation,
        cell_relation,
        independent_parts,
        moves,
        read_relation,
        total_cost,
    )
    from .orders import Ranking, Top
    from .persons import PerUnit, Unit, describe_unit, read_per_unit
    from .plurality import Plurality
    from .quantile import Median, Quantile
    from .query import Query, as_asked, columns_about
    from .registry import (
        QUERIES,
        applies_a_file,
        check_columns_asked,
        check_records_chosen,
        counts_every_person,
        is_in_parts,
        keep_contribution,
        read_query,
    )
    from .sizes import Sizes
    from .statistics import Statistics, count_records
    from .stepped import Stepped, StepTotals
    from .sums import Mean, Sum
    from .table import HOW_TO_OPEN, Table, explaining_index, open_table

__all__ = [
    "CATEGORIES",
    "HOW_TO_OPEN",
    "NOT_OPTIMAL_TOGETHER",
    "NO_HEADER",
    "QUERIES",
    "Apply",
    "AtLeast",
    "AtMost",
    "Band",
    "Bins",
    "Choices",
    "Column",
    "Condition",
    "Contribution",
    "Count",
    "CountDistinct",
    "Derivation",
    "EachCategory",
    "Groups",
    "Histogram",
    "Kind",
    "Location",
    "Majority",
    "Mean",
    "Median",
    "Move",
    "Note",
    "PerUnit",
    "Plurality",
    "Quantile",
    "Query",
    "Ranking",
    "Relation",
    "Sizes",
    "Statistics",
    "StepTotals",
    "Stepped",
    "Sum",
    "Table",
    "Top",
    "Unit",
    "UnreleasedKeys",
    "applies_a_file",
    "apply_words",
    "as_asked",
    "cell_relation",
    "check_apart",
    "check_columns_asked",
    "check_list",
    "check_records_chosen",
    "columns_about",
    "count_records",
    "counted_from",
    "counts_every_person",
    "describe_unit",
    "entry_of",
    "enumerate_keys",
    "explaining_index",
    "find_keys",
    "groups_file",
    "independent_parts",
    "is_address",
    "is_in_parts",
    "is_json_lines",
    "keep_contribution",
    "load_types",
    "locate",
    "moves",
    "names_are_public",
    "note_of_partition",
    "open_table",
    "part_groups",
    "read_bins",
    "read_by",
    "read_condition",
    "read_contribution",
    "read_groups",
    "read_per_unit",
    "read_query",
    "read_relation",
    "total_cost",
    "types_file",
]
