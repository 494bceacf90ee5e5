"""Settings for all tests: continuous integration tries the same examples every time, people try new ones."""

import os

from hypothesis import settings

from support.quick import (
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_runtest_logreport,
    pytest_runtest_makereport,
    pytest_runtest_setup,
    pytest_sessionfinish,
    pytest_terminal_summary,
)

__all__ = [
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_runtest_logreport",
    "pytest_runtest_makereport",
    "pytest_runtest_setup",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
]

settings.register_profile("continuous integration", derandomize=True, deadline=None)
settings.register_profile("people", deadline=None)
settings.load_profile("continuous integration" if os.environ.get("CI") else "people")
