"""Formats: each module turns files into documents and back, and never computes a score.

A module offers its format under the name `FORMAT`, a `karat.plugin.Format`; the format is called what the module is
called. Modules that begin with an underscore are parts of formats. Other packages offer formats through the
entry-point group `karat.formats`.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Protocol

from karat.formats._sgm import SourceFolder
from karat.formats._tokens import TableFolder
from karat.model import Document, Unit
from karat.plugin.formats import Format, ReadOptions
from karat.registry import Registry, instance_of, modules_of

FORMATS: Registry[Format] = Registry(
    __name__,
    "format",
    own=lambda: modules_of(sys.modules[__name__], "FORMAT"),
    accept=instance_of(Format),
    listed_by="karat formats",
)


def read_options(unit: Unit | None, tokens: str | None, sources: str | None = None) -> ReadOptions:
    """The options that `--unit`, `--tokens` and `--sources` stand for; folders must exist."""
    return ReadOptions(
        unit,
        None if tokens is None else TableFolder(tokens),
        None if sources is None else SourceFolder(sources),
    )


class _HasAttributes(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, object]: ...


def attributes_in(mentions: Iterable[_HasAttributes]) -> frozenset[tuple[str, str]]:
    """(kind, attribute) pairs that occur on mentions."""
    return frozenset([(mention.kind, name) for mention in mentions for name in mention.attributes])


def links_in(document: Document) -> frozenset[tuple[str, str, str]]:
    """(kind of link, kind of mention at its source, at its target); the kind of a cluster is that of its mentions."""
    if not document.links:
        return frozenset()
    kinds = {mention.cluster: mention.kind for mention in document.mentions}
    kinds |= {mention.id: mention.kind for mention in document.mentions}
    return frozenset(
        (link.kind, kinds[link.source], kinds[link.target])
        for link in document.links
        if link.source in kinds and link.target in kinds
    )
