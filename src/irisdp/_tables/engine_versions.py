"""Which releases of an engine read alike, so that a question is the same with each of them.

`python tests/support/engine_readings.py VERSION…` compares releases. A release that it has not compared stands alone.
docs/decisions/engines.md says why that is the safe side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ALIKE = (frozenset({"duckdb 1.5", "duckdb 2.0"}),)
"""Releases that read alike, but for text that is read as a whole number: 1.5 reads a sign and a tab as 0, and 2.0 as
nothing."""
_WHOLE = re.compile(r"\bAS (TINYINT|SMALLINT|INT|INTEGER|BIGINT|HUGEINT|DECIMAL)\b")


def readers_alike(reader: str) -> tuple[str, ...]:
    """Return what `Table.reader` is with the other releases that read alike.

    Examples
    --------
    >>> readers_alike("7 duckdb 2.0"), readers_alike("7 duckdb 99.0")
    (('7 duckdb 1.5',), ())
    """
    rules, _, engine = reader.partition(" ")
    return tuple(
        f"{rules} {other}" for versions in _ALIKE if engine in versions for other in sorted(versions - {engine})
    )


def casts_to_whole(statements: Iterable[str]) -> bool:
    """Tell whether some SQL may read text as a whole number.

    Examples
    --------
    >>> casts_to_whole(["TRY_CAST(data.a AS DOUBLE)"]), casts_to_whole(["TRY_CAST(data.a AS BIGINT)"])
    (False, True)
    """
    return any(_WHOLE.search(statement) for statement in statements)
