"""One engine, as the library opens and locks it, for many small tables: to open it takes longer than they do."""

from contextlib import contextmanager

import pytest

from irisdp.queries import files, frames, groups, parquet, relations
from irisdp.queries.engine import locked_connection

__all__ = ["in_one_engine"]


class SharedEngine:
    """Stands for `locked_connection`; whoever is done closes it, and it stays open."""

    def __init__(self):
        self._connection = None

    def __call__(self, path=None):
        if path is not None:  # a connection may read one file and no other
            return locked_connection(path)
        self._connection = self._connection or locked_connection()
        return self

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def close(self):
        for name in ("data", "groups"):
            self._connection.unregister(name)


_engine = SharedEngine()


@contextmanager
def in_one_engine():
    """Let all tables be counted in one engine.

    What is tested with it is what an engine does with records, not that every table gets an engine of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        for room in (files, frames, groups, parquet, relations):
            patch.setattr(room, "locked_connection", _engine)
        yield
