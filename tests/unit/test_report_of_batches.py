"""The page of a whole batch: what all questions cost together, each with its answers, and nothing else of the table."""

import json
import os
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._exact import shown_above
from irisdp._release import ReleaseFile
from irisdp._views.reports import batch_pages, writing
from irisdp._views.reports.batch_pages import plan_page
from irisdp._views.reports.inputs import given_of
from irisdp.errors import NotShown
from support.read_pages import ReadPage

CANARY = "CANARY-TOWN"
EVIL = '</script><script>alert(1)</script><b a="\'">\u202e&amp;'
QUESTIONS = [
    {"query": "count", "expression": "age > 64", "weight": 2},
    {"query": "count", "by": "town", "groups": "Ely,York"},
    {"query": "majority", "expression": "age > 64", "by": "town", "groups": "Ely,York"},
    {"query": "sum age", "lower": 0, "upper": 100, "step": 1},
]
PLAN = {"data": "t.csv", "budget": {"epsilon": 1}, "ledger": "l", "out": "f.csv", "questions": QUESTIONS}
SIDECARS = [f"f.{number}.csv.release.json" for number in (1, 2, 3, 4)]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,age\n" + f"Ely,70\nYork,30\n{CANARY},987654321\n" * 20)
    Path("plan.json").write_text(json.dumps(PLAN))
    return tmp_path


def test_the_page_says_each_question_its_answers_its_errors_and_what_all_cost():
    found = irisdp.batch(PLAN, report="p.html")
    page = ReadPage(Path("p.html").read_text(encoding="utf-8"))
    assert page.problems == []
    assert page.language == "en" and page.tables == page.captions
    assert page.headings.count("h1") == 1 and page.headings.count("h3") == len(QUESTIONS)
    assert page.fetched == [f"#question-{number}" for number in (1, 2, 3, 4)]
    assert sorted(page.names) == [f"question-{number}" for number in (1, 2, 3, 4)]
    assert "4 questions about t.csv" in page.text
    assert "ε = 1, δ = 0 for adding or removing one record, for all 4 questions together." in page.text
    assert (
        "So an adversary who thinks it 50:50 that your record is in the table ends at most 73.11 % sure." in page.text
    )
    for one in found:
        assert f". {one.plan.line}" in page.text
        for row in one.answers.rows():
            parts = dict(zip(one.answers.columns, row, strict=True))
            assert {str(part) for name, part in parts.items() if name != "answer_probability"} <= set(page.cells)
        assert f"keeping {one.plan.audiences[0].mechanism.privacy} for each answer" in page.text
    for one in found.publications[:2]:
        assert (
            f"off by {shown_above(one.sidecars[None]['expected_error']['mean_absolute'])} records on average"
            in page.text
        )
    assert "Questions 1, 2: The interval from answer_low to answer_high" in page.text
    assert "Question 3: That a close call was called rightly" in page.text
    assert "Questions 2, 3: They were chosen before the data were read" in page.text


def test_it_is_a_function_of_the_sidecars_and_of_the_answers(tmp_path):
    found = irisdp.batch("plan.json", report="p.html")
    made = Path("p.html").read_text(encoding="utf-8")
    assert found.pages == found.out[-1:] == (Path("p.html"),)
    assert irisdp.report(found) == irisdp.report(list(found)) == made
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for number in (1, 2, 3, 4):
        for ending in ("", ".release.json", ".datapackage.json"):
            (elsewhere / f"f.{number}.csv{ending}").write_bytes(Path(f"f.{number}.csv{ending}").read_bytes())
    there = [elsewhere / name for name in ("f.4.csv", SIDECARS[1], "f.1.csv.datapackage.json", SIDECARS[2])]
    assert irisdp.report(there) == made  # in whatever order, and named by whichever of their files
    again = irisdp.batch("plan.json", report="again.html", force=True)
    assert again.repeated and Path("again.html").read_text(encoding="utf-8") == made


