"""Scores of documents that arrive one pair after another: what has been counted is not counted again."""

from karat.corpus.fingerprint import Fingerprint
from karat.corpus.memory import MemoryCorpus
from karat.model import Document
from karat.plugin import Facts
from karat.problems import Findings, ignore
from karat.protocols import Protocol
from karat.result import Result
from karat.run.pairs import paired_ids
from karat.run.pipeline import Batch, Pipeline, RunSetup
from karat.run.plan import Options, Plan
from karat.run.rows import DocumentRow
from karat.run.scoring import CountedUnits, check_whole_corpus, count_units, refuse_unknown_families, result_of, sides
from karat.run.units import UnitTotals


class GrowingScore:
    """The score of pairs of documents in memory, to which others are added.

    A pair becomes a row once. If documents are units, their counts are added to exact sums; else all rows are finished
    again. If a pair has an attribute or a kind that no earlier one had, there may be other measures, and all pairs
    become rows again.
    """

    def __init__(self, protocol: Protocol, options: Options) -> None:
        self._protocol, self._options = protocol, options
        self.gold, self.system = (
            MemoryCorpus(name="gold in memory"),
            MemoryCorpus(name="system in memory", is_system=True),
        )
        self._facts = Facts(), Facts()
        self._new: set[str] = set()
        """Documents that are not counted yet."""
        self._pipeline: Pipeline | None = None
        """For what the documents hold; None: not known yet."""
        self._plan: Plan

    def add(self, gold: Document, system: Document) -> None:
        """Add the two sides of one document; refuse a pair that cannot be used."""
        self.gold.add(gold)
        try:
            self.system.add(system)
        except Exception:
            self.gold.discard(gold.id)
            raise
        self._new.add(gold.id)
        for facts, corpus in zip(self._facts, (self.gold, self.system), strict=True):
            facts.add(corpus.read(gold.id, ignore))

    def result(self) -> Result:
        """Return the scores of all pairs so far."""
        if not self.gold.ids():
            paired_ids(self.gold, self.system, [self._protocol], ignore)  # refuses to score nothing
        pipeline = self._started()
        self._add_rows(pipeline)
        findings = self._merged.copy()
        check_whole_corpus(pipeline, self._whole)
        units = self._units(pipeline)
        findings.merge(pipeline.take_findings())
        gold, system = sides(pipeline, self._whole, Fingerprint(self._whole.shares))
        return result_of(self._plan, units, gold, system, whole=self._whole, findings=findings)

    def _started(self) -> Pipeline:
        """Return the pipeline for what the documents hold; if they hold something new, start with no rows."""
        refuse_unknown_families(self._options.measures)
        if self._pipeline is not None:
            if self._pipeline.setup.facts == self._facts or self._plan.fits(*self._facts):
                return self._pipeline
            self._pipeline, self._new = None, {*self.gold.ids()}
        gold, system = self._facts
        pipeline = Pipeline(
            self.gold, self.system, RunSetup([self._protocol], self._options, (gold.copy(), system.copy()))
        )
        (self._plan,) = pipeline.plans
        self._whole = Batch.empty(1)
        self._rows: dict[str, DocumentRow] = {}
        self._totals = UnitTotals(self._plan.measures)
        self._uncounted: list[DocumentRow] = []
        """Rows that are not part of the totals."""
        self._merged = pipeline.take_findings()
        self._findings = {"": self._merged.copy()}
        """By document, and those of the protocol."""
        self._pipeline = pipeline
        return pipeline

    def _add_rows(self, pipeline: Pipeline) -> None:
        """Make the rows of new documents."""
        for id_ in sorted(self._new):
            batch = pipeline.batch([id_])
            ((row,),) = batch.rows
            if batch.findings.counts:
                self._add_findings(id_, batch.findings)
            batch.rows, batch.findings = [[]], Findings()
            self._whole.extend(batch)
            self._rows[id_] = row
            self._new.discard(id_)
            self._uncounted.append(row)
        if any(self._whole.observed):
            self._whole.observed = [dict(sorted(observed.items())) for observed in self._whole.observed]

    def _add_findings(self, id_: str, findings: Findings) -> None:
        """Add the findings of a document; warnings are in the order of documents."""
        is_last = id_ > next(reversed(self._findings))
        self._findings[id_] = findings
        if is_last:
            self._merged.merge(findings)
            return
        self._findings = dict(sorted(self._findings.items()))
        self._merged = Findings()
        for of_document in self._findings.values():
            self._merged.merge(of_document)

    def _units(self, pipeline: Pipeline) -> CountedUnits:
        if not self._plan.measures.is_by_document:
            return count_units(self._plan, self._in_order(), pipeline.places.report)
        self._totals.add(self._uncounted, self._uncounted)
        self._uncounted = []
        rows = self._in_order() if self._plan.lists_units else ()
        return CountedUnits(rows, rows, (), self._totals)

    def _in_order(self) -> list[DocumentRow]:
        return [row for _, row in sorted(self._rows.items())]
