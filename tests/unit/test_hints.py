"""Words and spellings of other tools: each is accepted, or is answered with what to type instead."""

import csv
import json
import re
import sqlite3
import sys
from pathlib import Path

import pandas
import pandas as pd
import pyarrow
import pytest

import irisdp
from irisdp import BadInput, init_project
from irisdp._aliases import OPTIONS, RELATIONS
from irisdp._cli import run
from irisdp._queries.reading import QUERIES
from irisdp.errors import NotShown
from irisdp.privacy import informative
from support.commands import answered
from support.commands import irisdp as irisdp_command

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
    assert "mean needs one column" in refused("mean", where="age > 25")
    assert "count-distinct needs one column" in refused("count-distinct", where="age > 25")
    session = irisdp.Session(FRAME, ledger="never.ledger")
    with pytest.raises(BadInput, match="where: is given"):
        session.majority("age > 1", where="age > 2", epsilon=1)


@pytest.mark.parametrize(("words", "options", "remedy"), [
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
])  # fmt: skip
def test_python_names_the_remedy(words, options, remedy):
    assert remedy in refused(*words, **options)


@pytest.mark.parametrize(("words", "remedy"), [
    ("count --groupby town", "did you mean --by?"),
    ("count --group_by town", "did you mean --by?"),
    ("count --filter x", "did you mean --where?"),
    ("count groupby=town --epsilon 1", "to group answers, add --by COL,…"),
    ("avg age --epsilon 1", "write mean"),
    ("count --epsilon 0,5", "--epsilon: must be a finite number, and '0,5' has a comma in it; write 0.5"),
    ("mean age --epsilon 1 --lower 0,5 --upper 9 --step 1", "write 0.5"),
])  # fmt: skip
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


@pytest.mark.parametrize(("words", "status"), [
    ("publish t.csv count --epsilon 1 --json --relation foo", 2),
    ("publish t.csv cuont --epsilon 1 --json", 2),
    ("publish none.csv count --epsilon 1 --json", 2),
    ("publish t.csv count --nonsense --json", 2),
    ("publish --json", 2),
    ("nonsense --json", 2),
    ("audit none.json --json", 2),
    ("publish t.csv count --epsilon 9 --json", 1),
])  # fmt: skip
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
    status, out = typed(capsys, "count", "--epsilon", "1", "--json")[:2]
    assert (status, answered(out)) == (3, {"error": "out: cannot be written"})
    assert json.loads(out)["command"]["charged"][0]["epsilon"] == "1"


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
    other = {"ledger": tmp_path / "l", "another_ledger": True}
    declared = irisdp.publish(tmp_path / "t.csv", "count", condition, epsilon=1, types=types, **other)
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


# What is refused says what to do instead: which column, which file, which command.


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("a,Ward,b,ward\n1,2,3,4\n")
    (tmp_path / "loans.csv.gz").write_bytes(b"never compressed")
    (tmp_path / "plain.csv").write_text("v\n1\n")
    (tmp_path / "alone.csv").write_text("answer\n1\n")
    (tmp_path / "late.csv").write_text("town,answer\nEly,1\n")
    (tmp_path / "late.csv.release.json").write_text('{"format": "irisdp/release/1"}')
    (tmp_path / "named.csv").write_text("town,answer\nEly,1\n")
    (tmp_path / "matrix.csv").write_text("yes,no\nEly,1\n")
    (tmp_path / "copied.csv").write_text("town,answer,answer_low,answer_high\nEly,1,0,2\n")
    return tmp_path


