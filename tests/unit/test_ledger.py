"""The ledger: what it charges, what it returns, what it refuses, and what it says of files that cannot serve."""

import contextlib
import functools
import json
import os
import pickle
import random
import sqlite3
import stat
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path

import pytest

from irisdp import BadInput, BudgetRefused, Cost, IrisError, Ledger, LedgerEntry, LedgerScope, Privacy
from irisdp._ledger import file_store
from irisdp.accounting import charged_pair, delta
from irisdp.privacy import Gaussian

TENTH = Cost(Fraction(1, 10))


PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
OPEN = dict.fromkeys(("table", "columns", "relation", "unit", "public_columns"))


def ask(ledger, question="a question", *, cost=TENTH, answers=b"answer", fingerprint="data", draw=None, **options):
    return ledger.settle(
        query=f"count {question}",
        question=json.dumps(question),
        fingerprint=fingerprint,
        promise=options.pop("promise", PROMISE),
        cost=cost,
        **options,
        draw=draw or (lambda earlier, price: [LedgerEntry(cost=cost, answers=answers)]),
    )


def never(earlier, price):
    raise AssertionError("drew an answer that was not to be drawn")


@pytest.fixture
def in_a_file(tmp_path):
    return Ledger(tmp_path / "a strange?name#100%.ledger")


class TestBudget:
    def test_is_exact_to_the_end(self, ledger):
        ledger.set_limit(1)
        for number in range(10):
            ask(ledger, number)
        assert ledger.spent == ledger.limit == Cost(Fraction(1))
        with pytest.raises(BudgetRefused) as refusal:
            ask(ledger, 10, draw=never)
        assert ledger.spent == Cost(Fraction(1))
        assert refusal.value.document == {
            "error": str(refusal.value),
            "limit": {"epsilon": "1", "delta": "0"},
            "left": {"epsilon": "0", "delta": "0"},
            "cost": {"epsilon": "0.1", "delta": "0"},
        }
        assert "the answer costs epsilon 0.1, delta 0; epsilon 0, delta 0 is left; the limit is epsilon 1" in str(
            refusal.value
        )

    def test_is_exact_where_floats_are_not(self, ledger):
        ledger.set_limit("0.3")
        for number in range(3):
            ask(ledger, number)
        assert ledger.spent == ledger.limit
        assert 0.1 + 0.1 + 0.1 > 0.3, "control: a budget in floats would have refused the third"

    def test_without_limit_everything_is_charged(self, ledger):
        ask(ledger, cost=Cost(Fraction(1000), Fraction(1, 3)))
        assert ledger.limit is None
        assert ledger.spent == Cost(Fraction(1000), Fraction(1, 3))

    @pytest.mark.parametrize("cost", [Cost(Fraction(1, 10), Fraction(1, 10)), Cost(Fraction(2), Fraction(0))])
    def test_has_two_components(self, ledger, cost):
        ledger.set_limit(1, "1e-6")
        with pytest.raises(BudgetRefused):
            ask(ledger, cost=cost, draw=never)
        assert ledger.spent == Cost()

    def test_limit_below_what_is_spent_stops_spending(self, ledger):
        first = ask(ledger, 1, cost=Cost(Fraction(1)))
        spent = ledger.set_limit("1/2")
        assert spent == Cost(Fraction(1))
        assert not spent.fits_in(ledger.limit)
        with pytest.raises(BudgetRefused, match="epsilon 0, delta 0 is left"):
            ask(ledger, 2, draw=never)
        assert ask(ledger, 1, draw=never).entries == first.entries
        ledger.set_limit(2)
        assert not ask(ledger, 2).repeated

    @pytest.mark.parametrize("epsilon", [-1, True, float("nan"), float("inf"), "much", None])
    def test_limit_must_be_a_number(self, ledger, epsilon):
        with pytest.raises(BadInput, match="epsilon"):
            ledger.set_limit(epsilon)
        assert not ledger.store.exists()

    def test_spent_is_read_off_an_index(self, in_a_file):
        ask(in_a_file)
        with in_a_file.store.reading() as rows:
            plan = rows.find("EXPLAIN QUERY PLAN SELECT epsilon, delta, count(*) FROM release GROUP BY epsilon, delta")
        assert "USING COVERING INDEX release_cost" in plan[0][-1]


