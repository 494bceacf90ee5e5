"""`make quick`: a part of every room, chosen by what tests cost the last time they were measured.

Of every test function as many cases run as fit into SHARE, spread over its parameters and at least one, unless one case
alone takes more than SLOW; of a file with nothing but slow tests, the least slow one. What a case costs stands in
`costs.json` beside, in seconds of processor time; functions that are not in it are new, and one case of them runs.
`make costs` measures again, `pytest --measure-costs FILE` what is in a file, and with `--quick` what would run, which
soon finds new ones that are slow. Nothing has to be marked, and a renamed or deleted function does no harm. Cases that
took much longer than was known are named at the end.
"""

import json
import os
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

TESTS = Path(__file__).parents[1]
COSTS = Path(__file__).with_name("costs.json")
SHARE = 0.02
"""Seconds for the cases of one function: about 60 s of the processor for all, and 20 s in each process to collect."""
SLOW = 0.1
"""Seconds of one case beyond which it waits for `make test`."""
ALWAYS = {"oracles/test_end_to_end_privacy.py::test_no_neighbours_can_be_told_apart": 3}
"""Cases of what outranks the rest, however slow: they lie in different queries."""

MEASURED = 4
"""Cases of each function that `make costs` runs."""
LEAST = 0.005
"""Seconds that a case is taken to cost at least: no function has more than four."""
ASTRAY = 10 * SLOW
"""Seconds of one quick case beyond which its function is named at the end: its cost is unknown or old."""

_measured = defaultdict(list)
_started = {}


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="run a part of every room, in about a minute")
    parser.addoption("--measure-costs", action="store_true", help="measure what the cases of each function cost")


def function_of(item):
    """Return a test function's name: room/file.py::function, or src/… for an example in a docstring."""
    file = item.path.relative_to(TESTS.parent).as_posix().removeprefix("tests/")
    return f"{file}::{getattr(item, 'originalname', item.name)}"


def spread(cases, number):
    """Return so many cases, evenly spread."""
    number = min(number, len(cases))
    return [cases[place * len(cases) // number] for place in range(number)]


def chosen(functions, costs):
    """Return which cases are quick: `functions` maps names to cases."""
    kept, files = [], defaultdict(list)
    for name, cases in functions.items():
        files[name.partition("::")[0]].append(name)
        cost = costs.get(name, SHARE)
        if name in ALWAYS:
            kept += spread(cases, ALWAYS[name])
        elif cost <= SLOW:
            kept += spread(cases, max(1, int(SHARE / max(cost, LEAST))))
    for names in files.values():
        least = min(names, key=lambda name: costs.get(name, 0))
        if costs.get(least, 0) > SLOW:
            kept.append(functions[least][0])
    return kept


def longest_first(items, costs):
    """Order files by their longest test, Spark's first, so that no process is left alone with one at the end.

    What is Spark's then stays in one process, for Java is slow to start.
    """
    longest = defaultdict(float)
    for item in items:
        longest[item.path] = max(longest[item.path], costs.get(function_of(item), 0))
    items.sort(key=lambda item: (item.path.parent.name != "spark", -longest[item.path]))


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        longest_first(items, json.loads(COSTS.read_text()))
    functions = defaultdict(list)
    for item in items:
        functions[function_of(item)].append(item)
    if config.getoption("--quick"):
        kept = chosen(functions, json.loads(COSTS.read_text()))
    elif config.getoption("--measure-costs"):
        kept = [item for cases in functions.values() for item in spread(cases, MEASURED)]
    else:
        return
    wanted = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
    items[:] = [item for item in items if item.nodeid in wanted]


def processor_time():
    """Seconds of this process and the children it waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    _started[item.nodeid] = processor_time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and (item.config.getoption("--measure-costs") or item.config.getoption("--quick")):
        report.cost = (function_of(item), processor_time() - _started[item.nodeid])
    return report


def pytest_runtest_logreport(report):
    if cost := getattr(report, "cost", None):
        _measured[cost[0]].append(cost[1])


def pytest_sessionfinish(session):
    if session.config.getoption("--measure-costs") and not hasattr(session.config, "workerinput"):
        measured = {name: round(mean(seconds), 3) for name, seconds in _measured.items()}
        costs = dict(sorted((json.loads(COSTS.read_text()) | measured).items()))
        lines = (f"{json.dumps(name)}: {cost}" for name, cost in costs.items())
        COSTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--quick"):
        costs = json.loads(COSTS.read_text())
        for name, seconds in sorted(_measured.items()):
            if max(seconds) > ASTRAY and name not in ALWAYS and costs.get(name, 0) <= SLOW:
                terminalreporter.write_line(f"{name} took {max(seconds):.1f} s: measure its file with --measure-costs")
