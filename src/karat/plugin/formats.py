"""Formats: how documents are found in files, read and written."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

from msgspec import Struct

from karat.errors import Finding, Item, Report
from karat.limits import MAX_BYTES
from karat.model import Cluster, Document, Link, Unit, Value


class SurveyedMention(Protocol):
    """What a survey reads of a mention."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def cluster(self) -> str | None: ...
    @property
    def attributes(self) -> Mapping[str, object]: ...


class Contents(NamedTuple):
    """Which kinds of things a document holds."""

    attributes: frozenset[tuple[str, str]] = frozenset()
    """(kind of mention, attribute) that occur in it."""
    kinds: frozenset[str] = frozenset()
    """Kinds of its mentions, and of clusters without mentions."""
    links: frozenset[tuple[str, str, str]] = frozenset()
    """(kind of link, kinds of the mentions at its source and its target) that occur in it."""
    clusters: frozenset[str] = frozenset()
    """Ids of clusters that may have mentions in other documents, too."""
    clustered: frozenset[str] = frozenset()
    """Kinds of its mentions that are in clusters."""

    @classmethod
    def of(cls, document: Document) -> "Contents":
        """What a document holds."""
        return cls.among(document.mentions, document.clusters, document.links)

    @classmethod
    def among(
        cls, mentions: Sequence[SurveyedMention], clusters: Sequence[Cluster], links: Sequence[Link]
    ) -> "Contents":
        """What a document with these records holds."""
        attributes = frozenset([(one.kind, name) for one in mentions if one.attributes for name in one.attributes])
        kinds = clustered = frozenset([mention.kind for mention in mentions])
        ids = frozenset([mention.cluster for mention in mentions if mention.cluster is not None])
        if clusters:
            kinds |= {cluster.kind for cluster in clusters if cluster.id not in ids}
        joined = _links_among(mentions, links, kinds, ids) if links else frozenset()
        if not any(ids):
            clustered = frozenset()
        elif len(clustered) > 1:  # of one kind, one mention in a cluster is enough
            clustered = frozenset([mention.kind for mention in mentions if mention.cluster])
        return cls(attributes, kinds, joined, ids, clustered)


def _links_among(
    mentions: Sequence[SurveyedMention], links: Sequence[Link], present: Set[str], clusters: Set[str]
) -> frozenset[tuple[str, str, str]]:
    """Kinds of links with those of the mentions that they join; the kind of a cluster is that of its mentions."""
    if len(present) == 1:  # nearly always: then no kind has to be looked up
        (kind,) = present
        ends = {*clusters, *(mention.id for mention in mentions)}
        return frozenset((link.kind, kind, kind) for link in links if link.source in ends and link.target in ends)
    kinds = {mention.cluster: mention.kind for mention in mentions}
    kinds |= {mention.id: mention.kind for mention in mentions}
    return frozenset(
        (link.kind, kinds[link.source], kinds[link.target])
        for link in links
        if link.source in kinds and link.target in kinds
    )


class Block(NamedTuple):
    """Where one document is in its file, and what can be said about it without parsing it."""

    offset: int
    length: int
    line: int
    """Number of its first line."""
    id: str = ""
    """Empty where only the document itself says it."""
    topic: str | None = None
    subtopic: str | None = None
    contents: Contents | None = None
    """What it holds, if a light pass can tell; else the survey parses the document."""
    context: str | None = None
    """What the file says before the document and is needed to parse it."""
    more: tuple[tuple[int, int, int], ...] = ()
    """Offset, length and first line of each further piece of the document in its file."""
    is_unnamed: bool = False
    """Whether the file gives it no id, so that its id is made from the name of the file."""
    problems: tuple[Finding, ...] = ()
    """Fatal findings about the structure of the file here, such as an end that is missing. They do not hide what else
    is wrong with the document, or with those after it."""
    numbered: bool = False
    """The file does not name the document: `id` is its number in the file. In a corpus of several files, the name of
    the file, without its suffix, is put before it."""

    @classmethod
    def whole(cls, stream: BinaryIO, id: str = "", *, topic: str | None = None, subtopic: str | None = None) -> "Block":
        """A file that is one document."""
        offset = stream.tell()
        return cls(offset, stream.seek(0, os.SEEK_END) - offset, 1, id, topic, subtopic)


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
    """What a user says about files that do not say it themselves."""

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


Locate = Callable[[Item], int | None]
"""The line of a mention (its id) or a link (kind, source, target) of one document, if it is found."""

LocateBeside = Callable[[Item], tuple[str, int] | None]
"""The file and line of an item of one document, if it is found."""


def _never(head: bytes) -> bool:
    del head
    return False


def _no_part(name: str, head: bytes) -> bool:
    del name, head
    return False


def _no_redirection(name: str, head: bytes) -> str | None:
    del name, head
    return None


def _no_relations(data: bytes, file: str) -> Iterable[str]:
    del data, file
    return ()


def _first_line(data: bytes, block: Block) -> Locate:
    del data
    return lambda _: block.line


def _nowhere_beside(file: str) -> LocateBeside:
    del file
    return lambda _: None


def _first_line_of_token(data: bytes, block: Block, token: int) -> int | None:
    del data, token
    return block.line


def _no_plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    del documents, report_loss
    return options


class Format(Struct, frozen=True, kw_only=True):
    """A format, as its module offers it under the name `FORMAT`.

    Reading has two steps, `blocks` and then `parse`, so that documents can be found in any order, read again, and
    handed to another process as a name and a place. A format never computes a score.
    """

    title: str
    """What it is, in a few words."""
    suffixes: tuple[str, ...]
    """How the names of its files end, in lower case."""
    protocols: tuple[str, ...]
    """How gold in this format is scored if the user names no protocol."""
    cross_document_protocols: tuple[str, ...] = ()
    """The same for gold whose clusters have mentions in several documents, if that makes a difference."""
    choose_protocols: Callable[[Contents], tuple[str, ...]] | None = None
    """Which of `protocols` are chosen for gold with these contents, if that makes a difference."""
    blocks: Callable[[BinaryIO, str], Iterator[Block]]
    """Where the documents of an open file are, in its order; the second argument is the file's name."""
    parse: Callable[[bytes, Block, ReadOptions, str, Report], Document]
    """The document in the bytes of a block; the fourth argument is the file's name. What cannot be read is raised, or
    reported as a fatal finding and left out, so that validation sees the rest; to score, fatal findings are refused."""
    about: str = ""
    """What is read and how, for the documentation; usually the docstring of the module."""
    sniff: Callable[[bytes], bool] = _never
    """Whether a file that starts with these bytes looks like this format; without it, only the suffix counts."""
    write: Write | None = None
    """The bytes of one document; None: the format is only read."""
    plan: Callable[[Iterable[Document], WriteOptions, ReportLoss], WriteOptions] = _no_plan
    """The options to write these documents with, where all of them must be written in the same way."""
    locator: Callable[[bytes, Block], Locate] = _first_line
    """What finds the lines of items in the bytes of a block. It is made once for a document and asked for each of its
    items, so it should look them up in an index, not search the bytes."""
    locator_beside: Callable[[str], LocateBeside] = _nowhere_beside
    """The same for items that `locator` does not find, if a document is in this file and others beside it."""
    locates_regions: bool = False
    """Whether `locator` also finds the line of a region: (id, region)."""
    locate_token: Callable[[bytes, Block, int], int | None] = _first_line_of_token
    """The line of a token of a document with `forms`, by its number, if it is found."""
    relation_names: Callable[[bytes, str], Iterable[str]] = _no_relations
    """Names of relations in the bytes of a block (of a file with this name), for `--coreference`."""
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
