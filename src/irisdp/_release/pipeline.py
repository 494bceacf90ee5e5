"""The one way from questions to answers: check, read, draw and charge, show and write down; in that order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from logging import WARNING
from pathlib import Path
from typing import Any, Unpack

from .._events import Stopwatch, events_of, report_event
from .._exact import checked, file_path
from .._files import Output
from .._ledger import (
    ChargedAnswer,
    ChargeRequest,
    Ledger,
    LedgerChoice,
    LedgerEntry,
    Release,
    TableFingerprint,
    TableVersion,
    bind,
    check_known,
    check_ledger,
    check_most,
    choose_ledger,
    data_location,
    fingerprint_of_table,
    hash_of,
    match_fingerprint,
    named_limit,
    reason_anew,
    remember,
    remember_head,
    secret_key_file,
    stamp_of_part,
    unit_key,
    unlimited_in,
)
from .._measurements import (
    ChainLink,
    HasAuxiliaryOutput,
    MeasurementInput,
    SelectsPartitions,
    edges_beside,
    longer,
    padded_size,
)
from .._queries import KEY_BYTES, PrivacyUnit, UnreleasedKeys, entries_of, entry_of, enumerate_keys, is_in_parts
from ..accounting import Charge, Cost
from ..errors import BadInput
from ..privacy import Guarantee, Privacy
from .answers import Answers, plain_keys
from .audiences import Audience
from .data_package import read_licence
from .dated_names import check_new, dated, kept_if_dated
from .labels import Labels, check_used, read_labels
from .options import PlanOptions, PublishOptions, options_of, with_options
from .output_files import (
    Files,
    Note,
    Replaced,
    audience_targets,
    pages,
    plan_files,
    plan_reports,
    report_targets,
    write_files,
)
from .partition_options import check_declared
from .planning import plan
from .plans import Plan
from .progress import errors_after_charge, part_of, report_notice, report_step, say_anew
from .project import currency_with, give_limit, limit_to_set
from .publication import Publication
from .release_chain import answer_details, earlier_draws, extended, links_of
from .release_file import ReleaseFile, provenance
from .shared_records import PlanReading, SharedRecords

# All that `publish` checks before it reads a record: the question, the ledger, and where answers go.


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedQuestion:
    """A question, or the questions of a batch, after all checks that read no record and spend nothing.

    Attributes
    ----------
    plans : tuple of Plan
        Of the question, or of all questions of a batch.
    request : ChargeRequest
        What the ledger is asked to charge, before a version of the data is known and anything is drawn.
    choice : LedgerChoice
        The ledger, and what the table is bound to.
    files, reports
        Where its answers and pages go.
    labels : Labels
        What readers of the pages see instead of names.
    licence, secret
        As for `publish`.
    stamp
        Of the file of the data, before anything of it was looked at.
    max_charge : Charge or None
        The most that may be charged.
    """

    plans: tuple[Plan, ...]
    request: ChargeRequest
    choice: LedgerChoice
    files: Files
    reports: tuple[Output, ...]
    labels: Labels
    licence: str | None
    secret: Any
    stamp: TableFingerprint
    max_charge: Charge | None = None

    @property
    def planned(self) -> Plan:
        """The question, or the first one of a batch: what it says of the table holds for all."""
        return self.plans[0]

    @property
    def book(self) -> Ledger:
        """The ledger that was named, or the one that the table is bound to, or the one beside the data."""
        return self.choice.book

    @property
    def default(self) -> bool:
        """Whether it was not named: then another of the folder that knows the data is charged instead."""
        return self.choice.default

    @property
    def outputs(self) -> tuple[Output, ...]:
        """All files that will be written."""
        return (*(one for three in self.files for one in three), *self.reports)


def check_question(
    planned: Plan,
    before: TableFingerprint,
    options: Mapping[str, Any],
    may_replace: Replaced | None = None,
    known: set[Hashable] | None = None,
) -> CheckedQuestion:
    """Check all that `publish` checks of a planned question before it reads a record.

    Parameters
    ----------
    planned : Plan
    before : stamp
        Of the file of the data, from before the question was planned.
    options : mapping
        As for `irisdp.publish`.
    may_replace : bool or callable, optional
        Which files that are there may be replaced, instead of what `force` says.
    known : set, optional
        The ledgers that were looked at for other questions of a plan: each is once.
    """
    out, report = options.get("out"), options.get("report")
    licence = read_licence(options.get("licence"), out)
    labels = labels_for(planned, options)
    before = stamp_of_part(before, planned.table.location)
    secret, table = options.get("secret"), options.get("table")
    promise = planned.asked.promise.named(table)
    choice = ledger_of(planned, options)
    check_declared(planned.table, None if choice.default else choice.book, table)
    book = choice.book
    force = options.get("force", False) if may_replace is None else may_replace
    files, reports = planned_files(planned, ledger=book, secret=secret, out=out, report=report, force=force)
    check_ledger(book, planned.table.location, planned.declared_in, default=choice.default)
    choice.check(book)
    looked_at = (book, str(secret), planned.table.path, choice.default)
    if known is None or looked_at not in known:
        check_known(planned.table, book, secret, default=choice.default)
    if known is not None:
        known.add(looked_at)
    names = (audience.name for audience in planned.audiences)
    outputs = {name: [str(file.path.absolute())] for name, (file, *_) in zip(names, files, strict=False)}
    return CheckedQuestion(
        plans=(planned,),
        request=replace(planned.request(promise), outputs=outputs),
        choice=choice,
        files=files,
        reports=reports,
        labels=labels,
        licence=licence,
        secret=secret,
        stamp=before,
        max_charge=read_max_charge(options.get("max_charge")),
    )


def ledger_of(planned: Plan, options: Mapping[str, Any]) -> LedgerChoice:
    """Choose the ledger of a question, by its options, its project and what its table is bound to."""
    project = planned.project
    return choose_ledger(
        planned.table,
        options.get("ledger"),
        options.get("secret"),
        declared=None if project is None else project.declared_ledger,
        another=options.get("another_ledger", False),
    )


def read_max_charge(value: Any) -> Charge | None:
    """Read the most that may be charged, which is written like a limit."""
    try:
        return None if value is None else named_limit(value)
    except BadInput as error:
        raise error.said("max_charge", error.rule, error.remedy.replace("limit=", "max_charge=")) from None


def labels_for(planned: Plan, options: Mapping[str, Any]) -> Labels:
    """Return the labels of a question: those among its options, and where these say nothing those of the project."""
    own = read_labels(options.get("labels"), options.get("title"))
    return own.over(None if planned.project is None else planned.project.labels)


def planned_files(
    planned: Plan, *, ledger: Ledger, secret: Any, out: Any, report: Any, force: Replaced
) -> tuple[Files, tuple[Output, ...]]:
    """Plan the files of a release, and its pages, apart from all that is read and kept for it; see `plan_files`."""
    data = planned.table.location
    read = list(planned.declared_in.items())
    targets = audience_targets(planned.audiences, dated(out, "out"))
    beside = secret_key_file(None if secret is None else file_path(secret, "secret"), planned.table.path, ledger)
    own = kept_if_dated(out, force)
    files = plan_files(targets, data=data, read=read, ledger=ledger.path, keeper=beside, force=own)
    pages, own = report_targets(planned.audiences, dated(report, "report")), kept_if_dated(report, force)
    return files, plan_reports(pages, files, data=data, read=read, ledger=ledger.path, keeper=beside, force=own)


@dataclass(frozen=True, slots=True, eq=False)
class GroupStatistics:
    """What was read of the data: nodes per cell and, where groups are selected, the keys. Never shown or stored."""

    nodes: MeasurementInput
    keys: UnreleasedKeys | None

    def __repr__(self) -> str:
        """Show nothing."""
        return "PrivateCells(…)"


@checked
@with_options(PublishOptions)
@events_of("publish")
def publish(data: Any, query: str, *arguments: str | int, **options: Unpack[PublishOptions]) -> Publication:
    """Publish a private answer per group, drawn exactly and charged to a budget on disk.

    Asking the same question of the same data again returns the same answer and costs nothing. `irisdp.plan` takes the
    same question, and says what it would cost and how far off answers will be, without reading a record.

    Parameters
    ----------
    data : path or frame
        A .csv, .tsv, .jsonl, .parquet, .xlsx, .dta or .sav file, a folder, or the address of a table in a database;
        or a frame of pandas, Polars, PyArrow, DuckDB or Spark.
    query : {"count", "count-distinct", "histogram", "sum", "mean", "variance", "deviation", "bounds", "median",
        "quantile", "quantiles", "plurality", "top", "ranking", "majority", "at-least", "at-most", "band", "sizes",
        "column", "apply"}
        The query.

        - Counts: ``count`` counts records, ``count-distinct`` the different values of a column, ``histogram`` the
          records of each bin or category.
        - Yes or no: ``at-least`` and ``at-most`` compare the count with K; ``majority`` asks whether more records say
          yes than no.
        - Choices: ``band`` names the band of the count, ``plurality`` the largest category, ``top`` the K largest,
          ``ranking`` the order of all; ``median`` and ``quantile`` name a bin, ``quantiles`` one for each.
        - Totals: ``sum`` and ``mean`` of a column; its population ``variance``, and its ``deviation``, the root of it;
          ``bounds`` gives powers of two for `lower` and `upper`.
        - Others: ``sizes`` gives the sizes of the categories, ``column`` the category of each record; ``apply`` draws
          from a mechanism file.
    *arguments
        What follows the query: K for at-least and at-most, thresholds (``"10,100"``) for band; then a condition in SQL
        over the columns, such as ``"age > 64 AND town = 'Ely'"``. All records count where it is left out; majority
        needs one. Of count-distinct the name of a column, and a condition if there is one. For histogram, sum, mean,
        variance, deviation, bounds, plurality, ranking, median and column: the name of a column. For quantile: a number
        such as 0.9 and the column; for quantiles several, ``"0.25,0.5,0.75"``. For top: K and the column. For sizes:
        the column, alone or after the number of largest categories. Of apply the path of a mechanism file, which keeps
        a privacy of its own instead of `epsilon`, and a condition or a column.

    Returns
    -------
    Publication
        (ε,δ)-differentially private at `cost` in the table, under the relation asked for: proofs/grouped-releases.md,
        and tests/oracles/test_end_to_end_privacy.py for every tiny table.

    Raises
    ------
    BadInput
        Before anything is spent.
    NotShown
        If `out` or `report` cannot be written after all: the answer is in the ledger and asking again costs nothing.
    ScopeRefused
        If the ledger is pinned to another table, relation, unit or set of public columns; nothing was read.
    BudgetRefused
        If the ledger's limit does not allow the cost; nothing was drawn or spent.

    Examples
    --------
    >>> import pathlib, tempfile, pyarrow
    >>> survey = pyarrow.table({"age": [70, 30, 81], "town": ["Ely", "Ely", "York"]})
    >>> ledger = pathlib.Path(tempfile.mkdtemp(), "survey.ledger")
    >>> found = publish(survey, "count", "age > 64", by="town", groups=["Ely", "York"], epsilon=1, ledger=ledger)
    >>> found.cost
    Cost(epsilon=Fraction(1, 1), delta=Fraction(0, 1))
    >>> found.answers.keys
    [('Ely',), ('York',)]
    """
    return publish_checked(check_asked(data, query, arguments, options))


def check_asked(data: Any, query: str, arguments: Sequence[str | int], options: Mapping[str, Any]) -> CheckedQuestion:
    """Check a question as `publish` is asked it, in every way that reads no record."""
    check_used(options)
    before = fingerprint_of_table(data_location(data))
    planned = plan(data, query, *arguments, **options_of(PlanOptions, options))
    return check_question(planned, before, options)


def publish_checked(
    ready: CheckedQuestion, reading: PlanReading | None = None, noted: Note | None = None
) -> Publication:
    """Read, draw, charge, write down and show what was prepared.

    Parameters
    ----------
    ready : CheckedQuestion
        A single question.
    reading, noted
        As for `execute`; `noted` is called with each file before it is created.
    """
    planned, table = ready.planned, ready.request.promise.table
    done = execute(ready, lambda cells, earlier, cost: draw_answers(planned, cells[0], earlier, table, cost), reading)
    with errors_after_charge():
        nodes = None if done.cells is None else done.cells[0].nodes
        publication = _handed_over(ready, nodes, done.charged, done.book, noted)
        return replace(publication, anew=done.anew, unlimited=done.unlimited)


_ID = 12
"""Digits of a question's hash that its events name."""

