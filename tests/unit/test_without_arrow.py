"""Only publishing needs PyArrow (docs/decisions/dependencies.md); its error names the missing package."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from irisdp._cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def typed(folder, *arguments):
    """Type a command in a Python that has no PyArrow; return its status, what it printed, and its error."""
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A release that was published with it, a spec, and a table."""
    place = tmp_path_factory.mktemp("without")
    (place / "t.csv").write_text("age\n" + "".join(f"{30 + k}\n" for k in range(60)))
    (place / "spec.json").write_text(json.dumps({"kind": "geometric", "n": 3, "privacy": {"ratio": 2}}))
    command = [sys.executable, "-m", "irisdp", "publish", "t.csv", "count", "age > 64", "--epsilon", "1"]
    subprocess.run([*command, "--out", "o.csv"], cwd=place, check=True, capture_output=True)
    return place


def test_readers_designers_and_checkers_do_without(folder):
    status, said, _ = typed(folder, "design", "spec.json", "--output", "m.json")
    assert status == 0 and json.loads((folder / "m.json").read_text())["privacy"]
    for command, told in (
        ("audit m.json", "m.json: holds"),
        ("sample m.json --input 2 -n 3", "\n"),
        ("interpret o.csv.release.json --value 7", "Published 7"),
        ("report o.csv.release.json --out r.html", "r.html"),
        ("plot m.json --output m.svg", "m.svg"),
        ("ledger t.ledger", "ε"),
        ("compare count --epsilon 1", "count"),
        ("reproduce --paper Gupte2010 --only Figure", "agrees"),
    ):
        found, said, error = typed(folder, *command.split())
        assert (found, error) == (0, ""), (command, error)
        assert told in said, (command, said)


def test_who_publishes_is_told_what_is_missing(folder):
    before = (folder / "t.ledger").read_bytes()
    status, said, error = typed(folder, "publish", "t.csv", "count", "age > 50", "--epsilon", "1")
    assert (status, said) == (2, "")
    assert error == "irisdp: DATA: needs the package pyarrow, which is not installed; pip install pyarrow\n"
    assert (folder / "t.ledger").read_bytes() == before
    status, said, _ = typed(folder, "publish", "t.csv", "count", "age > 50", "--epsilon", "1", "--dry-run")
    assert status == 0 and "nothing was spent" in said
