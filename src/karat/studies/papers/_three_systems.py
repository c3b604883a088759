"""Figure 3 of Upadhyay et al. (2016): three systems that SIMPLE-CDEC cannot tell apart as it should.

No number in the text describes the picture, but its captions determine it. Gold has five crosses, four in document 1
and one in document 2, and two circles, one event within a document. Every system has the circles right; of the crosses

    System 1    {4} {1}            only links within a document
    System 2    {3 + 1} {1}        the link across documents, and a mistake within one
    System 3    {2 + 1} {1} {1}    the same, with two mistakes
"""

from collections.abc import Iterator, Mapping, Sequence

from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention
from karat.problems import Findings
from karat.protocols import resolve
from karat.report.figures.figure import Figure, Series, Values
from karat.result import Result
from karat.run.plan import Options
from karat.run.scoring import score
from karat.studies.reproduction import Cell, Claim, Column, Numbers

GOLD = ("ooxxxx", "x")
"""A letter per mention of each document: its cluster."""
SYSTEMS = {"System 1": ("oowwww", "x"), "System 2": ("ooxxxy", "x"), "System 3": ("ooxxyz", "x")}
"""The clusters of each system."""
PUBLISHED = {
    "System 1": (88.8, 87.0, 75.5, 80.5),
    "System 2": (88.8, 87.0, 75.5, 80.5),
    "System 3": (74.9, 74.9, 58.3, 63.7),
}
MEASURES = {"MUC": "coref.muc", "B3": "coref.b3", "CEAFe": "coref.ceafe", "BLANC": "coref.blanc"}
CONLL = "coref.conll"
SIMPLE, PURE = "simple-cdec", "pure-cdec"
LAYOUT = {"B&H": "bejan-harabagiu-2014", "YCF": "yang-2015"}
"""Settings that depend on topics; all of it is in one."""


def documents(labels: Sequence[str]) -> list[Document]:
    """The two documents, with the clusters of one side."""
    return [
        Document(
            f"document {number}",
            topic="1",
            subtopic="1",
            mentions=tuple(Mention(f"m{at}", ((at, at + 1),), cluster=label) for at, label in enumerate(letters)),
        )
        for number, letters in enumerate(labels, 1)
    ]


class ThreeSystems:
    """The systems of the figure under every setting."""

    def __init__(self) -> None:
        names = (SIMPLE, PURE, *LAYOUT.values())
        gold = MemoryCorpus(documents(GOLD))
        self._results: dict[str, dict[str, Result]] = {name: {} for name in names}
        for system, labels in SYSTEMS.items():
            made = MemoryCorpus(documents(labels))
            for result in score(gold, made, [resolve(name) for name in names], Options(), findings=Findings()):
                self._results[result.protocol][system] = result

    def value(self, protocol: str, system: str, measure: str = CONLL) -> float:
        """One F1, which the protocols define everywhere."""
        value = self._results[protocol][system][measure].f1
        assert value is not None
        return value

    def conll(self, protocol: str) -> list[float]:
        return [self.value(protocol, system) for system in SYSTEMS]

    def numbers(self) -> Iterator[Numbers]:
        """Table (b) of the figure, and the same under PURE-CDEC."""
        for title, protocol, published in (
            ("Figure 3 under SIMPLE-CDEC (the published numbers are cut off, not rounded)", SIMPLE, PUBLISHED),
            ("Figure 3 under PURE-CDEC", PURE, {}),
        ):
            columns = (*map(Column, MEASURES), Column("CoNLL"))
            yield Numbers(title, columns, {system: self._row(protocol, system, published) for system in SYSTEMS})

    def _row(self, protocol: str, system: str, published: Mapping[str, Sequence[float]]) -> tuple[Cell, ...]:
        values = [self.value(protocol, system, measure) for measure in (*MEASURES.values(), CONLL)]
        printed = [value / 100 for value in published[system]] if published else [None] * len(MEASURES)
        return tuple(map(Cell, values, [*printed, None]))

    def claims(self) -> Iterator[Claim]:
        """The captions, and what PURE-CDEC is for."""
        yield Claim(
            "SIMPLE-CDEC evaluation awards System 1 and System 2 same scores, and System 3 lower scores",
            "Figure 3",
            self._is_blind(SIMPLE),
            f"CoNLL {_listed(self.conll(SIMPLE))}",
        )
        yield Claim(
            "this issue is not limited to SIMPLE-CDEC, but also B&H and YCF",
            "Figure 3",
            all(map(self._is_blind, LAYOUT.values())),
            "CoNLL, with both documents in one sub-topic: "
            + "; ".join(f"{name} {_listed(self.conll(protocol))}" for name, protocol in LAYOUT.items()),
        )
        first, second, third = self.conll(PURE)
        yield Claim(
            "[PURE-CDEC] discount[s] the within document coreference links and focus[es] on the cross document "
            "coreference links",
            "section 4.1",
            second > third > first,
            f"CoNLL {_listed(self.conll(PURE))}: System 1, which has no link across documents, is last",
        )

    def _is_blind(self, protocol: str) -> bool:
        first, second, third = self.conll(protocol)
        return first == second > third

    def figure(self) -> Figure:
        """Both settings side by side."""
        panels = (
            Values(
                drawn="points",
                rows=tuple(SYSTEMS),
                row_field="system",
                series=tuple(
                    Series(name, tuple(self.value(protocol, system, id_) for system in SYSTEMS), id_, "f1")
                    for name, id_ in {**MEASURES, "CoNLL": CONLL}.items()
                ),
                axis="F1 [%]",
                title=protocol.upper(),
                protocol=protocol,
            )
            for protocol in (SIMPLE, PURE)
        )
        return Figure((tuple(panels),))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{system} {100 * value:.1f}" for system, value in zip(SYSTEMS, values, strict=True))
