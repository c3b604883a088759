"""Templates: incidents with a type, and the entities that fill their roles, compared as strings (MUC-4).

CEAF-REE, GTT's score and CEAF-RME are three scores of one task. All of them compare strings, not places: normalised to
lower case, without ASCII punctuation, articles and needless white space.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from karat.counts import PrecisionRecall
from karat.families.arg.keyed import above_one
from karat.families.template.arguments import entity_arguments, similar_arguments, slot_arguments
from karat.families.template.mapping import MappedTemplates, Side, TemplateMapping
from karat.families.template.similarity import SimilarTemplates, TemplateSimilarity
from karat.families.template.templates import EntityAssignment, RoleEntities, TemplateTable
from karat.plugin import ArgumentMeasure, ArgumentPart, Card, DocumentArguments, Entry, Family, Outcome, Setting, Tally
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
        "template.type": "types of mapped templates alone (gtt-2021)",
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
        "slot, CEAF-RME asks for it in every string, CEAF-REE ignores it.",
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


class _TemplateMeasure(ArgumentMeasure[Any, PrecisionRecall], frozen=True):
    """Shared parts of all template measures."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Entities have roles."""
        return ("role",)

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The template and its type, the role, and the strings."""
        return ("template", "type", "role", "strings")

    def notes_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
        """Precision or recall above 1."""
        return above_one(self.id, total)


def _unknown(unknown: int) -> Iterator[Finding]:
    if unknown:
        entities = "1 entity has" if unknown == 1 else f"{unknown:,} entities have"
        yield NO_STRING.at(f"{entities} no known string, and {'is' if unknown == 1 else 'are'} not scored")


class Entities(_TemplateMeasure, frozen=True):
    """The entities of each role, assigned one-to-one (CEAF-REE)."""

    table: EntityAssignment

    @property
    def id(self) -> str:
        """By the similarity of entities."""
        return "template.ree.prop" if self.table.proportional else "template.ree"

    def count(self, table: TemplateTable[RoleEntities]) -> PrecisionRecall:
        """Add up similarities, and count entities."""
        earned = math.fsum(float(value) for role in table.parts for _, _, value in role.pairs)
        golds, systems = sum(len(role.gold) for role in table.parts), sum(len(role.system) for role in table.parts)
        return PrecisionRecall(earned, systems, earned, golds)

    def outcomes(self, table: TemplateTable[RoleEntities]) -> Iterator[Outcome[PrecisionRecall]]:
        """Assigned entities earn their similarity; others nothing."""
        for role in table.parts:
            for g, s, value in role.pairs:
                counts = PrecisionRecall(float(value), 1, float(value), 1)
                label = "" if value >= 1 else "partial"
                yield Outcome(role.gold[g].item, role.system[s].item, counts, label, role.document)
            golds, systems = {g for g, _, _ in role.pairs}, {s for _, s, _ in role.pairs}
            for index, entity in enumerate(role.gold):
                if index not in golds:
                    yield Outcome(entity.item, None, PrecisionRecall(0, 0, 0, 1), "", role.document)
            for index, entity in enumerate(role.system):
                if index not in systems:
                    yield Outcome(None, entity.item, PrecisionRecall(0, 1, 0, 0), "", role.document)

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The role and the strings."""
        return ("role", "strings")

    def arguments(self, table: TemplateTable[RoleEntities]) -> Iterator[DocumentArguments]:
        """Entities, whatever their template."""
        return entity_arguments(table)

    def notes(self, table: TemplateTable[RoleEntities], counts: PrecisionRecall) -> Iterable[Finding]:
        """Entities without strings."""
        del counts
        return _unknown(0 if self.id.endswith(".prop") else table.unknown)


class TemplateTypes(_TemplateMeasure, frozen=True):
    """The types of mapped templates (GTT)."""

    id = "template.type"

    @property
    def fields(self) -> tuple[str, ...]:
        """A type has no role."""
        return ()

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """The template and its type."""
        return ("template", "type")

    def arguments(self, table: TemplateTable[MappedTemplates]) -> Iterator[DocumentArguments]:
        """Templates without their entities."""
        return (slot_arguments(document, types_only=True) for document in table.parts)

    def outcomes(self, table: TemplateTable[MappedTemplates]) -> Iterator[Outcome[PrecisionRecall]]:
        """The type of a mapped template is right."""
        for document in table.parts:
            for g, s in document.pairs:
                gold, system = document.gold[g].template.mention, document.system[s].template.mention
                yield Outcome(gold, system, PrecisionRecall(1, 1, 1, 1), "", document.document)
            for side in document.gold:
                if not side.is_mapped:
                    yield Outcome(side.template.mention, None, PrecisionRecall(0, 0, 0, 1), "", document.document)
            for side in document.system:
                if not side.is_mapped:
                    yield Outcome(None, side.template.mention, PrecisionRecall(0, 1, 0, 0), "", document.document)


