"""The scores of a run, with everything needed to report them. `to_dict()` returns the JSON."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field, to_builtins

from karat.counts import Counts, Means, ScoreValues
from karat.problems import Finding, Group

if TYPE_CHECKING:
    from karat.records import ErrorAnalysis, OutcomeRecord


def family(id_: str) -> str:
    """The family of a measure."""
    return id_.partition(".")[0]


class ItemCounts(Struct, frozen=True):
    """Items behind one row of a breakdown, as its ratios count them; on a restricted corpus, its mentions."""

    gold: int = 0
    system: int = 0
    missed: int = 0
    """Gold items that earn no recall; of scores without precision and recall, those without a system item."""
    spurious: int = 0
    """System items that earn no precision; of other scores, those without a gold item."""

    def __add__(self, other: "ItemCounts") -> "ItemCounts":
        return ItemCounts(
            self.gold + other.gold,
            self.system + other.system,
            self.missed + other.missed,
            self.spurious + other.spurious,
        )

    def numbers(self) -> tuple[int, int, int, int]:
        """Return all four numbers."""
        return self.gold, self.system, self.missed, self.spurious


class Score(Struct, frozen=True):
    """The scores of one measure: the micro average (`score.f1` is the micro F1) and, if any, the macro average."""

    micro: ScoreValues
    macro: ScoreValues | None = None
    items: ItemCounts | None = None
    """In a breakdown: the items of this row."""
    classes: Mapping[str, ScoreValues] = {}
    """By attribute: the average over its values, where the protocol asks for it."""

    def __getattr__(self, name: str) -> float | None:
        return getattr(self.micro, name)  # type: ignore[no-any-return]

    def averages(self) -> dict[str, ScoreValues]:
        """Return the averages by name. A mean over items, which has no micro average, is a macro average."""
        if isinstance(self.micro.counts, Means):
            return {"macro": self.micro}
        averages = {"micro": self.micro} if self.macro is None else {"micro": self.micro, "macro": self.macro}
        return averages | {f"macro.{attribute}": leaf for attribute, leaf in self.classes.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON."""
        content: dict[str, Any] = {name: leaf.to_dict() for name, leaf in self.averages().items()}
        return content if self.items is None else {**content, "items": to_builtins(self.items)}

    def __repr__(self) -> str:
        return f"<Score {self.micro.in_words()}" + (f"; macro {self.macro.in_words()}>" if self.macro else ">")


class Finish(Protocol):
    """From sums to scores."""

    def __call__(self, sums: Sequence[float], /) -> Mapping[str, Score]:
        """The scores of one sum per column, by measure."""
        ...

    def only(self, ids: Collection[str], /) -> tuple["Finish", Sequence[int]]:
        """The function for some measures, and the numbers of the columns that it needs."""
        ...


class UnitRows(Struct, frozen=True):
    """The counts of each unit, and the scores that any sum of them gives: all that intervals and tests need."""

    units: Sequence[str]
    columns: Sequence["array[float]"]
    """One number per unit each. Numbers of units that a measure does not average are zero."""
    finish: Finish
    left_out: Mapping[str, Mapping[str, Score]] = {}
    """If there is only one unit: its scores without each of its topics (or documents), by their names."""
    part: str = ""
    """The part that is left out: a topic or a document."""

    def only(self, ids: Collection[str]) -> "UnitRows":
        """The rows of some measures."""
        finish, indexes = self.finish.only(ids)
        left_out = {
            part: {id_: score for id_, score in scores.items() if id_ in ids} for part, scores in self.left_out.items()
        }
        return UnitRows(self.units, [self.columns[index] for index in indexes], finish, left_out, self.part)

    def over(self, units: Sequence[str]) -> "UnitRows":
        """Counts as rows of these units, in this order; a unit that there was not has counted nothing."""
        if list(units) == list(self.units):
            return self
        index_of = {unit: index for index, unit in enumerate(self.units)}
        indexes = [index_of.get(unit) for unit in units]
        columns = [array("d", (0.0 if i is None else column[i] for i in indexes)) for column in self.columns]
        return UnitRows(units, columns, self.finish, self.left_out, self.part)

    def replaced(self, rows: "UnitRows") -> "UnitRows":
        """Replace the units that `rows` has, and the function from sums to scores."""
        index_of = {unit: index for index, unit in enumerate(rows.units)}
        indexes = [index_of.get(unit) for unit in self.units]
        columns = [
            array("d", (value if i is None else other[i] for i, value in zip(indexes, column, strict=True)))
            for column, other in zip(self.columns, rows.columns, strict=True)
        ]
        return UnitRows(self.units, columns, rows.finish)

    def scores(self) -> Mapping[str, Score]:
        """The scores of all units together."""
        return self.finish([fsum(column) for column in self.columns])


