"""Folders and patterns of Parquet files: one table and one budget, whatever its files are called and however many."""

import contextlib
import glob
import os
import random
import shutil
import struct
import time
from dataclasses import replace
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput, ScopeRefused
from irisdp._cli import run
from irisdp._queries import enumerate_keys, read_groups
from irisdp._queries.statistics import count_records
from irisdp._tables import locations, parquet
from irisdp._tables import parquet as folders
from irisdp._tables.expressions import read_condition
from irisdp._tables.table import open_table

ROWS = [
    {"g": "a", "v": 1, "x": 0.5, "year": "2023", "month": "1"},
    {"g": "b", "v": 2, "x": float("nan"), "year": "2023", "month": "2"},
    {"g": None, "v": 3, "x": 2.5, "year": "2024", "month": "1"},
    {"g": "a", "v": None, "x": None, "year": "2024", "month": "1"},
    {"g": "a", "v": 5, "x": 1e300, "year": None, "month": "a b/ü"},
]
KINDS = pa.schema([("g", pa.string()), ("v", pa.int64()), ("x", pa.float64())])


def put(path, rows, schema=KINDS):
    path.parent.mkdir(parents=True, exist_ok=True)
    held = [{name: row[name] for name in schema.names} for row in rows]
    pq.write_table(pa.Table.from_pylist(held, schema), path)
    return path


def partitioned(root, names):
    for place, row in enumerate(ROWS):
        year = row["year"] or "__HIVE_DEFAULT_PARTITION__"
        month = {"a b/ü": "a%20b%2F%C3%BC"}.get(row["month"], row["month"])
        put(root / f"year={year}" / f"month={month}" / f"{names[place]}.parquet", [row])
    return root


@pytest.fixture
def sales(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return partitioned(tmp_path / "sales", "abcde")


def rows_of(table):
    names = [column.name for column in table.columns]
    listed = ", ".join(f'"{name}"' for name in names)
    found = table.run(f"SELECT {listed} FROM data", table.columns).to_pylist()
    return sorted(repr(sorted(row.items())) for row in found)


def test_partitions_are_columns_and_every_column_is_read_the_same_by_every_way(sales):
    table = open_table(sales)
    kinds = {column.name: column.kind.name for column in table.columns}
    assert kinds == {"g": "TEXT", "month": "UNTYPED", "v": "INTEGER", "x": "NUMBER", "year": "UNTYPED"}
    assert rows_of(table) == sorted(repr(sorted(row.items())) for row in ROWS)
    for names in (["v"], ["v", "year"], ["year"], ["month", "year"], ["x", "month"], ["g"]):
        asked = [table.column(name, "by") for name in names]
        listed = ", ".join(names)
        found = table.run(f"SELECT {listed} FROM data", asked).to_pylist()
        expected = [{name: row[name] for name in names} for row in ROWS]
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), names


DAY_ZERO = 2_440_588
"""The Julian day of 1970-01-01, from which instants in 96 bits are counted."""


def write_instants(path, *, strange):
    """Write an instant in 96 bits; a strange one is twelve bytes of zero, which engines take for different ones."""
    path.parent.mkdir(parents=True)
    moment = pa.array([np.datetime64("2001-01-01", "us")])
    told = {"use_deprecated_int96_timestamps": True, "use_dictionary": False, "compression": "none"}
    pq.write_table(pa.table({"t": moment, "n": [1]}), path, write_statistics=False, store_schema=False, **told)
    days = (np.datetime64("2001-01-01") - np.datetime64("1970-01-01")).astype(int) + DAY_ZERO
    before, after = struct.pack("<qI", 0, days), bytes(12)
    whole = path.read_bytes()
    assert whole.count(before) == 1
    path.write_bytes(whole.replace(before, after) if strange else whole)


@pytest.mark.parametrize("how", ["few", "many", "a file", "beside another column"])
def test_what_an_old_instant_is_read_as_is_no_matter_of_other_records(tmp_path, how):
    write_instants(tmp_path / "t" / "town=a" / "p.parquet", strange=True)
    for town in range(250 if how == "many" else 1):
        write_instants(tmp_path / "t" / f"town=b{town}" / "p.parquet", strange=False)
    table = open_table(tmp_path / "t" / "town=a" / "p.parquet" if how == "a file" else tmp_path / "t")
    columns = [table.column(name, "by") for name in (("t",) if how == "a file" else ("t", "town"))]
    columns += [table.column("n", "by")] if how == "beside another column" else []
    found = table.run("SELECT count(*) AS n FROM data WHERE t < TIMESTAMP '2000-01-01'", columns).to_pylist()
    assert found == [{"n": 1}]
    assert table.run("SELECT min(t) AS t FROM data", [columns[0]]).to_pylist() == [{"t": datetime(1970, 1, 1)}]


