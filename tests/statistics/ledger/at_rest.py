"""Publish, and ask wrongly, of a table whose records hold a mark; look for it wherever something was written.

    at_rest.py FOLDER|server     where the ledger is: in a folder, or on a server that is started for this

What is looked through: all that was printed, each file that was written, and of a server its tables, its log, and
whatever else its folder holds. Printed as JSON.
"""

import json
import os
import sys
import tempfile
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from irisdp import Ledger
from support.commands import irisdp
from support.postgresql import started

MARK = "Zweig-4711"
DECLARED = "declared-0815"
"""A group that is named in the question: where it is not found, nothing was looked through."""
ASKED = (
    ["count", "--by", "g", "--groups", f"{DECLARED},b"],
    ["count", "v > 1"],
    ["majority", "v = 1", "--by", "g", "--groups", f"{DECLARED},b"],
    ["plurality", "g", "--categories", f"{DECLARED},b"],
    ["histogram", "v", "--bins", "1,2,3"],
    ["sum", "v", "--lower", "0", "--upper", "9", "--step", "1"],
    ["median", "v", "--bins", "1,2,3"],
)
WRONG = (
    ["count", "w = 1"],
    ["count", "g > 1 AND g = 'a'"],
    ["count", "sum(v) > 1"],
    ["count", "--by", "g"],
    ["count", "--by", "g", "--groups", "a,a"],
    ["sum", "g"],
    ["sum", "v", "--lower", "9", "--upper", "0", "--step", "1"],
    ["median", "v"],
    ["at-least", "many"],
    ["count", "--relation", "swap"],
    ["count", "--delta", "2"],
    ["plurality", "g", "--categories", ""],
)


def look(folder: Path, word: str) -> int:
    """Count the files that hold a word."""
    return sum(word.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


def main(place: str) -> None:
    with ExitStack() as kept:
        folder = Path(place if place != "server" else kept.enter_context(tempfile.TemporaryDirectory()))
        server = kept.enter_context(started()) if place == "server" else None
        os.chdir(folder)
        data = folder / "data"
        data.mkdir()
        records = [(DECLARED, 1, 1), (MARK, 2, 2), ("b", MARK, 3), ("b", 3, MARK)]
        (data / "t.csv").write_text("g,v,u\n" + "".join(f"{g},{v},{u}\n" for g, v, u in records))
        ledger = server.address() if server else str(folder / "a.ledger")
        told = ["--epsilon", "1/4", "--ledger", ledger, *(["--secret", "kept"] if server else [])]
        printed, failed = [], 0
        for number, words in enumerate(ASKED):
            ended = irisdp(["publish", str(data / "t.csv"), *words, *told, "--out", f"o{number}.csv"])
            printed.append(ended.out + ended.err)
            failed += ended.status != 0
        for words in WRONG:
            ended = irisdp(["publish", str(data / "t.csv"), *words, *told])
            printed.append(ended.out + ended.err)
            failed += ended.status != 2 or ended.err.count("\n") != 1 or "internal error" in ended.err
        printed.append(irisdp(["ledger", ledger, "--json"]).out)
        if server:
            server.execute("CHECKPOINT")
            printed.append(str(server.execute("SELECT query FROM pg_stat_activity")))
        places = [path for path in folder.iterdir() if path != data] + ([server.folder] if server else [])
        files = [path for path in places if path.is_file()]
        hits = {
            word: sum(word in text for text in printed)
            + sum(word.encode() in path.read_bytes() for path in files)
            + sum(look(path, word) for path in places if path.is_dir())
            for word in (MARK, DECLARED)
        }
        spent = Ledger(ledger).spent.epsilon - Fraction(1, 4) * len(ASKED)
        print(
            json.dumps(
                {
                    "asked": len(ASKED), "wrong": len(WRONG), "not as they should end": failed,
                    "spent on what was wrong": str(spent), "found": hits[MARK],
                    "found of what is public": hits[DECLARED],
                }
            )
        )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
