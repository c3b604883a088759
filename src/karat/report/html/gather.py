"""Gathers the documents of a report: mentions and links as corpora have them, outcomes as results list them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from karat.corpus import Corpus
from karat.errors import visible
from karat.model import Document
from karat.report.html.records import DocumentData, IndexData, MeasureData, OutcomeClass, OutcomeData
from karat.report.html.shown_text import ShownText
from karat.report.html.sides import CorpusSide, DocumentSide, Item, Place
from karat.report.listing import earned
from karat.results import MentionRecord, OutcomeRecord, Result, family
from karat.results.errors import MeasureErrors

TONES: Mapping[str, str] = {
    **dict.fromkeys(("match", "correct"), "right"),
    **dict.fromkeys(("miss", "missing", "missed", "missed event", "missed template"), "missed"),
    **dict.fromkeys(("spurious", "false_alarm", "spurious event", "spurious template"), "spurious"),
    "incorrect": "wrong",
}
LABELS: Mapping[str, str] = {"miss": "missed", "false_alarm": "false alarm"}


class Selection(NamedTuple):
    """What can be shown over the text: the outcomes of a measure, or its errors by class."""

    protocol: str
    measure: str
    by_class: bool = False


Outcomes = dict[int, dict[int, list[OutcomeData]]]
"""What is listed of one system, by the numbers of documents and views."""


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

    def sort(self, order: Sequence[int]) -> None:
        """Put the systems in this order; later ones may not have had the document."""
        lacking = len(order) - len(self.links)
        for side in (self.mentions, self.items, self.outcomes):
            side += [_raw([])] * lacking
            side[:] = [side[number] for number in order]
        self.links += [[]] * lacking
        self.links[:] = [self.links[number] for number in order]


class Gathered:
    """The documents of gold, with the outcomes of one system after another."""

    def __init__(self, gold: Corpus) -> None:
        self._corpus = gold
        self._numbers: dict[str, int] = {}
        self._documents: list[_Encoded] = []
        self._gold = CorpusSide()
        self._shared: list[CorpusSide] = [self._gold]
        self._systems: list[str] = []
        self._views: dict[Selection, int] = {}
        self._classes: dict[OutcomeClass, int] = {}
        self._counts: dict[str, dict[tuple[str, str], Counter[str]]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def measures(self, protocol: str) -> list[str]:
        """The measures of a protocol that have outcomes."""
        return [view.measure for view in self._views if view.protocol == protocol and not view.by_class]

    def number(self, view: Selection) -> int | None:
        """The number of a view in the index."""
        return self._views.get(view)

    def counts(self, system: str, protocol: str, measure: str) -> Counter[str]:
        """How many outcomes of each class a measure has."""
        return self._counts[system].get((protocol, measure), Counter())

    def add(self, name: str, corpus: Corpus, results: Iterable[Result]) -> None:
        """Add a system: its corpus, and its results under each protocol, which must have outcomes."""
        system = self._read(corpus)
        outcomes: Outcomes = {}
        self._counts[name] = {}
        for result in results:
            self._add_outcomes(outcomes, result, system, self._counts[name])
            if result.errors is not None:
                for measure in result.errors.measures:
                    self._add_errors(outcomes, result, measure, system)
        for number, document_side in system.documents.items():
            by_measure = outcomes.get(number, {})
            listed_outcomes = [by_measure.get(measure, []) for measure in range(len(self._views))]
            self._documents[number].add(len(self._systems), document_side, listed_outcomes)
        self._systems.append(name)
        system.documents.clear()
        for side in (self._gold, system):
            side.forget_records()
        self._shared.append(system)

    def sort(self, names: Sequence[str]) -> None:
        """Put the systems in this order."""
        order = [self._systems.index(name) for name in names]
        self._systems = list(names)
        self._shared = [self._gold, *(self._shared[1 + number] for number in order)]
        for document in self._documents:
            document.sort(order)

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

    def _add_outcomes(
        self, outcomes: Outcomes, result: Result, system: CorpusSide, counts: dict[tuple[str, str], Counter[str]]
    ) -> None:
        for id_, records in result.outcomes.items():
            view = self._view(Selection(result.protocol, id_))
            counts[result.protocol, id_] = Counter(record.outcome for record in records)
            for record in records:
                self._add_outcome(outcomes, view, record, system)
        for id_, listed in result.details.items():
            counts[result.protocol, id_] = Counter(entry["outcome"] for entry in listed["items"])
            self._add_elements(outcomes, self._view(Selection(result.protocol, id_)), listed["items"], system)

    def outcomes_of(self, protocol: str, measure: str) -> str:
        """The measure whose outcomes are shown for another: itself, or, for a composite, the first of its family."""
        listed = self.measures(protocol)
        return (
            measure if measure in listed else next((id_ for id_ in listed if family(id_) == family(measure)), measure)
        )

    def _add_outcome(
        self,
        outcomes: Outcomes,
        view: int,
        record: OutcomeRecord,
        system: CorpusSide,
        *,
        unless: Callable[[Item | None, Item | None], bool] | None = None,
    ) -> None:
        """Add an outcome, unless its items are to be left out."""
        document = None if record.document is None else self._numbers[record.document]
        gold = None if record.gold is None else self._gold.item(record.gold, document, self._numbers)
        own = None if record.system is None else system.item(record.system, document, self._numbers)
        if unless is not None and unless(gold, own):
            return
        is_pair = gold is not None and own is not None
        is_mention = isinstance(record.gold or record.system, MentionRecord)
        note = earned(record.counts, full=not is_mention) if is_pair or not is_mention else ""
        self._enter(outcomes, view, outcome_class(record.outcome), (gold, own), system, document, note)

    def _add_errors(self, outcomes: Outcomes, result: Result, measure: MeasureErrors, system: CorpusSide) -> None:
        """Errors by class, and what is right and no part of an error."""
        view = self._view(Selection(result.protocol, measure.id, by_class=True))
        in_errors: tuple[set[Place], set[Place]] = set(), set()
        for one in measure.classes:
            kind = OutcomeClass(one.name, one.name, TONES.get(one.name, "wrong"), one.explanation)
            for instance in one.instances:
                document = None if instance.document is None else self._numbers[instance.document]
                gold = self._gold.items(instance.gold, document, self._numbers)
                own = system.items(instance.system, document, self._numbers)
                for places, item in zip(in_errors, (gold, own), strict=True):
                    places.update(() if item is None else item.places())
                self._enter(outcomes, view, kind, (gold, own), system, document, "")

        @cache
        def is_in_error(item: Item | None, side: int) -> bool:
            return item is not None and not in_errors[side].isdisjoint(item.places())

        def unless(gold: Item | None, own: Item | None) -> bool:
            return is_in_error(gold, 0) or is_in_error(own, 1)

        for record in result.outcomes.get(self.outcomes_of(result.protocol, measure.id), ()):
            if TONES.get(record.outcome) == "right":
                self._add_outcome(outcomes, view, record, system, unless=unless)

    def _add_elements(
        self, outcomes: Outcomes, view: int, listed: Iterable[Mapping[str, Any]], system: CorpusSide
    ) -> None:
        """What measures list in place of outcomes: elements, by their ids."""
        for entry in listed:
            document = self._numbers.get(entry["document"])
            gold, own = (
                None if entry.get(key) is None else side.element(entry[key], document)
                for side, key in ((self._gold, "reference"), (system, "system"))
            )
            note = "; ".join([f"{entry['value']:.4g} of {entry['worth']:.4g}", *entry["lost"]])
            self._enter(outcomes, view, outcome_class(entry["outcome"]), (gold, own), system, document, note)

    def _enter(
        self,
        outcomes: Outcomes,
        view: int,
        kind: OutcomeClass,
        items: tuple[Item | None, Item | None],
        system: CorpusSide,
        document: int | None,
        note: str,
    ) -> None:
        """List an outcome in every document where gold's item is, else where the system's is.

        (Where either is would be all pairs of documents for a large cluster of the system.)
        """
        gold, own = items
        places = (gold and gold.documents) or (own and own.documents) or (() if document is None else (document,))
        kind_number = self._classes.setdefault(kind, len(self._classes))
        for place, number in enumerate(places):
            notes = self._documents[number].notes
            data = OutcomeData(
                kind_number if place == 0 else -1 - kind_number,
                self._gold.reference(gold, number),
                system.reference(own, number),
                notes.setdefault(note, len(notes)),
            )
            outcomes.setdefault(number, {}).setdefault(view, []).append(data)

    def _view(self, view: Selection) -> int:
        return self._views.setdefault(view, len(self._views))

    def index(self, *, view: Selection | None, a: str, b: str | None = None) -> IndexData:
        """What all documents share; `view` and the systems `a` and `b` are shown first."""
        return IndexData(
            [visible(name) for name in self._systems],  # a file's name need not be text
            [
                MeasureData(
                    f"{one.measure}: error classes" if one.by_class else one.measure,
                    one.protocol,
                    self._views.get(Selection(one.protocol, self.outcomes_of(one.protocol, one.measure)), number),
                )
                for one, number in self._views.items()
            ],
            list(self._classes),
            list(self._numbers),
            [list(side.shared) for side in self._shared],
            0 if view is None else self._views.get(view, 0),
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


@cache
def outcome_class(name: str) -> OutcomeClass:
    """A class of outcomes as the page shows it."""
    return OutcomeClass(name, LABELS.get(name, name), TONES.get(name, "other"))


def _raw(records: list[Any]) -> Raw:
    return Raw(msgspec.json.encode(records))


def _ignore(finding: object) -> None:
    """The run has already reported it."""
