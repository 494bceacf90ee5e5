"""What is refused says what to do instead: which column, which file, which command."""

import csv
import sqlite3
import sys

import pandas
import pyarrow
import pytest

import irisdp
from irisdp import BadInput, init_project
from support.commands import irisdp as irisdp_command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("a,Ward,b,ward\n1,2,3,4\n")
    (tmp_path / "loans.csv.gz").write_bytes(b"never compressed")
    (tmp_path / "plain.csv").write_text("v\n1\n")
    (tmp_path / "alone.csv").write_text("answer\n1\n")
    (tmp_path / "late.csv").write_text("town,answer\nEly,1\n")
    (tmp_path / "late.csv.release.json").write_text('{"format": "irisdp/release/1"}')
    (tmp_path / "named.csv").write_text("town,answer\nEly,1\n")
    (tmp_path / "matrix.csv").write_text("yes,no\nEly,1\n")
    (tmp_path / "copied.csv").write_text("town,answer,answer_low,answer_high\nEly,1,0,2\n")
    return tmp_path


SAID = {
    "publish twice.csv count --epsilon 1": "DATA: has two columns of one name (case does not count), or no "
    "header line; rename one of them, or add a line with the names",
    "publish loans.csv count --epsilon 1": "DATA: finds no file at 'loans.csv'; did you mean 'loans.csv.gz'?",
    "publish plain.csv.zst count --epsilon 1": "DATA: finds no file at 'plain.csv.zst'; did you mean 'plain.csv'?",
    "publish none.csv count --epsilon 1": "DATA: finds no file at 'none.csv'; give the path of an existing file",
    "publish loans.csv.gz count --epsilon 1": "DATA: is not a gzip file that can be unpacked to its end; compress it "
    "again, or take that ending off",
    "publish plain.csv count --limit 3": "--limit: is no option of irisdp publish; write for example irisdp ledger "
    "survey.ledger --limit 3,1e-6",
    "report nosuch.csv": "nosuch.csv: there is no such file; give the path of an existing file",
    "report alone.csv": "alone.csv: holds answers, and not how they were made; put alone.csv.release.json "
    "beside it, or name where it lies",
    "ledger x.ledger --grant publish=pat --grant read=rea": "--grant: is given 2 times, and can have one value; keep "
    "one of them, and run the command again for the other",
    "report alone.csv nosuch.csv": "alone.csv: holds answers, and not how they were made; put alone.csv.release.json "
    "beside it, or name where it lies",
    "run nosuch.toml": "nosuch.toml: there is no such file; check the path",
    "batch nosuch.json": "nosuch.json: there is no such file; check the path",
    "design nosuch.json": "nosuch.json: there is no such file; check the path",
    "sample ./nosuch.json --input 0": "nosuch.json: there is no such file; check the path",
    "audit late.csv": "late.csv: holds published answers, and no mechanism; give it to interpret, report or plot, or "
    "give the mechanism file",
    "audit late.csv.release.json": "late.csv.release.json: is a release, which says how answers were made, and no "
    "mechanism; give it to interpret, or to report",
    "audit copied.csv": "copied.csv: holds published answers, and no mechanism; give it to interpret, report or plot, "
    "or give the mechanism file",
    "audit named.csv": "named.csv: holds published answers, and no mechanism; give it to interpret, report or plot, "
    "or give the mechanism file",
    "audit matrix.csv": "matrix: line 2, number 1: 'Ely' must be a finite number; write numbers such as 0.25 or 1/4, "
    'a row for each input, separated by commas: "0.75, 0.25"',
    "design late.csv.release.json": "late.csv.release.json: is irisdp/release/1, and no spec, which says what to "
    'design; write {"kind": …, "privacy": …}',
    "ledger x.ledger --csv --json": "--csv: lists releases, and nothing else; leave out --json and --verify",
    "ledger no.ledger": "FILE: {here}/no.ledger is damaged or not a ledger (SQLITE_NOTADB); restore it, or name "
    "another file",
    "interpret spec.json": "spec.json: is a spec, which says what to design; run irisdp design first: irisdp design "
    "SPEC.json -o MECH.json",
    "audit made.json --epsilon 1 --ratio 2": "--epsilon: says the same as --ratio; leave one of the two out",
    "compare plurality --categories 3 --epsilon 1 --ratio 2": "--epsilon: says the same as --ratio; leave one of the "
    "two out",
    "compare quantile x --categories 3 --epsilon 1": 'P: must be a finite number; write it as "0.25", "1e-9" or "3/10"',
    "compare plurality x --categories 3 --epsilon 1": "QUERY: plurality takes no column here; leave it out: only "
    "numbers of categories are compared",
    "compare ranking x --categories 3 --epsilon 1": "QUERY: ranking takes no column here; leave it out: only numbers "
    "of categories are compared",
    "compare median x --categories 3 --epsilon 1": "QUERY: median takes no column here; leave it out: only numbers of "
    "bins are compared",
    "ledger old.db --copy-to nodir/x.ledger": "--copy-to: {here}/nodir/x.ledger cannot be opened or created (No such "
    "file or directory); name a file in a folder that can be written",
    "publish plain.csv count w=3 --epsilon 1": "EXPR: names the column 'w', which the data does not have; choose "
    "from v",
    "publish plain.csv majority --epsilon 1": "EXPR: must be a SQL condition for majority; write for example irisdp "
    'publish DATA majority "age > 64"',
    "publish plain.csv band 3,2 --epsilon 1": "T1,T2,…: must be different and ascending; write for example irisdp "
    'publish DATA band "10,100,1000" "age > 64"',
    "publish plain.csv count --epsilon 1 --epsilon 2": "--epsilon: is given 2 times, and can have one value; keep one "
    "of them",
}


