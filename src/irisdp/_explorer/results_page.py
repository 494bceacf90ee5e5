"""The page Results: what the plan has published, read from the files of its answers; no table and no ledger is read."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from glob import escape
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from .._child_processes import Phase
from .._exact import TomlFile
from .._html import Html, element, joined
from ..errors import BadInput, IrisError
from .jobs import Job
from .pages import filled_in, show_parts, take_away, wrong_note
from .results import Result, ResultFile, Values, command_line
from .stateful_pages import Handler, Visit
from .workspace import Workspace

_SIDECAR = ".release.json"
_LARGEST = 16 << 20
_MOST_ROWS = 200_000
_LONGEST_ROW = 10
"""Digits of the number of a row."""


class ResultsPage:
    """The page.

    Parameters
    ----------
    workspace : Workspace
    """

    name = "results"
    title = "Results"
    summary = "What was published: each answer in a sentence, with picture, interval, report, files and code."
    private = False

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def handlers(self) -> dict[tuple[str, str], Handler]:
        """Return the addresses of the page."""
        return {("GET", "/results"): self._overview, ("GET", "/results/{place}"): self._one}

    async def finished(self, job: Job, visit: Visit) -> Response:
        """Show the results; the page starts no jobs."""
        return visit.go("results")

    def _values(self) -> dict[str, str]:
        return {"path": str(self._workspace.path), "asked": str(time.time_ns())}

    async def _overview(self, visit: Visit) -> Response:
        try:
            found: Overview = await visit.shown(results_overview, self._values())
        except IrisError as error:
            return visit.page(self.title, wrong_note(str(error)), at=self.name)
        if not found.questions:
            note = filled_in("Nothing was published from this plan yet.")
            way = element("p", element("a", "Go to Publish", href="publish", class_="button"))
            return visit.page(self.title, note, way, at=self.name)
        listed = [
            element(
                "li",
                element(
                    "a",
                    element("h2", f"{one.number}. {one.title}"),
                    element("p", one.sentence),
                    href=f"results/{one.place}",
                ),
            )
            for one in found.questions
        ]
        missing = (
            element("p", f"{found.missing} of the plan's questions have no answers yet. ", _again(), class_="note")
            if found.missing
            else None
        )
        lead = element(
            "p",
            "What was published. Answers for everybody are public; answers for an audience are for it alone. Open a "
            "question for its picture, intervals and files.",
            class_="lead",
        )
        return visit.page(
            self.title,
            lead,
            missing,
            element("ul", listed, class_="doors"),
            take_away(self._whole(found), visit.store),
            at=self.name,
        )

    def _whole(self, found: Overview) -> Result:
        plan = self._workspace.path
        return Result(
            headline="",
            files=(
                ResultFile(plan.name, plan.read_bytes(), "application/toml"),
                *(_report(Path(path)) for path in found.reports),
            ),
            command=command_line(["irisdp", "run", plan.name]),
            python=f"import irisdp\n\npublished = irisdp.run({plan.name!r})\nprint(published.to_document())",
        )

    async def _one(self, visit: Visit) -> Response:
        number = visit.request.path_params["place"]
        if not number.isdecimal() or len(number) > 6:
            raise HTTPException(404)
        try:
            row = visit.request.query_params.get("row", "")
            asked = {"place": number, "row": row if row.isdecimal() and len(row) < _LONGEST_ROW else ""}
            result: Result | None = await visit.shown(one_result, {**self._values(), **asked})
        except BadInput as error:
            return visit.page(self.title, wrong_note(str(error)), _back(), at=self.name)
        if result is None:
            raise HTTPException(404, "there are no answers to this question")
        rows = element("form", id="form", method="get", action=f"results/{number}", hidden=True)
        return visit.page(self.title, _back(), rows, show_parts(result, visit.store), at=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSentence:
    """A published question in a sentence.

    Attributes
    ----------
    number, place : int
        Its place in the plan, and among all files of answers.
    title, sentence : str
    """

    number: int
    place: int
    title: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What a plan has published.

    Attributes
    ----------
    questions : tuple of OneSentence
    missing : int
        Questions without a file of answers.
    reports : tuple of str
        The pages of all questions: one for everybody, and one for each audience.
    """

    questions: tuple[OneSentence, ...]
    missing: int
    reports: tuple[str, ...]


