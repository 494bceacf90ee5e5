"""Do the tests of the exact core see small mistakes in it? `make mutants`; docs/mutants.md explains what they miss.

Every module is broken in one place at a time (`mutations.py`), and the tests of its room (`rooms.py`) that run that
place are asked. All is loaded once; for each mistake a copy of the process (fork) puts the broken code into the
functions that are there, forgets what was worked out before, and runs tests until one fails: the mistake is then
*killed*. One that makes a test run into its limit of processor time is killed too. What is left has *survived*.
"""

import argparse
import ast
import contextlib
import functools
import gc
import importlib
import json
import os
import random
import re
import resource
import signal
import sys
import time
import types
from collections import Counter, defaultdict
from pathlib import Path

import coverage
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from support.mutations import mutants_of
from support.rooms import ROOMS, ROOT, TESTS

SOURCE = ROOT / "src" / "irisdp"
EXPLAINED = ROOT / "docs" / "mutants.md"
_ROW = re.compile(r"^\| (\S+) \| `(.*)` → `(.*)` \| .+ \|$", re.MULTILINE)
FEWEST_SECONDS, TIMES_AS_LONG = 10, 8
"""With a mistake each test may take so many seconds of processor time, and so many times what it takes without."""
MEMORY = 4 << 30
KILLED, SURVIVED = 3, 0


class Mutating:
    """Takes the place of pytest's loop over the tests."""

    def __init__(self, room, options):
        self.room, self.options, self.results = room, options, []
        self.explained, self.unexplained = set(_ROW.findall(EXPLAINED.read_text(encoding="utf-8"))), 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self):
        settings.register_profile(
            "mistakes", derandomize=True, deadline=None, database=None, phases=[Phase.explicit, Phase.generate]
        )
        settings.load_profile("mistakes")

    def pytest_runtestloop(self, session):
        gc.unfreeze()  # `tests/conftest.py` hides what was collected, and here the code of all of it is replaced
        self.items = {item.nodeid: item for item in session.items}
        for file in self.files():  # a room loads what it hands out when it is asked for
            importlib.import_module(module_name(file))
        loaded = {thing.__code__.co_filename for thing in gc.get_objects() if isinstance(thing, types.FunctionType)}
        assert loaded & set(map(str, self.files())), "mistakes would reach no function"
        self.ways, self.seconds = self.ways_of()
        tasks = [(file, mutant) for file in self.files() for mutant in self.chosen(file)]
        random.Random(self.room).shuffle(tasks)  # so that a run that is cut short has tried a part of every module
        running = {}
        while tasks or running:
            if self.options.seconds and sum(os.times()[:4]) > self.options.seconds:
                tasks.clear()
            while tasks and len(running) < self.options.jobs:
                file, mutant = tasks.pop(0)
                running[self.start(file, mutant)] = (file, mutant)
            if not running:
                break
            process, status = os.wait()
            file, mutant = running.pop(process)
            killed = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != SURVIVED
            self.results.append((file.stem, mutant, killed))
            if not killed:
                place = f"{self.room}/{file.name}"
                known = (place, mutant.was, mutant.now) in self.explained
                told = "explained" if known else "NOT EXPLAINED"
                print(f"{told}: {place}:{mutant.line}: `{mutant.was}` → `{mutant.now}`", flush=True)
                self.unexplained += not known
        return True

    def files(self):
        """The modules of the room, or those named; `__init__` is loaded before a mistake can be planted in it."""
        named = self.options.modules
        files = [file for file in sorted((SOURCE / self.room).glob("*.py")) if file.stem != "__init__"]
        return [file for file in files if not named or file.stem in named]

    def chosen(self, file):
        """As many mistakes of a module as were asked for, by lot, the same at every run; or those of a line."""
        found = mutants_of(file.read_text(encoding="utf-8"))
        if self.options.line:
            return [mutant for mutant in found if mutant.line == self.options.line]
        number = min(self.options.number or len(found), len(found))
        return sorted(random.Random(file.stem).sample(found, number), key=lambda mutant: mutant.line)

    def ways_of(self):
        """Which tests run which lines, and how long each takes: found once, in a process of its own."""
        path = self.options.folder / f"{self.room}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (self.options.again and path.exists()):
            process = os.fork()
            if not process:
                with forgiving_nothing():
                    path.write_text(json.dumps(self.watched()))
                os._exit(0)
            assert os.waitpid(process, 0)[1] == 0, "the tests fail without a mistake"
        found = json.loads(path.read_text())
        ways = {file: {int(line): tests for line, tests in lines.items()} for file, lines in found["ways"].items()}
        return ways, found["seconds"]

    def watched(self):
        watch = coverage.Coverage(data_file=None, source=[str(SOURCE / self.room)], config_file=False)
        watch.start()
        seconds = {}
        for item in self.items.values():
            watch.switch_context(item.nodeid)
            before = time.process_time()
            assert passes(item), item.nodeid
            seconds[item.nodeid] = time.process_time() - before
        watch.stop()
        data = watch.get_data()
        ways = {file: data.contexts_by_lineno(file) for file in data.measured_files()}
        return {"ways": ways, "seconds": seconds}

    def tests_of(self, file, mutant):
        """The tests that run a line, the quickest first; of what runs when it is loaded, all."""
        lines = self.ways.get(str(file), {})
        tests = [test for test in lines.get(mutant.line, ()) if test in self.items] or list(self.items)
        return sorted(tests, key=lambda test: self.seconds[test])

    def start(self, file, mutant):
        process = os.fork()
        if process:
            return process
        with forgiving_nothing():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            put(file, mutant.tree)
            for test in self.tests_of(file, mutant):
                limit = int(time.process_time() + FEWEST_SECONDS + TIMES_AS_LONG * self.seconds[test])
                resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
                if not passes(self.items[test]):
                    os._exit(KILLED)
        os._exit(SURVIVED)


