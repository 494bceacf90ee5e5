"""What may be an address of a server is never taken for a path, and never quoted: it may hold a password."""

import pytest

from irisdp.queries.servers import is_on_server
from irisdp.release.ledger import Ledger
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
@pytest.mark.parametrize(
    ("typed", "field"),
    [
        (["publish", "t.csv", "count", "--epsilon", "1", "--ledger"], "--ledger"),
        (["ledger"], "ledger"),
        (["publish"], "DATA"),
    ],
    ids=["ledger of a release", "ledger", "data"],
)
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


SECRET = [address for address in ADDRESSES if "s3:" not in address and "user" not in address]
ASKED = ["publish", "t.csv", "count", "--epsilon", "1", "--ledger", "a.ledger"]


@pytest.mark.parametrize("address", SECRET)
@pytest.mark.parametrize(
    "typed",
    [
        [*ASKED, "--types"],
        [*ASKED, "--table"],
        [*ASKED, "--project"],
        ["interpret"],
        ["audit"],
        ["design"],
        ["batch", "t.csv"],
        ["run"],
        ["report"],
        ["plot"],
    ],
    ids=lambda typed: typed[-1],
)
def test_where_a_file_is_meant_no_password_is_quoted(here, typed, address):
    before = sorted(here.rglob("*"))
    ended = irisdp([*typed, address])
    assert ended.status == 2, ended
    assert "hunter2" not in ended.line + ended.out, ended
    assert sorted(here.rglob("*")) == before
