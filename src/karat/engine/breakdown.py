"""Breakdowns: the same scores by the values of a field.

If the parts of a measure add up, its outcomes are summed by value. If they do not, because items are right or wrong
together, the row of a value is the score under the same protocol on the corpus restricted to mentions with that value.
For aligned mentions, that is gold's value.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import astuple, replace

from karat.counts import Counts, Rows, ScoreValues
from karat.engine.score_function import CountedRow, ScoreFunction, finished_scores
from karat.engine.unit_counts import UnitCounts, UnitDocument, UnitsPart
from karat.errors import Finding, KaratError, Rule, nearest
from karat.filters import collapsing, divided
from karat.model import Document, Mention, Pair, Value
from karat.plugin import AlignedPairs, AlignmentSpec, ArgumentItem, Averages, ElementItem, Measure, Outcome, Tables
from karat.protocols import Protocol
from karat.results import ItemCounts, UnitRows

NO_FIELD = Rule(
    "field-absent",
    "fatal",
    "--by takes an attribute of mentions, or kind, document, topic, subtopic, source, language.",
)
DOCUMENT_FIELDS: dict[str, Callable[[Document], str | None]] = {
    "document": lambda document: document.id,
    "topic": lambda document: document.topic,
    "subtopic": lambda document: document.subtopic,
    "source": lambda document: document.source,
    "language": lambda document: document.language,
}
ABSENT = "(none)"
MOST_VALUES = 6_000
"""Values of an attribute that scores are broken down by: each takes a millisecond, as a corpus of its own would."""
TOO_MANY = Rule(
    "breakdown-too-many", "fatal", "Choose another field, such as --by kind; a page (-f html) takes type by default."
)
NO_PARTS = Rule("breakdown-no-parts", "fatal", "Choose an attribute of its items, or other measures with -m/--measure.")

Key = Value | None
AveragedMeasure = tuple[Measure[Any, Any], Averages]


class _SummedRows(NamedTuple):
    """The counts of one measure for one value: one row per document or unit, and the number of each row's unit."""

    rows: Rows
    averages: Averages
    units: "array[int]"


class BreakdownPart(NamedTuple):
    """What a breakdown has of some documents, as it is sent to the process that adds it up."""

    rows: dict[Key, dict[str, _SummedRows]]
    units: int
    parts: list[tuple[Key, int, UnitsPart]]
    """By value, and by the number of the alignment."""
    items: dict[tuple[Key, str], ItemCounts]
    spellings: dict[Key, tuple[bool, str]]


