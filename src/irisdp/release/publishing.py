"""The main job: plan, read, draw, charge, write down, show; in that order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BadInput
from ..exact import rational_text
from ..queries import ClassNodes, CountNodes, Groups, Statistics, UnreleasedKeys, count_records, enumerate_keys
from .answers import Answers, check_output, replace_file, write_answers
from .cost import Cost
from .fingerprint import fingerprint, secret_beside
from .ledger import Entry, Ledger
from .planning import Plan, plan
from .respondents import ClassRespondent, CountRespondent

__all__ = ["SIDECAR_FORMAT", "PrivateCells", "Publication", "publish", "read_cells"]

SIDECAR_FORMAT = "irisdp/release/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What was published: public, all of it.

    Attributes
    ----------
    plan : Plan
        What was asked.
    answers : Answers
        One answer per group.
    repeated : bool
        Whether the question had been answered before; then this is the same answer, and nothing was charged.
    cost : Cost
        What was charged now.
    ledger, id
        Where the release is written down.
    out : tuple of Path
        Files written, the sidecar last.
    """

    plan: Plan
    answers: Answers
    repeated: bool
    cost: Cost
    ledger: Path
    id: int
    out: tuple[Path, ...]

    def document(self) -> dict[str, Any]:
        """Return the publication as `publish --json` prints it."""
        return {
            "cost": self.cost.document(),
            "repeated": self.repeated,
            "answers": self.answers.documents(),
            "out": [str(path) for path in self.out],
            "ledger": {"file": str(self.ledger), "id": self.id},
            "expected_error": self.plan.respondent.expected_error(),
        }

    def describe_budget(self) -> str:
        """Say what is spent and what is left."""
        ledger = Ledger(self.ledger)
        spent, limit = ledger.spent, ledger.limit
        text = f"spent ε = {rational_text(spent.epsilon)}, δ = {rational_text(spent.delta)}"
        if limit is None:
            return f"{text}; no limit is set"
        return f"{text} of ε = {rational_text(limit.epsilon)}, δ = {rational_text(limit.delta)}"


@dataclass(frozen=True, slots=True, eq=False)
class PrivateCells:
    """What was read of the data: nodes per cell and, where groups are selected, the keys. Never shown or stored."""

    nodes: CountNodes | ClassNodes
    keys: UnreleasedKeys | None

    def __repr__(self) -> str:
        """Show nothing."""
        return "PrivateCells(…)"


def publish(
    data: Any,
    query: str,
    *arguments: Any,
    ledger: str | os.PathLike[str] | None = None,
    secret: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Publication:
    """Publish the best private answer per group, drawn exactly and charged to a budget on disk.

    Parameters
    ----------
    data, query, *arguments, **options
        The question, as for `plan`: ``publish("t.csv", "majority", "vote = 1", by="region", groups="n,s", epsilon=1)``.
    ledger : path, optional
        The budget's file; beside the data unless given.
    secret : path, optional
        Keep the secret that fingerprints are keyed with beside this path instead of beside the data.
    out : path, optional
        Where to write the answers (.csv, .parquet or .json); `OUT.release.json` is written beside it.

    Returns
    -------
    Publication
        (ε,δ)-differentially private at `cost` in the table, under the relation asked for: proofs/grouped-releases.md,
        and tests/oracles/test_end_to_end_privacy.py for every tiny table.

    Raises
    ------
    BadInput
        Before anything is spent, with one exception: if `out` cannot be written after all, the answer is in the ledger
        and asking again costs nothing.
    BudgetRefused
        If the ledger's limit does not allow the cost; nothing was drawn or spent.
    """
    planned = plan(data, query, *arguments, **options)
    target = None if out is None else Path(out)
    if target is not None:
        check_output(target)
    book = Ledger(_ledger_path(data, ledger))
    before = _stamp(data)
    version = fingerprint(planned.table.digest(), secret_beside(secret or _path(data) or book.path))
    cells = read_cells(planned)
    if _stamp(data) != before:
        raise BadInput(
            "DATA", "changed while it was read", "publish again when nobody is writing to it; nothing was spent"
        )
    settled = book.settle(
        query=planned.line,
        question=planned.question(),
        fingerprint=version,
        cost=planned.cost,
        draw=lambda _: [Entry(cost=planned.cost, answers=_draw(planned, cells).to_bytes())],
    )
    answers = Answers.from_bytes(settled.entries[0].answers)
    written = () if target is None else _write(target, answers, planned, settled.ids[0])
    return Publication(
        plan=planned,
        answers=answers,
        repeated=settled.repeated,
        cost=Cost() if settled.repeated else planned.cost,
        ledger=book.path,
        id=settled.ids[0],
        out=written,
    )


def read_cells(planned: Plan) -> PrivateCells:
    """Read the table once: each cell's node and, for a selection, the keys there are."""
    if planned.selector is None:
        found = count_records(planned.table, condition=planned.condition, groups=planned.groups, unit=planned.unit)
        return PrivateCells(planned.query.nodes(found, planned.cell_relation), None)
    keys = enumerate_keys(planned.table, planned.by, unit=planned.unit)
    groups = keys.select(np.ones(len(keys.counts), dtype=np.bool_))
    if len(groups):
        found = count_records(planned.table, condition=planned.condition, groups=groups, unit=planned.unit)
    else:
        found = Statistics(*(np.zeros(0, dtype=np.int64),) * 3)
    return PrivateCells(planned.query.nodes(found, planned.cell_relation), keys)


def _draw(planned: Plan, cells: PrivateCells) -> Answers:
    """Draw all cells; where groups are selected, draw which may be named and forget the others."""
    values = _answer(planned.respondent, cells.nodes)
    if planned.selector is None or cells.keys is None:
        return Answers(planned.by, planned.groups.labels if planned.groups else [()], values)
    chosen = planned.selector.draw(cells.keys.counts)
    named: Groups = cells.keys.select(chosen)
    return Answers(planned.by, named.labels, [value for value, kept in zip(values, chosen, strict=True) if kept])


def _answer(respondent: CountRespondent | ClassRespondent, nodes: CountNodes | ClassNodes) -> list[Any]:
    if isinstance(respondent, CountRespondent) and isinstance(nodes, CountNodes):
        return respondent.draw(nodes)
    assert isinstance(respondent, ClassRespondent) and isinstance(nodes, ClassNodes)
    return respondent.draw(nodes)


def _write(target: Path, answers: Answers, planned: Plan, number: int) -> tuple[Path, ...]:
    """Write the answers and, beside them, all that a reader needs and nothing else that depends on the data."""
    write_answers(answers, target)
    sidecar = {
        "format": SIDECAR_FORMAT,
        **planned.facts(),
        "audience": None,
        "cost": planned.cost.document(),
        "columns": list(answers.columns),
        "ledger": {"id": number},
    }
    beside = target.with_name(f"{target.name}.release.json")
    replace_file(beside, (json.dumps(sidecar, ensure_ascii=False, indent=1) + "\n").encode())
    return target, beside


def _path(data: Any) -> Path | None:
    return Path(data).expanduser() if isinstance(data, str | os.PathLike) else None


def _ledger_path(data: Any, ledger: str | os.PathLike[str] | None) -> Path:
    if ledger is not None:
        return Path(ledger)
    path = _path(data)
    if path is None:
        raise BadInput("ledger", "is missing, and a frame has no place beside it", "give the path of a ledger")
    return path.with_suffix(".ledger")


def _stamp(data: Any) -> tuple[int, int, int] | None:
    path = _path(data)
    if path is None:
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
