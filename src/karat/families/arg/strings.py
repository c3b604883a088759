"""Strings of fillers, normalised as question answering does it (Rajpurkar et al. 2016), and their assignment."""

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import chain, islice
from math import lcm
from typing import Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from karat.arguments import Argument, Event
from karat.counts import Means
from karat.families.arg.events import EVENTS
from karat.limits import check_pairs
from karat.match.assignment import Edge, assignment
from karat.model import ClusterKey, Document, Mention
from karat.plugin import (
    ArgumentItem,
    ArgumentMeasure,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    ErrorsOf,
    Filler,
    Outcome,
    Tables,
    TableSpec,
)
from karat.problems import Finding, Rule, quoted
from karat.words import mention_text

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """In lower case, without ASCII punctuation (deleted, not blanked), articles and needless white space."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


def best_pairs(values: Mapping[Edge, Fraction]) -> list[Edge]:
    """The one-to-one assignment with the greatest sum of values, computed with whole numbers (see `assignment`)."""
    scale = lcm(*{value.denominator for value in values.values()})
    return assignment({pair: int(value * scale) for pair, value in values.items() if value})


class Agreement(NamedTuple):
    """Agreement of two strings: 1 if they are equal, and of their words as bags."""

    accuracy: Fraction
    precision: Fraction
    recall: Fraction
    f1: Fraction


NOTHING = Agreement(*[Fraction(0)] * 4)


class StringPair(NamedTuple):
    """A gold string and a system string that are assigned to each other."""

    entity: int
    """The index of the gold entity among those that fill the role."""
    gold: ArgumentItem
    system: ArgumentItem
    agreement: Agreement


class FilledRole(NamedTuple):
    """A role of a gold trigger that both sides fill."""

    document: str
    event: ClusterKey
    """The event that the trigger refers to."""
    role: str
    entities: tuple[tuple[object, ArgumentItem], ...]
    """The gold entities: what identifies each, and the item."""
    gold_strings: int
    system_strings: int
    pairs: tuple[StringPair, ...]
    """Assigned strings that have something in common."""
    rest: tuple[ArgumentItem, ...]
    """System strings that are assigned to gold strings with which they have nothing in common."""
    answers: "Sequence[Filling]"
    """Fillers that the system gives."""


class LoneRole(NamedTuple):
    """A role that only one side fills, with what it is filled by; the first stands for the role."""

    document: str
    golds: "Sequence[Filling]"
    systems: "Sequence[Filling]"

    @property
    def gold(self) -> ArgumentItem | None:
        """Gold's item."""
        return self.golds[0].item if self.golds else None

    @property
    def system(self) -> ArgumentItem | None:
        """The system's item."""
        return self.systems[0].item if self.systems else None


class TriggerEvents(NamedTuple):
    """The events of a document."""

    document: str
    gold: tuple[Mention, ...]
    system: tuple[Mention, ...]


class RoleTable(NamedTuple):
    """The table: the roles of some documents."""

    filled: tuple[FilledRole, ...]
    lone: tuple[LoneRole, ...]
    unknown: int
    """Mentions that fill a role, but whose text is not known."""
    ignored: tuple[LoneRole, ...]
    """Roles that do not count: those of system events on a gold trigger that have the wrong type."""
    events: tuple[TriggerEvents, ...]


