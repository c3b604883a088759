"""Protocols: what a protocol file may hold, and the filters it may name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from karat.model import Document, Pair, Value
from karat.problems import Finding, Report

Law = Literal["perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"]
"""Promises of a family or a protocol; `karat.testing` checks every promise.

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
"""Treatment of a document that only the system has: it is ignored, scored as spurious, or refused."""

GoldOnly = Literal["score", "refuse"]
"""Treatment of a document that only gold has: it is scored as missed, or refused."""

Representative = Literal["first", "last", "random", "aligned", "first/last", "last/first"]
"""Which mention represents its cluster within a document; `aligned`: none, clusters are paired by shared mentions.

`random` orders mentions by chance, equal mentions of the two sides alike. Two words are gold's and the system's.
"""

PairTransform = Callable[[Pair], Pair]
"""From a pair of documents to what is left of it."""

DocumentCheck = Callable[[Document], Iterator[Finding]]
"""Checks a document by one rule; findings name an item of it, not a file."""


class Comparison(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """The comparison of attribute values. An absent value equals only an absent value."""

    form: Literal["exact", "canonical"] = "exact"
    """`canonical`: only letters and digits count, and not their case."""
    wildcard: str | None = None
    """A gold value that agrees with anything; in the system it is an ordinary value."""
    wildcard_attributes: tuple[str, ...] | None = None
    """Attributes whose gold value may be the wildcard; None: all."""

    def key(self, value: Value | None) -> Value | None:
        """Return the key that is compared in place of the value."""
        return _canonical(value) if self.form == "canonical" and isinstance(value, str) else value

    def agrees(self, attribute: str, gold: Value | None, system: Value | None) -> bool:
        """Return whether the system's value of an attribute is right."""
        key = self.key(gold)
        if key == self.key(system):
            return True
        has_wildcard = self.wildcard_attributes is None or attribute in self.wildcard_attributes
        return has_wildcard and key is not None and key == self.key(self.wildcard)


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
    """Replacements of some of its values in the file, where that is another word."""
    file: bool = False
    """Its value names a file, whose hash goes into the signature; or it is one of the choices, if there are any."""

    def is_file(self, value: object) -> bool:
        """Return whether a value names a file."""
        return self.file and bool(value) and value not in (self.choices or ())


Ties = Literal["line", "words"]
"""The order of mentions that decides ties.

line    the lines of the file
words   first word, last word, number of words, then the words themselves and the head
"""


class AlignmentChoice(Struct, frozen=True, forbid_unknown_fields=True):
    """An alignment, as `[alignments.NAME]` describes it."""

    similarity: str = "dice"
    """The similarity of two mentions."""
    agree: str = "span"
    """Attributes that must agree, joined by `+`; `span`: none."""
    agreement: Literal["before", "after"] = "before"
    """`before`: pairs that disagree cannot be aligned; `after`: they are aligned like others and then dropped."""
    reward: Literal["none", "attributes"] = "none"
    """`attributes`: each attribute that agrees adds one to the similarity."""
    after: str = ""
    """The alignment that chooses first; this one adds pairs of the mentions that it leaves. Empty: none."""
    method: str = "greedy"
    """The matching that chooses pairs."""
    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The least similarity, from 0 to 1; with 0, any overlap is enough."""
    ties: Ties = "line"
    """The order that decides between equally good pairs: lines of the file, or words and head."""

    def agreeing(self) -> tuple[str, ...]:
        """The attributes that must agree."""
        return () if self.agree == "span" else tuple(self.agree.split("+"))


class Averages(Struct, frozen=True, forbid_unknown_fields=True):
    """The averages over units."""

    units: Literal["all", "with-gold"] = "all"
    """Which units are averaged: all, or only those with gold mentions."""
    macro: bool = False
    """Adds a macro average to the micro average."""
    undefined: float | None = None
    """The value of an undefined ratio; without it, the ratio stays undefined."""
    macro_undefined: float | None = None
    """The value of a unit's undefined ratio in the macro average; without it, that mean ignores the unit."""
    classes: tuple[str, ...] = ()
    """Attributes whose values are averaged, such as macro F1 over event types (`macro.type`)."""


class Collapse(Struct, frozen=True, forbid_unknown_fields=True):
    """Each cluster of a document becomes one mention, after the filters."""

    representative: Representative = "first"
    seed: int = 0
    """Of `random`."""


class Filter(Struct, frozen=True, forbid_unknown_fields=True):
    """A filter, applied to documents before alignment; the fields of a subclass are its options in `[[filters]]`."""

    supersedes: ClassVar[frozenset[str]] = frozenset()
    """Codes of general checks that need not be reported, since the filter reports the same problems itself."""
    validates: ClassVar[bool] = False
    """True if `karat validate` also reports what `across` finds in the documents of one side."""
    drops_singletons: ClassVar[bool] = False
    """True if it drops singletons only; a report still counts these among the mentions that are scored."""
    gives_mentions: ClassVar[bool] = False
    """True if it gives the system gold's mentions, as the task does."""

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Return the filter as a function from a pair of documents to what is left of it."""
        raise NotImplementedError

    def observe(self, pair: Pair, left: Pair) -> Any:
        """Return what `across` needs to know about a pair, of which the filter leaves `left`; None: nothing."""
        del pair, left

    def across(self, observed: Mapping[str, Any]) -> Iterator[Finding]:
        """Yield what only the whole corpus shows, from what was observed in each document, by id."""
        del observed
        return iter(())

    def checks(self) -> Sequence[DocumentCheck]:
        """Return what it would refuse in a document of one side, whatever the other side has; for `karat validate`."""
        return ()


class ProtocolFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A protocol file, complete with what it `extends`.

    A string that is just `{key}` is replaced by a parameter. A table `{ by = "key", VALUE = ..., VALUE = ... }` is
    replaced by its entry for the parameter's value.
    """

    title: str
    measures: list[dict[str, Any]]
    """For each family: its name (`family`), `averages`, and the parameters that it declares."""
    aliases: tuple[str, ...] = ()
    about: str = ""
    sources: tuple[str, ...] = ()
    laws: tuple[Law, ...] = ()
    headline: tuple[str, ...] = ()
    """Ids of the measures that rank systems, or patterns of ids (`hierarchy.*.mucp`), the most important first."""
    unit: str = "document"
    system_only_documents: SystemOnly = "ignore"
    gold_only_documents: GoldOnly = "score"
    link_order: bool = False
    """True: scores depend on the order of links in the files, and the signature has a hash of gold's."""
    parameters: dict[str, Parameter] = {}
    faults: tuple[str, ...] = ()
    """Codes of findings that are notes elsewhere and faults under this protocol."""
    refusals: tuple[str, ...] = ()
    """Codes of findings that are fatal under this protocol."""
    comparison: Comparison = Comparison()
    filters: list[dict[str, Any]] = []
    """For each filter: its `name`, and the options that it declares."""
    collapse: dict[str, Any] | None = None
    """As `Collapse`."""
    alignments: dict[str, dict[str, Any]] = {}
    """By name, each as `AlignmentChoice`."""
