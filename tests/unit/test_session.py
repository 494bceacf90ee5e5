"""A session asks of one table and one budget, and is as `publish` in everything else."""

import inspect
import pydoc
import re
import typing

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, ScopeRefused, Session
from irisdp._queries import FORMS
from irisdp._release.options import PlanArguments, QuestionOptions

VISITS = pa.table({"age": [70, 30, 81, 81], "town": ["Ely", "Ely", "York", "York"], "who": [1, 2, 3, 3]})


@pytest.fixture
def session(tmp_path):
    return Session(VISITS, ledger=tmp_path / "v.ledger", limit=(50, "1e-6"))


def test_every_query_has_a_method_of_its_name():
    for form in FORMS:
        assert callable(getattr(Session, form.name.replace("-", "_")))


def test_every_option_is_the_table_s_or_the_question_s():
    published = inspect.signature(irisdp.publish).parameters
    options = {name: part for name, part in published.items() if part.kind is part.KEYWORD_ONLY}
    of_table = set(inspect.signature(Session).parameters) - {"data", "limit"}
    asked = typing.get_type_hints(PlanArguments)
    assert of_table | set(asked) == set(options)
    assert not of_table & set(asked)
    assert set(asked) - set(typing.get_type_hints(QuestionOptions)) == {
        "out",
        "report",
        "title",
        "labels",
        "licence",
        "force",
    }


def test_questions_are_those_of_publish(session, tmp_path):
    asked = [
        (session.count("age > 64", epsilon=1), ("count", "age > 64")),
        (session.count(epsilon=1), ("count",)),
        (session.at_least(2, "age > 64", epsilon=1), ("at-least", 2, "age > 64")),
        (session.at_most(2, epsilon=1), ("at-most", 2)),
        (session.majority("age > 64", epsilon=1), ("majority", "age > 64")),
        (session.band("1,3", "age > 64", epsilon=1), ("band", "1,3", "age > 64")),
    ]
    for found, words in asked:
        assert found.cost == Cost(1)
        again = irisdp.publish(VISITS, *words, epsilon=1, ledger=tmp_path / "v.ledger")
        assert again.repeated
        assert again.answers.values == found.answers.values
    assert session.plan("count", by="town", groups="Ely,York", epsilon=2).cost == Cost(2)
    assert session.spent == Cost(6)
    assert session.remaining == Cost(44, "1e-6")
    assert len(session.releases()) == 6


def test_a_session_says_what_is_left(session, tmp_path):
    assert repr(session) == "<Session: v.ledger; left ε = 50, δ = 0.000001>"
    unlimited = Session(VISITS, ledger=tmp_path / "w.ledger")
    assert unlimited.remaining is unlimited.limit is None
    assert repr(unlimited) == "<Session: w.ledger; no limit is set>"


def test_what_a_session_names_holds_for_all_its_questions(tmp_path):
    session = Session(VISITS, unit="WHO", relation="exchange", ledger=tmp_path / "v.ledger", table="visits")
    found = session.count("age > 64", epsilon=30, per_unit="any")
    assert (found.plan.unit, str(found.plan.relation)) == ("who", "exchange")
    assert session.ledger.to_document()["table"] == "visits"
    with pytest.raises(ScopeRefused):
        Session(VISITS, ledger=tmp_path / "v.ledger", table="visits").count(epsilon=1)


def test_a_session_keeps_the_limit(tmp_path):
    session = Session(VISITS, ledger=tmp_path / "v.ledger", limit="0.5")
    with pytest.raises(BudgetRefused):
        session.count(epsilon=1)
    assert session.remaining == Cost("0.5")


