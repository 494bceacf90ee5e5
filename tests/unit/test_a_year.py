"""A year of publications, and two months more, beside a ledger that is kept by hand.

Each month a folder of visits gets a partition, and one plan is run. Meanwhile a month is corrected, the ledger is
restored from a backup, the secret is lost, a column is added, a colleague leaves, and the engine is upgraded. After
each of these the ledger's lines are those written by hand, and every answer that was drawn is charged.
"""

import secrets
import shutil
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BadInput, BudgetRefused, Cost, Ledger, run
from irisdp._ledger.roles import grant, revoke
from irisdp._release import pipeline
from irisdp._release.dry_run import dry_run_plan
from irisdp._tables import engine
from irisdp.errors import ScopeRefused
from support.ledgers import ledger, server
from support.sweeps import tried

__all__ = ["ledger", "server"]

MONTHS = [*(f"2025-{number:02}" for number in range(1, tried(8, 13))), *tried([], ["2026-01", "2026-02"])]
CORRECTED, RESTORED, LOST, WIDENED, LEFT, UPGRADED = tried((1, 2, 3, 4, 5, 6), (4, 6, 8, 10, 11, 12))
"""After which month what happens, counted from 0."""
ASKED = [("count", Fraction(1, 2)), ("count age > 40", Fraction(1, 4))]
MONTH = sum(cost for _, cost in ASKED)
PLAN = """
report = "all.html"
[datasets.visits]
data = "visits"
partition = "month"
ledger = "{ledger}"
[[questions]]
query = "count"
epsilon = "1/2"
out = "count.csv"
[[questions]]
query = "count"
expression = "age > 40"
epsilon = "1/4"
"""