class TestCost:
    def test_adds_and_compares_by_component(self):
        assert TENTH + Cost(Fraction(1, 5), Fraction(1, 2)) == Cost(Fraction(3, 10), Fraction(1, 2))
        assert Cost(Fraction(3, 10)) == TENTH * 3
        assert TENTH.fits_in(TENTH)
        assert not Cost(Fraction(0), Fraction(1)).fits_in(Cost(Fraction(1)))
        assert not Cost(Fraction(1)).fits_in(Cost(Fraction(0), Fraction(1)))
        assert Cost(Fraction(1, 3), Fraction(1, 4)).to_document() == {"epsilon": "1/3", "delta": "0.25"}

    @pytest.mark.parametrize("number", [Fraction(-1, 10**9), True, float("nan")])
    @pytest.mark.parametrize("field", ["epsilon", "delta"])
    def test_is_a_number_that_is_not_negative(self, field, number):
        with pytest.raises(BadInput, match=field):
            Cost(**{field: number})

    def test_stays_writable(self, ledger):
        long = Cost(Fraction(1, 3**2000))
        ask(ledger, cost=long)
        with pytest.raises(BadInput, match="4096 bits"):
            ask(ledger, "another", cost=Cost(Fraction(1, 2**4000)), draw=never)
        assert ledger.spent == long
        json.dumps(ledger.to_document())


class TestSettlement:
    def test_the_same_question_of_the_same_data_is_answered_once(self, ledger):
        fresh = ask(ledger, answers=b"first")
        again = ask(ledger, draw=never)
        assert (fresh.repeated, again.repeated) == (False, True)
        assert (again.entries, again.ids) == (fresh.entries, fresh.ids)
        assert ledger.spent == TENTH

    def test_other_questions_and_other_data_are_charged(self, ledger):
        answers = [
            ask(ledger, "a", answers=b"1"),
            ask(ledger, "b", answers=b"2"),
            ask(ledger, "a", fingerprint="later data", answers=b"3"),
        ]
        assert [answer.entries[0].answers for answer in answers] == [b"1", b"2", b"3"]
        assert ledger.spent == TENTH * 3

    def test_audiences_share_the_cost(self, ledger):
        entries = [
            LedgerEntry(audience="public", cost=TENTH, answers=b"noisy", details='{"row": 1}'),
            LedgerEntry(audience="board", cost=TENTH * 2, answers=b"less noisy"),
        ]
        fresh = ask(ledger, cost=TENTH * 3, draw=lambda earlier, price: entries)
        again = ask(ledger, cost=TENTH * 3, draw=never)
        assert fresh.entries == again.entries == tuple(entries)
        assert fresh.ids == again.ids == (1, 2)
        assert ledger.spent == TENTH * 3

    @pytest.mark.parametrize("shares", [[], [TENTH], [TENTH, TENTH * 3]])
    def test_shares_must_add_up(self, ledger, shares):
        with pytest.raises(BadInput, match="cost"):
            ask(
                ledger,
                cost=TENTH * 2,
                draw=lambda earlier, price: [LedgerEntry(cost=share, answers=b"") for share in shares],
            )
        assert (ledger.spent, ledger.releases()) == (Cost(), [])

    @pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, BadInput("data", "is gone", "restore it")])
    def test_a_draw_that_raises_spends_nothing(self, ledger, error):
        def draw(earlier, price):
            raise error

        with pytest.raises(error if isinstance(error, type) else BadInput):
            ask(ledger, draw=draw)
        assert (ledger.spent, ledger.releases()) == (Cost(), [])
        assert not ask(ledger).repeated

    def test_a_draw_sees_the_earlier_releases_of_its_data(self, ledger):
        seen = []

        def draw(earlier, price):
            seen.extend((release.query, release.question, release.answers, release.details) for release in earlier)
            assert len(earlier) == len(seen)
            return [LedgerEntry(cost=TENTH, answers=b"second", details='{"step": 2}')]

        ask(ledger, "first", answers=b"first")
        ask(ledger, "of other data", fingerprint="other data")
        ask(ledger, "second", draw=draw)
        assert seen == [("count first", '"first"', b"first", "{}")]
        assert ledger.releases()[-1].details == '{"step": 2}'

    def test_a_million_cells(self, ledger):
        answers = random.Random(20).randbytes(100_000) + bytes(7_900_000)
        ask(ledger, answers=answers)
        assert ledger.releases()[0].answers == answers
        assert ask(ledger, draw=never).entries[0].answers == answers
        if ledger.path is not None:
            assert ledger.path.stat().st_size < 400_000


