"""Opens the corpus that an argument names: which files belong to it, and what format they have."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from karat.corpus.files import FileCorpus
from karat.corpus.interface import Corpus
from karat.corpus.paths import File, find, is_url, shown
from karat.formats import ENCODING, FORMATS
from karat.plugin import Format, ReadOptions
from karat.problems import Finding, KaratError, Report, Rule, ignore, nearest, quoted

OPTIONS = "--gold-format, --system-format, --input-format"
UNKNOWN = Rule(
    "format-unknown", "fatal", f"`karat formats` lists what karat reads; if it is one of these, name it ({OPTIONS})."
)
PACKED = Rule("file-packed", "fatal", "Unpack it, and name its folder or file. karat itself unpacks only .gz files.")
SPREADSHEET = Rule("file-spreadsheet", "fatal", "Save the sheet as CSV; `karat explain csv` lists the columns.")
MIXED = Rule("format-mixed", "fatal", f"Name the one to read ({OPTIONS}).")
KIN = Rule("file-kin", "fatal", "Name the file with the annotations, or the folder that holds it.")
COMPANIONS = Rule("url-companions", "fatal", "Copy them to a folder, or convert them to JSON Lines.")
ARCHIVES = {
    "a zip": (0, b"PK\x03\x04"),
    "a tar": (257, b"ustar"),
    "a bzip2": (0, b"BZh"),
    "an xz": (0, b"\xfd7zXZ\x00"),
    "a 7z": (0, b"7z\xbc\xaf\x27\x1c"),
    "a zstd": (0, b"\x28\xb5\x2f\xfd"),
}
"""Archives: where in a file, and by what bytes, each is recognised."""
JSON_LINE = 1 << 24
LONG_HEAD = 1 << 20
"""Bytes of the longest first line of a JSON file that is looked at, and of XML or a beginning in shorter lines."""
SKIPPED = Rule("file-skipped", "note", "No action needed if it is not part of the corpus.")


def open_corpus(
    spec: str,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    report: Report = ignore,
) -> FileCorpus:
    """The corpus that a GOLD or SYSTEM argument names."""
    options = options or ReadOptions()
    findings: list[Finding] = []

    def keep(finding: Finding) -> None:
        findings.append(finding)
        report(finding)

    files = find(spec, report=keep, max_bytes=options.max_bytes)
    corpus = corpus_of(files, spec, format=format, fallback=fallback, options=options, report=keep)
    corpus.findings = tuple(findings)
    return corpus


def corpus_of(
    files: list[File],
    spec: str,
    *,
    format: str | None = None,
    fallback: str | None = None,
    options: ReadOptions | None = None,
    report: Report = ignore,
    skip_broken: bool = False,
) -> FileCorpus:
    """The files that an argument names, as a corpus; without `format`, the format is detected.

    `fallback` is the format of empty files: a system without any output is read in gold's format.
    """
    chosen, name = _chosen(files, spec, format, fallback, report)
    if FORMATS.get(name).companions and any(is_url(file.path) for file in chosen):
        raise COMPANIONS.error(f"files of {name} have others beside them, which are not read from a URL", file=spec)
    return FileCorpus(shown(spec), chosen, name, options or ReadOptions(), skip_broken=skip_broken)


def _chosen(
    files: list[File], spec: str, format_: str | None, fallback: str | None, report: Report
) -> tuple[list[File], str]:
    """The files that hold documents, and their format."""
    if format_ is not None:
        chosen = [file for file, _ in _without_companions([(file, format_) for file in _of_format(files, format_)])]
        _refuse_binary(chosen)
        _refuse_unsupported(chosen)
        _refuse_kin(chosen, [FORMATS.get(format_)])
        return chosen, format_
    detected = _without_companions([(file, _sniffed(file)) for file in files])
    found = {name for _, name in detected if name is not None}
    names = sorted(found.difference(*(FORMATS.get(name).includes for name in found)))
    if len(names) > 1:
        examples = {name: file.name for file, name in reversed(detected)}
        listed = ", ".join(f"{name} ({Path(examples[name]).name})" for name in names)
        raise MIXED.error(f"files of several formats: {listed}", file=spec)
    if names:
        sniffed = FORMATS.get(names[0])
        _refuse_unsupported([file for file, name in detected if name])
        _refuse_kin([file for file, name in detected if name is None], [sniffed])
        for file, name in detected:
            if name is None and sniffed.related(file.name, file.head()) is None:
                report(SKIPPED.at(f"skipped: not {names[0]}", file=file.name))
        return [file for file, name in detected if name], names[0]
    empty = not any(file.head().strip() for file in files)
    if empty and fallback is not None:
        return files, fallback
    _refuse_binary(files)
    _refuse_unsupported(files)
    _refuse_kin(files, [known for _, known in FORMATS])
    layout = next(filter(None, (unknown_form(_head(file)) for file in files)), None)
    message = "the file is empty" if empty else "the format is not recognised"
    raise UNKNOWN.error(f"{message}: {layout}" if layout else message, file=spec)


def unknown_form(head: bytes) -> str | None:
    """Describe a JSON file whose form is not known; None for any other file."""
    from karat.formats import jsonl

    return jsonl.unknown_form(head)


def _refuse_kin(files: list[File], formats: Iterable[Format]) -> None:
    """Refuse files that are related to a format but hold no document, with what to give instead."""
    for format_ in formats:
        for file in files:
            if message := format_.related(file.name, _head(file)):
                raise KIN.error(message, file=file.name)


def _head(file: File) -> bytes:
    """The first bytes of a file, from which formats are detected.

    Of JSON, it is a whole line, and of XML nearly any file: keys and elements may come late.
    """
    head = file.head()
    if head.lstrip()[:1] == b"<":
        return file.head(LONG_HEAD)
    if head.lstrip()[:1] not in (b"{", b"["):
        return head
    with file.open() as stream:
        line = stream.readline(JSON_LINE)
        return line + stream.read(max(LONG_HEAD - len(line), 0))


def _refuse_unsupported(files: list[File]) -> None:
    for file in files:
        if error := unsupported(file):
            raise error


def _refuse_binary(files: list[File]) -> None:
    for file in files:
        head = file.head()
        if file.name.lower().endswith((".xlsx", ".ods", ".xls")) and not _is_text(head):
            raise SPREADSHEET.error("this is a spreadsheet, which karat does not read", file=file.name)
        for kind, (position, mark) in ARCHIVES.items():
            if head[position:].startswith(mark):
                raise PACKED.error(f"this is {kind} archive", file=file.name)
        if not _is_text(head):
            line = 1 + head.count(b"\n", 0, max(0, head.find(b"\x00")))
            raise ENCODING.error("this looks like UTF-16 (or binary data), not UTF-8", file=file.name, line=line)


def _is_text(head: bytes) -> bool:
    """Return whether a file with these first bytes can be UTF-8: UTF-16 and binary data have zero bytes or a mark."""
    return not head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\x00" not in head


def _of_format(files: list[File], format_: str) -> list[File]:
    """The files with a suffix of the format, if there are any; else all."""
    suffixes = FORMATS.get(format_).suffixes
    return [file for file in files if file.bare_name.endswith(suffixes)] or files


def _without_companions(sniffed: list[tuple[File, str | None]]) -> list[tuple[File, str | None]]:
    """All files except companions of another, such as the text of an annotation file; companions have none."""
    companions: set[str] = set()
    for format_ in [FORMATS.get(name) for name in dict.fromkeys(name for _, name in sniffed) if name is not None]:
        for suffix in format_.suffixes if format_.companions else ():
            for file, _ in sniffed:
                if file.bare_name.endswith(suffix) and file.bare_name not in companions:
                    stem = file.bare_name.removesuffix(suffix)
                    companions.update(stem + companion for companion in format_.companions if companion != suffix)
    return [(file, name) for file, name in sniffed if file.bare_name not in companions]


def _sniffed(file: File) -> str | None:
    """The format of a file, detected by content and suffix."""
    head = _head(file)
    if not _is_text(head):
        return None
    for suffix in reversed(file.bare_name.split(".")[1:]):
        if suffix in FORMATS.own and _matches(FORMATS.get(suffix), file, head):
            return suffix  # .tbf is tbf, and .apf.xml apf: the other formats need not be loaded
    by_suffix = [name for name, format_ in FORMATS if file.bare_name.endswith(format_.suffixes)]
    by_both = [name for name in by_suffix if FORMATS.get(name).sniff(head)]
    by_content = by_both or [name for name, format_ in FORMATS if format_.sniff(head)]
    if not by_content and any(format_.related(file.name, head) is not None for _, format_ in FORMATS):
        return None  # it is known not to be a corpus, whatever its suffix
    if not by_content and unknown_form(head) is not None:
        return None
    return min(by_content or by_suffix, default=None)


def _matches(format_: Format, file: File, head: bytes) -> bool:
    return file.bare_name.endswith(format_.suffixes) and format_.sniff(head)


UNSUPPORTED = Rule(
    "format-unsupported",
    "fatal",
    "Give JSON Lines, one document per line, or another format that `karat formats` lists.",
)
HEAD = 1 << 16


class _Kind(NamedTuple):
    name: str
    advice: str
    begins: re.Pattern[bytes] | None = None
    """The beginning of a file of this kind: matched only there, which is much faster than a search."""
    declares: re.Pattern[bytes] | None = None
    """The DOCTYPE declaration of a file of this kind."""
    contains: tuple[bytes, ...] = ()
    """Texts that only a file of this kind contains: plain, since a search for a pattern takes ten times as long."""

    def is_in(self, head: bytes) -> bool:
        """Return whether a file with these first bytes is of this kind."""
        if self.begins is not None and self.begins.match(head):
            return True
        if self.declares is not None and (start := head.find(b"<!DOCTYPE")) >= 0 and self.declares.match(head, start):
            return True
        return any(text in head for text in self.contains)


_KINDS = (
    _Kind(
        "APF of ACE 2004 or earlier",
        "karat reads APF 5.1.1 (ACE 2005), which has other types",
        declares=re.compile(rb"""<!DOCTYPE\s+source_file\s+SYSTEM\s+["'][^"']*(?:apf\.v[1-4]\.|ace-rdc\.|ace-pilot)"""),
    ),
    _Kind(
        "Markdown",
        "remove the lines with ``` around the JSON, and all other text",
        begins=re.compile(rb"\s*```"),
    ),
    _Kind(
        "text before JSON",
        "remove all text around the JSON",
        begins=re.compile(rb"\s*[A-Za-z][^\n]*\n\s*(?:\[\s*)?\{\s*\""),
    ),
    _Kind(
        "HiEve XML",
        "give its .tsvx files",
        begins=re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<ArticleInfo\b"),
        contains=(b"<EventInfo>", b"<RelationInfo>"),
    ),
    _Kind(
        "a JSON list of mentions as in Cattan et al. (2021)",
        "in JSON Lines, doc_id is `id`, tokens_ids is `span`, and cluster_id is `cluster` (ECB+: give the XML files)",
        begins=re.compile(rb'\s*\[\s*\{(?=[^{}]*"tokens_ids"\s*:)[^{}]*"cluster_id"\s*:'),
    ),
)


def unsupported(file: File) -> KaratError | None:
    """The error for a file of a known kind that karat does not read; None for any other file."""
    head = file.head(HEAD)
    for kind in _KINDS:
        if kind.is_in(head):
            message = f"this is {kind.name}, which karat does not read; {kind.advice}"
            line = 1 + head[: len(head) - len(head.lstrip())].count(b"\n")
            return UNSUPPORTED.error(message, file=file.name, line=line)
    return None


ABSENT = Rule(
    "coreference-absent", "fault", "Name relations as the files do (case does not matter), or omit the option."
)


def absent_names(*corpora: Corpus) -> Iterator[Finding]:
    """Each name of `--coreference` that no relation of these corpora has: one of them is enough."""
    files = [corpus for corpus in corpora if isinstance(corpus, FileCorpus)]
    names = dict.fromkeys(name for corpus in files for name in corpus.options.coreference)
    relations = sorted({name for corpus in corpora for name in corpus.facts().relations}) if names else []
    known = {name.lower() for name in relations}
    for name in names:
        if name.lower() not in known:
            message = f"--coreference: no relation is called {quoted(name)}. {nearest(name, relations)}"
            yield ABSENT.at(message, file=corpora[0].name)
