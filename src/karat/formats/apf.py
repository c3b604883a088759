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
from typing import Any, BinaryIO, NamedTuple

from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS
from karat.formats._apf_reader import Header, Reader, Resource
from karat.formats._apf_validation import LATER, SHAPE, UNKNOWN, Validation, last_line, start_line
from karat.formats._apf_writer import write
from karat.formats._text import ENCODING, decode
from karat.formats._xml import BROKEN, root_of
from karat.model import Document
from karat.plugin.formats import Context, Format, Identity, Piece
from karat.problems import KaratError, Rule, quoted

UNIT = Rule("apf-unit", "fatal", "Omit --unit token; APF counts characters, seconds or boxes.")

_MARK = re.compile(rb"<!--|<!\[CDATA\[|<\?|<(?:/source_file|/document|source_file|document)(?=[\s/>])")
_TAG_END = re.compile(rb"""(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
_SKIPPED = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
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
    """Find the document, if there is one, and the XML around it is well-formed."""
    try:
        (identity,) = [Identity(part.id, part.line) for part in _parts(stream.read(), name)]
    except (KaratError, ValueError):
        return None
    return identity


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read each document of each source file; one that cannot be read is reported and left out."""
    for part in _parts(piece.data, piece.name):
        try:
            document = _document(part, piece.name, context)
        except KaratError as error:
            context.report(error.finding)
            continue
        yield document


def _document(part: "_Part", file: str, context: Context) -> Document:
    options, report = context
    if options.unit == "token":
        raise UNIT.error("offsets of an APF file do not count tokens", file=file)
    try:
        root = root_of(part.data, file=file, line=part.line)
    except KaratError:
        decode(part.data, file=file, line=part.line)  # wrong bytes are the better reason
        raise
    part.header.comments += _comments(part.data, part.line)
    validation = Validation(root, part.data, part.line, file, context)
    return Reader(root, part.header, validation, report).document(options.sources)


class _Part(NamedTuple):
    """One document of a file, with what the file says around it."""

    id: str
    line: int
    data: bytes
    header: Header


def _parts(data: bytes, file: str) -> Iterator[_Part]:
    """The documents of a file; only what is around them is parsed."""
    is_empty = True
    for source in _source_files(data, file):
        skeleton = source.skeleton(data)
        root = root_of(skeleton, file=file, line=source.line)
        if root.tag != "source_file":
            raise SHAPE.error(f"found <{root.tag}>, expected <source_file>", file=file, line=source.line)
        header = _header(root, skeleton, source.line, file)
        line, counted = source.line, source.begin
        for (begin, end), element in zip(source.documents, root.iterchildren("document"), strict=True):
            is_empty = False
            line, counted = line + data.count(b"\n", counted, begin), begin
            id_ = element.get("DOCID")
            if not id_:
                raise SHAPE.error("<document> has no DOCID", file=file, line=line)
            yield _Part(id_, line, data[begin:end], header)
            header.findings, header.comments = [], []  # reported once
    if is_empty:
        raise SHAPE.error("the file has no <document>", file=file, line=1)


class _SourceFile(NamedTuple):
    """One source file among those of a file: where it is, and where its documents are, in bytes."""

    begin: int
    end: int
    line: int
    documents: list[tuple[int, int]]

    def skeleton(self, data: bytes) -> bytes:
        """Return the XML with only line ends inside its documents."""
        pieces, last = [], self.begin
        for begin, end in self.documents:
            tag = _TAG_END.search(data, begin, end)
            inside = tag.end() if tag else end
            closing = b"" if data[inside - 2 : inside] == b"/>" else b"</document>"
            pieces += [data[last:inside], b"\n" * data.count(b"\n", inside, end), closing]
            last = end
        return b"".join([*pieces, data[last : self.end]])


def _source_files(data: bytes, file: str) -> Iterator[_SourceFile]:
    """The source files, one after another, each with its prolog; wrong nesting is refused."""
    begin, opened, document = 0, False, -1
    documents: list[tuple[int, int]] = []
    line, counted, position = 1, 0, 0
    while mark := _MARK.search(data, position):
        name = mark[0]
        if name in _SKIPPED:
            end = data.find(_SKIPPED[name], mark.end())
            if end < 0:
                break
            if (
                begin
                and not opened
                and data.startswith(b"<?xml ", mark.start())
                and _is_blank(data[begin : mark.start()])
            ):
                begin = mark.start()  # joined files have several declarations; each must come first in its part
            position = end + len(_SKIPPED[name])
            continue
        tag = _TAG_END.match(data, mark.end())
        if tag is None:
            break
        position = tag.end()
        empty = data[position - 2 : position] == b"/>"
        if name == b"<source_file" and not opened and document < 0:
            opened = True
        elif name == b"<document" and opened and document < 0:
            document = mark.start()
        elif name == b"</document" and document >= 0:
            documents.append((document, position))
            document = -1
            continue
        elif not (name == b"</source_file" and opened and document < 0):
            break
        if name == b"<document" and empty:
            documents.append((document, position))
            document = -1
        if name == b"</source_file" or (name == b"<source_file" and empty):
            start = position - len(data[begin:position].lstrip())
            line += data.count(b"\n", counted, start)
            counted = start
            _refuse_encoding(data[start : start + 200], file, line)
            yield _SourceFile(start, position, line, documents)
            begin, opened, documents = position, False, []
    rest = data[begin:]
    if opened or begin == 0 or not _is_blank(rest):
        start = len(data) - len(rest.lstrip())
        line += data.count(b"\n", counted, start)
        _refuse_broken(data[start:], file, line)


def _is_blank(data: bytes) -> bool:
    """Return whether there are only comments."""
    return not _COMMENT.sub(b"", data).strip()


def _refuse_encoding(head: bytes, file: str, line: int) -> None:
    declared = _ENCODING.match(head)
    if declared and declared[1].lower() not in (b"utf-8", b"utf8", b"us-ascii", b"ascii"):
        name = declared[1].decode("ascii", "replace")
        raise ENCODING.error(f"the file declares the encoding {name!r}, not UTF-8", file=file, line=line)


def _refuse_broken(data: bytes, file: str, line: int) -> None:
    """Refuse XML that is not source files with documents in them, with the reason."""
    decode(data, file=file, line=line)
    root = root_of(data, file=file, line=line)
    if root.tag != "source_file":
        raise SHAPE.error(f"found <{root.tag}>, expected <source_file>", file=file, line=line)
    raise BROKEN.error("<source_file> and <document> are not properly nested", file=file, line=line)


def _header(root: Any, skeleton: bytes, first: int, file: str) -> Header:
    """Read what a source file, which starts in line `first`, says about all its documents."""
    lines = skeleton.split(b"\n")
    header = Header(first + start_line(root, lines) - 1, dict(root.attrib), [])
    _check_year(root, header)
    texts, is_over = [(int(root.sourceline), root.text)], False
    for child in root:
        line = first + start_line(child, lines) - 1
        texts.append((last_line(child), child.tail))
        if child.tag == "document":
            is_over = True
        elif child.tag != "external_resource" or is_over:
            header.findings.append((UNKNOWN, line, f"<{child.tag}> is not allowed there in <source_file>"))
        else:
            _read_resource(child, header, line, file)
    for line, text in texts:
        if text and not text.isspace():
            line += first - 1 + text[: len(text) - len(text.lstrip())].count("\n")
            header.findings.append((UNKNOWN, line, f"<source_file> contains text: {quoted(text.strip())}"))
    header.comments = _comments(skeleton, first)
    return header


def _check_year(root: Any, header: Header) -> None:
    """The DTD of a later year is worth a note; files of earlier years are refused when they are opened."""
    name = root.getroottree().docinfo.system_url or ""
    found = _VERSION.search(name)
    version = (int(found[1]), int(found[2]), int(found[3])) if found else CURRENT
    if version > CURRENT:
        header.is_later = True
        year = tables.VERSIONS.get(version, "a later year")
        header.findings.append((LATER, header.line, f"the DOCTYPE names {quoted(name)}, the DTD of {year}"))


def _read_resource(element: Any, header: Header, line: int, file: str) -> None:
    name, urn = element.get("NAME"), element.get("URN")
    if not name or not urn:
        raise SHAPE.error("<external_resource> has no NAME or no URN", file=file, line=line)
    if name in [resource.name for resource in header.resources]:
        raise SHAPE.error(f"the external resource {quoted(name)} is declared twice", file=file, line=line)
    header.resources.append(Resource(name, urn, "".join(element.itertext()).strip()))
    for child in element:
        header.findings.append((UNKNOWN, line, f"<{child.tag}> is not allowed in <external_resource>"))
    for other in sorted(set(element.keys()) - {"NAME", "URN"}):
        header.findings.append((UNKNOWN, line, f"<external_resource> has an unknown attribute {quoted(other)}"))


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
