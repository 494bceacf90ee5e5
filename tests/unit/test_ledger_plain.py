"""A ledger on a server is plain tables: nobody's code runs with its user's rights, and all see the same rows."""

import hashlib
import json
import secrets

import pytest

from irisdp import BadInput, Cost, Ledger
from irisdp._ledger.roles import grant
from irisdp._ledger.server_store import explain
from unit.test_ledger_roles import TENTH, ask, team, try_sql

psycopg = pytest.importorskip("psycopg", reason='needs psycopg: pip install "irisdp[postgresql]"')

__all__ = ["team"]

RUNS = "RETURNS int LANGUAGE plpgsql AS $$ BEGIN UPDATE budget SET epsilon = '777'; RETURN 4; END $$"
CODE = {
    "a view in place of a table": "ALTER TABLE release RENAME TO r_;"
    " CREATE VIEW release AS SELECT * FROM r_ WHERE false",
    "a view that calls a function": f"CREATE FUNCTION public.run_%s() {RUNS}; ALTER TABLE ledger_format RENAME TO f_;"
    " CREATE VIEW ledger_format AS SELECT application, public.run_%s() AS version FROM f_",
    "a rule": "CREATE RULE r AS ON INSERT TO release DO INSTEAD NOTHING",
    "a trigger": "CREATE FUNCTION public.run_%s() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
    " CREATE TRIGGER t BEFORE INSERT ON release FOR EACH ROW EXECUTE FUNCTION public.run_%s()",
    "a guard of another text": "CREATE OR REPLACE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql"
    " SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN NEW; END'",
    "a guard with its owner's rights": "ALTER FUNCTION keep_history() SECURITY DEFINER",
    "a guard that finds other names": "ALTER FUNCTION keep_history() SET search_path = public",
    "a guard on a condition": "DROP TRIGGER keep_history ON history;"
    " CREATE TRIGGER keep_history BEFORE INSERT ON history FOR EACH ROW WHEN (NEW.id < 0)"
    " EXECUTE FUNCTION keep_history()",
    "a default": f"CREATE FUNCTION public.run_%s() {RUNS};"
    " ALTER TABLE release ALTER details SET DEFAULT public.run_%s()",
    "a column that is computed": "ALTER TABLE release ADD COLUMN more int GENERATED ALWAYS AS (id + 1) STORED",
    "a condition": f"CREATE FUNCTION public.run_%s() {RUNS};"
    " ALTER TABLE release ADD CONSTRAINT c CHECK (public.run_%s() > 0) NOT VALID",
    "an index of what is computed": "CREATE INDEX i ON release (lower(epsilon))",
    "an index of some rows": "CREATE INDEX i ON release (epsilon) WHERE id > 1000",
    "rows of another table": "CREATE TABLE public.more_%s () INHERITS (release)",
    "a function": f"CREATE FUNCTION run() {RUNS}",
    "an operator": "CREATE OPERATOR =@ (leftarg = int, rightarg = int, function = int4eq)",
    "a type": "CREATE DOMAIN text AS pg_catalog.text CHECK (VALUE <> 'x')",
    "a column of another type": "CREATE DOMAIN public.t_%s AS text; ALTER TABLE budget ALTER epsilon TYPE public.t_%s",
    "a policy": "ALTER TABLE release ENABLE ROW LEVEL SECURITY",
    "a policy that is not in force": "CREATE POLICY p ON release USING (false)",
    "equal charges are refused": "CREATE UNIQUE INDEX i ON release (epsilon, delta)",
    "equal charges are refused at the end": "ALTER TABLE release ADD UNIQUE (epsilon) DEFERRABLE",
    "an index that excludes": "ALTER TABLE release ADD EXCLUDE USING btree (epsilon WITH =)",
    "charges that go with another row": "CREATE TABLE more (id int PRIMARY KEY);"
    " ALTER TABLE release ADD FOREIGN KEY (id) REFERENCES more ON DELETE CASCADE NOT VALID",
    "a column more": "ALTER TABLE release ADD COLUMN more text",
    "a column that may be null": "ALTER TABLE release ALTER delta DROP NOT NULL",
    "a column of shorter text": "ALTER TABLE settlement ALTER query TYPE varchar(900)",
    "a column that counts itself": "ALTER TABLE history ALTER id ADD GENERATED ALWAYS AS IDENTITY",
    "a guard that is off": "ALTER TABLE history DISABLE TRIGGER keep_history",
    "an index that compares otherwise": "CREATE COLLATION public.c_%s (provider = icu, locale = 'und-u-ks-level2',"
    " deterministic = false); CREATE INDEX i ON settlement (fingerprint COLLATE public.c_%s)",
    "a table of another owner": "ALTER TABLE release OWNER TO pg_monitor",
    "a table that is gone": "DROP TABLE output",
}


