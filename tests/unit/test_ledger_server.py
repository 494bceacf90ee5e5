"""A ledger in PostgreSQL: connections that are cut, servers that go away, what is refused, and passwords."""

import pickle
import subprocess
import sys
import threading
import time
from dataclasses import replace
from fractions import Fraction

import pytest

import irisdp
from irisdp import BadInput, Cost, Ledger, LedgerEntry, LedgerScope
from irisdp._cli import run
from irisdp._ledger import server_store
from irisdp._ledger.addresses import address_of
from irisdp._tables.servers import connected, listening
from irisdp.errors import NotShown
from support.cutting import cutter

TENTH = Cost(Fraction(1, 10))
PROMISE = LedgerScope(table="t.csv", columns={"a": "untyped"}, relation="add-remove", unit=None)
CANARY = "canary7Qx"


def ask(book, question="q", *, draw=None):
    return book.settle(
        query="count",
        question=f'"{question}"',
        fingerprint="data",
        promise=PROMISE,
        cost=TENTH,
        draw=draw or (lambda earlier, price: [LedgerEntry(cost=TENTH, answers=question.encode())]),
    )


class Drawer:
    """Draws another answer each time, and remembers what it drew."""

    def __init__(self):
        self.drawn = []

    def __call__(self, earlier, price):
        self.drawn.append(b"answer %d" % len(self.drawn))
        return [LedgerEntry(cost=TENTH, answers=self.drawn[-1])]


@pytest.fixture
def cut(server, monkeypatch):
    """A proxy before the server, which lets in who knows the password."""
    monkeypatch.setenv("PGPASSWORD", server.password)
    with cutter(server.folder / f".s.PGSQL.{server.port}") as proxy:
        yield proxy


def messages_of_a_settlement(server, cut):
    book = Ledger(server.address(port=cut.port))
    book.set_limit(1)
    cut.cut(0, "")
    ask(book)
    while not cut.parted:
        time.sleep(0.01)
    return cut.seen


def settle_and_check(book, truth):
    """Ask once through a proxy that cuts; whatever was returned is charged once, and whatever was refused is not."""
    drawer = Drawer()
    try:
        found = ask(book, draw=drawer)
    except BadInput:
        assert (truth.spent, truth.releases()) == (Cost(), [])
        return "refused"
    (release,) = truth.releases()
    assert (truth.spent, release.answers) == (TENTH, found.entries[0].answers)
    assert (found.repeated, found.charged) == (False, TENTH), "it was this call that was charged"
    return "again" if len(drawer.drawn) > 1 else "found"


class TestCutConnections:
    @pytest.mark.parametrize("when", ["before", "after"])
    def test_at_every_message_leave_all_or_nothing(self, server, cut, when):
        messages = messages_of_a_settlement(server, cut)
        outcomes = []
        for place in range(1, messages + 1):
            address = server.address(port=cut.port)
            schema = address_of(address).schema
            truth = Ledger(server.address(schema))
            truth.set_limit(1)
            cut.cut(place, when)
            outcomes.append(settle_and_check(Ledger(address), truth))
            assert cut.seen > place or outcomes[-1] == "refused" or place == messages
        assert "refused" in outcomes, "a connection that was never had is not waited for"
        assert "again" in outcomes, "what the server undid is drawn again"
        # The last are COMMIT and the farewell: a COMMIT that was carried out is found, and drawn no second time.
        assert outcomes[-2:] == (["found", "found"] if when == "after" else ["again", "found"])

    @pytest.mark.parametrize(("when", "charged"), [("before", False), ("after", True)])
    def test_at_commit_for_good_are_said_to_be_open(self, server, cut, monkeypatch, when, charged):
        messages = messages_of_a_settlement(server, cut)
        monkeypatch.setattr(server_store, "RETURN", 0.3)
        address = server.address(port=cut.port)
        truth = Ledger(server.address(address_of(address).schema))
        truth.set_limit(1)
        cut.cut(messages - 1, when, for_good=True)
        with pytest.raises(NotShown, match=r"may or may not be recorded\. Ask the same question again"):
            ask(Ledger(address))
        assert b"COMMIT" in cut.last
        assert truth.spent == TENTH * charged
        cut.cut(0, "")
        assert ask(Ledger(address)).repeated is charged
        assert truth.spent == TENTH

    def test_are_seen_to_matter(self, server, cut, monkeypatch):
        """Negative control: whoever shows what was drawn when COMMIT is not answered shows what is not charged."""
        messages = messages_of_a_settlement(server, cut)
        once = server_store.LedgerServer._once

        def careless(self, work, attempt):
            kept = []
            try:
                return once(self, lambda rows: kept.append(work(rows)) or kept[-1], attempt)
            except server_store.driver().Error:
                return kept[-1]

        monkeypatch.setattr(server_store.LedgerServer, "_once", careless)
        address = server.address(port=cut.port)
        truth = Ledger(server.address(address_of(address).schema))
        truth.set_limit(1)
        cut.cut(messages - 1, "before")
        with pytest.raises((AssertionError, ValueError)):
            settle_and_check(Ledger(address), truth)


