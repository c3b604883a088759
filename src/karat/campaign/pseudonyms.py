"""Pseudonyms for a blind phase: of systems and sites in reports, and of the annotations of a system."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import NamedTuple

from msgspec.structs import replace

from karat.campaign.store import numbered
from karat.campaign.submissions import Submission
from karat.corpus.files import FileCorpus
from karat.corpus.memory import MemoryCorpus
from karat.model import Cluster, Document, Mention, Value
from karat.problems import ignore


class Naming(NamedTuple):
    """Names of systems and sites in reports: their own, or pseudonyms.

    A pseudonym depends on the name and on `secret`, so it stays the same from run to run, whatever is submitted later.
    The secret is the hash of gold, which nobody but the organisers has during a blind phase.
    """

    secret: str | None = None
    """None: real names."""

    @property
    def is_blind(self) -> bool:
        return self.secret is not None

    def site(self, submission: Submission) -> str:
        return submission.site if self.secret is None else f"site-{self._digest(submission.site)}"

    def system(self, submission: Submission) -> str:
        return submission.system if self.secret is None else f"system-{self._digest(submission.system)}"

    def _digest(self, name: str) -> str:
        assert self.secret is not None, "names are hidden"
        return hmac.new(self.secret.encode(), name.encode(), hashlib.sha256).hexdigest()[:12]

    def hidden(self, submission: Submission, text: str) -> str:
        """Remove the names of a submission from a text of its own."""
        names = sorted({submission.system, submission.site}, key=len, reverse=True)
        return re.sub("|".join(map(re.escape, names)), self.site(submission), text, flags=re.IGNORECASE)


class NamelessCorpus(MemoryCorpus):
    """A submission without anything that may say whose it is, for its error report.

    Ids of annotations are numbers, and documents that gold lacks have numbers and no text. Attributes whose names gold
    does not have are left out; names of the system in its own words are replaced. Ids are names, so scores are the
    same. Mentions without a span match by their ids, which such documents keep.
    """

    def __init__(self, corpus: FileCorpus, gold: FileCorpus, hide: Callable[[str], str]) -> None:
        super().__init__(name="system")
        self.tolerated_faults, self.global_ids, self.reading = (
            corpus.tolerated_faults,
            corpus.global_ids,
            corpus.reading,
        )
        self._hide = hide
        self._numbers: dict[str, str] = {}
        self._attributes, self._words = _vocabulary(gold)
        extra = (numbered(number) for number in count(1))
        # The documents were checked as they were read, in their own format.
        for id_ in sorted(corpus.ids()):
            document = self._nameless(corpus.read(id_, ignore))
            if id_ not in gold.ids():
                mentions = tuple(replace(mention, text=None, texts={}) for mention in document.mentions)
                document = Document(
                    next(extra),
                    unit=document.unit,
                    mentions=mentions,
                    clusters=document.clusters,
                    links=document.links,
                )
            self._documents[document.id] = document, []

    def _nameless(self, document: Document) -> Document:
        number = self._number if all(mention.span for mention in document.mentions) else _same
        return replace(
            document,
            producer=None,
            about={},
            mentions=tuple(
                replace(
                    mention,
                    id=number(mention.id),
                    kind=self._word(mention.kind),
                    cluster=mention.cluster and number(mention.cluster),
                    attributes=self._known(mention.attributes),
                    text=mention.text and self._word(mention.text),
                    confidence=(),
                )
                for mention in document.mentions
            ),
            clusters=tuple(
                replace(
                    cluster,
                    id=number(cluster.id),
                    kind=self._word(cluster.kind),
                    attributes=self._known(cluster.attributes),
                    external=(),
                )
                for cluster in document.clusters
            ),
            links=tuple(
                replace(link, kind=self._word(link.kind), source=number(link.source), target=number(link.target))
                for link in document.links
            ),
        )

    def _known(self, attributes: Mapping[str, Value]) -> dict[str, Value]:
        """Return the attributes that gold has, too."""
        return {
            name: self._word(value) if isinstance(value, str) else value
            for name, value in attributes.items()
            if name in self._attributes
        }

    def _word(self, text: str) -> str:
        """Return a word of the system; one that gold has, however it is spelt, is not a name."""
        return text if _folded(text) in self._words else self._hide(text)

    def _number(self, id_: str) -> str:
        """Return the number of an id in all documents."""
        return self._numbers.setdefault(id_, f"n{len(self._numbers) + 1}")


def _vocabulary(gold: FileCorpus) -> tuple[set[str], set[str]]:
    """Return the names of attributes in gold, and its other words."""
    attributes, words = set[str](), set[str]()
    for document in gold:
        records: list[Mention | Cluster] = [*document.mentions, *document.clusters]
        for record in records:
            attributes.update(record.attributes)
            words.update((record.kind, *map(str, record.attributes.values())))
        words.update(mention.text for mention in document.mentions if mention.text is not None)
        words.update(link.kind for link in document.links)
    return attributes, {*map(_folded, words)}


def _folded(text: str) -> str:
    """Return the letters and digits of a text, as protocols compare them at the most lenient."""
    return "".join(filter(str.isalnum, text.casefold()))


def _same(id_: str) -> str:
    return id_
