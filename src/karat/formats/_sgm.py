"""The sources of ACE documents (`.sgm`): their text as offsets count it, and the part of it that is annotated.

Offsets count the characters of the file outside of its tags, from 0; a line end is one character (evaluation plan,
section 3.3.2). A character reference (`&amp;`) is not a tag and counts as written. Only what is between <TEXT> and
</TEXT> is annotated, and one timex2 between <DATETIME> and </DATETIME> (section 3.3.1).
"""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from karat.formats._text import MISSING, decode
from karat.inputs import read_bytes
from karat.plugin.formats import Sources
from karat.problems import Report, Rule, quoted

STRUCTURE = Rule("sgm-structure", "fault", "Compare the source with the one that was distributed.")
NO_TEXT = Rule("text-missing", "note", "Put the source beside the annotations, or name its folder with --sources.")

SUFFIX = ".sgm"
ONCE = ("DOC", "DOCID", "TEXT")
"""Elements that a source has exactly once."""

# A tag may contain angle brackets in quotation marks. Where that gives no tag, it ends with the next bracket.
_TAG = re.compile(r"""<(?:[^<>"]++|"[^"]*+")*+>|<[^>]*+>""")
_NAME = re.compile(r"<(/?)\s*([A-Za-z][\w.\-]*)")
_ID = re.compile(r"""(?i)\b(?:DOC)?ID\s*=\s*["']?\s*([^"'\s>]+)""")


class Source(NamedTuple):
    """A source: its file, its text, and where the contents of its elements are, by name."""

    file: str
    text: str
    zones: dict[str, list[tuple[int, int]]]

    def holds(self, name: str, begin: int, end: int) -> bool:
        """Return whether a segment is inside an element of that name."""
        return any(first <= begin and end <= last for first, last in self.zones.get(name, ()))


class SourceFolder:
    """The sources in a folder and those below it, by their file names."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise MISSING.error("there is no such folder of sources", file=folder)

    @cached_property
    def _paths(self) -> dict[str, Path]:
        found = sorted(self._folder.rglob("*"), reverse=True)  # of two files of one name, the first counts
        return {path.name.lower(): path for path in found if path.name.lower().endswith(SUFFIX)}

    def find(self, names: Sequence[str]) -> Path | None:
        """The file with the first of these names that exists."""
        return next((self._paths[name.lower()] for name in names if name.lower() in self._paths), None)


def source_of(document: str, uri: str | None, file: str, sources: Sources | None, report: Report) -> Source | None:
    """The source of a document; if there is none, a note is reported."""
    # Only the last part of URI is a file name: its folders are those of another machine.
    named = re.split(r"[/\\]", uri)[-1] if uri else ""
    stems = [name for name in (named.removesuffix(SUFFIX), document) if name and name not in (".", "..")]
    names = [stem + SUFFIX for stem in dict.fromkeys(stems) if "/" not in stem and "\0" not in stem]
    if sources is not None:
        path = sources.find(names)
    else:
        path = next((path for name in names if (path := Path(file).with_name(name)).is_file()), None)
    if path is None:
        where = "beside it" if sources is None else "among the sources"
        message = f"there is no {' or '.join(names)} {where}, so the text of {quoted(document)} is not checked"
        report(NO_TEXT.at(message, file=file))
        return None
    raw = decode(read_bytes(path), file=str(path), line=1).removeprefix("\ufeff").replace("\r\n", "\n")
    return _SourceReader(raw, str(path), report).source(document)


class _SourceReader:
    """Separates the text of a source from its tags, and reports wrong tags."""

    def __init__(self, raw: str, file: str, report: Report) -> None:
        self._raw, self._file, self._report = raw, file, report
        self._pieces: list[str] = []
        self._length = 0
        self._open: dict[str, list[int]] = {}
        self._zones: dict[str, list[tuple[int, int]]] = {}
        self._id: str | None = None

    def source(self, document: str) -> Source:
        last, end = 0, self._raw.rfind(">")
        for tag in _TAG.finditer(self._raw, 0, end + 1):
            self._add_text(self._raw[last : tag.start()])
            last = tag.end()
            self._read_tag(tag)
        rest = self._raw[last:]
        if "<" in rest:
            self._report_at(last + rest.index("<"), "a < has no > after it, and is read as a character")
        self._add_text(rest)
        source = Source(self._file, "".join(self._pieces), self._zones)
        self._check(source, document)
        return source

    def _add_text(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _read_tag(self, tag: re.Match[str]) -> None:
        named = _NAME.match(tag[0])
        if named is None:
            return
        closing, name = named[1], named[2].upper()
        if not closing:
            self._open.setdefault(name, []).append(self._length)
            if name == "DOC" and (id_ := _ID.search(tag[0])):
                self._id = id_[1]
        elif opened := self._open.get(name):
            self._zones.setdefault(name, []).append((opened.pop(), self._length))
        else:
            self._report_at(tag.start(), f"</{name}> has no start tag")

    def _check(self, source: Source, document: str) -> None:
        for name in ONCE:
            count = len(source.zones.get(name, ()))
            if self._open.get(name):
                self._report_at(0, f"<{name}> is not closed")
            elif count != 1 and not (name == "DOCID" and self._id):
                self._report_at(0, f"there is {'no' if not count else 'more than one'} <{name}>")
        if len(source.zones.get("DATETIME", ())) > 1:
            self._report_at(0, "there is more than one <DATETIME>")
        ids = [source.text[begin:end].strip() for begin, end in source.zones.get("DOCID", ())]
        for id_ in ids or ([self._id] if self._id else []):
            if id_ != document:
                self._report_at(0, f"this is the source of {quoted(id_)}, not of {quoted(document)}")

    def _report_at(self, position: int, message: str) -> None:
        line = 1 + self._raw.count("\n", 0, position)
        self._report(STRUCTURE.at(message, file=self._file, line=line))
