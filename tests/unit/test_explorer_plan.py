"""The pages Plan, Publish and Results: what a draft costs, what one press charges, and what is published then."""

import json
import random
import re
import time
import tomllib
from fractions import Fraction

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")

import numpy
from hypothesis import given
from hypothesis import strategies as st

from irisdp import BadInput, Ledger, Refusal, plan
from irisdp._cli import run as command
from irisdp._explorer.draft import Draft, DraftHistory, new_draft, plan_text, read_draft, shared_out, short_epsilon
from irisdp._explorer.forms import read_values
from irisdp._explorer.outlook import plan_outlook
from irisdp._explorer.publishing import publish_plan
from irisdp._explorer.question_form import FIELDS, question_of, values_of
from irisdp._explorer.workspace import ServedTable, Workspace
from irisdp._sampling.bits import OperatingSystemBits
from support.explored import HERE, SURVEY, explored
from support.sweeps import tried

COUNT = {"query": "count", "condition": "vote = 1"}
KINDS = (
    {"query": "count"},
    {"query": "count", "grouped": "listed", "by": "town", "groups": "Ely,York,Bath"},
    {"query": "sum", "column": "age", "lower": "0", "upper": "99", "step": "1"},
    {"query": "mean", "column": "age", "lower": "0", "upper": "99", "step": "1"},
    {"query": "variance", "column": "age", "lower": "0", "upper": "99", "step": "1"},
    {"query": "plurality", "column": "town", "categories": "Ely,York,Bath"},
    {"query": "top", "largest": "2", "column": "town", "categories": "Ely,York,Bath"},
    {"query": "quantiles", "quantiles": "0.25,0.75", "column": "age", "bins": "30,50"},
    {"query": "histogram", "column": "town", "categories": "Ely,York"},
    {"query": "at-least", "threshold": "10"},
    {"query": "majority", "condition": "vote = 1"},
    {"query": "sizes", "sizes": "3", "column": "town"},
    {"query": "count", "grouped": "selected", "by": "town", "delta": "1e-6"},
    {"query": "count", "grouped": "selected", "by": "town", "delta": "1e-6", "selection_epsilon": "0.01"},
)
BY_TOWN = {"query": "count", "grouped": "listed", "by": "town", "groups": "Ely,York,Bath"}


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    return path


@pytest.fixture
def visitor(survey):
    with explored(survey) as made:
        yield made


def silent(_):
    """Say nothing."""


def spent(survey):
    ledger = Ledger(survey.with_suffix(".ledger"))
    return ledger.spent if ledger.store.exists() else None


# Drafts.


def draft_of(*questions, budget="1"):
    draft = new_draft("survey.csv", "survey", {})
    for number, (accuracy, share) in enumerate(questions, start=1):
        values = {**read_values(FIELDS, COUNT), "accuracy": accuracy}
        draft = draft.with_question(values)
        draft = draft.with_shares(budget, {number: share})
    return draft


positive = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


@given(budget=positive, shares=st.lists(positive, min_size=1, max_size=6), taken=st.fractions(0, 2, max_denominator=9))
def test_shares_divide_what_the_others_leave(budget, shares, taken):
    draft = draft_of(*(("share", str(share)) for share in shares), ("epsilon", "1"), budget=str(budget))
    other = len(shares) + 1
    if taken >= budget:
        with pytest.raises(BadInput, match="is used up"):
            shared_out(draft, {other: taken})
        return
    found = shared_out(draft, {other: taken})
    assert sum(found.values()) == budget - taken
    for one, share in zip(found.values(), shares, strict=True):
        assert one * sum(shares) == share * (budget - taken)


@given(positive | st.fractions(min_value=Fraction(1, 10**12), max_value=10**6))
def test_a_short_epsilon_is_never_larger_and_nearly_the_same(epsilon):
    short = short_epsilon(epsilon)
    assert short <= epsilon < short * Fraction(1_000_011, 1_000_000)


@pytest.mark.parametrize(
    ("field", "text"), [("budget", "0"), ("budget", "-1"), ("budget", "x"), ("share", "0"), ("share", "")]
)
def test_a_budget_or_share_that_is_no_positive_number_is_refused(field, text):
    draft = draft_of(("share", "1")).with_shares(
        text if field == "budget" else "1", {1: text} if field == "share" else {}
    )
    with pytest.raises(BadInput):
        shared_out(draft, {})


