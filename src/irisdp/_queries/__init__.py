"""From a table to a node of a small graph: the engine counts, and only per-group statistics come back.

Nothing here draws at random or publishes.
"""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .apply import apply_words
    from .band import Band
    from .categories import split_condition
    from .count import Count
    from .derived_columns import is_named_expression, read_by
    from .groups import CATEGORIES, Groups, check_apart, find_keys, groups_file, read_groups, split_list
    from .histogram import part_groups
    from .neighbouring_relation import NOT_OPTIMAL_TOGETHER, cell_relation, independent_parts, total_cost
    from .privacy_units import (
        KEY_BYTES,
        ONE_RECORD,
        ColumnChoices,
        ContributionBounds,
        PerUnitRule,
        PrivacyUnit,
        describe_unit,
        keep_records,
        read_contribution,
        read_per_unit,
    )
    from .query import Query, as_asked, check_list, columns_about, entries_of, entry_of, pure_pair, steps_of_person
    from .reading import (
        applies_a_file,
        check_records_chosen,
        check_several,
        counts_every_person,
        find_subject,
        is_in_parts,
        keep_contribution,
        read_query,
    )
    from .registry import FORM_OF, FORMS, AnswerType, Measured, QueryEntry
    from .statistics import UnreleasedKeys, enumerate_keys
    from .sum_and_mean import total_per_person, weighted_count

exports(__name__)