Draw = Callable[[Sequence["GroupStatistics"], Sequence[Release], Charge], list[LedgerEntry]]
"""Draws the answers of all questions: given what was read for each, earlier releases of the data, and the charge."""


@dataclass(frozen=True, slots=True, eq=False)
class Executed:
    """What was read, drawn and charged, and is not shown yet.

    Attributes
    ----------
    cells : list of GroupStatistics or None
        For each question, what was read; never shown or stored. None where the ledger had the answers and nothing of
        the data but its digest was read.
    charged : ChargedAnswer
    book : Ledger
        The ledger that was charged.
    anew : str or None
        Why it was charged although it was answered before, about another version of the data or by another secret.
    unlimited : tuple of str
        Audiences that have no limit, where others of the ledger have one.
    """

    cells: list[GroupStatistics] | None
    charged: ChargedAnswer
    book: Ledger
    anew: str | None
    unlimited: tuple[str, ...]


def execute(ready: CheckedQuestion, draw: Draw, plan_reading: PlanReading | None = None) -> Executed:
    """Read, draw and charge what was checked, a question or a batch; the ledger takes all of it or nothing.

    Parameters
    ----------
    ready : CheckedQuestion
    draw : callable
    plan_reading : PlanReading, optional
        Of the same data, begun for several questions. [default: each question begins its own]
    """
    request, book, table, project = ready.request, ready.book, ready.planned.table, ready.planned.project
    book.check(request.promise)
    asked, clock = hash_of(request.text)[:_ID], Stopwatch()
    currency = currency_with(book, limit_to_set(project, book))
    known = book.answered(request.text, *request.aliases)
    if not known:  # what may be given again need have no price
        request.price((), currency)  # refused before anything is read
    try:
        report_step(0)
        report_event("release", "reading", question=asked, ledger=str(book.place))
        reading = TableVersion.begin(table, ready.stamp) if plan_reading is None else plan_reading.version
        book, version, kept = match_fingerprint(
            table, reading.digest, book, ready.secret, named=request.promise.table, default=ready.default
        )
        ready.choice.check(book)
        check_known(table, book, ready.secret, default=False)
        book.check(request.promise, version)
        limit_to_set(project, book)  # refused before records are read
        quoted = book.quote(replace(request, fingerprint=version), currency)
        report_event("release", "looked up", question=asked, repeated=quoted.repeated, seconds=clock.seconds)
        check_most(ready.max_charge, quoted.cost)
        if not quoted.repeated:
            check_new(ready.outputs)
        anew = None if known is None or quoted.repeated else reason_anew(table, ready.book, ready.secret, kept, known)
        if anew is not None:
            report_event("release", "anew", level=WARNING, question=asked, reason=anew, charge=quoted.cost)
        for notice in (ready.choice.describe(book), anew and say_anew(anew, quoted.cost)):
            if notice is not None:
                report_notice(notice)
        cells = None
        if not (quoted.repeated and _shows_no_facts(ready)):
            with (
                nullcontext(plan_reading.shared) if plan_reading is not None else SharedRecords([*ready.plans]) as held
            ):
                cells = _read_all(ready, unit_key(kept), held)
        if cells is not None or reading.stamp is not None:
            reading.check(table)
    finally:
        table.rest()
    give_limit(project, book)
    unlimited = unlimited_in(book, (audience.name for planned in ready.plans for audience in planned.audiences))
    report_step(2)
    report_event("release", "charging", question=asked, ledger=str(book.place), seconds=clock.seconds)
    charged = book.charge(
        replace(
            request,
            fingerprint=version,
            most=ready.max_charge,
            draw=lambda earlier, cost: draw(_were_read(cells), earlier, cost),
        )
    )
    facts: dict[str, Any] = {
        "question": asked,
        "ledger": str(book.place),
        "ids": list(charged.ids),
        "repeated": charged.repeated,
    }
    if request.promise.part is not None:
        facts |= {"partition": request.promise.part, "parallel": request.promise.is_parallel}
    report_event("release", "charged", **facts, charge=charged.charged, seconds=clock.seconds)
    remember(table, ready.book, ready.secret, reading.stamp, version, kept)
    remember_head(table, ready.book, ready.secret, book)
    if ready.choice.binds(book):
        bind(table, ready.secret, ready.book, book)
    return Executed(cells, charged, book, None if charged.repeated else anew, unlimited)