@pytest.mark.parametrize("names", [["v"], ["v", "year"], ["x", "month"], ["g"]])
def test_how_many_partitions_there_are_does_not_decide_how_they_are_read(sales, monkeypatch, names):
    ways = []
    for name in ("locked_connection", "streaming_connection"):
        plain = getattr(parquet, name)
        monkeypatch.setattr(parquet, name, lambda *told, plain=plain, name=name: (ways.append(name), plain(*told))[1])
    for towns in (1, 300):
        few = folders.open_folder(str(sales))[1]
        replace(few, files=few.files * towns).connect(names).close()
    assert len(ways) == 2 and len(set(ways)) == 1


@pytest.mark.parametrize("value", ["Jane Roe?", "a*", "**", "[x]", "a[!b]c", "]", "{a,b}"])
def test_a_value_that_looks_like_a_pattern_is_a_value(tmp_path, value):
    for town, number in ((value, 1), ("Jane RoeX", 10), ("ab", 100), ("x", 1000)):
        path = tmp_path / "t" / f"town={town}" / "p.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table({"v": [number]}), path)
    table = open_table(tmp_path / "t")
    assert sorted(table.run("SELECT v FROM data", [table.column("v", "by")])["v"].to_pylist()) == [1, 10, 100, 1000]
    both = [table.column(name, "by") for name in ("v", "town")]
    assert {"v": 1, "town": value} in table.run("SELECT v, town FROM data", both).to_pylist()
    alone = open_table(tmp_path / "t" / f"town={value}" / "p.parquet")
    assert alone.run("SELECT v FROM data", [alone.column("v", "by")])["v"].to_pylist() == [1]


def test_no_value_of_a_partition_is_quoted(tmp_path):
    for town, names in (("Jane Roe", ["v"]), ("ab", ["w"])):
        put_empty = tmp_path / "t" / f"town={town}" / "p.parquet"
        put_empty.parent.mkdir(parents=True)
        pq.write_table(pa.table({name: [1] for name in names}), put_empty)
    with pytest.raises(BadInput) as caught:
        open_table(tmp_path / "t")
    assert "Jane" not in str(caught.value) and "town=…/p.parquet" in str(caught.value)


def test_counts_by_partitions_conditions_and_types(sales):
    table = open_table(sales, types={"year": "integer"})
    found = count_records(
        table,
        condition=read_condition("v > 1 AND month = '1'", table.columns),
        groups=read_groups(table, "year", [2023, 2024]),
    )
    assert (found.total.tolist(), found.yes.tolist(), found.no.tolist()) == ([2, 2], [0, 1], [2, 0])
    untyped = open_table(sales)
    assert enumerate_keys(untyped, "year").counts.tolist() == [2, 2]
    assert count_records(untyped).total.tolist() == [5]


def test_neither_names_nor_order_nor_place_of_files_say_anything(sales, tmp_path, monkeypatch):
    digest, rows = open_table(sales).digest(), rows_of(open_table(sales))
    shutil.move(sales, tmp_path / "elsewhere")
    other = partitioned(tmp_path / "sales", "zyxwv")
    assert open_table(other).digest() == digest
    swapped = tmp_path / "swapped"
    for row in ROWS:  # month outside of year
        year = row["year"] or "__HIVE_DEFAULT_PARTITION__"
        month = {"a b/ü": "a%20b%2F%C3%BC"}.get(row["month"], row["month"])
        put(swapped / f"month={month}" / f"year={year}" / f"{row['v']}.parquet", [row])
    assert open_table(swapped).digest() == digest
    assert rows_of(open_table(swapped)) == rows
    real = os.scandir

    def shuffled(place):
        with real(place) as found:
            return contextlib.nullcontext(random.Random(1).sample(some := list(found), len(some)))

    monkeypatch.setattr(locations.os, "scandir", shuffled)
    assert open_table(other).digest() == digest
    (other / "year=2023" / "month=1").rename(other / "year=2023" / "month=3")
    assert open_table(other).digest() != digest


