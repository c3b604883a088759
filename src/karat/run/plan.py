"""The plan of a run: the measures, breakdowns and analyses of a protocol; and how a pair becomes a row."""

from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import astuple

from karat.checks.annotations import Reading
from karat.families import MEASURES
from karat.match.alignment import Alignment
from karat.model import Document, Pair
from karat.plugin import (
    ArgumentMeasure,
    Averages,
    Composite,
    DetailedMeasure,
    Entry,
    Facts,
    Measure,
    ReadOptions,
    Setting,
    Tables,
    TableSpec,
    Tally,
    Unscored,
    scorable,
)
from karat.problems import Finding, KaratError, Report, Rule, nearest, quoted
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.result import Score
from karat.run.pairs import PreparedPair
from karat.run.rows import DocumentRow, FieldRow, UnitRow
from karat.run.units import AveragedMeasure, MeasureSet, ScoreFunction

if TYPE_CHECKING:
    from karat.corpus.topics import Topics
    from karat.insight.records import Line
    from karat.insight.units import Target
    from karat.run.breakdown import Breakdown
    from karat.run.fields import Field

NO_TOPIC = Rule(
    "topic-missing", "note", "Give each document a topic, or choose a protocol with another unit of evaluation."
)
NO_KIND = Rule("kind-absent", "fatal", "Choose the kinds of mentions to score with --set kinds=...")
NO_MEASURE = Rule(
    "measure-absent",
    "fatal",
    "Choose a measure of the protocol, or another protocol with -p; --set attributes=... scores other attributes.",
)
MEASURE_TWICE = Rule("row-twice", "fatal", "Rename the attribute, or choose others with --set attributes=...")


class Options(Struct, frozen=True):
    """Everything that the user chooses for a run, on the command line or in Python."""

    measures: tuple[str, ...] = ()
    """The measures to score: ids, or prefixes of ids; empty: all."""
    by: tuple[str, ...] = ()
    """Fields to break scores down by."""
    per_unit: bool = False
    strict: bool = False
    """Refuse faults instead of counting them."""
    topics: "Topics | None" = None
    """The topics that the corpora are restricted to."""
    accept_faults: bool = False
    """Count faults even in a format that refuses them."""
    details: bool = False
    """List the outcomes of measures item by item."""
    errors: bool = False
    """Count errors by class, and score the system again with each class repaired."""
    keep_rows: bool = False
    """Keep the counts of each unit, for intervals and tests."""
    keep_by_rows: bool = True
    """Where these are kept, also for each value of a breakdown."""
    protocols: tuple[str, ...] = ()
    """Names or files of protocols; empty: those that gold's format chooses."""
    settings: Mapping[str, Any] = {}
    """Parameters of the protocols."""
    gold_format: str | None = None
    system_format: str | None = None
    reading: ReadOptions = ReadOptions()
    level: float | None = None
    """The confidence level of intervals."""
    resamples: int | None = None
    seed: int | None = None


