"""Table 1 of Upadhyay et al. (2016): ECB+ in numbers, counted as the paper counts.

    singleton, WD, CD   mentions in no relation, in a within-document one, in a cross-document one
    WD chains           cross-document relations, one in each document, whose target is an event
    CD chains           the different instances that these name

Event mentions only; a within-document relation counts only if its first source is one. Of mentions that begin at one
token of a document, the first counts. The split is that of Yang et al. (2015).
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from karat.corpus.topics import SPLITS, Topics
from karat.formats.ecbplus import CROSS, INTRA
from karat.model import Document, Mention

PARTS = {name: Topics.parse(spec) for name, spec in SPLITS["yang-2015"].items()}
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


class EcbRow(NamedTuple):
    """The numbers of one document."""

    topic: str | None
    subtopic: str | None
    scored: int
    places: Counter[str]
    """Mentions that count: `singleton`, `wd` or `cd`."""
    chains: tuple[str, ...]
    """The instances that its cross-document relations name."""


def ecb_row(document: Document) -> EcbRow:
    """Count one document."""
    about_events = {cluster.id for cluster in document.clusters if cluster.kind == "event"}
    events = [mention for mention in document.mentions if mention.kind == "event"]
    first = {mention.span[0][0]: mention for mention in reversed(events)}
    return EcbRow(
        document.topic,
        document.subtopic,
        len(events),
        Counter(_place(mention, about_events) for mention in first.values()),
        tuple(
            cluster.id
            for cluster in document.clusters
            if cluster.kind == "event" and cluster.attributes["relation"] == CROSS
        ),
    )


def ecb_table(rows: Sequence[EcbRow]) -> EcbTable:
    by_part = {name: [row for row in rows if row.topic in topics] for name, topics in PARTS.items()}
    columns = {name: _column(of_part) for name, of_part in (by_part | {"total": [*rows]}).items()}
    scored = sum(row.scored for row in rows)
    once = f"Mentions that begin at the same token count once: {columns['total'].mentions:,} here"
    return EcbTable(
        source="Upadhyay et al. 2016, Table 1",
        columns=columns,
        scored=scored,
        unsplit=len(rows) - sum(map(len, by_part.values())),
        notes=(
            f"{once}; scoring uses all {scored:,}.",
            "A singleton is a mention in no relation; some mentions in a relation are also alone in their cluster.",
            f"The paper prints a total of {PRINTED:,} mentions, which is not the sum of its rows (15,002).",
        ),
    )


def _column(rows: Sequence[EcbRow]) -> Column:
    places = sum((row.places for row in rows), Counter[str]())
    return Column(
        documents=len(rows),
        topics=len({row.topic for row in rows} - {None}),
        subtopics=len({(row.topic, row.subtopic) for row in rows} - {(None, None)}),
        mentions=places.total(),
        singleton=places["singleton"],
        wd=places["wd"],
        cd=places["cd"],
        wd_chains=sum(len(row.chains) for row in rows),
        cd_chains=len({instance for row in rows for instance in row.chains}),
    )


def _place(mention: Mention, about_events: set[str]) -> str:
    relation = mention.attributes.get("relation")
    if relation == INTRA and mention.cluster in about_events:
        return "wd"
    return "cd" if relation == CROSS else "singleton"