class RoleStrings(TableSpec[RoleTable], Struct, frozen=True, cache_hash=True):
    """The roles of gold's triggers, and those of system events on no gold trigger."""

    def make(self, tables: Tables) -> RoleTable:
        """The roles of one document."""
        pair, (gold, system) = tables.pair, tables.get(EVENTS)
        id_ = pair.gold.id
        roles = [_roles(event, pair.gold, pair.system) for event in gold]
        answers: dict[tuple[object, object], dict[str, list[Filling]]] = {}
        for event in system:
            merged = answers.setdefault((event.mention.span, event.type), {})
            for role, fillings in _roles(event, pair.system, pair.gold).items():
                merged.setdefault(role, []).extend(fillings)
        filled: list[FilledRole] = []
        lone: list[LoneRole] = []
        for index, (event, golds) in enumerate(zip(gold, roles, strict=True)):
            systems = answers.get((event.mention.span, event.type), {})
            for role in dict.fromkeys([*golds, *systems]):
                if role in golds and role in systems:
                    cluster = event.mention.cluster or (id_, index)
                    filled.append(_filled(id_, cluster, role, golds[role], systems[role]))
                else:
                    lone.append(LoneRole(id_, golds.get(role, ()), systems.get(role, ())))
        triggers = {event.mention.span for event in gold}
        known = {(event.mention.span, event.type) for event in gold}
        ignored: list[LoneRole] = []
        for (span, type_), systems in answers.items():
            if (span, type_) not in known:
                (ignored if span in triggers else lone).extend(LoneRole(id_, (), own) for own in systems.values())
        every = sum(len(argument.mentions) for event in (*gold, *system) for argument in event.arguments)
        known_texts = (
            len(filling.texts)
            for side in (*roles, *answers.values())
            for fillings in side.values()
            for filling in fillings
        )
        unknown = every - sum(known_texts)
        events = TriggerEvents(id_, *(tuple(event.mention for event in side) for side in (gold, system)))
        return RoleTable(tuple(filled), tuple(lone), unknown, tuple(ignored), (events,))

    def add(self, tables: Sequence[RoleTable]) -> RoleTable:
        """Documents have no events in common."""
        return RoleTable(
            tuple(chain.from_iterable(table.filled for table in tables)),
            tuple(chain.from_iterable(table.lone for table in tables)),
            sum(table.unknown for table in tables),
            tuple(chain.from_iterable(table.ignored for table in tables)),
            tuple(chain.from_iterable(table.events for table in tables)),
        )

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"


def _roles(event: Event, *documents: Document) -> "dict[str, list[Filling]]":
    """The roles of an event that are filled by at least one string."""
    roles: dict[str, list[Filling]] = {}
    for argument in event.arguments:
        texts = [(mention, mention_text(mention, *documents)) for mention in argument.mentions]
        known = tuple((mention, text) for mention, text in texts if text is not None)
        if known:
            roles.setdefault(argument.role, []).append(Filling(event, argument, known))
    return roles


class _Filler(NamedTuple):
    """One string of what fills a role."""

    entity: int
    item: ArgumentItem
    words: tuple[str, ...]


def _filled(
    document: str, event: ClusterKey, role: str, gold: "Sequence[Filling]", system: "Sequence[Filling]"
) -> FilledRole:
    golds, systems = list(_fillers(gold)), list(_fillers(system))
    where = f"document {quoted(document)}"
    check_pairs(len(golds) * len(systems), f"pairs of strings in the role {quoted(role)}", where=where, origin="gold")
    agreements = {
        (g, s): _agreement(one.words, other.words)
        for g, one in enumerate(golds)
        for s, other in enumerate(systems)
        if not set(one.words).isdisjoint(other.words)
    }
    chosen = best_pairs({pair: agreement.f1 for pair, agreement in agreements.items()})
    taken = {s for _, s in chosen}
    free = (filler.item for s, filler in enumerate(systems) if s not in taken)
    return FilledRole(
        document,
        event,
        role,
        tuple((filling.identity, filling.item) for filling in gold),
        len(golds),
        len(systems),
        tuple(StringPair(golds[g].entity, golds[g].item, systems[s].item, agreements[g, s]) for g, s in chosen),
        tuple(islice(free, min(len(golds), len(systems)) - len(chosen))),
        system,
    )


class Filling(NamedTuple):
    """An argument with the texts of its mentions."""

    event: Event
    argument: Argument
    texts: tuple[tuple[Mention, str], ...]

    @property
    def item(self) -> ArgumentItem:
        """As an outcome names it."""
        return ArgumentItem(self.argument.role, self.event.mention, self.argument.mentions, self.argument.cluster)

    @property
    def strings(self) -> frozenset[str]:
        """Its texts, normalised."""
        return frozenset(normalised(text) for _, text in self.texts)

    @property
    def identity(self) -> object:
        """Key that identifies the entity."""
        return self.argument.cluster or (self.argument.mentions[0].id,)