class Plan:
    """The measures of one protocol for a corpus, and how its documents and units become rows of them."""

    def __init__(
        self, protocol: Protocol, gold: Facts, system: Facts, options: Options, *, compares: bool = False
    ) -> None:
        """`compares`: there are several protocols, whose differences are counted."""
        self.protocol, self.options, self.compares = protocol, options, compares
        self.facts = gold, system
        if (finding := lacking(protocol, gold.kinds, "gold")) is not None:
            raise KaratError(finding)
        self._choose(_setting(protocol, gold, system))
        self.breakdowns = self._breakdowns() if options.by else []
        self.has_classes = any(averages.classes for _, averages in self.measures.measures)
        if self.has_classes:
            from karat.run.classes import check_classes

            check_classes(self.measures.measures)
        are_given = any(filter_.gives_mentions for filter_ in protocol.filters)
        self._scores_indivisible = not are_given and any(
            is_indivisible(measure) for measure, _ in self.measures.measures
        )
        lists_outcomes = not all(isinstance(measure, DetailedMeasure) for measure, _ in self.measures.measures)
        self._has_records = options.errors or (options.details and lists_outcomes)

    def fits(self, gold: Facts, system: Facts) -> bool:
        """Return whether corpora with these facts have the same plan."""
        kinds = self.protocol.kinds
        mine, others = (
            (
                sides[0].attributes_of(kinds),
                sides[1].attributes_of(kinds) if self.breakdowns else (),
                sides[0].links_of(kinds),
                sides[0].kinds,
                sides[1].kinds,
                sides[0].clustered,
            )
            for sides in (self.facts, (gold, system))
        )
        return mine == others

    def _choose(self, setting: Setting) -> None:
        """Ask the families for their measures, and keep the selected ones and those that selected composites need."""
        offered: list[tuple[Entry, Averages]] = [
            (entry, choice.averages) for choice in self.protocol.families for entry in choice.entries(setting)
        ]
        self.unscored = [entry for entry, _ in offered if isinstance(entry, Unscored)]
        """Measures that cannot be scored here."""
        scored = [(entry, averages) for entry, averages in offered if not isinstance(entry, Unscored)]
        self.offered = [entry.id for entry, _ in scored if isinstance(entry, Composite) or not entry.hidden]
        """Ids of the measures that the user can select."""
        repeated = [id_ for id_, count in Counter(self.offered).items() if count > 1]
        if repeated:
            raise MEASURE_TWICE.error(f"two rows of {self.protocol.name} would be called {repeated[0]!r}")
        self.tables = [entry.table for entry, _ in scored if isinstance(entry, Measure)]
        """The tables of all measures, selected or not."""
        chosen = _selected(self.options.measures, [entry.id for entry, _ in offered])
        self.selected = [id_ for id_ in self.offered if id_ in chosen]
        """Ids of the measures of the result."""
        self.omitted = [entry for entry in self.unscored if entry.id in chosen]
        """Measures that the user selected and that cannot be scored here."""
        needed = set(self.selected)
        for entry, _ in reversed(scored):  # a composite comes after the measures it needs
            if isinstance(entry, Composite) and entry.id in needed:
                needed.update(entry.of)
        self._scored = [(entry, averages) for entry, averages in scored if entry.id in needed]
        self.measures = MeasureSet(
            [(entry, averages) for entry, averages in self._scored if not isinstance(entry, Composite)],
            [(entry, averages) for entry, averages in self._scored if isinstance(entry, Composite)],
            unit=self.protocol.unit,
        )

    def row(self, prepared: PreparedPair, line: "Line", report: Report) -> DocumentRow:
        """Make the row of a document; count it if it is a unit. `line` returns the line of an item."""
        filtered, tables = prepared.filtered, prepared.tables
        document, pair, measures = filtered.gold, tables.pair, self.measures
        row = DocumentRow(
            self._unit(document, report),
            len(pair.gold.mentions),
            len(pair.system.mentions),
            tables=measures.tables_of(tables),
            scored=prepared.scored,
            has_same_mentions=self._scores_indivisible and _have_same_places(filtered),
        )
        if pair is not filtered:
            sides = (filtered.gold, pair.gold, filtered.system, pair.system)
            gold, gold_left, system, system_left = (len(side.mentions) for side in sides)
            row.collapsed = gold, gold_left, system, system_left
        if self.breakdowns:
            whole = tables if pair is filtered else Tables(filtered)
            row.parts = tuple(breakdown.parts(row.unit, whole) for breakdown in self.breakdowns)
        if self._names_documents:
            row.about = Document(document.id, document.topic, document.subtopic, document.source, document.language)
        if self._has_records:
            from karat.insight.records import document_records

            aligned = {alignment: tables.get(alignment) for alignment in self._alignments}
            name_document = self.protocol.unit != "document"
            row.records = document_records(pair, aligned, line, name_document=name_document)
        if self.options.errors:
            from karat.insight.units import document_view

            alignments = [measure.table.alignment for target in self.targets for measure in target.measures]
            row.view = document_view(tables, filter(None, alignments))
        if measures.is_by_document:
            self._count(row, [row], row.tables, report)
            row.tables, row.about, row.records, row.view = (), None, None, None
        return row

    def unit_row(self, report: Report, unit: str, documents: Sequence[DocumentRow], tables: Sequence[Any]) -> UnitRow:
        """Make the row of a unit from its documents and its finished tables, in the order of the specs."""
        row = UnitRow(unit, sum(row.gold for row in documents), sum(row.system for row in documents))
        self._count(row, documents, tables, report)
        return row

    def _count(self, row: UnitRow, documents: Sequence[DocumentRow], tables: Sequence[Any], report: Report) -> None:
        """Count the tables of a unit; on request, add what lies behind the counts."""
        numbers: list[float] = []
        differences: dict[str, Mapping[str, int]] = {}
        unmatchable: dict[str, dict[str, int]] = {}
        tallies: dict[tuple[Rule, str], int] = {}
        for measure, index, has_notes in self.measures.counting:
            table = tables[index]
            counts = measure.count(table)
            numbers += astuple(counts)
            for note in measure.notes(table, counts) if has_notes else ():
                if isinstance(note, Finding):
                    report(note)
                elif isinstance(note, Tally):
                    tallies[note.rule, note.items] = note.count
                else:
                    unmatchable.setdefault(measure.id, {})[note.items] = note.count
            if self.compares and (reasons := measure.differences(table)):
                differences[measure.id] = reasons
        row.counts = array("d", numbers)
        if self.has_classes:
            from karat.run.classes import all_class_counts

            row.classes = all_class_counts(self.measures, tables, self.protocol.comparison, has_gold=row.gold > 0)
        if unmatchable:
            row.unmatchable = unmatchable
        if tallies:
            row.tallies = tallies
        if differences:
            row.differences = differences
        if self.breakdowns or self.options.details or self.options.errors:
            table_of = dict(zip(self.measures.specs, tables, strict=True))
            row.by = tuple(breakdown.outcomes(documents, table_of) for breakdown in self.breakdowns)
            if self.options.details or self.options.errors:
                self._add_outcomes_and_errors(row, documents, table_of)

    def _add_outcomes_and_errors(
        self, row: UnitRow, documents: Sequence[DocumentRow], table_of: Mapping[Any, Any]
    ) -> None:
        """Add the outcomes of measures (`--details`) and the errors behind them (`--errors`) to the row of a unit."""
        from karat.insight.records import UnitRecords
        from karat.insight.units import counted_tables
        from karat.run.details import listed_items, outcomes_of

        averaged = [measure for measure, averages in self.measures.measures if averages.units == "all" or row.gold > 0]
        by_id = {document.about.id: document for document in documents if document.about is not None}
        apart = {id_: dict(zip(table_of, document.tables, strict=True)) for id_, document in by_id.items()}
        tables = list(counted_tables(averaged, table_of, apart))
        records = UnitRecords(document.records for document in documents if document.records is not None)
        if self.options.details:
            row.outcomes, row.listed = outcomes_of(row.unit, tables, records), listed_items(tables)
        if self.options.errors and tables:
            from karat.insight.units import UnitView
            from karat.run.targets import unit_errors

            views = {id_: document.view for id_, document in by_id.items() if document.view is not None}
            collapsed = self.protocol.collapse is not None
            unit = UnitView(row.unit, views, tables, records, self.protocol.comparison, collapsed)
            row.errors = tuple(unit_errors(unit, target, self.fields) for target in self.targets)

    def _unit(self, document: Document, report: Report) -> str:
        """Return the unit of a document; report a document without a topic if the unit is a topic."""
        if self.protocol.unit in ("topic", "subtopic") and document.topic is None:
            message = f"document {quoted(document.id)} has no topic and counts as a topic of its own"
            report(NO_TOPIC.at(message, origin="gold"))
        return unit_of(document, self.protocol)

    def _breakdowns(self) -> "list[Breakdown]":
        from karat.run.breakdown import Breakdown

        known = self._known_attributes
        return [Breakdown(field, _having(field, known, self.measures.measures), self.protocol) for field in self.fields]

    @cached_property
    def fields(self) -> "list[Field]":
        """The fields to break scores down by."""
        from karat.run.fields import Field

        offered = self._known_attributes.union(*(measure.fields for measure, _ in self.measures.measures))
        return [Field.of(name, in_order(offered)) for name in dict.fromkeys(self.options.by)]

    @property
    def _known_attributes(self) -> set[str]:
        """Attributes of mentions that are scored, on either side."""
        gold, system = self.facts
        return gold.attributes_of(self.protocol.kinds) | system.attributes_of(self.protocol.kinds)

    def headline(self, scores: Mapping[str, Score]) -> tuple[list[str], bool]:
        """Return the headline measures that gold supports, most important first, and whether there are any.

        Gold supports a composite if it supports all that it combines. If it supports none, the first one is returned.
        A selection of measures outside the headline needs no support. `scores` are those of all measures, selected or
        not.
        """
        counts = {measure.id: scores[measure.id].micro.counts for measure, _ in self.measures.measures}
        supported = {id_ for id_, counted in counts.items() if counted is not None and counted.has_gold()}
        for composite, _ in self.measures.composites:  # a composite comes after the measures it needs
            if supported.issuperset(composite.of):
                supported.add(composite.id)
        headline = [id_ for id_ in self._headline if id_ in supported]
        needs_support = bool(self._headline) or (bool(self.protocol.headline) and not self.options.measures)
        return headline or self._headline[:1], bool(headline) or not needs_support

    @cached_property
    def _headline(self) -> list[str]:
        """The selected measures that the protocol's headline names."""
        matches = [id_ for pattern in self.protocol.headline for id_ in self.selected if fnmatchcase(id_, pattern)]
        return [*dict.fromkeys(matches)]

    @cached_property
    def score_function(self) -> ScoreFunction:
        """The function from sums to the scores of the selected measures."""
        return ScoreFunction(self.measures.layout, self.measures.composites, self.selected)

    @property
    def lists_units(self) -> bool:
        """True if a result lists units, or is made of more than their sums."""
        options = self.options
        return bool(options.per_unit or self.breakdowns or options.details or options.keep_rows or self.has_classes)

    @cached_property
    def scores_types(self) -> bool:
        """True if a type must be right, or finds the event whose arguments are compared."""
        return any(
            "type" in (measure.parts if isinstance(measure, ArgumentMeasure) else measure.attributes)
            for measure, _ in self.measures.measures
        )

    @cached_property
    def scores_roles(self) -> bool:
        """True if a role must be right."""
        return any("role" in measure.fields for measure, _ in self.measures.measures)

    @cached_property
    def can_fold(self) -> bool:
        """True if nobody asks for the documents of a unit apart."""
        is_apart = self._lists_documents or self.options.keep_rows
        return not self.measures.is_by_document and self.protocol.unit != "document" and not is_apart

    @cached_property
    def _names_documents(self) -> bool:
        """True if somebody asks which document a row is of."""
        return self._lists_documents or not (self.measures.is_by_document or self.can_fold)

    @property
    def _lists_documents(self) -> bool:
        return bool(self.options.by or self.options.details or self.options.errors)

    def fold_breakdowns(self, rows: Sequence[DocumentRow]) -> None:
        """Add up what rows hold of values of breakdowns, where nobody asks for single units."""
        options = self.options
        if not self.breakdowns or options.errors or options.keep_rows or not (rows and self.measures.is_by_document):
            return
        parts = tuple([b.folded([row.parts[index] for row in rows]) for index, b in enumerate(self.breakdowns)])
        by = tuple([b.folded([row.by[index] for row in rows]) for index, b in enumerate(self.breakdowns)])
        nothing = (FieldRow([], [], {}, {}),) * len(self.breakdowns)
        for row in rows:
            row.parts = row.by = nothing
        rows[0].parts, rows[0].by = parts, by

    @cached_property
    def targets(self) -> "list[Target]":
        """The main measures, whose errors are analysed."""
        from karat.run.targets import targets

        measures = [row for row, _ in self._scored]
        return targets(measures, self.selected, self.protocol.headline, self.options.measures)

    @cached_property
    def _alignments(self) -> list[Any]:
        """The alignments behind the measures, which details show."""
        behind = dict.fromkeys(measure.table.alignment for measure, _ in self.measures.measures)
        return [alignment for alignment in behind if alignment is not None] if self.options.details else []


