"""The engine: runs protocols over pairs of documents. It names none of them, and no measure.

    survey -> (each document: read, check, filter, align) -> tables -> add into units -> count -> sum -> score

Pairs come one at a time and are gone when the next one comes; what stays of each is a few numbers.
"""

from collections.abc import Callable, Sequence, Set

from msgspec import Struct

from karat.corpus import Corpus, Fingerprint, Progress
from karat.engine.pairs import pairs
from karat.engine.places import Places
from karat.engine.sheet import Sheet
from karat.errors import Finding, Findings, KaratError, Report, Rule, graver, nearest
from karat.measures import MEASURES
from karat.model import Pair
from karat.protocols import Protocol, resolve
from karat.protocols import names as known
from karat.results import Result, Side
from karat.tables import Tables

NO_MENTIONS = Rule("no-mentions", "note", "Check the file if there should be some.")
NO_DETAILS = Rule("details-absent", "fatal", "Leave --details away; value scores of ACE elements have details.")
NO_MEASURE = Rule(
    "measure-absent", "fatal", "Only measures of the protocol, on attributes that gold has, can be asked for."
)


class Options(Struct, frozen=True):
    """What a user wants of a run."""

    measures: tuple[str, ...] = ()
    """Prefixes of the ids to score; none: all."""
    by: tuple[str, ...] = ()
    """Fields to break scores down by."""
    per_unit: bool = False
    strict: bool = False
    """Refuse faults instead of counting them."""
    topics: str | None = None
    """The topics that the corpora were restricted to, for the signature."""
    accept_faults: bool = False
    """Count faults even where a format's rules refuse them."""
    details: bool = False
    """Tell what measures have to tell item by item."""


def score(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: Options,
    *,
    findings: Findings,
    progress: Progress | None = None,
    tables: Callable[[Pair], Tables] = Tables,
) -> list[Result]:
    """Score a system against gold under each protocol; the files are read once for all of them.

    `tables` gives the tables of a pair; they may be kept from one run to the next (`KeptTables`).
    """
    for prefix in options.measures:
        if "." in prefix or not any(name.startswith(prefix) for name in MEASURES.names()):
            MEASURES.get(prefix.partition(".")[0])
    report: Report = findings.add
    if options.strict:
        report = _refusing_faults(report, "--strict refuses faults.")
    elif not options.accept_faults and (gold.refuses_faults or system.refuses_faults):
        told = "Its format refuses faults; --accept-faults counts them instead."
        report = _refusing_faults(report, told, forgiven=gold.tolerated_faults | system.tolerated_faults)
    report = graver(report, {code for protocol in protocols for code in protocol.faults})
    gold_survey, system_survey = gold.survey(), system.survey()
    met = pairs(gold, system, [protocol.system_only_documents for protocol in protocols], report)
    places = Places(gold, system, report)
    sheets = [
        Sheet(
            protocol,
            gold_survey,
            system_survey,
            by=options.by,
            measures=options.measures,
            report=places.report,
            tables=tables,
            details=options.details,
        )
        for protocol in protocols
    ]
    _refuse_absent(options.measures, sheets)
    scored = [measure for sheet in sheets for measure, _ in sheet.measures]
    if options.details and scored and not any(hasattr(measure, "details") for measure in scored):
        raise NO_DETAILS.error(f"{', '.join(sheet.protocol.name for sheet in sheets)} has no details to tell")
    fingerprint, units = Fingerprint(), set[str]()
    mentions = [0, 0]
    done = 0
    total = len(gold_survey.rows) + sum(id_ not in gold_survey.rows for id_ in system_survey.rows)
    try:
        for pair, in_gold in met:
            if in_gold:
                fingerprint.add(pair.gold)
                units.add(pair.gold.unit)
            mentions[0] += len(pair.gold.mentions)
            mentions[1] += len(pair.system.mentions)
            with places.of(pair.gold.id):
                for sheet in sheets:
                    if in_gold or sheet.protocol.system_only_documents == "score":
                        sheet.add(pair)
            del pair  # gone before the next one is read, which may then take its place in memory
            done += 1
            if progress is not None:
                progress(done, total)
    finally:
        gold.close()
        system.close()
    for side, corpus, count in (("gold", gold, mentions[0]), ("the system", system, mentions[1])):
        if not count:
            report(NO_MENTIONS.at(f"{side} has no mention at all", file=corpus.name))
    sides = (
        Side(gold.name, len(gold_survey.rows), mentions[0], str(fingerprint)),
        Side(system.name, len(system_survey.rows), mentions[1]),
    )
    return [
        sheet.result(*sides, units=units, findings=findings, per_unit=options.per_unit, topics=options.topics)
        for sheet in sheets
    ]


def _refusing_faults(report: Report, why: str, *, forgiven: Set[str] = frozenset()) -> Report:
    def strict(finding: Finding) -> None:
        if finding.severity == "fault" and finding.code not in forgiven:
            raise KaratError(finding._replace(hint=f"{finding.hint} ({why})"))
        report(finding)

    return strict


def _refuse_absent(prefixes: Sequence[str], sheets: Sequence[Sheet]) -> None:
    offered = list(dict.fromkeys(id_ for sheet in sheets for id_ in sheet.offered))
    for prefix in prefixes:
        if not any(id_.startswith(prefix) for id_ in offered):
            for sheet in sheets:
                for id_, why in sheet.absent.items():
                    if id_.startswith(prefix):
                        raise NO_MEASURE.error(f"{sheet.protocol.name} does not score {id_} here: {why}")
            names = ", ".join(sheet.protocol.name for sheet in sheets)
            found = f"{names} has no measure {prefix!r} here. {nearest(prefix, offered)}"
            others = [name for name in known() if prefix.partition(".")[0] in {f.name for f in resolve(name).families}]
            raise NO_MEASURE.error(f"{found} Protocols of that family: {', '.join(others)}." if others else found)
