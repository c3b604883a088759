"""Breakdowns: the outcomes of a measure summed by what a field holds."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import astuple

from karat.align import Comparison
from karat.counts import Counts, Rows
from karat.errors import Rule, nearest
from karat.measures import Item, Measure, Outcome
from karat.model import Document, Mention, Value

NO_FIELD = Rule(
    "field-absent",
    "fatal",
    "--by takes an attribute of mentions, or kind, document, topic, subtopic, source, language.",
)
DOCUMENT_FIELDS = ("topic", "subtopic", "source", "language")
NO_PARTS = Rule("breakdown-no-parts", "fatal", "Choose measures that can be, with -m/--measure.")
ABSENT = "(none)"


class Breakdown:
    """Scores by one field: the gold item's value, or the system item's where there is no gold."""

    def __init__(self, field: str, attributes: Sequence[str], comparison: Comparison) -> None:
        fields = [*attributes, "kind", "document", *DOCUMENT_FIELDS]
        if field not in fields:
            raise NO_FIELD.error(f"there is no field {field!r} in these corpora. {nearest(field, fields)}")
        self.field = field
        self._is_attribute = field in attributes
        self._comparison = comparison
        self._rows: dict[Value | None, dict[str, Rows]] = {}
        self._spellings: dict[Value | None, tuple[bool, str]] = {}

    def add(self, measure: Measure, document: Document | None, outcomes: Iterable[Outcome]) -> None:
        """Sum the outcomes of a document for each value that occurs."""
        found: dict[Value | None, list[tuple[float, ...]]] = {}
        for outcome in outcomes:
            mention = outcome.gold if outcome.gold is not None else outcome.system
            if mention is None or (document is None and not self._is_attribute and self.field != "kind"):
                raise NO_PARTS.error(f"{measure.id} cannot be broken down by {self.field}: its parts do not add up")
            key = self._key(mention, document, in_gold=outcome.gold is not None)
            found.setdefault(key, []).append(astuple(outcome.counts))
        for key, rows in found.items():
            by_measure = self._rows.setdefault(key, {})
            by_measure.setdefault(measure.id, Rows(measure.kind)).append(measure.kind.summed(rows))

    def _key(self, mention: Mention | Item, document: Document | None, *, in_gold: bool) -> Value | None:
        """Values that the protocol takes for equal are one row, spelt as gold spells it."""
        value = self._value(mention, document)
        key = self._comparison.key(str(value)) if self._is_attribute and value is not None else value
        spelling = (not in_gold, ABSENT if value is None else str(value))
        self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        return key

    def _value(self, mention: Mention | Item, document: Document | None) -> Value | None:
        if self._is_attribute:
            return mention.attributes.get(self.field)
        if self.field == "kind":
            return mention.kind
        value: str | None = getattr(document, "id" if self.field == "document" else self.field)
        return value

    def totals(self) -> Iterator[tuple[str, dict[str, Counts]]]:
        """For each value, as gold spells it and in that order: the sums by measure."""
        for key in sorted(self._rows, key=lambda key: self._spellings[key][1]):
            yield self._spellings[key][1], {id_: rows.kind.summed(rows) for id_, rows in self._rows[key].items()}
