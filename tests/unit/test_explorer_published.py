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
from irisdp._explorer.forms import read_values
from irisdp._explorer.interpret import READ, read, sorted_files
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


# The page Read of such files

INTERPRETED = ("groups", "histogram", "count", "selected groups", "exchange", "count-distinct")
NAMED = ("majority", "plurality", "band", "at-least", "at-most", "winners by group", "bands by group")


def dropped(folder, name):
    """Return what dropping the files of a question fills in."""
    path = answers(folder, name)
    release = path.with_name(f"{path.name}.release.json")
    files = [(f"x ({number}).bin", file.read_bytes()) for number, file in enumerate((release, path))]
    assert sorted_files(files) == sorted_files(files[::-1])
    return sorted_files(files)


def read_files(filled, **said):
    return read(read_values(READ.fields, {**filled, **said}), lambda phase: None)


def sent_by_a_browser(filled):
    """Return fields as a form sends them: every end of a line as two letters."""
    return {name: re.sub("\r\n|\r|\n", "\r\n", text) for name, text in filled.items()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_dropped_files_are_read_whatever_was_published(folder, name):
    shown = read_files(dropped(folder, name))
    expected = published(answers(folder, name))
    assert shown.headline == expected.headline
    assert [table.rows for table in shown.tables] == [table.rows for table in expected.tables]
    assert shown.facts == expected.facts
    taken = {file.name: file.read() for file in shown.files}
    ending = answers(folder, name).suffix
    assert taken[f"answers{ending}"] == answers(folder, name).read_bytes()
    headings = [section.heading for section in shown.sections]
    assert (headings[0] == "For analysts") == (name in (*INTERPRETED, *NAMED, "Gaussian"))
    again = read_files(sent_by_a_browser(dropped(folder, name)))
    assert replace(again, files=()) == replace(shown, files=())


@pytest.mark.parametrize("name", [*INTERPRETED, *NAMED, "sizes", "column", "mean", "quantiles", "apply"])
def test_the_command_line_makes_the_same_of_dropped_files(folder, name, tmp_path, monkeypatch):
    known = {"at_most": "300", "loss": "squared"} if name in INTERPRETED else {}
    shown = read_files(dropped(folder, name), **known)
    monkeypatch.chdir(tmp_path)
    made = {file.name: file.read() for file in shown.files}
    last = shlex.split(shown.command)[-1]
    for file, content in made.items():
        if file != last:
            (tmp_path / file).write_bytes(content)
    done = command(shlex.split(shown.command)[1:])
    assert done.status == 0, done.err
    mine, theirs = made[last], (tmp_path / last).read_bytes()
    if last == "reading.json":  # coins may be tossed
        mine, theirs = (re.sub(rb'"reading": \d+', b"", content) for content in (mine, theirs))
    assert mine == theirs


@pytest.mark.parametrize("name", ["groups", "means by group", "winners by group", "quantiles", "sizes", "column"])
def test_a_chosen_row_is_read_and_marked(folder, name):
    filled = dropped(folder, name)
    for number in (1, 2):
        shown = read_files(filled, row=str(number))
        assert shown.headline == published(answers(folder, name), row=number).headline
        assert (shown.tables[-1].chosen, shown.tables[-1].choose) == (number, "row")
    for row in ("0", "1000000000000", "-1"):
        with pytest.raises(BadInput, match="row"):
            read_files(filled, row=row)


def test_what_a_reader_knows_changes_the_reading_of_a_row_and_not_what_was_published(folder):
    filled = dropped(folder, "groups")
    plain, knowing = read_files(filled, row="1"), read_files(filled, row="1", at_least="71")
    assert plain.headline == knowing.headline
    said = {fact.name: fact.value for fact in knowing.facts}["If what you filled in is true"]
    document = json.loads(filled["release"])
    answer = int(rows_by_hand(answers(folder, "groups"))[1][1])
    alone = irisdp.interpret(document, answer, at_least=71)
    assert said == f"{alone.describe()}."
    assert "If what you filled in is true" not in {fact.name for fact in plain.facts}


@pytest.mark.parametrize("name", ["mean", "quantile", "persons", "ranking", "bounds", "apply"])
@pytest.mark.parametrize("known", [{"at_most": "300"}, {"loss": "squared"}, {"prior": "[1]"}])
def test_knowledge_of_no_use_is_refused_at_its_field(folder, name, known):
    with pytest.raises(BadInput, match="of no use here") as refused:
        read_files(dropped(folder, name), **known)
    assert refused.value.field in known


def test_gaussian_noise_needs_a_largest_count_for_a_guess_and_shows_its_answers_without(folder):
    filled = dropped(folder, "Gaussian")
    (line,) = read_files(filled).sections[0].lines
    assert "Known: at most: is needed" in line
    with pytest.raises(BadInput) as refused:
        read_files(filled, loss="squared")
    assert refused.value.field == "at_most"
    assert read_files(filled, at_most="200").sections[0].tables[0].columns[-2:] == ("best guess", "loss at worst")


def test_files_that_do_not_belong_together_are_refused_in_words(folder):
    one, other = (answers(folder, name) for name in ("count", "groups"))
    releases = [path.with_name(f"{path.name}.release.json") for path in (one, other)]
    package = one.with_name(f"{one.name}.datapackage.json")
    page = [("report.html", b"<!doctype html>")]

    def given(*paths):
        return [(path.name, path.read_bytes()) for path in paths]

    for files, field, said in (
        (given(*releases), "release", "stands for several release files: count.csv.release.json and groups"),
        (given(one, other), "answers", "stands for several files of answers: count.csv and groups"),
        (given(package), "release", "is a data package"),
        (given(one) + page, "release", "report.html is a report for people"),
    ):
        with pytest.raises(BadInput, match=re.escape(said)) as refused:
            sorted_files(files)
        assert refused.value.field == field
    with pytest.raises(BadInput, match="not the one that was published with this release file") as refused:
        read_files(sorted_files(given(one, releases[1])))
    assert refused.value.field == "answers"
    with pytest.raises(BadInput, match="is a data package"):
        read_files({"release": package.read_text("utf-8"), "answers": "answer\n7\n"})
    assert sorted_files(given(one, releases[0], package)) == sorted_files(given(one, releases[0]))


def test_names_with_ends_of_lines_survive_the_form(tmp_path):
    table = tmp_path / "t.parquet"
    groups = ["a\r\nb", "c\rd", "e\nf", "g"]
    pyarrow.parquet.write_table(pyarrow.table({"g": groups * 30}), table)
    out = tmp_path / "o.csv"
    irisdp.publish(table, "count", by="g", groups=groups, epsilon=1, ledger=tmp_path / "l", out=out)
    release = tmp_path / "o.csv.release.json"
    filled = sent_by_a_browser(sorted_files([(path.name, path.read_bytes()) for path in (out, release)]))
    assert [row[0] for row in read_files(filled).tables[0].rows] == groups


def test_the_example_is_a_release_that_was_not_changed():
    shown = read_files(READ.example())
    assert len(shown.tables[0].rows) == 4
    assert "survey.csv" in {fact.value for fact in shown.sections[-1].facts}
