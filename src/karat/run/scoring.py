"""Scores a system against gold: makes rows of all documents, finishes them, and returns results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec.structs import replace

from karat import __version__
from karat.checks.annotations import NamedIds, id_conflicts
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.interface import Corpus, Executor, Progress
from karat.corpus.opening import absent_names
from karat.families import MEASURES
from karat.problems import Finding, Findings, KaratError, Origin, Report, Rule, UsageError, placed
from karat.protocols import Protocol
from karat.protocols.protocol import conditions
from karat.result import Result, Score, Side, UnitRows
from karat.run.diagnosis import FirstSpans, swapped
from karat.run.pairs import paired_ids
from karat.run.pipeline import Batch, Pipeline, RunSetup, across
from karat.run.plan import Options, Plan, lacking
from karat.run.remarks import counted, remarks
from karat.run.rows import DocumentRow, UnitRow
from karat.run.units import UnitTable, UnitTotals, finish

if TYPE_CHECKING:
    from karat.run.breakdown import BrokenDown

T = TypeVar("T")

FIRST_DOCUMENTS = 50
"""Documents of each side whose facts are assumed to hold for the whole corpus, until all have been read."""
NO_MENTIONS = Rule("no-mentions", "note", "Check the file if you expected mentions.")


def score(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: Options,
    *,
    findings: Findings,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[Result]:
    """Score a system against gold under each protocol; the files are read once for all of them.

    With an `executor`, documents are scored in other processes.
    """
    refuse_unknown_families(options.measures)
    if options.errors:
        for corpus in (gold, system):
            if isinstance(corpus, FileCorpus):
                corpus.keep_documents()  # repaired documents are read again
    try:
        return _score(gold, system, protocols, options, findings, progress, executor)
    finally:
        gold.close()
        system.close()


def _score(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: Options,
    findings: Findings,
    progress: Progress | None,
    executor: Executor | None,
) -> list[Result]:
    assumed_facts = gold.facts(FIRST_DOCUMENTS), system.facts(FIRST_DOCUMENTS)
    pipeline = Pipeline(gold, system, RunSetup(protocols, options, assumed_facts))
    for finding in chain(absent_names(gold, system), swapped(gold.name, system.name)):
        pipeline.report(finding)
    ids = paired_ids(gold, system, protocols, pipeline.report_pairs)
    findings.merge(pipeline.take_findings())
    pipeline, whole = _all_rows(pipeline, ids, progress, executor)
    findings.merge(whole.findings)
    if not pipeline.spans.last:  # workers have read the documents, and this process none
        pipeline.spans = FirstSpans.of(gold, system)
    check_whole_corpus(pipeline, whole)
    counted_units = [
        count_units(plan, rows, pipeline.places.report) for plan, rows in zip(pipeline.plans, whole.rows, strict=True)
    ]
    findings.merge(pipeline.take_findings())
    gold_side, system_side = sides(pipeline, whole, str(Fingerprint(whole.shares)))
    results = [
        result_of(plan, units, gold_side, system_side, whole=whole, reading=system.reading, findings=findings)
        for plan, units in zip(pipeline.plans, counted_units, strict=True)
    ]
    if options.errors:
        from karat.run.errors import Analysis

        for index, result in enumerate(results):
            analysis = Analysis(pipeline, index, whole.rows[index], result, progress=progress, executor=executor)
            result.errors = analysis.of(counted_units[index].rows)
    return results


def _all_rows(
    pipeline: Pipeline, ids: Sequence[str], progress: Progress | None, executor: Executor | None
) -> tuple[Pipeline, Batch]:
    """Make the rows of all documents, and return them with the pipeline that made them.

    The plans follow from the facts of the first documents. If the facts of all documents call for other plans, the rows
    are made again, once.
    """
    try:
        plans = pipeline.plans
    except KaratError:  # the first documents may lack, for example, the kinds of mentions that are scored
        pipeline = pipeline.assuming((pipeline.gold.facts(), pipeline.system.facts()))
        plans = pipeline.plans
    whole = _joined_batches(pipeline, ids, progress, executor)
    for facts, assumed in zip(whole.facts, pipeline.setup.facts, strict=True):
        facts.update(assumed)
    if whole.facts != pipeline.setup.facts and not all(plan.fits(*whole.facts) for plan in plans):
        pipeline = pipeline.assuming(whole.facts)
        whole = _joined_batches(pipeline, ids, progress, executor)
    return pipeline, whole


def _joined_batches(
    pipeline: Pipeline, ids: Sequence[str], progress: Progress | None, executor: Executor | None
) -> Batch:
    """Make the rows of all documents under the facts that the pipeline assumes."""
    findings = pipeline.take_findings()
    batches = pipeline.batches(ids, executor, progress)
    whole = next(batches)  # gold has a document
    findings.merge(whole.findings)
    whole.findings = findings
    for batch in batches:
        whole.extend(batch)
    return whole


def check_whole_corpus(pipeline: Pipeline, whole: Batch) -> None:
    """Report or refuse problems that only all documents together show."""
    places = pipeline.places
    with places.of(""):
        sides: tuple[tuple[Origin, dict[str, NamedIds]], ...] = (
            ("gold", whole.gold_ids),
            ("system", whole.system_ids),
        )
        for side, ids in sides:
            for finding in id_conflicts(ids):
                raise KaratError(finding._replace(origin=side))
        for finding in across(pipeline.setup.protocols, whole.observed):
            if finding.severity == "fatal":
                raise KaratError(finding)
            places.report(finding)
    labels = {
        finding: None
        for plan in pipeline.plans
        for finding in whole.labels.findings(
            plan.protocol.comparison.key, types=plan.scores_types, roles=plan.scores_roles
        )
    }
    for finding in chain(pipeline.spans.findings(), labels):
        pipeline.report(finding)
    if whole.strings:
        from karat.formats.answers import note_on_strings

        pipeline.report(note_on_strings(whole.strings)._replace(file=pipeline.system.name))
    if whole.system_links:
        from karat.checks.links import absent_kinds

        for finding in absent_kinds(whole.system_links, whole.facts[0].links_of(None), pipeline.reading):
            pipeline.report(finding._replace(file=pipeline.system.name))
    absent = {lacking(plan.protocol, whole.facts[1].kinds, "the system"): None for plan in pipeline.plans}
    for finding in filter(None, absent):
        pipeline.report(finding._replace(severity="note", file=pipeline.system.name))
    for what, corpus, mentions in (
        ("gold", pipeline.gold, whole.gold_mentions),
        ("the system", pipeline.system, whole.system_mentions),
    ):
        if not mentions:
            pipeline.report(NO_MENTIONS.at(f"{what} has no mentions", file=corpus.name))


def sides(pipeline: Pipeline, whole: Batch, fingerprint: "str | Fingerprint") -> tuple[Side, Side]:
    """Return what was read of the two sides."""
    gold, system = pipeline.gold, pipeline.system
    return (
        Side(gold.name, len(gold.ids()), whole.gold_mentions, fingerprint),
        Side(system.name, len(system.ids()), whole.system_mentions),
    )


class CountedUnits(NamedTuple):
    """The rows of a run under one protocol, and their sums."""

    documents: Sequence[DocumentRow]
    rows: Sequence[UnitRow]
    notes: Sequence[Finding]
    """Notes of tables on them."""
    totals: UnitTotals


def count_units(plan: Plan, documents: Sequence[DocumentRow], report: Report) -> CountedUnits:
    """Join the rows of documents into rows of units, count these, and sum their counts."""
    notes: list[Finding] = []
    units = finish(plan.measures, documents, notes.append, partial(plan.unit_row, report))
    totals = UnitTotals(plan.measures)
    totals.add(documents, units)
    return CountedUnits(documents, units, notes, totals)


def result_of(
    plan: Plan,
    units: CountedUnits,
    gold: Side,
    system: Side,
    *,
    whole: Batch,
    reading: str | None = None,
    findings: Findings,
) -> Result:
    """Return the result of a protocol. Of the sides, only the mentions that it scores are counted."""
    protocol, options, totals = plan.protocol, plan.options, units.totals
    noted = list(remarks(plan, totals, units.notes))
    scores = plan.measures.score_function(totals.sums())
    headline, is_supported = plan.headline(scores)
    return Result(
        version=__version__,
        protocol=protocol.name,
        title=protocol.title,
        conditions=conditions(
            protocol,
            units=whole.units,
            topics=None if options.topics is None else str(options.topics),
            reading=reading,
            link_order=Fingerprint(whole.shares).link_order if protocol.link_order else None,
        ),
        unit=protocol.unit,
        unit_count=totals.units,
        gold=replace(gold, mentions=totals.scored[0]),
        system=replace(system, mentions=totals.scored[1]),
        scores=_select(plan, _with_classes(plan, scores, units.rows)),
        headline=headline,
        is_headline_supported=is_supported,
        differences=_differences(plan, totals),
        warnings=[*noted, *findings.listed()],
        warning_counts=findings.counts | Counter(finding.group for finding in noted),
        **_unit_fields(plan, units, gold.name),
        **_detail_fields(plan, units.rows),
    )


def _unit_fields(plan: Plan, units: CountedUnits, gold: str) -> dict[str, Any]:
    """Return the fields of a result that list units, or scores by the values of a field."""
    options = plan.options
    fields: dict[str, Any] = {}
    if not plan.lists_units:
        return fields
    names = [unit.unit for unit in units.rows]
    if options.per_unit:
        listed = UnitTable(plan.measures, units.rows).unit_scores()
        fields["units"] = dict(sorted((unit, _select(plan, scores)) for unit, scores in listed))
    if options.keep_rows:
        fields["rows"] = _unit_rows(plan, units, names)
    if plan.breakdowns:
        with placed(lambda: (gold, None)):
            broken_down = {
                breakdown.field.name: breakdown.finish(
                    [row.parts[index] for row in units.documents], [unit.by[index] for unit in units.rows]
                )
                for index, breakdown in enumerate(plan.breakdowns)
            }
        fields["by"] = {field: dict(_by_scores(plan, of_field)) for field, of_field in broken_down.items()}
        if options.keep_rows and options.keep_by_rows:
            fields["by_rows"] = {
                field: dict(of_field.rows(names, plan.score_function)) for field, of_field in broken_down.items()
            }
    return fields


def _unit_rows(plan: Plan, units: CountedUnits, names: Sequence[str]) -> UnitRows:
    from karat.run.jackknife import leave_out

    part, scores = leave_out(plan.measures, units.documents)
    left_out = {name: _select(plan, dict(of_part)) for name, of_part in scores.items()}
    columns = list(UnitTable(plan.measures, units.rows).columns())
    return UnitRows(names, columns, plan.score_function, left_out, part)


def _select(plan: Plan, by_id: dict[str, T]) -> dict[str, T]:
    return {id_: by_id[id_] for id_ in plan.selected if id_ in by_id}


def _with_classes(plan: Plan, scores: dict[str, Score], units: Sequence[UnitRow]) -> dict[str, Score]:
    if not plan.has_classes:
        return scores
    from karat.run.classes import with_class_averages

    return with_class_averages(scores, units)


def _by_scores(plan: Plan, broken_down: "BrokenDown") -> Iterator[tuple[str, dict[str, Score]]]:
    for value, scores, items in broken_down.scores():
        complete = _select(plan, plan.score_function.with_composites(scores))
        yield value, {id_: Score(values, items=items.get(id_)) for id_, values in complete.items()}


def _differences(plan: Plan, totals: UnitTotals) -> dict[str, dict[str, int]]:
    listed: dict[str, dict[str, int]] = {}
    for (id_, what), number in sorted(counted(unit.differences for unit in totals.noted()).items()):
        if number and id_ in plan.selected:
            listed.setdefault(id_, {})[what] = number
    return listed


def _detail_fields(plan: Plan, units: Sequence[UnitRow]) -> dict[str, Any]:
    """Return the fields of a result that hold its details."""
    if not plan.options.details:
        return {}
    from karat.run.details import all_listed, all_outcomes

    return {"outcomes": all_outcomes(units, plan.selected), "details": all_listed(units)}


def refuse_unknown_families(prefixes: Iterable[str]) -> None:
    """Refuse measures of no family."""
    for prefix in prefixes:
        if "." in prefix or not any(name.startswith(prefix) for name in MEASURES.names()):
            refuse_unknown_family(prefix)


def refuse_unknown_family(prefix: str) -> None:
    """Refuse a measure of no family; the last part of an id is not enough, but its ids are suggested."""
    try:
        MEASURES.get(prefix.partition(".")[0])
    except UsageError:
        ids = [id_ for _, family in MEASURES for row in family.card.rows for id_ in row.split(", ")]
        meant = [id_ for id_ in ids if id_.rpartition(".")[2] == prefix.lower()]
        if not meant:
            raise
        hint = f"Did you mean {' or '.join(meant)}? `karat measures` lists them."
        raise UsageError("unknown-measure", f"there is no measure {prefix!r}", hint) from None