def test_a_draft_comes_back_from_its_plan_file_and_from_json(survey):
    draft = draft_of(("share", "1"), ("share", "3"))
    assert Draft.from_json(draft.to_json()) == draft
    outlook = plan_outlook({"draft": draft.to_json(), "path": str(survey.with_name("p.toml")), "known": "{}"}, silent)
    document = tomllib.loads(outlook.text)
    assert [one["epsilon"] for one in document["questions"]] == ["0.25", "0.75"]
    again = read_draft(document, values_of, default=new_draft("survey.csv", "survey", {}))
    assert [one.values["epsilon"] for one in again.questions] == ["0.25", "0.75"]
    assert plan_text(document, "p.toml") == outlook.text


def test_edits_are_undone_and_redone():
    history = DraftHistory(draft_of(("share", "1")))
    first = history.current
    history.edit(first.with_shares("2", {}), "the budget", merge="shares")
    history.edit(first.with_shares("3", {}), "the budget", merge="shares")
    history.edit(history.current.without(1), "the deletion")
    assert history.undoes == "the deletion" and not history.redoes
    history.undo()
    assert history.current.budget == "3" and len(history.current.questions) == 1
    history.undo()
    assert history.current == first and not history.undoes
    history.undo()
    history.redo()
    assert history.current.budget == "3"
    history.edit(first, "another")
    assert not history.redoes


# What a draft costs.


@pytest.mark.parametrize(("fields", "table"), [
    (COUNT, {}),
    (BY_TOWN, {}),
    (BY_TOWN, {"relation": "replace-one"}),
    ({"query": "sum", "column": "age", "lower": "0", "upper": "99", "step": "1"}, {}),
    ({**BY_TOWN, "persons": "at_most", "at_most": "3"}, {"unit": "id"}),
    ({"query": "plurality", "column": "town", "categories": "Ely,York", "persons": "at_most", "at_most": "3"},
     {"unit": "id"}),
    ({"query": "median", "column": "age", "bins": "30,50", "persons": "at_most", "at_most": "2"}, {"unit": "id"}),
    ({**COUNT, "grouped": "selected", "by": "town", "delta": "1e-6", "selection_epsilon": ""}, {}),
    ({"query": "mean", "column": "age", "lower": "0", "upper": "9", "step": "1", "grouped": "selected", "by": "town",
      "delta": "1e-6"}, {}),
])  # fmt: skip
def test_shares_are_of_what_questions_cost_whatever_the_factor(survey, fields, table):
    """Where a question costs c·ε, each answer keeps a c-th of the share; c is that of `irisdp.plan` at ε = 1."""
    values = read_values(FIELDS, fields)
    draft = new_draft("survey.csv", "survey", table).with_question(values).with_question(values)
    draft = draft.with_shares("2", {1: "1", 2: "3"})
    outlook = plan_outlook({"draft": draft.to_json(), "path": str(survey.with_name("p.toml")), "known": "{}"}, silent)
    assert [one.wrong for one in outlook.questions] == [None, None]
    asked = {**question_of(values), **table}
    factor = plan(survey, asked.pop("query"), epsilon=1, where=asked.pop("expression", None), **asked).cost.epsilon
    for one, share in zip(outlook.questions, (Fraction(1, 2), Fraction(3, 2)), strict=True):
        assert 0 <= share - Fraction(one.exact) * factor < Fraction(1, 10**4)
        assert Fraction(re.search(r"ε = ([\d./]+)", one.cost)[1]) == Fraction(one.exact) * factor


def test_a_question_with_its_own_error_comes_out_of_the_budget(visitor):
    visitor.ask(query="count", accuracy="within", within="20")
    text = visitor.get("plan")
    total = Fraction(re.search(r"All questions cost ε = ([\d.]+), δ = 0", text)[1])
    assert Fraction(99999, 100000) < total <= 1
    said = tomllib.loads(plan_outlook(visitor.workspace.outlook_values(), silent).text)
    assert said["questions"][1]["within"] and "epsilon" not in said["questions"][1]
    assert 0 < Fraction(said["questions"][0]["epsilon"]) < 1


def test_all_wrong_questions_are_named_and_the_others_weighed(visitor):
    visitor.workspace.history.edit(
        visitor.workspace.draft.with_question(read_values(FIELDS, {"query": "count", "condition": "no_such = 1"}))
        .with_question(read_values(FIELDS, {"query": "mean", "column": "age"})),
        "two that are wrong",
    )  # fmt: skip
    text = visitor.get("plan")
    assert "Question 2:" in text and "no_such" in text and "Question 3:" in text and "off by" in text
    assert "not ready" in visitor.get("publish") and visitor.offer() is None


