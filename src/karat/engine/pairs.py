"""Pairs of documents: the two sides of each document, read and checked one after another."""

from collections.abc import Mapping, Sequence
from functools import partial

from karat.checks import checked
from karat.checks.ids import Ids, Numbers
from karat.corpus import Corpus, Survey
from karat.engine.tokens import TOKENS_DIFFER, difference
from karat.errors import Finding, KaratError, Origin, Report, Rule, of_side, quoted
from karat.model import Document, Pair
from karat.plugin import DocumentCheck
from karat.protocols import Protocol

NO_GOLD = Rule("gold-empty", "fatal", "Name the file or folder that holds the gold annotations.")
NOTHING_SHARED = Rule(
    "documents-differ", "fatal", "Check that both belong to the same corpus, and that GOLD comes before SYSTEM."
)
UNITS_DIFFER = Rule("units-differ", "fatal", "Use the same unit of offsets on both sides.")
SOURCES_DIFFER = Rule("sources-differ", "fault", "Use the same source as gold; karat uses gold's.")
GOLD_ONLY = Rule("document-gold-only", "note", "It is scored as if the system had found nothing in it.")
UNNAMED = Rule("documents-unnamed", "note", "Nothing to do if they are the same document; else give each an id.")
SYSTEM_ONLY = Rule("document-system-only", "note", "Check the document id if gold should have it.")


def paired_ids(gold: Corpus, system: Corpus, protocols: Sequence[Protocol], report: Report) -> list[str]:
    """The ids of all documents, sorted. The protocols say what happens to documents that only one side has."""
    _pair_unnamed(gold.survey(), system.survey(), report)
    policies = [protocol.system_only_documents for protocol in protocols]
    golds, systems = gold.survey().rows.keys(), system.survey().rows.keys()
    if not golds:
        raise NO_GOLD.error("gold has no document", file=gold.name)
    if systems and golds.isdisjoint(systems):
        examples = f"gold has {quoted(min(golds))}, the system {quoted(min(systems))}"
        file, line = system.where(min(systems))
        raise NOTHING_SHARED.error(f"gold and system share no document: {examples}", file=file, line=line)
    for id_ in sorted(systems - golds):
        file, line = system.where(id_)
        finding = SYSTEM_ONLY.at(f"gold lacks document {quoted(id_)}", file=file, line=line)
        if "refuse" in policies:
            raise KaratError(finding._replace(severity="fatal"))
        consequence = "; all its mentions are spurious" if "score" in policies else "; it is ignored"
        report(finding._replace(message=finding.message + consequence))
    refused = any(protocol.gold_only_documents == "refuse" for protocol in protocols)
    for id_ in sorted(golds - systems) if systems or refused else ():
        finding = GOLD_ONLY.at(f"the system lacks document {quoted(id_)}", file=system.name)
        if refused:
            hint = "Give the system's output for every document of gold; it may be empty."
            raise KaratError(finding._replace(severity="fatal", hint=hint))
        report(finding)
    return sorted([*golds, *(id_ for id_ in systems if id_ not in golds)])


def _pair_unnamed(gold: Survey, system: Survey, report: Report) -> None:
    """Give the only document of the system the id of gold's only document, if neither has one in its file."""
    if len(gold.rows) == len(system.rows) == len(gold.unnamed) == len(system.unnamed) == 1:
        (gold_id,), (system_id,) = gold.rows, system.rows
        if gold_id != system_id:
            names = f"{quoted(gold_id)} and {quoted(system_id)}"
            report(UNNAMED.at(f"neither side gives its document an id: {names} are scored as one document"))
            system.rename(system_id, gold_id)


