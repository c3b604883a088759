"""Breakdowns: the same scores by the values of a field.

Where the parts of a measure add up, its outcomes are summed by value. Where they do not, since items are right or wrong
together, the row of a value is the same protocol on the corpus restricted to the mentions with that value: gold's where
two mentions are aligned.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import astuple

from karat.counts import Rows, ScoreValues
from karat.engine.unit_counts import UnitCounts, finished_scores
from karat.errors import Finding, Rule, nearest
from karat.filters import collapsing, restricted
from karat.model import Document, Mention, Pair, Value
from karat.plugin import AlignedPairs, AlignmentSpec, Averages, Element, Measure, Tables
from karat.protocols import Protocol

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
NO_PARTS = Rule("breakdown-no-parts", "fatal", "Choose an attribute of its items, or other measures with -m/--measure.")

Key = Value | None
AveragedMeasure = tuple[Measure[Any, Any], Averages]


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
        self._rows: dict[Key, dict[str, tuple[Rows, Averages]]] = {}
        self._parts: dict[tuple[Key, AlignmentSpec], UnitCounts] = {}
        self._spellings: dict[Key, tuple[bool, str]] = {}

    def add_outcomes(self, documents: Sequence[Tables]) -> None:
        """Sum the outcomes of a unit for each value that occurs."""
        has_gold = any(tables.pair.gold.mentions for tables in documents)
        for measure, averages in self._summed:
            if has_gold or averages.units == "all":
                for document, table in tables_of_unit(measure, documents):
                    self._add_outcomes(measure, averages, document, table)

    def _add_outcomes(
        self, measure: Measure[Any, Any], averages: Averages, document: Document | None, table: Any
    ) -> None:
        if document is None and not self._is_attribute and self.field != "kind":
            message = f"{measure.id} cannot be broken down by {self.field}: its items are in several documents"
            raise NO_PARTS.error(message)
        by_key: dict[Key, list[tuple[float, ...]]] = {}
        for outcome in measure.outcomes(table):
            item = outcome.gold if outcome.gold is not None else outcome.system
            assert isinstance(item, Mention | Element), (
                "a table of other items says by which alignment it is restricted"
            )
            key = self._key(item, document, in_gold=outcome.gold is not None)
            by_key.setdefault(key, []).append(astuple(outcome.counts))
        for key, counts in by_key.items():
            rows, _ = self._rows.setdefault(key, {}).setdefault(measure.id, (Rows(measure.counts_type()), averages))
            rows.append(rows.kind.summed(counts))

    def add_parts(self, unit: str, tables: Tables) -> None:
        """Divide a document into one for each value, and count each as the protocol counts the whole."""
        for alignment, measures in self._restricted.items():
            for key, pair in self._divided(tables, tables.get(alignment)):
                if (key, alignment) not in self._parts:
                    self._parts[key, alignment] = UnitCounts(measures, unit=self._protocol.unit, report=_ignore)
                self._parts[key, alignment].add(unit, Tables(self._collapse(pair)))

    def _divided(self, tables: Tables, aligned: AlignedPairs) -> Iterator[tuple[Key, Pair]]:
        document = tables.pair.gold
        golds = [self._key(mention, document, in_gold=True) for mention in aligned.gold]
        gold_key_of = {s: golds[g] for g, s, _, _ in aligned.pairs}
        systems = [
            gold_key_of[s] if s in gold_key_of else self._key(mention, document, in_gold=False)
            for s, mention in enumerate(aligned.system)
        ]
        for key in dict.fromkeys([*golds, *systems]):
            yield key, Pair(_with(tables.pair.gold, golds, key), _with(tables.pair.system, systems, key))

    def _key(self, item: Mention | Element, document: Document | None, *, in_gold: bool) -> Key:
        """Values that the protocol considers equal are one row, spelt as in gold."""
        value = self._value(item, document)
        key = self._protocol.comparison.key(str(value)) if self._is_attribute and value is not None else value
        spelling = (not in_gold, ABSENT if value is None else str(value))
        self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        return key

    def _value(self, item: Mention | Element, document: Document | None) -> Key:
        if self._is_attribute:
            return item.attributes.get(self.field)
        if self.field == "kind":
            return item.kind
        assert document is not None, "a field of documents needs one"
        return DOCUMENT_FIELDS[self.field](document)

    def scores(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """For each value, in the order of its spelling: the scores by measure."""
        by_key: dict[Key, dict[str, ScoreValues]] = {}
        for key, rows in self._rows.items():
            sums = {id_: finished_scores(own.kind.summed(own), averages) for id_, (own, averages) in rows.items()}
            by_key.setdefault(key, {}).update(sums)
        for (key, _), counts in self._parts.items():
            counts.close(_ignore)
            by_key.setdefault(key, {}).update({id_: score.micro for id_, score in counts.scores().items()})
        for key in sorted(by_key, key=lambda key: self._spellings[key][1]):
            yield self._spellings[key][1], by_key[key]


def tables_of_unit(measure: Measure[Any, Any], documents: Sequence[Tables]) -> Iterator[tuple[Document | None, Any]]:
    """The tables whose outcomes add up to a unit's: one per document, or one for all of them, of no document."""
    made = [tables.get(measure.table) for tables in documents]
    if len(made) > 1 and measure.table.counted != "item":
        yield None, measure.table.add(made)
    else:
        yield from zip((tables.pair.gold for tables in documents), made, strict=True)


def _with(document: Document, keys: Sequence[Key], key: Key) -> Document:
    kept = {mention.id for mention, own in zip(document.mentions, keys, strict=True) if own == key}
    return restricted(document, lambda mention: mention.id in kept)


def _ignore(finding: Finding) -> None:
    """The whole corpus has reported it already."""
