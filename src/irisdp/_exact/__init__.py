"""Rationals, directed rounding and enclosures: the lowest layer."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .arithmetics import Number, Numbers, as_fraction, conversion, convert, flint_rational
    from .documents import (
        INTEGER_BITS,
        TomlFile,
        json_bytes,
        json_line,
        kind_of,
        parse_json,
        read_json,
        toml_key,
        toml_value,
    )
    from .enclosures import (
        LARGEST_EPSILON,
        Enclosure,
        ball,
        decimal_above,
        dyadic_above,
        dyadic_below,
        enclosure_of,
        enclosures_of,
        ends,
        exp_below,
        float_above,
        log_above,
        log_below,
        log_near,
        working_precision,
    )
    from .formatting import (
        in_short,
        percent_below,
        short_above,
        short_below,
        shown_above,
        shown_below,
        so_many,
        told_above,
        told_below,
        told_exactly,
    )
    from .progress import progress_to, report
    from .rationals import Rational, integer, meant_decimal, nearest_float, rational, rational_text, short_text
    from .short_numbers import (
        GRID_BITS,
        ONE,
        GridRow,
        completed,
        is_short,
        simplest_between,
        stepping_stones,
        to_grid,
        workable_ratio,
    )
    from .validation import (
        Table,
        checked,
        counts,
        entries,
        entry_reader,
        file_path,
        json_list,
        numbers,
        plain_text,
        table,
    )

exports(__name__)
