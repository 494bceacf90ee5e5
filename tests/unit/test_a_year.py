"""A year of publications, and two months more, beside a ledger that is kept by hand.

Each month a folder of visits gets a partition, and one plan is run. Meanwhile a month is corrected, the ledger is
restored from a backup, the secret is lost, a column is added, a colleague leaves, and the engine is upgraded. After
each of these the ledger's lines are those written by hand, and every answer that was drawn is charged.
"""

import shutil
from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from irisdp import BudgetRefused, Cost, run
from irisdp._release import pipeline
from irisdp._release.dry_run import dry_run_plan
from irisdp.errors import ScopeRefused
from support.ledgers import ledger, server
from support.sweeps import tried

__all__ = ["ledger", "server"]

MONTHS = [*(f"2025-{number:02}" for number in range(1, tried(7, 13))), *tried([], ["2026-01", "2026-02"])]
CORRECTED, RESTORED, LOST, WIDENED = tried((2, 3, 4, 5), (4, 6, 8, 10))
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


@pytest.fixture
def year(ledger, tmp_path, monkeypatch):
    return Year(tmp_path, ledger, monkeypatch)


def test_a_year_is_charged_as_by_hand(year, ledger):
    ledger.set_limit("2.75")
    for number, month in enumerate(MONTHS):
        year.write(month, 100 + number)
        if number == RESTORED and ledger.path is not None:
            shutil.copy(ledger.path, year.folder / "backup")
        year.publish(month)
        if number == CORRECTED:  # a correction of February charges February alone
            year.write("2025-02", 77)
            done = year.publish("2025-02")
            assert {one.anew for one in done} == {None, "data"}
            assert ledger.spent == Cost(2 * MONTH)
        if number == RESTORED:  # the disk fails, and the ledger comes back without its last month
            year.lose(len(ASKED))
            with pytest.raises(ScopeRefused, match="restored from a backup"):
                run(year.plan)
            assert ledger.accept_restore(beside=year.folder / "visits") == Cost(MONTH)
            year.hand.append((None, ledger.releases()[-1].query, MONTH))
            year.check()
            year.publish(month)  # drawn again, and charged again
            assert ledger.spent == Cost(3 * MONTH)
        if number == LOST:  # the secret is lost: the data looks new, which is said before anything is charged
            for file in year.folder.glob(".tables.irisdp-secret"):
                file.unlink()
            with pytest.raises(BudgetRefused, match="left"):  # February would be charged a third time
                run(year.plan, force=True)
            ledger.set_limit(3)
            with pytest.raises(BudgetRefused, match="max_charge"):
                run(year.plan, max_charge=0, force=True)
            # The files of earlier runs cannot be known without the secret either, and have to be replaced by force.
            assert {one.anew for one in run(year.plan, force=True)} == {"secret"}
            for question, cost in ASKED:
                year.hand += [(known, question, cost) for known in MONTHS[: number + 1]]
            year.check()
        if number == WIDENED:  # every file gets a column, which the owner records: no answer changes
            shutil.copytree(year.folder / "visits", year.folder / "before")
            year.columns.append("cost")
            for known, size in list(year.sizes.items()):
                year.write(known, size)
            with pytest.raises(ScopeRefused, match="new column cost"):
                run(year.plan)
            ledger.change_columns(year.folder / "visits", was=year.folder / "before")
            assert run(year.plan).repeated
            year.check()
    # The limit is reached for February, which was corrected; a new month fits.
    year.write("2026-03", 78)
    year.publish("2026-03")
    year.write("2025-02", 78)
    with pytest.raises(BudgetRefused, match="left"):
        run(year.plan)
    year.check()
