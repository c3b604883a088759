"""Reading pairs: the two sides of a document, checked, with the places of what is found in them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from karat.checks import Readings, checked
from karat.corpus.files import FileCorpus
from karat.corpus.index import Index
from karat.corpus.interface import Corpus
from karat.filters import collapsing
from karat.model import Document, Pair
from karat.plugin import Filter, PairTransform, Tables
from karat.problems import (
    Finding,
    Findings,
    Group,
    Item,
    KaratError,
    Origin,
    Report,
    Rule,
    Target,
    of_side,
    quoted,
    refusing,
)
from karat.protocols import Protocol

if TYPE_CHECKING:
    from karat.insight.repairs import Edit


NO_GOLD = Rule("gold-empty", "fatal", "Name the file or folder that holds the gold annotations.")
NOTHING_SHARED = Rule(
    "documents-differ", "fatal", "Check that both belong to the same corpus, and that GOLD comes before SYSTEM."
)
UNITS_DIFFER = Rule(
    "units-differ",
    "fatal",
    "Use the same unit of offsets on both sides; --unit token says it for a format that does not, such as csv.",
)
SOURCES_DIFFER = Rule("sources-differ", "fault", "Use the same source as gold; karat uses gold's.")
GOLD_ONLY = Rule("document-gold-only", "note", "It is scored as if the system had found nothing in it.")
UNNAMED = Rule("documents-unnamed", "note", "No action needed if they are the same document; else give each an id.")
SYSTEM_ONLY = Rule("document-system-only", "note", "Check the document id if gold should have it.")
HIDDEN = Rule(
    "documents-unknown",
    "fatal",
    "Name the document of each token, in a column or a prefix, or choose a protocol that scores all links alike.",
)


def paired_ids(gold: Corpus, system: Corpus, protocols: Sequence[Protocol], report: Report) -> list[str]:
    """Return the ids of all documents, sorted. Report those that only one side has, or refuse them by protocol."""
    _pair_unnamed(gold.index, system.index, report)
    _refuse_unrelated(gold, system, protocols)
    golds, systems = gold.ids(), system.ids()
    policies = [protocol.system_only_documents for protocol in protocols]
    for id_ in sorted(systems - golds):
        file, line = system.where(id_)
        finding = SYSTEM_ONLY.at(f"document {quoted(id_)} is not in gold", file=file, line=line)
        if "refuse" in policies:
            raise KaratError(finding._replace(severity="fatal"))
        consequence = "; all its mentions are spurious" if "score" in policies else " and was ignored"
        report(finding._replace(message=finding.message + consequence))
    refused = any(protocol.gold_only_documents == "refuse" for protocol in protocols)
    for id_ in sorted(golds - systems) if systems or refused else ():
        finding = GOLD_ONLY.at(f"the system lacks document {quoted(id_)}", file=system.name)
        if refused:
            hint = "Give the system's output for every document of gold; it may be empty."
            raise KaratError(finding._replace(severity="fatal", hint=hint))
        report(finding)
    return sorted(golds | systems)


def _refuse_unrelated(gold: Corpus, system: Corpus, protocols: Sequence[Protocol]) -> None:
    """Refuse corpora without documents in common, and gold whose documents the protocols need but cannot see."""
    golds, systems = gold.ids(), system.ids()
    if not golds:
        raise NO_GOLD.error("gold has no document", file=gold.name)
    if systems and golds.isdisjoint(systems):
        examples = f"gold has {quoted(min(golds))}, the system {quoted(min(systems))}"
        file, line = system.where(min(systems))
        raise NOTHING_SHARED.error(f"gold and system share no document: {examples}", file=file, line=line)
    for protocol in protocols:
        if protocol.collapse is not None and isinstance(gold, FileCorpus) and gold.hides_documents:
            what = "is read as one document" if len(golds) == 1 else "is read without its documents (--documents none)"
            message = f"{protocol.name} scores links across documents, but gold {what}"
            raise HIDDEN.error(message, file=gold.name)


def _pair_unnamed(gold: Index, system: Index, report: Report) -> None:
    """Give the only document of the system the id of gold's only document, if neither has one in its file."""
    if len(gold.rows) == len(system.rows) == len(gold.unnamed) == len(system.unnamed) == 1:
        (gold_id,), (system_id,) = gold.rows, system.rows
        if gold_id != system_id:
            names = f"{quoted(gold_id)} and {quoted(system_id)}"
            report(UNNAMED.at(f"neither side gives its document an id: {names} are scored as one document"))
            system.rename(system_id, gold_id)


