"""The form of one question: every question of a plan opens in it and comes back the same."""

import json
import shlex
from datetime import date
from decimal import Decimal
from itertools import chain

import pytest

import irisdp
from irisdp._explorer.forms import stands
from irisdp._explorer.question_form import FIELDS, question_of, toml_value, values_of
from irisdp._queries import FORMS
from irisdp._release import dry_run_plan
from irisdp._release.plan_file import read_run
from irisdp.design import from_spec

HEADER = "age,visits,income,party,surname,person,vote,ward,sex,town,born,hours,rate\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "survey.csv").write_text(HEADER)
    return tmp_path


def plan_file(folder, question):
    """Write a plan of one question; the query column answers about each record, whose number is then public."""
    dataset = {"data": "survey.csv", "relation": "exchange" if question["query"].startswith("column") else "add-remove"}
    parts = {"[datasets.survey]": dataset, "[[questions]]": question}
    lines = [[head, *(f"{key} = {toml_value(value)}" for key, value in part.items())] for head, part in parts.items()]
    path = folder / "test.plan.toml"
    path.write_text("\n".join(chain.from_iterable(lines)) + "\n", encoding="utf-8")
    return path


def canonical(folder, question):
    """Return the question as a ledger would write it, through the plan file: independent of the form."""
    (asked,) = read_run(plan_file(folder, question)).questions
    options = {name: value for name, value in asked.options.items() if name != "labels"}
    return irisdp.plan(folder / "survey.csv", *asked.words, **options).question()


def of_example(form):
    """Return the example of a query as a question of a plan."""
    words = shlex.split(form.example)
    plain = words[: next((place for place, word in enumerate(words) if word.startswith("--")), len(words))]
    options = words[len(plain) :]
    question = {"query": " ".join(plain)} | {
        name.removeprefix("--"): value for name, value in zip(options[::2], options[1::2], strict=True)
    }
    return question if form.name == "apply" else question | {"epsilon": 1}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_example_of_every_query_opens_in_the_form_and_passes_a_dry_run(form, folder):
    if form.name == "apply":
        mechanism = from_spec({"kind": "geometric", "n": 5, "privacy": {"epsilon": 1}})
        (folder / "mechanism.json").write_text(json.dumps(mechanism.to_document()))
    question = of_example(form)
    values = values_of(question)
    assert values["query"] == form.name
    assert values["more"] == ""
    assert values["accuracy"] == ("share" if form.name == "apply" else "epsilon")
    again = question_of(values)
    assert canonical(folder, again) == canonical(folder, question)
    outlook = dry_run_plan(plan_file(folder, again))
    assert len(outlook.questions) == 1


