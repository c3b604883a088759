"""A list of types to score."""

from pathlib import Path

from karat.filters import both_sides, restricted, unchanged
from karat.inputs import opened
from karat.model import Value
from karat.plugin import Comparison, Filter, PairTransform
from karat.problems import Report, Rule

NO_TYPES = Rule("types-empty", "note", "Write one type per line; an empty file filters nothing, as in scorer v1.8.")
NO_FILE = Rule("parameter-file", "fatal", "Check the path; it is relative to the current folder.")


class Types(Filter, frozen=True):
    """Keeps only mentions whose type is in the file (one type per line)."""

    file: str = ""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Keep mentions by type; types are compared as the protocol says."""
        if not self.file:
            return unchanged
        types = types_in(self.file, comparison)
        if not types:
            report(NO_TYPES.at("this file has no types, so nothing is filtered", file=self.file))
            return unchanged
        return both_sides(
            lambda document: restricted(
                document, lambda mention: comparison.key(mention.attributes.get("type")) in types
            )
        )


def types_in(file: str, comparison: Comparison) -> set[Value | None]:
    """The types in a file with one type per line, as they are compared."""
    return {comparison.key(line) for line in lines_in(file, "types")}


def lines_in(file: str, what: str) -> list[str]:
    """The lines of a file that are not blank; `what` they are is for a message."""
    try:
        lines = opened(Path(file)).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        raise NO_FILE.error(f"cannot read the {what}: {why}", file=file) from None
    return [line.strip() for line in lines if line.strip()]


FILTER = Types