def results_overview(values: Values, say: Phase) -> Overview:
    """Read the files of answers that the plan file names."""
    from .published import published

    path = Path(values["path"])
    document = _plan(path)
    listed: list[OneSentence] = []
    missing = 0
    asked = document.get("questions", ())
    named = [said["out"] for said in asked if "out" in said]
    for number, said in enumerate(asked, start=1):
        files = _answers(path, said, named)
        missing += not files
        for file in files:
            say(f"reading {file.name}")
            try:
                _check_size(file)
                shown = published(file)
                sentence, title = shown.headline, _question(shown)
            except BadInput as error:
                sentence, title = str(error), file.name
            if said.get("name") and title.startswith(said["query"]):
                title = f"{said['name']}: {title}"
            part = file.stem.removeprefix(Path(said["out"]).stem)[1:]
            title += f" for {part}" if part and part not in title else ""
            listed.append(OneSentence(number=number, place=len(listed) + 1, title=title, sentence=sentence))
    reports = _beside(path, document["report"]) if "report" in document else []
    # A page that is older than answers is that of another plan.
    newest = max((file.stat().st_mtime_ns for said in asked for file in _answers(path, said, named)), default=0)
    reports = [file for file in reports if file.suffix == ".html" and file.stat().st_mtime_ns >= newest]
    return Overview(questions=tuple(listed), missing=missing, reports=tuple(map(str, reports)))


def _question(shown: Result) -> str:
    """Return the question that the release file names: the plan may ask another one by now."""
    facts = (fact for section in shown.sections for fact in section.facts)
    return next((fact.remark for fact in facts if fact.name == "Question"), "")


def _check_size(file: Path) -> None:
    """Refuse answers that are too many for a page; a small file can hold millions of rows."""
    if file.stat().st_size > _LARGEST:
        raise BadInput("answers", f"{file.name} has more than {_LARGEST >> 20} MiB", "open it with another program")
    if file.suffix.lower() == ".parquet":
        import pyarrow.parquet

        try:
            rows = pyarrow.parquet.read_metadata(file).num_rows
        except Exception:  # which is said where it is read
            return
        if rows > _MOST_ROWS:
            raise BadInput("answers", f"{file.name} has more than {_MOST_ROWS:,} rows", "open it with another program")


def one_result(values: Values, say: Phase) -> Result | None:
    """Return all about one file of answers; None where there is no such file."""
    from .published import published

    path = Path(values["path"])
    asked = _plan(path).get("questions", ())
    named = [said["out"] for said in asked if "out" in said]
    files = [file for said in asked for file in _answers(path, said, named)]
    place = int(values["place"])
    row = int(values["row"]) if values["row"] else None
    if not 0 < place <= len(files):
        return None
    _check_size(files[place - 1])
    return published(files[place - 1], row=row, choose="row")


def _plan(path: Path) -> dict[str, Any]:
    """Return what the plan file says; nothing where there is none yet."""
    return TomlFile(path, "plan").read() if path.exists() else {}


def _answers(plan: Path, said: Mapping[str, str], named: Collection[str]) -> list[Path]:
    """Return the files of answers to a question that are there: one, or one for each audience or partition.

    Parameters
    ----------
    named : collection of str
        The files of all questions, of which one name may begin like another.
    """
    if "out" not in said:
        return []
    longer = [Path(name).stem for name in named if len(name) > len(said["out"])]
    return [
        file
        for file in _beside(plan, said["out"])
        if Path(f"{file}{_SIDECAR}").is_file() and not any(_begins(file.stem, stem) for stem in longer)
    ]


def _beside(plan: Path, name: str) -> list[Path]:
    """Return a file that a plan names, and those of its audiences and partitions, so far as they are there."""
    named = plan.parent / name
    found = named.parent.glob(f"{escape(named.stem)}*{named.suffix}") if named.parent.is_dir() else ()
    return sorted(file for file in found if _begins(file.stem, named.stem))


def _begins(stem: str, named: str) -> bool:
    return stem == named or stem.startswith((f"{named}.", f"{named}-"))


def _report(path: Path) -> ResultFile:
    return ResultFile(path.name, partial(_read, path), "text/html", told=_stamp(path))


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LARGEST)


def _stamp(path: Path) -> str:
    status = path.stat()
    return f"{path}\0{status.st_mtime_ns}\0{status.st_size}"


def _again() -> Html:
    return joined(element("a", "Publish again", href="publish"), " to write them: what was charged is free.")


def _back() -> Html:
    return element("p", element("a", "All results", href="results"))
