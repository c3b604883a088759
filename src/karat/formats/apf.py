"""APF 5.1.1, the ACE Program Format: entities, values, times (timex2), relations and events of a document.

    <source_file URI="D1.sgm" SOURCE="newswire" TYPE="text">
     <document DOCID="D1">
      <entity ID="E1" TYPE="PER" SUBTYPE="Individual" CLASS="SPC">
       <entity_mention ID="E1-1" TYPE="NOM" ROLE="PER">
        <extent><charseq START="4" END="12">the woman</charseq></extent>
        <head><charseq START="8" END="12">woman</charseq></head>
      <event ID="V1" TYPE="Life" SUBTYPE="Die" MODALITY="Asserted" POLARITY="Positive" ...>
       <event_argument REFID="E1" ROLE="Victim"/>
       <event_mention ID="V1-1">
        <extent><charseq START="0" END="17">So the woman died.</charseq></extent>
        <anchor><charseq START="13" END="16">died</charseq></anchor>
        <event_mention_argument REFID="E1-1" ROLE="Victim"><extent>...</extent></event_mention_argument>

An element is a `Cluster` whose kind is entity, value, time, relation or event; its attributes are those of the element
under their names in lower case (`type`, `subtype`, `class`, `anchor_val`, ...), and one that is absent there is absent
here. `names` and `external` links of an entity are kept. Ids are as they are written: an element id in two documents is
one cluster that lives in both.

A mention is a `Mention` of the same kind in that cluster, in the order of the file:

    kind        span      others           text             attributes
    entity      extent    head             of the extent    type (NAM, NOM, PRO), role, metonymy_mention, ldctype, ...
    value       extent                     of the extent
    time        extent                     of the extent
    relation    extent                     of the extent    lexicalcondition
    event       anchor    extent, scope    of the anchor    level; type: that of its event, as Life.Die

`texts` has the texts of the other regions by name: the text of a head is `mention.texts["head"]`. The type of an event
mention is made from its event, so that nuggets can be scored, and is not written. An argument is a `Link` whose kind is
the role: from an element to an element, or from a mention to a mention, where it may have an extent.

TYPE of the source file is the document's unit: text counts characters ("char": `charseq`, whose END is the last
character, or `charspan`, whose END is the gap after it), audio microseconds (`timespan`, in seconds), and an image has
boxes (`bblist`): its mentions have the regions in `boxes`, and empty spans. `karat.regions` measures all three. A
`timespan` or `bbox` may hold the text that is said or written there; the texts of a `bblist` are joined by blanks.

SOURCE is the document's source ("unknown" if it has none), AUTHOR its producer; URI, VERSION, ENCODING and external
resources are in `about`. A file may hold several documents, in one source file or in several, one after the other. The
text is that of the `.sgm` named by URI, in the folder of `--sources` or beside the file: its tags do not count, and a
line end is one character.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS
from karat.formats._apf_reader import Header, Reader, Resource
from karat.formats._apf_validation import COMMENT, LATER, SHAPE, Validation
from karat.formats._apf_writer import write
from karat.formats._text import ENCODING, decode
from karat.formats._xml import root_of
from karat.model import Document
from karat.plugin.formats import Context, Format, Identity, Piece
from karat.problems import KaratError, Rule, quoted

UNIT = Rule("apf-unit", "fatal", "Omit --unit token; APF counts characters, seconds or boxes.")

_DOCUMENT = re.compile(rb"""<document\s+DOCID\s*=\s*(["'])([^"'&\s]+)\1""")
_END = re.compile(rb"</source_file\s*>")
_BETWEEN = re.compile(rb"(?:\s|<!--.*?-->)*", re.DOTALL)
"""What may stand in front of a source file."""
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_TAG = re.compile(rb"<(?:%s)[\s/>]" % "|".join(ELEMENTS).encode())
_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)\.dtd\Z")
CURRENT = (5, 1, 1)
"""The version of the DTD of ACE 2005."""
_ENCODING = re.compile(rb"""\A<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"']*)["']""")


def sniff(head: bytes) -> bool:
    """The root element comes early on."""
    return b"<source_file" in head or b"<!DOCTYPE source_file" in head


def related(name: str, head: bytes) -> str | None:
    """Sources and DTDs hold no annotations; annotation graphs and tables of ids are not scored."""
    if name.lower().endswith((".sgm", ".sgml", ".dtd")):
        return ""
    lowered = name.lower().removesuffix(".gz")
    if lowered.endswith(".ag.xml") or b"<AGSet" in head or b"<!DOCTYPE AGSet" in head:
        return "this is an annotation graph (AG), not APF: give the .apf.xml"
    if lowered.endswith(".tab"):
        return "this is a table of ids (TABLE), not APF: give the .apf.xml"
    return None


def identify(name: str, stream: BinaryIO) -> Identity | None:
    """Find the document, if there is plainly one; anything else is found by parsing the file."""
    del name
    data = stream.read()
    found = None if b"<!-" in data or b"<![" in data or data.count(b"<document") != 1 else _DOCUMENT.search(data)
    if found is None or not found[2].isascii():
        return None
    return Identity(found[2].decode("ascii"), 1 + data.count(b"\n", 0, found.start()))


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read each document of each source file; those that cannot be read are reported and left out."""
    if context.options.unit == "token":
        raise UNIT.error("offsets of an APF file do not count tokens", file=piece.name)
    is_empty = True
    for line, data in _source_files(piece.data):
        validation = Validation(data, line, piece.name, context)
        try:
            root = _root(data, piece.name, line)
            header = _header(root, validation)
        except KaratError as error:
            is_empty = False
            context.report(error.finding)
            continue
        for number in _comments(data, line):
            validation.report_at(COMMENT, number, "a comment contains elements, which are not read")
        for element in root.iterchildren("document"):
            is_empty = False
            try:
                document = Reader(element, header, validation, context.report).document(context.options.sources)
            except KaratError as error:
                context.report(error.finding)
                continue
            yield document
    if is_empty:
        raise SHAPE.error("the file has no <document>", file=piece.name, line=1)


def _source_files(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The source files, one after another, each with the line in which it begins."""
    begin = _BETWEEN.match(data).end()  # type: ignore[union-attr]
    line = 1 + data.count(b"\n", 0, begin)
    while True:
        closing = _END.search(data, begin)
        end = len(data) if closing is None else closing.end()
        yield line, data[begin:end]
        following = _BETWEEN.match(data, end).end()  # type: ignore[union-attr]
        if following == len(data):
            return
        line += data.count(b"\n", begin, following)
        begin = following


def _root(data: bytes, file: str, line: int) -> Any:
    """The root of a source file."""
    declared = _ENCODING.match(data)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        name = declared[1].decode("ascii", "replace")
        raise ENCODING.error(f"the file declares the encoding {name!r}, not UTF-8", file=file, line=line)
    try:
        root = root_of(data, file=file, line=line)
    except KaratError:
        decode(data, file=file, line=line)  # wrong bytes are the better reason
        raise
    if root.tag != "source_file":
        raise SHAPE.error(f"found <{root.tag}>, expected <source_file>", file=file, line=line)
    return root


def _header(root: Any, validation: Validation) -> Header:
    """Read what a source file says about all its documents."""
    header = Header(validation.line(root), dict(root.attrib), [])
    _check_year(root, header, validation)
    for element in validation.header(root):
        name = element.get("NAME")
        if name in [resource.name for resource in header.resources]:
            raise validation.malformed(element, f"the external resource {quoted(name)} is declared twice")
        header.resources.append(Resource(name, element.get("URN"), "".join(element.itertext()).strip()))
    return header


def _check_year(root: Any, header: Header, validation: Validation) -> None:
    """The DTD of a later year is worth a note; files of earlier years are refused when they are opened."""
    name = root.getroottree().docinfo.system_url or ""
    found = _VERSION.search(name)
    version = (int(found[1]), int(found[2]), int(found[3])) if found else CURRENT
    if version > CURRENT:
        header.is_later = True
        year = tables.VERSIONS.get(version, "a later year")
        validation.report_at(LATER, header.line, f"the DOCTYPE names {quoted(name)}, the DTD of {year}")


def _comments(data: bytes, line: int) -> list[int]:
    """Lines of comments that contain elements: NIST's scorer read them, XML parsers do not."""
    if b"<!--" not in data:
        return []
    return [line + data.count(b"\n", 0, found.start()) for found in _COMMENT.finditer(data) if _TAG.search(found[0])]


FORMAT = Format(
    title="ACE Program Format 5.1.1, .apf.xml with its .sgm",
    about=__doc__,
    suffixes=(".apf.xml",),
    unit="named",
    protocols=("ace-2005", "ace-2005-nist"),
    sniff=sniff,
    read=read,
    identify=identify,
    write=write,
    folder="either",
    companions=(".sgm", ".ag.xml", ".tab"),
    related=related,
    global_ids="all",
    # Results that are not valid are not accepted (evaluation plan, section 3.5.1), but published corpora have these: a
    # mention given twice, overlapping heads, a document without elements.
    tolerated_faults=frozenset({"span-twice-in-cluster", "span-repeated", "apf-overlap", "apf-empty"}),
)
