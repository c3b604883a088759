"""ECB+ XML: the tokens of a document, mentions of events and entities, and coreference. Only read.

    <Document doc_name="1_10ecb.xml" doc_id="DOC1">
      <token t_id="6" sentence="0" number="5">checked</token>
      <Markables>
        <ACTION_OCCURRENCE m_id="32"><token_anchor t_id="6"/><token_anchor t_id="8"/></ACTION_OCCURRENCE>
        <ACTION_OCCURRENCE m_id="48" RELATED_TO="" TAG_DESCRIPTOR="checking_in" instance_id="ACT1"/>
      <Relations>
        <CROSS_DOC_COREF r_id="37612" note="ACT1"><source m_id="32"/><target m_id="48"/></CROSS_DOC_COREF>
        <INTRA_DOC_COREF r_id="37700"><source m_id="30"/><source m_id="31"/><target m_id="49"/></INTRA_DOC_COREF>

Markables with anchors are mentions: events if their name begins with ACTION or NEG_ACTION, else entities. Markables
without anchors are instances, the targets of relations. A span counts tokens in the order of the file, from 0, whatever
their ids. The cluster of a mention is the instance that a cross-document relation names (its `note`, one id for the
whole corpus), or a within-document relation, whose id is qualified by the document. A mention that is the source of no
relation has no cluster.

A mention has the attributes `type` (the name of its element), `relation` (the name of its relation), `sentence` (the
number of its first token's sentence) and, if the list of validated sentences is found, `validated`. The list is
`ECBplus_coreference_sentences.csv`, in the folder of the document or up to two folders above. A relation becomes the
record of a cluster. Its kind is that of the target; within a document, where the target usually is an
UNKNOWN_INSTANCE_TAG, it is that of the first source. Its `type` and `descriptor` are the target's. `note` of a mention
and RELATED_TO of an instance are not read, nor are other relations (TLINK), which a note counts; a file with PLOT_LINK
is one of EventStoryLine (`esc`). The name of a file gives id, topic and subtopic: `1_10ecbplus.xml` is the document
`1_10ecbplus` in the subtopic `1ecbplus` of topic `1`.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from karat.formats._text import BYTE_ORDER_MARK, DANGLING, MERGED, TWICE, decode, text_lines
from karat.formats._xml import ElementReader, root_of
from karat.inputs import opened
from karat.model import Cluster, Document, Mention, Places, Region, Value, compact_lines, qualified
from karat.plugin.formats import Context, Format, Identity, Piece
from karat.problems import Rule, quoted
from karat.regions import nowhere, runs

ROW = Rule("ecb-sentences", "fatal", "Write a topic, a file's number with its suffix and a sentence: 1,10ecbplus,3")
HEADER = b"topic,file,sentence number"
ABOVE = 3

Sentences = Mapping[tuple[str, str], frozenset[int]]
"""Numbers of sentences, by topic and file (`10ecbplus`)."""


def is_list(name: str, head: bytes) -> bool:
    """Return whether a file of that name with these first bytes is a list of validated sentences."""
    return name.lower().endswith(".csv") and head.partition(b"\n")[0].strip().lower() == HEADER


def validated(file: str) -> Sentences | None:
    """The list that stands nearest to a document's file; None where there is none."""
    path = Path(file)
    if not path.is_file():
        return None
    for folder in path.absolute().parents[:ABOVE]:
        try:
            lists = _lists(folder, folder.stat().st_mtime_ns)
        except OSError:  # a folder above the corpus may be nobody's to look into
            continue
        if lists:
            return _read(opened(lists[0]), lists[0].stat().st_mtime_ns)
    return None


@lru_cache(maxsize=128)
def _lists(folder: Path, modified: int) -> list[Path]:
    """The lists in a folder, as it was when it was last modified."""
    del modified
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv" and path.is_file())
    return [path for path in paths if is_list(path.name, _head(path))]


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096).removeprefix(BYTE_ORDER_MARK)