class Confidence(Struct, frozen=True):
    """The method of confidence intervals."""

    level: float
    method: str
    """Name of the method, as in the JSON."""
    unit: str
    """The unit that is resampled or left out."""
    units: int
    """The number of units."""
    resamples: int | None = None
    seed: int | None = None


def main_ids(ids: Iterable[str]) -> list[str]:
    """Return the first measure of each family."""
    first: dict[str, str] = {}
    for id_ in ids:
        first.setdefault(family(id_), id_)
    return list(first.values())


class Side(Struct, frozen=True):
    """One side: how many documents were read, and how many of their mentions the protocol scores."""

    name: str
    documents: int
    mentions: int
    identity: Any = field(default=None, name="fingerprint")
    """Gold's fingerprint, or what it is computed from when someone asks."""

    @property
    def fingerprint(self) -> str | None:
        """Gold's fingerprint."""
        return None if self.identity is None else str(self.identity)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON, which omits the name: it depends on where the file is."""
        numbers = {"documents": self.documents, "mentions": self.mentions}
        return numbers if self.identity is None else {**numbers, "fingerprint": self.fingerprint}


class Result(Struct, kw_only=True, eq=False):
    """The scores of one system under one protocol, with what is needed to interpret and reproduce them."""

    version: str
    protocol: str
    title: str
    conditions: str
    """The signature without gold's fingerprint."""
    unit: str
    unit_count: int
    gold: Side
    system: Side
    scores: Mapping[str, Score]
    by: Mapping[str, Mapping[str, Mapping[str, Score]]] = {}
    units: Mapping[str, Mapping[str, ScoreValues]] = {}
    warnings: Sequence[Finding]
    warning_counts: Mapping[Group, int]
    headline: Sequence[str] = ()
    """Measures that rank systems and are usually quoted, the most important first; those that gold supports."""
    is_headline_supported: bool = True
    """True if gold supports any of them; else there is just the protocol's first one."""
    differences: Mapping[str, Mapping[str, int]] = {}
    """With several protocols: for each measure, what makes it differ from that of others, and how often."""
    outcomes: "Mapping[str, Sequence[OutcomeRecord]]" = {}
    """With details: for each measure what was matched, missed and spurious."""
    details: Mapping[str, Mapping[str, Any]] = {}
    """With details: what measures list in place of their outcomes."""
    rows: UnitRows | None = None
    """On request: the counts of each unit."""
    by_rows: Mapping[str, Mapping[str, UnitRows]] = {}
    """On request: the same for each value of each field of a breakdown, of the units that have it."""
    confidence: Confidence | None = None
    """The method of the intervals of the scores, if they have any."""
    errors: "ErrorAnalysis | None" = None
    """On request: the errors by class, and what each class costs."""

    @property
    def signature(self) -> str:
        """How the scores were made, in one line: version, protocol, settings, and gold's fingerprint."""
        return f"{self.conditions}|gold={self.gold.fingerprint}"

    def __getitem__(self, measure: str) -> Score:
        try:
            return self.scores[measure]
        except KeyError:
            raise KeyError(f"{measure!r} was not scored; scored: {', '.join(self.scores)}") from None

    def counted_ids(self) -> list[str]:
        """Measures of families that counted something on either side; all measures, if no family did.

        A corpus without links must not look as if a system had scored badly on links.
        """
        counts: dict[str, list[Counts]] = {}
        for id_, score in self.scores.items():
            counts.setdefault(family(id_), []).extend([] if score.micro.counts is None else [score.micro.counts])
        # Of composites alone it is not known what was counted.
        families = {
            name for name, listed in counts.items() if not listed or any(any(c.to_dict().values()) for c in listed)
        }
        return [id_ for id_ in self.scores if not families or family(id_) in families]

    def headline_ids(self) -> list[str]:
        """Return the scores to quote, the one that ranks systems first; without any, the last of the first family."""
        counted = self.counted_ids()
        return list(self.headline) or [id_ for id_ in counted if family(id_) == family(counted[0])][-1:]

    def main_ids(self) -> list[str]:
        """Return the most important of these scores for each family."""
        return main_ids(self.headline_ids())

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per score, for pandas or polars: measure and average, and the field and value of a breakdown.

        All rows have the same keys. Scores are unrounded fractions, None if undefined or if a measure has no such one.
        An error class is a value of the field `error`, with the scores after its repair. If a score is called `value`
        (ACE), the value of the field is `by_value`, as in comparisons.
        """
        rows = [row for id_, score in self.scores.items() for row in _rows(None, None, id_, score)]
        for name, values in self.by.items():
            for value, scores in values.items():
                rows += [row for id_, score in scores.items() for row in _rows(name, value, id_, score)]
        for unit, leaves in self.units.items():
            rows += [row for id_, leaf in leaves.items() for row in _rows(self.unit, unit, id_, leaf)]
        rows += [] if self.errors is None else self.errors.to_dicts()
        keys = {key: key for row in rows for key in row}
        if "value" not in keys:
            keys["by_value"] = "value"
        return [{"protocol": self.protocol, **{name: row.get(key) for key, name in keys.items()}} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """The JSON that `karat score -f json` prints."""
        content = self.contents()
        for id_, records in self.outcomes.items():
            content["details"][id_] = [record.to_dict() for record in records]
        return content

    def contents(self) -> dict[str, Any]:
        """The JSON, with the outcomes of each measure as an iterator over their contents."""
        content: dict[str, Any] = {
            "karat": self.version,
            "protocol": self.protocol,
            "signature": self.signature,
            "unit": self.unit,
            "gold": self.gold.to_dict(),
            "system": self.system.to_dict(),
            "scores": _nested(self.scores),
        }
        if self.by:
            content["by"] = {field: {key: _nested(row) for key, row in rows.items()} for field, rows in self.by.items()}
        if self.units:
            name = "documents" if self.unit == "document" else "units"
            content[name] = {unit: _nested(row) for unit, row in self.units.items()}
        if self.errors is not None:
            content["errors"] = self.errors.to_dict()
            if by := self.errors.by():
                content["errors_by"] = by
            content["confusions"] = self.errors.confusions()
        if self.differences:
            content["differences"] = {id_: dict(reasons) for id_, reasons in self.differences.items()}
        if self.outcomes or self.details:
            outcomes = {id_: (record.contents() for record in records) for id_, records in self.outcomes.items()}
            content["details"] = {**outcomes, **self.details}
        content["warnings"] = [
            {key: value for key, value in (finding.to_dict() | {"side": finding.origin}).items() if value}
            for finding in self.warnings
        ]
        return content


def _rows(field: str | None, value: str | None, measure: str, score: Score | ScoreValues) -> Iterator[dict[str, Any]]:
    averages = (score if isinstance(score, Score) else Score(score)).averages()
    for average, leaf in averages.items():
        ci = {} if leaf.ci is None else leaf.ci.values
        bounds = {
            f"{name}_{end}": bound
            for name, interval in ci.items()
            for end, bound in zip(("low", "high"), interval or (None, None), strict=True)
        }
        yield {"by": field, "by_value": value, "measure": measure, "average": average, **leaf.values, **bounds}


def _nested(leaves: Mapping[str, Score] | Mapping[str, ScoreValues]) -> dict[str, Any]:
    return {name: leaf.to_dict() for name, leaf in leaves.items()}
