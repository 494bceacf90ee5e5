"""What a small release loads: nothing that only other commands, other tables or other questions need."""

import json
import subprocess
import sys

import pytest

from irisdp._tables.column_types import written_as
from irisdp._tables.columns import SQL_TYPES, Column, read_as

NEVER = (
    *("pydantic", "narwhals", "pandas", "polars", "highspy", "scipy", "altair", "networkx", "pyspark", "psycopg"),
    *("pyarrow.compute", "numpy.ma", "rich"),
    *("irisdp.certify", "irisdp.design", "irisdp.consumers", "irisdp._exact.linprog", "irisdp.baselines"),
    *(
        "irisdp.interpretation", "irisdp.plots", "irisdp._views", "irisdp._explorer", "irisdp.interop",
        "irisdp.reproduction",
    ),
    *(
        "irisdp._release.batching",
        "irisdp._release.batch_noise",
        "irisdp._release.batch_plan",
        "irisdp._release.running",
    ),
    *("irisdp._release.session", "irisdp._release.dry_run", "irisdp._release.plan_file", "irisdp._ledger.server_store"),
    *("irisdp._queries.apply", "irisdp._queries.sum_and_mean", "irisdp._queries.quantile"),
)  # fmt: skip
"""What no release of a text file loads that asks how many, or which is more."""

ASKED = {
    ("count",): (
        "sqlglot", "irisdp._queries.majority", "irisdp.mechanisms._depth_mechanism", "irisdp.noise",
        "irisdp.graphs._protocol",
    ),
    ("majority", "vote = 1"): ("irisdp._queries.histogram", "irisdp._measurements.plurality", "irisdp.noise"),
}  # fmt: skip
"""Questions, and what each does not load besides."""

CODE = """
import json, sys
from irisdp._cli.main import run
status = run(sys.argv[1:])
print(json.dumps([status, sorted(sys.modules)]))
"""


def loaded(folder, query):
    """Return the names of all modules that a release has loaded."""
    data = folder / "data.csv"
    data.write_text("educ,vote\n1,1\n1,0\n2,1\n")
    (folder / "groups.csv").write_text("educ\n1\n2\n")
    words = ["publish", str(data), *query, "--by", "educ", "--groups", str(folder / "groups.csv"), "--epsilon", "1"]
    words += ["--out", str(folder / "out.csv"), "--ledger", str(folder / "l.ledger")]
    done = subprocess.run([sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True)
    status, names = json.loads(done.stdout.splitlines()[-1])
    assert status == 0, done.stderr
    return names


@pytest.mark.parametrize("query", ASKED, ids=lambda query: query[0])
def test_a_release_loads_no_more_than_it_needs(query, tmp_path):
    names = loaded(tmp_path, query)
    assert [name for name in names if name in (*NEVER, *ASKED[query])] == []
    assert "duckdb" in names  # the list is that of a release, which has counted


ENDING = """
import atexit, sys, threading, time
from irisdp._cli.main import run
atexit.register(print, "at the end")
class Kept:
    def __del__(self):
        print("taken apart", flush=True)
kept = Kept()
if sys.argv[1] == "a thread":
    threading.Thread(target=lambda: (time.sleep(0.5), print("done"))).start()
del sys.argv[1]
run()
"""


def ended(case, *words):
    """Return the status, and what was printed, of a command in a process that has more to do at its end."""
    done = subprocess.run([sys.executable, "-c", ENDING, case, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[1:], done.stderr


def test_a_command_ends_at_once_unless_something_still_runs():
    assert ended("nothing", "--version") == (0, ["at the end"], "")
    assert ended("a thread", "--version") == (0, ["done", "at the end", "taken apart"], "")
    assert ended("nothing", "--nonsense")[0] == 2


def test_a_release_says_nothing_but_what_it_is_to_say(tmp_path):
    (tmp_path / "data.csv").write_text("educ,vote\n1,1\n1,0\n2,1\n")
    words = ["publish", "data.csv", "count", "--by", "educ", "--groups", "1,2", "--epsilon", "1"]
    done = subprocess.run([sys.executable, "-m", "irisdp", *words], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize("kind", SQL_TYPES)
@pytest.mark.parametrize("name", ["age", 'a "quoted" name', "données", "x'; --", "ORDER"])
def test_columns_are_read_as_if_a_parser_had_written_it(name, kind):
    column = Column(name, kind)
    assert written_as(column, kind) == read_as(column.reference, kind).sql("duckdb")
