"""Codes such as 01234, 1E2 or +5 stay codes: a declared value counts the records that spell it so, and no others.

Each system of codes is a random set of spellings, of which many are one number. A table of them is kept in every
container, and every query that names values is asked about it, so that the true counts behind the answers are seen.
"""

import csv
import io
import json
import re
import sqlite3
from collections import Counter
from contextlib import closing

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from support.seeds import fresh_random
from support.sweeps import tried

pytestmark = pytest.mark.usefixtures("one_engine")

ODD = [
    "+{0}",
    "-{0}",
    "\u2212{0}",
    "0{0}",
    "00{0}",
    "{0}.",
    "{0}.0",
    "{0}.00",
    " {0}",
    "{0} ",
    "\u00a0{0}",
    "{0}\t",
    "'{0}",
]
ODD += [
    "{0}e0",
    "{0}E0",
    "{0}E+00",
    "{0}e-0",
    ".{0}",
    "0x{0}",
    "{0}_0",
    "{0},0",
    "{0}%",
    "{0}/1",
    "{0}f",
    "#{0}",
    '"{0}"',
]
WORDS = ["XYZ", "nan", "NaN", "inf", "true", "none", "null", "NULL", "a, b", "\u00e9", "e\u0301", "1E2", "100", "1e2"]
DIGITS = [
    "0123456789",
    "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669",
    "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19",
]


def system(pick):
    """Return spellings that a table holds and some that it does not, with how often each occurs."""
    numbers = [str(pick.choice([0, 1, 7, 12, 100, 1234, 2**53 + 1])) for _ in range(2)]
    spelt = {number.translate(str.maketrans(DIGITS[0], digits)) for number in numbers for digits in DIGITS}
    spelt |= {form.format(number) for number in numbers for form in pick.sample(ODD, 6)}
    spelt |= set(pick.sample(WORDS, 4))
    return {value: pick.choice([0, 1, 2, 3]) for value in sorted(spelt)}


def written(values, delimiter=",", *, x=True):
    out = io.StringIO(newline="")
    rows = [["code", "x"], *([value, "1"] for value in values)]
    csv.writer(out, delimiter=delimiter).writerows(rows if x else [[value] for value, _ in rows])
    return out.getvalue()


def in_sqlite(folder, values, kind):
    with closing(sqlite3.connect(folder / "t.db")) as database, database:
        database.execute(f"CREATE TABLE t (code {kind}, x INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, 1)", [[value] for value in values])
    return f"sqlite:///{folder}/t.db#t", {}


def in_file(path, content):
    path.write_text(content, encoding="utf-8", newline="")
    return path, {}


def in_lines(folder, values):
    lines = "".join(json.dumps({"code": value, "x": 1}) + "\n" for value in values)
    return in_file(folder / "t.jsonl", lines)[0], {"types": {"code": "text", "x": "integer"}}


def in_parquet(folder, values):
    pq.write_table(pa.table({"code": values, "x": [1] * len(values)}), folder / "t.parquet")
    return folder / "t.parquet", {}


KEPT = {
    "csv": lambda folder, values: in_file(folder / "t.csv", written(values)),
    "tsv": lambda folder, values: in_file(folder / "t.tsv", written(values, "\t")),
    "json lines": in_lines,
    "parquet": in_parquet,
    "pandas": lambda _, values: (pd.DataFrame({"code": pd.Series(values, dtype=object), "x": 1}), {}),
    "pandas, categories": lambda _, values: (pd.DataFrame({"code": pd.Categorical(values), "x": 1}), {}),
    "polars": lambda _, values: (pl.DataFrame({"code": values, "x": [1] * len(values)}), {}),
    "sqlite": lambda folder, values: in_sqlite(folder, values, "TEXT"),
    "sqlite, untyped": lambda folder, values: in_sqlite(folder, values, ""),
}
CODE = re.compile(r"[+-]?[0-9]+[.]?([eE][+-]?[0-9]+)?", re.ASCII)
UNTYPED = ("csv", "tsv", "pandas", "pandas, categories", "sqlite, untyped")