class TestBook:
    def test_is_empty_before_it_exists(self, ledger):
        assert ledger.to_document() == {
            "limit": None, "spent": {"epsilon": "0", "delta": "0"}, "left": None, **OPEN, "releases": [],
        }  # fmt: skip
        assert not ledger.store.exists()
        assert ledger.path is None or list(ledger.path.parent.iterdir()) == []

    def test_document_holds_exact_text(self, ledger):
        ledger.set_limit(1.5, "1e-6")
        entries = [
            LedgerEntry(cost=Cost(Fraction(1, 3), Fraction(1, 10**7)), answers=b"", audience="public"),
            LedgerEntry(cost=TENTH, answers=b""),
        ]
        for path in ("a.csv", "again.csv", "a.csv"):
            cost = entries[0].cost + TENTH
            ask(ledger, "a", cost=cost, draw=lambda earlier, price: entries, outputs={"public": [path]})
        document = ledger.to_document()
        rest = {"date": ledger.releases()[0].settled, "table": None, "groups": None}
        rest |= {"refines": None, "coarsens": None}
        assert document == {
            "limit": {"epsilon": "1.5", "delta": "0.000001"},
            "spent": {"epsilon": "13/30", "delta": "0.0000001"},
            "left": {"epsilon": "16/15", "delta": "0.0000009"},
            **PROMISE.facts(),
            "releases": [
                {"id": 1, "query": "count a", "epsilon": "1/3", "delta": "0.0000001", "audience": "public"}
                | rest | {"outputs": ["a.csv", "again.csv"]},
                {"id": 2, "query": "count a", "epsilon": "0.1", "delta": "0", "audience": None}
                | rest | {"outputs": []},
            ],
        }  # fmt: skip
        assert json.loads(json.dumps(ledger.to_document())) == ledger.to_document()

    def test_release_tells_when_in_utc(self, ledger):
        ask(ledger)
        (release,) = ledger.releases()
        assert release.settled.endswith("+00:00")
        assert len(release.question_hash) == 64

    def test_belongs_to_its_owner(self, in_a_file):
        modes = []

        def draw(earlier, price):
            modes.extend(stat.S_IMODE(file.stat().st_mode) for file in in_a_file.path.parent.iterdir())
            return [LedgerEntry(cost=TENTH, answers=b"")]

        ask(in_a_file, draw=draw)
        assert len(modes) == 3, "the ledger, its log and the log's index"
        assert set(modes) == {0o600}
        assert list(in_a_file.path.parent.iterdir()) == [in_a_file.path], "nothing is left beside an idle ledger"

    def test_travels(self, ledger):
        ask(ledger)
        assert pickle.loads(pickle.dumps(ledger)) == ledger
        assert pickle.loads(pickle.dumps(ledger.releases())) == ledger.releases()
        assert Ledger(ledger.place) == ledger

    def test_is_where_a_relative_path_led(self, in_a_file, monkeypatch):
        ask(in_a_file)
        monkeypatch.chdir(in_a_file.path.parent)
        relative = Ledger(in_a_file.path.name)
        monkeypatch.chdir("/")
        assert relative.spent == TENTH

    def test_closes_what_it_opens(self, in_a_file, monkeypatch):
        closed = []

        class Watched(sqlite3.Connection):
            def close(self):
                closed.append(True)
                super().close()

        ask(in_a_file)
        monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Watched))
        monkeypatch.setattr(file_store, "SETTINGS", ("SELECT broken",))
        with pytest.raises(BadInput):
            ask(in_a_file)
        assert closed == [True]


