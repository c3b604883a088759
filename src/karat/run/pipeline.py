"""The pipeline: pairs of documents in, rows out. A run is one map of it over the documents of a corpus."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from karat.checks.annotations import NamedIds, Reading, ids_of
from karat.corpus.fingerprint import Share, share
from karat.corpus.interface import Corpus, Executor, Progress, workers
from karat.model import Pair
from karat.plugin import Facts
from karat.problems import Finding, Findings, KaratError, Report, escalate, placed, without
from karat.protocols import Protocol
from karat.run.diagnosis import FirstSpans, Labels
from karat.run.pairs import FindingPlaces, PairReader, Preparation
from karat.run.plan import Options, Plan, plan_of, readings, refuse_absent
from karat.run.rows import DocumentRow
from karat.run.units import folded

if TYPE_CHECKING:
    from karat.insight.repairs import Edit

BATCH = 500
"""Documents whose rows are made together in one process; those of a unit may be added up."""


class Batch(Struct):
    """Rows of some documents, and what else a run keeps of them. Batches are joined in the order of their documents."""

    rows: list[list[DocumentRow]]
    """For each protocol."""
    observed: list[dict[str, Mapping[int, Any]]]
    """For each protocol, by document: what its filters remember, each by its index."""
    findings: Findings = field(default_factory=Findings)
    gold_mentions: int = 0
    system_mentions: int = 0
    shares: list[Share] = []
    """Each gold document's share of the fingerprint."""
    units: set[str] = set()
    """Units of offsets in gold."""
    gold_ids: dict[str, NamedIds] = {}
    """By document: its ids, if they mean the same in all documents."""
    system_ids: dict[str, NamedIds] = {}
    strings: Counter[str] = field(default_factory=Counter)
    """How the strings of answers were found in gold's text."""
    system_links: Counter[str] = field(default_factory=Counter)
    """The number of the system's links of each kind."""
    labels: Labels = field(default_factory=Labels)
    """Types of events and roles of arguments, as far as they are scored."""
    facts: tuple[Facts, Facts] = field(default_factory=lambda: (Facts(), Facts()))
    """Facts about the documents of gold and of the system."""

    @classmethod
    def empty(cls, protocols: int) -> "Batch":
        """Return a batch without documents."""
        return cls([[] for _ in range(protocols)], [{} for _ in range(protocols)])

    def extend(self, later: "Batch") -> None:
        """Add the documents of another batch."""
        self.findings.merge(later.findings)
        for rows, others in zip(self.rows, later.rows, strict=True):
            rows += others
        for observed, more in zip(self.observed, later.observed, strict=True):
            observed |= more
        self.gold_mentions += later.gold_mentions
        self.system_mentions += later.system_mentions
        self.shares += later.shares
        self.units |= later.units
        self.gold_ids |= later.gold_ids
        self.system_ids |= later.system_ids
        self.system_links += later.system_links
        self.strings += later.strings
        self.labels.update(later.labels)
        for facts, later_facts in zip(self.facts, later.facts, strict=True):
            facts.update(later_facts)


class RunSetup(NamedTuple):
    """The protocols, options and assumed facts of a run: the same for all documents, in every process."""

    protocols: Sequence[Protocol]
    options: Options
    facts: tuple[Facts, Facts]
    """Facts about gold and about the system that the plans follow from."""
    edits: "Mapping[str, Edit] | None" = None
    """For the analysis of errors: edits of the system's documents, by id."""


class Task(NamedTuple):
    """Documents for one worker: their ids, and where it finds them."""

    ids: Sequence[str]
    gold: Corpus
    system: Corpus


