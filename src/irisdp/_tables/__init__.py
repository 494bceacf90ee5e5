"""Tables: files, data frames, databases and engines; conditions and expressions. The only package that sees records."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .arrow_values import FEW, array_of_kind, integers_of, rows_of, text_of, whole_numbers
    from .canonical_sql import spell
    from .checked_table import TableCheck
    from .checking import check_table, fitting_types
    from .column_types import is_spelt, load_types, read_column, read_declared_value, types_file, written_as
    from .columns import (
        NO_HEADER,
        SQL_TYPES,
        Column,
        ColumnType,
        Derivation,
        Note,
        any_empty,
        find_column,
        is_unknown_column,
        list_names,
        names_are_public,
        names_people,
        read_as,
        read_value,
        read_values,
        split_at_commas,
    )
    from .dataframes import arrow_table
    from .engine import check_readable, guarded, quote_name
    from .engine_versions import casts_to_whole, readers_alike
    from .expressions import Condition, read_condition, read_value_of_record
    from .json_lines import is_json_lines
    from .kept_records import HeldRecords, KeptRecords, column_beside
    from .locations import Location, counted_from, is_address, locate, note_of_partition
    from .lookups import held_names, lineage, lookup_files, used_lookups
    from .parts import TablePart, hive_values
    from .record_comparison import common_columns, hold_the_same
    from .servers import (
        SAID,
        Server,
        connected,
        driver,
        is_lost,
        is_on_server,
        is_passing,
        listening,
        read_server,
        state_of,
    )
    from .spellings import PLAIN
    from .sql_compiler import ConditionCompiler
    from .table import HOW_TO_OPEN, Table, explaining_index, open_table
    from .text_comparisons import grouped_by_letters
    from .text_files import DELIMITERS, read_columns, read_form

exports(__name__)
