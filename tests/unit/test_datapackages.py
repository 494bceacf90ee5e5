"""The data package beside answers is one, by Frictionless's own validator, and says what was promised."""

import contextlib
import datetime
import hashlib
import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._ledger import entries
from irisdp._release import release_file

pytestmark = pytest.mark.usefixtures("one_engine")

TOWNS = {"by": "town", "groups": ["Ely", "=York"]}
ASKED = {
    "a count": (("count", "age > 64"), {}),
    "counts by group": (("count",), TOWNS),
    "yes or no": (("at-least", 2), TOWNS),
    "a histogram": (("histogram", "age"), {"bins": "18,65"}),
    "sizes": (("sizes", "town"), {}),
    "a winner": (("plurality", "town"), {"categories": "Ely,=York"}),
    "people": (("count",), {"unit": "town", "at_most": 1}),
    "exchanged": (("majority", "age > 64"), {"relation": "exchange"}),
    "each record": (("column", "town"), {"relation": "exchange", "categories": "Ely"}),
}


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text("town,age\nEly,70\n=York,30\nEly,81\n")
    return Path("survey.csv")


def package(out):
    return json.loads(Path(f"{out}.datapackage.json").read_text(encoding="utf-8"))


def problems(out):
    """Validate the package, and the file of answers against it, as a stranger would."""
    frictionless = pytest.importorskip("frictionless", reason="frictionless is not installed: `make test` installs it")
    report = frictionless.validate(f"{out}.datapackage.json", type="package")
    return [error.message for task in report.tasks for error in task.errors] + [e.message for e in report.errors]


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("asked", ASKED)
def test_packages_and_their_tables_are_valid(asked, ending, survey):
    arguments, options = ASKED[asked]
    irisdp.publish(survey, *arguments, epsilon=1, out=f"o.{ending}", licence="CC-BY-4.0", **options)
    assert problems(f"o.{ending}") == []


def test_a_table_that_is_not_as_described_is_found(survey):
    irisdp.publish(survey, "count", epsilon=1, out="o.csv", **TOWNS)
    told = Path("o.csv").read_text(encoding="utf-8").splitlines()
    for wrong in (told[:2] + told[1:], [told[0], "Ely,many" + told[1][5:]], [told[0].replace("answer", "count")]):
        Path("o.csv").write_text("\n".join(wrong) + "\n", encoding="utf-8")
        assert problems("o.csv")