class Year:
    """The publication as its engineer sees it, and the ledger that is kept by hand.

    `hand` has a line for each charge: the month, or None for the whole table; the question; ε.
    """

    def __init__(self, folder, ledger, monkeypatch):
        self.folder, self.ledger, self.monkeypatch = folder, ledger, monkeypatch
        self.plan = folder / "plan.toml"
        self.plan.write_text(PLAN.format(ledger=ledger.place))
        self.columns, self.hand, self.drawn, self.sizes = [], [], Counter(), {}
        real = pipeline.draw_answers

        def draw(planned, *given):
            self.drawn[planned.table.part.value] += planned.cost.epsilon
            return real(planned, *given)

        monkeypatch.setattr(pipeline, "draw_answers", draw)

    def write(self, month, size):
        place = self.folder / "visits" / f"month={month}"
        place.mkdir(parents=True, exist_ok=True)
        ages = pa.array([20 + row % 60 for row in range(size)], pa.int64())
        pq.write_table(pa.table({"age": ages, **{name: ages for name in self.columns}}), place / "a.parquet")
        self.sizes[month] = size

    def publish(self, *new, **options):
        """Run the plan; these months are charged, and no others. The dry run says so before."""
        foreseen = dry_run_plan(self.plan)
        before = self.files()
        done = run(self.plan, **options)
        expected = [one.plan.table.part.value in new for one in foreseen.questions]
        assert [not one.repeated for one in done] == expected
        assert [one.expected is None or not one.expected.repeated for one in foreseen.questions] == expected
        for question, cost in ASKED:
            self.hand += [(month, question, cost) for month in sorted(new)]
        kept = {name: told for name, told in self.files().items() if not any(month in name for month in new)}
        assert kept == {name: told for name, told in before.items() if name in kept}
        self.check()
        return done

    def files(self):
        """The answers, with their times: those of other months are not touched."""
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.folder.glob("count-*")}

    def check(self):
        lines = [
            ((line.to_document().get("partition") or {}).get("value"), line.query, line.cost.epsilon)
            for line in self.ledger.releases()
        ]
        by_hand = [(month, f"{query} in month {month}" if month else query, cost) for month, query, cost in self.hand]
        assert lines == by_hand
        whole = sum(cost for month, _, cost in self.hand if month is None)
        months = Counter()
        for month, _, cost in self.hand:
            if month is not None:
                months[month] += cost
        assert self.ledger.spent == Cost(whole + max(months.values(), default=0))
        # What was drawn is charged: to its month, or with the loss of a restored ledger.
        assert all(drawn <= months[month] + whole for month, drawn in self.drawn.items())
        assert not self.ledger.verify().problems

    def lose(self, lines):
        """Make the ledger what a backup held, from before its last lines."""
        path = self.ledger.path
        if path is not None:
            shutil.copy(self.folder / "backup", path)
            del self.hand[-lines:]
            return
        last = self.ledger.releases()[-lines].id
        with self.ledger.store._connected() as connection:
            connection.execute(f'SET search_path = "{self.ledger.store.address.schema}"')
            settled = f"SELECT settlement FROM release WHERE id >= {last}"
            (first,) = connection.execute(f"SELECT min(id) FROM settlement WHERE id IN ({settled})").fetchone()
            (line,) = connection.execute(
                "SELECT min(id) FROM history WHERE event::jsonb ->> 'event' = 'release'"
                f" AND (event::jsonb -> 'settlement' ->> 0)::int >= {first}"
            ).fetchone()
            for statement in (
                f"DELETE FROM output WHERE release >= {last}",
                f"DELETE FROM release WHERE id >= {last}",
                f"DELETE FROM settlement WHERE id >= {first}",
                f"DELETE FROM history WHERE id >= {line}",
            ):
                connection.execute(statement)
            connection.commit()
        del self.hand[-lines:]

    def correct(self):
        """A correction of February charges February alone."""
        self.write("2025-02", 77)
        assert {one.anew for one in self.publish("2025-02")} == {None, "data"}
        assert self.ledger.spent == Cost(2 * MONTH)

    def restore(self, month):
        """The disk fails, and the ledger comes back without its last month: it is charged, drawn again, and charged."""
        self.lose(len(ASKED))
        with pytest.raises(ScopeRefused, match="restored from a backup"):
            run(self.plan)
        assert self.ledger.accept_restore(beside=self.folder / "visits") == Cost(MONTH)
        self.hand.append((None, self.ledger.releases()[-1].query, MONTH))
        self.check()
        self.publish(month)
        assert self.ledger.spent == Cost(3 * MONTH)

    def lose_secret(self, known):
        """The data looks new, which is said before anything is charged; then all months are charged again."""
        (self.folder / ".tables.irisdp-secret").unlink()
        with pytest.raises(BudgetRefused, match="left"):  # February would be charged a third time
            run(self.plan, force=True)
        self.ledger.set_limit(3)
        with pytest.raises(BudgetRefused, match="max_charge"):
            run(self.plan, max_charge=0, force=True)
        # The files of earlier runs cannot be known without the secret either, and have to be replaced by force.
        assert {one.anew for one in run(self.plan, force=True)} == {"secret"}
        for question, cost in ASKED:
            self.hand += [(month, question, cost) for month in known]
        self.check()

    def widen(self):
        """Every file gets a column, which the owner records: no answer changes."""
        shutil.copytree(self.folder / "visits", self.folder / "before")
        self.columns.append("cost")
        for month, size in list(self.sizes.items()):
            self.write(month, size)
        with pytest.raises(ScopeRefused, match="new column cost"):
            run(self.plan)
        self.ledger.change_columns(self.folder / "visits", was=self.folder / "before")
        assert run(self.plan).repeated
        self.check()

    def part(self, server):
        """A colleague leaves: her role may do nothing more, and the secret that she knew is replaced."""
        if server is not None:
            role = f"r_{secrets.token_hex(4)}"
            server.execute(f"CREATE ROLE {role} LOGIN")
            hers = Ledger(str(self.ledger.place).replace("iris@", f"{role}@"))
            grant(self.ledger, role, "publish")
            assert hers.spent == self.ledger.spent
            revoke(self.ledger, role)
            with pytest.raises(BadInput, match="does not allow this role"):
                assert hers.spent
        self.ledger.rotate_secret(self.folder / "visits")
        assert run(self.plan, max_charge=0).repeated
        self.check()

    def upgrade(self):
        """Another release of the engine reads alike, which is free."""
        for release in ("1.5", "2.0"):
            self.monkeypatch.setattr(engine, "release_of", lambda _, release=release: release)
            assert run(self.plan, max_charge=0).repeated
        self.check()


@pytest.fixture
def year(ledger, tmp_path, monkeypatch):
    return Year(tmp_path, ledger, monkeypatch)


def test_a_year_is_charged_as_by_hand(year, ledger, request):
    ledger.set_limit("2.75")
    server = None if ledger.path else request.getfixturevalue("server")
    for number, month in enumerate(MONTHS):
        year.write(month, 100 + number)
        if number == RESTORED and ledger.path is not None:
            shutil.copy(ledger.path, year.folder / "backup")
        year.publish(month)
        happens = {
            CORRECTED: year.correct,
            RESTORED: lambda month=month: year.restore(month),
            LOST: lambda number=number: year.lose_secret(MONTHS[: number + 1]),
            WIDENED: year.widen,
            LEFT: lambda: year.part(server),
            UPGRADED: year.upgrade,
        }
        happens.get(number, year.check)()
    # The limit is reached for February, which was corrected; a new month fits.
    year.write("2026-03", 78)
    year.publish("2026-03")
    year.write("2025-02", 78)
    with pytest.raises(BudgetRefused, match="left"):
        run(year.plan)
    year.check()