@lru_cache(maxsize=4)
def _read(path: Path, modified: int) -> Sentences:
    del modified
    listed: dict[tuple[str, str], set[int]] = {}
    lines = text_lines(decode(path.read_bytes(), file=str(path), line=1).removeprefix("\ufeff"))
    for line, row in enumerate(csv.reader(lines), 1):
        if line == 1 or not row:
            continue
        topic, name, sentence = map(str.strip, row) if len(row) == 3 else ("", "", "")
        if not (topic and name and sentence.isascii() and sentence.isdecimal()):
            raise ROW.error(f"found {','.join(row)!r}", file=str(path), line=line)
        listed.setdefault((topic, name), set()).add(int(sentence))
    return {key: frozenset(sentences) for key, sentences in listed.items()}


EVENTS = ("ACTION", "NEG_ACTION")
CROSS = "CROSS_DOC_COREF"
INTRA = "INTRA_DOC_COREF"

SHAPE = Rule("ecb-shape", "fatal", "Compare the element with the files of ECB+ and correct it.")
TOKEN_TWICE = Rule("ecb-token-twice", "fatal", "Give each token of a document its own t_id.")
UNIT = Rule("ecb-unit", "fatal", "Omit --unit char; ECB+ counts tokens.")
ANCHOR = Rule(
    "ecb-anchor",
    "fault",
    "Name tokens of the same document; without any, a mention of gold is ignored, and one of a system is spurious.",
)
RELATION_TWICE = Rule("ecb-relation-twice", "fault", "Make a mention the source of one relation; the first one counts.")
NAME = Rule("ecb-name", "note", "Name it TOPIC_NUMBERecb.xml or TOPIC_NUMBERecbplus.xml if its topic matters.")
UNREAD = Rule("ecb-unread", "note", "No action needed; no score uses it.")

_FORM = re.compile(r"([^_]+)_(\d+(ecb|ecbplus))")


def sniff(head: bytes) -> bool:
    """The root element is near the beginning; EventStoryLine has the same, and PLOT_LINK."""
    return is_cat(head) and b"<PLOT_LINK" not in head


def is_cat(head: bytes) -> bool:
    """Return whether a file begins like the documents of ECB+ and EventStoryLine."""
    return re.search(rb"<Document\s[^>]*\bdoc_name\s*=", head) is not None


def identify(name: str, stream: BinaryIO) -> Identity:
    """Derive id and topic from the name of the file, unless it does not end in `.xml` (standard input)."""
    del stream
    name = _file_name(name)
    if not _is_xml(name):
        return Identity()
    document, topic, *_ = _Name.parse(name)
    return Identity(document, topic=topic)


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read the mentions and clusters of one file."""
    file = piece.name
    if context.options.unit == "char":
        raise UNIT.error("spans of an ECB+ file do not count characters", file=file)
    root = root_of(piece.data, file=file)
    name = _file_name(file)
    if not _is_xml(name):
        name = root.get("doc_name") or name
    yield document_of(root, _Name.parse(name), file, context)


def document_of(root: Any, name: "_Name | str", file: str, context: Context) -> Document:
    """Return the mentions and clusters of a document; `name` is its id, or has its topic, too."""
    return _Reader(root, _Name(name) if isinstance(name, str) else name, file, context).document()


class _Name(NamedTuple):
    """Parts of the name of a file; only the document's id if it has an unusual form."""

    document: str
    topic: str | None = None
    subtopic: str | None = None
    number: str | None = None
    """The file as the list of validated sentences names it: `10ecbplus`."""

    @classmethod
    def parse(cls, name: str) -> "_Name":
        """From a name such as `1_10ecbplus.xml`."""
        document = re.sub(r"\.xml\Z", "", name, flags=re.IGNORECASE)
        if match := _FORM.fullmatch(document):
            topic, number, suffix = match.groups()
            return cls(document, topic, topic + suffix, number)
        return cls(document or name)


def _file_name(file: str) -> str:
    return re.sub(r"\.gz\Z", "", Path(file).name, flags=re.IGNORECASE)


def _is_xml(name: str) -> bool:
    return name.lower().endswith(".xml")


def _kind(tag: str) -> str:
    return "event" if tag.startswith(EVENTS) else "entity"


def _sentences(numbers: Sequence[str | None]) -> Region:
    """Return the tokens that have the number of a sentence in common."""
    if None in numbers:
        return ()
    changes = [i for i in range(1, len(numbers)) if numbers[i] != numbers[i - 1]]
    return tuple(pairwise([0, *changes, len(numbers)] if numbers else ()))


