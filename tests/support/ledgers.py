"""Where tests keep ledgers: in files, and on a server, so that each test of what a ledger promises is one of both."""

import contextlib
from collections.abc import Iterator

import pytest

from irisdp import Ledger
from support.postgresql import Server, lacking, started


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of the tests' own, started when the first test asks for one."""
    missing = lacking()
    if missing:
        pytest.skip(missing)
    with started() as running:
        yield running


@pytest.fixture(params=["in a file", "on a server"])
def ledger(request, tmp_path) -> Iterator[Ledger]:
    """A ledger that is not there yet, in each of the two places; what a server kept is removed afterwards."""
    if request.param == "in a file":
        yield Ledger(tmp_path / "a strange?name#100%.ledger")
        return
    running = request.getfixturevalue("server")
    book = Ledger(running.address())
    yield book
    with contextlib.suppress(Exception):
        running.execute(f'DROP SCHEMA IF EXISTS "{book.store.address.schema}" CASCADE')


@pytest.fixture
def path(ledger):
    """The place of `ledger`, as callers name it."""
    return ledger.place
