"""The registry of formats, and the options of reading as the command line gives them."""

import sys
from collections.abc import Iterable

from karat.limits import MAX_BYTES
from karat.model import Unit
from karat.plugin.formats import DocumentNames, Format, ReadOptions
from karat.registry import Registry, instance_of, modules_of

FORMATS: Registry[Format] = Registry(
    "karat.formats",
    "format",
    own=lambda: modules_of(sys.modules["karat.formats"], "FORMAT"),
    accept=instance_of(Format),
    listed_by="karat formats",
)


def read_options(
    unit: Unit | None,
    tokens: str | None,
    sources: str | None = None,
    coreference: Iterable[str] = (),
    documents: DocumentNames | None = None,
    max_bytes: int | None = None,
) -> ReadOptions:
    """Return the options of reading, as the command line gives them; folders must exist."""
    table_folder = source_folder = None
    if tokens is not None:
        from karat.formats._tokens import TableFolder

        table_folder = TableFolder(tokens)
    if sources is not None:
        from karat.formats._sgm import SourceFolder

        source_folder = SourceFolder(sources)
    limit = MAX_BYTES if max_bytes is None else max_bytes
    return ReadOptions(unit, table_folder, source_folder, tuple(coreference), documents, max_bytes=limit)
