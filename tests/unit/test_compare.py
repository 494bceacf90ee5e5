"""`irisdp compare` and `irisdp.compare`: what they say, draw, write and refuse."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import irisdp
from irisdp import BadInput, Privacy, compare, design
from irisdp._cli import run
from irisdp._measurements import CategoryNodes, LargestCategories
from irisdp.baselines import QUESTIONS
from irisdp.baselines._comparison import number_of_kinds, number_of_tables, tables
from irisdp.graphs import NeighbouringRelation
from support.commands import answered

THEORY = {"1/2": Fraction("0.927"), "1": Fraction("0.869"), "2": Fraction("0.705")}
"""Wrong winners of pull from the top over those of permute and flip at ε/2, of 20 records in 3 categories."""

ROUNDED = Fraction("0.01")

ALL = [
    ("plurality", {"categories": 3, "n": 6}),
    ("plurality", {"categories": 3, "n": 6, "relation": "add-remove"}),
    ("count", {"n": 6}),
    ("count", {"n": 6, "delta": "1/100"}),
    ("at-least 3", {"n": 6}),
    ("at-least", {"delta": "1/100"}),
    ("majority", {"n": 6}),
    ("majority", {"n": 6, "relation": "add-remove"}),
    ("median", {"categories": 3, "n": 6}),
    ("quantile 0.9", {"categories": 4, "relation": "add-remove"}),
    ("top 2", {"categories": 3, "n": 5}),
    ("ranking", {"categories": 3}),
    ("ranking", {"categories": 3, "relation": "add-remove"}),
    ("quantiles 0.25,0.5", {"categories": 4}),
    ("quantiles 0.5", {"categories": 3, "relation": "add-remove", "delta": "1/100"}),
    ("mean", {}),
    ("mean", {"relation": "add-remove"}),
    ("variance", {}),
    ("variance", {"relation": "add-remove", "delta": "1/100"}),
    ("bounds", {}),
    ("bounds", {"relation": "add-remove"}),
]

NO_BEST_WORST = {"median", "quantile 0.9", "quantiles 0.25,0.5", "quantiles 0.5", "bounds"}
"""Where the worst case is not what this library's choice looks at, or whole thresholds are up to one record larger."""


def printed(capsys, *arguments, status=0):
    assert run(["compare", *arguments]) == status
    return capsys.readouterr()


@pytest.mark.parametrize(("query", "options"), ALL)
def test_every_error_is_certain_and_the_document_says_so(query, options):
    found = compare(query, ratio=2, **options)
    document = json.loads(json.dumps(found.to_document()))
    assert document["format"] == "irisdp/comparison/1"
    names = [one["name"] for one in document["objectives"]]
    assert len(set(names)) == len(names)
    assert [one["ours"] for one in document["mechanisms"]].count(True) >= 1
    assert document["mechanisms"][0]["ours"]
    for one, shown in zip(found.mechanisms, document["mechanisms"], strict=True):
        assert shown["scope"]
        assert shown["why"]
        assert list(shown["errors"]) == names
        for name, error in shown["errors"].items():
            held = one.errors[name]
            assert Fraction(error["lower"]) <= held.lower <= held.upper <= Fraction(error["upper"])
            assert Fraction(error["upper"]) - Fraction(error["lower"]) < Fraction(1, 10**14)
            assert math.isclose(error["value"], float(held), rel_tol=1e-12)
            if error["exact"] is not None:
                assert Fraction(error["exact"]) == held.lower == held.upper


@pytest.mark.parametrize(("query", "options"), [case for case in ALL if case[0] not in NO_BEST_WORST])
def test_ours_is_nowhere_worse_at_worst(query, options):
    found = compare(query, ratio=2, **options)
    first = found.objectives[0].name
    ours = min(one.errors[first].upper for one in found.mechanisms if one.ours)
    assert all(ours <= one.errors[first].upper for one in found.mechanisms)


def test_winners_at_known_values():
    found = compare("plurality", categories=4, ratio=2, gaps=[0, 1, 2, 4], lead=[1, 3])
    pulled, flipped = found.mechanisms[:2]
    assert pulled.errors["gaps-0,1,2,4"].lower == 1 - Fraction(19, 36)
    assert pulled.errors["worst"].lower == pulled.errors["lead-1"].lower == Fraction(3, 5)
    assert [one.name for one in found.objectives] == ["worst", "lead-1", "lead-3", "gaps-0,1,2,4"]
    assert pulled.scope == design.plurality(4, Privacy(ratio=2)).scope
    assert flipped.runs_at == "ε/2 a record"
    (flipped,) = (one for one in compare("plurality", categories=3, ratio=9).mechanisms if one.name == flipped.name)
    # At √9 = 3 a category one behind is accepted with 1/3: 1 − 3·(1 − (2/3)³)/3.
    assert flipped.errors["worst"].lower == flipped.errors["worst"].upper == Fraction(8, 27)
    added = compare("plurality", categories=3, ratio=3, relation="add-remove").mechanisms
    assert [one.runs_at for one in added] == ["ε in all", *["ε a record"] * 4]
    assert added[0].errors["worst"] == added[1].errors["worst"]


