"""Gold, as the reader of a system's files sees it."""

from collections.abc import Collection

from karat.corpus.interface import Corpus
from karat.errors import Finding
from karat.model import Document


class GoldReader:
    """Reads documents of gold on demand. Their findings are reported when gold itself is read."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def ids(self) -> Collection[str]:
        """The ids of all documents."""
        return self._corpus.ids()

    def read(self, id_: str) -> Document | None:
        """The document of this id, if gold has it."""
        return self._corpus.read(id_, _ignore) if id_ in self.ids() else None

    def close(self) -> None:
        """Close the open file of gold."""
        self._corpus.close()


def _ignore(finding: Finding) -> None:
    """Reported when gold is read."""
