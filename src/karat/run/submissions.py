"""Comparison of submissions with gold: its documents, texts, units and tokens.

Gold may be without annotations: only its documents are compared, never how they are annotated.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from karat import __version__
from karat.arguments import other_links
from karat.checks import Where
from karat.checks.annotations import Reading, check_spans, check_texts, source_of
from karat.checks.links import absent_kinds
from karat.checks.pairs import TOKENS_DIFFER, difference
from karat.corpus.files import FileCorpus
from karat.corpus.paths import File
from karat.model import Document, Mention, Region
from karat.problems import Finding, Findings, Group, KaratError, Rule, Severity, ignore, quoted
from karat.protocols import Protocol
from karat.run.pairs import SYSTEM_ONLY, source_differences
from karat.run.plan import readings_of

MISSING = Rule(
    "document-missing", "fault", "Submit every document of gold; write one without annotations if you found nothing."
)
TEXTS_DIFFER = Rule("texts-differ", "fault", "Annotate the text that gold has; offsets count in gold's text.")
UNLIKE_GOLD = Rule(
    "text-unlike-gold", "fault", "Check that your offsets count in the same way as gold's; they are scored as given."
)

LISTED = 10


class Reference:
    """Gold, as submissions are compared with it."""

    def __init__(self, corpus: FileCorpus, findings: Mapping[Severity, int], protocols: Sequence[Protocol]) -> None:
        self.corpus = corpus
        self._protocols = protocols
        self.findings = findings
        """The number of findings in gold itself, by severity."""
        self.refuses_others = any(protocol.system_only_documents == "refuse" for protocol in protocols)
        """True if a protocol refuses documents that gold does not have."""

    @cached_property
    def readings(self) -> Mapping[str, Reading]:
        """How the protocols read links."""
        return readings_of(self._protocols, self.corpus.facts())

    @cached_property
    def documents(self) -> list[str]:
        """Ids of the documents that could be read."""
        return sorted(self.corpus.ids())

    def read(self, id_: str) -> Document | None:
        """The document of that id, if gold has it."""
        try:
            return self.corpus.read(id_, ignore) if id_ in self.corpus.ids() else None
        except KaratError:  # reported when gold was checked
            return None


class Submission:
    """The documents of one system, compared with gold's."""

    def __init__(self, path: str, gold: Reference) -> None:
        self.path = path
        self.gold = gold
        self.findings: Mapping[Severity, int] = {}
        """The number of findings by severity."""
        self.compared = {"units"}
        """Aspects that could be compared in at least one document."""
        self.links: Counter[str] = Counter()
        """The number of links of each kind in documents that gold has."""
        self._ids: set[str] = set()

    def add(self, document: Document, where: Where) -> Iterator[Finding]:
        """Yield the differences of a document from gold's, in places of the submission."""
        gold = self.gold.read(document.id)
        if gold is not None:
            self.compared |= comparable(gold, document)
            if document.links:
                self.links.update(link.kind for link in other_links(document))
            findings = differences(gold, document)
        elif document.id in self.gold.corpus.ids():
            return
        else:
            finding = SYSTEM_ONLY.at(f"document {quoted(document.id)} is not in gold", found=document.id)
            findings = iter([finding._replace(severity="fatal") if self.gold.refuses_others else finding])
        for finding in findings:
            file, line = where(finding.item)
            yield finding._replace(file=file, line=line)

    def enter(self, ids: Iterable[str]) -> None:
        """Count these documents as submitted, even those that cannot be read."""
        self._ids.update(ids)

    @property
    def missing(self) -> list[str]:
        """Ids of gold's documents that the submission does not have."""
        return [id_ for id_ in self.gold.documents if id_ not in self._ids]

    def missing_documents(self) -> Iterator[Finding]:
        """One finding for each missing document."""
        for id_ in self.missing:
            yield MISSING.at(f"document {quoted(id_)} of gold is missing", file=self.path)

    def absent_links(self) -> Iterator[Finding]:
        """One finding on the kinds of links that gold lacks, if gold has links."""
        gold = self.gold.corpus.facts().links_of(None) if self.links else set()
        for finding in absent_kinds(self.links, gold, self.gold.readings.get) if gold else ():
            yield finding._replace(file=self.path)

    @property
    def ready(self) -> bool:
        """True if nothing is missing or wrong, and gold could be read."""
        return not (self.findings["fatal"] or self.findings["fault"] or self.gold.findings["fatal"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON."""
        return {
            "submission": self.path,
            "gold": self.gold.corpus.name,
            "ready": self.ready,
            "compared": sorted(self.compared),
            "documents": len(self._ids.intersection(self.gold.documents)),
            "missing": self.missing,
            "others": sorted(self._ids.difference(self.gold.documents)),
        }


def comparable(gold: Document, system: Document) -> set[str]:
    """Return the aspects by which the two sides of one document can be compared."""
    words = _spans_with_text(system)
    conditions = {
        "offsets": source_of(gold) is not None,
        "texts": bool(words if gold.text is not None else words & _spans_with_text(gold)),
        "tokens": gold.tokens is not None and system.tokens is not None,
    }
    return {name for name, holds in conditions.items() if holds}


def _spans_with_text(document: Document) -> set[Region]:
    return {mention.span for mention in document.mentions if mention.text}


def differences(gold: Document, system: Document) -> Iterator[Finding]:
    """Yield the differences between the sources of the two sides, in items of the system's document."""
    yield from source_differences(gold, system)
    if gold.unit != system.unit:
        return
    if gold.text is not None and system.text is not None and gold.text != system.text:
        place = _first_difference(gold.text, system.text)
        here, there = (quoted(text[place : place + 20]) for text in (system.text, gold.text))
        name = f"document {quoted(system.id)}"
        yield TEXTS_DIFFER.at(f"{name} has a different text from gold: at character {place:,} {here}, not {there}")
    elif system.text is None and gold.text is not None:
        yield from check_texts(replace(system, text=gold.text))
    yield from _tokens(gold, system)
    if source_of(system) is None:
        source = {name: getattr(gold, name) for name in ("text", "tokens", "forms", "token_ids")}
        yield from check_spans(replace(system, **source))
    if gold.text is None:
        yield from _unlike_gold(gold, system)


def _tokens(gold: Document, system: Document) -> Iterator[Finding]:
    """Yield the first difference between the tokens."""
    differing = difference(gold, system)
    if differing is not None:
        yield TOKENS_DIFFER.at(f"document {quoted(system.id)}: {differing.message}", item=differing.system)


def _unlike_gold(gold: Document, system: Document) -> Iterator[Finding]:
    """Yield mentions that have the span of a gold mention, but other words."""
    words: dict[Region, list[Mention]] = {}
    for mention in gold.mentions:
        if mention.text:
            words.setdefault(mention.span, []).append(mention)
    for mention in system.mentions:
        same = words.get(mention.span, []) if mention.text and mention.span else []
        if same and all(_letters(mention.text) != _letters(other.text) for other in same):
            where = f"mention {quoted(mention.id)} of document {quoted(system.id)}"
            what = f"has the text {quoted(mention.text or '')}, but gold has {quoted(same[0].text or '')} there"
            yield UNLIKE_GOLD.at(f"{where} {what}", item=mention.id, found=mention.text)


def _letters(text: str | None) -> str:
    """Letters and digits only: formats join the segments of a span in their own ways."""
    return "".join(filter(str.isalnum, (text or "").casefold()))


def _first_difference(first: Any, second: Any) -> int:
    """The first place at which two sequences differ."""
    pairs = zip(first, second, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


SEVERITIES = ("fatal", "fault", "note")
"""The worst first."""


class Tally(Struct):
    """Number of documents (including those with fatal findings) and mentions that were read."""

    documents: int = 0
    mentions: int = 0


class Validation:
    """Tallies and findings, file by file."""

    def __init__(self) -> None:
        self.files: dict[str, Tally] = {}
        self.total = Tally()
        self.findings = Findings()
        self.submissions: list[Submission] = []
        """One per path, if they were compared with gold."""
        self.sources: dict[str, File] = {}
        """The files by name, to show the lines that findings are about."""

    def count(self, file: str, *, documents: int = 0, mentions: int = 0) -> None:
        """Add to what was read of a file."""
        for tally in (self.files.setdefault(file, Tally()), self.total):
            tally.documents += documents
            tally.mentions += mentions

    def add(self, finding: Finding) -> None:
        """Add one finding; its file is listed even if nothing in it could be read."""
        self.count(finding.file or "")
        self.findings.add(finding)

    def merge(self, later: "Validation") -> None:
        """Add what was read and found after this."""
        for file, tally in later.files.items():
            self.count(file, documents=tally.documents, mentions=tally.mentions)
        self.findings.merge(later.findings)

    def by_file(self) -> dict[str, list[Finding]]:
        """The kept findings of every file, in the order of its lines."""
        by_file: dict[str, list[Finding]] = {file: [] for file in self.files}
        for finding in self.findings.kept:
            by_file[finding.file or ""].append(finding)
        return {file: sorted(listed, key=lambda finding: finding.line or 0) for file, listed in by_file.items()}

    def by_code(self) -> list[list[Finding]]:
        """The kept findings by code, severity and side, the worst first, each group in the order of files and lines."""
        groups: dict[Group, list[Finding]] = {}
        for findings in self.by_file().values():
            for finding in findings:
                groups.setdefault(finding.group, []).append(finding)
        return sorted(groups.values(), key=lambda group: SEVERITIES.index(group[0].severity))

    def line_of(self, finding: Finding) -> str | None:
        """The line of its file that a finding is about."""
        file = self.sources.get(finding.file or "")
        if file is None or finding.line is None:
            return None
        try:
            with file.open() as stream:
                for position, line in enumerate(stream, 1):
                    if position == finding.line:
                        return line.decode("utf-8", "replace").rstrip("\r\n")
        except OSError:
            pass
        return None

    @property
    def invalid(self) -> int:
        """The number of findings that are worse than a note."""
        by_severity = self.findings.by_severity()
        return by_severity["fatal"] + by_severity["fault"]

    @property
    def passed(self) -> bool:
        """True if nothing worse than a note was reported."""
        return not self.invalid

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON; `codes` also counts findings that were not kept."""
        content: dict[str, Any] = {
            "karat": __version__,
            "files": [
                {"file": file, **asdict(self.files[file]), "findings": [finding.to_dict() for finding in listed]}
                for file, listed in self.by_file().items()
            ],
            "summary": {
                **asdict(self.total),
                "findings": self.findings.by_severity(),
                "codes": dict(sorted(self.findings.by_code().items())),
            },
        }
        if self.submissions:
            content["submissions"] = [submission.to_dict() for submission in self.submissions]
        return content
