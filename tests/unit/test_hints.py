"""Words and spellings of other tools: each is accepted, or is answered with what to type instead."""

import json
import sys
from pathlib import Path

import pandas as pd
import pyarrow
import pytest

import irisdp
from irisdp import BadInput
from irisdp._aliases import OPTIONS, RELATIONS
from irisdp._cli import run
from irisdp.errors import NotShown

FRAME = pd.DataFrame({"age": [20, 70, 30], "town": ["Ely", "York", "Ely"], "who": ["a", "b", "c"]})
PERSONS = ["--privacy-unit", "who", "--max-contributions", "2", "--max-partitions", "1", "--relation", "replace-one"]
COUNT = {"where": "age > 25", "max_contributions": 2, "max_partitions": 1, "by": "town", "groups": ["Ely"]}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("t.csv", index=False)
    return tmp_path


def typed(capsys, *words):
    status = run(["publish", "t.csv", *words])
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def planned(*words, **options):
    return irisdp.plan(FRAME, *words, **{"epsilon": 1, **options})


def refused(*words, **options):
    with pytest.raises(BadInput) as error:
        planned(*words, **options)
    return str(error.value)


def test_synonyms_ask_the_same_question_in_python_and_on_the_command_line(here, capsys):
    own = planned(
        "count", "age > 25", unit="who", at_most=2, groups_per_unit=1, relation="exchange", by="town", groups="Ely"
    )
    other = planned("count", **{**COUNT, "privacy_unit": "who", "relation": "replace-one"})
    assert other.to_document() == own.to_document()
    words = ["count", "--where", "age > 25", *PERSONS, "--by", "town", "--groups", "Ely", "--epsilon", "1"]
    assert typed(capsys, *words, "--out", "o.csv")[0] == 0
    sidecar = Path("o.csv.release.json").read_text()
    assert not [name for name in [*OPTIONS, "where", "replace-one"] if f'"{name}"' in sidecar]
    own_words = [
        "count",
        "age > 25",
        *["--unit", "who", "--at-most", "2", "--groups-per-unit", "1", "--relation", "exchange"],
    ]
    status, out, _ = typed(capsys, *own_words, "--by", "town", "--groups", "Ely", "--epsilon", "1", "--json")
    assert (status, json.loads(out)["repeated"]) == (0, True)


@pytest.mark.parametrize(("synonym", "own"), RELATIONS.items())
def test_each_name_of_a_relation_is_that_relation(synonym, own, here):
    assert planned("count", relation=synonym).relation.value == own
    assert irisdp.design.plurality(3, irisdp.Privacy(epsilon=1), relation=synonym).relation == own
    assert irisdp.graphs.Gaps(3, 3, synonym).relation == own
    assert irisdp.Session("t.csv", relation=synonym).plan("count", epsilon=1).relation.value == own
    Path("t.iris.toml").write_text(f'relation = "{synonym}"\nprivacy_unit = "who"\nmax_contributions = 1\n')
    told = irisdp.plan("t.csv", "count", "age > 25", epsilon=1)
    assert (told.relation.value, told.unit) == (own, "who")


def test_synonyms_are_keys_of_batches_and_plan_files(here):
    about = {"relation": "replace-one", "privacy_unit": "who"}
    batch = {"data": "t.csv", "budget": {"epsilon": 1}, **about, "questions": [{"query": "count", **COUNT}]}
    Path("b.json").write_text(json.dumps(batch))
    assert run(["batch", "b.json", "--dry-run"]) == 0
    lines = ['[datasets.t]\ndata = "t.csv"', *(f'{key} = "{value}"' for key, value in about.items())]
    lines += [
        '[[questions]]\nquery = "count"\nepsilon = 1',
        *(f"{key} = {json.dumps(value)}" for key, value in COUNT.items()),
    ]
    Path("p.toml").write_text("\n".join(lines))
    assert run(["run", "p.toml", "--dry-run"]) == 0


def test_a_synonym_beside_its_own_name_is_refused(here, capsys):
    both = "max_contributions: is another name of at_most, and both are given; keep one of them"
    assert refused("count", unit="who", at_most=1, max_contributions=1) == both
    status, _, err = typed(capsys, "count", "--at-most", "1", "--max-contributions=1", "--epsilon", "1")
    assert (status, "--max-contributions: is another name of --at-most, and both are given" in err) == (2, True)
    assert "where: is given, and the question has a condition" in refused("count", "age > 1", where="age > 2")
    question = {"query": "count", "expression": "age > 1", "where": "age > 2"}
    with pytest.raises(BadInput, match="question 1: where: is another name of expression"):
        irisdp.batch({"data": FRAME, "budget": {"epsilon": 1}, "questions": [question]}, ledger="x.ledger")
    Path("p.toml").write_text(
        '[datasets.t]\ndata = "t.csv"\n[[questions]]\nquery = "count"\nat-most = 1\nmax-contributions = 1'
    )
    assert run(["run", "p.toml"]) == 2
    assert "max-contributions: is another name of at-most" in capsys.readouterr().err
    Path("t.iris.toml").write_text('unit = "who"\nprivacy_unit = "who"\n')
    assert "t.iris.toml has privacy_unit, which is another name of unit" in typed(capsys, "count", "--epsilon", "1")[2]