class PairReader:
    """Reads and checks the two sides of documents."""

    def __init__(
        self, gold: Corpus, system: Corpus, report: Report, readings: Readings, edits: "Mapping[str, Edit] | None"
    ) -> None:
        """With `edits`, documents of the system are read with these changes, and gold is not checked once more."""
        self._gold, self._system, self._report, self._readings = gold, system, report, readings
        self._report_gold, self._report_system = of_side(report, "gold"), of_side(report, "system")
        self._edits = edits

    def read(self, id_: str) -> tuple[Pair, bool]:
        """Return a document with its two sides, and whether gold has it. Fatal findings are raised."""
        gold = self._read_gold(id_) if id_ in self._gold.ids() else None
        system = self._read_system(id_, gold)
        if gold is None or system is None:
            existing = gold or system
            assert existing is not None, "one of the two sides has the document"
            empty = Document(id_, topic=existing.topic, subtopic=existing.subtopic, unit=existing.unit)
            return Pair(gold or empty, system or empty), gold is not None
        self._compare(id_, gold, system)
        return Pair(gold, system), True

    def _read_gold(self, id_: str) -> Document:
        document = self._gold.read(id_, self._report_gold)
        if self._edits is not None:
            return document
        return checked(document, partial(self._gold.where, id_), self._report_gold, self._readings)

    def _read_system(self, id_: str, gold: Document | None) -> Document | None:
        document = None
        if id_ in self._system.ids():
            document = self._system.read(id_, self._report_system)
        if self._edits is not None and (edit := self._edits.get(id_)) is not None:
            from karat.insight.repairs import edited_system

            document = edited_system(gold, document, edit)
        if document is None:
            return None
        return checked(document, partial(self._where, id_), self._report_system, self._readings)

    def _where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """Return the place of a document of the system; one that was changed is in no file."""
        return self._system.where(id_, item) if self._edits is None else (self._system.name, None)

    def _compare(self, id_: str, gold: Document, system: Document) -> None:
        """Refuse or report what the two sides say differently about the source."""
        for finding in source_differences(gold, system):
            file, line = self._where(id_)
            refusing(self._report)(finding._replace(file=file, line=line))
        if gold.unit != "token" or (gold.forms == system.forms is not None and not gold.sentence_ids):
            return
        from karat.checks.pairs import TOKENS_DIFFER, difference

        if (differing := difference(gold, system)) is not None:
            file, line = self._where(id_, differing.system)
            gold_file, gold_line = self._gold.where(id_, differing.gold)
            there = gold_file if gold_line is None else f"{gold_file}, line {gold_line}"
            message = f"document {quoted(id_)} has other tokens than gold ({there}): {differing.message}"
            self._report(TOKENS_DIFFER.at(message, file=file, line=line))


def source_differences(gold: Document, system: Document) -> Iterator[Finding]:
    """Yield differences between the units of offsets, and between the sources, of the two sides of a document."""
    if gold.unit != system.unit:
        message = f"has {gold.unit} offsets in gold, but {system.unit} offsets in the system"
        yield UNITS_DIFFER.at(f"document {quoted(gold.id)} {message}")
    elif gold.source != system.source and gold.source and system.source:
        sources = f"the source {quoted(system.source)}, but {quoted(gold.source)} in gold"
        message = f"document {quoted(gold.id)} has {sources}"
        yield SOURCES_DIFFER.at(message, found=system.source)


