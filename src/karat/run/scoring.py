"""Scores a system against gold: makes rows of all documents, finishes them, and returns results."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from karat import __version__
from karat.checks.annotations import NamedIds, id_conflicts
from karat.checks.links import absent_kinds
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.interface import Corpus, Executor, Progress
from karat.corpus.opening import absent_names
from karat.families import MEASURES
from karat.problems import Finding, Findings, KaratError, Origin, Report, Rule, UsageError, placed
from karat.protocols import Protocol
from karat.protocols.signature import signature
from karat.result import Result, Score, Side, UnitRows
from karat.run.pairs import paired_ids
from karat.run.pipeline import Batch, Pipeline, Work, across
from karat.run.plan import Options, Plan
from karat.run.remarks import counted, remarks
from karat.run.rows import DocumentRow, UnitRow
from karat.run.units import ScoreFunction, UnitTable, finish, leave_out

if TYPE_CHECKING:
    from karat.run.breakdown import BrokenDown

T = TypeVar("T")

ASSUMED = 50
"""Documents of each side from which a run takes what its corpora hold."""
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
    for prefix in options.measures:
        if "." in prefix or not any(name.startswith(prefix) for name in MEASURES.names()):
            _refuse_unknown_family(prefix)
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
    assumed = gold.facts(ASSUMED), system.facts(ASSUMED)
    pipeline = Pipeline(gold, system, Work(protocols, options, assumed))
    for finding in absent_names(gold, system):
        pipeline.report(finding)
    ids = paired_ids(gold, system, protocols, pipeline.report_pairs)
    findings.merge(pipeline.take_findings())
    pipeline, whole = _mapped(pipeline, ids, progress, executor)
    findings.merge(whole.findings)
    _look_across(pipeline, whole)
    fingerprint = Fingerprint(whole.shares)
    sides = (
        Side(gold.name, len(gold.ids()), whole.gold_mentions, str(fingerprint)),
        Side(system.name, len(system.ids()), whole.system_mentions),
    )
    finished = [
        _finished(plan, rows, pipeline.places.report) for plan, rows in zip(pipeline.plans, whole.rows, strict=True)
    ]
    findings.merge(pipeline.take_findings())
    results = [
        _result(plan, rows, *made, *sides, fingerprint=fingerprint, offsets=whole.units, findings=findings)
        for plan, rows, made in zip(pipeline.plans, whole.rows, finished, strict=True)
    ]
    if options.errors:
        from karat.run.errors import Analysis

        for index, result in enumerate(results):
            analysis = Analysis(pipeline, index, whole.rows[index], result, progress=progress, executor=executor)
            result.errors = analysis.of(finished[index][0])
    return results


def _mapped(
    pipeline: Pipeline, ids: Sequence[str], progress: Progress | None, executor: Executor | None
) -> tuple[Pipeline, Batch]:
    """Make the rows of all documents, under what the first ones of each side hold; again, once, if others hold more."""
    try:
        plans = pipeline.plans
    except KaratError:  # the first documents may lack what others hold
        pipeline = pipeline.assuming((pipeline.gold.facts(), pipeline.system.facts()))
        plans = pipeline.plans
    whole = _joined(pipeline, ids, progress, executor)
    for facts, assumed in zip(whole.facts, pipeline.work.facts, strict=True):
        facts.update(assumed)
    if not all(plan.holds(*whole.facts) for plan in plans):
        pipeline = pipeline.assuming(whole.facts)
        whole = _joined(pipeline, ids, progress, executor)
    return pipeline, whole


def _joined(pipeline: Pipeline, ids: Sequence[str], progress: Progress | None, executor: Executor | None) -> Batch:
    whole = Batch.empty(len(pipeline.plans))
    whole.findings = pipeline.take_findings()
    for batch in pipeline.batches(ids, executor, progress):
        whole.extend(batch)
    return whole


def _look_across(pipeline: Pipeline, whole: Batch) -> None:
    """Report, or refuse, what only all documents together show."""
    places = pipeline.places
    with places.of(""):
        sides: tuple[tuple[Origin, dict[str, NamedIds]], ...] = (
            ("gold", whole.gold_ids),
            ("system", whole.system_ids),
        )
        for side, ids in sides:
            for finding in id_conflicts(ids):
                raise KaratError(finding._replace(origin=side))
        for finding in across(pipeline.work.protocols, whole.observed):
            if finding.severity == "fatal":
                raise KaratError(finding)
            places.report(finding)
    assert whole.facts is not None, "they were assumed"
    for finding in absent_kinds(whole.system_links, whole.facts[0].links_of(None)):
        pipeline.report(finding._replace(file=pipeline.system.name))
    counts = (whole.gold_mentions, whole.system_mentions)
    for what, corpus, count in zip(("gold", "the system"), (pipeline.gold, pipeline.system), counts, strict=True):
        if not count:
            pipeline.report(NO_MENTIONS.at(f"{what} has no mentions", file=corpus.name))


def _finished(plan: Plan, rows: Sequence[DocumentRow], report: Report) -> tuple[Sequence[UnitRow], list[Finding]]:
    """Return the rows of all units, and the notes of tables on them."""
    notes: list[Finding] = []
    return finish(plan.measures, rows, notes.append, partial(plan.unit_row, report)), notes


def _result(
    plan: Plan,
    rows: Sequence[DocumentRow],
    units: Sequence[UnitRow],
    notes: Sequence[Finding],
    gold: Side,
    system: Side,
    *,
    fingerprint: Fingerprint,
    offsets: Iterable[str],
    findings: Findings,
) -> Result:
    """Return the result of a protocol. Of the sides, only the mentions that it scores are counted."""
    protocol, options, table = plan.protocol, plan.options, UnitTable(plan.measures, units)
    whole = table.score_function(plan.selected)
    with placed(lambda: (gold.name, None)):
        broken_down = {
            breakdown.field.name: breakdown.finish(
                [row.parts[index] for row in rows], [unit.by[index] for unit in units]
            )
            for index, breakdown in enumerate(plan.breakdowns)
        }
    noted = list(remarks(plan, rows, units, notes))
    scores = _all_scores(plan, table, units)
    headline, is_supported = plan.headline(scores)
    return Result(
        version=__version__,
        protocol=protocol.name,
        title=protocol.title,
        signature=signature(
            protocol,
            units=offsets,
            fingerprint=fingerprint,
            topics=None if options.topics is None else str(options.topics),
        ),
        unit=protocol.unit,
        unit_count=len(units),
        gold=replace(gold, mentions=sum(row.scored[0] for row in rows)),
        system=replace(system, mentions=sum(row.scored[1] for row in rows)),
        scores=_select(plan, scores),
        by={field: dict(_by_scores(plan, of_field, whole)) for field, of_field in broken_down.items()},
        units=dict(sorted((unit, _select(plan, scores)) for unit, scores in table.unit_scores()))
        if options.per_unit
        else {},
        headline=headline,
        is_headline_supported=is_supported,
        differences=_differences(plan, units),
        **_details(plan, units),
        warnings=[*noted, *findings.listed()],
        warning_counts=findings.counts | Counter(finding.group for finding in noted),
        rows=_unit_rows(plan, rows, units, table, whole) if options.keep_rows else None,
        by_rows={
            field: dict(of_field.rows([unit.unit for unit in units], whole)) for field, of_field in broken_down.items()
        }
        if options.keep_rows and options.keep_by_rows
        else {},
    )


def _unit_rows(
    plan: Plan, rows: Sequence[DocumentRow], units: Sequence[UnitRow], table: UnitTable, whole: ScoreFunction
) -> UnitRows:
    part, scores = leave_out(plan.measures, rows)
    left_out = {name: _select(plan, dict(of_part)) for name, of_part in scores.items()}
    return UnitRows([unit.unit for unit in units], list(table.columns()), whole, left_out, part)


def _select(plan: Plan, by_id: dict[str, T]) -> dict[str, T]:
    return {id_: by_id[id_] for id_ in plan.selected if id_ in by_id}


def _all_scores(plan: Plan, table: UnitTable, units: Sequence[UnitRow]) -> dict[str, Score]:
    if not plan.has_classes:
        return table.scores()
    from karat.run.classes import with_class_averages

    return with_class_averages(table.scores(), units)


def _by_scores(plan: Plan, broken_down: "BrokenDown", whole: ScoreFunction) -> Iterator[tuple[str, dict[str, Score]]]:
    for value, scores, items in broken_down.scores():
        complete = _select(plan, whole.with_composites(scores))
        yield value, {id_: Score(values, items=items.get(id_)) for id_, values in complete.items()}


def _differences(plan: Plan, units: Sequence[UnitRow]) -> dict[str, dict[str, int]]:
    listed: dict[str, dict[str, int]] = {}
    for (id_, what), count in sorted(counted(unit.differences for unit in units).items()):
        if count and id_ in plan.selected:
            listed.setdefault(id_, {})[what] = count
    return listed


def _details(plan: Plan, units: Sequence[UnitRow]) -> dict[str, Any]:
    """Return the fields of a result that hold its details."""
    if not plan.options.details:
        return {}
    from karat.run.details import all_listed, all_outcomes

    return {"outcomes": all_outcomes(units, plan.selected), "details": all_listed(units)}


def _refuse_unknown_family(prefix: str) -> None:
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
