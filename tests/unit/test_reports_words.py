"""What a page says of sidecars that few steps of `publish` lead to, each sentence with its scope."""

import pytest

from irisdp.reports.given import File, Given
from irisdp.reports.page import page
from support.read_pages import ReadPage

SIDECAR = {
    "query": {"query": "count"},
    "by": ["town"],
    "groups": {"declared": 2},
    "unit": None,
    "relation": "add-remove",
    "columns": ["town", "answer", "answer_low", "answer_high"],
    "privacy": {"epsilon": "1", "delta": "0"},
    "mechanism": {"kind": "geometric-noise"},
    "cost": {"epsilon": "1", "delta": "0"},
    "expected_error": {"mean_absolute": 0.85},
    "assurance": {"promise": "with probability 95 % or more", "confidence": "0.95"},
    "ledger": {"id": 1},
}
FILES = (File("a.csv", "0" * 64), File("a.csv.release.json", "1" * 64))


def made(rows=2, files=FILES, **other):
    answers = tuple((f"t{place}", "7", "4", "10") for place in range(rows))
    return page(Given(SIDECAR | other, tuple(SIDECAR["columns"]), answers, files))


def said(**other):
    return ReadPage(made(**other)).text


@pytest.mark.parametrize(
    ("cost", "less"),
    [
        ({"epsilon": "1", "delta": "0"}, "k times less: the odds' factor is raised to the k."),
        ({"epsilon": "1", "delta": "1e-6"}, "less: ε counts k times, and δ more than k times."),
        ({"mu_squared": "1"}, "k times less: μ counts k times."),
        ({"rho": "1"}, "less: ρ counts k² times."),
    ],
)
def test_how_much_less_several_records_are_protected_follows_from_the_currency(cost, less):
    assert f"Each person has one record. Whoever has k is protected {less}" in said(cost=cost)


def test_a_delta_is_said_to_mean_what_the_command_line_says():
    much = "With probability up to 32.78 % an answer gives one person away for certain, however small ε is: that is"
    assert f"{much} much." in said(cost={"epsilon": "0.05", "delta": "0.327732269083"})
    few = said(cost={"epsilon": "1", "delta": "1e-6"})
    assert "With probability up to 1e-6 an answer gives one person away for certain, however small ε is." in few
    for cost in (SIDECAR["cost"], {"rho": "1"}, {"mu_squared": "1"}):
        assert "away for certain" not in said(cost=cost)


@pytest.mark.parametrize(
    ("confidence", "missed"), [("0.95", "5"), ("0.99999", "0.001"), ("0.87654321", "12.4"), ("2/3", "33.4")]
)
def test_how_many_rows_may_miss_the_truth_is_rounded_up(confidence, missed):
    told = said(assurance={"promise": "surely", "confidence": confidence})
    assert f"of a hundred rows, about {missed} may miss the truth" in told


def test_answers_that_are_in_no_file_are_not_said_to_be_in_one():
    many = "2,000 published answers to: count. The first 1,000 are shown; the others"
    assert f"{many} are in the file" in said(rows=2000)
    assert f"{many} come when the question is asked again, at no cost" in said(rows=2000, files=())


def test_letters_that_mean_something_elsewhere_mean_nothing_here():
    unit = "a`b`|*[x](javascript:0)"
    assert f"That there are so many records, or so many different values of {unit} with such" in said(unit=unit)


def test_what_can_be_typed_is_set_as_code():
    column = {"query": {"query": "column", "column": "town"}, "categories": {"declared": 2}, "by": [], "groups": None}
    beside = {"columns": ["answer", "answer_probability"], "assurance": {"promise": "sure", "confidence": None}}
    written = made(**column, **beside)
    assert "a record in none of them is answered as <code>other</code>." in written
    assert "<code>irisdp interpret</code> estimates" in written
    assert "`" not in ReadPage(written).text
