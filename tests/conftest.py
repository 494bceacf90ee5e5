"""Settings for all tests: continuous integration tries the same examples every time, people try new ones."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from support import parts, repeat
from support.ledgers import ledger, server
from support.parts import (
    pytest_collection_modifyitems,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_sessionfinish,
    pytest_terminal_summary,
)
from support.sweeps import tried

__all__ = [
    "ledger",
    "one_engine",
    "pytest_addoption",
    "pytest_collection",
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_runtest_logreport",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "server",
]

os.environ["COLUMNS"] = "400"  # what tests compare stays on one line; tests of layout set their own width

examples = tried(40, 100)
settings.register_profile("continuous integration", derandomize=True, deadline=None, max_examples=examples)
settings.register_profile("people", deadline=None, max_examples=examples)
settings.load_profile("continuous integration" if os.environ.get("CI") else "people")


def pytest_addoption(parser):
    parts.pytest_addoption(parser)
    repeat.pytest_addoption(parser)


def pytest_configure(config):
    repeat.pytest_configure(config)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    """Collect without looking for garbage, and never look through what was collected: it stays until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def tables_of_tests(tmp_path_factory):
    """Keep tables of chances with the other files of the tests, and leave the home of whoever runs them alone."""
    given = os.environ.get("IRISDP_CACHE")
    if given is None:
        os.environ["IRISDP_CACHE"] = str(tmp_path_factory.mktemp("tables"))
    yield
    if given is None:
        os.environ.pop("IRISDP_CACHE", None)


@pytest.fixture(autouse=True)
def wide_terminal():
    """Give every test the same width, whatever an earlier test left."""
    os.environ["COLUMNS"] = "400"


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory):
    """Let the commands that tests start find compiled modules, where Python is told to write none beside the source."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("PYTHONDONTWRITEBYTECODE") and "PYTHONPYCACHEPREFIX" not in os.environ:
            patch.delenv("PYTHONDONTWRITEBYTECODE")
            base = tmp_path_factory.getbasetemp()
            shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # by all processes of this run
            patch.setenv("PYTHONPYCACHEPREFIX", str(shared / "compiled"))
        yield


@pytest.fixture(scope="session", autouse=True)
def examples_unbound():
    """Let every test publish the tables of `examples` with a ledger of its own: no test may bind them for others."""
    from irisdp._ledger import bindings

    states, examples = bindings._states, Path(__file__).parents[1] / "examples"

    def elsewhere(*asked):
        return [one for one in states(*asked) if one.path.parent != examples]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bindings, "_states", elsewhere)
        yield


@pytest.fixture(scope="session", autouse=True)
def interrupts_heard():
    """Hear Ctrl-C as Python does by itself: a shell has what it starts in the background ignore it, children too."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def one_engine():
    """Let all tables of a module be counted in one engine; see `support.engine`."""
    from support.engine import in_one_engine

    with in_one_engine():
        yield


ONE_ENGINE = {
    "test_apply",
    "test_bad_input",
    "test_compare",
    "test_formats",
    "test_interpret",
    "test_messages",
    "test_names_of_groups",
    "test_publish",
    "test_quantile_query",
    "test_queries_expression",
    "test_reading_lists",
    "test_results",
    "test_sums",
    "test_within",
}
"""Files whose many tables are only counted: to open an engine for each takes longer than what they are about."""


@pytest.fixture(scope="module", autouse=True)
def one_engine_where_tables_are_only_counted(request):
    """Use `one_engine` in the files named above."""
    if request.path.stem in ONE_ENGINE:
        request.getfixturevalue("one_engine")