class TestServer:
    def test_that_is_killed_and_comes_back_is_waited_for(self, server):
        book = Ledger(server.address())
        drawer = Drawer()

        def draw(earlier, price):
            if not drawer.drawn:
                server.kill()
                threading.Timer(0.5, server.start).start()
            return drawer(earlier, price)

        found = ask(book, draw=draw)
        assert (found.entries[0].answers, drawer.drawn) == (b"answer 1", [b"answer 0", b"answer 1"])
        assert [release.answers for release in book.releases()] == [b"answer 1"]
        assert book.spent == TENTH

    def test_that_stays_away_is_said_in_one_line_and_nothing_is_spent(self, server, monkeypatch):
        book = Ledger(server.address())
        ask(book, "before")
        monkeypatch.setattr(server_store, "RETURN", 0.3)

        def draw(earlier, price):
            server.kill()
            return [LedgerEntry(cost=TENTH, answers=b"never seen")]

        try:
            for use in (lambda: ask(book, draw=draw), lambda: ask(book), lambda: book.spent, book.to_document):
                with pytest.raises(BadInput, match="cannot be reached") as refusal:
                    use()
                assert "\n" not in str(refusal.value)
        finally:
            server.start()
        assert book.spent == TENTH

    def test_that_may_lose_what_it_wrote_is_refused(self, server):
        book = Ledger(server.address())
        ask(book)
        for setting in ("fsync", "full_page_writes"):
            server.execute(f"ALTER SYSTEM SET {setting} = off")
            server.execute("SELECT pg_reload_conf()")
            try:
                _until(lambda setting=setting: server.execute(f"SHOW {setting}") == [("off",)])
                with pytest.raises(BadInput, match="may lose charges with a power cut"):
                    ask(book, "another")
                assert book.spent == TENTH, "looking is no harm"
            finally:
                server.execute("ALTER SYSTEM RESET ALL")
                server.execute("SELECT pg_reload_conf()")
            _until(lambda setting=setting: server.execute(f"SHOW {setting}") == [("on",)])
        server.execute("ALTER TABLE output SET UNLOGGED", book.store.address.schema)
        with pytest.raises(BadInput, match="a table unlogged"):
            ask(book, "another")

    def test_settings_of_others_weaken_nothing(self, server):
        book = Ledger(server.address())
        server.execute("ALTER ROLE iris SET synchronous_commit = off")
        server.execute("ALTER ROLE iris SET default_transaction_isolation = 'read uncommitted'")
        try:
            ask(book)
            levels = book.store.write(
                lambda rows: [
                    rows.find(f"SHOW {name}")[0][0] for name in ("synchronous_commit", "transaction_isolation")
                ]
            )
        finally:
            server.execute("ALTER ROLE iris RESET ALL")
        assert levels == ["on", "serializable"]

    def test_and_client_give_each_other_up_after_a_minute_of_silence(self, server, monkeypatch):
        """What it is for: tests/statistics/ledger/machines.py."""
        monkeypatch.setenv("PGPASSWORD", server.password)
        told = address_of(server.address(port=server.port)).server
        for given, seconds in ((told, 60), (replace(told, options={"tcp_user_timeout": "5000"}), 5)):
            with connected(given) as connection:
                known = connection.info.get_parameters()
                assert int(known["tcp_user_timeout"]) == seconds * 1000
                assert int(known["keepalives_idle"]) + 3 * int(known["keepalives_interval"]) == 60
                connection.execute("; ".join(("BEGIN", *listening())))
                assert connection.execute("SHOW tcp_user_timeout").fetchone() == ("60000",)

    def test_undoes_what_meets_a_stranger_and_it_is_done_again(self, server):
        """Somebody who keeps no turn changes the limit meanwhile, in a serialisable transaction of their own."""
        import psycopg

        book = Ledger(server.address())
        book.set_limit(1)
        drawer = Drawer()
        where = book.store.address.told
        with psycopg.connect(where) as stranger:
            stranger.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
            stranger.execute(f'SET search_path = "{book.store.address.schema}"')

            def draw(earlier, price):
                if not drawer.drawn:
                    stranger.execute("SELECT count(*) FROM settlement")
                    stranger.execute("UPDATE budget SET epsilon = '2'")
                    stranger.commit()
                return drawer(earlier, price)

            assert ask(book, draw=draw).entries[0].answers == drawer.drawn[-1]
        assert (book.limit, book.spent, len(book.releases())) == (Cost(2), TENTH, 1)
        assert len(drawer.drawn) == 2

    def test_keeps_writers_apart(self, server):
        book, order = Ledger(server.address()), []
        ask(book, "first")

        def slowly(earlier, price):
            order.append("drawing")
            time.sleep(0.5)
            order.append("drawn")
            return [LedgerEntry(cost=TENTH, answers=b"")]

        code = f"from test_ledger_server import *; ask(Ledger({book.place!r}), 'other')"
        thread = threading.Thread(target=ask, args=(book, "slow"), kwargs={"draw": slowly})
        thread.start()
        _until(lambda: order)
        other = subprocess.run([sys.executable, "-c", code], cwd=str(__file__).rpartition("/")[0], check=True,
                               env=_environment())  # fmt: skip
        assert (other.returncode, order) == (0, ["drawing", "drawn"])
        thread.join()
        assert [release.answers for release in book.releases()] == [b"first", b"", b"other"]


