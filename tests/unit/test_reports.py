"""A report: one page that says of a release all that is public, and nothing else, to whoever it is handed."""

import itertools
import os
import re
import shlex
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow
import pytest

import irisdp
from irisdp import BadInput, Cost, NeighbouringRelation
from irisdp._cli import run
from irisdp._measurements import KINDS, MeasurementKind
from irisdp._queries import FORMS
from irisdp._release import ReleaseFile
from irisdp._views.reports import odds_of
from irisdp._views.reports.batch_pages import plan_page
from irisdp._views.reports.inputs import File, Given
from irisdp._views.reports.page import release_page
from irisdp._views.reports.sentences import ERRORS
from irisdp.interpretation import RULES
from support.read_pages import ReadPage
from support.sweeps import tried

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
        kept["another_ledger"] = True
        found[name] = irisdp.publish(STUDY, *question, **(options | private | kept))
    return folder, found


@pytest.mark.parametrize("name", [*QUESTIONS][:: tried(3, 1)])
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
    assert all(form.asks for form in FORMS)
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
        assert kinds[kind] == (KINDS[kind].read_as in RULES), name
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
    assert "A record without a number in pay is left out." in plain and "Weights" not in plain


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
        "data": str(STUDY), "budget": {"epsilon": 1}, "ledger": "l", "secret": "s", "out": "f.csv", "questions": asked,
    }  # fmt: skip
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


# What a page says of sidecars that few steps of `publish` lead to, each sentence with its scope.

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
    return release_page(Given(ReleaseFile(SIDECAR | other), tuple(SIDECAR["columns"]), answers, files))


def said(**other):
    return ReadPage(made(**other)).text


@pytest.mark.parametrize(("cost", "less"), [
    ({"epsilon": "1", "delta": "0"}, "k times less: ε counts k times."),
    ({"epsilon": "1", "delta": "1e-6"}, "less: ε counts k times, and δ more than k times."),
    ({"mu_squared": "1"}, "k times less: μ counts k times."),
    ({"rho": "1"}, "less: ρ counts k² times."),
])  # fmt: skip
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
        given.append(Given(ReleaseFile(SIDECAR | other), tuple(SIDECAR["columns"])[-len(row) :], (row,), files))
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


# A page about some records of each person says so wherever a number, or an error, could be taken for one of all.

KINDS_OF_PERSONS = {"by": "kind", "groups": "a,b"}
NAMES = {"categories": "a,b"}
BINS = {"bins": "10,20"}
BETWEEN_OF_PERSONS = {"lower": 0, "upper": 40}
ONE = "Of one record of each member, chosen at random: "
SO_MANY = "That there are so many records, or so many different values of member with such a record: of each member "
THE_SAME = "That the same holds of all records: of each member "
SOME = {
    "by": (("count",), KINDS_OF_PERSONS, ONE + "how many records there are, for each kind.", SO_MANY),
    "condition": (
        ("count", "days > 20"),
        {},
        ONE + "how many records there are for which “days > 20” is true.",
        SO_MANY,
    ),
    "selected": (("count",), {"by": "kind", "select_groups": True, "delta": "1e-6"}, ONE + "how many records", SO_MANY),
    "histogram": (("histogram", "days"), BINS, ONE + "how many records there are, for each days_bin", SO_MANY),
    "sizes": (("sizes", "kind"), {}, ONE + "how large the categories of kind are", SO_MANY),
    "at-least": (("at-least", 3), {}, ONE + "whether there are at least 3 records.", SO_MANY),
    "at-most": (("at-most", 3), {}, ONE + "whether there are at most 3 records.", SO_MANY),
    "band": (("band", "2,4"), {}, ONE + "in which band the number of records lies", SO_MANY),
    "count-distinct": (("count-distinct", "kind"), {}, ONE + "how many different values kind has.", THE_SAME),
    "majority": (("majority", "days > 20"), {}, ONE + "whether “days > 20” is true of more", THE_SAME),
    "sum": (("sum", "days"), BETWEEN_OF_PERSONS, ONE + "the sum of days", THE_SAME),
    "mean": (("mean", "days"), BETWEEN_OF_PERSONS, ONE + "the mean of days", THE_SAME),
    "plurality": (("plurality", "kind"), NAMES, ONE + "which category of kind most records have.", THE_SAME),
    "median": (("median", "days"), BINS, ONE + "which bin holds the median of days.", THE_SAME),
    "quantile": (("quantile", "0.9", "days"), BINS, ONE + "which bin holds the quantile 0.9 of days.", THE_SAME),
    "top": (("top", 1, "kind"), NAMES, ONE + "which 1 categories of kind most records have.", THE_SAME),
    "ranking": (("ranking", "kind"), NAMES, ONE + "how the categories of kind rank", THE_SAME),
    "audience": (
        ("count",),
        KINDS_OF_PERSONS | {"audience": {"board": 2}},
        ONE + "how many records there are, for each",
        SO_MANY,
    ),
    "several": (
        ("count",),
        KINDS_OF_PERSONS | {"at_most": 3, "groups_per_unit": 1},
        "Of at most 3 records of each member, in one group, chosen at random: how many records there are, for each",
        SO_MANY,
    ),
}
COUNTS = ("by", "condition", "selected", "histogram", "sizes", "audience")


