"""Limits of audiences within a ledger's own limit: what each audience has learnt, and the most it may learn.

The ledger's limit holds for someone who combines all answers. An audience that sees only its own answers may have a
smaller limit. Its spending is the sum over these answers; links of one chain together count as much as the most
accurate of them, and a draw that is given again counts once (proofs/audiences.md, "What one audience is told"). Answers
that name no audience are everybody's.

Limits of audiences are pinned with the ledger's scope, because they are guarantees too. The history has a line for
each; on a server only the ledger's owner can add one.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from .._exact import told_above, told_below
from ..accounting import CURRENCIES, Charge, Currency
from ..errors import BadInput, BudgetRefused
from .entries import LedgerEntry, keep_facts, pin, pinned_facts, read_cost, read_limit, read_object
from .history import record
from .limits import spelt
from .store import Damaged, LedgerTransaction, currency_of, is_current

# Valid names of audiences, and which names are the same audience. A name is part of the names of output files.

_NAME = re.compile("[A-Za-z0-9_-]{1,64}")


def is_audience(name: str) -> bool:
    """Tell whether an audience may be called so."""
    return _NAME.fullmatch(name) is not None


def same_audience(name: str | None) -> str | None:
    """Return what is equal for all spellings of one audience, such as Press and press; None for everybody.

    Ledgers of earlier versions may hold any text as a name.
    """
    return None if name is None else unicodedata.normalize("NFKC", name).strip().casefold()


def check_audience(name: str) -> str:
    """Return the name of an audience, or refuse an invalid one."""
    if not is_audience(name):
        raise BadInput(
            "audience", "must be a name of up to 64 letters, digits, - and _", "write for example audience='press'"
        )
    return name


_TOLD = "told"
"""In the stored details of answers: what they reveal by themselves, whatever they were charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceCost:
    """What the answers to a question tell each audience, by themselves.

    Attributes
    ----------
    alone : mapping
        By audience (None is everybody), the cost of its answers, had they been all there is.
    chain : str or None
        The chain that the answers are links of, with which they tell as much as the most accurate link.
    draws : mapping
        By audience, the draw that its answers are, if they form no chain: given again, it tells nothing more.
    """

    alone: Mapping[str | None, Charge]
    chain: str | None = None
    draws: Mapping[str | None, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class AudienceSpending:
    """Spending of the audiences that have a limit, now or after a charge.

    Attributes
    ----------
    limits : mapping
        Limit by audience.
    summed : mapping
        Spending by audience, of answers that belong to no chain.
    linked : mapping
        By audience, and by chain or draw and version of the data, what its answers tell together.

    However a name is spelt (`same_audience`), its answers count for the audience.
    """

    name: str
    limits: dict[str, Charge]
    nothing: Charge
    refines: bool
    summed: dict[str | None, Charge] = field(default_factory=dict)
    linked: dict[str | None, dict[tuple[str | None, str], Charge]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: LedgerTransaction, name: str) -> Self:
        """Read what stands in a ledger; where no audience has a limit, nothing is looked through."""
        currency = currency_of(rows)
        kind = currency.cost
        result = cls(name=name, limits=_read_limits(rows, name), nothing=kind(), refines=currency.refines)
        if not result.limits:
            return result
        columns = ", ".join(kind.__slots__)
        lines = rows.find(
            f"SELECT fingerprint, audience, details, question_hash, {columns} FROM release"
            " JOIN settlement ON settlement.id = release.settlement ORDER BY release.id"
        )
        for version, audience, details, question_hash, *numbers in lines:
            kept = read_object(details)
            if _TOLD in kept:
                draw = draw_of(details, audience, question_hash)
                told = AudienceCost(
                    alone={audience: _cost(kind, kept[_TOLD])},
                    chain=kept.get("chain"),
                    draws={} if draw is None else {audience: draw},
                )
                result.add(told, version)
            else:  # of a line that does not say it, all that was charged may have been told to anybody
                result.add(AudienceCost(alone={None: read_cost(kind, *numbers)}), version)
        return result

    def of_audience(self, audience: str) -> Charge:
        """Return the spending of an audience."""
        key = same_audience(audience)
        return sum(self.linked.get(key, {}).values(), self.summed.get(key, self.nothing))

    def concerned(self, telling: AudienceCost) -> list[str]:
        """List the audiences with a limit that would learn something."""
        named = set(map(same_audience, telling.alone))
        return [audience for audience in self.limits if None in named or same_audience(audience) in named]

    def add(self, telling: AudienceCost, version: str | None) -> None:
        """Count answers about a version of the data as spent."""
        for key in map(same_audience, self.concerned(telling)):
            for named, cost in telling.alone.items():
                if same_audience(named) not in (key, None):
                    continue
                # A draw that comes back tells nothing more, in whatever is counted; a finer link may.
                link = telling.draws.get(named) or (telling.chain if self.refines else None)
                if link is None:
                    self.summed[key] = self.summed.get(key, self.nothing) + cost
                else:
                    links = self.linked.setdefault(key, {})
                    links[version, link] = links.get((version, link), self.nothing).at_least(cost)

    def check(self, telling: AudienceCost, version: str | None) -> None:
        """Refuse answers that would exceed an audience's limit.

        Raises
        ------
        BudgetRefused
            It names the first such audience.
        """
        after = replace(self, summed=dict(self.summed), linked={name: dict(of) for name, of in self.linked.items()})
        after.add(telling, version)
        for audience in self.concerned(telling):
            told, total = self.of_audience(audience), after.of_audience(audience)
            if total != told and not total.fits_in(self.limits[audience]):
                raise self._refusal(audience, self.limits[audience], told, total.beyond(told))

    def _refusal(self, audience: str, limit: Charge, told: Charge, more: Charge) -> BudgetRefused:
        parts = {"limit": limit, "left": limit.left_after(told), "cost": more}
        said = {name: spelt(part, told_above if part is more else told_below) for name, part in parts.items()}
        return BudgetRefused(
            f"not enough budget for the audience {audience}: the answer costs {said['cost']}; {said['left']} is left;"
            f" the limit is {said['limit']}. Answers that name no audience count for every audience. Ask with less,"
            f" or raise the limit ({_CALLS[limit.__slots__[0]]}) if what you promised the people in the data allows it",
            audience=audience,
            **{name: part.to_document() for name, part in parts.items()},
        )

    def left(self, audience: str) -> Charge:
        """Return the remaining budget of an audience that has a limit."""
        return self.limits[audience].left_after(self.of_audience(audience))

    def to_document(self, *, closed: bool = False) -> dict[str, Any]:
        """Return limit, spending and remaining budget by audience, JSON-ready; nothing remains in a closed ledger."""
        return {
            audience: {
                "limit": limit.to_document(),
                "told": self.of_audience(audience).to_document(),
                "left": (self.nothing if closed else self.left(audience)).to_document(),
            }
            for audience, limit in self.limits.items()
        }


_CALLS = {
    "epsilon": "Ledger(path).set_limit(E, D, audience=NAME)",
    "mu_squared": "Ledger(path).set_limit(mu=M, audience=NAME)",
    "rho": "Ledger(path).set_limit(rho=R, audience=NAME)",
}


def check_audience_limits(whole: Charge | None, limit: Charge, audience: str) -> None:
    """Refuse a limit of an audience that lies within none: it only holds readers who do not put their answers together.

    Raises
    ------
    BadInput
        Where the ledger has no limit of its own, or counts in something else; where no audience may be called so.
    """
    check_audience(audience)
    if whole is None:
        raise BadInput("audience", "has a limit within the ledger's, which has none", "set the ledger's limit first")
    if type(whole) is not type(limit):
        counts = next(currency.name for currency in CURRENCIES if currency.cost is type(whole))
        raise BadInput("audience", f"has a limit in what the ledger counts in, which is {counts}", "give it in that")


def limit_audience(rows: LedgerTransaction, name: str, audience: str, limit: Charge) -> None:
    """Record the limit of an audience, in place of an earlier one."""
    check_audience_limits(read_limit(rows), limit, audience)
    pin(rows, name, {})  # brings a ledger of version 0.1 to today's format
    limits = _read_limits(rows, name)
    spelt = next((one for one in limits if same_audience(one) == same_audience(audience)), audience)
    if limits.get(spelt) == limit:
        return
    limits[spelt] = limit
    written = {one: most.to_document() for one, most in sorted(limits.items())}
    keep_facts(rows, {**pinned_facts(rows, name), "audiences": written})
    record(rows, "audiences", {"audiences": written})


def unlimited_in(book: Any, audiences: Iterable[str | None]) -> tuple[str, ...]:
    """Return which of some audiences have no limit of their own, where any audience of the ledger has one."""
    with book.store.reading() as rows:
        limited = set(map(same_audience, _read_limits(rows, book.store.name)))
    return tuple(
        audience
        for audience in audiences
        if audience is not None and limited and same_audience(audience) not in limited
    )


def say_unlimited(audiences: Iterable[str], currency: Currency) -> list[str]:
    """Describe each audience in one line, with how to set a limit."""
    call = _CALLS[currency.cost.__slots__[0]]
    rest = f"has no limit of its own, and other audiences of this ledger have; check the name, or set a limit ({call})"
    return [f"the audience {audience} {rest}" for audience in audiences]


def with_told(entries: tuple[LedgerEntry, ...], telling: AudienceCost) -> tuple[LedgerEntry, ...]:
    """Keep with the answers what they tell by themselves."""
    return tuple(
        replace(
            entry,
            details=json.dumps(
                {**json.loads(entry.details), _TOLD: telling.alone[entry.audience].to_document()}, ensure_ascii=False
            ),
        )
        for entry in entries
    )


def draw_of(details: str, audience: str | None, question_hash: str) -> str | None:
    """Return the draw that answers are, by what was stored with them; None for links of a chain.

    Answers for everybody are a draw under the hash of their question, which names nobody.
    """
    kept = read_object(details)
    draw = kept.get("draw")
    if draw is not None and not isinstance(draw, str):
        raise Damaged
    return question_hash if draw is None and audience is None and "chain" not in kept else draw


def _read_limits(rows: LedgerTransaction, name: str) -> dict[str, Charge]:
    """Return the limits of audiences, in the order of their names."""
    if not is_current(rows):
        return {}  # version 0.1 knew of none, and its facts may contradict each other
    kind = currency_of(rows).cost
    found = pinned_facts(rows, name).get("audiences", {})
    limits: dict[str, Charge] = {}
    spelt: dict[str | None, str] = {}
    for audience in sorted(found):
        limit = _cost(kind, found[audience])
        one = spelt.setdefault(same_audience(audience), audience)
        # Earlier versions took Press and press for two: both limits were promised, so both hold.
        limits[one] = kind(*map(min, limits[one].numbers, limit.numbers)) if one in limits else limit
    return limits


def _cost(kind: type[Charge], document: Any) -> Charge:
    if not isinstance(document, dict) or sorted(document) != sorted(kind.__slots__):
        raise Damaged
    return read_cost(kind, *(document[name] for name in kind.__slots__))