SAID = {
    "publish twice.csv count --epsilon 1": "DATA: has two columns of one name (case does not count), or no "
    "header line; rename one of them, or add a line with the names",
    "publish loans.csv count --epsilon 1": "DATA: finds no file at 'loans.csv'; did you mean 'loans.csv.gz'?",
    "publish plain.csv.zst count --epsilon 1": "DATA: finds no file at 'plain.csv.zst'; did you mean 'plain.csv'?",
    "publish none.csv count --epsilon 1": "DATA: finds no file at 'none.csv'; give the path of an existing file",
    "publish loans.csv.gz count --epsilon 1": "DATA: is not a gzip file that can be unpacked to its end; compress it "
    "again, or take that ending off",
    "publish plain.csv count --limit 3": "--limit: is no option of irisdp publish; write for example irisdp ledger "
    "survey.ledger --limit 3,1e-6",
    "report nosuch.csv": "nosuch.csv: there is no such file; give the path of an existing file",
    "report alone.csv": "alone.csv: holds answers, and not how they were made; put alone.csv.release.json "
    "beside it, or name where it lies",
    "ledger x.ledger --grant publish=pat --grant read=rea": "--grant: is given 2 times, and can have one value; keep "
    "one of them, and run the command again for the other",
    "report alone.csv nosuch.csv": "alone.csv: holds answers, and not how they were made; put alone.csv.release.json "
    "beside it, or name where it lies",
    "run nosuch.toml": "nosuch.toml: there is no such file; check the path",
    "batch nosuch.json": "nosuch.json: there is no such file; check the path",
    "design nosuch.json": "nosuch.json: there is no such file; check the path",
    "sample ./nosuch.json --input 0": "nosuch.json: there is no such file; check the path",
    "audit late.csv": "late.csv: holds published answers, and no mechanism; give it to interpret, report or plot, or "
    "give the mechanism file",
    "audit late.csv.release.json": "late.csv.release.json: is a release, which says how answers were made, and no "
    "mechanism; give it to interpret, or to report",
    "audit copied.csv": "copied.csv: holds published answers, and no mechanism; give it to interpret, report or plot, "
    "or give the mechanism file",
    "audit named.csv": "named.csv: holds published answers, and no mechanism; give it to interpret, report or plot, "
    "or give the mechanism file",
    "audit matrix.csv": "matrix: line 2, number 1: 'Ely' must be a finite number; write numbers such as 0.25 or 1/4, "
    'a row for each input, separated by commas: "0.75, 0.25"',
    "design late.csv.release.json": "late.csv.release.json: is irisdp/release/1, and no spec, which says what to "
    'design; write {"kind": …, "privacy": …}',
    "ledger x.ledger --csv --json": "--csv: lists releases, and nothing else; leave out --json and --verify",
    "ledger no.ledger": "FILE: {here}/no.ledger is damaged or not a ledger (SQLITE_NOTADB); restore it, or name "
    "another file",
    "interpret spec.json": "spec.json: is a spec, which says what to design; run irisdp design first: irisdp design "
    "SPEC.json -o MECH.json",
    "audit made.json --epsilon 1 --ratio 2": "--epsilon: says the same as --ratio; leave one of the two out",
    "compare plurality --categories 3 --epsilon 1 --ratio 2": "--epsilon: says the same as --ratio; leave one of the "
    "two out",
    "compare quantile x --categories 3 --epsilon 1": 'P: must be a finite number; write it as "0.25", "1e-9" or "3/10"',
    "compare plurality x --categories 3 --epsilon 1": "QUERY: plurality takes no column here; leave it out: only "
    "numbers of categories are compared",
    "compare ranking x --categories 3 --epsilon 1": "QUERY: ranking takes no column here; leave it out: only numbers "
    "of categories are compared",
    "compare median x --categories 3 --epsilon 1": "QUERY: median takes no column here; leave it out: only numbers of "
    "bins are compared",
    "ledger old.db --copy-to nodir/x.ledger": "--copy-to: {here}/nodir/x.ledger cannot be opened or created (No such "
    "file or directory); name a file in a folder that can be written",
    "publish plain.csv count w=3 --epsilon 1": "EXPR: names the column 'w', which the data does not have; choose "
    "from v",
    "publish plain.csv majority --epsilon 1": "EXPR: must be a SQL condition for majority; write for example irisdp "
    'publish DATA majority "age > 64"',
    "publish plain.csv band 3,2 --epsilon 1": "T1,T2,…: must be different and ascending; write for example irisdp "
    'publish DATA band "10,100,1000" "age > 64"',
    "publish plain.csv count --epsilon 1 --epsilon 2": "--epsilon: is given 2 times, and can have one value; keep one "
    "of them",
}


