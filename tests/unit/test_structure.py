"""What measures the house is right about small ones, whose rooms, arrows and ways can be counted by hand."""

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def program(name):
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


FILES = {
    "src/irisdp/__init__.py": "",
    "src/irisdp/ground.py": "def low(value):\n    return [value]\n",
    "src/irisdp/first/__init__.py": "from .one import go\n",
    "src/irisdp/first/one.py": "from ..second import middle\ndef go(value):\n    return middle.on(value)\n",
    "src/irisdp/second/middle.py": (
        "def on(value):\n    from irisdp import ground\n    made = ground.low(value)\n"
        "    return last(made), ground.low(7)\n"
        "def last(made):\n    from .. import ground\n    return ground.low(made[0]) and end({'deep': made})\n"
        "def end(held):\n    import irisdp.ground as below\n    return below.low(held)\n"
    ),
    "benchmarks/clock.py": "import irisdp.first\nimport irisdp\nimport os\n",
}


@pytest.fixture
def house(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_rooms_arrows_and_floors_of_a_small_house(house):
    found = program("structure").structure(house)
    assert {name: found[name] for name in ("rooms", "arrows", "floors", "largest")} == {
        "rooms": 5,  # the face, ground, first, second, benchmarks
        "arrows": 4,  # benchmarks → first, benchmarks → the face, first → second, second → ground
        "floors": 4,  # benchmarks → first → second → ground
        "largest": "second",
    }


def test_arrows_in_a_circle_are_refused():
    with pytest.raises(ValueError, match="cycle"):
        program("structure").floors({"one": {"other"}, "other": {"one"}})


def test_ways_of_a_value_in_a_small_house(house, monkeypatch):
    monkeypatch.syspath_prepend(house / "src")
    outside = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "irisdp"}
    for name in outside:
        monkeypatch.delitem(sys.modules, name)
    from irisdp.first import go

    value = object()
    walk = program("journeys").Walk(house / "src" / "irisdp", value)
    earlier = sys.getprofile()
    sys.setprofile(walk.watch)
    try:
        go(value)
    finally:
        sys.setprofile(earlier)
        for name in [name for name in sys.modules if name.split(".")[0] == "irisdp"]:
            del sys.modules[name]
        sys.modules.update(outside)
    assert set(walk.entries) == {
        ("", "first/one.py:go"),
        ("first/one.py:go", "second/middle.py:on"),
        ("second/middle.py:on", "ground.py:low"),  # not the call with 7, and once only
        ("second/middle.py:last", "ground.py:low"),
        ("second/middle.py:end", "ground.py:low"),
    }
    document = walk.document()
    assert document["itself"] == document["made"] == [5, 3]


@pytest.mark.parametrize(("thing", "followed"), [([1], True), ([], False), ("text", False), (7, False), (int, False)])
def test_what_is_shared_is_not_followed(thing, followed):
    assert program("journeys").followed(thing) is followed


def test_a_condition_and_a_file_walk_no_further_than_in_version_0_1():
    walked = program("journeys").journeys(["condition in publish", "file in audit"])
    entries, files = walked["condition in publish"]["itself"]
    assert entries < 17
    assert files < 8
    assert walked["file in audit"]["itself"] == [2, 2]
