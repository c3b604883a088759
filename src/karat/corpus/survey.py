"""The survey: what only the whole corpus knows, collected in one light pass."""

import sys
from array import array
from collections.abc import Iterable

from karat.plugin import Block


class Survey:
    """Which documents a corpus has, where they are, and what occurs in them.

    It keeps no mentions, only an id, a place and a few numbers per document.
    """

    def __init__(self, *, watch_clusters: bool = False) -> None:
        self.rows: dict[str, int] = {}
        """The documents by id, in their order, each with its number."""
        self._places = array("q")
        self._contexts: dict[int, str] = {}
        self._more: dict[int, tuple[tuple[int, int, int], ...]] = {}
        self.unnamed: set[str] = set()
        """Ids of documents that are called what their files are called."""
        self.attributes: set[tuple[str, str]] = set()
        self.kinds: set[str] = set()
        self.clustered: set[str] = set()
        """Kinds of mentions that are in clusters."""
        self.links: set[tuple[str, str, str]] = set()
        self.coreference: tuple[str, ...] = ()
        """Names of relations that the user calls coreference."""
        self.relations: set[str] = set()
        """Names of relations; only known if the user calls some of them coreference."""
        self.resolved_kinds: dict[str, str] = {}
        """Kinds that a single document leaves open, and what they are in this corpus."""
        self.has_shared_clusters = False
        """Whether a cluster has mentions in two documents; only known with `watch_clusters`."""
        self._clusters: set[str] | None = set() if watch_clusters else None

    def add(self, block: Block, file: int) -> None:
        """Add a document of the file with this number."""
        if block.context is not None:
            self._contexts[len(self.rows)] = block.context
        if block.more:
            self._more[len(self.rows)] = block.more
        if block.is_unnamed:
            self.unnamed.add(block.id)
        self.rows[sys.intern(block.id)] = len(self.rows)  # both sides usually have the same ids
        self._places.extend((file, block.offset, block.length, block.line))
        if block.contents is not None:
            self.attributes |= block.contents.attributes
            self.kinds |= block.contents.kinds
            self.clustered |= block.contents.clustered
            self.links |= block.contents.links
            self._watch(block.contents.clusters)

    def _watch(self, clusters: frozenset[str]) -> None:
        if self._clusters is not None:
            self.has_shared_clusters = not self._clusters.isdisjoint(clusters)
            self._clusters |= clusters
            if self.has_shared_clusters:
                self._clusters = None

    def place(self, id_: str) -> tuple[int, Block]:
        """The file (by number) and the block of a document."""
        row = self.rows[id_]
        file, offset, length, line = self._places[row * 4 : row * 4 + 4]
        context, more = self._contexts.get(row), self._more.get(row, ())
        return file, Block(offset, length, line, id_, context=context, more=more, is_unnamed=id_ in self.unnamed)

    def size(self, id_: str) -> int:
        """The bytes of a document; 0 if it is in no file."""
        row = self.rows[id_]
        if row * 4 >= len(self._places):
            return 0
        size = self._places[row * 4 + 2]
        return size + sum(length for _, length, _ in self._more[row]) if row in self._more else size

    def total_size(self) -> int:
        """The bytes of all documents."""
        return sum(self._places[2::4]) + sum(length for more in self._more.values() for _, length, _ in more)

    def part(self, ids: Iterable[str]) -> tuple["Survey", list[int]]:
        """The survey of some documents, with all that is known about the corpus; and the numbers of their files.

        In the part, files are numbered by their place in this list.
        """
        part = Survey()
        files: dict[int, int] = {}
        for new, id_ in enumerate(ids):
            row = self.rows[id_]
            part.rows[id_] = new
            file, offset, length, line = self._places[row * 4 : row * 4 + 4]
            part._places.extend((files.setdefault(file, len(files)), offset, length, line))
            if row in self._contexts:
                part._contexts[new] = self._contexts[row]
            if row in self._more:
                part._more[new] = self._more[row]
            if id_ in self.unnamed:
                part.unnamed.add(id_)
        part.attributes, part.kinds, part.links = self.attributes, self.kinds, self.links
        part.clustered = self.clustered
        part.coreference, part.relations = self.coreference, self.relations
        part.resolved_kinds, part.has_shared_clusters = self.resolved_kinds, self.has_shared_clusters
        return part, [*files]

    def rename(self, unnamed: str, id_: str) -> None:
        """Call a document without an id of its own by another one."""
        self.rows = {id_ if own == unnamed else own: row for own, row in self.rows.items()}
        self.unnamed = self.unnamed - {unnamed} | {id_}

    def finish(self, kinds: dict[str, str]) -> None:
        """All documents are known: resolve open kinds."""
        self._clusters = None
        self.resolved_kinds = kinds
        self.kinds = {kinds.get(kind, kind) for kind in self.kinds}
        self.clustered = {kinds.get(kind, kind) for kind in self.clustered}
        self.attributes = {(kinds.get(kind, kind), name) for kind, name in self.attributes}
        self.links = {(link, kinds.get(one, one), kinds.get(other, other)) for link, one, other in self.links}

    def attributes_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Names of attributes that occur on mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {name for kind, name in self.attributes if wanted is None or kind in wanted}

    def links_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Kinds of links between mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {link for link, *ends in self.links if wanted is None or wanted.issuperset(ends)}
