"""Whole commands, here: their words are changed, or a file that they read; what is refused spends nothing."""

import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path

from fuzz.changes import changed_text
from fuzz.documents import BATCH, MECHANISMS, PROJECT, SIDECARS, TABLE, TOML, texts
from fuzz.spending import held, keep, lay
from fuzz.target import MARK, Target, as_bytes, document_or_text, given, has_mark, text_by
from support.commands import Ended, irisdp

COMMANDS = (
    *(
        "publish t.csv count --epsilon 1",
        "publish t.csv count --by g --groups a,b --epsilon 1/2 --ledger n.ledger --another-ledger --relation exchange",
    ),
    *("publish t.csv majority v=1 --epsilon 1 --out o.csv --force", "publish t.csv at-least 2 --ratio 2 --json"),
    "publish t.csv count --audience board=2 --audience press=0.5 --out n.csv --report n.html",
    *("publish t.csv count --mu 1 --delta 1e-6", "publish t.csv histogram v --bins 1,2 --epsilon 1 --out n.csv"),
    *(
        "publish t.csv sum v --lower 0 --upper 9 --step 1 --epsilon 1 --dry-run",
        "publish t.csv median v --bins 1,2 --epsilon 1",
    ),
    *("publish t.csv plurality g --categories a,b,c --epsilon 1", "publish t.csv count --within 5 --dry-run"),
    *(
        "publish t.csv count --unit u --at-most 2 --epsilon 1 --ledger n.ledger --another-ledger",
        "ledger t.ledger --json",
    ),
    *("ledger t.ledger", "ledger t.ledger --limit 5", "ledger t.ledger --csv --copy-to n.ledger"),
    *("ledger t.ledger --verify", "init t.csv --force", "sample m.json --input a -n 2", "audit m.json"),
    *("compare at-least 3 --n 6 --epsilon 1", "interpret s.json --value yes", "batch b.json --dry-run"),
    *("batch b.json --force --report n.html", "run p.toml", "run p.toml --dry-run --json", "run p.toml --force"),
    *(
        "report o.csv.release.json -o n.html",
        "report o.csv --force",
        "interpret o.csv.release.json --json --out n.html",
    ),
    *(
        "plot m.json -o n.html --form bars",
        "plot o.csv -o n.svg",
        "plot t.ledger -o n.html",
        "plot o.csv.release.json -o n.png",
    ),
    *(
        "reproduce --paper Alda2017 --out n",
        "design d.json -o n.json",
        "publish t.csv count --project p.iris.toml --epsilon 1",
    ),
)
OF_COMMANDS = (
    *("--epsilon", "--delta", "--mu", "--groups", "--by", "--unit", "--ledger", "--out", "--types", "--encoding", "-n"),
    *(
        "--dry-run", "--select-groups", "--categories", "--bins", "--within", "--confidence", "--privacy", "--help",
        "-o",
    ),
    *("--force", "--form", "--paper", "--only", "--value", "--loss", "--at-least", "--at-most", "--report", "--limit"),
    *("--audience", "--project", "--secret", "--table", "--licence", "--upper", "--lower", "--json", "count", "sizes"),
    *("histogram", "column", "top", "ranking", "quantile", "band", "apply", "majority", "sum", "m.json", "t.csv"),
    *("b.json", "p.toml", "d.json", "s.json", "o.csv", "o.csv.release.json", "n.csv", "n.svg", "n.html", "t.ledger"),
    *("p.iris.toml", "none.csv", "1", "0", "-1", "1/3", "nan", "a,b", "g", "v", "u", "{}", "[]", "=", "heat-map"),
    *("squared", "absolute", '{"epsilon": 1}', ""),
)  # fmt: skip
STAYS = ("explore", "--port", "--engine", "--master", "--spark")
"""What listens, or calls up another program."""
RUN = """\
[datasets.d]
data = "t.csv"
ledger = "p.ledger"
another_ledger = true
[[questions]]
name = "all"
query = "count"
by = "g"
groups = ["a", "b"]
epsilon = 0.5
out = "a.csv"
[[questions]]
query = "majority"
expression = "v = 1"
epsilon = "1/4"
"""
NOT_SHOWN = 3
"""Of a plan that stopped behind a question that was answered: what that question cost is spent, and said."""


def words_of(one: list[str], other: list[str], chance: random.Random) -> list[str]:
    """Change the words of a command."""
    made = list(one)
    for _ in range(chance.choice((1, 1, 2, 3))):
        at, way = chance.randrange(len(made) + 1), chance.randrange(5)
        if way == 0:
            made.insert(at, chance.choice(OF_COMMANDS))
        elif way == 1 and made:
            made.pop(at % len(made))
        elif way == 2 and made:
            made[at % len(made)] = chance.choice(OF_COMMANDS)
        elif way == 3 and other:
            made.insert(at, chance.choice(other))
        elif made:
            word = made[at % len(made)]
            made[at % len(made)] = changed_text(word, chance.choice(OF_COMMANDS), OF_COMMANDS, chance)
    return made


def stays(words: list[str]) -> bool:
    """Tell whether a command would listen, or take long by itself: all that is reproduced takes minutes."""
    return any(word.startswith(stay) for word in words for stay in STAYS) or (
        words[:1] == ["reproduce"] and "Alda2017" not in words
    )


