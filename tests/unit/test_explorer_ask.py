"""The room Ask: what a question costs, worked out about a table without records; what it hands out makes the same."""

import contextlib
import io
import json
import re
import shlex

import pytest

import irisdp
from irisdp import BadInput
from irisdp._cli import run
from irisdp._explorer import ask as ask_room
from irisdp._explorer import ask as asking
from irisdp._explorer.ask import ASK, TABLE
from irisdp._explorer.ask import ask as work
from irisdp._explorer.ask_form import FIELDS
from irisdp._explorer.dispatch import WorkDispatcher
from irisdp._explorer.forms import read_values

QUESTIONS = [choice for choice, _ in FIELDS[0].choices]


@pytest.fixture(scope="module", autouse=True)
def patient():
    """Files of plans are worked out elsewhere, in the time of a machine that has nothing else to do: here without."""
    lanes = WorkDispatcher(at_once=60)
    with pytest.MonkeyPatch.context() as patch:
        for module in (ask_room, asking):
            patch.setattr(module, "at_once", lanes.at_once)
        yield
    lanes.close()


def ask(**values):
    return work(read_values(FIELDS, values), lambda words: None)


def fact(result, name):
    return next(one for one in result.facts if one.name == name)


def test_the_least_epsilon_for_five_in_a_group_of_200_is_found():
    found = ask(query="count", size="200", by="within", within="5", confidence="0.95")
    assert "ε = 0.5382" in found.headline and "200" in found.headline
    assert fact(found, "Cost").value.startswith("ε = 0.538174003452,")
    assert "195 to 205" in fact(found, "In this group").value
    assert "1.713 to 1" in fact(found, "Risk").remark


@pytest.mark.parametrize("relation", ["add-remove", "exchange"])
@pytest.mark.parametrize("query", QUESTIONS)
def test_every_question_is_answered_in_words_numbers_and_pictures(query, relation):
    found = ask(query=query, relation=relation, by="epsilon", epsilon="1/2")
    assert "0.5" in found.headline
    assert {one.name for one in found.facts} >= {"Mechanism", "Cost", "Error expected", "In this group", "Risk"}
    planned = _plan(query, epsilon="1/2", relation=relation)
    assert fact(found, "Cost").value == planned.describe_cost()
    assert fact(found, "Error expected").value.lower() == planned.describe_error()[0].lower()
    scope = fact(found, "Mechanism").remark
    assert "o optimality is claimed" in scope or "o private mechanism" in scope, "says among what, or claims nothing"
    assert planned.charges_two_groups is (query == "histogram" and relation == "exchange")
    assert ("o optimality is claimed at this charge" in scope) is planned.charges_two_groups
    for picture in found.pictures:
        assert picture.description and picture.rows and len(picture.columns) == len(picture.rows[0])


def _plan(query, **options):
    import pyarrow

    table = pyarrow.table(
        {"value": pyarrow.array([], pyarrow.int64()), "category": pyarrow.array([], pyarrow.string())}
    )
    words = {"at-least": ("190",), "majority": ("value = 1",), "count": ()}.get(query, ("value",))
    more = {"median": {"bins": "1,2,3"}, "sum": {"lower": 0, "upper": 100}, "mean": {"lower": 0, "upper": 100}}
    if query in ("histogram", "plurality"):
        words, more[query] = ("category",), {"categories": "c1,c2,c3,c4"}
    return irisdp.plan(table, query, *words, **more.get(query, {}), **options)