def test_nothing_is_written_while_one_plans(visitor, survey):
    before = {path.name: path.stat() for path in survey.parent.iterdir()}
    visitor.ask(**BY_TOWN)
    visitor.share(budget="2")
    for address in ("plan", "publish", "results", "plan/questions/1", "plan/questions/new"):
        assert visitor.get(address) and visitor.page.status_code == 200
    assert {path.name: path.stat().st_mtime_ns for path in survey.parent.iterdir()} == {
        name: status.st_mtime_ns for name, status in before.items()
    }


def test_a_plan_is_edited_without_a_script(visitor):
    visitor.ask(**BY_TOWN, name="by town")
    assert "2. by town" in visitor.get("plan")
    visitor.post("plan", do="copy-2")
    visitor.post("plan", do="up-3")
    visitor.post("plan", do="delete-1")
    assert [one.key for one in visitor.workspace.draft.questions] == [3, 2] or len(
        visitor.workspace.draft.questions
    ) == 2
    visitor.post("plan", do="undo")
    assert len(visitor.workspace.draft.questions) == 3
    visitor.post("plan", do="redo")
    assert len(visitor.workspace.draft.questions) == 2
    key = visitor.workspace.draft.questions[0].key
    visitor.post(f"plan/questions/{key}", do="keep", **COUNT)
    assert "count vote = 1" in visitor.get("plan")
    for gone in ("plan/questions/1", "plan/questions/999", "plan/questions/x"):
        visitor.get(gone)
        assert visitor.page.status_code == 404


def test_a_question_that_makes_no_sense_is_not_kept_and_says_so_beside_its_fields(visitor):
    text = visitor.ask(query="mean", column="age", condition="no_such = 1")
    assert len(visitor.workspace.draft.questions) == 1
    assert "Values are at least" in text and 'aria-invalid="true"' in visitor.page.text


def test_the_form_of_a_question_names_columns_and_shows_what_the_project_file_declares(visitor, survey):
    survey.with_suffix(".iris.toml").write_text('[groups]\ntown = ["Ely", "York"]\n[categories]\ntown = ["Bath"]\n')
    visitor.get("plan/questions/new")
    header = SURVEY.splitlines()[0].split(",")
    listed = visitor.page.text.partition('<datalist id="field-column-list">')[2].partition("</datalist>")[0]
    assert re.findall(r'<option value="([^"]*)">', listed) == header
    assert f"Columns: {', '.join(header)}." in visitor.page.text
    visitor.post("plan/questions/new", do="show", query="count", grouped="listed", by="town", name="", accuracy="share")
    assert re.search(r'<textarea [^>]*id="field-groups"[^>]*>\nEly, York</textarea>', visitor.page.text)
    visitor.post("plan/questions/new", do="show", query="plurality", column="town", accuracy="share")
    assert re.search(r'<textarea [^>]*id="field-categories"[^>]*>\n&quot;Bath&quot;</textarea>', visitor.page.text)


def test_the_form_of_a_question_stands_where_the_project_file_cannot_be_read(visitor, survey):
    survey.with_suffix(".iris.toml").write_text("[groups\n")
    text = visitor.get("plan/questions/new")
    assert "Condition" in text and "<datalist" not in visitor.page.text


# Publishing.


def test_one_press_publishes_what_was_shown(visitor, survey):
    visitor.ask(**BY_TOWN)
    text = visitor.press()
    assert "Published: 2 questions; new: 2" in text
    assert str(spent(survey)) == "ε = 1, δ = 0"
    text = visitor.get("results")
    assert "About" in text and "3 published answers" in text
    assert "Ely" in visitor.get("results/2") and visitor.page.status_code == 200
    assert 'class="row"' in visitor.page.text
    rows = [visitor.get(f"results/2?row={row}") for row in (1, 2, 3)]
    assert sum("town Ely: published " in row for row in rows) == 1
    assert "4 is not there" in visitor.get("results/2?row=4")
    visitor.get("results/3")
    assert visitor.page.status_code == 404
    assert "charges nothing" in visitor.get("plan")


def test_a_form_leads_to_one_job_however_often_it_arrives(visitor, survey):
    offer = visitor.offer()
    first = visitor.press(offer)
    assert "Published" in first
    for _ in range(3):
        visitor.post("publish", offer=offer)
        assert visitor.page.history[0].status_code == 303 and "Published" in visitor.text
    assert len(Ledger(survey.with_suffix(".ledger")).releases()) == 1
    assert "Nothing was charged by this press" in visitor.post("publish", offer="x" * 22)
    assert "Nothing was charged by this press" in visitor.post("publish")