@pytest.mark.parametrize("command", SAID)
def test_a_refusal_names_the_way_out(here, command):
    (here / "no.ledger").write_text("none")
    (here / "spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 2}}')
    irisdp_command("design spec.json -o made.json")
    irisdp_command("ledger old.db --limit 1")
    ended = irisdp_command(command)
    assert (ended.status, ended.line) == (2, SAID[command].replace("{here}", str(here)))
    assert [path.name for path in here.glob("*.ledger")] == ["no.ledger"]


@pytest.mark.parametrize("pin", ["--unit w", "--relation exchange", "--table other.csv"])
def test_another_promise_of_a_ledger_names_the_argument_that_the_command_has(here, pin):
    irisdp_command("ledger x.ledger --unit v --table plain.csv")
    ended = irisdp_command(f"ledger x.ledger {pin}")
    assert (ended.status, ended.line.endswith(", or name another FILE")) == (1, True)
    other = irisdp_command("publish plain.csv count --epsilon 1 --unit v --relation exchange --ledger x.ledger")
    assert other.line.endswith(". Use --relation add-remove, or name another ledger with --ledger")


def test_csv_of_a_ledger_has_the_groups_that_the_table_has(here):
    (here / "t.csv").write_text("g,v\n=1+1,1\n")
    asked = ["publish", "t.csv", "count", "--by", "g", "--groups", '=1+1,"a, b"', "--epsilon", "1"]
    assert irisdp_command(asked).status == 0
    head, line = csv.reader(irisdp_command("ledger t.ledger --csv").out.splitlines())
    assert head[3:5] == ["query", "groups"]
    assert dict(zip(head, line, strict=True))["groups"] == '\'=1+1, "a, b" (2)'


def test_a_folder_that_may_not_be_written_is_no_dead_end(here, monkeypatch):
    def refusing(*given):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sys.modules["irisdp._ledger.fingerprints"], "create_once", refusing)
    line = irisdp_command("publish plain.csv count --epsilon 1").line
    assert line.endswith(
        "; make the folder of the data writable once, or restore the secret. To keep both files elsewhere, "
        "give --ledger FILE and --secret FILE"
    )


