"""Table 1 of Upadhyay et al. (2016): ECB+ in numbers, counted as the paper counts.

    singleton, WD, CD   mentions in no relation, in a within-document one, in a cross-document one
    WD chains           cross-document relations, one in each document, whose target is an event
    CD chains           the different instances that these name

Event mentions only; a within-document relation counts only if its first source is one. Of mentions that begin at one
token of a document, the first counts. The split is that of Yang et al. (2015): in the order of numbers the first twenty
topics (1-22, of which 15 and 17 do not exist) train, the next three (23-25) dev, the last twenty (26-45) test.
"""

from collections import Counter

from msgspec import Struct

from karat.formats.ecbplus import CROSS, INTRA
from karat.model import Document, Mention

SPLITS = {"train": range(1, 23), "dev": range(23, 26), "test": range(26, 46)}
PRINTED = 14_874


class Column(Struct, frozen=True):
    """A column of the table."""

    documents: int
    topics: int
    subtopics: int
    mentions: int
    singleton: int
    wd: int
    cd: int
    wd_chains: int
    cd_chains: int


class EcbTable(Struct, frozen=True):
    """The table: train, dev, test and total, with remarks."""

    source: str
    columns: dict[str, Column]
    scored: int
    """Event mentions of these documents, all of which are scored."""
    unsplit: int
    """Documents whose topic is in no split; they are in the total."""
    notes: tuple[str, ...]


class Tally:
    """Takes the documents of a corpus one by one."""

    def __init__(self) -> None:
        self._splits = {name: _Split() for name in (*SPLITS, "total")}
        self._scored = self._unsplit = 0

    def add(self, document: Document) -> None:
        """Count one document."""
        number = document.topic or ""
        topic = int(number) if number.isascii() and number.isdecimal() else 0
        names = [name for name, topics in SPLITS.items() if topic in topics]
        self._unsplit += not names
        self._scored += sum(mention.kind == "event" for mention in document.mentions)
        for name in (*names, "total"):
            self._splits[name].add(document)

    def merge(self, other: "Tally") -> None:
        """Add other documents."""
        self._scored += other._scored
        self._unsplit += other._unsplit
        for name, split in other._splits.items():
            self._splits[name].merge(split)

    def table(self) -> EcbTable:
        """Return the table."""
        columns = {name: split.column() for name, split in self._splits.items()}
        once = f"Mentions that begin at the same token count once: {columns['total'].mentions:,} here"
        return EcbTable(
            source="Upadhyay et al. 2016, Table 1",
            columns=columns,
            scored=self._scored,
            unsplit=self._unsplit,
            notes=(
                f"{once}; scoring uses all {self._scored:,}.",
                "A singleton is a mention in no relation; some mentions in a relation are also alone in their cluster.",
                f"The paper prints a total of {PRINTED:,} mentions, which is not the sum of its rows (15,002).",
            ),
        )


class _Split:
    """The documents of one column."""

    def __init__(self) -> None:
        self.documents = self.chains = 0
        self.topics: set[str | None] = set()
        self.subtopics: set[tuple[str | None, str | None]] = set()
        self.places: Counter[str] = Counter()
        self.instances: set[str] = set()

    def add(self, document: Document) -> None:
        self.documents += 1
        self.topics.add(document.topic)
        self.subtopics.add((document.topic, document.subtopic))
        about_events = {cluster.id for cluster in document.clusters if cluster.kind == "event"}
        begun: set[int] = set()
        for mention in document.mentions:
            begin = mention.span[0][0]
            if mention.kind == "event" and begin not in begun:
                begun.add(begin)
                self.places[_place(mention, about_events)] += 1
        for cluster in document.clusters:
            if cluster.kind == "event" and cluster.attributes["relation"] == CROSS:
                self.chains += 1
                self.instances.add(cluster.id)

    def merge(self, other: "_Split") -> None:
        self.documents += other.documents
        self.chains += other.chains
        self.topics |= other.topics
        self.subtopics |= other.subtopics
        self.places.update(other.places)
        self.instances |= other.instances

    def column(self) -> Column:
        return Column(
            self.documents,
            len(self.topics - {None}),
            len(self.subtopics - {(None, None)}),
            self.places.total(),
            self.places["singleton"],
            self.places["wd"],
            self.places["cd"],
            self.chains,
            len(self.instances),
        )


def _place(mention: Mention, about_events: set[str]) -> str:
    relation = mention.attributes.get("relation")
    if relation == INTRA and mention.cluster in about_events:
        return "wd"
    return "cd" if relation == CROSS else "singleton"
