"""Ledgers that count in μ or ρ: fixed when made, conversions charged in full, nothing refined, stated as (ε, δ)."""

import json
import sqlite3
from fractions import Fraction

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput, BudgetRefused, Cost, Ledger, LedgerEntry, LedgerScope, Privacy, ScopeRefused, Session
from irisdp._cli import run
from irisdp._ledger.file_store import SQLiteRows
from irisdp._ledger.store import Damaged, currency_of
from irisdp._measurements import GeometricNoise
from irisdp.accounting import MU, RHO, ConcentratedCost, GaussianCost, as_pair, gaussian_dp_mu, total
from irisdp.privacy import Gaussian

pytestmark = pytest.mark.usefixtures("one_engine")

SURVEY = pa.table({"age": [70, 30, 81, 20], "town": ["Ely", "Ely", "York", "York"]})
PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
HALF = Privacy(epsilon="1/2")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where the secret of a frame is kept, for a ledger on a server has no folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(ledger):
    return ledger.place


@pytest.fixture
def in_a_file(tmp_path):
    return tmp_path / "s.ledger"


def session(path, limit):
    return Session(SURVEY, ledger=path, limit=limit, secret="survey")


def settle(ledger, cost, question="q"):
    return ledger.settle(
        query="count",
        question=json.dumps(question),
        fingerprint="data",
        promise=PROMISE,
        cost=cost,
        draw=lambda earlier, price: [LedgerEntry(cost=price, answers=b"answer")],
    )


def nearly(found, exact):
    """Conversions are rounded up to 18 decimals."""
    return 0 <= found - exact < Fraction(1, 10**17)


class TestCurrency:
    @pytest.mark.parametrize(("given", "limit", "name"), [
        ({"mu": "1/2"}, GaussianCost("1/4"), "mu"),
        ({"rho": "1/2"}, ConcentratedCost("1/2"), "rho"),
        ({"epsilon": 1}, Cost(1), "epsilon and delta"),
    ])  # fmt: skip
    def test_is_that_of_the_first_limit_on_the_disk(self, path, given, limit, name):
        assert Ledger(path).set_limit(**given) == limit * 0
        book = Ledger(path)
        assert (book.currency.name, book.limit, book.spent) == (name, limit, limit * 0)
        book.restrict(limit * 2)
        assert Ledger(path).limit == limit * 2

    def test_of_a_ledger_without_limit_is_epsilon_and_delta(self, path):
        session(path, None).count(epsilon=1)
        with pytest.raises(ScopeRefused, match="counts in epsilon and delta, which was fixed by its first limit"):
            Ledger(path).set_limit(mu=1)
        assert Ledger(path).spent == Cost(1)

    @pytest.mark.parametrize("first", ["1", "mu=1", "rho=1"])
    @pytest.mark.parametrize("second", ["2", "mu=2", "rho=2"])
    def test_is_never_another_later(self, path, first, second):
        book = session(path, first).ledger
        before = book.limit, book.currency
        if first.partition("=")[:2] == second.partition("=")[:2] or "=" not in first + second:
            session(path, second)
            return
        with pytest.raises(ScopeRefused, match="or name a new ledger") as refusal:
            session(path, second)
        assert refusal.value.document["differs"] == ["currency"]
        assert (book.limit, book.currency) == before

    def test_of_a_pinned_ledger_is_open_until_its_first_limit(self, path):
        assert run(["ledger", str(path), "--table", "survey", "--relation", "exchange"]) == 0
        Ledger(path).set_limit(rho=1)
        assert (Ledger(path).currency, Ledger(path).to_document()["table"]) == (RHO, "survey")

    def test_says_which_files_an_older_irisdp_must_leave_alone(self, in_a_file):
        for limit, version in ({"epsilon": 1}, 4), ({"mu": 1}, 4):
            Ledger(in_a_file).set_limit(**limit)
            connection = sqlite3.connect(in_a_file)
            assert connection.execute("PRAGMA user_version").fetchone() == (version,)
            connection.close()
            in_a_file.unlink()

    def test_that_nobody_knows_is_damage(self, in_a_file):
        Ledger(in_a_file).set_limit(mu=1)
        connection = sqlite3.connect(in_a_file)
        connection.execute("ALTER TABLE budget RENAME COLUMN mu_squared TO nu")
        connection.commit()
        with pytest.raises(Damaged):
            currency_of(SQLiteRows(connection))
        connection.close()
        with pytest.raises(BadInput, match="another schema than Iris writes: budget"):
            _ = Ledger(in_a_file).spent


