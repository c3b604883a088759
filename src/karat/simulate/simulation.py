"""Systems made from gold: errors of chosen kinds, at chosen rates, repeated by a seed.

Each kind of error is a small function from a document to a document. They are applied in this order, each to what
the ones before have left:

    miss           mentions are dropped
    split          a mention becomes two
    merge          two neighbouring mentions become one
    boundary       an end of a segment is shifted by one or two positions
    attribute      a value is replaced by another, attribute by attribute in the order of their names
    break          a mention leaves its cluster
    conflate       two clusters of a document become one
    drop-link      links are dropped
    reverse-link   links are reversed, unless that makes a cycle
    spurious       mentions are invented, at this rate per gold mention; they get none of the errors above

A rate is the probability of an error for each mention, cluster or link. Impossible errors are skipped: a mention of one
position is not split, the last mention of a cluster does not leave it, and no error makes a fault, such as links that
form a cycle or two mentions with one span in one cluster. What APF needs beyond that is in `karat.simulate.elements`.

The random numbers of an error in a document depend on the seed, the document's id and the kind of error only; of the
other documents, just the corpus's distributions count (and which clusters it shares with them).
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sized
from functools import partial
from random import Random

from msgspec import Struct

from karat.checks import checked
from karat.corpus.interface import Corpus, Progress
from karat.corpus.opening import absent_names
from karat.model import Document
from karat.plugin.formats import ReadOptions, TokenTables
from karat.problems import Report, Rule, UsageError, ignore, nearest
from karat.simulate import elements
from karat.simulate.clusters import break_, conflate, drop_link, reverse_link
from karat.simulate.mentions import attribute, boundary, merge, miss, split, spurious
from karat.simulate.profile import Names, Profile, chance, profile

NO_GOLD = Rule("gold-empty", "fatal", "Name the file or folder that holds the gold annotations.")
NO_ATTRIBUTE = Rule("attribute-absent", "fatal", "Name an attribute that mentions of the corpus have.")
ONE_VALUE = Rule("attribute-one-value", "note", "No action needed; with one value there is nothing to confuse it with.")

Error = Callable[[Document, float, Random], tuple[Document, int]]
"""From a document to the document with errors, and how many were made."""


class Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """The rate of each error, from 0 (never) to 1 (wherever possible)."""

    miss: float = 0.0
    split: float = 0.0
    merge: float = 0.0
    boundary: float = 0.0
    attributes: dict[str, float] = {}
    break_: float = 0.0
    conflate: float = 0.0
    drop_link: float = 0.0
    reverse_link: float = 0.0
    spurious: float = 0.0

    def __post_init__(self) -> None:
        for name, rate in self.by_name().items():
            if not 0 <= rate <= 1:
                message = f"{name} {rate:g}: a rate must be between 0 and 1"
                raise UsageError("rate-range", message, "Write, for example, --miss 0.2 or --attribute type=0.1.")

    def by_name(self) -> dict[str, float]:
        """Rates by the names of errors, in the order of application."""
        return {
            "miss": self.miss,
            "split": self.split,
            "merge": self.merge,
            "boundary": self.boundary,
            **{f"attribute {name}": self.attributes[name] for name in sorted(self.attributes)},
            "break": self.break_,
            "conflate": self.conflate,
            "drop-link": self.drop_link,
            "reverse-link": self.reverse_link,
            "spurious": self.spurious,
        }


class Simulation:
    """The system's documents, made one by one from gold's and in their order; `made` counts the errors."""

    def __init__(
        self,
        gold: Corpus,
        rates: Rates,
        *,
        seed: int = 0,
        options: ReadOptions | None = None,
        faults: Collection[str] = (),
        is_ace: bool = False,
        report: Report,
        progress: Progress | None = None,
    ) -> None:
        """`faults` are codes of notes that the format of the system takes for faults: no error makes one.

        `is_ace`: the system stays valid as APF (see `karat.simulate.elements`).
        """
        self._faults, self._is_ace = faults, is_ace
        self.gold, self.rates, self.seed = gold, rates, seed
        self.made: Counter[str] = Counter()
        self._report, self._progress = report, progress
        self._tables = None if options is None else options.tokens
        if not gold.ids():
            raise NO_GOLD.error("gold has no document", file=gold.name)
        for finding in absent_names(gold):
            report(finding)
        self.profile = profile(self._watched(gold))
        for name in sorted(rates.attributes):
            self._check_attribute(name)

    def __iter__(self) -> Iterator[Document]:
        self.made.clear()
        try:
            yield from self._watched(map(self._system, self.gold.ids()))
        finally:
            self.gold.close()

    def _system(self, id_: str) -> Document:
        gold = checked(self.gold.read(id_, self._report), partial(self.gold.where, id_), self._report)
        rates, document = self.rates.by_name(), gold
        names = Names(gold, self.profile.reserved, is_ace=self._is_ace)
        functions = errors(gold, self.rates, self.profile, limit(gold, self._tables), names, self._faults)
        if self._is_ace:
            functions |= {
                "conflate": partial(conflate, names=names, faults=self._faults, only=elements.CONFLATED),
                "reverse-link": elements.swap_arguments,
                "spurious": partial(elements.spurious, gold=gold, profile=self.profile, names=names),
            }
        for name, error in functions.items():
            if rates[name]:
                result, made = error(document, rates[name], chance(self.seed, gold.id, name))
                document = elements.repaired(result, document, names) if self._is_ace else result
                self.made[name] += made
        return document if document is gold else document.made_from(gold)

    def _watched(self, documents: Iterable[Document]) -> Iterator[Document]:
        total = len(self.gold.ids())
        for done, document in enumerate(documents, 1):
            yield document
            if self._progress is not None:
                self._progress(done, total)

    def _check_attribute(self, name: str) -> None:
        """Refuse an attribute that no mention has; report one that has only one value."""
        found = self.profile.attributes
        if not any(name in attributes for attributes in found.values()):
            known = sorted({name for attributes in found.values() for name in attributes})
            raise NO_ATTRIBUTE.error(
                f"no mention has the attribute {name!r}. {nearest(name, known)}", file=self.gold.name
            )
        for kind, attributes in sorted(found.items()):
            if name in attributes and len(attributes[name].values) == 1:
                ((_, value),) = attributes[name].values.values
                message = f"{name} of {kind} mentions is always {value!r} and is left as it is"
                self._report(ONE_VALUE.at(message, file=self.gold.name))


def errors(
    gold: Document, rates: Rates, found: Profile, end: int, names: Names, faults: Collection[str] = ()
) -> dict[str, Error]:
    """Functions that make each error in one document, in the order of application."""
    return {
        "miss": miss,
        "split": partial(split, names=names),
        "merge": merge,
        "boundary": partial(boundary, limit=end),
        **{f"attribute {name}": partial(attribute, name=name, profile=found) for name in sorted(rates.attributes)},
        "break": partial(break_, shared=found.shared, names=names, faults=faults),
        "conflate": partial(conflate, names=names, faults=faults),
        "drop-link": drop_link,
        "reverse-link": partial(reverse_link, faults=faults),
        "spurious": partial(spurious, gold=gold, profile=found, limit=end, names=names),
    }


def limit(document: Document, tables: TokenTables | None) -> int:
    """Where a document's offsets end: its text, its tokens, its token table, or else its last mention."""
    content: Sized | None = document.text if document.unit == "char" else document.tokens
    if content is None and document.unit == "token" and tables is not None:
        content = tables.table(document.id, ignore).rows
    if content:
        return len(content)
    return max((end for mention in document.mentions for _, end in mention.span), default=0)
