"""What is asked and what it will cost, from public facts alone: options, schema and declared groups.

A plan has read no record. Everything it says may be printed, and nothing it does is charged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..errors import BadInput
from ..exact import integer, rational_text
from ..mechanisms import balanced_line, privacy_to_document
from ..privacy import Privacy
from ..queries import (
    AtLeast,
    Condition,
    Count,
    Groups,
    Majority,
    Query,
    Relation,
    Table,
    cell_relation,
    open_table,
    read_condition,
    read_groups,
    total_cost,
)
from .cost import Cost
from .respondents import ClassRespondent, CountRespondent, Selector

__all__ = ["Plan", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A question about a table, the mechanism that will answer it, and its cost.

    Attributes
    ----------
    query, condition, groups, by, unit, relation, public_membership
        What is asked, of whom, per what.
    respondent : CountRespondent or ClassRespondent
        Answers one cell; its privacy is that of one step on the cell's graph.
    selector : Selector or None
        Decides which groups may be named, where they are not declared.
    cost : Cost
        What the ledger is charged for the whole release.
    """

    table: Table = field(repr=False)
    query: Query
    condition: Condition | None
    by: tuple[str, ...]
    groups: Groups | None = field(repr=False)
    unit: str | None
    relation: Relation
    public_membership: bool
    respondent: CountRespondent | ClassRespondent
    selector: Selector | None
    cost: Cost

    @property
    def privacy(self) -> Privacy:
        """Privacy of one cell's mechanism."""
        respondent = self.respondent
        return respondent.privacy if isinstance(respondent, CountRespondent) else respondent.mechanism.privacy

    @property
    def cell_relation(self) -> Relation:
        """The relation whose graph a cell lives on."""
        return cell_relation(self.relation, grouped=bool(self.by), public_membership=self.public_membership)

    @property
    def line(self) -> str:
        """The question in one line, for people."""
        words = [part for name, part in self.query.describe().items() if name != "expression"]
        if self.condition is not None:
            words.append(self.condition.text)
        if self.by:
            words.append(f"by {', '.join(self.by)}")
        if self.unit is not None:
            words.append(f"per {self.unit}")
        return " ".join(words)

    def facts(self) -> dict[str, Any]:
        """Return all public facts about the question and its mechanism, JSON-ready: the body of the sidecar."""
        facts: dict[str, Any] = {
            "query": self.query.describe() | ({"expression": self.condition.text} if self.condition else {}),
            "by": list(self.by),
            "groups": self._groups_document(),
            "unit": self.unit,
            "relation": str(self.relation),
            "privacy": privacy_to_document(self.privacy),
            "mechanism": self.respondent.document(),
        }
        if self.public_membership:
            facts["public_membership"] = True
        return facts

    def question(self) -> str:
        """Return the question as canonical JSON text: what must be equal for an answer to be given again."""
        return json.dumps(self.facts(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def document(self) -> dict[str, Any]:
        """Return the plan as `publish --dry-run --json` prints it."""
        return {"cost": self.cost.document(), "expected_error": self.respondent.expected_error(), **self.facts()}

    def describe_cost(self) -> str:
        """Say the cost in one line."""
        text = f"ε = {rational_text(self.cost.epsilon)}, δ = {rational_text(self.cost.delta)}"
        reason = {Relation.ADD_REMOVE: "adding or removing", Relation.EXCHANGE: "exchanging"}[self.relation]
        return f"{text} for {reason} one {'record' if self.unit is None else self.unit}"

    def describe_error(self) -> list[str]:
        """Say the expected error, a line for the answers and one for a selection."""
        lines = [self.respondent.describe_error()]
        return lines if self.selector is None else [*lines, self.selector.describe_error()]

    def _groups_document(self) -> Any:
        if self.selector is not None:
            return {"selected": privacy_to_document(self.selector.privacy)}
        if self.groups is None:
            return None
        # Millions of labels would bloat every row of the ledger; their digest tells questions apart as well.
        labels = json.dumps([[str(part) for part in label] for label in self.groups.labels], ensure_ascii=False)
        return {"declared": len(self.groups), "sha256": hashlib.sha256(labels.encode()).hexdigest()}


def plan(
    data: Any,
    query: str,
    *arguments: Any,
    by: str | Sequence[str] | None = None,
    groups: Any = None,
    select_groups: bool = False,
    selection_epsilon: Any = None,
    selection_delta: Any = None,
    epsilon: Any = None,
    ratio: Any = None,
    delta: Any = 0,
    relation: str = "add-remove",
    public_membership: bool = False,
    unit: str | None = None,
) -> Plan:
    """Check a question against a table's schema and work out its mechanism and cost; reads no record.

    Parameters
    ----------
    data : path or frame
        A .csv, .tsv or .parquet file, or any frame that Narwhals knows.
    query : str
        ``"count"``, ``"at-least"`` or ``"majority"``.
    *arguments
        K for at-least, then the SQL condition (needed for majority).
    by : str or sequence of str, optional
        Group columns; text is split at commas.
    groups, select_groups
        The declared groups (see `irisdp.queries.read_groups`), or private selection; one of them is needed with `by`.
    epsilon, ratio, delta
        Privacy of each cell's mechanism: ε or r = e^ε, and δ. A count needs no δ.
    selection_epsilon, selection_delta
        Privacy of the selection; ε as above and all of δ unless given.
    relation : {"add-remove", "exchange"}
        Which tables are neighbours.
    public_membership : bool
        Under exchange: who is in which group is public.
    unit : str, optional
        The column that says whose record it is; every person keeps one record.

    Raises
    ------
    BadInput
        For anything that does not make sense, before a record is read.
    """
    privacy = Privacy(epsilon=epsilon, ratio=ratio, delta=delta)
    neighbours = _relation(relation)
    table = open_table(data)
    asked = _read_query(query, arguments)
    condition = None if asked.expression is None else read_condition(asked.expression, table.columns)
    columns = tuple(part.strip() for part in by.split(",")) if isinstance(by, str) else tuple(by or ())
    declared = _declared(table, columns, groups, select_groups)
    if unit is not None:
        table.column(unit, "unit")
        if public_membership:
            # Which of a person's records is kept depends on what they say, and so does the group it counts in.
            raise BadInput("--public-membership", "cannot be promised with --unit", "leave one of the two out")
    selector = None
    if select_groups:
        selector = _selector(privacy, selection_epsilon, selection_delta)
        privacy = privacy if selection_delta is not None else privacy.pure
    elif selection_epsilon is not None or selection_delta is not None:
        raise BadInput("--selection-epsilon", "belongs to --select-groups", "add --select-groups or leave it out")
    respondent = _respondent(asked, privacy)
    answering = respondent.privacy if isinstance(respondent, CountRespondent) else privacy
    spent = total_cost(
        answering,
        neighbours,
        grouped=bool(columns),
        public_membership=public_membership,
        exchange_steps=asked.exchange_steps,
        selection=selector.privacy if selector else None,
    )
    return Plan(
        table=table,
        query=asked,
        condition=condition,
        by=columns,
        groups=declared,
        unit=unit,
        relation=neighbours,
        public_membership=public_membership,
        respondent=respondent,
        selector=selector,
        cost=Cost(spent.epsilon, spent.delta),
    )


def _read_query(query: Any, arguments: Sequence[Any]) -> Query:
    """Read ``count [EXPR]``, ``at-least K [EXPR]`` or ``majority EXPR``, in separate words or in one text."""
    name, _, rest = query.strip().partition(" ") if isinstance(query, str) else ("", "", "")
    words = [*([rest.strip()] if rest.strip() else []), *arguments]
    if name == "at-least" and words and isinstance(words[0], str):
        first, _, rest = words[0].strip().partition(" ")
        words[:1] = [first, *([rest.strip()] if rest.strip() else [])]
    takes = {"count": 1, "majority": 1, "at-least": 2}.get(name)
    if takes is None:
        raise BadInput("QUERY", "is none that Iris knows", "write count [EXPR], at-least K [EXPR] or majority EXPR")
    if len(words) > takes:
        raise BadInput("QUERY", f"{name} takes at most {takes} arguments", "put the condition in quotes")
    if name == "at-least":
        if not words:
            raise BadInput("QUERY", "at-least needs a number K", 'write for example at-least 100 "age > 64"')
        return AtLeast(integer(words[0], "K", at_least=0, at_most=1 << 62), *words[1:])
    if name == "majority":
        return Majority(words[0] if words else "")
    return Count(*words)


def _relation(relation: str) -> Relation:
    try:
        return Relation(relation)
    except ValueError:
        raise BadInput("--relation", "must be add-remove or exchange", "choose one of the two") from None


def _declared(table: Table, by: tuple[str, ...], groups: Any, select_groups: bool) -> Groups | None:
    if not by:
        if groups is not None or select_groups:
            raise BadInput("--by", "is missing: groups of what?", "name the group columns with --by")
        return None
    if select_groups == (groups is not None):
        raise BadInput(
            "--groups",
            "the groups must be declared or privately selected: reading them off the data would reveal who is in it",
            "give --groups v1,v2,… or a CSV file, or --select-groups with a --delta (one of the two)",
        )

    return None if select_groups else read_groups(table, by, groups)


def _selector(privacy: Privacy, epsilon: Any, delta: Any) -> Selector:
    own = privacy if epsilon is None else Privacy(epsilon=epsilon, delta=privacy.delta)
    own = own if delta is None else own.with_delta(delta)
    if own.delta == Fraction(0):
        raise BadInput(
            "--delta",
            "must be above 0 to select groups privately",
            "give a small probability such as 1e-6, or --groups",
        )
    return Selector(own)


def _respondent(query: Query, privacy: Privacy) -> CountRespondent | ClassRespondent:
    if isinstance(query, Count):
        return CountRespondent(privacy.pure)
    return ClassRespondent(balanced_line(privacy, outputs=("yes", "no")))
