"""Scoring: what the protocols of a run have of the documents so far.

Documents are added one by one. What another process has of later documents is merged: the state is then the same as if
they had been added here, so that the result does not depend on how documents were divided.
"""

from collections.abc import Sequence, Set
from operator import add
from typing import NamedTuple

from msgspec import Struct

from karat.checks.ids import Numbers
from karat.corpus import Corpus, Executor, Fingerprint, Progress, absent_names
from karat.engine.details import Details
from karat.engine.observer import Observe
from karat.engine.pairs import Pairs, paired_ids
from karat.engine.places import Places
from karat.engine.prepare import MakeTables, Preparation, Steps
from karat.engine.protocol_run import ProtocolRun, RunPart
from karat.engine.records import Records
from karat.engine.tokens import in_one_numbering
from karat.errors import Finding, Findings, KaratError, Report, Rule, graver, placed, without
from karat.plugin import CorpusTransform, Tables
from karat.protocols import Protocol
from karat.results import Result, Side

NO_MENTIONS = Rule("no-mentions", "note", "Check the file if you expected mentions.")


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
    keep_by_rows: bool = True
    """Where these are kept, also for each value of a breakdown."""
    changed: frozenset[str] | None = None
    """After a run over the same gold: the documents of the system that have changed since.

    Gold is not checked once more, and the result has no fingerprint of it. If each document is counted by itself, only
    these are. The counts of each unit are kept.
    """


class ScoringPart(NamedTuple):
    """What scoring has of some documents, as it is sent to the process that puts them together: tables and counts."""

    findings: Findings
    fingerprint: Fingerprint
    units: set[str]
    mentions: list[int]
    ids: list[Numbers | None]
    filters: list[CorpusTransform]
    runs: list[RunPart]


