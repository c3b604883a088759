"""Breakdowns: the same scores by the values of a field.

If the parts of a measure add up, its outcomes are summed by value. If they do not, because items are right or wrong
together, the row of a value is the score under the same protocol on the corpus restricted to mentions with that value.
For aligned mentions, that is gold's value.
"""

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import astuple, replace

from karat.counts import Counts, PrecisionRecall, ScoreValues
from karat.filters import collapsing, divided
from karat.model import Document, Mention, Pair
from karat.plugin import (
    AlignedPairs,
    AlignmentSpec,
    ArgumentItem,
    ElementItem,
    Match,
    Measure,
    Outcome,
    RelationItem,
    Tables,
)
from karat.problems import KaratError, Rule, ignore
from karat.protocols import Protocol
from karat.result import ItemCounts, UnitRows
from karat.run.fields import Field, FieldValue, joined
from karat.run.rows import DocumentRow, FieldRow, UnitRow
from karat.run.units import (
    AveragedMeasure,
    MeasureColumns,
    MeasureSet,
    ScoreFunction,
    UnitTable,
    exact_parts,
    finish,
    finished_scores,
)

MOST_VALUES = 6_000
"""Values of an attribute that scores are broken down by: each takes a millisecond, as a corpus of its own would."""
TOO_MANY = Rule(
    "breakdown-too-many", "fatal", "Choose another field, such as --by kind; -f html breaks down by type by default."
)
NO_PARTS = Rule("breakdown-no-parts", "fatal", "Choose an attribute of its items, or other measures with -m/--measure.")


_MentionKeys = tuple[dict[int, FieldValue], dict[int, FieldValue]]
"""The values of mentions of gold and of the system, by their identity."""


class _ValueColumns(NamedTuple):
    """The counts of one measure for one value, and the number of the unit that each of them belongs to."""

    measure: MeasureColumns
    units: Sequence[int]
    columns: "Sequence[Sequence[float]]"

    def over(self, place: Mapping[int, int]) -> "Iterator[array[float]]":
        """One number per unit that has a place; zero in units that it does not have."""
        for column in self.columns:
            sums = array("d", bytes(8 * len(place)))
            for unit, count in zip(self.units, column, strict=True):
                sums[place[unit]] += count
            yield sums


