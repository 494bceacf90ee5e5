"""A report: one page that says of a release all that is public, and nothing else, to whoever it is handed."""

import re
import shlex
import sys
from pathlib import Path

import pyarrow
import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._measurements import KINDS, MeasurementKind
from irisdp._queries import FORMS
from irisdp._views.reports.sentences import ASKED, ERRORS
from irisdp.interpretation import RULES
from support.read_pages import ReadPage

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "examples" / "anes96.csv"
EDUC = {"by": "educ", "groups": "1,2,3"}
PARTIES = {"categories": "0,1,2,3,4,5,6"}
BETWEEN = {"lower": 18, "upper": 100, "step": 1}
QUESTIONS = {
    "count": (("count", "vote = 1"), EDUC),
    "pairs": (
        ("count",),
        {"privacy": '{"all": [{"epsilon": 1}, {"epsilon": "1/2", "delta": "1e-3"}]}', "delta": "1e-6"},
    ),
    "gaussian": (("count",), {"mu": "1/2", "delta": "1e-6"}),
    "delta": (("count",), {"epsilon": 1, "delta": "1e-3"}),
    "named": (("count",), {"by": "age", "select_groups": True, "epsilon": 1, "delta": "1e-6"}),
    "selected": (("majority", "vote = 1"), {"by": "educ", "select_groups": True, "epsilon": 1, "delta": "1e-6"}),
    "at-least": (("at-least", 10, "age > 64"), {}),
    "at-most": (("at-most", 10, "age > 64"), {}),
    "band": (("band", "10,100", "age > 64"), {}),
    "majority": (("majority", "vote = 1"), EDUC),
    "histogram": (("histogram", "age"), {"bins": "18,40,65"}),
    "sum": (("sum", "age"), BETWEEN),
    "mean": (("mean", "age"), BETWEEN | EDUC),
    "plurality": (("plurality", "PID"), PARTIES | EDUC),
    "median": (("median", "age"), {"bins": "18,40,65"}),
    "quantile": (("quantile", "0.9", "age"), {"bins": "18,40,65"}),
    "top": (("top", 2, "PID"), PARTIES),
    "ranking": (("ranking", "vote"), {"categories": "0,1"}),
    "sizes": (("sizes", 3, "PID"), {}),
    "count-distinct": (("count-distinct", "age"), {}),
    "person": (("count",), {"unit": "age", "at_most": 3, "ledger": "unit"} | EDUC),
    "column": (("column", "vote"), {"categories": "0,1", "relation": "exchange", "ledger": "exchange"}),
    "exchange": (("count", "vote = 1"), {"relation": "exchange", "public_membership": True, "ledger": "public"} | EDUC),
    "everybody": (("mean", "age"), {"relation": "exchange", "missing": 18, "ledger": "exchange"} | BETWEEN),
    "mu": (("count",), {"mu": "1/3", "ledger": "mu"}),
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """Publish every kind of question once: by name the publication; the answers lie at `NAME.csv`."""
    folder = tmp_path_factory.mktemp("released")
    irisdp.Ledger(folder / "mu.ledger").set_limit(mu=1)
    found = {}
    for name, (question, options) in QUESTIONS.items():
        private = {} if {"epsilon", "mu", "privacy"} & options.keys() else {"epsilon": 1}
        ledger = folder / f"{options.get('ledger', 'all')}.ledger"
        kept = {"ledger": ledger, "secret": folder / "kept", "out": folder / f"{name}.csv"}
        found[name] = irisdp.publish(STUDY, *question, **(options | private | kept))
    return folder, found


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_is_a_function_of_the_sidecar_and_of_the_answers(released, name, tmp_path):
    folder, found = released
    made = irisdp.report(found[name])
    for file in (f"{name}.csv", f"{name}.csv.release.json"):
        (tmp_path / file).write_bytes((folder / file).read_bytes())
    assert irisdp.report(tmp_path / f"{name}.csv.release.json") == made
    assert irisdp.report(tmp_path / f"{name}.csv") == made
    (tmp_path / f"{name}.csv.datapackage.json").write_bytes((folder / f"{name}.csv.datapackage.json").read_bytes())
    assert irisdp.report(tmp_path / f"{name}.csv.datapackage.json") == made


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_says_the_question_the_answers_and_the_errors(released, name):
    _, found = released
    made = irisdp.report(found[name])
    words = ReadPage(made).text
    assert found[name].plan.line in words
    assert set(found[name].sidecars[None]["expected_error"]) <= ERRORS.keys()
    cells = [cell for cell in ReadPage(made).cells]
    columns = found[name].answers.columns
    for row in found[name].answers.rows():
        for column, part in zip(columns, row, strict=True):
            # A probability that is the same for all rows is said once, below the table.
            assert column == "answer_probability" or ("" if part is None else str(part)) in cells
    undrawn = ReadPage(re.sub("<figure.*?</figure>", "", made, flags=re.DOTALL)).text
    said = re.findall(r"answer is (?:right|the record's own) with probability 0[.]\d+ or more", undrawn)
    assert len(said) == ("answer_probability" in columns)
    assert "…" not in words.replace("…", "", 0) or name in ("named",)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_is_one_that_everybody_can_read(released, name):
    page = ReadPage(irisdp.report(released[1][name]))
    assert page.problems == []
    assert page.language == "en"
    assert page.headings[0] == "h1" and page.headings.count("h1") == 1
    assert page.tables == page.captions > 0
    assert not page.fetched


@pytest.mark.parametrize("name", ["count", "plurality"])
def test_the_answers_are_drawn_where_something_can_draw_them(released, name, monkeypatch):
    made = irisdp.report(released[1][name])
    (drawn,) = re.findall("<figure.*?</figure>", made, flags=re.DOTALL)
    assert "<title>Published: " in drawn and "<desc>3 published answers to the question " in drawn
    assert re.search('<svg [^>]*role="img"', drawn)
    monkeypatch.setitem(sys.modules, "altair", None)
    assert irisdp.report(released[1][name]) == made.replace(drawn, "")


def test_the_example_in_the_docs_is_what_its_files_make():
    kept = ROOT / "docs" / "report"
    assert irisdp.report(kept / "votes.csv") == (kept / "votes.html").read_text(encoding="utf-8")


def test_every_query_and_every_mechanism_has_its_words(released):
    assert {form.name for form in FORMS} <= ASKED.keys()
    kinds = {found.sidecars[None]["mechanism"]["kind"] for found in released[1].values()}
    assert kinds <= KINDS.keys()
    for kind in MeasurementKind:
        assert (ROOT / "proofs" / f"{kind.proof}.md").is_file()


def test_a_page_promises_of_interpret_what_it_reads(released):
    kinds = {}
    for name, found in released[1].items():
        words = ReadPage(irisdp.report(found)).text
        kind = found.sidecars[None]["mechanism"]["kind"]
        kinds[kind] = "says how often, given what you know" in words
        assert kinds[kind] == (kind in RULES), name
        assert "the errors above" not in words
    assert set(kinds.values()) == {False, True} and "quantile-bin" in kinds


def test_a_page_says_what_counts_of_each_person_and_of_each_record(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = {"person": ["a", "a", "b"], "pay": [3, None, 9], "w": [1, 2, 3]}
    session = irisdp.Session(pyarrow.table(people), ledger="l", unit="person")
    bounds = {"lower": 0, "upper": 10, "epsilon": 1}
    weighted = session.sum("pay", weight="w", weight_upper=3, missing=2, at_most=2, **bounds)
    said = ReadPage(irisdp.report(weighted)).text
    assert (
        "Of at most 2 records of each person, chosen at random: the sum of pay, each value counted from 0 to 10, "
        in said
    )
    assert "times w from 0 to 3." in said
    assert "at most 2 records of each person" in said
    assert "A record without a number in pay counts as 2." in said
    assert "Declared: w from 0 to 3. A record without a number there adds nothing." in said
    plain = ReadPage(irisdp.report(session.mean("pay", at_most=1, **bounds))).text
    assert "one record of each person" in plain
    assert "A record without a number in pay counts as nothing." in plain and "Weights" not in plain


def test_whatever_is_written_by_others_is_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = '</script><script>alert(1)</script><b a="\'">\u202e&amp;'
    (tmp_path / "t.csv").write_text('town\n"' + evil.replace('"', '""') + '"\nother\n', encoding="utf-8")
    irisdp.publish("t.csv", "count", by="town", groups=[evil, "other"], epsilon=1, table="</td><i>", out="a.csv")
    made = irisdp.report("a.csv")
    assert "<script" not in made and "<b " not in made and "\u202e" not in made
    assert "alert(1)" in ReadPage(made).text
    assert ReadPage(made).problems == []


def test_no_value_of_the_table_is_in_a_page_but_by_the_answers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("town,age\n" + "CANARY-TOWN,987654321\nEly,5\n" * 3, encoding="utf-8")
    for place, (question, options) in enumerate(
        [
            (("count", "age > 4"), {"by": "town", "groups": "Ely,York"}),
            (("sum", "age"), {"lower": 0, "upper": 9, "step": 1}),
            (("plurality", "town"), {"categories": "Ely,York"}),
            (("count",), {"by": "town", "select_groups": True, "delta": "1e-6"}),
        ]
    ):
        irisdp.publish("t.csv", *question, **options, epsilon=1, out=f"{place}.csv")
        made = irisdp.report(f"{place}.csv")
        assert "CANARY" not in made and "987654321" not in made and str(tmp_path) not in made


def test_whoever_is_handed_a_page_learns_no_other_audience(tmp_path):
    told = irisdp.publish(
        STUDY, "count", audience={"board": 2, "press": "0.2"}, ledger=tmp_path / "l", out=tmp_path / "a.csv"
    )
    with pytest.raises(BadInput, match=r"^audience: is needed.*; choose from board, press$"):
        irisdp.report(told)
    made = irisdp.report(told, audience="press")
    assert made == irisdp.report(tmp_path / "a.press.csv")
    assert "a.board" not in made and "ε = 0.2" in ReadPage(made).text
    with pytest.raises(BadInput, match=r"^audience: has no answers here; choose from board, press$"):
        irisdp.report(told, audience="mob")
    with pytest.raises(BadInput, match=r"^audience: "):
        irisdp.report(tmp_path / "a.press.csv", audience="press")


def test_a_question_of_a_batch_says_what_all_cost_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = [{"query": "count", "expression": "age > 64"}, {"query": "majority", "expression": "vote = 1"}]
    plan = {
        "data": str(STUDY),
        "budget": {"epsilon": 1},
        "ledger": "l",
        "secret": "s",
        "out": "f.csv",
        "questions": asked,
    }
    found = irisdp.batch(plan)
    for place, one in enumerate(found, 1):
        made = irisdp.report(one)
        assert made == irisdp.report(f"f.{place}.csv")
        assert f"question {place} of 2, charged as one" in ReadPage(made).text
        assert "before and after the whole batch" in ReadPage(made).text


@pytest.mark.parametrize("name", ["count", "gaussian", "majority", "plurality", "sizes", "column", "sum", "named"])
def test_the_commands_of_a_page_do_what_they_say(released, name, tmp_path, monkeypatch, capsys):
    folder, found = released
    made = irisdp.report(found[name])
    for file in folder.glob(f"{name}.csv*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    lines = [line for line in ReadPage(made).lines if line.startswith("irisdp ") or line.startswith("echo ")]
    assert any(line.startswith("irisdp report") for line in lines)
    for line in lines:
        said = re.fullmatch(r"echo ('.*') > spec\.json && (irisdp .*)", line)
        if said:
            (tmp_path / "spec.json").write_text(shlex.split(said[1])[0])
        assert run(shlex.split(said[2] if said else line)[1:]) == 0, (line, capsys.readouterr().err)
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == made


def test_a_report_goes_over_nothing_it_is_made_of(released, tmp_path, capsys):
    folder, found = released
    for file in folder.glob("count.csv*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    release = tmp_path / "count.csv.release.json"
    assert run(["report", str(release), "-o", str(tmp_path / "page.html")]) == 0
    assert run(["report", str(release), "-o", str(tmp_path / "page.html")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert run(["report", str(release), "-o", str(tmp_path / "page.html"), "--force"]) == 0
    assert run(["report", str(release), "-o", str(release), "--force"]) == 2
    (tmp_path / "page.html").unlink()
    (tmp_path / "page.html").symlink_to(tmp_path / "count.csv")
    assert run(["report", str(release), "-o", str(tmp_path / "page.html"), "--force"]) == 2
    capsys.readouterr()
    assert run(["report", str(release)]) == 0
    assert capsys.readouterr().out == irisdp.report(found["count"])