def _shows_no_facts(ready: CheckedQuestion) -> bool:
    """Tell whether answers are shown alike whatever the data is: the exact size of no group is taken as public."""
    return all(planned.public is None for planned in ready.plans)


def _read_all(ready: CheckedQuestion, key: bytes, shared: SharedRecords) -> list[GroupStatistics]:
    """Read the table for all questions."""
    cells = []
    for number, planned in enumerate(ready.plans, start=1):
        with part_of(f"question {number} of {len(ready.plans)}") if len(ready.plans) > 1 else nullcontext():
            report_step(1)
        cells.append(read_statistics(shared.over(planned, key), key))
    return cells


def _were_read(cells: list[GroupStatistics] | None) -> list[GroupStatistics]:
    """Return what answers are drawn from; refuse to draw where it was not read, since an answer was in the ledger."""
    if cells is None:
        rule = "had the answer when Iris looked it up, and lacks it now"
        raise BadInput("ledger", rule, "publish again when nobody replaces the ledger; nothing was spent")
    return cells


def _handed_over(
    ready: CheckedQuestion, nodes: MeasurementInput | None, settled: ChargedAnswer, book: Ledger, noted: Note | None
) -> Publication:
    """Show and write down what is charged by now."""
    planned = ready.planned
    report_step(3)
    drawn = [Answers.from_bytes(entry.answers) for entry in settled.entries]
    answers_of, sidecars = {}, {}
    for index, (audience, own) in enumerate(zip(planned.audiences, drawn, strict=True)):
        made = provenance(settled, index)
        answers_of[audience.name], sidecars[audience.name] = shown_of(
            planned, audience, nodes, own, settled.ids[index], made
        )
    paths: list[Path | None] = [file.path for file, *_ in ready.files] or [None] * len(answers_of)
    parts = [[(sidecars[name], answers_of[name], path)] for name, path in zip(answers_of, paths, strict=True)]
    written = write_files(
        ready.files, answers_of, sidecars, ready.licence, pages(ready.reports, parts, ready.labels), noted
    )
    planned.table.close()
    return Publication(
        plan=planned,
        answers_of=answers_of,
        repeated=settled.repeated,
        cost=settled.charged,
        ledger=book.place,
        ids=settled.ids,
        out=written,
        sidecars=sidecars,
    )


