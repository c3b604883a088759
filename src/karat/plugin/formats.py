"""Formats: how documents are found in files, read and written."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

from msgspec import Struct

from karat.limits import MAX_BYTES
from karat.model import Document, Unit, Value
from karat.problems import Finding, Report, Rule


class Facts:
    """What occurs in the documents of a corpus, or in some of them."""

    def __init__(
        self,
        attributes: Iterable[tuple[str, str]] = (),
        kinds: Iterable[str] = (),
        links: Iterable[tuple[str, str, str]] = (),
        clustered: Iterable[str] = (),
    ) -> None:
        self.attributes = {*attributes}
        """(kind of mention, attribute)."""
        self.kinds = {*kinds}
        """Kinds of mentions, and of clusters without mentions."""
        self.links = {*links}
        """(kind of link, kinds of the mentions at its source and its target)."""
        self.clustered = {*clustered}
        """Kinds of mentions that are in clusters."""
        self.relations: set[str] = set()
        """Names of relations as written; only known if the user calls some of them coreference."""

    def add(self, document: Document) -> None:
        """Add what occurs in a document. Most documents hold nothing new, and cost little."""
        mentions, attributes = document.mentions, self.attributes
        kinds = {mention.kind for mention in mentions}
        distinct = {id(mention.attributes): mention for mention in mentions}  # readers share equal attributes
        for mention in distinct.values() if len(kinds) == 1 else mentions:
            for name in mention.attributes:
                if (mention.kind, name) not in attributes:
                    attributes.add((mention.kind, name))
        if (
            document.clusters
            or not kinds <= self.clustered
            or (document.links and not self._knows_links(document, kinds))
        ):
            self._add_clusters(document, kinds)
        self.kinds |= kinds

    def _add_clusters(self, document: Document, kinds: set[str]) -> None:
        ids = {mention.cluster for mention in document.mentions if mention.cluster is not None}
        if document.clusters:
            kinds |= {cluster.kind for cluster in document.clusters if cluster.id not in ids}
        if document.links:
            self.links |= _links_among(document, kinds, ids)
        self.clustered |= {mention.kind for mention in document.mentions if mention.cluster}

    def _knows_links(self, document: Document, kinds: Set[str]) -> bool:
        """Return whether nothing new can be learned from the links of a document whose mentions are of one kind."""
        if len(kinds) != 1:
            return False
        (kind,) = kinds
        return all((name, kind, kind) in self.links for name in {link.kind for link in document.links})

    def update(self, other: "Facts") -> None:
        """Add what occurs in other documents."""
        self.attributes |= other.attributes
        self.kinds |= other.kinds
        self.links |= other.links
        self.clustered |= other.clustered
        self.relations |= other.relations

    def renamed(self, kinds: Mapping[str, str]) -> "Facts":
        """The same with other names for some kinds."""
        facts = Facts(
            ((kinds.get(kind, kind), name) for kind, name in self.attributes),
            (kinds.get(kind, kind) for kind in self.kinds),
            ((link, kinds.get(source, source), kinds.get(target, target)) for link, source, target in self.links),
            (kinds.get(kind, kind) for kind in self.clustered),
        )
        facts.relations = self.relations
        return facts

    def attributes_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Names of attributes that occur on mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {name for kind, name in self.attributes if wanted is None or kind in wanted}

    def links_of(self, kinds: Iterable[str] | None) -> set[str]:
        """Kinds of links between mentions of these kinds (None: of any kind)."""
        wanted = None if kinds is None else set(kinds)
        return {link for link, *ends in self.links if wanted is None or wanted.issuperset(ends)}


def _links_among(document: Document, present: Set[str], clusters: Set[str]) -> set[tuple[str, str, str]]:
    """Kinds of links with those of the mentions that they join; the kind of a cluster is that of its mentions."""
    mentions, links = document.mentions, document.links
    if len(present) == 1:  # nearly always: then no kind has to be looked up
        (kind,) = present
        ends = {*clusters, *(mention.id for mention in mentions)}
        return {(link.kind, kind, kind) for link in links if link.source in ends and link.target in ends}
    kinds = {mention.cluster: mention.kind for mention in mentions}
    kinds |= {mention.id: mention.kind for mention in mentions}
    return {
        (link.kind, kinds[link.source], kinds[link.target])
        for link in links
        if link.source in kinds and link.target in kinds
    }


class Piece(NamedTuple):
    """What a format reads: the bytes of one document, or of a whole file if it has no marker."""

    name: str
    """The name of the file."""
    data: bytes
    """Whole lines, from the marker of the document to the next one; what stands before the first marker of a file, if
    that is not blank, belongs to the first document."""
    line: int = 1
    """Number of the first line of `data`."""
    id: str = ""
    """The id of the document, as the marker has it, or as it is called if it has none."""
    header: bytes = b""
    """The last header line before `data`."""
    more: tuple["Piece", ...] = ()
    """Further pieces of the same document (`Marker.joins`)."""
    is_last: bool = True
    """Whether the file ends with it."""


def _always(line: bytes) -> bool:
    del line
    return True


class Marker(Struct, frozen=True, kw_only=True):
    """How a corpus finds the documents of a file that can hold several of them."""

    pattern: re.Pattern[bytes]
    """Matches in the line in which a document begins, after blanks, and not beyond the line. The group `id` is its id.
    A match with a group `header` begins no document: the line applies to the documents after it."""
    find_id: Callable[[bytes], str] | None = None
    """The id in what `pattern` matches, if it has no group for it; empty if there is none that can be read: then the
    document is read at once, and what is wrong with it is found."""
    unnamed: Literal["file", "number", "line"] = "line"
    """What a document is called whose group `id` is empty: what its file is called (one document of a file at most),
    its number in the file (after the name of the file, if there are several files; a file without a marker may be its
    document 1), or the number of its line."""
    second_unnamed: Rule | None = None
    """The rule that refuses a second document without an id in a file, if they are called what their file is called."""
    joins: bool = False
    """Whether the pieces of a file with the same id are one document; otherwise it was given twice."""
    applies: Callable[[bytes], bool] = _always
    """Whether a file with this first line that is not blank has markers; otherwise it is read whole."""


class TokenTables(Protocol):
    """The token tables of a corpus (`--tokens`)."""

    def table(self, document: str, report: Report) -> Mapping[str, int]:
        """Row numbers by token id; empty if the document has no table."""
        ...


class Sources(Protocol):
    """The source texts of a corpus, each in a file of its own (`--sources`)."""

    def find(self, names: Sequence[str]) -> Path | None:
        """The first file that has one of these names."""
        ...


class GoldDocuments(Protocol):
    """The documents of gold, for systems whose files cannot be read without them."""

    def ids(self) -> Collection[str]:
        """The ids of all documents."""
        ...

    def read(self, id_: str) -> Document | None:
        """The document of this id, if gold has it."""
        ...

    def __hash__(self) -> int:
        """So that formats can remember what they derive from gold."""
        ...


class ReadOptions(Struct, frozen=True):
    """What the user says about files that do not say it themselves, and what else it takes to read them."""

    unit: Unit | None = None
    """What offsets count; None: what is usual in the format."""
    tokens: TokenTables | None = None
    sources: Sources | None = None
    """Where the texts of documents are; None: beside their files."""
    coreference: tuple[str, ...] = ()
    """Names of relations that are coreference, beside those that the format knows."""
    max_bytes: int = MAX_BYTES
    """The most that standard input, pipes and unpacked files of one argument may hold together."""
    gold: GoldDocuments | None = None
    """Gold, if the files are those of a system that is compared with it, and the format `refers_to_gold`; None: the
    files are gold, or stand alone."""


def _ignore(finding: Finding) -> None:
    """Findings are reported only to callers that ask for them."""


class Context(NamedTuple):
    """What a format is given besides a piece of a file."""

    options: ReadOptions = ReadOptions()
    report: Report = _ignore
    """Called with each finding. A fatal one may be reported or raised; after it, documents are checked, not scored."""


class WriteOptions(Struct, frozen=True):
    """How a corpus is written."""

    tokens: TokenTables | None = None
    folder: bool = False
    """Into a folder of files, if the format can be written either way."""
    plain: bool = False
    """In the format's plainest form, which is enough for every document of the corpus (see `Format.plan`)."""


