"""What goes wrong after a charge is no bad input: something was spent, and the answers are kept."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..errors import NotShown, place_of

__all__ = ["what_is_charged"]


@contextlib.contextmanager
def what_is_charged() -> Iterator[None]:
    """Hand over answers that are charged by now.

    Raises
    ------
    NotShown
        For any other error. At this point no exception is the caller's mistake, whatever its class. Its cause is
        suppressed, because it can hold private values.
    """
    try:
        yield
    except NotShown:
        raise
    except Exception as error:
        raise NotShown(
            f"internal error ({place_of(error)}) after the charge: the answers are in the ledger, and asking the same "
            "question again costs nothing; please report it"
        ) from None
