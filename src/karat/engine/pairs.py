"""Pairs of documents: which documents belong together, read and checked one after another."""

from collections.abc import Iterator, Sequence
from functools import partial

from karat.checks import checked
from karat.checks.ids import Ids, Numbers
from karat.corpus import Corpus
from karat.errors import KaratError, Report, Rule, quoted
from karat.model import Document, Pair

NO_GOLD = Rule("gold-empty", "fatal", "Name the file or folder that holds the gold annotations.")
NOTHING_SHARED = Rule(
    "documents-differ", "fatal", "Check that both are of one corpus, and that GOLD comes before SYSTEM."
)
UNITS_DIFFER = Rule("units-differ", "fatal", "Give both sides in the same unit of offsets.")
SOURCES_DIFFER = Rule("sources-differ", "fault", "Give the document the source that it has in gold; gold's is used.")
GOLD_ONLY = Rule("document-gold-only", "note", "It is scored as if the system had said nothing there.")
SYSTEM_ONLY = Rule("document-system-only", "note", "Check the document id if gold should have it.")


def pairs(gold: Corpus, system: Corpus, policies: Sequence[str], report: Report) -> Iterator[tuple[Pair, bool]]:
    """Every document with both sides, in the order of ids, and whether gold has it.

    `policies` is what the protocols do with documents that only the system has: ignore, score or refuse them.
    """
    golds, systems = gold.survey().rows.keys(), system.survey().rows.keys()
    if not golds:
        raise NO_GOLD.error("gold has no document", file=gold.name)
    if systems and golds.isdisjoint(systems):
        examples = f"gold has {quoted(min(golds))}, the system {quoted(min(systems))}"
        raise NOTHING_SHARED.error(f"gold and system share no document: {examples}", file=system.name)
    for id_ in sorted(systems - golds):
        file, line = system.where(id_)
        finding = SYSTEM_ONLY.at(f"gold lacks document {quoted(id_)}", file=file, line=line)
        if "refuse" in policies:
            raise KaratError(finding._replace(severity="fatal"))
        told = ", all of it spurious" if "score" in policies else "; it is ignored"
        report(finding._replace(message=finding.message + told))
    if systems:
        for id_ in sorted(golds - systems):
            report(GOLD_ONLY.at(f"the system lacks document {quoted(id_)}", file=system.name))
    return _read_all(gold, system, sorted([*golds, *(id_ for id_ in systems if id_ not in golds)]), report)


def _read_all(gold: Corpus, system: Corpus, ids: Sequence[str], report: Report) -> Iterator[tuple[Pair, bool]]:
    golds = gold.survey().rows
    sides = _Side(gold, report), _Side(system, report)
    for id_ in ids:
        yield _pair(*sides, id_, report), id_ in golds
    for side in sides:
        side.refuse_ids()


class _Side:
    """A corpus as it is read, document by document."""

    def __init__(self, corpus: Corpus, report: Report) -> None:
        self.corpus = corpus
        self._report = report
        self._numbers = Numbers() if corpus.global_ids else None

    def read(self, id_: str) -> Document | None:
        """A document, if it is there and nothing about it is fatal."""
        if id_ not in self.corpus.survey().rows:
            return None
        where = partial(self.corpus.where, id_)
        document = checked(self.corpus.read(id_, self._report), where, self._report)
        if self._numbers is not None:
            self._numbers.add(document)
        return document

    def refuse_ids(self) -> None:
        """Read again to tell which id is at odds with itself, if one may be."""
        if self._numbers is None or not self._numbers.are_at_odds():
            return
        ids = Ids()
        for document in self.corpus:
            for finding in ids.check(document):
                if finding.severity == "fatal":
                    file, line = self.corpus.where(document.id, finding.item)
                    raise KaratError(finding._replace(file=file, line=line))


def _pair(gold: _Side, system: _Side, id_: str, report: Report) -> Pair:
    golden, found = gold.read(id_), system.read(id_)
    if golden is None or found is None:
        there = golden or found
        assert there is not None, "one of the two sides has the document"
        empty = Document(id_, topic=there.topic, subtopic=there.subtopic, unit=there.unit)
        return Pair(golden or empty, found or empty)
    if golden.unit != found.unit:
        told = f"document {quoted(id_)} counts {golden.unit}s in gold and {found.unit}s in the system"
        raise UNITS_DIFFER.error(told, file=system.corpus.name)
    if golden.source != found.source and golden.source and found.source:
        file, line = system.corpus.where(id_)
        told = f"document {quoted(id_)} is of source {quoted(found.source)}, in gold of {quoted(golden.source)}"
        report(SOURCES_DIFFER.at(told, file=file, line=line))
    return Pair(golden, found)
