"""Tables that grow: partitions are charged apart, and new data leaves the answers of the others as they are."""

import datetime
import itertools
import json
import shutil
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BudgetRefused, Cost, Ledger, Session, batch, publish, run
from irisdp._calendar import PERIOD_KINDS, days_around, days_of, period_before, periods_between
from irisdp._ledger.partitions import check_spelling, normal_form
from irisdp._release.dry_run import dry_run_plan, dry_run_question
from irisdp.errors import BadInput, ScopeRefused
from support.ledgers import server  # noqa: F401

HALF = Fraction(1, 2)


def month(folder, value, ages, **more):
    place = folder / f"month={value}"
    place.mkdir(parents=True, exist_ok=True)
    columns = {"age": pa.array(ages, pa.int64()), **{name: pa.array(values) for name, values in more.items()}}
    pq.write_table(pa.table(columns), place / "part.parquet")


@pytest.fixture
def visits(tmp_path):
    folder = tmp_path / "visits"
    for value, ages in (("2024-01", [1, 2, 3]), ("2024-02", [70])):
        month(folder, value, ages, who=[f"p{age}" for age in ages])
    return folder


def count(data, value, *expression, epsilon=HALF, **options):
    return publish(data, "count", *expression, partition=f"month={value}", epsilon=epsilon, **options)


PLAN = """
[datasets.visits]
data = "visits"
partition = "month"
[[questions]]
name = "all"
query = "count"
epsilon = 0.5
out = "all.csv"
[[questions]]
query = "count"
expression = "age > 1"
epsilon = 0.25
"""