class Pairs:
    """Reads and checks the two sides of documents."""

    def __init__(self, gold: Corpus, system: Corpus, report: Report, *, check_gold: bool = True) -> None:
        self._gold, self._system = _Side(gold, "gold", report, check=check_gold), _Side(system, "system", report)
        self._report = report

    def read(self, id_: str) -> tuple[Pair, bool]:
        """A document with its two sides, and whether gold has it."""
        return _pair(self._gold, self._system, id_, self._report), id_ in self._gold.corpus.survey().rows

    def part(self) -> list[Numbers | None]:
        """What is known about the ids in the documents so far, to be sent to another process."""
        return [self._gold.numbers, self._system.numbers]

    def merge(self, part: Sequence[Numbers | None]) -> None:
        """Take over what is known about the ids in other documents."""
        for side, later in zip((self._gold, self._system), part, strict=True):
            if side.numbers is not None and later is not None:
                side.numbers.merge(later)

    def finish(self) -> None:
        """All documents were read: refuse an id that names two things on one side."""
        self._gold.refuse_ids()
        self._system.refuse_ids()

    def recheck(self, doubts: Mapping[Origin, DocumentCheck]) -> None:
        """Check the documents of some sides once more, and refuse what is found."""
        for origin, check in doubts.items():
            (self._gold if origin == "gold" else self._system).refuse(check)


class _Side:
    """One side, read document by document."""

    def __init__(self, corpus: Corpus, origin: Origin, report: Report, *, check: bool = True) -> None:
        self.corpus = corpus
        self._checks = check
        self._origin = origin
        self._report = of_side(report, origin)
        self.numbers = Numbers() if corpus.global_ids else None

    def read(self, id_: str) -> Document | None:
        """The document, or None if this side does not have it. Fatal findings are raised."""
        if id_ not in self.corpus.survey().rows:
            return None
        document = self.corpus.read(id_, self._report)
        if self._checks:
            document = checked(document, partial(self.corpus.where, id_), self._report)
        if self.numbers is not None:
            self.numbers.add(document)
        return document

    def refuse_ids(self) -> None:
        """Refuse an id that names two things. Documents are read again only if there may be one."""
        if self.numbers is None or not self.numbers.may_conflict():
            return
        self.refuse(Ids().check)

    def refuse(self, check: DocumentCheck) -> None:
        """Read all documents once more, in the order of their ids, and refuse what a check finds to be fatal."""
        for id_ in sorted(self.corpus.survey().rows):
            for finding in check(self.corpus.read(id_, _ignore)):
                if finding.severity == "fatal":
                    file, line = self.corpus.where(id_, finding.item)
                    raise KaratError(finding._replace(file=file, line=line, origin=self._origin))


def _ignore(finding: Finding) -> None:
    """It was reported when the document was read first."""


def _pair(gold: _Side, system: _Side, id_: str, report: Report) -> Pair:
    gold_document, system_document = gold.read(id_), system.read(id_)
    if gold_document is None or system_document is None:
        existing = gold_document or system_document
        assert existing is not None, "one of the two sides has the document"
        empty = Document(id_, topic=existing.topic, subtopic=existing.subtopic, unit=existing.unit)
        return Pair(gold_document or empty, system_document or empty)
    if gold_document.unit != system_document.unit:
        units = f"{gold_document.unit} offsets in gold, but {system_document.unit} offsets in the system"
        message = f"document {quoted(id_)} has {units}"
        file, line = system.corpus.where(id_)
        raise UNITS_DIFFER.error(message, file=file, line=line)
    if gold_document.source != system_document.source and gold_document.source and system_document.source:
        file, line = system.corpus.where(id_)
        sources = f"{quoted(system_document.source)}, but {quoted(gold_document.source)} in gold"
        message = f"document {quoted(id_)} has the source {sources}"
        report(SOURCES_DIFFER.at(message, file=file, line=line))
    if (differing := difference(gold_document, system_document)) is not None:
        file, line = system.corpus.where(id_, differing.system)
        gold_file, gold_line = gold.corpus.where(id_, differing.gold)
        there = gold_file if gold_line is None else f"{gold_file}, line {gold_line}"
        message = f"document {quoted(id_)} has other tokens than gold ({there}): {differing.message}"
        report(TOKENS_DIFFER.at(message, file=file, line=line))
    return Pair(gold_document, system_document)