def shown_of(
    planned: Plan,
    audience: Audience,
    nodes: MeasurementInput | None,
    drawn: Answers,
    number: int,
    made: Any,
    **batch: Any,
) -> tuple[Answers, dict[str, Any]]:
    """Return the answers of one audience as they are shown, and the release file that belongs beside them.

    Parameters
    ----------
    nodes : MeasurementInput or None
        What was read; None where nothing was, since answers are shown alike whatever it is.
    """
    nodes = _nodes_of_nobody(planned, len(drawn.values)) if nodes is None else nodes
    answers = decode_answers(planned, audience, nodes, drawn)
    body, ends = planned.body(audience), release_document(planned, audience, nodes, drawn)
    file = ReleaseFile.of(body, ends, made, answers.columns, answers.assured, number, **batch)
    return answers, file.document()


def read_statistics(planned: Plan, key: bytes) -> GroupStatistics:
    """Read the table: each cell's node and, for a selection, the keys there are; `key` chooses persons' records."""
    unit = None
    if planned.unit is not None and planned.table.persons is None:  # else a row is a person
        unit = PrivacyUnit(planned.unit, key, planned.per_unit, planned.contribution)
    keys = None if planned.naming is None else enumerate_keys(planned.table, planned.by, unit=unit)
    groups = planned.groups if keys is None else keys.cells()
    statistics = planned.query.statistics(planned.table, condition=planned.condition, groups=groups, unit=unit)
    return GroupStatistics(planned.query.nodes(statistics, planned.asked.cell_relation), keys)


