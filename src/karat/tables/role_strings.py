"""The strings that fill a role of an event, gold's against the system's (Wang et al. 2024, MAVEN-Arg)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

from msgspec import Struct

from karat.errors import quoted
from karat.limits import check_pairs
from karat.model import ClusterKey, Document, Mention
from karat.model.arguments import Argument, Event
from karat.model.texts import mention_text
from karat.plugin import ArgumentItem, ErrorsOf, Tables, TableSpec
from karat.tables.arguments import BothEvents
from karat.tables.strings import best_pairs, normalised


class Agreement(NamedTuple):
    """How much two strings agree: whether they are equal, and their words as bags."""

    accuracy: Fraction
    precision: Fraction
    recall: Fraction
    f1: Fraction


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
        pair, (gold, system) = tables.pair, tables.get(BothEvents())
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
        """What identifies the entity."""
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
