"""`pytest --repeat N`: run every test that draws N times, with new random numbers each time.

From the second run on, one of the n random words of a call is replaced by the quantile 2^-20/n or 1 - 2^-20/n. A few
runs then find what would fail once in a million. A test that fails here depends on luck.

A test draws if random words of the operating system, or a new secret, are read in this process while the test or one
of its fixtures runs. Tests that take more than SLOW seconds of processor time run twice; the summary names them, so
that their chance of failing can be computed instead. What child processes draw is not seen.
"""

import os
import random
import secrets
from types import SimpleNamespace

import pytest
from _pytest.runner import runtestprotocol

from irisdp._ledger.fingerprints import SECRET_BYTES
from irisdp._sampling.bits import OperatingSystemBits

SLOW = 0.5
"""Seconds of processor time beyond which a test is not repeated."""
RARE = 20
"""Bits of the probability of a tail."""
TWICE = "draws, too slow to repeat"


def processor_time():
    """Seconds of this process and the children it waited for."""
    return sum(os.times()[:4])


class Repeat:
    """Count what is drawn, and repeat the tests that draw."""

    def __init__(self, times):
        self.times, self.drawn, self.shared, self.tail = times, 0, set(), None
        words, token = OperatingSystemBits.words, secrets.token_bytes

        def counted_words(source, count):
            self.drawn += 1
            drawn = words(source, count)
            if self.drawn == self.tail and count:
                drawn = drawn.copy()
                low = (1 << (64 - RARE - (count - 1).bit_length())) - 1
                drawn[random.randrange(count)] = random.choice([low, 2**64 - 1 - low])
            return drawn

        def counted_token(size=None):
            self.drawn += size == SECRET_BYTES
            return token(size)

        OperatingSystemBits.words, secrets.token_bytes = counted_words, counted_token

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        before = self.drawn
        value = yield
        if self.drawn > before and fixturedef.scope != "function":
            self.shared.add(fixturedef)
        return value

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item, nextitem):
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        before, chain = self.drawn, item.listchain()[:-1]
        reports = runtestprotocol(item, nextitem=SimpleNamespace(listchain=lambda: chain), log=False)
        calls = self.drawn - before
        used = {fixture for each in item._fixtureinfo.name2fixturedefs.values() for fixture in each} & self.shared
        again = chain[:1] if used else chain  # fixtures of a module draw again only if it is torn down
        for _ in range(self.times - 1 if calls or used else 0):
            if any(report.failed for report in reports):
                break
            self.tail, start = self.drawn + random.randint(1, max(1, calls)), processor_time()
            item._initrequest()
            reports = runtestprotocol(item, nextitem=SimpleNamespace(listchain=lambda: again), log=False)
            if (seconds := processor_time() - start) > SLOW:  # the first run may have loaded a library
                reports[-1].user_properties.append((TWICE, f"{item.nodeid} ({seconds:.1f} s)"))
                break
        self.tail = None
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.session._setupstate.teardown_exact(nextitem)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def pytest_terminal_summary(self, terminalreporter):
        reports = (report for many in terminalreporter.stats.values() for report in many)
        for name, what in (each for report in reports for each in getattr(report, "user_properties", ())):
            if name == TWICE:
                terminalreporter.write_line(f"{TWICE}: {what}")


def pytest_addoption(parser):
    """Add `--repeat`."""
    parser.addoption("--repeat", type=int, default=0, metavar="N", help="run each test that draws N times")


def pytest_configure(config):
    """Repeat tests if the option says so."""
    if times := config.getoption("--repeat"):
        config.pluginmanager.register(Repeat(times), "repeat")
