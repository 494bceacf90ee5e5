"""The schemas in docs/formats describe what the commands print and read, and refuse what is no such document."""

import copy
import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from irisdp._release import plan_file
from irisdp._release.project import KEYS
from irisdp._tables.column_types import TYPES
from irisdp.design import KINDS
from irisdp.graphs import _loading
from support import stored
from support.commands import irisdp

FOLDER = Path(__file__).parents[2] / "docs" / "formats"
STORED = Path(__file__).parents[1] / "golden" / "version_0_1"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")
}
REGISTRY = Registry().with_resources(
    (f"{name}.schema.json", Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
)
PLAN = {
    "data": "t.csv", "lookup": "places.csv", "on": "g",
    "ledger": "b.ledger", "another_ledger": True, "budget": {"epsilon": 1, "delta": "1e-6"}, "licence": "CC0-1.0",
    "questions": [
        {"query": "count"},
        {"query": "at-least 2", "expression": "v = 1", "by": "g", "groups": ["a", "b"], "weight": 2, "out": "q.csv"},
        {"query": "count", "expression": "area = 'north'", "out": "j.csv"},
    ],
}  # fmt: skip
PROJECT = """
relation = "exchange"
unit = "person"
limit = {epsilon = 3, delta = "1e-6"}
lookup = "places.csv"
on = ["ward"]
[types]
age = "integer"
[categories]
party = ["A", "B"]
"""
RUN = """
[datasets.survey]
data = "t.csv"
ledger = "r.ledger"
another-ledger = true
types = {v = "integer"}
lookup = ["places.csv"]
on = "g"
[[questions]]
name = "voters"
query = "count"
expression = "v = 1"
by = "area"
groups = ["north", "south"]
epsilon = 0.5
out = "r.csv"
[[questions]]
query = "count"
audience = {board = 2, press = "1/2"}
[[questions]]
query = "count"
by = "g"
select-groups = true
epsilon = 1
delta = "1e-6"
"""
ASKED = {
    "count": "count",
    "groups": "count v=1 --by g --groups a,b",
    "names": "at-least 2 v=1 --by g --groups a,b",
    "named": "count --by g --select-groups --delta 0.1",
    "sizes": "sizes g",
    "winner": "plurality g --categories a,b,c",
    "mean": "mean v --lower 0 --upper 1 --step 0.5",
    "weighted": "sum v --lower 0 --upper 1 --step 0.5 --weight v --weight-upper 2",
    "persons": "count --unit u --at-most 1 --ledger u.ledger --another-ledger",
    "records": "column g --categories a,b --relation exchange --ledger e.ledger --another-ledger",
    "audiences": "count --audience board=2 --audience press=1 --ledger a.ledger --another-ledger",
    "Gaussian": "count g='a' --mu 1 --delta 1e-6",
    "joined": "count --by area --groups places.csv --lookup places.csv --on g",
}
DESIGNED = ("geometric", "consumer-absolute", "rainbow-best", "exponential-path", *stored.REFUSED)


def printed(command, statuses=(0, 1)):
    ended = irisdp(command)
    assert ended.status in statuses, ended.err
    return ended.document


def all_documents():
    """Yield the schema's name and the document, for one document of every kind that is printed or written."""
    for name in DESIGNED:
        document = printed(f"design {name}.spec.json -o {name}.json --json")
        yield "refusal" if "error" in document else "mechanism", document
    for command in ("geometric.json", "rainbow-best.json", "matrix.csv --graph graph.json --ratio 2"):
        yield "audit", printed(f"audit {command} --json")
    for name, words in ASKED.items():
        privacy = "" if "--mu" in words or "--audience" in words else "--epsilon 1"
        yield "plan", printed(f"publish t.csv {words} {privacy} --dry-run --json")
        yield "publish", printed(f"publish t.csv {words} {privacy} --out o-{name}.csv --json")
    for words in (
        "count",
        "sum v --within 0.5 --lower 0 --upper 1 --step 0.25",
        "at-least 2 --epsilon 1 --ledger w.ledger --another-ledger",
    ):
        within = "" if "--within" in words else "--within 5"
        yield "plan", printed(f"publish t.csv {words} {within} --dry-run --json")
    yield "batch-plan", printed("batch plan.json --dry-run --json")
    yield "batch-published", printed("batch plan.json --json")
    yield "run-plan", printed("run run.toml --dry-run --json")
    yield "run-published", printed("run run.toml --json")
    yield "run-plan", printed("run run.toml --dry-run --json")
    for name in ("count", "groups", "names", "winner", "sizes", "records"):
        yield "interpret", printed(f"interpret o-{name}.csv.release.json --json")
    yield "interpret", printed("interpret o-count.csv.release.json --value 3 --at-most 9 --json")
    yield "interpret", printed("interpret o-groups.csv --total all=* --json")
    yield "interpret", printed("interpret o-groups.csv --total all=*=9 --consistent --json")
    yield "check", printed("check t.csv --json")
    yield "comparison", printed("compare count --epsilon 1 --json")
    yield "reproduction", printed("reproduce --paper DOliveira2021 --json")
    irisdp("ledger m.ledger --limit mu=3")
    for name in ("t", "m"):
        yield "ledger", printed(f"ledger {name}.ledger --json")
        yield "doctor", printed(f"ledger {name}.ledger --doctor --json")
    Path("less.csv").write_text("g,u\na,1\n")
    yield "columns", printed("ledger t.ledger --columns t.csv --json")
    yield "refusal", printed("ledger t.ledger --columns less.csv --json", statuses=[1])
    irisdp("ledger l.ledger --limit 1")
    yield "refusal", printed("publish t.csv count --epsilon 1 --ledger another.ledger --json")
    yield "refusal", printed("publish t.csv count --epsilon 5 --ledger l.ledger --another-ledger --json")
    for command in ("publish t.csv cuont --epsilon 1", "publish none.csv count --epsilon 1", "design none.json"):
        yield "refusal", printed(f"{command} --json", statuses=[2])
    for kind in ("release", "datapackage"):
        for path in Path().glob(f"*.{kind}.json"):
            yield kind, json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("formats"))
        stored.prepare()
        Path("plan.json").write_text(json.dumps(PLAN))
        Path("places.csv").write_text("g,area\na,north\nb,south\n")
        Path("run.toml").write_text(RUN)
        return list(all_documents())


