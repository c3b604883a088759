"""Checks of the laws that a measure, a format or a protocol promises."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import msgspec
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat.corpus.fingerprint import Fingerprint
from karat.corpus.index import DocumentReader
from karat.corpus.paths import File
from karat.filters.distinct import Distinct
from karat.formats import jsonl
from karat.model import Document, Unit
from karat.plugin import AlignmentChoice, Averages, Comparison, Facts, Family, Format, ReadOptions, Write, WriteOptions
from karat.problems import KaratError, Report, ignore
from karat.protocols import FamilyChoice, Protocol, resolve
from karat.run.plan import Options, Plan
from karat.testing.corpora import (
    Sides,
    ace_documents,
    any_sides,
    completed,
    distinct,
    documents,
    relation_sides,
    spanned_sides,
)
from karat.testing.laws import ALWAYS, LAWS, AnyLaw, Trial

EXAMPLES = 40
NOTHING_TO_SCORE = ("kind-absent", "entities-absent")
"""Codes of refusals of a gold that has nothing that the protocol scores."""


def check(
    plugin: ModuleType | Family[Any] | Format | Protocol | str | Path,
    *,
    parameters: dict[str, Any] | None = None,
    samples: Iterable[str | Path] = (),
    corpora: "st.SearchStrategy[Sides] | None" = None,
    examples: int = EXAMPLES,
) -> None:
    """Check every law that a plug-in promises.

    `parameters` are those that a protocol would set for a family (by default, only its alignment), `samples` are files
    of a format, and `corpora` is a strategy for gold and system documents, if the default ones do not fit.
    """
    if isinstance(plugin, ModuleType):
        plugin = _offered(plugin)
    if isinstance(plugin, Format):
        check_format(plugin, samples, examples=examples)
    elif isinstance(plugin, Family):
        if corpora is None and _is_aligned(plugin):
            corpora = spanned_sides()
        check_protocol(_protocol_of(plugin, parameters), corpora=corpora, examples=examples)
    elif isinstance(plugin, Protocol):
        check_protocol(plugin, corpora=corpora, examples=examples)
    else:
        check_protocol(resolve(str(plugin)), corpora=corpora, examples=examples)


def _offered(module: ModuleType) -> Family[Any] | Format:
    for name in ("FAMILY", "FORMAT"):
        offered = vars(module).get(name)
        if isinstance(offered, Family | Format):
            return offered
    raise AssertionError(f"{module.__name__} offers neither FAMILY, a karat.plugin.Family, nor FORMAT, a Format")


def takes_defaults(family: Family[Any]) -> bool:
    """Check that a family needs no parameters beside its alignment."""
    return {field.name for field in msgspec.structs.fields(family.parameters) if field.required} <= {"alignment"}


def _is_aligned(family: Family[Any]) -> bool:
    return "alignment" in family.parameters.__struct_fields__


def _protocol_of(family: Family[Any], parameters: dict[str, Any] | None) -> Protocol:
    if parameters is None:
        parameters = {"alignment": "overlap"} if _is_aligned(family) else {}
    return Protocol(
        name=family.card.title,
        title=family.card.title,
        about="",
        sources=(),
        laws=family.card.laws,
        unit="document",
        system_only_documents="score",
        gold_only_documents="score",
        parameters={},
        values={},
        faults=(),
        refusals=(),
        comparison=Comparison(),
        filters=(),
        collapse=None,
        alignments={"overlap": AlignmentChoice(), "exact": AlignmentChoice(similarity="exact")},
        families=(FamilyChoice("family", family, msgspec.convert(parameters, family.parameters), Averages()),),
        digest=None,
    )


def check_protocol(
    protocol: Protocol, *, corpora: "st.SearchStrategy[Sides] | None" = None, examples: int = EXAMPLES
) -> None:
    """Check every law that a protocol promises, and those that hold for every protocol."""
    check_laws((*protocol.laws, *ALWAYS), protocol, corpora=corpora, examples=examples)


def check_laws(
    laws: Iterable[AnyLaw],
    protocol: Protocol,
    *,
    corpora: "st.SearchStrategy[Sides] | None" = None,
    examples: int = EXAMPLES,
) -> None:
    """Check laws on many small corpora, all laws on the same ones: making them takes longer than scoring them.

    The first law that breaks is reported, with the smallest corpora that break it.
    """
    left = list(laws)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
        report_multiple_bugs=False,
    )
    @given(corpora if corpora is not None else relation_sides() if _reads_relations(protocol) else any_sides())
    def hold(both: Sides) -> None:
        both = fitting(both, protocol)
        for name, side in zip(("gold", "system"), both, strict=True):
            note(f"{name}:\n{_lines(side)}")
        trial = Trial(protocol, both)
        tried = [law for law in left if _is_tried(law, trial, left)]
        assume(tried)

    hold()


def _reads_relations(protocol: Protocol) -> bool:
    """Return whether a protocol scores relations between mentions."""
    facts = Facts()
    try:
        return any(table.relations for table in Plan(protocol, facts, facts, Options()).tables)
    except KaratError:
        return False


def _is_tried(law: AnyLaw, trial: Trial, left: list[AnyLaw]) -> bool:
    """Try a law; false if the corpora have nothing to score. If it breaks, no other is left to try on smaller ones."""
    try:
        (LAWS | ALWAYS)[law](trial)
    except KaratError as error:
        if error.finding.code in NOTHING_TO_SCORE:
            return False
        raise
    except AssertionError:
        left[:] = [law]
        raise
    return True


def _lines(documents: Iterable[Document]) -> str:
    """Documents as a .jsonl file has them, which leaves out what they do not have."""
    return b"".join(jsonl.write(document, WriteOptions(), lambda _: None) for document in documents).decode()


def fitting(both: Sides, protocol: Protocol) -> Sides:
    """Corpora without what a protocol counts as a fault: missing documents, mentions of the same span."""
    if protocol.gold_only_documents == "refuse":
        both = completed(both)
    if any(isinstance(filter_, Distinct) for filter_ in protocol.filters):
        both = distinct(both)
    return both


DEFAULTS = ReadOptions()


def check_format(format_: Format, samples: Iterable[str | Path] = (), *, examples: int) -> None:
    """Check a format on sample files, on random bytes, and, if it can be written, on random documents."""
    assert format_.title, "a format needs a title"
    assert format_.suffixes, f"{format_.title} needs a suffix"
    for sample in samples:
        _check_sample(format_, Path(sample))
    _check_garbage(format_, examples)
    if format_.write is not None:
        _check_round_trip(format_, format_.write, examples)


def _check_sample(format_: Format, sample: Path) -> None:
    data = sample.read_bytes()
    first, again = (documents_in(data, format_, str(sample)) for _ in range(2))
    assert first, f"{sample.name} is a sample of {format_.title}, but no document was found in it"
    assert first == again, f"{sample.name} reads differently the second time"


def _check_garbage(format_: Format, examples: int) -> None:
    """Check that any file is read, or refused with a KaratError."""

    @settings(max_examples=examples, deadline=None, database=None)
    @given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
    def is_read_or_refused(data: bytes) -> None:
        format_.sniff(data)
        try:
            documents_in(data, format_, f"garbage{format_.suffixes[0]}")
        except KaratError:
            return
        except Exception as error:
            raise AssertionError(f"{format_.title} neither reads nor refuses {data!r}") from error

    is_read_or_refused()


def _check_round_trip(format_: Format, write: Write, examples: int) -> None:
    """A document is refused, or it can be read back; if no loss is reported, it is then the same."""

    @settings(max_examples=examples, deadline=None, database=None, report_multiple_bugs=False)
    @given(documents() | ace_documents(), st.none() | st.just("Anna was killed on Monday."))
    def survives(document: Document, text: str | None) -> None:
        document = _with_text(document, text)
        losses: list[str] = []
        with TemporaryDirectory() as folder:
            try:
                options = format_.plan([document], WriteOptions(folder=format_.folder == "always"), losses.append)
                written = write(document, options, losses.append)
                written = options.head + written if isinstance(written, bytes) else written
            except KaratError:
                return  # a format may refuse what it cannot hold at all
            back = _read_back(format_, written, Path(folder), document.unit)
        assert [read.id for read in back] == [document.id], f"{format_.title}: {document} was read back as {back}"
        same = losses or _fingerprint(back[0]) == _fingerprint(document)
        assert same, f"{format_.title} reports no loss, but {document} was written as {written!r} and read as {back}"

    survives()


def _with_text(document: Document, text: str | None) -> Document:
    """The document with a text, and mentions that quote it."""
    if text is None:
        return document
    mentions = tuple(
        replace(mention, text=" ".join(text[begin:end] for begin, end in mention.span)) for mention in document.mentions
    )
    return replace(document, text=text, mentions=mentions)


def _read_back(format_: Format, written: bytes | dict[str, bytes], folder: Path, unit: Unit) -> list[Document]:
    options = ReadOptions(unit=unit if format_.unit in ("given", "none") else None)
    files = written if isinstance(written, dict) else {f"written{format_.suffixes[0]}": written}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [
        document
        for name, data in files.items()
        if name.lower().endswith(format_.suffixes)
        for document in documents_in(data, format_, str(folder / name), options)
    ]


def _fingerprint(document: Document) -> str:
    fingerprint = Fingerprint()
    fingerprint.add(document)
    return str(fingerprint)


def documents_in(
    data: bytes, format_: Format, file: str = "f", options: ReadOptions = DEFAULTS, report: Report = ignore
) -> list[Document]:
    reader = DocumentReader([File(file, "", data)], format_, options)
    documents: list[Document] = []
    for entry in reader.entries(0):
        for document in reader.documents(0, entry, report):
            assert entry.id in ("", document.id), f"{file}: the marker says {entry.id!r}, `read` {document.id!r}"
            documents.append(document)
    return documents