class TestWhatIsNoLedger:
    def test_a_schema_of_something_else(self, server):
        book = Ledger(server.address())
        server.execute(f"CREATE SCHEMA {book.store.address.schema}")
        for use in (ask, lambda book: book.spent, Ledger.to_document):
            with pytest.raises(
                BadInput, match=r"is not a ledger: the schema is there and holds none; name another schema"
            ):
                use(book)

    @pytest.mark.parametrize(("damage", "message"), [
        ("UPDATE ledger_format SET version = 99", "has format 99"),
        ("UPDATE ledger_format SET application = 'x'", "is damaged"),
        ("UPDATE release SET epsilon = 'little'", "is damaged"),
        ("UPDATE release SET epsilon = '-1'", "is damaged"),
        ("DROP TABLE promise", "is damaged"),
        ("UPDATE promise SET facts = '[]'", "is damaged"),
        ("ALTER TABLE budget RENAME COLUMN epsilon TO nu", "more than plain tables"),
    ])  # fmt: skip
    def test_damage_is_one_line(self, server, damage, message):
        book = Ledger(server.address())
        book.set_limit(1)
        ask(book)
        server.execute(damage, book.store.address.schema)
        with pytest.raises(BadInput, match=message) as refusal:
            ask(book, "another")
            book.to_document()
        assert "\n" not in str(refusal.value)
        assert len(server.execute("SELECT 1 FROM settlement", book.store.address.schema)) == 1 or "epsilon" in damage

    def test_a_database_or_role_that_is_not_there(self, server):
        told = server.address()
        for wrong in (told.replace("/postgres?", "/nowhere?"), told.replace("iris@", "nobody_here@")):
            with pytest.raises(BadInput, match=r"^ledger: postgresql://"):
                _ = Ledger(wrong).spent

    def test_text_it_cannot_hold(self, server):
        with pytest.raises(BadInput, match="does not hold such text or numbers"):
            ask(Ledger(server.address()), "a\0b")


SECRETIVE = [
    f"postgresql://u:{CANARY}@h/d",
    f"postgres://u:{CANARY}@h/d?schema=s",
    f"postgresql://u%3A{CANARY}@h/d",
    f"postgresql://u@h/d?password={CANARY}",
    f"postgresql://u@h/d?sslpassword={CANARY}",
    f"postgresql://u:{CANARY}/x@h/d",
    f"postgresql://u:1/{CANARY}@h/d",
    f"postgresql://u:1?{CANARY}@h/d",
    f"postgresql://u:1?host={CANARY}@h/d",
    f"postgresql://u:1#{CANARY}@h/d",
    f"postgresql:u:{CANARY}@h/d",
    f"  PostgreSQL://u:{CANARY}@h/d",
    f"postgresql://u:{CANARY}@[h/d",
]