def validator(name):
    return Draft202012Validator(SCHEMAS[name], registry=REGISTRY)


def problems(name, document):
    return [f"{list(error.absolute_path)}: {error.message[:200]}" for error in validator(name).iter_errors(document)]


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas_and_stand_in_the_list(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert f"[{name}]({name}.schema.json)" in (FOLDER / "README.md").read_text("utf-8")
    assert SCHEMAS[name]["title"]
    assert SCHEMAS[name]["description"]


def test_what_is_printed_and_written_is_as_described(documents):
    seen = {name for name, _ in documents}
    assert seen == SCHEMAS.keys() - {"common", "graph", "spec", "batch", "run", "types", "project", "benchmark"}
    for name, document in documents:
        assert problems(name, document) == [], name


def test_what_version_0_1_wrote_is_as_described():
    told = {section: json.loads((STORED / f"{section}.json").read_text("utf-8")) for section in ("designs", "sidecars")}
    for kept in told["designs"].values():
        assert problems("refusal" if kept["status"] else "mechanism", kept["document"]) == []
    for sidecar in told["sidecars"].values():
        assert problems("release", sidecar) == []


def test_what_is_read_is_as_described():
    for spec in (*stored.SPECS.values(), *stored.REFUSED.values()):
        assert problems("spec", spec) == []
        assert "graph" not in spec or problems("graph", spec["graph"]) == []
    assert problems("batch", PLAN) == []
    assert problems("run", tomllib.loads(RUN)) == []
    assert problems("types", {"age": "integer", "born": {"type": "date", "format": "%d.%m.%Y", "missing": [9]}}) == []
    assert problems("project", tomllib.loads(PROJECT)) == []


def kinds_in(schema):
    return schema.get("enum") or schema["properties"]["type"]["enum"]


def test_schemas_know_the_keys_that_the_library_knows():
    found = {one["properties"]["kind"]["const"]: one for one in SCHEMAS["spec"]["oneOf"]}
    for kind, (_, needed, optional) in KINDS.items():
        assert set(found[kind]["required"]) == {"kind", "privacy", *needed}
        assert found[kind]["properties"].keys() == {"kind", "privacy", *needed, *optional}
    assert found.keys() == KINDS.keys()
    edges, *families = SCHEMAS["graph"]["anyOf"]
    sizes = {one["properties"]["family"]["const"]: set(one["properties"]) - {"family"} for one in families}
    assert sizes == {family: set(known) for family, (_, known) in _loading._FAMILIES.items()}
    assert edges["properties"].keys() == {"edges", "nodes"}
    plan = SCHEMAS["batch"]["properties"]
    assert plan.keys() == {*plan_file._PLAN, *plan_file._ABOUT, *plan_file._KEPT}
    assert plan["budget"]["properties"].keys() == set(plan_file._BUDGET)
    assert SCHEMAS["project"]["properties"].keys() == set(KEYS)
    assert {kind for each in SCHEMAS["types"]["additionalProperties"]["anyOf"] for kind in kinds_in(each)} == set(TYPES)
    run = SCHEMAS["run"]["properties"]
    assert run.keys() == set(plan_file.PLAN_KEYS)
    for table, keys in (
        (run["datasets"]["additionalProperties"], plan_file.DATASET_KEYS),
        (run["questions"]["items"], plan_file.QUESTION_KEYS),
    ):
        assert table["properties"].keys() == {*keys, *(key.replace("_", "-") for key in keys)}
    question = plan["questions"]["items"]["properties"]
    assert question.keys() == {"query", "expression", *plan_file._ASKED, "weight", "out"}


def test_what_lacks_a_key_is_no_such_document(documents):
    """Negative control: of every kind of document, without each of the keys that it must have, and with none right."""
    for name in {name for name, _ in documents}:
        whole = next(one for kind, one in documents if kind == name)
        listed = isinstance(whole, list)
        document = whole[0] if listed else whole

        def problems_of(one, name=name, listed=listed):
            return problems(name, [one] if listed else one)

        required = [key for key in document if problems_of({k: v for k, v in document.items() if k != key})]
        assert required, name
        assert problems_of({})
        assert problems_of([document])
        for key in required:
            wrong = ({"no": {"such": "value"}}, [[["no such value"]]])  # some keys hold objects, some hold lists
            assert any(problems_of({**document, key: value}) for value in wrong)


WRONG = [
    ("publish", ["answers", 0, "answer_low"], "much"),
    ("publish", ["cost", "epsilon"], 1.5),
    ("publish", ["repeated"], "no"),
    ("release", ["format"], "irisdp/release/2"),
    ("release", ["date"], "yesterday"),
    ("release", ["relation"], "swap"),
    ("release", ["privacy"], {"epsilon": "1", "ratio": "2"}),
    ("datapackage", ["resources", 0, "hash"], "md5:0"),
    ("datapackage", ["resources", 0, "schema", "fields", 0, "type"], "count"),
    ("datapackage", ["licenses"], [{"name": "all rights"}]),
    ("mechanism", ["matrix", 0, 0], "one half"),
    ("mechanism", ["graph"], {"family": "path"}),
    ("ledger", ["releases", 0, "epsilon"], 1),
    ("run-plan", ["questions", 0, "if_changed", "cost"], {"epsilon": 1}),
    ("run-published", ["ledgers", 0, "charged"], "much"),
    ("plan", ["audiences", 0, "privacy", "epsilon"], "much"),
    ("comparison", ["mechanisms"], []),
    ("interpret", ["readings", 0, "chances"], [["3"]]),
]


@pytest.mark.parametrize(("name", "place", "value"), WRONG, ids=str)
def test_wrong_values_are_found(name, place, value, documents):
    def reaches(document):
        for key in place[:-1]:
            if not (isinstance(document, list) and key < len(document)) and not (
                isinstance(document, dict) and key in document
            ):
                return False
            document = document[key]
        return place[-1] == "licenses" or place[-1] in document or isinstance(document, list)

    document = copy.deepcopy(next(one for kind, one in documents if kind == name and reaches(one)))
    assert problems(name, document) == []
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert problems(name, document)


@pytest.mark.parametrize(("name", "document"), [
    ("spec", {"kind": "geometric", "n": 3}),
    ("spec", {"kind": "geometric", "n": 3, "privacy": {"ratio": 2}, "extra": 1}),
    ("spec", {"kind": "unheard of", "privacy": {"ratio": 2}}),
    ("spec", {"kind": "geometric", "n": 3, "privacy": {"delta": 0}}),
    ("graph", {"family": "path"}),
    ("graph", {"family": "path", "n": 3, "edges": []}),
    ("graph", {"edges": [["a"]]}),
    ("graph", {"family": "gaps", "categories": 3, "largest": 2, "relation": "swap"}),
    ("types", {"age": "whole"}),
    ("types", {"age": {"type": "number", "decimals": ","}}),
    ("project", {"epsilon": 1}),
    ("project", {"categories": {"party": []}}),
    ("run", {**tomllib.loads(RUN), "extra": 1}),
    ("run", {**tomllib.loads(RUN), "datasets": {}}),
    ("run", {**tomllib.loads(RUN), "report": "page.csv"}),
    ("run", {"datasets": {"a": {"data": "t.csv"}}, "questions": [{"expression": "v = 1"}]}),
    ("run", {"datasets": {"a": {}}, "questions": [{"query": "count"}]}),
    ("batch", {**PLAN, "extra": 1}),
    ("batch", {**PLAN, "questions": []}),
    ("batch", {**PLAN, "questions": [{"expression": "v = 1"}]}),
    ("batch", {**PLAN, "budget": {"delta": 1}}),
], ids=str)  # fmt: skip
def test_what_the_library_would_refuse_is_not_described(name, document):
    assert problems(name, document)
