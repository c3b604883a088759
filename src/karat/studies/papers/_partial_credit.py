"""Section 3.1 of Liu et al. (2015), the comparison with MUC: Dice or one half, greedy or best alignment.

Two examples in tokens. In the first, both systems find both mentions of gold, which have ten tokens each: one system
without the last token of each, the other with one token of each and two or three outside. In the second, one system
mention is nearer to a gold mention that another one has right than to the one that is left.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from karat.corpus.interface import Corpus
from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention
from karat.problems import Findings
from karat.protocols import Protocol, resolve
from karat.run.plan import Options
from karat.run.scoring import score
from karat.studies.properties import SAME, percent
from karat.studies.reproduction import Cell, Claim, Column, Numbers

GREEDY, MUC = "liu-2015", "muc-5"
GOLD = ((0, 10), (20, 30))
SYSTEMS = {"without the last token": ((0, 9), (20, 29)), "with one token": ((9, 12), (29, 33))}
CONTESTED = ((0, 4), (4, 6)), ((2, 6), (4, 6))
"""Gold and system."""


class Credit(NamedTuple):
    """Span F1 of a system."""

    greedy: float
    """By Dice, as in the paper."""
    best: float
    """By Dice, with the best alignment."""
    half: float
    """With one half for any overlap and the best alignment, as in MUC."""


def credit(gold: Corpus, system: Corpus) -> Credit:
    """Span F1 of a system in all three ways."""
    (greedy, best), (half,) = (
        score(gold, system, protocols, Options((family,)), findings=Findings())
        for protocols, family in (([resolve(GREEDY), _best_alignment()], "nugget"), ([resolve(MUC)], "muc"))
    )
    found = (greedy["nugget.span"], best["nugget.span"], half["muc.span"])
    return Credit(*(result.micro.values["f1"] or 0.0 for result in found))


def _best_alignment() -> Protocol:
    greedy = resolve(GREEDY)
    alignments = {name: replace(choice, method="optimal") for name, choice in greedy.alignments.items()}
    return replace(greedy, name="best-alignment", alignments=alignments)


def _corpus(spans: tuple[tuple[int, int], ...]) -> Corpus:
    mentions = tuple(Mention(f"m{number}", (span,)) for number, span in enumerate(spans))
    return MemoryCorpus([Document("d", unit="token", mentions=mentions)])


class Comparison:
    """The examples and the systems of a pilot."""

    def __init__(self, credits: Mapping[str, Credit]) -> None:
        self._credits = credits
        self._examples = {name: credit(_corpus(GOLD), _corpus(spans)) for name, spans in SYSTEMS.items()}
        self._contested = credit(*map(_corpus, CONTESTED))

    def numbers(self) -> Iterator[Numbers]:
        """The first example, and all systems."""
        yield Numbers(
            "Section 3.1: two systems that find both gold mentions, of ten tokens each, in part",
            (Column("constant 0.5 (MUC)"), Column("Dice")),
            {name: (Cell(found.half), Cell(found.greedy)) for name, found in self._examples.items()},
        )
        yield Numbers(
            "Span F1 by Dice and by the constant 0.5 (section 3.1)",
            (Column("Dice, greedy"), Column("Dice, best alignment"), Column("0.5, best alignment")),
            {
                name: tuple(map(Cell, found))
                for name, found in sorted(self._credits.items(), key=lambda item: (-item[1].greedy, item[0]))
            },
        )

    def claims(self) -> Iterator[Claim]:
        """Both decisions of section 3.1."""
        near, far = self._examples.values()
        yield Claim(
            "A variable partial score can reflect more subtle differences between systems",
            "section 3.1",
            near.half == far.half and near.greedy > far.greedy,
            f"MUC's constant 0.5 gives {percent(near.half)} to a system that lacks one token of ten in each mention, "
            f"and {percent(far.half)} to one that has one token of ten; Dice gives {percent(near.greedy)} and "
            f"{percent(far.greedy)}",
        )
        gains = [found.best - found.greedy for found in self._credits.values()]
        yield Claim(
            "we use a simple greedy method for choosing an alignment based on span matching instead of trying to find "
            "the best alignment",
            "section 3.1",
            min(gains) > -SAME,
            f"the best alignment adds {percent(abs(min(gains)))} to {percent(max(gains))} points of span F1 to these "
            f"systems; in an example of two mentions it has {percent(self._contested.best)} where the greedy one has "
            f"{percent(self._contested.greedy)}",
        )
