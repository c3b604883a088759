"""Places: file and line of findings that show only when the two sides are compared, looked up only then."""

from collections.abc import Iterator
from contextlib import contextmanager

from karat.corpus import Corpus
from karat.errors import Finding, Findings, KaratError, Report


class Places:
    """Passes findings on; those of filters and runs, which know only a side and an item, get their file and line."""

    def __init__(self, gold: Corpus, system: Corpus, report: Report) -> None:
        self._gold, self._system = gold, system
        self._report = report
        self._document = ""
        self._seen: dict[str, int] = {}

    def report(self, finding: Finding) -> None:
        """Locate and pass on."""
        self._report(self._located(finding))

    @contextmanager
    def of(self, document: str) -> Iterator[None]:
        """Findings in here are about this document; a fatal one is raised with its place."""
        self._document = document
        try:
            yield
        except KaratError as error:
            if error.finding.origin is None:
                raise
            raise KaratError(self._located(error.finding)) from None

    def _located(self, finding: Finding) -> Finding:
        """Lines are looked up only while findings of the code are kept; after that the document's line is used."""
        if finding.origin is None or finding.file is not None:
            return finding
        count = self._seen[finding.code] = self._seen.get(finding.code, 0) + 1
        in_gold = self._document in self._gold.survey().rows
        # A document that gold lacks has an empty gold side; a finding about it is about the system's document.
        corpus = self._gold if finding.origin == "gold" and in_gold else self._system
        if self._document not in corpus.survey().rows:
            return finding._replace(file=corpus.name)
        file, line = corpus.where(self._document, finding.item if count <= Findings.KEPT else None)
        return finding._replace(file=file, line=line)
