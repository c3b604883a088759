"""The engine runs protocols over pairs of documents. It knows no protocol and no measure by name.

    survey -> (each document: read, check, filter, collapse, align) -> tables -> add into units -> count -> sum -> score

Pairs are read one at a time, and each is released before the next one is read; only a few numbers of each are kept.
"""

from collections.abc import Sequence, Set
from functools import partial

from msgspec import Struct

from karat.corpus import Corpus, Fingerprint, Progress, absent_names
from karat.engine.details import Details
from karat.engine.observer import ObserveLines
from karat.engine.pairs import pairs
from karat.engine.places import Places
from karat.engine.prepare import MakeTables, Preparation
from karat.engine.protocol_run import ProtocolRun
from karat.engine.tokens import in_one_numbering
from karat.errors import Finding, Findings, KaratError, Report, Rule, UsageError, graver, nearest, without
from karat.measures import MEASURES
from karat.plugin import Tables
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.results import Result, Side

NO_MENTIONS = Rule("no-mentions", "note", "Check the file if you expected mentions.")
NO_MEASURE = Rule(
    "measure-absent", "fatal", "Choose a measure of the protocol; --set attributes=... scores other attributes."
)


class RunOptions(Struct, frozen=True):
    """What the user chooses for a run, beside the protocols."""

    measures: tuple[str, ...] = ()
    """The measures to score: ids, or prefixes of ids; empty: all."""
    by: tuple[str, ...] = ()
    """Fields to break scores down by."""
    per_unit: bool = False
    strict: bool = False
    """Refuse faults instead of counting them."""
    topics: str | None = None
    """The topics that the corpora were restricted to, for the signature."""
    accept_faults: bool = False
    """Count faults even in a format that refuses them."""
    details: bool = False
    """List the outcomes of measures item by item."""
    keep_rows: bool = False
    """Keep the counts of each unit, for intervals and tests."""


def score(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: RunOptions,
    *,
    findings: Findings,
    progress: Progress | None = None,
    make_tables: MakeTables = Tables,
    observe: ObserveLines | None = None,
) -> list[Result]:
    """Score a system against gold under each protocol; the files are read once for all of them.

    `make_tables` makes the tables of a pair; they may be kept from one run to the next (`KeptTables`). `observe` makes,
    for each protocol, what sees the tables as they are counted.
    """
    for prefix in options.measures:
        if "." in prefix or not any(name.startswith(prefix) for name in MEASURES.names()):
            _refuse_unknown_family(prefix)
    report: Report = findings.add
    if options.strict:
        report = _refusing_faults(report, "--strict refuses faults.")
    elif not options.accept_faults and (gold.refuses_faults or system.refuses_faults):
        why = "Its format refuses faults; --accept-faults counts them instead."
        report = _refusing_faults(report, why, tolerated=gold.tolerated_faults | system.tolerated_faults)
    faults = {code for protocol in protocols for code in protocol.faults}
    report = graver(report, faults, {code for protocol in protocols for code in protocol.refusals})
    gold_survey, system_survey = gold.survey(), system.survey()
    for finding in absent_names(gold, system):
        report(finding)
    superseded = frozenset.intersection(*(protocol.superseded for protocol in protocols))
    both = pairs(gold, system, protocols, without(report, superseded))
    places = Places(gold, system, report)
    preparation = Preparation(places.report, make_tables)
    runs = []
    steps = []
    for protocol in protocols:
        steps.append(preparation.enter(protocol))
        runs.append(
            ProtocolRun(
                protocol,
                gold_survey,
                system_survey,
                report=places.report,
                measures=options.measures,
                by=options.by,
                details=Details(places.line, unit=protocol.unit) if options.details else None,
                observe=None if observe is None else partial(observe, places.line),
                keep_rows=options.keep_rows,
            )
        )
    _refuse_absent(options.measures, runs)
    fingerprint, units = Fingerprint(), set[str]()
    mentions = [0, 0]
    done = 0
    total = len(gold_survey.rows) + sum(id_ not in gold_survey.rows for id_ in system_survey.rows)
    try:
        for pair, in_gold in both:
            if in_gold:
                fingerprint.add(pair.gold)
                units.add(pair.gold.unit)
            mentions[0] += len(pair.gold.mentions)
            mentions[1] += len(pair.system.mentions)
            pair = in_one_numbering(pair)
            with places.of(pair.gold.id):
                for run, own_steps in zip(runs, steps, strict=True):
                    if in_gold or run.protocol.system_only_documents == "score":
                        run.add(preparation.prepare(pair, own_steps))
            del pair
            preparation.forget()
            done += 1
            if progress is not None:
                progress(done, total)
        with places.of(""):
            preparation.finish()
    finally:
        gold.close()
        system.close()
    for side, corpus, count in (("gold", gold, mentions[0]), ("the system", system, mentions[1])):
        if not count:
            report(NO_MENTIONS.at(f"{side} has no mentions", file=corpus.name))
    sides = (
        Side(gold.name, len(gold_survey.rows), mentions[0], str(fingerprint)),
        Side(system.name, len(system_survey.rows), mentions[1]),
    )
    return [
        run.result(*sides, units=units, findings=findings, per_unit=options.per_unit, topics=options.topics)
        for run in runs
    ]


def _refusing_faults(report: Report, why: str, *, tolerated: Set[str] = frozenset()) -> Report:
    def strict(finding: Finding) -> None:
        if finding.severity == "fault" and finding.code not in tolerated:
            raise KaratError(finding._replace(hint=f"{finding.hint} ({why})"))
        report(finding)

    return strict


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


def _refuse_absent(prefixes: Sequence[str], runs: Sequence[ProtocolRun]) -> None:
    """Refuse a measure that no protocol of this run offers, with the reason if it is known."""
    offered = list(dict.fromkeys(id_ for run in runs for id_ in run.offered))
    for prefix in prefixes:
        if any(id_.startswith(prefix) for id_ in offered):
            continue
        for run in runs:
            for row in run.unscored:
                if row.id.startswith(prefix):
                    raise NO_MEASURE.error(f"{run.protocol.name} does not score {row.id} here: {row.reason}")
        names = ", ".join(run.protocol.name for run in runs)
        message = f"{names} has no measure {prefix!r} here. {nearest(prefix, offered)}"
        family = prefix.partition(".")[0]
        others = [name for name, _ in PROTOCOLS if family in {choice.name for choice in resolve(name).families}]
        raise NO_MEASURE.error(f"{message} Protocols of that family: {', '.join(others)}." if others else message)