def _nodes_of_nobody(planned: Plan, answers: int) -> MeasurementInput:
    """Return the nodes of a table without records: all that is public of nodes is the same for them."""
    cells = read_statistics(replace(planned, table=planned.table.without_records()), bytes(KEY_BYTES))
    return cells.nodes if cells.keys is None else cells.nodes.padded(answers)


def draw_answers(
    planned: Plan, cells: GroupStatistics, earlier: Sequence[Release], table: str | None, cost: Charge
) -> list[LedgerEntry]:
    """Draw all cells for every audience; where groups are selected, draw once which may be named."""
    labels: Sequence[tuple[Any, ...]] = planned.groups.labels if planned.groups else [()]
    nodes, keys, chosen = cells.nodes, cells.keys, None
    if keys is not None:
        size = padded_size(len(keys.counts))
        nodes = nodes.padded(size)
        if planned.selector is not None:
            chosen = planned.selector.draw(longer(keys.counts, size))
    links = links_of(planned.chain, earlier)
    known = {
        draw: Answers.from_bytes(release.answers)
        for draw, release in earlier_draws(planned.draws, earlier, together=planned.selector is not None).items()
    }
    entries: list[LedgerEntry] = []
    for audience, draw, share in zip(planned.audiences, planned.draws, planned.shares(earlier, cost), strict=True):
        link = audience.mechanism.chained if planned.is_chain else None
        if draw is None or draw not in known:
            drawn = audience.mechanism.draw(nodes, links)
            links = links if link is None else extended(links, ChainLink(link, drawn))
            if isinstance(audience.mechanism, SelectsPartitions):
                chosen = audience.mechanism.named(drawn)
            if keys is not None and chosen is not None:
                chosen = chosen[: len(keys.counts)]  # not the padding
                labels, drawn = keys.select(chosen).labels, drawn[: len(chosen)][chosen]
            values: list[Any] = drawn.tolist()
            answers = Answers(planned.by, labels, values)
            if draw is not None:
                known[draw] = answers
        else:
            answers = known[draw]
        converted = _converted(audience.mechanism.privacy, cost)
        kept = answer_details(table, planned.chain, link, answers, earlier, converted, draw)
        entries.append(LedgerEntry(audience=audience.name, cost=share, answers=answers.to_bytes(), details=kept))
    return entries