def watched(words: list[str], folder: Path, *, public: bool = False) -> Ended:
    """Run a command; what it says is checked, and if it is an error, that it spent nothing and left no answers."""
    before = held(folder)
    ended = irisdp(words)
    if "internal error" in ended.err or "Traceback" in ended.err:
        raise AssertionError(ended.err)
    if ended.status in (1, 2):
        before.check(held(folder), words)
    if ended.status == 2 and ended.err.count("\n") != 1:
        raise AssertionError(f"not one line: {ended.err}")
    if ended.status not in (0, 1, 2, NOT_SHOWN):
        raise AssertionError(f"status {ended.status}: {ended.err}")
    if MARK in ended.out + ended.err and not public:
        raise AssertionError(f"the mark of a record: {ended.out + ended.err}")
    return ended


def command(words: list[str], folder: Path) -> str:
    """Run a command in a folder with all that commands read."""
    lay(folder)
    return "" if stays(words) else watched(words, folder, public=has_mark(words)).err


def make_files(folder: Path) -> None:
    """Write what commands read, and keep it."""
    (folder / "t.csv").write_text(TABLE)
    (folder / "m.json").write_text(json.dumps(MECHANISMS[-1]))
    (folder / "d.json").write_text('{"kind": "geometric", "n": 2, "privacy": {"epsilon": 1}}')
    (folder / "b.json").write_text(json.dumps(OWN_BATCH | {"ledger": "t.ledger", "another_ledger": True}))
    (folder / "s.json").write_text(json.dumps(SIDECARS[0]))
    (folder / "p.toml").write_text(RUN)
    (folder / "p.iris.toml").write_text('limit = "3,1e-6"\n[groups]\ng = ["a", "b"]\n')
    irisdp(["publish", str(folder / "t.csv"), "count", "--epsilon", "1/1000", "--out", str(folder / "o.csv")])
    keep(folder)


def drawn_once(folder: Path) -> None:
    """Draw a picture before memory is limited (`feeding.py`), for targets whose inputs may ask for some.

    What draws reserves much of the address space when it is loaded, and ends the process where it may not.
    """
    irisdp(["plot", str(folder / "m.json"), "-o", str(folder / "n.svg")])
    lay(folder)


def make_commands(folder: Path) -> list[list[str]]:
    make_files(folder)
    drawn_once(folder)
    return [text.split() for text in COMMANDS]


def published(
    name: str, several: tuple[str, ...], public: Callable[[object], bool] = has_mark
) -> Callable[[object, Path], str]:
    """Write an input to a file and run one of several commands that read it, which of them its sum says."""

    def take(one: str | bytes, folder: Path) -> str:
        lay(folder)
        content = as_bytes(one)
        (folder / name).write_bytes(content)
        words = several[zlib.crc32(content) % len(several)].split()
        return watched(words, folder, public=public(one)).err

    return take


def run_with(seeds: Callable[[Path], list]) -> Callable[[Path], list]:
    """Return seeds made beside the files that commands read."""

    def make(folder: Path) -> list:
        make_files(folder)
        return seeds(folder)

    return make


OWN_BATCH = BATCH | {
    "questions": [
        {"query": "count", "expression": "v = 1", "by": "g", "groups": "a,b", "weight": 2},
        {"query": "majority", "expression": "v = 3"},
    ]
}
RUNS = ("run p.toml", "run p.toml --dry-run", "run p.toml --json --force")
BATCHES = ("batch b.json", "batch b.json --dry-run", "batch b.json --force --json")
OWN_PROJECT = 'relation = "exchange"\nlimit = "3,1e-6"\n[types]\nv = "text"\n[groups]\ng = ["a", "b"]\n'
PROJECTS = (
    "publish t.csv count --by g --epsilon 1 --out n.csv --ledger n.ledger --another-ledger",
    "publish t.csv count --epsilon 1/2 --ledger n.ledger --another-ledger",
)
READERS = tuple(
    words.format("o.csv.release.json")
    for words in (
        *(
            "interpret {}", "report {} -o n.html", "plot {} -o n.svg", "interpret {} --json",
            "interpret {} --out n.html",
        ),
        *("interpret {} --loss squared", "report {} --force", "interpret {} --value 1"),
    )
)  # fmt: skip


def own_sidecar(folder: Path) -> list[str]:
    drawn_once(folder)
    return [(folder / "o.csv.release.json").read_text(), *texts(SIDECARS)(folder)]


TARGETS = {
    "command lines": Target(15_000, make_commands, words_of, command, form="words"),
    "plans, run": Target(12_000, run_with(given(RUN)), text_by(TOML), published("p.toml", RUNS)),
    "batches, published": Target(
        8_000,
        run_with(texts([BATCH, OWN_BATCH, OWN_BATCH | {"ledger": "n.ledger", "another_ledger": True}])),
        document_or_text,
        published("b.json", BATCHES),
    ),
    "projects, published": Target(
        8_000, run_with(given(PROJECT, OWN_PROJECT)), text_by(TOML), published("t.iris.toml", PROJECTS)
    ),
    "sidecars, read out": Target(
        12_000, run_with(own_sidecar), document_or_text, published("o.csv.release.json", READERS)
    ),
}
