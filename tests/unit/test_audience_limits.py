"""Limits of audiences: what each alone was told is worked out anew here, and none is told more than it may be."""

import json
from fractions import Fraction

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
from irisdp._ledger.audience_limits import AudienceCost
from irisdp._ledger.history import record
from support.seeds import fresh_random
from support.sweeps import tried

PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
PEOPLE = pa.table({"age": [30, 70, 71, 20], "town": ["Ely", "Ely", "York", "York"]})
MORE_PEOPLE = pa.table({"age": [30, 70, 71, 20, 5], "town": ["Ely", "Ely", "York", "York", "York"]})


def ask(book, question, cost, alone=None, chain=None):
    """Settle a question that costs so much, and tells audiences so much by itself."""
    told = None if alone is None else {name: Cost(level) for name, level in alone.items()}
    names = [None] if alone is None else list(alone)
    return book.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE,
        cost=Cost(cost),
        draw=lambda earlier, price: [
            LedgerEntry(audience=name, cost=price if place == 0 else price * 0, answers=b"x", details=_kept(chain))
            for place, name in enumerate(names)
        ],
        tells=None if told is None else lambda currency: AudienceCost(alone=told, chain=chain),
    )


def _kept(chain):
    return json.dumps({} if chain is None else {"chain": chain})


def told(book, audience="press"):
    return Fraction(book.to_document()["audiences"][audience]["told"]["epsilon"])


def test_an_audience_is_told_no_more_than_its_limit(ledger):
    ledger.set_limit(9)
    assert ledger.set_limit(1, audience="press") == Cost(0)
    ask(ledger, 1, 2, {"board": 2, "press": "3/4"})
    assert (told(ledger), ledger.spent) == (Fraction(3, 4), Cost(2))
    with pytest.raises(BudgetRefused, match=r"audience press: .*; epsilon 0\.25, delta 0 is left") as refusal:
        ask(ledger, 2, 1, {"press": "3/10"})
    assert refusal.value.document["audience"] == "press"
    assert refusal.value.document["cost"] == {"epsilon": "0.3", "delta": "0"}
    ask(ledger, 3, 1, {"board": 1})
    ask(ledger, 4, "1/4", {"press": "1/4"})
    with pytest.raises(BudgetRefused, match="count for every audience"):
        ask(ledger, 5, "1/1000")  # names no audience, so that the press hears it, too
    assert ask(ledger, 4, "1/4", {"press": "1/4"}).repeated
    assert (told(ledger), ledger.spent) == (1, Cost("13/4"))
    assert ledger.verify().problems == ()


def test_links_of_a_chain_tell_an_audience_what_the_most_accurate_tells(ledger):
    ledger.set_limit(9)
    ledger.set_limit(1, audience="press")
    ask(ledger, 1, "1/2", {"press": "1/2"}, chain="c")
    ask(ledger, 2, "1/2", {None: 1}, chain="c")
    assert told(ledger) == 1
    ask(ledger, 3, 0, {"press": "3/4"}, chain="c")
    with pytest.raises(BudgetRefused):
        ask(ledger, 4, "1/2", {"press": "1/2"}, chain="another")


def test_of_lines_that_do_not_say_it_all_that_was_charged_counts(ledger):
    ledger.set_limit(9)
    ask(ledger, 1, 2)
    ledger.set_limit(3, audience="press")
    assert told(ledger) == 2


def test_a_limit_that_is_lowered_below_what_was_told_lets_nothing_more_through(ledger):
    ledger.set_limit(9)
    ledger.set_limit(2, audience="press")
    ask(ledger, 1, 1, {"press": 1})
    assert ledger.set_limit("1/2", audience="press") == Cost(1)
    for nothing_new in ({"board": 1}, {"board": 2}):
        ask(ledger, nothing_new, 1, nothing_new)
    with pytest.raises(BudgetRefused, match="epsilon 0, delta 0 is left"):
        ask(ledger, 2, "1/100", {"press": "1/100"})
    assert ledger.to_document()["audiences"]["press"]["left"] == {"epsilon": "0", "delta": "0"}


def test_an_audiences_limit_lies_within_the_ledgers_and_counts_in_the_same(ledger):
    with pytest.raises(BadInput, match="has a limit within the ledger's, which has none; set the ledger's limit first"):
        ledger.set_limit(1, audience="press")
    assert not ledger.store.exists()
    ledger.set_limit(mu=2)
    with pytest.raises(BadInput, match="which is mu"):
        ledger.set_limit(1, audience="press")
    with pytest.raises(BadInput, match="up to 64 letters"):
        ledger.set_limit(mu=1, audience="the press")
    ledger.set_limit(mu=1, audience="press")
    assert ledger.to_document()["audiences"]["press"]["limit"] == {"mu_squared": "1"}


