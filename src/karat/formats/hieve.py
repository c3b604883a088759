"""HiEve: events of a text, and the relation of each pair of them; one `.tsvx` file per document. Only read.

    Text	The council met and sang.
    Event	1	met	Occurrence	12
    Event	2	sang	Occurrence	20
    Relation	1	2	SuperSub	true	met	sang

An event has a number, a word, a class (its attribute `type`) and the place of its first character. `SuperSub` is a link
of kind `subevent` from the first event to the second, `SubSuper` one from the second to the first, `Coref` a link of
kind `coref`, which need not be transitive, and `NoRel` is none. The name of the file is the id of the document.
"""

from collections.abc import Iterator

from karat.formats._relations import RelationLinks
from karat.formats._text import TWICE, decode, named_after_file, stem, text_lines
from karat.model import Document, Mention, Places, compact_lines
from karat.plugin.formats import Context, Format, Piece
from karat.problems import Rule, quoted

SHAPE = Rule(
    "hieve-shape",
    "fatal",
    "Separate by tabs: Text, text; Event, number, word, class, place; Relation, two numbers, label.",
)
UNIT = Rule("hieve-unit", "fatal", "Omit --unit token; HiEve counts characters.")

SUFFIXES = (".tsvx",)
LABELS = {"SuperSub": "subevent", "SubSuper": "subevent", "Coref": "coref", "NoRel": ""}


def sniff(head: bytes) -> bool:
    """The text comes first."""
    return head.startswith(b"Text\t")


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read one file."""
    if context.options.unit == "token":
        raise UNIT.error("places in a HiEve file do not count tokens", file=piece.name)
    id_, text = stem(piece.name, SUFFIXES), None
    mentions: dict[str, Mention] = {}
    lines: list[int] = []
    rows: list[tuple[int, str, str, str]] = []
    for line, written in enumerate(text_lines(decode(piece.data, file=piece.name, line=1)), 1):
        match written.split("\t"):
            case ["Text", *parts]:
                text = "\t".join(parts)
            case ["Event", number, word, class_, place, *_] if word:
                if number in mentions:
                    raise TWICE.error(f"event {quoted(number)} was already given", file=piece.name, line=line)
                if place.isascii() and place.isdecimal():
                    begin = int(place[:18])
                    span = ((begin, begin + len(word)),)
                else:
                    message = f"event {quoted(number)} has the place {quoted(place)}, which is not a whole number"
                    span = (context.misplaced(SHAPE.at(message, file=piece.name, line=line), place),)
                mentions[number] = Mention(number, span, attributes={"type": class_}, text=word)
                lines.append(line)
            case ["Relation", first, second, label, *_]:
                rows.append((line, first, second, label))
            case _ if written.strip():
                raise SHAPE.error(f"found {quoted(written)}", file=piece.name, line=line, found=written[:60])
    relations = RelationLinks(id_, {number: number for number in mentions}, piece.name, context.report)
    for line, first, second, label in rows:
        relations.check_label(label, LABELS, line)
        ends = (second, first) if label == "SubSuper" else (first, second)
        if kind := LABELS.get(label, label):
            relations.add(kind, *ends, line)
    document = Document(id_, text=text, mentions=tuple(mentions.values()))
    yield relations.added_to(document.at(Places(1, compact_lines(lines))))


FORMAT = Format(
    title="HiEve, one .tsvx per document",
    about=__doc__,
    suffixes=SUFFIXES,
    unit="char",
    protocols=("hieve-2020",),
    sniff=sniff,
    read=read,
    identify=named_after_file(SUFFIXES),
    global_ids="none",
)
