"""Pieces that are mentions."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from karat.model import Document
from karat.studies.pieces import strangers, without_links


class Mentions:
    """Right: a gold mention. Wrong: a copy of it where gold has none."""

    noun = "mention"

    def __init__(self, gold: Sequence[Document]) -> None:
        self.gold = [without_links(document) for document in gold]
        self._strangers = strangers(self.gold)
        self._places = [(d, m) for d, document in enumerate(self.gold) for m in range(len(document.mentions))][::-1]
        self.correct = [self._described(d, m) for d, m in self._places]
        self.wrong = [f"{piece}, elsewhere" for piece in self.correct]

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold's mentions in gold's order, then the wrong ones."""
        right, others = ({self._places[number] for number in numbers} for numbers in (correct, wrong))
        documents = []
        for d, (document, strange) in enumerate(zip(self.gold, self._strangers, strict=True)):
            kept = [mention for m, mention in enumerate(document.mentions) if (d, m) in right]
            more = [mention for m, mention in enumerate(strange.mentions) if (d, m) in others]
            records = (*document.clusters, *strange.clusters)
            documents.append(replace(document, mentions=(*kept, *more), clusters=records))
        return documents

    def _described(self, d: int, m: int) -> str:
        document = self.gold[d]
        return f"{document.mentions[m].id} of {document.id}"
