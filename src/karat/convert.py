"""Conversion between formats, with everything that is lost; for ACE, also of the part that is given to systems."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from msgspec.structs import replace

from karat.checks import check
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.opening import absent_names, open_corpus
from karat.formats import FORMATS
from karat.model import Cluster, Document, Mention, Unit, Value, qualified, xml_name
from karat.plugin.formats import ReadOptions, WriteOptions
from karat.problems import KaratError, Report, Rule, placed, quoted

Keep = Literal["mentions", "elements"]

NOTHING = Rule("nothing-given", "fatal", "--keep is for corpora with entities, such as APF.")
ELEMENTS = frozenset({"entity", "value", "time"})

UNITS = Rule("convert-units", "fatal", "Convert documents of each unit separately, or to jsonl, which holds both.")
LOSSY = Rule(
    "convert-lossy",
    "fatal",
    "Add --lossy to convert anyway, or choose a format that can hold everything, such as jsonl.",
)
UNREAD = Rule("convert-unread", "fatal", "Add --lossy to convert anyway.")
CHANGED = Rule(
    "convert-changed", "fatal", "Nothing was written. Choose another format, such as jsonl, which can hold everything."
)


class Conversion:
    """The conversion of a corpus into another format, and its losses."""

    def __init__(self, corpus: FileCorpus, to: str, options: WriteOptions, *, keep: Keep | None = None) -> None:
        self.losses: dict[str, int] = {}
        self._unread: set[str] = set()
        """Losses that are the reader's."""
        self._first_loss: tuple[str, int | None] | None = None
        self._keep = keep
        self.documents = 0
        self._corpus, self._to, self._options = corpus, to, options
        self._format = FORMATS.get(to)
        self._fingerprint = Fingerprint()
        self._units: set[Unit] = set()
        self._homes: dict[str, str | None] = {}

    def __len__(self) -> int:
        return len(self._corpus.ids())

    def pieces(self, report: Report) -> Iterator[bytes | dict[str, bytes]]:
        """Yield each document as written: its bytes, or its files."""
        for finding in absent_names(self._corpus):
            report(finding)
        complete = self._format.complete
        expected = {} if complete is None else complete(self._corpus.facts()).attributes
        write = self._format.write
        assert write is not None, "the format was chosen among those that are written"
        options = self._format.plan(self._documents(), self._options, self._lose)
        head = options.head
        try:
            for id_ in self._corpus.ids():
                document = self._corpus.read(id_, report)
                for finding in check(document, partial(self._corpus.where, id_)):
                    report(finding)
                with placed(partial(self._corpus.where, id_)):
                    document = self._given(document)
                    self._count(document)
                    for what in () if document.declared is None else document.declared.unread():
                        self._unread.add(what)
                        self._lose(what)
                    if self._format.global_ids == "none":
                        self._lose_shared_clusters(document)
                    self._lose_missing_values(document, expected)
                    piece = write(document, options, self._lose)
                if self.losses and self._first_loss is None:
                    self._first_loss = self._corpus.where(id_)
                yield head + piece if isinstance(piece, bytes) else piece
                head = b""
        finally:
            self._corpus.close()

    def _documents(self) -> Iterator[Document]:
        """Every document as it will be written."""
        return (self._given(document) for document in self._corpus)

    def _given(self, document: Document) -> Document:
        return document if self._keep is None else given(document, self._keep).made_from(document)

    def refuse_losses(self) -> None:
        """Raise an error if anything was lost."""
        if self.losses:
            count = len(self.losses)
            things = "what is listed above" if count == 1 else f"the {count} kinds of information listed above"
            file, line = self._first_loss or (self._corpus.name, None)
            if self._unread.issuperset(self.losses):
                raise UNREAD.error(
                    f"karat does not read {things} from {self._corpus.format}; nothing was written",
                    file=file,
                    line=line,
                )
            raise LOSSY.error(f"{self._to} cannot represent {things}; nothing was written", file=file, line=line)

    def verify(self, written: str) -> tuple[int, int]:
        """Read the output back, and count its documents and mentions. Without losses, the content must be the same."""
        if not self.documents:
            return 0, 0
        (unit,) = self._units if self._format.unit in ("given", "none") and len(self._units) == 1 else (None,)
        options = ReadOptions(unit, None if unit == "char" else self._options.tokens)  # with both, it would project
        back, documents, mentions = Fingerprint(), 0, 0
        try:
            for document in open_corpus(written, format=self._to, options=options):
                back.add(document)
                documents, mentions = documents + 1, mentions + len(document.mentions)
        except KaratError as error:
            message = f"the output in {self._to} cannot be read back: {error.finding.message} [{error.finding.code}]"
            raise CHANGED.error(message, file=self._corpus.name) from None
        if not self.losses and str(back) != str(self._fingerprint):
            raise CHANGED.error(f"the output in {self._to} differs when it is read back", file=self._corpus.name)
        return documents, mentions

    def _count(self, document: Document) -> None:
        self.documents += 1
        self._units.add(document.unit)
        if self._format.unit == "given" and len(self._units) > 1:
            units = " and ".join(sorted(self._units))
            raise UNITS.error(f"{self._to} holds offsets of one unit, and the corpus has {units}; nothing was written")
        self._fingerprint.add(document)

    def _lose(self, what: str) -> None:
        self.losses[what] = self.losses.get(what, 0) + 1

    def _lose_shared_clusters(self, document: Document) -> None:
        """Report each cluster that is in more than one document, once."""
        prefix = qualified(document.id, "")
        for cluster in {m.cluster for m in document.mentions if m.cluster and not m.cluster.startswith(prefix)}:
            home = self._homes.setdefault(cluster, document.id)
            if home not in (None, document.id):
                self._homes[cluster] = None
                self._lose("that clusters are in several documents (one is written in each)")

    def _lose_missing_values(self, document: Document, expected: Mapping[str, Value]) -> None:
        """Report events without an attribute that others have: the format would read a default value."""
        for name, value in expected.items():
            for mention in document.mentions:
                if mention.kind == "event" and name not in mention.attributes:
                    self._lose(f"that mentions have no {name} (read as {value})")


