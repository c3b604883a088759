"""The strings that fill a role of an event, gold's against the system's (Wang et al. 2024, MAVEN-Arg)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from math import lcm
from typing import NamedTuple

from msgspec import Struct

from karat.model import ClusterKey, Mention, Pair
from karat.model.arguments import Argument, Event
from karat.plugin import ArgumentItem, ErrorsOf, Tables, TableSpec
from karat.tables.arguments import BothEvents
from karat.tables.sharing import Groups, Limit, alike, assigned
from karat.tables.strings import FillerTexts, normalised


class Agreement(NamedTuple):
    """How much two strings agree: whether they are equal, and their words as bags."""

    accuracy: Fraction
    precision: Fraction
    recall: Fraction
    f1: Fraction


MOST_STRINGS = 300_000
"""Strings of one document, counted in each role that they fill, and pairs of them: a few seconds."""
DIFFERENT = "pairs of different strings that fill a role"

NOTHING = Agreement(*[Fraction(0)] * 4)


class StringPair(NamedTuple):
    """A gold string and a system string that are assigned to each other."""

    entity: int
    """The number of the gold entity among those that fill the role."""
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
    """What the system fills the role with."""


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
        return _Document(tables.pair, *tables.get(BothEvents())).table()

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


class _Filler(NamedTuple):
    """One string of what fills a role."""

    entity: int
    item: ArgumentItem
    words: tuple[str, ...]


class _Strings:
    """The strings that fill a role."""

    def __init__(self, fillings: "Sequence[Filling]") -> None:
        self.fillings = fillings
        self.fillers = list(_fillers(fillings))
        self.groups = Groups([one.words for one in self.fillers], frozenset)


class _Document:
    """Compares the events of a document."""

    def __init__(self, pair: Pair, gold: Sequence[Event], system: Sequence[Event]) -> None:
        self._pair, self._gold, self._system = pair, gold, system
        self._unknown = 0
        self._strings = Limit(pair.gold.id, "strings that fill a role", MOST_STRINGS)
        self._pairs = Limit(pair.gold.id, DIFFERENT, MOST_STRINGS)

    def table(self) -> RoleTable:
        id_ = self._pair.gold.id
        filled: list[FilledRole] = []
        lone: list[LoneRole] = []
        texts = FillerTexts("gold", self._pair.gold, self._pair.system)
        roles = [self._roles(event, texts) for event in self._gold]
        answers: dict[tuple[object, object], dict[str, list[Filling]]] = {}
        texts = FillerTexts("system", self._pair.system, self._pair.gold)
        for event in self._system:
            merged = answers.setdefault((event.mention.span, event.type), {})
            for role, fillings in self._roles(event, texts).items():
                merged.setdefault(role, []).extend(fillings)
        strings: dict[tuple[object, object, str], _Strings] = {}
        for number, (event, own) in enumerate(zip(self._gold, roles, strict=True)):
            there = answers.get((event.mention.span, event.type), {})
            self._strings.add(len(there))  # each is an item of each gold event on the trigger
            for role in dict.fromkeys([*own, *there]):
                if role in own and role in there:
                    key = event.mention.span, event.type, role
                    if key not in strings:
                        strings[key] = _Strings(there[role])
                    cluster = event.mention.cluster or (id_, number)
                    filled.append(self._filled(cluster, role, _Strings(own[role]), strings[key]))
                else:
                    lone.append(LoneRole(id_, own.get(role, ()), there.get(role, ())))
        triggers = {event.mention.span for event in self._gold}
        known = {(event.mention.span, event.type) for event in self._gold}
        ignored: list[LoneRole] = []
        for (span, type_), there in answers.items():
            if (span, type_) not in known:
                (ignored if span in triggers else lone).extend(LoneRole(id_, (), own) for own in there.values())
        golds, systems = (tuple(event.mention for event in side) for side in (self._gold, self._system))
        events = TriggerEvents(id_, golds, systems)
        return RoleTable(tuple(filled), tuple(lone), self._unknown, tuple(ignored), (events,))

    def _roles(self, event: Event, source: FillerTexts) -> "dict[str, list[Filling]]":
        """The roles of an event that are filled by at least one string."""
        roles: dict[str, list[Filling]] = {}
        for argument in event.arguments:
            self._strings.add(len(argument.mentions))
            texts = [(mention, source.of(mention)) for mention in argument.mentions]
            known = [(mention, text) for mention, text in texts if text is not None]
            self._unknown += len(texts) - len(known)
            if known:
                roles.setdefault(argument.role, []).append(Filling(event, argument, tuple(known)))
        return roles

    def _filled(self, event: ClusterKey, role: str, gold: _Strings, system: _Strings) -> FilledRole:
        golds, systems = gold.fillers, system.fillers
        limit = Limit(self._pair.gold.id, DIFFERENT)  # of one assignment; many small ones take less time
        agreements = {groups: _agreement(one, other) for groups, one, other in alike(gold.groups, system.groups, limit)}
        self._pairs.add(len(agreements))
        scale = lcm(*{one.f1.denominator for one in agreements.values()})
        weights = {groups: int(one.f1 * scale) for groups, one in agreements.items()}
        chosen = assigned(weights, gold.groups, system.groups)
        taken = {s for (_, s), _ in chosen}
        free = (one.item for s, one in enumerate(systems) if s not in taken)
        return FilledRole(
            self._pair.gold.id,
            event,
            role,
            tuple((one.identity, one.item) for one in gold.fillings),
            len(golds),
            len(systems),
            tuple(
                StringPair(golds[g].entity, golds[g].item, systems[s].item, agreements[groups])
                for (g, s), groups in chosen
            ),
            tuple(islice(free, min(len(golds), len(systems)) - len(chosen))),
            system.fillings,
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
        """What identifies the entity."""
        return self.argument.cluster or (self.argument.mentions[0].id,)


def _fillers(fillings: Sequence[Filling]) -> Iterator[_Filler]:
    for number, one in enumerate(fillings):
        for mention, text in one.texts:
            item = ArgumentItem(one.argument.role, one.event.mention, (mention,))
            yield _Filler(number, item, tuple(normalised(text).split()))


def _agreement(gold: tuple[str, ...], system: tuple[str, ...]) -> Agreement:
    shared = (Counter(gold) & Counter(system)).total()
    return Agreement(
        Fraction(gold == system),
        Fraction(shared, len(system)),
        Fraction(shared, len(gold)),
        Fraction(2 * shared, len(gold) + len(system)),
    )
