"""The documents of a page as its script reads them: text, and the mentions and items of outcomes of each side."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

from msgspec import Raw, Struct

from karat.model import Document, Mention, Region, Value
from karat.records import ClusterRecord, LinkRecord, MentionRecord, Record, TreeRecord, shown_place
from karat.regions import is_nowhere, union
from karat.report.html.timeline import Timeline
from karat.report.listing import attributes_in_words
from karat.words import token_ids

# Records that are encoded as JSON arrays, in the order of their fields

Segments = list[tuple[int, int]]

Reference = int | tuple[int]
"""An item of an outcome: a mention by its number; another item of the document, counted from -1 down; or, as an array
of one number, an item that is in several documents."""


class MentionData(Struct, array_like=True, gc=False):
    """A mention of one side of a document."""

    id: str
    place: Segments
    """Where it is in the text that is shown, in UTF-16 code units, as scripts count; empty if it is not known."""
    text: str | None
    kind: str
    cluster: str | None
    attributes: dict[str, Value]
    line: int | None
    span: str
    """Its offsets or token ids as the file has them; empty if these are the offsets of `place`."""


class ItemData(Struct, array_like=True, frozen=True, gc=False):
    """An item of an outcome that is not a mention."""

    form: str
    """cluster, link, tree or element."""
    label: str
    parts: tuple[tuple[Any, ...], ...]
    """Numbers of the mentions of each of its parts: a cluster has one part, a link two, a tree one per event. If the
    item is in several documents, a mention is a pair of numbers: of the document, and in it."""
    about: str = ""
    """Its attributes, and what else is known about it."""


class OutcomeData(Struct, array_like=True, gc=False):
    """An outcome of a measure."""

    outcome: int
    """The number of its class in `IndexData.outcomes`; counted from -1 down if an earlier document lists it, too."""
    gold: Reference | None
    system: Reference | None
    earned: int
    """Its share of the score, as a number in `DocumentData.notes`."""


class OutcomeClass(Struct, array_like=True, frozen=True):
    """A class of outcomes as the page shows it."""

    name: str
    label: str
    tone: str
    """right, missed, spurious, wrong or other."""
    about: str = ""
    """An explanation, if the name is not enough."""


class DocumentData(Struct, omit_defaults=True):
    """A document with gold's mentions and those of every system."""

    unit: str
    text: str | None
    mentions: list[Raw]
    """Of gold, then of each system: arrays of `MentionData`."""
    items: list[Raw]
    """Likewise: arrays of `ItemData`."""
    links: list[Sequence[tuple[str, str, str]]]
    """Likewise: kind, source and target of each link."""
    outcomes: list[Raw]
    """Of each system: for each measure an array of `OutcomeData`."""
    notes: list[str]
    timelines: list[Raw] = []
    """Of gold, then of each system: a `Timeline`, or null; empty if none has any."""


class MeasureData(Struct):
    """A choice of marks over the text: the outcomes of a measure, or its errors by class."""

    label: str
    protocol: str
    outcomes: int
    """The number of its outcomes in `IndexData.measures`: its own, or, of errors by class, those of the measure."""


class IndexData(Struct):
    """Index of the documents."""

    systems: list[str]
    measures: list[MeasureData]
    outcomes: list[OutcomeClass]
    documents: list[str]
    """Their ids."""
    items: list[list[ItemData]]
    """Of gold, then of each system: the items that are in several documents."""
    measure: int
    """The number of the measure to show first."""
    a: int
    """The number of the system to show first."""
    b: int
    """The number of the system to show beside it; -1: none."""


# The text and the sides

Place = tuple[int, int]
"""A mention: the number of its document, and its number there."""
UNKNOWN_FORM = "…"
"""Stands for a token whose form is not known."""


