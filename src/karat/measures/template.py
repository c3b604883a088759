"""Templates: incidents with a type, and the entities that fill their roles, compared as strings (MUC-4).

CEAF-REE, GTT's score and CEAF-RME are three scores of one task. All of them compare strings, not places: normalised to
lower case, without ASCII punctuation, articles and needless white space.
"""

from typing import Literal

from msgspec import Struct

from karat.measures._templates import Entities, MentionSimilarity, Slots, TemplateTypes
from karat.plugin import Card, Family, Row, Setting
from karat.tables.role_entities import EntityAssignment
from karat.tables.template_mapping import TemplateMapping
from karat.tables.template_similarity import TemplateSimilarity

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


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol may set."""

    score: Literal["ree", "slots", "rme"] = "ree"
    """How templates are compared."""
    empty_documents: Literal["score", "ignore"] = "score"
    """With `rme`: whether documents without gold templates count."""


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
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