class Breakdown:
    """Scores by one field: the gold item's value, or the system item's where there is no gold."""

    def __init__(self, field: Field, measures: Sequence[AveragedMeasure], protocol: Protocol) -> None:
        self.field, self._protocol = field, protocol
        self._attributes = field.attributes
        self._known: dict[tuple[Any, ...], tuple[FieldValue, tuple[bool, str]]] = {}
        """Values and spellings that were seen before."""
        self._collapse = collapsing(protocol.collapse)
        self._summed = [(measure, averages) for measure, averages in measures if measure.table.alignment is None]
        by_alignment: dict[AlignmentSpec, list[AveragedMeasure]] = {}
        for measure, averages in measures:
            if (alignment := measure.table.alignment) is not None:
                by_alignment.setdefault(alignment, []).append((measure, averages))
        self._restricted = [
            (alignment, MeasureSet(together, (), unit=protocol.unit)) for alignment, together in by_alignment.items()
        ]
        self._same_items = {
            measure.id: together.measures[0][0].id
            for _, together in self._restricted
            for measure, _ in together.measures
        }
        """For each measure, the first one under its alignment: all of these count the same items."""

    def outcomes(self, documents: Sequence[DocumentRow], table_of: Mapping[Any, Any]) -> FieldRow:
        """Sum the outcomes of a unit for each value that occurs; `table_of` are its finished tables."""
        row = FieldRow([], [], {}, {})
        keys: _MentionKeys = {}, {}
        has_gold = any(document.gold for document in documents)
        for measure, averages in self._summed:
            if not has_gold and averages.units != "all":
                continue
            if len(documents) == 1:
                self._add_outcomes(row, measure, documents[0].about, table_of[measure.table], keys)
            elif measure.table.counted == "item":
                index = [*table_of].index(measure.table)
                for document in documents:
                    self._add_outcomes(row, measure, document.about, document.tables[index], keys)
            else:
                self._add_outcomes(row, measure, None, table_of[measure.table], keys)
        return row

    def _add_outcomes(
        self, row: FieldRow, measure: Measure[Any, Any], document: Document | None, table: Any, keys: "_MentionKeys"
    ) -> None:
        if document is None and not self.field.is_of_items:
            message = f"{measure.id} cannot be broken down by {self.field.name}: its items are in several documents"
            raise NO_PARTS.error(message)
        by_key: dict[FieldValue, list[Outcome[Any]]] = {}
        of_golds, of_systems = keys
        for outcome in measure.divided(table):
            if (item := outcome.gold) is not None:
                known, in_gold = of_golds, True
            else:
                item, known, in_gold = outcome.system, of_systems, False
            if id(item) in known:
                key = known[id(item)]
            else:
                assert isinstance(item, Mention | ElementItem | RelationItem | ArgumentItem), (
                    "a table of other items declares its alignment"
                )
                key = self._key(row, item, document, in_gold=in_gold)
                if isinstance(item, Mention):  # other items may be made for this outcome only
                    known[id(item)] = key
            by_key.setdefault(key, []).append(outcome)
        id_ = measure.id
        for key, outcomes in by_key.items():
            columns = zip(*[astuple(outcome.counts) for outcome in outcomes], strict=True)
            row.counts.append((key, id_, array("d", map(math.fsum, columns))))
            items, place = _items(outcomes), (key, id_)
            row.items[place] = row.items[place] + items if place in row.items else items

    def parts(self, unit: str, tables: Tables) -> FieldRow:
        """Split a document into one per value, and make a row of each, as the protocol does of the whole document."""
        row = FieldRow([], [], {}, {})
        divisions: dict[tuple[Sequence[FieldValue], Sequence[FieldValue]], dict[FieldValue, Tables]] = {}
        for index, (alignment, measures) in enumerate(self._restricted):
            aligned = tables.get(alignment)
            golds, systems = keys = self._keys(row, tables.pair.gold, aligned)
            if keys not in divisions:  # most alignments split a document in the same way
                divisions[keys] = self._divided(tables.pair, golds, systems)
            if alignment.is_divisible and self._protocol.collapse is None:
                _put_pairs(alignment, divisions[keys], aligned, *keys)
            id_ = measures.measures[0][0].id
            for key, part in divisions[keys].items():
                row.parts.append((key, index, measures.document_row(unit, part)))
                row.items[key, id_] = _mentions(part.get(alignment))
        return row

    def _keys(
        self, row: FieldRow, document: Document, aligned: AlignedPairs
    ) -> tuple[tuple[FieldValue, ...], tuple[FieldValue, ...]]:
        """Return the value of each mention of both sides; an aligned one has gold's."""
        golds = tuple([self._key(row, mention, document, in_gold=True) for mention in aligned.gold])
        gold_key_of = {s: golds[g] for g, s, _, _ in aligned.pairs}
        systems = [
            gold_key_of[s] if s in gold_key_of else self._key(row, mention, document, in_gold=False)
            for s, mention in enumerate(aligned.system)
        ]
        return golds, tuple(systems)

    def _divided(
        self, pair: Pair, golds: Sequence[FieldValue], systems: Sequence[FieldValue]
    ) -> dict[FieldValue, Tables]:
        """Return the part of a document for each value."""
        gold_parts, system_parts = divided(pair.gold, golds), divided(pair.system, systems)
        no_gold, no_system = (replace(side, mentions=(), links=()) for side in (pair.gold, pair.system))
        parts = {
            key: Pair(gold_parts.get(key, no_gold), system_parts.get(key, no_system))
            for key in dict.fromkeys([*golds, *systems])
        }
        return {key: Tables(self._collapse(part)) for key, part in parts.items()}

    def _key(
        self,
        row: FieldRow,
        item: Mention | ElementItem | RelationItem | ArgumentItem,
        document: Document | None,
        *,
        in_gold: bool,
    ) -> FieldValue:
        """Return the value of an item. Values that the protocol considers equal share one row, spelt as in gold."""
        attributes = item.attributes
        raw = item.kind, in_gold, *map(attributes.get, self._attributes)
        known = self._known.get(raw)
        if known is None:
            values = self.field.values(item.kind, attributes, document)
            known = self.field.key(values, self._protocol.comparison), (not in_gold, joined(values))
            if self.field.is_of_items and all(isinstance(value, str | None) for value in raw[2:]):  # 1 == True == 1.0
                self._known[raw] = known
        key, spelling = known
        first = row.spellings.get(key)
        if first is not spelling and (first is None or spelling < first):
            row.spellings[key] = spelling
        return key

    def folded(self, rows: Iterable[FieldRow]) -> FieldRow:
        """Add the rows of documents that are units into one: the sums of numbers stay exact."""
        summed: dict[tuple[FieldValue, str], list[Sequence[float]]] = {}
        restricted: dict[tuple[FieldValue, int, bool], list[Sequence[float]]] = {}
        for row in rows:
            for key, measure, counts in row.counts:
                summed.setdefault((key, measure), []).append(counts)
            for key, index, part in row.parts:
                restricted.setdefault((key, index, part.gold > 0), []).append(part.counts)
        sums_of = [(key, measure, sums) for (key, measure), numbers in summed.items() for sums in _exact_sums(numbers)]
        parts = [
            (key, index, DocumentRow("", int(has_gold), 0, sums))
            for (key, index, has_gold), numbers in restricted.items()
            for sums in _exact_sums(numbers)
        ]
        return FieldRow(sums_of, parts, *_joined(rows))

    def finish(self, parts: Sequence[FieldRow], units: Sequence[FieldRow]) -> "BrokenDown":
        """Join the rows of all documents (`parts`) and units."""
        items, spellings = _joined([*parts, *units])
        # Documents and their topics may be any number, but an attribute with that many values does not classify items.
        if self.field.is_of_items and len(spellings) > MOST_VALUES:
            message = (
                f"{self.field.name} has more than {MOST_VALUES:,} values, which are too many to break scores down by"
            )
            raise KaratError(TOO_MANY.at(message, origin="gold"))
        summed: dict[FieldValue, dict[str, list[tuple[int, array[float]]]]] = {}
        for unit, row in enumerate(units):
            for key, measure, sums in row.counts:
                summed.setdefault(key, {}).setdefault(measure, []).append((unit, sums))
        restricted: dict[tuple[FieldValue, int], list[DocumentRow]] = {}
        for row in parts:
            for key, index, part in row.parts:
                restricted.setdefault((key, index), []).append(part)
        tables = {}
        for (key, index), rows in restricted.items():
            measures = self._restricted[index][1]
            tables[key, index], kept = _finished(measures, rows)
            if kept is not None:
                items[key, measures.measures[0][0].id] = kept
        counted = {
            measure.id: MeasureColumns(measure.id, measure.counts_type(), averages, has_macro=False)
            for measure, averages in self._summed
        }
        return BrokenDown(counted, self._same_items, summed, tables, items, spellings)