class _Reader(ElementReader):
    """Reads a file: tokens, markables, relations, and then the mentions."""

    def __init__(self, root: Any, name: _Name, file: str, context: Context) -> None:
        super().__init__(root, "Document", file, context.report, SHAPE)
        self._name, self._options = name, context.options
        self._tokens: list[Any] = [*root.iterchildren("token")]
        self._words = [token.text or "" for token in self._tokens]
        self._sentences: list[str | None] = [token.get("sentence") for token in self._tokens]
        self._rows: dict[str, int] = {}
        """The row of each token, by id."""
        self._markables: dict[str, Any] = {}
        self._anchors: dict[str, list[Any]] = {}
        self._instances: dict[str, Any] = {}
        self._clusters: dict[str, Cluster] = {}
        self._cluster_lines: list[int] = []
        self._relations: dict[str, tuple[Any, str]] = {}
        """The relation that a mention is a source of, and its cluster."""

    def document(self) -> Document:
        if self._name.topic is None:
            message = f"document {quoted(self._name.document)} has no topic, since its name has another form"
            self.report(NAME.at(message, file=self.file))
        self._number_tokens()
        sections = self._sections()
        for section in sections:
            if section.tag == "Markables":
                self._read_markables(section)
            elif section.tag != "Relations":
                self.warn(UNREAD, section, f"<{section.tag}> is not read")
        for section in sections:
            if section.tag == "Relations":
                self._read_relations(section)
        document = Document(
            self._name.document,
            topic=self._name.topic,
            subtopic=self._name.subtopic,
            unit="token",
            forms=tuple(self._words) or None,
            sentences=_sentences(self._sentences),
            mentions=tuple(self._mentions()),
            clusters=tuple(self._clusters.values()),
        )
        places = Places(
            1,
            compact_lines([self._markables[mention.id].sourceline for mention in document.mentions]),
            compact_lines(self._cluster_lines),
            tokens=compact_lines([token.sourceline for token in self._tokens]),
        )
        return document.at(places)

    def _number_tokens(self) -> None:
        ids = [token.get("t_id") for token in self._tokens]
        self._rows = {id_: row for row, id_ in enumerate(ids)}
        if len(self._rows) == len(ids) and all(ids):
            return
        known = set[str]()
        for token in self._tokens:
            id_ = self.needed(token, "t_id")
            if id_ in known:
                message = f"token id {quoted(id_)} was already used in this document"
                raise self.error(TOKEN_TWICE, token, message)
            known.add(id_)

    def _sections(self) -> list[Any]:
        """The elements beside the tokens: in most files the last ones, where the search begins."""
        sections: list[Any] = []
        count = len(self.root) - len(self._tokens)
        for element in self.root.iterchildren(reversed=True):
            if len(sections) == count:
                break
            if element.tag != "token":
                sections.append(element)
        return sections[::-1]

    def _read_markables(self, section: Any) -> None:
        for element in section:
            id_ = self.needed(element, "m_id")
            if id_ in self._markables or id_ in self._instances:
                message = f"mention id {quoted(id_)} was already used in this document"
                raise self.error(TWICE, element, message)
            anchors = [*element.iterchildren("token_anchor")]
            if anchors:
                self._markables[id_], self._anchors[id_] = element, anchors
            else:
                self._instances[id_] = element

    def _read_relations(self, section: Any) -> None:
        others = [relation for relation in section if relation.tag not in (CROSS, INTRA)]
        if others:
            counts = Counter(str(relation.tag) for relation in others)
            listed = ", ".join(f"{count:,} {tag}" for tag, count in sorted(counts.items()))
            self.warn(UNREAD, others[0], f"relations that are not coreference are not read: {listed}")
        for relation in section.iterchildren(CROSS, INTRA):
            sources, target = self._sources(relation), self._target(relation)
            if relation.tag == INTRA:
                cluster = qualified(self._name.document, self.needed(relation, "r_id"))
                if cluster in self._clusters:
                    message = f"relation id {quoted(relation.get('r_id'))} was already used in this document"
                    raise self.error(TWICE, relation, message)
            else:
                cluster = relation.get("note") or ("" if target is None else target.get("instance_id", ""))
                if not cluster:
                    raise self.error(SHAPE, relation, f"<{CROSS}> names no instance")
            first = self._markables[sources[0].get("m_id")] if sources else None
            if cluster not in self._clusters:
                self._clusters[cluster] = _record(cluster, relation, first, target)
                self._cluster_lines.append(relation.sourceline)
            for source in sources:
                self._enter(source, relation, cluster)

    def _sources(self, relation: Any) -> list[Any]:
        """The sources that name a mention."""
        sources = []
        for source in relation.iterchildren("source"):
            id_ = self.needed(source, "m_id")
            if id_ in self._markables:
                sources.append(source)
            else:
                message = f"a source of <{relation.tag}> is {quoted(id_)}, which is not a mention of this document"
                self.warn(DANGLING, source, message)
        return sources

    def _target(self, relation: Any) -> Any | None:
        """The instance that a relation is about."""
        target = relation.find("target")
        if target is None:
            self.warn(DANGLING, relation, f"<{relation.tag}> has no target")
            return None
        id_ = self.needed(target, "m_id")
        if id_ not in self._instances:
            message = f"the target of <{relation.tag}> is {quoted(id_)}, which is not an instance of this document"
            self.warn(DANGLING, target, message)
        return self._instances.get(id_)

    def _enter(self, source: Any, relation: Any, cluster: str) -> None:
        mention = source.get("m_id")
        if mention in self._relations:
            first, _ = self._relations[mention]
            message = f"mention {quoted(mention)} is already a source of the <{first.tag}> in line {first.sourceline}"
            self.warn(RELATION_TWICE, source, message)
            return
        self._relations[mention] = relation, cluster

    def _mentions(self) -> Iterator[Mention]:
        listed = None if self._name.number is None else validated(self.file)
        wanted = None if listed is None else listed.get((self._name.topic or "", self._name.number or ""), frozenset())
        for id_, element in self._markables.items():
            rows = self._anchored(id_)
            if not rows and not self._options.is_system:
                continue
            tag = str(element.tag)
            attributes: dict[str, Value] = {"type": tag}
            relation, cluster = self._relations.get(id_, (None, None))
            if relation is not None:
                attributes["relation"] = str(relation.tag)
            sentence = self._sentence(rows[0]) if rows else None
            if sentence is not None:
                attributes["sentence"] = sentence
                if wanted is not None:
                    attributes["validated"] = sentence in wanted
            yield Mention(
                id_,
                runs(rows) if rows else (nowhere(id_),),
                kind=_kind(tag),
                cluster=cluster,
                attributes=attributes,
                text=" ".join([self._words[row] for row in rows]) or None,
            )

    def _anchored(self, id_: str) -> list[int]:
        """The rows of the tokens of a mention, in order."""
        rows = set[int]()
        for anchor in self._anchors[id_]:
            name = self.needed(anchor, "t_id")
            row = self._rows.get(name)
            if row is None:
                self.warn(ANCHOR, anchor, f"mention {quoted(id_)} is anchored in {quoted(name)}, which is not a token")
            elif row in rows:
                self.warn(MERGED, anchor, f"mention {quoted(id_)} is anchored twice in token {quoted(name)}")
            else:
                rows.add(row)
        return sorted(rows)

    def _sentence(self, row: int) -> int | None:
        number = self._sentences[row]
        if number is None:
            return None
        if not (number.isascii() and number.isdecimal() and len(number) < 19):
            line = self._tokens[row].sourceline
            raise SHAPE.error(
                f"found the sentence {quoted(number)}, expected a whole number", file=self.file, line=line
            )
        return int(number)


def _record(id_: str, relation: Any, source: Any | None, target: Any | None) -> Cluster:
    """The cluster of a relation; within a document its kind is that of the first source, else of the target."""
    elements = (source, target) if relation.tag == INTRA else (target, source)
    tags = [str(element.tag) for element in elements if element is not None]
    attributes: dict[str, Value] = {"relation": str(relation.tag)}
    if target is not None:
        attributes["type"] = str(target.tag)
        if target.get("TAG_DESCRIPTOR"):
            attributes["descriptor"] = str(target.get("TAG_DESCRIPTOR"))
    return Cluster(id_, _kind(tags[0]) if tags else "event", attributes)


FORMAT = Format(
    title="ECB+ XML",
    about=__doc__,
    suffixes=("ecb.xml", "ecbplus.xml"),
    protocols=("simple-cdec", "pure-cdec"),
    sniff=sniff,
    read=read,
    identify=identify,
    related=lambda name, head: "" if is_list(name, head) else None,  # validated sentences
)
