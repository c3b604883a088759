"""Make the demo corpus: gold from the marked-up texts, three systems from their lexicons. README.md explains both.

python tools/demo/make_corpus.py [FOLDER]       (default: src/karat/demo)
"""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from karat.formats.jsonl import write
from karat.model import Document, Link, Mention, Region
from karat.plugin import WriteOptions

HERE = Path(__file__).parent
BUNDLED = HERE.parents[1] / "src" / "karat" / "demo"


class Event(NamedTuple):
    """A line of the table of events: its type, its usual realis, and its links to events named before."""

    type: str
    realis: str
    links: tuple[Link, ...]


# Gold: marked-up texts ----------------------------------------------------------------------------------------------


def gold(source: str) -> list[Document]:
    """The documents of `corpus.txt`, with the links between events that are both mentioned in a document."""
    documents: list[Document] = []
    texts: list[list[str]] = []
    events: dict[str, Event] = {}
    topic = subtopic = ""
    for line in source.splitlines():
        word, _, rest = line.partition(" ")
        if not line or line.startswith("#"):
            continue
        if word == "topic":
            topic = rest
        elif word == "subtopic":
            subtopic = rest
        elif word == "event":
            name, event = _event(rest.split())
            assert name not in events, f"event {name} is in the table twice"
            # Only links to earlier lines are allowed, so there can be no cycle.
            assert events.keys() >= {link.source for link in event.links}, (
                f"event {name} names an event that is not above it"
            )
            events[name] = event
        elif word == "document":
            id_, kind, language = rest.split()
            documents.append(Document(id_, topic, subtopic, source=kind, language=language))
            texts.append([])
        else:
            texts[-1].append(line)
    return [_marked(document, " ".join(lines), events) for document, lines in zip(documents, texts, strict=True)]


def _event(words: Sequence[str]) -> tuple[str, Event]:
    name, type_, realis, *rest = words
    kinds = {"in": "subevent", "after": "after"}
    links = [Link(kinds[word], other, name) for word, other in zip(rest[::2], rest[1::2], strict=True)]
    assert sum(link.kind == "subevent" for link in links) <= 1, f"event {name} is in two others"
    return name, Event(type_, realis, tuple(links))


def _marked(document: Document, source: str, events: dict[str, Event]) -> Document:
    """A document with its text and the mentions marked in it."""
    text = ""
    found: list[tuple[list[tuple[int, int]], str, str]] = []
    to_be_continued: list[tuple[int, int]] = []
    for plain, words, mark in re.findall(r"([^\[]*)(?:\[([^|]*)\|([^\]]*)\])?", source):
        text += plain
        here = (len(text), len(text) + len(words))
        text += words
        if mark == "~":
            to_be_continued.append(here)
        elif mark:
            name, _, realis = mark.removesuffix("~").partition(" ")
            found.append(([here], name, realis or events[name].realis))
            if mark.endswith("~"):
                to_be_continued = found[-1][0]
    mentions = [
        _mention(number, text, tuple(segments), name, events[name].type, realis)
        for number, (segments, name, realis) in enumerate(found, 1)
    ]
    here_too = {name for _, name, _ in found}
    links = [link for name in events if name in here_too for link in events[name].links if link.source in here_too]
    return replace(document, text=text, mentions=tuple(mentions), links=tuple(links))


def _mention(number: int, text: str, span: Region, cluster: str | None, type_: str, realis: str) -> Mention:
    words = " ".join(text[begin:end] for begin, end in span)
    return Mention(f"m{number}", span, cluster=cluster, attributes={"type": type_, "realis": realis}, text=words)


# Systems: lexicons and a few habits ----------------------------------------------------------------------------------


class Entry(NamedTuple):
    """A trigger of a lexicon: its words, `...` for a gap of up to four words."""

    lemma: str
    type: str
    words: tuple[str, ...]


class Hit(NamedTuple):
    """A trigger found in a text: its words, and the words before them."""

    entry: Entry
    document: Document
    span: Region
    before: tuple[str, ...]


class Habits(NamedTuple):
    """The behaviour of a system beyond looking up words."""

    realis: Callable[[Hit], str]
    cluster: Callable[[Hit], str | None]
    links: Callable[[Document], Iterator[Link]]
    takes_auxiliaries: bool = False


def lexicon(source: str) -> list[Entry]:
    """Lines of `lemma  type  trigger, trigger`; triggers of many words first."""
    lines = [line.split(None, 2) for line in source.splitlines() if line and not line.startswith("#")]
    entries = [
        Entry(lemma, type_, tuple(trigger.split())) for lemma, type_, rest in lines for trigger in rest.split(", ")
    ]
    return sorted(entries, key=lambda entry: -len(entry.words))


