"""Strings that fill roles, at three levels: mentions, entities, events (Wang et al. 2024, MAVEN-Arg)."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Literal

from karat.counts import Means
from karat.errors import Finding, Rule
from karat.plugin import ArgumentItem, Measure, Outcome
from karat.tables.role_strings import NOTHING, Agreement, FilledRole, RoleTable

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
        if self.level == "event":
            yield from _events(table.filled)
        else:
            by_level = _mentions if self.level == "mention" else _entities
            for role in table.filled:
                yield from by_level(role)

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


def _events(roles: Iterable[FilledRole]) -> Iterator[Outcome[Means]]:
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
        yield _outcome(role, gold, system, best._replace(accuracy=accuracy))


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