class ShownText:
    """The text of a document: its own, or that of its tokens, one sentence per line. None if neither is known."""

    def __init__(self, sources: Sequence[Document]) -> None:
        """`sources` are the sides of the document; the first one with a text gives it."""
        self.text: str | None = None
        self._tokens: Sequence[tuple[int, int]] | None = None
        self._empty: Sequence[int] = ()
        for document in sources:
            self._take(document)
            if self.text is not None:
                break
        self._units = _utf16_positions(self.text or "")

    def _take(self, document: Document) -> None:
        if document.unit == "char" and document.text is not None:
            self.text = document.text
        elif document.unit == "token" and document.text is not None and document.tokens is not None:
            self.text, self._tokens = document.text, document.tokens
        elif document.unit == "token" and document.forms is not None:
            self.text, self._tokens = _joined(document)
        self._empty = [node.token for node in document.empty_nodes]

    def place(self, mention: Mention, document: Document) -> Segments:
        """The segments of a mention of one side in UTF-16 code units; empty if they are not in the text."""
        if self.text is None or document.unit not in ("char", "token"):
            return []
        segments = mention.span if document.unit == "char" else self._of_tokens(mention.span, document)
        length = len(self.text)
        inside = [(begin, min(end, length)) for begin, end in segments if 0 <= begin < length]
        return inside if self._units is None else [(self._units[begin], self._units[end]) for begin, end in inside]

    def _of_tokens(self, span: Region, document: Document) -> Region:
        if self._tokens is None:
            return ()
        empty = [node.token for node in document.empty_nodes]
        most = len(self._tokens) + len(empty)  # a span may claim any number of tokens
        pieces = [(begin, min(end, most)) for begin, end in span]
        if empty != list(self._empty):  # the sides number their tokens differently: only their words are the same
            words = [token for begin, end in pieces for token in range(begin, end) if token not in empty]
            pieces = [(number, number + 1) for number in (self._number(token, empty) for token in words)]
        known = [(begin, min(end, len(self._tokens))) for begin, end in pieces if begin < len(self._tokens)]
        runs = union(known, touching=True)
        return tuple((self._tokens[first][0], self._tokens[last - 1][1]) for first, last in runs)

    def _number(self, token: int, empty: Sequence[int]) -> int:
        """The number here of a word of another side, which has other empty nodes."""
        number = token - bisect_left(empty, token)
        for node in self._empty:
            number += node <= number
        return number


def _joined(document: Document) -> tuple[str, list[tuple[int, int]]]:
    """Forms with blanks between them, each sentence on a line of its own; and the place of each."""
    forms = [form or UNKNOWN_FORM for form in document.forms or ()]
    begins = {begin for begin, _ in document.sentences} - {0}
    pieces, tokens, at = [], [], 0
    for number, form in enumerate(forms):
        separator = "" if number == 0 else "\n" if number in begins else " "
        at += len(separator)
        pieces += [separator, form]
        tokens.append((at, at + len(form)))
        at += len(form)
    return "".join(pieces), tokens