def hits(document: Document, entries: Sequence[Entry], *, takes_auxiliaries: bool) -> list[Hit]:
    """Triggers in text order; two overlap only if they consist of the same words."""
    text = document.text or ""
    words = [(match.start(), match.end(), match[0].lower()) for match in re.finditer(r"\w+(?:[-']\w+)*|[.;:]", text)]
    taken: dict[int, Region] = {}
    found: list[Hit] = []
    for entry in entries:
        for start in range(len(words)):
            places = _places(entry.words, [word for _, _, word in words[start:]])
            if places is None:
                continue
            first = start
            while takes_auxiliaries and first and words[first - 1][2] in ("was", "were", "been", "being"):
                first -= 1
            rows = [*range(first, start), *(start + place for place in places)]
            span = _segments(rows, words)
            if all(taken.get(row, span) == span for row in rows):
                taken.update(dict.fromkeys(rows, span))
                found.append(Hit(entry, document, span, tuple(word for _, _, word in words[max(0, first - 3) : first])))
    return sorted(found, key=lambda hit: hit.span)


def _places(pattern: Sequence[str], words: Sequence[str]) -> list[int] | None:
    """The positions of a trigger's words, if the words begin with it."""
    if "..." in pattern:
        gap = pattern.index("...")
        head = _places(pattern[:gap], words)
        for start in range(gap + 1, gap + 5) if head is not None else ():
            tail = _places(pattern[gap + 1 :], words[start:])
            if tail is not None and not set(words[gap:start]) & set(".;:"):
                return [*range(gap), *(start + place for place in tail)]
        return None
    return list(range(len(pattern))) if tuple(words[: len(pattern)]) == tuple(pattern) else None


def _segments(rows: Sequence[int], words: Sequence[tuple[int, int, str]]) -> Region:
    segments: list[tuple[int, int]] = []
    for before, row in zip([-2, *rows], rows, strict=False):
        begin = segments.pop()[0] if row == before + 1 else words[row][0]
        segments.append((begin, words[row][1]))
    return tuple(segments)


def cues(hit: Hit) -> str:
    """Other after a word that says that the event may not have happened."""
    return "Other" if {"will", "may", "would", "could", "must", "to", "if"} & set(hit.before) else "Actual"


def between(document: Document, text: str, signs: dict[str, str]) -> Iterator[Link]:
    """A link if a sign is between neighbouring mentions: "A after B", "A in B"."""
    for one, other in pairwise(document.mentions):
        gap = text[one.span[-1][1] : other.span[0][0]]
        for sign, kind in signs.items():
            if re.search(rf"\b(?:{sign})\b", gap) and "." not in gap and one.cluster != other.cluster:
                yield Link(kind, other.cluster or other.id, one.cluster or one.id)
                break


def in_order(document: Document) -> Iterator[Link]:
    """Links between all events in text order, with all of them as parts of the first."""
    events = list(dict.fromkeys(mention.cluster or mention.id for mention in document.mentions))
    yield from (Link("after", one, other) for one, other in pairwise(events))
    yield from (Link("subevent", events[0], other) for other in events[1:])


def system(name: str, documents: Sequence[Document]) -> list[Document]:
    """The output of a system."""
    entries = lexicon((HERE / f"{name}.txt").read_text(encoding="utf-8"))
    texts = {document.id: document.text or "" for document in documents}
    habits = {
        "cautious": Habits(
            cues,
            lambda hit: f"{hit.document.id}:{hit.entry.lemma}",
            lambda document: between(document, texts[document.id], {"after": "after", "during": "subevent"}),
        ),
        "eager": Habits(cues, lambda hit: f"{hit.document.topic}:{hit.entry.type}", in_order, takes_auxiliaries=True),
        "literal": Habits(
            lambda _: "Actual",
            lambda hit: hit.entry.lemma,
            lambda document: between(document, texts[document.id], {"after": "after", "in the|at|during": "subevent"}),
        ),
    }[name]
    said = [_said(document, entries, habits) for document in documents]
    if name == "cautious":
        said = _leads_joined(said)
    return [replace(document, links=tuple(habits.links(document))) for document in said]


def _said(document: Document, entries: Sequence[Entry], habits: Habits) -> Document:
    found = hits(document, entries, takes_auxiliaries=habits.takes_auxiliaries)
    mentions = [
        _mention(number, document.text or "", hit.span, habits.cluster(hit), hit.entry.type, habits.realis(hit))
        for number, hit in enumerate(found, 1)
    ]
    return Document(document.id, topic=document.topic, subtopic=document.subtopic, mentions=tuple(mentions))


def _leads_joined(documents: Sequence[Document]) -> list[Document]:
    """Across documents, only the first events of a sub-topic corefer, if they have the same type."""
    leads: dict[tuple[str | None, object], str | None] = {}
    renamed: dict[str | None, str | None] = {}
    for document in documents:
        if document.mentions:
            lead = document.mentions[0]
            renamed[lead.cluster] = leads.setdefault((document.subtopic, lead.attributes["type"]), lead.cluster)
    return [
        replace(
            document,
            mentions=tuple(replace(m, cluster=renamed.get(m.cluster, m.cluster)) for m in document.mentions),
        )
        for document in documents
    ]


def main(folder: Path) -> None:
    """Write the four files."""
    golden = gold((HERE / "corpus.txt").read_text(encoding="utf-8"))
    corpora = {"gold": golden} | {name: system(name, golden) for name in ("cautious", "eager", "literal")}
    for name, documents in corpora.items():
        data = b"".join(write(document, WriteOptions(), print) for document in documents)
        (folder / f"{name}.jsonl").write_bytes(data)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else BUNDLED)
