"""What version 0.1 wrote, said and charged, against today: every key is still there, with the same value.

The documents in the folder beside are what `support/stored.py` recorded with the library of that version. What changed
since is listed below, each with its reason; a change that no longer happens fails as well.
"""

import json
import math
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import irisdp as library
from irisdp._cli.main import app
from irisdp._measurements import ASSURED
from irisdp._queries import FORMS
from irisdp.consumers._loss_functions import SPELLINGS
from irisdp.design import KINDS
from support import stored
from support.bindings import unbind
from support.commands import irisdp

STORED = Path(__file__).parent / "version_0_1"
VERIFIER = Path(library.__file__).parent / "certify" / "verify_mechanism.py"
*EARLIER_FORMS, LAST_FORM = (form.usage for form in FORMS)
AMONG = ", among mechanisms with these boundary rows"


def told(section):
    return json.loads((STORED / f"{section}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Change:
    """A value that is another since version 0.1: where it stands, why, and what still holds of old and new."""

    section: str
    place: str
    reason: str
    holds: Callable[[Any, Any], bool] = lambda old, new: type(old) is type(new)


def same_columns(old, new):
    """Answers are random, and so is which groups are selected: columns and kinds of answers are not."""
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(same_columns(old[name], new[name]) for name in old)
    kinds = [
        {(tuple(name for name in row if name not in ASSURED), type(row["answer"])) for row in rows}
        for rows in (old, new)
        if rows
    ]
    return all(kind == kinds[0] for kind in kinds)


def same_and_more(old, new):
    """What is listed is still there, in the same order, and more is."""
    return [one for one in new if one in old] == old


def costs_half(old, new):
    """The ε is half of what it was."""
    return 2 * Fraction(new) == Fraction(old)


def nearly(old, new):
    """The number is the same to 18 digits after the point."""
    return abs(Fraction(old) - Fraction(new)) < Fraction(1, 10**18)


OTHER_OPTIMA = [
    ("consumer-zero-one", "matrix"),
    ("consumer-knows-bounds", "matrix"),
    ("consumer-knows-bounds", "certificate"),
    ("consumer-knows-a-set", "matrix"),
    ("consumer-squared", "certificate"),
    ("rainbow-no-optimum", "witnesses"),
]
CHANGES = [
    Change("designs", "*/certificate/digest", "it covers the certificate, which names the bound's scope since then"),
    Change(
        "designs", "*/objective/name", "a bound among mechanisms with the same boundary rows says so in its name",
        lambda old, new: old.removesuffix(", balanced boundary") + AMONG == new,
    ),
    *(
        # What is worth as much, and proved so, is compared all the same: the objective's value and bound.
        Change("designs", f"/{name}/document/{part}/*", "of several optima, HiGHS 1.16 finds another")
        for name, part in OTHER_OPTIMA
    ),
    *(
        Change("designs", place, "an optimum under an ε is found to 40 digits, not to its last ones", nearly)
        for place in (
            "*/objective/value", "/consumer-prior/document/matrix/*",
            "/distance-cycle/document/matrix/*",
        )
    ),
    Change("interpretations", "*/chances/*", "a small game is solved to 40 digits, not to its last ones", nearly),
    *(
        Change(
            section, "*/groups/sha256", "groups are one question in any order and spelling: what is hashed is sorted",
            lambda old, new: len(old) == len(new) == 64,
        )
        for section in ("plans", "sidecars")
    ),
    Change("publications", "*/document/answers", "answers are drawn anew, and how sure they are said", same_columns),
    Change("publications", "*/document/out", "a data package is written as well", same_and_more),
    Change("sidecars", "*/columns", "columns after the answer say how sure it is", same_and_more),
    *(
        Change(section, place, "one noisy count names a group and is its answer: half the cost", costs_half)
        for section, place in (
            ("plans", "/selected/document/cost/epsilon"),
            ("publications", "/selected/document/cost/epsilon"),
            ("sidecars", "/selected.csv.release.json/cost/epsilon"),
            ("ledgers", "/document/releases/4/epsilon"),
        )
    ),
    Change(
        "ledgers", "/document/spent/epsilon", "and so the ledger has spent less",
        lambda old, new: Fraction(old) - Fraction(new) == 1,
    ),
    *(
        Change(section, f"/selected/document/expected_error/{name}", "its noise is less", lambda old, new: new < old)
        for section in ("plans", "publications")
        for name in ("mean_absolute", "within_95_percent")
    ),
    *(
        Change(section, place, "a kind of its own", lambda old, new: (old, new) == ("geometric-noise", "named-counts"))
        for section, place in (
            ("plans", "/selected/document/audiences/0/mechanism/kind"),
            ("sidecars", "/selected.csv.release.json/mechanism/kind"),
        )
    ),
    Change(
        "publications", "*/ledger/file", "the folder is another",
        lambda old, new: Path(old).name == Path(new).name,
    ),
    Change(
        "errors", "/over the limit/document/error", "a refusal begins with what happened, and says what can be done",
        lambda old, new: new == LIMITED + WAYS and "answer would cost epsilon 5, delta 0" in old,
    ),
    *(
        Change(
            "errors", f"/{name}/line", "more can be written, and is named as people write it",
            lambda old, new: of_version_0_1(new) == old,
        )
        for name in ("subquery", "aggregate")
    ),
]  # fmt: skip


def of_version_0_1(line):
    """Leave out the functions that were added since."""
    added = ("floor, ceil, round, ", "substr, left, right, ", "greatest, least, ", ", hour, weekday, date_diff, has")
    for more in added:
        line = line.replace(more, "")
    return line.replace("a SELECT", "SUBQUERY")


LIMITED = (
    "not enough budget: the answer costs epsilon 5, delta 0; epsilon 3, delta 0.1 is left; the limit is epsilon 3,"
    " delta 0.1"
)
WAYS = (
    "; ask with less (--epsilon, --delta), raise the limit (irisdp ledger FILE --limit E,D) if what you promised the"
    " people in the data allows it, or repeat an answered question, which is free"
)
MAY_BE_EQUAL = {f"/{name}/document/{part}/*" for name, part in OTHER_OPTIMA}
MAY_BE_EQUAL |= {"*/document/answers", "/document/spent/epsilon", "/document/releases/4/epsilon"}
MAY_BE_EQUAL_LINES = {"unknown kind"}
LINES = {
    # Lines name options and arguments as they are typed, and the remedy; Typer's own lines are gone.
    "no data": 'DATA: is missing; write for example: irisdp publish survey.csv count "age > 64" --epsilon 1',
    "no query": 'QUERY [EXPR]: is missing; write for example: irisdp publish survey.csv count "age > 64" --epsilon 1',
    "missing file": "DATA: finds no file at 'none.csv'; give the path of an existing file",
    # Workbooks are read now, and this one is not there.
    "unknown ending": "DATA: finds no file at 't.xlsx'; give the path of an existing file",
    "file without columns": "DATA: has no columns; give a table with a header",
    "no epsilon": "--epsilon: is missing; add --epsilon 1",
    "no mechanism": "matrix: line 2, number 1: 'a' must be a finite number; write numbers such as 0.25 or 1/4, a row "
    'for each input, separated by commas: "0.75, 0.25"',
    "epsilon and ratio": "--epsilon: says the same as --ratio; leave one of the two out",
    "K in words": 'QUERY: at-least needs a number K; write for example irisdp publish DATA at-least 100 "age > 64"',
    "draws in words": "-n: must be a whole number; write one from 1 to 100000000",
    "value in words": "--value: must be a whole number; write it in digits, such as 12",
    "NaN epsilon": '--epsilon: must be a finite number; write it as "0.25", "1e-9" or "3/10"',
    "negative epsilon": "--epsilon: must be above 0: at 0 an answer says nothing; give for example 1",
    "ratio below one": "--ratio: must be above 1: at 1 an answer says nothing; give for example 2",
    "delta of one": "--delta: must be at least 0 and below 1; give a small probability such as 1e-6",
    "unknown group column": "--by: names the column 'w', which the data does not have; choose from g, v, u",
    "unknown unit": "--unit: names the column 'w', which the data does not have; choose from g, v, u",
    "unknown field": "extra.spec.json: has a field that a geometric spec does not know; write kind, n, privacy only",
    # There may be more kinds of design, losses and queries, and a message lists those there are.
    "unknown kind": f"kind: is not a kind of design; choose {', '.join(sorted(KINDS))}",
    "unknown loss": f"--loss: is not a loss with a name; write {', '.join(SPELLINGS)}, or give a table",
    "unknown loss of a spec": f"loss: is not a loss with a name; write {', '.join(SPELLINGS)}, or give a table",
    "unknown option": "--frobnicate: is no option of irisdp publish; did you mean --force? "
    "irisdp publish -h lists them",
    # There may be more commands.
    "unknown command": "frobnicate: is no command; "
    f"choose from {', '.join(command.name for command in app.registered_commands)}",
    "unknown query": f"QUERY: 'total' is no query of Iris; write {', '.join(EARLIER_FORMS)} or {LAST_FORM}",
    "majority of nothing": "EXPR: must be a SQL condition for majority; write for example irisdp publish DATA"
    ' majority "age > 64"',
    "limit in words": '--limit: must be a finite number; write it as "0.25", "1e-9" or "3/10"',
    "missing mechanism": "none.json: there is no such file; check the path",
    "no graph": "graph: is missing; give the neighbouring inputs, in the file or with --graph G.json",
    "over the limit": LIMITED + WAYS,
    # Groups are compared as the engine compares them.
    "groups twice": "--groups: declares 'a' twice, perhaps in another spelling; declare each group once",
}
"""What the line of an error is since version 0.1."""


LAST_BITS = 1e-13
"""Floats are for looking at, and NumPy adds them up in another order on another processor; what is exact is text."""


def differences(old, new, place=""):
    """Yield where and what of the old document is missing or another; new keys may be added."""
    if isinstance(old, dict) and isinstance(new, dict) and not place.endswith("/answers"):
        for name, value in old.items():
            assert name in new, f"{place}/{name} is gone"
            yield from differences(value, new[name], f"{place}/{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) and not place.endswith("/answers"):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}/{index}")
    elif type(old) is float is type(new) and math.isclose(old, new, rel_tol=LAST_BITS):
        return
    elif type(old) is not type(new) or old != new:
        yield place, old, new


def unchanged(section, old, new):
    """Check one section of documents but for the changes listed."""
    used = set()
    for place, before, after in differences(old, new):
        reasons = [c for c in CHANGES if c.section == section and fnmatchcase(place, c.place)]
        assert reasons, f"{place}: {before!r} is {after!r}"
        assert all(change.holds(before, after) for change in reasons), f"{place}: {before!r} is {after!r}"
        used |= {change.place for change in reasons}
    stale = {change.place for change in CHANGES if change.section == section} - used - MAY_BE_EQUAL
    assert not stale, f"no longer changed: {stale}"


@pytest.fixture
def old(tmp_path, monkeypatch):
    """A folder as version 0.1 left it: mechanism files, sidecars, ledger and secret."""
    monkeypatch.chdir(tmp_path)
    stored.prepare()
    for name, kept in told("designs").items():
        Path(f"{name}.json").write_text(json.dumps(kept["document"]))
    for name, sidecar in told("sidecars").items():
        Path(name).write_text(json.dumps(sidecar))
    shutil.copy(STORED / "t.ledger", "t.ledger")
    shutil.copy(STORED / "key.irisdp-secret", ".key.irisdp-secret")
    return tmp_path


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Everything published today, and the sidecars."""
    here = Path.cwd()
    folder = tmp_path_factory.mktemp("published")
    os.chdir(folder)
    try:
        stored.prepare()
        found = {}
        for name in stored.PUBLICATIONS:
            unbind()  # then a table could have several ledgers unasked
            found[name] = stored.outcome(stored.publishing(name, "--json", "--out", f"{name}.csv"))
        sidecars = {path.name: json.loads(path.read_text()) for path in folder.glob("*.release.json")}
        return found, sidecars, stored.outcome(stored.LEDGERS["t.ledger"])
    finally:
        os.chdir(here)


def outcomes(commands):
    return {name: stored.outcome(command) for name, command in commands.items()}


@pytest.mark.usefixtures("old")
def test_specs_are_designed_alike():
    unchanged("designs", told("designs"), outcomes(stored.DESIGNS))


@pytest.mark.usefixtures("old")
def test_old_mechanism_files_are_audited_alike():
    unchanged("audits", told("audits"), outcomes(stored.AUDITS))


@pytest.mark.usefixtures("old")
def test_old_mechanism_files_verify_alike():
    kept = told("verdicts")
    assert {name: stored.verdict(VERIFIER, name) for name in kept} == kept


@pytest.mark.usefixtures("old")
def test_plans_are_alike():
    Path("t.ledger").unlink()  # plans of version 0.1 were made before there was a ledger
    plans = {name: stored.outcome(stored.publishing(name, "--dry-run", "--json")) for name in stored.PUBLICATIONS}
    unchanged("plans", told("plans"), plans)


def test_publications_are_alike(published):
    unchanged("publications", told("publications"), published[0])


def test_sidecars_are_alike(published):
    unchanged("sidecars", told("sidecars"), published[1])


def test_ledgers_are_alike(published):
    assert published[2]["document"].keys() >= told("ledgers")["t.ledger"]["document"].keys()
    unchanged("ledgers", told("ledgers")["t.ledger"], published[2])


@pytest.mark.usefixtures("old")
def test_a_ledger_of_then_opens_says_the_same_and_is_charged_on():
    kept = told("ledgers")
    unchanged("ledgers", kept, outcomes(stored.LEDGERS))
    again = irisdp(stored.publishing("count", "--json"))
    assert again.status == 0
    # Since kinds of columns and the reader's version belong to a question, an old one is another, and charged.
    assert again.document["repeated"] is False
    after = irisdp(stored.LEDGERS["t.ledger"]).document
    before = kept["t.ledger"]["document"]
    assert len(after["releases"]) == len(before["releases"]) + 1
    assert not list(differences(before["releases"], after["releases"][:-1]))
    assert Fraction(after["spent"]["epsilon"]) == Fraction(before["spent"]["epsilon"]) + 1
    free = irisdp(stored.publishing("count", "--json"))
    assert free.document["repeated"] is True


@pytest.mark.usefixtures("old")
def test_a_ledger_of_then_keeps_its_limit():
    assert irisdp("ledger t.ledger --limit 13.5,1/2").status == 0
    refused = irisdp(stored.publishing("count", "--json"))
    assert (refused.status, refused.document["left"]["delta"]) == (1, "0.05")


@pytest.mark.usefixtures("old")
def test_old_sidecars_are_read_alike():
    now = {name: stored.outcome(f"interpret {rest} --json") for name, rest in stored.INTERPRETATIONS.items()}
    kept = told("interpretations")
    for name, outcome in now.items():
        assert outcome["status"] == 0
        # The reading is tossed with the chances that stand beside it.
        assert outcome["document"]["reading"] in [value for value, _ in outcome["document"]["chances"]]
        outcome["document"]["reading"] = kept[name]["document"]["reading"]
    unchanged("interpretations", kept, now)


@pytest.mark.usefixtures("old")
def test_errors_are_alike():
    irisdp(stored.LEDGERS["limited.ledger"])
    kept = told("errors")
    assert {name for name, now in LINES.items() if kept[name]["line"] == now} <= MAY_BE_EQUAL_LINES
    for name, line in LINES.items():
        kept[name]["line"] = line
    for outcome in kept.values():  # a condition is called as the usage line of publish calls it
        outcome.update({"line": re.sub("^expression: ", "EXPR: ", outcome["line"])} if outcome.get("line") else {})
    unchanged("errors", kept, outcomes(stored.ERRORS))