class TestCharges:
    def test_are_squares_of_the_least_mean_and_add_up(self, path):
        book = session(path, "mu=3")
        for place, epsilon in enumerate(("1/2", 1, "1/10")):
            found = book.count(f"age > {place}", epsilon=epsilon)
            assert nearly(found.cost.mu_squared, gaussian_dp_mu(Privacy(epsilon=epsilon)) ** 2)
        releases = book.releases()
        assert book.spent.mu_squared == sum(release.cost.mu_squared for release in releases)
        assert book.remaining == GaussianCost(9 - book.spent.mu_squared)
        assert [release.to_document()["guarantee"] for release in releases] == ["ε = 0.5", "ε = 1", "ε = 0.1"]

    def test_in_rho_are_half_of_epsilon_squared(self, path):
        assert session(path, "rho=1").count(epsilon="1/2").cost == ConcentratedCost("1/8")

    def test_of_moves_in_several_cells_add_up(self, path):
        book = Session(SURVEY, ledger=path, relation="exchange", limit="mu=3", secret="survey")
        found = book.count("age > 64", by="town", groups="Ely,York", epsilon="1/2")
        assert nearly(found.cost.mu_squared, 2 * gaussian_dp_mu(HALF) ** 2)
        found = book.majority("age > 64", by="town", groups="Ely,York", epsilon="1/2")
        assert nearly(found.cost.mu_squared, 4 * gaussian_dp_mu(HALF) ** 2)

    def test_of_gaussian_answers_are_exact_and_their_statement_is_the_total(self, path):
        book = Ledger(path)
        book.set_limit(mu=1)
        for place in range(10):
            settle(book, lambda earlier, currency: currency.price(Gaussian("3/10"), (1,), Fraction(0)), place)
        assert book.spent == GaussianCost("9/10")
        stated = Fraction(book.to_document()["as_pair"]["spent"]["epsilon"])
        lower, upper = total([(Gaussian("3/10"), 10)], delta="1e-6")
        assert lower <= stated and upper <= stated < upper + Fraction(1, 10**29)
        settle(book, GaussianCost("1/10"), "the last")
        with pytest.raises(BudgetRefused):
            settle(book, GaussianCost(Fraction(1, 10**18)), "one more")

    def test_that_do_not_fit_spend_nothing(self, path):
        book = session(path, "mu=1/2")
        book.count(epsilon="1/4")
        spent = book.spent
        with pytest.raises(BudgetRefused, match=r"limit is mu squared 0\.25; .*set_limit\(mu=M\)") as refusal:
            book.count("age > 64", epsilon=1)
        assert set(refusal.value.document["cost"]) == {"mu_squared"}
        assert (book.spent, len(book.releases())) == (spent, 1)

    def test_asked_again_are_nothing(self, path):
        book = session(path, "mu=1")
        first = book.count(epsilon="1/4")
        again = book.count(epsilon="1/4")
        assert (again.repeated, again.cost, again.answers.values) == (True, GaussianCost(), first.answers.values)

    @pytest.mark.parametrize("limit", ["mu=5", "rho=5"])
    def test_of_a_delta_are_refused_before_the_data_is_read(self, path, monkeypatch, limit):
        book = session(path, limit)
        monkeypatch.setattr("irisdp._release.pipeline.read_statistics", None)
        with pytest.raises(BadInput, match=r"^delta: is above 0 at every epsilon, and then no mu or rho is enough"):
            book.count(by="town", select_groups=True, epsilon=1, delta="1e-6")
        with pytest.raises(BadInput, match=r"^delta: "):
            book.majority("age > 64", epsilon=1, delta="1e-6")
        assert book.releases() == []

    def test_in_another_currency_are_refused(self, path):
        book = Ledger(path)
        book.set_limit(mu=1)
        with pytest.raises(BadInput, match=r"^cost: is in another currency"):
            settle(book, Cost(1))
        assert book.spent == GaussianCost()


