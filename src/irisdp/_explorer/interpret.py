"""The page Read: published files or one answer in, and in another process what they say to a reader."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources
from typing import Any

from .._child_processes import Phase
from .._exact import numbers, parse_json, rational_text
from .._measurements import USUAL_CONFIDENCE, ReadAs
from .._release import PACKAGE_FORMAT, SIDECAR_FORMAT, ReleaseFile
from .._views.reports import Given, given_in
from ..errors import BadInput
from ..interpretation import ChoiceInterpretation, Estimates, Interpretation, interpret, left_out_of
from .common_fields import as_bytes, as_text, known_field, loss_fields, loss_of, prior_field
from .dispatch import answer
from .form_errors import in_words
from .forms import Field, Tool
from .graph_input import json_ready
from .published import all_answers, in_files, released, show_published
from .readings import FOR_ANALYSTS, only, reading, row_by_row
from .results import (
    Answer,
    Fact,
    Hint,
    Result,
    ResultFile,
    ResultSection,
    Values,
    as_json_file,
    as_python,
    command_line,
)

# Files as they are dropped: which is which is told by what they hold, since browsers rename what is there already.


def sorted_files(files: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    """Return the fields that files fill in: a release file or a mechanism file, and answers.

    Raises
    ------
    BadInput
        For several of one kind, for a report, and for a data package alone.

    Examples
    --------
    >>> sorted_files([("a.csv", b"answer\\n7\\n"), ("a.csv.release.json", b"{}")])
    {'release': '{}', 'answers': 'answer\\n7\\n', 'value': '', 'row': ''}
    """
    kinds: dict[str, list[tuple[str, bytes]]] = {"release": [], "answers": [], "package": []}
    for name, content in files:
        start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
        if start == b"<":
            raise BadInput("release", f"{name} is a report for people", "choose the answers, or their .release.json")
        package = start == b"{" and PACKAGE_FORMAT.encode() in content
        kinds["package" if package else "release" if start == b"{" else "answers"].append((name, content))
    for kind in ("release", "answers"):
        if len(kinds[kind]) > 1:
            names = " and ".join(name for name, _ in kinds[kind][:3])
            what = "release files" if kind == "release" else "files of answers"
            raise BadInput(kind, f"stands for several {what}: {names}", "choose one release at a time")
    if not kinds["release"] and not kinds["answers"]:
        name = kinds["package"][0][0]
        rule = f"{name} is a data package, which only names the other two files"
        raise BadInput("release", rule, "choose the answers and the release file that lie beside it")
    filled = {}
    for _, content in kinds["release"]:
        filled["release"] = as_text(content)
    for _, content in kinds["answers"]:  # a form changes ends of lines when it sends text back
        filled |= {"answers": as_text(content, coded=b"\r" in content or b"\0" in content), "value": "", "row": ""}
    return filled


def _example() -> dict[str, str]:
    folder = resources.files(__package__) / "static"
    names = {"answers": "example.csv", "release": "example.csv.release.json"}
    return {field: (folder / name).read_text("utf-8") for field, name in names.items()}


_FIELDS = (
    Field(
        name="upload",
        label="Files",
        kind="file",
        takes=sorted_files,
        help="The answers and their release file (its name ends in .release.json): choose both, or drop them on "
        "this page.",
    ),
    Field(
        name="release",
        label="Release file",
        kind="area",
        rows=4,
        example='{"format": "irisdp/release/1", …}',
        help="It says how the answers were made. Or paste it here; a mechanism file is read too. Links leave it out.",
        also=("*",),
        linked=False,
    ),
    Field(
        name="answers",
        label="Answers file",
        kind="area",
        rows=4,
        example="answer,answer_low,answer_high",
        help="The published answers. Links leave them out.",
        linked=False,
    ),
    Field(
        name="value",
        label="One published answer",
        example="7",
        help="Without the answers file: a number, or a name such as yes.",
    ),
    Field(
        name="row",
        label="Row of the table",
        kind="number",
        whole=True,
        help="Or press a row of the table. Empty: all answers.",
    ),
    *(
        replace(field, part=FOR_ANALYSTS)
        for field in (
            known_field("least", low=0, high=100),
            known_field("most", low=0, high=100),
            Field(
                name="lead",
                label="Known: the lead",
                kind="number",
                whole=True,
                help="Of a majority or a winner: by how many records the largest is ahead of all others.",
            ),
            *loss_fields({}),
            prior_field(
                "Optional: your probabilities of the counts 0, 1, … as a list. Then the mean loss is minimised.",
                rows=2,
                example="[0.5, 0.3, 0.2]",
            ),
        )
    ),
)


def _answer(values: Values) -> Answer:
    release, answers, value = (values[name].strip() for name in ("release", "answers", "value"))
    if not release and not answers and not value:
        return Hint("Drop the published files on this page, or choose them.")
    if not release:  # half way there is nothing wrong yet
        return Hint("Now add the release file, whose name ends in .release.json: it says how answers were made.")
    if not answers and not value:
        return Hint("Now add the answers file, or write one published answer.")
    return answer("read", read, values)


READ = Tool(
    name="read",
    title="Read",
    summary="What published answers say: the interval of the truth, the error, the cost, and the best guess for you.",
    introduction="A published answer has noise in it. See between which numbers the truth lies, how far off answers "
    "are, and what else the publisher says about them.",
    fields=_FIELDS,
    answer=_answer,
    submit="Read",
    live=True,
    posts=True,
    example=_example,
)


# Compute the page in another process.

_KNOWN = ("at_least", "at_most", "lead")
_COUNTS = (ReadAs.GEOMETRIC_COUNTS, ReadAs.NOISY_COUNTS, ReadAs.NOISY_CELLS)
_READ_BESIDE = {
    ReadAs.VALUES: "a sum or a mean",
    ReadAs.COUNTS_OF_SEVERAL: "a count of several records of each person",
    ReadAs.UNCHANGED: "such an answer",
}
"""Answers to which an interpretation adds nothing: the columns beside them say all."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """What the reader loses by errors, and knows; as `interpret` takes it."""

    loss: Any
    known: Mapping[str, str]
    prior: Any

    @classmethod
    def of(cls, values: Values) -> _Reader:
        known = {name: values[name].strip() for name in _KNOWN if values[name].strip()}
        return cls(loss_of(values), known, _prior(values["prior"].strip()))

    @property
    def first(self) -> str | None:
        """The first field that was filled in; None if none was."""
        if self.known or self.prior is not None:
            return next(iter(self.known), "prior")
        return None if self.loss == "absolute" else "loss"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `interpret`."""
        prior = {} if self.prior is None else {"prior": numbers(self.prior, "prior")}
        return {"loss": self.loss, **self.known, **prior}

    def files(self) -> list[ResultFile]:
        """Return what the command line reads of it from files."""
        files = [as_json_file("loss.json", self.loss)] if isinstance(self.loss, list) else []
        return files + ([] if self.prior is None else [as_json_file("prior.json", self.prior)])