def test_it_says_what_was_promised_to_whom(survey):
    found = irisdp.publish(
        survey,
        "count",
        epsilon="0.5",
        unit="town",
        at_most=1,
        out="o.csv",
        table="survey of 2024",
        licence="https://a.example/b",
    )
    told = package("o.csv")
    assert told["licenses"] == [{"path": "https://a.example/b"}]
    assert told["sources"] == [{"title": "survey of 2024"}]
    assert told["title"] == found.plan.line
    assert told["privacy"]["relation"] == "add-remove"
    assert told["privacy"]["unit"] == "town"
    assert told["privacy"]["unit_rule"] == found.sidecars[None]["unit_rule"]
    assert told["privacy"]["protects"] == "all records of one town"
    assert told["privacy"]["of_each_answer"] == {"epsilon": "0.5"}
    assert told["privacy"]["of_the_release"] == {"epsilon": "0.5", "delta": "0"}
    assert told["irisdp"]["version"] == irisdp.__version__
    assert told["irisdp"]["unit_of_error"] == "different values of town"
    assert told["irisdp"]["expected_error"] == found.sidecars[None]["expected_error"]
    (resource,) = told["resources"]
    content = Path("o.csv").read_bytes()
    assert (resource["path"], resource["bytes"]) == ("o.csv", len(content))
    assert resource["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
    assert {field["name"]: field["type"] for field in resource["schema"]["fields"]}["answer"] == "integer"
    assert found.out == (Path("o.csv"), Path("o.csv.release.json"), Path("o.csv.datapackage.json"))


def test_numbers_have_the_unit_of_what_they_count(survey):
    irisdp.publish(survey, "count-distinct", "town", epsilon=1, out="o.csv")
    assert package("o.csv")["irisdp"]["unit_of_error"] == "different values of town"
    (field, *_) = package("o.csv")["resources"][0]["schema"]["fields"]
    assert (field["name"], field["unit"]) == ("answer", "different values of town")


def test_the_groups_are_the_key_and_keep_their_types(survey):
    irisdp.publish(
        survey, "count", epsilon=1, by="age, old = age > 64", groups=[(70, "true"), (30, "false")], out="o.csv"
    )
    (resource,) = package("o.csv")["resources"]
    schema = resource["schema"]
    assert schema["primaryKey"] == ["age", "old"]
    assert schema["fields"][1]["description"].startswith("computed as ")


def test_whoever_asks_again_writes_the_same_bytes(survey):
    for name in ("o.csv", "o.parquet", "o.json"):
        written = []
        for _ in range(2):
            irisdp.publish(survey, "count", epsilon=1, out=name, force=True, **TOWNS)
            written.append(Path(f"{name}.datapackage.json").read_bytes())
        assert written[0] == written[1]


def test_every_audience_and_every_question_of_a_batch_has_one(survey):
    irisdp.publish(survey, "count", audience={"board": 2, "press": 1}, out="o.csv")
    assert [package(f"o.{name}.csv")["privacy"]["audience"] for name in ("board", "press")] == ["board", "press"]
    questions = [{"query": "count"}, {"query": "at-least 2", "out": "p.json"}]
    asked = {
        "data": "survey.csv", "budget": {"epsilon": 1}, "questions": questions, "out": "b.csv", "licence": "CC0-1.0",
    }  # fmt: skip
    found = irisdp.batch(asked)
    for out in ("b.1.csv", "p.json"):
        assert package(out)["licenses"] == [{"name": "CC0-1.0"}]
    assert [path.name for path in found.out] == [
        f"{out}{end}" for out in ("b.1.csv", "p.json") for end in ("", ".release.json", ".datapackage.json")
    ]


def test_nothing_is_written_over_a_package_or_an_input_of_its_name(survey, capsys):
    Path("o.csv.datapackage.json").write_text("somebody's")
    asked = ["publish", "survey.csv", "count", "--epsilon", "1", "--out", "o.csv"]
    assert run(asked) == 2
    assert "o.csv.datapackage.json is there already" in capsys.readouterr().err
    assert run([*asked, "--force", "--ledger", "o.csv.datapackage.json"]) == 2
    assert "which is never written over" in capsys.readouterr().err
    assert Path("o.csv.datapackage.json").read_text() == "somebody's"
    assert not Path("o.csv").exists()
    assert run([*asked, "--force"]) == 0


@pytest.mark.parametrize(
    "licence", ["CC BY", "", "x" * 101, "ftp://a.example", "https://a b", 'https://a"b', 4, ["MIT"]]
)
def test_a_licence_is_a_name_or_an_address(licence, survey):
    with pytest.raises(BadInput, match=r"^licence: "):
        irisdp.publish(survey, "count", epsilon=1, out="o.csv", licence=licence)
    assert not Path("survey.ledger").exists()


def test_a_licence_belongs_beside_a_file(survey, capsys):
    for extra in ([], ["--dry-run"]):
        assert run(["publish", "survey.csv", "count", "--epsilon", "1", "--licence", "MIT", *extra]) == 2
        assert "--licence: is written beside the answers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stem", "name"), [("Wahl der 5 (roh)", "wahl-der-5-roh"), ("ä", "answers"), ("a.b_c", "a.b_c")]
)
def test_names_of_packages_are_plain(stem, name, survey):
    irisdp.publish(survey, "count", epsilon=1, out=f"{stem}.csv")
    told = package(f"{stem}.csv")
    assert told["name"] == told["resources"][0]["name"] == name


