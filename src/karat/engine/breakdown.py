"""Breakdowns: the same scores by the values of a field.

If the parts of a measure add up, its outcomes are summed by value. If they do not, because items are right or wrong
together, the row of a value is the score under the same protocol on the corpus restricted to mentions with that value.
For aligned mentions, that is gold's value.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


class _ValueColumns(NamedTuple):
    """The counts of one measure for one value, and the number of the unit that each of them belongs to."""

    row: CountedRow
    units: Sequence[int]
    columns: "list[array[float]]"

    def over(self, place: Mapping[int, int]) -> "Iterator[array[float]]":
        """One number per unit that has a place; zero in units that it does not have."""
        for column in self.columns:
            sums = array("d", bytes(8 * len(place)))
            for unit, number in zip(self.units, column, strict=True):
                sums[place[unit]] += number
            yield sums


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
        self._same_items = {measure.id: own[0][0].id for own in self._restricted.values() for measure, _ in own}
        """For each measure, the first one under its alignment: all of these count the same items."""
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
        parts: dict[tuple[Sequence[Key], Sequence[Key]], dict[Key, Tables]] = {}
        for alignment, measures in self._restricted.items():
            aligned = tables.get(alignment)
            golds, systems = keys = self._keys(tables.pair.gold, aligned)
            self._refuse_many()
            if keys not in parts:  # most alignments split a document in the same way
                parts[keys] = self._divided(tables.pair, golds, systems)
            found, right = {g for g, _, _, _ in aligned.pairs}, {s for _, s, _, _ in aligned.pairs}
            gold_sizes, system_sizes = Counter(golds), Counter(systems)
            missed = Counter([key for g, key in enumerate(golds) if g not in found])
            spurious = Counter([key for s, key in enumerate(systems) if s not in right])
            for key, part in parts[keys].items():
                self._counts_of(key, alignment).add(unit, part)
                items = ItemCounts(gold_sizes[key], system_sizes[key], missed[key], spurious[key])
                self._add_items(key, measures[0][0].id, items)

    def _keys(self, document: Document, aligned: AlignedPairs) -> tuple[tuple[Key, ...], tuple[Key, ...]]:
        """The value of each mention of both sides; an aligned one has gold's."""
        golds = tuple([self._key(mention, document, in_gold=True) for mention in aligned.gold])
        gold_key_of = {s: golds[g] for g, s, _, _ in aligned.pairs}
        systems = [
            gold_key_of[s] if s in gold_key_of else self._key(mention, document, in_gold=False)
            for s, mention in enumerate(aligned.system)
        ]
        return golds, tuple(systems)

    def _divided(self, pair: Pair, golds: Sequence[Key], systems: Sequence[Key]) -> dict[Key, Tables]:
        """The part of a document for each value."""
        gold_parts, system_parts = divided(pair.gold, golds), divided(pair.system, systems)
        no_gold, no_system = (replace(side, mentions=(), links=()) for side in (pair.gold, pair.system))
        parts = {
            key: Pair(gold_parts.get(key, no_gold), system_parts.get(key, no_system))
            for key in dict.fromkeys([*golds, *systems])
        }
        return {key: Tables(self._collapse(part)) for key, part in parts.items()}

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
            by_key.setdefault(key, {}).update(counts.micro_scores())
        for key in sorted(by_key, key=lambda key: self._spellings[key][1]):
            counted = {id_: (key, self._same_items.get(id_, id_)) for id_ in by_key[key]}
            items = {id_: self._items[place] for id_, place in counted.items() if place in self._items}
            yield self._spellings[key][1], by_key[key], items

    def rows(self, units: Sequence[str], whole: ScoreFunction) -> Iterator[tuple[str, UnitRows]]:
        """For each value: the counts of each unit that has it, in the order of `units`, all those of the run.

        `whole` makes the scores of the run; composites are made in the same way.
        """
        number_of = {unit: number for number, unit in enumerate(units)}
        by_key: dict[Key, list[_ValueColumns]] = {}
        for key, rows in self._rows.items():
            for id_, own in rows.items():
                row = CountedRow(id_, own.rows.kind, own.averages, has_macro=False)
                by_key.setdefault(key, []).append(_ValueColumns(row, own.units, own.rows.columns()))
        for (key, _), counts in self._parts.items():
            numbers = [number_of[unit] for unit in counts.units]
            by_key.setdefault(key, []).extend(
                _ValueColumns(row, numbers, columns) for row, columns in counts.micro_columns()
            )
        for key, measures in by_key.items():
            numbers = sorted({number for one in measures for number in one.units})
            place = {number: row for row, number in enumerate(numbers)}
            columns = [column for one in measures for column in one.over(place)]
            finish = whole.over([one.row for one in measures])
            yield self._spellings[key][1], UnitRows([units[number] for number in numbers], columns, finish)


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
