"""Names for what is new in a document."""

from collections.abc import Collection
from itertools import count

from karat.model import Document, qualified

MARK = "sim-"


class Names:
    """New ids of one document: none that it already has, and no cluster that lives elsewhere."""

    def __init__(self, document: Document, reserved: Collection[str] = ()) -> None:
        mentions = {mention.id for mention in document.mentions}
        clusters = {mention.cluster for mention in document.mentions if mention.cluster is not None}
        self._used = mentions | clusters | {cluster.id for cluster in document.clusters}
        self._reserved = reserved
        self._document = document.id
        self._numbers = count(1)

    def mention(self) -> str:
        """The id of a new mention."""
        return self._new("")

    def cluster(self) -> str:
        """The id of a new cluster; these are corpus-wide, so it is qualified by the document."""
        return self._new(qualified(self._document, ""))

    def _new(self, prefix: str) -> str:
        names = (f"{prefix}{MARK}{number}" for number in self._numbers)
        return next(name for name in names if name not in self._used and name not in self._reserved)
