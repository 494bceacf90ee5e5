"""Parts of the tests: what `make quick` runs in a minute, and `make test` in a few; `make whole` runs everything.

Of every test function as many cases run as fit into the part's `share` of seconds, spread over its parameters and at
least one. A function of which one case alone takes more than `slow` seconds waits for `make whole`; of a file with
nothing but such functions the fastest one runs, unless it takes five times as long. What a case costs stands in
`costs.json` beside, in seconds by the clock: `make costs` measures again, `pytest --measure-costs FILE` what is in a
file. Of a function that is not in it, which is new, `make quick` runs one case and `make test` all. Nothing has to be
marked, and a renamed or deleted function does no harm. Cases that took much longer than was known are named at the end.

`make test` runs every case of a test that plants a mistake and sees it caught, as its name, its class or the first line
of its docstring says; every case of all golden files; and more of the proofs by exhaustion, on which all else stands.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import pytest

TESTS = Path(__file__).parents[1]
COSTS = Path(__file__).with_name("costs.json")


@dataclass(frozen=True)
class Part:
    """How much of the tests runs."""

    share: float
    """Seconds for the cases of one function."""
    slow: float
    """Seconds of one case beyond which its function is left out."""
    unknown: float
    """Seconds that a case of a new function is taken to cost."""
    important: dict[str, float] = field(default_factory=dict)
    """Shares of functions whose name, class or first line of a docstring matches, however slow a case is."""

    def number(self, said, cases, cost):
        """Return how many of the cases of a function to run; `said` is what `said_of` returns."""
        share = next((share for pattern, share in self.important.items() if re.search(pattern, said)), None)
        if share is None and cost > self.slow:
            return 0
        return int(max(1, min(cases, (share or self.share) / max(cost, LEAST))))


LEAST = 0.005
"""Seconds that a case is taken to cost at least."""
WHOLE = float("inf")
PARTS = {
    "quick": Part(0.01, 0.05, 0.01, {"test_end_to_end_privacy.py::test_no_neighbours_can_be_told_apart$": 1}),
    "test": Part(0.15, 1.5, 0, {
        r"::.*(caught|catch|noticed|[Pp]lant|[Nn]egative control)": WHOLE,
        "^golden/": WHOLE,
        "^oracles/test_end_to_end_": 2,
        "test_dry_run_is_charged_alike": 5,
        r"test_(registries|release_file|option_table|messages)\.py": 2,
        "test_survival.py::test_(kills_at_random|every_single_operation|a_plan_that_is_killed|crowd_spends)": 1,
    }),
}  # fmt: skip

MEASURED = 4
"""Cases of each function that `make costs` runs."""
ASTRAY = 10
"""Times the seconds of its part's `slow` beyond which a case is named at the end: its cost is unknown or old."""

_measured = defaultdict(list)


def pytest_addoption(parser):
    parser.addoption("--part", choices=PARTS, help="run a part of every room: see tests/support/parts.py")
    parser.addoption("--measure-costs", action="store_true", help="measure what the cases of each function cost")


def function_of(item):
    """Return a test function's name: room/file.py::function, or src/… for an example in a docstring."""
    file = item.path.relative_to(TESTS.parent).as_posix().removeprefix("tests/")
    return f"{file}::{getattr(item, 'originalname', item.name)}"


def said_of(name, item):
    """Return a function's name, its class, and the first line of its docstring."""
    function = getattr(item, "function", None)
    owner = getattr(getattr(item, "cls", None), "__name__", "")
    return " ".join([name, owner, *(getattr(function, "__doc__", None) or "").strip().splitlines()[:1]])


def spread(cases, number):
    """Return so many cases, evenly spread."""
    number = min(number, len(cases))
    return [cases[place * len(cases) // number] for place in range(number)]


def chosen(functions, costs, part):
    """Return which cases are in a part: `functions` maps names to cases."""
    kept, files = [], defaultdict(list)
    for name, cases in functions.items():
        number = part.number(said_of(name, cases[0]), len(cases), costs.get(name, part.unknown))
        kept += spread(cases, number) if number else []
        files[name.partition("::")[0]].append((costs.get(name, 0), name, number))
    for functions_of_file in files.values():
        cost, fastest, _ = min(functions_of_file)
        if not any(number for _, _, number in functions_of_file) and cost <= 5 * part.slow:
            kept.append(functions[fastest][0])
    return kept


def longest_first(items, costs):
    """Order files by their longest test, Spark's first, so that no process is left alone with one at the end.

    What is Spark's then stays in one process, for Java is slow to start.
    """
    longest = defaultdict(float)
    for item in items:
        longest[item.path] = max(longest[item.path], costs.get(function_of(item), 0))
    items.sort(key=lambda item: (item.path.parent.name != "spark", -longest[item.path]))


def known_costs():
    return json.loads(COSTS.read_text())


def pytest_collection_modifyitems(config, items):
    functions = defaultdict(list)
    for item in items:
        functions[function_of(item)].append(item)
    if part := PARTS.get(config.getoption("--part")):
        kept = chosen(functions, known_costs(), part)
    elif config.getoption("--measure-costs"):
        kept = [item for cases in functions.values() for item in spread(cases, MEASURED)]
    else:
        kept = items
    wanted = {item.nodeid for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
    items[:] = [item for item in items if item.nodeid in wanted]
    if hasattr(config, "workerinput"):
        longest_first(items, known_costs())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        report.function = function_of(item)
    return report


def pytest_runtest_logreport(report):
    if function := getattr(report, "function", None):
        _measured[function].append(report.duration)


def pytest_sessionfinish(session):
    if session.config.getoption("--measure-costs") and not hasattr(session.config, "workerinput"):
        measured = {name: round(mean(seconds), 3) for name, seconds in _measured.items()}
        costs = dict(sorted((known_costs() | measured).items()))
        lines = (f"{json.dumps(name)}: {cost}" for name, cost in costs.items())
        COSTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def pytest_terminal_summary(terminalreporter, config):
    if part := PARTS.get(config.getoption("--part")):
        costs = known_costs()
        for name, seconds in sorted(_measured.items()):
            if max(seconds) > ASTRAY * part.slow >= costs.get(name, 0):
                terminalreporter.write_line(f"{name} took {max(seconds):.1f} s: measure its file with --measure-costs")
