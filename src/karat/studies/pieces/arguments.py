"""Pieces that are arguments of events and templates."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from karat.model import Document, Link, Mention
from karat.model.arguments import argument_test
from karat.studies.pieces import strangers, without_links


class Arguments:
    """Right: a gold argument. Wrong: the same role, filled by a copy where gold has none. Events are those of gold."""

    noun = "argument"

    def __init__(self, gold: Sequence[Document], kinds: Collection[str]) -> None:
        others = {link.kind for document in gold for link in document.links} - set(kinds)
        self.gold = [without_links(document, others) for document in gold]
        self._strangers = strangers(self.gold)
        self._places = [
            (d, number)
            for d, document in enumerate(self.gold)
            for is_argument in [argument_test(document)]
            for number, link in enumerate(document.links)
            if is_argument(link)
        ][::-1]
        self.correct = [self._described(*place) for place in self._places]
        self.wrong = [f"{piece}, elsewhere" for piece in self.correct]

    def system(self, correct: Collection[int], wrong: Collection[int]) -> list[Document]:
        """Gold with only these arguments, then the wrong ones with what fills them."""
        right, others = ({self._places[number] for number in numbers} for numbers in (correct, wrong))
        documents = []
        for d, (document, strange) in enumerate(zip(self.gold, self._strangers, strict=True)):
            links = [link for number, link in enumerate(document.links) if (d, number) in right]
            targets = set()
            for number, link in enumerate(document.links):
                if (d, number) in others:
                    targets.add(strange.links[number].target)
                    links.append(Link(link.kind, link.source, strange.links[number].target))
            mentions = (*document.mentions, *(one for one in strange.mentions if _is_one_of(one, targets)))
            documents.append(replace(document, mentions=mentions, links=tuple(links)))
        return documents

    def _described(self, d: int, number: int) -> str:
        link = self.gold[d].links[number]
        where = f" of {self.gold[d].id}" if len(self.gold) > 1 else ""
        return f"{link.kind} {link.source} -> {link.target}{where}"


def _is_one_of(mention: Mention, targets: Collection[str]) -> bool:
    return mention.id in targets or mention.cluster in targets