class TestAGrowingFolder:
    def test_costs_the_largest_total_of_a_partition(self, visits, tmp_path):
        book = Ledger(tmp_path / "visits.ledger")
        assert count(visits, "2024-01").cost == Cost(HALF)
        assert count(visits, "2024-02").cost == Cost(HALF)
        assert book.spent == Cost(HALF)
        assert count(visits, "2024-02", "age > 1").cost == Cost(HALF)
        assert book.spent == Cost(1)
        assert publish(visits, "count", epsilon=2).cost == Cost(2)  # of the whole table: it reads all partitions
        assert book.spent == Cost(3)
        told = book.to_document()
        assert told["partitions"]["composition"] == "maximum"
        assert told["partitions"]["partitions"]["2024-02"] == Cost(1).to_document()
        assert told["releases"][0]["partition"] == {"column": "month", "value": "2024-01"}
        assert not book.verify().problems

    def test_new_data_leaves_other_answers_and_their_files(self, visits, tmp_path):
        (tmp_path / "plan.toml").write_text(PLAN)
        first = run(tmp_path / "plan.toml")
        assert sum(not one.repeated for one in first) == 4
        kept = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in first.out}
        month(visits, "2024-03", [5, 6], who=["p5", "p6"])
        again = run(tmp_path / "plan.toml")
        assert [one.repeated for one in again] == [True, True, False, True, True, False]
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in kept} == kept
        assert list(again.charged.values()) == [Cost(Fraction(3, 4))]
        assert Ledger(tmp_path / "visits.ledger").spent == Cost(Fraction(3, 4))

    def test_a_correction_charges_its_partition_alone_and_says_what_it_supersedes(self, visits, tmp_path):
        (tmp_path / "plan.toml").write_text(PLAN)
        run(tmp_path / "plan.toml")
        month(visits, "2024-01", [1, 2], who=["p1", "p2"])
        foreseen = dry_run_plan(tmp_path / "plan.toml")
        assert [one.expected.repeated for one in foreseen.questions] == [False, True, False, True]
        again = run(tmp_path / "plan.toml")
        assert [one.repeated for one in again] == [False, True, False, True]
        assert [one.anew for one in again] == ["data", None, "data", None]
        ledger = Ledger(tmp_path / "visits.ledger")
        assert ledger.spent == Cost(Fraction(3, 2)) == Cost(2 * Fraction(3, 4))
        beside = json.loads((tmp_path / "all-2024-01.csv.release.json").read_text())
        assert beside["supersedes"] == 1
        assert "supersedes" not in json.loads((tmp_path / "all-2024-02.csv.release.json").read_text())
        assert [line.to_document().get("supersedes") for line in ledger.releases()] == [None, None, None, None, 1, 3]

    def test_dry_runs_charge_as_runs_do(self, visits, tmp_path):
        (tmp_path / "plan.toml").write_text(PLAN)
        for _ in range(3):
            foreseen = dry_run_plan(tmp_path / "plan.toml")
            done = run(tmp_path / "plan.toml")
            assert [ledger.expected for ledger in foreseen.ledgers] == list(done.charged.values())
            month(visits, "2024-01", [len(list(visits.iterdir()))] * 3, who=["a", "b", "c"])
            month(visits, f"2024-1{len(list(visits.iterdir())) - 2}", [3], who=["x"])

    def test_a_limit_bounds_each_partition_with_the_whole(self, visits, tmp_path):
        ledger = Ledger(tmp_path / "visits.ledger")
        ledger.set_limit(1)
        count(visits, "2024-01", epsilon=1)
        with pytest.raises(BudgetRefused, match=r"0 is left"):
            count(visits, "2024-01", "age > 1", epsilon="0.25")
        count(visits, "2024-02", epsilon="3/4")
        with pytest.raises(BudgetRefused) as refused:
            count(visits, "2024-02", "age > 1")
        assert refused.value.document["left"] == Cost(Fraction(1, 4)).to_document()
        with pytest.raises(BudgetRefused):
            publish(visits, "count", epsilon="1/100")
        assert dry_run_question(visits, "count", partition="month=2024-02", epsilon=1).outlook.refused is False
        ledger.set_limit(HALF)  # below what January has spent: then nothing is left for any
        month(visits, "2024-03", [4], who=["p4"])
        with pytest.raises(BudgetRefused):
            count(visits, "2024-03", epsilon="1/4")

    def test_equal_content_in_two_partitions_is_two_questions(self, visits, tmp_path):
        month(visits, "2024-02", [1, 2, 3], who=["p1", "p2", "p3"])
        shutil.copy(visits / "month=2024-01/part.parquet", visits / "month=2024-02/part.parquet")
        assert not count(visits, "2024-01").repeated
        assert not count(visits, "2024-02").repeated

    def test_records_in_no_partition_are_only_in_the_whole(self, visits):
        month(visits, "__HIVE_DEFAULT_PARTITION__", [9], who=["n"])
        with pytest.raises(BadInput, match="is no folder of the data"):
            count(visits, "__HIVE_DEFAULT_PARTITION__")
        exact = publish(visits, "count", epsilon=50)
        assert exact.answers.values == [5]


