"""Strings of fillers, normalised as question answering does it (Rajpurkar et al. 2016), and their assignment."""

import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import lcm
from typing import Literal, NamedTuple

from msgspec.structs import replace

from karat.arguments import Argument, Event
from karat.counts import Means
from karat.families.arg.events import EVENTS, Compared, DocumentsMeasure, DocumentsSpec
from karat.limits import check_pairs
from karat.match.assignment import Edge, assignment
from karat.model import Document, Mention
from karat.plugin import (
    ArgumentItem,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
    Tables,
)
from karat.problems import Finding, Rule, quoted
from karat.words import mention_text

_DELETED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


@lru_cache(maxsize=65536)
def normalised(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation (deleted, not blanked), articles and needless blanks."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_DELETED)).split())


def best_pairs(values: Mapping[Edge, Fraction]) -> list[Edge]:
    """Return the one-to-one assignment with the greatest sum of values, computed with whole numbers."""
    scale = lcm(*{value.denominator for value in values.values()})
    return assignment({pair: int(value * scale) for pair, value in values.items() if value})


class Agreement(NamedTuple):
    """Agreement of two strings: 1 if they are equal, and of their words as bags."""

    accuracy: Fraction
    precision: Fraction
    recall: Fraction
    f1: Fraction


NOTHING = Agreement(*[Fraction(0)] * 4)


def _agreement(gold: Sequence[str], system: Sequence[str]) -> Agreement:
    shared = (Counter(gold) & Counter(system)).total()
    return Agreement(
        Fraction(gold == system),
        Fraction(shared, len(system)),
        Fraction(shared, len(gold)),
        Fraction(2 * shared, len(gold) + len(system)),
    )


class Filling(NamedTuple):
    """An argument with the texts of its mentions."""

    event: Mention
    argument: Argument
    texts: tuple[tuple[Mention, str], ...]

    @property
    def item(self) -> ArgumentItem:
        """The argument as an outcome names it."""
        return ArgumentItem(self.argument.role, self.event, self.argument.mentions, self.argument.cluster)

    @property
    def identity(self) -> Hashable:
        """The key that identifies the entity."""
        return self.argument.cluster or (self.argument.mentions[0].id,)


class StringPair(NamedTuple):
    """A gold string and a system string that are assigned to each other."""

    entity: int
    """The index of the gold entity among those that fill the role."""
    gold: ArgumentItem
    system: ArgumentItem
    agreement: Agreement


class Role(NamedTuple):
    """A role of a trigger, and what it is filled by on either side."""

    golds: Sequence[Filling]
    systems: Sequence[Filling]
    event: Hashable = None
    """The event of gold that the trigger refers to."""
    pairs: tuple[StringPair, ...] = ()
    """Assigned strings that have something in common."""
    rest: tuple[ArgumentItem, ...] = ()
    """System strings that are assigned to gold strings with which they have nothing in common."""

    @property
    def is_filled(self) -> bool:
        """True if both sides fill it."""
        return bool(self.golds and self.systems)


class DocumentRoles(NamedTuple):
    """The roles of a document that count."""

    document: str
    roles: tuple[Role, ...]
    ignored: tuple[Role, ...]
    """Roles that do not count: those of system events on a gold trigger that have the wrong type."""
    unknown: int
    """Mentions that fill a role, but whose text is not known."""
    gold: tuple[Mention, ...]
    """All events."""
    system: tuple[Mention, ...]


class RoleStrings(DocumentsSpec[DocumentRoles], frozen=True, cache_hash=True):
    """The roles of gold's triggers, and those of system events on no gold trigger."""

    def make(self, tables: Tables) -> tuple[DocumentRoles, ...]:
        """List the roles of one document."""
        pair, (gold, system) = tables.pair, tables.get(EVENTS)
        filled = [_fillings(event, pair.gold, pair.system) for event in gold]
        answers: dict[tuple[Hashable, Hashable], dict[str, list[Filling]]] = {}
        for event in system:
            merged = answers.setdefault(_key(event.mention), {})
            for role, fillings in _fillings(event, pair.system, pair.gold).items():
                merged.setdefault(role, []).extend(fillings)
        roles: list[Role] = []
        for index, (event, golds) in enumerate(zip(gold, filled, strict=True)):
            systems = answers.get(_key(event.mention), {})
            for role in dict.fromkeys([*golds, *systems]):
                identity = event.mention.cluster or index
                roles.append(_compared_role(pair.gold.id, identity, golds.get(role, ()), systems.get(role, ())))
        triggers, known = {event.mention.span for event in gold}, {_key(event.mention) for event in gold}
        ignored: list[Role] = []
        for key in [key for key in answers if key not in known]:
            (ignored if key[0] in triggers else roles).extend(Role((), systems) for systems in answers[key].values())
        every = sum(len(argument.mentions) for event in (*gold, *system) for argument in event.arguments)
        sides = [fillings for side in (*filled, *answers.values()) for fillings in side.values()]
        unknown = every - sum(len(filling.texts) for fillings in sides for filling in fillings)
        events = (tuple(event.mention for event in side) for side in (gold, system))
        return (DocumentRoles(pair.gold.id, tuple(roles), tuple(ignored), unknown, *events),)


def _key(event: Mention) -> tuple[Hashable, Hashable]:
    """Return the trigger and the type of an event."""
    return event.span, event.attributes.get("type")


def _fillings(event: Event, *documents: Document) -> dict[str, list[Filling]]:
    """Return the roles of an event that are filled by at least one string."""
    roles: dict[str, list[Filling]] = {}
    for argument in event.arguments:
        texts = [(mention, mention_text(mention, *documents)) for mention in argument.mentions]
        known = tuple((mention, text) for mention, text in texts if text is not None)
        if known:
            roles.setdefault(argument.role, []).append(Filling(event.mention, argument, known))
    return roles


def _compared_role(document: str, event: Hashable, gold: Sequence[Filling], system: Sequence[Filling]) -> Role:
    """Assign the strings of both sides, by the F1 of their words."""
    if not gold or not system:
        return Role(gold, system, event)
    golds, systems = list(_words(gold)), list(_words(system))
    what = f"pairs of strings in the role {quoted(gold[0].argument.role)}"
    check_pairs(len(golds) * len(systems), what, where=f"document {quoted(document)}", origin="gold")
    agreements = {
        (g, s): _agreement(words, others)
        for g, (_, _, words) in enumerate(golds)
        for s, (_, _, others) in enumerate(systems)
        if not {*words}.isdisjoint(others)
    }
    chosen = best_pairs({pair: agreement.f1 for pair, agreement in agreements.items()})
    taken = {s for _, s in chosen}
    free = (item for s, (_, item, _) in enumerate(systems) if s not in taken)
    pairs = tuple(StringPair(*golds[g][:2], systems[s][1], agreements[g, s]) for g, s in chosen)
    return Role(gold, system, event, pairs, tuple(islice(free, min(len(golds), len(systems)) - len(chosen))))


def _words(fillings: Iterable[Filling]) -> Iterator[tuple[int, ArgumentItem, list[str]]]:
    """Yield each string: the index of its entity, the string as an item, and its words."""
    for entity, (event, argument, texts) in enumerate(fillings):
        for mention, text in texts:
            yield entity, ArgumentItem(argument.role, event, (mention,)), normalised(text).split()


NO_TEXT = Rule("argument-no-text", "note", "Give the text of the mention, or that of its document.")

Level = Literal["mention", "entity", "event"]
LEVELS: tuple[Level, ...] = ("mention", "entity", "event")

ZERO = Means(0, 0, 0, 0, 1)
"""An item that earns nothing."""


class RoleMeans(DocumentsMeasure[DocumentRoles, Means], frozen=True):
    """The mean agreement of strings over the items of one level."""

    level: Level

    @property
    def id(self) -> str:
        """`arg.` and the level."""
        return f"arg.{self.level}"

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The roles of a trigger of the right type."""
        return ("trigger", "type", "role", "strings")

    def compared(self, document: DocumentRoles) -> Iterator[Compared[Means]]:
        """List one outcome per item; a role that only one side fills is one item, for which the first one stands."""
        for role in document.roles:
            if not role.is_filled:
                gold, system = (next((filling.item for filling in side), None) for side in (role.golds, role.systems))
                yield gold, system, ZERO, ""
        yield from (compared for _, compared in self._filled(document))

    def _filled(self, document: DocumentRoles) -> Iterator[tuple[Role, Compared[Means]]]:
        """List the outcomes of roles that both sides fill."""
        roles = [role for role in document.roles if role.is_filled]
        if self.level == "event":
            yield from _of_events(roles)
        else:
            by_level = _of_mentions if self.level == "mention" else _of_entities
            yield from ((role, compared) for role in roles for compared in by_level(role))

    def document_arguments(self, document: DocumentRoles) -> DocumentArguments:
        """List the fillers of each role."""
        wrong: Counter[int] = Counter()
        for role, (_, _, counts, _) in self._filled(document):
            wrong[id(role)] += counts.lost() > 0
        lone = [role for role in document.roles if not role.is_filled]
        filled = [role for role in document.roles if role.is_filled]
        counted = [(role, 1) for role in lone] + [(role, 0) for role in document.ignored]
        outcomes = [
            ArgumentOutcome(_argument(role.golds), _argument(role.systems), times)
            for role, times in [*counted, *((role, wrong[id(role)]) for role in filled)]
        ]
        golds, systems = ({_key(event): event for event in reversed(side)} for side in (document.gold, document.system))
        known = (frozenset((span, None, type_) for span, type_ in side) for side in (golds, systems))
        return DocumentArguments(document.document, tuple(_united(outcomes)), golds, systems, *known)

    def notes(self, table: tuple[DocumentRoles, ...], counts: Means) -> Iterable[Finding]:
        """Report fillers whose text is not known."""
        del counts
        unknown = sum(document.unknown for document in table)
        if unknown and self.level == LEVELS[0]:
            yield NO_TEXT.at(f"{unknown:,} mentions fill a role, but have no text; they are not compared")


def _of_mentions(role: Role) -> Iterator[Compared[Means]]:
    """Each assigned pair of strings, times min(n, m) / max(n, m) of the numbers of strings."""
    fewer, more = sorted(sum(len(filling.texts) for filling in side) for side in (role.golds, role.systems))
    for pair in role.pairs:
        yield _outcome(pair.gold, pair.system, pair.agreement, Fraction(fewer, more))
    for system in role.rest:
        yield None, system, ZERO, ""


def _of_entities(role: Role) -> Iterator[Compared[Means]]:
    """Each gold entity: its best pair, or nothing."""
    best = _best(role)
    for index, filling in enumerate(role.golds):
        yield _outcome(filling.item, *best.get(index, (None, NOTHING)))


def _of_events(roles: Iterable[Role]) -> Iterator[tuple[Role, Compared[Means]]]:
    """Each gold entity in a role of an event: its best over the triggers of the event."""
    found: dict[Hashable, list[tuple[Role, ArgumentItem, ArgumentItem | None, Agreement]]] = {}
    for role in roles:
        best = _best(role)
        for index, filling in enumerate(role.golds):
            key = role.event, filling.argument.role, filling.identity
            found.setdefault(key, []).append((role, filling.item, *best.get(index, (None, NOTHING))))
    for every in found.values():
        role, gold, system, agreement = max(every, key=lambda found: found[3].f1)
        accuracy = max(found[3].accuracy for found in every)
        yield role, _outcome(gold, system, agreement._replace(accuracy=accuracy))


def _best(role: Role) -> dict[int, tuple[ArgumentItem | None, Agreement]]:
    """Return the best of the pairs of each entity that has any."""
    best: dict[int, tuple[ArgumentItem | None, Agreement]] = {}
    for pair in role.pairs:
        if pair.entity not in best or pair.agreement.f1 > best[pair.entity][1].f1:
            best[pair.entity] = pair.system, pair.agreement
    return best


def _outcome(
    gold: ArgumentItem, system: ArgumentItem | None, agreement: Agreement, share: Fraction = Fraction(1)
) -> Compared[Means]:
    label = "" if system is None or agreement.f1 == 1 else "partial"
    accuracy, precision, recall, f1 = (float(value * share) for value in agreement)
    return gold, system, Means(accuracy, precision, recall, f1, 1), label


def _argument(fillings: Sequence[Filling]) -> ComparedArgument | None:
    """Return the fillers of a role of an event, if there are any."""
    if not fillings:
        return None
    event, role = fillings[0].event, fillings[0].argument.role
    strings = frozenset(normalised(text) for filling in fillings for _, text in filling.texts)
    trigger, type_ = key = _key(event)
    return ComparedArgument(
        (key, role),
        tuple(filling.item for filling in fillings),
        key,
        {"trigger": trigger, "type": type_, "role": role, "strings": strings},
        tuple(Filler(filling.argument.mentions, filling.argument.cluster is not None) for filling in fillings),
    )


def _united(outcomes: Sequence[ArgumentOutcome]) -> Iterator[ArgumentOutcome]:
    """If gold has several events of one trigger and type, a system that is right fills a role with what all have.

    It then also fills the role for those events that lack it: no system can avoid that.
    """
    fillers: dict[Hashable, list[Filler]] = {}
    for outcome in outcomes:
        if outcome.gold is not None:
            fillers.setdefault(outcome.gold.key, []).extend(outcome.gold.fillers)
    for gold, system, wrong in outcomes:
        if gold is not None:
            gold = replace(gold, fillers=tuple(fillers[gold.key]))
        elif system is not None and system.key in fillers:
            system = replace(system, is_attainable=False)
        yield ArgumentOutcome(gold, system, wrong)
