"""Frames of other libraries: whatever they raise is said in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import BadInput

__all__ = ["asked", "computed", "opened"]

_T = TypeVar("_T")

_PANIC = "PanicException"
"""What Polars raises where its Rust gives up; it is no `Exception`."""


def asked(action: Callable[[], _T], field: str, rule: str, remedy: str) -> _T:
    """Run something of another library's; whatever it raises becomes a `BadInput` that holds none of its words."""
    try:
        return action()
    except BadInput:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != _PANIC:
            raise
    raise BadInput(field, rule, remedy)


def opened(frame: Any, field: str, remedy: str) -> Any:
    """Return a frame of narwhals', eager or lazy, of whatever frame it is.

    Raises
    ------
    BadInput
        For what is no frame, and where two columns have one name.
    """
    import narwhals as nw  # here, so that graphs in closed form need not wait for it
    from narwhals.exceptions import DuplicateError

    def found() -> Any:
        try:
            table = nw.from_native(frame)
            table.collect_schema()
        except TypeError:
            raise BadInput(field, "is no dataframe that narwhals reads", remedy) from None
        except DuplicateError:
            raise BadInput(field, "has two columns of one name", "give each column a name of its own") from None
        return table

    return asked(found, field, "is a dataframe that cannot be read", remedy)


def computed(table: Any) -> Any:
    """Return an eager frame of narwhals'; what it raises is for `asked` to say."""
    return table.collect() if hasattr(table, "collect") else table