class TestWhatIsProtected:
    def test_charges_of_persons_add_up(self, visits, tmp_path):
        for value in ("2024-01", "2024-02"):
            count(visits, value, unit="who", at_most=1)
        ledger = Ledger(tmp_path / "visits.ledger")
        assert ledger.spent == Cost(1)
        assert ledger.to_document()["partitions"]["composition"] == "sum"

    def test_persons_under_exchange_are_refused(self, visits):
        with pytest.raises(BadInput, match="partition: cannot be combined with unit="):
            count(visits, "2024-01", unit="who", at_most=1, relation="exchange")

    def test_exchange_pins_the_partition_as_public(self, visits, tmp_path):
        found = count(visits, "2024-01", relation="exchange", epsilon=1)
        count(visits, "2024-02", relation="exchange", epsilon=1)
        ledger = Ledger(tmp_path / "visits.ledger")
        assert ledger.spent == found.cost
        assert ledger.to_document()["public_columns"] == ["month"]
        assert any("who is in which partition is public" in line for _, line in found.plan.describe_rules())

    def test_exchange_that_began_without_it_stays_so(self, visits):
        publish(visits, "count", "age > 1", relation="exchange", epsilon=1)
        with pytest.raises(ScopeRefused, match="public columns"):
            count(visits, "2024-01", relation="exchange")

    def test_batches_are_charged_to_their_partition(self, visits, tmp_path):
        asked = {
            "budget": {"epsilon": 1},
            "questions": [{"query": "count"}, {"query": "count", "expression": "age > 1"}],
        }
        for value in ("2024-01", "2024-02"):
            done = batch({**asked, "data": str(visits), "partition": f"month={value}"})
            assert done.cost == Cost(1)
        ledger = Ledger(tmp_path / "visits.ledger")
        assert ledger.spent == Cost(1)
        assert set(ledger.to_document()["partitions"]["partitions"]) == {"2024-01", "2024-02"}

    def test_audiences_within_a_partition(self, visits, tmp_path):
        for value in ("2024-01", "2024-02"):
            count(visits, value, epsilon=None, audience=["board=1", "press=0.5"])
        assert Ledger(tmp_path / "visits.ledger").spent == Cost(1)

    def test_a_ledger_has_one_division(self, tmp_path):
        path = tmp_path / "visits.csv"
        path.write_text("month,ward\n2024-01,a\n2024-02,b\n")
        count(path, "2024-01")
        with pytest.raises(ScopeRefused, match=r"partitions by month, .* you asked for partitions by ward"):
            publish(path, "count", partition="ward=a", epsilon=1)

    def test_another_spelling_of_a_partition_is_refused(self, tmp_path):
        path = tmp_path / "visits.csv"
        path.write_text("month,ward\n2024-01,a\n2024-1,b\n")
        count(path, "2024-01")
        with pytest.raises(ScopeRefused, match="knows the partition '2024-01'"):
            count(path, "2024-1")
        folder = tmp_path / "folder"
        month(folder, "2024-01", [1])
        month(folder, "2024-1", [1])
        (tmp_path / "plan.toml").write_text(PLAN.replace('"visits"', '"folder"'))
        with pytest.raises(BadInput, match="may be the same"):
            run(tmp_path / "plan.toml")

    @pytest.mark.parametrize("other", ["2024-1", " 2024-01", "２０２４-01", "02024-01"])
    def test_spellings_that_may_be_one(self, other):
        assert normal_form(other) == normal_form("2024-01")
        with pytest.raises(ScopeRefused):
            check_spelling(["2024-01"], other, where="here")

    @pytest.mark.parametrize("other", ["2024-10", "2024-011", "202401", "2024-01-01"])
    def test_spellings_that_are_two(self, other):
        check_spelling(["2024-01"], other, where="here")


class TestWholeFiles:
    def files(self, tmp_path):
        paths = [tmp_path / f"visits-{value}.csv" for value in ("2024-01", "2024-02")]
        for index, path in enumerate(paths):
            path.write_text("age\n" + "5\n" * (index + 1))
        return paths

    def test_share_a_named_table_and_ledger(self, tmp_path):
        for path, value in zip(self.files(tmp_path), ("2024-01", "2024-02"), strict=True):
            asked = {"table": "visits", "ledger": tmp_path / "visits.ledger", "epsilon": HALF}
            found = publish(path, "count", partition=f"file:month={value}", **asked)
            assert (
                "partition",
                f"all of the table is taken for month {value}, as you say;"
                " of the charges for different partitions the largest counts",
            ) in found.plan.describe_rules()
        assert Ledger(tmp_path / "visits.ledger").spent == Cost(HALF)

    @pytest.mark.parametrize("named", [{}, {"table": "visits"}, {"ledger": "visits.ledger"}])
    def test_need_both(self, tmp_path, named):
        path, _ = self.files(tmp_path)
        given = {name: tmp_path / value if name == "ledger" else value for name, value in named.items()}
        with pytest.raises(BadInput, match="name what all its partitions share"):
            publish(path, "count", partition="file:month=2024-01", epsilon=1, **given)
        assert not (tmp_path / "visits.ledger").exists()


