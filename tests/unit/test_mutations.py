"""Mistakes are planted where they would be made, one at a time, and what is already wrong is found."""

import ast
from pathlib import Path

import pytest

from support.mutations import mutants_of
from support.rooms import ROOMS, TESTS

SOURCE = Path(__file__).parents[2] / "src" / "irisdp"


def written(source):
    return [ast.unparse(mutant.tree) for mutant in mutants_of(source)]


@pytest.mark.parametrize(
    ("source", "mistakes"),
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a <= b < c", ["a < b < c", "a > b < c", "a <= b <= c", "a <= b >= c"]),
        ("a + b", ["a - b"]),
        ("a ** -b", ["a * -b", "a ** b"]),
        ("not a", ["a"]),
        ("a and b", ["a or b"]),
        ("f(True)", ["pass", "f(False)"]),
        ("x = 2", ["x = 3", "x = 1"]),
        ("x = min(a)", ["x = max(a)"]),
        ("x = a.lower", ["x = a.upper"]),
        ("x = a if b else c", ["x = a", "x = c"]),
        ("if a:\n    raise E(1)", ["if not a:\n    raise E(1)", "if a:\n    pass"]),
        ("while a:\n    break", ["while not a:\n    break", "while a:\n    pass"]),
        ("a += 1", ["a -= 1", "pass", "a += 2", "a += 0"]),
    ],
)
def test_mistakes_of_each_kind(source, mistakes):
    assert sorted(written(source)) == sorted(mistakes)


@pytest.mark.parametrize(
    "source",
    [
        "x: int | None = None",
        '"text"',
        "__all__ = ['a', 'b']",
        "from a import b",
        "x = f'{a + 1}'",
        "def f(a: 1) -> 2: ...",
    ],
)
def test_what_says_nothing_when_it_runs_is_left_alone(source):
    assert written(source) == []


def test_the_text_itself_stays_as_it_is():
    source = (SOURCE / "privacy" / "_operator.py").read_text(encoding="utf-8")
    found = mutants_of(source)
    assert len(found) > 60
    assert all(ast.unparse(mutant.tree) != ast.unparse(ast.parse(source)) for mutant in found)
    assert all(1 <= mutant.line <= source.count("\n") for mutant in found)


def test_rooms_name_tests_that_are_there():
    assert all((TESTS / name).is_file() for tests in ROOMS.values() for name in tests)
    assert all((SOURCE / room).is_dir() for room in ROOMS)