class Scoring:
    """A system and gold under some protocols."""

    def __init__(
        self, gold: Corpus, system: Corpus, protocols: Sequence[Protocol], options: RunOptions, findings: Findings
    ) -> None:
        self.gold, self.system, self.protocols, self.options = gold, system, protocols, options
        self.findings = findings
        self._report = self._reporting()
        superseded = frozenset.intersection(*(protocol.superseded for protocol in protocols))
        self._report_pairs = without(self._report, superseded)
        self._pairs = Pairs(gold, system, self._report_pairs, check_gold=options.changed is None)
        self._places = Places(gold, system, self._report)
        self.observe: Observe | None = None
        self.runs: list[ProtocolRun] = []
        self._steps: list[Steps] = []
        self._preparation = Preparation(self._places.report)
        self._fingerprint, self._units = Fingerprint(), set[str]()
        self._mentions = [0, 0]

    def _reporting(self) -> Report:
        """What receives findings: some are refused, and some are graver under these protocols."""
        gold, system, options = self.gold, self.system, self.options

        report: Report = self._add_finding
        if options.strict:
            report = _refusing_faults(report, "--strict refuses faults.")
        elif not options.accept_faults and (gold.refuses_faults or system.refuses_faults):
            why = "Its format refuses faults; --accept-faults counts them instead."
            report = _refusing_faults(report, why, tolerated=gold.tolerated_faults | system.tolerated_faults)
        faults = {code for protocol in self.protocols for code in protocol.faults}
        return graver(report, faults, {code for protocol in self.protocols for code in protocol.refusals})

    def _add_finding(self, finding: Finding) -> None:
        self.findings.add(finding)

    def paired_ids(self) -> list[str]:
        """The ids of the documents to add, in their order; reports or refuses what only the whole corpora show."""
        for finding in absent_names(self.gold, self.system):
            self._report(finding)
        return paired_ids(self.gold, self.system, self.protocols, self._report_pairs)

    def prepare(self, make_tables: MakeTables = Tables, observe: Observe | None = None) -> None:
        """Find out what each protocol does and scores; to be called once, before documents are added."""
        surveys, places, options = (self.gold.survey(), self.system.survey()), self._places, self.options
        self.observe = observe
        self._preparation = Preparation(places.report, make_tables)
        for protocol in self.protocols:
            self._steps.append(self._preparation.enter(protocol))
            records = Records(places.line, unit=protocol.unit)
            with placed(lambda: (self.gold.name, None)):
                run = ProtocolRun(
                    protocol,
                    *surveys,
                    report=places.report,
                    measures=options.measures,
                    by=options.by,
                    records=records,
                    details=Details(records) if options.details else None,
                    observe=observe,
                    compare=len(self.protocols) > 1,
                    keep_rows=options.keep_rows or options.changed is not None or observe is not None,
                    keep_by_rows=options.keep_rows and options.keep_by_rows,
                    jackknife=options.keep_rows,
                )
            self.runs.append(run)

    def add(self, ids: Sequence[str], progress: Progress | None = None) -> None:
        """Add documents. Each is released before the next one is read."""
        for done, id_ in enumerate(ids, 1):
            self._add(id_)
            if progress is not None:
                progress(done, len(ids))

    def _add(self, id_: str) -> None:
        pair, in_gold = self._pairs.read(id_)
        if in_gold:
            self._units.add(pair.gold.unit)
            if self.options.changed is None:
                self._fingerprint.add(pair.gold)
        self._mentions[0] += len(pair.gold.mentions)
        self._mentions[1] += len(pair.system.mentions)
        pair = in_one_numbering(pair)
        with self._places.of(pair.gold.id):
            for run, steps in zip(self.runs, self._steps, strict=True):
                if in_gold or run.protocol.system_only_documents == "score":
                    run.add(self._preparation.prepare(pair, steps))
        self._preparation.forget()

    def counted(self, ids: Sequence[str]) -> Sequence[str]:
        """The documents to count: all, unless only some have changed and they do not depend on the others."""
        changed = self.options.changed
        is_alone = self._preparation.is_pair_by_pair and self._is_by_document
        return ids if changed is None or not is_alone else [id_ for id_ in ids if id_ in changed]

    @property
    def _is_by_document(self) -> bool:
        return all(run.is_by_document for run in self.runs)

    @property
    def merges(self) -> bool:
        """Whether documents may be divided. An observer sees the documents of a unit together."""
        return self._preparation.merges and (self.observe is None or self._is_by_document)

    def part(self) -> ScoringPart:
        """What was added, to be sent to another process."""
        return ScoringPart(
            self.findings,
            self._fingerprint,
            self._units,
            self._mentions,
            self._pairs.part(),
            self._preparation.part(),
            [run.part() for run in self.runs],
        )

    def merge(self, part: ScoringPart) -> bool:
        """Add documents that come after those so far; False: nothing was added, since they must be read here."""
        if not self._preparation.accepts(part.filters):
            return False
        self.findings.merge(part.findings)
        self._fingerprint.merge(part.fingerprint)
        self._units |= part.units
        self._mentions = [*map(add, self._mentions, part.mentions)]
        self._pairs.merge(part.ids)
        self._preparation.merge(part.filters)
        for run, later in zip(self.runs, part.runs, strict=True):
            run.merge(later)
        return True

    def results(self, executor: Executor) -> list[Result]:
        """The result of each protocol, when all documents were added.

        The fingerprint may be finished by another process while this one counts.
        """
        fingerprints = executor.map(_written, None, [self._fingerprint])
        self._pairs.finish()
        for doubts in self._preparation.doubts():
            self._pairs.recheck(doubts)
        with self._places.of(""):
            self._preparation.finish()
        for side, corpus, count in zip(("gold", "the system"), (self.gold, self.system), self._mentions, strict=True):
            if not count:
                self._report(NO_MENTIONS.at(f"{side} has no mentions", file=corpus.name))
        scores = [run.scores() for run in self.runs]
        sides = (
            Side(self.gold.name, len(self.gold.survey().rows), self._mentions[0], next(fingerprints)),
            Side(self.system.name, len(self.system.survey().rows), self._mentions[1]),
        )
        return [
            run.result(
                own,
                *sides,
                units=self._units,
                findings=self.findings,
                per_unit=self.options.per_unit,
                topics=self.options.topics,
            )
            for run, own in zip(self.runs, scores, strict=True)
        ]

    def close(self) -> None:
        """Close the files of both sides."""
        self.gold.close()
        self.system.close()


def _written(shared: None, fingerprint: Fingerprint) -> str:
    del shared
    return str(fingerprint)


def _refusing_faults(report: Report, why: str, *, tolerated: Set[str] = frozenset()) -> Report:
    def strict(finding: Finding) -> None:
        if finding.severity == "fault" and finding.code not in tolerated:
            raise KaratError(finding._replace(hint=f"{finding.hint} ({why})"))
        report(finding)

    return strict
