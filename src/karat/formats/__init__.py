"""Formats: each module turns files into documents and back, and never computes a score.

A module offers its format under the name `FORMAT`, a `karat.plugin.Format`; the format is called what the module is
called. Modules that begin with an underscore are parts of formats. Other packages offer formats through the
entry-point group `karat.formats`.
"""

from karat.formats._catalogue import FORMATS, read_options
from karat.formats._text import BYTE_ORDER_MARK, DOCUMENT_TWICE, ENCODING, MISSING, decode, stem, text_lines

__all__ = [
    "BYTE_ORDER_MARK",
    "DOCUMENT_TWICE",
    "ENCODING",
    "FORMATS",
    "MISSING",
    "decode",
    "read_options",
    "stem",
    "text_lines",
]