class FindingPlaces:
    """Adds file and line to the findings of filters and runs, which know only a side and an item."""

    def __init__(self, gold: Corpus, system: Corpus, report: Report) -> None:
        self._gold, self._system = gold, system
        self._report = report
        self._document = ""
        self._seen: dict[Group, int] = {}

    def report(self, finding: Finding) -> None:
        """Report a finding with its file and line."""
        self._report(self._located(finding))

    def of(self, document: str) -> Self:
        """Within this context, findings are about one document; a fatal one is raised with its file and line."""
        self._document = document
        return self

    def __enter__(self) -> None:
        """See `of`."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KaratError) and error.finding.origin is not None:
            raise KaratError(self._located(error.finding)) from None

    def line(self, side: Origin, document: str, item: Item) -> int | None:
        """The line of an item in a document of one side; None for a corpus in memory, or a document it lacks."""
        corpus = self._gold if side == "gold" else self._system
        return corpus.where(document, item)[1] if document in corpus.ids() else None

    def _located(self, finding: Finding) -> Finding:
        """Looks up the line only for findings that are kept; later ones get the line of the document."""
        if finding.origin is None or finding.file is not None:
            return finding
        count = self._seen[finding.group] = self._seen.get(finding.group, 0) + 1
        document = self._document if finding.document is None else finding.document
        in_gold = document in self._gold.ids()
        # A document that gold lacks has an empty gold side; a finding about it is about the system's document.
        corpus = self._gold if finding.origin == "gold" and in_gold else self._system
        if document not in corpus.ids():
            return finding._replace(file=corpus.name)
        file, line = corpus.where(document, finding.item if count <= Findings.KEPT else None)
        return finding._replace(file=file, line=line)


class PreparedPair(Struct, frozen=True):
    """A pair after the filters, and its tables after the collapse."""

    filtered: Pair
    tables: Tables
    scored: tuple[int, int]
    """The numbers of gold and system mentions that the filters leave, singletons included."""
    observed: Mapping[int, Any]
    """What filters note of the pair for their checks of the whole corpus (`Filter.across`), by index of the filter."""


Filtered = tuple[Pair, tuple[int, int], Mapping[int, Any]]
"""What the filters make of a pair: the pair that is left, and `scored` and `observed` as in `PreparedPair`."""


class Preparation:
    """Filters and collapses pairs as some protocols say. Protocols with equal filters or collapses share the work."""

    def __init__(self, protocols: Sequence[Protocol], report: Report) -> None:
        """Filters may report or refuse their options here."""
        filters = list(dict.fromkeys((protocol.filters, protocol.comparison) for protocol in protocols))
        collapses = list(dict.fromkeys(protocol.collapse for protocol in protocols))
        self._filters: list[list[tuple[Filter, PairTransform]]] = [
            [(filter_, filter_.prepare(comparison, report)) for filter_ in chosen] for chosen, comparison in filters
        ]
        self._collapses = [collapsing(collapse) for collapse in collapses]
        self._steps = [
            (filters.index((protocol.filters, protocol.comparison)), collapses.index(protocol.collapse))
            for protocol in protocols
        ]

    def prepare(self, pair: Pair, protocols: Sequence[int]) -> list[PreparedPair]:
        """Return the pair as each of these protocols sees it; protocols are given by their indexes."""
        filtered: dict[int, Filtered] = {}
        prepared: dict[tuple[int, int], PreparedPair] = {}
        for index in protocols:
            steps = filters, collapse = self._steps[index]
            if filters not in filtered:
                filtered[filters] = _filtered(pair, self._filters[filters])
            if steps not in prepared:
                left, scored, observed = filtered[filters]
                prepared[steps] = PreparedPair(left, Tables(self._collapses[collapse](left)), scored, observed)
        return [prepared[self._steps[index]] for index in protocols]


def _filtered(pair: Pair, filters: Sequence[tuple[Filter, PairTransform]]) -> Filtered:
    with_singletons, observed = pair, dict[int, Any]()
    for index, (filter_, transform) in enumerate(filters):
        left = transform(pair)
        if (memory := filter_.observe(pair, left)) is not None:
            observed[index] = memory
        pair = left
        with_singletons = with_singletons if filter_.drops_singletons else pair
    scored = len(with_singletons.gold.mentions), len(with_singletons.system.mentions)
    return pair, scored, observed
