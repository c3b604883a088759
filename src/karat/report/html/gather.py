"""Gathers the documents of a report: mentions and links as corpora have them, outcomes as results list them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Raw

from karat.corpus import Corpus
from karat.model import Document
from karat.report.html.records import DocumentData, IndexData, MeasureData, OutcomeClass, OutcomeData
from karat.report.html.shown_text import ShownText
from karat.report.html.sides import CorpusSide, DocumentSide, Item
from karat.report.listing import earned
from karat.results import MentionRecord, Result

TONES: Mapping[str, str] = {
    **dict.fromkeys(("match", "correct"), "right"),
    **dict.fromkeys(("miss", "missing"), "missed"),
    **dict.fromkeys(("spurious", "false_alarm"), "spurious"),
}
LABELS: Mapping[str, str] = {"miss": "missed", "false_alarm": "false alarm"}

Outcomes = dict[int, dict[int, list[OutcomeData]]]
"""The outcomes of one system by the numbers of documents and measures."""


class _Encoded:
    """The sides of systems of one document, as JSON: with many systems, records would need much memory."""

    def __init__(self, unit: str, shown: ShownText) -> None:
        self.unit = unit
        self.shown = shown
        self.mentions: list[Raw] = []
        self.items: list[Raw] = []
        self.links: list[list[tuple[str, str, str]]] = []
        self.outcomes: list[Raw] = []
        self.notes: dict[str, int] = {"": 0}

    def add(self, number: int, side: DocumentSide, outcomes: list[list[OutcomeData]]) -> None:
        """Add the side of the system with this number. Earlier systems may not have had the document."""
        lacking = number - len(self.links)
        self.mentions += [_raw([])] * lacking + [_raw(side.mentions)]
        self.items += [_raw([])] * lacking + [_raw(list(side.items))]
        self.links += [[]] * lacking + [side.links]
        self.outcomes += [_raw([])] * lacking + [_raw(outcomes)]


class Gathered:
    """The documents of gold, with the outcomes of one system after another."""

    def __init__(self, gold: Corpus) -> None:
        self._corpus = gold
        self._numbers: dict[str, int] = {}
        self._documents: list[_Encoded] = []
        self._gold = CorpusSide()
        self._shared: list[CorpusSide] = [self._gold]
        self._systems: list[str] = []
        self._measures: dict[tuple[str, str], int] = {}
        self._classes: dict[str, int] = {}
        self._counts: dict[str, dict[tuple[str, str], Counter[str]]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def measures(self, protocol: str) -> list[str]:
        """The measures of a protocol that have outcomes."""
        return [id_ for own, id_ in self._measures if own == protocol]

    def counts(self, system: str, protocol: str, measure: str) -> Counter[str]:
        """How many outcomes of each class a measure has."""
        return self._counts[system].get((protocol, measure), Counter())

    def add(self, name: str, corpus: Corpus, results: Iterable[Result]) -> None:
        """Add a system: its corpus, and its results under each protocol, which must have outcomes."""
        system = self._read(corpus)
        outcomes: Outcomes = {}
        counts = self._counts[name] = {}
        for result in results:
            for id_, records in result.outcomes.items():
                measure = self._measure(result, id_)
                counts[result.protocol, id_] = Counter(record.outcome for record in records)
                for record in records:
                    document = None if record.document is None else self._numbers[record.document]
                    gold, own = (
                        None if one is None else side.item(one, document, self._numbers)
                        for side, one in ((self._gold, record.gold), (system, record.system))
                    )
                    is_pair = gold is not None and own is not None
                    is_mention = isinstance(record.gold or record.system, MentionRecord)
                    note = earned(record.counts, full=not is_mention) if is_pair or not is_mention else ""
                    self._enter(outcomes, measure, record.outcome, (gold, own), system, document, note)
            for id_, listed in result.details.items():
                counts[result.protocol, id_] = Counter(entry["outcome"] for entry in listed["items"])
                self._add_elements(outcomes, self._measure(result, id_), listed["items"], system)
        for number, document_side in system.documents.items():
            by_measure = outcomes.get(number, {})
            listed_outcomes = [by_measure.get(measure, []) for measure in range(len(self._measures))]
            self._documents[number].add(len(self._systems), document_side, listed_outcomes)
        self._systems.append(name)
        system.documents.clear()
        self._shared.append(system)

    def _read(self, corpus: Corpus) -> CorpusSide:
        """The side of a system, with every document that it or gold has."""
        side = CorpusSide()
        golds, systems = self._corpus.survey().rows, corpus.survey().rows
        for id_ in [*sorted(golds), *sorted(one for one in systems if one not in golds)]:
            own = corpus.read(id_, _ignore) if id_ in systems else None
            number = self._numbers.get(id_)
            if number is None:
                gold = self._corpus.read(id_, _ignore) if id_ in golds else None
                present = [document for document in (gold, own) if document is not None]
                number = self._numbers[id_] = len(self._numbers)
                encoded = _Encoded(present[0].unit, ShownText(present))
                self._documents.append(encoded)
                self._gold.documents[number] = DocumentSide(gold or Document(id_), encoded.shown)
            side.documents[number] = DocumentSide(own or Document(id_), self._documents[number].shown)
        self._corpus.close()
        corpus.close()
        return side

    def _add_elements(
        self, outcomes: Outcomes, measure: int, listed: Iterable[Mapping[str, Any]], system: CorpusSide
    ) -> None:
        """What measures list in place of outcomes: elements, by their ids."""
        for entry in listed:
            document = self._numbers.get(entry["document"])
            gold, own = (
                None if entry[key] is None else side.element(entry[key], document)
                for side, key in ((self._gold, "reference"), (system, "system"))
            )
            note = "; ".join([f"{entry['value']:.4g} of {entry['worth']:.4g}", *entry["lost"]])
            self._enter(outcomes, measure, entry["outcome"], (gold, own), system, document, note)

    def _enter(
        self,
        outcomes: Outcomes,
        measure: int,
        outcome: str,
        items: tuple[Item | None, Item | None],
        system: CorpusSide,
        document: int | None,
        note: str,
    ) -> None:
        """List an outcome in every document where gold's item is, else where the system's is.

        (Where either is would be all pairs of documents for a large cluster of the system.)
        """
        gold, own = items
        places = (gold and gold.documents()) or (own and own.documents()) or set()
        for number in sorted(places) or ([] if document is None else [document]):
            notes = self._documents[number].notes
            data = OutcomeData(
                self._classes.setdefault(outcome, len(self._classes)),
                self._gold.reference(gold, number),
                system.reference(own, number),
                notes.setdefault(note, len(notes)),
            )
            outcomes.setdefault(number, {}).setdefault(measure, []).append(data)

    def _measure(self, result: Result, id_: str) -> int:
        return self._measures.setdefault((result.protocol, id_), len(self._measures))

    def index(self, *, measure: tuple[str, str] | None, a: str, b: str | None = None) -> IndexData:
        """What all documents share; `measure` (protocol and id) and the systems `a` and `b` are shown first."""
        return IndexData(
            self._systems,
            [MeasureData(id_, protocol) for protocol, id_ in self._measures],
            [OutcomeClass(name, LABELS.get(name, name), TONES.get(name, "other")) for name in self._classes],
            list(self._numbers),
            [list(side.shared) for side in self._shared],
            0 if measure is None else self._measures.get(measure, 0),
            self._systems.index(a),
            -1 if b is None else self._systems.index(b),
        )

    def documents(self) -> Iterator[DocumentData]:
        """The documents, in the order of the index."""
        for number, encoded in enumerate(self._documents):
            gold = self._gold.documents[number]
            yield DocumentData(
                encoded.unit,
                encoded.shown.text,
                [_raw(gold.mentions), *encoded.mentions],
                [_raw(list(gold.items)), *encoded.items],
                [gold.links, *encoded.links],
                encoded.outcomes,
                list(encoded.notes),
            )


def _raw(records: list[Any]) -> Raw:
    return Raw(msgspec.json.encode(records))


def _ignore(finding: object) -> None:
    """The run has already reported it."""