def test_columns_in_another_order_are_the_same_columns(tmp_path):
    put(tmp_path / "t" / "a.parquet", ROWS[:2])
    put(tmp_path / "t" / "b.parquet", ROWS[2:], pa.schema(list(KINDS)[::-1]))
    expected = [{name: row[name] for name in ("g", "v", "x")} for row in ROWS]
    assert rows_of(open_table(tmp_path / "t")) == sorted(repr(sorted(row.items())) for row in expected)
    table = open_table(tmp_path / "t")
    assert sorted(map(repr, table.run("SELECT v FROM data", [table.columns[1]]).to_pylist())) == sorted(
        repr({"v": row["v"]}) for row in ROWS
    )


def test_one_table_has_one_budget_whatever_leads_to_it(sales, tmp_path):
    (tmp_path / "link").symlink_to("sales")
    first = irisdp.publish("sales", "count", "v > 1", epsilon=1)
    for way in (sales, "sales/", "./sales", tmp_path / "link", "sales/../sales"):
        again = irisdp.publish(way, "count", "v > 1", epsilon=1)
        assert again.repeated
        assert again.answers.values == first.answers.values
    assert irisdp.Ledger("sales.ledger").spent.epsilon == 1
    assert sorted(path.name for path in tmp_path.rglob("*.ledger")) == ["sales.ledger"]


@pytest.mark.parametrize("part", ["sales/year=2024", "sales/year=2024/*/*.parquet", "sales/year=*/month=1/*.parquet"])
def test_a_part_of_a_table_has_its_ledger_and_another_name(sales, part):
    assert sum(count_records(open_table(part)).total.tolist()) in (2, 3)
    assert {column.name for column in open_table(part).columns} == {"g", "v", "x", "year", "month"}
    irisdp.publish("sales", "count", "v > 1", epsilon=1)
    with pytest.raises(ScopeRefused, match="uses table sales; you asked for table sales/"):
        irisdp.publish(part, "count", "v > 1", epsilon=1)
    assert irisdp.Ledger("sales.ledger").spent.epsilon == 1


@pytest.mark.parametrize("named", ["sales/year=2024/month=1/d.parquet", "link.parquet"])
def test_a_file_of_a_partition_is_a_part_of_the_folder(sales, named):
    """A ledger beside it would be a file within the table, which then were none."""
    os.symlink("sales/year=2024/month=1/d.parquet", "link.parquet")
    found = irisdp.publish(named, "count", "year = 2024 AND month = 1", epsilon=50)
    assert found.answers.values == [1] and found.ledger == sales.parent / "sales.ledger"
    assert found.plan.table.location.name == "sales/year=2024/month=1/d.parquet"
    assert not [path for path in sales.rglob("*") if path.is_file() and path.suffix != ".parquet"]
    assert len(rows_of(open_table(sales))) == len(ROWS)
    with pytest.raises(ScopeRefused):
        irisdp.publish(sales, "count", epsilon=1)


def test_a_file_of_a_partition_that_has_a_ledger_keeps_it(sales):
    file = sales / "year=2024" / "month=1" / "d.parquet"
    irisdp.Ledger(file.with_suffix(".ledger")).set_limit(1)
    assert irisdp.publish(file, "count", epsilon=1).ledger == file.with_suffix(".ledger")


def test_a_pattern_that_names_all_files_is_known_by_its_content(sales):
    irisdp.publish("sales", "count", "v > 1", epsilon=1)
    assert irisdp.publish("sales/**/*.parquet", "count", "v > 1", epsilon=1).repeated


def bad_links(sales):
    (sales / "more.parquet").symlink_to(sales / "year=2023/month=1/a.parquet")


def bad_folder_link(sales):
    (sales / "year=2025").symlink_to("year=2024")


def bad_hard_link(sales):
    os.link(sales / "year=2023/month=1/a.parquet", sales / "year=2023/month=1/b.parquet")


def bad_other(sales):
    (sales / "readme.txt").write_text("x")


def bad_parquet(sales):
    (sales / "year=2023/month=1/a.parquet").write_bytes(b"PAR1nonsensePAR1")


def bad_schema(sales):
    put(sales / "year=2023/month=1/b.parquet", ROWS[:1], KINDS.set(1, pa.field("v", pa.int32())))


def bad_missing_column(sales):
    put(sales / "year=2023/month=1/b.parquet", ROWS[:1], KINDS.remove(1))


def bad_partition(sales):
    put(sales / "year=2023/b.parquet", ROWS[:1])


def bad_delta(sales):
    (sales / "_delta_log").mkdir()


def bad_name_of_column(sales):
    (sales / "year=2023").rename(sales / "YEAR=2023")