class TestPasswords:
    @pytest.mark.parametrize("address", SECRETIVE)
    def test_in_an_address_are_refused_and_quoted_nowhere(self, tmp_path, monkeypatch, capfd, address):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "t.csv").write_text("a\n1\n2\n")
        (tmp_path / "plan.json").write_text('{"data": "t.csv", "budget": 1, "questions": [{"query": "count"}]}')
        plan = {"data": "t.csv", "budget": 1, "questions": [{"query": "count"}], "ledger": address}
        for use in (
            lambda: Ledger(address),
            lambda: irisdp.publish("t.csv", "count", epsilon=1, ledger=address),
            lambda: irisdp.Session("t.csv", ledger=address),
            lambda: irisdp.batch(plan),
            lambda: Ledger(tmp_path.__class__(address)),
        ):
            with pytest.raises(BadInput) as refusal:
                use()
            assert CANARY not in str(refusal.value)
        for words in (
            ["ledger", address], ["ledger", address, "--limit", "1"], ["ledger", address, "--json"],
            ["publish", "t.csv", "count", "--epsilon", "1", "--ledger", address],
            ["publish", "t.csv", "count", "--epsilon", "1", "--ledger", address, "--dry-run"],
            ["batch", "plan.json", "--ledger", address],
        ):  # fmt: skip
            assert run(words) == 2
        said = capfd.readouterr()
        assert CANARY not in said.out + said.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["plan.json", "t.csv"]

    def test_are_in_nothing_that_is_written_shown_or_kept(self, server, cut, tmp_path, monkeypatch, capfd):
        """The password of a role is a canary; it lets somebody in, and is found nowhere afterwards."""
        server.execute(f"DROP ROLE IF EXISTS teller; CREATE ROLE teller LOGIN PASSWORD '{CANARY}'")
        server.execute("GRANT CREATE ON DATABASE postgres TO teller")
        monkeypatch.setenv("PGPASSWORD", CANARY)
        monkeypatch.chdir(tmp_path)
        (tmp_path / "t.csv").write_text("a\n1\n2\n")
        address = server.address(role="teller", port=cut.port).replace(f":{cut.port}", f":{server.port}")
        book = Ledger(address)
        asked = ["publish", "t.csv", "count", "--epsilon", "1/2", "--ledger", address]
        assert run(["ledger", address, "--limit", "1"]) == 0
        assert run([*asked, "--out", "o.csv", "--report", "o.html"]) == run([*asked, "--json"]) == 0
        assert run(["ledger", address]) == run(["ledger", address, "--json"]) == 0
        assert run(["publish", "t.csv", "count", "--epsilon", "2", "--ledger", address]) == 1
        found = irisdp.publish("t.csv", "count", epsilon="1/2", ledger=address)
        kept = [repr(book), str(found), pickle.dumps(book), pickle.dumps(found), pickle.dumps(book.releases())]
        errors = []
        with pytest.raises(BadInput) as refusal:
            monkeypatch.setenv("PGPASSWORD", CANARY + "x")
            _ = book.spent
        errors += [str(refusal.value), repr(refusal.value)]
        monkeypatch.setenv("PGPASSWORD", CANARY)
        said = capfd.readouterr()
        assert address in said.out, "where the ledger is, is said"
        written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert len(written) >= 5
        rows = str(server.execute("SELECT * FROM settlement, release, promise, budget", book.store.address.schema))
        shown = str(server.execute("SELECT query, application_name FROM pg_stat_activity"))
        for text in (*map(str, kept), *errors, said.out, said.err, rows, shown, *map(repr, written)):
            assert CANARY not in text

    def test_would_be_found(self, tmp_path, capfd):
        """Negative control: an address that is taken for a file is quoted, canary and all."""
        assert run(["ledger", f"{tmp_path}/{CANARY}"]) == 2
        assert CANARY in capfd.readouterr().err


class TestAddress:
    @pytest.mark.parametrize(("text", "told", "schema"), [
        ("postgresql://h/d", "postgresql://h/d", "irisdp"),
        ("postgres://u@h:5433/d?schema=a_1", "postgresql://u@h:5433/d", "a_1"),
        ("postgresql:///d?host=/tmp&schema=s&sslmode=require", "postgresql:///d?host=%2Ftmp&sslmode=require", "s"),
    ])  # fmt: skip
    def test_is_read(self, text, told, schema):
        address = address_of(text)
        assert (address.told, address.schema) == (told, schema)
        assert Ledger(Ledger(text).place) == Ledger(text)

    @pytest.mark.parametrize("text", ["a.ledger", "/postgresql/x", "postgresql", "./postgresql:x", 7, None])
    def test_is_none(self, text):
        assert address_of(text) is None

    @pytest.mark.parametrize(
        "text",
        [
            "postgresql://h/d?schema=A", "postgresql://h/d?schema=", "postgresql://h/d?schema=pg_x",
            'postgresql://h/d?schema=a"b', "postgresql://h1,h2/d", "postgresql:///d?host=a,b", "postgresql://h/d?x=1",
            "postgresql://h:port/d", "postgresql://h/d?options=-cfsync%3Doff", "postgresql://h/d#x",
            "postgresql://h/a/b", "postgresql://h/d?host=a&host=b", "postgresql://h/d\n", "postgresql://[h/d",
        ],
    )  # fmt: skip
    def test_is_refused_in_one_line(self, text):
        with pytest.raises(BadInput, match=r"^ledger: ") as refusal:
            Ledger(text)
        assert "\n" not in str(refusal.value)

    def test_needs_psycopg(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(BadInput, match=r'psycopg: is not installed; pip install "irisdp\[postgresql\]"'):
            _ = Ledger("postgresql://h/d").spent


def _until(true, seconds=30):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def _environment():
    import os
    from pathlib import Path

    here = Path(__file__).parent
    paths = [str(here), str(here.parent), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
