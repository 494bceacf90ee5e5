"""A plan: the question and its cost, from public facts alone.

A plan has read no record. Everything it says may be printed, and nothing it does is charged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._exact import checked, in_short, so_many
from .._frames import html_table, printable, text_lines
from .._lazy import renamed_method
from .._ledger import AudienceCost, ChargeRequest, LedgerEntry, LedgerScope, Release, hash_of
from .._measurements import USUAL_CONFIDENCE, ExplainsPrivacyUnit, GeometricNoise, SelectsPartitions
from .._queries import (
    NOT_OPTIMAL_TOGETHER,
    ContributionBounds,
    Groups,
    PerUnitRule,
    Query,
    entry_of,
    is_in_parts,
    steps_of_person,
    total_cost,
)
from ..accounting import CURRENCIES, EPSILON_DELTA, MU, Charge, Cost, Currency
from ..graphs import NeighbouringRelation
from ..mechanisms import privacy_to_document
from ..privacy import Gaussian, Guarantee, Privacy
from .accuracy import ErrorAt, Met, errors_around, in_columns
from .canonical_question import CanonicalQuestion, canonical, say_columns
from .project import Project, say_unlisted
from .release_chain import details, earlier_draws, earlier_links
from .risk import MUCH, Risk, delta_means, risk_of

if TYPE_CHECKING:
    from .._measurements import PartitionSelection
    from .._tables import Condition, Table
    from .audiences import Audience


# What is proven about the error of published answers, and among which mechanisms.

NOTHING_CLAIMED = "not proven"


def describe_optimality(mechanism: Any, *, is_charged_once: bool) -> str:
    """Say whether a mechanism is proven optimal, and among which mechanisms.

    Parameters
    ----------
    mechanism : Measurement
        It answers one group. Its attribute `claim`, if it has one, says what is proven of it among all mechanisms
        that satisfy the same (ε, δ).
    is_charged_once : bool
        Whether the whole privacy loss of a record, or person, is that of one answer. Otherwise a mechanism that is
        optimal for one answer need not be optimal for all of them (proofs/grouped-releases.md).

    References
    ----------
    docs/theory.md#scope.

    Examples
    --------
    >>> from irisdp._measurements import GeometricNoise
    >>> describe_optimality(GeometricNoise(Privacy(epsilon=1)), is_charged_once=False)
    'not proven'
    """
    claim = getattr(mechanism, "claim", None)
    if (
        claim is None
        or not is_charged_once
        or not isinstance(mechanism.privacy, Privacy)
        or not mechanism.privacy.single
    ):
        return NOTHING_CLAIMED
    return f"proven among all private mechanisms: {claim}"


# What answers are charged, whatever they answer: a price knows no table and no question.


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a release costs, which follows from what its cells keep and from how many of them a neighbour moves.

    Attributes
    ----------
    privacy : Privacy or Gaussian
        Of each cell of the most accurate audience.
    relation, grouped, public_membership, exchange_steps, record_steps, selection, delta
        As for `irisdp._queries.total_cost`.
    chain : str or None
        The chain of counts that the release is a link of: an earlier link of it was paid for.
    others : tuple of Guarantee
        Of further draws, for other audiences, where answers form no chain. Each is charged by itself, but for the
        selection of groups, which all share.
    draws : tuple of str or None
        What the ledger calls each of these draws, the first one included; None for one that is drawn afresh in any
        case. One that the ledger has is free.
    """

    privacy: Guarantee
    relation: NeighbouringRelation
    grouped: bool
    public_membership: bool
    exchange_steps: int
    record_steps: int
    selection: Privacy | None
    delta: Fraction
    chain: str | None
    others: tuple[Guarantee, ...] = ()
    draws: tuple[str | None, ...] = (None,)

    @checked
    def at(self, currency: Currency, privacy: Guarantee | None = None) -> Charge:
        """Return the whole price in a currency; with `privacy`, what it would be if the first draw kept that."""
        whole = self.of_one(currency, self.privacy if privacy is None else privacy)
        return sum((self.of_one(currency, other, selects=False) for other in self.others), whole)

    def of_one(self, currency: Currency, privacy: Guarantee, *, selects: bool = True) -> Charge:
        """Return the price of one draw in a currency, with that of the selection unless it was paid for already."""
        return total_cost(
            privacy,
            self.relation,
            grouped=self.grouped,
            public_membership=self.public_membership,
            exchange_steps=self.exchange_steps,
            record_steps=self.record_steps,
            selection=self.selection if selects else None,
            currency=currency,
            delta=self.delta,
        )

    def shares(self, earlier: Sequence[Release], currency: Currency) -> list[Charge]:
        """Return what each draw is charged after earlier releases of the same data.

        A chain is one draw. It costs what its most accurate link costs, less what it was charged already.
        """
        links = earlier_links(self.chain, earlier)
        if links:
            return [self.at(currency).beyond(self.at(currency, links[0][0]))]
        known = earlier_draws(self.draws, earlier, together=self.selection is not None)
        shares, selects = [], True
        for draw, privacy in zip(self.draws, (self.privacy, *self.others), strict=True):
            if draw in known:
                shares.append(currency.cost())
            else:
                shares.append(self.of_one(currency, privacy, selects=selects))
                selects = False
        return shares

    def after(self, earlier: Sequence[Release], currency: Currency) -> Charge:
        """Return what all draws are charged together after earlier releases of the same data."""
        return sum(self.shares(earlier, currency), currency.cost())