def test_a_file_s_ledger_lies_beside_it(tmp_path):
    (tmp_path / "t.csv").write_text("a;b\n1;2\n")
    session = Session(tmp_path / "t.csv", delimiter=";")
    session.count("b > 1", epsilon=1)
    assert session.ledger.path == (tmp_path / "t.ledger").resolve()
    assert session.spent == Cost(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "ledger: is missing"),
        ({"ledger": "x.ledger", "unit": "nobody"}, "unit: names the column 'nobody'"),
        ({"ledger": "x.ledger", "relatio": "exchange"}, "relatio: is no option; did you mean relation?"),
        ({"ledger": "x.ledger", "relation": "swap"}, "relation: must be add-remove or exchange"),
        ({"ledger": "x.ledger", "limit": -1}, "limit: must not be negative"),
        ({"ledger": "x.ledger", "limit": (1, 2, 3)}, "limit: must be ε, or ε and δ"),
    ],
)
def test_what_is_wrong_is_said_at_once(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match=message):
        Session(VISITS, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_misspelt_option_of_a_question_is_named(session):
    with pytest.raises(BadInput, match=r"epsilonn: is no option; did you mean epsilon\?"):
        session.count("age > 64", epsilonn=1)
    assert session.spent == Cost()


def test_what_a_session_names_no_question_names_anew(session):
    for options in ({"unit": "who"}, {"ledger": "other.ledger"}, {"encoding": "latin-1"}):
        (name,) = options
        with pytest.raises(BadInput, match=f"^{name}: is named by the session"):
            session.count(epsilon=1, **options)
    with pytest.raises(BadInput, match=r"^relation: is named by the session"):
        session.plan("count", epsilon=1, relation="exchange")
    assert session.spent == Cost()


@pytest.mark.parametrize("method", ["count", "at_least", "at_most", "majority", "publish", "plan"])
def test_help_shows_and_explains_every_option(method):
    told = pydoc.render_doc(getattr(Session, method), renderer=pydoc.plaintext)
    assert "Unpack" not in told
    published = inspect.signature(irisdp.publish).parameters
    for name in typing.get_type_hints(QuestionOptions if method == "plan" else PlanArguments):
        assert inspect.signature(getattr(Session, method)).parameters[name] == published[name]
        assert re.search(rf"^    (\w+, )*{name}(, \w+)* : .*\n        ", told, re.MULTILINE), name
    assert "Unpack" not in pydoc.render_doc(Session, renderer=pydoc.plaintext)


def test_arguments_of_a_question_are_checked(session):
    for asked, message in (
        (lambda: session.count(condition=3, epsilon=1), "condition: must be text, not int; a condition is a text"),
        (lambda: session.at_least(epsilon=1), "k: is missing; give k=…"),
        (lambda: session.count("age > 64", 1), "arguments: are too many: 1 may stand without a name; name the others"),
        (lambda: session.count(per_unit="some", epsilon=1), "per_unit: must be any or all; choose one of the two"),
        (lambda: session.plan("count", epsilon=1, out="o.csv"), "out: is no option"),
    ):
        with pytest.raises(BadInput) as refusal:
            asked()
        assert str(refusal.value).startswith(message)
    assert session.spent == Cost()


def test_a_batch_is_asked_of_the_sessions_table_and_charged_to_its_ledger(tmp_path):
    data = pa.table({"age": [70, 30, 81], "person": ["a", "a", "b"]})
    session = Session(data=data, unit="person", ledger=tmp_path / "s.ledger", limit=2, table="survey")
    asked = {"expression": "age > 64", "at_most": 1}
    questions = [{"query": "count", **asked}, {"query": "majority", **asked}]
    found = session.batch(questions, budget={"epsilon": 1}, out=tmp_path / "o.csv")
    assert (len(found), found.cost, session.spent) == (2, Cost(1), Cost(1))
    assert all(one.plan.unit == "person" for one in found)
    assert (tmp_path / "o.1.csv").exists()
    again = session.batch(questions, budget={"epsilon": 1}, out=tmp_path / "o.csv", force=True)
    assert again.repeated
    with pytest.raises(BudgetRefused):
        session.batch(questions, budget={"epsilon": "3/2"})
    with pytest.raises(BadInput, match="budget: has no epsilon"):
        session.batch(questions, budget={})
    assert session.spent == Cost(1)
