"""Checks of a format: it reads its samples, reads or refuses anything else, and reads what it writes."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat.corpus.fingerprint import Fingerprint
from karat.corpus.index import DocumentReader
from karat.corpus.paths import File
from karat.model import Document, Unit
from karat.plugin import Format, ReadOptions, Write, WriteOptions
from karat.problems import KaratError, Report, ignore
from karat.testing.corpora import ace_documents, documents

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
    """The documents in the bytes of a file."""
    reader = DocumentReader([File(file, "", data)], format_, options)
    documents: list[Document] = []
    for entry in reader.entries(0):
        for document in reader.documents(0, entry, report):
            assert entry.id in ("", document.id), f"{file}: the marker says {entry.id!r}, `read` {document.id!r}"
            documents.append(document)
    return documents
