"""Templates: incidents with a type, and the entities that fill their roles, compared as strings (MUC-4).

CEAF-REE, GTT's score and CEAF-RME are three scores of one task. All of them compare strings, not places: normalised to
lower case, without ASCII punctuation, articles and needless white space.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from karat.counts import PrecisionRecall
from karat.families.arg.events import Compared, DocumentsMeasure
from karat.families.arg.keyed import above_one
from karat.families.template.mapping import TemplateMapping
from karat.families.template.similarity import TemplateSimilarity
from karat.families.template.templates import (
    DocumentEntities,
    Entity,
    EntityAssignment,
    PairedTemplates,
    Scored,
    Template,
)
from karat.match.assignment import Edge
from karat.model import Mention
from karat.plugin import (
    ArgumentOutcome,
    ArgumentPart,
    Card,
    ComparedArgument,
    DocumentArguments,
    Entry,
    Family,
    Filler,
    Item,
    Setting,
    Tally,
)
from karat.problems import Finding, Rule

TIES = Rule(
    "template-ties", "note", "karat takes those that hit more; the reference program takes any, with another recall."
)
NO_STRING = Rule("entity-no-string", "note", "Give the text of its mentions, or that of the document.")

CARD = Card(
    title="Templates",
    rows={
        "template.ree": "entities of each role, whatever their template: CEAF-REE (ree-2021)",
        "template.ree.prop": "the same with partial credit for entities that share some strings (ree-2021)",
        "template.slots": "types and entities of mapped templates (gtt-2021)",
        "template.type": "types alone, of the templates that template.slots maps (gtt-2021)",
        "template.rme": "mentions that templates share: CEAF-RME with φ3 (rme-2023)",
        "template.rme.subset": "entities that share a mention with one of the template: CEAF-RME with φ⊆ (rme-2023)",
    },
    formula="""\
ree      φ(g, s) = 1 if every string of s is one of g's, else 0     prop: |strings of g that s has| / |strings of s|
         numerator of P and R: the largest one-to-one Σ φ, by document and role; denominators: entities
slots    of all one-to-one mappings of templates, the one with the largest F1 of the document; pairs count if the
         system's type is part of gold's; then the type is right, each system entity if φ holds with any gold entity
         of the role, each gold entity if φ holds with any system entity; denominators: all types and entities
rme      φ3(g, s) = the largest one-to-one Σ of strings that two entities share, with their type and role
         numerator of P and R: the largest one-to-one Σ φ3 over templates; denominators: strings
subset   numerator of P: system entities that share strings with gold entities of the mapped template; of R: gold
         entities that are hit; denominators: entities
F1 = 2PR / (P + R)     undefined ratios are 0""",
    symbols={
        "g, s": "a gold entity or template, a system entity or template",
        "φ, φ3": "how similar they are",
        "P, R": "precision, recall",
    },
    citation="Du, Rush and Cardie (2021), GRIT: Generative Role-filler Transformers for Document-level Event Entity "
    "Extraction (CEAF-REE); Du, Rush and Cardie (2021), Template Filling with Generative Transformers (GTT); Chen et "
    "al. (2023), Iterative Document-level Information Extraction via Imitation Learning (CEAF-RME); each as its "
    "program computes it.",
    traps=(
        "CEAF-REE, GTT's score and CEAF-RME are printed side by side in papers, but differ: GTT counts the type as a "
        "slot, CEAF-RME requires it in every string, CEAF-REE ignores it.",
        "Strings are compared, not places: two different mentions with one string are the same.",
        "template.ree and template.slots: one right mention of an entity earns everything, one wrong string nothing.",
        "template.rme: recall counts mentions, so that one right mention of an entity with three earns a third.",
        "gtt-2021: a system type that is a part of gold's fits: bombing in attack / bombing, but also ack in attack.",
        "Bug of IterX's program (rme-2023): a gold type that is a choice (attack / bombing) makes one copy of the "
        "template for each label, and all copies stay in the denominator of template.rme: a perfect answer has a "
        "recall below 1.",
        "template.ree.prop can exceed 1 if gold repeats a string.",
        "gtt-2021 does not match entities one-to-one: several system entities can be right with one gold entity.",
    ),
    departures=(
        "GTT's program tries every mapping, (m + 1)^n of them. karat finds the same one by branch and bound, also the "
        "first of several in the program's order.",
        "GRIT knows one table per document. Of several templates karat makes one, as GRIT's preprocessing does: an "
        "entity whose strings are a subset or superset of an earlier one's in the role is left out.",
        "IterX's program leaves recall to chance if assignments tie (φ⊆); karat takes the one that hits more.",
        "An entity without any string fits everything in GRIT's program, or divides by zero; karat leaves it out.",
    ),
    outcomes={
        "match": "the entity is right; in template.slots and template.rme each side lists its own entities",
        "partial": "template.ree.prop, template.rme: some of its strings are right",
    },
    laws=("order", "ids", "additive", "outcomes"),
)


D = TypeVar("D", DocumentEntities, PairedTemplates)


class _TemplateMeasure(DocumentsMeasure[D, PrecisionRecall], Generic[D], frozen=True):
    """The notes of template measures."""

    def notes(self, table: tuple[D, ...], counts: PrecisionRecall) -> Iterable[Finding | Tally]:
        """Report ties between templates, and entities without strings, once for each score."""
        del counts
        tied = sum(isinstance(document, PairedTemplates) and document.is_tied for document in table)
        if tied:
            yield Tally(TIES, "documents in which equally similar templates differ in the entities that they hit", tied)
        unknown = sum(document.unknown for document in table)
        if unknown and not self.id.endswith((".prop", ".subset", ".type")):
            entities = "1 entity has" if unknown == 1 else f"{unknown:,} entities have"
            yield NO_STRING.at(f"{entities} no known string, and {'is' if unknown == 1 else 'are'} not scored")

    def notes_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
        """Report a precision or recall above 1."""
        return above_one(self.id, total)


class Entities(_TemplateMeasure[DocumentEntities], frozen=True):
    """The entities of each role, assigned one-to-one (CEAF-REE)."""

    table: EntityAssignment

    @property
    def id(self) -> str:
        """By the similarity of entities."""
        return "template.ree.prop" if self.table.proportional else "template.ree"

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The role and the strings."""
        return ("role", "strings")

    def compared(self, document: DocumentEntities) -> Iterator[Compared[PrecisionRecall]]:
        """Assigned entities earn their similarity; others nothing."""
        for role in document.roles:
            for g, s, value in role.pairs:
                counts = PrecisionRecall(float(value), 1, float(value), 1)
                yield role.gold[g].item, role.system[s].item, counts, "" if value >= 1 else "partial"
            golds, systems = ({pair[side] for pair in role.pairs} for side in (0, 1))
            for g, entity in enumerate(role.gold):
                if g not in golds:
                    yield entity.item, None, PrecisionRecall(0, 0, 0, 1), ""
            for s, entity in enumerate(role.system):
                if s not in systems:
                    yield None, entity.item, PrecisionRecall(0, 1, 0, 0), ""

    def document_arguments(self, document: DocumentEntities) -> DocumentArguments:
        """List entities, whatever their template."""
        return entity_arguments(document)


