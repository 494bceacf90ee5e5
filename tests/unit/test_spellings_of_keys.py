"""Keys of two words, with a hyphen or an underscore, in every document; folders that are missing or disagree."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import irisdp
from irisdp import BadInput
from support.commands import irisdp as command

TABLE = "id,pay,day\n" + "1,2,03.01.2024\n2,3,04.01.2024\n" * 3


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize("key", ["at-most", "at_most", "max-contributions", "max_contributions"])
def test_every_document_takes_both_spellings(here, key):
    (here / "t.iris.toml").write_text(f'unit = "id"\n{key} = 2\n')
    asked = irisdp.plan("t.csv", "count", epsilon=1)
    assert asked.contribution.records == 2
    (here / "t.iris.toml").unlink()
    (here / "plan.toml").write_text(
        f'[datasets.t]\ndata = "t.csv"\nunit = "id"\n[[questions]]\nquery = "count"\nepsilon = 1\n{key} = 2\n'
    )
    plan = json.loads(command("run plan.toml --dry-run --json").out)
    batch = {"data": "t.csv", "unit": "id", "budget": {"epsilon": 1}, "questions": [{"query": "count", key: 2}]}
    for document in (plan["questions"][0], irisdp.plan_batch(batch).to_document()["questions"][0]):
        assert document["at_most"] == 2


def test_both_spellings_together_are_refused(here):
    (here / "t.iris.toml").write_text('date-format = "%d.%m.%Y"\ndate_format = "%Y"\n')
    assert "has date_format twice, with a hyphen and without" in command("publish t.csv count --epsilon 1").err
    (here / "t.iris.toml").unlink()
    asked = {"data": "t.csv", "missing-codes": "9", "missing_codes": "8", "budget": {"epsilon": 1}, "questions": []}
    with pytest.raises(BadInput, match="missing_codes: is written twice, with a hyphen and without"):
        irisdp.plan_batch(asked)


@pytest.mark.parametrize(
    ("date", "codes"), [("format", "missing"), ("date-format", "missing-codes"), ("date_format", "missing_codes")]
)
def test_types_take_the_names_of_options(here, date, codes):
    types = {"day": {"type": "date", date: "%d.%m.%Y"}, "pay": {"type": "integer", codes: [3]}}
    asked = irisdp.plan("t.csv", "count", "day > DATE '2024-01-03' AND pay > 0", epsilon=1, types=types)
    plain = {"day": {"type": "date", "format": "%d.%m.%Y"}, "pay": {"type": "integer", "missing": [3]}}
    assert (
        asked.question()
        == irisdp.plan("t.csv", "count", "day > DATE '2024-01-03' AND pay > 0", epsilon=1, types=plain).question()
    )
    with pytest.raises(BadInput, match="types: gives day date_format, which is another name of format"):
        irisdp.plan("t.csv", "count", epsilon=1, types={"day": {"type": "date", "format": "%d", "date_format": "%d"}})


@pytest.mark.parametrize("place", ["nowhere", "nowhere/", "nowhere/at all"])
def test_a_missing_folder_is_called_missing(here, place):
    with pytest.raises(BadInput, match=r"^data: finds no file and no folder of this name; check the path$"):
        irisdp.plan(place, "count", epsilon=1)
    (here / "nowhere").mkdir()
    with pytest.raises(BadInput, match="finds no"):
        irisdp.plan(place, "count", epsilon=1)


def test_partitions_that_disagree_are_named_with_their_types(here):
    for month, values in ((1, [1, 2]), (2, [1, 2]), (3, ["x", "y"])):
        (here / f"visits/month={month}").mkdir(parents=True)
        pq.write_table(pa.table({"v": values}), here / f"visits/month={month}/p.parquet")
    said = command("publish visits count --epsilon 1").err
    assert "differ in the column 'v': it is string in the former, file 3 of 3 in the order of names" in said
    assert "and it is int64 in the first; give all files the same columns, of the same types" in said
    assert "month=3" not in said  # a value of a partition may be a record's
    pq.write_table(pa.table({"w": [1]}), here / "visits/month=3/p.parquet")
    assert "it is missing in the former, file 3 of 3" in command("publish visits count --epsilon 1").err
