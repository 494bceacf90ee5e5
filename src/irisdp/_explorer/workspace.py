"""What an explorer with a table keeps while it runs: the table, the draft of a plan, and what was pressed.

Nothing of it is private. Records are read by the page Table and by Publish, both in processes of their own.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._exact import TomlFile
from ..errors import BadInput
from .draft import Draft, DraftHistory, new_draft, plan_path, read_draft, with_own_epsilon
from .forms import read_values
from .publishing import digest_of, save_plan, was_written_here


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTable:
    """The table that an explorer was started with.

    Parameters
    ----------
    data : str
        As for `irisdp.Session`.
    project, ledger, plan : str, optional
        The files of the command line; of the plan, where its draft is kept.
    options : mapping
        The options of the command line that say how it is read, as text or true.
    told : mapping
        What else a plan file says of it, such as its relation; paths are absolute.
    """

    data: str
    project: str | None = None
    ledger: str | None = None
    plan: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What pages call it."""
        return Path(self.data.partition("#")[0].partition("?")[0]).stem or "table"

    @property
    def plan_path(self) -> Path:
        """Where the plan is kept: beside the table, or in the working folder where that is on a server."""
        from .._tables import is_address

        if self.plan is not None:
            return Path(self.plan).absolute()
        if is_address(self.data):
            return Path(f"{self.name}.plan.toml").absolute()
        return plan_path(Path(self.data).absolute())

    @property
    def dataset(self) -> dict[str, Any]:
        """What a plan file says of it besides its data."""
        files = {"project": self.project, "ledger": self.ledger, "types": self.options.get("types")}
        paths = {name: _beside(value, self.plan_path) for name, value in files.items() if value is not None}
        return {**self.options, **self.told, **paths}

    @property
    def seen_from_plan(self) -> str:
        """The data as the plan names it."""
        return _beside(self.data, self.plan_path)


def _beside(place: str, plan: Path) -> str:
    """Return a path relative to the folder of the plan, if it lies there; else the whole path, or the address."""
    from .._tables import is_address

    if is_address(place) or "://" in place:
        return place
    path = Path(place).absolute()
    return path.relative_to(plan.parent).as_posix() if path.is_relative_to(plan.parent) else str(path)


def _place(data: Any, plan: Path) -> Any:
    """Return the file that a plan means, or what it says where that is no file."""
    return Path(os.path.realpath(plan.parent / data)) if isinstance(data, str) and "://" not in data else data


class Workspace:
    """The table, the plan and the presses of one explorer; used by one thread, which answers requests.

    Parameters
    ----------
    served : ServedTable

    Raises
    ------
    BadInput
        For a plan file that is no plan about this table, and no other.
    """

    def __init__(self, served: ServedTable) -> None:
        from .question_form import FIELDS, values_of

        self.served = served
        self.path = served.plan_path
        there = digest_of(self.path)
        self._digests = {there}
        self.known = "{}"
        """What the last outlook found about costs."""
        self.keeps_comments = True
        empty = new_draft(served.seen_from_plan, served.name, served.dataset)
        if there:
            text = self.path.read_text("utf-8", "replace")
            self.keeps_comments = was_written_here(text)
            from .._release import check_plan

            check_plan(self.path)
            found = read_draft(TomlFile(self.path, "plan").read(), values_of, default=empty, text=text)
            self._check_data(found.dataset.get("data"))
            # What the command line says of the table stands before what the file says.
            first_draft = replace(found, dataset={**found.dataset, **empty.dataset})
        else:
            first_draft = empty.with_question(read_values(FIELDS, {}))
        self.history = DraftHistory(first_draft)
        self._open: dict[str, tuple[str, str, str]] = {}
        self._jobs: dict[str, str] = {}
        self._published: dict[str, Mapping[int, tuple[str, Mapping[str, str]]]] = {}

    def _check_data(self, said: Any) -> None:
        """Refuse a plan file about another table than the one that is served."""
        wanted = self.served.seen_from_plan
        if said != wanted and _place(said, self.path) != _place(wanted, self.path):
            raise BadInput("plan", f"{self.path.name} is about {said}, not {wanted}", "name another plan with --plan")

    @property
    def draft(self) -> Draft:
        """The draft as it stands."""
        return self.history.current

    @property
    def digests(self) -> str:
        """Return the digests of what the plan file said, so far as this explorer read or wrote it."""
        return ",".join(sorted(self._digests))

    def outlook_values(self, draft: Draft | None = None) -> dict[str, str]:
        """Return what `plan_outlook` needs, of the draft or of another one."""
        asked = self.draft if draft is None else draft
        return {"draft": asked.to_json(), "path": str(self.path), "known": self.known}

    def save(self, text: str) -> None:
        """Write the plan file; raises as `save_plan`."""
        save_plan(self.path, text, self.digests)
        self._note(text)

    def is_saved(self, text: str) -> bool:
        """Tell whether the plan file says this, whatever its comments are."""
        try:
            said = self.path.read_text("utf-8")
        except (OSError, ValueError):
            return False
        return _without_comments(said) == _without_comments(text)

    def _note(self, text: str) -> None:
        self._digests.add(hashlib.sha256(text.encode()).hexdigest())
        self.keeps_comments = True

    # A press of Publish: a form that was shown once leads to one job, however often it arrives.

    def offer(self, shown: tuple[str, str, str]) -> str:
        """Return the name of a form that publishes a plan at a charge; `shown` is its text, charge and agreement."""
        name = secrets.token_urlsafe(16)
        self._open[name] = shown
        while len(self._open) > _MOST_OFFERS:
            del self._open[next(iter(self._open))]
        return name

    def taken(self, name: str) -> tuple[str, str, str] | None:
        """Return what a form was shown with; None for one that this explorer never made."""
        return self._open.get(name)

    def job_of(self, name: str) -> str | None:
        """Return the address of the job that a form has started."""
        return self._jobs.get(name)

    def started(self, name: str, job: str, text: str, epsilons: Mapping[int, str]) -> None:
        """Note that a form has started a job, which writes the plan file and publishes questions at these ε."""
        self._jobs[name] = job
        asked = {one.key: one.values for one in self.draft.questions}
        self._published[job] = {key: (epsilon, asked[key]) for key, epsilon in epsilons.items()}
        self._note(text)

    def running(self, has_published: Callable[[str], bool | None]) -> str | None:
        """Return the address of a run that goes on; see `settle`."""
        return next((job for job in self._published if has_published(job) is None), None)

    def settle(self, has_published: Callable[[str], bool | None]) -> None:
        """Let published questions keep the ε that they have: another would make them new questions.

        Parameters
        ----------
        has_published : callable
            From the address of a job to whether it may have published something; None while it runs.
        """
        for job, epsilons in list(self._published.items()):
            done = has_published(job)
            if done is None:
                continue
            del self._published[job]
            # A question that was edited meanwhile is another one.
            now = {one.key: one.values for one in self.draft.questions}
            kept = {key: epsilon for key, (epsilon, values) in epsilons.items() if now.get(key) == values}
            if done:
                self.history.edit(with_own_epsilon(self.draft, kept), "the ε of published questions")


def _without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


_MOST_OFFERS = 500