@pytest.mark.parametrize("values", [
    {},
    {"query": "histogram", "categories": "3", "relation": "exchange"},
    {"query": "at-least", "by": "epsilon", "epsilon": "1/3"},
    {"query": "plurality", "within": "4"},
    {"query": "sum", "lower": "-5", "upper": "40", "within": "60"},
    {"query": "sum", "lower": "0", "upper": "99.95", "step": "0.05", "within": "12.5"},
    {"query": "median", "epsilon": "2"},
], ids=str)  # fmt: skip
def test_the_command_line_and_the_python_make_the_same(values, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = ask(**values)
    first, shown, saved = found.command.splitlines()
    assert first == f"echo {TABLE.content.decode().strip()} > {TABLE.name}"
    (tmp_path / TABLE.name).write_bytes(TABLE.content)
    command, _, target = saved.partition(" > ")
    assert target == "plan.json"
    assert run(shlex.split(command)[1:]) == 0
    files = {file.name: file.read() for file in found.files}
    printed = json.loads(capsys.readouterr().out)
    assert printed.pop("command")["status"] == 0
    assert printed == json.loads(files[target])
    assert files[TABLE.name] == TABLE.content
    assert run(shlex.split(shown)[1:]) == 0
    by_command = capsys.readouterr().out
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(found.python, "exported", "exec"), {})
    for line in said.getvalue().splitlines():
        assert line in by_command.replace("\n", " ") or line in by_command
        assert any(line.lower() == one.value.lower() for one in found.facts)


def test_marks_of_pictures_are_probabilities_of_the_mechanism():
    bars, curve = ask(by="epsilon", epsilon="1").pictures
    chances = dict(bars.rows)
    assert chances[200] == pytest.approx(0.46211715726)
    assert chances[201] == pytest.approx(chances[199]) == pytest.approx(chances[200] / 2.718281828459045)
    assert dict(curve.rows)[1.0] == pytest.approx(0.8509181282)
    assert bars.draw().rows == bars.rows
    assert bars.to_svg() == bars.to_svg()
    line = ask(query="at-least", by="epsilon", epsilon="1").pictures[0]
    assert dict(line.rows)[0] == pytest.approx(0.7310585786)


def test_a_small_group_gets_counts_below_nobody_where_publish_gives_them():
    bars = ask(size="2", within="5").pictures[0]
    assert min(answer for answer, _ in bars.rows) < 0
    assert sum(chance for _, chance in bars.rows) > 0.95
    bars = ask(size="2", within="5", relation="exchange").pictures[0]
    assert min(answer for answer, _ in bars.rows) == 0
    assert sum(chance for _, chance in bars.rows) > 0.95


def test_the_mechanism_named_is_the_one_planned():
    assert "middle" in fact(ask(query="mean", relation="exchange"), "Mechanism").value
    assert "both bounds" in fact(ask(query="mean"), "Mechanism").value
    assert fact(ask(query="median", categories="6", epsilon="0.5"), "Mechanism").value == "Weights by score"
    assert "pull" in fact(ask(query="median", categories="2", epsilon="2"), "Mechanism").value


def test_certainty_is_never_said_of_what_is_not_certain():
    for query in ("at-least", "majority", "plurality", "median"):
        found = ask(query=query, by="epsilon", epsilon="1", size="100000", lead="1000", threshold="5")
        assert "probability 1 " not in found.headline and "probability 1 " not in fact(found, "In this group").value


@pytest.mark.parametrize(("values", "field"), [
    ({"query": "evil"}, "query"),
    ({"size": "0"}, "size"),
    ({"size": "2.5"}, "size"),
    ({"within": "1e999"}, "within"),
    ({"within": "nan"}, "within"),
    ({"within": "200000"}, "within"),
    ({"confidence": "1"}, "confidence"),
    ({"by": "epsilon", "epsilon": "0"}, "epsilon"),
    ({"by": "epsilon", "epsilon": "1e-9"}, "epsilon"),
    ({"by": "epsilon", "epsilon": "1" * 40}, "epsilon"),
    ({"by": "nothing"}, "by"),
    ({"relation": "both"}, "relation"),
    ({"query": "plurality", "categories": "1000"}, "categories"),
    ({"query": "sum", "upper": "1e30"}, "upper"),
    ({"query": "sum", "lower": "5", "upper": "1"}, "lower"),
], ids=str)  # fmt: skip
def test_what_makes_no_sense_or_takes_long_is_refused_at_its_field(values, field):
    with pytest.raises(BadInput) as refused:
        ask(**values)
    assert refused.value.field in (field, "upper")


def said_by(found):
    """Return all words of an answer."""
    facts = [part for one in found.facts for part in (one.value, one.remark)]
    return [found.headline, *facts, *found.notes, *(one.description for one in found.pictures)]


