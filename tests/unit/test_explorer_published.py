"""What the explorer shows of a published question: the numbers of its files, whatever the query, and nothing else."""

import collections
import csv
import json
import math
import re
import shlex
from dataclasses import replace

import pytest

pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")
pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")

import pyarrow.parquet

import irisdp
from irisdp import BadInput, design
from irisdp._exact import json_bytes
from irisdp._explorer.interpret import READ
from irisdp._explorer.pages import show_result
from irisdp._explorer.published import published, row_sentence
from irisdp._explorer.results import ResultCache, ResultFile
from irisdp._queries.registry import FORMS
from irisdp._release import Labels
from irisdp._views.reports import Given, given_of
from support.commands import irisdp as command

RECORDS = [
    (index % 90, f"p{index % 70}", index % 17, "ABC"[index * index % 3], index % 2, f"n{index % 8}", 900 + 7 * index)
    for index in range(210)
]
EXAMPLES = {form.name: shlex.split(form.example) for form in FORMS}
MORE = {
    "groups": ["count", "--by", "party", "--groups", "A,B,C"],
    "means by group": [*EXAMPLES["mean"], "--by", "party", "--groups", "A,B,C"],
    "bands by group": [*EXAMPLES["band"], "--by", "party", "--groups", "A,B,C"],
    "winners by group": [*EXAMPLES["plurality"], "--by", "vote", "--groups", "0,1"],
    "medians by group": [*EXAMPLES["median"], "--by", "vote", "--groups", "0,1"],
    "selected groups": ["count", "--by", "party", "--select-groups", "--delta", "1/1000"],
    "persons": ["count", "vote = 1", "--unit", "person", "--at-most", "2"],
    "exchange": ["count", "--relation", "exchange"],
    "Gaussian": ["count", "--by", "party", "--groups", "A,B,C", "--mu", "0.5", "--delta", "1e-6"],
}
QUESTIONS = EXAMPLES | {"column": [*EXAMPLES["column"], "--relation", "exchange"]} | MORE
ENDINGS = ("csv", "json", "parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder where every kind of question was published."""
    folder = tmp_path_factory.mktemp("published")
    lines = [",".join(map(str, record)) for record in RECORDS]
    table = folder / "t.csv"
    table.write_text("\n".join(["age,person,visits,party,vote,surname,income", *lines, ""]), encoding="utf-8")
    spec = {"kind": "geometric", "n": 3, "privacy": {"ratio": 3}}
    (folder / "mechanism.json").write_bytes(json_bytes(design.from_spec(spec).to_document()))
    for number, (name, example) in enumerate(QUESTIONS.items()):
        words = [str(folder / word) if word == "mechanism.json" else word for word in example]
        budget = [] if name in ("apply", "Gaussian") else ["--epsilon", "1"]
        ledger = [f"--ledger={folder / name}.ledger", "--another-ledger"]
        out = folder / f"{name}.{ENDINGS[number % 3]}"
        done = command(["publish", str(table), *words, *budget, *ledger, "--out", str(out)])
        assert done.status == 0, (name, done.err)
    return folder


def answers(folder, name):
    """Return the file of answers of a question."""
    return next(path for path in map(folder.joinpath, (f"{name}.{ending}" for ending in ENDINGS)) if path.exists())


def rows_by_hand(path):
    """Read a file of answers without Iris."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))
    if path.suffix == ".json":
        rows = json.loads(path.read_text("utf-8"))
    else:
        rows = pyarrow.parquet.read_table(path).to_pylist()
    return [list(rows[0]), *(["" if cell is None else str(cell) for cell in row.values()] for row in rows)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_page_shows_the_numbers_of_the_file(folder, name):
    path = answers(folder, name)
    head, *rows = rows_by_hand(path)
    shown = published(path)
    *_, table = shown.tables
    same = "answer_probability" in head and len({row[head.index("answer_probability")] for row in rows}) == 1
    kept = [index for index, column in enumerate(head) if not (same and column == "answer_probability")]
    assert [list(row) for row in table.rows] == [[row[index] for index in kept] for row in rows][:200]
    assert len(table.columns) == len(kept)
    assert f"{len(rows)} published answer" in table.caption
    if len(rows) == 1 and head[0] == "answer":
        assert rows[0][0] in (shown.headline, shown.headline.replace(",", ""))[rows[0][0].isdecimal()]
        for end in ("answer_low", "answer_high"):
            assert end not in head or rows[0][head.index(end)] in shown.headline.replace(",", "")
    (picture,) = shown.pictures
    assert len(picture.rows) == min(len(rows), 800)
    facts = {fact.name: fact.value for fact in shown.facts}
    release = json.loads(path.with_name(f"{path.name}.release.json").read_text("utf-8"))
    assert "Error" in facts
    assert "ε" in facts["Privacy cost"]
    made = {fact.name: fact for fact in shown.sections[-1].facts}
    assert made["Question"].remark == release["question"]
    assert made["Table"].value == "t.csv"


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_files_are_those_that_publish_wrote_and_the_report_of_the_command_line(folder, name, tmp_path):
    path = answers(folder, name)
    shown = published(path)
    taken = {file.name: file.read() for file in shown.files}
    for file in (path.name, f"{path.name}.release.json"):
        assert taken[file] == (folder / file).read_bytes()
        (tmp_path / file).write_bytes(taken[file])
    _, *words = shlex.split(shown.command)
    done = command([str(tmp_path / word) if word.endswith((path.name, ".html")) else word for word in words])
    assert done.status == 0, done.err
    assert taken[f"{name}.html"] == (tmp_path / f"{name}.html").read_bytes()


@pytest.mark.parametrize("name", ["count", "groups", "mean", "top"])
def test_a_publication_the_content_of_its_files_and_their_paths_show_the_same(folder, name):
    path = answers(folder, name)
    release = path.with_name(f"{path.name}.release.json")
    expected = published(path)
    given = ResultFile(path.name, path.read_bytes())
    package = path.with_name(f"{path.name}.datapackage.json")
    for shown in (published(release), published(package), published(release.read_bytes(), given)):
        assert replace(shown, files=()) == replace(expected, files=())
        assert [(file.name, file.read()) for file in shown.files] == [
            (file.name, file.read()) for file in expected.files
        ]


def test_a_publication_shows_its_own_answers_and_labels_change_words_alone(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("party\n" + "A\nB\nB\n" * 40, encoding="utf-8")
    made = irisdp.publish(table, "count", by="party", groups=["A", "B"], epsilon=1, ledger=tmp_path / "l")
    labels = Labels(columns={"party": "Party"}, groups={"party": {"A": "Apples"}}, title="Votes")
    shown = published(made, labels=labels)
    assert shown.headline == "How many records there are, for each Party: 2 published answers from " + (
        f"{min(made.answers.values)} to {max(made.answers.values)}."
    )
    assert shown.tables[0].columns[0] == "Party"
    assert [row[0] for row in shown.tables[0].rows] == ["Apples", "B"]
    assert [row[1] for row in shown.tables[0].rows] == [str(value) for value in made.answers.values]
    facts = made.sidecars[None]
    assert published(facts, made.answers, labels=labels).tables == shown.tables


def test_of_several_audiences_one_is_shown(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("party\n" + "A\nB\nB\n" * 40, encoding="utf-8")
    made = irisdp.publish(table, "count", audience={"press": 1, "board": 2}, ledger=tmp_path / "l")
    with pytest.raises(BadInput, match="audience"):
        published(made)
    for name in ("press", "board"):
        shown = published(made, audience=name)
        assert shown.tables[0].rows[0][0] == str(made.answers_of[name].values[0])
        assert name in {fact.name: fact.value for fact in shown.facts}["For"]


def test_answers_that_were_changed_are_refused(folder):
    path = answers(folder, "count")
    release = path.with_name(f"{path.name}.release.json").read_bytes()
    with pytest.raises(BadInput, match="not as it was published"):
        published(release, ResultFile(path.name, path.read_bytes() + b"\n"))
    with pytest.raises(BadInput, match="answers"):
        published(release)
    other = answers(folder, "mean").read_bytes()
    with pytest.raises(BadInput, match="not as it was published"):
        published(release, ResultFile(path.name, other))


def test_names_are_never_markup(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("party\n" + "<b>x</b>\nB\n" * 40, encoding="utf-8")
    made = irisdp.publish(table, "count", by="party", groups=["<b>x</b>", "B"], epsilon=1, ledger=tmp_path / "l")
    shown = show_result(READ, dict.fromkeys((field.name for field in READ.fields), ""), published(made), ResultCache())
    assert "<b>" not in shown
    assert "&lt;b&gt;x&lt;/b&gt;" in shown


# One row


@pytest.mark.parametrize(
    "name", [name for name in QUESTIONS if len(shlex.split(name)) > 1 or name in ("groups", "sizes")]
)
def test_the_sentence_of_a_row_has_its_numbers_and_no_other(folder, name):
    path = answers(folder, name)
    head, *rows = rows_by_hand(path)
    for number, row in enumerate(rows, 1):
        said = published(path, row=number).headline
        told = dict(zip(head, row, strict=True))
        where = ", ".join(f"{column} {told[column]}" for column in head[: head.index("answer")])
        assert said.startswith(f"{where}: published {told['answer']}; ")
        if "answer_low" in told:
            low, high = told["answer_low"], told["answer_high"]
            assert f"the truth is probably {low if low == high else f'{low} to {high}'} (95 %)." in said
        if "answer_probability" in told and "answer_first" not in told:
            chance = float(re.search(r"with probability ([0-9.]+) or more", said)[1])
            assert 0 <= float(told["answer_probability"]) - chance < 1e-3


def test_the_sentence_of_a_bin_names_the_bins_between_which_the_right_one_is(folder):
    said = published(answers(folder, "quantiles"), row=1).headline
    told = dict(zip(*rows_by_hand(answers(folder, "quantiles"))[:2], strict=True))
    assert f"“{told['answer_first']}”" in said
    assert f"“{told['answer_last']}” (95 %)." in said


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"answer_low": "3", "answer_high": ""}, "the truth is probably 3 or more (95 %)"),
        ({"answer_low": "", "answer_high": "3"}, "the truth is probably 3 or less (95 %)"),
        ({"answer_low": "", "answer_high": ""}, "nothing says how sure that is"),
        ({"answer_first": "a", "answer_last": "a"}, "the right bin is probably “a” (95 %)"),
        ({"answer_probability": ""}, "nothing says how sure that is"),
    ],
)
def test_a_missing_end_is_no_end(folder, beside, said):
    given = given_of(answers(folder, "groups"))
    given = Given(given.facts, ("answer", *beside), (("2", *beside.values()),), ())
    assert row_sentence(given, given.rows[0]) == f"Published 2; {said}"


def test_a_row_that_is_not_there_is_refused(folder):
    for row in (0, 4, -1):
        with pytest.raises(BadInput, match="choose one from 1 to 3"):
            published(answers(folder, "groups"), row=row)


def test_a_press_on_a_row_sends_its_number_with_the_form(folder):
    shown = published(answers(folder, "groups"), row=2, choose="row")
    page = show_result(READ, dict.fromkeys((field.name for field in READ.fields), ""), shown, ResultCache())
    buttons = re.findall(r'<button [^>]*name="row"[^>]*>', page)
    assert [re.search(r'value="(\d+)"', button)[1] for button in buttons] == ["1", "2", "3"]
    assert all('form="form"' in button and 'type="submit"' in button for button in buttons)
    assert ["aria-current" in button for button in buttons] == [False, True, False]
    assert "<button" not in show_result(
        READ,
        dict.fromkeys((field.name for field in READ.fields), ""),
        published(answers(folder, "groups")),
        ResultCache(),
    )


def test_answers_about_each_record_are_estimated_together(folder):
    estimates, _ = published(answers(folder, "column")).tables
    categories = {row[0]: row for row in estimates.rows}
    said = collections.Counter(row[1] for row in rows_by_hand(answers(folder, "column"))[1:])
    truth, lie = math.e / (math.e + 3), 1 / (math.e + 3)  # randomised response among four categories, with ε = 1
    assert set(categories) == {*"ABC", "other"}
    for name, (_, published_as, estimate, low, high) in categories.items():
        assert published_as == str(said[name])
        unbiased = (said[name] - len(RECORDS) * lie) / (truth - lie)
        assert float(estimate) == pytest.approx(unbiased, rel=1e-3, abs=1e-2)
        assert int(low) <= max(unbiased, 0) <= int(high)
