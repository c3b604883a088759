"""Formats: each module turns files into documents and back, and never computes a score.

A module offers its format under the name `FORMAT`, a `karat.plugin.Format`; the format is called what the module is
called. Modules that begin with an underscore are parts of formats. Other packages offer formats through the
entry-point group `karat.formats`.
"""

import sys
from collections.abc import Iterable

from karat.formats._json import repeated_key
from karat.formats._sgm import SourceFolder
from karat.formats._text import BYTE_ORDER_MARK, DOCUMENT_TWICE, ENCODING, MISSING, decode, stem, text_lines
from karat.formats._tokens import TableFolder
from karat.limits import MAX_BYTES
from karat.model import Unit
from karat.plugin.formats import Format, ReadOptions
from karat.registry import Registry, instance_of, modules_of

__all__ = [
    "BYTE_ORDER_MARK",
    "DOCUMENT_TWICE",
    "ENCODING",
    "FORMATS",
    "MISSING",
    "decode",
    "read_options",
    "repeated_key",
    "stem",
    "text_lines",
]

FORMATS: Registry[Format] = Registry(
    __name__,
    "format",
    own=lambda: modules_of(sys.modules[__name__], "FORMAT"),
    accept=instance_of(Format),
    listed_by="karat formats",
)


def read_options(
    unit: Unit | None,
    tokens: str | None,
    sources: str | None = None,
    coreference: Iterable[str] = (),
    max_bytes: int | None = None,
) -> ReadOptions:
    """The options on how to read, as the command line gives them; folders must exist."""
    return ReadOptions(
        unit,
        None if tokens is None else TableFolder(tokens),
        None if sources is None else SourceFolder(sources),
        tuple(coreference),
        MAX_BYTES if max_bytes is None else max_bytes,
    )