def test_a_form_of_another_plan_charges_nothing(visitor, survey):
    offer = visitor.offer()
    visitor.share(budget="5")
    assert "has changed since that form was shown" in visitor.press(offer)
    assert spent(survey) is None


def test_data_that_changed_since_the_form_was_shown_is_charged_no_more_than_it_said(visitor, survey):
    visitor.press()
    offer = visitor.offer()  # all of it is free
    survey.write_text(SURVEY + "300,30,Ely,1\n")
    text = visitor.press(offer)
    assert "Published" not in text and str(spent(survey)) == "ε = 1, δ = 0"
    visitor.press()
    assert str(spent(survey)) == "ε = 2, δ = 0"


def test_a_second_press_is_free_whatever_was_asked(survey):
    """Where each answer keeps less than the question costs, too: published questions keep what the plan gave them."""
    kept = {"persons": "at_most", "at_most": "3"}
    with explored(survey, options={"unit": "id"}) as visitor:
        visitor.post("plan/questions/1", do="keep", query="plurality", column="town", categories="Ely,York", **kept)
        visitor.ask(query="median", column="age", bins="30,50", **kept)
        visitor.ask(query="top", largest="2", column="town", categories="Ely,York,Bath", **kept)
        visitor.ask(**BY_TOWN, **kept)
        visitor.ask(query="mean", column="age", lower="0", upper="99", step="1", accuracy="within", within="9",
                    records="99", **kept)  # fmt: skip
        assert "new: 5" in visitor.press()
        before = spent(survey)
        assert 0.9999 < float(before.epsilon) <= 1
        assert "charges nothing" in visitor.get("plan")
        assert "new: 0" in visitor.press() and spent(survey) == before


def test_the_risk_is_that_of_all_that_is_spent(visitor, survey):
    """At ε = 1 spent and 1 more, an adversary ends at most e²/(1 + e²) sure."""
    visitor.press()
    visitor.ask(**BY_TOWN)
    assert "88.08 %" in visitor.get("plan") and "88.08 %" in visitor.get("publish")


@pytest.mark.parametrize("change", ["unit", "ledger", "header"])
def test_what_is_protected_and_charged_is_what_was_shown(tmp_path, change):
    """The project file and the header change what the same plan asks: neither a press nor the run goes on then."""
    path = tmp_path / "survey.csv"
    path.write_text(SURVEY)
    project = path.with_name("survey.iris.toml")
    project.write_text('unit = "id"\nat_most = 2\n')
    with explored(path) as visitor:
        offer = visitor.offer()
        values = visitor.workspace.outlook_values()
        shown = plan_outlook(values, silent)
        if change == "header":
            path.write_text(SURVEY.replace("vote", "note"))
        else:
            project.write_text('ledger = "other.ledger"\nunit = "id"\nat_most = 2\n' if change == "ledger" else "")
        assert "has changed since that form was shown" in visitor.press(offer)
        with pytest.raises(Refusal, match="changed since they were shown"):
            publish_plan(pressed(visitor.workspace.path, shown), silent)
    assert spent(path) is None and not (tmp_path / "other.ledger").exists()


def test_a_question_that_was_edited_during_its_run_does_not_keep_the_others_epsilon(visitor, survey):
    visitor.press(wait=False)
    place = str(visitor.page.url)
    visitor.post("plan/questions/1", do="keep", **BY_TOWN)
    end = time.monotonic() + 60
    while 'class="job"' in (visitor.get(place) and visitor.page.text) and time.monotonic() < end:
        time.sleep(0.1)
    visitor.get("plan")
    (one,) = visitor.workspace.draft.questions
    assert one.shares, "the question that was published is no longer in the plan"
    visitor.post("plan", do="undo")
    visitor.ask(**COUNT)
    assert len({one.key for one in visitor.workspace.draft.questions}) == len(visitor.workspace.draft.questions)


