"""The computation of the page Read, in another process: what a published answer means to one reader."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor
from typing import Any

from .._child_processes import Phase
from .._exact import Enclosure, numbers, parse_json, short_above, short_below
from ..errors import BadInput
from ..interpretation import (
    RESTS_ON,
    ChoiceInterpretation,
    Estimates,
    Interpretation,
    JointInterpretation,
    PopulationEstimates,
    interpret,
    left_out_of,
)
from .common_fields import known_field, loss_fields, loss_of, prior_field, upload_field
from .dispatch import answer
from .forms import Field, Tool
from .graph_input import json_ready
from .results import (
    Answer,
    Fact,
    Hint,
    Result,
    ResultFile,
    ResultTable,
    Values,
    as_json_file,
    as_python,
    command_line,
    entry,
)

_FIELDS = (
    upload_field("release", "The .release.json that lies beside published answers, or a mechanism file."),
    Field(
        name="release",
        label="What was published",
        kind="area",
        rows=6,
        example='{"format": "irisdp/release/1", …}',
        help="Or paste it here. It is public: it says how the answers were made. Links leave it out.",
        also=("*",),
        linked=False,
    ),
    Field(name="value", label="The published answer", example="7", help="A number, or a name such as yes."),
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
        "May be left out: your probabilities of the counts 0, 1, … as a list. Then the mean loss is made small.",
        rows=2,
        example="[0.5, 0.3, 0.2]",
    ),
)


def _answer(values: Values) -> Answer:
    release, value = values["release"].strip(), values["value"].strip()
    if not release and not value:
        return Hint("Choose the file that says what was published, or paste it, and write the answer.")
    if not release or not value:  # half way there is nothing wrong yet
        return Hint("Now write the published answer." if release else "Now paste what was published.")
    return answer("read", read, values)


READ = Tool(
    name="read",
    title="Read",
    summary="What a published number or name says to you: the best reading, what it costs, what may be true.",
    introduction=(
        "A published answer has noise in it. By what you know and what an error costs you it can often be read better"
        " than as it is."
    ),
    fields=_FIELDS,
    answer=_answer,
    submit="Read",
    live=True,
    posts=True,
)


_WORTH_SAYING = Fraction(1, 1000)
_MOST_ROWS = 60
_KNOWN = ("at_least", "at_most", "lead")


def read(values: Values, say: Phase) -> Result:
    """Read a published answer as a form says.

    Raises
    ------
    BadInput
        For what is no release, for an answer that it cannot have published, and for knowledge that does not fit.
    """
    say("reading the release")
    release = _release(values["release"])
    value = values["value"].strip()
    if not value:
        raise BadInput("value", "is missing", "give one published answer, such as 7; of a whole file, use interpret")
    loss = loss_of(values)
    known: dict[str, Any] = {name: values[name].strip() for name in _KNOWN if values[name].strip()}
    prior = _prior(values["prior"].strip())
    say("finding the best reading")
    weights = None if prior is None else numbers(prior, "prior")
    try:
        interpretation = interpret(release, value, loss=loss, prior=weights, **known)
    except BadInput as error:
        if error.field == "value" and "node of the graph" in error.rule:
            raise BadInput("value", "is not an answer that this can publish", "write one of them") from None
        raise
    if isinstance(interpretation, Estimates | JointInterpretation | PopulationEstimates):
        raise BadInput("release", "publishes a list, which is read whole", "read it whole in Python")
    from ..plots import names_read, readings

    say("drawing")
    (document,) = interpretation.to_documents()
    if isinstance(interpretation, Interpretation):
        document |= {"posterior": interpretation.posterior().to_document()}
        said, picture = _of_count(interpretation, document), readings(interpretation)
    else:
        said, picture = _of_name(interpretation), names_read(interpretation)
    left_out = left_out_of(release)
    document |= {"left_out": list(left_out)} if left_out else {}
    notes = [f"No interval above covers what the release changes: {'; '.join(left_out)}."] if left_out else []
    files = [
        as_json_file("reading.json", document),
        ResultFile("release.json", values["release"].encode("utf-8", "replace")),
    ]
    files += [as_json_file("loss.json", loss)] if isinstance(loss, list) else []
    files += [as_json_file("prior.json", prior)] if prior is not None else []
    return Result(
        headline=said.headline,
        facts=said.facts,
        pictures=(picture,),
        tables=said.tables,
        files=tuple(files),
        python=_python(value, loss, known, prior),
        command=_command(value, loss, known, prior),
        notes=(*notes, *said.notes, "The release stays out of links: whoever opens one pastes it again."),
    )


def _release(text: str) -> Mapping[str, Any]:
    """Parse what was pasted; nothing but an object is a release here, above all no name of a file."""
    if not text.strip():
        raise BadInput("release", "is missing", "paste the .release.json that lies beside published answers")
    document = parse_json(text, "release")
    if not isinstance(document, dict):
        raise BadInput("release", "must be a JSON object", "paste the .release.json that lies beside published answers")
    return document


def _prior(text: str) -> Any:
    if not text:
        return None
    if not text.startswith("["):
        raise BadInput("prior", "must be a list in JSON", "write for example [0.5, 0.3, 0.2]")
    return json_ready(parse_json(text, "prior"))


def _of_count(interpretation: Interpretation, document: Mapping[str, Any]) -> Result:
    answer, rule = interpretation.answers[0], interpretation.answers[0].rule
    low, high = rule.possible
    counts = f"counts {low} to {high}" if high is not None else f"counts from {low} on"
    kind = "under your prior" if interpretation.bayesian else "at worst"
    bound = "that" if rule.lower_bound == rule.value else short_below(rule.lower_bound)
    first, last = document["posterior"]["interval_95"]
    interval = answer.interval
    assumed = "under your prior" if interpretation.bayesian else "if all possible counts were equally likely before"
    cost = f"{interpretation.loss.name}, for {counts}; no reading has less than {bound}"
    facts = [
        Fact(
            "Interval",
            f"{interval.low} to {interval.high}",
            f"with probability 95 % or more, {RESTS_ON[interval.basis]}",
        ),
        Fact("For analysts: best guess", _reading(answer.chances), f"for {interpretation.loss.name} loss"),
        Fact("Loss", f"{short_above(rule.value)} {kind}", cost),
        Fact("Posterior", f"{first} to {last}", f"with probability at least 95 %, {assumed}"),
    ]
    if rule.face_value is not None:
        share = 1 - rule.value / rule.face_value if rule.face_value else Fraction(0)
        costs = f"taking {answer.published} as it is costs {short_above(rule.face_value)}"
        facts.append(
            Fact("Saved", f"{floor(1000 * share) / 10:.1f} %" if share >= _WORTH_SAYING else "less than 0.1 %", costs)
        )
    notes = []
    if not rule.universal or interpretation.shared:
        notes.append("A mechanism made for this loss might serve better: universality is not guaranteed here.")
    if interpretation.named:
        notes.append("Groups were named by these counts: losses are of groups chosen beforehand.")
    tables: tuple[ResultTable, ...] = ()
    if len(answer.chances) > 1:
        notes.append("The best reading tosses a coin, anew each time: it is one of these readings at random.")
        drawn = [(value, p) for value, p in answer.chances if p]
        tables = (_chances("Readings, and how likely each is drawn", ("reading", "probability"), drawn),)
    return Result(
        headline=f"{interpretation.describe()}.",
        facts=tuple(facts),
        tables=tables,
        notes=tuple(notes),
    )


def _reading(chances: tuple[tuple[int, Fraction], ...]) -> str:
    if len(chances) == 1:
        return str(chances[0][0])
    likely = [(value, p) for value, p in chances if p >= _WORTH_SAYING] or list(chances[:1])
    return " or ".join(f"{value} (with probability {entry(p, 4)})" for value, p in likely)


def _of_name(interpretation: ChoiceInterpretation) -> Result:
    from ..interpretation import BASES

    answer = interpretation.answers[0]
    judged = answer.judgement
    least = _rounded_down(judged.probability.lower)
    right = "an answer of this release is right with this probability"
    tables: tuple[ResultTable, ...] = ()
    if judged.posterior is not None:
        tables = (_chances("What may be true", ("answer", "probability"), tuple(judged.posterior.items())),)
    note = "" if judged.note is None else f" ({judged.note})"
    return Result(
        headline=f"{interpretation.describe()}.",
        facts=(
            Fact("Probability", least, f"{BASES[judged.basis]}{note}"),
            Fact("Most likely right", str(answer.reading)),
            Fact("At worst", _rounded_down(judged.right_at_worst), right),
        ),
        tables=tables,
    )


def _chances(caption: str, columns: tuple[str, ...], chances: Any) -> ResultTable:
    shown = [(value, p.lower if isinstance(p, Enclosure) else p) for value, p in chances[:_MOST_ROWS]]
    rows = tuple((str(value), entry(p, 6)) for value, p in shown)
    return ResultTable(caption + (f" (the first {len(rows)})" if len(chances) > len(rows) else ""), columns, rows)


def _rounded_down(probability: Fraction) -> str:
    return f"{probability * 10_000 // 1 / 10_000:.4f}"


def _command(value: str, loss: Any, known: Mapping[str, str], prior: Any) -> str:
    told = {"value": value, **known}
    if loss != "absolute":
        told["loss"] = "loss.json" if isinstance(loss, list) else loss
    if prior is not None:
        told["prior"] = "prior.json"
    # A value may begin with a minus sign, which would look like an option by itself.
    options = [f"--{name.replace('_', '-')}={text}" for name, text in told.items()]
    return command_line(["irisdp", "interpret", "release.json", *options, "--out", "reading.json"])


def _python(value: str, loss: Any, known: Mapping[str, str], prior: Any) -> str:
    arguments = ['"release.json"', repr(value)]
    if loss != "absolute":
        arguments.append(f"loss={loss!r}")
    arguments += [f"{name}={text!r}" for name, text in known.items()]
    first, named = "", ""
    if prior is not None:
        first, named = as_python("prior", prior, "prior.json")
        arguments.append("prior=prior")
    called = f"reading = irisdp.interpret({', '.join(arguments)})"
    lines = (f"{first}import irisdp\n", named, called, "print(reading.to_documents())")
    return "\n".join(line for line in lines if line)