def counts(data, *words, **options):
    """Return the true counts behind an answer, by what the answer names."""
    planned = irisdp.plan(data, *words, epsilon=1, **options)
    groups, categories = planned.groups, planned.query.categories
    found = planned.query.statistics(planned.table, condition=planned.condition, groups=groups, unit=None)
    named = groups or categories
    names = [label[-1] for label in named.labels] if named else [None]
    if hasattr(found, "codes"):
        told = Counter(found.codes.tolist())
        return {name: told[place] for place, name in enumerate(names)}
    held = next(getattr(found, name) for name in ("yes", "total", "counts") if getattr(found, name, None) is not None)
    return dict(zip(names, held.ravel().tolist(), strict=True))


def quoted(value):
    return "'" + value.replace("'", "''") + "'"


FORMS = {
    "a list": lambda values, _: values,
    "text": lambda values, _: ",".join('"' + value.replace('"', '""') + '"' for value in values),
    "a mapping": lambda values, _: {"code": values},
    "a frame": lambda values, _: pa.table({"code": values}),
    "a file": lambda values, folder: in_file(folder / "declared.csv", written(values, x=False))[0],
}


@pytest.mark.parametrize("kind", KEPT)
def test_a_declared_value_counts_the_records_that_spell_it_so_whatever_else_is_declared(kind, tmp_path):
    pick = fresh_random(f"codes in {kind}")
    for number in range(tried(1, 200)):
        times = {**system(pick), "00": 0}
        records = [value for value, many in times.items() for _ in range(many)]
        pick.shuffle(records)
        folder = tmp_path / str(number)
        folder.mkdir()
        data, options = KEPT[kind](folder, records)
        values = [value for value in pick.sample(sorted(times), pick.randint(3, len(times))) if value != "00"]
        right = {value: times[value] for value in values}
        form, declare = pick.choice(sorted(FORMS.items()))
        declared = {"categories": declare(values, folder), **options}
        grouped = {"by": "code", "groups": declare(values, folder), **options}
        for words in (["count"], ["count", "x = 1"], ["at-least", 2, "x > 0"], ["sum", "x"]):
            bounds = {"lower": 0, "upper": 1, "step": 1} if words[0] == "sum" else {}
            assert counts(data, *words, **grouped, **bounds) == right, (words, form)
        for words in (
            ["plurality", "code"],
            ["top", 1, "code"],
            ["ranking", "code"],
            ["histogram", "code"],
            ["sizes", "code"],
        ):
            assert counts(data, *words, **declared) == right, (words, form)
        if not kind.startswith("sqlite"):
            assert counts(data, "column", "code", relation="exchange", **declared) == right, form
        listed = ", ".join(map(quoted, values))
        assert counts(data, "count", f"code IN ({listed})", **options) == {None: sum(right.values())}
        assert counts(data, "count-distinct", "code", f"code IN ({listed})", **options) == {
            None: sum(many > 0 for many in right.values())
        }
        cases = " ".join(f"WHEN {quoted(value)} THEN 'c{place}'" for place, value in enumerate(values))
        named = {f"c{place}": many for place, many in enumerate(right.values())}
        assert counts(data, "count", by=[f"case = CASE code {cases} END"], groups=list(named), **options) == named
        codes = [value for value in values if CODE.fullmatch(value)]
        if codes and kind in UNTYPED:
            right_of_codes = {None: sum(right[code] for code in codes)}
            assert counts(data, "count", f"code IN (00, {', '.join(codes)})", **options) == right_of_codes, codes


def test_another_group_never_changes_what_a_group_counts(tmp_path):
    data, _ = in_file(tmp_path / "t.csv", "code\n01234\n1234\n1234\n1E3\n1000\n")
    for others in ("", ",XYZ", ",1E3,1000", ",1234.0", ",+1234, 5 "):
        found = counts(data, "count", by="code", groups="01234,1234" + others)
        assert (found["01234"], found["1234"], found.get("1000", 1)) == (1, 2, 1), others