def asked(question, options, folder):
    table = pyarrow.table({"member": [1, 1, 1, 2, 2, 3], "kind": list("abaabb"), "days": [3, 30, 9, 22, 5, 40]})
    private = {} if "audience" in options else {"epsilon": 1}
    which = {} if options.keys() & {"at_most", "per_unit"} else {"at_most": 1}
    return irisdp.publish(table, *question, unit="member", ledger=folder / "l", **private, **which, **options)


@pytest.mark.parametrize("name", SOME)
def test_some_records_of_each_are_not_all(name, tmp_path):
    question, options, words, warning = SOME[name]
    page = ReadPage(irisdp.report(asked(question, options, tmp_path)))
    assert words in page.text
    few = "at most 3" if name == "several" else "only one"
    assert f"{warning}{few}, chosen at random, counted." in page.text
    assert f"{'at most 3 records' if name == 'several' else 'one record'} of each member" in page.text
    assert not re.search("(?<!chosen at random: )[Hh]ow many records", page.text)
    if name in COUNTS:
        assert "Numbers count records, one per member." in page.text
        assert "different member" not in page.text
    assert page.problems == []


def test_persons_are_said_to_be_counted_where_they_are(tmp_path):
    for question, options, words in (
        (("count",), {}, "How many different values of member there are."),
        (
            ("count", "days > 20"),
            {"per_unit": "any"},
            "Taking each member as one record, which says yes if any of its records do: how many records there are for",
        ),
        (
            ("count", "days > 20"),
            {"per_unit": "all", **KINDS_OF_PERSONS},
            "in the group of one of them, chosen at random: how",
        ),
    ):
        text = ReadPage(irisdp.report(asked(question, options, tmp_path))).text
        assert words in text
        assert "Numbers count different values of member." in text
        assert re.search(r"off by [0-9.]+ values of member on average", text)
        assert SO_MANY not in text and THE_SAME not in text
        assert ("That a member is in one group alone" in text) == ("by" in options)


def test_errors_are_measured_in_words_of_one_piece(tmp_path):
    for question, options, words in (
        (("count",), KINDS_OF_PERSONS | {"at_most": 5}, r"off by [0-9.]+ records on average"),
        (("count-distinct", "kind"), {}, r"off by at most \d+ values of kind in 95 % of cases"),
        (("count",), KINDS_OF_PERSONS | {"epsilon": 20}, r"off by at most 0 records in 95 % of cases"),
        (("count",), KINDS_OF_PERSONS | {"epsilon": 3}, r"off by at most 1 record in 95 % of cases"),
        (("median", "days"), BINS, r"off by at most \d+ records in 95 % of cases"),
        (("sum", "days"), BETWEEN_OF_PERSONS, r"off by at most \d+ in 95 % of cases, as days is measured"),
    ):
        found = irisdp.publish(
            pyarrow.table({"member": [1, 2], "kind": ["a", "b"], "days": [3, 9]}),
            *question,
            unit="member",
            ledger=tmp_path / "l",
            **({"epsilon": 1, "at_most": 1} | options),
        )
        assert re.search(words, ReadPage(irisdp.report(found)).text), question