_OPEN = Cost()
"""Stands for the cost of a plan that was not told it: its price."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Plan:
    """A question about a table, the mechanism that will answer it, and its cost.

    Attributes
    ----------
    query, condition, groups, by, unit, per_unit, contribution, relation, public_membership
        The question and its groups, without its accuracy. Declared groups are sorted by key, so that their order and
        spelling do not matter.
    asked : Subject
        The same in words and as facts, whatever the noise.
    audiences : tuple of Audience
        Who gets an answer, from which mechanism; the most accurate first. Without names there is one, called None.
    selector : PartitionSelection or None
        Decides which groups may be named, where they are not declared and noisy counts do not name them.
    apart : str or None
        Why a separate selection decides that; None if there is no reason.
    declared_in : mapping
        The files, if any, that groups or categories were read from, by what they are: no output may be one of them.
    within : Met or None
        How far off answers were to be at most, and what it takes; None where ε was said instead.
    project : Project or None
        The project file that was found or named; `project_says` are the options that it filled in.
    charged_at : Fraction
        The δ at which a ledger in ε and δ charges guarantees that are no single pair; 0 where none was given.
    confidence : Fraction
        With which probability the ends beside an answer hold; no part of the question.
    cost : Charge
        What the whole release costs: once, at the most accurate audience. Where an earlier release of the same count
        is refined, the ledger charges only the difference. In ε and δ, but for Gaussian privacy without a δ: in μ².
    chain : str or None
        The chain of counts that this release is a link of; None where its answers form none.
    draws : tuple of str or None
        What the ledger calls the draw that each audience gets; None for all links of a chain, and for everybody. It is
        the hash of the question asked for everybody: audiences with the same accuracy get one draw.
    price : Price
        What the release costs, in any currency.
    """

    table: Table = field(repr=False)
    query: Query[Any]
    condition: Condition | None
    by: tuple[str, ...]
    groups: Groups | None = field(repr=False)
    unit: str | None
    per_unit: PerUnitRule | None
    contribution: ContributionBounds
    relation: NeighbouringRelation
    public_membership: bool
    asked: CanonicalQuestion
    audiences: tuple[Audience, ...]
    selector: PartitionSelection | None
    apart: str | None = None
    declared_in: Mapping[str, Path | None] = field(default_factory=dict, repr=False)
    within: Met | None = None
    charged_at: Fraction = Fraction(0)
    confidence: Fraction = USUAL_CONFIDENCE
    project: Project | None = field(default=None, repr=False)
    project_says: tuple[str, ...] = ()
    cost: Charge = _OPEN
    chain: str | None = field(init=False, repr=False)
    draws: tuple[str | None, ...] = field(init=False, repr=False)
    price: Price = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Work out what is charged, which follows from the most accurate answers and knows nothing of the question."""
        finest = self.audiences[0].mechanism
        chain = self.asked.chain if self.is_chain else None
        draws = self._draws()
        firsts = {
            draw: audience.mechanism for draw, audience in reversed(list(zip(draws, self.audiences, strict=True)))
        }
        price = Price(
            privacy=finest.privacy,
            relation=self.relation,
            grouped=bool(self.by),
            public_membership=self.public_membership,
            exchange_steps=self.query.exchange_steps,
            record_steps=steps_of_person(self.query),
            selection=self.selector.privacy if self.selector else None,
            delta=self.charged_at,
            chain=chain,
            others=tuple(firsts[draw].privacy for draw in dict.fromkeys(draws) if firsts[draw] is not finest),
            draws=tuple(dict.fromkeys(draws)),
        )
        object.__setattr__(self, "chain", chain)
        object.__setattr__(self, "draws", draws)
        object.__setattr__(self, "price", price)
        if self.cost is _OPEN:
            object.__setattr__(self, "cost", price.at(self.currency))

    def __repr__(self) -> str:
        """Say what is asked, what it costs and how far off answers will be."""
        return f"<Plan: {self.line}; {self.describe_cost()}; {'; '.join(self.describe_error())}>"

    @property
    def currency(self) -> Currency:
        """What `cost` is counted in: a selection has a δ, and nothing with one is counted in μ."""
        curved = isinstance(self.price.privacy, Gaussian)
        return MU if curved and not self.charged_at and self.selector is None else EPSILON_DELTA

    def __str__(self) -> str:
        """Show what a dry run shows, but for the ledger."""
        return "\n".join([printable(self.line), *(text_lines(label, text) for label, text in self.describe())])

    def _repr_html_(self) -> str:
        """Show in a notebook what a dry run shows, but for the ledger and for errors at other costs."""
        lines = [(label, text) for label, text in self.describe() if "  " not in text]  # HTML keeps no columns
        return html_table(self.line, ["", "before any record is read"], lines)

    def describe(self) -> list[tuple[str, str]]:
        """Return the lines of a dry run: the label and the text of each; a label is empty where a line continues."""
        return [
            ("cost", self.describe_cost()),
            *(("error", error) for error in self.describe_error()),
            ("optimal", self.describe_optimality()),
            *(("charge", line) for line in self.describe_charges()),
            *self.describe_within(),
            *(("" if row else "other ε", line) for row, line in enumerate(in_columns(self.errors_around()))),
            ("risk", self.risk.describe()),
            *(("named", naming) for naming in self.describe_naming()),
            *(("groups", groups) for groups in self.describe_groups()),
            *(("among", categories) for categories in self.describe_categories()),
            *self.describe_rules(),
        ]

    def describe_optimality(self) -> str:
        """Say whether the mechanism is proven optimal, and among which mechanisms; for each group by itself."""
        finest = self.audiences[0].mechanism
        is_charged_once = (
            len(self.price.draws) == 1
            and not self.charges_two_groups
            and self.contribution.cells == 1
            and self.selector is None
        )
        if isinstance(self.cost, Cost) and self.cost.delta and isinstance(finest.privacy, Privacy):
            is_charged_once = is_charged_once and finest.privacy.delta == self.cost.delta
        return describe_optimality(finest, is_charged_once=is_charged_once)

    def describe_within(self) -> list[tuple[str, str]]:
        """Return the lines about the error that was asked for, if one was: what it takes, and what its δ means."""
        if self.within is None:
            return []
        lines = [("within", self.within.says)]
        if self.within.confidence == 1 and isinstance(self.cost, Cost):
            needs_less = "; a larger K or ε needs less, and delta=D refuses more than D"
            lines.append(("δ means", delta_means(self.cost.delta) + needs_less * (self.cost.delta > MUCH)))
        return lines

    @property
    def line(self) -> str:
        """The question in one line, for people."""
        return self.asked.line

    @property
    def naming(self) -> SelectsPartitions | PartitionSelection | None:
        """What names groups that were not declared; None where they were, or there are none."""
        finest = self.audiences[0].mechanism
        return finest if isinstance(finest, SelectsPartitions) else self.selector

    def subject(self) -> dict[str, Any]:
        """Return the question without its accuracy: equal for all releases that can refine each other."""
        facts = dict(self.asked.facts)
        if self.naming is not None:
            by_count = {} if self.selector is not None else {"by": "count"}
            facts["groups"] = {"selected": privacy_to_document(self.naming.privacy), **by_count}
        return facts

    @checked
    def facts(self, audience: Audience) -> dict[str, Any]:
        """Return the public facts that decide how one audience's answers are distributed, JSON-ready."""
        mechanism = audience.mechanism
        return {
            **self.subject(),
            "audience": audience.name,
            "privacy": privacy_to_document(mechanism.privacy),
            "mechanism": mechanism.to_document(),
        }

    def question(self) -> str:
        """Return the question as canonical JSON text: what must be equal for an answer to be given again."""
        return canonical({**self.subject(), "audiences": [self.facts(audience) for audience in self.audiences]})

    def questions_alike(self) -> tuple[str, ...]:
        """Return the question as other releases of the engine note it that read the same."""
        return tuple(self.read_by(reader).question() for reader in self.asked.readers)

    def read_by(self, reader: str) -> Plan:
        """Return the plan as another release of the engine makes it."""
        return replace(self, asked=replace(self.asked, facts={**self.asked.facts, "reader": reader}))

    @property
    def is_chain(self) -> bool:
        """Whether the answers of all audiences, and later ones, are links of one chain."""
        return all(audience.mechanism.chained is not None for audience in self.audiences)

    def _draws(self) -> tuple[str | None, ...]:
        if self.is_chain or self.audiences[0].name is None:
            return (None,) * len(self.audiences)
        return tuple(
            hash_of(canonical({**self.subject(), "audiences": [self.facts(replace(audience, name=None))]}))
            for audience in self.audiences
        )

    def tells(self, currency: Currency) -> AudienceCost:
        """Return what the answers tell each audience by themselves."""
        alone = {audience.name: self.cost_of(audience, currency) for audience in self.audiences}
        draws = {
            audience.name: draw for audience, draw in zip(self.audiences, self.draws, strict=True) if draw is not None
        }
        return AudienceCost(alone=alone, chain=self.chain, draws=draws)

    def cost_of(self, audience: Audience, currency: Currency) -> Charge:
        """Return what the answers of one audience cost in a currency, had they been all there is."""
        return self.price.of_one(currency, audience.mechanism.privacy)

    def request(self, promise: LedgerScope) -> ChargeRequest:
        """Return what a ledger is asked to charge for this question under a scope, with nothing drawn."""

        def draw_nothing(earlier: Sequence[Release], cost: Charge) -> list[LedgerEntry]:
            return [
                LedgerEntry(
                    audience=audience.name,
                    cost=share,
                    answers=b"",
                    details=details(self.chain, audience.mechanism.chained, draw),
                )
                for audience, draw, share in zip(self.audiences, self.draws, self.shares(earlier, cost), strict=True)
            ]

        return ChargeRequest(
            query=self.line,
            text=self.question(),
            aliases=self.questions_alike(),
            promise=promise,
            cost=self.price.after,
            tells=self.tells,
            draw=draw_nothing,
        )

    def shares(self, earlier: Sequence[Release], cost: Charge) -> list[Charge]:
        """Return what the answers of each audience are charged, where all are charged this together.

        The first audience of a draw carries its charge: what the others get is the same, or follows from it.
        """
        if len(self.price.draws) == 1:
            return [cost, *[cost * 0] * (len(self.audiences) - 1)]
        currency = next(one for one in CURRENCIES if one.cost is type(cost))
        charged = dict(zip(self.price.draws, self.price.shares(earlier, currency), strict=True))
        return [charged.pop(draw, cost * 0) for draw in self.draws]

    def body(self, audience: Audience) -> dict[str, Any]:
        """Return the release file of one audience's answers before they are drawn, JSON-ready.

        Its cost is that of its own answers, and says nothing of others; of a count for several audiences, it is that of
        the whole chain.
        """
        counts = isinstance(audience.mechanism, GeometricNoise) and len(self.audiences) > 1
        alone = audience.name is not None and not counts
        cost = self.cost_of(audience, self.currency) if alone else self.cost
        return {
            **self.facts(audience),
            **self.asked.reading,
            **self.asked.joined,
            **self._left_out(),
            "cost": cost.to_document(),
            **({"cost_of": "audience"} if alone else {}),
            "question": self.line,
            "expected_error": audience.mechanism.expected_error(),
        }

    @property
    def risk(self) -> Risk:
        """What this release may tell about one person, at its whole cost, however a ledger counts that."""
        result = risk_of(self.cost, self.relation, self.unit)
        if not isinstance(self.price.privacy, Gaussian) or self.selector is not None:
            return result
        # Gaussian noise that is charged as one (ε, δ) of its curve tells no more than the whole curve lets it.
        return min(result, risk_of(self.cost_in(MU), self.relation, self.unit), key=lambda risk: risk.guess)

    def errors_around(self) -> list[ErrorAt]:
        """Return what errors would be at some ε around this one; none where mechanisms are searched for at each."""
        named, finest = self.audiences[0].name is not None, self.audiences[0].mechanism
        if steps_of_person(self.query) > 1 or (named and not isinstance(finest, GeometricNoise)):
            return []
        return errors_around(
            self.query,
            self.audiences[0].mechanism,
            relation=self.asked.cell_relation,
            price=lambda privacy: self.cost_at(privacy, self.currency),
            distance=None if self.within is None else self.within.distance,
        )

    def cost_at(self, privacy: Guarantee, currency: Currency = EPSILON_DELTA) -> Charge:
        """Return what the whole release would cost, in a currency, if its most accurate cells kept this."""
        return self.price.at(currency, privacy)

    def cost_in(self, currency: Currency) -> Charge:
        """Return what the whole release costs in a currency."""
        return self.price.at(currency)

    document = renamed_method("document", "to_document")

    def to_document(self) -> dict[str, Any]:
        """Return the plan as `publish --dry-run --json` prints it."""
        errors = {audience.name: audience.mechanism.expected_error() for audience in self.audiences}
        return {
            "cost": self.cost.to_document(),
            "expected_error": errors.get(None, errors),
            **({"named_from": self.naming.named_from()} if self.naming is not None else {}),
            **self.subject(),
            **self.asked.reading,
            **self.asked.joined,
            **self._left_out(),
            **({"public": self.public} if self.public else {}),
            **({"project": str(self.project.path)} if self.project else {}),
            "audiences": [self.facts(audience) for audience in self.audiences],
            **self._charges(),
            **({} if self.within is None else {"within": self.within.to_document()}),
        }

    def _charges(self) -> dict[str, Any]:
        """Say how the cost follows from those of the audiences; nothing where they have no names."""
        if self.audiences[0].name is None:
            return {}
        each = {str(one.name): self.cost_of(one, self.currency).to_document() for one in self.audiences}
        rule = "most accurate" if len(self.price.draws) == 1 else "sum of draws"
        return {"audience_costs": {"rule": rule, "draws": len(self.price.draws), "alone": each}}

    def expectations(self) -> dict[str, Any]:
        """Return errors at other costs, and the risk, as `publish --dry-run --json` prints them."""
        return {
            "error_by_level": [row.to_document() for row in self.errors_around()],
            "risk": self.risk.to_document(),
        }

    @property
    def public(self) -> dict[str, Any] | None:
        """Say what is taken as public and may be shown exactly: under exchange the size of the table or its groups."""
        if self.asked.cell_relation != NeighbouringRelation.EXCHANGE:
            return None
        whose = "records" if self.unit is None else f"different {self.unit}"
        where = "in each group" if self.by else "in the table"
        order = " and their order" if entry_of(self.query) == "record" else ""  # answers stand where records do
        return {"columns": list(self.by), "exact": f"number of {whose} {where}{order}"}

    def describe_public(self) -> list[str]:
        """Say the same in a line for people; none where nothing is taken as public."""
        if self.public is None:
            return []
        columns = f" (public columns: {', '.join(self.by)})" if self.by else ""
        return [f"the exact {self.public['exact']} is taken as public and may be shown{columns}"]

    def describe_project(self) -> list[str]:
        """Say in a line for people what a project file said; none without one."""
        return [] if self.project is None else [self.project.describe(self.project_says)]

    def describe_unlisted(self) -> list[str]:
        """Say which groups and categories are none of the project's, where the question names its own."""
        project, query = self.project, self.query
        if project is None:
            return []
        named: list[tuple[str, str, tuple[Any, ...]]] = []
        if self.groups is not None and "groups" not in self.project_says:
            parts = query.parts if is_in_parts(query) else None
            own = len(self.by) - (0 if parts is None else len(parts.columns))
            columns = zip(*self.groups.labels, strict=True)
            named += [("groups", name, values) for name, values in zip(self.by[:own], columns, strict=False)]
        if query.categories is not None and query.column is not None and "categories" not in self.project_says:
            named.append(("categories", query.column.name, query.categories.names))
        said = (
            say_unlisted(values, known, what=what, column=name, file=project.name)
            for what, name, values in named
            if (known := getattr(project, what).get(name.casefold())) is not None
        )
        return [line for line in said if line is not None]

    def describe_rules(self) -> list[tuple[str, str]]:
        """Say by which rules records are read, what stands for a person, and what is public, each with its heading."""
        said = [("note", line) for line in self.describe_unlisted()]
        if (steps := steps_of_person(self.query)) > 1:
            text = f"made for one record at 1/{steps} of the ε, as one {self.unit} may change {steps} records"
            said.append(("note", text))
        said += [("project", line) for line in self.describe_project()]
        notes = [str(note) for note in self.asked.notes if note.beside_answer]
        said += [("note" if line in notes else "read", line) for line in self.describe_reading()]
        if self._counts_persons() and self.table.persons is None and self.query.name == "count":
            said.append(("note", f"counts each {self.unit} once; to count records, add at_most=M"))
        said += [("unit", rule) for rule in self.asked.describe_unit()]
        said += [("partition", line) for line in self.describe_partition()]
        return [*said, *(("public", public) for public in self.describe_public())]

    def describe_partition(self) -> list[str]:
        """Say which partition is asked about and how the ledger adds up partitions; none for the whole table."""
        part = self.table.part
        if part is None:
            return []
        which = f"all of the table is taken for {part}, as you say" if part.is_declared else str(part)
        if self.unit is not None:
            return [f"{which}; charges for different partitions add up, as one {self.unit} may be in each"]
        public = "" if self.relation == NeighbouringRelation.ADD_REMOVE else "; who is in which partition is public"
        return [f"{which}; of the charges for different partitions the largest counts{public}"]

    def leaves_out(self) -> list[str]:
        """Say which records, values or parts of them do not count: no interval covers what is left out."""
        omissions = []
        if self.unit is not None:
            kept = self.contribution
            about_values = getattr(self.query, "about", None) and not getattr(self.query, "of_people", False)
            if not self._counts_persons() or (self.per_unit is not None and about_values):
                omissions.append(f"counts at most {so_many(kept.records, 'record')} of each {self.unit}")
                if kept.limits_groups:
                    omissions[-1] += f", in at most {so_many(kept.groups, 'group')}"
            elif self.by and self.table.persons is None:
                omissions.append(f"counts each {self.unit} in the group of one record")
            omissions.append(f"leaves out records without {self.unit}")
        own = getattr(self.query, "leaves_out", None)
        return [*omissions, *(own(self.asked.cell_relation) if own else ())]

    def _counts_persons(self) -> bool:
        """Tell whether each person counts once, whatever records they have."""
        return self.unit is not None and (self.per_unit is not None or self.asked.every_person)

    def _left_out(self) -> dict[str, list[str]]:
        omissions = self.leaves_out()
        return {"left_out": omissions} if omissions else {}

    def describe_groups(self) -> list[str]:
        """Say which groups were read, the first few by name, as text or as numbers; none where none are declared."""
        return [] if self.groups is None else [self.groups.describe()]

    def describe_reading(self) -> list[str]:
        """Say what columns are read as, and values of them: nobody looks whether a column holds numbers."""
        return [*say_columns([self.asked]), *self.asked.describe_reading(), *self.query.describe_values()]

    def describe_categories(self) -> list[str]:
        """Say the same of the categories that the question is about, and what stands for all others."""
        if self.query.categories is None:
            return []
        rest = getattr(self.query, "rest", None)
        beyond = "" if rest is None else f'; and "{rest}", for any other value or none: it may be the answer about any'
        return [self.query.categories.describe() + beyond]

    @property
    def charges_two_groups(self) -> bool:
        """Whether a record may move between groups, so that a mechanism that is best for one is not for the charge."""
        return self.relation == NeighbouringRelation.EXCHANGE and bool(self.by) and not self.public_membership

    def describe_cost(self) -> str:
        """Say the cost in one line, and that nothing is claimed to be optimal at it where it is that of two groups."""
        reason = {NeighbouringRelation.ADD_REMOVE: "adding or removing", NeighbouringRelation.EXCHANGE: "exchanging"}[
            self.relation
        ]
        privacy = self.audiences[0].mechanism.privacy
        kept = (
            "" if isinstance(privacy, Privacy) and privacy.single else f"; each answer keeps {in_short(str(privacy))}"
        )
        why = (
            "; an exchange may take it out of one group and put it into another, and both are charged:"
            f" {NOT_OPTIMAL_TOGETHER}"
            if self.charges_two_groups
            else ""
        )
        return f"{self.cost} for {reason} one {'record' if self.unit is None else self.unit}{kept}{why}"

    def describe_charges(self) -> list[str]:
        """Say how the cost follows from those of several audiences; nothing where there is one."""
        shared: dict[str | None, list[Audience]] = {}
        for draw, audience in zip(self.draws, self.audiences, strict=True):
            shared.setdefault(draw, []).append(audience)
        if len(shared) == 1:
            first, *others = self.audiences
            if not others or not self.is_chain:
                return []
            return [f"that of the most accurate answer, for {first.name}; the others are made from it"]
        parts = [
            f"{self.price.of_one(self.currency, audiences[0].mechanism.privacy, selects=not place)}"
            f" for {' and '.join(str(audience.name) for audience in audiences)}"
            + (", with the selection of the groups" if self.selector is not None and not place else "")
            for place, audiences in enumerate(shared.values())
        ]
        return [f"the sum of {len(parts)} independent draws, one for each accuracy: {'; '.join(parts)}"]

    def describe_error(self) -> list[str]:
        """Say the expected error, a line for each audience."""
        told = []
        for audience in self.audiences:
            made, unit = audience.mechanism, "record" if self.unit is None else self.unit
            said = made.describe_error_for(unit) if isinstance(made, ExplainsPrivacyUnit) else made.describe_error()
            told.append(said + (f" for {audience.name}" if audience.name else ""))
        return told

    def describe_naming(self) -> list[str]:
        """Say how large a group must be to be named, and what names it; nothing where groups are declared."""
        if self.naming is None:
            return []
        how = "its noisy count passes what an empty group's can be: one noise pays for name and count"
        if self.selector is not None:
            how = f"selected apart from its answer, at {in_short(str(self.selector.privacy))} more, as {self.apart}"
        return [self.naming.describe_naming(), how]