FRAMES = {
    "pandas": lambda: pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
    "pyarrow": lambda: pyarrow.table([[1], [2], [3]], names=["a", "b", "a"]),
    "a batch": lambda: pyarrow.record_batch([[1], [2], [3]], names=["a", "b", "a"]),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_with_a_column_twice_is_told_which(kind):
    remedy = "has two columns of one name, 'a'; give each column a name of its own"
    with pytest.raises(BadInput, match=f"^data: {remedy}$"):
        irisdp.plan(FRAMES[kind](), "count", epsilon=1)
    if kind == "a batch":  # which declares no groups
        return
    with pytest.raises(BadInput, match=f"^groups: {remedy}$"):
        irisdp.plan(pyarrow.table({"a": ["x"]}), "count", by="a", groups=FRAMES[kind](), epsilon=1)


def test_a_project_that_is_there_is_no_fault_of_an_option_that_was_not_given(here):
    assert irisdp_command("init plain.csv").status == 0
    line = irisdp_command("init plain.csv").line
    assert line == (
        f"DATA: has a project file already, {here / 'plain.iris.toml'}; fill that in, add --force to replace it, or "
        "name another file with --out FILE"
    )
    assert irisdp_command("init plain.csv --out plain.iris.toml").line.startswith("--out: plain.iris.toml is there")
    assert irisdp_command("init plain.csv --force").status == 0


@pytest.mark.parametrize("limit", ["6;1e-5", "6 1e-5", "6 ; 1e-5", "6:.1"])
def test_a_limit_says_that_a_comma_parts_epsilon_and_delta(here, limit):
    remedy = "write ε and δ with a comma between, such as 1,1e-6"
    assert irisdp_command(["ledger", "plain.ledger", "--limit", limit]).line.endswith(remedy)
    (here / "plain.iris.toml").write_text(f'limit = "{limit}"')
    assert irisdp_command("publish plain.csv count --epsilon 1").line.endswith(remedy)
    (here / "plain.iris.toml").write_text('limit = "much"')
    assert "comma" not in irisdp_command("publish plain.csv count --epsilon 1").line


@pytest.mark.parametrize(
    ("limits", "told"), [(("60", "6"), ("ε = 60, δ = 0", "ε = 6, δ = 0")), (("mu=2", "mu=1"), ("μ² = 4", "μ² = 1"))]
)
def test_a_changed_limit_is_told_in_one_order(here, limits, told):
    first, second = (here / f"{name}.ledger" for name in "ab")
    for path, limit in zip((first, second), limits, strict=True):
        irisdp_command(f"ledger {path} --limit {limit}")
    with sqlite3.connect(first) as kept, sqlite3.connect(second) as changed:
        names = [row[1] for row in kept.execute("PRAGMA table_info(budget)")]
        changed.execute("DELETE FROM budget")
        row = kept.execute("SELECT * FROM budget").fetchone()
        changed.execute(f"INSERT INTO budget VALUES ({', '.join('?' * len(names))})", row)
    said = irisdp_command("ledger b.ledger --verify").err
    assert f"the limit is {told[0]}, and the history says {told[1]}" in said


def test_a_project_calls_types_by_words_of_the_list(here):
    with sqlite3.connect(here / "visits.db") as database:
        database.execute("CREATE TABLE visits (member_id INTEGER, since TIMESTAMP, town TEXT, ward TEXT, age INTEGER)")
    written = init_project(f"sqlite:///{here}/visits.db#visits").read_text()
    assert "#   since: a date or a timestamp" in written and "a date\n" not in written
    assert '#unit = "member_id"' in written and "seems to identify people" in written
    assert all(written.count(f'#"{name}" = ') == 3 for name in ("since", "town", "ward"))


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ("count --epsilon 1", True),
        ("histogram v --bins 0,1,2 --epsilon 1", True),
        ("count-distinct v --epsilon 1", True),
        ("sum v --lower 0 --upper 2 --step 1 --epsilon 1", True),
        ("at-least 1 --epsilon 1", False),
        ("count --audience board=2 --audience press=1", False),  # each has its own, in its own file
    ],
)
def test_every_number_on_the_screen_has_the_ends_that_the_file_has(here, asked, ends):
    shown = irisdp_command(f"publish plain.csv {asked}").out
    assert ("answer_low" in shown) == ("answer_high" in shown) == ends
    assert ("  interval  95 % confidence interval (noise only)" in shown) == ends


@pytest.mark.parametrize(
    ("grant", "told"),
    [
        ("publish=ann", "granted  ann may publish with this ledger, and read it\n"),
        ("read=bob", "granted  bob may read this ledger\n"),
    ],
)
def test_a_grant_says_which_role_may_now_do_what(here, monkeypatch, grant, told):
    granted = []
    monkeypatch.setattr("irisdp._ledger.roles.grant", lambda ledger, *given: granted.append(given))
    irisdp_command("ledger x.ledger --limit 1")
    assert irisdp_command(f"ledger x.ledger --grant {grant}").out.endswith(told)
    assert "granted" not in irisdp_command(f"ledger x.ledger --grant {grant} --json").out
    assert granted == [tuple(grant.split("=")[::-1])] * 2
