"""What a page says of sidecars that few steps of `publish` lead to, each sentence with its scope."""

import itertools
import re

import pytest

from irisdp._views.reports.batch_pages import plan_page
from irisdp._views.reports.inputs import File, Given
from irisdp._views.reports.page import page
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
        ({"epsilon": "1", "delta": "0"}, "k times less: ε counts k times."),
        ({"epsilon": "1", "delta": "1e-6"}, "less: ε counts k times, and δ more than k times."),
        ({"mu_squared": "1"}, "k times less: μ counts k times."),
        ({"rho": "1"}, "less: ρ counts k² times."),
    ],
)
def test_how_much_less_several_records_are_protected_follows_from_the_currency(cost, less):
    assert f"Each person has one record. A person with k records is protected {less}" in said(cost=cost)


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
    assert f"of 100 rows, at most {missed} miss the truth on average" in told


def test_answers_that_are_in_no_file_are_not_said_to_be_in_one():
    many = "2,000 published answers to: count. The first 1,000 are shown; the others"
    assert f"{many} are in the file" in said(rows=2000)
    assert f"{many} come when the same is asked again, at no cost" in said(rows=2000, files=())


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


def planned(*others):
    """Write the page of a plan: a question for each change of the sidecar, one row each."""
    given = []
    for other in others:
        files, row = other.pop("files", FILES), other.pop("row", ("t0", "7", "4", "10"))
        given.append(Given(SIDECAR | other, tuple(SIDECAR["columns"])[-len(row) :], (row,), files))
    return plan_page(given, [None] * len(given), "weekly")


def test_a_plan_says_which_answers_are_in_no_file_and_how_they_get_into_one():
    read = ReadPage(planned({}, {"files": ()}, {"files": ()})).text
    assert "Questions 2, 3: the answers were written to no file but this page. The steward can name files in" in read
    assert "were written to no file" not in ReadPage(planned({}, {})).text


def test_a_plan_says_which_answers_are_not_drawn(monkeypatch):
    monkeypatch.setattr("irisdp._views.reports.page.drawn", lambda given: None)
    many = "The answers of the first 40 questions are drawn; those of all stand in tables."
    assert many in ReadPage(planned(*({} for _ in range(41)))).text
    assert many not in ReadPage(planned(*({} for _ in range(40)))).text


def test_a_plan_says_whose_mechanism_a_command_is_for_and_what_its_digest_is():
    rows = "2" * 64
    asked = {"query": "apply", "mechanism": "m.json"}
    read = ReadPage(
        planned({"mechanism": {"kind": "x"}}, {"query": asked, "mechanism": {"kind": "designed", "sha256": rows}})
    ).text
    assert "Audit the mechanism file of question 2 that was used; the digest of its rows is below" in read
    assert f"Digest of the mechanism's rows of question 2: {rows}" in read
    assert "What do the answers of question 2 say to you?" in ReadPage(planned({"files": ()}, {})).text


def test_what_a_plan_takes_for_granted_is_said_under_each_heading_once_after_the_other():
    read = planned({}, {"unit": "who", "at_most": 1}, {"relation": "exchange"})
    told = read[read.index("What was taken for granted") :]
    names = re.findall("<dt>(.*?)</dt>", told[: told.index("</dl>")])
    assert names.count("Persons") > 1
    assert [name for name, _ in itertools.groupby(names)] == list(dict.fromkeys(names))


@pytest.mark.parametrize(
    ("row", "short"),
    [(("7", "4", "10"), "7 (4 to 10)"), (("7", "4", ""), "7 (4 to no end)"), (("7", "", "10"), "7 (no end to 10)")],
)
def test_an_answer_in_short_says_where_it_has_no_end(row, short):
    assert short in ReadPage(planned({"row": row, "by": []})).cells


def test_a_cost_is_broken_between_its_numbers_and_within_none():
    written = planned({"cost": {"epsilon": "0.123456789", "delta": "1e-6"}}, {"cost": {"epsilon": "1", "delta": "0"}})
    assert '<span class="whole">ε = 0.123456789,</span> <span class="whole">δ = 0.000001</span>' in written


def test_what_counts_and_sums_do_not_say_is_not_said_of_means():
    assert "That rows add up to a total" in said() and "or that a row of 1 is one person" in said()
    mean = said(query={"query": "mean", "column": "pay"})
    assert "That rows add up to a total" not in mean and "or that a row of 1 is one person" not in mean