_recent: deque[Plan] = deque(maxlen=8)
"""The last plans, for callers that score one document after another."""


def plan_of(protocol: Protocol, facts: tuple[Facts, Facts], options: Options, *, compares: bool) -> Plan:
    """Return the plan of a protocol for corpora with these facts."""
    for plan in _recent:
        if plan.protocol is protocol and plan.facts == facts and plan.compares == compares and plan.options == options:
            return plan
    plan = Plan(protocol, *facts, options, compares=compares)
    _recent.append(plan)
    return plan


def readings(tables: Iterable[TableSpec[Any]]) -> dict[str, Reading]:
    """Return how tables of links read each kind; `links`, if one of them reads links as given."""
    found: dict[str, Reading] = {}
    for table in tables:
        for kind in table.relations:
            found.setdefault(kind, "relations")
        for kind in table.link_kinds:
            found[kind] = "paths" if table.reads_paths and found.get(kind) != "links" else "links"
    return found


def readings_of(protocols: Iterable[Protocol], gold: Facts) -> dict[str, Reading]:
    """Return how protocols read the links of such a gold; nothing for a protocol that refuses it."""
    tables: list[TableSpec[Any]] = []
    for protocol in protocols:
        with suppress(KaratError):
            tables += Plan(protocol, gold, gold, Options()).tables
    return readings(tables)


