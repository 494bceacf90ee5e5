"""Project files: written without a look at a record, read strictly, kept where they promise, filled in where not."""

import json
import os
import re
import time
import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, ScopeRefused, init_project, plan, publish
from irisdp._cli import run
from irisdp._ledger.limits import named_limit
from irisdp._queries import FORMS
from irisdp._release import pipeline, project
from support.commands import irisdp as irisdp_command

pytestmark = pytest.mark.usefixtures("one_engine")

CANARY = "canary-51ab"
SAID = """
relation = "exchange"
unit = "person"
at_most = 1
limit = "3,1e-6"
[types]
educ = "integer"
[categories]
Vote = ["0", "1"]
[groups]
educ = [1, 2, 3]
vote = ["0", "1"]
"""


@pytest.fixture
def survey(tmp_path):
    file = tmp_path / "survey.csv"
    file.write_text("educ,vote,person\n" + "".join(f"{1 + n % 3}.0,{n % 2},p{n // 2}\n" for n in range(12)))
    return file


@pytest.fixture
def said(survey):
    file = survey.with_name("survey.iris.toml")
    file.write_text(SAID)
    return file


def written(folder, records, **options):
    file = folder / "t.csv"
    file.write_bytes(b"age,town;x,z\n" + records)
    return init_project(file, force=True, **options).read_bytes()


def test_nothing_of_any_record_is_written(tmp_path, capsys):
    records = "".join(f"{CANARY}{number},{CANARY}\n" for number in range(100)).encode()
    found = written(tmp_path, records)
    assert CANARY.encode() not in found
    assert found == written(tmp_path, b"") == written(tmp_path, b"\xff\0,1\n" * 9) == written(tmp_path, b"7,8\n")
    assert run(["init", str(tmp_path / "t.csv"), "--force"]) == 0
    assert CANARY not in "".join(capsys.readouterr())
    table = pa.table({"age": [70, 30], "town": [CANARY, CANARY], "tags": [[CANARY], []]})
    pq.write_table(table, tmp_path / "p.parquet")
    text = init_project(tmp_path / "p.parquet").read_text()
    pq.write_table(table.slice(0, 0), tmp_path / "p.parquet")
    assert text == init_project(tmp_path / "p.parquet", force=True).read_text()
    assert CANARY not in text
    assert "#   age: a whole number" in text


def test_only_the_header_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("irisdp._tables.sources.batches", None)
    monkeypatch.setattr("irisdp._tables.sources.TextSource.connect", None)
    monkeypatch.setattr("irisdp._tables.sources.TextSource.digest", None)
    assert b'#"age" = "text"' in written(tmp_path, b"1,2\n")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_written_says_nothing_yet_and_can_be_filled_in(tmp_path, ending):
    names = ["age", 'a "quoted" = \\name', "[types]", "#", "größe", "a.b"]
    if ending == "csv":
        quoted = ",".join(f'"{name}"'.replace('"quoted"', '""quoted""') for name in names)
        (tmp_path / "t.csv").write_text(quoted + "\n1,2,3,4,5,6\n")
    else:
        pq.write_table(pa.table({name: [1] for name in names}), tmp_path / "t.parquet")
    data = tmp_path / f"t.{ending}"
    file = init_project(data)
    text = file.read_text()
    tables = ("types", "categories", "groups") if ending == "csv" else ("categories", "groups")
    assert tomllib.loads(text) == {name: {} for name in tables} | {"labels": {"columns": {}}}
    assert plan(data, "count", epsilon=1).describe_project() == ["t.iris.toml says nothing of this"]
    file.write_text(re.sub(r"^#(?! )", "", text, flags=re.MULTILINE))
    found = project.read_project(file)
    assert (found.relation, found.unit) == ("add-remove", "age")
    assert set(found.types) == (set(names) if ending == "csv" else set())
    assert len(found.categories) == len(found.groups) == len(found.labels.columns) == 6