@pytest.mark.parametrize(
    "words", [("count",), ("majority",), ("at-least", 2), ("band", "1,2"), ("count-distinct", "town")]
)
def test_where_is_the_condition_of_every_query_that_takes_one(words):
    options = {"unit": "who", "at_most": 1} if words[0] == "count-distinct" else {}
    assert planned(*words, where="age > 25", **options).line == planned(*words, "age > 25", **options).line


def test_where_stands_for_no_column():
    assert "where: is not for mean, which takes a column and no condition" in refused("mean", where="age > 25")
    assert "count-distinct needs one column" in refused("count-distinct", where="age > 25")
    session = irisdp.Session(FRAME, ledger="never.ledger")
    with pytest.raises(BadInput, match="where: is given"):
        session.majority("age > 1", where="age > 2", epsilon=1)


@pytest.mark.parametrize(
    ("words", "options", "remedy"),
    [
        (("count", "age > 3 || age < 1"), {}, "write OR"),
        (("count", "age > 3 && age < 9"), {}, "write AND"),
        (("count", "where=age > 3"), {}, "leave out the word where"),
        (("count", "WHERE age > 3"), {}, "leave out the word where"),
        (("count", "groupby = 'town'"), {}, "to group answers, add by="),
        (("count",), {"groupby": "town"}, "did you mean by?"),
        (("count",), {"group_by": "town"}, "did you mean by?"),
        (("avg", "age"), {}, "'avg' is no query of Iris; write mean"),
        (("average", "age"), {}, "write mean"),
        (("count",), {"epsilon": "0,5"}, "write 0.5"),
        (("count",), {"epsilon": 1, "confidence": "0,9"}, "write 0.9"),
        (("mean", "age"), {"lower": ",5", "upper": 9, "step": 1}, "write 0.5"),
        (("sum", "age"), {"lower": 0, "upper": "1,000,000", "step": 1}, "write 1000000"),
        (("quantile", "0,5", "age"), {"bins": "1,2"}, "write 0.5"),
        (("at-least", "1,000"), {}, "write 1000"),
        (("at-least", "1,5"), {}, "write 1 or 2"),
        (("count",), {"epsilon": None, "audience": ["board=0,5"]}, "write 0.5"),
        (("count", ["age > 3", "age < 9"]), {}, "without a list around it, and join conditions with AND"),
        (("mean", ["age"]), {}, "write the value itself, without a list around it"),
        ((["count"],), {}, "write the value itself, without a list around it"),
        (("count",), {"unit": ["who"]}, "write the value itself, without a list around it"),
        (("count",), {"relation": ["exchange"]}, "write the value itself, without a list around it"),
    ],
)
def test_python_names_the_remedy(words, options, remedy):
    assert remedy in refused(*words, **options)


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("count --groupby town", "did you mean --by?"),
        ("count --group_by town", "did you mean --by?"),
        ("count --filter x", "did you mean --where?"),
        ("count groupby=town --epsilon 1", "to group answers, add --by COL,…"),
        ("avg age --epsilon 1", "write mean"),
        ("count --epsilon 0,5", "--epsilon: must be a finite number, and '0,5' has a comma in it; write 0.5"),
        ("mean age --epsilon 1 --lower 0,5 --upper 9 --step 1", "write 0.5"),
    ],
)
def test_the_command_line_names_the_remedy(words, remedy, here, capsys):
    status, _, err = typed(capsys, *words.split())
    assert (status, remedy in err) == (2, True), err
    assert not Path("t.ledger").exists()


def test_a_limit_with_a_comma_says_how_to_write_both(here, capsys):
    assert run(["ledger", "t.ledger", "--limit", "0,5"]) == 2
    assert "write the limit 0.5, or ε and δ with a comma between" in capsys.readouterr().err


def test_an_index_and_columns_of_other_types_are_named():
    with pytest.raises(BadInput, match=r"'town', which is the index .*reset_index\(\)"):
        irisdp.plan(FRAME.set_index("town"), "plurality", "town", categories=["Ely"], epsilon=1)
    frame = FRAME.assign(quarter_of=pd.period_range("2020-01", periods=3, freq="M"))
    with pytest.raises(BadInput, match=r"column quarter_of than IS NULL, and its type, pandas\.period"):
        irisdp.plan(frame, "count", "quarter_of > 1", epsilon=1)
    assert irisdp.plan(frame, "count", "age > 25", epsilon=1).line == "count age > 25"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("publish t.csv count --epsilon 1 --json --relation foo", 2),
        ("publish t.csv cuont --epsilon 1 --json", 2),
        ("publish none.csv count --epsilon 1 --json", 2),
        ("publish t.csv count --nonsense --json", 2),
        ("publish --json", 2),
        ("nonsense --json", 2),
        ("audit none.json --json", 2),
        ("publish t.csv count --epsilon 9 --json", 1),
    ],
)
def test_json_is_one_document_at_every_status(words, status, here, capsys):
    irisdp.Ledger("t.ledger").set_limit(1)
    assert run(words.split()) == status
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"] == shown.err.removeprefix("irisdp: ").rstrip("\n")
    assert run([word for word in words.split() if word != "--json"]) == status
    assert capsys.readouterr().out == ""


