"""karat's own format: JSON Lines, one document a line, the records of `karat.model` as they are (`.gz` too).

    {"id": "d1", "mentions": [{"id": "m1", "span": [[4, 9]], "cluster": "E1", "attributes": {"type": "Life.Die"}}]}

Only `id`, `mentions[].id` and `mentions[].span` are required. An unknown field is refused, so that a misspelt one
is not lost without a word.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from karat.errors import Report, Rule, quoted
from karat.formats._json_keys import repeated_key, repeats_key
from karat.formats._rules import DANGLING, MERGED, TWICE
from karat.formats._text import decode
from karat.model import Document, Link, Mention, Region
from karat.model.regions import union
from karat.plugin.formats import Block, Contents, Format, ReadOptions, ReportLoss, WriteOptions

SHAPE = Rule(
    "jsonl-shape",
    "fatal",
    'A line is one document: {"id": "d1", "mentions": [{"id": "m1", "span": [[4, 9]]}]}',
)
SPAN = Rule("jsonl-span", "fatal", "Write spans as [[begin, end], ...] with 0 <= begin < end.")
KEY_TWICE = Rule("jsonl-key-twice", "fatal", "Write each key of an object once; only one of the values could be read.")
UNIT = Rule("jsonl-unit", "fatal", 'A .jsonl document says itself what its offsets count: "unit": "token" (or "char").')


_decoder = msgspec.json.Decoder(Document)


def sniff(head: bytes) -> bool:
    """The first thing is an object."""
    return head.lstrip().startswith(b"{")


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """Each line that is not blank.

    Lines are decoded for the survey and again when they are read: msgspec decodes faster than memory takes documents
    (keeping those of 98,461 mentions instead made scoring them 1.2 times slower).
    """
    del file
    offset = stream.tell()
    for line, data in enumerate(stream, 1):
        if not data.isspace():
            yield _block(data, offset, line)
        offset += len(data)


def _block(data: bytes, offset: int, line: int) -> Block:
    try:
        document = _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Block(offset, len(data), line)  # `parse` says what is wrong
    if repeats_key(data, document):
        return Block(offset, len(data), line)
    contents = Contents.of(document)
    return Block(offset, len(data), line, document.id, document.topic, document.subtopic, contents)


def _decoded(data: bytes, file: str, line: int) -> Document:
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        decode(data, file=file, line=line)
        raise SHAPE.error(str(error).replace("$", "the document"), file=file, line=line) from None


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The document on one line."""
    document = _decoded(data, file, block.line)
    if not block.id and (key := repeated_key(data)) is not None:  # with an id, the survey has looked for one
        raise KEY_TWICE.error(f"the key {quoted(key)} is given twice in one object", file=file, line=block.line)
    if options.unit is not None and options.unit != document.unit:
        found = f"document {quoted(document.id)} counts in {document.unit}s, but --unit says {options.unit}"
        raise UNIT.error(found, file=file, line=block.line)
    _refuse_twice([mention.id for mention in document.mentions], "mention", file, block.line)
    if not document.clusters and not document.links and all(map(_is_plain, document.mentions)):
        return document
    _refuse_twice([cluster.id for cluster in document.clusters], "cluster", file, block.line)

    def tell(rule: Rule, message: str) -> None:
        report(rule.at(f"{message} of document {quoted(document.id)}", file=file, line=block.line))

    def checked(region: Region, mention: Mention) -> Region:
        if any(begin < 0 or begin >= end for begin, end in region):
            raise SPAN.error(f"mention {quoted(mention.id)} has the span {region}", file=file, line=block.line)
        settled = region if len(region) < 2 else union(region)
        if settled != tuple(sorted(region)):
            tell(MERGED, f"overlapping segments in mention {quoted(mention.id)}")
        return settled

    _refuse_places(document, file, block.line)
    mentions = [mention if _is_plain(mention) else _in_order(mention, checked) for mention in document.mentions]
    ends = {m.id for m in mentions} | {m.cluster for m in mentions} | {cluster.id for cluster in document.clusters}
    links: list[Link] = []
    for link in document.links:
        unknown = [end for end in (link.source, link.target) if end not in ends]
        for end in unknown:
            tell(DANGLING, f"a {link.kind} link names {quoted(end)}, which is no mention or cluster")
        if not unknown:
            links.append(link)
    return replace(document, mentions=tuple(mentions), links=tuple(links))


def _refuse_places(document: Document, file: str, line: int) -> None:
    """What stands where no mention does has segments in order; boxes belong to images, and have an area."""
    places = [(cluster.id, name.place) for cluster in document.clusters for name in cluster.names]
    places += [(link.source, link.extent) for link in document.links if link.extent is not None]
    for id_, place in places:
        if any(begin < 0 or begin >= end for begin, end in place.span):
            raise SPAN.error(f"a place of {quoted(id_)} has the span {place.span}", file=file, line=line)
    held = [(mention.id, boxes) for mention in document.mentions for boxes in mention.boxes.values()]
    for id_, boxes in [*held, *((id_, place.boxes) for id_, place in places if place.boxes)]:
        if document.unit != "box":
            found = f"{quoted(id_)} has boxes, but the document counts in {document.unit}s"
            raise SPAN.error(found, file=file, line=line)
        if not all(width > 0 and height > 0 for _, _, _, width, height in boxes):
            raise SPAN.error(f"a box of {quoted(id_)} has no width or no height", file=file, line=line)


def _is_plain(mention: Mention) -> bool:
    """Whether there is one good segment and no other region, as in nearly every mention: nothing to look at."""
    span = mention.span
    if len(span) != 1 or mention.boxes:
        return False
    return 0 <= span[0][0] < span[0][1] and mention.head is mention.extent is mention.anchor is mention.scope is None


def _in_order(mention: Mention, checked: Callable[[Region, Mention], Region]) -> Mention:
    """The mention with each of its regions checked, sorted and merged."""
    regions = {name: getattr(mention, name) for name in ("span", "head", "extent", "anchor", "scope")}
    settled = {name: checked(region, mention) for name, region in regions.items() if region is not None}
    changed = {name: region for name, region in settled.items() if region != regions[name]}
    return replace(mention, **changed) if changed else mention


def _refuse_twice(ids: list[str], what: str, file: str, line: int) -> None:
    if len(set(ids)) < len(ids):
        repeated = next(id_ for id_ in ids if ids.count(id_) > 1)
        raise TWICE.error(f"{what} id {quoted(repeated)} is used twice in this document", file=file, line=line)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """One line; nothing is lost."""
    del options, report_loss
    return msgspec.json.encode(document) + b"\n"


FORMAT = Format(
    title="karat's own, one document per line",
    about=__doc__,
    suffixes=(".jsonl", ".ndjson"),
    unit="named",
    protocols=("tac-2017",),
    cross_document_protocols=("simple-cdec", "pure-cdec"),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    write=write,
)
