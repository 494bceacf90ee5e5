"""Imports only go down, files stay readable, and `import irisdp` stays light."""

import ast
import graphlib
import importlib
import re
import subprocess
import sys
from pathlib import Path

from irisdp._hooks import HOOKS

SOURCE = Path(__file__).parents[2] / "src" / "irisdp"
FLOORS = [
    {"errors", "_aliases", "_html", "_lazy", "_moved", "_options", "_version"},
    {"_calendar", "_child_processes", "_events", "_files", "_frames"},
    {"_exact"},
    {"_hooks", "linprog"},
    {"privacy"},
    {"_sampling"},
    {"graphs"},
    {"mechanisms"},
    {"noise"},
    {"certify"},
    {"accounting"},
    {"consumers"},
    {"design"},
    {"_measurements"},
    {"baselines"},
    {"_tables"},
    {"_queries"},
    {"_ledger"},
    {"_release"},
    {"interpretation"},
    {"plots"},
    {"_views"},
    {"_explorer", "interop", "reproduction"},
    {"_cli", "__main__"},
]
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
# certify checks what design makes: sharing code would let one mistake hide in both.
APART = {"design": {"certify"}, "consumers": {"certify"}, "certify": {"linprog"}}
LONGEST_FILE = 800
# The verifier is one file so that a stranger can copy it, and explains itself to one who has read nothing else.
# Privacy of several pairs at once took it beyond 1100 lines, the graph of gaps to the winner beyond 1150.
LONGER_FILES = {"certify/verify_mechanism.py": 1370}


def package_of(parts):
    """Return the package of irisdp that a dotted name lies in; linear programs count as one of their own."""
    return "linprog" if parts[:2] == ["_exact", "linprog"] else parts[0]


def imported_rooms(path, text):
    """Yield the top-level rooms of irisdp that a file imports, at module level or inside functions."""
    package = ["irisdp", *path.relative_to(SOURCE).with_suffix("").parts]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: -node.level] + (node.module.split(".") if node.module else [])
            names = [base] if len(base) > 1 else [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "irisdp":
            base = node.module.split(".")
            names = [base] if len(base) > 1 else [[*base, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names if alias.name.startswith("irisdp.")]
        else:
            continue
        for name in names:
            yield package_of(name[1:])


def imported_files(path, text):
    """Yield the files of irisdp that a file imports, be it for type checkers only or inside a function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            if folder.with_suffix(".py").is_file():
                yield folder.with_suffix(".py")
                continue
            modules = [folder / f"{alias.name}.py" for alias in node.names]
            rooms = [folder / alias.name / "__init__.py" for alias in node.names]
            inside = [found for found in (*modules, *rooms) if found.is_file()]
            yield from inside or [folder / "__init__.py"]


def doors(text):
    """Yield the rooms of irisdp that are named in words, for whoever loads them by their name."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "import_module":
            first = node.args[0]
            if isinstance(first, ast.Constant) and str(first.value).startswith("irisdp."):
                yield first.value


def circle(imports):
    """Return files that import each other in a circle; none if they form floors."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as found:
        return found.args[1]
    return []


def climbs(path, text):
    """Return the rooms on higher floors that a file imports."""
    room = package_of(list(path.relative_to(SOURCE).with_suffix("").parts))
    if room == "__init__":
        return []
    forbidden = APART.get(room, set())
    return [other for other in imported_rooms(path, text) if LEVEL[other] > LEVEL[room] or other in forbidden]


FILES = sorted(SOURCE.rglob("*.py"))


def test_imports_only_go_down():
    climbing = {str(path.relative_to(SOURCE)): climbs(path, path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: rooms for name, rooms in climbing.items() if rooms} == {}


def test_one_file_calls_the_float_solver():
    callers = [path.relative_to(SOURCE).as_posix() for path in FILES if "import highspy" in path.read_text("utf-8")]
    assert callers == ["_exact/linprog/highs.py"]


def test_one_file_calls_higher_packages():
    """Only `_hooks.py` names higher packages, as text; what it names is there."""
    assert {path.name: found for path in FILES if (found := list(doors(path.read_text(encoding="utf-8"))))} == {}
    for hook in HOOKS.values():
        room, _, name = hook.rpartition(".")
        assert callable(getattr(importlib.import_module(room), name))


def test_a_door_elsewhere_is_seen():
    assert list(doors('importlib.import_module("irisdp.plots").plot')) == ["irisdp.plots"]
    assert list(doors('from importlib import import_module\nimport_module("irisdp._cli.main")')) == ["irisdp._cli.main"]
    assert list(doors('importlib.import_module("altair")')) == []


def test_a_climbing_import_is_seen():
    assert climbs(SOURCE / "privacy" / "_shape.py", "from .._release import publish") == ["_release"]
    assert climbs(SOURCE / "_exact" / "rationals.py", "def f():\n    import irisdp._cli.main") == ["_cli"]
    assert climbs(SOURCE / "design" / "_specs.py", "from ..certify import audit") == ["certify"]
    assert climbs(SOURCE / "certify" / "_audit.py", "from .._exact.linprog import Program") == ["linprog"]


def test_no_files_import_each_other_in_a_circle():
    # The package itself hands out names of every floor, and loads them when they are used.
    files = [path for path in FILES if path != SOURCE / "__init__.py"]
    assert circle({path: set(imported_files(path, path.read_text(encoding="utf-8"))) for path in files}) == []


def test_a_circle_is_seen():
    ledger, release = SOURCE / "_ledger" / "ledger.py", SOURCE / "_ledger" / "releases.py"
    back = "if TYPE_CHECKING:\n    from .ledger import Ledger"
    assert circle(
        {
            path: set(imported_files(path, text))
            for path, text in ((release, back), (ledger, "from .releases import Release"))
        }
    )


def test_every_room_stands_on_a_floor():
    rooms = {path.relative_to(SOURCE).with_suffix("").parts[0] for path in FILES} - {"__init__"}
    assert rooms <= set(LEVEL)


def test_no_file_is_too_long():
    """A file holds one whole idea; above the limit give a reason in `LONGER_FILES`."""
    lengths = {path.relative_to(SOURCE).as_posix(): len(path.read_text("utf-8").splitlines()) for path in FILES}
    too_long = {name: lines for name, lines in lengths.items() if lines > LONGER_FILES.get(name, LONGEST_FILE)}
    assert too_long == {}, f"the three longest files: {sorted(lengths.items(), key=lambda pair: -pair[1])[:3]}"


def test_an_init_only_exports_names():
    allowed = (ast.Expr, ast.ImportFrom, ast.Assign, ast.If)
    inits = [path for path in FILES if path.name == "__init__.py" and path.parent != SOURCE]
    others = {
        path.parent.name: type(node).__name__
        for path in inits
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if not isinstance(node, allowed)
    }
    assert others == {}


def test_the_picture_shows_the_floors():
    """From the top down: every room that is a folder, and none above one that imports it."""
    text = (SOURCE.parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")
    shown = re.findall(r"^   │ ([\w]+) ", text, flags=re.MULTILINE)
    assert set(shown) == {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    levels = [LEVEL[room] for room in shown]
    assert levels == sorted(levels, reverse=True)


def test_import_is_light():
    """`import irisdp` loads no engine, solver or plotting library."""
    code = (
        "import sys, irisdp; irisdp.Privacy(epsilon=1);"
        "print([m for m in ('duckdb','pyarrow','highspy','narwhals','sqlglot','typer','rich','pandas','scipy','altair',"
        "'vl_convert','irisdp.plots','irisdp._views')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