def given(document: Document, keep: Keep) -> Document:
    """Return the part of a document that a diagnostic condition of ACE gives to systems (evaluation plan, Table 8).

    mentions    entity mentions, for "EDR co-reference (given correct mentions)": each is a separate entity, in text
                order and with a new id, since the old order and ids would reveal which corefer; its entity keeps only
                type, subtype and class, which APF requires
    elements    entities, values and times with their mentions, for "RDR (VDR) given correct entities, values and
                timex2s": without relations and events
    """
    if document.mentions and not any(mention.kind in ELEMENTS for mention in document.mentions):
        raise NOTHING.error(f"document {quoted(document.id)} has no mention of an entity, a value or a time")
    return _mentions(document) if keep == "mentions" else _elements(document)


def _elements(document: Document) -> Document:
    return replace(
        document,
        mentions=tuple(mention for mention in document.mentions if mention.kind in ELEMENTS),
        clusters=tuple(cluster for cluster in document.clusters if cluster.kind in ELEMENTS),
        links=(),
    )


def _mentions(document: Document) -> Document:
    clusters = {cluster.id: cluster for cluster in document.clusters}
    stem = xml_name(document.id)  # ids are unique across documents
    mentions: list[Mention] = []
    alone: list[Cluster] = []
    for number, mention in enumerate(sorted(_entities(document), key=_place), 1):
        cluster = clusters.get(mention.cluster or "", Cluster(mention.id, "entity"))
        attributes = {name: value for name, value in cluster.attributes.items() if name in ("type", "subtype", "class")}
        alone.append(Cluster(f"{stem}-E{number}", "entity", attributes))
        mentions.append(replace(mention, id=f"{stem}-E{number}-1", cluster=alone[-1].id))
    return replace(document, mentions=tuple(mentions), clusters=tuple(alone), links=())


def _entities(document: Document) -> list[Mention]:
    return [mention for mention in document.mentions if mention.kind == "entity"]


def _place(mention: Mention) -> tuple[object, ...]:
    """Text order; for an image, the order of its boxes."""
    return mention.span, mention.head or (), sorted(mention.boxes.items()), sorted(map(str, mention.attributes.items()))
