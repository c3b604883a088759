"""Formats: how documents are found in files, read and written."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import product
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from karat.limits import MAX_BYTES
from karat.model import Declared, Document, Mention, Unit, Value
from karat.problems import Finding, Report, Rule, ignore
from karat.regions import lacks_offset, nowhere


class Facts:
    """Attributes, kinds and links that occur in the documents of a corpus, or in some of them."""

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
        """Names of relations as written."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Facts) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def add(self, document: Document) -> None:
        """Add what occurs in a document. Most documents hold nothing new, and cost little."""
        mentions, attributes = document.mentions, self.attributes
        if (declared := document.declared) is not None:
            self._add_declared(declared)
        kinds = {mention.kind for mention in mentions}
        if len(kinds) == 1:
            (kind,) = kinds
            # Readers share equal attributes; many corpora have none.
            distinct = {id(held): held for mention in mentions if (held := mention.attributes)}
            if distinct:
                names: set[str] = set()
                attributes.update([(kind, name) for name in names.union(*distinct.values())])
        else:
            attributes.update([(mention.kind, name) for mention in mentions for name in mention.attributes])
        if document.clusters:
            ids = {mention.cluster for mention in mentions if mention.cluster is not None}
            kinds |= {cluster.kind for cluster in document.clusters if cluster.id not in ids}
        if document.links:
            self._add_links(document, kinds)
        if not kinds <= self.clustered:
            self.clustered.update([mention.kind for mention in mentions if mention.cluster])
        self.kinds |= kinds

    def _add_declared(self, declared: Declared) -> None:
        self.kinds.update(declared.kinds)
        self.attributes.update(declared.attributes)
        self.links.update([(kind, "event", "event") for kind in declared.links])
        self.relations.update(declared.relations)

    def _add_links(self, document: Document, kinds: Set[str]) -> None:
        """Add kinds of links with those of the mentions that they join; the kind of a cluster is that of its mentions.

        The ends of a link are not looked up where its kind is known between mentions of all kinds.
        """
        names = {link.kind for link in document.links}
        new = {name for name in names if any((name, *ends) not in self.links for ends in product(kinds, repeat=2))}
        if not new:
            return
        kind_of = {mention.cluster: mention.kind for mention in document.mentions}
        kind_of.update([(mention.id, mention.kind) for mention in document.mentions])
        get = kind_of.get
        joined = {(link.kind, get(link.source), get(link.target)) for link in document.links if link.kind in new}
        self.links.update((kind, a, b) for kind, a, b in joined if a is not None and b is not None)

    def copy(self) -> "Facts":
        """Return facts that can be added to apart."""
        facts = Facts()
        facts.update(self)
        return facts

    def update(self, other: "Facts") -> None:
        """Add what occurs in other documents."""
        self.attributes |= other.attributes
        self.kinds |= other.kinds
        self.links |= other.links
        self.clustered |= other.clustered
        self.relations |= other.relations

    def renamed(self, kinds: Mapping[str, str]) -> "Facts":
        """Return these facts with other names for some kinds."""
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


class Piece(NamedTuple):
    """The bytes of one document, or of a whole file if its format has no marker."""

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
    """True: the file ends with it."""


def _always(lines: Iterable[bytes], options: "ReadOptions") -> bool:
    del lines, options
    return True


class Marker(Struct, frozen=True, kw_only=True):
    """How a corpus finds the documents of a file that can hold several of them."""

    pattern: re.Pattern[bytes]
    """Matches in the line in which a document begins, after blanks, and not beyond the line. The group `id` is its id.
    A match with a group `header` begins no document: the line applies to the documents after it."""
    find_id: Callable[[bytes], str] | None = None
    """The id in what `pattern` matches, if it has no group for it; empty if there is none that can be read: then the
    document is read at once, and what is wrong with it is found."""
    unnamed: Literal["number", "line"] | Rule = "line"
    """The id of a document whose group `id` is empty: its number in the file (after the name of the file, if there are
    several files; a file without a marker may be its document 1), the number of its line, or the name of its file; in
    this case, the rule refuses a second one in a file."""
    joins: bool = False
    """True: the pieces of a file with the same id are one document; otherwise it was given twice."""
    applies: Callable[[Iterable[bytes], "ReadOptions"], bool] = _always
    """Returns whether a file with these lines, none of them blank, has markers; otherwise it is read whole."""
    is_meta: bool = False
    """True: what it finds may be a meta-document, which holds several documents."""


