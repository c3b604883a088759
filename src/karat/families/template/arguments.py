"""Templates and their entities as error classes read them.

A template of the system has the key of the gold template that it is paired with. If it is paired with none, it gets
that of the gold template with which it has most in common, so that a template of the wrong type is not missed and
spurious.
"""

from collections.abc import Hashable, Mapping, Sequence

from msgspec.structs import replace

from karat.families.template.templates import DocumentEntities, Entity, PairedTemplates, Template
from karat.match.assignment import Edge
from karat.model import Mention
from karat.plugin import ArgumentOutcome, ArgumentPart, ComparedArgument, DocumentArguments, Filler

ONE_TABLE = 0
"""The key of the only template where templates do not count."""

Values = Mapping[ArgumentPart, Hashable]


def entity_arguments(document: DocumentEntities) -> DocumentArguments:
    """Return the entities of a document, whatever their template."""
    outcomes: list[ArgumentOutcome] = []
    for role in document.roles:
        sides = [
            [_argument(entity, ONE_TABLE, {}, key=(entity.role, index)) for index, entity in enumerate(side)]
            for side in (role.gold, role.system)
        ]
        outcomes += [ArgumentOutcome(sides[0][g], sides[1][s], int(value < 1)) for g, s, value in role.pairs]
        found = {g for g, _, _ in role.pairs}, {s for _, s, _ in role.pairs}
        outcomes += [ArgumentOutcome(gold, None, 1) for g, gold in enumerate(sides[0]) if g not in found[0]]
        outcomes += [ArgumentOutcome(None, system, 1) for s, system in enumerate(sides[1]) if s not in found[1]]
    golds = [entity for role in document.roles for entity in role.gold]
    systems = [entity for role in document.roles for entity in role.system]
    gold, system = ({ONE_TABLE: side[0].item.event} if side else {} for side in (golds, systems))
    nothing = frozenset({(None, None, None)})
    return DocumentArguments(document.document, tuple(outcomes), gold, system, nothing, nothing)


def _argument(
    entity: Entity, template: Hashable, values: Values, *, key: Hashable, is_attainable: bool = True
) -> ComparedArgument:
    compared: Values = {**values, "role": entity.role, "strings": frozenset(entity.strings)}
    filler = Filler(entity.item.mentions, entity.item.cluster is not None)
    return ComparedArgument(key, (entity.item,), template, compared, (filler,), is_attainable)


def template_arguments(document: PairedTemplates, *, counts_types: bool, counts_entities: bool) -> DocumentArguments:
    """Return the templates of a document, if they count by their types, and their entities."""
    golds = {g: template for g, template in enumerate(document.gold) if g not in document.dropped}
    gold_of = {s: g for g, s in document.pairs}
    free = [g for g in golds if g not in gold_of.values()], [s for s in range(len(document.system)) if s not in gold_of]
    alike = akin([golds[g] for g in free[0]], [document.system[s] for s in free[1]])
    key_of = {s: ("gold", g) for s, g in gold_of.items()} | {free[1][s]: ("gold", free[0][g]) for g, s in alike}
    gold_values: dict[int, Values] = {g: {"template": ("gold", g), "type": golds[g].type} for g in golds}
    system_values: dict[int, Values] = {}
    for s, template in enumerate(document.system):
        # The type of a paired template is right, even if it is only a part of gold's.
        type_ = golds[gold_of[s]].type if s in gold_of else template.type
        system_values[s] = {"template": key_of.get(s, ("system", s)), "type": type_}
    outcomes: list[ArgumentOutcome] = []
    if counts_types:
        types = _types(document.gold, gold_values), _types(document.system, system_values)
        outcomes += [ArgumentOutcome(types[0][g], types[1][s]) for g, s in document.pairs]
        outcomes += [ArgumentOutcome(types[0][g], None, 1) for g in golds if g in free[0]]
        outcomes += [ArgumentOutcome(None, types[1][s], 1) for s in free[1]]
    gold_arguments = [
        _argument(scored.entity, values["template"], values, key=index)
        if (values := gold_values.get(scored.template)) is not None
        else _argument(scored.entity, ("copy", scored.template), {}, key=index, is_attainable=False)
        for index, scored in enumerate(document.gold_entities)
    ]
    partners = set[int]()
    for index, scored in enumerate(document.system_entities):
        values = system_values[scored.template]
        gold, wrong = None, counts_entities * (scored.right < scored.size)
        if scored.partner is not None:
            gold, other = gold_arguments[scored.partner], document.gold_entities[scored.partner]
            if scored.partner not in partners:  # several may share something with it, but it is wrong once
                wrong += counts_entities * (other.right < other.size)
            partners.add(scored.partner)
        outcomes.append(ArgumentOutcome(gold, _argument(scored.entity, values["template"], values, key=index), wrong))
    for index, (argument, scored) in enumerate(zip(gold_arguments, document.gold_entities, strict=True)):
        if index not in partners:
            outcomes.append(ArgumentOutcome(argument, None, counts_entities * (scored.right < scored.size)))
    return DocumentArguments(
        document.document,
        tuple(outcomes),
        {values["template"]: _typed(golds[g]) for g, values in gold_values.items()},
        {values["template"]: _typed(document.system[s]) for s, values in system_values.items()},
        *(frozenset((None, *values.values()) for values in side.values()) for side in (gold_values, system_values)),
    )


def _types(templates: Sequence[Template], values: Mapping[int, Values]) -> dict[int, ComparedArgument]:
    """Return templates that count by themselves."""
    return {
        index: ComparedArgument(("type", index), (templates[index].mention,), compared["template"], compared)
        for index, compared in values.items()
    }


def _typed(template: Template) -> Mention:
    mention = template.mention
    return replace(mention, attributes={**mention.attributes, "type": template.type})


def akin(gold: Sequence[Template], system: Sequence[Template]) -> list[Edge]:
    """Pair templates by what they have in common: strings in the same role, else strings, else the type; best first."""
    found = []
    contents = [_strings(template) for template in system]
    for g, template in enumerate(gold):
        in_roles, strings = _strings(template)
        for s, other in enumerate(system):
            likeness = len(in_roles & contents[s][0]), len(strings & contents[s][1]), template.type == other.type
            if any(likeness):
                found.append((likeness, -g, -s))
    golds, systems = set[int](), set[int]()
    pairs = []
    for _, g, s in sorted(found, reverse=True):
        if g not in golds and s not in systems:
            golds.add(g)
            systems.add(s)
            pairs.append((-g, -s))
    return pairs


def _strings(template: Template) -> tuple[frozenset[tuple[str, str]], frozenset[str]]:
    """Return the strings of a template with their roles, and without."""
    in_roles = frozenset((entity.role, text) for entity in template.entities for text in entity.strings)
    return in_roles, frozenset(text for _, text in in_roles)
