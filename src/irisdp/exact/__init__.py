"""Rationals, directed rounding and enclosures: the lowest layer."""

from ..facades import when_used
from ..renamed import renamed_names

with when_used(__name__, otherwise=renamed_names(__name__, {}, gone={"write_json": "irisdp.outputs.write_outputs"})):
    from .arguments import checked
    from .documents import json_bytes, json_line, parse_json, read_json
    from .enclosures import Enclosure, ball, enclosure_of, ends, working_precision
    from .lists import Table, counts, entries, entry_reader, json_list, numbers, table
    from .rationals import Rational, integer, meant_decimal, nearest_float, rational, rational_text, short_text
    from .regular_files import NoRegularFile, is_there, open_regular
    from .rounding import (
        decimal_above,
        dyadic_above,
        dyadic_below,
        exp_below,
        float_above,
        log_above,
        log_below,
        log_near,
    )
    from .shown import (
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
    from .texts import file_path, plain_text

__all__ = [
    "Enclosure",
    "NoRegularFile",
    "Rational",
    "Table",
    "ball",
    "checked",
    "counts",
    "decimal_above",
    "dyadic_above",
    "dyadic_below",
    "enclosure_of",
    "ends",
    "entries",
    "entry_reader",
    "exp_below",
    "file_path",
    "float_above",
    "in_short",
    "integer",
    "is_there",
    "json_bytes",
    "json_line",
    "json_list",
    "log_above",
    "log_below",
    "log_near",
    "meant_decimal",
    "nearest_float",
    "numbers",
    "open_regular",
    "parse_json",
    "percent_below",
    "plain_text",
    "rational",
    "rational_text",
    "read_json",
    "short_above",
    "short_below",
    "short_text",
    "shown_above",
    "shown_below",
    "so_many",
    "table",
    "told_above",
    "told_below",
    "told_exactly",
    "working_precision",
]
