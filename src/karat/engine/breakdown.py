"""Breakdowns: the same scores by what a field holds.

Where the parts of a measure add up, its outcomes are summed by value. Where they do not, since items are right or wrong
together, the row of a value is the same protocol on the corpus restricted to the mentions with that value: gold's where
two are aligned.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import astuple

from karat.align import Comparison
from karat.counts import Rows, ScoreValues
from karat.engine.ledger import Ledger, leaf
from karat.errors import Rule, nearest
from karat.filters import Work, restricted
from karat.measures import Item, Measure
from karat.model import Document, Mention, Pair, Value
from karat.protocols import Averages
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs, Alignment

NO_FIELD = Rule(
    "field-absent",
    "fatal",
    "--by takes an attribute of mentions, or kind, document, topic, subtopic, source, language.",
)
DOCUMENT_FIELDS = ("topic", "subtopic", "source", "language")
ABSENT = "(none)"
NO_PARTS = Rule(
    "breakdown-no-parts", "fatal", "Choose an attribute of its items, or measures that can be, with -m/--measure."
)

Key = Value | None


class Breakdown:
    """Scores by one field: the gold item's value, or the system item's where there is no gold."""

    def __init__(
        self,
        field: str,
        attributes: Sequence[str],
        comparison: Comparison,
        measures: Sequence[tuple[Measure, Averages]],
        *,
        unit: str,
    ) -> None:
        fields = [*attributes, "kind", "document", *DOCUMENT_FIELDS]
        if field not in fields:
            raise NO_FIELD.error(f"there is no field {field!r} in these corpora. {nearest(field, fields)}")
        self.field = field
        self._is_attribute = field in attributes
        self._comparison = comparison
        self._unit = unit
        self._adding = [(measure, averages) for measure, averages in measures if rests_on(measure) is None]
        self._whole: dict[Alignment, list[tuple[Measure, Averages]]] = {}
        for measure, averages in measures:
            if (alignment := rests_on(measure)) is not None:
                self._whole.setdefault(alignment, []).append((measure, averages))
        self._rows: dict[Key, dict[str, tuple[Rows, Averages]]] = {}
        self._parts: dict[tuple[Key, Alignment], Ledger] = {}
        self._spellings: dict[Key, tuple[bool, str]] = {}

    def add_outcomes(self, documents: Sequence[Tables]) -> None:
        """Sum the outcomes of a unit for each value that occurs."""
        has_gold = any(tables.pair.gold.mentions for tables in documents)
        for measure, averages in self._adding:
            if has_gold or averages.units == "all":
                for document, table in of_unit(measure, documents):
                    self._add_outcomes(measure, averages, document, table)

    def _add_outcomes(self, measure: Measure, averages: Averages, document: Document | None, table: Any) -> None:
        if document is None and not self._is_attribute and self.field != "kind":
            told = f"{measure.id} cannot be broken down by {self.field}: its items live in several documents"
            raise NO_PARTS.error(told)
        found: dict[Key, list[tuple[float, ...]]] = {}
        for outcome in measure.outcomes(table):
            mention = outcome.gold if outcome.gold is not None else outcome.system
            assert mention is not None, "a measure whose outcomes are not of items says what it rests on"
            key = self._key(mention, document, in_gold=outcome.gold is not None)
            found.setdefault(key, []).append(astuple(outcome.counts))
        for key, rows in found.items():
            by_measure = self._rows.setdefault(key, {})
            own, _ = by_measure.setdefault(measure.id, (Rows(measure.kind), averages))
            own.append(measure.kind.summed(rows))

    def add_parts(self, unit: str, tables: Tables, merged: Work) -> None:
        """Cut a document into one for each value, and take each as the protocol takes the whole."""
        for alignment, measures in self._whole.items():
            for key, pair in self._cut(tables, tables.get(alignment)):
                if (key, alignment) not in self._parts:
                    self._parts[key, alignment] = Ledger(measures, unit=self._unit)
                self._parts[key, alignment].add(unit, Tables(merged(pair)))

    def _cut(self, tables: Tables, aligned: AlignedPairs) -> Iterator[tuple[Key, Pair]]:
        document = tables.pair.gold
        golds = [self._key(mention, document, in_gold=True) for mention in aligned.gold]
        met = {s: golds[g] for g, s, _, _ in aligned.pairs}
        systems = [
            met[s] if s in met else self._key(mention, document, in_gold=False)
            for s, mention in enumerate(aligned.system)
        ]
        for key in dict.fromkeys([*golds, *systems]):
            yield key, Pair(_with(tables.pair.gold, golds, key), _with(tables.pair.system, systems, key))

    def _key(self, mention: Mention | Item, document: Document | None, *, in_gold: bool) -> Key:
        """Values that the protocol takes for equal are one row, spelt as gold spells it."""
        value = self._value(mention, document)
        key = self._comparison.key(str(value)) if self._is_attribute and value is not None else value
        spelling = (not in_gold, ABSENT if value is None else str(value))
        self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        return key

    def _value(self, mention: Mention | Item, document: Document | None) -> Key:
        if self._is_attribute:
            return mention.attributes.get(self.field)
        if self.field == "kind":
            return mention.kind
        value: str | None = getattr(document, "id" if self.field == "document" else self.field)
        return value

    def leaves(self) -> Iterator[tuple[str, dict[str, ScoreValues]]]:
        """For each value, as gold spells it and in that order: the scores by measure."""
        found: dict[Key, dict[str, ScoreValues]] = {}
        for key, rows in self._rows.items():
            sums = {id_: leaf(own.kind.summed(own), averages) for id_, (own, averages) in rows.items()}
            found.setdefault(key, {}).update(sums)
        for (key, _), ledger in self._parts.items():
            ledger.close()
            found.setdefault(key, {}).update({id_: score.micro for id_, score in ledger.scores().items()})
        for key in sorted(found, key=lambda key: self._spellings[key][1]):
            yield self._spellings[key][1], found[key]


def of_unit(measure: Measure, documents: Sequence[Tables]) -> Iterator[tuple[Document | None, Any]]:
    """The tables of a unit with their documents; one table and none where items live in several documents."""
    made = [tables.get(measure.artefact) for tables in documents]
    if len(made) > 1 and getattr(measure.artefact, "joins_documents", False):
        yield None, measure.artefact.add(made)
    else:
        yield from zip((tables.pair.gold for tables in documents), made, strict=True)


def rests_on(measure: Measure) -> Alignment | None:
    """The alignment of mentions under a measure whose parts do not add up; None for one whose parts do."""
    alignment: Alignment | None = getattr(measure.artefact, "rests_on", None)
    return alignment


def _with(document: Document, keys: Sequence[Key], key: Key) -> Document:
    kept = {mention.id for mention, own in zip(document.mentions, keys, strict=True) if own == key}
    return restricted(document, lambda mention: mention.id in kept)