class TestPeriods:
    @pytest.fixture
    def dated(self, tmp_path):
        path = tmp_path / "dated.csv"
        days = ["2024-01-01", "2024-01-31", "2024-02-01", "2023-12-31", "later", ""]
        path.write_text("day,who,paid\n" + "".join(f"{day},p{index % 2},{index}\n" for index, day in enumerate(days)))
        return path

    @pytest.mark.parametrize(
        ("period", "value", "records"),
        [("month", "2024-01", 2), ("month", "2024-02", 1), ("year", "2024", 3), ("quarter", "2023-Q4", 1),
         ("week", "2024-W01", 1), ("week", "2023-W52", 1), ("day", "2024-01-31", 1), ("day", "2024-03-01", 0)],
    )  # fmt: skip
    def test_hold_the_records_of_their_days(self, dated, period, value, records):
        found = publish(dated, "count", partition=f"day by {period}={value}", epsilon=50)
        assert found.answers.values == [records]
        assert found.sidecars[None]["partition"]["period"] == period

    def test_other_records_leave_a_partition_as_it_is(self, dated):
        first = publish(dated, "count", partition="day by month=2024-01", epsilon=1)
        lines = dated.read_text().splitlines()
        dated.write_text("\n".join([lines[0], *reversed(lines[1:]), "2024-03-05,p7,9"]) + "\n")
        again = publish(dated, "count", partition="day by month=2024-01", epsilon=1)
        assert again.repeated
        assert again.answers.values == first.answers.values
        dated.write_text(dated.read_text().replace("2024-01-31,p1,1", "2024-01-31,p1,2"))
        assert not publish(dated, "count", partition="day by month=2024-01", epsilon=1).repeated

    def test_all_kinds_of_questions_see_the_partition_alone(self, dated, tmp_path):
        lookup = tmp_path / "wards.csv"
        lookup.write_text("who,ward\np0,a\np1,b\n")
        asked = {"partition": "day by month=2024-01", "epsilon": 50, "ledger": tmp_path / "a.ledger"}
        by = publish(dated, "count", by="who", groups=["p0", "p1", "p2"], **asked)
        assert by.answers.values == [1, 1, 0]
        total = publish(dated, "sum", "paid", lower=0, upper=9, step=1, **asked)
        assert total.answers.values == [1]
        joined = publish(dated, "count", "ward = 'b'", lookup=lookup, on="who", **asked)
        assert joined.answers.values == [1]
        by = publish(dated, "count", by="ward", groups=["a", "b"], lookup=lookup, on="who", **asked)
        assert by.answers.values == [1, 1]
        persons = {**asked, "unit": "who", "ledger": tmp_path / "b.ledger", "another_ledger": True}
        assert publish(dated, "count", "n = 1", person="n = COUNT(*)", **persons).answers.values == [2]
        assert publish(dated, "count", "paid > 0", per_unit="any", **persons).answers.values == [1]
        assert publish(dated, "count", at_most=2, **persons).answers.values == [2]

    def test_records_of_a_column_without_a_period(self, dated):
        assert publish(dated, "count", partition="who=p1", epsilon=50).answers.values == [3]
        assert publish(dated, "count", partition={"column": "who", "value": "p0"}, epsilon=50).answers.values == [3]

    def test_typed_columns(self, tmp_path):
        path = tmp_path / "typed.parquet"
        days = [datetime.date(2024, 1, 5), None, datetime.date(2024, 2, 1)]
        at = [datetime.datetime(2024, 1, 31, 23, 59, 59), None, datetime.datetime(2024, 2, 1)]
        pq.write_table(pa.table({"day": days, "at": at, "n": [7, 7, 8], "x": [b"\0", b"", None]}), path)
        for partition, records in [("day by month=2024-01", 1), ("at by day=2024-01-31", 1), ("n=7", 2)]:
            asked = {"epsilon": 50, "ledger": tmp_path / f"{partition[:2]}.ledger", "another_ledger": True}
            assert publish(path, "count", partition=partition, **asked).answers.values == [records]
        with pytest.raises(BadInput, match="write it as a number"):
            publish(path, "count", partition="n=07", epsilon=1)
        with pytest.raises(BadInput, match="name a column of dates"):
            publish(path, "count", partition="n by month=2024-01", epsilon=1)

    def test_a_plan_takes_all_from_a_first_one(self, dated, tmp_path):
        (tmp_path / "plan.toml").write_text(
            '[datasets.v]\ndata = "dated.csv"\npartition = {column = "day", period = "month", from = "2023-12",'
            ' until = "2024-02"}\n[[questions]]\nquery = "count"\nepsilon = 50\n'
        )
        assert [one.answers.values for one in run(tmp_path / "plan.toml")] == [[1], [2], [1]]

    def test_periods_follow_each_other_without_gaps(self):
        for period, kind in PERIOD_KINDS.items():
            day = datetime.date(1999, 12, 1)
            for _ in range(900):
                first, after = days_of(period, kind.of(day), "partition")
                assert first <= day < after
                assert kind.of(first) == kind.of(after - datetime.timedelta(days=1)) != kind.of(after)
                assert days_around(period, day) == (first, after)
                assert period_before(period, after) == kind.of(day)
                day += datetime.timedelta(days=1)
        assert periods_between("month", "2023-11", "2024-02", 9, "partition") == [
            "2023-11",
            "2023-12",
            "2024-01",
            "2024-02",
        ]
        with pytest.raises(BadInput):
            periods_between("month", "2024-02", "2023-11", 9, "partition")
        for value in ("2024-13", "2024-00", "24-01", "2024-W54", "2024-Q5", "2024-02-30", "²024"):
            for period in PERIOD_KINDS:
                with pytest.raises(BadInput, match=r"write it as|choose"):
                    days_of(period, value, "partition")


