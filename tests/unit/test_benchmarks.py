"""The runner of `make bench` measures what it says: rows, rounds, ratios, growth, and what is missing."""

import importlib
import importlib.util
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "benchmarks.json"
FOLDER = ROOT / "benchmarks"
SCHEMA = json.loads((ROOT / "docs" / "formats" / "benchmark.schema.json").read_text("utf-8"))

sys.path.insert(0, str(FOLDER))  # programs, no package
try:
    from rows import FILES, NO_TIMES, registry
    from run import begun
    from side_by_side import environments, figures
    from side_by_side.environments import Environment
    from side_by_side.measure import measure
    from side_by_side.rows import Row, Side
    from side_by_side.targets import TARGETS, Target
finally:
    sys.path.pop(0)

WORK = """
import os, time
def wait(size, factor=1.0):
    def run():
        time.sleep(size * factor / 1000)
        return {"size": size}
    return run
def fail(size):
    raise ValueError("no such thing")
def late(size):
    return lambda: time.sleep(30)
def say(size):
    return lambda: print("a word that is nobody's answer")
def gone(size):
    return lambda: os._exit(3)
"""


def problems(document):
    return [f"{list(e.absolute_path)}: {e.message[:150]}" for e in Draft202012Validator(SCHEMA).iter_errors(document)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The smallest row, by the command line, twice; nothing is installed for it."""
    folder = tmp_path_factory.mktemp("bench")
    words = ["--only", "noise-1e", "--quick", "--rounds", "2", "--offline"]
    words += ["--out", str(folder / "bench.json"), "--environments", str(folder)]
    subprocess.run([sys.executable, str(FOLDER / "run.py"), *words], check=True, capture_output=True, cwd=ROOT)
    return json.loads((folder / "bench.json").read_text("utf-8"))


def test_a_run_is_as_described(run):
    assert problems(run) == []
    (row,) = run["rows"]
    assert row["name"] == "noise-1e-6"
    assert [at["size"] for at in row["sizes"]] == [1000, 10_000]
    assert not run["whole"]
    for at in row["sizes"]:
        ours, *others = at["sides"]
        assert len(ours["rounds"]) == 2
        assert "times_ours" not in ours
        there = [side for side in others if not side["missing"]]
        assert {side["name"] for side in there} == {"one random word a draw", "one pass over memory"}
        assert all(side["missing"] == "not installed, and not asked to be" for side in others if side not in there)
        for side in there:
            one, other = side["times_ours"]["clock"], side["seconds"]["clock"]
            assert one["lowest"] <= one["median"] <= one["highest"]
            assert other["median"] > 0
    assert {one["side"] for one in row["growth"]} == {ours["name"], *(side["name"] for side in there)}


def test_the_schema_refuses_what_is_no_run(run):
    """Negative control."""
    for spoil in (
        lambda run: run.pop("machine"),
        lambda run: run["rows"][0]["sizes"][0]["sides"][0].pop("seconds"),
        lambda run: run["rows"][0]["sizes"][0]["sides"][0].update(missing="not there"),
        lambda run: run["rows"][0]["sizes"][0]["sides"][0].update(kind="friend"),
    ):
        spoiled = json.loads(json.dumps(run))
        spoil(spoiled)
        assert problems(spoiled)


def measured(tmp_path, *sides, **more):
    file = tmp_path / "work.py"
    file.write_text(WORK, "utf-8")
    told = {"name": "row", "group": "group", "title": "Row", "unit": "things", "sizes": (1,), "quick": (1,)} | more
    row = Row(sides=(Side(name="Iris", work="wait"), *sides), **told)
    here = {"iris": Environment(sys.executable), "nowhere": Environment(missing="no such place")}
    return measure(row, str(file), (20,), 2, here.__getitem__)["sizes"][0]["sides"]


def test_sides_take_turns_and_parts_are_scaled(tmp_path):
    ours, part, slow = measured(
        tmp_path,
        Side(name="a half of it", work="wait", kind="peer", part=2),
        Side(name="three times", work="wait", kind="peer", options={"factor": 3}),
    )
    assert ours["told"] == {"size": 20}
    assert part["told"] == {"size": 10}
    assert part["seconds"]["clock"]["lowest"] >= 0.02
    assert slow["seconds"]["clock"]["lowest"] >= 0.06
    assert slow["times_ours"]["clock"]["highest"] > part["times_ours"]["clock"]["lowest"] / 2


def test_whoever_cannot_work_is_told_and_the_others_go_on(tmp_path):
    ours, *others = measured(
        tmp_path,
        Side(name="elsewhere", work="wait", kind="peer", environment="nowhere"),
        Side(name="broken", work="fail", kind="peer"),
        Side(name="slow", work="late", kind="peer"),
        Side(name="ended", work="gone", kind="peer"),
        Side(name="too large", work="wait", kind="peer", most=19),
        Side(name="loud", work="say", kind="peer"),
        patience=2,
    )
    assert [side["missing"] for side in others] == [
        "no such place", "failed: ValueError: no such thing", "stopped after 2 s", "failed: it said nothing",
        "left out beyond 19", "",
    ]  # fmt: skip
    assert len(ours["rounds"]) == 2


def test_figures():
    rounds = [{"clock": 1.0, "processor": 2.0}, {"clock": 3.0, "processor": 2.0}, {"clock": 2.0, "processor": 8.0}]
    ours = [{"clock": 0.5, "processor": 4.0}, {"clock": 1.0, "processor": 1.0}, {"clock": 2.0, "processor": 2.0}]
    assert figures.ratios(rounds, ours) == {
        "clock": {"median": 2.0, "lowest": 1.0, "highest": 3.0},
        "processor": {"median": 2.0, "lowest": 0.5, "highest": 4.0},
    }
    assert figures.seconds(rounds, part=10)["clock"]["median"] == 20
    found = figures.growth([10, 100, 1000], [1e-3, 1e-1, 1e1])
    assert all(math.isclose(value, 2) for value in found.values())
    assert figures.growth([10], [1.0]) is None


def test_every_row_has_its_work_and_every_peer_its_place():
    rows = registry()
    assert len({row.name for row, _ in rows}) == len(rows)
    for row, file in rows:
        module = importlib.import_module(f"rows.{Path(file).stem}")
        assert all(callable(getattr(module, side.work)) for side in row.sides), row.name
        assert {side.environment for side in row.sides} <= {"iris", "iris-0.1", *environments.PACKAGES}, row.name
        assert all(re.fullmatch(r"[a-z-]+==[0-9.]+", one) for pins in environments.PACKAGES.values() for one in pins)
    assert {f"{name}.py" for name in FILES} == {path.name for path in (FOLDER / "rows").glob("[a-z]*.py")}


def test_every_program_is_run():
    """Programs that measure times are those of rows; the others run once each, beside them."""
    programs = {path.name for path in FOLDER.glob("*.py")} - {"run.py"}
    assert programs - set(NO_TIMES) - {row.program for row, _ in registry()} == set()


def speeds(page):
    """Yield the first cells of the rows of a table of promises that are about speed."""
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 3 and ("speed" in cells[1] or cells[1] in OF_TIME):
            yield cells[1]


OF_TIME = ("starting", "certified readings", "audiences")
"""Promises that name seconds beside other things."""


def test_every_speed_that_is_promised_is_a_row():
    promised = set(speeds((ROOT / "docs" / "reliability.md").read_text("utf-8")))
    assert len(promised) > 10
    assert set(OF_TIME) < promised
    assert {row.promise for row, _ in registry()} - {""} == promised


def test_a_speed_that_nobody_measures_is_seen():
    """Negative control."""
    page = (
        "| promise | figure | command |\n|---|---|---|\n| speed of light | 3e8 m/s | `python benchmarks/light.py` |\n"
    )
    assert set(speeds(page)) == {"speed of light"}


def test_targets_are_about_rows_and_sides():
    rows = {row.name: row for row, _ in registry()}
    for target in TARGETS:
        row = rows[target.row]
        assert (target.size or row.sizes[-1]) in row.sizes
        assert target.side in ("", *(side.name for side in row.sides[1:]))
        assert all(
            side.most is None or side.most >= (target.size or 0) for side in row.sides if side.name == target.side
        )


def test_a_target_is_judged_at_its_size():
    def at(size, seconds, times):
        both = {"clock": {"median": 0.0}, "processor": {"median": seconds}}
        other = {"clock": {"median": 0.0}, "processor": {"median": times}}
        sides = [{"name": "Iris", "missing": "", "seconds": both},
                 {"name": "peer", "missing": "", "seconds": both, "times_ours": other}]  # fmt: skip
        return {"size": size, "sides": sides}

    row = {"name": "row", "sizes_of_the_whole": [10, 100], "sizes": [at(10, 1.0, 7.0), at(100, 6.0, 3.0)]}
    row["growth"] = [{"side": "peer", "exponent": 1.0}, {"side": "Iris", "exponent": 1.5}]
    told = {"what": "it", "began": "long ago", "row": "row", "tried": "all"}
    slow, fast = Target(aim=5, **told), Target(aim=5, side="peer", **told)
    assert slow.figure([row]) == 6
    assert not slow.reached(6)
    assert fast.figure([row]) == 3
    assert not fast.reached(3)
    assert Target(aim=5, side="peer", size=10, **told).figure([row]) == 7
    assert slow.figure([row | {"sizes": row["sizes"][:1]}]) is None
    growing = Target(aim=1.2, growth=True, **told)
    assert growing.figure([row]) == 1.5
    assert not growing.reached(1.5)
    assert growing.figure([row | {"sizes": row["sizes"][:1]}]) is None
    assert slow.figure([]) is None


@pytest.fixture(scope="module")
def page():
    pytest.importorskip("altair", reason="the plots extra is not installed")
    spec = importlib.util.spec_from_file_location("docs_benchmarks", ROOT / "docs" / "benchmarks.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_a_row_that_is_measured_later_says_so(page):
    kept = json.loads(KEPT.read_text("utf-8")) | {"whole": True, "commit": "abc"}
    said = begun(kept, quick=False, whole=False)
    assert {name: said[name] for name in said if name not in ("rows", "environments")}.items() <= kept.items()
    assert not begun({}, quick=False, whole=False)["whole"]
    assert begun(kept, quick=True, whole=True)["commit"] != "abc"
    row = kept["rows"][0] | {"commit": "def", "measured": "2026-11-23T22:17:30+00:00", "load": 12.3}
    assert problems(kept | {"rows": [row]}) == []
    assert "Measured later, 2026-11-23T22:17, at commit def; 12 processes waited." in "\n".join(page.table(row))
    assert "Measured later" not in "\n".join(page.table({k: v for k, v in row.items() if k != "commit"}))


def test_the_page_is_that_of_its_run(page):
    kept = json.loads(KEPT.read_text("utf-8"))
    assert problems(kept) == []
    assert page.page(kept) == (ROOT / "docs" / "benchmarks.md").read_text("utf-8")


def test_the_page_tells_of_whatever_is_missing(page, run):
    told = page.page(run | {"environments": {"opendp": {"packages": [], "missing": "no index was reached"}}})
    assert "no index was reached" in told
    assert "OpenDP: not installed, and not asked to be." in told
    assert "a trial" in told
    drawn = page.picture("Draws", run["rows"])
    assert {side for _, side, *_ in drawn.rows} == {"Iris", "one random word a draw", "one pass over memory"}
