"""Pseudonyms for a blind phase: of systems and sites in reports, and of the annotations of a system."""

import hashlib
import hmac
import re
from collections.abc import Iterator, KeysView, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from karat.campaign.submissions import Submission
from karat.corpus.files import FileCorpus
from karat.corpus.index import Index
from karat.model import Document
from karat.plugin import Facts
from karat.problems import Report, Target, ignore


class Naming(NamedTuple):
    """Names of systems and sites in reports: their own, or pseudonyms.

    A pseudonym depends on the site and on `secret`, so it stays the same from run to run, whatever is submitted later.
    The secret is the hash of gold, which nobody but the organisers has during a blind phase.
    """

    secret: str | None = None
    """None: real names."""

    @property
    def is_blind(self) -> bool:
        """Return whether names are hidden."""
        return self.secret is not None

    def site(self, submission: Submission) -> str:
        """Return the name of the site."""
        if self.secret is None:
            return submission.site
        digest = hmac.new(self.secret.encode(), submission.site.lower().encode(), hashlib.sha256)
        return f"site-{digest.hexdigest()[:8]}"

    def system(self, submission: Submission) -> str:
        """Return the name of the system, with a pseudonym in place of the site's name."""
        if self.secret is None:
            return submission.system
        rest = submission.system.removeprefix(submission.site)
        return f"{self.site(submission)}{'' if not rest or rest.startswith('_') else '-'}{rest}"

    def hidden(self, submission: Submission, text: str) -> str:
        """Remove the names of a submission from a text about it."""
        if self.secret is None:
            return text
        names = sorted({submission.system, submission.site}, key=len, reverse=True)
        return re.sub("|".join(map(re.escape, names)), self.site(submission), text, flags=re.IGNORECASE)


class RenumberedCorpus:
    """A submission whose ids are numbers: what a system calls its annotations may say whose it is.

    Ids are names, so its scores are the same. Mentions without a span match by their ids, which such documents keep.
    """

    def __init__(self, corpus: FileCorpus) -> None:
        self._corpus = corpus
        self.name = "system"
        self.tolerated_faults = corpus.tolerated_faults
        self.global_ids = corpus.global_ids
        self.reading = corpus.reading
        self._numbers: dict[str, str] = {}

    @property
    def protocols(self) -> tuple[str, ...]:
        """The default protocols."""
        return self._corpus.protocols

    @property
    def index(self) -> Index:
        """Where the documents are."""
        return self._corpus.index

    def ids(self) -> KeysView[str]:
        """Return the ids of all documents."""
        return self._corpus.ids()

    def facts(self, first: int | None = None) -> Facts:
        """Return what occurs in the documents."""
        return self._corpus.facts(first)

    def read(self, id_: str, report: Report) -> Document:
        """Return a document under other ids."""
        document = self._corpus.read(id_, report)
        if not all(mention.span for mention in document.mentions):
            return document
        return replace(
            document,
            mentions=tuple(
                replace(mention, id=self._number(mention.id), cluster=mention.cluster and self._number(mention.cluster))
                for mention in document.mentions
            ),
            clusters=tuple(replace(cluster, id=self._number(cluster.id)) for cluster in document.clusters),
            links=tuple(
                replace(link, source=self._number(link.source), target=self._number(link.target))
                for link in document.links
            ),
        )

    def _number(self, id_: str) -> str:
        """Return the number of an id in all documents."""
        return self._numbers.setdefault(id_, f"n{len(self._numbers) + 1}")

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """Return the place of a document; its items are not looked up, since they have other ids in the file."""
        del item
        return self._corpus.where(id_)

    def part(self, ids: Sequence[str]) -> None:
        """Return nothing: only this process has it."""
        del ids

    def close(self) -> None:
        """Close open files."""
        self._corpus.close()

    def __iter__(self) -> Iterator[Document]:
        return (self.read(id_, ignore) for id_ in self.ids())
