"""Sidecars that contradict themselves, and answers that are not those they were: refused, and repeated by nothing."""

import json
from pathlib import Path

import pytest

import irisdp
from irisdp import BadInput
from support.commands import irisdp as command

ASKED = {
    "count by town": "count --by town --groups Ely,York --epsilon 1",
    "count of persons": "count --unit who --at-most 1 --epsilon 1/3",
    "of persons, several": "count --by town --groups Ely,York --unit who --at-most 2 --epsilon 1",
    "under exchange": "count --by town --groups Ely,York --relation exchange --ratio 3/2",
    "public": "count --by town --groups Ely,York --relation exchange --public-membership --epsilon 1",
    "named": "count --by town --select-groups --epsilon 1 --delta 1e-6",
    "named apart": "majority age>40 --by town --select-groups --epsilon 1 --delta 1e-6",
    "in mu": "count --mu 1/2 --delta 1e-6",
    "several pairs": [
        "count",
        "--privacy",
        '{"all":[{"epsilon":1},{"epsilon":"1/2","delta":"1e-3"}]}',
        "--delta",
        "1e-3",
    ],
    "within": "count --within 3",
    "ending": "count --within 3 --epsilon 1",
    "confident": "count --epsilon 1 --confidence 0.99",
    "in bins": "histogram age --bins 0,40,80 --by town --groups Ely,York --epsilon 1",
    "a sum": "sum age --lower 0 --upper 100 --step 1 --epsilon 1",
    "a mean": "mean age --lower 0 --upper 100 --step 1 --by town --groups Ely,York --epsilon 1",
    "a median": "median age --bins 0,40,80 --epsilon 1",
    "a winner": "plurality town --categories Ely,York --epsilon 1",
    "a ranking": "ranking town --categories Ely,York --epsilon 1",
    "the top": "top 1 town --categories Ely,York --epsilon 1",
    "sizes": "sizes town --categories Ely,York --epsilon 1",
    "column": "column town --categories Ely,York --epsilon 1 --relation exchange",
    "distinct": "count-distinct town --epsilon 1",
    "a threshold": "at-least 2 --epsilon 1",
    "audiences": "count --audience board=2 --audience press=1/2",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,age,who\nEly,70,a\nYork,30,b\nYork,50,b\n")
    return tmp_path


def readers(release):
    return (f"report {release} -o page.html --force", f"plot {release} -o picture.svg --force", f"interpret {release}")


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_what_publish_wrote_agrees(here, name, ending):
    asked = ASKED[name]
    words = asked.split() if isinstance(asked, str) else asked
    ended = command(["publish", "t.csv", *words, "--out", f"o.{ending}"])
    assert ended.status == 0, ended.err
    for sidecar in Path().glob("*.release.json"):
        made = command(f"report {sidecar} -o page.html --force")
        assert made.status == 0, made.err


def published(more=""):
    assert command(f"publish t.csv count --by town --groups Ely,York --epsilon 1 --out o.csv{more}").status == 0
    return json.loads(Path("o.csv.release.json").read_text())


CHANGED = {
    "its cost is ε = 0.1, δ = 0, and each of its answers keeps ε = 1": {"cost": {"epsilon": "0.1", "delta": "0"}},
    "its expected error is 0.8509, and its noise at ε = 0.5 is off by 1.919": {"privacy": {"epsilon": "0.5"}},
    "its expected error is 0.1, and its noise at ε = 1 is off by 0.8509": {"expected_error": {"mean_absolute": 0.1}},
    "its question is 'majority age by town', and its query 'count'": {"question": "majority age by town"},
    "its unit is 'who', and its question 'count by town' does not say so": {"unit": "who"},
    "its columns do not begin with the groups, by ward": {"by": ["ward"]},
    "its confidence is 0.5, and its promise speaks of 95 %": {
        "assurance": {"columns": ["answer_low", "answer_high"], "promise": "95 % or more", "confidence": "0.5"}
    },
    "its columns are not those of which it says how sure they are": {
        "assurance": {"columns": ["answer_low"], "promise": "95 % or more", "confidence": "0.95"}
    },
}


@pytest.mark.parametrize("told", CHANGED)
def test_a_sidecar_that_contradicts_itself_is_repeated_by_nothing(here, told):
    sidecar = published()
    Path("o.csv.release.json").write_text(json.dumps(sidecar | CHANGED[told]))
    for words in readers("o.csv"):
        ended = command(words)
        assert ended.status == 2
        said = f"o.csv.release.json contradicts itself: {told}; give the file that publish wrote, or publish the same"
        assert said in ended.line
    assert not list(Path().glob("p*.*"))
    Path("o.csv.release.json").write_text(
        json.dumps(sidecar | {"by": ["ward"], "columns": ["ward", *sidecar["columns"][1:]]})
    )
    assert (
        "o.csv.release.json: is of answers with the columns ward, answer, answer_low, answer_high, and here are town, "
        "answer, answer_low, answer_high; give the file that publish wrote" in command("report o.csv.release.json").line
    )
    Path("o.csv.release.json").write_text(json.dumps(sidecar))
    assert [command(words).status for words in readers("o.csv")] == [0, 0, 0]


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_answers_are_compared_with_their_sidecar_where_no_data_package_is(here, ending):
    assert command(f"publish t.csv count --epsilon 1 --out o.{ending}").status == 0
    assert command(f"publish t.csv count --epsilon 2 --out other.{ending}").status == 0
    Path(f"o.{ending}.datapackage.json").unlink()
    assert [command(words).status for words in readers(f"o.{ending}")] == [0, 0, 0]
    Path(f"other.{ending}").replace(f"o.{ending}")
    for words in readers(f"o.{ending}.release.json"):
        line = command(words).line
        assert f"is not as it was published: o.{ending}.release.json holds another sha256; ask the publisher" in line
        assert line.endswith("publishing the same again with --force costs nothing")
    with pytest.raises(BadInput, match="is not as it was published"):
        irisdp.interpret(f"o.{ending}")


def test_batches_and_plans_note_the_answers_of_each_question(here):
    asked = [{"query": "count", "out": "a.csv"}, {"query": "count", "expression": "age > 40", "out": "b.csv"}]
    Path("b.json").write_text(json.dumps({"data": "t.csv", "budget": {"epsilon": 1}, "questions": asked}))
    assert command("batch b.json --report page.html").status == 0
    Path("p.toml").write_text(
        '[datasets.t]\ndata = "t.csv"\n[[questions]]\nquery = "count"\nepsilon = 2\nout = "c.csv"\nreport = "c.html"\n'
    )
    assert command("run p.toml").status == command("run p.toml").status == 0
    for name in ("a", "b", "c"):
        Path(f"{name}.csv.datapackage.json").unlink()
        Path(f"{name}.csv").write_text("answer,answer_low,answer_high\n1,0,2\n")
        assert "is not as it was published" in command(f"report {name}.csv -o {name}.page.html").line
    assert "answers" not in irisdp.publish("t.csv", "count", epsilon=1).sidecars[None]