@pytest.mark.parametrize("code", CODE)
def test_what_is_no_plain_table_is_refused_to_all(team, server, code):
    own, books = team
    ask(books["publish"], 1)
    before = server.execute("SELECT epsilon FROM budget", own.store.address.schema)
    server.execute(CODE[code].replace("%s", secrets.token_hex(4)), own.store.address.schema)
    for book in (own, books["publish"], books["read"]):
        for use in (lambda book: ask(book, 2), lambda book: book.verify(), lambda book: book.to_document()):
            with pytest.raises(BadInput, match=r"plain tables|42P01|42501"):
                use(Ledger(book.place))
    if "budget" not in CODE[code]:
        assert server.execute("SELECT epsilon FROM budget", own.store.address.schema) == before


def test_what_a_team_puts_beside_a_ledger_is_no_part_of_it(team, server):
    """Also a reporting view of its own, and names that are not the ledger's."""
    own, books = team
    server.execute("CREATE VIEW spent_so_far AS SELECT epsilon FROM release; CREATE TABLE notes (x text)",
                   own.store.address.schema)  # fmt: skip
    ask(books["publish"], 1)
    assert (books["read"].spent, own.verify().problems) == (TENTH, ())


@pytest.mark.parametrize("place", ["public", "the schema of a role's name"])
def test_what_others_put_on_the_path_is_not_called(team, server, place):
    """Whoever may create where a role's names are looked up would have their SQL run with that role's rights."""
    own, books = team
    ask(books["publish"], 1)
    where = place if place == "public" else "iris"
    if place != "public":
        server.execute("CREATE SCHEMA IF NOT EXISTS iris")
    schema = own.store.address.schema
    same = "RETURN $1::pg_catalog.text OPERATOR(pg_catalog.=) $2::pg_catalog.text"
    run = f"LANGUAGE plpgsql AS $$ BEGIN UPDATE \"{schema}\".budget SET epsilon = '777'; {same}; END $$"
    server.execute(
        f"CREATE FUNCTION {where}.evil(oid, regnamespace) RETURNS bool {run};"
        f"CREATE OPERATOR {where}.= (leftarg = oid, rightarg = regnamespace, function = {where}.evil);"
        f"CREATE FUNCTION {where}.hashtextextended(text, integer) RETURNS bigint LANGUAGE plpgsql AS"
        f" $$ BEGIN UPDATE \"{schema}\".budget SET epsilon = '777'; RETURN 1; END $$;"
        f"CREATE UNLOGGED TABLE {where}.bait (x int)"
    )
    try:
        server.execute("SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('pg_catalog')", where)
        assert Ledger(own.place).limit == Cost("777"), "control: by such a name it is called"
        server.execute("UPDATE budget SET epsilon = '0.2'", schema)
        assert own.store.exists()
        assert Ledger(own.place).verify().problems == ()
        ask(own, 2)
        Ledger(server.address()).set_limit(1)
        assert (own.limit, own.verify().problems) == (TENTH * 2, ())
    finally:
        server.execute(f"DROP OPERATOR {where}.= (oid, regnamespace); DROP FUNCTION {where}.evil;"
                       f" DROP FUNCTION {where}.hashtextextended(text, integer); DROP TABLE {where}.bait")  # fmt: skip


def chained(book, event):
    """Return the statement that adds a line as Iris would."""
    ((number, before),) = book.store.write(
        lambda rows: rows.find("SELECT id, hash FROM history ORDER BY id DESC LIMIT 1")
    )
    text = json.dumps(event)
    digest = hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
    return f"INSERT INTO history (id, event, hash) VALUES ({number + 1}, '{text}', '{digest}')"