def test_json_is_one_document_where_what_is_charged_is_not_written(here, capsys, monkeypatch):
    def full(*_, **__):
        raise NotShown("out: cannot be written")

    monkeypatch.setattr("irisdp._release.pipeline.write_files", full)
    assert typed(capsys, "count", "--epsilon", "1", "--json")[:2] == (3, '{"error": "out: cannot be written"}\n')


def printed(monkeypatch, **options):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setenv("COLUMNS", "80")
    table = pyarrow.table({"age": [20, 70, 30], "town": ["Ely", "York", "Ely"]})
    text = str(irisdp.publish(table, "count", by="town", **{"epsilon": 1, **options}))
    assert max(map(len, text.splitlines())) <= 80
    return text.splitlines()


def test_a_publication_prints_as_a_table_without_pandas(here, monkeypatch):
    title, heads, ely, york, interval, cost = printed(monkeypatch, groups=["Ely", "York" * 30], ledger="a.ledger")
    assert (title, heads.split()) == ("count by town", ["town", "answer", "answer_low", "answer_high"])
    assert len(ely) == len(york) == len(heads)
    assert york.startswith("YorkYork")
    assert "…" in york
    assert interval == "interval  95 % confidence interval (noise only)"
    assert cost == "cost      ε = 1, δ = 0 for adding or removing one record"


def test_many_groups_print_as_head_and_tail(here, monkeypatch):
    lines = printed(monkeypatch, groups=[f"g{number}" for number in range(1000)], ledger="a.ledger")
    assert [line.split()[0] for line in lines[2:23]] == [
        *(f"g{number}" for number in range(10)),
        "…",
        *(f"g{number}" for number in range(990, 1000)),
    ]
    assert lines[23].startswith("(980 of 1,000 rows are not shown; to_pandas(), to_arrow() and out= have all)")


def test_audiences_print_beside_each_other(here, monkeypatch):
    lines = printed(monkeypatch, groups=["Ely"], ledger="a.ledger", epsilon=None, audience={"board": 2, "press": 1})
    assert lines[1].split() == ["town", "board", "press"]


@pytest.mark.parametrize(
    ("condition", "spelt", "number"),
    [("cost = 20.00", "20.00", "20"), ("dose IN (1.50, 2.00)", "1.50", "1.5"), ("cost <> +7.5", "+7.5", "7.5")],
)
def test_an_amount_that_is_looked_for_as_text_is_said_beside_the_answer(tmp_path, condition, spelt, number):
    (tmp_path / "t.csv").write_text("cost,dose\n20.0,1.5\n7.5,2.0\n", encoding="utf-8")
    shown = " ".join(str(irisdp.publish(tmp_path / "t.csv", "count", condition, epsilon=1)).split())
    assert f"as text: {spelt} finds records that spell it so, and not {number};" in shown
    types = {"cost": "number", "dose": "number"}
    declared = irisdp.publish(tmp_path / "t.csv", "count", condition, epsilon=1, types=types, ledger=tmp_path / "l")
    assert "spell it so" not in str(declared)


@pytest.mark.parametrize("condition", ["zip = 01234", "cost = 20", "cost = 20.5", "cost > 20.00", "zip = '1234'"])
def test_codes_and_plain_numbers_need_no_such_note(tmp_path, condition):
    (tmp_path / "t.csv").write_text("cost,zip\n20.0,01234\n", encoding="utf-8")
    assert "spell it so" not in str(irisdp.publish(tmp_path / "t.csv", "count", condition, epsilon=1))


@pytest.mark.parametrize(
    ("declared", "is_said"), [(["01.10", "2"], True), (["1.1", "2"], False), (["12.50", "2"], True)]
)
def test_a_code_asked_of_a_column_of_numbers_is_said_beside_the_answer(tmp_path, declared, is_said):
    table = pyarrow.table({"icd": [1.1, 2.0, 12.5]})
    for query in ("histogram", "count"):
        words = {"categories": declared} if query == "histogram" else {"by": "icd", "groups": declared}
        asked = ["icd"] if query == "histogram" else []
        shown = irisdp.publish(table, query, *asked, epsilon=1, ledger=tmp_path / f"{query}.ledger", **words)
        assert ("if it holds codes" in " ".join(str(shown).split())) is is_said