def _utf16_positions(text: str) -> list[int] | None:
    """The position of each character in UTF-16 code units; None if it is just its number."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    return [0, *accumulate(1 + (character > "\uffff") for character in text)]


class Item(Struct, eq=False, gc=False):
    """An item of an outcome, with the mentions of its parts. All outcomes of a record share it."""

    form: str
    label: str
    parts: tuple[tuple[Place, ...], ...]
    about: str = ""
    documents: tuple[int, ...] = ()
    """The numbers of the documents that it has mentions in, made from its parts."""
    local: int | None = None
    """Its reference in outcomes of its only document."""
    shared: tuple[int] | None = None
    """Its reference in outcomes elsewhere."""

    def __post_init__(self) -> None:
        self.documents = self.documents or tuple(sorted({document for part in self.parts for document, _ in part}))

    def places(self) -> Iterator[Place]:
        return chain.from_iterable(self.parts)


class DocumentSide:
    """The mentions and links of one document."""

    def __init__(self, document: Document, shown: ShownText) -> None:
        self.mentions: list[MentionData] = []
        self.numbers: dict[str, int] = {}
        types = {cluster.id: cluster.attributes for cluster in document.clusters}
        for mention in document.mentions:
            place = shown.place(mention, document)
            # Where mentions have no attributes of their own (ACE), those of their cluster describe them.
            attributes = mention.attributes or types.get(mention.cluster or "", {})
            ids = token_ids(document, mention.span)
            is_plain = (ids is None and place == [*mention.span]) or is_nowhere(mention.span)
            span = "" if is_plain else shown_place(mention.span, ids)
            text = None if place else mention.text  # the text that is shown has it
            self.numbers[mention.id] = len(self.mentions)
            self.mentions.append(
                MentionData(mention.id, place, text, mention.kind, mention.cluster, {**attributes}, None, span)
            )
        self.items: dict[ItemData, int] = {}
        self.links = [(link.kind, link.source, link.target) for link in document.links]

    def number(self, record: MentionRecord) -> int:
        """The number of a mention. One that only the protocol knows is added."""
        number = self.numbers.get(record.id)
        if number is None:
            number = self.numbers[record.id] = len(self.mentions)
            self.mentions.append(
                MentionData(record.id, [], record.text, record.kind, None, {**record.attributes}, None, record.place)
            )
        mention = self.mentions[number]
        mention.line = record.line
        if mention.text is None and not mention.place:
            mention.text = record.text
        return number


class CorpusSide:
    """The documents of one side, and the items that are in several of them."""

    def __init__(self) -> None:
        self.documents: dict[int, DocumentSide] = {}
        self.timelines: dict[int, Timeline | None] = {}
        self.shared: dict[ItemData, int] = {}
        self._elements: dict[str, list[Place]] | None = None
        self._made: dict[int, tuple[Record, Item]] = {}
        """By the identity of a record: a cluster with thousands of mentions may be in thousands of outcomes."""

    def forget_records(self) -> None:
        """Let go of the records of outcomes; only the items remain that outcomes refer to."""
        self._made.clear()

    def item(self, record: Record, document: int | None, numbers: dict[str, int]) -> Item:
        """The item of a record; `numbers` are those of documents, for mentions that name theirs."""
        known = self._made.get(id(record))
        if known is None:
            known = self._made[id(record)] = record, self._item(record, document, numbers)
        return known[1]

    def _item(self, record: Record, document: int | None, numbers: dict[str, int]) -> Item:

        def places(mentions: Iterable[MentionRecord]) -> tuple[Place, ...]:
            found = []
            for mention in mentions:
                where = numbers[mention.document] if isinstance(mention.document, str) else document
                assert where is not None, "a mention names its document if the unit has several"
                found.append((where, self.documents[where].number(mention)))
            return tuple(found)

        if isinstance(record, MentionRecord):
            (place,) = places([record])
            return Item("mention", record.id, ((place,),), documents=place[:1])
        if isinstance(record, ClusterRecord):
            number = len(record.mentions)
            some = f"{record.size:,} of {number:,} mentions count" if record.size != number else ""
            about = "; ".join(filter(None, [attributes_in_words(record.attributes), some]))
            return Item("cluster", record.id, (places(record.mentions),), about)
        if isinstance(record, LinkRecord):
            parts = places(record.source_mentions), places(record.target_mentions)
            return Item("link", record.kind, parts, f"{record.source} → {record.target}")
        if isinstance(record, TreeRecord):
            return Item("tree", record.id, tuple(places(event.mentions) for event in record.events))
        return Item("element", record.kind, (), attributes_in_words(record.attributes))

    def items(self, records: Sequence[Record], document: int | None, numbers: dict[str, int]) -> Item | None:
        """The item of several records: each is a part of it."""
        made = [self.item(record, document, numbers) for record in records]
        if len(made) < 2:
            return made[0] if made else None
        parts = tuple(tuple(place for part in item.parts for place in part) for item in made)
        form = f"{len(made)} {made[0].form}s"
        return Item(form, ", ".join(item.label for item in made if item.form != "mention"), parts)

    def element(self, id_: str, document: int | None) -> Item:
        """The item of an element that is listed by its id: that of a cluster, or of a mention."""
        if self._elements is None:
            self._elements = {}
            for number, side in self.documents.items():
                for place, mention in enumerate(side.mentions):
                    for name in {mention.id, mention.cluster} - {None}:
                        self._elements.setdefault(str(name), []).append((number, place))
        places = self._elements.get(id_, [])
        return Item("element", id_, (tuple(place for place in places if document in (None, place[0])),))

    def reference(self, item: Item, document: int) -> Reference:
        """The reference to an item in outcomes of this document."""
        if item.form == "mention":
            return item.parts[0][0][1]
        if not item.documents:
            return self._local(item, document)
        if item.documents == (document,):
            if item.local is None:
                item.local = self._local(item, document)
            return item.local
        if item.shared is None:
            item.shared = self._shared(item)
        return item.shared

    def _local(self, item: Item, document: int) -> int:
        local = tuple([tuple([number for _, number in part]) for part in item.parts])
        items = self.documents[document].items
        return -1 - items.setdefault(ItemData(item.form, item.label, local, item.about), len(items))

    def _shared(self, item: Item) -> tuple[int]:
        return (self.shared.setdefault(ItemData(item.form, item.label, item.parts, item.about), len(self.shared)),)
