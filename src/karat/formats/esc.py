"""EventStoryLine: ECB+ XML with PLOT_LINK between events, or its evaluation format, `.tab`. Only read.

    <Document doc_name="1_1ecbplus.xml.xml"><token t_id="1" sentence="0" number="0">Quake</token>
    <Markables><ACTION_OCCURRENCE m_id="30"><token_anchor t_id="1"/></ACTION_OCCURRENCE></Markables>
    <Relations><PLOT_LINK r_id="5" relType="PRECONDITION"><source m_id="30"/><target m_id="31"/></PLOT_LINK></Relations>

Tokens, mentions and coreference are read as those of ECB+. A PLOT_LINK is a link between mentions; in gold, an end that
has a cluster means the cluster, so that it holds for all its mentions in the document. Other relations (TLINK) are not
read. If the files have no coreference, `--set clusters=DIR` takes that of the ECB+ files of the same names. A file
without a PLOT_LINK is ECB+ by itself, and EventStoryLine beside files that have one.

A line of a `.tab` file has the tokens of two events, joined by `_`, and a label; its links are those of mentions:

    65_66	80	PRECONDITION

The id of a document is the name of its file up to the first `.xml` or `.tab`. Gold is scored by `esc-2017` and, if its
mentions have sentences, by `eci-2019`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from karat.formats._relations import RelationLinks
from karat.formats._text import decode, text_lines
from karat.formats._xml import root_of
from karat.formats.ecbplus import NAME, UNREAD, document_of, is_cat
from karat.model import Document, Mention, Places, compact_lines
from karat.plugin.formats import Context, Format, Identity, Piece
from karat.problems import Rule, quoted, without
from karat.regions import runs

SHAPE = Rule("esc-shape", "fatal", "Compare with the files of EventStoryLine: CAT XML, or lines `65_66 80 LABEL`.")
CHAINS = Rule(
    "esc-chains", "fatal", "Give the files of the folder event_mentions_extended, in which each cell is a mention."
)
UNIT = Rule("esc-unit", "fatal", "Omit --unit char; EventStoryLine counts tokens.")
NO_TYPE = Rule("esc-no-type", "fault", 'Add a relType, such as relType="PRECONDITION"; the link is ignored.')

LABELS = ("PRECONDITION", "FALLING_ACTION")
_TOKENS = r"[1-9][0-9]{0,17}(?:_[1-9][0-9]{0,17})*"
_ROW = re.compile(rf"({_TOKENS})\t({_TOKENS})\t(\w+)\s*", re.ASCII)
_CHAIN = re.compile(rf"{_TOKENS}( {_TOKENS})*\t{_TOKENS}( {_TOKENS})*\t\w+\s*", re.ASCII)
_NAME = re.compile(r"(.+?)\.(?:xml|tab)(?:\.|\Z).*", re.IGNORECASE | re.DOTALL)


def sniff(head: bytes) -> bool:
    """ECB+ with links, or two events by their tokens and a label."""
    first = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    return (is_cat(head) and b"<PLOT_LINK" in head) or _CHAIN.fullmatch(first) is not None


def identify(name: str, stream: BinaryIO) -> Identity:
    """The name of the file has the id."""
    del stream
    return Identity(_id(name))


def _id(file: str) -> str:
    name = Path(file).name
    return found[1] if (found := _NAME.fullmatch(name)) else name


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read one file."""
    if context.options.unit == "char":
        raise UNIT.error("spans of an EventStoryLine file do not count characters", file=piece.name)
    yield (_read_cat if piece.data.lstrip().startswith(b"<") else _read_tab)(piece, context)


def _read_cat(piece: Piece, context: Context) -> Document:
    root = root_of(piece.data, file=piece.name)
    if root.tag != "Document":
        raise SHAPE.error(f"found <{root.tag}>, expected <Document>", file=piece.name, line=root.sourceline)
    heard = context._replace(report=without(context.report, {UNREAD.code, NAME.code}))
    document = document_of(root, _id(piece.name), piece.name, heard)
    is_gold = context.options.gold is None
    ends = {m.id: m.cluster if is_gold and m.cluster is not None else m.id for m in document.mentions}
    relations = RelationLinks(document.id, ends, piece.name, context.report)
    for element in root.iter("PLOT_LINK"):
        label = element.get("relType")
        names = [end.get("m_id", "") for kind in ("source", "target") for end in element.iterchildren(kind)]
        if len(names) != 2:
            message = f"<PLOT_LINK> has {len(names)} ends, expected one source and one target"
            raise SHAPE.error(message, file=piece.name, line=element.sourceline)
        if not label:
            message = f"<PLOT_LINK> from {quoted(names[0])} to {quoted(names[1])} has no relType"
            context.report(NO_TYPE.at(message, file=piece.name, line=element.sourceline))
            continue
        relations.check_label(label, LABELS, element.sourceline)
        relations.add(label, names[0], names[1], element.sourceline)
    return relations.added_to(document)


def _read_tab(piece: Piece, context: Context) -> Document:
    rows: list[tuple[int, str, str, str]] = []
    for line, text in enumerate(text_lines(decode(piece.data, file=piece.name, line=1)), 1):
        if not text.strip():
            continue
        row = _ROW.fullmatch(text)
        if row is None:
            rule = CHAINS if _CHAIN.fullmatch(text) else SHAPE
            raise rule.error(f"found {quoted(text)}", file=piece.name, line=line, found=text[:60])
        rows.append((line, row[1], row[2], row[3]))
    first_lines: dict[str, int] = {}
    for line, source, target, _ in rows:
        first_lines.setdefault(source, line)
        first_lines.setdefault(target, line)
    spans = {name: runs(int(token) - 1 for token in name.split("_")) for name in first_lines}
    names = sorted(spans, key=spans.__getitem__)
    mentions = tuple([Mention(name, spans[name]) for name in names])
    relations = RelationLinks(_id(piece.name), {name: name for name in names}, piece.name, context.report)
    for line, source, target, label in rows:
        relations.check_label(label, LABELS, line)
        relations.add(label, source, target, line)
    document = Document(_id(piece.name), unit="token", mentions=mentions)
    return relations.added_to(document.at(Places(1, compact_lines([first_lines[name] for name in names]))))


def choose_protocols(documents: Iterable[Document]) -> tuple[str, ...]:
    """By whether mentions have sentences."""
    has_sentences = any("sentence" in mention.attributes for document in documents for mention in document.mentions)
    return ("esc-2017", "eci-2019") if has_sentences else ("esc-2017",)


FORMAT = Format(
    title="EventStoryLine, CAT XML or .tab",
    about=__doc__,
    suffixes=(".esc.xml", ".esc.tab"),
    unit="token",
    protocols=("esc-2017", "eci-2019"),
    choose_protocols=choose_protocols,
    sniff=sniff,
    read=read,
    identify=identify,
    includes=("ecbplus",),
    refers_to_gold=True,
)
