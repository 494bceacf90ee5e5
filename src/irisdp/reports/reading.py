"""How published answers are read, what they do not say, and what was taken for granted."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..accounting import Charge, ConcentratedCost, Cost, GaussianCost
from ..cells.kinds import KINDS
from ..exact import short_above
from ..markup import element, joined
from ..privacy import Privacy
from ..queries import Relation
from ..reading.choices import RULES
from ..release.counted import counts_persons
from .facts import Facts

__all__ = ["assumed", "cost_of_release", "how_to_read", "moved_by", "not_to_conclude", "proofs"]


_INTERPRET = element("code", "irisdp interpret")


def how_to_read(facts: Facts, unit: str) -> Iterator[str]:
    """Explain an answer and its auxiliary output."""
    yield (
        "Every answer was changed at random, once, before it was published. This protects people. How large changes "
        "tend to be is public; the change made to each answer is not."
    )
    if "answer_low" in facts.columns:
        promise = facts.promise or "how surely is not said"
        yield f"The interval from answer_low to answer_high: {promise}. It covers the noise added for privacy alone."
        if facts.name == "sizes":
            yield "The intervals hold for all sizes of a list together."
        else:
            yield f"This holds for each row alone: of 100 rows, at most {_missed(facts)} miss the truth on average."
        yield (
            "An answer can be an impossible number, such as −1, and so lie outside its interval. Quote the interval; "
            "its ends are rounded outward."
        )
    elif "answer_probability" in facts.columns:
        yield f"{facts.promise or 'answer_probability says how sure it is'}.".replace(
            "answer_probability is", "answer_probability is, for every row alike,"
        )
        if facts.name == "column":
            yield joined(
                "A record's answer is the category it is in with that probability, whichever it is, and any other one "
                "as often as the next. ",
                _INTERPRET,
                " estimates from all of them how large each category is.",
            )
        elif facts.kind in RULES:
            yield joined(
                "On most data the answer is right more often; ", _INTERPRET, " says how often, given what you know."
            )
        else:
            yield "On most data the answer is right more often."
    else:
        yield "Nothing beside an answer says how sure it is: take the errors this page expects, which hold on any data."
    if facts.name in ("count", "count-distinct", "histogram", "sizes"):
        yield f"Numbers count {unit}. A number below 0 is no mistake: the noise caused it, and it was not corrected."


def _missed(facts: Facts) -> str:
    return short_above(100 * (1 - (facts.confidence or Fraction(19, 20))), 3)


def not_to_conclude(facts: Facts) -> Iterator[str]:
    """Say what readers take such answers to say, and they do not."""
    yield "Anything about one person: neither that somebody is in the table, nor that somebody is not."
    if "answer_low" in facts.columns:
        yield "That two rows differ, where their intervals overlap."
        if facts.name in ("count", "count-distinct", "histogram"):
            yield "That a larger count means a larger share: groups differ in size."
        if facts.name != "mean":
            yield "That a row of 0 is empty, or that a row of 1 is one person: noise alone can give these numbers."
            yield "That rows add up to a total that was published by itself: each number has its own noise."
    elif facts.name == "column":
        yield "In which category any one record is: its answer may be right, and nobody can tell."
        yield "That categories are as large as there are answers that name them: small ones seem larger than they are."
    else:
        yield "That a close call was called rightly: near a tie the answer is little better than a guess."
        yield "How big the lead was: this release does not say."
    if facts.groups is not None and "selected" in facts.groups:
        yield "That a group that is not named has nobody: groups are named only when they are large enough."
    yield from _not_of_all(facts)
    yield "That a later release differs because the data changed: it has noise of its own."


_COUNTS = ("count", "at-least", "at-most", "band", "histogram", "sizes")


def _not_of_all(facts: Facts) -> Iterator[str]:
    """Say what answers about some records of each person do not say of the others."""
    unit = facts.unit
    if unit is None or facts.name == "column" or (counts_persons(facts.counting) and "per_unit" not in facts.said):
        return
    if "per_unit" in facts.said:
        if facts.by:
            yield f"That a {unit} is in one group alone: it counts in that of one of its records, chosen at random."
        return
    few = "only one" if facts.at_most == 1 else f"at most {facts.at_most:,}"
    rest = f"of each {unit} {few}, chosen at random, counted."
    if facts.name in _COUNTS:
        yield f"That there are so many records, or so many different values of {unit} with such a record: {rest}"
    else:
        yield f"That the same holds of all records: {rest}"


def assumed(facts: Facts, *, whole: str = "release") -> Iterator[tuple[str, str]]:
    """Say what was taken for granted, each with its heading; on the page of a release, or of a whole batch or plan."""
    exchanged = facts.relation is Relation.EXCHANGE
    what = "one record" if facts.unit is None else f"all records of one {facts.unit}"
    yield (
        "Neighbours",
        f"With {what} {'replaced' if exchanged else 'more or less'} in the table, the same answers are almost as "
        f"probable ({facts.relation}).",
    )
    if facts.unit is None:
        yield "Persons", f"Each person has one record. {_protected_less(facts.cost)}"
    else:
        kept = facts.unit_rule or f"{facts.at_most} of each person's records count at most"
        yield "Persons", f"One value of {facts.unit} is one person; {kept}."
        yield "Nobody", f"A record without a value of {facts.unit} is nobody's, and left out."
    if exchanged:
        order = " and their order" if facts.name == "column" else ""
        where = "of each group" if facts.public_membership and facts.by else "of the table"
        yield "Public", f"The exact number of records {where}{order} is taken as public."
        if facts.public_membership:
            yield "Public", f"Who is in which group is taken as public ({', '.join(facts.by) or 'no columns'})."
    if facts.groups is not None:
        if "selected" in facts.groups:
            yield "Groups", "Their names were read off the data, privately: that is part of the cost."
        else:
            yield "Groups", "They were chosen before the data were read, so a listed group may be empty."
    if facts.categories is not None or facts.bins is not None:
        rest = (
            ["a record in none of them is answered as ", element("code", "other")]
            if facts.name == "column"
            else ["values in none of them count for none"]
        )
        yield "Categories", joined("They were declared before the data were read; ", rest, ".")
    if "lower" in facts.said or "upper" in facts.said:
        lower, upper = (facts.said.get(name, "…") for name in ("lower", "upper"))
        step, rule = facts.said.get("step", "1"), facts.said.get("values")
        yield "Bounds", f"Declared: from {lower} to {upper}, in steps of {step}. {_sentence(rule)}".strip()
        nothing = facts.said.get("missing", "nothing")
        yield "Missing", f"A record without a number in {facts.query.get('column', 'the column')} counts as {nothing}."
    if facts.weight is not None:
        column, least, most = (facts.weight.get(name, "…") for name in ("column", "lower", "upper"))
        yield "Weights", f"Declared: {column} from {least} to {most}. A record without a number there adds nothing."
    if "reading" in facts.said:
        yield "Reading", f"How the table was read: {facts.said['reading']}."
    yield (
        "Other releases",
        f"This page covers this {whole} only. The costs of all releases from the table add up. The data owner's ledger "
        "keeps their total and its limit, if there is one.",
    )
    yield "Machine", "The data owner's machine and its source of random numbers work as they should."


def _protected_less(cost: Charge) -> str:
    """Say how much less somebody with k records is protected, in the currency that says how much one record is.

    References
    ----------
    proofs/grouped-releases.md; [Dong2022], Theorem 2.14; [Bun2016], Proposition 1.9.
    """
    if isinstance(cost, ConcentratedCost):
        return "A person with k records is protected less: ρ counts k² times."
    if isinstance(cost, GaussianCost):
        return "A person with k records is protected k times less: μ counts k times."
    if isinstance(cost, Cost) and cost.delta:
        return "A person with k records is protected less: ε counts k times, and δ more than k times."
    return "A person with k records is protected k times less: ε counts k times."


def _sentence(words: str | None) -> str:
    return f"A value {words}." if words else ""


def proofs(facts: Facts) -> list[str]:
    """Name the pages that prove what is claimed."""
    own = [KINDS[facts.kind].proof] if facts.kind in KINDS else []
    own += ["grouped-releases"] if facts.by else []
    own += ["audiences"] if facts.audience is not None else []
    own += ["batches"] if facts.batch is not None else []
    return [f"proofs/{name}.md" for name in own]


def cost_of_release(facts: Facts) -> str:
    """Say the cost in one line, as a plan does."""
    kept = (
        ""
        if isinstance(facts.privacy, Privacy) and facts.privacy.single and isinstance(facts.cost, Cost)
        else (f"; each answer keeps {facts.privacy}")
    )
    return f"{facts.cost} for {moved_by(facts)}{kept}"


def moved_by(facts: Facts) -> str:
    """Say what a cost is for: what neighbouring tables differ in."""
    reason = {Relation.ADD_REMOVE: "adding or removing", Relation.EXCHANGE: "exchanging"}[facts.relation]
    return f"{reason} one {facts.unit or 'record'}"