def bad_emptiness(sales):
    shutil.rmtree(sales)
    sales.mkdir()


BAD = {
    bad_links: "holds 'more.parquet', to which a link leads",
    bad_folder_link: "holds 'year=…', to which a link leads",
    bad_hard_link: "holds one file under two names (hard links)",
    bad_other: "holds 'readme.txt', which is no .parquet file",
    bad_parquet: "holds 'year=…/month=…/a.parquet', which is no Parquet file that can be read",
    bad_schema: "which differ in the column 'v'",
    bad_missing_column: "which differ in the column 'v'",
    bad_partition: "which has other partitions",
    bad_delta: "is a table of Delta Lake",
    bad_name_of_column: "which has other partitions",
    bad_emptiness: "finds no .parquet file in 'sales'",
}


@pytest.mark.parametrize("spoil", BAD, ids=lambda spoil: spoil.__name__)
def test_what_is_wrong_with_a_folder_is_one_line_and_costs_nothing(sales, spoil, capsys):
    spoil(sales)
    assert run(["publish", "sales", "count", "--epsilon", "1"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert BAD[spoil] in printed.err
    assert len(printed.err.splitlines()) == 1
    assert not os.path.exists("sales.ledger")


@pytest.mark.parametrize(("data", "options", "said"), [
    ("sales/*.txt", {}, "finds no .parquet file"),
    ("nowhere/*.parquet", {}, "finds no .parquet file"),
    ("sales/*", {}, "which is no .parquet file"),
    ("sale[s]/**/*.parquet", {}, "has a pattern where the table's own folder is named"),
    ("sales/*/../**/*.parquet", {}, "finds no .parquet file"),
    ("sales", {"encoding": "latin-1"}, "encoding: belongs to"),
    ("sales", {"types": {"v": "number"}}, "types: gives v a type, which its file does already"),
    ("sales", {"out": "sales/o.parquet"}, "out: sales/o.parquet lies in the data"),
    ("sales", {"out": "sales/year=2023/o.csv"}, "out: sales/year=2023/o.csv lies in the data"),
    ("sales", {"ledger": "sales/own.ledger"}, "ledger: .* lies in the folder of the data"),
    ("/", {}, "is the root of the file system"),
    ("sales/" + "*/" * 50 + "*.parquet", {}, "a pattern of more than 50 parts"),
    ("sales/**", {}, "holds 'year=[^/]*', which is no .parquet file"),
])  # fmt: skip
def test_what_is_asked_wrongly_of_a_folder(sales, data, options, said):
    with pytest.raises(BadInput, match=said):
        irisdp.publish(data, "count", **{"epsilon": 1, **options})
    assert not os.path.exists("sales.ledger")


def test_hidden_files_are_passed_over(sales):
    before = open_table(sales).digest()
    (sales / "_SUCCESS").write_text("")
    (sales / ".part.crc").write_bytes(b"x")
    (sales / "_temporary").mkdir()
    (sales / "_temporary" / "x.parquet").write_bytes(b"x")
    assert open_table(sales).digest() == before


def test_a_file_with_several_names_has_no_default_ledger(sales, tmp_path):
    os.link(sales / "year=2023/month=1/a.parquet", tmp_path / "other.parquet")
    with pytest.raises(BadInput, match=r"a.parquet has 2 names \(hard links\)"):
        irisdp.publish(sales, "count", epsilon=1)
    irisdp.publish(sales, "count", epsilon=1, ledger="own.ledger")


@pytest.mark.parametrize("change", ["written", "added", "removed"])
def test_a_folder_that_changes_while_it_is_read_is_not_answered_about(sales, monkeypatch, change):
    from irisdp._release import pipeline as publishing

    real = publishing.read_statistics

    def read_and_change(*arguments):
        found = real(*arguments)
        file = sales / "year=2023/month=1/a.parquet"
        if change == "removed":
            file.unlink()
        else:
            put(file if change == "written" else file.with_name("z.parquet"), ROWS[:1] * 2)
        return found

    monkeypatch.setattr(publishing, "read_statistics", read_and_change)
    with pytest.raises(BadInput, match="changed while it was read"):
        irisdp.publish(sales, "count", epsilon=1)
    assert irisdp.Ledger("sales.ledger").spent.epsilon == 0


def test_a_record_in_one_file_changes_no_other_in_any(tmp_path):
    """Hostile values in one file: text that is no UTF-8, NaN, instants beyond the calendar; others count as before."""
    schema = pa.schema([("g", pa.binary()), ("x", pa.float64()), ("t", pa.timestamp("us"))])
    good = [{"g": b"a", "x": 70.0, "t": 0}, {"g": b"b", "x": None, "t": 1}]
    bad = [{"g": b"\xff", "x": float("nan"), "t": 2**62}, {"g": b"b", "x": float("inf"), "t": -(2**62)}]

    def write(name, rows):
        table = pa.Table.from_pylist(rows, schema)
        text = table.column("g").chunk(0).view(pa.string())
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(table.set_column(0, "g", text), path)

    def counts(folder):
        table = open_table(tmp_path / folder)
        asked = ("x > 64", "NOT x > 64", "g = 'b'", "t > '1960-01-01'", "x IS NULL", "g IS NULL", "t IS NULL")
        return [int(count_records(table, condition=read_condition(each, table.columns)).yes[0]) for each in asked]

    write("good/a.parquet", good)
    write("bad/a.parquet", bad)
    write("both/a.parquet", good)
    write("both/b.parquet", bad)
    assert counts("both") == [one + other for one, other in zip(counts("good"), counts("bad"), strict=True)]


PATTERNS = (
    *("*", "*.parquet", "**/*.parquet", "**/**/*.p*", "*/*", "a/**/b/*", "**/a/**/*.parquet", "[ab]/?/*.parquet", "**"),
    *(
        "a/[!b]*/**/x.parquet", "**/b/x.parquet", "*/b/**/**/*", "**/*/**/*", "a*/b", "[*]/x.parquet", "**/b/**",
        "c/*/a/x",
    ),
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_name_what_they_name_elsewhere(tmp_path, pattern):
    chance = random.Random(pattern)
    for _ in range(60):
        parts = [chance.choice(("a", "b", "c", "ab", ".a", "_b", "_b=1", "*", "x")) for _ in range(chance.randrange(5))]
        file = tmp_path.joinpath(
            *parts, chance.choice(("x", "y", "x.parquet", "y.parquet", ".x.parquet", "_x.parquet"))
        )
        with contextlib.suppress(OSError):  # a file is there where a folder would be, or the other way round
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
    there = glob.glob(pattern, root_dir=tmp_path, recursive=True)
    shown = {path for path in there if not any(part[0] == "_" and "=" not in part for part in path.split("/") if part)}
    found = [os.path.relpath(path, tmp_path) for path in locations.listed_files(tmp_path, pattern)]
    assert len(found) == len(set(found))
    assert set(found) == {os.path.normpath(path) for path in shown}


@pytest.mark.parametrize("way", ["sales", "sales/**/*.parquet", "sales/*/*/*.parquet"])
def test_a_folder_of_too_many_names_is_refused(sales, monkeypatch, way):
    assert sum(1 for _ in sales.rglob("*")) == 12
    monkeypatch.setattr(locations, "MOST_NAMES", 12)
    assert len(rows_of(open_table(way))) == len(ROWS)
    (sales / "year=2023" / "month=1" / ".hidden").touch()
    with pytest.raises(BadInput, match="data: has more than 12 files and folders to look through; name a folder"):
        irisdp.publish(way, "count", epsilon=1)
    assert not os.path.exists("sales.ledger")


@pytest.mark.parametrize("part", ["", "/**/*.parquet", "/**/*/**/*.parquet", "/" + "*/" * 20 + "*.parquet"])
def test_folders_that_lead_into_themselves_or_are_deep_are_refused_soon(sales, part):
    for name in ("loop", "round"):
        (sales / name).symlink_to(sales)
    since = time.process_time()
    with pytest.raises(BadInput, match="holds 'loop', to which a link leads"):
        open_table(f"sales{part}")
    home = os.getcwd()
    for _ in range(400):  # below what a path may be in all, one by one
        os.mkdir("deep-down-it-goes")
        os.chdir("deep-down-it-goes")
    os.chdir(home)
    with pytest.raises(BadInput, match=r"cannot be listed|finds no .parquet file"):
        open_table(f"deep-down-it-goes{part}")
    assert time.process_time() - since < 2


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc here")
@pytest.mark.parametrize(
    "part", ["", "/*", "/**/*.parquet", "/**/*/**/*.parquet", "/*/*/*.parquet", "/self/**/x.parquet"]
)
def test_what_is_no_folder_of_tables_is_refused_soon(part):
    since = time.process_time()
    with pytest.raises(BadInput) as raised:
        open_table(f"/proc{part}")
    assert "\n" not in str(raised.value)
    assert time.process_time() - since < 2
