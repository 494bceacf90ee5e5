"""A column that is misspelt is said to be missing before anything that a question about it needs."""

import json

import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries.reading import QUERIES
from support.commands import irisdp as irisdp_command

OF_OUTCOME = ("count-distinct", "plurality", "top 2", "ranking", "sizes", "column", "histogram", "apply gaps.json")
OF_MINUTES = ("sum", "mean", "median", "quantile 0.9", "histogram")
SAID = "names the column {!r}, which the data does not have; did you mean {}? choose from outcome, minutes, weight"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.csv").write_text("outcome,minutes,weight\nheard,3,1\nlost,12,2\n")
    (tmp_path / "calls.iris.toml").write_text('[categories]\noutcome = ["heard", "lost"]\n')
    gaps = irisdp.design.from_spec(
        {"kind": "plurality", "categories": 2, "largest": 1, "relation": "add-remove", "privacy": {"ratio": 2}}
    )
    gaps.save(tmp_path / "gaps.json")
    return tmp_path


def asked():
    for column, meant, queries in (("outcom", "outcome", OF_OUTCOME), ("minuts", "minutes", OF_MINUTES)):
        yield from ((f"{query} {column}", SAID.format(column, meant)) for query in queries)


@pytest.mark.parametrize(("query", "said"), list(asked()))
def test_a_misspelt_column_comes_first(here, query, said):
    options = {} if query.startswith("apply") else {"epsilon": 1}
    given = "" if query.startswith("apply") else " --epsilon 1"
    assert irisdp_command(f"publish calls.csv {query}{given} --dry-run").line == f"QUERY: {said}"
    with pytest.raises(BadInput) as refused:
        irisdp.plan("calls.csv", query, **options)
    assert str(refused.value) == f"query: {said}"
    (here / "plan.json").write_text(
        json.dumps({"data": "calls.csv", "budget": {"epsilon": 1}, "questions": [{"query": query}]})
    )
    line = irisdp_command("batch plan.json").line
    assert line.endswith(f"query: {said}") or "a batch shares one out" in line
    level = "" if query.startswith("apply") else "epsilon = 1\n"
    (here / "plan.toml").write_text(f'[datasets.c]\ndata = "calls.csv"\n[[questions]]\nquery = "{query}"\n{level}')
    assert irisdp_command("run plan.toml --dry-run").line == f"question 1: query: {said}"
    name, *words = query.split()
    with pytest.raises(BadInput) as refused:
        getattr(irisdp.Session("calls.csv"), name.replace("-", "_"))(*words, **options)
    assert str(refused.value) == f"query: {said}"
    assert not list(here.glob("*.ledger"))


def test_every_query_about_a_column_is_asked():
    about = {name for name, kind in QUERIES.items() if "about" in getattr(kind, "__dataclass_fields__", {})}
    assert about == {query.split()[0] for query in (*OF_OUTCOME, *OF_MINUTES)}


def test_a_misspelt_weight_comes_before_bounds(here):
    line = irisdp_command("publish calls.csv sum minutes --weight wieght --epsilon 1").line
    assert line == f"--weight: {SAID.format('wieght', 'weight')}"


def test_a_column_whose_name_looks_like_a_condition_is_one(here):
    (here / "calls.csv").write_text("outcome = 1,minutes\n1,2\n")
    (here / "calls.iris.toml").unlink()
    assert irisdp_command(["publish", "calls.csv", "count-distinct", "outcome = 1", "--epsilon", "1"]).status == 0