def read(values: Values, say: Phase) -> Result:
    """Read published answers, or one of them, as a form says.

    Raises
    ------
    BadInput
        For what is no release, for answers that it cannot have published, and for knowledge that does not fit.
    """
    say("reading the release")
    document = _release(values["release"])
    reader = _Reader.of(values)
    if not values["answers"].strip():
        return _of_value(values, document, reader, say)
    if values["value"].strip():
        raise BadInput("value", "is one answer, and the answers file has all", "leave it empty, or choose a row")
    return _of_answers(values, document, reader, say)


def _of_answers(values: Values, document: Mapping[str, Any], reader: _Reader, say: Phase) -> Result:
    if document.get("format") != SIDECAR_FORMAT:
        raise BadInput("release", "is no release file", "give the .release.json that lies beside the answers")
    name, content = _answers(values["answers"], document)
    release = values["release"].encode("utf-8", "replace")
    given = given_in(name, content, release)
    row = _row(values["row"].strip(), len(given.rows))
    say("drawing")
    shown = show_published(given, in_files(name, content, release), row=row, choose="row")
    say("finding the best guess")
    confidence = given.facts.confidence if given.facts.read_as in _COUNTS else None
    try:
        if given.facts.read_as in (*_READ_BESIDE, ReadAs.MECHANISM_FILE, None):
            raise BadInput("release", "needs no interpretation", "leave this empty")
        interpretation = interpret(document, all_answers(given), confidence=confidence, **reader.arguments())
    except BadInput as error:
        return _without(shown, given, reader, error, values)
    return _interpreted(shown, given, interpretation, reader, row if len(given.rows) > 1 else 1)