@pytest.mark.parametrize("epsilon", list(THEORY))
def test_pull_over_permute_and_flip_is_what_theory_says(epsilon):
    found = compare("plurality", categories=3, n=20, epsilon=epsilon, lead=1)
    ours, flipped = (one.errors["mean-records"] for one in found.mechanisms[:2])
    assert found.mechanisms[1].name == "permute and flip"
    assert ours.upper / flipped.lower <= THEORY[epsilon] + ROUNDED


def test_counts_and_decisions_at_known_values():
    count = compare("count", ratio=3)
    assert [float(count.mechanisms[0].errors[name].lower) for name in ("absolute", "squared", "wrong")] == [
        0.75, 1.5, 0.5,
    ]  # fmt: skip
    sided = compare("at-least", 4, ratio=3, n=7, lead=2)
    ours, geometric = sided.mechanisms[:2]
    # What universality says: a geometric count, read, is as good as what was made for the question.
    assert ours.errors == geometric.errors
    assert ours.errors["lead-2"].lower == Fraction(1, 12)
    voted = compare("majority", ratio=4, lead=[1, 2, 3])
    ours, geometric = voted.mechanisms[:2]
    assert [ours.errors[f"lead-{lead}"].lower for lead in (1, 2, 3)] == [
        Fraction(1, 5),
        Fraction(1, 5),
        Fraction(1, 20),
    ]
    assert [geometric.errors[f"lead-{lead}"].lower for lead in (1, 2, 3)] == [
        Fraction(1, 3), Fraction(1, 6), Fraction(1, 12),
    ]  # fmt: skip
    assert "with a larger worst probability" in ours.scope


@pytest.mark.parametrize(("query", "named"), [("top 2", 2), ("ranking", None)])
@pytest.mark.parametrize("relation", ["exchange", "add-remove"])
def test_orders_are_the_published_table_or_sorted_counts(query, named, relation):
    """On every histogram of four records, and each other mechanism beside, taken one table at a time."""
    found = compare(query, categories=3, n=4, ratio=3, relation=relation, lead=2)
    published = LargestCategories(named, 3, Privacy(ratio=3), NeighbouringRelation(relation))
    counts = [[a, b, 4 - a - b] for a in range(5) for b in range(5 - a)]
    nodes = CategoryNodes(("a", "b", "c"), np.array(counts))
    wrong = Fraction(0)
    for cell, held in enumerate(counts):
        law = published.law(nodes, cell, 0)
        for answer, chance in law.items():
            places = ["abc".index(name) for name in re.findall(r"[abc]", answer)]
            rest = [held[place] for place in range(3) if place not in places]
            ordered = [held[place] for place in places]
            right = ordered == sorted(ordered, reverse=True) if named is None else min(ordered) >= max(rest)
            wrong += 0 if right else Fraction(chance if isinstance(chance, Fraction) else chance.lower)
    first, *others = found.mechanisms
    assert math.isclose(first.errors["mean"].lower, wrong / len(counts), abs_tol=1e-12)
    assert [one.name for one in others][-2:] == [
        "exponential mechanism, one after the other", "joint exponential mechanism",
    ]  # fmt: skip
    assert len(others) == (3 if published.table is not None else 2)
    assert all(first.errors[name].upper <= one.errors[name].upper for one in others for name in ("lead-2", "mean"))


def test_tables_are_counted_once_each():
    for n, q in ((7, 2), (6, 3), (9, 4), (3, 6)):
        kinds = list(tables(n, q))
        assert len(set(kinds)) == len(kinds) == number_of_kinds(n, q)
        assert sum(orders for _, orders in kinds) == number_of_tables(n, q)
        assert all(gaps[0] == 0 and tuple(sorted(gaps)) == gaps for gaps, _ in kinds)
    assert number_of_kinds(10**6, 2) > 50_000


