"""One engine, as the library opens and locks it, for many small tables: to open it takes longer than they do."""

import atexit
import warnings
from contextlib import contextmanager
from itertools import count

import duckdb
import pytest

from irisdp._tables import dataframes, engine
from irisdp._tables.engine import locked_connection

_MOST = 16
"""Databases kept open, each for relations of other columns."""


class Reread:
    """A registered relation that is another one at every statement: the engine reads it afresh whenever one runs."""

    def __init__(self, relation):
        self.relation = relation

    @property
    def schema(self):
        return self.relation.schema

    def __arrow_c_stream__(self, requested_schema=None):
        return self.relation.__arrow_c_stream__(requested_schema)


class Database:
    """An open database, whose relations have the same names and columns for as long as any statement is prepared."""

    def __init__(self, optimizes):
        real = duckdb.connect

        def connect(config):
            connection = real(config={**config, "threads": 1})  # of a few records other threads would only wait
            if not optimizes:
                connection.execute("PRAGMA disable_optimizer")
            return connection

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(duckdb, "connect", connect)
            self._connection = locked_connection()
        self._relations, self._prepared, self._numbers = {}, {}, count()

    def forget(self):
        for name in self._relations:
            self._connection.unregister(name)
        for name in filter(None, self._prepared.values()):
            self._connection.execute(f"DEALLOCATE {name}")
        self._relations, self._prepared = {}, {}

    def end(self):
        self.forget()
        self._connection.close()

    def run(self, statement, relations):
        """Run a statement as the library does; from the second time on without planning it again."""
        for name, relation in relations.items():
            if name in self._relations:
                self._relations[name].relation = relation
            else:
                self._relations[name] = Reread(relation)
                self._connection.register(name, self._relations[name])
        try:
            if statement not in self._prepared:
                self._prepared[statement] = None
                return self._connection.sql(statement).to_arrow_table()
            if self._prepared[statement] is None:
                name = f"statement_{next(self._numbers)}"
                self._connection.execute(f"PREPARE {name} AS {statement}")
                self._prepared[statement] = name
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")
                return self._connection.execute(f"EXECUTE {self._prepared[statement]}").to_arrow_table()
        finally:
            for kept in self._relations.values():
                kept.relation = kept.schema.empty_table()


class SharedEngine:
    """Stands for `locked_connection`; whoever is done closes it, and its databases stay open."""

    def __init__(self, optimizes):
        self._databases, self._registered, self._statement, self._optimizes = {}, {}, None, optimizes

    def __call__(self, *paths):
        return locked_connection(*paths) if paths else self  # a connection may read these files and no others

    def register(self, name, relation):
        self._registered[name] = relation

    def sql(self, statement):
        self._statement = statement
        return self

    def to_arrow_table(self):
        return self._database().run(self._statement, self._registered)

    def close(self):
        self._registered, self._statement = {}, None

    def end(self):
        """Close all databases: left open, the engine's bindings list at the end of the process what was not freed."""
        for database in self._databases.values():
            database.end()
        self._databases.clear()

    def _database(self):
        """Find the database for relations of these columns; else take the one that was not used for longest."""
        columns = tuple(sorted((name, str(relation.schema)) for name, relation in self._registered.items()))
        database = self._databases.pop(columns, None)
        if database is None and len(self._databases) < _MOST:
            database = Database(self._optimizes)
        elif database is None:
            database = self._databases.pop(next(iter(self._databases)))
            database.forget()
        self._databases[columns] = database
        return database


_engines = {optimizes: SharedEngine(optimizes) for optimizes in (True, False)}
for _engine in _engines.values():
    atexit.register(_engine.end)


def use_one_engine(patch, *, optimizes=True):
    """Let all tables be counted in one engine; one that does not optimize its plans has them in half the time."""
    for room in (engine, dataframes):
        patch.setattr(room, "locked_connection", _engines[optimizes])


@contextmanager
def in_one_engine():
    """Let all tables be counted in one engine.

    What is tested with it is what an engine does with records, not that every table gets an engine of its own.
    """
    with pytest.MonkeyPatch.context() as patch:
        use_one_engine(patch)
        yield