def test_the_plan_the_command_and_a_session_name_it(capsys):
    Path("named.json").write_text(json.dumps({**PLAN, "report": "named.html"}))
    assert run(["batch", "named.json"]) == 0
    assert run(["batch", "plan.json", "--report", "typed.html", "--force"]) == 0
    session = irisdp.Session("t.csv", ledger="l")
    session.batch(QUESTIONS, budget={"epsilon": 1}, out="f.csv", report="session.html", force=True)
    assert len({Path(f"{name}.html").read_bytes() for name in ("named", "typed", "session")}) == 1
    with pytest.raises(BadInput, match=r"^report: is named by the plan already; leave it out of one of the two$"):
        irisdp.batch("named.json", report="other.html")
    Path("wrong.json").write_text(json.dumps({**PLAN, "report": "p.pdf"}))
    capsys.readouterr()
    assert run(["batch", "wrong.json"]) == 2
    assert capsys.readouterr().err == "irisdp: report: must end in .html; name another file\n"
    elsewhere = {**PLAN, "questions": [{"query": "count", "report": "q.html"}]}
    with pytest.raises(BadInput, match=r"^question 1: report: belongs to the plan, for all questions; "):
        irisdp.batch(elsewhere)


def test_answers_may_go_to_the_page_alone_or_some_of_them():
    bare = [{**one, "out": "f.2.csv"} if place == 1 else one for place, one in enumerate(QUESTIONS)]
    found = irisdp.batch({**PLAN, "out": None, "questions": bare}, report="p.html")
    page = ReadPage(Path("p.html").read_text(encoding="utf-8"))
    assert "Questions 1, 3, 4: the answers were written to no file but this page." in page.text
    assert not any("irisdp report" in line for line in page.lines)
    assert irisdp.report(found) == Path("p.html").read_text(encoding="utf-8")
    found = irisdp.batch({**PLAN, "out": None}, report="q.html")
    assert found.repeated and found.out == (Path("q.html"),)
    assert "These answers were written to no file but this page." in Path("q.html").read_text(encoding="utf-8")


def test_a_batch_of_one_question_has_the_page_of_its_release():
    irisdp.batch({**PLAN, "questions": QUESTIONS[:1]}, report="p.html")
    assert Path("p.html").read_text(encoding="utf-8") == irisdp.report("f.1.csv")


def test_what_it_has_of_the_table_are_the_answers(here, monkeypatch):
    made = []
    for name, rows in (("one", 20), ("two", 20)):
        folder = here / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        extra = f"{CANARY},987654321\n" if name == "one" else "other,-4\n"
        Path("t.csv").write_text("town,age\n" + f"Ely,70\nYork,30\n{extra}" * rows)
        found = irisdp.batch({**PLAN, "budget": {"epsilon": 900}}, report="p.html")
        text = Path("p.html").read_text(encoding="utf-8")
        assert CANARY not in text and "987654321" not in text and str(here) not in text and "secret" not in text
        made.append(text)
        answers = {str(value) for one in found for value in one.answers.values}
        assert answers <= set(ReadPage(text).cells)


def test_whatever_is_written_by_others_is_text():
    quoted = EVIL.replace('"', '""')
    Path("t.csv").write_text(f'town\n"{quoted}"\nother\n', encoding="utf-8")
    asked = [
        {"query": "count", "by": "town", "groups": [EVIL, "other"]},
        {"query": "count", "expression": "town = '<script>alert(2)</script>'"},
    ]
    plan = {**PLAN, "questions": asked, "table": "</td><i>`x`", "out": "-e`vil $(x) '.csv"}
    irisdp.batch(plan, report="p.html")
    text = Path("p.html").read_text(encoding="utf-8")
    assert "<script" not in text and "<b " not in text and "<i>" not in text and "\u202e" not in text
    page = ReadPage(text)
    assert page.problems == [] and "alert(1)" in page.text
    (again,) = (line for line in page.lines if line.startswith("irisdp report"))
    assert run(shlex.split(again)[1:]) == 0
    assert Path("again.html").read_text(encoding="utf-8") == text


