"""`--details` of ACE tokens: attributes, mentions and arguments side by side, and why a mapped element lost value."""

from collections.abc import Iterator, Mapping
from typing import Any

from karat.measures._ace_tokens import TokenOutcome, is_correct, token_outcomes
from karat.model import Value
from karat.plugin import Detail, ElementItem
from karat.tables.ace.detection import DetectionTable
from karat.tables.ace.recognition import RecognitionTable, ValueTable
from karat.tables.ace.records import Element, ScoredMention, wrong_attributes


def token_details(kind: str, table: ValueTable) -> Iterator[Detail]:
    """Each token with what it was mapped to, what it lost and why; then the parts of those that are mapped."""
    for token in token_outcomes(table):
        gold = None if token.gold is None else table.gold[token.gold].element
        system = None if token.system is None else table.system[token.system].element
        listed = _listed(token, table)
        wrong: tuple[str, ...] = ()
        is_nominal = False
        if token.gold is not None and token.system is not None:
            wrong = tuple(table.wrong_attributes(token.gold, token.system))
            is_nominal = not wrong and table.is_wrong_by_rule(token.gold, token.system)
        yield Detail(
            kind,
            None if gold is None else _compared_attributes(table, gold),
            None if system is None else _compared_attributes(table, system),
            listed,
            listed.get("reference"),
            listed.get("system"),
            wrong,
            token.cost,
            is_nominal,
        )
        if token.gold is not None and token.system is not None:
            yield from _parts(table, token.gold, token.system)


def _compared_attributes(table: ValueTable, element: Element) -> ElementItem:
    """The attributes of an element that can be confused."""
    attributes = element.attributes
    return ElementItem(element.kind, {name: attributes[name] for name in table.compared if name in attributes})


def _parts(table: ValueTable, gold: str, system: str) -> Iterator[Detail]:
    """The mentions or arguments of two elements that are mapped to each other: mapped, missed, and spurious."""
    if isinstance(table, RecognitionTable):
        for our_argument, their_argument in table.argument_pairs(gold, system):
            our_role = None if our_argument is None else {"role": our_argument.role}
            their_role = None if their_argument is None else {"role": their_argument.role}
            yield Detail("argument", _item("argument", our_role), _item("argument", their_role))
    else:
        for ours, theirs in table.mention_pairs(gold, system):
            our_part = None if ours is None else {**ours.attributes, "extent": "right"}
            extent = "right" if ours is None or theirs is None or _same_extent(ours, theirs) else "wrong"
            their_part = None if theirs is None else {**theirs.attributes, "extent": extent}
            yield Detail("mention", _item("mention", our_part), _item("mention", their_part))


def _item(part: str, attributes: Mapping[str, Value] | None) -> ElementItem | None:
    return None if attributes is None else ElementItem(part, attributes)


def _same_extent(gold: ScoredMention, system: ScoredMention) -> bool:
    """Return whether both ends are within four characters of each other."""
    ours, theirs = gold.mention.span, system.mention.span
    return bool(ours and theirs) and abs(ours[0][0] - theirs[0][0]) <= 4 and abs(ours[-1][1] - theirs[-1][1]) <= 4


def _listed(token: TokenOutcome, table: ValueTable) -> dict[str, Any]:
    """The entry of a token in the list of outcomes."""
    listed: dict[str, Any] = {}
    if token.gold is not None:
        listed["reference"] = _written_id(table.gold[token.gold].element)
    if token.system is not None:
        listed["system"] = _written_id(table.system[token.system].element)
    if token.gold is None:
        return listed | {"outcome": "false alarm", "worth": 0.0, "value": 0.0 - token.cost, "lost": []}
    if token.system is None:
        return listed | {"outcome": "miss", "worth": token.worth, "value": 0.0, "lost": []}
    return listed | {
        "outcome": "correct" if is_correct(table, token.gold, token.system) else "error",
        "worth": token.worth,
        "value": token.worth - token.cost,
        "lost": list(_losses(table, token.gold, token.system)),
    }


def _written_id(element: Element) -> str:
    """The id in the file: of a promoted element, that of the mention."""
    return element.id if element.parent is None else element.mentions[0].id


def _losses(table: ValueTable, gold: str, system: str) -> Iterator[str]:
    """The reasons why a mapped element is not worth all that its reference is."""
    ours, theirs = table.gold[gold].element.attributes, table.system[system].element.attributes
    for name in table.wrong_attributes(gold, system):
        yield f"{name} {theirs.get(name, '-')} for {ours.get(name, '-')}"
    if isinstance(table, RecognitionTable):
        yield from _lost_arguments(table, gold, system)
    else:
        yield from _lost_mentions(table, gold, system)


def _lost_mentions(table: DetectionTable, gold: str, system: str) -> Iterator[str]:
    for ours, theirs in table.mention_pairs(gold, system):
        if theirs is None and ours is not None:
            yield f"mention {ours.mention.id} missed"
        elif ours is None and theirs is not None:
            yield f"mention {theirs.mention.id} {'spurious' if theirs.unmapped else 'of another element'}"
        elif ours is not None and theirs is not None:
            for name in wrong_attributes(ours, theirs):
                yield f"mention {theirs.mention.id}: {name} {theirs.attributes[name]} for {ours.attributes[name]}"


def _lost_arguments(table: RecognitionTable, gold: str, system: str) -> Iterator[str]:
    for ours, theirs in table.argument_pairs(gold, system):
        if ours is None and theirs is not None:
            yield f"{theirs.role} {theirs.element} spurious"
        elif ours is not None and theirs is None:
            yield f"{ours.role} {ours.element} missed"
        elif ours is not None and theirs is not None:
            values = table.arguments[ours.kind]
            ids = ours.element, theirs.element
            value = table.argument_value(values.by_document, ids, table.system[system].documents)
            own = table.argument_value(values.gold_values, ours.element, table.gold[gold].documents)
            if ours.role != theirs.role:
                yield f"{theirs.role} for {ours.role} {ours.element}"
            if value < own:
                yield f"{ours.role} {theirs.element} is worth {value:.5f} of {own:.5f}"