@pytest.mark.parametrize("command", SAID)
def test_a_refusal_names_the_way_out(files, command):
    (files / "no.ledger").write_text("none")
    (files / "spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 2}}')
    irisdp_command("design spec.json -o made.json")
    irisdp_command("ledger old.db --limit 1")
    ended = irisdp_command(command)
    assert (ended.status, ended.line) == (2, SAID[command].replace("{here}", str(files)))
    assert [path.name for path in files.glob("*.ledger")] == ["no.ledger"]


@pytest.mark.parametrize("pin", ["--unit w", "--relation exchange", "--table other.csv"])
def test_another_promise_of_a_ledger_names_the_argument_that_the_command_has(files, pin):
    irisdp_command("ledger x.ledger --unit v --table plain.csv")
    ended = irisdp_command(f"ledger x.ledger {pin}")
    alone = "Only a table about other people has a ledger of its own"
    assert (ended.status, ended.line.endswith(f". {alone}") or "add --table plain.csv" in ended.line) == (1, True)
    other = irisdp_command("publish plain.csv count --epsilon 1 --unit v --relation exchange --ledger x.ledger")
    assert other.line.endswith(f". Use --relation add-remove. {alone}")


def test_csv_of_a_ledger_has_the_groups_that_the_table_has(files):
    (files / "t.csv").write_text("g,v\n=1+1,1\n")
    asked = ["publish", "t.csv", "count", "--by", "g", "--groups", '=1+1,"a, b"', "--epsilon", "1"]
    assert irisdp_command(asked).status == 0
    head, line = csv.reader(irisdp_command("ledger t.ledger --csv").out.splitlines())
    assert head[3:5] == ["query", "groups"]
    assert dict(zip(head, line, strict=True))["groups"] == '\'=1+1, "a, b" (2)'


def test_a_folder_that_may_not_be_written_is_no_dead_end(files, monkeypatch):
    def refusing(*given):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sys.modules["irisdp._ledger.fingerprints"], "create_once", refusing)
    line = irisdp_command("publish plain.csv count --epsilon 1").line
    assert line.endswith(
        "; make the folder of the data writable once, or restore the secret. To keep both files elsewhere, "
        "give --ledger FILE and --secret FILE"
    )