def _joined(
    rows: Iterable[FieldRow],
) -> tuple[dict[tuple[FieldValue, str], ItemCounts], dict[FieldValue, tuple[bool, str]]]:
    """Add up the items of some rows, and choose the spelling of each value."""
    spellings: dict[FieldValue, tuple[bool, str]] = {}
    items: dict[tuple[FieldValue, str], ItemCounts] = {}
    for row in rows:
        for key, spelling in row.spellings.items():
            spellings[key] = min(spelling, spellings.get(key, spelling))
        for place, counts in row.items.items():
            items[place] = items.get(place, ItemCounts()) + counts
    return items, spellings


def _exact_sums(rows: Sequence[Sequence[float]]) -> "Iterator[array[float]]":
    """Yield rows, usually one, with the same exact sums as these."""
    parts = [exact_parts(column) for column in zip(*rows, strict=True)]
    for index in range(max(1, *map(len, parts))):
        yield array("d", [part[index] if index < len(part) else 0.0 for part in parts])


def _finished(
    measures: MeasureSet, rows: Sequence[DocumentRow]
) -> tuple[tuple[Sequence[UnitRow], UnitTable], ItemCounts | None]:
    """Return the units with their counts, and, if items were dropped, the number of those that are left."""
    kept: list[ItemCounts] = []

    def unit_row(unit: str, documents: Sequence[DocumentRow], tables: Sequence[Any]) -> UnitRow:
        items = measures.specs[0].kept_items(tables[0])
        if items is not None:
            golds, systems, matched = items
            kept.append(ItemCounts(golds, systems, golds - matched, systems - matched))
        return measures.unit_row(unit, documents, tables)

    units = finish(measures, rows, ignore, unit_row)
    return (units, UnitTable(measures, units)), sum(kept, ItemCounts()) if kept else None