def test_limits_of_audiences_move_with_a_ledger(ledger, tmp_path):
    ledger.set_limit(9)
    ledger.set_limit(1, audience="press")
    ask(ledger, 1, 2, {"board": 2, "press": "3/4"})
    there = ledger.copy_to(tmp_path / "moved.ledger")
    assert told(there) == Fraction(3, 4)
    assert ledger.to_document()["audiences"]["press"]["left"] == {"epsilon": "0", "delta": "0"}
    with pytest.raises(BudgetRefused):
        ask(there, 2, 1, {"press": 1})
    assert there.verify().problems == ()


def test_the_history_shows_limits_of_audiences_that_were_changed_behind_its_back(ledger):
    ledger.set_limit(9)
    ledger.set_limit(1, audience="press")
    ask(ledger, 1, 2, {"board": 2, "press": "3/4"})
    ledger.set_limit(2, audience="press")
    ledger.set_limit(1, audience="radio")
    assert ledger.verify().problems == ()
    ledger.store.write(
        lambda rows: rows.change('UPDATE promise SET facts = replace(facts, \'"epsilon": "2"\', \'"epsilon": "8"\')')
    )
    assert "what is pinned is not what the history says" in ledger.verify().problems


def test_a_line_that_pins_other_facts_sets_no_limit_of_an_audience(ledger):
    ledger.set_limit(9)
    ask(ledger, 1, 1)
    facts = {**PROMISE.facts(), "audiences": {"press": {"epsilon": "8", "delta": "0"}}}

    def forge(rows):
        rows.change("UPDATE promise SET facts = ?", (json.dumps(facts, sort_keys=True),))
        record(rows, "promise", {"facts": facts})

    ledger.store.write(forge)
    assert any("pins limits of audiences" in problem for problem in ledger.verify().problems)


def test_who_publishes_on_a_server_cannot_raise_an_audiences_limit(server):
    own = Ledger(server.address())
    own.set_limit(9)
    own.set_limit(1, audience="press")
    server.execute("CREATE ROLE clerk LOGIN")
    try:
        assert run(["ledger", own.place, "--grant", "publish=clerk"]) == 0
        clerk = Ledger(own.place.replace("iris@", "clerk@"))
        ask(clerk, 1, "3/4", {"press": "3/4"})
        with pytest.raises(BadInput, match="does not allow this role"):
            clerk.set_limit(5, audience="press")
        with pytest.raises(BudgetRefused):
            ask(clerk, 2, 1, {"press": 1})
        facts = {**PROMISE.facts(), "audiences": {"press": {"epsilon": "8", "delta": "0"}}}
        with pytest.raises(BadInput, match="does not allow this role"):
            clerk.store.write(lambda rows: rows.change("UPDATE promise SET facts = ?", (json.dumps(facts),)))
        with pytest.raises(BadInput, match="does not allow this role"):
            clerk.store.write(lambda rows: record(rows, "audiences", {"audiences": {}}))
        own.set_limit(2, audience="press")
        ask(clerk, 2, 1, {"press": 1})
        assert own.verify().problems == ()
    finally:
        server.execute(f'DROP SCHEMA "{own.store.address.schema}" CASCADE; DROP ROLE clerk')


ASKED = [("count", None), ("count", "age > 64"), ("majority", "age > 64"), ("at-least", "age > 20")]
NAMES = ["press", "radio", "board"]