def test_nobody_but_the_owner_opens_what_was_closed(team, tmp_path):
    """Neither after it was seen to be closed, nor by a line made for the moment before."""
    own, books = team
    ask(books["publish"], 1)
    before = chained(own, {"event": "outputs", "outputs": []})
    try_sql(books["publish"], before)
    stale = chained(own, {"event": "outputs", "outputs": []})
    moved = own.copy_to(tmp_path / "there.ledger")
    where = own.store.address.schema
    with psycopg.connect(own.store.address.told) as looking:
        ((number, last),) = looking.execute(f'SELECT id, hash FROM "{where}".history ORDER BY id DESC LIMIT 1')
    text = '{"event": "outputs", "outputs": []}'
    after = f"INSERT INTO history (id, event, hash) VALUES ({number + 1}, '{text}', '%s')" % (
        hashlib.sha256(f"{last}\n{text}".encode()).hexdigest()
    )
    for line in (stale, after, stale.replace(f"({number},", f"({number + 1},")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            try_sql(books["publish"], line)
    with pytest.raises(Exception, match="was moved"):
        ask(books["publish"], 2)
    assert (own.verify().problems, moved.verify().problems) == ((), ())


def test_a_publisher_adds_lines_of_the_chain_alone(team):
    """And those that add no rows are shown, for what they say is not so."""
    own, books = team
    ask(books["publish"], 1)
    right = chained(own, {"event": "release", "settlement": [9, "x"], "releases": []})
    other = "1" if right[-3] == "0" else "0"  # the last digit of the hash, changed
    for wrong in (f"{right[:-3]}{other}')", right.replace("VALUES (", "VALUES (1")):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            try_sql(books["publish"], wrong)
    assert own.verify().problems == ()
    try_sql(books["publish"], right)
    assert own.verify().problems == ("question 9 is gone",)


def test_granting_again_gives_a_ledger_the_guards_of_today(team):
    own, books = team
    (role,) = own.store.write(lambda rows: rows.find("SELECT current_user"))[0]
    grant(own, role, "publish")
    ask(books["publish"], 1)
    assert own.verify().problems == ()


def test_a_question_that_was_cancelled_is_no_damage():
    error = explain("postgresql://a/b", psycopg.errors.QueryCanceled())
    assert "damaged" not in str(error)
    assert "was told to stop" in error.rule and error.exit_status == 4


RUINS = [
    "UPDATE promise SET facts = jsonb_set(facts::jsonb, '{zzz}', '1')::text",
    "UPDATE promise SET facts = jsonb_set(facts::jsonb, '{audiences}', '{}')::text",
    "INSERT INTO release (id, settlement, epsilon, delta, details, answers) VALUES (2, 1, '-2', '0', '{}', '')",
    "INSERT INTO release (id, settlement, epsilon, delta, details, answers) VALUES (2, 1, '1/0', '0', '{}', '')",
    "INSERT INTO release (id, settlement, epsilon, delta, details, answers) VALUES (2, 1, '1', 'x', '{}', '')",
    "INSERT INTO release (id, settlement, epsilon, delta, details, answers) VALUES (2, 1, '1', '0', '[]', '')",
    "INSERT INTO release (id, settlement, epsilon, delta, details, answers) VALUES (2147483647, 1, '1', '0', '{}', '')",
    "INSERT INTO settlement (id, settled, query, question, question_hash, fingerprint)"
    " VALUES (2147483647, '', '', '', '', '')",
]


@pytest.mark.parametrize("statement", RUINS)
def test_who_publishes_cannot_make_a_ledger_that_nobody_reads(team, statement):
    own, books = team
    ask(books["publish"], 1)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        try_sql(books["publish"], statement)
    ask(books["publish"], 2)
    assert (own.spent, own.verify().problems) == (TENTH * 2, ())


def test_a_promise_pinned_by_who_publishes_is_one(team):
    """Before there is any: the row is new."""
    own, books = team
    for facts in ('{"zzz": 1}', '{"columns": "x"}', '{"audiences": {}}', "[]"):
        with pytest.raises(psycopg.Error):
            try_sql(books["publish"], f"INSERT INTO promise (id, facts) VALUES (1, '{facts}')")
    ask(books["publish"], 1)
    assert own.verify().problems == ()


def test_nothing_is_added_to_a_ledger_that_went_elsewhere_and_it_may_come_back(team, tmp_path):
    own, books = team
    ask(books["publish"], 1)
    there = own.copy_to(tmp_path / "there.ledger")
    for statement in (
        "INSERT INTO settlement (id, settled, query, question, question_hash, fingerprint)"
        " VALUES (2, '', '', '', '', '')",
        "INSERT INTO output (release, path) VALUES (1, '/x')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            try_sql(books["publish"], statement)
    ask(there, 2)
    there.copy_to(own.place)
    assert (own.spent, own.verify().problems) == (TENTH * 2, ())


def test_to_grant_waits_for_nobody_who_reads(team):
    own, books = team
    ask(books["publish"], 1)
    role = books["nothing"].store.address.told
    with psycopg.connect(books["read"].store.address.told) as reading:
        reading.execute(f'SELECT * FROM "{own.store.address.schema}".history, "{own.store.address.schema}".promise')
        grant(own, psycopg.conninfo.conninfo_to_dict(role)["user"], "publish")
    assert ask(books["nothing"], 1).repeated