class TokenTable(NamedTuple):
    """The tokens of a document, in the order of its table."""

    rows: Mapping[str, int] = {}
    """Row numbers by token id."""
    forms: tuple[str, ...] | None = None
    """The words, if the table has them."""
    offsets: Sequence[tuple[str, str]] = ()
    """Begin and end of each token in the text, as written."""
    file: str = ""


class TokenTables(Protocol):
    """The token tables of a corpus (`--tokens`)."""

    def table(self, document: str, report: Report) -> TokenTable:
        """Return the table of a document; an empty one if it has none."""
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


DocumentNames = Literal["column", "prefix", "none"]
"""Where the lines of a CoNLL meta-document name their documents: in a column, in a prefix, or nowhere."""


class ReadOptions(Struct, frozen=True):
    """Options of the user for files that do not say it themselves, and what else it takes to read them."""

    unit: Unit | None = None
    """The unit of offsets; None: the usual one of the format."""
    tokens: TokenTables | None = None
    sources: Sources | None = None
    """Where the texts of documents are; None: beside their files."""
    coreference: tuple[str, ...] = ()
    """Names of relations that are coreference, beside those that the format knows."""
    documents: DocumentNames | None = None
    """None: what each file has."""
    validated: bool = False
    """Only mentions in the validated sentences of ECB+: those whose attribute `validated` is true."""
    max_bytes: int = MAX_BYTES
    """The most that standard input, pipes and unpacked files of one argument may hold together."""
    is_system: bool = False
    """True: the files are those of a system that is compared with gold."""
    gold: GoldDocuments | None = None
    """Gold, for the files of a system if the format `refers_to_gold`."""


class Context(NamedTuple):
    """Options, and the receiver of findings, for a reader."""

    options: ReadOptions = ReadOptions()
    report: Report = ignore
    """Called with each finding. A fatal one may be reported or raised; after it, documents are checked, not scored."""

    def misplaced(self, finding: Finding, written: object) -> tuple[int, int]:
        """Report an item with an impossible span (`written`), and return a segment in its place.

        In a system's file this is a fault: the item counts, and matches nothing. In any other file it is fatal.
        """
        if self.options.is_system:
            finding = finding._replace(severity="fault", hint=f"The item matches nothing. {finding.hint}")
        if not lacks_offset(written):
            self.report(finding)
        return nowhere(str(written))


class WriteOptions(Struct, frozen=True):
    """How a corpus is written."""

    tokens: TokenTables | None = None
    folder: bool = False
    """Into a folder of files, if the format can be written either way."""
    plain: bool = False
    """In the format's plainest form, which is enough for every document of the corpus (see `Format.plan`)."""
    output: str | None = None
    """The name of the file or folder; None: standard output."""
    columns: tuple[str, ...] = ()
    """The columns of a table (see `Format.plan`)."""
    head: bytes = b""
    """Written before the first document (see `Format.plan`)."""


ReportLoss = Callable[[str], None]
"""Called with what a format cannot hold, each time it occurs."""

Write = Callable[[Document, WriteOptions, ReportLoss], bytes | dict[str, bytes]]
"""From a document to its bytes, or, where a corpus is a folder, to its files by name."""


def _never(head: bytes) -> bool:
    del head
    return False


def _not_related(name: str, head: bytes) -> str | None:
    del name, head
    return None


class Identity(NamedTuple):
    """The document of a file that holds one, as far as it is known without parsing the file."""

    id: str = ""
    """Its id; empty: known when it is read."""
    line: int = 1
    """The line in which it begins."""
    topic: str | None = None
    """Its topic: with `--topics`, documents of other topics are not read."""


def _identify_nothing(name: str, stream: BinaryIO) -> Identity | None:
    del name, stream
    return Identity()


class Completion(NamedTuple):
    """Additions to all documents of a corpus that only the whole corpus determines."""

    kinds: Mapping[str, str] = {}
    """Kinds that single documents leave open, and what they are in this corpus."""
    attributes: Mapping[str, Value] = {}
    """Attributes of events that lack them."""

    def apply(self, document: Document) -> Document:
        """Return the completed document."""
        if not self.kinds and not self.attributes:
            return document
        completed = replace(document, mentions=tuple(map(self._complete, document.mentions)))
        return completed if document.places is None else completed.at(document.places, document.declared)

    def _complete(self, mention: Mention) -> Mention:
        kind = self.kinds.get(mention.kind, mention.kind)
        attributes = mention.attributes
        if kind == "event" and not self.attributes.keys() <= attributes.keys():
            missing = {name: value for name, value in self.attributes.items() if name not in attributes}
            attributes = attributes | missing
        if kind == mention.kind and attributes is mention.attributes:
            return mention
        return replace(mention, kind=kind, attributes=attributes)