def test_the_page_of_a_plan_and_of_a_batch_say_it_of_each_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("member,kind\n" + "1,a\n1,b\n2,a\n" * 5)
    question = '[[questions]]\nquery = "count"\nby = "kind"\ngroups = ["a", "b"]\nepsilon = 1\n'
    one = "at_most = 1\n"
    (tmp_path / "p.toml").write_text(
        f'report = "plan.html"\n[datasets.t]\ndata = "t.csv"\nunit = "member"\n{question}{one}{question}at-most = 2\n'
    )
    irisdp.run("p.toml")
    of_kind = {"query": "count", "by": "kind", "groups": "a,b", "at_most": 1}
    batch = {"data": "t.csv", "unit": "member", "budget": {"epsilon": 1}, "questions": [of_kind, {"query": "count"}]}
    irisdp.batch(batch, ledger="b.ledger", another_ledger=True, report="batch.html")
    for name in ("plan", "batch"):
        page = ReadPage((tmp_path / f"{name}.html").read_text(encoding="utf-8"))
        assert "Countedone record of each member, chosen at random" in page.text
        assert "Of one record of each member, chosen at random: how many records there are" in page.text
    assert "Countedat most 2 records of each member" in (tmp_path / "plan.html").read_text(encoding="utf-8").replace(
        "</dt><dd>", ""
    )


# Numbers on a page err on the side of whoever relies on them: what may go wrong is rounded up, what is left down.


@pytest.mark.parametrize("epsilon", ["1e-40", "1e-6", 1, 50, 69, 70, 100, 999, 1000, 5000])
def test_no_belief_is_moved_beyond_certainty(epsilon):
    for before, least, most in odds_of(Cost(Fraction(epsilon)), NeighbouringRelation.ADD_REMOVE, None).moved:
        assert 0 <= percent(least) < percent(before) < percent(most) <= 100


def percent(said):
    number, sign = said.split(" ")
    assert sign == "%"
    return Fraction(number)


# `publish --report`: a page beside the answers, or alone, planned before anything is spent.


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,age\n" + "Ely,70\nYork,30\n" * 20)
    return tmp_path


GROUPS = ["--by", "town", "--groups", "Ely,York"]


def test_the_page_is_that_of_the_files(here):
    assert run(["publish", "t.csv", "count", *GROUPS, "--epsilon", "1", "--out", "a.csv", "--report", "a.html"]) == 0
    assert Path("a.html").read_text(encoding="utf-8") == irisdp.report("a.csv")


def test_answers_may_go_to_a_page_alone(here):
    found = irisdp.publish("t.csv", "count", epsilon=1, report="a.html")
    assert found.out == (Path("a.html"),)
    made = Path("a.html").read_text(encoding="utf-8")
    assert made == irisdp.report(found)
    assert "written to no file but this page" in made


def test_each_audience_has_a_page_of_its_own(here):
    wanted = {"audience": {"board": 2, "press": "0.2"}, "out": "a.csv", "report": "p.html"}
    found = irisdp.publish("t.csv", "count", **wanted)
    assert [path.name for path in found.out[-2:]] == ["p.board.html", "p.press.html"]
    for name in ("board", "press"):
        made = Path(f"p.{name}.html").read_text(encoding="utf-8")
        assert made == irisdp.report(found, audience=name) == irisdp.report(f"a.{name}.csv")


@pytest.mark.parametrize(("page", "said"), [
    ("a.csv", "must end in .html"),
    ("no/a.html", "does not exist"),
    ("there.html", "is there already"),
    ("link.html", "is the data, which is never written over"),
    (".", "must end in .html"),
])  # fmt: skip
def test_a_page_that_cannot_be_written_spends_nothing(here, capsys, page, said):
    Path("there.html").write_text("mine")
    Path("link.html").symlink_to("t.csv")
    before = sorted(os.listdir())
    for dry in ([], ["--dry-run"]):
        typed = ["publish", "t.csv", "count", "--epsilon", "1", "--out", "out.csv", "--report", page, *dry]
        assert run(typed) == 2
        told = capsys.readouterr().err
        assert told.startswith("irisdp: --report: ") and said in told and len(told.splitlines()) == 1
        assert sorted(os.listdir()) == before
    assert Path("there.html").read_text() == "mine"


def test_a_page_may_replace_one_that_is_there_with_force(here):
    Path("a.html").write_text("old")
    irisdp.publish("t.csv", "count", epsilon=1, report="a.html", force=True)
    assert Path("a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
