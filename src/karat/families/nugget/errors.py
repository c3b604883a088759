"""Errors of mentions: of a wrong type, of a wrong realis, with wrong boundaries, split, merged, missed, spurious.

They are found from the outcomes of a measure that did not earn everything. Missed and spurious mentions that overlap
are paired, best Dice first. An error belongs to the first class in the order of definition that describes it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec.structs import replace

from karat.insight.repairs import Edit, Repair
from karat.insight.units import Classes, DocumentView, ErrorKind, Findings, FoundError, Target, UnitView
from karat.limits import check_pairs
from karat.match.alignment import Alignment, CandidatePairs
from karat.match.similarities import overlaps
from karat.model import Document, Mention, Pair, Value
from karat.plugin import ArgumentItem, Comparison, Outcome, Tables
from karat.problems import quoted
from karat.records import Cell
from karat.regions import size

Attributed = Mention | ArgumentItem
ABSENT = "(none)"


def _classes(target: Target, names: Set[str]) -> Classes:
    del names
    return {
        "split": "one gold mention, but several system mentions on parts of it",
        "merged": "several gold mentions, but one system mention over them",
        **{_wrong(name): f"the mentions overlap, but the {name} is not gold's" for name in target.attributes},
        "boundary": "the mentions overlap, but the span is not gold's",
        "missed": "no system mention is left that overlaps the gold mention",
        "spurious": "no gold mention is left that overlaps the system mention",
    }


def _wrong(attribute: str) -> str:
    return f"wrong {attribute}"


class _Outcomes(NamedTuple):
    """The outcomes of a document: aligned mentions that earned everything or less, and mentions without a partner."""

    right: list[tuple[Mention, Mention]]
    partial: list[tuple[Mention, Mention]]
    missed: list[Mention]
    spurious: list[Mention]
    """Without a gold mention, or aligned with one that another system mention matches better."""
    listed: set[str]
    """Ids of the system mentions that have an outcome."""
    unmatched: Counter[str]
    """How many wrong outcomes without a gold mention a system mention has, by id; it may also be matched in another."""


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    errors: list[FoundError] = []
    compared: list[tuple[Mention | None, Mention | None]] = []
    by_document: dict[str | None, dict[int, list[Outcome[Any]]]] = {}
    for index, (document, measure, table) in enumerate(unit.tables):
        for outcome in measure.outcomes(table):
            by_document.setdefault(document or outcome.document, {}).setdefault(index, []).append(outcome)
    for view in unit.documents.values():
        outcomes = _outcomes(by_document.get(view.id, {}).values())
        found = _DocumentErrors(unit, view, target.attributes, outcomes)
        errors += found.errors(outcomes)
        compared += [*outcomes.right, *found.compared]
    return Findings(errors, confusions(compared, confused))


ERRORS = ErrorKind(_classes, _find)


def confusions(
    compared: Iterable[tuple[Attributed | None, Attributed | None]], attributes: Sequence[str]
) -> dict[str, dict[Cell, int]]:
    """Confusion matrices: how often values of attributes were aligned; None for a mention without a partner."""
    cells: dict[str, dict[Cell, int]] = {name: {} for name in attributes}
    for gold, system in compared if attributes else ():
        for name, counts in cells.items():
            cell = _value(gold, name), _value(system, name)
            counts[cell] = counts.get(cell, 0) + 1
    return cells


def _value(item: Attributed | None, name: str) -> str | None:
    return None if item is None else str(item.attributes.get(name, ABSENT))


def _outcomes(of_measures: Iterable[Iterable[Outcome[Any]]]) -> _Outcomes:
    """The outcomes of one measure, or of several that share an alignment: wrong in one of them is wrong."""
    found: dict[tuple[str | None, str | None], tuple[Mention | None, Mention | None, bool]] = {}
    golds, systems = set[str](), set[str]()
    most_unmatched: Counter[str] = Counter()
    for outcomes in of_measures:
        matched: set[str] = set()
        unmatched: Counter[str] = Counter()
        for outcome in outcomes:
            gold, system = outcome.gold, outcome.system
            assert isinstance(gold, Mention | None), "the table has mentions"
            assert isinstance(system, Mention | None), "the table has mentions"
            if gold is not None and system is not None:
                if gold.id in matched:
                    gold = None  # another system mention matches it better
                else:
                    matched.add(gold.id)
                    golds.add(gold.id)
                    systems.add(system.id)
            key = None if gold is None else gold.id, None if system is None else system.id
            is_right = outcome.counts.lost() <= 0
            found[key] = gold, system, is_right and found.get(key, (gold, system, True))[2]
            if gold is None and system is not None and not is_right:
                unmatched[system.id] += 1
        most_unmatched |= unmatched
    result = _Outcomes([], [], [], [], {system for _, system in found if system is not None}, most_unmatched)
    for gold, system, is_right in found.values():
        if gold is not None and system is not None:
            (result.right if is_right else result.partial).append((gold, system))
        elif gold is not None and not is_right and gold.id not in golds:
            result.missed.append(gold)
        elif system is not None and not is_right and system.id not in systems:
            result.spurious.append(system)
    return result


class _DocumentErrors:
    """Sorts the outcomes of one document into classes."""

    def __init__(self, unit: UnitView, view: DocumentView, attributes: Sequence[str], outcomes: _Outcomes) -> None:
        self._unit, self._view, self._attributes = unit, view, attributes
        self._uncounted = dict.fromkeys(
            mention.id for mention in view.pair.system.mentions if mention.id not in outcomes.listed
        )
        """Mentions without an outcome, since the measure counts them as one with others: repairs leave one of each."""
        self._unmatched = outcomes.unmatched
        systems = {mention.id: mention for mention in view.pair.system.mentions}
        spurious = {mention.id for mention in outcomes.spurious}
        self._unmatched_at = Counter(
            {systems[id_].span: count for id_, count in outcomes.unmatched.items() if id_ not in spurious}
        )
        """By span: the unmatched outcomes of mentions that are right for one gold mention, but not for others there."""
        self.compared: list[tuple[Mention | None, Mention | None]] = []
        """Mentions that are not right, each with its partner of the other side, if it has one."""

    def errors(self, outcomes: _Outcomes) -> Iterator[FoundError]:
        """Yield each error once: of a split or merged mention, of two that overlap, of one that is left over."""
        done_gold, done_system = set[str](), set[str]()
        yield from self._split_and_merged(outcomes, done_gold, done_system)
        for gold, system in outcomes.partial:
            if gold.id not in done_gold and system.id not in done_system:
                self.compared.append((gold, system))
                if (error := self._pair(gold, system, outcomes=1)) is not None:
                    yield error
        missed = [mention for mention in outcomes.missed if mention.id not in done_gold]
        spurious = [mention for mention in outcomes.spurious if mention.id not in done_system]
        for gold, system in self._near(missed, spurious):
            if (error := self._pair(gold, system, outcomes=1 + self._count([system]))) is not None:
                self.compared.append((gold, system))
                done_gold.add(gold.id)
                done_system.add(system.id)
                yield error
        for gold in missed:
            if gold.id not in done_gold:
                self.compared.append((gold, None))
                edit = Edit(added={gold.id: replace(gold, cluster=None)})
                yield self._error("missed", (gold,), (), edit, outcomes=1 + self._unmatched_at.pop(gold.span, 0))
        for system in spurious:
            if system.id not in done_system:
                self.compared.append((None, system))
                edit = Edit(mentions={system.id: None})
                yield self._error("spurious", (), (system,), edit, outcomes=self._count([system]))

    def _split_and_merged(
        self, outcomes: _Outcomes, done_gold: set[str], done_system: set[str]
    ) -> Iterator[FoundError]:
        """Yield the errors of mentions that overlap several of the other side; add the ids of all of these."""
        partners = {gold.id: system for gold, system in outcomes.partial}
        golds = [gold for gold, _ in outcomes.partial] + outcomes.missed
        systems = [system for _, system in outcomes.partial] + outcomes.spurious
        for gold, pieces, best in _several(self._view.id, golds, systems, partners):
            done_gold.add(gold.id)
            done_system.update(piece.id for piece in pieces)
            self.compared += [(gold, best), *((None, piece) for piece in pieces if piece is not best)]
            yield self._split(gold, best, pieces, outcomes=self._count(pieces) + (gold.id not in partners))
        partners = {system.id: gold for gold, system in outcomes.partial}
        for system, parts, best in _several(self._view.id, systems, golds, partners):
            done_system.add(system.id)
            done_gold.update(piece.id for piece in parts)
            self.compared += [(best, system), *((piece, None) for piece in parts if piece is not best)]
            counted = 0 if system.id in partners else self._count([system])
            yield self._merged(best, parts, system, outcomes=len(parts) + counted)

    def _count(self, systems: Iterable[Mention]) -> int:
        """Count the outcomes of system mentions that are matched with no gold mention."""
        return sum(max(1, self._unmatched[mention.id]) for mention in systems)

    def _near(self, missed: Sequence[Mention], spurious: Sequence[Mention]) -> Iterator[tuple[Mention, Mention]]:
        """Missed and spurious mentions that overlap, best Dice first, each once at most.

        Mentions without spans are paired by id, unless the measure aligns by overlap: it will never match them.
        """
        specs = [counted.measure.table for counted in self._unit.tables]
        by_overlap = any(isinstance(spec, Alignment) and spec.candidates.similarity == "dice" for spec in specs)
        for similarity in ("dice",) if by_overlap else ("dice", "exact"):
            golds = [mention for mention in missed if bool(mention.span) == (similarity == "dice")]
            systems = [mention for mention in spurious if bool(mention.span) == (similarity == "dice")]
            if golds and systems:
                yield from near(self._view.pair, golds, systems, self._unit.comparison, similarity=similarity)

    def _pair(self, gold: Mention, system: Mention, *, outcomes: int) -> FoundError | None:
        """Return the error of a mention that overlaps gold's: the first attribute that differs, or else its span."""
        for name in self._attributes:
            value = gold.attributes.get(name)
            if not self._unit.comparison.agrees(name, value, system.attributes.get(name)):
                mended = replace(system, attributes=_with(system.attributes, name, value))
                edit = Edit(mentions={system.id: mended})
                return self._error(_wrong(name), (gold,), (system,), edit, outcomes=outcomes)
        if gold.span == system.span:
            return None
        edit = Edit(mentions={system.id: at_place_of(system, gold)})
        return self._error("boundary", (gold,), (system,), edit, outcomes=outcomes)

    def _split(self, gold: Mention, best: Mention, pieces: Sequence[Mention], *, outcomes: int) -> FoundError:
        """One of the pieces becomes the whole, the others leave."""
        removed = {piece.id: None for piece in pieces if piece is not best}
        edit = Edit(mentions={**removed, best.id: at_place_of(best, gold)})
        return self._error("split", (gold,), pieces, edit, outcomes=outcomes)

    def _merged(self, best: Mention, parts: Sequence[Mention], system: Mention, *, outcomes: int) -> FoundError:
        """The mention is cut: one for each gold mention, all with its attributes."""
        added = {f"{system.id}+{part.id}": at_place_of(system, part) for part in parts if part is not best}
        edit = Edit(mentions={system.id: at_place_of(system, best)}, added=added)
        return self._error("merged", parts, (system,), edit, outcomes=outcomes)

    def _error(
        self, name: str, gold: Sequence[Mention], system: Sequence[Mention], edit: Edit, *, outcomes: int = 1
    ) -> FoundError:
        edit.keep_links = False
        edit.mentions = self._uncounted | edit.mentions
        instance = self._unit.instance(self._view.id, gold, system, outcomes)
        return FoundError(name, instance, [Repair(self._view.id, edit)])


