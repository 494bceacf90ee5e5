"""Documents in files, read alone: plans, projects, batches, specs, mechanisms, sidecars, types of columns."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.changes import parsed
from fuzz.target import MARK, ROOT, Target, as_bytes, document_or_text, given, text_by, written
from irisdp import audit
from irisdp._release.plan_file import read_batch, read_run
from irisdp._release.project import read_document
from irisdp._tables.table import open_table
from irisdp.certify import read_mechanism
from irisdp.design import from_spec
from irisdp.interpretation import read_release

TABLE = f'g,v,u\na,1,1\n{MARK},2,2\nb,{MARK},3\n"b,""\n",3.5,\n,,{MARK}\n'
PLAN = (ROOT / "examples" / "plan.toml").read_text(encoding="utf-8")
PROJECT = (
    'unit = "person"\nrelation = "exchange"\nlimit = "3,1e-6"\nencoding = "latin-1"\ndelimiter = ";"\n'
    '[types]\nage = "integer"\nborn = "date"\n[groups]\nward = ["north", "east"]\n[categories]\nparty = [0, 1, 2.5]\n'
)
TOML = (
    *("[", "]", "[[", "]]", "=", '"', "'''", "# ", "\n", "[datasets.x]\n", "[[questions]]\n", "{a = 1}", "1979-05-27"),
    *(
        "query", "epsilon", "data", "groups", "unit", "types", "out", "limit", "true", "inf", "nan", "0x1f", "1_0",
        "\\u0000",
    ),
)  # fmt: skip
BATCH = {
    "data": "t.csv", "budget": {"epsilon": 1, "delta": "1e-6"}, "out": "f.csv", "ledger": "a.ledger",
    "another_ledger": True,
    "questions": [
        {"query": "count", "expression": "age > 64"},
        {"query": "count", "expression": "v = 1", "by": "g", "groups": "a,b", "weight": 2},
        {"query": "majority", "expression": "v > 3"}, {"query": "histogram v", "bins": "1,2"},
    ],
}  # fmt: skip
LARGEST = 40
"""Numbers, in a spec, beyond which a design takes what it takes; nobody calls that a hang."""
SPECS = [json.loads(path.read_text()) for path in sorted((ROOT / "examples" / "specs").glob("*.json"))]
GOLDEN = ROOT / "tests" / "golden"
MECHANISMS = [
    *(json.loads(path.read_text()) for path in sorted((GOLDEN / "mechanisms").glob("*.json"))),
    {"privacy": {"ratio": 2}, "graph": {"edges": [["a", "b"]]}, "matrix": [["2/3", "1/3"], ["1/3", "2/3"]]},
]
MECHANISMS = [one for one in MECHANISMS if len(json.dumps(one)) < LARGEST * 200]
SIDECARS = [
    one
    for one in json.loads((GOLDEN / "version_0_1" / "sidecars.json").read_text()).values()
    if len(json.dumps(one)) < LARGEST * 200
]


def texts(documents: list[Any]) -> Callable[[Path], list[str]]:
    return lambda _: [json.dumps(one) for one in documents]


def spec(text: str, _: Path) -> None:
    document = parsed(text)
    if large(document) <= LARGEST:
        from_spec(copy.deepcopy(document))


def large(value: Any) -> float:
    if isinstance(value, dict | list):
        parts = list(value.values()) if isinstance(value, dict) else value
        return max([len(parts), *map(large, parts)], default=0)
    try:
        return abs(float(value)) if not isinstance(value, str) or len(value) < 20 else LARGEST + 1
    except (TypeError, ValueError, OverflowError):
        return 0


def mechanism(path: Path) -> None:
    audit(read_mechanism(path))


def make_types(folder: Path) -> list[str]:
    (folder / "t.csv").write_text(TABLE)
    return ['{"v": "integer", "g": "text", "u": "date"}', '{"v": "number"}']


def by_types(text: str, folder: Path) -> None:
    (folder / "types.json").write_bytes(as_bytes(text))
    open_table(str(folder / "t.csv"), types=folder / "types.json").close()


TARGETS = {
    "plans (TOML)": Target(60_000, given(PLAN), text_by(TOML), written("plan.toml", read_run)),
    "projects (TOML)": Target(50_000, given(PROJECT), text_by(TOML), written("t.iris.toml", read_document)),
    "batches (JSON)": Target(30_000, texts([BATCH]), document_or_text, written("b.json", read_batch)),
    "specs": Target(5_000, texts(SPECS), document_or_text, spec),
    "mechanism files": Target(30_000, texts(MECHANISMS), document_or_text, written("m.json", mechanism)),
    "sidecars": Target(30_000, texts(SIDECARS), document_or_text, written("s.release.json", read_release)),
    "types (JSON)": Target(6_000, make_types, document_or_text, by_types),
}
