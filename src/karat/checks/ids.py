"""Ids in the documents of a corpus, for formats in which an id means one thing everywhere (APF)."""

from array import array
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import chain

from karat.errors import Finding, Rule, quoted
from karat.model import Document

MENTION = Rule("mention-in-documents", "fatal", "Give each mention of the corpus its own id.")
KINDS = Rule("id-of-two-kinds", "fatal", "Give each element and each mention of the corpus its own id.")

PARTS = 64
"""Into how many parts numbers of ids are divided to be compared."""


class Ids:
    """Remembers in which document each id occurred first, and what it named there."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, str]] = {}

    def check(self, document: Document) -> Iterator[Finding]:
        """Each mention that another document has too, and each id that names two kinds of things.

        Whether an element may be in two documents is for a protocol to say.
        """
        named = [(f"{mention.kind} mention", mention.id) for mention in document.mentions]
        for kind, id_ in [*named, *((cluster.kind, cluster.id) for cluster in document.clusters)]:
            known, first = self._first.setdefault(id_, (kind, document.id))
            if first == document.id:
                continue
            which = f"{kind} {quoted(id_)} of document {quoted(document.id)}"
            if kind != known:
                yield KINDS.at(
                    f"{which} has an id that names another kind of thing, {known}, in {quoted(first)}", item=id_
                )
            elif kind.endswith(" mention"):
                yield MENTION.at(f"{which} is also in document {quoted(first)}", item=id_)

    def shares_none(self, other: "Ids") -> bool:
        """Whether no id is in both."""
        return self._first.keys().isdisjoint(other._first)

    def merge(self, later: "Ids") -> None:
        """Remember the ids of later documents."""
        for id_, first in later._first.items():
            self._first.setdefault(id_, first)


def number_of(name: str) -> int:
    """A number of 64 bits for an id: the same for the same id, but others may have it, too.

    It is the same in every process: only the hash of text differs, that of numbers does not.
    """
    return hash(tuple(name.encode("utf-8", "surrogatepass")))


class Numbers:
    """Finds out cheaply whether ids may conflict: keeps a number for each, and compares them when all were read.

    Equal ids have equal numbers, so that no conflict is overlooked. Whether there is one, only the ids can tell.
    """

    def __init__(self) -> None:
        self._mentions = array("q")
        self._clusters: defaultdict[str, array[int]] = defaultdict(partial(array, "q"))
        """By kind."""

    def add(self, document: Document) -> None:
        """Add the ids of a document."""
        self._mentions.extend([number_of(mention.id) for mention in document.mentions])
        for cluster in document.clusters:
            self._clusters[cluster.kind].append(number_of(cluster.id))

    def merge(self, other: "Numbers") -> None:
        """Add the ids of other documents."""
        self._mentions += other._mentions
        for kind, numbers in other._clusters.items():
            self._clusters[kind] += numbers

    def may_conflict(self) -> bool:
        """Whether a mention may be in two documents, or an id may name two kinds of things."""
        numbers = self._mentions, *self._clusters.values()
        count = distinct(*numbers)
        if count == sum(map(len, numbers)):
            return False  # as nearly always
        return count < len(self._mentions) + sum(map(distinct, self._clusters.values()))


def distinct(*numbers: "array[int]") -> int:
    """The number of distinct values in these arrays together.

    Each part is made a set by itself, since a set takes ten times the memory of an array. numpy would sort them, but
    importing it takes a third of the memory in which a corpus of the size of ACE 2005 is scored.
    """
    parts = [array("q") for _ in range(PARTS)]
    for number in chain.from_iterable(numbers):
        parts[number % PARTS].append(number)
    return sum([len(set(part)) for part in parts])