def near(
    pair: Pair,
    gold: Sequence[Mention],
    system: Sequence[Mention],
    comparison: Comparison,
    *,
    similarity: str = "dice",
    agree: tuple[str, ...] = (),
) -> Iterator[tuple[Mention, Mention]]:
    """Mentions of one document that are alike and agree on some attributes, best first, each at most once."""
    alignment = Alignment(CandidatePairs(similarity, agree, comparison), agree, "greedy")
    sides: list[Document] = [
        replace(side, mentions=tuple(mentions)) for side, mentions in ((pair.gold, gold), (pair.system, system))
    ]
    for g, s, _, _ in alignment.make(Tables(Pair(*sides))).pairs:
        yield gold[g], system[s]


def _several(
    document: str, mentions: Sequence[Mention], others: Sequence[Mention], partners: Mapping[str, Mention]
) -> Iterator[tuple[Mention, list[Mention], Mention]]:
    """Yield mentions that overlap several of the other side, which overlap neither each other nor anything else.

    The best of the several is the mention's partner, or else the longest.
    """
    pieces_of: dict[int, list[int]] = {}
    overlapping = overlaps([mention.span for mention in mentions], [other.span for other in others])
    check_pairs(len(overlapping), "or more pairs of overlapping mentions", where=f"document {quoted(document)}")
    for piece, mention in overlapping:
        pieces_of.setdefault(mention, []).append(piece)
    times = Counter(piece for piece, _ in overlapping)
    for mention, pieces in pieces_of.items():
        if len(pieces) > 1 and all(times[piece] == 1 for piece in pieces):
            several = sorted([others[piece] for piece in pieces], key=lambda other: other.span)
            best = partners.get(mentions[mention].id, max(several, key=lambda piece: size(piece.span)))
            if best in several and all(one.span[-1][1] <= next_.span[0][0] for one, next_ in pairwise(several)):
                yield mentions[mention], several, best


def at_place_of(mention: Mention, other: Mention) -> Mention:
    """A mention where another one is; what it refers to stays."""
    kept = ("id", "kind", "cluster", "attributes", "confidence")
    return replace(other, **{name: getattr(mention, name) for name in kept})


def _with(attributes: Mapping[str, Value], name: str, value: Value | None) -> dict[str, Value]:
    rest = {key: known for key, known in attributes.items() if key != name}
    return rest if value is None else {**rest, name: value}