class TestProjects:
    def test_make_every_question_choose(self, visits, tmp_path):
        (tmp_path / "visits.iris.toml").write_text('partition = "month"\n')
        with pytest.raises(BadInput, match="partition: is missing, and the project divides the table by month"):
            publish(visits, "count", epsilon=1)
        assert publish(visits, "count", partition="2024-01", epsilon=50).answers.values == [3]
        assert publish(visits, "count", partition="whole", epsilon=50).answers.values == [4]
        with pytest.raises(BadInput, match="publish it with a plan"):
            publish(visits, "count", partition="each", epsilon=1)
        (tmp_path / "plan.toml").write_text(PLAN.replace('"month"', '"each"'))
        assert len(run(tmp_path / "plan.toml")) == 4

    @pytest.mark.parametrize(
        "said", ['"month=2024-01"', "3", '{period = "month"}', '{column = "a", colum = 3}',
                 '{column = "a", period = "x"}',
                 '{column = "a", from = "2024"}', '{column = "a", values = "b"}']
    )  # fmt: skip
    def test_are_refused_for_what_is_no_division(self, visits, tmp_path, said):
        (tmp_path / "visits.iris.toml").write_text(f"partition = {said}\n")
        with pytest.raises(BadInput, match="project"):
            publish(visits, "count", epsilon=1)

    def test_sessions_ask_about_one(self, visits):
        assert Session(visits, partition="month=2024-01").count(epsilon=50).answers.values == [3]


def dates(form):
    return {"types": {"day": {"type": "date", "format": form}}}


