"""One type reads and writes release files: what it read it writes again, and no other file of the source knows them."""

import ast
import json
from pathlib import Path

import pytest

from irisdp import BadInput
from irisdp._exact import json_bytes
from irisdp._measurements import KINDS
from irisdp._queries import FORM_OF
from irisdp._release import SIDECAR_FORMAT, ReleaseFile
from irisdp._release.release_file import Member

STORED = Path(__file__).parents[1] / "golden"
SOURCE = Path(__file__).parents[2] / "src" / "irisdp"


def release_files(told):
    """Yield the release files that stand anywhere in a stored document, be it as text."""
    if isinstance(told, str) and SIDECAR_FORMAT in told and told.startswith("{"):
        told = json.loads(told)
    if isinstance(told, dict) and told.get("format") == SIDECAR_FORMAT:
        yield told
    elif isinstance(told, dict | list):
        for part in told.values() if isinstance(told, dict) else told:
            yield from release_files(part)


GOLDEN = [
    found
    for name in ("version_0_1/sidecars.json", "version_0_2/documents.json")
    for found in release_files(json.loads((STORED / name).read_text("utf-8")))
]
MEMBERS = {name for name, member in vars(ReleaseFile).items() if isinstance(member, Member)}


@pytest.mark.parametrize("document", GOLDEN, ids=lambda document: document["query"]["query"])
def test_what_is_read_is_written_again(document, tmp_path):
    path = tmp_path / "o.csv.release.json"
    path.write_bytes(json_bytes(document))
    assert json_bytes(ReleaseFile.read(document).check_kinds().require().document()) == path.read_bytes()
    read = ReleaseFile.read(path).check_kinds().require()
    assert json_bytes(json.loads(json.dumps(read.document(), default=float))) == path.read_bytes()
    read.check_agreement(path.name, None)
    assert read.name == document["query"]["query"] and read.kind == document["mechanism"]["kind"]
    assert read.cost.to_document() == document["cost"] and read.ledger == document["ledger"]["id"]


def test_golden_files_are_of_most_queries_and_kinds():
    assert len({document["query"]["query"] for document in GOLDEN}) > len(FORM_OF) * 3 // 4
    assert len({document["mechanism"]["kind"] for document in GOLDEN}) > len(KINDS) // 2


@pytest.mark.parametrize("member", ["cost", "ledger", "mechanism", "query", "relation", "privacy"])
def test_who_interprets_needs_less_than_who_shows_a_release(member):
    document = {key: value for key, value in GOLDEN[0].items() if key != member}
    read = ReleaseFile.read(document).check_kinds()
    with pytest.raises(BadInput):
        read.require()


@pytest.mark.parametrize("document", [None, [], "x", {}, {"format": "irisdp/mechanism/1"}])
def test_what_is_no_release_file_is_refused(document):
    with pytest.raises(BadInput, match=r"^release: is no release; "):
        ReleaseFile.read(document)


def test_every_member_is_described_in_the_schema():
    formats = Path(__file__).parents[2] / "docs" / "formats"
    texts = [(formats / f"{name}.schema.json").read_text("utf-8") for name in ("release", "common")]
    assert {name for name in MEMBERS if not any(f'"{name}"' in text for text in texts)} == set()


def knowing(path):
    """Return the lines of a file that tell a release file by its format, or read a member off what is called one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and node.value == SIDECAR_FORMAT:
            yield node.lineno
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            called = getattr(node.value, "id", getattr(node.value, "attr", ""))
            if called == "sidecar" and node.slice.value in MEMBERS:
                yield node.lineno


def test_one_file_reads_release_files():
    known = {str(path.relative_to(SOURCE)): list(knowing(path)) for path in SOURCE.rglob("*.py")}
    # A layer below names the format, to say what to do with a release file where a mechanism file is meant.
    assert {name for name, lines in known.items() if lines} == {
        "_release/release_file.py",
        "mechanisms/_mechanism_file.py",
    }


def test_a_second_reader_is_seen(tmp_path):
    second = tmp_path / "second.py"
    second.write_text('def read(sidecar):\n    return sidecar["cost"]\n', encoding="utf-8")
    assert list(knowing(second)) == [2]