def foreign(path):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE patients (name TEXT)")


def changed(statement):
    """Return what makes a ledger with a release and changes it behind its back."""

    def make(path):
        ask(Ledger(path))
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript(statement)

    return make


def truncated(path):
    ask(Ledger(path))
    os.truncate(path, 6000)


BROKEN = {
    "a folder": Path.mkdir,
    "empty": Path.touch,
    "a few bytes": lambda path: path.write_bytes(b"epsilon"),
    "noise": lambda path: path.write_bytes(random.Random(20).randbytes(20_000)),
    "another program's": foreign,
    "of a later version": changed("PRAGMA user_version = 5"),
    "truncated": truncated,
    "without tables": changed("DROP TABLE release; DROP TABLE budget;"),
    "an unreadable cost": changed("UPDATE release SET epsilon = 'little'"),
    "a negative cost": changed("UPDATE release SET epsilon = '-1'"),
    "a dangling link": lambda path: path.symlink_to(path.with_name("nowhere") / "at all"),
    "in no folder": lambda path: path.parent.rmdir(),
    "under a file": lambda path: (path.parent.rmdir(), path.parent.touch()),
    "gone, with its log left": lambda path: path.with_name("one.ledger-wal").touch(),
}


class TestUnusableFiles:
    @pytest.mark.parametrize(
        "use", [ask, lambda ledger: ledger.spent, Ledger.to_document], ids=["settle", "read", "list"]
    )
    @pytest.mark.parametrize("state", BROKEN)
    def test_one_clear_line_and_nothing_spent(self, tmp_path, state, use):
        path = tmp_path / "folder" / "one.ledger"
        path.parent.mkdir()
        BROKEN[state](path)
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(BadInput) as refusal:
            use(Ledger(path))
        assert "\n" not in str(refusal.value)
        assert str(refusal.value).startswith(f"ledger: {path}")
        assert (path.read_bytes() if path.is_file() else None) == before

    def test_names_that_are_no_files(self):
        with pytest.raises(BadInput, match="ledger: is not a usable path"):
            ask(Ledger("nul\0byte"))

    @pytest.mark.parametrize("step", ["open", "link", "fsync"])
    def test_a_ledger_that_cannot_be_created(self, in_a_file, monkeypatch, step):
        def fail(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, step, fail)
        with pytest.raises(BadInput, match="No space left on device"):
            ask(in_a_file, draw=never)
        monkeypatch.undo()
        assert not ask(in_a_file).repeated
        assert list(in_a_file.path.parent.iterdir()) == [in_a_file.path]

    def test_a_ledger_in_use(self, in_a_file, monkeypatch):
        monkeypatch.setattr(file_store, "PATIENCE", 0.05)
        ask(in_a_file, 1)
        other = sqlite3.connect(in_a_file.path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadInput, match="in use by others"):
            ask(in_a_file, 2, draw=never)
        assert in_a_file.spent == TENTH, "reading does not wait"
        other.close()
        assert not ask(in_a_file, 2).repeated

    def test_damage_never_ends_in_another_error(self, in_a_file):
        """Overwrite a piece of the file anywhere: the ledger reads, or says no in one line that quotes nothing."""
        canary = "canary-in-the-details"
        for number in range(5):
            entry = LedgerEntry(cost=TENTH, answers=b"answer", details=canary)
            ask(in_a_file, number, draw=lambda earlier, price, entry=entry: [entry])
        sound, chance = in_a_file.path.read_bytes(), random.Random(20)
        refused = 0
        for _ in range(100):
            start, length = chance.randrange(len(sound)), chance.choice((1, 4, 64, 4096))
            in_a_file.path.write_bytes(sound[:start] + chance.randbytes(length) + sound[start + length :])
            for suffix in ("-wal", "-shm"):
                Path(f"{in_a_file.path}{suffix}").unlink(missing_ok=True)
            try:
                in_a_file.to_document()
                [(release.question, release.answers, release.details) for release in in_a_file.releases()]
                ask(in_a_file, 4)
                ask(in_a_file, 5)
            except IrisError as refusal:
                refused += 1
                assert "\n" not in str(refusal)
                assert canary not in str(refusal)
        assert refused > 10


ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT"