def test_one_record_of_each_is_not_said_to_be_all_of_them(survey):
    options = {"unit": "age", "at_most": 1, "epsilon": 1, "out": "o.csv", "force": True}
    for question, more, words in (
        (("count",), TOWNS, "records, one per age"),
        (("count", "town = 'Ely'"), {}, "records, one per age"),
        (("count", "town = 'Ely'"), {"per_unit": "any"}, "different values of age"),
        (("sizes", "town"), {}, "records, one per age"),
    ):
        irisdp.publish(survey, *question, **options, **more)
        told = package("o.csv")
        units = {field["unit"] for field in told["resources"][0]["schema"]["fields"] if "unit" in field}
        assert {*units, told["irisdp"]["unit_of_error"]} == {words}


def test_records_are_not_said_to_be_people(survey):
    options = {"unit": "age", "at_most": 1, "epsilon": 1, "out": "o.csv", **TOWNS}
    irisdp.publish(survey, "count", groups_per_unit=1, **options | {"at_most": 3})
    told = package("o.csv")
    units = {field["unit"] for field in told["resources"][0]["schema"]["fields"] if "unit" in field}
    assert {*units, told["irisdp"]["unit_of_error"]} == {"records, at most 3 per age"}


# Sidecars say of which table answers are, when they were drawn and by which version: the same whenever one asks.


@pytest.fixture
def survey_provenance(tmp_path):
    (tmp_path / "survey.csv").write_text("town,age\nEly,70\nYork,30\nEly,81\n")
    return tmp_path / "survey.csv"


def published(survey, name="o.csv", **options):
    out = survey.with_name(name)
    irisdp.publish(survey, "count", "age > 64", epsilon=1, out=out, force=True, **options)
    return out.with_name(f"{name}.release.json")


def clock(year):
    return SimpleNamespace(now=lambda zone: datetime.datetime(year, 1, 2, 3, 4, 5, tzinfo=zone))


def test_a_sidecar_says_table_date_version_and_expected_error(survey_provenance, monkeypatch):
    monkeypatch.setattr(entries, "datetime", clock(2030))
    told = json.loads(published(survey_provenance).read_text(encoding="utf-8"))
    assert told["table"] == "survey.csv"
    assert told["date"] == "2030-01-02T03:04:05+00:00"
    assert told["version"] == irisdp.__version__
    assert (
        told["expected_error"]
        == irisdp.plan(survey_provenance, "count", "age > 64", epsilon=1).to_document()["expected_error"]
    )


def test_whoever_asks_again_later_with_another_version_gets_the_same_bytes(survey_provenance, monkeypatch):
    monkeypatch.setattr(entries, "datetime", clock(2030))
    first = published(survey_provenance).read_bytes()
    monkeypatch.setattr(entries, "datetime", clock(2031))
    monkeypatch.setattr(release_file, "VERSION", "9.9")
    assert published(survey_provenance).read_bytes() == first
    again = json.loads(published(survey_provenance, "p.csv", by="town", groups=["Ely"]).read_text(encoding="utf-8"))
    assert (again["version"], again["date"][:4]) == ("9.9", "2031")


def test_the_name_that_was_given_and_the_rule_of_the_unit_are_said(survey_provenance):
    told = json.loads(
        published(survey_provenance, table="survey of 2024", unit="town", at_most=1).read_text(encoding="utf-8")
    )
    assert told["table"] == "survey of 2024"
    assert told["unit_rule"].startswith("one record kept per town")


def test_a_ledger_that_does_not_say_is_no_error(survey_provenance):
    before = json.loads(published(survey_provenance).read_text(encoding="utf-8"))
    for details in ("{}", "no JSON", "[]"):
        with contextlib.closing(sqlite3.connect(survey_provenance.with_suffix(".ledger"))) as database, database:
            database.execute("UPDATE release SET details = ?", (details,))
        told = json.loads(published(survey_provenance).read_text(encoding="utf-8"))
        assert told == {**before, "table": None, "version": None}


def test_questions_of_a_batch_say_it_too(survey_provenance):
    asked = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}, {"query": "count", "expression": "age > 1"}]}
    for found in irisdp.batch(asked, data=survey_provenance):
        told = found.sidecars[None]
        assert (told["table"], told["version"]) == ("survey.csv", irisdp.__version__)
        assert told["expected_error"]["within_95_percent"] > 0