class TestGaussianAnswers:
    def test_cost_what_they_keep_and_need_no_delta(self, path):
        book = session(path, "mu=1")
        assert book.count("age > 64", mu="1/2").cost == GaussianCost("1/4")
        assert book.majority("age > 64", mu="1/2").cost == GaussianCost("1/4")
        found = book.count(by="town", groups="Ely,York", mu="1/2")
        assert (found.cost, book.remaining) == (GaussianCost("1/4"), GaussianCost("1/4"))
        with pytest.raises(BudgetRefused):
            book.count(mu="0.51")
        assert [release.to_document()["guarantee"] for release in book.releases()] == ["μ = 0.5"] * 3

    def test_in_rho_cost_half_the_square(self, path):
        assert session(path, "rho=1").count(mu="1/2").cost == ConcentratedCost("1/8")

    def test_of_several_pairs_cost_the_least_mean_of_all(self, path):
        both = Privacy.all([Privacy(epsilon=2), Privacy(epsilon=1, delta="1/100")])
        found = session(path, "mu=5").count(privacy=both)
        assert nearly(found.cost.mu_squared, gaussian_dp_mu(both) ** 2)
        assert found.cost.mu_squared < gaussian_dp_mu(Privacy(epsilon=2)) ** 2

    def test_need_a_delta_where_epsilon_is_counted_but_not_to_be_given_again(self, path, monkeypatch):
        book = session(path, None)
        with monkeypatch.context() as patched:
            patched.setattr("irisdp._release.pipeline.read_statistics", None)
            with pytest.raises(BadInput, match=r"^delta: is needed .* or charge a ledger that has a limit in mu"):
                book.count(mu="1/2")
        first = book.count(mu="1/2", delta="1e-6")
        assert as_pair(GaussianCost("1/4"), "1e-6").fits_in(first.cost)
        again = book.count(mu="1/2")
        assert (again.repeated, again.answers.values) == (True, first.answers.values)


@pytest.fixture
def links_seen(monkeypatch):
    """Note the earlier answers that each draw builds on."""
    seen, draw = [], GeometricNoise.draw

    def noted(self, nodes, links=(), *more, **options):
        seen.append(len(links))
        return draw(self, nodes, links, *more, **options)

    monkeypatch.setattr(GeometricNoise, "draw", noted)
    return seen


class TestRefinement:
    @pytest.mark.parametrize("limit", ["mu=5", "rho=5"])
    def test_is_none_every_release_is_drawn_afresh_and_charged_in_full(self, path, limit, links_seen):
        book = session(path, limit)
        book.count("age > 64", epsilon="1/2")
        found = book.count("age > 64", epsilon=1)
        assert found.cost == found.plan.cost_in(book.ledger.currency)
        assert links_seen == [0, 0]
        assert [release.to_document()["refines"] for release in book.releases()] == [None, None]

    def test_is_there_in_epsilon_and_delta(self, path, links_seen):
        """Negative control."""
        book = session(path, 5)
        book.count("age > 64", epsilon="1/2")
        assert book.count("age > 64", epsilon=1).cost == Cost("1/2")
        assert links_seen == [0, 1]

    def test_audiences_of_one_release_are_drawn_together_and_charged_once(self, path, links_seen):
        book = session(path, "mu=5")
        found = book.count(audience={"board": 1, "press": "1/2"})
        assert nearly(found.cost.mu_squared, gaussian_dp_mu(Privacy(epsilon=1)) ** 2)
        assert [release.cost.mu_squared > 0 for release in book.releases()] == [True, False]
        assert links_seen == [0, 1]


class TestBatches:
    def test_are_charged_the_sum_of_their_questions(self, path):
        Ledger(path).set_limit(mu=5)
        questions = [{"query": "count", "expression": f"age > {age}"} for age in (40, 64)]
        asked = {"budget": {"epsilon": 1, "delta": "1e-6"}, "questions": questions, "secret": "survey"}
        found = irisdp.batch(asked, data=SURVEY, ledger=path)
        parts = [planned.audiences[0].mechanism.privacy for planned in found.plan.plans]
        assert nearly(found.cost.mu_squared, sum(gaussian_dp_mu(part) ** 2 for part in parts))
        assert Ledger(path).spent == found.cost == found.plan.cost_in(MU)
        (release,) = Ledger(path).releases()
        assert release.to_document()["guarantee"] == str(found.plan.cost)
        assert irisdp.batch(asked, data=SURVEY, ledger=path).repeated

    def test_with_a_delta_of_their_own_are_refused(self, path):
        Ledger(path).set_limit(mu=5)
        question = {"query": "count", "by": "town", "select_groups": True, "delta": "1e-7"}
        asked = {"budget": {"epsilon": 1, "delta": "1e-6"}, "questions": [question], "secret": "survey"}
        with pytest.raises(BadInput, match=r"^delta: is above 0"):
            irisdp.batch(asked, data=SURVEY, ledger=path)
        assert Ledger(path).releases() == []