@contextlib.contextmanager
def forgiving_nothing():
    """Say nothing, and call whatever goes wrong outside of a test a failure too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    except BaseException as error:
        try:
            os.write(2, f"{error!r}\n".encode())
        finally:  # whatever is left of memory
            os._exit(KILLED)


def passes(item):
    """Run one test."""
    return not any(report.failed for report in runtestprotocol(item, nextitem=None, log=False))


def put(file, tree):
    """Let the functions of a module that are there, and its constants, be those of a tree."""
    made = {}
    pending = [compile(tree, str(file), "exec")]
    while pending:
        code = pending.pop()
        made[code.co_qualname, code.co_firstlineno] = code
        pending += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename == str(file):
            thing.__code__ = made[thing.__code__.co_qualname, thing.__code__.co_firstlineno]
    put_constants(file, tree)
    for thing in gc.get_objects():
        if isinstance(thing, functools._lru_cache_wrapper):
            thing.cache_clear()


def module_name(file):
    return ".".join(("irisdp", *file.relative_to(SOURCE).with_suffix("").parts))


def put_constants(file, tree):
    """Work out again what a module calls by name, and tell those that have it from there."""
    module = sys.modules[module_name(file)]
    scope = dict(vars(module))
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        before = dict(scope)
        exec(compile(ast.Module([statement], []), str(file), "exec"), scope)
        for changed in [key for key in scope if key in before and scope[key] is not before[key]]:
            if scope[changed] == before[changed]:
                continue
            for other in list(sys.modules.values()):
                if getattr(other, "__name__", "").startswith("irisdp") and vars(other).get(changed) is before[changed]:
                    setattr(other, changed, scope[changed])


def main():
    """Break a room; fail where a mistake survives that is not explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", choices=list(ROOMS))
    parser.add_argument("modules", nargs="*", help="all of the room unless named")
    parser.add_argument("--number", type=int, help="so many mistakes of each module, by lot [default: all]")
    parser.add_argument("--line", type=int, help="those of one line")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, help="begin no further one after so much processor time")
    parser.add_argument("--without", action="append", default=[], help="a file of tests to leave out")
    parser.add_argument("--again", action="store_true", help="take which tests run what from the last time")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    options = parser.parse_args()
    os.environ["CI"] = "1"
    mutating = Mutating(options.room, options)
    tests = [str(TESTS / name) for name in ROOMS[options.room] if name not in options.without]
    pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", "--assert=plain", *tests], plugins=[mutating])
    tally = defaultdict(Counter)
    for module, _, killed in mutating.results:
        tally[module][killed] += 1
    for module, counted in sorted(tally.items()):
        print(f"{options.room}/{module}.py: {counted.total()} tried, {counted[True]} killed, {counted[False]} survived")
    whole = sum(tally.values(), Counter())
    print(
        f"{options.room}: {whole.total()} tried, {whole[True]} killed, {whole[False]} survived"
        f" ({sum(os.times()[:4]):,.0f} s of processor time)"
    )
    return 1 if mutating.unexplained or not whole else 0


if __name__ == "__main__":
    sys.exit(main())
