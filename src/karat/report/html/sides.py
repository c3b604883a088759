"""One side of a report, gold or a system: its mentions, and the items of outcomes that are made of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from karat.model import Document
from karat.report.html.records import ItemData, MentionData, Reference
from karat.report.html.shown_text import ShownText
from karat.report.listing import attributes_in_words, offsets
from karat.results import ClusterRecord, LinkRecord, MentionRecord, Record, TreeRecord

Place = tuple[int, int]
"""A mention: the number of its document, and its number there."""


class Item(Struct, eq=False, gc=False):
    """An item of an outcome, with the mentions of its parts. All outcomes of a record share it."""

    form: str
    label: str
    parts: tuple[tuple[Place, ...], ...]
    about: str = ""
    documents: tuple[int, ...] = ()
    """The numbers of the documents that it has mentions in."""
    local: int | None = None
    """How outcomes refer to it in its only document."""
    shared: tuple[int] | None = None
    """How outcomes refer to it elsewhere."""

    def __post_init__(self) -> None:
        self.documents = tuple(sorted({document for part in self.parts for document, _ in part}))

    def places(self) -> Iterator[Place]:
        """Its mentions."""
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
            span = "" if place == [*mention.span] else offsets(mention.span)
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
            span = offsets(record.span)
            self.mentions.append(
                MentionData(record.id, [], record.text, record.kind, None, {**record.attributes}, None, span)
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
            return Item("mention", record.id, (places([record]),))
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
        return Item("element", id_, (tuple(one for one in places if document in (None, one[0])),))

    def reference(self, item: Item | None, document: int) -> Reference | None:
        """How an outcome in this document refers to an item."""
        if item is None:
            return None
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