def test_what_is_next_to_nothing_is_shown_as_less():
    """Gaps too large for fractions were refused, with a remedy that nobody can follow."""
    for relation in ("exchange", "add-remove"):
        found = compare("plurality", categories=3, epsilon=20, relation=relation, gaps=[0, 10_000, 5_000], lead=10_000)
        assert {one.shown(objective) for one in found.mechanisms for objective in found.objectives[1:]} == {"< 1e-50"}
        errors = found.to_document()["mechanisms"][1]["errors"]["lead-10000"]
        assert Fraction(errors["upper"]) < Fraction(1, 10**30)
        assert errors["to_ours"] is None
    voted = compare("majority", epsilon=1, lead=10_000)
    assert voted.mechanisms[0].shown(voted.objectives[1]) == "< 1e-50"
    with pytest.raises(BadInput, match=r"^epsilon: is too small for noisy counts that are sorted; "):
        compare("top", 2, categories=5, epsilon="1e-5")


def test_too_many_tables_have_no_mean_and_it_is_said():
    found = compare("plurality", categories=8, n=100, epsilon=2)
    assert not any(one.name.startswith("mean") for one in found.objectives)
    assert any("no mean" in note for note in found.notes)


def test_results_are_frames_and_pages():
    found = compare("plurality", categories=3, ratio=2)
    frame = found.to_pandas()
    assert list(frame.columns[:4]) == ["mechanism", "ours", "runs at", "worst"]
    assert frame["worst"][0] == 0.5
    assert found.to_polars().shape == (5, 7)
    assert repr(found).startswith("<Comparison: plurality, exchange, ε = 0.69")
    assert "pull from the top" in found._repr_html_()