def test_its_commands_do_what_they_say(here, monkeypatch, capsys):
    irisdp.batch("plan.json", report="p.html")
    made = Path("p.html").read_text(encoding="utf-8")
    folder = here / "handed"
    folder.mkdir()
    for path in here.glob("f.*.csv*"):
        (folder / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(folder)
    lines = [line for line in ReadPage(made).lines if line.startswith(("irisdp ", "echo "))]
    assert [line.split()[1] for line in lines if line.startswith("irisdp")] == ["interpret", "report", "audit"]
    for line in lines:
        said = re.fullmatch(r"echo ('.*') > spec\.json && (irisdp .*)", line)
        if said:
            Path("spec.json").write_text(shlex.split(said[1])[0])
        assert run(shlex.split(said[2] if said else line)[1:]) == 0, (line, capsys.readouterr().err)
    assert Path("again.html").read_text(encoding="utf-8") == made


@pytest.mark.parametrize(("page", "said"), [
    ("a.csv", "must end in .html"),
    ("no/a.html", "does not exist"),
    ("there.html", "is there already"),
    ("link.html", "is the data, which is never written over"),
    ("plan.html", "is the plan, which is never written over"),
    (".", "must end in .html"),
])  # fmt: skip
def test_a_page_that_cannot_be_written_spends_nothing(here, capsys, page, said):
    Path("there.html").write_text("mine")
    Path("link.html").symlink_to("t.csv")
    os.link("plan.json", "plan.html")
    before = sorted(os.listdir())
    for more in ([], ["--dry-run"], *([["--force"]] if page != "there.html" else [])):
        assert run(["batch", "plan.json", "--report", page, *more]) == 2
        told = capsys.readouterr().err
        assert told.startswith("irisdp: --report: ") and said in told and len(told.splitlines()) == 1
        assert sorted(os.listdir()) == before
    assert Path("there.html").read_text() == "mine"


@pytest.mark.parametrize("fails", [TypeError("the answer was 41"), BadInput("answers", "41", "x"), OSError(28, "full")])
def test_what_goes_wrong_after_the_charge_says_so(fails, monkeypatch, capsys):
    def broken(*_, **__):
        raise fails

    with monkeypatch.context() as patched:
        patched.setattr(writing, "batch_page", broken)
        assert run(["batch", "plan.json", "--report", "p.html"]) == 3
    told = capsys.readouterr().err
    assert "make the page from them with `irisdp report" in told
    assert "41" not in told and Path("f.1.csv").exists() and not Path("p.html").exists()
    with pytest.raises(NotShown), monkeypatch.context() as patched:
        patched.setattr(writing, "batch_page", broken)
        irisdp.batch("plan.json", report="p.html", force=True)
    assert irisdp.batch("plan.json", report="p.html", force=True).repeated
    assert Path("p.html").exists()


def test_a_page_of_a_batch_is_of_all_its_questions_and_of_no_other():
    irisdp.batch("plan.json")
    irisdp.publish("t.csv", "count", epsilon=1, ledger="l", out="alone.csv")
    irisdp.batch({**PLAN, "questions": [*QUESTIONS[:3], {"query": "count"}], "out": "g.csv"})
    for files, said in (
        (SIDECARS[:3], r"question 4 is missing, of 4 that were charged together; give all of them, or one alone"),
        ([*SIDECARS[1:], SIDECARS[2]], r"question 3 is given twice; give each question once"),
        ([*SIDECARS[:3], "g.4.csv"], r"was not charged together with the others; give the questions of one batch"),
        ([*SIDECARS, "alone.csv"], r"is no question of a batch, and others are beside it; report it alone"),
        ([], r"is an empty list; .*"),
        ([SIDECARS], r".*"),
    ):
        with pytest.raises(BadInput, match=f"^release: {said}$"):
            irisdp.report(files)
    with pytest.raises(BadInput, match=r"^audience: "):
        irisdp.report(SIDECARS, audience="press")
    document = json.loads(Path(SIDECARS[0]).read_text())
    Path(SIDECARS[0]).write_text(json.dumps({**document, "audience": "press"}))
    with pytest.raises(BadInput, match="is no question of a batch"):
        irisdp.report(SIDECARS)


def test_a_report_of_a_batch_goes_over_nothing_it_is_made_of(capsys):
    found = irisdp.batch("plan.json")
    for path in found.out:
        twin = path.with_name(f"{path.name}.html")
        os.link(path, twin)
        assert run(["report", *SIDECARS, "-o", str(twin), "--force"]) == (0 if "datapackage" in path.name else 2)
    capsys.readouterr()
    os.link("l", "l.html")
    with pytest.raises(BadInput, match="is the ledger, which is never written over"):
        irisdp.report(found, out="l.html", force=True)


def test_many_questions_make_a_page_of_bounded_size(monkeypatch):
    monkeypatch.setattr(batch_pages, "_MOST_PICTURES", 1)
    monkeypatch.setattr(batch_pages, "_ROWS", 20)
    questions = [
        {"query": "count", "expression": f"age > {age}", "by": "age", "groups": list(range(60))} for age in (1, 2)
    ]
    found = irisdp.batch({**PLAN, "questions": questions})
    text = irisdp.report(found)
    assert text.count("<figure") == 1
    assert text.count("The first 10 are shown; the others are in the file") == 4  # captions, and what they are called
    assert "The answers of the first 1 questions are drawn" in text


# The page of a plan over several tables says nothing of one that could be taken for all.


@pytest.fixture(autouse=True)
def here_of_plans(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, times in (("loans", 5), ("lake", 6)):
        (tmp_path / f"{name}.csv").write_text("member,kind\n" + "1,a\n1,b\n2,a\n" * times)


def planned(*questions):
    given = []
    for place, (table, question, options) in enumerate(questions):
        out = f"{place}.csv"
        irisdp.publish(f"{table}.csv", *question, out=out, **({"epsilon": 1} | options))
        given.append(given_of(Path(out)))
    return given


def test_what_is_said_of_one_table_is_not_said_of_all():
    given = planned(
        ("loans", ("count",), {"epsilon": "1.5", "delta": "1e-6"}),
        ("lake", ("count",), {"epsilon": "0.35", "unit": "member", "at_most": 1}),
        ("lake", ("count", "kind = 'a'"), {"epsilon": "0.25", "unit": "member", "at_most": 1}),
    )
    page = ReadPage(plan_page(given, [None, "second", None], "week"))
    assert page.problems == []
    assert "before and after these questions about lake.csv" in page.text
    assert "all of this" not in page.text
    assert "costs add up across them too" in page.text
    assert "3 questions about loans.csv, lake.csv" in page.text and "The plan “week”: 3 questions, each" in page.text
    assert "2. second: count per member" in page.text
    alone = ReadPage(plan_page(given[1:2], [None], "week")).text
    assert "before and after this question about lake.csv" in alone and "across tables" not in alone


def test_dates_are_those_of_all_answers():
    given = planned(("loans", ("count",), {}), ("loans", ("count", "kind = 'a'"), {}))
    dates = ("2026-11-24T00:40:39", "2027-02-01T10:00:00")
    given = [
        replace(one, facts=ReleaseFile({**one.facts.stored, "date": date}))
        for one, date in zip(given, dates, strict=True)
    ]
    page = ReadPage(plan_page(given, [None, None], "week")).text
    assert "between 2026-11-24T00:40:39 and 2027-02-01T10:00:00." in page
    assert "Drawn2026-11-24T00:40:39" in page and "Drawn2027-02-01T10:00:00" in page
    assert "on 2026-11-24T00:40:39." in ReadPage(plan_page(given[:1], [None], "week")).text


def test_an_answer_outside_its_ends_is_not_said_to_be_between_them():
    given = planned(("loans", ("count-distinct", "kind"), {"epsilon": "0.05"}))
    for page in (plan_page(given, [None], "week"), irisdp.report(Path("0.csv"))):
        text = ReadPage(page).text
        assert "and so lie outside its interval. Quote the interval;" in text
        assert "between them" not in text