def _fillers(fillings: Sequence[Filling]) -> Iterator[_Filler]:
    for entity, filling in enumerate(fillings):
        for mention, text in filling.texts:
            item = ArgumentItem(filling.argument.role, filling.event.mention, (mention,))
            yield _Filler(entity, item, tuple(normalised(text).split()))


def _agreement(gold: tuple[str, ...], system: tuple[str, ...]) -> Agreement:
    shared = (Counter(gold) & Counter(system)).total()
    return Agreement(
        Fraction(gold == system),
        Fraction(shared, len(system)),
        Fraction(shared, len(gold)),
        Fraction(2 * shared, len(gold) + len(system)),
    )


NO_TEXT = Rule("argument-no-text", "note", "Give the text of the mention, or that of its document.")

Level = Literal["mention", "entity", "event"]
LEVELS: tuple[Level, ...] = ("mention", "entity", "event")

ZERO = Means(0, 0, 0, 0, 1)
"""An item that earns nothing."""


class RoleMeans(ArgumentMeasure[RoleTable, Means], frozen=True):
    """The mean agreement of strings over the items of one level."""

    level: Level

    @property
    def id(self) -> str:
        """`arg.` and the level."""
        return f"arg.{self.level}"

    @property
    def fields(self) -> tuple[str, ...]:
        """Arguments have roles."""
        return ("role",)

    def outcomes(self, table: RoleTable) -> Iterator[Outcome[Means]]:
        """One outcome per item; a role that only one side fills is one item."""
        for lone in table.lone:
            yield Outcome(lone.gold, lone.system, ZERO, "", lone.document)
        yield from (outcome for _, outcome in self._filled(table))

    def _filled(self, table: RoleTable) -> Iterator[tuple[FilledRole, Outcome[Means]]]:
        """The outcomes of roles that both sides fill."""
        if self.level == "event":
            yield from _events(table.filled)
        else:
            by_level = _mentions if self.level == "mention" else _entities
            yield from ((role, outcome) for role in table.filled for outcome in by_level(role))

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The roles of a trigger of the right type."""
        return ("trigger", "type", "role", "strings")

    def arguments(self, table: RoleTable) -> Iterator[DocumentArguments]:
        """List the fillers of each role, document by document."""
        wrong: Counter[int] = Counter()
        for role, outcome in self._filled(table):
            wrong[id(role)] += outcome.counts.lost() > 0
        found: dict[str, list[ArgumentOutcome]] = {events.document: [] for events in table.events}
        for lone, count in [*((one, 1) for one in table.lone), *((one, 0) for one in table.ignored)]:
            gold, system = (_compared([one.item for one in own], own) for own in (lone.golds, lone.systems))
            found[lone.document].append(ArgumentOutcome(gold, system, count))
        for role in table.filled:
            golds, systems = [item for _, item in role.entities], [one.item for one in role.answers]
            found[role.document].append(ArgumentOutcome(_compared(golds), _compared(systems), wrong[id(role)]))
        for events in table.events:
            yield _document(events, tuple(_united(found[events.document])))

    def notes(self, table: RoleTable, counts: Means) -> Iterable[Finding]:
        """Fillers whose text is not known."""
        del counts
        if table.unknown and self.level == LEVELS[0]:
            yield NO_TEXT.at(f"{table.unknown:,} mentions fill a role, but have no text; they are not compared")


def _mentions(role: FilledRole) -> Iterator[Outcome[Means]]:
    """Each assigned pair of strings, times min(n, m) / max(n, m) of the numbers of strings."""
    fewer, more = sorted((role.gold_strings, role.system_strings))
    for pair in role.pairs:
        yield _outcome(role, pair.gold, pair.system, pair.agreement, Fraction(fewer, more))
    for system in role.rest:
        yield Outcome(None, system, ZERO, "", role.document)


def _entities(role: FilledRole) -> Iterator[Outcome[Means]]:
    """Each gold entity: its best pair, or nothing."""
    best = _best(role)
    for index, (_, gold) in enumerate(role.entities):
        yield _outcome(role, gold, *best.get(index, (None, NOTHING)))


def _key(event: Mention) -> Hashable:
    return event.span, event.attributes.get("type")


def _document(events: TriggerEvents, outcomes: tuple[ArgumentOutcome, ...]) -> DocumentArguments:
    sides = events.gold, events.system
    golds, systems = ({_key(one): one for one in reversed(side)} for side in sides)
    known = [frozenset((one.span, None, one.attributes.get("type")) for one in side) for side in sides]
    return DocumentArguments(events.document, outcomes, golds, systems, *known)


def _compared(items: Sequence[ArgumentItem], fillings: Sequence[Filling] = ()) -> ComparedArgument | None:
    """Return the fillers of a role of an event, if there are any."""
    if not items:
        return None
    event, role = items[0].event, items[0].role
    values: dict[ArgumentPart, Hashable] = {
        "trigger": event.span,
        "type": event.attributes.get("type"),
        "role": role,
        "strings": frozenset[str]().union(*(one.strings for one in fillings)),
    }
    fillers = tuple(Filler(item.mentions, item.cluster is not None) for item in items)
    return ComparedArgument((_key(event), role), tuple(items), _key(event), values, fillers)


def _united(outcomes: Sequence[ArgumentOutcome]) -> Iterator[ArgumentOutcome]:
    """If gold has several events of one trigger and type, a system that is right fills a role with what all have.

    It then fills the role for those events, too, that lack it: no system can avoid that.
    """
    fillers: dict[Hashable, list[Filler]] = {}
    for one in outcomes:
        if one.gold is not None:
            fillers.setdefault(one.gold.key, []).extend(one.gold.fillers)
    for gold, system, wrong in outcomes:
        if gold is not None:
            gold = replace(gold, fillers=tuple(fillers[gold.key]))
        elif system is not None and system.key in fillers:
            system = replace(system, is_attainable=False)
        yield ArgumentOutcome(gold, system, wrong)


def _events(roles: Iterable[FilledRole]) -> Iterator[tuple[FilledRole, Outcome[Means]]]:
    """Each gold entity in a role of an event: its best over the triggers of the event."""
    found: dict[object, list[tuple[FilledRole, ArgumentItem, ArgumentItem | None, Agreement]]] = {}
    for role in roles:
        best_pairs = _best(role)
        for index, (identity, gold) in enumerate(role.entities):
            found.setdefault((role.document, role.event, role.role, identity), []).append(
                (role, gold, *best_pairs.get(index, (None, NOTHING)))
            )
    for every in found.values():
        role, gold, system, best = max(every, key=lambda one: one[3].f1)
        accuracy = max(one[3].accuracy for one in every)
        yield role, _outcome(role, gold, system, best._replace(accuracy=accuracy))


def _best(role: FilledRole) -> dict[int, tuple[ArgumentItem | None, Agreement]]:
    """The best of the pairs of each entity that has any."""
    best: dict[int, tuple[ArgumentItem | None, Agreement]] = {}
    for pair in role.pairs:
        if pair.entity not in best or pair.agreement.f1 > best[pair.entity][1].f1:
            best[pair.entity] = pair.system, pair.agreement
    return best


def _outcome(
    role: FilledRole,
    gold: ArgumentItem,
    system: ArgumentItem | None,
    agreement: Agreement,
    share: Fraction = Fraction(1),
) -> Outcome[Means]:
    label = "" if system is None or agreement.f1 == 1 else "partial"
    return Outcome(gold, system, _means(agreement, share), label, role.document)


def _means(agreement: Agreement, share: Fraction) -> Means:
    accuracy, precision, recall, f1 = (float(one * share) for one in agreement)
    return Means(accuracy, precision, recall, f1, 1)