class Pipeline:
    """Reads, checks, filters, aligns and counts the documents of two corpora."""

    def __init__(self, gold: Corpus, system: Corpus, setup: RunSetup) -> None:
        self.gold, self.system, self.setup = gold, system, setup
        self._in_order = any(protocol.link_order for protocol in setup.protocols)
        policies = [protocol.system_only_documents for protocol in setup.protocols]
        self._all_protocols = range(len(policies))
        """Indexes of all protocols."""
        self._scoring_system_only = [index for index, policy in enumerate(policies) if policy == "score"]
        """Indexes of the protocols that score documents that only the system has."""
        self._findings = Findings()
        self.spans = FirstSpans()
        """Spans of the first documents, as this pipeline reads them; workers have pipelines of their own."""
        self.report = self._reporting()
        superseded = frozenset.intersection(*(protocol.superseded for protocol in setup.protocols))
        self.report_pairs = without(self.report, superseded)
        """Reports findings of the general checks, but not those that the filters of all protocols report themselves."""
        self.places = FindingPlaces(gold, system, self.report)
        self._reader = PairReader(gold, system, self.report_pairs, self.reading, setup.edits)

    def batches(
        self, ids: Sequence[str], executor: Executor | None = None, progress: Progress | None = None
    ) -> Iterator[Batch]:
        """Make the rows of documents in this process, or in those of the executor, in their order."""
        indexes = self.gold.index, self.system.index
        if executor is not None and (width := workers(executor, ids, indexes)) > 1:
            from karat.corpus.chunks import chunks

            groups = chunks(ids, indexes, width)
            if len(groups) > 1 and self._task(groups[0]) is not None:
                yield from self._collected(groups, executor, progress)
                return
        for start in range(0, len(ids), BATCH):
            yield self.batch(ids[start : start + BATCH], _counting(progress, start, len(ids)))

    def batch(self, ids: Sequence[str], progress: Progress | None = None) -> Batch:
        """Make the rows of some documents. Each document is released before the next one is read."""
        batch = Batch.empty(len(self.plans))
        for done, id_ in enumerate(ids, 1):
            self._add(batch, id_)
            if progress is not None:
                progress(done, len(ids))
        batch.findings = self.take_findings()
        for plan, rows in zip(self.plans, batch.rows, strict=True):
            if plan.can_fold and self.setup.edits is None:
                rows[:] = folded(plan.measures, rows)
            plan.fold_breakdowns(rows)
        return batch

    def _add(self, batch: Batch, id_: str) -> None:
        """Read a document, and add a row of it for each protocol that scores it."""
        pair, in_gold = self._reader.read(id_)
        chosen = self._all_protocols if in_gold else self._scoring_system_only
        if self.setup.edits is None:
            self._add_facts(batch, pair, in_gold=in_gold, is_scored=len(chosen) > 0)
        if pair.gold.empty_nodes != pair.system.empty_nodes:
            from karat.checks.pairs import in_one_numbering

            pair = in_one_numbering(pair)
        if self.setup.edits is None:
            if in_gold and self.spans.takes(id_) and id_ in self.system.ids():
                self.spans.add(pair)
            if chosen and self._scores_labels:
                batch.labels.add(pair, roles=self._scores_roles)
        with self.places.of(id_):
            prepared = self._preparation.prepare(pair, chosen)
            for index, document in zip(chosen, prepared, strict=True):
                batch.rows[index].append(self.plans[index].row(document, self.places.line, self.places.report))
                if document.observed:
                    batch.observed[index][id_] = document.observed

    def _add_facts(self, batch: Batch, pair: Pair, *, in_gold: bool, is_scored: bool) -> None:
        """Add what a run needs of a document besides its rows."""
        gold, system = pair.gold, pair.system
        if in_gold:
            batch.units.add(gold.unit)
            batch.shares.append(share(gold, in_order=self._in_order))
        if self.gold.global_ids:
            batch.gold_ids[gold.id] = ids_of(gold)
        if self.system.global_ids:
            batch.system_ids[gold.id] = ids_of(system)
        batch.facts[0].add(gold)
        batch.facts[1].add(system)
        batch.gold_mentions += len(gold.mentions)
        batch.system_mentions += len(system.mentions)
        if not is_scored:
            return
        if (declared := system.declared) is not None and declared.strings:
            batch.strings.update(declared.strings)
        if system.links:
            from karat.arguments import other_links

            batch.system_links.update([link.kind for link in other_links(system)])

    @cached_property
    def _preparation(self) -> Preparation:
        """Filters may report or refuse their options."""
        return Preparation(self.setup.protocols, self.places.report)

    @cached_property
    def plans(self) -> list[Plan]:
        """The plan of each protocol. Options that do not fit the corpora are refused."""
        self._preparation  # noqa: B018
        protocols, options, facts, _ = self.setup
        with placed(lambda: (self.gold.name, None)):
            plans = [plan_of(protocol, facts, options, compares=len(protocols) > 1) for protocol in protocols]
        refuse_absent(options.measures, plans)
        return plans

    def assuming(self, facts: tuple[Facts, Facts]) -> "Pipeline":
        """Return a pipeline for the same documents under other facts."""
        return Pipeline(self.gold, self.system, self.setup._replace(facts=facts))

    def reading(self, kind: str) -> Reading | None:
        """Return how the protocols read a kind of links, for the checks of annotations."""
        return self._readings.get(kind)

    @cached_property
    def _readings(self) -> dict[str, Reading]:
        return readings(table for plan in self.plans for table in plan.tables)

    @cached_property
    def _scores_labels(self) -> bool:
        return any(plan.scores_types or plan.scores_roles for plan in self.plans)

    @cached_property
    def _scores_roles(self) -> bool:
        return any(plan.scores_roles for plan in self.plans)

    def _reporting(self) -> Report:
        """Return what receives findings: some are refused, and some are escalated under these protocols."""
        gold, system, options, protocols = self.gold, self.system, self.setup.options, self.setup.protocols
        report: Report = self._add_finding
        if options.strict:
            report = _refusing_faults(report, "--strict refuses faults.")
        elif not options.accept_faults and not gold.tolerated_faults is system.tolerated_faults is None:
            why = "Its format refuses faults; --accept-faults counts them instead."
            tolerated = (gold.tolerated_faults or frozenset()) | (system.tolerated_faults or frozenset())
            report = _refusing_faults(report, why, tolerated=tolerated)
        faults = {code for protocol in protocols for code in protocol.faults}
        return escalate(report, faults, {code for protocol in protocols for code in protocol.refusals})

    def _add_finding(self, finding: Finding) -> None:
        self._findings.add(finding)

    def take_findings(self) -> Findings:
        """Return the findings since this was last called."""
        findings, self._findings = self._findings, Findings()
        return findings

    def _collected(
        self, groups: Sequence[Sequence[str]], executor: Executor, progress: Progress | None
    ) -> Iterator[Batch]:
        """Make the rows of groups of documents in the processes of the executor, in their order."""
        from karat.corpus.chunks import collected

        done, tasks = 0, filter(None, map(self._task, groups))
        for group, made in collected(groups, executor.map(worker_batch, self.setup, tasks), self.batch):
            done += len(group)
            if progress is not None:
                progress(done, sum(map(len, groups)))
            yield made

    def _task(self, ids: Sequence[str]) -> Task | None:
        """Return a task for a worker; None if the documents cannot be sent."""
        gold, system = (corpus.part([id_ for id_ in ids if id_ in corpus.ids()]) for corpus in (self.gold, self.system))
        return None if gold is None or system is None else Task(ids, gold, system)