@pytest.mark.parametrize("selection", ["0.25", "0.5", "2"])
def test_a_selection_with_an_epsilon_of_its_own_comes_out_of_the_share(survey, selection):
    fields = {**COUNT, "grouped": "selected", "by": "town", "delta": "1e-6", "selection_epsilon": selection}
    draft = new_draft("survey.csv", "survey", {}).with_question(read_values(FIELDS, fields))
    draft = draft.with_question(read_values(FIELDS, COUNT))
    values = {"draft": draft.to_json(), "path": str(survey.with_name("p.toml")), "known": "{}"}
    outlook = plan_outlook(values, silent)
    if Fraction(selection) >= Fraction(1, 2):
        assert outlook.wrong is not None and outlook.wrong.field == "budget"
        return
    assert Fraction(9999, 10000) < Fraction(re.search(r"ε = ([\d./]+)", outlook.total)[1]) <= 1
    again = plan_outlook({**values, "known": outlook.known}, silent)
    assert again.text == outlook.text, "the next look is the same"


@pytest.mark.parametrize("text", [
    "questions = 5", 'questions = ["a"]', 'datasets = "x"', "[datasets]\nsurvey = 5", "[[datasets]]\nx = 1",
    '[datasets.survey]\ndata = "survey.csv"\n[[questions]]\nname = "x"',
    '[datasets.survey]\ndata = "survey.csv"\n[[questions]]\nquery = "count"\nepsilon = 1\nout = 5',
])  # fmt: skip
def test_a_plan_file_that_makes_no_sense_is_said_in_words(survey, text):
    survey.with_name("survey.plan.toml").write_text(text)
    with pytest.raises(BadInput), explored(survey):
        pass