@pytest.mark.parametrize(("query", "options"), ALL)
def test_the_picture_says_what_it_shows(query, options, tmp_path):
    found = compare(query, ratio=2, **options)
    found.save(tmp_path / "drawn.svg")
    tree = ElementTree.parse(tmp_path / "drawn.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    title, description = tree.find(f"{space}title").text, tree.find(f"{space}desc").text
    assert query in title
    texts = [one.text for one in tree.iter(f"{space}text")]
    for objective in found.objectives:
        assert objective.words[1:] in description
        for one in found.mechanisms:
            value = f"{float(one.errors[objective.name]):.4g}"
            assert f"{one.name} {value}" in description
            assert value in texts
            assert one.name in texts
    width, height = float(tree.get("width")), float(tree.get("height"))
    for bar in tree.iter(f"{space}rect"):
        assert float(bar.get("x", 0)) + float(bar.get("width")) <= width
        assert float(bar.get("y", 0)) + float(bar.get("height")) <= height
    bars = [bar for bar in tree.iter(f"{space}rect") if bar.get("height") == "15"]
    assert len(bars) == len(found.objectives) * len(found.mechanisms)


def test_the_command_prints_writes_and_does_not_overwrite(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = printed(capsys, "plurality", "--categories", "3", "--n", "6", "--epsilon", "1", "-o", "o.svg").out
    assert "pull from the top (this library)" in shown
    assert "no private mechanism has a smaller worst probability" in " ".join(shown.split())
    assert "plurality" in Path("o.svg").read_text(encoding="utf-8")
    refused = printed(capsys, "plurality", "--categories", "3", "--epsilon", "1", "-o", "o.svg", status=2).err
    assert refused == "irisdp: -o: o.svg is there already; add --force to replace it, or name another file\n"
    printed(capsys, "plurality", "--categories", "3", "--epsilon", "1", "-o", "o.svg", "--force")
    arguments = ["at-least", "4", "-n", "7", "--ratio", "3", "--lead", "1,2", "--lead", "5", "--json"]
    document = answered(printed(capsys, *arguments).out)
    assert document == compare("at-least", 4, n=7, ratio=3, lead=[1, 2, 5]).to_document()
    gaps = ["plurality", "--categories", "3", "--ratio", "3", "--gaps", "0,1,2", "--gaps", "0,0,4", "--json"]
    document = answered(printed(capsys, *gaps).out)
    assert document == compare("plurality", categories=3, ratio=3, gaps=[[0, 1, 2], [0, 0, 4]]).to_document()


@pytest.mark.parametrize(("arguments", "line"), [
    ("plurality --categories 3", "--epsilon: is missing; add --epsilon 1, or --ratio 2 for e^ε"),
    ("plurality --epsilon 1", "--categories: is missing; say how many there are, such as --categories 4"),
    ("plurality --categories 1 --epsilon 1", "--categories: must be at least 2 and at most 100; "),
    ("plurality x --categories 3 --epsilon 1", "QUERY: plurality takes no column here; "),
    ("pluralty --epsilon 1", "QUERY: pluralty cannot be compared; did you mean plurality?"),
    ("sum --epsilon 1", "QUERY: sum cannot be compared; choose from plurality, "),
    ("count --categories 3 --epsilon 1", "--categories: is not used by count; leave it out"),
    ("count --lead 3 --epsilon 1", "--lead: is not used by count; leave it out"),
    ("count age --epsilon 1", "count: takes no condition here; "),
    ("count --n 3000 --epsilon 1", "--n: must be at most 2,000 for a mean over counts; "),
    ("count --n 0 --epsilon 1", "--n: must be at least 1"),
    ("count --epsilon 0", "--epsilon: must lie between 0.000001 and 20 to compare mechanisms; "),
    ("count --epsilon 1 --ratio 2", "--epsilon: says the same as --ratio; "),
    ("count --epsilon 1 --delta 1", "--delta: must be at least 0 and below 1; "),
    ("count --epsilon 1 --relation x", "--relation: must be exchange or add-remove; "),
    ("count --epsilon 0.001 --delta 1e-6", "--epsilon: needs a discrete Gaussian wider than 3,000; "),
    ("at-least x --epsilon 1", "K: must be a whole number; "),
    ("at-least 9 --n 8 --epsilon 1", "QUERY: K must lie between 1 and n = 8; "),
    ("at-least --n 8 --epsilon 1", "QUERY: at-least needs a number K for a mean over counts; "),
    ("at-least 1 2 --epsilon 1", "at-least: takes one number K and no condition here; "),
    ("majority x --epsilon 1", "majority: takes no condition here; "),
    ("majority --n 99999 --epsilon 1", "--n: must be at most 10,000 for a mean over counts; "),
    ("majority --lead 0 --epsilon 1", "--lead: must be at least 1 and at most 10000; "),
    ("majority --lead 1,,2 --epsilon 1", "--lead: must be whole numbers with commas between them; "),
    ("plurality --categories 3 --gaps 0,1 --epsilon 1", "--gaps: must be lists of 3 gaps; "),
    ("plurality --categories 3 --gaps 1,1,2 --epsilon 1", "--gaps: must hold a 0: "),
    ("top --categories 3 --epsilon 1", "QUERY: top needs a number K and takes no column here; "),
    ("top 3 --categories 3 --epsilon 1", "K: must be at least 1 and at most 2; "),
    ("ranking --categories 6 --epsilon 1", "--categories: must be at least 2 and at most 5; "),
    ("ranking party --categories 3 --epsilon 1", "QUERY: ranking takes no column here; "),
    ("median age --categories 3 --epsilon 1", "QUERY: median takes no column here; "),
    ("median --epsilon 1", "--categories: is missing; "),
    ("median --categories 3 --gaps 0,1,2 --epsilon 1", "--gaps: is not used by median; "),
    ("quantile --categories 3 --epsilon 1", "QUERY: quantile needs a number P and takes no column here; "),
    ("quantile 1.5 --categories 3 --epsilon 1", "P: must be above 0 and at most 1; "),
    ("quantiles --categories 3 --epsilon 1", "QUERY: quantiles needs numbers P1,P2,… and takes no column here; "),
    ("quantiles 0.5,2 --categories 3 --epsilon 1", "P: must be above 0 and at most 1; "),
    ("variance age --epsilon 1", "QUERY: variance takes no column here; "),
    ("mean age --epsilon 1", "QUERY: mean takes no column here; "),
    ("bounds --n 9 --epsilon 1", "--n: is not used by bounds; leave it out"),
    ("plurality --categories 3 --epsilon 1 -o c.png", "-o: must end by .svg; "),
])  # fmt: skip
def test_what_cannot_be_compared_is_one_line(arguments, line, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = printed(capsys, *arguments.split(), status=2)
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"irisdp: {line}")
    assert not list(tmp_path.iterdir())


def test_several_pairs_are_not_compared():
    with pytest.raises(BadInput, match=r"^gaps: must be a list of whole numbers; "):
        compare("plurality", categories=3, epsilon=1, gaps=[])
    with pytest.raises(BadInput, match=r"^path: must end by \.svg; "):
        compare("count", epsilon=1).save("picture.pdf")


def test_every_question_is_in_the_help_and_the_docstring(capsys):
    assert " | ".join(question.usage for question in QUESTIONS) in " ".join(printed(capsys, "-h").out.split())
    listed = ", ".join(f'"{question.name}"' for question in QUESTIONS)
    assert f"query : {{{listed}}}" in irisdp.compare.__doc__
