"""Gathers the documents of a report: mentions and links as corpora have them, outcomes as results list them."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from karat.comparison.systems import Run
from karat.corpus.interface import Corpus
from karat.model import Document
from karat.problems import KaratError, ignore, visible
from karat.records import MeasureErrors, OutcomeRecord
from karat.report.html.sides import (
    CorpusSide,
    DocumentData,
    DocumentSide,
    IndexData,
    Item,
    MeasureData,
    OutcomeClass,
    OutcomeData,
    Place,
    ShownText,
)
from karat.report.html.timeline import GoldTimeline, system_timeline
from karat.report.listing import earned
from karat.result import Result, family

TONES: Mapping[str, str] = {
    **dict.fromkeys(("match", "correct"), "right"),
    **dict.fromkeys(("miss", "missing", "missed", "missed event", "missed template"), "missed"),
    **dict.fromkeys(("spurious", "false_alarm", "spurious event", "spurious template"), "spurious"),
    "incorrect": "wrong",
}
NO_TIMELINE = Raw(b"null")
LABELS: Mapping[str, str] = {"miss": "missed", "false_alarm": "false alarm"}


class Selection(NamedTuple):
    """A choice of marks over the text: the outcomes of a measure, or its errors by class."""

    protocol: str
    measure: str
    by_class: bool = False


Outcomes = dict[int, dict[int, list[OutcomeData]]]
"""Outcomes of one system, by the numbers of documents and views."""


class _Side(NamedTuple):
    """The side of one system in one document, as JSON: with many systems, records would need much memory."""

    mentions: Raw = Raw(b"[]")
    items: Raw = Raw(b"[]")
    links: Sequence[tuple[str, str, str]] = ()
    timeline: Raw = NO_TIMELINE
    outcomes: Raw = Raw(b"[]")


class _Document(NamedTuple):
    """A document, with the side of each system that has it."""

    unit: str
    shown: ShownText
    sides: dict[str, _Side]
    notes: dict[str, int]
    gold: GoldTimeline | None
    timeline: Raw


class Gathered:
    """The documents of gold, with the outcomes of one system after another."""

    def __init__(self, gold: Corpus) -> None:
        self._corpus = gold
        self._numbers: dict[str, int] = {}
        self._documents: list[_Document] = []
        self._gold = CorpusSide()
        self._shared: list[CorpusSide] = [self._gold]
        self._systems: list[str] = []
        self._views: dict[Selection, int] = {}
        self._classes: dict[OutcomeClass, int] = {}
        self._numbered: dict[str, int] = {}
        """The number of the class of each kind of outcome."""
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
        """Number of outcomes of a measure, by class."""
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
            self._documents[number].sides[name] = _Side(
                _raw(document_side.mentions),
                _raw(list(document_side.items)),
                document_side.links,
                _raw(system.timelines[number]),
                _raw([by_measure.get(view, []) for view in range(len(self._views))]),
            )
        self._systems.append(name)
        system.documents.clear()
        system.timelines.clear()
        for side in (self._gold, system):
            side.forget_records()
        self._shared.append(system)

    def sort(self, names: Sequence[str]) -> None:
        """Put the systems in this order."""
        shared = dict(zip(self._systems, self._shared[1:], strict=True))
        self._systems = list(names)
        self._shared = [self._gold, *(shared[name] for name in names)]

    def _read(self, corpus: Corpus) -> CorpusSide:
        """The side of a system, with every document that it or gold has."""
        side = CorpusSide()
        golds, systems = self._corpus.ids(), corpus.ids()
        for id_ in [*sorted(golds), *sorted(systems - golds)]:
            found = corpus.read(id_, ignore) if id_ in systems else None
            number = self._numbers.get(id_)
            if number is None:
                gold = self._corpus.read(id_, ignore) if id_ in golds else None
                present = [document for document in (gold, found) if document is not None]
                number = self._numbers[id_] = len(self._numbers)
                times, drawn = GoldTimeline.of(gold or Document(id_))
                shown = ShownText(present)
                self._documents.append(_Document(present[0].unit, shown, {}, {"": 0}, times, _raw(drawn)))
                self._gold.documents[number] = DocumentSide(gold or Document(id_), self._documents[number].shown)
            side.documents[number] = DocumentSide(found or Document(id_), self._documents[number].shown)
            side.timelines[number] = system_timeline(found or Document(id_), self._documents[number].gold)
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
        numbers = self._numbers
        document = None if record.document is None else numbers[record.document]
        gold = None if record.gold is None else self._gold.item(record.gold, document, numbers)
        found = None if record.system is None else system.item(record.system, document, numbers)
        if unless is not None and unless(gold, found):
            return
        one = gold or found
        is_mention = one is not None and one.form == "mention"
        is_pair = gold is not None and found is not None
        note = earned(record.counts, full=not is_mention) if is_pair or not is_mention else ""
        self._enter(outcomes, view, self._class(record.outcome), gold, found, system, document, note)

    def _class(self, outcome: str) -> int:
        """Return the number of the class of an outcome."""
        number = self._numbered.get(outcome)
        if number is None:
            made = OutcomeClass(outcome, LABELS.get(outcome, outcome), TONES.get(outcome, "other"))
            number = self._numbered[outcome] = self._classes.setdefault(made, len(self._classes))
        return number

    def _add_errors(self, outcomes: Outcomes, result: Result, measure: MeasureErrors, system: CorpusSide) -> None:
        """Add errors by class, and what is right and no part of an error."""
        view = self._view(Selection(result.protocol, measure.id, by_class=True))
        in_errors: tuple[set[Place], set[Place]] = set(), set()
        for error_class in measure.classes:
            name = error_class.name
            made = OutcomeClass(name, name, TONES.get(name, "wrong"), error_class.explanation)
            kind = self._classes.setdefault(made, len(self._classes)) if error_class.instances else -1
            for instance in error_class.instances:
                document = None if instance.document is None else self._numbers[instance.document]
                gold = self._gold.items(instance.gold, document, self._numbers)
                found = system.items(instance.system, document, self._numbers)
                for places, item in zip(in_errors, (gold, found), strict=True):
                    places.update(() if item is None else item.places())
                self._enter(outcomes, view, kind, gold, found, system, document, "")

        @cache
        def is_in_error(item: Item | None, side: int) -> bool:
            return item is not None and not in_errors[side].isdisjoint(item.places())

        def unless(gold: Item | None, found: Item | None) -> bool:
            return is_in_error(gold, 0) or is_in_error(found, 1)

        for record in result.outcomes.get(self.outcomes_of(result.protocol, measure.id), ()):
            if TONES.get(record.outcome) == "right":
                self._add_outcome(outcomes, view, record, system, unless=unless)

    def _add_elements(
        self, outcomes: Outcomes, view: int, listed: Iterable[Mapping[str, Any]], system: CorpusSide
    ) -> None:
        """Add elements, which measures list in place of outcomes, by their ids."""
        for entry in listed:
            document = self._numbers.get(entry["document"])
            gold, found = (
                None if entry.get(key) is None else side.element(entry[key], document)
                for side, key in ((self._gold, "reference"), (system, "system"))
            )
            note = "; ".join([f"{entry['value']:.4g} of {entry['worth']:.4g}", *entry["lost"]])
            self._enter(outcomes, view, self._class(entry["outcome"]), gold, found, system, document, note)

    def _enter(
        self,
        outcomes: Outcomes,
        view: int,
        kind: int,
        gold: Item | None,
        found: Item | None,
        system: CorpusSide,
        document: int | None,
        note: str,
    ) -> None:
        """List an outcome in every document where gold's item is, else where the system's is.

        (Where either is would be all pairs of documents for a large cluster of the system.)
        """
        places = (gold and gold.documents) or (found and found.documents)
        for number in places or (() if document is None else (document,)):
            notes = self._documents[number].notes
            data = OutcomeData(
                kind,
                None if gold is None else self._gold.reference(gold, number),
                None if found is None else system.reference(found, number),
                notes.setdefault(note, len(notes)),
            )
            outcomes.setdefault(number, {}).setdefault(view, []).append(data)
            kind = kind if kind < 0 else -1 - kind  # the first document lists it, others list it again

    def _view(self, view: Selection) -> int:
        return self._views.setdefault(view, len(self._views))

    def index(self, *, view: Selection | None, a: str, b: str | None = None) -> IndexData:
        """The index of all documents; `view` and the systems `a` and `b` are shown first."""
        return IndexData(
            [visible(name) for name in self._systems],  # a file's name need not be text
            [
                MeasureData(
                    f"{selection.measure}: error classes" if selection.by_class else selection.measure,
                    selection.protocol,
                    self._views.get(
                        Selection(selection.protocol, self.outcomes_of(selection.protocol, selection.measure)), number
                    ),
                )
                for selection, number in self._views.items()
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
        for number, document in enumerate(self._documents):
            gold = self._gold.documents[number]
            sides = [document.sides.get(name, _Side()) for name in self._systems]
            timelines = [document.timeline, *(side.timeline for side in sides)]
            yield DocumentData(
                document.unit,
                document.shown.text,
                [_raw(gold.mentions), *(side.mentions for side in sides)],
                [_raw(list(gold.items)), *(side.items for side in sides)],
                [gold.links, *(side.links for side in sides)],
                [side.outcomes for side in sides],
                list(document.notes),
                timelines if any(timeline != NO_TIMELINE for timeline in timelines) else [],
            )


def _raw(records: Any) -> Raw:
    return Raw(msgspec.json.encode(records))


class GatheredRuns:
    """The documents of all runs, and the results of each run by its name, without outcomes."""

    def __init__(self, gold: Corpus, runs: Sequence[Run]) -> None:
        self.documents = Gathered(gold)
        self.results: dict[str, list[Result]] = {}
        self._runs = Counter(run.system for run in runs)
        self._seen: Counter[str] = Counter()

    def add(self, run: Run, results: list[Result]) -> list[Result]:
        """Gather a run, whose results have outcomes and errors; return what the comparison needs of them."""
        self._seen[run.system] += 1
        number = f" (run {self._seen[run.system]})" if self._runs[run.system] > 1 else ""
        name = f"{run.system}{number}"
        assert not isinstance(run.corpus, KaratError), "a run that was scored was read"
        self.documents.add(name, run.corpus, results)
        self.results[name] = [replace(result, outcomes={}, details={}) for result in results]
        return [replace(result, errors=None) for result in self.results[name]]

    def sort(self, systems: Sequence[str]) -> None:
        """Put the runs in the order of their systems."""
        place = {name: number for number, name in enumerate(systems)}
        order = sorted(self.results, key=lambda name: place[name if name in place else name.rpartition(" (run ")[0]])
        self.results = {name: self.results[name] for name in order}
        self.documents.sort(order)
