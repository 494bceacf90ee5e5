"""Answers about a text file with missing values, at an ε with next to no noise, equal those of a plain reading."""

import csv

import pytest

import irisdp
from support.seeds import fresh_random

SPELLINGS = ["", "NA", "null", "01", "1", "1E2", "-7.5", "rain", " rain", "Rain"]


def number(text):
    """Read a number as the manual says; what is none is None."""
    try:
        return float(text)
    except ValueError:
        return None


@pytest.mark.parametrize("seed", range(3))
def test_answers_equal_a_plain_reading(seed, tmp_path):
    pick = fresh_random(seed)
    file = tmp_path / "t.csv"
    with file.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["Body Mass (g)", "état"])
        table.writerows([pick.choice(SPELLINGS), pick.choice(SPELLINGS)] for _ in range(60))
    with file.open(newline="", encoding="utf-8") as stream:
        records = list(csv.DictReader(stream))
    masses = [value for record in records if (value := number(record["Body Mass (g)"])) is not None]
    states = [record["état"] for record in records]
    declared = SPELLINGS[1:]

    def published(*words, **options):
        return irisdp.publish(file, *words, epsilon=400, ledger=tmp_path / "l.ledger", **options).answers.values

    assert published("count") == [60]
    assert published("count", "état IS NULL") == [states.count("")]
    assert published("count", "état IS NULL OR état = 'NA'") == [states.count("") + states.count("NA")]
    assert published("count", '"Body Mass (g)" > 0.5') == [sum(value > 0.5 for value in masses)]
    assert published("count-distinct", "état") == [len({*states} - {""})]
    assert published("count", by="état", groups=declared) == [states.count(value) for value in declared]
    assert published("sum", "Body Mass (g)", lower=-10, upper=100, step="0.5") == [sum(masses)]
    bins = [sum(value < 0 for value in masses), sum(0 <= value < 50 for value in masses)]
    assert published("histogram", "Body Mass (g)", bins="0,50") == [*bins, len(masses) - sum(bins)]
