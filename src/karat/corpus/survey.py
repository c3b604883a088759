"""The index and the facts of a corpus under one name, for code that asks for a survey. Temporary."""

from collections.abc import Callable, Iterable

from karat.corpus.index import Index
from karat.plugin import Facts


class Survey:
    """Which documents a corpus has, and what occurs in them; documents are read only if somebody asks for that."""

    def __init__(self, index: Index, facts: Callable[[], Facts], coreference: tuple[str, ...] = ()) -> None:
        self.index = index
        self.facts = facts
        self.coreference = coreference
        """Names of relations that the user calls coreference."""
        self.size, self.total_size, self.rename = index.size, index.total_size, index.rename

    @property
    def rows(self) -> dict[str, int]:
        """The documents by id, in their order, each with its number."""
        return self.index.rows

    @property
    def unnamed(self) -> set[str]:
        """Ids of documents that are called what their files are called."""
        return self.index.unnamed

    @property
    def attributes(self) -> set[tuple[str, str]]:
        """(kind of mention, attribute)."""
        return self.facts().attributes

    @property
    def kinds(self) -> set[str]:
        """Kinds of mentions, and of clusters without mentions."""
        return self.facts().kinds

    @property
    def clustered(self) -> set[str]:
        """Kinds of mentions that are in clusters."""
        return self.facts().clustered

    @property
    def links(self) -> set[tuple[str, str, str]]:
        """(kind of link, kinds of its ends)."""
        return self.facts().links

    @property
    def relations(self) -> set[str]:
        """Names of relations, if the user calls some of them coreference."""
        return self.facts().relations

    def attributes_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Names of attributes that occur on mentions of these kinds (None: of any kind)."""
        return self.facts().attributes_of(kinds)

    def links_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Kinds of links between mentions of these kinds (None: of any kind)."""
        return self.facts().links_of(kinds)
