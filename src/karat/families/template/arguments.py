"""Templates and their entities as error classes read them.

A template of the system has the key of the gold template that it is mapped to. If it is mapped to none, it gets that of
the gold template with which it has most in common, so that a template of the wrong type is not missed and spurious.
"""

from collections.abc import Hashable, Iterator, Sequence

from msgspec.structs import replace

from karat.families.template.mapping import MappedTemplates, fits
from karat.families.template.similarity import Scored, SimilarTemplates
from karat.families.template.templates import Entity, RoleEntities, Template, TemplateTable, akin
from karat.model import Mention
from karat.plugin import ArgumentOutcome, ArgumentPart, ComparedArgument, DocumentArguments, Filler
from karat.problems import Origin

ONE_TABLE = 0
"""The key of the only template where templates do not count."""


def entity_arguments(table: TemplateTable[RoleEntities]) -> Iterator[DocumentArguments]:
    """The entities of each document, whatever their template."""
    documents: dict[str, list[RoleEntities]] = {}
    for role in table.parts:
        documents.setdefault(role.document, []).append(role)
    nothing = frozenset({(None, None, None)})
    for document, roles in documents.items():
        outcomes = tuple(outcome for role in roles for outcome in _role_outcomes(role))
        golds = _table_of([entity for role in roles for entity in role.gold])
        systems = _table_of([entity for role in roles for entity in role.system])
        yield DocumentArguments(document, outcomes, golds, systems, nothing, nothing)


def _table_of(entities: Sequence[Entity]) -> dict[Hashable, Mention]:
    """A template for the whole document, if there is an entity."""
    return {ONE_TABLE: entities[0].item.event} if entities else {}


def _role_outcomes(role: RoleEntities) -> Iterator[ArgumentOutcome]:
    golds, systems = (
        [_entity(one, ONE_TABLE, {}, key=(one.role, index)) for index, one in enumerate(side)]
        for side in (role.gold, role.system)
    )
    for g, s, value in role.pairs:
        yield ArgumentOutcome(golds[g], systems[s], int(value < 1))
    found = {g for g, _, _ in role.pairs}, {s for _, s, _ in role.pairs}
    yield from (ArgumentOutcome(one, None, 1) for g, one in enumerate(golds) if g not in found[0])
    yield from (ArgumentOutcome(None, one, 1) for s, one in enumerate(systems) if s not in found[1])


def _entity(
    entity: Entity,
    template: Hashable,
    values: dict[ArgumentPart, Hashable],
    *,
    key: Hashable,
    is_attainable: bool = True,
) -> ComparedArgument:
    item = entity.item
    return ComparedArgument(
        key,
        (item,),
        template,
        {**values, "role": entity.role, "strings": frozenset(entity.strings)},
        (Filler(item.mentions, item.cluster is not None),),
        is_attainable,
    )


class _Templates:
    """The templates of a document, each with its key and its type."""

    def __init__(self, gold: Sequence[Template], system: Sequence[Template], pairs: Sequence[tuple[int, int]]) -> None:
        self.gold, self.system = gold, system
        self.pairs = dict(pairs)
        self._keys: dict[int, Hashable] = {s: ("gold", g) for g, s in pairs}
        golds = [g for g in range(len(gold)) if g not in self.pairs]
        systems = [s for s in range(len(system)) if s not in self._keys]
        for g, s in akin([gold[g] for g in golds], [system[s] for s in systems]):
            self._keys[systems[s]] = "gold", golds[g]
        self._mapped = {s: g for g, s in pairs}

    def gold_key(self, index: int) -> Hashable:
        return "gold", index

    def system_key(self, index: int) -> Hashable:
        return self._keys.get(index, ("system", index))

    def gold_values(self, index: int) -> dict[ArgumentPart, Hashable]:
        return {"template": self.gold_key(index), "type": self.gold[index].type}

    def system_values(self, index: int) -> dict[ArgumentPart, Hashable]:
        """The type of a mapped template is right, if it is only a part of gold's, too."""
        mapped = self._mapped.get(index)
        type_ = self.system[index].type if mapped is None else self.gold[mapped].type
        return {"template": self.system_key(index), "type": type_}

    def entities(self, index: int, side: Origin) -> list[ComparedArgument]:
        """The entities of a template."""
        template = (self.gold if side == "gold" else self.system)[index]
        key = self.gold_key(index) if side == "gold" else self.system_key(index)
        values = self.gold_values(index) if side == "gold" else self.system_values(index)
        return [_entity(one, key, values, key=(index, place)) for place, one in enumerate(template.entities)]

    def document(self, document: str, outcomes: Sequence[ArgumentOutcome]) -> DocumentArguments:
        golds, systems = range(len(self.gold)), range(len(self.system))
        return DocumentArguments(
            document,
            tuple(outcomes),
            {self.gold_key(g): _typed(self.gold[g]) for g in golds},
            {self.system_key(s): _typed(self.system[s]) for s in systems},
            frozenset((None, self.gold_key(g), self.gold[g].type) for g in golds),
            frozenset((None, self.system_key(s), self.system_values(s)["type"]) for s in systems),
        )


