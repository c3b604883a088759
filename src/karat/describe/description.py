"""What is in a corpus: documents, mentions, attributes, clusters and links, counted in one pass.

Only counts are kept, so memory grows only with the number of different values and of clusters.
`Description` as JSON is what `karat describe -f json` prints:

    documents            how many
    fingerprint          the corpus's fingerprint, as in the signature of a score
    units                documents by unit of offsets
    topics, subtopics    {present, absent: documents with and without one, distinct: how many there are}
    sources, languages   the same with values, see below
    mentions             by kind of mention: {mentions, one_segment, several_segments, no_span}
    attributes           by kind of mention, then by name: {present, absent: mentions with and without it, distinct,
                         values: [{value, count}] most frequent first, more: {values, count} that are not listed}
    clusters             by kind of cluster: {clusters, singleton, within, across, empty, largest}
    cluster_attributes   as attributes, of the records that clusters have; one in several documents counts in each
    links                by kind, without arguments
    arguments            links from events and templates to what fills their roles, by role
    ecbplus              only for ECB+ files: Table 1 of Upadhyay et al. (2016), see `ecb_table`

A cluster is a singleton (one mention), within one document, across documents, or empty (a record without mentions);
a mention without a cluster is a singleton. The kind of a cluster is that of its record, else that of its mentions.
Subtopics belong to their topic: two topics may use the same name.
"""

from msgspec import UNSET, Struct, UnsetType

from karat.describe.ecb_table import EcbTable
from karat.model import Value


class Present(Struct, frozen=True):
    """A property of documents: how many have it, how many do not, and how many different values there are."""

    present: int
    absent: int
    distinct: int


class Count(Struct, frozen=True):
    """A value and how often it occurs."""

    value: Value
    count: int


class More(Struct, frozen=True):
    """Values that are not listed: how many, and how often they occur together."""

    values: int
    count: int


class Values(Struct, frozen=True):
    """An attribute's values, most frequent first."""

    present: int
    absent: int
    distinct: int
    values: tuple[Count, ...]
    more: More


class Mentions(Struct, frozen=True):
    """The mentions of a kind, by the shape of their spans."""

    mentions: int
    one_segment: int
    several_segments: int
    no_span: int


class Clusters(Struct, frozen=True):
    """The clusters of a kind, by where their mentions are; `largest` is a number of mentions."""

    clusters: int
    singleton: int
    within: int
    across: int
    empty: int
    largest: int


class Description(Struct, frozen=True):
    """What is in a corpus."""

    documents: int
    fingerprint: str
    units: dict[str, int]
    topics: Present
    subtopics: Present
    sources: Values
    languages: Values
    mentions: dict[str, Mentions]
    attributes: dict[str, dict[str, Values]]
    clusters: dict[str, Clusters]
    cluster_attributes: dict[str, dict[str, Values]]
    links: dict[str, int]
    arguments: dict[str, int]
    ecbplus: EcbTable | UnsetType = UNSET
