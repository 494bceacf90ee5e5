"""A dry run says what a real run on a copy of the ledger then charges or refuses, whatever the ledger holds."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import Cost, Ledger
from irisdp._cli import run
from irisdp._ledger import simulation
from irisdp._release import dry_run_batch, dry_run_question
from irisdp.errors import Refusal
from support.sweeps import tried

DATA = pa.table({"x": [1, 15, 25, 30], "c": ["a", "b", "a", "z"]})
CHANGED = pa.table({"x": [1, 15, 25], "c": ["a", "b", "a"]})
QUESTIONS = [
    ("count", {"epsilon": "1/2"}),
    ("count", {"epsilon": 1}),
    ("count", {"epsilon": 1, "delta": "1e-6"}),
    ("count", {"mu": "1/3"}),
    ("count", {"audience": {"board": 1, "press": "1/2"}}),
    ("count", {"audience": {"press": 2}}),
    ("majority", {"where": "x > 10", "epsilon": "1/3"}),
    ("sum", {"arguments": ["x"], "lower": 0, "upper": 20, "epsilon": "1/4"}),
    ("count", {"by": "c", "groups": ["a", "b"], "epsilon": "1/5", "relation": "exchange"}),
    ("count", {"epsilon": "1/2", "table": "another"}),
    ("count", {"epsilon": "1/2", "unit": "c"}),
]
LIMITS = [None, {"epsilon": 2}, {"epsilon": 3, "delta": "1e-6"}, {"mu": 1}, {"rho": "1/2"}]
SEEDS = range(12)


def ask(function, data, question, ledger):
    query, options = question
    options = {"table": "t", **options}
    return function(data, query, *options.pop("arguments", ()), ledger=ledger, **options)


def attempt(data, question, ledger):
    """Return what a question is charged, or the document of its refusal; None where the ledger has no price for it."""
    try:
        return ask(irisdp.publish, data, question, ledger).cost.to_document(), None
    except Refusal as refusal:
        return None, refusal.document
    except irisdp.BadInput:
        return None


def ledger_by_lot(chance, folder):
    """Make a ledger of several releases, with a limit and limits of audiences, or without."""
    place = folder / "t.ledger"
    limit = chance.choice(LIMITS)
    if limit is not None:
        Ledger(place).set_limit(**limit)
        if chance.random() < 0.5:
            Ledger(place).set_limit(**{next(iter(limit)): "2/3"}, audience="press")
    for question in chance.choices(QUESTIONS, k=chance.randrange(4)):
        attempt(DATA, question, place)
    return place


def copies(place, folder):
    """Return two ledgers that hold what one holds, under its name and with its secret."""
    found = []
    for name in ("one", "two"):
        (folder / name).mkdir()
        for file in (place, place.with_name(".tables.irisdp-secret")):
            if file.exists():
                (folder / name / file.name).write_bytes(file.read_bytes())
        found.append(folder / name / place.name)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_each_question_is_charged_what_its_dry_run_says(seed, tmp_path):
    chance = random.Random(seed)
    place = ledger_by_lot(chance, tmp_path)
    before = place.read_bytes() if place.exists() else None
    for turn, question in enumerate(chance.sample(QUESTIONS, 3)):
        (tmp_path / str(turn)).mkdir()
        own = copies(place, tmp_path / str(turn))
        for data, ledger, case in zip((DATA, CHANGED), own, ("unchanged", "changed"), strict=True):
            charged = attempt(data, question, ledger)
            try:
                outlook = ask(dry_run_question, DATA, question, place).outlook
            except irisdp.BadInput:
                # One of the two cases has no price in this currency.
                assert charged is None or case == "unchanged"
                continue
            if outlook is None:
                assert before is None
                continue
            said = getattr(outlook, case)
            cost, refused = charged
            foretold = said.refusal and said.refusal.document
            if refused and "differs" in refused:  # before the data is known, its name is not compared
                assert set(refused["differs"]) <= set(foretold["differs"])
            else:
                assert foretold == refused
            assert refused or said.cost.to_document() == cost
        assert (place.read_bytes() if place.exists() else None) == before
    assert {path.name for path in tmp_path.iterdir()} <= {
        "t.ledger",
        ".tables.irisdp-secret",
        ".tables.irisdp-state",
        *"012",
    }


@pytest.mark.parametrize("seed", range(8))
def test_a_plan_is_charged_what_its_dry_run_says(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    (tmp_path / "t.csv").write_text("x,c\n1,a\n15,b\n25,a\n")
    if seed % 3:
        Ledger("t.ledger").set_limit(chance.choice(["1/2", 1, 100]))
    lines = ['[datasets.t]\ndata = "t.csv"\nledger = "t.ledger"']
    for _ in range(5):
        epsilon = chance.choice(["1/4", "1/2", "3/4"])
        query = chance.choice(['query = "count"', 'query = "majority"\nexpression = "x > 10"'])
        lines.append(f'[[questions]]\n{query}\nepsilon = "{epsilon}"')
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    status = run(["run", "plan.toml", "--dry-run", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert not (tmp_path / "t.ledger").exists() or not Ledger("t.ledger").releases()
    try:
        published = irisdp.run("plan.toml")
    except Refusal as refusal:
        assert status == 1
        new = [one["if_changed"] for one in said["questions"] if not one["if_changed"]["repeated"]]
        stopped = [one["refused"] is not None for one in new]
        assert stopped == sorted(stopped), "what follows a question that does not fit is weighed as if that was charged"
        assert said["refused"]["error"].split("Ask with less")[0] == str(refusal).split("Ask with less")[0]
        return
    assert status == 0
    charged = [one.publication.cost.to_document() for one in published.questions]
    assert [one["if_changed"]["cost"] for one in said["questions"]] == charged
    assert said["ledgers"][0]["if_changed"] == Ledger("t.ledger").spent.to_document()
    assert run(["run", "plan.toml", "--dry-run", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert all(one["if_unchanged"]["repeated"] for one in again["questions"])


def plan_by_lot(chance, folder):
    """Write a plan of one to five datasets in one to three ledgers; datasets may share a file."""
    files = [f"t{number}.csv" for number in range(1, 6)]
    ledgers = [f"l{number}.ledger" for number in range(1, chance.randint(1, 3) + 1)]
    names = [f"d{number}" for number in range(chance.randint(1, 5))]
    lines = []
    for name in names:
        data = chance.choice(files)
        lines.append(f'[datasets.{name}]\ndata = "{data}"\nledger = "{chance.choice(ledgers)}"\ntable = "t"')
        lines.append("another-ledger = true")
    for _ in range(chance.randint(1, 6)):
        query = chance.choice(['"count"', '"count"\nexpression = "x > 10"', '"majority"\nexpression = "x > 10"'])
        epsilon = chance.choice(["1/4", "1/2", "3/4"])
        lines.append(f'[[questions]]\ndataset = "{chance.choice(names)}"\nquery = {query}\nepsilon = "{epsilon}"')
    (folder / "plan.toml").write_text("\n".join(lines))


def foretold_and_done(capsys):
    """Run the plan dry and then for good; both end alike. None instead of what was done where both are refused."""
    foretold = run(["run", "plan.toml", "--dry-run", "--json"])
    said = json.loads(capsys.readouterr().out)
    status = run(["run", "plan.toml", "--json"])
    done = json.loads(capsys.readouterr().out)
    assert foretold == status
    if status:
        assert said["refused"]["error"] == done["error"]
        return said, None
    return said, done


@pytest.mark.parametrize("seed", range(tried(40, 500)))
def test_plans_of_several_tables_are_charged_what_their_dry_run_says(seed, tmp_path, monkeypatch, capsys):
    """In charge, refusal and status, whether tables are new, unchanged or changed, and ledgers have limits or not."""
    monkeypatch.chdir(tmp_path)
    chance = random.Random(seed)
    for number in range(1, 6):  # no two hold the same
        (tmp_path / f"t{number}.csv").write_text("x,c\n1,a\n15,b\n25,a\n" + "30,b\n" * number)
    for number in range(1, 4):
        if chance.random() < 0.4:
            Ledger(f"l{number}.ledger").set_limit(chance.choice(["1/2", 1, "5/2", 100]))
    for turn in range(3):
        if turn < 2 or chance.random() < 0.3:
            plan_by_lot(chance, tmp_path)
        for number in range(1, 6):
            if turn and chance.random() < 0.3:
                with (tmp_path / f"t{number}.csv").open("a") as file:
                    file.write("40,b\n" * chance.choice([7, 70, 700][turn - 1 : turn + 1]))
        before = {number: Ledger(f"l{number}.ledger").spent for number in range(1, 4)}
        said, done = foretold_and_done(capsys)
        if done is None:
            continue
        costs = [one["expected"]["cost"] for one in said["questions"]]
        assert [one["cost"] for one in done["questions"]] == costs
        for ledger in said["ledgers"]:
            book = Ledger(ledger["file"])
            number = int(book.path.stem[1:])
            assert ledger["expected"] == book.spent.beyond(before[number]).to_document()


def growing_by_lot(chance, folder, persons):
    """Write a plan about each month of a folder, about one month, and about all of it, in one ledger."""
    unit, kept = ('unit = "c"\n', "at-most = 1\n") if persons else ("", "")
    datasets = {"each": 'partition = "month"', "one": 'partition = "month=2024-01"', "whole": ""}
    names = chance.sample(list(datasets), chance.randint(1, 3))
    lines = [f'[datasets.{name}]\ndata = "visits"\n{unit}{datasets[name]}' for name in names]
    for _ in range(chance.randint(1, 4)):
        query = chance.choice(['"count"', '"count"\nexpression = "x > 10"', '"at-least 3"\nexpression = "x > 1"'])
        epsilon = chance.choice(["1/4", "1/2", "3/4"])
        lines.append(f'[[questions]]\n{kept}dataset = "{chance.choice(names)}"\nquery = {query}\nepsilon = "{epsilon}"')
    (folder / "plan.toml").write_text("\n".join(lines))


def write_month(folder, number, size):
    place = folder / "visits" / f"month=2024-{number:02}"
    place.mkdir(parents=True, exist_ok=True)
    table = pa.table({"x": pa.array(range(size), pa.int64()), "c": [f"p{row % 7}" for row in range(size)]})
    pq.write_table(table, place / "a.parquet")


@pytest.mark.parametrize("seed", range(tried(12, 300)))
def test_plans_of_growing_tables_are_charged_what_their_dry_run_says(seed, tmp_path, monkeypatch, capsys):
    """In charge, refusal and status, whether months are new, corrected or as they were."""
    monkeypatch.chdir(tmp_path)
    chance, sizes = random.Random(seed), iter(range(3, 1000))
    months, book, persons = chance.randint(1, 3), Ledger("visits.ledger"), chance.random() < 0.4
    for number in range(1, months + 1):
        write_month(tmp_path, number, next(sizes))
    if chance.random() < 0.4:
        book.set_limit(chance.choice([1, "5/2", 100]))
    for turn in range(3):
        if turn < 2 or chance.random() < 0.3:
            growing_by_lot(chance, tmp_path, persons)
        if turn:
            for number in range(1, months + 1):
                if chance.random() < 0.3:
                    write_month(tmp_path, number, next(sizes))
            if chance.random() < 0.6:
                months += 1
                write_month(tmp_path, months, next(sizes))
        before = book.spending
        said, done = foretold_and_done(capsys)
        if done is None:
            continue
        assert [one["cost"] for one in done["questions"]] == [one["expected"]["cost"] for one in said["questions"]]
        assert [one["expected"] for one in said["ledgers"]] == [one["charged"] for one in done["ledgers"]]
        told = [[one["epsilon"], one["delta"]] for one in done["command"]["charged"]]
        charged = [list(one["charged"].values()) for one in done["ledgers"]]
        assert told == [one for one in charged if one != ["0", "0"]]
        for one in done["questions"]:
            before = before.after((one.get("partition") or {}).get("value"), Cost(*one["cost"].values()))
        after = book.spending
        assert (before.whole, {name: spent for name, spent in before.parts.items() if not spent.is_nothing}) == (
            after.whole,
            after.parts,
        )


def test_two_names_of_one_content_in_one_ledger_are_not_foretold(tmp_path, monkeypatch, capsys):
    """The ledger accepts the second by its content alone, so the dry run says both cases, of which one holds."""
    monkeypatch.chdir(tmp_path)
    plan = ""
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n15\n")
        plan += f'[datasets.{name}]\ndata = "{name}.csv"\nledger = "l.ledger"\n'
        plan += f'[[questions]]\ndataset = "{name}"\nquery = "count"\nepsilon = 1\n'
    plan += '[[questions]]\ndataset = "b"\nquery = "majority"\nexpression = "x > 10"\nepsilon = 2\n'
    (tmp_path / "plan.toml").write_text(plan)
    run(["run", "plan.toml", "--dry-run", "--json"])
    (ledger,) = json.loads(capsys.readouterr().out)["ledgers"]
    assert ledger["expected"] is None
    assert run(["run", "plan.toml"]) == 0
    assert Ledger("l.ledger").spent.epsilon == 3


def test_a_batch_is_charged_what_its_dry_run_says(tmp_path):
    plan = {"budget": {"epsilon": 1}, "questions": [{"query": "count"}, {"query": "majority x > 10"}]}
    ledger = tmp_path / "t.ledger"
    Ledger(ledger).set_limit("3/2")
    said = dry_run_batch(plan, data=DATA, ledger=ledger).outlook
    assert irisdp.batch(plan, data=DATA, ledger=ledger).cost == said.changed.cost == said.unchanged.cost
    said = dry_run_batch(plan, data=DATA, ledger=ledger).outlook
    assert said.unchanged.repeated
    with pytest.raises(Refusal) as refused:
        irisdp.batch(plan, data=CHANGED, ledger=ledger)
    assert said.changed.refusal.document == refused.value.document


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_copied_where_pages_are_not(seed, tmp_path, monkeypatch):
    place = ledger_by_lot(random.Random(seed), tmp_path)
    Ledger(place).set_limit("5/2") if not place.exists() else None
    whole = [ask(dry_run_question, DATA, question, place) for question in QUESTIONS[:2]]
    monkeypatch.setattr(simulation, "_LARGEST_WHOLE", 0)
    parts = [ask(dry_run_question, DATA, question, place) for question in QUESTIONS[:2]]
    assert [one.outlook.to_document() for one in whole] == [one.outlook.to_document() for one in parts]


@pytest.mark.parametrize("limit", LIMITS[1:], ids=str)
def test_a_ledger_in_any_place_is_charged_what_its_dry_run_says(ledger, tmp_path, limit):
    """Whoever asks next is told what the next question then costs, on a file and on a server."""
    ledger.set_limit(**limit)
    secret = tmp_path / "secret"
    for question in QUESTIONS[:7]:
        asked = (question[0], {**question[1], "secret": secret})
        try:
            outlook = ask(dry_run_question, DATA, asked, ledger).outlook
        except irisdp.BadInput:
            assert attempt(DATA, asked, ledger) is None
            continue
        lines = len(ledger.releases())
        cost, refused = attempt(DATA, asked, ledger)
        assert (outlook.unchanged.refusal and outlook.unchanged.refusal.document) == refused
        assert refused or outlook.unchanged.cost.to_document() == cost
        assert refused is None or len(ledger.releases()) == lines