@pytest.mark.parametrize("case", range(tried(2, 6)))
def test_what_audiences_were_told_is_what_their_answers_say(tmp_path, case):
    """Random questions to random audiences about two versions of a table; sums are made anew from what was asked."""
    lot = fresh_random(f"audiences {case}")
    book = Ledger(tmp_path / "some.ledger")
    book.set_limit(1000)
    limits = {"press": Fraction(lot.randint(1, 40), 10), "radio": Fraction(lot.randint(1, 40), 10)}
    for name, limit in limits.items():
        book.set_limit(limit, audience=name)
    linked, summed, asked = {}, dict.fromkeys(limits, Fraction(0)), set()
    refused = 0
    for _ in range(40):
        data, place = lot.choice([(PEOPLE, 0), (MORE_PEOPLE, 1)])
        query, condition = lot.choice(ASKED)
        words = [*((2,) if query == "at-least" else ()), *(() if condition is None else (condition,))]
        epsilons = {name: Fraction(lot.randint(1, 12), 10) for name in lot.sample(NAMES, lot.randint(1, 3))}
        by = lot.choice([{}, {"by": "town", "groups": ["Ely", "York"]}])
        named = query == "count" and lot.random() < 0.7
        levels = epsilons if named else {None: next(iter(epsilons.values()))}
        said = {"audience": levels} if named else {"epsilon": levels[None]}
        question = (place, query, condition, bool(by), tuple(sorted(levels.items(), key=str)))
        chain = (place, condition, bool(by)) if query == "count" else None
        linked_then, summed_then = {key: dict(of) for key, of in linked.items()}, dict(summed)
        if question not in asked:
            for audience in limits:
                for level in (levels[one] for one in (audience, None) if one in levels):
                    if chain is None:
                        summed_then[audience] += level
                    else:
                        of = linked_then.setdefault(audience, {})
                        of[chain] = max(of.get(chain, Fraction(0)), level)
        totals = {one: summed_then[one] + sum(linked_then.get(one, {}).values()) for one in limits}
        now = {one: summed[one] + sum(linked.get(one, {}).values()) for one in limits}
        fits = all(totals[one] in (now[one],) or totals[one] <= limits[one] for one in limits)
        call = {**said, **by, "ledger": book, "table": "people", "secret": tmp_path / "secret"}
        try:
            irisdp.publish(data, query, *words, **call)
        except BudgetRefused:
            assert not fits, question
            refused += 1
            continue
        assert fits, question
        linked, summed = linked_then, summed_then
        asked.add(question)
        found = {one: told(book, one) for one in limits}
        assert found == totals
    assert refused, "no limit was met: the test sees nothing"


def test_a_dry_run_and_a_plan_say_what_an_audience_may_still_be_told(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("age\n30\n70\n71\n")
    data, book = str(tmp_path / "people.csv"), Ledger(tmp_path / "people.ledger")
    book.set_limit(9)
    assert run(["ledger", str(book.place), "--limit", "1", "--audience", "press"]) == 0
    assert (
        "audience press was told ε = 0, δ = 0; its limit is ε = 1, δ = 0; left ε = 1, δ = 0" in capsys.readouterr().out
    )
    assert run(["publish", data, "count", "--audience", "board=2", "--audience", "press=0.8"]) == 0
    capsys.readouterr()
    asked = ["publish", data, "count", "age > 64", "--audience", "press=0.3", "--dry-run"]
    assert run(asked) == 1
    said = capsys.readouterr().out
    assert "audience  press may be told ε = 0.2, δ = 0 more" in said
    assert "irisdp ledger FILE --limit E,D --audience NAME" in said
    assert run([*asked, "--json"]) == 1
    foreseen = json.loads(capsys.readouterr().out)["ledger"]
    assert foreseen["audiences"] == {"press": {"epsilon": "0.2", "delta": "0"}}
    assert foreseen["if_changed"]["refused"]["audience"] == "press"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        '[datasets.people]\ndata = "people.csv"\n'
        '[[questions]]\nquery = "count"\nexpression = "age > 64"\naudience = { press = 0.1 }\n'
        '[[questions]]\nquery = "count"\nexpression = "age > 70"\naudience = { press = 0.15, board = 1 }\n'
    )
    for more in ([], ["--dry-run"]):
        assert run(["run", str(plan), *more]) == 1
        said = capsys.readouterr()
        assert "question 2" in said.out + said.err and "audience press" in said.out + said.err
    assert book.spent == Cost(2)
    assert run(["ledger", str(book.place), "--audience", "press"]) == 2
    assert "--audience: has no limit without one" in capsys.readouterr().err


@pytest.mark.parametrize(("first", "then"), [("press", "Press"), ("Press", "press"), ("PRESS", "pReSs")])
def test_spellings_that_differ_in_capitals_are_one_audience(ledger, first, then):
    ledger.set_limit(9)
    ledger.set_limit(1, audience=first)
    ask(ledger, 1, 1, {then: "1/2"}, chain="c")
    ask(ledger, 2, 1, {first: "1/4", "board": 1}, chain="d")
    assert (told(ledger, first), ledger.to_document()["audiences"].keys()) == (Fraction(3, 4), {first})
    with pytest.raises(BudgetRefused, match="for the audience"):
        ask(ledger, 3, 1, {then: "1/2"})
    assert ledger.set_limit("7/8", audience=then) == Cost(Fraction(3, 4))
    assert ledger.to_document()["audiences"][first]["left"]["epsilon"] == "0.125"
    with pytest.raises(BudgetRefused, match="for the audience"):
        ask(ledger, 3, 1, {then: "1/4"})
    assert ledger.verify().problems == ()


