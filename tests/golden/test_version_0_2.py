"""What Iris prints and writes today, byte for byte: plans, answers, release files, interpretations, ledgers.

Random bits and the secret are fixed, so that every byte is; instants are masked. A change of documents.json is a change
of what people's programs read, and belongs in CHANGELOG.md. To write it again:

    PYTHONPATH=tests python tests/golden/test_version_0_2.py
"""

import hashlib
import json
import os
import random
import re
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import irisdp as library
from irisdp._queries import FORMS
from irisdp._sampling.bits import OperatingSystemBits
from support.bindings import unbind
from support.commands import irisdp

HERE = Path(__file__).parent
DOCUMENTS = HERE / "version_0_2" / "documents.json"
TABLE = "person,town,party,age,visits,weight\n" + "".join(
    f"{number // 2},{'Ely' if number % 3 else 'York'},{'ABCC'[number % 4]},"
    f"{16 + 7 * number % 70},{number % 6},{number % 3}\n"
    for number in range(40)
)
FILES = {
    "survey.csv": TABLE,
    "towns.csv": "town\nEly\nYork\n",
    "spec.json": '{"kind": "consumer", "n": 8, "loss": "absolute", "privacy": {"ratio": 2}}',
    "batch.json": json.dumps(
        {
            "data": "survey.csv",
            "ledger": "batch.ledger",
            "secret": "key",
            "budget": {"epsilon": 1, "delta": "1e-6"},
            "questions": [
                {"query": "count", "expression": "age > 30", "by": ["town"], "groups": ["Ely", "York"]},
                {"query": "count", "expression": "age > 60", "weight": 2, "out": "old.csv"},
            ],
        }
    ),
    "plan.toml": """[datasets.survey]
data = "survey.csv"
ledger = "run.ledger"
secret = "key"

[[questions]]
query = "count"
expression = "age > 30"
epsilon = 1
out = "older.csv"

[[questions]]
query = "plurality"
expression = "party"
categories = ["A", "B", "C"]
epsilon = 1
""",
}
TOWNS = ["--by", "town", "--groups", "Ely,York"]
PARTIES = ["--categories", "A,B,C"]
VISITS = ["--lower", "0", "--upper", "20", "--step", "1"]
PERSON = ["--unit", "person", "--at-most", "2"]
E1 = ["--epsilon", "1"]
QUESTIONS = {
    "count": ["count", *E1],
    "count-where": ["count", "age > 30", "--ratio", "2"],
    "count-by": ["count", "age > 30", *TOWNS, *E1],
    "count-file": ["count", "--by", "town", "--groups", "towns.csv", *E1],
    "count-delta": ["count", *E1, "--delta", "1e-6"],
    "count-mu": ["count", *TOWNS, "--mu", "1", "--delta", "1e-6"],
    "count-zcdp": ["count", "--privacy", '{"zcdp": "1/2"}', "--delta", "1e-6"],
    "count-pairs": ["count", "--privacy", '{"all": [{"epsilon": 1, "delta": "1/1000"}, {"epsilon": 2}]}'],
    "count-within": ["count", "--within", "10"],
    "count-selected": ["count", "--by", "town", "--select-groups", *E1, "--delta", "1e-2"],
    "count-named": ["count", "--by", "decade = FLOOR(age / 10)", "--groups", "1,2,3", *E1],
    "count-audiences": ["count", *TOWNS, "--audience", "board=2", "--audience", "press=1/2"],
    "count-distinct": ["count-distinct", "party", "age > 20", *E1],
    "histogram": ["histogram", "age", "--bins", "18,40,65", *E1],
    "histogram-categories": ["histogram", "party", *PARTIES, *E1, "--delta", "1e-6"],
    "sum": ["sum", "visits", *VISITS, *E1],
    "sum-by": ["sum", "visits", *VISITS, *TOWNS, *E1],
    "sum-weight": ["sum", "visits", *VISITS, "--weight", "weight", "--weight-upper", "2", *E1],
    "sum-mu": ["sum", "visits", *VISITS, "--mu", "1/2", "--delta", "1e-6"],
    "mean": ["mean", "visits", *VISITS, *E1],
    "mean-missing": ["mean", "visits", *VISITS, "--missing", "0", *TOWNS, *E1],
    "variance": ["variance", "visits", *VISITS, *E1],
    "deviation": ["deviation", "visits", *VISITS, *TOWNS, *E1],
    "bounds": ["bounds", "visits", *E1],
    "median": ["median", "age", "--bins", "18,40,65", *E1],
    "quantile": ["quantile", "0.9", "age", "--bins", "18,40,65", *E1],
    "quantiles": ["quantiles", "0.25,0.9", "age", "--bins", "18,40,65", *TOWNS, *E1],
    "plurality": ["plurality", "party", *PARTIES, *E1],
    "plurality-by": ["plurality", "party", *PARTIES, *TOWNS, *E1],
    "top": ["top", "2", "party", *PARTIES, *E1],
    "ranking": ["ranking", "party", *PARTIES, *E1],
    "majority": ["majority", "age > 30", *E1],
    "majority-by": ["majority", "age > 30", *TOWNS, *E1, "--delta", "1/20"],
    "at-least": ["at-least", "10", "age > 30", *E1],
    "at-most": ["at-most", "10", *E1],
    "band": ["band", "10,30", *E1],
    "sizes": ["sizes", "2", "party", *E1],
    "column": ["column", "party", *PARTIES, "--relation", "exchange", *E1],
    "apply": ["apply", "mechanism.json", "age > 80"],
    "persons-count": ["count", "age > 30", *PERSON, *E1],
    "persons-any": ["count", "age > 30", "--unit", "person", "--per-unit", "any", *TOWNS, *E1],
    "persons-groups": ["count", *PERSON, "--groups-per-unit", "1", *TOWNS, *E1],
    "persons-sum": ["sum", "visits", *VISITS, *PERSON, *E1],
    "exchange-count": ["count", "age > 30", "--relation", "exchange", *E1],
    "exchange-plurality": ["plurality", "party", *PARTIES, "--relation", "exchange", *E1],
    "exchange-public": ["majority", "age > 30", *TOWNS, "--relation", "exchange", "--public-membership", *E1],
}
READ = {
    "count": ["", "--loss squared --at-most 50", "--value 7 --at-most 50"],
    "count-by": ["", "--total all=*"],
    "count-delta": [""],
    "count-mu": ["--loss absolute --at-most 60"],
    "sum": [""],
    "mean": [""],
    "median": [""],
    "plurality": [""],
    "majority": [""],
    "top": [""],
    "band": [""],
    "column": [""],
    "apply": [""],
}
OTHERS = {
    "design": "design spec.json -o designed.json",
    "audit": "audit designed.json --json",
    "sample": "sample designed.json --input 3 -n 5 --json",
    "compare": "compare count --epsilon 1 --json",
    "batch plan": "batch batch.json --dry-run --json",
    "batch": "batch batch.json --json --report batch.html",
    "run plan": "run plan.toml --dry-run --json",
    "run": "run plan.toml --json",
    "run again": "run plan.toml",
}
HASHED = (".html", ".datapackage.json")
"""Long, and made of what stands in the release file: stored as digests of their text."""
DRAWN_OR_DATED = re.compile('<svg.*?</svg>|<code class="digest">.*?</code>', re.DOTALL)
COMMAND = re.compile(r', "command": \{"name": .*?"version": "[^"]*"\}\}')
"""What documents say since of their command: a duration, among others."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")


def fixed(text):
    """Return a text without what differs from day to day or release to release: instants, versions, folders."""
    versions = {f'"{library.__version__}"': '"VERSION"', f"Iris {library.__version__}": "Iris VERSION"}
    for word, stable in {**versions, str(Path.cwd()): "FOLDER"}.items():
        text = text.replace(word, stable)
    text = COMMAND.sub("}", text)
    return TIME.sub("TIME", re.sub(r"duckdb \d+\.\d+", "duckdb VERSION", text))


def files():
    """Return the files of this folder."""
    return {path for path in Path().rglob("*") if path.is_file()}


def written(before):
    """Return the texts of new files, or digests of their text without drawings and digests."""
    made = {}
    for path in sorted(files() - before):
        if path.suffix in (".csv", ".json", ".html"):
            text = fixed(path.read_text(encoding="utf-8"))
            digest = hashlib.sha256(DRAWN_OR_DATED.sub("", text).encode()).hexdigest()
            made[str(path)] = digest if path.name.endswith(HASHED) else text
    return made


def outcome(*commands):
    """Return what commands print, how they end and what they write."""
    unbind()
    before = files()
    bits = random.Random(2)
    with (
        patch.dict(os.environ, COLUMNS="80"),
        patch.object(OperatingSystemBits, "words", lambda _, count: np.frombuffer(bits.randbytes(8 * count), "u8")),
    ):
        ended = [irisdp(command) for command in commands]
    said = [[one.status, fixed(one.out), fixed(one.err)] for one in ended]
    return {"said": said, "files": written(before)}


def publish(name):
    """Return what a question plans, publishes, publishes again, and what readers make of it."""
    ledger = f"{name}.ledger"
    asked = ["publish", "survey.csv", *QUESTIONS[name], "--ledger", ledger, "--secret", "key"]
    out = ["--out", f"{name}.csv", "--report", f"{name}.html"]
    commands = [[*asked, "--dry-run"], [*asked, "--dry-run", "--json"], [*asked, *out], [*asked, "--json"]]
    commands += [["ledger", ledger, "--json"]]
    release = "count-audiences.board" if name == "count-audiences" else name
    commands += [f"interpret {release}.csv.release.json {rest} --json" for rest in READ.get(name, [])]
    return outcome(*commands)


def documents():
    """Return all that is written, in a new folder, with bits that are always the same."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            for name, text in FILES.items():
                Path(name).write_text(text, encoding="utf-8")
            shutil.copy(HERE / "version_0_1" / "key.irisdp-secret", ".key.irisdp-secret")
            irisdp("design spec.json -o mechanism.json")
            made = {name: publish(name) for name in QUESTIONS}
            return made | {name: outcome(command) for name, command in OTHERS.items()}
        finally:
            os.chdir(here)


@pytest.fixture(scope="module")
def today():
    return documents()


STORED = json.loads(DOCUMENTS.read_text(encoding="utf-8")) if DOCUMENTS.exists() else {}


def test_every_query_is_among_them():
    assert {words[0] for words in QUESTIONS.values()} == {form.name for form in FORMS}


@pytest.mark.parametrize("name", [*QUESTIONS, *OTHERS])
def test_what_is_written_is_the_same_byte_for_byte(today, name):
    assert today[name] == STORED[name]


if __name__ == "__main__":
    DOCUMENTS.write_text(json.dumps(documents(), ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