def _without(shown: Result, given: Given, reader: _Reader, error: BadInput, values: Values) -> Result:
    """Show answers that cannot be interpreted for this reader, unless the reader asked for that."""
    read_as = given.facts.read_as
    if read_as in _READ_BESIDE or read_as in (ReadAs.MECHANISM_FILE, None):
        if reader.first is not None:
            what = "each of these answers has its meaning beside it"
            raise BadInput(reader.first, f"is of no use here: {what}", "leave it empty")
        return shown
    if reader.first is not None:
        raise error
    # The question of a best guess comes from this page, and not from the reader.
    line = f"There is no best guess yet. {in_words(_FIELDS, values, error)[2]}."
    return replace(shown, sections=(ResultSection(heading=FOR_ANALYSTS, lines=(line,)), *shown.sections))


def _interpreted(shown: Result, given: Given, interpretation: Any, reader: _Reader, row: int | None) -> Result:
    documents = interpretation.to_documents()
    document = {"estimates" if isinstance(interpretation, Estimates) else "readings": documents}
    left_out = given.facts.left_out
    document |= {"left_out": list(left_out)} if left_out else {}
    sections: tuple[ResultSection, ...] = ()
    facts: tuple[Fact, ...] = ()
    if isinstance(interpretation, Interpretation | ChoiceInterpretation):
        if row is not None:
            said = reading(only(interpretation, row))
            sections = said.sections
            told = Fact("If what you filled in is true", said.headline, "the published files do not say whether it is")
            facts = (told,) if reader.first not in (None, "loss") else ()
        elif interpretation.answers:
            sections = (row_by_row(interpretation),)
    name = given.files[0].name
    confidence = _told_confidence(given.facts)
    return replace(
        shown,
        facts=(*facts, *shown.facts),
        sections=(*sections, *shown.sections),
        files=(*shown.files, as_json_file("reading.json", document), *reader.files()),
        python=_python(name, None, reader, confidence),
        command=_command(name, None, reader, confidence),
    )


def _of_value(values: Values, document: Mapping[str, Any], reader: _Reader, say: Phase) -> Result:
    value = values["value"].strip()
    if not value:
        raise BadInput("value", "is missing", "write one published answer, such as 7, or add the answers file")
    if values["row"].strip():
        raise BadInput("row", "is a row of the answers file", "add the file, or leave this empty")
    facts = ReleaseFile(document) if document.get("format") == SIDECAR_FORMAT else None
    read_as = None if facts is None else facts.read_as
    if read_as in _READ_BESIDE or read_as is ReadAs.LISTS:
        what = "a list" if read_as is ReadAs.LISTS else _READ_BESIDE[read_as]
        raise BadInput("answers", f"is needed to read {what}", "add the answers file, and leave the one answer out")
    counts = facts is not None and read_as in _COUNTS
    confidence = facts.check_kinds().confidence if facts is not None and counts else None
    say("finding the best guess")
    try:
        interpretation = interpret(document, value, confidence=confidence, **reader.arguments())
    except BadInput as error:
        if error.field == "value" and "node of the graph" in error.rule:
            raise BadInput("value", "is not an answer that this can publish", "write one of them") from None
        raise
    assert isinstance(interpretation, Interpretation | ChoiceInterpretation)
    say("drawing")
    (said,) = interpretation.to_documents()
    if isinstance(interpretation, Interpretation):
        said |= {"posterior": interpretation.posterior().to_document()}
    left_out = left_out_of(document)
    said |= {"left_out": list(left_out)} if left_out else {}
    shown = reading(interpretation)
    notes = [f"No interval above covers what the release changes: {'; '.join(left_out)}."] if left_out else []
    return replace(
        shown,
        facts=(*shown.facts, *(() if facts is None else released(facts))),
        files=(
            as_json_file("reading.json", said),
            ResultFile("release.json", values["release"].encode("utf-8", "replace")),
            *reader.files(),
        ),
        python=_python("release.json", value, reader, None if facts is None or not counts else _told_confidence(facts)),
        command=_command(
            "release.json", value, reader, None if facts is None or not counts else _told_confidence(facts)
        ),
        notes=(*notes, "Links do not carry the release: paste it again after opening one."),
    )


