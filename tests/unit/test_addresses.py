"""What may be an address of a server is never taken for a path, and never quoted: it may hold a password."""

import pytest

from irisdp import Ledger, ScopeRefused
from irisdp._tables.servers import is_on_server
from irisdp.errors import without_passwords
from support.commands import irisdp

pytestmark = pytest.mark.usefixtures("one_engine")

ADDRESSES = [
    "host=db.example password=hunter2 dbname=iris",
    "dbname = iris  user = hunter2",
    "password=hunter2",
    "postgresql+psycopg://ann:hunter2@db.example/iris?schema=s",
    "postgres+asyncpg://ann:hunter2@db.example/iris",
    "postgresql:ann:hunter2@db.example/iris",
    "mysql://ann:hunter2@db.example/x",
    "mssql+pyodbc://ann:hunter2@db.example/x",
    " s3://hunter2@bucket/x.ledger",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("x\n1\n2\n")
    return tmp_path


def refused(here, command, field):
    before = sorted(here.rglob("*"))
    ended = irisdp(command)
    assert (ended.status, ended.out) == (2, ""), ended
    assert ended.line.startswith(f"{field}: "), ended.line
    assert "hunter2" not in ended.line
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(("typed", "field"), [
    (["publish", "t.csv", "count", "--epsilon", "1", "--ledger"], "--ledger"),
    (["ledger"], "FILE"),
    (["publish"], "DATA"),
], ids=["ledger of a release", "ledger", "data"])  # fmt: skip
def test_an_address_in_another_form_is_refused_unquoted(here, typed, field, address):
    if field == "DATA":
        typed = [*typed, address, "count", "--epsilon", "1", "--ledger", "a.ledger"]
    else:
        typed = [*typed, address]
    refused(here, typed, field)


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("key", ["ledger", "data"])
def test_in_a_plan_too(here, key, address):
    said = {"data": "t.csv", key: address}
    lines = "".join(f'{name} = "{value}"\n' for name, value in said.items())
    (here / "p.toml").write_text(f'[datasets.a]\n{lines}[[questions]]\nquery = "count"\nepsilon = 1\n')
    refused(here, "run p.toml", f"dataset a: {key}")


@pytest.mark.parametrize("address", [text for text in ADDRESSES if "://" in text])
@pytest.mark.parametrize("option", ["--out", "--secret", "--report"])
def test_what_names_a_file_is_no_address(here, option, address):
    refused(here, ["publish", "t.csv", "count", "--epsilon", "1", option, f"{address}.csv"], option)


@pytest.mark.parametrize(
    "path", ["user=3/part.parquet", "a = b.csv", "host=x.csv", "service.ledger", "C:/t.csv", "postgres/t.csv"]
)
def test_paths_are_paths(path):
    assert not is_on_server(path)


def test_one_ledger_has_one_name():
    options = ("host=/run", "port=5433", "sslmode=disable")
    places = {Ledger(f"postgresql://ann@/d?{'&'.join(order)}").place for order in (options, options[::-1])}
    assert len(places) == 1


CUT_OFF = [
    "postgresql://ann:hunter2",
    "postgresql://ann:hunter2/d",
    "postgresql:ann:hunter2",
    "postgresql//ann:hunter2@h/d",
    "postgresql://ann:5hunter2",
    "postgresql://ann%3Ahunter2",
    "mysql://ann:hunter2 and more hunter2",
    "postgresql://h/db?options=-c%20password=hunter2",
    "postgresql://h/db?options=-c%20password%3Dhunter2",
    "postgresql://h/db?p%61ssWord=hunter2",
    "postgresql://h/db?PGPASSWORD=hunter2",
    "host=h password='hunter2",
    'host=h password="hunter2 hunter2"',
]
"""Typed as no driver takes them, or only in part; whoever typed them meant a password all the same."""

SECRET = CUT_OFF + [address for address in ADDRESSES if "s3:" not in address and "user" not in address]
ASKED = ["publish", "t.csv", "count", "--epsilon", "1", "--ledger", "a.ledger"]


@pytest.mark.parametrize("address", SECRET)
@pytest.mark.parametrize("typed", [
    [*ASKED, "--types"],
    [*ASKED, "--table"],
    [*ASKED, "--project"],
    [*ASKED, "--unit"],
    [*ASKED, "--relation"],
    [*ASKED, "--encoding"],
    [*ASKED, "--out"],
    [*ASKED, "--report"],
    ["publish", "t.csv", "count", "--epsilon"],
    ["init"],
    ["ledger"],
    ["ledger", "a.ledger", "--table"],
    ["ledger", "a.ledger", "--unit"],
    ["ledger", "a.ledger", "--relation", "exchange", "--public-columns"],
    ["ledger", "a.ledger", "--limit"],
    ["sample"],
    ["interpret"],
    ["audit"],
    ["design"],
    ["batch", "t.csv"],
    ["run"],
    ["report"],
    ["plot"],
], ids=lambda typed: typed[-1])  # fmt: skip
def test_where_a_file_is_meant_no_password_is_quoted(here, typed, address):
    before = sorted(here.rglob("*"))
    ended = irisdp([*typed, address])
    assert ended.status in (2, 4), ended  # 4 where what is written can only be an address that is out of reach
    assert "hunter2" not in ended.line + ended.out, ended
    assert sorted(here.rglob("*")) == before


PLAIN = [
    "postgresql://h:5432/db, or postgresql://h1:5432,h2:5433/db?sslmode=require",
    "write postgresql://USER@HOST/DATABASE?schema=NAME",
    "postgresql://[::1]:5432/db",
    "postgresql://ann@[::1]:5432/db",
    "postgresql://h:5432; postgresql://h:5432. 'postgresql://h:5432'",
    "sqlite:///C:/data/clinic.db#visits",
    "spark://host:port",
    "https://host:port/x",
    "C:/data/t.csv",
    "dataset survey: data: changed while it was read",
]


@pytest.mark.parametrize("text", PLAIN)
def test_what_holds_no_password_is_quoted_whole(text):
    assert without_passwords(text) == text


@pytest.mark.parametrize("address", SECRET)
def test_no_refusal_holds_one_in_its_document(address):
    refusal = ScopeRefused("pinned to another", pinned={"table": address, "columns": [address]}, differs=["table"])
    assert "hunter2" not in str(refusal.document)
    assert refusal.said("in other words").document["differs"] == ["table"], "control"


def test_a_ledger_that_was_pinned_to_one_shows_it_to_nobody(here):
    book = Ledger("a.ledger")
    book.pin({"table": "postgresql://ann:hunter2@h/db#t", "relation": "add-remove", "unit": None, "public_columns": []})
    for command in ("ledger a.ledger", "ledger a.ledger --json", "publish t.csv count --epsilon 1 --ledger a.ledger"):
        ended = irisdp(command)
        assert "hunter2" not in ended.out + ended.err
        assert "postgresql://ann:…@h/db#t" in ended.out + ended.err
