"""File and line of findings that appear only when the two sides are compared."""

from typing import Self

from karat.corpus import Corpus
from karat.errors import Finding, Findings, Item, KaratError, Origin, Report


class Places:
    """Adds file and line to the findings of filters and runs, which know only a side and an item."""

    def __init__(self, gold: Corpus, system: Corpus, report: Report) -> None:
        self._gold, self._system = gold, system
        self._report = report
        self._document = ""
        self._seen: dict[tuple[str, Origin | None], int] = {}

    def report(self, finding: Finding) -> None:
        """Report a finding with its file and line."""
        self._report(self._located(finding))

    def of(self, document: str) -> Self:
        """Within this context, findings are about one document; a fatal one is raised with its file and line."""
        self._document = document
        return self

    def __enter__(self) -> None:
        """See `of`."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, KaratError) and error.finding.origin is not None:
            raise KaratError(self._located(error.finding)) from None

    def line(self, side: Origin, document: str, item: Item) -> int | None:
        """The line of an item in a document of one side; None for a corpus in memory."""
        _, line = (self._gold if side == "gold" else self._system).where(document, item)
        return line

    def _located(self, finding: Finding) -> Finding:
        """Looks up the line only for findings that are kept; later ones get the line of the document."""
        if finding.origin is None or finding.file is not None:
            return finding
        count = self._seen[finding.group] = self._seen.get(finding.group, 0) + 1
        document = self._document if finding.document is None else finding.document
        in_gold = document in self._gold.survey().rows
        # A document that gold lacks has an empty gold side; a finding about it is about the system's document.
        corpus = self._gold if finding.origin == "gold" and in_gold else self._system
        if document not in corpus.survey().rows:
            return finding._replace(file=corpus.name)
        file, line = corpus.where(document, finding.item if count <= Findings.KEPT else None)
        return finding._replace(file=file, line=line)