def lacking(protocol: Protocol, kinds: Collection[str], what: str) -> Finding | None:
    """Return what is wrong with gold if it has mentions of these kinds, but none that are scored."""
    if protocol.kinds is None or not kinds or not set(kinds).isdisjoint(protocol.kinds):
        return None
    wanted = ", ".join(protocol.kinds)
    return NO_KIND.at(f"{what} has no mention of kind {wanted}. {nearest(protocol.kinds[0], sorted(kinds))}")


def refuse_absent(prefixes: Sequence[str], plans: Sequence[Plan]) -> None:
    """Refuse a measure that no protocol of this run offers, with the reason if it is known."""
    offered = list(dict.fromkeys(id_ for plan in plans for id_ in plan.offered))
    for prefix in prefixes:
        if any(id_.startswith(prefix) for id_ in offered):
            continue
        for plan in plans:
            for row in plan.unscored:
                if row.id.startswith(prefix):
                    raise NO_MEASURE.error(f"{plan.protocol.name} does not score {row.id} here: {row.reason}")
        names = ", ".join(plan.protocol.name for plan in plans)
        message = f"{names} has no measure {prefix!r} here."
        family = prefix.partition(".")[0]
        others = [name for name, _ in PROTOCOLS if family in {choice.name for choice in resolve(name).families}]
        own = {protocol.name for protocol in (plan.protocol for plan in plans)}
        if others and own.isdisjoint(others):
            raise NO_MEASURE.error(f"{message} Protocols of that family: {', '.join(others)}.")
        raise NO_MEASURE.error(f"{message} {nearest(prefix, offered)}")


