"""Frames of other libraries: whatever they raise is said in one line."""

from __future__ import annotations

import operator
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from ..errors import BadInput

__all__ = ["asked", "computed", "opened", "refuse_names_given_twice"]

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
            raise BadInput(field, _two_of(_name_given_twice(frame)), _OWN_NAMES) from None
        return table

    return asked(found, field, "is a dataframe that cannot be read", remedy)


def _name_given_twice(frame: Any) -> str | None:
    """Return the name that two columns of a frame have; None where none do, or where it does not list its names.

    Narwhals reads no such frame, so its own library is asked. Names of columns are public.
    """
    for path in ("column_names", "schema.names", "columns"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a lazy frame has to be resolved for it
                names = list(operator.attrgetter(path)(frame))
        except Exception:  # of another library, or of no frame at all
            continue
        if all(isinstance(name, str | int) for name in names):
            return next((str(name) for name, times in Counter(names).items() if times > 1), None)
    return None


def refuse_names_given_twice(frame: Any, field: str) -> None:
    """Refuse a frame two columns of which have one name.

    Raises
    ------
    BadInput
        Which names the column.
    """
    name = _name_given_twice(frame)
    if name is not None:
        raise BadInput(field, _two_of(name), _OWN_NAMES)


_OWN_NAMES = "give each column a name of its own"


def _two_of(name: str | None) -> str:
    return "has two columns of one name" + ("" if name is None else f", {name[:60]!r}")


def computed(table: Any) -> Any:
    """Return an eager frame of narwhals'; what it raises is for `asked` to say."""
    return table.collect() if hasattr(table, "collect") else table