def _converted(guarantee: Guarantee, cost: Charge) -> str | None:
    """Say what is kept, where it is not charged as it is."""
    as_it_is = isinstance(cost, Cost) and isinstance(guarantee, Privacy) and guarantee.single
    return None if as_it_is else str(guarantee)


def decode_answers(planned: Plan, audience: Audience, nodes: MeasurementInput, drawn: Answers) -> Answers:
    """Turn what the ledger keeps into what is shown: in the order asked, clamped to public ends, lists by entries.

    Each answer comes with its accuracy. That follows from what is shown and from public facts, and is not kept.
    """
    values = audience.mechanism.show(drawn.values, nodes)
    assured = audience.mechanism.assurance(drawn.values, values, nodes, planned.confidence)
    if assured.columns:
        assured = replace(assured, promise="; ".join(filter(None, (assured.promise, *planned.leaves_out()))))
    if is_in_parts(planned.query) and (bins := planned.query.bins) is not None:
        beside = edges_beside([key[-1] for key in drawn.keys], bins.names, bins.edges)
        assured = replace(assured, columns={**beside, **assured.columns})
    shown = Answers(drawn.by, drawn.keys, values, assured)
    if planned.groups is not None:
        order = planned.groups.shown.tolist()
        labels = planned.groups.labels
        shown = shown.in_order(order, plain_keys(list(map(labels.__getitem__, order))))
    entry = entry_of(planned.query)
    return shown if entry is None else shown.by_entry(entry, entries_of(planned.query))


def release_document(planned: Plan, audience: Audience, nodes: MeasurementInput, drawn: Answers) -> dict[str, Any]:
    """Return the auxiliary output of the release file, in the order of the answers: intervals and further draws."""
    mechanism = audience.mechanism
    told = mechanism.ends(nodes) | (mechanism.beside(drawn.values) if isinstance(mechanism, HasAuxiliaryOutput) else {})
    if planned.groups is None:
        return told
    order = planned.groups.shown.tolist()
    return {name: [value[row] for row in order] if isinstance(value, list) else value for name, value in told.items()}