QUESTIONS = {
    "a condition within the query": {"query": "count vote = 1", "epsilon": Decimal("0.5")},
    "where": {"query": "count", "where": "vote = 1", "epsilon": "1/4"},
    "a condition of several lines": {"query": "count", "expression": "vote = 1\n  AND age > 3", "epsilon": 1},
    "numbers within the query": {"query": "quantile 1/4 age vote = 1", "bins": [18, Decimal("40.5")], "epsilon": 1},
    "several numbers": {"query": "quantiles 0.25, 0.5 age", "bins": "18,65", "expression": "vote = 1", "epsilon": 1},
    "thresholds": {"query": "band 10, 100 vote = 1", "epsilon": 1},
    "at least none": {"query": "at-least 0 vote = 1", "epsilon": 1},
    "an expression for a column": {
        "query": "sum pay = hours * rate", "lower": 0, "upper": 100, "step": Decimal("0.5"), "epsilon": 1,
        "expression": "vote = 1",
    },
    "a missing value and a weight": {
        "query": "mean age", "lower": 0, "upper": 99, "step": 1, "missing": 0, "weight": "hours", "weight_upper": 60,
        "epsilon": 1,
    },
    "groups as numbers": {"query": "count", "by": "ward", "groups": [1, 2], "epsilon": 1},
    "groups as texts": {"query": "count", "by": ["ward"], "groups": ["north", "the east"], "epsilon": 1},
    "one group": {"query": "count", "by": ["ward"], "groups": ["north"], "epsilon": 1},
    "groups with marks": {"query": "count", "by": "ward", "groups": ["a,b", '"c" d', " e ", "a.csv"], "epsilon": 1},
    "groups of two columns": {"query": "count", "by": "ward, sex", "groups": ["ward=a,b", "sex=f,m"], "epsilon": 1},
    "groups as rows": {"query": "count", "by": ["ward", "sex"], "groups": [["a", "f"], ["b", "m"]], "epsilon": 1},
    "an expression for a group": {
        "query": "count", "by": ["ward", "band = CASE WHEN age < 18 THEN 'a, b' ELSE 'c' END"],
        "groups": [["a", "c"]], "epsilon": 1,
    },
    "dates as bins": {"query": "histogram born", "bins": [date(1950, 1, 1), date(2000, 1, 1)], "epsilon": 1},
    "categories as numbers": {"query": "plurality party", "categories": [0, 1, 2], "epsilon": 1},
    "groups to be discovered": {
        "query": "count", "by": "town", "select-groups": True, "epsilon": 1, "delta": "1e-6",
    },
    "selection apart": {
        "query": "count", "by": "town", "select_groups": True, "selection-epsilon": "1/2", "selection_delta": "1e-7",
        "epsilon": 1, "delta": "1e-6",
    },
    "a wanted error": {"query": "count", "within": 5, "confidence": Decimal("0.9")},
    "a wanted error of a mean": {
        "query": "mean age", "lower": 0, "upper": 99, "step": 1, "within": 2, "records": 100,
    },
    "bounded noise": {"query": "count", "within": 30, "epsilon": 1},
    "Gaussian noise": {"query": "count", "mu": 1, "delta": "1e-6"},
    "several pairs": {
        "query": "count", "privacy": {"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}, "delta": "1e-4",
    },
    "a ratio": {"query": "count", "ratio": 2},
    "one audience": {"query": "count", "audience": "board", "epsilon": 1},
    "two audiences at one ε": {"query": "count", "audiences": ["board", "press"], "epsilon": 1},
    "audiences with an ε each": {"query": "count", "audience": {"board": 2, "press": Decimal("0.5")}},
    "audiences as texts": {"query": "count", "audience": ["board=2", "press=1/3"]},
}  # fmt: skip
"""What plans hold besides the examples; none has a unit, which is said of the dataset."""


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_questions_of_plans_come_back_as_the_same_question_to_a_ledger(question, folder):
    values = values_of(question)
    again = question_of(values)
    assert canonical(folder, again) == canonical(folder, question)
    assert values_of(again) == values
    assert all(values[field.name] == field.default for field in FIELDS if not stands(field, values))


OF_PERSONS = [
    {"query": "count", "expression": "vote = 1", "at_most": 1},
    {"query": "count", "by": "ward", "groups": "a,b", "at-most": 3, "max_partitions": 2},
    {"query": "count", "expression": "vote = 1", "per_unit": "all"},
    {"query": "count", "expression": "vote = 1", "per_unit": "any", "at_most": 1},
    {"query": "mean trips", "person": "trips = COUNT(*)", "lower": 0, "upper": 9, "step": 1},
    {"query": "sum visits", "per_person_upper": 20, "step": 1},
]


@pytest.mark.parametrize("question", OF_PERSONS, ids=str)
def test_questions_about_persons_come_back(question, folder):
    question = {**question, "epsilon": 1}

    def asked(one):
        (found,) = read_run(plan_file(folder, one)).questions
        options = {name: value for name, value in found.options.items() if name != "labels"}
        return irisdp.plan(folder / "survey.csv", *found.words, **options, unit="person").question()

    again = question_of(values_of(question))
    assert asked(again) == asked(question)