class TestOneWayToDivide:
    """Read in another way, a record would lie in two partitions, and only the larger charge would count."""

    @pytest.mark.parametrize(
        ("content", "first", "second"),
        [
            ("day,x\n03/02/2026,a\n", {"partition": "day by month=2026-02", **dates("%d/%m/%Y")},
             {"partition": "day by month=2026-03", **dates("%m/%d/%Y")}),
            ("day,x\n03/02/2026,a\n", {"partition": "day by month=2026-02", "date_format": "%d/%m/%Y"},
             {"partition": "day by month=2026-03", "date_format": "%m/%d/%Y"}),
            ("day,x\n03/02/2026,a\n", {"partition": "day by month=2026-02", "types": {"day": {"format": "%d/%m/%Y"}}},
             {"partition": "day by month=2026-03", "types": {"day": {"format": "%m/%d/%Y"}}}),
            ("code,x\n+1,a\n", {"partition": "code=+1"}, {"partition": "code=1", "types": {"code": "integer"}}),
            ('code,x\n"1,000",a\n', {"partition": "code=1,000"},
             {"partition": "code=1000", "types": {"code": "integer"}, "thousands": ","}),
            ("ward,x\né,a\n", {"partition": "ward=é"}, {"partition": "ward=Ã©", "encoding": "windows-1252"}),
            ("north,south\n", {"partition": "a=north", "no_header": True, "columns": ["a", "b"]},
             {"partition": "a=south", "no_header": True, "columns": ["b", "a"]}),
        ],
        ids=["formats of dates", "formats of a file", "formats without a type", "signs", "thousands", "encodings",
             "names of columns"],
    )  # fmt: skip
    def test_of_a_ledger(self, tmp_path, content, first, second):
        path = tmp_path / "v.csv"
        path.write_text(content, encoding="utf-8")
        assert publish(path, "count", epsilon=50, **first).answers.values == [1]
        with pytest.raises(ScopeRefused, match="partitions by"):
            publish(path, "count", epsilon=50, **second)

    def test_equal_partitions_of_two_tables_are_two(self, tmp_path):
        """Nothing is in March, of either: by content alone the one table would be taken for the other."""
        for name in ("a", "b"):
            (tmp_path / f"{name}.csv").write_text(f"day,x\n2026-01-0{3 + (name == 'b')},{name}\n")
        for name in ("a", "b"):
            found = publish(tmp_path / f"{name}.csv", "count", partition="day by month=2026-03", epsilon=1)
            assert not found.repeated
            assert found.ledger == tmp_path / f"{name}.ledger"
        with pytest.raises(ScopeRefused, match="table"):
            asked = {"ledger": tmp_path / "a.ledger", "another_ledger": True}
            publish(tmp_path / "b.csv", "count", partition="day by month=2026-03", epsilon=1, **asked)

    def test_a_column_that_is_not_there_divides_nothing(self, tmp_path):
        frame = pa.table({"ward": ["a", "b"]})
        (tmp_path / "w.csv").write_text("ward,region\na,north\nb,south\n")
        for asked in ({}, {"lookup": tmp_path / "w.csv", "on": "ward"}):
            with pytest.raises(BadInput, match=r"names the column 'region', which the data does not have"):
                publish(frame, "count", partition="region=north", epsilon=1, ledger=tmp_path / "l.ledger", **asked)
        with pytest.raises(BadInput, match="name what all its partitions share"):
            publish(frame, "count", partition="file:region=north", epsilon=1, ledger=tmp_path / "l.ledger")
        with pytest.raises(BadInput, match="ward is a column of it"):
            publish(frame, "count", partition="file:ward=a", epsilon=1, ledger=tmp_path / "l.ledger", table="t")

    def test_a_division_of_whole_files_is_none_by_a_column(self, tmp_path):
        asked = {"epsilon": 1, "ledger": tmp_path / "l.ledger", "table": "t"}
        publish(pa.table({"ward": ["a"]}), "count", partition="file:month=1", **asked)
        Ledger(tmp_path / "l.ledger").change_columns(pa.table({"ward": ["a"], "month": ["2"]}))
        with pytest.raises(ScopeRefused, match="partitions by month, read as files"):
            publish(pa.table({"ward": ["a"], "month": ["2"]}), "count", partition="month=2", **asked)


