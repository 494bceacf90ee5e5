"""A page about some records of each person says so wherever a number, or an error, could be taken for one of all."""

import re

import pyarrow
import pytest

import irisdp
from support.read_pages import ReadPage

KINDS = {"by": "kind", "groups": "a,b"}
NAMES = {"categories": "a,b"}
BINS = {"bins": "10,20"}
BETWEEN = {"lower": 0, "upper": 40}
ONE = "Of one record of each member, chosen at random: "
SO_MANY = "That there are so many records, or so many different values of member with such a record: of each member "
THE_SAME = "That the same holds of all records: of each member "
SOME = {
    "by": (("count",), KINDS, ONE + "how many records there are, for each kind.", SO_MANY),
    "condition": (
        ("count", "days > 20"),
        {},
        ONE + "how many records there are for which “days > 20” is true.",
        SO_MANY,
    ),
    "selected": (("count",), {"by": "kind", "select_groups": True, "delta": "1e-6"}, ONE + "how many records", SO_MANY),
    "histogram": (("histogram", "days"), BINS, ONE + "how many records there are, for each days_bin", SO_MANY),
    "sizes": (("sizes", "kind"), {}, ONE + "how large the categories of kind are", SO_MANY),
    "at-least": (("at-least", 3), {}, ONE + "whether there are at least 3 records.", SO_MANY),
    "at-most": (("at-most", 3), {}, ONE + "whether there are at most 3 records.", SO_MANY),
    "band": (("band", "2,4"), {}, ONE + "in which band the number of records lies", SO_MANY),
    "count-distinct": (("count-distinct", "kind"), {}, ONE + "how many different values kind has.", THE_SAME),
    "majority": (("majority", "days > 20"), {}, ONE + "whether “days > 20” is true of more", THE_SAME),
    "sum": (("sum", "days"), BETWEEN, ONE + "the sum of days", THE_SAME),
    "mean": (("mean", "days"), BETWEEN, ONE + "the mean of days", THE_SAME),
    "plurality": (("plurality", "kind"), NAMES, ONE + "which category of kind most records have.", THE_SAME),
    "median": (("median", "days"), BINS, ONE + "which bin holds the median of days.", THE_SAME),
    "quantile": (("quantile", "0.9", "days"), BINS, ONE + "which bin holds the quantile 0.9 of days.", THE_SAME),
    "top": (("top", 1, "kind"), NAMES, ONE + "which 1 categories of kind most records have.", THE_SAME),
    "ranking": (("ranking", "kind"), NAMES, ONE + "how the categories of kind rank", THE_SAME),
    "audience": (("count",), KINDS | {"audience": {"board": 2}}, ONE + "how many records there are, for each", SO_MANY),
    "several": (
        ("count",),
        KINDS | {"at_most": 3, "groups_per_unit": 1},
        "Of at most 3 records of each member, in one group, chosen at random: how many records there are, for each",
        SO_MANY,
    ),
}
COUNTS = ("by", "condition", "selected", "histogram", "sizes", "audience")


def asked(question, options, folder):
    table = pyarrow.table({"member": [1, 1, 1, 2, 2, 3], "kind": list("abaabb"), "days": [3, 30, 9, 22, 5, 40]})
    private = {} if "audience" in options else {"epsilon": 1}
    which = {} if options.keys() & {"at_most", "per_unit"} else {"at_most": 1}
    return irisdp.publish(table, *question, unit="member", ledger=folder / "l", **private, **which, **options)


@pytest.mark.parametrize("name", SOME)
def test_some_records_of_each_are_not_all(name, tmp_path):
    question, options, words, warning = SOME[name]
    page = ReadPage(irisdp.report(asked(question, options, tmp_path)))
    assert words in page.text
    few = "at most 3" if name == "several" else "only one"
    assert f"{warning}{few}, chosen at random, counted." in page.text
    assert f"{'at most 3 records' if name == 'several' else 'one record'} of each member" in page.text
    assert not re.search("(?<!chosen at random: )[Hh]ow many records", page.text)
    if name in COUNTS:
        assert "Numbers count records, one per member." in page.text
        assert "different member" not in page.text
    assert page.problems == []


def test_persons_are_said_to_be_counted_where_they_are(tmp_path):
    for question, options, words in (
        (("count",), {}, "How many different values of member there are."),
        (
            ("count", "days > 20"),
            {"per_unit": "any"},
            "Taking each member as one record, which says yes if any of its records do: how many records there are for",
        ),
        (("count", "days > 20"), {"per_unit": "all", **KINDS}, "in the group of one of them, chosen at random: how"),
    ):
        text = ReadPage(irisdp.report(asked(question, options, tmp_path))).text
        assert words in text
        assert "Numbers count different values of member." in text
        assert re.search(r"off by [0-9.]+ values of member on average", text)
        assert SO_MANY not in text and THE_SAME not in text
        assert ("That a member is in one group alone" in text) == ("by" in options)


def test_errors_are_measured_in_words_of_one_piece(tmp_path):
    for question, options, words in (
        (("count",), KINDS | {"at_most": 5}, r"off by [0-9.]+ records on average"),
        (("count-distinct", "kind"), {}, r"off by at most \d+ values of kind in 95 % of cases"),
        (("count",), KINDS | {"epsilon": 20}, r"off by at most 0 records in 95 % of cases"),
        (("count",), KINDS | {"epsilon": 3}, r"off by at most 1 record in 95 % of cases"),
        (("median", "days"), BINS, r"off by at most \d+ records in 95 % of cases"),
        (("sum", "days"), BETWEEN, r"off by at most \d+ in 95 % of cases, as days is measured"),
    ):
        found = irisdp.publish(
            pyarrow.table({"member": [1, 2], "kind": ["a", "b"], "days": [3, 9]}),
            *question,
            unit="member",
            ledger=tmp_path / "l",
            **({"epsilon": 1, "at_most": 1} | options),
        )
        assert re.search(words, ReadPage(irisdp.report(found)).text), question


def test_the_page_of_a_plan_and_of_a_batch_say_it_of_each_question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("member,kind\n" + "1,a\n1,b\n2,a\n" * 5)
    question = '[[questions]]\nquery = "count"\nby = "kind"\ngroups = ["a", "b"]\nepsilon = 1\n'
    one = "at_most = 1\n"
    (tmp_path / "p.toml").write_text(
        f'report = "plan.html"\n[datasets.t]\ndata = "t.csv"\nunit = "member"\n{question}{one}{question}at-most = 2\n'
    )
    irisdp.run("p.toml")
    of_kind = {"query": "count", "by": "kind", "groups": "a,b", "at_most": 1}
    batch = {"data": "t.csv", "unit": "member", "budget": {"epsilon": 1}, "questions": [of_kind, {"query": "count"}]}
    irisdp.batch(batch, ledger="b.ledger", report="batch.html")
    for name in ("plan", "batch"):
        page = ReadPage((tmp_path / f"{name}.html").read_text(encoding="utf-8"))
        assert "Countedone record of each member, chosen at random" in page.text
        assert "Of one record of each member, chosen at random: how many records there are" in page.text
    assert "Countedat most 2 records of each member" in (tmp_path / "plan.html").read_text(encoding="utf-8").replace(
        "</dt><dd>", ""
    )