@pytest.mark.parametrize("statements", [
    ("DROP TABLE history", f"CREATE VIEW history AS {ENDLESS} i AS id, '{{}}' AS event, 'x' AS hash FROM c"),
    ("ALTER TABLE release RENAME TO kept", f"CREATE VIEW release AS SELECT kept.* FROM kept, ({ENDLESS} i FROM c)"),
    (f"CREATE TRIGGER slow AFTER INSERT ON release BEGIN {ENDLESS.replace('i + 1', 'i + 0')} max(i) FROM c; END",),
    ("ALTER TABLE history ADD COLUMN more TEXT GENERATED ALWAYS AS (hex(zeroblob(900000000)))",),
    ("CREATE VIRTUAL TABLE words USING fts5(word)",),
], ids=["endless history", "endless releases", "trigger", "generated column", "virtual table"])  # fmt: skip
def test_a_file_that_computes_what_is_read_is_no_ledger(tmp_path, statements):
    """Code of whoever wrote the file: it need not come to an end."""
    path = tmp_path / "t.ledger"
    book = Ledger(path)
    book.set_limit(1)
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    before = path.read_bytes()
    for use in (book.verify, book.to_document, lambda: book.set_limit(2), lambda: book.spent):
        with pytest.raises(BadInput, match=r"ledger: .* has another schema than Iris writes"):
            use()
    assert path.read_bytes() == before


# What a ledger in (ε, δ) charges for several pairs, or for Gaussian privacy: a point of the curve, never below it.

TWO = Privacy.all([Privacy(ratio=3, delta="1/1000"), Privacy(ratio=2, delta="1/50")])


def test_a_pair_is_charged_as_it_is_and_of_several_the_one_with_the_smallest_delta():
    one = Privacy(epsilon="0.7", delta="1/9")
    assert charged_pair(one) == charged_pair(one, "1/8") == one
    assert charged_pair(TWO) == charged_pair(TWO, "1/1000") == Privacy(ratio=3, delta="1/1000")
    assert charged_pair(TWO, "1/50") == Privacy(ratio=2, delta="1/50")


@pytest.mark.parametrize("chosen", ["1/999", "1/100", "1/49", "0.3"])
def test_any_other_point_follows_from_several_pairs(chosen):
    point = charged_pair(TWO, chosen)
    assert TWO.implies(point)
    assert TWO.implies(Privacy(epsilon=point.epsilon, delta=point.delta))
    assert not TWO.implies(Privacy(epsilon=point.epsilon - F(1, 10**11), delta=point.delta)) or point.ratio == 1


@pytest.mark.parametrize("mu", ["0.01", "1", "4"])
@pytest.mark.parametrize("chosen", ["1e-12", "1e-6", "1/100"])
def test_gaussian_privacy_is_charged_a_point_of_its_curve_rounded_up(mu, chosen):
    point = charged_pair(Gaussian(mu), chosen)
    assert point.delta == F(chosen)
    assert delta([Gaussian(mu)], epsilon=point.epsilon)[1] <= point.delta
    less = point.epsilon - F(1, 10**11)
    assert less < 0 or delta([Gaussian(mu)], epsilon=less)[0] > point.delta


@pytest.mark.parametrize(("guarantee", "chosen", "said"), [
    (
        Gaussian(1),
        0,
        "delta: is needed to charge Gaussian privacy as (ε, δ): with δ = 0 no ε is promised; add delta=1e-6",
    ),
    (TWO, "1e-4", "delta: is below 0.001, the smallest of the pairs; give 0.001 or more, or leave it out"),
    (TWO, 1, "delta: must be at least 0 and below 1; give a small probability such as 1e-6"),
    (Gaussian(1), "x", "delta: "),
])  # fmt: skip
def test_what_has_no_charge_is_refused_in_one_line(guarantee, chosen, said):
    with pytest.raises(BadInput) as refused:
        charged_pair(guarantee, chosen)
    assert str(refused.value).startswith(said)