def _release(text: str) -> Mapping[str, Any]:
    """Parse what was pasted; nothing but an object is a release here, above all no name of a file."""
    remedy = "give the .release.json that lies beside published answers"
    if not text.strip():
        raise BadInput("release", "is missing", remedy)
    document = parse_json(text, "release")
    if not isinstance(document, dict):
        raise BadInput("release", "must be a JSON object", remedy)
    if isinstance(document.get("irisdp"), Mapping):
        raise BadInput("release", "is a data package, which only names the other two files", remedy)
    return document


def _answers(text: str, release: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the file of answers as it was published, with a name that says what it is.

    A form sends every end of a line as two letters, and the digest in the release file is that of the file.
    """
    content = as_bytes(text, "answers")
    if content[:4] == b"PAR1":
        return "answers.parquet", content
    facts = ReleaseFile(release)
    digest = facts.part("answers").get("sha256")
    ways = (content, content.replace(b"\r\n", b"\n"))
    content = next((way for way in ways if hashlib.sha256(way).hexdigest() == digest), ways[-1])
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        rule = "is not the one that was published with this release file, or was changed since"
        raise BadInput("answers", rule, "choose both files together, as the publisher wrote them")
    return ("answers.json" if content.lstrip()[:1] == b"[" else "answers.csv"), content


def _row(text: str, rows: int) -> int | None:
    if not text:
        return None
    row = int(text) if text.isdecimal() and len(text) < 10 else 0
    if not 1 <= row <= rows:
        raise BadInput("row", f"{text} is not there", f"choose one from 1 to {rows:,}")
    return row


def _prior(text: str) -> Any:
    if not text:
        return None
    if not text.startswith("["):
        raise BadInput("prior", "must be a list in JSON", "write for example [0.5, 0.3, 0.2]")
    return json_ready(parse_json(text, "prior"))


# What makes the same without the explorer.


def _told_confidence(facts: ReleaseFile) -> str | None:
    """Return the confidence of a release, where it is not the usual one of the command line."""
    confidence: Fraction | None = facts.confidence if facts.read_as in _COUNTS else None
    return None if confidence in (None, USUAL_CONFIDENCE) else rational_text(confidence)


def _command(name: str, value: str | None, reader: _Reader, confidence: str | None) -> str:
    told = {**({} if value is None else {"value": value}), **reader.known}
    if reader.loss != "absolute":
        told["loss"] = "loss.json" if isinstance(reader.loss, list) else reader.loss
    if reader.prior is not None:
        told["prior"] = "prior.json"
    if confidence is not None:
        told["confidence"] = confidence
    # A value may begin with a minus sign, which would look like an option by itself.
    options = [f"--{name.replace('_', '-')}={text}" for name, text in told.items()]
    return command_line(["irisdp", "interpret", name, *options, "--out", "reading.json"])


def _python(name: str, value: str | None, reader: _Reader, confidence: str | None) -> str:
    arguments = [f'"{name}"', *([] if value is None else [repr(value)])]
    if reader.loss != "absolute":
        arguments.append(f"loss={reader.loss!r}")
    arguments += [f"{name}={text!r}" for name, text in reader.known.items()]
    first, named = "", ""
    if reader.prior is not None:
        first, named = as_python("prior", reader.prior, "prior.json")
        arguments.append("prior=prior")
    if confidence is not None:
        arguments.append(f"confidence={confidence!r}")
    called = f"reading = irisdp.interpret({', '.join(arguments)})"
    lines = (f"{first}import irisdp\n", named, called, "print(reading.to_documents())")
    return "\n".join(line for line in lines if line)
