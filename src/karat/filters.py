"""What leaves a document before it is aligned: each filter is a small record that a protocol names and fills."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from karat.align import Comparison
from karat.errors import Report, Rule, quoted
from karat.model import Document, Mention, Value

NO_TYPES = Rule("types-empty", "note", "Name one type a line; a file without any filters nothing, as in scorer v1.8.")
NOT_VALIDATED = Rule(
    "validated-absent",
    "note",
    "Read ECB+ with ECBplus_coreference_sentences.csv beside it, or score without `validated`.",
)
NO_FILE = Rule("parameter-file", "fatal", "Check the path; it is taken from the folder you are in.")


class Filter(Protocol):
    """A filter as a protocol fills it."""

    def prepare(self, comparison: Comparison, report: Report) -> Callable[[Document], Document]:
        """The filter at work: from a document to what is left of it."""
        ...


class Kinds(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions of these kinds stay; `all`: every mention."""

    keep: tuple[str, ...]

    def prepare(self, comparison: Comparison, report: Report) -> Callable[[Document], Document]:
        """Keep by kind."""
        del comparison, report
        if "all" in self.keep:
            return _unchanged
        keep = frozenset(self.keep)

        def kept(document: Document) -> Document:
            if keep.issuperset({mention.kind for mention in document.mentions}):
                return document
            return restricted(document, lambda mention: mention.kind in keep)

        return kept


class Types(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions whose type stands in the file stay (one type a line)."""

    file: str = ""

    def prepare(self, comparison: Comparison, report: Report) -> Callable[[Document], Document]:
        """Keep by type, compared as the protocol compares."""
        if not self.file:
            return _unchanged
        types = types_in(self.file, comparison)
        if not types:
            report(NO_TYPES.at("there is no type in this file, so nothing is filtered", file=self.file))
            return _unchanged
        return lambda document: restricted(
            document, lambda mention: comparison.key(mention.attributes.get("type")) in types
        )


class Validated(Struct, frozen=True, forbid_unknown_fields=True):
    """Only mentions in validated sentences stay: those whose attribute `validated` is true."""

    only: bool = False

    def prepare(self, comparison: Comparison, report: Report) -> Callable[[Document], Document]:
        """Keep what was validated; say once if a document does not tell."""
        del comparison
        if not self.only:
            return _unchanged
        told = False

        def kept(document: Document) -> Document:
            nonlocal told
            if not told and document.mentions and not any("validated" in m.attributes for m in document.mentions):
                told = True
                found = f"no mention of document {quoted(document.id)} tells whether it was validated"
                report(NOT_VALIDATED.at(f"{found}; such mentions are left out"))
            return restricted(document, lambda mention: mention.attributes.get("validated") is True)

        return kept


def types_in(file: str, comparison: Comparison) -> set[Value | None]:
    """The types that a file names, one a line, as they are compared."""
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise NO_FILE.error(f"cannot read the types: {why}", file=file) from None
    return {comparison.key(line.strip()) for line in lines if line.strip()}


FILTERS: dict[str, type[Kinds] | type[Types] | type[Validated]] = {
    "kinds": Kinds,
    "types": Types,
    "validated": Validated,
}


def restricted(document: Document, keep: Callable[[Mention], bool]) -> Document:
    """The document with only some of its mentions, and only links whose ends are still there."""
    mentions = tuple(mention for mention in document.mentions if keep(mention))
    ends = {mention.id for mention in mentions} | {mention.cluster for mention in mentions}
    links = tuple(link for link in document.links if link.source in ends and link.target in ends)
    return replace(document, mentions=mentions, links=links)


def _unchanged(document: Document) -> Document:
    return document
