"""A published count as readers receive it: its mechanism, from the release file, and its file of answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._exact import integer, rational, read_json
from .._frames import asked, computed, opened
from .._ledger import Release
from .._measurements import ASSURED, MeasurementKind, ReadAs, share_of
from .._release import PACKAGE_FORMAT, SIDECAR_FORMAT, Answers, Publication, ReleaseFile, rows_of
from ..errors import BadInput
from ..graphs import NeighbouringRelation
from ..mechanisms import FORMAT as MECHANISM_FORMAT
from ..mechanisms import FactoredMechanism, Mechanism, privacy_from_document, read_document
from ..privacy import Gaussian, Guarantee, Privacy
from ._published_counts import LARGEST_COUNT, Ends, NoisyCount, OtherNoisyCount, cells_in, noise_of

_BESIDE, _PACKAGE = ".release.json", ".datapackage.json"


def read_release(
    release: Any,
) -> NoisyCount | OtherNoisyCount | ReleaseFile | Mechanism | FactoredMechanism:
    """Read what is public about a release.

    Parameters
    ----------
    release : path, Publication, Release, dict, NoisyCount, Mechanism or FactoredMechanism
        The release: `FILE.release.json` as `publish` writes it, or its file of answers; a publication (of several
        audiences, the most accurate); a line of a ledger; or a mechanism file whose inputs are the counts 0..n.

    Returns
    -------
    NoisyCount, OtherNoisyCount, ReleaseFile, Mechanism or FactoredMechanism
        The release file of answers that are one of a few names, such as yes or no, or the largest category.

    Raises
    ------
    BadInput
        For anything else, and for files that contradict themselves.
    """
    if isinstance(release, NoisyCount | OtherNoisyCount | Mechanism | FactoredMechanism):
        return release
    document = stated(release)
    if isinstance(document, ReleaseFile):
        return _read_file(document)
    if _is_frame(document):
        rule = "is a frame, which does not say how its answers were made"
        raise BadInput("release", rule, "give the publication or its .release.json first: interpret(release, frame)")
    if isinstance(document, Mapping) and "kind" in document and "format" not in document:
        read_document(dict(document))  # says that it is a spec
    if not isinstance(document, Mapping):
        raise BadInput("release", "must be a JSON object", "give the .release.json that lies beside the answers")
    if document.get("format") == MECHANISM_FORMAT:
        return read_document(dict(document)).mechanism()
    raise _neither()


def _neither() -> BadInput:
    return BadInput("release", "is no release and no mechanism file", "give the .release.json beside the answers")


def _read_file(file: ReleaseFile) -> NoisyCount | OtherNoisyCount | ReleaseFile:
    """Read what a release file says of how its answers were made."""
    mechanism = file.stored.get("mechanism")
    if not isinstance(mechanism, Mapping):
        raise _neither()
    kind = file.measurement
    if kind is not None and kind.read_as in (ReadAs.NOISY_COUNTS, ReadAs.NOISY_CELLS):
        cells = cells_in(mechanism) if kind.read_as is ReadAs.NOISY_CELLS else None
        return OtherNoisyCount(
            guarantee=_guarantee(file, kind),
            ends=_ends(mechanism),
            cells=cells,
            named=kind is MeasurementKind.NAMED_COUNTS,
            shared=mechanism.get("records") is not None,
            split=mechanism.get("split") is True,
            selected=file.selected,
        )
    if file.read_as is ReadAs.COUNTS_OF_SEVERAL:
        rule = "publishes counts of several records of each person, which interpret does not read"
        raise BadInput("release", rule, "read them between the ends beside them, answer_low and answer_high")
    if file.read_as is ReadAs.MECHANISM_FILE:
        rule = "was drawn from a mechanism file, which says itself how it is read"
        raise BadInput("release", rule, "give the mechanism file instead, and the answer with value=")
    if file.read_as is not ReadAs.GEOMETRIC_COUNTS:  # names, if `irisdp.interpretation._names` knows the kind
        question, relation = file.stored.get("query"), file.stored.get("relation")
        if mechanism.get("kind") is None or question is None or relation not in list(NeighbouringRelation):
            raise BadInput("release", "does not say how its answers were made", "give the file that publish wrote")
        return file.require("cell_relation", "privacy")
    privacy = privacy_from_document(file.stored.get("privacy"))
    return NoisyCount(privacy=privacy, ends=_ends(mechanism), selected=file.selected)


def stated(release: Any) -> Any:
    """Return the release file of a release, members held to their kinds; of anything else, what was read."""
    if isinstance(release, Publication):
        return ReleaseFile(next(iter(release.sidecars.values())))
    if isinstance(release, Release):
        return ReleaseFile({"format": SIDECAR_FORMAT, **_facts_of_line(release)})
    document = read_json(sidecar_beside(release), "release") if isinstance(release, str | os.PathLike) else release
    if not isinstance(document, Mapping) or document.get("format") == MECHANISM_FORMAT:  # which has a reader of its own
        return document
    file = ReleaseFile(document).check_kinds()
    return file if document.get("format") == SIDECAR_FORMAT else document


def left_out_of(release: Any) -> tuple[str, ...]:
    """Return what a release says of records and values that do not count, which no interval covers."""
    file = stated(release)
    return file.left_out if isinstance(file, ReleaseFile) else ()


def _guarantee(file: ReleaseFile, kind: MeasurementKind) -> Guarantee:
    """Read what noise was made for; each kind of noise has its own kind of guarantee."""
    guarantee, mechanism = file.privacy, file.mechanism
    agree = isinstance(guarantee, Gaussian if kind is MeasurementKind.GAUSSIAN_NOISE else Privacy)
    if agree and isinstance(guarantee, Gaussian):
        mean = rational(mechanism.get("mu"), "release")
        moved = rational(mechanism.get("sensitivity", 1), "release")  # not said where one record moves one count
        agree = mean > 0 and mean * moved == guarantee.mu
        guarantee = Gaussian(mean) if agree else guarantee  # noise for several records of a person is read as it is
    elif agree and mechanism.get("records") is not None:  # noise is made for each one's share
        guarantee = share_of(guarantee, _records(mechanism))
    if agree and kind.read_as is ReadAs.NOISY_CELLS:
        agree = mechanism.get("cells_per_unit") == noise_of(guarantee).atoms_per_unit
    if not agree:
        raise BadInput("release", "has noise of another guarantee than it states", "give the file that publish wrote")
    return guarantee


def _facts_of_line(release: Release) -> dict[str, Any]:
    """Return what a ledger says of how the answers of one of its lines were made.

    Raises
    ------
    BadInput
        For answers that were shown clamped to ends: the ledger keeps neither.
    """
    asked = release.asked()
    if "batch" in asked:
        raise BadInput(
            "release",
            "is a batch of several questions",
            "publish the plan again, which is free, and give one of its publications, or a .release.json",
        )
    told: list[dict[str, Any]] = asked.get("audiences", [])
    facts = next((each for each in told if each.get("audience") == release.audience), {})
    relation = facts.get("relation")
    grouped, membership = bool(facts.get("by")), bool(facts.get("public_membership"))
    # Of names a yes or no was shown as it was drawn; where categories are named, what names them says so.
    if facts.get("mechanism", {}).get("kind") == MeasurementKind.STEPPED:
        return facts
    if relation == str(NeighbouringRelation.EXCHANGE) and (membership or not grouped):
        raise BadInput(
            "release",
            "was shown clamped to ends that its ledger does not keep",
            "give the publication, or the .release.json beside its answers",
        )
    mechanism = facts.get("mechanism", {})
    if ReleaseFile(facts).read_as is ReadAs.NOISY_CELLS:  # a ledger keeps answers as they were drawn
        facts = {**facts, "mechanism": {**mechanism, "cells": Answers.from_bytes(release.answers).values}}
    return facts


def sidecar_beside(release: str | os.PathLike[str]) -> Path:
    """Return the release file of a file of answers or of its data package; return any other path unchanged.

    Raises
    ------
    BadInput
        If answers have no release file, so that their mechanism is unknown. For a data package that names none.
    """
    path = Path(os.fsdecode(release))
    if path.name.endswith(_PACKAGE):
        return _sidecar_in_package(path)
    beside = path.with_name(f"{path.name}{_BESIDE}") if path.name else path
    if path.suffix and beside.is_file():
        return beside
    if path.name and not path.exists():
        raise BadInput("release", f"finds no file at {str(path)!r}", "give the path of an existing file")
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        rule = f"{path.name} holds answers, and not how they were made"
        raise BadInput("release", rule, f"put {beside.name} beside it, or name where it lies")
    return path


def _sidecar_in_package(path: Path) -> Path:
    document = read_json(path, "release")
    own = document.get("irisdp") if isinstance(document, Mapping) else None
    name = own.get("release") if isinstance(own, Mapping) and own.get("format") == PACKAGE_FORMAT else None
    if not isinstance(name, str) or not name or "\0" in name or Path(name).name != name:
        raise BadInput(
            "release", f"{path.name} names no release beside it", "give the .release.json beside the answers"
        )
    return path.with_name(name)


def answers_beside(release: str | os.PathLike[str]) -> Path:
    """Return the file of answers of a release file; return any other path unchanged."""
    path = Path(os.fsdecode(release))
    return path.with_name(path.name.removesuffix(_BESIDE)) if path.name not in ("", _BESIDE) else path


def whole_answer(value: Any) -> int:
    """Read a published count."""
    return integer(value, "answer", at_least=-LARGEST_COUNT, at_most=LARGEST_COUNT)


def released_table(release: Any, read: Callable[[Any], Any] = whole_answer, given: Answers | None = None) -> Answers:
    """Read the answers of a release, given, in memory or from the file: the group columns, then `answer`.

    `read` reads one answer of a file, or one that is given; those of a publication are what they are.
    """
    if given is not None:
        return Answers(by=given.by, keys=given.keys, values=[read(value) for value in given.values])
    if isinstance(release, Publication | Release):
        return release.answers if isinstance(release, Publication) else Answers.from_bytes(release.answers)
    path = sidecar_beside(release) if isinstance(release, str | os.PathLike) else Path()
    if not path.name.endswith(_BESIDE):
        raise BadInput("value", f"is needed where the file's name does not end in {_BESIDE}", "give the value")
    answers = answers_beside(path)
    columns, rows = rows_of(answers)
    place = len(columns) - 1
    while place > 0 and columns[place] in ASSURED:
        place -= 1
    if not columns or columns[place] != "answer":
        raise BadInput("release", f"{answers.name} has no column `answer`", "give a file that publish wrote")
    return Answers(
        by=tuple(columns[:place]),
        keys=[tuple(row[:place]) for row in rows],
        values=[read(row[place]) for row in rows],
    )


def frame_of_answers(value: Any, read: Callable[[Any], Any] = whole_answer) -> Answers | None:
    """Read a frame of published answers: a column `answer`, and the group columns; None for what is no frame.

    Columns after `answer` hold the accuracy, which follows from the release file, and are skipped.
    """
    if not _is_frame(value):
        return None
    remedy = "give the frame of a publication"
    frame = computed(opened(value, "value", remedy))
    if "answer" not in frame.columns:
        raise BadInput("value", "is a frame without a column `answer`", remedy)
    by = tuple(name for name in frame.columns if name not in ("answer", *ASSURED))
    columns = asked(lambda: [frame[name].to_list() for name in (*by, "answer")], "value", "cannot be read", remedy)
    *keys, values = columns
    return Answers(
        by=by,
        keys=list(zip(*keys, strict=True)) if keys else [()] * len(values),
        values=[read(value) for value in values],
    )


def _is_frame(value: Any) -> bool:
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(value))


def _records(mechanism: Mapping[str, Any]) -> int:
    return integer(mechanism["records"], "records", at_least=1, at_most=LARGEST_COUNT)


def _ends(mechanism: Mapping[str, Any]) -> tuple[Ends, ...]:
    lower, upper = mechanism.get("lower"), mechanism.get("upper")
    if upper is None:
        return (None,)
    least, most = (end if isinstance(end, list | tuple) else [end] for end in (0 if lower is None else lower, upper))
    least = least * len(most) if len(least) == 1 else least
    if len(least) != len(most):
        raise BadInput("upper", "must be as many ends as lower", "give the .release.json that publish wrote")
    ends = [(_end(a, "lower"), _end(b, "upper")) for a, b in zip(least, most, strict=True)]
    if not ends or any(a > b for a, b in ends):
        raise BadInput("upper", "must not be below lower", "give the .release.json that publish wrote")
    return tuple(ends)


def _end(value: Any, field: str) -> int:
    return integer(value, field, at_least=0, at_most=LARGEST_COUNT)
