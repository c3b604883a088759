"""A corpus in files: one light pass finds the documents, and each is read on demand, as often as needed."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from karat.corpus.gold import GoldReader
from karat.corpus.interface import Corpus
from karat.corpus.paths import File
from karat.corpus.reader import DocumentReader, FileState
from karat.corpus.survey import Survey
from karat.corpus.topics import Topics
from karat.errors import Finding, KaratError, Report, Rule, Target, quoted, refusing
from karat.formats import FORMATS
from karat.model import Document, Mention, Value
from karat.plugin import Block, Contents, ReadOptions

TWICE = Rule("document-twice", "fatal", "Give each document once, under its own id.")


class FileCorpus:
    """A corpus in files of one format."""

    def __init__(
        self,
        name: str,
        files: list[File],
        format_: str,
        options: ReadOptions,
        *,
        topics: Topics | None = None,
        beside: Corpus | None = None,
        skip_broken: bool = False,
        findings: Sequence[Finding] = (),
    ) -> None:
        self.name = name
        self.files = files
        self.format = format_
        self.options = options
        self._format = FORMATS.get(format_)
        self._reader = DocumentReader(files, self._format, options)
        self.refuses_faults = self._format.refuses_faults
        self.tolerated_faults = self._format.tolerated_faults
        self.global_ids = self._format.global_ids
        self.topics = topics
        """Only documents of these topics are part of it; None: all."""
        self._beside = beside
        self.findings = tuple(findings)
        """What was found when it was opened: parts of a folder that are not read, and why."""
        self._skip_broken = skip_broken
        self._survey: Survey | None = None
        self._lock = threading.RLock()

    def of_topics(self, topics: Topics | None, *, beside: Corpus | None = None) -> "FileCorpus":
        """The same files, restricted to the documents of these topics (None: all); there must be some.

        For a system, `beside` is gold, restricted in the same way. The system's documents need not name their topics:
        those that gold has are kept, too, and there may be none.
        """
        if topics is None:
            return self
        return FileCorpus(
            self.name, self.files, self.format, self.options, topics=topics, beside=beside, findings=self.findings
        )

    def beside(self, gold: Corpus) -> "FileCorpus":
        """The same files as those of a system that is compared with gold; most formats read them in the same way."""
        if not self._format.refers_to_gold:
            return self
        return FileCorpus(
            self.name,
            self.files,
            self.format,
            replace(self.options, gold=GoldReader(gold)),
            topics=self.topics,
            beside=self._beside,
            skip_broken=self._skip_broken,
            findings=self.findings,
        )

    def keep_documents(self) -> None:
        """Keep documents that are read, up to a limit, for a corpus that is scored several times."""
        self._reader.keep_all()

    def part(self, ids: Sequence[str]) -> "FileCorpus":
        """Some of its documents, with what the survey knows about the corpus."""
        survey, numbers = self.survey().part(ids)
        part = FileCorpus(self.name, [self.files[number] for number in numbers], self.format, self.options)
        known = self._reader.states
        return part.surveyed_as(survey, {new: known[old] for new, old in enumerate(numbers) if old in known})

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is given files, options and, once it is made, the survey; it reads for itself."""
        return _reopened, (
            (self.name, self.files, self.format, self.options),
            {
                "topics": self.topics,
                "beside": self._beside if self._survey is None else None,
                "findings": self.findings,
                "skip_broken": self._skip_broken,
            },
            self._survey,
            self._reader.states,
        )

    @property
    def can_be_surveyed_elsewhere(self) -> bool:
        """Whether it was not surveyed yet, and another process can do it with nothing but paths."""
        needs_gold = self._beside is not None or self.options.gold is not None
        return self._survey is None and not needs_gold and all(file.data is None for file in self.files)

    def surveyed(self) -> tuple[Survey, Mapping[int, FileState]]:
        """Its survey, and the state of its files when it was made, for `surveyed_as` in another process."""
        return self.survey(), self._reader.states

    def surveyed_as(self, survey: Survey | None, states: Mapping[int, FileState]) -> "FileCorpus":
        """Take over a survey that another process has made."""
        self._survey = survey
        self._reader.expect(states)
        return self

    @cached_property
    def protocols(self) -> tuple[str, ...]:
        """The format's default protocols; in some formats, what the corpus holds decides."""
        if self._format.choose_protocols is not None:
            survey = self.survey()
            return self._format.choose_protocols(
                Contents(frozenset(survey.attributes), frozenset(survey.kinds), frozenset(survey.links))
            )
        across = self._format.cross_document_protocols
        return across if across and self.survey().has_shared_clusters else self._format.protocols

    def survey(self) -> Survey:
        """Where the documents are and what they hold; refuses an id that occurs twice.

        With `skip_broken`, files and documents that cannot be read are skipped instead of refused.
        """
        if self._survey is None:
            with self._lock:
                self._survey = self._survey or self._make_survey()
        return self._survey

    def _make_survey(self) -> Survey:
        survey = Survey(watch_clusters=bool(self._format.cross_document_protocols))
        survey.coreference = self.options.coreference
        other_topics: set[str | None] = set()
        try:
            for number in range(len(self.files)):
                self._survey_file(number, survey, other_topics)
        finally:
            self.close()
        if self.topics is not None and self._beside is None and other_topics and not survey.rows:
            raise self.topics.absent(other_topics, file=self.name)
        resolve = self._format.resolve_kinds
        survey.finish({} if resolve is None else resolve(frozenset(survey.kinds)))
        return survey

    def _survey_file(self, number: int, survey: Survey, other_topics: set[str | None]) -> None:
        try:
            for block in self.blocks(number):
                try:
                    self._survey_document(number, block, survey, other_topics)
                except KaratError:
                    if not self._skip_broken:
                        raise
        except KaratError:
            if not self._skip_broken:
                raise

    def _survey_document(self, number: int, block: Block, survey: Survey, other_topics: set[str | None]) -> None:
        if block.problems:
            raise KaratError(block.problems[0])
        # If only the document itself has its id and topic, it has to be parsed first.
        if block.contents is None and (not block.id or self._is_wanted(block)):
            block = self._reader.surveyed(number, block)
        if self._is_wanted(block):
            self.enter(survey, number, block)
            if self.options.coreference:
                survey.relations.update(self._reader.relation_names(number, block))
        else:
            if block.contents is not None:  # found in passing: what the document says twice, only the parser refuses
                self._reader.read(number, block, _ignore)
            other_topics.add(block.topic)

    def _is_wanted(self, block: Block) -> bool:
        if self.topics is None or block.topic in self.topics:
            return True
        return self._beside is not None and block.id in self._beside.survey().rows

    def blocks(self, number: int) -> Iterator[Block]:
        """Where the documents of one file are, in its order."""
        return self._reader.blocks(number)

    def enter(self, survey: Survey, number: int, block: Block) -> None:
        """Add a document to a survey; refuse an id that it already has."""
        if block.id in survey.rows:
            first, there = survey.place(block.id)
            message = f"document {quoted(block.id)} was already given in {self.files[first].name}, line {there.line}"
            raise TWICE.error(message, file=self.files[number].name, line=block.line, found=block.id)
        survey.add(block, number)

    def read(self, id_: str, report: Report) -> Document:
        """One document, which must have nothing fatal."""
        return self.read_at(*self.survey().place(id_), refusing(report))

    def read_at(self, number: int, block: Block, report: Report) -> Document:
        """The document in a block of a file, completed with what only the whole corpus can tell about it."""
        document = self._reader.read(number, block, report)
        if not self._format.default_attributes and self._format.resolve_kinds is None:
            return document
        kinds, present = self.survey().resolved_kinds, self.survey().attributes
        defaults = self._format.default_attributes
        defaults = {name: value for name, value in defaults.items() if ("event", name) in present}
        return _completed(document, kinds, defaults) if kinds or defaults else document

    def read_before(self, number: int, block: Block, line: int) -> Document | None:
        """The part of a document before a line that cannot be read."""
        return self._reader.read_before(number, block, line)

    def inputs(self) -> list[Path]:
        """The files that are read, with their companions."""
        names = [file.name for file in self.files]
        stems = [re.sub(r"(?i)\.gz$", "", name) for name in names]
        for suffix in self._format.suffixes:
            stems = [stem[: -len(suffix)] if stem.lower().endswith(suffix) else stem for stem in stems]
        companions = [stem + suffix for stem in stems for suffix in self._format.companions]
        return [Path(name) for name in (*names, *companions)]

    def size(self) -> int:
        """The bytes of its files."""
        return sum(file.size() for file in self.files)

    def where(self, id_: str, item: Target | None = None) -> tuple[str, int | None]:
        """The file and the first line of a document, or the line of an item in it."""
        return self.where_at(*self.survey().place(id_), item)

    def where_at(self, number: int, block: Block, item: Target | None = None) -> tuple[str, int | None]:
        """The same for a block of a file. Lines are only searched for here, so that correct documents cost nothing."""
        return self._reader.locate(number, block, item)

    def close(self) -> None:
        """Close the open file."""
        self._reader.close()

    def __iter__(self) -> Iterator[Document]:
        try:
            for id_ in self.survey().rows:
                yield self.read(id_, _ignore)
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<corpus {self.name}: {self.format}, {len(self.files):,} file{'s' * (len(self.files) != 1)}>"


def _reopened(
    arguments: tuple[Any, ...], options: dict[str, Any], survey: Survey | None, states: Mapping[int, FileState]
) -> FileCorpus:
    return FileCorpus(*arguments, **options).surveyed_as(survey, states)


def _completed(document: Document, kinds: dict[str, str], defaults: dict[str, Value]) -> Document:
    """The document with its open kinds resolved, and with default attributes of its events."""

    def completed(mention: Mention) -> Mention:
        kind = kinds.get(mention.kind, mention.kind)
        lacking = defaults.keys() - mention.attributes.keys() if kind == "event" else ()
        if kind == mention.kind and not lacking:
            return mention
        attributes = mention.attributes | {name: value for name, value in defaults.items() if name in lacking}
        return replace(mention, kind=kind, attributes=attributes)

    return replace(document, mentions=tuple(map(completed, document.mentions)))


def _ignore(finding: object) -> None:
    """A plain loop over documents does not report findings."""
