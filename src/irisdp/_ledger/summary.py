"""A ledger's document in words: where it stands, and its releases as rows for the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._exact import decimal_above, in_short, rational, rational_text, told_above, told_below
from ..accounting import CURRENCIES, Charge, Cost
from .forecasts import forecast

_QUOTE = '"'
HEADINGS = {"epsilon": "ε", "delta": "δ", "mu_squared": "μ²", "rho": "ρ"}


def release_cells(release: dict[str, Any], numbers: list[str]) -> list[str]:
    """Return a release as a row: id, date, table, query, groups, audience, numbers of its charge, files, and more."""
    built = [f"{word} #{release[word]}" for word in ("refines", "coarsens") if release[word] is not None]
    built += [f"from {in_short(release['guarantee'])}"] if "guarantee" in release else []
    return [
        str(release["id"]),
        release["date"][:10],
        release["table"] or "",
        release["query"],
        groups_in_words(release["groups"]),
        release["audience"] or "",
        *(_number(release[number], number) for number in numbers),
        ", ".join(Path(path).name for path in release["outputs"]),
        "".join(built),
    ]


def _number(text: str, name: str) -> str:
    """Show a number whole where it is short, else rounded up behind a sign that says so."""
    return told_above("", rational(text, name)).strip().removeprefix("= ")


def groups_in_words(groups: dict[str, Any] | None) -> str:
    """Name the first few groups, and say how many there are."""
    if groups is None:
        return ""
    named = ["/".join(map(_name, key)) for key in groups["first"]]
    more = groups["count"] > len(named)
    return f"{', '.join(named)}{', …' if more else ''} ({groups['count']})"


def _name(part: Any) -> str:
    """Write a part of a group's name: as --groups takes it, in double quotes where it would run into the next.

    Examples
    --------
    >>> _name("Ely"), _name("Wells, St Cuthbert Out"), _name(None)
    ('Ely', '"Wells, St Cuthbert Out"', 'null')
    """
    if part is None:
        return "null"
    text = str(part)
    odd = not text or text != text.strip() or text in ("null", "…") or any(mark in text for mark in ',/"')
    return f'"{text.replace(_QUOTE, _QUOTE * 2)}"' if odd else text


def ledger_facts(document: dict[str, Any], *, remedies: bool = True) -> list[tuple[str, str]]:
    """Say in lines for people where a ledger stands, each with its heading.

    Parameters
    ----------
    document : dict
        As `Ledger.to_document` returns it.
    remedies : bool
        Whether to name options of the command line that set a limit.
    """
    spent, limit, left = document["spent"], document["limit"], document["left"]
    told = {name: f"; {_as_pair(pair)}" for name, pair in document.get("as_pair", {}).items() if pair is not None}
    lines = [("spent", f"{charge_of(spent)}{told.get('spent', '')}")]
    closed = "moved_to" in document or "awaits" in document
    if limit is None:
        remedy = (
            "" if closed or not remedies else "; set one with --limit E[,D], or mu=M or rho=R before the first release"
        )
        lines.append(("limit", f"none{remedy}"))
    else:
        exceeded = not charge_of(spent).fits_in(charge_of(limit))
        said = "; that is less than what is spent, so nothing more can be spent" if exceeded else ""
        if exceeded and isinstance(charge_of(limit), Cost) and not closed and remedies:
            least = charge_of(limit).at_least(charge_of(spent)).to_document()
            said += f": to spend more, write above --limit {least['epsilon']},{least['delta']}"
        lines += [
            ("limit", f"{charge_of(limit).told(told_below)}{told.get('limit', '')}{said}"),
            ("left", charge_of(left).told(told_below)),
        ]
    expected = forecast(document)
    lines += [] if expected is None else [("rate", str(expected))]
    if "partitions" in document:
        lines.append(("partitions", _partitions(document)))
    for period, stands in document.get("periods", {}).items():
        spent_in, most, rest = (charge_of(stands[name]) for name in ("spent", "limit", "left"))
        said = f"spent {spent_in} of {most.told(told_below)} for each {period}; left {rest.told(told_below)}"
        lines.append((period, f"{said}; the next begins on {stands['next']} (UTC)"))
    for audience, stands in document.get("audiences", {}).items():
        told_by_now, most, rest = (charge_of(stands[name]) for name in ("told", "limit", "left"))
        said = f"{audience} was told {told_by_now}; its limit is {most.told(told_below)}; left {rest.told(told_below)}"
        lines.append(("audience", said))
    if "moved_to" in document:
        lines.append(("closed", f"moved to {document['moved_to']}, from which alone its budget is spent"))
    if "awaits" in document:
        lines.append(("closed", f"awaits {document['awaits']}; ask for the same move again to finish it"))
    if "note" in document:
        return [*lines, ("privacy", document["note"])]
    if document["relation"] is None:
        return [*lines, ("privacy", "not chosen yet; the first release pins table, relation, unit and public columns")]
    moved = {"add-remove": "adding or removing", "exchange": "exchanging"}[document["relation"]]
    public = document["public_columns"]
    kept = f", which keeps the public columns {', '.join(public)}" if public else ""
    name = f" of {document['table']}" if document["table"] is not None else ""
    return [*lines, ("privacy", f"for {moved} one {document['unit'] or 'record'}{name}{kept}")]


_MOST_PARTITIONS = 5


def _partitions(document: dict[str, Any]) -> str:
    """Say how charges of partitions add up, and what the last ones have spent."""
    by, found = document["partition"], document["partitions"]
    parts = found["partitions"]
    named = " · ".join(f"{value} {charge_of(parts[value]).as_charged()}" for value in list(parts)[-_MOST_PARTITIONS:])
    more = f" and {len(parts) - _MOST_PARTITIONS} more" if len(parts) > _MOST_PARTITIONS else ""
    which = f"{by['period']} of {by['column']}" if "period" in by else by["column"]
    if found["composition"] == "sum":
        return f"by {which}, whose charges add up: {named}{more}"
    whole = charge_of(found["whole"])
    said = f"by {which}, of which the largest charge counts: {named}{more}"
    said += "" if whole.is_nothing else f"; and for the whole table {whole.as_charged()}"
    if document["limit"] is None:
        return said
    return f"{said}; left for a new one {charge_of(document['limit']).left_after(whole).told(told_below)}"


def charge_of(document: dict[str, str]) -> Charge:
    """Return the charge that a document of exact numbers holds."""
    kind = next(currency.cost for currency in CURRENCIES if currency.cost.__slots__ == tuple(document))
    return kind(*document.values())


def _as_pair(pair: dict[str, str]) -> str:
    """Say an (ε, δ) to six decimals, rounded up."""
    epsilon = rational_text(decimal_above(rational(pair["epsilon"], "epsilon"), 6))
    return f"that is ε = {epsilon} at δ = {pair['delta']}"
