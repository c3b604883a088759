"""Records that the formulas read: elements of a document, their mentions and arguments, and pairs of them.

The plan's words are kept: a token is what an element has in one document, `own` is a value against itself, and
`unmapped` the (negative) value of what is mapped to nothing.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from karat.model import Boxes, Mention, Region, Value

Location = Region | Boxes

MAIN_ROLES = ("Arg-1", "Arg-2")
"""The roles of the two arguments that a relation is asserted of."""


class Argument(Struct, frozen=True, gc=False):
    """An element that plays a role in a relation or an event."""

    role: str
    kind: str
    element: str
    """The id of the element, or of the mention that was promoted to one."""


class Element(Struct, gc=False, eq=False):
    """An entity, value, time, relation or event: what it is, where it is mentioned, and its arguments."""

    id: str
    kind: str
    attributes: Mapping[str, Value]
    mentions: Sequence[Mention]
    inherent: float
    """Element_Value against itself; a promoted mention has that of its element."""
    arguments: Sequence[Argument] = ()
    parent: str | None = None
    """The element that this one was a mention of, before it was promoted."""
    heads: Location = ()
    """Of a promoted relation mention: from the first to the last head of Arg-1 and Arg-2, or their boxes."""


class ScoredMention(Struct, gc=False, eq=False):
    """A mention of an entity, value or time with what it is worth."""

    mention: Mention
    element: int
    """The number of its element."""
    region: Location
    """Its head, or the extent of a value or time."""
    size: float
    type_value: float
    """MTypeValue."""
    own: float
    """MMV against itself."""
    attributes: Mapping[str, Value] = {}
    """Attributes of W_Merr that it has, in its order."""
    unmapped: float = 0.0
    """MMV if it is unmapped, once it is known whether it corresponds to a reference mention."""


class Correspondence(Struct, frozen=True, gc=False):
    """Two mentions that may be mapped to each other, by their numbers."""

    gold: int
    system: int
    mmv: float
    """MMV(mention_sys) if they are mapped to each other."""
    overlap: float
    """mutual_overlap."""


class ElementToken(Struct, frozen=True, gc=False):
    """An entity, value or time as one document has it."""

    element: Element
    level: float
    """MTypeValue of its level."""
    own: float
    """Σ MMV of its mentions against themselves."""
    unmapped: float
    """Σ MMV of its mentions if they are all unmapped."""


class ElementPair(Struct, frozen=True, gc=False):
    """Two tokens with a mention in correspondence, under the best mapping of their mentions."""

    element_value: float
    mmv: float
    """Σ MMV over the system token's mentions, mapped and unmapped."""
    overlap: float
    mapped: list[Correspondence]


class RelationToken(Struct, frozen=True, gc=False):
    """A relation or event with the documents that mention it."""

    element: Element
    documents: Sequence[str]
    arguments: Sequence[Argument]
    own_values: list[float]
    """Value(arg, arg) of each argument."""
    own_total: float
    """Their sum."""
    value: float
    """Value(token) against itself."""


class ArgumentPair(Struct, frozen=True, gc=False):
    """Two arguments that may be in correspondence."""

    value: float
    """Value(arg_sys, arg_ref)."""
    role_weight: float
    """W_err-role where their roles differ, else 1."""

    @property
    def preference(self) -> float:
        """The weight by which the best mapping is found."""
        return self.role_weight


class RelationCandidate(Struct, frozen=True, gc=False):
    """Two relations or events that may have a basis for correspondence."""

    gold: RelationToken
    system: RelationToken
    arguments: Mapping[tuple[int, int], ArgumentPair]
    """Arguments (system, gold) in correspondence, by their numbers."""
    overlap: float
    """The overlap of their mention extents."""


class RelationPair(Struct, frozen=True, gc=False):
    """Two relations or events that may be mapped to each other."""

    value: float
    arguments: dict[int, int]
    """Numbers of gold arguments, and of the system arguments they are mapped to."""


def differing(names: Iterable[str], gold: Element, system: Element) -> list[str]:
    """The attributes, of those named, in which two elements differ."""
    ours, theirs = gold.attributes, system.attributes
    return [] if ours == theirs else [name for name in names if ours.get(name) != theirs.get(name)]


def wrong_attributes(gold: ScoredMention, system: ScoredMention) -> list[str]:
    """The attributes of W_Merr that two mentions both have and in which they differ."""
    ours, theirs = gold.attributes, system.attributes
    return [] if ours == theirs else [name for name in ours if name in theirs and ours[name] != theirs[name]]