class BrokenDown(NamedTuple):
    """The finished counts of a breakdown, by value."""

    summed_rows: Mapping[str, MeasureColumns]
    same_items: Mapping[str, str]
    summed: "Mapping[FieldValue, Mapping[str, Sequence[tuple[int, array[float]]]]]"
    """By value and measure: the number of a unit, and its counts."""
    restricted: Mapping[tuple[FieldValue, int], tuple[Sequence[UnitRow], UnitTable]]
    items: Mapping[tuple[FieldValue, str], ItemCounts]
    spellings: Mapping[FieldValue, tuple[bool, str]]

    def scores(self) -> Iterator[tuple[str, dict[str, ScoreValues], dict[str, ItemCounts]]]:
        """Yield scores and items by measure for each value, in the order of its spelling."""
        by_key: dict[FieldValue, dict[str, ScoreValues]] = {}
        for key, by_measure in self.summed.items():
            for id_, rows in by_measure.items():
                kind, averages = self.summed_rows[id_].kind, self.summed_rows[id_].averages
                total: Counts = kind.summed(counts for _, counts in rows)
                by_key.setdefault(key, {})[id_] = finished_scores(total, averages)
        for (key, _), (_, table) in self.restricted.items():
            by_key.setdefault(key, {}).update(table.micro_scores())
        for key in sorted(by_key, key=lambda key: self.spellings[key][1]):
            counted = {id_: (key, self.same_items.get(id_, id_)) for id_ in by_key[key]}
            items = {id_: self.items[place] for id_, place in counted.items() if place in self.items}
            yield self.spellings[key][1], by_key[key], items

    def rows(self, units: Sequence[str], whole: ScoreFunction) -> Iterator[tuple[str, UnitRows]]:
        """Yield, for each value, the counts of each unit that has it, in the order of `units`, all those of the run.

        `whole` makes the scores of the run; composites are made in the same way.
        """
        index_of = {unit: index for index, unit in enumerate(units)}
        by_key: dict[FieldValue, list[_ValueColumns]] = {}
        for key, by_measure in self.summed.items():
            for id_, rows in by_measure.items():
                summed = [*zip(*(counts for _, counts in rows), strict=True)]
                value_columns = _ValueColumns(self.summed_rows[id_], [unit for unit, _ in rows], summed)
                by_key.setdefault(key, []).append(value_columns)
        for (key, _), (own_units, table) in self.restricted.items():
            indexes = [index_of[row.unit] for row in own_units]
            by_key.setdefault(key, []).extend(
                _ValueColumns(measure, indexes, columns) for measure, columns in table.micro_columns()
            )
        for key, of_measures in by_key.items():
            indexes = sorted({index for of_measure in of_measures for index in of_measure.units})
            place = {index: row for row, index in enumerate(indexes)}
            columns = [column for of_measure in of_measures for column in of_measure.over(place)]
            finish_value = whole.over([of_measure.measure for of_measure in of_measures])
            yield self.spellings[key][1], UnitRows([units[index] for index in indexes], columns, finish_value)


def _put_pairs(
    alignment: AlignmentSpec,
    parts: Mapping[FieldValue, Tables],
    aligned: AlignedPairs,
    golds: Sequence[FieldValue],
    systems: Sequence[FieldValue],
) -> None:
    """Give each part of a document its aligned pairs, in the order of the whole document's."""
    gold_index, system_index = _indexes(golds), _indexes(systems)
    pairs: dict[FieldValue, list[Match]] = {key: [] for key in parts}
    for g, s, similarity, bits in aligned.pairs:
        pairs[golds[g]].append((gold_index[g], system_index[s], similarity, bits))
    for key, part in parts.items():
        part.put(alignment, AlignedPairs(part.pair.gold.mentions, part.pair.system.mentions, pairs[key]))


def _indexes(keys: Sequence[FieldValue]) -> list[int]:
    """The index of each mention in its part."""
    counted: dict[FieldValue, int] = {}
    indexes = []
    for key in keys:
        indexes.append(counted.get(key, 0))
        counted[key] = indexes[-1] + 1
    return indexes


def _mentions(aligned: AlignedPairs) -> ItemCounts:
    """Count the mentions of a restricted document."""
    golds, systems = len(aligned.gold), len(aligned.system)
    missed = golds - len({g for g, _, _, _ in aligned.pairs})
    return ItemCounts(golds, systems, missed, systems - len({s for _, s, _, _ in aligned.pairs}))


def _items(outcomes: Iterable[Outcome[Any]]) -> ItemCounts:
    """Count items, and those that earn nothing. An item of two strings is two where the denominator counts strings."""
    golds: dict[int, tuple[float, float]] = {}
    systems: dict[int, tuple[float, float]] = {}
    for outcome in outcomes:
        gold, system, counts = outcome.gold, outcome.system, outcome.counts
        if isinstance(counts, PrecisionRecall):
            if gold is not None:
                golds[id(gold)] = _share(golds.get(id(gold)), (counts.recall_num, counts.recall_den))
            if system is not None:
                systems[id(system)] = _share(systems.get(id(system)), (counts.precision_num, counts.precision_den))
        elif gold is not None and system is not None:  # a pair earns other scores, and a gold mention may be in several
            golds[id(gold)] = systems[id(system)] = (1, 1)
        elif gold is not None:
            golds[id(gold)] = (0, 1)
        else:
            systems[id(system)] = (0, 1)
    (gold_items, missed), (system_items, spurious) = _sizes(golds.values()), _sizes(systems.values())
    return ItemCounts(gold_items, system_items, missed, spurious)


def _share(earlier: tuple[float, float] | None, share: tuple[float, float]) -> tuple[float, float]:
    """Add the share of an outcome in a ratio to that of earlier outcomes of the same item."""
    return share if earlier is None else (earlier[0] + share[0], earlier[1] + share[1])


def _sizes(shares: Iterable[tuple[float, float]]) -> tuple[int, int]:
    """Return how much the items count, and how much of that earns nothing."""
    total = nothing = 0
    for earned, counted in shares:
        size = math.ceil(counted)
        total += size
        if earned < size:
            nothing += size - math.ceil(earned)
    return total, nothing
