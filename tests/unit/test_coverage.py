"""The page on coverage says what the library does today: ends hold as often as promised, and narrower ones do not."""

import importlib.util
import sys
from pathlib import Path

import pytest
from scipy import stats

from irisdp._measurements import confidence as assured

DOCS = Path(__file__).parents[2] / "docs"
RUNS = 60
"""Some hundreds of ends for most questions: a promise that is missed by a tenth is found."""
UNLIKELY = 1e-7


def kept(found):
    """Whether so many ends that hold are no evidence against the promise."""
    return stats.binom.cdf(found.held, found.total, float(found.promised)) > UNLIKELY


@pytest.fixture
def program(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    found = {}
    for name in ("elections", "coverage"):
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        found[name] = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, found[name])  # which dataclasses look up
        spec.loader.exec_module(found[name])
    return found["coverage"]


@pytest.fixture
def study(program):
    return program.elections.read_study()


def test_every_question_keeps_its_promise_on_the_page_and_today(program, study):
    page = (DOCS / "coverage.md").read_text(encoding="utf-8")
    for question in program.NUMBERS:
        (row,) = [line for line in page.splitlines() if line.startswith(f"| {question.about} |")]
        shares = [float(cell.split()[0]) for cell in row.strip("| ").split("|")[1:]]
        assert len(shares) == len(program.EPSILONS)
        assert min(shares) >= 0.94
        assert kept(question.coverage(study, "1", "0.95", RUNS))
    assert (DOCS / "figures" / "coverage.svg").read_text(encoding="utf-8").startswith("<svg")


def test_ends_that_are_too_narrow_are_found(program, study, monkeypatch):
    """Negative control: the ends of half the distance."""
    real = assured.assured_distance
    monkeypatch.setattr(assured, "assured_distance", lambda mechanism, confidence: real(mechanism, confidence) // 2)
    counts, *_ = program.NUMBERS
    assert not kept(counts.coverage(study, "0.5", "0.95", RUNS))


@pytest.mark.parametrize("place", [0, 3])
def test_the_stated_probability_is_not_above_what_is_measured(place, program, study):
    stated, worst, mean = program.stated_and_measured(study, program.elections.QUESTIONS[place], "1", RUNS)
    assert stated <= worst + 4 * 0.5 / RUNS**0.5
    assert worst <= mean