def _typed(template: Template) -> Mention:
    mention = template.mention
    return replace(mention, attributes={**mention.attributes, "type": template.type})


def slot_arguments(document: MappedTemplates, *, types_only: bool) -> DocumentArguments:
    """The templates of a document, which count by their types, and their entities."""
    templates = _Templates(
        [side.template for side in document.gold], [side.template for side in document.system], document.pairs
    )
    golds = [
        ComparedArgument(("type", g), (side.template.mention,), templates.gold_key(g), templates.gold_values(g))
        for g, side in enumerate(document.gold)
    ]
    systems = [
        ComparedArgument(("type", s), (side.template.mention,), templates.system_key(s), templates.system_values(s))
        for s, side in enumerate(document.system)
    ]
    outcomes = [ArgumentOutcome(golds[g], systems[s]) for g, s in document.pairs]
    outcomes += [ArgumentOutcome(golds[g], None, 1) for g, side in enumerate(document.gold) if not side.is_mapped]
    outcomes += [ArgumentOutcome(None, systems[s], 1) for s, side in enumerate(document.system) if not side.is_mapped]
    return templates.document(document.document, [*outcomes, *_slots(document, templates, wrong=int(not types_only))])


def _slots(document: MappedTemplates, templates: _Templates, *, wrong: int) -> Iterator[ArgumentOutcome]:
    """Entities that are right, each with one of the other side that fits it; then those that are wrong."""
    golds = [templates.entities(g, "gold") for g in range(len(document.gold))]
    systems = [templates.entities(s, "system") for s in range(len(document.system))]
    for g, s in document.pairs:
        left = {index for index, right in enumerate(document.gold[g].right) if right}
        for index, partner in _partners(document.gold[g].template, document.system[s].template).items():
            left.discard(partner)
            yield ArgumentOutcome(golds[g][partner], systems[s][index])
        yield from (ArgumentOutcome(golds[g][index], None) for index in sorted(left))
    for own, side in zip(golds, document.gold, strict=True):
        yield from (
            ArgumentOutcome(each, None, wrong) for each, right in zip(own, side.right, strict=True) if not right
        )
    for own, side in zip(systems, document.system, strict=True):
        yield from (
            ArgumentOutcome(None, each, wrong) for each, right in zip(own, side.right, strict=True) if not right
        )


def _partners(gold: Template, system: Template) -> dict[int, int]:
    """For each entity of the system that is right in a mapped pair, the first of gold that it fits."""
    partners: dict[int, int] = {}
    for s, other in enumerate(system.entities):
        for g, one in enumerate(gold.entities):
            if fits(one, other):
                partners.setdefault(s, g)
    return partners


def similar_arguments(document: SimilarTemplates) -> DocumentArguments:
    """The entities of a document by their templates, of which only those of the same type are similar."""
    index_of = {g: index for index, g in enumerate(sorted(document.kept))}
    pairs = [(index_of[g], s) for g, s in document.pairs]
    templates = _Templates([document.gold_templates[g] for g in index_of], document.system_templates, pairs)
    golds = [_similar(scored, index, index_of, templates) for index, scored in enumerate(document.gold)]
    systems = [compared for s in range(len(document.system_templates)) for compared in templates.entities(s, "system")]
    outcomes: list[ArgumentOutcome] = []
    partners = set[int]()
    for compared, scored in zip(systems, document.system, strict=True):
        gold, wrong = None, int(scored.right < scored.size)
        if scored.partner is not None:
            gold = golds[scored.partner]
            if scored.partner not in partners:  # several may share something with it, but it is wrong once
                wrong += document.gold[scored.partner].right < document.gold[scored.partner].size
            partners.add(scored.partner)
        outcomes.append(ArgumentOutcome(gold, compared, wrong))
    for index, (compared, scored) in enumerate(zip(golds, document.gold, strict=True)):
        if index not in partners:
            outcomes.append(ArgumentOutcome(compared, None, int(scored.right < scored.size)))
    return templates.document(document.document, outcomes)


def _similar(scored: Scored, key: int, index_of: dict[int, int], templates: _Templates) -> ComparedArgument:
    index = index_of.get(scored.template)
    if index is None:  # a copy of a template under another of its types
        return _entity(scored.entity, ("copy", scored.template), {}, key=key, is_attainable=False)
    return _entity(scored.entity, templates.gold_key(index), templates.gold_values(index), key=key)