def test_a_column_may_be_called_decimal(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("decimal\n1.5\n2.5\n")
    types = '{decimal = "number"}'
    path.with_name("prices.plan.toml").write_text(
        f'[datasets.p]\ndata = "prices.csv"\ntypes = {types}\n[[questions]]\nquery = "count"\nepsilon = 0.5\n'
    )
    with explored(path) as visitor:
        assert "All questions cost ε = 0.5" in visitor.get("plan")


def test_answers_may_lie_in_another_folder_and_no_other_file_is_offered(visitor, survey):
    visitor.post("plan/questions/1", do="keep", query="count", out="mine.csv")
    assert "Published" in visitor.press() and survey.with_name("mine.csv").exists()
    file = survey.with_name("survey.plan.toml")
    file.write_text('report = "survey.csv"\n' + file.read_text().replace('report = "', 'x = "').split("x = ")[0])
    visitor.get("results")
    assert "300," not in visitor.page.text and ">survey.csv<" not in visitor.page.text


def test_results_say_what_was_asked_and_not_what_the_plan_says_now(visitor):
    visitor.post("plan/questions/1", do="keep", query="count", condition="vote = 1", out="mine.csv")
    visitor.press()
    visitor.post("plan/questions/1", do="keep", query="count", condition="age > 70", out="mine.csv")
    visitor.post("plan", do="save")
    text = visitor.get("results")
    assert "count vote = 1" in text and "count age > 70" not in text


def test_a_limit_that_is_exceeded_is_said_before_the_press(visitor, survey):
    Ledger(survey.with_suffix(".ledger")).set_limit("1/2")
    text = visitor.get("publish")
    assert "0.5" in text and visitor.offer() is None
    visitor.share(budget="0.5")
    assert "Published" in visitor.press()
    visitor.ask(**BY_TOWN)
    assert "would be refused" in visitor.get("plan") and visitor.offer() is None


def test_published_questions_keep_their_epsilon_when_another_is_added(visitor, survey):
    visitor.press()
    visitor.ask(**BY_TOWN)
    visitor.press()
    assert str(spent(survey)) == "ε = 2, δ = 0", "the budget is that of the new question"
    assert len(Ledger(survey.with_suffix(".ledger")).releases()) == 2


def test_a_plan_file_that_another_program_changed_is_kept(visitor, survey):
    visitor.post("plan", do="save")
    path = survey.with_name("survey.plan.toml")
    assert path.exists()
    changed = path.read_text() + "# mine\n"
    path.write_text(changed)
    assert "changed by another program" in visitor.press()
    assert "changed by another program" in visitor.post("plan", do="save")
    assert path.read_text() == changed and spent(survey) is None


def test_a_saved_plan_opens_again_and_runs_on_the_command_line(survey, monkeypatch, capsys):
    with explored(survey) as visitor:
        visitor.ask(**BY_TOWN)
        visitor.post("plan", do="save")
    with explored(survey) as visitor:
        assert "count by town" in visitor.get("plan")
        visitor.press()
    monkeypatch.chdir(survey.parent)
    assert command(["run", "survey.plan.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] is True


@pytest.mark.parametrize("text", [
    '[datasets.a]\ndata = "a.csv"\n[datasets.b]\ndata = "b.csv"\n[[questions]]\nquery = "count"\n',
    "not toml",
])  # fmt: skip
def test_a_plan_file_that_is_no_plan_about_one_table_is_said_at_the_start(survey, text):
    survey.with_name("survey.plan.toml").write_text(text)
    with pytest.raises(BadInput, match="plan"), explored(survey):
        pass


def test_a_plan_file_about_another_table_is_refused_and_options_of_the_command_line_stand_before_it(survey):
    with explored(survey) as visitor:
        visitor.post("plan", do="save")
    (survey.with_name("other.csv")).write_text(SURVEY)
    with pytest.raises(BadInput, match=r"is about survey\.csv, not other\.csv"):
        Workspace(ServedTable(data=str(survey.with_name("other.csv")), plan=str(survey.with_name("survey.plan.toml"))))
    told = {"delimiter": ";", "skip_rows": "2"}
    again = Workspace(ServedTable(data=str(survey), options=told, ledger=str(survey.with_name("l.ledger"))))
    assert {**told, "ledger": "l.ledger"}.items() <= again.draft.dataset.items()


def test_a_saved_plan_keeps_its_budget_and_shares_and_a_published_one_its_epsilon(survey):
    with explored(survey) as visitor:
        visitor.ask(**BY_TOWN)
        visitor.share(**{"budget": "2", "share-1": "3", "share-2": "1"})
        visitor.post("plan", do="save")
    file = survey.with_name("survey.plan.toml")
    assert "# Shares of a budget of ε = 2; 1: 3 = 1.5; 2: 1 = 0.5" in file.read_text()
    with explored(survey) as visitor:
        draft = visitor.workspace.draft
        assert draft.budget == "2" and [(one.share, one.shares) for one in draft.questions] == [
            ("3", True),
            ("1", True),
        ]
        assert visitor.workspace.keeps_comments
        visitor.press()
    assert "# Shares" not in file.read_text()
    with explored(survey) as visitor:
        assert [one.values["epsilon"] for one in visitor.workspace.draft.questions] == ["1.5", "0.5"]
        visitor.ask(**COUNT)
        visitor.press()
    assert str(spent(survey)) == "ε = 3, δ = 0", "the new question has the whole budget, and the others are free"
    file.write_text(
        file.read_text().replace("# Written", "# Shares of a budget of ε = 9; 1: 3 = 7; x; 2: 1 = 0.5\n# Written")
    )
    with explored(survey) as visitor:
        first, second, _ = visitor.workspace.draft.questions
        assert not first.shares and second.shares, "an ε that was edited by hand counts"


def test_a_run_under_way_is_found_again_and_no_other_begins(visitor, survey, monkeypatch):
    offers = [visitor.offer(), visitor.offer()]
    visitor.press(offers[0])
    place = str(visitor.page.url)
    job = place.removeprefix(f"{HERE}{visitor.root}/")
    visitor.workspace._published[job] = {}
    monkeypatch.setattr("irisdp._explorer.app._Visit.has_published", lambda *_: None)  # as long as it runs
    assert "A run is going on" in visitor.get("publish") and f'href="{job}"' in visitor.page.text
    visitor.post("publish", offer=offers[1])
    assert str(visitor.page.url) == place
    assert "a run is going on" in visitor.post("plan", do="save")
    assert len(Ledger(survey.with_suffix(".ledger")).releases()) == 1


def test_data_that_another_ledger_knows_is_not_charged_to_it_unseen(survey):
    """A copy of the table: its content is known to the first ledger, which the page does not name."""
    with explored(survey) as visitor:
        visitor.press()
    copy = survey.with_name("copy.csv")
    copy.write_text(SURVEY)
    with explored(copy) as visitor:
        visitor.post("plan/questions/1", do="keep", **BY_TOWN)
        text = visitor.press()
    assert "survey.ledger knows this data, and copy.ledger was shown" in text
    assert str(spent(survey)) == "ε = 1, δ = 0" and spent(copy) is None


def test_messages_name_fields_and_pages_and_no_options(survey):
    """Each of these comes from a plan, whose words are put into those of the pages."""
    Ledger(survey.with_suffix(".ledger")).set_limit("1/2")
    mean = {"query": "mean", "column": "age", "lower": "0", "upper": "9", "step": "1"}
    with explored(survey, options={"unit": "id"}) as visitor:
        said = [
            visitor.ask(**fields)
            for fields in (
                mean,
                {"query": "count", "grouped": "listed", "by": "town"},
                {"query": "plurality", "column": "town"},
                {"query": "median", "column": "age"},
                {**mean, "accuracy": "within", "within": "2", "persons": "at_most", "at_most": "2"},
            )
        ]
        said += [visitor.get("plan"), visitor.get("publish")]
    for words, text in zip(
        ("keep some of each person", "discover the groups privately", "list them", "such as 0,18,65", "assumption",
         "Lower the budget", "Lower the budget"),
        said, strict=True,
    ):  # fmt: skip
        assert words in text
        assert not re.search(r"at_most ?=|select_groups|\(epsilon|Ledger\(path\)|records ?= ?N|v1,v2", text), text


@pytest.mark.parametrize("seed", range(tried(6, 150)))
def test_random_plans_keep_their_budget(survey, seed):
    drawn = random.Random(seed)
    table = drawn.choice([{}, {"relation": "replace-one"}, {"unit": "id"}, {"unit": "id", "relation": "replace-one"}])
    draft = new_draft("survey.csv", "survey", table)
    for _ in range(drawn.randint(1, 4)):
        fields = dict(drawn.choice(KINDS))
        if "unit" in table:
            fields |= {"persons": "at_most", "at_most": drawn.choice(["1", "2", "3", "7"])}
        draft = draft.with_question(read_values(FIELDS, fields))
    budget = drawn.choice(["1", "1/2", "2/3", "1.7", "3"])
    draft = draft.with_shares(budget, {one.key: drawn.choice(["1", "1/3", "0.7", "7"]) for one in draft.questions})
    values = {"draft": draft.to_json(), "path": str(survey.with_name("p.toml")), "known": "{}"}
    outlook = plan_outlook(values, silent)
    assert outlook.wrong is None
    asked = tomllib.loads(outlook.text)["questions"] if outlook.text else []
    cost = Fraction(0)
    for said in asked:
        del said["out"]
        options = {**said, **table, "epsilon": said.get("epsilon")}
        cost += plan(survey, options.pop("query"), where=options.pop("expression", None), **options).cost.epsilon
    assert cost <= Fraction(budget) and (not asked or cost > Fraction(budget) * Fraction(99999, 100000) or any(
        one.wrong for one in outlook.questions
    ))  # fmt: skip
    assert plan_outlook({**values, "known": outlook.known}, silent).text == outlook.text


def test_one_undo_takes_back_one_field(visitor):
    visitor.ask(**BY_TOWN)
    visitor.share(**{"budget": "1.5"})
    visitor.share(**{"budget": "1.6"})
    visitor.share(**{"budget": "1.6", "share-1": "5"})
    visitor.share(**{"budget": "1.6", "share-1": "5", "share-2": "4"})
    said = []
    for _ in range(4):
        visitor.post("plan", do="undo")
        draft = visitor.workspace.draft
        said.append((draft.budget, *(one.share for one in draft.questions)))
    assert said == [("1.6", "5", "1"), ("1.6", "1", "1"), ("1", "1", "1"), ("1", "1")]


def test_results_offer_no_report_of_another_plan(visitor, survey):
    visitor.press()
    visitor.get("results")
    assert "report.html" in visitor.page.text
    visitor.post("plan/questions/1", do="keep", query="count", accuracy="audiences", audience="board=1")
    visitor.press()
    visitor.get("results")
    assert "report.board.html" in visitor.page.text and ">report.html" not in visitor.page.text


def test_options_that_say_how_a_table_is_read_are_part_of_the_plan(tmp_path):
    path = tmp_path / "messy.csv"
    path.write_text("made by a machine\nid;age\n" + "".join(f"{number};{number % 9},5\n" for number in range(40)))
    with explored(path, options={"delimiter": ";", "skip_rows": "1", "decimal": ","}) as visitor:
        visitor.post("plan/questions/1", do="keep", query="count", condition="age > 4.25")
        assert "Published: one question" in visitor.press()


def test_questions_keep_their_epsilon_even_if_nobody_looked_at_what_was_published(visitor, survey):
    visitor.press(wait=False)
    visitor.ask(**BY_TOWN)  # while the other is being published
    end = time.monotonic() + 60
    while "ε of its own: 1." not in visitor.get("plan") and time.monotonic() < end:
        time.sleep(0.1)
    visitor.press()
    assert str(spent(survey)) == "ε = 2, δ = 0"


def test_a_table_in_partitions_is_planned_and_published_part_by_part(tmp_path):
    """Of three months the largest charge counts, for records; of persons all add up."""
    path = tmp_path / "visits.csv"
    path.write_text("day,who\n" + "".join(f"2026-0{1 + n % 3}-05,p{n % 7}\n" for n in range(60)))
    months = 'column = "day", period = "month", from = "2026-01", until = "2026-03"'
    path.with_name("visits.iris.toml").write_text(f"partition = {{{months}}}\n")
    with explored(path) as visitor:
        assert "--partition each" in visitor.get("plan")
    with explored(path, options={"partition": "each"}) as visitor:
        visitor.post("plan/questions/1", do="keep", query="count", name="all")
        visitor.ask(query="count", condition="who = 'p1'", name="all of one")
        text = visitor.get("plan")
        assert "All questions cost ε = 1, δ = 0. Publishing now charges ε = 1, δ = 0" in text
        assert text.count("for each of 3 partitions") == 2 and "ε = 0.5" in text
        assert "Published: 6 questions; new: 6." in visitor.press()
        assert str(spent(path)) == "ε = 1, δ = 0"
        text = visitor.get("results")
        assert "1. all: count in month 2026-01 " in text and "2. all of one: count who = 'p1' in month 2026-03 " in text
        for place in range(1, 7):
            assert "in month 2026-0" in visitor.get(f"results/{place}") and visitor.page.status_code == 200
    persons = tmp_path / "persons"
    persons.mkdir()
    (persons / "visits.csv").write_text(path.read_text())
    (persons / "visits.iris.toml").write_text(f'partition = {{{months}}}\nunit = "who"\nat_most = 1\n')
    with explored(persons / "visits.csv", options={"partition": "each"}) as visitor:
        assert "charges ε = 0.999999" in visitor.get("plan")
        visitor.press()
        assert 0.9999 < float(spent(persons / "visits.csv").epsilon) <= 1


def pressed(path, outlook):
    """Return what a press gives to the process that publishes."""
    told = {"text": outlook.text, "most": outlook.most, "agreement": outlook.agreement}
    return {"path": str(path), "known": "", **told}


class Words:
    """Random words that are the same for the same seed."""

    def __init__(self, seed):
        self._drawn = random.Random(seed)

    def words(self, _, count):
        return numpy.array([self._drawn.getrandbits(64) for _ in range(count)], dtype=numpy.uint64)


@pytest.mark.parametrize("seed", range(3))
def test_the_same_bits_give_the_same_answers_and_ledger_as_the_command_line(tmp_path, monkeypatch, seed, capsys):
    """Every question is published in two folders with the same random words: by a press, and by `irisdp run`."""
    draft = new_draft("survey.csv", "survey", {})
    for fields in (COUNT, BY_TOWN, {"query": "mean", "column": "age", "lower": "0", "upper": "99", "step": "1"}):
        draft = draft.with_question(read_values(FIELDS, fields))
    told = {}
    for way in ("explorer", "command line"):
        folder = tmp_path / way
        folder.mkdir()
        (folder / "survey.csv").write_text(SURVEY)
        path = folder / "survey.plan.toml"
        outlook = plan_outlook({"draft": draft.to_json(), "path": str(path), "known": "{}"}, silent)
        words = Words(seed)
        monkeypatch.setattr(OperatingSystemBits, "words", lambda source, count, words=words: words.words(source, count))
        if way == "explorer":
            publish_plan(pressed(path, outlook), silent)
        else:
            path.write_text(outlook.text)
            (folder / "survey-answers").mkdir()
            monkeypatch.chdir(folder)
            assert command(["run", "survey.plan.toml"]) == 0
        answers = {file.name: file.read_text() for file in sorted((folder / "survey-answers").glob("*.csv"))}
        lines = [(str(one.document), str(one.cost)) for one in Ledger(folder / "survey.ledger").releases()]
        told[way] = answers, lines
    assert told["explorer"] == told["command line"] and len(told["explorer"][0]) == 3


def test_a_refusal_of_the_run_is_shown_and_nothing_is_charged(tmp_path):
    (tmp_path / "survey.csv").write_text(SURVEY)
    draft = new_draft("survey.csv", "survey", {}).with_question(read_values(FIELDS, COUNT))
    path = tmp_path / "survey.plan.toml"
    outlook = plan_outlook({"draft": draft.to_json(), "path": str(path), "known": "{}"}, silent)
    less = json.dumps({"epsilon": "1/2", "delta": "0"})
    with pytest.raises(Refusal):
        publish_plan({**pressed(path, outlook), "most": less}, silent)
    assert spent(tmp_path / "survey.csv") is None
