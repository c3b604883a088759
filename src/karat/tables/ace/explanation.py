"""What `--details` lists: attributes, mentions and arguments side by side, and why a mapped element lost value."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from karat.model import Value
from karat.tables.ace.detection import DetectionTable
from karat.tables.ace.recognition import RecognitionTable
from karat.tables.ace.records import Argument, ScoredMention

NamedValues = dict[str, Value]


class ComparedPart(NamedTuple):
    """A mention or an argument of a mapped element with its counterpart: attributes that can be confused."""

    kind: str
    gold: NamedValues | None
    system: NamedValues | None


def compared_attributes(
    table: DetectionTable | RecognitionTable, gold: str | None, system: str | None
) -> tuple[NamedValues | None, NamedValues | None]:
    """The attributes of two elements, or of one that is alone, that can be confused."""
    return (
        None if gold is None else _existing(table.gold[gold].element.attributes, table.compared),
        None if system is None else _existing(table.system[system].element.attributes, table.compared),
    )


def compared_parts(table: DetectionTable | RecognitionTable, gold: str, system: str) -> Iterator[ComparedPart]:
    """The mentions or arguments of two elements that are mapped to each other: mapped, missed, and spurious."""
    if isinstance(table, RecognitionTable):
        for our_argument, their_argument in _arguments(table, gold, system):
            roles = [None if one is None else NamedValues(role=one.role) for one in (our_argument, their_argument)]
            yield ComparedPart("argument", *roles)
        return
    for ours, theirs in _mentions(table, gold, system):
        named = [None if one is None else _mention_attributes(table, one) for one in (ours, theirs)]
        if ours is not None and theirs is not None and named[1] is not None and not _same_extent(ours, theirs):
            named[1]["extent"] = "wrong"
        yield ComparedPart("mention", *named)


def losses(table: DetectionTable | RecognitionTable, gold: str, system: str) -> list[str]:
    """Why an element that is mapped is not worth all that its reference is, in words."""
    ours, theirs = table.gold[gold].element.attributes, table.system[system].element.attributes
    wrong = table.wrong_attributes(gold, system)
    attributes = [f"{name} {theirs.get(name, '-')} for {ours.get(name, '-')}" for name in wrong]
    if isinstance(table, RecognitionTable):
        return [*attributes, *_lost_arguments(table, gold, system)]
    return [*attributes, *_lost_mentions(table, gold, system)]


def _lost_mentions(table: DetectionTable, gold: str, system: str) -> Iterator[str]:
    names = tuple(table.want.parameters.W_Merr) if table.want.kind == "entity" else ()
    for ours, theirs in _mentions(table, gold, system):
        if theirs is None and ours is not None:
            yield f"mention {ours.mention.id} missed"
        elif ours is None and theirs is not None:
            yield f"mention {theirs.mention.id} {'spurious' if theirs.unmapped else 'of another element'}"
        elif ours is not None and theirs is not None:
            for name, one, other in zip(names, ours.attributes, theirs.attributes, strict=True):
                if one != other and None not in (one, other):
                    yield f"mention {theirs.mention.id}: {name} {other} for {one}"


def _mentions(
    table: DetectionTable, gold: str, system: str
) -> Iterator[tuple[ScoredMention | None, ScoredMention | None]]:
    """Mentions of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
    for document in table.documents:
        scored = document.mentions
        ours, theirs = document.mentions_by_id
        (g, golds), (s, systems) = ours.get(gold, (-1, [])), theirs.get(system, (-1, []))
        mapped = [] if g < 0 or s < 0 else document.mapped(g, s)
        yield from ((scored.gold[one], scored.system[other]) for one, other in mapped)
        mapped_golds, mapped_systems = {one for one, _ in mapped}, {other for _, other in mapped}
        yield from ((scored.gold[number], None) for number in golds if number not in mapped_golds)
        yield from ((None, scored.system[number]) for number in systems if number not in mapped_systems)


def _mention_attributes(table: DetectionTable, mention: ScoredMention) -> NamedValues:
    attributes = zip(table.want.parameters.W_Merr, mention.attributes, strict=True) if mention.attributes else ()
    named: NamedValues = {name: str(value) for name, value in attributes if value is not None}
    return named | {"extent": "right"}


def _same_extent(gold: ScoredMention, system: ScoredMention) -> bool:
    """Whether both ends are within four characters of each other."""
    ours, theirs = gold.mention.span, system.mention.span
    return bool(ours and theirs) and abs(ours[0][0] - theirs[0][0]) <= 4 and abs(ours[-1][1] - theirs[-1][1]) <= 4


def _lost_arguments(table: RecognitionTable, gold: str, system: str) -> Iterator[str]:
    for ours, theirs in _arguments(table, gold, system):
        if ours is None and theirs is not None:
            yield f"{theirs.role} {theirs.element} spurious"
        elif ours is not None and theirs is None:
            yield f"{ours.role} {ours.element} missed"
        elif ours is not None and theirs is not None:
            values = table.arguments[ours.kind]
            ids = values.valued_pair(ours.element, theirs.element)
            value = table.argument_value(values.by_document, ids, table.system[system].documents)
            own = table.argument_value(values.gold_values, ours.element, table.gold[gold].documents)
            if ours.role != theirs.role:
                yield f"{theirs.role} for {ours.role} {ours.element}"
            if value < own:
                yield f"{ours.role} {theirs.element} is worth {value:.5f} of {own:.5f}"


def _arguments(table: RecognitionTable, gold: str, system: str) -> Iterator[tuple[Argument | None, Argument | None]]:
    """Arguments of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
    mapped = table.pairs[table.valued_pair(gold, system)].arguments
    ours, theirs = table.gold[gold].arguments, table.system[system].arguments
    for j, argument in enumerate(ours):
        yield argument, theirs[mapped[j]] if j in mapped else None
    taken = set(mapped.values())
    yield from ((None, argument) for i, argument in enumerate(theirs) if i not in taken)


def _existing(attributes: Mapping[str, Value], names: Iterable[str]) -> NamedValues:
    return {name: attributes[name] for name in names if name in attributes}
