"""Describes a corpus, in one process or in several."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from karat.corpus import Corpus, Executor, FileCorpus, Progress, absent_names, chunks
from karat.corpus.divided import Sent, attempted, collected
from karat.describe import ecb_table
from karat.describe.description import Description
from karat.describe.tallies import Tallies
from karat.errors import Findings


class DescribedPart(NamedTuple):
    """What some documents hold, and what was found in them."""

    tallies: Tallies
    findings: Findings


def description(
    corpus: Corpus,
    *,
    most: int = 20,
    findings: Findings,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Description:
    """What is in a corpus; of each attribute, the `most` frequent values are listed."""
    for finding in absent_names(corpus):
        findings.add(finding)
    counting = _Counting(corpus, findings)
    try:
        ids = [*corpus.ids()]
        groups = [ids] if executor is None else chunks(ids, [corpus.index], executor)
        parts = [corpus.part(group) for group in groups] if len(groups) > 1 else []
        sent = [part for part in parts if part is not None]
        if executor is None or not sent:
            counting.add(ids, progress)
        else:
            done = 0
            results = executor.map(described_chunk, None, sent)
            for group in collected(groups, results, merge=counting.merge, add=counting.add):
                done += len(group)
                if progress is not None:
                    progress(done, len(ids))
    finally:
        corpus.close()
    return counting.tallies.description(most)


def described_chunk(shared: None, chunk: Corpus) -> Sent:
    """What the documents of a chunk hold."""
    del shared
    counting = _Counting(chunk, Findings())
    try:
        return attempted(partial(counting.part, [*chunk.ids()]))
    finally:
        chunk.close()


class _Counting:
    """Counts the documents of a corpus."""

    def __init__(self, corpus: Corpus, findings: Findings) -> None:
        self._corpus, self._findings = corpus, findings
        self.tallies = Tallies()
        if isinstance(corpus, FileCorpus) and corpus.format == "ecbplus":
            self.tallies.ecbplus = ecb_table.Tally()

    def add(self, ids: Sequence[str], progress: Progress | None = None) -> None:
        for done, id_ in enumerate(ids, 1):
            self.tallies.add(self._corpus.read(id_, self._findings.add))
            if progress is not None:
                progress(done, len(ids))

    def part(self, ids: Sequence[str]) -> DescribedPart:
        self.add(ids)
        return DescribedPart(self.tallies, self._findings)

    def merge(self, part: DescribedPart) -> bool:
        self._findings.merge(part.findings)
        return self.tallies.merge(part.tallies)