class TestCommandLine:
    @pytest.fixture(autouse=True)
    def survey(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "s.csv").write_text("age,town\n70,Ely\n30,Ely\n81,York\n")

    def test_shows_charges_where_they_come_from_and_what_they_come_to(self, capsys):
        assert run(["ledger", "s.ledger", "--limit", "mu=1"]) == 0
        assert run(["publish", "s.csv", "count", "age > 64", "--epsilon", "0.5"]) == 0
        assert "charged μ² ≤ 0.389242 (μ ≤ 0.623893)" in capsys.readouterr().out
        assert run(["ledger", "s.ledger"]) == 0
        shown = capsys.readouterr().out
        assert "≤ 0.389242" in shown and "from ε = 0.5" in shown
        epsilon = as_pair(Ledger("s.ledger").spent, "1e-6").epsilon
        assert f"spent    μ² ≤ 0.389242 (μ ≤ 0.623893); that is ε = {float(epsilon):.5f}"[:-1] in shown
        assert "limit    μ² = 1 (μ = 1); that is ε = 4.886555 at δ = 0.000001" in shown

    def test_prints_exact_numbers(self, capsys):
        assert run(["ledger", "s.ledger", "--limit", "rho=1/2", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["limit"], document["spent"], document["left"]) == (
            {"rho": "0.5"},
            {"rho": "0"},
            {"rho": "0.5"},
        )
        assert (document["currency"], document["as_pair"]["spent"]) == ("rho", {"epsilon": "0", "delta": "0.000001"})

    def test_of_epsilon_and_delta_is_what_it_was(self, capsys):
        assert run(["ledger", "s.ledger", "--limit", "1,1e-6", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert not {"currency", "as_pair"} & set(document)
        assert document["limit"] == {"epsilon": "1", "delta": "0.000001"}

    def test_a_dry_run_says_the_charge_in_the_ledger_s_currency(self, capsys):
        run(["ledger", "s.ledger", "--limit", "mu=1/2"])
        assert run(["publish", "s.csv", "count", "--epsilon", "1", "--dry-run"]) == 1
        shown = capsys.readouterr().out
        assert "charge    μ² ≤ 1.517912 (μ ≤ 1.23204): that is what this ledger counts" in shown
        assert "would be refused" in shown and "irisdp ledger FILE --limit mu=M" in shown

    def test_a_batch_says_what_the_ledger_counts(self, tmp_path, capsys):
        run(["ledger", "s.ledger", "--limit", "rho=2"])
        questions = [{"query": "count", "expression": f"age > {age}"} for age in (40, 64)]
        asked = {"data": "s.csv", "budget": {"epsilon": 1}, "questions": questions}
        (tmp_path / "plan.json").write_text(json.dumps(asked))
        capsys.readouterr()
        assert run(["batch", "plan.json"]) == 0
        assert "  charged   ρ = 0.25: that is what this ledger counts" in capsys.readouterr().out

    @pytest.mark.parametrize(("limit", "line"), [
        ("mu=0", "--limit: mu must be above 0 and at most 1000; give for example 1"),
        ("mu=1001", "--limit: mu must be above 0 and at most 1000; give for example 1"),
        ("mu=x", '--limit: mu must be a finite number; write it as "0.25", "1e-9" or "3/10"'),
        ("mu=", '--limit: mu must be a finite number; write it as "0.25", "1e-9" or "3/10"'),
        ("rho=-1", "--limit: rho must be above 0 and at most 500000; give for example 1"),
        ("mu=1,2", "--limit: must be mu alone; write"),
        ("mu=1,mu=2", "--limit: must be mu alone; write"),
        ("mu=1,rho=2", "--limit: names two currencies, and a ledger counts in one; write"),
        ("nu=1", "--limit: has a name that is neither mu nor rho; write"),
        ("=1", "--limit: has a name that is neither mu nor rho; write"),
        ("1,2,3", "--limit: must be ε, or ε and δ; write"),
    ])  # fmt: skip
    def test_bad_limits_are_one_line(self, capsys, limit, line):
        assert run(["ledger", "s.ledger", "--limit", limit]) == 2
        printed = capsys.readouterr()
        assert printed.err.startswith(f"irisdp: {line}") and printed.err.count("\n") == 1
        assert not Ledger("s.ledger").path.exists()

    def test_another_currency_is_refused(self, capsys):
        run(["ledger", "s.ledger", "--limit", "mu=1"])
        assert run(["ledger", "s.ledger", "--limit", "1"]) == 1
        assert "s.ledger counts in mu" in capsys.readouterr().err


@pytest.mark.parametrize(("given", "message"), [
    ({}, "limit: is missing"),
    ({"mu": 1, "rho": 1}, "limit: names 2 currencies"),
    ({"epsilon": 1, "mu": 1}, "limit: names 2 currencies"),
    ({"mu": 1, "delta": "1e-6"}, "delta: belongs to epsilon"),
    ({"mu": 0}, "mu: must be above 0"),
    ({"rho": "x"}, "rho: must be a finite number"),
])  # fmt: skip
def test_bad_limits_are_named(path, given, message):
    with pytest.raises(BadInput, match=f"^{message}"):
        Ledger(path).set_limit(**given)
    assert not Ledger(path).store.exists()
