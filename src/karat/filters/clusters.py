"""Coreference clusters of gold that are in a file of their own, as those of WikiEvents."""

from pathlib import Path

import msgspec
from msgspec.structs import replace

from karat.errors import KaratError, Report, Rule, quoted
from karat.filters import unchanged
from karat.filters.types import NO_FILE
from karat.model import Id, Pair, qualified
from karat.opened import read_bytes
from karat.plugin import Comparison, CorpusTransform, Filter, PairTransform
from karat.plugin.json_keys import repeated_key

SHAPE = Rule(
    "clusters-shape",
    "fatal",
    'Give the coreference file of WikiEvents: {"doc_key": "d1", "clusters": [["d1-T1", "d1-T4"]]} on each line.',
)
TWICE = Rule("clusters-document-twice", "fatal", "Give the clusters of each document once.")
IN_TWO = Rule("clusters-member-twice", "fatal", "Put each mention into one cluster.")
UNKNOWN = Rule("clusters-member-unknown", "fault", "Name mentions of gold by their ids; unresolved ids are ignored.")
ABSENT = Rule("clusters-absent", "note", "Give the clusters of every document of gold; the others have none.")
NONE = Rule("clusters-none", "fatal", "Give the coreference file of this very gold.")


class Clusters(Filter, frozen=True):
    """Puts gold's mentions into the clusters that a file lists by document; other mentions keep theirs."""

    file: str = ""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Add the clusters to gold."""
        del comparison
        return _Clusters(self.file, report) if self.file else unchanged


class _Record(msgspec.Struct, frozen=True):
    doc_key: Id
    clusters: tuple[tuple[str, ...], ...]


class _Clusters(CorpusTransform):
    """Adds clusters to gold, and counts the documents that have none in the file."""

    def __init__(self, file: str, report: Report) -> None:
        self._file, self._report = file, report
        self._lines: dict[str, int] = {}
        self._members: dict[str, dict[str, str]] = {}
        """For each document, the cluster of each mention, by id."""
        for line, record in _records(file):
            if record.doc_key in self._members:
                raise TWICE.error(f"document {quoted(record.doc_key)} was already given", file=file, line=line)
            self._lines[record.doc_key] = line
            self._members[record.doc_key] = _members(record, file, line)
        self._found = 0
        self._absent: list[str] = []

    def __call__(self, pair: Pair) -> Pair:
        """The pair with gold's clusters."""
        members = self._members.get(pair.gold.id)
        if members is None:
            self._absent.append(pair.gold.id)
            return pair
        self._found += 1
        known = {mention.id for mention in pair.gold.mentions}
        for id_ in (id_ for id_ in members if id_ not in known):
            message = f"{quoted(id_)} is not a mention of gold's document {quoted(pair.gold.id)}"
            self._report(UNKNOWN.at(message, file=self._file, line=self._lines[pair.gold.id], found=id_))
        mentions = [
            replace(mention, cluster=members[mention.id]) if mention.id in members else mention
            for mention in pair.gold.mentions
        ]
        return Pair(replace(pair.gold, mentions=tuple(mentions)), pair.system)

    def finish(self, report: Report) -> None:
        """Refuse the clusters of another corpus, and report documents without clusters."""
        if not self._found:
            raise KaratError(NONE.at("the file has no document of gold", file=self._file))
        if self._absent:
            examples = f"{quoted(self._absent[0])}{' and others' * (len(self._absent) > 1)}"
            plural = "s" * (len(self._absent) > 1)
            message = f"the file lacks {len(self._absent):,} document{plural} of gold: {examples}"
            report(ABSENT.at(message, file=self._file))


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
                repeated = repeated_key(text, msgspec.json.decode(text))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                message = str(error).replace("$", "the document")
                raise SHAPE.error(message, file=file, line=line) from None
            if repeated is not None:
                message = f"the key {quoted(repeated)} is given twice in one object"
                raise SHAPE.error(message, file=file, line=line, found=repeated)
    return records


def _members(record: _Record, file: str, line: int) -> dict[str, str]:
    members: dict[str, str] = {}
    for number, cluster in enumerate(record.clusters, 1):
        for id_ in dict.fromkeys(cluster):
            if id_ in members:
                message = f"mention {quoted(id_)} of document {quoted(record.doc_key)} is in two clusters"
                raise IN_TWO.error(message, file=file, line=line, found=id_)
            members[id_] = qualified(record.doc_key, str(number))
    return members


FILTER = Clusters