ReportLoss = Callable[[str], None]
"""Called with what a format cannot hold, each time it occurs."""

Write = Callable[[Document, WriteOptions, ReportLoss], bytes | dict[str, bytes]]
"""From a document to its bytes, or, where a corpus is a folder, to its files by name."""


def _never(head: bytes) -> bool:
    del head
    return False


def _no_part(name: str, head: bytes) -> bool:
    del name, head
    return False


def _no_redirection(name: str, head: bytes) -> str | None:
    del name, head
    return None


def _no_topic(name: str) -> str | None:
    del name
    return None


def _not_known(file: str, stream: BinaryIO) -> tuple[str, int]:
    del file, stream
    return "", 1


def _no_relations(piece: Piece) -> Iterable[str]:
    del piece
    return ()


def _no_plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    del documents, report_loss
    return options


class Format(Struct, frozen=True, kw_only=True):
    """A format, as its module offers it under the name `FORMAT`. It never computes a score.

    `sniff` recognises it, `read` reads it and, if it can be written, `write` writes it; all else is declared.
    """

    title: str
    """What it is, in a few words."""
    suffixes: tuple[str, ...]
    """How the names of its files end, in lower case."""
    protocols: tuple[str, ...]
    """How gold in this format is scored if the user names no protocol."""
    cross_document_protocols: tuple[str, ...] = ()
    """The same for gold whose clusters have mentions in several documents, if that makes a difference."""
    choose_protocols: Callable[[Iterable[Document]], tuple[str, ...]] | None = None
    """Which of `protocols` are chosen for gold with these documents, if that makes a difference; they are read until
    it returns."""
    read: Callable[[Piece, Context], Iterator[Document]]
    """The document of a piece; in a format without a marker, all documents of a file. Each knows where its records
    stood (`Document.at`). What cannot be read is raised, or reported as a fatal finding and left out, so that
    validation sees the rest."""
    marker: Marker | None = None
    """How the documents of a file are found. Without one, files are read whole and, unless `find` finds their ids,
    once, and their documents kept."""
    find: Callable[[str, BinaryIO], tuple[str, int] | None] = _not_known
    """The id and the line of the document of a file without a marker, so that it need not be parsed to know them (its
    name, and its bytes). Without an id, they are known when it is read. None: it may hold any number of documents."""
    always: Facts = Facts()
    """What a corpus of this format is taken to hold even if no document has it."""
    about: str = ""
    """What is read and how, for the documentation; usually the docstring of the module."""
    sniff: Callable[[bytes], bool] = _never
    """Whether a file that starts with these bytes looks like this format; without it, only the suffix counts."""
    write: Write | None = None
    """The bytes of one document; None: the format is only read."""
    plan: Callable[[Iterable[Document], WriteOptions, ReportLoss], WriteOptions] = _no_plan
    """The options to write these documents with, where all of them must be written in the same way."""
    topic_of: Callable[[str], str | None] = _no_topic
    """The topic of all documents of a file, if its name says it: with `--topics`, files of others are not read."""
    relation_names: Callable[[Piece], Iterable[str]] = _no_relations
    """Names of relations in a piece, for `--coreference`."""
    declared_links: Callable[[Piece], Iterable[str]] | None = None
    """Kinds of links between events that a piece declares: they are scored even if there are none."""
    folder: Literal["never", "always", "either"] = "never"
    """Whether a corpus is written as a folder of files; `either`: unless the user names a file of this format."""
    unit: Unit | Literal["named", "given", "none"] = "given"
    """What offsets count: always this unit, what each document of a file names, or what the user says (`--unit`);
    `none`: there are no offsets, and the user's word counts."""
    companions: tuple[str, ...] = ()
    """Suffixes of files beside a file of this format that belong to it and hold no document."""
    is_part_of_corpus: Callable[[str, bytes], bool] = _no_part
    """Whether a file of no known format (its name and first bytes) is part of the corpus, without any document."""
    redirect: Callable[[str, bytes], str | None] = _no_redirection
    """What to give in place of a file (its name and first bytes) that is related to this format, such as an index."""
    resolve_kinds: Callable[[frozenset[str]], dict[str, str]] | None = None
    """What kinds that one document leaves open are in a corpus with all these kinds; None: there are no such kinds."""
    refers_to_gold: bool = False
    """Whether files of a system are read with gold at hand (`ReadOptions.gold`): they hold both sides, or name things
    that only gold describes."""
    default_attributes: dict[str, Value] = {}
    """Attributes of an event that lacks them, where other events of its corpus have them."""
    global_ids: bool = False
    """Whether an id, even of a mention, means the same in all documents."""
    local_clusters: bool = False
    """Whether cluster ids mean nothing outside their document."""
    refuses_faults: bool = False
    """Whether the rules of the format forbid scoring files with faults, unless the user accepts them."""
    tolerated_faults: frozenset[str] = frozenset()
    """Codes of faults that are scored even so."""

    def writes_folder(self, output: str | None) -> bool:
        """Whether a corpus is written as a folder of files; `output` is what the user names for it."""
        if self.folder == "either":
            return output is not None and not output.lower().removesuffix(".gz").endswith(self.suffixes)
        return self.folder == "always"
