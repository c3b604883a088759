"""Protocols: what a protocol file may hold, and the filters it may name."""

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from karat.errors import Report
from karat.model import Pair, Value

Law = Literal["perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"]
"""What a family or a protocol can promise; `karat.testing` checks every promise.

perfect    gold against itself scores 1 wherever the score is defined
bounded    scores lie between 0 and 1
order      the order of documents and links does not matter
ids        renaming mentions and clusters changes nothing
additive   counts of documents add up to the counts of the corpus
outcomes   outcomes sum to counts
swap       swapping the two sides swaps precision and recall
"""

UnitOfEvaluation = Literal["document", "subtopic", "topic", "corpus"]

SystemOnly = Literal["ignore", "score", "refuse"]
"""What happens to a document that only the system has: it is ignored, scored as spurious, or refused."""

Representative = Literal["first", "last", "aligned"]
"""Which mention represents its cluster within a document; `aligned`: none, clusters are paired by shared mentions."""

PairTransform = Callable[[Pair], Pair]
"""From a pair of documents to what is left of it."""


class Comparison(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """How a protocol compares attribute values. An absent value equals only an absent value."""

    form: Literal["exact", "canonical"] = "exact"
    """`canonical`: only letters and digits count, and not their case."""
    wildcard: str | None = None
    """A gold value that agrees with anything; in the system it is an ordinary value."""

    def key(self, value: Value | None) -> Value | None:
        """What is compared in place of the value."""
        return _canonical(value) if self.form == "canonical" and isinstance(value, str) else value

    def agrees(self, gold: Value | None, system: Value | None) -> bool:
        """Whether the system's value is right."""
        key = self.key(gold)
        return key == self.key(system) or (key is not None and key == self.key(self.wildcard))


@lru_cache(maxsize=4096)
def _canonical(value: str) -> str:
    """Letters and digits of any script, casefolded: `Life_Die`, `life:DIE` and `<LIFE DIE>` are one value."""
    return "".join(filter(str.isalnum, value)).casefold()


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that `--set` changes."""

    default: str | int | float | bool | list[str]
    help: str
    choices: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    means: dict[str, str] = {}
    """What replaces some of its values in the file, where that is another word."""
    file: bool = False
    """Its value names a file, whose hash goes into the signature."""


class AlignmentChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """An alignment, as `[alignments.NAME]` describes it."""

    similarity: str = "dice"
    agree: str = "span"
    """Attributes that must agree, joined by `+`; `span`: none."""
    agreement: Literal["before", "after"] = "before"
    """Whether pairs that disagree cannot be aligned, or are aligned like others and then dropped."""
    reward: Literal["none", "attributes"] = "none"
    """`attributes`: each attribute that agrees adds one to the similarity."""
    method: str = "greedy"
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The least similarity, from 0 to 1; with 0, any overlap is enough."""
    ties: Literal["line", "text"] = "line"
    """Which of two equally good pairs comes first: by the lines of the file, or by the order of the text."""

    def agreeing(self) -> tuple[str, ...]:
        """The attributes that must agree."""
        return () if self.agree == "span" else tuple(self.agree.split("+"))


class Averages(Struct, frozen=True, forbid_unknown_fields=True):
    """How units become one number."""

    units: Literal["all", "with-gold"] = "all"
    """Which units are averaged: all, or only those with gold mentions."""
    macro: bool = False
    """Whether there is a macro average beside the micro average."""
    undefined: float | None = None
    """What an undefined ratio becomes; without it, the ratio stays undefined."""
    macro_undefined: float | None = None
    """What a unit's undefined ratio is worth in the macro average; without it, that mean ignores the unit."""


class Collapse(Struct, frozen=True, forbid_unknown_fields=True):
    """Each cluster of a document becomes one mention, after the filters."""

    representative: Representative = "first"


class Filter(Struct, frozen=True, forbid_unknown_fields=True):
    """What leaves a document before it is aligned; the fields of a subclass are its options in `[[filters]]`."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """The filter as a function from a pair of documents to what is left of it."""
        raise NotImplementedError


class ProtocolFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A protocol file, complete with what it `extends`. A string that is just `{key}` is replaced by a parameter."""

    title: str
    measures: list[dict[str, Any]]
    """For each family: its name (`family`), `averages`, and the parameters that it declares."""
    aliases: tuple[str, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()
    laws: tuple[Law, ...] = ()
    unit: str = "document"
    system_only_documents: SystemOnly = "ignore"
    parameters: dict[str, Parameter] = {}
    faults: tuple[str, ...] = ()
    """Codes of findings that are notes elsewhere and faults under this protocol."""
    comparison: Comparison = Comparison()
    filters: list[dict[str, Any]] = []
    """For each filter: its `name`, and the options that it declares."""
    collapse: dict[str, Any] | None = None
    """As `Collapse`."""
    alignments: dict[str, dict[str, Any]] = {}
    """By name, each as `AlignmentChoice`."""