def test_a_ledger_with_limits_of_several_spellings_is_read_as_one_and_its_chain_holds(ledger):
    """As earlier versions wrote them: the lesser limit holds, and all lines count."""
    ledger.set_limit(9)
    ask(ledger, 1, 1, {"Press": "1/2"})
    limits = {"Press": {"epsilon": "2", "delta": "0"}, "press": {"epsilon": "1", "delta": "0"}}

    def earlier(rows):
        rows.change("UPDATE promise SET facts = ?", (json.dumps({**PROMISE.facts(), "audiences": limits}),))
        record(rows, "audiences", {"audiences": limits})

    ledger.store.write(earlier)
    assert ledger.verify().problems == ()
    assert ledger.to_document()["audiences"]["Press"]["left"]["epsilon"] == "0.5"
    with pytest.raises(BudgetRefused):
        ask(ledger, 2, 1, {"press": "3/4"})
    ledger.set_limit(3, audience="press")
    ask(ledger, 2, 1, {"press": "3/4"})
    assert (told(ledger, "Press"), ledger.verify().problems) == (Fraction(5, 4), ())


@pytest.mark.parametrize(
    "audience",
    [["press=1", "Press=0.5"], {"Press": 1, "press": 1}, ["a=1", "b=1", "A=2"], ["press=1", "press=1"]],
    ids=str,
)
def test_one_audience_is_named_once_in_a_call(audience):
    with pytest.raises(BadInput, match=r"names \w+ twice.*; must be NAME=E, each name once; leave one of the two out"):
        irisdp.plan(PEOPLE, "count", audience=audience)


def test_an_audience_has_one_file_however_it_is_spelt(tmp_path):
    call = {"ledger": tmp_path / "a.ledger", "table": "people", "secret": tmp_path / "s", "out": tmp_path / "Out.csv"}
    first = irisdp.publish(PEOPLE, "count", audience={"Press": 1}, **call)
    assert first.out[0].name == "Out.Press.csv"
    with pytest.raises(BadInput, match=r"Out\.Press\.csv is there already"):
        irisdp.publish(PEOPLE, "count", audience={"press": 2}, **call)
    again = irisdp.publish(PEOPLE, "count", audience={"press": 2}, force=True, **call)
    assert again.out == first.out
    other = irisdp.publish(PEOPLE, "count", audience={"press": 2}, **{**call, "out": tmp_path / "out.csv"})
    assert other.out[0].name == "out.press.csv"


def test_an_audience_without_a_limit_where_others_have_one_is_named(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("age\n30\n70\n71\n")
    data, book = str(tmp_path / "people.csv"), Ledger(tmp_path / "people.ledger")
    asked = ["publish", data, "count", "--audience", "Press=0.2", "--audience", "pres=0.1"]
    assert run([*asked, "--json"]) == 0
    assert "audiences_without_limit" not in capsys.readouterr().out
    book.set_limit(9)
    book.set_limit(1, audience="press")
    (tmp_path / "plan.toml").write_text(
        '[datasets.people]\ndata = "people.csv"\n[[questions]]\nquery = "count"\naudience = { pres = 0.3 }\n'
    )
    for command in ([*asked, "--dry-run"], asked, ["run", str(tmp_path / "plan.toml"), "--dry-run"]):
        assert run(command) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "warning the audience pres has no limit of its own" in said
        assert "irisdp ledger FILE --limit E,D --audience NAME" in said
        assert run([*command, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found.get("ledger") or found["ledgers"][0])["audiences_without_limit"] == ["pres"]


def test_planted_sums_that_forget_what_names_nobody_are_seen(tmp_path, monkeypatch):
    """The negative control: a sum over an audience's own lines alone lets more through."""
    from irisdp._ledger import audience_limits as ledger_audiences

    def forgetful(self, telling):
        return [audience for audience in self.limits if audience in telling.alone]

    monkeypatch.setattr(ledger_audiences.AudienceSpending, "concerned", forgetful)
    with pytest.raises(pytest.fail.Exception):
        test_an_audience_is_told_no_more_than_its_limit(Ledger(tmp_path / "some.ledger"))
