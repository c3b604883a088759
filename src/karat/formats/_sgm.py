"""The sources of ACE documents (`.sgm`): their text as offsets count it, and the part of it that is annotated.

Offsets count the characters of the file outside of its tags, from 0, line ends too, each as one (evaluation plan,
section 3.3.2). A character reference (`&amp;`) is no tag and counts as it is written. Only what stands between <TEXT>
and </TEXT> is annotated, and one timex2 between <DATETIME> and </DATETIME> (section 3.3.1).
"""

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from karat.errors import Report, Rule, quoted
from karat.formats._text import MISSING, decode
from karat.opened import read_bytes
from karat.plugin.formats import Sources

STRUCTURE = Rule("sgm-structure", "fault", "Compare the source with the one that was distributed.")
NO_TEXT = Rule("text-missing", "note", "Put the source beside the annotations, or name its folder with --sources.")

SUFFIX = ".sgm"
ONCE = ("DOC", "DOCID", "TEXT")
"""Elements that a source has once."""

# A tag may hold angle brackets in quotation marks; what is no tag ends with the next bracket all the same.
_TAG = re.compile(r"""<(?:[^<>"]++|"[^"]*+")*+>|<[^>]*+>""")
_NAME = re.compile(r"<(/?)\s*([A-Za-z][\w.\-]*)")
_ID = re.compile(r"""(?i)\b(?:DOC)?ID\s*=\s*["']?\s*([^"'\s>]+)""")


class Source(NamedTuple):
    """A source: its text, and the parts of it that elements hold, by name."""

    text: str
    zones: dict[str, list[tuple[int, int]]]

    def holds(self, name: str, begin: int, end: int) -> bool:
        """Whether something stands inside an element of that name."""
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
        """The first file of one of these names."""
        return next((self._paths[name.lower()] for name in names if name.lower() in self._paths), None)


def source_of(document: str, uri: str | None, file: str, sources: Sources | None, report: Report) -> Source | None:
    """The source of a document; a note says where there is none."""
    # Only the last part of URI is a name: whatever folders it speaks of, they are not ours.
    named = re.split(r"[/\\]", uri)[-1] if uri else ""
    stems = [name for name in (named.removesuffix(SUFFIX), document) if name and name not in (".", "..")]
    names = [stem + SUFFIX for stem in dict.fromkeys(stems) if "/" not in stem and "\0" not in stem]
    if sources is not None:
        path = sources.find(names)
    else:
        path = next((path for name in names if (path := Path(file).with_name(name)).is_file()), None)
    if path is None:
        where = "beside it" if sources is None else "among the sources"
        found = f"there is no {' or '.join(names)} {where}, so the text of {quoted(document)} is not checked"
        report(NO_TEXT.at(found, file=file))
        return None
    raw = decode(read_bytes(path), file=str(path), line=1).removeprefix("\ufeff").replace("\r\n", "\n")
    return _Reading(raw, str(path), report).source(document)


class _Reading:
    """Takes the tags out of a source and says what is wrong with them."""

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
            self._take(self._raw[last : tag.start()])
            last = tag.end()
            self._mark(tag)
        rest = self._raw[last:]
        if "<" in rest:
            self._tell(last + rest.index("<"), "a < has no > after it, and is read as a character")
        self._take(rest)
        found = Source("".join(self._pieces), self._zones)
        self._check(found, document)
        return found

    def _take(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _mark(self, tag: re.Match[str]) -> None:
        found = _NAME.match(tag[0])
        if found is None:
            return
        closing, name = found[1], found[2].upper()
        if not closing:
            self._open.setdefault(name, []).append(self._length)
            if name == "DOC" and (id_ := _ID.search(tag[0])):
                self._id = id_[1]
        elif opened := self._open.get(name):
            self._zones.setdefault(name, []).append((opened.pop(), self._length))
        else:
            self._tell(tag.start(), f"</{name}> closes nothing")

    def _check(self, source: Source, document: str) -> None:
        for name in ONCE:
            held = len(source.zones.get(name, ()))
            if self._open.get(name):
                self._tell(0, f"<{name}> is not closed")
            elif held != 1 and not (name == "DOCID" and self._id):
                self._tell(0, f"there is {'no' if not held else 'more than one'} <{name}>")
        if len(source.zones.get("DATETIME", ())) > 1:
            self._tell(0, "there is more than one <DATETIME>")
        ids = [source.text[begin:end].strip() for begin, end in source.zones.get("DOCID", ())]
        for id_ in ids or ([self._id] if self._id else []):
            if id_ != document:
                self._tell(0, f"it is the source of {quoted(id_)}, not of {quoted(document)}")

    def _tell(self, position: int, message: str) -> None:
        line = 1 + self._raw.count("\n", 0, position)
        self._report(STRUCTURE.at(message, file=self._file, line=line))
