"""The list of validated sentences that ECB+ is distributed with: in which sentences its coreference was checked.

    Topic,File,Sentence Number
    1,10ecbplus,1

It is a `.csv` file with that first line, in the folder of a document or in one of the two above it (beside the folders
of the topics, or beside the folder that holds them). It is read once, not once for each document.
"""

import csv
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from karat.errors import Rule
from karat.formats._text import BYTE_ORDER_MARK, decode, text_lines
from karat.opened import opened

ROW = Rule("ecb-sentences", "fatal", "Write a topic, a file's number with its suffix and a sentence: 1,10ecbplus,3")
HEADER = b"topic,file,sentence number"
ABOVE = 3

Sentences = Mapping[tuple[str, str], frozenset[int]]
"""Numbers of sentences, by topic and file (`10ecbplus`)."""


def is_list(name: str, head: bytes) -> bool:
    """Whether a file of that name which begins so is such a list."""
    return name.lower().endswith(".csv") and head.partition(b"\n")[0].strip().lower() == HEADER


def validated(file: str) -> Sentences | None:
    """The list that stands nearest to a document's file; None where there is none."""
    path = Path(file)
    if not path.is_file():
        return None
    for folder in path.absolute().parents[:ABOVE]:
        try:
            found = _lists(folder, folder.stat().st_mtime_ns)
        except OSError:  # a folder above the corpus may be nobody's to look into
            continue
        if found:
            return _read(opened(found[0]), found[0].stat().st_mtime_ns)
    return None


@lru_cache(maxsize=128)
def _lists(folder: Path, modified: int) -> list[Path]:
    """The lists in a folder, as it was when it was last modified."""
    del modified
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv" and path.is_file())
    return [path for path in paths if is_list(path.name, _head(path))]


def _head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096).removeprefix(BYTE_ORDER_MARK)


@lru_cache(maxsize=4)
def _read(path: Path, modified: int) -> Sentences:
    del modified
    found: dict[tuple[str, str], set[int]] = {}
    lines = text_lines(decode(path.read_bytes(), file=str(path), line=1).removeprefix("\ufeff"))
    for line, row in enumerate(csv.reader(lines), 1):
        if line == 1 or not row:
            continue
        topic, name, sentence = map(str.strip, row) if len(row) == 3 else ("", "", "")
        if not (topic and name and sentence.isascii() and sentence.isdecimal()):
            raise ROW.error(f"found {','.join(row)!r}", file=str(path), line=line)
        found.setdefault((topic, name), set()).add(int(sentence))
    return {key: frozenset(sentences) for key, sentences in found.items()}
