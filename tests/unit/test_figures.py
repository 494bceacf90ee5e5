"""Figures of a plan are in one form, true, and rounded to the safe side, also where an ε is large."""

import pytest

from support.commands import irisdp as irisdp_command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes\nheard,3\nlost,12\n")
    return tmp_path


def said(query, epsilon):
    return irisdp_command(f"publish calls.csv {query} --epsilon {epsilon} --dry-run").out


def test_a_whole_number_has_no_point(here):
    shown = said("sum minutes --lower 0 --upper 60 --step 0.5", 50)
    assert "by at most 0 in 95 % of cases" in shown
    (row,) = (line.split()[5:] for line in shown.splitlines() if "in 95 % at most" in line)
    assert row == ["0"] * 5


def test_a_chance_beside_one_is_told_in_one_way(here):
    shown = said("plurality outcome --categories heard,lost", 25)
    (row,) = (line.split()[3:] for line in shown.splitlines() if "right, at worst" in line)
    assert row[-4:] == [">0.999"] * 4
    assert "0.999 " not in shown.replace(">0.999", "")


@pytest.mark.parametrize(("query", "words"), [
    ("plurality outcome --categories heard,lost,open", "below 1 % whatever the lead"),
    ("majority minutes>3", "below 1 % wherever the truth is"),
    ("at-least 5", "below 1 % wherever the truth is"),
    ("band 5,10", "below 1 % wherever the truth is"),
    ("top 1 outcome --categories heard,lost,open", "right in 99 % however close they are"),
    ("ranking outcome --categories heard,lost,open", "right in 99 % however close they are"),
])  # fmt: skip
def test_no_record_is_no_distance(here, query, words):
    assert words in said(query, 25)
    assert "0 records" not in said(query, 25)
    assert words not in said(query, 1)