class Slots(_TemplateMeasure, frozen=True):
    """The types and entities of mapped templates (GTT)."""

    table: TemplateMapping
    id = "template.slots"

    def count(self, table: TemplateTable[MappedTemplates]) -> PrecisionRecall:
        """Count types and entities, and those that are right."""
        golds = [side for document in table.parts for side in document.gold]
        systems = [side for document in table.parts for side in document.system]
        return PrecisionRecall(*_right_and_all(systems), *_right_and_all(golds))

    def outcomes(self, table: TemplateTable[MappedTemplates]) -> Iterator[Outcome[PrecisionRecall]]:
        """Types, then each entity of either side by itself: entities are not matched one-to-one."""
        yield from TemplateTypes(self.table).outcomes(table)
        for document in table.parts:
            for side in document.gold:
                for entity, right in zip(side.template.entities, side.right, strict=True):
                    label = "match" if right else ""
                    yield Outcome(entity.item, None, PrecisionRecall(0, 0, right, 1), label, document.document)
            for side in document.system:
                for entity, right in zip(side.template.entities, side.right, strict=True):
                    label = "match" if right else ""
                    yield Outcome(None, entity.item, PrecisionRecall(right, 1, 0, 0), label, document.document)

    def arguments(self, table: TemplateTable[MappedTemplates]) -> Iterator[DocumentArguments]:
        """Templates and their entities."""
        return (slot_arguments(document, types_only=False) for document in table.parts)

    def notes(self, table: TemplateTable[MappedTemplates], counts: PrecisionRecall) -> Iterable[Finding]:
        """Entities without strings."""
        del counts
        return _unknown(table.unknown)


def _right_and_all(sides: Sequence[Side]) -> tuple[int, int]:
    right = sum(side.is_mapped + sum(side.right) for side in sides)
    return right, sum(1 + len(side.right) for side in sides)


class MentionSimilarity(_TemplateMeasure, frozen=True):
    """Templates by what their entities share (CEAF-RME)."""

    table: TemplateSimilarity

    @property
    def id(self) -> str:
        """By the similarity of templates."""
        return "template.rme" if self.table.phi == "phi3" else "template.rme.subset"

    def count(self, table: TemplateTable[SimilarTemplates]) -> PrecisionRecall:
        """Count strings or entities, and those that are right."""
        golds = [gold for one in table.parts for gold in one.gold]
        systems = [system for one in table.parts for system in one.system]
        return PrecisionRecall(
            sum([one.right for one in systems]),
            sum([one.size for one in systems]),
            sum([one.right for one in golds]),
            sum([one.size for one in golds]),
        )

    def outcomes(self, table: TemplateTable[SimilarTemplates]) -> Iterator[Outcome[PrecisionRecall]]:
        """Each entity of either side, with what it has in common with its counterpart."""
        for one in table.parts:
            for gold in one.gold:
                label = _label(gold.right, gold.size, "miss")
                counts = PrecisionRecall(0, 0, gold.right, gold.size)
                yield Outcome(gold.entity.item, None, counts, label, one.document)
            for system in one.system:
                label = _label(system.right, system.size, "spurious")
                yield Outcome(
                    None, system.entity.item, PrecisionRecall(system.right, system.size, 0, 0), label, one.document
                )

    def arguments(self, table: TemplateTable[SimilarTemplates]) -> Iterator[DocumentArguments]:
        """Entities by their templates."""
        return (similar_arguments(one) for one in table.parts)

    def notes(self, table: TemplateTable[SimilarTemplates], counts: PrecisionRecall) -> Iterable[Finding | Tally]:
        """Entities without strings."""
        del counts
        tied = sum(document.is_tied for document in table.parts)
        if tied:
            yield Tally(TIES, "documents in which equally similar templates differ in the entities that they hit", tied)
        yield from _unknown(0 if self.id.endswith(".subset") else table.unknown)


def _label(right: int, size: int, nothing: str) -> str:
    return nothing if not right else "match" if right >= size else "partial"


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
        return [Slots(TemplateMapping()), TemplateTypes(TemplateMapping())]
    empty = parameters.empty_documents
    return [
        MentionSimilarity(TemplateSimilarity("phi3", empty)),
        MentionSimilarity(TemplateSimilarity("subset", empty)),
    ]


FAMILY = Family(CARD, Parameters, measures)