def _no_plan(documents: Iterable[Document], options: WriteOptions, report_loss: ReportLoss) -> WriteOptions:
    del documents, report_loss
    return options


class Format(Struct, frozen=True, kw_only=True):
    """A format, as its module offers it under the name `FORMAT`. It never computes a score.

    `sniff` recognises it, `read` reads it and, if it can be written, `write` writes it. A format needs a title, a
    suffix, protocols and `read`; the other fields are for what only some formats have.
    """

    title: str
    """A few words for lists of formats."""
    about: str = ""
    """How it is read, for the documentation; usually the docstring of the module."""
    suffixes: tuple[str, ...]
    """Endings of the names of its files, in lower case."""
    protocols: tuple[str, ...]
    """The protocols by which gold in this format is scored if the user names none."""
    choose_protocols: Callable[[Iterable[Document]], tuple[str, ...]] | None = None
    """Chooses among `protocols` by the documents of gold, which are read until it returns."""
    reasons: Mapping[str, str] = {}
    """By the first protocol of a choice: what in the documents decides for it."""
    sniff: Callable[[bytes], bool] = _never
    """Returns whether a file that starts with these bytes looks like this format; by default only the suffix counts."""
    read: Callable[[Piece, Context], Iterator[Document]]
    """Reads the document of a piece; in a format without a marker, all documents of a file. Each knows where its
    records stood (`Document.at`). What cannot be read is raised, or reported as a fatal finding and left out, so that
    validation sees the rest."""
    marker: Marker | None = None
    """Finds the documents of a file that can hold several. Without one, files are read whole and, unless `identify`
    knows their ids, once, and their documents kept."""
    identify: Callable[[str, BinaryIO], Identity | None] = _identify_nothing
    """Identifies the document of a file without a marker (its name, and its bytes) without parsing it; None: it may
    hold any number of documents."""
    complete: Callable[[Facts], Completion] | None = None
    """Returns what documents lack in a corpus with these facts."""
    companions: tuple[str, ...] = ()
    """Suffixes of files beside a file of this format that belong to it and hold no document."""
    related: Callable[[str, bytes], str | None] = _not_related
    """Returns what to give in place of a file (its name and first bytes) that is related to this format, such as an
    index; an empty text: it is part of the corpus and holds no document; None: it is not related."""
    includes: tuple[str, ...] = ()
    """Formats whose files it also reads, beside files that only it reads."""
    refers_to_gold: bool = False
    """True: files of a system are read with gold at hand (`ReadOptions.gold`): they name things that only gold
    describes."""
    unit: Unit | Literal["named", "given", "none"] = "given"
    """The unit of offsets: always this one, named by each document, or given by the user (`--unit`); `none`: there are
    no offsets, and the user's unit is taken."""
    global_ids: Literal["none", "clusters", "all"] = "clusters"
    """Ids that mean the same in all documents: none, those of clusters, or also those of mentions."""
    tolerated_faults: frozenset[str] | None = None
    """If the rules of the format forbid scoring files with faults: codes of faults that are scored even so."""
    reading: str | None = None
    """The rule by which a system's items get their places, if its files have none; the signature names it."""
    write: Write | None = None
    """Returns the bytes of one document; None: the format is only read."""
    plan: Callable[[Iterable[Document], WriteOptions, ReportLoss], WriteOptions] = _no_plan
    """Returns the options to write these documents with, where all of them must be written in the same way."""
    folder: Literal["never", "always", "either"] = "never"
    """When a corpus is written as a folder of files; `either`: unless the user names a file of this format."""

    def writes_folder(self, output: str | None) -> bool:
        """Return whether a corpus is written as a folder of files; `output` is what the user names for it."""
        if self.folder == "either":
            return output is not None and not output.lower().removesuffix(".gz").endswith(self.suffixes)
        return self.folder == "always"

    def write_options(self, output: str | None, tokens: TokenTables | None) -> WriteOptions:
        """Return the options for writing a corpus to `output`."""
        return WriteOptions(tokens, self.writes_folder(output), output=output)
