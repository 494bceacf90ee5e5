"""Every query for several audiences: what is charged, what is free, what each audience's files and pages say."""

import json
import re
from fractions import Fraction
from random import Random

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, Ledger
from irisdp._release import dry_run_question
from support.commands import irisdp as command

TABLE = pa.table(
    {
        "town": [("Ely", "York", "Bath")[number % 3] for number in range(60)],
        "pay": [number % 7 for number in range(60)],
        "who": [number // 2 for number in range(60)],
    }
)
CHOICES = {
    "plurality": {"categories": "Ely,York,Bath"},
    "sum": {"lower": 0, "upper": 6},
    "mean": {"lower": 0, "upper": 6},
}
WORDS = {
    "majority": ("majority", "pay > 2"),
    "plurality": ("plurality", "town"),
    "count": ("count",),
    "sum": ("sum", "pay"),
    "mean": ("mean", "pay"),
}
DRAWN = {"majority", "plurality"}
KEPT = {}
"""Where the secret is kept: a server has no folder for it."""


@pytest.fixture(autouse=True)
def _secret(tmp_path, monkeypatch):
    monkeypatch.setitem(KEPT, "secret", tmp_path / "key")


def publish(name, book, **more):
    return irisdp.publish(TABLE, *WORDS[name], **CHOICES.get(name, {}), ledger=book, **KEPT, **more)


def epsilon(publication):
    return publication.cost.epsilon


@pytest.mark.parametrize("name", WORDS)
def test_the_same_answer_is_free_the_second_time_for_each_audience(name, ledger):
    levels = {"board": 2, "press": "1/2", "radio": "1/2"}
    first = publish(name, ledger, audience=levels)
    assert epsilon(first) == (Fraction(5, 2) if name in DRAWN else 2)
    assert first.answers_of["press"].values == first.answers_of["radio"].values
    for asked in ({"audience": levels}, *({"audience": {one: level}} for one, level in levels.items())):
        again = publish(name, ledger, **asked, max_charge=0)
        assert epsilon(again) == 0
        assert all(again.answers_of[one].values == first.answers_of[one].values for one in again.answers_of)
    other = publish(name, ledger, audience={"staff": 2, "board": 2}, max_charge=0)
    assert {tuple(one.values) for one in other.answers_of.values()} == {tuple(first.answers_of["board"].values)}
    assert ledger.spent.epsilon == epsilon(first)


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_an_answer_for_everybody_is_given_to_an_audience_at_its_accuracy(name, ledger):
    everybody = publish(name, ledger, epsilon=1)
    board = publish(name, ledger, audience="board", epsilon=1)
    assert (epsilon(board), board.answers.values) == (0, everybody.answers.values)
    assert epsilon(publish(name, ledger, audience={"board": 1, "press": 2})) == 2


@pytest.mark.parametrize("case", range(12))
def test_charges_equal_a_ledger_written_by_hand(case, tmp_path):
    """Random questions to random audiences: the sum over draws, and of each chain its most accurate link."""
    lot, book = Random(f"charges {case}"), Ledger(tmp_path / "own.ledger")
    drawn, finest, answers = set(), {}, {}
    for _ in range(12):
        name = lot.choice(sorted(WORDS))
        levels = {
            one: Fraction(lot.choice([1, 2, 4]), 4)
            for one in lot.sample(["board", "press", "radio"], lot.randint(1, 3))
        }
        if name in DRAWN:
            new = {(name, level) for level in levels.values()} - drawn
            expected = sum(level for _, level in new)
            drawn |= new
        else:
            most = max(levels.values())
            expected = max(most - finest.get(name, 0), 0)
            finest[name] = max(most, finest.get(name, 0))
        asked = {**CHOICES.get(name, {}), "audience": levels, "ledger": book, **KEPT}
        outlook = dry_run_question(TABLE, *WORDS[name], **asked).outlook
        if outlook is not None:
            assert outlook.unchanged.cost.epsilon == expected
        found = irisdp.publish(TABLE, *WORDS[name], **asked)
        assert epsilon(found) == expected
        for audience, level in levels.items():
            values = found.answers_of[audience].values
            assert answers.setdefault((name, level), values) == values  # one accuracy, one answer
    assert book.spent.epsilon == sum(level for _, level in drawn) + sum(finest.values())
    assert book.verify().problems == ()


@pytest.mark.parametrize("name", WORDS)
def test_a_question_for_the_board_alone_counts_for_the_board_alone(name, ledger):
    ledger.set_limit(10)
    ledger.set_limit(3, audience="board")
    ledger.set_limit("1/2", audience="press")
    publish(name, ledger, audience="board", epsilon=1)
    publish(name, ledger, audience={"board": 1, "press": "1/2"})
    told = {one: Fraction(each["told"]["epsilon"]) for one, each in ledger.to_document()["audiences"].items()}
    assert told == {"board": 1, "press": Fraction(1, 2)}  # the draw that came back counts once
    with pytest.raises(irisdp.BudgetRefused, match="for the audience press"):
        publish(name, ledger, audience={"press": 1})
    assert epsilon(publish(name, ledger, audience={"board": 2})) == (2 if name in DRAWN else 1)


def test_a_draw_that_comes_back_counts_once_in_a_ledger_in_rho(ledger):
    ledger.set_limit(rho=9)
    ledger.set_limit(rho=8, audience="board")
    first = publish("majority", ledger, audience={"board": 1})
    again = publish("majority", ledger, audience={"board": 1, "press": "1/2"})
    told = Fraction(ledger.to_document()["audiences"]["board"]["told"]["rho"])
    assert again.answers_of["board"].values == first.answers.values
    assert told == first.cost.rho


def test_groups_that_were_selected_for_all_are_given_again_for_all(ledger):
    asked = {"by": "town", "select_groups": True, "delta": "1/10", "ledger": ledger, **KEPT}
    first = irisdp.publish(TABLE, "majority", "pay > 2", audience={"board": 4, "press": 2}, **asked)
    assert (first.cost.epsilon, first.cost.delta) == (10, Fraction(1, 10))  # one selection at ε = 4 for both
    assert first.answers_of["board"].keys == first.answers_of["press"].keys
    again = irisdp.publish(TABLE, "majority", "pay > 2", audience={"board": 4}, **asked)
    assert again.cost.epsilon == 0
    assert again.answers.values == first.answers_of["board"].values


@pytest.mark.parametrize(
    "option", [{"mu": 1, "delta": "1e-6"}, {"within": 5}, {"ratio": 3}, {"epsilon": 1, "delta": "1e-6"}]
)
def test_names_alone_share_one_accuracy_of_any_kind(option, ledger):
    """The charge is that of the same question for everybody; a count for audiences leaves a δ unspent."""
    both = irisdp.plan(TABLE, "count", audience=["board", "press"], **option)
    everybody = irisdp.plan(TABLE, "count", **option)
    assert both.cost == (irisdp.plan(TABLE, "count", epsilon=1).cost if "epsilon" in option else everybody.cost)
    found = irisdp.publish(TABLE, "count", audience="board, press", ledger=ledger, **KEPT, **option)
    assert found.answers_of["board"].values == found.answers_of["press"].values


def test_a_mechanism_file_answers_audiences_by_name(tmp_path, ledger):
    path = tmp_path / "made.json"
    irisdp.design.geometric(3, irisdp.Privacy(ratio=2)).save(path)
    found = irisdp.publish(TABLE, "apply", str(path), "pay > 5", audience=["board", "press"], ledger=ledger, **KEPT)
    assert found.answers_of.keys() == {"board", "press"}
    with pytest.raises(BadInput, match="audience: is said by the mechanism file already"):
        irisdp.plan(TABLE, "apply", str(path), "pay > 5", audience={"board": 1})


@pytest.mark.parametrize(("asked", "said"), [
    ({"audience": ["board"]}, "audience: must be NAME=E, each name once; write for example audience=['press=0.5'], or"),
    ({"audience": ["board", "press=1"], "epsilon": 1}, "audience: must be NAME=E, each name once"),
    ({"audience": {"board": 1}, "epsilon": 1}, "audience: states epsilon already; leave out epsilon="),
    ({"audience": {"board": 1}, "within": 3}, "within: cannot be given with audience=, which says how accurate"),
    ({"audience": "board,Board", "epsilon": 1}, "audience: names Board twice"),
])  # fmt: skip
def test_what_makes_no_sense_is_refused(asked, said):
    with pytest.raises(BadInput) as refusal:
        irisdp.plan(TABLE, "majority", "pay > 2", **asked)
    assert str(refusal.value).startswith(said)


def test_counts_of_several_records_and_sums_of_persons_form_chains(ledger):
    for words, more in ((("count",), {"at_most": 2}), (("sum", "pay"), {"at_most": 2, "lower": 0, "upper": 6})):
        asked = {**more, "unit": "who", "ledger": ledger, **KEPT}
        first = irisdp.publish(TABLE, *words, audience={"board": 1, "press": "1/2"}, **asked)
        second = irisdp.publish(TABLE, *words, audience={"board": 2}, **asked)
        assert (first.cost.epsilon, second.cost.epsilon) == (1, 1)


def test_the_charge_is_said_before_it_is_made(tmp_path):
    (tmp_path / "t.csv").write_text("v\n" + "1\n0\n" * 20)
    asked = f"publish {tmp_path}/t.csv majority v=1 --audience board=2 --audience press=0.5"
    said = " ".join(command(f"{asked} --dry-run").out.split())
    charge = (
        "charge the sum of 2 independent draws, one for each accuracy: ε = 2, δ = 0 for board; ε = 0.5, δ = 0 for press"
    )
    assert "cost ε = 2.5, δ = 0" in said
    assert charge in said
    document = json.loads(command(f"{asked} --dry-run --json").out)
    assert document["audience_costs"] == {
        "rule": "sum of draws",
        "draws": 2,
        "alone": {"board": {"epsilon": "2", "delta": "0"}, "press": {"epsilon": "0.5", "delta": "0"}},
    }
    assert not (tmp_path / "t.ledger").exists()
    assert charge in " ".join(command(asked).out.split())


def test_a_release_file_says_nothing_of_other_audiences(tmp_path, ledger):
    for name in sorted(WORDS):
        asked = {
            "audience": {"board": 3, "press": "1/2"},
            "out": tmp_path / f"{name}.csv",
            "report": tmp_path / f"{name}.html",
        }
        publish(name, ledger, **asked)
        written = json.loads((tmp_path / f"{name}.press.csv.release.json").read_text())
        page = (tmp_path / f"{name}.press.html").read_text()
        assert "board" not in json.dumps(written) + page
        if name != "count":  # whose release file states the cost of its chain
            assert (written["cost"]["epsilon"], written["cost_of"]) == ("0.5", "audience")
            assert "several audiences" not in page
        alone = publish(name, ledger, audience={"press": "1/4"})
        assert alone.sidecars["press"]["cost_of"] == "audience"


PLAN = """
report = "all.html"
[datasets.people]
data = "people.csv"
[[questions]]
query = "count"
epsilon = 1
out = "everybody.csv"
[[questions]]
name = "a secret of some"
query = "plurality town"
categories = "Ely,York"
audience = "board"
epsilon = 2
out = "own.csv"
[[questions]]
query = "majority"
expression = "pay > 1"
audiences = {board = 1.875, press = 0.5}
[[questions]]
query = "mean pay"
lower = 0
upper = 6
step = 1
audience = ["board=1.125", "press=0.25"]
out = "pay.csv"
"""


def test_a_plan_has_a_page_for_each_audience(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("town,pay\n" + "Ely,1\nYork,4\n" * 30)
    (tmp_path / "plan.toml").write_text(PLAN)
    found = irisdp.run("plan.toml")
    names = ("all.html", "all.board.html", "all.press.html")
    assert [path.name for path in found.pages] == list(names)
    everybody, board, press = ((tmp_path / name).read_text() for name in names)
    for page in (everybody, press):
        said = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", page, flags=re.DOTALL)
        assert not any(word in said for word in ("board", "secret", "plurality", "1.875", "1.125", "own.csv"))
    assert "press" not in everybody + board
    assert "majority" not in everybody
    assert "The plan “plan”: 1 question," in everybody
    assert "3 questions, each answered and charged by itself. This page is for press." in press
    assert "4 questions" in board
    assert "a secret of some" in board
    for page, answers in ((press, "pay.press.csv"), (board, "pay.board.csv")):
        assert (tmp_path / answers).read_text().splitlines()[1].split(",")[0] in page
    assert irisdp.run("plan.toml").repeated
    assert [(tmp_path / name).read_text() for name in names] == [everybody, board, press]


def test_a_plan_for_audiences_alone_has_no_page_for_everybody(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("town,pay\nEly,1\n")
    (tmp_path / "plan.toml").write_text(
        'report = "all.html"\n[datasets.people]\ndata = "people.csv"\n'
        '[[questions]]\nquery = "count"\naudience = { Board = 1 }\n'
        '[[questions]]\nquery = "sum pay"\nlower = 0\nupper = 6\n'
        "step = 1\naudience = { board = 2 }\n"
    )
    assert [path.name for path in irisdp.run("plan.toml").pages] == ["all.Board.html"]
    assert "2 questions" in (tmp_path / "all.Board.html").read_text()
    (tmp_path / "all.Board.html").write_text("somebody else's")
    assert [command(f"run plan.toml --dry-run{force}").status for force in (" --force", "")] == [0, 2]


def test_limits_of_audiences_refuse_a_plan_before_anything_is_charged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("town,pay\nEly,1\n")
    (tmp_path / "plan.toml").write_text(PLAN)
    book = Ledger(tmp_path / "people.ledger")
    book.set_limit(20)
    book.set_limit(5, audience="board")  # it would be told 1 + 2 + 1.875 + 1.125
    with pytest.raises(irisdp.BudgetRefused, match="question 4: not enough budget for the audience board"):
        irisdp.run("plan.toml")
    assert book.spent.epsilon == 0
    book.set_limit(6, audience="board")
    book.set_limit("1.75", audience="press")  # everybody's 1, and 0.5, and 0.25
    irisdp.run("plan.toml")
    told = {one: each["told"]["epsilon"] for one, each in book.to_document()["audiences"].items()}
    assert told == {"board": "6", "press": "1.75"}
    assert book.spent.epsilon == Fraction(1) + 2 + Fraction(19, 8) + Fraction(9, 8)