class Breakdown:
    """Scores by one field: the gold item's value, or the system item's where there is no gold."""

    def __init__(
        self, field: str, attributes: Sequence[str], measures: Sequence[AveragedMeasure], protocol: Protocol
    ) -> None:
        fields = [*attributes, "kind", *DOCUMENT_FIELDS]
        if field not in fields:
            raise NO_FIELD.error(f"there is no field {field!r} in these corpora. {nearest(field, fields)}")
        self.field = field
        self._is_attribute = field in attributes
        self._protocol = protocol
        self._collapse = collapsing(protocol.collapse)
        self._summed = [(measure, averages) for measure, averages in measures if measure.table.alignment is None]
        self._restricted: dict[AlignmentSpec, list[AveragedMeasure]] = {}
        for measure, averages in measures:
            if (alignment := measure.table.alignment) is not None:
                self._restricted.setdefault(alignment, []).append((measure, averages))
        self._rows: dict[Key, dict[str, _SummedRows]] = {}
        self._units = 0
        self._parts: dict[tuple[Key, AlignmentSpec], UnitCounts] = {}
        self._items: dict[tuple[Key, str], ItemCounts] = {}
        self._spellings: dict[Key, tuple[bool, str]] = {}

    def add_outcomes(self, documents: Sequence[UnitDocument]) -> None:
        """Sum the outcomes of a unit for each value that occurs."""
        self._units += 1
        has_gold = any(document.gold for document in documents)
        for measure, averages in self._summed:
            if has_gold or averages.units == "all":
                for document, table in tables_of_unit(measure, documents):
                    self._add_outcomes(measure, averages, document, table)
        self._refuse_many()

    def _refuse_many(self) -> None:
        """Documents and their topics may be any number, but an attribute with so many values is no class of items."""
        if self._is_attribute and len(self._spellings) > MOST_VALUES:
            found = f"{self.field} has more than {MOST_VALUES:,} values, which are too many to break scores down by"
            raise KaratError(TOO_MANY.at(found, origin="gold"))

    def _add_outcomes(
        self, measure: Measure[Any, Any], averages: Averages, document: Document | None, table: Any
    ) -> None:
        if document is None and not self._is_attribute and self.field != "kind":
            message = f"{measure.id} cannot be broken down by {self.field}: its items are in several documents"
            raise NO_PARTS.error(message)
        by_key: dict[Key, list[Outcome[Any]]] = {}
        for outcome in measure.outcomes(table):
            item = outcome.gold if outcome.gold is not None else outcome.system
            assert isinstance(item, Mention | ElementItem | ArgumentItem), (
                "a table of other items declares its alignment"
            )
            key = self._key(item, document, in_gold=outcome.gold is not None)
            by_key.setdefault(key, []).append(outcome)
        for key, outcomes in by_key.items():
            rows, _, units = self._rows_of(key, measure.id, measure.counts_type(), averages)
            rows.append(rows.kind.summed(astuple(outcome.counts) for outcome in outcomes))
            units.append(self._units - 1)
            self._add_items(key, measure.id, _items(outcomes))

    def part(self) -> BreakdownPart:
        """What was added, to be sent to another process."""
        alignments = list(self._restricted)
        parts = [(key, alignments.index(alignment), counts.part()) for (key, alignment), counts in self._parts.items()]
        return BreakdownPart(self._rows, self._units, parts, self._items, self._spellings)

    def merge(self, part: BreakdownPart) -> None:
        """Add documents that come after those so far."""
        for key, by_measure in part.rows.items():
            for id_, later in by_measure.items():
                own = self._rows_of(key, id_, later.rows.kind, later.averages)
                own.rows.extend(later.rows)
                own.units.extend([self._units + number for number in later.units])
        self._units += part.units
        alignments = list(self._restricted)
        for key, number, counts in part.parts:
            self._counts_of(key, alignments[number]).merge(counts)
        for (key, measure), items in part.items.items():
            self._add_items(key, measure, items)
        for key, spelling in part.spellings.items():
            self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        self._refuse_many()

    def _rows_of(self, key: Key, measure: str, kind: type[Counts], averages: Averages) -> _SummedRows:
        by_measure = self._rows.setdefault(key, {})
        if measure not in by_measure:
            by_measure[measure] = _SummedRows(Rows(kind), averages, array("q"))
        return by_measure[measure]

    def _counts_of(self, key: Key, alignment: AlignmentSpec) -> UnitCounts:
        if (key, alignment) not in self._parts:
            measures = self._restricted[alignment]
            self._parts[key, alignment] = UnitCounts(measures, unit=self._protocol.unit, report=_ignore)
        return self._parts[key, alignment]

    def _add_items(self, key: Key, measure: str, items: ItemCounts) -> None:
        self._items[key, measure] = self._items.get((key, measure), ItemCounts()) + items

    def add_parts(self, unit: str, tables: Tables) -> None:
        """Split a document into one per value, and count each as the protocol counts the whole document."""
        for alignment, measures in self._restricted.items():
            parts = list(self._divided(tables, tables.get(alignment)))
            self._refuse_many()
            for key, pair, items in parts:
                self._counts_of(key, alignment).add(unit, Tables(self._collapse(pair)))
                for measure, _ in measures:
                    self._add_items(key, measure.id, items)

    def _divided(self, tables: Tables, aligned: AlignedPairs) -> Iterator[tuple[Key, Pair, ItemCounts]]:
        document = tables.pair.gold
        golds = [self._key(mention, document, in_gold=True) for mention in aligned.gold]
        gold_key_of = {s: golds[g] for g, s, _, _ in aligned.pairs}
        systems = [
            gold_key_of[s] if s in gold_key_of else self._key(mention, document, in_gold=False)
            for s, mention in enumerate(aligned.system)
        ]
        found = {g for g, _, _, _ in aligned.pairs}
        gold_sizes, system_sizes = Counter(golds), Counter(systems)
        missed = Counter(key for g, key in enumerate(golds) if g not in found)
        spurious = Counter(key for s, key in enumerate(systems) if s not in gold_key_of)
        gold_parts, system_parts = divided(tables.pair.gold, golds), divided(tables.pair.system, systems)
        no_gold, no_system = (replace(side, mentions=(), links=()) for side in (tables.pair.gold, tables.pair.system))
        for key in dict.fromkeys([*golds, *systems]):
            pair = Pair(gold_parts.get(key, no_gold), system_parts.get(key, no_system))
            yield key, pair, ItemCounts(gold_sizes[key], system_sizes[key], missed[key], spurious[key])

    def _key(self, item: Mention | ElementItem | ArgumentItem, document: Document | None, *, in_gold: bool) -> Key:
        """Values that the protocol considers equal share one row, spelt as in gold."""
        value = self._value(item, document)
        key = self._protocol.comparison.key(str(value)) if self._is_attribute and value is not None else value
        spelling = (not in_gold, ABSENT if value is None else str(value))
        self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        return key

    def _value(self, item: Mention | ElementItem | ArgumentItem, document: Document | None) -> Key:
        if self._is_attribute:
            return item.attributes.get(self.field)
        if self.field == "kind":
            return item.kind
        assert document is not None, "a field of documents needs one"
        return DOCUMENT_FIELDS[self.field](document)

    def scores(self) -> Iterator[tuple[str, dict[str, ScoreValues], dict[str, ItemCounts]]]:
        """For each value, in the order of its spelling: scores and items by measure."""
        by_key: dict[Key, dict[str, ScoreValues]] = {}
        for key, rows in self._rows.items():
            sums = {id_: finished_scores(own.total(), averages) for id_, (own, averages, _) in rows.items()}
            by_key.setdefault(key, {}).update(sums)
        for (key, _), counts in self._parts.items():
            counts.close(_ignore)
            by_key.setdefault(key, {}).update({id_: score.micro for id_, score in counts.scores().items()})
        for key in sorted(by_key, key=lambda key: self._spellings[key][1]):
            items = {id_: self._items[key, id_] for id_ in by_key[key] if (key, id_) in self._items}
            yield self._spellings[key][1], by_key[key], items

    def rows(self, units: Sequence[str], whole: ScoreFunction) -> Iterator[tuple[str, UnitRows]]:
        """For each value: the counts of each of these units, all units of the run in its order.

        `whole` makes the scores of the run; composites are made in the same way.
        """
        by_key: dict[Key, list[tuple[CountedRow, list[array[float]]]]] = {}
        for key, rows in self._rows.items():
            for id_, own in rows.items():
                columns = [array("d", bytes(8 * len(units))) for _ in range(own.rows.width)]
                for unit, numbers in zip(own.units, own.rows, strict=True):
                    for column, number in zip(columns, numbers, strict=True):
                        column[unit] += number
                row = CountedRow(id_, own.rows.kind, own.averages, has_macro=False)
                by_key.setdefault(key, []).append((row, columns))
        for (key, _), counts in self._parts.items():
            by_key.setdefault(key, []).extend(counts.micro_columns(units))
        for key, measures in by_key.items():
            finish = whole.over([row for row, _ in measures])
            yield self._spellings[key][1], UnitRows(units, [one for _, own in measures for one in own], finish)


def tables_of_unit(
    measure: Measure[Any, Any], documents: Sequence[UnitDocument]
) -> Iterator[tuple[Document | None, Any]]:
    """The tables whose outcomes add up to a unit's: one per document, or one for all documents together (None)."""
    made = [document.get(measure.table) for document in documents]
    if len(made) > 1 and measure.table.counted != "item":
        yield None, measure.table.add(made)
    else:
        yield from zip((document.about for document in documents), made, strict=True)


def _items(outcomes: Iterable[Outcome[Any]]) -> ItemCounts:
    """How many items there are. An item with several outcomes counts once."""
    listed = list(outcomes)
    return ItemCounts(
        len({id(outcome.gold) for outcome in listed if outcome.gold is not None}),
        len({id(outcome.system) for outcome in listed if outcome.system is not None}),
        sum(outcome.system is None for outcome in listed),
        sum(outcome.gold is None for outcome in listed),
    )


def _ignore(finding: Finding) -> None:
    """The run over the whole corpus has already reported it."""