def test_encoding_and_delimiter_are_said_where_they_were_given(tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes("größe;b\n1;2\n".encode("latin-1"))
    init_project(file, encoding="latin-1", delimiter=";")
    assert plan(file, "count", '"größe" = 1', epsilon=1).project_says == ("encoding", "delimiter")


def test_what_is_left_out_is_filled_in(survey, said):
    found = plan(survey, "plurality", "vote", by="educ", epsilon=1)
    assert (found.unit, str(found.relation)) == ("person", "exchange")
    assert found.groups.names == (1, 2, 3)
    assert found.query.categories.names == ("0", "1")
    assert found.project_says == ("relation", "unit", "at_most", "types", "categories", "groups")
    both = plan(survey, "count", by=["vote", "EDUC"], epsilon=1)
    assert sorted(both.groups.labels) == [(vote, educ) for vote in "01" for educ in (1, 2, 3)]
    assert found.describe_project() == [
        "survey.iris.toml says relation, unit, at_most, types, categories, groups, limit"
    ]


TOWNS = '[groups]\ntown = ["Centrum", "Nørreport", "Kids, Toys & More"]\nward = [1, 2.5]\n[categories]\nage = [1, 2]\n'
NOT_AMONG = "among the groups by town in t.iris.toml; "


@pytest.mark.parametrize(("asked", "told"), [
    ("count --by town --groups Centrum,Norreport", f'"Norreport" is not {NOT_AMONG}did you mean "Nørreport"?'),
    (
        ["count", "--by", "town", "--groups", "Centrum,Kids, Toys & More"],
        f'"Kids", "Toys & More" are not {NOT_AMONG}the one name "Kids, Toys & More" is written in double quotes, '
        "as is each with a comma",
    ),
    ("count --by town --groups Vesterbro", f'"Vesterbro" is not {NOT_AMONG}what is listed there is known to be'),
    ("count --by ward --groups 1.0,3", '"3" is not among the groups by ward in t.iris.toml; '),
    ("plurality age --categories 1,3", '"3" is not among the categories of age in t.iris.toml; '),
    (["count", "--by", "town", "--groups", 'Centrum,"Kids, Toys & More"'], None),
    ("count --by ward --groups 1,2.50", None),
    ("count --by town", None),
    ("plurality age", None),
])  # fmt: skip
def test_groups_that_are_none_of_the_project_s_are_told(tmp_path, monkeypatch, asked, told):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,ward,age\nCentrum,1,2\n")
    Path("t.iris.toml").write_text(TOWNS)
    words = asked.split() if isinstance(asked, str) else asked
    for more in ("--dry-run", "--json", "--force"):
        shown = irisdp_command(["publish", "t.csv", *words, "--epsilon", "1", more])
        assert shown.status == 0, shown.err
        notes = [line for line in shown.out.splitlines() if line.startswith("  note ")]
        notes = [note for note in notes if "as declared: " not in note and " as UTF-8; " not in note]
        assert len(notes) == (told is not None and more != "--json")
        assert all(note.startswith(f"  note      {told}") for note in notes), notes


def test_plans_and_batches_tell_groups_that_are_none_of_the_project_s(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("town,ward,age\nCentrum,1,2\n")
    Path("t.iris.toml").write_text(TOWNS)
    question = {"query": "count", "by": "town", "groups": "Norreport"}
    Path("b.json").write_text(
        json.dumps(
            {"data": "t.csv", "budget": {"epsilon": 1}, "questions": [question, {**question, "expression": "age = 2"}]}
        )
    )
    keys = "\n".join(f'{key} = "{value}"' for key, value in question.items())
    Path("p.toml").write_text(f'[datasets.t]\ndata = "t.csv"\n[[questions]]\nepsilon = 1\n{keys}\n')
    for command in ("batch b.json", "run p.toml"):
        for more in ("--dry-run", "--force"):
            ended = irisdp_command(f"{command} {more}")
            shown = ended.out + ended.err
            assert shown.count(f'note      "Norreport" is not {NOT_AMONG}') == 1, shown


def test_what_is_said_on_the_line_comes_first(survey, said):
    found = plan(
        survey, "plurality", "vote", by="educ", categories="1,7", groups="2", types={"vote": "text"}, epsilon=1
    )
    assert found.groups.names == ("2",)
    assert found.query.categories.names == ("1", "7")
    assert {name: each.type for name, each in found.table.types.items()} == {"educ": "integer", "vote": "text"}
    as_text = plan(survey, "count", by="educ", groups=["2.0"], types={"EDUC": "text"}, epsilon=1)
    assert {name: each.type for name, each in as_text.table.types.items()} == {"educ": "text"}
    binned = plan(survey, "histogram", "vote", bins="1", epsilon=1)
    assert "categories" not in binned.project_says
    selected = plan(survey, "count", by="educ", select_groups=True, epsilon=1, delta="1e-6")
    assert selected.groups is None
    assert plan(survey, "sizes", "vote", epsilon=1).query.categories is None  # it may be asked without


def test_the_same_question_is_the_same_whoever_says_it(survey, said, tmp_path):
    told = plan(survey, "count", by="educ", epsilon=1)
    other = tmp_path / "elsewhere.toml"
    said.rename(other)
    assert told.question() == plan(survey, "count", by="educ", epsilon=1, project=other).question()
    spelt = {"relation": "exchange", "unit": "person", "at_most": 1, "types": {"educ": "integer"}, "groups": [1, 2, 3]}
    assert told.question() == plan(survey, "count", by="educ", epsilon=1, **spelt).question()
    assert "project" not in told.question()


@pytest.mark.parametrize(("option", "named"), [
    ({"relation": "add-remove"}, "relation exchange; you asked for add-remove"),
    ({"unit": "vote"}, "unit person; you asked for vote"),
    ({"types": {"person": "integer"}}, "types person as text; you asked for person as integer"),
])  # fmt: skip
def test_what_is_promised_is_not_overruled(survey, said, option, named):
    for ask in (
        lambda: plan(survey, "count", epsilon=1, **option),
        lambda: publish(survey, "count", epsilon=1, **option),
        lambda: irisdp.Session(survey, **option),
        lambda: irisdp.batch({"data": survey, "budget": {"epsilon": 1}, "questions": [{"query": "count"}], **option}),
    ):
        with pytest.raises(ScopeRefused, match=f"survey.iris.toml sets {named}. Leave it out") as refused:
            ask()
        assert refused.value.document["differs"] == list(option)
    assert not survey.with_suffix(".ledger").exists()
    same = {"relation": "exchange", "unit": "Person", "types": {"person": "text"}}
    assert plan(survey, "count", epsilon=1, **{name: same[name] for name in option}).unit == "person"


def test_the_limit_is_set_by_the_first_release_and_kept(survey, said, capsys):
    ledger = irisdp.Ledger(survey.with_suffix(".ledger"))
    dry = ["publish", str(survey), "count", "--dry-run", "--json", "--epsilon"]
    assert run([*dry, "4"]) == 1
    foreseen = json.loads(capsys.readouterr().out)["ledger"]
    assert foreseen["refused"]
    assert foreseen["left"] == {"epsilon": "3", "delta": "0.000001"}
    assert not ledger.path.exists()
    session = irisdp.Session(survey)
    assert session.remaining == session.limit == irisdp.Cost(3, "1e-6")
    assert not ledger.path.exists()
    with pytest.raises(BudgetRefused):
        publish(survey, "count", epsilon=4)
    assert session.count(epsilon=1).cost.epsilon == 1
    assert ledger.limit == irisdp.Cost(3, "1e-6")
    assert session.remaining == irisdp.Cost(2, "1e-6")
    with pytest.raises(ScopeRefused, match="sets limit ε = 3"):
        irisdp.Session(survey, limit=9)
    ledger.set_limit(9)
    for ask in (lambda: session.count(epsilon=1), lambda: session.batch([{"query": "count"}], budget={"epsilon": 1})):
        with pytest.raises(ScopeRefused, match=r"sets the limit ε = 3, δ = 0.000001, and survey.ledger has ε = 9"):
            ask()
    assert run([*dry, "1"]) == 1
    assert ledger.spent.epsilon == 1


@pytest.mark.parametrize("meanwhile", ["1/2", "mu=1", "3,1e-6"])
@pytest.mark.parametrize("batched", [False, True])
def test_a_limit_that_is_set_while_records_are_read_stays(survey, said, monkeypatch, meanwhile, batched):
    ledger = irisdp.Ledger(survey.with_suffix(".ledger"))
    wanted = named_limit(meanwhile if "=" in meanwhile else tuple(meanwhile.split(",")))
    real = pipeline.read_statistics

    def read(*asked):
        ledger.restrict(wanted)
        return real(*asked)

    monkeypatch.setattr(pipeline, "read_statistics", read)

    def ask():
        if batched:
            irisdp.Session(survey).batch([{"query": "count"}], budget={"epsilon": 1})
        else:
            publish(survey, "count", epsilon=1)

    if meanwhile == "3,1e-6":
        ask()
        assert (ledger.limit, ledger.spent) == (irisdp.Cost(3, "1e-6"), irisdp.Cost(1))
        return
    with pytest.raises(ScopeRefused):
        ask()
    assert (ledger.limit, ledger.releases()) == (wanted, [])


def test_a_limit_may_say_what_a_ledger_counts(survey, said):
    said.write_text('limit = "mu=1"')
    assert publish(survey, "count", mu="1/2").cost == irisdp.accounting.GaussianCost("1/4")
    other = survey.with_name("other.ledger")
    said.write_text("")
    publish(survey, "count", epsilon=1, ledger=other, another_ledger=True)
    said.write_text('limit = "mu=1"')
    with pytest.raises(ScopeRefused, match=r"other\.ledger counts in epsilon and delta"):
        publish(survey, "count", mu="1/2", ledger=other, another_ledger=True)
    assert irisdp.Ledger(other).limit is None


def test_batches_and_commands_find_it(survey, said, tmp_path, capsys):
    questions = [{"query": "count", "by": "educ"}, {"query": "plurality vote"}]
    document = {"data": str(survey), "budget": {"epsilon": 1}, "questions": questions}
    planned = irisdp.plan_batch(document)
    assert [one.unit for one in planned.plans] == ["person", "person"]
    assert irisdp.batch(document).plan.plans[0].groups.names == (1, 2, 3)
    assert irisdp.Ledger(survey.with_suffix(".ledger")).limit.epsilon == 3
    other = tmp_path / "other.toml"
    other.write_text('unit = "educ"')
    assert (
        irisdp.plan_batch(
            {**document, "project": str(other), "questions": questions[:1]} | {"questions": [{"query": "count"}]}
        )
        .plans[0]
        .unit
        == "educ"
    )
    assert run(["publish", str(survey), "count", "--epsilon", "1", "--dry-run", "--project", str(other)]) == 1
    assert "project   other.toml says unit" in capsys.readouterr().out
    assert run(["publish", str(survey), "count", "--epsilon", "1", "--project", str(tmp_path / "none.toml")]) == 2
    assert "--project: there is no file" in capsys.readouterr().err


def test_no_output_and_no_ledger_is_the_project(survey, said, capsys):
    ask = ["publish", str(survey), "count", "--epsilon", "1", "--force"]
    named = survey.with_name("p.csv")
    named.write_text("")
    assert run([*ask, "--project", str(named), "--out", str(named)]) == 2
    assert "is the project, which is never written over" in capsys.readouterr().err
    assert run([*ask, "--ledger", str(said)]) == 2
    assert "is the project" in capsys.readouterr().err
    for kept in (survey, survey.with_name("survey.ledger")):
        publish(survey, "count", epsilon=1)
        assert run(["init", str(survey), "--out", str(kept), "--force"]) == 2
    assert run(["init", str(survey)]) == 2
    assert "add --force to replace it" in capsys.readouterr().err
    assert said.read_text() == SAID


def test_a_link_to_the_data_has_the_projects_promise(survey, said, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "other.csv").symlink_to(survey)
    assert plan(folder / "other.csv", "count", epsilon=1).unit == "person"


REFUSED = {
    "unknown key": ("relaton = 'exchange'", "has the key 'relaton', which no project has; did you mean relation?"),
    "another key": ("epsilon = 1", "choose from relation, unit, at_most, limit"),
    "no relation": ('relation = "swap"', "gives a relation that there is not; write add-remove or exchange"),
    "unit of another kind": ("unit = 3", 'gives unit a number; write for example unit = "person"'),
    "an empty unit": ('unit = ""', "gives unit empty text"),
    "no such unit": ('unit = "persn"', "unit names the column 'persn', which the data does not have"),
    "a limit that is none": ('limit = "much"', "limit "),
    "a limit that is true": ("limit = true", "limit "),
    "a limit that is a table": ("limit = {epsilon = 1}", "limit "),
    "types as a list": ('types = ["text"]', "gives types a list; write [types], and below it"),
    "a type of another kind": ("[types]\neduc = 3", "gives 'educ' in types a number"),
    "no such type": ('[types]\neduc = "int"', "types gives educ the unknown type 'int'; did you mean integer?"),
    "no such typed column": ('[types]\nedu = "text"', "types names the column 'edu'"),
    "a column twice": ("[groups]\neduc = [1]\nEduc = [2]", "names 'Educ' twice in groups"),
    "a key twice": ("[groups]\neduc = [1]\neduc = [2]\n", "is no valid TOML at line 3, column 11"),
    "categories as text": ('[categories]\nvote = "0,1"', "gives 'vote' in categories text"),
    "no categories": ("[categories]\nvote = []", "an empty list"),
    "a list among the values": ("[groups]\neduc = [[1]]", "has a list among the groups of 'educ'"),
    "a time of day": ("[groups]\neduc = [07:00:00]", "has a date or a time among the groups"),
    "categories of no column": ('[categories]\nvoted = ["0"]', "categories names the column 'voted'"),
    "groups of no column": ("[groups]\nedcu = [1]", "groups names the column 'edcu'"),
    "a group twice": ('[groups]\neduc = [1, "1"]', "groups declares '1' twice"),
    "a number in a column of text": ("[groups]\neduc = [1, 1.0]", "groups has the number 1.0 for educ"),
    "a group that is no such value": ('[types]\neduc = "integer"\n[groups]\neduc = ["x"]', "groups has 'x' for educ"),
    "an unknown encoding": ('encoding = "klingon"', "encoding is no text encoding"),
    "a long delimiter": ('delimiter = "ab"', "delimiter must be one ASCII character"),
    "no TOML": ("unit = person", "is no valid TOML at line 1, column 8"),
    "a number of many digits": (f"[groups]\neduc = [{'9' * 10**5}]", "is no valid TOML"),
    "a number beyond 64 bits": (f"[groups]\neduc = [0x{'f' * 1000}]", "has a number beyond 64 bits"),
    "a huge exponent": ("[groups]\neduc = [1e999999999]", "holds a number that"),
    "no number": ("[groups]\neduc = [nan]", "holds a number that"),
    "lists in lists": (f"unit = {'[' * 10**5}", "is no valid TOML"),
    "tables in tables": (f"unit = {'{a=' * 10**4}", "is no valid TOML"),
    "a key of many parts": (f"{'a.' * 10**5}a = 1", "has more than 50 dots between words in line 1"),
    "a quoted key of many parts": ('"a".' * 10**5 + "a = 1", "has more than 50 dots between words in line 1"),
    "a key behind a long text": ('x = {b = """\n""", a' + ".a" * 10**5 + "= 1}", "between words in line 2"),
    "a key of escaped quotes": (r'"a\"b" .' * 10**4 + "a = 1", "has more than 50 dots between words in line 1"),
    "a table of many parts": (f"\n[{'a.' * 10**5}a]", "has more than 50 dots between words in line 2"),
    "too long": ("#" * 2**20 + "\n", "is longer than 1,048,576 bytes"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_project_that_is_wrong_is_one_line(survey, said, case, capsys):
    text, expected = REFUSED[case]
    said.write_text(text, encoding="utf-8")
    began = time.process_time()
    assert run(["publish", str(survey), "count", "--by", "educ", "--epsilon", "1"]) == 2
    assert time.process_time() - began < 5
    error = capsys.readouterr().err
    assert error.startswith("irisdp: --project: ")
    assert "survey.iris.toml" in error or "which the data does not have" in error
    assert expected in error
    assert error.count("\n") == 1
    assert len(error) < 500
    assert not survey.with_suffix(".ledger").exists()


def test_bytes_that_are_no_text_are_one_line(survey, said, capsys):
    said.write_bytes(b"unit = '\xff'")
    assert run(["publish", str(survey), "count", "--epsilon", "1"]) == 2
    assert "--project: survey.iris.toml is no UTF-8 text" in capsys.readouterr().err


def test_what_is_wrong_on_the_line_is_not_blamed_on_the_project(survey, said):
    said.write_text('[types]\neduc = "integer"\n[groups]\neduc = [1]')
    with pytest.raises(BadInput, match=r"^types: gives vote"):
        plan(survey, "count", epsilon=1, types={"vote": "int"})
    with pytest.raises(BadInput, match=r"^groups: has 'x'"):
        plan(survey, "count", by="educ", groups=["x"], epsilon=1)


def test_groups_that_multiply_beyond_all_use_are_refused(survey, said):
    lists = "".join(f"{name} = {list(map(str, range(200)))}\n" for name in ("educ", "vote", "person"))
    said.write_text(f"[groups]\n{lists}")
    with pytest.raises(BadInput, match="more than 1,000,000 groups by educ, vote, person"):
        plan(survey, "count", by="educ,vote,person", epsilon=1)


def test_dates_numbers_and_truth_may_be_declared(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("d,x,b\n2024-01-05,0.5,yes\n")
    (tmp_path / "t.iris.toml").write_text(
        '[types]\nd = "date"\nx = "number"\nb = "boolean"\n'
        "[groups]\nd = [2024-01-05, 2024-01-06]\nx = [0.5, 1]\nb = [true]"
    )
    found = publish(file, "count", by="d,x,b", epsilon=50)
    assert found.answers.values == [1, 0, 0, 0]


def test_a_frame_has_a_project_where_one_is_named(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text('unit = "u"\nlimit = 2')
    frame = pa.table({"u": [1, 1, 2], "v": [1, 2, 3]})
    session = irisdp.Session(frame, project=file, ledger=tmp_path / "t.ledger")
    assert session.count(epsilon=1).plan.unit == "u"
    assert session.remaining == irisdp.Cost(1)
    with pytest.raises(BadInput, match="project: is named by the session"):
        session.count(epsilon=1, project=file)
    file.write_text('[types]\nv = "text"')
    with pytest.raises(BadInput, match=r"project: in p.toml, types belongs to \.csv, \.tsv and \.jsonl files"):
        plan(frame, "count", epsilon=1, project=file)
    with pytest.raises(BadInput, match="data"):
        init_project(frame)


def test_every_query_that_needs_categories_is_told_them(survey, said):
    said.write_text('[categories]\nvote = ["0", "1"]')
    numbers = {"top": (1,)}
    for form in FORMS:
        name = form.name
        if (
            name in ("apply", "median", "quantile", "sizes", "sum", "mean", "count-distinct")
            or name in ("variance", "deviation", "quantiles", "bounds")
            or "COLUMN" not in form.usage
        ):
            continue
        options = {"relation": "exchange"} if name == "column" else {}
        told = plan(survey, name, *numbers.get(name, ()), "vote", epsilon=1, **options)
        assert "categories" in told.project_says, name


def dangling(path):
    path.symlink_to("/no disk is mounted here/s.iris.toml")


def looping(path):
    path.symlink_to(path.name)


UNREADABLE = {"a link that leads nowhere": dangling, "a link to itself": looping, "a folder": Path.mkdir}
if hasattr(os, "mkfifo"):
    UNREADABLE["a pipe"] = os.mkfifo


@pytest.mark.parametrize("made", UNREADABLE.values(), ids=UNREADABLE)
def test_a_project_that_cannot_be_read_is_not_forgotten(made, survey, tmp_path, capsys):
    """Unit, relation and limit would vanish with the disk that they lie on."""
    project = survey.with_name(f"{survey.stem}.iris.toml")
    made(project)
    (tmp_path / "batch.json").write_text(
        json.dumps({"data": str(survey), "budget": {"epsilon": 1}, "questions": [{"query": "count"}]})
    )
    (tmp_path / "plan.toml").write_text(
        f'[datasets.t]\ndata = "{survey}"\n[[questions]]\nquery = "count"\nepsilon = 1\n'
    )
    ask = ["publish", str(survey), "count", "--epsilon", "1"]
    batch, plan = ["batch", str(tmp_path / "batch.json")], ["run", str(tmp_path / "plan.toml")]
    for command in (ask, batch, plan, *([*each, "--dry-run"] for each in (ask, batch, plan)), ["init", str(survey)]):
        assert run(command) == 2, command
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        assert project.name in line
    with pytest.raises(BadInput, match=f"project: .*{project.name}"):
        irisdp.Session(survey)
    assert not survey.with_suffix(".ledger").exists()
    project.rmdir() if project.is_dir() else project.unlink()
    assert run(ask) == 0, "control: without it the question is asked"
