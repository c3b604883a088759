"""Strings that fill roles, at three levels: mentions, entities, events (Wang et al. 2024, MAVEN-Arg)."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Literal

from msgspec.structs import replace

from karat.counts import Means
from karat.errors import Finding, Rule
from karat.model import Mention
from karat.plugin import (
    ArgumentItem,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
    Measure,
    Outcome,
)
from karat.tables.role_strings import NOTHING, Agreement, FilledRole, Filling, RoleTable, TriggerEvents

NO_TEXT = Rule("argument-no-text", "note", "Give the text of the mention, or that of its document.")

Level = Literal["mention", "entity", "event"]
LEVELS: tuple[Level, ...] = ("mention", "entity", "event")

ZERO = Means(0, 0, 0, 0, 1)
"""An item that earns nothing."""


class RoleMeans(Measure[RoleTable, Means], frozen=True):
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
    def attributes(self) -> tuple[str, ...]:
        """The type of an event must be right."""
        return ("type",)

    @property
    def argument_parts(self) -> tuple[ArgumentPart, ...]:
        """The roles of a trigger of the right type."""
        return ("trigger", "type", "role", "strings")

    def arguments(self, table: RoleTable) -> Iterator[DocumentArguments]:
        """What fills each role, document by document."""
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

    def remarks(self, table: RoleTable, counts: Means) -> Iterable[Finding]:
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
    for number, (_, gold) in enumerate(role.entities):
        yield _outcome(role, gold, *best.get(number, (None, NOTHING)))


def _key(event: Mention) -> Hashable:
    return event.span, event.attributes.get("type")


def _document(events: TriggerEvents, outcomes: tuple[ArgumentOutcome, ...]) -> DocumentArguments:
    sides = events.gold, events.system
    golds, systems = ({_key(one): one for one in reversed(side)} for side in sides)
    known = [frozenset((one.span, None, one.attributes.get("type")) for one in side) for side in sides]
    return DocumentArguments(events.document, outcomes, golds, systems, *known)


def _compared(items: Sequence[ArgumentItem], fillings: Sequence[Filling] = ()) -> ComparedArgument | None:
    """What fills a role of an event, if anything does."""
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
        for number, (identity, gold) in enumerate(role.entities):
            found.setdefault((role.document, role.event, role.role, identity), []).append(
                (role, gold, *best_pairs.get(number, (None, NOTHING)))
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