def _selected(names: Sequence[str], ids: Sequence[str]) -> set[str]:
    """Return the ids that are named exactly, else all that start with a name; all, if none is named."""
    if not names:
        return set(ids)
    return {id_ for name in names for id_ in ids if id_ == name or (name not in ids and id_.startswith(name))}


def _setting(protocol: Protocol, gold: Facts, system: Facts) -> Setting:
    """Return what families know about the run."""
    attributes = in_order(gold.attributes_of(protocol.kinds))
    return Setting(
        align=partial(_align, protocol, attributes),
        family=MEASURES.get,
        unit=protocol.unit,
        collapse=None if protocol.collapse is None else protocol.collapse.representative,
        attributes=attributes,
        links=sorted(gold.links_of(protocol.kinds)),
        gold_kinds=gold.kinds,
        system_kinds=system.kinds,
        gold_clustered=gold.clustered,
    )


def _align(
    protocol: Protocol,
    attributes: Sequence[str],
    name: str,
    *,
    agree: Sequence[str] | None = None,
    rewarded: Sequence[str] | None = None,
) -> Alignment:
    """Return an alignment. All attributes are compared in every one, so that alignments share their candidates."""
    choice = protocol.alignment(name)
    rewarded = scorable(attributes) if rewarded is None else rewarded
    after = _align(protocol, attributes, choice.after, agree=agree, rewarded=rewarded) if choice.after else None
    return Alignment.of(choice, protocol.comparison, attributes, agree=agree, rewarded=rewarded, after=after)


def _having(field: "Field", attributes: Collection[str], measures: Sequence[AveragedMeasure]) -> list[AveragedMeasure]:
    """Return the measures that can be broken down by a field: all, unless only the items of some of them have it."""
    needed = set(field.attributes).difference(attributes)
    return [(measure, averages) for measure, averages in measures if needed.issubset(measure.fields)]


def is_indivisible(measure: Measure[Any, Any]) -> bool:
    """Return whether counts of parts of a document do not add up, as in coreference and hierarchies."""
    return measure.table.alignment is not None


def unit_of(document: Document, protocol: Protocol) -> str:
    """Return the name of a document's unit of evaluation; a document without a topic is a topic of its own."""
    if protocol.unit == "document":
        return document.id
    if protocol.unit == "corpus":
        return "corpus"
    if document.topic is None:
        return f"topic {document.id}"
    within = f" {document.subtopic}" if protocol.unit == "subtopic" and document.subtopic else ""
    return f"topic {document.topic}{within}"


def _have_same_places(pair: Pair) -> bool:
    """Return whether the mentions of both sides have the same spans; one without a span is identified by its id."""
    gold = [mention.span or mention.id for mention in pair.gold.mentions]
    system = [mention.span or mention.id for mention in pair.system.mentions]
    return gold == system or (set(gold).issuperset(system) and set(system).issuperset(gold))  # most fail early


def in_order(attributes: Iterable[str]) -> tuple[str, ...]:
    """Return attributes in their order: type, realis, then by name."""
    first = {"type": 0, "realis": 1}
    return tuple(sorted(attributes, key=lambda name: (first.get(name, 2), name)))
