"""The form of one question: every question of a plan opens in it and comes back the same."""

import json
import shlex
import tomllib
from datetime import date
from decimal import Decimal
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

import irisdp
from irisdp import BadInput
from irisdp._exact import rational
from irisdp._explorer.draft import new_draft
from irisdp._explorer.form_errors import WrongForm, all_in_words
from irisdp._explorer.forms import read_values, stands
from irisdp._explorer.question_fields import FIELDS
from irisdp._explorer.question_form import prefilled, question_of, values_of
from irisdp._explorer.question_lists import toml_value
from irisdp._queries import FORMS
from irisdp._release import dry_run_plan
from irisdp._release.plan_file import QUESTION_KEYS, read_run
from irisdp.design import from_spec

HEADER = "age,visits,income,party,surname,person,vote,ward,sex,town,born,hours,rate,seen (UTC)\n"


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


def test_a_mechanism_file_takes_no_share_of_a_budget():
    draft = new_draft("survey.csv", "survey", {}).with_question(values_of({"query": "apply mechanism.json"}))
    draft = draft.with_question(values_of({"query": "count"}))
    assert [one.shares for one in draft.questions] == [False, True]


QUESTIONS = {
    "a condition within the query": {"query": "count vote = 1", "epsilon": Decimal("0.5")},
    "where": {"query": "count", "where": "vote = 1", "epsilon": "1/4"},
    "a condition of several lines": {"query": "count", "expression": "vote = 1\n  AND age > 3", "epsilon": 1},
    "numbers within the query": {"query": "quantile 1/4 age vote = 1", "bins": [18, Decimal("40.5")], "epsilon": 1},
    "several numbers": {"query": "quantiles 0.25, 0.5 age", "bins": "18,65", "expression": "vote = 1", "epsilon": 1},
    "thresholds": {"query": "band 10, 100 vote = 1", "epsilon": 1},
    "at least none": {"query": "at-least 0 vote = 1", "epsilon": 1},
    "a name that looks like a condition": {"query": "count-distinct seen (UTC)", "epsilon": 1},
    "a column in quotes": {"query": 'count-distinct "seen (UTC)" vote = 1', "epsilon": 1},
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


@pytest.mark.parametrize(("values", "query"), [
    ({"query": "plurality", "column": "seen (UTC)"}, 'plurality "seen (UTC)"'),
    ({"query": "plurality", "column": "seen (UTC)", "condition": "vote = 1"}, 'plurality "seen (UTC)"'),
    ({"query": "plurality", "column": "home town", "condition": "vote = 1"}, "plurality home town"),
    ({"query": "sizes", "column": "2020 total"}, 'sizes "2020 total"'),
    ({"query": "sizes", "sizes": "2", "column": "2020 total"}, "sizes 2 2020 total"),
    ({"query": "plurality", "column": "age > 64 is"}, 'plurality "age > 64 is"'),
])  # fmt: skip
def test_a_column_is_one_whatever_it_is_called(values, query, folder):
    (folder / "survey.csv").write_text("vote,seen (UTC),home town,2020 total,age > 64 is\n")
    values = {**values, "categories": "a, b", "accuracy": "epsilon"}
    question = question_of(values)
    assert question["query"] == query
    told = json.loads(canonical(folder, question))
    assert told["query"]["column"] == values["column"]
    assert ("expression" in told["query"]) == ("condition" in values)
    again = values_of(question)
    assert {name: again[name] for name in values} == values


def test_a_condition_in_the_field_of_the_column_is_no_column(folder):
    question = question_of(
        {"query": "plurality", "column": "party age > 64", "categories": "A, B", "accuracy": "epsilon"}
    )
    with pytest.raises(BadInput, match=r"query: .*party age > 64"):
        canonical(folder, question)


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


# What is wrong with a form, all of it at once.


def faults(**values):
    with pytest.raises(WrongForm) as wrong:
        question_of(values)
    return {fault.field.name: fault.beside for fault in all_in_words(FIELDS, read_values(FIELDS, values), wrong.value)}


def test_all_that_is_wrong_is_said_at_once_each_at_its_field():
    found = faults(
        query="top", largest="two", accuracy="epsilon", epsilon="", grouped="listed", confidence="95%", more="x"
    )
    assert list(found) == ["largest", "column", "by", "epsilon", "confidence", "more"]
    assert found["largest"] == "is no number; write a whole number, such as 3"
    assert found["column"] == found["by"].replace("ward, sex", "age") == "is missing; write for example age"


@pytest.mark.parametrize(("values", "field", "beside"), [
    ({"query": "cuont"}, "query", "is not one of the choices"),
    ({"query": "majority"}, "condition", "is missing"),
    ({"query": "band", "thresholds": "10, x"}, "thresholds", "must be a whole number"),
    ({"query": "quantiles", "quantiles": "0.5, 1e99999999", "column": "age"}, "quantiles", "has more than 24 letters"),
    ({"query": "band", "thresholds": ",".join(["1"] * 1001)}, "thresholds", "lists more than 1,000"),
    ({"audience": ",".join(["a"] * 10**5)}, "audience", "lists more than 1,000"),
    ({"audience": "board=2"}, "audience", "says an ε; write the names alone"),
    ({"accuracy": "audiences", "audience": "board"}, "audience", "must be NAME=ε, each name once"),
    ({"accuracy": "audiences"}, "audience", "is missing"),
    ({"accuracy": "other"}, "more", "says no privacy; write for example mu = 1"),
    ({"more": "mu = 1"}, "more", "says mu, and “Privacy and accuracy” says something else"),
    ({"more": "mu = "}, "more", "More options is no valid TOML at"),
    ({"more": "gropus = 'a'"}, "more", "gropus is no option of a question; did you mean groups?"),
    ({"condition": "x = 1", "more": "where = 'y = 1'"}, "more", "expression is said twice"),
    ({"query": "count", "persons": "total"}, "persons", "bounds a total, and only a sum has one"),
    ({"query": "plurality", "column": "party", "categories": "[1, "}, "categories", "the list is no valid TOML"),
])  # fmt: skip
def test_what_is_wrong_is_said_of_the_field_that_says_it(values, field, beside):
    found = faults(**values)
    assert list(found) == [field]
    assert found[field].startswith(beside)


def test_a_blank_in_the_name_of_an_audience_stays_for_iris_to_refuse():
    assert question_of({"audience": " board , the press"})["audience"] == ["board", "the press"]


@pytest.mark.parametrize(("groups", "shown"), [
    (["north"], '"north"'),  # without quotes it might be the name of a file
    ([True, False], "[true, false]"),
    ([1, 2], "1, 2"),
    (["n.csv", "e"], '["n.csv", "e"]'),
    ("groups.csv", "groups.csv"),
], ids=str)  # fmt: skip
def test_how_groups_are_shown(groups, shown):
    values = values_of({"query": "count", "by": "ward", "groups": groups})
    assert values["groups"] == shown


def test_what_does_not_stand_is_not_looked_at():
    assert question_of({"query": "count", "threshold": "x", "epsilon": "x", "accuracy": "share"}) == {"query": "count"}


# What a project file declares is shown, and changes no question.

PROJECT = """
[types]
ward = "text"
sex = "text"
[groups]
ward = ["north", "a,b", "c \\"d\\"", "x.csv"]
Sex = ["f", "m"]
age = [2001, 2002]
[categories]
party = ["A", "B, C", "D"]
"""


@pytest.mark.parametrize(("question", "filled"), [
    ({"query": "count", "by": "sex"}, {"groups": "f, m"}),
    ({"query": "count", "by": "Ward"}, {"groups": '["north", "a,b", "c \\"d\\"", "x.csv"]'}),
    ({"query": "count", "by": "ward, SEX"}, {"groups": 'ward=north,"a,b","c ""d""","x.csv"\nSEX=f,m'}),
    ({"query": "plurality party"}, {"categories": '["A", "B, C", "D"]'}),
    ({"query": "histogram party"}, {"categories": '["A", "B, C", "D"]'}),
])  # fmt: skip
def test_what_a_project_declares_fills_empty_lists_and_is_the_same_question(question, filled, folder):
    (folder / "survey.iris.toml").write_text(PROJECT)
    question = {**question, "epsilon": 1}
    values = values_of(question)
    again = prefilled(values, tomllib.loads(PROJECT))
    assert {name: again[name] for name in filled} == filled
    assert {name for name in again if again[name] != values[name]} == set(filled)
    assert canonical(folder, question_of(again)) == canonical(folder, question)
    assert prefilled(again, {"groups": {"sex": ["x"]}, "categories": {"party": ["y"]}}) == again


@pytest.mark.parametrize("question", [
    {"query": "count", "by": "town"},
    {"query": "count", "by": "ward, town"},
    {"query": "count", "by": "ward", "select_groups": True},
    {"query": "sizes party"},
    {"query": "histogram party", "bins": "1,2"},
    {"query": "count"},
], ids=str)  # fmt: skip
def test_nothing_is_filled_in_that_a_question_would_not_take(question):
    values = values_of(question)
    assert prefilled(values, tomllib.loads(PROJECT)) == values
    assert prefilled(values, {}) == values


# Whatever a form says comes back as the form that says it.

WORDS = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp")), max_size=12)
NUMBERS = st.one_of(
    st.integers(0, 10**9).map(str), st.decimals(-99, 99, places=2).map(str), st.sampled_from(["1/3", "1e-6", "2.50"])
)
TEXTS = st.one_of(
    WORDS,
    st.lists(WORDS, max_size=3).map(", ".join),
    st.sampled_from(
        ["age", "a b", "x = y * 2", "age > 64\nAND \"a b\" = 'c'", '["a,b", 1, 2024-01-01]', "a=1,2\nb=3,4"]
    ),
)
VALUES = {
    "number": NUMBERS,
    "text": st.one_of(TEXTS, NUMBERS, st.just("0.1, 0.5"), st.just("a=1, b=1/2")),
    "area": st.one_of(TEXTS, st.just("mu = 1\ndelta = 1e-6"), st.just("public_membership = true")),
}
FORMS_FILLED_IN = st.fixed_dictionaries(
    {},
    optional={
        field.name: st.sampled_from([value for value, _ in field.choices]) if field.choices else VALUES[field.kind]
        for field in FIELDS
    },
)


@given(FORMS_FILLED_IN)
def test_what_a_form_says_opens_as_a_form_that_says_the_same(values):
    try:
        question = question_of(values)
    except WrongForm:
        return
    again = values_of(question)
    assert question_of(again) == question
    assert values_of(question_of(again)) == again
    assert tomllib.loads("\n".join(f"{name} = {toml_value(value)}" for name, value in question.items())).keys()


PARTS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.booleans(),
    WORDS,
    st.sampled_from([Decimal("0.5"), Decimal("1e-7"), date(2024, 1, 1)]),
)
ANYTHING = st.one_of(PARTS, st.lists(PARTS, max_size=3), st.dictionaries(WORDS, PARTS, max_size=2), NUMBERS)
QUERY_TEXTS = st.one_of(
    st.sampled_from([form.example.partition(" --")[0].replace('"', "") for form in FORMS]),
    st.tuples(st.sampled_from([form.name for form in FORMS]), TEXTS).map(" ".join),
)


def plain(value):
    """Return what two spellings of one value share: of numbers what they are."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [plain(part) for part in value]
    try:
        return rational(value if isinstance(value, str) else str(value), "x")
    except BadInput:
        return value


@given(QUERY_TEXTS, st.dictionaries(st.sampled_from([name for name in QUESTION_KEYS if name != "query"]), ANYTHING))
def test_nothing_of_a_question_is_lost(query, options):
    """Also of questions that make no sense: these are refused as before, by whoever reads the plan."""
    values = values_of({"query": query, **options})
    lines = tomllib.loads(values["more"], parse_float=Decimal)
    for name, value in options.items():
        if name in lines:
            assert plain(lines[name]) == plain(value)
        elif name not in ("select_groups", "expression"):
            shown = values[name]
            assert shown, (name, value)
            if isinstance(value, int | Decimal) and name not in ("per_unit", "audience"):
                assert rational(shown, "x") == rational(str(value), "x")