class TemplateEntities(_TemplateMeasure[PairedTemplates], frozen=True):
    """The entities of templates that are paired (CEAF-RME), and their types (GTT)."""

    table: TemplateMapping | TemplateSimilarity

    @property
    def id(self) -> str:
        """By how templates are paired."""
        if isinstance(self.table, TemplateMapping):
            return "template.slots"
        return "template.rme" if self.table.phi == "phi3" else "template.rme.subset"

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The template and its type, the role, and the strings."""
        return ("template", "type", "role", "strings")

    def compared(self, document: PairedTemplates) -> Iterator[Compared[PrecisionRecall]]:
        """List types, then each entity of either side by itself, with what it has in common with its partner."""
        if isinstance(self.table, TemplateMapping):
            for gold, system, counts, label in _types(document):
                yield _type_slot(gold), _type_slot(system), counts, label
        for scored in document.gold_entities:
            yield scored.entity.item, None, PrecisionRecall(0, 0, scored.right, scored.size), _label(scored)
        for scored in document.system_entities:
            yield None, scored.entity.item, PrecisionRecall(scored.right, scored.size, 0, 0), _label(scored)

    def document_arguments(self, document: PairedTemplates) -> DocumentArguments:
        """List entities by their templates."""
        return template_arguments(document, counts_types=isinstance(self.table, TemplateMapping), counts_entities=True)


def _label(scored: Scored) -> str:
    return "" if not scored.right else "match" if scored.right >= scored.size else "partial"


def _type_slot(template: Item | None) -> Mention | None:
    """A template as the item of its type, which a breakdown by role counts under a name of its own."""
    if not isinstance(template, Mention):
        return None
    return replace(template, attributes={**template.attributes, "role": "incident type"})


def _types(document: PairedTemplates) -> Iterator[Compared[PrecisionRecall]]:
    """The type of a mapped template is right."""
    for g, s in document.pairs:
        yield document.gold[g].mention, document.system[s].mention, PrecisionRecall(1, 1, 1, 1), ""
    golds, systems = ({pair[side] for pair in document.pairs} for side in (0, 1))
    for g, template in enumerate(document.gold):
        if g not in golds:
            yield template.mention, None, PrecisionRecall(0, 0, 0, 1), ""
    for s, template in enumerate(document.system):
        if s not in systems:
            yield None, template.mention, PrecisionRecall(0, 1, 0, 0), ""


class TemplateTypes(_TemplateMeasure[PairedTemplates], frozen=True):
    """The types of mapped templates (GTT)."""

    id = "template.type"

    @property
    def fields(self) -> tuple[str, ...]:
        """A type has no role."""
        return ()

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        return ("template", "type")

    def compared(self, document: PairedTemplates) -> Iterator[Compared[PrecisionRecall]]:
        """List types."""
        return _types(document)

    def document_arguments(self, document: PairedTemplates) -> DocumentArguments:
        """List templates; their entities are not wrong."""
        return template_arguments(document, counts_types=True, counts_entities=False)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters that a protocol may set."""

    score: Literal["ree", "slots", "rme"] = "ree"
    """The score by which templates are compared."""
    empty_documents: Literal["score", "ignore"] = "score"
    """With `rme`: score or ignore documents without gold templates."""


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """The rows of the protocol."""
    del setting
    if parameters.score == "ree":
        return [Entities(EntityAssignment()), Entities(EntityAssignment(proportional=True))]
    if parameters.score == "slots":
        return [TemplateEntities(TemplateMapping()), TemplateTypes(TemplateMapping())]
    return [TemplateEntities(TemplateSimilarity(phi, parameters.empty_documents)) for phi in ("phi3", "subset")]


# Arguments, as error classes read them
#
# A template of the system has the key of the gold template that it is paired with. If it is paired with none, it gets
# that of the gold template with which it has most in common, so that a template of the wrong type is not missed and
# spurious.

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
        types = _typed_arguments(document.gold, gold_values), _typed_arguments(document.system, system_values)
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


def _typed_arguments(templates: Sequence[Template], values: Mapping[int, Values]) -> dict[int, ComparedArgument]:
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


FAMILY = Family(CARD, Parameters, measures)