@pytest.mark.parametrize("query", ["count", "histogram", "at-least", "majority", "plurality", "sum"])
def test_what_is_not_certain_is_never_said_to_be_always_so(query):
    found = ask(query=query, within="2", confidence=".999999999999")
    assert "in 99.9999999999 % of cases" in found.headline
    for words in said_by(found):
        assert not re.search(r"\b(probability|in) 100 %|it is 1(?![\d.])|have 1(?![\d.])", words), words


@pytest.mark.parametrize("query", QUESTIONS)
def test_one_is_one_record(query):
    one = {"size": "1", "lead": "1", "threshold": "2", "within": "1"}
    for by in ("within", "epsilon"):
        for words in said_by(ask(query=query, by=by, **one)):
            assert not re.search(r"(?<![\d,.])1 (records|values|inputs|categories|answers)\b", words), words


def test_odds_and_beliefs_are_rounded_to_the_side_that_is_so():
    found = ask(query="at-least", within="1", confidence="0.999999999999")
    assert "at most 1,000,000 to 1" in fact(found, "Risk").remark
    rows = {row[0]: row[1:] for row in ask(by="epsilon", epsilon="1").tables[0].rows}
    assert rows["50 %"] == ("26.89 %", "73.11 %")


@pytest.mark.parametrize(("query", "epsilon", "told"), [("sum", "0.3", "1,000"), ("count", "50", "1e-80")])
def test_errors_beside_a_picture_are_written_as_short_as_can_be(query, epsilon, told):
    drawn = re.findall("<text[^>]*>([^<]*)(?=<)", ask(query=query, by="epsilon", epsilon=epsilon).pictures[-1].to_svg())
    assert told in drawn and max(map(len, drawn)) < 45
    assert not any(re.search(r"e[+]|\.0{5}", words) for words in drawn)


def test_an_epsilon_is_called_the_least_only_where_none_less_will_do():
    assert ", the least with which a count of 200 is" in ask().headline
    assert ", the least found with which the answer is" in ask(query="plurality").headline
    assert ", the least found with which the sum is" in ask(query="sum", within="100").headline


def test_sums_count_cents():
    found = ask(query="sum", lower="0", upper="19.99", step="0.01", by="epsilon", epsilon="1")
    assert fact(found, "Mechanism").remark.startswith("Values count to the nearest multiple of 0.01.")
    assert "--step=0.01" in found.command and "step='0.01'" in found.python
    assert "--step=1 " in ask(query="sum").command
    with pytest.raises(BadInput) as refused:
        ask(query="sum", upper="19.99", step="1")
    assert refused.value.field == "upper"


def test_the_least_epsilon_that_is_looked_at_is_looked_at():
    """As a float it was a hair more than what people type."""
    assert "ε = 0.001 " in ask(by="epsilon", epsilon="0.001").headline
    with pytest.raises(BadInput, match=r"must be from 0\.001 to 50 here"):
        ask(by="epsilon", epsilon="0.0009")


def test_nothing_of_a_table_is_read_or_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask()
    assert list(tmp_path.iterdir()) == []


def test_a_hard_question_is_given_up_in_time_with_what_answers_it(monkeypatch):
    """Twelve categories, and ε near 0, took many seconds of the one thread that answered everybody."""
    lanes = WorkDispatcher(at_once=0.001)
    monkeypatch.setattr(ask_room, "at_once", lanes.at_once)
    try:
        found = ASK.answer(read_values(FIELDS, {"query": "plurality", "categories": "12", "within": "50"}))
    finally:
        lanes.close()
    assert found.headline.startswith("This takes longer than 0.001 seconds")
    assert "irisdp publish question.csv plurality category" in found.command and "plan(" in found.python
    assert not found.facts and not found.pictures


def test_the_room_answers_in_another_process_as_its_work_does():
    values = read_values(FIELDS, {"query": "at-least", "by": "epsilon", "epsilon": "1"})
    found, here = ASK.answer(values), work(values, lambda words: None)
    assert (found.headline, found.facts, found.command) == (here.headline, here.facts, here.command)
    assert found.pictures[0].to_svg() == here.pictures[0].to_svg()
    assert found.files[0].read() == here.files[0].read()