FRAMES = {
    "pandas": lambda: pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
    "pyarrow": lambda: pyarrow.table([[1], [2], [3]], names=["a", "b", "a"]),
    "a batch": lambda: pyarrow.record_batch([[1], [2], [3]], names=["a", "b", "a"]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_with_a_column_twice_is_told_which(kind):
    remedy = "has two columns of one name, 'a'; give each column a name of its own"
    with pytest.raises(BadInput, match=f"^data: {remedy}$"):
        irisdp.plan(FRAMES[kind](), "count", epsilon=1)
    if kind == "a batch":  # which declares no groups
        return
    with pytest.raises(BadInput, match=f"^groups: {remedy}$"):
        irisdp.plan(pyarrow.table({"a": ["x"]}), "count", by="a", groups=FRAMES[kind](), epsilon=1)


def test_a_project_that_is_there_is_no_fault_of_an_option_that_was_not_given(files):
    assert irisdp_command("init plain.csv").status == 0
    line = irisdp_command("init plain.csv").line
    assert line == (
        f"DATA: has a project file already, {files / 'plain.iris.toml'}; fill that in, add --force to replace it, or "
        "name another file with --out FILE"
    )
    assert irisdp_command("init plain.csv --out plain.iris.toml").line.startswith("--out: plain.iris.toml is there")
    assert irisdp_command("init plain.csv --force").status == 0


@pytest.mark.parametrize("limit", ["6;1e-5", "6 1e-5", "6 ; 1e-5", "6:.1"])
def test_a_limit_says_that_a_comma_parts_epsilon_and_delta(files, limit):
    remedy = "write ε and δ with a comma between, such as 1,1e-6"
    assert irisdp_command(["ledger", "plain.ledger", "--limit", limit]).line.endswith(remedy)
    (files / "plain.iris.toml").write_text(f'limit = "{limit}"')
    assert irisdp_command("publish plain.csv count --epsilon 1").line.endswith(remedy)
    (files / "plain.iris.toml").write_text('limit = "much"')
    assert "comma" not in irisdp_command("publish plain.csv count --epsilon 1").line


@pytest.mark.parametrize(
    ("limits", "told"), [(("60", "6"), ("ε = 60, δ = 0", "ε = 6, δ = 0")), (("mu=2", "mu=1"), ("μ² = 4", "μ² = 1"))]
)
def test_a_changed_limit_is_told_in_one_order(files, limits, told):
    first, second = (files / f"{name}.ledger" for name in "ab")
    for path, limit in zip((first, second), limits, strict=True):
        irisdp_command(f"ledger {path} --limit {limit}")
    with sqlite3.connect(first) as kept, sqlite3.connect(second) as changed:
        names = [row[1] for row in kept.execute("PRAGMA table_info(budget)")]
        changed.execute("DELETE FROM budget")
        row = kept.execute("SELECT * FROM budget").fetchone()
        changed.execute(f"INSERT INTO budget VALUES ({', '.join('?' * len(names))})", row)
    said = irisdp_command("ledger b.ledger --verify").err
    assert f"the limit is {told[0]}, and the history says {told[1]}" in said


def test_a_project_calls_types_by_words_of_the_list(files):
    with sqlite3.connect(files / "visits.db") as database:
        database.execute("CREATE TABLE visits (member_id INTEGER, since TIMESTAMP, town TEXT, ward TEXT, age INTEGER)")
    written = init_project(f"sqlite:///{files}/visits.db#visits").read_text()
    assert "#   since: a date or a timestamp" in written and "a date\n" not in written
    assert '#unit = "member_id"' in written and "seems to identify people" in written
    assert all(written.count(f'#"{name}" = ') == 3 for name in ("since", "town", "ward"))


@pytest.mark.parametrize(("asked", "ends"), [
    ("count --epsilon 1", True),
    ("histogram v --bins 0,1,2 --epsilon 1", True),
    ("count-distinct v --epsilon 1", True),
    ("sum v --lower 0 --upper 2 --step 1 --epsilon 1", True),
    ("at-least 1 --epsilon 1", False),
    ("count --audience board=2 --audience press=1", False),  # each has its own, in its own file
])  # fmt: skip
def test_every_number_on_the_screen_has_the_ends_that_the_file_has(files, asked, ends):
    shown = irisdp_command(f"publish plain.csv {asked}").out
    assert ("answer_low" in shown) == ("answer_high" in shown) == ends
    assert ("  interval  95 % confidence interval (noise only)" in shown) == ends


@pytest.mark.parametrize(("grant", "told"), [
    ("publish=ann", "granted  ann may publish with this ledger, and read it\n"),
    ("read=bob", "granted  bob may read this ledger\n"),
])  # fmt: skip
def test_a_grant_says_which_role_may_now_do_what(files, monkeypatch, grant, told):
    granted = []
    monkeypatch.setattr("irisdp._ledger.roles.grant", lambda ledger, *given: granted.append(given))
    irisdp_command("ledger x.ledger --limit 1")
    assert irisdp_command(f"ledger x.ledger --grant {grant}").out.endswith(told)
    assert "granted" not in irisdp_command(f"ledger x.ledger --grant {grant} --json").out
    assert granted == [tuple(grant.split("=")[::-1])] * 2


# An ε at which answers say nothing is refused the first time: no remedy leads to a number that is refused too.

ABOVE_0 = "must be above 0: at 0 an answer says nothing; give for example 1"
ABOVE_1 = "must be above 1: at 1 an answer says nothing; give for example 2"


@pytest.fixture
def calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes\nheard,3\nlost,12\n")
    for number in ("0", "-1"):
        budget = {"epsilon": float(number), "delta": "1e-6"}
        (tmp_path / f"plan{number}.json").write_text(
            json.dumps({"data": "calls.csv", "budget": budget, "questions": [{"query": "count"}]})
        )
        (tmp_path / f"plan{number}.toml").write_text(
            f'[datasets.c]\ndata = "calls.csv"\n[[questions]]\nquery = "count"\nepsilon = {number}\n'
        )
    return tmp_path


@pytest.mark.parametrize("number", ["0", "-1", "-1/3"])
@pytest.mark.parametrize("command", [
    "publish calls.csv count --epsilon {}",
    "publish calls.csv count --audience board=2 --audience press={}",
    "publish calls.csv plurality outcome --categories heard,lost --epsilon {} --dry-run",
])  # fmt: skip
def test_epsilon_is_above_0(calls, command, number):
    option = "--audience" if "audience" in command else "--epsilon"
    ended = irisdp_command(command.format(number))
    assert (ended.status, ended.line) == (2, f"{option}: {ABOVE_0}")


@pytest.mark.parametrize("number", ["1", "1/2", "0", "-1"])
def test_a_ratio_is_above_1_and_blamed_by_its_own_name(calls, number):
    assert irisdp_command(f"publish calls.csv count --ratio {number}").line == f"--ratio: {ABOVE_1}"
    line = irisdp_command(f"compare plurality --categories 3 --ratio {number}").line
    assert line == "--ratio: must be e^ε of an ε from 0.000001 to 20 to compare mechanisms; give for example 2"


@pytest.mark.parametrize("number", ["0", "-1", "21"])
def test_what_is_compared_is_told_its_range_at_either_end(number):
    line = irisdp_command(f"compare plurality --categories 3 --epsilon {number}").line
    assert line == "--epsilon: must lie between 0.000001 and 20 to compare mechanisms; give for example 1"


@pytest.mark.parametrize("number", ["0", "-1"])
def test_plans_say_the_same(calls, number):
    assert irisdp_command(f"batch plan{number}.json").line == f"budget: epsilon: {ABOVE_0}"
    assert irisdp_command(f"run plan{number}.toml").line == f"question 1: epsilon: {ABOVE_0}"


@pytest.mark.parametrize(("document", "said"), [
    ({"epsilon": 0}, f"epsilon {ABOVE_0}"),
    ({"epsilon": -1}, f"epsilon {ABOVE_0}"),
    ({"ratio": "1/2"}, f"ratio {ABOVE_1}"),
])  # fmt: skip
def test_a_document_of_privacy_says_the_same(calls, document, said):
    with pytest.raises(BadInput) as refused:
        irisdp.plan("calls.csv", "count", privacy=document)
    assert str(refused.value) == f"privacy: {said}"


@pytest.mark.parametrize("query", [
    "count",  # noise for so small a δ would have no end in sight
    "plurality outcome --categories heard,lost",
    "top 1 outcome --categories heard,lost",
    "ranking outcome --categories heard,lost",
    "median minutes --bins 0,10,20",
    "sizes outcome --categories heard,lost",
])  # fmt: skip
def test_a_delta_that_is_not_used_makes_no_answer(calls, query):
    """The first four of them ended in internal errors, or published pure noise."""
    for option, least in (("epsilon", 0), ("ratio", 1)):
        line = irisdp_command(f"publish calls.csv {query} --{option} {least} --delta 1e-7 --dry-run").line
        rule = f"must be above {least}: at {least} and this --delta an answer says nothing"
        assert line == f"--{option}: {rule}; give for example {least + 1}"


def test_a_delta_that_is_used_may_stand_alone(calls):
    for query in ("count", "column outcome --categories heard,lost --relation exchange"):
        assert irisdp_command(f"publish calls.csv {query} --epsilon 0 --delta 0.1 --dry-run").status == 0
    assert informative(epsilon=0, delta="0.1").ratio == 1


def test_sizes_are_not_charged_a_delta_that_their_noise_has_no_use_for(calls):
    planned = irisdp.plan("calls.csv", "sizes", "outcome", categories="heard,lost", epsilon=1, delta="0.01")
    assert planned.describe_cost() == "ε = 1, δ = 0 for adding or removing one record"


@pytest.mark.parametrize("option", ["--selection-epsilon", "--selection-delta"])
def test_a_selection_is_blamed_by_its_own_name(calls, option):
    asked = "publish calls.csv count --by outcome --select-groups --epsilon 1 --delta 1e-6"
    assert irisdp_command(f"{asked} {option} -1").line.startswith(f"{option}: must ")


def test_limits_may_be_0(calls):
    assert irisdp_command("ledger calls.ledger --limit 0").status == 0
    assert irisdp_command("ledger calls.ledger --limit -1").line.startswith("--limit: must not be negative")


# A column that is misspelt is said to be missing before anything that a question about it needs.

OF_OUTCOME = ("count-distinct", "plurality", "top 2", "ranking", "sizes", "column", "histogram", "apply gaps.json")
OF_MINUTES = (
    "sum",
    "mean",
    "variance",
    "deviation",
    "median",
    "quantile 0.9",
    "quantiles 0.1,0.9",
    "bounds",
    "histogram",
)
SAID_MISSPELT = (
    "names the column {!r}, which the data does not have; did you mean {}? choose from outcome, minutes, weight"
)


@pytest.fixture
def outcomes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes,weight\nheard,3,1\nlost,12,2\n")
    (tmp_path / "calls.iris.toml").write_text('[categories]\noutcome = ["heard", "lost"]\n')
    gaps = irisdp.design.from_spec(
        {"kind": "plurality", "categories": 2, "largest": 1, "relation": "add-remove", "privacy": {"ratio": 2}}
    )
    gaps.save(tmp_path / "gaps.json")
    return tmp_path


def asked():
    for column, meant, queries in (("outcom", "outcome", OF_OUTCOME), ("minuts", "minutes", OF_MINUTES)):
        yield from ((f"{query} {column}", SAID_MISSPELT.format(column, meant)) for query in queries)


@pytest.mark.parametrize(("query", "said"), list(asked()))
def test_a_misspelt_column_comes_first(outcomes, query, said):
    options = {} if query.startswith("apply") else {"epsilon": 1}
    given = "" if query.startswith("apply") else " --epsilon 1"
    assert irisdp_command(f"publish calls.csv {query}{given} --dry-run").line == f"QUERY: {said}"
    with pytest.raises(BadInput) as refused:
        irisdp.plan("calls.csv", query, **options)
    assert str(refused.value) == f"query: {said}"
    (outcomes / "plan.json").write_text(
        json.dumps({"data": "calls.csv", "budget": {"epsilon": 1}, "questions": [{"query": query}]})
    )
    line = irisdp_command("batch plan.json").line
    assert line.endswith(f"query: {said}") or "a batch shares one out" in line
    level = "" if query.startswith("apply") else "epsilon = 1\n"
    (outcomes / "plan.toml").write_text(f'[datasets.c]\ndata = "calls.csv"\n[[questions]]\nquery = "{query}"\n{level}')
    assert irisdp_command("run plan.toml --dry-run").line == f"question 1: query: {said}"
    name, *words = query.split()
    with pytest.raises(BadInput) as refused:
        getattr(irisdp.Session("calls.csv"), name.replace("-", "_"))(*words, **options)
    assert str(refused.value) == f"query: {said}"
    assert not list(outcomes.glob("*.ledger"))


def test_every_query_about_a_column_is_asked():
    about = {name for name, kind in QUERIES.items() if "about" in getattr(kind, "__dataclass_fields__", {})}
    assert about == {query.split()[0] for query in (*OF_OUTCOME, *OF_MINUTES)}


def test_a_misspelt_weight_comes_before_bounds(outcomes):
    line = irisdp_command("publish calls.csv sum minutes --weight wieght --epsilon 1").line
    assert line == f"--weight: {SAID_MISSPELT.format('wieght', 'weight')}"


def test_a_column_whose_name_looks_like_a_condition_is_one(outcomes):
    (outcomes / "calls.csv").write_text("outcome = 1,minutes\n1,2\n")
    (outcomes / "calls.iris.toml").unlink()
    assert irisdp_command(["publish", "calls.csv", "count-distinct", "outcome = 1", "--epsilon", "1"]).status == 0


# What one command tells in some words, another tells in the same; a folder is named in full.


@pytest.fixture
def priorities(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("priority\n1\n2\n9\n")
    plan = {"data": "calls.csv", "budget": {"epsilon": 1}, "questions": [{"query": "count"}]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    return tmp_path


def test_a_batch_tells_of_its_page_as_publish_does(priorities):
    assert "  written   page.html\n" in irisdp_command("batch plan.json --report page.html").out
    assert re.search(r"  written   .*page2.html\n", irisdp_command(
        "publish calls.csv count --epsilon 1 --report page2.html").out)  # fmt: skip


def test_a_repeated_batch_costs_nothing_and_names_no_other_cost(priorities):
    assert "  cost      ε = 1" in irisdp_command("batch plan.json").out
    again = irisdp_command("batch plan.json").out
    assert [line for line in again.splitlines() if line.startswith(("  cost", "  charged"))] == [
        "  cost      nothing: all this was answered before, and these are the same answers"
    ]
    assert "  before    ε = 1, δ = 0: what line 1 of the ledger was charged\n" in again


def test_a_folder_that_cannot_be_written_is_named_in_full(priorities, monkeypatch):
    def refusing(*given, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("irisdp._files.tempfile.TemporaryFile", refusing)
    done = irisdp_command("publish calls.csv count --epsilon 1 --out out.csv")
    assert done.status == 4
    rule = f"--out: cannot write to the folder {priorities} (Permission denied)"
    assert done.line == f"{rule}; choose a folder that can be written"


def test_a_column_of_answers_says_that_they_may_be_none_of_those_declared(priorities):
    asked = "publish calls.csv column priority --relation exchange --epsilon 1 --dry-run --categories"
    told = '2 declared: "1" · "2"; and "other", for any other value or none: it may be the answer about any\n'
    assert f"  among     {told}" in irisdp_command(f"{asked} 1,2").out
    assert "any other value" not in irisdp_command(f"{asked} 1,other").out
    answers = irisdp_command(asked.replace("--dry-run --categories", "--categories 1,2 --json")).out
    assert {row["answer"] for row in json.loads(answers)["answers"]} <= {"1", "2", "other"}
