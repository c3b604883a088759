"""karat's own format: JSON Lines, one document per line, with the fields of the data model (`.gz` too).

    {"id": "d1", "mentions": [{"id": "m1", "span": [[4, 9]], "cluster": "E1", "attributes": {"type": "Life.Die"}}]}

Only `id` and `mentions[].span` are required, and `mentions[].id` where a span is empty: mentions without an id are
numbered, `m1`, `m2`, ... An attribute that is null is absent. An unknown field is refused, so that a misspelt one is
not lost silently. A pretty-printed document and a list of documents are also read. In token units, a document may have
the word of each token (`forms`) and the tokens of its sentences (`"sentences": [[0, 4], [4, 9]]`).
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import chain, count
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from karat.decoding import explained, holds_all
from karat.formats._forms import JSONL, first_fields, form
from karat.formats._forms import unknown_form as unknown_form
from karat.formats._json import decoded, each_value, lines_with, refuse_repeated_keys, with_offsets
from karat.formats._text import DANGLING, MERGED, TWICE
from karat.model import Cluster, Document, Link, Mention, Region
from karat.plugin.formats import Context, Format, Piece, ReportLoss, WriteOptions
from karat.problems import Rule, closest, quoted
from karat.regions import union

SHAPE = Rule(
    "jsonl-shape",
    "fatal",
    'A line is one document: {"id": "d1", "mentions": [{"span": [[4, 9]], "attributes": {"type": "Attack"}}]}',
)
SPAN = Rule("jsonl-span", "fatal", "Write spans as [[begin, end], ...] with 0 <= begin < end.")
UNIT = Rule(
    "jsonl-unit", "fatal", 'Omit --unit; a document in JSON Lines states its unit: "unit": "token" (or "char").'
)


_decoder = msgspec.json.Decoder(Document)
LEFT_OUT = re.compile(r"id`|`null` - at `\$\.mentions\[\d+\]\.attributes\[\.\.\.\]`")
"""In the message of an error: a record has no id, or null; an attribute of a mention is null."""
_NAMING = ("id", "cluster", "from", "to")
"""Keys of records whose values name a mention or a cluster."""


_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`(?: - at `\$\.(\w+)\[\d+\]`)?")
_RECORDS: dict[str | None, type[msgspec.Struct]] = {
    None: Document,
    "mentions": Mention,
    "clusters": Cluster,
    "links": Link,
}


_Named = TypeVar("_Named", Mention, Cluster)


class _Report(Protocol):
    """Reports what is wrong with a document; `found` is the text to point at."""

    def __call__(self, rule: Rule, message: str, *, found: str | None = None) -> None: ...


def sniff(head: bytes) -> bool:
    """The file starts with an object that has the fields of a document, or none that can be read; or it is `[]`."""
    start = head.strip()
    if form(head) == JSONL or (start.startswith(b"[") and not start.strip(b"[] \t\r\n")):
        return True
    return start.startswith(b"{") and start != b"{}" and not first_fields(head)


def read(piece: Piece, context: Context) -> Document:
    file, line = piece.name, piece.line
    document = decoded(with_offsets(_decode, piece, context), piece.data, SHAPE, file=file, line=line)
    if not holds_all(document, piece.data):  # encoded, it has no other keys than the data
        refuse_repeated_keys(piece.data, file=file, line=line)
    unit = context.options.unit
    if unit is not None and unit != document.unit:
        message = f"document {quoted(document.id)} counts in {document.unit}s, but --unit says {unit}"
        raise UNIT.error(message, file=file, line=line)
    return sound(document, context, file=file, line=line)


def _decode(data: bytes) -> Document:
    try:
        return _decoder.decode(data)
    except msgspec.ValidationError as error:
        if not LEFT_OUT.search(str(error)):
            raise error from _known_fields(error)
    return converted(msgspec.json.decode(data))


def converted(values: Any) -> Document:
    """Return the document that decoded values describe, with its mentions numbered if need be.

    An attribute of a mention that is null is absent: programs write it where others have a value.
    """
    try:
        return msgspec.convert(values, Document)
    except msgspec.ValidationError as error:
        if not LEFT_OUT.search(str(error)):
            raise error from _known_fields(error)
    _number_mentions(values)
    for mention in _records(values, "mentions"):
        if isinstance(attributes := mention.get("attributes"), dict):
            mention["attributes"] = {name: value for name, value in attributes.items() if value is not None}
    return msgspec.convert(values, Document)


def _known_fields(error: msgspec.ValidationError) -> BaseException | None:
    """Return a cause that says what to write instead of an unknown field."""
    unknown = _UNKNOWN.fullmatch(str(error))
    if unknown is None:
        return error.__cause__ or ValueError(explained(error, record=Document))
    if unknown[2] not in _RECORDS:
        return None
    known = [field.encode_name for field in msgspec.structs.fields(_RECORDS[unknown[2]])]
    near = closest(unknown[1], known, cutoff=0.85)
    advice = "other values go into its attributes" if "attributes" in known else f"known fields are {', '.join(known)}"
    if "about" in known:
        advice += "; other values go into about, as strings"
    return ValueError(f"{explained(error)}; {f'did you mean {near!r}?' if near else advice}")


def _number_mentions(document: Any) -> None:
    """Give ids to the mentions of a decoded document that have a span and no id.

    Names that the document uses for other mentions or clusters are skipped.
    """
    mentions, *others = (_records(document, name) for name in ("mentions", "clusters", "links"))
    unnamed = [mention for mention in mentions if mention.get("id") is None and mention.get("span")]
    used = {str(record.get(key)) for record in chain(mentions, *others) for key in _NAMING}
    for mention, id_ in zip(unnamed, free_ids(used), strict=False):
        mention["id"] = id_


def _records(document: Any, name: str) -> list[dict[str, Any]]:
    records = document.get(name) if isinstance(document, dict) else None
    return [record for record in records if isinstance(record, dict)] if isinstance(records, list | tuple) else []


def free_ids(used: Container[str]) -> Iterator[str]:
    """Ids for mentions that have none: `m1`, `m2`, ... without those in use."""
    return (id_ for number in count(1) if (id_ := f"m{number}") not in used)


def sound(document: Document, context: Context, *, file: str, line: int | None = None) -> Document:
    """Return the document with its regions sorted and merged, without records that cannot be used.

    Repeated ids and links to unknown ids are reported and left out, impossible spans are replaced.
    """
    if not document.clusters and not document.links and _have_ids(document.mentions) and _are_plain(document.mentions):
        return document

    def report(rule: Rule, message: str, *, found: str | None = None) -> None:
        context.report(rule.at(message, file=file, line=line, found=found))

    def misplaced(message: str, region: Region) -> tuple[int, int]:
        return context.misplaced(SPAN.at(message, file=file, line=line), region)

    mentions = _each_once(document.mentions, "mention", report)
    clusters = _each_once(document.clusters, "cluster", report)
    ends = {m.id for m in mentions} | {m.cluster for m in mentions} | {cluster.id for cluster in clusters}
    in_order = [
        mention if _are_plain((mention,)) else _in_order(mention, document, report, misplaced) for mention in mentions
    ]
    _check_places(document, report)
    links: list[Link] = []
    for link in document.links:
        unknown = [end for end in (link.source, link.target) if end not in ends]
        for end in unknown:
            message = f"a link of kind {quoted(link.kind)} names {quoted(end)}, which is not a mention or cluster"
            report(DANGLING, f"{message} of document {quoted(document.id)}", found=end)
        if not unknown:
            links.append(link)
    return replace(document, mentions=tuple(in_order), clusters=clusters, links=tuple(links))


def _each_once(records: tuple[_Named, ...], what: str, report: _Report) -> tuple[_Named, ...]:
    """The first mention or cluster of each id; others are reported."""
    if _have_ids(records):
        return records
    first: dict[str, _Named] = {}
    for record in records:
        if first.setdefault(record.id, record) is not record:
            report(TWICE, f"{what} id {quoted(record.id)} is used twice in this document", found=record.id)
    return tuple(first.values())


def _have_ids(records: tuple[_Named, ...]) -> bool:
    """Return whether each record has an id of its own."""
    return len({record.id for record in records}) == len(records)


def _check_places(document: Document, report: _Report) -> None:
    """Places that are not mentions have segments in order; boxes belong to images, and have an area."""
    places = [(cluster.id, name.place) for cluster in document.clusters for name in cluster.names]
    places += [(link.source, link.extent) for link in document.links if link.extent is not None]
    for id_, place in places:
        if any(begin < 0 or begin >= end for begin, end in place.span):
            report(SPAN, f"a place of {quoted(id_)} has the span {_written(place.span)}", found=id_)
    held = [(mention.id, boxes) for mention in document.mentions for boxes in mention.boxes.values()]
    for id_, boxes in [*held, *((id_, place.boxes) for id_, place in places if place.boxes)]:
        if document.unit != "box":
            report(SPAN, f"{quoted(id_)} has boxes, but the document counts in {document.unit}s", found=id_)
        elif not all(width > 0 and height > 0 for _, _, _, width, height in boxes):
            report(SPAN, f"a box of {quoted(id_)} has no width or no height", found=id_)


def _are_plain(mentions: Iterable[Mention]) -> bool:
    """Return whether mentions have one valid segment and no other region, as nearly all have: nothing to check."""
    try:
        for mention in mentions:
            ((begin, end),) = mention.span
            if not 0 <= begin < end or mention.head or mention.extent or mention.anchor:
                return False
            if mention.scope or mention.boxes:
                return False
    except ValueError:  # no segment, or several
        return False
    return True


def _in_order(
    mention: Mention, document: Document, report: _Report, misplaced: Callable[[str, Region], tuple[int, int]]
) -> Mention:
    """The mention with each of its regions checked, sorted and merged."""
    changed: dict[str, Region] = {}
    for name in ("span", "head", "extent", "anchor", "scope"):
        region: Region | None = getattr(mention, name)
        if region is None:
            continue
        if any(begin < 0 or begin >= end for begin, end in region):
            changed[name] = (misplaced(f"mention {quoted(mention.id)} has the {name} {_written(region)}", region),)
            continue
        merged = region if len(region) < 2 else union(region)
        if merged != tuple(sorted(region)):
            message = f"overlapping segments in mention {quoted(mention.id)} of document {quoted(document.id)}"
            report(MERGED, message, found=mention.id)
        if merged != region:
            changed[name] = merged
    return replace(mention, **changed) if changed else mention


def _written(region: Region) -> str:
    return msgspec.json.encode(region).decode()


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """One line; nothing is lost."""
    del options, report_loss
    return msgspec.json.encode(document, enc_hook=tuple) + b"\n"  # words that are made when someone asks for them


WITHIN = ("tac-2017",)
ACROSS = ("simple-cdec", "pure-cdec")


def choose_protocols(documents: Iterable[Document]) -> tuple[str, ...]:
    """Choose by whether a cluster has mentions in two documents."""
    seen: set[str] = set()
    for document in documents:
        clusters = {mention.cluster for mention in document.mentions if mention.cluster is not None}
        if not seen.isdisjoint(clusters):
            return ACROSS
        seen |= clusters
    return WITHIN


FORMAT = Format(
    title="karat's own, one document per line",
    about=__doc__,
    suffixes=(".jsonl", ".ndjson"),
    unit="named",
    protocols=(*WITHIN, *ACROSS),
    choose_protocols=choose_protocols,
    reasons={WITHIN[0]: "without clusters across documents", ACROSS[0]: "with clusters across documents"},
    sniff=sniff,
    read=each_value(read),
    marker=lines_with("id"),
    write=write,
)
