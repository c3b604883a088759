"""Breakdowns: the outcomes of a measure summed by what a field holds."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import astuple

from karat.align import Comparison
from karat.counts import Rows, finish
from karat.errors import Rule, nearest
from karat.measures import Measure, Outcome
from karat.model import Document, Mention, Value
from karat.protocols import Averages
from karat.results import Leaf, Score

NO_FIELD = Rule(
    "field-absent",
    "fatal",
    "--by takes an attribute of mentions, or kind, document, topic, subtopic, source, language.",
)
DOCUMENT_FIELDS = ("topic", "subtopic", "source", "language")
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
        self._rows: dict[Value, dict[str, Rows]] = {}
        self._spellings: dict[Value, tuple[bool, str]] = {}

    def add(self, measure: Measure, document: Document, outcomes: Iterable[Outcome]) -> None:
        """Sum the outcomes of a document for each value that occurs."""
        found: dict[Value, list[tuple[float, ...]]] = {}
        for outcome in outcomes:
            mention = outcome.gold if outcome.gold is not None else outcome.system
            assert mention is not None, "an outcome has at least one side"
            key = self._key(mention, document, in_gold=outcome.gold is not None)
            found.setdefault(key, []).append(astuple(outcome.counts))
        for key, rows in found.items():
            by_measure = self._rows.setdefault(key, {})
            by_measure.setdefault(measure.id, Rows(measure.kind)).append(measure.kind.total(rows))

    def _key(self, mention: Mention, document: Document, *, in_gold: bool) -> Value:
        """Values that the protocol takes for equal are one row, spelt as gold spells it."""
        value = self._value(mention, document)
        if value is None:
            value = ABSENT
        key = self._comparison.key(value) if self._is_attribute else value
        assert key is not None, "only an absent value has no key"
        spelling = (not in_gold, str(value))
        self._spellings[key] = min(spelling, self._spellings.get(key, spelling))
        return key

    def _value(self, mention: Mention, document: Document) -> Value | None:
        if self._is_attribute:
            return mention.attributes.get(self.field)
        if self.field == "kind":
            return mention.kind
        value: str | None = getattr(document, "id" if self.field == "document" else self.field)
        return value

    def scores(self, averages: Mapping[str, Averages]) -> dict[str, dict[str, Score]]:
        """The rows, sorted by value."""
        return {
            self._spellings[key][1]: {id_: self._score(found[id_], averages[id_]) for id_ in averages if id_ in found}
            for key, found in sorted(self._rows.items(), key=lambda item: self._spellings[item[0]][1])
        }

    def _score(self, rows: Rows, averages: Averages) -> Score:
        total = rows.kind.total(rows)
        return Score(Leaf(finish(total, undefined=averages.undefined), total))