def _counting(progress: Progress | None, start: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda done, _: progress(start + done, total)


def worker_batch(setup: RunSetup, task: Task) -> Batch | str:
    """Make the rows of a task in a worker; return why it cannot be done."""
    from karat.corpus.chunks import attempted

    def made() -> Batch:
        pipeline = Pipeline(task.gold, task.system, setup)
        pipeline.plans  # noqa: B018
        pipeline.take_findings()  # what filters report when they are prepared is known already
        return pipeline.batch(task.ids)

    try:
        return attempted(made)
    finally:
        task.gold.close()
        task.system.close()


def across(protocols: Sequence[Protocol], observed: Sequence[Mapping[str, Mapping[int, Any]]]) -> Iterator[Finding]:
    """Yield what filters find in what they remember of all documents; protocols with equal filters share them."""
    done = set()
    for protocol, by_document in zip(protocols, observed, strict=True):
        filters = protocol.filters, protocol.comparison
        for index, filter_ in enumerate(protocol.filters if filters not in done else ()):
            seen = {id_: memory[index] for id_, memory in by_document.items() if index in memory}
            if seen:
                yield from filter_.across(seen)
        done.add(filters)


def _refusing_faults(report: Report, why: str, *, tolerated: Set[str] = frozenset()) -> Report:
    def strict(finding: Finding) -> None:
        if finding.severity == "fault" and finding.code not in tolerated:
            raise KaratError(finding._replace(hint=f"{finding.hint} ({why})"))
        report(finding)

    return strict
