"""Coreference clusters of gold that are in a file of their own, as those of WikiEvents."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from karat.decoding import explained, repeated_key
from karat.filters import unchanged
from karat.filters.types import NO_FILE
from karat.inputs import read_bytes
from karat.model import Id, Pair, qualified
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import Finding, Report, Rule, quoted

SHAPE = Rule(
    "clusters-shape",
    "fatal",
    'Give the coreference file of WikiEvents: {"doc_key": "d1", "clusters": [["d1-T1", "d1-T4"]]} on each line.',
)
TWICE = Rule("clusters-document-twice", "fatal", "Give the clusters of each document once.")
IN_TWO = Rule("clusters-member-twice", "fatal", "Put each mention into one cluster.")
UNKNOWN = Rule("clusters-member-unknown", "fault", "Name mentions of gold by their ids; unresolved ids are ignored.")
ABSENT = Rule("clusters-absent", "note", "Give the clusters of every document of gold; the others have none.")
NONE = Rule("clusters-none", "fatal", "Give the coreference file that belongs to this gold.")


class Clusters(Filter, frozen=True):
    """Puts gold's mentions into the clusters that a file lists by document; other mentions keep theirs."""

    file: str = ""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Add the clusters to gold."""
        del comparison
        return _adding(self.file, _read(self.file), report) if self.file else unchanged

    def observe(self, pair: Pair, left: Pair) -> bool | None:
        """Return whether the file has the document."""
        return None if not self.file else left is not pair

    def across(self, observed: Mapping[str, bool]) -> Iterator[Finding]:
        """Refuse the clusters of another corpus, and report documents without clusters."""
        absent = [document for document, is_found in observed.items() if not is_found]
        if len(absent) == len(observed):
            yield NONE.at("the file has no document of gold", file=self.file)
        elif absent:
            examples = f"{quoted(absent[0])}{' and others' * (len(absent) > 1)}"
            message = f"the file lacks {len(absent):,} document{'s' * (len(absent) > 1)} of gold: {examples}"
            yield ABSENT.at(message, file=self.file)


class _Record(msgspec.Struct, frozen=True):
    doc_key: Id
    clusters: tuple[tuple[str, ...], ...]


class _Members(NamedTuple):
    """The cluster of each mention of a document, by id, and the line that lists them."""

    line: int
    clusters: Mapping[str, str]


def _read(file: str) -> Mapping[str, _Members]:
    """Return what a file lists, by document."""
    members: dict[str, _Members] = {}
    for line, record in _records(file):
        if record.doc_key in members:
            raise TWICE.error(f"document {quoted(record.doc_key)} was already given", file=file, line=line)
        members[record.doc_key] = _Members(line, _members(record, file, line))
    return members


def _adding(file: str, by_document: Mapping[str, _Members], report: Report) -> PairTransform:
    """Return what adds clusters to gold."""

    def add(pair: Pair) -> Pair:
        members = by_document.get(pair.gold.id)
        if members is None:
            return pair
        known = {mention.id for mention in pair.gold.mentions}
        for id_ in (id_ for id_ in members.clusters if id_ not in known):
            message = f"{quoted(id_)} is not a mention of gold's document {quoted(pair.gold.id)}"
            report(UNKNOWN.at(message, file=file, line=members.line, found=id_))
        mentions = [
            replace(mention, cluster=members.clusters[mention.id]) if mention.id in members.clusters else mention
            for mention in pair.gold.mentions
        ]
        return Pair(replace(pair.gold, mentions=tuple(mentions)), pair.system)

    return add


def _records(file: str) -> list[tuple[int, _Record]]:
    """The documents of a file, each with its line."""
    try:
        data = read_bytes(Path(file))
    except OSError as error:
        raise NO_FILE.error(f"cannot read the clusters: {error.strerror}", file=file) from None
    decoder = msgspec.json.Decoder(_Record)
    records: list[tuple[int, _Record]] = []
    for line, text in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if text.strip():
            try:
                records.append((line, decoder.decode(text)))
                repeated = repeated_key(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise SHAPE.error(explained(error), file=file, line=line) from None
            if repeated is not None:
                message = f"the key {quoted(repeated)} is given twice in one object"
                raise SHAPE.error(message, file=file, line=line, found=repeated)
    return records


def _members(record: _Record, file: str, line: int) -> dict[str, str]:
    members: dict[str, str] = {}
    for index, cluster in enumerate(record.clusters, 1):
        for id_ in dict.fromkeys(cluster):
            if id_ in members:
                message = f"mention {quoted(id_)} of document {quoted(record.doc_key)} is in two clusters"
                raise IN_TWO.error(message, file=file, line=line, found=id_)
            members[id_] = qualified(record.doc_key, str(index))
    return members


FILTER = Clusters