@pytest.mark.parametrize("wrong", ["month", "=2024-01", "month=", 3, ["month=1"], {"value": "1"}, "month=" + "x" * 101])
def test_a_wrong_partition_is_one_line(visits, wrong):
    with pytest.raises(BadInput, match="partition") as error:
        publish(visits, "count", partition=wrong, epsilon=1)
    assert "\n" not in str(error.value)


def test_a_restored_ledger_charges_what_every_partition_lost(visits, tmp_path):
    """January's charge must not hide that February's answer is lost."""
    ledger = tmp_path / "visits.ledger"
    count(visits, "2024-01", epsilon=1)
    shutil.copy(ledger, tmp_path / "backup")
    count(visits, "2024-02", epsilon=1)
    shutil.copy(tmp_path / "backup", ledger)
    with pytest.raises(ScopeRefused):
        count(visits, "2024-02", epsilon=1)
    assert Ledger(ledger).accept_restore() == Cost(1)
    count(visits, "2024-02", epsilon=1)
    assert Ledger(ledger).spent == Cost(2)


def test_a_dry_run_of_a_frame_tells_the_table_from_its_partitions(tmp_path):
    """A frame has no file that tells whether it is unchanged: what the ledger last answered about decides."""
    frame, book = pa.table({"ward": ["a", "b"]}), Ledger(tmp_path / "l.ledger")
    asked = {"epsilon": 1, "ledger": book}
    publish(frame, "count", **asked)
    publish(frame, "count", partition="ward=a", **asked)
    for partition in ({}, {"partition": "ward=a"}):
        assert dry_run_question(frame, "count", **asked, **partition).outlook.unchanged.repeated
    assert not dry_run_question(frame, "count", partition="ward=b", **asked).outlook.unchanged.repeated


def test_digits_of_other_records_leave_a_partition_as_it_is(tmp_path):
    """The type of decimals in a frame follows from all records."""
    asked = {"partition": "ward=a", "epsilon": 1, "ledger": tmp_path / "l.ledger"}
    for other in ("2", "200.25"):
        paid = pa.array([Decimal("1.50"), Decimal(other)])
        found = publish(pa.table({"ward": ["a", "b"], "paid": paid}), "count", **asked)
    assert found.repeated
    changed = pa.array([Decimal("1.05"), Decimal("2.00")])
    assert not publish(pa.table({"ward": ["a", "b"], "paid": changed}), "count", **asked).repeated


def by_hand(lines, parallel):
    """The total of (partition or None, ε) by the rule, written anew."""
    whole = sum(epsilon for part, epsilon in lines if part is None)
    parts = {part: sum(epsilon for other, epsilon in lines if other == part) for part, _ in lines if part is not None}
    return whole + (max(parts.values(), default=0) if parallel else sum(parts.values()))


def test_totals_equal_a_ledger_kept_by_hand(visits, tmp_path):
    ledger, lines = tmp_path / "visits.ledger", []
    values = ["2024-01", "2024-02", None]
    for step, (value, part) in enumerate(itertools.product(range(4), values)):
        epsilon = Fraction(1 + step % 3, 4)
        asked = {"epsilon": epsilon} | ({} if part is None else {"partition": f"month={part}"})
        publish(visits, "count", f"age > {value}", **asked)
        lines.append((part, epsilon))
        assert Ledger(ledger).spent == Cost(by_hand(lines, parallel=True))


def test_partitions_on_a_server(server, visits):  # noqa: F811
    place = server.address()
    for value in ("2024-01", "2024-02"):
        count(visits, value, ledger=place)
    publish(visits, "count", epsilon=1, ledger=place)
    book = Ledger(place)
    assert book.spent == Cost(Fraction(3, 2))
    assert not book.verify().problems
    assert dry_run_question(
        visits, "count", partition="month=2024-02", epsilon=HALF, ledger=place
    ).outlook.unchanged.repeated
    moved = book.copy_to(visits.parent / "moved.ledger")
    assert moved.spent == Cost(Fraction(3, 2))
    assert irisdp.Ledger(moved.place).spending.parts["2024-01"] == Cost(HALF)
